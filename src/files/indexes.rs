//! Loads an index that is stored in several files (volumes) as one.
//!
//! They are opened together by their paths, or found in a folder by the names that a save gives them. All are in one
//! folder, and no one lists another.

use super::children::SeenFiles;
use super::error::{Error, Reason};
use super::load::{self, File, FileInfo, IndexContents, Loaded, LoadedFile};
use super::load_many::{self, begin};
use super::plan::volumes::siblings;
use super::{read, unlisted};
use crate::document::index::Index;
use crate::progress::Progress;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Ignore, Visit};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// An index with those beside it that go on where it ends, in the order of their numbers; alone what is no index.
pub(super) fn with_further(first: PathBuf, options: &read::Options) -> Vec<PathBuf> {
    let folder = first.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let further = siblings(&first, names.filter_map(|entry| entry.file_name().into_string().ok()));
    // One that cannot be read may be one all the same; whoever opens it is told.
    let is_refused = |path: &Path| matches!(super::unlisted::probe(path), Err(error) if !matches!(error.reason, Reason::Irregular(_)));
    let may_be = |path: &PathBuf| unlisted::is_index(path) || is_refused(path);
    let further: Vec<PathBuf> = further.into_iter().filter(may_be).collect();
    if further.is_empty() || !unlisted::is_index(&first) {
        return vec![first];
    }
    let (mut known, mut unread): (Vec<(PathBuf, Vec<u8>)>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for path in [first.clone()].into_iter().chain(further) {
        match read::read_regular(&path, options, &Progress::default()) {
            Ok(contents) => known.push((path, contents.bytes)),
            Err(_) => unread.push(path),
        }
    }
    if unread.contains(&first) {
        return vec![first];
    }
    let names: Vec<Option<Names>> = known.iter().map(|(_, bytes)| names_of(bytes)).collect();
    let own = names.first().cloned().flatten();
    // One that another lists is a child, and one that speaks otherwise was made by somebody else.
    let listed = names_listed(&known);
    let is_listed = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        listed.get(&*name).is_some_and(|by| by.is_none_or(|by| by != path))
    };
    let goes_on = |((path, _), names): (&(PathBuf, Vec<u8>), &Option<Names>)| {
        let speaks = names.as_ref().zip(own.as_ref()).is_some_and(|(names, own)| names.means_the_same_under(own));
        (speaks && !is_listed(path)).then(|| path.clone())
    };
    [first].into_iter().chain(known.iter().zip(&names).skip(1).filter_map(goes_on)).chain(unread).collect()
}

/// The names of these indexes that stand behind a slash in one of them, each with the index that has it; none where
/// several do. Each index is gone through once, however many they are.
fn names_listed(known: &[(PathBuf, Vec<u8>)]) -> HashMap<Cow<'_, str>, Option<&Path>> {
    let names: HashSet<Cow<'_, str>> =
        known.iter().filter_map(|(path, _)| Some(path.file_name()?.to_string_lossy())).collect();
    let mut listed: HashMap<Cow<'_, str>, Option<&Path>> = HashMap::new();
    for (path, bytes) in known {
        for slash in memchr::memchr_iter(b'/', bytes) {
            let rest = bytes.get(slash + 1..).unwrap_or_default();
            let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || b"<>\"'&?#/".contains(byte));
            let name = String::from_utf8_lossy(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
            if let Some(name) = names.get(&name) {
                let by = listed.entry(name.clone()).or_insert(Some(path));
                if *by != Some(path) {
                    *by = None;
                }
            }
        }
    }
    listed
}

fn names_of(bytes: &[u8]) -> Option<Names> {
    scan::scan(bytes, &mut Ignore, &Progress::default()).names
}

/// Loads several indexes as one, with the files that they list. What cannot be read is said in [`Loaded::unread`].
///
/// # Errors
/// When one of them is no index, lies in another folder, or has a root that gives names other meanings; the first one's
/// when none could be read.
pub(super) fn load_indexes<V: Visit + Send>(
    paths: &[PathBuf],
    options: &read::Options,
    progress: &Progress,
    make: impl Fn(&FileInfo) -> V + Sync,
    deliver: &mut dyn FnMut(LoadedFile<V>),
) -> Result<Loaded, Error> {
    let (job, Loaded { state_slot, recovered, .. }) = begin(paths, options, progress, &make)?;
    let (mut files, mut unread, mut seen): (Vec<File<V>>, _, _) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in paths {
        let name = load::file_name(path);
        let url = job.base.as_ref().map(|base| format!("{base}{name}").into());
        let file = read::read(path, options, progress).and_then(|contents| job.scan(contents, name, url));
        progress.finish_files(1);
        match file {
            Err(error) => unread.push(error),
            Ok(file) if file.facts.kind != FileKind::Index => {
                let index = paths.iter().find(|path| unlisted::is_index(path)).unwrap_or(path);
                return Err(Error::new(index, Reason::InSet("a sitemap index")));
            }
            // The same file under two names would be written twice.
            Ok(file) if file.on_disk.as_ref().and_then(|disk| disk.identity).is_some_and(|id| !seen.insert(id)) => {}
            Ok(file) => files.push(file),
        }
    }
    if files.is_empty() {
        return Err(unread.swap_remove(0));
    }
    load_many::refuse_unread(options, &mut unread)?;
    let read: Vec<PathBuf> = files.iter().filter_map(|file| file.facts.path.clone()).collect();
    if let (Some(first), Some(other)) =
        (read.first(), read.iter().find(|path| path.parent() != read.first().and_then(|first| first.parent())))
    {
        let _ = first;
        return Err(Error::new(other, Reason::InSet("an index in another folder")));
    }
    if let Some(first) = files.first()
        && let Some(other) = files.iter().find(|file| !file.source.names.means_the_same_under(&first.source.names))
    {
        let path = other.facts.path.clone().unwrap_or_default();
        return Err(Error::new(path, Reason::InSet("an index whose root tag declares other namespaces")));
    }
    let (mut indexes, mut on_disks, mut visitors, mut identities) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for file in files {
        identities.push(file.on_disk.as_ref().and_then(|disk| disk.identity));
        let (index, on_disk, visitor) = file.into_index();
        indexes.push(index);
        on_disks.extend(on_disk);
        visitors.push(visitor);
    }
    let index = Index::joined(indexes).unwrap_or_default();
    let first = read.first().map_or(Path::new(""), PathBuf::as_path);
    let mut met = SeenFiles::new(first, identities.first().copied().flatten(), options);
    read.iter().zip(identities).skip(1).for_each(|(path, identity)| met.and_root(path, identity));
    deliver(LoadedFile::Index { index: index.clone(), on_disk: on_disks, visitors });
    let IndexContents { index, stopped, state_slot } = job.files_of(index, met, state_slot, deliver)?;
    let path = read.first().cloned();
    Ok(Loaded { path, paths: read, unread, index: Some(index), stopped, recovered, state_slot })
}
