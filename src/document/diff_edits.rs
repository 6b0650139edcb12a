//! The edits that turn the saved document into this one, with the row ids of a fresh load.
//!
//! Row ids are valid only while a document is open; the edits use the ids that a fresh load of the files gives.
//! Invariant: the edits, applied to a fresh load of the files that `saved` wrote, give the rows of this document, in
//! its order and with its values. The bytes can differ from the open document in two ways: a value that a save replaced
//! and an undo restored is written again, and a comment that a save moved to the start of its file is part of the head
//! after a load.

use super::Document;
use super::edit::{Edit, NewEntry, Value};
use super::index::{Child, ChildState, Index, leaf_children};
use super::rename;
use super::rows::{RowId, RowList, RowSet};
use super::sitemap::{Member, Sitemap, SitemapId};
use crate::progress::note_work;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

/// Maps ids of an open document to those of a fresh load.
#[derive(Debug)]
struct FreshIds {
    /// The fresh id of each row; `None` if all ids are the same.
    rows: Option<HashMap<u32, u32>>,
    /// Number of rows of the fresh load.
    len: u32,
    /// The files of the fresh load, in order.
    files: Vec<SitemapId>,
}

/// The files that a fresh load finds, in the order in which the index lists them.
fn fresh_files(saved: &Document) -> Vec<SitemapId> {
    let loaded = |child: &Child| match child.state {
        ChildState::Loaded(id) => Some(id),
        _ => None,
    };
    match saved.index() {
        Some(index) => leaf_children(&index.children).into_iter().filter_map(loaded).collect(),
        None => (0..saved.sitemaps().len() as u32).map(SitemapId).collect(),
    }
}

/// Whether a fresh load of these files gives every row its current id. The rows of a file are visited only if some
/// have moved.
fn has_same_ids(saved: &Document, files: &[SitemapId]) -> bool {
    let mut next = 0;
    let is_same = |sitemap: &Sitemap| {
        let first = next;
        next += sitemap.rows.len() as u32;
        if let Some(range) = sitemap.rows.as_range() {
            return range.is_empty() || range.start == first;
        }
        note_work(sitemap.rows.len());
        sitemap.rows.iter().map(|row| row.0).eq(first..next)
    };
    saved.live() == saved.row_limit() && files.iter().filter_map(|id| saved.sitemap(*id)).all(is_same)
}

impl FreshIds {
    fn of(saved: &Document) -> Self {
        let files = fresh_files(saved);
        let rows = || {
            note_work(saved.live() as usize);
            let rows = files.iter().filter_map(|id| saved.sitemap(*id)).flat_map(|sitemap| sitemap.rows.iter());
            rows.filter(|row| saved.is_live(*row)).map(|row| row.0).zip(0..).collect()
        };
        let rows = (!has_same_ids(saved, &files)).then(rows);
        Self { rows, len: saved.live(), files }
    }

    fn row(&self, row: RowId) -> Option<RowId> {
        match &self.rows {
            None => (row.0 < self.len).then_some(row),
            Some(rows) => rows.get(&row.0).copied().map(RowId),
        }
    }

    fn file(&self, id: SitemapId) -> Option<SitemapId> {
        self.files.iter().position(|file| *file == id).map(|at| SitemapId(at as u32))
    }
}

/// Whether an index is the saved one with entries edited or removed. Entries that saves add or remove follow from the
/// rows, so entries of files without rows may be absent.
fn is_derived(saved: &Document, saved_index: &Index, now: &Index) -> bool {
    let mut remaining = now.children.iter().peekable();
    let is_in_saved_file = |child: &Child| {
        let is_same = remaining.peek().is_some_and(|current| {
            current.state == child.state && (current.loc == child.loc || !now.edited.is_empty())
        });
        if is_same {
            remaining.next();
        }
        // A save removes the entry of a file without rows.
        let may_be_absent = match child.state {
            ChildState::Loaded(id) => saved.sitemap(id).is_some_and(|sitemap| sitemap.live == 0),
            _ => true,
        };
        is_same || may_be_absent
    };
    if saved_index.children.iter().all(is_in_saved_file) && remaining.peek().is_none() {
        return true;
    }
    // Entries of nested indexes or of unlisted files were added.
    let edited = saved_index.edited(Arc::clone(&now.source));
    edited.children.len() <= saved_index.max_entries() && edited.children == now.children
}

fn rename_edit(file: Member, name: &str) -> Option<Edit> {
    let name = rename::last(name);
    (!name.is_empty()).then(|| Edit::Rename { file, name: name.into() })
}

/// Whether a fresh load of the files that this document writes gives every row its current id.
pub(crate) fn has_fresh_ids(document: &Document) -> bool {
    let files = fresh_files(document);
    files.len() == document.sitemaps().len() && files.is_sorted() && has_same_ids(document, &files)
}

/// The edits that turn a fresh load of the files that `saved` wrote into this document.
pub(crate) fn diff_edits(document: &Document, saved: &Document) -> Vec<Edit> {
    let fresh_ids = FreshIds::of(saved);
    let mut edits = Vec::new();
    let mut deleted = RowSet::new();
    let mut replaced_texts = Vec::new();
    let mut fields: [Vec<(RowId, Value)>; 4] = Default::default();
    let comparison = document.compare(saved);
    let mut candidates = comparison.maybe_different();
    // Saved rows whose ids an undo has removed from this document.
    candidates.insert_range(document.row_limit().min(saved.row_limit())..saved.row_limit());
    for row in candidates.iter().map(RowId).filter(|row| saved.is_live(*row)) {
        let Some(id) = fresh_ids.row(row) else { continue };
        if !document.is_live(row) || !is_in_same_file(document, saved, row) {
            deleted.insert(id.0);
            continue;
        }
        let differs = |field: &Field| !comparison.has_same_override(row, *field);
        if !comparison.has_same_base_text(row) {
            replaced_texts.push((id, row));
            continue;
        }
        for field in Field::ALL.into_iter().filter(differs) {
            if let Some(list) = fields.get_mut(field.index()) {
                list.push((id, document.value(row, field).map(|value| (&*value).into())));
            }
        }
    }
    // When a single file became a set or the reverse, paths differ without a rename.
    if document.index().is_some() == saved.index().is_some() {
        for (number, (sitemap, saved_sitemap)) in document.sitemaps().iter().zip(saved.sitemaps()).enumerate() {
            let is_other = sitemap.path.is_some() && saved_sitemap.path.is_some() && sitemap.path != saved_sitemap.path;
            let file = fresh_ids.file(SitemapId(number as u32)).filter(|_| is_other);
            edits.extend(file.and_then(|file| rename_edit(Member::Sitemap(file), &sitemap.name)));
        }
    }
    if let (Some(index), Some(saved_index)) = (document.index(), saved.index()) {
        if index.accepted && !saved_index.accepted {
            edits.push(Edit::Accept(Member::Index));
        }
        if index.gzip != saved_index.gzip {
            edits.push(Edit::Pack { file: Member::Index, gzip: index.gzip });
        }
        for (number, volume) in index.other_volumes(saved_index) {
            let (number, frame) = (number as u32, Arc::clone(&volume.frame));
            edits.push(Edit::Volume { number, frame, gzip: volume.gzip });
        }
        if index.path != saved_index.path {
            edits.extend(rename_edit(Member::Index, &index.name));
        }
        if !Arc::ptr_eq(&index.source, &saved_index.source) && is_derived(saved, saved_index, index) {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&index.source) });
        }
    }
    // Accepting depends on the quirks of lines, which other edits may fix, so it is applied last.
    let mut accept_edits = Vec::new();
    let mut orders = Vec::new();
    let mut next = fresh_ids.len;
    for (number, sitemap) in document.sitemaps().iter().enumerate() {
        let id = SitemapId(number as u32);
        let Some(file) = fresh_ids.file(id) else { continue };
        let Some(saved_sitemap) = saved.sitemap(id) else { continue };
        if sitemap.separate_news && !saved_sitemap.separate_news {
            edits.push(Edit::SeparateNews(file));
        }
        if sitemap.accepted && !saved_sitemap.accepted {
            accept_edits.push(Edit::Accept(Member::Sitemap(file)));
        }
        if sitemap.gzip != saved_sitemap.gzip && sitemap.path == saved_sitemap.path {
            edits.push(Edit::Pack { file: Member::Sitemap(file), gzip: sitemap.gzip });
        }
        if !Arc::ptr_eq(&sitemap.frame, &saved_sitemap.frame) && sitemap.frame.is_empty() {
            let frame = Arc::clone(&sitemap.frame);
            edits.push(Edit::Frame { file: Member::Sitemap(file), frame });
        }
        let new: Vec<RowId> = sitemap
            .rows
            .iter()
            .filter(|row| document.is_live(*row) && saved_id(document, saved, &fresh_ids, *row).is_none())
            .collect();
        let mut added_ids: HashMap<u32, u32> = HashMap::new();
        let mut default_order: Vec<u32> = saved_sitemap
            .rows
            .iter()
            .filter_map(|row| fresh_ids.row(row).filter(|_| saved.is_live(row)))
            .map(|row| row.0)
            .collect();
        if !new.is_empty() {
            let after = default_order.last().copied().map(RowId);
            let entries = new.iter().map(|row| NewEntry::Element(element(document, *row))).collect();
            edits.push(Edit::Insert { sitemap: file, after, entries });
            for row in new {
                added_ids.insert(row.0, next);
                default_order.push(next);
                replaced_texts.push((RowId(next), row));
                next += 1;
            }
        }
        if added_ids.is_empty() && sitemap.rows == saved_sitemap.rows {
            continue;
        }
        let fresh_id =
            |row: RowId| added_ids.get(&row.0).copied().or_else(|| saved_id(document, saved, &fresh_ids, row));
        let mut order: Vec<u32> = sitemap.rows.iter().filter_map(fresh_id).collect();
        let present: HashSet<u32> = order.iter().copied().collect();
        let (kept_rows, deleted_rows): (Vec<u32>, Vec<u32>) =
            default_order.into_iter().partition(|row| present.contains(row));
        if order != kept_rows {
            // An order lists every row; the positions of deleted rows do not matter.
            order.extend(deleted_rows);
            orders.push((file, RowList::from_ids(order)));
        }
    }
    let text = |row: RowId| String::from_utf8_lossy(&document.entry_text(row)).into();
    edits.extend(replaced_texts.into_iter().map(|(id, row)| Edit::Raw { row: id, text: text(row) }));
    for (field, mut values) in Field::ALL.into_iter().zip(fields) {
        if !values.is_empty() {
            values.sort_by_key(|(row, _)| *row);
            edits.push(Edit::SetEach { field, values });
        }
    }
    if !deleted.is_empty() {
        edits.push(Edit::Delete(deleted));
    }
    if !orders.is_empty() {
        edits.push(Edit::Reorder(orders));
    }
    edits.extend(accept_edits);
    edits
}

/// The fresh id of a row that is in its saved file.
fn saved_id(document: &Document, saved: &Document, fresh_ids: &FreshIds, row: RowId) -> Option<u32> {
    let is_in_saved_file = saved.is_live(row) && is_in_same_file(document, saved, row);
    if is_in_saved_file { fresh_ids.row(row).map(|row| row.0) } else { None }
}

/// Whether a row is in the file in which it was saved. After an undo the id of an added row is reused for a row that
/// may be in another file.
fn is_in_same_file(document: &Document, saved: &Document, row: RowId) -> bool {
    row.0 < document.row_limit() && document.sitemap_of(row) == saved.sitemap_of(row)
}

/// The element of a row without the trivia before it.
fn element(document: &Document, row: RowId) -> Arc<str> {
    let text = document.entry_text(row);
    let entry = Entry::of(&text, document.names(row));
    String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).into()
}
