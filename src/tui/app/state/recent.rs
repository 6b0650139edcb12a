//! Recent input, changes and copies, for recall and repeat.

use crate::protocol::Field;
use crate::session::command::{Assignment, Command, Scope};
use crate::tui::command::Action;

/// What a line is typed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Any command.
    Command,
    /// A query for what is shown; the table follows it while it is typed.
    Filter,
    /// A query for the next row; the cursor follows it while it is typed.
    Search,
    /// A query for rows to mark.
    Mark,
    /// A query for rows to take the mark off.
    Unmark,
    /// Where the set will live, for a save that makes files.
    Base,
}

impl Purpose {
    /// All purposes.
    pub(crate) const ALL: [Self; 6] = [Self::Command, Self::Filter, Self::Search, Self::Mark, Self::Unmark, Self::Base];

    /// What is before the text to make it a command.
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

    /// What is shown before the text.
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

/// Lines typed before, by purpose; the newest last.
#[derive(Debug, Default)]
pub(in crate::tui) struct Recall([Vec<String>; Purpose::ALL.len()]);

/// Lines kept per purpose.
const KEPT: usize = 200;

impl Recall {
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
        if lines.len() > KEPT {
            lines.remove(0);
        }
    }
}

/// The last change, for `.`.
#[derive(Debug, Clone)]
pub(in crate::tui::app) enum LastChange {
    /// An action of the table.
    Action(Action),
    /// A command, on the rows that are meant then.
    Command(Command),
}

/// What was typed, changed and copied last.
#[derive(Debug, Default)]
pub(in crate::tui) struct Recent {
    /// Lines typed before.
    pub(in crate::tui::app) lines: Recall,
    /// The last change.
    pub(in crate::tui::app) change: Option<LastChange>,
    /// The last command that set a field of many rows.
    pub(in crate::tui::app) bulk: Option<String>,
    /// The URLs copied last.
    pub(in crate::tui::app) copied: Vec<String>,
    /// Texts of cells that were given up, by field.
    dropped: [Vec<String>; Field::ALL.len()],
}

impl Recent {
    /// Texts of cells of a field that were given up.
    pub(in crate::tui::app) fn dropped(&self, field: Field) -> Vec<String> {
        self.dropped[field.index()].clone()
    }

    pub(in crate::tui::app) fn keep_dropped(&mut self, field: Field, text: &str) {
        self.dropped[field.index()].push(text.to_owned());
    }

    /// Keeps a value set for `.`, and for `B` where it was set on many rows.
    pub(in crate::tui::app) fn keep_value(&mut self, field: Field, typed: &str, rows: u64) {
        let assignments = vec![Assignment { field, typed: typed.to_owned() }];
        self.change = Some(LastChange::Command(Command::Set { scope: Scope::default(), assignments }));
        if rows > 1 {
            self.bulk = Some(format!("set {}={typed}", field.name()));
        }
    }

    /// Keeps a command for `.`: what it does, not which rows it did it to.
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
