//! Tests of backups and restores.

use super::*;
use crate::files::fixture::{TestSet as Sitemaps, index, urlset};
use crate::files::gate::AllowAll;
use crate::files::save::faults::{DEATH, Death, survives};
use crate::files::save::{SaveMode, save_with_mode};
use crate::progress::Progress;
use crate::protocol::Field;
use std::sync::atomic::{AtomicUsize, Ordering};

fn pair() -> Sitemaps {
    let index = index(&["https://e.com/s-1.xml", "https://e.com/s-2.xml"]);
    let one = urlset(&["https://e.com/1", "https://e.com/2"]);
    let two = urlset(&["https://e.com/3", "https://e.com/4"]);
    Sitemaps::new(&[("index.xml", index.as_bytes()), ("s-1.xml", one.as_bytes()), ("s-2.xml", two.as_bytes())])
}

/// Saves. Returns the dates of the backups that were created or extended.
fn save(set: &mut Sitemaps, backups: &Backups) -> Vec<String> {
    let plan = set.plan();
    let mode = SaveMode { backups: backups.clone(), ..set.mode() };
    let saved = save_with_mode(&plan, &mut set.disk, &mode, &Progress::default()).unwrap();
    (set.document, set.saved) = (saved.document.clone(), saved.document.clone());
    saved.backups.iter().map(|dated| dated.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// The files of the set, without its backups.
fn set_files(set: &Sitemaps) -> BTreeMap<String, Vec<u8>> {
    set.files().into_iter().filter(|(name, _)| !name.contains(".bak/")).collect()
}

fn main(set: &Sitemaps) -> PathBuf {
    set.path("index.xml")
}

/// The state folder of the user who owns the set.
fn state(main: &Path) -> PathBuf {
    main.parent().unwrap().with_extension("state")
}

fn sets(main: &Path) -> Vec<BackupSet> {
    super::sets(main, Some(&state(main))).unwrap()
}

fn prune(main: &Path, keep: usize) -> Result<Vec<BackupSet>, Error> {
    super::prune(main, keep, Some(&state(main)))
}

fn restore_plan(main: &Path, date: &str) -> Result<RestorePlan, Error> {
    super::plan_restore(main, date, Some(&state(main)))
}

/// Runs a restore with the user's key.
fn run(restore_plan: &RestorePlan, prune: bool, set: &Sitemaps, gate: &dyn Gate) -> Result<Restored, Error> {
    restore_plan.run_with_gate(gate, prune, set.now, Trust { state: Some(&set.state()), unverified: false })
}

#[test]
fn once_backs_up_the_state_before_the_session_and_always_before_each_save() {
    for when in When::ALL {
        let mut set = pair();
        let backups = Backups::new(when);
        let mut states = vec![set_files(&set)];
        for (row, value) in [(0, "0.1"), (0, "0.2"), (2, "0.3")] {
            set.set(&[row], Field::Priority, Some(value));
            save(&mut set, &backups);
            states.push(set_files(&set));
        }
        let sets = sets(&main(&set));
        let expected = match when {
            When::Off => 0,
            When::Once => 1,
            When::Always => 3,
        };
        assert_eq!(sets.len(), expected, "{when:?}");
        // All three are made within one second: their names are unique and sorted by time.
        for (set_of_files, state) in sets.iter().zip(&states).rev() {
            let restore_plan = restore_plan(&main(&set), &set_of_files.date).unwrap();
            run(&restore_plan, false, &set, &AllowAll).unwrap();
            assert_eq!(&set_files(&set), state, "{when:?} {}", set_of_files.date);
        }
    }
}

#[test]
fn a_copy_has_the_bytes_and_mode_of_its_file_and_is_private_while_written() {
    let mut set = pair();
    let before = set_files(&set);
    #[cfg(unix)]
    fs::set_permissions(set.path("s-1.xml"), std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    set.set(&[0], Field::Priority, Some("0.1"));
    let dates = save(&mut set, &Backups::new(When::Always));
    assert_eq!(dates, ["2026-11-20T10-20-30Z"]);
    let copy = backups_folder(&main(&set)).join(&dates[0]).join("s-1.xml");
    assert_eq!(fs::read(&copy).unwrap(), before["s-1.xml"]);
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&copy).unwrap()) & 0o777, 0o640);
    assert!(!copy.with_file_name("s-2.xml").exists(), "it was not replaced");
}

#[test]
fn a_restore_can_be_undone_and_removes_new_files_only_with_prune() {
    let mut set = pair();
    let before = set_files(&set);
    set.limits.urls = 2;
    set.add(0, "https://e.com/new");
    let dates = save(&mut set, &Backups::new(When::Once));
    let after = set_files(&set);
    assert_eq!(after.len(), 4);
    let restore_plan = |date: &str| restore_plan(&main(&set), date).unwrap();
    let back = restore_plan(&dates[0]);
    assert_eq!(back.created_since, [set.path("s-3.xml")]);
    assert_eq!(back.files.last().unwrap().target, main(&set), "the index last");
    let done = run(&back, false, &set, &AllowAll).unwrap();
    assert!(set.path("s-3.xml").exists());
    let undo = done.backup.unwrap().file_name().unwrap().to_string_lossy().into_owned();
    run(&restore_plan(&undo), false, &set, &AllowAll).unwrap();
    assert_eq!(set_files(&set), after);
    let done = run(&restore_plan(&dates[0]), true, &set, &AllowAll).unwrap();
    assert_eq!((set_files(&set), done.removed), (before, 1));
    // A save or restore without changes makes no backup.
    assert_eq!(run(&restore_plan(&dates[0]), true, &set, &AllowAll).unwrap().backup, None);
}

#[test]
fn a_restore_from_a_missing_or_damaged_backup_is_refused() {
    let mut set = pair();
    let error = |set: &Sitemaps, date: &str| restore_plan(&main(set), date).unwrap_err().to_string();
    assert!(error(&set, "2026-01-01").contains("there is no backup"));
    set.set(&[0], Field::Priority, Some("0.1"));
    let dates = save(&mut set, &Backups::new(When::Always));
    assert!(error(&set, "2026-01-01").contains(&dates[0]));
    let dated = backups_folder(&main(&set)).join(&dates[0]);
    fs::write(dated.join("s-1.xml"), "x").unwrap();
    assert!(error(&set, &dates[0]).contains("changed since"));
    // A list with a path outside of the folder is refused.
    let list = fs::read_to_string(dated.join(LIST)).unwrap();
    fs::write(dated.join(LIST), list.replace("\"s-1.xml\"", "\"../s-1.xml\"")).unwrap();
    assert!(sets(&main(&set))[0].files.iter().all(|file| !file.name.starts_with("..")));
    fs::remove_file(dated.join(LIST)).unwrap();
    assert!(sets(&main(&set)).is_empty(), "without its list it was interrupted");
    assert_eq!(incomplete(&main(&set)).unwrap(), [Incomplete { folder: dated.clone(), kept: None }]);
    assert_eq!(remove_incomplete(&main(&set)).unwrap(), std::slice::from_ref(&dated));
    assert!(!dated.exists());
}

/// Fails the n-th operation.
struct Fault(AtomicUsize);

impl Gate for Fault {
    fn pass(&self, _: FsOperation) -> io::Result<()> {
        match self.0.fetch_sub(1, Ordering::SeqCst) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }
}

/// If any operation of a backup or restore fails, no file is replaced, or all of them will be.
#[test]
fn a_failure_at_any_operation_leaves_one_state_or_the_other() {
    let (mut failures, mut finished) = (0, 0);
    for at in 0.. {
        let mut set = pair();
        let before = set_files(&set);
        set.set(&[0, 2], Field::Priority, Some("0.1"));
        let dates = save(&mut set, &Backups::new(When::Always));
        let after = set_files(&set);
        let restore_plan = restore_plan(&main(&set), &dates[0]).unwrap();
        let gate = Fault(AtomicUsize::new(at));
        let Err(error) = run(&restore_plan, true, &set, &gate) else { break };
        assert!(matches!(error.reason, Reason::NoSpace { .. } | Reason::Unfinished { .. }), "{error}");
        failures += 1;
        let has_record = set.path(".sited.commit").exists();
        finished += usize::from(has_record);
        let expected = if has_record { before } else { after };
        assert!(has_record || sets(&main(&set)).len() == 1, "{at}: no set of a restore that came to nothing");
        set.recover("index.xml");
        assert!(set_files(&set) == expected, "{at}: {:?}", set_files(&set).keys());
    }
    assert!(failures > 15 && finished > 2, "{failures} {finished}");
}

const DEATH_TEST: &str = "files::backup::tests::a_process_that_dies_during_a_restore_leaves_one_state_or_the_other";

/// A real process dies at every operation of a restore: the next load finds the state before or after it.
#[test]
fn a_process_that_dies_during_a_restore_leaves_one_state_or_the_other() {
    if let Ok(argument) = std::env::var(DEATH) {
        let (at, folder) = argument.split_once(' ').unwrap();
        let index = Path::new(folder).join("index.xml");
        let set = Sitemaps::open(Path::new(folder), "index.xml");
        let restore_plan = restore_plan(&index, &sets(&index)[0].date).unwrap();
        drop(run(&restore_plan, true, &set, &Death(AtomicUsize::new(at.parse().unwrap()))).unwrap());
        return;
    }
    let (mut deaths, mut finished) = (0, 0);
    for at in 0.. {
        let mut set = pair();
        let before = set_files(&set);
        set.set(&[0, 2], Field::Priority, Some("0.1"));
        save(&mut set, &Backups::new(When::Always));
        let after = set_files(&set);
        if survives(DEATH_TEST, &format!("{at} {}", set.path("").display())) {
            assert_eq!(set_files(&set), before);
            break;
        }
        deaths += 1;
        finished += usize::from(set.path(".sited.commit").exists());
        let main = main(&set);
        set.recover("index.xml");
        crate::files::index_contents::sweep_beside(main.parent().unwrap(), [&*set.path("s-1.xml")].into_iter());
        let now = set_files(&set);
        assert!(now == before || now == after, "{at}: {:?}", now.keys());
        // The backup remains in any case.
        assert!(!sets(&main).is_empty());
    }
    assert!(deaths > 15 && finished > 2, "{deaths} {finished}");
}

/// Interrupted system calls and short writes are no failures.
#[test]
fn interrupted_calls_and_short_writes_do_not_affect_a_restore() {
    struct Short(AtomicUsize);
    impl Gate for Short {
        fn pass(&self, _: FsOperation) -> io::Result<()> {
            match self.0.fetch_sub(1, Ordering::SeqCst) {
                0 => Err(io::ErrorKind::Interrupted.into()),
                _ => Ok(()),
            }
        }

        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
            match self.0.fetch_sub(1, Ordering::SeqCst) {
                0 => io::Write::write(file, bytes.get(..1).unwrap_or(bytes)),
                _ => io::Write::write(file, bytes),
            }
        }
    }
    for at in 0..40 {
        let mut set = pair();
        let before = set_files(&set);
        set.set(&[0, 2], Field::Priority, Some("0.1"));
        let dates = save(&mut set, &Backups::new(When::Always));
        let restore_plan = restore_plan(&main(&set), &dates[0]).unwrap();
        run(&restore_plan, true, &set, &Short(AtomicUsize::new(at))).unwrap();
        assert_eq!(set_files(&set), before, "{at}");
    }
}

#[test]
fn pruning_removes_the_oldest_and_the_rest_can_be_restored() {
    let mut set = pair();
    let backups = Backups::new(When::Always);
    let mut states = Vec::new();
    for value in ["0.1", "0.2", "0.3", "0.4"] {
        states.push(set_files(&set));
        set.set(&[0], Field::Priority, Some(value));
        save(&mut set, &backups);
    }
    let before = sets(&main(&set));
    assert!(prune(&main(&set), 9).unwrap().is_empty());
    assert_eq!(prune(&main(&set), 2).unwrap(), before[..2]);
    assert_eq!(sets(&main(&set)), before[2..]);
    assert!(incomplete(&main(&set)).unwrap().is_empty());
    run(&restore_plan(&main(&set), &before[2].date).unwrap(), false, &set, &AllowAll).unwrap();
    assert_eq!(set_files(&set), states[2]);
}

/// If the clock is set back, the order of backups is kept.
#[test]
fn a_clock_that_jumps_changes_no_order_and_loses_no_backup() {
    let mut set = pair();
    let backups = Backups::new(When::Always);
    let noon = set.now.seconds;
    let mut states = Vec::new();
    for (value, jump) in [("0.1", 0), ("0.2", -86_400), ("0.3", 300_000_000), ("0.4", -1), ("0.5", -86_400)] {
        states.push(set_files(&set));
        set.now.seconds = noon + jump;
        set.set(&[0], Field::Priority, Some(value));
        assert_eq!(save(&mut set, &backups).len(), 1, "at {jump}");
    }
    let sets = sets(&main(&set));
    assert_eq!(sets.len(), 5);
    for (dated, state) in sets.iter().zip(&states).rev() {
        run(&restore_plan(&main(&set), &dated.date).unwrap(), false, &set, &AllowAll).unwrap();
        assert_eq!(&set_files(&set), state, "{}", dated.date);
    }
}

/// A save reports why its backup is not signed, so that it is known before a restore.
#[test]
fn a_save_reports_that_its_backup_is_unsigned() {
    let mut set = pair();
    fs::write(set.path("file"), "").unwrap();
    for (state, why) in [(None, "no state folder: HOME"), (Some(set.path("file")), "no key can be read or made in")] {
        set.set(&[0], Field::Priority, Some(if state.is_none() { "0.1" } else { "0.2" }));
        let mode = SaveMode { backups: Backups::new(When::Always), state, ..set.mode() };
        let plan = set.plan();
        let saved = save_with_mode(&plan, &mut set.disk, &mode, &Progress::default()).unwrap();
        let unsigned = saved.unsigned.unwrap_or_default();
        assert!(unsigned.contains(why), "{unsigned}");
        (set.document, set.saved) = (saved.document.clone(), saved.document.clone());
    }
    assert!(sets(&main(&set)).iter().all(|set| !set.is_authentic));
    set.set(&[0], Field::Priority, Some("0.3"));
    let mode = SaveMode { backups: Backups::new(When::Always), ..set.mode() };
    let plan = set.plan();
    assert_eq!(save_with_mode(&plan, &mut set.disk, &mode, &Progress::default()).unwrap().unsigned, None);
}
