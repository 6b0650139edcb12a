//! The cell editor, which validates after every key.

use super::super::operations::cursor::{end_range, next_cell};
use super::super::operations::edit::change;
use super::super::operations::validate::{Validation, validate};
use super::super::state::Shared;
use super::super::state::request::{Next, Request};
use super::frequency;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::edit::Change;
use crate::tui::command::Action;
use crate::tui::prompt::{Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A cell being edited.
#[derive(Debug)]
pub(crate) struct CellEdit {
    /// The row of the cell.
    pub row: RowId,
    /// The field of the cell.
    pub field: Field,
    /// The text.
    pub prompt: Prompt,
    /// The value before the edit; `None` if there was none.
    pub before: Option<String>,
    /// The validation of the text.
    pub validation: Validation,
    /// URLs that were pasted with the one in the cell, which become rows below it.
    pub others: Vec<String>,
}

impl CellEdit {
    /// Starts to edit the cell at the cursor, or shows why it cannot be edited; `fresh`: with an empty value.
    pub(in crate::tui::app) fn new(shared: &mut Shared, fresh: bool) -> Option<Box<Self>> {
        if !shared.ensure_changeable() {
            return None;
        }
        let Some(row) = shared.grid.row else {
            shared.show_note("no row here; o adds one");
            return None;
        };
        if !shared.session.document().is_live(row) {
            shared.show_note("this row is deleted; dd brings it back");
            return None;
        }
        end_range(shared);
        let field = shared.grid.field;
        let refused = shared.session.document().check_field(field).err();
        if let Some(refused) = refused {
            shared.grid.field = Field::Loc;
            shared.show_error(refused.to_string());
            return None;
        }
        let before = shared.session.view().cell(row, field).map(std::borrow::Cow::into_owned);
        let text = if fresh { "" } else { before.as_deref().unwrap_or_default() };
        let prompt = Prompt::of_value(text, shared.recent.dropped(field));
        let mut edit =
            Box::new(Self { row, field, prompt, before, validation: Validation::default(), others: Vec::new() });
        edit.changed(shared);
        Some(edit)
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        if key.code == KeyCode::Char('s') && key.modifiers == KeyModifiers::CONTROL {
            // A save includes the text that is being typed.
            if !self.keep(shared) {
                return Next::Stay;
            }
            shared.request(Request::Act(Action::Save, None));
            return Next::CloseAll;
        }
        if self.field == Field::Changefreq && frequency::press(&mut self.prompt, key) {
            self.changed(shared);
            return Next::Stay;
        }
        match self.prompt.press(key) {
            Reply::Changed => self.changed(shared),
            Reply::Accept if self.keep(shared) => return Next::CloseAll,
            Reply::Tab(back) => return self.tab(back, shared),
            Reply::Drop => {
                self.keep_dropped(shared);
                return Next::CloseAll;
            }
            Reply::Down if self.keep(shared) => {
                shared.grid.step(&shared.session, true, 1);
                return Next::CloseAll;
            }
            Reply::Accept | Reply::Down | Reply::Up | Reply::Moved | Reply::Unknown => {}
        }
        Next::Stay
    }

    /// Tab inserts the suggestion, or moves to the next cell.
    fn tab(&mut self, back: bool, shared: &mut Shared) -> Next {
        if let Some((text, _)) = self.validation.suggestion.clone().filter(|_| !back) {
            self.prompt.set(&text);
            self.changed(shared);
            return Next::Stay;
        }
        if !self.keep(shared) {
            return Next::Stay;
        }
        next_cell(shared, !back);
        match Self::new(shared, false) {
            Some(next) => {
                *self = *next;
                Next::Stay
            }
            None => Next::CloseAll,
        }
    }

    /// Keeps the dropped text, which can be recalled in the next cell of the field.
    fn keep_dropped(&self, shared: &mut Shared) {
        let text = self.prompt.text();
        let has_history = self.field != Field::Changefreq; // There, ↑ chooses a frequency.
        if has_history && self.before.as_deref().unwrap_or_default() != text && !text.is_empty() {
            shared.recent.keep_dropped(self.field, text);
            shared.show_note("cancelled; edit the cell again and ↑ restores the text");
        }
    }

    /// Validates the changed text.
    fn changed(&mut self, shared: &Shared) {
        self.validation = validate(shared, Some(self.row), self.field, self.prompt.text(), self.before.as_deref());
    }

    /// Commits the text. False if that is not possible.
    fn keep(&self, shared: &mut Shared) -> bool {
        if let Some(reason) = &self.validation.refused {
            shared.show_error(reason.clone());
            return false;
        }
        let cleared_loc = self.field == Field::Loc && self.before.is_none() && self.prompt.text().is_empty();
        if self.validation.value != self.before && !cleared_loc {
            let typed = self.prompt.text().trim();
            let typed = if typed.is_empty() { "none" } else { typed };
            let assignments = vec![Assignment { field: self.field, typed: typed.to_owned() }];
            shared.recent.keep_command(&Command::Set { scope: Scope::default(), assignments: assignments.clone() });
            let set = Change::Set { rows: RowSet::from_iter([self.row.0]), assignments };
            let several = |set| Change::Several(vec![set, self.insertion()]);
            change(shared, if self.others.is_empty() { set } else { several(set) });
        } else if !self.others.is_empty() {
            change(shared, self.insertion());
        }
        true
    }

    fn insertion(&self) -> Change {
        Change::Insert { after: Some(self.row), before: false, locs: self.others.clone() }
    }

    /// Inserts pasted text. True if line breaks were replaced by blanks.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, list: Vec<String>, shared: &Shared) -> bool {
        let mut folded = false;
        if self.field == Field::Loc && list.len() > 1 {
            // The first URL replaces the text of the cell; the others become rows below it.
            let mut list = list.into_iter();
            self.prompt.set(&list.next().unwrap_or_default());
            self.others = list.collect();
        } else {
            let completes = self.field == Field::Changefreq && frequency::insert(&mut self.prompt, text.trim());
            folded = !completes && self.prompt.paste(text);
        }
        self.changed(shared);
        folded
    }
}
