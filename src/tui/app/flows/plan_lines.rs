//! The lines of a save plan, for the save dialog and for `:plan`.

use super::super::modes::ask::Ask;
use super::super::state::Shared;
use super::super::state::request::Answer;
use crate::document::diff;
use crate::document::form::Form;
use crate::files::backup::When;
use crate::files::plan::FileId;
use crate::files::{Action, Output, Plan};
use crate::protocol::limits::{BYTES_PER_FILE, SITEMAPS_PER_INDEX, URLS_PER_FILE};
use crate::session::store::planning::Planned;
use crate::session::store::save;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use crate::words::{counted, grouped, size};

/// Maximum number of unchanged files whose limits a plan shows.
const MAX_UNTOUCHED: usize = 500;

/// Maximum number of lines of the index that a plan shows.
const MAX_INDEX_LINES: usize = 6;

/// A line for each written file, and one for all others.
pub(in crate::tui::app) fn plan_lines(shared: &Shared, planned: &Planned) -> Vec<Line> {
    let plan = &planned.plan;
    let touched: Vec<&Output> = plan.outputs.iter().filter(|output| output.action != Action::Untouched).collect();
    let charset = shared.theme.charset;
    let widest = touched.iter().map(|output| charset.width(&output.name)).max().unwrap_or(0).min(40);
    let mut lines: Vec<Line> = touched.iter().map(|output| output_line(shared, output, widest)).collect();
    lines.extend(plan.losses.iter().map(|loss| Words::new().and(Role::Warning, format!("  {loss}")).into()));
    lines.extend(index_lines(planned));
    let untouched = plan.count(Action::Untouched);
    if untouched > 0 {
        lines.push(Words::dim(format!("  {} unchanged", counted(untouched as u64, "file"))).into());
    }
    if !plan.is_empty() {
        let words = match save::backups(&shared.session) {
            When::Off => "  no backup will be made (:backup once makes one)",
            When::Once => "  a backup of the files as they were before this session will be made",
            When::Always => "  a backup will be made",
        };
        lines.push(Line::new(
            Words::dim(words),
            Words::dim(format!(":backup {}", save::backups(&shared.session).name())),
        ));
    }
    for file in &plan.repairs {
        let what = format!("{} was damaged; saving will write these repairs:", file.name);
        lines.push(Words::new().and(Role::Warning, what).into());
        lines.extend(file.what.iter().map(|what| Words::text(format!("  {what}")).into()));
    }
    lines
}

/// The unchanged files, each with its limits.
pub(in crate::tui::app) fn untouched_lines(shared: &Shared, plan: &Plan) -> Vec<Line> {
    let untouched = || plan.outputs.iter().filter(|output| output.action == Action::Untouched);
    let charset = shared.theme.charset;
    let shown = || untouched().take(MAX_UNTOUCHED);
    let widest = shown().map(|output| charset.width(&output.name)).max().unwrap_or(0).min(40);
    let mut lines: Vec<Line> = shown().map(|output| output_line(shared, output, widest)).collect();
    let more = untouched().count().saturating_sub(MAX_UNTOUCHED);
    if more > 0 {
        lines.push(Words::dim(format!("  … {} more", counted(more as u64, "file"))).into());
    }
    lines
}

fn output_line(shared: &Shared, output: &Output, widest: usize) -> Line {
    let (signs, charset) = (shared.theme.signs, shared.theme.charset);
    let (sign, role, what) = match output.action {
        Action::Untouched => (" ", Role::Dim, ""),
        Action::Rewritten => (signs.changed, Role::Changed, ""),
        Action::Created => (signs.added, Role::Good, "new"),
        Action::Replaced => (signs.changed, Role::Warning, "replaced"),
        Action::Removed => (signs.deleted, Role::Error, "removed"),
    };
    let mut words = Words::new().and(role, format!("{sign} ")).and(Role::Text, charset.fit(&output.name, widest));
    for part in [what, output.what.as_str()] {
        if !part.is_empty() {
            words.push(Role::Dim, format!("   {part}"));
        }
    }
    let (before, after) = (u64::from(output.urls_before), u64::from(output.urls_after));
    let is_index = output.file.index_file().is_some() || shared.session.document().lists_sitemaps();
    let is_table = matches!(Form::of_name(&output.name), Some(Form::Csv | Form::Tsv));
    let noun = if is_index { "sitemap" } else { "URL" };
    let mut right = Words::new();
    if before != after && output.action == Action::Rewritten {
        right.push(Role::Dim, format!("{} {} ", grouped(before), signs.arrow));
    }
    // Both limits, so that a user sees a file approach one of them.
    if is_table || output.action == Action::Removed {
        right.push(Role::Text, counted(after, noun));
        right.push(Role::Dim, format!("   {}", size(output.bytes)));
    } else {
        let limit = if is_index { SITEMAPS_PER_INDEX } else { URLS_PER_FILE };
        let noun = if shared.size.0 < 100 { String::new() } else { format!(" {noun}s") };
        let is_over = after > u64::from(limit) || output.bytes > BYTES_PER_FILE;
        let role = if is_over { Role::Error } else { Role::Dim };
        right.push(Role::Text, grouped(after));
        right.push(role, format!(" of {}{noun}   ", grouped(u64::from(limit))));
        right.push(Role::Text, size(output.bytes));
        right.push(role, format!(" of {}", size(BYTES_PER_FILE)));
    }
    if let Some(url) = output.url.as_ref().filter(|_| output.action == Action::Created) {
        words.push(Role::Dim, format!("   {url}"));
    }
    Line::new(words, right)
}

/// The first changed lines of the index.
fn index_lines(planned: &Planned) -> Vec<Line> {
    let Planned { plan, index: diff, .. } = planned;
    let writes_index =
        plan.outputs.iter().any(|output| output.file.index_file().is_some() && output.action == Action::Rewritten);
    let mut lines = Vec::new();
    if writes_index {
        let changed = |kind| diff.lines.iter().filter(move |line| line.kind == kind);
        let all = changed(diff::Kind::Removed).chain(changed(diff::Kind::Added)).count();
        for line in diff.lines.iter().filter(|line| matches!(line.kind, diff::Kind::Removed | diff::Kind::Added)) {
            let role = if line.kind == diff::Kind::Added { Role::Good } else { Role::Error };
            let (sign, text) = line.text.split_at(1);
            lines.push(Words::new().and(role, format!("      {sign} {}", text.trim())).into());
        }
        lines.truncate(MAX_INDEX_LINES);
        if all > MAX_INDEX_LINES || diff.more > 0 {
            lines.push(Words::dim("      … and more lines of the index").into());
        }
    }
    let beside = plan.document.index().map_or(&[][..], |index| &index.unlisted);
    if !beside.is_empty() {
        let names = beside.iter().take(3).map(|name| &**name).collect::<Vec<_>>().join(", ");
        let more = if beside.len() > 3 { ", …" } else { "" };
        let words =
            format!("  {} beside the set but not in it: {names}{more}", counted(beside.len() as u64, "sitemap"));
        lines.push(Words::dim(words).into());
    }
    lines
}

pub(in crate::tui::app) fn title(plan: &Plan) -> Words {
    let summary = plan.summary();
    let words = if summary.is_empty() { "save".to_owned() } else { format!("save {summary}") };
    Words::new().and(Role::Accent, words)
}

/// Whether a plan writes a text list without a URL, which no crawler reads as a sitemap.
pub(in crate::tui::app) fn is_empty_list(plan: &Plan, output: &Output) -> bool {
    let is_written = !matches!(output.action, Action::Untouched | Action::Removed);
    let FileId::Sitemap(id) = output.file else { return false };
    let is_list = plan.document.sitemap(id).is_some_and(|sitemap| sitemap.form == Form::List);
    is_written && is_list && output.urls_after == 0
}

pub(in crate::tui::app) fn problems(shared: &Shared, plan: &Plan) -> Ask {
    let mut lines = Vec::new();
    for problem in &plan.problems {
        let mut words = Words::new().and(Role::Error, format!("{} ", shared.theme.signs.error));
        words.push(Role::Text, problem.message.clone());
        if let Some(row) = problem.row {
            words.push(Role::Dim, format!("   row {}", grouped(shared.session.view().number(row).into())));
        }
        lines.push(words.into());
    }
    let title = Words::new().and(Role::Error, "this cannot be saved");
    Ask::new(title, lines, vec![('k', "keep editing", Answer::Stay)])
}
