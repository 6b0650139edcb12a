//! Replays the changes of an earlier session on a copy of the session, which then replaces the session.
//!
//! A change may affect every row, so the user interface replays in a job. Until the result replaces the session, the
//! journal is not changed and stays locked, so that a cancelled replay loses nothing.

use super::locks::Relocked;
use super::recovery::RecoverableChanges;
use super::salvage::{Missing, Salvage};
use super::written::StoredEdit;
use super::{JournalLine, JournalState, make_read_only, note_all, recovery};
use crate::document::edit::Edit;
use crate::files::journal::{Header, StateSlot, StoredJournal};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::edit::{EditError, Intent, prepared};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Changes to be replayed, with a copy of the session that they are replayed on.
#[derive(Debug)]
pub(crate) struct Replay {
    session: Box<Session>,
    changes: RecoverableChanges,
}

/// A copy of the session with the changes replayed.
#[derive(Debug)]
pub struct Replayed {
    session: Box<Session>,
    state_slot: StateSlot,
    header: Header,
    /// The locks and the header of a new journal, if the changes apply to the files of a finished save.
    relocked: Option<Relocked>,
    outcome: Result<usize, EditError>,
    /// Whether lines of the journal are missing.
    has_gaps: bool,
    /// The second name of the old journal, if some changes are missing or cannot be applied.
    aside: Option<PathBuf>,
}

impl Replay {
    pub(crate) fn of(session: &Session, changes: RecoverableChanges) -> Self {
        Self { session: Box::new(without_journal(session)), changes }
    }

    /// Replays the changes; each becomes a step that can be undone. `None` if cancelled.
    pub(crate) fn run(self, progress: &Progress) -> Option<Replayed> {
        let Self { mut session, changes } = self;
        let RecoverableChanges { state_slot, stored, salvage, is_of_save, .. } = changes;
        let has_gaps = !salvage.missing.is_empty();
        let outcome = replay_steps(&mut session, salvage, progress);
        if progress.is_cancelled() {
            return None;
        }
        let aside = if has_gaps || outcome.is_err() { state_slot.link_aside() } else { None };
        let seconds = session.current.clock.seconds;
        let relocked = is_of_save.then(|| Relocked::of(state_slot.locks(), &session.disk, seconds));
        Some(Replayed { session, state_slot, header: stored.header, relocked, outcome, has_gaps, aside })
    }
}

impl Replayed {
    /// Whether lines of the journal are missing.
    pub(crate) const fn has_gaps(&self) -> bool {
        self.has_gaps
    }
}

/// A copy of a session without its journal.
fn without_journal(session: &Session) -> Session {
    Session {
        current: session.current.clone(),
        history: session.history.clone(),
        disk: session.disk.clone(),
        backups: session.backups.clone(),
        path: session.path.clone(),
        paths: session.paths.clone(),
        unread: Vec::new(),
        read_only: session.read_only.clone(),
        recovered: session.recovered.clone(),
        state_folder: session.state_folder.clone(),
        keeping: None,
        watcher: None,
        file_findings: Arc::clone(&session.file_findings),
        index_rules: session.index_rules.clone(),
        listed: session.listed.clone(),
        known_lines: Arc::clone(&session.known_lines),
        uncompared: None,
        repaired_windows: HashMap::new(),
        ..*session
    }
}

/// Replaces the session, which must not have changed since, with the copy, and starts its journal. Returns the number
/// of steps.
///
/// # Errors
/// [`EditError`] if a line cannot be applied to the set. The lines before it are applied, and the message has the name
/// under which the old journal is kept.
pub(crate) fn replace_session(session: &mut Session, replayed: Replayed) -> Result<usize, EditError> {
    let Replayed { session: copy, state_slot, header, relocked, outcome, aside, .. } = replayed;
    let (watcher, unread) = (session.watcher.take(), std::mem::take(&mut session.unread));
    *session = Session { unread, watcher, ..*copy };
    let journal = state_slot.begin(Some(header), session.watcher.as_ref());
    let restarted = match relocked {
        Some(Relocked { held, header }) => {
            journal.restart(header);
            held
        }
        None => Ok(()),
    };
    session.keeping = Some(JournalState::new(journal));
    make_read_only(session, restarted);
    // One line replaces the old ones; its row ids are correct for the files.
    note_all(session);
    let kept = aside.map_or_else(String::new, |path| format!("; the journal is kept as {}", path.display()));
    outcome.map_err(|error| EditError::Refused(format!("{error}{kept}")))
}

/// Applies the changes of a journal to the open set, as steps that can be undone.
///
/// # Errors
/// [`EditError`] if the journal is not for these files or they have changed, or if a line cannot be applied; then the
/// lines before it are applied.
pub(crate) fn apply_journal(session: &mut Session, stored: &StoredJournal) -> Result<(usize, Missing), EditError> {
    let entries = recovery::applicable(session, stored)?;
    let salvage = Salvage::of(&entries, session.current.saved.row_limit());
    let missing = salvage.missing.clone();
    replay_steps(session, salvage, &Progress::default()).map(|count| (count, missing))
}

fn replay_steps(session: &mut Session, salvage: Salvage, progress: &Progress) -> Result<usize, EditError> {
    let mut count = 0;
    for line in salvage.steps {
        count += 1;
        match line {
            JournalLine::Did { label, edit } => redo_line(session, label, edit.flat(), progress)?,
            JournalLine::Since(edits) => {
                redo_line(session, "changes of an earlier session".to_owned(), edits, progress)?;
            }
            JournalLine::Undid => drop(session.undo().ok_or_else(|| EditError::Refused("nothing to undo".to_owned()))?),
            JournalLine::Redid => drop(session.redo().ok_or_else(|| EditError::Refused("nothing to redo".to_owned()))?),
            JournalLine::To(_) | JournalLine::Saving(_) | JournalLine::Then(_) => {}
        }
    }
    Ok(count)
}

fn redo_line(
    session: &mut Session,
    label: String,
    edits: Vec<StoredEdit>,
    progress: &Progress,
) -> Result<(), EditError> {
    let mut done = Vec::new();
    let mut document = session.document().clone();
    for written in edits {
        let edit = written
            .edit(&document)
            .ok_or_else(|| EditError::Refused("a change does not fit these files".to_owned()))?;
        document = document.apply(&edit, progress).ok_or(EditError::Cancelled)?.document;
        done.push(edit);
    }
    let edit = match <[Edit; 1]>::try_from(done) {
        Ok([edit]) => edit,
        Err(edits) => Edit::Several(edits),
    };
    let intent = Intent { label: label.into(), edit: Some(edit), ..Intent::counting(1) };
    let prepared = prepared::prepare_intent(&session.current, intent, progress);
    session.commit(prepared.ok_or(EditError::Cancelled)?, None).map(drop)
}
