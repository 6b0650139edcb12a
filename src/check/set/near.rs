//! Near duplicates: URLs that differ only in what rarely makes another page.
//!
//! Not kept and off by default: a second key for every row would double the index, and the verdict is a
//! guess (rule catalogue, `set-duplicate-near`). Looked up when someone asks.

use super::{Locs, SetIndex};
use crate::protocol::location::near_key;
use hashbrown::HashMap;
use roaring::RoaringBitmap;

impl SetIndex {
    /// Rows that come near to an earlier row and do not name the same page for certain.
    /// Walks over all rows: work for a job.
    pub fn near_duplicates(&self, locs: &impl Locs) -> RoaringBitmap {
        let mut firsts: HashMap<Box<str>, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut near = RoaringBitmap::new();
        let mut key = String::new();
        for row in self.duplicates.rows() {
            // Of rows of the same page only the first counts; the others are duplicates proper.
            if self.duplicates.group_of(row).is_some_and(|group| group.first() != Some(row)) {
                continue;
            }
            let Some(loc) = locs.loc(row) else { continue };
            near_key(&loc, &mut key);
            if firsts.contains_key(key.as_str()) {
                near.insert(row);
            } else {
                firsts.insert(key.as_str().into(), row);
            }
        }
        near
    }
}
