//! Row sets that are still being computed: the view, and the next hit of a search.

use super::find::Hit;
use crate::document::query::Query;
use crate::document::view::ViewSpec;

/// What the last search was for, where it began, and whether it went downwards.
#[derive(Debug, Default)]
pub(in crate::tui::app) struct LastSearch {
    /// What for.
    pub query: Option<Query>,
    /// The position where it began.
    pub from: u32,
    /// Whether it went downwards.
    pub forward: bool,
}

/// What was asked for.
#[derive(Debug, Default)]
pub(in crate::tui) struct WantedRows {
    /// The view that a job makes, and which request it is.
    pub(in crate::tui::app) view: Option<(u64, ViewSpec)>,
    /// What `n` and `N` look for.
    pub(in crate::tui::app) query: Option<Query>,
    /// The last search.
    pub(in crate::tui::app) last: LastSearch,
    /// Which search counts.
    ticket: u64,
    is_searching: bool,
}

impl WantedRows {
    /// Whether the rows on show are not yet those that were asked for.
    pub(in crate::tui::app) const fn is_any(&self) -> bool {
        self.view.is_some() || self.is_searching
    }

    /// A search begins; another one does not count any more.
    pub(in crate::tui::app) fn begin_search(&mut self, ticket: u64, last: LastSearch) {
        (self.ticket, self.last) = (ticket, last);
    }

    /// A job looks for the hit.
    pub(in crate::tui::app) const fn search_in_job(&mut self) {
        self.is_searching = true;
    }

    /// The search is given up.
    pub(in crate::tui::app) const fn stop_search(&mut self) {
        self.is_searching = false;
    }

    /// The hit of a search, if it is the one that counts.
    pub(in crate::tui::app) fn take_hit(&mut self, ticket: u64, hit: Hit) -> Option<Hit> {
        if ticket != self.ticket {
            return None;
        }
        self.is_searching = false;
        Some(hit)
    }
}
