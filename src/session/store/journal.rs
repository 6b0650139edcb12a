//! Writes changes to the journal and reads them back as changes.
//!
//! While rows have the ids that a fresh load assigns, each change is one line, and so is each undo. Otherwise (a save
//! has added or removed rows) each line contains all edits that turn the saved files into the document.

mod describe;
pub(crate) mod locks;
pub(crate) mod recovery;
pub(crate) mod replay;
mod salvage;
mod written;

use crate::document::Document;
use crate::document::diff_edits::{diff_edits, has_fresh_ids};
use crate::document::edit::Edit;
use crate::document::sitemap::SitemapId;
use crate::files::disk::{Fingerprint, fingerprint};
use crate::files::journal::{
    Flusher, Header, Journal, LockedByOther, MakeAllLines, Note, PendingRemoval, SlotLocks, StateSlot, Watcher,
};
use crate::session::Session;
pub(crate) use describe::changes_in;
use locks::{Claimed, Relocked};
pub(crate) use recovery::{RecoverableChanges, Unreplayable};
pub(crate) use replay::apply_journal;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use written::StoredEdit;

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
enum JournalLine {
    /// A change was made.
    Did { label: String, edit: StoredEdit },
    /// The last change was undone.
    Undid,
    /// The last undone change was redone.
    Redid,
    /// All edits that turn the saved files into the document. Replaces all lines before it.
    Since(Vec<StoredEdit>),
    /// The next save changes the paths that the set is opened by to these.
    To(Vec<String>),
    /// A save starts. Once the files have contents with these hashes, only the last line after this one applies.
    Saving(Vec<u64>),
    /// All edits that turn the files that are being saved into the document.
    Then(Vec<StoredEdit>),
}

/// The journal of an open session.
#[derive(Debug)]
pub(in crate::session) struct JournalState {
    journal: Journal,
    /// Number of steps in the journal that a line can undo.
    done: u32,
    /// Number of steps in the journal that a line can redo.
    undone: u32,
    /// Whether rows have the ids that a fresh load assigns.
    is_fresh: bool,
    /// The running save, until its result is known.
    during: Option<SaveInProgress>,
    /// [`Journal::rewrite_count`] when the last independent line was written.
    rewrite_count: u64,
    /// The state slot at the paths of an unfinished save, which keeps the files that it has created there locked.
    unfinished: Option<StateSlot>,
    /// The journal that the set had before a save moved the set.
    removing: Option<PendingRemoval>,
}

/// A running save.
#[derive(Debug, Clone)]
struct SaveInProgress {
    document: Document,
    /// The paths that the set is opened by after the save, if it changes them.
    to: Option<Vec<String>>,
}

impl JournalState {
    fn new(journal: Journal) -> Self {
        Self {
            journal,
            done: 0,
            undone: 0,
            is_fresh: true,
            during: None,
            rewrite_count: 0,
            unfinished: None,
            removing: None,
        }
    }

    /// Whether a line can build on the lines before it.
    fn is_continuous(&self) -> bool {
        self.is_fresh && self.journal.rewrite_count() == self.rewrite_count
    }

    fn note(&self, all: &MakeAllLines, line: impl FnOnce() -> JournalLine + Send + 'static) {
        self.journal.note(Note { line: Box::new(move || json(&line())), is_independent: false, all: Arc::clone(all) });
    }
}

/// The line with the edits since the last save.
fn line_since_save(document: &Document, saved: &Document) -> JournalLine {
    JournalLine::Since(diff_edits(document, saved).iter().map(StoredEdit::from).collect())
}

/// The line with the edits since the running save started.
fn line_since_begun(document: &Document, during: &SaveInProgress) -> JournalLine {
    JournalLine::Then(diff_edits(document, &during.document).iter().map(StoredEdit::from).collect())
}

/// The locks of the set; `None` if no journal is written.
pub(in crate::session) fn locks(session: &Session) -> Option<SlotLocks> {
    session.keeping.as_ref().map(|keeping| keeping.journal.state_slot().locks().clone())
}

/// Takes the journal from the session for removal; changes are no longer recorded.
pub(crate) fn take_journal(session: &mut Session) -> Option<Journal> {
    session.keeping.take().map(|keeping| keeping.journal)
}

/// Discards the unsaved changes of an earlier session.
pub(crate) fn discard(session: &mut Session, changes: RecoverableChanges) {
    start_journal(session, changes.state_slot, changes.header);
}

/// Starts an empty journal for the changes of this session.
fn start_journal(session: &mut Session, state_slot: StateSlot, header: Header) {
    let journal = state_slot.begin(None, session.watcher.as_ref());
    journal.restart(header);
    session.keeping = Some(JournalState::new(journal));
    if session.is_modified() {
        note_all(session);
    }
}

/// Makes the session read-only if another process has locked files of the set.
fn make_read_only(session: &mut Session, held: Result<(), LockedByOther>) {
    if let Err(held) = held {
        session.set_read_only(format!("{held}, since it was saved here"));
    }
}

/// Records a change.
pub(in crate::session) fn note_change(session: &mut Session, label: &str, edit: Option<Edit>) {
    append_change(session, label, edit);
    note_during(session);
}

fn append_change(session: &mut Session, label: &str, edit: Option<Edit>) {
    let Some(all) = all_lines(session) else { return };
    let Some(keeping) = &mut session.keeping else { return };
    if !keeping.is_continuous() {
        return note_all(session);
    }
    let Some(edit) = edit else { return };
    (keeping.done, keeping.undone) = (keeping.done + 1, 0);
    let label = label.to_owned();
    keeping.note(&all, move || JournalLine::Did { label, edit: StoredEdit::from(&edit) });
}

/// Records an undo (`back`) or a redo.
pub(in crate::session) fn note_step(session: &mut Session, back: bool) {
    append_step(session, back);
    note_during(session);
}

fn append_step(session: &mut Session, back: bool) {
    let Some(all) = all_lines(session) else { return };
    let Some(keeping) = &mut session.keeping else { return };
    let is_known = keeping.is_continuous() && if back { keeping.done > 0 } else { keeping.undone > 0 };
    if !is_known {
        return note_all(session);
    }
    if back {
        (keeping.done, keeping.undone) = (keeping.done - 1, keeping.undone + 1);
        keeping.note(&all, || JournalLine::Undid);
    } else {
        (keeping.done, keeping.undone) = (keeping.done + 1, keeping.undone - 1);
        keeping.note(&all, || JournalLine::Redid);
    }
}

/// Returns a function that creates all lines that turn the files into the current document; `None` without a journal.
fn all_lines(session: &Session) -> Option<MakeAllLines> {
    let keeping = session.keeping.as_ref()?;
    let (document, saved) = (session.current.state.document.clone(), session.current.saved.clone());
    let during = keeping.during.clone();
    Some(Arc::new(move || {
        let mut lines = vec![line_since_save(&document, &saved)];
        if let Some(during) = &during {
            lines.extend(during.to.clone().map(JournalLine::To));
            lines.extend([JournalLine::Saving(hashes_of(&during.document)), line_since_begun(&document, during)]);
        }
        lines.iter().map(json).collect()
    }))
}

/// Records the start of a save of this document, whose locks are taken. Returns a flusher that waits until this is
/// written, which must be before any file is replaced.
pub(in crate::session) fn note_saving(
    session: &mut Session,
    document: &Document,
    claimed: &Claimed,
) -> Option<Flusher> {
    let keeping = session.keeping.as_mut()?;
    keeping.unfinished = None;
    // If the save moves the whole set, the journal stays with the old files, since its edits apply to these.
    let next = claimed.0.as_ref().map(StateSlot::names);
    let to = next.filter(|names| names.first() == keeping.journal.state_slot().names().first());
    keeping.during = Some(SaveInProgress { document: document.clone(), to: to.clone() });
    let all = all_lines(session);
    let keeping = session.keeping.as_ref()?;
    if let Some(all) = all {
        if let Some(paths) = to {
            keeping.note(&all, move || JournalLine::To(paths));
        }
        let document = document.clone();
        keeping.note(&all, move || JournalLine::Saving(hashes_of(&document)));
    }
    Some(keeping.journal.flusher())
}

/// Records that a save was cancelled before it changed anything.
pub(crate) fn note_no_save(session: &mut Session) {
    if let Some(keeping) = &mut session.keeping {
        (keeping.during, keeping.unfinished) = (None, None);
    }
}

/// Records that a save did not finish: the files that it created at other paths stay locked until the next save.
pub(in crate::session) fn note_unfinished(session: &mut Session, claimed: Claimed) {
    if let Some(keeping) = &mut session.keeping {
        keeping.unfinished = claimed.0;
    }
}

/// Records the edits since a running save started: after a crash, either the old or the new files are there, and the
/// journal must apply to both.
pub(in crate::session) fn note_during(session: &mut Session) {
    let Some(during) = session.keeping.as_ref().and_then(|keeping| keeping.during.clone()) else { return };
    let Some(all) = all_lines(session) else { return };
    let document = session.current.state.document.clone();
    if let Some(keeping) = &session.keeping {
        keeping.note(&all, move || line_since_begun(&document, &during));
    }
}

/// Records a finished save: from now on, the journal applies to the new files.
pub(in crate::session) fn note_save(session: &mut Session, claimed: Claimed, relocked: Option<Relocked>) {
    let is_fresh = has_fresh_ids(&session.current.saved);
    let is_modified = session.is_modified();
    let (Some(keeping), Some(Relocked { held, header })) = (&mut session.keeping, relocked) else { return };
    if let Some(next) = claimed.0 {
        let journal = std::mem::replace(&mut keeping.journal, next.begin(None, session.watcher.as_ref()));
        keeping.removing = Some(journal.remove_in_background());
        keeping.rewrite_count = 0;
    }
    keeping.journal.restart(header);
    (keeping.done, keeping.undone, keeping.is_fresh) = (0, 0, is_fresh);
    keeping.during = None;
    make_read_only(session, held);
    if is_modified {
        note_all(session);
    }
}

/// Writes all unsaved changes in one line.
fn note_all(session: &mut Session) {
    let Some(all) = all_lines(session) else { return };
    let (document, saved) = (session.current.state.document.clone(), session.current.saved.clone());
    let Some(keeping) = &mut session.keeping else { return };
    // No line can undo steps from before this line, and rows that it adds may get other ids.
    (keeping.done, keeping.undone) = (0, 0);
    keeping.is_fresh &= document.row_limit() == saved.row_limit();
    keeping.rewrite_count = keeping.journal.rewrite_count();
    let line = Box::new(move || json(&line_since_save(&document, &saved)));
    keeping.journal.note(Note { line, is_independent: true, all });
}

/// Sets the watcher that is called when recording changes starts to fail or works again. Call it before opening a set.
pub(crate) fn watch_journal(session: &mut Session, watcher: Option<Watcher>) {
    session.watcher = watcher;
}

/// The watcher of the journal.
pub(crate) fn journal_watcher(session: &Session) -> Option<Watcher> {
    session.watcher.clone()
}

/// Why changes are not recorded against a crash; `None` if they are, or if nothing can be changed.
pub(crate) fn unprotected_reason(session: &Session) -> Option<String> {
    let keeping = session.keeping.as_ref().filter(|_| session.read_only().is_none())?;
    let why = keeping.journal.failure()?;
    let alone =
        if keeping.journal.state_slot().is_exclusive() { "" } else { "; another sited can open these files too" };
    Some(format!("changes are not recorded: {why}; a crash would lose them{alone}"))
}

/// Hashes of the bytes of all files, sorted.
fn hashes_of(document: &Document) -> Vec<u64> {
    let ids = (0..document.sitemaps().len() as u32).map(SitemapId);
    let present = ids.filter(|id| document.sitemap(*id).is_some_and(|sitemap| sitemap.path.is_some()));
    let present = present.filter(|id| !document.is_gone(*id));
    let of_sitemap = |id: SitemapId| {
        let mut hash = Fingerprint::default();
        let written: Result<(), Infallible> = document.write_sitemap(id, &mut |bytes| {
            hash.update(bytes);
            Ok(())
        });
        let Ok(()) = written;
        hash.finish()
    };
    let mut hashes: Vec<u64> = present.map(of_sitemap).collect();
    hashes.extend(document.index().iter().flat_map(|index| index.files()).map(|file| fingerprint(&file.bytes())));
    hashes.sort_unstable();
    hashes
}

/// The JSON text of a line. Serializing these types cannot fail.
fn json(line: &JournalLine) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

#[cfg(test)]
mod damage;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
