//! Set index and set rules: duplicate URLs, mixed hosts, generated dates and other findings across rows.
//!
//! [`SetIndex`] is updated row by row: [`SetIndex::remove`] with the old facts, [`SetIndex::insert`] with the new ones
//! ([`SetIndex::revise`] for both if the URL stays the same), and [`SetIndex::recompute`] after a batch. Its counts
//! then equal those of a newly built index. It identifies rows and files by number and reads texts through [`Locs`]; it
//! does not depend on documents.

mod alternates;
mod counters;
mod dates;
mod duplicates;
mod file;
mod groups;
mod hosts;
mod link_lists;
mod members;
mod minority;
mod near_duplicates;
mod origins;
mod read_tally;
mod rule;
mod set_delta;
mod text_numbers;

pub use alternates::Link;
pub use counters::Presence;

pub(crate) use alternates::host_hash;
pub(crate) use counters::CounterDelta;
pub(crate) use duplicates::Duplicates;
pub(crate) use link_lists::LinkLists;
pub(crate) use near_duplicates::NearDuplicates;
use read_tally::RowShapes;
pub(crate) use read_tally::{ReadTally, RowShape};
pub(crate) use rule::{SetRule, SetRuleTarget, SetRules};
pub(crate) use set_delta::{RowSide, SetDelta, is_same_origin};

use crate::protocol::location::{self, Location, NO_KEY};
use crate::words::grouped;
use alternates::Alternates;
use counters::Counters;
use file::FileTally;
use hosts::Hosts;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Priority 1.0, in hundredths.
const TOP_PRIORITY: u8 = 100;

/// Texts and dates of rows, as the index needs them.
///
/// During a change, [`SetIndex::remove`] needs the texts before it and all other functions those after it.
pub trait Locs {
    /// The row's `loc`, decoded and trimmed; `None` if it has none.
    fn loc(&self, row: u32) -> Option<Cow<'_, str>>;

    /// The number of the row's file.
    fn file(&self, row: u32) -> u32;

    /// Calls `visit` with each readable lastmod of a file, in seconds since 1970.
    fn each_date(&self, file: u32, visit: &mut dyn FnMut(i64));

    /// The alternate links of a row that has any.
    fn links(&self, row: u32) -> Vec<Link>;
}

/// The properties of a row that the index counts, without its URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexedRow {
    /// The number of the row's file; numbers are small and dense.
    pub file: u32,
    /// The date in seconds since 1970, if it is readable.
    pub lastmod: Option<i64>,
    /// Whether there is a lastmod at all.
    pub has_lastmod: bool,
    /// Whether there is a changefreq at all.
    pub has_changefreq: bool,
    /// Whether there is a priority at all.
    pub has_priority: bool,
    /// Whether there are extensions of any kind.
    pub has_extensions: bool,
    /// The priority in hundredths, 0 to 100, if it is readable.
    pub priority: Option<u8>,
    /// The changefreq as its index among the seven words, if it is valid.
    pub changefreq: Option<u8>,
    /// Whether the entry has `news:news`.
    pub news: bool,
    /// Whether the entry has alternate links.
    pub alternate: bool,
}

/// Consecutive rows of a file that are added together.
#[derive(Debug, Clone, Copy)]
pub struct FileRows<'k> {
    /// The number of the file.
    pub file: u32,
    /// The id of the first row.
    pub first: u32,
    /// The `key_hash` of each row, in order.
    pub keys: &'k [u64],
}

impl FileRows<'_> {
    /// The `key_hash` of a row; `None` for a row of another file.
    fn key_of(&self, row: u32) -> Option<u64> {
        self.keys.get(row.checked_sub(self.first)? as usize).copied()
    }
}

/// Totals over all files.
#[derive(Debug, Clone, Copy, Default)]
struct FileCounters {
    other_host: u64,
    other_port: u64,
    identical: u64,
    generated: u64,
    news_mixed: u64,
    news_limit: u64,
}

/// The index of the whole set.
#[derive(Debug, Clone, Default)]
pub struct SetIndex {
    /// By far the largest part; shared with other states whose rows have the same URLs.
    duplicates: Arc<Duplicates>,
    alternates: Alternates,
    hosts: Hosts,
    files: Vec<FileTally>,
    dirty: Vec<u32>,
    verdicts: FileCounters,
    counters: Counters,
    /// The shapes of rows by id, for a set that is only reported on; otherwise shapes are computed from URLs.
    shapes: RowShapes,
    cross_submission: bool,
    /// Whether it is a single file, which may be part of a larger set.
    is_part: bool,
}

impl SetIndex {
    /// Builds the index of all rows, given as row, `key_hash` and facts.
    pub fn build(rows: impl IntoIterator<Item = (u32, u64, IndexedRow)>, locs: &impl Locs) -> Self {
        let rows = rows.into_iter();
        let mut index = Self::default();
        index.reserve(rows.size_hint().0);
        for (row, key_hash, facts) in rows {
            index.insert(row, key_hash, &facts, locs);
        }
        index.recompute(locs);
        index
    }

    /// Reserves memory for `rows` more rows.
    pub fn reserve(&mut self, rows: usize) {
        Arc::make_mut(&mut self.duplicates).reserve(rows);
    }

    /// Declares that files may list URLs of several hosts (sitemaps.org protocol, "Sitemaps & Cross Submits").
    pub fn set_cross_submission(&mut self, declared: bool) {
        self.cross_submission = declared;
    }

    /// Sets whether this is a single file, which may be part of a larger set whose other files list further pages.
    pub fn set_part(&mut self, is_part: bool) {
        self.is_part = is_part;
    }

    /// Sets the modification time of a file, in seconds since 1970. Call `recompute` afterwards.
    pub fn set_mtime(&mut self, file: u32, mtime: Option<i64>) {
        self.touch(file).set_mtime(mtime);
    }

    /// The modification time of a file in seconds since 1970, if known.
    pub fn mtime(&self, file: u32) -> Option<i64> {
        self.files.get(file as usize).and_then(FileTally::mtime)
    }

    /// Rows of a file without a readable date.
    pub fn undated(&self, file: u32) -> u32 {
        self.files.get(file as usize).map_or(0, FileTally::undated)
    }

    /// Adds a row that is not in the index.
    pub fn insert(&mut self, row: u32, key_hash: u64, facts: &IndexedRow, locs: &impl Locs) {
        let loc = locs.loc(row).unwrap_or_default();
        let location = Location::outline(&loc);
        Arc::make_mut(&mut self.duplicates).insert((row, facts.file), &loc, key_hash, locs);
        if facts.alternate || !self.alternates.is_empty() {
            let links = if facts.alternate { locs.links(row) } else { Vec::new() };
            let duplicates = &self.duplicates;
            self.alternates.insert(row, key_hash, &links, |key| {
                duplicates.rows_of_key(key, |row| Some(location::key_hash(&locs.loc(row)?)))
            });
        }
        let origin = self.hosts.add(&location);
        self.touch(facts.file).add(origin, facts);
        self.counters.count(&location, facts, 1);
    }

    /// Compares rows that were added without comparison, given as row, `key_hash` and file, with all others.
    pub fn compare(&mut self, rows: impl IntoIterator<Item = (u32, u64, u32)>, locs: &impl Locs) {
        let duplicates = Arc::make_mut(&mut self.duplicates);
        for (row, key_hash, file) in rows {
            if duplicates.remove_uncompared(row) {
                let loc = locs.loc(row).unwrap_or_default();
                duplicates.insert((row, file), &loc, key_hash, locs);
            }
        }
    }

    /// Adds the rows of one file, with the tally of these rows and their alternate links.
    pub fn insert_file(&mut self, rows: FileRows<'_>, tally: &ReadTally, links: &LinkLists, locs: &impl Locs) {
        Arc::make_mut(&mut self.duplicates).insert_all(rows, locs);
        if !self.alternates.is_empty() {
            // Count rows as targets of known links first; `add_links` counts the targets of new links afterwards.
            for key in rows.keys {
                self.alternates.count_row(*key);
            }
        }
        let duplicates = &self.duplicates;
        let key_of = |row| rows.key_of(row).or_else(|| Some(location::key_hash(&locs.loc(row)?)));
        let linked = links.rows(rows.first).map(|(row, links)| (row, rows.key_of(row).unwrap_or(NO_KEY), links));
        self.alternates.add_links(linked, |key| duplicates.rows_of_key(key, key_of));
        self.add_tally(rows.file, tally);
    }

    /// Adds the rows of a new file without comparing them with others, which needs neither hashes nor slots; their `keys`
    /// can be of any kind. The shapes of its rows, whose origins have the numbers of `tally`, are stored if those of all
    /// earlier rows are. See [`SetIndex::compare`] and, for alternate links, [`SetIndex::insert_links_uncompared`].
    pub fn insert_file_uncompared(&mut self, rows: FileRows<'_>, tally: &ReadTally, mut shapes: Vec<RowShape>) {
        Arc::make_mut(&mut self.duplicates).insert_uncompared(rows.first, rows.keys);
        RowShape::renumber(&mut shapes, &self.add_tally(rows.file, tally));
        self.shapes.add(rows.first, shapes);
    }

    /// Adds the alternate links of such a file; `keys` are the `key_hash` of its rows that have links. Their targets are
    /// counted by [`SetIndex::count_targets`].
    pub fn insert_links_uncompared(&mut self, first: u32, links: &LinkLists, keys: &[u64]) {
        // Most lists differ, and most links of a list lead to different pages.
        self.alternates.reserve(links.lists(), links.len());
        self.alternates.add_links_uncounted(links.rows(first).zip(keys).map(|((row, links), key)| (row, *key, links)));
    }

    /// Counts the rows that alternate links lead to, after all files were added. `unlinked` are the key hashes of the
    /// rows for which [`SetIndex::linked_key`] is `None`, in the order of their ids. Returns the rows that findings
    /// about links may name.
    pub fn count_targets(&mut self, unlinked: &[u64]) -> RoaringBitmap {
        self.alternates.recount(unlinked);
        self.alternates.recompute(self.hosts.names());
        self.alternates.rows_in_findings(unlinked)
    }

    /// Whether rows were added without comparison, so that the index does not know all rows of a page.
    pub fn is_partial(&self) -> bool {
        !self.duplicates.uncompared_rows().is_empty()
    }

    /// Returns the number here of each origin of the tally.
    fn add_tally(&mut self, file: u32, tally: &ReadTally) -> Vec<u32> {
        self.touch(file).merge(&tally.file, &tally.minutes);
        self.counters.add(&tally.counters);
        self.hosts.reserve(tally.origins.len());
        let numbers = tally.origins.iter().map(|(text, rows)| {
            let Some((number, origin)) = self.hosts.add_rows(&Location::outline(text), rows) else { return u32::MAX };
            self.touch(file).add_origin(origin, rows);
            number
        });
        numbers.collect()
    }

    /// Removes a row that was added with these facts; `old` has the texts as they were then.
    pub fn remove(&mut self, row: u32, facts: &IndexedRow, old: &impl Locs) {
        let loc = old.loc(row).unwrap_or_default();
        let location = Location::outline(&loc);
        Arc::make_mut(&mut self.duplicates).remove(row, facts.file, old);
        if !self.alternates.is_empty() {
            self.alternates.remove(row, location::key_hash(&loc));
        }
        let origin = self.hosts.remove(&location);
        self.touch(facts.file).remove(origin, facts);
        self.counters.count(&location, facts, -1);
    }

    /// Replaces the facts of a row whose URL, file and extensions stay the same, without reading its URL.
    pub fn revise(&mut self, old: &IndexedRow, new: &IndexedRow) {
        debug_assert_eq!(
            (old.file, old.news, old.alternate),
            (new.file, new.news, new.alternate),
            "another file, another extension"
        );
        if old.lastmod != new.lastmod {
            self.touch(new.file).change_date(old.lastmod, new.lastmod);
        }
        self.counters.count_values(old, -1);
        self.counters.count_values(new, 1);
    }

    /// Applies a delta of many rows whose dates stay the same as well.
    pub fn apply_delta(&mut self, delta: &CounterDelta) {
        self.counters.apply_delta(delta);
    }

    /// Recomputes the findings of the files whose rows have changed. Must be called after a batch of changes, before
    /// results are read.
    pub fn recompute(&mut self, locs: &impl Locs) {
        for number in std::mem::take(&mut self.dirty) {
            let Some(file) = self.files.get_mut(number as usize) else { continue };
            let before = file.verdict;
            file.recompute(&self.hosts, &mut |visit| locs.each_date(number, visit));
            self.verdicts.replace(&before, &file.verdict);
        }
        self.alternates.recompute(self.hosts.names());
    }

    /// How many findings a rule has: rows, files, or 1 for the set.
    pub fn count_of(&self, rule: SetRule) -> u64 {
        match rule {
            // A row that repeats a URL in a further file counts for `DuplicateAcrossFiles`.
            SetRule::Duplicate => self.duplicates.groups.exact.saturating_sub(self.duplicates.groups.across),
            SetRule::DuplicateEquivalent => self.duplicates.groups.equivalent,
            SetRule::DuplicateAcrossFiles => self.duplicates.groups.across,
            SetRule::MixedScheme => self.hosts.schemes[0].min(self.hosts.schemes[1]),
            SetRule::MixedWww => self.hosts.www_minority,
            SetRule::MixedHost if self.cross_submission => 0,
            SetRule::MixedHost => self.verdicts.other_host,
            SetRule::MixedPort => self.verdicts.other_port,
            SetRule::MixedSlash => {
                (0..self.counters.slashes.len()).filter_map(|depth| Some(self.rarer_slash(depth)?.1)).sum()
            }
            SetRule::TemplateHost => self.hosts.templates(),
            SetRule::LastmodIdentical => self.verdicts.identical,
            SetRule::LastmodGenerated => self.verdicts.generated,
            SetRule::NewsMixed => self.verdicts.news_mixed,
            SetRule::NewsLimit => self.verdicts.news_limit,
            SetRule::HreflangNoReturn => self.alternates.no_return,
            SetRule::HreflangTargetMissing if self.is_part => 0,
            SetRule::HreflangTargetMissing => self.alternates.missing,
            SetRule::HreflangSetDiffers => self.alternates.differs,
            SetRule::LastmodSparse => {
                u64::from(self.counters.with_lastmod > 0 && self.counters.with_lastmod * 2 < self.counters.rows)
            }
            SetRule::PriorityIdentical => u64::from(self.only_priority().is_some()),
            SetRule::PriorityAllHigh => {
                let top = self.counters.priorities[usize::from(TOP_PRIORITY)];
                u64::from(self.counters.rows > 1 && top * 2 > self.counters.rows)
            }
            SetRule::ChangefreqIgnored => u64::from(self.counters.frequencies.iter().any(|rows| *rows > 0)),
            SetRule::PriorityIgnored => u64::from(self.counters.priorities.iter().any(|rows| *rows > 0)),
        }
    }

    /// The rules that have findings, by code.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for &rule in SetRule::ALL.iter().filter(|rule| self.count_of(**rule) > 0) {
            *counts.entry(rule.code()).or_default() += self.count_of(rule);
        }
        counts
    }

    /// The rules that a row violates. The cost does not depend on the size of the set.
    pub fn rules_of(&self, row: u32, locs: &impl Locs) -> SetRules {
        let mut rules = SetRules::NONE;
        if !self.duplicates.contains(row) {
            return rules;
        }
        if let Some((rows_of_page, rows_of_text)) = self.duplicates.page_of(row, locs) {
            let repeats = rows_of_text.first() != Some(row);
            rules.insert_if(SetRule::DuplicateEquivalent, !repeats && rows_of_page.first() != Some(row));
            let is_in_further_file = rows_of_text.is_first_in_further_file(row, locs.file(row));
            rules.insert_if(SetRule::DuplicateAcrossFiles, is_in_further_file);
            rules.insert_if(SetRule::Duplicate, repeats && !is_in_further_file);
        }
        self.add_minority_rules(row, locs, &mut rules);
        rules.union(self.link_rules(row))
    }

    /// The rows that violate a rule; none for a rule about files or the set. Visits all rows for the rules about
    /// minorities, so it belongs in a background job.
    pub fn rows_with(&self, rule: SetRule, locs: &impl Locs) -> RoaringBitmap {
        match rule {
            SetRule::Duplicate => self.duplicates.groups.exact_rows() - self.duplicates.groups.across_rows(),
            SetRule::DuplicateEquivalent => self.duplicates.groups.equivalent_rows(),
            SetRule::DuplicateAcrossFiles => self.duplicates.groups.across_rows(),
            SetRule::HreflangNoReturn | SetRule::HreflangTargetMissing | SetRule::HreflangSetDiffers => {
                self.alternates.rows().filter(|row| self.link_rules(*row).has(rule)).collect()
            }
            _ if rule.target() != SetRuleTarget::Row || self.count_of(rule) == 0 => RoaringBitmap::new(),
            _ => {
                let is_flagged = |row: &u32| {
                    let mut rules = SetRules::NONE;
                    self.add_minority_rules(*row, locs, &mut rules);
                    rules.has(rule)
                };
                self.duplicates.rows().into_iter().filter(is_flagged).collect()
            }
        }
    }

    /// The files that violate a rule about files.
    pub fn files_with(&self, rule: SetRule) -> Vec<u32> {
        let files = self.files.iter().enumerate();
        files.filter(|(_, file)| file.verdict.rules.has(rule)).map(|(number, _)| number as u32).collect()
    }

    /// The rows by page.
    pub fn duplicates(&self) -> &Duplicates {
        &self.duplicates
    }

    /// `scheme://host` that most rows share, as written, and the number of those rows.
    pub fn main_origin(&self) -> Option<(&str, u64)> {
        self.hosts.commonest()
    }

    /// Rows in the index.
    pub fn len(&self) -> u64 {
        self.counters.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counters.rows == 0
    }

    /// Rows that have a lastmod, readable or not.
    pub fn with_lastmod(&self) -> u64 {
        self.counters.with_lastmod
    }

    /// The rules that files and the set violate, files first, without messages.
    pub fn broken(&self) -> impl Iterator<Item = (Option<u32>, SetRule)> {
        (0..self.files.len() as u32).map(Some).chain([None]).flat_map(|file| self.broken_of(file))
    }

    /// The rules that one file violates, or the set if `file` is `None`.
    pub fn broken_of(&self, file: Option<u32>) -> impl Iterator<Item = (Option<u32>, SetRule)> {
        let own = file.and_then(|number| self.files.get(number as usize));
        let of_set =
            move |rule: &SetRule| file.is_none() && rule.target() == SetRuleTarget::Set && self.count_of(*rule) > 0;
        let of_set = SetRule::ALL.iter().copied().filter(of_set);
        own.into_iter().flat_map(|own| own.verdict.rules.iter()).chain(of_set).map(move |rule| (file, rule))
    }

    /// The message of a rule that a file, or the set, violates.
    pub fn message_of(&self, file: Option<u32>, rule: SetRule) -> String {
        let own = file.and_then(|number| self.files.get(number as usize));
        own.map_or_else(|| self.message(rule), |own| own.message(rule))
    }

    fn message(&self, rule: SetRule) -> String {
        let urls = format!("{} URLs", grouped(self.counters.rows));
        match rule {
            SetRule::LastmodSparse => format!("only {} of {urls} have a lastmod", grouped(self.counters.with_lastmod)),
            SetRule::PriorityIdentical => {
                let hundredths = self.only_priority().unwrap_or(0);
                format!("all {urls} have priority {}, so it carries no information", hundredths as f32 / 100.0)
            }
            SetRule::PriorityAllHigh => {
                format!("{} of {urls} have priority 1.0", grouped(self.counters.priorities[usize::from(TOP_PRIORITY)]))
            }
            SetRule::ChangefreqIgnored => {
                let rows: u64 = self.counters.frequencies.iter().sum();
                format!("changefreq has no effect here, and {} one", entries_with(rows))
            }
            SetRule::PriorityIgnored => {
                let rows: u64 = self.counters.priorities.iter().sum();
                format!("priority has no effect here, and {} one", entries_with(rows))
            }
            _ => rule.rule().summary().to_owned(),
        }
    }

    /// The rules that a row violates by its alternate links.
    pub fn link_rules(&self, row: u32) -> SetRules {
        let (no_return, missing, differs) = self.alternates.faults_of(row);
        let mut rules = SetRules::NONE;
        rules.insert_if(SetRule::HreflangNoReturn, no_return);
        rules.insert_if(SetRule::HreflangTargetMissing, missing && !self.is_part);
        rules.insert_if(SetRule::HreflangSetDiffers, differs);
        rules
    }

    /// Whether a link of a row violates a rule about alternate links.
    pub fn is_faulty(&self, rule: SetRule, row: u32, link: Link) -> bool {
        match rule {
            SetRule::HreflangNoReturn => self.alternates.is_unreturned(row, link.key),
            SetRule::HreflangTargetMissing => self.alternates.is_missing(link),
            SetRule::HreflangSetDiffers => self.alternates.differs_from(row, link.key),
            _ => false,
        }
    }

    /// The priority in hundredths, if all entries have the same.
    fn only_priority(&self) -> Option<usize> {
        only_value(&self.counters.priorities, self.counters.rows)
    }

    fn touch(&mut self, file: u32) -> &mut FileTally {
        let file_index = file as usize;
        if self.files.len() <= file_index {
            self.files.resize_with(file_index + 1, FileTally::default);
        }
        let tally = &mut self.files[file_index]; // resized above
        if !tally.is_dirty {
            tally.is_dirty = true;
            self.dirty.push(file);
        }
        tally
    }
}

impl FileCounters {
    fn replace(&mut self, before: &file::FileVerdict, after: &file::FileVerdict) {
        let swap = |sum: &mut u64, before: u64, after: u64| *sum = *sum + after - before;
        swap(&mut self.other_host, before.other_host.into(), after.other_host.into());
        swap(&mut self.other_port, before.other_port.into(), after.other_port.into());
        let flags = [
            (SetRule::LastmodIdentical, &mut self.identical),
            (SetRule::LastmodGenerated, &mut self.generated),
            (SetRule::NewsMixed, &mut self.news_mixed),
            (SetRule::NewsLimit, &mut self.news_limit),
        ];
        for (rule, sum) in flags {
            swap(sum, before.rules.has(rule).into(), after.rules.has(rule).into());
        }
    }
}

/// `1 URL has`, `2 URLs have`.
fn entries_with(rows: u64) -> String {
    if rows == 1 { "1 URL has".to_owned() } else { format!("{} URLs have", grouped(rows)) }
}

/// The index of the only value, if there are two or more rows and all have it.
fn only_value(counters: &[u64], rows: u64) -> Option<usize> {
    if rows < 2 { None } else { counters.iter().position(|&count| count == rows) }
}

#[cfg(test)]
mod tests;
