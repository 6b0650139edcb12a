//! `TextNumbers`: the numbers of texts that are stored elsewhere, by hashes of the texts.

use super::duplicates::spread;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A hash of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextHash(u32);

impl TextHash {
    pub(super) fn of(text: &str) -> Self {
        Self(FixedState::default().hash_one(text) as u32)
    }
}

/// Numbers of texts. Each is stored with the hash of its text: reading the texts when the table grows would miss the
/// cache for most of them.
#[derive(Debug, Clone, Default)]
pub(super) struct TextNumbers(HashTable<(TextHash, u32)>);

impl TextNumbers {
    /// The number of a text with this hash for which `is_text` returns true.
    pub(super) fn find(&self, hash: TextHash, is_text: impl Fn(u32) -> bool) -> Option<u32> {
        let found = self.0.find(spread(hash.0), |(known, number)| *known == hash && is_text(*number));
        found.map(|(_, number)| *number)
    }

    /// Adds the number of a text that has none.
    pub(super) fn insert(&mut self, hash: TextHash, number: u32) {
        self.0.insert_unique(spread(hash.0), (hash, number), |(hash, _)| spread(hash.0));
    }

    /// Reserves memory for the numbers of up to `count` more texts.
    pub(super) fn reserve(&mut self, count: usize) {
        self.0.reserve(count, |(hash, _)| spread(hash.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers_when_the_table_grows() {
        let texts: Vec<String> = (0..10_000).map(|number| format!("text {number}")).collect();
        let mut numbers = TextNumbers::default();
        let find = |numbers: &TextNumbers, text: &str| {
            numbers.find(TextHash::of(text), |number| texts.get(number as usize).is_some_and(|known| known == text))
        };
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(find(&numbers, text), None);
            numbers.insert(TextHash::of(text), number);
        }
        assert!((0..).zip(&texts).all(|(number, text)| find(&numbers, text) == Some(number)));
        assert_eq!(find(&numbers, "text"), None);
    }
}
