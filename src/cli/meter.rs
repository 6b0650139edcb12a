//! The progress line on standard error.
//!
//! It is drawn only if standard error is a terminal and the work takes longer than [`PATIENCE`].

use super::Streams;
use crate::progress::{Progress, Reading};
use crate::words::{grouped, size};
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Time between two updates of the line.
const TICK: Duration = Duration::from_millis(100);
/// Time before the line is first drawn.
const PATIENCE: Duration = Duration::from_millis(400);

impl Streams<'_> {
    /// Runs `work` and draws its progress.
    pub(super) fn watched<T>(&mut self, work: impl FnOnce(&Progress) -> T) -> T {
        self.watched_printing(|progress, _| work(progress))
    }

    /// [`Streams::watched`] for work that prints results.
    pub(super) fn watched_printing<T>(&mut self, work: impl FnOnce(&Progress, &mut dyn Write) -> T) -> T {
        let progress = Progress::default();
        if !self.meter {
            return work(&progress, self.out);
        }
        let notes = &mut *self.notes;
        std::thread::scope(|scope| {
            // Dropped when the work returns or panics, which ends the drawing thread.
            let (_done, wait) = channel::<()>();
            let counters = &progress;
            // Without a thread nothing is drawn.
            let _ = std::thread::Builder::new().spawn_scoped(scope, move || draw(counters, &wait, notes));
            work(&progress, self.out)
        })
    }
}

/// Draws the line until the work is done, and clears it.
fn draw(progress: &Progress, wait: &Receiver<()>, notes: &mut (dyn Write + Send)) {
    let begun = Instant::now();
    let mut drawn = false;
    while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        if begun.elapsed() >= PATIENCE {
            let line = words(&progress.read(), begun.elapsed());
            let _ = write!(notes, "\r\x1b[2K{line}").and_then(|()| notes.flush());
            drawn = true;
        }
    }
    if drawn {
        let _ = write!(notes, "\r\x1b[2K").and_then(|()| notes.flush());
    }
}

/// `12 of 200 files   1,204,000 URLs   310.0 MiB of 1.9 GiB   290.1 MiB/s   6 s left`
fn words(now: &Reading, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let rate = now.bytes_done as f64 / seconds;
    let files = format!("{} of {} files", grouped(now.files_done), grouped(now.files_total));
    let (done, rate_words) = (size(now.bytes_done), size(rate as u64));
    let mut line =
        format!("{files}   {} URLs   {done} of {}   {rate_words}/s", grouped(now.rows), size(now.bytes_total));
    let rest = now.bytes_total.saturating_sub(now.bytes_done);
    if rate > 0.0 && rest > 0 {
        line.push_str("   ");
        line.push_str(&grouped((rest as f64 / rate).ceil() as u64));
        line.push_str(" s left");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_the_rate_and_the_time_left() {
        let now = Reading {
            files_done: 2,
            files_total: 8,
            rows: 1_200,
            bytes_done: 10 << 20,
            bytes_total: 40 << 20,
            ..Reading::default()
        };
        let line = words(&now, Duration::from_secs(2));
        assert_eq!(line, "2 of 8 files   1,200 URLs   10.0 MiB of 40.0 MiB   5.0 MiB/s   6 s left");
    }

    #[test]
    fn work_runs_with_and_without_a_progress_line() {
        for meter in [false, true] {
            let (mut out, mut notes) = (Vec::new(), Vec::new());
            let mut streams = Streams { meter, ..Streams::new(&mut out, &mut notes) };
            assert_eq!(streams.watched(|progress| progress.read().rows + 7), 7);
            assert!(notes.is_empty(), "short work draws nothing");
        }
    }
}
