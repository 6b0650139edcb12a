//! Detects the layout of a table: its delimiter, its header, and the column with the URLs.

use super::{Cells, Grid, MARK, decoded, first_line, line_end};
use crate::progress::note_work;
use crate::protocol::Field;

/// Information about a table besides its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableHints<'a> {
    /// The column with the URLs, given by the user: a name of the header in any case, or a number from 1.
    pub loc_column: Option<&'a str>,
    /// The form that the file's name suggests.
    pub name: NameHint,
}

/// The form that a file's name suggests, for ambiguous content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NameHint {
    /// A list of URLs (`.txt`, `urllist`).
    List,
    /// A table (`.csv`, `.tsv`).
    Table,
    /// Standard input, which has no name.
    Stream,
    /// No hint.
    #[default]
    Unknown,
}

/// The error for a text that may be a table but has no detectable URL column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoUrlColumn {
    /// The names of the columns, or `column 2` for a column without a name.
    pub columns: Vec<String>,
    /// Whether several columns contain URLs and no name decides between them.
    pub is_ambiguous: bool,
}

/// Names of the URL column in exports of common tools, more specific names first.
const LOC_NAMES: [&str; 7] = ["loc", "url", "address", "page", "top pages", "landing page", "link"];

/// Delimiters in the order in which they are tried; those that URLs cannot contain come first.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Maximum number of records that are examined, besides the first.
const MAX_RECORDS: usize = 1_000;

/// Whether a value is an absolute HTTP(S) URL.
pub(crate) fn is_url(value: &str) -> bool {
    let starts_with = |scheme: &str| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts_with("http://") || starts_with("https://")
}

/// Whether a line begins with a URL, with or without a scheme.
pub(crate) fn is_url_line(line: &[u8]) -> bool {
    let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let Ok(first) = std::str::from_utf8(first) else { return line.starts_with(b"http") };
    is_url(first) || is_without_scheme(first)
}

/// Whether a text is a URL without a scheme: `www.example.com`, `example.com/path`.
pub(crate) fn is_without_scheme(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let has_path = text.as_bytes().get(host.len()) == Some(&b'/');
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte >= 0x80;
    let is_host = host.contains('.') && host.split('.').all(|label| !label.is_empty() && label.bytes().all(is_letter));
    let top = host.rsplit('.').next().unwrap_or_default();
    let is_web = host.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    let is_clean = !text.contains(char::is_whitespace);
    is_clean && is_host && top.len() > 1 && !top.bytes().any(|byte| byte.is_ascii_digit()) && (has_path || is_web)
}

/// Parses a line of a list with attributes after the URL, as some generators write it:
/// `https://e.com/a lastmod=2020-01-01 priority=0.5`. Returns the values by [`Field::index`]; `None` for any other
/// line.
pub(crate) fn parse_attributed(line: &str) -> Option<[Option<&str>; 4]> {
    let mut words = line.split_ascii_whitespace();
    let url = words.next().filter(|url| is_url(url))?;
    let mut values = [None; 4];
    for word in words {
        let (name, value) = word.split_once('=').filter(|(_, value)| !value.is_empty())?;
        let field = Field::from_name(name).filter(|field| *field != Field::Loc)?;
        let slot = values.get_mut(field.index()).filter(|slot| slot.is_none())?;
        *slot = Some(value);
    }
    values[Field::Loc.index()] = Some(url);
    values.iter().skip(1).any(Option::is_some).then_some(values)
}

/// The first records of a table, split by one delimiter.
struct Sample {
    delimiter: u8,
    first: Vec<String>,
    rest: Vec<Vec<String>>,
    /// Whether the first record contains a URL, and so is no header. Stored, because it is needed for each column.
    is_headless: bool,
}

impl Sample {
    fn new(bytes: &[u8], start: usize, delimiter: u8) -> Self {
        let layout = Grid { delimiter: Some(delimiter), ..Grid::list("\n") };
        let mut at = start;
        let mut records = Vec::new();
        while records.len() <= MAX_RECORDS
            && let Some((from, _, after)) = layout.next(bytes, at)
        {
            records.push(Cells::new(bytes, from, delimiter).map(|cell| decoded(bytes, &cell)).collect::<Vec<_>>());
            at = after;
        }
        let mut records = records.into_iter();
        let first = records.next().unwrap_or_default();
        let is_headless = first.iter().any(|cell| {
            note_work(1);
            is_url(cell)
        });
        Self { delimiter, first, rest: records.collect(), is_headless }
    }

    /// The records without the header.
    fn records(&self) -> impl Iterator<Item = &Vec<String>> {
        self.is_headless.then_some(&self.first).into_iter().chain(&self.rest)
    }

    /// Whether all or at least half of the records have as many cells as the first one.
    fn is_regular(&self, all: bool) -> bool {
        let equal = self.rest.iter().filter(|record| record.len() == self.first.len()).count();
        if all { equal == self.rest.len() } else { equal * 2 >= self.rest.len() }
    }

    /// Whether any record has a URL in a column.
    fn holds_url(&self, column: usize) -> bool {
        self.records().any(|record| {
            note_work(1);
            record.get(column).is_some_and(|value| is_url(value))
        })
    }

    /// The columns whose non-empty values are all URLs.
    fn url_columns(&self) -> Vec<usize> {
        let values = |column: usize| {
            self.records().filter_map(move |record| record.get(column)).filter(|value| !value.is_empty())
        };
        let all = |column: &usize| self.holds_url(*column) && values(*column).all(|value| is_url(value));
        (0..self.first.len()).filter(all).collect()
    }

    /// The column with the URLs.
    fn loc(&self, hints: TableHints<'_>) -> Option<usize> {
        if let Some(wanted) = hints.loc_column {
            let named = || self.first.iter().position(|name| name.eq_ignore_ascii_case(wanted.trim()));
            let numbered = || wanted.trim().parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < self.first.len());
            return if self.is_headless { None } else { named() }.or_else(numbered);
        }
        let is_table = hints.name == NameHint::Table;
        let is_list = hints.name == NameHint::List;
        if self.is_headless {
            // URLs may contain commas and semicolons, so these only count as delimiters if the name suggests a table.
            let is_certain = is_table || (self.delimiter == b'\t' && self.is_regular(true));
            // Lists of some generators have attributes after the URL.
            let is_attributed =
                self.first.iter().any(|cell| cell.starts_with("lastmod=") || cell.starts_with("priority="));
            if is_list || !is_certain || is_attributed {
                return None;
            }
        } else {
            let named =
                LOC_NAMES.iter().filter_map(|name| self.first.iter().position(|cell| cell.eq_ignore_ascii_case(name)));
            let named: Vec<usize> = named.collect();
            if let Some(column) = named.iter().find(|column| self.holds_url(**column)) {
                return Some(*column);
            }
            // The URLs may be relative, or the table may be empty.
            let is_usual = |column: &&usize| {
                let name = self.first.get(**column).map(|name| name.to_ascii_lowercase()).unwrap_or_default();
                matches!(name.as_str(), "loc" | "url") || (is_table && self.url_columns().is_empty())
            };
            if let Some(column) = named.iter().find(is_usual) {
                return Some(*column);
            }
            let is_comment = self.first.first().is_some_and(|cell| cell.starts_with('#'));
            if !is_table && (is_list || is_comment || !self.is_regular(false)) {
                return None;
            }
        }
        match self.url_columns()[..] {
            [column] => Some(column),
            _ => None,
        }
    }

    /// The layout of the table with this URL column.
    fn grid(self, loc: usize, line_end: &'static str) -> Option<Grid> {
        u16::try_from(self.first.len()).ok()?;
        let is_headless = self.is_headless;
        let mut columns = [None; 4];
        let cells = self.first.into_iter().enumerate();
        let mut header: Vec<Box<str>> = Vec::new();
        for (column, name) in cells {
            let name = if is_headless { String::new() } else { name };
            let field = Field::ALL.into_iter().skip(1).find(|field| name.eq_ignore_ascii_case(field.name()));
            if let Some(slot) = field.and_then(|field| columns.get_mut(field.index())) {
                slot.get_or_insert(column as u16);
            }
            header.push(name.into());
        }
        columns[Field::Loc.index()] = Some(loc as u16);
        Some(Grid { line_end, delimiter: Some(self.delimiter), columns, header: header.into(), is_headless })
    }

    fn names(&self) -> Vec<String> {
        let is_headless = self.is_headless;
        let name = |(column, name): (usize, &String)| {
            if is_headless || name.is_empty() { format!("column {}", column + 1) } else { name.clone() }
        };
        self.first.iter().enumerate().map(name).collect()
    }
}

impl Grid {
    /// Detects the layout of a table.
    ///
    /// # Errors
    /// The columns if the URL column cannot be determined; `None` if the bytes are no table.
    pub fn of_table(bytes: &[u8], hints: TableHints<'_>) -> Result<Self, Option<NoUrlColumn>> {
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        let (start, line_end) = (first_line(bytes), line_end(bytes));
        let mut refused: Option<NoUrlColumn> = None;
        for delimiter in DELIMITERS {
            if Cells::new(bytes, start, delimiter).nth(1).is_none() {
                continue;
            }
            let sample = Sample::new(bytes, start, delimiter);
            if let Some(loc) = sample.loc(hints) {
                return sample.grid(loc, line_end).ok_or(None);
            }
            let columns = sample.names();
            let is_ambiguous = sample.url_columns().len() > 1;
            refused = refused.or(Some(NoUrlColumn { columns, is_ambiguous }));
        }
        if refused.is_none() {
            return Self::of_column(bytes, start, hints);
        }
        Err(refused)
    }

    /// Detects the layout of a table with one column. A list of URLs is no table: it has no header.
    fn of_column(bytes: &[u8], start: usize, hints: TableHints<'_>) -> Result<Self, Option<NoUrlColumn>> {
        let mut sample = Sample::new(bytes, start, b'\t');
        let is_quoted = bytes.get(start) == Some(&b'"');
        let is_named =
            sample.first.first().is_some_and(|name| LOC_NAMES.iter().any(|loc| name.eq_ignore_ascii_case(loc)));
        let is_table = hints.name == NameHint::Table && !sample.is_headless;
        let holds_urls = !sample.rest.is_empty() && sample.url_columns() == [0];
        let is_asked = hints.loc_column.is_some() && sample.loc(hints) == Some(0) && !sample.is_headless;
        // A saved table without rows.
        let is_header = is_table && is_named && sample.rest.is_empty();
        if hints.name == NameHint::List || !(is_asked || is_header || holds_urls && (is_quoted || is_named || is_table))
        {
            let columns = sample.names();
            let is_csv = hints.name == NameHint::Table && !columns.is_empty() && !sample.is_headless;
            return Err(is_csv.then_some(NoUrlColumn { columns, is_ambiguous: false }));
        }
        // If unquoted values contain commas, another delimiter keeps them whole.
        let layout = Self { delimiter: Some(b','), ..Self::list("\n") };
        let mut at = start;
        let mut is_split = false;
        while let Some((from, _, after)) = layout.next(bytes, at).filter(|_| !is_split) {
            is_split = Cells::new(bytes, from, b',').nth(1).is_some();
            at = after;
        }
        sample.delimiter = if is_split { b'\t' } else { b',' };
        sample.grid(0, line_end(bytes)).ok_or(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::xml::entry::Entry;
    use crate::xml::names::Names;
    use crate::xml::scan::Visit;
    use crate::xml::scan::scan_grid;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Locs(Vec<String>);

    impl Visit for Locs {
        fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
            self.0.push(entry.value(Field::Loc, text).unwrap_or_default().into_owned());
        }
    }

    fn locs(text: &str, hints: TableHints<'_>) -> Result<String, Option<NoUrlColumn>> {
        let grid = Grid::of_table(text.as_bytes(), hints)?;
        let mut locs = Locs::default();
        scan_grid(text.as_bytes(), Some(&grid), &mut locs, &Progress::default());
        Ok(locs.0.join(" "))
    }

    #[test]
    fn the_url_column_has_a_usual_name_or_is_the_only_one_with_urls() {
        let both = "https://e/a https://e/b";
        let table = [
            ("Top pages,Clicks\nhttps://e/a,3\nhttps://e/b,4\n", both),
            ("\"Address\",\"Status\"\r\n\"https://e/a\",\"200\"\r\n\"https://e/b\",\"404\"\r\n", both),
            ("\u{feff}Landing page;Sessions\nhttps://e/a;1\nhttps://e/b;2\n", both),
            ("loc|priority\nhttps://e/a|0.5\nhttps://e/b|0.7\n", both),
            ("Sessions\tLINK\n1\thttps://e/a\n2\thttps://e/b\n", both),
            // An unusual name, in any language.
            ("H\u{e4}ufigste Seiten,Klicks\nhttps://e/a,1\nhttps://e/b,2\n", both),
            ("\"Seite; Ziel\",Klicks\nhttps://e/a,1\nhttps://e/b,2\n", both),
            // A usual name has precedence over the content of other columns.
            ("Canonical,URL\nhttps://e/x,https://e/a\nhttps://e/x,https://e/b\n", both),
            ("canonical,loc\nhttps://e/x,/a\nhttps://e/x,/b\n", "/a /b"),
            // But a column named "page" often contains titles.
            ("Page,Final address\nA page,https://e/a\nAnother,https://e/b\n", both),
            ("link,page\nnone,https://e/a\nnone,https://e/b\n", both),
            ("Page,Target\n\"a\nb\",https://e/a\n,https://e/b\n", both),
            // Without a header.
            ("https://e/a\t3\nhttps://e/b\t4\n", both),
            ("3\thttps://e/a\n4\thttps://e/b\n", both),
            // One column.
            ("URL\nhttps://e/a\nhttps://e/b\n", both),
            ("\"Address\"\n\"https://e/a\"\n\"https://e/b\"\n", both),
            ("\"https://e/a\"\n\"https://e/b\"\n", both),
            ("address\nhttps://e/a,1\nhttps://e/b;2\n", "https://e/a,1 https://e/b;2"),
        ];
        for (text, expected) in table {
            assert_eq!(locs(text, TableHints::default()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn attributes_after_a_url_are_parsed_only_if_all_are_valid() {
        let read = |line| parse_attributed(line).map(|values| values.map(Option::unwrap_or_default).join("|"));
        let table = [
            ("https://e/a lastmod=2020-01-01 priority=0.5", Some("https://e/a|2020-01-01||0.5")),
            ("https://e/a\tchangefreq=daily  ", Some("https://e/a||daily|")),
            ("https://e/a", None),
            ("https://e/a b", None),
            ("https://e/a lastmod=", None),
            ("https://e/a lastmod=2020 lastmod=2021", None),
            ("https://e/a loc=https://e/b", None),
            ("https://e/a title=x lastmod=2020", None),
            ("lastmod=2020 https://e/a", None),
            ("# https://e/a lastmod=2020", None),
        ];
        for (line, expected) in table {
            assert_eq!(read(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn the_name_of_a_file_decides_if_the_text_is_ambiguous() {
        let hints = |name| TableHints { name, loc_column: None };
        let headless = "https://e/a,3\nhttps://e/b,4\n";
        assert_eq!(locs(headless, hints(NameHint::Table)).as_deref(), Ok("https://e/a https://e/b"));
        assert!(locs(headless, hints(NameHint::Unknown)).is_err());
        for text in [headless, "URL\nhttps://e/a\n", "Seite;Ziel\nhttps://e/a;\nhttps://e/b;\n"] {
            assert!(locs(text, hints(NameHint::List)).is_err(), "{text}");
        }
        // A header alone is a table if the file name says so.
        for text in ["loc\n", "URL", "\"Address\"\r\n", "\u{feff}url,priority\n"] {
            assert_eq!(locs(text, hints(NameHint::Table)).as_deref(), Ok(""), "{text}");
        }
        assert!(locs("loc\n", hints(NameHint::Unknown)).is_err() && locs("loc\n", hints(NameHint::List)).is_err());
        assert!(locs("names\n", hints(NameHint::Table)).is_err());
        // A comment or a sentence above a list is not a header.
        for text in ["# pages, all\nhttps://e/a\n", "These, then:\nhttps://e/a\n", "# a, b\nhttps://e/a,b\n"] {
            assert!(locs(text, hints(NameHint::Unknown)).is_err(), "{text}");
        }
        // A list of sitemap_gen.
        assert!(locs("https://e/a\tlastmod=2020-01-01\n", hints(NameHint::Unknown)).is_err());
    }

    #[test]
    fn without_a_single_url_column_the_error_has_the_columns() {
        let hints = |loc_column| TableHints { name: NameHint::Table, loc_column };
        let refused = |text: &str| {
            let refused = locs(text, hints(None)).unwrap_err().unwrap();
            (refused.columns.join("|"), refused.is_ambiguous)
        };
        assert_eq!(refused("From,To\nhttps://e/a,https://e/b\n"), ("From|To".to_owned(), true));
        assert_eq!(refused("Name,Clicks\na,1\n"), ("Name|Clicks".to_owned(), false));
        assert_eq!(refused("https://e/a,https://e/b\n"), ("column 1|column 2".to_owned(), true));
        let table = "From,To,2\nhttps://e/a,https://e/b,c\n";
        for (column, expected) in [("to", "https://e/b"), ("1", "https://e/a"), ("2", "c")] {
            assert_eq!(locs(table, hints(Some(column))).as_deref(), Ok(expected), "{column}");
        }
        assert_eq!(locs("https://e/a,https://e/b\n", hints(Some("2"))).as_deref(), Ok("https://e/b"));
        for column in ["4", "0", "Nobody", ""] {
            assert!(locs(table, hints(Some(column))).is_err(), "{column}");
        }
    }

    proptest! {
        /// Tables written by the csv crate in any dialect are read as the csv crate reads them.
        #[test]
        fn tables_are_read_as_the_csv_crate_reads_them(
            records in proptest::collection::vec(proptest::collection::vec("[a-z ,;\t\"\n\r]{0,6}", 2), 1..8),
            delimiter in proptest::sample::select(&DELIMITERS[..]),
            style in proptest::sample::select(vec![csv::QuoteStyle::Necessary, csv::QuoteStyle::Always]),
            crlf in any::<bool>(),
            mark in any::<bool>(),
        ) {
            let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
            let mut writer = csv::WriterBuilder::new()
                .delimiter(delimiter)
                .quote_style(style)
                .terminator(terminator)
                .from_writer(if mark { MARK.to_vec() } else { Vec::new() });
            writer.write_record(["loc", "note"]).unwrap();
            for record in &records {
                writer.write_record([format!("https://e/{}", record[0]), record[1].clone()]).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
            let expected: Vec<String> = reader.records().map(|record| record.unwrap()[0].trim().to_owned()).collect();
            let grid = Grid::of_table(text.as_bytes(), TableHints::default()).unwrap();
            let mut read = Locs::default();
            scan_grid(text.as_bytes(), Some(&grid), &mut read, &Progress::default());
            prop_assert_eq!(grid.delimiter, Some(delimiter));
            prop_assert_eq!(read.0, expected);
        }
    }
}
