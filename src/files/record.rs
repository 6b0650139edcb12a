//! The commit record: what a save of several files will have done, written before it does the first of it.
//!
//! Invariant: while a record is there, all that it names can be finished: each new file waits beside its target or
//! is in place already. Whoever opens the set next finishes it, so that a set is wholly old or wholly new again
//! after any crash. The saving process holds a lock on the record, which dies with it; a record that is locked is
//! left alone. Hashes are XXH3 (64 bits) of stored bytes: they guard against accidents, not against forgers.

use super::commit::{Gate, Staged, Step, Target, sync_folder};
use super::disk::{Disk, fingerprint};
use super::error::{Error, Reason};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
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
    /// What it replaces, as far as that was read; whatever is there, if not.
    old: Option<Content>,
    /// Whether the bytes are copied into the file instead of taking its place.
    in_place: bool,
}

/// One file that goes.
#[derive(Debug, Serialize, Deserialize)]
struct Removal {
    target: Name,
    old: Option<Content>,
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
    /// Writes down what will be done. From here on it will be done, by this process or by another one.
    pub(super) fn new(
        folder: &Path,
        (staged, removed): (&[Staged], &[Target]),
        disk: &Disk,
        gate: &dyn Gate,
    ) -> io::Result<Self> {
        let folder = &folder.canonicalize()?;
        let old = |target: &Target| disk.get(&target.path).map(|known| Content { len: known.len, hash: known.hash });
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
                })
                .collect(),
            removed: removed
                .iter()
                .map(|target| Removal { target: Name::of(&target.real, folder), old: old(target) })
                .collect(),
        };
        let path = folder.join(NAME);
        // The record of an earlier save that failed half-way: this one writes whatever that one did not.
        let superseded = read(&path).map_or_else(|_| Vec::new(), |record| record.temporaries(folder));
        gate.pass(Step::Record)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o600));
        }
        let mut file = builder.prefix(&super::commit::temporary_prefix(NAME)).suffix(".sited").tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec_pretty(&record)?)?;
        file.as_file().sync_all()?;
        let lock = file.as_file().try_clone()?;
        lock.try_lock().map_err(io::Error::from)?;
        file.persist(&path).map_err(|error| error.error)?;
        sync_folder(folder)?;
        Ok(Self { path, _file: lock, superseded })
    }

    /// All is done: the record goes.
    pub(super) fn end(self, gate: &dyn Gate) -> io::Result<()> {
        gate.pass(Step::Unrecord)?;
        fs::remove_file(&self.path)?;
        for left in &self.superseded {
            // Renamed meanwhile, or never there.
            let _ = fs::remove_file(left);
        }
        sync_folder(self.path.parent().unwrap_or(Path::new("")))
    }
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
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(own) = folder.canonicalize() else { return Ok(None) };
    let mut finished = None;
    for folder in own.ancestors() {
        let record = folder.join(NAME);
        if !record.exists() || (folder != own && !names(&record, folder, path)) {
            continue;
        }
        finished = finish(&record, folder)?.or(finished);
    }
    super::commit::sweep(&own);
    Ok(finished)
}

/// Whether a record speaks of a file.
fn names(record: &Path, folder: &Path, path: &Path) -> bool {
    let (Ok(record), Ok(path)) = (read(record), path.canonicalize()) else { return false };
    let targets = record.files.iter().map(|file| &file.target).chain(record.removed.iter().map(|file| &file.target));
    targets.into_iter().any(|target| target.path(folder) == path)
}

fn finish(path: &Path, folder: &Path) -> Result<Option<Finished>, Error> {
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
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    if !path.exists() {
        return Ok(None);
    }
    let record = read(path).map_err(failed)?;
    let pending = record.pending(path, folder)?;
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for file in pending {
        let (temporary, target) = (file.temporary.path(folder), file.target.path(folder));
        if file.in_place {
            copy_into(&temporary, &target).and_then(|()| fs::remove_file(&temporary)).map_err(failed)?;
        } else {
            fs::rename(&temporary, &target).map_err(failed)?;
        }
        folders.extend(target.parent().map(Path::to_path_buf));
    }
    let mut removed = 0;
    for file in &record.removed {
        let target = file.target.path(folder);
        // What somebody else has put there since is theirs.
        if content(&target).is_ok_and(|now| file.old.is_none_or(|old| now == Some(old))) && target.exists() {
            fs::remove_file(&target).map_err(failed)?;
            removed += 1;
        }
        folders.extend(target.parent().map(Path::to_path_buf));
    }
    for folder in &folders {
        sync_folder(folder).map_err(failed)?;
    }
    fs::remove_file(path).and_then(|()| sync_folder(folder)).map_err(failed)?;
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
            let is_old = there.is_none() || file.old.is_none() || there == file.old;
            if is_ready && !is_old && there != Some(file.new) && !file.in_place {
                return stop(&target, "was changed by somebody else meanwhile");
            }
            if is_ready {
                pending.push(file);
            }
        }
        Ok(pending)
    }
}

/// What a file holds; `None` when it is not there.
fn content(path: &Path) -> io::Result<Option<Content>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(Content { len: bytes.len() as u64, hash: fingerprint(&bytes) })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts one file's bytes into another, which stays the file it is.
pub(super) fn copy_into(from: &Path, into: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let mut into = OpenOptions::new().write(true).truncate(false).open(into)?;
    let mut buffer = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        into.write_all(buffer.get(..read).unwrap_or_default())?;
        len += read as u64;
    }
    // Longer than before is safe first: the old end goes only when all that is new is there.
    into.set_len(len)?;
    into.rewind()?;
    into.sync_all()
}
