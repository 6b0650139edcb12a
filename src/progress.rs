//! Progress counters and a cancel flag, shared by a long task and its observer.
//!
//! Plain atomics: reading them never waits, and a worker that no one watches pays almost nothing.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// How far a piece of work has come, and whether it should stop.
///
/// Counts grow, unless work turns out to have been in vain. `Relaxed` is enough: the numbers are for people, and the cancel flag
/// protects no data.
#[derive(Debug, Default)]
pub struct Progress {
    files_done: AtomicU64,
    files_total: AtomicU64,
    rows: AtomicU64,
    bytes_done: AtomicU64,
    bytes_total: AtomicU64,
    bytes_read: AtomicU64,
    /// [`GOING`], [`CANCELLED`] or [`SEALED`].
    state: AtomicU8,
}

const GOING: u8 = 0;
const CANCELLED: u8 = 1;
const SEALED: u8 = 2;

/// One reading of a [`Progress`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// Files finished.
    pub files_done: u64,
    /// Files known so far.
    pub files_total: u64,
    /// Rows (URLs) done.
    pub rows: u64,
    /// Bytes done, uncompressed.
    pub bytes_done: u64,
    /// Bytes expected, as far as known.
    pub bytes_total: u64,
    /// Bytes that came from the disk and are not done for that.
    pub bytes_read: u64,
    /// Whether it is too late to stop it.
    pub sealed: bool,
}

impl Reading {
    /// Whether all files that are known so far are finished.
    pub const fn is_complete(&self) -> bool {
        self.files_done == self.files_total
    }
}

impl Progress {
    /// Adds to the number of files that the work will touch, and of the bytes in them.
    pub fn expect(&self, files: u64, bytes: u64) {
        self.files_total.fetch_add(files, Ordering::Relaxed);
        self.bytes_total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts files as finished.
    pub fn finish_files(&self, files: u64) {
        self.files_done.fetch_add(files, Ordering::Relaxed);
    }

    /// Counts rows and bytes as done.
    pub fn advance(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes_done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes back what was counted as done and was not.
    pub fn uncount(&self, rows: u64, bytes: u64) {
        self.rows.fetch_sub(rows, Ordering::Relaxed);
        self.bytes_done.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts bytes as read.
    pub fn advance_reading(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Asks the work to stop at its next look; nothing happens once it is sealed.
    pub fn cancel(&self) {
        // Whichever came first stays.
        let _ = self.state.compare_exchange(GOING, CANCELLED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether the work was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Relaxed) == CANCELLED
    }

    /// Says that the work will be finished from here on, whoever asks it to stop. False if someone did already.
    pub fn seal(&self) -> bool {
        self.state.compare_exchange(GOING, SEALED, Ordering::Relaxed, Ordering::Relaxed) != Err(CANCELLED)
    }

    /// Reads all counters.
    pub fn read(&self) -> Reading {
        Reading {
            files_done: self.files_done.load(Ordering::Relaxed),
            files_total: self.files_total.load(Ordering::Relaxed),
            rows: self.rows.load(Ordering::Relaxed),
            bytes_done: self.bytes_done.load(Ordering::Relaxed),
            bytes_total: self.bytes_total.load(Ordering::Relaxed),
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            sealed: self.state.load(Ordering::Relaxed) == SEALED,
        }
    }
}

/// Notes work that grows with the input, such as bytes looked at. Only tests count it, each thread for itself.
#[inline]
pub fn note_work(units: usize) {
    #[cfg(test)]
    work::add(units as u64);
    let _ = units;
}

/// The work of one thread.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local!(static DONE: Cell<u64> = const { Cell::new(0) });

    pub(super) fn add(units: u64) {
        DONE.set(DONE.get() + units);
    }

    /// What was noted on this thread while this was done.
    pub(crate) fn here(act: impl FnOnce()) -> u64 {
        DONE.set(0);
        act();
        DONE.get()
    }

    /// What was noted while this was done, on whatever core.
    pub(crate) fn of(act: impl FnOnce() + Send) -> u64 {
        let Ok(alone) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return 0 };
        alone.install(|| {
            DONE.set(0);
            act();
            DONE.get()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_of_stopping_and_sealing_holds() {
        let one = Progress::default();
        one.cancel();
        assert!(!one.seal() && one.is_cancelled() && !one.read().sealed);
        let other = Progress::default();
        assert!(other.seal() && other.seal());
        other.cancel();
        assert!(!other.is_cancelled() && other.read().sealed);
    }
}
