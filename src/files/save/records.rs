//! Tests of commit records: an interrupted save is finished or reported, and forged records are refused.

use super::faults::{Fault, save_with};
use super::scenarios::{SCENARIOS, Scenario, has_record, one_value};
use super::*;
use crate::files::fixture::{TestSet, urlset};
use std::fs;
use std::sync::atomic::Ordering;

/// Finishing an interrupted save is interrupted as well, at any operation.
#[test]
fn an_interrupted_recovery_can_be_repeated() {
    let mut failures = 0;
    for scenario in &SCENARIOS {
        let (_, new) = scenario.outcomes();
        for at in 0.. {
            let Some(set) = interrupted(scenario) else { break };
            let failed =
                record::recover_with_gate(&Fault::full(at), &set.path(scenario.first()), &set.recovery()).is_err();
            failures += usize::from(failed);
            set.recover(scenario.first());
            assert_eq!(set.files(), new, "{} {at}", scenario.name);
            if !failed {
                break;
            }
        }
    }
    assert!(failures > 20, "{failures}");
}

/// A set whose save failed right after its record was written; `None` if the save writes no record.
fn interrupted(scenario: &Scenario) -> Option<TestSet> {
    for at in 0..100 {
        let (mut set, fault) = (scenario.edited(), Fault::full(at));
        if save_with(&fault, &mut set).is_ok() {
            return None;
        }
        if has_record(&set.files()) {
            return Some(set);
        }
    }
    None
}

/// With two sets in one folder, saving the second one first finishes the interrupted save of the first one.
#[test]
fn a_save_first_finishes_that_of_another_set_in_the_folder() {
    let scenario = &SCENARIOS[2];
    let (_, new) = scenario.outcomes();
    let set = interrupted(scenario).unwrap();
    let mut other = TestSet::new(&[("other.xml", urlset(&["https://e.com/1"]).as_bytes())]);
    one_value(&mut other);
    let target = set.path("other.xml");
    let (plan, mut disk) = (other.plan_to(Some(&target)), Disk::default());
    let mode = SaveMode { state: Some(set.state()), ..other.mode() };
    save_with_mode(&plan, &mut disk, &mode, &Progress::default()).unwrap();
    let mut now = set.files();
    assert!(now.remove("other.xml").is_some());
    assert!(now == new, "{:?}", set.names());
}

/// Makes it impossible to finish a save.
type Tamper<'s> = &'s dyn Fn(&TestSet);

#[test]
fn a_record_that_cannot_be_finished_is_reported_and_changes_nothing() {
    let interrupted = || {
        for at in 0..100 {
            let (mut set, fault) = (SCENARIOS[2].edited(), Fault::full(at));
            let _ = save_with(&fault, &mut set);
            // The record itself is the first rename.
            if fault.renames.load(Ordering::SeqCst) == 2 {
                return set;
            }
        }
        panic!("no operation is the rename of the second file")
    };
    let text = |set: &TestSet| fs::read_to_string(set.path(".sited.commit")).unwrap();
    let foreign = urlset(&["https://e.com/foreign"]);
    let cases: [(&str, Tamper<'_>); 5] = [
        ("changed by another program", &|set| fs::write(set.path("index.xml"), &foreign).unwrap()),
        ("its new content is missing", &|set| {
            let temporary = set.files().into_keys().find(|name| name.starts_with(".index.xml.")).unwrap();
            fs::remove_file(set.path(&temporary)).unwrap();
        }),
        ("cannot be read", &|set| fs::write(set.path(".sited.commit"), &text(set)[..40]).unwrap()),
        ("version 9", &|set| {
            let newer = text(set).replace("commit record 2", "commit record 9");
            fs::write(set.path(".sited.commit"), newer).unwrap();
        }),
        ("cannot be read", &|set| fs::write(set.path(".sited.commit"), b"\xff\0").unwrap()),
    ];
    for (why, tamper) in cases {
        let set = interrupted();
        tamper(&set);
        let before = set.files();
        let error = record::recover(&set.path("index.xml"), &set.recovery()).unwrap_err();
        assert!(error.to_string().contains(why) && error.hint().is_some(), "{error}");
        assert_eq!(set.files(), before, "{why}");
    }
}
