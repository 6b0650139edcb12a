//! Prepares changes and commands: plans the edit, applies it to a copy, checks the result.

use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::session::command::Command;
use crate::session::edit::values::{self, FieldOfRows, step};
use crate::session::edit::{
    Change, DefaultScope, EditError, Intent, Prepared, extend, prepared, replace, revert, rows, scope, script_export,
};
use crate::session::fix::{self, effects, passes, trial};
use crate::session::state::Snapshot;

/// Prepares a change.
///
/// # Errors
/// [`EditError`].
pub(crate) fn of_change(snapshot: &Snapshot, change: &Change, progress: &Progress) -> Result<Prepared, EditError> {
    let mut intent = intend(snapshot, change, progress)?;
    if intent.edit.is_some() {
        intent.commands = script_export::lines_of(snapshot, change, &intent);
    }
    finish(snapshot, change, intent, progress).ok_or(EditError::Cancelled)
}

/// Prepares the change of a command.
///
/// # Errors
/// [`EditError`], also for commands that change no rows.
pub(crate) fn of_command(
    snapshot: &Snapshot,
    command: &Command,
    default_scope: DefaultScope,
    progress: &Progress,
) -> Result<Prepared, EditError> {
    let Some(change) = scope::change_of(snapshot, command, default_scope, progress)? else {
        return Err(EditError::Refused("this command changes no rows".to_owned()));
    };
    let mut intent = intend(snapshot, &change, progress)?;
    if intent.edit.is_some() {
        intent.commands = script_export::lines_of_command(snapshot, command, default_scope, &change, &intent);
    }
    finish(snapshot, &change, intent, progress).ok_or(EditError::Cancelled)
}

/// Prepares an intent; a fix is also tried, repeated and compared with the state before. `None` when cancelled.
fn finish(snapshot: &Snapshot, change: &Change, intent: Intent, progress: &Progress) -> Option<Prepared> {
    let mut prepared = prepared::prepare_intent(snapshot, intent, progress)?;
    if change.is_fix() && prepared.intent.edit.is_some() {
        prepared = trial::without_harm(snapshot, change, prepared, progress)?;
        prepared = passes::repeat(snapshot, change, prepared, progress)?;
        prepared.intent.increased = effects::of_change(snapshot, &prepared);
    }
    Some(prepared)
}

/// Plans a change.
///
/// # Errors
/// [`EditError`].
pub(crate) fn intend(snapshot: &Snapshot, change: &Change, progress: &Progress) -> Result<Intent, EditError> {
    change.fields().into_iter().try_for_each(|field| snapshot.document.check_field(field))?;
    let intent = match change {
        Change::Set { rows, assignments } => return values::intend_set(snapshot, rows, assignments, progress),
        Change::Values { rows, field, values } => values::intend_values(snapshot, rows, *field, values, progress),
        Change::Replace { rows, replace, reach } => replace::intend(snapshot, rows, replace, *reach, progress),
        Change::RebaseIndex(url) => Some(replace::intend_rebase(snapshot, url)),
        Change::Nudge { rows, field, up } => {
            let words = if *up { "raised" } else { "lowered" };
            let words = format!("{} {words} on", field.name());
            values::intend_each(snapshot, FieldOfRows { rows, field: *field, words: &words }, progress, &|_, old| {
                step(*field, old, *up, snapshot)
            })
        }
        Change::Insert { after, before, locs } => Some(rows::intend_insert(snapshot, *after, *before, locs)?),
        Change::Duplicate(rows) => Some(rows::intend_duplicate(snapshot, rows)?),
        Change::Delete(rows) => {
            let rows: RowSet = rows.iter().filter(|row| snapshot.document.is_live(RowId(*row))).collect();
            Some(Intent::of_rows("deleted", &rows, Edit::Delete(rows.clone())))
        }
        Change::Restore(rows) => {
            let rows: RowSet = rows.iter().filter(|row| snapshot.document.record(RowId(*row)).is_deleted()).collect();
            Some(Intent::of_rows("restored", &rows, Edit::Restore(rows.clone())))
        }
        Change::Decide { .. } | Change::Fix { .. } | Change::FixFile(..) => {
            return fix::intend(snapshot, change, progress);
        }
        Change::Revert(rows) => revert::intend_rows(snapshot, rows, progress),
        Change::RevertFile(file) => Some(revert::intend_file(snapshot, *file)),
        Change::Extend { rows, changes } => extend::intend(snapshot, rows, changes, progress),
        Change::Raw { row, text } => Some(rows::intend_raw(snapshot, *row, text)?),
        Change::Several(changes) => {
            let mut joined: Option<Intent> = None;
            for change in changes {
                let intent = intend(snapshot, change, progress)?;
                joined = Some(joined.map_or_else(|| intent.clone(), |first| first.join(intent.clone())));
            }
            Some(joined.unwrap_or_else(|| Intent::counting(0)))
        }
        Change::ApplyOrder => Some(rows::intend_order(snapshot)),
    };
    intent.ok_or(EditError::Cancelled)
}

/// Plans a command for the preview. `Ok(None)` for commands that change no rows.
pub(crate) fn preview(
    snapshot: &Snapshot,
    command: &Command,
    default_scope: DefaultScope,
    progress: &Progress,
) -> Result<Option<Intent>, EditError> {
    match scope::change_of(snapshot, command, default_scope, progress)? {
        // The findings after a fix are known only when it is prepared.
        Some(change) if change.is_fix() => Ok(Some(of_command(snapshot, command, default_scope, progress)?.intent)),
        Some(change) => intend(snapshot, &change, progress).map(Some),
        None => Ok(None),
    }
}
