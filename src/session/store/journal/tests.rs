//! Tests of the journal of sessions that end in a crash, and of its recovery by the next session.

use super::*;
use crate::document::rows::RowId;
use crate::files::Options;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::command::parse;
use crate::session::edit::DefaultScope;
use crate::session::state::vocabulary;
use crate::session::store::journal;
use crate::session::store::journal::fixture;
use crate::session::store::journal::salvage::Missing;
use crate::session::store::load;
use crate::session::store::save;
use crate::session::store::save::{SaveResult, Saving};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// 2026-11-20T10:20:30Z.
pub(super) const NOW: Now = Now { seconds: 1_795_170_030, offset: 0 };

pub(super) fn write_set(folder: &Path) -> PathBuf {
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

pub(super) fn open(path: &Path) -> Session {
    load::open(path, Options::default(), NOW).unwrap()
}

pub(super) fn state_slot(folder: &Path, path: &Path) -> StateSlot {
    StateSlot::take(&folder.join("state"), path).unwrap()
}

/// A session with a journal; no changes of an earlier session exist.
pub(super) fn keeping(folder: &Path, path: &Path) -> Session {
    let mut session = open(path);
    let (left, words) = fixture::open(&mut session, state_slot(folder, path));
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

/// The next session on the same files, with the journal replayed.
fn replayed(folder: &Path, path: &Path) -> Session {
    let mut session = open(path);
    let (left, words) = fixture::open(&mut session, state_slot(folder, path));
    assert_eq!(words, None);
    if let Some(left) = left {
        fixture::replay(&mut session, left).unwrap();
    }
    session
}

pub(super) fn run(session: &mut Session, line: &str) {
    let command = parse(line, &vocabulary(NOW)).unwrap_or_else(|error| panic!("{line}: {error}"));
    // A command without effect is no failure here.
    let _ = session.run(&command, DefaultScope::All);
}

#[test]
fn changes_are_replayed_after_a_crash_but_not_after_a_clean_exit() {
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
    let (left, _) = fixture::open(&mut again, state_slot(folder.path(), &path));
    let left = left.unwrap();
    assert_eq!((left.labels.len(), left.is_cut), (3, false), "{:?}", left.labels);
    assert_eq!(fixture::replay(&mut again, left).unwrap(), 5);
    assert_eq!(bytes(&again), expected);
    assert!(again.is_modified());
    // A crash after the replay loses nothing either.
    drop(again);
    let again = replayed(folder.path(), &path);
    assert_eq!(bytes(&again), expected);
    let mut again = again;
    fixture::forget_unsaved(&mut again);
    drop(again);
    assert!(!replayed(folder.path(), &path).is_modified());
}

#[test]
fn a_journal_of_changed_files_is_set_aside_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    run(&mut session, "set priority=0.8");
    drop(session);
    let text = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    fs::write(folder.path().join("a.xml"), text.replace("/1?", "/one?")).unwrap();
    let mut session = open(&path);
    let (left, words) = fixture::open(&mut session, state_slot(folder.path(), &path));
    let words = words.unwrap();
    assert!(left.is_none() && words.contains("have changed since") && words.contains("aside-1"), "{words}");
    assert!(!session.is_modified());
}

#[test]
fn an_invalid_line_stops_the_replay_without_damage() {
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
        let note = |line: &str| {
            let line = line.to_owned();
            let note = Note { line: Box::new(move || line), is_independent: false, all: Arc::new(Vec::new) };
            session.keeping.as_ref().unwrap().journal.note(note);
        };
        if line != r#""Undid""# {
            note(r#""Undid""#);
        }
        note(line);
        note(r#"{"Did":{"label":"y","edit":{"Delete":[[0,0]]}}}"#);
        drop(session);
        let mut session = open(&path);
        let left = fixture::open(&mut session, state_slot(folder.path(), &path)).0.unwrap();
        let outcome = fixture::replay(&mut session, left);
        assert!(outcome.is_err() || line == r#""Undid""#, "{line}");
        assert!(session.document().live() >= 6, "{line}");
        fixture::forget_unsaved(&mut session);
    }
}

/// Any command on the set of [`write_set`], also one without effect.
pub(super) fn edits() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0u8..10, 0u8..9).prop_map(|(value, row)| format!("set priority=0.{value} where loc:/{row}")),
        1 => Just("set priority=0.5".to_owned()),
        1 => Just("clear priority where loc:/4".to_owned()),
        2 => (0u8..9).prop_map(|row| format!("delete where loc:/{row}?")),
        2 => (0u8..9).prop_map(|row| format!("add https://e.com/{row}?new")),
        1 => (0u8..9).prop_map(|row| format!("duplicate where loc:/{row}")),
        1 => (0u8..9).prop_map(|row| format!("s#/{row}#/x{row}#")),
        2 => Just("sort -loc".to_owned()),
        1 => Just("nosort".to_owned()),
        2 => Just("apply-order".to_owned()),
        4 => (1u8..4).prop_map(|steps| format!("undo {steps}")),
        2 => (1u8..3).prop_map(|steps| format!("redo {steps}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// After any edits, saves and undos, a crash at any moment loses nothing.
    #[test]
    fn any_session_is_replayed_to_the_same_bytes(
        lines in proptest::collection::vec(prop_oneof![
            19 => edits(),
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
        // A save in the background, and one that has written its files but is not finished in the session.
        let (mut saving, mut written): (Option<Saving>, Option<SaveResult>) = (None, None);
        for line in &lines {
            match line.as_str() {
                "save" | "begin" if saving.is_some() || written.is_some() => {}
                "begin" => {
                    let plan = session.plan(None);
                    saving = save::begin(&mut session, plan, false).ok();
                }
                "write" => written = saving.take().map(|saving| saving.run(&Progress::default())).or(written),
                "end" => {
                    if let Some(result) = written.take() {
                        save::finish(&mut session, result).map_err(|error| TestCaseError::fail(error.to_string()))?;
                    }
                }
                "save" => drop(save::now(&mut session, None, false).map_err(|error| TestCaseError::fail(error.to_string()))?),
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

/// The values of all rows, in order, for each file with rows: a save removes parts without rows.
pub(super) fn rows(session: &Session) -> Vec<Vec<[Option<String>; 4]>> {
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
fn a_crash_after_a_save_wrote_its_files_leaves_only_later_changes_to_replay() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    for lines in [&[][..], &["set priority=0.1 where loc:/4", "delete where loc:/1"]] {
        let mut session = keeping(folder.path(), &path);
        run(&mut session, "add https://e.com/new");
        let saving = {
            let plan = session.plan(None);
            save::begin(&mut session, plan, false)
        }
        .unwrap();
        for line in lines {
            run(&mut session, line);
        }
        drop(saving.run(&Progress::default()));
        let expected = rows(&session);
        drop(session);
        let mut again = open(&path);
        let (left, words) = fixture::open(&mut again, state_slot(folder.path(), &path));
        assert_eq!((left.is_some(), words), (!lines.is_empty(), None));
        if let Some(left) = left {
            assert_eq!(left.labels, ["what was changed while it was being saved"]);
            fixture::replay(&mut again, left).unwrap();
        }
        assert_eq!(rows(&again), expected);
        fixture::forget_unsaved(&mut again);
    }
}

/// Lists, tables, and several files of different formats without an index.
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
        let state_slot = || StateSlot::take_all(&path("state"), &paths).unwrap();
        let mut session = open();
        assert!(fixture::open(&mut session, state_slot()).0.is_none());
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
                    "write" => drop(save::now(&mut session, None, false).unwrap()),
                    line => run(&mut session, line),
                }
            }
            let expected = rows(&session);
            drop(session);
            session = open();
            let (left, words) = fixture::open(&mut session, state_slot());
            assert_eq!((left.is_some(), words), (lines != ["write"], None), "{names:?} {lines:?}");
            if let Some(left) = left {
                fixture::replay(&mut session, left).unwrap();
            }
            assert_eq!(rows(&session), expected, "{names:?} {lines:?}");
        }
        fixture::forget_unsaved(&mut session);
    }
}

/// The only journal in the state folder, and its lines with the header first.
fn journal_text(folder: &Path) -> (PathBuf, Vec<String>) {
    let entries = fs::read_dir(folder.join("state/journal")).unwrap().flatten().map(|entry| entry.path());
    let journals: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "journal")).collect();
    let [path] = &journals[..] else { panic!("{journals:?}") };
    let text = fs::read_to_string(path).unwrap();
    (path.clone(), text.split_inclusive('\n').map(ToOwned::to_owned).collect())
}

fn damage(line: &str) -> String {
    line.replacen("abel", "abXl", 1).replacen("Undid", "Undxd", 1)
}

/// Replays a journal whose line with this number is damaged; returns the session and the missing changes.
fn replayed_without(number: usize, commands: &[&str]) -> (Session, Missing) {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    for line in commands {
        run(&mut session, line);
    }
    drop(session);
    let (journal, mut lines) = journal_text(folder.path());
    lines[number] = damage(&lines[number]);
    let damaged = lines.concat();
    fs::write(&journal, &damaged).unwrap();
    let mut session = open(&path);
    let (left, words) = fixture::open(&mut session, state_slot(folder.path(), &path));
    assert_eq!(words, None);
    let left = left.unwrap();
    let missing = left.missing().clone();
    fixture::replay(&mut session, left).unwrap();
    fixture::flush_journal(&session);
    // The damaged journal is still there to be read, and the new one is sound.
    let found = crate::files::journal::stored::list(&folder.path().join("state"), &[path]).unwrap();
    assert_eq!(found.iter().map(|found| found.is_aside).collect::<Vec<_>>(), [false, true]);
    assert_eq!(fs::read_to_string(&found[1].path).unwrap(), damaged);
    let text = changes_in(&found[1].stored.as_ref().unwrap().entries).join("\n");
    assert!(text.contains("1 change is gone") && text.contains("damaged: "), "{text}");
    (session, missing)
}

fn values(session: &Session, field: Field) -> Vec<String> {
    let document = session.document();
    document.live_rows().map(|row| document.value(row, field).unwrap_or_default().into_owned()).collect()
}

#[test]
fn lines_after_a_damaged_one_are_replayed_if_they_do_not_depend_on_it() {
    let commands = ["set priority=0.8 where loc:/1", "delete where loc:/2", "set priority=0.9 where loc:/4"];
    let (session, missing) = replayed_without(2, &commands);
    assert_eq!((missing.lost.len(), missing.lost[0].count, missing.unsure.len()), (1, 1, 0));
    assert!(missing.lost[0].text.contains("Delete"), "what can be read is shown: {missing:?}");
    assert_eq!(values(&session, Field::Priority), ["0.5", "0.8", "0.5", "0.5", "0.9", "0.5", "0.5"]);
    // Undo and redo after the damaged line.
    let commands = ["delete where loc:/2", "set priority=0.9 where loc:/4", "undo", "redo", "undo"];
    let (session, missing) = replayed_without(1, &commands);
    let priorities = values(&session, Field::Priority);
    assert_eq!((missing.unsure.len(), session.is_modified(), &*priorities[4]), (0, false, "0.5"));
    // Without the lost change, the last `set` has no effect, and undoing it undoes no other change.
    let commands =
        ["set priority=0.1 where loc:/1", "set priority=0.8 where loc:/4", "set priority=0.5 where loc:/4", "undo"];
    let (session, _) = replayed_without(2, &commands);
    assert_eq!(values(&session, Field::Priority), ["0.5", "0.1", "0.5", "0.5", "0.5", "0.5", "0.5"]);
    // Changes that depend on the lost one and were undone after it are not reported.
    let commands = ["add https://e.com/new", "set priority=0.9 where loc:/new", "undo"];
    assert_eq!(replayed_without(1, &commands).1.unsure, [""; 0]);
}

#[test]
fn lines_that_depend_on_a_lost_one_are_reported_and_not_replayed() {
    // The second line sets a row that the lost line added.
    let commands = ["add https://e.com/new", "set priority=0.9 where loc:/new", "set priority=0.1 where loc:/6"];
    let (session, missing) = replayed_without(1, &commands);
    assert_eq!(values(&session, Field::Priority), ["0.5", "0.5", "0.5", "0.5", "0.5", "0.5", "0.1"]);
    assert_eq!(missing.unsure.len(), 1);
    let text = missing.lines().join("\n");
    assert!(text.contains("1 change is gone") && text.contains("1 later change cannot be replayed"), "{text}");
    assert!(text.contains("https://e.com/new") && text.contains("priority = 0.9: row 8"), "{text}");
    // A row that was added before the loss may be another one: an undo may have been lost.
    let commands = ["add https://e.com/new", "delete where loc:/2", "set priority=0.9 where loc:/new"];
    let (session, missing) = replayed_without(2, &commands);
    assert_eq!((missing.unsure.len(), session.view().urls()), (1, 8));
    // An undo after the loss may refer to another change as well.
    let commands = ["set priority=0.8 where loc:/1", "delete where loc:/2", "undo", "set priority=0.3 where loc:/4"];
    let (session, missing) = replayed_without(2, &commands);
    assert_eq!(missing.unsure, ["undid the last change"]);
    assert_eq!(values(&session, Field::Priority), ["0.5", "0.8", "0.5", "0.5", "0.3", "0.5", "0.5"]);
}

/// A line with all changes replaces lost lines before it, and no loss is reported.
#[test]
fn a_line_with_all_changes_replaces_lost_lines_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    run(&mut session, "set priority=0.8 where loc:/1");
    drop(session);
    let mut session = replayed(folder.path(), &path);
    // No line can undo replayed changes, so the journal writes a line with all changes.
    for line in ["set priority=0.1 where loc:/4", "undo 2", "delete where loc:/3"] {
        fixture::flush_journal(&session);
        run(&mut session, line);
    }
    let expected = rows(&session);
    drop(session);
    let (journal, mut lines) = journal_text(folder.path());
    assert!(lines[2].contains("Did") && lines[lines.len() - 2].contains("Since"), "{lines:?}");
    lines[2] = damage(&lines[2]);
    fs::write(&journal, lines.concat()).unwrap();
    let mut session = open(&path);
    let left = fixture::open(&mut session, state_slot(folder.path(), &path)).0.unwrap();
    assert!(left.missing().is_empty(), "{lines:?} {:?}", left.missing());
    fixture::replay(&mut session, left).unwrap();
    assert_eq!(rows(&session), expected);
}

#[test]
fn a_journal_set_aside_is_applied_only_to_its_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    run(&mut session, "set priority=0.8 where loc:/1");
    run(&mut session, "add https://e.com/new");
    let expected = rows(&session);
    drop(session);
    let (journal, _) = journal_text(folder.path());
    let aside = journal.with_extension("journal.aside-1");
    fs::rename(&journal, &aside).unwrap();
    let find =
        || crate::files::journal::stored::list(&folder.path().join("state"), std::slice::from_ref(&path)).unwrap();
    let stored = find().remove(0).stored.unwrap();
    let mut session = open(&path);
    assert_eq!(journal::apply_journal(&mut session, &stored).unwrap(), (2, Missing::default()));
    assert_eq!(rows(&session), expected);
    session.undo();
    session.undo();
    assert!(!session.is_modified());
    let text = fs::read_to_string(folder.path().join("a.xml")).unwrap();
    fs::write(folder.path().join("a.xml"), text.replace("/1?", "/one?")).unwrap();
    let mut session = open(&path);
    let refused = journal::apply_journal(&mut session, &stored).unwrap_err();
    assert!(refused.to_string().contains("have changed since") && !session.is_modified(), "{refused:?}");
    let mut session = open(&folder.path().join("b.xml"));
    let refused = journal::apply_journal(&mut session, &stored).unwrap_err();
    assert!(refused.to_string().contains("of another set; open ") && !session.is_modified(), "{refused:?}");
}

/// The state folder is unusable for a while: changes are recorded or the failure is reported, and nothing is lost.
#[test]
fn a_temporary_failure_of_the_state_folder_loses_no_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let state = folder.path().join("state");
    let mut session = keeping(folder.path(), &path);
    let lines = ["set priority=0.8 where loc:/1", "add https://e.com/new", "delete where loc:/3", "undo", "undo 2"];
    for broken in 0..lines.len() {
        for (number, line) in lines.iter().enumerate() {
            if number == broken {
                fs::remove_dir_all(&state).unwrap();
                fs::write(&state, "").unwrap();
            }
            run(&mut session, line);
            fixture::flush_journal(&session);
            assert_eq!(journal::unprotected_reason(&session).is_some(), number == broken, "{broken} {number}");
            if let Some(words) = journal::unprotected_reason(&session) {
                assert!(words.starts_with("changes are not recorded: "), "{words}");
                assert!(words.ends_with("; a crash would lose them"), "{words}");
                fs::remove_file(&state).unwrap();
            }
        }
        fixture::flush_journal(&session);
        run(&mut session, "set priority=0.4 where loc:/5");
        run(&mut session, "add https://e.com/more");
        run(&mut session, "set priority=0.2 where loc:/more");
        let expected = rows(&session);
        drop(session);
        session = replayed(folder.path(), &path);
        assert_eq!(rows(&session), expected, "{broken}");
        fixture::forget_unsaved(&mut session);
        drop(session);
        session = keeping(folder.path(), &path);
    }
}

/// Between the rename of a save and the next lock, the new file is unlocked, so another session can lock it.
#[cfg(unix)]
#[test]
fn a_file_locked_by_another_session_during_a_save_makes_the_set_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_set(folder.path());
    let mut session = keeping(folder.path(), &path);
    run(&mut session, "set priority=0.8 where loc:/1");
    let saving = {
        let plan = session.plan(None);
        save::begin(&mut session, plan, false)
    }
    .unwrap();
    let written = saving.write(&Progress::default());
    let elsewhere = folder.path().join("elsewhere");
    let other = StateSlot::take(&elsewhere, &folder.path().join("a.xml")).unwrap();
    save::finish(&mut session, written.lock()).unwrap();
    let reason = session.read_only().unwrap();
    assert!(reason.contains("has it open with another state folder, since") || reason.contains("since it was saved"));
    assert!(StateSlot::take(&elsewhere, &folder.path().join("b.xml")).is_err(), "the rest is held");
    drop(other);
}
