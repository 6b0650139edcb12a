//! The state file of a download folder: one line of JSON for each downloaded file, for conditional requests.
//!
//! With it, the next run downloads only changed files and never replaces files that the user has changed.
//!
//! A line is written before its file is moved to its path. After an interruption the file therefore belongs to its last
//! line or to the one before, depending on its hash.

use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of the state file.
pub(super) const STATE_FILE: &str = files::DOWNLOADS;

/// A download of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Download {
    /// The path relative to the folder, with slashes.
    pub(super) file: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) etag: Option<String>,
    /// The header `Last-Modified`, as sent.
    #[serde(default)]
    pub(super) modified: Option<String>,
    /// The hash of the bytes, as 16 hexadecimal digits.
    pub(super) hash: String,
}

/// The downloads of a folder, locked against other processes.
#[derive(Debug)]
pub(super) struct GetState {
    path: PathBuf,
    lines: File,
    /// The latest download of each path, and the one before.
    downloads: BTreeMap<String, (Download, Option<Download>)>,
}

/// A hash in the format of the state file.
pub(super) fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// A path in the format of the state file.
pub(super) fn slashed(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl GetState {
    /// Opens and locks the state file of a folder. Invalid and incomplete lines are skipped.
    ///
    /// # Errors
    /// `WouldBlock` if another process downloads into the folder, else an error of the file system.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(STATE_FILE);
        if fs::symlink_metadata(&path).is_ok_and(|status| !status.is_file()) {
            let why = format!("{STATE_FILE} is not a regular file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let lines = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
        match lines.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // Some file systems do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut state = Self { path, lines, downloads: BTreeMap::new() };
        let text = fs::read(&state.path)?;
        for line in text.split(|byte| *byte == b'\n') {
            if let Ok(download) = serde_json::from_slice(line) {
                state.remember(download);
            }
        }
        // Ends an incomplete line, so that the next one is a line of its own.
        if text.last().is_some_and(|byte| *byte != b'\n') {
            state.lines.write_all(b"\n")?;
        }
        Ok(state)
    }

    fn remember(&mut self, download: Download) {
        let before = self.downloads.remove(&download.file).map(|(latest, _)| latest);
        self.downloads.insert(download.file.clone(), (download, before));
    }

    /// The last download of a file, and whether the file has not been changed since, judging by its hash.
    pub(super) fn last_download(&self, file: &str, hash: Option<u64>) -> Option<(&Download, bool)> {
        let (latest, before) = self.downloads.get(file)?;
        let hash = hash.map(hex);
        let same = [Some(latest), before.as_ref()]
            .into_iter()
            .flatten()
            .find(|downloads| Some(&downloads.hash) == hash.as_ref());
        Some(same.map_or((latest, false), |same| (same, true)))
    }

    /// Appends a download.
    ///
    /// # Errors
    /// The line cannot be written.
    pub(super) fn add(&mut self, download: Download) -> io::Result<()> {
        let mut line = serde_json::to_vec(&download)?;
        line.push(b'\n');
        self.lines.write_all(&line)?;
        self.remember(download);
        Ok(())
    }

    /// Rewrites the state file with only the latest line for each file.
    ///
    /// # Errors
    /// The file cannot be replaced; it is complete nevertheless.
    pub(super) fn compact(&self) -> Result<(), files::Error> {
        let mut text = Vec::new();
        for (latest, _) in self.downloads.values() {
            // Serializing a struct of strings cannot fail.
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
        let path = folder.path().join(STATE_FILE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text + "{\"file\":\"a.xml\",\"ur").unwrap();
        let mut state = GetState::open(folder.path()).unwrap();
        let is_same = |state: &GetState, hash| {
            state.last_download("a.xml", hash).map(|(downloads, same)| (downloads.hash.clone(), same))
        };
        assert_eq!(is_same(&state, Some(3)), Some((hex(3), true)));
        assert_eq!(is_same(&state, Some(1)), Some((hex(1), true)), "the file was not renamed");
        assert_eq!(is_same(&state, Some(9)), Some((hex(3), false)));
        assert_eq!((is_same(&state, None), state.last_download("c.xml", None)), (Some((hex(3), false)), None));
        state.add(download("c.xml", 4)).unwrap();
        state.compact().unwrap();
        drop(state);
        let state = GetState::open(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
        assert!(state.last_download("c.xml", Some(4)).unwrap().1 && !state.last_download("a.xml", Some(1)).unwrap().1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("other"), "x").unwrap();
        std::os::unix::fs::symlink("other", folder.path().join(STATE_FILE)).unwrap();
        assert!(GetState::open(folder.path()).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("other")).unwrap(), "x");
    }
}
