//! Tests of saves that run while the user edits, against a model that copies every state.

mod index_volumes;

use super::*;
use crate::files::Options;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::command::Assignment;
use crate::session::edit::Change;
use crate::session::prepare;
use crate::session::report;
use crate::session::store::external_changes;
use crate::session::store::journal::fixture;
use crate::session::store::load;
use crate::session::store::save;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// 2026-11-20T10:20:30Z.
const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };
const SPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

fn loc(number: u32) -> String {
    format!("https://e.com/{number}")
}

/// A set of two parts with three rows each, the priority of each 0.5.
fn write_set(folder: &Path) -> PathBuf {
    let entry = |number: u32| format!("\n<url><loc>{}</loc><priority>0.5</priority></url>", loc(number));
    for (name, rows) in [("a.xml", 0..3), ("b.xml", 3..6)] {
        let text: String = rows.map(entry).collect();
        fs::write(folder.join(name), format!("<urlset {SPACE}>{text}\n</urlset>\n")).unwrap();
    }
    let index = folder.join("sitemap.xml");
    let child =
        |name| format!("<sitemap><loc>https://e.com/{name}</loc><lastmod>2026-01-01T00:00:00Z</lastmod></sitemap>");
    fs::write(&index, format!("<sitemapindex {SPACE}>{}{}</sitemapindex>", child("a.xml"), child("b.xml"))).unwrap();
    index
}

fn open(path: &Path) -> Session {
    load::open(path, Options::default(), NOW).unwrap()
}

/// Priorities by URL.
type Table = BTreeMap<String, String>;

fn table(session: &Session) -> Table {
    let document = session.document();
    let value = |row, field| document.value(row, field).unwrap_or_default().into_owned();
    document.live_rows().map(|row| (value(row, Field::Loc), value(row, Field::Priority))).collect()
}

/// Codes of the violated rules, except the one that depends on the date of the file.
fn codes(session: &Session) -> Vec<(&'static str, u64)> {
    let counts = session.counts().by_rule().into_iter().map(|(rule, count)| (rule.code(), count));
    let mut codes: Vec<_> = counts.filter(|(code, _)| *code != "set-lastmod-generated").collect();
    codes.sort_unstable();
    codes
}

fn row_of(session: &Session, loc: &str) -> Option<RowId> {
    session.document().live_rows().find(|row| session.document().loc(*row) == loc)
}

fn set(session: &mut Session, loc: &str, value: &str) -> bool {
    let Some(row) = row_of(session, loc) else { return false };
    let assignments = vec![Assignment { field: Field::Priority, typed: value.to_owned() }];
    let change = Change::Set { rows: RowSet::from_iter([row.0]), assignments };
    session.change(&change).unwrap().changed
}

/// A change that a job prepared while a save moved rows to other files applies to those files.
#[test]
fn a_change_prepared_before_a_save_ended_applies_to_its_new_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let limits = Limits { urls: 4, ..Limits::default() };
    let mut session = open(&path);
    let locs = (10..13).map(loc).collect();
    session.change(&Change::Insert { after: Some(RowId(1)), before: false, locs }).unwrap();
    let assignments = vec![Assignment { field: Field::Priority, typed: "0.1".into() }];
    let rows = session.document().live_set();
    let idle = Progress::default();
    let prepared = prepare::of_change(&session.snapshot(), &Change::Set { rows, assignments }, &idle).unwrap();
    let saving = {
        let plan = session.plan_within(None, limits);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    save::finish(&mut session, saving.run(&idle)).unwrap();
    session.commit(prepared, None).unwrap();
    assert_eq!((session.document().sitemaps().len(), session.view().changed()), (3, 9));
    let saving = {
        let plan = session.plan_within(None, limits);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    save::finish(&mut session, saving.run(&idle)).unwrap();
    let again = open(&path);
    assert_eq!((table(&again), again.document().sitemaps().len()), (table(&session), 3));
    assert!(table(&again).values().all(|priority| priority == "0.1"));
}

/// A change of many rows stores the counters of both states. After further changes, undos and saves, the counts equal
/// those of a fresh load.
#[test]
fn counts_after_large_changes_saves_and_undo_equal_a_fresh_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    let rows = u32::try_from(crate::session::checks::INLINE_ROWS).unwrap() + 5;
    let entry =
        |number: u32| format!("<url><loc>{}</loc><priority>0.{}</priority></url>\n", loc(number / 2), number % 9);
    fs::write(&path, format!("<urlset {SPACE}>{}</urlset>\n", (0..rows).map(entry).collect::<String>())).unwrap();
    let mut session = open(&path);
    let before = codes(&session);
    let all = |field, typed: &str| {
        let assignments = vec![Assignment { field, typed: typed.into() }];
        Change::Set { rows: (0..rows).collect(), assignments }
    };
    assert!(session.change(&all(Field::Priority, "0.8")).unwrap().changed);
    let uniform = codes(&session);
    assert_ne!(uniform, before);
    assert!(set(&mut session, &loc(3), "0.2"));
    session.change(&Change::Delete(RowSet::from_iter([7, 8, 9]))).unwrap();
    save::now(&mut session, None, false).unwrap();
    assert_eq!(codes(&session), codes(&open(&path)));
    session.change(&all(Field::Lastmod, "2026-01-01")).unwrap();
    save::now(&mut session, None, false).unwrap();
    let dated = codes(&session);
    assert_eq!(dated, codes(&open(&path)));
    while session.undo().is_some() {}
    assert_eq!(codes(&session), before);
    assert_eq!(session.view().changed(), rows);
    while session.redo().is_some() {}
    assert_eq!((codes(&session), session.view().changed(), session.is_modified()), (dated, 0, false));
    for _ in 0..3 {
        session.undo();
    }
    assert_eq!(codes(&session), uniform);
}

#[derive(Debug, Clone)]
enum Act {
    Set(u32, &'static str),
    Add(Option<u32>),
    Delete(u32),
    Undo,
    Redo,
    Begin,
    End,
}

fn act() -> impl Strategy<Value = Act> {
    let value = prop_oneof![Just("0.5"), Just("0.8"), Just("0.1")];
    prop_oneof![
        5 => (0u32..9, value).prop_map(|(number, value)| Act::Set(number, value)),
        4 => proptest::option::of(0u32..9).prop_map(Act::Add),
        3 => (0u32..9).prop_map(Act::Delete),
        3 => Just(Act::Undo),
        2 => Just(Act::Redo),
        3 => Just(Act::Begin),
        3 => Just(Act::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// For any edits while a save runs, the files hold the state at the start of the save, the table is the same as
    /// without the save, undo restores every earlier state, and a save at the end writes the table.
    #[test]
    fn a_background_save_changes_only_the_saved_state(
        changes in proptest::collection::vec(act(), 1..30),
        most in 2u32..5,
        parts in prop_oneof![Just(50_000), 1u32..4],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let limits = Limits { urls: most, parts, ..Limits::default() };
        let mut session = open(&path);
        // The states of the history, and the position of the current one.
        let (mut moments, mut at) = (vec![table(&session)], 0_usize);
        let mut saved = table(&session);
        let mut running: Option<(Saving, Table)> = None;
        let mut new = 100;
        for act in changes {
            let changed = match act {
                Act::Set(number, value) => set(&mut session, &loc(number), value),
                Act::Add(after) => {
                    let after = after.and_then(|number| row_of(&session, &loc(number)));
                    new += 1;
                    let change = Change::Insert { after, before: false, locs: vec![loc(new)] };
                    session.change(&change).unwrap().changed
                }
                Act::Delete(number) => match row_of(&session, &loc(number)) {
                    Some(row) => session.change(&Change::Delete(RowSet::from_iter([row.0]))).unwrap().changed,
                    None => false,
                },
                Act::Undo => {
                    prop_assert_eq!(session.undo().is_some(), at > 0);
                    at = at.saturating_sub(1);
                    false
                }
                Act::Redo => {
                    prop_assert_eq!(session.redo().is_some(), at + 1 < moments.len());
                    at = (at + 1).min(moments.len() - 1);
                    false
                }
                Act::Begin => {
                    if running.is_none() {
                        let plan = session.plan_within(None, limits);
                        prop_assert!(plan.is_ready(), "{:?}", plan.problems);
                        running = Some((save::begin(&mut session, plan, false).unwrap(), table(&session)));
                    }
                    false
                }
                Act::End => {
                    if let Some((saving, then)) = running.take() {
                        let result = saving.run(&Progress::default());
                        save::finish(&mut session, result).map_err(|error| TestCaseError::fail(error.to_string()))?;
                        prop_assert_eq!(&table(&open(folder.path())), &then);
                        saved = then;
                    }
                    false
                }
            };
            if changed {
                moments.truncate(at + 1);
                moments.push(table(&session));
                at += 1;
            }
            prop_assert_eq!(&table(&session), &moments[at]);
            prop_assert!(session.is_modified() || moments[at] == saved);
            let document = session.document();
            let changed = document.rows().filter(|row| session.view().row_state(*row) != crate::document::RowState::Clean);
            prop_assert_eq!(session.view().changed() as usize, changed.count());
            for sitemap in document.sitemaps() {
                let live: Vec<RowId> = sitemap.rows.iter().filter(|row| document.is_live(*row)).collect();
                prop_assert_eq!(sitemap.live as usize, live.len());
                let bytes: u64 = live.into_iter().map(|row| document.entry_text(row).len() as u64).sum();
                prop_assert_eq!(sitemap.entry_bytes, bytes);
            }
            for (number, sitemap) in document.sitemaps().iter().enumerate() {
                prop_assert!(sitemap.rows.iter().all(|row| document.sitemap_of(row).index() == number));
            }
        }
        if let Some((saving, _)) = running.take() {
            save::finish(&mut session, saving.run(&Progress::default())).map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        let plan = session.plan_within(None, limits);
        let result = save::begin(&mut session, plan, false).unwrap().run(&Progress::default());
        save::finish(&mut session, result).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(!session.is_modified());
        let again = open(folder.path());
        prop_assert_eq!(&table(&again), &moments[at]);
        prop_assert_eq!(codes(&again), codes(&session));
        prop_assert!(session.plan_within(None, limits).is_empty());
    }
}

#[test]
fn undoing_to_the_start_of_a_save_leaves_nothing_modified() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = open(&path);
    assert!(set(&mut session, &loc(1), "0.8"));
    let saving = {
        let plan = session.plan(None);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    assert!(set(&mut session, &loc(4), "0.1"));
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert_eq!((session.is_modified(), session.view().changed()), (true, 1));
    let saved: Vec<bool> = session.history().iter().map(|entry| entry.saved).collect();
    assert_eq!(saved, [true, false]);
    session.undo().unwrap();
    assert!(!session.is_modified(), "the dates in the index are those of the save");
    session.redo().unwrap();
    assert!(session.is_modified());
    let plan = session.plan(None);
    let written = plan.outputs.iter().filter(|output| output.action != files::Action::Untouched);
    assert_eq!(written.map(|output| &*output.name).collect::<Vec<_>>(), ["b.xml", "sitemap.xml"]);
}

#[test]
fn rows_added_while_their_file_is_split_follow_their_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let limits = Limits { urls: 2, ..Limits::default() };
    let mut session = open(&path);
    assert!(set(&mut session, &loc(0), "0.8"));
    let saving = {
        let plan = session.plan_within(None, limits);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    let last = row_of(&session, &loc(2));
    session.change(&Change::Insert { after: last, before: false, locs: vec![loc(100)] }).unwrap();
    assert!(set(&mut session, &loc(2), "0.1"));
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert_eq!(session.document().sitemaps().len(), 3, "the part that the save made is here too");
    let files: Vec<Vec<String>> = (session.document().sitemaps().iter())
        .map(|sitemap| sitemap.rows.iter().map(|row| session.document().loc(row).into_owned()).collect())
        .collect();
    assert_eq!(files[0], [loc(0), loc(1)]);
    assert_eq!(files[2], [loc(2), loc(100)]);
    let plan = session.plan_within(None, limits);
    let written = plan.outputs.iter().filter(|output| output.action != files::Action::Untouched);
    assert_eq!(
        written.map(|output| output.urls_after).collect::<Vec<_>>(),
        [2],
        "the new part; the index has its date already"
    );
    assert_eq!(session.view().changed(), 2);
}

#[test]
fn changes_after_a_save_under_another_name_go_to_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path());
    let (one, other) = (folder.path().join("a.xml"), folder.path().join("other.xml"));
    let before = fs::read(&one).unwrap();
    let mut session = open(&one);
    assert!(set(&mut session, &loc(0), "0.8"));
    let saving = {
        let plan = session.plan(Some(&other));
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    assert!(set(&mut session, &loc(1), "0.1"));
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert!(session.is_modified());
    save::now(&mut session, None, false).unwrap();
    assert_eq!(fs::read(&one).unwrap(), before);
    assert_eq!(table(&open(&other))[&loc(1)], "0.1");
}

/// Steps of the history change the content of files, not their paths.
#[test]
fn undo_after_a_save_under_another_name_keeps_the_new_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("old")).unwrap();
    let index = write_set(&path("old"));
    let rss = "<rss version=\"2.0\"><channel><item><link>https://e.com/1</link></item></channel></rss>";
    fs::write(path("feed.rss"), rss).unwrap();
    let old = |name: &str| fs::read(path(name)).unwrap();
    for (from, to, parts) in [
        (index, path("new/sitemap.xml"), &["new/a.xml", "new/b.xml"][..]),
        (path("old/a.xml"), path("b.xml"), &["b.xml"]),
        (path("old/a.xml"), path("c.xml.gz"), &["c.xml.gz"]),
        (path("feed.rss"), path("d.xml"), &["d.xml"]),
    ] {
        let before = ["old/sitemap.xml", "old/a.xml", "old/b.xml", "feed.rss"].map(old);
        let mut session = open(&from);
        let change = set(&mut session, &loc(1), "0.9");
        assert!(change);
        save::now(&mut session, Some(&to), false).unwrap();
        assert!(set(&mut session, &loc(1), "0.2"));
        while session.undo().is_some() {}
        assert_eq!(session.path(), Some(&to));
        let plan = session.plan(None);
        let written: Vec<_> = plan.outputs.iter().filter(|output| output.action != files::Action::Untouched).collect();
        assert!(written.iter().all(|output| output.action == files::Action::Rewritten), "{written:?}");
        assert!(plan.problems.is_empty() && plan.path.as_ref() == Some(&to), "{:?}", plan.problems);
        save::now(&mut session, None, false).unwrap();
        assert!(!session.is_modified());
        assert_eq!(["old/sitemap.xml", "old/a.xml", "old/b.xml", "feed.rss"].map(old), before);
        let again = open(&to);
        assert_eq!(table(&again), table(&open(&from)));
        for part in parts {
            let is_packed = fs::read(path(part)).unwrap().starts_with(&[0x1f, 0x8b]);
            let ends_packed = Path::new(part).extension().is_some_and(|end| end == "gz");
            assert_eq!(is_packed, ends_packed, "{part}");
        }
        // A redo restores the state that was saved there.
        session.redo();
        save::now(&mut session, None, false).unwrap();
        assert_eq!(table(&open(&to))[&loc(1)], "0.9");
    }
}

#[test]
fn a_row_is_never_added_to_a_removed_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = open(&path);
    session.change(&Change::Delete((3..6).collect())).unwrap();
    save::now(&mut session, None, false).unwrap();
    assert!(!folder.path().join("b.xml").exists());
    session.change(&Change::Insert { after: None, before: false, locs: vec![loc(100)] }).unwrap();
    save::now(&mut session, None, false).unwrap();
    assert_eq!(table(&open(&path)).keys().last(), Some(&loc(2)));
    assert!(table(&open(&path)).contains_key(&loc(100)));
}

/// If an insertion is undone while it is being saved, another row gets its number: the two must not be confused.
#[test]
fn a_row_added_after_an_undo_is_not_confused_with_the_one_being_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let limits = Limits { urls: 2, ..Limits::default() };
    let mut session = open(&path);
    let after = row_of(&session, &loc(0));
    session.change(&Change::Insert { after, before: false, locs: vec![loc(101)] }).unwrap();
    let saving = {
        let plan = session.plan_within(None, limits);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    session.undo();
    session.change(&Change::Insert { after: None, before: false, locs: vec![loc(102)] }).unwrap();
    let meant = table(&session);
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert_eq!(table(&session), meant);
    let saving = {
        let plan = session.plan_within(None, limits);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert_eq!(table(&open(&path)), meant);
}

/// A failed save changes nothing in the session, and the next one works.
#[test]
fn after_a_failed_save_rows_stay_modified_and_saving_again_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let part = path.with_file_name("a.xml");
    let mut session = open(&path);
    assert!(set(&mut session, &loc(1), "0.8"));
    let (meant, before) = (table(&session), fs::read(&part).unwrap());
    let mut permissions = fs::metadata(&part).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&part, permissions.clone()).unwrap();
    for _ in 0..2 {
        let saving = {
            let plan = session.plan(None);
            save::begin(&mut session, plan, false)
        }
        .unwrap();
        let error = save::finish(&mut session, saving.run(&Progress::default())).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        assert_eq!(
            (session.is_modified(), session.view().changed(), fs::read(&part).unwrap()),
            (true, 1, before.clone())
        );
        assert_eq!(table(&session), meant);
    }
    session.undo().unwrap();
    assert!(!session.is_modified());
    session.redo().unwrap();
    // Only the owner has access to this temporary file.
    #[allow(clippy::permissions_set_readonly_false)]
    permissions.set_readonly(false);
    fs::set_permissions(&part, permissions).unwrap();
    let saving = {
        let plan = session.plan(None);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert!(!session.is_modified());
    assert_eq!(table(&open(&path)), meant);
}

/// A row is deleted, saved, restored by undo, saved, and deleted again by redo. Although its file has changed since the
/// step was made, the table shows the row, and it can be reverted alone.
#[test]
fn rows_deleted_again_after_two_saves_keep_their_position() {
    for rows in [1..2, 3..6] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let mut session = open(&path);
        let meant = table(&session);
        session.change(&Change::Delete(rows.clone().collect())).unwrap();
        save::now(&mut session, None, false).unwrap();
        session.undo().unwrap();
        save::now(&mut session, None, false).unwrap();
        session.redo().unwrap();
        let places: Vec<u32> = session.document().rows().map(|row| row.0).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5], "{rows:?}");
        let shown: Vec<RowId> =
            (0..session.view().shown()).filter_map(|position| session.view().row_at(position)).collect();
        assert_eq!((shown.len(), session.view().changed() as usize), (6, rows.len()), "{rows:?}");
        let pending = session.snapshot().pending("", &Progress::default()).unwrap();
        let entries =
            pending.entries.iter().filter(|entry| matches!(entry, crate::session::store::pending::Entry::Row(_)));
        assert_eq!(entries.count(), rows.len(), "{rows:?}");
        // A reverted row is written to its own part again.
        session.change(&Change::Revert(RowSet::from_iter([rows.start]))).unwrap();
        save::now(&mut session, None, false).unwrap();
        let kept = meant.iter().filter(|(own, _)| !rows.clone().skip(1).any(|row| **own == loc(row)));
        let kept: Table = kept.map(|(loc, value)| (loc.clone(), value.clone())).collect();
        assert_eq!(table(&open(&path)), kept, "{rows:?}");
        assert!(folder.path().join("b.xml").exists(), "{rows:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "{rows:?}");
        assert!(session.plan(None).is_empty());
    }
}

#[test]
fn finishing_a_save_costs_only_the_changes_made_since() {
    let work_of = |rows: u32| {
        let folder = tempfile::tempdir().unwrap();
        let entry = |number: u32| format!("\n<url><loc>{}</loc><priority>0.5</priority></url>", loc(number));
        for (name, rows) in [("a.xml", 0..10), ("b.xml", 10..rows)] {
            let text: String = rows.map(entry).collect();
            fs::write(folder.path().join(name), format!("<urlset {SPACE}>{text}\n</urlset>\n")).unwrap();
        }
        let index = folder.path().join("sitemap.xml");
        let child = |name| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
        fs::write(&index, format!("<sitemapindex {SPACE}>{}{}</sitemapindex>", child("a.xml"), child("b.xml")))
            .unwrap();
        let mut session = open(&index);
        let delete = |session: &mut Session, number| {
            let row = row_of(session, &loc(number)).unwrap();
            session.change(&Change::Delete(RowSet::from_iter([row.0]))).unwrap();
        };
        set(&mut session, &loc(1), "0.7");
        delete(&mut session, 2);
        let plan = session.plan(None);
        let saving = begin(&mut session, plan, false).unwrap();
        set(&mut session, &loc(20), "0.8");
        delete(&mut session, 3);
        let result = saving.run(&Progress::default());
        crate::progress::work::here(|| assert!(finish(&mut session, result).is_ok()))
    };
    assert_eq!(work_of(50), work_of(5_000));
}
