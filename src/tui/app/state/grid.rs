//! The grid: cursor, visible part of the view, and column widths.

use super::data_columns::DataColumns;
use super::large;
use crate::data::DataSet;
use crate::document::rows::RowId;
use crate::document::view::View;
use crate::files::FirstRow;
use crate::protocol::Field;
use crate::session::Session;
use crate::tui::draw::columns::{Columns, Content, Name};
use crate::tui::outline::badges;
use crate::tui::text::Charset;
use std::sync::Arc;

/// Where the cursor is and what part of the view is on the screen.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
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
    /// The data columns among them.
    pub data: DataColumns,
    /// Whether the user chose the columns, so that those without content are shown too.
    pub chosen: bool,
    /// Which line of the details of the row the cursor is on.
    pub detail: usize,
}

/// A state of the document, as far as widths of columns depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Measured {
    version: u64,
    rows: u32,
    is_loading: bool,
    first_rows: usize,
}

/// A row under the cursor that a filter has hidden: the cursor returns to it as soon as it is shown again, unless it was
/// moved meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Hidden {
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
            data: DataColumns::default(),
            chosen: false,
            detail: 0,
        }
    }
}

/// Rows whose values decide how wide columns are, at most.
const SAMPLE_ROWS: u32 = 256;

/// The width of extension badges that no row of the sample has.
const UNKNOWN_BADGES: usize = "img 2000".len();

/// Bytes of entries that are examined for that, at most.
const SAMPLE_BYTES: usize = 512 << 10;

/// Rows kept in sight above and below the cursor.
const MARGIN: u32 = 3;

impl Grid {
    /// Forgets the widths of the set that was open.
    pub(crate) fn forget_widths(&mut self) {
        (self.content, self.measured) = (Content::default(), None);
    }

    /// The columns that have a place in so many columns of the screen; `needed` is shown whatever it holds.
    pub(crate) fn columns(&self, session: &Session, width: u16, needed: Option<Field>) -> Columns {
        let mut content = self.content;
        if self.chosen {
            content = content.max(Content::HEADS);
        } else if session.document().sitemaps().len() < 2 {
            content.file = 0;
        }
        if session.document().lists_sitemaps() {
            (content.changefreq, content.priority) = (0, 0);
            content.lastmod = content.lastmod.max(Content::HEADS.lastmod);
        }
        content.data = self.data.widths(session);
        let content = needed.map_or(content, |field| content.with(field));
        Columns::of(usize::from(width), content, &self.order, needed)
    }

    /// Shows a data column, or hides it; says which.
    ///
    /// # Errors
    ///
    /// There is no such column, or no place for it; in words.
    pub(in crate::tui::app) fn toggle_data(&mut self, name: &str, data: Option<&Arc<DataSet>>) -> Result<bool, String> {
        let (mut chosen, mut order) = (self.data.clone(), self.order.clone());
        let column = chosen.choose(name, data)?;
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

    /// Rows of the screen, as positions of the view.
    pub(crate) fn window(&self, session: &Session, page: u32) -> std::ops::Range<u32> {
        let end = (self.top + page).min(session.view().shown());
        self.top.min(end)..end
    }

    /// Moves the cursor to a position, or as near as there is one.
    pub(crate) fn go(&mut self, session: &Session, position: u32) {
        self.position = position.min(session.view().shown().saturating_sub(1));
        let row = session.view().row_at(self.position);
        if self.row != row {
            self.detail = 0;
        }
        self.row = row;
    }

    /// Moves the cursor by rows.
    pub(crate) fn step(&mut self, session: &Session, down: bool, by: u32) {
        let at = self.position;
        self.go(session, if down { at.saturating_add(by) } else { at.saturating_sub(by) });
    }

    /// After the view changed: the cursor stays with its row, or where it was.
    pub(crate) fn follow(&mut self, session: &Session) {
        let position = self.row.and_then(|row| session.view().position_of(row));
        let offset = self.position.saturating_sub(self.top);
        self.go(session, position.unwrap_or(self.position));
        if position.is_some() {
            self.top = self.position.saturating_sub(offset);
        }
        self.anchor = None;
    }

    /// After a filter or an order: the cursor stays with its row. Where that is not shown any more it goes to the nearest
    /// one, and comes back when it is.
    pub(crate) fn follow_from(&mut self, session: &Session, before: View) {
        let version = session.view().version;
        let hidden = self.hidden.take();
        let hidden = hidden.filter(|hidden| hidden.instead == self.row && hidden.version == version);
        let hidden = hidden.or_else(|| {
            let offset = self.position.saturating_sub(self.top);
            Some(Hidden { row: self.row?, instead: None, view: before, version, offset })
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

    /// Keeps the cursor inside of the view, and in sight.
    pub(crate) fn clamp(&mut self, session: &Session, page: u32) {
        let shown = session.view().shown();
        self.position = self.position.min(shown.saturating_sub(1));
        let margin = MARGIN.min(page.saturating_sub(1) / 2);
        let highest = self.position.saturating_sub(margin);
        let lowest = (self.position + margin + 1).saturating_sub(page);
        self.top = self.top.max(lowest).min(highest).min(shown.saturating_sub(page));
        self.row = session.view().row_at(self.position);
    }

    /// Widens columns for what the set holds. They depend on the document alone, never on the rows on the screen, and
    /// never become narrower by themselves.
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
        let mut content = Content { number: digits(state.rows.max(state.first_rows as u32)), ..Content::default() };
        content = content.max(content_of_set(session, first_rows));
        // While parts come in, every doubling of the rows is enough.
        let grows = |last: &Measured| state.is_loading && last.is_loading && state.rows / 2 < last.rows;
        if last.as_ref().is_some_and(grows) && state.first_rows == 0 {
            self.content = self.content.max(content);
            return;
        }
        let mut sampled = content_of_sample(session, first_rows, self.row, charset);
        if content.badges > 0 && sampled.badges == 0 {
            // Only few rows have extensions, or entries too large to be examined here.
            sampled.badges = UNKNOWN_BADGES;
        }
        self.content = self.content.max(content).max(sampled);
        self.measured = Some(state);
    }
}

/// Which columns have content in any row.
fn content_of_set(session: &Session, first_rows: &[FirstRow]) -> Content {
    let heads = Content::HEADS;
    let presence = session.view().checks.set().presence();
    let width = |rows: u64, width: usize| if rows > 0 { width } else { 0 };
    let mut content = Content {
        number: 0,
        lastmod: width(presence.lastmod, heads.lastmod),
        changefreq: width(presence.changefreq, heads.changefreq),
        priority: width(presence.priority, heads.priority),
        badges: width(presence.extensions, heads.badges),
        file: 0,
        data: Content::default().data,
    };
    if !session.is_loading() && session.view().urls() == 0 {
        // Nothing is known of the rows to come.
        content = Content { badges: content.badges, file: 0, ..heads };
    }
    for row in first_rows {
        for field in Field::ALL.into_iter().filter(|field| row[field.index()].is_some()) {
            content = content.with(field);
        }
    }
    content
}

/// The widths of values in some rows, evenly spread over the set, and of the names of its files.
fn content_of_sample(session: &Session, first_rows: &[FirstRow], current: Option<RowId>, charset: Charset) -> Content {
    let document = session.document();
    let rows = document.row_limit();
    let mut content = Content::default();
    let step = rows.div_ceil(SAMPLE_ROWS).max(1) as usize;
    let mut bytes = 0;
    for row in (0..rows).step_by(step).map(RowId).chain(current) {
        bytes += large::size(session, row);
        if large::is_large(session, row) || bytes > SAMPLE_BYTES {
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

/// Decimal digits of a number.
fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A file's name without the endings that all of them have.
pub(in crate::tui) fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.strip_suffix(".xml").unwrap_or(name)
}
