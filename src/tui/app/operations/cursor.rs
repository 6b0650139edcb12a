//! Moves the cursor, marks rows, and determines the rows that an action applies to.

use super::super::state::Shared;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::{Field, Severity};
use crate::tui::words::Words;
use crate::words::{counted, grouped};

/// Scrolls the table, and moves the cursor by the same distance.
pub(in crate::tui::app) fn scroll(shared: &mut Shared, down: bool, by: u32) {
    let shown = shared.grid.shown(&shared.session);
    let last_top = shown.saturating_sub(shared.areas().page());
    let top = shared.grid.top;
    shared.grid.top = if down { top.saturating_add(by).min(last_top.max(top)) } else { top.saturating_sub(by) };
    shared.grid.step(&shared.session, down, by);
}

/// Moves the cursor to the next or previous visible column; false at the edge.
pub(in crate::tui::app) fn move_sideways(shared: &mut Shared, right: bool) -> bool {
    let field = shared.grid.field;
    let visible = shared.grid.columns(&shared.session, shared.areas().rows.width, Some(field)).shown();
    let at = visible.iter().position(|other| *other == field).unwrap_or(0);
    let next = if right { at.checked_add(1) } else { at.checked_sub(1) };
    match next.and_then(|next| visible.get(next)) {
        Some(field) => {
            shared.grid.field = *field;
            true
        }
        None => false,
    }
}

/// Moves to the first or last column.
pub(in crate::tui::app) fn move_to_edge(shared: &mut Shared, right: bool) {
    while move_sideways(shared, right) {}
}

/// Moves to the next cell, and at the end of a row to the next row's first.
pub(in crate::tui::app) fn next_cell(shared: &mut Shared, forward: bool) {
    if !move_sideways(shared, forward) {
        let before = shared.grid.position;
        shared.grid.step(&shared.session, forward, 1);
        if shared.grid.position != before {
            move_to_edge(shared, !forward);
        }
    }
}

/// Shows a note on the empty columns, which are hidden.
pub(in crate::tui::app) fn note_hidden_columns(shared: &mut Shared) {
    let hidden = shared.grid.content.hidden();
    let list = match hidden.as_slice() {
        _ if shared.grid.chosen || shared.session.document().lists_sitemaps() => return,
        [] => return,
        [one] => format!("{one} is empty"),
        [most @ .., last] => format!("{} and {last} are empty", most.join(", ")),
    };
    shared.show_note(format!("{list} in every row, so hidden; :columns all shows every column"));
}

/// The rows that an action applies to: the marked ones, else `count` rows from the cursor.
pub(in crate::tui::app) fn targets(shared: &mut Shared, count: Option<u32>) -> RowSet {
    end_range(shared);
    if count.is_none() && shared.session.view().marked() > 0 {
        return (*shared.session.view().marks).clone();
    }
    let from = shared.grid.position;
    let last =
        from.saturating_add(count.unwrap_or(1).saturating_sub(1)).min(shared.session.view().shown().saturating_sub(1));
    shared.session.view().rows_between(from, last)
}

/// Turns the range being marked into marks.
pub(in crate::tui::app) fn end_range(shared: &mut Shared) {
    if let Some(anchor) = shared.grid.anchor.take() {
        let rows = shared.session.view().rows_between(anchor, shared.grid.position);
        shared.session.mark(&rows, true);
    }
}

/// The position, in file order, of the first row of the next or previous file that has rows.
fn first_of_file(shared: &Shared, here: usize, next: bool) -> Option<u32> {
    let sitemaps = shared.session.document().sitemaps();
    let mut starts = Vec::with_capacity(sitemaps.len());
    let mut start = 0;
    for (file, sitemap) in sitemaps.iter().enumerate() {
        if !sitemap.rows.is_empty() {
            starts.push((file, start));
        }
        start += sitemap.rows.len() as u32;
    }
    let mut others = starts.into_iter().filter(|(file, _)| if next { *file > here } else { *file < here });
    if next { others.next() } else { others.next_back() }.map(|(_, start)| start)
}

/// Goes to the first row of the next or previous file.
pub(in crate::tui::app) fn go_to_adjacent_file(shared: &mut Shared, next: bool) {
    let Some(row) = shared.grid.row else { return };
    let here = shared.session.document().sitemap_of(row);
    let shown = shared.session.view().shown();
    let at = shared.grid.position;
    let other = |at: &u32| {
        shared.session.view().row_at(*at).is_some_and(|row| shared.session.document().sitemap_of(row) != here)
    };
    let found = if shared.session.view().view.is_file_order() {
        first_of_file(shared, here.index(), next)
    } else if next {
        (at..shown).find(other)
    } else {
        // Find the last row of the previous file, then its first.
        (0..at).rev().find(other).and_then(|end| {
            let file = shared.session.view().row_at(end).map(|row| shared.session.document().sitemap_of(row));
            let same = |at: &u32| {
                shared.session.view().row_at(*at).map(|row| shared.session.document().sitemap_of(row)) == file
            };
            (0..=end).rev().take_while(same).last()
        })
    };
    match found {
        Some(position) => shared.grid.go(&shared.session, position),
        None => shared.show_note(if next { "this is the last file" } else { "this is the first file" }),
    }
}

/// Goes to the row of a number in file order, or to the nearest one shown.
pub(in crate::tui::app) fn go_to_number(shared: &mut Shared, number: u32) {
    let shown = shared.session.view().shown();
    if shared.session.view().view.is_file_order() {
        return shared.grid.go(&shared.session, number.saturating_sub(1));
    }
    let at = (0..shown)
        .find(|at| shared.session.view().row_at(*at).is_some_and(|row| shared.session.view().number(row) == number));
    match at {
        Some(at) => shared.grid.go(&shared.session, at),
        None => shared.show_note(format!("row {number} is not shown", number = grouped(number.into()))),
    }
}

/// Marks or unmarks rows, and moves the cursor past them.
pub(in crate::tui::app) fn toggle_mark(shared: &mut Shared, count: Option<u32>) {
    end_range(shared);
    let from = shared.grid.position;
    let many = count.unwrap_or(1).max(1);
    let Some(row) = shared.grid.row else { return };
    let on = !shared.session.view().is_marked(row);
    let last = from.saturating_add(many - 1).min(shared.session.view().shown().saturating_sub(1));
    let rows: RowSet = shared.session.view().rows_between(from, last);
    shared.session.mark(&rows, on);
    shared.grid.step(&shared.session, true, many);
}

/// Shows a note with the number of marked rows.
pub(in crate::tui::app) fn note_marks(shared: &mut Shared) {
    let marked = shared.session.view().marked();
    shared.show_words(Words::text(format!("{} marked", counted(marked, "row"))), Severity::Note);
}

/// Moves the cursor to a row that was drawn, if it is still shown.
pub(in crate::tui::app) fn go_to_clicked(shared: &mut Shared, row: RowId, field: Option<Field>) {
    match shared.session.view().position_of(row) {
        Some(position) => {
            shared.grid.go(&shared.session, position);
            shared.grid.field = field.unwrap_or(shared.grid.field);
        }
        None => shared.show_note("that row is no longer shown"),
    }
}
