//! Findings of URLs that the policy requires and no file lists.

use crate::check::rule::Rule;
use crate::session::Session;
use crate::session::finding::{FileFinding, FindingTarget};
use crate::words::excerpt;
use std::sync::Arc;

impl Session {
    /// Required URLs that no file lists, each with its finding.
    pub(in crate::session) fn missing_urls(&self) -> Vec<(&str, FileFinding)> {
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
    pub(in crate::session) fn check_required(&mut self) {
        let is_old = |finding: &FileFinding| finding.rule == Rule::POLICY_MUST;
        let missing: Vec<FileFinding> = self.missing_urls().into_iter().map(|(_, finding)| finding).collect();
        if missing.is_empty() && !self.file_findings.iter().any(is_old) {
            return;
        }
        let findings = Arc::make_mut(&mut self.file_findings);
        findings.retain(|finding| !is_old(finding));
        findings.extend(missing);
    }
}

/// Longest part of a URL that a message repeats.
pub(in crate::session) const MOST: usize = 120;
