//! Loads an index that is stored in several files (volumes) as one.
//!
//! They are opened together by their paths, or found in a folder by the names that a save gives them. All are in one
//! folder, and none lists another.

use super::children::SeenFiles;
use super::error::{Error, Reason};
use super::index_contents::IndexContents;
use super::load_context::{begin, refuse_unread};
use super::loaded::{self, File, Loaded, LoadedFile, MakeVisitor};
use super::{read, unlisted};
use crate::document::index::Index;
use crate::progress::Progress;
use crate::xml::names::FileKind;
use crate::xml::scan::Visit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loads several indexes as one, with the files that they list. Unreadable files are reported in [`Loaded::unread`].
///
/// # Errors
/// A file is not an index, is in another folder, or declares other namespaces; the first error if none can be read.
pub(super) fn load_indexes<V: Visit + Send>(
    paths: &[PathBuf],
    options: &read::Options,
    progress: &Progress,
    make: &MakeVisitor<'_, V>,
    deliver: &mut dyn FnMut(LoadedFile<V>),
) -> Result<Loaded, Error> {
    let (job, Loaded { state_slot, recovered, .. }) = begin(paths, options, progress, make)?;
    let (mut files, mut unread, mut seen): (Vec<File<V>>, _, _) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in paths {
        let name = loaded::file_name(path);
        let url: Option<Arc<str>> = job.base.as_ref().map(|base| format!("{base}{name}").into());
        job.hold_whole(path);
        let contents = read::read(path, options, progress);
        let file = contents.and_then(|contents| job.scan(contents, &name, url.as_ref(), None));
        progress.finish_files(1);
        match file {
            Err(error) => unread.push(error),
            Ok(file) if file.facts.kind != FileKind::Index => {
                let index = paths.iter().find(|path| unlisted::is_index(path)).unwrap_or(path);
                return Err(Error::new(index, Reason::InSet("a sitemap index")));
            }
            // A file under two names would be written twice.
            Ok(file) if file.on_disk.as_ref().and_then(|disk| disk.identity).is_some_and(|id| !seen.insert(id)) => {}
            Ok(file) => files.push(file),
        }
    }
    if files.is_empty() {
        return Err(unread.swap_remove(0));
    }
    refuse_unread(options, &mut unread)?;
    let read: Vec<PathBuf> = files.iter().filter_map(|file| file.facts.path.clone()).collect();
    if let Some(first) = read.first()
        && let Some(other) = read.iter().find(|path| path.parent() != first.parent())
    {
        return Err(Error::new(other, Reason::InSet("an index in another folder")));
    }
    if let Some(first) = files.first()
        && let Some(other) = files.iter().find(|file| !file.source.names.is_compatible_with(&first.source.names))
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
    read.iter().zip(identities).skip(1).for_each(|(path, identity)| met.add_root(path, identity));
    deliver(LoadedFile::Index { index: index.clone(), on_disk: on_disks, visitors });
    let IndexContents { index, stopped, state_slot } = job.files_of(index, met, state_slot, deliver)?;
    let path = read.first().cloned();
    Ok(Loaded { path, paths: read, unread, index: Some(index), stopped, recovered, state_slot })
}
