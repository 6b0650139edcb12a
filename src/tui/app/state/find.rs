//! Finds the next row of the view that a query matches.

use crate::document::query::Query;
use crate::progress::Progress;
use crate::session::state::Snapshot;

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// A row at this position; true if the search wrapped.
    At(u32, bool),
    /// No row matches.
    NotFound,
    /// The search was cancelled.
    Stopped,
}

/// The order in which a search visits rows.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui::app) struct SearchOrder {
    /// The position to start at.
    pub from: u32,
    /// Whether to search downwards.
    pub forward: bool,
    /// Whether the row at the start may match.
    pub includes_start: bool,
    /// Number of rows of the view.
    pub shown: u32,
}

impl SearchOrder {
    /// The position visited after `number` others, and whether the search has wrapped by then.
    const fn nth(self, number: u32) -> (u32, bool) {
        let number = if self.includes_start { number } else { number + 1 };
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

/// The first matching row among the first `max` of an order.
pub(in crate::tui::app) fn find(
    snapshot: &Snapshot,
    query: &Query,
    order: SearchOrder,
    max: u32,
    progress: &Progress,
) -> Hit {
    let facts = snapshot.facts();
    for number in 0..order.shown.min(max) {
        if number.is_multiple_of(256) && progress.is_cancelled() {
            return Hit::Stopped;
        }
        let (position, round) = order.nth(number);
        let row = snapshot.view.row_at(&snapshot.document, position);
        if row.is_some_and(|row| query.matches(&facts.of(row))) {
            return Hit::At(position, round);
        }
    }
    Hit::NotFound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_visited_once() {
        for shown in 1..8_u32 {
            for from in 0..shown {
                for forward in [true, false] {
                    for includes_start in [true, false] {
                        let order = SearchOrder { from, forward, includes_start, shown };
                        let mut seen: Vec<u32> = (0..shown).map(|number| order.nth(number).0).collect();
                        assert_eq!(seen.first() == Some(&from), includes_start || shown == 1, "{order:?}");
                        seen.sort_unstable();
                        assert_eq!(seen, (0..shown).collect::<Vec<_>>(), "{order:?}");
                    }
                }
            }
        }
    }
}
