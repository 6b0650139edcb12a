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

/// The effect that a command would have.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The change and its rows: `set priority to 0.8 on 1,204 of 50,000 rows (filtered)`.
    pub words: String,
    /// The reason why rows are unchanged, in the singular and in the plural.
    pub others: [&'static str; 2],
    /// The change, or the reason why it is refused; `None` for commands that only show or mark rows.
    pub intent: Option<Result<Intent, EditError>>,
    /// Number of rows that match the query.
    pub rows: u64,
    /// For a fix: the number of rows that violate each of its rules.
    pub rules: Vec<(Rule, u64)>,
}

/// Computes the preview of a command. `None` when cancelled.
pub(in crate::tui::app) fn preview_command(
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
            rules_named(rules).map(|rules| count_by_rule(snapshot, scoped, rules, progress)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let verb = verb(command);
    let others = match command {
        // A step has no effect at the limit of the range.
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

/// The number of rows that violate each rule, the most frequent first. Variants of a rule, which share its code, are
/// counted together, under the most severe of them.
fn count_by_rule(snapshot: &Snapshot, rows: &RowSet, rules: RuleSet, progress: &Progress) -> Vec<(Rule, u64)> {
    let severity = |rule: &Rule| rule.severity_in(snapshot.checks.profile());
    let mut counts: BTreeMap<Rule, (Rule, u64)> = BTreeMap::new();
    for row in rows.iter().take_while(|_| !progress.is_cancelled()) {
        let broken = snapshot.rules_of(RowId(row)).intersection(rules);
        for rule in broken.iter() {
            let (worst, count) = counts.entry(rule.main()).or_insert((rule, 0));
            *worst = std::cmp::max_by_key(*worst, rule, severity);
            // A row counts once, with the first of the variants that it violates.
            *count += u64::from(broken.intersection(rule.family()).iter().next() == Some(rule));
        }
    }
    let mut counts: Vec<(Rule, u64)> = counts.into_values().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// The verb phrase of a command, which its scope follows.
fn verb(command: &Command) -> String {
    match command {
        Command::Set { assignments, .. } => {
            let words: Vec<String> = assignments.iter().map(assignment_words).collect();
            format!("{} on", words.join(", "))
        }
        Command::Replace { .. } => "rewrite URLs in".to_owned(),
        Command::Delete(_) => "delete".to_owned(),
        Command::Keep(_) => "delete all rows but".to_owned(),
        Command::Duplicate(_) => "duplicate".to_owned(),
        Command::Revert(_) => "revert".to_owned(),
        Command::Fix { .. } => "fix".to_owned(),
        Command::Extend { changes, .. } => changes.iter().map(extension_words).collect::<Vec<_>>().join(", "),
        Command::Mark(_) => "mark".to_owned(),
        Command::Unmark(_) => "unmark".to_owned(),
        Command::ApplyOrder => "apply the order of the view to the files".to_owned(),
        Command::Add(urls) => format!("add {}", counted(urls.len() as u64, "URL")),
        _ => String::new(),
    }
}

fn extension_words(change: &ExtensionChange) -> String {
    match change {
        ExtensionChange::Set { path, value } => format!("set {path} to {} on", excerpt(value, 40)),
        ExtensionChange::Add { path, .. } => format!("add {path} to"),
        ExtensionChange::Remove(path) => format!("remove {path} from"),
    }
}

fn assignment_words(assignment: &Assignment) -> String {
    let (field, typed) = (assignment.field.name(), assignment.typed.as_str());
    match typed.chars().next() {
        _ if typed == "none" => format!("remove {field}"),
        Some('+' | '-') => format!("{field} {typed}"),
        _ => format!("set {field} to {typed}"),
    }
}

/// The scope of a command, if it has one.
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
