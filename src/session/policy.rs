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

/// What is right in a policy file.
pub(crate) const EXAMPLE: &str =
    "a policy file is TOML: never = [\"/wp-admin/\"] and must = [\"https://example.com/\"]";

/// A policy as it is written, on the command line or in a TOML file.
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
    /// It is no policy.
    #[error("{0}")]
    Text(String),
}

impl PolicyText {
    /// Reads a policy file.
    ///
    /// # Errors
    /// When it cannot be read, or is no policy.
    pub(crate) fn read(path: &Path) -> Result<Self, PolicyError> {
        let text = files::read_text(path)?;
        toml::from_str(&text).map_err(|error| PolicyError::Text(format!("{}: {}", path.display(), error.message())))
    }

    /// Adds what another policy says.
    pub(crate) fn join(&mut self, other: Self) {
        self.never.extend(other.never);
        self.must.extend(other.must);
    }

    /// The policy; `None` where it says nothing.
    ///
    /// # Errors
    /// A pattern that is empty or too large, in words.
    pub(crate) fn compile(self) -> Result<Option<Arc<Policy>>, String> {
        if self.never.is_empty() && self.must.is_empty() {
            return Ok(None);
        }
        Policy::new(self.never, self.must).map(|policy| Some(Arc::new(policy)))
    }
}

impl Session {
    /// What the set is held against.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.current.checks.criteria().policy.as_ref()
    }

    /// Holds the set against a policy, or against none; every row is checked again, on all cores.
    pub fn set_policy(&mut self, policy: Option<Arc<Policy>>) {
        recheck_now(self, Criteria { policy, ..self.view().checks.criteria().clone() });
    }
}

/// Holds the set against the policy of a file; gives back what came of it, in words.
pub(super) fn read_file(session: &mut Session, path: &str) -> Result<String, EditError> {
    session.set_policy(policy_of(path)?);
    Ok(words_of(session, path))
}

/// What came of a policy, in words.
fn words_of(session: &Session, path: &str) -> String {
    let count = |rule: Rule| session.counts().by_rule().into_iter().find(|(own, _)| *own == rule).map_or(0, |(_, n)| n);
    let forbidden = counted(count(Rule::POLICY_NEVER), "forbidden URL");
    format!("{path}: {forbidden}, {} missing", grouped(count(Rule::POLICY_MUST)))
}

/// Looks at every row again if the criteria are others than before.
pub(super) fn recheck_now(session: &mut Session, criteria: Criteria) {
    if *session.current.checks.criteria() == criteria {
        return;
    }
    let state = &session.current.state;
    let checks = state.checks.with_criteria(criteria, &state.document, session.current.clock, &Progress::default());
    // No one cancels it.
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

/// What every row is checked against from now on.
#[derive(Debug, Clone)]
pub(crate) enum Standard {
    /// The expectations of a profile.
    Profile(Profile),
    /// The policy of a file.
    PolicyFile(String),
    /// No policy.
    NoPolicy,
    /// What other programs know about the URLs, and what is said of it; or nothing.
    Data(Option<(Arc<DataSet>, String)>),
}

/// Every row of a document checked again, to be taken in by [`take_rechecked`].
#[derive(Debug)]
pub struct Rechecked {
    standard: Standard,
    checks: Checks,
    base: Base,
}

/// The document that rows were checked of.
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
/// When the policy cannot be read, or when cancelled.
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
                // No rule reads it.
                return Ok(Rechecked { standard, checks: current.clone(), base: Base::of(snapshot) });
            }
            Criteria { site, ..known }
        }
    };
    let checks = current.with_criteria(criteria, &snapshot.document, snapshot.clock, progress);
    Ok(Rechecked { standard, checks: checks.ok_or(EditError::Cancelled)?, base: Base::of(snapshot) })
}

/// Takes in what a worker has checked; gives back what came of it, in words.
///
/// # Errors
/// When the document has changed meanwhile: it has to be checked again.
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
