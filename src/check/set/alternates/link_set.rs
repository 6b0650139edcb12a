//! `LinkSet`: a set of alternate links that some rows share, with what is wrong with all of them.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::ops::Range;

/// The faults that all rows with one set of links have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LinkSetFaults {
    /// Rows with a link that is not returned.
    pub(super) no_return: u32,
    /// Rows with a target on a host of the index that has no row.
    pub(super) missing: u32,
    /// Rows with a target that lists another set.
    pub(super) differs: u32,
    /// Whether a target has no row, on any host.
    pub(super) has_absent: bool,
}

/// A set of links shared by some rows.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkSet {
    /// A hash of the links, by which the set is found.
    pub(super) mark: u64,
    /// The listed pages.
    pub(super) pages: PageNumbers,
    pub(super) hosts: Hosts,
    /// Number of rows with these links.
    pub(super) rows: u32,
    /// Pages of its rows that it does not list, with the number of rows; usually none.
    pub(super) unlisted: Option<Box<HashMap<u32, u32, FixedState>>>,
    pub(super) faults: LinkSetFaults,
}

/// Numbers of pages, ascending, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageNumbers {
    /// Consecutive numbers, as those of pages that no earlier set lists.
    Run(Range<u32>),
    List(Box<[u32]>),
}

impl Default for PageNumbers {
    fn default() -> Self {
        Self::Run(0..0)
    }
}

impl PageNumbers {
    /// The numbers of listed pages, which are ascending.
    pub(super) fn of(listed: &[ListedPage]) -> Self {
        let numbers = || listed.iter().map(|page| page.number());
        match (numbers().next(), numbers().next_back()) {
            (Some(first), Some(last)) if (last - first) as usize + 1 == listed.len() => Self::Run(first..last + 1),
            _ => Self::List(numbers().collect()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Run(run) => run.len(),
            Self::List(list) => list.len(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (run, list) = match self {
            Self::Run(run) => (run.clone(), Default::default()),
            Self::List(list) => (0..0, &**list),
        };
        run.chain(list.iter().copied())
    }

    fn contains(&self, number: u32) -> bool {
        match self {
            Self::Run(run) => run.contains(&number),
            Self::List(list) => list.binary_search(&number).is_ok(),
        }
    }
}

/// The number of a listed page in the upper half, and its host in the lower one: pages are sorted in the width in which
/// they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListedPage(u64);

impl ListedPage {
    pub(super) fn new(page: u32, host: u32) -> Self {
        Self(u64::from(page) << u32::BITS | u64::from(host))
    }

    /// The number of the page.
    pub(super) const fn number(self) -> u32 {
        (self.0 >> u32::BITS) as u32
    }

    const fn host(self) -> u32 {
        self.0 as u32
    }
}

/// The hosts of the pages that a set of links lists.
#[derive(Debug, Clone)]
pub(super) enum Hosts {
    /// All are on this one, as in nearly every set.
    Same(u32),
    /// One for each page.
    Each(Box<[u32]>),
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Each(Box::default())
    }
}

impl Hosts {
    /// The hosts of listed pages.
    pub(super) fn of(listed: &[ListedPage]) -> Self {
        match listed {
            [first, rest @ ..] if rest.iter().all(|page| page.host() == first.host()) => Self::Same(first.host()),
            _ => Self::Each(listed.iter().map(|page| page.host()).collect()),
        }
    }

    /// The host of the page at an index.
    pub(super) fn get(&self, index: usize) -> Option<u32> {
        match self {
            Self::Same(host) => Some(*host),
            Self::Each(hosts) => hosts.get(index).copied(),
        }
    }
}

impl LinkSet {
    /// Whether a link leads to the page of this number.
    pub(super) fn lists(&self, page: u32) -> bool {
        self.pages.contains(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn page_numbers_behave_like_a_set(numbers in prop::collection::btree_set(0..12_u32, 0..8)) {
            let listed: Vec<ListedPage> = numbers.iter().map(|number| ListedPage::new(*number, 0)).collect();
            let pages = PageNumbers::of(&listed);
            prop_assert_eq!(pages.iter().collect::<BTreeSet<_>>(), numbers.clone());
            prop_assert_eq!(pages.len(), numbers.len());
            for number in 0..12 {
                prop_assert_eq!(pages.contains(number), numbers.contains(&number));
            }
        }
    }

    #[test]
    fn consecutive_numbers_need_no_allocation() {
        let listed = [4, 5, 6].map(|number| ListedPage::new(number, 0));
        assert_eq!(PageNumbers::of(&listed), PageNumbers::Run(4..7));
        assert_eq!(size_of::<PageNumbers>(), 16);
    }
}
