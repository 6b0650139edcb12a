//! `LinkedRows`: the URL and the set of links of each row that has links, by the number of the row.

/// The rows with links. Takes twelve bytes per row up to the last one with links.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkedRows {
    /// The hash of the URL of each row.
    keys: Vec<u64>,
    /// The number of its set of links; [`NONE`] for a row without links.
    sets: Vec<u32>,
    len: usize,
}

const NONE: u32 = u32::MAX;

impl LinkedRows {
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn get(&self, row: u32) -> Option<(u64, u32)> {
        let set = self.sets.get(row as usize).copied().filter(|set| *set != NONE)?;
        Some((self.keys.get(row as usize).copied()?, set))
    }

    /// Adds a row that is not in the list.
    pub(super) fn insert(&mut self, row: u32, key: u64, set: u32) {
        let row = row as usize;
        if self.sets.len() <= row {
            self.sets.resize(row + 1, NONE);
            self.keys.resize(row + 1, 0);
        }
        if let (Some(own_key), Some(own_set)) = (self.keys.get_mut(row), self.sets.get_mut(row)) {
            (*own_key, *own_set) = (key, set);
            self.len += 1;
        }
    }

    pub(super) fn remove(&mut self, row: u32) -> Option<(u64, u32)> {
        let found = self.get(row)?;
        if let Some(set) = self.sets.get_mut(row as usize) {
            *set = NONE;
            self.len -= 1;
        }
        Some(found)
    }

    /// The rows with links, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.sets).filter(|(_, set)| **set != NONE).map(|(row, _)| row)
    }
}
