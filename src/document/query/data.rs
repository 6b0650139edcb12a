//! Tests of data columns: `@status>=400`, `@modified>lastmod`, `@canonical!=loc`.
//!
//! A value that is absent or not of the column's kind is neither less nor greater than any value. As for fields, `!=`
//! is the negation of `=`, so it is true for such a value.

use super::date::Date;
use super::expr::{Comparison, DataTest, Match, Name, Operand, Order};
use super::suggest::{listed, nearest};
use super::text::Matcher;
use super::{Fact, RowFacts, Vocabulary};
use crate::data::{Column, DataSet, Kind, Value, parse_boolean, parse_number};
use crate::protocol::lastmod::{self, Precision};
use crate::protocol::{Field, location};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Seconds of a day.
const SECONDS_PER_DAY: i64 = 86_400;

/// A compiled test of a data column.
#[derive(Debug, Clone)]
pub(super) struct DataNode {
    set: Arc<DataSet>,
    column: usize,
    check: Check,
}

#[derive(Debug, Clone)]
enum Check {
    Absent,
    Number(Order, f64),
    Date(Order, Range<i64>),
    Boolean(bool),
    Text(Matcher),
    /// The same page as the row.
    Loc,
    Lastmod(Order),
    Priority(Order),
    Column(Order, usize),
}

impl DataNode {
    /// Compiles a test.
    ///
    /// # Errors
    ///
    /// A message if the column is unknown or the value is not of its kind.
    pub(super) fn new(test: &DataTest, vocabulary: &Vocabulary<'_>) -> Result<Self, String> {
        let (set, column) = data_column(vocabulary.data, &test.column)?;
        let kind = set.columns()[column].kind();
        let check = match &test.comparison {
            Comparison::Absent => Check::Absent,
            Comparison::Text(how, text) => Check::Text(Matcher::new(Name::Loc, *how, text)?),
            Comparison::Ordered(Order::Equal, Operand::Field(Name::Loc)) => Check::Loc,
            Comparison::Ordered(order, Operand::Field(Name::Lastmod)) if kind == Kind::Date => Check::Lastmod(*order),
            Comparison::Ordered(order, Operand::Field(Name::Priority)) if kind == Kind::Number => {
                Check::Priority(*order)
            }
            Comparison::Ordered(_, Operand::Field(name)) => {
                return Err(format!(
                    "@{} holds {}, which cannot be compared with {}",
                    test.column,
                    kind.words(),
                    name.word()
                ));
            }
            Comparison::Ordered(order, Operand::Column(other)) => {
                let other = position(set, other)?;
                if set.columns()[other].kind() != kind {
                    return Err(format!(
                        "@{} and @{} hold values of different kinds",
                        test.column,
                        set.columns()[other].name()
                    ));
                }
                Check::Column(*order, other)
            }
            Comparison::Ordered(order, Operand::Value(text)) => ordered(&test.column, kind, *order, text, vocabulary)?,
        };
        Ok(Self { set: Arc::clone(set), column, check })
    }

    /// Whether a row with this URL passes.
    pub(super) fn holds<R: RowFacts + ?Sized>(&self, facts: &R, loc: &str) -> bool {
        let row = self.set.find(loc);
        let value_of = |column: usize| row.map_or(Value::Absent, |row| self.set.columns()[column].value(row));
        let value = value_of(self.column);
        match &self.check {
            Check::Absent => value == Value::Absent,
            Check::Number(order, number) => {
                matches!(value, Value::Number(found) if found.partial_cmp(number).is_some_and(|is| order.allows(is)))
            }
            Check::Date(order, period) => match value {
                Value::Date { seconds, .. } => order.allows(compare_with_period(seconds, period)),
                _ => false,
            },
            Check::Boolean(flag) => value == Value::Boolean(*flag),
            Check::Text(matcher) => text(&self.set, row, self.column).is_some_and(|text| matcher.matches(&text)),
            Check::Loc => text(&self.set, row, self.column).is_some_and(|text| is_same_page(&text, loc)),
            Check::Lastmod(order) => match (value, facts.value(Field::Lastmod)) {
                (Value::Date { seconds, is_day }, Some(lastmod)) => {
                    compare_with_lastmod(seconds, is_day, &lastmod).is_some_and(|is| order.allows(is))
                }
                _ => false,
            },
            Check::Priority(order) => match (value, facts.priority()) {
                (Value::Number(number), Fact::Is(hundredths)) => {
                    number.partial_cmp(&(f64::from(hundredths) / 100.0)).is_some_and(|is| order.allows(is))
                }
                _ => false,
            },
            Check::Column(order, other) => {
                let other = value_of(*other);
                let is_readable = |value: &Value<'_>| !matches!(value, Value::Absent | Value::Unreadable(_));
                is_readable(&value) && is_readable(&other) && order.allows(value.compare(&other))
            }
        }
    }
}

/// The check of a value as typed, by the kind of the column.
fn ordered(column: &str, kind: Kind, order: Order, text: &str, vocabulary: &Vocabulary<'_>) -> Result<Check, String> {
    let expected = |what: &str| format!("expected {what} for @{column}; use `~` or `:` for its text");
    match kind {
        Kind::Number => match parse_number(text) {
            Some(number) => Ok(Check::Number(order, number)),
            None => Err(expected("a number, or none")),
        },
        Kind::Date => match Date::parse(text) {
            Some(date) => Ok(Check::Date(order, date.period(vocabulary.now))),
            None => Err(expected("a date such as 2025-03, today or -30d, or none")),
        },
        Kind::Boolean | Kind::Text if order != Order::Equal => {
            Err(format!("@{column} holds {}, which have no order; use `=`, `!=`, `:` or `~`", kind.words()))
        }
        Kind::Boolean => parse_boolean(text).map(Check::Boolean).ok_or_else(|| expected("true, false or none")),
        Kind::Text => Matcher::new(Name::Loc, Match::Is, text).map(Check::Text),
    }
}

/// The data set and the index of a column in it, by name.
///
/// # Errors
///
/// A message if no data is loaded or it has no such column.
pub(crate) fn data_column<'d>(data: Option<&'d Arc<DataSet>>, name: &str) -> Result<(&'d Arc<DataSet>, usize), String> {
    let Some(set) = data else {
        return Err(format!("@{name} is a data column, and no data is loaded (--data FILE, :data FILE)"));
    };
    position(set, name).map(|column| (set, column))
}

fn position(set: &DataSet, name: &str) -> Result<usize, String> {
    let names = || set.columns().iter().map(Column::name);
    set.columns().iter().position(|column| column.name() == name).ok_or_else(|| {
        let guess = match nearest(name, names()) {
            Some(near) => format!("did you mean @{near}?"),
            None => format!("expected {}", listed(names())),
        };
        format!("there is no data column @{name}; {guess}")
    })
}

fn text(set: &DataSet, row: Option<crate::data::DataRow>, column: usize) -> Option<Cow<'_, str>> {
    set.columns()[column].text(row?)
}

fn is_same_page(one: &str, other: &str) -> bool {
    let (mut first, mut second) = (String::new(), String::new());
    location::key(one, &mut first) == location::key(other, &mut second)
}

/// Compares an instant with a period; they are equal if the instant is inside the period.
fn compare_with_period(seconds: i64, period: &Range<i64>) -> Ordering {
    if seconds < period.start {
        Ordering::Less
    } else if seconds >= period.end {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// Compares a date of a data column (seconds since 1970) with the text of a lastmod: by day if one of them has no time.
/// A lastmod that is a month or a year equals every date in it.
pub(crate) fn compare_with_lastmod(seconds: i64, is_day: bool, lastmod: &str) -> Option<Ordering> {
    let written = lastmod::validate(lastmod).instant?;
    let (one, other) = (seconds, written.seconds);
    Some(match written.precision {
        Precision::Year | Precision::Month => {
            compare_with_period(one, &Date::Written(written).period(lastmod::Now { seconds: 0, offset: 0 }))
        }
        _ if is_day || written.precision == Precision::Day => {
            one.div_euclid(SECONDS_PER_DAY).cmp(&other.div_euclid(SECONDS_PER_DAY))
        }
        _ => one.cmp(&other),
    })
}
