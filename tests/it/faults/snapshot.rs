//! Snapshots of a folder in memory, to compare and restore it.

use crate::support::Folder;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Folder(u32),
    File(u32, Vec<u8>),
    /// A hard link to a file.
    HardLink(PathBuf),
    Link(PathBuf),
}

/// All files below a folder, including its home folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Node>);

impl Snapshot {
    pub(super) fn of(folder: &Folder) -> Self {
        let mut nodes = BTreeMap::new();
        let mut seen = BTreeMap::new();
        take(folder.path(), Path::new(""), &mut nodes, &mut seen);
        Self(nodes)
    }

    /// Restores the folder to this snapshot.
    pub(super) fn restore(&self, folder: &Folder) {
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        for (name, node) in &self.0 {
            let path = folder.path().join(name);
            match node {
                Node::Folder(mode) => {
                    fs::create_dir(&path).unwrap();
                    fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
                }
                Node::File(mode, bytes) => {
                    fs::write(&path, bytes).unwrap();
                    fs::set_permissions(&path, Permissions::from_mode(*mode)).unwrap();
                }
                Node::HardLink(first) => fs::hard_link(folder.path().join(first), &path).unwrap(),
                Node::Link(to) => symlink(to, &path).unwrap(),
            }
        }
    }

    /// The paths of files and folders.
    pub(super) fn names(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    /// The files of sets and of the user, without records, temporary files, backups and state.
    pub(super) fn set(&self) -> Self {
        let is_own = |part: &std::ffi::OsStr| {
            let name = part.to_string_lossy();
            name.starts_with('.') || name.ends_with(".bak")
        };
        let files = self.0.iter().filter(|(path, node)| !path.iter().any(is_own) && !matches!(node, Node::Folder(_)));
        Self(files.map(|(path, node)| (path.clone(), node.clone())).collect())
    }

    pub(super) fn has_record(&self) -> bool {
        self.0.keys().any(|path| path.file_name().is_some_and(|name| name == ".sited.commit"))
    }

    /// Temporary files, which the run that made them should have removed.
    pub(super) fn temporaries(&self) -> Vec<&PathBuf> {
        let is_temporary = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".sited") || name.starts_with(".key-") || name.starts_with(".tmp")
        };
        self.0.keys().filter(is_temporary).collect()
    }

    /// The paths that differ from those of another snapshot, each followed by a space.
    pub(super) fn difference(&self, other: &Self) -> String {
        let names: std::collections::BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let differs = names.into_iter().filter(|name| self.0.get(*name) != other.0.get(*name));
        differs.flat_map(|name| [name.to_string_lossy().into_owned(), " ".to_owned()]).collect()
    }
}

fn take(root: &Path, above: &Path, nodes: &mut BTreeMap<PathBuf, Node>, seen: &mut BTreeMap<(u64, u64), PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(root.join(above)).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.strip_prefix(root).unwrap().to_path_buf();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.mode() & 0o7777;
        if metadata.is_dir() {
            nodes.insert(name.clone(), Node::Folder(mode));
            take(root, &name, nodes, seen);
        } else if metadata.is_symlink() {
            nodes.insert(name, Node::Link(fs::read_link(&path).unwrap()));
        } else if let Some(first) = seen.get(&(metadata.dev(), metadata.ino())) {
            nodes.insert(name, Node::HardLink(first.clone()));
        } else {
            seen.insert((metadata.dev(), metadata.ino()), name.clone());
            nodes.insert(name, Node::File(mode, fs::read(&path).unwrap()));
        }
    }
}
