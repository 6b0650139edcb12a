//! Searches for the next row that a query matches.

use super::super::state::Shared;
use super::super::state::find::{Hit, SearchOrder, find};
use super::super::state::outcome::JobOutcome;
use super::super::state::requested_rows::LastSearch;
use crate::document::query::Query;
use crate::progress::Progress;
use crate::tui::jobs::Kind;

/// Maximum number of rows that are examined on this thread before a search becomes a job.
const MAX_ROWS_AT_ONCE: u32 = 5_000;

/// Goes to the next or previous match of the last search.
pub(in crate::tui::app) fn search_again(shared: &mut Shared, forward: bool) {
    match shared.requested_rows.query.clone() {
        Some(query) => search(shared, query, shared.grid.position, forward, false),
        None => shared.show_note("no search yet; / searches"),
    }
}

/// Goes to the next or previous row with an error or a warning.
pub(in crate::tui::app) fn next_finding(shared: &mut Shared, forward: bool) {
    if let Ok(query) = Query::parse("severity>=warning", &shared.session.view().vocabulary()) {
        search(shared, query, shared.grid.position, forward, false);
    }
}

/// Searches from a position, wrapping at the end; `includes_start`: the row at the position may match.
pub(in crate::tui::app) fn search(shared: &mut Shared, query: Query, from: u32, forward: bool, includes_start: bool) {
    let ticket = shared.jobs.next_ticket();
    shared.requested_rows.begin_search(ticket, LastSearch { query: Some(query.clone()), from, forward });
    let shown = shared.session.view().shown();
    let order = SearchOrder { from, forward, includes_start, shown };
    let hit = find(shared.session.view(), &query, order, MAX_ROWS_AT_ONCE, &Progress::default());
    let is_found = hit != Hit::NotFound || shown <= MAX_ROWS_AT_ONCE;
    if !is_found {
        shared.requested_rows.search_in_job();
    }
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Search, is_found, move |progress| JobOutcome::Found {
        ticket,
        hit: if is_found { hit } else { find(&snapshot, &query, order, u32::MAX, progress) },
    });
}
