//! Checks the result of a fault: nothing is lost, and every failure is reported.

use super::cases::{Case, Then};
use super::shot::Shot;
use super::strace::{self, Fault, How, Points, Run};
use crate::support::{Folder, run, stderr, stdout};
use std::collections::BTreeSet;

/// What came of a fault that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Failed,
    Succeeded,
    Killed,
}

/// What a set was when an interrupted save was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Read,
    Old,
    New,
}

/// A folder in which a case is run, and how its runs look without faults.
pub(super) struct Scene {
    pub case: Case,
    folder: Folder,
    before: Shot,
    old: Shot,
    new: Shot,
    sound: Run,
    pub points: Points,
}

impl Scene {
    pub(super) fn new(case: Case) -> Self {
        let folder = Folder::new();
        (case.make)(&folder);
        let before = Shot::of(&folder);
        let counted = strace::run(&folder, (case.arguments, case.is_streamed), None);
        let after = Shot::of(&folder);
        let names: BTreeSet<_> = before.names().chain(after.names()).cloned().collect();
        let points = Points::of(&counted, &folder, &names);
        assert!(counted.status.is_some() && !counted.stderr.contains("panicked"), "{}: {}", case.name, counted.stderr);
        let mut scene = Self { old: before.set(), new: after.set(), case, folder, before, sound: counted, points };
        if let Then::Reads = scene.case.then {
            assert!(scene.before == after, "{} changes {}", scene.case.name, scene.before.difference(&after));
            return scene;
        }
        assert_eq!(scene.sound.status, Some(0), "{}: {}", scene.case.name, scene.sound.stderr);
        if scene.case.is_pending {
            // Who fails before the interrupted save is finished leaves that to the next.
            scene.reset();
            if let Then::Changes(finish) = scene.case.then {
                assert!(run(&scene.folder, finish).status.success());
            }
            scene.old = Shot::of(&scene.folder).set();
        }
        let is_changed = scene.old != scene.new || scene.case.name.starts_with("recover");
        assert!(is_changed, "{} changes nothing: {}", scene.case.name, scene.sound.stderr);
        scene
    }

    fn reset(&self) {
        self.before.put(&self.folder);
        if self.case.is_pending {
            for entry in std::fs::read_dir(self.folder.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.file_name().is_some_and(|name| name != ".home") {
                    std::fs::remove_file(path).unwrap();
                }
            }
            (self.case.make)(&self.folder);
        }
    }

    /// Runs the case with a fault; nothing if the fault was not met.
    ///
    /// # Errors
    /// With what does not hold.
    pub(super) fn hit(&self, fault: &Fault) -> Result<Option<(Outcome, Content)>, String> {
        self.reset();
        let before = Shot::of(&self.folder);
        let run = strace::run(&self.folder, (self.case.arguments, self.case.is_streamed), Some(fault));
        if run.hangs {
            return Err("it hangs".to_owned());
        }
        if !run.was_met() {
            return Ok(None);
        }
        let outcome = match run.status {
            None => Outcome::Killed,
            Some(0) => Outcome::Succeeded,
            status if status == self.sound.status => Outcome::Succeeded,
            Some(_) => Outcome::Failed,
        };
        let content = self.judge(fault, &run, outcome, &before).map_err(|why| {
            let injected: String = run.injected().take(4).flat_map(|line| ["\n    ", line]).collect();
            let said = run.stderr.trim_end().replace('\n', "\n    > ");
            format!("{why}\n    status {:?}{injected}\n    > {said}", run.status)
        })?;
        Ok(Some((outcome, content)))
    }

    fn judge(&self, fault: &Fault, run: &Run, outcome: Outcome, before: &Shot) -> Result<Content, String> {
        if run.stderr.contains("panicked") || run.status == Some(101) {
            return Err("it panics".to_owned());
        }
        if run.status.is_none() && fault.how != How::Kill {
            return Err("it dies of a signal".to_owned());
        }
        let is_message_lost = run.injected().any(|line| line.contains("write(2<"));
        if outcome == Outcome::Failed && run.stderr.trim().is_empty() && !is_message_lost {
            return Err("it fails without a message".to_owned());
        }
        match self.case.then {
            Then::Reads => self.judge_reading(run, outcome, before, is_message_lost).map(|()| Content::Read),
            Then::Changes(finish) => self.judge_change(run, outcome, finish),
            Then::Makes(home) => self.judge_making(run, outcome, home),
        }
    }

    fn judge_reading(&self, run: &Run, outcome: Outcome, before: &Shot, is_message_lost: bool) -> Result<(), String> {
        let after = Shot::of(&self.folder);
        if after != *before {
            return Err(format!("reading changed {}", before.difference(&after)));
        }
        // What cannot be done, and what is not known to be this user's, is in the result itself.
        let is_told = ["not possible: it cannot be", "its commit record cannot be read", "your key"];
        let is_told = is_told.iter().any(|words| {
            let is_in = |run: &Run| run.stdout.contains(words) || run.stderr.contains(words);
            is_in(run) && !is_in(&self.sound)
        });
        if outcome == Outcome::Succeeded && run.stdout != self.sound.stdout && !is_told {
            return Err(format!("another output with the same status:\n{}", run.stdout));
        }
        let missing = self.sound.stderr.lines().find(|line| !run.stderr.contains(line));
        match missing.filter(|_| !is_told && outcome == Outcome::Succeeded && !is_message_lost) {
            Some(line) => Err(format!("it does not say: {line}")),
            None => Ok(()),
        }
    }

    fn judge_change(&self, run: &Run, outcome: Outcome, finish: &[&str]) -> Result<Content, String> {
        let had_record = Shot::of(&self.folder).has_record();
        self.finish(run, finish, had_record)?;
        let after = Shot::of(&self.folder);
        let content = self.content(&after)?;
        let is_of_before = self.case.is_pending && content == Content::Old;
        match outcome {
            Outcome::Succeeded if content == Content::Old => {
                return Err("it succeeds and the set is the old one".to_owned());
            }
            // The rename of a single file cannot be taken back: that it may not last is reported.
            Outcome::Failed if content == Content::New && !had_record && !is_of_before && !is_after_rename(run) => {
                let is_same = self.old == self.new;
                return if is_same { Ok(content) } else { Err("it fails and the set is the new one".to_owned()) };
            }
            _ => {}
        }
        self.check_backups(run)?;
        if self.case.name.starts_with("journal") && content == Content::Old {
            // The changes wait as before.
            let again = crate::support::run(&self.folder, self.case.arguments);
            if !again.status.success() || Shot::of(&self.folder).set() != self.new {
                return Err(format!("given again it does not apply the journal: {}", stderr(&again)));
            }
            check_temporaries(&Shot::of(&self.folder))?;
        }
        Ok(content)
    }

    /// Has an interrupted save finished.
    fn finish(&self, before: &Run, finish: &[&str], had_record: bool) -> Result<(), String> {
        let finished = run(&self.folder, finish);
        if !finished.status.success() {
            let is_key = before.injected().any(|line| line.contains("/.home/state")) || before.status.is_none();
            let is_unsigned = stderr(&finished).contains("does not authenticate");
            if !(had_record && is_key && is_unsigned) {
                return Err(format!("{finish:?} fails: {}", stderr(&finished)));
            }
            let recovered = run(&self.folder, &["recover", finish[1], "--finish"]);
            if !recovered.status.success() {
                return Err(format!("recover fails: {}{}", stdout(&recovered), stderr(&recovered)));
            }
        }
        let after = Shot::of(&self.folder);
        if after.has_record() {
            return Err("the record is still there".to_owned());
        }
        // What a killed run has left goes with the next that writes, which the case itself is here.
        if self.case.name.starts_with("journal") { Ok(()) } else { check_temporaries(&after) }
    }

    fn content(&self, after: &Shot) -> Result<Content, String> {
        let set = after.set();
        if set == self.new {
            Ok(Content::New)
        } else if set == self.old {
            Ok(Content::Old)
        } else {
            let (old, new) = (self.old.difference(&set), self.new.difference(&set));
            Err(format!("neither old nor new: {old}differ from the old one, {new}from the new one"))
        }
    }

    /// Each backup that is listed can be put back, and is what the set was.
    fn check_backups(&self, before: &Run) -> Result<(), String> {
        if !self.folder.file("sitemap.xml.bak").exists() {
            return Ok(());
        }
        let listed = run(&self.folder, &["restore", "sitemap.xml"]);
        if !listed.status.success() {
            return Err(format!("backups cannot be listed: {}", stderr(&listed)));
        }
        let listed = stdout(&listed);
        let dates: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        if !dates.iter().any(|date| date.starts_with("2026-11-18")) {
            return Err(format!("the backup of before is gone: {listed}"));
        }
        for date in &dates {
            let mut restored = run(&self.folder, &["restore", "sitemap.xml", "--set", date]);
            if before.injected().any(|line| line.contains("/.home/state")) && stderr(&restored).contains("your key") {
                // A backup is made also where the key cannot be read; then the user is asked.
                restored = run(&self.folder, &["restore", "sitemap.xml", "--set", date, "--unverified"]);
            }
            if !restored.status.success() {
                return Err(format!("the backup {date} cannot be restored: {}", stderr(&restored)));
            }
            if date.starts_with("2026-11-20") && Shot::of(&self.folder).set() != self.old {
                return Err(format!("the backup {date} is not what the set was"));
            }
        }
        Ok(())
    }

    fn judge_making(&self, run: &Run, outcome: Outcome, home: &str) -> Result<Content, String> {
        let had_record = Shot::of(&self.folder).has_record();
        if had_record {
            let recovered = crate::support::run(&self.folder, &["recover", home, "--finish"]);
            if !recovered.status.success() {
                return Err(format!("recover fails: {}{}", stdout(&recovered), stderr(&recovered)));
            }
        }
        let content = self.content(&Shot::of(&self.folder))?;
        match (outcome, content) {
            (Outcome::Succeeded, Content::Old) => return Err("it succeeds and nothing was made".to_owned()),
            (Outcome::Failed, Content::New) if !had_record && !is_after_rename(run) => {
                return Err("it fails and everything was made".to_owned());
            }
            _ => {}
        }
        if content == Content::Old {
            self.finish(run, self.case.arguments, had_record)?;
            if self.content(&Shot::of(&self.folder))? == Content::Old {
                return Err("given again it makes nothing".to_owned());
            }
        }
        check_temporaries(&Shot::of(&self.folder))?;
        Ok(content)
    }
}

fn check_temporaries(after: &Shot) -> Result<(), String> {
    // Those in a backup that was interrupted are a part of it: `restore` says that nothing needs it.
    let mut left = after.temporaries();
    left.retain(|path| !path.to_string_lossy().contains(".bak/"));
    match left.as_slice() {
        [] => Ok(()),
        left => Err(format!("temporary files are left: {left:?}")),
    }
}

/// Whether an error came after the rename of a single file, which stays, or when the applied journal was to be removed.
fn is_after_rename(run: &Run) -> bool {
    // The hint for a folder that is mounted read-only takes the place of what was being done.
    ["may not survive a crash", "which is in its place", "mounted read-only", ".journal: cannot remove"]
        .iter()
        .any(|words| run.stderr.contains(words))
}
