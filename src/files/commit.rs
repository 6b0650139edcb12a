//! Replaces files safely: everything is written beside its target and synced first, then renamed into place.
//!
//! Invariant: an error before the first rename leaves every file as it was and no temporary file behind. Files
//! are renamed in the order given (the index last), so an index never names a part that is not there. Every
//! operation passes a [`Gate`] by its number: tests make the n-th one fail, or the process die there. Between the
//! last [`Step::Sync`] and the first [`Step::Rename`] stands the record by which an interrupted save is finished.

use super::disk::{Disk, Fingerprint, OnDisk, fingerprint};
use super::error::{Error, Reason};
use super::record::{self, Begun};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
    /// Writes down what the steps after it will do.
    Record,
    /// Crosses it out again.
    Unrecord,
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
    /// Whether the file must stay the one it is: another name leads to it too, or what is known of it beside its
    /// bytes cannot be given to another file.
    pub(super) in_place: bool,
}

/// What a new file may be read and written by, if its set says nothing stricter.
const NEW_FILE: u32 = 0o644;

impl Target {
    /// Looks at a path, follows its links, and refuses what must not be replaced.
    pub(super) fn look(path: &Path, wish: Wish, disk: &Disk, force: bool) -> Result<Self, Error> {
        let new = || {
            let path = path.to_path_buf();
            Ok(Self { real: path.clone(), path, metadata: None, ceiling: NEW_FILE, in_place: false })
        };
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
        let in_place = links(&metadata) > 1;
        Ok(Self { path: path.to_path_buf(), real, metadata: Some(metadata), ceiling: NEW_FILE, in_place })
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
        let prefix = temporary_prefix(&name);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
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
    pub(super) fn finish(self, mut target: Target) -> io::Result<Staged> {
        let Self { file, gate, hash, len } = self;
        if let Some(metadata) = &target.metadata
            && !target.in_place
        {
            target.in_place = !take_over(file.as_file(), metadata, &target.real)?;
        }
        gate.pass(Step::Sync)?;
        file.as_file().sync_all()?;
        Ok(Staged { target, temporary: file.into_temp_path(), len, hash: hash.finish() })
    }
}

/// Gives a file the owner, group, mode and extended attributes (access control lists are some) of the one that it
/// will replace. Whether all of that was possible.
#[cfg(unix)]
fn take_over(file: &File, like: &Metadata, real: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    use xattr::FileExt;
    let own = file.metadata()?;
    if (own.uid() != like.uid() && fchown(file, Some(like.uid()), None).is_err())
        || (own.gid() != like.gid() && fchown(file, None, Some(like.gid())).is_err())
    {
        return Ok(false);
    }
    file.set_permissions(fs::Permissions::from_mode(like.mode() & 0o7777))?;
    // Where the file system has none there are none to keep.
    let Ok(names) = xattr::list(real) else { return Ok(true) };
    for name in names {
        let Ok(Some(value)) = xattr::get(real, &name) else { return Ok(false) };
        // Some have been given by the system to the new file as well.
        if file.get_xattr(&name).ok().flatten().as_ref() != Some(&value) && file.set_xattr(&name, &value).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives a file the mode of the one that it will replace.
#[cfg(not(unix))]
fn take_over(file: &File, like: &Metadata, _: &Path) -> io::Result<bool> {
    file.set_permissions(like.permissions())?;
    Ok(true)
}

/// How many names a file has.
fn links(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    let links = std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let links = {
        let _ = metadata;
        1
    };
    links
}

/// The end of the name of every temporary file.
const SUFFIX: &str = ".sited";

/// How the name of a temporary file begins: hidden, with the file's name and the number of this process.
pub(super) fn temporary_prefix(name: &str) -> String {
    format!(".{name}.{}-", std::process::id())
}

/// Removes temporary files whose process is dead. What cannot be removed stays: it does no harm.
pub(super) fn sweep(folder: &Path) {
    // While a record is there, its temporary files are the new content.
    if record::is_there(folder) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let process = name
            .strip_prefix('.')
            .and_then(|name| name.strip_suffix(SUFFIX))
            .and_then(|name| name.rsplit_once('.'))
            .and_then(|(_, end)| end.split_once('-'))
            .and_then(|(process, _)| process.parse::<u32>().ok());
        if process.is_some_and(|process| process != std::process::id() && !is_alive(process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a process of this number runs.
fn is_alive(process: u32) -> bool {
    #[cfg(unix)]
    let alive = rustix::process::Pid::from_raw(process as i32).is_some_and(|pid| {
        // Not being allowed to signal it says that it is there.
        rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
    });
    #[cfg(not(unix))]
    let alive = {
        let _ = process;
        true
    };
    alive
}

/// Puts staged files in place in this order, then removes files, then makes both lasting.
///
/// Where that takes more than one step, a record of all of them is written to `home` first: whoever comes next
/// finishes what a crash or an error leaves. `disk` is told of each file as soon as it is in place: after an error
/// half-way it says what is true.
pub(super) fn commit(
    staged: Vec<Staged>,
    removed: &[Target],
    disk: &mut Disk,
    (home, force): (&Path, bool),
    gate: &dyn Gate,
) -> Result<(), Error> {
    let targets = || staged.iter().map(|staged| &staged.target).chain(removed);
    if let Some(changed) = targets().find(|target| !force && !target.is_as_seen()) {
        return Err(Error::new(&changed.path, Reason::Changed));
    }
    let folders: BTreeSet<PathBuf> = targets().map(|target| target.folder().to_path_buf()).collect();
    let is_several = staged.len() + removed.len() > 1 || targets().any(|target| target.in_place);
    let record = (is_several || record::is_there(home))
        .then(|| Begun::new(home, (&staged, removed), disk, gate))
        .transpose()
        .map_err(|error| Error::system("write down the save", home, error))?;
    let mut staged = VecDeque::from(staged);
    let done = place_all(&mut staged, removed, disk, gate).and_then(|()| {
        folders.iter().try_for_each(|folder| {
            gate.pass(Step::SyncFolder)
                .and_then(|()| sync_folder(folder))
                .map_err(|error| Error::system("make the save lasting", folder, error))
        })
    });
    match (record, done) {
        (None, done) => done,
        (Some(record), Ok(())) => {
            record.end(gate).map_err(|error| Error::system("cross out the record of the save", home, error))
        }
        (Some(_), Err(error)) => {
            // The record names them: they are the rest of the save.
            for Staged { temporary, .. } in staged {
                let _ = temporary.keep();
            }
            Err(error)
        }
    }
}

/// Takes out of `staged` each file that is in its place.
fn place_all(staged: &mut VecDeque<Staged>, removed: &[Target], disk: &mut Disk, gate: &dyn Gate) -> Result<(), Error> {
    while let Some(Staged { target, temporary, len, hash }) = staged.pop_front() {
        let failed = |error| Error::system("put the new file in its place", &target.path, error);
        let placed = gate.pass(Step::Rename).and_then(|()| {
            if target.in_place {
                record::copy_into(&temporary, &target.real)
            } else {
                fs::rename(&temporary, &target.real)
            }
        });
        if let Err(error) = placed {
            let error = failed(error);
            staged.push_front(Staged { target, temporary, len, hash });
            return Err(error);
        }
        if !target.in_place {
            // There is nothing left of it to remove.
            let _ = temporary.keep();
        }
        let metadata = fs::metadata(&target.real).map_err(failed)?;
        disk.note(OnDisk::new(&target.path, &metadata, hash));
    }
    for target in removed {
        gate.pass(Step::Remove)
            .and_then(|()| fs::remove_file(&target.real))
            .map_err(|error| Error::system("remove", &target.path, error))?;
        disk.forget(&target.path);
    }
    Ok(())
}

/// A rename lasts only when its folder is synced. Some file systems cannot; they keep their own promises.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
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
