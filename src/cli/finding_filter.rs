//! Selects the findings that `check` reports, and those that make it exit with status 1.

use super::Failure;
use super::args::{Check, FailOn};
use crate::check::rule::{Rule, RuleSet};
use crate::protocol::Severity;
use crate::session::edit::rules_named;

/// The options `--rule`, `--ignore` and `--fail-on`.
#[derive(Debug)]
pub(super) struct FindingFilter {
    /// Only findings of these rules; `None`: of all.
    rules: Option<RuleSet>,
    /// No findings of these rules.
    ignored: RuleSet,
    /// Which severities lead to exit status 1.
    pub(super) fails: Failing,
}

/// The severities that lead to exit status 1: this one and those above; `None`: none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Failing(Option<Severity>);

impl Failing {
    /// Whether a finding of this severity leads to exit status 1.
    pub(super) fn contains(self, severity: Severity) -> bool {
        self.0.is_some_and(|least| severity >= least)
    }
}

impl FindingFilter {
    pub(super) fn from_options(check: &Check) -> Result<Self, Failure> {
        let named = |option: &str, names: &[String]| {
            rules_named(names).map_err(|error| {
                Failure::Usage(format!("{option}: {error}"), "sited check --list-rules lists all rules".to_owned())
            })
        };
        Ok(Self {
            rules: if check.rules.is_empty() { None } else { Some(named("--rule", &check.rules)?) },
            ignored: if check.ignore.is_empty() { RuleSet::EMPTY } else { named("--ignore", &check.ignore)? },
            fails: Failing(match check.fail_on {
                FailOn::Error => Some(Severity::Error),
                FailOn::Warning => Some(Severity::Warning),
                FailOn::Note => Some(Severity::Note),
                FailOn::Never => None,
            }),
        })
    }

    /// Whether findings of a rule are reported.
    pub(super) fn includes(&self, rule: Rule) -> bool {
        let family = rule.family();
        let is_named = |set: RuleSet| set.contains(rule) || set.intersects(family);
        self.rules.is_none_or(is_named) && !is_named(self.ignored)
    }
}
