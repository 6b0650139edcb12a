//! Saves: plans the files to write, and updates the session with the result.

use crate::document::Document;
use crate::document::conversion::{self, columns_in_words};
use crate::document::edit::Applied;
use crate::document::form::Form;
use crate::document::index::Index;
use crate::document::rebase::{Rebased, rebase};
use crate::document::repartition::repartition;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::document::view::View;
use crate::files::backup::When;
use crate::files::journal::Flusher;
use crate::files::{self, Disk, Plan, Request, SaveMode, Saved};
use crate::progress::Progress;
use crate::protocol::limits::Limits;
use crate::session::Session;
use crate::session::edit::EditError;
use crate::session::findings::{file_findings, index_findings};
use crate::session::state::State;
use crate::session::store::journal;
use crate::session::store::journal::locks::{Claimed, Relocked, SaveLocks};
use crate::words::{counted, grouped, size};
use crate::xml::feed::Feed;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A save of the current document whose locks are not taken yet.
#[derive(Debug)]
pub struct PendingSave {
    plan: Plan,
    disk: Disk,
    mode: SaveMode,
    version: u64,
    document: Document,
    locks: SaveLocks,
}

/// A save that can run on a worker.
#[derive(Debug)]
pub struct Saving {
    pending: PendingSave,
    claimed: Claimed,
    /// Waits until the start of the save is recorded in the journal.
    noted: Option<Flusher>,
}

/// The result of a save, for the session.
#[derive(Debug)]
pub struct SaveResult {
    outcome: Result<Saved, files::Error>,
    disk: Disk,
    version: u64,
    document: Document,
    copy: bool,
    claimed: Claimed,
    /// The locks of the files that were written; `None` without a journal, or if the save failed.
    relocked: Option<Relocked>,
}

impl PendingSave {
    /// Takes the locks that the save needs. A plan that cannot be executed needs none.
    ///
    /// # Errors
    /// [`EditError`] if another process has one of the files open, or an earlier session left unsaved changes to a file
    /// that is replaced.
    pub(crate) fn claim(&mut self) -> Result<Claimed, EditError> {
        if self.plan.is_ready() { self.locks.take(&self.plan) } else { Ok(Claimed::default()) }
    }
}

impl Saving {
    /// Writes the files. They are replaced only after all new ones were written and synced beside their targets.
    pub fn run(self, progress: &Progress) -> SaveResult {
        self.write(progress).lock()
    }

    /// Writes the files, without locking them.
    pub(in crate::session) fn write(self, progress: &Progress) -> Written {
        let Self { pending, claimed, noted } = self;
        let PendingSave { plan, mut disk, mode, version, document, locks } = pending;
        if let Some(noted) = &noted {
            noted.flush();
        }
        let outcome = files::save_with_mode(&plan, &mut disk, &mode, progress);
        let seconds = mode.now.seconds;
        let result = SaveResult { outcome, disk, version, document, copy: plan.copy, claimed, relocked: None };
        Written { result, locks, seconds }
    }
}

/// Files that a save has written.
#[derive(Debug)]
pub(in crate::session) struct Written {
    result: SaveResult,
    locks: SaveLocks,
    /// The time when the save was started, in seconds since 1970.
    seconds: i64,
}

impl Written {
    /// Locks the files, since the locks of the replaced files have no effect any more.
    pub(in crate::session) fn lock(self) -> SaveResult {
        let Self { mut result, locks, seconds } = self;
        if result.outcome.is_ok() && !result.copy {
            result.relocked = locks.reacquire(&mut result.claimed, &result.disk, seconds);
        }
        result
    }
}

impl Session {
    /// Plans a save; `to` is another path.
    pub fn plan(&self, to: Option<&Path>) -> Plan {
        self.plan_within(to, Limits::default())
    }

    /// Plans a save with other limits of one file.
    pub fn plan_within(&self, to: Option<&Path>, limits: Limits) -> Plan {
        let request = request(self, to, limits);
        match to.and_then(|path| Some((path, other_form(self, path)?))) {
            Some((path, form)) => files::export(&request, path, form),
            None => files::plan(&request),
        }
    }
}

/// Plans a save to another path in a given form, whatever the form of its name.
pub fn plan_as(session: &Session, to: &Path, form: Form) -> Plan {
    let request = request(session, Some(to), Limits::default());
    if form == form_of(session) { files::plan(&request) } else { files::export(&request, to, form) }
}

pub(in crate::session) fn request<'s>(session: &'s Session, to: Option<&'s Path>, limits: Limits) -> Request<'s> {
    Request {
        known: &[],
        document: session.document(),
        saved: &session.current.saved,
        disk: &session.disk,
        to,
        base_url: session.base_url(),
        limits,
        now: session.current.clock,
    }
}

/// All rows of several files in one new file without a path. It is only for writing, since it was not checked.
///
/// # Errors
/// The number of files that the rows need, if they do not fit into one.
pub fn joined(session: &Session) -> Result<Session, usize> {
    let xml = files::converted_to_xml(session.document()).map(|(document, _)| document);
    let document = xml.as_ref().unwrap_or(session.document());
    let rows: Vec<u32> = document.live_rows().map(|row| row.0).collect();
    let partition = repartition(document, &[rows], Limits::default()).document;
    if partition.sitemaps().len() > 1 {
        return Err(partition.sitemaps().len());
    }
    let mut joined = Session::new(session.current.clock, session.base_url().map(ToOwned::to_owned));
    joined.current.view = View::file_order(&partition);
    joined.current.state.document = partition;
    joined.loading = false;
    Ok(joined)
}

/// The format of the open file if it is a feed that was not saved as a sitemap.
pub fn feed(session: &Session) -> Option<Feed> {
    match session.document().only_sitemap()?.form {
        Form::Feed(feed) => Some(feed),
        _ => None,
    }
}

/// A message about columns of tables that contain no field of a sitemap; `None` if there are none.
pub fn dropped_columns(session: &Session) -> Option<String> {
    let columns = conversion::unknown_columns(session.document());
    let (verb, object) = if columns.len() == 1 { ("holds", "it") } else { ("hold", "them") };
    let words = columns_in_words(&columns);
    (!columns.is_empty()).then(|| format!("{words} {verb} no field of a sitemap; a save leaves {object} as read"))
}

/// The form of the document: that of its only file, else XML. A feed counts as XML, since it is saved as a sitemap.
pub fn form_of(session: &Session) -> Form {
    match (session.document().index(), session.document().only_sitemap()) {
        (None, Some(only)) if !matches!(only.form, Form::Feed(_)) => only.form,
        _ => Form::Xml,
    }
}

/// The form of a file name, if it is not that of the document.
pub(in crate::session) fn other_form(session: &Session, path: &Path) -> Option<Form> {
    let form = Form::of_name(&path.file_name()?.to_string_lossy())?;
    (form != form_of(session)).then_some(form)
}

/// Prepares a save, which can start when its locks are taken. `force` overwrites files that changed since they were
/// read.
///
/// # Errors
/// `EditError` while the set is being loaded. One that is read-only can be saved to another path.
pub fn prepare(session: &mut Session, plan: Plan, force: bool) -> Result<PendingSave, EditError> {
    if session.loading {
        return Err(EditError::Refused("still loading; wait, or stop it with Esc".into()));
    }
    Ok(prepare_now(session, plan, force))
}

/// Starts a save whose locks are taken, to be run on a worker. Changes since it was prepared stay unsaved.
pub(crate) fn begin_claimed(session: &mut Session, pending: PendingSave, claimed: Claimed) -> Saving {
    let noted = if pending.plan.copy { None } else { journal::note_saving(session, &pending.plan.document, &claimed) };
    if session.current.state.version != pending.version {
        journal::note_during(session);
    }
    Saving { pending, claimed, noted }
}

/// Starts a save, to be run on a worker.
///
/// # Errors
/// As [`prepare`], and if another program holds the locks of the files.
pub fn begin(session: &mut Session, plan: Plan, force: bool) -> Result<Saving, EditError> {
    let mut pending = prepare(session, plan, force)?;
    // Before the journal records the save: a save that cannot take its locks is not recorded.
    let claimed = pending.claim()?;
    Ok(begin_claimed(session, pending, claimed))
}

/// Sets the user's state folder, which has the key that authenticates records of saves.
pub fn set_state_folder(session: &mut Session, state: Option<PathBuf>) {
    session.state_folder = state;
}

/// When a save makes backups of the files that it replaces.
pub fn backups(session: &Session) -> When {
    session.backups.when()
}

/// Sets when a save makes backups of the files that it replaces, from the next save on.
pub fn set_backups(session: &mut Session, when: When) {
    session.backups.set_when(when);
}

fn prepare_now(session: &mut Session, plan: Plan, force: bool) -> PendingSave {
    let (version, document) = (session.current.state.version, session.document().clone());
    let disk = if plan.copy { Disk::default() } else { session.disk.clone() };
    let state = session.state_folder.clone();
    let mode = SaveMode { force, backups: session.backups.clone(), now: session.current.clock, state };
    PendingSave { plan, disk, mode, version, document, locks: SaveLocks::of(session) }
}

/// Updates the session with the result of a save: its version is the saved one now. Changes that were made while it ran
/// stay unsaved. Returns a message.
///
/// This runs on the thread that draws: the cost is proportional to the changes made since the start of the save, the
/// rows of the files in which rows were added or deleted, and the text around the entries of each file, but not to all
/// rows.
///
/// # Errors
/// The error of the save; all changes are still unsaved.
pub fn finish(session: &mut Session, result: SaveResult) -> Result<String, files::Error> {
    if result.copy {
        // Neither the document nor the state of its files has changed.
        let saved = result.outcome?;
        return Ok(copied(&saved, session.path.as_deref()));
    }
    // After an error, this includes the state of the files that were already written.
    session.disk = result.disk;
    let saved = match result.outcome {
        Ok(saved) => saved,
        Err(error) => {
            if matches!(error.reason, files::Reason::Cancelled) {
                journal::note_no_save(session);
            } else {
                journal::note_unfinished(session, result.claimed);
            }
            return Err(error);
        }
    };
    let mut message = words(&saved);
    let files = |document: &Document| document.index().map_or(1, Index::file_count);
    if files(&saved.document) > files(&session.current.saved) {
        let paths = files::main_paths(&saved.document);
        let names = paths.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(", ");
        let _ = write!(message, "; the index has {} files now; submit each: {names}", paths.len());
    }
    if let Some(to) = saved.path.as_deref().filter(|to| files::main_path(&result.document).as_deref() != Some(to)) {
        take_history_to(session, to, result.version);
    }
    session.path = saved.path.clone().or_else(|| session.path.take());
    if saved.document.index().is_none() && saved.document.sitemaps().len() > 1 {
        // A list that became several is several files without an index from now on.
        session.paths = saved.document.sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()).collect();
    } else if saved.document.index().is_some() {
        let paths = files::main_paths(&saved.document);
        session.paths = if paths.len() > 1 { paths } else { Vec::new() };
    }
    session.current.saved = saved.document;
    session.current.saves += 1;
    session.saved_version = result.version;
    session.overwrites_changes = false;
    rebase_after_save(session, &result.document, result.version);
    if session.current.state.version == result.version {
        (session.current.state.changed, session.current.state.modified) = (0, false);
        session.current.state.counted = session.current.saves;
    } else {
        session.current.restore_positions();
        session.current.count_changes();
    }
    session.current.view = session.current.view.with_changed_rows(&session.current.state.document, &[], None);
    index_findings::check_entries(session);
    file_findings::check(session);
    journal::note_save(session, result.claimed, result.relocked);
    Ok(message)
}

/// Relocates the set to another path in all earlier states of the history: undo reverts changes, not the path of a
/// save.
fn take_history_to(session: &mut Session, to: &Path, version: u64) {
    for state in session.history.states().filter(|state| state.version < version) {
        for id in files::relocate(&mut state.document, to) {
            if state.document.sitemap(id).is_some_and(|sitemap| matches!(sitemap.form, Form::Feed(_))) {
                state.document.set_form(id, Form::Xml);
            }
        }
    }
}

/// Rebases the saved document, and the later ones of the history, onto the files that the save has written. `then` is
/// the document at the start of the save, and `version` its version.
fn rebase_after_save(session: &mut Session, then: &Document, version: u64) {
    let saved = &session.current.saved;
    let quirks = |document: &Document| -> usize { document.sitemaps().iter().map(|file| file.quirks.len()).sum() };
    let repaired = quirks(then) != quirks(saved);
    let rebased = |state: &State| {
        if state.version == version {
            let moved = moved_rows(then, saved);
            return Some(Rebased { document: saved.clone(), moved, repaired });
        }
        rebase(&state.document, then, saved).filter(|_| state.version > version)
    };
    // If repairs were saved, older states of the history keep their findings about repairs.
    for state in session.history.states().filter(|state| state.version >= version && !repaired) {
        let Some(rebased) = rebased(state) else { continue };
        let old = std::mem::replace(&mut state.document, rebased.document);
        state.checks.move_rows(&old, &state.document, &rebased.moved);
    }
    if let Some(rebased) = rebased(&session.current.state) {
        let old = std::mem::replace(&mut session.current.state.document, rebased.document);
        if rebased.repaired {
            forget_repairs(session, &old);
        }
        session.current.state.checks.move_rows(&old, &session.current.state.document, &rebased.moved);
    }
}

/// Rechecks rows that were repaired when they were read: the repairs are saved, so that their findings disappear.
fn forget_repairs(session: &mut Session, old: &Document) {
    let document = &session.current.state.document;
    let ids = (0..old.sitemaps().len() as u32).map(SitemapId);
    let touched: RowSet = ids.flat_map(|id| old.repaired_rows(id)).map(|row| row.0).collect();
    if touched.is_empty() {
        return;
    }
    let applied = Applied { touched, ..Applied::unchanged(document) };
    let rechecked = session.current.state.checks.recheck(old, &applied, session.current.clock, &Progress::default());
    if let Some(rechecked) = rechecked {
        session.current.state.checks.commit(rechecked, old, &applied);
    }
}

/// Plans a save, writes the files and updates the session, all on this thread.
///
/// # Errors
/// As `Session::saved`, and when the plan has problems or needs a base URL.
pub fn now(session: &mut Session, to: Option<&Path>, force: bool) -> Result<String, files::Error> {
    let plan = session.plan(to);
    let pending = prepare_now(session, plan, force);
    let saving = begin_claimed(session, pending, Claimed::default());
    finish(session, saving.run(&Progress::default()))
}

/// Rows that are in another file after the save.
fn moved_rows(then: &Document, saved: &Document) -> RowSet {
    let mut moved = RowSet::new();
    for id in then.sitemaps().len()..saved.sitemaps().len() {
        if let Some(sitemap) = saved.sitemap(SitemapId(id as u32)) {
            moved.extend(sitemap.rows.iter().map(|row: RowId| row.0));
        }
    }
    moved
}

/// The message about a copy in another form.
fn copied(saved: &Saved, own: Option<&Path>) -> String {
    let name = own.and_then(Path::file_name).map_or_else(|| "unsaved".into(), |name| name.to_string_lossy());
    format!("{}; this is still {name}", words(saved).replacen("saved", "exported", 1))
}

/// The numbers of files that a save did not write: `, 4 untouched, 1 removed`; the first one only if `names_untouched`.
pub fn beside(saved: &Saved, names_untouched: bool) -> String {
    let mut text = String::new();
    if saved.untouched > 0 && names_untouched {
        let _ = write!(text, ", {} untouched", grouped(saved.untouched as u64));
    }
    if !saved.removed.is_empty() {
        let _ = write!(text, ", {} removed", grouped(saved.removed.len() as u64));
    }
    text
}

/// The message about a save.
pub fn words(saved: &Saved) -> String {
    let bytes: u64 = saved.written.iter().map(|(_, bytes)| bytes).sum();
    let mut text = match saved.written.as_slice() {
        [] => "nothing to save: no unsaved changes".to_owned(),
        [(path, bytes)] => format!("saved {} ({})", path.display(), size(*bytes)),
        files => format!("saved {} ({})", counted(files.len() as u64, "file"), size(bytes)),
    };
    text += &beside(saved, !saved.written.is_empty());
    text + &backup(saved)
}

/// The part of a message about the backup: `; the previous files are in sitemap.xml.bak/2026-11-20T10-20-30Z`.
pub fn backup(saved: &Saved) -> String {
    let message = |dated: &PathBuf| format!("; the previous files are in {}", dated.display());
    saved.backups.first().map_or_else(String::new, message) + &unsigned(saved.unsigned.as_deref())
}

/// The part of a message about a backup that could not be signed.
pub fn unsigned(why: Option<&str>) -> String {
    why.map_or_else(String::new, |why| format!("; this backup is not signed ({why}): restoring it needs --unverified"))
}

#[cfg(test)]
mod tests;
