//! The columns of `list` as text and as JSON. Everything that a query can test is a column.

use super::Failure;
use super::args::{Common, List, ListFormat};
use super::json_text::json;
use super::output::safe_loc;
use super::unsafe_characters::plain;
use crate::check::extension::{UrlGroup, urls};
use crate::check::rule::Rule;
use crate::data::{self, Column};
use crate::document::lines::Lines;
use crate::document::query::suggest::{listed, nearest};
use crate::document::query::{Has, RowFacts, State};
use crate::document::rows::RowId;
use crate::document::sort::{self, SortKey};
use crate::document::source::Source;
use crate::protocol::location::{depth, host, path, section};
use crate::protocol::{Field, Severity};
use crate::session::Session;
use crate::session::state::facts::SnapshotRow;
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

/// The kind of value in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Field(Field),
    Host,
    Path,
    Section,
    Depth,
    File,
    Line,
    /// Number of extension elements of a kind.
    Image,
    Video,
    News,
    Alternate,
    Other,
    /// The URLs in extensions of a kind.
    Urls(UrlGroup),
    /// The words of `has:` that match the row.
    Has,
    /// The words of `is:` that match the row.
    Is,
    /// The worst severity.
    Severity,
    /// The codes of all rules that the row violates.
    Rules,
    /// The data column of this number.
    Data(usize),
}

/// The names of all columns.
pub(super) fn column_names() -> impl Iterator<Item = &'static str> {
    CELLS.iter().map(|(name, _)| *name)
}

/// The columns by name. Some have two names: that of the table on the screen and that of queries.
const CELLS: [(&str, Cell); 24] = [
    ("loc", Cell::Field(Field::Loc)),
    ("lastmod", Cell::Field(Field::Lastmod)),
    ("changefreq", Cell::Field(Field::Changefreq)),
    ("priority", Cell::Field(Field::Priority)),
    ("host", Cell::Host),
    ("path", Cell::Path),
    ("section", Cell::Section),
    ("depth", Cell::Depth),
    ("file", Cell::File),
    ("line", Cell::Line),
    ("image", Cell::Image),
    ("video", Cell::Video),
    ("news", Cell::News),
    ("alternate", Cell::Alternate),
    ("other", Cell::Other),
    ("images", Cell::Urls(UrlGroup::Images)),
    ("videos", Cell::Urls(UrlGroup::Videos)),
    ("alternates", Cell::Urls(UrlGroup::Alternates)),
    ("has", Cell::Has),
    ("is", Cell::Is),
    ("severity", Cell::Severity),
    ("finding", Cell::Severity),
    ("rule", Cell::Rules),
    ("rules", Cell::Rules),
];

impl Cell {
    /// Whether the value depends on other rows.
    const fn compares_rows(self) -> bool {
        matches!(self, Self::Severity | Self::Rules | Self::Is)
    }
}

/// The value of a column for a row.
enum Value<'v> {
    Absent,
    Text(Cow<'v, str>),
    Number(u64),
    Decimal(f64),
    /// The value, and its text in the table.
    Boolean(bool, Cow<'v, str>),
    List(Vec<Cow<'v, str>>),
}

/// Computes values of rows.
pub(super) struct Rows<'s> {
    session: &'s Session,
    locations: RowLocations<'s>,
}

impl<'s> Rows<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        Self { session, locations: RowLocations::new(session) }
    }

    fn value<'v>(&'v mut self, cell: Cell, row: RowId, facts: &SnapshotRow<'_, '_>) -> Value<'v> {
        let document = self.session.document();
        let text = |text: Option<Cow<'v, str>>| text.map_or(Value::Absent, Value::Text);
        let of_loc = |part: fn(&str) -> &str| {
            let loc = document.value(row, Field::Loc)?;
            Some(Cow::from(part(&loc).to_owned())).filter(|part| !part.is_empty())
        };
        match cell {
            Cell::Field(field) => text(document.value(row, field)),
            Cell::Host => text(of_loc(host)),
            Cell::Path => text(of_loc(path)),
            Cell::Section => text(of_loc(section)),
            Cell::Depth => match document.value(row, Field::Loc) {
                Some(loc) => Value::Number(u64::from(depth(&loc))),
                None => Value::Absent,
            },
            Cell::File => Value::Text(self.locations.file(row).into()),
            Cell::Line => self.locations.line(row).map_or(Value::Absent, |line| Value::Number(line.into())),
            Cell::Image => Value::Number(document.extensions(row).image.into()),
            Cell::Video => Value::Number(document.extensions(row).video.into()),
            Cell::News => Value::Number(document.extensions(row).news.into()),
            Cell::Alternate => Value::Number(document.extensions(row).alternate.into()),
            Cell::Other => Value::Number(document.extensions(row).other.into()),
            Cell::Urls(group) => {
                let (entry, text) = document.entry(row);
                let urls = urls(&entry, &text, document.names(row)).into_iter().filter(|url| url.group == group);
                Value::List(urls.map(|url| url.value.into()).collect())
            }
            Cell::Has => Value::List(words(Has::ALL.into_iter().filter(|(has, _)| has.holds(facts)))),
            Cell::Is => Value::List(words(State::ALL.into_iter().filter(|(state, _)| facts.is(*state)))),
            Cell::Severity => text(self.session.view().worst(row).map(Severity::name).map(Cow::from)),
            Cell::Data(column) => self.data(column, row),
            Cell::Rules => {
                Value::List(self.session.view().rules_of(row).iter().map(|rule| code(rule).into()).collect())
            }
        }
    }
}

impl<'s> Rows<'s> {
    /// The value of a data column for the URL of a row.
    fn data(&self, column: usize, row: RowId) -> Value<'s> {
        let found = || {
            let data = self.session.view().data.as_deref()?;
            let column = data.columns().get(column)?;
            let row = data.find(&self.session.document().value(row, Field::Loc)?)?;
            Some(match column.value(row) {
                data::Value::Number(number) => Value::Decimal(number),
                data::Value::Boolean(flag) => Value::Boolean(flag, column.text(row)?),
                _ => Value::Text(column.text(row)?),
            })
        };
        found().unwrap_or(Value::Absent)
    }
}

fn code(rule: Rule) -> &'static str {
    rule.code()
}

fn words<'v, T>(found: impl Iterator<Item = (T, &'static str)>) -> Vec<Cow<'v, str>> {
    found.map(|(_, word)| word.into()).collect()
}

/// Columns, and how they are printed.
pub(super) struct Columns {
    cells: Vec<(Cow<'static, str>, Cell)>,
    form: Form,
    has_header: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines(char),
    Json,
}

impl Columns {
    /// The columns to print; `None` for formats without columns.
    pub(super) fn of(list: &List) -> Result<Option<Self>, Failure> {
        let (form, has_header) = match list.format {
            ListFormat::Csv => (Form::Lines(','), true),
            ListFormat::Tsv => (Form::Lines('\t'), true),
            ListFormat::Text if !list.columns.is_empty() => (Form::Lines('\t'), false),
            ListFormat::Jsonl if !list.columns.is_empty() => (Form::Json, false),
            ListFormat::Text | ListFormat::Jsonl => return Ok(None),
        };
        let data = list.common.data_set()?;
        let data_names = || data.iter().flat_map(|data| data.columns()).map(Column::name);
        let named = list.columns.iter().map(|name| {
            let data_column = name.strip_prefix('@').and_then(|name| data_names().position(|known| known == name));
            if let Some(column) = data_column {
                return Ok((Cow::from(name.clone()), Cell::Data(column)));
            }
            let found = CELLS.iter().find(|(known, _)| known == name);
            found.map(|(name, cell)| (Cow::from(*name), *cell)).ok_or_else(|| {
                let data_names: Vec<String> = data_names().map(|name| format!("@{name}")).collect();
                let names = || CELLS.iter().map(|(name, _)| *name).chain(data_names.iter().map(String::as_str));
                let guess = nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean {near}?"));
                let hint = format!("columns are {}", listed(names()));
                Failure::Usage(format!("--columns {name}: unknown column{guess}"), hint)
            })
        });
        let mut cells = named.collect::<Result<Vec<_>, _>>()?;
        if cells.is_empty() {
            // Entries of an index only have loc and lastmod.
            let usual = CELLS.iter().take(if list.sitemaps { 2 } else { 4 });
            cells.extend(usual.map(|(name, cell)| (Cow::from(*name), *cell)));
        }
        Ok(Some(Self { cells, form, has_header: has_header && !list.no_header }))
    }

    /// Whether a column depends on other rows.
    pub(super) fn compares_rows(&self) -> bool {
        self.cells.iter().any(|(_, cell)| cell.compares_rows())
    }

    pub(super) fn print_header(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            Form::Lines(delimiter) if self.has_header => {
                write_line(delimiter, self.cells.iter().map(|(name, _)| Cow::from(&**name)), out)
            }
            _ => Ok(()),
        }
    }

    /// Prints the fields of an entry of an index.
    pub(super) fn print_index_entry<'v>(
        &self,
        value: impl Fn(Field) -> Option<Cow<'v, str>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Form::Lines(delimiter) = self.form else { return Ok(()) };
        let values = self.cells.iter().map(|(_, cell)| match cell {
            Cell::Field(field) => cell_text(*cell, &value(*field).map_or(Value::Absent, Value::Text)).into(),
            _ => "".into(),
        });
        write_line(delimiter, values, out)
    }

    /// Prints a row; `locs` are its URLs if its entry has several `loc`, each on a line of its own.
    pub(super) fn print_row(
        &self,
        rows: &mut Rows<'_>,
        (row, facts): (RowId, &SnapshotRow<'_, '_>),
        locs: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let delimiter = match self.form {
            Form::Json => return self.print_json_row(rows, (row, facts), locs, out),
            Form::Lines(delimiter) => delimiter,
        };
        let texts: Vec<String> =
            self.cells.iter().map(|(_, cell)| cell_text(*cell, &rows.value(*cell, row, facts))).collect();
        if locs.is_empty() {
            return write_line(delimiter, texts.into_iter().map(Cow::from), out);
        }
        for loc in locs {
            let values = self.cells.iter().zip(&texts).map(|((_, cell), text)| match cell {
                Cell::Field(Field::Loc) => safe_loc(loc).into(),
                _ => Cow::from(text.as_str()),
            });
            write_line(delimiter, values, out)?;
        }
        Ok(())
    }

    /// Prints a row as a JSON object with the columns in order.
    fn print_json_row(
        &self,
        rows: &mut Rows<'_>,
        (row, facts): (RowId, &SnapshotRow<'_, '_>),
        locs: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(b"{")?;
        for (number, (name, cell)) in self.cells.iter().enumerate() {
            write!(out, "{}\"{name}\":", if number > 0 { "," } else { "" })?;
            match rows.value(*cell, row, facts) {
                Value::Absent => out.write_all(b"null")?,
                Value::Text(text) => json(out, &*text)?,
                Value::Number(number) => write!(out, "{number}")?,
                Value::Decimal(number) if number.fract() == 0.0 => write!(out, "{number}")?,
                Value::Decimal(number) => json(out, &number)?,
                Value::Boolean(flag, _) => write!(out, "{flag}")?,
                Value::List(items) => json(out, &items)?,
            }
        }
        if !locs.is_empty() && self.cells.iter().any(|(_, cell)| *cell == Cell::Field(Field::Loc)) {
            out.write_all(b",\"locs\":")?;
            json(out, locs)?;
        }
        out.write_all(b"}\n")
    }
}

/// A value as text; the items of a list are separated by spaces.
fn cell_text(cell: Cell, value: &Value<'_>) -> String {
    match value {
        Value::Absent => String::new(),
        Value::Text(text) if cell == Cell::Field(Field::Loc) => safe_loc(text),
        Value::Text(text) | Value::Boolean(_, text) => plain(text),
        Value::Number(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| safe_loc(item).replace(' ', "%20")).collect();
            items.join(" ")
        }
    }
}

/// Writes values as a CSV or TSV line.
fn write_line<'v>(delimiter: char, values: impl Iterator<Item = Cow<'v, str>>, out: &mut dyn Write) -> io::Result<()> {
    for (number, value) in values.enumerate() {
        if number > 0 {
            write!(out, "{delimiter}")?;
        }
        // RFC 4180, section 2, 5 to 7.
        if value.contains([delimiter, '"']) {
            write!(out, "\"{}\"", value.replace('"', "\"\""))?;
        } else {
            write!(out, "{value}")?;
        }
    }
    writeln!(out)
}

/// Parses `--sort`; `None` keeps the order of the files.
pub(super) fn sort_keys(text: &str, common: &Common) -> Result<Option<Vec<SortKey>>, Failure> {
    if text.is_empty() {
        return Ok(None);
    }
    sort::parse(text, common.data_set()?).map(Some).map_err(|error| Failure::syntax("--sort", text, &error.into()))
}

/// Path and line of rows. Line breaks are counted in one pass if rows come in the order of their file.
pub(super) struct RowLocations<'s> {
    session: &'s Session,
    paths: Vec<Arc<str>>,
    counter: Option<(&'s Source, usize, Lines<'s>)>,
}

impl<'s> RowLocations<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        let paths = session.document().sitemaps().iter().map(|sitemap| match &sitemap.path {
            Some(path) => path.to_string_lossy().into(),
            None => Arc::clone(&sitemap.name),
        });
        Self { session, paths: paths.collect(), counter: None }
    }

    pub(super) fn file(&self, row: RowId) -> &str {
        self.paths.get(self.session.document().sitemap_of(row).index()).map_or("", |path| path)
    }

    pub(super) fn line(&mut self, row: RowId) -> Option<u32> {
        let (source, entry) = self.session.document().origin(row)?;
        let offset = source.offset(entry)?;
        let lines = match &mut self.counter {
            // `Lines` can only advance.
            Some((counted, last, lines)) if std::ptr::eq(*counted, source) && *last <= offset => {
                *last = offset;
                lines
            }
            other => &mut other.insert((source, offset, source.lines())).2,
        };
        Some(lines.position(offset).line)
    }
}
