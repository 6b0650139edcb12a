//! Runs work on the thread pool a few items ahead, and delivers the results in order.

use rayon::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;

/// The limit of the bytes of items that are in memory at the same time; a single item may exceed it.
pub(crate) struct MaxBytes<S> {
    /// Bytes.
    pub max: u64,
    /// The bytes of an item.
    pub size: S,
}

/// Runs `work` for every item and passes the results to `take` in the order of the items. While a result is taken, at
/// most one further item more than the pool has threads is started, and at most as many as the limit allows. On a thread
/// of the pool, groups of so many items are worked on. If `take` returns false, results already in progress are dropped.
pub(crate) fn in_order<I: Sync, O: Send, S: Fn(&I) -> u64>(
    items: &[I],
    limit: MaxBytes<S>,
    work: impl Fn(&I) -> O + Sync,
    mut take: impl FnMut(&I, O) -> bool,
) {
    if let [item] = items {
        take(item, work(item));
        return;
    }
    // A thread of the pool that waits for a message runs nothing else, so that all could wait for each other.
    if rayon::current_thread_index().is_some() {
        return in_groups(items, limit, work, take);
    }
    let MaxBytes { max, size } = limit;
    let work = &work;
    rayon::in_place_scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let spawn = |number: usize, item| {
            let sender = sender.clone();
            scope.spawn(move |_| {
                // Pass a panic on to the waiting thread, which would otherwise wait forever.
                let _ = sender.send((number, catch_unwind(AssertUnwindSafe(|| work(item)))));
            });
        };
        let (mut early, mut sizes, mut bytes) = (BTreeMap::new(), VecDeque::new(), 0);
        for (next, item) in items.iter().enumerate() {
            while let Some(later) = items.get(next + sizes.len()).filter(|_| sizes.len() < max_started()) {
                let more = size(later);
                if !sizes.is_empty() && bytes + more > max {
                    break;
                }
                spawn(next + sizes.len(), later);
                sizes.push_back(more);
                bytes += more;
            }
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
            bytes -= sizes.pop_front().unwrap_or_default();
        }
    });
}

/// The number of items that are started and not yet taken: the one that is taken, a ready one, and one for each thread. More
/// would only use memory.
fn max_started() -> usize {
    rayon::current_num_threads() + 2
}

/// [`in_order`] on a thread of the pool, in groups.
fn in_groups<I: Sync, O: Send, S: Fn(&I) -> u64>(
    mut items: &[I],
    MaxBytes { max, size }: MaxBytes<S>,
    work: impl Fn(&I) -> O + Sync,
    mut take: impl FnMut(&I, O) -> bool,
) {
    while !items.is_empty() {
        let mut bytes = 0;
        let fits = |item: &&I| {
            bytes += size(item);
            bytes <= max
        };
        let len = items.iter().take(max_started()).take_while(fits).count().max(1);
        let (group, later) = items.split_at(len);
        let results: Vec<O> = group.par_iter().map(&work).collect();
        if !group.iter().zip(results).all(|(item, result)| take(item, result)) {
            return;
        }
        items = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    fn no_limit<I>() -> MaxBytes<fn(&I) -> u64> {
        MaxBytes { max: u64::MAX, size: |_| 0 }
    }

    /// Runs a check on a thread that is not one of the pool, and on one of the pool.
    fn on_both_threads(check: impl Fn() + Send + Sync) {
        check();
        rayon::join(&check, || ());
    }

    #[test]
    fn few_bytes_are_in_memory() {
        on_both_threads(check_bytes_in_memory);
    }

    fn check_bytes_in_memory() {
        let items: Vec<u64> = (0..200).map(|number| number % 7).collect();
        let bytes = AtomicU64::new(0);
        let work = |item: &u64| bytes.fetch_add(*item, Ordering::Relaxed) + item;
        in_order(&items, MaxBytes { max: 5, size: |item: &u64| *item }, work, |item, most| {
            assert!(most <= 5 || most == *item, "{most} bytes with an item of {item}");
            bytes.fetch_sub(*item, Ordering::Relaxed);
            true
        });
        assert_eq!(bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn results_are_in_order_and_few_items_are_started_ahead() {
        on_both_threads(check_order);
    }

    fn check_order() {
        let items: Vec<usize> = (0..200).collect();
        let begun = AtomicUsize::new(0);
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            item * 2
        };
        let mut seen = Vec::new();
        in_order(&items, no_limit(), work, |item, result| {
            assert_eq!(result, item * 2);
            assert!(begun.load(Ordering::Relaxed) <= item + 2 + rayon::current_num_threads());
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
            no_limit(),
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
        in_order(&[0, 1, 2, 3], no_limit(), |item| assert!(*item < 2, "on purpose"), |_, ()| true);
    }
}
