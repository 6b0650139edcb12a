//! Searches for the next row that a query matches.

use super::super::state::Shared;
use super::super::state::find::{Hit, Order, find};
use super::super::state::outcome::JobOutcome;
use super::super::state::wanted::LastSearch;
use crate::document::query::Query;
use crate::progress::Progress;
use crate::tui::jobs::Kind;

/// Rows looked at on this thread before a search becomes a job.
const LOOKED_AT: u32 = 5_000;

/// Goes to the next or previous row that the last search finds.
pub(in crate::tui::app) fn search_again(shared: &mut Shared, forward: bool) {
    match shared.wanted.query.clone() {
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

/// Looks for a row from a position on, round the end; `here` counts the position itself.
pub(in crate::tui::app) fn search(shared: &mut Shared, query: Query, from: u32, forward: bool, here: bool) {
    let ticket = shared.jobs.next_ticket();
    shared.wanted.begin_search(ticket, LastSearch { query: Some(query.clone()), from, forward });
    let shown = shared.session.view().shown();
    let order = Order { from, forward, here, shown };
    let hit = find(shared.session.view(), &query, order, LOOKED_AT, &Progress::default());
    let is_found = hit != Hit::Nowhere || shown <= LOOKED_AT;
    if !is_found {
        shared.wanted.search_in_job();
    }
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Search, is_found, move |progress| JobOutcome::Found {
        ticket,
        hit: if is_found { hit } else { find(&snapshot, &query, order, u32::MAX, progress) },
    });
}
