//! The journal format of edits: rows as ranges, values as text.

use crate::check::name;
use crate::document::Document;
use crate::document::edit::{Edit, NewEntry, Value};
use crate::document::form::Form;
use crate::document::index::Index;
use crate::document::rename;
use crate::document::rows::{RowId, RowList, RowSet};
use crate::document::sitemap::{Member, SitemapId};
use crate::document::source::Source;
use crate::protocol::Field;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Rows as ranges, both ends included.
pub(super) type Ranges = Vec<(u32, u32)>;

/// The stored form of an edit.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum StoredEdit {
    Set {
        rows: Ranges,
        field: String,
        value: Option<String>,
    },
    /// Runs of adjacent rows with the same value.
    SetEach {
        field: String,
        runs: Vec<(u32, u32, Option<String>)>,
    },
    Raw {
        row: u32,
        text: String,
    },
    Insert {
        sitemap: u32,
        after: Option<u32>,
        entries: Vec<StoredEntry>,
    },
    Delete(Ranges),
    Restore(Ranges),
    /// For each file, runs of ascending ids in their new order.
    Reorder(Vec<(u32, Ranges)>),
    /// The index, or a sitemap.
    Accept(Option<u32>),
    Frame {
        file: Option<u32>,
        text: String,
        /// The length of the text before the entries, in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<usize>,
        /// The line end of a list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line_end: Option<String>,
    },
    /// The text before and after the entries of a further file of the index.
    Volume {
        number: u32,
        head: String,
        tail: String,
        gzip: bool,
    },
    Pack {
        file: Option<u32>,
        gzip: bool,
    },
    Rename {
        file: Option<u32>,
        name: String,
    },
    Apart(u32),
    Several(Vec<StoredEdit>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum StoredEntry {
    Values([Option<String>; 4]),
    Element(String),
}

fn ranges(rows: impl IntoIterator<Item = u32>) -> Ranges {
    let mut ranges: Ranges = Vec::new();
    for row in rows {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(row) => *last = row,
            _ => ranges.push((row, row)),
        }
    }
    ranges
}

fn number(file: Member) -> Option<u32> {
    match file {
        Member::Index => None,
        Member::Sitemap(id) => Some(id.0),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_deref().map(ToOwned::to_owned)
}

fn value(text: Option<String>) -> Value {
    text.map(Into::into)
}

impl From<&Edit> for StoredEdit {
    fn from(edit: &Edit) -> Self {
        match edit {
            Edit::Set { rows, field, value } => {
                Self::Set { rows: ranges(rows), field: field.name().to_owned(), value: text(value) }
            }
            Edit::SetEach { field, values } => {
                let mut runs: Vec<(u32, u32, Option<String>)> = Vec::new();
                for (row, new) in values {
                    match runs.last_mut() {
                        Some((_, last, same))
                            if last.checked_add(1) == Some(row.0) && same.as_deref() == new.as_deref() =>
                        {
                            *last = row.0;
                        }
                        _ => runs.push((row.0, row.0, text(new))),
                    }
                }
                Self::SetEach { field: field.name().to_owned(), runs }
            }
            Edit::Raw { row, text } => Self::Raw { row: row.0, text: text.to_string() },
            Edit::Insert { sitemap, after, entries } => Self::Insert {
                sitemap: sitemap.0,
                after: after.map(|row| row.0),
                entries: entries
                    .iter()
                    .map(|entry| match entry {
                        NewEntry::Values(values) => StoredEntry::Values(values.each_ref().map(text)),
                        NewEntry::Element(text) => StoredEntry::Element(text.to_string()),
                    })
                    .collect(),
            },
            Edit::Delete(rows) => Self::Delete(ranges(rows)),
            Edit::Restore(rows) => Self::Restore(ranges(rows)),
            Edit::Reorder(orders) => {
                Self::Reorder(orders.iter().map(|(id, rows)| (id.0, ranges(rows.iter().map(|row| row.0)))).collect())
            }
            Edit::Accept(file) => Self::Accept(number(*file)),
            Edit::Frame { file, frame } => {
                // The frame of a file as it was read is the whole file.
                let (head, bytes) = match file {
                    Member::Index => (None, frame.bytes().to_vec()),
                    Member::Sitemap(_) => {
                        let head = frame.head(true);
                        (Some(head.len()), [&*head, &frame.tail(true)].concat())
                    }
                };
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let line_end = frame.names.grid.as_ref().map(|grid| grid.line_end.to_owned());
                Self::Frame { file: number(*file), text, head, line_end }
            }
            Edit::Volume { number, frame, gzip } => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let (head, tail) = (text(&frame.head(true)), text(&frame.tail(true)));
                Self::Volume { number: *number, head, tail, gzip: *gzip }
            }
            Edit::Pack { file, gzip } => Self::Pack { file: number(*file), gzip: *gzip },
            Edit::Rename { file, name } => Self::Rename { file: number(*file), name: name.to_string() },
            Edit::SeparateNews(id) => Self::Apart(id.0),
            // Part of a merge, after which the journal applies to the merged files.
            Edit::Adopt(_) => Self::Several(Vec::new()),
            Edit::Several(edits) => Self::Several(edits.iter().map(Self::from).collect()),
        }
    }
}

impl StoredEdit {
    /// The edit; `None` if the document does not have its rows, fields or files. A journal may contain anything, so an
    /// edit must not make the program do more work than the rows of the document allow.
    pub(super) fn edit(self, document: &Document) -> Option<Edit> {
        let limit = document.row_limit();
        let set = |ranges: Ranges| -> Option<RowSet> {
            let mut rows = RowSet::new();
            for (first, last) in ranges {
                if first > last || last >= limit {
                    return None;
                }
                rows.insert_range(first..=last);
            }
            Some(rows)
        };
        let file = |id: u32| document.sitemap(SitemapId(id)).map(|_| SitemapId(id));
        let member = |number: Option<u32>| match number {
            Some(id) => Some(Member::Sitemap(file(id)?)),
            None => document.index().map(|_| Member::Index),
        };
        let row = |row: u32| (row < limit).then_some(RowId(row));
        Some(match self {
            Self::Set { rows, field, value: new } => {
                Edit::Set { rows: set(rows)?, field: Field::from_name(&field)?, value: value(new) }
            }
            Self::SetEach { field, runs } => {
                let mut values = Vec::new();
                for (first, last, new) in runs {
                    if first > last
                        || last >= limit
                        || values.last().is_some_and(|(row, _): &(RowId, Value)| row.0 >= first)
                    {
                        return None;
                    }
                    let new = value(new);
                    values.extend((first..=last).map(|row| (RowId(row), new.clone())));
                }
                Edit::SetEach { field: Field::from_name(&field)?, values }
            }
            Self::Raw { row: at, text } => Edit::Raw { row: row(at)?, text: text.into() },
            Self::Insert { sitemap, after, entries } => {
                let after = match after {
                    Some(at) => Some(row(at)?),
                    None => None,
                };
                let entry = |entry| match entry {
                    StoredEntry::Values(values) => NewEntry::Values(values.map(value)),
                    StoredEntry::Element(text) => NewEntry::Element(text.into()),
                };
                Edit::Insert { sitemap: file(sitemap)?, after, entries: entries.into_iter().map(entry).collect() }
            }
            Self::Delete(rows) => Edit::Delete(set(rows)?),
            Self::Restore(rows) => Edit::Restore(set(rows)?),
            Self::Reorder(orders) => {
                let mut lists = Vec::new();
                for (id, runs) in orders {
                    let id = file(id)?;
                    let listed: RowSet = set(runs.clone())?;
                    let rows = &document.sitemap(id)?.rows;
                    let is_all = listed.len() == rows.len() as u64 && rows.iter().all(|row| listed.contains(row.0));
                    if !is_all {
                        return None;
                    }
                    lists.push((id, RowList::from_ids(runs.into_iter().flat_map(|(first, last)| first..=last))));
                }
                Edit::Reorder(lists)
            }
            Self::Accept(number) => Edit::Accept(member(number)?),
            Self::Volume { number, head, tail, gzip } => {
                document.index()?.file(usize::try_from(number).ok().filter(|number| *number > 0)?)?;
                let frame = Arc::new(Source::framed(head.as_bytes(), tail.as_bytes())?);
                Edit::Volume { number, frame, gzip }
            }
            Self::Frame { file: number, text, head, line_end } => {
                let file = member(number)?;
                if let Member::Sitemap(id) = file
                    && document.sitemap(id)?.form == Form::List
                {
                    let line_end = match line_end.as_deref() {
                        None | Some("\n") => "\n",
                        Some("\r\n") => "\r\n",
                        Some("\r") => "\r",
                        Some(_) => return None,
                    };
                    let tail = text.trim_start_matches('\u{feff}').as_bytes();
                    let head = text.as_bytes().get(..text.len() - tail.len())?;
                    let frame = document.sitemap(id)?.frame.with_list_frame(head, tail, line_end)?;
                    return Some(Edit::Frame { file, frame: Arc::new(frame) });
                }
                let parts = head.and_then(|head| text.as_bytes().split_at_checked(head));
                let frame = match parts.filter(|_| number.is_some()) {
                    Some((head, tail)) => Source::framed(head, tail)?,
                    None => Source::of_text(text.into_bytes())?,
                };
                let frame = Arc::new(frame);
                // The frame of a sitemap has no entries; that of an index has no more entries than the index had.
                let entries = document.index().filter(|_| number.is_none()).map_or(0, Index::max_entries);
                (frame.len() <= entries).then_some(Edit::Frame { file, frame })?
            }
            Self::Pack { file: number, gzip } => Edit::Pack { file: member(number)?, gzip },
            Self::Rename { file: number, name } => {
                let file = member(number)?;
                // The name must be in the same folder, and no other file of the set may have it.
                let is_free = name::name_error(&name).is_none() && !rename::has_file(document, &name, file);
                is_free.then(|| Edit::Rename { file, name: name.into() })?
            }
            Self::Apart(id) => Edit::SeparateNews(file(id)?),
            // Each edit applies to the document after the one before, so the caller converts them one by one.
            Self::Several(_) => return None,
        })
    }

    /// The single edits of nested lists of edits, in order.
    pub(super) fn flat(self) -> Vec<Self> {
        match self {
            Self::Several(edits) => edits.into_iter().flat_map(Self::flat).collect(),
            other => vec![other],
        }
    }
}
