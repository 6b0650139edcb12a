//! Counters of the whole set that need neither URLs nor files.

use super::RowFacts;
use crate::protocol::location::Location;

/// Number of distinct priorities, in hundredths from 0.00 to 1.00.
const PRIORITIES: usize = 101;
/// Number of distinct words of changefreq.
const FREQUENCIES: usize = 7;

/// What rows add up to.
#[derive(Debug, Clone)]
pub struct Sums {
    /// All of them.
    pub rows: u64,
    /// Those that have a lastmod.
    pub with_lastmod: u64,
    /// By priority, in hundredths.
    pub priorities: [u64; PRIORITIES],
    /// By changefreq.
    pub frequencies: [u64; FREQUENCIES],
    /// Paths without and with a final slash.
    pub slashes: [u64; 2],
}

impl Default for Sums {
    fn default() -> Self {
        Self { rows: 0, with_lastmod: 0, priorities: [0; PRIORITIES], frequencies: [0; FREQUENCIES], slashes: [0; 2] }
    }
}

impl Sums {
    /// Counts a row once more (1) or less (-1).
    pub fn count(&mut self, location: &Location<'_>, facts: &RowFacts, step: i64) {
        let add = |counter: &mut u64| *counter = counter.saturating_add_signed(step);
        add(&mut self.rows);
        if let Some(slash) = slash_style(location) {
            add(&mut self.slashes[usize::from(slash)]);
        }
        self.count_values(facts, step);
    }

    /// The same of a row that is there before and after.
    pub fn count_values(&mut self, facts: &RowFacts, step: i64) {
        let add = |counter: &mut u64| *counter = counter.saturating_add_signed(step);
        if facts.has_lastmod {
            add(&mut self.with_lastmod);
        }
        if let Some(counter) = facts.priority.and_then(|value| self.priorities.get_mut(usize::from(value))) {
            add(counter);
        }
        if let Some(counter) = facts.changefreq.and_then(|word| self.frequencies.get_mut(usize::from(word))) {
            add(counter);
        }
    }

    /// Counts what others have counted.
    pub fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.with_lastmod += other.with_lastmod;
        let pairs = self.priorities.iter_mut().zip(&other.priorities);
        let pairs = pairs.chain(self.frequencies.iter_mut().zip(&other.frequencies));
        pairs.chain(self.slashes.iter_mut().zip(&other.slashes)).for_each(|(sum, more)| *sum += more);
    }

    /// Counts the values of rows that are there before and after.
    pub fn turn(&mut self, turns: &Turns) {
        self.add(&turns.after);
        self.rows = self.rows.saturating_sub(turns.before.rows);
        self.with_lastmod = self.with_lastmod.saturating_sub(turns.before.with_lastmod);
        let pairs = self.priorities.iter_mut().zip(&turns.before.priorities);
        pairs
            .chain(self.frequencies.iter_mut().zip(&turns.before.frequencies))
            .chain(self.slashes.iter_mut().zip(&turns.before.slashes))
            .for_each(|(sum, less)| *sum = sum.saturating_sub(*less));
    }
}

/// What values rows had and have, for rows whose URLs, dates and files stay.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    before: Sums,
    after: Sums,
}

impl Turns {
    /// Counts a row by what it said and says.
    pub fn count(&mut self, before: &RowFacts, after: &RowFacts) {
        self.before.count_values(before, 1);
        self.after.count_values(after, 1);
    }

    /// Counts a row whose URL may be another, too.
    pub fn count_moved(&mut self, before: (&Location<'_>, &RowFacts), after: (&Location<'_>, &RowFacts)) {
        self.before.count(before.0, before.1, 1);
        self.after.count(after.0, after.1, 1);
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.before.add(&other.before);
        self.after.add(&other.after);
        self
    }
}

/// Whether a path ends in a slash; `None` for the root and for a last segment with an extension.
pub fn slash_style(location: &Location<'_>) -> Option<bool> {
    location.scheme()?;
    match location.path().as_bytes() {
        [] | [b'/'] => None,
        [.., b'/'] => Some(true),
        path => {
            let end = path.iter().rev().find(|&&byte| byte == b'/' || byte == b'.');
            (end != Some(&b'.')).then_some(false)
        }
    }
}
