//! Makes changes, directly or in a job, with undo, redo and repeat.

use super::super::state::outcome::JobOutcome;
use super::super::state::recent::LastChange;
use super::super::state::request::Request;
use super::super::state::{Shared, large};
use super::cursor::{end_range, targets};
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::{Field, Severity};
use crate::session::command::{Assignment, Command};
use crate::session::edit::DefaultScope;
use crate::session::edit::Prepared;
use crate::session::edit::{Change, EditError, Reach};
use crate::session::prepare;
use crate::session::state::Snapshot;
use crate::session::{Report, SMALL};
use crate::tui::command::Action;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// Makes a change: at once if it is small, else in a job.
pub(in crate::tui::app) fn change(shared: &mut Shared, change: Change) {
    if !shared.ensure_changeable() {
        return;
    }
    if change.size() <= SMALL && !large::is_changed_by(&shared.session, &change) {
        let result = prepare::of_change(shared.session.view(), &change, &Progress::default());
        return commit_edit(shared, result);
    }
    let snapshot = shared.session.snapshot();
    shared
        .jobs
        .run(Kind::Edit, false, move |progress| JobOutcome::Edited(prepare::of_change(&snapshot, &change, progress)));
}

/// Makes the change of a command, whose rows may have to be searched first.
pub(in crate::tui::app) fn change_by(shared: &mut Shared, command: Command, default_scope: DefaultScope) {
    if !shared.ensure_changeable() {
        return;
    }
    let work = move |snapshot: &Snapshot, progress: &Progress| {
        prepare::of_command(snapshot, &command, default_scope, progress)
    };
    let is_small = u64::from(shared.session.document().row_limit()) <= SMALL;
    if is_small && !large::has_large_rows(&shared.session) {
        let result = work(shared.session.view(), &Progress::default());
        return commit_edit(shared, result);
    }
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Edit, false, move |progress| JobOutcome::Edited(work(&snapshot, progress)));
}

pub(in crate::tui::app) fn commit_edit(shared: &mut Shared, result: Result<Prepared, EditError>) {
    match result.and_then(|prepared| shared.session.commit(prepared, shared.grid.row)) {
        Ok(report) => show_report(shared, &report, true),
        Err(EditError::Cancelled) => shared.show_note("stopped; nothing was changed"),
        Err(EditError::Refused(why)) => shared.show_error(why),
    }
}

pub(in crate::tui::app) fn show_report(shared: &mut Shared, report: &Report, fresh: bool) {
    let mut words = Words::text(report.message.clone());
    shared.save.is_saved &= !report.changed;
    if fresh && report.changed {
        words.push(Role::Text, "   ");
        words.push(Role::Key, "u");
        words.push(Role::Dim, " undoes it");
    }
    shared.show_words(words, Severity::Note);
    if let Some(row) = report.cursor {
        shared.grid.row = Some(row);
    }
    shared.grid.follow(&shared.session);
}

/// Undoes or redoes steps.
pub(in crate::tui::app) fn undo(shared: &mut Shared, back: bool, steps: u32) {
    if !shared.ensure_changeable() {
        return;
    }
    let mut last = None;
    for _ in 0..steps.max(1) {
        let report = if back { shared.session.undo() } else { shared.session.redo() };
        match report {
            Some(report) => last = Some(report),
            None => break,
        }
    }
    match last {
        Some(report) => show_report(shared, &report, false),
        None => shared.show_note(if back { "nothing to undo" } else { "nothing to redo" }),
    }
}

/// Executes an action that changes rows, and stores it for `.`.
pub(in crate::tui::app) fn change_rows(shared: &mut Shared, action: Action, count: Option<u32>) {
    let field = shared.grid.field;
    // The count of a nudge is the distance, of other actions the number of rows.
    let nudge = matches!(action, Action::NudgeUp | Action::NudgeDown);
    let rows = targets(shared, if nudge { None } else { count });
    if rows.is_empty() {
        return shared.show_note("there is no row");
    }
    let single = rows.len() == 1;
    shared.recent.change = Some(LastChange::Action(action));
    match action {
        Action::Delete => {
            let deleted = rows.iter().all(|row| !shared.session.document().is_live(RowId(row)));
            change(shared, if deleted { Change::Restore(rows) } else { Change::Delete(rows) });
            if single && !deleted {
                shared.grid.step(&shared.session, true, 1);
            }
        }
        Action::Clear => set_rows(shared, rows, field, "none"),
        Action::Duplicate => change(shared, Change::Duplicate(rows)),
        Action::Today => {
            shared.recent.keep_value(Field::Lastmod, "today", rows.len());
            set_rows(shared, rows, Field::Lastmod, "today");
        }
        Action::NudgeUp | Action::NudgeDown => {
            let up = action == Action::NudgeUp;
            let sign = if up { '+' } else { '-' };
            let steps = count.unwrap_or(1).min(9_999);
            match field {
                _ if steps == 1 => change(shared, Change::Nudge { rows, field, up }),
                Field::Priority => {
                    let typed = format!("{sign}{}.{}", steps / 10, steps % 10);
                    set_rows(shared, rows, field, &typed);
                }
                Field::Lastmod => set_rows(shared, rows, field, &format!("{sign}{steps}d")),
                Field::Loc | Field::Changefreq => change(shared, Change::Nudge { rows, field, up }),
            }
        }
        _ => {}
    }
}

/// Sets a field of rows to typed text.
pub(in crate::tui::app) fn set_rows(shared: &mut Shared, rows: RowSet, field: Field, typed: &str) {
    let assignments = vec![Assignment { field, typed: typed.to_owned() }];
    change(shared, Change::Set { rows, assignments });
}

/// Repeats the last change at the cursor.
pub(in crate::tui::app) fn repeat(shared: &mut Shared, count: Option<u32>) {
    match shared.recent.change.clone() {
        Some(LastChange::Action(action)) => shared.request(Request::Act(action, count)),
        Some(LastChange::Command(command)) => {
            end_range(shared);
            match (count, command) {
                (Some(_), Command::Set { assignments, .. }) => {
                    let rows = targets(shared, count);
                    change(shared, Change::Set { rows, assignments });
                }
                (Some(_), Command::Replace { replace, .. }) => {
                    let rows = targets(shared, count);
                    change(shared, Change::Replace { rows, replace, reach: Reach::Rows });
                }
                (_, command) => change_by(shared, command, shared.default_scope()),
            }
        }
        None => shared.show_note("no changes yet"),
    }
}

/// Goes to the state of the history in which `steps` steps are done.
pub(in crate::tui::app) fn go_to_state(shared: &mut Shared, steps: usize) {
    let done = shared.session.history().iter().filter(|entry| entry.done).count();
    match done.checked_sub(steps) {
        Some(0) => {}
        Some(back) => undo(shared, true, u32::try_from(back).unwrap_or(u32::MAX)),
        None => undo(shared, false, u32::try_from(steps - done).unwrap_or(u32::MAX)),
    }
}

impl Change {
    /// The number of affected rows, or `u64::MAX` if it is not known yet.
    pub(in crate::tui::app) fn size(&self) -> u64 {
        if let Some(rows) = self.rows() {
            return rows.len();
        }
        match self {
            Self::Insert { locs, .. } => locs.len() as u64,
            Self::Several(changes) => changes.iter().map(Self::size).fold(0, u64::saturating_add),
            Self::Raw { .. } | Self::FixFile(..) | Self::RevertFile(_) => 1,
            _ => u64::MAX,
        }
    }
}
