//! `Pages`: a map from the hash of a URL to the data about its alternate links.
//!
//! The hash table holds numbers of pages: a map of the pages themselves would copy them when it grows.

use super::chunks::Chunks;
use super::page::{Page, PageMut, PageRef, SeveralSets};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// The pages, each under its hash.
#[derive(Debug, Clone, Default)]
pub(super) struct Pages {
    numbers: HashTable<u32>,
    /// The pages by number, each with the hash of its URL.
    by_number: Chunks<(u64, Page)>,
    several: SeveralSets,
    /// Numbers of removed pages.
    free: Vec<u32>,
}

fn hash(key: u64) -> u64 {
    FixedState::default().hash_one(key)
}

impl Pages {
    /// The page of this number.
    pub(super) fn get(&self, number: u32) -> Option<PageRef<'_>> {
        self.by_number.get(number).map(|(_, page)| PageRef::new(*page, &self.several))
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<PageMut<'_>> {
        self.by_number.get_mut(number).map(|(_, page)| PageMut::new(page, &mut self.several))
    }

    /// The hash of the URL of the page of this number.
    pub(super) fn key(&self, number: u32) -> Option<u64> {
        self.by_number.get(number).map(|(key, _)| *key)
    }

    /// The page of a URL.
    pub(super) fn find(&self, key: u64) -> Option<PageRef<'_>> {
        self.get(self.number(key)?)
    }

    /// The number of the page of a URL.
    pub(super) fn number(&self, key: u64) -> Option<u32> {
        let is_key = |number: &u32| self.key(*number) == Some(key);
        self.numbers.find(hash(key), is_key).copied()
    }

    /// The number of the page of a URL, created if there is none.
    pub(super) fn number_or_insert(&mut self, key: u64) -> u32 {
        self.number(key).unwrap_or_else(|| self.insert(key))
    }

    pub(super) fn remove(&mut self, number: u32) {
        let Some(key) = self.key(number) else { return };
        if let Ok(entry) = self.numbers.find_entry(hash(key), |known| *known == number) {
            self.free.push(entry.remove().0);
            if let Some((_, page)) = self.by_number.get_mut(number) {
                self.several.remove(std::mem::take(page));
            }
        }
    }

    /// Adds to the number of rows of the page of this number.
    pub(super) fn add_row(&mut self, number: u32) {
        if let Some(mut page) = self.get_mut(number) {
            page.set_rows(page.shared().rows() + 1);
        }
    }

    /// Sets the number of rows of each page to 0.
    pub(super) fn clear_rows(&mut self) {
        let Self { by_number, several, .. } = self;
        by_number.iter_mut().for_each(|(_, page)| PageMut::new(page, several).set_rows(0));
    }

    /// Reserves memory for the numbers of up to `count` more pages.
    pub(super) fn reserve(&mut self, count: usize) {
        let Self { numbers, by_number, .. } = self;
        numbers.reserve(count, |number| by_number.get(*number).map_or(0, |(key, _)| hash(*key)));
    }

    fn insert(&mut self, key: u64) -> u32 {
        let Self { numbers, by_number, free, .. } = self;
        let number = free.pop().unwrap_or(by_number.len());
        match by_number.get_mut(number) {
            Some(slot) => *slot = (key, Page::default()),
            None => by_number.push((key, Page::default())),
        }
        let key_of = |number: &u32| by_number.get(*number).map_or(0, |(key, _)| hash(*key));
        numbers.insert_unique(hash(key), number, key_of);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn pages_behave_like_a_map(steps in prop::collection::vec((0..40_u64, 0..4_u8), 0..200)) {
            let (mut pages, mut expected) = (Pages::default(), BTreeMap::new());
            for (key, step) in steps {
                if step == 0 {
                    pages.number(key).into_iter().for_each(|number| pages.remove(number));
                    expected.remove(&key);
                } else {
                    let number = pages.number_or_insert(key);
                    prop_assert_eq!(pages.key(number), Some(key));
                    pages.add_row(number);
                    *expected.entry(key).or_insert(0_u32) += 1;
                }
                for key in 0..40 {
                    prop_assert_eq!(pages.find(key).map(PageRef::rows), expected.get(&key).copied());
                }
            }
        }
    }

    #[test]
    fn numbers_are_reused() {
        let mut pages = Pages::default();
        for key in 0..10_000 {
            let number = pages.number_or_insert(key);
            pages.remove(number);
        }
        assert_eq!(pages.by_number.len(), 1);
    }
}
