//! A bounded queue from several worker threads to one thread, which receives the values in batches.
//!
//! A channel wakes the receiving thread for every value, which takes longer than a request to a fast server. Here it is
//! woken for the first value, and again when a batch is full or after a short delay.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of queued values; workers with more values wait.
pub(super) const MAX_QUEUED: usize = 256;
/// Number of values that are received without waiting for more.
const BATCH_SIZE: usize = 64;
/// Maximum time to wait for a full batch.
const BATCH_DELAY: Duration = Duration::from_millis(1);

/// The queue.
#[derive(Debug)]
pub(super) struct Handover<T> {
    state: Mutex<State<T>>,
    not_empty: Condvar,
    not_full: Condvar,
}

#[derive(Debug)]
struct State<T> {
    queued: Vec<T>,
    senders: usize,
    /// Whether the receiver has stopped.
    is_closed: bool,
}

/// The sending side. The queue ends when its last sender is dropped.
#[derive(Debug)]
pub(super) struct HandoverSender<'h, T>(&'h Handover<T>);

impl<T> Handover<T> {
    pub(super) fn new() -> Self {
        let state = State { queued: Vec::new(), senders: 0, is_closed: false };
        Self { state: Mutex::new(state), not_empty: Condvar::new(), not_full: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sender(&self) -> HandoverSender<'_, T> {
        self.lock().senders += 1;
        HandoverSender(self)
    }

    /// Receives the queued values. The batch is empty if there is none within `patience`; `None` at the end of the
    /// queue.
    pub(super) fn take(&self, patience: Duration) -> Option<Vec<T>> {
        let wait = |state, time, is_short: fn(&mut State<T>) -> bool| {
            self.not_empty.wait_timeout_while(state, time, is_short).unwrap_or_else(PoisonError::into_inner).0
        };
        let state = wait(self.lock(), patience, |state| state.queued.is_empty() && state.senders > 0);
        if state.queued.is_empty() {
            return (state.senders > 0).then(Vec::new);
        }
        let mut state = wait(state, BATCH_DELAY, |state| state.queued.len() < BATCH_SIZE && state.senders > 0);
        let values = std::mem::take(&mut state.queued);
        drop(state);
        self.not_full.notify_all();
        Some(values)
    }

    /// Stops receiving, so that senders do not wait.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.not_full.notify_all();
    }
}

impl<T> HandoverSender<'_, T> {
    /// Queues a value; false if the receiver has stopped.
    pub(super) fn push(&self, value: T) -> bool {
        let Self(handover) = self;
        let is_full = |state: &mut State<T>| state.queued.len() >= MAX_QUEUED && !state.is_closed;
        let waited = handover.not_full.wait_while(handover.lock(), is_full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return false;
        }
        state.queued.push(value);
        let is_awaited = matches!(state.queued.len(), 1 | BATCH_SIZE);
        drop(state);
        if is_awaited {
            handover.not_empty.notify_one();
        }
        true
    }
}

impl<T> Drop for HandoverSender<'_, T> {
    fn drop(&mut self) {
        self.0.lock().senders -= 1;
        self.0.not_empty.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn every_value_is_received_before_the_end() {
        let handover = Handover::new();
        let mut all = Vec::new();
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let sender = handover.sender();
                scope.spawn(move || (0..1_000).for_each(|number| assert!(sender.push(worker * 1_000 + number))));
            }
            while let Some(values) = handover.take(LONG) {
                assert!(values.len() <= MAX_QUEUED);
                all.extend(values);
            }
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..8_000));
    }

    #[test]
    fn a_sender_waiting_for_space_ends_when_the_queue_is_closed() {
        let handover = Handover::new();
        let not_empty = std::thread::scope(|scope| {
            let sender = handover.sender();
            let worker = scope.spawn(move || (0..usize::MAX).take_while(|number| sender.push(*number)).count());
            let first = handover.take(LONG).unwrap();
            assert!(!first.is_empty());
            handover.close();
            worker.join().unwrap()
        });
        assert!(not_empty <= 2 * MAX_QUEUED, "{not_empty}");
    }

    #[test]
    fn receiving_ends_at_the_timeout_or_without_senders() {
        let handover = Handover::<u8>::new();
        let sender = handover.sender();
        assert_eq!(handover.take(Duration::from_millis(1)), Some(Vec::new()));
        assert!(sender.push(1));
        assert_eq!(handover.take(LONG), Some(vec![1]));
        drop(sender);
        assert_eq!(handover.take(LONG), None);
    }
}
