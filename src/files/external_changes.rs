//! Detects what other programs did to the files of a set: changed, replaced, truncated, deleted.
//!
//! Timestamps prove nothing: a file may change within a second and keep its size, and a touched file may have the same
//! bytes. [`classify`] is pure, [`detect`] reads the disk; neither writes.

use super::disk::{Disk, Fingerprint, OnDisk, identity};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How a file differs from its recorded state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileChange {
    /// Its content is the same.
    Unchanged,
    /// Its content was changed in place.
    Changed,
    /// It was replaced by another file, as most programs save.
    Replaced,
    /// It was truncated.
    Truncated,
    /// It was deleted.
    Deleted,
    /// It cannot be read, or is no regular file any more.
    Unreadable,
}

impl FileChange {
    /// A phrase that completes "the file …".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unchanged => "is as it was",
            Self::Changed => "was changed",
            Self::Replaced => "was replaced",
            Self::Truncated => "was cut short",
            Self::Deleted => "was deleted",
            Self::Unreadable => "cannot be read any more",
        }
    }
}

/// Whether to compare metadata only, or content too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thoroughness {
    /// Read only files whose length, time or identity has changed: for frequent checks.
    Quick,
    /// Read every file: before files are overwritten.
    Full,
}

/// The current state of a file on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileState {
    /// Its length in bytes, as stored.
    pub len: u64,
    /// When it was last changed.
    pub mtime: Option<SystemTime>,
    /// Device and inode, where the system has them.
    pub identity: Option<(u64, u64)>,
    /// The [`fingerprint`](super::disk::fingerprint) of its bytes, if they were read.
    pub hash: Option<u64>,
}

impl FileState {
    fn new(metadata: &Metadata) -> Self {
        let (len, mtime) = (metadata.len(), metadata.modified().ok());
        Self { len, mtime, identity: identity(metadata), hash: None }
    }

    /// Whether length, time and identity are those that are known.
    fn is_as_known(&self, known: &OnDisk) -> bool {
        (self.len, self.mtime, self.identity) == (known.len, known.mtime, known.identity)
    }
}

/// Compares the recorded state of a file with the current one, which is `None` if the file does not exist.
///
/// A hash, where there is one, decides; without one, equal length, time and identity do.
pub(crate) fn classify(known: &OnDisk, now: Option<&FileState>) -> FileChange {
    let Some(now) = now else { return FileChange::Deleted };
    let same = match now.hash {
        Some(hash) => now.len == known.len && hash == known.hash,
        None => now.is_as_known(known),
    };
    if same {
        FileChange::Unchanged
    } else if now.identity != known.identity {
        FileChange::Replaced
    } else if now.len < known.len {
        FileChange::Truncated
    } else {
        FileChange::Changed
    }
}

/// Changes of a set's files on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutsideChanges {
    /// Changed files by path, each with the kind of change.
    pub changed: Vec<(PathBuf, FileChange)>,
    /// Files with another time or identity and the same bytes: noting them on the [`Disk`] saves the next check from
    /// reading them again.
    pub touched: Vec<OnDisk>,
    /// Number of files that were read.
    pub read: usize,
}

/// Compares every known file with its current state on disk.
pub(crate) fn detect(disk: &Disk, care: Thoroughness) -> OutsideChanges {
    let mut outside = OutsideChanges::default();
    for known in disk.paths().filter_map(|path| disk.get(path)) {
        let Ok((now, read)) = inspect(known, care) else {
            outside.changed.push((known.path.clone(), FileChange::Unreadable));
            continue;
        };
        outside.read += usize::from(read);
        let change = classify(known, now.as_ref());
        match now {
            Some(now) if change == FileChange::Unchanged => {
                if !now.is_as_known(known) {
                    outside.touched.push(OnDisk { mtime: now.mtime, identity: now.identity, ..known.clone() });
                }
            }
            _ => outside.changed.push((known.path.clone(), change)),
        }
    }
    outside
}

/// The current state of a file, and whether its content was read.
fn inspect(known: &OnDisk, care: Thoroughness) -> io::Result<(Option<FileState>, bool)> {
    let metadata = match std::fs::metadata(&known.path) {
        Ok(metadata) => metadata,
        Err(error) if is_gone(&error) => return Ok((None, false)),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let now = FileState::new(&metadata);
    // A file of another length has changed; its bytes need not be read.
    if now.len != known.len || (care == Thoroughness::Quick && now.is_as_known(known)) {
        return Ok((Some(now), false));
    }
    let hash = match hash(&known.path) {
        Ok(hash) => hash,
        // Gone since it was inspected.
        Err(error) if is_gone(&error) => return Ok((None, false)),
        Err(error) => return Err(error),
    };
    Ok((Some(FileState { hash: Some(hash), ..now }), true))
}

/// Whether an error means that the file does not exist any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The [`fingerprint`](super::disk::fingerprint) of a file's bytes, read in pieces.
pub(super) fn hash(path: &Path) -> io::Result<u64> {
    hash_of(&mut File::open(path)?)
}

/// The same for an open file, from its current position to the end.
pub(super) fn hash_of(file: &mut File) -> io::Result<u64> {
    let mut buffer = vec![0; 1 << 18];
    let mut hash = Fingerprint::default();
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hash.finish()),
            Ok(read) => hash.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::disk::fingerprint;
    use std::fs;
    use std::time::Duration;

    fn known(path: &Path) -> OnDisk {
        let bytes = fs::read(path).unwrap();
        OnDisk::new(path, &fs::metadata(path).unwrap(), fingerprint(&bytes))
    }

    fn set_time(path: &Path, time: SystemTime) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    /// A change of a file.
    type Act<'a> = &'a dyn Fn(&Path);

    /// Changes a file of ten bytes; returns what a quick and a full check find, and the result of the quick one.
    fn detected(act: &dyn Fn(&Path)) -> (FileChange, FileChange, OutsideChanges) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        fs::write(&path, "0123456789").unwrap();
        let mut disk = Disk::default();
        disk.note(known(&path));
        act(&path);
        let fate = |outside: &OutsideChanges| outside.changed.first().map_or(FileChange::Unchanged, |(_, fate)| *fate);
        let (glance, close) = (detect(&disk, Thoroughness::Quick), detect(&disk, Thoroughness::Full));
        (fate(&glance), fate(&close), glance)
    }

    #[test]
    fn every_kind_of_change_has_its_name() {
        let replace = |path: &Path, text: &str| {
            let other = path.with_extension("new");
            fs::write(&other, text).unwrap();
            fs::rename(other, path).unwrap();
        };
        let table: [(Act<'_>, FileChange); 8] = [
            (&|_| {}, FileChange::Unchanged),
            (&|path| fs::write(path, "0123456789").unwrap(), FileChange::Unchanged),
            (&|path| fs::write(path, "0123456789+").unwrap(), FileChange::Changed),
            (&|path| fs::write(path, "0123").unwrap(), FileChange::Truncated),
            (&|path| fs::remove_file(path).unwrap(), FileChange::Deleted),
            (&|path| replace(path, "9876543210"), FileChange::Replaced),
            (&|path| replace(path, "0123456789"), FileChange::Unchanged),
            (
                &|path| {
                    fs::remove_file(path).unwrap();
                    fs::create_dir(path).unwrap();
                },
                FileChange::Unreadable,
            ),
        ];
        for (number, (act, fate)) in table.into_iter().enumerate() {
            let (glance, close, _) = detected(act);
            assert_eq!(close, fate, "{number}");
            assert!(glance == fate || !cfg!(unix), "{number}");
        }
    }

    /// Another program writes as many other bytes and restores the old time of the file.
    #[test]
    fn a_change_that_keeps_length_and_time_is_found_by_a_full_check() {
        let (glance, close, _) = detected(&|path| {
            let time = fs::metadata(path).unwrap().modified().unwrap();
            fs::write(path, "98765432x0").unwrap();
            set_time(path, time);
        });
        assert_eq!((glance, close), (FileChange::Unchanged, FileChange::Changed));
    }

    /// A clock that was set back, or was far in the future, gives a change an older time than the file had.
    #[test]
    fn a_clock_that_jumps_hides_no_change_and_makes_none() {
        let day = Duration::from_secs(86_400);
        let now = SystemTime::now();
        for time in [SystemTime::UNIX_EPOCH, now - day, now + day * 3_650] {
            for (text, fate) in [("98765432x0", FileChange::Changed), ("0123456789", FileChange::Unchanged)] {
                let (glance, close, _) = detected(&|path| {
                    fs::write(path, text).unwrap();
                    set_time(path, time);
                });
                assert_eq!((glance, close), (fate, fate), "{time:?} {text}");
            }
        }
    }

    #[test]
    fn a_touched_file_is_read_once_and_then_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        fs::write(&path, "0123456789").unwrap();
        let mut disk = Disk::default();
        disk.note(known(&path));
        assert_eq!(detect(&disk, Thoroughness::Quick), OutsideChanges::default());
        let later = fs::metadata(&path).unwrap().modified().unwrap() + Duration::from_secs(7);
        set_time(&path, later);
        let outside = detect(&disk, Thoroughness::Quick);
        assert_eq!((outside.read, outside.changed.len(), outside.touched.len()), (1, 0, 1));
        for file in outside.touched {
            disk.note(file);
        }
        assert_eq!(detect(&disk, Thoroughness::Quick).read, 0);
    }

    #[test]
    fn without_a_hash_metadata_decides() {
        let known = OnDisk { path: "a".into(), len: 5, mtime: None, identity: Some((1, 2)), hash: 7 };
        let now = FileState { len: 5, mtime: None, identity: Some((1, 2)), hash: None };
        let table = [
            (Some(now), FileChange::Unchanged),
            (Some(FileState { hash: Some(8), ..now }), FileChange::Changed),
            (Some(FileState { identity: Some((1, 3)), ..now }), FileChange::Replaced),
            (Some(FileState { identity: Some((1, 3)), hash: Some(7), ..now }), FileChange::Unchanged),
            (Some(FileState { len: 4, ..now }), FileChange::Truncated),
            (Some(FileState { mtime: Some(SystemTime::UNIX_EPOCH), ..now }), FileChange::Changed),
            (None, FileChange::Deleted),
        ];
        for (now, fate) in table {
            assert_eq!(classify(&known, now.as_ref()), fate, "{now:?}");
        }
    }
}
