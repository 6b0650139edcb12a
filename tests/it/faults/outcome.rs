//! Verifies the result of a fault: nothing is lost, and every failure is reported.

use super::cases::{Case, Effect};
use super::snapshot::Snapshot;
use super::strace::{self, Fault, FaultKind, InjectionPoints, Run};
use crate::support::{Folder, run, stderr, stdout};
use std::collections::BTreeSet;

/// The result of a run whose fault was met, that is, whose system call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Failed,
    Succeeded,
    Killed,
}

/// The content of a set after an interrupted save was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Read,
    Old,
    New,
}

/// A folder in which a case is run, and the results of a run without faults.
pub(super) struct Scene {
    pub case: Case,
    folder: Folder,
    before: Snapshot,
    old: Snapshot,
    new: Snapshot,
    baseline: Run,
    pub points: InjectionPoints,
}

impl Scene {
    pub(super) fn new(case: Case) -> Self {
        let folder = Folder::new();
        (case.make)(&folder);
        let before = Snapshot::of(&folder);
        let counted = strace::run(&folder, (case.arguments, case.is_streamed), None);
        let after = Snapshot::of(&folder);
        let names: BTreeSet<_> = before.names().chain(after.names()).cloned().collect();
        let points = InjectionPoints::of(&counted, &folder, &names);
        assert!(counted.status.is_some() && !counted.stderr.contains("panicked"), "{}: {}", case.name, counted.stderr);
        let mut scene = Self { old: before.set(), new: after.set(), case, folder, before, baseline: counted, points };
        if let Effect::Reads = scene.case.effect {
            assert!(scene.before == after, "{} changes {}", scene.case.name, scene.before.difference(&after));
            return scene;
        }
        assert_eq!(scene.baseline.status, Some(0), "{}: {}", scene.case.name, scene.baseline.stderr);
        if scene.case.is_pending {
            // A run that fails before it finishes the interrupted save leaves that to the next command.
            scene.reset();
            if let Effect::Changes(finish) = scene.case.effect {
                assert!(run(&scene.folder, finish).status.success());
            }
            scene.old = Snapshot::of(&scene.folder).set();
        }
        let is_changed = scene.old != scene.new || scene.case.name.starts_with("recover");
        assert!(is_changed, "{} changes nothing: {}", scene.case.name, scene.baseline.stderr);
        scene
    }

    fn reset(&self) {
        self.before.restore(&self.folder);
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

    /// Runs the case with a fault. `None` if the fault was not met.
    ///
    /// # Errors
    /// Returns the violated promise.
    pub(super) fn inject(&self, fault: &Fault) -> Result<Option<(Outcome, Content)>, String> {
        self.reset();
        let before = Snapshot::of(&self.folder);
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
            status if status == self.baseline.status => Outcome::Succeeded,
            Some(_) => Outcome::Failed,
        };
        let content = self.verify(fault, &run, outcome, &before).map_err(|reason| {
            let injected: String = run.injected().take(4).flat_map(|line| ["\n    ", line]).collect();
            let message = run.stderr.trim_end().replace('\n', "\n    > ");
            format!("{reason}\n    status {:?}{injected}\n    > {message}", run.status)
        })?;
        Ok(Some((outcome, content)))
    }

    fn verify(&self, fault: &Fault, run: &Run, outcome: Outcome, before: &Snapshot) -> Result<Content, String> {
        if run.stderr.contains("panicked") || run.status == Some(101) {
            return Err("it panics".to_owned());
        }
        if run.status.is_none() && fault.kind != FaultKind::Kill {
            return Err("it dies of a signal".to_owned());
        }
        let is_message_lost = run.injected().any(|line| line.contains("write(2<"));
        if outcome == Outcome::Failed && run.stderr.trim().is_empty() && !is_message_lost {
            return Err("it fails without a message".to_owned());
        }
        match self.case.effect {
            Effect::Reads => self.verify_reading(run, outcome, before, is_message_lost).map(|()| Content::Read),
            Effect::Changes(finish) => self.verify_change(run, outcome, finish),
            Effect::Creates(record_folder) => self.verify_creating(run, outcome, record_folder),
        }
    }

    fn verify_reading(
        &self,
        run: &Run,
        outcome: Outcome,
        before: &Snapshot,
        is_message_lost: bool,
    ) -> Result<(), String> {
        let after = Snapshot::of(&self.folder);
        if after != *before {
            return Err(format!("reading changed {}", before.difference(&after)));
        }
        // The output itself reports operations that are not possible, and files that cannot be authenticated.
        let is_reported = ["not possible: it cannot be", "its commit record cannot be read", "your key"];
        let is_reported = is_reported.iter().any(|text| {
            let is_in = |run: &Run| run.stdout.contains(text) || run.stderr.contains(text);
            is_in(run) && !is_in(&self.baseline)
        });
        if outcome == Outcome::Succeeded && run.stdout != self.baseline.stdout && !is_reported {
            return Err(format!("another output with the same status:\n{}", run.stdout));
        }
        let missing = self.baseline.stderr.lines().find(|line| !run.stderr.contains(line));
        match missing.filter(|_| !is_reported && outcome == Outcome::Succeeded && !is_message_lost) {
            Some(line) => Err(format!("it does not say: {line}")),
            None => Ok(()),
        }
    }

    fn verify_change(&self, run: &Run, outcome: Outcome, finish: &[&str]) -> Result<Content, String> {
        let had_record = Snapshot::of(&self.folder).has_record();
        self.finish(run, finish, had_record)?;
        let after = Snapshot::of(&self.folder);
        let content = self.content(&after)?;
        let is_of_before = self.case.is_pending && content == Content::Old;
        match outcome {
            Outcome::Succeeded if content == Content::Old => {
                return Err("it succeeds and the set is the old one".to_owned());
            }
            // The rename of a single file cannot be reverted; the error reports that it may not survive a crash.
            Outcome::Failed if content == Content::New && !had_record && !is_of_before && !is_after_rename(run) => {
                let is_same = self.old == self.new;
                return if is_same { Ok(content) } else { Err("it fails and the set is the new one".to_owned()) };
            }
            _ => {}
        }
        self.check_backups(run)?;
        if self.case.name.starts_with("journal") && content == Content::Old {
            // The unsaved changes are still in the journal.
            let again = crate::support::run(&self.folder, self.case.arguments);
            if !again.status.success() || Snapshot::of(&self.folder).set() != self.new {
                return Err(format!("given again it does not apply the journal: {}", stderr(&again)));
            }
            check_temporaries(&Snapshot::of(&self.folder))?;
        }
        Ok(content)
    }

    /// Finishes an interrupted save.
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
        let after = Snapshot::of(&self.folder);
        if after.has_record() {
            return Err("the record is still there".to_owned());
        }
        // The next command that writes removes the files that a killed run left; here that is the case itself.
        if self.case.name.starts_with("journal") { Ok(()) } else { check_temporaries(&after) }
    }

    fn content(&self, after: &Snapshot) -> Result<Content, String> {
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

    /// Verifies that each listed backup can be restored and has the earlier content of the set.
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
                // If the key cannot be read, the backup is unsigned, and its restore needs the user's consent.
                restored = run(&self.folder, &["restore", "sitemap.xml", "--set", date, "--unverified"]);
            }
            if !restored.status.success() {
                return Err(format!("the backup {date} cannot be restored: {}", stderr(&restored)));
            }
            if date.starts_with("2026-11-20") && Snapshot::of(&self.folder).set() != self.old {
                return Err(format!("the backup {date} is not what the set was"));
            }
        }
        Ok(())
    }

    fn verify_creating(&self, run: &Run, outcome: Outcome, record_folder: &str) -> Result<Content, String> {
        let had_record = Snapshot::of(&self.folder).has_record();
        if had_record {
            let recovered = crate::support::run(&self.folder, &["recover", record_folder, "--finish"]);
            if !recovered.status.success() {
                return Err(format!("recover fails: {}{}", stdout(&recovered), stderr(&recovered)));
            }
        }
        let content = self.content(&Snapshot::of(&self.folder))?;
        match (outcome, content) {
            (Outcome::Succeeded, Content::Old) => return Err("it succeeds and nothing was made".to_owned()),
            (Outcome::Failed, Content::New) if !had_record && !is_after_rename(run) => {
                return Err("it fails and everything was made".to_owned());
            }
            _ => {}
        }
        if content == Content::Old {
            self.finish(run, self.case.arguments, had_record)?;
            if self.content(&Snapshot::of(&self.folder))? == Content::Old {
                return Err("given again it makes nothing".to_owned());
            }
        }
        check_temporaries(&Snapshot::of(&self.folder))?;
        Ok(content)
    }
}

fn check_temporaries(after: &Snapshot) -> Result<(), String> {
    // Temporary files in an incomplete backup belong to it; `restore` reports it.
    let mut remaining = after.temporaries();
    remaining.retain(|path| !path.to_string_lossy().contains(".bak/"));
    match remaining.as_slice() {
        [] => Ok(()),
        remaining => Err(format!("temporary files are left: {remaining:?}")),
    }
}

/// Whether an error occurred after the rename of a single file, which is not reverted, or during the removal of the
/// applied journal.
fn is_after_rename(run: &Run) -> bool {
    // For a read-only mount the error has a hint instead of the failed operation.
    ["may not survive a crash", "which is in its place", "mounted read-only", ".journal: cannot remove"]
        .iter()
        .any(|text| run.stderr.contains(text))
}
