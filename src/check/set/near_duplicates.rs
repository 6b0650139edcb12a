//! Finds near duplicates: URLs that differ only in ways that rarely name another page.
//!
//! Computed on demand and off by default: a second key for every row would double the index, and the result is a guess
//! (rule catalogue, `set-duplicate-near`).

use super::{Locs, SetIndex};
use crate::protocol::location::near_key;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use roaring::RoaringBitmap;
use std::hash::BuildHasher as _;

/// Near duplicates, each with the earlier row that it resembles.
#[derive(Debug, Clone, Default)]
pub struct NearDuplicates {
    rows: RoaringBitmap,
    /// Pairs of a row and the earlier row that it resembles, ascending.
    firsts: Vec<(u32, u32)>,
}

impl NearDuplicates {
    fn of(firsts: Vec<(u32, u32)>) -> Self {
        Self { rows: firsts.iter().map(|(row, _)| *row).collect(), firsts }
    }

    /// Whether a row is one of them.
    pub fn contains(&self, row: u32) -> bool {
        self.rows.contains(row)
    }

    /// Number of near duplicates.
    pub fn len(&self) -> u64 {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All near duplicates.
    pub const fn rows(&self) -> &RoaringBitmap {
        &self.rows
    }

    /// The earlier row that a row resembles.
    pub fn first_of(&self, row: u32) -> Option<u32> {
        let at = self.firsts.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        self.firsts.get(at).map(|(_, first)| *first)
    }
}

impl SetIndex {
    /// Rows that resemble an earlier row, but are not certain to name the same page. Visits all rows, so it belongs in
    /// a background job.
    pub fn near_duplicates(&self, locs: &impl Locs) -> RoaringBitmap {
        self.near_pairs(locs).into_iter().map(|(row, _)| row).collect()
    }

    /// Near duplicates among some rows, which must include all candidates.
    pub fn near_duplicates_among(&self, rows: &RoaringBitmap, locs: &impl Locs) -> NearDuplicates {
        NearDuplicates::of(self.near_pairs_among(rows, locs))
    }

    /// Near duplicates, each with the earlier row.
    pub fn near_pairs(&self, locs: &impl Locs) -> Vec<(u32, u32)> {
        self.near_pairs_among(&self.duplicates.rows(), locs)
    }

    fn near_pairs_among(&self, rows: &RoaringBitmap, locs: &impl Locs) -> Vec<(u32, u32)> {
        // Hashes select candidates and texts decide: one slot per page instead of one text per page.
        let mut firsts: HashTable<(u64, u32)> = HashTable::with_capacity(rows.len() as usize);
        let hasher = foldhash::fast::FixedState::default();
        let mut other = String::new();
        let mut duplicates = Vec::new();
        let mut key = String::new();
        for row in rows.iter().filter(|row| self.duplicates.contains(*row)) {
            // Only the first row of a page counts; the others are exact or equivalent duplicates.
            if self.duplicates.group_of(row).is_some_and(|group| group.first() != Some(row)) {
                continue;
            }
            let Some(loc) = locs.loc(row) else { continue };
            near_key(&loc, &mut key);
            let hash = hasher.hash_one(key.as_str());
            let same = |&(known, first): &(u64, u32)| {
                known == hash
                    && locs.loc(first).is_some_and(|loc| {
                        near_key(&loc, &mut other);
                        other == key
                    })
            };
            match firsts.entry(hash, same, |&(known, _)| known) {
                Entry::Occupied(first) => duplicates.push((row, first.get().1)),
                Entry::Vacant(vacant) => {
                    vacant.insert((hash, row));
                }
            }
        }
        duplicates
    }
}
