//! Shows the status pane: findings of the current row, its file and the set.

use super::super::app::operations::describe::{message_of, short_target_name, verdict_words};
use super::super::app::operations::row_findings::{can_fix, findings_at, needs_decision};
use super::super::app::state::{Shared, large};
use super::super::draw::panel::Panel;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::gauges::counts_and_gauges;
use super::lines::{GAP, wrapped_lines};
use crate::check::Finding;
use crate::check::rule::{FixKind, Rule};
use crate::document::rows::RowId;
use crate::protocol::{Field, Severity};
use crate::session::explain::verdicts;
use crate::session::findings::non_row;
use crate::session::findings::non_row::FindingRef;
use crate::session::store::journal;
use crate::words::{counted, grouped, size};

/// Returns the status pane: finding counts and gauges as title, then the findings of the row, then those by rule.
pub(super) fn status_pane(shared: &Shared) -> Panel {
    let title = counts_and_gauges(shared);
    let height = usize::from(shared.areas().pane.height);
    let mut lines = Vec::with_capacity(height);
    // Possible data loss is reported before findings.
    if let Some(not_kept) = journal::unprotected_reason(&shared.session) {
        let sign = format!("{} ", shared.theme.signs.error);
        lines.extend(wrapped_lines(shared, &Words::new().and(Role::Error, sign).and(Role::Text, not_kept)));
    }
    if !shared.probing.progress.is_empty() {
        let words = shared.theme.charset.cut(&shared.probing.progress, usize::from(shared.size.0).saturating_sub(5));
        lines.push(Words::new().and(Role::Accent, words.into_owned()).into());
    }
    let warned = lines.len().min(height);
    // The heights of both parts depend on the height of the pane alone, so that they do not move with the cursor.
    let rules = (height - warned).div_ceil(3).min(height - warned);
    let room = height - rules - warned;
    if room > 0 {
        match shared.grid.row {
            Some(row) => lines.extend(row_lines(shared, row, room)),
            None => lines.extend(file_lines(shared, room)),
        }
    }
    lines.truncate(height - rules);
    lines.resize(height - rules, Line::default());
    lines.extend(rules_lines(shared, rules));
    Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }
}

/// Returns the findings of a row and of its file, most severe first. The whole URL precedes them if there is a line for
/// it.
fn row_lines(shared: &Shared, row: RowId, most: usize) -> Vec<Line> {
    let is_read = !large::is_large(&shared.session, row) || shared.large.entry(&shared.session, row).is_some();
    let here = findings_at(shared, row);
    // The key is shown beside the finding that it fixes: the first one that can be fixed.
    let first = here.iter().position(|finding| can_fix(shared, row, finding));
    let found = (0..).zip(&here).map(|(at, finding)| {
        let key = if Some(at) == first { "gx" } else { "" };
        if finding.target.is_of_row() {
            row_finding_line(shared, row, finding, key)
        } else {
            file_finding_line(shared, finding, key)
        }
    });
    let mut lines: Vec<Line> = Vec::new();
    if here.is_empty() || most > here.len() {
        let loc = shared.large.cell(&shared.session, row, Field::Loc).unwrap_or_default().into_owned();
        lines.push(Words::dim(loc).into());
    }
    let shown = most.saturating_sub(lines.len());
    let unlisted =
        shared.large.entry(&shared.session, row).map_or(0, |entry| entry.more.iter().map(|(_, count)| count).sum());
    let more = here.len().saturating_sub(shown) + unlisted;
    lines.extend(fitted(shared, found.take(shown).collect(), shown));
    if more > 0
        && let Some(last) = lines.last_mut()
    {
        last.right = Words::dim(format!("{} more", grouped(more as u64)));
        last.right.key("K", "all");
    }
    if !is_read && lines.len() < most {
        let entry = size(large::size(&shared.session, row) as u64);
        lines.push(Words::dim(format!("checking the entry, {entry}…")).into());
    } else if lines.len() == 1 && lines.len() < most && more == 0 {
        let document = shared.session.document();
        let good = match (document.is_live(row), document.lists_sitemaps()) {
            (false, _) => "deleted; dd brings it back",
            (true, false) => "no findings in this row",
            (true, true) => "no findings in this entry",
        };
        let mut line: Line =
            Words::new().and(Role::Good, format!("{} ", shared.theme.signs.good)).and(Role::Dim, good).into();
        if shared.session.counts().has_bad_rows() {
            line.right.key("}", "next finding");
        }
        lines.push(line);
    }
    lines
}

/// Returns the findings of files, the index and the set, for a view without rows.
fn file_lines(shared: &Shared, most: usize) -> Vec<Line> {
    let is_relevant = |finding: &FindingRef<'_>| finding.severity() > Severity::Note || finding.is_fixable();
    let rank = |finding: &FindingRef<'_>| std::cmp::Reverse((finding.severity(), finding.is_fixable()));
    let (found, _) = non_row::first(&shared.session, most, is_relevant, rank);
    let first = found.iter().position(|finding| finding.fix.is_some());
    let key = |at: usize| if Some(at) == first { "gx" } else { "" };
    fitted(shared, (0..).zip(&found).map(|(at, finding)| file_finding_line(shared, finding, key(at))).collect(), most)
}

fn file_finding_line(shared: &Shared, finding: &Finding, key: &'static str) -> FindingLine {
    let mut right = Words::new();
    if let Some(fix) = &finding.fix {
        push_fix(&mut right, key, &fix.label);
    }
    let message = message_of(shared, finding);
    let charset = shared.theme.charset;
    // 13 columns for the sign, the gaps and the margins.
    let others = charset.width(message) + right.width(charset) + 13;
    let target = short_target_name(shared, finding.target, others);
    FindingLine { severity: finding.severity, target, message: message.to_owned(), rule: finding.rule, right }
}

fn row_finding_line(shared: &Shared, row: RowId, finding: &Finding, key: &'static str) -> FindingLine {
    let mut right = Words::new();
    if needs_decision(shared, row, finding) {
        push_fix(&mut right, key, "asks for a decision");
    } else if let Some(fix) = &finding.fix {
        push_fix(&mut right, key, &fix.label);
    } else if let Some(field) = finding.field()
        && let Some(text) = shared.large.cell(&shared.session, row, field)
        && let Some(verdicts) = verdicts(field, &text)
    {
        right = verdict_words(shared, &verdicts);
    }
    let message = finding.message.clone();
    FindingLine { severity: finding.severity, target: String::new(), message, rule: finding.rule, right }
}

/// The parts of a finding's line.
struct FindingLine {
    severity: Severity,
    /// The target of the finding; empty for the row.
    target: String,
    message: String,
    rule: Rule,
    /// The fix, or the verdict of an engine.
    right: Words,
}

/// Returns the lines of findings. Messages that are too wide are wrapped as long as lines are left below the findings.
fn fitted(shared: &Shared, findings: Vec<FindingLine>, max_lines: usize) -> Vec<Line> {
    let mut spare = max_lines.saturating_sub(findings.len());
    let mut lines = Vec::with_capacity(max_lines);
    for finding in findings {
        let wrapped = finding_lines(shared, finding, 1 + spare);
        spare = (spare + 1).saturating_sub(wrapped.len());
        lines.extend(wrapped);
    }
    lines
}

/// Returns the lines of one finding: sign, target, message, and its code if there is room. The fix at the right is
/// always shown: a message that does not fit in one line is wrapped, or cut if `max_lines` is 1.
fn finding_lines(shared: &Shared, finding: FindingLine, max_lines: usize) -> Vec<Line> {
    let FindingLine { severity, target, message, rule, right } = finding;
    let charset = shared.theme.charset;
    let sign = shared.theme.finding_sign(severity);
    let target = if target.is_empty() { target } else { format!("{target}  ") };
    let mut left = Words::new().and(severity.into(), format!("{sign} ")).and(Role::Dim, target);
    let code = format!("{GAP}{}", rule.code());
    let can_be_done = matches!(right.pieces().first(), Some((Role::Key, _)));
    let room = usize::from(shared.size.0).saturating_sub(7 + right.width(charset) + left.width(charset));
    let width = charset.width(&message);
    if width > room && max_lines > 1 {
        let words = left.and(Role::Text, message);
        let wrap = |width: usize| words.wrapped_in(charset, width.max(20), 2, max_lines);
        let pane = usize::from(shared.size.0).saturating_sub(5);
        let beside = pane.saturating_sub(right.width(charset) + 2);
        let mut lines = wrap(pane);
        if lines.last().is_some_and(|last| last.width(charset) > beside) {
            if lines.len() < max_lines {
                lines.push(Words::new());
            } else if can_be_done {
                lines = wrap(beside);
            }
        }
        let mut lines: Vec<Line> = lines.into_iter().map(Line::from).collect();
        if let Some(last) = lines.last_mut() {
            last.right = right;
        }
        return lines;
    }
    if can_be_done && width + charset.width(&code) > room {
        left.push(Role::Text, charset.cut(&message, room.max(20)).into_owned());
    } else {
        left.push(Role::Text, message);
        left.push(Role::Dim, code);
    }
    vec![Line::new(left, right)]
}

/// Returns the findings by rule, as many rules as fit in `max_lines` lines.
fn rules_lines(shared: &Shared, max_lines: usize) -> Vec<Line> {
    let charset = shared.theme.charset;
    let width = usize::from(shared.size.0).saturating_sub(5);
    let mut right = Words::new();
    let counts = shared.session.counts().by_rule();
    if shared.size.0 >= 60 && counts.iter().any(|(rule, _)| rule.fix() == FixKind::Safe) {
        right.key("gX", if shared.size.0 >= 100 { "applies all safe fixes" } else { "fixes all safe" });
    }
    // The total: not all rules may fit here.
    let rules = counted(counts.len() as u64, "rule");
    let has_fixes = shared.size.0 >= 60 && non_row::is_any_fixable(&shared.session);
    right.key("^E", if has_fixes { format!("{rules}, fixes") } else { rules });
    let reserved = right.width(charset) + 2;
    let (mut lines, mut words) = (Vec::new(), Words::new());
    for (rule, count) in &counts {
        let Some(severity) = rule.severity_in(shared.session.view().profile()) else { continue };
        let role = if severity == Severity::Note { Role::Dim } else { severity.into() };
        let one = Words::new()
            .and(role, format!("{} {} ", shared.theme.finding_sign(severity), grouped(*count)))
            .and(Role::Dim, rule.code());
        let last = lines.len() + 1 == max_lines;
        let room = if last { width.saturating_sub(reserved) } else { width };
        if !words.is_empty() && words.width(charset) + one.width(charset) + GAP.len() > room {
            if last {
                break;
            }
            lines.push(Line::from(std::mem::take(&mut words)));
        }
        if !words.is_empty() {
            words.push(Role::Text, GAP);
        }
        words.append(one);
    }
    if counts.is_empty() && shared.session.document().lists_sitemaps() {
        let words = "None of these sitemaps is in this folder, so only the entries of the index are checked.";
        return vec![Words::dim(words).into()];
    }
    if counts.is_empty() && !shared.session.is_loading() {
        return vec![Words::dim("no findings in the set").into()];
    }
    // The keys get a separate line if there is one.
    let is_full = words.width(charset) + reserved > width;
    lines.push(words.into());
    if is_full && lines.len() < max_lines {
        lines.push(Line::default());
    }
    if !counts.is_empty()
        && let Some(last) = lines.last_mut()
    {
        last.right = right;
    }
    lines
}

/// Appends the label of a fix, after its key if it has one now.
fn push_fix(right: &mut Words, key: &'static str, label: &str) {
    if key.is_empty() {
        right.push(Role::Dim, label.to_owned());
    } else {
        right.push(Role::Key, key);
        right.push(Role::Text, format!(" {label}"));
    }
}
