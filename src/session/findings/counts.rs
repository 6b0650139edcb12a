//! Counts the findings of the set by rule and by severity.

use crate::check::rule::{Rule, RuleSet};
use crate::protocol::Severity;
use crate::session::{Session, Totals};

/// Counts of the findings of a session.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'s> {
    pub(in crate::session) session: &'s Session,
}

impl Counts<'_> {
    /// The number of findings of each rule, including those of files; worst severity first, then by number. A rule and
    /// its variants are listed as the worst of them that occurs.
    pub fn by_rule(self) -> Vec<(Rule, u64)> {
        let counts = self.all();
        let count = |rule: Rule| counts.get(rule.index()).copied().unwrap_or_default();
        let mut list: Vec<(Rule, u64)> = Rule::mains()
            .filter_map(|main| {
                let found: RuleSet = main.family().iter().filter(|rule| count(*rule) > 0).collect();
                Some((self.session.current.profile().worst_rule(found)?, found.iter().map(count).sum()))
            })
            .collect();
        list.sort_by_key(|(rule, count)| {
            (
                std::cmp::Reverse(rule.severity_in(self.session.current.profile())),
                std::cmp::Reverse(*count),
                rule.index(),
            )
        });
        list
    }

    /// Whether any row has an error or a warning.
    pub fn has_bad_rows(self) -> bool {
        let is_bad = |rule: Rule| {
            rule.severity_in(self.session.current.profile()).is_some_and(|severity| severity > Severity::Note)
        };
        Rule::ALL
            .into_iter()
            .zip(self.session.current.checks.counts().iter())
            .any(|(rule, count)| *count > 0 && is_bad(rule))
    }

    fn all(self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.session.current.checks.counts().iter().map(|count| u64::from(*count)).collect();
        for finding in self.session.file_findings.iter() {
            if let Some(count) = counts.get_mut(finding.rule.index()) {
                *count += 1;
            }
        }
        counts
    }

    /// Findings by severity, over the whole set.
    pub fn totals(self) -> Totals {
        let mut totals = Totals::default();
        for (rule, count) in Rule::ALL.into_iter().zip(self.all()) {
            match rule.severity_in(self.session.current.profile()) {
                Some(Severity::Error) => totals.errors += count,
                Some(Severity::Warning) => totals.warnings += count,
                Some(Severity::Note) => totals.notes += count,
                None => {}
            }
        }
        totals
    }
}
