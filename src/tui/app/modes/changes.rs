//! The list of unsaved changes, with search and revert.
//!
//! The list contains ids; text is made for visible lines only. It is recomputed after each change, in a job if the set
//! is large.

use super::super::operations::{edit, view};
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::Next;
use crate::document::rows::RowSet;
use crate::document::view::ViewSpec;
use crate::session::edit::Change;
use crate::session::store::pending::{Entry, Pending};
use crate::tui::jobs::Kind;
use crate::tui::prompt::{Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The list of unsaved changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The changes; `None` until they are computed.
    pub pending: Option<Pending>,
    /// The search prompt, while it is open.
    pub prompt: Option<Prompt>,
    /// The text that lines must contain.
    pub holds: String,
    /// The chosen line.
    pub chosen: usize,
    /// The ticket of the last request.
    ticket: u64,
    /// The listed state of the document: its version, and the number of saves.
    listed: Option<(u64, u64)>,
}

impl Changes {
    /// The chosen change.
    pub(crate) fn entry(&self) -> Option<Entry> {
        self.pending.as_ref()?.entries.get(self.chosen).copied()
    }

    fn len(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.entries.len())
    }

    fn go(&mut self, down: bool, by: usize) {
        let at = if down { self.chosen.saturating_add(by) } else { self.chosen.saturating_sub(by) };
        self.chosen = at.min(self.len().saturating_sub(1));
    }

    /// Scrolls by the mouse wheel.
    pub(crate) fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }

    /// Requests the list again if the document has changed; until then the old list is shown. False if nothing has
    /// changed.
    pub(in crate::tui::app) fn follow(&mut self, shared: &mut Shared) -> bool {
        let now = (shared.session.view().version, shared.session.view().saves);
        if self.listed == Some(now) {
            return false;
        }
        self.listed = Some(now);
        self.ticket = shared.jobs.next_ticket();
        let (ticket, holds, snapshot) = (self.ticket, self.holds.clone(), shared.session.snapshot());
        shared.jobs.run(Kind::Preview, shared.is_small(), move |progress| JobOutcome::Pending {
            ticket,
            pending: snapshot.pending(&holds, progress),
        });
        true
    }

    /// Receives the changes. False if there are none left.
    pub(in crate::tui::app) fn take(&mut self, ticket: u64, pending: Option<Pending>) -> bool {
        if ticket != self.ticket {
            return true;
        }
        if pending.is_some() {
            self.pending = pending;
        }
        self.go(true, 0);
        self.pending.as_ref().is_none_or(|pending| pending.counts.sum() > 0)
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        if self.prompt.is_some() {
            self.search_key(key);
            return Next::Stay;
        }
        let page = usize::from(shared.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl) {
            (KeyCode::Esc, _) if !self.holds.is_empty() => self.show_all(),
            (KeyCode::Esc | KeyCode::Char('q'), false) | (KeyCode::Char('c' | 'q'), true) => return Next::CloseAll,
            (KeyCode::Enter, _) => return self.go_to_row(shared),
            (KeyCode::Down | KeyCode::Char('j'), false) => self.go(true, 1),
            (KeyCode::Up | KeyCode::Char('k'), false) => self.go(false, 1),
            (KeyCode::PageDown | KeyCode::Char(' '), false) | (KeyCode::Char('d' | 'f'), true) => self.go(true, page),
            (KeyCode::PageUp, _) | (KeyCode::Char('u' | 'b'), true) => self.go(false, page),
            (KeyCode::Home | KeyCode::Char('g'), false) => self.go(false, usize::MAX),
            (KeyCode::End | KeyCode::Char('G'), false) => self.go(true, usize::MAX / 2),
            (KeyCode::Char('/'), false) => self.prompt = Some(Prompt::new(&self.holds, Vec::new())),
            (KeyCode::Char('r' | 'x'), false) => match self.entry().map(Entry::revert) {
                Some(Some(change)) => edit::change(shared, change),
                Some(None) => shared.show_note("this change was undone; ^R redoes it"),
                None => {}
            },
            (KeyCode::Char('R'), false) => edit::change(shared, Change::Revert(self.rows())),
            (KeyCode::Char('u'), false) => edit::undo(shared, true, 1),
            (KeyCode::Char('r' | 'y'), true) => edit::undo(shared, false, 1),
            (KeyCode::Char('f'), false) => {
                view::filter_by(shared, "is:changed or is:added or is:deleted");
                return Next::CloseAll;
            }
            _ => {}
        }
        Next::Stay
    }

    /// Handles a key of the search prompt.
    fn search_key(&mut self, key: KeyEvent) {
        let Some(prompt) = &mut self.prompt else { return };
        match prompt.press(key) {
            Reply::Changed => {
                prompt.text().trim().clone_into(&mut self.holds);
                self.chosen = 0;
                self.listed = None;
            }
            Reply::Accept => self.prompt = None,
            Reply::Drop => self.show_all(),
            Reply::Up | Reply::Down => self.go(key.code == KeyCode::Down, 1),
            _ => {}
        }
    }

    fn show_all(&mut self) {
        self.prompt = None;
        if !std::mem::take(&mut self.holds).is_empty() {
            self.listed = None;
        }
    }

    /// The listed rows.
    fn rows(&self) -> RowSet {
        let entries = self.pending.iter().flat_map(|pending| &pending.entries);
        let row = |entry: &Entry| match entry {
            Entry::Row(row) => Some(row.0),
            Entry::File(_) | Entry::Undone(_) => None,
        };
        entries.filter_map(row).collect()
    }

    /// Goes to the row of the chosen change; removes a filter that hides it.
    fn go_to_row(&self, shared: &mut Shared) -> Next {
        match self.entry() {
            Some(Entry::Row(row)) => {
                if shared.session.view().position_of(row).is_none() {
                    view::show_view(shared, ViewSpec { filter: None, ..view::spec(shared).clone() });
                }
                shared.grid.row = Some(row);
                shared.grid.follow(&shared.session);
                return Next::CloseAll;
            }
            Some(Entry::File(_)) => shared.show_note("this is about the file as a whole; it has no row"),
            Some(Entry::Undone(_)) => shared.show_note("only the saved files have this row"),
            None => {}
        }
        Next::Stay
    }
}
