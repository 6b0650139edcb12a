//! Reads a table into data columns: CSV and TSV with a header, JSON Lines, and logs in the combined format.

use super::names::{URL_NAMES, column_name, column_names};
use super::{Sink, TableSummary};
use crate::protocol::lastmod;
use crate::protocol::location::Location;
use hashbrown::HashMap;
use roaring::RoaringBitmap;
use serde_json::Value as Json;

/// Delimiters, with those that cannot occur in URLs first.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Number of records that are examined to find the column of URLs.
const SAMPLE_RECORDS: usize = 1_000;

/// Options for reading a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadOptions<'o> {
    /// The name of the column of URLs, or its number from 1.
    pub key: Option<&'o str>,
    /// Scheme, host and port for the paths of a log: `https://example.com`.
    pub origin: Option<&'o str>,
}

/// Why a table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TableError {
    /// It has no row.
    #[error("the table is empty")]
    Empty,
    /// No column has a common name for URLs, and none or several columns contain URLs.
    #[error("no column holds the URLs; the columns are {}", .0.join(", "))]
    NoUrlColumn(Vec<String>),
    /// There is no column with the given name.
    #[error("there is no column {key:?}; the columns are {}", columns.join(", "))]
    UnknownKey {
        /// The given name.
        key: String,
        /// The columns of the table.
        columns: Vec<String>,
    },
    /// A line is not in the format of the first lines.
    #[error("line {line}: {message}")]
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// What was expected.
        message: String,
    },
    /// The table is a log, which has only paths, and the base URL is unknown.
    #[error("a log has paths, and the base URL of the site is not known")]
    NoOrigin,
    /// The texts of a column, or the URLs, are 4 GiB or more.
    #[error("one column has more than 4 GiB of text")]
    TooLarge,
}

/// Reads one table into the data set.
pub(super) fn read<S: Sink>(set: &mut S, text: &str, options: &ReadOptions<'_>) -> Result<TableSummary, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else { return Err(TableError::Empty) };
    let mut table = Table { set, summary: TableSummary::default(), seen: RoaringBitmap::new() };
    if first.trim_start().starts_with('{') {
        read_json_lines(&mut table, text, options)?;
    } else if LogLine::parse(first).is_some() {
        read_log(&mut table, text, options)?;
    } else {
        read_separated(&mut table, text, options)?;
    }
    // If a semicolon separates the values, a comma is a decimal separator.
    let can_be_comma = delimiter(text) != b';';
    table.set.ungroup(&table.seen, can_be_comma);
    Ok(table.summary)
}

/// Whether a text is a log in the combined format.
pub(crate) fn is_log(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| LogLine::parse(line).is_some())
}

/// State of reading a table.
struct Table<'s, S> {
    set: &'s mut S,
    summary: TableSummary,
    /// Rows that this table has set.
    seen: RoaringBitmap,
}

impl<S: Sink> Table<'_, S> {
    /// The row of a URL of this table; `None` for a row without one.
    fn row(&mut self, url: &str) -> Result<Option<u32>, TableError> {
        let url = url.trim();
        if url.is_empty() {
            self.summary.without_url += 1;
            return Ok(None);
        }
        let row = self.set.row(url).ok_or(TableError::TooLarge)?;
        self.summary.rows += 1;
        self.summary.repeated += u64::from(!self.seen.insert(row));
        Ok(Some(row))
    }

    fn set(&mut self, column: usize, row: u32, text: &str) -> Result<(), TableError> {
        if self.set.set(column, row, text.trim()) { Ok(()) } else { Err(TableError::TooLarge) }
    }

    fn clear(&mut self, column: usize, row: u32) {
        self.set.clear(column, row);
    }
}

fn is_url(text: &str) -> bool {
    Location::of(text.trim()).origin().is_some()
}

fn read_separated(table: &mut Table<'_, impl Sink>, text: &str, options: &ReadOptions<'_>) -> Result<(), TableError> {
    let delimiter = delimiter(text);
    let mut reader = csv::ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let headings = reader.headers().map_err(|error| line_error(&error))?.clone();
    let headings: Vec<String> = headings.iter().map(|heading| heading.trim().to_owned()).collect();
    let sample = || {
        let reader = csv::ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
        reader.into_records().take(SAMPLE_RECORDS).filter_map(Result::ok)
    };
    let holds_urls = |column: usize| {
        let mut values = sample().filter_map(|record| record.get(column).map(ToOwned::to_owned)).peekable();
        values.peek().is_some() && values.all(|value| value.trim().is_empty() || is_url(&value))
    };
    let key = key_column(&headings, options.key, holds_urls)?;
    let columns: Vec<Option<usize>> = headings
        .iter()
        .enumerate()
        .zip(column_names(headings.iter().map(AsRef::as_ref)))
        .map(|((at, heading), name)| (at != key && !heading.is_empty()).then(|| table.set.column(&name)))
        .collect();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| line_error(&error))? {
        let Some(row) = table.row(record.get(key).unwrap_or_default())? else { continue };
        for (value, column) in record.iter().zip(&columns) {
            if let Some(column) = column {
                table.set(*column, row, value)?;
            }
        }
    }
    Ok(())
}

fn line_error(error: &csv::Error) -> TableError {
    let line = error.position().map_or(1, csv::Position::line);
    TableError::Line { line, message: "a CSV record is damaged".to_owned() }
}

/// The delimiter that occurs most often in the header.
fn delimiter(text: &str) -> u8 {
    let names = text.lines().next().unwrap_or_default();
    // Every second part is inside quotes.
    let unquoted = || names.split('"').step_by(2).flat_map(str::bytes);
    let count = |delimiter: &u8| unquoted().filter(|byte| byte == delimiter).count();
    DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(b',')
}

/// The column of URLs: the given one, else one with a common name, else the only one whose values are URLs.
fn key_column(headings: &[String], key: Option<&str>, holds_urls: impl Fn(usize) -> bool) -> Result<usize, TableError> {
    let position = |name: &str| headings.iter().position(|heading| heading.eq_ignore_ascii_case(name));
    if let Some(key) = key {
        let number = key.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let found = position(key).or(number.filter(|at| *at < headings.len()));
        return found.ok_or_else(|| TableError::UnknownKey { key: key.to_owned(), columns: headings.to_vec() });
    }
    if let Some(found) = URL_NAMES.into_iter().find_map(position) {
        return Ok(found);
    }
    let mut holding = (0..headings.len()).filter(|at| holds_urls(*at));
    match (holding.next(), holding.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(TableError::NoUrlColumn(headings.to_vec())),
    }
}

fn read_json_lines(table: &mut Table<'_, impl Sink>, text: &str, options: &ReadOptions<'_>) -> Result<(), TableError> {
    let mut key: Option<String> = options.key.map(ToOwned::to_owned);
    let mut columns: HashMap<String, usize> = HashMap::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line_number = at as u64 + 1;
        let damaged = |error: &serde_json::Error| TableError::Line {
            line: line_number,
            message: format!("expected one JSON object per line: {error}"),
        };
        let object: serde_json::Map<String, Json> = match serde_json::from_str(line) {
            Ok(object) => object,
            // The last line may be incomplete if the probe was stopped.
            Err(error) if error.is_eof() && text.lines().nth(at + 1).is_none() => break,
            Err(error) => return Err(damaged(&error)),
        };
        let key = match &key {
            Some(key) => key,
            None => key.insert(json_key(&object)?),
        };
        let url = object.get(key).and_then(Json::as_str).unwrap_or_default();
        let Some(row) = table.row(url)? else { continue };
        for (name, value) in object.iter().filter(|(name, _)| *name != key) {
            let column = match columns.get(name) {
                Some(column) => *column,
                None => *columns.entry(name.clone()).or_insert(table.set.column(&column_name(name))),
            };
            if value.is_null() {
                // Unlike an empty cell, null removes an earlier value: the page was probed again.
                table.clear(column, row);
            } else {
                table.set(column, row, &json_text(value))?;
            }
        }
    }
    Ok(())
}

/// The member with the URL: one with a common name, else the only one whose value is a URL.
fn json_key(object: &serde_json::Map<String, Json>) -> Result<String, TableError> {
    let headings: Vec<String> = object.keys().cloned().collect();
    let holds_url = |at: usize| object.get(&headings[at]).and_then(Json::as_str).is_some_and(is_url);
    key_column(&headings, None, holds_url).map(|at| headings[at].clone())
}

/// A JSON value as the text of a cell: the first item of a list, an object as JSON.
fn json_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(values) => values.first().map(json_text).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// A line of a log in the combined format (Apache, nginx):
/// `HOST - USER [DATE] "METHOD PATH VERSION" STATUS BYTES "REFERER" "AGENT"`.
struct LogLine<'l> {
    path: &'l str,
    date: &'l str,
    agent: &'l str,
}

impl<'l> LogLine<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let (_, rest) = line.split_once(" [")?;
        let (date, rest) = rest.split_once("] \"")?;
        let (request, rest) = rest.split_once('"')?;
        let mut words = request.split(' ');
        let method = words.next()?;
        let path = words.next()?;
        let is_request = words.next().is_some_and(|version| version.starts_with("HTTP/"));
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        let agent = rest.rsplit('"').nth(1).unwrap_or_default();
        (is_request && is_method).then_some(Self { path, date, agent })
    }

    /// Seconds since 1970 of `10/Oct/2026:13:55:36 +0200`.
    fn seconds(&self) -> Option<i64> {
        let (day, rest) = self.date.split_once('/')?;
        let (month, rest) = rest.split_once('/')?;
        let (year, time) = rest.split_once(':')?;
        let (time, zone) = time.split_once(' ')?;
        lastmod::validate(&format!("{day} {month} {year} {time} {zone}")).instant.map(|instant| instant.seconds)
    }
}

/// Counts the requests of Googlebot for each URL and keeps the time of the last one.
fn read_log(table: &mut Table<'_, impl Sink>, text: &str, options: &ReadOptions<'_>) -> Result<(), TableError> {
    let origin = options.origin.ok_or(TableError::NoOrigin)?.trim_end_matches('/');
    let mut hits: HashMap<&str, (u64, i64, &str)> = HashMap::new();
    let mut order = Vec::new();
    for line in text.lines() {
        // Logs contain arbitrary requests of clients, so lines in another format are skipped.
        let Some(line) = LogLine::parse(line) else { continue };
        if !line.path.starts_with('/') || !line.agent.contains("Googlebot") {
            continue;
        }
        let seconds = line.seconds().unwrap_or(i64::MIN);
        let entry = hits.entry(line.path).or_insert_with(|| {
            order.push(line.path);
            (0, i64::MIN, "")
        });
        entry.0 += 1;
        if seconds > entry.1 {
            (entry.1, entry.2) = (seconds, line.date);
        }
    }
    let (count, last) = (table.set.column("hits"), table.set.column("last_hit"));
    for path in order {
        let Some((hits, seconds, _)) = hits.get(path) else { continue };
        let Some(row) = table.row(&format!("{origin}{path}"))? else { continue };
        table.set(count, row, &hits.to_string())?;
        if *seconds != i64::MIN {
            table.set(last, row, &lastmod::Now { seconds: *seconds, offset: 0 }.timestamp())?;
        }
    }
    Ok(())
}
