//! One data column: its texts, and the kind of values that most of them are.

use super::DataRow;
use super::interner::{Interner, TextId};
use crate::protocol::lastmod::{self, Lastmod, Precision};
use std::cmp::Ordering;

/// The text of a row that has no value.
const ABSENT: TextId = TextId::MAX;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, perhaps with a percent sign.
    Number,
    /// Dates, or dates with a time.
    Date,
    /// `true` or `false`, `yes` or `no`.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    /// What its values are, for messages: `numbers`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Date => "dates",
            Self::Boolean => "true or false",
            Self::Text => "texts",
        }
    }
}

/// One value of a data column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'d> {
    /// The URL is unknown, or its cell is empty.
    Absent,
    /// The text is not of the column's kind.
    Unreadable(&'d str),
    /// A number.
    Number(f64),
    /// A moment.
    Date {
        /// Seconds since 1970 in UTC; of a day without a time its beginning.
        seconds: i64,
        /// Whether it is a day without a time.
        is_day: bool,
    },
    /// Whether it is so.
    Boolean(bool),
    /// A text.
    Text(&'d str),
}

impl Value<'_> {
    /// The order of two values of one column: absent ones last, unreadable ones before them.
    pub fn compare(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::Absent => 2,
            Self::Unreadable(_) => 1,
            _ => 0,
        };
        rank(self).cmp(&rank(other)).then_with(|| match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Date { seconds: one, .. }, Self::Date { seconds: two, .. }) => one.cmp(two),
            (Self::Boolean(one), Self::Boolean(two)) => one.cmp(two),
            (Self::Text(one), Self::Text(two)) | (Self::Unreadable(one), Self::Unreadable(two)) => one.cmp(two),
            _ => Ordering::Equal,
        })
    }
}

/// The values of each different text of a column.
#[derive(Debug)]
enum Parsed {
    /// `NaN` where the text is not a number.
    Numbers(Vec<f64>),
    Dates(Vec<Option<Lastmod>>),
    Booleans(Vec<Option<bool>>),
    Texts,
}

/// A column of a [`super::DataSet`].
#[derive(Debug)]
pub struct Column {
    name: String,
    texts: Interner,
    rows: Vec<TextId>,
    parsed: Parsed,
}

impl Column {
    /// Its name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn kind(&self) -> Kind {
        match self.parsed {
            Parsed::Numbers(_) => Kind::Number,
            Parsed::Dates(_) => Kind::Date,
            Parsed::Booleans(_) => Kind::Boolean,
            Parsed::Texts => Kind::Text,
        }
    }

    /// The text of a row as the table has it.
    pub fn text(&self, row: DataRow) -> Option<&str> {
        self.id(row).map(|id| self.texts.get(id))
    }

    /// The value of a row.
    pub fn value(&self, row: DataRow) -> Value<'_> {
        let Some(id) = self.id(row) else { return Value::Absent };
        let text = self.texts.get(id);
        let at = id as usize;
        let value = match &self.parsed {
            Parsed::Numbers(numbers) => numbers.get(at).filter(|number| !number.is_nan()).map(|n| Value::Number(*n)),
            Parsed::Dates(dates) => dates
                .get(at)
                .copied()
                .flatten()
                .map(|date| Value::Date { seconds: date.seconds, is_day: date.precision <= Precision::Day }),
            Parsed::Booleans(flags) => flags.get(at).copied().flatten().map(Value::Boolean),
            Parsed::Texts => Some(Value::Text(text)),
        };
        value.unwrap_or(Value::Unreadable(text))
    }

    fn id(&self, row: DataRow) -> Option<TextId> {
        self.rows.get(row.0 as usize).copied().filter(|id| *id != ABSENT)
    }
}

/// Texts of a column that are measured for its width, at most.
const MEASURED: u32 = 256;

impl Column {
    /// Some of its different texts, evenly spread.
    pub fn samples(&self) -> impl Iterator<Item = &str> {
        let count = self.texts.len();
        (0..count).step_by(count.div_ceil(MEASURED).max(1) as usize).map(|id| self.texts.get(id))
    }

    /// Whether the row has a text.
    pub fn has(&self, row: DataRow) -> bool {
        self.id(row).is_some()
    }
}

/// A column while tables are read.
#[derive(Debug)]
pub(super) struct ColumnBuilder {
    name: String,
    texts: Interner,
    rows: Vec<TextId>,
}

impl From<&Column> for ColumnBuilder {
    fn from(column: &Column) -> Self {
        Self { name: column.name.clone(), texts: column.texts.clone(), rows: column.rows.clone() }
    }
}

impl ColumnBuilder {
    pub(super) fn new(name: String) -> Self {
        Self { name, texts: Interner::default(), rows: Vec::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sets the text of a row. An empty text keeps what an earlier table said. `false`: no more texts can be held.
    pub(super) fn set(&mut self, row: u32, text: &str) -> bool {
        if text.is_empty() {
            return true;
        }
        let Some(id) = self.texts.intern(text) else { return false };
        let at = row as usize;
        if self.rows.len() <= at {
            self.rows.resize(at + 1, ABSENT);
        }
        self.rows[at] = id;
        true
    }

    /// Removes the text of a row.
    pub(super) fn clear(&mut self, row: u32) {
        if let Some(id) = self.rows.get_mut(row as usize) {
            *id = ABSENT;
        }
    }

    /// The column with the kind that more than half of its different texts have.
    pub(super) fn finish(mut self, rows: usize) -> Column {
        self.rows.resize(rows, ABSENT);
        self.rows.shrink_to_fit();
        let all = self.texts.len();
        let texts = || (0..all).map(|id| self.texts.get(id));
        let is_most = |count: usize| count * 2 > all as usize;
        let numbers: Vec<f64> = texts().map(|text| parse_number(text).unwrap_or(f64::NAN)).collect();
        let parsed = if is_most(numbers.iter().filter(|number| !number.is_nan()).count()) {
            Parsed::Numbers(numbers)
        } else {
            let dates: Vec<Option<Lastmod>> = texts().map(date).collect();
            let flags: Vec<Option<bool>> = texts().map(parse_boolean).collect();
            if is_most(dates.iter().flatten().count()) {
                Parsed::Dates(dates)
            } else if is_most(flags.iter().flatten().count()) {
                Parsed::Booleans(flags)
            } else {
                Parsed::Texts
            }
        };
        Column { name: self.name, texts: self.texts, rows: self.rows, parsed }
    }
}

/// A decimal number, with a percent sign or without: `301`, `0.5`, `-3`, `1.2e6`, `12.5%`.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let digits = text.strip_suffix('%').unwrap_or(text).trim_end();
    // Not `inf` and `nan`, which are words in a table.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    digits.parse().ok().filter(|_| is_number)
}

/// The moment of a date in any notation that `lastmod` is read in, of HTTP and mail too.
fn date(text: &str) -> Option<Lastmod> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    // A bare number is a number, although ten digits could be Unix time.
    if !has_digit || parse_number(text).is_some() {
        return None;
    }
    lastmod::validate(text).instant
}

/// `true` or `yes`, `false` or `no`, in any case.
pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(["true", "yes"]) { Some(true) } else { is(["false", "no"]).then_some(false) }
}
