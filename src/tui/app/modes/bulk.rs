//! The dialog that sets a field on many rows and shows the command it will run.

use super::super::operations::cursor::end_range;
use super::super::operations::view;
use super::super::state::Shared;
use super::super::state::preview::Preview;
use super::super::state::request::{Next, Request};
use crate::protocol::Field;
use crate::session::command::{Command, CommandError, Scope, parse};
use crate::tui::prompt::{Prompt, Reply};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Which rows are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The marked rows.
    Marked,
    /// All rows shown.
    Shown,
    /// The row under the cursor.
    Row,
}

/// The state of the dialog.
#[derive(Debug)]
pub(crate) struct Bulk {
    /// The field to set.
    pub field: Field,
    /// The value.
    pub prompt: Prompt,
    /// The chosen rows, one of [`Bulk::reaches`].
    pub reach: Reach,
    /// The available choices of rows.
    pub reaches: Vec<Reach>,
    /// The parsed command; `None` without a value.
    pub parsed: Option<Result<Command, CommandError>>,
    /// The preview of the command.
    pub preview: Option<Preview>,
    /// The ticket of the requested preview.
    ticket: u64,
}

impl Bulk {
    /// The command of the dialog, as it could be typed.
    pub(crate) fn command(&self) -> String {
        let range = if self.reach == Reach::Shown { "%" } else { "" };
        let value = self.prompt.text().trim();
        let quoted =
            if value.contains([' ', '"']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.to_owned() };
        format!("{range}set {}={quoted}", self.field.name())
    }

    /// Creates the dialog for the field at the cursor; `None` if nothing can be changed.
    pub(in crate::tui::app) fn new(shared: &mut Shared) -> Option<Box<Self>> {
        if !shared.ensure_changeable() {
            return None;
        }
        end_range(shared);
        // All rows are never the default.
        let reaches = if shared.session.view().marked() > 0 {
            vec![Reach::Marked, Reach::Shown]
        } else if view::spec(shared).filter.is_some() {
            vec![Reach::Shown, Reach::Row]
        } else {
            vec![Reach::Row, Reach::Shown]
        };
        // Many rows cannot have the same URL.
        let field = match shared.grid.field {
            Field::Loc if shared.session.document().lists_sitemaps() => Field::Lastmod,
            Field::Loc => Field::Priority,
            field => field,
        };
        let reach = reaches.first().copied().unwrap_or(Reach::Row);
        let prompt = Prompt::new("", Vec::new());
        let mut bulk = Box::new(Self { field, prompt, reach, reaches, parsed: None, preview: None, ticket: 0 });
        bulk.changed(shared);
        Some(bulk)
    }

    /// Handles a key.
    pub(in crate::tui::app) fn handle(&mut self, key: KeyEvent, shared: &mut Shared) -> Next {
        let fields = [Field::Lastmod, Field::Changefreq, Field::Priority];
        let at = fields.iter().position(|field| *field == self.field).unwrap_or(0);
        if key.code == KeyCode::Char('s') && key.modifiers == KeyModifiers::CONTROL {
            shared.show_note("Enter applies the change first; then ^S saves");
            return Next::Stay;
        }
        match self.prompt.press(key) {
            Reply::Moved | Reply::Unknown => return Next::Stay,
            Reply::Drop => return Next::CloseAll,
            Reply::Changed => {}
            Reply::Tab(_) => {
                let at = self.reaches.iter().position(|reach| *reach == self.reach).unwrap_or(0);
                self.reach = self.reaches.get((at + 1) % self.reaches.len().max(1)).copied().unwrap_or(Reach::Row);
            }
            Reply::Down => self.field = fields[(at + 1) % fields.len()],
            Reply::Up => self.field = fields[(at + fields.len() - 1) % fields.len()],
            Reply::Accept => return self.accept(shared),
        }
        self.changed(shared);
        Next::Stay
    }

    fn accept(&self, shared: &mut Shared) -> Next {
        let Some(Ok(command)) = &self.parsed else {
            shared.show_error("type a value first; none removes the element");
            return Next::Stay;
        };
        shared.recent.keep_value(self.field, self.prompt.text().trim(), 1);
        shared.recent.bulk = Some(self.command());
        let default_scope = shared.default_scope();
        shared.request(Request::Execute(command.clone(), default_scope));
        Next::CloseAll
    }

    /// Inserts pasted text. True if line breaks were replaced by blanks.
    pub(in crate::tui::app) fn paste(&mut self, text: &str, shared: &mut Shared) -> bool {
        let folded = self.prompt.paste(text);
        self.changed(shared);
        folded
    }

    /// Parses the changed command and requests its preview.
    fn changed(&mut self, shared: &mut Shared) {
        let typed = !self.prompt.text().trim().is_empty();
        self.preview = None;
        self.parsed = typed.then(|| parse(&self.command(), &shared.session.view().vocabulary()));
        if let (Reach::Row, Some(Ok(Command::Set { scope, .. }))) = (self.reach, &mut self.parsed) {
            *scope = Scope::default();
        }
        if let Some(Ok(command)) = &self.parsed {
            let default_scope = shared.default_scope();
            self.ticket = shared.request_preview(command.clone(), default_scope);
        }
    }

    /// Receives a preview, if it is the one requested last.
    pub(in crate::tui::app) fn take_preview(&mut self, ticket: u64, preview: Preview) {
        if self.ticket == ticket {
            self.preview = Some(preview);
        }
    }
}
