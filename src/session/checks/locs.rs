//! Implements the row look-up of the set rules for a document.

use crate::check::extension;
use crate::check::set::{Link, Locs};
use crate::document::Document;
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::protocol::Field;
use crate::xml::record::Record;
use std::borrow::Cow;

/// A document in which set rules look up rows; a pending split decides in which file a row is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentLocs<'d>(pub &'d Document);

/// The last file of a document, which has just been appended: the document need not have all of its records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddedFile<'d> {
    pub document: &'d Document,
    /// Those of all its rows.
    pub records: &'d [Record],
}

impl AddedFile<'_> {
    /// The number of the file.
    pub(super) fn number(&self) -> u32 {
        (self.document.sitemaps().len() as u32).saturating_sub(1)
    }
}

impl Locs for AddedFile<'_> {
    fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
        self.document.value(RowId(row), Field::Loc)
    }

    fn file(&self, row: u32) -> u32 {
        DocumentLocs(self.document).file(row)
    }

    fn each_date(&self, file: u32, visit: &mut dyn FnMut(i64)) {
        if file != self.number() {
            return DocumentLocs(self.document).each_date(file, visit);
        }
        self.records.iter().filter_map(Record::lastmod).for_each(|lastmod| visit(lastmod.seconds));
    }

    fn links(&self, row: u32) -> Vec<Link> {
        DocumentLocs(self.document).links(row)
    }
}

impl Locs for DocumentLocs<'_> {
    fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
        self.0.value(RowId(row), Field::Loc)
    }

    fn file(&self, row: u32) -> u32 {
        self.0.with_pending_split().sitemap_of(RowId(row)).0
    }

    fn each_date(&self, file: u32, visit: &mut dyn FnMut(i64)) {
        let Some(sitemap) = self.0.with_pending_split().sitemap(SitemapId(file)) else { return };
        for row in sitemap.rows.iter().filter(|row| self.0.is_live(*row)) {
            if let Some(lastmod) = self.0.record(row).lastmod() {
                visit(lastmod.seconds);
            }
        }
    }

    fn links(&self, row: u32) -> Vec<Link> {
        let (entry, text) = self.0.entry(RowId(row));
        let mut links = Vec::new();
        extension::links(&entry, &text, self.0.names(RowId(row)), &mut links);
        links
    }
}
