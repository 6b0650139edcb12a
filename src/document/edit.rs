//! `Edit`: every kind of change of a document, and the function that applies it.
//!
//! An edit makes a new [`Document`] and returns the rows that it touched. It may run on a worker, on all cores. An
//! override that equals the value in the entry is dropped, so that undoing by hand gives the original bytes (I3).

mod page;

use super::adopt::AdoptedFiles;
use super::index::{Child, ChildState, Index};
use super::overlay::ValueId;
use super::rows::{self, RowId, RowList, RowSet};
use super::sitemap::{Member, SitemapId};
use super::source::Source;
use super::{Document, clear_quirks, pending_split, rename};
use crate::persistent::PAGE;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::names::Names;
use crate::xml::record::{Flags, Record};
use crate::xml::splice::Layout;
use page::{NewPage, PageEdit};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A new value for one field; `None` removes the element.
pub type Value = Option<Arc<str>>;

/// A new entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewEntry {
    /// From values, by [`Field::index`], laid out like its neighbour.
    Values([Value; 4]),
    /// A whole element's text, from `<url` to `</url>`; it gets its neighbour's whitespace in front.
    Element(Arc<str>),
}

/// A change of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Sets one field of many rows to one value.
    Set {
        /// The rows; deleted ones are skipped.
        rows: RowSet,
        /// The field that is set.
        field: Field,
        /// Decoded text.
        value: Value,
    },
    /// Sets one field of many rows, each to its own value.
    SetEach {
        /// The field that is set.
        field: Field,
        /// Rows in ascending order, with their values.
        values: Vec<(RowId, Value)>,
    },
    /// Replaces the whole entry text of a row and drops its field overrides.
    Raw {
        /// The row whose text is replaced.
        row: RowId,
        /// The entry text with its leading whitespace.
        text: Arc<str>,
    },
    /// Inserts new rows.
    Insert {
        /// The file.
        sitemap: SitemapId,
        /// The row after which they are inserted; `None` for the beginning of the file.
        after: Option<RowId>,
        /// The new entries.
        entries: Vec<NewEntry>,
    },
    /// Deletes rows; they keep their position until saved.
    Delete(RowSet),
    /// Restores deleted rows.
    Restore(RowSet),
    /// Changes the order of the rows of some files.
    Reorder(Vec<(SitemapId, RowList)>),
    /// Accepts the repairs that were made when a file was read, so that a save writes them.
    Accept(Member),
    /// Replaces the frame of a sitemap, or the whole text of an index, whose entries may be fewer than before, in the
    /// same order.
    Frame {
        /// The file that changes.
        file: Member,
        /// Its new head and tail. They must not change the meaning of the entries.
        frame: Arc<Source>,
    },
    /// Adds and removes files as other programs did on disk.
    Adopt(AdoptedFiles),
    /// Replaces the frame of a further volume of the index, and whether it is written gzipped.
    Volume {
        /// Its number; the first file is 0 and is the index.
        number: u32,
        /// Its new head and tail, without entries. They must not change the meaning of the entries.
        frame: Arc<Source>,
        /// Whether it is written gzipped.
        gzip: bool,
    },
    /// Sets whether a file is written gzipped; for an index, its first volume.
    Pack {
        /// The file that changes.
        file: Member,
        /// Whether it is written gzipped.
        gzip: bool,
    },
    /// Renames a file in its folder, and in the index.
    Rename {
        /// The file that changes.
        file: Member,
        /// The new name, without a folder.
        name: Arc<str>,
    },
    /// Moves the news entries of a file to files of their own when it is written.
    SeparateNews(SitemapId),
    /// Several edits, in order, as one.
    Several(Vec<Edit>),
}

impl Edit {
    /// The file that it changes, if it changes a file and not rows.
    pub const fn file(&self) -> Option<Member> {
        match self {
            Self::Accept(file) | Self::Frame { file, .. } | Self::Pack { file, .. } | Self::Rename { file, .. } => {
                Some(*file)
            }
            Self::Volume { .. } => Some(Member::Index),
            Self::SeparateNews(id) => Some(Member::Sitemap(*id)),
            _ => None,
        }
    }
}

/// The result of an edit.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The new document.
    pub document: Document,
    /// Rows whose text or presence changed.
    pub touched: RowSet,
    /// Rows that are new.
    pub added: Vec<RowId>,
    /// Whether rows were added or moved, so that positions in a view are stale.
    pub moved: bool,
    /// Whether something other than a row of a file changed.
    pub framed: bool,
    /// The one field whose values changed, if nothing else did.
    pub field: Option<Field>,
}

impl Document {
    /// Applies an edit. `None` when `progress` was cancelled.
    pub fn apply(&self, edit: &Edit, progress: &Progress) -> Option<Applied> {
        let mut applied = Applied::unchanged(self);
        applied.run(edit, progress)?;
        pending_split::update(&mut applied.document);
        applied.field = match edit {
            Edit::Set { field, .. } | Edit::SetEach { field, .. } => Some(*field),
            _ => None,
        };
        Some(applied)
    }

    /// The document after an edit that is tried out, without a pending split ([`Document::with_pending_split`]), which
    /// would cost a walk over all files for each trial.
    pub fn trial(&self, edit: &Edit) -> Option<Self> {
        let mut applied = Applied::unchanged(self);
        applied.run(edit, &Progress::default())?;
        Some(applied.document)
    }
}

impl Applied {
    /// The result of an edit that changes nothing.
    pub fn unchanged(document: &Document) -> Self {
        Self {
            document: document.clone(),
            touched: RowSet::new(),
            added: Vec::new(),
            moved: false,
            framed: false,
            field: None,
        }
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        self.touched.is_empty() && !self.moved && !self.framed
    }

    /// Applies an edit to the document of the result. `None` when `progress` was cancelled.
    fn run(&mut self, edit: &Edit, progress: &Progress) -> Option<()> {
        match edit {
            Edit::Set { rows, field, value } => {
                let id = self.document.overlay.intern(value.as_ref());
                self.set(rows, ValueSource::One(id), *field, progress)
            }
            Edit::SetEach { field, values } => {
                let mut last: Option<(&Arc<str>, ValueId)> = None;
                let mut rows = Vec::with_capacity(values.len());
                for (row, value) in values {
                    // Consecutive equal values share an id.
                    let id = match (value, last) {
                        (Some(text), Some((same, id))) if text == same => id,
                        _ => self.document.overlay.intern(value.as_ref()),
                    };
                    last = value.as_ref().map(|text| (text, id));
                    rows.push((*row, id));
                }
                self.set(&rows.iter().map(|(row, _)| row.0).collect(), ValueSource::Each(&rows), *field, progress)
            }
            Edit::Raw { row, text } => {
                self.replace_text(*row, text);
                Some(())
            }
            Edit::Insert { sitemap, after, entries } => {
                self.insert(*sitemap, *after, entries);
                Some(())
            }
            Edit::Delete(rows) => {
                self.set_deleted(rows, true);
                Some(())
            }
            Edit::Restore(rows) => {
                self.set_deleted(rows, false);
                Some(())
            }
            Edit::Reorder(orders) => {
                for (id, rows) in orders {
                    self.document.change_sitemap(*id, |sitemap| sitemap.rows = rows.clone());
                }
                self.moved = true;
                Some(())
            }
            Edit::Accept(file) => {
                self.framed = true;
                let repaired = clear_quirks::accept(&mut self.document, *file);
                self.touched.extend(repaired.into_iter().map(|row| row.0));
                Some(())
            }
            Edit::Frame { file, frame } => {
                self.replace_frame(*file, frame);
                Some(())
            }
            Edit::Volume { number, frame, gzip } => {
                self.framed = true;
                if let Some(index) = self.document.index() {
                    let index = index.with_volume(*number as usize, frame, *gzip);
                    self.document.set_index(Some(index));
                }
                Some(())
            }
            Edit::Pack { file, gzip } => {
                self.set_gzip(*file, *gzip);
                Some(())
            }
            Edit::Rename { file, name } => {
                if rename::refusal(&self.document, *file).is_none() {
                    self.framed = true;
                    rename::rename(&mut self.document, *file, name);
                }
                Some(())
            }
            Edit::Adopt(adopted) => {
                (self.framed, self.moved) = (true, true);
                adopted.apply_to(&mut self.document);
                Some(())
            }
            Edit::SeparateNews(id) => {
                self.framed = true;
                self.document.change_sitemap(*id, |sitemap| sitemap.separate_news = true);
                Some(())
            }
            Edit::Several(edits) => self.run_all(edits, progress),
        }
    }

    /// Applies edits in order. Consecutive insertions into one file are applied in one pass over its rows.
    fn run_all(&mut self, edits: &[Edit], progress: &Progress) -> Option<()> {
        let mut rest = edits;
        while let Some((first, others)) = rest.split_first() {
            let is_insertion_after = |edit: &'_ Edit, id: SitemapId| match edit {
                Edit::Insert { sitemap, after: Some(after), .. } => {
                    *sitemap == id && after.0 < self.document.row_limit()
                }
                _ => false,
            };
            let count = match first {
                Edit::Insert { sitemap, .. } => {
                    rest.iter().take_while(|edit| is_insertion_after(edit, *sitemap)).count()
                }
                _ => 0,
            };
            let (run, remaining) = rest.split_at(count);
            if count > 1 {
                if !self.insert_after_rows(run) {
                    run.iter().try_for_each(|edit| self.run(edit, progress))?;
                }
                rest = remaining;
                continue;
            }
            self.run(first, progress)?;
            rest = others;
        }
        Some(())
    }

    /// Sets one field of rows, page by page on all cores.
    fn set(&mut self, rows: &RowSet, values: ValueSource<'_>, field: Field, progress: &Progress) -> Option<()> {
        let before = &self.document;
        // All pages in which every row gets the same value share one page.
        let shared_page: Arc<[ValueId]> = match values {
            ValueSource::One(id) => vec![id; PAGE].into(),
            ValueSource::Each(_) => Arc::default(),
        };
        let shares = rows::par_chunks(rows, |share| {
            let edited = rows::pages(rows, share.clone()).map(|(number, range)| match values {
                ValueSource::One(id) => {
                    let rows = rows::ids(rows, range).map(|row| (RowId(row), id));
                    page::edit(before, number, rows, NewPage { field, shared_page: &shared_page })
                }
                ValueSource::Each(values) => {
                    let from = values.partition_point(|(row, _)| row.0 < range.start);
                    let rest = values.get(from..).unwrap_or_default();
                    let rows = rest.iter().take_while(|(row, _)| row.0 < range.end).copied();
                    page::edit(before, number, rows, NewPage { field, shared_page: &shared_page })
                }
            });
            let edited: Vec<PageEdit> = edited.collect();
            progress.advance(rows.range_cardinality(share), 0);
            (!progress.is_cancelled()).then_some(edited)
        })?;
        let mut skipped = RowSet::new();
        for page in shares.into_iter().flatten() {
            for (file, delta) in page.deltas {
                self.document.change_sitemap(file, |sitemap| {
                    sitemap.entry_bytes = sitemap.entry_bytes.saturating_add_signed(delta);
                });
            }
            skipped.extend(page.skipped);
            if page.is_changed {
                self.document.overlay.replace_page(field, page.number, page.overrides);
                self.document.records.replace_page(page.number, page.records);
            }
        }
        self.touched |= rows - skipped;
        Some(())
    }

    fn set_gzip(&mut self, file: Member, gzip: bool) {
        self.framed = true;
        match file {
            Member::Index => {
                if let Some(index) = self.document.index().cloned() {
                    self.document.set_index(Some(Index { gzip, ..index }));
                }
            }
            Member::Sitemap(id) => self.document.change_sitemap(id, |sitemap| sitemap.gzip = gzip),
        }
    }

    fn replace_frame(&mut self, file: Member, frame: &Arc<Source>) {
        self.framed = true;
        match file {
            Member::Index => {
                if let Some(old_index) = self.document.index().cloned() {
                    self.document.set_index(Some(old_index.edited(Arc::clone(frame))));
                    self.follow_index(&old_index);
                }
            }
            Member::Sitemap(id) => {
                self.document.change_sitemap(id, |sitemap| sitemap.frame = Arc::clone(frame));
            }
        }
    }

    /// Sets the URL of each file to the one that the index lists for it. Rows of a file whose URL changed are touched,
    /// since they are checked against it.
    fn follow_index(&mut self, old_index: &Index) {
        let Some(index) = self.document.index() else { return };
        let loaded = |child: &Child| match child.state {
            ChildState::Loaded(id) => Some((id, Arc::clone(&child.loc))),
            _ => None,
        };
        let before: BTreeMap<SitemapId, Arc<str>> = old_index.children.iter().filter_map(loaded).collect();
        let moved = index.children.iter().filter_map(loaded);
        let moved: Vec<_> = moved.filter(|(id, url)| before.get(id).is_some_and(|before| before != url)).collect();
        for (id, url) in moved {
            self.document.change_sitemap(id, |sitemap| sitemap.url = Some(url));
            let rows = self.document.sitemap(id).map(|sitemap| sitemap.rows.clone()).unwrap_or_default();
            self.touched.extend(rows.iter().filter(|row| self.document.is_live(*row)).map(|row| row.0));
        }
    }

    /// Replaces the whole text of a live row.
    fn replace_text(&mut self, row: RowId, text: &Arc<str>) {
        let document = &mut self.document;
        if !document.is_live(row) {
            return;
        }
        let old = document.entry_text(row).len() as i64;
        let file = document.sitemap_of(row);
        document.overlay.set_entry(row, text);
        let kept_flags = document.record(row).flags & (Flags::ADDED | Flags::DELETED | Flags::REPAIRED);
        let mut record = Record::of(&Entry::of(text.as_bytes(), document.names(row)), text.as_bytes());
        record.flags |= kept_flags;
        document.records.set(row.index(), record);
        document.change_sitemap(file, |sitemap| {
            sitemap.entry_bytes = sitemap.entry_bytes.saturating_add_signed(text.len() as i64 - old);
        });
        self.touched.insert(row.0);
    }

    /// Applies insertions into one file in one pass, each after an existing row; false if one of those rows is not in
    /// the file.
    fn insert_after_rows(&mut self, edits: &[Edit]) -> bool {
        let inserts = edits.iter().filter_map(|edit| match edit {
            Edit::Insert { sitemap, after: Some(after), entries } => Some((*sitemap, *after, entries)),
            _ => None,
        });
        let inserts: Vec<_> = inserts.collect();
        let Some(sitemap) = inserts.first().and_then(|(id, ..)| self.document.sitemap(*id)) else { return false };
        let (id, names) = (inserts.first().map_or(SitemapId(0), |(id, ..)| *id), sitemap.frame.names.clone());
        let preceding_rows: RowSet = inserts.iter().map(|(_, after, _)| after.0).collect();
        if sitemap.rows.iter().filter(|row| preceding_rows.contains(row.0)).count() as u64 != preceding_rows.len() {
            return false;
        }
        let layouts: Option<Vec<Layout>> =
            inserts.iter().map(|(_, after, _)| layout_of(&self.document, *after, &names)).collect();
        let Some(layouts) = layouts else { return false };
        let mut new: HashMap<u32, Vec<Vec<RowId>>> = HashMap::new();
        let (mut count, mut bytes) = (0, 0);
        for ((_, after, entries), layout) in inserts.iter().zip(&layouts) {
            let (rows, len) = self.new_rows(id, &names, layout, entries);
            (count, bytes) = (count + rows.len() as u32, bytes + len);
            new.entry(after.0).or_default().push(rows);
        }
        // If several insertions follow the same row, rows of a later one precede those of an earlier one.
        let new = new.into_iter().map(|(after, rows)| (after, rows.into_iter().rev().flatten().collect())).collect();
        self.document.change_sitemap(id, |sitemap| {
            sitemap.rows = sitemap.rows.with_inserted_after(&new);
            sitemap.live += count;
            sitemap.entry_bytes += bytes;
        });
        true
    }

    fn insert(&mut self, id: SitemapId, after: Option<RowId>, entries: &[NewEntry]) {
        let Some(sitemap) = self.document.sitemap(id) else { return };
        let position =
            after.map_or(0, |row| sitemap.rows.position(row).map_or(sitemap.rows.len(), |position| position + 1));
        let layout = layout_at(&self.document, id, position);
        let names = sitemap.frame.names.clone();
        let (rows, bytes) = self.new_rows(id, &names, &layout, entries);
        self.document.change_sitemap(id, |sitemap| {
            sitemap.rows = sitemap.rows.with_inserted(position, &rows);
            sitemap.live += rows.len() as u32;
            sitemap.entry_bytes += bytes;
        });
    }

    /// Makes rows for new entries, which the caller adds to the file; returns them with their size in bytes.
    fn new_rows(&mut self, id: SitemapId, names: &Names, layout: &Layout, entries: &[NewEntry]) -> (Vec<RowId>, u64) {
        let mut rows = Vec::with_capacity(entries.len());
        let mut bytes = 0u64;
        for entry in entries {
            let text: Arc<str> = match entry {
                NewEntry::Values(values) => layout.render(names, &values.each_ref().map(|value| value.as_deref())),
                NewEntry::Element(text) => layout.wrap(names, text),
            }
            .into();
            bytes += text.len() as u64;
            let mut record = Record::of(&Entry::of(text.as_bytes(), names), text.as_bytes());
            record.flags.set(Flags::ADDED, true);
            rows.push(append_row(&mut self.document, record, &text, id));
        }
        self.document.live += rows.len() as u32;
        self.touched.extend(rows.iter().map(|row| row.0));
        self.added.extend(rows.iter().copied());
        self.moved = true;
        (rows, bytes)
    }

    /// Marks rows as deleted or as live.
    fn set_deleted(&mut self, rows: &RowSet, deleted: bool) {
        // Totals per file, so that each file is changed only once.
        let mut totals: std::collections::BTreeMap<SitemapId, (u32, u64)> = std::collections::BTreeMap::new();
        for row in rows.iter().map(RowId) {
            let mut record = self.document.record(row);
            if row.index() >= self.document.records.len() || record.is_deleted() == deleted {
                continue;
            }
            let total = totals.entry(self.document.sitemap_of(row)).or_default();
            total.0 += 1;
            total.1 += self.document.entry_text(row).len() as u64;
            record.flags.set(Flags::DELETED, deleted);
            self.document.records.set(row.index(), record);
            self.touched.insert(row.0);
        }
        for (id, (count, bytes)) in totals {
            let changed = |value: u32| if deleted { value.saturating_sub(count) } else { value + count };
            self.document.live = changed(self.document.live);
            self.document.change_sitemap(id, |sitemap| {
                sitemap.live = changed(sitemap.live);
                sitemap.entry_bytes =
                    if deleted { sitemap.entry_bytes.saturating_sub(bytes) } else { sitemap.entry_bytes + bytes };
            });
        }
    }
}

/// New values for rows.
#[derive(Clone, Copy)]
enum ValueSource<'w> {
    /// The same value for all rows.
    One(ValueId),
    /// A value for each row, by ascending row.
    Each(&'w [(RowId, ValueId)]),
}

fn append_row(document: &mut Document, record: Record, text: &Arc<str>, file: SitemapId) -> RowId {
    let row = RowId(document.row_limit());
    document.records.push(record);
    document.overlay.push_row(text);
    document.row_files.push(file.0 + 1);
    row
}

/// The layout of a new entry at a position: that of the row before it, else of the row after it, else the default.
fn layout_at(document: &Document, id: SitemapId, position: usize) -> Layout {
    let Some(sitemap) = document.sitemap(id) else { return Layout::default() };
    let names = &sitemap.frame.names;
    if !names.kind.is_xml() {
        return Layout::of_file(names);
    }
    let neighbours = [position.checked_sub(1), Some(position)];
    neighbours
        .into_iter()
        .flatten()
        .filter_map(|position| sitemap.rows.get(position))
        .find_map(|row| layout_of(document, row, names))
        .unwrap_or_default()
}

/// The layout of a row, if new entries can copy it.
fn layout_of(document: &Document, row: RowId, names: &Names) -> Option<Layout> {
    if !names.kind.is_xml() {
        return Some(Layout::of_file(names));
    }
    let text = document.entry_text(row);
    Layout::of(&Entry::of(&text, names), &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RowState;
    use crate::document::fixture::{self, document};
    use proptest::prelude::*;

    fn written(document: &Document, file: u32) -> String {
        String::from_utf8(fixture::written(document, SitemapId(file))).unwrap()
    }

    fn apply(document: &Document, edit: &Edit) -> Applied {
        document.apply(edit, &Progress::default()).unwrap()
    }

    fn set(rows: &[u32], field: Field, value: Option<&str>) -> Edit {
        Edit::Set { rows: rows.iter().copied().collect(), field, value: value.map(Into::into) }
    }

    const FILE: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n <url>\n  <loc>http://a/</loc>\n  <priority>0.50</priority>\n </url>\n <url>\n  <loc>http://b/</loc>\n </url>\n</urlset>\n";

    #[test]
    fn a_bulk_set_changes_only_the_given_values() {
        let before = document(&[FILE]);
        let applied = apply(&before, &set(&[0, 1], Field::Priority, Some("0.8")));
        let expected = FILE
            .replace("0.50", "0.8")
            .replace("<loc>http://b/</loc>\n", "<loc>http://b/</loc>\n  <priority>0.8</priority>\n");
        assert_eq!(written(&applied.document, 0), expected);
        assert_eq!(written(&before, 0), FILE);
        assert_eq!(applied.touched.len(), 2);
        assert_eq!(applied.document.compare(&before).changed_rows(), 2);
    }

    #[test]
    fn an_edit_after_an_undo_differs_from_the_saved_one() {
        let before = document(&[FILE]);
        let saved = apply(&before, &set(&[0], Field::Priority, Some("0.8"))).document;
        let other = apply(&before, &set(&[0], Field::Priority, Some("0.7"))).document;
        assert_eq!(other.compare(&saved).row_state(RowId(0)), RowState::Changed);
        assert!(other.compare(&saved).field_differs(RowId(0), Field::Priority) && !other.compare(&saved).is_same());
        let again = apply(&before, &set(&[1, 0], Field::Priority, Some("0.8"))).document;
        assert_eq!(again.compare(&saved).row_state(RowId(0)), RowState::Clean);
        assert_eq!(again.compare(&saved).changed_rows(), 1);
    }

    #[test]
    fn setting_the_value_of_the_entry_is_no_change() {
        let before = document(&[FILE]);
        let there = apply(&before, &set(&[0], Field::Priority, Some("1.0"))).document;
        let back = apply(&there, &set(&[0], Field::Priority, Some("0.50"))).document;
        assert!(back.compare(&before).is_same());
        assert!(!there.compare(&before).is_same());
        assert!(apply(&before, &set(&[0], Field::Priority, Some("0.50"))).touched.is_empty());
    }

    #[test]
    fn inserted_rows_copy_the_layout_and_deleted_rows_leave_no_line() {
        let before = document(&[FILE]);
        let entries = vec![NewEntry::Values([Some("http://c/?a&b".into()), None, None, None])];
        let added = apply(&before, &Edit::Insert { sitemap: SitemapId(0), after: Some(RowId(0)), entries });
        let text = written(&added.document, 0);
        assert!(
            text.contains(" </url>\n <url>\n  <loc>http://c/?a&amp;b</loc>\n </url>\n <url>\n  <loc>http://b/"),
            "{text}"
        );
        let row = added.added[0];
        assert_eq!(added.document.compare(&before).row_state(row), RowState::Added);
        let gone = apply(&added.document, &Edit::Delete([row.0, 1].into_iter().collect())).document;
        assert_eq!(written(&gone, 0), FILE.replace(" <url>\n  <loc>http://b/</loc>\n </url>\n", ""));
        assert_eq!(gone.compare(&before).row_state(RowId(1)), RowState::Deleted);
        assert_eq!((gone.live(), gone.compare(&before).changed_rows()), (1, 1));
    }

    #[test]
    fn insertions_at_once_equal_insertions_one_by_one() {
        let urls = (0..200).map(|number| format!(" <url><loc>http://{number}/</loc></url>\n"));
        let text = FILE.replace("</urlset>\n", &format!("{}</urlset>\n", urls.collect::<String>()));
        let before = document(&[&text, FILE]);
        let insert = |file, after, name: &str| {
            let entries = ["a", "b"].map(|end| NewEntry::Element(format!("<url><loc>{name}{end}</loc></url>").into()));
            Edit::Insert { sitemap: SitemapId(file), after, entries: entries.to_vec() }
        };
        let afters = [5, 5, 0, 1, 199, 100, 7, 5, 201];
        let many = afters.into_iter().map(|after| insert(0, Some(RowId(after)), &format!("http://new/{after}")));
        let mut edits: Vec<Edit> = many.collect();
        edits.insert(4, insert(1, Some(RowId(202)), "http://other/"));
        edits.push(insert(0, None, "http://first/"));
        // After a row of another file, after one that an earlier edit made, and after both.
        edits.extend([
            insert(0, Some(RowId(203)), "x"),
            insert(0, Some(RowId(205)), "y"),
            insert(0, Some(RowId(5)), "z"),
        ]);
        let one_by_one = edits.iter().fold(before.clone(), |document, edit| apply(&document, edit).document);
        let at_once = apply(&before, &Edit::Several(edits));
        for file in 0..2 {
            assert_eq!(written(&at_once.document, file), written(&one_by_one, file));
        }
        assert_eq!((at_once.document.live(), at_once.added.len()), (one_by_one.live(), 28));
        assert!(at_once.document.rows().eq(one_by_one.rows()), "rows have the same ids");
    }

    #[test]
    fn an_empty_root_opens_for_its_first_row_and_closes_again() {
        let before = document(&["<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' />\n"]);
        let entries = vec![NewEntry::Values([Some("http://c/".into()), None, None, None])];
        let added = apply(&before, &Edit::Insert { sitemap: SitemapId(0), after: None, entries });
        assert_eq!(
            written(&added.document, 0),
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n  <url>\n    <loc>http://c/</loc>\n  </url>\n</urlset>\n"
        );
        let gone = apply(&added.document, &Edit::Delete(added.touched)).document;
        assert_eq!(written(&gone, 0), "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' />\n");
    }

    #[test]
    fn one_changed_cell_copies_one_page_of_each_column_it_needs() {
        let row = |rows: String, n| rows + &format!("<url><loc>http://a/{n}</loc></url>");
        let rows = (0..2_000).fold(String::new(), row);
        let before =
            document(&[&format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>")]);
        let after = apply(&before, &set(&[777], Field::Lastmod, Some("2026-01-01"))).document;
        assert_eq!(after.compare(&before).maybe_different().len(), PAGE as u64);
        assert_eq!(after.records.differing_pages(&before.records), [777 / PAGE]);
    }

    /// One random edit over a small document.
    fn edit() -> impl Strategy<Value = Edit> {
        let field = prop_oneof![Just(Field::Loc), Just(Field::Lastmod), Just(Field::Changefreq), Just(Field::Priority)];
        let value = prop_oneof![
            Just(None),
            Just(Some("0.5")),
            Just(Some("2026-01-01")),
            Just(Some("daily")),
            Just(Some("http://x/?a&b"))
        ];
        let rows = proptest::collection::vec(0u32..8, 0..4).prop_map(|rows| rows.into_iter().collect::<RowSet>());
        prop_oneof![
            4 => (rows.clone(), field, value).prop_map(|(rows, field, value)| Edit::Set { rows, field, value: value.map(Into::into) }),
            1 => rows.clone().prop_map(Edit::Delete),
            1 => rows.prop_map(Edit::Restore),
            1 => (0u32..2, proptest::option::of(0u32..8)).prop_map(|(file, after)| Edit::Insert {
                sitemap: SitemapId(file), after: after.map(RowId),
                entries: vec![NewEntry::Values([Some("http://new/".into()), None, None, Some("0.1".into())])],
            }),
            1 => (0u32..8).prop_map(|row| Edit::Raw { row: RowId(row), text: "\n<url><priority>0.3</priority><loc>http://raw/</loc></url>".into() }),
        ]
    }

    proptest! {
        /// I7: after any edits each record and each file size equals the recomputed one, and the old document is
        /// unchanged.
        #[test]
        fn records_and_sizes_equal_recomputed_ones(edits in proptest::collection::vec(edit(), 1..12)) {
            let second = FILE.replace("http://", "https://").replace("0.50", "<![CDATA[1.0]]>");
            let first = document(&[FILE, &second]);
            let mut versions = vec![first.clone()];
            for edit in &edits {
                let applied = apply(versions.last().unwrap(), edit);
                let before = versions.last().unwrap();
                for row in (0..applied.document.row_limit()).filter(|row| !applied.touched.contains(*row)) {
                    prop_assert_eq!(applied.document.entry_text(RowId(row)), before.entry_text(RowId(row)));
                }
                versions.push(applied.document);
            }
            for document in &versions {
                for row in document.rows() {
                    let (entry, text) = document.entry(row);
                    let fresh = Record::of(&entry, &text);
                    let kept = document.record(row);
                    prop_assert_eq!(fresh.lastmod_code(), kept.lastmod_code());
                    prop_assert_eq!(fresh.priority_code(), kept.priority_code());
                    prop_assert_eq!(fresh.changefreq_code(), kept.changefreq_code());
                    for field in Field::ALL {
                        prop_assert_eq!(entry.value(field, &text), document.value(row, field));
                        for value in [None, Some("0.5"), Some("1.0"), Some("2026-01-01"), Some("daily"), Some("http://x/?a&b")] {
                            let says = document.has_value(field, value)(row);
                            prop_assert_eq!(says, entry.value(field, &text).as_deref() == value, "{:?} {:?}", field, value);
                        }
                    }
                    for other in &versions {
                        let same = row.0 < other.row_limit() && document.entry_text(row) == other.entry_text(row);
                        let deleted = document.record(row).is_deleted() || other.record(row).is_deleted();
                        if !deleted {
                            prop_assert_eq!(document.compare(other).row_state(row) == RowState::Clean, same);
                        }
                    }
                }
                written(document, 0);
                written(document, 1);
                prop_assert_eq!(document.live() as usize, document.live_rows().count());
            }
            prop_assert_eq!(written(&versions[0], 0), FILE);
            prop_assert_eq!(written(&versions[0], 1), second);
        }
    }
}
