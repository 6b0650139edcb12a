//! Measures a save of all files after a change of all rows, compared with `cp -r` and `sync` of the same bytes.

use super::generate::Set;
use super::report::{Report, resident, time};
use super::{open, run};
use sited::session::Session;
use sited::session::store::save;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Maximum memory of a save in bytes, in addition to the set.
const MAX_MEMORY: u64 = 64 << 20;

/// Saves all rows, alternately with the yardstick, so that both run under the same conditions.
pub(crate) fn measure(set: &Set, session: &mut Session, rounds: u32, report: &mut Report) {
    let (mut copy, mut save, mut none) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let folder = set.index.parent().expect("a set has a folder");
    for round in 0..rounds.clamp(1, 3) {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("make a folder");
        copy = copy.min(time(|| copied(folder, place.path())).0);
        drop(place);
        run(session, &format!("set priority=0.{}", 2 + round % 7));
        save = save.min(time(|| save::now(session, None, false).expect("the set can be saved")).0);
        none = none.min(time(|| save::now(session, None, false).expect("the set can be saved")).0);
    }
    report.time("cp -r and sync of the set (the yardstick)", copy, None);
    report.time(
        "save all rows after a change of all, read back",
        save,
        Some(copy * if set.urls < 10_000_000 { 3 } else { 2 }),
    );
    report.time("save when nothing has changed", none, None);
    memory(set, report);
}

/// Copies a folder and waits until the copy is on the disk.
pub(crate) fn copied(from: &Path, to: &Path) {
    for (program, words) in [("cp", vec![Path::new("-r"), from, to]), ("sync", vec![])] {
        let status = Command::new(program).args(words).status();
        assert!(status.is_ok_and(|status| status.success()), "{program} works");
    }
}

/// Measures the memory of a process that opens the set, changes every row and saves.
fn memory(set: &Set, report: &mut Report) {
    let this = std::env::current_exe().expect("know where this program is");
    let output = Command::new(this).arg("--saving").arg(&set.index).output().expect("start it again");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().map_while(|number| number.parse().ok()).collect();
    if let [before, peak] = numbers[..] {
        report.bytes("memory of a save, above the changed set", peak.saturating_sub(before), Some(MAX_MEMORY));
    }
}

/// Prints the resident memory before a save of all rows, and its peak.
pub(crate) fn print_memory(index: &Path) {
    let mut session = open(index).0;
    run(&mut session, "set priority=0.9");
    // Resets the peak of the load (proc(5), clear_refs).
    let is_reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = resident().filter(|_| is_reset);
    save::now(&mut session, None, false).expect("the set can be saved");
    if let (Some(before), Some(after)) = (before, resident()) {
        println!("{} {}", before.now, after.peak);
    }
}
