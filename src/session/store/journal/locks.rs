//! The locks of a save: acquired before it begins, and again for the files that it created.
//!
//! All of it reads and writes files and may wait for another process. A job does it for the screen; the session only
//! takes in the result.

use super::recovery;
use crate::files::journal::{Header, LockedByOther, SlotLocks, StateSlot};
use crate::files::{self, Action, Disk, Plan};
use crate::session::Session;
use crate::session::edit::EditError;
use std::path::{Path, PathBuf};

/// What is needed to take the locks of a save.
#[derive(Debug)]
pub(crate) struct SaveLocks {
    /// The locks of the set with the files that it has; nothing where no journal is kept.
    own: Option<(SlotLocks, Disk)>,
    /// What a save that came to no end has locked: this one begins anew.
    unfinished: Option<StateSlot>,
}

/// The locks of a save that may begin: those of other paths, if it moves the set there.
#[derive(Debug, Default)]
pub struct Claimed(pub(super) Option<StateSlot>);

/// The locks of the files that the set has now, and what its journal begins with.
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

    /// Takes the files that a save will make or replace, and the state slot of the set if it moves.
    ///
    /// # Errors
    /// [`EditError`] when another process has one of them open, or an earlier session left changes to what is replaced.
    pub(crate) fn take(&mut self, plan: &Plan) -> Result<Claimed, EditError> {
        self.unfinished = None;
        let Some((locks, _)) = &self.own else { return Ok(Claimed::default()) };
        let held = |path: &Path, held: LockedByOther| {
            EditError::Refused(format!("{}: {held}; choose another name", path.display()))
        };
        let mut next = None;
        if let Some(path) = plan.path.as_deref().filter(|_| !plan.copy) {
            next = locks.take_moved(&opened_by(plan)).map_err(|error| held(path, error))?;
            let left = next.as_ref().and_then(|state_slot| state_slot.earlier.as_ref());
            if matches!(left, Some(Ok(stored)) if recovery::has_recoverable_changes(stored)) {
                let words = "an earlier session left unsaved changes to it; open it first, or choose another name";
                return Err(EditError::Refused(format!("{}: {words}", path.display())));
            }
        }
        let written = plan.outputs.iter().filter(|output| output.action != Action::Untouched);
        let claimed = next.as_ref().map_or(locks, StateSlot::locks).claim(written.map(|output| output.path.as_path()));
        claimed.map_err(|error| held(plan.path.as_deref().unwrap_or(Path::new("")), error))?;
        Ok(Claimed(next))
    }

    /// Whether no one else has what a save would make or replace, to be known before a question is asked. Nothing of it
    /// stays taken.
    ///
    /// # Errors
    /// As [`SaveLocks::take`].
    pub(crate) fn check_available(&mut self, plan: &Plan) -> Result<(), EditError> {
        let taken = self.take(plan).map(drop);
        if let Some((locks, disk)) = &self.own {
            // Nothing is new in it, so no one can have it.
            let _ = locks.claim_only(disk);
        }
        taken
    }

    /// Takes the files that the set has now, and gives back all others.
    pub(crate) fn reacquire(&self, claimed: &mut Claimed, disk: &Disk, seconds: i64) -> Option<Relocked> {
        let (own, _) = self.own.as_ref()?;
        let locks = match &mut claimed.0 {
            Some(next) => {
                // What is left there is of the file that was replaced, and none of it could be replayed.
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
    /// Takes these files, and gives back all others.
    pub(crate) fn of(locks: &SlotLocks, disk: &Disk, seconds: i64) -> Self {
        Self { held: locks.claim_only(disk), header: locks.header(disk, seconds) }
    }
}

/// The paths that the set is opened by once this is saved: all files of its index, which may be more or fewer than
/// before; without one, all files.
fn opened_by(plan: &Plan) -> Vec<PathBuf> {
    let document = &plan.document;
    if document.index().is_some() || document.sitemaps().len() == 1 {
        return files::main_paths(document);
    }
    document.sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()).collect()
}
