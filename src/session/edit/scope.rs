//! Resolves the scope of a command to rows, and the command to a change.

use crate::check::decision::{self, Hints};
use crate::check::rule::{Rule, RuleSet};
use crate::document::query::suggest::nearest;
use crate::document::rows::{RowId, RowSet};
use crate::document::view::ViewSpec;
use crate::progress::Progress;
use crate::session::command::{Command, Scope};
use crate::session::edit::change::{Change, EditError, Reach};
use crate::session::fix_table;
use crate::session::state::Snapshot;
use crate::words::{counted, grouped};

/// The rows that a command without a scope changes. Marked rows have precedence, except over [`DefaultScope::Row`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultScope {
    /// The marked rows, else the row at the cursor of the screen.
    Cursor(Option<RowId>),
    /// This row, even if others are marked.
    Row(RowId),
    /// The marked rows, else all rows: scripts and subcommands have no cursor.
    All,
}

impl DefaultScope {
    pub(in crate::session) const fn cursor(self) -> Option<RowId> {
        match self {
            Self::Cursor(row) => row,
            Self::Row(row) => Some(row),
            Self::All => None,
        }
    }
}

/// The rules that names or patterns select; without names every rule with a safe fix.
///
/// # Errors
/// [`EditError`] with the name that selects no rule.
pub(crate) fn rules_named(names: &[String]) -> Result<RuleSet, EditError> {
    let mut set = RuleSet::EMPTY;
    if names.is_empty() || names.iter().any(|name| name == "safe") {
        return Ok(fix_table::safe_rules());
    }
    for name in names {
        let mut is_known = false;
        let is_selected = |rule: &Rule| match name.split_once('*') {
            Some((start, end)) => rule.code().starts_with(start) && rule.code().ends_with(end),
            None => rule.code() == name,
        };
        for rule in Rule::ALL.into_iter().filter(is_selected) {
            is_known = true;
            set.insert(rule);
        }
        if !is_known {
            let guess = nearest(name, Rule::ALL.into_iter().map(Rule::code));
            let guess = guess.map_or_else(String::new, |code| format!("; did you mean {code}?"));
            return Err(EditError::Refused(format!("unknown rule {name}{guess}")));
        }
    }
    Ok(set)
}

/// Fails if a base URL is not the URL of a folder.
pub(in crate::session) fn check_base_url(url: &str) -> Result<(), EditError> {
    crate::files::base_url_error(url).map_or(Ok(()), |error| Err(EditError::Refused(error)))
}

/// The rows that a scope selects. `None` when cancelled.
pub(crate) fn rows_of(
    snapshot: &Snapshot,
    scope: &Scope,
    default_scope: DefaultScope,
    progress: &Progress,
) -> Option<RowSet> {
    let shown = || -> RowSet {
        let rows = snapshot.view.rows(&snapshot.document).filter(|row| snapshot.document.is_live(*row));
        rows.map(|row| row.0).collect()
    };
    Some(match (&scope.query, scope.shown, default_scope) {
        (Some(query), true, _) => snapshot.rows_where(query, progress)? & shown(),
        (Some(query), false, _) => snapshot.rows_where(query, progress)?,
        (None, true, _) => shown(),
        (None, false, DefaultScope::Row(row)) => RowSet::from_iter([row.0]),
        (None, false, _) if !snapshot.marks.is_empty() => {
            snapshot.marks.iter().filter(|row| snapshot.document.is_live(RowId(*row))).collect()
        }
        (None, false, DefaultScope::All) => snapshot.document.resident_set(),
        (None, false, DefaultScope::Cursor(row)) => row.iter().map(|row| row.0).collect(),
    })
}

/// The rows that a scope selects, including deleted ones, which can be restored.
pub(in crate::session) fn rows_with_deleted(
    snapshot: &Snapshot,
    scope: &Scope,
    default_scope: DefaultScope,
    progress: &Progress,
) -> Option<RowSet> {
    let shown = || -> RowSet { snapshot.view.rows(&snapshot.document).map(|row| row.0).collect() };
    Some(match (&scope.query, scope.shown, default_scope) {
        (Some(query), only_shown, _) => {
            let spec = ViewSpec { filter: Some(query.clone()), sort: Vec::new() };
            let rows: RowSet = snapshot.view_of(&spec, progress)?.rows(&snapshot.document).map(|row| row.0).collect();
            if only_shown { rows & shown() } else { rows }
        }
        (None, true, _) => shown(),
        (None, false, DefaultScope::Cursor(row)) if snapshot.marks.is_empty() => row.iter().map(|row| row.0).collect(),
        (None, false, DefaultScope::Cursor(_)) => RowSet::clone(&snapshot.marks),
        (None, false, DefaultScope::Row(row)) => RowSet::from_iter([row.0]),
        (None, false, DefaultScope::All) => snapshot.document.rows().map(|row| row.0).collect(),
    })
}

/// Describes a scope: `1,204 of 50,000 rows (filtered)`.
pub(crate) fn words_of(snapshot: &Snapshot, scope: &Scope, rows: u64, default_scope: DefaultScope) -> String {
    let of = format!("{} of {}", grouped(rows), counted(u64::from(snapshot.document.live()), "row"));
    match (scope.query.is_some(), scope.shown, default_scope) {
        (true, _, _) => format!("{of} (where)"),
        (false, true, _) if snapshot.view.len() < snapshot.document.live() => format!("{of} (filtered)"),
        (false, false, DefaultScope::Row(_)) => "this row".to_owned(),
        (false, false, _) if !snapshot.marks.is_empty() => format!("{of} (marked)"),
        (false, true, _) | (false, false, DefaultScope::All) => counted(rows, "row"),
        _ => "the current row".to_owned(),
    }
}

/// The change that a command makes; `None` for commands that change no rows.
pub(crate) fn change_of(
    snapshot: &Snapshot,
    command: &Command,
    default_scope: DefaultScope,
    progress: &Progress,
) -> Result<Option<Change>, EditError> {
    let rows = |scope: &Scope| rows_of(snapshot, scope, default_scope, progress).ok_or(EditError::Cancelled);
    Ok(Some(match command {
        Command::Set { scope, assignments } => Change::Set { rows: rows(scope)?, assignments: assignments.clone() },
        Command::Replace { scope, replace } => {
            let is_of_index = replace.targets().is_index_only();
            if is_of_index && scope.query.is_some() {
                let why = "a query selects rows, and index entries are not rows; omit `where`";
                return Err(EditError::Refused(why.to_owned()));
            }
            let is_headless = default_scope == DefaultScope::All && snapshot.marks.is_empty();
            let is_of_cursor = scope.is_default() && snapshot.marks.is_empty() && !is_headless;
            let rows = rows(scope)?;
            let is_all = is_headless || rows.len() >= u64::from(snapshot.document.live());
            let reach = match scope.query {
                _ if is_of_index => Reach::Set,
                None if is_all => Reach::Set,
                _ if is_of_cursor => Reach::Rows,
                _ => Reach::Chosen,
            };
            Change::Replace { rows, replace: replace.clone(), reach }
        }
        Command::RebaseIndex(url) => {
            check_base_url(url)?;
            Change::RebaseIndex(url.clone())
        }
        Command::Add(locs) => Change::Insert { after: default_scope.cursor(), before: false, locs: locs.clone() },
        Command::Delete(scope) => Change::Delete(rows(scope)?),
        Command::Keep(scope) => Change::Delete(snapshot.document.resident_set() - rows(scope)?),
        Command::Duplicate(scope) => Change::Duplicate(rows(scope)?),
        Command::Revert(scope) => {
            let rows = rows_with_deleted(snapshot, scope, default_scope, progress);
            Change::Revert(rows.ok_or(EditError::Cancelled)?)
        }
        Command::Extend { scope, changes } => Change::Extend { rows: rows(scope)?, changes: changes.clone() },
        Command::Fix { scope, rules, answer: None } => {
            let rules = rules_named(rules)?;
            Change::Fix { rows: rows(scope)?, rules }
        }
        Command::Fix { scope, rules, answer: Some(answer) } => {
            let rule = match rules.as_slice() {
                [code] => Rule::from_code(code),
                _ => None,
            };
            let rule =
                rule.ok_or_else(|| EditError::Refused("`--answer` needs exactly one `--rule CODE`".to_owned()))?;
            let today = snapshot.clock.today();
            let hints = Hints { zone: snapshot.clock.offset / 60, origin: None, today: Some(&today) };
            let decision = decision::parse_answer(rule, answer, hints).map_err(EditError::Refused)?;
            Change::Decide { rows: rows(scope)?, rule, decision }
        }
        Command::ApplyOrder => Change::ApplyOrder,
        _ => return Ok(None),
    }))
}
