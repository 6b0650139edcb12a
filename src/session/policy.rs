//! Reads the user's policy and checks it against the whole set.

use crate::check::Profile;
use crate::check::policy::Policy;
use crate::check::rule::Rule;
use crate::check::site::Site;
use crate::data::DataSet;
use crate::files;
use crate::progress::Progress;
use crate::session::Session;
use crate::session::checks::{Checks, Criteria};
use crate::session::edit::EditError;
use crate::session::findings::file_findings;
use crate::session::state::Snapshot;
use crate::words::{counted, grouped};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// A hint with an example of a policy file.
pub(crate) const EXAMPLE: &str =
    "a policy file is TOML: never = [\"/wp-admin/\"] and must = [\"https://example.com/\"]";

/// The text of a policy, from the command line or a TOML file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyText {
    /// Patterns that no URL may match: a part of the URL, or with `*` and `?` a pattern as in queries.
    #[serde(default)]
    pub never: Vec<String>,
    /// URLs that must be listed.
    #[serde(default)]
    pub must: Vec<String>,
}

/// Why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    /// It cannot be read.
    #[error("{0}")]
    File(#[from] files::Error),
    /// It is not a policy.
    #[error("{0}")]
    Text(String),
}

impl PolicyText {
    /// Reads a policy file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a policy.
    pub(crate) fn read(path: &Path) -> Result<Self, PolicyError> {
        let text = files::read_text(path)?;
        toml::from_str(&text).map_err(|error| PolicyError::Text(format!("{}: {}", path.display(), error.message())))
    }

    /// Adds the rules of another policy.
    pub(crate) fn join(&mut self, other: Self) {
        self.never.extend(other.never);
        self.must.extend(other.must);
    }

    /// The policy; `None` if it has no rules.
    ///
    /// # Errors
    /// A message about a pattern that is empty or too large.
    pub(crate) fn compile(self) -> Result<Option<Arc<Policy>>, String> {
        if self.never.is_empty() && self.must.is_empty() {
            return Ok(None);
        }
        Policy::new(self.never, self.must).map(|policy| Some(Arc::new(policy)))
    }
}

impl Session {
    /// The policy that the set is checked against.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.current.checks.criteria().policy.as_ref()
    }

    /// Sets or removes the policy; every row is checked again, on all cores.
    pub fn set_policy(&mut self, policy: Option<Arc<Policy>>) {
        recheck_now(self, Criteria { policy, ..self.view().checks.criteria().clone() });
    }
}

/// Checks the set against the policy of a file. Returns a message.
pub(super) fn read_file(session: &mut Session, path: &str) -> Result<String, EditError> {
    session.set_policy(policy_of(path)?);
    Ok(words_of(session, path))
}

/// The message about a policy that was read: the number of findings.
fn words_of(session: &Session, path: &str) -> String {
    let count = |rule: Rule| session.counts().by_rule().into_iter().find(|(own, _)| *own == rule).map_or(0, |(_, n)| n);
    let forbidden = counted(count(Rule::POLICY_NEVER), "forbidden URL");
    format!("{path}: {forbidden}, {} missing", grouped(count(Rule::POLICY_MUST)))
}

/// Checks every row again if the criteria have changed.
pub(super) fn recheck_now(session: &mut Session, criteria: Criteria) {
    if *session.current.checks.criteria() == criteria {
        return;
    }
    let state = &session.current.state;
    let checks = state.checks.with_criteria(criteria, &state.document, session.current.clock, &Progress::default());
    // It cannot be cancelled, so that there is always a result.
    if let Some(checks) = checks {
        session.current.state.checks = checks;
    }
    file_findings::check(session);
}

/// The policy of a file.
fn policy_of(path: &str) -> Result<Option<Arc<Policy>>, EditError> {
    let text = PolicyText::read(Path::new(path)).map_err(|error| match error {
        PolicyError::File(error) => EditError::Refused(error.to_string()),
        PolicyError::Text(why) => EditError::Refused(format!("{why}; {EXAMPLE}")),
    })?;
    text.compile().map_err(|why| EditError::Refused(format!("{path}: {why}")))
}

/// New criteria for the check of every row.
#[derive(Debug, Clone)]
pub(crate) enum Standard {
    /// The expectations of a profile.
    Profile(Profile),
    /// The policy of a file.
    PolicyFile(String),
    /// No policy.
    NoPolicy,
    /// Data columns about the URLs, with a message about them; `None` removes the data.
    Data(Option<(Arc<DataSet>, String)>),
}

/// The result of checking every row of a document again, for [`take_rechecked`].
#[derive(Debug)]
pub struct Rechecked {
    standard: Standard,
    checks: Checks,
    base: Base,
}

/// The document whose rows were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Base {
    version: u64,
    saves: u64,
    rows: u32,
}

impl Base {
    fn of(snapshot: &Snapshot) -> Self {
        Self { version: snapshot.version, saves: snapshot.saves, rows: snapshot.document.row_limit() }
    }
}

/// Checks every row again, on a worker.
///
/// # Errors
/// If the policy cannot be read, or if cancelled.
pub(crate) fn recheck(snapshot: &Snapshot, standard: Standard, progress: &Progress) -> Result<Rechecked, EditError> {
    let current = &snapshot.checks;
    let known = current.criteria().clone();
    let criteria = match &standard {
        Standard::Profile(profile) => Criteria { profile: *profile, ..known },
        Standard::PolicyFile(path) => Criteria { policy: policy_of(path)?, ..known },
        Standard::NoPolicy => Criteria { policy: None, ..known },
        Standard::Data(data) => {
            let robots = current.site().and_then(Site::robots).cloned();
            let site = Site::of(data.as_ref().map(|(data, _)| data), robots).map(Arc::new);
            if site.is_none() && known.site.is_none() {
                // No rule reads these columns.
                return Ok(Rechecked { standard, checks: current.clone(), base: Base::of(snapshot) });
            }
            Criteria { site, ..known }
        }
    };
    let checks = current.with_criteria(criteria, &snapshot.document, snapshot.clock, progress);
    Ok(Rechecked { standard, checks: checks.ok_or(EditError::Cancelled)?, base: Base::of(snapshot) })
}

/// Updates the session with the result of a worker. Returns a message.
///
/// # Errors
/// The criteria, if the document has changed since: it has to be checked again.
pub(crate) fn take_rechecked(session: &mut Session, rechecked: Rechecked) -> Result<String, Standard> {
    let Rechecked { standard, checks, base } = rechecked;
    if base != Base::of(&session.current) {
        return Err(standard);
    }
    session.current.state.checks = checks;
    file_findings::check(session);
    Ok(match standard {
        Standard::Profile(profile) => format!("checked for {}", profile.name()),
        Standard::PolicyFile(path) => words_of(session, &path),
        Standard::NoPolicy => "no policy".to_owned(),
        Standard::Data(None) => {
            session.current.data = None;
            "no data".to_owned()
        }
        Standard::Data(Some((data, words))) => {
            session.current.data = Some(data);
            words
        }
    })
}
