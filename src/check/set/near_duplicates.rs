//! Finds near duplicates: URLs that differ only in ways that rarely name another page.
//!
//! Computed on demand and off by default: a second key for every row would double the index, and the result is a guess
//! (rule catalogue, `set-duplicate-near`).

use super::{Locs, SetIndex};
use crate::protocol::location::{near_key, near_key_hash};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;
use roaring::RoaringBitmap;

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
    pub fn near_duplicates(&self, locs: &(impl Locs + Sync)) -> RoaringBitmap {
        self.near_pairs(locs).into_iter().map(|(row, _)| row).collect()
    }

    /// Near duplicates among some rows, which must include all candidates.
    pub fn near_duplicates_among(&self, rows: &RoaringBitmap, locs: &(impl Locs + Sync)) -> NearDuplicates {
        NearDuplicates::of(self.near_pairs_among(rows, locs))
    }

    /// Near duplicates, each with the earlier row.
    pub fn near_pairs(&self, locs: &(impl Locs + Sync)) -> Vec<(u32, u32)> {
        self.near_pairs_among(&self.duplicates.rows(), locs)
    }

    fn near_pairs_among(&self, rows: &RoaringBitmap, locs: &(impl Locs + Sync)) -> Vec<(u32, u32)> {
        // Only the first row of a page counts; the others are exact or equivalent duplicates.
        let is_first = |row: &u32| {
            let group = self.duplicates.group_of(*row);
            self.duplicates.contains(*row) && group.is_none_or(|group| group.first() == Some(*row))
        };
        let firsts: Vec<u32> = rows.iter().filter(is_first).collect();
        let hashed = |row: &u32| Some((near_key_hash(&locs.loc(*row)?), *row));
        let mut hashes: Vec<(u64, u32)> = firsts.par_iter().filter_map(hashed).collect();
        hashes.par_sort_unstable();
        // Hashes select candidates and texts decide.
        let mut candidates: Vec<_> =
            hashes.chunk_by(|(one, _), (next, _)| one == next).filter(|rows| rows.len() > 1).collect();
        // Texts of rows one after the other are in the cache, those in the order of hashes are not.
        candidates.par_sort_unstable_by_key(|rows| rows.first().map(|(_, row)| *row));
        let mut pairs: Vec<_> = candidates.par_iter().flat_map_iter(|rows| pairs_of_candidates(rows, locs)).collect();
        pairs.par_sort_unstable();
        pairs
    }
}

/// Near duplicates among rows whose near keys have the same hash, each with the earlier row. The rows are in ascending order.
fn pairs_of_candidates(rows: &[(u64, u32)], locs: &impl Locs) -> Vec<(u32, u32)> {
    let mut firsts: HashMap<String, u32, FixedState> = HashMap::default();
    let (mut key, mut pairs) = (String::new(), Vec::new());
    for (_, row) in rows {
        let Some(loc) = locs.loc(*row) else { continue };
        near_key(&loc, &mut key);
        match firsts.get(&key) {
            Some(first) => pairs.push((*row, *first)),
            None => {
                firsts.insert(std::mem::take(&mut key), *row);
            }
        }
    }
    pairs
}
