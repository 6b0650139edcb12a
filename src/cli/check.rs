//! `sited check`: what is wrong, as lines or as one document.

use super::args::{Check, CheckFormat};
use super::output::{File, Finding, Summary, check_json, finding_text};
use super::{Failure, Status, Streams, each_path};
use crate::document::quirk::{self, Quirk};
use crate::files::{self, Reason};
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::findings::{self, Reported};
use crate::words::{counted, grouped};
use std::path::PathBuf;

/// Everything there is to report, over all paths.
#[derive(Default)]
struct Report {
    files: Vec<File>,
    summary: Summary,
    findings: Vec<Reported>,
}

/// Checks every path; the findings of one that was read are reported even if the next cannot be.
pub(super) fn run(check: &Check, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = check.common.now()?;
    if let Some(text) = &check.explain {
        return super::explain::run(text, now, streams);
    }
    let mut report = Report::default();
    // Several files are one set; an index or a folder among them is one of its own.
    let status = match check.common.open_set(&check.paths, now, streams) {
        Ok(session) => report.tell(&session, check.format, streams)?,
        Err(Failure::File(error)) if matches!(error.reason, Reason::InSet(_)) || check.paths.len() > 1 => {
            each_path(&check.paths, streams, |path, streams| match check.common.open(path, now, streams) {
                Ok(session) => report.tell(&session, check.format, streams).map(|_| ()),
                Err(Failure::File(error)) => report.refuse(error, check.format, streams),
                Err(other) => Err(other),
            })?
        }
        Err(Failure::File(error)) => {
            report.refuse(error, check.format, streams)?;
            Status::Fine
        }
        Err(failure) => return Err(failure),
    };
    if check.format == CheckFormat::Json {
        check_json(streams.out, &report.files, &report.summary, report.findings.iter().map(shown))?;
    }
    streams.out.flush()?;
    if !report.files.is_empty() || report.summary.errors > 0 {
        let _ = writeln!(streams.notes, "{}", in_words(&report));
    }
    Ok(match status {
        Status::Fine if report.summary.errors > 0 => Status::Findings,
        other => other,
    })
}

impl Report {
    /// Takes in a set, and says its findings at once where they are lines.
    fn tell(&mut self, session: &Session, format: CheckFormat, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        let first = self.findings.len();
        self.add(session);
        let (refused, unread): (Vec<_>, Vec<_>) =
            session.unread().iter().map(findings::refused).partition(Option::is_some);
        refused.into_iter().flatten().for_each(|found| self.take(found));
        self.print(first, format, streams)?;
        Ok(if unread.is_empty() { Status::Fine } else { Status::Files })
    }

    /// Takes in a file that is there and is no sitemap. An error when it cannot even be read.
    fn refuse(&mut self, error: files::Error, format: CheckFormat, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let Some(found) = findings::refused(&error) else { return Err(error.into()) };
        let first = self.findings.len();
        self.take(found);
        self.print(first, format, streams)
    }

    fn print(&mut self, first: usize, format: CheckFormat, streams: &mut Streams<'_>) -> Result<(), Failure> {
        if format == CheckFormat::Text {
            for finding in self.findings.drain(first..) {
                finding_text(streams.out, &shown(&finding))?;
            }
        }
        Ok(())
    }

    fn take(&mut self, found: Reported) {
        self.summary.errors += 1;
        *self.summary.rules.entry(found.finding.rule.code()).or_default() += 1;
        self.findings.push(found);
    }

    fn add(&mut self, session: &Session) {
        let document = session.document();
        let path = |path: Option<&PathBuf>, name: &str| {
            path.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
        };
        let file = |(path, kind), entries, bytes, (encoding, quirks): (&'static str, &[Quirk])| {
            let (encoding, read_as) = quirk::stored_as(quirks, encoding);
            File { path, kind, entries, bytes, encoding, read_as }
        };
        let index = document.index().map(|index| {
            let bytes = index.source.bytes().len() as u64;
            let shown = (path(index.path.as_ref(), &index.name), "sitemapindex");
            file(shown, index.children.len() as u64, bytes, (index.encoding, &index.quirks))
        });
        let sitemaps = document.sitemaps().iter().map(|sitemap| {
            let shown = (path(sitemap.path.as_ref(), &sitemap.name), "urlset");
            file(shown, u64::from(sitemap.live), sitemap.bytes(), (sitemap.encoding, &sitemap.quirks))
        });
        let files: Vec<File> = index.into_iter().chain(sitemaps).collect();
        self.summary.entries += files.iter().map(|file| file.entries).sum::<u64>();
        // Counted from what is listed, so that the sums and the list cannot disagree.
        let found = session.report();
        for Reported { finding, .. } in &found {
            let sum = match finding.severity {
                Severity::Error => &mut self.summary.errors,
                Severity::Warning => &mut self.summary.warnings,
                Severity::Note => &mut self.summary.notes,
            };
            *sum += 1;
            *self.summary.rules.entry(finding.rule.code()).or_default() += 1;
        }
        self.files.extend(files);
        self.findings.extend(found);
    }
}

pub(super) fn shown(reported: &Reported) -> Finding<'_> {
    let finding = &reported.finding;
    Finding {
        rule: finding.rule.code(),
        severity: finding.severity.name(),
        file: &reported.file,
        line: reported.at.map(|(line, _)| line),
        column: reported.at.map(|(_, column)| column),
        loc: Some(reported.loc.as_str()).filter(|loc| !loc.is_empty()),
        field: finding.subject(),
        message: &finding.message,
        fix: finding.fix.as_ref().map(|fix| fix.label.clone()),
    }
}

/// `3 files, 60 entries: 2 errors, 1 warning, 0 notes`.
fn in_words(report: &Report) -> String {
    let Summary { entries, errors, warnings, notes, .. } = report.summary;
    let entries = match entries {
        1 => "1 entry".to_owned(),
        many => format!("{} entries", grouped(many)),
    };
    format!(
        "{}, {entries}: {}, {}, {}",
        counted(report.files.len() as u64, "file"),
        counted(errors, "error"),
        counted(warnings, "warning"),
        counted(notes, "note")
    )
}
