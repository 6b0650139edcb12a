//! Finds the next row of the view that a query matches.

use crate::document::query::Query;
use crate::progress::Progress;
use crate::session::state::Snapshot;

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// A row at this position; true if the search went round the end.
    At(u32, bool),
    /// No row is like that.
    Nowhere,
    /// It was stopped.
    Stopped,
}

/// Which rows to look at, and in which order.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui::app) struct Order {
    /// Where to begin.
    pub from: u32,
    /// Downwards.
    pub forward: bool,
    /// Whether the first position counts itself.
    pub here: bool,
    /// Rows of the view.
    pub shown: u32,
}

impl Order {
    /// The position looked at after so many, and whether that is beyond the end.
    const fn nth(self, number: u32) -> (u32, bool) {
        let number = if self.here { number } else { number + 1 };
        if self.forward {
            let at = self.from as u64 + number as u64;
            ((at % self.shown as u64) as u32, at >= self.shown as u64)
        } else {
            let back = number % self.shown;
            let round = back > self.from;
            (if round { self.shown - (back - self.from) } else { self.from - back }, round)
        }
    }
}

/// The first row of an order that passes, among the first `most`.
pub(in crate::tui::app) fn find(
    snapshot: &Snapshot,
    query: &Query,
    order: Order,
    most: u32,
    progress: &Progress,
) -> Hit {
    let facts = snapshot.facts();
    for number in 0..order.shown.min(most) {
        if number.is_multiple_of(256) && progress.is_cancelled() {
            return Hit::Stopped;
        }
        let (position, round) = order.nth(number);
        let row = snapshot.view.row_at(&snapshot.document, position);
        if row.is_some_and(|row| query.matches(&facts.of(row))) {
            return Hit::At(position, round);
        }
    }
    Hit::Nowhere
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_looked_at_once() {
        for shown in 1..8_u32 {
            for from in 0..shown {
                for forward in [true, false] {
                    for here in [true, false] {
                        let order = Order { from, forward, here, shown };
                        let mut seen: Vec<u32> = (0..shown).map(|number| order.nth(number).0).collect();
                        assert_eq!(seen.first() == Some(&from), here || shown == 1, "{order:?}");
                        seen.sort_unstable();
                        assert_eq!(seen, (0..shown).collect::<Vec<_>>(), "{order:?}");
                    }
                }
            }
        }
    }
}
