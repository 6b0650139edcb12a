//! The dialog that sets a field on many rows and shows the command it will run.

use super::super::prompt::{Prompt, Reply};
use super::{App, Mode, Preview};
use crate::protocol::Field;
use crate::session::command::{Command, CommandError, Scope, parse};
use crate::session::snapshot::vocabulary;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Which rows are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The marked rows.
    Marked,
    /// All rows shown.
    Shown,
    /// The row under the cursor.
    Row,
}

/// The dialog.
#[derive(Debug)]
pub struct Bulk {
    /// Which field.
    pub field: Field,
    /// The value.
    pub prompt: Prompt,
    /// Which rows; the first of [`Bulk::reaches`] that is chosen.
    pub reach: Reach,
    /// The choices there are.
    pub reaches: Vec<Reach>,
    /// What it means so far; `None` while there is no value.
    pub parsed: Option<Result<Command, CommandError>>,
    /// What it would do.
    pub preview: Option<Preview>,
    pub(super) ticket: u64,
}

impl Bulk {
    /// The command that the dialog stands for, as it can be typed.
    pub fn command(&self) -> String {
        let range = if self.reach == Reach::Shown { "%" } else { "" };
        let value = self.prompt.text().trim();
        let quoted =
            if value.contains([' ', '"']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.to_owned() };
        format!("{range}set {}={quoted}", self.field.name())
    }
}

impl App {
    /// Opens the dialog for the field under the cursor.
    pub(super) fn open_bulk(&mut self) {
        if let Err(refused) = self.changeable() {
            return self.fail(refused.0);
        }
        self.end_range();
        // All rows are never meant unless somebody says so.
        let reaches = if self.session.marked() > 0 {
            vec![Reach::Marked, Reach::Shown]
        } else if self.spec().filter.is_some() {
            vec![Reach::Shown, Reach::Row]
        } else {
            vec![Reach::Row, Reach::Shown]
        };
        // URLs differ from each other; one for many rows is never meant.
        let field = match self.grid.field {
            Field::Loc if self.session.document().lists_sitemaps() => Field::Lastmod,
            Field::Loc => Field::Priority,
            field => field,
        };
        let reach = reaches.first().copied().unwrap_or(Reach::Row);
        let prompt = Prompt::new("", Vec::new());
        self.bulk_changed(Box::new(Bulk { field, prompt, reach, reaches, parsed: None, preview: None, ticket: 0 }));
    }

    /// The last bulk change again: its line, with its preview.
    pub(super) fn bulk_again(&mut self) {
        match self.last_bulk.clone() {
            Some(line) => self.open_line(super::Purpose::Command, &line),
            None => self.say("no bulk change yet; b makes one"),
        }
    }

    pub(super) fn bulk_key(&mut self, mut bulk: Box<Bulk>, key: KeyEvent) {
        let fields = [Field::Lastmod, Field::Changefreq, Field::Priority];
        let at = fields.iter().position(|field| *field == bulk.field).unwrap_or(0);
        if key.code == KeyCode::Char('s') && key.modifiers == KeyModifiers::CONTROL {
            self.say("Enter applies the change first; then ^S saves");
            self.mode = Mode::Bulk(bulk);
            return;
        }
        match bulk.prompt.press(key) {
            Reply::Changed => self.bulk_changed(bulk),
            Reply::Moved | Reply::Unknown => self.mode = Mode::Bulk(bulk),
            Reply::Drop => {}
            Reply::Tab(_) => {
                let at = bulk.reaches.iter().position(|reach| *reach == bulk.reach).unwrap_or(0);
                bulk.reach = bulk.reaches.get((at + 1) % bulk.reaches.len().max(1)).copied().unwrap_or(Reach::Row);
                self.bulk_changed(bulk);
            }
            Reply::Down => {
                bulk.field = fields[(at + 1) % fields.len()];
                self.bulk_changed(bulk);
            }
            Reply::Up => {
                bulk.field = fields[(at + fields.len() - 1) % fields.len()];
                self.bulk_changed(bulk);
            }
            Reply::Accept => match bulk.parsed.take() {
                Some(Ok(command)) => {
                    self.keep_bulk(bulk.field, bulk.prompt.text().trim(), 1);
                    self.last_bulk = Some(bulk.command());
                    self.execute(command);
                }
                parsed => {
                    bulk.parsed = parsed;
                    self.fail("type a value first; none removes the element");
                    self.mode = Mode::Bulk(bulk);
                }
            },
        }
    }

    pub(super) fn bulk_changed(&mut self, mut bulk: Box<Bulk>) {
        let typed = !bulk.prompt.text().trim().is_empty();
        bulk.preview = None;
        bulk.parsed = typed.then(|| parse(&bulk.command(), &vocabulary(self.session.view().clock)));
        if let (Reach::Row, Some(Ok(Command::Set { scope, .. }))) = (bulk.reach, &mut bulk.parsed) {
            *scope = Scope::default();
        }
        let command = bulk.parsed.as_ref().and_then(|parsed| parsed.as_ref().ok()).cloned();
        self.mode = Mode::Bulk(bulk);
        if let Some(command) = command {
            self.ask_preview(command);
        }
    }
}
