//! List items: their words, and the action of choosing them.

use super::super::state::request::Choice;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};

/// A line with its choice.
pub(in crate::tui) type Item = (Line, Choice);

/// A line that can be chosen.
pub(in crate::tui::app) const fn entry(words: Words, right: Words, choice: Choice) -> Item {
    (Line::new(words, right), choice)
}

/// A line of text.
pub(in crate::tui::app) fn text(words: impl Into<Line>) -> Item {
    (words.into(), Choice::Nothing)
}

/// A line above a group of others.
pub(in crate::tui::app) fn heading(words: &str) -> Item {
    text(Words::new().and(Role::Bold, words.to_owned()))
}

/// An empty line.
pub(in crate::tui::app) fn blank() -> Item {
    text(Line::default())
}
