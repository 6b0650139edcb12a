//! `Page`: a URL that rows list as an alternate, or whose rows have links; usually both.

use super::counted::Counted;

/// The number of rows of a page, and the sets of links by which it is listed and which its rows have. Nearly always
/// that is the same single set, so that one number of each kind takes no allocation.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// Number of rows with this URL, with or without links. Maintained only while a set of links lists it.
    pub(super) rows: u32,
    /// The set of links that lists it; [`NONE`] if there is none. Unused if there are [`Page::more`].
    listed_by: u32,
    /// The set of links of its rows and the number of rows; unused if that is 0, or if there are [`Page::more`].
    linked: (u32, u32),
    /// All sets of links, if there are several of a kind.
    more: Option<Box<More>>,
}

const NONE: u32 = u32::MAX;

/// All sets of links of a page.
#[derive(Debug, Clone, Default)]
struct More {
    listed_by: Counted,
    linked: Counted,
}

impl Default for Page {
    fn default() -> Self {
        Self { rows: 0, listed_by: NONE, linked: (0, 0), more: None }
    }
}

impl Page {
    /// Moves both numbers to the allocation, since another one is added.
    fn spill(&mut self) -> &mut More {
        let (listed_by, linked) = (self.listed_by, self.linked);
        self.more.get_or_insert_with(|| {
            let mut more = More::default();
            if listed_by != NONE {
                more.listed_by.add(listed_by, 1);
            }
            if linked.1 > 0 {
                more.linked.add(linked.0, linked.1);
            }
            Box::new(more)
        })
    }

    /// Whether a set of links lists the page.
    pub(super) fn is_listed(&self) -> bool {
        self.more.as_ref().map_or(self.listed_by != NONE, |more| more.listed_by.len() > 0)
    }

    /// The sets of links that list the page.
    pub(super) fn listed_by(&self) -> impl Iterator<Item = u32> + '_ {
        let more = self.more.as_deref();
        let one = Some(self.listed_by).filter(|number| more.is_none() && *number != NONE);
        one.into_iter().chain(more.into_iter().flat_map(|more| more.listed_by.iter().map(|(number, _)| number)))
    }

    /// Adds a set of links that lists the page and did not before.
    pub(super) fn add_listing(&mut self, number: u32) {
        if self.more.is_none() && self.listed_by == NONE {
            self.listed_by = number;
        } else {
            self.spill().listed_by.add(number, 1);
        }
    }

    /// Removes a set of links that lists the page.
    pub(super) fn remove_listing(&mut self, number: u32) {
        match &mut self.more {
            Some(more) => _ = more.listed_by.take(number),
            None if self.listed_by == number => self.listed_by = NONE,
            None => {}
        }
    }

    /// The number of different sets of links that rows of the page have.
    pub(super) fn linked_len(&self) -> usize {
        self.more.as_ref().map_or_else(|| usize::from(self.linked.1 > 0), |more| more.linked.len())
    }

    /// The sets of links that rows of the page have, each with the number of rows.
    pub(super) fn linked(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let more = self.more.as_deref();
        let one = Some(self.linked).filter(|(_, rows)| more.is_none() && *rows > 0);
        one.into_iter().chain(more.into_iter().flat_map(|more| more.linked.iter()))
    }

    /// The number of rows of the page that have a set of links.
    pub(super) fn linked_rows(&self, number: u32) -> u32 {
        match &self.more {
            Some(more) => more.linked.count_of(number),
            None if self.linked.0 == number => self.linked.1,
            None => 0,
        }
    }

    /// Adds a row with a set of links. Returns whether no row of the page had that set.
    pub(super) fn add_linked(&mut self, number: u32) -> bool {
        let (known, rows) = self.linked;
        if self.more.is_some() || (rows > 0 && known != number) {
            return self.spill().linked.add(number, 1);
        }
        self.linked = (number, rows + 1);
        rows == 0
    }

    /// Removes a row with a set of links. Returns whether no row of the page has that set any more.
    pub(super) fn remove_linked(&mut self, number: u32) -> bool {
        match &mut self.more {
            Some(more) => more.linked.take(number),
            None if self.linked.0 == number && self.linked.1 > 0 => {
                self.linked.1 -= 1;
                self.linked.1 == 0
            }
            None => false,
        }
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
            let mut page = Page::default();
            let (mut listed_by, mut linked) = (BTreeSet::new(), BTreeMap::new());
            for (number, step) in steps {
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
    fn a_page_is_small() {
        assert_eq!(size_of::<Page>(), 24);
    }
}
