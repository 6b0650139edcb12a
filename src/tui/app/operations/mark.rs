//! Marks the rows of a scope.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::cursor::note_marks;
use crate::document::rows::RowSet;
use crate::session::command::Scope;
use crate::session::edit::DefaultScope;
use crate::session::edit::scope;
use crate::tui::jobs::Kind;

/// Marks or unmarks the rows of a scope; a query may have to examine every row.
pub(in crate::tui::app) fn mark_scope(shared: &mut Shared, scope: Scope, default_scope: DefaultScope, on: bool) {
    if let Err(refused) = shared.check_no_edit_running() {
        return shared.show_error(refused.to_string());
    }
    let snapshot = shared.session.snapshot();
    let is_small = shared.is_small();
    shared.jobs.run(Kind::Edit, is_small, move |progress| JobOutcome::MarkRows {
        rows: scope::rows_of(&snapshot, &scope, default_scope, progress),
        on,
    });
}

/// Marks or unmarks the rows that a job has found.
pub(in crate::tui::app) fn apply_marks(shared: &mut Shared, rows: Option<RowSet>, on: bool) {
    match rows {
        Some(rows) => {
            shared.session.mark(&rows, on);
            note_marks(shared);
        }
        None => shared.show_note("stopped; no mark was changed"),
    }
}
