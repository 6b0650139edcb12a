//! Merges changes of other programs: an answer for each row, then one step.

use super::super::jobs::Kind;
use super::{App, JobOutcome, Mode};
use crate::document::merge::{MergeChoice, TheirChange};
use crate::progress::Progress;
use crate::session::external_changes::{Compared, Merged};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A merge that is being decided.
#[derive(Debug)]
pub struct Merging {
    /// Both versions.
    pub compared: Compared,
    /// The cases, those that need an answer first: places in the list of the comparison.
    pub order: Vec<usize>,
    /// The answer to each case, by its place there.
    pub takes: Vec<Option<MergeChoice>>,
    /// Which of them is chosen.
    pub chosen: usize,
    /// Whether it was on the screen.
    pub(super) drawn: bool,
}

impl Merging {
    pub(super) fn new(compared: Compared) -> Self {
        let cases = &compared.merge.cases;
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|at| !cases.get(*at).is_some_and(|case| case.clash));
        let takes = cases.iter().map(|case| (!case.clash).then_some(MergeChoice::Theirs)).collect();
        Self { compared, order, takes, chosen: 0, drawn: false }
    }

    /// The case at a place of the list, with its answer.
    pub fn case(&self, at: usize) -> Option<(TheirChange, Option<MergeChoice>)> {
        let place = *self.order.get(at)?;
        Some((*self.compared.merge.cases.get(place)?, self.takes.get(place).copied().flatten()))
    }

    /// Cases without an answer.
    pub fn open(&self) -> usize {
        self.takes.iter().filter(|take| take.is_none()).count()
    }

    fn answer(&mut self, take: MergeChoice) {
        if let Some(answer) = self.order.get(self.chosen).and_then(|place| self.takes.get_mut(*place)) {
            *answer = Some(take);
        }
        self.go(true, 1);
    }

    /// The same answer for every row that both sides changed.
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

    /// The wheel.
    pub fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }
}

impl App {
    pub(super) fn merge_key(&mut self, mut merging: Box<Merging>, key: KeyEvent) {
        let page = usize::from(self.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), false) | (KeyCode::Char('c' | 'q'), true) => {
                return self.say("nothing was merged; go asks again");
            }
            (KeyCode::Enter, _) => return self.merge(merging),
            (KeyCode::Char('o'), false) => merging.answer(MergeChoice::Ours),
            (KeyCode::Char('t'), false) => merging.answer(MergeChoice::Theirs),
            (KeyCode::Char('b'), false) => merging.answer(MergeChoice::Both),
            (KeyCode::Char('O'), false) => merging.answer_all(MergeChoice::Ours),
            (KeyCode::Char('T'), false) => merging.answer_all(MergeChoice::Theirs),
            (KeyCode::Char('B'), false) => merging.answer_all(MergeChoice::Both),
            (KeyCode::Down | KeyCode::Char('j'), false) => merging.go(true, 1),
            (KeyCode::Up | KeyCode::Char('k'), false) => merging.go(false, 1),
            (KeyCode::PageDown | KeyCode::Char(' '), false) | (KeyCode::Char('d' | 'f'), true) => {
                merging.go(true, page);
            }
            (KeyCode::PageUp, _) | (KeyCode::Char('u'), true) => merging.go(false, page),
            (KeyCode::Home | KeyCode::Char('g'), false) => merging.go(false, usize::MAX),
            (KeyCode::End | KeyCode::Char('G'), false) => merging.go(true, usize::MAX / 2),
            _ => {}
        }
        self.mode = Mode::Merge(merging);
    }

    /// Does it, once every row has its answer.
    fn merge(&mut self, mut merging: Box<Merging>) {
        let takes: Option<Vec<MergeChoice>> = merging.takes.iter().copied().collect();
        let Some(takes) = takes else {
            let first = (0..merging.order.len()).find(|at| matches!(merging.case(*at), Some((_, None))));
            merging.chosen = first.unwrap_or_default();
            self.mode = Mode::Merge(merging);
            return self.fail("both sides changed this row: o takes ours, t theirs, b the fields of both");
        };
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        let compared = merging.compared;
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| {
            JobOutcome::Merged(compared.prepare(&takes, progress).map(Box::new))
        });
        self.spawn(Kind::Edit, work);
    }

    pub(super) fn merged(&mut self, merged: Option<Box<Merged>>) {
        let Some(merged) = merged else { return self.say("stopped; nothing was merged") };
        match self.session.take_in(*merged) {
            Ok(report) => {
                self.outside.clear();
                self.looks += 1;
                self.reported(&report, true);
            }
            Err(refused) => self.fail(refused.0),
        }
    }
}
