//! Copies to the clipboard of the terminal, and adds the URLs copied last.

use super::super::state::Shared;
use super::super::state::jobs::Effect;
use super::cursor::targets;
use super::edit::change;
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::edit::Change;
use crate::session::edit::script_export;
use crate::words::counted;

/// Maximum bytes of a copy: the usual limit of terminals for OSC 52.
const MAX_COPY_BYTES: usize = 74_994;

/// Copies a text of each row that an action applies to.
pub(in crate::tui::app) fn copy(
    shared: &mut Shared,
    what: &str,
    count: Option<u32>,
    text: impl Fn(&Session, RowId) -> String,
) {
    let rows = targets(shared, count);
    let rows: Vec<RowId> = rows.iter().map(RowId).collect();
    let mut out = String::new();
    for row in &rows {
        out.push_str(&text(&shared.session, *row));
        out.push('\n');
        if out.len() > MAX_COPY_BYTES {
            return shared
                .show_error("too much for the clipboard of a terminal; `sited list` writes any number to a file");
        }
    }
    if rows.len() == 1 {
        out.pop();
    }
    shared.recent.copied =
        rows.iter().filter_map(|row| shared.session.view().cell(*row, Field::Loc)).map(Into::into).collect();
    shared.show_note(format!("{} sent to the terminal's clipboard", counted(rows.len() as u64, what)));
    shared.jobs.effect(Effect::Copy(out));
}

/// Copies the cell under the cursor.
pub(in crate::tui::app) fn copy_cell(shared: &mut Shared) {
    let Some(row) = shared.grid.row else { return };
    match shared.session.view().cell(row, shared.grid.field).map(std::borrow::Cow::into_owned) {
        Some(text) => {
            shared.show_note(format!("{} sent to the terminal's clipboard", shared.grid.field.name()));
            shared.jobs.effect(Effect::Copy(text));
        }
        None => shared.show_note("this cell is empty"),
    }
}

/// Copies the commands of all changes.
pub(in crate::tui::app) fn copy_script(shared: &mut Shared) {
    let lines = script_export::of_session(&shared.session);
    shared.show_note(format!("{} sent to the terminal's clipboard", counted(lines.len() as u64, "line")));
    shared.jobs.effect(Effect::Copy(lines.join("\n") + "\n"));
}

/// Adds the URLs copied last.
pub(in crate::tui::app) fn paste_rows(shared: &mut Shared, before: bool) {
    if shared.recent.copied.is_empty() {
        return shared.show_note("nothing copied yet; yu copies URLs, or paste with your terminal");
    }
    let locs = shared.recent.copied.clone();
    change(shared, Change::Insert { after: shared.grid.row, before, locs });
}

/// A row's fields with tabs between them.
pub(in crate::tui::app) fn row_text(session: &Session, row: RowId) -> String {
    let cells = Field::ALL.map(|field| session.view().cell(row, field).unwrap_or_default().replace(['\t', '\n'], " "));
    cells.join("\t").trim_end_matches('\t').to_owned()
}

/// An entry's XML without the whitespace before it.
pub(in crate::tui::app) fn row_xml(session: &Session, row: RowId) -> String {
    let (entry, text) = session.document().entry(row);
    String::from_utf8_lossy(text.get(entry.open as usize..).unwrap_or_default()).trim_end().to_owned()
}
