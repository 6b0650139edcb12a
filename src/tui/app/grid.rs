//! The cursor in the table: moves, scrolling, columns, marking a range.

use super::super::draw::columns::{Columns, Content, Name};
use super::super::show::badges;
use super::{App, large};
use crate::document::rows::{RowId, RowSet};
use crate::document::view::View;
use crate::protocol::Field;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Where the cursor is and what part of the view is on the screen.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Position of the cursor in the view.
    pub position: u32,
    /// The row there.
    pub row: Option<RowId>,
    /// Position of the first row on the screen.
    pub top: u32,
    /// Column of the cursor.
    pub field: Field,
    /// The row that a filter hid and the cursor left for that reason alone.
    pub hidden: Option<Hidden>,
    /// Where a range being marked starts.
    pub anchor: Option<u32>,
    /// How wide the columns of the open set are. It only grows while the set is open.
    pub content: Content,
    /// What [`Grid::content`] was measured of last.
    measured: Option<Measured>,
    /// The columns that may be shown, from left to right.
    pub order: Vec<Name>,
    /// Whether the user chose the columns, so that those without content are shown too.
    pub chosen: bool,
}

/// A state of the document, as far as widths of columns depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Measured {
    version: u64,
    rows: u32,
    is_loading: bool,
    first_rows: usize,
}

impl Grid {
    /// Forgets the widths of the set that was open.
    pub fn forget_widths(&mut self) {
        (self.content, self.measured) = (Content::default(), None);
    }
}

/// A row under the cursor that a filter has hidden: the cursor returns to it as soon as it is shown again, unless it was
/// moved meanwhile.
#[derive(Debug, Clone)]
pub struct Hidden {
    row: RowId,
    /// The row that the cursor is on instead.
    instead: Option<RowId>,
    /// A view that shows the row, and the version of the document that it was made from.
    view: View,
    version: u64,
    /// How far below the top of the screen it stood.
    offset: u32,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            position: 0,
            row: None,
            top: 0,
            field: Field::Loc,
            hidden: None,
            anchor: None,
            content: Content::default(),
            measured: None,
            order: Name::usual(),
            chosen: false,
        }
    }
}

/// Rows whose values decide how wide columns are, at most.
const SAMPLE_ROWS: u32 = 256;

/// The width of extension badges that no row of the sample has.
const UNKNOWN_BADGES: usize = "img 2000".len();

/// Bytes of entries that are looked at for that, at most.
const SAMPLE_BYTES: usize = 512 << 10;

/// Rows kept in sight above and below the cursor.
const MARGIN: u32 = 3;

impl App {
    /// The columns of the table now.
    pub(in crate::tui) fn columns(&self) -> Columns {
        // What is being typed is seen, whatever column it is in.
        let needed = if let super::Mode::Cell(edit) = &self.mode { Some(edit.field) } else { None };
        self.columns_with(needed)
    }

    fn columns_with(&self, needed: Option<Field>) -> Columns {
        let mut content = self.grid.content;
        if self.grid.chosen {
            content = content.max(Content::HEADS);
        } else if self.session.document().sitemaps().len() < 2 {
            content.file = 0;
        }
        if self.session.document().lists_sitemaps() {
            (content.changefreq, content.priority) = (0, 0);
            content.lastmod = content.lastmod.max(Content::HEADS.lastmod);
        }
        let content = needed.map_or(content, |field| content.with(field));
        Columns::of(usize::from(self.areas().rows.width), content, &self.grid.order, needed)
    }

    /// Rows of the screen, as positions of the view.
    pub(in crate::tui) fn window(&self) -> std::ops::Range<u32> {
        let end = (self.grid.top + self.areas().page()).min(self.session.shown());
        self.grid.top.min(end)..end
    }

    /// Moves the cursor to a position, or as near as there is one.
    pub(super) fn go(&mut self, position: u32) {
        self.grid.position = position.min(self.session.shown().saturating_sub(1));
        let row = self.session.row_at(self.grid.position);
        if self.grid.row != row {
            self.details.at = 0;
        }
        self.grid.row = row;
    }

    /// Moves the cursor by rows.
    pub(super) fn step(&mut self, down: bool, by: u32) {
        let at = self.grid.position;
        self.go(if down { at.saturating_add(by) } else { at.saturating_sub(by) });
    }

    /// Moves the screen and the cursor with it.
    pub(super) fn page(&mut self, down: bool, by: u32) {
        let shown = self.session.shown();
        let last_top = shown.saturating_sub(self.areas().page());
        let top = self.grid.top;
        self.grid.top = if down { top.saturating_add(by).min(last_top.max(top)) } else { top.saturating_sub(by) };
        self.step(down, by);
    }

    /// Moves the cursor to the next or previous column that is there; false at the edge.
    pub(super) fn side(&mut self, right: bool) -> bool {
        let visible = self.columns_with(Some(self.grid.field)).shown();
        let at = visible.iter().position(|field| *field == self.grid.field).unwrap_or(0);
        let next = if right { at.checked_add(1) } else { at.checked_sub(1) };
        match next.and_then(|next| visible.get(next)) {
            Some(field) => {
                self.grid.field = *field;
                true
            }
            None => false,
        }
    }

    /// Moves to the first or last column.
    pub(super) fn edge(&mut self, right: bool) {
        while self.side(right) {}
    }

    /// Moves to the next cell, and at the end of a row to the next row's first.
    pub(super) fn next_cell(&mut self, forward: bool) {
        if !self.side(forward) {
            let before = self.grid.position;
            self.step(forward, 1);
            if self.grid.position != before {
                self.edge(!forward);
            }
        }
    }

    /// After the view changed: the cursor stays with its row, or where it was.
    pub(super) fn follow(&mut self) {
        let position = self.grid.row.and_then(|row| self.session.position_of(row));
        let offset = self.grid.position.saturating_sub(self.grid.top);
        self.go(position.unwrap_or(self.grid.position));
        if position.is_some() {
            self.grid.top = self.grid.position.saturating_sub(offset);
        }
        self.grid.anchor = None;
    }

    /// After a filter or an order: the cursor stays with its row. Where that is not shown any more it goes to the nearest
    /// one, and comes back when it is.
    pub(super) fn follow_from(&mut self, before: View) {
        let version = self.session.view().version;
        let hidden = self.grid.hidden.take();
        let hidden = hidden.filter(|hidden| hidden.instead == self.grid.row && hidden.version == version);
        let hidden = hidden.or_else(|| {
            let offset = self.grid.position.saturating_sub(self.grid.top);
            Some(Hidden { row: self.grid.row?, instead: None, view: before, version, offset })
        });
        let Some(mut hidden) = hidden else { return self.follow() };
        self.grid.anchor = None;
        if let Some(position) = self.session.position_of(hidden.row) {
            self.go(position);
            self.grid.top = self.grid.position.saturating_sub(hidden.offset);
            return;
        }
        let view = &self.session.view().view;
        let nearest = view.nearest_to(self.session.document(), hidden.row, &hidden.view);
        self.go(nearest.unwrap_or_default());
        hidden.instead = self.grid.row;
        self.grid.hidden = Some(hidden);
    }

    /// Brings everything that follows from the state in line with it, at the end of each turn.
    pub(super) fn settle(&mut self) {
        let (shown, page) = (self.session.shown(), self.areas().page());
        let grid = &mut self.grid;
        grid.position = grid.position.min(shown.saturating_sub(1));
        let margin = MARGIN.min(page.saturating_sub(1) / 2);
        let highest = grid.position.saturating_sub(margin);
        let lowest = (grid.position + margin + 1).saturating_sub(page);
        grid.top = grid.top.max(lowest).min(highest).min(shown.saturating_sub(page));
        grid.row = self.session.row_at(grid.position);
        self.measure();
        let columns = self.columns();
        if columns.field(self.grid.field).width == 0 {
            self.grid.field = Field::Loc;
        }
    }

    /// Widens columns for what the set holds. They depend on the document alone, never on the rows on the screen, and never
    /// become narrower by themselves.
    fn measure(&mut self) {
        let document = self.session.document();
        let state = Measured {
            version: self.session.view().version,
            rows: document.row_limit(),
            is_loading: self.session.is_loading(),
            first_rows: self.beginning.len(),
        };
        let last = self.grid.measured;
        if last == Some(state) {
            return;
        }
        let mut content = Content { number: digits(state.rows.max(state.first_rows as u32)), ..Content::default() };
        content = content.max(self.content_of_set());
        // While parts come in, every doubling of the rows is enough.
        let grows = |last: &Measured| state.is_loading && last.is_loading && state.rows / 2 < last.rows;
        if last.as_ref().is_some_and(grows) && state.first_rows == 0 {
            self.grid.content = self.grid.content.max(content);
            return;
        }
        let mut sampled = self.content_of_sample(state.rows);
        if content.badges > 0 && sampled.badges == 0 {
            // Only few rows have extensions, or entries too large to be looked at here.
            sampled.badges = UNKNOWN_BADGES;
        }
        self.grid.content = self.grid.content.max(content).max(sampled);
        self.grid.measured = Some(state);
    }

    /// Which columns have content in any row.
    fn content_of_set(&self) -> Content {
        let heads = Content::HEADS;
        let presence = self.session.view().checks.set().presence();
        let width = |rows: u64, width: usize| if rows > 0 { width } else { 0 };
        let mut content = Content {
            number: 0,
            lastmod: width(presence.lastmod, heads.lastmod),
            changefreq: width(presence.changefreq, heads.changefreq),
            priority: width(presence.priority, heads.priority),
            badges: width(presence.extensions, heads.badges),
            file: 0,
        };
        if !self.session.is_loading() && self.session.urls() == 0 {
            // Nothing is known of the rows to come.
            content = Content { badges: content.badges, file: 0, ..heads };
        }
        for row in &self.beginning {
            for field in Field::ALL.into_iter().filter(|field| row[field.index()].is_some()) {
                content = content.with(field);
            }
        }
        content
    }

    /// The widths of values in some rows, evenly spread over the set, and of the names of its files.
    fn content_of_sample(&self, rows: u32) -> Content {
        let document = self.session.document();
        let charset = self.theme.charset;
        let mut content = Content::default();
        let step = rows.div_ceil(SAMPLE_ROWS).max(1) as usize;
        let mut bytes = 0;
        for row in (0..rows).step_by(step).map(RowId).chain(self.grid.row) {
            bytes += large::size(&self.session, row);
            if large::is_large(&self.session, row) || bytes > SAMPLE_BYTES {
                continue;
            }
            content.badges = content.badges.max(badges(document.extensions(row)).len());
            if let Some(lastmod) = document.value(row, Field::Lastmod) {
                content.lastmod = content.lastmod.max(charset.width(&lastmod));
            }
        }
        for row in &self.beginning {
            let lastmod = row[Field::Lastmod.index()].as_deref().unwrap_or_default();
            content.lastmod = content.lastmod.max(charset.width(lastmod));
        }
        let names = document.sitemaps().iter().take(200).map(|sitemap| charset.width(stem(&sitemap.name)));
        content.file = names.max().unwrap_or(0);
        content
    }

    /// Says which columns have nothing in them, and how to show them, at the right edge of the table.
    pub(super) fn say_hidden_columns(&mut self) {
        let hidden = self.grid.content.hidden();
        let list = match hidden.as_slice() {
            _ if self.grid.chosen || self.session.document().lists_sitemaps() => return,
            [] => return,
            [one] => format!("{one} is empty"),
            [most @ .., last] => format!("{} and {last} are empty", most.join(", ")),
        };
        self.say(format!("{list} in every row, so hidden; :columns all shows every column"));
    }

    /// The rows that an action is about: the marked ones, else as many as the count says from here on.
    pub(super) fn targets(&mut self, count: Option<u32>) -> RowSet {
        self.end_range();
        if count.is_none() && self.session.marked() > 0 {
            return (*self.session.view().marks).clone();
        }
        let from = self.grid.position;
        let last =
            from.saturating_add(count.unwrap_or(1).saturating_sub(1)).min(self.session.shown().saturating_sub(1));
        self.session.rows_between(from, last)
    }

    /// Turns the range being marked into marks.
    pub(super) fn end_range(&mut self) {
        if let Some(anchor) = self.grid.anchor.take() {
            let rows = self.session.rows_between(anchor, self.grid.position);
            self.session.mark(&rows, true);
        }
    }

    /// A click or the wheel.
    pub(super) fn click(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::ScrollDown => self.wheel(true),
            MouseEventKind::ScrollUp => self.wheel(false),
            MouseEventKind::Down(MouseButton::Left) => self.press_at(mouse.column, mouse.row),
            MouseEventKind::Drag(MouseButton::Left) if !std::mem::replace(&mut self.mouse_explained, true) => {
                self.say("to select text, hold Shift, or give the mouse to the terminal with F12");
            }
            _ => {}
        }
    }

    fn wheel(&mut self, down: bool) {
        match &mut self.mode {
            super::Mode::List(list) => list.scroll(down),
            super::Mode::Changes(changes) => changes.scroll(down),
            super::Mode::Merge(merging) => merging.scroll(down),
            super::Mode::Grid => self.page(down, 3),
            _ => {}
        }
    }

    /// The row and column that a click is about, as they were drawn.
    pub(super) fn clicked(&self, event: &super::Event) -> Option<(RowId, Option<Field>)> {
        let super::Event::Mouse(mouse) = event else { return None };
        let rows = self.areas().rows;
        let inside = rows.contains(ratatui::layout::Position::new(mouse.column, mouse.row));
        let row = self.seen.get(usize::from(mouse.row.checked_sub(rows.y)?)).copied().filter(|_| inside)?;
        Some((row, self.columns().field_at(usize::from(mouse.column.saturating_sub(rows.x)))))
    }

    /// Moves the cursor to a row that was drawn, if it is still shown.
    pub(super) fn go_to_clicked(&mut self, row: RowId, field: Option<Field>) {
        match self.session.position_of(row) {
            Some(position) => {
                self.go(position);
                self.grid.field = field.unwrap_or(self.grid.field);
            }
            None => self.say("the row that was there is not shown any more"),
        }
    }

    fn press_at(&mut self, x: u16, y: u16) {
        if !matches!(self.mode, super::Mode::Grid | super::Mode::Detail) {
            return;
        }
        self.leave_details();
        let areas = self.areas();
        let field = self.columns().field_at(usize::from(x.saturating_sub(areas.rows.x)));
        let inside = |area: ratatui::layout::Rect| area.contains(ratatui::layout::Position::new(x, y));
        if inside(areas.rows) {
            if let Some(row) = self.seen.get(usize::from(y - areas.rows.y)).copied() {
                // A second click on the cell under the cursor edits it.
                let again = Some(row) == self.grid.row && field == Some(self.grid.field);
                self.go_to_clicked(row, field);
                if again {
                    self.run(super::super::command::Action::Edit, None);
                }
            }
        } else if inside(areas.heads)
            && let Some(field) = field
        {
            self.grid.field = field;
            self.run(super::super::command::Action::Sort, None);
        } else if inside(areas.rule) || inside(areas.pane) {
            self.run(super::super::command::Action::Findings, None);
        }
    }
}

/// Decimal digits of a number.
fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A file's name without the endings that all of them have.
pub(in crate::tui) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".xml").unwrap_or(name)
}
