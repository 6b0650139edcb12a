//! The commit record: what a save of several files will have done, written before it does the first of it.
//!
//! Invariant: while a record is there, all that it names can be finished: each new file waits beside its target or
//! is in place already. Whoever opens the set next finishes it, so that a set is wholly old or wholly new again
//! after any crash. The saving process holds a lock on the record, which dies with it; a record that is locked is
//! left alone. Hashes are XXH3 (64 bits) of stored bytes: they guard against accidents, not against forgers.

use super::commit::{self, Gate, Open, SUFFIX, Staged, Step, attempt, sync_folder};
use super::disk::identity;
use super::error::{Error, Reason};
use super::outside;
use super::target::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Its name, in the folder of the file that the set is opened by.
const NAME: &str = ".sited.commit";

/// The form of record that this program writes and can finish.
const VERSION: u32 = 1;

/// How long another process that is saving this very moment is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks at its lock.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    files: Vec<Replacement>,
    removed: Vec<Removal>,
}

/// One file that gets new bytes.
#[derive(Debug, Serialize, Deserialize)]
struct Replacement {
    temporary: Name,
    target: Name,
    new: Content,
    /// What it replaces; nothing where it is new.
    old: Option<Content>,
    /// Whether the bytes are copied into the file instead of taking its place.
    in_place: bool,
    /// What the temporary file is, where the target is not in the record's folder.
    stamp: Option<Stamp>,
}

/// One file that goes.
#[derive(Debug, Serialize, Deserialize)]
struct Removal {
    target: Name,
    old: Option<Content>,
    /// What it is, where it is not in the record's folder.
    stamp: Option<Stamp>,
}

/// What no other file has, and nobody can know before it is there: a record that came with somebody else's folder
/// may speak of files in that folder, and of no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    device: u64,
    inode: u64,
    /// When the system last changed anything about it: seconds since 1970 and nanoseconds.
    changed: (i64, i64),
}

impl Stamp {
    /// That of a file; `None` where the system has none, or there is no such file.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok()?;
        #[cfg(unix)]
        let stamp = {
            use std::os::unix::fs::MetadataExt;
            let changed = (metadata.ctime(), metadata.ctime_nsec());
            Some(Self { device: metadata.dev(), inode: metadata.ino(), changed })
        };
        #[cfg(not(unix))]
        let stamp = {
            let _ = metadata;
            None
        };
        stamp
    }

    /// The same for a file that belongs to a target outside of a folder.
    fn outside(path: &Path, target: &Path, folder: &Path) -> Option<Self> {
        if is_inside(target, folder) { None } else { Self::of(path) }
    }
}

/// Whether a path leads to a place in a folder (which has no links in it), and to no link there.
fn is_inside(target: &Path, folder: &Path) -> bool {
    let is_plain = target.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
    let parent = target.parent().and_then(|parent| parent.canonicalize().ok());
    is_plain && !target.is_symlink() && parent.is_some_and(|parent| parent.starts_with(folder))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    len: u64,
    hash: u64,
}

/// A path below the record's folder, or an absolute one. Not every path is text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

impl Name {
    fn of(path: &Path, folder: &Path) -> Self {
        let path = path.strip_prefix(folder).unwrap_or(path);
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
        }
    }

    fn path(&self, folder: &Path) -> PathBuf {
        match self {
            Self::Text(text) => folder.join(text),
            #[cfg(unix)]
            Self::Bytes(bytes) => {
                use std::os::unix::ffi::OsStrExt;
                folder.join(std::ffi::OsStr::from_bytes(bytes))
            }
            #[cfg(not(unix))]
            Self::Bytes(bytes) => folder.join(String::from_utf8_lossy(bytes).as_ref()),
        }
    }
}

/// A record that is on disk and locked; dropped, it stays there unlocked, to be finished by whoever comes next.
#[derive(Debug)]
pub(super) struct Begun {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
    /// Temporary files of an earlier save that this one takes the place of.
    superseded: Vec<PathBuf>,
}

/// Whether a record lies beside the file that a set is opened by.
pub(super) fn is_there(folder: &Path) -> bool {
    folder.join(NAME).exists()
}

impl Begun {
    /// Writes down what will be done. From here on it will be done, by this process or by another one. Only a record of
    /// this session's own may be taken the place of (`supersedes`).
    ///
    /// # Errors
    /// With whether the record stays nevertheless: then what it names must stay too.
    pub(super) fn new(
        folder: &Path,
        (staged, removed): (&[Staged], &[Target]),
        supersedes: bool,
        gate: &dyn Gate,
    ) -> Result<Self, (io::Error, bool)> {
        let (path, lock, superseded) =
            Self::write(folder, (staged, removed), supersedes, gate).map_err(|error| (error, false))?;
        if let Err(error) = attempt(gate, Step::SyncFolder, || sync_folder(path.parent().unwrap_or(Path::new("")))) {
            // Renames might last and the record not: nothing may follow.
            let stays = !superseded.is_empty() || fs::remove_file(&path).is_err();
            return Err((error, stays));
        }
        Ok(Self { path, _file: lock, superseded })
    }

    fn write(
        folder: &Path,
        (staged, removed): (&[Staged], &[Target]),
        supersedes: bool,
        gate: &dyn Gate,
    ) -> io::Result<(PathBuf, File, Vec<PathBuf>)> {
        let folder = &folder.canonicalize()?;
        // What was there when it was looked at, known to this program or not.
        let old = |target: &Target| {
            let hash = target.hash?;
            target.metadata.as_ref().map(|metadata| Content { len: metadata.len(), hash })
        };
        let record = Record {
            version: VERSION,
            files: staged
                .iter()
                .map(|file| Replacement {
                    temporary: Name::of(&file.temporary, folder),
                    target: Name::of(&file.target.real, folder),
                    new: Content { len: file.len, hash: file.hash },
                    old: old(&file.target),
                    in_place: file.target.in_place,
                    stamp: Stamp::outside(&file.temporary, &file.target.real, folder),
                })
                .collect(),
            removed: removed
                .iter()
                .map(|target| Removal {
                    target: Name::of(&target.real, folder),
                    old: old(target),
                    stamp: Stamp::outside(&target.real, &target.real, folder),
                })
                .collect(),
        };
        let path = folder.join(NAME);
        // The record of an earlier save that failed half-way: this one writes whatever that one did not.
        let earlier = supersedes.then(|| read(&path).ok()).flatten();
        let superseded = earlier.map_or_else(Vec::new, |record| record.temporaries(folder));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o600));
        }
        let prefix = commit::temporary_prefix(NAME);
        builder.prefix(&prefix).suffix(SUFFIX);
        let mut file = attempt(gate, Step::Record, || builder.tempfile_in(folder))?;
        file.write_all(&serde_json::to_vec_pretty(&record)?)?;
        attempt(gate, Step::Sync, || file.as_file().sync_all())?;
        let lock = file.as_file().try_clone()?;
        match lock.try_lock() {
            Err(TryLockError::Error(error)) if !has_locks(&error) => {}
            other => other.map_err(io::Error::from)?,
        }
        attempt(gate, Step::Rename, || Ok(()))?;
        if supersedes {
            file.persist(&path).map_err(|error| error.error)?;
        } else {
            // Another set in this folder may be saved at this very moment.
            file.persist_noclobber(&path).map_err(|error| error.error)?;
        }
        Ok((path, lock, superseded))
    }

    /// All is done: the record goes.
    pub(super) fn end(self, gate: &dyn Gate) -> io::Result<()> {
        attempt(gate, Step::Unrecord, || fs::remove_file(&self.path))?;
        for left in &self.superseded {
            // Renamed meanwhile, or never there.
            let _ = fs::remove_file(left);
        }
        // A record that comes back because its removal did not last finds everything in place.
        let _ = attempt(gate, Step::SyncFolder, || sync_folder(self.path.parent().unwrap_or(Path::new(""))));
        Ok(())
    }
}

/// Whether an error of a lock says anything about the lock: some network file systems have none, and there the
/// record alone must do.
fn has_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    let none = {
        use rustix::io::Errno;
        let none = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL];
        none.iter().any(|none| error.raw_os_error() == Some(none.raw_os_error()))
    };
    #[cfg(not(unix))]
    let none = error.kind() == io::ErrorKind::Unsupported;
    !none
}

impl Record {
    fn temporaries(&self, folder: &Path) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.temporary.path(folder)).collect()
    }
}

fn read(path: &Path) -> io::Result<Record> {
    let record: Record = serde_json::from_slice(&fs::read(path)?)?;
    if record.version == VERSION {
        Ok(record)
    } else {
        let why = format!("it has form {}, this program knows form {VERSION}", record.version);
        Err(io::Error::new(io::ErrorKind::InvalidData, why))
    }
}

/// What was finished for somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Files that got their new bytes, in this run or before.
    pub files: usize,
    /// Files that were removed.
    pub removed: usize,
}

/// Finishes an interrupted save of the set that is opened by this path, if there is one. Then removes what dead
/// processes have left in the folder.
///
/// # Errors
/// When it cannot be finished: another process is at it, a file was changed by somebody else meanwhile, the disk
/// is full. Nothing is changed unless all of it can be.
pub fn recover(path: &Path) -> Result<Option<Finished>, Error> {
    recover_through(&Open, path)
}

pub(super) fn recover_through(gate: &dyn Gate, path: &Path) -> Result<Option<Finished>, Error> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(own) = folder.canonicalize() else { return Ok(None) };
    let mut finished = None;
    for folder in own.ancestors() {
        let record = folder.join(NAME);
        if !record.exists() || (folder != own && !names(&record, folder, path)) {
            continue;
        }
        finished = finish(&record, folder, gate)?.or(finished);
    }
    commit::sweep(&own);
    if path.is_symlink()
        && let Ok(real) = path.canonicalize()
    {
        // The record of a set that is opened by a link would lie beside the link.
        real.parent().map(commit::sweep);
        commit::sweep_far(&real, &own);
    }
    Ok(finished)
}

/// Whether a record speaks of a file.
fn names(record: &Path, folder: &Path, path: &Path) -> bool {
    let (Ok(record), Ok(path)) = (read(record), path.canonicalize()) else { return false };
    let targets = record.files.iter().map(|file| &file.target).chain(record.removed.iter().map(|file| &file.target));
    targets.into_iter().any(|target| target.path(folder) == path)
}

fn finish(path: &Path, folder: &Path, gate: &dyn Gate) -> Result<Option<Finished>, Error> {
    let failed = |error: io::Error| Error::new(path, Reason::Interrupted(format!("cannot be finished: {error}")));
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        // Whoever wrote it has finished.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::park_timeout(LOOK),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(
                    path,
                    Reason::Interrupted("is still being written by another sited".to_owned()),
                ));
            }
            Err(TryLockError::Error(error)) if !has_locks(&error) => break,
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    match fs::metadata(path).map(|there| identity(&there)) {
        Ok(there) if file.metadata().is_ok_and(|ours| identity(&ours) == there) => {}
        // Another save has written its own meanwhile.
        Ok(_) => return finish(path, folder, gate),
        Err(_) => return Ok(None),
    }
    let record = read(path).map_err(failed)?;
    let pending = record.pending(path, folder)?;
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in pending {
        let (temporary, target) = (file.temporary.path(folder), file.target.path(folder));
        let place = || {
            if file.in_place {
                copy_into(&temporary, &target, gate).and_then(|()| fs::remove_file(&temporary))
            } else {
                fs::rename(&temporary, &target)
            }
        };
        attempt(gate, Step::Rename, place).map_err(failed)?;
        folders.extend(target.parent().map(Path::to_path_buf));
    }
    let mut removed = 0;
    for file in &record.removed {
        let target = file.target.path(folder);
        // What somebody else has put there since is theirs, and so is what the record has no business with.
        if !is_inside(&target, folder) && Stamp::of(&target) != file.stamp {
            continue;
        }
        if content(&target).is_ok_and(|now| now.is_some() && now == file.old) {
            attempt(gate, Step::Remove, || fs::remove_file(&target)).map_err(failed)?;
            removed += 1;
        }
        folders.extend(target.parent().map(Path::to_path_buf));
    }
    for folder in &folders {
        attempt(gate, Step::SyncFolder, || sync_folder(folder)).map_err(failed)?;
    }
    attempt(gate, Step::Unrecord, || fs::remove_file(path)).and_then(|()| sync_folder(folder)).map_err(failed)?;
    Ok(Some(Finished { files: record.files.len(), removed }))
}

impl Record {
    /// The files that are not in place yet. An error if one of them cannot be put there: then none may.
    fn pending(&self, path: &Path, folder: &Path) -> Result<Vec<&Replacement>, Error> {
        let stop = |target: &Path, why: &str| {
            let why = format!("cannot be finished: {} {why}", target.display());
            Err(Error::new(path, Reason::Interrupted(why)))
        };
        let look = |at: &Path| content(at).map_err(|error| Error::system("look at it", at, error));
        let mut pending = Vec::new();
        for file in &self.files {
            let target = file.target.path(folder);
            let is_ready = look(&file.temporary.path(folder))? == Some(file.new);
            let there = look(&target)?;
            if !is_ready && there != Some(file.new) {
                return stop(&target, "has lost its new content");
            }
            let is_old = there.is_none() || there == file.old;
            if is_ready && !is_old && there != Some(file.new) && !file.in_place {
                return stop(&target, "was changed by somebody else meanwhile");
            }
            if is_ready {
                let temporary = file.temporary.path(folder);
                let is_own = is_inside(&target, folder) && is_inside(&temporary, folder);
                if !is_own && (file.stamp.is_none() || Stamp::of(&temporary) != file.stamp) {
                    return stop(
                        &target,
                        "is in another folder, and the file for it is not the one that was put beside it",
                    );
                }
                pending.push(file);
            }
        }
        Ok(pending)
    }
}

/// What a file holds; `None` when it is not there.
fn content(path: &Path) -> io::Result<Option<Content>> {
    let content = || -> io::Result<Content> {
        let len = fs::metadata(path)?.len();
        Ok(Content { len, hash: outside::hash(path)? })
    };
    match content() {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Bytes that are copied at once: few in tests, so that a copy is many operations.
const PIECE: usize = if cfg!(test) { 100 } else { 1 << 20 };

/// Puts one file's bytes into another, which stays the file it is.
pub(super) fn copy_into(from: &Path, into: &Path, gate: &dyn Gate) -> io::Result<()> {
    let mut from = File::open(from)?;
    let mut into = OpenOptions::new().write(true).truncate(false).open(into)?;
    let mut buffer = vec![0; PIECE];
    let mut len = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        // A signal interrupts it before the first byte or not at all: what was written is never written again.
        attempt(gate, Step::Copy, || Ok(()))?;
        into.write_all(buffer.get(..read).unwrap_or_default())?;
        len += read as u64;
    }
    // Longer than before is safe first: the old end goes only when all that is new is there.
    into.set_len(len)?;
    attempt(gate, Step::Sync, || into.sync_all())
}
