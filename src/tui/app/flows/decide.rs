//! Opens the dialog for a finding whose fix needs a decision.

use super::super::App;
use super::super::modes::list::{List, ListKind};
use super::super::modes::{Mode, decisions};
use super::super::operations::cursor::targets;
use super::super::operations::edit::change;
use super::super::operations::row_findings::delete_answer;
use super::super::state::Shared;
use super::super::state::recent::Purpose;
use crate::check::Finding;
use crate::check::decision::{Decision, text_hint};
use crate::check::rule::Rule;
use crate::document::rows::RowId;
use crate::session::edit::Change;
use crate::tui::prompt::Prompt;

/// Asks for the decision about a finding.
pub(in crate::tui::app) fn open_decide(app: &mut App, row: RowId, finding: &Finding) {
    if let Some(word) = delete_answer(finding) {
        // The command line shows the preview of the command.
        let line = format!("fix {} {word}", finding.rule.code());
        return app.open_line(Purpose::Command, &line);
    }
    let Some(field) = finding.field() else { return };
    let lines = decisions::lines_of(&app.shared, row, finding.rule, field, "");
    let mut list = List::new(ListKind::Decide(finding.rule), lines);
    if text_hint(finding.rule).is_some() {
        list.prompt = Some(Prompt::new("", Vec::new()));
    }
    app.open(Mode::List(list));
}

/// Fixes the findings of a rule by a decision, in the rows that the key applied to.
pub(in crate::tui::app) fn decide(shared: &mut Shared, rule: Rule, decision: Decision) {
    let rows = targets(shared, None);
    change(shared, Change::Decide { rows, rule, decision });
}
