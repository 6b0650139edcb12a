//! A dialog takes no input that was sent before it was drawn.
//!
//! Whoever types ahead, or pastes, answers no question that is not on the screen yet. A dialog is what asks, and what
//! appears when a job has ended; lists and lines that a key always opens are none, since whoever presses that key
//! knows where the next ones go.

use super::{App, Event, ListKind, Mode, Purpose};

/// Whether an event is something that the user typed, pasted or clicked.
pub fn is_input(event: &Event) -> bool {
    matches!(event, Event::Key(_) | Event::Paste(_) | Event::Mouse(_))
}

impl Mode {
    /// Of a dialog, whether it was drawn.
    fn drawn(&mut self) -> Option<&mut bool> {
        match self {
            Self::Ask(ask) => Some(&mut ask.drawn),
            Self::Merge(merging) => Some(&mut merging.drawn),
            Self::Line(edit) => match edit.purpose {
                Purpose::Base => Some(&mut edit.drawn),
                Purpose::Command | Purpose::Filter | Purpose::Search | Purpose::Mark | Purpose::Unmark => None,
            },
            Self::List(list) => match list.kind {
                ListKind::Decide(_) | ListKind::Diff | ListKind::Conflict | ListKind::Proof => Some(&mut list.drawn),
                ListKind::Help
                | ListKind::Palette
                | ListKind::History
                | ListKind::Script
                | ListKind::Rules
                | ListKind::Dates
                | ListKind::Elements
                | ListKind::Explain => None,
            },
            Self::Grid
            | Self::Detail
            | Self::Cell(_)
            | Self::Bulk(_)
            | Self::Add(_)
            | Self::Element(_)
            | Self::Changes(_) => None,
        }
    }
}

impl App {
    /// Whether a dialog is open that was not drawn yet: until then, input is dropped.
    pub fn has_undrawn_dialog(&mut self) -> bool {
        self.mode.drawn().is_some_and(|drawn| !*drawn)
    }

    /// A frame was drawn: from now on, input is an answer.
    pub fn dialog_was_drawn(&mut self) {
        if let Some(drawn) = self.mode.drawn() {
            *drawn = true;
        }
    }
}
