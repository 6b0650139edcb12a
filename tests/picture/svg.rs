//! Renders a terminal screen as an SVG.
//!
//! Every run is stretched to the width of its cells, so columns are aligned in any font.

use std::fmt::Write as _;
use vt100::{Cell, Color, Screen};

const CELL: (f64, f64) = (8.4, 18.0);
const PADDING: f64 = 14.0;
const FONT_SIZE: f64 = 14.0;
const FONTS: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const BACKGROUND: &str = "#16181d";
const FOREGROUND: &str = "#c9ced6";

/// The sixteen colours, readable on a dark background.
const PALETTE: [&str; 16] = [
    "#22262e", "#e06c75", "#8cc379", "#e0b265", "#6fa8ec", "#c586d6", "#56b6c2", "#c9ced6", "#6b7280", "#ff8b93",
    "#a9dd97", "#f5cd86", "#93c1ff", "#dba3ea", "#7fd3dd", "#ffffff",
];

/// The screen as a complete SVG document.
pub(crate) fn draw(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let (width, height) = (f64::from(columns) * CELL.0 + 2.0 * PADDING, f64::from(rows) * CELL.1 + 2.0 * PADDING);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.1} {height:.1}\">\n\
         <style>text {{ font-family: {FONTS}; font-size: {FONT_SIZE}px; white-space: pre }}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"{BACKGROUND}\"/>"
    );
    for row in 0..rows {
        let cells: Vec<_> = (0..columns).filter_map(|column| Some((column, screen.cell(row, column)?))).collect();
        backgrounds(&mut out, row, &cells);
        text(&mut out, row, &cells);
    }
    out.push_str("</svg>\n");
    out
}

/// The style of a cell; the colours are those shown (inverse resolved).
#[derive(Clone, PartialEq)]
struct Style {
    ink: String,
    paper: Option<String>,
    bold: bool,
    faint: bool,
    italic: bool,
    underlined: bool,
}

impl Style {
    fn of(cell: &Cell) -> Self {
        let (ink, paper) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
        let (ink, paper) = if cell.inverse() {
            (paper.unwrap_or(BACKGROUND.to_owned()), Some(ink.unwrap_or(FOREGROUND.to_owned())))
        } else {
            (ink.unwrap_or(FOREGROUND.to_owned()), paper)
        };
        let (bold, faint, italic, underlined) = (cell.bold(), cell.dim(), cell.italic(), cell.underline());
        Self { ink, paper, bold, faint, italic, underlined }
    }
}

/// A colour in hexadecimal; `None` for the terminal's default.
fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        Color::Idx(index @ 16..232) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
        }
        Color::Idx(index) => Some(format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (index - 232))),
    }
}

fn backgrounds(out: &mut String, row: u16, cells: &[(u16, &Cell)]) {
    for run in cells.chunk_by(|(_, a), (_, b)| Style::of(a).paper == Style::of(b).paper) {
        if let Some(paper) = Style::of(run[0].1).paper {
            rectangle(out, (run[0].0, row), (0.0, 0.0, run.len() as f64, 1.0), &paper);
        }
    }
}

fn text(out: &mut String, row: u16, cells: &[(u16, &Cell)]) {
    let mut run: Option<(u16, u16, String, Style)> = None;
    for (column, cell) in cells {
        let style = Style::of(cell);
        let shape = cell.contents().chars().next().and_then(shape);
        let blank = cell.contents().trim().is_empty() && !style.underlined;
        let continues = run.as_ref().is_some_and(|(_, end, _, before)| *end == *column && *before == style);
        if shape.is_some() || blank || !continues {
            flush(out, row, run.take());
        }
        if let Some(shape) = shape {
            rectangle(out, (*column, row), shape, &style.ink);
        } else if !blank && !cell.is_wide_continuation() {
            let (_, end, text, _) = run.get_or_insert((*column, *column, String::new(), style));
            text.push_str(if cell.contents().is_empty() { " " } else { cell.contents() });
            *end = column + 1 + u16::from(cell.is_wide());
        }
    }
    flush(out, row, run);
}

fn flush(out: &mut String, row: u16, run: Option<(u16, u16, String, Style)>) {
    let Some((start, end, text, style)) = run else { return };
    let (x, y) = (PADDING + f64::from(start) * CELL.0, PADDING + f64::from(row) * CELL.1 + 13.5);
    let length = f64::from(end - start) * CELL.0;
    let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" fill=\"{}\"", style.ink);
    let traits = [
        (style.bold, " font-weight=\"bold\""),
        (style.faint, " opacity=\"0.6\""),
        (style.italic, " font-style=\"italic\""),
        (style.underlined, " text-decoration=\"underline\""),
    ];
    traits.iter().filter(|(on, _)| *on).for_each(|(_, attribute)| out.push_str(attribute));
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, ">{escaped}</text>");
}

/// The rectangle of a character that is drawn as one: left, top, width and height as parts of a cell.
fn shape(character: char) -> Option<(f64, f64, f64, f64)> {
    let eighth = |part: u32| f64::from(part) / 8.0;
    Some(match character {
        '─' => (0.0, 0.47, 1.0, 0.06),
        '│' => (0.45, 0.0, 0.1, 1.0),
        '▀' => (0.0, 0.0, 1.0, 0.5),
        '\u{2581}'..='\u{2588}' => {
            let height = eighth(u32::from(character) - 0x2580);
            (0.0, 1.0 - height, 1.0, height)
        }
        '\u{2589}'..='\u{258F}' => (0.0, 0.0, eighth(0x2590 - u32::from(character)), 1.0),
        '▐' => (0.5, 0.0, 0.5, 1.0),
        '▕' => (0.875, 0.0, 0.125, 1.0),
        _ => return None,
    })
}

fn rectangle(out: &mut String, (column, row): (u16, u16), part: (f64, f64, f64, f64), fill: &str) {
    let (x, y) = (PADDING + (f64::from(column) + part.0) * CELL.0, PADDING + (f64::from(row) + part.1) * CELL.1);
    let (width, height) = (part.2 * CELL.0, part.3 * CELL.1);
    let _ =
        writeln!(out, "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\"/>");
}
