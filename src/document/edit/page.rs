//! Writes one field of many rows, one column page at a time, on worker threads.

use crate::document::Document;
use crate::document::overlay::ValueId;
use crate::document::row_cursor::RowBase;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::persistent::PAGE;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::escape::escaped_len;
use crate::xml::fast_path;
use crate::xml::record::Record;
use crate::xml::splice::{self, Change, Changes};
use std::sync::Arc;

/// A new value with its text, length and record, computed once for many rows.
#[derive(Clone, Copy)]
struct NewValue<'v> {
    id: ValueId,
    /// `None` removes the element.
    text: Option<&'v str>,
    /// Length in bytes as it is written (escaped).
    len: usize,
    /// A record that contains this value.
    record_value: Record,
}

impl<'v> NewValue<'v> {
    fn of(document: &'v Document, field: Field, id: ValueId) -> Self {
        let text = document.overlay.text(id);
        let mut record_value = Record::default();
        record_value.note(field, text);
        Self { id, text, len: text.map_or(0, escaped_len), record_value }
    }
}

/// The result of a bulk edit for one page.
pub(super) struct PageEdit {
    pub(super) number: usize,
    pub(super) overrides: Arc<[ValueId]>,
    pub(super) records: Arc<[Record]>,
    pub(super) is_changed: bool,
    /// Rows that are not changed: deleted ones, and those that have the value already.
    pub(super) skipped: Vec<u32>,
    pub(super) deltas: Vec<(SitemapId, i64)>,
}

/// The field and the shared page of a bulk edit.
#[derive(Clone, Copy)]
pub(super) struct NewPage<'b> {
    pub(super) field: Field,
    /// A page in which every row has the new value, shared by all such pages; empty if values differ.
    pub(super) shared_page: &'b Arc<[ValueId]>,
}

/// Sets a field of rows of one page.
pub(super) fn edit(
    document: &Document,
    number: usize,
    rows: impl Iterator<Item = (RowId, ValueId)>,
    new_page: NewPage<'_>,
) -> PageEdit {
    let NewPage { field, shared_page } = new_page;
    let mut overrides = document.overlay.copy_of_page(field, number);
    let mut records = document.records.copy_of_page(number);
    let (mut skipped, mut deltas, mut is_changed) = (Vec::new(), Vec::new(), false);
    // Reused while consecutive rows get the same value.
    let mut new = NewValue::of(document, field, ValueId::NONE);
    let mut cursor = document.row_cursor();
    // The copies are not shared, so this does not copy them again.
    let copies = (Arc::make_mut(&mut overrides), Arc::make_mut(&mut records));
    for (row, id) in rows {
        let slot = row.index() % PAGE;
        let (Some(override_id), Some(record)) = (copies.0.get_mut(slot), copies.1.get_mut(slot)) else {
            skipped.push(row.0);
            continue;
        };
        // The last page is longer than the column.
        let is_live = !record.is_deleted() && row.0 < document.row_limit();
        if new.id != id {
            new = NewValue::of(document, field, id);
        }
        let changed = is_live.then(|| set_field(document, cursor.of(row), field, new)).flatten();
        let Some((id, delta)) = changed else {
            skipped.push(row.0);
            continue;
        };
        *override_id = id;
        if id == ValueId::NONE {
            record.note(field, document.base_value(row, field).as_deref());
        } else {
            record.take(field, &new.record_value);
        }
        is_changed = true;
        let file = cursor.sitemap_of(row);
        match deltas.last_mut() {
            Some((last, sum)) if *last == file => *sum += delta,
            _ => deltas.push((file, delta)),
        }
    }
    if overrides == *shared_page {
        overrides = Arc::clone(shared_page);
    }
    PageEdit { number, overrides, records, is_changed, skipped, deltas }
}

/// The override that a field needs for a value (none if the value equals the text), and the growth of the entry in
/// bytes. `None` if nothing changes.
fn set_field(document: &Document, row: RowBase<'_>, field: Field, new: NewValue<'_>) -> Option<(ValueId, i64)> {
    let RowBase { row, text: base, names } = row;
    let current = document.overlay.field(row, field);
    let loc = document.record(row).plain_loc();
    let current_text = loc.clone().and_then(|loc| fast_path::text_after_loc(base, loc.end, field, names));
    if let (Some(current_text), Some(new_text)) = (current_text, new.text)
        && current != ValueId::REMOVED
    {
        // Only the text of the element changes, independent of overrides of other fields.
        let override_text = document.overlay.text(current);
        let (id, len) =
            if new_text.as_bytes() == current_text { (ValueId::NONE, current_text.len()) } else { (new.id, new.len) };
        let is_same = id == current || (id != ValueId::NONE && override_text == Some(new_text));
        return (!is_same).then(|| (id, len as i64 - override_text.map_or(current_text.len(), escaped_len) as i64));
    }
    let insertion_point =
        loc.filter(|_| current_text.is_none()).and_then(|loc| fast_path::insertion_point(base, loc, field, names));
    if let Some(insertion_point) = insertion_point {
        // The element is inserted at a fixed position, independent of overrides of other fields.
        let override_text = document.overlay.text(current);
        let id = if new.text.is_none() { ValueId::NONE } else { new.id };
        let is_same = id == current
            || (override_text.is_none() && new.text.is_none())
            || (override_text.is_some() && override_text == new.text);
        let len =
            |value: Option<usize>| value.map_or(0, |value| splice::inserted_len(insertion_point, field, value) as i64);
        return (!is_same).then(|| (id, len(new.text.map(|_| new.len)) - len(override_text.map(escaped_len))));
    }
    let entry = Entry::of(base, names);
    let new_text = new.text;
    let current_text = entry.value(field, base);
    let id = if new_text == current_text.as_deref() { ValueId::NONE } else { new.id };
    let same = match (id, current) {
        (ValueId::NONE | ValueId::REMOVED, current) => id == current,
        (id, current) => id == current || (current != ValueId::NONE && document.overlay.text(current) == new_text),
    };
    if same {
        return None;
    }
    let mut changes: Changes<'_> = document.overlay.changes(row);
    let untouched = changes.iter().all(Option::is_none);
    let before = if untouched { base.len() } else { splice::spliced_len(&entry, base, names, &changes) };
    changes[field.index()] = match id {
        ValueId::NONE => None,
        ValueId::REMOVED => Some(Change::Remove),
        _ => new_text.map(Change::Set),
    };
    let after = splice::spliced_len(&entry, base, names, &changes);
    Some((id, after as i64 - before as i64))
}
