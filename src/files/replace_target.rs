//! Inspects the path that a save writes to: the existing file, whether it may be replaced, its mode and owner.
//!
//! Invariant: a file that replaces another one is never readable for users who cannot read the old one, not even while
//! it is written. This module only sets the owner, mode and attributes of temporary files.

use super::disk::{Disk, OnDisk};
use super::error::{Error, Reason};
use super::external_changes;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The intended action at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetAction {
    /// Create a new file; none exists.
    Create,
    /// Replace or remove a file of the set, which must be unchanged.
    Change,
    /// Replace any regular file.
    Replace,
}

/// An inspected path with its real path, mode and owner.
#[derive(Debug)]
pub(super) struct ReplaceTarget {
    /// The path in the document.
    pub(super) path: PathBuf,
    /// The path with all links resolved.
    pub(super) real: PathBuf,
    /// The current file.
    pub(super) metadata: Option<Metadata>,
    /// The [`fingerprint`](super::disk::fingerprint) of its bytes, if it exists.
    pub(super) hash: Option<u64>,
    /// The most permissive mode that a new file may have, before the umask.
    pub(super) max_mode: u32,
    /// Whether the file must be overwritten in place: it has several hard links, or its owner or attributes cannot be
    /// set on a new file.
    pub(super) in_place: bool,
}

/// The mode of a new file, unless the files of its set have stricter ones.
const NEW_FILE_MODE: u32 = 0o644;

/// The error code for a loop of symbolic links.
#[cfg(unix)]
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
#[cfg(not(unix))]
const LOOP: i32 = i32::MIN;

impl ReplaceTarget {
    /// Inspects a path, resolves links, and refuses files that must not be replaced.
    pub(super) fn inspect(path: &Path, action: TargetAction, disk: &Disk, force: bool) -> Result<Self, Error> {
        let new = || {
            let path = path.to_path_buf();
            Ok(Self { real: path.clone(), path, metadata: None, hash: None, max_mode: NEW_FILE_MODE, in_place: false })
        };
        let refuse = |reason| Err(Error::new(path, reason));
        match (fs::symlink_metadata(path), action) {
            (Err(error), TargetAction::Change) if error.kind() == io::ErrorKind::NotFound => {
                return if force { new() } else { refuse(Reason::Changed) };
            }
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => return new(),
            (Err(error), _) => return Err(Error::system("inspect it", path, error)),
            (Ok(_), TargetAction::Create) => return refuse(Reason::Exists),
            (Ok(_), _) => {}
        }
        let real = path.canonicalize().map_err(|error| match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => Error::new(path, Reason::Link("leads to a file that is not there")),
            (_, Some(LOOP)) => Error::new(path, Reason::Link("leads back to itself")),
            _ => Error::system("follow the link", path, error),
        })?;
        let metadata = fs::metadata(&real).map_err(|error| Error::system("inspect it", path, error))?;
        if metadata.is_dir() {
            return refuse(Reason::Special("a folder"));
        }
        if !metadata.is_file() {
            return refuse(Reason::Special("a pipe or a device"));
        }
        // The bytes are compared, since a changed file may have the same length and time. `force` permits overwriting
        // the current content, but not changes made while this save runs.
        let hash = external_changes::hash(&real)
            .map_err(|error| Error::system("compare it with what was read", path, error))?;
        let known = disk.get(path).map(|known| (known.len, known.hash));
        if action == TargetAction::Change && !force && known != Some((metadata.len(), hash)) {
            return refuse(Reason::Changed);
        }
        // Root can write to any file, but a file that its owner has made read-only must not be replaced.
        if metadata.permissions().readonly() {
            return refuse(Reason::ReadOnly);
        }
        check_writable(&real, path)?;
        let in_place = hard_links(&metadata) > 1;
        let hash = Some(hash);
        Ok(Self { path: path.to_path_buf(), real, metadata: Some(metadata), hash, max_mode: NEW_FILE_MODE, in_place })
    }

    /// Restricts the mode of new files of a set, so that nobody can read them who cannot read its existing files (the
    /// targets and `others`).
    pub(super) fn restrict_new(targets: &mut [Self], others: &[Metadata]) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let modes =
                targets.iter().filter_map(|target| target.metadata.as_ref()).chain(others).map(MetadataExt::mode);
            let max_mode = modes.fold(NEW_FILE_MODE, |max_mode, mode| max_mode & (mode | 0o600));
            for target in targets {
                target.max_mode = max_mode;
            }
        }
        #[cfg(not(unix))]
        let _ = (targets, others);
    }

    /// Whether the target is unchanged since it was inspected. All new files are written between that and the rename.
    pub(super) fn is_unchanged(&self) -> bool {
        let Some(then) = &self.metadata else {
            return fs::symlink_metadata(&self.real).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        };
        let Ok(now) = fs::metadata(&self.real) else { return false };
        self.path.canonicalize().is_ok_and(|real| real == self.real)
            && OnDisk::new(&self.real, then, 0).matches_metadata(&now)
            && (change_time(&now) == change_time(then) && !is_fresh(&now)
                || external_changes::hash(&self.real).ok() == self.hash)
    }

    pub(super) fn folder(&self) -> &Path {
        match self.real.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => Path::new("/"),
        }
    }
}

/// The time of the last change of a file's content or metadata, which programs cannot set.
fn change_time(metadata: &Metadata) -> Option<(i64, i64)> {
    #[cfg(unix)]
    let changed = {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.ctime(), metadata.ctime_nsec()))
    };
    #[cfg(not(unix))]
    let changed = {
        let _ = metadata;
        None
    };
    changed
}

/// Maximum resolution of file times: FAT has two seconds.
const TIME_RESOLUTION: Duration = Duration::from_secs(2);

/// Whether a file was changed so recently that a further change might not alter its time. Times in the future count as
/// recent, since the clock may have been set back.
fn is_fresh(metadata: &Metadata) -> bool {
    let since = metadata.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    since.is_none_or(|since| since <= TIME_RESOLUTION)
}

fn check_writable(real: &Path, path: &Path) -> Result<(), Error> {
    match OpenOptions::new().write(true).open(real) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Error::new(path, Reason::ReadOnly)),
        Err(error) => Err(Error::system("open for writing", path, error)),
    }
}

/// Copies the owner, group, extended attributes (including access control lists) and mode of the file that it will
/// replace. Returns whether all of that was possible.
///
/// Only the owner can read the file until the last step: attributes are set before the mode, and access control lists
/// that the file has inherited from the folder and the old file does not have are removed first.
#[cfg(unix)]
pub(super) fn copy_metadata(file: &File, like: &Metadata, real: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid() != like.uid() && fchown(file, Some(like.uid()), None).is_err())
        || (own.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err())
    {
        return Ok(false);
    }
    if !copy_attributes(file, real) {
        return Ok(false);
    }
    file.set_permissions(fs::Permissions::from_mode(like.mode() & 0o7777))?;
    Ok(true)
}

#[cfg(unix)]
fn copy_attributes(file: &File, real: &Path) -> bool {
    use xattr::FileExt;
    // The file system has no attributes.
    let Ok(names) = xattr::list(real) else { return true };
    let names: Vec<_> = names.collect();
    let inherited = file.list_xattr().into_iter().flatten().filter(|name| !names.contains(name));
    for name in inherited.collect::<Vec<_>>() {
        if file.remove_xattr(&name).is_err() && name.as_encoded_bytes().starts_with(b"system.posix_acl") {
            return false;
        }
    }
    names.iter().all(|name| {
        let Ok(Some(value)) = xattr::get(real, name) else { return false };
        // The system may have set some of them on the new file already.
        file.get_xattr(name).ok().flatten().as_ref() == Some(&value) || file.set_xattr(name, &value).is_ok()
    })
}

/// Copies the mode of the file that it will replace.
#[cfg(not(unix))]
pub(super) fn copy_metadata(file: &File, like: &Metadata, _: &Path) -> io::Result<bool> {
    file.set_permissions(like.permissions())?;
    Ok(true)
}

/// The number of hard links of a file.
pub(super) fn hard_links(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    let links = std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let links = {
        let _ = metadata;
        1
    };
    links
}

/// Two paths that lead to the same file; the second write would overwrite the first.
pub(super) fn first_duplicate<'t>(targets: impl Iterator<Item = &'t ReplaceTarget>) -> Option<(&'t Path, &'t Path)> {
    let mut seen: BTreeMap<&Path, &Path> = BTreeMap::new();
    for target in targets {
        if let Some(other) = seen.insert(&target.real, &target.path) {
            return Some((other, &target.path));
        }
    }
    None
}
