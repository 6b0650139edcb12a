//! `Snapshot`: an immutable view of the session that can be cloned cheaply and passed to jobs.
//!
//! It has everything that reading, filtering, previewing and preparing a change need.

pub(crate) mod facts;
pub(crate) mod history;
pub(super) mod languages;

use crate::check::Profile;
use crate::check::rule::RuleSet;
use crate::data::DataSet;
use crate::document::query::Vocabulary;
use crate::document::restore_positions::restore_positions;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::Member;
use crate::document::view::{View, ViewSpec};
use crate::document::{Document, RowState};
use crate::protocol::lastmod::Now;
use crate::protocol::{Field, Severity};
use crate::session::checks::Checks;
use crate::session::state::languages::Languages;
pub use facts::vocabulary;
use std::borrow::Cow;
use std::sync::Arc;

/// A document with its findings; undo and redo swap states.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The document.
    pub document: Document,
    /// Its findings.
    pub checks: Checks,
    /// Rows that differ from the saved document.
    pub changed: u32,
    /// Whether anything differs from the saved document: rows, their order, the files.
    pub modified: bool,
    /// Renewed at each change; states of one version have the same document.
    pub version: u64,
    /// The [`Snapshot::saves`] for which `changed` and `modified` were computed.
    pub counted: u64,
}

/// The session at one moment, for readers.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// The document as the files on disk have it.
    pub saved: Document,
    /// Number of times that the saved document was replaced.
    pub saves: u64,
    /// Rows that the user marked.
    pub marks: Arc<RowSet>,
    /// The shown rows.
    pub view: View,
    /// Filter and sort order of the view.
    pub spec: ViewSpec,
    /// The current time, for `today` and for rules that need it.
    pub clock: Now,
    /// The data columns, if a table was loaded.
    pub data: Option<Arc<DataSet>>,
    /// The public URL of the set's folder, if known.
    pub base_url: Option<Arc<str>>,
    /// The languages of pages that do not list themselves; only for streamed sets.
    pub(super) languages: Option<Arc<Languages>>,
}

impl std::ops::Deref for Snapshot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl Snapshot {
    /// The profile, whose expectations apply.
    pub fn profile(&self) -> Profile {
        self.checks.profile()
    }

    /// URLs of the set.
    pub const fn urls(&self) -> u32 {
        self.state.document.live()
    }

    /// Number of shown rows.
    pub fn shown(&self) -> u32 {
        self.view.len()
    }

    /// The row at a position of the view.
    pub fn row_at(&self, position: u32) -> Option<RowId> {
        self.view.row_at(&self.document, position)
    }

    /// The position of a row in the view; `None` if it is not shown.
    pub fn position_of(&self, row: RowId) -> Option<u32> {
        self.view.position_of(&self.document, row)
    }

    /// A row's number in file order over the whole set, from 1.
    pub fn number(&self, row: RowId) -> u32 {
        self.view.number(&self.document, row)
    }

    /// A field's value, decoded and trimmed, otherwise as the file has it.
    pub fn cell(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        self.document.value(row, field)
    }

    /// A field's value in the saved files; `None` also for rows that are not saved yet.
    pub fn saved_cell(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        self.saved.value(row, field)
    }

    /// Whether a cell differs from the saved file.
    pub fn is_changed(&self, row: RowId, field: Field) -> bool {
        self.document.compare(&self.saved).field_differs(row, field)
    }

    /// How a row differs from the saved files.
    pub fn row_state(&self, row: RowId) -> RowState {
        self.document.compare(&self.saved).row_state(row)
    }

    /// The worst severity among a row's findings.
    pub fn worst(&self, row: RowId) -> Option<Severity> {
        self.profile().worst(self.rules_of(row))
    }

    /// The scheme and host that most rows share, if at least nine in ten do.
    pub fn origin(&self) -> Option<&str> {
        let (origin, rows) = self.checks.set().main_origin()?;
        (rows * 10 >= u64::from(self.urls()) * 9).then_some(origin)
    }

    /// Whether a row is marked.
    pub fn is_marked(&self, row: RowId) -> bool {
        self.marks.contains(row.0)
    }

    /// Number of marked rows.
    pub fn marked(&self) -> u64 {
        self.marks.len()
    }

    /// The shown rows that are not deleted.
    pub fn shown_rows(&self) -> RowSet {
        let document = &self.document;
        self.view.rows(document).filter(|row| document.is_live(*row)).map(|row| row.0).collect()
    }

    /// Rows between two positions of the view, both included.
    pub fn rows_between(&self, from: u32, to: u32) -> RowSet {
        (from.min(to)..=from.max(to)).filter_map(|position| self.row_at(position)).map(|row| row.0).collect()
    }

    /// Filter and sort order of the view.
    pub const fn spec(&self) -> &ViewSpec {
        &self.spec
    }

    /// Rows that differ from the saved files.
    pub const fn changed(&self) -> u32 {
        self.state.changed
    }

    /// Counts the rows that differ from the saved document.
    pub(super) fn count_changes(&mut self) {
        let Self { state, saved, saves, .. } = self;
        state.changed = state.document.compare(saved).changed_rows();
        state.modified = state.changed > 0 || !state.document.compare(saved).is_same();
        state.counted = *saves;
    }

    /// Whether files or orders differ although no row does.
    pub(super) fn order_differs(&self) -> bool {
        !self.document.compare(&self.saved).is_same()
    }

    /// The row before the first added one in its file.
    pub(super) fn anchor_of(&self, added: &[RowId]) -> Option<RowId> {
        let first = *added.first()?;
        let sitemap = self.document.sitemap(self.document.sitemap_of(first))?;
        let position = sitemap.rows.position(first)?;
        position.checked_sub(1).and_then(|position| sitemap.rows.get(position))
    }

    /// Restores the positions of deleted rows that an earlier save removed from the files. Returns whether there were
    /// any.
    pub(super) fn restore_positions(&mut self) -> bool {
        let restored = restore_positions(&self.document, &self.saved);
        restored.map(|restored| self.state.document = restored).is_some()
    }

    /// The names that queries and commands can use: rules, data columns, the current time.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary { data: self.data.as_ref(), ..vocabulary(self.clock) }
    }

    /// Rules that a row violates, set-level ones included.
    pub fn rules_of(&self, row: RowId) -> RuleSet {
        self.checks.rules_of(row, &self.document)
    }
}

impl Snapshot {
    /// The name of a file.
    pub fn file_name(&self, file: Member) -> Arc<str> {
        let name = match file {
            Member::Index => self.state.document.index().map(|index| &index.name),
            Member::Sitemap(id) => self.state.document.sitemap(id).map(|sitemap| &sitemap.name),
        };
        name.map_or_else(Arc::default, Arc::clone)
    }
}

#[cfg(test)]
mod tests;
