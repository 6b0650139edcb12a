//! Findings of URLs that the policy requires and no file lists.

use crate::check::rule::Rule;
use crate::check::{Finding, FindingTarget};
use crate::session::Session;
use crate::words::excerpt;
use std::sync::Arc;

/// Required URLs that no file lists, each with its finding.
pub(in crate::session) fn missing(session: &Session) -> Vec<(&str, Finding)> {
    // Files that are still being loaded may list them.
    if session.loading {
        return Vec::new();
    }
    let Some(policy) = session.current.checks.policy() else { return Vec::new() };
    let is_listed = |(place, url): &(u32, &String)| {
        if session.document().is_streamed() || session.current.checks.set().is_partial() {
            session.listed.contains(*place)
        } else {
            !session.current.rows_with_loc(url).is_empty()
        }
    };
    let rule = Rule::POLICY_MUST;
    let Some(severity) = rule.severity_in(session.view().profile()) else { return Vec::new() };
    let missing = (0..).zip(policy.required()).filter(|one| !is_listed(one));
    missing
        .map(|(_, url)| {
            let message = format!("{} is missing, and the policy requires it", excerpt(url, MAX_URL_LEN));
            (url.as_str(), Finding::new(rule, severity, message).of(FindingTarget::Set))
        })
        .collect()
}

/// Updates the findings of missing required URLs.
pub(in crate::session) fn check(session: &mut Session) {
    let is_old = |finding: &Finding| finding.rule == Rule::POLICY_MUST;
    let missing: Vec<Finding> = missing(session).into_iter().map(|(_, finding)| finding).collect();
    if missing.is_empty() && !session.file_findings.iter().any(is_old) {
        return;
    }
    let findings = Arc::make_mut(&mut session.file_findings);
    findings.retain(|finding| !is_old(finding));
    findings.extend(missing);
}

/// The maximum length of a URL in a message.
pub(in crate::session) const MAX_URL_LEN: usize = 120;
