//! Words the findings of a row and of files.

use super::checks::{CROSS_SUBMISSION, rule_of};
use super::row_lines::RowNames;
use super::snapshot::{DocumentLocs, Snapshot};
use super::{Session, file_fixes, fix};
use crate::check::extension::{self, ExtensionPart};
use crate::check::fix::{Action, Fix};
use crate::check::index;
use crate::check::profile::Profile;
use crate::check::rule::{FixKind, Grouping, Rule, RuleSet};
use crate::check::set::SetRule;
use crate::check::{entry as entry_rules, message, quirk};
use crate::document::Document;
use crate::document::form::Form;
use crate::document::quirk::Quirk;
use crate::document::rows::RowId;
use crate::document::sitemap::{Member, SitemapId};
use crate::files::{self, Reason};
use crate::protocol::location::{self, Location};
use crate::protocol::{Field, Severity};
use crate::words::{excerpt, grouped};
use crate::xml::entry::Entry;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A finding in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// Which value, if it is about one.
    pub field: Option<Field>,
    /// What is wrong with this very value, and what would be right.
    pub message: String,
    /// What one key would do about it.
    pub fix: Option<Fix>,
    /// Line and column in the file as stored, where they are known without its bytes.
    pub at: Option<(u64, u64)>,
    /// The element of an extension that it is about.
    pub part: Option<ExtensionPart>,
    /// Where it stands in the text of its row, in bytes, if that is neither a field's place nor that of such an element.
    pub offset: Option<u32>,
}

impl Finding {
    /// A finding without a fix.
    pub const fn new(rule: Rule, severity: Severity, field: Option<Field>, message: String) -> Self {
        Self { rule, severity, field, message, fix: None, at: None, part: None, offset: None }
    }

    /// What it is about, as the file calls it: `lastmod`, `video:duration`; `None` for the entry as a whole.
    pub fn subject(&self) -> Option<&str> {
        self.field.map(Field::name).or_else(|| self.part.as_ref().map(|part| &*part.name))
    }
}

/// What a finding that no row carries is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingTarget {
    /// A sitemap file.
    Sitemap(SitemapId),
    /// The index, or one of its entries.
    Index(Option<usize>),
    /// A further file of the index, by its number; the first is 0 and is the index.
    IndexFile(usize),
    /// The set.
    Set,
}

impl FindingTarget {
    /// Whether it is the index, one of its files or of its entries.
    pub const fn is_of_index(self) -> bool {
        matches!(self, Self::Index(_) | Self::IndexFile(_))
    }
}

/// A finding about a file, the index or the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFinding {
    /// What it is about.
    pub place: FindingTarget,
    /// Which rule.
    pub rule: Rule,
    /// How bad.
    pub severity: Severity,
    /// Which value, if it is about one.
    pub field: Option<Field>,
    /// What is wrong.
    pub message: String,
    /// What one key would do about it.
    pub fix: Option<Fix>,
    /// Line and column in the file as stored, where they are known without its bytes.
    pub at: Option<(u64, u64)>,
}

/// A finding with its place, for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The file, as its path was opened or relative to the set.
    pub file: Arc<str>,
    /// Line and column, from 1; `None` for the file or the set as a whole.
    pub at: Option<(u64, u64)>,
    /// The row; `None` for a file, the index or the set.
    pub row: Option<RowId>,
    /// The row's URL; empty for a file.
    pub loc: Arc<str>,
    /// The finding.
    pub finding: Finding,
}

/// The rules whose listed findings are counted without being put into words: a row has one finding of them or none,
/// whatever its text is, or its file has one.
pub(super) fn reported_once() -> RuleSet {
    let of_set: RuleSet = SetRule::ALL.iter().copied().map(rule_of).collect();
    let of_rows = RuleSet::of(&[Rule::LASTMOD_MISSING, Rule::SET_DUPLICATE_NEAR]);
    let others = entry_rules::ENTRY_RULES.minus(message::REPORTED_ONCE);
    // A finding of a file is one, however many places a row has; those of hosts are told apart by their URLs.
    let grouped = |grouping: Grouping| Rule::ALL.into_iter().filter(move |rule| rule.grouping() == Some(grouping));
    let per_file: RuleSet = grouped(Grouping::File).filter(|rule| entry_rules::ENTRY_RULES.contains(*rule)).collect();
    let per_host: RuleSet = grouped(Grouping::Host).collect();
    message::REPORTED_ONCE.union(of_set).union(of_rows).minus(others).union(per_file).minus(per_host)
}

impl Snapshot {
    /// The findings of a row, worst first.
    pub fn findings(&self, row: RowId) -> Vec<Finding> {
        self.findings_of(row, self.rules_of(row), RowNames::Numbers)
    }

    /// The findings of a row that breaks these rules, worst first.
    pub(super) fn findings_of(&self, row: RowId, rules: RuleSet, names: RowNames<'_>) -> Vec<Finding> {
        if rules.is_empty() {
            return Vec::new();
        }
        let (entry, text) = self.document.entry(row);
        let context = self.checks.context(&self.document, row, self.clock);
        let mut findings = worded(&entry, &text, &context, rules);
        let locs = DocumentLocs(&self.document);
        for rule in self.checks.set().rules_of(row.0, &locs).iter().map(rule_of) {
            let Some(severity) = rule.severity_in(self.checks.profile()) else { continue };
            if let Some((part, message)) = self.link_message(rule, row, (&entry, &text), names) {
                let fix = fix::set::offered(rule);
                findings.push(Finding { part: Some(part), fix, ..Finding::new(rule, severity, None, message) });
                continue;
            }
            let message = self.set_message(rule, row, names);
            let fix = fix::set::offered(rule);
            findings.push(Finding { fix, ..Finding::new(rule, severity, Some(Field::Loc), message) });
        }
        // Which language a page is in, its other versions say.
        for finding in findings.iter_mut().filter(|finding| finding.rule == Rule::HREFLANG_SELF_MISSING) {
            finding.fix = fix::set::offered(finding.rule);
        }
        let profile = self.checks.profile();
        // A feed is never written over, and so nothing of it is fixed.
        let file = self.document.sitemap(self.document.sitemap_of(row));
        let is_feed = file.is_some_and(|file| matches!(file.form, Form::Feed(_)));
        let of_quirks = self.document.quirks_of(row).iter().filter_map(|quirk| of_quirk(quirk, profile));
        findings.extend(of_quirks.map(|found| Finding { fix: found.fix.filter(|_| !is_feed), ..found }));
        if rules.contains(Rule::LASTMOD_MISSING) {
            let set = self.checks.set();
            let (dated, all) = (grouped(set.with_lastmod()), grouped(set.len()));
            let message = format!("lastmod is missing ({dated} of {all} URLs have one)");
            let rule = Rule::LASTMOD_MISSING;
            findings.push(Finding::new(rule, Severity::Note, None, message));
        }
        if rules.contains(Rule::SET_DUPLICATE_NEAR) {
            findings.extend(self.of_near(row, self.checks.near_duplicates().first_of(row.0)));
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// The worst severity among the findings of each field of a row, by [`Field::index`].
    pub fn worst_of_fields(&self, row: RowId) -> [Option<Severity>; 4] {
        let rules = self.rules_of(row);
        if rules.is_empty() {
            return [None; 4];
        }
        let (entry, text) = self.document.entry(row);
        let context = self.checks.context(&self.document, row, self.clock);
        let mut worst = message::worst_of_fields(&entry, &text, &context, rules);
        let profile = self.checks.profile();
        let is_of_loc = |rule: &Rule| SetRule::of(*rule).is_none_or(|rule| !rule.is_about_links());
        let of_set = self.checks.set().rules_of(row.0, &DocumentLocs(&self.document));
        let of_set = of_set.iter().map(rule_of).filter(is_of_loc).filter_map(|rule| rule.severity_in(profile)).max();
        let [loc, ..] = &mut worst;
        *loc = of_set.max(*loc);
        worst
    }

    /// The findings that a row would have by itself if this were its text.
    pub fn findings_of_text(&self, row: RowId, text: &[u8]) -> Vec<Finding> {
        let entry = Entry::of(text, self.document.names(row));
        let context = self.checks.context(&self.document, row, self.clock);
        let rules = entry_rules::check(&entry, text, &context);
        worded(&entry, text, &context, rules)
    }

    /// Rules that typed text would break in a row, before it is kept.
    pub fn judge(&self, row: Option<RowId>, field: Field, typed: &str) -> Vec<Finding> {
        let row = row.unwrap_or_default();
        let context = self.checks.context(&self.document, row, self.clock);
        message::messages_of_value(field, typed.trim(), &context)
            .into_iter()
            .filter_map(|found| from_check(found, context.profile))
            .collect()
    }

    /// The first alternate link of a row that breaks a rule of the set, and the words.
    fn link_message(
        &self,
        rule: Rule,
        row: RowId,
        (entry, text): (&Entry, &[u8]),
        names: RowNames<'_>,
    ) -> Option<(ExtensionPart, String)> {
        let set_rule = SetRule::of(rule).filter(|rule| rule.is_about_links())?;
        let links = extension::alternates(entry, text, self.document.names(row));
        let set = self.checks.set();
        let (part, href, _) = links.into_iter().find(|(.., link)| set.is_faulty(set_rule, row.0, *link))?;
        let locs = DocumentLocs(&self.document);
        let target = set.rows_of_page(&href, &locs).min().map(RowId);
        let name =
            |target: RowId| names.beside(&self.document, (target, row), self.view.number(&self.document, target));
        let target = target.map_or_else(|| href.clone(), |target| format!("{href} ({})", name(target)));
        let message = match set_rule {
            SetRule::HreflangNoReturn => format!("{target} does not list this page: the link is ignored"),
            SetRule::HreflangTargetMissing => format!("{href} is an alternate on this site, but no entry lists it"),
            _ => format!("{target} lists other alternates than this page"),
        };
        Some((part, message))
    }

    /// The finding of a row whose URL is nearly that of another, earlier one.
    pub(super) fn of_near(&self, row: RowId, first: Option<u32>) -> Option<Finding> {
        let rule = Rule::SET_DUPLICATE_NEAR;
        let severity = rule.severity_in(self.checks.profile())?;
        let first = first.map(RowId).filter(|first| *first != row)?;
        let other = excerpt(&self.document.loc(first), 120);
        let message = format!("nearly the same URL as {other}, and probably the same page");
        let found = Finding::new(rule, severity, Some(Field::Loc), message);
        Some(Finding { fix: fix::set::offered(rule), ..found })
    }

    fn set_message(&self, rule: Rule, row: RowId, names: RowNames<'_>) -> String {
        let locs = DocumentLocs(&self.document);
        let original = self.checks.set().original(row.0, &locs).map(RowId);
        let place = |other: RowId| names.in_file(&self.document, other, self.view.number(&self.document, other));
        match (rule, original) {
            (Rule::SET_DUPLICATE, Some(other)) => format!("the same URL as {}", place(other)),
            (Rule::SET_DUPLICATE_EQUIVALENT, Some(other)) => {
                format!("the same page as {} ({})", excerpt(&self.document.loc(other), 120), place(other))
            }
            (Rule::SET_DUPLICATE_ACROSS_FILES, Some(other)) => {
                format!("the same URL is in another file: {}", place(other))
            }
            (Rule::LOC_TEMPLATE_RESIDUE, _) => {
                format!("placeholder host ({}) among real ones", host_of(&self.document.loc(row)))
            }
            (Rule::SET_MIXED_HOST, _) => {
                let (loc, set) = (self.document.loc(row), self.checks.set());
                let (host, main) = (host_of(&loc), set.main_host(self.document.with_pending_split().sitemap_of(row).0));
                let main = main.map_or_else(String::new, |(main, _)| format!(", most URLs of this file are on {main}"));
                format!("{host} is another host{main}: crawlers skip it unless robots.txt of {host} names this sitemap")
            }
            (Rule::SET_MIXED_SCHEME, _) => {
                let [http, https] = self.checks.set().schemes().map(grouped);
                format!("http and https are mixed: {http} URLs begin with http://, {https} with https://")
            }
            (Rule::SET_MIXED_WWW, _) => {
                let host = host_of(&self.document.loc(row));
                let other = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
                format!("{host} and {other} are mixed, and most URLs have {other}")
            }
            (Rule::SET_MIXED_PORT, _) => {
                let loc = self.document.loc(row);
                let origin = location::origin(&loc).map_or("", |(origin, _)| origin);
                format!("{} has another port than most URLs of this file", excerpt(origin, 60))
            }
            (Rule::SET_MIXED_SLASH, _)
                if self.document.loc(row).split(['?', '#']).next().unwrap_or_default().ends_with('/') =>
            {
                "the URL ends in a slash, nearly all others of its depth do not".to_owned()
            }
            (Rule::SET_MIXED_SLASH, _) => {
                "the URL ends without a slash, nearly all others of its depth end in one".to_owned()
            }
            _ => rule.summary().to_owned(),
        }
    }
}

/// The host of a URL, for a message.
fn host_of(loc: &str) -> String {
    excerpt(Location::outline(loc).host(), 60)
}

fn from_check(found: message::Finding, profile: Profile) -> Option<Finding> {
    let plain = Finding::new(found.rule, found.rule.severity_in(profile)?, found.field, found.message);
    Some(Finding { fix: found.fix, part: found.part, offset: found.offset, ..plain })
}

fn worded(entry: &Entry, text: &[u8], context: &entry_rules::Context<'_>, rules: RuleSet) -> Vec<Finding> {
    let found = message::messages(entry, text, context, rules).into_iter();
    found.filter_map(|found| from_check(found, context.profile)).collect()
}

/// Findings of an index that are kept in words, as many as an index may have entries; of more their number is kept.
const MOST_OF_INDEX: usize = 50_000;

/// Children and rows up to which every change has the dates of the index compared anew: a load and a save always do.
const SMALL_INDEX: usize = 500;
const SMALL_SET: u64 = 100_000;

/// Whether every change has all of the index looked at.
pub(super) fn has_small_index(document: &Document) -> bool {
    document.index().is_some_and(|index| index.children.len() <= SMALL_INDEX) && u64::from(document.live()) <= SMALL_SET
}

impl Session {
    /// File and index rules for everything, after a load or a save.
    pub(super) fn check_files(&mut self) {
        let document = self.document();
        let mut findings = Vec::new();
        for id in (0..document.with_pending_split().sitemaps().len() as u32).map(SitemapId) {
            findings.extend(of_sitemap((document, &self.current.saved), id, self.current.checks.profile()));
        }
        findings.extend(self.of_index());
        findings.extend(self.missing_urls().into_iter().map(|(_, finding)| finding));
        self.file_findings = Arc::new(findings);
    }

    /// File rules of the files that a change touched, and which required URLs are missing.
    pub(super) fn refresh_files(&mut self, old: &Document) {
        self.refresh_touched_files(old);
        self.check_required();
    }

    fn refresh_touched_files(&mut self, old: &Document) {
        let document = &self.current.state.document;
        let (now, old) = (document.with_pending_split(), old.with_pending_split());
        let same_index = match (now.index(), old.index()) {
            (Some(new), Some(old)) => std::ptr::eq(new, old),
            (new, old) => new.is_none() == old.is_none(),
        };
        if !same_index {
            self.check_index_entries();
            return self.check_files();
        }
        // What the last file says of its size depends on its being the last.
        let (last, last_before) = (now.last_sitemap(), old.last_sitemap());
        let newly_last = [last, last_before].into_iter().flatten().filter(|_| last != last_before);
        let changed: BTreeSet<SitemapId> = (0..now.sitemaps().len() as u32)
            .map(SitemapId)
            .filter(|id| match (now.sitemaps().get(id.index()), old.sitemaps().get(id.index())) {
                (Some(new), Some(old)) => !Arc::ptr_eq(new, old),
                _ => true,
            })
            .chain(newly_last)
            .collect();
        if changed.is_empty() && now.sitemaps().len() == old.sitemaps().len() {
            return;
        }
        // Dates of the index are compared with those of the rows: all of them, where that costs no more than a frame.
        let is_small = has_small_index(document);
        let child_of = |id: SitemapId| document.index().and_then(|index| index.child_of(id));
        let children: Vec<usize> = changed.iter().filter_map(|id| child_of(*id)).collect();
        let is_old = |finding: &FileFinding| match finding.place {
            FindingTarget::Sitemap(id) => changed.contains(&id) || id.index() >= now.sitemaps().len(),
            FindingTarget::Index(Some(child)) => finding.rule == Rule::INDEX_CHILD_EMPTY && children.contains(&child),
            _ => false,
        };
        let mut findings: Vec<FileFinding> =
            self.file_findings.iter().filter(|finding| !is_old(finding)).cloned().collect();
        let profile = self.current.checks.profile();
        for &id in &changed {
            findings.extend(of_sitemap((document, &self.current.saved), id, profile));
            let leaves = document.compare(&self.current.saved).is_removed_by_save(id);
            let entries = document.sitemap(id).map_or(0, |sitemap| sitemap.live + u32::from(leaves));
            let found =
                document.index().zip(child_of(id)).and_then(|(index, child)| index::empty_child(index, child, entries));
            findings.extend(found.and_then(|found| of_child(found, profile)));
        }
        if is_small {
            findings.retain(|finding| !finding.place.is_of_index());
            findings.extend(self.of_index());
        }
        self.file_findings = Arc::new(findings);
    }

    /// What is wrong with the index and its entries.
    pub(super) fn of_index(&self) -> Vec<FileFinding> {
        let document = self.document().with_pending_split();
        let Some(index) = document.index() else { return Vec::new() };
        let profile = self.current.checks.profile();
        let mut findings = file_fixes::findings(document, Member::Index, profile);
        findings.extend(of_quirks(&index.quirks, (true, profile), &|quirk| {
            FindingTarget::Index(quirk.entry.map(|entry| entry as usize))
        }));
        for (number, file) in index.files().enumerate().skip(1) {
            findings.extend(fix::volumes::findings(document, number, profile));
            findings.extend(of_quirks(file.quirks, (true, profile), &|quirk| {
                quirk.entry.map_or(FindingTarget::IndexFile(number), |entry| FindingTarget::Index(Some(entry as usize)))
            }));
        }
        let is_declared =
            |rule: Rule| self.current.checks.allows_other_sites() && CROSS_SUBMISSION.contains(rule.main());
        let mut more: Option<(Rule, Severity, u64)> = None;
        let mut say = |place: FindingTarget, rule: Rule, field: Option<Field>, message: String, fix: Option<Fix>| {
            if let Some(severity) = rule.severity_in(profile).filter(|_| !is_declared(rule)) {
                if findings.len() >= MOST_OF_INDEX {
                    more.get_or_insert((rule, severity, 0)).2 += 1;
                    return;
                }
                findings.push(FileFinding { place, rule, severity, field, message, fix, at: None });
            }
        };
        let url_prefix = self.current.index_home(document);
        let context = entry_rules::Context {
            now: self.current.clock.seconds,
            profile: self.current.checks.profile(),
            names: &index.source.names,
            url_prefix: url_prefix.as_ref(),
            policy: None,
        };
        let sets = self.current.checks.rule_sets();
        for (number, set) in self.index_rules.iter().enumerate().filter(|(_, set)| **set != 0) {
            let rules = sets.get(usize::from(*set)).copied().unwrap_or_default();
            let text = index.source.entry_text(number);
            for finding in worded(&Entry::of(text, &index.source.names), text, &context, rules) {
                // The fix is one of the index, whatever it does to the entry.
                let fix = finding.fix.map(|fix| Fix { action: Action::File, ..fix });
                // Where the others are, or where somebody says, is known of the index, not of the entry.
                let is_path = matches!(finding.rule, Rule::INDEX_CHILD_PATH | Rule::INDEX_CHILD_INCOMPLETE_URL);
                let path = fix::index::label(finding.rule).filter(|_| is_path);
                let path = path.map(|label| Fix { label: label.to_owned(), is_safe: false, action: Action::File });
                let fix = fix.or(path);
                say(FindingTarget::Index(Some(number)), finding.rule, finding.field, finding.message, fix);
            }
        }
        self.current.each_list_finding(self.document(), &mut |found| {
            let place = FindingTarget::Index(found.child);
            let is_safe = found.rule.fix() == FixKind::Safe;
            let fix = fix::index::label(found.rule).filter(|_| fix::index::offers(index, &found));
            let fix = fix.map(|label| Fix { label: label.to_owned(), is_safe, action: Action::File });
            say(place, found.rule, found.field, found.message, fix);
        });
        if let Some((rule, severity, count)) = more {
            let message = format!("and {} more findings of entries of this index", grouped(count));
            let place = FindingTarget::Index(None);
            findings.push(FileFinding { place, rule, severity, field: None, message, fix: None, at: None });
        }
        findings
    }
}

fn of_child(found: index::IndexFinding, profile: Profile) -> Option<FileFinding> {
    let index::IndexFinding { rule, child, field, message } = found;
    let severity = rule.severity_in(profile)?;
    Some(FileFinding { place: FindingTarget::Index(child), rule, severity, field, message, fix: None, at: None })
}

/// Where a field's value (or the element) starts in its entry.
pub(super) fn field_offset(entry: &Entry, field: Option<Field>) -> usize {
    field.and_then(|field| entry.field(field)).map_or(entry.open, |span| span.value_start) as usize
}

/// What a file that is there but cannot be opened is, as a finding; `None` where it cannot be read at all.
pub fn refused(error: &files::Error) -> Option<Reported> {
    let rule = match &error.reason {
        Reason::Empty => Rule::DOC_EMPTY,
        Reason::Html => Rule::DOC_HTML,
        Reason::Root(_) | Reason::Format(_) => Rule::DOC_ROOT_UNKNOWN,
        Reason::Packed(_) => Rule::COMPRESS_NOT_GZIP,
        Reason::Bomb(_) => Rule::GZIP_BOMB,
        Reason::Gzip { .. } => Rule::GZIP_CORRUPT,
        Reason::Damaged { .. } => Rule::XML_NOT_WELL_FORMED,
        Reason::Conflicts(_) => Rule::MERGE_CONFLICT,
        _ => return None,
    };
    let severity = rule.severity()?;
    let message = error.reason.to_string();
    let finding = Finding { at: error.at, ..Finding::new(rule, severity, None, message) };
    let file = error.path.to_string_lossy().into();
    Some(Reported { file, at: error.at.or(Some((1, 1))), row: None, loc: Arc::default(), finding })
}

/// The finding of a quirk of a row.
fn of_quirk(quirk: &Quirk, profile: Profile) -> Option<Finding> {
    let rule = quirk::rule_of(quirk.kind);
    let (severity, message) = (rule.severity_in(profile)?, quirk::message(quirk));
    Some(Finding {
        at: Some(quirk.at),
        fix: file_fixes::accepting(quirk),
        ..Finding::new(rule, severity, None, message)
    })
}

/// The findings of quirks of a file; those of its rows are the rows' own unless `of_entries`.
fn of_quirks(
    quirks: &[Quirk],
    (of_entries, profile): (bool, Profile),
    place: &dyn Fn(&Quirk) -> FindingTarget,
) -> Vec<FileFinding> {
    let own = quirks.iter().filter(|quirk| of_entries || quirk.entry.is_none());
    own.filter_map(|quirk| {
        let Finding { rule, severity, field, message, fix, at, .. } = of_quirk(quirk, profile)?;
        Some(FileFinding { place: place(quirk), rule, severity, field, message, fix, at })
    })
    .collect()
}

/// What is wrong with a file; `saved` is what is on disk.
pub(super) fn of_sitemap(
    (document, saved): (&Document, &Document),
    id: SitemapId,
    profile: Profile,
) -> Vec<FileFinding> {
    // A part that was emptied and removed by a save is no file any more, and one that was emptied since will not be.
    if document.is_gone(id) || document.compare(saved).is_removed_by_save(id) {
        return Vec::new();
    }
    let mut findings = of_present(document.with_pending_split(), id, profile);
    if document.sitemap(id).is_none() {
        // A file that the next save makes is fixed when it is there.
        for finding in &mut findings {
            finding.fix = None;
        }
    }
    findings
}

/// The same of a file that is there for certain.
pub(super) fn of_present(document: &Document, id: SitemapId, profile: Profile) -> Vec<FileFinding> {
    let Some(sitemap) = document.sitemap(id) else { return Vec::new() };
    let mut findings = file_fixes::findings(document, Member::Sitemap(id), profile);
    // A feed is never written over, and so nothing of it is fixed.
    let is_feed = matches!(sitemap.form, Form::Feed(_));
    let of_quirks = of_quirks(&sitemap.quirks, (false, profile), &|_| FindingTarget::Sitemap(id)).into_iter();
    findings.extend(of_quirks.map(|found| FileFinding { fix: found.fix.filter(|_| !is_feed), ..found }));
    findings
}
