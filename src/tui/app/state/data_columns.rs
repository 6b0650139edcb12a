//! The data columns shown in the table, and their widths.

use super::large::LargeEntries;
use crate::data::{DataRow, DataSet};
use crate::document::rows::RowId;
use crate::document::sort::DataColumn;
use crate::protocol::Field;
use crate::session::Session;
use crate::tui::draw::columns::{ColumnName, MAX_DATA_COLUMNS};
use crate::tui::text::{Charset, up_to};
use std::sync::Arc;

/// Maximum number of bytes of a value that are measured.
const MAX_MEASURED_BYTES: usize = 64;

/// The selected data columns. Each keeps its index until columns are removed.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataColumns {
    names: Vec<String>,
    /// Widths by index; they never shrink while the same columns are selected.
    widths: [usize; MAX_DATA_COLUMNS],
    /// The state that was measured: address of the data, number of its URLs, number of selected columns.
    measured: (usize, usize, usize),
}

impl DataColumns {
    /// The names, without `@`, by index.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Selects the column of a name, if it is not selected, and returns it.
    ///
    /// # Errors
    ///
    /// No data is loaded, there is no such column, or the maximum number is selected; as a message.
    pub(in crate::tui::app) fn select(
        &mut self,
        name: &str,
        data: Option<&Arc<DataSet>>,
    ) -> Result<ColumnName, String> {
        let name = DataColumn::named(name, data)?.name().to_owned();
        let at = self.names.iter().position(|known| *known == name);
        if at.is_none() && self.names.len() == MAX_DATA_COLUMNS {
            return Err(format!("the table shows {MAX_DATA_COLUMNS} data columns at most"));
        }
        Ok(ColumnName::Data(at.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })))
    }

    /// Deselects the columns that are not in `order`, and updates the indexes in it.
    pub(in crate::tui::app) fn keep_only(&mut self, order: &mut [ColumnName]) {
        let is_kept = |at: usize| order.contains(&ColumnName::Data(at));
        let kept: Vec<usize> = (0..self.names.len()).filter(|at| is_kept(*at)).collect();
        self.names = kept.iter().filter_map(|at| self.names.get(*at).cloned()).collect();
        for name in order {
            if let ColumnName::Data(at) = name {
                *at = kept.iter().position(|kept| kept == at).unwrap_or_default();
            }
        }
        (self.widths, self.measured) = ([0; MAX_DATA_COLUMNS], (0, 0, 0));
    }

    /// The widths of the selected columns; 0 for columns that the data does not have.
    pub(crate) fn widths(&self, session: &Session) -> [usize; MAX_DATA_COLUMNS] {
        let data = session.view().data.as_deref();
        let exists =
            |at: usize| self.names.get(at).is_some_and(|name| data.and_then(|data| data.column(name)).is_some());
        std::array::from_fn(|at| if exists(at) { self.widths.get(at).copied().unwrap_or_default() } else { 0 })
    }

    /// Widens the columns for the content of the data; of each column, a sample of its distinct values is measured.
    pub(super) fn measure(&mut self, session: &Session, charset: Charset) {
        let Some(data) = &session.view().data else { return };
        let state = (Arc::as_ptr(data).addr(), data.len(), self.names.len());
        if std::mem::replace(&mut self.measured, state) == state {
            return;
        }
        for (name, width) in self.names.iter().zip(&mut self.widths) {
            let Some(column) = data.column(name) else { continue };
            let widest = column.samples().map(|text| charset.width(up_to(&text, MAX_MEASURED_BYTES))).max();
            *width = (*width).max(charset.width(name) + 3).max(widest.unwrap_or_default());
        }
    }
}

/// The data of a row's URL; `None` if there is none, or if the URL has not been read yet.
pub(in crate::tui) fn data_row(session: &Session, large: &LargeEntries, row: RowId) -> Option<DataRow> {
    let data = session.view().data.as_deref()?;
    data.find(large.cell(session, row, Field::Loc)?.trim())
}
