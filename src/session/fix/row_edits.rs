//! The edits that a fix makes of several rows, and why others are left alone.

use crate::document::edit::{Edit, Value};
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;

/// What is done to rows, and why others are left alone.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) edits: Vec<Edit>,
    /// Rows that change, come or go.
    pub(super) rows: RowSet,
    pub(super) added: u64,
    pub(super) refused: u64,
    pub(super) reason: Option<String>,
}

impl Done {
    pub(super) fn refuse(&mut self, why: impl Into<String>) {
        self.refused += 1;
        self.reason.get_or_insert_with(|| why.into());
    }

    /// One field of rows, in rising order.
    pub(super) fn set_each(&mut self, field: Field, mut values: Vec<(RowId, Value)>) {
        values.sort_by_key(|(row, _)| *row);
        self.rows.extend(values.iter().map(|(row, _)| row.0));
        if !values.is_empty() {
            self.edits.push(Edit::SetEach { field, values });
        }
    }
}
