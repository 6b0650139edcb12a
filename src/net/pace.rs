//! Rate limiting of requests to a host.
//!
//! Requests to a host start at regular intervals, and a limited number of them run at a time. If a server throttles
//! (429, 503, `Retry-After`), the interval becomes longer. A host that fails repeatedly is skipped.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of consecutive failures after which a host is skipped.
pub(super) const MAX_FAILURES: u32 = 10;
/// Maximum pause requested by a server; a host that requests a longer one is skipped.
const MAX_PAUSE: Duration = Duration::from_secs(15 * 60);
/// First pause after a server throttled without `Retry-After`; each further pause is twice as long.
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
/// Maximum pause without `Retry-After`, and maximum interval between requests.
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Factor by which the interval is longer than the rate requires, so that network delays never exceed the rate.
const MARGIN: f64 = 1.05;
/// Time between checks of a waiting request whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The limits on requests to each host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum number of requests per second; 0 for no limit.
    pub rate: f64,
    /// Maximum number of requests at a time.
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

/// The rate limiter of a host.
#[derive(Debug)]
pub(super) struct Pace {
    limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    next: Instant,
    /// The minimum interval, from the options of the user and robots.txt.
    min_interval: Duration,
    /// The current interval, which is longer after the server throttled.
    interval: Duration,
    running: usize,
    /// The number of waiting threads; if it is 0, none has to be woken.
    waiting: usize,
    failures: u32,
    /// The start of the last pause. Responses to requests sent before it do not make the pause longer.
    pause_start: Option<Instant>,
    pauses: u32,
    skip_reason: Option<String>,
}

/// Permission to run one request, which is returned on drop.
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
            min_interval: interval,
            interval,
            running: 0,
            waiting: 0,
            failures: 0,
            pause_start: None,
            pauses: 0,
            skip_reason: None,
        };
        Self { limits, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request may be sent. `None` if the host is skipped or the run was stopped.
    pub(super) fn acquire(&self, mut is_stopped: impl FnMut() -> bool) -> Option<Permit<'_>> {
        let mut state = self.lock();
        loop {
            if state.skip_reason.is_some() || is_stopped() {
                return None;
            }
            let now = Instant::now();
            if state.running < self.limits.concurrency.max(1) && state.next <= now {
                state.next = now + state.interval;
                state.running += 1;
                return Some(Permit { pace: self, begun: now });
            }
            let wait = state.next.saturating_duration_since(now).clamp(Duration::from_millis(1), POLL_INTERVAL);
            let wait = if state.next <= now { POLL_INTERVAL } else { wait };
            state.waiting += 1;
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Sets a minimum interval between requests.
    pub(super) fn set_min_interval(&self, set_min_interval: Duration) {
        let mut state = self.lock();
        state.min_interval = state.min_interval.max(set_min_interval);
        state.interval = state.interval.max(set_min_interval);
        state.next = state.next.max(Instant::now() + set_min_interval);
    }

    /// Resets the counts of failures and pauses, and shortens the interval.
    pub(super) fn note_success(&self) {
        let mut state = self.lock();
        (state.failures, state.pauses) = (0, 0);
        state.interval = state.interval.mul_f64(0.9).max(state.min_interval);
    }

    /// Counts a failure; the host is skipped after too many consecutive ones. Returns whether it is skipped.
    pub(super) fn note_failure(&self, reason: &str) -> bool {
        let mut state = self.lock();
        state.failures += 1;
        if state.failures >= MAX_FAILURES && state.skip_reason.is_none() {
            state.skip_reason = Some(format!("{MAX_FAILURES} failures in a row; the last one: {reason}"));
            self.changed.notify_all();
        }
        state.skip_reason.is_some()
    }

    /// Skips the host from now on.
    pub(super) fn skip(&self, reason: String) {
        self.lock().skip_reason.get_or_insert(reason);
        self.changed.notify_all();
    }

    /// Pauses requests, because the server throttled. Returns whether the host is skipped.
    pub(super) fn back_off(&self, permit: &Permit<'_>, wanted: Option<Duration>) -> bool {
        let mut state = self.lock();
        if wanted.is_some_and(|wanted| wanted > MAX_PAUSE) {
            let seconds = wanted.unwrap_or_default().as_secs();
            state.skip_reason.get_or_insert(format!("the server asks for a pause of {seconds} s"));
            self.changed.notify_all();
            return true;
        }
        let now = Instant::now();
        // Responses to requests that ran at the same time cause only one pause.
        if state.pause_start.is_none_or(|pause_start| permit.begun > pause_start) {
            let backoff = INITIAL_BACKOFF.saturating_mul(1 << state.pauses.min(6)).min(MAX_BACKOFF);
            state.pauses += 1;
            state.pause_start = Some(now);
            state.interval = (state.interval * 2).min(MAX_BACKOFF).max(state.min_interval);
            state.next = state.next.max(now + wanted.unwrap_or(backoff));
        } else if let Some(wanted) = wanted {
            state.next = state.next.max(now + wanted);
        }
        state.skip_reason.is_some()
    }

    /// The reason why the host is skipped, if it is.
    pub(super) fn skip_reason(&self) -> Option<String> {
        self.lock().skip_reason.clone()
    }
}

/// Parses the header `Retry-After`: seconds, or a date.
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
    fn requests_start_at_intervals_with_limited_concurrency() {
        let pace = Pace::new(Limits { rate: 0.001, concurrency: 4 });
        let first = pace.acquire(|| false).unwrap();
        assert!(next_in(&pace) > Duration::from_secs(900));
        assert!(pace.acquire(|| true).is_none());
        drop(first);
        let free = Pace::new(Limits { rate: 0.0, concurrency: 2 });
        let permits = [free.acquire(|| false).unwrap(), free.acquire(|| false).unwrap()];
        assert_eq!((free.lock().running, permits.len()), (2, 2));
        let mut checks = 0;
        assert!(
            free.acquire(|| {
                checks += 1;
                checks > 2
            })
            .is_none()
        );
        drop(permits);
        assert_eq!(free.lock().running, 0);
    }

    #[test]
    fn a_rate_limiting_server_gets_fewer_requests() {
        let pace = Pace::new(Limits { rate: 1_000.0, concurrency: 4 });
        let (one, other) = (pace.acquire(|| false).unwrap(), pace.acquire(|| false).unwrap());
        assert!(!pace.back_off(&one, None) && !pace.back_off(&other, None));
        assert_eq!(pace.lock().pauses, 1);
        assert!(!pace.back_off(&one, Some(Duration::from_secs(600))));
        assert!(next_in(&pace) > Duration::from_secs(500));
        assert!(pace.back_off(&one, Some(Duration::from_secs(3_600))));
        assert!(pace.skip_reason().unwrap().contains("a pause of 3600 s"));
        let slow = pace.lock().interval;
        pace.note_success();
        assert!(pace.lock().interval < slow);
    }

    #[test]
    fn a_host_is_skipped_after_consecutive_failures() {
        let pace = Pace::new(Limits { rate: 0.0, concurrency: 1 });
        for _ in 1..MAX_FAILURES {
            assert!(!pace.note_failure("refused"));
        }
        pace.note_success();
        for _ in 1..MAX_FAILURES {
            assert!(!pace.note_failure("refused"));
        }
        assert!(pace.note_failure("reset") && pace.acquire(|| false).is_none());
        assert_eq!(pace.skip_reason().as_deref(), Some("10 failures in a row; the last one: reset"));
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        assert_eq!(retry_after(" 120 "), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(retry_after("soon"), None);
    }
}
