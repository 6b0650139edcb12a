//! Handles the mouse and pasted text.

use super::modes::Mode;
use super::modes::add::{Add, lines_of};
use super::operations::cursor;
use super::state::jobs::Event;
use super::state::request::Request;
use super::{App, actions};
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::tui::command::Action;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// A click or the wheel.
pub(super) fn mouse(app: &mut App, mouse: MouseEvent) {
    match mouse.kind {
        MouseEventKind::ScrollDown => scroll_by_wheel(app, true),
        MouseEventKind::ScrollUp => scroll_by_wheel(app, false),
        MouseEventKind::Down(MouseButton::Left) => press_at(app, Position::new(mouse.column, mouse.row)),
        MouseEventKind::Drag(MouseButton::Left) if !std::mem::replace(&mut app.shared.mouse.is_explained, true) => {
            app.shared.show_note("to select text, hold Shift, or give the mouse to the terminal with F12");
        }
        _ => {}
    }
}

fn scroll_by_wheel(app: &mut App, down: bool) {
    match app.modes.current_mut() {
        Mode::List(list) => list.scroll(down),
        Mode::Changes(changes) => changes.scroll(down),
        Mode::Merge(merging) => merging.scroll(down),
        Mode::Table => cursor::scroll(&mut app.shared, down, 3),
        _ => {}
    }
}

/// The row and column at a click, as they were drawn.
pub(super) fn clicked(app: &App, event: &Event) -> Option<(RowId, Option<Field>)> {
    let Event::Mouse(mouse) = event else { return None };
    let rows = app.areas().rows;
    let inside = rows.contains(Position::new(mouse.column, mouse.row));
    let drawn = &app.shared.mouse.drawn_rows;
    let row = drawn.get(usize::from(mouse.row.checked_sub(rows.y)?)).copied().filter(|_| inside)?;
    Some((row, app.columns().field_at(usize::from(mouse.column.saturating_sub(rows.x)))))
}

fn press_at(app: &mut App, at: Position) {
    if !app.modes.is_browsing() {
        return;
    }
    app.modes.leave_details();
    let areas = app.areas();
    let field = app.columns().field_at(usize::from(at.x.saturating_sub(areas.rows.x)));
    if areas.rows.contains(at) {
        if let Some(row) = app.shared.mouse.drawn_rows.get(usize::from(at.y - areas.rows.y)).copied() {
            // A second click on the cell under the cursor edits it.
            let again = Some(row) == app.shared.grid.row && field == Some(app.shared.grid.field);
            cursor::go_to_clicked(&mut app.shared, row, field);
            if again {
                actions::run(app, Action::Edit, None);
            }
        }
    } else if areas.heads.contains(at)
        && let Some(field) = field
    {
        app.shared.grid.field = field;
        actions::run(app, Action::Sort, None);
    } else if areas.rule.contains(at) || areas.pane.contains(at) {
        app.shared.request(Request::Act(Action::Findings, None));
    }
}

/// Inserts pasted text into the open prompt, or else adds it as new URLs. It is never read as keys.
pub(super) fn paste(app: &mut App, text: &str) {
    let shared = &mut app.shared;
    let folded = match app.modes.current_mut() {
        Mode::Cell(edit) => edit.paste(text, lines_of(text), shared),
        Mode::Line(edit) => edit.paste(text, shared),
        Mode::Bulk(bulk) => bulk.paste(text, shared),
        Mode::Element(edit) => edit.paste(text, shared),
        Mode::Add(add) if add.list.is_empty() && !text.trim().contains(['\n', '\r']) => {
            add.paste(text, shared);
            false
        }
        Mode::Table | Mode::Details => {
            let row = shared.grid.row;
            return paste_list(app, text, row, false);
        }
        Mode::Add(add) => {
            let (anchor, before) = (add.anchor, add.before);
            app.modes.close_all();
            return paste_list(app, text, anchor, before);
        }
        Mode::List(_) | Mode::Changes(_) | Mode::Merge(_) | Mode::Ask(_) => false,
    };
    if folded {
        shared.show_note("line breaks in the paste became spaces");
    }
}

fn paste_list(app: &mut App, text: &str, anchor: Option<RowId>, before: bool) {
    if let Some(add) = Add::from_paste(&mut app.shared, lines_of(text), anchor, before) {
        app.open(Mode::Add(add));
    }
}
