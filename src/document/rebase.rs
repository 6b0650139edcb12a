//! Rebases a document that was edited while it was being saved onto the files that the save wrote.
//!
//! Invariant: rows and values are those of this document; a row that the save moved to another file is in that file,
//! and a new row follows the row that it was inserted after.

use super::Document;
use super::clear_quirks::mark_written;
use super::index::Index;
use super::pending_split;
use super::rows::{RowId, RowList, RowSet};
use super::sitemap::{Member, Sitemap, SitemapId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A document rebased onto the files of a save.
#[derive(Debug, Clone)]
pub(crate) struct Rebased {
    /// The document.
    pub document: Document,
    /// Rows that are in another file than before.
    pub moved: RowSet,
    /// Whether quirks of the written files were dropped.
    pub repaired: bool,
}

/// Rebases `document` onto the files of `saved`, which a save wrote for `save_input`; all three have the same row ids.
///
/// `None` if the files or the index differ from those at the start of the save, because of an edit or an undo since
/// then. The document then stays unchanged, and the next plan compares it with the disk.
pub(crate) fn rebase(document: &Document, save_input: &Document, saved: &Document) -> Option<Rebased> {
    let index = is_same_index(document.index(), save_input.index()).then(|| saved.index().cloned())?;
    if document.sitemaps.len() != save_input.sitemaps.len() || saved.sitemaps.len() < save_input.sitemaps.len() {
        return None;
    }
    if !has_same_rows(document, save_input) {
        return None;
    }
    let mut rebased = Rebased { document: document.clone(), moved: RowSet::new(), repaired: false };
    rebased.document.set_index(index);
    let has_new_parts = saved.sitemaps.len() > save_input.sitemaps.len();
    for part in saved.sitemaps.iter().skip(save_input.sitemaps.len()) {
        rebased.document.add_sitemap(Sitemap::clone(part));
    }
    for (number, sitemap) in document.sitemaps.iter().enumerate() {
        let id = SitemapId(number as u32);
        let (input, output) = (save_input.sitemap(id)?, saved.sitemap(id)?);
        if output.path.is_none() && input.path.is_some() && sitemap.live > 0 {
            // The save removed the file because it was empty, but it has rows again.
            return None;
        }
        if has_new_parts {
            rebased.assign_rows(document, saved, sitemap, id);
        } else if let Some(rows) = without_deleted(document, saved, sitemap) {
            rebased.document.change_sitemap(id, |sitemap| sitemap.rows = rows);
        }
        rebased.take_path(id, (input, output));
        if save_input.sitemaps.get(number).is_some_and(|input| Arc::ptr_eq(sitemap, input)) {
            // Unedited since the save began: share the saved file, so that comparing pointers shows it as unchanged.
            if let (Some(slot), Some(saved_file)) =
                (rebased.document.sitemaps.get_mut(number), saved.sitemaps.get(number))
            {
                *slot = Arc::clone(saved_file);
            }
        }
    }
    pending_split::update(&mut rebased.document);
    Some(rebased)
}

/// Whether equal row ids mean the same row: an undo frees the ids of added rows.
fn has_same_rows(document: &Document, save_input: &Document) -> bool {
    let added = (0..document.row_limit().min(save_input.row_limit())).rev().map(RowId);
    let mut added = added.take_while(|row| document.origin(*row).is_none());
    added.all(|row| {
        document.base_text(row) == save_input.base_text(row) && document.sitemap_of(row) == save_input.sitemap_of(row)
    })
}

/// The rows of a file without those that are deleted both here and in `saved`; `None` if there are no such rows.
fn without_deleted(document: &Document, saved: &Document, sitemap: &Sitemap) -> Option<RowList> {
    if sitemap.rows.len() == sitemap.live as usize {
        return None;
    }
    let remaining = sitemap.rows.iter().filter(|row| document.is_live(*row) || saved.is_live(*row));
    let remaining = RowList::from_ids(remaining.map(|row| row.0));
    (remaining.len() != sitemap.rows.len()).then_some(remaining)
}

/// Whether the index is the same as at the start of the save.
fn is_same_index(current: Option<&Index>, at_start: Option<&Index>) -> bool {
    match (current, at_start) {
        (None, None) => true,
        (Some(current), Some(at_start)) => {
            Arc::ptr_eq(&current.source, &at_start.source)
                && current.accepted == at_start.accepted
                && current.gzip == at_start.gzip
                && current.other_volumes(at_start).next().is_none()
                && current.children == at_start.children
        }
        _ => false,
    }
}

impl Rebased {
    /// Moves the rows of a file to the files to which the save moved them. A row that was added since is put into the
    /// file of the row before it.
    fn assign_rows(&mut self, document: &Document, saved: &Document, ours: &Sitemap, id: SitemapId) {
        let moves_out = |row: RowId| saved.is_live(row) && saved.sitemap_of(row) != id;
        if !ours.rows.iter().any(moves_out) {
            if let Some(rows) = without_deleted(document, saved, ours) {
                self.document.change_sitemap(id, |sitemap| sitemap.rows = rows);
            }
            return;
        }
        let mut files: BTreeMap<SitemapId, Vec<u32>> = BTreeMap::from([(id, Vec::new())]);
        let mut file = id;
        for row in ours.rows.iter() {
            if saved.is_live(row) {
                file = saved.sitemap_of(row);
            } else if !document.is_live(row) {
                continue;
            }
            files.entry(file).or_default().push(row.0);
            if file != id {
                self.document.set_file(row, file);
                self.moved.insert(row.0);
            }
        }
        for (file, rows) in files {
            let live: Vec<RowId> = rows.iter().copied().map(RowId).filter(|row| document.is_live(*row)).collect();
            let bytes = live.iter().map(|row| document.entry_text(*row).len() as u64).sum();
            self.document.change_sitemap(file, |sitemap| {
                sitemap.rows = RowList::from_ids(rows);
                (sitemap.live, sitemap.entry_bytes) = (live.len() as u32, bytes);
            });
        }
    }

    /// Sets the path and form that the save gave a file.
    fn take_path(&mut self, id: SitemapId, (input, output): (&Sitemap, &Sitemap)) {
        let was_written = !Arc::ptr_eq(&output.quirks, &input.quirks) && !input.quirks.is_empty();
        if was_written {
            self.repaired = true;
            mark_written(&mut self.document, &[Member::Sitemap(id)], &BTreeSet::new());
        }
        self.document.change_sitemap(id, |sitemap| {
            // A file that was renamed during the save keeps its new name.
            if sitemap.path == input.path {
                (sitemap.path, sitemap.name, sitemap.url) =
                    (output.path.clone(), Arc::clone(&output.name), output.url.clone());
            }
            (sitemap.form, sitemap.encoding) = (output.form, output.encoding);
            if sitemap.gzip == input.gzip {
                sitemap.gzip = output.gzip;
            }
            sitemap.accepted &= !input.accepted || output.accepted;
            sitemap.separate_news &= !input.separate_news || output.separate_news;
            if Arc::ptr_eq(&sitemap.frame, &input.frame) {
                sitemap.frame = Arc::clone(&output.frame);
            }
        });
    }
}
