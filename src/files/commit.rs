//! Replaces files safely: everything is written beside its target and synced first, then renamed into place.
//!
//! Invariant: an error before the first rename leaves every file as it was and no temporary file behind. Files
//! are renamed in the order given (the index last), so an index never names a part that is not there. Every
//! operation passes a [`Gate`] by its number: tests make the n-th one fail, and the record that will let an
//! interrupted save be finished later belongs between the last [`Step::Sync`] and the first [`Step::Rename`].

use super::disk::{Disk, Fingerprint, OnDisk, fingerprint};
use super::error::{Error, Reason};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// One operation on the file system that changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Create,
    Write,
    Sync,
    Rename,
    Remove,
    SyncFolder,
}

/// Lets operations through; or not, in tests.
pub(super) trait Gate: Sync {
    fn pass(&self, step: Step) -> io::Result<()>;
}

/// Lets everything through.
pub(super) struct Open;

impl Gate for Open {
    fn pass(&self, _: Step) -> io::Result<()> {
        Ok(())
    }
}

/// What is to happen at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// A new file; there is none.
    Create,
    /// A file of the set gets new bytes, or goes: it must be what it was.
    Change,
    /// Whatever regular file is there gets new bytes.
    Replace,
}

/// A path looked at: where its bytes really are.
#[derive(Debug)]
pub(super) struct Target {
    /// As the document names it.
    pub(super) path: PathBuf,
    /// At the end of all links.
    pub(super) real: PathBuf,
    /// What is there now.
    pub(super) metadata: Option<Metadata>,
    /// Permission bits that a new file may have, before the umask.
    pub(super) ceiling: u32,
}

/// What a new file may be read and written by, if its set says nothing stricter.
const NEW_FILE: u32 = 0o644;

impl Target {
    /// Looks at a path, follows its links, and refuses what must not be replaced.
    pub(super) fn look(path: &Path, wish: Wish, disk: &Disk, force: bool) -> Result<Self, Error> {
        let new = || Ok(Self { path: path.to_path_buf(), real: path.to_path_buf(), metadata: None, ceiling: NEW_FILE });
        let refuse = |reason| Err(Error::new(path, reason));
        match (fs::symlink_metadata(path), wish) {
            (Err(error), Wish::Change) if error.kind() == io::ErrorKind::NotFound => {
                return if force { new() } else { refuse(Reason::Changed) };
            }
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => return new(),
            (Err(error), _) => return Err(Error::system("look at it", path, error)),
            (Ok(_), Wish::Create) => return refuse(Reason::Exists),
            (Ok(_), _) => {}
        }
        let real = path.canonicalize().map_err(|error| Error::system("follow the link", path, error))?;
        let metadata = fs::metadata(&real).map_err(|error| Error::system("look at it", path, error))?;
        if metadata.is_dir() {
            return refuse(Reason::Special("a folder"));
        }
        if !metadata.is_file() {
            return refuse(Reason::Special("a pipe or a device"));
        }
        if wish == Wish::Change && !force && !is_unchanged(path, &real, &metadata, disk)? {
            return refuse(Reason::Changed);
        }
        // Root may write to anything; what its owner made read-only is meant to stay.
        if metadata.permissions().readonly() || !is_writable(&real, path)? {
            return refuse(Reason::ReadOnly);
        }
        Ok(Self { path: path.to_path_buf(), real, metadata: Some(metadata), ceiling: NEW_FILE })
    }

    /// New files of a set are readable for nobody whom its present files keep out.
    pub(super) fn restrict_new(targets: &mut [Self]) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let present = targets.iter().filter_map(|target| target.metadata.as_ref());
            let ceiling = present.fold(NEW_FILE, |ceiling, metadata| ceiling & (metadata.mode() | 0o600));
            for target in targets {
                target.ceiling = ceiling;
            }
        }
    }

    /// Whether nothing has happened to it since it was looked at.
    fn is_as_seen(&self) -> bool {
        match (fs::metadata(&self.real), &self.metadata) {
            (Ok(now), Some(then)) => OnDisk::new(&self.real, then, 0).looks_like(&now),
            (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    fn folder(&self) -> &Path {
        match self.real.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => Path::new("/"),
        }
    }
}

/// Whether a file still is what was read or written last. A touched but equal one is.
fn is_unchanged(path: &Path, real: &Path, metadata: &Metadata, disk: &Disk) -> Result<bool, Error> {
    let Some(known) = disk.get(path) else { return Ok(false) };
    if known.looks_like(metadata) {
        return Ok(true);
    }
    if known.len != metadata.len() {
        return Ok(false);
    }
    let bytes = fs::read(real).map_err(|error| Error::system("compare", path, error))?;
    Ok(fingerprint(&bytes) == known.hash)
}

fn is_writable(real: &Path, path: &Path) -> Result<bool, Error> {
    match OpenOptions::new().write(true).open(real) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            Ok(false)
        }
        Err(error) => Err(Error::system("open for writing", path, error)),
    }
}

/// A file that is written, synced and waits to be renamed; dropped, it is removed.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) target: Target,
    pub(super) temporary: TempPath,
    /// Bytes as stored.
    pub(super) len: u64,
    /// [`fingerprint`] of them.
    pub(super) hash: u64,
}

/// Writes to a temporary file, through its gate, and keeps the hash of what went through.
pub(super) struct Sink<'g> {
    file: NamedTempFile,
    gate: &'g dyn Gate,
    hash: Fingerprint,
    len: u64,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gate.pass(Step::Write)?;
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<'g> Sink<'g> {
    /// A temporary file in the target's folder, readable for nobody else than the target is.
    pub(super) fn create(target: &Target, gate: &'g dyn Gate) -> io::Result<Self> {
        gate.pass(Step::Create)?;
        if target.metadata.is_none() {
            fs::create_dir_all(target.folder())?;
        }
        let name = target.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = format!(".{name}.");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".sited");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The system takes the umask off a new file's mode; a replaced file's mode is set when all is written.
            let mode = if target.metadata.is_none() { target.ceiling } else { 0o600 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let file = builder.tempfile_in(target.folder())?;
        Ok(Self { file, gate, hash: Fingerprint::default(), len: 0 })
    }

    /// Gives the file its target's owner and mode and syncs it.
    pub(super) fn finish(self, target: Target) -> io::Result<Staged> {
        let Self { file, gate, hash, len } = self;
        if let Some(metadata) = &target.metadata {
            take_over(file.as_file(), metadata)?;
        }
        gate.pass(Step::Sync)?;
        file.as_file().sync_all()?;
        Ok(Staged { target, temporary: file.into_temp_path(), len, hash: hash.finish() })
    }
}

/// Owner, group and mode of the file that will be replaced.
#[cfg(unix)]
fn take_over(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    let mut mode = like.mode() & 0o7777;
    if own.uid() != like.uid() && fchown(file, Some(like.uid()), None).is_err() {
        // Bits that give the owner's rights away make no sense under another owner.
        mode &= 0o0777;
    }
    if own.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err() {
        // Another group must not read what others may not.
        mode = (mode & 0o0707) | ((mode & 0o007) << 3);
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// The mode of the file that will be replaced.
#[cfg(not(unix))]
fn take_over(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

/// Puts staged files in place in this order, then removes files, then makes both lasting.
///
/// `disk` is told of each file as soon as it is in place: after an error half-way it says what is true.
pub(super) fn commit(
    staged: Vec<Staged>,
    removed: &[Target],
    disk: &mut Disk,
    force: bool,
    gate: &dyn Gate,
) -> Result<(), Error> {
    let targets = || staged.iter().map(|staged| &staged.target).chain(removed);
    if let Some(changed) = targets().find(|target| !force && !target.is_as_seen()) {
        return Err(Error::new(&changed.path, Reason::Changed));
    }
    let folders: BTreeSet<PathBuf> = targets().map(|target| target.folder().to_path_buf()).collect();
    for Staged { target, temporary, hash, .. } in staged {
        gate.pass(Step::Rename)
            .and_then(|()| temporary.persist(&target.real).map_err(|error| error.error))
            .and_then(|()| fs::metadata(&target.real))
            .map(|metadata| disk.note(OnDisk::new(&target.path, &metadata, hash)))
            .map_err(|error| Error::system("put the new file in its place", &target.path, error))?;
    }
    for target in removed {
        gate.pass(Step::Remove)
            .and_then(|()| fs::remove_file(&target.real))
            .map_err(|error| Error::system("remove", &target.path, error))?;
        disk.forget(&target.path);
    }
    for folder in folders {
        gate.pass(Step::SyncFolder)
            .and_then(|()| sync_folder(&folder))
            .map_err(|error| Error::system("make the save lasting", &folder, error))?;
    }
    Ok(())
}

/// A rename lasts only when its folder is synced. Some file systems cannot; they keep their own promises.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Two paths that lead to one file: written one after the other, the second would win.
pub(super) fn first_twice<'t>(targets: impl Iterator<Item = &'t Target>) -> Option<(&'t Path, &'t Path)> {
    let mut seen: BTreeMap<&Path, &Path> = BTreeMap::new();
    for target in targets {
        if let Some(other) = seen.insert(&target.real, &target.path) {
            return Some((other, &target.path));
        }
    }
    None
}
