//! Inspects the path that a save writes to: what is there, whether it may be replaced, and its mode and owner.
//!
//! Invariant: a file that takes another one's place is never, not even while it is written, readable for users whom
//! the other keeps out. Nothing is written here but owner, mode and attributes of a file that has no name yet.

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
    /// The [`fingerprint`](super::disk::fingerprint) of its bytes, where they were read for this.
    pub(super) hash: Option<u64>,
    /// Permission bits that a new file may have, before the umask.
    pub(super) ceiling: u32,
    /// Whether the file must be overwritten in place: it has several names, or its owner or attributes cannot be given to
    /// another file.
    pub(super) in_place: bool,
}

/// What a new file may be read and written by, if its set says nothing stricter.
const NEW_FILE: u32 = 0o644;

/// The system's word for a link that leads back to itself.
#[cfg(unix)]
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
#[cfg(not(unix))]
const LOOP: i32 = i32::MIN;

impl ReplaceTarget {
    /// Inspects a path, resolves links, and refuses what must not be replaced.
    pub(super) fn inspect(path: &Path, wish: TargetAction, disk: &Disk, force: bool) -> Result<Self, Error> {
        let new = || {
            let path = path.to_path_buf();
            Ok(Self { real: path.clone(), path, metadata: None, hash: None, ceiling: NEW_FILE, in_place: false })
        };
        let refuse = |reason| Err(Error::new(path, reason));
        match (fs::symlink_metadata(path), wish) {
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
        // Its bytes decide: an equal length and time do not say that no one wrote to it. Whoever forces it says that
        // what is there now may go, not what someone writes while this save runs.
        let hash = external_changes::hash(&real)
            .map_err(|error| Error::system("compare it with what was read", path, error))?;
        let known = disk.get(path).map(|known| (known.len, known.hash));
        if wish == TargetAction::Change && !force && known != Some((metadata.len(), hash)) {
            return refuse(Reason::Changed);
        }
        // Root may write to anything; what its owner made read-only is meant to stay.
        if metadata.permissions().readonly() {
            return refuse(Reason::ReadOnly);
        }
        may_write(&real, path)?;
        let in_place = links(&metadata) > 1;
        let hash = Some(hash);
        Ok(Self { path: path.to_path_buf(), real, metadata: Some(metadata), hash, ceiling: NEW_FILE, in_place })
    }

    /// New files of a set are readable for no one whom its present files keep out, be they among the targets or beside
    /// them.
    pub(super) fn restrict_new(targets: &mut [Self], others: &[Metadata]) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let modes =
                targets.iter().filter_map(|target| target.metadata.as_ref()).chain(others).map(MetadataExt::mode);
            let ceiling = modes.fold(NEW_FILE, |ceiling, mode| ceiling & (mode | 0o600));
            for target in targets {
                target.ceiling = ceiling;
            }
        }
        #[cfg(not(unix))]
        let _ = (targets, others);
    }

    /// Whether nothing has happened to it since it was inspected: between that and the rename everything is written.
    pub(super) fn is_unchanged(&self) -> bool {
        let Some(then) = &self.metadata else {
            return fs::symlink_metadata(&self.real).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        };
        let Ok(now) = fs::metadata(&self.real) else { return false };
        self.path.canonicalize().is_ok_and(|real| real == self.real)
            && OnDisk::new(&self.real, then, 0).matches_metadata(&now)
            && (changed(&now) == changed(then) && !is_fresh(&now)
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

/// When the system last changed anything about a file, which no one can set back.
fn changed(metadata: &Metadata) -> Option<(i64, i64)> {
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

/// The longest that two changes may seem to be of one moment: FAT counts in steps of two seconds.
const TICK: Duration = Duration::from_secs(2);

/// Whether a file was changed so lately that one more change might not show in its time. Clocks may have been put
/// back, so a time that is still to come is no better.
fn is_fresh(metadata: &Metadata) -> bool {
    let since = metadata.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    since.is_none_or(|since| since <= TICK)
}

fn may_write(real: &Path, path: &Path) -> Result<(), Error> {
    match OpenOptions::new().write(true).open(real) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Error::new(path, Reason::ReadOnly)),
        Err(error) => Err(Error::system("open for writing", path, error)),
    }
}

/// Gives a file the owner, group, extended attributes (access control lists are some) and mode of the one that it
/// will replace. Whether all of that was possible.
///
/// Until its end the file stays readable for its owner alone: attributes come before the mode, and lists that the
/// folder gave it and the other has not be taken off first.
#[cfg(unix)]
pub(super) fn copy_metadata(file: &File, like: &Metadata, real: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid() != like.uid() && fchown(file, Some(like.uid()), None).is_err())
        || (own.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err())
    {
        return Ok(false);
    }
    if !take_over_attributes(file, real) {
        return Ok(false);
    }
    file.set_permissions(fs::Permissions::from_mode(like.mode() & 0o7777))?;
    Ok(true)
}

#[cfg(unix)]
fn take_over_attributes(file: &File, real: &Path) -> bool {
    use xattr::FileExt;
    // Where the file system has none there are none to keep.
    let Ok(names) = xattr::list(real) else { return true };
    let names: Vec<_> = names.collect();
    let strange = file.list_xattr().into_iter().flatten().filter(|name| !names.contains(name));
    for name in strange.collect::<Vec<_>>() {
        if file.remove_xattr(&name).is_err() && name.as_encoded_bytes().starts_with(b"system.posix_acl") {
            return false;
        }
    }
    names.iter().all(|name| {
        let Ok(Some(value)) = xattr::get(real, name) else { return false };
        // Some have been given by the system to the new file as well.
        file.get_xattr(name).ok().flatten().as_ref() == Some(&value) || file.set_xattr(name, &value).is_ok()
    })
}

/// Gives a file the mode of the one that it will replace.
#[cfg(not(unix))]
pub(super) fn copy_metadata(file: &File, like: &Metadata, _: &Path) -> io::Result<bool> {
    file.set_permissions(like.permissions())?;
    Ok(true)
}

/// How many names a file has.
pub(super) fn links(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    let links = std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let links = {
        let _ = metadata;
        1
    };
    links
}

/// Two paths that lead to one file: written one after the other, the second would win.
pub(super) fn first_twice<'t>(targets: impl Iterator<Item = &'t ReplaceTarget>) -> Option<(&'t Path, &'t Path)> {
    let mut seen: BTreeMap<&Path, &Path> = BTreeMap::new();
    for target in targets {
        if let Some(other) = seen.insert(&target.real, &target.path) {
            return Some((other, &target.path));
        }
    }
    None
}
