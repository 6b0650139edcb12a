//! Sets fields to the values that data columns have for the URLs of the rows.

use crate::data::{Column, DataSet, Value};
use crate::document::edit;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Field, lastmod, location};
use crate::session::command::DataValue;
use crate::session::state::Snapshot;

/// A data column as the source of a field's values.
pub(super) struct DataSource<'s> {
    field: Field,
    value: DataValue<'s>,
    data: &'s DataSet,
    column: &'s Column,
    /// The largest number among the selected rows, for a scale.
    largest: f64,
}

impl<'s> DataSource<'s> {
    /// The source that a typed value names; `None` if it is a plain value.
    ///
    /// # Errors
    ///
    /// A message: there is no such column, or its kind does not fit the field.
    pub(super) fn of(
        snapshot: &'s Snapshot,
        rows: &RowSet,
        field: Field,
        typed: &'s str,
    ) -> Result<Option<Self>, String> {
        let Some(value) = DataValue::parse(typed) else { return Ok(None) };
        let value = value?;
        let column = value.column(field, snapshot.data.as_ref())?;
        let Some(data) = snapshot.data.as_deref() else { return Ok(None) };
        let mut source = Self { field, value, data, column, largest: 0.0 };
        if let DataValue::Scale { .. } = source.value {
            let numbers = rows.iter().filter_map(|row| match source.data_value(snapshot, RowId(row)) {
                Value::Number(number) => Some(number),
                _ => None,
            });
            source.largest = numbers.fold(0.0, f64::max);
        }
        Ok(Some(source))
    }

    fn data_value(&self, snapshot: &Snapshot, row: RowId) -> Value<'s> {
        let loc = snapshot.document.value(row, Field::Loc);
        loc.and_then(|loc| self.data.find(&loc)).map_or(Value::Absent, |row| self.column.value(row))
    }

    /// The value for a row.
    pub(super) fn compute(&self, snapshot: &Snapshot, row: RowId) -> Result<edit::Value, String> {
        let name = self.column.name();
        let found = self.data_value(snapshot, row);
        let text = match (self.field, found) {
            (_, Value::Absent) => return Err(format!("there is no @{name} for this URL")),
            (Field::Priority, Value::Number(number)) => self.priority(number),
            (Field::Lastmod, Value::Date { .. }) => self.date(snapshot, row),
            (Field::Changefreq, Value::Text(text)) => {
                Changefreq::parse_any_case(text).map(|word| word.name().to_owned())
            }
            (Field::Loc, Value::Text(text)) => location::origin(text).map(|_| text.to_owned()),
            _ => None,
        };
        match text {
            Some(text) => Ok(Some(text.into())),
            None => Err(format!("the value of @{name} cannot be written as {}", self.field.name())),
        }
    }

    /// A number from 0 to 1 unchanged, or on the scale: `LOW + (HIGH - LOW) * ln(1 + n) / ln(1 + largest)`, to one
    /// decimal.
    fn priority(&self, number: f64) -> Option<String> {
        let DataValue::Scale { low, high, .. } = self.value else {
            return (0.0..=1.0).contains(&number).then(|| format!("{:.1$}", number, decimals(number)));
        };
        let share = if self.largest > 0.0 { number.max(0.0).ln_1p() / self.largest.ln_1p() } else { 0.0 };
        Some(format!("{:.1}", (high - low).mul_add(share, low)))
    }

    /// The date as a W3C Datetime: unchanged, or converted from an HTTP or mail date.
    fn date(&self, snapshot: &Snapshot, row: RowId) -> Option<String> {
        let loc = snapshot.document.value(row, Field::Loc)?;
        lastmod::normalize(&self.column.text(self.data.find(&loc)?)?)
    }
}

/// One decimal, or two if the hundredths are not zero.
fn decimals(number: f64) -> usize {
    if ((number * 100.0).round() as i64) % 10 == 0 { 1 } else { 2 }
}
