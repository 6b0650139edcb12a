//! The document: a set of sitemaps as a value, with immutable sources and columns of edits over them.
//!
//! Cloning a [`Document`] is cheap, and every edit makes a new one ([`edit`]): undo returns to an earlier document, a
//! job works on its own clone, and "modified" means "differs from the saved document". No I/O, no clock, no errors.

pub(crate) mod adopt;
pub(crate) mod clear_quirks;
mod compare;
pub(crate) mod conversion;
pub(crate) mod diff;
pub(crate) mod diff_edits;
pub mod edit;
#[cfg(test)]
mod fixture;
pub(crate) mod form;
pub(crate) mod frame;
pub(crate) mod index;
pub(crate) mod kept_locs;
pub mod lines;
pub(crate) mod merge;
mod needle;
mod numeric_sort;
mod overlay;
mod pending_split;
pub mod query;
pub(crate) mod quirk;
pub(crate) mod rebase;
pub(crate) mod rename;
pub(crate) mod repartition;
pub(crate) mod restore_positions;
pub(crate) mod row_cursor;
mod row_facts;
pub mod rows;
pub mod sitemap;
pub(crate) mod sort;
pub mod source;
pub(crate) mod spans;
pub(crate) mod split;
pub(crate) mod text_diff;
mod text_sort;
pub(crate) mod unload;
pub(crate) mod view;
mod write;

use crate::persistent::Column;
use crate::protocol::Field;
use crate::xml::entry::{self, Entry, Extensions};
use crate::xml::fast_path;
use crate::xml::names::{FileKind, Names};
use crate::xml::record::{Flags, Record};
use crate::xml::splice;
pub(crate) use compare::{Comparison, RowState};
use form::Form;
use index::Index;
use overlay::{Overlay, ValueId};
use quirk::Quirk;
use rows::{RowId, RowList, RowSet};
use sitemap::{FileLocation, Sitemap, SitemapId};
use source::Source;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use unload::Streaming;

/// A set of sitemaps as a value.
#[derive(Debug, Clone, Default)]
pub struct Document {
    sources: Arc<Vec<Arc<Source>>>,
    /// First row of each source; rows of added entries follow the last.
    bases: Arc<Vec<u32>>,
    /// Persistent, so that a change of one file copies only a few of the other pointers.
    sitemaps: Column<Arc<Sitemap>>,
    index: Option<Arc<Index>>,
    records: Column<Record>,
    overlay: Overlay,
    /// File id of each row plus one; 0 means the file of its source.
    row_files: Column<u32>,
    live: u32,
    /// Data about entries that are not resident; `None` if all are.
    streaming: Option<Streaming>,
    /// The document after its pending split; see [`pending_split`].
    pending_split: Option<Arc<Self>>,
}

impl Document {
    /// Appends a file that was read, with the record of each of its entries. Only for loading.
    pub fn append(&mut self, source: Source, records: impl IntoIterator<Item = Record>, sitemap: Sitemap) {
        let (len, bytes) = (source.len() as u32, source.run(0, source.len()).len() as u64);
        self.append_rows(source, (len, bytes), records, sitemap);
    }

    /// Appends a file with this number of rows and of bytes in them; `source` may have fewer.
    fn append_rows(
        &mut self,
        source: Source,
        (len, bytes): (u32, u64),
        records: impl IntoIterator<Item = Record>,
        mut sitemap: Sitemap,
    ) {
        let first = self.records.len() as u32;
        let source = Arc::new(source);
        self.records.extend_sharing(records.into_iter().take(len as usize));
        let rows = first as usize + len as usize;
        self.records.grow(rows);
        self.overlay.grow(rows);
        self.row_files.grow(rows);
        sitemap.rows = RowList::range(first, len);
        sitemap.live = len;
        sitemap.entry_bytes = bytes;
        sitemap.frame = Arc::clone(&source);
        Arc::make_mut(&mut self.sources).push(source);
        Arc::make_mut(&mut self.bases).push(first);
        self.sitemaps.push(Arc::new(sitemap));
        self.live += len;
    }

    /// Sets the index.
    pub fn set_index(&mut self, index: Option<Index>) {
        self.pending_split = None;
        self.index = index.map(Arc::new);
    }

    /// Adds a file without rows of its own (a new file, or a part that a save will create).
    pub fn add_sitemap(&mut self, mut sitemap: Sitemap) -> SitemapId {
        (sitemap.rows, sitemap.live, sitemap.entry_bytes) = (RowList::default(), 0, 0);
        // A separate source, so that the index of a source stays the id of its sitemap.
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

    /// Whether the rows are the entries of an index, which have only loc and lastmod.
    pub fn lists_sitemaps(&self) -> bool {
        self.only_sitemap().is_some_and(|only| only.frame.names.kind == FileKind::Index)
    }

    /// Number of rows that are not deleted: the URLs of the set.
    pub const fn live(&self) -> u32 {
        self.live
    }

    /// Number of row ids ever assigned, including deleted and added rows; all ids are below it.
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

    /// The file that a row was read from; `None` for added rows.
    pub fn file_of_origin(&self, row: RowId) -> Option<SitemapId> {
        let source = self.bases.partition_point(|first| *first <= row.0).checked_sub(1)?;
        let entry = (row.0 - self.bases.get(source)?) as usize;
        let rows = self.sources.get(source).map_or(0, |source| source.len());
        (entry < rows || self.is_streamed()).then_some(SitemapId(source as u32))
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

    /// The names with which the text of a row is written.
    pub fn names(&self, row: RowId) -> &Names {
        static DEFAULT_NAMES: std::sync::LazyLock<Names> = std::sync::LazyLock::new(Names::default);
        // The root of its file may declare more prefixes now than the root that the row was read under.
        self.sitemap(self.sitemap_of(row)).map_or(&DEFAULT_NAMES, |sitemap| &sitemap.frame.names)
    }

    /// The text under a row's field overrides: as read, or the text that replaced it.
    #[inline]
    pub fn base_text(&self, row: RowId) -> &[u8] {
        if let Some(text) = self.overlay.entry(row) {
            return text.as_bytes();
        }
        self.origin(row).map_or(&[], |(source, entry)| source.entry_text(entry))
    }

    /// A cursor for rows that are visited in order.
    pub fn row_cursor(&self) -> row_cursor::RowCursor<'_> {
        row_cursor::RowCursor::new(self)
    }

    /// Whether any field of the row is overridden.
    pub fn is_spliced(&self, row: RowId) -> bool {
        self.overlay.has_fields(row)
    }

    /// The entry's text as it will be written, leading trivia included. Borrows the bytes of an unedited entry (I2).
    pub fn entry_text(&self, row: RowId) -> Cow<'_, [u8]> {
        let base = self.base_text(row);
        if !self.is_spliced(row) {
            return Cow::Borrowed(base);
        }
        let names = self.names(row);
        let mut out = Vec::with_capacity(base.len() + 64);
        splice::splice(&Entry::of(base, names), base, names, &self.overlay.changes(row), &mut out);
        Cow::Owned(out)
    }

    /// The parsed entry, with its text.
    pub fn entry(&self, row: RowId) -> (Entry, Cow<'_, [u8]>) {
        let text = self.entry_text(row);
        (Entry::of(&text, self.names(row)), text)
    }

    /// A field's value, decoded and trimmed; `None` when the element is absent.
    pub fn value(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        match self.overlay.field(row, field) {
            ValueId::REMOVED => None,
            ValueId::NONE => self.base_value(row, field),
            id => self.overlay.text(id).map(Cow::Borrowed),
        }
    }

    /// The override of a field: `Some(None)` if the element is removed, `None` if there is no override.
    pub fn edited(&self, row: RowId, field: Field) -> Option<Option<&str>> {
        match self.overlay.field(row, field) {
            ValueId::NONE => None,
            id => Some(self.overlay.text(id)),
        }
    }

    /// A test whether a row's field has a value; usually decided by the record.
    pub fn has_value<'d>(&'d self, field: Field, value: Option<&'d str>) -> impl Fn(RowId) -> bool + 'd {
        let mut record = Record::default();
        record.note(field, value);
        move |row| {
            let by_record = self.record(row).has_value(field, &record);
            by_record.unwrap_or_else(|| self.value(row, field).as_deref() == value)
        }
    }

    fn base_value(&self, row: RowId, field: Field) -> Option<Cow<'_, str>> {
        let text = self.base_text(row);
        if let Some(streaming) = self.streaming.as_ref().filter(|_| text.is_empty()) {
            return streaming.loc(row).filter(|_| field == Field::Loc).map(Cow::Borrowed);
        }
        if field == Field::Loc {
            let record = self.record(row);
            if let Some(raw) = record.raw_loc(text) {
                let kind = if record.flags.contains(Flags::LOC_ESCAPED) {
                    entry::TextKind::Escaped
                } else {
                    entry::TextKind::Plain
                };
                return Some(entry::decode_value(raw, kind));
            }
        }
        let names = self.names(row);
        if let Some(loc) = self.record(row).plain_loc().filter(|_| field != Field::Loc) {
            if let Some(raw) = fast_path::text_after_loc(text, loc.end, field, names) {
                return Some(entry::decode_value(raw, entry::TextKind::Plain));
            }
            if fast_path::insertion_point(text, loc, field, names).is_some() {
                return None;
            }
        }
        Entry::of(text, names).value(field, text)
    }

    /// The loc, decoded and trimmed; empty when there is none.
    #[inline]
    pub fn loc(&self, row: RowId) -> Cow<'_, str> {
        self.value(row, Field::Loc).unwrap_or_default()
    }

    /// Number of extension blocks of the row, by kind. Entries without extensions are not parsed.
    pub fn extensions(&self, row: RowId) -> Extensions {
        if !self.record(row).flags.has_extensions() {
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
        // Nearly always no row is deleted.
        if self.live == self.row_limit() {
            let mut all = RowSet::new();
            all.insert_range(..self.live);
            return all;
        }
        self.live_rows().map(|row| row.0).collect()
    }

    /// A comparison of this document with a saved version.
    pub const fn compare<'d>(&'d self, saved: &'d Self) -> Comparison<'d> {
        Comparison::new(self, saved)
    }

    /// Changes a file and drops the pending split, which would be stale.
    fn change_sitemap(&mut self, id: SitemapId, change: impl FnOnce(&mut Sitemap)) {
        self.pending_split = None;
        if let Some(sitemap) = self.sitemaps.get_mut(id.index()) {
            change(Arc::make_mut(sitemap));
        }
    }

    /// Moves a row to a file. The caller updates the row lists of both files.
    fn set_file(&mut self, row: RowId, file: SitemapId) {
        self.row_files.set(row.index(), file.0 + 1);
    }

    /// Sets the path, name and URL of a file.
    pub fn set_location(&mut self, id: SitemapId, location: FileLocation) {
        self.change_sitemap(id, |sitemap| {
            (sitemap.path, sitemap.name, sitemap.url, sitemap.gzip) =
                (location.path, location.name, location.url, location.gzip);
        });
    }

    /// Sets the form of a file.
    pub fn set_form(&mut self, id: SitemapId, form: Form) {
        self.change_sitemap(id, |sitemap| sitemap.form = form);
    }

    /// The last file that is still in the set.
    pub fn last_sitemap(&self) -> Option<SitemapId> {
        (0..self.sitemaps().len() as u32).rev().map(SitemapId).find(|id| !self.is_gone(*id))
    }

    /// Whether a save has removed the file. It keeps its id, without rows.
    pub fn is_gone(&self, id: SitemapId) -> bool {
        self.sitemap(id).is_some_and(|sitemap| sitemap.live == 0) && self.index().is_some_and(|index| !index.lists(id))
    }

    /// Whether a file can be split. New parts need an index that lists them; only a single file gets one by a save.
    pub fn can_have_parts(&self) -> bool {
        self.index().is_some() || self.sitemaps().len() == 1
    }

    /// The document after its pending split; the document itself if there is none.
    ///
    /// New files have no path yet.
    pub fn with_pending_split(&self) -> &Self {
        self.pending_split.as_deref().unwrap_or(self)
    }

    /// Whether the next save splits files because the user agreed to it.
    pub const fn has_pending_split(&self) -> bool {
        self.pending_split.is_some()
    }

    /// The quirks of a row.
    pub fn quirks_of(&self, row: RowId) -> &[Quirk] {
        if !self.record(row).flags.contains(Flags::REPAIRED) {
            return &[];
        }
        let source = self.bases.partition_point(|first| *first <= row.0).saturating_sub(1);
        let (Some(first), Some(sitemap)) = (self.bases.get(source), self.sitemaps.get(source)) else { return &[] };
        let entry = row.0 - first;
        // Of a partial file, the source has only the first entries.
        let entries = self.sources.get(source).map_or(0, |source| source.len()).max(sitemap.live as usize);
        let from = quirk::first_of(&sitemap.quirks, entry, entries);
        let quirks = sitemap.quirks.get(from..).unwrap_or_default();
        let count = quirks.iter().take_while(|quirk| quirk.entry == Some(entry)).count();
        quirks.get(..count).unwrap_or_default()
    }

    /// The rows of a file whose text had to be repaired.
    pub fn repaired_rows(&self, id: SitemapId) -> Vec<RowId> {
        let (Some(sitemap), Some(first)) = (self.sitemap(id), self.bases.get(id.index())) else { return Vec::new() };
        let mut rows: Vec<RowId> =
            sitemap.quirks.iter().filter_map(|quirk| Some(RowId(first.checked_add(quirk.entry?)?))).collect();
        rows.dedup();
        rows
    }

    /// Clears the repaired flag of rows whose repairs were accepted or written.
    fn clear_repaired(&mut self, rows: &[RowId]) {
        for row in rows {
            let mut record = self.record(*row);
            record.flags.set(Flags::REPAIRED, false);
            self.records.set(row.index(), record);
        }
    }

    /// Whether the set is streamed: some of its entries are not resident.
    pub const fn is_streamed(&self) -> bool {
        self.streaming.is_some()
    }

    /// Whether some entries of a file are not resident.
    pub fn is_partial(&self, id: SitemapId) -> bool {
        let rows = self.sitemap(id).map_or(0, |sitemap| sitemap.live as usize);
        self.is_streamed() && self.source_of(id).is_some_and(|source| source.len() < rows)
    }

    /// The rows of a file whose text is resident; all rows if the set is not streamed.
    pub fn resident_range(&self, id: SitemapId) -> Range<u32> {
        if !self.is_streamed() {
            return 0..self.row_limit();
        }
        let first = self.bases.get(id.index()).copied().unwrap_or_default();
        first..first + self.source_of(id).map_or(0, |source| source.len() as u32)
    }

    /// The resident file of a streamed set.
    pub fn resident_file(&self) -> Option<SitemapId> {
        self.streaming.as_ref()?.resident
    }

    /// The live rows of resident files in file order; all live rows if the set is not streamed.
    pub fn resident_rows(&self) -> impl Iterator<Item = RowId> + '_ {
        let all = (!self.is_streamed()).then(|| self.live_rows());
        let some = self.resident_file().and_then(|id| self.sitemap(id)).into_iter();
        let some = some.flat_map(|sitemap| sitemap.rows.iter()).filter(|row| self.is_live(*row));
        all.into_iter().flatten().chain(some)
    }

    /// [`Document::resident_rows`] as a set.
    pub fn resident_set(&self) -> RowSet {
        if self.is_streamed() { self.resident_rows().map(|row| row.0).collect() } else { self.live_set() }
    }

    /// Bytes of a row's entry as it will be written.
    pub fn entry_len(&self, row: RowId) -> u64 {
        let stored = self.streaming.as_ref().and_then(|streaming| streaming.entry_len(row));
        stored.unwrap_or_else(|| self.entry_text(row).len() as u64)
    }

    /// Whether a row has a news extension.
    pub fn is_news(&self, row: RowId) -> bool {
        let stored = self.streaming.as_ref().and_then(|streaming| streaming.is_news(row));
        stored.unwrap_or_else(|| self.record(row).flags.contains(Flags::NEWS))
    }
}
