//! Reads the user's policy and checks it against the whole set.

use super::Session;
use super::change::Refused;
use super::findings::{FileFinding, FindingTarget};
use crate::check::policy::Policy;
use crate::check::profile::Profile;
use crate::check::rule::Rule;
use crate::files;
use crate::progress::Progress;
use crate::words::{counted, excerpt, grouped};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// Longest part of a URL that a message repeats.
const MOST: usize = 120;

/// What is right in a policy file.
pub const EXAMPLE: &str = "a policy file is TOML: never = [\"/wp-admin/\"] and must = [\"https://example.com/\"]";

/// A policy as it is written, on the command line or in a TOML file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyText {
    /// Patterns that no URL may match: a part of the URL, or with `*` and `?` a pattern as in queries.
    #[serde(default)]
    pub never: Vec<String>,
    /// URLs that must be listed.
    #[serde(default)]
    pub must: Vec<String>,
}

/// Why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
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
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let text = files::read_text(path)?;
        toml::from_str(&text).map_err(|error| PolicyError::Text(format!("{}: {}", path.display(), error.message())))
    }

    /// Adds what another policy says.
    pub fn join(&mut self, other: Self) {
        self.never.extend(other.never);
        self.must.extend(other.must);
    }

    /// The policy; `None` where it says nothing.
    ///
    /// # Errors
    /// A pattern that is empty or too large, in words.
    pub fn compile(self) -> Result<Option<Arc<Policy>>, String> {
        if self.never.is_empty() && self.must.is_empty() {
            return Ok(None);
        }
        Policy::new(self.never, self.must).map(|policy| Some(Arc::new(policy)))
    }
}

impl Session {
    /// Required URLs that no file lists, each with its finding.
    pub(super) fn missing_urls(&self) -> Vec<(&str, FileFinding)> {
        // Files that are still coming may list them.
        if self.loading {
            return Vec::new();
        }
        let Some(policy) = self.current.checks.policy() else { return Vec::new() };
        let is_listed = |(place, url): &(u32, &String)| {
            if self.document().is_streamed() {
                self.listed.contains(*place)
            } else {
                !self.current.rows_with_loc(url).is_empty()
            }
        };
        let rule = Rule::POLICY_MUST;
        let Some(severity) = rule.severity_in(self.profile()) else { return Vec::new() };
        let missing = (0..).zip(policy.required()).filter(|one| !is_listed(one));
        missing
            .map(|(_, url)| {
                let message = format!("{} is missing, and the policy requires it", excerpt(url, MOST));
                let place = FindingTarget::Set;
                (url.as_str(), FileFinding { place, rule, severity, field: None, message, fix: None, at: None })
            })
            .collect()
    }

    /// Looks again which required URLs are missing.
    pub(super) fn check_required(&mut self) {
        let is_old = |finding: &FileFinding| finding.rule == Rule::POLICY_MUST;
        let missing: Vec<FileFinding> = self.missing_urls().into_iter().map(|(_, finding)| finding).collect();
        if missing.is_empty() && !self.file_findings.iter().any(is_old) {
            return;
        }
        let findings = Arc::make_mut(&mut self.file_findings);
        findings.retain(|finding| !is_old(finding));
        findings.extend(missing);
    }

    /// What the set is held against.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.current.checks.shared_policy()
    }

    /// Holds the set against the policy of a file; gives back what came of it, in words.
    pub(super) fn read_policy(&mut self, path: &str) -> Result<String, Refused> {
        let text = PolicyText::read(Path::new(path)).map_err(|error| match error {
            PolicyError::File(error) => Refused(error.to_string()),
            PolicyError::Text(why) => Refused(format!("{why}; {EXAMPLE}")),
        })?;
        let policy = text.compile().map_err(|why| Refused(format!("{path}: {why}")))?;
        self.set_policy(policy);
        let count = |rule: Rule| self.rule_counts().into_iter().find(|(own, _)| *own == rule).map_or(0, |(_, n)| n);
        let forbidden = counted(count(Rule::POLICY_NEVER), "forbidden URL");
        Ok(format!("{path}: {forbidden}, {} missing", grouped(count(Rule::POLICY_MUST))))
    }

    /// Holds the set against a policy, or against none; every row is looked at again, on all cores.
    pub fn set_policy(&mut self, policy: Option<Arc<Policy>>) {
        self.recheck(self.profile(), policy);
    }

    /// Looks at every row again if the profile or the policy is another than before.
    pub(super) fn recheck(&mut self, profile: Profile, policy: Option<Arc<Policy>>) {
        let is_same = match (&policy, self.current.checks.shared_policy()) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old),
            (new, old) => new.is_none() && old.is_none(),
        };
        if self.profile() == profile && is_same {
            return;
        }
        let state = &self.current.state;
        let checks = state.checks.under((profile, policy), &state.document, self.current.clock, &Progress::default());
        // Nobody cancels it.
        if let Some(checks) = checks {
            self.current.state.checks = checks;
        }
        self.check_files();
    }
}
