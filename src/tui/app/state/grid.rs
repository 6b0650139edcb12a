//! The grid: the cursor, the visible part of the view, and the column widths.

use super::data_columns::DataColumns;
use super::large;
use crate::data::DataSet;
use crate::document::rows::RowId;
use crate::document::view::View;
use crate::files::FirstRow;
use crate::protocol::Field;
use crate::session::Session;
use crate::tui::draw::columns::{ColumnName, Columns, ContentWidths};
use crate::tui::outline::badges;
use crate::tui::text::Charset;
use std::sync::Arc;

/// The position of the cursor, the visible part of the view, and the columns.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    /// Position of the cursor in the view.
    pub position: u32,
    /// The row under the cursor.
    pub row: Option<RowId>,
    /// Position of the first row on the screen.
    pub top: u32,
    /// Number of rows of [`Opening::first_rows`](super::Opening::first_rows).
    pub first_rows: u32,
    /// Column of the cursor.
    pub field: Field,
    /// The row that the cursor left because a filter hid it.
    pub hidden: Option<HiddenRow>,
    /// Position at which the range being marked starts.
    pub anchor: Option<u32>,
    /// The content widths of the columns. They never shrink while the set is open.
    pub content: ContentWidths,
    /// The state of the document that [`Grid::content`] was last measured for.
    measured: Option<Measured>,
    /// The selected columns, from left to right.
    pub order: Vec<ColumnName>,
    /// The data columns among them.
    pub data: DataColumns,
    /// Whether the user selected the columns; then columns without content are shown too.
    pub chosen: bool,
    /// The cursor stop in the details of the row.
    pub detail: usize,
}

/// The parts of the document's state that column widths depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Measured {
    version: u64,
    rows: u32,
    is_loading: bool,
    first_rows: usize,
}

/// A row that was under the cursor when a filter hid it. The cursor returns to it when it is shown again, unless the
/// cursor was moved since.
#[derive(Debug, Clone)]
pub(crate) struct HiddenRow {
    row: RowId,
    /// The row that the cursor is on instead.
    instead: Option<RowId>,
    /// A view that shows the row, and the version of the document that it was made from.
    view: View,
    version: u64,
    /// Number of rows between the top of the screen and the row.
    offset: u32,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            position: 0,
            row: None,
            top: 0,
            first_rows: 0,
            field: Field::Loc,
            hidden: None,
            anchor: None,
            content: ContentWidths::default(),
            measured: None,
            order: ColumnName::default_order(),
            data: DataColumns::default(),
            chosen: false,
            detail: 0,
        }
    }
}

/// Maximum number of rows whose values are measured for column widths.
const MAX_SAMPLE_ROWS: u32 = 256;

/// The width of extension badges if no row of the sample has any.
const UNKNOWN_BADGES_WIDTH: usize = "img 2000".len();

/// Maximum number of bytes of entries that are measured for column widths.
const MAX_SAMPLE_BYTES: usize = 512 << 10;

/// Number of rows that are kept visible above and below the cursor.
const SCROLL_MARGIN: u32 = 3;

impl Grid {
    /// Resets the widths for another set.
    pub(crate) fn reset_widths(&mut self) {
        (self.content, self.measured) = (ContentWidths::default(), None);
    }

    /// Lays out the columns for a table of this width; the column of `needed` is shown even if it has no content.
    pub(crate) fn columns(&self, session: &Session, width: u16, needed: Option<Field>) -> Columns {
        let mut content = self.content;
        if self.chosen {
            content = content.max(ContentWidths::HEADS);
        } else if session.document().sitemaps().len() < 2 {
            content.file = 0;
        }
        if session.document().lists_sitemaps() {
            (content.changefreq, content.priority) = (0, 0);
            content.lastmod = content.lastmod.max(ContentWidths::HEADS.lastmod);
        }
        content.data = self.data.widths(session);
        let content = needed.map_or(content, |field| content.with(field));
        Columns::of(usize::from(width), content, &self.order, needed)
    }

    /// Shows or hides a data column; returns true if it is shown now.
    ///
    /// # Errors
    ///
    /// There is no such column, or too many are shown; as a message.
    pub(in crate::tui::app) fn toggle_data(&mut self, name: &str, data: Option<&Arc<DataSet>>) -> Result<bool, String> {
        let (mut chosen, mut order) = (self.data.clone(), self.order.clone());
        let column = chosen.select(name, data)?;
        let is_new = !order.contains(&column);
        if is_new {
            order.push(column);
        } else {
            order.retain(|name| *name != column);
        }
        chosen.keep_only(&mut order);
        (self.data, self.order) = (chosen, order);
        Ok(is_new)
    }

    /// The number of rows in the view, or of first rows as long as it has none.
    pub(crate) fn shown(&self, session: &Session) -> u32 {
        Some(session.view().shown()).filter(|shown| *shown > 0).unwrap_or(self.first_rows)
    }

    /// The rows on the screen, as positions in the view.
    pub(crate) fn window(&self, session: &Session, page: u32) -> std::ops::Range<u32> {
        let end = (self.top + page).min(self.shown(session));
        self.top.min(end)..end
    }

    /// Moves the cursor to a position, or to the last row if the view is shorter.
    pub(crate) fn go(&mut self, session: &Session, position: u32) {
        self.position = position.min(self.shown(session).saturating_sub(1));
        let row = session.view().row_at(self.position);
        if self.row != row {
            self.detail = 0;
        }
        self.row = row;
    }

    /// Moves the cursor up or down by a number of rows.
    pub(crate) fn step(&mut self, session: &Session, down: bool, by: u32) {
        let at = self.position;
        self.go(session, if down { at.saturating_add(by) } else { at.saturating_sub(by) });
    }

    /// Moves the cursor to its row after the view has changed, or leaves it at its position if the row is not shown.
    pub(crate) fn follow(&mut self, session: &Session) {
        let position = self.row.and_then(|row| session.view().position_of(row));
        let offset = self.position.saturating_sub(self.top);
        self.go(session, position.unwrap_or(self.position));
        if position.is_some() {
            self.top = self.position.saturating_sub(offset);
        }
        self.anchor = None;
    }

    /// Moves the cursor to its row after the filter or the order has changed. If the row is not shown, moves it to the
    /// nearest one, and back when the row is shown again.
    pub(crate) fn follow_from(&mut self, session: &Session, before: View) {
        let version = session.view().version;
        let hidden = self.hidden.take();
        let hidden = hidden.filter(|hidden| hidden.instead == self.row && hidden.version == version);
        let hidden = hidden.or_else(|| {
            let offset = self.position.saturating_sub(self.top);
            Some(HiddenRow { row: self.row?, instead: None, view: before, version, offset })
        });
        let Some(mut hidden) = hidden else { return self.follow(session) };
        self.anchor = None;
        if let Some(position) = session.view().position_of(hidden.row) {
            self.go(session, position);
            self.top = self.position.saturating_sub(hidden.offset);
            return;
        }
        let nearest = session.view().view.nearest_to(session.document(), hidden.row, &hidden.view);
        self.go(session, nearest.unwrap_or_default());
        hidden.instead = self.row;
        self.hidden = Some(hidden);
    }

    /// Keeps the cursor within the view, and visible on the screen.
    pub(crate) fn clamp(&mut self, session: &Session, page: u32) {
        let shown = self.shown(session);
        self.position = self.position.min(shown.saturating_sub(1));
        let margin = SCROLL_MARGIN.min(page.saturating_sub(1) / 2);
        let highest = self.position.saturating_sub(margin);
        let lowest = (self.position + margin + 1).saturating_sub(page);
        self.top = self.top.max(lowest).min(highest).min(shown.saturating_sub(page));
        self.row = session.view().row_at(self.position);
    }

    /// Widens the columns for the content of the set. The widths depend on the document only, not on the rows on the
    /// screen, and never shrink.
    pub(crate) fn measure(&mut self, session: &Session, first_rows: &[FirstRow], charset: Charset) {
        self.data.measure(session, charset);
        let document = session.document();
        let state = Measured {
            version: session.view().version,
            rows: document.row_limit(),
            is_loading: session.is_loading(),
            first_rows: first_rows.len(),
        };
        let last = self.measured;
        if last == Some(state) {
            return;
        }
        let mut content =
            ContentWidths { number: digits(state.rows.max(state.first_rows as u32)), ..ContentWidths::default() };
        content = content.max(content_of_set(session, first_rows));
        // While files are being loaded, the sample is measured only when the number of rows has doubled.
        let grows = |last: &Measured| state.is_loading && last.is_loading && state.rows / 2 < last.rows;
        if last.as_ref().is_some_and(grows) && state.first_rows == 0 {
            self.content = self.content.max(content);
            return;
        }
        let mut sampled = content_of_sample(session, first_rows, self.row, charset);
        if content.badges > 0 && sampled.badges == 0 {
            // Few rows have extensions, or their entries are too large to be measured here.
            sampled.badges = UNKNOWN_BADGES_WIDTH;
        }
        self.content = self.content.max(content).max(sampled);
        self.measured = Some(state);
    }
}

/// The widths of the columns that have content in any row.
fn content_of_set(session: &Session, first_rows: &[FirstRow]) -> ContentWidths {
    let heads = ContentWidths::HEADS;
    let presence = session.view().checks.set().presence();
    let width = |rows: u64, width: usize| if rows > 0 { width } else { 0 };
    let mut content = ContentWidths {
        number: 0,
        lastmod: width(presence.lastmod, heads.lastmod),
        changefreq: width(presence.changefreq, heads.changefreq),
        priority: width(presence.priority, heads.priority),
        badges: width(presence.extensions, heads.badges),
        file: 0,
        data: ContentWidths::default().data,
    };
    if !session.is_loading() && session.view().urls() == 0 {
        // The set is empty, so no column is hidden for lack of content.
        content = ContentWidths { badges: content.badges, file: 0, ..heads };
    }
    for row in first_rows {
        for field in Field::ALL.into_iter().filter(|field| row[field.index()].is_some()) {
            content = content.with(field);
        }
    }
    content
}

/// The widths of the values in a sample of rows, evenly distributed over the set, and of its file names.
fn content_of_sample(
    session: &Session,
    first_rows: &[FirstRow],
    current: Option<RowId>,
    charset: Charset,
) -> ContentWidths {
    let document = session.document();
    let rows = document.row_limit();
    let mut content = ContentWidths::default();
    let step = rows.div_ceil(MAX_SAMPLE_ROWS).max(1) as usize;
    let mut bytes = 0;
    for row in (0..rows).step_by(step).map(RowId).chain(current) {
        bytes += large::size(session, row);
        if large::is_large(session, row) || bytes > MAX_SAMPLE_BYTES {
            continue;
        }
        content.badges = content.badges.max(badges(document.extensions(row)).len());
        if let Some(lastmod) = document.value(row, Field::Lastmod) {
            content.lastmod = content.lastmod.max(charset.width(&lastmod));
        }
    }
    for row in first_rows {
        let lastmod = row[Field::Lastmod.index()].as_deref().unwrap_or_default();
        content.lastmod = content.lastmod.max(charset.width(lastmod));
    }
    let names = document.sitemaps().iter().take(200).map(|sitemap| charset.width(stem(&sitemap.name)));
    content.file = names.max().unwrap_or(0);
    content
}

/// The number of decimal digits.
fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A file name without `.gz` and `.xml`.
pub(in crate::tui) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".xml").unwrap_or(name)
}
