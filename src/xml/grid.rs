//! Files without markup: lists (one URL per line) and tables (CSV, TSV), scanned and spliced losslessly.
//!
//! An entry is a line with its line break and the blank lines before it; a record of a table may span several lines.
//! Nothing is escaped in a list. Tables are quoted according to RFC 4180 and read leniently: an unclosed quote is an
//! ordinary character, so that it does not include the following rows.

mod columns;

use super::change::{Change, Changes};
use super::entry::{Anomalies, Entry, FieldSpan, TextKind};
use super::markup;
use crate::protocol::Field;
pub use columns::{NameHint, TableHints};

pub(crate) use columns::{is_url_line, is_without_scheme, parse_attributed};

/// How the lines of a file without markup are laid out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grid {
    /// The line break of the first line, used for new lines.
    pub line_end: &'static str,
    /// The delimiter of the columns; `None` for a list.
    pub delimiter: Option<u8>,
    /// The column of each field, by [`Field::index`].
    pub columns: [Option<u16>; 4],
    /// The header's cells as written, without quotes; empty for a list.
    pub header: Box<[Box<str>]>,
    /// Whether the first record is a row rather than a header; the names of the columns are empty then.
    pub is_headless: bool,
}

/// One cell of a record; positions are byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    start: usize,
    end: usize,
    /// The range of its value, without quotes and blanks.
    value: (usize, usize),
    text: TextKind,
}

/// The byte order mark of UTF-8.
pub(super) const MARK: &[u8] = b"\xEF\xBB\xBF";

impl Grid {
    /// A list with this line break.
    pub fn list(line_end: &'static str) -> Self {
        Self {
            line_end,
            delimiter: None,
            columns: [Some(0), None, None, None],
            header: Box::default(),
            is_headless: false,
        }
    }

    /// A new table with the four fields as its columns.
    pub fn table(delimiter: u8) -> Self {
        let header = Field::ALL.map(|field| field.name().into());
        let columns = [Some(0), Some(1), Some(2), Some(3)];
        Self { line_end: "\n", delimiter: Some(delimiter), columns, header: header.into(), is_headless: false }
    }

    /// The columns that are no field of a sitemap, with their numbers (from 1) and their names in the header.
    pub fn unknown_columns(&self) -> impl Iterator<Item = (usize, &str)> {
        let known = |column: usize| self.columns.contains(&Some(column as u16));
        let columns = self.header.iter().enumerate().filter(move |(column, _)| !known(*column));
        columns.map(|(column, name)| (column + 1, &**name))
    }

    /// Whether an entry can hold a field.
    pub const fn holds(&self, field: Field) -> bool {
        self.columns[field.index()].is_some()
    }

    /// Whether a line has only blanks, in a table only blanks and delimiters.
    fn is_blank(&self, line: &[u8]) -> bool {
        line.iter().all(|byte| markup::is_space(*byte) || Some(*byte) == self.delimiter)
    }

    /// The end of the record at `start`, without and with its line break.
    fn record(&self, bytes: &[u8], start: usize) -> (usize, usize) {
        let Some(delimiter) = self.delimiter else { return line(bytes, start) };
        let mut cells = Cells::new(bytes, start, delimiter);
        cells.by_ref().for_each(drop);
        line(bytes, cells.at)
    }

    /// The first record at or after `from` that is not blank: its start, its end, and the end of its line break.
    pub(super) fn next(&self, bytes: &[u8], mut from: usize) -> Option<(usize, usize, usize)> {
        while from < bytes.len() {
            let (end, after) = self.record(bytes, from);
            if !self.is_blank(bytes.get(from..end).unwrap_or_default()) {
                return Some((from, end, after));
            }
            from = after;
        }
        None
    }

    /// Parses an entry, which is flagged as broken if it does not have exactly one line.
    pub(super) fn entry(&self, text: &[u8]) -> Entry {
        let Some((start, end, after)) = self.next(text, 0) else { return Entry::broken(text.len()) };
        let mut entry = Entry::plain(text.len());
        if self.next(text, after).is_some() {
            entry.anomalies = Anomalies::BROKEN;
        }
        let span = |cell: &Cell| {
            let (value_start, value_end) = (cell.value.0 as u32, cell.value.1 as u32);
            let (start, end) = (cell.start as u32, cell.end as u32);
            let inner = (value_start, value_end);
            let (inner_start, inner_end) = inner;
            FieldSpan { start, end, inner_start, inner_end, value_start, value_end, text: cell.text }
        };
        let mut open = start;
        match self.delimiter {
            None => {
                let value = markup::trim(text, start, end);
                let cell = Cell { start: value.0, end: value.1, value, text: TextKind::Plain };
                open = value.0;
                entry.fields[Field::Loc.index()] = Some(span(&cell));
            }
            Some(delimiter) => {
                for (column, cell) in Cells::new(text, start, delimiter).enumerate() {
                    let field = self.columns.iter().position(|known| *known == Some(column as u16));
                    if let Some(slot) = field.and_then(|field| entry.fields.get_mut(field)) {
                        *slot = (cell.value.0 < cell.value.1).then(|| span(&cell));
                    }
                }
            }
        }
        (entry.open, entry.open_end, entry.close) = (open as u32, open as u32, end as u32);
        entry
    }

    /// Writes an entry with changes. Changes of fields without a column are ignored.
    pub(super) fn splice(&self, text: &[u8], changes: &Changes<'_>, out: &mut Vec<u8>) {
        let (start, end, _) = self.next(text, 0).unwrap_or_else(|| {
            let (end, after) = line(text, 0);
            (0, end, after)
        });
        let put = |out: &mut Vec<u8>, from: usize, to: usize| {
            out.extend_from_slice(text.get(from..to).unwrap_or_default());
        };
        let value = |change: Change<'_>| match change {
            Change::Set(value) => self.encoded(value),
            Change::Remove => String::new(),
        };
        put(out, 0, start);
        match self.delimiter {
            None => {
                let (from, to) = markup::trim(text, start, end);
                put(out, start, from);
                match changes[Field::Loc.index()] {
                    Some(change) => out.extend_from_slice(value(change).as_bytes()),
                    None => put(out, from, to),
                }
                put(out, to, end);
            }
            Some(delimiter) => {
                let change = |column: usize| {
                    let field = self.columns.iter().position(|known| *known == Some(column as u16))?;
                    changes.get(field).copied().flatten()
                };
                let mut cells = Cells::new(text, start, delimiter);
                let mut column = 0;
                for cell in cells.by_ref() {
                    if column > 0 {
                        out.push(delimiter);
                    }
                    match change(column) {
                        // A quoted cell stays quoted.
                        Some(Change::Set(value))
                            if cell.value.0 > cell.start && text.get(cell.start) == Some(&b'"') =>
                        {
                            out.extend_from_slice(quoted(value).as_bytes());
                        }
                        Some(change) => out.extend_from_slice(value(change).as_bytes()),
                        None => put(out, cell.start, cell.end),
                    }
                    column += 1;
                }
                // A record may be shorter than the header.
                let last =
                    (column..self.header.len()).rev().find(|column| matches!(change(*column), Some(Change::Set(_))));
                while last.is_some_and(|last| column <= last) {
                    out.push(delimiter);
                    out.extend_from_slice(change(column).map(value).unwrap_or_default().as_bytes());
                    column += 1;
                }
                put(out, cells.at, end);
            }
        }
        put(out, end, text.len());
    }

    /// Renders a new entry with these values, by [`Field::index`], without its line break.
    pub(super) fn render(&self, values: &[Option<&str>; 4]) -> String {
        let Some(delimiter) = self.delimiter else {
            return self.encoded(values[Field::Loc.index()].unwrap_or_default());
        };
        let cell = |column: usize| {
            let field = self.columns.iter().position(|known| *known == Some(column as u16))?;
            values.get(field).copied().flatten()
        };
        let cells: Vec<String> =
            (0..self.header.len()).map(|column| self.encoded(cell(column).unwrap_or_default())).collect();
        cells.join(char::from(delimiter).encode_utf8(&mut [0; 4]))
    }

    /// The encoded value for a cell, or for a line of a list, in which line breaks are percent-encoded.
    fn encoded(&self, value: &str) -> String {
        let Some(delimiter) = self.delimiter else {
            return value.trim().replace('\r', "%0D").replace('\n', "%0A");
        };
        let special = |byte: u8| matches!(byte, b'"' | b'\r' | b'\n') || byte == delimiter;
        if value.bytes().any(special) || value.trim() != value {
            return quoted(value);
        }
        value.to_owned()
    }

    /// The bytes of a file without entries: a table's header.
    pub fn blank(&self) -> Vec<u8> {
        let Some(delimiter) = self.delimiter.filter(|_| !self.is_headless) else { return Vec::new() };
        let cells: Vec<String> = self.header.iter().map(|name| self.encoded(name)).collect();
        format!("{}{}", cells.join(char::from(delimiter).encode_utf8(&mut [0; 4])), self.line_end).into_bytes()
    }
}

/// A value in quotes (RFC 4180).
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('"', "\"\""))
}

/// Unusual lines of a list: their number and the first offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Survey {
    /// Empty lines.
    pub blank: Option<(u32, u32)>,
    /// Lines that end with CR or CR LF.
    pub returns: Option<(u32, u32)>,
}

/// Surveys all lines.
pub fn survey(bytes: &[u8]) -> Survey {
    let mut survey = Survey::default();
    let count = |slot: &mut Option<(u32, u32)>, at: usize| slot.get_or_insert((0, at as u32)).0 += 1;
    let mut at = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    while at < bytes.len() {
        let (end, after) = line(bytes, at);
        if markup::is_blank(bytes.get(at..end).unwrap_or_default()) {
            count(&mut survey.blank, at);
        }
        if bytes.get(end) == Some(&b'\r') {
            count(&mut survey.returns, end);
        }
        at = after;
    }
    survey
}

/// The end of the line at `start`, and the start of the next one. CR, LF and CR LF end a line.
fn line(bytes: &[u8], start: usize) -> (usize, usize) {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some(len) = memchr::memchr2(b'\n', b'\r', rest) else {
        return (bytes.len().max(start), bytes.len().max(start));
    };
    let end = start + len;
    let pair = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
    (end, end + 1 + usize::from(pair))
}

/// The start of the first line that is not blank.
fn first_line(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        let (end, after) = line(bytes, at);
        if !markup::is_blank(bytes.get(at..end).unwrap_or_default()) {
            break;
        }
        at = after;
    }
    at
}

/// The line break of the first line.
pub(super) fn line_end(bytes: &[u8]) -> &'static str {
    let (end, after) = line(bytes, 0);
    match bytes.get(end..after) {
        Some(b"\r\n") => "\r\n",
        Some(b"\r") => "\r",
        _ => "\n",
    }
}

/// The cells of one record.
struct Cells<'b> {
    bytes: &'b [u8],
    /// The offset after the last cell.
    at: usize,
    delimiter: u8,
    first: bool,
}

impl<'b> Cells<'b> {
    const fn new(bytes: &'b [u8], start: usize, delimiter: u8) -> Self {
        Self { bytes, at: start, delimiter, first: true }
    }

    /// The end of a quoted value that opens at `open`, and whether it contains doubled quotes.
    fn quoted(&self, open: usize) -> Option<(usize, bool)> {
        let (mut at, mut doubled) = (open + 1, false);
        loop {
            let quote = at + memchr::memchr(b'"', self.bytes.get(at..)?)?;
            if self.bytes.get(quote + 1) != Some(&b'"') {
                // A quote that is not followed by a delimiter does not close: the opening one is an ordinary character.
                let rest = self.bytes.get(quote + 1..).unwrap_or_default();
                let next = rest.iter().find(|byte| **byte != b' ');
                let ends = next.is_none_or(|byte| matches!(byte, b'\n' | b'\r') || *byte == self.delimiter);
                return ends.then_some((quote, doubled));
            }
            (at, doubled) = (quote + 2, true);
        }
    }
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        if !self.first {
            if self.bytes.get(self.at) != Some(&self.delimiter) {
                return None;
            }
            self.at += 1;
        }
        self.first = false;
        let start = self.at;
        let quoted = if self.bytes.get(start) == Some(&b'"') { self.quoted(start) } else { None };
        let after = quoted.map_or(start, |(close, _)| close + 1);
        let rest = self.bytes.get(after..).unwrap_or_default();
        let end = after + memchr::memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
        self.at = end;
        let (value, text) = match quoted {
            Some((close, doubled)) => {
                let text = if doubled { TextKind::Quoted } else { TextKind::Plain };
                (markup::trim(self.bytes, start + 1, close), text)
            }
            None => (markup::trim(self.bytes, start, end), TextKind::Plain),
        };
        Some(Cell { start, end, value, text })
    }
}

fn decoded(bytes: &[u8], cell: &Cell) -> String {
    let raw = bytes.get(cell.value.0..cell.value.1).unwrap_or_default();
    super::entry::decode_value(raw, cell.text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::xml::names::{FileKind, Names};
    use crate::xml::scan::{Scan, Visit, scan_grid};
    use proptest::prelude::*;

    #[derive(Default)]
    struct Rows(Vec<[Option<String>; 4]>);

    impl Visit for Rows {
        fn entry(&mut self, text: &[u8], entry: &Entry, names: &Names) {
            assert_eq!(Entry::of(text, names), *entry);
            self.0.push(Field::ALL.map(|field| entry.value(field, text).map(std::borrow::Cow::into_owned)));
        }
    }

    fn layout(bytes: &[u8]) -> Option<Grid> {
        Grid::of_table(bytes, TableHints::default()).ok()
    }

    fn rows(bytes: &[u8], kind: FileKind) -> (Scan, Vec<[Option<String>; 4]>) {
        let mut rows = Rows::default();
        let table = (kind == FileKind::Table).then(|| layout(bytes).unwrap());
        let scan = scan_grid(bytes, table.as_ref(), &mut rows, &Progress::default());
        (scan, rows.0)
    }

    fn locs(text: &str) -> Vec<String> {
        rows(text.as_bytes(), FileKind::List).1.into_iter().filter_map(|[loc, ..]| loc).collect()
    }

    #[test]
    fn each_line_is_a_row_and_is_not_decoded() {
        let table = [
            ("http://e/a\nhttp://e/b\n", vec!["http://e/a", "http://e/b"]),
            ("http://e/a\rhttp://e/b", vec!["http://e/a", "http://e/b"]),
            ("\u{feff}\r\n http://e/a \r\n\r\nhttp://e/b", vec!["http://e/a", "http://e/b"]),
            ("http://e/?a=1&amp;b=%20\n# no\n\n", vec!["http://e/?a=1&amp;b=%20", "# no"]),
            ("", vec![]),
        ];
        for (text, expected) in table {
            assert_eq!(locs(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_table_is_read_by_its_header() {
        let row = |cells: [&str; 4]| cells.map(|cell| (cell != "-").then(|| cell.to_owned()));
        let table = [
            (
                "loc,lastmod,changefreq,priority\nhttp://e/,2020-01-01,daily,0.5\n",
                vec![row(["http://e/", "2020-01-01", "daily", "0.5"])],
            ),
            ("\u{feff}Priority;URL;Note\r\n0,5;http://e/a;x\r\n;;\r\n", vec![row(["http://e/a", "-", "-", "0,5"])]),
            (
                "loc\tlastmod\n\"http://e/?\"\"a\"\"\"\t\nhttp://e/\t2020\textra\n",
                vec![row(["http://e/?\"a\"", "-", "-", "-"]), row(["http://e/", "2020", "-", "-"])],
            ),
            ("\"loc\",x\n\"http://e/\n a\",\"y\n", vec![row(["http://e/\n a", "-", "-", "-"])]),
            (
                "loc,x\n\"http://e/a,1\nhttp://e/b,2\n",
                vec![row(["\"http://e/a", "-", "-", "-"]), row(["http://e/b", "-", "-", "-"])],
            ),
            ("loc,x", vec![]),
        ];
        for (text, expected) in table {
            assert!(layout(text.as_bytes()).is_some(), "{text:?}");
            assert_eq!(rows(text.as_bytes(), FileKind::Table).1, expected, "{text:?}");
        }
        for text in ["http://e/?a,b\n", "a,b\n", "loc\n", ""] {
            assert!(layout(text.as_bytes()).is_none(), "{text:?}");
        }
    }

    fn spliced(text: &str, kind: FileKind, field: Field, change: Change<'_>) -> String {
        let (scan, _) = rows(text.as_bytes(), kind);
        let names = scan.names.unwrap();
        let entry = &text.as_bytes()[scan.starts[0] as usize..scan.starts[1] as usize];
        let mut changes = [None; 4];
        changes[field.index()] = Some(change);
        let mut out = Vec::new();
        super::super::splice::splice(&Entry::of(entry, &names), entry, &names, &changes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_change_affects_only_its_cell() {
        use Change::{Remove, Set};
        let list = |text, field, change| spliced(text, FileKind::List, field, change);
        assert_eq!(list("\n  http://e/ \r\n", Field::Loc, Set("http://e/?a&b")), "\n  http://e/?a&b \r\n");
        assert_eq!(list("http://e/\n", Field::Priority, Set("1")), "http://e/\n");
        let head = "loc,note,lastmod,priority\n";
        let table = [
            ("http://e/, x ,,\n", Field::Priority, Set("0.5"), "http://e/, x ,,0.5\n"),
            ("http://e/\n", Field::Priority, Set("0.5"), "http://e/,,,0.5\n"),
            ("http://e/\n", Field::Priority, Remove, "http://e/\n"),
            ("\"http://e/\",x,2020,1\r\n", Field::Loc, Set("http://e/,\"a"), "\"http://e/,\"\"a\",x,2020,1\r\n"),
            ("http://e/,x,2020,1", Field::Lastmod, Remove, "http://e/,x,,1"),
            ("http://e/,x,2020,1\n", Field::Changefreq, Set("daily"), "http://e/,x,2020,1\n"),
        ];
        for (text, field, change, expected) in table {
            assert_eq!(spliced(&format!("{head}{text}"), FileKind::Table, field, change), expected, "{text}");
        }
    }

    #[test]
    fn unusual_lines_are_counted() {
        let survey = survey(b"\xEF\xBB\xBFa\r\n\r\nb\n \nc\r");
        assert_eq!(survey, Survey { blank: Some((2, 6)), returns: Some((3, 4)) });
    }

    proptest! {
        /// Head, entries and tail are the bytes of the file, and an entry is parsed alone as in its file.
        #[test]
        fn head_entries_and_tail_cover_all_bytes(pieces in proptest::collection::vec(prop_oneof![
            Just("http://e/a"), Just("\n"), Just("\r"), Just(","), Just("\""), Just("\"\""), Just(" "), Just("\u{feff}"),
            Just("é"), Just("<url>"), Just("loc,priority\n"), Just("\t"), Just("0.5"),
        ], 0..40), table in any::<bool>()) {
            let text = if table { format!("loc,priority\n{}", pieces.concat()) } else { pieces.concat() };
            let kind = if table { FileKind::Table } else { FileKind::List };
            let (scan, found) = rows(text.as_bytes(), kind);
            prop_assert_eq!(found.len(), scan.entries());
            prop_assert!(scan.starts.is_sorted() && scan.starts.last().is_some_and(|end| *end as usize <= text.len()));
        }

        #[test]
        fn values_set_in_a_table_are_read_back(
            cells in proptest::collection::vec("[a-z ,\"\n]{0,5}", 1..6),
            value in "[a-z,;\"\t\n]{1,8}",
            column in 0usize..4,
        ) {
            let grid = Grid::table(b',');
            let text = format!("{}\n", cells.iter().map(|cell| grid.encoded(cell)).collect::<Vec<_>>().join(","));
            prop_assume!(!grid.is_blank(text.as_bytes()));
            let before = grid.entry(text.as_bytes());
            let mut changes = [None; 4];
            changes[column] = Some(Change::Set(value.as_str()));
            let mut out = Vec::new();
            grid.splice(text.as_bytes(), &changes, &mut out);
            let after = grid.entry(&out);
            for field in Field::ALL {
                let read = after.value(field, &out).map(std::borrow::Cow::into_owned).unwrap_or_default();
                let expected = match changes[field.index()] {
                    Some(_) => value.clone(),
                    None => before.value(field, text.as_bytes()).map(std::borrow::Cow::into_owned).unwrap_or_default(),
                };
                prop_assert_eq!(read.trim(), expected.trim());
            }
        }
    }
}
