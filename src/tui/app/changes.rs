//! The list of unsaved changes: search them, revert single ones.
//!
//! The list holds ids; words are made for the lines on the screen. It is made anew after each change, by a job where
//! that may take a while.

use super::super::jobs::Kind;
use super::super::prompt::{Prompt, Reply};
use super::{App, JobOutcome, Mode};
use crate::document::rows::RowSet;
use crate::document::view::ViewSpec;
use crate::progress::Progress;
use crate::session::change::Change;
use crate::session::pending::{Entry, Pending};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The list of unsaved changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// Those that are found; `None` until they are known.
    pub pending: Option<Pending>,
    /// What is looked for, while it is being typed.
    pub prompt: Option<Prompt>,
    /// What narrows the list.
    pub holds: String,
    /// Which of them is chosen.
    pub chosen: usize,
}

impl Changes {
    /// The chosen change.
    pub fn entry(&self) -> Option<Entry> {
        self.pending.as_ref()?.entries.get(self.chosen).copied()
    }

    fn len(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.entries.len())
    }

    fn go(&mut self, down: bool, by: usize) {
        let at = if down { self.chosen.saturating_add(by) } else { self.chosen.saturating_sub(by) };
        self.chosen = at.min(self.len().saturating_sub(1));
    }

    /// The wheel.
    pub fn scroll(&mut self, down: bool) {
        self.go(down, 3);
    }
}

/// Rows up to which the list is made at once.
const AT_ONCE: u32 = 5_000;

impl App {
    /// Lists what is not saved yet.
    pub(super) fn open_changes(&mut self) {
        if !self.session.is_modified() {
            return self.say("no unsaved changes");
        }
        // What can be done here is said in the place of what was said last.
        self.message = None;
        self.mode = Mode::Changes(Box::default());
        self.list_changes();
    }

    /// Looks for the changes anew; the list stays what it is until they are found.
    fn list_changes(&mut self) {
        let Mode::Changes(changes) = &self.mode else { return };
        let holds = changes.holds.clone();
        self.pending_wanted = self.next_ticket();
        let ticket = self.pending_wanted;
        if self.session.document().row_limit() <= AT_ONCE {
            let pending = self.session.view().pending(&holds, &Progress::default());
            return self.changes_found(ticket, pending);
        }
        let snapshot = self.session.snapshot();
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| JobOutcome::Pending {
            ticket,
            pending: snapshot.pending(&holds, progress),
        });
        self.spawn(Kind::Preview, work);
    }

    pub(super) fn changes_found(&mut self, ticket: u64, pending: Option<Pending>) {
        if ticket != self.pending_wanted {
            return;
        }
        let Mode::Changes(changes) = &mut self.mode else { return };
        if pending.is_some() {
            changes.pending = pending;
        }
        changes.go(true, 0);
        if changes.pending.as_ref().is_some_and(|pending| pending.counts.sum() == 0) {
            self.mode = Mode::Grid;
            self.say("no unsaved changes any more");
        }
    }

    pub(super) fn changes_key(&mut self, mut changes: Box<Changes>, key: KeyEvent) {
        if let Some(prompt) = &mut changes.prompt {
            match prompt.press(key) {
                Reply::Changed => {
                    prompt.text().trim().clone_into(&mut changes.holds);
                    changes.chosen = 0;
                    self.mode = Mode::Changes(changes);
                    return self.list_changes();
                }
                Reply::Accept => changes.prompt = None,
                Reply::Drop => return self.show_all_changes(changes),
                Reply::Up | Reply::Down => changes.go(key.code == KeyCode::Down, 1),
                _ => {}
            }
            self.mode = Mode::Changes(changes);
            return;
        }
        let page = usize::from(self.areas().rows.height.max(4)) / 2;
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl) {
            (KeyCode::Esc, _) if !changes.holds.is_empty() => return self.show_all_changes(changes),
            (KeyCode::Esc | KeyCode::Char('q'), false) | (KeyCode::Char('c' | 'q'), true) => return,
            (KeyCode::Enter, _) => return self.go_to_change(changes),
            (KeyCode::Down | KeyCode::Char('j'), false) => changes.go(true, 1),
            (KeyCode::Up | KeyCode::Char('k'), false) => changes.go(false, 1),
            (KeyCode::PageDown | KeyCode::Char(' '), false) | (KeyCode::Char('d' | 'f'), true) => {
                changes.go(true, page);
            }
            (KeyCode::PageUp, _) | (KeyCode::Char('u' | 'b'), true) => changes.go(false, page),
            (KeyCode::Home | KeyCode::Char('g'), false) => changes.go(false, usize::MAX),
            (KeyCode::End | KeyCode::Char('G'), false) => changes.go(true, usize::MAX / 2),
            (KeyCode::Char('/'), false) => {
                changes.prompt = Some(Prompt::new(&changes.holds, Vec::new()));
            }
            (KeyCode::Char('r' | 'x'), false) => {
                let entry = changes.entry();
                return self.change_list(changes, |app| match entry.map(Entry::revert) {
                    Some(Some(change)) => app.change(change),
                    Some(None) => app.say("its making was undone; ^R does that again"),
                    None => {}
                });
            }
            (KeyCode::Char('R'), false) => {
                let rows = changes.pending.iter().flat_map(|pending| &pending.entries);
                let rows = rows.filter_map(|entry| match entry {
                    Entry::Row(row) => Some(row.0),
                    Entry::File(_) | Entry::Undone(_) => None,
                });
                let rows: RowSet = rows.collect();
                return self.change_list(changes, |app| app.change(Change::Revert(rows)));
            }
            (KeyCode::Char('u'), false) => return self.change_list(changes, |app| app.undo(true, 1)),
            (KeyCode::Char('r' | 'y'), true) => return self.change_list(changes, |app| app.undo(false, 1)),
            (KeyCode::Char('f'), false) => {
                return self.filter_by("is:changed or is:added or is:deleted");
            }
            _ => {}
        }
        self.mode = Mode::Changes(changes);
    }

    fn show_all_changes(&mut self, mut changes: Box<Changes>) {
        changes.prompt = None;
        let narrowed = !std::mem::take(&mut changes.holds).is_empty();
        self.mode = Mode::Changes(changes);
        if narrowed {
            self.list_changes();
        }
    }

    /// Changes something and lists what is unsaved then. A job brings the list up to date when it is done.
    fn change_list(&mut self, changes: Box<Changes>, act: impl FnOnce(&mut Self)) {
        act(self);
        self.mode = Mode::Changes(changes);
        self.list_changes();
    }

    /// What is listed is what is unsaved now, whatever has changed it.
    pub(super) fn refresh_changes(&mut self) {
        if matches!(self.mode, Mode::Changes(_)) {
            self.list_changes();
        }
    }

    /// Goes to the row of the chosen change; the filter gives way if it hides it.
    fn go_to_change(&mut self, changes: Box<Changes>) {
        match changes.entry() {
            Some(Entry::Row(row)) => {
                if self.session.position_of(row).is_none() {
                    self.show_view(ViewSpec { filter: None, ..self.session.spec().clone() });
                }
                self.grid.row = Some(row);
                self.follow();
            }
            Some(Entry::File(_)) => {
                self.say("this is about the file as a whole; it has no row");
                self.mode = Mode::Changes(changes);
            }
            Some(Entry::Undone(_)) => {
                self.say("only the saved files have this row");
                self.mode = Mode::Changes(changes);
            }
            None => self.mode = Mode::Changes(changes),
        }
    }
}
