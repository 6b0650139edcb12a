//! The details pane: its own cursor, and editing of fields and extensions in place.

use super::super::operations::edit::{change, set_rows};
use super::super::operations::row_details::row_details;
use super::super::state::Shared;
use super::super::state::request::{Choice, Request};
use super::table;
use crate::document::rows::RowSet;
use crate::protocol::extension::path::Path;
use crate::session::edit::Change;
use crate::tui::outline::Stop;
use crate::xml::extension_edit::ExtensionChange;
use crossterm::event::{KeyCode, KeyEvent};

/// Handles a key.
pub(in crate::tui::app) fn handle(key: KeyEvent, shared: &mut Shared) {
    if !shared.keymap.pending().is_empty() || !key.modifiers.is_empty() {
        return table::handle(key, shared);
    }
    let page = usize::from(shared.areas().detail.height.max(2)) / 2;
    let details = row_details(shared);
    let last = details.as_ref().map_or(0, super::super::operations::row_details::RowDetails::stops).saturating_sub(1);
    let at = shared.grid.detail.min(last);
    let stop = details.and_then(|details| details.stop(at, shared));
    match key.code {
        KeyCode::Char('j') | KeyCode::Down => shared.grid.detail = (at + 1).min(last),
        KeyCode::Char('k') | KeyCode::Up => shared.grid.detail = at.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => shared.grid.detail = (at + page).min(last),
        KeyCode::PageUp => shared.grid.detail = at.saturating_sub(page),
        KeyCode::Home => shared.grid.detail = 0,
        KeyCode::End => shared.grid.detail = last,
        KeyCode::Enter | KeyCode::Char('e' | 'i') | KeyCode::F(2) => edit(stop, shared),
        KeyCode::Char('a') => shared.request(match stop {
            Some(Stop::Element(path, _)) => add_into(&path),
            _ => Request::OpenElements(None),
        }),
        KeyCode::Char('o') => shared.request(Request::OpenElements(None)),
        KeyCode::Char('x') | KeyCode::Backspace | KeyCode::Delete => remove(stop, shared),
        KeyCode::Esc | KeyCode::F(6) | KeyCode::Char('q') | KeyCode::Tab => shared.request(Request::LeaveDetails),
        _ => table::handle(key, shared),
    }
}

fn edit(stop: Option<Stop>, shared: &mut Shared) {
    match stop {
        Some(Stop::Field(field)) => shared.request(Request::Choose(Choice::Cell(field))),
        // An element without values gets a new child.
        Some(Stop::Element(path, values)) if values.is_empty() => shared.request(add_into(&path)),
        Some(Stop::Element(path, values)) => shared.request(Request::EditElement(path, values)),
        Some(Stop::Text) | None => shared.show_note("values are edited above, in the list of fields and extensions"),
    }
}

/// Requests a new element below the one at the cursor, or beside it if it cannot have children.
fn add_into(path: &str) -> Request {
    let Ok(path) = Path::parse(path) else { return Request::OpenElements(None) };
    let mut steps = path.steps.clone();
    if path.element().is_some_and(|element| element.children.is_empty()) {
        // A child of the entry without children, such as a link, offers its attributes.
        if path.steps.len() == 1 {
            return Request::OpenElements(Some(Path { attribute: None, ..path }));
        }
        steps.pop();
    }
    let mut above = Path { steps, attribute: None, ..path };
    if let Some(last) = above.steps.last_mut() {
        // The number selects this element among others of its name.
        last.index.get_or_insert(1);
    }
    Request::OpenElements(Some(above))
}

fn remove(stop: Option<Stop>, shared: &mut Shared) {
    let Some(row) = shared.grid.row else { return };
    let rows = RowSet::from_iter([row.0]);
    match stop {
        Some(Stop::Field(field)) => set_rows(shared, rows, field, "none"),
        Some(Stop::Element(path, _)) => match Path::parse(&path) {
            Ok(path) => change(shared, Change::Extend { rows, changes: vec![ExtensionChange::Remove(path)] }),
            Err(why) => shared.show_error(why),
        },
        Some(Stop::Text) | None => shared.show_note("the cursor is on no value"),
    }
}
