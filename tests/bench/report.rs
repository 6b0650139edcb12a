//! Measures times, and prints the table of results.
//!
//! The best of several rounds counts, since other work on the machine only adds time. Shapes are compared with other
//! programs by medians of alternating runs.

use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

/// The best time of several rounds. Results of the work are dropped after the measurement.
pub(crate) fn best<T>(rounds: u32, mut work: impl FnMut() -> T) -> Duration {
    (0..rounds.max(1)).map(|_| time(&mut work).0).min().expect("at least one round")
}

/// The time and the result of one piece of work.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = std::hint::black_box(work());
    (start.elapsed(), result)
}

/// Resident memory of a process, in bytes.
pub(crate) struct Resident {
    pub(crate) now: u64,
    pub(crate) peak: u64,
    /// Without pages of files, which are mostly code and can be shared by processes.
    pub(crate) anonymous: u64,
}

/// The memory of this process; `None` if the system does not report it.
pub(crate) fn resident() -> Option<Resident> {
    resident_of("self")
}

/// [`resident`] for another process.
pub(crate) fn resident_of(process: &str) -> Option<Resident> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
    };
    Some(Resident { now: field("VmRSS:")?, peak: field("VmHWM:")?, anonymous: field("RssAnon:")? })
}

/// The measurements of one run.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    measured: String,
    allowed: String,
    /// The measured value divided by the allowed one.
    ratio: Option<f64>,
}

impl Report {
    /// Adds a time and its limit.
    pub(crate) fn time(&mut self, what: &str, measured: Duration, allowed: Option<Duration>) {
        let ratio = allowed.map(|allowed| measured.as_secs_f64() / allowed.as_secs_f64());
        let text = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
        self.add(what, text(measured), allowed.map(text), ratio);
    }

    /// Adds the time of another program, or reports that it is not installed.
    pub(crate) fn peer(&mut self, what: &str, measured: Option<Duration>) {
        match measured {
            Some(measured) => self.time(&format!("({what})"), measured, None),
            None => self.add(&format!("({what})"), "MISSING".to_owned(), None, None),
        }
    }

    /// Adds a number of bytes and its limit.
    pub(crate) fn bytes(&mut self, what: &str, measured: u64, allowed: Option<u64>) {
        let ratio = allowed.map(|allowed| measured as f64 / allowed as f64);
        let text = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        self.add(what, text(measured), allowed.map(text), ratio);
    }
    /// Adds a count and its expected value.
    pub(crate) fn count(&mut self, what: &str, measured: u64, allowed: u64) {
        self.add(what, measured.to_string(), Some(allowed.to_string()), Some(measured as f64 / allowed as f64));
    }

    /// The results as a Markdown table.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::from("| What | measured | allowed | ratio |\n|---|---:|---:|---:|\n");
        for row in &self.rows {
            let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            let ratio = if row.ratio.is_some_and(|ratio| ratio > 1.0) { format!("**{ratio}**") } else { ratio };
            // Writing to a text cannot fail.
            let _ =
                writeln!(out, "| {} | {} | {} | {ratio} |", row.what.replace('|', "\\|"), row.measured, row.allowed);
        }
        out
    }

    fn add(&mut self, what: &str, measured: String, allowed: Option<String>, ratio: Option<f64>) {
        self.rows.push(Row { what: what.to_owned(), measured, allowed: allowed.unwrap_or_default(), ratio });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.what.chars().count()).max().unwrap_or_default();
        writeln!(f, "{:width$}  {:>12}  {:>12}  {:>6}", "", "measured", "allowed", "ratio")?;
        for row in &self.rows {
            let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            let over = if row.ratio.is_some_and(|ratio| ratio > 1.0) { "  over" } else { "" };
            writeln!(f, "{:width$}  {:>12}  {:>12}  {ratio:>6}{over}", row.what, row.measured, row.allowed)?;
        }
        Ok(())
    }
}
