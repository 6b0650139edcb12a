//! Executes a save: writes and syncs temporary files, then renames them over their targets.
//!
//! Invariant: an error before the first rename leaves every file as it was and no temporary file behind. Files
//! are renamed in the order given (the index last), so an index never names a part that is not there. Every
//! operation passes a [`Gate`] by its number: tests make the n-th one fail, or the process die there. Between the
//! last [`FsOperation::Sync`] and the first [`FsOperation::Rename`] stands the record by which an interrupted save is finished.

use super::disk::{Disk, Fingerprint, OnDisk, fingerprint};
use super::error::{Error, Reason};
use super::external_changes;
use super::record::{self, CommitIntent, WrittenRecord};
use super::replace_target::{ReplaceTarget, take_over};
use super::{in_place, trust};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// An operation that changes the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FsOperation {
    Create,
    Write,
    Sync,
    Rename,
    Remove,
    SyncFolder,
    /// Copy a file that will be replaced.
    Backup,
    /// Preallocates the disk space for bytes that are copied into a file.
    Reserve,
    /// Write bytes into a file that is overwritten in place.
    Copy,
    /// Write the commit record.
    Record,
    /// Remove the commit record.
    Unrecord,
}

/// Hook before each operation, for fault injection in tests.
pub(super) trait Gate: Sync {
    fn pass(&self, step: FsOperation) -> io::Result<()>;

    /// Writes; in tests perhaps fewer bytes than it returns.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        self.pass(FsOperation::Write)?;
        file.write(bytes)
    }
}

/// Allows every operation.
pub(super) struct AllowAll;

impl Gate for AllowAll {
    fn pass(&self, _: FsOperation) -> io::Result<()> {
        Ok(())
    }
}

/// Does one operation, again whenever a signal interrupts it.
pub(super) fn attempt<T>(gate: &dyn Gate, step: FsOperation, mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match gate.pass(step).and_then(|()| work()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// A file that is written, synced and waits to be renamed; dropped, it is removed.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) target: ReplaceTarget,
    pub(super) temporary: TempPath,
    /// Bytes as stored.
    pub(super) len: u64,
    /// [`fingerprint`] of them.
    pub(super) hash: u64,
}

/// Writes to a temporary file, through its gate, and keeps the hash of what went through.
pub(super) struct TempFile<'g> {
    file: NamedTempFile,
    gate: &'g dyn Gate,
    hash: Fingerprint,
    len: u64,
}

impl Write for TempFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = loop {
            match self.gate.write(self.file.as_file_mut(), bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written?,
            }
        };
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<'g> TempFile<'g> {
    /// A temporary file in the target's folder, readable for nobody else than the target is. `set_folder` is the folder
    /// where a record of the save would be.
    pub(super) fn create(target: &ReplaceTarget, set_folder: &Path, gate: &'g dyn Gate) -> io::Result<Self> {
        let name = target.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = temporary_prefix(&name);
        let mut builder = tempfile::Builder::new();
        let suffix = if target.folder().starts_with(set_folder) { SUFFIX.to_owned() } else { far(set_folder) };
        builder.prefix(&prefix).suffix(&suffix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The system takes the umask off a new file's mode; a replaced file's mode is set when all is written.
            let mode = if target.metadata.is_none() { target.ceiling } else { 0o600 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let file = attempt(gate, FsOperation::Create, || builder.tempfile_in(target.folder()))?;
        Ok(Self { file, gate, hash: Fingerprint::default(), len: 0 })
    }

    /// Gives the file its target's owner and mode and syncs it.
    pub(super) fn finish(self, target: ReplaceTarget) -> io::Result<Staged> {
        let gate = self.gate;
        let (staged, file) = self.close(target)?;
        attempt(gate, FsOperation::Sync, || file.sync_all())?;
        Ok(staged)
    }

    /// Gives the file its target's owner and mode. It is still to be synced.
    pub(super) fn close(self, mut target: ReplaceTarget) -> io::Result<(Staged, File)> {
        let Self { file, hash, len, .. } = self;
        if let Some(metadata) = &target.metadata
            && !target.in_place
        {
            target.in_place = !take_over(file.as_file(), metadata, &target.real)?;
        }
        let (file, temporary) = file.into_parts();
        Ok((Staged { target, temporary, len, hash: hash.finish() }, file))
    }
}

/// The end of the name of every temporary file.
pub(super) const SUFFIX: &str = ".sited";

/// The same where the record of its save would be in another branch of folders, with a number for that folder: only who
/// knows that there is no record can know that it will not be needed.
fn far(set_folder: &Path) -> String {
    format!(".{:08x}.far{SUFFIX}", fingerprint(set_folder.as_os_str().as_encoded_bytes()) as u32)
}

/// How the name of a temporary file begins: hidden, with the file's name and the number of this process.
pub(super) fn temporary_prefix(name: &str) -> String {
    format!(".{}.{}-", stem(name), std::process::id())
}

/// Bytes of a file's name that its temporary files repeat: with everything else they stay below what file systems allow
/// (255 bytes, 143 where names are encrypted).
const STEM: usize = 90;

/// A file's name as its temporary files have it. Long names are cut and made unique with a hash.
pub(super) fn stem(name: &str) -> Cow<'_, str> {
    if name.len() <= STEM {
        return name.into();
    }
    let end = (0..=STEM - 9).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    format!("{}~{:08x}", &name[..end], fingerprint(name.as_bytes()) as u32).into()
}

/// Whether a name is that of a temporary file for a target, made by any process.
pub(super) fn is_temporary_of(temporary: &OsStr, target: &OsStr) -> bool {
    let (temporary, target) = (temporary.to_string_lossy(), target.to_string_lossy());
    let rest = temporary.strip_prefix('.').and_then(|rest| rest.strip_prefix(&*stem(&target)));
    let rest = rest.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some((process, random)) = rest.and_then(|rest| rest.split_once('-')) else { return false };
    // Of a target in another folder than the record: `.HASH.far`.
    let random = random.strip_suffix(".far").map_or(random, |random| random.rsplit_once('.').map_or("", |(r, _)| r));
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes temporary files of dead processes. Files that cannot be removed stay and are harmless.
pub(super) fn sweep(folder: &Path) {
    // While a record is there, its temporary files are the new content; it speaks of the folders below its own too.
    if folder.ancestors().any(record::is_there) {
        return;
    }
    remove_dead(folder, |name| name.strip_suffix(SUFFIX)?.rsplit_once('.').map(|(_, end)| end));
}

/// The same for files that lie elsewhere than their set, whose record would be in `set_folder` (a path without links). Each
/// folder is read once, however many of them it holds.
pub(super) fn sweep_far(reals: &[PathBuf], set_folder: &Path) {
    if reals.is_empty() || set_folder.ancestors().any(record::is_there) {
        return;
    }
    let suffix = far(set_folder);
    let mut folders: BTreeMap<&Path, BTreeSet<String>> = BTreeMap::new();
    for real in reals {
        let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { continue };
        folders.entry(folder).or_default().insert(stem(&name.to_string_lossy()).into_owned());
    }
    for (folder, stems) in folders {
        // The number of a process and what follows it have no full stop.
        remove_dead(folder, |name| {
            let (stem, process) = name.strip_suffix(&suffix)?.rsplit_once('.')?;
            stems.contains(stem).then_some(process)
        });
    }
}

/// Removes the hidden files of a folder in whose name `process` finds the number of a dead process, up to a hyphen.
fn remove_dead(folder: &Path, process: impl Fn(&str) -> Option<&str>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let process = name.strip_prefix('.').and_then(&process).and_then(|end| end.split_once('-'));
        let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
        let is_own = || entry.metadata().is_ok_and(|metadata| trust::check_own(&metadata).is_ok());
        if process.is_some_and(|process| process != std::process::id() && !is_alive(process)) && is_own() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Temporary files of this process for these targets that are still there: after an error there should be none.
pub(super) fn leftover_files<'t>(reals: impl Iterator<Item = &'t Path>) -> Vec<PathBuf> {
    let mut folders: BTreeMap<&Path, BTreeSet<String>> = BTreeMap::new();
    for real in reals {
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let stems = folders.entry(real.parent().unwrap_or(Path::new("."))).or_default();
        stems.insert(stem(&name).into_owned());
    }
    let process = format!(".{}-", std::process::id());
    let mut left = Vec::new();
    for (folder, stems) in folders {
        let is_ours = |name: &str| {
            let stem = name.strip_prefix('.').and_then(|name| name.rsplit_once(&process));
            stem.is_some_and(|(stem, _)| stems.contains(stem))
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| is_ours(&entry.file_name().to_string_lossy()));
        left.extend(ours.map(|entry| entry.path()).filter(|path| fs::remove_file(path).is_err()));
    }
    left
}

/// Folders that were made for a save; those that are still empty when it is given up go again.
#[derive(Debug, Default)]
pub(super) struct Folders(Vec<PathBuf>);

impl Folders {
    /// Makes a folder with all that is missing above it.
    pub(super) fn make(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing: Vec<&Path> = missing.collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.0.push(folder.to_path_buf());
        }
        Ok(())
    }

    /// The folders in which they are.
    fn parents(&self) -> impl Iterator<Item = PathBuf> {
        let parent = |folder: &PathBuf| folder.parent().map(Path::to_path_buf);
        self.0.iter().filter_map(parent).map(|parent| if parent.as_os_str().is_empty() { ".".into() } else { parent })
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // Not if there is something in it.
            let _ = fs::remove_dir(folder);
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

/// The renames and removals of a save, and the folder of its commit record.
pub(super) struct Commit<'a> {
    /// The file that the set is opened by.
    pub(super) main: &'a Path,
    /// The folder of that file, without links.
    pub(super) set_folder: &'a Path,
    /// The files that go.
    pub(super) removed: &'a [ReplaceTarget],
    /// The folders that were made for the new files.
    pub(super) made: &'a Folders,
    /// The user's state folder, whose key authenticates the record.
    pub(super) state: Option<&'a Path>,
}

/// Puts staged files in place in this order, then removes files, then makes both lasting.
///
/// Where that takes more than one step, a commit record is written to the set's folder first: whoever comes next
/// finishes what a crash or an error leaves. `disk` is updated for each file as soon as it is in place: after an error
/// half-way it says what is true.
pub(super) fn commit(staged: Vec<Staged>, commit: &Commit<'_>, disk: &mut Disk, gate: &dyn Gate) -> Result<(), Error> {
    let Commit { main, set_folder, removed, made, state } = *commit;
    let targets = || staged.iter().map(|staged| &staged.target).chain(removed);
    if let Some(changed) = targets().find(|target| !target.is_as_seen()) {
        return Err(Error::new(&changed.path, Reason::Changed));
    }
    reserve(&staged, gate)?;
    let mut folders: BTreeSet<PathBuf> = targets().map(|target| target.folder().to_path_buf()).collect();
    folders.extend(made.parents());
    let is_several = staged.len() + removed.len() > 1 || targets().any(|target| target.in_place);
    let record = if is_several || record::is_there(set_folder) {
        let intent = CommitIntent { main, staged: &staged, removed, supersedes: disk.is_unfinished(), state };
        match WrittenRecord::new(set_folder, intent, gate) {
            Ok(begun) => Some(begun),
            Err((error, stays)) => {
                if stays {
                    disk.leave_unfinished();
                    keep(staged);
                    return Err(Error::new(
                        set_folder,
                        Reason::Unfinished { act: "write the commit record of", source: error },
                    ));
                }
                return Err(match error.kind() {
                    io::ErrorKind::AlreadyExists => Error::new(set_folder, Reason::Saving),
                    _ => Error::system("write the commit record of", set_folder, error),
                });
            }
        }
    } else {
        None
    };
    let mut staged = VecDeque::from(staged);
    let done = place_all(&mut staged, removed, disk, gate).and_then(|()| {
        folders.iter().try_for_each(|folder| {
            attempt(gate, FsOperation::SyncFolder, || sync_folder(folder))
                .map_err(|error| Error::system("sync the save, which may not survive a crash", folder, error))
        })
    });
    if record.is_some() {
        disk.leave_unfinished();
    }
    match (record, done) {
        (None, done) => done,
        (Some(record), Ok(())) => {
            let failed =
                |source| Error::new(set_folder, Reason::Unfinished { act: "remove the commit record of", source });
            record.end(gate).map_err(failed)
        }
        (Some(_), Err(error)) => {
            keep(staged);
            Err(error.unfinished())
        }
    }
}

/// Leaves the rest of a save where it is: a record names it.
fn keep(staged: impl IntoIterator<Item = Staged>) {
    for Staged { temporary, .. } in staged {
        let _ = temporary.keep();
    }
}

/// Preallocates disk space for files that are overwritten in place: once that has begun, a full disk would leave one of
/// them half written.
fn reserve(staged: &[Staged], gate: &dyn Gate) -> Result<(), Error> {
    for file in staged.iter().filter(|file| file.target.in_place) {
        attempt(gate, FsOperation::Reserve, || allocate(&file.target.real, file.len))
            .map_err(|error| Error::system("reserve space for the new bytes", &file.target.path, error))?;
    }
    Ok(())
}

/// Preallocates disk space for a file, which keeps its length and content. Does nothing where the file system cannot.
#[cfg(target_os = "linux")]
fn allocate(path: &Path, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let file = File::options().write(true).open(path)?;
    match fallocate(&file, FallocateFlags::KEEP_SIZE, 0, len.max(1)).map_err(io::Error::from) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::Interrupted
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &Path, _: u64) -> io::Result<()> {
    Ok(())
}

/// Takes out of `staged` each file that is in its place.
fn place_all(
    staged: &mut VecDeque<Staged>,
    removed: &[ReplaceTarget],
    disk: &mut Disk,
    gate: &dyn Gate,
) -> Result<(), Error> {
    while let Some(Staged { target, temporary, len, hash }) = staged.pop_front() {
        let failed = |error| Error::system("rename the new file over the old one", &target.path, error);
        let placed = attempt(gate, FsOperation::Rename, || {
            if target.in_place {
                overwrite(&temporary, &target.real, gate)
            } else {
                fs::rename(&temporary, &target.real)
            }
        });
        if let Err(error) = placed {
            let error = failed(error);
            if target.in_place {
                // Perhaps a part of it is new: known as it is, it can be written again.
                note_as_it_is(&target, disk);
            }
            staged.push_front(Staged { target, temporary, len, hash });
            return Err(error);
        }
        if !target.in_place {
            // There is nothing left of it to remove.
            let _ = temporary.keep();
        }
        let looked = fs::metadata(&target.real);
        let metadata = looked
            .map_err(|error| Error::system("look at the new file, which is in its place", &target.path, error))?;
        disk.note_mid_save(OnDisk::new(&target.path, &metadata, hash));
    }
    for target in removed {
        attempt(gate, FsOperation::Remove, || fs::remove_file(&target.real))
            .map_err(|error| Error::system("remove", &target.path, error))?;
        disk.forget(&target.path);
    }
    Ok(())
}

/// Overwrites a file in place with the bytes of another.
fn overwrite(from: &Path, into: &Path, gate: &dyn Gate) -> io::Result<()> {
    in_place::copy(&mut File::open(from)?, &mut File::options().write(true).open(into)?, gate)
}

fn note_as_it_is(target: &ReplaceTarget, disk: &mut Disk) {
    if let (Ok(metadata), Ok(hash)) = (fs::metadata(&target.real), external_changes::hash(&target.real)) {
        disk.note_mid_save(OnDisk::new(&target.path, &metadata, hash));
    }
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
