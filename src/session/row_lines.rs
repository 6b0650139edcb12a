//! How findings name other rows: by number on the screen, by line in a report.
//!
//! Lines are requested in any order and by several threads, and counting from the start of the file each time would take
//! quadratic time. So a file is counted once, as far as needed, with a mark every few kilobytes from which counting
//! continues.

use crate::document::Document;
use crate::document::lines::{LineColumn, Lines, Mark};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::document::source::Source;
use crate::protocol::Field;
use crate::words::grouped;
use crate::xml::entry::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of bytes between two marks.
const MARK_SPACING: usize = 1 << 13;

/// How other rows are named.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowNames<'l> {
    /// By their number in the set.
    Numbers,
    /// By their line in the file as stored.
    Lines(&'l RowLines),
}

/// The lines of rows.
#[derive(Debug, Default)]
pub(super) struct RowLines {
    /// The lines of rows whose text is not in memory, as pairs of row and line in the order of the rows.
    known: Arc<Vec<(u32, u32)>>,
    /// The marks of each file, up to the last line that was requested.
    marks: Vec<Mutex<Vec<Mark>>>,
}

impl RowLines {
    /// The lines of the rows of a document; `known` are those of rows whose text is not in memory.
    pub(super) fn of(document: &Document, known: &Arc<Vec<(u32, u32)>>) -> Self {
        let marks = document.sitemaps().iter().map(|_| Mutex::default()).collect();
        Self { known: Arc::clone(known), marks }
    }

    /// The file that contains the text of a row, and the line of its URL there; `None` for a row that is in no file
    /// yet.
    fn line(&self, document: &Document, row: RowId) -> Option<(SitemapId, u32)> {
        let file = document.file_of_origin(row)?;
        if let Ok(at) = self.known.binary_search_by_key(&row.0, |(row, _)| *row) {
            let (_, line) = self.known.get(at)?;
            return Some((file, *line));
        }
        let (source, entry) = document.origin(row)?;
        Some((file, self.position(file, source, offset_of_loc(source, entry))?))
    }

    /// The first line of the entry of a row.
    pub(super) fn of_entry(&self, document: &Document, row: RowId) -> Option<u32> {
        let (source, entry) = document.origin(row)?;
        self.position(document.file_of_origin(row)?, source, source.offset(entry)?)
    }

    fn position(&self, file: SitemapId, source: &Source, offset: usize) -> Option<u32> {
        Some(self.counter_before(file, source, offset)?.position(offset).line)
    }

    /// Line and column of a byte offset of a file, whose `lines` are counted from the last offset if that is near.
    pub(super) fn advance<'s>(
        &self,
        (file, source): (SitemapId, &'s Source),
        lines: &mut Lines<'s>,
        offset: usize,
    ) -> LineColumn {
        let is_near = (lines.at()..=lines.at() + MARK_SPACING).contains(&offset);
        if let Some(nearer) = (!is_near).then(|| self.counter_before(file, source, offset)).flatten() {
            *lines = nearer;
        }
        lines.position(offset)
    }

    /// A line counter that has little left to count up to a byte offset of a file.
    fn counter_before<'s>(&self, file: SitemapId, source: &'s Source, offset: usize) -> Option<Lines<'s>> {
        let mut marks = self.marks.get(file.index())?.lock().unwrap_or_else(PoisonError::into_inner);
        source.add_marks(&mut marks, MARK_SPACING, offset);
        let mark = marks.partition_point(|mark| mark.at <= offset).checked_sub(1).and_then(|at| marks.get(at));
        Some(mark.map_or_else(|| source.lines(), |mark| source.lines_from(mark)))
    }
}

/// The offset of the URL of an entry in its file.
pub(super) fn offset_of_loc(source: &Source, entry: usize) -> usize {
    let text = source.entry_text(entry);
    source.start(entry).unwrap_or_default() + field_offset(&Entry::of(text, &source.names), Some(Field::Loc))
}

impl RowNames<'_> {
    /// The name of a row with its file: `row 12 (a.xml)`, `line 12 (a.xml)`. `number` is its number in the set.
    pub(super) fn in_file(self, document: &Document, row: RowId, number: u32) -> String {
        let (file, name) = self.file_and_name(document, row, number);
        format!("{name} ({})", document.sitemap(file).map_or("", |sitemap| &sitemap.name))
    }

    /// The name of a row beside another row, without the file if both are in one: `line 12`, `b.xml, line 12`.
    pub(super) fn beside(self, document: &Document, (row, other): (RowId, RowId), number: u32) -> String {
        let (file, name) = self.file_and_name(document, row, number);
        let is_here = matches!(self, Self::Numbers) || file == document.sitemap_of(other);
        match document.sitemap(file).filter(|_| !is_here) {
            Some(sitemap) => format!("{}, {name}", sitemap.name),
            None => name,
        }
    }

    fn file_and_name(self, document: &Document, row: RowId, number: u32) -> (SitemapId, String) {
        let line = match self {
            Self::Numbers => None,
            Self::Lines(lines) => lines.line(document, row),
        };
        match line {
            Some((file, line)) => (file, format!("line {}", grouped(line.into()))),
            None => (document.sitemap_of(row), format!("row {}", grouped(number.into()))),
        }
    }
}

/// The offset of the value of a field in its entry; that of the entry's start tag if there is no such field.
pub(super) fn field_offset(entry: &Entry, field: Option<Field>) -> usize {
    field.and_then(|field| entry.field(field)).map_or(entry.open, |span| span.value_start) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn positions_in_any_order_equal_a_count_from_the_start(
            lens in prop::collection::vec(0..3_000_usize, 1..40),
            offsets in prop::collection::vec(0..80_000_usize, 1..30),
        ) {
            let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">".to_owned();
            for len in lens {
                writeln!(text, "<url><loc>é{}</loc></url>", "a".repeat(len)).unwrap();
            }
            let source = Source::of_text((text + "</urlset>").into_bytes()).unwrap();
            let lines = RowLines { known: Arc::default(), marks: vec![Mutex::default()] };
            let mut counter = source.lines();
            for offset in offsets {
                let position = lines.advance((SitemapId(0), &source), &mut counter, offset);
                prop_assert_eq!(position, source.lines().position(offset), "{}", offset);
            }
        }
    }
}
