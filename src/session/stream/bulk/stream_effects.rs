//! Counts the findings after a fix of a streamed set, and decides whether the fix needs a trial.
//!
//! The numbers are those of a resident set (`fix::effects`). A fix that would raise an error or a warning anywhere is
//! not made here: trials to find the rows that must be skipped need all rows in memory.

use crate::check::Finding;
use crate::check::Profile;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{IndexedRow, Link, Locs, SetDelta, SetIndex, SetRule, SetRuleTarget, is_same_origin};
use crate::document::Document;
use crate::document::edit::Applied;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::SitemapId;
use crate::protocol::Field;
use crate::protocol::location::{NO_KEY, key_hash, near_key_hash};
use crate::session::Session;
use crate::session::checks::{DocumentLocs, NEAR_ROWS, rule_of};
use crate::session::findings::{file_findings, index_findings};
use crate::session::fix::effects::increased;
use crate::session::fix::trial::{is_bad, is_new};
use crate::session::state::Snapshot;
use crate::session::stream::bulk::Fallback;
use crate::xml::record::Flags;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

const NEEDS_TRIAL: Fallback = Fallback::InMemory("this fix must be tested against all rows first");
const CHANGES_URLS: Fallback = Fallback::InMemory("changed URLs must be compared with all others");
const CHANGES_LINKS: Fallback = Fallback::InMemory("fixes of links between pages need both pages");

/// Rules about several rows of one page.
const OF_PAGES: [SetRule; 3] = [SetRule::Duplicate, SetRule::DuplicateEquivalent, SetRule::DuplicateAcrossFiles];
/// Rules about the links of rows.
const OF_LINKS: [SetRule; 3] = [SetRule::HreflangNoReturn, SetRule::HreflangTargetMissing, SetRule::HreflangSetDiffers];

/// The effects of a fix on the findings, so far.
#[derive(Debug)]
pub(super) struct Tally {
    /// The difference in findings of each rule.
    more: Vec<i64>,
    delta: SetDelta,
    /// New URLs of rows that are compared with others.
    moved: HashMap<u32, Box<str>>,
    /// Rows whose links changed, with the index of their new links in `links`.
    relinked: Vec<(u32, u32)>,
    links: Vec<Vec<Link>>,
    link_indexes: HashMap<Vec<Link>, u32>,
    /// Files that will be written.
    written: Vec<SitemapId>,
    /// Whether a row lost its lastmod.
    undates: bool,
    /// Whether the fix must not raise errors or warnings.
    must_not_raise: bool,
}

/// Looks up rows with their new URLs.
struct Moved<'m> {
    document: &'m Document,
    moved: &'m HashMap<u32, Box<str>>,
}

impl Locs for Moved<'_> {
    fn loc(&self, row: u32) -> Option<Cow<'_, str>> {
        match self.moved.get(&row) {
            Some(loc) => Some(Cow::Borrowed(loc)),
            None => self.document.value(RowId(row), Field::Loc),
        }
    }

    fn file(&self, row: u32) -> u32 {
        DocumentLocs(self.document).file(row)
    }

    fn each_date(&self, _: u32, _: &mut dyn FnMut(i64)) {}

    fn links(&self, _: u32) -> Vec<Link> {
        Vec::new()
    }
}

impl Tally {
    /// The tally of a fix; one by a decision of the user may raise errors and warnings.
    pub(super) fn new(must_not_raise: bool) -> Self {
        Self {
            more: vec![0; Rule::COUNT],
            delta: SetDelta::default(),
            moved: HashMap::new(),
            relinked: Vec::new(),
            links: Vec::new(),
            link_indexes: HashMap::new(),
            written: Vec::new(),
            undates: false,
            must_not_raise,
        }
    }

    fn add_each(&mut self, rules: impl IntoIterator<Item = Rule>, more: i64) {
        for rule in rules {
            self.add(rule, more);
        }
    }

    fn add(&mut self, rule: Rule, more: i64) {
        if let Some(count) = self.more.get_mut(rule.index()) {
            *count += more;
        }
    }

    /// Counts the rules that a row violates before and after the fix.
    fn count_change(&mut self, (before, after): (RuleSet, RuleSet), profile: Profile) -> Result<(), Fallback> {
        if self.must_not_raise && after.iter().any(|rule| is_new(rule, before, profile)) {
            return Err(NEEDS_TRIAL);
        }
        self.add_each(before.iter(), -1);
        self.add_each(after.iter(), 1);
        Ok(())
    }

    /// Counts the effects on the resident file. `is_counted`: findings of set rules are known.
    pub(super) fn count(
        &mut self,
        (snapshot, id): (&Snapshot, SitemapId),
        applied: &Applied,
        is_counted: bool,
    ) -> Result<(), Fallback> {
        let (old, new, profile) = (&snapshot.document, &applied.document, snapshot.checks.profile());
        if !applied.added.is_empty() || new.has_pending_split() {
            return Err(Fallback::InMemory("an entry or a file would be split"));
        }
        for row in applied.touched.iter().map(RowId) {
            self.compare_row((snapshot, new), row, is_counted)?;
        }
        for (_, before, after) in snapshot.checks.rule_changes(applied, snapshot.clock) {
            self.count_change((before, after), profile)?;
        }
        snapshot.checks.add_file_delta(old, applied, id, &mut self.delta);
        let is_same = matches!((old.sitemaps().get(id.index()), new.sitemaps().get(id.index())), (Some(was), Some(is)) if Arc::ptr_eq(was, is));
        if is_same {
            return Ok(());
        }
        self.written.push(id);
        let found = |document: &Document| file_findings::of_sitemap((document, &snapshot.saved), id, profile);
        let (before, after) = (found(old), found(new));
        let rules = |found: &[Finding]| found.iter().map(|found| found.rule).collect::<RuleSet>();
        if self.must_not_raise && rules(&after).iter().any(|rule| is_new(rule, rules(&before), profile)) {
            return Err(NEEDS_TRIAL);
        }
        self.add_each(before.iter().map(|found| found.rule), -1);
        self.add_each(after.iter().map(|found| found.rule), 1);
        Ok(())
    }

    /// Records the new URL and links of a changed row, which set rules compare.
    fn compare_row(
        &mut self,
        (snapshot, new): (&Snapshot, &Document),
        row: RowId,
        is_counted: bool,
    ) -> Result<(), Fallback> {
        let (old, set) = (&snapshot.document, snapshot.checks.set());
        self.undates |= old.record(row).has_lastmod() && !new.record(row).has_lastmod();
        let (before, after) = (old.loc(row), new.loc(row));
        if before != after {
            if !is_counted {
                return Err(Fallback::Counted);
            }
            let is_linked = set.has_links() && key_hash(&before) != key_hash(&after);
            let is_near = near_key_hash(&before) == near_key_hash(&after) && is_same_origin(&before, &after);
            if is_linked || !is_near {
                return Err(CHANGES_URLS);
            }
            if !set.is_uncompared(row.0) {
                self.moved.insert(row.0, (&*after).into());
            }
        }
        let has_links = |document: &Document| document.record(row).flags.contains(Flags::ALTERNATE);
        if !has_links(old) && !has_links(new) {
            return Ok(());
        }
        let links = |document: &Document| -> Vec<Link> {
            let links = if has_links(document) { DocumentLocs(document).links(row.0) } else { Vec::new() };
            links.into_iter().filter(|link| link.key != NO_KEY).collect()
        };
        let (before, after) = (links(old), links(new));
        if before == after {
            return Ok(());
        }
        if !is_counted {
            return Err(Fallback::Counted);
        }
        let own = key_hash(&new.loc(row));
        if before.is_empty() || after.is_empty() || after.iter().any(|link| link.key != own && !set.is_listed(link.key))
        {
            return Err(CHANGES_LINKS);
        }
        let next = self.links.len() as u32;
        let index = *self.link_indexes.entry(after).or_insert_with_key(|links| {
            self.links.push(links.clone());
            next
        });
        self.relinked.push((row.0, index));
        Ok(())
    }

    /// Returns the rules that have more findings after the fix, with the difference. Called after the last file;
    /// `document` is the set after the fix. Updates the alternate links of the session.
    pub(super) fn finish(mut self, session: &mut Session, document: &Document) -> Result<Vec<(Rule, u64)>, Fallback> {
        let profile = session.view().profile();
        self.count_index(session.view(), document)?;
        self.count_pages(session.view())?;
        let set = session.view().checks.set();
        let after = set.with_delta(&self.delta);
        let undated = |set: &SetIndex| {
            if set.with_lastmod() > 0 { set.len().saturating_sub(set.with_lastmod()).cast_signed() } else { 0 }
        };
        if self.must_not_raise && self.undates && after.with_lastmod() > 0 && is_bad(Rule::LASTMOD_MISSING, profile) {
            return Err(NEEDS_TRIAL);
        }
        self.add(Rule::LASTMOD_MISSING, undated(&after) - undated(set));
        let by_file = |set: &SetIndex| -> HashMap<Option<u32>, RuleSet> {
            let mut rules: HashMap<Option<u32>, RuleSet> = HashMap::new();
            for (file, rule) in set.broken() {
                rules.entry(file).or_default().insert(rule_of(rule));
            }
            rules
        };
        let (was, is) = (by_file(set), by_file(&after));
        let before = |file: &Option<u32>| was.get(file).copied().unwrap_or_default();
        let raises =
            |(file, rules): (&Option<u32>, &RuleSet)| rules.iter().any(|rule| is_new(rule, before(file), profile));
        if self.must_not_raise && is.iter().any(raises) {
            return Err(NEEDS_TRIAL);
        }
        let others = SetRule::ALL.iter().copied().filter(|rule| !OF_PAGES.contains(rule) && !OF_LINKS.contains(rule));
        let counts: Vec<(SetRule, i64)> =
            others.map(|rule| (rule, after.count_of(rule).cast_signed() - set.count_of(rule).cast_signed())).collect();
        for (rule, more) in counts {
            if self.must_not_raise && more > 0 && rule.target() == SetRuleTarget::Row && is_bad(rule_of(rule), profile)
            {
                return Err(NEEDS_TRIAL);
            }
            self.add(rule_of(rule), more);
        }
        self.count_links(session)?;
        Ok(increased(&self.more, profile))
    }

    /// Counts the findings of the index as a list.
    fn count_index(&mut self, before: &Snapshot, document: &Document) -> Result<(), Fallback> {
        let mut after = before.clone();
        let newest = Arc::make_mut(&mut after.state.checks.newest);
        for id in &self.written {
            // A file that is written gets the date of the save.
            if let Some(newest) = newest.get_mut(id.index()) {
                *newest = None;
            }
        }
        let (was, is) = (
            index_findings::list_findings_of_few(before, &before.document),
            index_findings::list_findings_of_few(&after, document),
        );
        let profile = before.checks.profile();
        let is_raised = |found: &Finding| {
            let same_place = was.iter().filter(|known| known.target == found.target);
            is_new(found.rule, same_place.map(|known| known.rule).collect(), profile)
        };
        if self.must_not_raise && is.iter().any(is_raised) {
            return Err(NEEDS_TRIAL);
        }
        self.add_each(was.iter().map(|found| found.rule), -1);
        self.add_each(is.iter().map(|found| found.rule), 1);
        Ok(())
    }

    /// Counts the findings of pages with several rows, if any of their URLs changed.
    fn count_pages(&mut self, snapshot: &Snapshot) -> Result<(), Fallback> {
        if self.moved.is_empty() {
            return Ok(());
        }
        let (set, document, profile) = (snapshot.checks.set(), &snapshot.document, snapshot.checks.profile());
        let moved = std::mem::take(&mut self.moved);
        let (old, new) = (DocumentLocs(document), Moved { document, moved: &moved });
        let rows = set.compared();
        let facts = |row: u32| {
            let key = new.loc(row).map_or(NO_KEY, |loc| key_hash(&loc));
            (row, key, IndexedRow { file: new.file(row), ..IndexedRow::default() })
        };
        let after = SetIndex::build(rows.iter().map(facts), &new);
        for rule in OF_PAGES {
            let raised = after.rows_with(rule, &new) - set.rows_with(rule, &old);
            self.compare(rule_of(rule), (set.count_of(rule), after.count_of(rule)), &raised, profile)?;
        }
        // In large sets near duplicates are not updated after a change.
        if document.live() <= NEAR_ROWS {
            let near = after.near_duplicates_among(&rows, &new);
            let counts = (snapshot.checks.near_duplicates().len(), near.len());
            self.compare(
                Rule::SET_DUPLICATE_NEAR,
                counts,
                &(near.rows() - snapshot.checks.near_duplicates().rows()),
                profile,
            )?;
        }
        Ok(())
    }

    /// Counts the findings of rules that compare links.
    fn count_links(&mut self, session: &mut Session) -> Result<(), Fallback> {
        if self.relinked.is_empty() {
            return Ok(());
        }
        let profile = session.view().profile();
        let known = |session: &Session| {
            let snapshot = session.view();
            let (set, locs) = (snapshot.checks.set(), DocumentLocs(&snapshot.document));
            OF_LINKS.map(|rule| (set.count_of(rule), set.rows_with(rule, &locs)))
        };
        let before = known(session);
        let links = &self.links;
        let rows = self.relinked.iter().filter_map(|(row, index)| Some((*row, links.get(*index as usize)?.clone())));
        session.current.state.checks.relink(rows);
        for (rule, (was, is)) in OF_LINKS.into_iter().zip(before.into_iter().zip(known(session))) {
            self.compare(rule_of(rule), (was.0, is.0), &(is.1 - was.1), profile)?;
        }
        Ok(())
    }

    /// Counts a rule by its number of findings before and after; `raised` are rows that violate it only after.
    fn compare(
        &mut self,
        rule: Rule,
        (was, is): (u64, u64),
        raised: &RowSet,
        profile: Profile,
    ) -> Result<(), Fallback> {
        if self.must_not_raise && !raised.is_empty() && is_bad(rule, profile) {
            return Err(NEEDS_TRIAL);
        }
        self.add(rule, is.cast_signed() - was.cast_signed());
        Ok(())
    }
}
