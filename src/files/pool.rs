//! Starts the thread pool for reading and checking, with as many threads as the system allows.
//!
//! Rayon creates its pool on first use and panics if a thread cannot be started (`ulimit -u`, the limit of a
//! container). Here the threads are started first, and the pool is built from those that run.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Number of threads of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// Wanted: one for each core, or `RAYON_NUM_THREADS`.
    pub wanted: usize,
    /// Started by the system. With none, all work runs on the thread that started the pool.
    pub started: usize,
}

/// Starts the pool of this process. An existing pool stays as it is.
pub fn start_pool() -> Pool {
    let requested = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = requested.filter(|number| *number > 0).unwrap_or_else(cores);
    let threads = start_waiting_threads(wanted, |work| thread::Builder::new().spawn(work).map(drop));
    let started = threads.len();
    let mut threads = threads.into_iter();
    // An error means that a pool exists already.
    let _ = if started == 0 {
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()
    } else {
        let hand_over = move |worker: ThreadBuilder| {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            threads.next().ok_or_else(gone)?.send(worker).map_err(|_| gone())
        };
        ThreadPoolBuilder::new().num_threads(started).spawn_handler(hand_over).build_global()
    };
    Pool { wanted, started }
}

/// Nice value of threads that work beside a screen; those of the system go from 0 to 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 4;

/// Lowers the priority of the pool's threads, so that the thread of the screen runs as soon as a key arrives, also if
/// all cores are busy.
pub(crate) fn lower_priority() {
    rayon::broadcast(|_| lower_own_priority());
}

/// Lowers the priority of the current thread.
pub(crate) fn lower_own_priority() {
    // Each thread has a priority of its own on Linux; elsewhere it is that of the process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE);
}

/// Starts threads that wait for their work, until one cannot be started.
fn start_waiting_threads(
    wanted: usize,
    mut spawn: impl FnMut(Box<dyn FnOnce() + Send>) -> io::Result<()>,
) -> Vec<Sender<ThreadBuilder>> {
    let start = |_| {
        let (sender, receiver) = channel::<ThreadBuilder>();
        let work = move || {
            if let Ok(worker) = receiver.recv() {
                worker.run();
            }
        };
        spawn(Box::new(work)).ok().map(|()| sender)
    };
    (0..wanted).map_while(start).collect()
}

impl Pool {
    /// A message for users if the system started fewer threads than wanted.
    pub fn shortage(&self) -> Option<String> {
        let Self { wanted, started } = *self;
        let work = match started {
            0 => "all work runs on one".to_owned(),
            1 => "the work is done by 1".to_owned(),
            more => format!("the work is done by {more}"),
        };
        (started < wanted)
            .then(|| format!("{started} of {wanted} threads could be started (ulimit -u shows the limit); {work}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_started_until_the_system_refuses_one() {
        for (limit, expected) in [(0, 0), (1, 1), (3, 3), (9, 4)] {
            let mut begun = 0;
            let threads = start_waiting_threads(4, |work| {
                if begun == limit {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                begun += 1;
                thread::Builder::new().spawn(work).map(drop)
            });
            assert_eq!((threads.len(), begun), (expected, expected));
            let pool = Pool { wanted: 4, started: expected };
            assert_eq!(pool.shortage().is_some(), expected < 4);
        }
    }
}
