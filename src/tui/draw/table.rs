//! Draws the table: column heads and the visible rows.

use super::canvas::Canvas;
use super::columns::{Columns, SIGN_COLUMNS};
use crate::document::RowState;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Field, Severity};
use crate::tui::prompt::Prompt;
use crate::tui::theme::Role;
use crate::tui::words::Line;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use std::borrow::Cow;

/// One row of the table, as texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Row {
    /// The row number in file order.
    pub number: u64,
    /// The change that the next save makes to it.
    pub state: State,
    /// Whether its text was repaired when its file was read.
    pub repaired: bool,
    /// The severity of its most severe finding.
    pub worst: Option<Severity>,
    /// Whether it is marked.
    pub marked: bool,
    /// The texts of the four fields, by [`Field::index`]; the loc without the shared origin.
    pub fields: [Option<String>; 4],
    /// Whether each field differs from the saved file.
    pub changed: [bool; 4],
    /// Whether each field has the same value in the row above.
    pub repeated: [bool; 4],
    /// The most severe error or warning of each field.
    pub faults: [Option<Severity>; 4],
    /// Extension badges.
    pub badges: String,
    /// The name of its file.
    pub file: String,
    /// Whether the row above is in the same file.
    pub same_file: bool,
    /// The texts of the data columns.
    pub data: Vec<String>,
}

/// [`RowState`] with a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(pub RowState);

impl Default for State {
    fn default() -> Self {
        Self(RowState::Clean)
    }
}

/// The content of the table.
#[derive(Debug, Default)]
pub(crate) struct Table<'a> {
    /// The columns.
    pub columns: Columns,
    /// The origin that all locs start with; it is shown in the head instead of in each row.
    pub origin: String,
    /// The fields that the view is sorted by, and whether in descending order.
    pub sorted: Vec<(Field, bool)>,
    /// The data columns.
    pub data: Vec<DataHead>,
    /// The rows on the screen.
    pub rows: Vec<Row>,
    /// The index of the row under the cursor, and the field.
    pub cursor: Option<(usize, Field)>,
    /// The prompt of the cell under the cursor, if it is being edited.
    pub editing: Option<&'a Prompt>,
    /// The lines shown if there are no rows.
    pub empty: Vec<Line>,
}

/// The head of a data column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DataHead {
    /// The name, with `@`.
    pub name: String,
    /// Whether its values are numbers, which are aligned at the right.
    pub is_number: bool,
    /// If the view is sorted by it, whether in descending order.
    pub sorted: Option<bool>,
}

/// Draws heads and rows. Returns the position of the caret if a cell is being edited.
pub(crate) fn draw(canvas: &mut Canvas, heads: Rect, rows: Rect, table: &Table) -> Option<Position> {
    draw_heads(canvas, heads, table);
    if table.rows.is_empty() {
        let top = rows.height / 3;
        let area = Rect {
            x: rows.x + SIGN_COLUMNS as u16 + 2,
            y: rows.y + top,
            width: rows.width.saturating_sub(SIGN_COLUMNS as u16 + 3),
            height: rows.height - top,
        };
        canvas.lines(area, &table.empty);
    }
    let mut caret = None;
    for (at, (row, y)) in table.rows.iter().zip(rows.y..rows.bottom()).enumerate() {
        let cursor = table.cursor.filter(|(on, _)| *on == at).map(|(_, field)| field);
        let area = Rect { y, height: 1, ..rows };
        draw_row(canvas, area, table, row, cursor);
        if let (Some(field), Some(prompt)) = (cursor, table.editing) {
            caret = draw_editor(canvas, area, table, field, prompt);
        }
    }
    caret
}

fn draw_heads(canvas: &mut Canvas, area: Rect, table: &Table) {
    if area.is_empty() {
        return;
    }
    let (charset, signs) = (canvas.charset(), canvas.theme.signs);
    let dim = canvas.theme.style(Role::Dim);
    let number = table.columns.number;
    if number.width > 0 {
        canvas.put(area.x + number.at as u16, area.y, &charset.fit_right("#", number.width), dim);
    }
    for field in Field::ALL {
        let column = table.columns.field(field);
        if column.width == 0 {
            continue;
        }
        let sorted =
            table.sorted.iter().find(|(by, _)| *by == field).map(|(_, down)| if *down { signs.down } else { signs.up });
        let on_it = table.cursor.is_some_and(|(_, on)| on == field);
        let style = canvas.theme.style(if on_it { Role::Accent } else { Role::Dim });
        // A column that is narrower than its name shows a short name.
        let short = match field {
            Field::Changefreq => "freq",
            Field::Priority => "prio",
            Field::Loc | Field::Lastmod => field.name(),
        };
        let word = if column.width < field.name().len() { short } else { field.name() };
        let mut name = word.to_owned();
        if let Some(sign) = sorted {
            // The arrow follows the name; if necessary the name is cut for it.
            name = charset
                .cut(&name, column.width.saturating_sub(2).max(1))
                .trim_end_matches(charset.ellipsis())
                .to_owned();
            name = format!("{name} {sign}");
        }
        let text = match field {
            Field::Priority => charset.fit_right(&name, column.width),
            _ => charset.fit(&name, column.width),
        };
        let text = if column.width < word.len() && sorted.is_none() {
            word.chars().take(column.width).collect()
        } else {
            text
        };
        canvas.put(area.x + column.at as u16, area.y, &text, style);
        if field == Field::Loc && !table.origin.is_empty() {
            let used = charset.width(name.trim_end()) + 2;
            if used + 8 <= column.width {
                let origin = charset.cut(&table.origin, column.width - used).into_owned();
                canvas.put(area.x + (column.at + used) as u16, area.y, &origin, dim);
            }
        }
    }
    for (column, head) in table.columns.data.iter().zip(&table.data).filter(|(column, _)| column.width > 0) {
        let sign = head.sorted.map(|down| format!(" {}", if down { signs.down } else { signs.up }));
        let room = column.width.saturating_sub(if sign.is_some() { 2 } else { 0 });
        let name = format!("{}{}", charset.cut(&head.name, room), sign.unwrap_or_default());
        let fit =
            if head.is_number { charset.fit_right(&name, column.width) } else { charset.fit(&name, column.width) };
        canvas.put(area.x + column.at as u16, area.y, &fit, dim);
    }
    for (column, name) in [(table.columns.badges, "ext"), (table.columns.file, "file")] {
        if column.width > 0 {
            canvas.put(area.x + column.at as u16, area.y, &charset.fit(name, column.width), dim);
        }
    }
}

fn draw_row(canvas: &mut Canvas, area: Rect, table: &Table, row: &Row, cursor: Option<Field>) {
    let theme = *canvas.theme;
    let (charset, signs) = (theme.charset, theme.signs);
    let mut sign = |at: u16, text: &str, role: Role| canvas.put(area.x + at, area.y, text, theme.style(role));
    if cursor.is_some() {
        sign(0, signs.cursor, Role::Accent);
    }
    if row.marked {
        sign(1, signs.marked, Role::Accent);
    }
    match row.state.0 {
        RowState::Clean if row.repaired => sign(2, signs.repaired, Role::Warning),
        RowState::Clean => {}
        RowState::Changed => sign(2, signs.changed, Role::Changed),
        RowState::Added => sign(2, signs.added, Role::Changed),
        RowState::Deleted => sign(2, signs.deleted, Role::Changed),
    }
    if let Some(severity) = row.worst {
        sign(3, theme.finding_sign(severity), severity.into());
    }
    let deleted = row.state.0 == RowState::Deleted;
    let columns = table.columns;
    if columns.number.width > 0 {
        let role = if cursor.is_some() { Role::Accent } else { Role::Dim };
        let text = charset.fit_right(&row.number.to_string(), columns.number.width);
        canvas.put(area.x + columns.number.at as u16, area.y, &text, theme.style(role));
    }
    for field in Field::ALL {
        let column = columns.field(field);
        // A cell being edited is drawn by its editor only; parts of the value would remain visible behind it.
        if column.width == 0 || (cursor == Some(field) && table.editing.is_some()) {
            continue;
        }
        let value = row.fields[field.index()].as_deref().unwrap_or_default();
        let mut style = if deleted {
            theme.style(Role::Deleted)
        } else if cursor.is_some() {
            theme.style(Role::Accent)
        } else if row.repeated[field.index()] && !row.changed[field.index()] {
            theme.style(Role::Dim)
        } else {
            Style::new()
        };
        if row.changed[field.index()] {
            style = style.patch(theme.style(Role::Changed));
        }
        let fault = row.faults[field.index()].filter(|_| !deleted);
        if let Some(severity) = fault {
            // Also underlined, because no meaning may depend on colour alone.
            style = style.patch(theme.style(severity.into())).add_modifier(Modifier::UNDERLINED);
        }
        // An empty cell with a finding shows the sign of an absent value, so that there is text to style.
        let value = if fault.is_some() && value.trim().is_empty() { signs.absent } else { value };
        let text = match field {
            Field::Loc => charset.fit_path(value, column.width),
            Field::Priority => charset.fit_right(&align_decimal_point(value, column.width), column.width),
            // The frequencies have different first letters; other values are not shortened to such a letter.
            Field::Changefreq if column.width == 1 && Changefreq::parse(value).is_some() => {
                charset.fit(value.get(..1).unwrap_or_default(), 1)
            }
            _ => charset.fit(value, column.width),
        };
        let (mut x, mut text) = (area.x + column.at as u16, text.as_str());
        if deleted || fault.is_some() || cursor == Some(field) {
            // Blanks are not crossed out or underlined, and the cursor covers only the text.
            let blanks = text.len() - text.trim_start().len();
            (x, text) = (x + blanks as u16, text.trim());
        }
        if cursor == Some(field) {
            style = theme.style(Role::Chosen);
            if fault.is_some() {
                style = style.add_modifier(Modifier::UNDERLINED);
            }
            if text.is_empty() {
                x = area.x + column.at as u16;
                text = "    ".get(..column.width.min(4)).unwrap_or_default();
            }
        }
        canvas.put(x, area.y, text, style);
    }
    if columns.badges.width > 0 {
        let text = charset.fit(&row.badges, columns.badges.width);
        canvas.put(area.x + columns.badges.at as u16, area.y, &text, theme.style(Role::Text));
    }
    for ((column, head), text) in columns.data.iter().zip(&table.data).zip(&row.data) {
        if column.width > 0 {
            let fit =
                if head.is_number { charset.fit_right(text, column.width) } else { charset.fit(text, column.width) };
            canvas.put(area.x + column.at as u16, area.y, &fit, theme.style(Role::Text));
        }
    }
    if columns.file.width > 0 {
        let role = if row.same_file { Role::Dim } else { Role::Text };
        let text = charset.elide_middle(&row.file, columns.file.width);
        canvas.put(area.x + columns.file.at as u16, area.y, &text, theme.style(role));
    }
}

/// Pads a number at the right so that decimal points are aligned for up to two decimals.
fn align_decimal_point(value: &str, width: usize) -> Cow<'_, str> {
    if value.len() > width {
        return Cow::Borrowed(value);
    }
    let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let blanks = if is_number { [3, 1, 0].get(decimals).copied().unwrap_or(0) } else { 0 };
    if value.len() + blanks > width { Cow::Borrowed(value) } else { format!("{value}{}", " ".repeat(blanks)).into() }
}

/// Draws the editor of a cell. The editor of a narrow cell extends to the right, over other columns.
fn draw_editor(canvas: &mut Canvas, area: Rect, table: &Table, field: Field, prompt: &Prompt) -> Option<Position> {
    let column = table.columns.field(field);
    if column.width == 0 {
        return None;
    }
    let charset = canvas.charset();
    let right = usize::from(area.width).saturating_sub(column.at);
    let needed = charset.width_within(prompt.text(), usize::from(area.width)) + 1;
    let width = needed.clamp(column.width, right.max(column.width).min(column.width.max(40)));
    let window = prompt.window(charset, width);
    let x = area.x + column.at as u16;
    let style = canvas.theme.style(Role::Text).add_modifier(Modifier::UNDERLINED);
    canvas.put(x, area.y, &charset.fit(&window.text, width), style);
    if prompt.has_inline_completion() {
        // Completions are short ASCII words of the format, so they need no cutting or escaping.
        let completion = prompt.text().get(prompt.caret()..).unwrap_or_default();
        let dim = canvas.theme.style(Role::Dim).add_modifier(Modifier::UNDERLINED);
        canvas.put(x + window.caret as u16, area.y, completion, dim);
    }
    Some(Position::new(x + window.caret as u16, area.y))
}

#[cfg(test)]
mod tests {
    use super::super::columns::{ColumnName, ContentWidths};
    use super::*;
    use crate::tui::text::Charset;
    use crate::tui::theme::{Scheme, Theme};
    use ratatui::buffer::Buffer;

    fn row(number: u64, fields: [&str; 4]) -> Row {
        Row {
            number,
            fields: fields.map(|text| (!text.is_empty()).then(|| text.to_owned())),
            file: "sitemap-1".into(),
            ..Row::default()
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row(17, ["/", "2026-11-18", "daily", "1.0"]),
            Row {
                state: State(RowState::Changed),
                badges: "img 3  hl 4".into(),
                changed: [false, true, false, false],
                ..row(18, ["/products/coral-prism-birch", "2026-11-02", "weekly", "0.2"])
            },
            Row {
                worst: Some(Severity::Error),
                ..row(19, ["/products/old summer sale", "2026-13-01", "weekly", "0.2"])
            },
            Row {
                worst: Some(Severity::Warning),
                ..row(20, ["/products/alpine-amber\u{202e}#reviews", "2026-10-30", "weekly", "0.1"])
            },
            Row {
                marked: true,
                state: State(RowState::Added),
                ..row(
                    21,
                    ["/blog/2026/autumn/walnut-opal-juniper-willow-thistle-and-more-of-it", "", "monthly", "0.20"],
                )
            },
            Row {
                marked: true,
                state: State(RowState::Deleted),
                ..row(22, ["/blog/2019/閉じた", "2019-04-01", "never", "0.0"])
            },
        ]
    }

    fn drawn(width: u16, theme: &Theme) -> String {
        let content = ContentWidths { number: 2, badges: 12, file: 9, ..ContentWidths::HEADS };
        let table = Table {
            columns: Columns::of(usize::from(width), content, &ColumnName::default_order(), None),
            origin: "https://www.example.com".into(),
            sorted: vec![(Field::Lastmod, true)],
            rows: rows(),
            cursor: Some((1, Field::Priority)),
            ..Table::default()
        };
        let area = Rect::new(0, 0, width, 8);
        let mut cells = Buffer::empty(area);
        let (heads, body) = (Rect { height: 1, ..area }, Rect { y: 1, height: 7, ..area });
        draw(&mut Canvas { cells: &mut cells, theme }, heads, body, &table);
        super::super::tests::text(&cells)
    }

    #[test]
    fn a_cell_being_edited_is_in_one_style() {
        for theme in
            [Theme::default(), Theme::new(Scheme::Light, Charset::Unicode), Theme::new(Scheme::Plain, Charset::Ascii)]
        {
            let area = Rect::new(0, 0, 60, 2);
            let prompt = Prompt::new("https://www.example.com/", Vec::new());
            let mut cells = Buffer::empty(area);
            let table = Table {
                columns: Columns::of(
                    60,
                    ContentWidths { number: 2, badges: 0, file: 0, ..ContentWidths::HEADS },
                    &ColumnName::default_order(),
                    None,
                ),
                rows: rows().into_iter().take(1).collect(),
                cursor: Some((0, Field::Loc)),
                editing: Some(&prompt),
                ..Table::default()
            };
            let (heads, body) = (Rect { height: 1, ..area }, Rect { y: 1, height: 1, ..area });
            let caret = draw(&mut Canvas { cells: &mut cells, theme: &theme }, heads, body, &table).unwrap();
            let at = table.columns.field(Field::Loc).at as u16;
            let styles: Vec<Style> = (at..caret.x).map(|x| cells[(x, 1)].style()).collect();
            assert!(styles.windows(2).all(|pair| pair[0] == pair[1]), "{styles:?}");
        }
    }

    #[test]
    fn wide() {
        insta::assert_snapshot!(drawn(110, &Theme::default()));
    }

    #[test]
    fn usual() {
        insta::assert_snapshot!(drawn(80, &Theme::default()));
    }

    #[test]
    fn narrow() {
        insta::assert_snapshot!(drawn(40, &Theme::default()));
    }

    #[test]
    fn ascii() {
        insta::assert_snapshot!(drawn(80, &Theme::new(Scheme::Plain, Charset::Ascii)));
    }
}
