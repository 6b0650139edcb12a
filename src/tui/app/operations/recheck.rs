//! Rechecks every row for another profile or policy.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use crate::session::edit::EditError;
use crate::session::policy::{self, Rechecked, Standard, take_rechecked};
use crate::tui::jobs::Kind;

/// Starts a check of every row; until it ends, nothing can be changed.
pub(in crate::tui::app) fn recheck(shared: &mut Shared, standard: Standard) {
    if shared.session.is_loading() {
        return shared.show_error("the files are still being read; set the profile or the policy afterwards");
    }
    if let Err(refused) = shared.check_no_edit_running() {
        return shared.show_error(refused.to_string());
    }
    recheck_in_turn(shared, standard);
}

/// Rechecks after a change that is still being computed.
pub(in crate::tui::app) fn recheck_in_turn(shared: &mut Shared, standard: Standard) {
    // A policy is read from a file.
    let is_small =
        shared.is_small() && !shared.jobs.is_busy(Kind::Edit) && !matches!(standard, Standard::PolicyFile(_));
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Edit, is_small, move |progress| {
        JobOutcome::Rechecked(policy::recheck(&snapshot, standard, progress).map(Box::new))
    });
}

/// Applies a recheck; true if the standard was changed.
pub(in crate::tui::app) fn rechecked(shared: &mut Shared, result: Result<Box<Rechecked>, EditError>) -> bool {
    match result {
        Ok(rechecked) => match take_rechecked(&mut shared.session, *rechecked) {
            Ok(words) => {
                shared.show_note(words);
                return true;
            }
            // The document has changed since.
            Err(standard) => recheck_in_turn(shared, standard),
        },
        Err(EditError::Cancelled) => shared.show_note("stopped; nothing was changed"),
        Err(EditError::Refused(why)) => shared.show_error(why),
    }
    false
}
