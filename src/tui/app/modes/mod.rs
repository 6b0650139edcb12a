//! Modes: one struct per mode, with its state and its key handling.
//!
//! A mode changes the shared state and itself; every other effect of a key is a
//! [`Request`](super::state::request::Request), so that no mode depends on another.

pub(in crate::tui) mod add;
pub(in crate::tui) mod ask;
pub(in crate::tui) mod bulk;
pub(in crate::tui) mod cell;
pub(in crate::tui) mod changes;
mod dates;
pub(in crate::tui::app) mod decisions;
mod details;
pub(in crate::tui) mod element;
mod frequency;
pub(in crate::tui::app) mod items;
pub(in crate::tui) mod line;
pub(in crate::tui) mod list;
pub(in crate::tui) mod merge;
pub(in crate::tui::app) mod palette;
mod table;

use super::state::Shared;
use super::state::recent::Purpose;
use super::state::request::Next;
use add::Add;
use ask::Ask;
use bulk::Bulk;
use cell::CellEdit;
use changes::Changes;
use crossterm::event::KeyEvent;
use element::ElementEdit;
use line::LineEdit;
use list::{List, ListKind};
use merge::Merging;

/// A mode: it handles the keys.
#[derive(Debug)]
pub(crate) enum Mode {
    /// The table: letters are commands.
    Table,
    /// The details pane has the focus: keys select, edit, add and remove its values.
    Details,
    /// A cell is being edited.
    Cell(Box<CellEdit>),
    /// A command or a query is being typed.
    Line(Box<LineEdit>),
    /// The dialog that sets a field of many rows.
    Bulk(Box<Bulk>),
    /// New URLs are being typed, or a list of them is open.
    Add(Box<Add>),
    /// The form of an element of an extension.
    Element(Box<ElementEdit>),
    /// A list is open.
    List(Box<List>),
    /// The list of unsaved changes.
    Changes(Box<Changes>),
    /// The merge with changes of other programs.
    Merge(Box<Merging>),
    /// A question with answers.
    Ask(Box<Ask>),
}

impl Mode {
    /// Handles a key and returns the next state of the mode.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        match self {
            Self::Table => table::handle(key, shared),
            Self::Details => details::handle(key, shared),
            Self::Cell(edit) => return edit.handle(key, shared),
            Self::Line(edit) => return edit.handle(key, shared),
            Self::Bulk(bulk) => return bulk.handle(key, shared),
            Self::Add(add) => return add.handle(key, shared),
            Self::Element(edit) => return edit.handle(key, shared),
            Self::List(list) => return list.handle(key, shared),
            Self::Changes(changes) => return changes.handle(key, shared),
            Self::Merge(merging) => return merging.handle(key, shared),
            Self::Ask(ask) => return ask.handle(key, shared),
        }
        Next::Stay
    }

    /// Whether it needs a tall pane. A filter and a search do not: the table must not move while it follows the typing.
    pub(crate) fn is_tall(&self) -> bool {
        match self {
            Self::Line(edit) => !matches!(edit.purpose, Purpose::Filter | Purpose::Search),
            Self::Bulk(_) | Self::Element(_) => true,
            Self::Add(add) => !add.list.is_empty(),
            _ => false,
        }
    }

    /// Whether it was drawn, if it is a dialog: input from before a dialog was drawn is dropped.
    ///
    /// Keys typed ahead and pasted text must not answer a question that the user has not seen. Dialogs are questions
    /// and modes that the end of a job opens. Lists and lines that a key always opens are not: the user who presses
    /// that key knows which dialog gets the next keys.
    pub(in crate::tui::app) const fn drawn(&mut self) -> Option<&mut bool> {
        match self {
            Self::Ask(ask) => Some(&mut ask.drawn),
            Self::Merge(merging) => Some(&mut merging.drawn),
            Self::Line(edit) => match edit.purpose {
                Purpose::Base => Some(&mut edit.drawn),
                Purpose::Command | Purpose::Filter | Purpose::Search | Purpose::Mark | Purpose::Unmark => None,
            },
            Self::List(list) => match list.kind {
                ListKind::Decide(_) | ListKind::Diff | ListKind::Conflict | ListKind::Proof | ListKind::Data => {
                    Some(&mut list.drawn)
                }
                ListKind::Help
                | ListKind::Palette
                | ListKind::History
                | ListKind::Script
                | ListKind::Rules
                | ListKind::Dates
                | ListKind::Elements
                | ListKind::Explain => None,
            },
            Self::Table
            | Self::Details
            | Self::Cell(_)
            | Self::Bulk(_)
            | Self::Add(_)
            | Self::Element(_)
            | Self::Changes(_) => None,
        }
    }
}

/// The open modes, each above the one that it was opened from; the table is the lowest.
#[derive(Debug)]
pub(in crate::tui) struct Modes {
    table: Mode,
    /// The modes above the table; the details pane is the first if it has the focus.
    above: Vec<Mode>,
}

impl Default for Modes {
    fn default() -> Self {
        Self { table: Mode::Table, above: Vec::new() }
    }
}

impl Modes {
    /// The current mode.
    pub(crate) fn current(&self) -> &Mode {
        self.above.last().unwrap_or(&self.table)
    }

    /// The current mode, mutable.
    pub(in crate::tui::app) fn current_mut(&mut self) -> &mut Mode {
        self.above.last_mut().unwrap_or(&mut self.table)
    }

    /// Whether the current mode is the table or the details pane.
    pub(crate) fn is_browsing(&self) -> bool {
        matches!(self.current(), Mode::Table | Mode::Details)
    }

    /// Whether the details pane has the focus, or gets it back when the modes above it are closed.
    pub(crate) fn has_details(&self) -> bool {
        matches!(self.above.first(), Some(Mode::Details))
    }

    /// Opens a mode and closes all others.
    pub(in crate::tui::app) fn open(&mut self, mode: Mode) {
        self.close_all();
        self.above.push(mode);
    }

    /// Opens a mode above the current one, which is shown again when it is closed.
    pub(in crate::tui::app) fn open_above(&mut self, mode: Mode) {
        if let Mode::List(list) = self.current_mut() {
            list.covered = Some(list.lines_after());
        }
        self.above.push(mode);
    }

    /// Closes the current mode, and shows the one below it.
    pub(in crate::tui::app) fn close(&mut self) {
        if !self.is_browsing() {
            self.above.pop();
        }
        // A question that is shown again must be drawn before it accepts an answer.
        if let Mode::Ask(ask) = self.current_mut() {
            ask.drawn = false;
        }
    }

    /// Closes all modes.
    pub(in crate::tui::app) fn close_all(&mut self) {
        self.above.truncate(usize::from(self.has_details()));
    }

    /// Keeps or closes the current mode.
    pub(in crate::tui::app) fn follow(&mut self, next: Next) {
        match next {
            Next::Stay => {}
            Next::Close => self.close(),
            Next::CloseAll => self.close_all(),
        }
    }

    /// Moves the focus to the details pane.
    pub(in crate::tui::app) fn enter_details(&mut self) {
        self.above = vec![Mode::Details];
    }

    /// Moves the focus to the table.
    pub(in crate::tui::app) fn leave_details(&mut self) {
        self.above.clear();
    }
}
