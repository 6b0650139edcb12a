//! The preview of a command that is being typed.

use crate::check::rule::{Rule, RuleSet};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::edit::{DefaultScope, EditError, Intent, rules_named, scope};
use crate::session::prepare;
use crate::session::state::Snapshot;
use crate::words::{counted, excerpt};
use crate::xml::extension_edit::ExtensionChange;
use std::collections::BTreeMap;

/// What a command would do.
#[derive(Debug, Clone)]
pub struct Preview {
    /// What and on which rows, in words: `set priority to 0.8 on 1,204 of 50,000 rows (filtered)`.
    pub words: String,
    /// Why rows stay as they are, in the singular and in the plural.
    pub others: [&'static str; 2],
    /// The change, or why it is refused; `None` for commands that only show or mark.
    pub intent: Option<Result<Intent, EditError>>,
    /// Rows that a query finds.
    pub rows: u64,
    /// Of a fix, how many of the rows break each of its rules.
    pub rules: Vec<(Rule, u64)>,
}

/// What a command would do; `None` when stopped.
pub(in crate::tui::app) fn of(
    snapshot: &Snapshot,
    command: &Command,
    default_scope: DefaultScope,
    progress: &Progress,
) -> Option<Preview> {
    let scope = scope_of(command);
    let scoped =
        scope.map(|scope| scope::rows_of(snapshot, scope, default_scope, progress).ok_or(())).transpose().ok()?;
    let rows = scoped.as_ref().map_or(0, RowSet::len);
    let rules = match (command, &scoped) {
        (Command::Fix { rules, .. }, Some(scoped)) => {
            rules_named(rules).map(|rules| broken(snapshot, scoped, rules, progress)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let verb = verb(command);
    let others = match command {
        // At the end of its range a step has no effect.
        Command::Set { assignments, .. } if !assignments.iter().any(|one| one.typed.starts_with(['+', '-'])) => {
            ["has it already", "have it already"]
        }
        _ => ["stays as it is", "stay as they are"],
    };
    let words = match scope.map(|scope| scope::words_of(snapshot, scope, rows, default_scope)) {
        Some(scope) => format!("{verb} {scope}"),
        None => verb,
    };
    let intent = prepare::preview(snapshot, command, default_scope, progress).transpose();
    (!progress.is_cancelled()).then_some(Preview { words, others, intent, rows, rules })
}

/// How many of the rows break each rule, the most broken one first.
fn broken(snapshot: &Snapshot, rows: &RowSet, rules: RuleSet, progress: &Progress) -> Vec<(Rule, u64)> {
    let mut counts: BTreeMap<Rule, u64> = BTreeMap::new();
    for row in rows.iter().take_while(|_| !progress.is_cancelled()) {
        for rule in snapshot.rules_of(RowId(row)).intersection(rules).iter() {
            *counts.entry(rule).or_default() += 1;
        }
    }
    let mut counts: Vec<(Rule, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// What a command does, before its rows are named.
fn verb(command: &Command) -> String {
    match command {
        Command::Set { assignments, .. } => {
            let words: Vec<String> = assignments.iter().map(assigned).collect();
            format!("{} on", words.join(", "))
        }
        Command::Replace { .. } => "rewrite URLs in".to_owned(),
        Command::Delete(_) => "delete".to_owned(),
        Command::Keep(_) => "delete all rows but".to_owned(),
        Command::Duplicate(_) => "duplicate".to_owned(),
        Command::Revert(_) => "revert".to_owned(),
        Command::Fix { .. } => "fix".to_owned(),
        Command::Extend { acts, .. } => acts.iter().map(extended).collect::<Vec<_>>().join(", "),
        Command::Mark(_) => "mark".to_owned(),
        Command::Unmark(_) => "unmark".to_owned(),
        Command::ApplyOrder => "apply the order of the view to the files".to_owned(),
        Command::Add(urls) => format!("add {}", counted(urls.len() as u64, "URL")),
        _ => String::new(),
    }
}

fn extended(act: &ExtensionChange) -> String {
    match act {
        ExtensionChange::Set { path, value } => format!("set {path} to {} on", excerpt(value, 40)),
        ExtensionChange::Add { path, .. } => format!("add {path} to"),
        ExtensionChange::Remove(path) => format!("remove {path} from"),
    }
}

fn assigned(assignment: &Assignment) -> String {
    let (field, typed) = (assignment.field.name(), assignment.typed.as_str());
    match typed.chars().next() {
        _ if typed == "none" => format!("remove {field}"),
        Some('+' | '-') => format!("{field} {typed}"),
        _ => format!("set {field} to {typed}"),
    }
}

/// The rows that a command is about, if it is about rows.
fn scope_of(command: &Command) -> Option<&Scope> {
    match command {
        Command::Set { scope, .. }
        | Command::Replace { scope, .. }
        | Command::Delete(scope)
        | Command::Keep(scope)
        | Command::Duplicate(scope)
        | Command::Revert(scope)
        | Command::Mark(scope)
        | Command::Unmark(scope)
        | Command::Extend { scope, .. }
        | Command::Fix { scope, .. } => Some(scope),
        _ => None,
    }
}
