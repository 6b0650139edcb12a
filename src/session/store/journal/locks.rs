//! The locks of a save: taken before it starts, and again for the files that it has created.
//!
//! Taking locks reads and writes files and may wait for another process. The user interface does it in a job; the
//! session only receives the result.

use super::recovery;
use crate::files::journal::{Header, LockedByOther, SlotLocks, StateSlot};
use crate::files::{self, Action, Disk, Plan};
use crate::session::Session;
use crate::session::edit::EditError;
use std::path::{Path, PathBuf};

/// The state that is needed to take the locks of a save.
#[derive(Debug)]
pub(crate) struct SaveLocks {
    /// The locks of the set, with its files; `None` without a journal.
    own: Option<(SlotLocks, Disk)>,
    /// The state slot that an unfinished save has taken; it is released before taking locks.
    unfinished: Option<StateSlot>,
}

/// The locks of a save that may start: the state slot of its new paths, if it moves the set.
#[derive(Debug, Default)]
pub struct Claimed(pub(super) Option<StateSlot>);

/// The result of locking the files that the set has after a save, and the header of its journal.
#[derive(Debug, Clone)]
pub(crate) struct Relocked {
    pub(super) held: Result<(), LockedByOther>,
    pub(super) header: Header,
}

impl SaveLocks {
    pub(crate) fn of(session: &mut Session) -> Self {
        let Some(keeping) = &mut session.keeping else { return Self { own: None, unfinished: None } };
        let own = Some((keeping.journal.state_slot().locks().clone(), session.disk.clone()));
        Self { own, unfinished: keeping.unfinished.take() }
    }

    /// Locks the files that a save will create or replace, and takes the state slot of the new paths if the set moves.
    ///
    /// # Errors
    /// [`EditError`] if another process has one of the files open, or an earlier session left unsaved changes to a file
    /// that is replaced.
    pub(crate) fn take(&mut self, plan: &Plan) -> Result<Claimed, EditError> {
        self.unfinished = None;
        let Some((locks, _)) = &self.own else { return Ok(Claimed::default()) };
        let held = |path: &Path, held: LockedByOther| {
            EditError::Refused(format!("{}: {held}; choose another name", path.display()))
        };
        let mut next = None;
        if let Some(path) = plan.path.as_deref().filter(|_| !plan.copy) {
            next = locks.take_moved(&opened_by(plan)).map_err(|error| held(path, error))?;
            let earlier = next.as_ref().and_then(|state_slot| state_slot.earlier.as_ref());
            if matches!(earlier, Some(Ok(stored)) if recovery::has_recoverable_changes(stored)) {
                let words = "an earlier session left unsaved changes to it; open it first, or choose another name";
                return Err(EditError::Refused(format!("{}: {words}", path.display())));
            }
        }
        let written = plan.outputs.iter().filter(|output| output.action != Action::Untouched);
        let claimed = next.as_ref().map_or(locks, StateSlot::locks).claim(written.map(|output| output.path.as_path()));
        claimed.map_err(|error| held(plan.path.as_deref().unwrap_or(Path::new("")), error))?;
        Ok(Claimed(next))
    }

    /// Checks that no other process has locked the files that a save would create or replace, before the user is asked
    /// anything. Releases the locks again.
    ///
    /// # Errors
    /// As [`SaveLocks::take`].
    pub(crate) fn check_available(&mut self, plan: &Plan) -> Result<(), EditError> {
        let result = self.take(plan).map(drop);
        if let Some((locks, disk)) = &self.own {
            // Cannot fail: these files are locked already.
            let _ = locks.claim_only(disk);
        }
        result
    }

    /// Locks the files that the set has after a save, and releases all others.
    pub(crate) fn reacquire(&self, claimed: &mut Claimed, disk: &Disk, seconds: i64) -> Option<Relocked> {
        let (own, _) = self.own.as_ref()?;
        let locks = match &mut claimed.0 {
            Some(next) => {
                // An earlier journal there is for the replaced file, and has no changes that could be replayed.
                if next.earlier.is_some() {
                    next.set_aside();
                }
                next.locks()
            }
            None => own,
        };
        Some(Relocked::of(locks, disk, seconds))
    }
}

impl Relocked {
    /// Locks these files, and releases all others.
    pub(crate) fn of(locks: &SlotLocks, disk: &Disk, seconds: i64) -> Self {
        Self { held: locks.claim_only(disk), header: locks.header(disk, seconds) }
    }
}

/// The paths that the set is opened by after this save: all files of its index, whose number may change, or all files
/// of a set without an index.
fn opened_by(plan: &Plan) -> Vec<PathBuf> {
    let document = &plan.document;
    if document.index().is_some() || document.sitemaps().len() == 1 {
        return files::main_paths(document);
    }
    document.sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()).collect()
}
