//! Restores positions for rows that an earlier save removed, a later one restored, and that are deleted again.
//!
//! Invariant: afterwards the row list of each file contains every row that is deleted here and live in the saved
//! document, after the row that it follows there; nothing else differs.

use super::Document;
use super::rows::{RowId, RowList, RowSet};
use super::sitemap::SitemapId;
use std::collections::{BTreeMap, HashMap};

/// The document with a position for every row that is deleted here but not in `saved`; `None` if all have one already.
pub(crate) fn restore_positions(document: &Document, saved: &Document) -> Option<Document> {
    let is_deleted = |row: &RowId| !document.is_live(*row) && saved.is_live(*row);
    let mut deleted: BTreeMap<SitemapId, RowSet> = BTreeMap::new();
    for row in document.compare(saved).maybe_different().iter().map(RowId).filter(is_deleted) {
        deleted.entry(document.sitemap_of(row)).or_default().insert(row.0);
    }
    let mut missing: BTreeMap<SitemapId, RowSet> = BTreeMap::new();
    for (id, rows) in deleted {
        let present: RowSet = document.sitemap(id)?.rows.iter().map(|row| row.0).collect();
        let absent = rows - present;
        if !absent.is_empty() {
            missing.insert(id, absent);
        }
    }
    if missing.is_empty() {
        return None;
    }
    // For each missing row, the row of its file that it follows in the saved document.
    let mut previous: HashMap<SitemapId, Option<u32>> = HashMap::new();
    let mut after: HashMap<(SitemapId, Option<u32>), Vec<u32>> = HashMap::new();
    for row in saved.rows().filter(|row| row.0 < document.row_limit()) {
        let id = document.sitemap_of(row);
        let Some(missing) = missing.get(&id) else { continue };
        let previous = previous.entry(id).or_default();
        if missing.contains(row.0) {
            after.entry((id, *previous)).or_default().push(row.0);
        } else if document.is_live(row) || saved.is_live(row) {
            *previous = Some(row.0);
        }
    }
    let mut restored = document.clone();
    for id in missing.keys() {
        let mut rows = after.remove(&(*id, None)).unwrap_or_default();
        for row in document.sitemap(*id)?.rows.iter() {
            rows.push(row.0);
            rows.extend(after.remove(&(*id, Some(row.0))).unwrap_or_default());
        }
        restored.change_sitemap(*id, |sitemap| sitemap.rows = RowList::from_ids(rows));
    }
    Some(restored)
}
