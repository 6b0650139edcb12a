//! File operations relative to an open folder: no path leaves it, and no component is a symbolic link.
//!
//! A path that is checked and then used by name could be replaced by a link in between. Here each component is opened
//! relative to the one before it, so the checked file is the one that is used.

use super::external_changes;
use super::trust::TrustError;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The status of an existing file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) is_regular: bool,
    pub(super) len: u64,
    /// The user id of its owner; `None` on systems without user ids.
    pub(super) owner: Option<u32>,
    pub(super) stamp: Option<FileStamp>,
}

/// The inode of a file and the time of the last change of its content or metadata: seconds since 1970 and nanoseconds.
/// Programs cannot create another file with the same stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct FileStamp {
    inode: u64,
    changed: (i64, i64),
}

impl Status {
    /// Whether the file belongs to the current user.
    pub(super) fn is_of_current_user(&self) -> bool {
        #[cfg(unix)]
        let is_own = self.owner == Some(rustix::process::geteuid().as_raw());
        #[cfg(not(unix))]
        let is_own = self.owner.is_none();
        is_own
    }
}

impl FileStamp {
    /// The stamp of the file at a path; `None` if the system has no inodes.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let metadata = std::fs::symlink_metadata(path)?;
        #[cfg(unix)]
        let stamp = {
            use std::os::unix::fs::MetadataExt;
            Some(Self { inode: metadata.ino(), changed: (metadata.ctime(), metadata.ctime_nsec()) })
        };
        #[cfg(not(unix))]
        let stamp = {
            let _ = metadata;
            None
        };
        Ok(stamp)
    }
}

/// An open folder.
#[derive(Debug)]
pub(super) struct Tree {
    path: PathBuf,
    folder: Folder,
}

/// A file name in an open folder of a tree.
#[derive(Debug)]
pub(super) struct TreePath {
    folder: Folder,
    name: OsString,
}

impl Tree {
    /// Opens a folder; a link at the end of its path is not followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf(), folder: Folder::open(path)? })
    }

    /// Opens the folder of a path: a path below this folder, or an absolute one, whose components are opened from the
    /// root in the same way.
    ///
    /// # Errors
    /// [`TrustError::Link`] if a component is a link, `InvalidInput` if one is `..`, otherwise the error of the system.
    pub(super) fn locate(&self, path: &Path) -> io::Result<TreePath> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain path");
        let name = path.file_name().ok_or_else(invalid)?.to_os_string();
        let mut folder = None;
        for component in path.parent().into_iter().flat_map(Path::components) {
            match component {
                Component::Normal(name) => folder = Some(folder.as_ref().unwrap_or(&self.folder).enter(name)?),
                Component::RootDir | Component::Prefix(_) if folder.is_none() || cfg!(windows) => {
                    folder = Some(Folder::open(Path::new(component.as_os_str()))?);
                }
                _ => return Err(invalid()),
            }
        }
        Ok(TreePath { folder: folder.map_or_else(|| self.folder.try_clone(), Ok)?, name })
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that a folder may be removed with its contents: it and its folders belong to the current user and are on
    /// one file system, and they contain only regular files of this user.
    ///
    /// # Errors
    /// The file that prevents it, or the error of the system.
    pub(super) fn check_removable(&self, name: &OsStr) -> io::Result<()> {
        self.folder.check_tree(name, MAX_DEPTH)
    }

    /// Removes a folder that passes [`Tree::check_removable`]. Files that cannot be removed stay, with their parent
    /// folders.
    ///
    /// # Errors
    /// As [`Tree::check_removable`].
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.check_removable(name)?;
        self.folder.remove_tree(name, MAX_DEPTH)
    }
}

/// Maximum depth of nested folders that are visited.
const MAX_DEPTH: u32 = 64;

/// The error for a folder that may not be removed.
fn not_removable(name: &OsStr, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", name.display()))
}

impl TreePath {
    /// The status of the file; `None` if nothing exists. Links are not followed.
    pub(super) fn status(&self) -> io::Result<Option<Status>> {
        match self.folder.status(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            status => status.map(Some),
        }
    }

    /// Opens a regular file for reading, or for overwriting its bytes.
    ///
    /// # Errors
    /// [`TrustError`] if it is a link or not a regular file, otherwise the error of the system.
    pub(super) fn open_file(&self, write: bool) -> io::Result<File> {
        let file = self.folder.open_file(&self.name, write)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(TrustError::NotRegular.into()) }
    }

    /// The [`fingerprint`](super::disk::fingerprint) of a regular file.
    pub(super) fn hash(&self) -> io::Result<u64> {
        external_changes::hash_of(&mut self.open_file(false)?)
    }

    /// Renames this file over another one.
    pub(super) fn rename_to(&self, target: &Self) -> io::Result<()> {
        self.folder.rename(&self.name, &target.folder, &target.name)
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.folder.remove(&self.name)
    }
}

#[cfg(unix)]
#[derive(Debug)]
struct Folder(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Folder {
    fn flags() -> rustix::fs::OFlags {
        use rustix::fs::OFlags;
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
    }

    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, Self::flags(), rustix::fs::Mode::empty()).map_err(link_error)?))
    }

    fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(&self.0, name, Self::flags(), rustix::fs::Mode::empty()).map_err(link_error)?))
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    fn status(&self, name: &OsStr) -> io::Result<Status> {
        use rustix::fs::{AtFlags, FileType, statat};
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        // The widths of these types differ between systems.
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
        Ok(Status {
            is_regular: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
            len: stat.st_size as u64,
            owner: Some(stat.st_uid),
            stamp: Some(FileStamp {
                inode: u64::from(stat.st_ino),
                changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            }),
        })
    }

    fn open_file(&self, name: &OsStr, write: bool) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let access = if write { OFlags::WRONLY } else { OFlags::RDONLY };
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, Mode::empty()).map_err(link_error)?.into())
    }

    fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &to.0, new)?)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, rustix::fs::AtFlags::empty())?)
    }

    /// Opens a folder in this one that belongs to the current user and is on the same file system.
    fn enter_own(&self, name: &OsStr) -> io::Result<Self> {
        let folder = self.enter(name)?;
        let (here, there) = (rustix::fs::fstat(&self.0)?, rustix::fs::fstat(&folder.0)?);
        if there.st_uid != rustix::process::geteuid().as_raw() {
            return Err(not_removable(name, "it belongs to another user"));
        }
        if here.st_dev != there.st_dev {
            return Err(not_removable(name, "another disk is mounted there"));
        }
        Ok(folder)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        use std::os::unix::ffi::OsStrExt;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_os_string());
            }
        }
        Ok(names)
    }

    /// Whether this is a folder; an error if it is neither a folder nor a regular file of the current user.
    fn is_folder(&self, name: &OsStr) -> io::Result<bool> {
        use rustix::fs::{AtFlags, FileType, statat};
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(true),
            FileType::RegularFile if stat.st_uid == rustix::process::geteuid().as_raw() => Ok(false),
            FileType::RegularFile => Err(not_removable(name, "it belongs to another user")),
            _ => Err(not_removable(name, "it is a link or not a regular file")),
        }
    }

    fn check_tree(&self, name: &OsStr, depth: u32) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| not_removable(name, "its folders are too deep"))?;
        let folder = self.enter_own(name)?;
        for name in folder.names()? {
            if folder.is_folder(&name)? {
                folder.check_tree(&name, depth)?;
            }
        }
        Ok(())
    }

    fn remove_tree(&self, name: &OsStr, depth: u32) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| not_removable(name, "its folders are too deep"))?;
        let folder = self.enter_own(name)?;
        for name in folder.names()? {
            if folder.is_folder(&name)? {
                folder.remove_tree(&name, depth)?;
            } else {
                folder.remove(&name)?;
            }
        }
        Ok(rustix::fs::unlinkat(&self.0, name, rustix::fs::AtFlags::REMOVEDIR)?)
    }
}

/// Converts the error codes that systems report for a link that must not be followed.
#[cfg(unix)]
fn link_error(error: rustix::io::Errno) -> io::Error {
    use rustix::io::Errno;
    match error {
        Errno::LOOP | Errno::MLINK | Errno::NOTDIR => TrustError::Link.into(),
        error => error.into(),
    }
}

/// For systems without operations relative to an open folder: each component is examined by its path.
#[cfg(not(unix))]
#[derive(Debug)]
struct Folder(PathBuf);

#[cfg(not(unix))]
impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::symlink_metadata(path)?;
        if metadata.is_dir() { Ok(Self(path.to_path_buf())) } else { Err(TrustError::Link.into()) }
    }

    fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.0.join(name))
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.clone()))
    }

    fn status(&self, name: &OsStr) -> io::Result<Status> {
        let metadata = std::fs::symlink_metadata(self.0.join(name))?;
        Ok(Status { is_regular: metadata.is_file(), len: metadata.len(), owner: None, stamp: None })
    }

    fn open_file(&self, name: &OsStr, write: bool) -> io::Result<File> {
        if !self.status(name)?.is_regular {
            return Err(TrustError::NotRegular.into());
        }
        File::options().read(!write).write(write).open(self.0.join(name))
    }

    fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        std::fs::rename(self.0.join(name), to.0.join(new))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    fn check_tree(&self, name: &OsStr, depth: u32) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(|| not_removable(name, "its folders are too deep"))?;
        let folder = self.enter(name)?;
        for entry in std::fs::read_dir(&folder.0)? {
            let (kind, name) = entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name())))?;
            if kind.is_dir() {
                folder.check_tree(&name, depth)?;
            } else if !kind.is_file() {
                return Err(not_removable(&name, "it is a link or not a regular file"));
            }
        }
        Ok(())
    }

    fn remove_tree(&self, name: &OsStr, _: u32) -> io::Result<()> {
        std::fs::remove_dir_all(self.0.join(name))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_does_not_follow_links_or_leave_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(path("in/deep")).unwrap();
        fs::write(path("in/deep/file"), "x").unwrap();
        fs::write(path("out"), "y").unwrap();
        symlink("deep", path("in/linked")).unwrap();
        symlink("../out", path("in/link")).unwrap();
        let tree = Tree::open(&path("in")).unwrap();
        let hash = |name: &Path| tree.locate(name)?.hash();
        assert!(hash(Path::new("deep/file")).is_ok());
        assert!(hash(&path("in/deep/file")).is_ok(), "an absolute path is opened from the root");
        for name in ["linked/file", "link", "../out", "deep/../../out", "deep", "..", "deep/file/x", "/dev/null"] {
            assert!(hash(Path::new(name)).is_err(), "{name}");
        }
        assert!(Tree::open(&path("in/linked")).is_err());
        assert_eq!(tree.locate(Path::new("none")).unwrap().status().unwrap(), None);
        assert!(!tree.locate(Path::new("link")).unwrap().status().unwrap().unwrap().is_regular);
    }
}
