//! `DataColumn`: a data column as a sort key.

use super::super::query::data_column;
use super::super::row_facts::Fact;
use crate::data::{Column, DataSet, Kind, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A data column; compared by name.
#[derive(Clone)]
pub struct DataColumn {
    set: Arc<DataSet>,
    column: usize,
}

impl DataColumn {
    /// The column of this name, given without `@`.
    ///
    /// # Errors
    ///
    /// A message if no data is loaded or there is no such column.
    pub fn named(name: &str, data: Option<&Arc<DataSet>>) -> Result<Self, String> {
        let (set, column) = data_column(data, name)?;
        Ok(Self { column, set: Arc::clone(set) })
    }

    /// Its name, without `@`.
    pub fn name(&self) -> &str {
        self.column().map_or("", Column::name)
    }

    fn column(&self) -> Option<&Column> {
        self.set.columns().get(self.column)
    }

    /// Whether its values are compared as texts.
    pub(super) fn is_text(&self) -> bool {
        self.column().is_some_and(|column| column.kind() == Kind::Text)
    }

    /// The text for a URL; empty if there is none.
    pub(super) fn text(&self, loc: &str) -> Cow<'_, str> {
        self.set.find(loc).and_then(|row| self.column()?.text(row)).unwrap_or_default()
    }

    /// A number that sorts as the value does.
    pub(super) fn fact(&self, loc: &str) -> Fact<u64> {
        const SIGN: u64 = 1 << 63;
        let value = || Some(self.column()?.value(self.set.find(loc)?));
        match value().unwrap_or(Value::Absent) {
            Value::Absent | Value::Text(_) => Fact::Absent,
            Value::Unreadable(_) => Fact::Unreadable,
            // As integers, the bits of positive floats ascend with the value; those of negative ones descend.
            Value::Number(number) if number.is_sign_negative() => Fact::Is(!number.to_bits()),
            Value::Number(number) => Fact::Is(number.to_bits() | SIGN),
            // Halved, so that no date gets one of the codes of missing values.
            Value::Date { seconds, .. } => Fact::Is((seconds / 2).cast_unsigned().wrapping_add(SIGN)),
            Value::Boolean(flag) => Fact::Is(u64::from(flag)),
        }
    }
}

impl PartialEq for DataColumn {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for DataColumn {}

impl fmt::Debug for DataColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataColumn(@{})", self.name())
    }
}
