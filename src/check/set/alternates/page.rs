//! `Page`: a URL that rows list as an alternate, or whose rows have links; usually both.

use super::counted::Counted;
use std::ops::{Deref, DerefMut};

/// The number of rows of a page, and the sets of links by which it is listed and which its rows have. Nearly always
/// that is the same single set, so that one number of each kind takes no allocation.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// Number of rows with this URL, with or without links. Maintained only while a set of links lists it.
    pub(super) rows: u32,
    /// The set of links that lists it; [`NONE`] if there is none, [`SEVERAL`] if there are several sets of a kind.
    listed_by: u32,
    /// The set of links of its rows and the number of rows; unused if that is 0. With [`SEVERAL`], the index of all sets in
    /// [`SeveralSets`].
    linked: (u32, u32),
}

const NONE: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

impl Default for Page {
    fn default() -> Self {
        Self { rows: 0, listed_by: NONE, linked: (0, 0) }
    }
}

/// All sets of links of a page.
#[derive(Debug, Clone, Default)]
struct Sets {
    listed_by: Counted,
    linked: Counted,
}

/// The sets of links of those pages that have several of a kind, by index.
#[derive(Debug, Clone, Default)]
pub(super) struct SeveralSets {
    list: Vec<Sets>,
    /// Unused indexes.
    free: Vec<u32>,
}

impl SeveralSets {
    fn of(&self, page: &Page) -> Option<&Sets> {
        if page.listed_by == SEVERAL { self.list.get(page.linked.0 as usize) } else { None }
    }

    /// Stores sets; returns their index.
    fn store(&mut self, sets: Sets) -> u32 {
        let index = self.free.pop().unwrap_or(self.list.len() as u32);
        match self.list.get_mut(index as usize) {
            Some(unused) => *unused = sets,
            None => self.list.push(sets),
        }
        index
    }

    /// Drops the sets of a page that is removed.
    pub(super) fn remove(&mut self, page: &Page) {
        if page.listed_by == SEVERAL
            && let Some(sets) = self.list.get_mut(page.linked.0 as usize)
        {
            *sets = Sets::default();
            self.free.push(page.linked.0);
        }
    }
}

/// A page with its sets of links.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRef<'p> {
    page: &'p Page,
    /// All sets, if there are several of a kind.
    sets: Option<&'p Sets>,
}

/// A page with its sets of links, to change them.
#[derive(Debug)]
pub(super) struct PageMut<'p> {
    page: &'p mut Page,
    several: &'p mut SeveralSets,
}

impl Deref for PageRef<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        self.page
    }
}

impl Deref for PageMut<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        self.page
    }
}

impl DerefMut for PageMut<'_> {
    fn deref_mut(&mut self) -> &mut Page {
        self.page
    }
}

impl<'p> PageRef<'p> {
    pub(super) fn new(page: &'p Page, several: &'p SeveralSets) -> Self {
        Self { page, sets: several.of(page) }
    }

    /// Whether a set of links lists the page.
    pub(super) fn is_listed(self) -> bool {
        self.sets.map_or(self.page.listed_by != NONE, |sets| sets.listed_by.len() > 0)
    }

    /// The sets of links that list the page.
    pub(super) fn listed_by(self) -> impl Iterator<Item = u32> + use<'p> {
        let one = Some(self.page.listed_by).filter(|number| self.sets.is_none() && *number != NONE);
        one.into_iter().chain(self.sets.into_iter().flat_map(|sets| sets.listed_by.iter().map(|(number, _)| number)))
    }

    /// The number of different sets of links that rows of the page have.
    pub(super) fn linked_len(self) -> usize {
        self.sets.map_or_else(|| usize::from(self.page.linked.1 > 0), |sets| sets.linked.len())
    }

    /// The sets of links that rows of the page have, each with the number of rows.
    pub(super) fn linked(self) -> impl Iterator<Item = (u32, u32)> + use<'p> {
        let one = Some(self.page.linked).filter(|(_, rows)| self.sets.is_none() && *rows > 0);
        one.into_iter().chain(self.sets.into_iter().flat_map(|sets| sets.linked.iter()))
    }

    /// The number of rows of the page that have a set of links.
    pub(super) fn linked_rows(self, number: u32) -> u32 {
        match self.sets {
            Some(sets) => sets.linked.count_of(number),
            None if self.page.linked.0 == number => self.page.linked.1,
            None => 0,
        }
    }
}

impl<'p> PageMut<'p> {
    pub(super) fn new(page: &'p mut Page, several: &'p mut SeveralSets) -> Self {
        Self { page, several }
    }

    /// The page with its sets, to read them.
    pub(super) fn shared(&self) -> PageRef<'_> {
        PageRef::new(self.page, self.several)
    }

    /// All sets, if there are several of a kind.
    fn sets(&mut self) -> Option<&mut Sets> {
        if self.page.listed_by == SEVERAL { self.several.list.get_mut(self.page.linked.0 as usize) } else { None }
    }

    /// All sets; moves both numbers there, since another one is added.
    fn spill(&mut self) -> Option<&mut Sets> {
        let Page { listed_by, linked, .. } = *self.page;
        if listed_by != SEVERAL {
            let mut sets = Sets::default();
            if listed_by != NONE {
                sets.listed_by.add(listed_by, 1);
            }
            if linked.1 > 0 {
                sets.linked.add(linked.0, linked.1);
            }
            self.page.listed_by = SEVERAL;
            self.page.linked = (self.several.store(sets), 0);
        }
        self.sets()
    }

    /// Adds a set of links that lists the page and did not before.
    pub(super) fn add_listing(&mut self, number: u32) {
        if self.page.listed_by == NONE {
            self.page.listed_by = number;
        } else if let Some(sets) = self.spill() {
            sets.listed_by.add(number, 1);
        }
    }

    /// Removes a set of links that lists the page.
    pub(super) fn remove_listing(&mut self, number: u32) {
        if let Some(sets) = self.sets() {
            sets.listed_by.take(number);
        } else if self.page.listed_by == number {
            self.page.listed_by = NONE;
        }
    }

    /// Adds a row with a set of links. Returns whether no row of the page had that set.
    pub(super) fn add_linked(&mut self, number: u32) -> bool {
        let Page { listed_by, linked: (known, rows), .. } = *self.page;
        if listed_by == SEVERAL || (rows > 0 && known != number) {
            return self.spill().is_some_and(|sets| sets.linked.add(number, 1));
        }
        self.page.linked = (number, rows + 1);
        rows == 0
    }

    /// Removes a row with a set of links. Returns whether no row of the page has that set any more.
    pub(super) fn remove_linked(&mut self, number: u32) -> bool {
        if let Some(sets) = self.sets() {
            return sets.linked.take(number);
        }
        let (known, rows) = &mut self.page.linked;
        if *known != number || *rows == 0 {
            return false;
        }
        *rows -= 1;
        *rows == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn a_page_behaves_like_a_set_and_a_map(steps in prop::collection::vec((0..40_u32, 0..4_u8), 0..200)) {
            let (mut page, mut several) = (Page::default(), SeveralSets::default());
            let (mut listed_by, mut linked) = (BTreeSet::new(), BTreeMap::new());
            for (number, step) in steps {
                let mut page = PageMut::new(&mut page, &mut several);
                match step {
                    0 if listed_by.insert(number) => page.add_listing(number),
                    1 => {
                        page.remove_listing(number);
                        listed_by.remove(&number);
                    }
                    2 => {
                        let rows = linked.entry(number).or_insert(0);
                        *rows += 1;
                        prop_assert_eq!(page.add_linked(number), *rows == 1);
                    }
                    3 => {
                        let rows: u32 = linked.get(&number).copied().unwrap_or(0);
                        prop_assert_eq!(page.remove_linked(number), rows == 1);
                        linked.insert(number, rows.saturating_sub(1));
                        linked.retain(|_, rows| *rows > 0);
                    }
                    _ => {}
                }
                let page = page.shared();
                prop_assert_eq!(page.is_listed(), !listed_by.is_empty());
                prop_assert_eq!(page.listed_by().collect::<BTreeSet<_>>(), listed_by.clone());
                prop_assert_eq!(page.linked().collect::<BTreeMap<_, _>>(), linked.clone());
                prop_assert_eq!(page.linked_len(), linked.len());
                for number in 0..40 {
                    prop_assert_eq!(page.linked_rows(number), linked.get(&number).copied().unwrap_or(0));
                }
            }
        }
    }

    #[test]
    fn the_sets_of_removed_pages_are_replaced() {
        let mut several = SeveralSets::default();
        for round in 0..100 {
            let mut page = Page::default();
            for number in [round, round + 1] {
                PageMut::new(&mut page, &mut several).add_listing(number);
            }
            assert!(PageRef::new(&page, &several).listed_by().eq([round, round + 1]));
            several.remove(&page);
        }
        assert_eq!((several.list.len(), several.free.len()), (1, 1));
    }

    #[test]
    fn a_page_is_small() {
        assert_eq!(size_of::<Page>(), 16);
    }
}
