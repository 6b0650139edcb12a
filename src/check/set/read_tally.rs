//! What one file adds to the index beside its URLs: counted by whoever reads the file, taken in at once.

use super::IndexedRow;
use super::counters::Counters;
use super::dates::Minutes;
use super::file::FileTally;
use super::hosts::Hosts;
use crate::protocol::location::Location;

/// The sums of the rows of one file, hosts by numbers of their own.
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
