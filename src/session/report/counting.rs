//! Decides which findings of a report need a message, and counts the others.
//!
//! Making the message of a finding and trying its fix takes many times longer than finding it, and a report prints only
//! a few places of each rule. A property test compares the counts with the numbers of messages.

use crate::check::entry::ENTRY_RULES;
use crate::check::rule::{FindingCounts, Grouping, Rule, RuleSet};
use crate::check::set::{NearDuplicates, SetRule};
use crate::check::{Profile, message, quirk, rules_of_field};
use crate::document::rows::{self, RowId};
use crate::document::sitemap::SitemapId;
use crate::protocol::{Field, Severity};
use crate::session::checks::Checks;
use crate::session::checks::DocumentLocs;
use crate::session::checks::URL_AND_SET_RULES;
use crate::session::checks::rule_of;
use crate::session::findings::reported_once;
use crate::session::grouping::{Extent, Groups, HostHash, KnownHosts};
use crate::session::located_finding::LocatedFinding;
use crate::session::state::Snapshot;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::sync::Arc;

/// Receives the findings of a file and its rows.
pub trait Receiver {
    /// The error with which it stops.
    type Error;

    /// Makes what it receives of findings, on other threads.
    type Renderer: Render;

    /// The findings of the next rows that need a message; the others are only counted.
    fn messages_needed(&self) -> MessageFilter;

    /// A renderer for the next rows.
    fn renderer(&self) -> Self::Renderer;

    /// Receives what was made of findings with messages, in the order of the findings.
    ///
    /// # Errors
    /// If it stops receiving.
    fn take(&mut self, rendered: Vec<<Self::Renderer as Render>::Output>) -> Result<(), Self::Error>;

    /// Receives the counts of the other findings of the same rows.
    fn count(&mut self, counted: Counted);
}

/// Processes the findings of some rows of a file on the thread that made them, while they are in its cache.
pub trait Render: Send + Sync {
    /// What it makes of them.
    type Output: Send;

    /// Processes findings; it is not called without any. What it does not take out of the list is dropped, and the
    /// memory of the list is used for later findings.
    fn render(&self, found: &mut Vec<LocatedFinding>) -> Self::Output;
}

/// Leaves findings as they are.
#[derive(Debug)]
pub(crate) struct AsFound;

impl Render for AsFound {
    type Output = Vec<LocatedFinding>;

    fn render(&self, found: &mut Vec<LocatedFinding>) -> Self::Output {
        std::mem::take(found)
    }
}

/// Receives every finding with its message.
#[derive(Debug)]
pub(crate) struct InWords<F>(pub F);

impl<E, F: FnMut(Vec<LocatedFinding>) -> Result<(), E>> Receiver for InWords<F> {
    type Error = E;
    type Renderer = AsFound;

    fn messages_needed(&self) -> MessageFilter {
        MessageFilter::ALL
    }

    fn renderer(&self) -> AsFound {
        AsFound
    }

    fn take(&mut self, found: Vec<Vec<LocatedFinding>>) -> Result<(), E> {
        found.into_iter().try_for_each(&mut self.0)
    }

    fn count(&mut self, _: Counted) {}
}

/// Selects the findings that need messages.
#[derive(Debug, Clone)]
pub struct MessageFilter {
    /// Findings of these rules, except of the hosts below.
    pub rules: RuleSet,
    /// Hosts that already have a finding, for rules that are grouped by host.
    pub known_hosts: Vec<(Rule, KnownHosts)>,
    /// Whether places of a row are counted for rules that are grouped by file.
    pub counts_places: bool,
    /// Whether fixes are tried and included, which takes longer than making the messages.
    pub has_fixes: bool,
    /// Whether later rows may need fewer messages, since the receiver has enough of them.
    pub can_shrink: bool,
}

impl MessageFilter {
    /// Every finding.
    pub const ALL: Self =
        Self { rules: RuleSet::ALL, known_hosts: Vec::new(), counts_places: true, has_fixes: true, can_shrink: false };

    /// No finding: all are only counted.
    pub const NONE: Self = Self {
        rules: RuleSet::EMPTY,
        known_hosts: Vec::new(),
        counts_places: false,
        has_fixes: false,
        can_shrink: false,
    };

    /// All findings except those of satisfied rules and those that add nothing to their group.
    pub fn all_except(satisfied: RuleSet, groups: &Groups) -> Self {
        let rules = RuleSet::ALL.minus(satisfied).minus(groups.of_files());
        Self { rules, known_hosts: groups.known_hosts(), can_shrink: true, ..Self::ALL }
    }

    /// Whether the selection depends on the host of a row that violates these rules.
    pub(super) fn needs_host(&self, rules: RuleSet) -> bool {
        self.known_hosts.iter().any(|(rule, _)| rules.contains(*rule))
    }

    /// Selects the rules of a row that need messages. `host` is the host of its URL.
    pub(super) fn of_row(&self, rules: RuleSet, host: impl Fn() -> HostHash) -> RuleSet {
        let mut selected = rules.intersection(self.rules);
        for (rule, known) in self.known_hosts.iter().filter(|(rule, _)| rules.contains(*rule)) {
            if known.has_rest || known.hosts.contains(&host()) {
                selected.remove(*rule);
            }
        }
        selected
    }
}

/// Counts of findings of rows, by rule.
#[derive(Debug)]
pub struct Counted {
    rules: Box<[Extent; Rule::COUNT]>,
    /// Counts by host, for rules that are grouped by host. Their order decides which hosts get a group of their own, and
    /// that changes no finding, since groups of counted findings are only counted.
    hosts: HashMap<(Rule, HostHash), Extent, FixedState>,
    /// Further counts by host; a host may occur several times.
    more_hosts: Vec<((Rule, HostHash), Extent)>,
    /// Counts by origin number for these rules, until all rows of a block are counted.
    origins: HashMap<(Rule, u32), Extent, FixedState>,
}

impl Default for Counted {
    fn default() -> Self {
        let rules = Box::new([Extent::default(); Rule::COUNT]);
        Self { rules, hosts: HashMap::default(), more_hosts: Vec::new(), origins: HashMap::default() }
    }
}

impl Counted {
    /// Adds findings. `host` is the host of their rows.
    fn add(&mut self, rule: Rule, more: Extent, host: impl Fn() -> HostHash) {
        let extent = if rule.grouping() == Some(Grouping::Host) {
            Some(self.hosts.entry((rule, host())).or_default())
        } else {
            self.rules.get_mut(rule.index())
        };
        if let Some(extent) = extent {
            extent.add(more);
        }
    }

    /// Adds findings that are grouped by host, by the number of their rows' origin.
    fn add_of_origin(&mut self, rule: Rule, more: Extent, origin: u32) {
        self.origins.entry((rule, origin)).or_default().add(more);
    }

    /// The sum of two counts.
    pub(super) fn join(mut self, mut other: Self) -> Self {
        self.rules.iter_mut().zip(*other.rules).for_each(|(extent, other)| extent.add(other));
        for (host, extent) in other.hosts {
            self.hosts.entry(host).or_default().add(extent);
        }
        self.more_hosts.append(&mut other.more_hosts);
        if self.origins.len() < other.origins.len() {
            std::mem::swap(&mut self.origins, &mut other.origins);
        }
        for (origin, extent) in other.origins {
            self.origins.entry(origin).or_default().add(extent);
        }
        self
    }

    /// The counts of selected rules.
    #[must_use]
    pub fn filter_rules(mut self, is_selected: impl Fn(Rule) -> bool) -> Self {
        let others = Rule::ALL.into_iter().zip(self.rules.iter_mut()).filter(|(rule, _)| !is_selected(*rule));
        others.for_each(|(_, extent)| *extent = Extent::default());
        self.hosts.retain(|(rule, _), _| is_selected(*rule));
        self.more_hosts.retain(|((rule, _), _)| is_selected(*rule));
        self
    }

    /// Adds grouped findings to the groups of the file, and calls `visit` with the counts of the others.
    pub fn add_to_groups(self, groups: &mut Groups, profile: Profile, mut visit: impl FnMut(Rule, Severity, u64)) {
        for (rule, extent) in Rule::ALL.into_iter().zip(self.rules.iter()).filter(|(_, extent)| extent.places > 0) {
            if let Some(severity) = rule.severity_in(profile)
                && !groups.count(rule, severity, *extent)
            {
                visit(rule, severity, extent.places);
            }
        }
        for ((rule, host), extent) in self.hosts.into_iter().chain(self.more_hosts) {
            if let Some(severity) = rule.severity_in(profile) {
                groups.count_of_host(rule, severity, host, extent);
            }
        }
    }
}

/// Rows whose ids are spread over more than this number of ids for each row, as after a sort of the set, are looked up one
/// by one.
const MAX_SPREAD: usize = 4;

/// Counts findings of rows.
pub(super) struct Counter<'c> {
    pub(super) snapshot: &'c Snapshot,
    /// Near duplicates in addition to those of the snapshot.
    pub(super) near: &'c NearDuplicates,
    /// Rules that are grouped by host.
    pub(super) by_host: RuleSet,
    /// Whether a row violates a rule of the set.
    pub(super) has_set_rules: bool,
    /// Whether no row of the file has several quirks.
    pub(super) has_single_quirks: bool,
    /// Rules of which a row has at most one finding.
    once: RuleSet,
    /// Rules of which an entry without extensions, and so with one URL, has at most one finding.
    once_alone: RuleSet,
    /// Findings per rule set that were counted while rows were read.
    places: Arc<FindingCounts>,
}

/// Whether rows violate rules of the set, which their numbers of entry rules do not include.
pub(super) fn has_set_rules(checks: &Checks, near: &NearDuplicates) -> bool {
    checks.flags_rows() || !near.is_empty()
}

impl<'c> Counter<'c> {
    /// For counting the findings of rows of a file.
    pub(super) fn new(snapshot: &'c Snapshot, id: SitemapId, near: &'c NearDuplicates, filter: &MessageFilter) -> Self {
        let grouped = |grouping| Rule::ALL.into_iter().filter(move |rule| rule.grouping() == Some(grouping));
        // URLs in extensions are not compared with the host of the file.
        let by_host: RuleSet = grouped(Grouping::Host).collect();
        let once = reported_once().union(by_host);
        let once_alone = once.union(rules_of_field(Field::Loc)).union(RuleSet::of(&[Rule::DOC_UNKNOWN_ELEMENT]));
        let of_places = if filter.counts_places { grouped(Grouping::File).collect() } else { RuleSet::EMPTY };
        let once = once.minus(of_places.minus(message::REPORTED_ONCE));
        let has_set_rules = has_set_rules(&snapshot.checks, near);
        let quirks = snapshot.document.sitemap(id).map_or(&[][..], |sitemap| &sitemap.quirks);
        let mut pairs = quirks.iter().zip(quirks.iter().skip(1));
        let has_single_quirks = pairs.all(|(one, next)| one.entry.is_none() || one.entry != next.entry);
        let places = snapshot.checks.rule_places();
        Self { snapshot, near, by_host, has_set_rules, has_single_quirks, once, once_alone, places }
    }

    /// The host of a row's URL, as the key of a group.
    pub(super) fn host_of(&self, row: RowId) -> HostHash {
        HostHash::of_url(&self.snapshot.document.loc(row))
    }

    /// The host of an origin, as the key of a group.
    pub(super) fn host_of_origin(&self, origin: u32) -> HostHash {
        HostHash::of_url(self.snapshot.checks.set().origin_text(origin))
    }

    /// Counts the findings of `rest` in a row that violates `rules`, and in as many rows like it.
    pub(super) fn count(&self, rows: &AlikeRows, counted: &mut Counted) -> Alike {
        let AlikeRows { row, rules, rest, origin, is_resident, count } = *rows;
        if rest.is_empty() {
            return Alike::Yes;
        }
        if !is_resident && origin.is_none() && rest.intersects(self.by_host) {
            return Alike::Unread;
        }
        let mut add = |rule: Rule, places: u64| {
            let extent = Extent { places: places * count, rows: count };
            match origin {
                Some(origin) if rule.grouping() == Some(Grouping::Host) => counted.add_of_origin(rule, extent, origin),
                _ => counted.add(rule, extent, || self.host_of(row)),
            }
        };
        let document = &self.snapshot.document;
        let once = if document.record(row).flags.has_extensions() { self.once } else { self.once_alone };
        let quirks = document.quirks_of(row);
        let of_quirks: RuleSet = quirks.iter().map(|found| quirk::rule_of(found.kind)).collect();
        // Quirks are counted directly. If the entry may violate their rules too, its messages are counted instead.
        let others = rest.minus(of_quirks);
        let places = if others.minus(once).is_empty() {
            Some(&[][..])
        } else {
            // Counts from reading do not include the findings of set rules.
            self.places.get(&self.snapshot.checks.finding_id(row)).map(|places| &**places)
        };
        if let Some(places) = places
            && !of_quirks.intersects(ENTRY_RULES)
        {
            let known = |rule: Rule| places.iter().find(|(known, _)| *known == rule);
            let places_of = |rule: Rule| known(rule).map_or(1, |(_, places)| u64::from(*places));
            others.minus(URL_AND_SET_RULES).iter().for_each(|rule| add(rule, places_of(rule)));
            for rule in others.intersection(URL_AND_SET_RULES).iter() {
                let is_of_entry = self.snapshot.checks.entry_rules_of(row).contains(rule);
                let of_entry = if is_of_entry { places_of(rule) } else { 0 };
                add(rule, of_entry + u64::from(self.is_of_set(row, rule)));
            }
            for rule in rest.intersection(of_quirks).iter() {
                let found = quirks.iter().filter(|found| quirk::rule_of(found.kind) == rule);
                add(rule, found.count() as u64);
            }
            // As many quirks as rules of quirks: one of each.
            let are_alike = quirks.is_empty()
                || of_quirks.len() as usize == quirks.len()
                    && of_quirks == self.snapshot.checks.entry_rules_of(row).minus(ENTRY_RULES);
            return if are_alike { Alike::Yes } else { Alike::No };
        }
        if !is_resident {
            return Alike::Unread;
        }
        let mut found: Vec<(Rule, u64)> = Vec::new();
        self.each_finding(row, rules, |rule| match found.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, places)) => *places += 1,
            None => found.push((rule, 1)),
        });
        found.into_iter().filter(|(rule, _)| rest.contains(*rule)).for_each(|(rule, places)| add(rule, places));
        Alike::No
    }

    /// Those of the rows that name the same page as another row, or are near duplicates, in ascending order; it may include
    /// rows between them.
    pub(super) fn compared_among(&self, rows: &[RowId]) -> Vec<u32> {
        let Some((first, last)) = rows.iter().min().zip(rows.iter().max()) else { return Vec::new() };
        let (range, checks) = (first.0..last.0 + 1, &self.snapshot.checks);
        let (duplicates, near) = (checks.set().duplicates(), [checks.near_duplicates(), self.near]);
        let mut compared: Vec<u32> = if range.len() > MAX_SPREAD * rows.len() {
            let is_compared = |row: &u32| duplicates.is_duplicate(*row) || near.iter().any(|near| near.contains(*row));
            rows.iter().map(|row| row.0).filter(is_compared).collect()
        } else {
            let near = near.map(|near| rows::ids(near.rows(), range.clone()));
            near.into_iter().flatten().chain(duplicates.rows_of_groups_in(range.clone())).collect()
        };
        compared.sort_unstable();
        compared
    }

    /// Whether a row violates a rule by its relation to the rest of the set.
    fn is_of_set(&self, row: RowId, rule: Rule) -> bool {
        let locs = DocumentLocs(&self.snapshot.document);
        SetRule::of(rule).is_some_and(|rule| self.snapshot.checks.set().rules_of(row.0, &locs).has(rule))
    }

    /// Moves the counts by origin number to those by host.
    pub(super) fn name_hosts(&self, counted: &mut Counted) {
        // Each host is read once, in the order in which they are stored.
        let mut origins: Vec<_> = counted.origins.drain().collect();
        origins.sort_unstable_by_key(|((_, origin), _)| *origin);
        let mut last: Option<(u32, HostHash)> = None;
        let named = origins.into_iter().map(|((rule, origin), extent)| {
            let known = last.filter(|(known, _)| *known == origin).map(|(_, host)| host);
            let host = known.unwrap_or_else(|| self.host_of_origin(origin));
            last = Some((origin, host));
            ((rule, host), extent)
        });
        // Nearly each origin has a host of its own, so that a table would not add up counts.
        counted.more_hosts.extend(named);
    }

    /// Calls `visit` with the rule of each finding of a row that a report makes.
    fn each_finding(&self, row: RowId, rules: RuleSet, mut visit: impl FnMut(Rule)) {
        let snapshot = self.snapshot;
        let checks = &snapshot.checks;
        let (entry, text) = snapshot.document.entry(row);
        let context = checks.context(&snapshot.document, row, snapshot.clock);
        message::count(&entry, &text, &context, checks.rules_of_entry(row, rules), &mut visit);
        let of_set = checks.set().rules_of(row.0, &DocumentLocs(&snapshot.document));
        of_set.iter().map(rule_of).for_each(&mut visit);
        snapshot.document.quirks_of(row).iter().for_each(|found| visit(quirk::rule_of(found.kind)));
        if rules.contains(Rule::LASTMOD_MISSING) {
            visit(Rule::LASTMOD_MISSING);
        }
        let near = [checks.near_duplicates(), self.near];
        near.into_iter().filter(|near| near.contains(row.0)).for_each(|_| visit(Rule::SET_DUPLICATE_NEAR));
    }
}

/// Whether rows that violate the same rules with as many quirks have the same numbers of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// They have.
    Yes,
    /// They may differ.
    No,
    /// Nothing was counted, since the text of the row is needed and not in memory.
    Unread,
}

/// A row, and the number of rows with the same findings that are counted with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AlikeRows {
    pub(super) row: RowId,
    /// All rules that the row violates.
    pub(super) rules: RuleSet,
    /// The rules whose findings are counted.
    pub(super) rest: RuleSet,
    /// The number of the row's origin, if it is known.
    pub(super) origin: Option<u32>,
    /// Whether the text of the rows is in memory.
    pub(super) is_resident: bool,
    pub(super) count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::samples::{self, NOW, any_value};
    use crate::files::Options;
    use crate::progress::Progress;
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::report;
    use crate::session::report::summary;
    use crate::session::report::{Reporter, Summary};
    use crate::session::store::load;
    use crate::xml::escape::escape;
    use proptest::prelude::*;
    use std::path::Path;

    /// Receives messages of some rules, and counts the others.
    struct Some {
        filter: MessageFilter,
        found: Vec<LocatedFinding>,
        counted: Counted,
    }

    impl Receiver for Some {
        type Error = ();
        type Renderer = AsFound;

        fn messages_needed(&self) -> MessageFilter {
            self.filter.clone()
        }

        fn renderer(&self) -> AsFound {
            AsFound
        }

        fn take(&mut self, found: Vec<Vec<LocatedFinding>>) -> Result<(), ()> {
            self.found.extend(found.into_iter().flatten());
            Ok(())
        }

        fn count(&mut self, counted: Counted) {
            self.counted = std::mem::take(&mut self.counted).join(counted);
        }
    }

    /// A row: fields, an extension of the samples, and damage.
    fn any_row() -> impl Strategy<Value = String> {
        let extensions = samples::extensions();
        let last = extensions.len();
        let loc = prop_oneof![
            any_value(Field::Loc),
            (0..14_u32).prop_map(|host| Option::Some(format!("https://h{host}.example.com/a"))),
        ];
        let link = "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://h1.example.com/a\"/>";
        let odd = vec![" & ", "<x/>", "<loc>https://e.com/2</loc>", "<priority/>", link];
        let odd = prop_oneof![4 => Just(""), 5 => prop::sample::select(odd)];
        let others = [Field::Lastmod, Field::Changefreq, Field::Priority].map(any_value);
        (loc, others, 0..2 * last, odd).prop_map(move |(loc, others, extension, odd)| {
            let values = std::iter::once(loc).chain(others);
            let fields = Field::ALL
                .iter()
                .zip(values)
                .filter_map(|(field, value)| Option::Some(format!("<{0}>{1}</{0}>", field.name(), escape(&value?))));
            let fields: String = fields.collect();
            let extension = extensions.get(extension).map_or("", |(text, _)| text);
            format!("<url>{fields}{odd}{extension}</url>\n")
        })
    }

    fn open(rows: &[String]) -> Session {
        open_by(rows, |session, path| load::open_in(session, path, Options::default()).unwrap())
    }

    /// Opens rows as a set that is only reported on.
    fn open_to_report(rows: &[String]) -> Session {
        open_by(rows, |session, path| {
            let paths = [path.to_path_buf()];
            let opened = load::open_to_report(session, &paths, Options::default(), u64::MAX, &Progress::default());
            opened.unwrap().unwrap()
        })
    }

    fn open_by(rows: &[String], open: impl Fn(Session, &Path) -> Session) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, format!("{}\n{}</urlset>\n", samples::ROOT, rows.concat())).unwrap();
        let session = Session::new(Now { seconds: NOW, offset: 0 }, Option::Some("https://example.com/b/".into()));
        open(session, &path)
    }

    /// The findings of a repaired entry itself are known without reading it again, as those of other entries are.
    #[test]
    fn rows_with_repairs_keep_the_numbers_of_findings_of_their_entries() {
        let row = |number: u32, loc: &str| {
            format!(
                "<url><loc>https://e.com/{number}{loc}</loc><lastmod> 2026-01-01\n</lastmod><priority> 0.5 </priority></url>\n"
            )
        };
        let rows: Vec<String> = (0..9).map(|number| row(number, if number < 6 { "?a&b" } else { "" })).collect();
        let session = open(&rows);
        let (checks, document) = (&session.current.checks, session.document());
        let numbers = |row: u32| checks.rule_places().get(&checks.finding_id(RowId(row))).cloned();
        assert!(!document.quirks_of(RowId(0)).is_empty() && document.quirks_of(RowId(8)).is_empty());
        assert!(
            numbers(8).is_some_and(|numbers| numbers.contains(&(Rule::FIELD_WHITESPACE, 2))),
            "{:?} {:?}",
            numbers(8),
            checks.entry_rules_of(RowId(8))
        );
        assert_eq!(numbers(0), numbers(8));
    }

    #[test]
    fn rows_with_several_quirks_of_one_rule_are_counted_apart_from_those_with_one() {
        // A missing quote violates the same rule as `]]>`.
        let row = |number: usize, end: &str| {
            format!("<url><loc lang=en>https://example.com/b/{number}</loc><lastmod>x&amp;y{end}</lastmod></url>\n")
        };
        for (ends, expected) in [([""; 4], 4), (["", "]]>", "]]>", ""], 6)] {
            let rows: Vec<String> = ends.iter().enumerate().map(|(number, end)| row(number, end)).collect();
            let session = open(&rows);
            let mut counted = Some { filter: MessageFilter::NONE, found: Vec::new(), counted: Counted::default() };
            Reporter::new(&session).each_of_sitemap(&session, (SitemapId(0), None), &mut counted).unwrap();
            assert_eq!(counted.counted.rules[Rule::XML_NOT_WELL_FORMED.index()].places, expected);
        }
    }

    /// Also in a report of all findings, which needs no counts of most rows.
    #[test]
    fn findings_of_hosts_that_are_known_are_counted() {
        let row = |number: u32| format!("<url><loc>https://Other.com/{number}#a</loc></url>\n");
        let other = HostHash::of_url("https://other.com/");
        let session = open(&(0..6).map(row).collect::<Vec<_>>());
        for can_shrink in [false, true] {
            let known = (Rule::LOC_FOREIGN_HOST, KnownHosts { hosts: vec![other], has_rest: false });
            let filter = MessageFilter { known_hosts: vec![known], can_shrink, ..MessageFilter::ALL };
            let mut counted = Some { filter, found: Vec::new(), counted: Counted::default() };
            Reporter::new(&session).each_of_sitemap(&session, (SitemapId(0), None), &mut counted).unwrap();
            let listed = |rule: Rule| counted.found.iter().filter(|found| found.finding.rule == rule).count();
            assert_eq!((listed(Rule::LOC_FRAGMENT), listed(Rule::LOC_FOREIGN_HOST)), (6, 0), "{can_shrink}");
            let of_host = counted.counted.hosts.get(&(Rule::LOC_FOREIGN_HOST, other));
            assert_eq!(of_host.map(|extent| extent.places), Option::Some(6), "{can_shrink}");
        }
    }

    #[test]
    fn filtered_counts_have_the_selected_rules_only() {
        let rows = ["https://other.com/a", "https://e.com/a#b"].map(|loc| format!("<url><loc>{loc}</loc></url>\n"));
        let session = open_to_report(&rows);
        let mut some = Some { filter: MessageFilter::NONE, found: Vec::new(), counted: Counted::default() };
        Reporter::new(&session).each_of_sitemap(&session, (SitemapId(0), None), &mut some).unwrap();
        // Hosts are counted by row and by origin.
        some.counted.add(Rule::SET_MIXED_HOST, Extent { places: 1, rows: 1 }, || HostHash::of_url("https://e.com/"));
        assert!(some.counted.more_hosts.iter().any(|((rule, _), _)| *rule == Rule::LOC_FOREIGN_HOST));
        let (mut groups, mut visited) = (Groups::default(), Vec::new());
        let filtered = some.counted.filter_rules(|rule| rule == Rule::LOC_FRAGMENT);
        filtered.add_to_groups(&mut groups, session.view().profile(), |rule, _, places| visited.push((rule, places)));
        assert_eq!((groups.finish().count(), visited), (0, vec![(Rule::LOC_FRAGMENT, 1)]));
    }

    /// The rule is about single URLs too, but this URL is none of those.
    #[test]
    fn a_host_of_templates_is_reported_once() {
        let row = |host: &str| format!("<url><loc>https://{host}/a</loc></url>\n");
        let session = open(&[row("e.com"), row("example.com")]);
        let found = report::all_findings(&session).into_iter().map(|found| found.finding);
        let found: Vec<String> =
            found.filter(|found| found.rule == Rule::LOC_TEMPLATE_RESIDUE).map(|found| found.message).collect();
        assert_eq!(found, ["placeholder host (example.com) among real ones"]);
    }

    #[test]
    fn compared_rows_are_found_among_many_rows_and_among_distant_ones() {
        let row = |number: u32| match number % 3 {
            0 => format!("<url><loc>https://e.com/{}</loc></url>\n", number / 2),
            _ => format!("<url><loc>https://e.com/a/{number}</loc></url>\n"),
        };
        let rows: Vec<String> = (0..12).chain([3, 6]).map(row).collect();
        let session = open_to_report(&rows);
        let reporter = Reporter::new(&session);
        let counter = Counter::new(&session.current, SitemapId(0), &reporter.near, &MessageFilter::NONE);
        let all: Vec<RowId> = (0..14).map(RowId).collect();
        let compared = counter.compared_among(&all);
        assert_eq!(compared, [3, 6, 12, 13]);
        for (one, other) in [(3, 13), (0, 12), (6, 0), (1, 2), (13, 12)] {
            let found = counter.compared_among(&[RowId(one), RowId(other)]);
            assert!(found.is_sorted() && found.iter().all(|row| compared.contains(row)));
            assert_eq!([one, other].map(|row| found.contains(&row)), [one, other].map(|row| compared.contains(&row)));
        }
    }

    /// The links of `/c` are not returned, and nothing else distinguishes its row.
    #[test]
    fn rows_that_differ_only_in_faulty_links_are_not_alike() {
        let link = |(code, page): (&str, &str)| {
            format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"https://e.com/{page}\"/>")
        };
        let row = |own: (&str, &str), other: (&str, &str)| {
            format!("<url><loc>https://e.com/{}</loc>{}{}</url>\n", own.1, link(own), link(other))
        };
        let (german, french) = (("de", "a"), ("fr", "b"));
        let rows = [row(german, french), row(french, german), row(("de", "c"), french)];
        let mut counted = Some { filter: MessageFilter::NONE, found: Vec::new(), counted: Counted::default() };
        let session = open_to_report(&rows);
        Reporter::new(&session).each_of_sitemap(&session, (SitemapId(0), None), &mut counted).unwrap();
        let expected = report::all_findings(&session)
            .iter()
            .filter(|found| found.finding.rule == Rule::HREFLANG_NO_RETURN)
            .count();
        assert_eq!((counted.counted.rules[Rule::HREFLANG_NO_RETURN.index()].places, expected), (1, 1));
    }

    /// Counts findings, and leaves them in their list.
    struct Number;

    impl Render for Number {
        type Output = usize;

        fn render(&self, found: &mut Vec<LocatedFinding>) -> usize {
            found.len()
        }
    }

    /// Receives the numbers of findings, and adds them up.
    struct Sum(usize);

    impl Receiver for Sum {
        type Error = ();
        type Renderer = Number;

        fn messages_needed(&self) -> MessageFilter {
            MessageFilter::ALL
        }

        fn renderer(&self) -> Number {
            Number
        }

        fn take(&mut self, numbers: Vec<usize>) -> Result<(), ()> {
            self.0 += numbers.iter().sum::<usize>();
            Ok(())
        }

        fn count(&mut self, _: Counted) {}
    }

    #[test]
    fn the_memory_of_few_findings_is_kept() {
        let link =
            |number: usize| format!("<xhtml:link rel=\"alternate\" hreflang=\"{number}\" href=\"https://e.com/\"/>");
        for (links, kept) in [(3, super::super::TASK_FINDINGS), (2_100, super::super::MAX_KEPT_FINDINGS)] {
            let all: String = (0..links).map(link).collect();
            let session = open(&[format!("<url><loc>https://e.com/</loc>{all}</url>\n")]);
            let (reporter, mut sum) = (Reporter::new(&session), Sum(0));
            reporter.each_of_sitemap(&session, (SitemapId(0), None), &mut sum).unwrap();
            let unused = reporter.unused.lock().unwrap();
            let capacities: Vec<usize> = unused.iter().map(|memory| memory.findings.capacity()).collect();
            assert_eq!((capacities, sum.0 >= links), (vec![kept], true));
        }
    }

    /// Needs messages until it has five findings, and counts the messages that it gets.
    #[derive(Default)]
    struct First {
        messages: usize,
        counted: Counted,
    }

    impl Receiver for First {
        type Error = ();
        type Renderer = AsFound;

        fn messages_needed(&self) -> MessageFilter {
            let satisfied = if self.messages < 5 { RuleSet::EMPTY } else { RuleSet::of(&[Rule::PRIORITY_RANGE]) };
            MessageFilter::all_except(satisfied, &Groups::default())
        }

        fn renderer(&self) -> AsFound {
            AsFound
        }

        fn take(&mut self, found: Vec<Vec<LocatedFinding>>) -> Result<(), ()> {
            self.messages += found.iter().flatten().filter(|found| found.finding.rule == Rule::PRIORITY_RANGE).count();
            Ok(())
        }

        fn count(&mut self, counted: Counted) {
            self.counted = std::mem::take(&mut self.counted).join(counted);
        }
    }

    #[test]
    fn a_list_of_the_first_findings_costs_messages_for_a_few_rows() {
        let row = |number: u32| format!("<url><loc>https://e.com/{number}</loc><priority>7</priority></url>\n");
        let session = open(&(0..3_000).map(row).collect::<Vec<_>>());
        let mut first = First::default();
        Reporter::new(&session).each_of_sitemap(&session, (SitemapId(0), None), &mut first).unwrap();
        let counted = first.counted.rules.get(Rule::PRIORITY_RANGE.index()).map_or(0, |extent| extent.places);
        assert_eq!((first.messages + counted as usize, first.messages), (3_000, super::super::FIRST_BLOCK_ROWS));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn counts_equal_the_numbers_of_messages(
            rows in prop::collection::vec((any_row(), 1..4_usize), 1..20), few in prop::collection::vec(0..Rule::COUNT, 0..20),
            is_report in any::<bool>(),
        ) {
            // Rows that are alike are counted together.
            let rows: Vec<String> = rows.into_iter().flat_map(|(row, times)| std::iter::repeat_n(row, times)).collect();
            let session = if is_report { open_to_report(&rows) } else { open(&rows) };
            let profile = session.view().profile();
            let all = report::all_findings(&session);
            let few: RuleSet = few.into_iter().map(|place| Rule::ALL[place]).collect();
            for (rules, counts_places) in [(RuleSet::EMPTY, true), (RuleSet::EMPTY, false), (RuleSet::ALL.minus(few), true)] {
                let filter = MessageFilter { rules, counts_places, ..MessageFilter::ALL };
                let mut some = Some { filter, found: Vec::new(), counted: Counted::default() };
                Reporter::new(&session).each_of_sitemap(&session, (SitemapId(0), None), &mut some).unwrap();
                let is_of_row = |found: &&LocatedFinding| found.row().is_some();
                let with_message: Vec<&LocatedFinding> =
                    all.iter().filter(is_of_row).filter(|found| rules.contains(found.finding.rule)).collect();
                prop_assert_eq!(some.found.iter().filter(is_of_row).collect::<Vec<_>>(), with_message);
                let mut expected = Counted::default();
                let rest = all.iter().filter(is_of_row).filter(|found| !rules.contains(found.finding.rule));
                let mut known = std::collections::BTreeSet::new();
                for found in rest {
                    let host = || HostHash::of_url(&found.loc);
                    let rule = found.finding.rule;
                    expected.add(rule, Extent { places: 1, rows: 1 }, host);
                    if !known.insert((rule, found.row())) && let Option::Some(extent) = expected.rules.get_mut(rule.index()) {
                        extent.rows -= 1;
                    }
                }
                for (rule, (counted, expected)) in Rule::ALL.iter().zip(some.counted.rules.iter().zip(*expected.rules)) {
                    let is_exact = counts_places || rule.grouping() != Option::Some(Grouping::File);
                    let is_right = if is_exact { *counted == expected } else { counted.rows == expected.rows };
                    prop_assert!(rule.severity_in(profile).is_none() || is_right, "{rule:?}: {counted:?}, not {expected:?}");
                }
                let Counted { mut hosts, more_hosts, .. } = some.counted;
                for (host, extent) in more_hosts {
                    hosts.entry(host).or_default().add(extent);
                }
                prop_assert_eq!(hosts, expected.hosts);
            }
        }

        #[test]
        fn a_summary_equals_one_made_with_all_messages(
            rows in prop::collection::vec(any_row(), 1..40), times in 1..8_usize,
        ) {
            let session = open(&vec![rows; times].concat());
            let (mut expected, mut groups) = (Summary::default(), Groups::default());
            for found in report::all_findings(&session).into_iter().filter(|found| !groups.take(found)) {
                expected.add(&found);
            }
            expected.add_groups(&mut groups);
            let summary = summary::summary(&session, &Progress::default()).unwrap();
            let shown = |summary: &Summary| {
                let mut rules: Vec<String> = summary.rules().map(|rule| format!("{rule:#?}")).collect();
                rules.sort();
                rules
            };
            prop_assert_eq!(shown(&summary), shown(&expected));
        }
    }
}
