//! Findings of an index and of its entries.

use crate::check::entry as entry_rules;
use crate::check::index::{self, IndexFacts};
use crate::check::message;
use crate::check::rule::{FixKind, Rule};
use crate::check::{Context, Finding, FindingTarget, Fix, Position, Profile};
use crate::document::Document;
use crate::document::sitemap::{Member, Sitemap, SitemapId};
use crate::protocol::Severity;
use crate::protocol::lastmod::Now;
use crate::protocol::location::UrlPrefix;
use crate::session::checks::CROSS_SUBMISSION;
use crate::session::file_fixes;
use crate::session::file_fixes::volumes::VolumeFindings;
use crate::session::findings::of_quirks;
use crate::session::state::Snapshot;
use crate::session::{Session, fix_table};
use crate::words::grouped;
use crate::xml::entry::Entry;
use crate::xml::record::Record;
use std::sync::Arc;

/// The findings of the index and its entries.
pub(in crate::session) fn of_index(session: &Session) -> Vec<Finding> {
    let document = session.document().with_pending_split();
    let Some(index) = document.index() else { return Vec::new() };
    let profile = session.current.checks.profile();
    let mut findings = file_fixes::findings(document, Member::Index, profile);
    findings.extend(of_quirks(&index.quirks, (true, profile), &|quirk| {
        FindingTarget::Index(quirk.entry.map(|entry| entry as usize))
    }));
    let mut of_volumes = VolumeFindings::new(document, profile);
    for (number, file) in index.files().enumerate().skip(1) {
        findings.extend(of_volumes.of_volume(number));
        findings.extend(of_quirks(file.quirks, (true, profile), &|quirk| {
            quirk.entry.map_or(FindingTarget::IndexFile(number), |entry| FindingTarget::Index(Some(entry as usize)))
        }));
    }
    let is_declared =
        |rule: Rule| session.current.checks.allows_other_sites() && CROSS_SUBMISSION.contains(rule.main());
    let mut more: Option<(Rule, Severity, u64)> = None;
    let mut add = |found: Finding| {
        if is_declared(found.rule) {
            return;
        }
        if findings.len() >= MAX_INDEX_FINDINGS {
            more.get_or_insert((found.rule, found.severity, 0)).2 += 1;
            return;
        }
        findings.push(found);
    };
    let url_prefix = index_home(&session.current, document);
    let context = Context {
        now: session.current.clock.seconds,
        profile: session.current.checks.profile(),
        names: &index.source.names,
        url_prefix: url_prefix.as_ref(),
        policy: None,
        site: None,
    };
    let sets = session.current.checks.rule_sets();
    for (number, set) in session.index_rules.iter().enumerate().filter(|(_, set)| **set != 0) {
        let rules = sets.get(usize::from(*set)).copied().unwrap_or_default();
        let text = index.source.entry_text(number);
        for finding in message::messages(&Entry::of(text, &index.source.names), text, &context, rules) {
            // Every fix of an entry edits the index as a file.
            let fix = finding.fix.clone().map(Fix::with_file_action);
            // These fixes need the base URL or the other entries, not only this one.
            let is_path = matches!(finding.rule, Rule::INDEX_CHILD_PATH | Rule::INDEX_CHILD_INCOMPLETE_URL);
            let path = fix_table::index_label(finding.rule).filter(|_| is_path);
            let path = path.map(|label| Fix::of_file(label, false));
            let fix = fix.or(path);
            let position = Position::of_field(finding.field());
            add(finding.of(FindingTarget::Index(Some(number))).at(position).with_fix(fix));
        }
    }
    each_list_finding(&session.current, session.document(), &mut |found| {
        let is_safe = found.rule.fix() == FixKind::Safe;
        let fix = fix_table::index_label(found.rule).filter(|_| fix_table::offers_index_fix(index, &found));
        let fix = fix.map(|label| Fix::of_file(label, is_safe));
        add(found.with_fix(fix));
    });
    if let Some((rule, severity, count)) = more {
        let message = format!("and {} more findings of entries of this index", grouped(count));
        findings.push(Finding::new(rule, severity, message).of(FindingTarget::Index(None)));
    }
    findings
}

/// Checks the entry rules of the index's own entries.
pub(in crate::session) fn check_entries(session: &mut Session) {
    let url_prefix = index_home(&session.current, &session.current.state.document);
    let Some(index) = session.current.state.document.index() else { return };
    let source = &index.source;
    let context = Context {
        now: session.current.clock.seconds,
        profile: session.current.checks.profile(),
        names: &source.names,
        url_prefix: url_prefix.as_ref(),
        policy: None,
        site: None,
    };
    let sets = (0..source.len()).map(|number| {
        let text = source.entry_text(number);
        entry_rules::check(&Entry::of(text, &source.names), text, &context)
    });
    session.index_rules = session.current.state.checks.numbers(sets);
}

/// The maximum number of findings of an index that are kept, as many as an index may have entries; further ones are
/// only counted.
const MAX_INDEX_FINDINGS: usize = 50_000;

/// Indexes of up to this many children, in sets of up to [`SMALL_SET`] rows, are checked after every change; larger
/// ones only after a load or a save.
pub(in crate::session) const SMALL_INDEX: usize = 500;

pub(in crate::session) const SMALL_SET: u64 = 100_000;

/// Whether the index is checked after every change.
pub(in crate::session) fn has_small_index(document: &Document) -> bool {
    document.index().is_some_and(|index| index.children.len() <= SMALL_INDEX) && u64::from(document.live()) <= SMALL_SET
}

/// The data of [`IndexFacts`], which borrow it.
#[derive(Debug, Default)]
pub(in crate::session) struct OwnedIndexFacts {
    profile: Profile,
    pub(in crate::session) newest: Vec<Option<i64>>,
    entries: Vec<u32>,
    undated: Vec<u32>,
    pub(in crate::session) mtimes: Vec<Option<i64>>,
    removed_on_save: usize,
}

impl OwnedIndexFacts {
    /// The facts with the public URL of the index, if it is known.
    pub(in crate::session) fn facts<'k>(&'k self, url_prefix: Option<&'k UrlPrefix>) -> IndexFacts<'k> {
        let Self { profile, newest, entries, undated, removed_on_save, .. } = self;
        IndexFacts { profile: *profile, url_prefix, newest, entries, undated, removed_on_save: *removed_on_save }
    }
}

/// How many entries a file has, for the rules of the index. A file that the next save removes does not count as empty.
pub(in crate::session) fn entries_of(document: &Document, saved: &Document, id: SitemapId, sitemap: &Sitemap) -> u32 {
    sitemap.live + u32::from(document.compare(saved).is_removed_by_save(id))
}

/// The facts about the files that the rules of the index need.
pub(in crate::session) fn index_facts(snapshot: &Snapshot, document: &Document) -> OwnedIndexFacts {
    let partition = document.with_pending_split();
    // The dates of a streamed set were collected while its files were loaded.
    let newest = if document.is_streamed() {
        snapshot.checks.newest.to_vec()
    } else {
        // A file that the next save writes gets the date of that save.
        let is_written = |id: usize| match (document.sitemaps().get(id), snapshot.saved.sitemaps().get(id)) {
            (Some(now), Some(then)) => !Arc::ptr_eq(now, then),
            _ => true,
        };
        let ids = 0..document.sitemaps().len();
        ids.map(|id| newest_of(snapshot, partition, SitemapId(id as u32)).filter(|_| !is_written(id))).collect()
    };
    let set = snapshot.checks.set();
    let sitemaps = document.sitemaps();
    OwnedIndexFacts {
        profile: snapshot.checks.profile(),
        newest,
        entries: (0..)
            .zip(sitemaps)
            .map(|(id, sitemap)| entries_of(document, &snapshot.saved, SitemapId(id), sitemap))
            .collect(),
        undated: (0..sitemaps.len() as u32).map(|file| set.undated(file)).collect(),
        mtimes: (0..sitemaps.len() as u32).map(|file| set.mtime(file)).collect(),
        removed_on_save: (0..sitemaps.len() as u32)
            .filter(|id| document.compare(&snapshot.saved).is_removed_by_save(SitemapId(*id)))
            .count(),
    }
}

/// The findings of the index as a list of sitemaps, without those of entry rules.
pub(in crate::session) fn list_findings(snapshot: &Snapshot, document: &Document) -> Vec<Finding> {
    let mut found = Vec::new();
    each_list_finding(snapshot, document, &mut |finding| found.push(finding));
    found
}

/// Calls `visit` with each of the [`list_findings`].
pub(in crate::session) fn each_list_finding(snapshot: &Snapshot, document: &Document, visit: &mut dyn FnMut(Finding)) {
    let split = document.with_pending_split();
    let Some(index) = split.index() else { return };
    let new_files = split.sitemaps().len() - document.sitemaps().len();
    let (facts, url_prefix) = (index_facts(snapshot, document), index_home(snapshot, document));
    index::check(index, &facts.facts(url_prefix.as_ref()), &mut |found| {
        // The next save lists the files that it creates.
        if found.rule != Rule::INDEX_SINGLE || new_files == 0 {
            visit(found);
        }
    });
}

/// [`list_findings`] of an index that is checked after every change; empty for a larger one.
pub(in crate::session) fn list_findings_of_few(snapshot: &Snapshot, document: &Document) -> Vec<Finding> {
    if has_small_index(document) { list_findings(snapshot, document) } else { Vec::new() }
}

/// The latest date among the rows of a file. Dates in the future are ignored: they have a rule of their own.
pub(in crate::session) fn newest_of(snapshot: &Snapshot, document: &Document, id: SitemapId) -> Option<i64> {
    newest(snapshot.clock, document.sitemap(id)?.rows.iter().map(|row| document.record(row)))
}

/// [`newest_of`] a file with these records.
pub(in crate::session) fn newest_in(now: Now, records: &[Record]) -> Option<i64> {
    newest(now, records.iter().copied())
}

fn newest(now: Now, records: impl Iterator<Item = Record>) -> Option<i64> {
    let latest = now.seconds + 86_400;
    let dates = records.filter_map(|record| record.lastmod().filter(|_| !record.is_deleted()));
    dates.map(|lastmod| lastmod.seconds).filter(|seconds| *seconds <= latest).max()
}

/// The URL prefix of the index, if the base URL is known.
pub(in crate::session) fn index_home(snapshot: &Snapshot, document: &Document) -> Option<UrlPrefix> {
    let (base, index) = (snapshot.base_url.as_deref()?, document.index()?);
    UrlPrefix::parse(&format!("{}/{}", base.trim_end_matches('/'), index.name))
}
