//! The layout of the screen for a size, shared by `update` and drawing. Pure.
//!
//! The table gets every row and column that nothing else needs; the pane never takes more than a third.

use ratatui::layout::Rect;

/// Fewer columns or rows than this hold one line that says so.
pub(crate) const SMALLEST: (u16, u16) = (20, 5);

/// Columns from which the details of the current row have a place of their own, beside the table.
const WIDE: u16 = 150;

/// What the screen should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LayoutRequest {
    /// Whether the pane should take all it may: a preview or a plan is in it. Otherwise its height
    /// follows from the window alone, so that moving the cursor never moves the table.
    pub tall: bool,
    /// Whether the details of the current row are wanted.
    pub detail: bool,
}

/// The parts of the screen. Parts that have no place are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Areas {
    /// Everything.
    pub all: Rect,
    /// The name, counts and state of what is open: one line.
    pub header: Rect,
    /// Column heads: one line.
    pub heads: Rect,
    /// Rows.
    pub rows: Rect,
    /// The rule that carries the counts: one line.
    pub rule: Rect,
    /// What the pane says.
    pub pane: Rect,
    /// Details of the current row, its dividing line included.
    pub detail: Rect,
    /// Mode and keys, or a message, or the prompt: one line.
    pub footer: Rect,
}

impl Areas {
    /// Whether the screen holds nothing but a line that says it is too small.
    pub const fn too_small(&self) -> bool {
        self.all.width < SMALLEST.0 || self.all.height < SMALLEST.1
    }

    /// Rows of the table on the screen; at least one, so that a page is never nothing.
    pub fn page(&self) -> u32 {
        u32::from(self.rows.height.max(1))
    }
}

/// Divides the screen.
pub(crate) fn areas(all: Rect, wanted: LayoutRequest) -> Areas {
    let mut areas = Areas { all, ..Areas::default() };
    if areas.too_small() {
        return areas;
    }
    let (pane, rule) = pane_height(all.height, wanted.tall);
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
    if wanted.detail && all.width >= WIDE {
        let width = (all.width * 2 / 5).min(90);
        for area in [&mut areas.heads, &mut areas.rows] {
            area.width -= width;
        }
        areas.detail = Rect::new(all.x + all.width - width, areas.heads.y, width, body + 1);
    } else if wanted.detail {
        // In a narrow window the details take the lower half of the table's place, or all of it.
        let height = if areas.rows.height >= 12 { areas.rows.height * 3 / 5 } else { areas.rows.height };
        areas.rows.height -= height;
        areas.detail = Rect::new(all.x, areas.rows.y + areas.rows.height, all.width, height);
    }
    areas
}

/// Lines of the pane and of its rule. The two together never take more than a third of the screen.
fn pane_height(height: u16, tall: bool) -> (u16, u16) {
    let most = (height / 3).saturating_sub(1).min(8);
    let calm = match height {
        0..30 => 3,
        30..45 => 5,
        _ => 6,
    };
    let lines = if tall { most } else { most.min(calm) };
    (lines, u16::from(lines > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_divides_without_overlap() {
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
                        if !areas.too_small() {
                            assert_eq!((areas.header.height, areas.footer.height), (1, 1));
                            assert!(areas.rows.height + areas.detail.height > 0);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_gets_what_nothing_else_needs() {
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
