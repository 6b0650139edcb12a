//! Shows the details of a row: decoded fields, extensions as a tree, and the XML with changed parts highlighted.
//!
//! For a large entry, only the lines on the screen are rendered.

use super::super::app::App;
use super::super::app::modes::Mode;
use super::super::app::operations::describe::verdict_words;
use super::super::app::operations::row_details::{RowDetails, row_details};
use super::super::app::state::Shared;
use super::super::app::state::data_columns::data_row;
use super::super::app::state::large::{self, ValueExcerpt};
use super::super::draw::panel::Panel;
use super::super::text::up_to;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::preview::element_lines;
use crate::document::rows::RowId;
use crate::protocol::verdict::{Ruling, namespace_verdicts};
use crate::session::explain::verdicts;
use crate::words::{grouped, size};
use crate::xml::names::FileKind;
use std::collections::VecDeque;

/// Maximum number of lines for a value that is shown only in part.
const MAX_CUT_LINES: usize = 8;

/// The lines above the extensions: the fields, the file, the data columns and the namespace.
#[derive(Default)]
struct Header {
    lines: Vec<Line>,
    /// The line index of each field that the cursor can stop at.
    stops: Vec<usize>,
}

/// Renders the details of one row.
struct Details<'a> {
    app: &'a App,
    row: RowDetails<'a>,
    header: Header,
    width: usize,
}

/// Returns the panel of the row under the cursor.
pub(super) fn panel(app: &App) -> Panel {
    let width = usize::from(app.areas().detail.width).saturating_sub(6).max(8);
    match row_details(&app.shared) {
        Some(row) => {
            let header = header(app, &row, width);
            Details { app, row, header, width }.panel()
        }
        None => Panel { title: Words::new().and(Role::Accent, "details").into(), ..Panel::default() },
    }
}

impl Details<'_> {
    /// Returns the lines of an outline item, and the index of the line that the cursor is on.
    fn item(&self, item: usize) -> (Vec<Line>, usize) {
        let Some(outline) = &self.row.outline else { return (Vec::new(), 0) };
        let theme = &self.app.shared.theme;
        let fault = outline.start_offset(item).and_then(|start_offset| self.row.element_faults.get(&start_offset));
        let sign = fault.map(|severity| (Role::from(*severity), theme.finding_sign(*severity)));
        let words = outline.words(item, theme.signs.branch, sign);
        let mut lines: Vec<Line> = Vec::new();
        lines.extend(outline.is_first(item).then(Line::default));
        let own = lines.len();
        let typed = self.typed(self.header.stops.len() + item);
        // The form replaces an element that is edited; the form of a new element is below the item.
        if typed.as_ref().is_none_or(|(.., is_new)| *is_new) {
            lines.extend(words.wrapped(theme.charset, self.width, 6).into_iter().map(Line::from));
        }
        let Some((form, at, _)) = typed else { return (lines, own) };
        let at = lines.len() + at;
        lines.extend(form);
        (lines, at)
    }

    /// Returns the form that is open at a cursor stop: its lines, the index of the current line, and whether the
    /// element is new. `None` if no form is open there.
    fn typed(&self, stop: usize) -> Option<(Vec<Line>, usize, bool)> {
        let Mode::Element(edit) = self.app.modes.current() else { return None };
        if self.app.shared.grid.detail.min(self.row.stops().saturating_sub(1)) != stop {
            return None;
        }
        let (lines, at) = element_lines(&self.app.shared, edit, self.width);
        Some((lines, at, edit.is_new))
    }

    fn panel(mut self) -> Panel {
        let title = Words::new().and(Role::Accent, "details").into();
        let at = self.app.shared.grid.detail.min(self.row.stops().saturating_sub(1));
        let at = Some(at).filter(|_| self.app.modes.has_details());
        let Some(outline) = &self.row.outline else {
            let entry = size(large::size(&self.app.shared.session, self.row.row) as u64);
            self.header.lines.push(Line::default());
            self.header.lines.push(Words::dim(format!("reading the entry, {entry}…")).into());
            let chosen = at.and_then(|at| self.header.stops.get(at)).copied();
            return Panel { title, lines: self.header.lines, chosen, top: 0, foot: Vec::new() };
        };
        if outline.bytes() > large::SMALL {
            return self.window(title, at);
        }
        let mut lines = std::mem::take(&mut self.header.lines);
        let mut chosen = at.and_then(|at| self.header.stops.get(at)).copied();
        let first = self.header.stops.len();
        if let Some((form, at, _)) = at.filter(|at| *at < first).and_then(|at| self.typed(at)) {
            chosen = Some(lines.len() + at);
            lines.extend(form);
        }
        for item in 0..self.row.items() {
            let (own, from) = self.item(item);
            if at == Some(first + item) {
                chosen = Some(lines.len() + from);
            }
            lines.extend(own);
        }
        Panel { title, lines, chosen, top: 0, foot: Vec::new() }
    }

    /// Returns the lines of a block, and the index of its main line. Block 0 is the header, the others are the items.
    fn block(&self, block: usize) -> (Vec<Line>, usize) {
        block.checked_sub(1).map_or_else(|| (self.header.lines.clone(), 0), |item| self.item(item))
    }

    /// Returns the panel with only the lines around the cursor that fit on the screen.
    fn window(&self, mut title: Line, at: Option<usize>) -> Panel {
        let height = usize::from(self.app.areas().detail.height).max(1);
        let (fields, blocks) = (self.header.stops.len(), self.row.items() + 1);
        let (mut top, mut line) = match at {
            Some(at) if at >= fields => (at - fields + 1, None),
            Some(at) => (0, self.header.stops.get(at).copied()),
            None => (0, None),
        };
        let (own, from) = self.block(top);
        let mut chosen = line.take().unwrap_or(from);
        let mut lines: VecDeque<Line> = own.into();
        let mut next = top + 1;
        let above = |top: &mut usize, chosen: &mut usize, lines: &mut VecDeque<Line>| {
            *top -= 1;
            let (block, _) = self.block(*top);
            *chosen += block.len();
            block.into_iter().rev().for_each(|line| lines.push_front(line));
        };
        while chosen < height && top > 0 {
            above(&mut top, &mut chosen, &mut lines);
        }
        while lines.len() < chosen + height && next < blocks {
            lines.extend(self.block(next).0);
            next += 1;
        }
        while lines.len() < height && top > 0 {
            above(&mut top, &mut chosen, &mut lines);
        }
        let count = grouped(self.row.stops() as u64);
        let start_offset =
            at.map_or_else(|| format!("{count} lines"), |at| format!("{} of {count}", grouped(at as u64 + 1)));
        title.right = Words::dim(start_offset);
        Panel { title, lines: lines.into(), chosen: at.map(|_| chosen), top: 0, foot: Vec::new() }
    }
}

/// Returns the lines of the data columns that have a value for the URL of a row.
fn data_lines(shared: &Shared, row: RowId, width: usize) -> Vec<Line> {
    let (data, charset) = (shared.session.view().data.as_deref(), shared.theme.charset);
    let Some((data, found)) = data.zip(data_row(&shared.session, &shared.large, row)) else { return Vec::new() };
    let names = || data.columns().iter().filter(|column| column.has(found)).map(|column| charset.width(column.name()));
    let indent = names().max().map_or(12, |widest| (widest + 2).clamp(12, 20));
    let lines = data.columns().iter().filter_map(|column| {
        let value = up_to(&column.text(found)?, large::SMALL).to_owned();
        let words = Words::dim(format!("{:indent$}", format!("@{} ", column.name()))).and(Role::Text, value);
        Some(words.wrapped_in(charset, width, indent, MAX_CUT_LINES).into_iter().map(Line::from))
    });
    std::iter::once(Line::default()).chain(lines.flatten()).collect()
}

fn header(app: &App, details: &RowDetails<'_>, width: usize) -> Header {
    let (shared, session, charset) = (&app.shared, &app.shared.session, app.shared.theme.charset);
    let (document, row) = (session.document(), details.row);
    let mut header = Header::default();
    let Some(summary) = details.summary.as_deref() else { return header };
    let wrapped = |words: Words, is_cut: bool, indent: usize| {
        let lines = if is_cut {
            words.wrapped_in(charset, width, indent, MAX_CUT_LINES)
        } else {
            words.wrapped(charset, width, indent)
        };
        lines.into_iter().map(Line::from).collect::<Vec<_>>()
    };
    let length_line = |len: usize, indent: usize| {
        Line::from(Words::dim(format!("{:indent$}{} bytes in all", "", grouped(len as u64))))
    };
    let [loc, ..] = &summary.cells;
    let text = loc.as_ref().map_or("", |loc| &*loc.front).to_owned();
    let is_cut = loc.as_ref().is_some_and(ValueExcerpt::is_cut);
    header.lines.extend(wrapped(Words::new().and(Role::Bold, text), is_cut, 0));
    header.lines.extend(loc.as_ref().filter(|_| is_cut).map(|loc| length_line(loc.len, 0)));
    header.lines.push(Line::default());
    for field in details.fields.iter().copied() {
        let at = field.index();
        let (Some(cell), Some(saved), Some(&changed)) =
            (summary.cells.get(at), summary.saved.get(at), summary.changed.get(at))
        else {
            continue;
        };
        let fault = details.faults[at];
        let role = if changed { Role::Changed } else { Role::Text };
        let mut words = Words::dim(format!("{:12}", field.name()));
        if let Some(severity) = fault {
            words.push(severity.into(), format!("{} ", shared.theme.finding_sign(severity)));
        }
        match cell {
            Some(value) => words.push(role, value.front.clone()),
            None => words.push(Role::Dim, "none"),
        }
        let is_cut = cell.as_ref().is_some_and(ValueExcerpt::is_cut);
        if changed && !is_cut {
            let was = saved.as_ref().map_or_else(|| "none".to_owned(), |saved| saved.front.clone());
            words.push(Role::Dim, format!("   was {was}"));
        }
        header.stops.push(header.lines.len());
        header.lines.extend(wrapped(words, is_cut, 12));
        header.lines.extend(cell.as_ref().filter(|_| is_cut).map(|cell| length_line(cell.len, 12)));
        // Verdicts are shown if at least one search engine rejects the value.
        let verdicts = cell.as_ref().and_then(|value| verdicts(field, &value.front));
        if let Some(verdicts) = verdicts.filter(|all| all.iter().any(|one| one.ruling == Ruling::Rejects)) {
            let words = Words::dim(format!("{:12}", "")).joined(verdict_words(shared, &verdicts));
            header.lines.extend(wrapped(words, false, 12));
        }
    }
    if let Some(sitemap) = document.sitemap(document.sitemap_of(row)) {
        let number = grouped(session.view().number(row).into());
        let words = Words::dim(format!("{:12}", "file")).and(Role::Text, sitemap.name.to_string());
        header.lines.push(words.and(Role::Dim, format!("   row {number} of the set")).into());
    }
    header.lines.extend(data_lines(shared, row, width));
    let uri = document.names(row).uri.as_deref().unwrap_or_default().to_owned();
    let verdicts = namespace_verdicts(&uri);
    if document.names(row).kind == FileKind::Urlset && verdicts.iter().any(|one| one.ruling == Ruling::Rejects) {
        let uri = if uri.is_empty() { "none".to_owned() } else { uri };
        let words = Words::dim(format!("{:12}", "namespace")).and(Role::Text, uri);
        header.lines.extend(words.wrapped_in(charset, width, 12, MAX_CUT_LINES).into_iter().map(Line::from));
        let words = Words::dim(format!("{:12}", "")).joined(verdict_words(shared, &verdicts));
        header.lines.extend(wrapped(words, false, 12));
    }
    header
}
