//! Checks every row again, for another profile or policy.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use crate::session::edit::Refused;
use crate::session::policy::{self, Rechecked, Standard, take_rechecked};
use crate::tui::jobs::Kind;

/// Begins to check every row; nothing can be changed until that is done.
pub(in crate::tui::app) fn recheck(shared: &mut Shared, standard: Standard) {
    if let Err(refused) = shared.is_unchanging() {
        return shared.fail(refused.0);
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
        JobOutcome::Rechecked(policy::recheck(&snapshot, standard, progress).map(|found| found.map(Box::new)))
    });
}

/// The rows are checked. Whether they are those of other data now.
pub(in crate::tui::app) fn rechecked(shared: &mut Shared, result: Result<Option<Box<Rechecked>>, Refused>) -> bool {
    match result {
        Ok(Some(rechecked)) => match take_rechecked(&mut shared.session, *rechecked) {
            Ok(words) => {
                shared.say(words);
                return true;
            }
            // The document went on meanwhile.
            Err(standard) => recheck_in_turn(shared, standard),
        },
        Ok(None) => shared.say("stopped; nothing was changed"),
        Err(refused) => shared.fail(refused.0),
    }
    false
}
