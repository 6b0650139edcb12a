//! Test fixture: documents from the texts of their files.

use super::Document;
use super::sitemap::{Sitemap, SitemapId};
use super::source::Source;
use crate::progress::Progress;
use crate::xml::record::{Record, Records};
use crate::xml::scan;
use std::convert::Infallible;

/// The source of a file with the records of its entries.
pub(super) fn source(text: &str) -> (Source, Vec<Record>) {
    let mut records = Records::default();
    let scan = scan::scan(text.as_bytes(), &mut records, &Progress::default());
    (Source::new(text.as_bytes().to_vec(), scan).unwrap(), records.0)
}

/// A document of files, named by their numbers.
pub(super) fn document(files: &[impl AsRef<str>]) -> Document {
    let mut document = Document::default();
    for (number, text) in files.iter().enumerate() {
        let (source, records) = source(text.as_ref());
        let sitemap = Sitemap { name: format!("{number}.xml").into(), ..Sitemap::default() };
        document.append(source, records, sitemap);
    }
    document
}

/// The bytes of a file as it is written; asserts that the document has their size.
pub(super) fn written(document: &Document, id: SitemapId) -> Vec<u8> {
    let mut out = Vec::new();
    let result: Result<(), Infallible> = document.write_sitemap(id, &mut |bytes| {
        out.extend_from_slice(bytes);
        Ok(())
    });
    result.unwrap();
    assert_eq!(document.sitemap(id).unwrap().bytes(), out.len() as u64, "the size is exact");
    out
}
