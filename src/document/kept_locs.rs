//! URLs of rows whose files are unloaded: they are collected in the order of rows, and looked up by row.

use super::rows::RowId;

/// URLs of some rows, in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowLocs {
    rows: Vec<RowId>,
    /// The end of each URL in `text`.
    ends: Vec<usize>,
    text: String,
}

impl RowLocs {
    /// Adds the URL of a row after all others.
    pub(crate) fn push(&mut self, row: RowId, loc: &str) {
        debug_assert!(self.rows.last().is_none_or(|last| *last < row), "rows are added in ascending order");
        self.text.push_str(loc);
        self.rows.push(row);
        self.ends.push(self.text.len());
    }

    /// Adds those of later rows.
    pub(crate) fn append(&mut self, later: &Self) {
        debug_assert!(
            self.rows.last() < later.rows.first() || later.rows.is_empty(),
            "rows are added in ascending order"
        );
        let before = self.text.len();
        self.rows.extend(&later.rows);
        self.ends.extend(later.ends.iter().map(|end| before + end));
        self.text.push_str(&later.text);
    }
}

/// URLs by row. Rows are looked up in ascending order most of the time: then consecutive lookups find their data in the
/// cache, which those in a hash table do not.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptLocs {
    blocks: Vec<Block>,
    /// The end of each URL in `text`.
    ends: Vec<usize>,
    text: String,
}

/// The rows with URLs among as many consecutive rows as there are bits.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// A bit for each row.
    rows: u64,
    /// The number of rows with URLs before the block.
    before: u32,
}

impl KeptLocs {
    /// The URL of a row, if it is kept.
    #[inline]
    pub(super) fn get(&self, row: RowId) -> Option<&str> {
        let (block, bit) = place(row);
        let block = self.blocks.get(block)?;
        if block.rows & bit == 0 {
            return None;
        }
        let index = (block.before + (block.rows & (bit - 1)).count_ones()) as usize;
        let start = index.checked_sub(1).map_or(Some(0), |last| self.ends.get(last).copied())?;
        self.text.get(start..*self.ends.get(index)?)
    }
}

impl From<RowLocs> for KeptLocs {
    fn from(RowLocs { rows, ends, text }: RowLocs) -> Self {
        let len = rows.last().map_or(0, |last| place(*last).0 + 1);
        let mut blocks = vec![Block::default(); len];
        for row in rows {
            let (block, bit) = place(row);
            if let Some(block) = blocks.get_mut(block) {
                block.rows |= bit;
            }
        }
        let mut before = 0;
        for block in &mut blocks {
            block.before = before;
            before += block.rows.count_ones();
        }
        Self { blocks, ends, text }
    }
}

/// The index of the block of a row, and its bit there.
const fn place(row: RowId) -> (usize, u64) {
    (row.0 as usize / u64::BITS as usize, 1 << (row.0 % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn locs_are_found_by_row(
            locs in prop::collection::btree_map(0..300_u32, "[a-zé]{0,5}", 0..200), cut in 0..300_u32,
        ) {
            let collect = |locs: &BTreeMap<u32, String>| {
                let mut collected = RowLocs::default();
                for (row, loc) in locs {
                    collected.push(RowId(*row), loc);
                }
                collected
            };
            let mut earlier = locs.clone();
            let later = earlier.split_off(&cut);
            let mut all = collect(&earlier);
            all.append(&collect(&later));
            let kept = KeptLocs::from(all);
            for row in 0..320 {
                prop_assert_eq!(kept.get(RowId(row)), locs.get(&row).map(String::as_str));
            }
        }
    }
}
