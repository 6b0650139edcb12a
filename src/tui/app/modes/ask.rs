//! A dialog with a question and answers.

use super::super::state::Shared;
use super::super::state::request::{Answer, Next, Request, Subject};
use crate::tui::words::{Line, Words};
use crossterm::event::{KeyCode, KeyEvent};

/// A question.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The question.
    pub title: Words,
    /// The explanation below the question.
    pub lines: Vec<Line>,
    /// The keys with their labels and answers. Enter gives the first.
    pub answers: Vec<(char, &'static str, Answer)>,
    /// Number of lines scrolled past.
    pub top: usize,
    /// The subject of the question.
    pub(in crate::tui) subject: Subject,
    /// Whether it was drawn.
    pub(super) drawn: bool,
}

impl Ask {
    /// A question without a subject.
    pub(in crate::tui::app) const fn new(
        title: Words,
        lines: Vec<Line>,
        answers: Vec<(char, &'static str, Answer)>,
    ) -> Self {
        Self { title, lines, answers, top: 0, subject: Subject::State, drawn: false }
    }

    /// The same question with a subject.
    #[must_use]
    pub(in crate::tui::app) fn about(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// Whether it is about a merge conflict.
    pub(in crate::tui) const fn is_conflict(&self) -> bool {
        matches!(self.subject, Subject::Conflict(_))
    }

    /// Whether no set is open to return to.
    fn is_mandatory(&self) -> bool {
        self.answers.iter().all(|(.., answer)| matches!(answer, Answer::Leave(_) | Answer::Create(_)))
    }

    /// The answer of Esc.
    fn cancelled(&self) -> Answer {
        let first = self.answers.first().map(|(.., answer)| answer);
        if self.is_mandatory() {
            Answer::Leave(3)
        } else if first == Some(&Answer::DiscardAndReload) {
            // Without an answer no set is open, so our side is loaded again.
            Answer::DiscardAndReload
        } else if matches!(self.subject, Subject::Recoverable(_)) {
            // Nothing is replayed or discarded without an explicit answer.
            Answer::Later
        } else {
            Answer::Stay
        }
    }

    /// The answer of a key.
    fn answer_of(&self, letter: char) -> Option<Answer> {
        let find = |letter| self.answers.iter().find(|(own, ..)| *own == letter);
        // For the last conflict, the key for all remaining ones is accepted too.
        let of_last = || self.is_conflict().then(|| find(letter.to_ascii_lowercase())).flatten();
        find(letter).or_else(of_last).map(|(.., answer)| answer.clone())
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let answer = match key.code {
            KeyCode::Enter => Some(self.answers.first().map_or(Answer::Stay, |(.., answer)| answer.clone())),
            KeyCode::Esc => Some(self.cancelled()),
            KeyCode::Char(letter) => self.answer_of(letter),
            KeyCode::Down => {
                self.top += 1;
                None
            }
            KeyCode::Up => {
                self.top = self.top.saturating_sub(1);
                None
            }
            _ => None,
        };
        match answer {
            None => Next::Stay,
            // These show more and return to the question.
            Some(answer @ (Answer::Differences | Answer::LookAtConflict)) => {
                shared.request(Request::Answer(answer, Subject::State));
                Next::Stay
            }
            Some(answer) => {
                shared.request(Request::Answer(answer, std::mem::take(&mut self.subject)));
                Next::Close
            }
        }
    }
}
