//! Counters of one file, collected while it is read and added to the set index in one step.

use super::IndexedRow;
use super::counters::Counters;
use super::dates::Minutes;
use super::file::FileTally;
use super::hosts::Hosts;
use crate::protocol::location::Location;

/// Counters over the rows of one file, with its own numbering of hosts.
#[derive(Debug, Clone, Default)]
pub struct ReadTally {
    pub(super) counters: Counters,
    pub(super) hosts: Hosts,
    pub(super) file: FileTally,
    pub(super) minutes: Minutes,
}

impl ReadTally {
    /// Counts a row; an outline of its URL is enough. The file that `facts` names does not count.
    pub fn add(&mut self, location: &Location<'_>, facts: &IndexedRow) {
        let origin = self.hosts.add(location);
        self.file.add(origin, facts);
        facts.lastmod.into_iter().for_each(|seconds| self.minutes.add(seconds));
        self.counters.count(location, facts, 1);
    }
}
