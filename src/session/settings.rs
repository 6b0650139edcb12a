//! Creates empty sessions with the settings of options or of another session.

use super::Session;
use super::policy;
use crate::files::Options;
use crate::protocol::lastmod::Now;

/// An empty session for files that are loaded with these options.
pub(crate) fn session_for(now: Now, options: &Options) -> Session {
    let mut session = Session::new(now, options.base_url.clone());
    session.is_base_recorded = options.is_base_recorded;
    session
}

/// An empty session with the clock, the criteria and the data of another, to load files on its behalf.
pub(crate) fn settings_of(other: &Session) -> Session {
    let mut session = Session::new(other.current.clock, other.base_url().map(ToOwned::to_owned));
    session.is_base_recorded = other.is_base_recorded;
    session.state_folder.clone_from(&other.state_folder);
    session.current.data.clone_from(&other.current.data);
    policy::recheck_now(&mut session, other.current.checks.criteria().clone());
    if other.current.checks.allows_other_sites() {
        session.allow_other_sites();
    }
    session
}
