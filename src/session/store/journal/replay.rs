//! Replays the changes of an earlier session, on a copy of the session that then takes its place.
//!
//! A change may be about every row, so the screen leaves the replay to a job. Until its result is in place nothing of
//! the journal is gone: it stays where it is, with its lock, and a replay that is stopped loses nothing.

use super::locks::Relocked;
use super::recovery::RecoverableChanges;
use super::salvage::{Missing, Salvage};
use super::written::Written;
use super::{JournalLine, JournalState, make_read_only, note_all, recovery};
use crate::document::edit::Edit;
use crate::files::journal::{Header, StateSlot, StoredJournal};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::edit::{EditError, Intent, prepared};
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
    /// What the journal begins with where its changes apply to what a save has made.
    relocked: Option<Relocked>,
    outcome: Result<usize, EditError>,
    /// Whether lines of the journal are missing.
    has_gaps: bool,
    /// Where the journal is kept if some changes are missing or do not fit.
    aside: Option<PathBuf>,
}

impl Replay {
    pub(crate) fn of(session: &Session, changes: RecoverableChanges) -> Self {
        Self { session: Box::new(without_journal(session)), changes }
    }

    /// Replays; each change is a step that can be undone. `None` when cancelled.
    pub(crate) fn run(self, progress: &Progress) -> Option<Replayed> {
        let Self { mut session, changes } = self;
        let RecoverableChanges { state_slot, stored, salvage, is_of_save, .. } = changes;
        let has_gaps = !salvage.missing.is_empty();
        let outcome = replay_steps(&mut session, salvage, progress);
        if progress.is_cancelled() {
            return None;
        }
        let aside = if has_gaps || outcome.is_err() { state_slot.keep_aside() } else { None };
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

/// A copy of a session that keeps no journal.
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
        ..*session
    }
}

/// Puts the copy in the place of the session, which nothing has changed meanwhile, and begins to keep what is changed.
/// Returns how many steps there were. Where some are missing or do not fit, the journal is kept beside the new one, under
/// the name that is returned.
///
/// # Errors
/// [`EditError`] when a line does not fit the set: what was before it is done.
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
    // One line instead of many, whose ids are certain.
    note_all(session);
    let kept = aside.map_or_else(String::new, |path| format!("; the journal is kept as {}", path.display()));
    outcome.map_err(|error| EditError::Refused(format!("{error}{kept}")))
}

/// Applies what a journal holds to the open set, as steps that can be undone.
///
/// # Errors
/// [`EditError`] when it is not of these files as they are now, or a line does not fit them: what was before that
/// is done.
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

fn redo_line(session: &mut Session, label: String, edits: Vec<Written>, progress: &Progress) -> Result<(), EditError> {
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
