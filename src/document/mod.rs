//! The document: a set of sitemaps as a value, with immutable sources and columns of edits over them.
//!
//! Cloning a [`Document`] is cheap and every edit makes a new one ([`edit`]); undo keeps the old value, a
//! job works on a value, "modified" means "not the saved value". No I/O, no clock, cannot fail.

pub mod adopt;
pub mod column;
pub mod diff;
mod diff_edits;
pub mod edit;
pub mod form;
pub mod merge;
mod needle;
mod numeric_sort;
mod pending_split;
pub mod query;
pub mod quirk;
pub mod rebase;
pub mod rename;
pub mod repartition;
mod restore_positions;
pub mod row_cursor;
pub mod rows;
pub mod sitemap;
pub mod sort;
pub mod source;
pub mod spans;
pub mod split;
pub mod text_diff;
mod text_sort;
mod unload;
pub mod view;
pub mod volumes;
mod write;

use crate::protocol::Field;
use crate::xml::entry::{self, Entry, Extensions};
use crate::xml::fast_path;
use crate::xml::names::{FileKind, Names};
use crate::xml::record::{Flags, Record};
use crate::xml::splice::{self, Change, Changes};
use column::Column;
use rows::{RowId, RowList, RowSet};
use sitemap::{Index, Member, Sitemap, SitemapId};
use source::Source;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Id of an edited value; see [`Document::value`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ValueId(u32);

impl ValueId {
    /// No override: the value is that of the entry.
    pub const NONE: Self = Self(0);
    /// The element is removed.
    pub const REMOVED: Self = Self(1);

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

/// A set of sitemaps as a value.
#[derive(Debug, Clone, Default)]
pub struct Document {
    sources: Arc<Vec<Arc<Source>>>,
    /// First row of each source; rows of added entries follow the last.
    bases: Arc<Vec<u32>>,
    /// Persistent, so that a change of one file of many copies a few of the others' pointers, not all.
    sitemaps: Column<Arc<Sitemap>>,
    index: Option<Arc<Index>>,
    records: Column<Record>,
    overrides: [Column<ValueId>; 4],
    /// Whole entry texts: of added rows, and of rows edited as text.
    raws: Column<ValueId>,
    /// File id of a row plus one; 0 for the file of its source.
    row_files: Column<u32>,
    values: Column<Arc<str>>,
    live: u32,
    /// URLs that are kept while their files are unloaded; see [`unload`].
    kept: Arc<HashMap<u32, Box<str>>>,
    is_streamed: bool,
    /// Entry lengths of rows that are split while their files are unloaded; see [`unload`].
    lengths: Option<Arc<[u32]>>,
    /// The resident file of a streamed set.
    resident: Option<SitemapId>,
    /// The document after its pending split; see [`pending_split`].
    pending_split: Option<Arc<Self>>,
}

impl Document {
    /// Appends a file that was read, with the record of each of its entries. Only while loading.
    pub fn append(&mut self, source: Source, records: impl IntoIterator<Item = Record>, mut sitemap: Sitemap) {
        let first = self.records.len() as u32;
        let len = source.len() as u32;
        let source = Arc::new(source);
        self.records.extend(records.into_iter().take(len as usize));
        let rows = first as usize + len as usize;
        self.records.grow(rows);
        self.overrides.iter_mut().for_each(|column| column.grow(rows));
        self.raws.grow(rows);
        self.row_files.grow(rows);
        sitemap.rows = RowList::range(first, len);
        sitemap.live = len;
        sitemap.entry_bytes = source.run(0, len as usize).len() as u64;
        sitemap.frame = Arc::clone(&source);
        Arc::make_mut(&mut self.sources).push(source);
        Arc::make_mut(&mut self.bases).push(first);
        self.sitemaps.push(Arc::new(sitemap));
        self.live += len;
    }

    /// Sets the index, at the start and the end of loading.
    pub fn set_index(&mut self, index: Option<Index>) {
        self.pending_split = None;
        self.index = index.map(Arc::new);
    }

    /// Adds a file without rows of its own (a new file, or a part that a save will create).
    pub fn add_sitemap(&mut self, mut sitemap: Sitemap) -> SitemapId {
        (sitemap.rows, sitemap.live, sitemap.entry_bytes) = (RowList::default(), 0, 0);
        // A source of its own keeps "the sitemap of a source" true for all later ones.
        self.pending_split = None;
        let blank = Arc::clone(&sitemap.frame);
        if blank.is_empty() {
            Arc::make_mut(&mut self.sources).push(blank);
            Arc::make_mut(&mut self.bases).push(self.records.len() as u32);
        }
        self.sitemaps.push(Arc::new(sitemap));
        SitemapId(self.sitemaps.len() as u32 - 1)
    }

    /// The only file, if there is exactly one.
    pub fn only_sitemap(&self) -> Option<&Sitemap> {
        self.sitemaps.first().filter(|_| self.sitemaps.len() == 1).map(Arc::as_ref)
    }

    /// The files, in the order of the set.
    pub const fn sitemaps(&self) -> &Column<Arc<Sitemap>> {
        &self.sitemaps
    }

    /// One file.
    pub fn sitemap(&self, id: SitemapId) -> Option<&Sitemap> {
        self.sitemaps.get(id.index()).map(Arc::as_ref)
    }

    /// The index, if the set has one.
    pub fn index(&self) -> Option<&Index> {
        self.index.as_deref()
    }

    /// Whether the rows are the entries of an index: sitemaps, which have a loc and a lastmod and nothing else.
    pub fn lists_sitemaps(&self) -> bool {
        self.only_sitemap().is_some_and(|only| only.frame.names.kind == FileKind::Index)
    }

    /// Rows that are not deleted: the set's URLs.
    pub const fn live(&self) -> u32 {
        self.live
    }

    /// Number of row ids ever given, including deleted and added rows; all ids are below it.
    pub const fn row_limit(&self) -> u32 {
        self.records.len() as u32
    }

    /// The record of a row.
    #[inline]
    pub fn record(&self, row: RowId) -> Record {
        self.records.get(row.index()).copied().unwrap_or_default()
    }

    /// All records, by row id.
    pub const fn records(&self) -> &Column<Record> {
        &self.records
    }

    /// Whether a row exists and is not deleted.
    pub fn is_live(&self, row: RowId) -> bool {
        self.records.get(row.index()).is_some_and(|record| !record.is_deleted())
    }

    /// The source and entry that a row was read from; `None` for added rows.
    pub fn origin(&self, row: RowId) -> Option<(&Source, usize)> {
        let source = self.bases.partition_point(|first| *first <= row.0).checked_sub(1)?;
        let entry = (row.0 - self.bases.get(source)?) as usize;
        let source = self.sources.get(source)?;
        (entry < source.len()).then_some((source, entry))
    }

    /// The file that a row was read from; `None` of a row that was added.
    pub fn file_of_origin(&self, row: RowId) -> Option<SitemapId> {
        let source = self.bases.partition_point(|first| *first <= row.0).checked_sub(1)?;
        let entry = (row.0 - self.bases.get(source)?) as usize;
        let rows = self.sources.get(source).map_or(0, |source| source.len());
        (entry < rows || self.is_streamed).then_some(SitemapId(source as u32))
    }

    /// Marks files as just written: drops their quirks. Of an index in volumes, `of_index` are the numbers of the written
    /// ones.
    pub fn mark_written(&mut self, written: &[Member], of_index: &BTreeSet<usize>) {
        for file in written {
            match file {
                Member::Index => {
                    if let Some(mut index) = self.index().cloned() {
                        index.mark_files_written(&|number| of_index.contains(&number));
                        self.set_index(Some(index));
                    }
                }
                Member::Sitemap(id) => {
                    for row in self.repaired_rows(*id) {
                        let mut record = self.record(row);
                        record.flags.put(Flags::REPAIRED, false);
                        self.records.set(row.index(), record);
                    }
                    // What is odd about the lines of a list, or its name, is so still.
                    let standing = self.list_line_quirks(*id);
                    self.change_sitemap(*id, |sitemap| {
                        let quirks = sitemap.quirks.iter().filter(|quirk| standing.contains(&quirk.kind));
                        sitemap.quirks = quirks.cloned().collect();
                        (sitemap.accepted, sitemap.apart, sitemap.encoding) = (false, false, sitemap::UTF_8);
                    });
                }
            }
        }
    }

    /// The source of a file.
    pub fn source_of(&self, id: SitemapId) -> Option<&Source> {
        self.sources.get(id.index()).map(Arc::as_ref)
    }

    /// The file that a row is in.
    pub fn sitemap_of(&self, row: RowId) -> SitemapId {
        match self.row_files.get(row.index()).copied().unwrap_or_default().checked_sub(1) {
            Some(file) => SitemapId(file),
            None => SitemapId(self.bases.partition_point(|first| *first <= row.0).saturating_sub(1) as u32),
        }
    }

    /// The names that a row's text is written in.
    pub fn names(&self, row: RowId) -> &Names {
        static PLAIN: std::sync::LazyLock<Names> = std::sync::LazyLock::new(Names::default);
        // The root under which it is written, which may declare more than the one that it was read under.
        self.sitemap(self.sitemap_of(row)).map_or(&PLAIN, |sitemap| &sitemap.frame.names)
    }

    /// The text under a row's field overrides: as read, or the raw text put in its place.
    #[inline]
    pub fn base_text(&self, row: RowId) -> &[u8] {
        if let Some(raw) = self.raws.get(row.index()).and_then(|id| self.text(*id)) {
            return raw.as_bytes();
        }
        self.origin(row).map_or(&[], |(source, entry)| source.entry_text(entry))
    }

    /// A cursor for rows that are asked for in order.
    pub fn row_cursor(&self) -> row_cursor::RowCursor<'_> {
        row_cursor::RowCursor::new(self)
    }

    fn text(&self, id: ValueId) -> Option<&str> {
        self.values.get(id.index()?).map(AsRef::as_ref)
    }

    #[inline]
    fn override_of(&self, row: RowId, field: Field) -> ValueId {
        self.overrides[field.index()].get(row.index()).copied().unwrap_or_default()
    }

    /// Whether any field of the row is overridden.
    pub fn is_spliced(&self, row: RowId) -> bool {
        Field::ALL.into_iter().any(|field| self.override_of(row, field) != ValueId::NONE)
    }

    fn changes(&self, row: RowId) -> Changes<'_> {
        Field::ALL.map(|field| match self.override_of(row, field) {
            ValueId::NONE => None,
            ValueId::REMOVED => Some(Change::Remove),
            id => self.text(id).map(Change::Set),
        })
    }

    /// The entry's text as it will be written, leading trivia included. Borrows where nothing was edited (I2).
    pub fn entry_text(&self, row: RowId) -> Cow<'_, [u8]> {
        let base = self.base_text(row);
        if !self.is_spliced(row) {
            return Cow::Borrowed(base);
        }
        let names = self.names(row);
        let mut out = Vec::with_capacity(base.len() + 64);
        splice::splice(&Entry::of(base, names), base, names, &self.changes(row), &mut out);
        Cow::Owned(out)
    }

    /// The parsed entry, with its text.
    pub fn entry(&self, row: RowId) -> (Entry, Cow<'_, [u8]>) {
        let text = self.entry_text(row);
        (Entry::of(&text, self.names(row)), text)
    }

    /// A field's value, decoded and trimmed; `None` when the element is absent.
    pub fn value(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        match self.override_of(row, field) {
            ValueId::REMOVED => None,
            ValueId::NONE => self.base_value(row, field),
            id => self.text(id).map(Cow::Borrowed),
        }
    }

    /// What an edit gave a field: `Some(None)` when it removed the element, `None` when the entry's own text has
    /// the word.
    pub fn edited(&self, row: RowId, field: Field) -> Option<Option<&str>> {
        match self.override_of(row, field) {
            ValueId::NONE => None,
            id => Some(self.text(id)),
        }
    }

    /// Whether a row's field has this value, mostly decided by its record alone.
    pub fn has_value<'d>(&'d self, field: Field, value: Option<&'d str>) -> impl Fn(RowId) -> bool + 'd {
        let mut wanted = Record::default();
        wanted.note(field, value);
        move |row| {
            let told = self.record(row).has_value(field, &wanted);
            told.unwrap_or_else(|| self.value(row, field).as_deref() == value)
        }
    }

    fn base_value(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        let text = self.base_text(row);
        if self.is_streamed && text.is_empty() {
            return self.kept.get(&row.0).filter(|_| field == Field::Loc).map(|loc| Cow::Borrowed(&**loc));
        }
        if field == Field::Loc {
            let record = self.record(row);
            if let Some(raw) = record.raw_loc(text) {
                let kind = if record.flags.has(Flags::LOC_ESCAPED) {
                    entry::TextKind::Escaped
                } else {
                    entry::TextKind::Plain
                };
                return Some(entry::decode_value(raw, kind));
            }
        }
        let names = self.names(row);
        let after = self.record(row).plain_loc_end().filter(|_| field != Field::Loc);
        if let Some(raw) = after.and_then(|after| fast_path::behind_loc(text, after, field, names)) {
            return Some(entry::decode_value(raw, entry::TextKind::Plain));
        }
        Entry::of(text, names).value(field, text)
    }

    /// The loc, decoded and trimmed; empty when there is none.
    #[inline]
    pub fn loc(&self, row: RowId) -> Cow<'_, str> {
        self.value(row, Field::Loc).unwrap_or_default()
    }

    /// How many extension blocks the row has. Costs nothing for rows without.
    pub fn extensions(&self, row: RowId) -> Extensions {
        let any = Flags::IMAGE.0 | Flags::VIDEO.0 | Flags::NEWS.0 | Flags::ALTERNATE.0 | Flags::OTHER.0;
        if self.record(row).flags.0 & any == 0 {
            return Extensions::default();
        }
        Entry::of(self.base_text(row), self.names(row)).extensions
    }

    /// All rows in the order of the set's files, deleted ones included.
    pub fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.sitemaps.iter().flat_map(|sitemap| sitemap.rows.iter())
    }

    /// All live rows in file order.
    pub fn live_rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows().filter(|row| self.is_live(*row))
    }

    /// The live rows as a set.
    pub fn live_set(&self) -> RowSet {
        // Nearly always every row ever given is still there.
        if self.live == self.row_limit() {
            let mut all = RowSet::new();
            all.insert_range(..self.live);
            return all;
        }
        self.live_rows().map(|row| row.0).collect()
    }

    /// How a row differs from its state in `saved`.
    pub fn row_state(&self, saved: &Self, row: RowId) -> RowState {
        let deleted = self.record(row).is_deleted();
        if row.index() >= saved.records.len() {
            return if deleted { RowState::Clean } else { RowState::Added };
        }
        match (saved.record(row).is_deleted(), deleted) {
            (false, true) => RowState::Deleted,
            (true, true) => RowState::Clean,
            (true, false) => RowState::Added,
            (false, false) if self.same_text(saved, row) => RowState::Clean,
            (false, false) => RowState::Changed,
        }
    }

    fn same_text(&self, saved: &Self, row: RowId) -> bool {
        if !self.same_raw(saved, row) {
            return self.entry_text(row) == saved.entry_text(row);
        }
        // Over the same text, other values give another text: an override never says what the text says anyway.
        Field::ALL.into_iter().all(|field| self.same_override(saved, row, field))
    }

    fn same_raw(&self, other: &Self, row: RowId) -> bool {
        let raw = |document: &Self| document.raws.get(row.index()).copied().unwrap_or_default();
        self.same_value(raw(self), other, raw(other))
    }

    /// Whether the base text of a row is the same as in `saved`.
    pub fn has_same_text_below(&self, saved: &Self, row: RowId) -> bool {
        self.same_raw(saved, row)
    }

    fn same_override(&self, other: &Self, row: RowId, field: Field) -> bool {
        self.same_value(self.override_of(row, field), other, other.override_of(row, field))
    }

    /// Whether two value ids mean the same in their documents. Comparing ids is not enough: after an undo the next edit
    /// reuses an id that a saved document has for another value.
    fn same_value(&self, ours: ValueId, other: &Self, theirs: ValueId) -> bool {
        match (ours.index(), theirs.index()) {
            (None, None) => ours == theirs,
            (Some(ours), Some(theirs)) => match (self.values.get(ours), other.values.get(theirs)) {
                (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs) || ours == theirs,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a field of a row says something else than in `saved`.
    pub fn field_differs(&self, saved: &Self, row: RowId, field: Field) -> bool {
        row.index() < saved.records.len()
            && !(self.same_override(saved, row, field) && self.same_raw(saved, row))
            && self.value(row, field) != saved.value(row, field)
    }

    /// Rows that may differ from `saved`: those on pages that the two do not share.
    pub fn maybe_different(&self, saved: &Self) -> RowSet {
        let mut pages = self.records.differing_pages(&saved.records);
        pages.extend(self.raws.differing_pages(&saved.raws));
        for (ours, theirs) in self.overrides.iter().zip(&saved.overrides) {
            pages.extend(ours.differing_pages(theirs));
        }
        pages.sort_unstable();
        pages.dedup();
        let mut rows = RowSet::new();
        for page in pages {
            let first = (page * column::PAGE) as u32;
            rows.insert_range(first..(first + column::PAGE as u32).min(self.row_limit()));
        }
        rows
    }

    /// Rows of both documents that are in another file here than in `other`.
    pub fn rows_in_other_files(&self, other: &Self) -> RowSet {
        let pages = self.row_files.differing_pages(&other.row_files);
        let rows = pages.into_iter().flat_map(|page| page * column::PAGE..(page + 1) * column::PAGE);
        rows.take_while(|row| *row < self.row_files.len().min(other.row_files.len()))
            .filter(|row| self.row_files.get(*row) != other.row_files.get(*row))
            .map(|row| row as u32)
            .collect()
    }

    /// Number of rows that differ from `saved`.
    pub fn changed_rows(&self, saved: &Self) -> u32 {
        self.changed_among(saved, &self.maybe_different(saved))
    }

    /// Number of rows among these that differ from `saved`; counted on all cores, page by page.
    pub fn changed_among(&self, saved: &Self, rows: &RowSet) -> u32 {
        let counted = rows::par_chunks(rows, |share| {
            let mut count = 0;
            self.for_each_difference(saved, rows, share, &mut |_, _| count += 1);
            Some(count)
        });
        counted.into_iter().flatten().sum()
    }

    /// Calls a function for the rows of a set within a range that differ from `saved`, with the kind of difference.
    pub fn for_each_difference(
        &self,
        saved: &Self,
        rows: &RowSet,
        range: Range<u32>,
        see: &mut dyn FnMut(RowId, RowState),
    ) {
        for (page, range) in rows::pages(rows, range) {
            let rows = rows::ids(rows, range).take_while(|row| *row < self.row_limit()).map(RowId);
            self.see_differences_on_page(saved, page, rows, see);
        }
    }

    /// [`Document::for_each_difference`] for the rows of one page. Columns whose page is shared are skipped.
    fn see_differences_on_page(
        &self,
        saved: &Self,
        page: usize,
        rows: impl Iterator<Item = RowId>,
        see: &mut dyn FnMut(RowId, RowState),
    ) {
        let is_new = self.records.page(page).len() != saved.records.page(page).len();
        if is_new || !self.raws.shares_page(&saved.raws, page) {
            let states = rows.map(|row| (row, self.row_state(saved, row)));
            return states.filter(|(_, state)| *state != RowState::Clean).for_each(|(row, state)| see(row, state));
        }
        let overrides =
            self.overrides.iter().zip(&saved.overrides).filter(|(ours, theirs)| !ours.shares_page(theirs, page));
        let overrides: Vec<(&[ValueId], &[ValueId])> =
            overrides.map(|(ours, theirs)| (ours.page(page), theirs.page(page))).collect();
        let (ours, theirs) = (self.records.page(page), saved.records.page(page));
        for row in rows {
            let slot = row.index() % column::PAGE;
            let deleted = |records: &[Record]| records.get(slot).is_some_and(Record::is_deleted);
            let differs = |(ours, theirs): &(&[ValueId], &[ValueId])| {
                let id = |ids: &[ValueId]| ids.get(slot).copied().unwrap_or_default();
                !self.same_value(id(ours), saved, id(theirs))
            };
            match (deleted(theirs), deleted(ours)) {
                (false, false) if overrides.iter().any(differs) => see(row, RowState::Changed),
                (false, true) => see(row, RowState::Deleted),
                (true, false) => see(row, RowState::Added),
                (false, false) | (true, true) => {}
            }
        }
    }

    /// Whether a save of this document would write what `saved` did: no row differs, no order, no file.
    pub fn same_as(&self, saved: &Self) -> bool {
        self.sitemaps.len() == saved.sitemaps.len()
            && self.sitemaps.iter().zip(saved.sitemaps.iter()).all(|(ours, theirs)| {
                Arc::ptr_eq(ours, theirs)
                    || (ours.path == theirs.path
                        && ours.gzip == theirs.gzip
                        && (ours.accepted, ours.apart) == (theirs.accepted, theirs.apart)
                        && Arc::ptr_eq(&ours.frame, &theirs.frame)
                        && self.live_order(ours).eq(saved.live_order(theirs)))
            })
            && self.same_index(saved)
            && self.changed_rows(saved) == 0
    }

    /// Whether the indexes differ in nothing that an edit can change.
    fn same_index(&self, saved: &Self) -> bool {
        match (self.index(), saved.index()) {
            (Some(ours), Some(theirs)) => {
                ours.accepted == theirs.accepted
                    && ours.gzip == theirs.gzip
                    && ours.other_volumes(theirs).next().is_none()
                    && (Arc::ptr_eq(&ours.source, &theirs.source) || ours.source.bytes() == theirs.source.bytes())
            }
            // A save makes and removes indexes by itself; the rows tell whether it is needed.
            _ => true,
        }
    }

    fn live_order<'d>(&'d self, sitemap: &'d Sitemap) -> impl Iterator<Item = RowId> + 'd {
        sitemap.rows.iter().filter(|row| self.is_live(*row))
    }
}
