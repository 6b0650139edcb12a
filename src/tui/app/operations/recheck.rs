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
    // A policy is read from a file.
    let is_small = shared.is_small() && !matches!(standard, Standard::PolicyFile(_));
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Edit, is_small, move |progress| {
        JobOutcome::Rechecked(policy::recheck(&snapshot, standard, progress).map(|found| found.map(Box::new)))
    });
}

/// The rows are checked.
pub(in crate::tui::app) fn rechecked(shared: &mut Shared, result: Result<Option<Box<Rechecked>>, Refused>) {
    match result {
        Ok(Some(rechecked)) => match take_rechecked(&mut shared.session, *rechecked) {
            Ok(words) => shared.say(words),
            // The document went on meanwhile.
            Err(standard) => recheck(shared, standard),
        },
        Ok(None) => shared.say("stopped; nothing was changed"),
        Err(refused) => shared.fail(refused.0),
    }
}
