//! Data columns: what other programs know about URLs (crawls, probes, statistics, logs), as typed read-only columns.
//!
//! A [`DataSet`] is read from tables whose rows are keyed by URL. It answers "what is the value of this column for this
//! URL"; URLs are compared by their normalised form (RFC 3986, 6.2.2), as the rules for duplicates compare them. It holds
//! 8 bytes for each row of a column of numbers or dates and 4 bytes for each of any other, every different text of the
//! latter once, and each URL with its place in a table of 13 bytes and what that leaves free.

mod cell;
mod column;
mod interner;
mod names;
mod read;

pub(crate) use column::{Column, Kind, Value};
pub(crate) use column::{parse_boolean, parse_number};
pub(crate) use read::{ReadOptions, TableError};

use crate::progress::note_work;
use crate::protocol::location;
use column::ColumnBuilder;
use hashbrown::{HashMap, HashTable};

/// Which row of a [`DataSet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRow(u32);

impl DataRow {
    /// Its number, from 0.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Tables joined by URL.
#[derive(Debug, Default)]
pub struct DataSet {
    columns: Vec<Column>,
    urls: Urls,
    /// What the tables are called that it was read from.
    tables: Vec<String>,
}

/// The URLs of a data set, found by their normalised form.
#[derive(Debug, Default, Clone)]
struct Urls {
    /// All URLs as written, one after the other.
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
    /// The normalised form of those that are written in another one, so that none is normalised twice.
    keys: HashMap<u32, Box<str>>,
    /// Half of the hash of the key, and the row.
    index: HashTable<(u32, u32)>,
}

/// The hash of a table's slot, from the half that the table holds: no URL is hashed again when the table grows. 32 bits
/// are enough to find a slot; whether it is the URL, the texts decide.
const fn spread(half: u32) -> u64 {
    (half as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Urls {
    fn get(&self, row: u32) -> &str {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before as usize)).map_or(0, |end| *end as usize);
        let end = self.ends.get(row as usize).map_or(start, |end| *end as usize);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The normalised form of a row's URL.
    fn key(&self, row: u32) -> &str {
        self.keys.get(&row).map_or_else(|| self.get(row), AsRef::as_ref)
    }

    fn find(&self, url: &str) -> Option<u32> {
        let mut scratch = String::new();
        let key = location::key(url, &mut scratch);
        note_work(1);
        self.find_key(key, location::hash_of_key(key) as u32)
    }

    fn find_key(&self, key: &str, half: u32) -> Option<u32> {
        self.index.find(spread(half), |(own, row)| *own == half && self.key(*row) == key).map(|(_, row)| *row)
    }

    /// The row of the URL, a new one where it was not there; `None` where all URLs together are 4 GiB or more.
    fn insert(&mut self, url: &str) -> Option<u32> {
        let mut scratch = String::new();
        let key = location::key(url, &mut scratch);
        note_work(1);
        let half = location::hash_of_key(key) as u32;
        if let Some(row) = self.find_key(key, half) {
            return Some(row);
        }
        let end = u32::try_from(self.text.len() + url.len()).ok()?;
        let row = u32::try_from(self.ends.len()).ok()?;
        self.text.push_str(url);
        self.ends.push(end);
        if key != url {
            self.keys.insert(row, key.into());
        }
        self.index.insert_unique(spread(half), (half, row), |(half, _)| spread(*half));
        Some(row)
    }
}

impl DataSet {
    /// The columns in the order of the tables.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name, given without `@`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// The row of a URL, given decoded.
    pub fn find(&self, url: &str) -> Option<DataRow> {
        self.urls.find(url).map(DataRow)
    }

    /// What the tables are called that it was read from, each once.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// How many URLs it knows.
    pub fn len(&self) -> usize {
        self.urls.ends.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.urls.ends.is_empty()
    }

    /// Every row with its URL as the table has it, in the order in which they were read first.
    pub fn urls(&self) -> impl Iterator<Item = (DataRow, &str)> {
        (0..self.urls.ends.len() as u32).map(|row| (DataRow(row), self.urls.get(row)))
    }
}

/// Reads tables into one [`DataSet`].
#[derive(Debug, Default)]
pub(crate) struct DataSetBuilder {
    columns: Vec<ColumnBuilder>,
    urls: Urls,
    tables: Vec<String>,
}

impl From<&DataSet> for DataSetBuilder {
    /// A data set to which tables are added: a later value replaces an earlier one.
    fn from(set: &DataSet) -> Self {
        let columns = set.columns.iter().map(ColumnBuilder::from).collect();
        Self { columns, urls: set.urls.clone(), tables: set.tables.clone() }
    }
}

/// What was read of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TableSummary {
    /// Rows with a URL.
    pub rows: u64,
    /// Rows whose URL a row of the table before had already; the later value counts.
    pub repeated: u64,
    /// Rows without a URL.
    pub without_url: u64,
}

impl DataSetBuilder {
    /// A data set without tables.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a table: CSV or TSV with a line of names, JSON Lines, or a log in the combined format.
    ///
    /// # Errors
    ///
    /// The text is none of these, has no column of URLs, or is damaged; what was read before stays.
    pub(crate) fn add(&mut self, text: &str, options: &ReadOptions<'_>) -> Result<TableSummary, TableError> {
        read::read(self, text, options)
    }

    /// Notes what a table is called that is added.
    pub(crate) fn note_table(&mut self, name: &str) {
        if !self.tables.iter().any(|known| known == name) {
            self.tables.push(name.to_owned());
        }
    }

    /// The columns with their kinds.
    pub(crate) fn finish(self) -> DataSet {
        let Self { columns, mut urls, tables } = self;
        let rows = urls.ends.len();
        urls.text.shrink_to_fit();
        urls.ends.shrink_to_fit();
        DataSet { columns: columns.into_iter().map(|column| column.finish(rows)).collect(), urls, tables }
    }

    /// The number of the column of this name, a new one where there was none.
    fn column(&mut self, name: &str) -> usize {
        if let Some(found) = self.columns.iter().position(|column| column.name() == name) {
            return found;
        }
        self.columns.push(ColumnBuilder::new(name.to_owned()));
        self.columns.len() - 1
    }
}

#[cfg(test)]
mod tests;
