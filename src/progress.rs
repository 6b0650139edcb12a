//! Progress counters and a cancel flag, shared by a long task and its observer.
//!
//! Plain atomics: reading them never blocks, and counting costs almost nothing if no one reads the counters.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Progress counters of a task and its cancel flag.
///
/// Counters only increase, except in [`Progress::uncount`]. `Relaxed` is enough: the numbers are for people, and the
/// cancel flag protects no data.
#[derive(Debug, Default)]
pub struct Progress {
    files_done: AtomicU64,
    files_total: AtomicU64,
    rows: AtomicU64,
    bytes_done: AtomicU64,
    bytes_total: AtomicU64,
    bytes_read: AtomicU64,
    bytes_held: AtomicU64,
    /// [`RUNNING`], [`CANCELLED`] or [`SEALED`].
    state: AtomicU8,
}

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const SEALED: u8 = 2;

/// The values of a [`Progress`] at one time.
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
    /// Bytes expected in the files known so far.
    pub bytes_total: u64,
    /// Bytes read from disk; they count as done only after they were processed.
    pub bytes_read: u64,
    /// Bytes of files that stay in memory, uncompressed.
    pub bytes_held: u64,
    /// Whether the task can no longer be cancelled.
    pub sealed: bool,
}

impl Reading {
    /// Whether all files that are known so far are finished.
    pub const fn is_complete(&self) -> bool {
        self.files_done == self.files_total
    }
}

impl Progress {
    /// Adds to the totals of files and bytes that the task will process.
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

    /// Subtracts rows and bytes that were counted as done but whose result was discarded.
    pub fn uncount(&self, rows: u64, bytes: u64) {
        self.rows.fetch_sub(rows, Ordering::Relaxed);
        self.bytes_done.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts bytes as read.
    pub fn advance_reading(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes of files that stay in memory.
    pub fn hold(&self, bytes: u64) {
        self.bytes_held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Requests cancellation, which the task notices at its next check. No effect after [`Progress::seal`].
    pub fn cancel(&self) {
        // Of `cancel` and `seal`, only the first call takes effect.
        let _ = self.state.compare_exchange(RUNNING, CANCELLED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Relaxed) == CANCELLED
    }

    /// Makes the task impossible to cancel from now on. False if it was cancelled before.
    pub fn seal(&self) -> bool {
        self.state.compare_exchange(RUNNING, SEALED, Ordering::Relaxed, Ordering::Relaxed) != Err(CANCELLED)
    }

    /// Whether fewer files are unfinished than there are cores, so that work on one of them should use several.
    pub fn has_idle_cores(&self) -> bool {
        let Reading { files_done, files_total, .. } = self.read();
        files_total.saturating_sub(files_done) < rayon::current_num_threads() as u64
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
            bytes_held: self.bytes_held.load(Ordering::Relaxed),
            sealed: self.state.load(Ordering::Relaxed) == SEALED,
        }
    }
}

/// Counts work that grows with the input, such as bytes examined. Does nothing outside of tests, which check that costs
/// stay linear. Each thread has its own counter.
#[inline]
pub fn note_work(units: usize) {
    #[cfg(test)]
    work::add(units as u64);
    let _ = units;
}

/// The work counter of each thread.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local!(static DONE: Cell<u64> = const { Cell::new(0) });

    pub(super) fn add(units: u64) {
        DONE.set(DONE.get() + units);
    }

    /// The units of work that a function does on this thread.
    pub(crate) fn here(act: impl FnOnce()) -> u64 {
        DONE.set(0);
        act();
        DONE.get()
    }

    /// The units of work that a function does, including its parallel tasks: it runs in a pool of one thread.
    pub(crate) fn of(act: impl FnOnce() + Send) -> u64 {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return 0 };
        pool.install(|| {
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
    fn cores_are_idle_if_fewer_files_are_left() {
        let cores = rayon::current_num_threads() as u64;
        let progress = Progress::default();
        progress.expect(cores + 1, 0);
        assert!(!progress.has_idle_cores());
        progress.finish_files(1);
        assert!(!progress.has_idle_cores(), "one file for each core");
        progress.finish_files(1);
        assert!(progress.has_idle_cores());
    }

    #[test]
    fn the_first_of_cancel_and_seal_takes_effect() {
        let one = Progress::default();
        one.cancel();
        assert!(!one.seal() && one.is_cancelled() && !one.read().sealed);
        let other = Progress::default();
        assert!(other.seal() && other.seal());
        other.cancel();
        assert!(!other.is_cancelled() && other.read().sealed);
    }
}
