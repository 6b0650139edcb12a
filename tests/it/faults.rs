//! Fault injection into system calls of every command: the set is the old one or the new one.
//!
//! Whatever was not done is reported.
//!
//! `SITED_FAULTS` says how many faults, `SITED_FAULTS_SEED` which ones, `SITED_FAULTS_CASES` of which commands (words of
//! their names with commas between them). Without them a few, so that the suite stays quick. It takes `strace`.

mod cases;
mod judge;
mod shot;
mod strace;
mod table;

use judge::Scene;
use std::collections::VecDeque;
use std::sync::Mutex;
use strace::{Fault, How, Random};
use table::Table;

/// Faults without `SITED_FAULTS`.
const FEW: u32 = 100;

/// Faults that are tried for one that is met: threads share their work differently each time.
const TRIES: u32 = 4;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

/// Faults that were kept quiet, or left something behind, when they were first tried.
const KNOWN: &[(&str, &str, How, &str)] = &[
    // The list of backups was empty, and a restore would have gone without one of them.
    ("restore (list)", "read", How::Error("EIO"), "sitemap.xml.bak/2026-11-18T00-00-00Z/.backup.json"),
    ("restore", "getdents64", How::Error("EIO"), "sitemap.xml.bak"),
    // The same, where the program then reported that nothing was pending.
    ("recover (show)", "statx", How::Error("EIO"), ".sited.commit"),
    // A part was not removed, and nothing said so.
    ("split (over longer, prune)", "statx", How::Error("EACCES"), "out/sitemap-6.xml"),
    // The record was taken for missing, and its half-saved set for a whole one.
    ("set (over pending)", "statx", How::Error("EIO"), ".sited.commit"),
    ("check (pending)", "statx", How::Error("EIO"), ".sited.commit"),
    // The record was removed, and the new files that it names were left without a word.
    ("recover (discard)", "read", How::Error("EIO"), ".sited.commit"),
    ("recover (discard)", "flock", How::Error("EINTR"), ".sited.commit"),
    ("recover (discard)", "statx", How::Error("EACCES"), ".sited.commit"),
];

#[test]
fn faults_that_lost_data_stay_fixed() {
    if !strace::is_usable() {
        eprintln!("SKIPPED: faults are injected by strace, which is not installed here or may not trace");
        return;
    }
    for (name, call, how, path) in KNOWN {
        let case = cases::all().into_iter().find(|case| case.name == *name).expect("a case of this name");
        let scene = Scene::new(case);
        for lasts in [false, true] {
            let fault = Fault { call, how: *how, at: 1, lasts, path: Some(path.into()) };
            let outcome = scene.hit(&fault).unwrap_or_else(|why| panic!("{name} ({fault}): {why}"));
            assert!(outcome.is_some(), "{name} ({fault}) is not met");
        }
    }
}

#[test]
fn a_fault_in_any_command_loses_nothing_and_is_reported() {
    if !strace::is_usable() {
        eprintln!("SKIPPED: faults are injected by strace, which is not installed here or may not trace");
        return;
    }
    let wanted = std::env::var("SITED_FAULTS_CASES").unwrap_or_default();
    let mut cases = cases::all();
    cases.retain(|case| wanted.split(',').any(|word| case.name.contains(word)));
    let faults = number("SITED_FAULTS").map_or(FEW, |number| number as u32);
    let seed = number("SITED_FAULTS_SEED").unwrap_or(1);
    let count = cases.len() as u32;
    // The few are of other commands with each seed; many are distributed evenly.
    let share = |at: u32| faults / count + u32::from((at + seed as u32) % count < faults % count);
    let work: VecDeque<_> = cases.into_iter().zip(0..).map(|(case, at)| (case, share(at), at)).collect();
    let (work, table, wrong) = (Mutex::new(work), Mutex::new(Table::default()), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = work.lock().unwrap().pop_front();
                    let Some((case, share, at)) = next else { return };
                    if share == 0 {
                        continue;
                    }
                    // A generator that begins with a small number needs a while to leave small ones.
                    let mut random = Random(((seed << 32) | (u64::from(at) + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    let scene = Scene::new(case);
                    let mut met = 0;
                    for _ in 0..share * TRIES {
                        if met == share {
                            break;
                        }
                        let fault = scene.points.choose(&mut random);
                        let outcome = scene.hit(&fault);
                        met += u32::from(!matches!(outcome, Ok(None)));
                        let mut table = table.lock().unwrap();
                        match outcome {
                            Ok(outcome) => table.count(scene.case.name, fault.call, outcome),
                            Err(why) => {
                                table.count_wrong(scene.case.name, fault.call);
                                eprintln!("WRONG {} ({fault}): {why}", scene.case.name);
                                wrong.lock().unwrap().push(format!("{} ({fault}): {why}", scene.case.name));
                            }
                        }
                    }
                }
            });
        }
    });
    let (table, wrong) = (table.into_inner().unwrap(), wrong.into_inner().unwrap());
    eprintln!("{}", table.print());
    assert!(wrong.is_empty(), "{} faults are not borne:\n{}", wrong.len(), wrong.join("\n"));
    assert!(table.met() >= u64::from(faults) / 2, "most faults are not met");
}
