//! Property tests of fixes of files, the index and the set: no fix adds findings, and results survive a save.

use super::*;
use crate::check::decision::{self, Hints, answers};
use crate::session::fix;
use crate::session::fixture::non_row_findings;
use crate::session::store::save;

/// The head of a file, up to the start tag of its root.
fn any_head() -> impl Strategy<Value = String> {
    let namespace = prop::sample::select(vec![
        "http://www.sitemaps.org/schemas/sitemap/0.9",
        "http://www.sitemaps.org/schemas/sitemap/0.9",
        "https://www.sitemaps.org/schemas/sitemap/0.9/",
        "http://www.google.com/schemas/sitemap/0.84",
    ]);
    let before = prop::sample::select(vec![
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "",
        "\u{feff}<?xml version=\"1.1\"?>",
        "<?xml version=\"1.0\"?><!DOCTYPE urlset><!-- banner -->",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>",
    ]);
    let more = prop::sample::select(vec!["", "", " a=\"b\"", " xsi:schemaLocation=\"a b\""]);
    (before, namespace, more).prop_map(|(before, namespace, more)| {
        format!("{before}<urlset xmlns=\"{namespace}\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"{more}>")
    })
}

/// An entry of an index: its URL and another field.
fn any_child() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a.xml", "b%20c.xml", "c.xml.gz", "none.xml", "a.xml", "sub/d.xml"]);
    let host = prop::sample::select(vec![
        "https://e.com/",
        "https://e.com/",
        "https://e.com/",
        "https://f.com/",
        "http://e.com/",
        "/",
        "https://e.com/x/",
    ]);
    let more = prop::sample::select(vec![
        "",
        "<lastmod>2026-10-01</lastmod>",
        "<lastmod>2020-1-1</lastmod>",
        "<priority>0.4</priority>",
    ]);
    (host, name, more).prop_map(|(host, name, more)| format!("<sitemap><loc>{host}{name}</loc>{more}</sitemap>\n"))
}

/// A set that is printed as text if a test fails.
#[derive(Clone)]
struct Set(Sample);

impl std::fmt::Debug for Set {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(out, "base {:?}", self.0.base)?;
        let mut files = self.0.files.iter();
        files.try_for_each(|(name, bytes, _)| writeln!(out, "{name}: {}", String::from_utf8_lossy(bytes)))
    }
}

/// A set of four files, with or without an index.
fn any_set() -> impl Strategy<Value = Set> {
    let pages = || proptest::collection::vec(any_page(), 0..4);
    let files = (any_head(), pages(), any_head(), pages(), any_head(), pages(), pages());
    let index = proptest::option::of(proptest::collection::vec(any_child(), 1..6));
    (files, index, any::<bool>()).prop_map(|((ha, a, hb, b, hc, c, d), index, is_based)| {
        let file = |name: &str, head: &str, pages: &[String]| {
            (name.to_owned(), format!("{head}{}</urlset>", pages.concat()).into_bytes(), Packing::Plain)
        };
        let plain = HEAD.replace("0.9\">", "0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">");
        let mut files = vec![
            file("a.xml", &ha, &a),
            file("b c.xml", &hb, &b),
            file("c.xml.gz", &hc, &c),
            file("d.xml", &plain, &d),
        ];
        if let Some(index) = index {
            let head = ha.replace("urlset", "sitemapindex");
            let text = format!("{head}{}</sitemapindex>", index.concat());
            files.insert(0, ("sitemap_index.xml".to_owned(), text.into_bytes(), Packing::Plain));
        }
        Set(Sample { base: is_based.then_some("https://e.com/"), ..Sample::with_files(files) })
    })
}

/// The number of errors and warnings of a set by rule, without the rules that fixes may leave.
fn bad(session: &Session) -> BTreeMap<Rule, u64> {
    let is_bad = |rule: &Rule| {
        !super::super::trial::SHARED_VALUES.contains(*rule)
            && rule.severity_in(session.view().profile()).is_some_and(|severity| severity > Severity::Note)
    };
    tally(session).into_iter().filter(|(rule, _)| is_bad(rule)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// The fix of any finding of a file, of the index or of the set removes it or reports why not, causes no unreported
    /// findings, and can be undone.
    #[test]
    fn fixes_of_files_and_indexes_cause_no_unreported_findings_in_any_set(Set(sample) in any_set()) {
        let (_folder, mut session) = open(&sample);
        let offered = |session: &Session| -> Vec<(FindingTarget, Rule)> {
            let found = non_row_findings(session).into_iter().filter(|found| found.fix.is_some());
            found.map(|found| (found.target, found.rule)).collect()
        };
        for (place, rule) in offered(&session) {
            let (before, places_before) = (tally(&session), places(&session));
            let report = session.change(&fix::change_for(&session, place, rule)).unwrap();
            let (after, raised) = (tally(&session), places(&session));
            for (new, count) in after.iter().filter(|(new, count)| **count > before.get(new).copied().unwrap_or(0)) {
                prop_assert!(may_leave(session.view().profile(), *new), "{rule:?} at {place:?} leaves {count} of {new:?}: {}", report.message);
                prop_assert!(report.message.contains(&format!(": {}", new.code())), "unsaid: {new:?}: {}", report.message);
            }
            let mut raised = raised.difference(&places_before).filter(|(_, rule)| !super::super::trial::SHARED_VALUES.contains(*rule));
            prop_assert_eq!(raised.next(), None, "{:?} at {:?} raises it: {}", rule, place, report.message);
            if report.changed {
                session.undo().unwrap();
                prop_assert_eq!(&tally(&session), &before, "{:?} undone", rule);
            } else if place.member().and_then(|file| fix::question(session.view(), file, rule)).is_none() {
                prop_assert!(report.message.contains("would then violate") || !before.contains_key(&rule.main()), "{rule:?} at {place:?}: {}", report.message);
            }
        }
    }

    /// An answer to the question of a rule causes no unreported errors or warnings, and can be undone.
    #[test]
    fn answers_cause_no_unreported_findings_in_any_set(Set(sample) in any_set()) {
        let (_folder, mut session) = open(&sample);
        let hints = Hints { zone: 0, origin: Some("https://e.com"), today: Some("2026-11-20") };
        for rule in Rule::mains().filter(|rule| rule.fix() != FixKind::None) {
            let (before, places_before) = (tally(&session), places(&session));
            if !before.contains_key(&rule.main()) {
                continue;
            }
            for answer in answers(rule) {
                let words = if answer.word.chars().all(|letter| letter.is_ascii_uppercase()) { vec!["https://e.com/", "en", "+01:00", "new.xml"] } else { vec![answer.word] };
                for word in words {
                    let Ok(decision) = decision::parse_answer(rule, word, hints) else { continue };
                    if decision == Decision::Delete {
                        continue;
                    }
                    let rows = session.view().document.live_rows().map(|row| row.0).collect();
                    // An answer with a base URL may cause findings, which its message reports.
                    let is_place = matches!(decision, Decision::Base(_));
                    let Ok(report) = session.change(&Change::Decide { rows, rule, decision }) else { continue };
                    let raised = places(&session);
                    let is_reported = |rule: Rule| is_place && report.message.contains(rule.code());
                    let mut raised = raised
                        .difference(&places_before)
                        .filter(|(_, rule)| !super::super::trial::SHARED_VALUES.contains(*rule) && !is_reported(*rule));
                    prop_assert_eq!(raised.next(), None, "{:?} {} raises it: {}", rule, word, report.message);
                    if report.changed {
                        session.undo().unwrap();
                        prop_assert_eq!(&tally(&session), &before, "{:?} undone", rule);
                    }
                }
            }
        }
    }

    /// A fresh load of the saved files has no more findings of any rule than before the fix.
    #[test]
    fn a_saved_fix_of_a_file_adds_no_findings_on_a_fresh_load(Set(sample) in any_set(), which in any::<prop::sample::Index>()) {
        let (folder, mut session) = open(&sample);
        let found = non_row_findings(&session).into_iter().filter(|found| found.fix.is_some());
        // The content of an unlisted file is unknown.
        let is_known = |rule: &Rule| *rule != Rule::INDEX_CHILD_UNLISTED;
        let offered: Vec<(FindingTarget, Rule)> =
            found.map(|found| (found.target, found.rule)).filter(|(_, rule)| is_known(rule)).collect();
        prop_assume!(!offered.is_empty());
        let (place, rule) = offered[which.index(offered.len())];
        let before = bad(&session);
        let report = session.change(&fix::change_for(&session, place, rule)).unwrap();
        prop_assume!(report.changed);
        let mut plan = session.plan(None);
        plan.accept_repairs();
        prop_assume!(plan.is_ready());
        let saving = save::begin(&mut session, plan, false).unwrap();
        save::finish(&mut session, saving.run(&crate::progress::Progress::default())).unwrap();
        let paths = match session.path() {
            Some(path) if session.document().index().is_some() => vec![path.clone()],
            _ => session.document().sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()).collect(),
        };
        let read = |session: &Session| session.document().sitemaps().len();
        let fresh = opened(&sample, &paths);
        // An entry that refers to another file after the fix would add the findings of that file.
        prop_assume!(read(&fresh) <= read(&session));
        let fresh = bad(&fresh);
        // An entry with another URL may refer to a file that is listed already or missing, which only a load detects.
        let moves = [Rule::INDEX_CHILD_HOST, Rule::INDEX_CHILD_PATH, Rule::INDEX_CHILD_INCOMPLETE_URL].contains(&rule);
        let leaves = |new: Rule| {
            (rule == Rule::INDEX_CHILD_EMPTY && new == Rule::INDEX_CHILD_UNLISTED)
                || (moves && [Rule::INDEX_CHILD_DUPLICATE, Rule::INDEX_CHILD_MISSING].contains(&new))
        };
        for (new, count) in fresh.iter().filter(|(new, count)| **count > before.get(new).copied().unwrap_or(0)) {
            prop_assert!(leaves(*new), "{rule:?} at {place:?} wrote {count} of {new:?}: {}", report.message);
        }
        drop(folder);
    }
}

/// With the host of the others, the child would be a duplicate, and its file would have another public URL.
#[test]
fn a_child_on_another_host_keeps_its_url_if_another_entry_lists_a_file_of_its_name() {
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <sitemap><loc>https://f.com/a.xml</loc></sitemap><sitemap><loc>https://f.com/b.xml</loc></sitemap>\
        <sitemap><loc>/a.xml</loc></sitemap></sitemapindex>";
    let pages = format!("{HEAD}<url><loc>http://e.com/a</loc></url></urlset>");
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec(), Packing::Plain);
    let files = vec![file("sitemap_index.xml", index), file("a.xml", &pages)];
    let sample = Sample { base: Some("https://e.com/"), ..Sample::with_files(files) };
    let (_folder, mut session) = open(&sample);
    let change = fix::change_for(&session, FindingTarget::Index(None), Rule::INDEX_CHILD_HOST);
    let report = session.change(&change).unwrap();
    assert_eq!(
        report.message,
        "1 file fixed; 1 row skipped: https://f.com/a.xml would then violate index-child-duplicate"
    );
    let index = session.document().index().unwrap();
    let locs: Vec<&str> = index.children.iter().map(|child| &*child.loc).collect();
    assert_eq!(locs, ["https://f.com/a.xml", "https://e.com/b.xml", "/a.xml"]);
}
