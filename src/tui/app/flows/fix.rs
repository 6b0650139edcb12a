//! The fix keys: on a row, and in a list of findings.
//!
//! Invariant: the key applies the fix that the screen shows, and no other.

use super::super::App;
use super::super::modes::Mode;
use super::super::operations::edit::change;
use super::super::operations::row_findings::{can_fix, findings_at, needs_decision};
use super::super::state::recent::Purpose;
use super::{conflicts, decide, explain};
use crate::check::Finding;
use crate::check::FindingTarget;
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::document::rows::{RowId, RowSet};
use crate::session::edit::Change;
use crate::session::findings::non_row;
use crate::session::findings::non_row::FindingRef;
use crate::session::fix;
use crate::session::store::load;
use crate::tui::command::Action;

/// Fixes the first fixable finding of the row, its file and the set, worst first.
pub(in crate::tui::app) fn fix(app: &mut App, rows: RowSet) {
    let Some(row) = app.shared.grid.row else { return };
    if app.shared.waits_for_entry(row, Action::Fix) {
        return;
    }
    let found = findings_at(&app.shared, row);
    let is_sound = found.is_empty();
    let Some(first) = found.into_iter().find(|here| can_fix(&app.shared, row, here)) else {
        let has_safe = app.shared.session.counts().by_rule().iter().any(|(rule, _)| rule.fix() == FixKind::Safe);
        let words = match (is_sound, has_safe) {
            (true, true) if app.shared.session.counts().has_bad_rows() => {
                "no findings in this row: } goes to the next, gX applies all safe fixes"
            }
            (true, true) => "no findings in this row: ^E lists those of files and the set, gX applies all safe fixes",
            (true, false) if app.shared.session.counts().has_bad_rows() => {
                "no findings in this row: } goes to the next finding"
            }
            (true, false) if non_row::is_any_fixable(&app.shared.session) => {
                "no findings in this row: ^E lists those of files and the set"
            }
            (true, false) => "no findings in this row",
            (false, true) => "no fix for this finding: K explains it, gX applies all safe fixes",
            (false, false) => "no fix for this finding: K explains it",
        };
        return app.shared.show_note(words);
    };
    fix_here(app, row, rows, &first);
}

/// Opens the preview of the fix of a rule that the current row violates.
pub(in crate::tui::app) fn preview_rule(app: &mut App, rule: Rule) {
    let Some(row) = app.shared.grid.row else { return };
    let is_it = |finding: &Finding| finding.target.is_of_row() && finding.rule == rule;
    let found = findings_at(&app.shared, row).into_iter().find(is_it);
    match found {
        Some(finding) if needs_decision(&app.shared, row, &finding) => decide::open_decide(app, row, &finding),
        Some(finding) if finding.fix.is_some() => {
            app.open_line(Purpose::Command, &format!("fix {}", rule.code()));
        }
        _ => app.open(Mode::List(explain::rule_list(&app.shared, rule))),
    }
}

fn fix_here(app: &mut App, row: RowId, rows: RowSet, finding: &Finding) {
    if !finding.target.is_of_row() {
        fix_non_row(app, finding.target, finding.rule);
    } else if needs_decision(&app.shared, row, finding) {
        decide::open_decide(app, row, finding);
    } else {
        change(&mut app.shared, Change::Fix { rows, rules: RuleSet::of(&[finding.rule]) });
    }
}

/// Fixes the worst finding of a set without rows. False if none can be fixed.
pub(in crate::tui::app) fn fix_without_row(app: &mut App) -> bool {
    // The finding beside which the pane shows the key.
    let rank = |finding: &FindingRef<'_>| std::cmp::Reverse(finding.severity());
    let (found, _) = non_row::first(&app.shared.session, 1, |finding| finding.is_fixable(), rank);
    let worst = found.first().map(|finding| (finding.target, finding.rule));
    if let Some((target, rule)) = worst {
        fix_non_row(app, target, rule);
    }
    worst.is_some()
}

/// Fixes a finding of a file or the set; if that needs a name or a URL, opens the command line with the command to be
/// confirmed.
pub(in crate::tui::app) fn fix_non_row(app: &mut App, target: FindingTarget, rule: Rule) {
    if rule == Rule::MERGE_CONFLICT && load::has_conflicts(&app.shared.session) {
        return conflicts::ask_side(&mut app.shared);
    }
    if let Some(line) = target.member().and_then(|file| fix::question(app.shared.session.view(), file, rule)) {
        app.open_line(Purpose::Command, &line);
    } else {
        let fix = fix::change_for(&app.shared.session, target, rule);
        change(&mut app.shared, fix);
    }
}
