//! Undo and redo: each step keeps the state on its other side, and taking a step swaps two values.
//!
//! No inverse of any edit exists, so none can be wrong. Bounded by memory: the oldest steps are dropped first.

use crate::document::Document;
use crate::document::edit::Applied;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;
use crate::session::state::State;

/// One undoable change.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// What was done: `priority set to 0.8 on 1,167 rows`.
    pub label: String,
    /// The lines that do it without a screen.
    said: Vec<String>,
    /// Rows that it touched.
    pub touched: RowSet,
    /// Whether rows came or moved.
    pub moved: bool,
    /// The one field whose values changed, if nothing else did.
    pub field: Option<Field>,
    /// Where the cursor was.
    pub cursor: Option<RowId>,
    /// The state before it (in the done part) or after it (in the undone part).
    other: State,
}

/// A line of the history list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What was done.
    pub label: String,
    /// Rows that it touched.
    pub rows: u64,
    /// Whether it is in effect.
    pub done: bool,
    /// Whether the files on disk are the document right after it.
    pub saved: bool,
}

/// The line of changes, and where on it the document is.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    steps: Vec<Step>,
    /// Steps in effect; the rest can be redone.
    done: usize,
}

/// Rows that the kept steps may have touched in sum; about 20 bytes each, and one page at least.
const ROW_BUDGET: u64 = 24_000_000;
/// Steps kept at most: 13 KB each for one-cell edits.
const STEP_BUDGET: usize = 20_000;

impl History {
    /// Notes a change, in words and in commands: `before` is the state that it was made from. What was undone is
    /// forgotten.
    pub(crate) fn push(
        &mut self,
        (label, said): (String, Vec<String>),
        before: State,
        cursor: Option<RowId>,
        applied: Applied,
    ) {
        let Applied { touched, moved, field, .. } = applied;
        self.steps.truncate(self.done);
        self.steps.push(Step { label, said, touched, moved, field, cursor, other: before });
        let mut rows: u64 = self.steps.iter().map(|step| step.touched.len()).sum();
        // The newest step always stays: the change just made can be undone, however big it was.
        while self.steps.len() > 1 && (rows > ROW_BUDGET || self.steps.len() > STEP_BUDGET) {
            rows -= self.steps.remove(0).touched.len();
        }
        self.done = self.steps.len();
    }

    /// Takes the last step back: swaps it into `state`. `None` when there is nothing to undo.
    pub(crate) fn undo(&mut self, state: &mut State) -> Option<&Step> {
        self.done = self.done.checked_sub(1)?;
        let step = self.steps.get_mut(self.done)?;
        std::mem::swap(state, &mut step.other);
        Some(step)
    }

    /// Does the next undone step again. `None` when there is none.
    pub(crate) fn redo(&mut self, state: &mut State) -> Option<&Step> {
        let step = self.steps.get_mut(self.done)?;
        self.done += 1;
        std::mem::swap(state, &mut step.other);
        Some(step)
    }

    /// After [`History::undo`] or [`History::redo`]: the state that came in takes the set index of the one
    /// that went out, unless it kept its own.
    pub(crate) fn hand_over(&mut self, back: bool, state: &mut State, from: &Document, touched: &RowSet) {
        let at = if back { Some(self.done) } else { self.done.checked_sub(1) };
        if let Some(step) = at.and_then(|at| self.steps.get_mut(at)) {
            let State { document, checks, .. } = state;
            checks.adopt_set_index(&mut step.other.checks, (from, document), touched, step.field);
        }
    }

    /// The states that are kept beside the current one.
    pub(crate) fn states(&mut self) -> impl Iterator<Item = &mut State> {
        self.steps.iter_mut().map(|step| &mut step.other)
    }

    /// The lines of each step, oldest first.
    pub(crate) fn commands(&self) -> impl DoubleEndedIterator<Item = &[String]> + ExactSizeIterator {
        self.steps.iter().map(|step| step.said.as_slice())
    }

    /// The list, oldest first. `saved` is the version on disk, `current` that of the current state.
    pub(crate) fn entries(&self, saved: u64, current: u64) -> Vec<Entry> {
        let version_after = |at: usize| -> u64 {
            // The state after step `at` is what the next step keeps as its before, or the current one.
            match (at + 1).cmp(&self.done) {
                std::cmp::Ordering::Less => self.steps.get(at + 1).map_or(current, |step| step.other.version),
                std::cmp::Ordering::Equal => current,
                std::cmp::Ordering::Greater => self.steps.get(at).map_or(current, |step| step.other.version),
            }
        };
        self.steps
            .iter()
            .enumerate()
            .map(|(at, step)| Entry {
                label: step.label.clone(),
                rows: step.touched.len(),
                done: at < self.done,
                saved: version_after(at) == saved,
            })
            .collect()
    }
}
