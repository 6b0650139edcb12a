//! Finds and reads the files that an index lists, in parallel, delivered in index order.
//!
//! A child that is missing or cannot be read gets a [`ChildState`]; [`super::read::Options::require_all`] says whether
//! the set is refused for it. Only a few files are read ahead of the one that is delivered next. Nested indexes are
//! followed in their place, a few levels deep and never twice; their children too are looked for only inside the
//! folder.

use super::disk;
use super::error::Error;
use super::load_context::LoadContext;
use super::loaded::{File, LoadedFile};
use super::locate::{self, ChildLocation};
use super::ordered_pool::{MaxBytes, in_order};
use super::read::{self, Options};
use super::stream::is_stream;
use super::unlisted;
use crate::document::index::{Child, ChildState, NO_FOLDER, Nested, ON_ANOTHER_HOST};
use crate::document::sitemap::SitemapId;
use crate::progress::Progress;
use crate::protocol::location;
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A child that is on disk.
pub(super) struct FoundChild {
    /// Which entry of the index.
    child: usize,
    pub(super) path: PathBuf,
    /// Relative to the index's folder.
    name: Arc<str>,
    url: Arc<str>,
    /// Its size on disk, in bytes.
    len: u64,
}

/// Levels of nested indexes that are followed.
const DEEPEST: usize = 8;

/// The result of reading a child.
enum ChildOutcome<V> {
    Scanned(Box<File<V>>),
    Index(Box<File<V>>),
    Unread(ChildState),
}

/// The identity of a file, equal for two paths to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    Inode(u64, u64),
    Path(PathBuf),
}

impl Identity {
    fn of(path: &Path, inode: Option<(u64, u64)>) -> Self {
        match inode {
            Some((device, inode)) => Self::Inode(device, inode),
            None => Self::Path(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())),
        }
    }
}

/// The files that a load has seen, so that none is read twice.
#[derive(Debug, Clone)]
pub(super) struct SeenFiles {
    /// The folder of the opened index; `None` if its children are not looked for.
    folder: Option<PathBuf>,
    /// The same without links.
    set_folder: PathBuf,
    /// Files that entries refer to, each with the hash of the entry's URL.
    seen: HashMap<Identity, u64>,
    /// The chain of indexes that are being read, the opened one first.
    indexes: Vec<Identity>,
    /// Further indexes that were opened as one with the first.
    roots: HashSet<Identity>,
    /// Number of delivered sitemaps.
    sitemaps: u32,
    /// The paths of all files.
    pub(super) paths: Vec<PathBuf>,
    stopped: bool,
}

/// The folder in which the children of an index are looked for; standard input has none.
pub(super) fn folder_of(index: &Path, options: &Options) -> Option<PathBuf> {
    let has_folder = !options.is_copy && !is_stream(index);
    has_folder.then(|| index.parent().unwrap_or(Path::new("")).to_path_buf())
}

impl SeenFiles {
    /// Starts with the opened index.
    pub(super) fn new(index: &Path, inode: Option<(u64, u64)>, options: &Options) -> Self {
        let folder = folder_of(index, options);
        let here = folder.as_deref().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let set_folder = here.canonicalize().unwrap_or_else(|_| here.to_path_buf());
        let indexes = vec![Identity::of(index, inode)];
        let paths = vec![index.to_path_buf()];
        Self {
            folder,
            set_folder,
            seen: HashMap::new(),
            indexes,
            roots: HashSet::new(),
            sitemaps: 0,
            paths,
            stopped: false,
        }
    }

    /// Adds an index that is opened as one with the first.
    pub(super) fn add_root(&mut self, index: &Path, inode: Option<(u64, u64)>) {
        self.roots.insert(Identity::of(index, inode));
        self.paths.push(index.to_path_buf());
    }
}

impl<V: Visit + Send> LoadContext<'_, V> {
    /// Looks for each child below the opened index's folder, then below the folder of the nested index that lists it
    /// (`inner`). Returns the children to read; the others get their state at once.
    pub(super) fn resolve(&self, met: &mut SeenFiles, inner: Option<&Path>, children: &mut [Child]) -> Vec<FoundChild> {
        let mut found = Vec::new();
        let Some(top) = met.folder.clone() else {
            for child in children {
                child.state = ChildState::Elsewhere(NO_FOLDER);
            }
            return found;
        };
        for (number, child) in children.iter_mut().enumerate() {
            let candidates = match locate::locate_child(&child.loc, self.options.location_base(self.base.as_deref())) {
                ChildLocation::Inside(candidates) => candidates,
                ChildLocation::Elsewhere => {
                    child.state = ChildState::Elsewhere(ON_ANOTHER_HOST);
                    continue;
                }
                ChildLocation::Outside => {
                    child.state = ChildState::Outside;
                    continue;
                }
            };
            let folders = || [Some(&*top), inner].into_iter().flatten();
            let renamed = locate::renamed_path(&child.loc, self.options.location_base(self.base.as_deref()));
            let mut candidates = candidates.into_iter().enumerate().flat_map(|(shortened, name)| {
                let stored = renamed.as_ref().map(|path| path.iter().skip(shortened).collect::<PathBuf>());
                stored.filter(|stored| *stored != name).into_iter().chain([name]).map(move |name| (shortened, name))
            });
            // A path that cannot be inspected ends the search: a file at a shorter path is not the one of the URL.
            let located = candidates.find_map(|(shortened, name)| {
                let inspect = |folder: &Path| {
                    let path = folder.join(&name);
                    let metadata = read::regular_at(&path).transpose()?;
                    Some(metadata.map(|metadata| (shortened, path, metadata)))
                };
                folders().find_map(inspect)
            });
            let (shortened, path, metadata) = match located {
                Some(Ok(located)) => located,
                Some(Err(error)) => {
                    child.state = state_of(&error);
                    continue;
                }
                None => {
                    child.state = ChildState::Missing;
                    continue;
                }
            };
            // A link in the folder may lead out of it too.
            if !path.canonicalize().is_ok_and(|path| path.starts_with(&met.set_folder)) {
                child.state = ChildState::Outside;
                continue;
            }
            let identity = Identity::of(&path, disk::identity(&metadata));
            let key = location::key_hash(&child.loc);
            child.state = match met.seen.get(&identity) {
                _ if met.indexes.last() == Some(&identity) || met.roots.contains(&identity) => ChildState::Itself,
                _ if met.indexes.contains(&identity) => ChildState::Cycle,
                // A file found by a suffix of the path may match several URLs; it belongs to the first.
                Some(other) if *other != key && shortened > 0 => ChildState::Missing,
                Some(_) => ChildState::Repeated,
                None => {
                    met.seen.insert(identity, key);
                    met.paths.push(path.clone());
                    self.progress.expect(1, metadata.len());
                    let name = path.strip_prefix(&top).unwrap_or(&path);
                    let name = name.to_string_lossy().replace('\\', "/").into();
                    let (url, len) = (Arc::clone(&child.loc), metadata.len());
                    found.push(FoundChild { child: number, path, name, url, len });
                    ChildState::NotLoaded
                }
            };
        }
        found
    }

    /// Reads the children that were found; returns whether it was stopped before the last.
    pub(super) fn read_children(
        &self,
        met: &mut SeenFiles,
        found: &[FoundChild],
        children: &mut [Child],
        deliver: &mut dyn FnMut(LoadedFile<V>),
    ) -> bool {
        let mut set_state = |found: &FoundChild, outcome: ChildOutcome<V>| {
            let state = match outcome {
                ChildOutcome::Unread(state) => state,
                ChildOutcome::Index(file) => self.follow(met, found, *file, deliver),
                ChildOutcome::Scanned(file) => {
                    deliver(file.into_sitemap());
                    met.sitemaps += 1;
                    ChildState::Loaded(SitemapId(met.sitemaps - 1))
                }
            };
            if let Some(child) = children.get_mut(found.child) {
                child.state = state;
            }
        };
        let take = |found: &FoundChild, outcome| {
            // In order, so that the load is complete only with the last file.
            self.progress.finish_files(1);
            set_state(found, outcome);
            true
        };
        let limit = MaxBytes { max: self.options.buffers.read_ahead(), size: |found: &FoundChild| found.len };
        in_order(found, limit, |found| self.read_child(found), take);
        met.stopped |=
            self.progress.is_cancelled() && children.iter().any(|child| child.state == ChildState::NotLoaded);
        met.stopped
    }

    /// Reads the children of a nested index.
    fn follow(
        &self,
        met: &mut SeenFiles,
        found: &FoundChild,
        file: File<V>,
        deliver: &mut dyn FnMut(LoadedFile<V>),
    ) -> ChildState {
        let (index, on_disk, _) = file.into_index();
        if met.indexes.len() >= DEEPEST {
            return ChildState::Denied(format!("nested indexes are followed {DEEPEST} levels deep").into());
        }
        let mut children = Arc::unwrap_or_clone(index.children);
        met.indexes.push(Identity::of(&found.path, on_disk.and_then(|on_disk| on_disk.identity)));
        let inner = self.resolve(met, found.path.parent(), &mut children);
        self.read_children(met, &inner, &mut children, deliver);
        met.indexes.pop();
        ChildState::Nested(Arc::new(Nested { name: Arc::clone(&found.name), source: index.source, children }))
    }

    /// The children of nested indexes that cannot be read, as far as that is known before the first file is delivered.
    /// `met` is a copy, since the same files are met again when they are read.
    pub(super) fn unread_in_nested(&self, met: &mut SeenFiles, indexes: &[&FoundChild]) -> Vec<String> {
        let silent = Progress::default();
        let job = LoadContext { options: self.options, progress: &silent, make: self.make, base: self.base.clone() };
        let mut unread = Vec::new();
        for found in indexes {
            if self.progress.is_cancelled() {
                break;
            }
            let ChildOutcome::Index(file) = job.read_child(found) else { continue };
            let (mut index, on_disk, _) = file.into_index();
            if met.indexes.len() >= DEEPEST {
                // Reading it reports that.
                continue;
            }
            met.indexes.push(Identity::of(&found.path, on_disk.and_then(|on_disk| on_disk.identity)));
            let inner = job.resolve(met, found.path.parent(), index.children_mut());
            let deeper = probe(&inner, index.children_mut());
            unread.extend(known_unread(&index.children));
            unread.extend(self.unread_in_nested(met, &deeper));
            met.indexes.pop();
        }
        unread
    }

    /// Reads and scans one child.
    fn read_child(&self, found: &FoundChild) -> ChildOutcome<V> {
        if self.progress.is_cancelled() {
            return ChildOutcome::Unread(ChildState::NotLoaded);
        }
        let read = || read::read_regular(&found.path, self.options, self.progress);
        match self.read_and_scan(&found.path, &found.name, Some(&found.url), read) {
            Ok(file) if file.source.cut => ChildOutcome::Unread(ChildState::NotLoaded),
            Ok(file) if file.facts.kind == FileKind::Index => ChildOutcome::Index(Box::new(file)),
            Ok(file) => ChildOutcome::Scanned(Box::new(file)),
            Err(error) => ChildOutcome::Unread(state_of(&error)),
        }
    }
}

/// Checks whether the children can be read at all, before the first is delivered; returns those that are indexes.
pub(super) fn probe<'f>(found: &'f [FoundChild], children: &mut [Child]) -> Vec<&'f FoundChild> {
    let mut indexes = Vec::new();
    for found in found {
        match (unlisted::probe(&found.path), children.get_mut(found.child)) {
            (Ok(Some(FileKind::Index)), _) => indexes.push(found),
            (Err(error), Some(child)) => child.state = state_of(&error),
            _ => {}
        }
    }
    indexes
}

/// The children that are known to be unreadable, each with the reason.
pub(super) fn known_unread(children: &[Child]) -> impl Iterator<Item = String> {
    // An entry without a URL names no file.
    let known = children.iter().filter(|child| child.state != ChildState::NotLoaded && !child.loc.is_empty());
    known.filter_map(|child| Some(format!("{}: {}", child.loc, child.state.why_unread()?)))
}

/// The state of a child that cannot be read.
fn state_of(error: &Error) -> ChildState {
    let why = error.to_string().into();
    if error.is_of_content() { ChildState::Unreadable(why) } else { ChildState::Denied(why) }
}
