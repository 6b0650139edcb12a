//! `Checks`: the findings of a document, updated by changed rows and never recomputed from all.
//!
//! Entry rules: one number per row (which set of rules it violates) and a counter per rule. Set rules: an
//! index that rows are removed from and inserted into. File and index rules: recomputed for touched files.

mod criteria;
mod flagged;
mod locs;
mod near;
mod public_urls;
mod reader;
mod reader_memory;
mod recheck;
mod unload;

pub(crate) use flagged::SetRows;
pub(crate) use locs::{AddedFile, DocumentLocs};
pub(super) use near::{near_candidates, repeated_hashes};
pub(crate) use reader::Reader;
pub(super) use reader_memory::ReaderMemory;
pub(crate) use recheck::Rechecked;

use crate::check::Profile;
use crate::check::policy::Policy;
use crate::check::quirk;
use crate::check::rule::{FindingCounts, Rule, RuleSet, RuleSets};
use crate::check::set::{
    CounterDelta, FileRows, IndexedRow, NearDuplicates, SetIndex, SetRule, SetRuleTarget, SetRules,
};
use crate::check::site::Site;
use crate::check::{Context, entry};
use crate::document::Document;
use crate::document::edit::Applied;
use crate::document::quirk::Quirk;
use crate::document::rows::{self, RowId, RowSet};
use crate::persistent::Column;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::protocol::location::{self, UrlPrefix};
use crate::xml::record::{ABSENT, Flags, Record, UNREADABLE};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// Edits of up to this many rows update the set index in place; for larger ones a worker updates a copy.
pub(crate) const INLINE_ROWS: u64 = 2_000;

/// Sets of up to this many rows (one full file) find near duplicates again after every edit, which takes about 300 ns a
/// row; in larger sets only reports look for them.
pub(crate) const NEAR_ROWS: u32 = 50_000;

/// One counter per rule.
pub(crate) type Counts = [u32; Rule::COUNT];

/// The findings of a document, and the criteria and indexes that they are made with.
#[derive(Debug, Clone)]
pub struct Checks {
    /// Sets of rules by their number; grows, and is shared by all versions.
    sets: Arc<RwLock<RuleSets>>,
    /// The number of each row's set of entry rules; 0 for clean and for deleted rows.
    findings: Column<u16>,
    /// Rows per entry rule.
    counts: Arc<Counts>,
    /// Duplicates, hosts, histograms. Only the current state has one: states in the history are kept without it
    /// ([`Checks::without_set_index`]), unless a worker made a separate one for them.
    set: Arc<SetIndex>,
    is_bare: bool,
    /// Rows that are near duplicates of an earlier one, in sets of up to [`NEAR_ROWS`].
    near: Arc<NearDuplicates>,
    /// Whether `near` is complete.
    knows_near: bool,
    /// Public URL of each sitemap by id; `None` if unknown.
    url_prefixes: Arc<Vec<Option<UrlPrefix>>>,
    criteria: Criteria,
    /// The site data that the findings were made with, in a state that does not keep it in memory.
    detached_site: Option<Weak<Site>>,
    /// Whether the set may list URLs of other sites; see [`CROSS_SUBMISSION`].
    allows_other_sites: bool,
    /// The latest date in each file, of a streamed set; see [`crate::session::stream`].
    pub(super) newest: Arc<Vec<Option<i64>>>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            sets: Arc::default(),
            findings: Column::default(),
            counts: Arc::new([0; Rule::COUNT]),
            set: Arc::default(),
            is_bare: false,
            near: Arc::default(),
            knows_near: true,
            url_prefixes: Arc::default(),
            criteria: Criteria::default(),
            detached_site: None,
            allows_other_sites: false,
            newest: Arc::default(),
        }
    }
}

/// The criteria for rows, besides their file and the clock.
#[derive(Debug, Clone, Default)]
pub struct Criteria {
    /// The profile, whose expectations apply.
    pub profile: Profile,
    /// The user's own policy.
    pub policy: Option<Arc<Policy>>,
    /// Data about the pages, from data columns.
    pub site: Option<Arc<Site>>,
}

impl PartialEq for Criteria {
    /// Policies and data are compared by identity, not by content.
    fn eq(&self, other: &Self) -> bool {
        let same_policy = match (&self.policy, &other.policy) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let same_site = match (&self.site, &other.site) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.profile == other.profile && same_policy && same_site
    }
}

/// Rules that do not apply to another site if a `Sitemap` line of its robots.txt lists the set (sitemaps.org protocol,
/// "Sitemaps & Cross Submits"; rule catalogue, C14).
pub(crate) const CROSS_SUBMISSION: RuleSet = RuleSet::of(&[
    Rule::LOC_FOREIGN_HOST,
    Rule::LOC_OUTSIDE_PATH,
    Rule::INDEX_CHILD_HOST,
    Rule::INDEX_CHILD_PATH,
    Rule::SET_MIXED_HOST,
]);

/// Interns sets of rules; locks the shared table only for sets that it has not seen.
struct Numbers<'t> {
    table: &'t RwLock<RuleSets>,
    known: HashMap<RuleSet, u16, FixedState>,
    last: (RuleSet, u16),
}

impl<'t> Numbers<'t> {
    fn new(table: &'t RwLock<RuleSets>) -> Self {
        Self { table, known: HashMap::with_hasher(FixedState::default()), last: (RuleSet::EMPTY, 0) }
    }

    fn number_of(&mut self, set: RuleSet) -> u16 {
        if set == self.last.0 {
            return self.last.1;
        }
        let number = *self
            .known
            .entry(set)
            .or_insert_with(|| self.table.write().unwrap_or_else(PoisonError::into_inner).intern(set));
        self.last = (set, number);
        number
    }
}

/// Rules that are both about single URLs and about all URLs of a set together.
pub(super) const URL_AND_SET_RULES: RuleSet = RuleSet::of(&[Rule::LOC_TEMPLATE_RESIDUE]);

/// Interns the sets of rules of entries with quirks; locks the shared table only for sets that it has not seen.
struct QuirkNumbers<'t, 'q> {
    table: &'t RwLock<RuleSets>,
    /// By the number of the entry's own rules and the rules of the quirks.
    known: HashMap<(u16, RuleSet), u16, FixedState>,
    /// The last number with what it is of.
    last: Option<(u16, &'q [Quirk], u16)>,
}

impl<'t, 'q> QuirkNumbers<'t, 'q> {
    fn new(table: &'t RwLock<RuleSets>) -> Self {
        Self { table, known: HashMap::with_hasher(FixedState::default()), last: None }
    }

    fn number_of(&mut self, own: u16, quirks: &'q [Quirk]) -> u16 {
        // Most damaged files have the same damage in every entry, and rule sets are larger than the kinds of few quirks.
        let has_same_kinds = |last: &[Quirk]| {
            last.len() == quirks.len() && last.iter().zip(quirks).all(|(last, quirk)| last.kind == quirk.kind)
        };
        if let Some((_, _, number)) = self.last.filter(|(last, of, _)| *last == own && has_same_kinds(of)) {
            return number;
        }
        let of_quirks = quirk::rules(quirks);
        let number = *self.known.entry((own, of_quirks)).or_insert_with(|| {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            let rules = quirk::add_to_entry(table.get(own), of_quirks);
            // The entry's own findings stay counted.
            let counts = table
                .finding_counts()
                .get(&own)
                .map(|counts| counts.iter().copied().filter(|(rule, _)| rules.contains(*rule)).collect::<Vec<_>>());
            match counts {
                Some(counts) => table.intern_counted(rules, &counts),
                None => table.intern(rules),
            }
        });
        self.last = Some((own, quirks, number));
        number
    }
}

impl Checks {
    /// The criteria for rows, besides their file and the clock.
    pub const fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// The profile, whose expectations apply.
    pub const fn profile(&self) -> Profile {
        self.criteria.profile
    }

    /// The user's own policy.
    pub fn policy(&self) -> Option<&Policy> {
        self.criteria.policy.as_deref()
    }

    /// The data about the pages.
    pub fn site(&self) -> Option<&Site> {
        self.criteria.site.as_deref()
    }

    /// The checks of all rows under other criteria, on all cores. `None` when cancelled.
    #[must_use]
    pub fn with_criteria(
        &self,
        criteria: Criteria,
        document: &Document,
        now: Now,
        progress: &Progress,
    ) -> Option<Self> {
        let mut checks = Self { criteria, ..self.clone() };
        let all = Applied { touched: document.rows().map(|row| row.0).collect(), ..Applied::unchanged(document) };
        let Rechecked { findings, counts, .. } = checks.recheck_rows(&all, now, progress)?;
        (checks.findings, checks.counts) = (findings, counts);
        Some(checks)
    }

    /// Declares cross-submission: the rules of [`CROSS_SUBMISSION`] do not apply. Call it before any file is added.
    pub fn allow_other_sites(&mut self) {
        self.allows_other_sites = true;
        Arc::make_mut(&mut self.set).set_cross_submission(true);
    }

    /// Whether cross-submission was declared.
    pub const fn allows_other_sites(&self) -> bool {
        self.allows_other_sites
    }

    /// The prefix that URLs in a file with this URL must have.
    fn url_prefix_of(&self, url: Option<&str>) -> Option<UrlPrefix> {
        url.filter(|_| !self.allows_other_sites).and_then(UrlPrefix::parse)
    }

    /// A reader for a file that is about to be scanned; `url` is its public URL, if known.
    pub fn reader(&self, url: Option<&str>, now: Now) -> Reader {
        Reader::new(Arc::clone(&self.sets), now.seconds, self.criteria.clone(), self.url_prefix_of(url))
    }

    /// Adds the rows of a file that was just appended to the document. If the reader has near keys, each row is added
    /// as if its page were unique, and [`Checks::compare`] finds the duplicates later.
    pub(crate) fn add_file(
        &mut self,
        added: AddedFile<'_>,
        first: u32,
        reader: &mut Reader,
        url: Option<&str>,
        mtime: Option<i64>,
    ) {
        let quirks = added.document.sitemaps().last().map_or(&[][..], |sitemap| &sitemap.quirks);
        let findings = self.with_quirks(quirks, &reader.findings);
        self.findings.extend_sharing(findings.iter().copied());
        let counts = Arc::make_mut(&mut self.counts);
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        let mut rows_of_sets = vec![0; sets.len()];
        for number in &*findings {
            if let Some(rows) = rows_of_sets.get_mut(usize::from(*number)) {
                *rows += 1;
            }
        }
        for (number, rows) in (0..).zip(rows_of_sets).filter(|(_, rows)| *rows > 0) {
            add(counts, sets.get(number), rows, true);
        }
        drop(sets);
        let url_prefix = self.url_prefix_of(url);
        Arc::make_mut(&mut self.url_prefixes).push(url_prefix);
        let file = added.number();
        let set = Arc::make_mut(&mut self.set);
        set.set_mtime(file, mtime);
        set.set_part(is_part(added.document));
        if let Some(near_keys) = &reader.near_keys {
            let shapes = std::mem::take(&mut reader.shapes);
            set.insert_file_uncompared(FileRows { file, first, keys: near_keys }, &reader.tally, shapes);
            set.insert_links_uncompared(first, &reader.links, &reader.linked_keys);
        } else {
            set.insert_file(FileRows { file, first, keys: &reader.keys }, &reader.tally, &reader.links, &added);
        }
        set.recompute(&added);
    }

    /// The rule set numbers of a file's entries, including the rules that their quirks violate.
    fn with_quirks<'r>(&self, quirks: &[Quirk], findings: &'r [u16]) -> Cow<'r, [u16]> {
        let mut findings = Cow::Borrowed(findings);
        let mut numbers = QuirkNumbers::new(&self.sets);
        for quirks in quirks.chunk_by(|a, b| a.entry == b.entry) {
            let Some(entry) = quirks.first().and_then(|quirk| quirk.entry) else { continue };
            if let Some(number) = findings.to_mut().get_mut(entry as usize) {
                *number = numbers.number_of(*number, quirks);
            }
        }
        findings
    }

    /// The entry rules that a row violates, evaluated now.
    fn entry_rules(&self, document: &Document, row: RowId, now: Now) -> RuleSet {
        if !document.is_live(row) {
            return RuleSet::EMPTY;
        }
        let (entry, text) = document.entry(row);
        let own = entry::check(&entry, &text, &self.context(document, row, now));
        quirk::add_to_entry(own, quirk::rules(document.quirks_of(row)))
    }

    /// [`Checks::entry_rules`] of a row after an edit of one field; `old` are the rules that it violated before.
    fn entry_rules_after(&self, document: &Document, row: RowId, old: RuleSet, field: Field, now: Now) -> RuleSet {
        if !document.is_live(row) {
            return RuleSet::EMPTY;
        }
        let (entry, text) = document.entry(row);
        let own = entry::check_again(old, Some(field), &entry, &text, &self.context(document, row, now));
        quirk::add_to_entry(own, quirk::rules(document.quirks_of(row)))
    }

    /// The context that entry rules need to check a row.
    pub fn context<'c>(&'c self, document: &'c Document, row: RowId, now: Now) -> Context<'c> {
        let url_prefix = self.url_prefixes.get(document.sitemap_of(row).index()).and_then(Option::as_ref);
        Context {
            now: now.seconds,
            profile: self.profile(),
            names: document.names(row),
            url_prefix,
            policy: self.policy(),
            site: self.site(),
        }
    }

    /// Replaces the findings with rechecked ones, and updates the set index unless a worker did it.
    pub fn commit(&mut self, rechecked: Rechecked, before: &Document, applied: &Applied) {
        self.update_url_prefixes(before, applied);
        self.findings = rechecked.findings;
        self.counts = rechecked.counts;
        if let Some(set) = rechecked.set {
            self.set = set;
        } else {
            sync(Arc::make_mut(&mut self.set), (before, &applied.document), &applied.touched, applied.field);
        }
        if applied.field.is_none_or(|field| field == Field::Loc) {
            self.find_near_duplicates(&applied.document);
        }
        let files = applied.document.sitemaps().len();
        if self.url_prefixes.len() < files {
            Arc::make_mut(&mut self.url_prefixes).resize(files, None);
        }
    }

    /// Finds the near duplicates again, in sets of up to [`NEAR_ROWS`].
    pub fn find_near_duplicates(&mut self, document: &Document) {
        self.knows_near = document.live() <= NEAR_ROWS;
        let near = if self.knows_near {
            self.set.near_duplicates_among(&near_candidates(document), &DocumentLocs(document))
        } else {
            NearDuplicates::default()
        };
        self.near = Arc::new(near);
    }

    /// Updates the set index, if this state has one, after a save moved rows to other files.
    pub fn move_rows(&mut self, before: &Document, after: &Document, moved: &RowSet) {
        let files = after.sitemaps().len();
        if self.url_prefixes.len() < files {
            Arc::make_mut(&mut self.url_prefixes).resize(files, None);
        }
        if (!moved.is_empty() || before.has_pending_split() || after.has_pending_split()) && !self.is_bare {
            sync(Arc::make_mut(&mut self.set), (before, after), moved, None);
        }
    }

    /// The numbers of sets of rules.
    pub fn numbers(&self, sets: impl Iterator<Item = RuleSet>) -> Vec<u16> {
        let mut numbers = Numbers::new(&self.sets);
        sets.map(|set| numbers.number_of(set)).collect()
    }

    /// These checks without the set index. The history uses them, so that the current index is never copied.
    #[must_use]
    pub fn without_set_index(&self) -> Self {
        Self { set: Arc::default(), is_bare: true, ..self.clone() }
    }

    /// After undo or redo: a state without a set index takes the one of the state that it replaces, and updates it by
    /// the rows that differ: those that the step touched (only in `field`, if given), and those that a save since then
    /// has moved to another file.
    pub fn adopt_set_index(
        &mut self,
        other: &mut Self,
        (from, to): (&Document, &Document),
        touched: &RowSet,
        field: Option<Field>,
    ) {
        if !self.is_bare {
            return;
        }
        self.set = std::mem::take(&mut other.set);
        (self.is_bare, other.is_bare) = (false, true);
        let set = Arc::make_mut(&mut self.set);
        let rows_in_other_files = from.compare(to).rows_in_other_files();
        if rows_in_other_files.is_empty() {
            sync(set, (from, to), touched, field);
        } else {
            sync(set, (from, to), &(touched | &rows_in_other_files), None);
        }
    }

    /// All sets of rules, by their number.
    pub fn rule_sets(&self) -> Arc<[RuleSet]> {
        let sets = self.sets.read().unwrap_or_else(PoisonError::into_inner);
        (0..sets.len() as u32).map(|number| sets.get(number as u16)).collect()
    }

    /// How many findings rows have, by the number of their set of entry rules; only for sets interned with counts.
    pub fn rule_places(&self) -> Arc<FindingCounts> {
        Arc::clone(self.sets.read().unwrap_or_else(PoisonError::into_inner).finding_counts())
    }

    /// Whether any row violates a set rule.
    pub fn flags_rows(&self) -> bool {
        let mut row_rules = SetRule::ALL.iter().filter(|rule| rule.target() == SetRuleTarget::Row);
        row_rules.any(|rule| self.set.count_of(*rule) > 0)
            || (self.set.with_lastmod() > 0 && self.set.len() > self.set.with_lastmod())
            || !self.near.is_empty()
    }

    /// The number of a row's set of entry rules.
    pub fn finding_id(&self, row: RowId) -> u16 {
        self.findings.get(row.index()).copied().unwrap_or_default()
    }

    /// Rules that a row violates, set rules included.
    pub fn rules_of(&self, row: RowId, document: &Document) -> RuleSet {
        self.with_set_rules(self.entry_rules_of(row), row, document)
    }

    /// The entry rules that a row violates, those of its repairs included.
    pub(super) fn entry_rules_of(&self, row: RowId) -> RuleSet {
        self.sets.read().unwrap_or_else(PoisonError::into_inner).get(self.finding_id(row))
    }

    /// Those of the rules that a row violates for which its entry may have findings itself: its host may violate a rule
    /// that is about single URLs too.
    pub(super) fn rules_of_entry(&self, row: RowId, rules: RuleSet) -> RuleSet {
        let is_own = !rules.intersects(URL_AND_SET_RULES) || self.entry_rules_of(row).intersects(URL_AND_SET_RULES);
        if is_own { rules } else { rules.minus(URL_AND_SET_RULES) }
    }

    /// [`Checks::rules_of`] for callers with many rows, which get the sets of rules once ([`Checks::rule_sets`]).
    pub fn rules_in(&self, row: RowId, document: &Document, sets: &[RuleSet]) -> RuleSet {
        let own = sets.get(usize::from(self.finding_id(row))).copied().unwrap_or_default();
        self.with_set_rules(own, row, document)
    }

    fn with_set_rules(&self, rules: RuleSet, row: RowId, document: &Document) -> RuleSet {
        self.set_rules_of(row, document).map_or(rules, |of_set| rules.union(of_set.rules()))
    }

    /// The rules of the set that a row violates; `None` for a deleted row.
    pub fn set_rules_of(&self, row: RowId, document: &Document) -> Option<RowSetRules> {
        document.is_live(row).then(|| RowSetRules {
            of_index: self.set.rules_of(row.0, &DocumentLocs(document)),
            misses_lastmod: self.misses_lastmod(&document.record(row)),
            is_near_duplicate: self.near.contains(row.0),
        })
    }

    /// Whether a row lacks the lastmod that others of the set have.
    fn misses_lastmod(&self, record: &Record) -> bool {
        !record.has_lastmod() && !record.is_deleted() && self.set.with_lastmod() > 0
    }

    /// Rows per rule (files or 1 for rules about those): entry rules and set rules together.
    pub fn counts(&self) -> Counts {
        let mut counts = *self.counts;
        for rule in SetRule::ALL {
            if let Some(count) = counts.get_mut(rule_of(*rule).index()) {
                *count += self.set.count_of(*rule) as u32;
            }
        }
        if self.set.with_lastmod() > 0
            && let Some(count) = counts.get_mut(Rule::LASTMOD_MISSING.index())
        {
            *count += (self.set.len() - self.set.with_lastmod()) as u32;
        }
        if let Some(count) = counts.get_mut(Rule::SET_DUPLICATE_NEAR.index()) {
            *count += self.near.len() as u32;
        }
        counts
    }

    /// The set index.
    pub fn set(&self) -> &SetIndex {
        &self.set
    }
}

/// The rules of the set that a row violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RowSetRules {
    /// Those that the set index finds.
    of_index: SetRules,
    /// Whether the row lacks the lastmod that others of the set have.
    misses_lastmod: bool,
    /// Whether the row is the near duplicate of another one.
    pub is_near_duplicate: bool,
}

impl RowSetRules {
    /// The rules of the table.
    pub fn rules(self) -> RuleSet {
        let mut rules = RuleSet::EMPTY;
        if !self.of_index.is_empty() {
            self.of_index.iter().for_each(|rule| rules.insert(rule_of(rule)));
        }
        rules.insert_if(Rule::LASTMOD_MISSING, self.misses_lastmod);
        rules.insert_if(Rule::SET_DUPLICATE_NEAR, self.is_near_duplicate);
        rules
    }
}

/// The entry of the rule table for a set rule.
pub(crate) fn rule_of(rule: SetRule) -> Rule {
    rule.rule()
}

fn add(counts: &mut Counts, set: RuleSet, rows: u32, more: bool) {
    for rule in set.iter() {
        if let Some(count) = counts.get_mut(rule.index()) {
            *count = if more { *count + rows } else { count.saturating_sub(rows) };
        }
    }
}

/// Whether a document is one file without an index, which may be part of a larger set.
pub(super) fn is_part(document: &Document) -> bool {
    document.index().is_none() && document.sitemaps().len() == 1
}

/// The properties of a row that the set index counts.
#[inline]
fn indexed_row(record: &Record, file: u32) -> IndexedRow {
    let code = |code: u8| if code == ABSENT || code == UNREADABLE { None } else { Some(code) };
    IndexedRow {
        file,
        lastmod: record.lastmod().map(|lastmod| lastmod.seconds),
        has_lastmod: record.has_lastmod(),
        has_changefreq: record.changefreq_code() != ABSENT,
        has_priority: record.priority_code() != ABSENT,
        has_extensions: record.flags.has_extensions(),
        priority: code(record.priority_code()),
        changefreq: code(record.changefreq_code()),
        news: record.flags.contains(Flags::NEWS),
        alternate: record.flags.contains(Flags::ALTERNATE),
    }
}

/// Updates the set index by the touched rows. `field` is the only field that changed, if given.
fn sync(set: &mut SetIndex, (before, after): (&Document, &Document), touched: &RowSet, field: Option<Field>) {
    let has_pending_split = before.has_pending_split() || after.has_pending_split();
    set.set_part(is_part(after.with_pending_split()));
    // Rows count for the files of a split that the user agreed to.
    let (before, after) = (before.with_pending_split(), after.with_pending_split());
    let moved = if has_pending_split { before.compare(after).rows_in_other_files() } else { RowSet::new() };
    let (touched, field) =
        if moved.is_empty() { (Cow::Borrowed(touched), field) } else { (Cow::Owned(touched | &moved), None) };
    let touched = &*touched;
    let (old, new) = (DocumentLocs(before), DocumentLocs(after));
    let facts = |document: &Document, row: RowId| indexed_row(&document.record(row), document.sitemap_of(row).0);
    if field.is_some_and(|field| matches!(field, Field::Changefreq | Field::Priority)) {
        // Only a few counters change; their deltas are summed on all cores.
        let deltas = rows::par_chunks(touched, |share| {
            let mut delta = CounterDelta::default();
            for row in rows::ids(touched, share).map(RowId).filter(|row| after.is_live(*row)) {
                delta.count(&indexed_row(&before.record(row), 0), &indexed_row(&after.record(row), 0));
            }
            Some(delta)
        });
        set.apply_delta(&deltas.into_iter().flatten().fold(CounterDelta::default(), |sum, more| sum.and(&more)));
    } else if field.is_some_and(|field| field != Field::Loc) {
        // No row has changed its file.
        let mut cursor = after.row_cursor();
        for row in touched.iter().map(RowId).filter(|row| after.is_live(*row)) {
            let file = cursor.sitemap_of(row).0;
            set.revise(&indexed_row(&before.record(row), file), &indexed_row(&after.record(row), file));
        }
    } else {
        // All rows are removed first: a row that is looked up during an insertion must be in the index as the new
        // document has it.
        for row in touched.iter().map(RowId).filter(|row| before.is_live(*row)) {
            set.remove(row.0, &facts(before, row), &old);
        }
        for row in touched.iter().map(RowId).filter(|row| after.is_live(*row)) {
            let key = after.value(row, Field::Loc).map_or(0, |loc| location::key_hash(&loc));
            set.insert(row.0, key, &facts(after, row), &new);
        }
    }
    set.recompute(&new);
}
