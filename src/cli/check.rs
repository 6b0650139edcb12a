//! `sited check`: what is wrong, as lines or as one document.

use super::args::{Check, CheckFormat};
use super::baseline::Baseline;
use super::choose::Choice;
use super::output::{File, Finding, Summary, check_json, finding_text};
use super::{Failure, Status, Streams, each_path, filter, report};
use crate::document::query::Query;
use crate::document::quirk::{self, Quirk};
use crate::document::rows::RowId;
use crate::files::{self, Reason};
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::findings::{self, Reported};
use crate::words::{counted, grouped};
use std::path::PathBuf;

/// Everything there is to report, over all paths.
struct Report {
    choice: Choice,
    /// Only findings of rows that pass it.
    query: Option<Query>,
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
    let mut baseline = check.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut report = Report {
        choice: Choice::of(check)?,
        query: filter(check.filter.as_deref(), now)?,
        files: Vec::new(),
        summary: Summary::default(),
        findings: Vec::new(),
    };
    // Several files are one set; an index or a folder among them is one of its own.
    let status = match check.common.open_set(&check.paths, now, streams) {
        Ok(session) => report.tell(&session),
        Err(Failure::File(error)) if matches!(error.reason, Reason::InSet(_)) || check.paths.len() > 1 => {
            each_path(&check.paths, streams, |path, streams| match check.common.open(path, now, streams) {
                Ok(session) => {
                    report.tell(&session);
                    Ok(())
                }
                Err(Failure::File(error)) => report.refuse(error),
                Err(other) => Err(other),
            })?
        }
        Err(Failure::File(error)) => {
            report.refuse(error)?;
            Status::Fine
        }
        Err(failure) => return Err(failure),
    };
    if let Some(path) = &check.write_baseline {
        let baseline = Baseline::of(&report.findings);
        files::write_whole(path, &baseline.written()?)?;
        streams.note(&format!("wrote {}: {} accepted", path.display(), counted(baseline.len(), "finding")));
        return Ok(status);
    }
    if let Some(baseline) = &mut baseline {
        report.findings.retain(|finding| !baseline.takes(finding));
        if baseline.len() > 0 {
            let gone = counted(baseline.len(), "finding");
            streams.note(&format!("{gone} of the baseline are gone; --write-baseline writes it anew"));
        }
    }
    report.sum();
    report.print(check.format, streams)?;
    streams.out.flush()?;
    if !report.files.is_empty() || report.summary.errors > 0 {
        streams.note(&in_words(&report));
    }
    Ok(match status {
        Status::Fine if report.findings.iter().any(|finding| report.choice.fails(finding)) => Status::Findings,
        other => other,
    })
}

impl Report {
    /// Takes in a set.
    fn tell(&mut self, session: &Session) -> Status {
        self.add(session);
        let (refused, unread): (Vec<_>, Vec<_>) =
            session.unread().iter().map(findings::refused).partition(Option::is_some);
        refused.into_iter().flatten().for_each(|found| self.take(found));
        if unread.is_empty() { Status::Fine } else { Status::Files }
    }

    /// Takes in a file that is there and is no sitemap. An error when it cannot even be read.
    fn refuse(&mut self, error: files::Error) -> Result<(), Failure> {
        let Some(found) = findings::refused(&error) else { return Err(error.into()) };
        self.take(found);
        Ok(())
    }

    fn take(&mut self, found: Reported) {
        if self.query.is_none() && self.choice.takes(found.finding.rule) {
            self.findings.push(found);
        }
    }

    /// Counts what is listed, so that the sums and the list cannot disagree.
    fn sum(&mut self) {
        for Reported { finding, .. } in &self.findings {
            let sum = match finding.severity {
                Severity::Error => &mut self.summary.errors,
                Severity::Warning => &mut self.summary.warnings,
                Severity::Note => &mut self.summary.notes,
            };
            *sum += 1;
            *self.summary.rules.entry(finding.rule.code()).or_default() += 1;
        }
    }

    fn print(&self, format: CheckFormat, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let listed = self.choice.printed(&self.findings, streams);
        let out = &mut *streams.out;
        match format {
            CheckFormat::Text => {
                listed.iter().try_for_each(|finding| finding_text(out, &shown(finding), streams.colour))?;
            }
            CheckFormat::Json => check_json(out, &self.files, &self.summary, listed.iter().map(shown))?,
            CheckFormat::Sarif => report::sarif(out, &listed.iter().map(shown).collect::<Vec<_>>())?,
            CheckFormat::Junit => {
                let files: Vec<String> = self.files.iter().map(|file| file.path.clone()).collect();
                report::junit(out, &files, &listed.iter().map(shown).collect::<Vec<_>>(), &|finding| {
                    self.choice.fails_at(finding.severity)
                })?;
            }
            CheckFormat::Github => listed.iter().try_for_each(|finding| report::github(out, &shown(finding)))?,
        }
        Ok(())
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
        let facts = session.view().facts();
        let passes = |row: Option<RowId>| match (&self.query, row) {
            (None, _) => true,
            (Some(query), Some(row)) => query.matches(&facts.of(row)),
            (Some(_), None) => false,
        };
        let found: Vec<Reported> = session
            .report()
            .into_iter()
            .filter(|found| self.choice.takes(found.finding.rule) && passes(found.row))
            .collect();
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
