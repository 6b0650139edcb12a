//! Splits an index that is over the limits of one file into volumes.
//!
//! Invariant: every entry is in exactly one file, in order, and no written file is over a limit unless a single entry
//! is. A file keeps its first entries, and unchanged files keep their bytes: surplus entries move to the start of the
//! next file, or to a new file after the last one.

use super::Planner;
use super::name::{self, Pattern};
use crate::document::index::Index;
use crate::document::index::{IndexFile, assign_slots};
use crate::protocol::limits::Limits;
use crate::words::grouped;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Planner<'_> {
    /// Splits the index into as many files as its entries need, and reports it if there are more than before.
    pub(super) fn split_index(&mut self, index: Index) -> Index {
        let saved = self.request.saved.index().filter(|_| self.request.to.is_none());
        // The user has accepted the split.
        let has_pending_split = index.accepted && saved.is_some_and(|saved| !saved.accepted);
        let may_stay = |file: &IndexFile<'_>| {
            if has_pending_split {
                return false;
            }
            // An unchanged file keeps its bytes even if it is over a limit.
            let then = file.path.and_then(|path| saved?.file_at(path));
            then.is_some_and(|then| then.has_bytes_of(file))
        };
        let slots = assign_slots(&index, self.request.limits, &may_stay);
        let is_same = slots.len() == index.file_count()
            && slots.iter().zip(index.files()).all(|(slot, file)| slot.entries == file.entries);
        if is_same {
            return index;
        }
        let mut names = self.new_names(&index);
        let partition = index.split_into_files(&slots, |_| names.take());
        drop(names);
        let before = self.request.saved.index().map_or(1, Index::file_count);
        if partition.file_count() > before {
            self.losses.push(volumes_message(&partition, self.request.limits));
        }
        partition
    }

    fn new_names(&self, index: &Index) -> Names<'_> {
        let mut used: BTreeSet<PathBuf> = index.paths().into_iter().collect();
        used.extend(self.document.sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()));
        let pattern = Pattern::indexes_of(name::last(&index.name));
        let numbers = index.more.iter().filter_map(|volume| pattern.number_of(name::last(&volume.name)));
        let next = numbers.max().unwrap_or(0).max(pattern.first()) + 1;
        let folder = index.path.as_deref().and_then(Path::parent).map(Path::to_path_buf);
        Names { pattern, next, folder, used, is_taken: Box::new(|path| self.is_taken(path)) }
    }
}

/// Names the new files of an index.
struct Names<'p> {
    pattern: Pattern,
    next: u64,
    folder: Option<PathBuf>,
    used: BTreeSet<PathBuf>,
    is_taken: Box<dyn Fn(&Path) -> bool + 'p>,
}

impl Names<'_> {
    fn take(&mut self) -> (Arc<str>, Option<PathBuf>) {
        loop {
            let name = self.pattern.with(self.next);
            self.next += 1;
            let Some(path) = self.folder.as_ref().map(|folder| folder.join(&name)) else { return (name.into(), None) };
            if !self.used.contains(&path) && !(self.is_taken)(&path) {
                return (name.into(), Some(path));
            }
        }
    }
}

/// The message for an index that is split into several files.
pub(super) fn volumes_message(index: &Index, limits: Limits) -> String {
    let names: Vec<&str> = index.files().map(|file| &**file.name).collect();
    format!(
        "one index holds at most {} sitemaps in {} bytes, so there are {} indexes; submit each: {}",
        grouped(u64::from(limits.parts)),
        grouped(limits.index_bytes),
        index.file_count(),
        names.join(", ")
    )
}

/// Selects the further files of an index from the names in its folder: those that match its pattern, ordered by number.
pub(in crate::files) fn siblings(first: &Path, names: impl Iterator<Item = String>) -> Vec<PathBuf> {
    let own = first.file_name().unwrap_or_default().to_string_lossy();
    let pattern = Pattern::indexes_of(&own);
    let number = |name: String| Some((pattern.number_of(&name).filter(|number| *number > pattern.first())?, name));
    let mut found: Vec<(u64, String)> = names.filter_map(number).collect();
    found.sort();
    found.into_iter().map(|(_, name)| first.with_file_name(name)).collect()
}

/// Moves an index to another path, with its further files beside it under the new name.
pub(super) fn relocated(index: Index, path: &Path, gzip: bool) -> Index {
    let name: Arc<str> = path.file_name().unwrap_or_default().to_string_lossy().into();
    let pattern = Pattern::indexes_of(&name);
    let mut number = pattern.first();
    let mut index = Index { path: Some(path.to_path_buf()), gzip, name, ..index };
    index.change_volumes(|volume| {
        number += 1;
        let name = pattern.with(number);
        (volume.path, volume.name, volume.gzip) = (Some(path.with_file_name(&name)), name.into(), gzip);
    });
    index
}

#[cfg(test)]
mod tests;
