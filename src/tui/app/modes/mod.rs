//! Modes: one struct per mode, with its state and its key handling.
//!
//! A mode changes the shared state and itself; whatever else a key asks for is a
//! [`Request`](super::state::request::Request), so that no mode knows another.

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

/// What the keys are for.
#[derive(Debug)]
pub(crate) enum Mode {
    /// The table: letters are commands.
    Table,
    /// The details of the row are being read: keys scroll them.
    Details,
    /// A cell is being edited.
    Cell(Box<CellEdit>),
    /// A command, a query.
    Line(Box<LineEdit>),
    /// One field of many rows.
    Bulk(Box<Bulk>),
    /// New URLs.
    Add(Box<Add>),
    /// The values of an element of an extension.
    Element(Box<ElementEdit>),
    /// A list to read or to choose from.
    List(Box<List>),
    /// The unsaved changes.
    Changes(Box<Changes>),
    /// What others wrote, being merged with what was changed here.
    Merge(Box<Merging>),
    /// A question with answers.
    Ask(Box<Ask>),
}

impl Mode {
    /// Takes a key; says what becomes of the mode.
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

    /// Whether it needs a tall pane. While the table follows the typing, it keeps its place.
    pub(crate) fn is_tall(&self) -> bool {
        match self {
            Self::Line(edit) => !matches!(edit.purpose, Purpose::Filter | Purpose::Search),
            Self::Bulk(_) | Self::Element(_) => true,
            Self::Add(add) => !add.list.is_empty(),
            _ => false,
        }
    }

    /// Whether it was drawn, if it is a dialog: a dialog takes no input that was sent before it was drawn.
    ///
    /// Whoever types ahead, or pastes, answers no question that is not on the screen yet. A dialog is what asks, and
    /// what appears when a job has ended; lists and lines that a key always opens are none, since whoever presses that
    /// key knows where the next ones go.
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

/// The modes that are open, each above the one that it was opened from; the table is below all.
#[derive(Debug)]
pub(in crate::tui) struct Modes {
    table: Mode,
    /// What is open above the table; the details, where they have the keys, come first.
    above: Vec<Mode>,
}

impl Default for Modes {
    fn default() -> Self {
        Self { table: Mode::Table, above: Vec::new() }
    }
}

impl Modes {
    /// The mode that has the keys.
    pub(crate) fn current(&self) -> &Mode {
        self.above.last().unwrap_or(&self.table)
    }

    /// The mode that has the keys, to be changed.
    pub(in crate::tui::app) fn current_mut(&mut self) -> &mut Mode {
        self.above.last_mut().unwrap_or(&mut self.table)
    }

    /// Whether the keys go to the table or the details: nothing is typed, asked or listed.
    pub(crate) fn is_browsing(&self) -> bool {
        matches!(self.current(), Mode::Table | Mode::Details)
    }

    /// Whether the keys go to the details, or go back there.
    pub(crate) fn has_details(&self) -> bool {
        matches!(self.above.first(), Some(Mode::Details))
    }

    /// Opens a mode in the place of whatever is open.
    pub(in crate::tui::app) fn open(&mut self, mode: Mode) {
        self.close_all();
        self.above.push(mode);
    }

    /// Opens a mode above what is open, which comes back when it is closed.
    pub(in crate::tui::app) fn open_above(&mut self, mode: Mode) {
        if let Mode::List(list) = self.current_mut() {
            list.covered = Some(list.lines_after());
        }
        self.above.push(mode);
    }

    /// Closes what is open, but for what it was opened from.
    pub(in crate::tui::app) fn close(&mut self) {
        if !self.is_browsing() {
            self.above.pop();
        }
        // A question that comes back is drawn before it is answered.
        if let Mode::Ask(ask) = self.current_mut() {
            ask.drawn = false;
        }
    }

    /// Closes whatever is open.
    pub(in crate::tui::app) fn close_all(&mut self) {
        self.above.truncate(usize::from(self.has_details()));
    }

    /// What becomes of the mode that has the keys.
    pub(in crate::tui::app) fn follow(&mut self, next: Next) {
        match next {
            Next::Stay => {}
            Next::Close => self.close(),
            Next::CloseAll => self.close_all(),
        }
    }

    /// The keys go to the details, also when what is opened from there is closed.
    pub(in crate::tui::app) fn enter_details(&mut self) {
        self.above = vec![Mode::Details];
    }

    /// The keys go to the table again.
    pub(in crate::tui::app) fn leave_details(&mut self) {
        self.above.clear();
    }
}
