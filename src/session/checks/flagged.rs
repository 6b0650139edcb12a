//! The rows that violate a set rule, computed when a query first needs them.

use crate::check::rule::Rule;
use crate::check::set::SetRule;
use crate::document::Document;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Severity;
use crate::session::checks::DocumentLocs;
use crate::session::checks::{Checks, rule_of};
use crate::xml::record::Record;
use std::sync::OnceLock;

/// Rows that violate set rules, computed for each rule when a query first needs them.
pub(crate) struct SetRows<'c> {
    checks: &'c Checks,
    locs: DocumentLocs<'c>,
    by_rule: [OnceLock<RowSet>; SetRule::ALL.len()],
    grouped: OnceLock<RowSet>,
    /// Whether the rules are evaluated for each requested row, not for all rows at once.
    by_row: bool,
}

impl<'c> SetRows<'c> {
    /// A table in which no rule is computed yet.
    pub(crate) fn new(checks: &'c Checks, document: &'c Document) -> Self {
        let by_rule = [const { OnceLock::new() }; SetRule::ALL.len()];
        Self { checks, locs: DocumentLocs(document), by_rule, grouped: OnceLock::new(), by_row: document.is_streamed() }
    }

    /// Evaluates the rules for each requested row only: for queries about few rows, or about each row once, file by
    /// file.
    #[must_use]
    pub(crate) fn by_row(self) -> Self {
        Self { by_row: true, ..self }
    }

    /// Whether a set rule flags a row.
    pub(crate) fn has(&self, rule: Rule, row: RowId, record: &Record) -> bool {
        if rule == Rule::LASTMOD_MISSING {
            return self.checks.misses_lastmod(record);
        }
        if rule == Rule::SET_DUPLICATE_NEAR {
            return self.checks.near.contains(row.0);
        }
        let Some(set_rule) = SetRule::ALL.iter().copied().find(|set_rule| rule_of(*set_rule) == rule) else {
            return false;
        };
        if self.by_row {
            return self.checks.set.rules_of(row.0, &self.locs).has(set_rule);
        }
        let make = || self.checks.set.rows_with(set_rule, &self.locs);
        self.by_rule.get(set_rule as usize).is_some_and(|rows| rows.get_or_init(make).contains(row.0))
    }

    /// Whether any set rule of a severity flags a row.
    pub(crate) fn has_severity(&self, severity: Severity, row: RowId, record: &Record) -> bool {
        let mut rules =
            SetRule::ALL.iter().map(|rule| rule_of(*rule)).chain([Rule::LASTMOD_MISSING, Rule::SET_DUPLICATE_NEAR]);
        let profile = self.checks.profile();
        rules.any(|rule| rule.severity_in(profile) == Some(severity) && self.has(rule, row, record))
    }

    /// Whether a row shares its page with another.
    pub(crate) fn is_grouped(&self, row: RowId) -> bool {
        if self.by_row {
            return self.checks.set.duplicates().is_duplicate(row.0);
        }
        self.grouped.get_or_init(|| self.checks.set.duplicates().rows_of_groups()).contains(row.0)
    }
}
