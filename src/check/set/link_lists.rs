//! `LinkLists`: the alternate links of the entries of a file. A list that consecutive entries repeat is stored once.

use super::Link;
use std::ops::Range;

/// The alternate links of the entries of a file. Entries are added in their order.
#[derive(Debug, Default)]
pub struct LinkLists {
    links: Vec<Link>,
    /// The number of links up to the last entry.
    finished: usize,
    /// The entries that have links, ascending, each with its range of `links`.
    entries: Vec<(u32, Range<u32>)>,
}

impl LinkLists {
    /// The links up to now, to which those of the next entry are appended before [`Self::finish_entry`].
    pub const fn links_mut(&mut self) -> &mut Vec<Link> {
        &mut self.links
    }

    /// Makes the appended links those of an entry. Returns whether there are any.
    #[inline]
    pub fn finish_entry(&mut self, entry: u32) -> bool {
        let (from, end) = (self.finished, self.links.len());
        if from == end {
            return false;
        }
        let range = match self.entries.last() {
            Some((_, last)) if self.links.get(from..) == Some(self.of(last)) => {
                let last = last.clone();
                self.links.truncate(from);
                last
            }
            _ => from as u32..end as u32,
        };
        self.finished = self.links.len();
        self.entries.push((entry, range));
        true
    }

    /// Moves the lists of entries here that follow the first `entries` of the file.
    pub fn append(&mut self, entries: u32, later: &mut Self) {
        let shift = self.links.len() as u32;
        self.links.append(&mut later.links);
        (self.finished, later.finished) = (self.links.len(), 0);
        let moved = |(entry, range): (u32, Range<u32>)| (entries + entry, range.start + shift..range.end + shift);
        self.entries.extend(later.entries.drain(..).map(moved));
    }

    /// Whether no entry has links.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The rows with links of a file whose first row is `first`, each with its links. Rows that share a list return the
    /// same slice.
    pub fn rows(&self, first: u32) -> impl Iterator<Item = (u32, &[Link])> {
        self.entries.iter().map(move |(entry, range)| (first + entry, self.of(range)))
    }

    fn of(&self, range: &Range<u32>) -> &[Link] {
        self.links.get(range.start as usize..range.end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn link(key: u64) -> Link {
        Link { key, code: 0, host: 0 }
    }

    proptest! {
        #[test]
        fn lists_are_those_that_were_added(
            lists in prop::collection::vec(prop::collection::vec((0..3_u64).prop_map(link), 0..3), 0..12),
            cut in 0..12_usize,
        ) {
            let add = |lists: &[Vec<Link>]| {
                let mut all = LinkLists::default();
                for (entry, list) in (0..).zip(lists) {
                    all.links_mut().extend(list);
                    assert_eq!(all.finish_entry(entry), !list.is_empty());
                }
                all
            };
            let (first, second) = lists.split_at(cut.min(lists.len()));
            let mut joined = add(first);
            let mut later = add(second);
            joined.append(first.len() as u32, &mut later);
            prop_assert!(later.is_empty());
            let linked = |(row, list): (u32, &Vec<Link>)| (!list.is_empty()).then(|| (row, list.clone()));
            let expected: Vec<(u32, Vec<Link>)> = (7..).zip(&lists).filter_map(linked).collect();
            for all in [add(&lists), joined] {
                let rows = all.rows(7).map(|(row, list)| (row, list.to_vec()));
                prop_assert_eq!(rows.collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!(all.is_empty(), expected.is_empty());
            }
        }
    }

    #[test]
    fn a_repeated_list_is_stored_once() {
        let mut lists = LinkLists::default();
        for entry in 0..8 {
            lists.links_mut().extend((0..8).map(link));
            lists.finish_entry(entry);
        }
        assert_eq!((lists.links.len(), lists.entries.len()), (8, 8));
        let addresses: Vec<_> = lists.rows(0).map(|(_, list)| list.as_ptr()).collect();
        assert!(addresses.windows(2).all(|two| two[0] == two[1]));
    }
}
