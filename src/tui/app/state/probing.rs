//! The state of a running probe: its answers and its progress.

use crate::data::DataSet;
use crate::session::Session;
use crate::session::data::take_answers;
use std::sync::Arc;

/// Some answers, as the job hands them out a few times a second.
#[derive(Debug, Default)]
pub struct Answers {
    /// The URLs that they are about.
    pub urls: Vec<String>,
    /// The same as lines of JSON.
    pub lines: String,
    /// Everything that is known with them; nothing where no answer came.
    pub data: Option<Arc<DataSet>>,
    /// How far the asking is, in words.
    pub progress: String,
}

/// The answers of the site.
#[derive(Debug, Default)]
pub(in crate::tui) struct Probing {
    /// How far the asking is, in words.
    pub progress: String,
    /// Whether it was asked to stop.
    pub is_stopping: bool,
    /// Batches of answers since the program began, each as lines of JSON.
    pub(in crate::tui::app) batches: Vec<Arc<str>>,
    /// How many batches, from the first on, are written to a file.
    written: usize,
    /// Answers that wait until a change is worked out.
    waiting: Vec<Answers>,
    /// Whether every row is to be checked when the asking has ended.
    pub(in crate::tui::app) needs_recheck: bool,
}

impl Probing {
    /// Keeps answers until they are taken in.
    pub(in crate::tui::app) fn keep(&mut self, mut answers: Answers) {
        self.progress = std::mem::take(&mut answers.progress);
        if !answers.lines.is_empty() {
            self.batches.push(std::mem::take(&mut answers.lines).into());
        }
        if answers.data.is_some() {
            self.waiting.push(answers);
        }
    }

    /// Records that the first `batches` are written to a file.
    pub(in crate::tui::app) fn note_written(&mut self, batches: usize) {
        self.written = self.written.max(batches);
    }

    /// The number of answers that are not written to a file.
    pub(in crate::tui::app) fn unwritten(&self) -> u64 {
        self.batches.iter().skip(self.written).map(|batch| batch.lines().count() as u64).sum()
    }

    /// Takes in what waits: the rows that it is about are checked. False if nothing waited.
    pub(in crate::tui::app) fn receive_answers(&mut self, session: &mut Session) -> bool {
        // The last data has the answers of all.
        let Some(data) = self.waiting.last_mut().and_then(|answers| answers.data.take()) else { return false };
        let urls: Vec<String> = self.waiting.drain(..).flat_map(|answers| answers.urls).collect();
        self.needs_recheck |= take_answers(session, data, &urls);
        true
    }
}
