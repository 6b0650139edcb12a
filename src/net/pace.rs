//! Request pacing: the time of the next request to a host.
//!
//! Requests to one host begin at even intervals and never more than a number of them run at a time. A server that asks
//! for less (429, 503, `Retry-After`) gets less; one that fails again and again is left alone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Failures in a row after which a host is left alone.
pub(super) const MOST_FAILURES: u32 = 10;
/// Pauses that a server asks for are waited out up to this length.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// The first pause after a server said that it is asked too much, and did not say how long to wait; each next one is
/// twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_GUESS: Duration = Duration::from_secs(60);
/// How much longer than exact the interval is, so that delays on the way never make a second have more requests.
const MARGIN: f64 = 1.05;
/// How often a waiting request looks whether the work was stopped.
const LOOK: Duration = Duration::from_millis(200);

/// The most that one host is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Requests a second; 0 means no limit.
    pub rate: f64,
    /// Requests at a time.
    pub concurrency: usize,
}

impl Limits {
    fn interval(self) -> Duration {
        if self.rate > 0.0 {
            Duration::try_from_secs_f64(MARGIN / self.rate).unwrap_or(Duration::MAX)
        } else {
            Duration::ZERO
        }
    }
}

/// Gives requests to one host their time.
#[derive(Debug)]
pub(super) struct Pace {
    limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    next: Instant,
    /// What the user and robots.txt want at least.
    least: Duration,
    /// The interval in use, longer after the server asked for less.
    interval: Duration,
    running: usize,
    /// How many wait for their time: without them no one has to be woken.
    waiting: usize,
    failures: u32,
    /// When the last pause began: answers to requests from before it do not make it longer.
    paused: Option<Instant>,
    pauses: u32,
    stopped: Option<String>,
}

/// The right to have one request run.
#[derive(Debug)]
pub(super) struct Permit<'p> {
    pace: &'p Pace,
    begun: Instant,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.pace.lock();
        state.running -= 1;
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.pace.changed.notify_all();
        }
    }
}

impl Pace {
    pub(super) fn new(limits: Limits) -> Self {
        let interval = limits.interval();
        let state = State {
            next: Instant::now(),
            least: interval,
            interval,
            running: 0,
            waiting: 0,
            failures: 0,
            paused: None,
            pauses: 0,
            stopped: None,
        };
        Self { limits, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request may be sent. `None` when the host is skipped, or the work was stopped.
    pub(super) fn acquire(&self, mut is_stopped: impl FnMut() -> bool) -> Option<Permit<'_>> {
        let mut state = self.lock();
        loop {
            if state.stopped.is_some() || is_stopped() {
                return None;
            }
            let now = Instant::now();
            if state.running < self.limits.concurrency.max(1) && state.next <= now {
                state.next = now + state.interval;
                state.running += 1;
                return Some(Permit { pace: self, begun: now });
            }
            let wait = state.next.saturating_duration_since(now).clamp(Duration::from_millis(1), LOOK);
            let wait = if state.next <= now { LOOK } else { wait };
            state.waiting += 1;
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Keeps at least so much time between requests.
    pub(super) fn delay(&self, delay: Duration) {
        let mut state = self.lock();
        state.least = state.least.max(delay);
        state.interval = state.interval.max(delay);
        state.next = state.next.max(Instant::now() + delay);
    }

    /// An answer came that is not a failure.
    pub(super) fn note_success(&self) {
        let mut state = self.lock();
        (state.failures, state.pauses) = (0, 0);
        state.interval = state.interval.mul_f64(0.9).max(state.least);
    }

    /// Counts a failure; the host is skipped after too many in a row. Returns whether it is.
    pub(super) fn fail(&self, why: &str) -> bool {
        let mut state = self.lock();
        state.failures += 1;
        if state.failures >= MOST_FAILURES && state.stopped.is_none() {
            state.stopped = Some(format!("{MOST_FAILURES} failures in a row; the last one: {why}"));
            self.changed.notify_all();
        }
        state.stopped.is_some()
    }

    /// Leaves the host alone.
    pub(super) fn stop(&self, why: String) {
        self.lock().stopped.get_or_insert(why);
        self.changed.notify_all();
    }

    /// Pauses, because the server said that it is asked too much. Returns whether the host is skipped now.
    pub(super) fn slow_down(&self, permit: &Permit<'_>, wanted: Option<Duration>) -> bool {
        let mut state = self.lock();
        if wanted.is_some_and(|wanted| wanted > LONGEST_PAUSE) {
            let seconds = wanted.unwrap_or_default().as_secs();
            state.stopped.get_or_insert(format!("the server asks for a pause of {seconds} s"));
            self.changed.notify_all();
            return true;
        }
        let now = Instant::now();
        // Requests that ran at the same time are one reason, not several.
        if state.paused.is_none_or(|paused| permit.begun > paused) {
            let guess = FIRST_PAUSE.saturating_mul(1 << state.pauses.min(6)).min(LONGEST_GUESS);
            state.pauses += 1;
            state.paused = Some(now);
            state.interval = (state.interval * 2).min(LONGEST_GUESS).max(state.least);
            state.next = state.next.max(now + wanted.unwrap_or(guess));
        } else if let Some(wanted) = wanted {
            state.next = state.next.max(now + wanted);
        }
        state.stopped.is_some()
    }

    /// Why the host is skipped, if it is.
    pub(super) fn stopped(&self) -> Option<String> {
        self.lock().stopped.clone()
    }
}

/// The value of `Retry-After`: seconds, or a date.
pub(super) fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = chrono::DateTime::parse_from_rfc2822(text).ok()?;
    Some((date.with_timezone(&chrono::Utc) - chrono::Utc::now()).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next_in(pace: &Pace) -> Duration {
        pace.lock().next.saturating_duration_since(Instant::now())
    }

    #[test]
    fn requests_begin_at_intervals_and_only_so_many_run() {
        let pace = Pace::new(Limits { rate: 0.001, concurrency: 4 });
        let first = pace.acquire(|| false).unwrap();
        assert!(next_in(&pace) > Duration::from_secs(900));
        assert!(pace.acquire(|| true).is_none());
        drop(first);
        let free = Pace::new(Limits { rate: 0.0, concurrency: 2 });
        let permits = [free.acquire(|| false).unwrap(), free.acquire(|| false).unwrap()];
        assert_eq!((free.lock().running, permits.len()), (2, 2));
        let mut looks = 0;
        assert!(
            free.acquire(|| {
                looks += 1;
                looks > 2
            })
            .is_none()
        );
        drop(permits);
        assert_eq!(free.lock().running, 0);
    }

    #[test]
    fn a_server_that_is_asked_too_much_gets_less() {
        let pace = Pace::new(Limits { rate: 1_000.0, concurrency: 4 });
        let (one, other) = (pace.acquire(|| false).unwrap(), pace.acquire(|| false).unwrap());
        assert!(!pace.slow_down(&one, None) && !pace.slow_down(&other, None));
        assert_eq!(pace.lock().pauses, 1);
        assert!(!pace.slow_down(&one, Some(Duration::from_secs(600))));
        assert!(next_in(&pace) > Duration::from_secs(500));
        assert!(pace.slow_down(&one, Some(Duration::from_secs(3_600))));
        assert!(pace.stopped().unwrap().contains("a pause of 3600 s"));
        let slow = pace.lock().interval;
        pace.note_success();
        assert!(pace.lock().interval < slow);
    }

    #[test]
    fn a_host_is_left_alone_after_failures_in_a_row() {
        let pace = Pace::new(Limits { rate: 0.0, concurrency: 1 });
        for _ in 1..MOST_FAILURES {
            assert!(!pace.fail("refused"));
        }
        pace.note_success();
        for _ in 1..MOST_FAILURES {
            assert!(!pace.fail("refused"));
        }
        assert!(pace.fail("reset") && pace.acquire(|| false).is_none());
        assert_eq!(pace.stopped().as_deref(), Some("10 failures in a row; the last one: reset"));
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        assert_eq!(retry_after(" 120 "), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(retry_after("soon"), None);
    }
}
