//! Lines that several panes share: signs, shortened URLs, verdicts.

use super::super::app::operations::validate::Validation;
use super::super::app::state::Shared;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::protocol::Severity;
use crate::words::counted;

/// The blanks between two parts of a line.
pub(super) const GAP: &str = "   ";

/// Returns a message after the sign of its severity, wrapped to the width of the pane.
pub(super) fn severity_lines(shared: &Shared, severity: Severity, text: String) -> Vec<Line> {
    let sign = Words::new().and(severity.into(), format!("{} ", shared.theme.finding_sign(severity)));
    wrapped_lines(shared, &sign.and(Role::Text, text))
}

/// Wraps words to the width of the pane.
pub(super) fn wrapped_lines(shared: &Shared, words: &Words) -> Vec<Line> {
    let width = usize::from(shared.size.0).saturating_sub(5).max(1);
    words.wrapped(shared.theme.charset, width, 2).into_iter().map(Line::from).collect()
}

pub(super) fn verdict_lines(shared: &Shared, verdict: &Validation, typed: &str) -> Vec<Line> {
    let signs = shared.theme.signs;
    let mut lines = Vec::new();
    if let Some(reason) = &verdict.refused {
        return severity_lines(shared, Severity::Error, reason.clone());
    }
    let value = verdict.value.as_deref();
    let mut first = Words::new();
    if verdict.findings.is_empty() {
        match value {
            None => first.push(Role::Dim, "will be empty"),
            Some(value) if value == typed.trim() => {
                first.push(Role::Good, format!("{} good", signs.good));
            }
            Some(value) => {
                first = Words::new().and(Role::Good, format!("{} ", signs.good)).and(Role::Text, value.to_owned());
            }
        }
        lines.push(first.into());
    }
    for finding in &verdict.findings {
        let sign = shared.theme.finding_sign(finding.severity);
        let words = Words::new()
            .and(finding.severity.into(), format!("{sign} "))
            .and(Role::Text, finding.message.clone())
            .and(Role::Dim, format!("{GAP}{}", finding.rule.code()));
        lines.push(words.into());
    }
    if let Some((text, why)) = &verdict.suggestion {
        let mut right = Words::new();
        right.key("Tab", "takes it");
        let words = Words::new()
            .and(Role::Dim, format!("  {} ", signs.arrow))
            .and(Role::Good, text.clone())
            .and(Role::Dim, format!("{GAP}{why}"));
        lines.insert(1.min(lines.len()), Line::new(words, right));
    }
    if verdict.twins > 0 {
        let words = format!("{} has this URL already", counted(verdict.twins as u64, "other row"));
        lines.push(Words::new().and(Role::Warning, format!("{} ", signs.warning)).and(Role::Text, words).into());
    }
    lines
}

/// Returns a URL as the table shows it: without the origin that all URLs share.
pub(super) fn without_origin(shared: &Shared, loc: &str) -> String {
    let path = shared.session.view().origin().and_then(|origin| loc.strip_prefix(origin));
    path.filter(|path| path.starts_with(['/', '?', '#'])).unwrap_or(loc).to_owned()
}
