//! Set rules about alternate links: missing return links, targets without an entry, versions with different link sets.
//!
//! Language versions of a page carry the same links, so each set of links is stored once, under a number, as hashes of
//! the normalised URLs (64 bits, so that collisions are negligible), and is checked once whatever the number of its
//! rows. After a change of a row, only its own set of links and those that list its URL are checked again. A set
//! without alternate links needs no memory.

mod counted;
mod linked_rows;
mod pages;

use crate::protocol::location::NO_KEY;
use counted::Counted;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet, HashTable};
use linked_rows::LinkedRows;
use pages::Pages;
use std::hash::BuildHasher;

/// One alternate link of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The hash of its normalised URL (`key_hash`).
    pub key: u64,
    /// A hash of its language.
    pub code: u32,
    /// A hash of its host in lower case (`host_hash`).
    pub host: u32,
}

/// A URL whose rows have more different sets of links than this is not checked: the sets contradict each other, which
/// is reported anyway.
const SETS_PER_PAGE: usize = 64;

/// A hash of a host, ignoring case.
pub(crate) fn host_hash(host: &str) -> u32 {
    // 32 bits are enough: there are few hosts, and they are compared only for a note.
    let lower = host.bytes().map(|byte| byte.to_ascii_lowercase());
    lower.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A URL that rows list as an alternate, or whose rows have links; usually both.
#[derive(Debug, Clone, Default)]
struct Page {
    /// Number of rows with this URL, with or without links. Maintained only while a set of links lists it.
    rows: u32,
    is_dirty: bool,
    /// The sets of links that list it.
    listed_by: Counted,
    /// The sets of links of its rows, with the number of rows.
    sets: Counted,
}

/// The faults that all rows with one set of links have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LinkSetFaults {
    /// Rows with a link that is not returned.
    no_return: u32,
    /// Rows with a target on a host of the index that has no row.
    missing: u32,
    /// Rows with a target that lists another set.
    differs: u32,
    /// Whether a target has no row, on any host.
    has_absent: bool,
}

/// A set of links shared by some rows.
#[derive(Debug, Clone, Default)]
struct LinkSet {
    mark: u64,
    /// The URLs, ascending, each once.
    keys: Box<[u64]>,
    hosts: Hosts,
    rows: u32,
    /// URLs of its rows that it does not list, with the number of rows; usually none.
    unlisted: Option<Box<HashMap<u64, u32, FixedState>>>,
    faults: LinkSetFaults,
    is_dirty: bool,
}

/// The hosts of the URLs of a set of links.
#[derive(Debug, Clone)]
enum Hosts {
    /// All are on this one, as in nearly every set.
    Same(u32),
    /// One for each URL.
    Each(Box<[u32]>),
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Each(Box::default())
    }
}

impl Hosts {
    fn of(links: &[Link]) -> Self {
        match links {
            [first, rest @ ..] if rest.iter().all(|link| link.host == first.host) => Self::Same(first.host),
            _ => Self::Each(links.iter().map(|link| link.host).collect()),
        }
    }

    /// The host of the URL at an index.
    fn get(&self, index: usize) -> Option<u32> {
        match self {
            Self::Same(host) => Some(*host),
            Self::Each(hosts) => hosts.get(index).copied(),
        }
    }
}

impl LinkSet {
    fn lists(&self, key: u64) -> bool {
        self.keys.binary_search(&key).is_ok()
    }
}

/// The index of alternate links.
#[derive(Debug, Clone, Default)]
pub(super) struct Alternates {
    rows: LinkedRows,
    /// By number; free numbers have no rows.
    sets: Vec<LinkSet>,
    free: Vec<u32>,
    /// The numbers of the sets, by their marks.
    by_mark: HashTable<u32>,
    pages: Pages,
    dirty_sets: Vec<u32>,
    dirty_pages: Vec<u64>,
    /// Hosts of the index at the last [`Self::recompute`], ascending.
    hosts: Vec<u32>,
    /// Rows with a link that is not returned.
    pub no_return: u64,
    /// Rows with a target on a host of the index that has no row.
    pub missing: u64,
    /// Rows with a target that lists another set.
    pub differs: u64,
}

impl Alternates {
    /// Whether no row has links.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row, with or without links. `rows_of` returns the number of rows with a URL, this row included.
    pub(super) fn insert(&mut self, row: u32, key: u64, links: &[Link], rows_of: impl Fn(u64) -> u32) {
        self.count_row(key);
        self.add_links(std::iter::once((row, key, links)), rows_of);
    }

    /// Counts a row with a URL, but not its links: the first half of [`Alternates::insert`].
    pub(super) fn count_row(&mut self, key: u64) {
        if key != NO_KEY
            && let Some(page) = self.pages.get_mut(key).filter(|page| !page.listed_by.is_empty())
        {
            page.rows += 1;
            if page.rows == 1 {
                mark_changed(page, key, &mut self.dirty_pages);
            }
        }
    }

    /// Adds the links of counted rows, each with the hash of its URL: the second half of [`Alternates::insert`].
    /// Consecutive rows that share a slice of links are looked up once.
    pub(super) fn add_links<'l>(
        &mut self,
        rows: impl IntoIterator<Item = (u32, u64, &'l [Link])>,
        rows_of: impl Fn(u64) -> u32,
    ) {
        let mut last: Option<(&[Link], u32)> = None;
        for (row, key, links) in rows {
            if key == NO_KEY {
                continue;
            }
            let set = match last {
                Some((known, set)) if std::ptr::eq(known, links) => Some(set),
                _ => self.intern(links, &rows_of),
            };
            if let Some(set) = set {
                last = Some((links, set));
                self.add_row(row, key, set);
            }
        }
    }

    fn add_row(&mut self, row: u32, key: u64, number: u32) {
        self.rows.insert(row, key, number);
        self.touch_set(number);
        if let Some(set) = self.sets.get_mut(number as usize) {
            set.rows += 1;
            if !set.lists(key) {
                *set.unlisted.get_or_insert_default().entry(key).or_default() += 1;
            }
        }
        if let Some(page) = self.pages.get_or_insert(key)
            && page.sets.add(number)
            && !page.listed_by.is_empty()
        {
            mark_changed(page, key, &mut self.dirty_pages);
        }
    }

    /// Counts the rows of all listed URLs again; `keys` are the URL hashes of all rows of the index.
    pub(super) fn recount(&mut self, keys: impl Iterator<Item = u64>) {
        self.pages.values_mut().for_each(|page| page.rows = 0);
        for key in keys {
            if let Some(page) = self.pages.get_mut(key) {
                page.rows += 1;
            }
        }
        (0..self.sets.len() as u32).for_each(|number| self.touch_set(number));
    }

    /// Hashes of the URLs that findings can name: those in sets of links with unreturned links or different sets.
    pub(super) fn keys_in_findings(&self) -> HashSet<u64, FixedState> {
        let has_faults = |set: &&LinkSet| set.faults.no_return > 0 || set.faults.differs > 0;
        self.sets.iter().filter(has_faults).flat_map(|set| set.keys.iter().copied()).collect()
    }

    /// Removes a row that was added with this URL.
    pub(super) fn remove(&mut self, row: u32, key: u64) {
        if key == NO_KEY {
            return;
        }
        if let Some(page) = self.pages.get_mut(key).filter(|page| !page.listed_by.is_empty()) {
            page.rows = page.rows.saturating_sub(1);
            if page.rows == 0 {
                mark_changed(page, key, &mut self.dirty_pages);
            }
        }
        if let Some((key, number)) = self.rows.remove(row) {
            self.remove_row(key, number);
        }
    }

    /// Replaces the links of a row that has some. `rows_of` returns the number of rows with a URL that no row lists
    /// yet.
    pub(super) fn relink(&mut self, row: u32, links: &[Link], rows_of: impl Fn(u64) -> u32) {
        let Some((key, number)) = self.rows.remove(row) else { return };
        // Add before removing, so that URLs listed before and after keep their counts.
        self.add_links(std::iter::once((row, key, links)), rows_of);
        self.remove_row(key, number);
    }

    /// The hash of the URL of a row that has links.
    pub(super) fn key_of(&self, row: u32) -> Option<u64> {
        self.rows.get(row).map(|(key, _)| key)
    }

    fn set_of(&self, row: u32) -> Option<&LinkSet> {
        self.rows.get(row).and_then(|(_, number)| self.sets.get(number as usize))
    }

    /// Whether a row lists a URL.
    pub(super) fn lists(&self, row: u32, key: u64) -> bool {
        self.set_of(row).is_some_and(|set| set.lists(key))
    }

    /// The number of rows whose URLs a row lists.
    pub(super) fn listed_rows(&self, row: u32) -> u64 {
        let targets = self.set_of(row).into_iter().flat_map(|set| &set.keys).filter_map(|key| self.pages.get(*key));
        targets.map(|page| u64::from(page.rows)).sum()
    }

    /// Whether some row lists this URL.
    pub(super) fn is_listed(&self, key: u64) -> bool {
        self.pages.get(key).is_some_and(|page| !page.listed_by.is_empty())
    }

    /// Removes a row with a URL from a set of links.
    fn remove_row(&mut self, key: u64, number: u32) {
        if let Some(page) = self.pages.get_mut(key)
            && page.sets.take(number)
        {
            if !page.listed_by.is_empty() {
                mark_changed(page, key, &mut self.dirty_pages);
            } else if page.sets.is_empty() {
                self.pages.remove(key);
            }
        }
        self.touch_set(number);
        if let Some(set) = self.sets.get_mut(number as usize) {
            set.rows -= 1;
            if let Some(unlisted) = &mut set.unlisted
                && let Some(rows) = unlisted.get_mut(&key)
            {
                *rows -= 1;
                if *rows == 0 {
                    unlisted.remove(&key);
                }
            }
            if set.rows == 0 {
                let set = std::mem::take(set);
                self.drop_set(number, &set);
            }
        }
    }

    /// Recomputes the faults of the link sets that a change affects. `hosts` are the hosts of the index.
    pub(super) fn recompute<'h>(&mut self, hosts: impl Iterator<Item = &'h str>) {
        if self.rows.is_empty() && self.dirty_sets.is_empty() && self.dirty_pages.is_empty() {
            return;
        }
        for key in std::mem::take(&mut self.dirty_pages) {
            let Some(page) = self.pages.get_mut(key) else { continue };
            page.is_dirty = false;
            for (number, _) in page.listed_by.iter() {
                touch_in(&mut self.sets, number, &mut self.dirty_sets);
            }
        }
        let mut hosts: Vec<u32> = hosts.map(host_hash).collect();
        hosts.sort_unstable();
        if hosts != self.hosts {
            self.hosts = hosts;
            for number in 0..self.sets.len() as u32 {
                if self.sets.get(number as usize).is_some_and(|set| set.faults.has_absent) {
                    touch_in(&mut self.sets, number, &mut self.dirty_sets);
                }
            }
        }
        for number in std::mem::take(&mut self.dirty_sets) {
            let Some(old) = self.sets.get(number as usize).map(|set| set.faults) else { continue };
            let new = self.validate(number);
            self.change_counts(old, new);
            if let Some(set) = self.sets.get_mut(number as usize) {
                set.faults = new;
                set.is_dirty = false;
            }
        }
    }

    /// Whether a row has an unreturned link, a target without a row, a target with another set of links; as of the last
    /// [`Self::recompute`].
    pub(super) fn faults_of(&self, row: u32) -> (bool, bool, bool) {
        let Some((key, number)) = self.rows.get(row) else { return (false, false, false) };
        let Some(set) = self.sets.get(number as usize) else { return (false, false, false) };
        let no_return = set.faults.no_return > 0 && self.unreturned_targets(key, number).next().is_some();
        (no_return, set.faults.missing > 0, set.faults.differs > 0)
    }

    /// Rows with links.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter()
    }

    /// Whether a row lists a URL whose rows do not list it.
    pub(super) fn is_unreturned(&self, row: u32, target: u64) -> bool {
        let Some((key, number)) = self.rows.get(row) else { return false };
        self.sets.get(number as usize).is_some_and(|set| set.lists(target)) && !self.returns(target, key)
    }

    /// Whether the URL of a link is on a host of the index and listed, but has no row.
    pub(super) fn is_missing(&self, link: Link) -> bool {
        self.hosts.binary_search(&link.host).is_ok()
            && self.pages.get(link.key).is_some_and(|page| !page.listed_by.is_empty() && page.rows == 0)
    }

    /// Whether the rows of a URL list another set of links than a row does.
    pub(super) fn differs_from(&self, row: u32, key: u64) -> bool {
        let Some((_, own)) = self.rows.get(row) else { return false };
        self.pages.get(key).is_some_and(|page| self.has_conflicting_set(own, key, &page.sets))
    }

    /// Whether the rows of a URL, which have these sets of links, list another set than this one.
    fn has_conflicting_set(&self, number: u32, key: u64, linked: &Counted) -> bool {
        if linked.contains_only(number) {
            return false;
        }
        linked.len() > SETS_PER_PAGE
            || linked.iter().any(|(other, _)| other != number && !self.differ_only_by_self(number, (other, key)))
    }

    /// Whether two sets of links differ only because pages do not list themselves, which another rule reports. `key` is
    /// the URL of the rows of the other set.
    fn differ_only_by_self(&self, number: u32, (other, key): (u32, u64)) -> bool {
        let (Some(own), Some(theirs)) = (self.sets.get(number as usize), self.sets.get(other as usize)) else {
            return false;
        };
        let unlisted = own.unlisted.as_deref().filter(|unlisted| unlisted.len() == 1);
        let missing = unlisted.and_then(|unlisted| unlisted.iter().next());
        let missing = missing.filter(|(_, rows)| **rows == own.rows).map(|(key, _)| *key);
        let their_missing = Some(key).filter(|key| !theirs.lists(*key));
        if missing.is_none() && their_missing.is_none() {
            return false;
        }
        let whole = |set: &LinkSet, more: Option<u64>| {
            let mut keys: Vec<u64> = set.keys.iter().copied().chain(more).collect();
            keys.sort_unstable();
            keys
        };
        own.keys.len().abs_diff(theirs.keys.len()) <= 1 && whole(own, missing) == whole(theirs, their_missing)
    }

    /// The number of a set of links, assigned now if it has none; `None` if no link has a URL.
    fn intern(&mut self, links: &[Link], rows_of: impl Fn(u64) -> u32) -> Option<u32> {
        let mut links: Vec<Link> = links.iter().copied().filter(|link| link.key != NO_KEY).collect();
        if links.is_empty() {
            return None;
        }
        links.sort_unstable();
        links.dedup();
        let mark = FixedState::with_seed(2).hash_one(&links);
        let has_mark = |number: &u32| mark_of(&self.sets, *number) == mark;
        if let Some(number) = self.by_mark.find(mark, has_mark) {
            return Some(*number);
        }
        links.dedup_by_key(|link| link.key);
        let number = self.free.pop().unwrap_or(self.sets.len() as u32);
        for link in &links {
            let Some(page) = self.pages.get_or_insert(link.key) else { continue };
            if page.listed_by.is_empty() {
                page.rows = rows_of(link.key);
            }
            page.listed_by.add(number);
        }
        let keys = links.iter().map(|link| link.key).collect();
        let set = LinkSet { mark, keys, hosts: Hosts::of(&links), ..LinkSet::default() };
        match self.sets.get_mut(number as usize) {
            Some(slot) => *slot = LinkSet { is_dirty: slot.is_dirty, ..set },
            None => self.sets.push(set),
        }
        let Self { by_mark, sets, .. } = self;
        by_mark.insert_unique(mark, number, |number| mark_of(sets, *number));
        Some(number)
    }

    /// Drops a set of links without rows.
    fn drop_set(&mut self, number: u32, set: &LinkSet) {
        self.change_counts(set.faults, LinkSetFaults::default());
        if let Ok(entry) = self.by_mark.find_entry(set.mark, |known| *known == number) {
            entry.remove();
        }
        for key in &set.keys {
            if let Some(page) = self.pages.get_mut(*key)
                && page.listed_by.take(number)
                && page.listed_by.is_empty()
                && page.sets.is_empty()
            {
                self.pages.remove(*key);
            }
        }
        if let Some(slot) = self.sets.get_mut(number as usize) {
            slot.is_dirty = true; // it may still be in `dirty_sets`
        }
        self.free.push(number);
    }

    fn change_counts(&mut self, old: LinkSetFaults, new: LinkSetFaults) {
        let swap = |sum: &mut u64, old: u32, new: u32| *sum = *sum + u64::from(new) - u64::from(old);
        swap(&mut self.no_return, old.no_return, new.no_return);
        swap(&mut self.missing, old.missing, new.missing);
        swap(&mut self.differs, old.differs, new.differs);
    }

    fn touch_set(&mut self, number: u32) {
        touch_in(&mut self.sets, number, &mut self.dirty_sets);
    }

    /// The faults of all rows with a set of links. The cost does not depend on the number of rows.
    fn validate(&self, number: u32) -> LinkSetFaults {
        let Some(set) = self.sets.get(number as usize).filter(|set| set.rows > 0) else {
            return LinkSetFaults::default();
        };
        let mut faults = LinkSetFaults::default();
        let mut has_others = false;
        for (index, key) in set.keys.iter().enumerate() {
            let Some(page) = self.pages.get(*key).filter(|page| page.rows > 0) else {
                faults.has_absent = true;
                if set.hosts.get(index).is_some_and(|host| self.hosts.binary_search(&host).is_ok()) {
                    faults.missing = set.rows;
                }
                continue;
            };
            if self.has_conflicting_set(number, *key, &page.sets) {
                faults.differs = set.rows;
            }
            has_others |= page.sets.count_of(number) == 0;
        }
        // Rows with the same links return links to a row that lists itself; only other sets may fail to.
        let own = set.keys.iter().filter(|_| has_others).filter_map(|key| {
            let rows = self.pages.get(*key).map_or(0, |page| page.sets.count_of(number));
            (rows > 0).then_some((*key, rows))
        });
        let unlisted = set.unlisted.iter().flat_map(|unlisted| unlisted.iter()).map(|(key, rows)| (*key, *rows));
        let unreturned = own.chain(unlisted).filter(|(key, _)| self.unreturned_targets(*key, number).next().is_some());
        faults.no_return = unreturned.map(|(_, rows)| rows).sum();
        faults
    }

    /// The targets of a set of links that have rows, none of which lists `key`.
    fn unreturned_targets(&self, key: u64, number: u32) -> impl Iterator<Item = u64> + '_ {
        let keys = self.sets.get(number as usize).map(|set| &*set.keys).unwrap_or_default();
        keys.iter().copied().filter(move |target| !self.returns(*target, key))
    }

    /// Whether a target links back to `key`. Also true if it is the same page, has no row, or has so many sets of links
    /// that it is not checked.
    fn returns(&self, target: u64, key: u64) -> bool {
        let lists = |(other, _): (u32, u32)| self.sets.get(other as usize).is_some_and(|set| set.lists(key));
        let is_sound = |page: &Page| page.rows == 0 || page.sets.len() > SETS_PER_PAGE || page.sets.iter().any(lists);
        target == key || self.pages.get(target).is_none_or(is_sound)
    }
}

/// The mark of a set of links, which is also its hash.
fn mark_of(sets: &[LinkSet], number: u32) -> u64 {
    sets.get(number as usize).map_or(0, |set| set.mark)
}

fn mark_changed(page: &mut Page, key: u64, dirty: &mut Vec<u64>) {
    if !page.is_dirty {
        page.is_dirty = true;
        dirty.push(key);
    }
}

fn touch_in(sets: &mut [LinkSet], number: u32, dirty: &mut Vec<u32>) {
    if let Some(set) = sets.get_mut(number as usize)
        && !set.is_dirty
    {
        set.is_dirty = true;
        dirty.push(number);
    }
}
