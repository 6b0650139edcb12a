//! Counts the results of a probe by status class, for the progress line.

use super::record::Record;
use crate::words::{counted, grouped, time};
use std::time::{Duration, Instant};

/// The number of results in each class.
#[derive(Debug)]
pub(crate) struct Tally {
    total: u64,
    start: Instant,
    pages: u64,
    redirects: u64,
    client_errors: u64,
    server_errors: u64,
    blocked: u64,
    failed: u64,
}

impl Tally {
    /// Starts counting for a total number of URLs.
    pub(crate) fn new(total: u64) -> Self {
        let start = Instant::now();
        Self { total, start, pages: 0, redirects: 0, client_errors: 0, server_errors: 0, blocked: 0, failed: 0 }
    }

    /// Counts a result.
    pub(crate) fn count(&mut self, record: &Record) {
        *match record.status {
            None if record.blocked.is_some() => &mut self.blocked,
            Some(..=299) => &mut self.pages,
            Some(300..=399) => &mut self.redirects,
            Some(400..=499) => &mut self.client_errors,
            Some(500..=599) => &mut self.server_errors,
            _ => &mut self.failed,
        } += 1;
    }

    /// The number of URLs with a result.
    pub(crate) const fn done(&self) -> u64 {
        self.pages + self.redirects + self.client_errors + self.server_errors + self.blocked + self.failed
    }

    /// `20 URLs done: 2xx 12, 3xx 3, 4xx 4, blocked by robots.txt 1`
    pub(crate) fn words(&self) -> String {
        format!("{} asked: {}", counted(self.done(), "URL"), self.classes())
    }

    /// Status classes with their counts; those with 0 are omitted, except `2xx`.
    fn classes(&self) -> String {
        let more = [
            ("3xx", self.redirects),
            ("4xx", self.client_errors),
            ("5xx", self.server_errors),
            ("blocked by robots.txt", self.blocked),
            ("errors", self.failed),
        ];
        let more = more.into_iter().filter(|(_, count)| *count > 0);
        let classes = std::iter::once(("2xx", self.pages)).chain(more);
        classes.map(|(class, count)| format!("{class} {}", grouped(count))).collect::<Vec<_>>().join(", ")
    }

    /// `1,204 of 2,000 URLs   4.8/s   3 min left   2xx 1,100, 3xx 104`
    pub(crate) fn progress(&self) -> String {
        self.progress_after(self.start.elapsed())
    }

    fn progress_after(&self, elapsed: Duration) -> String {
        let done = self.done();
        let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
        let mut line = format!("{} of {} URLs   {rate:.1}/s", grouped(done), grouped(self.total));
        let rest = self.total.saturating_sub(done);
        if done > 0 && rest > 0 {
            line.push_str("   ");
            line.push_str(&time((rest as f64 / rate).ceil() as u64));
            line.push_str(" left");
        }
        format!("{line}   {}", self.classes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_class() {
        let mut tally = Tally::new(20);
        for status in [Some(200), Some(200), Some(204), Some(301), Some(404), Some(410), Some(500), None] {
            tally.count(&Record { status, ..Record::default() });
        }
        tally.count(&Record { blocked: Some(3), ..Record::default() });
        let classes = "2xx 3, 3xx 1, 4xx 2, 5xx 1, blocked by robots.txt 1, errors 1";
        assert_eq!(tally.words(), format!("9 URLs asked: {classes}"));
        let line = tally.progress_after(Duration::from_secs(2));
        assert_eq!(line, format!("9 of 20 URLs   4.5/s   3 s left   {classes}"));
        // A million URLs at 5 a second.
        let line = Tally { total: 1_000_009, ..tally }.progress_after(Duration::from_millis(1_800));
        assert!(line.starts_with("9 of 1,000,009 URLs   5.0/s   56 h left   "), "{line}");
    }
}
