//! The index of a set: its entries, the state of each sitemap that they list, and its files.

mod volumes;

pub(crate) use volumes::{IndexFile, Volume, assign_slots};

use super::quirk::Quirk;
use super::sitemap::{SitemapId, UTF_8, file_name};
use super::source::Source;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::names::FileKind;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// State of a child that an index lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildState {
    /// Loaded as this sitemap.
    Loaded(SitemapId),
    /// No such file beside the index.
    Missing,
    /// Its path leads out of the folder of the index, so it was not searched for.
    Outside,
    /// It is an index itself, which Search Console rejects ("Nested sitemap indexes"); its children were followed.
    Nested(Arc<Nested>),
    /// It is an index that contains the one that lists it.
    Cycle,
    /// It is the index itself.
    Itself,
    /// An earlier entry lists it already.
    Repeated,
    /// It was read and is not a sitemap, for this reason.
    Unreadable(Arc<str>),
    /// It could not be read: no permission, an I/O error, not a regular file, or over the size limit. Contains
    /// the message.
    Denied(Arc<str>),
    /// It was not searched for on this disk, for this reason.
    Elsewhere(&'static str),
    /// It was an unlisted file beside the index and was added by an edit: it is read when the set is opened again.
    Listed,
    /// Loading was cancelled before it was read.
    NotLoaded,
}

/// Why a child on another host was not searched for.
pub(crate) const ON_ANOTHER_HOST: &str = "it is on another host, so it was not looked for on this disk";

/// Why the children of an index from standard input were not searched for.
pub(crate) const NO_FOLDER: &str = "the index came from standard input, which has no folder to look for it in";

impl ChildState {
    /// Why the rows of the child are not in the set; `None` if they are, directly or through another entry.
    pub fn why_unread(&self) -> Option<&str> {
        match self {
            Self::Loaded(_) | Self::Nested(_) | Self::Cycle | Self::Itself | Self::Repeated => None,
            Self::Missing => Some("not found beside the index"),
            Self::Outside => Some("its path leads out of the folder of the index, so it was not read"),
            Self::Elsewhere(why) => Some(why),
            Self::Unreadable(why) | Self::Denied(why) => Some(why),
            Self::Listed | Self::NotLoaded => Some("it was not read"),
        }
    }
}

/// An index inside an index.
#[derive(Debug, PartialEq, Eq)]
pub struct Nested {
    /// Its name on screen.
    pub name: Arc<str>,
    /// Its bytes; entry *i* is `children[i]`.
    pub source: Arc<Source>,
    /// Its entries, in file order.
    pub children: Vec<Child>,
}

impl Nested {
    /// Whether it lists itself or an index that contains it, at any depth.
    pub fn loops(&self) -> bool {
        self.children.iter().any(|child| match &child.state {
            ChildState::Cycle | ChildState::Itself => true,
            ChildState::Nested(nested) => nested.loops(),
            _ => false,
        })
    }
}

/// The children that are sitemaps, at any depth, in order.
pub(crate) fn leaf_children<'c>(children: &'c [Child]) -> Vec<&'c Child> {
    let leaf = |child: &'c Child| match &child.state {
        ChildState::Nested(nested) => leaf_children(&nested.children),
        _ => vec![child],
    };
    children.iter().flat_map(leaf).collect()
}

/// One `<sitemap>` entry of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its `loc`, decoded and trimmed; empty if absent.
    pub loc: Arc<str>,
    /// What was found at that URL.
    pub state: ChildState,
}

/// A sitemap index: one file, or several if it has more entries than one file may list.
#[derive(Debug, Clone)]
pub struct Index {
    /// Path of the first file; `None` for an unsaved document.
    pub path: Option<PathBuf>,
    /// Its name on screen.
    pub name: Arc<str>,
    /// Whether it is written gzipped.
    pub gzip: bool,
    /// Its bytes; entry *i* is `children[i]`. With several volumes: the frame of the first, and the entries of all.
    pub source: Arc<Source>,
    /// Its entries, in file order. Shared, since trials of fixes copy the index, which may have an entry every ten
    /// bytes.
    pub children: Arc<Vec<Child>>,
    /// Its volumes after the first.
    pub more: Arc<[Volume]>,
    /// The encoding that it is stored in; in memory it is always UTF-8.
    pub encoding: &'static str,
    /// Its quirks, in the order of entries.
    pub quirks: Arc<Vec<Quirk>>,
    /// Names of sitemaps that were in its folder when it was read and that it does not list.
    pub unlisted: Arc<[Arc<str>]>,
    /// Its entries as they were before the first edit of them; empty before that.
    pub original_children: Arc<Vec<Child>>,
    /// Whether the user agreed to write its repairs, even if nothing else differs.
    pub accepted: bool,
    /// Entries whose text was changed since the index was read or written, by number.
    pub edited: Arc<BTreeSet<usize>>,
    /// Look-up tables, built on first use.
    pub lookup: IndexLookup,
}

/// Look-up tables of an index, built on first use: the entry that lists a sitemap, and the volume at a path. Cloning
/// an index drops them, because the clone may be changed.
#[derive(Debug, Default)]
pub struct IndexLookup {
    entries: OnceLock<HashMap<SitemapId, Option<usize>>>,
    volumes: OnceLock<HashMap<PathBuf, usize>>,
}

impl Clone for IndexLookup {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Default for Index {
    /// A new index without a name and without children.
    fn default() -> Self {
        Self {
            path: None,
            name: "sitemap_index.xml".into(),
            gzip: false,
            source: Arc::new(Source::blank(FileKind::Index)),
            children: Arc::default(),
            more: Arc::default(),
            encoding: UTF_8,
            quirks: Arc::default(),
            unlisted: Arc::default(),
            original_children: Arc::default(),
            accepted: false,
            edited: Arc::default(),
            lookup: IndexLookup::default(),
        }
    }
}

impl Index {
    /// Its entries, mutable.
    pub fn children_mut(&mut self) -> &mut Vec<Child> {
        Arc::make_mut(&mut self.children)
    }

    /// The entry that lists a sitemap.
    pub fn child_of(&self, sitemap: SitemapId) -> Option<usize> {
        self.entries_by_sitemap().get(&sitemap).copied().flatten()
    }

    /// Whether an entry lists a sitemap, directly or through a nested index.
    pub fn lists(&self, sitemap: SitemapId) -> bool {
        self.entries_by_sitemap().contains_key(&sitemap)
    }

    /// The listed sitemaps, each with its entry; `None` if only a nested index lists it.
    fn entries_by_sitemap(&self) -> &HashMap<SitemapId, Option<usize>> {
        self.lookup.entries.get_or_init(|| {
            let mut entries = HashMap::new();
            for (number, child) in self.children.iter().enumerate() {
                match &child.state {
                    ChildState::Loaded(id) => {
                        let entry = entries.entry(*id).or_insert(Some(number));
                        *entry = entry.or(Some(number));
                    }
                    ChildState::Nested(nested) => {
                        for child in leaf_children(&nested.children) {
                            if let ChildState::Loaded(id) = child.state {
                                entries.entry(id).or_insert(None);
                            }
                        }
                    }
                    _ => {}
                }
            }
            entries
        })
    }

    /// The number of the volume at a path.
    pub fn volume_at(&self, path: &Path) -> Option<usize> {
        let volumes = self.lookup.volumes.get_or_init(|| {
            let mut volumes = HashMap::new();
            for (number, file) in self.files().enumerate() {
                if let Some(path) = file.path {
                    volumes.entry(path.to_path_buf()).or_insert(number);
                }
            }
            volumes
        });
        volumes.get(path).copied()
    }

    /// The children, at any depth, whose rows are not in the set; each URL once, in order.
    pub fn unread(&self) -> Vec<&Child> {
        let mut seen = HashSet::new();
        let mut unread = leaf_children(&self.children);
        unread.retain(|child| child.state.why_unread().is_some() && seen.insert(&*child.loc));
        unread
    }

    /// Whether an entry is an index itself.
    pub fn has_nested(&self) -> bool {
        self.children.iter().any(|child| matches!(child.state, ChildState::Nested(_)))
    }

    /// States of sitemaps that it does not list now, by loc: those of nested indexes, and those that edits removed.
    fn unlisted_states<'i>(&'i self) -> HashMap<&'i str, &'i ChildState> {
        let nested = |child: &'i Child| match &child.state {
            ChildState::Nested(nested) => leaf_children(&nested.children),
            _ => Vec::new(),
        };
        let inside = self.original_children.iter().chain(self.children.iter()).flat_map(nested);
        let mut known: HashMap<&str, &ChildState> = HashMap::new();
        for child in inside.chain(self.original_children.iter()) {
            // The first loaded state takes precedence.
            let is_new = !known.get(&*child.loc).is_some_and(|known| matches!(known, ChildState::Loaded(_)));
            if is_new {
                known.insert(&child.loc, &child.state);
            }
        }
        known
    }

    /// Upper bound of its entries after an edit: its own, those of nested indexes, and unlisted files.
    pub fn max_entries(&self) -> usize {
        self.children.len() + self.unlisted_states().len() + self.unlisted.len()
    }

    /// The index with new bytes, in which entries may have been changed, removed or added. Each remaining entry keeps
    /// the state of its child; if entries were added or removed, old and new ones are matched by loc, in order.
    #[must_use]
    pub fn edited(&self, source: Arc<Source>) -> Self {
        let loc = |entry: usize| -> Arc<str> {
            let text = source.entry_text(entry);
            let value = Entry::of(text, &source.names).value(Field::Loc, text);
            value.map(|loc| loc.trim().into()).unwrap_or_default()
        };
        let locs: Vec<Arc<str>> = (0..source.len()).map(loc).collect();
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (position, child) in self.children.iter().enumerate().rev() {
            positions.entry(&child.loc).or_default().push(position);
        }
        let known_states = self.unlisted_states();
        let unlisted: HashSet<&str> = self.unlisted.iter().map(|name| &**name).collect();
        let is_added = |loc: &Arc<str>| {
            !positions.contains_key(&**loc)
                && (known_states.contains_key(&**loc) || unlisted.contains(&*file_name(loc)))
        };
        // If none was added or removed, entries are matched by position and a loc may have changed.
        let is_same = source.len() == self.children.len() && !locs.iter().any(is_added);
        let (mut children, mut edited) = (Vec::with_capacity(source.len()), BTreeSet::new());
        let mut old_entries = Vec::with_capacity(source.len());
        for (entry, loc) in locs.iter().enumerate() {
            let old = if is_same { Some(entry) } else { positions.get_mut(&**loc).and_then(Vec::pop) };
            old_entries.push(old);
            let is_kept =
                |old: &usize| !self.edited.contains(old) && self.source.entry_text(*old) == source.entry_text(entry);
            if !old.as_ref().is_some_and(is_kept) {
                edited.insert(entry);
            }
            let state = match old.and_then(|old| self.children.get(old)) {
                Some(child) => child.state.clone(),
                None => known_states.get(&**loc).map_or(ChildState::Listed, |state| (*state).clone()),
            };
            children.push(Child { loc: Arc::clone(loc), state });
        }
        let is_listed = |child: &&Child| child.state == ChildState::Listed;
        let listed: HashSet<&str> = children.iter().filter(is_listed).map(|child| &*child.loc).collect();
        let names: HashSet<String> = listed.iter().map(|loc| file_name(loc)).collect();
        let is_unlisted = |name: &&Arc<str>| !names.contains(&***name);
        let removed = self.children.iter().filter(is_listed).filter(|removed| !listed.contains(&*removed.loc));
        let removed_names = removed.map(|child| Arc::from(file_name(&child.loc)));
        let mut unlisted: Vec<Arc<str>> =
            self.unlisted.iter().filter(is_unlisted).cloned().chain(removed_names).collect();
        unlisted.sort_unstable();
        let original_children =
            Arc::clone(if self.original_children.is_empty() { &self.children } else { &self.original_children });
        let children = Arc::new(children);
        let more = self.volume_starts(&old_entries);
        Self {
            source,
            children,
            more,
            edited: Arc::new(edited),
            unlisted: unlisted.into(),
            original_children,
            ..self.clone()
        }
    }
}
