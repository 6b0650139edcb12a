//! Repeats a fix on its own result until nothing changes.
//!
//! Invariant: fixing the outcome again changes nothing, unless [`MAX_PASSES`] were not enough.

use crate::check::decision::Decision;
use crate::document::edit::Edit;
use crate::document::rows::RowSet;
use crate::progress::Progress;
use crate::session::edit::{Change, EditError, Intent, Prepared, prepared};
use crate::session::fix::touched_rows;
use crate::session::fix::trial::{self, files_of};
use crate::session::state::Snapshot;

/// The maximum number of passes after the first. A value that hides another (a second `lastmod`, a line end) needs a
/// pass for each of them; fixes that undo each other must end as well.
const MAX_PASSES: usize = 8;

/// Applies a fix to its own result until nothing changes. `None` when cancelled.
pub(in crate::session) fn repeat(
    snapshot: &Snapshot,
    change: &Change,
    first: Prepared,
    progress: &Progress,
) -> Option<Prepared> {
    let mut total = first;
    for _ in 0..MAX_PASSES {
        if total.applied.is_unchanged() {
            break;
        }
        let Some(next) = next_pass(change, &total) else { break };
        let after = state_after(snapshot, &total);
        let intent = match super::intend(&after, &next, progress) {
            Ok(intent) => intent,
            Err(EditError::Cancelled) => return None,
            Err(EditError::Refused(_)) => break,
        };
        if intent.edit.is_none() {
            break;
        }
        let pass = prepared::prepare_intent(&after, intent, progress)?;
        let pass = trial::without_harm(&after, &next, pass, progress)?;
        if pass.applied.is_unchanged() {
            break;
        }
        total = prepared::prepare_intent(snapshot, both_passes(total.intent, pass.intent), progress)?;
    }
    Some(total)
}

/// The snapshot after a prepared change.
fn state_after(snapshot: &Snapshot, prepared: &Prepared) -> Snapshot {
    let mut after = snapshot.clone();
    after.state.document = prepared.applied.document.clone();
    after.state.checks.commit(prepared.rechecked.clone(), &snapshot.document, &prepared.applied);
    after.state.changed = prepared.changed;
    after
}

/// The same fix for the same rows and those that it added. `None` for a decision that is applied once.
fn next_pass(change: &Change, done: &Prepared) -> Option<Change> {
    let with_added = |rows: &RowSet| rows | done.applied.added.iter().map(|row| row.0).collect::<RowSet>();
    match change {
        Change::Fix { rows, rules } => Some(Change::Fix { rows: with_added(rows), rules: *rules }),
        Change::Decide { rows, rule, decision: Decision::Usual } => {
            Some(Change::Fix { rows: with_added(rows), rules: rule.family() })
        }
        Change::FixFile(..) => Some(change.clone()),
        _ => None,
    }
}

/// Two passes as one change: rows and files that both changed are counted once. Only the rows that the first pass skips
/// are reported as skipped: what a later pass skips depends on whether it changes other rows.
fn both_passes(first: Intent, mut last: Intent) -> Intent {
    last.label.forget_skipped();
    let edits = |intent: &Intent| intent.edit.as_ref().map(touched_rows).unwrap_or_default();
    let rows = (edits(&first) & edits(&last)).len();
    let files = files_of(first.edit.as_ref()).intersection(&files_of(last.edit.as_ref())).count() as u64;
    last.label.subtract("row", rows);
    last.label.subtract("file", files);
    let mut label = first.label;
    label.plus(last.label);
    let edit = [first.edit, last.edit].into_iter().flatten().collect();
    let mut samples = first.samples;
    for sample in last.samples {
        match samples.iter_mut().find(|known| known.row == sample.row && known.part == sample.part) {
            Some(known) => known.after = sample.after,
            None => samples.push(sample),
        }
    }
    samples.sort_by_key(|sample| sample.row);
    Intent {
        edit: Some(Edit::Several(edit)),
        label,
        rows: first.rows,
        changes: (first.changes + last.changes).saturating_sub(rows + files),
        samples,
        commands: first.commands,
        refused: first.refused,
        refused_files: first.refused_files,
        reason: first.reason,
        unfixed: first.unfixed,
        unnamed: first.unnamed,
        is_fix: true,
        ..last
    }
}
