//! Test fixture: reads, replays, flushes and drops a journal on the calling thread.

use super::recovery::{self, OpenSet, RecoverableChanges};
use super::replay::{self, Replay};
use crate::files::journal::StateSlot;
use crate::progress::Progress;
use crate::session::Session;
use crate::session::edit::EditError;

/// Reads the journal of the session's set and begins to keep changes.
pub(crate) fn open(session: &mut Session, state_slot: StateSlot) -> (Option<RecoverableChanges>, Option<String>) {
    let read = recovery::read(&OpenSet::of(session), state_slot);
    recovery::begin(session, read)
}

/// Replays the changes of an earlier session.
pub(crate) fn replay(session: &mut Session, changes: RecoverableChanges) -> Result<usize, EditError> {
    let replayed = Replay::of(session, changes).run(&Progress::default()).ok_or(EditError::Cancelled)?;
    replay::replace_session(session, replayed)
}

/// Removes the journal of a session.
pub(crate) fn forget_unsaved(session: &mut Session) {
    if let Some(keeping) = session.keeping.take() {
        keeping.journal.remove();
    }
}

/// Waits until all changes are on disk.
pub(crate) fn flush_journal(session: &Session) {
    if let Some(keeping) = &session.keeping {
        keeping.journal.flush();
    }
}
