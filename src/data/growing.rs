//! A data set to which batches of probe results are added while earlier versions of it are in use.
//!
//! Invariant: the cost of a batch is proportional to its size. Each version shares all unchanged pages with the
//! previous one, indexes grow by doubling, and the kind of a column is determined again when the number of its values
//! has doubled.

use super::column::{Column, GrowingColumn};
use super::targets::{self, Targets};
use super::urls::Urls;
use super::{DataSet, DataSetBuilder, ReadOptions, Sink, TableError, TableSummary, read};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// A data set to which tables are added, with a version after each.
#[derive(Debug, Default)]
pub(crate) struct GrowingDataSet {
    columns: Vec<GrowingColumn>,
    urls: Urls,
    targets: Targets,
    /// Records that were set since the last version.
    touched: Vec<u32>,
    tables: Vec<String>,
}

impl GrowingDataSet {
    /// A copy of a data set, with the name of the table that will be added.
    pub(crate) fn new(known: &DataSet, table: &str) -> Self {
        let (mut urls, mut tables) = (known.urls.unshared(), known.tables.clone());
        let mut targets = known.targets.unshared();
        urls.share();
        targets.share();
        if !tables.iter().any(|known| known == table) {
            tables.push(table.to_owned());
        }
        let columns = known.columns.iter().map(GrowingColumn::from).collect();
        Self { columns, urls, targets, touched: Vec::new(), tables }
    }

    /// Adds a table; a later value replaces an earlier one.
    ///
    /// # Errors
    ///
    /// As [`DataSetBuilder::add`].
    pub(crate) fn add(&mut self, text: &str, options: &ReadOptions<'_>) -> Result<TableSummary, TableError> {
        read::read(self, text, options)
    }

    /// The current version.
    pub(crate) fn version(&mut self) -> Arc<DataSet> {
        self.urls.share();
        let rows = self.urls.len();
        let columns: Vec<Column> = self.columns.iter_mut().map(|column| column.share(rows)).collect();
        for record in std::mem::take(&mut self.touched) {
            if let Some(target) = targets::of(&columns, record) {
                self.targets.insert(&target, record);
            }
        }
        self.targets.share();
        Arc::new(DataSet::new(columns, self.urls.clone(), self.targets.clone(), self.tables.clone()))
    }

    /// The data set as if all tables had been read at once.
    pub(crate) fn finish(mut self) -> Arc<DataSet> {
        Arc::new(DataSetBuilder::from(&*self.version()).finish())
    }
}

impl Sink for GrowingDataSet {
    type Column = GrowingColumn;

    fn row(&mut self, url: &str) -> Option<u32> {
        let row = self.urls.insert(url)?;
        self.touched.push(row);
        Some(row)
    }

    fn columns(&mut self) -> &mut Vec<GrowingColumn> {
        &mut self.columns
    }

    // Results of a probe have no grouped numbers.
    fn ungroup(&mut self, _: &RoaringBitmap, _: bool) {}
}
