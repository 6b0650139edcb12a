//! What is in a folder of backups: dated sets, each with a list of its files.

use crate::files::commit::sync_folder;
use crate::files::error::Error;
use crate::protocol::lastmod::Now;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the list in a dated set.
pub(super) const LIST: &str = ".backup.json";

/// The form of list that this program writes and reads.
pub(super) const VERSION: u32 = 1;

/// What a dated set holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) version: u32,
    /// Greater than that of every set before it.
    pub(super) number: u64,
    /// In seconds since 1970.
    pub(super) made: i64,
    pub(super) files: Vec<Entry>,
    /// Files that were not there and that the save has made.
    pub(super) absent: Vec<Name>,
}

/// One file. Hashes are XXH3 (64 bits): they guard against accidents, not against forgers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) len: u64,
    pub(super) hash: u64,
}

/// A path below the set's folder. Not every path is text.
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

    /// The path; `None` for one that leads out of the folder, which no list of this program has.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let path = match self {
            Self::Text(text) => PathBuf::from(text),
            #[cfg(unix)]
            Self::Bytes(bytes) => {
                use std::os::unix::ffi::OsStrExt;
                PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
            }
            #[cfg(not(unix))]
            Self::Bytes(bytes) => PathBuf::from(String::from_utf8_lossy(bytes).as_ref()),
        };
        super::is_plain(&path).then_some(path)
    }
}

impl Listed {
    pub(super) fn has(&self, name: &Path) -> bool {
        let name = Name::of(name);
        self.files.iter().any(|entry| entry.name == name) || self.absent.contains(&name)
    }
}

/// The list of a dated set, if it has a whole one.
pub(super) fn read(dated: &Path) -> Option<Listed> {
    let listed: Listed = serde_json::from_slice(&fs::read(dated.join(LIST)).ok()?).ok()?;
    (listed.version == VERSION).then_some(listed)
}

/// The greatest number that a set in a folder of backups has.
pub(super) fn last_number(home: &Path) -> u64 {
    let dated = fs::read_dir(home).into_iter().flatten().flatten();
    dated.filter_map(|entry| read(&entry.path())).map(|listed| listed.number).max().unwrap_or(0)
}

/// A dated set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// The name of its folder: when it was made, in UTC (`2026-11-20T10-20-30Z`).
    pub date: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its place in the order of sets.
    pub number: u64,
    /// What it keeps.
    pub files: Vec<Kept>,
    /// Files that were not there when it was made and that the save which it is of has made, relative to the set's
    /// folder.
    pub absent: Vec<PathBuf>,
}

/// One file of a dated set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Relative to the set's folder.
    pub name: PathBuf,
    /// Bytes as stored.
    pub len: u64,
    /// [`fingerprint`](crate::files::disk::fingerprint) of them.
    pub hash: u64,
}

/// The dated sets of a set that is opened by `main`, oldest first. Interrupted ones are none.
pub fn sets(main: &Path) -> Vec<Set> {
    let home = super::home(main);
    let mut sets: Vec<Set> = fs::read_dir(home)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let listed = read(&entry.path())?;
            let kept = |file: &Entry| Some(Kept { name: file.name.path()?, len: file.len, hash: file.hash });
            Some(Set {
                date: entry.file_name().to_string_lossy().into_owned(),
                folder: entry.path(),
                number: listed.number,
                files: listed.files.iter().filter_map(kept).collect(),
                absent: listed.absent.iter().filter_map(Name::path).collect(),
            })
        })
        .collect();
    sets.sort_by(|one, other| (one.number, &one.date).cmp(&(other.number, &other.date)));
    sets
}

/// Removes the oldest sets, so that so many stay; gives them. What a set still keeps can be put back: a restore takes the
/// oldest copy since the wanted moment.
///
/// # Errors
/// When one cannot be removed; without its list it is none any more.
pub fn prune(main: &Path, keep: usize) -> Result<Vec<Set>, Error> {
    let mut sets = sets(main);
    sets.truncate(sets.len().saturating_sub(keep));
    for set in &sets {
        // The list first: half a set counts for nothing.
        let removed = fs::remove_file(set.folder.join(LIST)).and_then(|()| sync_folder(&set.folder));
        let removed = removed.and_then(|()| fs::remove_dir_all(&set.folder));
        removed.map_err(|error| Error::system("remove", &set.folder, error))?;
    }
    Ok(sets)
}

/// Folders of backups that were interrupted before they were whole: nothing was replaced for them.
pub fn interrupted(main: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(super::home(main)).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.join(LIST).exists());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    folders
}

/// A moment in UTC as the name of a folder: no colon, which not every file system takes.
pub(super) fn date(now: Now) -> String {
    Now { offset: 0, ..now }.timestamp().replace(':', "-")
}
