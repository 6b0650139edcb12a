//! Requests whose rows are still being computed: the view, and the next hit of a search.

use super::find::Hit;
use crate::document::query::Query;
use crate::document::view::ViewSpec;

/// The last search.
#[derive(Debug, Default)]
pub(in crate::tui::app) struct LastSearch {
    /// The query.
    pub query: Option<Query>,
    /// The position at which it started.
    pub from: u32,
    /// Whether it went downwards.
    pub forward: bool,
}

/// The view and the search that were requested last.
#[derive(Debug, Default)]
pub(in crate::tui) struct RequestedRows {
    /// The view that a job computes, with its ticket.
    pub(in crate::tui::app) view: Option<(u64, ViewSpec)>,
    /// The query of `n` and `N`.
    pub(in crate::tui::app) query: Option<Query>,
    /// The last search.
    pub(in crate::tui::app) last: LastSearch,
    /// The ticket of the current search.
    ticket: u64,
    is_searching: bool,
}

impl RequestedRows {
    /// Whether the requested rows are not shown yet.
    pub(in crate::tui::app) const fn is_any(&self) -> bool {
        self.view.is_some() || self.is_searching
    }

    /// Starts a search; the result of an earlier one is dropped.
    pub(in crate::tui::app) fn begin_search(&mut self, ticket: u64, last: LastSearch) {
        (self.ticket, self.last) = (ticket, last);
    }

    /// The search continues in a job.
    pub(in crate::tui::app) const fn search_in_job(&mut self) {
        self.is_searching = true;
    }

    /// The search was cancelled.
    pub(in crate::tui::app) const fn stop_search(&mut self) {
        self.is_searching = false;
    }

    /// The hit, if it is that of the current search.
    pub(in crate::tui::app) fn take_hit(&mut self, ticket: u64, hit: Hit) -> Option<Hit> {
        if ticket != self.ticket {
            return None;
        }
        self.is_searching = false;
        Some(hit)
    }
}
