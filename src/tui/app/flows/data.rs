//! Tables of other programs: reading them, and the list of their columns.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::items::{Item, blank, entry, heading, text};
use super::super::modes::list::{List, ListKind};
use super::super::operations::{recheck, view};
use super::super::state::Shared;
use super::super::state::outcome::JobOutcome;
use super::super::state::request::Choice;
use crate::data::DataSet;
use crate::document::query::Query;
use crate::document::view::ViewSpec;
use crate::session::command::{DataCommand, Tables};
use crate::session::data::{self, Coverage, Met};
use crate::session::edit::EditError;
use crate::session::policy::Standard;
use crate::tui::jobs::Kind;
use crate::tui::theme::Role;
use crate::tui::words::Words;
use crate::words::{counted, grouped};
use std::sync::Arc;

/// Does what `:data` says.
pub(in crate::tui::app) fn command(app: &mut App, command: DataCommand) {
    let shared = &mut app.shared;
    if shared.session.is_loading() {
        return shared.fail("the files are still being read; join data to them afterwards");
    }
    if shared.jobs.is_busy(Kind::Data) {
        return shared.fail("tables are still being read; Esc stops that");
    }
    match command {
        DataCommand::Read(tables) => read(shared, tables),
        DataCommand::Off if shared.session.view().data.is_none() => shared.say("no data is loaded"),
        DataCommand::Off => recheck::recheck(shared, Standard::Data(None)),
        DataCommand::List | DataCommand::Missing => list(shared),
    }
}

/// Reads tables in a job; which rows they know is counted there too.
fn read(shared: &mut Shared, tables: Tables) {
    let snapshot = shared.session.snapshot();
    shared.jobs.run(Kind::Data, false, move |progress| {
        let found = data::read(&tables, &snapshot, progress);
        JobOutcome::DataRead(found.map(|found| {
            let (data, words) = found?;
            let coverage = Met::of(&snapshot, &data, progress)?.coverage(&data);
            Some((data, format!("{words}; {}", unmatched(&coverage))))
        }))
    });
}

/// What does not match, both ways: `54 URLs without data, 12 not in the sitemap`.
fn unmatched(coverage: &Coverage) -> String {
    let unknown = counted(coverage.rows - coverage.known, "URL");
    format!("{unknown} without data, {} not in the sitemap", grouped(coverage.missing))
}

/// The tables are read: every row is checked for what they say.
pub(in crate::tui::app) fn data_read(shared: &mut Shared, read: Result<Option<(Arc<DataSet>, String)>, EditError>) {
    match read {
        Ok(Some(data)) => recheck::recheck_in_turn(shared, Standard::Data(Some(data))),
        Ok(None) => shared.say("stopped; no data was joined"),
        Err(refused) => shared.fail(refused.to_string()),
    }
}

/// The rows are checked for other data: what is shown by its columns is found again.
pub(in crate::tui::app) fn follow(shared: &mut Shared) {
    let spec = view::spec(shared).clone();
    let Some(filter) = spec.filter.as_ref().filter(|filter| filter.names_data()) else { return };
    match Query::parse(&filter.to_string(), &shared.session.view().vocabulary()) {
        Ok(filter) => view::show_view(shared, ViewSpec { filter: Some(filter), ..spec }),
        Err(error) => {
            view::show_view(shared, ViewSpec { filter: None, ..spec });
            shared.fail(format!("the filter was dropped: {}", error.message));
        }
    }
}

/// Counts which rows the data knows, for the list of columns.
fn list(shared: &mut Shared) {
    let Some(data) = shared.session.view().data.clone() else {
        return shared.say("no data is loaded; :data FILE joins a table by URL");
    };
    let (snapshot, is_small) = (shared.session.snapshot(), shared.is_small());
    shared.jobs.run(Kind::Data, is_small, move |progress| {
        JobOutcome::Covered(Met::of(&snapshot, &data, progress).map(|met| met.coverage(&data)))
    });
}

/// The rows are counted: the list is shown, unless something else is being done by now.
pub(in crate::tui::app) fn covered(app: &mut App, coverage: Option<Coverage>) {
    let (Some(coverage), true) = (coverage, app.modes.is_calm()) else { return };
    let lines = lines(&app.shared, &coverage);
    app.open(Mode::List(List::new(ListKind::Data, lines)));
}

/// The tables, what does not match, and the columns.
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
    // Where one column has a value for every URL of the data, it tells the others apart.
    let whole = coverage.columns.iter().find(|(.., rows)| *rows == coverage.known);
    lines.push(match whole.filter(|_| unknown > 0) {
        Some((name, ..)) => entry(words, Words::dim("show them"), Choice::Filter(format!("@{name}=none"))),
        None => text(words),
    });
    lines.push(text(count(coverage.missing, "URLs of the data that the sitemap lacks")));
    lines.push(blank());
    lines.push(heading("Columns"));
    for (name, kind, rows) in &coverage.columns {
        let others = coverage.rows - rows;
        let others = if others > 0 { format!("{} without", grouped(others)) } else { String::new() };
        let words = Words::new()
            .and(Role::Text, format!("{:24}", format!("@{name}")))
            .and(Role::Dim, format!("{:15}", kind.words()))
            .and(Role::Text, format!("{:>14}", counted(*rows, "URL")));
        lines.push(entry(words, Words::dim(others), Choice::Line(format!("filter @{name}"))));
    }
    lines
}
