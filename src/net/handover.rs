//! Hands values from many worker threads to one thread, in batches.
//!
//! A channel wakes the thread that takes for every value. Where a server answers at once, that takes longer than the
//! request: here the thread is woken for the first value, and again when enough have gathered or a moment has passed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Values that wait to be taken, at most: a worker that has another one waits too.
pub(super) const MOST_WAITING: usize = 256;
/// Values that are taken without waiting for more.
const ENOUGH: usize = 64;
/// How long values gather.
const GATHERED: Duration = Duration::from_millis(1);

/// Values on their way.
#[derive(Debug)]
pub(super) struct Handover<T> {
    state: Mutex<State<T>>,
    given: Condvar,
    taken: Condvar,
}

#[derive(Debug)]
struct State<T> {
    waiting: Vec<T>,
    workers: usize,
    /// Whether nothing is taken any more.
    is_closed: bool,
}

/// The sending side. The handover ends when its last sender is dropped.
#[derive(Debug)]
pub(super) struct HandoverSender<'h, T>(&'h Handover<T>);

impl<T> Handover<T> {
    pub(super) fn new() -> Self {
        let state = State { waiting: Vec::new(), workers: 0, is_closed: false };
        Self { state: Mutex::new(state), given: Condvar::new(), taken: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sender(&self) -> HandoverSender<'_, T> {
        self.lock().workers += 1;
        HandoverSender(self)
    }

    /// The values that are there, none after `patience`; `None` when there will be no more.
    pub(super) fn take(&self, patience: Duration) -> Option<Vec<T>> {
        let wait = |state, time, is_short: fn(&mut State<T>) -> bool| {
            self.given.wait_timeout_while(state, time, is_short).unwrap_or_else(PoisonError::into_inner).0
        };
        let state = wait(self.lock(), patience, |state| state.waiting.is_empty() && state.workers > 0);
        if state.waiting.is_empty() {
            return (state.workers > 0).then(Vec::new);
        }
        let mut state = wait(state, GATHERED, |state| state.waiting.len() < ENOUGH && state.workers > 0);
        let values = std::mem::take(&mut state.waiting);
        drop(state);
        self.taken.notify_all();
        Some(values)
    }

    /// Takes nothing any more.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.taken.notify_all();
    }
}

impl<T> HandoverSender<'_, T> {
    /// Gives a value; false if nothing is taken any more.
    pub(super) fn push(&self, value: T) -> bool {
        let Self(handover) = self;
        let is_full = |state: &mut State<T>| state.waiting.len() >= MOST_WAITING && !state.is_closed;
        let waited = handover.taken.wait_while(handover.lock(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return false;
        }
        state.waiting.push(value);
        let is_awaited = matches!(state.waiting.len(), 1 | ENOUGH);
        drop(state);
        if is_awaited {
            handover.given.notify_one();
        }
        true
    }
}

impl<T> Drop for HandoverSender<'_, T> {
    fn drop(&mut self) {
        self.0.lock().workers -= 1;
        self.0.given.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn every_value_arrives_and_then_there_are_no_more() {
        let handover = Handover::new();
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let sender = handover.sender();
                scope.spawn(move || (0..1_000).for_each(|number| assert!(sender.push(worker * 1_000 + number))));
            }
            while let Some(values) = handover.take(LONG) {
                assert!(values.len() <= MOST_WAITING);
                all.extend(values);
            }
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..8_000));
    }

    #[test]
    fn who_waits_for_room_ends_when_nothing_is_taken_any_more() {
        let handover = Handover::new();
        let given = std::thread::scope(|scope| {
            let sender = handover.sender();
            let worker = scope.spawn(move || (0..usize::MAX).take_while(|number| sender.push(*number)).count());
            let first = handover.take(LONG).unwrap();
            assert!(!first.is_empty());
            handover.close();
            worker.join().unwrap()
        });
        assert!(given <= 2 * MOST_WAITING, "{given}");
    }

    #[test]
    fn no_one_waits_longer_than_wanted() {
        let handover = Handover::<u8>::new();
        let sender = handover.sender();
        assert_eq!(handover.take(Duration::from_millis(1)), Some(Vec::new()));
        assert!(sender.push(1));
        assert_eq!(handover.take(LONG), Some(vec![1]));
        drop(sender);
        assert_eq!(handover.take(LONG), None);
    }
}
