//! The commit record: the steps of a save of several files, written before its first rename.
//!
//! Invariant: while a record is there, each new file that it names waits beside its target or is in place already, so
//! that whoever opens the set next can finish the save. The saving process holds a lock on the record that dies with it.
//! A record begins with a code made with a key that only this user has: no one else's record is carried out unasked
//! (`recovery`). Hashes of contents are XXH3 (64 bits): they notice accidents, the code and the stamps notice forgers.

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

/// Bytes that a record may have: 50,000 files with the longest names take half of it.
const MAX_BYTES: u64 = 128 << 20;

/// What the code of a record is made for.
const KIND: &str = "commit record";

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    /// The folder that it was written in, without links: a record that was moved is not authentic.
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
    /// What it replaces; nothing where it is new.
    old: Option<Content>,
    /// Whether the bytes are copied into the file instead of taking its place.
    in_place: bool,
    /// The old content of a file whose bytes are overwritten in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<OldBlocks>,
    /// Which file the temporary one is.
    stamp: Option<FileStamp>,
    /// The owner of the target.
    #[serde(default)]
    owner: Option<u32>,
}

/// One file that goes.
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

/// A path below the record's folder, or an absolute one. Not every path is text.
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
    /// Whether it takes the place of an earlier save of this very session, which failed half-way.
    pub(super) supersedes: bool,
    /// The user's state folder, which has the key.
    pub(super) state: Option<&'a Path>,
}

/// A record that is on disk and locked; dropped, it stays there unlocked, to be finished by the next process.
#[derive(Debug)]
pub(super) struct WrittenRecord {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
    /// Temporary files of an earlier save that this one takes the place of.
    superseded: Vec<PathBuf>,
}

impl WrittenRecord {
    /// Writes the commit record. From here on the save will be finished, by this process or another one. A record of
    /// another process is never replaced.
    ///
    /// # Errors
    /// With whether the record stays nevertheless: then what it names must stay too.
    pub(super) fn new(folder: &Path, intent: CommitIntent<'_>, gate: &dyn Gate) -> Result<Self, (io::Error, bool)> {
        let begun = Self::write(folder, intent, gate).map_err(|error| (error, false))?;
        if let Err(error) = attempt(gate, FsOperation::SyncFolder, || begun.sync_folder()) {
            // Renames might last and the record not: nothing may follow.
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
        // The record of an earlier save that failed half-way: this one writes whatever that one did not.
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
            // Another set in this folder may be saved at this very moment.
            file.persist_noclobber(&path).map_err(|error| error.error)?;
        }
        Ok(Self { path, _file: lock, superseded })
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_folder(self.path.parent().unwrap_or(Path::new("")))
    }

    /// The save is done: removes the record.
    pub(super) fn end(self, gate: &dyn Gate) -> io::Result<()> {
        attempt(gate, FsOperation::Unrecord, || fs::remove_file(&self.path))?;
        for left in &self.superseded {
            // Renamed meanwhile, or never there.
            let _ = fs::remove_file(left);
        }
        // A record that comes back because its removal did not last finds everything in place.
        let _ = attempt(gate, FsOperation::SyncFolder, || self.sync_folder());
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
    fn of(folder: &Path, intent: CommitIntent<'_>) -> io::Result<Self> {
        // What was there when it was inspected, known to this program or not.
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

    /// The record as stored. Without a state folder that can be used it has no code, and the user is asked.
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

/// Reads a record of the current user, and the part of it that its code is made of.
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
