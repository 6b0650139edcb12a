//! Reads, sets aside, lists and removes the journal files in the state folder.

use super::counter::{self, Counts};
use super::format::{self, Entry, Header, StoredJournal, Unusable};
use super::{EXTENSION, FOLDER, MAX_BYTES, slot_name};
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

/// Reads the bytes of a journal. One that exceeds [`MAX_BYTES`] is refused without reading it.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = trust::open_own(path)?;
    if file.metadata()?.len() > MAX_BYTES {
        return Err(trust::TrustError::TooLarge(MAX_BYTES).into());
    }
    trust::read_at_most(&mut file, MAX_BYTES)
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
pub(super) fn link_aside(path: &Path) -> Option<PathBuf> {
    let aside = free_name(path)?;
    // Without hard links it is renamed; the next journal then has the first name again.
    fs::hard_link(path, &aside).or_else(|_| fs::rename(path, &aside)).ok()?;
    counter::link(path, &aside);
    Some(aside)
}

/// A journal in the state folder.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub path: PathBuf,
    /// Whether it was set aside, so that the user is not asked about it again.
    pub is_aside: bool,
    /// Size in bytes.
    pub len: u64,
    /// The content.
    pub stored: Result<StoredJournal, Unusable>,
}

impl JournalFile {
    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The lines of a journal with a damaged header. They are only for display, since their files are unknown.
    pub(crate) fn readable(&self) -> Vec<Entry> {
        bytes_of(&self.path).map(|bytes| format::readable(&bytes)).unwrap_or_default()
    }

    /// Removes the journal and its counter.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub(crate) fn discard(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        counter::remove(&self.path);
        Ok(())
    }
}

/// Lists the journals of a set that is opened by these paths, including those that were set aside, sorted by name. A
/// folder selects every set with a file in it; without paths, all journals are listed.
///
/// # Errors
/// If the folder of journals cannot be read, or does not belong to this user alone.
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
