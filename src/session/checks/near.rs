//! Finds rows whose URLs may be near duplicates, by hashes.

use crate::document::Document;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::location::{NO_KEY, near_key_hash};
use rayon::prelude::*;

/// The live rows that may be near duplicates of others, by a hash of their URLs; on all cores.
pub(in crate::session) fn near_candidates(document: &Document) -> RowSet {
    let rows: Vec<u32> = document.live_rows().map(|row| row.0).collect();
    let hash = |row: &u32| near_key_hash(&document.loc(RowId(*row)));
    let hashes: Vec<u64> = rows.par_iter().map(hash).collect();
    repeated_hashes(&[hashes]).into_iter().filter_map(|index| rows.get(index as usize).copied()).collect()
}

/// The positions of hashes that occur more than once, in all lists together.
///
/// One pass sets a bit for each hash; only hashes whose bit is already set are candidates, a few per cent in a set without
/// duplicates. Another pass collects all positions of candidates, which are then sorted.
pub(in crate::session) fn repeated_hashes(lists: &[Vec<u64>]) -> RowSet {
    // `for_each` loops over each list, which takes fewer instructions than a filter of the flattened iterator.
    let hashes = || lists.iter().flatten().copied();
    let mut filter = Filter::with_capacity(lists.iter().map(Vec::len).sum());
    let mut repeated = Vec::new();
    hashes().for_each(|hash| {
        if hash != NO_KEY && filter.test_and_set(hash) {
            repeated.push(hash);
        }
    });
    // Most of these hashes are not equal to another one: they only share a bit. Four times as many bits let few others
    // pass.
    let mut candidates = Filter::with_capacity(4 * repeated.len());
    for hash in repeated {
        candidates.test_and_set(hash);
    }
    let mut met: Vec<(u64, u32)> = Vec::new();
    hashes().enumerate().for_each(|(row, hash)| {
        if hash != NO_KEY && candidates.has(hash) {
            met.push((hash, row as u32));
        }
    });
    met.par_sort_unstable();
    let equal = met.chunk_by(|(one, _), (next, _)| one == next).filter(|rows| rows.len() > 1);
    equal.flatten().map(|(_, row)| *row).collect()
}

/// Bits of a filter for each hash.
const BITS_PER_HASH: usize = 16;

/// A Bloom filter with one hash function: one bit for each hash.
struct Filter {
    words: Vec<u64>,
    /// The right shift that turns a hash into a bit number.
    shift: u32,
}

impl Filter {
    /// An empty filter for this many hashes.
    fn with_capacity(hashes: usize) -> Self {
        let bits = (BITS_PER_HASH * hashes).next_power_of_two().max(64);
        Self { words: vec![0; bits / 64], shift: u64::BITS - bits.trailing_zeros() }
    }

    fn bit(&self, hash: u64) -> (usize, u64) {
        let bit = hash >> self.shift;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn has(&self, hash: u64) -> bool {
        let (word, bit) = self.bit(hash);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Inserts a hash; returns whether it, or one with the same bit, was there.
    fn test_and_set(&mut self, hash: u64) -> bool {
        let (word, bit) = self.bit(hash);
        let Some(word) = self.words.get_mut(word) else { return false };
        let was = *word & bit != 0;
        *word |= bit;
        was
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn repeated_hashes_are_found(
            numbers in prop::collection::vec(0..60_u64, 0..80), cut in 0..80_usize,
            spread in prop::sample::select(vec![1_u64, 0x9e37_79b9_7f4a_7c15]),
        ) {
            let hashes: Vec<u64> = numbers.iter().map(|number| number.wrapping_mul(spread)).collect();
            let (first, second) = hashes.split_at(cut.min(hashes.len()));
            let is_met = |hash: u64| hash != NO_KEY && hashes.iter().filter(|other| **other == hash).count() > 1;
            let expected: RowSet = (0..).zip(&hashes).filter(|(_, hash)| is_met(**hash)).map(|(row, _)| row).collect();
            prop_assert_eq!(repeated_hashes(&[first.to_vec(), second.to_vec()]), expected);
        }
    }
}
