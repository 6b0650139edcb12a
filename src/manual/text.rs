//! Renders a page of the manual as plain text for a terminal.

use super::{Block, Page, Span, blocks};
use unicode_width::UnicodeWidthStr;

/// A line of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// Whether it is the title of a section.
    pub is_heading: bool,
}

/// Columns between the columns of a table.
const GAP: usize = 2;

/// The lines of a page, at most `width` columns wide unless they are examples.
pub fn lines(page: Page, width: usize) -> Vec<Line> {
    let mut out = Writer { lines: Vec::new(), width };
    let mut was_item = false;
    for block in blocks(page) {
        let is_item = matches!(block, Block::Item(_));
        if !(out.lines.is_empty() || is_item && was_item) {
            out.push("");
        }
        was_item = is_item;
        match block {
            Block::Heading { title, .. } => out.lines.push(Line { text: title, is_heading: true }),
            Block::Paragraph(spans) => out.wrap(&prose(&spans), "", ""),
            Block::Item(spans) => out.wrap(&prose(&spans), "- ", "  "),
            Block::Code(lines) => lines.iter().for_each(|line| out.push(&format!("    {line}"))),
            Block::Table(rows) => out.table(&rows),
        }
    }
    out.lines
}

struct Writer {
    lines: Vec<Line>,
    width: usize,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.lines.push(Line { text: text.trim_end().to_owned(), is_heading: false });
    }

    fn wrap(&mut self, text: &str, first: &str, rest: &str) {
        let options = textwrap::Options::new(self.width.max(20)).initial_indent(first).subsequent_indent(rest);
        for line in textwrap::wrap(text, options.break_words(false)) {
            self.push(&line);
        }
    }

    /// Columns side by side where they fit; otherwise each row is its first cell, with the others below it.
    fn table(&mut self, rows: &[Vec<Vec<Span>>]) {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let is_wide = widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1) > self.width;
        // The head names columns; without columns it names nothing.
        for row in rows.iter().skip(usize::from(is_wide)) {
            if is_wide {
                let (first, others) = row.split_first().map_or(("", &[][..]), |(first, others)| (first, others));
                self.wrap(first, "", "");
                let others: Vec<&str> = others.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
                self.wrap(&others.join(" · "), "    ", "    ");
            } else {
                let pad = |(cell, width): (&String, &usize)| format!("{cell}{:1$}", "", width - cell.width() + GAP);
                self.push(&row.iter().zip(&widths).map(pad).collect::<String>());
            }
        }
    }
}

/// Text with literal parts in back quotes, as in a source comment.
fn prose(spans: &[Span]) -> String {
    let quoted = |span: &Span| if span.is_code { format!("`{}`", span.text) } else { span.text.clone() };
    spans.iter().map(quoted).collect()
}

/// Text without quotes: a cell of a table stands for itself.
fn plain(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::PAGES;

    #[test]
    fn every_page_fits_its_width_without_marks_or_gaps() {
        for page in PAGES {
            for width in [60, 80, 120] {
                let lines = lines(page, width);
                assert!(lines[0].is_heading && lines.len() > 20, "{}", page.name);
                assert!(lines.windows(2).all(|pair| !pair[0].text.is_empty() || !pair[1].text.is_empty()));
                for line in &lines {
                    let is_example = line.text.starts_with("    ");
                    // A word, such as a path, is not broken.
                    let is_word = !line.text.trim().contains(' ');
                    let name = page.name;
                    assert!(line.text.width() <= width || is_example || is_word, "{name} at {width}: {}", line.text);
                    assert!(!line.text.contains("<!--") && !line.text.starts_with('|'), "{name}: {}", line.text);
                }
            }
        }
    }
}
