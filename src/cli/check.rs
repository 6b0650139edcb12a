//! `sited check`: reports findings as text or in a machine format.

use super::args::{Check, CheckFormat, Common};
use super::baseline::Baseline;
use super::destination::Destination;
use super::finding_filter::FindingFilter;
use super::output::{File, Summary, check_json, finish_check_json};
use super::paths::each_path;
use super::report::{JunitReport, SarifLog};
use super::set_reader::{ReadMode, SetReader, SetRequest, memory_limit};
use super::text_report;
use super::{Failure, Status, Streams, filter};
use crate::buffer_pool::BufferPool;
use crate::check::Profile;
use crate::check::rule::{Rule, RuleSet};
use crate::document::form;
use crate::document::index::Index;
use crate::document::query::Query;
use crate::document::quirk::{self, Quirk};
use crate::document::sitemap::SitemapId;
use crate::files::{self, Reason};
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::checks::Counts;
use crate::session::findings;
use crate::session::grouping::{Extent, Groups};
use crate::session::located_finding::LocatedFinding;
use crate::session::report::{Counted, MessageFilter, Receiver, Reporter, Summary as Grouped, shown_name};
use crate::session::stream::{Detail, FileRows};
use crate::words::{counted, counted_entries};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
mod format;

use format::{FindingsText, Format, Listed, Rendered, Renderer};

/// The kind of a sitemap index.
const INDEX: &str = "sitemapindex";

/// Maximum number of bytes of a text whose memory is used again: most texts have fewer, and memory for the largest text of a
/// set would be kept several times.
const MAX_KEPT_TEXT: usize = 1 << 20;

/// The report: counts findings and prints them, or keeps them for the end.
struct Report {
    filter: FindingFilter,
    /// The options to open sets with; unread files are part of the report.
    common: Common,
    /// Only findings of rows that match the query.
    query: Option<Query>,
    /// The baseline, whose findings are suppressed.
    known: Option<Baseline>,
    /// The new baseline of `--write-baseline`; findings are not reported then.
    accepted: Option<Baseline>,
    files: Vec<File>,
    /// Its counts by rule are filled in at the end.
    summary: Summary,
    /// The number of findings of each rule, by [`Rule::index`].
    of_rules: [u64; Rule::COUNT],
    /// Whether any finding leads to exit status 1.
    fails: bool,
    /// Number of findings.
    counted: u64,
    /// Number of findings that were printed or spooled.
    printed: u64,
    /// The most severe findings, with `--max-findings`.
    worst: Option<Worst>,
    /// Findings of the current file that will be listed as one.
    groups: Groups,
    format: Format,
    /// The memory of texts that were written.
    buffers: BufferPool,
}

/// Checks every path. If one cannot be read, the findings of the others are still reported.
pub(super) fn run(check: &Check, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    run_with_limit(check, memory_limit(), streams)
}

/// [`run`]; sets of more than `memory_limit` bytes are streamed.
pub(super) fn run_with_limit(check: &Check, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = check.common.now()?;
    if let Some(text) = &check.explain {
        return super::explain::run(text, now, streams);
    }
    if check.list_rules {
        super::help::print_rules(check.common.profile.unwrap_or_default(), streams.out)?;
        return Ok(Status::Fine);
    }
    let mut report = Report::new(check, streams.colour)?;
    let common = report.common.clone();
    let mode = if report.counts_most() { ReadMode::Count } else { ReadMode::Report };
    // Several files are one set; an index or folder among them is a set of its own.
    let request = SetRequest { common: &common, paths: &check.paths, limit: memory_limit, now };
    let status = match request.open(mode, streams) {
        Ok(mut set) => report.report(&mut set, streams)?,
        Err(Failure::File(error)) if matches!(error.reason, Reason::InSet(_)) || check.paths.len() > 1 => {
            // Sets come first, so that a file that belongs to one of them is not checked again on its own.
            let (mut paths, alone): (Vec<PathBuf>, Vec<_>) =
                check.paths.iter().cloned().partition(|path| files::is_multi_file(path));
            paths.extend(alone);
            let (mut checked, mut unread) = (BTreeSet::new(), Status::Fine);
            let all = each_path(&paths, streams, |path, streams| {
                if path.canonicalize().is_ok_and(|path| checked.contains(&path)) {
                    return Ok(());
                }
                match (SetRequest { paths: &[path.to_path_buf()], ..request }).open(mode, streams) {
                    Ok(mut set) => {
                        let document = set.session().document();
                        let index = document.index().into_iter().flat_map(Index::files).filter_map(|file| file.path);
                        let parts = document.sitemaps().iter().filter_map(|sitemap| sitemap.path.as_deref());
                        checked.extend(index.chain(parts).filter_map(|path| path.canonicalize().ok()));
                        let status = report.report(&mut set, streams)?;
                        if status == Status::Files {
                            unread = status;
                        }
                        Ok(())
                    }
                    Err(Failure::File(error)) => report.refuse(error, streams),
                    Err(other) => Err(other),
                }
            })?;
            if all == Status::Fine { unread } else { all }
        }
        Err(Failure::File(error)) => {
            report.refuse(error, streams)?;
            Status::Fine
        }
        Err(failure) => return Err(failure),
    };
    if let (Some(path), Some(baseline)) = (&check.write_baseline, &report.accepted) {
        Destination::file(path, check.common.mkdir).create_folder()?;
        files::write_atomic(path, &baseline.to_bytes()?)?;
        streams.note(&format!("wrote {}: {} accepted", path.display(), counted(baseline.len(), "finding")));
        return Ok(status);
    }
    if let Some(gone) = report.known.as_ref().map(Baseline::len).filter(|gone| *gone > 0) {
        let are = if gone == 1 { "is" } else { "are" };
        let gone = counted(gone, "finding");
        streams.note(&format!("{gone} of the baseline {are} gone; --write-baseline updates it"));
    }
    report.finish(streams)?;
    streams.out.flush()?;
    if let (Some(worst), hidden @ 1..) = (&report.worst, report.counted - report.printed) {
        let hidden = counted(hidden, "more finding");
        streams.note(&format!("{hidden} not shown (--max-findings {})", worst.most));
    }
    if !report.files.is_empty() || report.summary.errors > 0 {
        streams.note(&in_words(&report));
    }
    Ok(if status == Status::Fine && report.fails { Status::Findings } else { status })
}

impl Report {
    /// An empty report.
    fn new(check: &Check, colour: bool) -> Result<Self, Failure> {
        Ok(Self {
            filter: FindingFilter::from_options(check)?,
            common: Common { policy: check.policy.read()?, ..check.common.reporting() },
            query: filter(check.filter.as_deref(), &check.common)?,
            known: check.baseline.as_deref().map(Baseline::read).transpose()?,
            accepted: check.write_baseline.as_ref().map(|_| Baseline::default()),
            files: Vec::new(),
            summary: Summary::default(),
            of_rules: [0; Rule::COUNT],
            fails: false,
            counted: 0,
            printed: 0,
            groups: Groups::default(),
            buffers: BufferPool::default(),
            worst: check.max_findings.map(Worst::new),
            format: match check.format {
                CheckFormat::Text if check.all || check.max_findings.is_some() => Format::Lines { colour },
                CheckFormat::Text => Format::Text(Grouped::default()),
                CheckFormat::Github => Format::Github,
                CheckFormat::Json => Format::Json(check_json()),
                CheckFormat::Sarif => Format::Sarif(SarifLog::new()),
                CheckFormat::Junit => Format::Junit(JunitReport::new()),
            },
        })
    }

    /// Reports the findings of a set.
    fn report(&mut self, set: &mut SetReader, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        self.add_files(set.session());
        let reporter = Reporter::new(set.session());
        self.take_all(reporter.of_index(set.session()), set.session(), streams.out)?;
        self.take_groups(streams.out)?;
        set.each_with_findings(streams, |session, (id, file_rows), out| {
            if let FileRows::Counted(_, counts) = file_rows {
                self.count_all(counts, session.view().profile());
            }
            let mut of_file = FileReport { report: self, session, file: file_name(session, id), out };
            let unread = match &file_rows {
                FileRows::All | FileRows::First(_) => reporter.each_of_sitemap(session, (id, None), &mut of_file)?,
                FileRows::Rows(rows) | FileRows::Counted(rows, _) => {
                    reporter.each_of_sitemap(session, (id, Some(rows)), &mut of_file)?
                }
                FileRows::Rest(rows) => reporter.each_of_rows(session, (id, Some(rows)), &mut of_file)?,
            };
            match file_rows {
                FileRows::First(rest) if !unread.is_empty() => *rest = unread,
                _ => self.take_groups(out)?,
            }
            Ok(if self.only_counts() { Detail::Counts } else { Detail::Findings })
        })?;
        self.report_whole_set(&reporter, set, streams)
    }

    /// Reports the findings of the whole set, and of files that are not sitemaps.
    fn report_whole_set(
        &mut self,
        reporter: &Reporter,
        set: &SetReader,
        streams: &mut Streams<'_>,
    ) -> Result<Status, Failure> {
        self.take_all(reporter.of_set(set.session()), set.session(), streams.out)?;
        self.take_groups(streams.out)?;
        let refused: Vec<LocatedFinding> =
            set.session().unread().iter().filter_map(findings::file_findings::of_error).collect();
        for found in refused {
            self.take_outside(found, streams.out)?;
        }
        Ok(self.common.report_unread(set.session(), true, streams))
    }

    /// Adds the finding about a file that is not a sitemap. A file that cannot be read is an error.
    fn refuse(&mut self, error: files::Error, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let Some(found) = findings::file_findings::of_error(&error) else { return Err(error.into()) };
        self.take_outside(found, streams.out)
    }

    /// Adds a finding about a file that belongs to no set.
    fn take_outside(&mut self, found: LocatedFinding, out: &mut dyn Write) -> Result<(), Failure> {
        if self.query.is_none() && self.filter.includes(found.finding.rule) {
            self.take(Listed { found, extent: None }, out)?;
        }
        Ok(())
    }

    /// Adds those findings of a set that match the options.
    fn take_all(&mut self, found: Vec<LocatedFinding>, session: &Session, out: &mut dyn Write) -> Result<(), Failure> {
        let facts = self.query.as_ref().map(|_| session.view().facts_by_row());
        let mut printed = Vec::with_capacity(if self.worst.is_none() { found.len() } else { 0 });
        for found in found {
            let passes = match (&self.query, &facts, found.row()) {
                (Some(query), Some(facts), Some(row)) => query.matches(&facts.of(row)),
                (Some(_), ..) => false,
                (None, ..) => true,
            };
            if passes && self.filter.includes(found.finding.rule) && !self.groups.take(&found) {
                printed.extend(self.count_listed(Listed { found, extent: None }));
            }
        }
        self.print(&printed, out)
    }

    /// Adds the grouped findings of a file, after its last row.
    fn take_groups(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        for group in self.groups.finish() {
            if let Some((rule, severity)) = group.counted() {
                self.count_unlisted(rule, severity, 1);
            } else if let Some((found, extent)) = group.into_finding() {
                self.take(Listed { found, extent }, out)?;
            }
        }
        Ok(())
    }

    /// Adds one finding.
    fn take(&mut self, listed: Listed, out: &mut dyn Write) -> Result<(), Failure> {
        let printed = self.count_listed(listed);
        self.print(printed.as_slice(), out)
    }

    /// Counts a finding, and returns it if it is printed now. Both happen here, so that the totals match the list.
    fn count_listed(&mut self, listed: Listed) -> Option<Listed> {
        let found = &listed.found;
        if let Some(accepted) = &mut self.accepted {
            accepted.add(found);
            return None;
        }
        if self.known.as_mut().is_some_and(|known| known.suppress(found)) {
            return None;
        }
        self.count(found.finding.rule, found.finding.severity, 1);
        match (&mut self.format, &mut self.worst) {
            (Format::Text(grouped), _) => grouped.add(found),
            (_, Some(worst)) => worst.add(listed),
            (_, None) => return Some(listed),
        }
        None
    }

    fn print(&mut self, listed: &[Listed], out: &mut dyn Write) -> Result<(), Failure> {
        self.printed += listed.len() as u64;
        self.format.print(listed, self.filter.fails, out)?;
        Ok(())
    }

    fn count(&mut self, rule: Rule, severity: Severity, findings: u64) {
        let sum = match severity {
            Severity::Error => &mut self.summary.errors,
            Severity::Warning => &mut self.summary.warnings,
            Severity::Note => &mut self.summary.notes,
        };
        *sum += findings;
        self.counted += findings;
        if let Some(sum) = self.of_rules.get_mut(rule.index()) {
            *sum += findings;
        }
        self.fails |= self.filter.fails.contains(severity);
    }

    /// Adds findings that are only counted.
    fn count_all(&mut self, counts: &Counts, profile: Profile) {
        for (rule, count) in Rule::ALL.into_iter().zip(counts) {
            let severity = rule.severity_in(profile).filter(|_| *count > 0 && self.filter.includes(rule));
            let (places, rows) = (u64::from(*count), u64::from(*count));
            if let Some(severity) =
                severity.filter(|severity| !self.groups.count(rule, *severity, Extent { places, rows }))
            {
                self.count_unlisted(rule, severity, places);
            }
        }
    }

    /// Counts findings without messages.
    fn count_unlisted(&mut self, rule: Rule, severity: Severity, findings: u64) {
        self.count(rule, severity, findings);
        if let Format::Text(grouped) = &mut self.format {
            grouped.count(rule, severity, findings);
        }
    }

    /// Counts findings without messages of a file.
    fn count_unlisted_in(&mut self, file: &str, rule: Rule, severity: Severity, findings: u64) {
        self.count(rule, severity, findings);
        if let Format::Text(grouped) = &mut self.format {
            grouped.count_in(file, rule, severity, findings);
        }
    }

    /// Whether most findings are only counted, since the report shows a few places of each rule.
    fn counts_most(&self) -> bool {
        !self.needs_message() && (self.worst.is_some() || matches!(self.format, Format::Text(_)))
    }

    /// Whether all further findings are only counted.
    fn only_counts(&self) -> bool {
        !self.needs_message() && self.worst.as_ref().is_some_and(Worst::is_full_of_errors)
    }

    /// Whether findings must be complete to decide if they are reported.
    const fn needs_message(&self) -> bool {
        self.query.is_some() || self.known.is_some() || self.accepted.is_some()
    }

    /// Which findings of a file need a message.
    fn messages_needed(&self, file: &str, profile: Profile) -> MessageFilter {
        // Only JSON contains the fix of a finding.
        let has_fixes = matches!(self.format, Format::Json(_));
        if self.needs_message() {
            return MessageFilter { has_fixes, ..MessageFilter::ALL };
        }
        if self.only_counts() {
            return MessageFilter::NONE;
        }
        let counted_only = match (&self.format, &self.worst) {
            (Format::Text(grouped), _) => grouped.counted_only_rules(file),
            (_, Some(worst)) => worst.counted_only_rules(profile),
            (_, None) => RuleSet::EMPTY,
        };
        let can_shrink = matches!(self.format, Format::Text(_)) || self.worst.is_some();
        let filter = MessageFilter::all_except(counted_only.union(self.excluded()), &self.groups);
        MessageFilter { has_fixes, can_shrink, ..filter }
    }

    /// The rules whose findings are not reported.
    fn excluded(&self) -> RuleSet {
        Rule::ALL.into_iter().filter(|rule| !self.filter.includes(*rule)).collect()
    }

    /// Makes the text of further findings, if all of them are printed.
    fn renderer(&self) -> Renderer {
        match &self.worst {
            None if !self.needs_message() => {
                self.format.renderer(self.excluded(), self.filter.fails, self.buffers.clone())
            }
            _ => Renderer::default(),
        }
    }

    /// Counts rendered findings of a file and prints them.
    fn print_text(&mut self, file: &str, rendered: FindingsText, out: &mut dyn Write) -> Result<(), Failure> {
        let (mut findings, mut failures) = (0, 0);
        for (rule, severity, count) in rendered.counts.iter().copied() {
            self.count(rule, severity, count);
            findings += count;
            failures += if self.filter.fails.contains(severity) { count } else { 0 };
        }
        self.printed += findings;
        for found in &rendered.grouped {
            self.groups.take(found);
        }
        self.format.write(file, &rendered.text, (findings, failures), out)?;
        self.buffers.recycle_up_to(MAX_KEPT_TEXT, rendered.text);
        Ok(())
    }

    /// Prints what could only be printed at the end.
    fn finish(&mut self, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let out = &mut *streams.out;
        let worst = self.worst.as_mut().map(|worst| std::mem::take(&mut worst.findings)).unwrap_or_default();
        for findings in worst.values() {
            self.print(findings, out)?;
        }
        match &mut self.format {
            Format::Lines { .. } | Format::Github => {}
            Format::Text(grouped) => text_report::print(grouped, out, streams.colour)?,
            Format::Json(findings) => {
                // Variants of a rule have the same code.
                for (rule, findings) in Rule::ALL.into_iter().zip(self.of_rules).filter(|(_, findings)| *findings > 0) {
                    *self.summary.rules.entry(rule.code()).or_default() += findings;
                }
                finish_check_json(out, findings, &self.files, &self.summary)?;
            }
            Format::Sarif(log) => log.finish(out)?,
            Format::Junit(cases) => {
                let files: Vec<String> = self.files.iter().map(|file| file.path.clone()).collect();
                cases.finish(out, &files)?;
            }
        }
        Ok(())
    }

    fn add_files(&mut self, session: &Session) {
        let document = session.document();
        let path = |path: Option<&Path>, name: &str| {
            path.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned())
        };
        let file = |(path, kind), entries, bytes, (encoding, quirks): (&'static str, &[Quirk])| {
            let (encoding, read_as) = quirk::stored_as(quirks, encoding);
            File { path, kind, entries, bytes, encoding, read_as }
        };
        let index = document.index().into_iter().flat_map(Index::files).map(|of_index| {
            let shown = (path(of_index.path, of_index.name), INDEX);
            file(shown, of_index.entries.len() as u64, of_index.len(), (of_index.encoding, of_index.quirks))
        });
        let sitemaps = document.sitemaps().iter().map(|sitemap| {
            let kind = match sitemap.form {
                form::Form::Xml => "urlset",
                form::Form::Feed(_) => "feed",
                form::Form::List => "list",
                form::Form::Csv | form::Form::Tsv => "table",
            };
            let shown = (path(sitemap.path.as_deref(), &sitemap.name), kind);
            file(shown, u64::from(sitemap.live), sitemap.bytes(), (sitemap.encoding, &sitemap.quirks))
        });
        let first = self.files.len();
        self.files.extend(index.chain(sitemaps));
        let Summary { entries, urls, index_entries, .. } = &mut self.summary;
        for file in self.files.iter().skip(first) {
            *entries += file.entries;
            *(if file.kind == INDEX { &mut *index_entries } else { &mut *urls }) += file.entries;
        }
    }
}

/// The name of a file in findings.
fn file_name(session: &Session, id: SitemapId) -> Arc<str> {
    let document = session.document().with_pending_split();
    document.sitemap(id).map_or_else(Arc::default, |sitemap| shown_name(sitemap.path.as_deref(), &sitemap.name))
}

/// Adds the findings of one file to the report.
struct FileReport<'r> {
    report: &'r mut Report,
    session: &'r Session,
    file: Arc<str>,
    out: &'r mut dyn Write,
}

impl Receiver for FileReport<'_> {
    type Error = Failure;
    type Renderer = Renderer;

    fn messages_needed(&self) -> MessageFilter {
        self.report.messages_needed(&self.file, self.session.view().profile())
    }

    fn renderer(&self) -> Renderer {
        self.report.renderer()
    }

    fn take(&mut self, rendered: Vec<Rendered>) -> Result<(), Failure> {
        let mut findings = Vec::new();
        for rendered in rendered {
            match rendered {
                Rendered::Findings(found) => findings.extend(found),
                Rendered::Text(text) => {
                    self.report.take_all(std::mem::take(&mut findings), self.session, self.out)?;
                    self.report.print_text(&self.file, text, self.out)?;
                }
            }
        }
        self.report.take_all(findings, self.session, self.out)
    }

    fn count(&mut self, counted: Counted) {
        let Report { groups, filter, .. } = &mut *self.report;
        let mut unlisted = Vec::new();
        counted.filter_rules(|rule| filter.includes(rule)).add_to_groups(
            groups,
            self.session.view().profile(),
            |rule, severity, findings| {
                unlisted.push((rule, severity, findings));
            },
        );
        for (rule, severity, findings) in unlisted {
            self.report.count_unlisted_in(&self.file, rule, severity, findings);
        }
    }
}

/// The `most` most severe findings; among findings of one severity, the first ones.
#[derive(Debug)]
struct Worst {
    most: usize,
    /// The number of findings, at most `most`.
    len: usize,
    /// The findings of each severity in the order in which they were found. No list is empty.
    findings: BTreeMap<Reverse<Severity>, Vec<Listed>>,
}

impl Worst {
    const fn new(most: usize) -> Self {
        Self { most, len: 0, findings: BTreeMap::new() }
    }

    fn add(&mut self, listed: Listed) {
        let severity = Reverse(listed.found.finding.severity);
        if self.is_full() {
            let least = self.findings.last_entry().filter(|least| *least.key() > severity);
            let Some(mut least) = least else { return };
            least.get_mut().pop();
            if least.get().is_empty() {
                least.remove();
            }
            self.len -= 1;
        }
        self.findings.entry(severity).or_default().push(listed);
        self.len += 1;
    }

    const fn is_full(&self) -> bool {
        self.len >= self.most
    }

    /// The severity of the least severe finding.
    fn least(&self) -> Option<Severity> {
        self.findings.last_key_value().map(|(severity, _)| severity.0)
    }

    /// The rules whose further findings would not be printed.
    fn counted_only_rules(&self, profile: Profile) -> RuleSet {
        let is_late = |rule: &Rule| self.is_full() && rule.severity_in(profile) <= self.least();
        Rule::ALL.into_iter().filter(is_late).collect()
    }

    /// Whether no further finding would be printed.
    fn is_full_of_errors(&self) -> bool {
        self.is_full() && self.least().is_none_or(|least| least == Severity::Error)
    }
}

/// `2 files, 58 URLs, 1 index with 2 entries: 2 errors, 1 warning, 0 notes (3 findings)`.
///
/// The unit is named because the screen counts rows: a finding about a file or host can concern thousands of them.
fn in_words(report: &Report) -> String {
    let Summary { urls, index_entries, errors, warnings, notes, .. } = report.summary;
    let indexes = report.files.iter().filter(|file| file.kind == INDEX).count() as u64;
    let files = report.files.len() as u64 - indexes;
    let findings = match errors + warnings + notes {
        0 => String::new(),
        findings => format!(" ({})", counted(findings, "finding")),
    };
    format!(
        "{}: {}, {}, {}{findings}",
        counted_entries((files, urls), (indexes, index_entries)),
        counted(errors, "error"),
        counted(warnings, "warning"),
        counted(notes, "note")
    )
}

#[cfg(test)]
mod tests {
    use super::super::args::{Cli, Task};
    use super::super::set_reader::tests::write;
    use super::*;
    use crate::check::Finding;
    use clap::Parser;
    use proptest::prelude::*;
    use std::fs;

    proptest! {
        #[test]
        fn the_most_severe_findings_are_kept_in_their_order(
            severities in prop::collection::vec(
                prop::sample::select(vec![Severity::Note, Severity::Warning, Severity::Error]),
                0..12,
            ),
            most in 0..8_usize,
        ) {
            let mut worst = Worst::new(most);
            for (number, severity) in severities.iter().enumerate() {
                let finding = Finding::new(Rule::LOC_FRAGMENT, *severity, number.to_string());
                let found = LocatedFinding { file: Arc::default(), at: None, loc: Arc::default(), finding };
                worst.add(Listed { found, extent: None });
            }
            let mut expected: Vec<(Reverse<Severity>, usize)> = severities.iter().copied().map(Reverse).zip(0..).collect();
            expected.sort_unstable();
            expected.truncate(most);
            let expected: Vec<String> = expected.into_iter().map(|(_, number)| number.to_string()).collect();
            let kept: Vec<String> =
                worst.findings.values().flatten().map(|listed| listed.found.finding.message.clone()).collect();
            prop_assert_eq!(worst.len, kept.len());
            prop_assert_eq!(kept, expected);
            prop_assert!(worst.findings.values().all(|of_severity| !of_severity.is_empty()));
        }
    }

    #[test]
    fn files_are_read_again_only_for_text_that_was_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        let with_message = ["check", "PATH", "--now", "2026-11-20"];
        let only_counted = [&with_message[..], &["--max-findings", "0"]].concat();
        // An impossible date in row 1, whose text is kept, or in row 40; in the second half of the rows findings of which a
        // row may have several: a placeholder host among real ones, an unknown element.
        for (row, (from, to), is_read_again) in [
            (1, ("", ""), false),
            (40, ("", ""), true),
            (60, ("://e.com/", "://example.com/"), true),
            (60, ("</url>", "<x/></url>"), true),
        ] {
            let rows: Vec<(u8, u8)> = (0..60).map(|loc| (loc + 12, if loc == row { 1 } else { 2 })).collect();
            write(folder.path(), &[rows]);
            let text = fs::read_to_string(folder.path().join("s0.xml")).unwrap();
            let (first, second) = text.split_at(text.len() / 2);
            let second = if from.is_empty() { second.to_owned() } else { second.replace(from, to) };
            fs::write(&path, first.to_owned() + &second).unwrap();
            for (words, is_read_again) in [(&with_message[..], is_read_again), (&only_counted, false)] {
                let words = words.iter().map(|word| if *word == "PATH" { path.to_str().unwrap() } else { word });
                let line = Cli::try_parse_from(["sited"].into_iter().chain(words)).unwrap();
                let Some(Task::Check(task)) = line.task else { unreachable!("a check") };
                let (mut out, mut notes) = (Vec::new(), Vec::new());
                let mut streams = Streams::new(&mut out, &mut notes);
                let now = task.common.now().unwrap();
                let request = SetRequest { common: &task.common, paths: &task.paths, limit: u64::MAX, now };
                let mut set = request.open(ReadMode::Count, &mut streams).unwrap();
                assert!(matches!(set, SetReader::FirstEntries(..)));
                let away = path.with_extension("away");
                fs::rename(&path, &away).unwrap();
                let result = Report::new(&task, false).unwrap().report(&mut set, &mut streams);
                assert_eq!(result.is_err(), is_read_again, "{row} {:?}", task.max_findings);
                fs::rename(&away, &path).unwrap();
            }
        }
    }
}
