//! Tests of the unsaved changes against a plain comparison of two tables.

use super::*;
use crate::document::spans::{Pieces, same_outside, spans};
use crate::files::Options;
use crate::protocol::lastmod::Now;
use crate::session::command::parse;
use crate::session::edit::DefaultScope;
use crate::session::state::vocabulary;
use crate::session::store::load;
use crate::session::store::pending;
use crate::session::store::save;
use crate::session::{Report, Session};
use proptest::prelude::*;
use std::fs;

/// 2026-11-20T10:20:30Z.
const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };

fn open(folder: &std::path::Path) -> Session {
    let entry = |number: u32| {
        format!("\n  <url>\n    <loc>https://e.com/{number}</loc>\n    <priority>0.50</priority>\n  </url>")
    };
    let text: String = (0..7).map(entry).collect();
    let path = folder.join("sitemap.xml");
    fs::write(&path, format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{text}\n</urlset>\n"))
        .unwrap();
    load::open(&path, Options::default(), NOW).unwrap()
}

fn run(session: &mut Session, line: &str) {
    let command = parse(line, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{line}: {error}"));
    let _ = session.run(&command, DefaultScope::All);
}

fn pending(session: &Session, holds: &str) -> Pending {
    session.view().pending(holds, &Progress::default()).unwrap()
}

fn revert(session: &mut Session, entry: Entry) -> Report {
    session.change(&entry.revert().unwrap()).unwrap()
}

/// The entries in the order of the file.
fn rows(document: &Document) -> Vec<String> {
    let text = |row| String::from_utf8_lossy(&document.entry_text(row)).into_owned();
    document.live_rows().map(text).collect()
}

#[test]
fn each_change_has_before_and_after_values_and_is_reverted_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(folder.path());
    for line in [
        "set priority=0.9 lastmod=2026-01-01 where loc:/1",
        "delete where loc:/2",
        "add https://e.com/new",
        "s#/3#/three#",
        "ext add image loc=https://e.com/p.png where loc:/4",
    ] {
        run(&mut session, line);
    }
    let found = pending(&session, "");
    assert_eq!(found.counts, Counts { added: 1, changed: 3, deleted: 1, moved: 0, files: 0 });
    let differences: Vec<String> = found
        .entries
        .iter()
        .flat_map(|entry| match entry {
            Entry::Row(row) => pending::differences(session.view(), *row),
            _ => Vec::new(),
        })
        .map(|part| format!("{} {:?} {:?}", part.name, part.before.unwrap_or_default(), part.after.unwrap_or_default()))
        .collect();
    assert_eq!(
        differences[..5],
        [
            "lastmod \"\" \"2026-01-01\"",
            "priority \"0.50\" \"0.9\"",
            "loc \"https://e.com/2\" \"\"",
            "priority \"0.50\" \"\"",
            "loc \"https://e.com/3\" \"https://e.com/three\"",
        ]
    );
    assert!(
        differences[5].starts_with("entry") && differences[5].contains("<image:loc>https://e.com/p.png"),
        "{}",
        differences[5]
    );
    let holding = |holds: &str| pending(&session, holds).entries.len();
    assert_eq!(
        [holding("THREE"), holding("p.png"), holding("/3"), holding("0.9"), holding("nowhere")],
        [1, 1, 1, 1, 0]
    );
    let original = rows(&session.view().saved.clone());
    for (left, entry) in (0..found.entries.len()).rev().zip(found.entries) {
        revert(&mut session, entry);
        assert_eq!(pending(&session, "").entries.len(), left);
    }
    assert!(!session.is_modified());
    assert_eq!(rows(session.document()), original);
    assert_eq!(session.history().len(), 5 + 5, "each is one step");
}

#[test]
fn reverting_a_moved_row_restores_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open(folder.path());
    run(&mut session, "set priority=0.9 where loc:/5");
    run(&mut session, "sort -priority");
    run(&mut session, "apply-order");
    run(&mut session, "add https://e.com/new");
    let found = pending(&session, "");
    assert_eq!((found.counts.moved, found.moved.iter().collect::<Vec<_>>()), (0, vec![5]), "it is changed as well");
    session.change(&Change::Revert(RowSet::from_iter([5]))).unwrap();
    assert_eq!(pending(&session, "").counts, Counts { added: 1, ..Counts::default() });
    let locs: Vec<String> =
        session.document().live_rows().map(|row| session.document().loc(row)[14..].to_owned()).collect();
    assert_eq!(locs, ["0", "1", "2", "3", "4", "5", "6", "new"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// In any order of rows, each reverted row reduces the number of moved rows.
    #[test]
    fn each_reverted_row_reduces_the_number_of_moved_rows(
        values in Just((0..7).collect::<Vec<u8>>()).prop_shuffle(),
        which in any::<prop::sample::Index>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(folder.path());
        for (row, value) in values.iter().enumerate() {
            run(&mut session, &format!("set priority=0.{value} where loc:/{row}"));
        }
        run(&mut session, "sort priority");
        run(&mut session, "apply-order");
        let moved: Vec<u32> = pending(&session, "").moved.iter().collect();
        if moved.is_empty() {
            return Ok(());
        }
        session.change(&Change::Revert(RowSet::from_iter([*which.get(&moved)]))).unwrap();
        prop_assert!(pending(&session, "").moved.len() < moved.len() as u64);
    }

    /// The changes are those that a comparison of both tables finds; the spans cover every difference; after they are
    /// reverted one by one, in any order, none is left.
    #[test]
    fn reverting_changes_one_by_one_leaves_none(
        lines in proptest::collection::vec(prop_oneof![
            3 => (0u8..10, 0u8..7).prop_map(|(value, row)| format!("set priority=0.{value} where loc:/{row}")),
            2 => (0u8..7).prop_map(|row| format!("delete where loc:/{row}")),
            2 => (0u8..9).prop_map(|row| format!("add https://e.com/new{row}")),
            1 => (0u8..7).prop_map(|row| format!("duplicate where loc:/{row}")),
            1 => (0u8..7).prop_map(|row| format!("s#/{row}#/x{row}#")),
            1 => (0u8..7).prop_map(|row| format!("ext add image loc=https://e.com/p where loc:/{row}")),
            2 => Just("sort -priority,-loc".to_owned()),
            2 => Just("apply-order".to_owned()),
            2 => Just("undo".to_owned()),
            1 => Just("save".to_owned()),
        ], 1..16),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 32),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut session = open(folder.path());
        for line in &lines {
            if line == "save" {
                save::now(&mut session, None, false).map_err(|error| TestCaseError::fail(error.to_string()))?;
            } else {
                run(&mut session, line);
            }
        }
        let found = pending(&session, "");
        let different = |row: &RowId| session.view().row_state(*row) != RowState::Clean;
        let naive: Vec<RowId> = session.document().rows().filter(different).collect();
        let listed: Vec<RowId> = found.entries.iter().filter_map(|entry| match entry {
            Entry::Row(row) => Some(*row).filter(different),
            _ => None,
        }).collect();
        prop_assert_eq!(listed, naive);
        prop_assert_eq!(found.counts.sum() as usize, found.entries.len());
        let (saved, document) = (session.view().saved.clone(), session.document().clone());
        let (was, is) = (Pieces::of(&saved, SitemapId(0)), Pieces::of(&document, SitemapId(0)));
        let differing = spans(&was, &is);
        prop_assert!(same_outside(&was.bytes(), &is.bytes(), &differing).is_some());
        prop_assert_eq!(differing.is_empty(), was.bytes() == is.bytes());
        for at in order {
            let found = pending(&session, "").entries.into_iter().filter(|entry| entry.revert().is_some());
            let found: Vec<Entry> = found.collect();
            if found.is_empty() {
                break;
            }
            revert(&mut session, *at.get(&found));
        }
        let left = pending(&session, "");
        if left.entries.iter().any(|entry| entry.revert().is_none()) {
            return Ok(());
        }
        prop_assert!(left.entries.is_empty(), "{:?}", left);
        prop_assert_eq!(rows(session.document()), rows(&saved));
        prop_assert!(!session.is_modified());
    }
}
