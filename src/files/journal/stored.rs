//! Journals as files in the state folder: read, set aside, listed and removed.

use super::counter::{self, Counts};
use super::format::{self, Entry, Header, StoredJournal, Unusable};
use super::{EXTENSION, FOLDER, MOST_BYTES, slot_name};
use crate::files::lock::{create_own_folder, real_path};
use crate::files::trust;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Reads a journal; `None` if there is none.
pub(super) fn read(path: &Path) -> Option<Result<StoredJournal, Unusable>> {
    match bytes_of(path) {
        Ok(bytes) => Some(format::parse(&bytes, &Counts::read(path))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(Unusable::Unreadable(error.to_string()))),
    }
}

/// The bytes of a journal. Nothing is read of one that is too long.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = trust::open_own(path)?;
    if file.metadata()?.len() > MOST_BYTES {
        return Err(trust::TrustError::TooLarge(MOST_BYTES).into());
    }
    trust::read_at_most(&mut file, MOST_BYTES)
}

/// An unused name for a journal that is set aside.
fn free_name(path: &Path) -> Option<PathBuf> {
    let mut names = (1..1_000).map(|number| path.with_extension(format!("journal.aside-{number}")));
    names.find(|name| fs::symlink_metadata(name).is_err())
}

/// Renames a journal to a name that nothing overwrites.
pub(super) fn set_aside(path: &Path) -> Option<PathBuf> {
    let aside = free_name(path)?;
    fs::rename(path, &aside).ok()?;
    counter::rename(path, &aside);
    Some(aside)
}

/// Links a journal to a second name that nothing overwrites.
pub(super) fn keep_aside(path: &Path) -> Option<PathBuf> {
    let aside = free_name(path)?;
    // On a file system without hard links it is renamed; the next journal takes the first name again.
    fs::hard_link(path, &aside).or_else(|_| fs::rename(path, &aside)).ok()?;
    counter::link(path, &aside);
    Some(aside)
}

/// A journal in the state folder.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub path: PathBuf,
    /// Whether it was set aside: users are not asked about it any more.
    pub is_aside: bool,
    /// Its size in bytes.
    pub len: u64,
    /// Its content.
    pub stored: Result<StoredJournal, Unusable>,
}

impl JournalFile {
    /// The name of its file.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The lines of a journal with a damaged header, to be shown only: which files they apply to is unknown.
    pub(crate) fn readable(&self) -> Vec<Entry> {
        bytes_of(&self.path).map(|bytes| format::readable(&bytes)).unwrap_or_default()
    }

    /// Removes it.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn discard(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        counter::remove(&self.path);
        Ok(())
    }
}

/// Lists the journals of a set that is opened by these paths, including those that were set aside, ordered by name. A
/// folder selects every set with a file in it; without any path, all journals are listed.
///
/// # Errors
/// When the folder of journals cannot be read, or is not this user's alone.
pub(crate) fn list(state: &Path, paths: &[PathBuf]) -> io::Result<Vec<JournalFile>> {
    let folder = state.join(FOLDER);
    if fs::symlink_metadata(&folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    create_own_folder(&folder)?;
    let real: Vec<PathBuf> = paths.iter().map(|path| real_path(path)).collect();
    let name = slot_name(&real);
    let names: BTreeSet<String> = real.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let is_selected = |header: &Header| {
        let files = header.files.iter().map(|file| file.path.clone()).chain(header.paths());
        files
            .into_iter()
            .any(|file| names.contains(&file) || real.iter().any(|path| Path::new(&file).starts_with(path)))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let Some((stem, end)) = file_name.split_once('.') else { continue };
        let is_aside = end.strip_prefix("journal.aside-").is_some_and(|number| number.parse::<u32>().is_ok());
        if end != EXTENSION && !is_aside {
            continue;
        }
        let Some(stored) = read(&entry.path()) else { continue };
        let is_of_set =
            paths.is_empty() || stem == name || stored.as_ref().is_ok_and(|stored| is_selected(&stored.header));
        if is_of_set {
            let len = entry.metadata().map_or(0, |metadata| metadata.len());
            found.push(JournalFile { path: entry.path(), is_aside, len, stored });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}
