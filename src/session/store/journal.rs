//! Writes changes to the journal and reads them back as changes.
//!
//! While rows have the ids that a fresh load gives them, each change is one line, and so is each undo. Where they
//! have not (a save has put rows in or out), a line says how to get from the saved files to the document at once.

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
use written::Written;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
enum JournalLine {
    /// A change was made.
    Did { label: String, edit: Written },
    /// The last one was taken back.
    Undid,
    /// It was done again.
    Redid,
    /// Whatever the lines before say: this is what leads from the saved files to the document.
    Since(Vec<Written>),
    /// The save that begins next makes a set of it that is opened by these paths, which are not those of now.
    To(Vec<String>),
    /// A save begins. Once the files hold bytes with these hashes, only the last of the lines after it counts.
    Saving(Vec<u64>),
    /// What leads from the files that are being saved to the document.
    Then(Vec<Written>),
}

/// The journal of an open session.
#[derive(Debug)]
pub(in crate::session) struct JournalState {
    journal: Journal,
    /// Steps of the history that lines stand for and that can be undone or redone by a line.
    done: u32,
    undone: u32,
    /// Whether rows have the ids that a fresh load gives.
    is_fresh: bool,
    /// What a save is writing, until it is known what came of it.
    during: Option<SaveInProgress>,
    /// How often the journal had caught up after a failure when the last whole line was noted.
    rewrite_count: u64,
    /// The state slot at the paths of a save that was begun and not finished: whatever it has made there stays locked.
    unfinished: Option<StateSlot>,
    /// The journal that the set had before a save moved it.
    removing: Option<PendingRemoval>,
}

/// A save that runs.
#[derive(Debug, Clone)]
struct SaveInProgress {
    document: Document,
    /// The paths that the set is opened by once it is done, if it makes others of them.
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

    /// Whether a line can say what was done by the lines before it.
    fn is_continuous(&self) -> bool {
        self.is_fresh && self.journal.rewrite_count() == self.rewrite_count
    }

    fn note(&self, all: &MakeAllLines, line: impl FnOnce() -> JournalLine + Send + 'static) {
        self.journal.note(Note { line: Box::new(move || json(&line())), is_whole: false, all: Arc::clone(all) });
    }
}

/// The line with the edits since the last save.
fn line_since_save(document: &Document, saved: &Document) -> JournalLine {
    JournalLine::Since(diff_edits(document, saved).iter().map(Written::from).collect())
}

/// The line with the edits since the running save began.
fn line_since_begun(document: &Document, during: &SaveInProgress) -> JournalLine {
    JournalLine::Then(diff_edits(document, &during.document).iter().map(Written::from).collect())
}

/// The locks of the set, where a journal is kept.
pub(in crate::session) fn locks(session: &Session) -> Option<SlotLocks> {
    session.keeping.as_ref().map(|keeping| keeping.journal.state_slot().locks().clone())
}

/// The journal of the set, where there is one, to be removed: nothing of the set is kept any longer.
pub(crate) fn take_journal(session: &mut Session) -> Option<Journal> {
    session.keeping.take().map(|keeping| keeping.journal)
}

/// Gives up what an earlier session left.
pub(crate) fn discard(session: &mut Session, left: RecoverableChanges) {
    start_keeping(session, left.state_slot, left.header);
}

fn start_keeping(session: &mut Session, state_slot: StateSlot, header: Header) {
    let journal = state_slot.begin(None, session.watcher.as_ref());
    journal.restart(header);
    session.keeping = Some(JournalState::new(journal));
    if session.is_modified() {
        note_all(session);
    }
}

/// Another process has files of the set now: nothing of it can be changed here any more.
fn make_read_only(session: &mut Session, held: Result<(), LockedByOther>) {
    if let Err(held) = held {
        session.set_read_only(format!("{held}, since it was saved here"));
    }
}

/// A change was made.
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
    keeping.note(&all, move || JournalLine::Did { label, edit: Written::from(&edit) });
}

/// A step was taken back, or done again.
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

/// What makes every line that leads from the files to the document of now; `None` where no journal is kept.
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

/// A save of this document begins, whose locks are taken. Gives what waits until that is written down, which must be
/// before anything is replaced.
pub(in crate::session) fn note_saving(
    session: &mut Session,
    document: &Document,
    claimed: &Claimed,
) -> Option<Flusher> {
    let keeping = session.keeping.as_mut()?;
    keeping.unfinished = None;
    // At another place altogether the set leaves its changes behind, as they lead from the files that are here.
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

/// A save that was begun has changed nothing and will not go on.
pub(crate) fn note_no_save(session: &mut Session) {
    if let Some(keeping) = &mut session.keeping {
        (keeping.during, keeping.unfinished) = (None, None);
    }
}

/// A save that was begun came to no end: what it has made at other paths stays locked until the next one.
pub(in crate::session) fn note_unfinished(session: &mut Session, claimed: Claimed) {
    if let Some(keeping) = &mut session.keeping {
        keeping.unfinished = claimed.0;
    }
}

/// While a save runs no one knows which files a crash will leave: what is unsaved is written for both.
pub(in crate::session) fn note_during(session: &mut Session) {
    let Some(during) = session.keeping.as_ref().and_then(|keeping| keeping.during.clone()) else { return };
    let Some(all) = all_lines(session) else { return };
    let document = session.current.state.document.clone();
    if let Some(keeping) = &session.keeping {
        keeping.note(&all, move || line_since_begun(&document, &during));
    }
}

/// The set was saved: what is unsaved now counts from there.
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

/// Writes down all that is unsaved at once.
fn note_all(session: &mut Session) {
    let Some(all) = all_lines(session) else { return };
    let (document, saved) = (session.current.state.document.clone(), session.current.saved.clone());
    let Some(keeping) = &mut session.keeping else { return };
    // Steps from before this line cannot be taken back by a line, and rows that it adds may get other ids.
    (keeping.done, keeping.undone) = (0, 0);
    keeping.is_fresh &= document.row_limit() == saved.row_limit();
    keeping.rewrite_count = keeping.journal.rewrite_count();
    let line = Box::new(move || json(&line_since_save(&document, &saved)));
    keeping.journal.note(Note { line, is_whole: true, all });
}

/// Says who is informed when changes are not kept any more, or are again. Before anything is opened.
pub(crate) fn watch_journal(session: &mut Session, watcher: Option<Watcher>) {
    session.watcher = watcher;
}

/// Who is told.
pub(crate) fn journal_watcher(session: &Session) -> Option<Watcher> {
    session.watcher.clone()
}

/// Why changes are not kept against a crash, if they should be and are not.
pub(crate) fn unprotected_reason(session: &Session) -> Option<String> {
    let keeping = session.keeping.as_ref().filter(|_| session.read_only().is_none())?;
    let why = keeping.journal.failure()?;
    let alone =
        if keeping.journal.state_slot().is_exclusive() { "" } else { "; another sited can open these files too" };
    Some(format!("changes are not recorded: {why}; a crash would lose them{alone}"))
}

/// Hashes of the bytes of all files, in no order.
fn hashes_of(document: &Document) -> Vec<u64> {
    let ids = (0..document.sitemaps().len() as u32).map(SitemapId);
    let there = ids.filter(|id| document.sitemap(*id).is_some_and(|sitemap| sitemap.path.is_some()));
    let there = there.filter(|id| !document.is_gone(*id));
    let of_sitemap = |id: SitemapId| {
        let mut hash = Fingerprint::default();
        let written: Result<(), Infallible> = document.write_sitemap(id, &mut |bytes| {
            hash.update(bytes);
            Ok(())
        });
        let Ok(()) = written;
        hash.finish()
    };
    let mut hashes: Vec<u64> = there.map(of_sitemap).collect();
    hashes.extend(document.index().iter().flat_map(|index| index.files()).map(|file| fingerprint(&file.bytes())));
    hashes.sort_unstable();
    hashes
}

/// A value of the types above always has a text.
fn json(line: &JournalLine) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

#[cfg(test)]
mod damage;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
