//! Lists, reads and prunes backups: dated folders, each with a list of its files.

use crate::files::error::{Error, system_message};
use crate::files::gate::sync_folder;
use crate::files::record::Key;
use crate::files::tree::Tree;
use crate::files::trust;
use crate::protocol::lastmod::Now;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the list in a dated folder.
pub(super) const LIST: &str = ".backup.json";

/// The list format that this program writes and reads.
pub(super) const VERSION: u32 = 1;

/// Maximum size of a list in bytes; 50,000 files with the longest names take half of it.
const MAX_BYTES: u64 = 128 << 20;

/// The kind of data that the code of a list authenticates.
const KIND: &str = "backup";

/// The list file of a backup.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BackupList {
    pub(super) version: u32,
    /// Greater than that of every earlier backup.
    pub(super) number: u64,
    /// In seconds since 1970.
    pub(super) made: i64,
    pub(super) files: Vec<Entry>,
    /// Files that did not exist and that the save has created.
    pub(super) absent: Vec<Name>,
    /// The folder of the set, without links: a backup that was moved is not authentic.
    #[serde(default)]
    pub(super) folder: Option<Name>,
    /// Authenticates all other fields with the user's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
}

/// A file in the list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) len: u64,
    /// XXH3, 64 bits: detects accidental changes.
    pub(super) hash: u64,
    /// BLAKE3 in hexadecimal: detects forgeries if the list itself is authentic.
    #[serde(default)]
    pub(super) digest: String,
    /// Where the file really was, if a link led there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) real: Option<Name>,
}

/// A path as text, or as bytes if it is not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

impl Name {
    pub(super) fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
        }
    }

    /// The path; `None` if it leads out of the folder, which is never so in lists of this program.
    pub(super) fn path(&self) -> Option<PathBuf> {
        Some(self.any_path()).filter(|path| super::is_plain(path))
    }

    /// The path, wherever it leads.
    fn any_path(&self) -> PathBuf {
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

impl BackupList {
    /// Sets the code if there is a key, and removes it otherwise.
    pub(super) fn sign(&mut self, key: Option<&Key>) {
        self.code = None;
        let body = serde_json::to_vec(self).unwrap_or_default();
        self.code = key.map(|key| key.code(KIND, &body).to_hex().to_string());
    }

    /// Whether this user's key made the code, for a set in this folder.
    fn is_authentic(&self, folder: &Path, key: Option<&Key>) -> bool {
        let body = serde_json::to_vec(&Self { code: None, ..self.clone() }).unwrap_or_default();
        let is_here = self.folder.as_ref() == Some(&Name::of(folder));
        let confirms = |key: &Key| self.code.as_ref().is_some_and(|code| key.confirms(KIND, &body, code));
        is_here && key.is_some_and(confirms)
    }

    pub(super) fn has(&self, name: &Path) -> bool {
        let name = Name::of(name);
        self.files.iter().any(|entry| entry.name == name) || self.absent.contains(&name)
    }
}

/// Reads the list of a dated folder; `None` if the current user has no valid list there.
///
/// # Errors
/// When the list cannot be read: a restore that ignored it would give another result.
pub(super) fn read(dated: &Path) -> io::Result<Option<BackupList>> {
    let bytes = match trust::read_own(&dated.join(LIST), MAX_BYTES) {
        // `InvalidData`: it is not this user's, or no regular file.
        Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::InvalidData => return Ok(None),
        bytes => bytes?,
    };
    let listed = serde_json::from_slice(&bytes).ok();
    Ok(listed.filter(|listed: &BackupList| listed.version == VERSION))
}

/// Whether an error means that a path does not exist.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The dated folders in a folder of backups.
fn dated_folders(backups_folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    if is_folder(backups_folder)? {
        for entry in fs::read_dir(backups_folder)? {
            let path = entry?.path();
            if is_folder(&path)? {
                folders.push(path);
            }
        }
    }
    Ok(folders)
}

/// Whether a path is a folder and not a link to one.
pub(super) fn is_folder(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if is_gone(&error) => Ok(false),
        metadata => Ok(metadata?.is_dir()),
    }
}

/// The greatest number among the backups in a folder.
pub(super) fn last_number(backups_folder: &Path) -> io::Result<u64> {
    let mut last = 0;
    for dated in dated_folders(backups_folder)? {
        last = last.max(read(&dated)?.map_or(0, |listed| listed.number));
    }
    Ok(last)
}

/// A backup: a dated folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSet {
    /// The name of its folder: when it was made, in UTC (`2026-11-20T10-20-30Z`).
    pub date: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its position in the order of backups.
    pub number: u64,
    /// Its copies.
    pub files: Vec<BackupFile>,
    /// Files that did not exist when it was made and that its save has created, relative to the set's folder.
    pub absent: Vec<PathBuf>,
    /// Whether this user's key authenticates it.
    pub is_authentic: bool,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// Relative to the set's folder.
    pub name: PathBuf,
    /// Bytes as stored.
    pub len: u64,
    /// [`fingerprint`](crate::files::disk::fingerprint) of them.
    pub hash: u64,
    /// BLAKE3 of them in hexadecimal; empty in backups of earlier versions.
    pub digest: String,
    /// Where the file really was, if a link led there.
    pub real: Option<PathBuf>,
}

/// The backups of the set that is opened by `main`, oldest first, without those that were interrupted, made by another
/// user, or are behind a link. `state` is the user's state folder, which has the key.
///
/// # Errors
/// When the folder of backups or a list cannot be read: without one backup, a restore would give another result.
pub fn sets(main: &Path, state: Option<&Path>) -> Result<Vec<BackupSet>, Error> {
    let key = state.and_then(Key::load);
    let folder = super::real_folder(main);
    let backup_file = |file: &Entry| {
        let real = file.real.as_ref().map(Name::any_path);
        Some(BackupFile { name: file.name.path()?, len: file.len, hash: file.hash, digest: file.digest.clone(), real })
    };
    let backups_folder = super::backups_folder(main);
    let mut sets = Vec::new();
    for dated in
        dated_folders(&backups_folder).map_err(|error| Error::system("list the backups", &backups_folder, error))?
    {
        let listed = read(&dated).map_err(|error| Error::system("read the list of files", &dated, error))?;
        let (Some(listed), Some(date)) = (listed, dated.file_name()) else { continue };
        sets.push(BackupSet {
            date: date.to_string_lossy().into_owned(),
            number: listed.number,
            files: listed.files.iter().filter_map(backup_file).collect(),
            absent: listed.absent.iter().filter_map(Name::path).collect(),
            is_authentic: folder.as_ref().is_some_and(|folder| listed.is_authentic(folder, key.as_ref())),
            folder: dated,
        });
    }
    sets.sort_by(|one, other| (one.number, &one.date).cmp(&(other.number, &other.date)));
    Ok(sets)
}

/// The sets that [`prune`] would remove.
///
/// # Errors
/// When the backups cannot be read.
pub(crate) fn superfluous(main: &Path, keep: usize, state: Option<&Path>) -> Result<Vec<BackupSet>, Error> {
    let mut sets = sets(main, state)?;
    sets.truncate(sets.len().saturating_sub(keep));
    Ok(sets)
}

/// Removes all backups but the latest `keep`, and returns the removed ones. The remaining ones can still be restored: a
/// restore takes the oldest copy since its date.
///
/// # Errors
/// When a backup cannot be removed; one without its list is incomplete.
pub fn prune(main: &Path, keep: usize, state: Option<&Path>) -> Result<Vec<BackupSet>, Error> {
    let sets = superfluous(main, keep, state)?;
    for set in &sets {
        // The list first, so that a partly removed backup is not used.
        let removed = fs::remove_file(set.folder.join(LIST)).and_then(|()| sync_folder(&set.folder));
        let removed = removed.and_then(|()| fs::remove_dir_all(&set.folder));
        removed.map_err(|error| Error::system("remove", &set.folder, error))?;
    }
    Ok(sets)
}

/// An incomplete backup, which cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// Where it is.
    pub folder: PathBuf,
    /// Why the program does not remove it; `None` for a backup that was interrupted before its list was written.
    pub kept: Option<String>,
}

/// Backup folders that cannot be restored. A save that was interrupted before the list was written replaced no file.
///
/// # Errors
/// When the folder of backups cannot be read.
pub fn incomplete(main: &Path) -> Result<Vec<Incomplete>, Error> {
    let backups_folder = super::backups_folder(main);
    let failed = |error| Error::system("list the backups", &backups_folder, error);
    let mut found = Vec::new();
    for folder in dated_folders(&backups_folder).map_err(failed)? {
        let has_no_list = fs::symlink_metadata(folder.join(LIST)).is_err_and(|error| is_gone(&error));
        if has_no_list {
            let checked = Tree::open(&backups_folder).and_then(|tree| tree.check_removable(dated_name(&folder)?));
            let kept = checked.err().map(|error| system_message(&error));
            found.push(Incomplete { folder, kept });
        } else if read(&folder).map_err(failed)?.is_none() {
            let why = "its list is damaged, belongs to another user or was written by a newer version".to_owned();
            found.push(Incomplete { folder, kept: Some(why) });
        }
    }
    found.sort_by(|one, other| one.folder.cmp(&other.folder));
    Ok(found)
}

/// Removes backups that were interrupted before their lists were written, and returns them: only folders with a name of
/// this program that belong to the user and hold nothing but the user's regular files.
///
/// # Errors
/// When one cannot be removed.
pub(crate) fn remove_incomplete(main: &Path) -> Result<Vec<PathBuf>, Error> {
    let backups_folder = super::backups_folder(main);
    let mut removed = Vec::new();
    for Incomplete { folder, .. } in incomplete(main)?.into_iter().filter(|found| found.kept.is_none()) {
        let done = Tree::open(&backups_folder).and_then(|tree| tree.remove_folder(dated_name(&folder)?));
        done.map_err(|error| Error::system("remove", &folder, error))?;
        removed.push(folder);
    }
    if !removed.is_empty() {
        // Fails if the folder holds other backups.
        let _ = fs::remove_dir(&backups_folder);
    }
    Ok(removed)
}

/// The name of a folder, if it has the form of this program: `2026-11-20T10-20-30Z`, `2026-11-20T10-20-30Z-2`.
fn dated_name(folder: &Path) -> io::Result<&OsStr> {
    const PATTERN: &[u8] = b"0000-00-00T00-00-00Z";
    let name = folder.file_name().unwrap_or_default();
    let bytes = name.as_encoded_bytes();
    let (date, number) = bytes.split_at_checked(PATTERN.len()).unwrap_or_default();
    let fits = |(byte, wanted): (&u8, &u8)| if *wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    let is_date = !date.is_empty() && date.iter().zip(PATTERN).all(fits);
    let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_numbered = number.is_empty() || number.strip_prefix(b"-").is_some_and(is_number);
    let why = "its name is not one that sited gives to a backup";
    if is_date && is_numbered { Ok(name) } else { Err(io::Error::new(io::ErrorKind::InvalidData, why)) }
}

/// Formats a time in UTC as a folder name, without colons because some file systems reject them.
pub(super) fn date(now: Now) -> String {
    Now { offset: 0, ..now }.timestamp().replace(':', "-")
}
