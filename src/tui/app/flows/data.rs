//! Tables of other programs: reading them, and the list of their columns.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::add::{Add, ListSource};
use super::super::modes::items::{Item, blank, entry, heading, text};
use super::super::modes::list::{List, ListKind};
use super::super::operations::{recheck, view};
use super::super::state::Shared;
use super::super::state::new_urls::{NewUrl, check_urls};
use super::super::state::outcome::JobOutcome;
use super::super::state::request::Choice;
use crate::data::DataSet;
use crate::document::query::{Query, QueryError};
use crate::document::sort::{self, SortBy, SortKey, to_text};
use crate::document::view::ViewSpec;
use crate::session::command::{DataCommand, SourceDates, Tables};
use crate::session::data::{self, Coverage, MatchedUrls};
use crate::session::edit::EditError;
use crate::session::policy::Standard;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::Words;
use crate::words::{counted, grouped};
use std::sync::Arc;

const NO_DATA: &str = "no data is loaded; :data FILE joins a table by URL";

/// Executes `:data`.
pub(in crate::tui::app) fn command(app: &mut App, command: DataCommand) {
    let shared = &mut app.shared;
    if shared.session.is_loading() {
        return shared.show_error("the files are still being read; join data to them afterwards");
    }
    if shared.jobs.is_busy(Kind::Data) {
        return shared.show_error("tables are still being read; Esc stops reading");
    }
    let is_change = matches!(command, DataCommand::Read(_) | DataCommand::Off);
    if is_change && shared.jobs.is_busy(Kind::Probe) {
        return shared.show_error("a probe is running; Esc pauses it");
    }
    match command {
        DataCommand::Read(tables) => read(shared, tables),
        DataCommand::Dates(wanted) => dates(shared, wanted),
        DataCommand::Off if shared.session.view().data.is_none() => shared.show_note("no data is loaded"),
        DataCommand::Off => recheck::recheck(shared, Standard::Data(None)),
        DataCommand::List => list(shared),
        DataCommand::Missing => list_missing(shared),
    }
}

/// Reads tables and counts the rows that they cover, in a job.
fn read(shared: &mut Shared, tables: Tables) {
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Data, false, move |progress| {
        let found = data::read(&tables, &snapshot, progress);
        JobOutcome::DataRead(found.map(|found| {
            let (data, words) = found?;
            let coverage = MatchedUrls::of(&snapshot, &data, progress)?.coverage(&data);
            Some((data, format!("{words}; {}", unmatched(&coverage))))
        }))
    });
}

/// Reads the dates of source files in a job.
fn dates(shared: &mut Shared, wanted: SourceDates) {
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Data, false, move |progress| JobOutcome::DataRead(data::dates(&wanted, &snapshot, progress)));
}

/// The numbers of URLs without a match: `54 URLs without data, 12 not in the sitemap`.
fn unmatched(coverage: &Coverage) -> String {
    let unknown = counted(coverage.rows - coverage.known, "URL");
    format!("{unknown} without data, {} not in the sitemap", grouped(coverage.missing))
}

/// Joins the data that a job has read, and rechecks every row.
pub(in crate::tui::app) fn receive_data(shared: &mut Shared, read: Result<Option<(Arc<DataSet>, String)>, EditError>) {
    match read {
        Ok(Some(data)) => recheck::recheck_in_turn(shared, Standard::Data(Some(data))),
        Ok(None) => shared.show_note("stopped; no data was joined"),
        Err(refused) => shared.show_error(refused.to_string()),
    }
}

/// Filters and sorts again after the data has changed.
pub(in crate::tui::app) fn follow(shared: &mut Shared) {
    let spec = view::spec(shared).clone();
    let vocabulary = shared.session.view().vocabulary();
    let is_data = |key: &SortKey| matches!(key.by, SortBy::Data(_));
    let sort = spec.sort.iter().any(is_data).then(|| sort::parse(&to_text(&spec.sort), vocabulary.data));
    let filter = spec.filter.as_ref().filter(|filter| !filter.data_columns().is_empty());
    let filter = filter.map(|filter| Query::parse(&filter.to_string(), &vocabulary));
    if sort.is_none() && filter.is_none() {
        return;
    }
    let mut dropped = None;
    let sort = sort.map_or(spec.sort, |sort| {
        sort.unwrap_or_else(|error| {
            dropped = Some(format!("the order was dropped: {}", error.message));
            Vec::new()
        })
    });
    let filter = filter.map_or(spec.filter, |filter| {
        let lost = |error: QueryError| dropped = Some(format!("the filter was dropped: {}", error.message));
        filter.map_err(lost).ok()
    });
    view::show_view(shared, ViewSpec { filter, sort });
    if let Some(words) = dropped {
        shared.show_error(words);
    }
}

/// Shows or hides a data column.
pub(in crate::tui::app) fn toggle_column(shared: &mut Shared, name: &str) {
    let data = shared.session.view().data.clone();
    match shared.grid.toggle_data(name, data.as_ref()) {
        Ok(true) => shared.show_note(format!("the table shows @{name}; :sort @{name} sorts by it")),
        Ok(false) => shared.show_note(format!("the table no longer shows @{name}")),
        Err(words) => shared.show_error(words),
    }
}

/// Searches for the URLs of the data that no row has, in a job.
pub(in crate::tui::app) fn list_missing(shared: &mut Shared) {
    let Some(data) = shared.session.view().data.clone() else {
        return shared.show_note(NO_DATA);
    };
    let (snapshot, is_small) = (shared.session.snapshot(), shared.is_small());
    shared.jobs.run(Kind::Data, is_small, move |progress| {
        let missing = MatchedUrls::of(&snapshot, &data, progress).map(|met| met.missing(&data));
        JobOutcome::Missing(missing.map(|missing| {
            let (urls, objections): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
            check_urls(&snapshot, urls, |at, _| objections.get(at).cloned().flatten())
        }))
    });
}

/// Lists the missing URLs, unless another mode was opened.
pub(in crate::tui::app) fn show_missing(app: &mut App, urls: Option<Vec<NewUrl>>) {
    match urls {
        Some(urls) if urls.is_empty() => app.shared.show_note("every URL of the data is in the sitemap"),
        Some(urls) if app.modes.is_browsing() && app.shared.ensure_changeable() => {
            let anchor = app.shared.grid.row;
            app.open(Mode::Add(Add::from_list(ListSource::Data, urls, anchor, false)));
        }
        _ => {}
    }
}

/// Counts the rows that the data covers, for the list of columns.
fn list(shared: &mut Shared) {
    let Some(data) = shared.session.view().data.clone() else {
        return shared.show_note(NO_DATA);
    };
    let (snapshot, is_small) = (shared.session.snapshot(), shared.is_small());
    shared.jobs.run(Kind::Data, is_small, move |progress| {
        JobOutcome::Covered(MatchedUrls::of(&snapshot, &data, progress).map(|met| met.coverage(&data)))
    });
}

/// Shows the list of columns, unless another mode was opened.
pub(in crate::tui::app) fn show_coverage(app: &mut App, coverage: Option<Coverage>) {
    let (Some(coverage), true) = (coverage, app.modes.is_browsing()) else { return };
    let lines = lines(&app.shared, &coverage);
    app.open(Mode::List(List::new(ListKind::Data, lines)));
}

/// The lines with the tables, the coverage and the columns.
fn lines(shared: &Shared, coverage: &Coverage) -> Vec<Item> {
    let Some(data) = shared.session.view().data.as_deref() else { return Vec::new() };
    let mut lines = vec![heading("Tables")];
    for table in data.tables() {
        lines.push(text(Words::text(table.clone())));
    }
    lines.push(blank());
    lines.push(heading("URLs"));
    let count = |number: u64, words: &str| {
        Words::new().and(Role::Text, format!("{:>11}  ", grouped(number))).and(Role::Dim, words.to_owned())
    };
    lines.push(text(count(coverage.known, "URLs of the sitemap with data")));
    let unknown = coverage.rows - coverage.known;
    let words = count(unknown, "URLs of the sitemap without data");
    // A column with a value for every URL of the data selects the rows without data.
    let whole = coverage.columns.iter().find(|(.., rows)| *rows == coverage.known);
    lines.push(match whole.filter(|_| unknown > 0) {
        Some((name, ..)) => entry(words, Words::dim("show them"), Choice::Filter(format!("@{name}=none"))),
        None => text(words),
    });
    let words = count(coverage.missing, "URLs of the data that the sitemap lacks");
    lines.push(if coverage.missing > 0 {
        entry(words, Words::dim("choose which are added"), Choice::MissingUrls)
    } else {
        text(words)
    });
    lines.push(blank());
    lines.push(heading("Columns"));
    for (name, kind, rows) in &coverage.columns {
        let others = coverage.rows - rows;
        let others = if others > 0 { format!("{} without", grouped(others)) } else { String::new() };
        let words = Words::new()
            .and(Role::Text, format!("{:24}", format!("@{name}")))
            .and(Role::Dim, format!("{:15}", kind.words()))
            .and(Role::Text, format!("{:>14}", counted(*rows, "URL")));
        lines.push(entry(words, Words::dim(others), Choice::DataColumn(name.clone())));
    }
    lines
}
