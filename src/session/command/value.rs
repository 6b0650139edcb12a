//! Validates the values that `set` accepts for each field.
//!
//! The forms are the protocol's ([`crate::protocol`]); nothing here changes what was typed.

use crate::document::query::Vocabulary;
use crate::document::query::suggest::listed;
use crate::protocol::changefreq::{self, Changefreq};
use crate::protocol::{Field, lastmod, priority};
use crate::session::command::data_value::DataValue;
use crate::session::command::{Assignment, CommandError};
use std::ops::Range;

/// Faults that a lastmod may have and still be a W3C Datetime.
const DATE_FORMS: lastmod::Faults = lastmod::Faults::REDUCED
    .union(lastmod::Faults::NO_SECONDS)
    .union(lastmod::Faults::FRACTION)
    .union(lastmod::Faults::NEGATIVE_ZERO)
    .union(lastmod::Faults::YEAR_RANGE)
    .union(lastmod::Faults::UNIX_ZERO);

/// Refuses values that are invalid for the field, so that a typo in a bulk command is not written to every row. (A
/// cell accepts any text, and shows what is wrong with it.)
pub(super) fn assignment(
    field: Field,
    typed: &str,
    span: Range<usize>,
    vocabulary: &Vocabulary<'_>,
) -> Result<Assignment, CommandError> {
    let typed = typed.trim();
    match problem(field, typed, vocabulary) {
        Some(message) => Err(CommandError::new(span, message)),
        None if typed.is_empty() => Ok(Assignment { field, typed: "none".to_owned() }),
        None => Ok(Assignment { field, typed: typed.to_owned() }),
    }
}

/// A message if a typed value is invalid for the field.
fn problem(field: Field, typed: &str, vocabulary: &Vocabulary<'_>) -> Option<String> {
    if let Some(value) = DataValue::parse(typed) {
        return value.and_then(|value| value.column(field, vocabulary.data)).err();
    }
    match field {
        Field::Loc => {
            let is_removed = typed.is_empty() || typed.eq_ignore_ascii_case("none");
            is_removed.then(|| "loc cannot be removed; delete removes rows".to_owned())
        }
        // A relative value is validated with a sample date as the old value.
        Field::Lastmod => match lastmod::parse_input(typed, Some("2020-06-15"), vocabulary.now) {
            Err(error) => Some(error.to_string()),
            Ok(None) => None,
            Ok(Some(value)) => {
                let validation = lastmod::validate(&value);
                let is_date = validation.instant.is_some() && validation.faults.difference(DATE_FORMS).is_empty();
                let suggestion =
                    || lastmod::repair(&value, validation.faults).or_else(|| Some(lastmod::suggest(&value)?.1));
                let forms = "a date such as 2026-11-20 or 2026-11-20T10:20:30Z, today, now, +7d or none";
                (!is_date).then(|| expected_values(forms, suggestion().as_deref()))
            }
        },
        Field::Changefreq => {
            let value = changefreq::parse_input(typed)?;
            Changefreq::parse(&value).is_none().then(|| {
                let names = listed(Changefreq::ALL.iter().map(|word| word.name()).chain(["none"]));
                expected_values(&names, changefreq::nearest(&value).map(Changefreq::name))
            })
        }
        Field::Priority => match priority::parse_input(typed, Some("0.5")) {
            Err(error) => Some(error.to_string()),
            Ok(None) => None,
            Ok(Some(value)) => {
                let validation = priority::validate(&value);
                let is_number = validation.hundredths.is_some() && !validation.faults.contains(priority::Faults::COMMA);
                let suggestion =
                    || priority::repair(&value, validation.faults).or_else(|| Some(priority::suggest(&value)?.1));
                let forms = "a number from 0.0 to 1.0, a step such as +0.1, or none";
                (!is_number).then(|| expected_values(forms, suggestion().as_deref()))
            }
        },
    }
}

fn expected_values(forms: &str, suggestion: Option<&str>) -> String {
    let guess = suggestion.map_or_else(String::new, |suggestion| format!("; did you mean {suggestion}?"));
    format!("expected {forms}{guess}")
}
