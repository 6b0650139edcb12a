//! The details pane: a cursor of its own, and editing of fields and extensions in place.

use super::super::show::{Stop, details};
use super::{App, Mode, Purpose};
use crate::document::rows::RowSet;
use crate::protocol::extension::path::Path;
use crate::session::change::Change;
use crate::xml::extension_edit::ExtensionChange;
use crossterm::event::{KeyCode, KeyEvent};

/// The cursor of the details.
#[derive(Debug, Default)]
pub(in crate::tui) struct Cursor {
    /// Which of the lines that it stops at it is on.
    pub at: usize,
    /// Whether the keys go back to the details when a line or a cell is done.
    pub(super) has_focus: bool,
}

fn stop_at(app: &App, at: usize) -> Option<Stop> {
    details(app)?.stop(at)
}

impl App {
    /// Whether the details have the cursor.
    pub(in crate::tui) const fn reads_details(&self) -> bool {
        self.details.has_focus
    }

    pub(super) fn detail_key(&mut self, key: KeyEvent) {
        let page = usize::from(self.areas().detail.height.max(2)) / 2;
        let last = details(self).map_or(0, |details| details.stops()).saturating_sub(1);
        let at = self.details.at.min(last);
        let typing = self.keymap.pending().is_empty() && key.modifiers.is_empty();
        self.mode = Mode::Detail;
        match key.code {
            KeyCode::Char('j') | KeyCode::Down if typing => self.details.at = (at + 1).min(last),
            KeyCode::Char('k') | KeyCode::Up if typing => self.details.at = at.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') if typing => self.details.at = (at + page).min(last),
            KeyCode::PageUp if typing => self.details.at = at.saturating_sub(page),
            KeyCode::Home if typing => self.details.at = 0,
            KeyCode::End if typing => self.details.at = last,
            KeyCode::Enter | KeyCode::Char('e' | 'i') | KeyCode::F(2) if typing => {
                self.edit_stop(stop_at(self, at).as_ref());
            }
            KeyCode::Char('a') if typing => match stop_at(self, at) {
                Some(Stop::Element(path, _)) => self.add_into(&path),
                _ => self.open_elements(None),
            },
            KeyCode::Char('o') if typing => self.open_elements(None),
            KeyCode::Char('x') | KeyCode::Backspace | KeyCode::Delete if typing => {
                self.remove_stop(stop_at(self, at).as_ref());
            }
            KeyCode::Esc | KeyCode::F(6) | KeyCode::Char('q') | KeyCode::Tab if typing => self.leave_details(),
            _ => {
                self.mode = Mode::Grid;
                self.grid_key(key);
            }
        }
    }

    /// The keys go to the table again.
    pub(super) fn leave_details(&mut self) {
        self.details.has_focus = false;
        self.mode = Mode::Grid;
    }

    fn edit_stop(&mut self, stop: Option<&Stop>) {
        match stop {
            Some(Stop::Field(field)) => {
                self.grid.field = *field;
                self.mode = Mode::Grid;
                self.open_cell(false);
            }
            // What has no value of its own gets something more.
            Some(Stop::Element(path, values)) if values.is_empty() => self.add_into(path),
            Some(Stop::Element(path, values)) => self.edit_element(path, values),
            Some(Stop::Text) | None => self.say("values are edited above, in the list of fields and extensions"),
        }
    }

    /// A new element in the one under the cursor, or beside it where it holds none.
    fn add_into(&mut self, path: &str) {
        let Ok(path) = Path::parse(path) else { return self.open_elements(None) };
        let mut steps = path.steps.clone();
        if path.element().is_some_and(|element| element.children.is_empty()) {
            // Its attributes are offered where its parent has no other child to add: a link, a restriction.
            if path.steps.len() == 1 {
                return self.open_elements(Some(&Path { attribute: None, ..path }));
            }
            steps.pop();
        }
        let mut above = Path { steps, attribute: None, ..path };
        if let Some(last) = above.steps.last_mut() {
            // A number says that it is this one that gets something more.
            last.index.get_or_insert(1);
        }
        self.open_elements(Some(&above));
    }

    fn remove_stop(&mut self, stop: Option<&Stop>) {
        let Some(row) = self.grid.row else { return };
        let rows = RowSet::from_iter([row.0]);
        match stop {
            Some(Stop::Field(field)) => self.set_rows(rows, *field, "none"),
            Some(Stop::Element(path, _)) => match Path::parse(path) {
                Ok(path) => self.change(Change::Extend { rows, acts: vec![ExtensionChange::Remove(path)] }),
                Err(why) => self.fail(why),
            },
            Some(Stop::Text) | None => self.say("the cursor is on no value"),
        }
    }

    /// A command about this row alone, whatever is marked.
    pub(super) fn open_line_here(&mut self, line: &str) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        self.about = self.grid.row;
        self.open_line(Purpose::Command, line);
    }
}
