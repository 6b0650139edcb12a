//! Computes the layout of the screen for a size; pure, and shared by `update` and drawing.
//!
//! The table gets all lines and columns that no other part needs; the pane takes at most a third of the lines.

use ratatui::layout::Rect;

/// Minimum number of columns and lines; a smaller screen shows only a message.
pub(crate) const MIN_SIZE: (u16, u16) = (20, 5);

/// Minimum number of columns to show the details of the current row beside the table.
const MIN_WIDTH_FOR_SIDE_DETAILS: u16 = 150;

/// The optional parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LayoutRequest {
    /// Whether the pane should have its maximum height, for a preview or a plan. If not, its height depends on the
    /// window only, so that moving the cursor does not move the table.
    pub tall: bool,
    /// Whether the details of the current row are shown.
    pub detail: bool,
}

/// The areas of the screen. Parts that are not shown have an empty area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Areas {
    /// The whole screen.
    pub all: Rect,
    /// The name, the counts and the state of the open set: one line.
    pub header: Rect,
    /// The column heads: one line.
    pub heads: Rect,
    /// The rows of the table.
    pub rows: Rect,
    /// The rule above the pane, with the finding counts: one line.
    pub rule: Rect,
    /// The pane.
    pub pane: Rect,
    /// The details of the current row, including the dividing line.
    pub detail: Rect,
    /// The mode and its keys, a message, or the prompt: one line.
    pub footer: Rect,
}

impl Areas {
    /// Whether the screen is smaller than [`MIN_SIZE`].
    pub const fn is_too_small(&self) -> bool {
        self.all.width < MIN_SIZE.0 || self.all.height < MIN_SIZE.1
    }

    /// Number of table rows on the screen; at least 1, so that paging always moves the cursor.
    pub fn page(&self) -> u32 {
        u32::from(self.rows.height.max(1))
    }
}

/// Divides the screen into areas.
pub(crate) fn areas(all: Rect, request: LayoutRequest) -> Areas {
    let mut areas = Areas { all, ..Areas::default() };
    if areas.is_too_small() {
        return areas;
    }
    let (pane, rule) = pane_height(all.height, request.tall);
    let mut top = all.y;
    let mut take = |height: u16| {
        let area = Rect::new(all.x, top, all.width, height);
        top += height;
        area
    };
    areas.header = take(1);
    areas.heads = take(1);
    let body = all.height - 3 - rule - pane;
    areas.rows = take(body);
    areas.rule = take(rule);
    areas.pane = take(pane);
    areas.footer = take(1);
    if request.detail && all.width >= MIN_WIDTH_FOR_SIDE_DETAILS {
        let width = (all.width * 2 / 5).min(90);
        for area in [&mut areas.heads, &mut areas.rows] {
            area.width -= width;
        }
        areas.detail = Rect::new(all.x + all.width - width, areas.heads.y, width, body + 1);
    } else if request.detail {
        // In a narrow window the details take the lower 3/5 of the table, or all of a table of fewer than 12 rows.
        let height = if areas.rows.height >= 12 { areas.rows.height * 3 / 5 } else { areas.rows.height };
        areas.rows.height -= height;
        areas.detail = Rect::new(all.x, areas.rows.y + areas.rows.height, all.width, height);
    }
    areas
}

/// Returns the number of lines of the pane and of its rule, together at most a third of the screen.
fn pane_height(height: u16, tall: bool) -> (u16, u16) {
    let max = (height / 3).saturating_sub(1).min(8);
    let default = match height {
        0..30 => 3,
        30..45 => 5,
        _ => 6,
    };
    let lines = if tall { max } else { max.min(default) };
    (lines, u16::from(lines > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_never_overlap() {
        for width in (0..=240).step_by(7).chain([1, 19, 20, 80, 120, 149, 150, 200]) {
            for height in (0..=70).chain([200]) {
                for tall in [false, true] {
                    for detail in [false, true] {
                        let all = Rect::new(0, 0, width, height);
                        let areas = areas(all, LayoutRequest { tall, detail });
                        let parts =
                            [areas.header, areas.heads, areas.rows, areas.rule, areas.pane, areas.detail, areas.footer];
                        for (at, a) in parts.iter().enumerate() {
                            assert_eq!(a.intersection(all), *a, "{a:?} is outside {all:?}");
                            for b in &parts[at + 1..] {
                                assert!(
                                    a.is_empty() || b.is_empty() || !a.intersects(*b),
                                    "{a:?} and {b:?} overlap in {all:?}"
                                );
                            }
                        }
                        assert!(areas.rule.height + areas.pane.height <= height / 3);
                        if !areas.is_too_small() {
                            assert_eq!((areas.header.height, areas.footer.height), (1, 1));
                            assert!(areas.rows.height + areas.detail.height > 0);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_gets_all_lines_that_no_other_part_needs() {
        // (columns, rows, tall) → (table rows, pane lines)
        let table = [
            ((120, 24, false), (17, 3)),
            ((80, 24, true), (13, 7)),
            ((120, 40, false), (31, 5)),
            ((200, 50, true), (38, 8)),
            ((40, 10, false), (4, 2)),
            ((20, 5, true), (2, 0)),
        ];
        for ((width, height, tall), expected) in table {
            let areas = areas(Rect::new(0, 0, width, height), LayoutRequest { tall, detail: false });
            assert_eq!((areas.rows.height, areas.pane.height), expected, "{width}×{height}");
        }
    }
}
