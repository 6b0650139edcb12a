//! The state of downloaded files in their folder, one line of JSON each, for conditional requests.
//!
//! The next run asks only for what has changed, and never replaces what the user has changed.
//!
//! A line is written before its file is put in place: after an interruption the file is that of the last line or of the
//! one before it, and its hash tells which.

use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Its name.
pub(super) const FILE: &str = files::DOWNLOADS;

/// A file as it was downloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Download {
    /// Its path in the folder, with slashes.
    pub(super) file: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) etag: Option<String>,
    /// `Last-Modified`, as the server wrote it.
    #[serde(default)]
    pub(super) modified: Option<String>,
    /// The hash of its bytes, as 16 hexadecimal digits.
    pub(super) hash: String,
}

/// The downloads of a folder. No other process adds to them meanwhile.
#[derive(Debug)]
pub(super) struct GetState {
    path: PathBuf,
    lines: File,
    /// The latest of each path, and the one before.
    known: BTreeMap<String, (Download, Option<Download>)>,
}

/// The hash as it is written.
pub(super) fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// A path as it is written.
pub(super) fn slashed(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl GetState {
    /// Reads what is known. Lines that are not of this program, or were not written to their end, are passed over.
    ///
    /// # Errors
    /// `WouldBlock` when another process downloads into the folder, else what the system says.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        if fs::symlink_metadata(&path).is_ok_and(|status| !status.is_file()) {
            let why = format!("{FILE} is not a regular file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let lines = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
        match lines.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // Where there are no locks, there is none.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut state = Self { path, lines, known: BTreeMap::new() };
        let text = fs::read(&state.path)?;
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(download) = serde_json::from_slice(line) {
                state.remember(download);
            }
        }
        // What follows a half-written line is a line of its own.
        if text.last().is_some_and(|byte| *byte != b'\n') {
            state.lines.write_all(b"\n")?;
        }
        Ok(state)
    }

    fn remember(&mut self, download: Download) {
        let before = self.known.remove(&download.file).map(|(latest, _)| latest);
        self.known.insert(download.file.clone(), (download, before));
    }

    /// The last download of a file, and whether the file is still as it was downloaded. A file with another hash was
    /// changed here.
    pub(super) fn of(&self, file: &str, hash: Option<u64>) -> Option<(&Download, bool)> {
        let (latest, before) = self.known.get(file)?;
        let hash = hash.map(hex);
        let same =
            [Some(latest), before.as_ref()].into_iter().flatten().find(|known| Some(&known.hash) == hash.as_ref());
        Some(same.map_or((latest, false), |same| (same, true)))
    }

    /// Adds a download.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn add(&mut self, download: Download) -> io::Result<()> {
        let mut line = serde_json::to_vec(&download)?;
        line.push(b'\n');
        self.lines.write_all(&line)?;
        self.remember(download);
        Ok(())
    }

    /// Writes one line for each file.
    ///
    /// # Errors
    /// When the file cannot be replaced; it is still complete then.
    pub(super) fn compact(&self) -> Result<(), files::Error> {
        let mut text = Vec::new();
        for (latest, _) in self.known.values() {
            // A list of texts is always JSON.
            text.extend(serde_json::to_vec(latest).unwrap_or_default());
            text.push(b'\n');
        }
        files::write_atomic(&self.path, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn download(file: &str, hash: u64) -> Download {
        let url = format!("https://e.com/{file}");
        Download { file: file.to_owned(), url, etag: Some("\"1\"".to_owned()), modified: None, hash: hex(hash) }
    }

    #[test]
    fn downloads_are_known_after_an_interruption() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = GetState::open(folder.path()).unwrap();
        assert!(GetState::open(folder.path()).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock));
        for (file, hash) in [("a.xml", 1), ("b.xml", 2), ("a.xml", 3)] {
            state.add(download(file, hash)).unwrap();
        }
        drop(state);
        let path = folder.path().join(FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text + "{\"file\":\"a.xml\",\"ur").unwrap();
        let mut state = GetState::open(folder.path()).unwrap();
        let is_same = |state: &GetState, hash| state.of("a.xml", hash).map(|(known, same)| (known.hash.clone(), same));
        assert_eq!(is_same(&state, Some(3)), Some((hex(3), true)));
        assert_eq!(is_same(&state, Some(1)), Some((hex(1), true)), "the rename did not come about");
        assert_eq!(is_same(&state, Some(9)), Some((hex(3), false)));
        assert_eq!((is_same(&state, None), state.of("c.xml", None)), (Some((hex(3), false)), None));
        state.add(download("c.xml", 4)).unwrap();
        state.compact().unwrap();
        drop(state);
        let state = GetState::open(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
        assert!(state.of("c.xml", Some(4)).unwrap().1 && !state.of("a.xml", Some(1)).unwrap().1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("other"), "x").unwrap();
        std::os::unix::fs::symlink("other", folder.path().join(FILE)).unwrap();
        assert!(GetState::open(folder.path()).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("other")).unwrap(), "x");
    }
}
