//! `Session`: an open set with its history, checks, marks and view. Every change goes through it.
//!
//! The screen, the subcommands and scripts call the same methods here. Nothing in this layer draws or
//! prints; long work is done on a [`Snapshot`] by whoever has a thread, and its result is committed.

pub mod checks;
pub mod command;
pub mod edit;
pub mod explain;
mod file_fixes;
pub mod finding;
pub mod findings;
pub mod fix;
mod fix_table;
pub mod grouping;
pub mod policy;
pub mod prepare;
pub mod report;
mod row_lines;
pub mod rule_export;
pub mod run;
pub mod state;
pub mod store;
pub mod stream;

#[cfg(test)]
pub(crate) mod sampled;
#[cfg(test)]
mod tests;

use crate::check::profile::Profile;
use crate::check::rule::{Rule, RuleSet};
use crate::data::DataSet;
use crate::document::query::Query;
use crate::document::restore_positions::restore_positions;
use crate::document::rows::{RowId, RowSet};
use crate::document::sort::SortKey;
use crate::document::view::{View, ViewSpec};
use crate::document::{Document, RowState};
use crate::files::{self, Disk};
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use crate::protocol::{Field, Severity};
use edit::{Change, Prepared, Refused, prepared};
use finding::FileFinding;
use findings::file_findings;
use state::history::{self, History};
use state::{Snapshot, State};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::journal;

/// Rows up to which a change is made at once; more is work for a job.
pub const SMALL: u64 = checks::INLINE_ROWS;

/// What a change came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Past tense: `priority set to 0.8 on 1,167 rows`.
    pub message: String,
    /// Rows whose text or presence changed.
    pub touched: u64,
    /// Rows whose rules were evaluated again.
    pub rechecked: u64,
    /// Where the cursor belongs now, if the change says so.
    pub cursor: Option<RowId>,
    /// Whether anything is another than before; an order counts.
    pub changed: bool,
    /// New URLs that are errors or duplicates, in words.
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
    /// What the files were when they were read or written last.
    disk: Disk,
    /// Whether files on disk are another's, and the next save is to write ours over them.
    owes_files: bool,
    /// What becomes of the files that a save replaces.
    backups: files::Backups,
    path: Option<PathBuf>,
    /// All files of a set of several without an index.
    paths: Vec<PathBuf>,
    unread: Vec<files::Error>,
    read_only: Option<String>,
    loading: bool,
    /// What became of an interrupted save when the set was opened.
    recovered: files::Recovered,
    /// The user's state folder, whose key authenticates what a crash during a save leaves.
    state_folder: Option<PathBuf>,
    /// Keeps what is changed against a crash, if there is a place for it.
    keeping: Option<journal::Keeping>,
    /// Is told when what is changed is not kept any more, or is again.
    watcher: Option<files::journal::Watcher>,
    file_findings: Arc<Vec<FileFinding>>,
    /// Number of the set of rules that each entry of the index violates.
    index_rules: Vec<u16>,
    /// Which of the URLs that the policy requires are listed, of a set whose files are not held.
    listed: RowSet,
    /// Lines of rows that findings of others name, by row, of a set whose files are not held.
    known_lines: Arc<Vec<(u32, u32)>>,
}

impl Session {
    /// An empty session that waits for parts; read-only until loading is finished.
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
            owes_files: false,
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
            known_lines: Arc::default(),
            listed: RowSet::new(),
        }
    }

    /// The moment as a value, for jobs.
    pub fn snapshot(&self) -> Snapshot {
        self.current.clone()
    }

    /// The moment, to read from.
    pub const fn view(&self) -> &Snapshot {
        &self.current
    }

    /// The document.
    pub const fn document(&self) -> &Document {
        &self.current.state.document
    }

    /// Whose expectations count.
    pub fn profile(&self) -> Profile {
        self.current.checks.profile()
    }

    /// Chooses whose expectations count; every row is looked at again, on all cores.
    pub fn set_profile(&mut self, profile: Profile) {
        policy::recheck_now(self, profile, self.current.checks.shared_policy().cloned());
    }

    /// Loads what other programs know about the URLs, for queries and values; `None` forgets it.
    pub fn set_data(&mut self, data: Option<Arc<DataSet>>) {
        self.current.data = data;
    }

    /// Declares that other sites let this set speak for them; see [`CROSS_SUBMISSION`](checks::CROSS_SUBMISSION). Before
    /// anything is opened.
    pub fn allow_other_sites(&mut self) {
        self.current.state.checks.allow_other_sites();
    }

    /// Tells the session what time it is (the clock is the caller's).
    pub const fn set_clock(&mut self, now: Now) {
        self.current.clock = now;
    }

    /// The file that was opened; `None` for an unsaved document.
    pub const fn path(&self) -> Option<&PathBuf> {
        self.path.as_ref()
    }

    /// All files that were opened, where several are one set without an index, or one index; else none.
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

    /// Which of several files could not be read, and why.
    pub fn unread(&self) -> &[files::Error] {
        &self.unread
    }

    /// Where the set will live, if somebody said so.
    pub fn base_url(&self) -> Option<&str> {
        self.current.base_url.as_deref()
    }

    /// Says where the set will live; rules of place follow at the next load.
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

    /// What became of an interrupted save when the set was opened.
    pub const fn recovered(&self) -> &files::Recovered {
        &self.recovered
    }

    /// Whether parts are still coming.
    pub const fn is_loading(&self) -> bool {
        self.loading
    }

    // ── reading ─────────────────────────────────────────────────────────────────────────────────

    /// URLs of the set.
    pub const fn urls(&self) -> u32 {
        self.current.state.document.live()
    }

    /// Rows on show.
    pub fn shown(&self) -> u32 {
        self.current.view.len()
    }

    /// The row at a position of the view.
    pub fn row_at(&self, position: u32) -> Option<RowId> {
        self.current.view.row_at(self.document(), position)
    }

    /// Where a row is shown.
    pub fn position_of(&self, row: RowId) -> Option<u32> {
        self.current.view.position_of(self.document(), row)
    }

    /// A row's number in file order over the whole set, from 1.
    pub fn number(&self, row: RowId) -> u32 {
        self.current.view.number(self.document(), row)
    }

    /// A field's value, decoded and trimmed, otherwise as the file has it.
    pub fn cell(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        self.document().value(row, field)
    }

    /// The same in the saved files; `None` also for rows that are not there yet.
    pub fn saved_cell(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        self.current.saved.value(row, field)
    }

    /// Whether a cell says something else than the saved file.
    pub fn is_changed(&self, row: RowId, field: Field) -> bool {
        self.document().compare(&self.current.saved).field_differs(row, field)
    }

    /// How a row differs from the saved files.
    pub fn state(&self, row: RowId) -> RowState {
        self.document().compare(&self.current.saved).row_state(row)
    }

    /// The worst severity among a row's findings.
    pub fn worst(&self, row: RowId) -> Option<Severity> {
        self.profile().worst(self.current.rules_of(row))
    }

    /// Findings per code with their number, worst severity first, then by number; those of files included.
    /// Of a rule and its variants, the worst that occurs stands for all.
    pub fn rule_counts(&self) -> Vec<(Rule, u64)> {
        let counts = self.all_counts();
        let count = |rule: Rule| counts.get(rule.index()).copied().unwrap_or_default();
        let mut list: Vec<(Rule, u64)> = Rule::mains()
            .filter_map(|main| {
                let found: RuleSet = main.family().iter().filter(|rule| count(*rule) > 0).collect();
                Some((self.profile().worst_rule(found)?, found.iter().map(count).sum()))
            })
            .collect();
        list.sort_by_key(|(rule, count)| {
            (std::cmp::Reverse(rule.severity_in(self.profile())), std::cmp::Reverse(*count), rule.index())
        });
        list
    }

    /// Whether any row has an error or a warning.
    pub fn has_bad_rows(&self) -> bool {
        let is_bad = |rule: Rule| rule.severity_in(self.profile()).is_some_and(|severity| severity > Severity::Note);
        Rule::ALL.into_iter().zip(self.current.checks.counts().iter()).any(|(rule, count)| *count > 0 && is_bad(rule))
    }

    fn all_counts(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.current.checks.counts().iter().map(|count| u64::from(*count)).collect();
        for finding in self.file_findings.iter() {
            if let Some(count) = counts.get_mut(finding.rule.index()) {
                *count += 1;
            }
        }
        counts
    }

    /// Findings by severity, over the whole set.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for (rule, count) in Rule::ALL.into_iter().zip(self.all_counts()) {
            match rule.severity_in(self.profile()) {
                Some(Severity::Error) => totals.errors += count,
                Some(Severity::Warning) => totals.warnings += count,
                Some(Severity::Note) => totals.notes += count,
                None => {}
            }
        }
        totals
    }

    /// Findings about files, the index and the set, which no row carries.
    pub fn file_findings(&self) -> &[FileFinding] {
        &self.file_findings
    }

    /// Rows that differ from the saved files.
    pub const fn changed(&self) -> u32 {
        self.current.state.changed
    }

    /// Whether there is anything that a save would write.
    pub const fn is_modified(&self) -> bool {
        self.current.state.modified || self.owes_files
    }

    /// The scheme and host that most rows share, if at least nine in ten do.
    pub fn origin(&self) -> Option<&str> {
        let (origin, rows) = self.current.checks.set().main_origin()?;
        (rows * 10 >= u64::from(self.urls()) * 9).then_some(origin)
    }

    // ── marks ───────────────────────────────────────────────────────────────────────────────────

    /// Whether a row is marked.
    pub fn is_marked(&self, row: RowId) -> bool {
        self.current.marks.contains(row.0)
    }

    /// Number of marked rows.
    pub fn marked(&self) -> u64 {
        self.current.marks.len()
    }

    /// Marks or unmarks rows.
    pub fn mark(&mut self, rows: &RowSet, on: bool) {
        let marks = Arc::make_mut(&mut self.current.marks);
        if on {
            *marks |= rows;
        } else {
            *marks -= rows;
        }
    }

    /// Rows on show, deleted ones left out.
    pub fn shown_rows(&self) -> RowSet {
        let document = self.document();
        self.current.view.rows(document).filter(|row| document.is_live(*row)).map(|row| row.0).collect()
    }

    /// Rows between two positions of the view, both included.
    pub fn rows_between(&self, from: u32, to: u32) -> RowSet {
        (from.min(to)..=from.max(to)).filter_map(|position| self.row_at(position)).map(|row| row.0).collect()
    }

    /// Marked rows that are shown become unmarked and the other way round.
    pub fn invert_marks(&mut self) {
        let shown = self.shown_rows();
        *Arc::make_mut(&mut self.current.marks) ^= shown;
    }

    // ── view ────────────────────────────────────────────────────────────────────────────────────

    /// What the view is made by.
    pub const fn spec(&self) -> &ViewSpec {
        &self.current.spec
    }

    /// Puts a view in place that was made from this document.
    pub fn show(&mut self, spec: ViewSpec, view: View) {
        self.current.spec = spec;
        self.current.view = view;
    }

    /// Filters and sorts at once, on this thread.
    pub fn show_now(&mut self, filter: Option<Query>, sort: Vec<SortKey>) {
        let spec = ViewSpec { filter, sort };
        if let Some(view) = self.current.view_of(&spec, &Progress::default()) {
            self.show(spec, view);
        }
    }

    // ── change ──────────────────────────────────────────────────────────────────────────────────

    /// Makes a change at once, on this thread.
    ///
    /// # Errors
    /// [`Refused`] says why not, and what to do instead.
    pub fn change(&mut self, change: &Change) -> Result<Report, Refused> {
        self.writable()?;
        let prepared = prepare::of_change(&self.current, change, &Progress::default())?;
        prepared.map_or_else(|| Err(Refused("cancelled".into())), |prepared| self.commit(prepared, None))
    }

    /// Whether changes are allowed.
    ///
    /// # Errors
    /// [`Refused`] with the reason.
    pub fn writable(&self) -> Result<(), Refused> {
        match self.read_only() {
            Some(reason) => Err(Refused(format!("read-only: {reason}"))),
            None => Ok(()),
        }
    }

    /// Puts a prepared change in place as one step of the history. `cursor` is where undo goes back to.
    ///
    /// # Errors
    /// [`Refused`] when the document has changed since it was prepared.
    pub fn commit(&mut self, prepared: Prepared, cursor: Option<RowId>) -> Result<Report, Refused> {
        self.writable()?;
        if prepared.base != self.current.state.version {
            return Err(Refused("the document has changed meanwhile; do it again".into()));
        }
        // A save that has ended since then may have put rows into other files: the same is done to what it left.
        let prepared = if prepared.saves == self.current.saves {
            prepared
        } else {
            let again = prepared::prepare_intent(&self.current, prepared.intent, &Progress::default());
            again.ok_or_else(|| Refused("cancelled".into()))?
        };
        let Prepared { applied, rechecked, intent, changed, .. } = prepared;
        let (touched, rechecked_rows) = (applied.touched.len(), rechecked.rows);
        if applied.is_nothing() {
            let (message, rechecked) = (intent.done(false), rechecked_rows);
            return Ok(Report { message, touched, rechecked, cursor: None, changed: false, faults: None });
        }
        let left = intent.left_words(self.profile());
        let (faults, message) = (intent.urls.faults(), intent.done(true));
        let (edit, intent_said) = (intent.edit, intent.said);
        // Where a worker made another set index, and the two share the table of URLs, both sides keep their own.
        let keeps = rechecked.has_set() && applied.field.is_some_and(|field| field != Field::Loc);
        let checks = if keeps { self.current.state.checks.clone() } else { self.current.state.checks.bare() };
        let before = State { checks, ..self.current.state.clone() };
        let old = std::mem::replace(&mut self.current.state.document, applied.document.clone());
        self.current.state.checks.commit(rechecked, &old, &applied);
        self.current.state.version = self.next_version;
        self.next_version += 1;
        (self.current.state.changed, self.current.state.counted) = (changed, self.current.saves);
        self.current.state.modified =
            changed > 0 || ((applied.moved || applied.framed || before.modified) && self.order_differs());
        let anchor = self.anchor_of(&applied.added);
        if applied.moved {
            self.current.view =
                self.current.view.with_changed_rows(&self.current.state.document, &applied.added, anchor);
        }
        file_findings::refresh(self, &old);
        let cursor_after = applied.added.first().copied();
        self.history.push((message.clone(), intent_said), before, cursor, applied);
        journal::note_change(self, &message, edit);
        let message = left.map_or_else(|| message.clone(), |left| format!("{message}; {left}"));
        Ok(Report { message, touched, rechecked: rechecked_rows, cursor: cursor_after, changed: true, faults })
    }

    /// Finds out how the document differs from the saved one.
    fn count_changes(&mut self) {
        let Snapshot { state, saved, saves, .. } = &mut self.current;
        state.changed = state.document.compare(saved).changed_rows();
        state.modified = state.changed > 0 || !state.document.compare(saved).is_same();
        state.counted = *saves;
    }

    /// Whether files or orders differ although no row does.
    fn order_differs(&self) -> bool {
        !self.current.state.document.compare(&self.current.saved).is_same()
    }

    /// The row that stands before the first added one in its file.
    fn anchor_of(&self, added: &[RowId]) -> Option<RowId> {
        let first = *added.first()?;
        let sitemap = self.document().sitemap(self.document().sitemap_of(first))?;
        let position = sitemap.rows.position(first)?;
        position.checked_sub(1).and_then(|position| sitemap.rows.get(position))
    }

    /// Takes the last step back. `None` when there is nothing to undo.
    pub fn undo(&mut self) -> Option<Report> {
        self.step(true)
    }

    /// Does the next undone step again. `None` when there is none.
    pub fn redo(&mut self) -> Option<Report> {
        self.step(false)
    }

    fn step(&mut self, back: bool) -> Option<Report> {
        let (profile, policy) = (self.profile(), self.current.checks.shared_policy().cloned());
        let report = self.step_over(back);
        if report.is_some() {
            journal::note_step(self, back);
        }
        // A step that is older than the choice of the profile or the policy was checked for another one.
        if report.is_some() {
            policy::recheck_now(self, profile, policy);
        }
        report
    }

    fn step_over(&mut self, back: bool) -> Option<Report> {
        let state = &mut self.current.state;
        let old = state.document.clone();
        let step = if back { self.history.undo(state)? } else { self.history.redo(state)? };
        let (touched, label, cursor) = (step.touched.clone(), step.label.clone(), step.cursor);
        let moved = step.moved;
        self.history.hand_over(back, &mut self.current.state, &old, &touched);
        // What was saved in between may differ from what the step knew.
        let is_stale = self.current.state.counted != self.current.saves;
        let moved = (is_stale && self.place_rows()) || moved;
        if is_stale {
            self.count_changes();
        }
        let document = &self.current.state.document;
        if moved {
            let added: Vec<RowId> =
                touched.iter().map(RowId).filter(|row| document.is_live(*row) && !old.is_live(*row)).collect();
            let anchor = self.anchor_of(&added);
            self.current.view = self.current.view.with_changed_rows(&self.current.state.document, &added, anchor);
            let limit = self.current.state.document.row_limit();
            Arc::make_mut(&mut self.current.marks).remove_range(limit..);
        }
        file_findings::refresh(self, &old);
        let verb = if back { "undone" } else { "done again" };
        let cursor = cursor.or_else(|| touched.min().map(RowId)).filter(|row| row.0 < self.document().row_limit());
        Some(Report {
            message: format!("{verb}: {label}"),
            touched: touched.len(),
            rechecked: 0,
            cursor,
            changed: true,
            faults: None,
        })
    }

    /// Gives every row that was deleted a place, though an earlier save may have taken it from the files. Whether any had
    /// none.
    fn place_rows(&mut self) -> bool {
        let placed = restore_positions(&self.current.state.document, &self.current.saved);
        placed.map(|placed| self.current.state.document = placed).is_some()
    }

    /// The steps, oldest first.
    pub fn history(&self) -> Vec<history::Entry> {
        self.history.entries(self.saved_version, self.current.state.version)
    }
}
