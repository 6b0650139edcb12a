//! `Session`: an open set with its history, checks, marks and view. Every change goes through it.
//!
//! The screen, the subcommands and scripts call the same methods here. Nothing in this layer draws or prints; long work
//! is done on a [`Snapshot`], on any thread, and its result is committed.

pub(crate) mod checks;
pub mod command;
pub(crate) mod data;
pub mod edit;
pub(crate) mod explain;
mod file_fixes;
pub(crate) mod findings;
pub(crate) mod fix;
mod fix_table;
pub(crate) mod grouping;
pub(crate) mod located_finding;
pub(crate) mod policy;
pub(crate) mod prepare;
pub mod report;
pub mod robots;
mod row_lines;
pub(crate) mod rule_export;
pub(crate) mod run;
pub(crate) mod settings;
pub mod state;
pub mod store;
pub(crate) mod stream;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
pub(crate) mod sampled;
#[cfg(test)]
mod tests;

use crate::check::robots::RobotsTxt;
use crate::check::site::Site;
use crate::check::{Finding, Profile};
use crate::data::DataSet;
use crate::document::Document;
use crate::document::query::Query;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::document::sort::SortKey;
use crate::document::view::{View, ViewSpec};
use crate::files::{self, Disk};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::checks::Criteria;
use edit::{Change, EditError, Prepared, prepared};
use findings::file_findings;
use state::history::{self, History};
use state::{Snapshot, State};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::journal;
use store::load::Uncompared;

/// Changes of up to this many rows are made on the calling thread; larger ones are jobs.
pub const SMALL: u64 = checks::INLINE_ROWS;

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Past tense: `priority set to 0.8 on 1,167 rows`.
    pub message: String,
    /// Rows whose text or presence changed.
    pub touched: u64,
    /// Rows whose rules were evaluated again.
    pub rechecked: u64,
    /// The row to move the cursor to, if the change determines one.
    pub cursor: Option<RowId>,
    /// Whether the document differs from before, including the order of its rows.
    pub changed: bool,
    /// A message about new URLs that are errors or duplicates.
    pub faults: Option<String>,
}

/// Errors, warnings and notes of the whole set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Findings of severity error.
    pub errors: u64,
    /// Of severity warning.
    pub warnings: u64,
    /// Of severity note.
    pub notes: u64,
}

/// One open set.
#[derive(Debug)]
pub struct Session {
    current: Snapshot,
    history: History,
    next_version: u64,
    saved_version: u64,
    /// The state of the files when they were last read or written.
    disk: Disk,
    /// Whether other programs changed the files on disk and the next save overwrites their changes.
    overwrites_changes: bool,
    /// Whether the base URL was recorded with a download, and not named by the user.
    is_base_recorded: bool,
    /// Whether saves back up the files that they replace.
    backups: files::Backups,
    path: Option<PathBuf>,
    /// All files, if the set has several and no index.
    paths: Vec<PathBuf>,
    unread: Vec<files::Error>,
    read_only: Option<String>,
    loading: bool,
    /// How an interrupted save was recovered when the set was opened.
    recovered: files::Recovered,
    /// The user's state folder, whose key authenticates commit records.
    state_folder: Option<PathBuf>,
    /// The journal of unsaved changes, if there is a state slot for it.
    keeping: Option<journal::JournalState>,
    /// Notified when the journal stops or resumes recording changes.
    watcher: Option<files::journal::Watcher>,
    file_findings: Arc<Vec<Finding>>,
    /// For each entry of the index, the number of the set of rules that it violates.
    index_rules: Vec<u16>,
    /// The required URLs of the policy that a streamed set lists.
    listed: RowSet,
    /// Hashes by which rows are compared once all files are loaded; only for sets that are only reported on.
    uncompared: Option<Uncompared>,
    /// Line numbers, by row, of rows that findings of other rows name; only for streamed sets.
    known_lines: Arc<Vec<(u32, u32)>>,
    /// The windows of the damaged files of which only the first entries are in memory.
    repaired_windows: HashMap<SitemapId, files::RepairedWindows>,
}

impl Session {
    /// An empty session that waits for files; read-only until loading is finished.
    pub fn new(now: Now, base_url: Option<String>) -> Self {
        let snapshot = Snapshot {
            state: State::default(),
            saved: Document::default(),
            saves: 0,
            marks: Arc::default(),
            view: View::default(),
            spec: ViewSpec::default(),
            clock: now,
            data: None,
            base_url: base_url.map(Into::into),
            languages: None,
        };
        Self {
            current: snapshot,
            history: History::default(),
            next_version: 1,
            saved_version: 0,
            disk: Disk::default(),
            overwrites_changes: false,
            is_base_recorded: false,
            backups: files::Backups::default(),
            path: None,
            paths: Vec::new(),
            unread: Vec::new(),
            read_only: None,
            loading: true,
            recovered: files::Recovered::default(),
            state_folder: None,
            keeping: None,
            watcher: None,
            file_findings: Arc::default(),
            index_rules: Vec::new(),
            uncompared: None,
            known_lines: Arc::default(),
            repaired_windows: HashMap::new(),
            listed: RowSet::new(),
        }
    }

    /// A copy of the current snapshot, for jobs.
    pub fn snapshot(&self) -> Snapshot {
        self.current.clone()
    }

    /// The current snapshot.
    pub const fn view(&self) -> &Snapshot {
        &self.current
    }

    /// Counts of the findings.
    pub const fn counts(&self) -> findings::Counts<'_> {
        findings::Counts { session: self }
    }

    /// The document.
    pub const fn document(&self) -> &Document {
        &self.current.state.document
    }

    /// Sets the profile and checks every row again, on all cores.
    pub fn set_profile(&mut self, profile: Profile) {
        let criteria = Criteria { profile, ..self.view().checks.criteria().clone() };
        policy::recheck_now(self, criteria);
    }

    /// Sets the data columns and the robots.txt that queries, values and rules use; `None` removes them. Checks every
    /// row again, on all cores.
    pub fn set_site(&mut self, data: Option<Arc<DataSet>>, robots: Option<Arc<RobotsTxt>>) {
        let site = Site::of(data.as_ref(), robots).map(Arc::new);
        self.current.data = data;
        policy::recheck_now(self, Criteria { site, ..self.view().checks.criteria().clone() });
    }

    /// Declares cross-submission (see `CROSS_SUBMISSION`). Call it before anything is opened.
    pub fn allow_other_sites(&mut self) {
        self.current.state.checks.allow_other_sites();
    }

    /// Sets the current time: sessions read no clock.
    pub const fn set_clock(&mut self, now: Now) {
        self.current.clock = now;
    }

    /// The file that was opened; `None` for an unsaved document.
    pub const fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// All opened files, if several of them form one set without an index, or one index; otherwise empty.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Every file of the set as it was read or written last.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.disk.paths()
    }

    /// Whether every file was the same when the other session read it.
    pub fn has_files_of(&self, other: &Self) -> bool {
        self.disk == other.disk
    }

    /// The files that could not be read, each with the reason.
    pub fn unread(&self) -> &[files::Error] {
        &self.unread
    }

    /// The public base URL of the set, if it is known.
    pub fn base_url(&self) -> Option<&str> {
        self.current.base_url.as_deref()
    }

    /// Sets the public base URL of the set; rules about paths follow at the next load.
    pub fn set_base_url(&mut self, url: Option<String>) {
        self.current.base_url = url.map(Into::into);
    }

    /// Why nothing can be changed; `None` when everything can.
    pub fn read_only(&self) -> Option<&str> {
        if self.loading { Some("still loading") } else { self.read_only.as_deref() }
    }

    /// Forbids changes from now on.
    pub fn set_read_only(&mut self, reason: impl Into<String>) {
        self.read_only = Some(reason.into());
    }

    /// How an interrupted save was recovered when the set was opened.
    pub const fn recovered(&self) -> &files::Recovered {
        &self.recovered
    }

    /// Whether files are still being loaded.
    pub const fn is_loading(&self) -> bool {
        self.loading
    }

    // ── reading ─────────────────────────────────────────────────────────────────────────────────

    /// Findings about files, the index and the set, but not about rows.
    pub fn file_findings(&self) -> &[Finding] {
        &self.file_findings
    }

    /// Whether there is anything that a save would write.
    pub const fn is_modified(&self) -> bool {
        self.current.state.modified || self.overwrites_changes
    }

    // ── marks ───────────────────────────────────────────────────────────────────────────────────

    /// Marks or unmarks rows.
    pub fn mark(&mut self, rows: &RowSet, on: bool) {
        let marks = Arc::make_mut(&mut self.current.marks);
        if on {
            *marks |= rows;
        } else {
            *marks -= rows;
        }
    }

    /// Inverts the marks of the shown rows.
    pub fn invert_marks(&mut self) {
        let shown = self.view().shown_rows();
        *Arc::make_mut(&mut self.current.marks) ^= shown;
    }

    // ── view ────────────────────────────────────────────────────────────────────────────────────

    /// Replaces the view with one made from this document.
    pub fn show(&mut self, spec: ViewSpec, view: View) {
        self.current.spec = spec;
        self.current.view = view;
    }

    /// Filters and sorts on this thread.
    pub fn show_now(&mut self, filter: Option<Query>, sort: Vec<SortKey>) {
        let spec = ViewSpec { filter, sort };
        if let Some(view) = self.current.view_of(&spec, &Progress::default()) {
            self.show(spec, view);
        }
    }

    // ── change ──────────────────────────────────────────────────────────────────────────────────

    /// Makes a change on this thread.
    ///
    /// # Errors
    /// `EditError` with the reason and what to do instead.
    pub fn change(&mut self, change: &Change) -> Result<Report, EditError> {
        self.writable()?;
        let prepared = prepare::of_change(&self.current, change, &Progress::default())?;
        self.commit(prepared, None)
    }

    /// Fails if changes are not allowed.
    ///
    /// # Errors
    /// `EditError` with the reason.
    pub fn writable(&self) -> Result<(), EditError> {
        match self.read_only() {
            Some(reason) => Err(EditError::Refused(format!("read-only: {reason}"))),
            None => Ok(()),
        }
    }

    /// Commits a prepared change as one step of the history. `cursor` is the row that undo returns to.
    ///
    /// # Errors
    /// `EditError` when the document has changed since it was prepared.
    pub fn commit(&mut self, prepared: Prepared, cursor: Option<RowId>) -> Result<Report, EditError> {
        self.writable()?;
        if prepared.base != self.current.state.version {
            return Err(EditError::Refused("the document has changed meanwhile; do it again".into()));
        }
        // A save that finished since then may have moved rows to other files: the change is prepared again.
        let prepared = if prepared.saves == self.current.saves {
            prepared
        } else {
            let again = prepared::prepare_intent(&self.current, prepared.intent, &Progress::default());
            again.ok_or(EditError::Cancelled)?
        };
        let Prepared { applied, mut rechecked, intent, changed, .. } = prepared;
        if !rechecked.is_for(self.current.checks.criteria()) {
            // A probe has changed the criteria since.
            let Snapshot { state: State { document, checks, .. }, clock, .. } = &self.current;
            let again = checks.recheck(document, &applied, *clock, &Progress::default());
            rechecked = again.ok_or(EditError::Cancelled)?;
        }
        let (touched, rechecked_rows) = (applied.touched.len(), rechecked.rows);
        if applied.is_unchanged() {
            let (message, rechecked) = (intent.done_message(false), rechecked_rows);
            return Ok(Report { message, touched, rechecked, cursor: None, changed: false, faults: None });
        }
        let left = intent.increase_message(self.view().profile());
        let (faults, message) = (intent.urls.faults(), intent.done_message(true));
        let (edit, commands) = (intent.edit, intent.commands);
        // If a worker made another set index, and the two share the table of URLs, both states keep their own.
        let keeps = rechecked.has_set() && applied.field.is_some_and(|field| field != Field::Loc);
        let mut checks =
            if keeps { self.current.state.checks.clone() } else { self.current.state.checks.without_set_index() };
        checks.detach_site();
        let before = State { checks, ..self.current.state.clone() };
        let old = std::mem::replace(&mut self.current.state.document, applied.document.clone());
        self.current.state.checks.commit(rechecked, &old, &applied);
        self.current.state.version = self.next_version;
        self.next_version += 1;
        (self.current.state.changed, self.current.state.counted) = (changed, self.current.saves);
        self.current.state.modified =
            changed > 0 || ((applied.moved || applied.framed || before.modified) && self.current.order_differs());
        let anchor = self.current.anchor_of(&applied.added);
        if applied.moved {
            self.current.view =
                self.current.view.with_changed_rows(&self.current.state.document, &applied.added, anchor);
        }
        file_findings::refresh(self, &old);
        let cursor_after = applied.added.first().copied();
        self.history.push((message.clone(), commands), before, cursor, applied);
        journal::note_change(self, &message, edit);
        let message = left.map_or_else(|| message.clone(), |left| format!("{message}; {left}"));
        Ok(Report { message, touched, rechecked: rechecked_rows, cursor: cursor_after, changed: true, faults })
    }

    /// Undoes the last step. `None` when there is nothing to undo.
    pub fn undo(&mut self) -> Option<Report> {
        step(self, true)
    }

    /// Redoes the next undone step. `None` when there is none.
    pub fn redo(&mut self) -> Option<Report> {
        step(self, false)
    }

    /// The steps, oldest first.
    pub fn history(&self) -> Vec<history::Entry> {
        self.history.entries(self.saved_version, self.current.state.version)
    }
}

/// Undoes or redoes a step, and checks it under the current profile and policy.
fn step(session: &mut Session, back: bool) -> Option<Report> {
    // Without the set index, which the other state takes.
    let before = session.current.state.checks.without_set_index();
    let from = session.current.state.document.clone();
    session.current.state.checks.detach_site();
    let stepped = step_over(session, back);
    // A step that is older than the current profile, policy or answers of the site was checked against others.
    let clock = session.current.clock;
    let State { document, checks, .. } = &mut session.current.state;
    let compared = from.compare(document);
    let touched = stepped.as_ref().map(|(_, touched)| touched | &compared.rows_in_other_files()).unwrap_or_default();
    if checks.adopt_criteria(&before, (document, &touched), clock) {
        file_findings::check(session);
    }
    let (report, _) = stepped?;
    journal::note_step(session, back);
    Some(report)
}

/// Swaps the state for that before or after a step, and returns the rows that it touched.
fn step_over(session: &mut Session, back: bool) -> Option<(Report, RowSet)> {
    let state = &mut session.current.state;
    let old = state.document.clone();
    let step = if back { session.history.undo(state)? } else { session.history.redo(state)? };
    let (touched, label, cursor) = (step.touched.clone(), step.label.clone(), step.cursor);
    let moved = step.moved;
    session.history.hand_over(back, &mut session.current.state, &old, &touched);
    // A save since this step may have changed the saved document.
    let is_stale = session.current.state.counted != session.current.saves;
    let moved = (is_stale && session.current.restore_positions()) || moved;
    if is_stale {
        session.current.count_changes();
    }
    let document = &session.current.state.document;
    if moved {
        let added: Vec<RowId> =
            touched.iter().map(RowId).filter(|row| document.is_live(*row) && !old.is_live(*row)).collect();
        let anchor = session.current.anchor_of(&added);
        session.current.view = session.current.view.with_changed_rows(&session.current.state.document, &added, anchor);
        let limit = session.current.state.document.row_limit();
        Arc::make_mut(&mut session.current.marks).remove_range(limit..);
    }
    file_findings::refresh(session, &old);
    let verb = if back { "undone" } else { "redone" };
    let cursor = cursor.or_else(|| touched.min().map(RowId)).filter(|row| row.0 < session.document().row_limit());
    let message = format!("{verb}: {label}");
    let report = Report { message, touched: touched.len(), rechecked: 0, cursor, changed: true, faults: None };
    Some((report, touched))
}
