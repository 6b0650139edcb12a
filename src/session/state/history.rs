//! Undo and redo: each step keeps the state on its other side, and undoing or redoing it swaps the two.
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
    /// The change in the past tense: `priority set to 0.8 on 1,167 rows`.
    pub label: String,
    /// The commands that repeat it without a screen.
    commands: Vec<String>,
    /// Rows that it touched.
    pub touched: RowSet,
    /// Whether rows were added or moved.
    pub moved: bool,
    /// The one field whose values changed, if nothing else did.
    pub field: Option<Field>,
    /// The row of the cursor before it.
    pub cursor: Option<RowId>,
    /// The state before it if it is in effect, else the state after it.
    other: State,
}

/// A line of the history list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The change in the past tense.
    pub label: String,
    /// Rows that it touched.
    pub rows: u64,
    /// Whether it is in effect.
    pub done: bool,
    /// Whether the files on disk are the document right after it.
    pub saved: bool,
}

/// All steps, and the number of those in effect.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    steps: Vec<Step>,
    /// Steps in effect; the rest can be redone.
    done: usize,
}

/// The maximum sum of rows that the kept steps touched; about 20 bytes each, and at least one page a step.
const ROW_BUDGET: u64 = 24_000_000;
/// The maximum number of kept steps; 13 KB each for one-cell edits.
const STEP_BUDGET: usize = 20_000;

impl History {
    /// Adds a step with its label and the commands that repeat it; `before` is the state before the change. Undone
    /// steps are dropped.
    pub(crate) fn push(
        &mut self,
        (label, commands): (String, Vec<String>),
        before: State,
        cursor: Option<RowId>,
        applied: Applied,
    ) {
        let Applied { touched, moved, field, .. } = applied;
        self.steps.truncate(self.done);
        self.steps.push(Step { label, commands, touched, moved, field, cursor, other: before });
        let mut rows: u64 = self.steps.iter().map(|step| step.touched.len()).sum();
        // The newest step always stays, so that the last change can be undone, however large it was.
        while self.steps.len() > 1 && (rows > ROW_BUDGET || self.steps.len() > STEP_BUDGET) {
            rows -= self.steps.remove(0).touched.len();
        }
        self.done = self.steps.len();
    }

    /// Undoes the last step: swaps `state`. `None` when there is nothing to undo.
    pub(crate) fn undo(&mut self, state: &mut State) -> Option<&Step> {
        self.done = self.done.checked_sub(1)?;
        let step = self.steps.get_mut(self.done)?;
        std::mem::swap(state, &mut step.other);
        Some(step)
    }

    /// Redoes the next undone step. `None` when there is none.
    pub(crate) fn redo(&mut self, state: &mut State) -> Option<&Step> {
        let step = self.steps.get_mut(self.done)?;
        self.done += 1;
        std::mem::swap(state, &mut step.other);
        Some(step)
    }

    /// After [`History::undo`] or [`History::redo`]: the new state takes the set index of the replaced one, unless it
    /// has its own.
    pub(crate) fn hand_over(&mut self, back: bool, state: &mut State, from: &Document, touched: &RowSet) {
        let at = if back { Some(self.done) } else { self.done.checked_sub(1) };
        if let Some(step) = at.and_then(|at| self.steps.get_mut(at)) {
            let State { document, checks, .. } = state;
            checks.adopt_set_index(&mut step.other.checks, (from, document), touched, step.field);
        }
    }

    /// The kept states, without the current one.
    pub(crate) fn states(&mut self) -> impl Iterator<Item = &mut State> {
        self.steps.iter_mut().map(|step| &mut step.other)
    }

    /// The commands of each step, oldest first.
    pub(crate) fn commands(&self) -> impl DoubleEndedIterator<Item = &[String]> + ExactSizeIterator {
        self.steps.iter().map(|step| step.commands.as_slice())
    }

    /// The steps, oldest first. `saved` is the version on disk, `current` that of the current state.
    pub(crate) fn entries(&self, saved: u64, current: u64) -> Vec<Entry> {
        let version_after = |at: usize| -> u64 {
            // The next step in effect keeps the state after step `at`; after the last one it is the current state.
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
