//! What an interrupted save has left: finished by whoever comes next, or named, and never trusted too far.

use super::faults::{Fault, save_with};
use super::scenarios::{SCENARIOS, Scenario, has_record, one_value};
use super::*;
use crate::files::fixture::{Set, urlset};
use std::fs;
use std::sync::atomic::Ordering;

/// An interrupted save is finished, and that is interrupted too, anywhere.
#[test]
fn finishing_can_fail_anywhere_and_be_finished() {
    let mut failures = 0;
    for scenario in &SCENARIOS {
        let (_, new) = scenario.outcomes();
        for at in 0.. {
            let Some(set) = interrupted(scenario) else { break };
            let failed = record::recover_through(&Fault::full(at), &set.path(scenario.first())).is_err();
            failures += usize::from(failed);
            record::recover(&set.path(scenario.first())).unwrap();
            assert_eq!(set.files(), new, "{} {at}", scenario.name);
            if !failed {
                break;
            }
        }
    }
    assert!(failures > 20, "{failures}");
}

/// A save that fails right after its record was written.
fn interrupted(scenario: &Scenario) -> Option<Set> {
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

/// Two sets in one folder: the second one's save finishes what the first one's left, and does not forget it.
#[test]
fn a_save_finishes_what_another_set_in_the_folder_has_left() {
    let scenario = &SCENARIOS[2];
    let (_, new) = scenario.outcomes();
    let set = interrupted(scenario).unwrap();
    let mut other = Set::new(&[("other.xml", urlset(&["https://e.com/1"]).as_bytes())]);
    one_value(&mut other);
    let target = set.path("other.xml");
    let (plan, mut disk) = (other.plan_to(Some(&target)), Disk::default());
    super::save(&plan, &mut disk, false, &Progress::default()).unwrap();
    let mut now = set.files();
    assert!(now.remove("other.xml").is_some());
    assert!(now == new, "{:?}", set.names());
}

type Spoil<'s> = &'s dyn Fn(&Set);

#[test]
fn a_record_that_cannot_be_finished_is_named_and_changes_nothing() {
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
    let text = |set: &Set| fs::read_to_string(set.path(".sited.commit")).unwrap();
    let foreign = urlset(&["https://e.com/foreign"]);
    let spoilt: [(&str, Spoil<'_>); 5] = [
        ("changed by somebody else", &|set| fs::write(set.path("index.xml"), &foreign).unwrap()),
        ("lost its new content", &|set| {
            let temporary = set.files().into_keys().find(|name| name.starts_with(".index.xml.")).unwrap();
            fs::remove_file(set.path(&temporary)).unwrap();
        }),
        ("cannot be finished", &|set| fs::write(set.path(".sited.commit"), &text(set)[..40]).unwrap()),
        ("form 9", &|set| {
            let newer = text(set).replace("\"version\": 1", "\"version\": 9");
            fs::write(set.path(".sited.commit"), newer).unwrap();
        }),
        ("cannot be finished", &|set| fs::write(set.path(".sited.commit"), b"\xff\0").unwrap()),
    ];
    for (why, spoil) in spoilt {
        let set = interrupted();
        spoil(&set);
        let before = set.files();
        let error = record::recover(&set.path("index.xml")).unwrap_err();
        assert!(error.to_string().contains(why) && error.hint().is_some(), "{error}");
        assert_eq!(set.files(), before, "{why}");
    }
}

/// A record that came with a folder from somewhere puts no file outside of that folder, and removes none there.
#[cfg(unix)]
#[test]
fn a_record_of_somebody_else_reaches_no_other_folder() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap();
    let home = folder.join("home");
    fs::create_dir_all(folder.join("theirs/in")).unwrap();
    fs::create_dir(&home).unwrap();
    fs::write(home.join("precious"), "mine").unwrap();
    fs::write(folder.join("theirs/new"), "theirs").unwrap();
    std::os::unix::fs::symlink(&home, folder.join("theirs/link")).unwrap();
    std::os::unix::fs::symlink(home.join("precious"), folder.join("theirs/file")).unwrap();
    let content = |text: &str| {
        format!("{{\"len\":{},\"hash\":{}}}", text.len(), crate::files::disk::fingerprint(text.as_bytes()))
    };
    let (new, old) = (content("theirs"), content("mine"));
    let absolute = home.join("precious").display().to_string();
    for target in [absolute.as_str(), "../home/precious", "in/../../home/precious", "link/precious", "file"] {
        for (in_place, stamp) in
            [(true, "null"), (false, "null"), (false, "{\"device\":1,\"inode\":2,\"changed\":[3,4]}")]
        {
            let file = format!(
                "{{\"temporary\":\"new\",\"target\":\"{target}\",\"new\":{new},\"old\":{old},\"in_place\":{in_place},\"stamp\":{stamp}}}"
            );
            let gone = format!("{{\"target\":\"{target}\",\"old\":{old},\"stamp\":{stamp}}}");
            for (files, removed) in [(file, String::new()), (String::new(), gone)] {
                let record = format!("{{\"version\":1,\"files\":[{files}],\"removed\":[{removed}]}}");
                fs::write(folder.join("theirs/.sited.commit"), record).unwrap();
                let done = record::recover(&folder.join("theirs/sitemap.xml"));
                assert_eq!(done.is_err(), removed.is_empty(), "{target}: {done:?}");
                assert_eq!(fs::read(home.join("precious")).unwrap(), b"mine", "{target}");
            }
        }
    }
}
