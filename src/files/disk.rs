//! State of each file on disk when it was last read or written, to detect changes by other programs.
//!
//! Length, time and identity are compared first; the content is read only if they differ.

use super::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The recorded state of a file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDisk {
    /// Its path, as it was opened.
    pub path: PathBuf,
    /// Its length in bytes, as stored.
    pub len: u64,
    /// Time of the last modification.
    pub mtime: Option<SystemTime>,
    /// Device and inode, if the system has them.
    pub identity: Option<(u64, u64)>,
    /// [`fingerprint`] of the stored bytes, or 0 for a file of a set that is never saved.
    pub hash: u64,
}

impl OnDisk {
    /// The hash of a file of a set that is never saved, so that its bytes are not hashed.
    pub(super) const NOT_HASHED: u64 = 0;

    /// Records a file's state; `hash` is the [`fingerprint`] of its stored bytes.
    pub fn new(path: &Path, metadata: &Metadata, hash: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            len: metadata.len(),
            mtime: metadata.modified().ok(),
            identity: identity(metadata),
            hash,
        }
    }

    /// Whether length, time and identity of a file are unchanged.
    pub fn matches_metadata(&self, metadata: &Metadata) -> bool {
        self.has_same_metadata(&Self::new(Path::new(""), metadata, Self::NOT_HASHED))
    }

    /// Whether length, time and identity are those of another state.
    pub(crate) fn has_same_metadata(&self, other: &Self) -> bool {
        (self.len, self.mtime, self.identity) == (other.len, other.mtime, other.identity)
    }
}

/// Device and inode, if the system has them.
pub(super) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    };
    #[cfg(not(unix))]
    let identity = {
        let _ = metadata;
        None
    };
    identity
}

/// The state of every file of a set, by path.
///
/// A recorded file that is not part of the saved document was created by a save that failed between renames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disk {
    files: BTreeMap<PathBuf, OnDisk>,
    /// Files with content from a save that failed between renames.
    mid_save: BTreeSet<PathBuf>,
    /// Whether a commit record of the last save exists, which the next save replaces.
    unfinished: bool,
}

impl Disk {
    /// Records a file's state and replaces an older one.
    pub fn note(&mut self, file: OnDisk) {
        self.files.insert(file.path.clone(), file);
    }

    /// Records a file's state in the middle of a save.
    pub(super) fn note_mid_save(&mut self, file: OnDisk) {
        self.mid_save.insert(file.path.clone());
        self.note(file);
    }

    /// Ends a save: every file has the content that was saved last.
    pub(super) fn finish_save(&mut self) {
        self.mid_save.clear();
        self.unfinished = false;
    }

    /// Records that a save failed after its commit record was written.
    pub(super) fn note_unfinished(&mut self) {
        self.unfinished = true;
    }

    /// Whether there is a commit record of this session, which the next save replaces without finishing it first.
    pub(super) const fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Whether a file differs from the saved document because a save failed between renames.
    pub fn is_mid_save(&self, path: &Path) -> bool {
        self.mid_save.contains(path)
    }

    /// Records the current state of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn record_state(&mut self, path: &Path) -> Result<(), Error> {
        let failed = |error| Error::system("read", path, error);
        let bytes = std::fs::read(path).map_err(failed)?;
        let metadata = std::fs::metadata(path).map_err(failed)?;
        self.note(OnDisk::new(path, &metadata, fingerprint(&bytes)));
        Ok(())
    }

    /// Forgets a file.
    pub fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Forgets every file but these.
    pub fn keep<'p>(&mut self, paths: impl Iterator<Item = &'p Path>) {
        let kept: BTreeSet<&Path> = paths.collect();
        self.files.retain(|path, _| kept.contains(path.as_path()));
    }

    /// All known files, by path.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// The recorded state of a file.
    pub fn get(&self, path: &Path) -> Option<&OnDisk> {
        self.files.get(path)
    }

    /// Whether the file was read or written by this session.
    pub fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }
}

/// An incremental hash of bytes: XXH3 with 64 bits, the same in every run of the program.
#[derive(Clone, Default)]
pub struct Fingerprint(Xxh3);

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fingerprint").finish()
    }
}

impl Fingerprint {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all bytes.
    pub fn finish(self) -> u64 {
        self.0.digest()
    }
}

/// The hash of bytes in memory.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_fingerprint_does_not_depend_on_the_pieces(len in 0usize..300_000, cuts in proptest::collection::vec(any::<usize>(), 0..9)) {
            let bytes: Vec<u8> = (0..len).map(|n| (n * 31 % 251) as u8).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (len + 1)).collect();
            cuts.sort_unstable();
            let (mut hash, mut at) = (Fingerprint::default(), 0);
            for cut in cuts {
                hash.update(&bytes[at..cut]);
                at = cut;
            }
            hash.update(&bytes[at..]);
            prop_assert_eq!(hash.finish(), fingerprint(&bytes));
        }
    }

    #[test]
    fn one_changed_byte_changes_the_fingerprint() {
        let mut bytes = vec![7u8; 200_000];
        let before = fingerprint(&bytes);
        for at in [0, 65_535, 65_536, 199_999] {
            bytes[at] = 8;
            assert_ne!(fingerprint(&bytes), before, "{at}");
            bytes[at] = 7;
        }
        assert_ne!(fingerprint(&bytes[1..]), before);
    }
}
