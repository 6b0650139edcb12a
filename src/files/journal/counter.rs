//! The line counter beside a journal, which detects lines that were cut off its end.
//!
//! Invariant: the number is written after the lines that it counts are synced, so it is never too high. It counts only
//! for the journal whose header has the same id, whatever becomes of the two files. It is written to one of two slots in
//! turn: a write that is cut short leaves the number before it.

use super::super::lock::private;
use super::super::{disk::fingerprint, trust};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of a slot: a hash, the id, the number, a line break.
const SLOT: usize = 16 + 1 + 16 + 1 + 20 + 1;

/// The file that belongs to the journal at this path.
pub(super) fn path_of(journal: &Path) -> PathBuf {
    let name = journal.file_name().unwrap_or_default().to_string_lossy();
    journal.with_file_name(name.replacen(".journal", ".count", 1))
}

/// A number that no other journal has; `None` if the system gives none.
pub(super) fn new_id() -> Option<u64> {
    getrandom::u64().ok()
}

/// The numbers in a counter's file, each with the id of its journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts(Vec<(u64, u64)>);

impl Counts {
    /// Those beside a journal; none if there is no counter, or no trust in it.
    pub(super) fn beside(journal: &Path) -> Self {
        trust::read_own(&path_of(journal), 4 << 10).map(|bytes| Self::of(&bytes)).unwrap_or_default()
    }

    fn of(bytes: &[u8]) -> Self {
        let number = |slot: &[u8]| {
            let (hash, text) = std::str::from_utf8(slot).ok()?.strip_suffix('\n')?.split_once(' ')?;
            let (id, count) = text.split_once(' ')?;
            let is_sound = u64::from_str_radix(hash, 16).ok()? == fingerprint(text.as_bytes());
            is_sound.then_some((u64::from_str_radix(id, 16).ok()?, count.parse().ok()?))
        };
        Self(bytes.chunks_exact(SLOT).filter_map(number).collect())
    }

    /// How many lines the journal with this id had.
    pub(super) fn of_journal(&self, id: Option<u64>) -> Option<u64> {
        self.0.iter().filter(|(of, _)| Some(*of) == id).map(|(_, count)| *count).max()
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
    /// Makes the counter of a journal that has just been written; none where that cannot be.
    pub(super) fn create(journal: &Path, id: u64, count: u64) -> Option<Self> {
        let path = path_of(journal);
        // That of the journal before it. It is not written to: it may have a second name.
        let _ = fs::remove_file(&path);
        let file = private().create_new(true).open(&path).ok()?;
        let mut counter = Self { file, id, count, is_second: false };
        counter.write().is_ok().then_some(counter)
    }

    /// Says how many lines are synced now.
    ///
    /// # Errors
    /// When it cannot be written; the number is out of date then.
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
    // Without it the journal can still be replayed; only what is cut off its end is not noticed.
    let _ = fs::rename(path_of(from), path_of(to));
}

/// Links the counter of a journal that was given a second name.
pub(super) fn link(from: &Path, to: &Path) {
    let (from, to) = (path_of(from), path_of(to));
    // As above.
    let _ = fs::hard_link(&from, &to).or_else(|_| fs::rename(from, to));
}

/// Removes the counter of a journal that is removed.
pub(super) fn remove(journal: &Path) {
    // One that stays counts for no other journal.
    let _ = fs::remove_file(path_of(journal));
}
