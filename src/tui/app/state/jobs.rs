//! Requested jobs: which run, their progress, and effects for the main loop.

use super::outcome::JobOutcome;
use super::probing::Answers;
use crate::files::journal::Journal;
use crate::progress::{Progress, Reading};
use crate::session::store::background_load::FilesSoFar;
use crate::tui::jobs::{self, Kind};
use std::collections::VecDeque;

/// What a job brings while it runs.
pub enum Part {
    /// The files of the set that are loaded.
    Files {
        /// The rows of these files.
        files: Box<FilesSoFar>,
        /// Whether all files are read.
        is_last: bool,
    },
    /// Answers of the site.
    Answers(Answers),
}

/// What happens to the state.
pub type Event = crate::tui::event::Event<JobOutcome, Part>;
/// Long work that the state asks for.
pub type Work = jobs::Work<JobOutcome, Part>;

/// What is to be done outside of the state.
pub enum Effect {
    /// Start work, or let it wait for the running work of its kind.
    Spawn(Kind, Work),
    /// Ask the work of a kind to stop.
    Cancel(Kind),
    /// Send text to the terminal's clipboard.
    Copy(String),
    /// Stop as Ctrl-Z does; the words are left on the screen.
    Suspend(String),
    /// Take the terminal again, whatever became of it.
    Reclaim,
    /// Draw everything again.
    Repaint,
    /// Ask for mouse events, or leave the mouse to the terminal.
    Mouse(bool),
    /// Remove the journal of a set that is left: nothing of it is unsaved.
    RemoveJournal(Box<Journal>),
    /// End with this exit status.
    Quit(u8),
}

/// What was asked for and has not ended yet, as far as the state knows.
#[derive(Default)]
pub(in crate::tui) struct JobQueue {
    running: [Option<Reading>; Kind::ALL.len()],
    ticket: u64,
    effects: Vec<Effect>,
    /// Outcomes of work that was small enough to be done at once.
    done: VecDeque<JobOutcome>,
}

impl JobQueue {
    /// Asks for work.
    pub(in crate::tui::app) fn spawn(&mut self, kind: Kind, work: Work) {
        self.running[kind as usize].get_or_insert_default();
        self.effects.push(Effect::Spawn(kind, work));
    }

    /// Does small work at once and asks for a job that does other work; the outcome comes the same way.
    pub(in crate::tui::app) fn run(
        &mut self,
        kind: Kind,
        is_small: bool,
        work: impl FnOnce(&Progress) -> JobOutcome + Send + 'static,
    ) {
        if is_small {
            self.done.push_back(work(&Progress::default()));
        } else {
            self.spawn(kind, Box::new(move |progress, _| work(progress)));
        }
    }

    /// The next outcome of work that was done at once.
    pub(in crate::tui::app) fn next_done(&mut self) -> Option<JobOutcome> {
        self.done.pop_front()
    }

    /// Asks for something to be done outside.
    pub(in crate::tui::app) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// What is to be done outside, handed over.
    pub(in crate::tui::app) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether a job of this kind runs.
    pub(in crate::tui) fn is_busy(&self, kind: Kind) -> bool {
        self.running[kind as usize].is_some()
    }

    /// Whether a job is running that is about the set, and not about the line that is typed.
    pub(in crate::tui::app) fn is_any_busy(&self) -> bool {
        Kind::ALL.into_iter().any(|kind| kind != Kind::List && self.is_busy(kind))
    }

    /// How far the running job of a kind is.
    pub(in crate::tui) const fn reading(&self, kind: Kind) -> Option<Reading> {
        self.running[kind as usize]
    }

    pub(in crate::tui::app) const fn set_reading(&mut self, kind: Kind, reading: Reading) {
        self.running[kind as usize] = Some(reading);
    }

    /// The job of a kind has ended.
    pub(in crate::tui::app) const fn ended(&mut self, kind: Kind) {
        self.running[kind as usize] = None;
    }

    /// A number that tells the next request from all before it.
    pub(in crate::tui::app) const fn next_ticket(&mut self) -> u64 {
        self.ticket += 1;
        self.ticket
    }

    /// Ends the program. A save is left to finish: half a save is the one thing worse than none.
    pub(in crate::tui::app) fn quit(&mut self, status: u8) {
        for kind in Kind::ALL {
            if kind != Kind::Save && self.is_busy(kind) {
                self.effects.push(Effect::Cancel(kind));
            }
        }
        self.effects.push(Effect::Quit(status));
    }
}
