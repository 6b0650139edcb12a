//! Tests of well-formedness: errors at their positions, none for valid files, and well-formed results of `fix`.
//!
//! The expected results in the tables are those of libxml2. Written files are parsed with uppsala, which is more
//! lenient: libxml2 rejects every file that uppsala rejects.

use crate::support::{Folder, run, stderr, stdout};
use proptest::prelude::*;
use serde_json::Value;
use sited::files::Options;
use sited::protocol::Severity;
use sited::protocol::lastmod::Now;
use sited::session::report;
use sited::session::store::load;

const NS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
const XHTML: &str = "xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"";
const ONE: &str = "<url><loc>https://example.com/1</loc></url>\n";

/// The errors of a file as `line:column code`.
fn errors(folder: &Folder, name: &str) -> Vec<String> {
    let output = run(folder, &["check", name, "--format", "json", "--now", "2026-11-20"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let is_error = |one: &&Value| one["severity"] == "error";
    let findings = report["findings"].as_array().expect("findings").iter().filter(is_error);
    findings
        .map(|one| format!("{}:{} {}", one["line"], one["column"], one["rule"].as_str().unwrap_or_default()))
        .collect()
}

/// The text that `fix` writes to another file.
fn fixed_text(folder: &Folder, name: &str) -> String {
    let _ = std::fs::remove_file(folder.path().join("out.xml"));
    let output = run(folder, &["fix", name, "-o", "out.xml", "--accept-repairs"]);
    let message = [stdout(&output), stderr(&output)].concat();
    assert_eq!(output.status.code(), Some(0), "{message}");
    let text = folder.text("out.xml");
    let is_same = text.as_bytes() == folder.read(name);
    assert!(is_same || !message.contains("nothing changed"), "{message}");
    text
}

#[test]
fn content_that_is_not_well_formed_is_an_error_at_its_position() {
    let around =
        |head: &str, entries: &str, tail: &str| format!("{head}<urlset {NS} {XHTML}>\n{entries}</urlset>\n{tail}");
    let with = |entry: &str| around("", entry, "");
    let head = |head: &str| around(head, ONE, "");
    let not_well_formed = "xml-not-well-formed";
    let table = [
        // Declarations and document types.
        (head("<?xml version=\"1.0\" standalone=\"true\"?>\n"), "1:1", not_well_formed),
        (head("<?xml version=\"1.0\" encoding=\"UTF-8\"standalone=\"no\"?>\n"), "1:1", not_well_formed),
        (head("<?xml version=\"2.0\"?>\n"), "1:1", not_well_formed),
        (head("<?xml encoding=\"UTF-8\"?>\n"), "1:1", not_well_formed),
        (head("<?XML version=\"1.0\"?>\n"), "1:1", not_well_formed),
        (head("<?xm, v?>\n"), "1:1", not_well_formed),
        (head("<?1a b?>\n"), "1:1", not_well_formed),
        (head("<?xml version=\"1.0\"?>\n<?xml version=\"1.0\"?>\n"), "2:1", not_well_formed),
        (head("<!DOCTYPE urlset PUBLIC \"x\">\n"), "1:1", not_well_formed),
        (head("<!DOCTYPE urlset [<!ELEMENT a>]>\n"), "1:1", not_well_formed),
        (head("\n<?xml version=\"1.0\"?>\n"), "1:1", "xml-leading-whitespace"),
        // Roots and entries.
        (head("").replace("0.9\" xmlns", "0.9\"xmlns"), "1:60", not_well_formed),
        (head("").replace("<urlset ", "<urlset b\u{d7}=\"x\" "), "1:9", not_well_formed),
        (
            with(
                "<url><loc>https://example.com/1</loc><xhtml:link rel=\"alternate\"hreflang=\"x\" href=\"a\"/></url>\n",
            ),
            "2:65",
            not_well_formed,
        ),
        (with("<url><loc>https://example.com/1</loc><a%b>c</a%b></url>\n"), "2:40", not_well_formed),
        (with("<url><loc>https://example.com/1</loc><a&b>c</a&b></url>\n"), "2:40", not_well_formed),
        (with("<url><loc>https://example.com/1</loc><a\u{a0}b/></url>\n"), "2:40", not_well_formed),
        (with("<url><loc>https://example.com/1</loc><a\u{202e}/></url>\n"), "2:40", not_well_formed),
        (with("<url><loc>https://example.com/1</loc><?1a b?></url>\n"), "2:38", not_well_formed),
        (with("<url =><loc>https://example.com/1</loc></url>\n"), "2:6", not_well_formed),
        // Content after the root.
        (around("", ONE, "<!-- no end"), "4:1", "xml-trailing-junk"),
        (around("", ONE, "<?1a b?>\n"), "4:1", "xml-trailing-junk"),
        (around("", ONE, "<?xml version=\"1.0\"?>\n"), "4:1", "xml-concatenated"),
    ];
    let (folder, mut missed) = (Folder::new(), Vec::new());
    for (text, at, code) in &table {
        folder.write("s.xml", text);
        let found = errors(&folder, "s.xml");
        if !found.iter().any(|one| one == &format!("{at} {code}")) {
            missed.push(format!("{text}: {found:?}, not {at} {code}"));
        }
        let written = fixed_text(&folder, "s.xml");
        assert!(uppsala::parse(&written).is_ok(), "{text} became {written}");
        assert!(written.contains("https://example.com/1"), "{written}");
        folder.write("again.xml", &written);
        let remaining = errors(&folder, "again.xml");
        assert!(!remaining.iter().any(|one| one.contains(" xml-")), "{written}: {remaining:?}");
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// The text without its marker `‸`, and the line and column of the marker, at which an error is expected.
fn split_marker(text: &str) -> (String, String) {
    let at = text.find('‸').expect("a marker");
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (text.replace('‸', ""), format!("{line}:{column}"))
}

#[test]
fn every_kind_of_error_has_the_position_of_its_cause() {
    let not_well_formed = "xml-not-well-formed";
    let file = |entries: &str| format!("<urlset {NS} {XHTML}>\n{entries}</urlset>\n");
    let in_entry = |inside: &str| file(&format!("<url><loc>https://example.com/1</loc>{inside}</url>\n"));
    let in_loc = |inside: &str| file(&format!("{ONE}<url>\n  <loc>https://example.com/{inside}</loc></url>\n"));
    let rss = |items: &str| format!("<rss version=\"2.0\"><channel>\n{items}</channel></rss>\n");
    let item = "<item><link>https://example.com/1</link></item>\n";
    let titled = |title: &str| rss(&format!("<item><title>{title}</title>{}", &item["<item>".len()..]));
    let table = [
        // Values.
        (in_loc("?a=1‸&b=2"), "xml-unescaped-ampersand"),
        (in_loc("‸& b"), "xml-unescaped-ampersand"),
        (in_loc("‸&1;"), "xml-unescaped-ampersand"),
        (in_loc("a‸<b"), "xml-unescaped-angle"),
        (in_entry("<lastmod>2026-11-01‸]]></lastmod>"), not_well_formed),
        (in_loc("‸&nbsp;"), "xml-unknown-entity"),
        (in_loc("a‸\u{1}b"), "xml-illegal-char"),
        (in_loc("a‸\0b"), "xml-illegal-char"),
        (in_loc("a‸\u{ffff}b"), "xml-illegal-char"),
        (in_loc("a‸&#27;b"), "xml-illegal-char"),
        (in_loc("a‸&#xD800;b"), "xml-illegal-char"),
        (in_loc("a‸&#x110000;b"), "xml-illegal-char"),
        (in_loc("a%0Ab").replacen("  <loc>", "  <loc>‸", 1), "loc-illegal-char"),
        (in_loc("a%00b").replacen("  <loc>", "  <loc>‸", 1), "loc-illegal-char"),
        // Comments, instructions and attributes.
        (in_entry("‸<!-- a -- b -->"), "xml-bad-comment"),
        (in_entry("<a ‸b=1/>"), not_well_formed),
        (in_entry("<a ‸b/>"), not_well_formed),
        (in_entry("<a b=\"1\" ‸b=\"2\"/>"), "xml-duplicate-attribute"),
        (in_entry("<a b=\"1\"‸c=\"2\"/>"), not_well_formed),
        (in_entry("<a ‸b\u{d7}=\"x\"/>"), not_well_formed),
        (in_entry("<a b=\"‸<\"/>"), "xml-unescaped-angle"),
        (in_entry("<a b=\"‸&\"/>"), "xml-unescaped-ampersand"),
        (in_entry("<a b=\"‸&nbsp;\"/>"), "xml-unknown-entity"),
        (in_entry("<a b=\"‸\u{2}\"/>"), "xml-illegal-char"),
        (in_entry("‸<?xm, v?>"), not_well_formed),
        (in_entry("‸<?1a b?>"), not_well_formed),
        (in_entry("‸<?XML a?>"), "xml-concatenated"),
        // Tags.
        (in_entry("<a‸%b/>"), not_well_formed),
        (in_entry("<a‸&b/>"), not_well_formed),
        (in_entry("<a‸\u{a0}b/>"), not_well_formed),
        (in_entry("<a‸\u{202e}/>"), not_well_formed),
        (in_entry("<a>‸</b></a>"), not_well_formed),
        (file("<url><loc>https://example.com/1</loc>‸</urll>\n"), not_well_formed),
        (in_entry("‸<image:image><image:loc>https://example.com/i</image:loc></image:image>"), "xml-undeclared-prefix"),
        (file("<url>‸<LOC>https://example.com/1</LOC></url>\n"), "doc-root-case"),
        (file("‸<loc>https://example.com/1</loc>\n"), "doc-entry-outside-root"),
        (
            file(&format!("<url><loc>https://example.com/1</loc>\n‸{}</url>\n", ONE.trim_end())),
            "doc-entry-outside-root",
        ),
        // Around the root.
        (format!("‸HTTP/1.1 200 OK\n{}", file(ONE)), "xml-leading-junk"),
        (format!("{}‸x", file(ONE)), "xml-trailing-junk"),
        (format!("{}‸<a/>", file(ONE)), "xml-trailing-junk"),
        (format!("{0}‸{0}", file(ONE)), "xml-concatenated"),
        (format!("<urlset {NS}>\n{ONE}‸"), "xml-truncated"),
        (format!("<?xml version=\"1.0\" encoding=\"‸utf8mb4\"?>{}", file(ONE)), "enc-unknown-label"),
        // Feeds.
        (format!("\n‸<?xml version=\"1.0\"?>{}", rss(item)), "xml-leading-whitespace"),
        (titled("‸\u{1}"), "xml-illegal-char"),
        (titled("‸&eacute;"), "xml-unknown-entity"),
        (titled("a ‸& b"), "xml-unescaped-ampersand"),
        (format!("<!DOCTYPE rss>{}", titled("‸&x;")), "xml-unknown-entity"),
        (format!("‸<rss version=\"2.0\">{item}</rss>"), "feed-no-channel"),
    ];
    let (folder, mut missed) = (Folder::new(), Vec::new());
    for (text, code) in &table {
        let (text, at) = split_marker(text);
        folder.write("s.xml", &text);
        let found = errors(&folder, "s.xml");
        if !found.contains(&format!("{at} {code}")) {
            missed.push(format!("{text:?}: {found:?}, not {at} {code}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn an_undeclared_entity_is_an_error_or_a_warning_if_a_dtd_may_declare_it() {
    let with = |head: &str, entity: &str| format!("{head}<urlset {NS}>{}</urlset>\n", ONE.replace("/1", entity));
    let alone = "<?xml version=\"1.0\" standalone=\"yes\"?><!DOCTYPE urlset SYSTEM \"u.dtd\">";
    // XML 1.0, 4.1, "Entity Declared".
    let table = [
        (with("<!DOCTYPE urlset SYSTEM \"u.dtd\">", "/&nbsp;"), "warning", "xml-dtd-entity"),
        (with("<!DOCTYPE urlset PUBLIC \"u\" \"u.dtd\">", "/&\u{e9};"), "warning", "xml-dtd-entity"),
        (with("<!DOCTYPE urlset [<!ENTITY % p \"\">%p;]>", "/&nbsp;"), "warning", "xml-dtd-entity"),
        (with("<!DOCTYPE urlset [<!ENTITY a \"b\">]>", "/&a;"), "warning", "xml-dtd-entity"),
        (with("<!DOCTYPE urlset>", "/&nbsp;"), "error", "xml-unknown-entity"),
        (with("<!DOCTYPE urlset [<!ENTITY a \"b\">]>", "/&nbsp;"), "error", "xml-unknown-entity"),
        (with(alone, "/&nbsp;"), "error", "xml-unknown-entity"),
        (with("<!DOCTYPE urlset SYSTEM \"u.dtd\">", "/& b"), "error", "xml-unescaped-ampersand"),
    ];
    let folder = Folder::new();
    for (text, severity, code) in &table {
        folder.write("s.xml", text);
        let output = run(&folder, &["check", "s.xml", "--format", "json", "--now", "2026-11-20"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let codes = ["xml-dtd-entity", "xml-unknown-entity", "xml-unescaped-ampersand"];
        let findings = report["findings"].as_array().unwrap().iter();
        let found: Vec<(&str, &str)> = findings
            .map(|one| (one["severity"].as_str().unwrap(), one["rule"].as_str().unwrap()))
            .filter(|(_, rule)| codes.contains(rule))
            .collect();
        assert_eq!(found, [(*severity, *code)], "{text}");
    }
}

/// Violations of XML 1.0 that libxml2 2.9 accepts, with the section of the specification.
#[test]
fn violations_that_a_lenient_parser_accepts_are_errors() {
    let around = |head: &str, tail: &str| format!("{head}<urlset {NS}>\n{ONE}</urlset>{tail}");
    let not_well_formed = "xml-not-well-formed";
    let table = [
        ("2.2, production 2: U+0000 is no character", around("", "\0"), "xml-trailing-junk"),
        ("2.2, production 2: U+0000 is no character", around("", "\n\0<?p q?>\n"), "xml-trailing-junk"),
        ("2.8, production 28: white space before the name", around("<!DOCTYPEurlset>", ""), not_well_formed),
        ("2.8, production 28: white space before the name", around("<!DOCTYPEx SYSTEM \"u\">", ""), not_well_formed),
        ("2.8, production 26: digits after 1.", around("<?xml version=\"1.\"?>", ""), not_well_formed),
        (
            "2.9, production 32: white space before standalone",
            around("<?xml version='1.0' encoding='utf-8'standalone='yes'?>", ""),
            not_well_formed,
        ),
        ("4.3.3: an unknown encoding", around("<?xml version='1.0' encoding='utf8-'?>", ""), "enc-unknown-label"),
        ("4.3.3: an unknown encoding", around("<?xml version='1.0' encoding='UTF.-8'?>", ""), "enc-unknown-label"),
    ];
    let folder = Folder::new();
    for (section, text, code) in &table {
        folder.write("s.xml", text);
        let found = errors(&folder, "s.xml");
        assert!(found.iter().any(|one| one.ends_with(&format!(" {code}"))), "{section}: {text:?}: {found:?}");
    }
}

#[test]
fn well_formed_documents_have_no_well_formedness_error() {
    let table = [
        format!(
            "<?xml version='1.0' encoding=\"UTF-8\" standalone='no' ?>\n<?p?><!-- <<<<<<< a -->\n<urlset {NS}>{ONE}</urlset>"
        ),
        format!(
            "<!DOCTYPE urlset [<!ELEMENT urlset ANY><!-- it's --><?p it's?>]>\n<urlset {NS}>{ONE}</urlset>\n<?p q?>\n"
        ),
        format!(
            "<urlset {NS} \u{e9}\u{b7}=\"x\"\n>{}</urlset>",
            ONE.replace("</url>", "<x:\u{65e5} xmlns:x='urn:x'/></url>")
        ),
        format!("<urlset {NS}>{}</urlset>", ONE.replace("/1", "/&#0000000000000000000000000065;&#x000000000000041;")),
        format!("<urlset {NS}>{}</urlset>", ONE.replace("</url>", "<!--\n<<<<<<< a\n=======\n>>>>>>> b\n--></url>")),
    ];
    let folder = Folder::new();
    for text in &table {
        assert!(uppsala::parse(text).is_ok(), "{text}");
        folder.write("s.xml", text);
        let found = errors(&folder, "s.xml");
        let is_syntax_error = |one: &String| one.contains(" xml-") || one.contains("merge-conflict");
        assert!(!found.iter().any(is_syntax_error), "{text}: {found:?}");
    }
}

#[test]
fn feeds_are_checked_for_well_formedness_too() {
    let rss =
        |items: &str| format!("<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel>\n{items}</channel></rss>\n");
    let item = "<item><link>https://example.com/1</link></item>\n";
    let atom =
        |link: &str| format!("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<entry><link {link}/></entry>\n</feed>\n");
    let table = [
        (rss(item), None),
        (format!("\n{}", rss(item)), Some("2:1 xml-leading-whitespace")),
        (rss("<item><title>\u{1}</title><link>https://example.com/1</link></item>\n"), Some("3:14 xml-illegal-char")),
        (rss("<item><link>https://example.com/1</link></itme>\n"), Some("3:41 xml-not-well-formed")),
        (rss("<item><a b=c/><link>https://example.com/1</link></item>\n"), Some("3:7 xml-not-well-formed")),
        (format!("{}x", rss(item)), Some("4:17 xml-trailing-junk")),
        (format!("<rss version=\"2.0\">\n{item}</rss>\n"), Some("1:1 feed-no-channel")),
        (atom("rel=\"self\" href=\"https://example.com/1\""), Some("2:8 feed-item-no-link")),
        (atom("href=\"https://example.com/1\""), None),
    ];
    let folder = Folder::new();
    for (text, expected) in &table {
        folder.write("feed.xml", text);
        let found = errors(&folder, "feed.xml");
        assert_eq!(found, expected.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn fixing_entries_without_a_namespace_changes_nothing_else() {
    let folder = Folder::new();
    let bare = format!(
        "<ns0:urlset {}>\n<url a=\"b\">\n <loc>https://example.com/1</loc></url>\n</ns0:urlset>\n",
        NS.replace("xmlns", "xmlns:ns0")
    );
    let empty = format!(
        "<urlset {NS}>\n<url xmlns=\"\"><loc>https://example.com/1</loc ></url>\n<url><loc xmlns=''>https://example.com/2</loc></url></urlset>\n"
    );
    let table = [
        (&bare, bare.replace("<ns0:urlset", &format!("<ns0:urlset {NS}")), 1),
        (&empty, empty.replace(" xmlns=\"\"", "").replace(" xmlns=''", ""), 2),
    ];
    for (text, expected, count) in table {
        folder.write("s.xml", text);
        let found = errors(&folder, "s.xml");
        assert_eq!(found.iter().filter(|one| one.ends_with(" ns-entry-missing")).count(), count, "{found:?}");
        let fix = run(&folder, &["fix", "s.xml", "--rule", "ns-entry-missing"]);
        assert_eq!(fix.status.code(), Some(0), "{}", stderr(&fix));
        assert_eq!(folder.text("s.xml"), expected);
        assert_eq!(errors(&folder, "s.xml"), [""; 0]);
        assert_eq!(stdout(&run(&folder, &["list", "s.xml"])).lines().count(), count);
    }
}

#[test]
fn a_prefix_that_is_used_between_entries_stays_declared() {
    let folder = Folder::new();
    let image = "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"";
    let two = ONE.replace("/1<", "/2<");
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {NS} {image}>\n{ONE}<image:image><image:loc>https://example.com/i.png</image:loc></image:image>\n{two}</urlset>\n"
    );
    folder.write("s.xml", &text);
    let found = stdout(&run(&folder, &["check", "s.xml"]));
    assert!(!found.contains("ns-declared-unused"), "{found}");
    assert_eq!(run(&folder, &["fix", "s.xml"]).status.code(), Some(0));
    assert_eq!(folder.text("s.xml"), text);
}

#[test]
fn a_list_line_with_a_space_in_its_url_is_not_truncated() {
    let folder = Folder::new();
    let text = "https://example.com/a\nhttps://example.com/foo § 208.pdf?open\nhttps://example.com/b 2026-11-18\n";
    folder.write("urls.txt", text);
    run(&folder, &["fix", "urls.txt", "--rule", "text-extra-content"]);
    assert_eq!(folder.text("urls.txt"), text.replace(" 2026-11-18", ""));
}

#[test]
fn a_placeholder_is_not_encoded_without_consent() {
    let folder = Folder::new();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {NS}>\n{}</urlset>\n",
        ONE.replace("/1", "/{slug}")
    );
    folder.write("s.xml", &text);
    run(&folder, &["fix", "s.xml"]);
    assert_eq!(folder.text("s.xml"), text);
}

const BOTH_SIDES: [(&str, &str); 3] = [("ours", "ab"), ("theirs", "ac"), ("both", "abc")];

/// Makes a file with these entries.
type MakeFile<'w> = &'w dyn Fn(&str) -> String;
/// Makes an entry.
type MakeEntry<'w> = &'w dyn Fn(char) -> String;
/// The name of a file, the functions that make its entries and the file, and the line of its first conflict.
type Form<'w> = (&'static str, MakeEntry<'w>, MakeFile<'w>, u64);

#[test]
fn merge_conflicts_are_errors_and_are_resolved_by_an_answer() {
    let url = |name: char| format!("<url><loc>https://example.com/{name}</loc></url>\n");
    let xml =
        |entries: &str| format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset {NS}>\n{entries}</urlset>\n");
    let line = |name: char| format!("https://example.com/{name}\n");
    let row = |name: char| format!("https://example.com/{name},0.5\n");
    let conflict =
        |ours: &str, theirs: &str| format!("<<<<<<< HEAD\n{ours}||||||| base\n{theirs}=======\n{theirs}>>>>>>> b\n");
    let forms: [Form<'_>; 3] = [
        ("s.xml", &url, &xml, 4),
        ("s.txt", &line, &|lines| lines.to_owned(), 2),
        ("s.csv", &row, &|rows| format!("loc,priority\n{rows}"), 3),
    ];
    for (name, entry, file, at) in forms {
        let folder = Folder::new();
        let entries = |names: &str| names.chars().map(entry).collect::<String>();
        let text = file(&format!("{}{}", entry('a'), conflict(&entry('b'), &entry('c'))));
        folder.write(name, &text);
        assert_eq!(errors(&folder, name), [format!("{at}:1 merge-conflict")], "{name}");
        // Every other command is refused, and a partial resolution is never written.
        for arguments in [
            &["fix", name][..],
            &["fix", name, "--accept-repairs", "--allow-missing"],
            &["fix", name, "--rule", "merge-conflict"],
            &["fix", name, "--rule", "merge-conflict", "--answer", "usual"],
            &["set", name, "priority=0.4", "--accept-repairs"],
            &["stats", name],
        ] {
            let output = run(&folder, arguments);
            assert_ne!(output.status.code(), Some(0), "{arguments:?}");
            assert!(stderr(&output).contains("merge"), "{arguments:?}: {}", stderr(&output));
            assert_eq!(folder.text(name), text, "{arguments:?}");
        }
        for (answer, names) in BOTH_SIDES {
            folder.write(name, &text);
            let dry = run(&folder, &["fix", name, "--rule", "merge-conflict", "--answer", answer, "--dry-run"]);
            assert_eq!(dry.status.code(), Some(0), "{}", stderr(&dry));
            assert_eq!(folder.text(name), text);
            let fix = run(&folder, &["fix", name, "--rule", "merge-conflict", "--answer", answer]);
            assert_eq!(fix.status.code(), Some(0), "{name} {answer}: {}", stderr(&fix));
            assert_eq!(folder.text(name), file(&entries(names)), "{name} {answer}: {}", stderr(&fix));
            assert_eq!(errors(&folder, name), [""; 0]);
        }
    }
}

#[test]
fn each_merge_conflict_of_a_set_takes_its_own_answer() {
    let folder = Folder::new();
    let url = |name: &str| format!("<url><loc>https://example.com/{name}</loc></url>\n");
    let conflict = |a: &str, b: &str| format!("<<<<<<< HEAD\n{}=======\n{}>>>>>>> b\n", url(a), url(b));
    let file = |entries: &str| format!("<urlset {NS}>\n{entries}</urlset>\n");
    let child = |name: &str| format!("<sitemap><loc>https://example.com/{name}</loc></sitemap>\n");
    let index = format!("<sitemapindex {NS}>\n{}{}</sitemapindex>\n", child("one.xml"), child("two.xml"));
    folder.write("sitemap_index.xml", &index);
    let one = file(&format!("{}{}{}", conflict("a", "b"), url("x"), conflict("c", "d")));
    let two = file(&conflict("e", "f"));
    let fix = |path: &str, answer: &str, extra: &[&str]| {
        folder.write("one.xml", &one);
        folder.write("two.xml", &two);
        run(&folder, &[&["fix", path, "--rule", "merge-conflict", "--answer", answer], extra].concat())
    };
    let texts = || ["one.xml", "two.xml"].map(|name| folder.text(name));
    for (answer, first, second) in [
        ("ours,theirs,both", ["a", "x", "d"].map(url).concat(), ["e", "f"].map(url).concat()),
        ("both, ours ,theirs", ["a", "b", "x", "c"].map(url).concat(), url("f")),
        ("theirs", ["b", "x", "d"].map(url).concat(), url("f")),
    ] {
        let output = fix("sitemap_index.xml", answer, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(texts(), [file(&first), file(&second)], "{answer}");
        let output = fix("sitemap_index.xml", answer, &["--dry-run"]);
        assert_eq!((output.status.code(), texts()), (Some(0), [one.clone(), two.clone()]), "{}", stderr(&output));
    }
    for (path, answer, expected) in [
        ("sitemap_index.xml", "ours,both", "2 answers, but sitemap_index.xml has 3 merge conflicts"),
        ("one.xml", "ours,both,ours", "3 answers, but one.xml has 2 merge conflicts"),
        ("one.xml", "ours,mine", "ours, theirs, both"),
        ("one.xml", "ours,", "ours, theirs, both"),
        ("-", "ours,theirs", "one PATH"),
    ] {
        let output = fix(path, answer, &[]);
        assert_eq!(output.status.code(), Some(2), "{answer}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{answer}: {}", stderr(&output));
        assert_eq!(texts(), [one.clone(), two.clone()], "{answer}");
    }
    let output = fix("one.xml", "ours,theirs", &["two.xml"]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("one PATH"), "{}", stderr(&output));
}

#[test]
fn a_conflict_outside_the_entries_takes_one_side_and_unmatched_markers_are_refused() {
    let folder = Folder::new();
    let root = format!("<urlset {NS}>\n");
    let text = format!("<<<<<<< HEAD\n{root}=======\n<!-- c -->\n{root}>>>>>>> b\n{ONE}</urlset>\n");
    folder.write("s.xml", &text);
    assert!(errors(&folder, "s.xml").contains(&"1:1 merge-conflict".to_owned()));
    let both = run(&folder, &["fix", "s.xml", "--rule", "merge-conflict", "--answer", "both"]);
    assert!(both.status.code() != Some(0) && stderr(&both).contains("not between entries"), "{}", stderr(&both));
    assert_eq!(folder.text("s.xml"), text);
    let theirs = run(&folder, &["fix", "s.xml", "--rule", "merge-conflict", "--answer", "theirs"]);
    assert_eq!(theirs.status.code(), Some(0), "{}", stderr(&theirs));
    assert_eq!(folder.text("s.xml"), format!("<!-- c -->\n{root}{ONE}</urlset>\n"));

    let text = format!("{root}{ONE}<<<<<<< HEAD\n{ONE}</urlset>\n");
    folder.write("s.xml", &text);
    assert!(errors(&folder, "s.xml").contains(&"3:1 merge-conflict".to_owned()));
    let ours = run(&folder, &["fix", "s.xml", "--rule", "merge-conflict", "--answer", "ours"]);
    assert!(ours.status.code() != Some(0) && stderr(&ours).contains("do not match"), "{}", stderr(&ours));
    assert_eq!(folder.text("s.xml"), text);
}

/// A valid file with one mutation.
fn mutant() -> impl Strategy<Value = String> {
    let pieces = vec![
        "<",
        ">",
        "/",
        "&",
        "\"",
        "'",
        "=",
        " ",
        "!",
        "?",
        "--",
        "]]>",
        "<!--",
        "<?",
        "?>",
        "<?XML x?>",
        "<?1a b?>",
        "<a%b>",
        "<a&b>",
        "a\u{a0}b",
        "\u{d7}",
        "\u{202e}",
        "\u{1}",
        "&#0;",
        "&x;",
        "<url>",
        "</url>",
        "</urlset>",
        " a=b",
        " a='b'",
        ":",
        "1",
        "\n",
        "x",
    ];
    (any::<prop::sample::Index>(), prop::sample::select(pieces), 0..4_usize).prop_map(|(at, piece, cut)| {
        let sound = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c -->\n<urlset {NS} {XHTML}>\n{ONE}<url>\n<loc>https://example.com/?a&amp;b</loc><xhtml:link rel=\"alternate\" hreflang='x' href=\"https://example.com/\"/>\n</url></urlset>\n<?p q?>\n"
        );
        let at = at.index(sound.len());
        let end = (at + cut).min(sound.len());
        format!("{}{piece}{}", &sound[..at], &sound[end..])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_mutant_that_is_not_well_formed_has_an_error(text in mutant()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.xml");
        std::fs::write(&path, &text).unwrap();
        let now = Now { seconds: 1_795_000_000, offset: 0 };
        let found: Vec<String> = match load::open(&path, Options::default(), now) {
            Err(error) => vec![error.to_string()],
            Ok(session) => report::all_findings(&session)
                .into_iter()
                .filter(|one| one.finding.severity == Severity::Error)
                .map(|one| one.finding.rule.code().to_owned())
                .collect(),
        };
        prop_assert!(uppsala::parse(&text).is_ok() || !found.is_empty(), "{}", text);
    }
}
