//! A data column as what rows are sorted by.

use super::super::query::data_column;
use super::super::row_facts::Fact;
use crate::data::{Column, DataSet, Kind, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A data column. Two are equal when their names are.
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
    /// No data is loaded, or there is no such column; in words.
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

    /// The text for a URL; empty where there is none.
    pub(super) fn text(&self, loc: &str) -> Cow<'_, str> {
        self.set.find(loc).and_then(|row| self.column()?.text(row)).unwrap_or_default()
    }

    /// A number whose order is that of the values.
    pub(super) fn fact(&self, loc: &str) -> Fact<u64> {
        const SIGN: u64 = 1 << 63;
        let value = || Some(self.column()?.value(self.set.find(loc)?));
        match value().unwrap_or(Value::Absent) {
            Value::Absent | Value::Text(_) => Fact::Absent,
            Value::Unreadable(_) => Fact::Unreadable,
            // The bits of positive numbers rise with them, those of negative ones fall.
            Value::Number(number) if number.is_sign_negative() => Fact::Is(!number.to_bits()),
            Value::Number(number) => Fact::Is(number.to_bits() | SIGN),
            // Half the range, which no date leaves.
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
