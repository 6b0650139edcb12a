//! The fix keys: on a row, and in a list of findings.
//!
//! Invariant: it does what the screen says beside its sign, and nothing that the screen does not show.

use super::list::{Choice, List};
use super::{App, Mode, Purpose, large};
use crate::check::rule::{FixKind, Rule, RuleSet};
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Severity;
use crate::session::change::Change;
use crate::session::explain::fix_words;
use crate::session::file_findings::WholeFinding;
use crate::session::findings::{FileFinding, Finding, FindingTarget};
use crate::tui::command::Action;

/// A finding where the cursor is.
#[derive(Debug, Clone)]
pub enum Here {
    /// Of the row.
    Row(Finding),
    /// Of its file, or of the set.
    Whole(FileFinding),
}

impl Here {
    /// How bad.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Row(finding) => finding.severity,
            Self::Whole(finding) => finding.severity,
        }
    }
}

impl App {
    /// Does what is offered first beside the row: of its own findings and those of its file and the set, worst first.
    pub(super) fn fix(&mut self, rows: RowSet) {
        let Some(row) = self.grid.row else { return };
        if large::waits(self, row, Action::Fix) {
            return;
        }
        let found = self.findings_here(row);
        let is_sound = found.is_empty();
        let Some(first) = found.into_iter().find(|here| self.has_way(row, here)) else {
            let has_safe = self.session.rule_counts().iter().any(|(rule, _)| rule.fix() == FixKind::Safe);
            let words = match (is_sound, has_safe) {
                (true, true) if self.session.has_bad_rows() => {
                    "nothing is wrong with this row: } goes to the next, gX fixes all safe"
                }
                (true, true) => "nothing is wrong with this row: ^E lists what is, gX fixes all safe",
                (true, false) if self.session.has_bad_rows() => {
                    "nothing is wrong with this row: } goes to the next finding"
                }
                (true, false) if self.session.can_fix_whole() => {
                    "nothing is wrong with this row; ^E lists what is wrong with files and the set"
                }
                (true, false) => "nothing is wrong with this row",
                (false, true) => "no fix for this: K explains it; gX fixes all that is safe",
                (false, false) => "no fix for this; K explains it",
            };
            return self.say(words);
        };
        self.fix_here(row, rows, first);
    }

    /// Shows what the fix of a rule that the current row breaks would do; Enter does it.
    pub(super) fn preview_rule(&mut self, rule: Rule) {
        let Some(row) = self.grid.row else { return };
        let found = self.findings_here(row).into_iter().find_map(|here| match here {
            Here::Row(finding) if finding.rule == rule => Some(finding),
            _ => None,
        });
        match found {
            Some(finding) if self.needs_decision(row, &finding) => self.open_decide(row, &finding),
            Some(finding) if finding.fix.is_some() => {
                self.open_line(Purpose::Command, &format!("fix {}", rule.code()));
            }
            _ => self.open_rule(rule),
        }
    }

    fn fix_here(&mut self, row: RowId, rows: RowSet, here: Here) {
        match here {
            Here::Whole(finding) => self.fix_whole(finding.place, finding.rule),
            Here::Row(finding) if self.needs_decision(row, &finding) => self.open_decide(row, &finding),
            Here::Row(finding) => self.change(Change::Fix { rows, rules: RuleSet::of(&[finding.rule]) }),
        }
    }

    /// What is wrong where a row is, as the pane lists it: with the row, and, beyond notes, with its file and the set.
    pub(in crate::tui) fn findings_here(&self, row: RowId) -> Vec<Here> {
        let own = if large::is_large(&self.session, row) {
            large::entry(self, row).map(|entry| entry.findings.clone()).unwrap_or_default()
        } else {
            self.session.view().findings(row)
        };
        let mut here: Vec<Here> = own.into_iter().map(Here::Row).collect();
        let mut whole = self.session.whole_findings_of(row);
        whole.retain(|finding| finding.severity > Severity::Note);
        whole.sort_by_key(|finding| std::cmp::Reverse((finding.severity, finding.fix.is_some())));
        here.extend(whole.into_iter().map(Here::Whole));
        here.sort_by_key(|here| std::cmp::Reverse(here.severity()));
        here
    }

    /// Whether the key for a fix does something about a finding.
    pub(in crate::tui) fn has_way(&self, row: RowId, here: &Here) -> bool {
        match here {
            Here::Row(finding) => finding.fix.is_some() || self.needs_decision(row, finding),
            Here::Whole(finding) => finding.fix.is_some(),
        }
    }

    /// Puts right what is worst where there are no rows. False if nothing can be.
    pub(super) fn fix_without_row(&mut self) -> bool {
        // The one beside which the pane shows the key.
        let rank = |finding: &WholeFinding<'_>| std::cmp::Reverse(finding.severity);
        let (found, _) = self.session.first_whole_findings(1, |finding| finding.is_fixable, rank);
        let worst = found.first().map(|finding| (finding.place, finding.rule));
        if let Some((place, rule)) = worst {
            self.fix_whole(place, rule);
        }
        worst.is_some()
    }

    /// Puts a finding right that no row carries; where that needs a name or a URL, the command that does it waits to be
    /// confirmed.
    pub(super) fn fix_whole(&mut self, place: FindingTarget, rule: Rule) {
        if rule == Rule::MERGE_CONFLICT && self.session.has_conflicts() {
            return self.ask_side();
        }
        match place.member().and_then(|file| self.session.view().question(file, rule)) {
            Some(line) => self.open_line(Purpose::Command, &line),
            None => self.change(self.session.fix_of_whole(place, rule)),
        }
    }

    /// Fixes what is chosen in a list that shows what its fixes do.
    pub(super) fn fix_chosen(&mut self, list: Box<List>) {
        match list.lines.get(list.chosen).map(|(_, choice)| choice.clone()) {
            Some(Choice::Found(place, rule)) if self.is_fixable(place, rule) => {
                return self.preview_whole(place, rule, list.under_rules);
            }
            Some(Choice::FixWhole(place, rule)) => self.fix_whole(place, rule),
            Some(Choice::OfRow(rule)) if rule.fix() != FixKind::None => return self.preview_rule(rule),
            Some(Choice::OfRow(rule) | Choice::Found(_, rule)) => {
                self.mode = Mode::List(list);
                return self.fail(format!("no fix for {}: {}", rule.code(), fix_words(rule.fix())));
            }
            _ => {
                self.mode = Mode::List(list);
                return self.fail("no fix for this line; choose a finding");
            }
        }
        if let (Some(after), Mode::Grid) = (list.under_rules, &self.mode) {
            self.return_to_rules(after);
        }
    }

    fn is_fixable(&self, place: FindingTarget, rule: Rule) -> bool {
        let is_it = |finding: WholeFinding<'_>| finding.place == place && finding.rule == rule && finding.is_fixable;
        self.session.each_whole_finding().any(is_it)
    }
}
