//! The sitemaps of a document: the files that hold its rows.

use super::form::Form;
use super::quirk::Quirk;
use super::rows::RowList;
use super::source::Source;
use crate::persistent::Column;
use crate::xml::names::FileKind;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Id of a file within a document: its index in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SitemapId(pub u32);

impl SitemapId {
    /// As an index into the list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One file of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Member {
    /// The index.
    Index,
    /// A urlset.
    Sitemap(SitemapId),
}

/// One urlset file: its path, frame, form and rows.
#[derive(Debug, Clone)]
pub struct Sitemap {
    /// Its path; `None` for an unsaved document.
    pub path: Option<PathBuf>,
    /// Its name as shown and in queries: the path relative to the set's folder.
    pub name: Arc<str>,
    /// Its public URL, if known from an index or a base URL.
    pub url: Option<Arc<str>>,
    /// Whether it is written gzipped.
    pub gzip: bool,
    /// The source of its head, tail and names.
    pub frame: Arc<Source>,
    /// Its rows in file order, deleted ones included until the next save.
    pub rows: RowList,
    /// Rows that are not deleted.
    pub live: u32,
    /// Sum of the entry texts of the live rows, in bytes as they will be written.
    pub entry_bytes: u64,
    /// The encoding that it is stored in; in memory it is always UTF-8.
    pub encoding: &'static str,
    /// Its quirks, in the order of entries.
    pub quirks: Arc<Vec<Quirk>>,
    /// The form that it is stored in.
    pub form: Form,
    /// Whether the user agreed to write its repairs, even if no row differs.
    pub accepted: bool,
    /// Whether a save puts its news entries into files of their own.
    pub separate_news: bool,
}

/// Path, name and URL of a file; see [`Sitemap`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// The path on disk.
    pub path: Option<PathBuf>,
    /// Relative to the set's folder.
    pub name: Arc<str>,
    /// The public URL.
    pub url: Option<Arc<str>>,
    /// Whether it is gzipped.
    pub gzip: bool,
}

impl Default for Sitemap {
    /// A new file without a name and without rows.
    fn default() -> Self {
        Self {
            path: None,
            name: "sitemap.xml".into(),
            url: None,
            gzip: false,
            frame: Arc::new(Source::blank(FileKind::Urlset)),
            rows: RowList::default(),
            live: 0,
            entry_bytes: 0,
            encoding: UTF_8,
            quirks: Arc::default(),
            form: Form::Xml,
            accepted: false,
            separate_news: false,
        }
    }
}

/// The encoding of every file that is written (sitemaps.org protocol, XML Sitemap format).
pub const UTF_8: &str = "UTF-8";

impl Sitemap {
    /// Size of the finished file, uncompressed, exact.
    pub fn bytes(&self) -> u64 {
        let entries = self.live > 0;
        let whole = (self.frame.head(entries).len() + self.frame.tail(entries).len()) as u64 + self.entry_bytes;
        whole.saturating_sub(u64::from(self.open_end()))
    }

    /// Length of the last line break, if the file was stored without one.
    pub fn open_end(&self) -> u8 {
        if self.live > 0 || self.form != Form::List { self.frame.open_end } else { 0 }
    }
}

/// Files by path; the first one if several have the same path.
pub fn by_path(files: &Column<Arc<Sitemap>>) -> HashMap<&Path, SitemapId> {
    let mut ids = HashMap::with_capacity(files.len());
    for (number, file) in (0..).zip(files) {
        if let Some(path) = file.path.as_deref() {
            ids.entry(path).or_insert(SitemapId(number));
        }
    }
    ids
}

/// The name of the file that a loc ends with, percent-decoded.
pub fn file_name(loc: &str) -> String {
    let path = loc.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default().as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(name.len()), 0);
    while let Some(byte) = name.get(at) {
        let digits =
            name.get(at + 1..at + 3).filter(|digits| *byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let decoded = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(decoded.unwrap_or(*byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}
