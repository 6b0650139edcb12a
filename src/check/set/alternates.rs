//! Set rules about alternate links: missing return links, targets without an entry, versions with different link sets.
//!
//! URLs are known by hashes of the normalised URLs (64 bits, so that collisions are negligible), and those that have or
//! are alternates by numbers of pages. Language versions of a page carry the same links, so each set of links is stored
//! once, under a number, as numbers of pages, and is checked once whatever the number of its rows. After a change of a
//! row, only its own set of links and those that list its URL are checked again. A set without alternate links needs no
//! memory.

mod chunks;
mod counted;
mod link_set;
mod linked_rows;
mod page;
mod pages;

use crate::protocol::location::NO_KEY;
use chunks::Chunks;
use foldhash::fast::FixedState;
use hashbrown::{HashSet, HashTable};
use link_set::{Hosts, LinkSet, LinkSetFaults, ListedPage, PageNumbers};
use linked_rows::LinkedRows;
use page::PageRef;
use pages::Pages;
use roaring::RoaringBitmap;
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

/// The index of alternate links.
#[derive(Debug, Clone, Default)]
pub(super) struct Alternates {
    rows: LinkedRows,
    /// By number; free numbers have no rows.
    sets: Chunks<LinkSet>,
    free: Vec<u32>,
    /// The numbers of the sets, by their marks.
    by_mark: HashTable<u32>,
    pages: Pages,
    /// Whether rows of pages are counted by [`Self::recount`] after all rows are added: until then, changes are not noted.
    is_uncounted: bool,
    /// The sets and pages that changed since the last [`Self::recompute`].
    dirty_sets: RoaringBitmap,
    dirty_pages: RoaringBitmap,
    /// Memory for the links of a set and for its pages with their hosts, reused for the next one.
    links: Vec<Link>,
    listed: Vec<ListedPage>,
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
            && let Some(page_number) = self.pages.number(key)
            && let Some(mut page) = self.pages.get_mut(page_number).filter(|page| page.shared().is_listed())
        {
            let rows = page.shared().rows() + 1;
            page.set_rows(rows);
            if rows == 1 {
                self.dirty_pages.insert(page_number);
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

    /// Reserves memory for the numbers of up to so many more sets of links and pages.
    pub(super) fn reserve(&mut self, sets: usize, pages: usize) {
        let Self { by_mark, sets: known, .. } = self;
        by_mark.reserve(sets, |number| mark_of(known, *number));
        self.pages.reserve(pages);
    }

    /// Adds the links of rows whose pages and targets are counted later, by [`Alternates::recount`].
    pub(super) fn add_links_uncounted<'l>(&mut self, rows: impl IntoIterator<Item = (u32, u64, &'l [Link])>) {
        self.is_uncounted = true;
        self.add_links(rows, |_| 0);
    }

    fn add_row(&mut self, row: u32, key: u64, set_number: u32) {
        let page_number = self.pages.number_or_insert(key);
        self.rows.insert(row, page_number, set_number);
        if !self.is_uncounted {
            self.dirty_sets.insert(set_number);
        }
        if let Some(set) = self.sets.get_mut(set_number) {
            set.rows += 1;
            if !set.lists(page_number) {
                *set.unlisted.get_or_insert_default().entry(page_number).or_default() += 1;
            }
        }
        if let Some(mut page) = self.pages.get_mut(page_number)
            && page.add_linked(set_number)
            && page.shared().is_listed()
            && !self.is_uncounted
        {
            self.dirty_pages.insert(page_number);
        }
    }

    /// Counts the rows of all pages again; `unlinked` are the URL hashes of the rows of the index without links.
    pub(super) fn recount(&mut self, unlinked: &[u64]) {
        self.is_uncounted = false;
        let Self { rows, pages, .. } = self;
        pages.clear_rows();
        rows.iter().for_each(|(_, page_number)| pages.add_row(page_number));
        for key in unlinked {
            if let Some(page_number) = pages.number(*key) {
                pages.add_row(page_number);
            }
        }
        self.dirty_sets.insert_range(0..self.sets.len());
    }

    /// The rows that findings can name: their pages are in sets of links with unreturned links or different sets.
    /// `unlinked` are the URL hashes of the rows of the index without links, in their order.
    pub(super) fn rows_in_findings(&self, unlinked: &[u64]) -> RoaringBitmap {
        let has_faults = |set: &&LinkSet| set.faults.no_return > 0 || set.faults.differs > 0;
        let named: HashSet<u32, FixedState> =
            self.sets.iter().filter(has_faults).flat_map(|set| set.pages.iter()).collect();
        let linked = self.rows.iter().filter(|(_, page_number)| named.contains(page_number)).map(|(row, _)| row);
        let is_named = |key: &u64| self.pages.number(*key).is_some_and(|page_number| named.contains(&page_number));
        let others = self.rows.unlinked().zip(unlinked).filter(|(_, key)| is_named(key)).map(|(row, _)| row);
        linked.chain(others).collect()
    }

    /// Removes a row that was added with this URL.
    pub(super) fn remove(&mut self, row: u32, key: u64) {
        if key == NO_KEY {
            return;
        }
        if let Some(page_number) = self.pages.number(key)
            && let Some(mut page) = self.pages.get_mut(page_number).filter(|page| page.shared().is_listed())
        {
            let rows = page.shared().rows().saturating_sub(1);
            page.set_rows(rows);
            if rows == 0 {
                self.dirty_pages.insert(page_number);
            }
        }
        if let Some((page_number, set_number)) = self.rows.remove(row) {
            self.remove_row(page_number, set_number);
        }
    }

    /// Replaces the links of a row that has some. `rows_of` returns the number of rows with a URL that no row lists
    /// yet.
    pub(super) fn relink(&mut self, row: u32, links: &[Link], rows_of: impl Fn(u64) -> u32) {
        let Some((page_number, set_number)) = self.rows.remove(row) else { return };
        let Some(key) = self.pages.key(page_number) else { return };
        // Add before removing, so that pages listed before and after keep their counts.
        self.add_links(std::iter::once((row, key, links)), rows_of);
        self.remove_row(page_number, set_number);
    }

    /// The hash of the URL of a row that has links.
    pub(super) fn key_of(&self, row: u32) -> Option<u64> {
        self.rows.get(row).and_then(|(number, _)| self.pages.key(number))
    }

    fn set_of(&self, row: u32) -> Option<&LinkSet> {
        self.rows.get(row).and_then(|(_, number)| self.sets.get(number))
    }

    /// Whether a row lists a URL.
    pub(super) fn lists(&self, row: u32, key: u64) -> bool {
        self.pages.number(key).is_some_and(|number| self.set_of(row).is_some_and(|set| set.lists(number)))
    }

    /// The number of rows whose URLs a row lists.
    pub(super) fn listed_rows(&self, row: u32) -> u64 {
        let targets =
            self.set_of(row).into_iter().flat_map(|set| set.pages.iter()).filter_map(|page| self.pages.get(page));
        targets.map(|page| u64::from(page.rows())).sum()
    }

    /// Whether some row lists this URL.
    pub(super) fn is_listed(&self, key: u64) -> bool {
        self.pages.find(key).is_some_and(PageRef::is_listed)
    }

    /// Removes a row with the page of this number from a set of links.
    fn remove_row(&mut self, page_number: u32, set_number: u32) {
        if let Some(mut page) = self.pages.get_mut(page_number)
            && page.remove_linked(set_number)
        {
            if page.shared().is_listed() {
                self.dirty_pages.insert(page_number);
            } else if page.shared().linked_len() == 0 {
                self.pages.remove(page_number);
            }
        }
        self.dirty_sets.insert(set_number);
        if let Some(set) = self.sets.get_mut(set_number) {
            set.rows -= 1;
            if let Some(unlisted) = &mut set.unlisted
                && let Some(rows) = unlisted.get_mut(&page_number)
            {
                *rows -= 1;
                if *rows == 0 {
                    unlisted.remove(&page_number);
                }
            }
            if set.rows == 0 {
                let set = std::mem::take(set);
                self.drop_set(set_number, &set);
            }
        }
    }

    /// Recomputes the faults of the link sets that a change affects. `hosts` are the hosts of the index.
    pub(super) fn recompute<'h>(&mut self, hosts: impl Iterator<Item = &'h str>) {
        if self.is_uncounted || self.rows.is_empty() && self.dirty_sets.is_empty() && self.dirty_pages.is_empty() {
            return;
        }
        for number in std::mem::take(&mut self.dirty_pages) {
            self.dirty_sets.extend(self.pages.get(number).into_iter().flat_map(PageRef::listed_by));
        }
        let mut hosts: Vec<u32> = hosts.map(host_hash).collect();
        hosts.sort_unstable();
        if hosts != self.hosts {
            self.hosts = hosts;
            for number in 0..self.sets.len() {
                if self.sets.get(number).is_some_and(|set| set.faults.has_absent) {
                    self.dirty_sets.insert(number);
                }
            }
        }
        for number in std::mem::take(&mut self.dirty_sets) {
            let Some(old) = self.sets.get(number).map(|set| set.faults) else { continue };
            let new = self.validate(number);
            self.change_counts(old, new);
            if let Some(set) = self.sets.get_mut(number) {
                set.faults = new;
            }
        }
    }

    /// Whether a row has an unreturned link, a target without a row, a target with another set of links; as of the last
    /// [`Self::recompute`].
    pub(super) fn faults_of(&self, row: u32) -> (bool, bool, bool) {
        // Most sets of rows have no such link.
        let has_any = self.no_return > 0 || self.missing > 0 || self.differs > 0;
        let Some((page, number)) = self.rows.get(row).filter(|_| has_any) else { return (false, false, false) };
        let Some(set) = self.sets.get(number) else { return (false, false, false) };
        let no_return = set.faults.no_return > 0 && self.has_unreturned(page, set);
        (no_return, set.faults.missing > 0, set.faults.differs > 0)
    }

    /// Rows with links.
    pub(super) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().map(|(row, _)| row)
    }

    /// Whether a row lists a URL whose rows do not list it.
    pub(super) fn is_unreturned(&self, row: u32, target: u64) -> bool {
        let Some((own, _)) = self.rows.get(row) else { return false };
        let Some(target) = self.pages.number(target) else { return false };
        self.set_of(row).is_some_and(|set| set.lists(target)) && !self.returns(target, own)
    }

    /// Whether the URL of a link is on a host of the index and listed, but has no row.
    pub(super) fn is_missing(&self, link: Link) -> bool {
        self.hosts.binary_search(&link.host).is_ok()
            && self.pages.find(link.key).is_some_and(|page| page.is_listed() && page.rows() == 0)
    }

    /// Whether the rows of a URL list another set of links than a row does.
    pub(super) fn differs_from(&self, row: u32, key: u64) -> bool {
        let Some((_, own)) = self.rows.get(row) else { return false };
        let Some(number) = self.pages.number(key) else { return false };
        self.pages.get(number).is_some_and(|page| self.has_conflicting_set(own, (number, page)))
    }

    /// Whether the rows of a page list another set of links than this one.
    fn has_conflicting_set(&self, number: u32, (page_number, page): (u32, PageRef<'_>)) -> bool {
        page.linked_len() > SETS_PER_PAGE
            || page
                .linked()
                .any(|(other, _)| other != number && !self.differ_only_by_self(number, (other, page_number)))
    }

    /// Whether two sets of links differ only because pages do not list themselves, which another rule reports. `page` is
    /// that of the rows of the other set.
    fn differ_only_by_self(&self, number: u32, (other, page): (u32, u32)) -> bool {
        let (Some(own), Some(theirs)) = (self.sets.get(number), self.sets.get(other)) else {
            return false;
        };
        let unlisted = own.unlisted.as_deref().filter(|unlisted| unlisted.len() == 1);
        let missing = unlisted.and_then(|unlisted| unlisted.iter().next());
        let missing = missing.filter(|(_, rows)| **rows == own.rows).map(|(page, _)| *page);
        let their_missing = Some(page).filter(|page| !theirs.lists(*page));
        if missing.is_none() && their_missing.is_none() {
            return false;
        }
        let whole = |set: &LinkSet, more: Option<u32>| {
            let mut pages: Vec<u32> = set.pages.iter().chain(more).collect();
            pages.sort_unstable();
            pages
        };
        own.pages.len().abs_diff(theirs.pages.len()) <= 1 && whole(own, missing) == whole(theirs, their_missing)
    }

    /// The number of a set of links, assigned now if it has none; `None` if no link has a URL.
    fn intern(&mut self, links: &[Link], rows_of: impl Fn(u64) -> u32) -> Option<u32> {
        let (mut sorted, mut listed) = (std::mem::take(&mut self.links), std::mem::take(&mut self.listed));
        let number = self.intern_sorted(links, (&mut sorted, &mut listed), rows_of);
        (self.links, self.listed) = (sorted, listed);
        number
    }

    /// [`Self::intern`] with memory for the links in order and for their pages with hosts.
    fn intern_sorted(
        &mut self,
        unsorted: &[Link],
        (links, listed): (&mut Vec<Link>, &mut Vec<ListedPage>),
        rows_of: impl Fn(u64) -> u32,
    ) -> Option<u32> {
        links.clear();
        links.extend(unsorted.iter().filter(|link| link.key != NO_KEY));
        if links.is_empty() {
            return None;
        }
        links.sort_unstable();
        links.dedup();
        let mark = FixedState::with_seed(2).hash_one(&*links);
        let has_mark = |number: &u32| mark_of(&self.sets, *number) == mark;
        if let Some(number) = self.by_mark.find(mark, has_mark) {
            return Some(*number);
        }
        links.dedup_by_key(|link| link.key);
        let number = self.free.pop().unwrap_or(self.sets.len());
        listed.clear();
        for link in links.iter() {
            let page_number = self.pages.number_or_insert(link.key);
            let Some(mut page) = self.pages.get_mut(page_number) else { continue };
            let was_listed = page.shared().is_listed();
            page.add_listing(number);
            if !was_listed {
                page.set_rows(rows_of(link.key));
            }
            listed.push(ListedPage::new(page_number, link.host));
        }
        listed.sort_unstable();
        let (pages, hosts) = (PageNumbers::of(listed), Hosts::of(listed));
        let set = LinkSet { mark, pages, hosts, ..LinkSet::default() };
        match self.sets.get_mut(number) {
            Some(slot) => *slot = set,
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
        for page_number in set.pages.iter() {
            let Some(mut page) = self.pages.get_mut(page_number) else { continue };
            page.remove_listing(number);
            if !page.shared().is_listed() && page.shared().linked_len() == 0 {
                self.pages.remove(page_number);
            }
        }
        self.free.push(number);
    }

    fn change_counts(&mut self, old: LinkSetFaults, new: LinkSetFaults) {
        let swap = |sum: &mut u64, old: u32, new: u32| *sum = *sum + u64::from(new) - u64::from(old);
        swap(&mut self.no_return, old.no_return, new.no_return);
        swap(&mut self.missing, old.missing, new.missing);
        swap(&mut self.differs, old.differs, new.differs);
    }

    /// The faults of all rows with a set of links. The cost does not depend on the number of rows.
    fn validate(&self, number: u32) -> LinkSetFaults {
        let Some(set) = self.sets.get(number).filter(|set| set.rows > 0) else {
            return LinkSetFaults::default();
        };
        let mut faults = LinkSetFaults::default();
        let mut has_others = false;
        for (index, page_number) in set.pages.iter().enumerate() {
            let Some(page) = self.pages.get(page_number).filter(|page| page.rows() > 0) else {
                faults.has_absent = true;
                if set.hosts.get(index).is_some_and(|host| self.hosts.binary_search(&host).is_ok()) {
                    faults.missing = set.rows;
                }
                continue;
            };
            if self.has_conflicting_set(number, (page_number, page)) {
                faults.differs = set.rows;
            }
            has_others |= page.linked_rows(number) == 0;
        }
        // Rows with the same links return links to a row that lists itself; only other sets may fail to.
        let own = set.pages.iter().filter(|_| has_others).filter_map(|page_number| {
            let rows = self.pages.get(page_number).map_or(0, |page| page.linked_rows(number));
            (rows > 0).then_some((page_number, rows))
        });
        let unlisted = set.unlisted.iter().flat_map(|unlisted| unlisted.iter()).map(|(page, rows)| (*page, *rows));
        let unreturned = own.chain(unlisted).filter(|(page, _)| self.has_unreturned(*page, set));
        faults.no_return = unreturned.map(|(_, rows)| rows).sum();
        faults
    }

    /// Whether a set of links lists a page with rows, none of which lists `own`.
    fn has_unreturned(&self, own: u32, set: &LinkSet) -> bool {
        set.pages.iter().any(|target| !self.returns(target, own))
    }

    /// Whether a target links back to a page. Also true if it is the same page, has no row, or has so many sets of links
    /// that it is not checked.
    fn returns(&self, target: u32, own: u32) -> bool {
        let lists = |(other, _): (u32, u32)| self.sets.get(other).is_some_and(|set| set.lists(own));
        let is_sound =
            |page: PageRef<'_>| page.rows() == 0 || page.linked_len() > SETS_PER_PAGE || page.linked().any(lists);
        target == own || self.pages.get(target).is_none_or(is_sound)
    }
}

/// The mark of a set of links, which is also its hash.
fn mark_of(sets: &Chunks<LinkSet>, number: u32) -> u64 {
    sets.get(number).map_or(0, |set| set.mark)
}
