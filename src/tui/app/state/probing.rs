//! The state of a running probe: its answers and its progress.

use crate::data::DataSet;
use crate::session::Session;
use crate::session::data::take_answers;
use std::sync::Arc;

/// A batch of answers, delivered by the job a few times per second.
#[derive(Debug, Default)]
pub struct Answers {
    /// The requested URLs.
    pub urls: Vec<String>,
    /// The answers as lines of JSON.
    pub lines: String,
    /// All data including these answers; `None` without answers.
    pub data: Option<Arc<DataSet>>,
    /// The progress as text.
    pub progress: String,
}

/// The answers of the site.
#[derive(Debug, Default)]
pub(in crate::tui) struct Probing {
    /// The progress as text.
    pub progress: String,
    /// Whether the probe is being paused.
    pub is_stopping: bool,
    /// Batches of answers since the start of the program, each as lines of JSON.
    pub(in crate::tui::app) batches: Vec<Arc<str>>,
    /// Number of batches, from the first, that were written to a file.
    written: usize,
    /// Answers that wait for a change that is being computed.
    waiting: Vec<Answers>,
    /// Whether all rows must be rechecked after the probe.
    pub(in crate::tui::app) needs_recheck: bool,
}

impl Probing {
    /// Keeps answers until they can be added to the session.
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

    /// Adds waiting answers to the session, whose rows are rechecked. False if none were waiting.
    pub(in crate::tui::app) fn receive_answers(&mut self, session: &mut Session) -> bool {
        // The newest data includes all answers.
        let Some(data) = self.waiting.last_mut().and_then(|answers| answers.data.take()) else { return false };
        let urls: Vec<String> = self.waiting.drain(..).flat_map(|answers| answers.urls).collect();
        self.needs_recheck |= take_answers(session, data, &urls);
        true
    }
}
