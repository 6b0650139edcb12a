//! The change of a set index by an edit of a streamed set, collected file by file while the index stays unchanged.

use super::alternates::{Alternates, Link};
use super::file::FileVerdict;
use super::hosts::Hosts;
use super::read_tally::RowShapes;
use super::{CounterDelta, IndexedRow, Locs, SetIndex};
use crate::protocol::location::Location;
use roaring::RoaringBitmap;
use std::sync::Arc;

/// A row on one side of a change: before or after.
#[derive(Debug, Clone)]
pub struct RowSide<'l> {
    /// Its URL.
    pub loc: &'l str,
    /// Everything else that the index counts.
    pub facts: IndexedRow,
}

/// Changes of a set's counters and of its per-file findings.
#[derive(Debug, Clone, Default)]
pub struct SetDelta {
    delta: CounterDelta,
    files: Vec<(u32, FileVerdict)>,
}

impl SetDelta {
    /// Adds the changed rows of a file, which must keep their origins ([`is_same_origin`]). `new` has the dates of all
    /// rows of the file after the change.
    pub fn count<'l>(
        &mut self,
        index: &SetIndex,
        file: u32,
        rows: impl Iterator<Item = (RowSide<'l>, RowSide<'l>)>,
        new: &impl Locs,
    ) {
        let mut tally = index.files.get(file as usize).cloned().unwrap_or_default();
        for (before, after) in rows {
            tally.remove(None, &before.facts);
            tally.add(None, &after.facts);
            let outline = |side: &RowSide<'l>| Location::outline(side.loc);
            self.delta.count_moved((&outline(&before), &before.facts), (&outline(&after), &after.facts));
        }
        tally.recompute(&index.hosts, &mut |visit| new.each_date(file, visit));
        self.files.push((file, tally.verdict));
    }
}

impl SetIndex {
    /// The index after a change, with unchanged duplicates and without alternate links.
    #[must_use]
    pub fn with_delta(&self, delta: &SetDelta) -> Self {
        let mut index = Self {
            shapes: RowShapes::default(),
            duplicates: Arc::clone(&self.duplicates),
            alternates: Alternates::default(),
            hosts: self.hosts.clone(),
            files: self.files.clone(),
            dirty: self.dirty.clone(),
            verdicts: self.verdicts,
            counters: self.counters.clone(),
            cross_submission: self.cross_submission,
            is_part: self.is_part,
        };
        for (number, verdict) in &delta.files {
            let Some(file) = index.files.get_mut(*number as usize) else { continue };
            index.verdicts.replace(&file.verdict, verdict);
            file.verdict = *verdict;
        }
        index.counters.apply_delta(&delta.delta);
        index
    }

    /// Whether a row was added without comparing it with others.
    pub fn is_uncompared(&self, row: u32) -> bool {
        self.duplicates.is_uncompared(row)
    }

    /// The rows that were compared with others.
    pub fn compared(&self) -> RoaringBitmap {
        self.duplicates.rows() - self.duplicates.uncompared_rows()
    }

    /// Whether there are alternate links.
    pub fn has_links(&self) -> bool {
        !self.alternates.is_empty()
    }

    /// The hash of the URL of a row that has alternate links.
    pub fn linked_key(&self, row: u32) -> Option<u64> {
        self.alternates.key_of(row)
    }

    /// Whether a row lists a URL.
    pub fn lists(&self, row: u32, key: u64) -> bool {
        self.alternates.lists(row, key)
    }

    /// The number of rows whose URLs a row lists.
    pub fn listed_rows(&self, row: u32) -> u64 {
        self.alternates.listed_rows(row)
    }

    /// Whether some row lists this URL.
    pub fn is_listed(&self, key: u64) -> bool {
        self.alternates.is_listed(key)
    }

    /// Replaces the alternate links of rows. New links must lead to URLs that are listed already, or to the row itself.
    pub fn relink(&mut self, rows: impl IntoIterator<Item = (u32, Vec<Link>)>) {
        for (row, links) in rows {
            let own = self.duplicates.group_of(row).map_or(1, |group| group.len() as u32);
            self.alternates.relink(row, &links, |_| own);
        }
        self.alternates.recompute(self.hosts.names());
    }
}

/// Whether two URLs have the same scheme, host and port.
pub(crate) fn is_same_origin(one: &str, other: &str) -> bool {
    let mut hosts = Hosts::default();
    hosts.add(&Location::outline(one)) == hosts.add(&Location::outline(other))
}
