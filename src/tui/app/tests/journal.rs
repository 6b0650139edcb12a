//! Tests of jobs that read the journal and acquire locks.

use super::bench::{Bench, SMALL};
use crate::files::Options;
use crate::files::journal::StateSlot;
use crate::progress::Reading;
use crate::tui::app::modes::Mode;
use crate::tui::app::{Event, Start};
use crate::tui::jobs::Kind;
use std::path::{Path, PathBuf};

/// A folder with a sitemap, and options with a state folder in it.
fn small() -> (tempfile::TempDir, PathBuf, Options) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sitemap.xml");
    std::fs::write(&path, SMALL).unwrap();
    let options = options(folder.path());
    (folder, path, options)
}

fn options(folder: &Path) -> Options {
    Options { state: Some(folder.join("state")), ..Options::default() }
}

fn open(path: &Path, options: &Options, hold: Kind) -> Bench {
    Bench::start_held(Start::Path(path.to_path_buf()), options.clone(), hold)
}

fn is_modified(bench: &Bench) -> bool {
    bench.app.shared.session.is_modified()
}

/// Drops the editor without removing its journal, as if it was killed.
fn crash(bench: Bench) {
    drop(bench);
}

/// Types keys and leaves their journal behind.
fn leave_journal(path: &Path, options: &Options, keys: &str) {
    let mut bench = open(path, options, Kind::Read);
    bench.keys(keys);
    crash(bench);
}

#[test]
fn nothing_can_be_changed_until_the_journal_is_read() {
    let (_folder, path, options) = small();
    leave_journal(&path, &options, "j$c0.8<enter>");
    let mut bench = open(&path, &options, Kind::Load);
    bench.step();
    // The state folder is slow.
    bench.send(Event::Progress(Kind::Load, Reading::default()));
    assert_eq!(bench.paths().len(), 4, "the rows can be looked at");
    bench.keys("dd");
    assert!(bench.message().contains("still loading"), "{}", bench.message());
    assert!(StateSlot::take(&folder_of(&options), &path).is_err(), "a second editor is kept out");
    // A command line that was opened before the journal is read does not change anything either.
    bench.keys(":delete where loc:cups<enter>");
    assert!(!is_modified(&bench));
    bench.release_jobs();
    bench.shows("1 unsaved change of an earlier session");
    bench.keys("r");
    assert!(bench.message().contains("1 change replayed"), "{}", bench.message());
    bench.keys("<c-s>");
    assert!(std::fs::read_to_string(&path).unwrap().contains("0.8"));
}

#[test]
fn keys_typed_right_after_the_last_file_wait_for_the_journal() {
    let (_folder, path, options) = small();
    let mut bench = open(&path, &options, Kind::Load);
    bench.step();
    bench.keys("dd");
    bench.send(Event::Progress(Kind::Load, Reading::default()));
    assert!(!is_modified(&bench));
    bench.release_jobs();
    assert!(is_modified(&bench));
}

#[test]
fn files_are_compared_after_the_load_if_the_terminal_got_the_focus_before() {
    let (_folder, path, options) = small();
    let mut bench = open(&path, &options, Kind::Load);
    bench.step();
    let (other, text) = (path.with_extension("other"), std::fs::read_to_string(&path).unwrap());
    std::fs::write(&other, text.replace("0.2", "0.3")).unwrap();
    std::fs::rename(other, &path).unwrap();
    bench.send(Event::Focus);
    assert!(bench.app.shared.outside.changed.is_empty(), "the load has not ended");
    bench.release_jobs();
    assert!(bench.message().contains("was replaced by another program"), "{}", bench.message());
}

fn folder_of(options: &Options) -> PathBuf {
    options.state.clone().unwrap()
}

#[test]
fn cancelling_a_load_while_the_journal_is_read_keeps_the_journal() {
    let (_folder, path, options) = small();
    leave_journal(&path, &options, "j$c0.8<enter>");
    let mut bench = open(&path, &options, Kind::Load);
    bench.step();
    bench.keys("<esc>");
    bench.release_jobs();
    assert!(matches!(bench.app.modes.current(), Mode::Table));
    bench.keys("dd");
    assert!(bench.message().contains("read-only: loading was stopped"), "{}", bench.message());
    drop(bench);
    let again = open(&path, &options, Kind::Read);
    again.shows("1 unsaved change of an earlier session");
}

#[test]
fn a_new_sitemap_locked_by_another_editor_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let (path, options) = (folder.path().join("sitemap.xml"), options(folder.path()));
    let mut first = open(&path, &options, Kind::Read);
    first.keys("c");
    assert_eq!(first.message(), "a new sitemap; o adds its first URL");
    let mut second = open(&path, &options, Kind::Read);
    second.keys("c");
    assert!(second.message().contains("it can be read here, not changed"), "{}", second.message());
}

#[test]
fn keys_typed_while_changes_are_replayed_apply_to_the_result() {
    let (_folder, path, options) = small();
    leave_journal(&path, &options, "dd");
    let mut bench = open(&path, &options, Kind::Edit);
    bench.keys("r");
    bench.shows("replaying");
    bench.keys("Gdd");
    assert!(!is_modified(&bench), "nothing is changed before the replay");
    bench.release_jobs();
    bench.shows("2 URLs   modified 2");
    bench.keys("u");
    bench.shows("3 URLs   modified 1");
    bench.keys("u");
    assert!(!is_modified(&bench), "both are steps");
    bench.keys("<c-r>");
    crash(bench);
    let mut again = open(&path, &options, Kind::Read);
    again.keys("r");
    again.shows("3 URLs   modified 1");
}

#[test]
fn a_cancelled_replay_keeps_the_journal() {
    let (_folder, path, options) = small();
    leave_journal(&path, &options, "dd");
    let mut bench = open(&path, &options, Kind::Edit);
    bench.keys("r<esc>");
    bench.release_jobs();
    assert!(bench.message().contains("changes kept for later"), "{}", bench.message());
    assert!(!is_modified(&bench));
    drop(bench);
    let again = open(&path, &options, Kind::Read);
    again.shows("1 unsaved change of an earlier session");
}

#[test]
fn edits_made_while_locks_are_acquired_are_kept_but_not_saved() {
    let (folder, path, options) = small();
    let other = folder.path().join("copy.xml");
    for to in [None, Some(&other)] {
        std::fs::write(&path, SMALL).unwrap();
        let mut bench = open(&path, &options, Kind::Save);
        bench.keys("j$c0.8<enter>");
        match to {
            Some(to) => bench.keys(&format!(":write {}<enter>", to.display())),
            None => bench.keys("<c-s>"),
        };
        bench.shows("saving");
        bench.keys("kc0.7<enter>");
        // The locks are acquired, and nothing is written yet.
        bench.step();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), SMALL);
        bench.keys("jjjc0.6<enter>");
        bench.release_jobs();
        let saved = std::fs::read_to_string(to.unwrap_or(&path)).unwrap();
        assert_eq!(saved, SMALL.replacen("<priority>0.2", "<priority>0.8", 1));
        bench.shows("modified 2");
        crash(bench);
        let mut again = open(to.unwrap_or(&path), &options, Kind::Read);
        again.shows("unsaved change");
        again.keys("r<c-s>");
        let saved = std::fs::read_to_string(to.unwrap_or(&path)).unwrap();
        assert!(["0.7", "0.8", "0.6"].iter().all(|value| saved.contains(value)), "{saved}");
        again.keys("q");
        assert_eq!(again.status, Some(0));
    }
}

#[test]
fn a_crash_between_the_locks_and_the_save_keeps_every_change() {
    let (_folder, path, options) = small();
    let mut bench = open(&path, &options, Kind::Save);
    bench.keys("j$c0.8<enter><c-s>kc0.7<enter>");
    bench.step();
    bench.keys("jjjc0.6<enter>");
    crash(bench);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), SMALL);
    let mut again = open(&path, &options, Kind::Read);
    again.keys("r<c-s>");
    let saved = std::fs::read_to_string(&path).unwrap();
    assert!(["0.7", "0.8", "0.6"].iter().all(|value| saved.contains(value)), "{saved}");
}

#[test]
fn a_save_cancelled_while_locks_are_acquired_keeps_the_old_locks() {
    let (folder, path, options) = small();
    let other = folder.path().join("copy.xml");
    let mut bench = open(&path, &options, Kind::Save);
    bench.keys("j$c0.8<enter>");
    bench.keys(&format!(":write {}<enter><esc>", other.display()));
    bench.release_jobs();
    assert_eq!(bench.message(), "the save was stopped; no file was changed");
    assert!(!other.exists() && bench.app.shared.session.is_modified());
    drop(StateSlot::take(&folder_of(&options), &other).unwrap());
    assert!(StateSlot::take(&folder_of(&options), &path).is_err(), "the set itself stays locked");
    bench.keys("<c-s>");
    assert!(std::fs::read_to_string(&path).unwrap().contains("0.8"));
}

/// A save replaces the files, so the new files must be locked: `flock` on a replaced file has no effect on the new one.
#[test]
fn files_created_by_a_save_are_locked() {
    let (folder, path, options) = small();
    let mut bench = open(&path, &options, Kind::Read);
    bench.keys("j$c0.8<enter><c-s>");
    assert!(StateSlot::take(&folder.path().join("another"), &path).is_err(), "by another state folder, too");
    drop(bench);
    assert!(StateSlot::take(&folder.path().join("another"), &path).is_ok());
}
