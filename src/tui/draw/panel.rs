//! Draws a panel: a rule with a title, and lines of which one may be selected.
//!
//! The status pane, lists and questions are panels. They grow from the bottom of the screen and have no border.

use super::canvas::Canvas;
use crate::tui::theme::Role;
use crate::tui::words::{Line, Words};
use ratatui::layout::Rect;

/// The content of a panel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Panel {
    /// The words on its rule.
    pub title: Line,
    /// The lines below the rule, which scroll.
    pub lines: Vec<Line>,
    /// The index of the selected line.
    pub chosen: Option<usize>,
    /// Number of lines scrolled away at the top, if no line is selected.
    pub top: usize,
    /// Fixed lines at the bottom, which do not scroll.
    pub foot: Vec<Line>,
}

impl Panel {
    /// Number of lines scrolled away at the top if `shown` lines fit; the selected line is always visible.
    pub(crate) fn scroll_offset(&self, shown: usize) -> usize {
        let max_offset = self.lines.len().saturating_sub(shown);
        match self.chosen {
            // The selected line stays away from the edges, so that the next lines are visible.
            Some(chosen) => chosen.saturating_sub(shown.saturating_sub(1) / 2).min(max_offset),
            None => self.top.min(max_offset),
        }
    }
}

/// Draws a panel, with its rule on the first line of the area.
pub(crate) fn draw(canvas: &mut Canvas, area: Rect, panel: &Panel) {
    if area.is_empty() {
        return;
    }
    canvas.clear(area);
    let below_rule = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let foot_height = below_rule.height.min(panel.foot.len() as u16);
    let body = Rect { height: below_rule.height - foot_height, ..below_rule };
    let top = panel.scroll_offset(usize::from(body.height));
    let mut title = panel.title.clone();
    let below = panel.lines.len().saturating_sub(top + usize::from(body.height));
    if below > 0 || top > 0 {
        let more = Words::dim(format!("{}-{} of {}", top + 1, panel.lines.len() - below, panel.lines.len()));
        title.right = if title.right.is_empty() { more } else { title.right };
    }
    canvas.rule(Rect { height: 1, ..area }, &title);
    draw_lines(canvas, body, panel, top);
    let foot = Rect { y: body.bottom(), height: foot_height, ..area };
    canvas.lines(indented(foot), &panel.foot);
}

/// The part of a panel's area that its lines use.
fn indented(area: Rect) -> Rect {
    let indent = 3.min(area.width / 8);
    Rect { x: area.x + indent, width: area.width.saturating_sub(indent + 1), ..area }
}

/// Draws the lines of a panel, from line `top` on.
pub(crate) fn draw_lines(canvas: &mut Canvas, area: Rect, panel: &Panel, top: usize) {
    let inner = indented(area);
    for (at, (line, y)) in panel.lines.iter().skip(top).zip(area.y..area.bottom()).enumerate() {
        let line_area = Rect { y, height: 1, ..inner };
        canvas.line(line_area, line);
        if panel.chosen == Some(top + at) {
            let accent = canvas.theme.style(Role::Accent);
            let sign = canvas.theme.signs.cursor;
            canvas.put(area.x, y, sign, accent);
            let bold = accent.add_modifier(ratatui::style::Modifier::BOLD);
            canvas.cells.set_style(line_area.intersection(canvas.cells.area), bold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Theme;
    use ratatui::buffer::Buffer;

    fn panel(count: usize, chosen: Option<usize>) -> Panel {
        let lines = (1..=count).map(|n| Words::text(format!("line {n}")).into()).collect();
        Panel { title: Words::text("title").into(), lines, chosen, top: 0, foot: Vec::new() }
    }

    fn drawn(panel: &Panel) -> String {
        let area = Rect::new(0, 0, 30, 5);
        let mut cells = Buffer::empty(area);
        draw(&mut Canvas { cells: &mut cells, theme: &Theme::default() }, area, panel);
        super::super::tests::text(&cells)
    }

    #[test]
    fn lines_that_fit_are_all_shown() {
        insta::assert_snapshot!(drawn(&panel(3, Some(1))), @r"
        ── title ─────────────────────
           line 1
        ▌  line 2
           line 3
        ");
    }

    #[test]
    fn the_selected_line_is_visible() {
        insta::assert_snapshot!(drawn(&panel(9, Some(6))), @r"
        ── title ───────── 6-9 of 9 ──
           line 6
        ▌  line 7
           line 8
           line 9
        ");
    }
}
