//! Draws words into the frame: cut to the width, with control characters made visible, styled by role.
//!
//! ratatui's `Paragraph`, `List` and `Table` are not used: they cut without an ellipsis, measure the whole value even
//! if one line is shown, and have no right side that is left out if space is short. Gauges and rules are part of a line
//! of words; a `Gauge` or a `Block` would need a separate area. Blanks are drawn by ratatui's [`Clear`].

use crate::tui::text::{Charset, start};
use crate::tui::theme::{Role, Theme};
use crate::tui::words::{Line, Words};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};
use std::borrow::Cow;

/// The cells of a frame and the theme to draw with.
pub(crate) struct Canvas<'a> {
    /// The cells.
    pub cells: &'a mut Buffer,
    /// The theme.
    pub theme: &'a Theme,
}

impl Canvas<'_> {
    /// The charset of the terminal.
    pub(crate) const fn charset(&self) -> Charset {
        self.theme.charset
    }

    /// Draws text that already has the required width. Parts outside of the frame are dropped.
    pub(crate) fn put(&mut self, x: u16, y: u16, text: &str, style: Style) {
        let area = self.cells.area;
        if y < area.bottom() && x < area.right() && y >= area.y && x >= area.x {
            self.cells.set_stringn(x, y, text, usize::from(area.right() - x), style);
        }
    }

    /// Draws words from a position on, in at most `width` columns; longer words are cut with an ellipsis.
    /// Returns the number of columns used.
    pub(crate) fn words(&mut self, (x, y): (u16, u16), width: u16, words: &Words) -> u16 {
        let mut used = 0;
        let last = words.pieces().len().saturating_sub(1);
        for (at, (role, text)) in words.pieces().iter().enumerate() {
            let text = &ascii_key_names(self.charset(), *role, text);
            let room = usize::from(width - used);
            let whole = self.charset().width_within(text, room);
            let cut = if at < last && whole >= room {
                // The next piece does not fit: this one ends with the ellipsis.
                self.charset().cut(&format!("{}.", start(text, room)), room).into_owned()
            } else {
                self.charset().cut(text, room).into_owned()
            };
            self.put(x + used, y, &cut, self.theme.style(*role));
            used += self.charset().width(&cut).min(room) as u16;
            if used >= width {
                break;
            }
        }
        used
    }

    /// The number of columns of words; for words wider than the frame, some number above its width.
    pub(crate) fn width(&self, words: &Words) -> u16 {
        let (charset, max_width) = (self.charset(), usize::from(self.cells.area.width));
        let pieces = words.pieces().iter();
        let width = pieces.map(|(role, text)| charset.width_within(&ascii_key_names(charset, *role, text), max_width));
        width.sum::<usize>().min(usize::from(u16::MAX)) as u16
    }

    /// Draws a line: the left words, and the right words if a gap of two columns remains between them.
    pub(crate) fn line(&mut self, area: Rect, line: &Line) {
        if area.is_empty() {
            return;
        }
        let (left, right) = (self.width(&line.left), self.width(&line.right));
        let fits = right > 0 && left.saturating_add(right).saturating_add(2) <= area.width;
        let width = if fits { area.width - right - 2 } else { area.width };
        self.words((area.x, area.y), width, &line.left);
        if fits {
            self.words((area.right() - right, area.y), right, &line.right);
        }
    }

    /// Draws lines from the top of an area; lines that do not fit are left out.
    pub(crate) fn lines<'l>(&mut self, area: Rect, lines: impl IntoIterator<Item = &'l Line>) {
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            self.line(Rect { y, height: 1, ..area }, line);
        }
    }

    /// Draws a thin rule across the first line of an area, with words on it.
    pub(crate) fn rule(&mut self, area: Rect, line: &Line) {
        if area.is_empty() {
            return;
        }
        let dim = self.theme.style(Role::Dim);
        self.put(area.x, area.y, &self.theme.signs.rule.repeat(usize::from(area.width)), dim);
        let spaced = |words: &Words| {
            let mut out = Words::new();
            if !words.is_empty() {
                out.push(Role::Text, " ");
                out.append(words.clone());
                out.push(Role::Text, " ");
            }
            out
        };
        if area.width > 4 {
            let inner = Rect { x: area.x + 2, width: area.width - 4, ..area };
            self.line(inner, &Line::new(spaced(&line.left), spaced(&line.right)));
        }
    }

    /// Fills an area with blanks.
    pub(crate) fn clear(&mut self, area: Rect) {
        Clear.render(area.intersection(self.cells.area), self.cells);
    }
}

/// Replaces the symbols of keys by names if the terminal shows only ASCII. Values are not replaced.
fn ascii_key_names(charset: Charset, role: Role, text: &str) -> Cow<'_, str> {
    if charset == Charset::Unicode || !matches!(role, Role::Key | Role::Mode) || text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let names = [("↵", "Enter"), ("↑", "Up"), ("↓", "Down"), ("←", "Left"), ("→", "Right"), ("…", "...")];
    Cow::Owned(names.iter().fold(text.to_owned(), |text, (sign, name)| text.replace(sign, name)))
}

/// Returns a gauge of `cells` cells between its ends, filled to `part`, a fraction from 0 to 1.
pub(crate) fn gauge(theme: &Theme, cells: usize, part: f64) -> Words {
    let part = part.clamp(0.0, 1.0);
    let eighths = (part * cells as f64 * 8.0).round() as usize;
    // A part above 0 fills at least an eighth of a cell.
    let eighths = if part > 0.0 { eighths.max(1) } else { eighths };
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut bar = theme.signs.full.repeat(full);
    let mut used = full;
    if rest > 0 && used < cells {
        match theme.charset {
            Charset::Unicode => bar.extend(char::from_u32(0x2590 - rest as u32)),
            Charset::Ascii => bar.push_str(theme.signs.full),
        }
        used += 1;
    }
    let (open, close) = theme.signs.ends;
    let role = if part >= 1.0 { Role::Warning } else { Role::Accent };
    Words::dim(open)
        .and(role, bar)
        .and(Role::Dim, theme.signs.empty.repeat(cells - used.min(cells)))
        .and(Role::Dim, close)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Scheme;

    fn screen(width: u16, paint: impl FnOnce(&mut Canvas)) -> String {
        let mut cells = Buffer::empty(Rect::new(0, 0, width, 1));
        paint(&mut Canvas { cells: &mut cells, theme: &Theme::default() });
        cells.content().iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned()
    }

    #[test]
    fn cut_words_end_in_an_ellipsis() {
        let words = Words::text("abc").and(Role::Dim, "def").and(Role::Bold, "ghi");
        let table = [(9, "abcdefghi"), (8, "abcdefg…"), (6, "abcde…"), (5, "abcd…"), (3, "ab…"), (1, "…")];
        for (width, expected) in table {
            let got = screen(20, |canvas| {
                let used = canvas.words((0, 0), width, &words);
                assert_eq!(usize::from(used), expected.chars().count());
            });
            assert_eq!(got, expected, "{width}");
        }
    }

    #[test]
    fn the_right_side_is_omitted_if_it_does_not_fit() {
        let line = Line::new(Words::text("left"), Words::text("right"));
        let at = |width| screen(width, |canvas| canvas.line(Rect::new(0, 0, width, 1), &line));
        assert_eq!(at(12), "left   right");
        assert_eq!(at(11), "left  right");
        assert_eq!(at(10), "left");
        let rule = screen(20, |canvas| canvas.rule(Rect::new(0, 0, 20, 1), &line));
        assert_eq!(rule, "── left ─── right ──");
    }

    #[test]
    fn gauges_are_exact_to_an_eighth() {
        let theme = Theme::default();
        let ascii = Theme::new(Scheme::Dark, Charset::Ascii);
        let text = |words: Words| words.pieces().iter().map(|(_, text)| text.as_ref()).collect::<String>();
        let table = [
            (0.0, "▕    ▏", "[....]"),
            (0.001, "▕▏   ▏", "[#...]"),
            (0.5, "▕██  ▏", "[##..]"),
            (0.625, "▕██▌ ▏", "[###.]"),
            (1.0, "▕████▏", "[####]"),
            (7.0, "▕████▏", "[####]"),
        ];
        for (part, expected, plain) in table {
            assert_eq!(text(gauge(&theme, 4, part)), expected, "{part}");
            assert_eq!(text(gauge(&ascii, 4, part)), plain, "{part}");
        }
    }
}
