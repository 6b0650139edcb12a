//! Sessions that end without a word, and what the next one makes of their journal.

use super::super::command::parse;
use super::super::load;
use super::super::run::Asker;
use super::super::save::{SaveResult, Saving};
use super::super::snapshot::vocabulary;
use super::*;
use crate::document::rows::RowId;
use crate::files::Options;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// 2026-11-20T10:20:30Z.
const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };

fn write_set(folder: &Path) -> PathBuf {
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let entry = |number: u32| {
        format!(
            "\n  <url>\n    <loc>https://e.com/{number}?a&amp;b</loc>\n    <priority><![CDATA[0.5]]></priority>\n  </url>"
        )
    };
    for (name, rows) in [("a.xml", 0..3), ("b.xml", 3..7)] {
        let text: String = rows.map(entry).collect();
        fs::write(folder.join(name), format!("<urlset {space}>{text}\n</urlset>\n")).unwrap();
    }
    let index = folder.join("sitemap.xml");
    let child = |name| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
    fs::write(&index, format!("<sitemapindex {space}>{}{}</sitemapindex>", child("a.xml"), child("b.xml"))).unwrap();
    index
}

fn open(path: &Path) -> Session {
    load::open(path, Options::default(), NOW).unwrap()
}

fn desk(folder: &Path, path: &Path) -> Desk {
    Desk::take(&folder.join("state"), path).unwrap()
}

/// A session that keeps its changes; nothing was left for it.
fn keeping(folder: &Path, path: &Path) -> Session {
    let mut session = open(path);
    let (left, words) = session.keep(desk(folder, path));
    assert!(left.is_none() && words.is_none(), "{words:?}");
    session
}

/// The bytes that a save would write, by file.
fn bytes(session: &Session) -> Vec<Vec<u8>> {
    let document = session.document();
    (0..document.sitemaps().len() as u32)
        .map(|id| {
            let mut bytes = Vec::new();
            let write: Result<(), ()> = document.write_sitemap(SitemapId(id), &mut |part| {
                bytes.extend_from_slice(part);
                Ok(())
            });
            write.unwrap();
            bytes
        })
        .collect()
}

/// The next session on the same files replays what was left.
fn replayed(folder: &Path, path: &Path) -> Session {
    let mut session = open(path);
    let (left, words) = session.keep(desk(folder, path));
    assert_eq!(words, None);
    if let Some(left) = left {
        session.replay(left).unwrap();
    }
    session
}

fn run(session: &mut Session, line: &str) {
    let command = parse(line, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{line}: {error}"));
    // That there is nothing to undo, or to do, is no matter.
    let _ = session.run(&command, Asker::Headless);
}

#[test]
fn what_was_changed_is_there_again_after_a_crash_and_gone_after_a_clean_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    for line in
        ["set priority=0.8 where priority=0.5", "delete where loc:/2", "undo", "add https://e.com/new", "s#/3#/three#"]
    {
        run(&mut session, line);
    }
    let expected = bytes(&session);
    drop(session);
    let mut again = open(&path);
    let (left, _) = again.keep(desk(folder.path(), &path));
    let left = left.unwrap();
    assert_eq!((left.labels.len(), left.is_cut), (3, false), "{:?}", left.labels);
    assert_eq!(again.replay(left).unwrap(), 5);
    assert_eq!(bytes(&again), expected);
    assert!(again.is_modified());
    // A crash after the replay loses nothing either.
    drop(again);
    let again = replayed(folder.path(), &path);
    assert_eq!(bytes(&again), expected);
    let mut again = again;
    again.forget_unsaved();
    drop(again);
    assert!(!replayed(folder.path(), &path).is_modified());
}

#[test]
fn a_journal_of_other_files_is_put_aside_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    run(&mut session, "set priority=0.8");
    drop(session);
    let text = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    fs::write(folder.path().join("a.xml"), text.replace("/1?", "/one?")).unwrap();
    let mut session = open(&path);
    let (left, words) = session.keep(desk(folder.path(), &path));
    let words = words.unwrap();
    assert!(left.is_none() && words.contains("have changed since") && words.contains("aside-1"), "{words}");
    assert!(!session.is_modified());
}

#[test]
fn a_line_that_does_not_fit_stops_the_replay_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let lines = [
        r#"{"Did":{"label":"x","edit":{"Set":{"rows":[[0,4294967295]],"field":"priority","value":"1"}}}}"#,
        r#"{"Did":{"label":"x","edit":{"Set":{"rows":[[3,1]],"field":"priority","value":"1"}}}}"#,
        r#"{"Did":{"label":"x","edit":{"Set":{"rows":[[0,1]],"field":"colour","value":"1"}}}}"#,
        r#"{"Did":{"label":"x","edit":{"Raw":{"row":99,"text":"x"}}}}"#,
        r#"{"Did":{"label":"x","edit":{"Insert":{"sitemap":7,"after":null,"entries":[]}}}}"#,
        r#"{"Did":{"label":"x","edit":{"Reorder":[[0,[[0,0],[0,1]]]]}}}"#,
        r#""Undid""#,
    ];
    for line in lines {
        let mut session = keeping(folder.path(), &path);
        run(&mut session, "set priority=0.8 where loc:/1");
        if line != r#""Undid""# {
            session.keeping.as_ref().unwrap().journal.note(Box::new(|| r#""Undid""#.to_owned()));
        }
        let one = line.to_owned();
        session.keeping.as_ref().unwrap().journal.note(Box::new(move || one));
        session
            .keeping
            .as_ref()
            .unwrap()
            .journal
            .note(Box::new(|| r#"{"Did":{"label":"y","edit":{"Delete":[[0,0]]}}}"#.to_owned()));
        drop(session);
        let mut session = open(&path);
        let left = session.keep(desk(folder.path(), &path)).0.unwrap();
        let outcome = session.replay(left);
        assert!(outcome.is_err() || line == r#""Undid""#, "{line}");
        assert!(session.document().live() >= 6, "{line}");
        session.forget_unsaved();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Whatever is done, saved and undone: a crash at any moment loses nothing.
    #[test]
    fn any_session_is_replayed_to_the_same_bytes(
        lines in proptest::collection::vec(prop_oneof![
            3 => (0u8..10, 0u8..9).prop_map(|(value, row)| format!("set priority=0.{value} where loc:/{row}")),
            1 => Just("set priority=0.5".to_owned()),
            2 => (0u8..9).prop_map(|row| format!("delete where loc:/{row}?")),
            2 => (0u8..9).prop_map(|row| format!("add https://e.com/{row}?new")),
            1 => (0u8..9).prop_map(|row| format!("duplicate where loc:/{row}")),
            1 => (0u8..9).prop_map(|row| format!("s#/{row}#/x{row}#")),
            2 => Just("sort -loc".to_owned()),
            2 => Just("apply-order".to_owned()),
            1 => Just("nosort".to_owned()),
            4 => (1u8..4).prop_map(|steps| format!("undo {steps}")),
            2 => (1u8..3).prop_map(|steps| format!("redo {steps}")),
            1 => Just("clear priority where loc:/4".to_owned()),
            2 => Just("save".to_owned()),
            2 => Just("begin".to_owned()),
            2 => Just("write".to_owned()),
            1 => Just("end".to_owned()),
            2 => Just("crash".to_owned()),
        ], 1..24),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let mut session = keeping(folder.path(), &path);
        // A save that runs beside the editing, and one whose files are written although nobody has heard of it.
        let (mut saving, mut written): (Option<Saving>, Option<SaveResult>) = (None, None);
        for line in &lines {
            match line.as_str() {
                "save" | "begin" if saving.is_some() || written.is_some() => {}
                "begin" => {
                    let plan = session.plan(None);
                    saving = session.saving(plan, false).ok();
                }
                "write" => written = saving.take().map(|saving| saving.run(&Progress::default())).or(written),
                "end" => {
                    if let Some(result) = written.take() {
                        session.saved(result).map_err(|error| TestCaseError::fail(error.to_string()))?;
                    }
                }
                "save" => drop(session.save_now(None, false).map_err(|error| TestCaseError::fail(error.to_string()))?),
                "crash" => {
                    let expected = rows(&session);
                    (saving, written) = (None, None);
                    drop(session);
                    session = replayed(folder.path(), &path);
                    prop_assert_eq!(rows(&session), expected);
                }
                line => run(&mut session, line),
            }
        }
        let saves = lines.iter().any(|line| line == "save" || line == "write");
        drop((saving, written));
        let (expected, written) = (rows(&session), bytes(&session));
        drop(session);
        let session = replayed(folder.path(), &path);
        prop_assert_eq!(rows(&session), expected);
        if !saves {
            prop_assert_eq!(texts(&bytes(&session)), texts(&written));
        }
    }
}

/// The values of all rows, in order, for each file that has some: a part without rows leaves its set when it is saved.
fn rows(session: &Session) -> Vec<Vec<[Option<String>; 4]>> {
    let document = session.document();
    let values = |row: RowId| Field::ALL.map(|field| document.value(row, field).map(std::borrow::Cow::into_owned));
    let files = document
        .sitemaps()
        .iter()
        .map(|sitemap| sitemap.rows.iter().filter(|row| document.is_live(*row)).map(values).collect::<Vec<_>>());
    files.filter(|rows| !rows.is_empty()).collect()
}

fn texts(files: &[Vec<u8>]) -> Vec<String> {
    files.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

#[test]
fn a_save_that_nobody_lived_to_hear_of_leaves_nothing_to_replay_but_what_came_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    for lines in [&[][..], &["set priority=0.1 where loc:/4", "delete where loc:/1"]] {
        let mut session = keeping(folder.path(), &path);
        run(&mut session, "add https://e.com/new");
        let saving = session.saving(session.plan(None), false).unwrap();
        for line in lines {
            run(&mut session, line);
        }
        drop(saving.run(&Progress::default()));
        let expected = rows(&session);
        drop(session);
        let mut again = open(&path);
        let (left, words) = again.keep(desk(folder.path(), &path));
        assert_eq!((left.is_some(), words), (!lines.is_empty(), None));
        if let Some(left) = left {
            assert_eq!(left.labels, ["what was changed while it was being saved"]);
            again.replay(left).unwrap();
        }
        assert_eq!(rows(&again), expected);
        again.forget_unsaved();
    }
}

/// Lists, tables, and several files of several forms without an index.
#[test]
fn changes_of_every_form_are_replayed_before_and_after_a_save() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let xml =
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://e.com/4</loc></url></urlset>";
    let files = [
        ("list.txt", "https://e.com/1\r\nhttps://e.com/2\r\nhttps://e.com/3"),
        (
            "table.csv",
            "loc,lastmod,note\n\"https://e.com/1\",2026-01-01,\"a, b\"\nhttps://e.com/2,,x\nhttps://e.com/3,2026-01-02,\n",
        ),
        ("set.xml", xml),
    ];
    for (name, text) in files {
        fs::write(path(name), text).unwrap();
    }
    for names in [&["list.txt"][..], &["table.csv"], &["list.txt", "set.xml", "table.csv"]] {
        let paths: Vec<PathBuf> = names.iter().map(|name| path(name)).collect();
        let open = || load::open_all(Session::new(NOW, None), &paths, Options::default()).unwrap();
        let desk = || Desk::take_all(&path("state"), &paths).unwrap();
        let mut session = open();
        assert!(session.keep(desk()).0.is_none());
        for lines in [
            &["add https://e.com/new", "s#/2#/two#", "delete where loc:/1"][..],
            &["write"],
            &[
                "add https://e.com/more",
                "s#/3#/three#",
                "undo",
                "redo",
                "delete where loc:/new",
                "sort -loc",
                "apply-order",
            ],
        ] {
            for line in lines {
                match *line {
                    "write" => drop(session.save_now(None, false).unwrap()),
                    line => run(&mut session, line),
                }
            }
            let expected = rows(&session);
            drop(session);
            session = open();
            let (left, words) = session.keep(desk());
            assert_eq!((left.is_some(), words), (lines != ["write"], None), "{names:?} {lines:?}");
            if let Some(left) = left {
                session.replay(left).unwrap();
            }
            assert_eq!(rows(&session), expected, "{names:?} {lines:?}");
        }
        session.forget_unsaved();
    }
}
