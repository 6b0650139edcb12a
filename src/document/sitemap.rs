//! The files of a document: sitemaps with their rows, and the index that names them.

use super::form::Form;
use super::quirk::Quirk;
use super::rows::RowList;
use super::source::Source;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::names::FileKind;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Identity of a file within a document: its place in the list.
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

/// One urlset file: where it is written, in which frame, with which rows.
#[derive(Debug, Clone)]
pub struct Sitemap {
    /// Where it is written; `None` for an unsaved document.
    pub path: Option<PathBuf>,
    /// Its name on screen and in queries: the path relative to the set's folder.
    pub name: Arc<str>,
    /// Its public URL, as far as an index or a base URL tells.
    pub url: Option<Arc<str>>,
    /// Whether it is written gzipped.
    pub gzip: bool,
    /// Head, tail and names come from here.
    pub frame: Arc<Source>,
    /// Its rows in file order, deleted ones included until the next save.
    pub rows: RowList,
    /// Rows that are not deleted.
    pub live: u32,
    /// Sum of the entry texts of the live rows, in bytes as they will be written.
    pub entry_bytes: u64,
    /// The encoding that it is stored in; in memory it is UTF-8 always.
    pub encoding: &'static str,
    /// What was unusual about it as stored and is not so in memory, in the order of entries.
    pub quirks: Arc<[Quirk]>,
    /// In which form it is stored.
    pub form: Form,
    /// Whether somebody agreed that its repairs are written, although no row may differ.
    pub accepted: bool,
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
        whole - u64::from(self.ends_open() && whole > 0)
    }

    /// Whether its last line is written without a line break, as it was read.
    pub fn ends_open(&self) -> bool {
        self.frame.open_end && (self.live > 0 || self.form != Form::List)
    }
}

/// What became of a child that an index names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildState {
    /// Loaded as this sitemap.
    Loaded(SitemapId),
    /// No such file beside the index.
    Missing,
    /// Its path would lead out of the index's folder; it was not looked for.
    Outside,
    /// It is an index itself, which is not allowed (Search Console: "Nested sitemap indexes").
    Nested,
    /// It is an index itself, and lists the index that lists it.
    Cycle,
    /// It is the index itself.
    Itself,
    /// It was named before by an earlier entry.
    Repeated,
    /// It is there but could not be read or is damaged; the message says why.
    Unreadable(Arc<str>),
    /// Loading was stopped before it.
    NotLoaded,
}

/// One `<sitemap>` entry of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its `loc`, decoded and trimmed; empty if it has none.
    pub loc: Arc<str>,
    /// What became of it.
    pub state: ChildState,
}

/// A sitemapindex file.
#[derive(Debug, Clone)]
pub struct Index {
    /// Where it is; `None` for an unsaved document.
    pub path: Option<PathBuf>,
    /// Its name on screen.
    pub name: Arc<str>,
    /// Whether it is written gzipped.
    pub gzip: bool,
    /// Its bytes; entry *i* is `children[i]`.
    pub source: Arc<Source>,
    /// Its entries, in file order.
    pub children: Vec<Child>,
    /// The encoding that it is stored in; in memory it is UTF-8 always.
    pub encoding: &'static str,
    /// What was unusual about it as stored and is not so in memory, in the order of entries.
    pub quirks: Arc<[Quirk]>,
    /// Names of sitemaps that lay beside it when it was read and that it does not list.
    pub unlisted: Arc<[Arc<str>]>,
    /// Whether somebody agreed that its repairs are written, although nothing else may differ.
    pub accepted: bool,
    /// Entries whose text was changed since the index was read or written, by number.
    pub edited: Arc<BTreeSet<usize>>,
}

impl Default for Index {
    /// A new index without a name and without children.
    fn default() -> Self {
        Self {
            path: None,
            name: "sitemap_index.xml".into(),
            gzip: false,
            source: Arc::new(Source::blank(FileKind::Index)),
            children: Vec::new(),
            encoding: UTF_8,
            quirks: Arc::default(),
            unlisted: Arc::default(),
            accepted: false,
            edited: Arc::default(),
        }
    }
}

impl Index {
    /// The entry that names a sitemap.
    pub fn child_of(&self, sitemap: SitemapId) -> Option<usize> {
        self.children.iter().position(|child| child.state == ChildState::Loaded(sitemap))
    }

    /// The same with other bytes: entries changed, or some of them gone. Each remaining entry keeps what became of
    /// its child. Where entries are gone, the others are known by their locs, in order.
    #[must_use]
    pub fn edited(&self, source: Arc<Source>) -> Self {
        let loc = |entry: usize| {
            let text = source.entry_text(entry);
            let value = Entry::of(text, &source.names).value(Field::Loc, text);
            value.map(|loc| loc.trim().to_owned()).unwrap_or_default()
        };
        let (mut children, mut edited) = (Vec::with_capacity(source.len()), BTreeSet::new());
        let mut old = 0;
        for entry in 0..source.len() {
            let loc = loc(entry);
            if source.len() != self.children.len() {
                while self.children.get(old).is_some_and(|child| *child.loc != *loc) {
                    old += 1;
                }
            }
            let Some(child) = self.children.get(old) else { break };
            if self.edited.contains(&old) || self.source.entry_text(old) != source.entry_text(entry) {
                edited.insert(entry);
            }
            children.push(Child { loc: loc.into(), state: child.state.clone() });
            old += 1;
        }
        Self { source, children, edited: Arc::new(edited), ..self.clone() }
    }
}
