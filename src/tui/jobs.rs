//! Background jobs: at most one of each kind runs and one waits; a newer request replaces the waiting one.
//!
//! The state never waits for a job and shares only its [`Progress`] with it. A job
//! that panics ends without an outcome.

use crate::files::lower_own_priority;
use crate::progress::{Progress, Reading};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of a job. Jobs of different kinds run concurrently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Reading files.
    Load,
    /// Filtering and sorting.
    View,
    /// Computing the preview of a command.
    Preview,
    /// Changing many rows.
    Edit,
    /// Searching for a row.
    Search,
    /// Planning a save.
    Plan,
    /// Writing files.
    Save,
    /// Checking whether other programs have changed the files.
    DiskCheck,
    /// Reading large entries for the screen.
    Read,
    /// Listing a folder, for completion.
    List,
    /// Writing the findings, or a rule, to a file.
    Report,
    /// Counting findings by file.
    Count,
    /// Reading tables of other programs, and looking up their URLs.
    Data,
    /// Requesting pages of the site.
    Probe,
    /// Downloading the sitemaps of a site.
    Download,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Load,
        Self::View,
        Self::Preview,
        Self::Edit,
        Self::Search,
        Self::Plan,
        Self::Save,
        Self::DiskCheck,
        Self::Read,
        Self::List,
        Self::Report,
        Self::Count,
        Self::Data,
        Self::Probe,
        Self::Download,
    ];

    /// Whether a newer request cancels the running job. Never true for jobs with side effects.
    const fn newest_wins(self) -> bool {
        matches!(
            self,
            Self::View
                | Self::Preview
                | Self::Search
                | Self::Plan
                | Self::DiskCheck
                | Self::Read
                | Self::List
                | Self::Count
        )
    }
}

/// The function of a job: it checks for cancellation, delivers parts and returns an outcome.
pub(crate) type Work<O, P> = Box<dyn FnOnce(&Progress, &dyn Fn(P)) -> O + Send>;

/// The end of a job.
#[derive(Debug)]
pub struct Finished<O> {
    /// The kind of the job.
    pub kind: Kind,
    /// The number of the job.
    pub number: u64,
    /// The outcome; `None` if the job panicked.
    pub outcome: Option<O>,
}

/// Receives results, on the thread of the job.
pub(crate) trait Deliver<O, P>: Send + Sync {
    /// A part of the result.
    fn part(&self, part: P);
    /// The end.
    fn done(&self, finished: Finished<O>);
}

struct Running {
    number: u64,
    progress: Arc<Progress>,
}

struct Slot<O, P> {
    running: Option<Running>,
    waiting: Option<(u64, Work<O, P>)>,
}

/// The running and waiting jobs.
pub(crate) struct Jobs<O, P> {
    slots: [Slot<O, P>; Kind::ALL.len()],
    deliver: Arc<dyn Deliver<O, P>>,
    spawn: Spawn,
    last: u64,
}

/// Starts a named thread; drops the function if that fails.
type Spawn = fn(String, Box<dyn FnOnce() + Send>) -> std::io::Result<()>;

impl<O: Send + 'static, P: Send + 'static> Jobs<O, P> {
    /// Creates an empty queue.
    pub(crate) fn new(deliver: Arc<dyn Deliver<O, P>>) -> Self {
        let spawn: Spawn = |name, work| {
            let work = || {
                lower_own_priority();
                work();
            };
            std::thread::Builder::new().name(name).spawn(work).map(drop)
        };
        Self { slots: std::array::from_fn(|_| Slot { running: None, waiting: None }), deliver, spawn, last: 0 }
    }

    /// Starts the work, or lets it wait for the running job of its kind, in the place of what waited
    /// there. If the system gives no thread, it is done here, before this returns.
    pub(crate) fn request(&mut self, kind: Kind, work: Work<O, P>) -> u64 {
        self.last += 1;
        let number = self.last;
        let slot = &mut self.slots[kind as usize];
        if let Some(running) = &slot.running {
            if kind.newest_wins() {
                running.progress.cancel();
            }
            slot.waiting = Some((number, work));
            return number;
        }
        self.start(kind, number, work);
        number
    }

    /// Records the end of a job and starts the waiting one. True if the result is that of the job
    /// requested last.
    pub(crate) fn finished(&mut self, kind: Kind, number: u64) -> bool {
        let slot = &mut self.slots[kind as usize];
        slot.running.take_if(|running| running.number == number);
        let newest = slot.waiting.is_none();
        if let Some((number, work)) = slot.waiting.take() {
            self.start(kind, number, work);
        }
        newest
    }

    /// Cancels the running and the waiting job of a kind.
    pub(crate) fn cancel(&mut self, kind: Kind) {
        let slot = &mut self.slots[kind as usize];
        slot.waiting = None;
        if let Some(running) = &slot.running {
            running.progress.cancel();
        }
    }

    /// The counters of the running job of a kind.
    pub(crate) fn reading(&self, kind: Kind) -> Option<Reading> {
        self.slots[kind as usize].running.as_ref().map(|running| running.progress.read())
    }

    /// The kinds that run now.
    pub(crate) fn running(&self) -> impl Iterator<Item = Kind> + '_ {
        Kind::ALL.into_iter().filter(|&kind| self.slots[kind as usize].running.is_some())
    }

    fn start(&mut self, kind: Kind, number: u64, work: Work<O, P>) {
        let progress = Arc::new(Progress::default());
        let (counters, deliver) = (Arc::clone(&progress), Arc::clone(&self.deliver));
        let name = format!("{kind:?}").to_lowercase();
        let run = move || {
            let work = AssertUnwindSafe(|| work(&counters, &|part| deliver.part(part)));
            deliver.done(Finished { kind, number, outcome: catch_unwind(work).ok() });
        };
        self.slots[kind as usize].running = Some(Running { number, progress });
        // If the system cannot start a thread, the job runs here: a save must not be lost.
        let run = Arc::new(Mutex::new(Some(run)));
        let take = |run: &Mutex<Option<_>>| run.lock().unwrap_or_else(PoisonError::into_inner).take();
        let theirs = Arc::clone(&run);
        let started = (self.spawn)(name, Box::new(move || take(&theirs).map_or((), |run| run())));
        if started.is_err() {
            let run = take(&run);
            if let Some(run) = run {
                run();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Ends(Mutex<Sender<Finished<&'static str>>>);

    impl Deliver<&'static str, u8> for Ends {
        fn part(&self, _: u8) {}
        fn done(&self, finished: Finished<&'static str>) {
            self.0.lock().unwrap().send(finished).unwrap();
        }
    }

    fn jobs() -> (Jobs<&'static str, u8>, Receiver<Finished<&'static str>>) {
        let (sender, receiver) = channel();
        (Jobs::new(Arc::new(Ends(Mutex::new(sender)))), receiver)
    }

    /// Runs until it is cancelled.
    fn endless(name: &'static str) -> Work<&'static str, u8> {
        Box::new(move |progress, _| {
            while !progress.is_cancelled() {
                std::thread::yield_now();
            }
            name
        })
    }

    #[test]
    fn work_runs_inline_if_no_thread_can_be_started() {
        let (mut jobs, ends) = jobs();
        jobs.spawn = |_, _| Err(std::io::ErrorKind::WouldBlock.into());
        let number = jobs.request(Kind::Save, Box::new(|_, _| "saved"));
        let end = ends.try_recv().unwrap();
        assert_eq!((end.number, end.outcome), (number, Some("saved")));
        assert!(jobs.finished(Kind::Save, number));
        let number = jobs.request(Kind::Edit, Box::new(|_, _| panic!("on purpose")));
        assert_eq!(ends.try_recv().unwrap().outcome, None);
        assert!(jobs.finished(Kind::Edit, number));
    }

    #[test]
    fn the_newest_view_wins() {
        let (mut jobs, ends) = jobs();
        jobs.request(Kind::View, endless("first"));
        jobs.request(Kind::View, Box::new(|_, _| "second"));
        jobs.request(Kind::View, Box::new(|_, _| "third"));
        let first = ends.recv().unwrap();
        assert_eq!(first.outcome, Some("first"));
        assert!(!jobs.finished(first.kind, first.number), "a newer one waits");
        let third = ends.recv().unwrap();
        assert_eq!(third.outcome, Some("third"), "the second was replaced while it waited");
        assert!(jobs.finished(third.kind, third.number));
        assert_eq!(jobs.running().count(), 0);
    }

    #[test]
    fn a_save_is_not_cancelled_by_the_next_one() {
        let (mut jobs, ends) = jobs();
        let (go, wait) = channel::<()>();
        let save = move |progress: &Progress, _: &dyn Fn(u8)| {
            wait.recv().unwrap();
            if progress.is_cancelled() { "cut" } else { "whole" }
        };
        jobs.request(Kind::Save, Box::new(save));
        jobs.request(Kind::Save, Box::new(|_, _| "next"));
        go.send(()).unwrap();
        let first = ends.recv().unwrap();
        assert_eq!(first.outcome, Some("whole"));
        jobs.finished(first.kind, first.number);
        assert_eq!(ends.recv().unwrap().outcome, Some("next"));
    }

    #[test]
    fn cancelling_drops_waiting_jobs() {
        let (mut jobs, ends) = jobs();
        jobs.request(Kind::Load, endless("load"));
        jobs.request(Kind::Load, Box::new(|_, _| "never"));
        jobs.cancel(Kind::Load);
        let load = ends.recv().unwrap();
        assert!(jobs.finished(load.kind, load.number));
        assert!(jobs.reading(Kind::Load).is_none());
    }

    #[test]
    fn a_panic_ends_the_job_without_a_result() {
        let (mut jobs, ends) = jobs();
        jobs.request(Kind::Edit, Box::new(|_, _| panic!("on purpose")));
        let edit = ends.recv().unwrap();
        assert_eq!(edit.outcome, None);
        jobs.finished(edit.kind, edit.number);
        assert_eq!(jobs.running().count(), 0);
    }
}
