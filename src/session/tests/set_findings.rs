//! Tests of findings that depend on several rows or files: near duplicates, alternates, dates of an index.

use super::*;
use crate::document::lines::LineColumn;

#[test]
fn a_report_includes_near_duplicates() {
    let folder = folder();
    let path = folder.path().join("near.xml");
    let urls =
        ["https://a.org/x", "https://a.org/x/", "http://a.org/y?b=1&a=2", "https://a.org/y?a=2&b=1", "https://a.org/z"];
    let rows: Vec<String> =
        urls.iter().map(|url| format!("<url><loc>{}</loc></url>", url.replace('&', "&amp;"))).collect();
    std::fs::write(&path, format!("{HEAD}{}</urlset>", rows.concat())).unwrap();
    let report = report::all_findings(&open(&path));
    let near: Vec<&str> =
        report.iter().filter(|found| found.finding.rule == Rule::SET_DUPLICATE_NEAR).map(|found| &*found.loc).collect();
    assert_eq!(near, ["https://a.org/x/", "https://a.org/y?a=2&b=1"]);
}

proptest! {
    /// The candidates that hashes propose contain all near duplicates that a comparison of texts finds.
    #[test]
    fn candidates_contain_every_near_duplicate(
        locs in prop::collection::vec("(http|https)://(www\\.)?[ab]\\.org(/[ab]?(/index\\.html)?/?)?(\\?[ab]=[12](&utm_id=1)?)?", 0..24),
    ) {
        let rows: Vec<String> =
            locs.iter().map(|loc| format!("<url><loc>{}</loc></url>", loc.replace('&', "&amp;"))).collect();
        let folder = folder();
        let path = folder.path().join("near.xml");
        std::fs::write(&path, format!("{HEAD}{}</urlset>", rows.concat())).unwrap();
        let session = open(&path);
        let (set, texts) = (session.current.checks.set(), checks::DocumentLocs(session.document()));
        let proposed = checks::near_candidates(session.document());
        let near = set.near_duplicates_among(&proposed, &texts);
        prop_assert_eq!(near.rows(), &set.near_duplicates(&texts));
    }
}

#[test]
fn alternate_links_are_checked_over_the_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let entry = |path: &str, links: String| format!("<url><loc>https://a.org/{path}</loc>{links}</url>\n");
    let rows = [
        entry("en", links("en", "de")),
        entry("de", links("fr", "de")),
        entry("fr", links("en", "fr")),
        entry("plain", String::new()),
    ];
    std::fs::write(&path, format!("{HEAD}\n{}</urlset>\n", rows.concat())).unwrap();
    let mut session = open(&path);
    let messages = |session: &Session, row: u32| -> Vec<String> {
        let found = findings::of_row(session.view(), RowId(row));
        let of_set = found.into_iter().filter(|finding| finding.rule.code().starts_with("hreflang-"));
        let of_set = of_set.filter(|finding| finding.rule.scope() == crate::check::Scope::Set);
        of_set.map(|finding| format!("{}: {}", finding.subject().unwrap_or_default(), finding.message)).collect()
    };
    let differs = "xhtml:link: https://a.org/de (row 2) lists other alternates than this page";
    assert_eq!(
        messages(&session, 0),
        ["xhtml:link: https://a.org/de (row 2) does not list this page: the link is ignored", differs]
    );
    assert_eq!(messages(&session, 3), [""; 0]);
    session.change(&Change::Delete([1].into_iter().collect())).unwrap();
    // A single file may be part of a set, and the page may be in another file.
    assert_eq!(messages(&session, 0), [""; 0]);
    session.undo();
    assert_eq!(messages(&session, 0).len(), 2);
    let report = report::all_findings(&session);
    let found = report.iter().find(|found| found.finding.rule.code() == "hreflang-no-return").unwrap();
    assert_eq!((found.at, &*found.loc), (Some(LineColumn { line: 3, column: 100 }), "https://a.org/en"));
}

#[test]
fn near_duplicates_follow_every_edit_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("near.xml");
    let entry = |loc: &str| format!("<url><loc>https://a.org/{loc}</loc></url>");
    let text = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}{}{}</urlset>",
        entry("x"),
        entry("x/"),
        entry("y")
    );
    std::fs::write(&path, text).unwrap();
    let mut session = open(&path);
    let near = |session: &Session| -> u64 {
        let counts = session.counts().by_rule().into_iter();
        counts.filter(|(rule, _)| *rule == Rule::SET_DUPLICATE_NEAR).map(|(_, count)| count).sum()
    };
    let run = |session: &mut Session, line: &str| {
        session.run(&parse(line, &vocabulary(NOW)).unwrap(), DefaultScope::All).unwrap();
    };
    assert_eq!(near(&session), 1);
    run(&mut session, "filter rule:set-duplicate-near");
    assert_eq!(session.view().shown(), 1);
    run(&mut session, "s#/y$#/Y/# where loc:/y");
    run(&mut session, "add https://a.org/y");
    assert_eq!(near(&session), 2);
    run(&mut session, "delete where loc=https://a.org/x/");
    assert_eq!(near(&session), 1);
    session.undo();
    assert_eq!(near(&session), 2);
    let row = session.document().live_rows().nth(1).unwrap();
    assert!(findings::of_row(session.view(), row).iter().any(|finding| finding.rule == Rule::SET_DUPLICATE_NEAR));
}

#[test]
fn dates_of_an_index_are_compared_after_every_edit() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let ns = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let child = |name: &str| format!("<sitemap><loc>https://a.org/{name}</loc><lastmod>2026-01-02</lastmod></sitemap>");
    write(
        "sitemap_index.xml",
        format!("<?xml version=\"1.0\"?><sitemapindex {ns}>{}{}</sitemapindex>", child("1.xml"), child("2.xml")),
    );
    for name in ["1.xml", "2.xml"] {
        write(
            name,
            format!(
                "<?xml version=\"1.0\"?><urlset {ns}><url><loc>https://a.org/{name}</loc><lastmod>2026-02-01</lastmod></url></urlset>"
            ),
        );
    }
    let mut session = open(&folder.path().join("sitemap_index.xml"));
    let older =
        |session: &Session| session.counts().by_rule().into_iter().any(|(rule, _)| rule == Rule::INDEX_LASTMOD_OLDER);
    assert!(older(&session));
    session.change(&set([0].into_iter().collect(), Field::Lastmod, "2026-01-01")).unwrap();
    session.change(&set([1].into_iter().collect(), Field::Lastmod, "2026-03-01")).unwrap();
    assert!(!older(&session), "the next save dates what it writes");
    session.undo().unwrap();
    assert!(older(&session));
    session.redo().unwrap();
    save::now(&mut session, None, false).unwrap();
    assert!(!older(&session) && !older(&open(&folder.path().join("sitemap_index.xml"))));
}
