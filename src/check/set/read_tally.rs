//! Counters of one file, collected while it is read and added to the set index in one step.

use super::IndexedRow;
use super::counters::{Counters, SlashStyle, slash_style};
use super::dates::Minutes;
use super::file::FileTally;
use super::origins::Origins;
use crate::protocol::location::Location;

/// The properties of a row that the minority rules compare, in 4 bytes: the number of its origin, [`RowShape::NONE`] or
/// [`RowShape::BEYOND`] in the upper bits, its slash style in the lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowShape(u32);

impl RowShape {
    /// Number of bits of the slash style.
    const STYLE_BITS: u32 = 5;
    const STYLE: u32 = (1 << Self::STYLE_BITS) - 1;
    /// The URL has no origin.
    const NONE: u32 = u32::MAX >> Self::STYLE_BITS;
    /// There are more origins than numbers, so the URL must be read.
    const BEYOND: u32 = Self::NONE - 1;

    /// That of a row without a URL.
    pub(super) const EMPTY: Self = Self(Self::NONE << Self::STYLE_BITS);

    fn new(origin: Option<u32>, style: Option<SlashStyle>) -> Self {
        let style = style.map_or(0, |style| 1 + u32::from(style.depth) * 2 + u32::from(style.slash));
        Self(style & Self::STYLE).with_origin(origin)
    }

    fn with_origin(self, origin: Option<u32>) -> Self {
        let number = origin.map_or(Self::NONE, |origin| origin.min(Self::BEYOND));
        Self(self.0 & Self::STYLE | number << Self::STYLE_BITS)
    }

    /// Whether all of this many origins have a number.
    pub(super) const fn can_number(origins: usize) -> bool {
        origins <= Self::BEYOND as usize
    }

    /// A number that differs from that of any other shape.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The number of its origin, if it has one; an error if the URL must be read.
    pub(super) const fn origin(self) -> Result<Option<u32>, ()> {
        match self.0 >> Self::STYLE_BITS {
            Self::NONE => Ok(None),
            Self::BEYOND => Err(()),
            number => Ok(Some(number)),
        }
    }

    /// The number of its origin, if it has one and it is known; see `SetIndex::origin_text`.
    pub fn origin_number(self) -> Option<u32> {
        self.origin().ok()?
    }

    /// Its slash style, if it has one.
    pub(super) fn style(self) -> Option<SlashStyle> {
        let style = (self.0 & Self::STYLE).checked_sub(1)?;
        Some(SlashStyle { depth: (style / 2) as u8, slash: style % 2 == 1 })
    }

    /// Renumbers origins: `numbers` has the new number for each old one.
    pub(super) fn renumber(shapes: &mut [Self], numbers: &[u32]) {
        if (0..).zip(numbers).all(|(old, new)| old == *new) {
            return;
        }
        for shape in shapes {
            if let Ok(Some(old)) = shape.origin() {
                let number = numbers.get(old as usize).copied().unwrap_or(Self::BEYOND);
                *shape = shape.with_origin(Some(number));
            }
        }
    }
}

/// The shapes of the rows of a set, by file.
#[derive(Debug, Clone, Default)]
pub(super) struct RowShapes {
    /// The first row of each file, and the shapes of its rows.
    files: Vec<(u32, Vec<RowShape>)>,
}

impl RowShapes {
    /// Adds those of a file whose first row is `first`, if those of all earlier rows are known.
    pub(super) fn add(&mut self, first: u32, shapes: Vec<RowShape>) {
        if self.files.last().map_or(0, |(first, shapes)| first + shapes.len() as u32) == first {
            self.files.push((first, shapes));
        }
    }

    /// That of a row.
    pub(super) fn get(&self, row: u32) -> Option<RowShape> {
        let file = self.files.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, shapes) = self.files.get(file)?;
        shapes.get((row - first) as usize).copied()
    }
}

/// Counters over the rows of one file, with its own numbering of origins.
#[derive(Debug, Clone, Default)]
pub struct ReadTally {
    pub(super) counters: Counters,
    pub(super) origins: Origins,
    /// Without hosts and ports.
    pub(super) file: FileTally,
    pub(super) minutes: Minutes,
}

impl ReadTally {
    /// Adds a row; an outline of its URL is enough, and `facts.file` is ignored. Returns its shape, with the number of
    /// its origin in this tally.
    #[inline]
    pub fn add(&mut self, location: &Location<'_>, facts: &IndexedRow) -> RowShape {
        let origin = self.origins.add(location);
        self.file.add(None, facts);
        facts.lastmod.into_iter().for_each(|seconds| self.minutes.add(seconds));
        let style = slash_style(location);
        self.counters.count_styled(style, facts, 1);
        RowShape::new(origin, style)
    }

    /// Adds the counters of later rows. Renumbers the shapes of these rows to the numbers of this tally.
    pub fn join(&mut self, later: &Self, shapes: &mut [RowShape]) {
        RowShape::renumber(shapes, &self.origins.join(&later.origins));
        self.counters.add(&later.counters);
        self.file.merge(&later.file, &later.minutes);
        self.minutes.merge(&later.minutes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LAST: u32 = RowShape::BEYOND - 1;

    proptest! {
        #[test]
        fn a_shape_has_what_it_was_made_of(
            origin in prop::option::of(prop_oneof![0..9_u32, Just(LAST)]),
            style in prop::option::of((0..super::super::counters::DEPTHS as u8, any::<bool>())),
            new in prop_oneof![0..9_u32, LAST - 1..LAST + 3],
        ) {
            let style = style.map(|(depth, slash)| SlashStyle { depth, slash });
            let mut shape = RowShape::new(origin, style);
            prop_assert_eq!((shape.origin(), shape.style()), (Ok(origin), style));
            // The last origin gets no new number.
            RowShape::renumber(std::slice::from_mut(&mut shape), &[new; 9]);
            let has_number = origin.is_none_or(|origin| origin != LAST && RowShape::can_number(new as usize + 1));
            let new = if has_number { Ok(origin.map(|_| new)) } else { Err(()) };
            prop_assert_eq!((shape.origin(), shape.style()), (new, style));
        }
    }

    #[test]
    fn a_row_without_a_url_has_the_empty_shape() {
        assert_eq!(ReadTally::default().add(&Location::outline(""), &IndexedRow::default()), RowShape::EMPTY);
    }

    #[test]
    fn shapes_are_found_by_row() {
        let (one, two) = (RowShape::new(Some(1), None), RowShape::new(None, None));
        let mut shapes = RowShapes::default();
        shapes.add(0, vec![one, one]);
        shapes.add(2, vec![]);
        shapes.add(2, vec![two]);
        shapes.add(9, vec![one]);
        assert_eq!([0, 1, 2, 3, 9].map(|row| shapes.get(row)), [Some(one), Some(one), Some(two), None, None]);
    }
}
