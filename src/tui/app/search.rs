//! Search, filter and sort order.

use super::super::jobs::Kind;
use super::{App, JobOutcome, Mode};
use crate::document::query::Query;
use crate::document::view::ViewSpec;
use crate::progress::Progress;
use crate::session::snapshot::{Snapshot, vocabulary};

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

/// What the last search was for, where it began, and whether it went downwards.
#[derive(Debug, Default)]
pub(super) struct LastSearch {
    query: Option<Query>,
    from: u32,
    forward: bool,
}

/// Rows up to which the view is made at once, without a job.
const AT_ONCE: u32 = 5_000;
/// Rows looked at on this thread before a search becomes a job.
const LOOKED_AT: u32 = 5_000;

impl App {
    /// Shows the rows that a filter and sort keys make, at once or when a job has made them.
    pub(super) fn show_view(&mut self, spec: ViewSpec) {
        let ticket = self.next_ticket();
        self.spec_wanted = Some((ticket, spec.clone()));
        if self.session.document().row_limit() <= AT_ONCE {
            let version = self.session.view().version;
            let view = self.session.view().view_of(&spec, &Progress::default());
            return self.view_done(ticket, version, spec, view);
        }
        let snapshot = self.session.snapshot();
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| JobOutcome::View {
            ticket,
            version: snapshot.version,
            view: snapshot.view_of(&spec, progress),
            spec,
        });
        self.spawn(Kind::View, work);
    }

    /// What will be shown once the jobs that make it are done.
    pub(in crate::tui) fn spec(&self) -> &ViewSpec {
        self.spec_wanted.as_ref().map_or_else(|| self.session.spec(), |(_, spec)| spec)
    }

    pub(super) fn view_done(
        &mut self,
        ticket: u64,
        version: u64,
        spec: ViewSpec,
        view: Option<crate::document::view::View>,
    ) {
        if self.spec_wanted.as_ref().is_none_or(|(wanted, _)| *wanted != ticket) {
            return;
        }
        if version != self.session.view().version {
            // The document went on meanwhile: positions would be of another table.
            return self.show_view(spec);
        }
        self.spec_wanted = None;
        if let Some(view) = view {
            let before = self.session.view().view.clone();
            self.session.show(spec, view);
            self.follow_from(before);
        }
    }

    /// Keeps a query for `n` and `N`.
    pub(super) fn search_for(&mut self, query: Query) {
        self.sought = Some(query);
    }

    /// Goes to the next or previous row that the last search finds.
    pub(super) fn search_again(&mut self, forward: bool) {
        match self.sought.clone() {
            Some(query) => self.search(query, self.grid.position, forward, false),
            None => self.say("no search yet; / searches"),
        }
    }

    /// Goes to the next or previous row with an error or a warning.
    pub(super) fn next_finding(&mut self, forward: bool) {
        if let Ok(query) = Query::parse("severity>=warning", &vocabulary(self.session.view().clock)) {
            self.search(query, self.grid.position, forward, false);
        }
    }

    /// Looks for a row from a position on, round the end; `here` counts the position itself.
    pub(super) fn search(&mut self, query: Query, from: u32, forward: bool, here: bool) {
        let ticket = self.next_ticket();
        self.hit_wanted = ticket;
        self.last_search = LastSearch { query: Some(query.clone()), from, forward };
        let shown = self.session.shown();
        let order = Order { from, forward, here, shown };
        let hit = find(self.session.view(), &query, order, LOOKED_AT, &Progress::default());
        if hit != Hit::Nowhere || shown <= LOOKED_AT {
            return self.found(ticket, hit);
        }
        let snapshot = self.session.snapshot();
        let work = Box::new(move |progress: &Progress, _: &dyn Fn(_)| JobOutcome::Found {
            ticket,
            hit: find(&snapshot, &query, order, u32::MAX, progress),
        });
        self.seeking = true;
        self.spawn(Kind::Search, work);
    }

    pub(super) fn found(&mut self, ticket: u64, hit: Hit) {
        if ticket != self.hit_wanted {
            return;
        }
        self.seeking = false;
        match hit {
            Hit::At(position, round) => {
                self.go(position);
                if round && !matches!(self.mode, Mode::Line(_)) {
                    self.say(if self.last_search.forward {
                        "search wrapped to the top"
                    } else {
                        "search wrapped to the bottom"
                    });
                }
            }
            Hit::Nowhere => self.found_nothing(),
            Hit::Stopped => {}
        }
    }

    /// While a query is typed the cursor returns to where the search began, and the line says that there is no match.
    fn found_nothing(&mut self) {
        if let Mode::Line(edit) = &mut self.mode {
            edit.no_match = true;
            let from = edit.from;
            return self.go(from);
        }
        self.go(self.last_search.from);
        let query = self.last_search.query.as_ref().map(ToString::to_string).unwrap_or_default();
        self.say(format!("no match for “{}”", self.theme.charset.cut(&query, 60)));
    }
}

/// Which rows to look at, and in which order.
#[derive(Debug, Clone, Copy)]
struct Order {
    from: u32,
    forward: bool,
    here: bool,
    shown: u32,
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
fn find(snapshot: &Snapshot, query: &Query, order: Order, most: u32, progress: &Progress) -> Hit {
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
