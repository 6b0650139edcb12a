//! Checks the entries of a file while it is scanned.

use crate::check::Context;
use crate::check::entry_reader::EntryReader;
use crate::check::rule::{Rule, RuleSet};
use crate::check::set::{LinkLists, ReadTally, RowShape};
use crate::document::rows::RowSet;
use crate::protocol::location::UrlPrefix;
use crate::protocol::namespace::Namespace;
use crate::session::checks::reader_memory::{ReaderMemory, RowVectors};
use crate::session::checks::{Criteria, RuleSets, indexed_row};
use crate::xml::entry::Entry;
use crate::xml::names::Names;
use crate::xml::record::Record;
use crate::xml::scan::{ParsedEntry, Visit};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Findings per rule, and the number of the rule set that was interned with them.
type CountedSet = (Box<[(Rule, u32)]>, u16);

/// Collects the record, the findings and the URL key of each entry while a file is scanned.
pub struct Reader {
    numbers: Arc<RwLock<RuleSets>>,
    known: HashMap<RuleSet, u16, FixedState>,
    last: (RuleSet, u16),
    /// Rule sets that were interned with numbers of findings.
    counted: HashMap<RuleSet, Vec<CountedSet>, FixedState>,
    now: i64,
    criteria: Criteria,
    url_prefix: Option<UrlPrefix>,
    /// Records, by entry.
    pub records: Vec<Record>,
    /// Number of the set of violated rules, by entry.
    pub findings: Vec<u16>,
    /// Indexes of the required URLs of the policy that were read.
    listed: RowSet,
    /// Hash of the normalised loc, by entry; empty if they are not kept.
    pub(in crate::session) keys: Vec<u64>,
    /// Whether keys are kept.
    keeps_keys: bool,
    /// See [`Reader::for_windows`].
    is_for_windows: bool,
    /// Hash of the near key, by entry; see [`Reader::with_near_keys`].
    pub near_keys: Option<Vec<u64>>,
    /// The shapes of the rows, with origins numbered as in `tally`; only with near keys.
    pub shapes: Vec<RowShape>,
    /// The counts of the entries for set rules.
    pub(super) tally: ReadTally,
    reading: EntryReader,
    /// Alternate links of the entries.
    pub(super) links: LinkLists,
    /// The keys of these entries; only with near keys.
    pub(super) linked_keys: Vec<u64>,
    /// Readers that were joined: further forks use their caches and their memory.
    joined: Vec<Self>,
    memory: ReaderMemory,
}

impl Reader {
    /// A reader for a file below this URL prefix.
    pub(super) fn new(
        numbers: Arc<RwLock<RuleSets>>,
        now: i64,
        criteria: Criteria,
        url_prefix: Option<UrlPrefix>,
    ) -> Self {
        Self {
            listed: RowSet::new(),
            numbers,
            known: HashMap::with_hasher(FixedState::default()),
            last: (RuleSet::EMPTY, 0),
            counted: HashMap::with_hasher(FixedState::default()),
            now,
            criteria,
            url_prefix,
            records: Vec::new(),
            findings: Vec::new(),
            keys: Vec::new(),
            keeps_keys: true,
            is_for_windows: false,
            near_keys: None,
            shapes: Vec::new(),
            tally: ReadTally::default(),
            reading: EntryReader::default(),
            links: LinkLists::default(),
            linked_keys: Vec::new(),
            joined: Vec::new(),
            memory: ReaderMemory::default(),
        }
    }

    /// This reader, which has not read anything, with memory of earlier readers.
    pub(in crate::session) fn with_memory(mut self, memory: ReaderMemory) -> Self {
        let RowVectors { records, findings, keys, links } = memory.take();
        (self.records, self.findings, self.keys, self.links) = (records, findings, keys, links);
        self.memory = memory;
        self
    }

    /// This reader, which also hashes the near key of each URL.
    pub(in crate::session) fn with_near_keys(mut self) -> Self {
        self.near_keys = Some(Vec::new());
        self.reading = EntryReader::with_near_keys();
        self
    }

    /// This reader, for a file with about this number of rows that is read in windows: it keeps keys only if the root
    /// declares the namespace of alternate links, and reuses the readers that join it, since each window may need a fork.
    ///
    /// Other readers reserve no memory for rows. After glibc has returned a large freed block to the system, it keeps freed
    /// blocks of up to that size, which would add to the memory of sets that stay open.
    pub(in crate::session) fn for_windows(mut self, rows: usize) -> Self {
        self.is_for_windows = true;
        self.near_keys = self.near_keys.take().map(|_| Vec::with_capacity(rows));
        self.shapes.reserve(rows);
        self.records.reserve(rows);
        self.findings.reserve(rows);
        self
    }

    /// Takes the hashes of the normalised locs, by entry, if they are kept.
    pub(in crate::session) fn take_keys(&mut self) -> Option<Vec<u64>> {
        self.keeps_keys.then(|| std::mem::take(&mut self.keys))
    }
}

impl Visit for Reader {
    fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
        self.parsed(&ParsedEntry::new(text, entry), names);
    }

    fn parsed(&mut self, parsed: &ParsedEntry<'_>, names: &Names) {
        let context = Context {
            now: self.now,
            profile: self.criteria.profile,
            names,
            url_prefix: self.url_prefix.as_ref(),
            policy: self.criteria.policy.as_deref(),
            site: self.criteria.site.as_deref(),
        };
        let Self { tally, listed, near_keys, shapes, reading, links, .. } = self;
        let read = reading.read(parsed, &context, links.links_mut(), |record, location| {
            let shape = tally.add(location, &indexed_row(record, 0));
            if near_keys.is_some() {
                shapes.push(shape);
            }
            listed.extend(context.policy.and_then(|policy| policy.required_index(location.text())));
        });
        let has_links = links.finish_entry(self.findings.len() as u32);
        self.records.push(read.record);
        if self.is_for_windows && self.findings.is_empty() {
            self.keeps_keys = names.prefix_of(Namespace::Xhtml).is_some();
        }
        if self.keeps_keys {
            self.keys.push(read.key);
        }
        if let Some(near_keys) = &mut self.near_keys {
            near_keys.push(read.near_key);
            self.linked_keys.extend(has_links.then_some(read.key));
        }
        let number = self.number(read.rules);
        self.findings.push(number);
    }

    fn fork(&mut self) -> Option<Self> {
        if let Some(joined) = self.joined.pop() {
            return Some(joined);
        }
        let numbers = Arc::clone(&self.numbers);
        let fork = Self::new(numbers, self.now, self.criteria.clone(), self.url_prefix.clone());
        let fork = fork.with_memory(self.memory.clone());
        let fork = if self.near_keys.is_some() { fork.with_near_keys() } else { fork };
        Some(if self.is_for_windows { fork.for_windows(0) } else { fork })
    }

    fn join(&mut self, mut later: Self) {
        self.tally.join(&std::mem::take(&mut later.tally), &mut later.shapes);
        self.shapes.append(&mut later.shapes);
        self.links.append(self.findings.len() as u32, &mut later.links);
        self.linked_keys.append(&mut later.linked_keys);
        self.records.append(&mut later.records);
        self.findings.append(&mut later.findings);
        self.keys.append(&mut later.keys);
        self.keeps_keys &= later.keeps_keys;
        if let (Some(near_keys), Some(later)) = (&mut self.near_keys, &mut later.near_keys) {
            near_keys.append(later);
        }
        self.listed |= std::mem::take(&mut later.listed);
        self.joined.append(&mut later.joined);
        if self.is_for_windows {
            self.joined.push(later);
        }
    }
}

impl Drop for Reader {
    /// Makes the memory of the rows available to later readers.
    fn drop(&mut self) {
        self.memory.recycle(RowVectors {
            records: std::mem::take(&mut self.records),
            findings: std::mem::take(&mut self.findings),
            keys: std::mem::take(&mut self.keys),
            links: std::mem::take(&mut self.links),
        });
    }
}

impl Reader {
    /// The number of the set of rules that the last entry violates.
    #[inline]
    fn number(&mut self, rules: RuleSet) -> u16 {
        let (numbers, places) = (&self.numbers, self.reading.finding_counts());
        let table = || numbers.write().unwrap_or_else(PoisonError::into_inner);
        if places.is_empty() {
            if rules.is_empty() {
                return RuleSets::CLEAN;
            }
            if rules != self.last.0 {
                self.last = (rules, *self.known.entry(rules).or_insert_with(|| table().intern(rules)));
            }
            return self.last.1;
        }
        let counted = self.counted.entry(rules).or_default();
        if let Some((_, number)) = counted.iter().find(|(known, _)| **known == *places) {
            return *number;
        }
        let number = table().intern_counted(rules, places);
        // Further ones share the number of the set without counts.
        if counted.len() < RuleSets::MAX_COUNTED {
            counted.push((places.into(), number));
        }
        number
    }

    /// Indexes of the required URLs of the policy that were read.
    pub const fn listed(&self) -> &RowSet {
        &self.listed
    }

    /// Whether any entry has alternate links.
    pub const fn has_links(&self) -> bool {
        !self.links.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::set::{FileRows, SetIndex};
    use crate::document::Document;
    use crate::document::source::Source;
    use crate::protocol::lastmod::Now;
    use crate::session::checks::Checks;
    use crate::session::checks::DocumentLocs;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn forked_readers_read_the_same_as_one_reader(
            rows in prop::collection::vec((0..6_usize, 0..6_usize), 0..20),
            (first, second) in (0..20_usize, 0..20_usize),
        ) {
            const LOCS: [&str; 6] = ["https://e.com/a", "http://e.com/b", "https://www.e.com/a/", "no url", "https://e.com:8443/c", ""];
            const VALUES: [&str; 6] = [
                "",
                "<lastmod>2026-05-01</lastmod>",
                "<lastmod>2026-13-01</lastmod><priority>7</priority>",
                "<lastmod>2026-05-01T10:00:00Z</lastmod><changefreq>daily</changefreq>",
                "<x:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/a\"/>",
                "<x:link rel=\"alternate\" hreflang=\"fr\" href=\"https://e.com/b\"/><priority>1.0</priority>",
            ];
            let entry = |(loc, value): &(usize, usize)| format!("<url><loc>{}</loc>{}</url>\n", LOCS[*loc], VALUES[*value]);
            let entries: String = rows.iter().map(entry).collect();
            let text = format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:x=\"http://www.w3.org/1999/xhtml\">\n{entries}</urlset>"
            );
            let source = Source::of_text(text.into_bytes()).unwrap();
            let checks = Checks::default();
            let now = Now { seconds: 1_795_176_000, offset: 0 };
            let read = |reader: &mut Reader, rows: std::ops::Range<usize>| {
                for row in rows {
                    let text = source.entry_text(row);
                    reader.entry(text, &Entry::of(text, &source.names), &source.names);
                }
            };
            let url_prefix = Some("https://e.com/sitemap.xml");
            let mut one = checks.reader(url_prefix, now);
            read(&mut one, 0..rows.len());
            let mut forked = checks.reader(url_prefix, now);
            let (first, second) = (first.min(rows.len()), (first + second).min(rows.len()));
            read(&mut forked, 0..first);
            let mut later = forked.fork().unwrap();
            read(&mut later, first..second);
            let mut last = later.fork().unwrap();
            read(&mut last, second..rows.len());
            later.join(last);
            forked.join(later);
            prop_assert_eq!(&one.records, &forked.records);
            prop_assert_eq!(&one.findings, &forked.findings);
            prop_assert_eq!(&one.keys, &forked.keys);
            prop_assert_eq!(one.links.rows(0).collect::<Vec<_>>(), forked.links.rows(0).collect::<Vec<_>>());
            // A reader for windows forks again after a join, and uses the joined reader again.
            let reader = || checks.reader(url_prefix, now).with_near_keys().for_windows(0);
            let (mut whole, mut windows) = (reader(), reader());
            read(&mut whole, 0..rows.len());
            read(&mut windows, 0..first);
            for part in [first..second, second..rows.len()] {
                let mut later = windows.fork().unwrap();
                read(&mut later, part);
                windows.join(later);
            }
            prop_assert_eq!(windows.joined.len(), 1);
            prop_assert_eq!((&whole.records, &whole.findings), (&windows.records, &windows.findings));
            prop_assert_eq!((&whole.near_keys, &whole.shapes), (&windows.near_keys, &windows.shapes));
            prop_assert_eq!((&whole.keys, &whole.linked_keys), (&windows.keys, &windows.linked_keys));
            prop_assert_eq!(whole.links.rows(0).collect::<Vec<_>>(), windows.links.rows(0).collect::<Vec<_>>());
            let counts = |reader: &Reader| {
                let mut set = SetIndex::default();
                set.insert_file_uncompared(FileRows { file: 0, first: 0, keys: &reader.keys }, &reader.tally, Vec::new());
                set.recompute(&DocumentLocs(&Document::default()));
                (set.counts(), set.len(), set.with_lastmod())
            };
            prop_assert_eq!(counts(&one), counts(&forked));
            prop_assert_eq!(counts(&whole), counts(&windows));
        }
    }
}
