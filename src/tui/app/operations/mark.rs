//! Marks the rows of a scope.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::cursor::note_marks;
use crate::document::rows::RowSet;
use crate::session::command::Scope;
use crate::session::edit::DefaultScope;
use crate::session::edit::scope;
use crate::tui::jobs::Kind;

/// Marks the rows of a scope, or takes the mark off; a query may have to look at every row.
pub(in crate::tui::app) fn mark_scope(shared: &mut Shared, scope: Scope, default_scope: DefaultScope, on: bool) {
    if let Err(refused) = shared.is_unchanging() {
        return shared.fail(refused.to_string());
    }
    let snapshot = shared.session.snapshot();
    let is_small = shared.is_small();
    shared.jobs.run(Kind::Edit, is_small, move |progress| JobOutcome::Scoped {
        rows: scope::rows_of(&snapshot, &scope, default_scope, progress),
        on,
    });
}

/// The rows are found.
pub(in crate::tui::app) fn scoped(shared: &mut Shared, rows: Option<RowSet>, on: bool) {
    match rows {
        Some(rows) => {
            shared.session.mark(&rows, on);
            note_marks(shared);
        }
        None => shared.show_note("stopped; no mark was changed"),
    }
}
