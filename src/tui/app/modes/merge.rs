//! Merges changes of other programs: one answer per row, applied in one step.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::Next;
use crate::document::merge::{MergeChoice, TheirChange};
use crate::session::store::external_changes::Compared;
use crate::tui::jobs::Kind;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

/// The state of a merge.
#[derive(Debug)]
pub(crate) struct Merging {
    /// The comparison of both versions.
    pub compared: Arc<Compared>,
    /// The indexes of the cases of the comparison; cases that need an answer come first.
    pub order: Vec<usize>,
    /// The answer to each case of the comparison.
    pub takes: Vec<Option<MergeChoice>>,
    /// The chosen case, an index into `order`.
    pub chosen: usize,
    /// Whether it was drawn.
    pub(super) drawn: bool,
}

impl Merging {
    pub(in crate::tui::app) fn new(compared: Compared) -> Self {
        let cases = &compared.merge.cases;
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|at| !cases.get(*at).is_some_and(|case| case.clash));
        let takes = cases.iter().map(|case| (!case.clash).then_some(MergeChoice::Theirs)).collect();
        Self { compared: Arc::new(compared), order, takes, chosen: 0, drawn: false }
    }

    /// The case of a line, with its answer.
    pub(crate) fn case(&self, at: usize) -> Option<(TheirChange, Option<MergeChoice>)> {
        let case = *self.order.get(at)?;
        Some((*self.compared.merge.cases.get(case)?, self.takes.get(case).copied().flatten()))
    }

    /// The number of cases without an answer.
    pub(crate) fn open(&self) -> usize {
        self.takes.iter().filter(|take| take.is_none()).count()
    }

    fn answer(&mut self, take: MergeChoice) {
        if let Some(answer) = self.order.get(self.chosen).and_then(|case| self.takes.get_mut(*case)) {
            *answer = Some(take);
        }
        self.go(true, 1);
    }

    /// Gives the same answer for every row that both sides changed.
    fn answer_all(&mut self, take: MergeChoice) {
        for (answer, case) in self.takes.iter_mut().zip(&self.compared.merge.cases) {
            if case.clash {
                *answer = Some(take);
            }
        }
    }

    fn go(&mut self, down: bool, by: usize) {
        let at = if down { self.chosen.saturating_add(by) } else { self.chosen.saturating_sub(by) };
        self.chosen = at.min(self.order.len().saturating_sub(1));
    }

    /// Scrolls by the mouse wheel.
    pub(crate) fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let page = usize::from(shared.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), false) | (KeyCode::Char('c' | 'q'), true) => {
                shared.show_note("nothing was merged; go asks again");
                return Next::CloseAll;
            }
            (KeyCode::Enter, _) => return self.merge(shared),
            (KeyCode::Char('o'), false) => self.answer(MergeChoice::Ours),
            (KeyCode::Char('t'), false) => self.answer(MergeChoice::Theirs),
            (KeyCode::Char('b'), false) => self.answer(MergeChoice::Both),
            (KeyCode::Char('O'), false) => self.answer_all(MergeChoice::Ours),
            (KeyCode::Char('T'), false) => self.answer_all(MergeChoice::Theirs),
            (KeyCode::Char('B'), false) => self.answer_all(MergeChoice::Both),
            (KeyCode::Down | KeyCode::Char('j'), false) => self.go(true, 1),
            (KeyCode::Up | KeyCode::Char('k'), false) => self.go(false, 1),
            (KeyCode::PageDown | KeyCode::Char(' '), false) | (KeyCode::Char('d' | 'f'), true) => self.go(true, page),
            (KeyCode::PageUp, _) | (KeyCode::Char('u' | 'b'), true) => self.go(false, page),
            (KeyCode::Home | KeyCode::Char('g'), false) => self.go(false, usize::MAX),
            (KeyCode::End | KeyCode::Char('G'), false) => self.go(true, usize::MAX / 2),
            _ => {}
        }
        Next::Stay
    }

    /// Starts the merge if every case has an answer.
    fn merge(&mut self, shared: &mut Shared) -> Next {
        let takes: Option<Vec<MergeChoice>> = self.takes.iter().copied().collect();
        let Some(takes) = takes else {
            let first = (0..self.order.len()).find(|at| matches!(self.case(*at), Some((_, None))));
            self.chosen = first.unwrap_or_default();
            shared.show_error("both sides changed this row: o takes ours, t theirs, b the fields of both");
            return Next::Stay;
        };
        if shared.ensure_changeable() {
            let compared = Arc::clone(&self.compared);
            shared.jobs.run(Kind::Edit, false, move |progress| {
                JobOutcome::Merged(compared.prepare(&takes, progress).map(Box::new))
            });
        }
        Next::CloseAll
    }
}
