//! Recent input, changes and copies, for the history of prompts, repetition and pasting.

use crate::protocol::Field;
use crate::session::command::{Assignment, Command, Scope};
use crate::tui::command::Action;

/// The purpose of a typed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Any command.
    Command,
    /// A query for the rows to show; the table is filtered while it is typed.
    Filter,
    /// A query for the next row; the cursor moves there while it is typed.
    Search,
    /// A query for rows to mark.
    Mark,
    /// A query for rows to unmark.
    Unmark,
    /// The base URL of the set, for a save that creates files.
    Base,
}

impl Purpose {
    /// All purposes.
    pub(crate) const ALL: [Self; 6] = [Self::Command, Self::Filter, Self::Search, Self::Mark, Self::Unmark, Self::Base];

    /// The prefix that makes the text a command.
    pub(in crate::tui) const fn prefix(self) -> &'static str {
        match self {
            Self::Command => "",
            Self::Filter => "filter ",
            Self::Search => "/",
            Self::Mark => "mark where ",
            Self::Unmark => "unmark where ",
            Self::Base => "set-base-url ",
        }
    }

    /// The label shown before the text.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Command => ":",
            Self::Filter => "filter ",
            Self::Search => "/",
            Self::Mark => "mark ",
            Self::Unmark => "unmark ",
            Self::Base => "base URL ",
        }
    }
}

/// The history of typed lines, by purpose; the newest last.
#[derive(Debug, Default)]
pub(in crate::tui) struct LineHistory([Vec<String>; Purpose::ALL.len()]);

/// Maximum number of lines kept per purpose.
const MAX_LINES: usize = 200;

impl LineHistory {
    pub(in crate::tui::app) fn of(&self, purpose: Purpose) -> Vec<String> {
        self.0[purpose as usize].clone()
    }

    pub(in crate::tui::app) fn keep(&mut self, purpose: Purpose, line: &str) {
        let lines = &mut self.0[purpose as usize];
        if line.trim().is_empty() {
            return;
        }
        lines.retain(|known| known != line);
        lines.push(line.to_owned());
        if lines.len() > MAX_LINES {
            lines.remove(0);
        }
    }
}

/// The last change, for `.`.
#[derive(Debug, Clone)]
pub(in crate::tui::app) enum LastChange {
    /// An action of the table.
    Action(Action),
    /// A command, to be run on the rows that are current when it is repeated.
    Command(Command),
}

/// The last lines, change, bulk command, copied URLs and cancelled cell texts.
#[derive(Debug, Default)]
pub(in crate::tui) struct Recent {
    /// The history of typed lines.
    pub(in crate::tui::app) lines: LineHistory,
    /// The last change.
    pub(in crate::tui::app) change: Option<LastChange>,
    /// The last command that set a field of several rows.
    pub(in crate::tui::app) bulk: Option<String>,
    /// The last copied URLs.
    pub(in crate::tui::app) copied: Vec<String>,
    /// Texts of cancelled cell edits, by field.
    dropped: [Vec<String>; Field::ALL.len()],
}

impl Recent {
    /// The texts of cancelled edits of a field.
    pub(in crate::tui::app) fn dropped(&self, field: Field) -> Vec<String> {
        self.dropped[field.index()].clone()
    }

    pub(in crate::tui::app) fn keep_dropped(&mut self, field: Field, text: &str) {
        self.dropped[field.index()].push(text.to_owned());
    }

    /// Stores a value for `.`, and for `B` if it was set on several rows.
    pub(in crate::tui::app) fn keep_value(&mut self, field: Field, typed: &str, rows: u64) {
        let assignments = vec![Assignment { field, typed: typed.to_owned() }];
        self.change = Some(LastChange::Command(Command::Set { scope: Scope::default(), assignments }));
        if rows > 1 {
            self.bulk = Some(format!("set {}={typed}", field.name()));
        }
    }

    /// Stores a command for `.`, without its rows.
    pub(in crate::tui::app) fn keep_command(&mut self, command: &Command) {
        let scope = Scope::default();
        self.change = Some(match command.clone() {
            Command::Set { assignments, .. } => LastChange::Command(Command::Set { scope, assignments }),
            Command::Replace { replace, .. } => LastChange::Command(Command::Replace { scope, replace }),
            Command::Extend { changes, .. } => LastChange::Command(Command::Extend { scope, changes }),
            Command::Fix { rules, answer, .. } => LastChange::Command(Command::Fix { scope, rules, answer }),
            Command::Delete(_) => LastChange::Action(Action::Delete),
            Command::Duplicate(_) => LastChange::Action(Action::Duplicate),
            _ => return,
        });
    }
}
