//! Values that come from data columns: `lastmod=@modified`, `loc=@location`, `priority=scale(@clicks,0.3..1.0)`.

use crate::data::{Column, DataSet, Kind};
use crate::document::query::data_column;
use crate::protocol::Field;
use std::sync::Arc;

/// The source of a field's value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::session) enum DataValue<'t> {
    /// The value of a column.
    Column(&'t str),
    /// The numbers of a column, mapped to priorities on a logarithmic scale.
    Scale {
        /// The column.
        column: &'t str,
        /// The priority of 0.
        low: f64,
        /// The priority of the largest number.
        high: f64,
    },
}

/// The syntax of `scale`.
const SCALE_FORM: &str = "scale(@COLUMN,LOW..HIGH), such as scale(@clicks,0.3..1.0)";

impl<'t> DataValue<'t> {
    /// Parses a typed value; `None` if it does not name a data column.
    ///
    /// # Errors
    ///
    /// The value starts with `scale(` but is not a valid scale.
    pub(in crate::session) fn parse(typed: &'t str) -> Option<Result<Self, String>> {
        let typed = typed.trim();
        if let Some(column) = typed.strip_prefix('@').filter(|column| !column.is_empty()) {
            return Some(Ok(Self::Column(column)));
        }
        let inside = typed.strip_prefix("scale(")?;
        let scale = || {
            let (column, range) = inside.strip_suffix(')')?.split_once(',')?;
            let (low, high) = range.trim().split_once("..")?;
            let (low, high): (f64, f64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            let is_range = (0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high) && low <= high;
            is_range.then_some(Self::Scale { column: column.trim().strip_prefix('@')?, low, high })
        };
        Some(scale().ok_or_else(|| format!("expected {SCALE_FORM}")))
    }

    /// The column that it names, if the field can take its values.
    ///
    /// # Errors
    ///
    /// A message: no data is loaded, there is no such column, or its values are of another kind.
    pub(in crate::session) fn column<'d>(
        &self,
        field: Field,
        data: Option<&'d Arc<DataSet>>,
    ) -> Result<&'d Column, String> {
        let (Self::Column(name) | Self::Scale { column: name, .. }) = self;
        let (data, position) = data_column(data, &name.to_lowercase())?;
        let Some(column) = data.columns().get(position) else { return Err(format!("@{name} is no data column")) };
        let is_scale = matches!(self, Self::Scale { .. });
        let expected = match field {
            Field::Lastmod => (Kind::Date, "dates"),
            Field::Priority => (Kind::Number, "numbers"),
            Field::Loc | Field::Changefreq => (Kind::Text, "texts"),
        };
        if is_scale && field != Field::Priority {
            return Err(format!("scale() gives priorities, not {}", field.name()));
        }
        if column.kind() != expected.0 {
            return Err(format!("{} takes {}, but @{name} is another kind of column", field.name(), expected.1));
        }
        Ok(column)
    }
}
