//! The data columns shown in the table, and their widths.

use super::large::LargeEntries;
use crate::data::{DataRow, DataSet};
use crate::document::rows::RowId;
use crate::document::sort::DataColumn;
use crate::protocol::Field;
use crate::session::Session;
use crate::tui::draw::columns::{MOST_DATA, Name};
use crate::tui::text::{Charset, up_to};
use std::sync::Arc;

/// Bytes of a value that are measured.
const MEASURED: usize = 64;

/// The data columns that were chosen, each with a place that it keeps while a set is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataColumns {
    names: Vec<String>,
    /// By place. A width only grows.
    widths: [usize; MOST_DATA],
    /// What the widths were measured of: where the data is held, how many URLs it has, how many columns were chosen.
    measured: (usize, usize, usize),
}

impl DataColumns {
    /// The names, without `@`, by place.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// The column of a name, which gets a place if it has none.
    ///
    /// # Errors
    ///
    /// No data is loaded, there is no such column, or all places are taken; in words.
    pub(in crate::tui::app) fn choose(&mut self, name: &str, data: Option<&Arc<DataSet>>) -> Result<Name, String> {
        let name = DataColumn::named(name, data)?.name().to_owned();
        let at = self.names.iter().position(|known| *known == name);
        if at.is_none() && self.names.len() == MOST_DATA {
            return Err(format!("the table shows {MOST_DATA} data columns at most"));
        }
        Ok(Name::Data(at.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })))
    }

    /// Drops the columns that are not in this order, so that their places are free.
    pub(in crate::tui::app) fn keep_only(&mut self, order: &mut [Name]) {
        let is_kept = |at: usize| order.contains(&Name::Data(at));
        let kept: Vec<usize> = (0..self.names.len()).filter(|at| is_kept(*at)).collect();
        self.names = kept.iter().filter_map(|at| self.names.get(*at).cloned()).collect();
        for name in order {
            if let Name::Data(at) = name {
                *at = kept.iter().position(|kept| kept == at).unwrap_or_default();
            }
        }
        (self.widths, self.measured) = ([0; MOST_DATA], (0, 0, 0));
    }

    /// The widths of those that the data has.
    pub(crate) fn widths(&self, session: &Session) -> [usize; MOST_DATA] {
        let data = session.view().data.as_deref();
        let is_there =
            |at: usize| self.names.get(at).is_some_and(|name| data.and_then(|data| data.column(name)).is_some());
        std::array::from_fn(|at| if is_there(at) { self.widths.get(at).copied().unwrap_or_default() } else { 0 })
    }

    /// Widens the columns for what the data holds; of each, some of the different values.
    pub(super) fn measure(&mut self, session: &Session, charset: Charset) {
        let Some(data) = &session.view().data else { return };
        let state = (Arc::as_ptr(data).addr(), data.len(), self.names.len());
        if std::mem::replace(&mut self.measured, state) == state {
            return;
        }
        for (name, width) in self.names.iter().zip(&mut self.widths) {
            let Some(column) = data.column(name) else { continue };
            let widest = column.samples().map(|text| charset.width(up_to(&text, MEASURED))).max();
            *width = (*width).max(charset.width(name) + 3).max(widest.unwrap_or_default());
        }
    }
}

/// The row of the data for the URL of a row, as far as the URL is known.
pub(in crate::tui) fn data_row(session: &Session, large: &LargeEntries, row: RowId) -> Option<DataRow> {
    let data = session.view().data.as_deref()?;
    data.find(large.cell(session, row, Field::Loc)?.trim())
}
