//! The choices for a finding that needs a decision, each with its result.

use super::super::operations::row_findings::findings_at;
use super::super::state::Shared;
use super::super::state::request::Choice;
use super::items::{Item, entry, text};
use crate::check::Finding;
use crate::check::decision::{Decision, Hints, decisions, parse_decision, text_hint};
use crate::check::rule::Rule;
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// The lines for the typed text.
pub(in crate::tui::app) fn lines(shared: &Shared, rule: Rule, written: &str) -> Vec<Item> {
    let Some(row) = shared.grid.row else { return Vec::new() };
    let is_it = |finding: &Finding| finding.target.is_of_row() && finding.rule == rule;
    let field = findings_at(shared, row).into_iter().filter(is_it).find_map(|finding| finding.field());
    field.map(|field| lines_of(shared, row, rule, field, written)).unwrap_or_default()
}

pub(in crate::tui::app) fn lines_of(shared: &Shared, row: RowId, rule: Rule, field: Field, written: &str) -> Vec<Item> {
    let value = shared.session.view().cell(row, field).unwrap_or_default().into_owned();
    let signs = &shared.theme.signs;
    let charset = shared.theme.charset;
    // The old value is also in the table; a narrow screen shows only the new one.
    let before = if shared.size.0 >= 100 { format!("  {}", charset.elide(&value, 40)) } else { String::new() };
    let line = |decision: Decision| {
        let after = decision.apply(&value)?;
        let words = Words::text(charset.fit(&decision.label(), 34))
            .and(Role::Dim, format!("{before} {} ", signs.arrow))
            .and(Role::Changed, after.unwrap_or_else(|| signs.absent.to_owned()));
        Some(entry(words, Words::new(), Choice::Decide(rule, decision)))
    };
    if !written.trim().is_empty() {
        let found = parse_decision(rule, written).and_then(line);
        let what = text_hint(rule).unwrap_or_default();
        let wrong = || text(Words::new().and(Role::Error, format!("expected {what}")));
        return vec![found.unwrap_or_else(wrong)];
    }
    let zone = shared.session.view().clock.offset / 60;
    let today = shared.session.view().clock.today();
    let hints = Hints { zone, origin: shared.session.view().origin(), today: Some(&today) };
    let mut lines: Vec<Item> = decisions(rule, &value, hints).into_iter().filter_map(line).collect();
    if let Some(what) = text_hint(rule) {
        lines.push(text(Words::dim(format!("or type {what}"))));
    }
    lines.push(entry(Words::text("edit this one"), Words::new(), Choice::Cell(field)));
    lines
}
