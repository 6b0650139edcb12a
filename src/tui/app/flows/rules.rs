//! The list of violated rules: counts and files, and the keys for the chosen rule.
//!
//! Invariant: a key applies to the highlighted rule, and nothing is changed before a preview was shown.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::items::{self, Item, blank, entry, heading};
use super::super::modes::list::{List, ListKind};
use super::super::operations::describe::{message_of, short_target_name};
use super::super::state::Shared;
use super::super::state::grid::stem;
use super::super::state::outcome::JobOutcome;
use super::super::state::recent::Purpose;
use super::super::state::request::Choice;
use super::explain;
use crate::check::FindingTarget;
use crate::check::rule::{FixKind, Grouping, Rule};
use crate::document::sitemap::SitemapId;
use crate::progress::Progress;
use crate::session::edit::EditError;
use crate::session::explain::fix_words;
use crate::session::findings::non_row;
use crate::session::findings::non_row::FindingRef;
use crate::session::report::CountsByFile;
use crate::session::report::markdown;
use crate::session::rule_export;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::Words;
use crate::words::{counted, grouped};
use std::path::{Path, PathBuf};

/// Opens the list of violated rules.
pub(in crate::tui::app) fn open_rules(app: &mut App) {
    count_by_file(&mut app.shared);
    match rules_list(&app.shared) {
        Some(list) => app.open(Mode::List(list)),
        None => app.shared.show_note("no findings"),
    }
}

/// Counts findings by file, at once or in a job; until then the list shows the previous counts.
fn count_by_file(shared: &mut Shared) {
    if shared.session.document().sitemaps().len() < 2 {
        shared.row_counts = None;
    } else if shared.is_small() {
        let count = || markdown::row_counts_by_file(shared.session.view(), &Progress::default());
        shared.row_counts = shared.jobs.run_now(count);
    } else {
        let snapshot = shared.session.snapshot();
        shared.jobs.run(Kind::Count, false, move |progress| {
            JobOutcome::Counted(markdown::row_counts_by_file(&snapshot, progress))
        });
    }
}

/// Shows the counts by file, if the list is still open.
pub(in crate::tui::app) fn receive_counts(app: &mut App, counts: CountsByFile) {
    app.shared.row_counts = Some(counts);
    let Mode::List(list) = app.modes.current_mut() else { return };
    if list.kind == ListKind::Rules
        && let Some(mut counted) = rules_list(&app.shared)
    {
        let choice = list.choice();
        let same = counted.lines.iter().position(|(_, other)| *other == choice);
        counted.choose(same.unwrap_or(list.chosen));
        *list = counted;
    }
}

/// Updates the list of rules when the list above it is closed.
pub(in crate::tui::app) fn refresh(app: &mut App, lines_after: usize) {
    count_by_file(&mut app.shared);
    let list = if app.shared.session.counts().by_rule().is_empty() { None } else { rules_list(&app.shared) };
    let Some(mut list) = list else { return app.modes.close_all() };
    // Lines above it may have been removed; those below it were not.
    list.choose(list.lines.len().saturating_sub(lines_after + 1));
    app.open(Mode::List(list));
}

/// The violated rules with their counts and files; `None` if there are none.
fn rules_list(shared: &Shared) -> Option<Box<List>> {
    let mut lines: Vec<Item> = Vec::new();
    let by_file = shared.row_counts.clone().map(|mut counts| {
        markdown::add_file_findings(&shared.session, &mut counts);
        counts
    });
    for (rule, count) in shared.session.counts().by_rule() {
        let Some(severity) = rule.severity_in(shared.session.view().profile()) else { continue };
        let words = Words::new()
            .and(severity.into(), format!("{} {:>8}  ", shared.theme.finding_sign(severity), grouped(count)))
            .and(Role::Text, format!("{:32}", rule.code()))
            .and(Role::Dim, rule.summary());
        let right = match rule.grouping() {
            Some(Grouping::File) => match files_with(shared, rule) {
                Some(files) => Words::dim(format!("{} in {}", counted(files, "finding"), counted(count, "row"))),
                None => Words::new(),
            },
            Some(Grouping::Host) => Words::dim("1 finding per host"),
            None => Words::new(),
        };
        lines.push(entry(words, right, Choice::Rule(rule)));
        if let Some(files) = by_file.as_ref().and_then(|counts| counts_in_files(shared, counts, rule)) {
            lines.push(items::text(Words::dim(format!("{:12}{files}", ""))));
        }
    }
    let (non_row_findings, _) = non_row::first(&shared.session, 200, |_| true, |_| ());
    if !non_row_findings.is_empty() {
        lines.push(blank());
        lines.push(heading("Files and whole set"));
        for finding in &non_row_findings {
            let sign = shared.theme.finding_sign(finding.severity);
            let message = message_of(shared, finding);
            let right = finding.fix.as_ref().map_or_else(Words::new, |fix| {
                Words::new().and(Role::Key, "x").and(Role::Text, format!(" {}", fix.label))
            });
            // The rest is for the bar, the sign and the gaps.
            let charset = shared.theme.charset;
            let fixed = right.width(charset) + 11;
            let target = short_target_name(shared, finding.target, charset.width(message) + fixed);
            // The fix is always shown; the message is cut first.
            let room = usize::from(shared.size.0).saturating_sub(charset.width(&target) + fixed);
            let message = if right.is_empty() { message.into() } else { charset.cut(message, room.max(16)) };
            let words = Words::new()
                .and(finding.severity.into(), format!("{sign} "))
                .and(Role::Text, format!("{target}  "))
                .and(Role::Dim, message.into_owned());
            lines.push(entry(words, right, Choice::NonRowFinding(finding.target, finding.rule)));
        }
    }
    if lines.is_empty() {
        return None;
    }
    // The heading says "rows", not "findings": a row may have several findings of one rule, which `check` counts.
    lines.insert(0, heading("Rows that break each rule"));
    Some(List::new(ListKind::Rules, lines))
}

/// Number of files whose rows violate a rule; `None` until it is counted.
fn files_with(shared: &Shared, rule: Rule) -> Option<u64> {
    if shared.session.document().sitemaps().len() < 2 {
        return Some(1);
    }
    let main = rule.main().index();
    let files = shared.row_counts.as_ref()?.range((main, SitemapId(0))..=(main, SitemapId(u32::MAX))).count();
    Some((files as u64).max(1))
}

/// The count of a rule in each file, the highest first, as many as fit on a line.
fn counts_in_files(shared: &Shared, counts: &CountsByFile, rule: Rule) -> Option<String> {
    let main = rule.main().index();
    let mut files: Vec<(SitemapId, u64)> =
        counts.range((main, SitemapId(0))..=(main, SitemapId(u32::MAX))).map(|(key, n)| (key.1, *n)).collect();
    files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let charset = shared.theme.charset;
    let room = usize::from(shared.size.0).saturating_sub(32);
    let (mut out, mut named) = (String::new(), 0);
    for (id, count) in &files {
        let name = shared.session.document().sitemap(*id).map_or("", |sitemap| stem(&sitemap.name));
        let name = charset.elide_middle(name, 30);
        // With a single file, the count is that of the rule.
        let one = if files.len() == 1 { format!("in {name}") } else { format!("{} in {name}", grouped(*count)) };
        if named > 0 && charset.width(&out) + charset.width(&one) > room {
            break;
        }
        out.push_str(if named > 0 { ", " } else { "" });
        out.push_str(&one);
        named += 1;
    }
    let more = files.len() - named;
    if more > 0 {
        out.push_str(", and ");
        out.push_str(&counted(more as u64, "more file"));
    }
    (named > 0).then_some(out)
}

/// Writes the last bulk change to a rules file.
pub(in crate::tui::app) fn export_rule(shared: &mut Shared, path: &str) {
    match rule_export::export_rule(&shared.session) {
        Ok(rule) => {
            let path = PathBuf::from(path);
            shared.jobs.run(Kind::Report, false, move |_| JobOutcome::Reported(rule.write(&path)));
        }
        Err(refused) => shared.show_error(refused.to_string()),
    }
}

/// Writes the findings to a file, in a job.
pub(in crate::tui::app) fn write_findings(shared: &mut Shared, path: String) {
    let report = markdown::of_session(&shared.session);
    shared.show_note("writing the findings…");
    shared
        .jobs
        .run(Kind::Report, false, move |progress| JobOutcome::Reported(report.write(Path::new(&path), progress)));
}

/// Reports that the findings were or were not written.
pub(in crate::tui::app) fn findings_written(shared: &mut Shared, written: Result<String, EditError>) {
    match written {
        Ok(words) => shared.show_note(words),
        Err(EditError::Cancelled) => shared.show_note("stopped; the findings were not written"),
        Err(EditError::Refused(why)) => shared.show_error(why),
    }
}

/// Shows the preview of the fix of a rule for one target or all, or the reason why there is none.
pub(in crate::tui::app) fn preview_fix(app: &mut App, target: Option<FindingTarget>, rule: Rule) {
    let is_it = |finding: &FindingRef<'_>| {
        finding.rule() == rule && finding.is_fixable() && target.is_none_or(|target| finding.target() == target)
    };
    let (found, _) = non_row::first(&app.shared.session, 1, is_it, |_| ());
    if let Some(finding) = found.first() {
        return preview_non_row_fix(app, finding.target, rule);
    }
    if target.is_none() && rule.fix() != FixKind::None {
        return app.open_line(Purpose::Command, &format!("%fix {}", rule.code()));
    }
    let why = if rule.fix() == FixKind::None { fix_words(rule.fix()) } else { "nothing can be done at this place" };
    app.shared.show_error(format!("no fix for {}: {why}; K explains it", rule.code()));
}

/// Shows the preview of the fix of a finding of a file or the set, above the open list.
pub(in crate::tui::app) fn preview_non_row_fix(app: &mut App, target: FindingTarget, rule: Rule) {
    // One fix applies to all entries of the index.
    let target = if target.is_of_index() { FindingTarget::Index(None) } else { target };
    let mut list = explain::files_list(&app.shared, rule);
    if let Some(at) = list.lines.iter().position(|(_, choice)| *choice == Choice::FixNonRow(target, rule)) {
        list.choose(at);
    }
    app.modes.open_above(Mode::List(list));
}
