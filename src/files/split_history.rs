//! Names of the files that earlier splits created in a folder, stored in the user's state folder.
//!
//! An index lists only the parts of the last split. This history also has the parts of longer splits before it, so that
//! `--prune` removes only files that this program made, never a file that merely has such a name.

use super::disk::fingerprint;
use super::lock::create_private_folder;
use super::small_files::write_atomic;
use super::trust;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum bytes of a history: far more names than one folder has.
const MAX_BYTES: u64 = 64 << 20;

/// The stored form.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    /// The real path of the folder: the hashes of two folders may collide.
    folder: Vec<u8>,
    names: BTreeSet<String>,
}

/// The files that earlier splits have made in one folder.
#[derive(Debug, Default)]
pub(crate) struct SplitHistory {
    /// Its path; `None` without a state folder.
    path: Option<PathBuf>,
    folder: PathBuf,
    names: BTreeSet<String>,
}

impl SplitHistory {
    /// Loads the history of a folder; empty if there is none.
    pub(crate) fn load(state: Option<&Path>, folder: &Path) -> Self {
        // Resolve a folder that does not exist yet by its parent, so that its history can be stored later.
        let parent = || Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?));
        let Some(real) = folder.canonicalize().ok().or_else(parent) else { return Self::default() };
        let bytes = real.as_os_str().as_encoded_bytes().to_vec();
        let path = state.map(|state| state.join("splits").join(format!("{:016x}.json", fingerprint(&bytes))));
        let read = |path: &PathBuf| serde_json::from_slice(&trust::read_own(path, MAX_BYTES).ok()?).ok();
        let stored: Stored = path.as_ref().and_then(read).unwrap_or_default();
        let names = if stored.folder == bytes { stored.names } else { BTreeSet::new() };
        Self { path, folder: real, names }
    }

    /// Whether an earlier split has made a file of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Adds the files of a written split and drops files that no longer exist. If storing fails, a later `--prune`
    /// merely does not remove these files.
    pub(crate) fn add<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        self.names.extend(names.map(ToOwned::to_owned));
        let is_gone = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        self.names.retain(|name| !self.folder.join(name).symlink_metadata().is_err_and(is_gone));
        let Some(path) = &self.path else { return };
        let folder = self.folder.as_os_str().as_encoded_bytes().to_vec();
        let stored = Stored { folder, names: self.names.clone() };
        if let (Some(parent), Ok(bytes)) = (path.parent(), serde_json::to_vec(&stored))
            && create_private_folder(parent).is_ok()
        {
            let _ = write_atomic(path, &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_are_stored_by_folder_and_dropped_with_their_files() {
        let root = tempfile::tempdir().unwrap();
        let (state, out) = (root.path().join("state"), root.path().join("out"));
        assert!(!SplitHistory::load(Some(&state), &out).has("a.xml"));
        let mut history = SplitHistory::load(Some(&state), &out);
        fs::create_dir(&out).unwrap();
        fs::write(out.join("a.xml"), "").unwrap();
        history.add(["a.xml", "b.xml"].into_iter());
        let known = |folder: &Path| ["a.xml", "b.xml"].map(|name| SplitHistory::load(Some(&state), folder).has(name));
        assert_eq!(known(&out), [true, false]);
        assert_eq!(known(root.path()), [false, false]);
        assert!(!SplitHistory::load(None, &out).has("a.xml"));
        fs::remove_file(out.join("a.xml")).unwrap();
        SplitHistory::load(Some(&state), &out).add(std::iter::empty());
        fs::write(out.join("a.xml"), "another").unwrap();
        assert_eq!(known(&out), [false, false], "it is another file now");
    }
}
