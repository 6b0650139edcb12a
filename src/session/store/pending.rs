//! The unsaved changes: which rows and files differ from the saved ones, how, and how to revert each.
//!
//! A list of changes contains only ids; descriptions are created for the displayed rows. Pure; may run on a worker.

use crate::document::quirk::{self, Quirk};
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::{Member, Sitemap, SitemapId};
use crate::document::spans::moved_rows;
use crate::document::{Document, RowState};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::edit::Change;
use crate::session::state::Snapshot;
use rayon::prelude::*;
use std::sync::Arc;

/// One unsaved change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A file whose text around the entries has changed, or whose repairs were accepted.
    File(Member),
    /// A row that was changed, added, deleted or moved.
    Row(RowId),
    /// A row that was saved before its creation was undone: only the saved files have it.
    Undone(RowId),
}

/// The unsaved changes, in the order of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending {
    /// The changes that match the filter.
    pub entries: Vec<Entry>,
    /// The numbers of all changes.
    pub counts: Counts,
    /// Rows with another position among their neighbours than in the saved file.
    pub moved: RowSet,
}

/// The number of changes of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// New rows.
    pub added: u64,
    /// Rows with changed text, moved or not.
    pub changed: u64,
    /// Deleted rows.
    pub deleted: u64,
    /// Rows that were moved and not changed otherwise.
    pub moved: u64,
    /// Files.
    pub files: u64,
}

impl Counts {
    /// All changes.
    pub const fn sum(self) -> u64 {
        self.added + self.changed + self.deleted + self.moved + self.files
    }
}

/// A difference between a row and its saved state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// `priority`, `entry`.
    pub name: &'static str,
    /// The saved value; `None` if there is none.
    pub before: Option<String>,
    /// The value that will be saved; `None` if there is none.
    pub after: Option<String>,
}

impl Snapshot {
    /// The changes whose URL or changed value, old or new, contains `filter`, ignoring case; all for an empty filter.
    /// `None` if cancelled.
    pub fn pending(&self, filter: &str, progress: &Progress) -> Option<Pending> {
        let (document, saved) = (&self.state.document, &self.saved);
        let mut pending = Pending::default();
        for file in changed_files(document, saved) {
            pending.counts.files += 1;
            if filter.is_empty() || self.file_name(file).to_lowercase().contains(&filter.to_lowercase()) {
                pending.entries.push(Entry::File(file));
            }
        }
        let different: Vec<u32> = document.compare(saved).maybe_different().iter().collect();
        let states: Vec<(u32, RowState)> = different
            .par_chunks(4_096)
            .map(|rows| {
                let state = |row: &u32| (*row, document.compare(saved).row_state(RowId(*row)));
                let states = rows.iter().map(state).filter(|(_, state)| *state != RowState::Clean);
                (!progress.is_cancelled()).then(|| states.collect::<Vec<_>>())
            })
            .collect::<Option<Vec<_>>>()?
            .concat();
        let mut rows = RowSet::new();
        for (row, state) in states {
            rows.insert(row);
            *(match state {
                RowState::Added => &mut pending.counts.added,
                RowState::Deleted => &mut pending.counts.deleted,
                RowState::Changed | RowState::Clean => &mut pending.counts.changed,
            }) += 1;
        }
        for (number, sitemap) in document.sitemaps().iter().enumerate() {
            let Some(was) = saved.sitemaps().get(number) else { continue };
            if !Arc::ptr_eq(sitemap, was) && sitemap.rows != was.rows {
                pending.moved.extend(moved_rows((document, sitemap), (saved, was)));
            }
            if progress.is_cancelled() {
                return None;
            }
        }
        pending.counts.moved = (&pending.moved - &rows).len();
        rows |= &pending.moved;
        // Files without changes are skipped.
        let files = document.sitemaps().iter().enumerate();
        let files = files
            .filter(|(number, sitemap)| saved.sitemaps().get(*number).is_none_or(|was| !Arc::ptr_eq(sitemap, was)));
        let ordered: Vec<u32> = files
            .flat_map(|(_, sitemap)| sitemap.rows.iter().map(|row| row.0))
            .filter(|row| rows.contains(*row))
            .collect();
        let needle = filter.to_lowercase();
        let found: Vec<Vec<Entry>> = ordered
            .par_chunks(1_024)
            .map(|rows| {
                let rows = rows.iter().copied().map(RowId);
                let rows = rows.filter(|row| needle.is_empty() || change_contains(self, *row, &needle));
                (!progress.is_cancelled()).then(|| rows.map(Entry::Row).collect())
            })
            .collect::<Option<_>>()?;
        pending.entries.extend(found.into_iter().flatten());
        for row in (document.row_limit()..saved.row_limit()).map(RowId).filter(|row| saved.is_live(*row)) {
            pending.counts.deleted += 1;
            if needle.is_empty() || saved.loc(row).to_lowercase().contains(&needle) {
                pending.entries.push(Entry::Undone(row));
            }
        }
        Some(pending)
    }
}

fn change_contains(snapshot: &Snapshot, row: RowId, needle: &str) -> bool {
    let contains = |text: &str| text.to_lowercase().contains(needle);
    contains(&snapshot.state.document.loc(row))
        || differences(snapshot, row)
            .iter()
            .any(|part| [&part.before, &part.after].into_iter().flatten().any(|text| contains(text)))
}

/// The differences between a row and its saved state. A row that was added or deleted has all its values on one side.
pub(crate) fn differences(snapshot: &Snapshot, row: RowId) -> Vec<Difference> {
    let (document, saved) = (&snapshot.state.document, &snapshot.saved);
    let was_there = row.0 < saved.row_limit() && !saved.record(row).is_deleted();
    let value = |document: &Document, field, there: bool| {
        if there { document.value(row, field).map(std::borrow::Cow::into_owned) } else { None }
    };
    let mut parts: Vec<Difference> = Field::ALL
        .into_iter()
        .map(|field| Difference {
            name: field.name(),
            before: value(saved, field, was_there),
            after: value(document, field, document.is_live(row)),
        })
        .filter(|part| part.before != part.after)
        .collect();
    if parts.is_empty() && was_there && document.is_live(row) {
        let (before, after) = (saved.entry_text(row), document.entry_text(row));
        if before != after {
            let (before, after) = differing_parts(&before, &after);
            parts.push(Difference { name: "entry", before: Some(before), after: Some(after) });
        }
    }
    parts
}

impl Entry {
    /// The edit that reverts the change. `None` for a row whose creation was undone: redo restores it.
    pub fn revert(self) -> Option<Change> {
        match self {
            Self::File(file) => Some(Change::RevertFile(file)),
            Self::Row(row) => Some(Change::Revert(RowSet::from_iter([row.0]))),
            Self::Undone(_) => None,
        }
    }
}

/// Files that differ in something other than rows.
fn changed_files(document: &Document, saved: &Document) -> Vec<Member> {
    let mut files = Vec::new();
    if let (Some(index), Some(was)) = (document.index(), saved.index())
        && (index.accepted != was.accepted
            || index.path != was.path
            || index.source.bytes() != was.source.bytes()
            || index.other_volumes(was).next().is_some())
    {
        files.push(Member::Index);
    }
    let pairs = document.sitemaps().iter().zip(saved.sitemaps()).enumerate();
    // If a save has split a single file into a set, or an undo has reverted that, names change without a rename.
    let is_same_set = document.index().is_some() == saved.index().is_some();
    let differs = |(ours, was): (&Arc<Sitemap>, &Arc<Sitemap>)| {
        let is_named = is_same_set && ours.path.is_some() && was.path.is_some() && ours.path != was.path;
        !Arc::ptr_eq(ours, was)
            && ((ours.accepted, ours.separate_news) != (was.accepted, was.separate_news)
                || is_named
                || !Arc::ptr_eq(&ours.frame, &was.frame))
    };
    files.extend(pairs.filter(|(_, pair)| differs(*pair)).map(|(number, _)| Member::Sitemap(SitemapId(number as u32))));
    files
}

/// Short descriptions of the differences of a file other than in rows.
pub(crate) fn file_differences(snapshot: &Snapshot, file: Member) -> Vec<String> {
    let (document, saved) = (&snapshot.state.document, &snapshot.saved);
    let mut descriptions = Vec::new();
    let mut add_accepted = |is: bool, was: bool, quirks: Vec<Quirk>| {
        if is && !was {
            descriptions.extend(quirk::changes(&quirks));
        }
    };
    let mut others = Vec::new();
    match file {
        Member::Index => {
            let (Some(is), Some(was)) = (document.index(), saved.index()) else { return Vec::new() };
            add_accepted(is.accepted, was.accepted, was.all_quirks().cloned().collect());
            if is.source.bytes() != was.source.bytes() || is.other_volumes(was).next().is_some() {
                others.push("its content".to_owned());
            }
        }
        Member::Sitemap(id) => {
            let (Some(is), Some(was)) = (document.sitemap(id), saved.sitemap(id)) else { return Vec::new() };
            add_accepted(is.accepted, was.accepted, was.quirks.to_vec());
            if is.separate_news && !was.separate_news {
                others.push("its news get files of their own".to_owned());
            }
            if is.path.is_some() && was.path.is_some() && is.path != was.path {
                others.push(format!("was {}", was.name));
            }
            if !Arc::ptr_eq(&is.frame, &was.frame) {
                others.push("text around its entries".to_owned());
            }
        }
    }
    descriptions.extend(others);
    descriptions
}

/// The differing parts of two texts, from the tag before the difference to the tag after it.
fn differing_parts(before: &[u8], after: &[u8]) -> (String, String) {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let start = before.get(..same).and_then(|same| same.iter().rposition(|byte| *byte == b'<')).unwrap_or(same);
    let (before, after) = (before.get(start..).unwrap_or_default(), after.get(start..).unwrap_or_default());
    let longest = before.len().min(after.len());
    let same = before.iter().rev().zip(after.iter().rev()).take(longest).take_while(|(a, b)| a == b).count();
    let tail = before.get(before.len() - same..).unwrap_or_default();
    // The end tag of the differing part belongs to it.
    let tail = same - tail.iter().position(|byte| *byte == b'>').map_or(same, |at| at + 1).min(same);
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes.get(..bytes.len() - tail).unwrap_or_default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    (text(before), text(after))
}

#[cfg(test)]
mod tests;
