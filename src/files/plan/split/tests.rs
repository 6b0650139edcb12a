//! Tests of splits on disk: several indexes, and leftovers of an earlier split.

use super::*;
use crate::files::Disk;
use crate::files::fixture::{TestSet, urlset};
use crate::files::save::faults::{DEATH, Death, Fault, Kind, survives};
use crate::files::save::save_with_gate;
use crate::files::save_with_mode;
use std::sync::atomic::AtomicUsize;

/// Ten rows.
fn set() -> TestSet {
    let locs: Vec<String> = (0..10).map(|number| format!("https://e.com/{number}")).collect();
    TestSet::new(&[("all.xml", urlset(&locs.iter().map(String::as_str).collect::<Vec<_>>()).as_bytes())])
}

/// Plans a split into the folder `out`; returns the plan, the known state of the files there and the leftovers.
fn planned(set: &TestSet, limits: Limits, prune: bool) -> (Plan, Disk, Leftovers) {
    let groups = [(String::new(), set.document.live_rows().map(|row| row.0).collect())];
    let folder = set.path("out");
    let (plan, left) = split(&Split {
        document: &set.document,
        groups: &groups,
        folder: &folder,
        name: "sitemap-{n}.xml",
        gzip: false,
        base_url: "https://e.com/",
        limits,
        prune,
        history: &SplitHistory::load(Some(&set.state()), &folder),
        now: set.now,
    });
    let mut disk = Disk::default();
    for output in plan.outputs.iter().filter(|output| output.action == Action::Removed) {
        disk.record_state(&output.path).unwrap();
    }
    (plan, disk, left)
}

/// Splits; returns the messages and the leftover names.
fn split_into(set: &TestSet, limits: Limits, prune: bool) -> (Vec<String>, Vec<String>) {
    let (plan, mut disk, left) = planned(set, limits, prune);
    save_with_mode(&plan, &mut disk, &set.mode(), &Progress::default()).unwrap();
    let mut history = SplitHistory::load(Some(&set.state()), &set.path("out"));
    history.add(plan.outputs.iter().map(|output| &*output.name));
    (plan.losses, left.removable)
}

fn index_of(set: &TestSet, name: &str) -> Vec<String> {
    let text = set.read(&format!("out/{name}"));
    let locs = text.split("<loc>https://e.com/").skip(1).filter_map(|rest| rest.split('<').next());
    locs.map(str::to_owned).collect()
}

#[test]
fn an_index_over_a_limit_is_split_and_reported() {
    for limits in [
        Limits { urls: 2, parts: 2, ..Limits::default() },
        // Enough bytes for two entries of about 100 bytes and the frame.
        Limits { urls: 2, index_bytes: 380, ..Limits::default() },
    ] {
        let mut set = set();
        let (messages, _) = split_into(&set, limits, false);
        let name = |number: u32| format!("sitemap-{number}.xml");
        assert_eq!(index_of(&set, "sitemap_index.xml"), [name(1), name(2)]);
        assert_eq!(index_of(&set, "sitemap_index-2.xml"), [name(3), name(4)]);
        assert_eq!(index_of(&set, "sitemap_index-3.xml"), [name(5)]);
        assert!(messages[0].contains("3 indexes") && messages[0].contains("sitemap_index-3.xml"), "{messages:?}");
        for index in ["sitemap_index.xml", "sitemap_index-2.xml"] {
            let bytes = set.files()[&format!("out/{index}")].len() as u64;
            assert!(bytes <= limits.index_bytes, "{bytes}");
        }
        // Each index can be opened as a set.
        let mut locs = Vec::new();
        for index in ["sitemap_index.xml", "sitemap_index-2.xml", "sitemap_index-3.xml"] {
            set.load(&format!("out/{index}"));
            locs.extend(set.locs());
        }
        assert_eq!(locs, (0..10).map(|number| format!("https://e.com/{number}")).collect::<Vec<_>>());
    }
}

#[test]
fn leftovers_of_a_longer_split_are_reported_and_removed_on_request() {
    let set = set();
    split_into(&set, Limits { urls: 2, parts: 2, ..Limits::default() }, false);
    let before = set.files();
    // Repeating the split touches no file.
    split_into(&set, Limits { urls: 2, parts: 2, ..Limits::default() }, false);
    assert_eq!(set.files(), before);
    let fewer = Limits { urls: 5, parts: 2, ..Limits::default() };
    let (messages, left) = split_into(&set, fewer, false);
    let orphans = ["sitemap-3.xml", "sitemap-4.xml", "sitemap-5.xml", "sitemap_index-2.xml", "sitemap_index-3.xml"];
    assert_eq!((messages.len(), left), (0, orphans.map(str::to_owned).to_vec()));
    assert_eq!(set.names().len(), before.len(), "leftovers are kept");
    // The shorter index no longer lists them; other files are kept, whatever their name and content.
    std::fs::write(set.path("out/sitemap-x.xml"), set.read("all.xml")).unwrap();
    std::fs::write(set.path("out/sitemap-8.xml"), set.read("all.xml")).unwrap();
    std::fs::write(set.path("out/sitemap-9.xml"), "no sitemap").unwrap();
    let (_, _, left) = planned(&set, fewer, true);
    assert_eq!((left.removable.len(), left.unknown), (0, vec!["sitemap-8.xml".to_owned()]));
    let (_, left) = split_into(&set, fewer, true);
    assert_eq!(left.len(), 0);
    let names =
        ["sitemap-1.xml", "sitemap-2.xml", "sitemap-8.xml", "sitemap-9.xml", "sitemap-x.xml", "sitemap_index.xml"];
    let kept = set.names().into_iter().filter_map(|name| name.strip_prefix("out/").map(str::to_owned));
    assert_eq!(kept.collect::<Vec<_>>(), names);
}

/// Without a readable index the files of an earlier split are unknown: they would be kept without a report.
#[cfg(unix)]
#[test]
fn a_split_over_an_index_that_cannot_be_read_is_refused() {
    let set = set();
    std::fs::create_dir(set.path("out")).unwrap();
    std::os::unix::fs::symlink("sitemap_index.xml", set.path("out/sitemap_index.xml")).unwrap();
    let (plan, _, _) = planned(&set, Limits { urls: 2, ..Limits::default() }, true);
    let problem = plan.problems.iter().find(|problem| problem.message.contains("sitemap_index.xml"));
    assert!(problem.is_some_and(|problem| problem.message.contains("earlier split")), "{:?}", plan.problems);
}

const DEATH_TEST: &str =
    "files::plan::split::tests::a_process_that_dies_while_it_splits_leaves_the_longer_split_or_the_shorter_one";

/// A real process dies at every operation of a split that replaces a longer one and removes its surplus parts.
#[test]
fn a_process_that_dies_while_it_splits_leaves_the_longer_split_or_the_shorter_one() {
    let limits = |urls| Limits { urls, parts: 2, ..Limits::default() };
    if let Ok(instructions) = std::env::var(DEATH) {
        let (at, folder) = instructions.split_once(' ').unwrap();
        let set = TestSet::open(std::path::Path::new(folder), "all.xml");
        let (plan, mut disk, _) = planned(&set, limits(4), true);
        let mode = set.mode();
        let death = Death(AtomicUsize::new(at.parse().unwrap()));
        drop(save_with_gate(&death, &plan, &mut disk, &mode, &Progress::default()).unwrap());
        return;
    }
    let (mut deaths, mut finished) = (0, 0);
    for at in 0.. {
        let set = set();
        split_into(&set, limits(2), false);
        let old = set.files();
        if survives(DEATH_TEST, &format!("{at} {}", set.path("").display())) {
            break;
        }
        deaths += 1;
        let index = set.path("out/sitemap_index.xml");
        let has_record = set.recover("out/sitemap_index.xml").is_some();
        finished += usize::from(has_record);
        crate::files::index_contents::sweep_beside(&set.path("out"), [&*index].into_iter());
        let now = set.files();
        let new = {
            split_into(&set, limits(4), true);
            set.files()
        };
        assert!(now == new || (now == old && !has_record), "{at}: {:?}", now.keys());
    }
    assert!(deaths > 15 && finished > 3, "{deaths} {finished}");
}

/// A full disk, a signal or a short write at every operation of such a split.
#[test]
fn a_failed_split_changes_nothing_or_is_finished_by_the_next_start() {
    let limits = |urls| Limits { urls, parts: 2, ..Limits::default() };
    for kind in [Kind::Error(28), Kind::Interrupted, Kind::Short] {
        let (mut failures, mut finished) = (0, 0);
        for at in 0.. {
            let set = set();
            split_into(&set, limits(2), false);
            let old = set.files();
            let (plan, mut disk, _) = planned(&set, limits(4), true);
            let mode = set.mode();
            let fault = Fault::at(at, kind);
            let result = save_with_gate(&fault, &plan, &mut disk, &mode, &Progress::default());
            let seen = set.files();
            let has_record = set.recover("out/sitemap_index.xml").is_some();
            let now = set.files();
            split_into(&set, limits(4), true);
            let new = set.files();
            match result {
                Ok(_) => assert_eq!(now, new, "{kind:?} {at}"),
                Err(_) if has_record => assert_eq!(now, new, "{kind:?} {at}: a started save is finished"),
                Err(_) => assert!(seen == old || now == new, "{kind:?} {at}: {:?}", seen.keys()),
            }
            failures += usize::from(result.is_err());
            finished += usize::from(result.is_err() && has_record);
            if !fault.has_fired() {
                break;
            }
        }
        let fails = matches!(kind, Kind::Error(_));
        assert_eq!((failures > 15, finished > 3), (fails, fails), "{kind:?}: {failures} {finished}");
    }
}
