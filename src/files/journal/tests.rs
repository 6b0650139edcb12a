//! Tests of the journal: reading back after any damage, one slot per set, and recovery from write errors.

use super::counter::Counts;
use super::stored::{list, read};
use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn state_slot(folder: &Path) -> StateSlot {
    StateSlot::take(folder, &folder.join("sitemap.xml")).unwrap()
}

fn path_of(state_slot: &StateSlot) -> PathBuf {
    state_slot.locks.journal.path().unwrap().to_path_buf()
}

fn begin(state_slot: StateSlot) -> Journal {
    let header = state_slot.locks().header(&Disk::default(), 7);
    let journal = state_slot.begin(None, None);
    journal.restart(header);
    journal
}

fn note(journal: &Journal, line: &str) {
    let (line, all) = (line.to_owned(), line.to_owned());
    journal.note(Note {
        line: Box::new(move || line),
        is_independent: false,
        all: Arc::new(move || vec![all.clone()]),
    });
}

fn write(folder: &Path, lines: &[&str]) -> PathBuf {
    let state_slot = state_slot(folder);
    let path = path_of(&state_slot);
    let journal = begin(state_slot);
    for line in lines {
        note(&journal, line);
    }
    path
}

fn lines(stored: &StoredJournal) -> Vec<&str> {
    stored.lines().collect()
}

#[test]
fn notes_are_read_back_by_the_next_session_until_the_journal_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &["1", "[2,3]"]);
    let mut again = state_slot(folder.path());
    let stored = again.earlier.take().unwrap().unwrap();
    assert_eq!((lines(&stored), stored.is_cut), (vec!["1", "[2,3]"], false));
    let journal = again.begin(Some(stored.header), None);
    // The file keeps the earlier journal until the first change, then it holds all unsaved changes.
    journal.flush();
    assert_eq!(lines(&read(&path).unwrap().unwrap()).len(), 2);
    note(&journal, "4");
    journal.flush();
    assert_eq!(lines(&read(&path).unwrap().unwrap()), ["4"]);
    assert_eq!(journal.failure(), None);
    journal.remove();
    assert!(!path.exists());
    assert!(state_slot(folder.path()).earlier.is_none());
}

#[test]
fn a_second_lock_attempt_fails_with_the_process_of_the_holder() {
    let folder = tempfile::tempdir().unwrap();
    let first = state_slot(folder.path());
    let held = StateSlot::take(folder.path(), &folder.path().join("./sitemap.xml")).unwrap_err();
    assert_eq!(held.process, Some(std::process::id()));
    assert!(StateSlot::take(folder.path(), &folder.path().join("other.xml")).is_ok());
    drop(first);
    let locks = || fs::read_dir(folder.path().join("journal")).unwrap().count();
    assert_eq!(locks(), 0, "a lock that nobody holds leaves no file");
    assert!(StateSlot::take(folder.path(), &folder.path().join("sitemap.xml")).is_ok());
}

/// A read-only state folder does not prevent editing. A file at its path is unusable even for root.
#[cfg(unix)]
#[test]
fn the_files_are_locked_if_the_state_folder_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let set = folder.path().join("sitemap.xml");
    fs::write(&set, "").unwrap();
    fs::write(&state, "").unwrap();
    for state in [Some(&*state), None] {
        let state_slot = StateSlot::acquire(state, std::slice::from_ref(&set)).unwrap();
        assert!(!state_slot.is_locked() && state_slot.is_exclusive());
        let held = StateSlot::acquire(state, std::slice::from_ref(&set)).unwrap_err();
        assert!(held.elsewhere && held.to_string().contains("has it open with another state folder"), "{held}");
        let journal = begin(state_slot);
        journal.flush();
        assert!(journal.failure().is_some(), "the failure is reported");
    }
}

#[test]
fn a_cut_or_flipped_byte_costs_only_its_lines_which_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &["1", "[2,3]", "\"x\""]);
    let whole = fs::read(path).unwrap();
    let all = format::parse(&whole, &Counts::default()).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[cut] ^= 1;
        for bytes in [&whole[..cut], &flipped] {
            let is_flip = bytes.len() == whole.len();
            let Ok(stored) = format::parse(bytes, &Counts::default()) else {
                assert!(cut < header, "{cut}");
                continue;
            };
            let found = lines(&stored);
            let mut rest = all.lines();
            assert!(found.iter().all(|line| rest.any(|other| other == *line)), "{cut}: {found:?}");
            let lost =
                stored.entries.iter().filter_map(|entry| if let Entry::Lost(lost) = entry { Some(lost) } else { None });
            let lost: Vec<&Lost> = lost.collect();
            if is_flip && cut >= header {
                let count = found.len() as u64 + lost.iter().map(|lost| lost.count).sum::<u64>();
                let is_exact = !stored.is_cut && lost.iter().all(|lost| !lost.at_least);
                assert!(if is_exact { count == 3 } else { count < 4 }, "{cut}: {stored:?}");
                assert!(stored.is_cut || !lost.is_empty(), "{cut}: {stored:?}");
                assert!(!found.is_empty(), "one byte damages at most two lines: {cut}");
            }
        }
    }
    let newer = "{\"version\":3,\"more\":true}";
    let newer = format!("{:016x} {newer}\n", fingerprint(newer.as_bytes()));
    assert_eq!(format::parse(newer.as_bytes(), &Counts::default()), Err(Unusable::Newer));
    assert_eq!(format::parse(b"", &Counts::default()), Err(Unusable::Damaged));
}

#[test]
fn lost_lines_are_counted_by_their_numbers_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &["1", "2", "\"three\"", "4", "5"]);
    let text = fs::read_to_string(path).unwrap();
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let parsed = |lines: &[&str]| format::parse(lines.concat().as_bytes(), &Counts::default()).unwrap();
    let lost = |count: u64, at_least: bool, text: &str| Entry::Lost(Lost { count, at_least, text: text.to_owned() });
    let line = |text: &str| Entry::Line(text.to_owned());
    // Two lines are gone completely.
    let stored = parsed(&[all[0], all[1], all[4], all[5]]);
    assert_eq!(stored.entries, [line("1"), lost(2, false, ""), line("4"), line("5")]);
    // The rest of a damaged line is shown, with signs for control characters.
    let stored = parsed(&[all[0], "thr\u{1b}[2Jee\n", all[4], all[5]]);
    assert_eq!(stored.entries, [lost(3, false, "thr\u{241b}[2Jee"), line("4"), line("5")]);
    // At the end no later number gives the count, except for a line that was being written.
    let stored = parsed(&[all[0], all[1], "rubbish\n", "more\n"]);
    assert_eq!((stored.entries, stored.is_cut), (vec![line("1"), lost(1, true, "rubbish\nmore")], false));
    let stored = parsed(&[all[0], all[1], &all[2][..9]]);
    assert_eq!((stored.entries, stored.is_cut), (vec![line("1")], true));
    // Lines that are repeated or out of order are not replayed twice.
    let stored = parsed(&[all[0], all[1], all[1], all[2], all[1], all[3], all[4], all[5]]);
    assert_eq!((lines(&stored).len(), stored.entries.len()), (5, 5));
    // Blocks of zeros, as a file system leaves them after a crash.
    let stored = parsed(&[all[0], all[1], "\0\0\0\0\n", all[3]]);
    assert_eq!(stored.entries, [line("1"), lost(1, false, ""), line("\"three\"")]);
}

/// The counter gives the number of lines lost at the end; lines that were not counted yet are no loss.
#[test]
fn lines_cut_off_the_end_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let state_slot = state_slot(folder.path());
    let path = path_of(&state_slot);
    let journal = begin(state_slot);
    for line in ["1", "2", "3", "4"] {
        note(&journal, line);
        journal.flush();
    }
    drop(journal);
    let text = fs::read_to_string(&path).unwrap();
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let stored = |text: &str| {
        fs::write(&path, text).unwrap();
        read(&path).unwrap().unwrap()
    };
    let lost = |count, at_least, text: &str| Some(Entry::Lost(Lost { count, at_least, text: text.to_owned() }));
    let end = |text: &str| {
        let stored = stored(text);
        assert!(!stored.is_cut, "the line was synced and counted");
        stored.entries.last().cloned()
    };
    assert_eq!(end(&text), Some(Entry::Line("4".to_owned())));
    assert_eq!(end(all[0]), lost(4, false, ""));
    assert_eq!(end(&all[..3].concat()), lost(2, false, ""));
    assert_eq!(end(&format!("{}{}", all[..3].concat(), &all[3][..9])), lost(2, false, &all[3][..9]));
    // A line that was not synced when the session ended.
    let begun = stored(&format!("{text}{}", &format::line(5, "5")[..9]));
    assert!(begun.is_cut && begun.lines().count() == 4);
    let more = format!("{text}{}x\n", format::line(5, "5"));
    assert_eq!(end(&more), lost(1, true, "x"));
    // The counter is set aside with its journal and does not apply to another one.
    let cut = all[..3].concat();
    assert_eq!(end(&cut), lost(2, false, ""));
    let aside = stored::link_aside(&path).unwrap();
    assert_eq!(read(&aside).unwrap().unwrap().entries.last().cloned(), lost(2, false, ""));
    let other = write(folder.path(), &["1"]);
    assert_eq!(other, path);
    fs::write(&path, &cut).unwrap();
    assert_eq!(read(&path).unwrap().unwrap().lines().count(), 2);
    assert!(read(&path).unwrap().unwrap().entries.iter().all(|entry| matches!(entry, Entry::Line(_))));
    assert_eq!(read(&aside).unwrap().unwrap().entries.len(), 3);
    // One half of the counter may be damaged.
    for number in 0..2 {
        let counter = aside.with_file_name(aside.file_name().unwrap().to_string_lossy().replace(".journal", ".count"));
        let mut bytes = fs::read(&counter).unwrap();
        let half = bytes.len() / 2;
        bytes[half * number] ^= 1;
        fs::write(&counter, &bytes).unwrap();
        let found = read(&aside).unwrap().unwrap().entries.last().cloned();
        assert_eq!(found, if number == 0 { lost(1, false, "") } else { Some(Entry::Line("2".to_owned())) });
    }
}

#[test]
fn journals_of_the_previous_version_are_read() {
    let first = r#"{"version":1,"set":"/a.xml","begun":7,"files":[]}"#;
    let text: String =
        [first, "1", "x", "[3]"].map(|line| format!("{:016x} {line}\n", fingerprint(line.as_bytes()))).concat();
    let stored = format::parse(text.as_bytes(), &Counts::default()).unwrap();
    assert_eq!(lines(&stored), ["1", "x", "[3]"]);
    let damaged = text.replace(" x\n", " y\n");
    let stored = format::parse(damaged.as_bytes(), &Counts::default()).unwrap();
    assert!(matches!(&stored.entries[1], Entry::Lost(Lost { count: 1, at_least: true, .. })), "{stored:?}");
    assert_eq!(lines(&stored), ["1", "[3]"]);
}

#[test]
fn unusable_journals_are_set_aside_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..3 {
        let path = write(folder.path(), &["1"]);
        fs::write(&path, "rubbish\nmore").unwrap();
        let mut state_slot = state_slot(folder.path());
        assert_eq!(state_slot.earlier, Some(Err(Unusable::Damaged)));
        let aside = state_slot.set_aside().unwrap();
        assert!(aside.to_string_lossy().ends_with(&format!("aside-{number}")) && !path.exists());
        assert_eq!(fs::read(aside).unwrap(), b"rubbish\nmore");
    }
    let set = folder.path().join("sitemap.xml");
    let path = write(folder.path(), &["1"]);
    fs::write(path.with_extension("lock"), "").unwrap();
    let of =
        |paths: &[PathBuf]| list(folder.path(), paths).unwrap().iter().map(|found| found.is_aside).collect::<Vec<_>>();
    // Journals whose first line is damaged are found by their names.
    assert_eq!(of(std::slice::from_ref(&set)), [false, true, true]);
    assert_eq!(of(&[]), [false, true, true]);
    assert_eq!(of(&[folder.path().to_path_buf()]), [false]);
    assert_eq!(of(&[folder.path().join("other.xml")]), [false; 0]);
    let found = list(folder.path(), &[set]).unwrap();
    assert!(matches!(&found[1].readable()[..], []), "its only line is incomplete");
    found[1].discard().unwrap();
    assert_eq!(of(&[]).len(), 2);
    assert!(list(&folder.path().join("none"), &[]).unwrap().is_empty());
}

/// A journal whose lines are consecutive numbers, with operations that fail on request.
struct Bench {
    folder: tempfile::TempDir,
    journal: Journal,
    fails: Arc<AtomicBool>,
    notifications: Arc<AtomicUsize>,
    last: u64,
}

impl Bench {
    /// Operations of this kind fail from this number on, until `fails` is cleared.
    fn new(step: Step, number: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (fails, seen) = (Arc::new(AtomicBool::new(true)), AtomicUsize::new(0));
        let notifications = Arc::new(AtomicUsize::new(0));
        let (watched, is_failing) = (Arc::clone(&notifications), Arc::clone(&fails));
        let gate: Gate = Arc::new(move |at| {
            let is_counted = at == step && is_failing.load(Ordering::SeqCst);
            let count = if is_counted { seen.fetch_add(1, Ordering::SeqCst) } else { 0 };
            if is_counted && count >= number { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        });
        let watcher = Watcher(Arc::new(move || {
            watched.fetch_add(1, Ordering::SeqCst);
        }));
        let state_slot = state_slot(folder.path());
        let header = state_slot.locks().header(&Disk::default(), 7);
        let journal = state_slot.begin_with(&gate, Some(&watcher));
        journal.restart(header);
        Self { folder, journal, fails, notifications, last: 0 }
    }

    fn change(&mut self) {
        self.last += 1;
        let last = self.last;
        self.journal.note(Note {
            line: Box::new(move || last.to_string()),
            is_independent: false,
            all: Arc::new(move || vec![format!("\"all {last}\"")]),
        });
    }

    /// The number of unsaved changes in the file: each line follows the one before, or holds all changes.
    fn value(&self) -> Option<u64> {
        let stored = read(self.journal.state_slot().locks.journal.path().unwrap())?.unwrap();
        assert!(stored.entries.iter().all(|entry| matches!(entry, Entry::Line(_))), "{stored:?}");
        Some(stored.lines().fold(0, |value, line| {
            if let Some(all) = line.trim_matches('"').strip_prefix("all ") {
                return all.parse().unwrap();
            }
            assert_eq!(line.parse(), Ok(value + 1), "a line builds on a missing one");
            value + 1
        }))
    }
}

#[test]
fn write_failures_are_reported_once_and_changes_written_after_recovery() {
    let mut failures = 0;
    for step in [Step::Thread, Step::Create, Step::Write, Step::Sync, Step::Rename] {
        for number in 0..6 {
            let mut bench = Bench::new(step, number);
            let case = format!("{step:?} {number}");
            for _ in 0..4 {
                bench.change();
                bench.journal.flush();
                let value = bench.value();
                match bench.journal.failure() {
                    None => assert_eq!(value, Some(bench.last), "{case}"),
                    Some(why) => {
                        failures += 1;
                        assert_eq!(why, JournalFailure::NoSpace(bench.folder.path().join("journal")), "{case}");
                        assert!(why.to_string().starts_with("no space in "));
                        assert!(bench.notifications.load(Ordering::SeqCst) == 1, "{case}: it is told once");
                        // Lines that were written before are still in the file.
                        let written = value.unwrap_or_default();
                        assert!(written < bench.last || step == Step::Sync, "{case}");
                    }
                }
            }
            let had_failed = bench.journal.failure().is_some();
            bench.fails.store(false, Ordering::SeqCst);
            // A flush is sufficient, without a further change.
            bench.journal.flush();
            assert_eq!((bench.journal.failure(), bench.value()), (None, Some(4)), "{case}");
            assert_eq!(bench.notifications.load(Ordering::SeqCst), if had_failed { 2 } else { 0 }, "{case}");
            bench.change();
            bench.change();
            bench.journal.flush();
            assert_eq!(bench.value(), Some(6), "{case}");
        }
    }
    assert!(failures > 30, "{failures}");
}

/// A process that dies while it writes may leave a half-written line.
#[test]
fn a_write_after_a_half_written_line_succeeds() {
    for half in [false, true] {
        let mut bench = Bench::new(Step::Write, usize::MAX);
        bench.change();
        bench.journal.flush();
        assert_eq!(bench.value(), Some(1));
        if half {
            let path = bench.journal.state_slot().locks.journal.path().unwrap().to_path_buf();
            let mut text = fs::read(&path).unwrap();
            text.extend(b"0123456789abcdef 2 half a li");
            fs::write(&path, text).unwrap();
        }
        bench.change();
        bench.journal.flush();
        assert_eq!((bench.journal.failure(), bench.value()), (None, Some(2)), "{half}");
    }
}

#[test]
fn a_removed_state_folder_is_created_again_with_lock_and_journal() {
    let mut bench = Bench::new(Step::Thread, usize::MAX);
    bench.change();
    bench.journal.flush();
    let state = bench.folder.path().join("journal");
    fs::remove_dir_all(&state).unwrap();
    bench.journal.flush();
    assert_eq!((bench.value(), bench.journal.failure()), (Some(1), None));
    assert!(
        StateSlot::take(bench.folder.path(), &bench.folder.path().join("sitemap.xml")).is_err(),
        "it is locked again"
    );
    // A file is at the path of the folder.
    fs::remove_dir_all(&state).unwrap();
    fs::write(&state, "").unwrap();
    bench.change();
    bench.journal.flush();
    assert!(
        matches!(bench.journal.failure(), Some(JournalFailure::Unwritable { .. })),
        "{:?}",
        bench.journal.failure()
    );
    fs::remove_file(&state).unwrap();
    bench.journal.flush();
    assert_eq!((bench.value(), bench.journal.failure()), (Some(2), None));
}

/// The path was free for a moment and another session has locked it since: its journal is not overwritten.
#[test]
fn a_journal_path_locked_by_another_session_is_not_overwritten() {
    let mut bench = Bench::new(Step::Thread, usize::MAX);
    bench.change();
    bench.journal.flush();
    fs::remove_dir_all(bench.folder.path().join("journal")).unwrap();
    let other = state_slot(bench.folder.path());
    let path = path_of(&other);
    let other = begin(other);
    note(&other, "\"theirs\"");
    other.flush();
    bench.change();
    bench.journal.flush();
    assert!(matches!(bench.journal.failure(), Some(JournalFailure::Held(_))), "{:?}", bench.journal.failure());
    let Bench { journal, .. } = bench;
    journal.remove();
    assert_eq!(lines(&read(&path).unwrap().unwrap()), ["\"theirs\""]);
    assert_eq!(other.failure(), None);
}
