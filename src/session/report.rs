//! A complete report: every finding with its place, in the order of the files.
//!
//! [`Session::report`] is for a set that is held in memory; [`super::parts`] goes through a larger one with the same
//! [`Reporter`], so that both say the same.

mod markdown;
mod summary;

pub use markdown::FindingsReport;
pub use summary::{FileGroup, RuleGroup, Summary};

use super::Session;
use super::checks::{NEAR_ROWS, rule_of};
use super::findings::{FileFinding, Finding, FindingTarget, Reported, field_offset};
use super::parts::may_be_near;
use super::row_lines::{RowLines, RowNames};
use super::snapshot::DocumentLocs;
use crate::check::extension;
use crate::check::fix::{Action, Fix};
use crate::check::profile::Profile;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{NearDuplicates, SetFinding};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::xml::entry::Entry;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

/// What a report needs of the set as a whole; the rows it sees file by file.
#[derive(Debug, Default)]
pub struct Reporter {
    of_files: BTreeMap<SitemapId, Vec<FileFinding>>,
    of_set: BTreeMap<Option<u32>, Vec<SetFinding>>,
    /// Near duplicates that no row's rules tell.
    near: NearDuplicates,
    lines: RowLines,
}

/// A finding of a row and where in the bytes of its file it stands, if it does; its line is known only if it says so.
type Unplaced = (Option<usize>, Reported);

/// Rows that one core puts into words at a time.
const PIECE: usize = 1 << 10;

/// Rows whose findings are held in words at the same time.
const BLOCK: usize = 4 * PIECE;

fn shown(path: Option<&Path>, name: &Arc<str>) -> Arc<str> {
    path.map_or_else(|| Arc::clone(name), |path| path.to_string_lossy().into())
}

impl Reporter {
    /// Looks at what is known of the set.
    pub fn new(session: &Session) -> Self {
        let mut of_files: BTreeMap<SitemapId, Vec<FileFinding>> = BTreeMap::new();
        for finding in session.file_findings.iter() {
            if let FindingTarget::Sitemap(id) = finding.place {
                of_files.entry(id).or_default().push(finding.clone());
            }
        }
        let mut of_set: BTreeMap<Option<u32>, Vec<SetFinding>> = BTreeMap::new();
        for finding in session.current.checks.set_findings() {
            of_set.entry(finding.file).or_default().push(finding);
        }
        // Kept while editing up to a file's worth of rows; beyond that (a second key for every row) a report looks for
        // it. What is gone through file by file has looked already.
        let document = session.document();
        let near = if document.live() > NEAR_ROWS && !document.is_streamed() {
            let rows = may_be_near(document);
            session.current.checks.set().near_duplicates_among(&rows, &DocumentLocs(document))
        } else {
            NearDuplicates::default()
        };
        Self { of_files, of_set, near, lines: RowLines::of(document, &session.known_lines) }
    }

    /// The findings of the index and its entries.
    pub fn of_index(&self, session: &Session) -> Vec<Reported> {
        let Some(index) = session.document().index() else { return Vec::new() };
        let mut lines = index.source.lines();
        let files: Vec<Arc<str>> = index.files().map(|file| shown(file.path, file.name)).collect();
        let file = |child: Option<usize>, place: FindingTarget| match place {
            FindingTarget::IndexFile(number) => number,
            _ => child.map_or(0, |child| index.file_of(child)),
        };
        let file = |child, place| files.get(file(child, place)).cloned().unwrap_or_default();
        let found = session.file_findings.iter().filter_map(|finding| match finding.place {
            FindingTarget::Index(child) => Some((child, finding)),
            FindingTarget::IndexFile(_) => Some((None, finding)),
            _ => None,
        });
        let mut found: Vec<(Option<usize>, &FileFinding)> = found.collect();
        found.sort_by_key(|(child, _)| *child);
        // The findings of a child follow each other: it is taken apart once.
        let mut last: Option<(usize, Entry)> = None;
        let mut place = |child: Option<usize>, finding: &FileFinding| {
            let Some(child) = child else { return index.source.root_start() };
            let entry = match &last {
                Some((known, entry)) if *known == child => *entry,
                _ => Entry::of(index.source.entry_text(child), &index.source.names),
            };
            last = Some((child, entry));
            let offset = field_offset(&entry, finding.field);
            index.source.start(child).unwrap_or_default() + offset
        };
        // Positions are counted in rising order, since going back starts over: the findings of a child stand in any.
        let offsets = (0..).zip(&found).map(|(number, (child, finding))| (place(*child, finding), number));
        let mut offsets: Vec<(usize, usize)> = offsets.collect();
        offsets.sort_unstable();
        let mut positions = vec![(1, 1); found.len()];
        for (offset, number) in offsets {
            if let Some(position) = positions.get_mut(number) {
                *position = lines.position(offset);
            }
        }
        let reported = found.into_iter().zip(positions).map(|((child, finding), position)| Reported {
            file: file(child, finding.place),
            at: finding.at.or_else(|| match finding.place {
                FindingTarget::IndexFile(number) => {
                    index.file(number).map(|file| file.frame.lines().position(file.frame.root_start()))
                }
                _ => Some(position),
            }),
            row: None,
            loc: child.and_then(|child| index.children.get(child)).map_or("", |child| &child.loc).into(),
            finding: plain(finding),
        });
        reported.collect()
    }

    /// The findings of a file, then those of its rows, some thousand rows at a time: findings in words need many times
    /// the memory of the rows. Of some rows only if it is known that others have none.
    pub fn each_of_sitemap<E>(
        &self,
        session: &Session,
        (id, told): (SitemapId, Option<&[RowId]>),
        mut take: impl FnMut(Vec<Reported>) -> Result<(), E>,
    ) -> Result<(), E> {
        let document = session.document();
        let Some(sitemap) = document.with_pending_split().sitemap(id) else { return Ok(()) };
        let profile = session.profile();
        let file = shown(sitemap.path.as_deref(), &sitemap.name);
        let source = document.source_of(id).unwrap_or(&sitemap.frame);
        let mut lines = source.lines();
        let mut out = Vec::new();
        for finding in self.of_files.get(&id).into_iter().flatten() {
            let place = match finding.rule {
                Rule::DOC_STRAY_TEXT => source.stray.map(|at| at as usize),
                Rule::EXT_OUTSIDE_URL => extension::outside(source),
                _ => None,
            };
            let offset = place.unwrap_or(source.root_start());
            let at = finding.at.or_else(|| Some(lines.position(offset)));
            let (file, finding) = (Arc::clone(&file), plain(finding));
            out.push(Reported { file, at, row: None, loc: Arc::default(), finding });
        }
        for finding in self.of_set.get(&Some(id.0)).into_iter().flatten() {
            let at = Some(lines.position(source.root_start()));
            out.extend(of_set(finding, profile, (Arc::clone(&file), at)));
        }
        // Rows are put into words on all cores; their lines are counted afterwards, since a counter only goes forward.
        let sets = session.current.checks.rule_sets();
        // A file that the next save makes has no rows of its own yet.
        let own = || {
            let rows = document.sitemap(id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
            rows.filter(|row| document.is_live(*row)).collect()
        };
        let rows: Cow<'_, [RowId]> = told.map_or_else(own, Into::into);
        let in_words = |row: &RowId| {
            let rules = session.current.checks.rules_in(*row, document, &sets);
            let is_told = !rules.is_empty() || self.near.contains(row.0);
            if is_told { self.of_row(session, (*row, rules), &file) } else { Vec::new() }
        };
        take(out)?;
        for rows in rows.chunks(BLOCK) {
            let found: Vec<Vec<Unplaced>> =
                rows.par_chunks(PIECE).map(|rows| rows.iter().flat_map(in_words).collect()).collect();
            let placed = found.into_iter().flatten().map(|(offset, mut found)| {
                found.at = found.at.or_else(|| offset.map(|offset| lines.position(offset)));
                found
            });
            let mut out: Vec<Reported> = placed.collect();
            // What was repaired knows its own place, which need not be that of its row's bytes.
            for of_row in out.chunk_by_mut(|one, next| one.row == next.row) {
                of_row.sort_by_key(|found| found.at);
            }
            take(out)?;
        }
        Ok(())
    }

    /// The findings of a row in the order of the file: that is how people read a report.
    fn of_row(&self, session: &Session, (row, rules): (RowId, RuleSet), file: &Arc<str>) -> Vec<Unplaced> {
        let document = session.document();
        let mut findings = session.current.findings_of(row, rules, RowNames::Lines(&self.lines));
        if self.near.contains(row.0) {
            findings.extend(session.current.of_near(row, self.near.first_of(row.0)));
        }
        if findings.is_empty() {
            return Vec::new();
        }
        // An entry may have many findings: they share its URL.
        let loc: Arc<str> = document.loc(row).as_ref().into();
        let base = document.origin(row);
        let base = base.map(|(source, entry)| (source.start(entry).unwrap_or_default(), source.entry_text(entry)));
        let anatomy = base.map(|(_, text)| Entry::of(text, document.names(row)));
        let offset = |finding: &Finding| {
            let (start, text) = base?;
            Some(
                start
                    + match finding.part.as_ref().map(|part| part.at).or(finding.offset) {
                        Some(at) => (at as usize).min(text.len()),
                        None => field_offset(anatomy.as_ref()?, finding.field),
                    },
            )
        };
        let placed = findings.into_iter().map(|finding| {
            let (file, at, loc) = (Arc::clone(file), finding.at, Arc::clone(&loc));
            let offset = offset(&finding);
            // A report says what a fix does and does not do it: an entry with n findings would be kept n times.
            let fix = finding.fix.map(|fix| Fix { action: Action::File, ..fix });
            (offset, Reported { file, at, row: Some(row), loc, finding: Finding { fix, ..finding } })
        });
        let mut placed: Vec<Unplaced> = placed.collect();
        placed.sort_by_key(|(offset, _)| *offset);
        placed
    }

    /// The findings of the set as a whole.
    pub fn of_set(&self, session: &Session) -> Vec<Reported> {
        let whole: Arc<str> = session.path.as_ref().map_or_else(|| "".into(), |path| path.to_string_lossy().into());
        let found = self.of_set.get(&None).into_iter().flatten();
        let found = found.filter_map(|finding| of_set(finding, session.profile(), (Arc::clone(&whole), None)));
        let required = session.missing_urls().into_iter().map(|(url, finding)| {
            let (file, loc) = (Arc::clone(&whole), url.into());
            Reported { file, at: None, row: None, loc, finding: plain(&finding) }
        });
        found.chain(required).collect()
    }
}

impl Session {
    /// The same set to read from on another thread: without history, files on disk and journal, so nothing can be changed.
    fn detached(&self) -> Self {
        let mut session = Self::new(self.current.clock, None);
        session.current = self.current.clone();
        (session.path, session.paths) = (self.path.clone(), self.paths.clone());
        session.file_findings = Arc::clone(&self.file_findings);
        (session.owes_files, session.loading) = (self.owes_files, self.loading);
        session
    }

    /// Every finding with its place, in the order of the files: the index first, then each file, its own
    /// findings before its rows', then the set's.
    pub fn report(&self) -> Vec<Reported> {
        let reporter = Reporter::new(self);
        let mut out = reporter.of_index(self);
        for id in (0..self.document().with_pending_split().sitemaps().len() as u32).map(SitemapId) {
            let all = reporter.each_of_sitemap(self, (id, None), |found| {
                out.extend(found);
                Ok::<(), Infallible>(())
            });
            match all {
                Ok(()) => {}
            }
        }
        out.extend(reporter.of_set(self));
        out
    }
}

fn of_set(finding: &SetFinding, profile: Profile, (file, at): (Arc<str>, Option<(u64, u64)>)) -> Option<Reported> {
    let rule = rule_of(finding.rule);
    let severity = rule.severity_in(profile)?;
    let finding = Finding::new(rule, severity, None, finding.message.clone());
    Some(Reported { file, at, row: None, loc: Arc::default(), finding })
}

fn plain(finding: &FileFinding) -> Finding {
    let plain = Finding::new(finding.rule, finding.severity, finding.field, finding.message.clone());
    Finding { fix: finding.fix.clone(), at: finding.at, ..plain }
}
