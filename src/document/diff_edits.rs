//! The edits that turn the saved document into this one, with the row ids of a fresh load.
//!
//! Row ids are valid only while a document is open; the edits use the ids that a fresh load of the files gives.
//! Invariant: the edits, applied to a fresh load of the files that `saved` wrote, give the rows of this document, in
//! its order and with its values. Two spellings can differ from the open document: a value that a save replaced and an
//! undo restored is written again, and a comment that a save moved to the front of its file belongs to the head of the
//! file when that is read.

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

/// Whether a fresh load of these files gives every row the id that it has. The rows of a file are visited only if some
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
fn is_derived(saved: &Document, was: &Index, now: &Index) -> bool {
    let mut kept = now.children.iter().peekable();
    let is_in_saved_file = |child: &Child| {
        let is_same =
            kept.peek().is_some_and(|own| own.state == child.state && (own.loc == child.loc || !now.edited.is_empty()));
        if is_same {
            kept.next();
        }
        // A part that a save has made is never empty.
        let goes = match child.state {
            ChildState::Loaded(id) => saved.sitemap(id).is_some_and(|sitemap| sitemap.live == 0),
            _ => true,
        };
        is_same || goes
    };
    if was.children.iter().all(is_in_saved_file) && kept.peek().is_none() {
        return true;
    }
    // Entries of nested indexes or of unlisted files were added.
    let made = was.edited(Arc::clone(&now.source));
    made.children.len() <= was.most_entries() && made.children == now.children
}

fn rename_edit(file: Member, name: &str) -> Option<Edit> {
    let name = rename::last(name);
    (!name.is_empty()).then(|| Edit::Rename { file, name: name.into() })
}

/// Whether a fresh load of the files that this document writes gives every row the id that it has here.
pub(crate) fn has_fresh_ids(document: &Document) -> bool {
    let files = fresh_files(document);
    files.len() == document.sitemaps().len() && files.is_sorted() && has_same_ids(document, &files)
}

/// The edits that turn a fresh load of the files that `saved` wrote into this document.
pub(crate) fn diff_edits(document: &Document, saved: &Document) -> Vec<Edit> {
    let fresh_ids = FreshIds::of(saved);
    let mut edits = Vec::new();
    let mut deleted = RowSet::new();
    let mut raws = Vec::new();
    let mut fields: [Vec<(RowId, Value)>; 4] = Default::default();
    let comparison = document.compare(saved);
    let mut known = comparison.maybe_different();
    // Rows that are saved although an undo removed them here.
    known.insert_range(document.row_limit().min(saved.row_limit())..saved.row_limit());
    for row in known.iter().map(RowId).filter(|row| saved.is_live(*row)) {
        let Some(id) = fresh_ids.row(row) else { continue };
        if !document.is_live(row) || !is_in_same_file(document, saved, row) {
            deleted.insert(id.0);
            continue;
        }
        let differs = |field: &Field| !comparison.has_same_override(row, *field);
        if !comparison.has_same_base_text(row) {
            raws.push((id, row));
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
        for (number, (sitemap, was)) in document.sitemaps().iter().zip(saved.sitemaps()).enumerate() {
            let is_other = sitemap.path.is_some() && was.path.is_some() && sitemap.path != was.path;
            let file = fresh_ids.file(SitemapId(number as u32)).filter(|_| is_other);
            edits.extend(file.and_then(|file| rename_edit(Member::Sitemap(file), &sitemap.name)));
        }
    }
    if let (Some(index), Some(was)) = (document.index(), saved.index()) {
        if index.accepted && !was.accepted {
            edits.push(Edit::Accept(Member::Index));
        }
        if index.gzip != was.gzip {
            edits.push(Edit::Pack { file: Member::Index, gzip: index.gzip });
        }
        for (number, volume) in index.other_volumes(was) {
            let (number, frame) = (number as u32, Arc::clone(&volume.frame));
            edits.push(Edit::Volume { number, frame, gzip: volume.gzip });
        }
        if index.path != was.path {
            edits.extend(rename_edit(Member::Index, &index.name));
        }
        if !Arc::ptr_eq(&index.source, &was.source) && is_derived(saved, was, index) {
            edits.push(Edit::Frame { file: Member::Index, frame: Arc::clone(&index.source) });
        }
    }
    // Accepting depends on the quirks of lines, which the edits above may fix: it comes last.
    let mut agreed = Vec::new();
    let mut orders = Vec::new();
    let mut next = fresh_ids.len;
    for (number, sitemap) in document.sitemaps().iter().enumerate() {
        let id = SitemapId(number as u32);
        let Some(file) = fresh_ids.file(id) else { continue };
        let Some(was) = saved.sitemap(id) else { continue };
        if sitemap.separate_news && !was.separate_news {
            edits.push(Edit::SeparateNews(file));
        }
        if sitemap.accepted && !was.accepted {
            agreed.push(Edit::Accept(Member::Sitemap(file)));
        }
        if sitemap.gzip != was.gzip && sitemap.path == was.path {
            edits.push(Edit::Pack { file: Member::Sitemap(file), gzip: sitemap.gzip });
        }
        if !Arc::ptr_eq(&sitemap.frame, &was.frame) && sitemap.frame.is_empty() {
            let frame = Arc::clone(&sitemap.frame);
            edits.push(Edit::Frame { file: Member::Sitemap(file), frame });
        }
        let new: Vec<RowId> = sitemap
            .rows
            .iter()
            .filter(|row| document.is_live(*row) && saved_id(document, saved, &fresh_ids, *row).is_none())
            .collect();
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut natural: Vec<u32> = was
            .rows
            .iter()
            .filter_map(|row| fresh_ids.row(row).filter(|_| saved.is_live(row)))
            .map(|row| row.0)
            .collect();
        if !new.is_empty() {
            let after = natural.last().copied().map(RowId);
            let entries = new.iter().map(|row| NewEntry::Element(element(document, *row))).collect();
            edits.push(Edit::Insert { sitemap: file, after, entries });
            for row in new {
                places.insert(row.0, next);
                natural.push(next);
                raws.push((RowId(next), row));
                next += 1;
            }
        }
        if places.is_empty() && sitemap.rows == was.rows {
            continue;
        }
        let place = |row: RowId| places.get(&row.0).copied().or_else(|| saved_id(document, saved, &fresh_ids, row));
        let mut wanted: Vec<u32> = sitemap.rows.iter().filter_map(place).collect();
        let here: HashSet<u32> = wanted.iter().copied().collect();
        let (kept, gone): (Vec<u32>, Vec<u32>) = natural.into_iter().partition(|row| here.contains(row));
        if wanted != kept {
            // An order lists every row; the positions of deleted ones do not matter.
            wanted.extend(gone);
            orders.push((file, RowList::from_ids(wanted)));
        }
    }
    let text = |row: RowId| String::from_utf8_lossy(&document.entry_text(row)).into();
    edits.extend(raws.into_iter().map(|(id, row)| Edit::Raw { row: id, text: text(row) }));
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
    edits.extend(agreed);
    edits
}

/// The fresh id of a row that is in its saved file.
fn saved_id(document: &Document, saved: &Document, fresh_ids: &FreshIds, row: RowId) -> Option<u32> {
    let is_in_saved_file = saved.is_live(row) && is_in_same_file(document, saved, row);
    if is_in_saved_file { fresh_ids.row(row).map(|row| row.0) } else { None }
}

/// Whether a row is in the file in which it was saved. After an undo the id of an added row is reused for a row that may
/// be in another file.
fn is_in_same_file(document: &Document, saved: &Document, row: RowId) -> bool {
    row.0 < document.row_limit() && document.sitemap_of(row) == saved.sitemap_of(row)
}

/// The element of a row without the trivia before it.
fn element(document: &Document, row: RowId) -> Arc<str> {
    let text = document.entry_text(row);
    let entry = Entry::of(&text, document.names(row));
    String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).into()
}
