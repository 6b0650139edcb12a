//! `LinkedRows`: the page and the set of links of each row that has links, by the number of the row.

use super::chunks::Chunks;

/// The rows with links. Takes eight bytes per row up to the last one with links.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkedRows {
    /// The numbers of the page and the set of links of each row; [`NONE`] for a row without links.
    rows: Chunks<(u32, u32)>,
    len: usize,
}

const NONE: (u32, u32) = (u32::MAX, u32::MAX);

impl LinkedRows {
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The numbers of the page and the set of links of a row.
    pub(super) fn get(&self, row: u32) -> Option<(u32, u32)> {
        self.rows.get(row).copied().filter(|row| *row != NONE)
    }

    /// Adds a row that is not in the list.
    pub(super) fn insert(&mut self, row: u32, page: u32, set: u32) {
        while self.rows.len() <= row {
            self.rows.push(NONE);
        }
        if let Some(known) = self.rows.get_mut(row) {
            *known = (page, set);
            self.len += 1;
        }
    }

    pub(super) fn remove(&mut self, row: u32) -> Option<(u32, u32)> {
        let known = self.rows.get_mut(row).filter(|row| **row != NONE)?;
        self.len -= 1;
        Some(std::mem::replace(known, NONE))
    }

    /// The rows with links, ascending, each with the number of its page.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(self.rows.iter()).filter(|(_, row)| **row != NONE).map(|(row, (page, _))| (row, *page))
    }

    /// The rows without links, ascending, without an end.
    pub(super) fn unlinked(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).filter(|row| self.get(*row).is_none())
    }
}
