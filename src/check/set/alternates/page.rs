//! `Page`: a URL that rows list as an alternate, or whose rows have links; usually both.

use super::counted::Counted;

/// A URL that rows list as an alternate, or whose rows have links. Nearly always one set of links lists it, its rows
/// have that set or one other, and there are few rows: that takes no allocation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    /// The set of links that lists it, and the number of rows with this URL, with or without links. [`SEVERAL`] if
    /// [`SeveralSets`] has all.
    listed_by: SetRows,
    /// The set of links of its rows, and the number of rows with it. With [`SEVERAL`], the index in [`SeveralSets`].
    linked: SetRows,
}

/// The number of a set of links, which may be absent, and a number of rows: so many pages are in memory that both share
/// four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SetRows(u32);

/// Number of bits for the rows, which are the lowest.
const ROW_BITS: u32 = 2;

/// Maximum number of rows.
const MAX_ROWS: u32 = (1 << ROW_BITS) - 1;

/// No set and no rows.
const NONE: SetRows = SetRows(u32::MAX - MAX_ROWS);

/// Marks a page whose sets and rows are in [`SeveralSets`].
const SEVERAL: SetRows = SetRows(u32::MAX);

impl SetRows {
    /// A set with so many rows; `None` if that does not fit.
    const fn new(number: u32, rows: u32) -> Option<Self> {
        if number < NONE.0 >> ROW_BITS && rows <= MAX_ROWS { Some(Self(number << ROW_BITS | rows)) } else { None }
    }

    /// The same set with another number of rows; `None` if that does not fit.
    const fn with_rows(self, rows: u32) -> Option<Self> {
        let with_rows = Self(self.0 & !MAX_ROWS | rows);
        if rows <= MAX_ROWS && with_rows.0 != SEVERAL.0 { Some(with_rows) } else { None }
    }

    const fn rows(self) -> u32 {
        self.0 & MAX_ROWS
    }

    const fn set(self) -> Option<u32> {
        if self.0 < NONE.0 { Some(self.0 >> ROW_BITS) } else { None }
    }
}

impl Default for Page {
    fn default() -> Self {
        Self { listed_by: NONE, linked: NONE }
    }
}

impl Page {
    /// The index in [`SeveralSets`], if that has its sets and rows.
    fn several(self) -> Option<usize> {
        (self.listed_by == SEVERAL).then_some(self.linked.0 as usize)
    }
}

/// All sets of links of a page, and the number of its rows.
#[derive(Debug, Clone, Default)]
struct Sets {
    rows: u32,
    listed_by: Counted,
    linked: Counted,
}

/// The sets of links of those pages that have several of a kind, or many rows, by index.
#[derive(Debug, Clone, Default)]
pub(super) struct SeveralSets {
    list: Vec<Sets>,
    /// Unused indexes.
    free: Vec<u32>,
}

impl SeveralSets {
    fn of(&self, page: Page) -> Option<&Sets> {
        self.list.get(page.several()?)
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
    pub(super) fn remove(&mut self, page: Page) {
        if let Some(index) = page.several()
            && let Some(sets) = self.list.get_mut(index)
        {
            *sets = Sets::default();
            self.free.push(index as u32);
        }
    }
}

/// A page with its sets of links.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRef<'p> {
    page: Page,
    /// All sets, if they are in [`SeveralSets`].
    sets: Option<&'p Sets>,
}

/// A page with its sets of links, to change them.
#[derive(Debug)]
pub(super) struct PageMut<'p> {
    page: &'p mut Page,
    several: &'p mut SeveralSets,
}

impl<'p> PageRef<'p> {
    pub(super) fn new(page: Page, several: &'p SeveralSets) -> Self {
        Self { page, sets: several.of(page) }
    }

    /// The number of rows with this URL, with or without links. Maintained only while a set of links lists it.
    pub(super) fn rows(self) -> u32 {
        self.sets.map_or_else(|| self.page.listed_by.rows(), |sets| sets.rows)
    }

    /// Whether a set of links lists the page.
    pub(super) fn is_listed(self) -> bool {
        self.sets.map_or_else(|| self.page.listed_by.set().is_some(), |sets| sets.listed_by.len() > 0)
    }

    /// The sets of links that list the page.
    pub(super) fn listed_by(self) -> impl Iterator<Item = u32> + use<'p> {
        let several = self.sets.into_iter().flat_map(|sets| sets.listed_by.iter().map(|(number, _)| number));
        self.page.listed_by.set().into_iter().chain(several)
    }

    /// The set of links that the rows of the page have, with their number, if it is not in [`SeveralSets`].
    fn single_linked(self) -> Option<(u32, u32)> {
        if self.sets.is_some() { None } else { self.page.linked.set().map(|number| (number, self.page.linked.rows())) }
    }

    /// The number of different sets of links that rows of the page have.
    pub(super) fn linked_len(self) -> usize {
        self.sets.map_or_else(|| usize::from(self.single_linked().is_some()), |sets| sets.linked.len())
    }

    /// The sets of links that rows of the page have, each with the number of rows.
    pub(super) fn linked(self) -> impl Iterator<Item = (u32, u32)> + use<'p> {
        self.single_linked().into_iter().chain(self.sets.into_iter().flat_map(|sets| sets.linked.iter()))
    }

    /// The number of rows of the page that have a set of links.
    pub(super) fn linked_rows(self, number: u32) -> u32 {
        match self.sets {
            Some(sets) => sets.linked.count_of(number),
            None => self.single_linked().filter(|(known, _)| *known == number).map_or(0, |(_, rows)| rows),
        }
    }
}

impl<'p> PageMut<'p> {
    pub(super) fn new(page: &'p mut Page, several: &'p mut SeveralSets) -> Self {
        Self { page, several }
    }

    /// The page with its sets, to read them.
    pub(super) fn shared(&self) -> PageRef<'_> {
        PageRef::new(*self.page, self.several)
    }

    /// All sets, if they are in [`SeveralSets`].
    fn sets(&mut self) -> Option<&mut Sets> {
        self.several.list.get_mut(self.page.several()?)
    }

    /// All sets, moved to [`SeveralSets`] if they are not there.
    fn spill(&mut self) -> Option<&mut Sets> {
        if self.page.several().is_none() {
            let mut sets = Sets { rows: self.shared().rows(), ..Sets::default() };
            self.shared().listed_by().for_each(|number| _ = sets.listed_by.add(number, 1));
            self.shared().linked().for_each(|(number, rows)| _ = sets.linked.add(number, rows));
            *self.page = Page { listed_by: SEVERAL, linked: SetRows(self.several.store(sets)) };
        }
        self.sets()
    }

    /// Sets the number of rows with this URL.
    pub(super) fn set_rows(&mut self, rows: u32) {
        if let Some(sets) = self.sets() {
            sets.rows = rows;
        } else if let Some(with_rows) = self.page.listed_by.with_rows(rows) {
            self.page.listed_by = with_rows;
        } else if let Some(sets) = self.spill() {
            sets.rows = rows;
        }
    }

    /// Adds a set of links that lists the page and did not before.
    pub(super) fn add_listing(&mut self, number: u32) {
        let Page { listed_by, .. } = *self.page;
        let is_first = listed_by != SEVERAL && listed_by.set().is_none();
        match SetRows::new(number, listed_by.rows()).filter(|_| is_first) {
            Some(listed_by) => self.page.listed_by = listed_by,
            None => _ = self.spill().map(|sets| sets.listed_by.add(number, 1)),
        }
    }

    /// Removes a set of links that lists the page.
    pub(super) fn remove_listing(&mut self, number: u32) {
        if let Some(sets) = self.sets() {
            sets.listed_by.take(number);
        } else if self.page.listed_by.set() == Some(number) {
            self.page.listed_by = NONE;
        }
    }

    /// Adds a row with a set of links. Returns whether no row of the page had that set.
    pub(super) fn add_linked(&mut self, number: u32) -> bool {
        let Page { listed_by, linked } = *self.page;
        let is_single = listed_by != SEVERAL && linked.set().is_none_or(|known| known == number);
        match SetRows::new(number, linked.rows() + 1).filter(|_| is_single) {
            Some(more) => {
                self.page.linked = more;
                linked == NONE
            }
            None => self.spill().is_some_and(|sets| sets.linked.add(number, 1)),
        }
    }

    /// Removes a row with a set of links. Returns whether no row of the page has that set any more.
    pub(super) fn remove_linked(&mut self, number: u32) -> bool {
        if let Some(sets) = self.sets() {
            return sets.linked.take(number);
        }
        let rows = self.shared().linked_rows(number);
        if rows > 0 {
            self.page.linked = SetRows::new(number, rows - 1).filter(|linked| linked.rows() > 0).unwrap_or(NONE);
        }
        rows == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Numbers of sets with what is done with them: few numbers and those that are close to the largest that fits into a
    /// page, or more than [`Counted`] has in a list.
    fn steps() -> impl Strategy<Value = Vec<(u32, u8)>> {
        let largest = (NONE.0 >> ROW_BITS) - 1;
        let few = prop_oneof![4 => 0..2_u32, 1 => largest - 1..largest + 3];
        prop_oneof![prop::collection::vec((few, 0..5_u8), 0..80), prop::collection::vec((0..100_u32, 0..5_u8), 0..400),]
    }

    proptest! {
        #[test]
        fn a_page_behaves_like_a_set_and_a_map(steps in steps()) {
            let (mut page, mut several) = (Page::default(), SeveralSets::default());
            let (mut listed_by, mut linked, mut page_rows) = (BTreeSet::new(), BTreeMap::new(), 0);
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
                    4 => {
                        page.set_rows(number);
                        page_rows = number;
                    }
                    _ => {}
                }
                if listed_by.is_empty() {
                    page.set_rows(page_rows);
                }
                let page = page.shared();
                prop_assert_eq!(page.rows(), page_rows);
                prop_assert_eq!(page.is_listed(), !listed_by.is_empty());
                prop_assert_eq!(page.listed_by().collect::<BTreeSet<_>>(), listed_by.clone());
                prop_assert_eq!(page.linked().collect::<BTreeMap<_, _>>(), linked.clone());
                prop_assert_eq!(page.linked_len(), linked.len());
                for number in (0..100).chain(linked.keys().copied()) {
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
            assert!(PageRef::new(page, &several).listed_by().eq([round, round + 1]));
            several.remove(page);
        }
        assert_eq!((several.list.len(), several.free.len()), (1, 1));
    }

    #[test]
    fn a_page_is_small() {
        assert_eq!(size_of::<Page>(), 8);
    }
}
