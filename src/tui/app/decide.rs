//! The list of answers for a finding that needs a decision, each with its result.

use super::super::prompt::Prompt;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::list::{Choice, List, ListKind, entry};
use super::{App, Here, Mode, large};
use crate::check::decision::{Decision, Hints, answers, decisions, takes_text, typed};
use crate::check::rule::{FixKind, Rule};
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::session::change::Change;
use crate::session::findings::Finding;

impl App {
    /// The ways to put a finding of a row right, if it is one that needs a decision.
    pub(in crate::tui) fn decisions_of(&self, row: RowId, finding: &Finding) -> Vec<Decision> {
        let Some(field) = finding.field else { return Vec::new() };
        let value = large::cell(self, row, field).unwrap_or_default();
        let zone = self.session.view().clock.offset / 60;
        let today = self.session.view().clock.today();
        decisions(finding.rule, &value, Hints { zone, origin: self.session.origin(), today: Some(&today) })
    }

    /// Whether pressing the key for a fix asks first.
    pub(in crate::tui) fn needs_decision(&self, row: RowId, finding: &Finding) -> bool {
        let by_text = takes_text(finding.rule).is_some() && finding.fix.is_none();
        self.decisions_of(row, finding).len() > 1 || by_text || Self::answer_to(finding).is_some()
    }

    /// What somebody may say to a finding that nothing else puts right: that its row goes.
    fn answer_to(finding: &Finding) -> Option<&'static str> {
        let is_open = finding.fix.is_none() && finding.rule.fix() != FixKind::None;
        let words = answers(finding.rule).into_iter().map(|answer| answer.word);
        words.filter(|_| is_open).find(|word| *word == "delete")
    }

    /// Asks how a finding is to be fixed.
    pub(super) fn open_decide(&mut self, row: RowId, finding: &Finding) {
        if let Some(word) = Self::answer_to(finding) {
            // The command waits with its preview.
            let line = format!("fix {} {word}", finding.rule.code());
            return self.open_line(super::Purpose::Command, &line);
        }
        let Some(field) = finding.field else { return };
        let lines = self.decide_lines(row, finding.rule, field, "");
        let mut list = List::new(ListKind::Decide(finding.rule), lines);
        if takes_text(finding.rule).is_some() {
            list.prompt = Some(Prompt::new("", Vec::new()));
        }
        self.mode = Mode::List(list);
    }

    /// The lines again, for what is typed now.
    pub(super) fn decide_again(&self, rule: Rule, text: &str) -> Vec<(Line, Choice)> {
        let Some(row) = self.grid.row else { return Vec::new() };
        let field = self.findings_here(row).into_iter().find_map(|here| match here {
            Here::Row(finding) if finding.rule == rule => finding.field,
            _ => None,
        });
        field.map(|field| self.decide_lines(row, rule, field, text)).unwrap_or_default()
    }

    fn decide_lines(&self, row: RowId, rule: Rule, field: Field, text: &str) -> Vec<(Line, Choice)> {
        let value = self.session.cell(row, field).unwrap_or_default().into_owned();
        let signs = &self.theme.signs;
        let charset = self.theme.charset;
        // The value as it is stands in the table too; where it is narrow, what it becomes has the room.
        let before = if self.size.0 >= 100 { format!("  {}", charset.elide(&value, 40)) } else { String::new() };
        let line = |decision: Decision| {
            let after = decision.apply(&value)?;
            let words = Words::text(charset.fit(&decision.label(), 34))
                .and(Role::Dim, format!("{before} {} ", signs.arrow))
                .and(Role::Changed, after.unwrap_or_else(|| signs.absent.to_owned()));
            Some(entry(words, Words::new(), Choice::Decide(rule, decision)))
        };
        if !text.trim().is_empty() {
            let found = typed(rule, text).and_then(line);
            let what = takes_text(rule).unwrap_or_default();
            let wrong = || (Words::new().and(Role::Error, format!("expected {what}")).into(), Choice::Read);
            return vec![found.unwrap_or_else(wrong)];
        }
        let zone = self.session.view().clock.offset / 60;
        let today = self.session.view().clock.today();
        let hints = Hints { zone, origin: self.session.origin(), today: Some(&today) };
        let mut lines: Vec<(Line, Choice)> = decisions(rule, &value, hints).into_iter().filter_map(line).collect();
        if let Some(what) = takes_text(rule) {
            lines.push((Words::dim(format!("or type {what}")).into(), Choice::Read));
        }
        lines.push(entry(Words::text("edit this one"), Words::new(), Choice::Cell(field)));
        lines
    }

    /// Puts the findings of a rule right, on the rows that the key was pressed for.
    pub(super) fn decide(&mut self, rule: Rule, decision: Decision) {
        let rows = self.targets(None);
        self.change(Change::Decide { rows, rule, decision });
    }
}
