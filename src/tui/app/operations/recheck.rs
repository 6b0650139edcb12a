//! Rechecks every row for another profile or policy.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use crate::session::edit::EditError;
use crate::session::policy::{self, Rechecked, Standard, take_rechecked};
use crate::tui::jobs::Kind;

/// Begins to check every row; nothing can be changed until that is done.
pub(in crate::tui::app) fn recheck(shared: &mut Shared, standard: Standard) {
    if shared.session.is_loading() {
        return shared.fail("the files are still being read; set the profile or the policy afterwards");
    }
    if let Err(refused) = shared.is_unchanging() {
        return shared.fail(refused.to_string());
    }
    recheck_in_turn(shared, standard);
}

/// The same for what a job has read: after a change that is being worked out.
pub(in crate::tui::app) fn recheck_in_turn(shared: &mut Shared, standard: Standard) {
    // A policy is read from a file.
    let is_small =
        shared.is_small() && !shared.jobs.is_busy(Kind::Edit) && !matches!(standard, Standard::PolicyFile(_));
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Edit, is_small, move |progress| {
        JobOutcome::Rechecked(policy::recheck(&snapshot, standard, progress).map(Box::new))
    });
}

/// The rows are checked. Whether they are those of other data now.
pub(in crate::tui::app) fn rechecked(shared: &mut Shared, result: Result<Box<Rechecked>, EditError>) -> bool {
    match result {
        Ok(rechecked) => match take_rechecked(&mut shared.session, *rechecked) {
            Ok(words) => {
                shared.show_note(words);
                return true;
            }
            // The document went on meanwhile.
            Err(standard) => recheck_in_turn(shared, standard),
        },
        Err(EditError::Cancelled) => shared.show_note("stopped; nothing was changed"),
        Err(EditError::Refused(why)) => shared.fail(why),
    }
    false
}
