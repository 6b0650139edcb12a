//! `RowCursor`: looks up the text, names and file of rows that are visited in order.
//!
//! Consecutive rows nearly always have the same source, so it is looked up once for a run of rows. The results equal
//! those of [`Document`].

use super::Document;
use super::overlay::ValueId;
use super::rows::RowId;
use super::sitemap::SitemapId;
use super::source::Source;
use crate::persistent::PAGE;
use crate::xml::names::Names;
use crate::xml::splice::Changes;
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
    /// The number of the last page of rows, and the ids of its overrides.
    page: Option<(usize, [&'d [ValueId]; 4])>,
}

impl<'d> RowCursor<'d> {
    pub(super) const fn new(document: &'d Document) -> Self {
        Self { document, rows: 0..0, source: None, file: SitemapId(0), page: None }
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

    /// The overrides of a row's fields.
    #[inline]
    pub(crate) fn overrides(&mut self, row: RowId) -> Changes<'d> {
        let (number, slot) = (row.index() / PAGE, row.index() % PAGE);
        let pages = match self.page {
            Some((known, pages)) if known == number => pages,
            _ => self.document.overlay.page(number),
        };
        self.page = Some((number, pages));
        self.document.overlay.changes_of(pages.map(|ids| ids.get(slot).copied().unwrap_or_default()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::edit::Edit;
    use crate::document::fixture::document;
    use crate::progress::Progress;
    use crate::protocol::Field;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_cursor_finds_the_overrides_of_rows_in_any_order(
            edited in prop::collection::btree_set(0..600_u32, 0..40),
            visited in prop::collection::vec(0..800_u32, 0..40),
        ) {
            let row = |rows: String, row| rows + &format!("<url><loc>http://a/{row}</loc></url>");
            let rows = (0..600).fold(String::new(), row);
            let text = format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>");
            let (before, rows) = (document(&[&text]), edited.iter().copied().collect());
            let edit = Edit::Set { rows, field: Field::Priority, value: Some("0.8".into()) };
            let after = before.apply(&edit, &Progress::default()).unwrap().document;
            let mut cursor = after.row_cursor();
            for row in visited.into_iter().chain(edited).map(RowId) {
                prop_assert_eq!(cursor.overrides(row), after.overlay.changes(row));
            }
        }
    }
}
