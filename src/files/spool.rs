//! The spool of a streamed split: one unnamed file with a region for each part.
//!
//! The rows of a part come from many files, so each region is as long as its part will be.

use super::error::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The regions of all parts in one temporary file, which is removed on drop.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    folder: PathBuf,
    regions: Vec<PartRegion>,
}

#[derive(Debug)]
struct PartRegion {
    start: u64,
    len: u64,
    filled: u64,
}

impl Spool {
    /// Creates regions of the given lengths in bytes, in a folder or its nearest existing parent.
    ///
    /// # Errors
    /// If no file can be created there.
    pub(crate) fn new(folder: &Path, lengths: impl Iterator<Item = u64>) -> Result<Self, Error> {
        let existing = folder.ancestors().find(|folder| folder.is_dir());
        let folder = existing.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|error| Error::system("create a temporary file in", folder, error))?;
        let mut start = 0;
        let region = |len| {
            let region = PartRegion { start, len, filled: 0 };
            start += len;
            region
        };
        Ok(Self { file, folder: folder.to_path_buf(), regions: lengths.map(region).collect() })
    }

    /// Appends to a part. False if the bytes do not fit its region, which means that the set has changed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, part: usize, bytes: &[u8]) -> Result<bool, Error> {
        let Some(region) = self.regions.get_mut(part).filter(|region| region.filled + bytes.len() as u64 <= region.len)
        else {
            return Ok(false);
        };
        let at = SeekFrom::Start(region.start + region.filled);
        let written = self.file.seek(at).and_then(|_| self.file.write_all(bytes));
        written.map_err(|error| Error::system("write a temporary file in", &self.folder, error))?;
        region.filled += bytes.len() as u64;
        Ok(true)
    }

    /// Whether every region is full.
    pub(crate) fn is_full(&self) -> bool {
        self.regions.iter().all(|region| region.filled == region.len)
    }

    /// The bytes of a part.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn part(&mut self, part: usize) -> Result<Vec<u8>, Error> {
        let Some(region) = self.regions.get(part) else { return Ok(Vec::new()) };
        let mut bytes = vec![0; region.filled as usize];
        let read = self.file.seek(SeekFrom::Start(region.start)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| Error::system("read a temporary file in", &self.folder, error))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_can_be_appended_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(&folder.path().join("not/made/yet"), [3, 0, 4].into_iter()).unwrap();
        for (part, bytes) in [(2, "ab"), (0, "x"), (2, "cd"), (0, "yz")] {
            assert!(!spool.is_full());
            assert!(spool.append(part, bytes.as_bytes()).unwrap());
        }
        assert!(spool.is_full() && !spool.append(0, b"!").unwrap() && !spool.append(3, b"!").unwrap());
        let parts: Vec<Vec<u8>> = (0..4).map(|part| spool.part(part).unwrap()).collect();
        assert_eq!(parts, [&b"xyz"[..], b"", b"abcd", b""]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name");
    }
}
