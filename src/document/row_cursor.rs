//! `RowCursor`: looks up the text, names and file of rows that are visited in order.
//!
//! Consecutive rows nearly always have the same source, so it is looked up once for a run of rows. The results equal
//! those of [`Document`].

use super::Document;
use super::rows::RowId;
use super::sitemap::SitemapId;
use super::source::Source;
use crate::xml::names::Names;
use std::ops::Range;

/// A row with its base text and the names of the file of that text.
#[derive(Clone, Copy)]
pub(super) struct RowBase<'d> {
    pub(super) row: RowId,
    pub(super) text: &'d [u8],
    pub(super) names: &'d Names,
}

/// A document with the source of the last row.
pub struct RowCursor<'d> {
    document: &'d Document,
    /// Ids of the rows that were read from `source`.
    rows: Range<u32>,
    source: Option<&'d Source>,
    /// The file that those rows were loaded into.
    file: SitemapId,
}

impl<'d> RowCursor<'d> {
    pub(super) const fn new(document: &'d Document) -> Self {
        Self { document, rows: 0..0, source: None, file: SitemapId(0) }
    }

    /// The base text of a row with its names.
    #[inline]
    pub(super) fn of(&mut self, row: RowId) -> RowBase<'d> {
        self.seek(row);
        let Some(source) = self.source else {
            return RowBase { row, text: self.document.base_text(row), names: self.document.names(row) };
        };
        let text = if self.document.overlay.has_entry(row) {
            self.document.base_text(row)
        } else {
            source.entry_text((row.0 - self.rows.start) as usize)
        };
        RowBase { row, text, names: &source.names }
    }

    /// The source and entry of a row's base text, unless the whole entry was replaced.
    #[inline]
    pub(crate) fn origin(&mut self, row: RowId) -> Option<(&'d Source, usize)> {
        self.seek(row);
        let source = self.source?;
        (!self.document.overlay.has_entry(row)).then_some((source, (row.0 - self.rows.start) as usize))
    }

    /// The text under a row's overrides.
    #[inline]
    pub fn base_text(&mut self, row: RowId) -> &'d [u8] {
        self.of(row).text
    }

    /// The names that a row's text is written in.
    #[inline]
    pub fn names(&mut self, row: RowId) -> &'d Names {
        self.seek(row);
        self.source.map_or_else(|| self.document.names(row), |source| &source.names)
    }

    /// The file that a row is in.
    #[inline]
    pub fn sitemap_of(&mut self, row: RowId) -> SitemapId {
        self.seek(row);
        match self.document.row_files.get(row.index()).copied().unwrap_or_default().checked_sub(1) {
            Some(file) => SitemapId(file),
            None if self.source.is_some() => self.file,
            None => self.document.sitemap_of(row),
        }
    }

    #[inline]
    fn seek(&mut self, row: RowId) {
        if self.rows.contains(&row.0) {
            return;
        }
        let found = self.document.origin(row);
        self.source = found.map(|(source, _)| source);
        self.rows = found.map_or(0..0, |(source, entry)| {
            let first = row.0 - entry as u32;
            first..first + source.len() as u32
        });
        self.file = SitemapId(self.document.bases.partition_point(|first| *first <= row.0).saturating_sub(1) as u32);
    }
}
