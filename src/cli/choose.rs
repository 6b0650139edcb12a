//! Selects the findings that `check` reports, and the severity from which it fails.

use super::Failure;
use super::args::{Check, FailOn};
use crate::check::rule::{Rule, RuleSet};
use crate::protocol::Severity;
use crate::session::edit::rules_named;

/// What was asked for, ready to use.
#[derive(Debug)]
pub(super) struct Choice {
    /// Only these; `None`: all.
    rules: Option<RuleSet>,
    /// Not these.
    ignored: RuleSet,
    /// Exit with status 1 at this severity or above; `None`: never.
    fail: Option<Severity>,
}

impl Choice {
    /// Reads the options of `check`.
    pub(super) fn of(check: &Check) -> Result<Self, Failure> {
        let named = |option: &str, names: &[String]| {
            rules_named(names).map_err(|error| {
                Failure::Usage(format!("{option}: {error}"), "sited check --list-rules lists all rules".to_owned())
            })
        };
        Ok(Self {
            rules: if check.rules.is_empty() { None } else { Some(named("--rule", &check.rules)?) },
            ignored: if check.ignore.is_empty() { RuleSet::EMPTY } else { named("--ignore", &check.ignore)? },
            fail: match check.fail_on {
                FailOn::Error => Some(Severity::Error),
                FailOn::Warning => Some(Severity::Warning),
                FailOn::Note => Some(Severity::Note),
                FailOn::Never => None,
            },
        })
    }

    /// Whether findings of a rule count.
    pub(super) fn takes(&self, rule: Rule) -> bool {
        let family = rule.family();
        let is_named = |set: RuleSet| set.contains(rule) || set.intersects(family);
        self.rules.is_none_or(is_named) && !is_named(self.ignored)
    }

    /// Whether a finding of this severity makes the run end with status 1.
    pub(super) fn fails(&self, severity: Severity) -> bool {
        self.fail.is_some_and(|least| severity >= least)
    }
}
