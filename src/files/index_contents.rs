//! Loads the files that an index lists.

use super::children::{SeenFiles, folder_of, known_unread, probe};
use super::error::Error;
use super::journal::{LockedByOther, StateSlot};
use super::load_context::LoadContext;
use super::loaded::{LoadedFile, children_of};
use super::{temporary, unlisted};
use crate::document::index::{Child, ChildState, Index};
use crate::document::source::Source;
use crate::progress::Progress;
use crate::xml::scan::Visit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An index with the files that it lists.
pub(super) struct IndexContents {
    /// The index with the state of its children.
    pub(super) index: Index,
    /// Whether loading was cancelled before the last file.
    pub(super) stopped: bool,
    /// The state slot of the set with all its files.
    pub(super) state_slot: Option<Result<StateSlot, LockedByOther>>,
}

impl<V: Visit + Send> LoadContext<'_, V> {
    /// Whether any sitemap that an index lists exists, or may exist but cannot be inspected.
    pub(super) fn has_children(&self, met: &SeenFiles, index: &Source) -> bool {
        let mut children = children_of(index);
        // A separate progress, since files found here are counted when they are loaded.
        let quiet = Progress::default();
        let job = LoadContext { options: self.options, progress: &quiet, make: self.make, base: self.base.clone() };
        let found = job.resolve(&mut met.clone(), None, &mut children);
        let is_absent =
            |child: &Child| matches!(child.state, ChildState::Missing | ChildState::Outside | ChildState::Elsewhere(_));
        !found.is_empty() || !children.iter().all(is_absent)
    }

    /// Loads the files that an index lists.
    ///
    /// # Errors
    /// Not all files can be read and all are required. If that is known beforehand, nothing is delivered.
    pub(super) fn files_of(
        &self,
        mut index: Index,
        mut met: SeenFiles,
        state_slot: Option<Result<StateSlot, LockedByOther>>,
        deliver: &mut dyn FnMut(LoadedFile<V>),
    ) -> Result<IndexContents, Error> {
        let path = index.path.clone().unwrap_or_default();
        let found = self.resolve(&mut met, None, index.children_mut());
        self.cancel_if_over_limit();
        if self.options.require_all {
            let indexes = probe(&found, index.children_mut());
            let inside = self.unread_in_nested(&mut met.clone(), &indexes);
            Error::unread(&path, known_unread(&index.children).chain(inside)).map_or(Ok(()), Err)?;
        }
        let Some(folder) = folder_of(&path, self.options) else {
            return Ok(IndexContents { index, stopped: false, state_slot });
        };
        let direct = met.paths.len();
        let state_slot = state_slot.map(|state_slot| claim_files(state_slot, found.iter().map(|found| &*found.path)));
        if self.options.recovery.finish {
            sweep_beside(&folder, found.iter().map(|found| &*found.path));
        }
        let stopped = self.read_children(&mut met, &found, index.children_mut(), deliver);
        // Files that nested indexes list belong to the set too.
        let inside = met.paths.get(direct..).unwrap_or_default().iter().map(PathBuf::as_path);
        let state_slot = state_slot.map(|state_slot| claim_files(state_slot, inside));
        let known = met.paths.iter().map(PathBuf::as_path).collect();
        index.unlisted = unlisted::unlisted_sitemaps(&folder, &known);
        if self.options.require_all && !stopped {
            let unread = index.unread().into_iter();
            let unread = unread.map(|child| format!("{}: {}", child.loc, child.state.why_unread().unwrap_or_default()));
            Error::unread(&path, unread).map_or(Ok(()), Err)?;
        }
        Ok(IndexContents { index, stopped, state_slot })
    }
}

/// Claims all files of a set in its state slot, since another process may have one of them open alone.
fn claim_files<'p>(
    state_slot: Result<StateSlot, LockedByOther>,
    files: impl Iterator<Item = &'p Path>,
) -> Result<StateSlot, LockedByOther> {
    state_slot.and_then(|state_slot| state_slot.claim(files).map(|()| state_slot))
}

/// Removes temporary files of dead processes beside the files of a set. `set_folder` is the folder of the file that the
/// set is opened by, whose commit record was completed before.
pub(super) fn sweep_beside<'p>(set_folder: &Path, files: impl Iterator<Item = &'p Path>) {
    let here = if set_folder.as_os_str().is_empty() { Path::new(".") } else { set_folder };
    let Ok(real_home) = here.canonicalize() else { return };
    let (mut swept, mut swept_behind_links) = (BTreeSet::from([set_folder]), BTreeSet::new());
    let mut far = Vec::new();
    for path in files {
        if let Some(folder) = path.parent().filter(|folder| swept.insert(folder)) {
            folder.canonicalize().iter().for_each(|folder| temporary::sweep(folder));
        }
        let is_elsewhere = path.parent() != Some(set_folder) || path.is_symlink();
        let Some(real) = is_elsewhere.then(|| path.canonicalize().ok()).flatten() else { continue };
        match real.parent() {
            Some(folder) if folder.starts_with(&real_home) => {
                if swept_behind_links.insert(folder.to_path_buf()) {
                    temporary::sweep(folder);
                }
            }
            _ => far.push(real),
        }
    }
    temporary::sweep_far(&far, &real_home);
}
