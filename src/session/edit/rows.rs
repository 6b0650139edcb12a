//! Plans new, duplicated and reordered rows, and rows edited as text.

use crate::document::edit::{Edit, NewEntry};
use crate::document::rows::{RowId, RowList, RowSet};
use crate::document::sitemap::SitemapId;
use crate::session::edit::change::EditError;
use crate::session::edit::intent::{Intent, Label};
use crate::session::state::Snapshot;
use crate::xml::escape::is_xml_char;

pub(in crate::session) fn intend_insert(
    snapshot: &Snapshot,
    anchor: Option<RowId>,
    before: bool,
    locs: &[String],
) -> Result<Intent, EditError> {
    let entries: Vec<NewEntry> = locs
        .iter()
        .map(|loc| loc.trim())
        .filter(|loc| !loc.is_empty())
        .map(|loc| NewEntry::Values([Some(loc.into()), None, None, None]))
        .collect();
    if let Some(bad) = locs.iter().flat_map(|loc| loc.chars()).find(|character| !is_xml_char(*character)) {
        return Err(EditError::Refused(format!("U+{:04X} cannot be written in XML; leave it out", bad as u32)));
    }
    let count = entries.len() as u64;
    let Some((sitemap, after)) = insert_position(snapshot, anchor, before) else {
        return Err(EditError::Refused("there is no file to add to".into()));
    };
    Ok(Intent {
        label: Label::of("", count, "row", " added"),
        edit: (count > 0).then_some(Edit::Insert { sitemap, after, entries }),
        ..Intent::counting(count)
    })
}

/// The file that new rows after (or `before`) the row `anchor` are inserted into, and the row that they follow there.
pub(in crate::session) fn insert_position(
    snapshot: &Snapshot,
    anchor: Option<RowId>,
    before: bool,
) -> Option<(SitemapId, Option<RowId>)> {
    let Some(anchor) = anchor else {
        // A file that a save has removed keeps its number, but is not written again.
        let files = (0..snapshot.document.sitemaps().len() as u32).map(SitemapId);
        let last = files.rev().find(|id| !snapshot.document.is_gone(*id))?;
        let rows = &snapshot.document.sitemap(last)?.rows;
        return Some((last, rows.len().checked_sub(1).and_then(|at| rows.get(at))));
    };
    let sitemap = snapshot.document.sitemap_of(anchor);
    if !before {
        return Some((sitemap, Some(anchor)));
    }
    let rows = &snapshot.document.sitemap(sitemap)?.rows;
    let position = rows.position(anchor)?;
    Some((sitemap, position.checked_sub(1).and_then(|at| rows.get(at))))
}

pub(in crate::session) fn intend_duplicate(snapshot: &Snapshot, rows: &RowSet) -> Result<Intent, EditError> {
    let mut edits = Vec::new();
    for row in rows.iter().map(RowId).filter(|row| snapshot.document.is_live(*row)) {
        let (entry, text) = snapshot.document.entry(row);
        let element = text.get(entry.open as usize..entry.len as usize).unwrap_or_default();
        let Ok(element) = std::str::from_utf8(element) else {
            return Err(EditError::Refused("a row that is not UTF-8 cannot be copied".into()));
        };
        let entries = vec![NewEntry::Element(element.into())];
        edits.push(Edit::Insert { sitemap: snapshot.document.sitemap_of(row), after: Some(row), entries });
    }
    let count = edits.len() as u64;
    Ok(Intent {
        label: Label::of("", count, "row", " duplicated"),
        edit: (count > 0).then_some(Edit::Several(edits)),
        ..Intent::counting(count)
    })
}

pub(in crate::session) fn intend_raw(snapshot: &Snapshot, row: RowId, text: &str) -> Result<Intent, EditError> {
    let names = snapshot.document.names(row);
    let text = names.trimmed(text);
    let entry = crate::xml::entry::Entry::of(text.as_bytes(), names);
    if entry.anomalies.contains(crate::xml::entry::Anomalies::BROKEN)
        || entry.open != 0
        || entry.len as usize != text.len()
    {
        let noun = names.kind.entry_name();
        let element = format!("well-formed <{noun}> element");
        return Err(EditError::Refused(format!(
            "enter exactly one {}",
            if names.kind.is_xml() { &element } else { noun }
        )));
    }
    let (old, old_text) = snapshot.document.entry(row);
    let lead = String::from_utf8_lossy(old_text.get(..old.open as usize).unwrap_or_default());
    Ok(Intent {
        label: "1 row edited as text".into(),
        edit: Some(Edit::Raw { row, text: format!("{lead}{text}{}", names.entry_end()).into() }),
        ..Intent::counting(1)
    })
}

/// The intent of applying the view's order: shown rows are permuted within their file, other rows keep their positions.
pub(in crate::session) fn intend_order(snapshot: &Snapshot) -> Intent {
    let mut shown_order: Vec<Vec<u32>> = vec![Vec::new(); snapshot.document.sitemaps().len()];
    for row in snapshot.view.rows(&snapshot.document) {
        if let Some(file) = shown_order.get_mut(snapshot.document.sitemap_of(row).index()) {
            file.push(row.0);
        }
    }
    let mut orders = Vec::new();
    let mut moved = 0u64;
    for (id, (sitemap, file_order)) in snapshot.document.sitemaps().iter().zip(&shown_order).enumerate() {
        let shown: RowSet = file_order.iter().copied().collect();
        let mut next = file_order.iter();
        let order: Vec<u32> = sitemap
            .rows
            .iter()
            .map(|row| if shown.contains(row.0) { next.next().copied().unwrap_or(row.0) } else { row.0 })
            .collect();
        let differs = sitemap.rows.iter().zip(&order).filter(|(old, new)| old.0 != **new).count() as u64;
        if differs > 0 {
            moved += differs;
            orders.push((SitemapId(id as u32), RowList::from_ids(order)));
        }
    }
    Intent {
        label: Label::of("file order changed: ", moved, "row", " moved"),
        edit: (moved > 0).then_some(Edit::Reorder(orders)),
        idle: "the files have this order already",
        ..Intent::counting(moved)
    }
}
