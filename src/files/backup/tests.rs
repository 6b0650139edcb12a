//! Tests of backups and restores.

use super::*;
use crate::files::fixture::{TestSet as Sitemaps, index, urlset};
use crate::files::gate::AllowAll;
use crate::files::save::faults::{DEATH, Death, survives};
use crate::files::save::{SaveMode, save_as_asked};
use crate::progress::Progress;
use crate::protocol::Field;
use std::sync::atomic::{AtomicUsize, Ordering};

fn pair() -> Sitemaps {
    let index = index(&["https://e.com/s-1.xml", "https://e.com/s-2.xml"]);
    let one = urlset(&["https://e.com/1", "https://e.com/2"]);
    let two = urlset(&["https://e.com/3", "https://e.com/4"]);
    Sitemaps::new(&[("index.xml", index.as_bytes()), ("s-1.xml", one.as_bytes()), ("s-2.xml", two.as_bytes())])
}

/// Saves; the dates of the sets that were begun or added to.
fn save(set: &mut Sitemaps, backups: &Backups) -> Vec<String> {
    let plan = set.plan();
    let mode = SaveMode { backups: backups.clone(), ..set.mode() };
    let saved = save_as_asked(&plan, &mut set.disk, &mode, &Progress::default()).unwrap();
    (set.document, set.saved) = (saved.document.clone(), saved.document.clone());
    saved.backups.iter().map(|dated| dated.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// The files of the set itself.
fn own(set: &Sitemaps) -> BTreeMap<String, Vec<u8>> {
    set.files().into_iter().filter(|(name, _)| !name.contains(".bak/")).collect()
}

fn main(set: &Sitemaps) -> PathBuf {
    set.path("index.xml")
}

/// The state folder of the user whose set this is.
fn state(main: &Path) -> PathBuf {
    main.parent().unwrap().with_extension("state")
}

fn sets(main: &Path) -> Vec<BackupSet> {
    super::sets(main, Some(&state(main))).unwrap()
}

fn prune(main: &Path, keep: usize) -> Result<Vec<BackupSet>, Error> {
    super::prune(main, keep, Some(&state(main)))
}

fn restoring(main: &Path, date: &str) -> Result<RestorePlan, Error> {
    super::plan_restore(main, date, Some(&state(main)))
}

/// Puts back what was worked out.
fn run(restoring: &RestorePlan, prune: bool, set: &Sitemaps, gate: &dyn Gate) -> Result<Restored, Error> {
    restoring.run_with_gate(gate, prune, set.now, Trust { state: Some(&set.state()), unverified: false })
}

#[test]
fn once_keeps_what_was_before_the_session_and_always_what_was_before_each_save() {
    for when in When::ALL {
        let mut set = pair();
        let backups = Backups::new(when);
        let mut states = vec![own(&set)];
        for (row, value) in [(0, "0.1"), (0, "0.2"), (2, "0.3")] {
            set.set(&[row], Field::Priority, Some(value));
            save(&mut set, &backups);
            states.push(own(&set));
        }
        let sets = sets(&main(&set));
        let expected = match when {
            When::Off => 0,
            When::Once => 1,
            When::Always => 3,
        };
        assert_eq!(sets.len(), expected, "{when:?}");
        // All three of one second: no two have the same name, and their order is known.
        for (set_of_files, state) in sets.iter().zip(&states).rev() {
            let restoring = restoring(&main(&set), &set_of_files.date).unwrap();
            run(&restoring, false, &set, &AllowAll).unwrap();
            assert_eq!(&own(&set), state, "{when:?} {}", set_of_files.date);
        }
    }
}

#[test]
fn a_copy_has_the_bytes_and_the_mode_of_its_file_and_nobody_else_can_read_it_before() {
    let mut set = pair();
    let before = own(&set);
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
fn a_restore_can_be_restored_and_leaves_new_files_unless_told() {
    let mut set = pair();
    let before = own(&set);
    set.limits.urls = 2;
    set.add(0, "https://e.com/new");
    let dates = save(&mut set, &Backups::new(When::Once));
    let after = own(&set);
    assert_eq!(after.len(), 4);
    let restoring = |date: &str| restoring(&main(&set), date).unwrap();
    let back = restoring(&dates[0]);
    assert_eq!(back.left, [set.path("s-3.xml")]);
    assert_eq!(back.files.last().unwrap().target, main(&set), "the index last");
    let done = run(&back, false, &set, &AllowAll).unwrap();
    assert!(set.path("s-3.xml").exists());
    let undo = done.backup.unwrap().file_name().unwrap().to_string_lossy().into_owned();
    run(&restoring(&undo), false, &set, &AllowAll).unwrap();
    assert_eq!(own(&set), after);
    let done = run(&restoring(&dates[0]), true, &set, &AllowAll).unwrap();
    assert_eq!((own(&set), done.removed), (before, 1));
    // Nothing left to do makes no set.
    assert_eq!(run(&restoring(&dates[0]), true, &set, &AllowAll).unwrap().backup, None);
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_put_back() {
    let mut set = pair();
    let said = |set: &Sitemaps, date: &str| restoring(&main(set), date).unwrap_err().to_string();
    assert!(said(&set, "2026-01-01").contains("there is no backup"));
    set.set(&[0], Field::Priority, Some("0.1"));
    let dates = save(&mut set, &Backups::new(When::Always));
    assert!(said(&set, "2026-01-01").contains(&dates[0]));
    let dated = backups_folder(&main(&set)).join(&dates[0]);
    fs::write(dated.join("s-1.xml"), "x").unwrap();
    assert!(said(&set, &dates[0]).contains("changed since"));
    // A list that leads out of the folder is not followed.
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

/// Whatever fails while copies are taken or put back: nothing is replaced, or all of it will be.
#[test]
fn a_failure_at_any_operation_leaves_one_state_or_the_other() {
    let (mut failures, mut finished) = (0, 0);
    for at in 0.. {
        let mut set = pair();
        let before = own(&set);
        set.set(&[0, 2], Field::Priority, Some("0.1"));
        let dates = save(&mut set, &Backups::new(When::Always));
        let after = own(&set);
        let restoring = restoring(&main(&set), &dates[0]).unwrap();
        let gate = Fault(AtomicUsize::new(at));
        let Err(error) = run(&restoring, true, &set, &gate) else { break };
        assert!(matches!(error.reason, Reason::NoRoom { .. } | Reason::Unfinished { .. }), "{error}");
        failures += 1;
        let has_record = set.path(".sited.commit").exists();
        finished += usize::from(has_record);
        let expected = if has_record { before } else { after };
        assert!(has_record || sets(&main(&set)).len() == 1, "{at}: no set of a restore that came to nothing");
        set.recover("index.xml");
        assert!(own(&set) == expected, "{at}: {:?}", own(&set).keys());
    }
    assert!(failures > 15 && finished > 2, "{failures} {finished}");
}

const DEATH_TEST: &str = "files::backup::tests::a_process_that_dies_while_it_puts_back_leaves_one_state_or_the_other";

/// A real process dies at every operation of a restore: what opens the set next finds it as it was before it, or after.
#[test]
fn a_process_that_dies_while_it_puts_back_leaves_one_state_or_the_other() {
    if let Ok(told) = std::env::var(DEATH) {
        let (at, folder) = told.split_once(' ').unwrap();
        let index = Path::new(folder).join("index.xml");
        let set = Sitemaps::open(Path::new(folder), "index.xml");
        let restoring = restoring(&index, &sets(&index)[0].date).unwrap();
        drop(run(&restoring, true, &set, &Death(AtomicUsize::new(at.parse().unwrap()))).unwrap());
        return;
    }
    let (mut deaths, mut finished) = (0, 0);
    for at in 0.. {
        let mut set = pair();
        let before = own(&set);
        set.set(&[0, 2], Field::Priority, Some("0.1"));
        save(&mut set, &Backups::new(When::Always));
        let after = own(&set);
        if survives(DEATH_TEST, &format!("{at} {}", set.path("").display())) {
            assert_eq!(own(&set), before);
            break;
        }
        deaths += 1;
        finished += usize::from(set.path(".sited.commit").exists());
        let main = main(&set);
        set.recover("index.xml");
        crate::files::index_contents::sweep_beside(main.parent().unwrap(), [&*set.path("s-1.xml")].into_iter());
        let now = own(&set);
        assert!(now == before || now == after, "{at}: {:?}", now.keys());
        // Whatever was half-made, the way back is there still.
        assert!(!sets(&main).is_empty());
    }
    assert!(deaths > 15 && finished > 2, "{deaths} {finished}");
}

/// Signals and short writes are no failures.
#[test]
fn what_is_put_back_is_what_was_kept() {
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
        let before = own(&set);
        set.set(&[0, 2], Field::Priority, Some("0.1"));
        let dates = save(&mut set, &Backups::new(When::Always));
        let restoring = restoring(&main(&set), &dates[0]).unwrap();
        run(&restoring, true, &set, &Short(AtomicUsize::new(at))).unwrap();
        assert_eq!(own(&set), before, "{at}");
    }
}

#[test]
fn the_oldest_go_and_what_stays_can_be_put_back() {
    let mut set = pair();
    let backups = Backups::new(When::Always);
    let mut states = Vec::new();
    for value in ["0.1", "0.2", "0.3", "0.4"] {
        states.push(own(&set));
        set.set(&[0], Field::Priority, Some(value));
        save(&mut set, &backups);
    }
    let before = sets(&main(&set));
    assert!(prune(&main(&set), 9).unwrap().is_empty());
    assert_eq!(prune(&main(&set), 2).unwrap(), before[..2]);
    assert_eq!(sets(&main(&set)), before[2..]);
    assert!(incomplete(&main(&set)).unwrap().is_empty());
    run(&restoring(&main(&set), &before[2].date).unwrap(), false, &set, &AllowAll).unwrap();
    assert_eq!(own(&set), states[2]);
}

/// Clocks are put back, by hand or by the network: what was kept later is the later one all the same.
#[test]
fn a_clock_that_jumps_changes_no_order_and_loses_no_set() {
    let mut set = pair();
    let backups = Backups::new(When::Always);
    let noon = set.now.seconds;
    let mut states = Vec::new();
    for (value, jump) in [("0.1", 0), ("0.2", -86_400), ("0.3", 300_000_000), ("0.4", -1), ("0.5", -86_400)] {
        states.push(own(&set));
        set.now.seconds = noon + jump;
        set.set(&[0], Field::Priority, Some(value));
        assert_eq!(save(&mut set, &backups).len(), 1, "at {jump}");
    }
    let sets = sets(&main(&set));
    assert_eq!(sets.len(), 5);
    for (dated, state) in sets.iter().zip(&states).rev() {
        run(&restoring(&main(&set), &dated.date).unwrap(), false, &set, &AllowAll).unwrap();
        assert_eq!(&own(&set), state, "{}", dated.date);
    }
}

/// Why a backup is not signed is told with the save, not found out when it is to be restored.
#[test]
fn a_backup_without_a_key_is_said_to_be_unsigned() {
    let mut set = pair();
    fs::write(set.path("file"), "").unwrap();
    for (state, why) in [(None, "no state folder: HOME"), (Some(set.path("file")), "no key can be read or made in")] {
        set.set(&[0], Field::Priority, Some(if state.is_none() { "0.1" } else { "0.2" }));
        let mode = SaveMode { backups: Backups::new(When::Always), state, ..set.mode() };
        let plan = set.plan();
        let saved = save_as_asked(&plan, &mut set.disk, &mode, &Progress::default()).unwrap();
        let unsigned = saved.unsigned.unwrap_or_default();
        assert!(unsigned.contains(why), "{unsigned}");
        (set.document, set.saved) = (saved.document.clone(), saved.document.clone());
    }
    assert!(sets(&main(&set)).iter().all(|set| !set.is_authentic));
    set.set(&[0], Field::Priority, Some("0.3"));
    let mode = SaveMode { backups: Backups::new(When::Always), ..set.mode() };
    let plan = set.plan();
    assert_eq!(save_as_asked(&plan, &mut set.disk, &mode, &Progress::default()).unwrap().unsigned, None);
}
