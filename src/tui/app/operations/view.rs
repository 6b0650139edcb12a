//! Filter and sort order: which rows are shown.

use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use crate::document::query::Query;
use crate::document::sort::{Column, SortBy, SortKey};
use crate::document::view::{View, ViewSpec};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::tui::jobs::Kind;

/// Filters and sorts the rows, at once or in a job; while files are loaded, those that are loaded, and all rows at the
/// end.
pub(in crate::tui::app) fn show_view(shared: &mut Shared, spec: ViewSpec) {
    show_data_columns(shared, &spec);
    if shared.session.is_loading() {
        shared.opening.view = Some(spec.clone());
        if shared.has_no_rows_yet() {
            if !spec.is_plain() {
                shared.show_note("no rows are loaded yet; the filter and the order apply when all are");
            }
            return;
        }
    }
    let ticket = shared.jobs.next_ticket();
    shared.requested_rows.view = Some((ticket, spec.clone()));
    if shared.is_small() {
        let version = shared.session.view().version;
        let view = shared.jobs.run_now(|| shared.session.view().view_of(&spec, &Progress::default()));
        return view_done(shared, ticket, version, spec, view);
    }
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::View, false, move |progress| JobOutcome::View {
        ticket,
        version: snapshot.version,
        view: snapshot.view_of(&spec, progress),
        spec,
    });
}

/// Shows the data columns that a filter or sort keys name, unless the columns were chosen by hand.
fn show_data_columns(shared: &mut Shared, spec: &ViewSpec) {
    if shared.grid.chosen {
        return;
    }
    let filtered = spec.filter.iter().flat_map(Query::data_columns);
    let sorted = spec.sort.iter().filter_map(|key| match &key.by {
        SortBy::Data(column) => Some(column.name().to_owned()),
        SortBy::Own(_) => None,
    });
    let data = shared.session.view().data.clone();
    for name in sorted.chain(filtered) {
        if !shared.grid.data.names().any(|shown| *shown == name) {
            // The maximum number of data columns may be reached.
            let _ = shared.grid.toggle_data(&name, data.as_ref());
        }
    }
}

/// The filter and sort keys of the view that is shown, being computed, or shown once the files are loaded.
pub(in crate::tui) fn spec(shared: &Shared) -> &ViewSpec {
    let requested = shared.requested_rows.view.as_ref().map(|(_, spec)| spec);
    let at_end = shared.opening.view.as_ref().filter(|_| shared.session.is_loading());
    requested.or(at_end).unwrap_or_else(|| shared.session.view().spec())
}

/// Drops the view that is being computed, and the one for the end of the load.
pub(in crate::tui::app) fn drop_requested(shared: &mut Shared) {
    shared.requested_rows.view = None;
    shared.opening.view = None;
}

pub(in crate::tui::app) fn view_done(
    shared: &mut Shared,
    ticket: u64,
    version: u64,
    spec: ViewSpec,
    view: Option<View>,
) {
    if shared.requested_rows.view.as_ref().is_none_or(|(wanted, _)| *wanted != ticket) {
        return;
    }
    if version != shared.session.view().version {
        // The document has changed since, and the positions with it.
        return show_view(shared, spec);
    }
    shared.requested_rows.view = None;
    if let Some(view) = view {
        let before = shared.session.view().view.clone();
        shared.session.show(spec, view);
        shared.grid.follow_from(&shared.session, before);
    }
}

/// Shows the rows that match a query, keeping the order.
pub(in crate::tui::app) fn filter_by(shared: &mut Shared, query: &str) {
    match Query::parse(query, &shared.session.view().vocabulary()) {
        Ok(query) => show_view(shared, ViewSpec { filter: Some(query), ..spec(shared).clone() }),
        Err(error) => shared.show_error(error.message),
    }
}

/// Narrows the filter to rows with the value at the cursor.
pub(in crate::tui::app) fn filter_by_value(shared: &mut Shared) {
    let Some(row) = shared.grid.row else { return };
    let field = shared.grid.field;
    let value = match shared.session.view().cell(row, field) {
        Some(value) => crate::document::query::scan::quoted(&value),
        None => "none".to_owned(),
    };
    let own = format!("{}={value}", field.name());
    let query = match &spec(shared).filter {
        Some(filter) => format!("({filter}) and {own}"),
        None => own,
    };
    filter_by(shared, &query);
}

/// Sorts by the column at the cursor: ascending, descending, file order.
pub(in crate::tui::app) fn cycle_sort(shared: &mut Shared) {
    let column = match shared.grid.field {
        Field::Loc => Column::Loc,
        Field::Lastmod => Column::Lastmod,
        Field::Changefreq => Column::Changefreq,
        Field::Priority => Column::Priority,
    };
    let by = SortBy::Own(column);
    let sort = match spec(shared).sort.first().filter(|key| key.by == by) {
        None => vec![SortKey { by, descending: false }],
        Some(key) if !key.descending => vec![SortKey { by, descending: true }],
        Some(_) => Vec::new(),
    };
    show_view(shared, ViewSpec { sort, ..spec(shared).clone() });
}

/// Shows all rows, keeping the order.
pub(in crate::tui::app) fn show_all(shared: &mut Shared) {
    show_view(shared, ViewSpec { filter: None, ..spec(shared).clone() });
}
