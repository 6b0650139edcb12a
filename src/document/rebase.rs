//! Rebases a document that was edited while it was being saved onto the files that the save wrote.
//!
//! Invariant: rows and values are those of this document; a row that the save moved to another file is in that file, and a
//! new row follows the row that it was inserted after.

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

/// Rebases `document` onto the files of `saved`, which a save wrote for `then`; all three have the same row ids.
///
/// `None` if files or the index are not those that the save started with, because of a change or an undo meanwhile. The
/// document then stays as it is, and the next plan compares it with the disk.
pub(crate) fn rebase(document: &Document, then: &Document, saved: &Document) -> Option<Rebased> {
    let index = same_index(document.index(), then.index()).then(|| saved.index().cloned())?;
    if document.sitemaps.len() != then.sitemaps.len() || saved.sitemaps.len() < then.sitemaps.len() {
        return None;
    }
    if !has_same_rows(document, then) {
        return None;
    }
    let mut rebased = Rebased { document: document.clone(), moved: RowSet::new(), repaired: false };
    rebased.document.set_index(index);
    let parts = saved.sitemaps.len() > then.sitemaps.len();
    for part in saved.sitemaps.iter().skip(then.sitemaps.len()) {
        rebased.document.add_sitemap(Sitemap::clone(part));
    }
    for (number, ours) in document.sitemaps.iter().enumerate() {
        let id = SitemapId(number as u32);
        let (was, is) = (then.sitemap(id)?, saved.sitemap(id)?);
        if is.path.is_none() && was.path.is_some() && ours.live > 0 {
            // The save removed the empty file, but it has rows again here.
            return None;
        }
        if parts {
            rebased.assign_rows(document, saved, ours, id);
        } else if let Some(rows) = without_deleted(document, saved, ours) {
            rebased.document.change_sitemap(id, |sitemap| sitemap.rows = rows);
        }
        rebased.take_path(id, (was, is));
        if then.sitemaps.get(number).is_some_and(|was| Arc::ptr_eq(ours, was)) {
            // Unedited since the save began: share the saved file, so that comparing pointers shows it as unchanged.
            if let (Some(own), Some(theirs)) = (rebased.document.sitemaps.get_mut(number), saved.sitemaps.get(number)) {
                *own = Arc::clone(theirs);
            }
        }
    }
    pending_split::update(&mut rebased.document);
    Some(rebased)
}

/// Whether equal row ids mean the same row: an undo frees the ids of added rows.
fn has_same_rows(document: &Document, then: &Document) -> bool {
    let added = (0..document.row_limit().min(then.row_limit())).rev().map(RowId);
    let mut added = added.take_while(|row| document.origin(*row).is_none());
    added.all(|row| document.base_text(row) == then.base_text(row) && document.sitemap_of(row) == then.sitemap_of(row))
}

/// The rows of a file without those that are deleted both here and in `saved`; `None` if there are no such rows.
fn without_deleted(document: &Document, saved: &Document, sitemap: &Sitemap) -> Option<RowList> {
    if sitemap.rows.len() == sitemap.live as usize {
        return None;
    }
    let kept = sitemap.rows.iter().filter(|row| document.is_live(*row) || saved.is_live(*row));
    let kept = RowList::from_ids(kept.map(|row| row.0));
    (kept.len() != sitemap.rows.len()).then_some(kept)
}

/// Whether two indexes are the same and unchanged.
fn same_index(ours: Option<&Index>, then: Option<&Index>) -> bool {
    match (ours, then) {
        (None, None) => true,
        (Some(ours), Some(then)) => {
            Arc::ptr_eq(&ours.source, &then.source)
                && ours.accepted == then.accepted
                && ours.gzip == then.gzip
                && ours.other_volumes(then).next().is_none()
                && ours.children == then.children
        }
        _ => false,
    }
}

impl Rebased {
    /// Distributes the rows of a file as the save did. Rows added since then follow the row before them.
    fn assign_rows(&mut self, document: &Document, saved: &Document, ours: &Sitemap, id: SitemapId) {
        let leaves = |row: RowId| saved.is_live(row) && saved.sitemap_of(row) != id;
        if !ours.rows.iter().any(leaves) {
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

    /// Takes over the path and form that the save gave a file.
    fn take_path(&mut self, id: SitemapId, (was, is): (&Sitemap, &Sitemap)) {
        let written = !Arc::ptr_eq(&is.quirks, &was.quirks) && !was.quirks.is_empty();
        if written {
            self.repaired = true;
            mark_written(&mut self.document, &[Member::Sitemap(id)], &BTreeSet::new());
        }
        self.document.change_sitemap(id, |sitemap| {
            // A file that was renamed in the meantime keeps its new name.
            if sitemap.path == was.path {
                (sitemap.path, sitemap.name, sitemap.url) = (is.path.clone(), Arc::clone(&is.name), is.url.clone());
            }
            (sitemap.form, sitemap.encoding) = (is.form, is.encoding);
            if sitemap.gzip == was.gzip {
                sitemap.gzip = is.gzip;
            }
            sitemap.accepted &= !was.accepted || is.accepted;
            sitemap.separate_news &= !was.separate_news || is.separate_news;
            if Arc::ptr_eq(&sitemap.frame, &was.frame) {
                sitemap.frame = Arc::clone(&is.frame);
            }
        });
    }
}
