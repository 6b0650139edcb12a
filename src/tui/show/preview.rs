//! Shows the preview of a change (its scope, the first rows before and after), the bulk dialog and the element form.

use super::super::app::modes::bulk::{Bulk, Reach};
use super::super::app::modes::element::{ElementEdit, ElementValue};
use super::super::app::state::Shared;
use super::super::app::state::preview::Preview;
use super::super::draw::panel::Panel;
use super::super::text;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::lines::{GAP, severity_lines, without_origin};
use crate::check::rule::Rule;
use crate::document::edit::Edit;
use crate::protocol::{Field, Severity};
use crate::session::edit::{Intent, PreviewPart, Sample};
use crate::words::{counted, grouped};

/// Number of columns for the old value of a row.
const BEFORE_WIDTH: usize = 12;

/// Returns the panel of a preview: scope and effects in words, then rows before and after, from row `top` on.
pub(super) fn preview_panel(shared: &Shared, preview: &Preview, top: usize, height: usize) -> Panel {
    let mut title = Words::new();
    let mut lines = Vec::new();
    match &preview.intent {
        None if preview.words.is_empty() => title.push(Role::Dim, "Enter applies it"),
        None => title.push(Role::Text, preview.words.clone()),
        Some(Err(refused)) => lines.extend(severity_lines(shared, Severity::Error, refused.to_string())),
        Some(Ok(intent)) => {
            title = intent_words(preview, intent);
            let height = height.max(1);
            if let Some(words) = intent.urls.errors.message("URL", " with errors") {
                lines.extend(severity_lines(shared, Severity::Error, words));
            }
            if let Some(words) = intent.urls.duplicates.message("duplicate URL", "") {
                lines.extend(severity_lines(shared, Severity::Warning, words));
            }
            if let Some(words) = intent.skipped_message() {
                lines.extend(severity_lines(shared, Severity::Warning, words));
            }
            let profile = shared.session.view().profile();
            if let Some(left) = intent.increase_message(profile) {
                let worst = intent.increased.iter().filter_map(|(rule, _)| rule.severity_in(profile)).max();
                lines.extend(severity_lines(shared, worst.unwrap_or(Severity::Note), left));
            }
            let mut wrong: Vec<Line> = Vec::new();
            for finding in intent.breaks.iter().take(3) {
                wrong.extend(severity_lines(
                    shared,
                    finding.severity,
                    format!("{}{GAP}{}", finding.message, finding.rule.code()),
                ));
            }
            let rows: Vec<&[Sample]> = intent.samples.chunk_by(|one, next| one.row == next.row).collect();
            // Half of the lines are for rules, or more if there are fewer rows.
            let free = height.saturating_sub(lines.len() + wrong.len());
            let max_rules = (free.saturating_sub(1) / 2).max(free.saturating_sub(rows.len()));
            lines.extend(rule_lines(shared, &preview.rules, max_rules));
            let visible = height.saturating_sub(lines.len() + wrong.len()).max(1);
            let top = top.min(rows.len().saturating_sub(visible));
            let shown_rows = rows.get(top..(top + visible).min(rows.len())).unwrap_or_default();
            let room = loc_width(shared, shown_rows);
            lines.extend(shown_rows.iter().map(|samples| sample_line(shared, samples, room)));
            let shown = (top + visible).min(rows.len()) as u64;
            if let Some(last) = lines.last_mut()
                && shown < intent.changes
            {
                last.right = Words::dim(format!("{} more", grouped(intent.changes - shown)));
                if rows.len() > visible {
                    last.right.key("↓", "walk");
                }
            }
            if matches!(intent.edit, Some(Edit::Rename { .. })) {
                // A rename changes no row.
                lines.push(Words::text(intent.label.to_string()).into());
            }
            lines.extend(wrong);
        }
    }
    Panel { title: title.into(), lines, chosen: None, top: 0, foot: Vec::new() }
}

/// Returns the rules of a fix, with the number of rows of each, in at most `max_lines` lines.
fn rule_lines(shared: &Shared, rules: &[(Rule, u64)], max_lines: usize) -> Vec<Line> {
    let profile = shared.session.view().profile();
    let shown = if rules.len() > max_lines { max_lines.saturating_sub(1) } else { rules.len() };
    let mut lines: Vec<Line> = rules
        .iter()
        .take(shown)
        .map(|(rule, count)| {
            let severity = rule.severity_in(profile).unwrap_or(Severity::Note);
            let sign = shared.theme.finding_sign(severity);
            let count = counted(*count, "row");
            Words::new()
                .and(severity.into(), format!("{sign} {count:>12}  "))
                .and(Role::Text, format!("{:28}", rule.code()))
                .and(Role::Dim, format!("  {}", rule.summary()))
                .into()
        })
        .collect();
    if let Some(rest) = rules.get(shown..).filter(|rest| !rest.is_empty() && max_lines > 0) {
        let words = format!("  … {}", counted(rest.len() as u64, "more rule"));
        lines.push(Words::dim(words).into());
    }
    lines
}

/// Number of columns for the URLs of a preview; the same for all rows, so that their values are aligned.
fn loc_width(shared: &Shared, rows: &[&[Sample]]) -> usize {
    let charset = shared.theme.charset;
    let after = |samples: &&[Sample]| match samples {
        [sample] => sample.after.as_ref().map_or(1, |after| charset.width_within(after, 40)),
        _ => 0,
    };
    let after = rows.iter().map(after).max().unwrap_or(0);
    usize::from(shared.size.0).saturating_sub(8 + BEFORE_WIDTH + 5 + after).clamp(16, 80)
}

/// Returns the line of a row: its URL, and each changed field before and after.
fn sample_line(shared: &Shared, samples: &[Sample], room: usize) -> Line {
    let [sample] = samples else { return samples_line(shared, samples) };
    let charset = shared.theme.charset;
    let width = usize::from(shared.size.0).saturating_sub(8);
    let (arrow, absent) = (shared.theme.signs.arrow, shared.theme.signs.absent);
    let of = |value: &Option<String>| value.clone().unwrap_or_else(|| absent.to_owned());
    if sample.part == PreviewPart::Field(Field::Loc) {
        let half = width.saturating_sub(4) / 2;
        let before = charset.fit_path(&without_origin(shared, &of(&sample.before)), half);
        let after = without_origin(shared, &of(&sample.after));
        let words = Words::dim(before).and(Role::Dim, format!(" {arrow} "));
        return words.and(Role::Changed, charset.elide(&after, half).into_owned()).into();
    }
    let loc = without_origin(shared, &shared.session.document().loc(sample.row));
    Words::text(charset.fit_path(&loc, room))
        .and(Role::Dim, format!("  {} ", charset.fit_right(&of(&sample.before), BEFORE_WIDTH)))
        .and(Role::Dim, format!("{arrow} "))
        .and(Role::Changed, of(&sample.after))
        .into()
}

/// Returns the line of a row with several changed fields, each with its name.
fn samples_line(shared: &Shared, samples: &[Sample]) -> Line {
    let (arrow, absent) = (shared.theme.signs.arrow, shared.theme.signs.absent);
    let of = |value: &Option<String>| value.clone().unwrap_or_else(|| absent.to_owned());
    let mut values = Words::new();
    for sample in samples {
        values.push(Role::Dim, format!("{GAP}{} {} {arrow} ", sample.part.name(), of(&sample.before)));
        values.push(Role::Changed, of(&sample.after));
    }
    let charset = shared.theme.charset;
    // The same width for all rows, so that their values are aligned.
    let room = usize::from(shared.size.0).saturating_sub(8 + 32 * samples.len()).clamp(12, 60);
    let loc = samples.first().map(|sample| shared.session.document().loc(sample.row)).unwrap_or_default();
    Words::text(charset.fit_path(&without_origin(shared, &loc), room)).joined(values).into()
}

/// Shows the preview of an element that is being edited, or help if there is none.
pub(super) fn element_pane(shared: &Shared, edit: &ElementEdit, height: usize) -> Panel {
    if let Some(preview) = &edit.preview {
        return preview_panel(shared, preview, 0, height);
    }
    let words = if edit.is_new { "add " } else { "edit " };
    let title = Words::dim(words).and(Role::Accent, edit.path.to_string());
    let required = edit.values.iter().filter(|value| value.is_required).count() as u64;
    let words = if edit.is_new && required > 0 {
        format!("{} needed; more can be added later with a", counted(required, "value"))
    } else {
        "an empty value is removed".to_owned()
    };
    Panel { title: title.into(), lines: vec![Words::dim(words).into()], chosen: None, top: 0, foot: Vec::new() }
}

/// Returns one line for each value of an element that is being edited, and the index of the current one.
pub(super) fn element_lines(shared: &Shared, edit: &ElementEdit, width: usize) -> (Vec<Line>, usize) {
    let charset = shared.theme.charset;
    let names = edit.values.iter().map(|value| charset.width(&value.name)).max().unwrap_or(0).min(width / 3);
    let line = |(at, value): (usize, &ElementValue)| {
        let is_typed = at == edit.at;
        let name = charset.fit(&value.name, names);
        let mut words = Words::text("  ").and(if is_typed { Role::Chosen } else { Role::Dim }, name);
        words.push(Role::Text, "  ");
        let window = value.prompt.window(charset, width.saturating_sub(names + 5).max(8));
        if is_typed {
            let (head, tail) = text::split(&window.text, window.caret);
            words.append(Words::text(head).and(Role::Accent, shared.theme.signs.caret).and(Role::Text, tail));
        } else {
            words.push(Role::Text, window.text);
        }
        if value.prompt.text().is_empty() {
            let choices = value.path.choices().join(" ");
            let hint = if choices.is_empty() && value.is_required { "required".to_owned() } else { choices };
            words.push(Role::Dim, hint);
        }
        Line::from(words)
    };
    (edit.values.iter().enumerate().map(line).collect(), edit.at)
}

pub(super) fn bulk_pane(shared: &Shared, bulk: &Bulk, height: usize) -> Panel {
    let mut fields = Words::dim("field  ");
    for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
        let role = if field == bulk.field { Role::Chosen } else { Role::Text };
        fields.push(role, format!(" {} ", field.name()));
        fields.push(Role::Text, " ");
    }
    let value = bulk.prompt.window(shared.theme.charset, 40);
    fields.push(Role::Dim, format!("{GAP}value  "));
    fields.push(Role::Text, value.text);
    fields.push(Role::Accent, shared.theme.signs.caret);
    let mut reach = Words::dim("rows   ");
    for one in &bulk.reaches {
        let text = match one {
            Reach::Marked => format!(" the {} marked ", grouped(shared.session.view().marked())),
            Reach::Shown => format!(" all {} shown ", grouped(u64::from(shared.session.view().shown()))),
            Reach::Row => " this row ".to_owned(),
        };
        reach.push(if *one == bulk.reach { Role::Chosen } else { Role::Text }, text);
        reach.push(Role::Text, " ");
    }
    let typed = match bulk.field {
        Field::Lastmod => "2026-11-03  today  now  +7d  -1d  none",
        Field::Changefreq => "always hourly daily weekly monthly yearly never  none",
        _ => "0.0 to 1.0  +0.1  -0.1  none",
    };
    let mut lines: Vec<Line> = vec![fields.into(), Line::new(reach, Words::dim(typed))];
    let mut title = Line::from(Words::new().and(Role::Accent, "set many"));
    match (&bulk.parsed, &bulk.preview) {
        (Some(Err(error)), _) => lines.extend(severity_lines(shared, Severity::Error, error.message.clone())),
        (_, Some(preview)) => {
            let panel = preview_panel(shared, preview, 0, height);
            title = panel.title;
            lines.extend(panel.lines);
        }
        _ => {}
    }
    title.right = Words::dim(format!(":{}", bulk.command()));
    Panel { title, lines, chosen: None, top: 0, foot: Vec::new() }
}

/// Describes a change: `set priority to 0.8 on 1,204 of 50,000 rows (filtered)   1,167 changes   37 have it already`.
fn intent_words(preview: &Preview, intent: &Intent) -> Words {
    let mut words = Words::text(preview.words.clone()).and(Role::Text, GAP);
    words.push(Role::Bold, counted(intent.changes, "change"));
    if intent.already > 0 {
        let [one, many] = preview.others;
        let others = if intent.already == 1 { one } else { many };
        words.push(Role::Dim, format!("{GAP}{} {others}", grouped(intent.already)));
    }
    words
}
