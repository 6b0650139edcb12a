//! Draws a [`Screen`] into the cells of a frame.

pub(crate) mod canvas;
pub(crate) mod columns;
pub(crate) mod panel;
pub(crate) mod table;

use super::layout::Areas;
use super::prompt::Prompt;
use super::theme::{Role, Theme};
use super::words::{Line, Words};
use crate::words::{counted, grouped};
use canvas::Canvas;
use panel::Panel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use table::Table;

/// Everything that one frame shows.
#[derive(Debug, Default)]
pub(crate) struct Screen<'a> {
    /// The name, the counts and the state of the set.
    pub header: Line,
    /// The table of rows.
    pub table: Table<'a>,
    /// The findings of the current row and of the set, or the form of the mode.
    pub pane: Panel,
    /// The details of the current row.
    pub detail: Option<Panel>,
    /// A panel that covers the pane and, depending on its height, part of the table.
    pub overlay: Option<Panel>,
    /// The last line.
    pub footer: Footer<'a>,
}

/// The last line of the screen.
#[derive(Debug)]
pub(crate) enum Footer<'a> {
    /// Mode and keys, or a message.
    Words(Line),
    /// A prompt.
    Prompt {
        /// The words before the text.
        label: Words,
        /// The text.
        prompt: &'a Prompt,
        /// Words at the right edge, shown if there is room.
        right: Words,
    },
}

impl Default for Footer<'_> {
    fn default() -> Self {
        Self::Words(Line::default())
    }
}

/// Draws a frame. Returns the position of the caret if a prompt is open.
pub(crate) fn draw(cells: &mut Buffer, theme: &Theme, areas: &Areas, screen: &Screen) -> Option<Position> {
    let mut canvas = Canvas { cells, theme };
    if areas.is_too_small() {
        canvas.line(Rect { height: areas.all.height.min(1), ..areas.all }, &too_small_message(areas).into());
        return None;
    }
    canvas.line(with_margins(areas.header), &screen.header);
    let mut caret = None;
    if areas.rows.height > 0 {
        caret = table::draw(&mut canvas, areas.heads, areas.rows, &screen.table);
    }
    if let Some(detail) = &screen.detail {
        draw_detail(&mut canvas, areas, detail);
    }
    if areas.rule.height > 0 {
        let whole = Rect { height: areas.rule.height + areas.pane.height, ..areas.rule };
        panel::draw(&mut canvas, whole, &screen.pane);
    }
    if let Some(overlay) = &screen.overlay {
        let below = areas.footer.y;
        let most = below - areas.heads.y;
        let height = ((overlay.lines.len() + overlay.foot.len()) as u16).saturating_add(1).clamp(1, most);
        panel::draw(&mut canvas, Rect { y: below - height, height, ..areas.all }, overlay);
    }
    match &screen.footer {
        Footer::Words(line) => canvas.line(with_margins(areas.footer), line),
        Footer::Prompt { label, prompt, right } => {
            caret = Some(draw_prompt(&mut canvas, with_margins(areas.footer), label, prompt, right));
        }
    }
    caret
}

/// The area without one column at either edge.
fn with_margins(area: Rect) -> Rect {
    Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area }
}

fn too_small_message(areas: &Areas) -> Words {
    let width = areas.all.width;
    Words::text(match width {
        0..8 => "…".to_owned(),
        8..19 => "too small".to_owned(),
        _ => format!("{width}×{} is too small", areas.all.height),
    })
}

fn draw_detail(canvas: &mut Canvas, areas: &Areas, detail: &Panel) {
    let area = areas.detail;
    if area.is_empty() {
        return;
    }
    if area.width < areas.all.width {
        // Beside the table, a vertical rule divides them.
        canvas.clear(area);
        let dim = canvas.theme.style(Role::Dim);
        for y in area.y..area.bottom() {
            canvas.put(area.x, y, canvas.theme.signs.wall, dim);
        }
        let inner = Rect { x: area.x + 1, width: area.width - 1, ..area };
        let top = detail.scroll_offset(usize::from(inner.height));
        panel::draw_lines(canvas, inner, detail, top);
    } else {
        panel::draw(canvas, area, detail);
    }
}

fn draw_prompt(canvas: &mut Canvas, area: Rect, label: &Words, prompt: &Prompt, right: &Words) -> Position {
    let used = canvas.words((area.x, area.y), area.width / 2, label);
    let place = Rect { x: area.x + used, width: area.width - used, ..area };
    let charset = canvas.charset();
    let needed = charset.width_within(prompt.text(), usize::from(place.width)) + 1;
    let right_width = usize::from(canvas.width(right));
    let fits = right_width > 0 && needed + right_width + 3 <= usize::from(place.width);
    if fits {
        canvas.words((place.right() - right_width as u16, place.y), right_width as u16, right);
    }
    let window = prompt.window(charset, usize::from(place.width));
    canvas.put(place.x, place.y, &window.text, canvas.theme.style(Role::Text));
    Position::new((place.x + window.caret as u16).min(area.right()), place.y)
}

/// The number of findings by severity, with signs and words: `✗ 2 errors   ▲ 7 warnings   · 31 notes`.
pub(crate) fn finding_counts(theme: &Theme, [errors, warnings, notes]: [u64; 3]) -> Words {
    let mut words = Words::new();
    for (role, sign, count, noun) in [
        (Role::Error, theme.signs.error, errors, "error"),
        (Role::Warning, theme.signs.warning, warnings, "warning"),
        (Role::Note, theme.signs.note, notes, "note"),
    ] {
        if !words.is_empty() {
            words.push(Role::Text, "   ");
        }
        let role = if count == 0 { Role::Dim } else { role };
        words.push(role, format!("{sign} {}", counted(count, noun)));
    }
    words
}

/// The number of findings by severity, with signs only: `✗ 2  ▲ 7  · 31`.
pub(crate) fn short_finding_counts(theme: &Theme, [errors, warnings, notes]: [u64; 3]) -> Words {
    let mut words = Words::new();
    for (role, sign, count) in [
        (Role::Error, theme.signs.error, errors),
        (Role::Warning, theme.signs.warning, warnings),
        (Role::Note, theme.signs.note, notes),
    ] {
        let gap = if words.is_empty() { "" } else { "  " };
        let role = if count == 0 { Role::Dim } else { role };
        words.push(role, format!("{gap}{sign} {}", grouped(count)));
    }
    words
}

#[cfg(test)]
pub(in crate::tui) mod tests {
    use super::*;
    use crate::tui::layout::{LayoutRequest, areas};
    use proptest::prelude::*;

    /// The cells as text, without blanks at line ends; a wide character occupies two cells.
    pub(crate) fn text(cells: &Buffer) -> String {
        let mut out = String::new();
        for y in cells.area.y..cells.area.bottom() {
            let mut line = String::new();
            let mut skip = 0;
            for x in cells.area.x..cells.area.right() {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = cells[(x, y)].symbol();
                skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                line.push_str(symbol);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn panel(lines: usize) -> Panel {
        let lines = (0..lines).map(|_| Line::new(Words::text("left 日本"), Words::dim("right"))).collect();
        Panel {
            title: Line::new(Words::text("title"), Words::text("more")),
            lines,
            chosen: Some(0),
            top: 0,
            foot: Vec::new(),
        }
    }

    proptest! {
        /// At any size, drawing does not panic and the caret is inside the screen.
        #[test]
        fn every_size_can_be_drawn(width in 0_u16..260, height in 0_u16..90, tall: bool, wide: bool, lines in 0_usize..40) {
            let all = Rect::new(0, 0, width, height);
            let areas = areas(all, LayoutRequest { tall, detail: wide });
            let prompt = Prompt::new("some text that is rather long for a small window 日本", Vec::new());
            let rows = vec![table::Row { fields: [Some("/a/b".into()), None, None, None], ..table::Row::default() }; lines];
            let columns = columns::Columns::of(usize::from(areas.rows.width), columns::ContentWidths::HEADS, &columns::ColumnName::default_order(), None);
            let screen = Screen {
                header: Line::new(Words::text("header"), Words::text("right")),
                table: Table { columns, rows, ..Table::default() },
                pane: panel(lines),
                detail: wide.then(|| panel(lines)),
                overlay: tall.then(|| panel(lines)),
                footer: Footer::Prompt { label: Words::text(":"), prompt: &prompt, right: Words::dim("↵ apply") },
            };
            let mut cells = Buffer::empty(all);
            let caret = draw(&mut cells, &Theme::default(), &areas, &screen);
            if let Some(caret) = caret { prop_assert!(all.contains(caret), "{caret:?} in {all:?}"); }
        }
    }
}
