//! From the state to cells of the screen. Changes nothing but the frame.

pub mod canvas;
pub mod columns;
pub mod table;

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    /// The cells as text, without the blanks at line ends; a wide character stands for its two cells.
    pub fn text(cells: &Buffer) -> String {
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
}
