//! Counters over all rows of the set: optional fields, priorities, frequencies and trailing slashes.

use super::{IndexedRow, SetIndex};
use crate::protocol::location::Location;

/// Number of distinct priorities, in hundredths from 0.00 to 1.00.
const PRIORITIES: usize = 101;
/// Number of distinct words of changefreq.
const FREQUENCIES: usize = 7;

/// Path depths with a counter of their own.
pub(super) const DEPTHS: usize = 8;

/// Counters over rows.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    /// All rows.
    pub rows: u64,
    /// Rows with a lastmod.
    pub with_lastmod: u64,
    /// Rows with a changefreq, valid or not.
    pub with_changefreq: u64,
    /// Rows with a priority, valid or not.
    pub with_priority: u64,
    /// Rows with extensions.
    pub with_extensions: u64,
    /// Rows by priority, in hundredths.
    pub priorities: [u64; PRIORITIES],
    /// Rows by changefreq.
    pub frequencies: [u64; FREQUENCIES],
    /// Paths without and with a final slash, by the number of their segments.
    pub slashes: [[u64; 2]; DEPTHS],
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            rows: 0,
            with_lastmod: 0,
            with_changefreq: 0,
            with_priority: 0,
            with_extensions: 0,
            priorities: [0; PRIORITIES],
            frequencies: [0; FREQUENCIES],
            slashes: [[0; 2]; DEPTHS],
        }
    }
}

impl Counters {
    /// Adds (1) or removes (-1) a row.
    pub(super) fn count(&mut self, location: &Location<'_>, facts: &IndexedRow, step: i64) {
        self.count_styled(slash_style(location), facts, step);
    }

    /// [`Self::count`] for a row whose slash style is known.
    pub(super) fn count_styled(&mut self, style: Option<SlashStyle>, facts: &IndexedRow, step: i64) {
        let add = |counter: &mut u64| *counter = counter.saturating_add_signed(step);
        add(&mut self.rows);
        if let Some(counter) =
            style.and_then(|style| self.slashes.get_mut(usize::from(style.depth))?.get_mut(usize::from(style.slash)))
        {
            add(counter);
        }
        self.count_values(facts, step);
    }

    /// Like `count`, for a row that exists before and after a change.
    pub(super) fn count_values(&mut self, facts: &IndexedRow, step: i64) {
        let add = |counter: &mut u64| *counter = counter.saturating_add_signed(step);
        for (has, counter) in [
            (facts.has_lastmod, &mut self.with_lastmod),
            (facts.has_changefreq, &mut self.with_changefreq),
            (facts.has_priority, &mut self.with_priority),
            (facts.has_extensions, &mut self.with_extensions),
        ] {
            if has {
                add(counter);
            }
        }
        if let Some(counter) = facts.priority.and_then(|value| self.priorities.get_mut(usize::from(value))) {
            add(counter);
        }
        if let Some(counter) = facts.changefreq.and_then(|word| self.frequencies.get_mut(usize::from(word))) {
            add(counter);
        }
    }

    /// Adds other counters.
    pub(super) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.with_lastmod += other.with_lastmod;
        self.with_changefreq += other.with_changefreq;
        self.with_priority += other.with_priority;
        self.with_extensions += other.with_extensions;
        let pairs = self.priorities.iter_mut().zip(&other.priorities);
        let pairs = pairs.chain(self.frequencies.iter_mut().zip(&other.frequencies));
        pairs
            .chain(self.slashes.iter_mut().flatten().zip(other.slashes.iter().flatten()))
            .for_each(|(sum, more)| *sum += more);
    }

    /// Applies the changes of rows that exist before and after.
    pub(super) fn apply_delta(&mut self, delta: &CounterDelta) {
        self.add(&delta.after);
        for (sum, less) in [
            (&mut self.rows, delta.before.rows),
            (&mut self.with_lastmod, delta.before.with_lastmod),
            (&mut self.with_changefreq, delta.before.with_changefreq),
            (&mut self.with_priority, delta.before.with_priority),
            (&mut self.with_extensions, delta.before.with_extensions),
        ] {
            *sum = sum.saturating_sub(less);
        }
        let pairs = self.priorities.iter_mut().zip(&delta.before.priorities);
        pairs
            .chain(self.frequencies.iter_mut().zip(&delta.before.frequencies))
            .chain(self.slashes.iter_mut().flatten().zip(delta.before.slashes.iter().flatten()))
            .for_each(|(sum, less)| *sum = sum.saturating_sub(*less));
    }
}

/// The number of rows with each of the optional parts of an entry, valid or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Presence {
    /// Rows with a lastmod.
    pub lastmod: u64,
    /// Rows with a changefreq.
    pub changefreq: u64,
    /// Rows with a priority.
    pub priority: u64,
    /// Rows with extensions.
    pub extensions: u64,
}

impl SetIndex {
    /// The number of rows with each of the optional parts of an entry.
    pub const fn presence(&self) -> Presence {
        let Counters { with_lastmod, with_changefreq, with_priority, with_extensions, .. } = &self.counters;
        Presence {
            lastmod: *with_lastmod,
            changefreq: *with_changefreq,
            priority: *with_priority,
            extensions: *with_extensions,
        }
    }
}

/// Old and new values of rows whose URLs, dates and files stay the same.
#[derive(Debug, Clone, Default)]
pub struct CounterDelta {
    before: Counters,
    after: Counters,
}

impl CounterDelta {
    /// Adds a changed row by its old and new values.
    pub fn count(&mut self, before: &IndexedRow, after: &IndexedRow) {
        self.before.count_values(before, 1);
        self.after.count_values(after, 1);
    }

    /// Adds a changed row whose URL may have changed too.
    pub fn count_moved(&mut self, before: (&Location<'_>, &IndexedRow), after: (&Location<'_>, &IndexedRow)) {
        self.before.count(before.0, before.1, 1);
        self.after.count(after.0, after.1, 1);
    }

    /// The sum of two deltas.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.before.add(&other.before);
        self.after.add(&other.after);
        self
    }
}

/// Depth and trailing slash of a path. Depths are counted separately, since sections (`/news/`) and the pages in them
/// (`/news/a`) often differ on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlashStyle {
    /// Number of segments minus one; all deeper paths count together.
    pub depth: u8,
    /// Whether it ends in a slash.
    pub slash: bool,
}

/// Whether the last segment of a path has an extension. Kept out of [`slash_style`], since few paths have any dot.
#[inline(never)]
fn has_extension(path: &[u8]) -> bool {
    memchr::memrchr2(b'/', b'.', path).and_then(|at| path.get(at)) == Some(&b'.')
}

/// The slash style of a path; `None` for the root and for a last segment with an extension.
#[inline]
pub(super) fn slash_style(location: &Location<'_>) -> Option<SlashStyle> {
    location.scheme()?;
    let slash = location.path_bytes().last() == Some(&b'/');
    let depth = (location.path_slashes() as usize).checked_sub(1 + usize::from(slash))?;
    let has_extension = !slash && location.may_have_extension() && has_extension(location.path_bytes());
    (!has_extension).then_some(SlashStyle { depth: depth.min(DEPTHS - 1) as u8, slash })
}
