//! Explanations of a rule, a value, or all findings of a row, a file or an index entry.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::items::{self, Item, blank, entry};
use super::super::modes::list::{List, ListKind};
use super::super::operations::describe::{message_of, namespace_of, ruling, target_name};
use super::super::operations::row_findings::{can_fix, decisions_of, findings_at};
use super::super::state::Shared;
use super::super::state::request::Choice;
use crate::check::decision::{Decision, choices};
use crate::check::rule::Rule;
use crate::check::{Finding, FindingTarget};
use crate::document::rows::RowId;
use crate::protocol::verdict::{Authority, Verdict, Verdicts, namespace_verdicts};
use crate::session::explain::{explain, fix_words, severities, verdicts};
use crate::session::findings::non_row;
use crate::tui::command::Action;
use crate::tui::theme::Role;
use crate::tui::words::Words;
use crate::words::{counted, grouped};

/// The explanation of a rule.
pub(in crate::tui::app) fn rule_list(shared: &Shared, rule: Rule) -> Box<List> {
    let width = usize::from(shared.size.0).saturating_sub(10).clamp(20, 100);
    let title = Words::new().and(Role::Accent, rule.code()).and(Role::Dim, format!("   {}", rule.summary()));
    let mut lines = vec![items::text(title)];
    for line in Words::text(rule.help()).wrapped(shared.theme.charset, width, 0) {
        lines.push(items::text(Words::text("  ").joined(line)));
    }
    for (profile, severity) in severities(rule) {
        let words = Words::dim(format!("  {:12} ", profile.name()));
        let words = match severity {
            Some(severity) => words.and(severity.into(), severity.name()),
            None => words.and(Role::Dim, "not checked"),
        };
        let words = if profile == shared.session.view().profile() {
            words.and(Role::Accent, "   current profile")
        } else {
            words
        };
        lines.push(items::text(words));
    }
    let reason = Words::dim(format!("{:12} {}", "reason", rule.reason()));
    for line in reason.wrapped(shared.theme.charset, width, 13) {
        lines.push(items::text(Words::text("  ").joined(line)));
    }
    lines.push(items::text(Words::dim(format!("  {:12} {}", "fix", fix_words(rule.fix())))));
    for answer in choices(rule) {
        let line = format!("  {:12} {:12} {}", "answer", answer.word, answer.about);
        lines.push(items::text(Words::dim(line)));
    }
    lines.push(items::text(Words::dim(format!("  {:12} {}", "source", rule.source()))));
    List::new(ListKind::Explain, lines)
}

/// The validation of a text as each kind of value that it may be; `None` if it resembles none.
pub(in crate::tui::app) fn value_list(shared: &Shared, text: &str) -> Option<Box<List>> {
    let found = explain(text, shared.session.view().clock);
    let width = usize::from(shared.size.0).saturating_sub(10).clamp(20, 100);
    let mut lines: Vec<Item> = Vec::new();
    for one in &found {
        if !lines.is_empty() {
            lines.push(blank());
        }
        let title = Words::new().and(Role::Accent, text.to_owned()).and(Role::Dim, format!("   as {}", one.kind));
        lines.push(items::text(title));
        if let Some(verdicts) = &one.verdicts {
            lines.extend(verdict_table(shared, verdicts));
        }
        for finding in &one.findings {
            let sign = shared.theme.finding_sign(finding.severity);
            let words = Words::new()
                .and(finding.severity.into(), format!("{sign} "))
                .and(Role::Text, finding.message.clone())
                .and(Role::Dim, format!("   {}", finding.rule.code()));
            for line in words.wrapped(shared.theme.charset, width, 2) {
                lines.push(items::text(Words::text("  ").joined(line)));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    Some(List::new(ListKind::Explain, lines))
}

/// Explains the findings of the current row.
pub(in crate::tui::app) fn open_explain(app: &mut App) {
    let Some(row) = app.shared.grid.row else { return };
    if app.shared.waits_for_entry(row, Action::Explain) {
        return;
    }
    match row_list(&app.shared, row) {
        Some(list) => app.open(Mode::List(list)),
        None => app.shared.show_note("no findings in this row"),
    }
}

/// The explained findings of a row; `None` if there are none.
fn row_list(shared: &Shared, row: RowId) -> Option<Box<List>> {
    let here = findings_at(shared, row);
    match here.as_slice() {
        [] => return None,
        [finding] if !finding.target.is_of_row() => return Some(files_list(shared, finding.rule)),
        _ => {}
    }
    let mut lines = Vec::new();
    let width = usize::from(shared.size.0).saturating_sub(10).clamp(20, 100);
    let charset = shared.theme.charset;
    for finding in &here {
        if !lines.is_empty() {
            lines.push(blank());
        }
        let Finding { rule, severity, message, fix, .. } = finding;
        let (rule, severity) = (*rule, *severity);
        let sign = shared.theme.finding_sign(severity);
        let mut title = Words::new()
            .and(severity.into(), format!("{sign} {}", rule.code()))
            .and(Role::Dim, format!("   {}", severity.name()));
        let is_of_row = finding.target.is_of_row();
        let choice = if is_of_row {
            Choice::RowFinding(rule)
        } else {
            title.push(Role::Dim, format!("   {}", target_name(shared, finding.target)));
            Choice::NonRowFinding(finding.target, rule)
        };
        let right = if can_fix(shared, row, finding) { Words::new().and(Role::Key, "x") } else { Words::new() };
        lines.push(entry(title, right, choice));
        let mut say = |role: Role, text: String| {
            for line in Words::new().and(role, text).wrapped(charset, width, 0) {
                lines.push(items::text(Words::text("  ").joined(line)));
            }
        };
        say(Role::Text, message.clone());
        if rule.help() != message {
            say(Role::Dim, rule.help().to_owned());
        }
        say(Role::Dim, format!("{}: {}", severity.name(), rule.reason()));
        let ways = if is_of_row { decisions_of(shared, row, finding) } else { Vec::new() };
        if ways.len() > 1 {
            let ways: Vec<String> = ways.iter().map(Decision::label).collect();
            say(Role::Good, format!("x asks: {}", ways.join(", ")));
        } else if let Some(fix) = fix {
            say(Role::Good, format!("x: {}", fix.label));
        }
        if !is_of_row {
            let uri = namespace_of(shared, finding);
            lines.extend(uri.iter().flat_map(|uri| verdict_table(shared, &namespace_verdicts(uri))));
        } else if let Some(field) = finding.field() {
            let text = shared.large.cell(&shared.session, row, field);
            let verdicts = text.and_then(|text| verdicts(field, &text));
            lines.extend(verdicts.iter().flat_map(|verdicts| verdict_table(shared, verdicts)));
        }
        lines.push(items::text(Words::dim(format!("  source: {}", rule.source()))));
    }
    for (rule, count) in shared.large.entry(&shared.session, row).iter().flat_map(|entry| &entry.more) {
        let words = format!("{}: {} more in this row", rule.code(), grouped(*count as u64));
        lines.extend([blank(), items::text(Words::dim(words))]);
    }
    Some(List::new(ListKind::Explain, lines))
}

/// The files and index entries that violate a rule, with the reasons.
pub(in crate::tui::app) fn files_list(shared: &Shared, rule: Rule) -> Box<List> {
    let width = usize::from(shared.size.0).saturating_sub(10).clamp(20, 100);
    let charset = shared.theme.charset;
    let mut lines: Vec<Item> = Vec::new();
    let mut tables: Vec<Item> = Vec::new();
    // Fixable findings come first and can be chosen.
    let (found, count) = non_row::first(&shared.session, 200, |finding| finding.rule() == rule, |_| ());
    for finding in &found {
        // One fix applies to all entries of the index.
        let target = if finding.target.is_of_index() { FindingTarget::Index(None) } else { finding.target };
        let is_listed = lines.iter().any(|(_, choice)| *choice == Choice::FixNonRow(target, rule));
        if let Some(fix) = finding.fix.as_ref().filter(|_| !is_listed) {
            let words = Words::new().and(Role::Good, fix.label.to_string());
            let name = target_name(shared, finding.target);
            let name = charset.elide(&name, width.saturating_sub(charset.width(&fix.label) + 2));
            let words = words.and(Role::Dim, format!("  {name}"));
            lines.push(entry(words, Words::new().and(Role::Key, "x"), Choice::FixNonRow(target, rule)));
        }
    }
    let mut say = |words: Words| {
        lines.extend(words.wrapped(charset, width, 2).into_iter().map(items::text));
    };
    for finding in &found {
        let sign = shared.theme.finding_sign(finding.severity);
        let target = target_name(shared, finding.target);
        say(Words::new().and(finding.severity.into(), format!("{sign} ")).and(Role::Text, target));
        say(Words::dim(format!("  {}", message_of(shared, finding))));
        if let Some(uri) = namespace_of(shared, finding) {
            tables.extend(verdict_table(shared, &namespace_verdicts(&uri)));
        }
    }
    tables.truncate(Authority::ALL.len());
    lines.extend(tables);
    let mut say = |words: Words| {
        lines.extend(words.wrapped(charset, width, 2).into_iter().map(items::text));
    };
    say(Words::new());
    say(Words::dim(rule.help()));
    say(Words::dim(rule.reason()));
    say(Words::dim(format!("source: {}", rule.source())));
    let all = shared.session.counts().by_rule().into_iter().find(|(own, _)| *own == rule).map_or(0, |(_, all)| all);
    if all > count as u64 {
        let words = Words::text(format!("show the {} with it too", counted(all - count as u64, "row")));
        lines.insert(0, entry(words, Words::new(), Choice::Rows(rule)));
    }
    List::new(ListKind::Explain, lines)
}

/// The verdicts in a table, with the reasons.
fn verdict_table(shared: &Shared, verdicts: &Verdicts) -> Vec<Item> {
    let line = |verdict: &Verdict| {
        let (role, sign) = ruling(shared, verdict.ruling);
        let words = Words::dim(format!("  {:10}", verdict.authority.name()))
            .and(role, format!("{sign} {:13}", verdict.ruling.name()))
            .and(Role::Dim, verdict.why);
        items::text(words)
    };
    verdicts.iter().map(line).collect()
}
