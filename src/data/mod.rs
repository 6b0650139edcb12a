//! Data columns: what other programs know about URLs (crawls, probes, statistics, logs), as typed read-only columns.
//!
//! A [`DataSet`] is read from tables whose rows are keyed by URL. It answers "what is the value of this column for this
//! URL"; URLs are compared by their normalised form (RFC 3986, 6.2.2), as the rules for duplicates compare them. It holds
//! 8 bytes for each row of a column of numbers or dates and 4 bytes for each of any other, every different text of the
//! latter once, and each URL with its place in a table of 13 bytes and what that leaves free.

// Only answers of the site are added while a data set is read.
#![cfg_attr(not(feature = "net"), allow(dead_code))]

mod cell;
mod column;
mod grouped;
mod growing;
mod interner;
mod names;
mod read;
mod targets;
mod urls;

pub(crate) use column::{Column, Kind, Value};
pub(crate) use column::{parse_boolean, parse_number};
#[cfg_attr(not(feature = "net"), allow(unused_imports))]
pub(crate) use growing::GrowingDataSet;
pub(crate) use read::{ReadOptions, TableError, is_log};

use column::ColumnBuilder;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use targets::Targets;
use urls::Urls;

/// What a [`DataSet`] holds of one URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRow {
    /// The record of the URL itself.
    own: Option<u32>,
    /// The record of a URL whose redirects end here, for what the own record does not tell.
    redirect: Option<u32>,
}

impl DataRow {
    const fn of(own: u32) -> Self {
        Self { own: Some(own), redirect: None }
    }

    /// The numbers of its records, from 0.
    pub fn records(self) -> impl Iterator<Item = u32> {
        self.own.into_iter().chain(self.redirect)
    }
}

/// Tables joined by URL.
#[derive(Debug, Default)]
pub struct DataSet {
    columns: Vec<Column>,
    urls: Urls,
    targets: Targets,
    /// What the tables are called that it was read from.
    tables: Vec<String>,
}

impl DataSet {
    fn new(mut columns: Vec<Column>, urls: Urls, targets: Targets, tables: Vec<String>) -> Self {
        targets::link(&mut columns);
        Self { columns, urls, targets, tables }
    }

    /// The columns in the order of the tables.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name, given without `@`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// The row of a URL, given decoded. A URL without a status of its own at which redirects end has the data of the URL
    /// that redirected.
    pub fn find(&self, url: &str) -> Option<DataRow> {
        let mut scratch = String::new();
        let (key, half) = Urls::key_of(url, &mut scratch);
        let own = self.urls.find_key(key, half);
        let is_asked =
            || own.is_some_and(|own| self.column("status").is_some_and(|column| column.has(DataRow::of(own))));
        // A redirect may lead elsewhere since it was noted.
        let redirect = self.targets.find_key(key, half).filter(|record| {
            let target = targets::of(&self.columns, *record);
            target.is_some_and(|target| Urls::key_of(&target, &mut String::new()).0 == key) && !is_asked()
        });
        (own.is_some() || redirect.is_some()).then_some(DataRow { own, redirect })
    }

    /// Where the redirects of a URL end, if a page answered there.
    pub fn target(&self, url: &str) -> Option<Cow<'_, str>> {
        targets::of(&self.columns, self.urls.find(url)?)
    }

    /// What the tables are called that it was read from, each once.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// How many URLs it knows.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.urls.len() == 0
    }

    /// Every row with its URL as the table has it, in the order in which they were read first.
    pub fn urls(&self) -> impl Iterator<Item = (DataRow, &str)> {
        (0..self.urls.len() as u32).map(|row| (DataRow::of(row), self.urls.get(row)))
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
        Self { columns, urls: set.urls.unshared(), tables: set.tables.clone() }
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
        let rows = urls.len();
        urls.shrink_to_fit();
        let columns: Vec<Column> = columns.into_iter().map(|column| column.finish(rows)).collect();
        let mut targets = Targets::default();
        for record in 0..rows as u32 {
            if let Some(target) = targets::of(&columns, record) {
                targets.insert(&target, record);
            }
        }
        DataSet::new(columns, urls, targets, tables)
    }
}

impl Sink for DataSetBuilder {
    fn row(&mut self, url: &str) -> Option<u32> {
        self.urls.insert(url)
    }

    fn column(&mut self, name: &str) -> usize {
        if let Some(found) = self.columns.iter().position(|column| column.name() == name) {
            return found;
        }
        self.columns.push(ColumnBuilder::new(name.to_owned()));
        self.columns.len() - 1
    }

    fn set(&mut self, column: usize, row: u32, text: &str) -> bool {
        self.columns.get_mut(column).is_none_or(|column| column.set(row, text))
    }

    fn clear(&mut self, column: usize, row: u32) {
        if let Some(column) = self.columns.get_mut(column) {
            column.clear(row);
        }
    }

    fn ungroup(&mut self, rows: &RoaringBitmap, can_be_comma: bool) {
        for column in &mut self.columns {
            column.ungroup(rows, can_be_comma);
        }
    }
}

/// What tables are read into.
trait Sink {
    /// The row of a URL, a new one where it was not there; `None` where no more URLs can be held.
    fn row(&mut self, url: &str) -> Option<u32>;

    /// The number of the column of this name, a new one where there was none.
    fn column(&mut self, name: &str) -> usize;

    /// Sets the text of a row. An empty text keeps what an earlier table said. `false`: no more texts can be held.
    fn set(&mut self, column: usize, row: u32, text: &str) -> bool;

    /// Removes the text of a row.
    fn clear(&mut self, column: usize, row: u32);

    /// Reads the numbers of a table whose digits are grouped, in the rows that it has set.
    fn ungroup(&mut self, rows: &RoaringBitmap, can_be_comma: bool);
}

#[cfg(test)]
mod tests;
