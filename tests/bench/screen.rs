//! Measures the built program in a pseudo-terminal: the time from the start to the first rows, and from a key to its
//! frame.

use super::generate::Set;
use super::report::{Report, Resident, resident_of};
use super::support::Folder;
use super::support::terminal::{Start, Terminal};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Minimum number of measured starts.
const STARTS: u32 = 5;

/// Number of measured keys.
const KEYS: usize = 200;

/// Starts the program, waits for the first rows and for all of them, then moves the cursor.
pub(crate) fn measure(set: &Set, rounds: u32, report: &mut Report) {
    let folder = Folder::new();
    let begin = || {
        let start = Instant::now();
        let terminal = Start::new(&folder).size(120, 40).arguments([set.index.to_string_lossy()]).start();
        // Until the hosts are known, URLs are shown with their origin.
        let is_first = |row: String| row.contains(" 1  /") || row.contains(" 1  http");
        terminal.wait_until("the first row", |screen| screen.rows(0, 120).any(is_first));
        (terminal, start, start.elapsed())
    };
    let mut best = Duration::MAX;
    // All but the last end at the first rows, whose cost does not depend on the size of the set.
    let starts = if rounds > 1 { rounds.max(STARTS) } else { 1 };
    for _ in 1..starts {
        let (terminal, _, first) = begin();
        best = best.min(first);
        terminal.signal(Signal::TERM);
        terminal.wait_exit();
    }
    let (terminal, start, first) = begin();
    let first = best.min(first);
    report.time("screen: first rows, from the start of the program", first, Some(Duration::from_millis(100)));
    wait_until_ready(&terminal, set);
    report.time("screen: ready", start.elapsed(), None);
    // Down, a page down, to the end and back: each key shows another position.
    let mut times: Vec<_> = (0..KEYS).map(|number| key(&terminal, ["j", "\x06", "G", "gg"][number % 4])).collect();
    times.sort();
    let at = |part: usize| times.get(KEYS * part / 100).copied().unwrap_or_default();
    report.time("screen: a key to its frame, median", at(50), None);
    report.time("screen: a key to its frame, 95th percentile", at(95), Some(Duration::from_millis(16)));
}

/// Opens the set in the program. Returns the time from its start until the screen shows that the set is open, and its
/// memory after that.
pub(crate) fn open(set: &Set) -> (Duration, Option<Resident>) {
    let folder = Folder::new();
    let start = Instant::now();
    let terminal = Start::new(&folder).size(120, 40).arguments([set.index.to_string_lossy()]).start();
    wait_until_ready(&terminal, set);
    let ready = start.elapsed();
    // Until the threads of the load have ended and their memory is freed.
    std::thread::park_timeout(Duration::from_millis(300));
    (ready, resident_of(&terminal.pid().to_string()))
}

/// Waits until all rows of the set are known, and the cursor is in the first.
pub(crate) fn wait_until_ready(terminal: &Terminal, set: &Set) {
    terminal.wait_for(&format!("{} URLs", grouped(set.urls)));
    terminal.wait_for(&format!("1/{}", grouped(set.urls)));
    terminal.wait_for("NORMAL");
}

/// Sends a key. Returns the time until the position of the cursor in the corner changes. Keys are sent at the rate of a
/// key that is held down, since the program draws at most one frame in 16 ms.
pub(crate) fn key(terminal: &Terminal, key: &str) -> Duration {
    std::thread::park_timeout(Duration::from_millis(30));
    // Without the number of rows behind the slash, which grows while files are opened, and without the hints before it, which
    // change when they are open. A changed hint would end the wait before the frame of the key, and the next key could undo
    // it before it is drawn: then no frame shows another position.
    let position = |screen: &vt100::Screen| {
        let corner = screen.rows(0, 120).last().unwrap_or_default();
        let (before, _) = corner.rsplit_once('/')?;
        before.rsplit(' ').next().map(str::to_owned)
    };
    let before = terminal.look(position);
    let start = Instant::now();
    terminal.send(key);
    terminal.wait_until("another position", |screen| position(screen) != before);
    start.elapsed()
}

fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
