//! Plans the revert of rows and files to their saved state.

use crate::document::edit::{Edit, Value};
use crate::document::index::Volume;
use crate::document::rows::{RowId, RowList, RowSet};
use crate::document::sitemap::{Member, SitemapId};
use crate::document::spans::moved_rows;
use crate::document::{Document, RowState};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::edit::intent::{Intent, Label};
use crate::session::state::Snapshot;
use hashbrown::HashMap;
use std::sync::Arc;

/// The intent of reverting rows: new rows are deleted, deleted ones are restored.
pub(in crate::session) fn intend_rows(snapshot: &Snapshot, rows: &RowSet, progress: &Progress) -> Option<Intent> {
    let (document, saved) = (&snapshot.state.document, &snapshot.saved);
    let (mut deleted, mut back) = (RowSet::new(), RowSet::new());
    let mut values: [Vec<(RowId, Value)>; 4] = Default::default();
    let mut edits = Vec::new();
    let mut touched = RowSet::new();
    for row in rows.iter().map(RowId).filter(|row| row.0 < document.row_limit()) {
        if progress.is_cancelled() {
            return None;
        }
        match document.compare(saved).row_state(row) {
            RowState::Added => drop(deleted.insert(row.0)),
            RowState::Deleted => drop(back.insert(row.0)),
            RowState::Changed => {}
            RowState::Clean => continue,
        }
        touched.insert(row.0);
        if deleted.contains(row.0) {
            continue;
        }
        if document.compare(saved).has_same_base_text(row) {
            for (field, list) in Field::ALL.into_iter().zip(&mut values) {
                if document.compare(saved).field_differs(row, field) {
                    list.push((row, saved.value(row, field).map(|value| (&*value).into())));
                }
            }
        } else {
            let text = String::from_utf8_lossy(&saved.entry_text(row)).into();
            edits.push(Edit::Raw { row, text });
        }
    }
    if !back.is_empty() {
        edits.insert(0, Edit::Restore(back));
    }
    let values = Field::ALL.into_iter().zip(values).filter(|(_, values)| !values.is_empty());
    edits.extend(values.map(|(field, values)| Edit::SetEach { field, values }));
    let orders = restored_orders(snapshot, rows);
    touched |= orders.1;
    if !orders.0.is_empty() {
        edits.push(Edit::Reorder(orders.0));
    }
    if !deleted.is_empty() {
        edits.push(Edit::Delete(deleted));
    }
    let count = touched.len();
    Some(Intent {
        label: Label::of("", count, "row", " reverted to the saved state"),
        edit: (count > 0).then_some(Edit::Several(edits)),
        idle: "no unsaved changes to revert",
        ..Intent::counting(count)
    })
}

/// File orders in which the moved rows among `rows` are at their saved positions, and the set of these rows.
pub(in crate::session) fn restored_orders(snapshot: &Snapshot, rows: &RowSet) -> (Vec<(SitemapId, RowList)>, RowSet) {
    let (document, saved) = (&snapshot.state.document, &snapshot.saved);
    let (mut orders, mut all) = (Vec::new(), RowSet::new());
    for (number, sitemap) in document.sitemaps().iter().enumerate() {
        let id = SitemapId(number as u32);
        let Some(was) = saved.sitemap(id).filter(|was| was.rows != sitemap.rows) else { continue };
        let displaced: RowSet = moved_rows((document, sitemap), (saved, was)).into_iter().collect();
        let moved = &displaced & rows;
        if moved.is_empty() {
            continue;
        }
        // Each moved row is put after the last row before it that is not displaced: after a displaced one it would
        // stay moved, and reverting row after row might never end.
        let present: RowSet = sitemap.rows.iter().filter(|row| document.is_live(*row)).map(|row| row.0).collect();
        let mut after: HashMap<Option<u32>, Vec<u32>> = HashMap::new();
        let mut last = None;
        for row in was.rows.iter().map(|row| row.0).filter(|row| present.contains(*row)) {
            if moved.contains(row) {
                after.entry(last).or_default().push(row);
            } else if !displaced.contains(row) {
                last = Some(row);
            }
        }
        let mut order = after.remove(&None).unwrap_or_default();
        for row in sitemap.rows.iter().map(|row| row.0).filter(|row| !moved.contains(*row)) {
            order.push(row);
            order.extend(after.remove(&Some(row)).unwrap_or_default());
        }
        all |= moved;
        orders.push((id, RowList::from_ids(order)));
    }
    (orders, all)
}

/// The intent of reverting the frame and the name of a file.
pub(in crate::session) fn intend_file(snapshot: &Snapshot, file: Member) -> Intent {
    let frame = match file {
        Member::Index => snapshot.saved.index().map(|index| &index.source),
        Member::Sitemap(id) => snapshot.saved.sitemap(id).map(|sitemap| &sitemap.frame),
    };
    let differs = match (file, frame) {
        (Member::Index, Some(frame)) => {
            snapshot.state.document.index().is_some_and(|index| !Arc::ptr_eq(&index.source, frame))
        }
        (Member::Sitemap(id), Some(frame)) => {
            snapshot.state.document.sitemap(id).is_some_and(|sitemap| !Arc::ptr_eq(&sitemap.frame, frame))
        }
        (_, None) => false,
    };
    let edit = frame.filter(|_| differs).map(|frame| Edit::Frame { file, frame: Arc::clone(frame) });
    let edit = match (file, snapshot.saved.index(), snapshot.state.document.index()) {
        (Member::Index, Some(saved), Some(index)) => {
            let volume = |(number, volume): (usize, &Volume)| {
                let (number, frame) = (number as u32, Arc::clone(&volume.frame));
                Edit::Volume { number, frame, gzip: volume.gzip }
            };
            let edits: Vec<Edit> = edit.into_iter().chain(saved.other_volumes(index).map(volume)).collect();
            (!edits.is_empty()).then_some(Edit::Several(edits))
        }
        _ => edit,
    };
    let path = |document: &Document| match file {
        Member::Index => document.index()?.path.clone(),
        Member::Sitemap(id) => document.sitemap(id)?.path.clone(),
    };
    let (now, then) = (path(&snapshot.state.document), path(&snapshot.saved));
    let is_same_set = snapshot.state.document.index().is_some() == snapshot.saved.index().is_some();
    let old = then.filter(|then| is_same_set && now.as_ref().is_some_and(|now| now != then));
    let old = old.and_then(|path| Some(path.file_name()?.to_string_lossy().into()));
    let edit = match (old.map(|name| Edit::Rename { file, name }), edit) {
        (Some(rename), Some(edit)) => Some(Edit::Several(vec![rename, edit])),
        (rename, edit) => rename.or(edit),
    };
    Intent {
        label: format!("{} reverted to the saved state, except its rows", snapshot.file_name(file)).into(),
        edit,
        idle: "use undo (u) to withdraw the agreement to repairs",
        ..Intent::counting(0)
    }
}
