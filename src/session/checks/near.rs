//! Finds rows whose URLs may be near duplicates, by hashes.

use crate::document::Document;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::location::{NO_KEY, near_key_hash};
use rayon::prelude::*;
use std::collections::HashSet;

/// The live rows of a set in memory that may come near to others: a hash proposes, on all cores.
pub(in crate::session) fn may_be_near(document: &Document) -> RowSet {
    let rows: Vec<u32> = document.live_rows().map(|row| row.0).collect();
    let hash = |row: &u32| match document.loc(RowId(*row)) {
        loc if loc.is_empty() => NO_KEY,
        loc => near_key_hash(&loc),
    };
    let hashes: Vec<u64> = rows.par_iter().map(hash).collect();
    meeting(&hashes).into_iter().filter_map(|place| rows.get(place as usize).copied()).collect()
}

/// The places of hashes that stand more than once.
pub(in crate::session) fn meeting(hashes: &[u64]) -> RowSet {
    // By eighths, so that sorting needs little memory.
    pub(in crate::session) const EIGHTHS: u64 = 8;
    let mut shared: HashSet<u64> = HashSet::new();
    for eighth in 0..EIGHTHS {
        let mut some: Vec<u64> =
            hashes.par_iter().copied().filter(|hash| hash >> 61 == eighth && *hash != NO_KEY).collect();
        some.par_sort_unstable();
        shared.extend(some.windows(2).filter(|pair| pair.first() == pair.last()).filter_map(<[u64]>::first));
    }
    if shared.is_empty() {
        return RowSet::new();
    }
    let rows = (0..).zip(hashes).filter(|(_, hash)| shared.contains(hash)).map(|(row, _)| row);
    rows.collect()
}
