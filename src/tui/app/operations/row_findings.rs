//! The findings at the cursor, and whether the fix key applies to them.

use super::super::state::{Shared, large};
use crate::check::decision::{Decision, Hints, answers, decisions, text_hint};
use crate::check::rule::{FixKind, Rule};
use crate::check::{Finding, FindingTarget};
use crate::document::rows::RowId;
use crate::protocol::Severity;
use crate::session::findings;
use crate::session::findings::non_row;
use crate::session::findings::non_row::FindingRef;

/// The findings at a row, as the pane lists them: those of the row, and those of its file and the set that are worse
/// than notes.
pub(in crate::tui) fn findings_at(shared: &Shared, row: RowId) -> Vec<Finding> {
    let mut here = if large::is_large(&shared.session, row) {
        shared.large.entry(&shared.session, row).map(|entry| entry.findings.clone()).unwrap_or_default()
    } else {
        findings::of_row(shared.session.view(), row)
    };
    let mut of_file = non_row::for_file_of(&shared.session, row);
    of_file.retain(|finding| finding.severity > Severity::Note);
    of_file.sort_by_key(|finding| std::cmp::Reverse((finding.severity, finding.fix.is_some())));
    here.extend(of_file);
    here.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    here
}

/// Whether the fix key applies to a finding: it has a fix, or is fixed by a decision.
pub(in crate::tui) fn can_fix(shared: &Shared, row: RowId, finding: &Finding) -> bool {
    finding.fix.is_some() || finding.target.is_of_row() && needs_decision(shared, row, finding)
}

/// The decisions that fix a finding of a row; empty if the finding is not about a field.
pub(in crate::tui) fn decisions_of(shared: &Shared, row: RowId, finding: &Finding) -> Vec<Decision> {
    let Some(field) = finding.field() else { return Vec::new() };
    let value = shared.large.cell(&shared.session, row, field).unwrap_or_default();
    let zone = shared.session.view().clock.offset / 60;
    let today = shared.session.view().clock.today();
    decisions(finding.rule, &value, Hints { zone, origin: shared.session.view().origin(), today: Some(&today) })
}

/// Whether the fix key asks for a decision first.
pub(in crate::tui) fn needs_decision(shared: &Shared, row: RowId, finding: &Finding) -> bool {
    let by_text = text_hint(finding.rule).is_some() && finding.fix.is_none();
    decisions_of(shared, row, finding).len() > 1 || by_text || delete_answer(finding).is_some()
}

/// The answer `delete` if the finding has no fix and its rule accepts that answer.
pub(in crate::tui::app) fn delete_answer(finding: &Finding) -> Option<&'static str> {
    let is_open = finding.fix.is_none() && finding.rule.fix() != FixKind::None;
    let words = answers(finding.rule).into_iter().map(|answer| answer.word);
    words.filter(|_| is_open).find(|word| *word == "delete")
}

pub(in crate::tui::app) fn is_fixable(shared: &Shared, target: FindingTarget, rule: Rule) -> bool {
    let is_it = |finding: FindingRef<'_>| finding.target() == target && finding.rule() == rule && finding.is_fixable();
    non_row::each(&shared.session).any(is_it)
}
