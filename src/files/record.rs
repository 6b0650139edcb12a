//! The commit record: the steps of a save of several files, written before its first rename.
//!
//! Invariant: as long as a record exists, each new file that it names is beside its target or has replaced it, so that
//! the next process that opens the set can finish the save. The saving process holds a lock on the record; the lock
//! ends with the process. A record begins with an authentication code made with a key that only this user has: records
//! of others are not carried out without confirmation (`recovery`). Contents are hashed with XXH3 (64 bits): that
//! detects accidents, while the code and the stamps detect forgeries.

mod key;
mod names;
mod recovery;

pub(super) use key::Key;
pub(super) use names::check_inside;
pub(super) use recovery::recover_all;
#[cfg(test)]
pub(super) use recovery::recover_with_gate;
pub use recovery::{Finished, PendingSave, Recovery, discard, finish, recover};

pub(crate) use recovery::{Pending, RecordAction, RecordStep as PendingStep, Recovered, inspect, pending_records};

use super::gate::{FsOperation, Gate, attempt, sync_folder};
use super::in_place::OldBlocks;
use super::replace_target::ReplaceTarget;
use super::temporary::{RECORD, SUFFIX, Staged, temporary_prefix};
use super::tree::FileStamp;
use super::trust;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The first line of a record, before the code.
const MAGIC: &str = "sited commit record";

/// The format that this program writes. Version 1 had no first line and no code.
const VERSION: u32 = 2;

/// Maximum size of a record in bytes: 50,000 files with the longest names need half of it.
const MAX_BYTES: u64 = 128 << 20;

/// The kind of file that the code of a record authenticates.
const KIND: &str = "commit record";

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    /// The real path of the folder that it was written in: a record that was moved is not authentic.
    #[serde(default)]
    folder: Option<Name>,
    /// The file that the set is opened by.
    #[serde(default)]
    set: Option<Name>,
    files: Vec<Replacement>,
    removed: Vec<Removal>,
}

/// One file that gets new bytes.
#[derive(Debug, Serialize, Deserialize)]
struct Replacement {
    temporary: Name,
    target: Name,
    new: Content,
    /// The content that it replaces; `None` if the target is new.
    old: Option<Content>,
    /// Whether the bytes are copied into the target instead of renaming the temporary file.
    in_place: bool,
    /// The old content of a file whose bytes are overwritten in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<OldBlocks>,
    /// The stamp of the temporary file.
    stamp: Option<FileStamp>,
    /// The owner of the target.
    #[serde(default)]
    owner: Option<u32>,
}

/// One file that is removed.
#[derive(Debug, Serialize, Deserialize)]
struct Removal {
    target: Name,
    old: Option<Content>,
    #[serde(default)]
    owner: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    len: u64,
    hash: u64,
}

/// A path relative to the record's folder, or an absolute one. A path that is not UTF-8 is stored as bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

    fn path(&self) -> PathBuf {
        match self {
            Self::Text(text) => PathBuf::from(text),
            #[cfg(unix)]
            Self::Bytes(bytes) => {
                use std::os::unix::ffi::OsStrExt;
                PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
            }
            #[cfg(not(unix))]
            Self::Bytes(bytes) => PathBuf::from(String::from_utf8_lossy(bytes).as_ref()),
        }
    }
}

/// What a save will do, before it is recorded.
#[derive(Clone, Copy)]
pub(super) struct CommitIntent<'a> {
    /// The file that the set is opened by.
    pub(super) main: &'a Path,
    pub(super) staged: &'a [Staged],
    pub(super) removed: &'a [ReplaceTarget],
    /// Whether it replaces an earlier save of the same session that failed after writing its record.
    pub(super) supersedes: bool,
    /// The user's state folder, which contains the key.
    pub(super) state: Option<&'a Path>,
}

/// A record that is on disk and locked. If it is dropped, it stays unlocked on disk, to be finished by the next
/// process.
#[derive(Debug)]
pub(super) struct WrittenRecord {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
    /// Temporary files of an earlier save that this one replaces.
    superseded: Vec<PathBuf>,
}

impl WrittenRecord {
    /// Writes the commit record. After that the save will be finished, by this process or another one. The record of
    /// another process is never replaced.
    ///
    /// # Errors
    /// The error, and whether the record is still on disk: then the files that it names must stay too.
    pub(super) fn new(folder: &Path, intent: CommitIntent<'_>, gate: &dyn Gate) -> Result<Self, (io::Error, bool)> {
        let begun = Self::write(folder, intent, gate).map_err(|error| (error, false))?;
        if let Err(error) = attempt(gate, FsOperation::SyncFolder, || begun.sync_folder()) {
            // After a crash the renames might be on disk and the record not, so nothing may be renamed.
            let stays = !begun.superseded.is_empty() || fs::remove_file(&begun.path).is_err();
            return Err((error, stays));
        }
        Ok(begun)
    }

    fn write(folder: &Path, intent: CommitIntent<'_>, gate: &dyn Gate) -> io::Result<Self> {
        let folder = &folder.canonicalize()?;
        let record = Record::of(folder, intent)?;
        record.check_names().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let path = folder.join(RECORD);
        // The record of an earlier save that failed: this save also writes the files that are missing from it.
        let earlier = intent.supersedes.then(|| read(&path).ok()).flatten();
        let superseded = earlier.filter(|(record, _)| record.check_names().is_ok());
        let superseded = superseded.map_or_else(Vec::new, |(record, _)| record.temporaries(folder));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o600));
        }
        let prefix = temporary_prefix(RECORD);
        builder.prefix(&prefix).suffix(SUFFIX);
        let bytes = record.bytes(intent.state)?;
        let mut file = attempt(gate, FsOperation::Record, || builder.tempfile_in(folder))?;
        file.write_all(&bytes)?;
        attempt(gate, FsOperation::Sync, || file.as_file().sync_all())?;
        let lock = file.as_file().try_clone()?;
        match lock.try_lock() {
            Err(TryLockError::Error(error)) if !has_locks(&error) => {}
            other => other.map_err(io::Error::from)?,
        }
        attempt(gate, FsOperation::Rename, || Ok(()))?;
        if intent.supersedes {
            file.persist(&path).map_err(|error| error.error)?;
        } else {
            // Another set in this folder may be saved at the same time.
            file.persist_noclobber(&path).map_err(|error| error.error)?;
        }
        Ok(Self { path, _file: lock, superseded })
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_folder(self.path.parent().unwrap_or(Path::new("")))
    }

    /// Removes the record after the save is complete.
    pub(super) fn end(self, gate: &dyn Gate) -> io::Result<()> {
        attempt(gate, FsOperation::Unrecord, || fs::remove_file(&self.path))?;
        for left in &self.superseded {
            // It may have been renamed or never written.
            let _ = fs::remove_file(left);
        }
        // If the removal is lost in a crash, the record is harmless: all its steps are done.
        let _ = attempt(gate, FsOperation::SyncFolder, || self.sync_folder());
        Ok(())
    }
}

/// Whether the file system has locks, given the error of an attempt. Some network file systems have none; there the
/// record alone has to suffice.
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
    fn of(folder: &Path, intent: CommitIntent<'_>) -> io::Result<Self> {
        // The content when the target was inspected, whether or not this program had read it.
        let old = |target: &ReplaceTarget| {
            let hash = target.hash?;
            target.metadata.as_ref().map(|metadata| Content { len: metadata.len(), hash })
        };
        let replacement = |file: &Staged| {
            let blocks = if file.target.in_place {
                Some(OldBlocks::of(&mut File::open(&file.target.real)?, file.len)?)
            } else {
                None
            };
            Ok(Replacement {
                temporary: Name::of(&file.temporary, folder),
                target: Name::of(&file.target.real, folder),
                new: Content { len: file.len, hash: file.hash },
                old: old(&file.target),
                in_place: file.target.in_place,
                blocks,
                stamp: FileStamp::of(&file.temporary)?,
                owner: owner(&file.target),
            })
        };
        let removal = |target: &ReplaceTarget| Removal {
            target: Name::of(&target.real, folder),
            old: old(target),
            owner: owner(target),
        };
        Ok(Self {
            version: VERSION,
            folder: Some(Name::of(folder, Path::new(""))),
            set: intent.main.file_name().map(|name| Name::of(Path::new(name), Path::new(""))),
            files: intent.staged.iter().map(replacement).collect::<io::Result<_>>()?,
            removed: intent.removed.iter().map(removal).collect(),
        })
    }

    /// The stored bytes of the record. Without a usable state folder it has no code, so that recovery needs
    /// confirmation.
    fn bytes(&self, state: Option<&Path>) -> io::Result<Vec<u8>> {
        let body = serde_json::to_vec_pretty(self)?;
        let key = state.and_then(|state| Key::load_or_create(state).ok());
        let code = key.map_or_else(|| "-".to_owned(), |key| key.code(KIND, &body).to_hex().to_string());
        let bytes = [format!("{MAGIC} {VERSION} {code}\n").as_bytes(), &body].concat();
        if bytes.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(trust::TrustError::TooLarge(MAX_BYTES)));
        }
        Ok(bytes)
    }

    fn temporaries(&self, folder: &Path) -> Vec<PathBuf> {
        self.files.iter().map(|file| folder.join(file.temporary.path())).collect()
    }

    fn targets(&self) -> impl Iterator<Item = &Name> {
        self.files.iter().map(|file| &file.target).chain(self.removed.iter().map(|file| &file.target))
    }
}

fn owner(target: &ReplaceTarget) -> Option<u32> {
    #[cfg(unix)]
    let owner = target.metadata.as_ref().map(std::os::unix::fs::MetadataExt::uid);
    #[cfg(not(unix))]
    let owner = {
        let _ = target;
        None
    };
    owner
}

/// Reads a record of the current user, and its code with the bytes that the code authenticates.
fn read(path: &Path) -> io::Result<(Record, Sealed)> {
    parse(trust::read_own(path, MAX_BYTES)?)
}

/// The body of a record and its code, if it has one.
struct Sealed {
    code: Option<String>,
    body: Vec<u8>,
}

fn parse(bytes: Vec<u8>) -> io::Result<(Record, Sealed)> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let newer = |version: u32| invalid(format!("its format is version {version}; this sited reads version {VERSION}"));
    let sealed = match bytes.strip_prefix(MAGIC.as_bytes()) {
        None => Sealed { code: None, body: bytes },
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(|| invalid("it is cut off".to_owned()))?;
            let (line, body) = rest.split_at(end);
            let line = String::from_utf8_lossy(line);
            let mut words = line.split_whitespace();
            let version = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
            if version != VERSION {
                return Err(newer(version));
            }
            let body = body.get(1..).unwrap_or_default().to_vec();
            Sealed { code: words.next().map(ToOwned::to_owned), body }
        }
    };
    let record: Record = serde_json::from_slice(&sealed.body)?;
    if !(1..=VERSION).contains(&record.version) {
        return Err(newer(record.version));
    }
    Ok((record, sealed))
}
