//! Lists every finding with its position, in the order of the files.
//!
//! Resident and streamed sets use the same [`Reporter`], so that their reports are equal.

use crate::session::findings::{self, ParsedRow, Wording, required, robots};
mod counting;
pub(crate) mod markdown;
mod row_kinds;
pub(super) mod summary;

pub use counting::{Receiver, Render};

pub(crate) use counting::{AsFound, Counted, InWords, MessageFilter};
pub(crate) use markdown::CountsByFile;
pub(crate) use summary::Summary;

use crate::check::action::Fixes;
use crate::check::extension;
use crate::check::rule::{Rule, RuleSet, RuleSets};
use crate::check::set::NearDuplicates;
use crate::check::value_messages::ValueMessages;
use crate::check::{ExtensionPart, Finding, FindingTarget, Fix, Position};
use crate::document::lines::{LineColumn, Lines};
use crate::document::rows::RowId;
use crate::document::sitemap::SitemapId;
use crate::document::source::Source;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::checks::DocumentLocs;
use crate::session::checks::near_candidates;
use crate::session::checks::rule_of;
use crate::session::located_finding::LocatedFinding;
use crate::session::row_lines::field_offset;
use crate::session::row_lines::{RowLines, RowNames};
use crate::xml::entry::Entry;
use counting::{Counter, has_set_rules};
use rayon::prelude::*;
use row_kinds::RowKinds;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, mpsc};

/// The findings of files and of the set; those of rows are made file by file.
#[derive(Debug, Default)]
pub struct Reporter {
    of_files: BTreeMap<SitemapId, Vec<Finding>>,
    of_set: BTreeMap<Option<u32>, Vec<Finding>>,
    /// Near duplicates, if the session does not update them.
    near: NearDuplicates,
    lines: RowLines,
    /// The message that a URL lacks a lastmod.
    lastmod_missing: OnceLock<String>,
    /// What tasks have left, for one task each at a time.
    unused: Mutex<Vec<TaskMemory>>,
}

/// What a task leaves to a later one.
#[derive(Debug, Default)]
struct TaskMemory {
    /// The messages of values.
    values: ValueMessages,
    /// Memory for findings.
    findings: Vec<LocatedFinding>,
}

/// Number of rows of a parallel task: the findings of a few tasks fit into the cache of a core.
const TASK_ROWS: usize = 1 << 7;

/// Number of rows of a task that only counts findings.
const COUNTED_ROWS: usize = 1 << 12;

/// Number of findings for which a task allocates memory at once: most have fewer, even if each row has some.
const TASK_FINDINGS: usize = 4 * TASK_ROWS;

/// Maximum number of findings whose memory is left to a later task: one row can have millions.
const MAX_KEPT_FINDINGS: usize = 4 * TASK_FINDINGS;

/// Number of rows whose findings are printed at once.
const BLOCK_ROWS: usize = 8 * TASK_ROWS;

/// Number of blocks whose messages are made while the receiver prints one.
const BLOCKS_IN_FLIGHT: usize = 4;

/// Number of rows of the first block if later rows may need fewer messages: which findings do changes quickly at the
/// start.
const FIRST_BLOCK_ROWS: usize = 64;

/// The name of a file in findings.
pub fn shown_name(path: Option<&Path>, name: &Arc<str>) -> Arc<str> {
    path.map_or_else(|| Arc::clone(name), |path| path.to_string_lossy().into())
}

/// The name of a sitemap in findings, and its source.
fn name_and_source(session: &Session, id: SitemapId) -> Option<(Arc<str>, &Source)> {
    let document = session.document();
    let sitemap = document.with_pending_split().sitemap(id)?;
    let source = document.source_of(id).unwrap_or(&sitemap.frame);
    Some((shown_name(sitemap.path.as_deref(), &sitemap.name), source))
}

impl Reporter {
    /// Collects the findings of files and of the set.
    pub fn new(session: &Session) -> Self {
        let mut of_files: BTreeMap<SitemapId, Vec<Finding>> = BTreeMap::new();
        for finding in session.file_findings.iter() {
            if let FindingTarget::Sitemap(id) = finding.target {
                of_files.entry(id).or_default().push(finding.clone());
            }
        }
        let mut of_set: BTreeMap<Option<u32>, Vec<Finding>> = BTreeMap::new();
        let set = session.current.checks.set();
        for (file, rule) in set.broken() {
            let message = || set.message_of(file, rule);
            let found = Finding::in_profile(rule_of(rule), session.view().profile(), message);
            of_set.entry(file).or_default().extend(found);
        }
        // Sessions update near duplicates only in small sets: a second key for every row would take too much memory.
        // A streamed set has found them in its first pass.
        let document = session.document();
        let near = if !session.current.checks.knows_near_duplicates() && !document.is_streamed() {
            let rows = near_candidates(document);
            session.current.checks.set().near_duplicates_among(&rows, &DocumentLocs(document))
        } else {
            NearDuplicates::default()
        };
        let lines = RowLines::of(document, &session.known_lines);
        Self { of_files, of_set, near, lines, lastmod_missing: OnceLock::new(), unused: Mutex::default() }
    }

    /// The findings of the index and its entries.
    pub fn of_index(&self, session: &Session) -> Vec<LocatedFinding> {
        let Some(index) = session.document().index() else { return Vec::new() };
        let mut lines = index.source.lines();
        let files: Vec<Arc<str>> = index.files().map(|file| shown_name(file.path, file.name)).collect();
        let file = |child: Option<usize>, target: FindingTarget| match target {
            FindingTarget::IndexFile(number) => number,
            _ => child.map_or(0, |child| index.file_of(child)),
        };
        let file = |child, place| files.get(file(child, place)).cloned().unwrap_or_default();
        let found = session.file_findings.iter().filter_map(|finding| match finding.target {
            FindingTarget::Index(child) => Some((child, finding)),
            FindingTarget::IndexFile(_) => Some((None, finding)),
            _ => None,
        });
        let mut found: Vec<(Option<usize>, &Finding)> = found.collect();
        found.sort_by_key(|(child, _)| *child);
        // The findings of a child are adjacent, so it is parsed once.
        let mut last: Option<(usize, Entry)> = None;
        let mut offset_of = |child: Option<usize>, finding: &Finding| {
            let Some(child) = child else { return index.source.root_start() };
            let entry = match &last {
                Some((known, entry)) if *known == child => *entry,
                _ => Entry::of(index.source.entry_text(child), &index.source.names),
            };
            last = Some((child, entry));
            let offset = field_offset(&entry, finding.field());
            index.source.start(child).unwrap_or_default() + offset
        };
        // Positions are computed in ascending order, since going back starts over.
        let offsets = (0..).zip(&found).map(|(number, (child, finding))| (offset_of(*child, finding), number));
        let mut offsets: Vec<(usize, usize)> = offsets.collect();
        offsets.sort_unstable();
        let mut positions = vec![LineColumn::START; found.len()];
        for (offset, number) in offsets {
            if let Some(position) = positions.get_mut(number) {
                *position = lines.position(offset);
            }
        }
        let reported = found.into_iter().zip(positions).map(|((child, finding), position)| LocatedFinding {
            file: file(child, finding.target),
            at: finding.position.stored().or_else(|| match finding.target {
                FindingTarget::IndexFile(number) => {
                    index.file(number).map(|file| file.frame.lines().position(file.frame.root_start()))
                }
                _ => Some(position),
            }),
            loc: child.and_then(|child| index.children.get(child)).map_or("", |child| &child.loc).into(),
            finding: finding.clone(),
        });
        reported.collect()
    }

    /// Sends a receiver the findings of a file, then those of its rows, some thousand rows at a time, since messages
    /// need many times the memory of rows. They are rendered by the thread that makes them. `rows` are given if the
    /// other rows are known to have no findings. Returns the rows whose findings were not sent
    /// ([`Reporter::each_of_rows`]).
    ///
    /// # Errors
    /// The error of the receiver.
    pub fn each_of_sitemap<R: Receiver>(
        &self,
        session: &Session,
        (id, rows): (SitemapId, Option<&[RowId]>),
        receiver: &mut R,
    ) -> Result<Vec<RowId>, R::Error> {
        let Some((file, source)) = name_and_source(session, id) else { return Ok(Vec::new()) };
        let mut of_file = self.of_file(id, (source, &file));
        if !of_file.is_empty() {
            receiver.take(vec![receiver.renderer().render(&mut of_file)])?;
        }
        self.each_of_rows(session, (id, rows), receiver)
    }

    /// Sends a receiver the findings of rows of a file, as [`Reporter::each_of_sitemap`] does. Returns the rows whose
    /// findings were not sent, since their text is needed and not in memory.
    ///
    /// # Errors
    /// The error of the receiver.
    pub fn each_of_rows<R: Receiver>(
        &self,
        session: &Session,
        (id, rows): (SitemapId, Option<&[RowId]>),
        receiver: &mut R,
    ) -> Result<Vec<RowId>, R::Error> {
        let Some((file, source)) = name_and_source(session, id) else { return Ok(Vec::new()) };
        let (document, checks, mut unread) = (session.document(), &session.current.checks, Vec::new());
        // A file that the next save creates has no rows of its own yet.
        let all = || {
            let rows = document.sitemap(id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
            let is_any_deleted = document.live() < document.row_limit();
            let has_set_rules = has_set_rules(checks, &self.near);
            // Most rows of most sets are clean.
            let rows = rows.filter(|row| has_set_rules || checks.finding_id(*row) != RuleSets::CLEAN);
            rows.filter(|row| !is_any_deleted || document.is_live(*row)).collect()
        };
        let rows: Cow<'_, [RowId]> = rows.map_or_else(all, Into::into);
        let (mut rest, mut size) = (&*rows, FIRST_BLOCK_ROWS);
        let sets = checks.rule_sets();
        // The findings and counts of the blocks that the receiver has not got yet, in their order.
        let mut in_flight: VecDeque<mpsc::Receiver<_>> = VecDeque::new();
        let (file, sets) = (FileOfRows { session, id, source, name: &file }, &*sets);
        rayon::in_place_scope(|scope| {
            loop {
                // The findings that need messages change quickly at the start; later a delay of some blocks is
                // acceptable, so that no core waits while the receiver prints a block.
                let depth = if size == BLOCK_ROWS { BLOCKS_IN_FLIGHT } else { 1 };
                if in_flight.len() < depth && !rest.is_empty() {
                    let filter = receiver.messages_needed();
                    if filter.rules.is_empty() {
                        size = rest.len();
                    } else if !filter.can_shrink {
                        size = BLOCK_ROWS;
                    }
                    let (block, later) = rest.split_at_checked(size).unwrap_or((rest, &[]));
                    (rest, size) = (later, (4 * size).min(BLOCK_ROWS));
                    let (sender, found) = mpsc::channel();
                    let renderer = receiver.renderer();
                    scope.spawn(move |_| {
                        // Nobody receives after an error of the receiver.
                        let _ = sender.send(self.of_rows((block, sets), file, (&filter, &renderer)));
                    });
                    in_flight.push_back(found);
                    continue;
                }
                let Some(found) = in_flight.pop_front() else { return Ok(unread) };
                if let Some(found) = wait(&found) {
                    receiver.take(found.rendered)?;
                    receiver.count(found.counted);
                    unread.extend(found.unread);
                }
            }
        })
    }

    /// The findings of a file itself, including those of set rules.
    fn of_file(&self, id: SitemapId, (source, file): (&Source, &Arc<str>)) -> Vec<LocatedFinding> {
        let (mut out, mut lines) = (Vec::new(), source.lines());
        for finding in self.of_files.get(&id).into_iter().flatten() {
            let place = match finding.rule {
                Rule::DOC_STRAY_TEXT => source.stray.map(|at| at as usize),
                Rule::EXT_OUTSIDE_URL => extension::find_outside_entries(source),
                _ => None,
            };
            let offset = place.unwrap_or(source.root_start());
            let at = finding.position.stored().or_else(|| Some(lines.position(offset)));
            let (file, finding) = (Arc::clone(file), finding.clone());
            out.push(LocatedFinding { file, at, loc: Arc::default(), finding });
        }
        for finding in self.of_set.get(&Some(id.0)).into_iter().flatten() {
            let at = Some(lines.position(source.root_start()));
            out.push(LocatedFinding { file: Arc::clone(file), at, loc: Arc::default(), finding: finding.clone() });
        }
        out
    }

    /// The findings of some rows, on all cores: the wanted ones with messages, rendered in pieces of some rows each,
    /// the others counted.
    fn of_rows<R: Render>(
        &self,
        (rows, sets): (&[RowId], &[RuleSet]),
        file: FileOfRows<'_>,
        (filter, renderer): (&MessageFilter, &R),
    ) -> RowReport<R::Output> {
        let snapshot = &file.session.current;
        let counter = Counter::new(snapshot, file.id, &self.near, filter);
        let of_piece = |rows: &[RowId]| {
            let (mut of_task, mut kinds) =
                (RowFindings::new(self, file, filter), RowKinds::new(&counter, file.id, rows, sets, filter));
            for row in rows.iter().copied() {
                let with_message = kinds.count(row);
                if !with_message.is_empty() {
                    of_task.add(row, with_message);
                }
            }
            let (rendered, (counted, unread)) = (of_task.render(renderer), kinds.finish());
            RowReport { rendered: rendered.into_iter().collect(), counted, unread }
        };
        let task_rows = if filter.rules.is_empty() { COUNTED_ROWS } else { TASK_ROWS };
        let pieces: Vec<RowReport<R::Output>> = rows.par_chunks(task_rows).map(of_piece).collect();
        let none = RowReport { rendered: Vec::new(), counted: Counted::default(), unread: Vec::new() };
        let mut report = pieces.into_iter().fold(none, RowReport::join);
        counter.name_hosts(&mut report.counted);
        report
    }

    /// The findings of the set as a whole.
    pub fn of_set(&self, session: &Session) -> Vec<LocatedFinding> {
        let whole: Arc<str> = session.path.as_ref().map_or_else(|| "".into(), |path| path.to_string_lossy().into());
        let found = self.of_set.get(&None).into_iter().flatten();
        let whole_set = || (Arc::clone(&whole), Arc::default());
        let found = found.map(|finding| (whole_set(), finding.clone()));
        let required = required::missing(session).into_iter().map(|(url, finding)| (url.to_owned(), finding));
        let about_urls = required
            .chain(robots::of_sitemap_lines(session))
            .map(|(url, finding)| ((Arc::clone(&whole), url.into()), finding));
        let all = found.chain(about_urls);
        all.map(|((file, loc), finding)| LocatedFinding { file, at: None, loc, finding }).collect()
    }
}

/// The findings of some rows.
struct RowReport<O> {
    /// What a renderer made of the findings with messages.
    rendered: Vec<O>,
    /// The other findings.
    counted: Counted,
    /// Rows whose findings are missing, since their text is needed and not in memory.
    unread: Vec<RowId>,
}

impl<O> RowReport<O> {
    /// Appends the findings of the next rows.
    fn join(mut self, later: Self) -> Self {
        self.rendered.extend(later.rendered);
        self.unread.extend(later.unread);
        Self { counted: self.counted.join(later.counted), ..self }
    }
}

/// The file of some rows.
#[derive(Clone, Copy)]
struct FileOfRows<'r> {
    session: &'r Session,
    id: SitemapId,
    source: &'r Source,
    /// Its name in findings.
    name: &'r str,
}

/// Collects the findings of the rows of a task.
struct RowFindings<'r> {
    reporter: &'r Reporter,
    file: FileOfRows<'r>,
    /// Its name. Tasks do not share one, since they would wait for each other to count its owners.
    name: Arc<str>,
    /// Counts the lines of the file.
    lines: Lines<'r>,
    fixes: Fixes,
    memory: TaskMemory,
}

impl<'r> RowFindings<'r> {
    /// A collector with the memory that an earlier task has left.
    fn new(reporter: &'r Reporter, file: FileOfRows<'r>, filter: &MessageFilter) -> Self {
        let memory = reporter.unused.lock().ok().and_then(|mut unused| unused.pop()).unwrap_or_default();
        let (name, lines) = (file.name.into(), file.source.lines());
        let fixes = if filter.has_fixes { Fixes::Described } else { Fixes::None };
        Self { reporter, file, name, lines, fixes, memory }
    }

    /// Adds the findings of a row for these rules, in the order of their places in the file.
    fn add(&mut self, row: RowId, rules: RuleSet) {
        let Self { reporter, file, name, lines, fixes, memory: TaskMemory { values, findings: all } } = self;
        let session = file.session;
        let document = session.document();
        let (names, lastmod_missing) = (RowNames::Lines(&reporter.lines), &reporter.lastmod_missing);
        let words = Wording { names, fixes: *fixes, lastmod_missing };
        let parsed = ParsedRow::of(document, row);
        let mut findings = findings::of_rules(&session.current, &parsed, rules, words, values);
        if reporter.near.contains(row.0) && rules.contains(Rule::SET_DUPLICATE_NEAR) {
            findings.extend(findings::of_near(&session.current, row, reporter.near.first_of(row.0)));
        }
        findings.retain(|finding| rules.contains(finding.rule));
        // An entry may have many findings, which share its URL.
        let loc: Arc<str> = parsed.entry.value(Field::Loc, &parsed.text).unwrap_or_default().into();
        let base = document.origin(row);
        let base = base.map(|(source, entry)| (source.start(entry).unwrap_or_default(), source.entry_text(entry)));
        let anatomy = base.map(|(_, text)| match parsed {
            ParsedRow { entry, text: current, .. } if text == &*current => entry,
            _ => Entry::of(text, document.names(row)),
        });
        let offset = |finding: &Finding| {
            let (start, text) = base?;
            Some(
                start
                    + match &finding.position {
                        Position::Element(ExtensionPart { at, .. }) | Position::Offset(at) => {
                            (*at as usize).min(text.len())
                        }
                        position => field_offset(anatomy.as_ref()?, position.field()),
                    },
            )
        };
        findings.sort_by_key(|finding| (offset(finding), Reverse(finding.severity)));
        if all.is_empty() {
            all.reserve(TASK_FINDINGS);
        }
        let first = all.len();
        for mut finding in findings {
            let place = |offset| reporter.lines.advance((file.id, file.source), lines, offset);
            let at = finding.position.stored().or_else(|| offset(&finding).map(place));
            // A report only describes fixes: the actions of n findings would keep n copies of the entry.
            finding.fix = finding.fix.map(Fix::with_file_action);
            all.push(LocatedFinding { file: Arc::clone(name), at, loc: Arc::clone(&loc), finding });
        }
        // Findings of repairs have their own position, which may differ from that of the row's bytes.
        if let Some(of_row) = all.get_mut(first..) {
            of_row.sort_by_key(|found| found.at);
        }
    }

    /// What a renderer makes of the findings; `None` without any. The memory is left to a later task.
    fn render<R: Render>(mut self, renderer: &R) -> Option<R::Output> {
        let findings = &mut self.memory.findings;
        let rendered = (!findings.is_empty()).then(|| renderer.render(findings));
        findings.clear();
        findings.shrink_to(MAX_KEPT_FINDINGS);
        if let Ok(mut unused) = self.reporter.unused.lock() {
            unused.push(self.memory);
        }
        rendered
    }
}

/// The result of a task; `None` if it panicked.
fn wait<T>(result: &mpsc::Receiver<T>) -> Option<T> {
    // A thread of the pool must run its tasks meanwhile: there may be no other.
    while rayon::current_thread_index().is_some() {
        match result.try_recv() {
            Err(mpsc::TryRecvError::Empty) => rayon::yield_now(),
            result => return result.ok(),
        };
    }
    result.recv().ok()
}

/// A copy of the session for reports on another thread, without history, disk state and journal.
fn detached(session: &Session) -> Session {
    let mut copy = Session::new(session.current.clock, None);
    copy.current = session.current.clone();
    (copy.path, copy.paths) = (session.path.clone(), session.paths.clone());
    copy.file_findings = Arc::clone(&session.file_findings);
    (copy.overwrites_changes, copy.loading) = (session.overwrites_changes, session.loading);
    copy
}

/// Every finding with its position: first those of the index, then of each file and its rows, then of the set.
pub fn all_findings(session: &Session) -> Vec<LocatedFinding> {
    let reporter = Reporter::new(session);
    let mut out = reporter.of_index(session);
    for id in (0..session.document().with_pending_split().sitemaps().len() as u32).map(SitemapId) {
        let mut all = InWords(|found| {
            out.extend(found);
            Ok::<(), Infallible>(())
        });
        let all = reporter.each_of_sitemap(session, (id, None), &mut all);
        match all {
            Ok(_) => {}
        }
    }
    out.extend(reporter.of_set(session));
    out
}
