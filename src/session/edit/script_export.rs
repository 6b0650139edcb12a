//! Exports the history as commands that repeat it without a screen.
//!
//! The lines are made when a change is planned, from the state before it: only then its rows can be described. A change
//! that no command can express becomes a comment, never a wrong command.

use crate::check::decision::{self, Decision, Hints};
use crate::check::rule::{Rule, RuleSet};
use crate::document::edit::{Edit, Value};
use crate::document::query::Query;
use crate::document::query::scan::quoted;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::{Field, lastmod};
use crate::session::Session;
use crate::session::command::{Assignment, Command, Scope, Targets, parse};
use crate::session::edit::change::{Change, Reach};
use crate::session::edit::intent::Intent;
use crate::session::edit::scope::DefaultScope;
use crate::session::edit::values::intend_set;
use crate::session::fix_table::safe_rules;
use crate::session::state::Snapshot;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// The maximum number of rows that are named one by one.
const MAX_NAMED_ROWS: u64 = 100;
/// In documents of up to this many rows the current filter is evaluated again, to see whether it selects the rows.
const MAX_FILTERED_ROWS: u32 = 200_000;

/// Why no command can express a change.
type NoCommand = &'static str;

/// The lines that repeat a change: commands of one line each, or a comment if no command can express it.
pub(in crate::session) fn lines_of(snapshot: &Snapshot, change: &Change, intent: &Intent) -> Vec<String> {
    let lines = commands_of(snapshot, change, intent).and_then(|commands| {
        let line = |command: &Command| {
            let line = one_line(&command.to_string());
            // A cell accepts values that a command refuses, such as an invalid date.
            let is_read = parse(&line, &snapshot.vocabulary()).as_ref() == Ok(command);
            if is_read { Ok(line) } else { Err("no command can express this value") }
        };
        commands.iter().map(line).collect()
    });
    lines.unwrap_or_else(|why| vec![format!("# {}: {why}", one_line(&intent.label.to_string()))])
}

/// The lines that repeat a change made by a command; `rows` are those that the command selected.
pub(in crate::session) fn lines_of_command(
    snapshot: &Snapshot,
    command: &Command,
    default_scope: DefaultScope,
    change: &Change,
    intent: &Intent,
) -> Vec<String> {
    let Some(scope) = command.scope() else { return lines_of(snapshot, change, intent) };
    // A scope that depends on marks or the cursor is replaced by the rows that it selected.
    let is_all = scope.is_default() && default_scope == DefaultScope::All && snapshot.marks.is_empty();
    if scope.is_default() && !is_all {
        return lines_of(snapshot, change, intent);
    }
    let filter = snapshot.spec.filter.as_ref().filter(|_| scope.shown);
    let query = match (filter, &scope.query) {
        (None, query) => query.clone(),
        (Some(filter), None) => Some(filter.clone()),
        (Some(filter), Some(query)) => parse_query(snapshot, &format!("({filter}) ({query})")),
    };
    if query.is_none() && (filter.is_some() || scope.query.is_some()) {
        return lines_of(snapshot, change, intent);
    }
    let mut resolved = command.clone();
    if let Some(scope) = resolved.scope_mut() {
        // In a script, `delete` needs an explicit scope to delete all rows.
        let shown = query.is_none() && matches!(command, Command::Delete(_));
        *scope = Scope { shown, query };
    }
    vec![one_line(&resolved.to_string())]
}

fn parse_query(snapshot: &Snapshot, text: &str) -> Option<Query> {
    Query::parse(text, &snapshot.vocabulary()).ok()
}

fn commands_of(snapshot: &Snapshot, change: &Change, intent: &Intent) -> Result<Vec<Command>, NoCommand> {
    Ok(match change {
        Change::Set { rows, assignments } => {
            vec![Command::Set { scope: scope_of(snapshot, rows)?, assignments: assignments.clone() }]
        }
        // The index is a target only if the whole set was: a script without scope changes the whole set.
        Change::Replace { rows, replace, reach } => {
            let targets = Targets { index: replace.targets().index && *reach == Reach::Set, ..replace.targets() };
            vec![Command::Replace { scope: scope_of(snapshot, rows)?, replace: replace.clone().with_targets(targets) }]
        }
        Change::RebaseIndex(url) => vec![Command::RebaseIndex(url.clone())],
        Change::Nudge { rows, field, up } if *field != Field::Changefreq && rows.len() > 1 => {
            let step = match (field, up) {
                (Field::Priority, true) => "+0.1",
                (Field::Priority, false) => "-0.1",
                (_, true) => "+1d",
                (_, false) => "-1d",
            };
            let assignments = vec![Assignment { field: *field, typed: step.to_owned() }];
            // Without an old value, a key steps from another default than the command does.
            match intend_set(snapshot, rows, &assignments, &Progress::default()) {
                Ok(Intent { edit, .. }) if values(edit.as_ref()) == values(intent.edit.as_ref()) => {
                    vec![Command::Set { scope: scope_of(snapshot, rows)?, assignments }]
                }
                _ => each_value(snapshot, intent)?,
            }
        }
        Change::Insert { locs, .. } => {
            vec![Command::Add(locs.iter().map(|loc| loc.trim().to_owned()).filter(|loc| !loc.is_empty()).collect())]
        }
        Change::Duplicate(rows) => vec![Command::Duplicate(scope_of(snapshot, rows)?)],
        Change::Delete(rows) => vec![Command::Delete(scope_of(snapshot, rows)?)],
        Change::Restore(rows) | Change::Revert(rows) => {
            vec![Command::Revert(scope_by_urls_with_deleted(snapshot, rows)?)]
        }
        Change::Extend { rows, changes } => {
            vec![Command::Extend { scope: scope_of(snapshot, rows)?, changes: changes.clone() }]
        }
        Change::Decide { rows, rule, decision } => {
            let answer = answer(snapshot, *rule, decision).ok_or("no command can express this answer")?;
            let rules = vec![rule.code().to_owned()];
            vec![Command::Fix { scope: scope_of(snapshot, rows)?, rules, answer: Some(answer) }]
        }
        Change::Fix { rows, rules } => {
            vec![Command::Fix { scope: scope_of(snapshot, rows)?, rules: codes(*rules), answer: None }]
        }
        Change::FixFile(_, rules) => {
            vec![Command::Fix { scope: Scope::default(), rules: codes(*rules), answer: None }]
        }
        Change::Several(changes) => {
            let mut commands = Vec::new();
            for change in changes {
                commands.extend(commands_of(snapshot, change, intent)?);
            }
            commands
        }
        Change::ApplyOrder => {
            let filter = snapshot.spec.filter.clone().map(|query| Command::Filter(Some(query)));
            let shown = [filter, Some(Command::Sort(snapshot.spec.sort.clone())), Some(Command::ApplyOrder)];
            let after = [Command::Filter(None), Command::Sort(Vec::new())];
            shown.into_iter().flatten().chain(after).collect()
        }
        Change::Nudge { .. } => each_value(snapshot, intent)?,
        Change::Values { .. } => return Err("each row got its own value"),
        Change::Raw { .. } => return Err("an entry was edited as text"),
        Change::RevertFile(_) => return Err("text around the entries of a file was reverted"),
    })
}

/// A command for each value that an edit sets.
fn each_value(snapshot: &Snapshot, intent: &Intent) -> Result<Vec<Command>, NoCommand> {
    let Some((field, values)) = values(intent.edit.as_ref()) else { return Err("each row got its own value") };
    let mut rows_of: BTreeMap<Option<&str>, RowSet> = BTreeMap::new();
    for (row, value) in values {
        rows_of.entry(value.as_deref()).or_default().insert(row.0);
    }
    let command = |(value, rows): (Option<&str>, RowSet)| {
        let assignments = vec![Assignment { field, typed: value.unwrap_or("none").to_owned() }];
        Ok(Command::Set { scope: scope_of(snapshot, &rows)?, assignments })
    };
    rows_of.into_iter().map(command).collect()
}

/// A scope that selects these live rows and no others, independent of marks and cursor.
fn scope_of(snapshot: &Snapshot, rows: &RowSet) -> Result<Scope, NoCommand> {
    if rows.len() == u64::from(snapshot.document.live()) && rows.iter().all(|row| snapshot.document.is_live(RowId(row)))
    {
        return Ok(Scope::default());
    }
    if rows.len() <= MAX_NAMED_ROWS {
        return scope_by_urls(snapshot, rows);
    }
    // The rows may have been marked with the current filter.
    let filter = snapshot.spec.filter.as_ref().filter(|_| snapshot.document.row_limit() <= MAX_FILTERED_ROWS);
    let query = filter.filter(|query| snapshot.rows_where(query, &Progress::default()).as_ref() == Some(rows));
    match query {
        Some(query) => Ok(Scope { shown: false, query: Some(query.clone()) }),
        None => Err("these rows were marked by hand"),
    }
}

/// [`scope_by_urls`] for rows that may be deleted.
fn scope_by_urls_with_deleted(snapshot: &Snapshot, rows: &RowSet) -> Result<Scope, NoCommand> {
    let scope = scope_by_urls(snapshot, rows)?;
    let locs: HashSet<Cow<'_, str>> = rows.iter().map(|row| snapshot.document.loc(RowId(row))).collect();
    let others =
        snapshot.document.rows().filter(|row| snapshot.document.record(*row).is_deleted() && !rows.contains(row.0));
    let is_alike = others.map(|row| snapshot.document.loc(row)).any(|loc| locs.contains(&loc));
    if is_alike { Err("a deleted row has the same URL") } else { Ok(scope) }
}

/// A scope that selects these rows by their URLs.
fn scope_by_urls(snapshot: &Snapshot, rows: &RowSet) -> Result<Scope, NoCommand> {
    if rows.len() > MAX_NAMED_ROWS {
        return Err("these rows were marked by hand");
    }
    let mut terms: Vec<String> = Vec::new();
    for row in rows.iter().map(RowId) {
        let loc = snapshot.document.loc(row);
        if loc.is_empty() || loc.contains(char::is_control) {
            return Err("a row has no URL that can be typed");
        }
        let is_only = snapshot.rows_with_loc(&loc).iter().all(|other| rows.contains(other.0));
        let file = snapshot.document.sitemap(snapshot.document.sitemap_of(row));
        let term = match file.filter(|_| !is_only) {
            None => format!("loc={}", quoted(&loc)),
            Some(file) => {
                let id = snapshot.document.sitemap_of(row);
                let duplicates = snapshot.rows_with_loc(&loc);
                let mut in_file = duplicates.iter().filter(|other| snapshot.document.sitemap_of(**other) == id);
                if in_file.any(|other| !rows.contains(other.0)) {
                    return Err("another row of the same file has the same URL");
                }
                format!("(loc={} file={})", quoted(&loc), quoted(&file.name))
            }
        };
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    let query = parse_query(snapshot, &terms.join(" or ")).ok_or("a row has no URL that can be typed")?;
    Ok(Scope { shown: false, query: Some(query) })
}

/// The word for a decision in a command.
fn answer(snapshot: &Snapshot, rule: Rule, decision: &Decision) -> Option<String> {
    let today = snapshot.clock.today();
    let hints = Hints { zone: snapshot.clock.offset / 60, origin: None, today: Some(&today) };
    let is_answer = |word: &str| decision::parse_answer(rule, word, hints).as_ref() == Ok(decision);
    let known = decision::answers(rule).into_iter().map(|answer| answer.word.to_owned());
    let spelled = match decision {
        Decision::Zone(minutes) => Some(lastmod::zone_text(*minutes)),
        Decision::Base(text) | Decision::Language(text) | Decision::Name(text) => Some(text.to_string()),
        _ => None,
    };
    known.chain(spelled).find(|word| is_answer(word))
}

/// The field and the values of an edit that sets each row to its own value.
fn values(edit: Option<&Edit>) -> Option<(Field, &[(RowId, Value)])> {
    match edit {
        Some(Edit::SetEach { field, values }) => Some((*field, values)),
        _ => None,
    }
}

/// The codes of rules; empty for all rules with a safe fix.
fn codes(rules: RuleSet) -> Vec<String> {
    if rules == safe_rules() {
        return Vec::new();
    }
    let mut codes: Vec<String> = rules.iter().map(|rule| rule.code().to_owned()).collect();
    codes.dedup();
    codes
}

/// Replaces control characters with spaces: a line break in a value would end the command.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// All steps in effect, as a script that repeats them on the files as they were opened.
pub(crate) fn of_session(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    for (entry, commands) in
        session.history().into_iter().zip(session.history.commands()).filter(|(entry, _)| entry.done)
    {
        match commands {
            [] => lines.push(format!("# {}", one_line(&entry.label))),
            commands => lines.extend(commands.iter().cloned()),
        }
        if entry.saved {
            lines.push(Command::Write { path: None, force: false }.to_string());
        }
    }
    lines
}

#[cfg(test)]
mod tests;
