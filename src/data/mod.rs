//! Data columns: tables of other programs about URLs (crawls, probes, statistics, logs) as typed read-only columns.
//!
//! A [`DataSet`] is read from tables whose rows are keyed by URL, and gives the value of a column for a URL. URLs are
//! compared by their normalised form (RFC 3986, 6.2.2), as in the rules for duplicates. Memory: 8 bytes per row of a
//! column of numbers or dates, 4 bytes per row of other columns plus each distinct text once, and each URL plus a slot
//! of 13 bytes in a hash table.

// Only probes extend data sets, which need the feature `net`.
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
pub(crate) use names::REDIRECT_LOOP;
pub(crate) use read::{ReadOptions, TableError, is_log};

use column::{ColumnBuilder, WriteColumn};
use roaring::RoaringBitmap;
use std::borrow::Cow;
use targets::Targets;
use urls::Urls;

/// The records of a [`DataSet`] for one URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRow {
    /// The record of the URL itself.
    own: Option<u32>,
    /// The record of a URL whose redirects end here, for columns in which the own record has no value.
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
    /// Names of the tables that it was read from.
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

    /// The row of a decoded URL. A URL at which redirects end has the data of the URL that redirected, unless it has a
    /// status of its own.
    pub fn find(&self, url: &str) -> Option<DataRow> {
        let mut scratch = String::new();
        let (key, half) = Urls::key_of(url, &mut scratch);
        let own = self.urls.find_key(key, half);
        let is_asked =
            || own.is_some_and(|own| self.column("status").is_some_and(|column| column.has(DataRow::of(own))));
        // The redirect may have changed since the target was recorded.
        let redirect = self.targets.find_key(key, half).filter(|record| {
            let target = targets::of(&self.columns, *record);
            target.is_some_and(|target| Urls::key_of(&target, &mut String::new()).0 == key) && !is_asked()
        });
        (own.is_some() || redirect.is_some()).then_some(DataRow { own, redirect })
    }

    /// The final URL of the redirects of a URL, if it has a page.
    pub fn target(&self, url: &str) -> Option<Cow<'_, str>> {
        targets::of(&self.columns, self.urls.find(url)?)
    }

    /// Names of the tables that it was read from, each once.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// Number of URLs.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Whether it has no URLs.
    pub fn is_empty(&self) -> bool {
        self.urls.len() == 0
    }

    /// Every row with its URL as in the table, in the order in which the URLs were first read.
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
    /// A builder that begins with a data set; values of tables that are added replace earlier ones.
    fn from(set: &DataSet) -> Self {
        let columns = set.columns.iter().map(ColumnBuilder::from).collect();
        Self { columns, urls: set.urls.unshared(), tables: set.tables.clone() }
    }
}

/// Number of rows that were read from one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TableSummary {
    /// Rows with a URL.
    pub rows: u64,
    /// Rows whose URL an earlier row of the table has; the later value counts.
    pub repeated: u64,
    /// Rows without a URL.
    pub without_url: u64,
}

impl DataSetBuilder {
    /// A builder without tables.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a table: CSV or TSV with a header, JSON Lines, or a log in the combined format.
    ///
    /// # Errors
    ///
    /// The text is none of these, has no column of URLs, or is damaged; the rows before the error are added.
    pub(crate) fn add(&mut self, text: &str, options: &ReadOptions<'_>) -> Result<TableSummary, TableError> {
        read::read(self, text, options)
    }

    /// Adds the name of a table.
    pub(crate) fn note_table(&mut self, name: &str) {
        if !self.tables.iter().any(|known| known == name) {
            self.tables.push(name.to_owned());
        }
    }

    /// The finished data set, in which every column has a kind.
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
    type Column = ColumnBuilder;

    fn row(&mut self, url: &str) -> Option<u32> {
        self.urls.insert(url)
    }

    fn columns(&mut self) -> &mut Vec<ColumnBuilder> {
        &mut self.columns
    }

    fn ungroup(&mut self, rows: &RoaringBitmap, can_be_comma: bool) {
        for column in &mut self.columns {
            column.ungroup(rows, can_be_comma);
        }
    }
}

/// A data set into which tables are read.
trait Sink {
    /// Its columns while they are written.
    type Column: WriteColumn;

    /// The row of a URL, which is added if absent; `None` if no more URLs fit.
    fn row(&mut self, url: &str) -> Option<u32>;

    /// The columns so far.
    fn columns(&mut self) -> &mut Vec<Self::Column>;

    /// Replaces grouped numbers in the rows of a table; see [`ColumnBuilder::ungroup`].
    fn ungroup(&mut self, rows: &RoaringBitmap, can_be_comma: bool);

    /// The position of the column with this name, which is added if absent.
    fn column(&mut self, name: &str) -> usize {
        let columns = self.columns();
        let known = columns.iter().position(|column| column.name() == name);
        known.unwrap_or_else(|| {
            columns.push(Self::Column::new(name.to_owned()));
            columns.len() - 1
        })
    }

    /// Sets the text of a row; see [`WriteColumn::set`].
    fn set(&mut self, column: usize, row: u32, text: &str) -> bool {
        self.columns().get_mut(column).is_none_or(|column| column.set(row, text))
    }

    /// Removes the value of a row.
    fn clear(&mut self, column: usize, row: u32) {
        if let Some(column) = self.columns().get_mut(column) {
            column.clear(row);
        }
    }
}

#[cfg(test)]
mod tests;
