//! The fix keys: on a row, and in a list of findings.
//!
//! Invariant: it does what the screen says beside its sign, and nothing that the screen does not show.

use super::super::App;
use super::super::modes::Mode;
use super::super::operations::edit::change;
use super::super::operations::here::{can_fix, findings_here, needs_decision};
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

/// Does what is offered first beside the row: of its own findings and those of its file and the set, worst first.
pub(in crate::tui::app) fn fix(app: &mut App, rows: RowSet) {
    let Some(row) = app.shared.grid.row else { return };
    if app.shared.waits_for_entry(row, Action::Fix) {
        return;
    }
    let found = findings_here(&app.shared, row);
    let is_sound = found.is_empty();
    let Some(first) = found.into_iter().find(|here| can_fix(&app.shared, row, here)) else {
        let has_safe = app.shared.session.counts().by_rule().iter().any(|(rule, _)| rule.fix() == FixKind::Safe);
        let words = match (is_sound, has_safe) {
            (true, true) if app.shared.session.counts().has_bad_rows() => {
                "no findings in this row: } goes to the next, gX applies all safe fixes"
            }
            (true, true) => "no findings in this row: ^E lists what is, gX applies all safe fixes",
            (true, false) if app.shared.session.counts().has_bad_rows() => {
                "no findings in this row: } goes to the next finding"
            }
            (true, false) if non_row::is_any_fixable(&app.shared.session) => {
                "no findings in this row; ^E lists what is wrong with files and the set"
            }
            (true, false) => "no findings in this row",
            (false, true) => "no fix for this: K explains it; gX applies all safe fixes",
            (false, false) => "no fix for this; K explains it",
        };
        return app.shared.show_note(words);
    };
    fix_here(app, row, rows, &first);
}

/// Shows what the fix of a rule that the current row breaks would do; Enter does it.
pub(in crate::tui::app) fn preview_rule(app: &mut App, rule: Rule) {
    let Some(row) = app.shared.grid.row else { return };
    let is_it = |finding: &Finding| finding.target.is_of_row() && finding.rule == rule;
    let found = findings_here(&app.shared, row).into_iter().find(is_it);
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
        fix_whole(app, finding.target, finding.rule);
    } else if needs_decision(&app.shared, row, finding) {
        decide::open_decide(app, row, finding);
    } else {
        change(&mut app.shared, Change::Fix { rows, rules: RuleSet::of(&[finding.rule]) });
    }
}

/// Puts right what is worst where there are no rows. False if nothing can be.
pub(in crate::tui::app) fn fix_without_row(app: &mut App) -> bool {
    // The one beside which the pane shows the key.
    let rank = |finding: &FindingRef<'_>| std::cmp::Reverse(finding.severity());
    let (found, _) = non_row::first(&app.shared.session, 1, |finding| finding.is_fixable(), rank);
    let worst = found.first().map(|finding| (finding.target, finding.rule));
    if let Some((place, rule)) = worst {
        fix_whole(app, place, rule);
    }
    worst.is_some()
}

/// Puts a finding right that no row carries; where that needs a name or a URL, the command that does it waits to be
/// confirmed.
pub(in crate::tui::app) fn fix_whole(app: &mut App, place: FindingTarget, rule: Rule) {
    if rule == Rule::MERGE_CONFLICT && load::has_conflicts(&app.shared.session) {
        return conflicts::ask_side(&mut app.shared);
    }
    if let Some(line) = place.member().and_then(|file| fix::question(app.shared.session.view(), file, rule)) {
        app.open_line(Purpose::Command, &line);
    } else {
        let fix = fix::change_for(&app.shared.session, place, rule);
        change(&mut app.shared, fix);
    }
}
