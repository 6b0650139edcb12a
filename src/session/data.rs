//! Tables of other programs on an open set: how they are read, which rows they know, and what the set lacks.

use crate::data::{Column, DataRow, DataSet, DataSetBuilder, Kind, ReadOptions, TableSummary};
use crate::document::rows::RowId;
use crate::files;
use crate::progress::{Progress, note_work};
use crate::protocol::{Field, location};
use crate::session::command::Tables;
use crate::session::edit::EditError;
use crate::session::state::Snapshot;
use crate::words::{counted, grouped};
use rayon::prelude::*;
use roaring::RoaringBitmap;
use std::path::Path;
use std::sync::Arc;

/// Rows that one core looks up before it asks whether it should stop.
const SLICE: usize = 4_096;

/// What is read as a table.
pub const FORMS: &str = "a table is CSV or TSV with a line of names, JSON Lines or a log in the combined format";

/// Reads tables, with what is known already unless they replace it; says what was read.
///
/// # Errors
///
/// A file that cannot be read, or is no table.
pub fn read(
    tables: &Tables,
    snapshot: &Snapshot,
    progress: &Progress,
) -> Result<Option<(Arc<DataSet>, String)>, EditError> {
    let known = snapshot.data.as_deref().filter(|_| !tables.replace);
    let mut builder = known.map_or_else(DataSetBuilder::new, DataSetBuilder::from);
    let own = snapshot.base_url.as_deref().and_then(location::origin).map(|(origin, _)| origin);
    let origin = own.or_else(|| snapshot.checks.set().main_origin().map(|(origin, _)| origin));
    let options = ReadOptions { key: tables.key.as_deref(), origin };
    let mut sum = TableSummary::default();
    for path in &tables.paths {
        let text = files::read_text(Path::new(path)).map_err(|error| EditError::Refused(error.to_string()))?;
        let summary = builder.add(&text, &options);
        let summary =
            summary.map_err(|error| EditError::Refused(format!("{path}: {error}; {FORMS}; --key names the URLs")))?;
        builder.note_table(path);
        sum.rows += summary.rows;
        sum.without_url += summary.without_url;
        if progress.is_cancelled() {
            return Ok(None);
        }
    }
    let data = Arc::new(builder.finish());
    let without = match sum.without_url {
        0 => String::new(),
        count => format!(" ({} without a URL left out)", grouped(count)),
    };
    let columns = counted(data.columns().len() as u64, "column");
    let words = match tables.paths.as_slice() {
        [only] => only.clone(),
        paths => counted(paths.len() as u64, "table"),
    };
    Ok(Some((data, format!("{words}: {}{without}, {columns} in all", counted(sum.rows, "row")))))
}

/// Which rows of a set data columns know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Live rows.
    pub rows: u64,
    /// Those whose URL is in the data.
    pub known: u64,
    /// Of each column, its name, what it holds, and how many rows have a value in it.
    pub columns: Vec<(String, Kind, u64)>,
    /// URLs of the data.
    pub urls: u64,
    /// Those that no row has.
    pub missing: u64,
}

/// Which URLs of data have been met, row by row.
#[derive(Debug, Clone, Default)]
pub struct Met {
    rows: u64,
    known: u64,
    by_column: Vec<u64>,
    urls: RoaringBitmap,
}

impl Met {
    /// Notes a row of the set with its URL.
    pub fn note(&mut self, data: &DataSet, loc: &str) {
        self.rows += 1;
        let Some(row) = data.find(loc) else { return };
        self.known += 1;
        self.urls.insert(row.number());
        self.by_column.resize(data.columns().len(), 0);
        for (count, column) in self.by_column.iter_mut().zip(data.columns()) {
            *count += u64::from(column.has(row));
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.rows += other.rows;
        self.known += other.known;
        self.urls |= other.urls;
        self.by_column.resize(self.by_column.len().max(other.by_column.len()), 0);
        self.by_column.iter_mut().zip(other.by_column).for_each(|(count, more)| *count += more);
        self
    }

    /// The live rows of a set, on all cores. `None` when cancelled.
    pub fn of(snapshot: &Snapshot, data: &DataSet, progress: &Progress) -> Option<Self> {
        let document = &snapshot.document;
        note_work(document.row_limit() as usize);
        let rows: Vec<RowId> = document.rows().filter(|row| document.is_live(*row)).collect();
        let slices = rows.par_chunks(SLICE).map(|slice| {
            let mut met = Self::default();
            for row in slice {
                met.note(data, document.value(*row, Field::Loc).as_deref().unwrap_or_default());
            }
            (!progress.is_cancelled()).then_some(met)
        });
        slices.try_reduce(Self::default, |one, other| Some(one.and(other)))
    }

    /// What was met of the data, counted.
    pub fn coverage(&self, data: &DataSet) -> Coverage {
        let count = |at: usize| self.by_column.get(at).copied().unwrap_or_default();
        let column = |(at, column): (usize, &Column)| (column.name().to_owned(), column.kind(), count(at));
        let urls = data.len() as u64;
        Coverage {
            rows: self.rows,
            known: self.known,
            columns: data.columns().iter().enumerate().map(column).collect(),
            urls,
            missing: urls - self.urls.len(),
        }
    }

    /// The URLs of the data that were not met, as the tables have them, in their order.
    pub fn missing<'d>(&'d self, data: &'d DataSet) -> impl Iterator<Item = (DataRow, &'d str)> {
        data.urls().filter(|(row, _)| !self.urls.contains(row.number()))
    }
}
