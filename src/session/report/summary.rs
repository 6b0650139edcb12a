//! Groups findings by severity, rule and file: the data of the text report and the Markdown report.
//!
//! Invariant: memory grows with the number of rules, not with the number of findings.

use crate::check::Profile;
use crate::check::rule::{Rule, RuleSet};
use crate::document::sitemap::SitemapId;
use crate::progress::Progress;
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::grouping::Groups;
use crate::session::located_finding::LocatedFinding;
use crate::session::report::{AsFound, Counted, MessageFilter, Receiver, Reporter, shown_name};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum number of findings of one rule that are kept for one file.
const MAX_FINDINGS: usize = 5;

/// The maximum number of files that are kept for one rule.
const MAX_FILES: usize = 20;

/// The findings of a run, the most severe first, then in the order in which their rules were found.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    rules: BTreeMap<(Reverse<Severity>, usize), RuleGroup>,
    /// Rules in the order in which they were found first.
    order: Vec<Rule>,
}

/// The findings of one rule.
#[derive(Debug)]
pub(crate) struct RuleGroup {
    /// The violated rule.
    pub rule: Rule,
    /// Its severity in the profile of the session.
    pub severity: Severity,
    /// The first files, in their order.
    pub files: Vec<FileGroup>,
    /// The number of findings, including those that are only counted.
    pub findings: u64,
}

/// The findings of one rule in one file.
#[derive(Debug)]
pub(crate) struct FileGroup {
    /// The path of the file, as opened.
    pub file: Arc<str>,
    /// The first findings.
    pub first: Vec<LocatedFinding>,
    /// The number of findings.
    pub findings: u64,
}

impl Summary {
    /// Adds a finding; most are only counted.
    pub(crate) fn add(&mut self, found: &LocatedFinding) {
        let group = self.group(found.finding.rule, found.finding.severity);
        group.findings += 1;
        // The findings of a file are adjacent, except those about the set.
        let known = group.files.iter().rposition(|of_file| of_file.file == found.file);
        let at = known.or_else(|| {
            let is_room = group.files.len() < MAX_FILES;
            is_room.then(|| {
                group.files.push(FileGroup { file: Arc::clone(&found.file), first: Vec::new(), findings: 0 });
                group.files.len() - 1
            })
        });
        let Some(of_file) = at.and_then(|at| group.files.get_mut(at)) else { return };
        of_file.findings += 1;
        if of_file.first.len() < MAX_FINDINGS {
            of_file.first.push(found.clone());
        }
    }

    /// Counts findings without messages.
    pub(crate) fn count(&mut self, rule: Rule, severity: Severity, findings: u64) {
        self.group(rule, severity).findings += findings;
    }

    /// Counts findings without messages in the file of this name.
    pub(crate) fn count_in(&mut self, file: &str, rule: Rule, severity: Severity, findings: u64) {
        let group = self.group(rule, severity);
        group.findings += findings;
        if let Some(of_file) = group.files.iter_mut().rev().find(|of_file| &*of_file.file == file) {
            of_file.findings += findings;
        }
    }

    /// The rules whose further findings in the file of this name are only counted.
    pub(crate) fn counted_only_rules(&self, file: &str) -> RuleSet {
        let is_satisfied = |group: &&RuleGroup| match group.files.iter().rfind(|of_file| &*of_file.file == file) {
            Some(of_file) => of_file.first.len() >= MAX_FINDINGS,
            None => group.files.len() >= MAX_FILES,
        };
        self.rules().filter(is_satisfied).map(|group| group.rule).collect()
    }

    fn group(&mut self, rule: Rule, severity: Severity) -> &mut RuleGroup {
        let index = self.order.iter().position(|known| *known == rule).unwrap_or_else(|| {
            self.order.push(rule);
            self.order.len() - 1
        });
        let new = || RuleGroup { rule, severity, files: Vec::new(), findings: 0 };
        self.rules.entry((Reverse(severity), index)).or_insert_with(new)
    }

    /// The violated rules, the most severe first.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &RuleGroup> {
        self.rules.values()
    }

    /// The number of findings of this severity.
    pub(crate) fn of_severity(&self, severity: Severity) -> u64 {
        self.rules().filter(|group| group.severity == severity).map(|group| group.findings).sum()
    }

    fn add_all(&mut self, groups: &mut Groups, found: &[LocatedFinding]) {
        found.iter().filter(|found| !groups.take(found)).for_each(|found| self.add(found));
    }

    /// Adds the findings of groups.
    pub(super) fn add_groups(&mut self, groups: &mut Groups) {
        for group in groups.finish() {
            if let Some((found, _)) = group.into_finding() {
                self.add(&found);
            }
        }
    }
}

impl RuleGroup {
    /// The number of findings in files beyond the first ones.
    pub(crate) fn beyond(&self) -> u64 {
        self.findings - self.files.iter().map(|of_file| of_file.findings).sum::<u64>()
    }
}

impl FileGroup {
    /// The number of findings beyond the first ones.
    pub(crate) const fn beyond(&self) -> u64 {
        self.findings - self.first.len() as u64
    }
}

/// The summary of a set as `check` counts it: findings of one cause are one. Unread files are not included. `None` when
/// cancelled.
pub(super) fn summary(session: &Session, progress: &Progress) -> Option<Summary> {
    let reporter = Reporter::new(session);
    let (mut all, mut groups) = (Summary::default(), Groups::default());
    all.add_all(&mut groups, &reporter.of_index(session));
    all.add_groups(&mut groups);
    let document = session.document().with_pending_split();
    for id in (0..document.sitemaps().len() as u32).map(SitemapId) {
        let file = document.sitemap(id).map(|sitemap| shown_name(sitemap.path.as_deref(), &sitemap.name));
        let profile = session.view().profile();
        let mut of_file =
            FileSummary { all: &mut all, groups: &mut groups, file: file.unwrap_or_default(), profile, progress };
        reporter.each_of_sitemap(session, (id, None), &mut of_file).ok()?;
        all.add_groups(&mut groups);
    }
    all.add_all(&mut groups, &reporter.of_set(session));
    all.add_groups(&mut groups);
    Some(all)
}

/// Receives the findings of one file.
struct FileSummary<'s> {
    all: &'s mut Summary,
    groups: &'s mut Groups,
    file: Arc<str>,
    profile: Profile,
    progress: &'s Progress,
}

impl Receiver for FileSummary<'_> {
    type Error = ();
    type Renderer = AsFound;

    fn messages_needed(&self) -> MessageFilter {
        MessageFilter::all_except(self.all.counted_only_rules(&self.file), self.groups)
    }

    fn renderer(&self) -> AsFound {
        AsFound
    }

    fn take(&mut self, found: Vec<Vec<LocatedFinding>>) -> Result<(), ()> {
        for found in found {
            self.all.add_all(self.groups, &found);
        }
        if self.progress.is_cancelled() { Err(()) } else { Ok(()) }
    }

    fn count(&mut self, counted: Counted) {
        counted.add_to_groups(self.groups, self.profile, |rule, severity, findings| {
            self.all.count_in(&self.file, rule, severity, findings);
        });
    }
}
