//! `LinkLists`: the alternate links of the entries of a file. A list that consecutive entries repeat is stored once.

use super::Link;
use std::ops::Range;

/// The alternate links of the entries of a file. Entries are added in their order.
#[derive(Debug, Default)]
pub struct LinkLists {
    links: Vec<Link>,
    runs: Vec<Run>,
}

/// Consecutive entries that have the same links.
#[derive(Debug, Clone)]
struct Run {
    entries: Range<u32>,
    /// The end of their links, which start at the end of those of the run before.
    links_end: u32,
}

impl LinkLists {
    /// The links up to now, to which those of the next entry are appended before [`Self::finish_entry`].
    pub const fn links_mut(&mut self) -> &mut Vec<Link> {
        &mut self.links
    }

    /// Makes the appended links those of an entry. Returns whether there are any.
    #[inline]
    pub fn finish_entry(&mut self, entry: u32) -> bool {
        let from = self.runs.last().map_or(0, |last| last.links_end as usize);
        let end = self.links.len();
        if from == end {
            return false;
        }
        let before = self.runs.len().checked_sub(2).and_then(|before| self.runs.get(before));
        let before = before.map_or(0, |before| before.links_end as usize);
        match self.runs.last_mut() {
            Some(last) if last.entries.end == entry && self.links.get(from..) == self.links.get(before..from) => {
                self.links.truncate(from);
                last.entries.end += 1;
            }
            _ => self.runs.push(Run { entries: entry..entry + 1, links_end: end as u32 }),
        }
        true
    }

    /// Moves the lists of entries here that follow the first `entries` of the file.
    pub fn append(&mut self, entries: u32, later: &mut Self) {
        let shift = self.links.len() as u32;
        self.links.append(&mut later.links);
        let moved = |Run { entries: Range { start, end }, links_end }| Run {
            entries: entries + start..entries + end,
            links_end: links_end + shift,
        };
        self.runs.extend(later.runs.drain(..).map(moved));
    }

    /// Removes all lists, and keeps their memory.
    pub fn clear(&mut self) {
        self.links.clear();
        self.runs.clear();
    }

    /// The number of stored lists.
    pub(super) const fn lists(&self) -> usize {
        self.runs.len()
    }

    /// The number of stored links.
    pub const fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether no entry has links.
    pub const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The rows with links of a file whose first row is `first`, each with its links. Rows that share a list return the
    /// same slice.
    pub fn rows(&self, first: u32) -> impl Iterator<Item = (u32, &[Link])> {
        let starts = std::iter::once(0).chain(self.runs.iter().map(|run| run.links_end));
        self.runs.iter().zip(starts).flat_map(move |(run, start)| {
            let links = self.links.get(start as usize..run.links_end as usize).unwrap_or_default();
            run.entries.clone().map(move |entry| (first + entry, links))
        })
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
        assert_eq!((lists.links.len(), lists.runs.len()), (8, 1));
        let addresses: Vec<_> = lists.rows(0).map(|(_, list)| list.as_ptr()).collect();
        assert!(addresses.windows(2).all(|two| two[0] == two[1]));
    }
}
