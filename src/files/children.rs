//! The children of an index: found on disk, read on all cores, handed over in index order.
//!
//! Nothing here fails: what is not there or cannot be read becomes the child's [`ChildState`]. At most a few
//! files are read ahead of the one that is handed over next.

use super::disk;
use super::load::{Facts, File, Job, Part};
use super::locate::{self, Place};
use super::read;
use crate::document::sitemap::{Child, ChildState, SitemapId};
use crate::protocol::Field;
use crate::protocol::location;
use crate::xml::entry::Entry;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{Visit, scan};
use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

/// A child that is on disk.
pub(super) struct Found {
    /// Which entry of the index.
    child: usize,
    /// Where it is.
    pub(super) path: PathBuf,
    /// Relative to the index's folder.
    name: Arc<str>,
    url: Arc<str>,
}

/// What reading a child came to.
enum Outcome<V> {
    Scanned(Box<File<V>>),
    Not(ChildState),
}

/// What makes two paths the same file.
#[derive(PartialEq, Eq, Hash)]
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

/// The locs of an index.
#[derive(Default)]
struct Listed(Vec<String>);

impl Visit for Listed {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        self.0.extend(entry.value(Field::Loc, text).map(std::borrow::Cow::into_owned));
    }
}

impl<V: Visit + Send, M: Fn(&Facts) -> V + Sync> Job<'_, M> {
    /// Looks for each child in `folder`; those that are not to be read get their state at once.
    pub(super) fn resolve(
        &self,
        (index, inode): (&Path, Option<(u64, u64)>),
        folder: &Path,
        children: &mut [Child],
    ) -> Vec<Found> {
        let own = Identity::of(index, inode);
        let mut seen: HashMap<Identity, u64> = HashMap::new();
        let mut found = Vec::new();
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let home = here.canonicalize().unwrap_or_else(|_| here.to_path_buf());
        for (number, child) in children.iter_mut().enumerate() {
            let candidates = match locate::place(&child.loc, self.base.as_deref()) {
                Place::Inside(candidates) => candidates,
                Place::Elsewhere => Vec::new(),
                Place::Outside => {
                    child.state = ChildState::Outside;
                    continue;
                }
            };
            let there = candidates.into_iter().enumerate().find_map(|(shortened, name)| {
                let path = folder.join(&name);
                let metadata = std::fs::metadata(&path).ok().filter(Metadata::is_file)?;
                Some((shortened, name, path, metadata))
            });
            let Some((shortened, name, path, metadata)) = there else {
                child.state = ChildState::Missing;
                continue;
            };
            // A link in the folder is a path out of it as well.
            if !path.canonicalize().is_ok_and(|path| path.starts_with(&home)) {
                child.state = ChildState::Outside;
                continue;
            }
            let identity = Identity::of(&path, disk::identity(&metadata));
            let key = location::key_hash(&child.loc);
            child.state = match seen.get(&identity) {
                _ if identity == own => ChildState::Itself,
                // A file found by the end of a path may stand for one of several URLs; the first has it.
                Some(other) if *other != key && shortened > 0 => ChildState::Missing,
                Some(_) => ChildState::Repeated,
                None => {
                    seen.insert(identity, key);
                    self.progress.expect(1, metadata.len());
                    let name = name.to_string_lossy().replace('\\', "/").into();
                    found.push(Found { child: number, path, name, url: Arc::clone(&child.loc) });
                    ChildState::NotLoaded
                }
            };
        }
        found
    }

    /// Tells indexes inside the index that list it again from others.
    pub(super) fn find_cycles(
        &self,
        (index, inode): (&Path, Option<(u64, u64)>),
        folder: &Path,
        found: &[Found],
        children: &mut [Child],
    ) {
        let own = Identity::of(index, inode);
        for found in found {
            let Some(child) = children.get_mut(found.child).filter(|child| child.state == ChildState::Nested) else {
                continue;
            };
            let Ok(contents) = read::read(&found.path, self.options, self.progress) else { continue };
            let mut listed = Listed::default();
            scan(&contents.bytes, &mut listed, self.progress);
            let inner = found.path.parent().unwrap_or(folder);
            let is_own = |loc: &String| {
                let Place::Inside(candidates) = locate::place(loc, self.base.as_deref()) else { return false };
                candidates.iter().flat_map(|name| [folder.join(name), inner.join(name)]).any(|path| {
                    std::fs::metadata(&path).is_ok_and(|there| Identity::of(&path, disk::identity(&there)) == own)
                })
            };
            if listed.0.iter().any(is_own) {
                child.state = ChildState::Cycle;
            }
        }
    }

    /// Reads the children that were found; returns whether it was stopped before the last.
    pub(super) fn children(&self, found: &[Found], children: &mut [Child], deliver: &mut dyn FnMut(Part<V>)) -> bool {
        let mut sitemaps = 0;
        let mut settle = |found: &Found, outcome: Outcome<V>| {
            let state = match outcome {
                Outcome::Not(state) => state,
                Outcome::Scanned(file) => {
                    deliver(file.into_sitemap());
                    sitemaps += 1;
                    ChildState::Loaded(SitemapId(sitemaps - 1))
                }
            };
            if let Some(child) = children.get_mut(found.child) {
                child.state = state;
            }
        };
        let Some((first, rest)) = found.split_first() else { return false };
        settle(first, self.child(first));
        // On a thread of the pool itself, waiting for the pool could wait for ever.
        if rest.len() < 2 || rayon::current_thread_index().is_some() {
            for found in rest {
                settle(found, self.child(found));
            }
        } else {
            self.in_parallel(rest, &mut settle);
        }
        self.progress.is_cancelled() && children.iter().any(|child| child.state == ChildState::NotLoaded)
    }

    /// Reads on the pool, a few files ahead of the one that is settled next.
    fn in_parallel(&self, found: &[Found], settle: &mut dyn FnMut(&Found, Outcome<V>)) {
        let ahead = 2 * rayon::current_num_threads();
        rayon::in_place_scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let start = |number: usize| {
                let Some(found) = found.get(number) else { return };
                let sender = sender.clone();
                scope.spawn(move |_| {
                    // A panic travels to the waiting thread, which would else wait for this answer for ever.
                    let outcome = catch_unwind(AssertUnwindSafe(|| self.child(found)));
                    let _ = sender.send((number, outcome));
                });
            };
            (0..ahead).for_each(start);
            let mut early = BTreeMap::new();
            for (next, found) in found.iter().enumerate() {
                let outcome = loop {
                    if let Some(outcome) = early.remove(&next) {
                        break outcome;
                    }
                    let Ok((number, outcome)) = receiver.recv() else { return };
                    early.insert(number, outcome);
                };
                settle(found, outcome.unwrap_or_else(|panic| resume_unwind(panic)));
                start(next + ahead);
            }
        });
    }

    /// Reads and scans one child.
    fn child(&self, found: &Found) -> Outcome<V> {
        if self.progress.is_cancelled() {
            return Outcome::Not(ChildState::NotLoaded);
        }
        let file = read::read(&found.path, self.options, self.progress).and_then(|contents| {
            let nested = super::detect::detect(&contents.bytes).is_ok_and(|kind| kind == FileKind::Index);
            if nested {
                Ok(None)
            } else {
                self.scan(contents, Arc::clone(&found.name), Some(Arc::clone(&found.url))).map(Some)
            }
        });
        self.progress.finish_files(1);
        match file {
            Ok(Some(file)) if file.source.cut => Outcome::Not(ChildState::NotLoaded),
            Ok(Some(file)) => Outcome::Scanned(Box::new(file)),
            Ok(None) => Outcome::Not(ChildState::Nested),
            Err(error) => Outcome::Not(ChildState::Unreadable(error.to_string().into())),
        }
    }
}
