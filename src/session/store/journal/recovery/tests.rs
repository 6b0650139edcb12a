//! Tests of journals of sets that a save moved: each is found by any path of the set.

use super::*;
use crate::document::rows::RowSet;
use crate::files::Options;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::protocol::limits::Limits;
use crate::session::command::Assignment;
use crate::session::edit::Change;
use crate::session::store::journal::fixture;
use crate::session::store::journal::recovery;
use crate::session::store::save;
use crate::session::store::save::Saving;
use std::fs;
use std::path::PathBuf;

/// 2026-11-20T10:20:30Z.
const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };
const SPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
/// Three rows a file and two files an index.
const LIMITS: Limits = Limits { urls: 3, parts: 2, bytes: 52_428_800, index_bytes: 52_428_800 };

fn loc(number: u32) -> String {
    format!("https://e.com/{number}")
}

/// An index of two files with three rows each.
fn write_set(folder: &Path) -> PathBuf {
    let entry = |number: u32| format!("\n<url><loc>{}</loc><priority>0.5</priority></url>", loc(number));
    for (name, rows) in [("a.xml", 0..3), ("b.xml", 3..6)] {
        let text: String = rows.map(entry).collect();
        fs::write(folder.join(name), format!("<urlset {SPACE}>{text}\n</urlset>\n")).unwrap();
    }
    let child = |name| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
    let index = folder.join("sitemap.xml");
    fs::write(&index, format!("<sitemapindex {SPACE}>{}{}</sitemapindex>", child("a.xml"), child("b.xml"))).unwrap();
    index
}

/// A save of everything, within limits that divide the set further.
fn begin_save(session: &mut Session) -> Saving {
    let plan = session.plan_within(None, LIMITS);
    save::begin(session, plan, false).unwrap()
}

fn options(folder: &Path) -> Options {
    Options { state: Some(folder.join("state")), ..Options::default() }
}

/// Opens paths as the program does, with the state slot of the set.
fn open(folder: &Path, paths: &[PathBuf]) -> (Session, StateSlot) {
    let mut session = Session::new(NOW, None);
    let loader = session.loader(options(folder));
    let loaded = loader.load_all(paths, &Progress::default(), &mut |part| session.add_file(part));
    let mut loaded = loaded.unwrap();
    let state_slot = loaded.state_slot.take().unwrap().unwrap();
    session.finish(loaded);
    (session, state_slot)
}

/// Priorities by URL.
fn table(session: &Session) -> Vec<(String, String)> {
    let document = session.document();
    let value = |row, field| document.value(row, field).unwrap_or_default().into_owned();
    let rows = document.live_rows().map(|row| (value(row, Field::Loc), value(row, Field::Priority)));
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

fn set(session: &mut Session, url: &str, priority: &str) {
    let row = session.document().live_rows().find(|row| session.document().loc(*row) == url).unwrap();
    let assignments = vec![Assignment { field: Field::Priority, typed: priority.to_owned() }];
    session.change(&Change::Set { rows: RowSet::from_iter([row.0]), assignments }).unwrap();
}

fn insert(session: &mut Session, number: u32) {
    let after = session.document().live_rows().last();
    session.change(&Change::Insert { after, before: false, locs: vec![loc(number)] }).unwrap();
}

/// Whether the process died before or after a save wrote its files.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Died {
    Before,
    After,
}

/// Makes edits while a save runs, then ends the session without a clean exit. Returns the table at that moment.
fn die_while_saving(mut session: Session, died: Died) -> Vec<(String, String)> {
    let saving = begin_save(&mut session);
    set(&mut session, &loc(1), "0.1");
    if died == Died::After {
        drop(saving.run(&Progress::default()));
    }
    set(&mut session, &loc(4), "0.4");
    fixture::flush_journal(&session);
    table(&session)
}

/// The next session: the table after the replay, or the paths that the user must open instead.
fn next(folder: &Path, paths: &[PathBuf]) -> Result<Vec<(String, String)>, String> {
    let (mut session, state_slot) = open(folder, paths);
    if let Some((count, paths)) = recovery::changes_elsewhere(&session, &state_slot) {
        assert!(count > 0);
        assert!(fixture::open(&mut session, state_slot).1.unwrap().contains(&paths) && session.read_only().is_some());
        return Err(paths);
    }
    let waiting = recovery::waiting(&session, &state_slot);
    let (left, words) = fixture::open(&mut session, state_slot);
    assert_eq!(words, None);
    let left = left.unwrap_or_else(|| panic!("{paths:?}: nothing was left"));
    assert!(waiting > 0 && !session.is_modified());
    fixture::replay(&mut session, left).unwrap();
    Ok(table(&session))
}

fn journals(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("state/journal")).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.contains(".journal"));
    names.sort();
    names
}

#[test]
fn edits_made_while_a_save_adds_an_index_are_recovered_by_every_path() {
    for died in [Died::Before, Died::After] {
        let ways: [fn(&Path) -> Vec<PathBuf>; 4] = [
            |folder| vec![folder.to_path_buf()],
            |folder| vec![folder.join("sitemap.xml"), folder.join("sitemap-index-2.xml")],
            |folder| vec![folder.join("sitemap.xml")],
            |folder| vec![folder.join("sitemap-index-2.xml")],
        ];
        for (number, way) in ways.into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let folder = &folder.path().canonicalize().unwrap();
            let index = write_set(folder);
            let (mut session, state_slot) = open(folder, std::slice::from_ref(&index));
            assert!(fixture::open(&mut session, state_slot).0.is_none());
            insert(&mut session, 100);
            let meant = die_while_saving(session, died);
            let second = folder.join("sitemap-index-2.xml");
            assert_eq!(second.exists(), died == Died::After);
            let both = format!("{} {}", index.display(), second.display());
            let case = format!("{died:?}, way {number}");
            match (died, number) {
                (Died::Before, 3) => {}
                (Died::Before, _) | (Died::After, 0 | 1) => assert_eq!(next(folder, &way(folder)), Ok(meant), "{case}"),
                _ => {
                    // Only one of two indexes is open: nothing is applied, set aside or lost, and both are named.
                    assert_eq!(next(folder, &way(folder)), Err(both), "{case}");
                    assert_eq!(journals(folder).len(), 1, "{case}");
                    assert_eq!(next(folder, &[index, second]), Ok(meant), "{case}");
                }
            }
            assert_eq!(journals(folder).len(), 1, "{case}");
        }
    }
}

/// The set after a save that has added a second index, opened by its folder, with a journal.
fn opened_as_two(folder: &PathBuf, index: &PathBuf) -> Session {
    let (mut session, _) = open(folder, std::slice::from_ref(index));
    insert(&mut session, 100);
    let saving = begin_save(&mut session);
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    drop(session);
    let (mut session, state_slot) = open(folder, std::slice::from_ref(folder));
    assert!(fixture::open(&mut session, state_slot).0.is_none());
    session
}

#[test]
fn edits_made_while_a_save_removes_an_index_are_recovered_by_every_path() {
    for died in [Died::Before, Died::After] {
        for number in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            let folder = &folder.path().canonicalize().unwrap();
            let index = write_set(folder);
            let second = folder.join("sitemap-index-2.xml");
            let mut session = opened_as_two(folder, &index);
            let row = session.document().live_rows().find(|row| session.document().loc(*row) == loc(100)).unwrap();
            session.change(&Change::Delete(RowSet::from_iter([row.0]))).unwrap();
            let meant = die_while_saving(session, died);
            assert_eq!(second.exists(), died == Died::Before);
            let both = [index.clone(), second.clone()];
            let way = match number {
                0 => vec![folder.clone()],
                1 => both.to_vec(),
                _ => vec![index],
            };
            let case = format!("{died:?}, way {number}");
            if (died, number) == (Died::Before, 2) {
                let paths = both.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
                assert_eq!(next(folder, &way), Err(paths), "{case}");
                assert_eq!(next(folder, &both), Ok(meant), "{case}");
            } else {
                assert_eq!(next(folder, &way), Ok(meant), "{case}");
            }
            assert_eq!(journals(folder).len(), 1, "{case}");
        }
    }
}

/// After a finished save, nothing is left to recover, by any path.
#[test]
fn a_finished_save_that_added_an_index_leaves_no_journal() {
    for both in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let folder = &folder.path().canonicalize().unwrap();
        let index = write_set(folder);
        let (mut session, state_slot) = open(folder, std::slice::from_ref(&index));
        assert!(fixture::open(&mut session, state_slot).0.is_none());
        insert(&mut session, 100);
        let saving = begin_save(&mut session);
        drop(saving.run(&Progress::default()));
        drop(session);
        let paths = [index, folder.join("sitemap-index-2.xml")];
        let (mut again, state_slot) = open(folder, if both { &paths } else { &paths[..1] });
        assert_eq!(
            (recovery::waiting(&again, &state_slot), recovery::changes_elsewhere(&again, &state_slot)),
            (0, None)
        );
        let (left, words) = fixture::open(&mut again, state_slot);
        assert!(left.is_none() && words.is_none(), "{words:?}");
        fixture::forget_unsaved(&mut again);
        assert_eq!(journals(folder), [""; 0]);
    }
}

/// The journal belongs to two indexes and a file has changed: it is reported and kept.
#[test]
fn a_journal_of_two_indexes_whose_files_changed_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().canonicalize().unwrap();
    let index = write_set(folder);
    let mut session = opened_as_two(folder, &index);
    set(&mut session, &loc(1), "0.1");
    drop(session);
    fs::write(folder.join("a.xml"), fs::read_to_string(folder.join("a.xml")).unwrap().replace("0.5", "0.6")).unwrap();
    let (mut session, state_slot) = open(folder, &[index]);
    assert_eq!(recovery::changes_elsewhere(&session, &state_slot), None);
    let (left, words) = fixture::open(&mut session, state_slot);
    let words = words.unwrap();
    assert!(left.is_none() && words.contains("have changed since") && words.contains("sitemap-index-2.xml"), "{words}");
    assert!(journals(folder).iter().any(|name| name.ends_with("aside-1")));
}

/// A list that was split into two is opened by both paths, and its journal is found by either.
#[test]
fn edits_made_after_a_list_was_split_are_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &folder.path().canonicalize().unwrap();
    let (list, second) = (folder.join("list.txt"), folder.join("list-2.txt"));
    fs::write(&list, (0..3).map(|number| loc(number) + "\n").collect::<String>()).unwrap();
    let (mut session, state_slot) = open(folder, std::slice::from_ref(&list));
    assert!(fixture::open(&mut session, state_slot).0.is_none());
    insert(&mut session, 100);
    let saving = begin_save(&mut session);
    save::finish(&mut session, saving.run(&Progress::default())).unwrap();
    assert!(second.exists());
    insert(&mut session, 101);
    let meant = table(&session);
    drop(session);
    let both = format!("{} {}", list.display(), second.display());
    assert_eq!(next(folder, std::slice::from_ref(&list)), Err(both));
    assert_eq!(next(folder, &[list, second]), Ok(meant));
}
