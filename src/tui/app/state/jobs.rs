//! The requested jobs: their progress, and the effects for the main loop.

use super::outcome::JobOutcome;
use super::probing::Answers;
use crate::files::journal::Journal;
use crate::progress::{Progress, Reading};
use crate::session::store::background_load::FilesSoFar;
use crate::tui::jobs::{self, Kind};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::VecDeque;
use std::sync::LazyLock;

/// A part of a result that a job delivers while it runs.
pub enum Part {
    /// The files of the set that have been loaded.
    Files {
        /// The rows of these files.
        files: Box<FilesSoFar>,
        /// Whether these are all files.
        is_last: bool,
    },
    /// Responses of the site.
    Answers(Answers),
}

/// An event that the state handles.
pub type Event = crate::tui::event::Event<JobOutcome, Part>;
/// The function of a job that the state requests.
pub type Work = jobs::Work<JobOutcome, Part>;

/// An effect that the main loop executes for the state.
pub enum Effect {
    /// Start a job, or queue it behind the running job of its kind.
    Spawn(Kind, Work),
    /// Cancel the running job of a kind.
    Cancel(Kind),
    /// Send text to the terminal's clipboard.
    Copy(String),
    /// Suspend the program as Ctrl-Z does; the text describes the unsaved changes.
    Suspend(String),
    /// Take control of the terminal again after a suspension.
    Reclaim,
    /// Redraw the whole screen.
    Repaint,
    /// Turn the capture of mouse events on or off.
    Mouse(bool),
    /// Remove the journal of a set that was closed without unsaved changes.
    RemoveJournal(Box<Journal>),
    /// Quit with this exit status.
    Quit(u8),
}

/// The requested jobs that have not ended, and the pending effects.
#[derive(Default)]
pub(in crate::tui) struct JobQueue {
    running: [Option<Reading>; Kind::ALL.len()],
    ticket: u64,
    effects: Vec<Effect>,
    /// Outcomes of small work that was done without a job.
    done: VecDeque<JobOutcome>,
}

impl JobQueue {
    /// Requests a job.
    pub(in crate::tui::app) fn spawn(&mut self, kind: Kind, work: Work) {
        self.running[kind as usize].get_or_insert_default();
        self.effects.push(Effect::Spawn(kind, work));
    }

    /// Does small work immediately, and requests a job for other work. Both outcomes are handled in the same way.
    pub(in crate::tui::app) fn run(
        &mut self,
        kind: Kind,
        is_small: bool,
        work: impl FnOnce(&Progress) -> JobOutcome + Send + 'static,
    ) {
        if is_small {
            let outcome = self.run_now(|| work(&Progress::default()));
            self.done.push_back(outcome);
        } else {
            self.spawn(kind, Box::new(move |progress, _| work(progress)));
        }
    }

    /// Does small work and waits for it. While files are loaded, it runs on a thread of its own: its parallel iterators
    /// would have to wait for the threads of all cores, which finish their tasks of the load first.
    pub(in crate::tui::app) fn run_now<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        static THREAD: LazyLock<Option<ThreadPool>> =
            LazyLock::new(|| ThreadPoolBuilder::new().num_threads(1).build().ok());
        match THREAD.as_ref().filter(|_| self.is_busy(Kind::Load)) {
            Some(thread) => thread.install(work),
            None => work(),
        }
    }

    /// Returns the next outcome of work that was done without a job.
    pub(in crate::tui::app) fn next_immediate_outcome(&mut self) -> Option<JobOutcome> {
        self.done.pop_front()
    }

    /// Requests an effect.
    pub(in crate::tui::app) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Returns the pending effects and clears them.
    pub(in crate::tui::app) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether a job of this kind is running.
    pub(in crate::tui) fn is_busy(&self, kind: Kind) -> bool {
        self.running[kind as usize].is_some()
    }

    /// Whether any job is running, except the one that lists folders for completion.
    pub(in crate::tui::app) fn is_any_busy(&self) -> bool {
        Kind::ALL.into_iter().any(|kind| kind != Kind::List && self.is_busy(kind))
    }

    /// The progress of the running job of a kind; `None` if none is running.
    pub(in crate::tui) const fn reading(&self, kind: Kind) -> Option<Reading> {
        self.running[kind as usize]
    }

    pub(in crate::tui::app) const fn set_reading(&mut self, kind: Kind, reading: Reading) {
        self.running[kind as usize] = Some(reading);
    }

    /// Records that the job of a kind has ended.
    pub(in crate::tui::app) const fn job_ended(&mut self, kind: Kind) {
        self.running[kind as usize] = None;
    }

    /// Returns a new number, which identifies the next request.
    pub(in crate::tui::app) const fn next_ticket(&mut self) -> u64 {
        self.ticket += 1;
        self.ticket
    }

    /// Quits the program. A running save is not cancelled, so that it can finish.
    pub(in crate::tui::app) fn quit(&mut self, status: u8) {
        for kind in Kind::ALL {
            if kind != Kind::Save && self.is_busy(kind) {
                self.effects.push(Effect::Cancel(kind));
            }
        }
        self.effects.push(Effect::Quit(status));
    }
}
