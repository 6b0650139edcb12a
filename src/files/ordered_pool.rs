//! Runs work on the thread pool a few items ahead, and delivers the results in order.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;

/// Runs `work` for every item and passes the results to `take` in the order of the items. At most one item more than
/// the pool has threads is started before the first result is taken. If `take` returns false, results already in
/// progress are dropped.
pub(crate) fn in_order<I: Sync, O: Send>(
    items: &[I],
    work: impl Fn(&I) -> O + Sync,
    mut take: impl FnMut(&I, O) -> bool,
) {
    // Waiting for the pool on one of its own threads could deadlock.
    if items.len() < 2 || rayon::current_thread_index().is_some() {
        for item in items {
            if !take(item, work(item)) {
                return;
            }
        }
        return;
    }
    // One item for each thread and one ready result; more would only use memory.
    let ahead = rayon::current_num_threads() + 1;
    let work = &work;
    rayon::in_place_scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let start = |number: usize| {
            let Some(item) = items.get(number) else { return };
            let sender = sender.clone();
            scope.spawn(move |_| {
                // Pass a panic on to the waiting thread, which would otherwise wait forever.
                let _ = sender.send((number, catch_unwind(AssertUnwindSafe(|| work(item)))));
            });
        };
        (0..ahead).for_each(start);
        let mut early = BTreeMap::new();
        for (next, item) in items.iter().enumerate() {
            let result = loop {
                if let Some(result) = early.remove(&next) {
                    break result;
                }
                let Ok((number, result)) = receiver.recv() else { return };
                early.insert(number, result);
            };
            if !take(item, result.unwrap_or_else(|panic| resume_unwind(panic))) {
                return;
            }
            start(next + ahead);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_are_in_order_and_few_items_are_started_ahead() {
        let items: Vec<usize> = (0..200).collect();
        let begun = AtomicUsize::new(0);
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            item * 2
        };
        let mut seen = Vec::new();
        in_order(&items, work, |item, result| {
            assert_eq!(result, item * 2);
            assert!(begun.load(Ordering::Relaxed) <= item + 1 + rayon::current_num_threads());
            seen.push(*item);
            true
        });
        assert_eq!(seen, items);
    }

    #[test]
    fn the_consumer_can_stop() {
        let items: Vec<usize> = (0..200).collect();
        let (begun, mut taken) = (AtomicUsize::new(0), 0);
        in_order(
            &items,
            |_| begun.fetch_add(1, Ordering::Relaxed),
            |_, _| {
                taken += 1;
                taken < 10
            },
        );
        assert_eq!(taken, 10);
        assert!(begun.load(Ordering::Relaxed) <= 11 + rayon::current_num_threads());
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_of_the_work_is_passed_to_the_waiting_thread() {
        in_order(&[0, 1, 2, 3], |item| assert!(*item < 2, "on purpose"), |_, ()| true);
    }
}
