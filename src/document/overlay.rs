//! Overrides of rows: edited field values and whole entry texts, kept over the sources that the rows were read from.
//!
//! A value is stored once and referred to by its id, in persistent columns by row id.

use super::rows::RowId;
use crate::persistent::Column;
use crate::protocol::Field;
use crate::xml::splice::{Change, Changes};
use std::sync::Arc;

/// Id of an edited value within a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct ValueId(u32);

impl ValueId {
    /// No override: the value is that of the entry.
    pub(super) const NONE: Self = Self(0);
    /// The element is removed.
    pub(super) const REMOVED: Self = Self(1);

    const fn of_index(index: usize) -> Self {
        Self(index as u32 + 2)
    }

    const fn index(self) -> Option<usize> {
        match self.0.checked_sub(2) {
            Some(index) => Some(index as usize),
            None => None,
        }
    }
}

/// The overrides of all rows of a document.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    fields: [Column<ValueId>; 4],
    /// Whole entry texts: of added rows, and of rows edited as text.
    entries: Column<ValueId>,
    values: Column<Arc<str>>,
}

impl Overlay {
    /// Extends the columns to this number of rows, without overrides for the new ones.
    pub(super) fn grow(&mut self, rows: usize) {
        self.fields.iter_mut().for_each(|column| column.grow(rows));
        self.entries.grow(rows);
    }

    /// Appends a row whose entry is this text.
    pub(super) fn push_row(&mut self, text: &Arc<str>) {
        let id = self.intern(Some(text));
        self.entries.push(id);
        let rows = self.entries.len();
        self.fields.iter_mut().for_each(|column| column.grow(rows));
    }

    /// Stores a value and returns its id.
    pub(super) fn intern(&mut self, value: Option<&Arc<str>>) -> ValueId {
        let Some(text) = value else { return ValueId::REMOVED };
        self.values.push(Arc::clone(text));
        ValueId::of_index(self.values.len() - 1)
    }

    /// Replaces the whole text of a row's entry, and with it the overrides of its fields.
    pub(super) fn set_entry(&mut self, row: RowId, text: &Arc<str>) {
        let id = self.intern(Some(text));
        self.entries.set(row.index(), id);
        self.fields.iter_mut().for_each(|column| column.set(row.index(), ValueId::NONE));
    }

    /// The text of a value.
    #[inline]
    pub(super) fn text(&self, id: ValueId) -> Option<&str> {
        self.values.get(id.index()?).map(AsRef::as_ref)
    }

    /// The override of a field.
    #[inline]
    pub(super) fn field(&self, row: RowId, field: Field) -> ValueId {
        self.fields[field.index()].get(row.index()).copied().unwrap_or_default()
    }

    #[inline]
    fn entry_id(&self, row: RowId) -> ValueId {
        self.entries.get(row.index()).copied().unwrap_or_default()
    }

    /// The text that replaces the whole entry.
    #[inline]
    pub(super) fn entry(&self, row: RowId) -> Option<&str> {
        self.text(self.entry_id(row))
    }

    /// Whether a text replaces the whole entry.
    #[inline]
    pub(super) fn has_entry(&self, row: RowId) -> bool {
        self.entry_id(row) != ValueId::NONE
    }

    /// Whether any field is overridden.
    pub(super) fn has_fields(&self, row: RowId) -> bool {
        Field::ALL.into_iter().any(|field| self.field(row, field) != ValueId::NONE)
    }

    /// The overrides of the fields, to be spliced into the entry.
    #[inline]
    pub(super) fn changes(&self, row: RowId) -> Changes<'_> {
        self.changes_of(Field::ALL.map(|field| self.field(row, field)))
    }

    /// The overrides with these ids, by [`Field::index`].
    #[inline]
    pub(super) fn changes_of(&self, ids: [ValueId; 4]) -> Changes<'_> {
        ids.map(|id| match id {
            ValueId::NONE => None,
            ValueId::REMOVED => Some(Change::Remove),
            id => self.text(id).map(Change::Set),
        })
    }

    /// One page of the ids of all fields.
    pub(super) fn page(&self, page: usize) -> [&[ValueId]; 4] {
        self.fields.each_ref().map(|column| column.page(page))
    }

    /// A copy of one page of a field's overrides.
    pub(super) fn copy_of_page(&self, field: Field, page: usize) -> Arc<[ValueId]> {
        self.fields[field.index()].copy_of_page(page)
    }

    /// Replaces one page of a field's overrides.
    pub(super) fn replace_page(&mut self, field: Field, page: usize, ids: Arc<[ValueId]>) {
        self.fields[field.index()].replace_page(page, ids);
    }

    /// A test whether the loc or the whole entry is overridden, by slot of a page; `None` if no row of the page has
    /// such an override.
    pub(super) fn locs_edited_on_page(&self, page: usize) -> Option<impl Fn(usize) -> bool + '_> {
        let (locs, entries) = (self.fields[Field::Loc.index()].page(page), self.entries.page(page));
        // Nearly all pages are unedited and share one allocation.
        let is_edited = locs.iter().chain(entries).any(|id| *id != ValueId::NONE);
        let has_id = |ids: &[ValueId], slot: usize| ids.get(slot).is_some_and(|id| *id != ValueId::NONE);
        is_edited.then_some(move |slot| has_id(locs, slot) || has_id(entries, slot))
    }

    /// Whether a row has the same replaced entry in another overlay, or none in both.
    pub(super) fn has_same_entry(&self, other: &Self, row: RowId) -> bool {
        self.is_same_value(self.entry_id(row), other, other.entry_id(row))
    }

    /// Whether a field of a row has the same override in another overlay.
    pub(super) fn has_same_field(&self, other: &Self, row: RowId, field: Field) -> bool {
        self.is_same_value(self.field(row, field), other, other.field(row, field))
    }

    /// Whether two value ids mean the same in their overlays. Comparing ids is not enough: after an undo the next edit
    /// reuses an id that a saved document has for another value.
    pub(super) fn is_same_value(&self, ours: ValueId, other: &Self, theirs: ValueId) -> bool {
        match (ours.index(), theirs.index()) {
            (None, None) => ours == theirs,
            (Some(ours), Some(theirs)) => match (self.values.get(ours), other.values.get(theirs)) {
                (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs) || ours == theirs,
                _ => false,
            },
            _ => false,
        }
    }

    /// The pages that two overlays do not share; unordered, with duplicates.
    pub(super) fn differing_pages(&self, other: &Self) -> Vec<usize> {
        let mut pages = self.entries.differing_pages(&other.entries);
        for (ours, theirs) in self.fields.iter().zip(&other.fields) {
            pages.extend(ours.differing_pages(theirs));
        }
        pages
    }

    /// Whether two overlays share the page of replaced entries.
    pub(super) fn shares_entries_page(&self, other: &Self, page: usize) -> bool {
        self.entries.shares_page(&other.entries, page)
    }

    /// The overrides on a page, ours and theirs, of the fields whose page is not shared.
    pub(super) fn differing_fields<'o>(&'o self, other: &'o Self, page: usize) -> Vec<(&'o [ValueId], &'o [ValueId])> {
        let fields = self.fields.iter().zip(&other.fields);
        let differing = fields.filter(|(ours, theirs)| !ours.shares_page(theirs, page));
        differing.map(|(ours, theirs)| (ours.page(page), theirs.page(page))).collect()
    }
}
