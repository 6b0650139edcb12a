//! Tests of all fixes on the sample of each rule.

use crate::check::FindingTarget;
use crate::check::Profile;
use crate::check::decision::Decision;
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::check::samples::NOW;
use crate::check::samples::sets::{Packing, Sample, samples};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::files::journal::StateSlot;
use crate::files::{Conflicts, Options, Side};
use crate::protocol::lastmod::Now;
use crate::protocol::{Field, Severity};
use crate::session::Session;
use crate::session::command::Assignment;
use crate::session::edit::Change;
use crate::session::findings;
use crate::session::fixture::non_row_findings;
use crate::session::report;
use crate::session::sampled::{self, folder, paths};
use crate::session::store::journal::fixture;
use crate::session::store::load;
use crate::session::store::save;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

mod whole;

const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

/// Writes the files of a sample to a new folder and opens them.
fn open(sample: &Sample) -> (tempfile::TempDir, Session) {
    let folder = folder(sample);
    let session = opened(sample, &paths(sample, folder.path()));
    (folder, session)
}

fn opened(sample: &Sample, paths: &[PathBuf]) -> Session {
    let mut options = Options { base_url: sample.base.map(str::to_owned), ..Options::default() };
    // A merge conflict can be fixed only after it was answered.
    if sample.rule == Rule::MERGE_CONFLICT {
        options.conflicts = Conflicts::Take(std::sync::Arc::new(crate::files::Answers::all(Side::Both)));
    }
    options.max_unpacked = sample.max_bytes.unwrap_or(options.max_unpacked);
    let now = Now { seconds: NOW, offset: 0 };
    let mut session = load::open_all(Session::new(now, options.base_url.clone()), paths, options).unwrap();
    session.set_profile(sample.profile);
    session.set_site(sampled::data(sample), sampled::robots(sample));
    session
}

fn broken(session: &Session) -> BTreeSet<Rule> {
    let unread = session.unread().iter().filter_map(findings::file_findings::of_error);
    report::all_findings(session).into_iter().chain(unread).map(|found| found.finding.rule).collect()
}

/// Rules whose fix is a split by the next save.
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
    session.change(&Change::Fix { rows, rules }).map(|report| report.changed).map_err(|refused| refused.to_string())
}

/// Whether the rule, or a variant that is at least as severe, was violated before. Files of a split are full, so they
/// are near a limit.
fn is_known(rule: Rule, before: &BTreeSet<Rule>) -> bool {
    let is_full = rule == Rule::FILE_NEAR_LIMIT && before.iter().any(|rule| SPLIT.contains(*rule));
    is_full || rule.family().iter().any(|other| before.contains(&other) && rule.severity() <= other.severity())
}

#[test]
fn each_fix_removes_the_finding_of_its_sample_and_causes_no_other() {
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
            // Pages of another host need an answer.
            assert_eq!(outcome, Ok(false));
            let rows = session.view().document.live_rows().map(|row| row.0).collect();
            session.change(&Change::Decide { rows, rule, decision: Decision::Delete }).unwrap();
        } else {
            assert_eq!(outcome, Ok(true), "{rule:?} is not fixed");
        }
        let after = broken(&session);
        assert!(!after.contains(&rule), "{rule:?} stays");
        let new: Vec<&Rule> = after.iter().filter(|rule| !is_known(**rule, &before)).collect();
        assert!(new.is_empty(), "after {rule:?} there is {new:?}");
        // The fix is one step that can be undone and redone.
        session.undo().unwrap();
        assert_eq!(broken(&session), before, "{rule:?} undone");
        assert!(!session.is_modified(), "{rule:?} undone");
        session.redo().unwrap();
        assert_eq!(broken(&session), after, "{rule:?} done again");
        // The saved files have the findings of the session.
        session.set_base_url(Some("https://example.com/".to_owned()));
        save::now(&mut session, None, false).unwrap_or_else(|error| panic!("{rule:?}: {error}"));
        let paths = match session.path() {
            Some(path) if SPLIT.contains(rule) || crate::session::file_fixes::name::FIXES.contains(rule) => {
                vec![path.clone()]
            }
            _ => paths(&sample, folder.path()),
        };
        let fresh = broken(&opened(&sample, &paths));
        assert!(!fresh.contains(&rule), "{rule:?} is in the file still");
        let new: Vec<&Rule> = fresh.iter().filter(|rule| !is_known(**rule, &before)).collect();
        // A file that is removed from its index stays in the folder, where it is unlisted.
        let leaves = rule == Rule::INDEX_CHILD_EMPTY && new == [&Rule::INDEX_CHILD_UNLISTED];
        assert!(new.is_empty() || leaves, "{rule:?} written: {new:?}");
        // The findings of a split were counted before the save as in the files that it made.
        assert!(!SPLIT.contains(rule) || fresh == after, "{rule:?}: {after:?} became {fresh:?}");
    }
}

/// The bytes of all files as a save would write them, except for the dates that it sets.
fn would_write(session: &Session) -> Vec<Vec<u8>> {
    let document = session.document();
    let sitemap = |id: u32| {
        let mut bytes = Vec::new();
        let written: Result<(), std::convert::Infallible> = document.write_sitemap(SitemapId(id), &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        });
        written.map(|()| bytes).unwrap()
    };
    let index = document.index().into_iter().flat_map(|index| index.files().map(|file| file.bytes()));
    (0..document.sitemaps().len() as u32).map(sitemap).chain(index).collect()
}

#[test]
fn an_unsaved_fix_is_replayed_after_a_crash() {
    let is_small = |sample: &Sample| !SPLIT.contains(sample.rule) && sample.rule.fix() != FixKind::None;
    for sample in samples().into_iter().filter(is_small) {
        let (folder, mut session) = open(&sample);
        let rule = sample.rule;
        let paths = paths(&sample, folder.path());
        let state_slot = || StateSlot::take(&folder.path().join("state"), &paths[0]).unwrap();
        fixture::open(&mut session, state_slot());
        if fix(&mut session, rule.family()) != Ok(true) {
            assert_eq!(rule, Rule::SET_MIXED_HOST);
            continue;
        }
        let expected = broken(&session);
        let bytes = would_write(&session);
        drop(session);
        let mut again = opened(&sample, &paths);
        let (left, words) = fixture::open(&mut again, state_slot());
        let left = left.unwrap_or_else(|| panic!("{rule:?}: {words:?}"));
        fixture::replay(&mut again, left).unwrap_or_else(|refused| panic!("{rule:?}: {refused}"));
        assert_eq!(broken(&again), expected, "{rule:?}");
        assert!(would_write(&again) == bytes, "{rule:?}: other bytes");
        assert!(again.is_modified(), "{rule:?}");
        // The journal that the replay wrote gives the same result.
        drop(again);
        let mut again = opened(&sample, &paths);
        let (left, words) = fixture::open(&mut again, state_slot());
        fixture::replay(&mut again, left.unwrap_or_else(|| panic!("{rule:?}: {words:?}"))).unwrap();
        assert_eq!(broken(&again), expected, "{rule:?}, twice");
        assert!(would_write(&again) == bytes, "{rule:?}: other bytes, twice");
    }
}

#[test]
fn fixes_marked_safe_run_unattended() {
    let safe = crate::session::fix_table::safe_rules();
    for sample in samples().into_iter().filter(|sample| sample.rule.fix() == FixKind::Safe) {
        let (_folder, mut session) = open(&sample);
        let rule = sample.rule;
        assert_eq!(fix(&mut session, safe), Ok(true), "{rule:?}");
        assert!(!broken(&session).contains(&rule), "{rule:?} stays");
    }
}

#[test]
fn fixes_that_guess_do_not_run_unattended() {
    // The table marks both rules as safe, but fixes of these values are guesses.
    for (rule, field) in [
        (Rule::LOC_INNER_WHITESPACE, "<loc>https://example.com/a b</loc>"),
        (Rule::LASTMOD_SPACE_SEPARATOR, "<loc>https://example.com/a</loc><lastmod>2026-11-18 10:00:00</lastmod>"),
    ] {
        let text = format!("{HEAD}<url>{field}</url></urlset>");
        let sample = Sample::with_files(vec![("sitemap.xml".to_owned(), text.into_bytes(), Packing::Plain)]);
        let (_folder, mut session) = open(&sample);
        assert_eq!(fix(&mut session, crate::session::fix_table::safe_rules()), Ok(false), "{rule}");
        assert!(broken(&session).contains(&rule));
        assert_eq!(fix(&mut session, rule.family()), Ok(true), "{rule}");
    }
}

/// A page of a small site: URL, priority or date, and links to its versions.
fn any_page() -> impl Strategy<Value = String> {
    let host = prop::sample::select(vec![
        "https://e.com",
        "https://e.com",
        "http://e.com",
        "https://www.e.com",
        "https://f.com",
        "HTTPS://E.com",
        "htp://e.com",
    ]);
    let path = prop::sample::select(vec![
        "/a",
        "/b",
        "/c",
        "/a/",
        "/%61",
        "/d",
        "",
        "/",
        "/a#x",
        ":443/a",
        "/x/../b",
        "/a b",
        "/?utm_id=1",
    ]);
    let field = prop::sample::select(vec![
        "",
        "<lastmod>2026-11-01</lastmod>",
        "<lastmod>2026-11-02</lastmod>",
        "<priority>0.4</priority>",
        "<lastmod>2026-11-1</lastmod>",
        "<priority>0,4</priority>",
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

/// The number of findings of each rule, its variants included.
fn tally(session: &Session) -> BTreeMap<Rule, u64> {
    session.counts().by_rule().into_iter().map(|(rule, count)| (rule.main(), count)).collect()
}

/// The errors and warnings of each row, of each file and of the set.
fn places(session: &Session) -> BTreeSet<(String, Rule)> {
    let is_bad =
        |rule: &Rule| rule.severity_in(session.view().profile()).is_some_and(|severity| severity > Severity::Note);
    let view = session.view();
    let of_row =
        |row: RowId| view.rules_of(row).iter().filter(is_bad).map(move |rule| (row.0.to_string(), rule.main()));
    let whole = non_row_findings(session).into_iter().filter(|found| is_bad(&found.rule));
    let of_rows = view.document.live_rows().flat_map(of_row);
    // Entries of an index may be added, removed and changed, so they are not distinguished.
    let place = |place: FindingTarget| if place.is_of_index() { "index".to_owned() } else { format!("{place:?}") };
    of_rows.chain(whole.map(|found| (place(found.target), found.rule.main()))).collect()
}

/// Whether a fix may leave such findings, which its message reports: notes, and identical priorities of all rows that
/// remain, which deleted rows concealed.
fn may_leave(profile: Profile, left: Rule) -> bool {
    left.main() == Rule::SET_PRIORITY_IDENTICAL || left.severity_in(profile) == Some(Severity::Note)
}

#[test]
fn a_fix_empties_a_file_only_if_an_index_lists_it() {
    let page = "<url><loc>https://e.com/a</loc></url>";
    let file = |name: &str, text: String| (name.to_owned(), text.into_bytes(), Packing::Plain);
    let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
    let index = HEAD.replace("urlset", "sitemapindex") + &child("a.xml") + &child("b.xml") + "</sitemapindex>";
    let other = "<url><loc>https://e.com/b</loc></url>";
    let files =
        vec![file("a.xml", format!("{HEAD}{page}{other}</urlset>")), file("b.xml", format!("{HEAD}{page}</urlset>"))];
    let merge = RuleSet::of(&[Rule::SET_DUPLICATE_ACROSS_FILES]);
    let mut sample = Sample::with_files(files);
    let (_folder, mut session) = open(&sample);
    let rows = session.view().document.live_rows().map(|row| row.0).collect();
    let report = session.change(&Change::Fix { rows, rules: merge }).unwrap();
    // Without an index, the emptied file cannot be removed, and an empty file is worse than a duplicate.
    assert!(!report.changed && report.message.contains("would then violate doc-no-entries"), "{}", report.message);

    sample.files.insert(0, file("sitemap_index.xml", index));
    let (folder, mut session) = open(&sample);
    let rows = session.view().document.live_rows().map(|row| row.0).collect();
    let report = session.change(&Change::Fix { rows, rules: merge }).unwrap();
    assert!(report.message.ends_with("leaves 1 note: index-single"), "{}", report.message);
    let before = broken(&session);
    save::now(&mut session, None, false).unwrap();
    assert!(!folder.path().join("b.xml").exists());
    // The saved set has the reported findings: an index with one sitemap.
    assert_eq!(before, BTreeSet::from([Rule::INDEX_SINGLE]));
    assert_eq!(broken(&opened(&sample, &paths(&sample, folder.path()))), BTreeSet::from([Rule::INDEX_SINGLE]));
}

/// A save removes an emptied file only if other files have rows: without any row, all emptied files stay.
#[test]
fn a_file_that_was_emptied_first_has_findings_once_no_row_is_left() {
    let file = |name: &str, text: String| (name.to_owned(), text.into_bytes(), Packing::Plain);
    let page = |loc: &str| format!("{HEAD}<url><loc>https://e.com/{loc}</loc></url></urlset>");
    let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
    let index = HEAD.replace("urlset", "sitemapindex") + &child("a.xml") + &child("b.xml") + "</sitemapindex>";
    let files = vec![file("sitemap_index.xml", index), file("a.xml", page("a")), file("b.xml", page("b"))];
    let sample = Sample { base: Some("https://e.com/"), ..Sample::with_files(files) };
    let (_folder, mut session) = open(&sample);
    let empty_files = |session: &Session| tally(session).get(&Rule::DOC_NO_ENTRIES).copied().unwrap_or(0);
    session.change(&Change::Delete([0].into_iter().collect())).unwrap();
    assert_eq!(empty_files(&session), 0);
    session.change(&Change::Delete([1].into_iter().collect())).unwrap();
    assert_eq!(empty_files(&session), 2);
    session.undo().unwrap();
    assert_eq!(empty_files(&session), 0);
    session.redo().unwrap();
    save::now(&mut session, None, false).unwrap();
    assert_eq!(empty_files(&session), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// In any set, the fix of a rule about several rows removes its findings or reports why some remain; no rule is
    /// violated more often than before, except for reported findings that [`may_leave`] allows; and it can be undone.
    #[test]
    fn fixes_of_several_rows_cause_no_unreported_findings_in_any_set(
        pages in proptest::collection::vec(any_page(), 1..12),
        second in proptest::collection::vec(any_page(), 0..4),
    ) {
        let head = HEAD.replace("0.9\">", "0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">");
        let file = |name: &str, pages: &[String]| {
            (name.to_owned(), format!("{head}{}</urlset>", pages.concat()).into_bytes(), Packing::Plain)
        };
        let sample = Sample::with_files(vec![file("a.xml", &pages), file("b.xml", &second)]);
        let (_folder, mut session) = open(&sample);
        for rule in Rule::mains().filter(|rule| rule.fix() != FixKind::None) {
            let (before, places_before) = (tally(&session), places(&session));
            let Some(count) = before.get(&rule.main()) else { continue };
            let rows = session.view().document.live_rows().map(|row| row.0).collect();
            let report = session.change(&Change::Fix { rows, rules: rule.family() }).unwrap();
            let after = tally(&session);
            let left = after.get(&rule.main()).copied().unwrap_or(0);
            prop_assert!(left <= *count, "{rule:?}: {count} became {left}: {}", report.message);
            // An entry may have several of them, and of two pages in one language either may be the right one.
            let is_reported = report.message.contains("skipped") || !report.changed || rule == Rule::HREFLANG_DUPLICATE;
            prop_assert!(left == 0 || is_reported, "{rule:?}: {left} left: {}", report.message);
            for (new, count) in after.iter().filter(|(new, count)| **count > before.get(new).copied().unwrap_or(0)) {
                prop_assert!(may_leave(session.view().profile(), *new), "{rule:?} leaves {count} of {new:?}: {}", report.message);
                prop_assert!(report.message.contains(&format!(": {}", new.code())), "unsaid: {new:?}: {}", report.message);
            }
            let raised = places(&session);
            let mut raised = raised.difference(&places_before).filter(|(_, rule)| !super::trial::SHARED_VALUES.contains(*rule));
            prop_assert_eq!(raised.next(), None, "{:?} raises it: {}", rule, report.message);
            if report.changed {
                session.undo().unwrap();
                prop_assert_eq!(&tally(&session), &before, "{:?} undone", rule);
            }
        }
    }

    /// An accepted split is counted as the next save makes it, also after further edits; a fresh load of the saved
    /// files has the same counts, and undoing all steps restores the earlier ones.
    #[test]
    fn counts_of_an_accepted_split_equal_those_of_a_fresh_load(
        pages in proptest::collection::vec((any_page(), any::<bool>()), 2..9),
        edits in proptest::collection::vec((0u32..9, 0..4usize), 0..5),
        at in 0..5usize,
        with_index in any::<bool>(),
    ) {
        let head = HEAD.replace(
            "0.9\">",
            "0.9\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">",
        );
        let entry = |(page, is_news): &(String, bool)| match is_news {
            true => page.replace("</url>", &format!("{}</url>", crate::check::samples::news("en", "2026-11-01", ""))),
            false => page.clone(),
        };
        let text = format!("{head}{}</urlset>", pages.iter().map(entry).collect::<String>());
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec(), Packing::Plain);
        let files = vec![file("a.xml", &text)];
        let mut sample = Sample { base: Some("https://e.com/"), ..Sample::with_files(files) };
        if with_index {
            let child = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
            let index = HEAD.replace("urlset", "sitemapindex") + &child("a.xml") + &child("b.xml") + "</sitemapindex>";
            sample.files.insert(0, file("sitemap_index.xml", &index));
            sample.files.push(file("b.xml", &format!("{HEAD}<url><loc>https://e.com/z</loc></url></urlset>")));
        }
        let (_folder, mut session) = open(&sample);
        let before = tally(&session);
        let all = |session: &Session| session.view().document.live_rows().map(|row| row.0).collect();
        for (number, (row, what)) in edits.iter().chain([&(0, 0)]).enumerate() {
            if number == at.min(edits.len()) {
                let rules = RuleSet::of(&[Rule::SET_NEWS_MIXED]);
                let fix = Change::Fix { rows: all(&session), rules };
                let report = session.change(&fix).unwrap();
                // A split could put duplicates into two files, or make another host the main one.
                let is_left = report.message.contains("would then violate ");
                prop_assert!(is_left || !tally(&session).contains_key(&Rule::SET_NEWS_MIXED), "{}", report.message);
            }
            let rows = [*row].into_iter().collect();
            let set = |field, typed: &str| Change::Set { rows: [*row].into_iter().collect(), assignments: vec![Assignment { field, typed: typed.into() }] };
            let change = match what {
                0 => set(Field::Priority, "0.4"),
                1 => set(Field::Loc, "https://e.com/a"),
                2 => Change::Delete(rows),
                _ => Change::Duplicate(rows),
            };
            _ = session.change(&change);
        }
        // One rule depends on the time at which the file was written.
        let without_date = |mut counts: BTreeMap<Rule, u64>| {
            counts.remove(&Rule::SET_LASTMOD_GENERATED);
            counts
        };
        let counted = without_date(tally(&session));
        let steps = session.history().len();
        save::now(&mut session, None, false).unwrap();
        prop_assert_eq!(&without_date(tally(&session)), &counted, "saved");
        let fresh = opened(&sample, &[session.path().unwrap().clone()]);
        prop_assert_eq!(&without_date(tally(&fresh)), &counted, "a fresh load");
        for _ in 0..steps {
            session.undo().unwrap();
        }
        prop_assert_eq!(without_date(tally(&session)), without_date(before), "undone");
    }
}
