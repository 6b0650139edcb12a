//! Compares a document with its saved version: which rows, fields, orders and files differ.

use super::Document;
use super::overlay::ValueId;
use super::rows::{self, RowId, RowSet};
use super::sitemap::{Sitemap, SitemapId};
use crate::persistent::PAGE;
use crate::protocol::Field;
use crate::xml::record::Record;
use std::ops::Range;
use std::sync::Arc;

/// How a row differs from the document as saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// It does not differ.
    Clean,
    /// Its text or values differ.
    Changed,
    /// It is new.
    Added,
    /// It is deleted.
    Deleted,
}

/// A document and the version that it is compared with, which have the same row ids.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'d> {
    document: &'d Document,
    saved: &'d Document,
}

impl<'d> Comparison<'d> {
    pub(super) const fn new(document: &'d Document, saved: &'d Document) -> Self {
        Self { document, saved }
    }

    /// How a row differs from its saved state.
    pub fn row_state(&self, row: RowId) -> RowState {
        let deleted = self.document.record(row).is_deleted();
        if row.0 >= self.saved.row_limit() {
            return if deleted { RowState::Clean } else { RowState::Added };
        }
        match (self.saved.record(row).is_deleted(), deleted) {
            (false, true) => RowState::Deleted,
            (true, true) => RowState::Clean,
            (true, false) => RowState::Added,
            (false, false) if self.has_same_text(row) => RowState::Clean,
            (false, false) => RowState::Changed,
        }
    }

    fn has_same_text(&self, row: RowId) -> bool {
        if !self.has_same_base_text(row) {
            return self.document.entry_text(row) == self.saved.entry_text(row);
        }
        // Over the same base text, different overrides give different texts: an override equal to the text is dropped.
        Field::ALL.into_iter().all(|field| self.has_same_override(row, field))
    }

    pub(super) fn has_same_override(&self, row: RowId, field: Field) -> bool {
        self.document.overlay.has_same_field(&self.saved.overlay, row, field)
    }

    /// Whether the text under the field overrides of a row is the saved one.
    pub fn has_same_base_text(&self, row: RowId) -> bool {
        self.document.overlay.has_same_entry(&self.saved.overlay, row)
    }

    /// Whether a field of a row has another value than the saved one.
    pub fn field_differs(&self, row: RowId, field: Field) -> bool {
        let (ours, theirs) = (&self.document.overlay, &self.saved.overlay);
        row.0 < self.saved.row_limit()
            && !(ours.has_same_field(theirs, row, field) && ours.has_same_entry(theirs, row))
            && self.document.value(row, field) != self.saved.value(row, field)
    }

    /// Rows that may differ: those on pages that the two documents do not share.
    pub fn maybe_different(&self) -> RowSet {
        let mut pages = self.document.records.differing_pages(&self.saved.records);
        pages.extend(self.document.overlay.differing_pages(&self.saved.overlay));
        pages.sort_unstable();
        pages.dedup();
        let mut rows = RowSet::new();
        for page in pages {
            let first = (page * PAGE) as u32;
            rows.insert_range(first..(first + PAGE as u32).min(self.document.row_limit()));
        }
        rows
    }

    /// Rows of both documents that are in different files.
    pub fn rows_in_other_files(&self) -> RowSet {
        let (ours, theirs) = (&self.document.row_files, &self.saved.row_files);
        let rows = ours.differing_pages(theirs).into_iter().flat_map(|page| page * PAGE..(page + 1) * PAGE);
        rows.take_while(|row| *row < ours.len().min(theirs.len()))
            .filter(|row| ours.get(*row) != theirs.get(*row))
            .map(|row| row as u32)
            .collect()
    }

    /// Number of rows that differ.
    pub fn changed_rows(&self) -> u32 {
        self.changed_among(&self.maybe_different())
    }

    /// Number of rows of a set that differ; counted on all cores, page by page.
    pub fn changed_among(&self, rows: &RowSet) -> u32 {
        let counted = rows::par_chunks(rows, |share| {
            let mut count = 0;
            self.for_each_difference(rows, share, &mut |_, _| count += 1);
            Some(count)
        });
        counted.into_iter().flatten().sum()
    }

    /// Calls a function for the rows of a set within a range that differ, with the kind of difference.
    pub fn for_each_difference(&self, rows: &RowSet, range: Range<u32>, visit: &mut dyn FnMut(RowId, RowState)) {
        for (page, range) in rows::pages(rows, range) {
            let rows = rows::ids(rows, range).take_while(|row| *row < self.document.row_limit()).map(RowId);
            self.visit_differences_on_page(page, rows, visit);
        }
    }

    /// [`Comparison::for_each_difference`] for the rows of one page. Columns whose page is shared are skipped.
    fn visit_differences_on_page(
        &self,
        page: usize,
        rows: impl Iterator<Item = RowId>,
        visit: &mut dyn FnMut(RowId, RowState),
    ) {
        let (ours, theirs) = (self.document.records.page(page), self.saved.records.page(page));
        let (overlay, saved) = (&self.document.overlay, &self.saved.overlay);
        if ours.len() != theirs.len() || !overlay.shares_entries_page(saved, page) {
            let states = rows.map(|row| (row, self.row_state(row)));
            return states.filter(|(_, state)| *state != RowState::Clean).for_each(|(row, state)| visit(row, state));
        }
        let overrides = overlay.differing_fields(saved, page);
        for row in rows {
            let slot = row.index() % PAGE;
            let deleted = |records: &[Record]| records.get(slot).is_some_and(Record::is_deleted);
            let differs = |(ours, theirs): &(&[ValueId], &[ValueId])| {
                let id = |ids: &[ValueId]| ids.get(slot).copied().unwrap_or_default();
                !overlay.is_same_value(id(ours), saved, id(theirs))
            };
            match (deleted(theirs), deleted(ours)) {
                (false, false) if overrides.iter().any(differs) => visit(row, RowState::Changed),
                (false, true) => visit(row, RowState::Deleted),
                (true, false) => visit(row, RowState::Added),
                (false, false) | (true, true) => {}
            }
        }
    }

    /// Whether a save would write nothing: no row, order or file differs.
    pub fn is_same(&self) -> bool {
        let (ours, theirs) = (self.document.sitemaps(), self.saved.sitemaps());
        ours.len() == theirs.len()
            && ours
                .iter()
                .zip(theirs)
                .all(|(ours, theirs)| Arc::ptr_eq(ours, theirs) || self.is_same_file(ours, theirs))
            && self.has_same_index()
            && self.changed_rows() == 0
    }

    fn is_same_file(&self, ours: &Sitemap, theirs: &Sitemap) -> bool {
        let live = |document: &'d Document| move |row: &RowId| document.is_live(*row);
        ours.path == theirs.path
            && ours.gzip == theirs.gzip
            && (ours.accepted, ours.separate_news) == (theirs.accepted, theirs.separate_news)
            && Arc::ptr_eq(&ours.frame, &theirs.frame)
            && ours.rows.iter().filter(live(self.document)).eq(theirs.rows.iter().filter(live(self.saved)))
    }

    /// Whether the indexes are the same in everything that an edit can change.
    fn has_same_index(&self) -> bool {
        match (self.document.index(), self.saved.index()) {
            (Some(ours), Some(theirs)) => {
                ours.accepted == theirs.accepted
                    && ours.gzip == theirs.gzip
                    && ours.other_volumes(theirs).next().is_none()
                    && (Arc::ptr_eq(&ours.source, &theirs.source) || ours.source.bytes() == theirs.source.bytes())
            }
            // An index that only one version has is no difference: a save adds or removes it, depending on the rows.
            _ => true,
        }
    }

    /// Whether a save removes a file and its index entry: its last row was deleted, and other files have rows.
    pub fn is_removed_by_save(&self, id: SitemapId) -> bool {
        let is_empty = self.document.sitemap(id).is_some_and(|sitemap| sitemap.live == 0) && self.document.live() > 0;
        is_empty
            && self.saved.sitemap(id).is_some_and(|then| then.live > 0)
            && self.document.index().is_some_and(|index| index.child_of(id).is_some())
    }
}
