//! Writes the Markdown report of a set, with the numbers of `sited check`, and counts findings by rule and file.

use crate::check::FindingTarget;
use crate::check::rule::Rule;
use crate::document::lines::LineColumn;
use crate::document::sitemap::SitemapId;
use crate::files;
use crate::progress::{Progress, note_work};
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::edit::EditError;
use crate::session::findings;
use crate::session::findings::non_row;
use crate::session::located_finding::LocatedFinding;
use crate::session::report;
use crate::session::report::summary;
use crate::session::state::Snapshot;
use crate::visible::Charset;
use crate::words::{counted, grouped};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The start of a report; a file with another start is not replaced.
const TITLE: &str = "# Findings in ";
/// Counts by the index of [`Rule::main`] and file.
pub(crate) type CountsByFile = BTreeMap<(usize, SitemapId), u64>;

/// Counts the rows of each file that violate each rule. `None` when cancelled.
pub(crate) fn row_counts_by_file(snapshot: &Snapshot, progress: &Progress) -> Option<CountsByFile> {
    let mut counts = CountsByFile::new();
    let (checks, sets, document) = (&snapshot.checks, snapshot.checks.rule_sets(), &snapshot.document);
    for (id, sitemap) in (0..).map(SitemapId).zip(document.sitemaps()) {
        if progress.is_cancelled() {
            return None;
        }
        note_work(sitemap.rows.len());
        let mut of_file = [0_u64; Rule::COUNT];
        for row in sitemap.rows.iter().filter(|row| document.is_live(*row)) {
            for rule in checks.rules_in(row, document, &sets).iter() {
                if let Some(count) = of_file.get_mut(rule.main().index()) {
                    *count += 1;
                }
            }
        }
        counts.extend((0..).zip(of_file).filter(|(_, count)| *count > 0).map(|(rule, count)| ((rule, id), count)));
    }
    Some(counts)
}

/// Adds the findings of files to counts of rows.
pub(crate) fn add_file_findings(session: &Session, counts: &mut CountsByFile) {
    for finding in non_row::each(session) {
        if let FindingTarget::Sitemap(id) = finding.target() {
            *counts.entry((finding.rule().main().index(), id)).or_default() += 1;
        }
    }
}

/// The data of a report, which can be written on any thread.
pub(crate) fn of_session(session: &Session) -> FindingsReport {
    let refused = session.unread().iter().filter_map(findings::file_findings::of_error).collect();
    FindingsReport { session: report::detached(session), refused }
}

/// The findings of a set at one moment, for a report.
#[derive(Debug)]
pub(crate) struct FindingsReport {
    session: Session,
    /// Findings of files that could not be opened.
    refused: Vec<LocatedFinding>,
}

impl FindingsReport {
    /// Writes the findings as Markdown, with the numbers of `sited check`. Returns a message.
    ///
    /// # Errors
    /// When the file exists and is not such a report, when it cannot be written, or when cancelled.
    pub(crate) fn write(&self, path: &Path, progress: &Progress) -> Result<String, EditError> {
        let refuse = |error: files::Error| EditError::Refused(error.to_string());
        if path.exists() && !files::read_text(path).is_ok_and(|text| text.starts_with(TITLE)) {
            let why = "exists and is not a report of findings; choose another name";
            return Err(EditError::Refused(format!("{} {why}", path.display())));
        }
        let Some((text, sum)) = self.markdown(progress) else { return Err(EditError::Cancelled) };
        files::write_atomic(path, text.as_bytes()).map_err(refuse)?;
        Ok(format!("wrote {}: {sum}", path.display()))
    }

    /// The report, and its totals in one line.
    fn markdown(&self, progress: &Progress) -> Option<(String, String)> {
        let session = &self.session;
        let mut all = summary::summary(session, progress)?;
        self.refused.iter().for_each(|found| all.add(found));
        let number = |severity: Severity, word: &str| counted(all.of_severity(severity), word);
        let (errors, warnings) = (number(Severity::Error, "error"), number(Severity::Warning, "warning"));
        let sum = format!("{errors}, {warnings}, {}", number(Severity::Note, "note"));
        let name = session.path().map_or_else(|| "the sample set".to_owned(), |path| path.display().to_string());
        let mut out = format!("{TITLE}{}\n\n", text(&name));
        let files = session.document().sitemaps().len() as u64;
        let urls = counted(u64::from(session.view().urls()), "URL");
        let profile = session.view().profile().name();
        line(&mut out, format_args!("{}, {urls}: {sum}. Profile: {profile}.", counted(files, "file")));
        if session.is_modified() {
            line(&mut out, format_args!("\nIncludes unsaved changes."));
        }
        if all.rules().next().is_none() {
            return Some((out, sum));
        }
        line(&mut out, format_args!("\n| severity | findings | rule | meaning |\n|---|--:|---|---|"));
        for of_rule in all.rules() {
            let (rule, count) = (of_rule.rule, grouped(of_rule.findings));
            let meaning = text(rule.summary());
            line(&mut out, format_args!("| {} | {count} | {} | {meaning} |", of_rule.severity.name(), rule.code()));
        }
        for of_rule in all.rules() {
            let (rule, count) = (of_rule.rule, grouped(of_rule.findings));
            line(&mut out, format_args!("\n## {}: {count} ({})\n", rule.code(), of_rule.severity.name()));
            line(&mut out, format_args!("{}\n", text(rule.help())));
            for of_file in &of_rule.files {
                line(&mut out, format_args!("- {}: {}", text(&of_file.file), grouped(of_file.findings)));
                for found in &of_file.first {
                    let at =
                        found.at.map_or_else(String::new, |LineColumn { line, column }| format!("{line}:{column}: "));
                    let url = if found.loc.is_empty() { String::new() } else { format!("  {}", text(&found.loc)) };
                    line(&mut out, format_args!("  - {at}{}{url}", text(&found.finding.message)));
                }
                if of_file.beyond() > 0 {
                    line(&mut out, format_args!("  - … and {} more", grouped(of_file.beyond())));
                }
            }
            if of_rule.beyond() > 0 {
                line(&mut out, format_args!("- … and {} in more files", counted(of_rule.beyond(), "finding")));
            }
        }
        Some((out, sum))
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// Escapes text of a file for one line of Markdown, without control characters.
fn text(value: &str) -> String {
    let value = Charset::Unicode.visible(value);
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
