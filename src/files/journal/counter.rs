//! The line counter beside a journal, which detects lines that were cut off its end.
//!
//! Invariant: the number is written after the lines that it counts are synced, so it is never too high. It applies only
//! to the journal whose header has the same id, wherever the two files are moved. It is written to two slots in
//! turn: after an incomplete write, the previous number is still there.

use super::super::lock::private_options;
use super::super::{disk::fingerprint, trust};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Size of a slot in bytes: a hash, the id, the number, a line break.
const SLOT: usize = 16 + 1 + 16 + 1 + 20 + 1;

/// The file that belongs to the journal at this path.
pub(super) fn path_of(journal: &Path) -> PathBuf {
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    journal.with_file_name(name.replacen(".journal", ".count", 1))
}

/// A random id; `None` if the system has no random numbers.
pub(super) fn new_id() -> Option<u64> {
    getrandom::u64().ok()
}

/// The numbers in a counter's file, each with the id of its journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts(Vec<(u64, u64)>);

impl Counts {
    /// Reads the counter of a journal; empty if there is none or it is not trusted.
    pub(super) fn read(journal: &Path) -> Self {
        trust::read_own(&path_of(journal), 4 << 10).map(|bytes| Self::parse(&bytes)).unwrap_or_default()
    }

    fn parse(bytes: &[u8]) -> Self {
        let number = |slot: &[u8]| {
            let (hash, text) = std::str::from_utf8(slot).ok()?.strip_suffix('\n')?.split_once(' ')?;
            let (id, count) = text.split_once(' ')?;
            let is_sound = u64::from_str_radix(hash, 16).ok()? == fingerprint(text.as_bytes());
            is_sound.then_some((u64::from_str_radix(id, 16).ok()?, count.parse().ok()?))
        };
        Self(bytes.chunks_exact(SLOT).filter_map(number).collect())
    }

    /// The number of synced lines of the journal with this id; `None` if unknown.
    pub(super) fn of_journal(&self, id: Option<u64>) -> Option<u64> {
        self.0.iter().filter(|(journal, _)| Some(*journal) == id).map(|(_, count)| *count).max()
    }
}

/// The counter of a journal that is being written.
#[derive(Debug)]
pub(super) struct Counter {
    file: File,
    id: u64,
    count: u64,
    /// Whether the next number goes to the second slot.
    is_second: bool,
}

impl Counter {
    /// Creates the counter of a journal that has just been written; `None` if that fails.
    pub(super) fn create(journal: &Path, id: u64, count: u64) -> Option<Self> {
        let path = path_of(journal);
        // The counter of the previous journal is removed, not overwritten: it may have a second name.
        let _ = fs::remove_file(&path);
        let file = private_options().create_new(true).open(&path).ok()?;
        let mut counter = Self { file, id, count, is_second: false };
        counter.write().is_ok().then_some(counter)
    }

    /// Stores the number of synced lines.
    ///
    /// # Errors
    /// If it cannot be written; the stored number is outdated then.
    pub(super) fn set(&mut self, count: u64) -> io::Result<()> {
        if self.count == count {
            return Ok(());
        }
        self.count = count;
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let text = format!("{:016x} {:020}", self.id, self.count);
        let slot = format!("{:016x} {text}\n", fingerprint(text.as_bytes()));
        self.file.seek(SeekFrom::Start(if self.is_second { SLOT as u64 } else { 0 }))?;
        self.file.write_all(slot.as_bytes())?;
        self.file.sync_data()?;
        self.is_second = !self.is_second;
        Ok(())
    }
}

/// Renames the counter of a journal that was renamed.
pub(super) fn rename(from: &Path, to: &Path) {
    // Without a counter the journal can still be replayed; only lines that are cut off its end are not detected.
    let _ = fs::rename(path_of(from), path_of(to));
}

/// Links the counter of a journal that was given a second name.
pub(super) fn link(from: &Path, to: &Path) {
    let (from, to) = (path_of(from), path_of(to));
    // Optional, as in `rename`.
    let _ = fs::hard_link(&from, &to).or_else(|_| fs::rename(from, to));
}

/// Removes the counter of a journal that is removed.
pub(super) fn remove(journal: &Path) {
    // A counter that is not removed is ignored for other journals.
    let _ = fs::remove_file(path_of(journal));
}
