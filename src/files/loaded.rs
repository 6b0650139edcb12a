//! The results of a load: files with their sources, sitemaps or indexes, and the outcome for the whole set.

use super::disk::OnDisk;
use super::error::Error;
use super::journal::{LockedByOther, StateSlot};
use super::record::Recovered;
use super::repaired_windows::RepairedWindows;
use crate::document::form::Form;
use crate::document::index::{Child, ChildState, Index};
use crate::document::quirk::Quirk;
use crate::document::sitemap::Sitemap;
use crate::document::source::Source;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::grid::Grid;
use crate::xml::names::FileKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Creates the visitor of a file, on the thread that scans it. It is a trait object so that the loader is compiled once
/// for each kind of visitor, not once for each caller.
pub type MakeVisitor<'m, V> = dyn Fn(&FileInfo) -> V + Sync + 'm;

/// Properties of a file that are known before its entries are scanned.
#[derive(Debug, Clone)]
pub struct FileInfo {
    /// Urlset or index.
    pub kind: FileKind,
    /// Its path; `None` for the sample.
    pub path: Option<PathBuf>,
    /// Its path relative to the set's folder.
    pub name: Arc<str>,
    /// Its public URL, if known from an index or a base URL.
    pub url: Option<Arc<str>>,
    /// Whether it is gzipped.
    pub gzip: bool,
    /// Its size, uncompressed.
    pub bytes: u64,
    /// The encoding that it is stored in.
    pub encoding: &'static str,
    /// The layout of a table.
    pub grid: Option<Arc<Grid>>,
}

/// A loaded file.
#[derive(Debug)]
pub enum LoadedFile<V> {
    /// The index, which is delivered first. Its children are still `ChildState::NotLoaded`; `Loaded` has their final
    /// state.
    Index {
        /// The file, or several.
        index: Index,
        /// The state of each file on disk; empty for the sample.
        on_disk: Vec<OnDisk>,
        /// The visitors of the entries, one for each file.
        visitors: Vec<V>,
    },
    /// A urlset, delivered in index order: the first becomes `SitemapId(0)` of a new document, and so on.
    Sitemap {
        /// Its bytes.
        source: Source,
        /// The file in the document, which sets its rows and frame when it is appended.
        sitemap: Sitemap,
        /// Its state on disk; `None` for the sample.
        on_disk: Option<OnDisk>,
        /// The visitor of its entries.
        visitor: V,
        /// All entries, if the source has only the first ones.
        dropped: Option<Box<DroppedEntries>>,
    },
}

/// The entries of a file of which only the first are in memory.
#[derive(Debug)]
pub struct DroppedEntries {
    /// The offsets of all entries and of the tail.
    pub starts: Vec<u32>,
    /// The windows in which the file was repaired, if it is damaged: the offsets are those after the repair.
    pub repaired: Option<RepairedWindows>,
}

/// The result of a load.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The file that was opened (in a folder: the one found there; of several the first); `None` for the sample.
    pub path: Option<PathBuf>,
    /// All files, if several were opened as one set.
    pub paths: Vec<PathBuf>,
    /// Errors of the files that could not be read.
    pub unread: Vec<Error>,
    /// The index with the final state of each child.
    pub index: Option<Index>,
    /// Whether loading was cancelled.
    pub stopped: bool,
    /// The result of completing an interrupted save.
    pub recovered: Recovered,
    /// The state slot for the journal, if one was asked for.
    pub state_slot: Option<Result<StateSlot, LockedByOther>>,
}

/// A scanned file.
pub(super) struct File<V> {
    pub(super) facts: FileInfo,
    pub(super) source: Source,
    pub(super) on_disk: Option<OnDisk>,
    pub(super) visitor: V,
    pub(super) quirks: Arc<Vec<Quirk>>,
    pub(super) form: Form,
    pub(super) dropped: Option<Box<DroppedEntries>>,
}

impl<V> File<V> {
    /// The index, with the loc of each child.
    pub(super) fn into_index(self) -> (Index, Option<OnDisk>, V) {
        let source = self.source;
        let children = Arc::new(children_of(&source));
        let FileInfo { path, name, gzip, encoding, .. } = self.facts;
        let (source, quirks) = (Arc::new(source), self.quirks);
        (Index { path, name, gzip, source, children, encoding, quirks, ..Index::default() }, self.on_disk, self.visitor)
    }

    pub(super) fn into_sitemap(self) -> LoadedFile<V> {
        let FileInfo { path, name, url, gzip, encoding, .. } = self.facts;
        let sitemap =
            Sitemap { path, name, url, gzip, encoding, quirks: self.quirks, form: self.form, ..Sitemap::default() };
        let File { source, on_disk, visitor, dropped, .. } = self;
        LoadedFile::Sitemap { source, sitemap, on_disk, visitor, dropped }
    }
}

/// The sitemaps that an index lists, none of them loaded yet.
pub(super) fn children_of(index: &Source) -> Vec<Child> {
    let loc = |entry| {
        let text = index.entry_text(entry);
        Entry::of(text, &index.names).value(Field::Loc, text).map_or_else(Arc::default, Into::into)
    };
    (0..index.len()).map(|entry| Child { loc: loc(entry), state: ChildState::NotLoaded }).collect()
}

/// A file name as text.
pub(super) fn file_name(path: &Path) -> Arc<str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into()
}
