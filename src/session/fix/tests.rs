//! Every rule of the table by its sample: it is found, and its fix does what the table promises.

use crate::check::decision::Decision;
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::samples::NOW;
use crate::check::samples::sets::{Packing, Sample, samples};
use crate::files::Options;
use crate::files::journal::Desk;
use crate::protocol::lastmod::Now;
use crate::session::change::Change;
use crate::session::findings;
use crate::session::sampled::{folder, paths};
use crate::session::{Session, load};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

/// The files of a sample in a folder of their own, opened.
fn open(sample: &Sample) -> (tempfile::TempDir, Session) {
    let folder = folder(sample);
    let session = opened(sample, &paths(sample, folder.path()));
    (folder, session)
}

fn opened(sample: &Sample, paths: &[PathBuf]) -> Session {
    let mut options = Options { base_url: sample.base.map(str::to_owned), ..Options::default() };
    options.max_unpacked = sample.most.unwrap_or(options.max_unpacked);
    let now = Now { seconds: NOW, offset: 0 };
    let mut session = load::open_all(Session::new(now, options.base_url.clone()), paths, options).unwrap();
    session.set_profile(sample.profile);
    session
}

fn broken(session: &Session) -> BTreeSet<Rule> {
    let unread = session.unread().iter().filter_map(findings::refused);
    session.report().into_iter().chain(unread).map(|found| found.finding.rule).collect()
}

/// Rules whose findings go when the file is written, not before: it is split then.
const SPLIT: RuleSet = RuleSet::of(&[
    Rule::FILE_TOO_MANY_URLS,
    Rule::FILE_TOO_LARGE,
    Rule::NEWS_LIMIT,
    Rule::TEXT_LIMITS,
    Rule::SET_NEWS_MIXED,
    Rule::INDEX_TOO_MANY,
]);

fn fix(session: &mut Session, rules: RuleSet) -> Result<bool, String> {
    let rows = session.view().document.live_rows().map(|row| row.0).collect();
    session.change(&Change::Fix { rows, rules }).map(|report| report.changed).map_err(|refused| refused.0)
}

/// A rule or a milder variant of one.
fn is_known(rule: Rule, before: &BTreeSet<Rule>) -> bool {
    rule.family().iter().any(|other| before.contains(&other) && rule.severity() <= other.severity())
}

#[test]
fn each_rule_is_found_in_its_sample_and_its_fix_ends_it_and_begins_nothing() {
    for sample in samples() {
        let (folder, mut session) = open(&sample);
        let rule = sample.rule;
        let before = broken(&session);
        assert!(before.contains(&rule), "{rule:?} is not found, but {before:?}");
        let outcome = fix(&mut session, rule.family());
        if rule.fix() == FixKind::None {
            assert!(outcome != Ok(true), "{rule:?} is not to be fixed");
            continue;
        }
        if rule == Rule::SET_MIXED_HOST {
            // Nobody can say without an answer what is to become of pages of another host.
            assert_eq!(outcome, Ok(false));
            let rows = session.view().document.live_rows().map(|row| row.0).collect();
            session.change(&Change::Decide { rows, rule, decision: Decision::Delete }).unwrap();
        } else {
            assert_eq!(outcome, Ok(true), "{rule:?} is not fixed");
        }
        let after = broken(&session);
        assert!(!after.contains(&rule) || SPLIT.contains(rule), "{rule:?} stays");
        let new: Vec<&Rule> = after.iter().filter(|rule| !is_known(**rule, &before)).collect();
        assert!(new.is_empty(), "after {rule:?} there is {new:?}");
        // One step, and back.
        session.undo().unwrap();
        assert_eq!(broken(&session), before, "{rule:?} undone");
        assert!(!session.is_modified(), "{rule:?} undone");
        session.redo().unwrap();
        assert_eq!(broken(&session), after, "{rule:?} done again");
        // What is written is what the screen says.
        session.set_base_url(Some("https://example.com/".to_owned()));
        session.save_now(None, false).unwrap_or_else(|error| panic!("{rule:?}: {error}"));
        let paths = match session.path() {
            Some(path) if SPLIT.contains(rule) || super::name::FIXES.contains(rule) => vec![path.clone()],
            _ => paths(&sample, folder.path()),
        };
        let fresh = broken(&opened(&sample, &paths));
        assert!(!fresh.contains(&rule), "{rule:?} is in the file still");
        let new: Vec<&Rule> = fresh.iter().filter(|rule| !is_known(**rule, &before)).collect();
        // A file that leaves its index stays in the folder: nobody asked for it to be removed.
        let leaves = rule == Rule::INDEX_CHILD_EMPTY && new == [&Rule::INDEX_CHILD_UNLISTED];
        assert!(new.is_empty() || leaves || SPLIT.contains(rule), "{rule:?} written: {new:?}");
    }
}

#[test]
fn a_fix_that_was_not_saved_is_there_again_after_a_crash() {
    let is_small = |sample: &Sample| !SPLIT.contains(sample.rule) && sample.rule.fix() != FixKind::None;
    for sample in samples().into_iter().filter(is_small) {
        let (folder, mut session) = open(&sample);
        let rule = sample.rule;
        let paths = paths(&sample, folder.path());
        let desk = || Desk::take(&folder.path().join("state"), &paths[0]).unwrap();
        session.keep(desk());
        if fix(&mut session, rule.family()) != Ok(true) {
            assert_eq!(rule, Rule::SET_MIXED_HOST);
            continue;
        }
        let expected = broken(&session);
        drop(session);
        let mut again = opened(&sample, &paths);
        let (left, words) = again.keep(desk());
        let left = left.unwrap_or_else(|| panic!("{rule:?}: {words:?}"));
        again.replay(left).unwrap_or_else(|refused| panic!("{rule:?}: {refused}"));
        assert_eq!(broken(&again), expected, "{rule:?}");
        assert!(again.is_modified(), "{rule:?}");
        // What the replay wrote down leads there once more.
        drop(again);
        let mut again = opened(&sample, &paths);
        let (left, words) = again.keep(desk());
        again.replay(left.unwrap_or_else(|| panic!("{rule:?}: {words:?}"))).unwrap();
        assert_eq!(broken(&again), expected, "{rule:?}, twice");
    }
}

#[test]
fn what_the_table_calls_safe_runs_unattended() {
    let safe = super::safe_rules();
    for sample in samples().into_iter().filter(|sample| sample.rule.fix() == FixKind::Safe) {
        let (_folder, mut session) = open(&sample);
        let rule = sample.rule;
        assert_eq!(fix(&mut session, safe), Ok(true), "{rule:?}");
        assert!(!broken(&session).contains(&rule) || SPLIT.contains(rule), "{rule:?} stays");
    }
}

#[test]
fn what_is_a_guess_does_not_run_unattended() {
    // The table calls both rules safe to fix, and these values are not.
    for (rule, field) in [
        (Rule::LOC_INNER_WHITESPACE, "<loc>https://example.com/a b</loc>"),
        (Rule::LASTMOD_SPACE_SEPARATOR, "<loc>https://example.com/a</loc><lastmod>2026-11-18 10:00:00</lastmod>"),
    ] {
        let text = format!("{HEAD}<url>{field}</url></urlset>");
        let sample = Sample {
            files: vec![("sitemap.xml".to_owned(), text.into_bytes(), Packing::Plain)],
            ..samples()[0].clone()
        };
        let (_folder, mut session) = open(&sample);
        assert_eq!(fix(&mut session, super::safe_rules()), Ok(false), "{rule}");
        assert!(broken(&session).contains(&rule));
        assert_eq!(fix(&mut session, rule.family()), Ok(true), "{rule}");
    }
}

/// A page of a small site: URL, priority or date, and who its versions are.
fn any_page() -> impl Strategy<Value = String> {
    let host = prop::sample::select(vec![
        "https://e.com",
        "https://e.com",
        "http://e.com",
        "https://www.e.com",
        "https://f.com",
    ]);
    let path = prop::sample::select(vec!["/a", "/b", "/c", "/a/", "/%61", "/d"]);
    let field = prop::sample::select(vec![
        "",
        "<lastmod>2026-11-01</lastmod>",
        "<lastmod>2026-11-02</lastmod>",
        "<priority>0.4</priority>",
    ]);
    let link =
        (prop::sample::select(vec!["en", "de", "fr", "x-default"]), prop::sample::select(vec!["/a", "/b", "/c", "/d"]));
    let links = proptest::collection::vec(link, 0..4);
    (host, path, field, links).prop_map(|(host, path, field, links)| {
        let links: Vec<(&str, String)> =
            links.iter().map(|(code, path)| (*code, format!("https://e.com{path}"))).collect();
        let links: Vec<(&str, &str)> = links.iter().map(|(code, href)| (*code, href.as_str())).collect();
        format!("<url><loc>{host}{path}</loc>{field}{}</url>\n", crate::check::samples::links(&links))
    })
}

/// How many findings of each rule there are, its variants included.
fn tally(session: &Session) -> BTreeMap<Rule, u64> {
    session.rule_counts().into_iter().map(|(rule, count)| (rule.main(), count)).collect()
}

/// What fixes of several rows cannot help leaving: whose fix, what, and why. They say so beforehand.
fn may_leave(fixed: Rule, left: Rule) -> Option<&'static str> {
    const LINKS: RuleSet = RuleSet::of(&[
        Rule::HREFLANG_NO_RETURN,
        Rule::HREFLANG_SET_DIFFERS,
        Rule::HREFLANG_TARGET_MISSING,
        Rule::HREFLANG_SELF_MISSING,
        Rule::HREFLANG_SELF_CONFLICT,
    ]);
    const SHARES: RuleSet =
        RuleSet::of(&[Rule::SET_LASTMOD_SPARSE, Rule::SET_PRIORITY_IDENTICAL, Rule::SET_MIXED_SLASH]);
    let merges = fixed.code().starts_with("set-duplicate");
    let moves = fixed.code().starts_with("set-mixed");
    match left {
        Rule::DOC_NO_ENTRIES if merges => Some("a file that lost its last row stays, where no index can leave it out"),
        _ if merges && LINKS.contains(left) => {
            Some("the row that is left has the links of all, and they are judged anew")
        }
        _ if merges && SHARES.contains(left) => Some("of fewer rows other shares have a value"),
        _ if moves && LINKS.contains(left) => Some("links that led elsewhere lead to this page now, or no longer"),
        Rule::SET_DUPLICATE_NEAR if moves => Some("an address that differed in two ways differs in one"),
        Rule::SET_MIXED_HOST | Rule::SET_MIXED_WWW | Rule::SET_MIXED_SCHEME if moves => {
            Some("rows whose new address is taken keep theirs, and may be the fewer ones now")
        }
        Rule::SET_MIXED_SLASH if moves => Some("pages of one host are compared that were on two"),
        Rule::HREFLANG_SET_DIFFERS if fixed == Rule::HREFLANG_NO_RETURN => {
            Some("one page has a link more than its other versions")
        }
        Rule::HREFLANG_TARGET_MISSING if fixed == Rule::HREFLANG_SET_DIFFERS => {
            Some("more versions name the page that has no row")
        }
        _ if fixed == Rule::HREFLANG_TARGET_MISSING => match left {
            Rule::LASTMOD_MISSING | Rule::SET_LASTMOD_SPARSE => Some("nobody knows when the new page changed"),
            Rule::HREFLANG_NO_X_DEFAULT => Some("the new page has the versions that name it, and none is x-default"),
            Rule::SET_DUPLICATE_NEAR
            | Rule::SET_MIXED_HOST
            | Rule::SET_MIXED_WWW
            | Rule::SET_MIXED_SCHEME
            | Rule::SET_MIXED_SLASH => Some("its address is the one that others name"),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn a_file_that_a_fix_empties_leaves_its_index_and_stays_where_there_is_none() {
    let page = "<url><loc>https://e.com/a</loc></url>";
    let file = |name: &str, text: String| (name.to_owned(), text.into_bytes(), Packing::Plain);
    let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
    let index = HEAD.replace("urlset", "sitemapindex") + &child("a.xml") + &child("b.xml") + "</sitemapindex>";
    let other = "<url><loc>https://e.com/b</loc></url>";
    let files =
        vec![file("a.xml", format!("{HEAD}{page}{other}</urlset>")), file("b.xml", format!("{HEAD}{page}</urlset>"))];
    let merge = RuleSet::of(&[Rule::SET_DUPLICATE_ACROSS_FILES]);
    let mut sample = Sample { files, ..samples()[0].clone() };
    let (_folder, mut session) = open(&sample);
    let rows = session.view().document.live_rows().map(|row| row.0).collect();
    let report = session.change(&Change::Fix { rows, rules: merge }).unwrap();
    assert!(report.message.ends_with("; leaves 1 warning: doc-no-entries"), "{}", report.message);
    assert_eq!(session.history()[0].label, report.message.replace("; leaves 1 warning: doc-no-entries", ""));

    sample.files.insert(0, file("sitemap_index.xml", index));
    let (folder, mut session) = open(&sample);
    let rows = session.view().document.live_rows().map(|row| row.0).collect();
    let report = session.change(&Change::Fix { rows, rules: merge }).unwrap();
    assert!(!report.message.contains("leaves"), "{}", report.message);
    let before = broken(&session);
    session.save_now(None, false).unwrap();
    assert!(!folder.path().join("b.xml").exists());
    // The set is what it is said to be: an index with one sitemap.
    assert_eq!(before, BTreeSet::from([Rule::INDEX_SINGLE]));
    assert_eq!(broken(&opened(&sample, &paths(&sample, folder.path()))), BTreeSet::from([Rule::INDEX_SINGLE]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever the set: the fix of a rule about several rows ends its findings, or says why it leaves some; no rule is
    /// broken more often than before, unless that cannot be helped and is said; and it can be undone.
    #[test]
    fn fixes_of_several_rows_hold_in_any_set(
        pages in proptest::collection::vec(any_page(), 1..12),
        second in proptest::collection::vec(any_page(), 0..4),
    ) {
        let head = HEAD.replace("0.9\">", "0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">");
        let file = |name: &str, pages: &[String]| {
            (name.to_owned(), format!("{head}{}</urlset>", pages.concat()).into_bytes(), Packing::Plain)
        };
        let mut sample = samples()[0].clone();
        sample.files = vec![file("a.xml", &pages), file("b.xml", &second)];
        let (_folder, mut session) = open(&sample);
        for rule in super::set::FIXES.iter() {
            let before = tally(&session);
            let Some(count) = before.get(&rule.main()) else { continue };
            let rows = session.view().document.live_rows().map(|row| row.0).collect();
            let report = session.change(&Change::Fix { rows, rules: RuleSet::of(&[rule]) }).unwrap();
            let after = tally(&session);
            let left = after.get(&rule.main()).copied().unwrap_or(0);
            prop_assert!(left <= *count, "{rule:?}: {count} became {left}: {}", report.message);
            prop_assert!(left == 0 || report.message.contains("left alone") || !report.changed, "{rule:?}: {left} left: {}", report.message);
            for (new, count) in after.iter().filter(|(new, count)| **count > before.get(new).copied().unwrap_or(0)) {
                let reason = may_leave(rule.main(), *new);
                prop_assert!(reason.is_some(), "{rule:?} leaves {count} of {new:?}: {}", report.message);
                prop_assert!(report.message.contains(&format!(": {}", new.code())), "unsaid: {new:?}: {}", report.message);
            }
            if report.changed {
                session.undo().unwrap();
                prop_assert_eq!(&tally(&session), &before, "{:?} undone", rule);
            }
        }
    }
}
