//! Counters of one file, collected while it is read and added to the set index in one step.

use super::IndexedRow;
use super::counters::{Counters, SlashStyle, slash_style};
use super::dates::Minutes;
use super::file::FileTally;
use super::hosts::Hosts;
use crate::protocol::location::Location;

/// The properties of a row that the minority rules compare: its origin and slash style. 4 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// The number of the origin, [`RowShape::NONE`] or [`RowShape::BEYOND`].
    origin: u16,
    pub(super) style: Option<SlashStyle>,
}

impl RowShape {
    /// The URL has no origin.
    const NONE: u16 = u16::MAX;
    /// There are more origins than numbers, so the URL must be read.
    const BEYOND: u16 = u16::MAX - 1;

    /// Whether all of this many origins have a number.
    pub(super) const fn can_number(origins: usize) -> bool {
        origins <= Self::BEYOND as usize
    }

    /// The number of its origin, if it has one; an error if the URL must be read.
    pub(super) const fn origin(self) -> Result<Option<u32>, ()> {
        match self.origin {
            Self::NONE => Ok(None),
            Self::BEYOND => Err(()),
            number => Ok(Some(number as u32)),
        }
    }

    /// Renumbers origins: `numbers` has the new number for each old one.
    pub(super) fn renumber(shapes: &mut [Self], numbers: &[u32]) {
        for shape in shapes.iter_mut().filter(|shape| shape.origin < Self::BEYOND) {
            let number = numbers.get(usize::from(shape.origin)).and_then(|number| u16::try_from(*number).ok());
            shape.origin = number.unwrap_or(Self::BEYOND).min(Self::BEYOND);
        }
    }
}

/// Counters over the rows of one file, with its own numbering of hosts.
#[derive(Debug, Clone, Default)]
pub struct ReadTally {
    pub(super) counters: Counters,
    pub(super) hosts: Hosts,
    pub(super) file: FileTally,
    pub(super) minutes: Minutes,
}

impl ReadTally {
    /// Adds a row; an outline of its URL is enough, and `facts.file` is ignored. Returns its shape, with the number of
    /// its origin in this tally.
    pub fn add(&mut self, location: &Location<'_>, facts: &IndexedRow) -> RowShape {
        let origin = self.hosts.add(location);
        self.file.add(origin, facts);
        facts.lastmod.into_iter().for_each(|seconds| self.minutes.add(seconds));
        let style = slash_style(location);
        self.counters.count_styled(style, facts, 1);
        let number =
            || u16::try_from(self.hosts.last()).map_or(RowShape::BEYOND, |number| number.min(RowShape::BEYOND));
        RowShape { origin: origin.map_or(RowShape::NONE, |_| number()), style }
    }

    /// Renumbers the shapes of rows of another tally to the numbers of this one.
    pub fn renumber(&mut self, other: &Self, shapes: &mut [RowShape]) {
        RowShape::renumber(shapes, &self.hosts.intern_all(&other.hosts));
    }
}
