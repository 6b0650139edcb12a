//! Sort keys of a view: their syntax, and how two rows compare under them.
//!
//! Absent values come last in both directions, unreadable ones just before them; rows that compare
//! equal keep the order of the file, since the sort is stable. This module does not sort.

pub(super) mod data;

use super::query::Has;
use super::query::suggest::{listed, nearest};
pub(crate) use super::row_facts::{Column, Value};
use super::row_facts::{Extension, Fact, RowFacts, State};
use crate::data::DataSet;
use crate::protocol::Severity;
use crate::protocol::location::{depth, host, path, section};
pub(crate) use data::DataColumn;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

impl Column {
    /// All columns with their names; of several names, the first is the canonical one.
    pub const ALL: [(Self, &'static str); 26] = [
        (Self::Loc, "loc"),
        (Self::Lastmod, "lastmod"),
        (Self::Changefreq, "changefreq"),
        (Self::Priority, "priority"),
        (Self::File, "file"),
        (Self::Findings, "findings"),
        (Self::Number, "number"),
        (Self::Host, "host"),
        (Self::Path, "path"),
        (Self::Section, "section"),
        (Self::Depth, "depth"),
        (Self::Line, "line"),
        (Self::Count(Extension::Image), "image"),
        (Self::Count(Extension::Video), "video"),
        (Self::Count(Extension::News), "news"),
        (Self::Count(Extension::Alternate), "alternate"),
        (Self::Count(Extension::Other), "other"),
        (Self::Images, "images"),
        (Self::Videos, "videos"),
        (Self::Alternates, "alternates"),
        (Self::Has, "has"),
        (Self::Is, "is"),
        (Self::Findings, "severity"),
        (Self::Findings, "finding"),
        (Self::Rules, "rule"),
        (Self::Rules, "rules"),
    ];

    /// Its name in `:sort`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(column, _)| *column == self).map_or("", |(_, name)| name)
    }

    /// Whether its values are compared as texts.
    pub const fn is_text(self) -> bool {
        match self {
            Self::Loc
            | Self::File
            | Self::Host
            | Self::Path
            | Self::Section
            | Self::Images
            | Self::Videos
            | Self::Alternates
            | Self::Has
            | Self::Is
            | Self::Rules => true,
            Self::Number
            | Self::Findings
            | Self::Lastmod
            | Self::Changefreq
            | Self::Priority
            | Self::Depth
            | Self::Line
            | Self::Count(_) => false,
        }
    }

    /// The text that a row is compared by; empty if there is none.
    pub fn text<R: RowFacts + ?Sized>(self, row: &R) -> Cow<'_, str> {
        let of_loc = |part: fn(&str) -> &str| Cow::Owned(part(&row.loc()).to_owned());
        match self {
            Self::Loc => row.loc(),
            Self::File => row.file().into(),
            Self::Host => of_loc(host),
            Self::Path => of_loc(path),
            Self::Section => of_loc(section),
            Self::Has => words(Has::ALL.into_iter().filter(|(has, _)| has.holds(row))).into(),
            Self::Is => words(State::ALL.into_iter().filter(|(state, _)| row.is(*state))).into(),
            _ => match row.more(self) {
                Value::Text(text) => text,
                Value::Absent | Value::Number(_) => Cow::Borrowed(""),
            },
        }
    }

    fn number<R: RowFacts + ?Sized>(self, row: &R) -> Fact<u64> {
        match self {
            Self::Depth if row.loc().is_empty() => Fact::Absent,
            Self::Depth => Fact::Is(u64::from(depth(&row.loc()))),
            _ => match row.more(self) {
                Value::Number(number) => Fact::Is(number),
                Value::Absent | Value::Text(_) => Fact::Absent,
            },
        }
    }
}

fn words<T>(found: impl Iterator<Item = (T, &'static str)>) -> String {
    found.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// What rows are sorted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortBy {
    /// A column of the set.
    Own(Column),
    /// A data column.
    Data(DataColumn),
}

impl SortBy {
    /// Whether rows are compared as texts.
    pub fn is_text(&self) -> bool {
        match self {
            Self::Own(column) => column.is_text(),
            Self::Data(column) => column.is_text(),
        }
    }

    /// The text that a row is compared by; empty if there is none.
    pub fn text<'r, R: RowFacts + ?Sized>(&'r self, row: &'r R) -> Cow<'r, str> {
        match self {
            Self::Own(column) => column.text(row),
            Self::Data(column) => column.text(&row.loc()),
        }
    }
}

/// One key: what rows are sorted by, and a direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// The column that rows are compared by.
    pub by: SortBy,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

/// Why a text is not a list of sort keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SortError {
    /// The invalid part of the text, in bytes.
    pub span: Range<usize>,
    /// What was expected, in one line without a full stop.
    pub message: String,
}

/// Parses keys such as `-lastmod,loc` or `-@clicks`: `-` for descending, the first key decides first.
///
/// # Errors
///
/// A word that names no column, or one that was named before.
pub(crate) fn parse(text: &str, data: Option<&Arc<DataSet>>) -> Result<Vec<SortKey>, SortError> {
    let mut keys: Vec<SortKey> = Vec::new();
    let mut at = 0;
    for piece in text.split(',') {
        let start = at + piece.len() - piece.trim_start().len();
        at += piece.len() + 1;
        let word = piece.trim();
        let span = start..start + word.len();
        let (name, descending) = match word.strip_prefix('-') {
            Some(name) => (name, true),
            None => (word.strip_prefix('+').unwrap_or(word), false),
        };
        let by = match name.strip_prefix('@') {
            Some(name) => DataColumn::named(&name.to_lowercase(), data).map(SortBy::Data),
            None => parse_column(name).map(SortBy::Own),
        };
        let by = by.map_err(|message| SortError { span: span.clone(), message })?;
        if keys.iter().any(|key| key.by == by) {
            return Err(SortError { span, message: format!("{name} is named twice") });
        }
        keys.push(SortKey { by, descending });
    }
    Ok(keys)
}

fn parse_column(name: &str) -> Result<Column, String> {
    let names = || Column::ALL.iter().map(|(_, name)| *name);
    let found = Column::ALL.into_iter().find(|(_, known)| *known == name);
    found.map(|(column, _)| column).ok_or_else(|| {
        let guess = nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        format!("expected {}, with `-` before it for descending{guess}", listed(names()))
    })
}

/// The text of keys, as [`parse`] accepts it.
pub(crate) fn to_text(keys: &[SortKey]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.descending { "-" } else { "" };
        match &self.by {
            SortBy::Own(column) => write!(f, "{sign}{}", column.name()),
            SortBy::Data(column) => write!(f, "{sign}@{}", column.name()),
        }
    }
}

impl SortKey {
    /// For columns that are facts, a number whose ascending order is this key's order, absent values
    /// last in both directions. `None` for columns that must be compared as texts, and for the row number, which the
    /// caller knows.
    pub fn packed<R: RowFacts + ?Sized>(&self, row: &R) -> Option<u64> {
        /// Far beyond any date, in seconds.
        const FAR_FUTURE: i64 = 1 << 60;
        let own = match &self.by {
            SortBy::Data(column) if column.is_text() => return None,
            SortBy::Data(column) => return Some(code(column.fact(&row.loc()), self.descending)),
            SortBy::Own(column) => *column,
        };
        let fact: Fact<u64> = match own {
            Column::Number => return None,
            column if column.is_text() => return None,
            Column::Lastmod => match row.lastmod() {
                Fact::Is(seconds) => Fact::Is((seconds.clamp(-FAR_FUTURE, FAR_FUTURE) + FAR_FUTURE).cast_unsigned()),
                Fact::Unreadable => Fact::Unreadable,
                Fact::Absent => Fact::Absent,
            },
            Column::Changefreq => match row.changefreq() {
                Fact::Is(frequency) => Fact::Is(frequency as u64),
                Fact::Unreadable => Fact::Unreadable,
                Fact::Absent => Fact::Absent,
            },
            Column::Priority => match row.priority() {
                Fact::Is(hundredths) => Fact::Is(u64::from(hundredths)),
                Fact::Unreadable => Fact::Unreadable,
                Fact::Absent => Fact::Absent,
            },
            Column::Findings => [Severity::Error, Severity::Warning, Severity::Note]
                .into_iter()
                .find(|severity| row.has_severity(*severity))
                .map_or(Fact::Absent, |severity| Fact::Is(severity as u64)),
            column => column.number(row),
        };
        Some(code(fact, self.descending))
    }

    /// Orders two texts of this key's column; empty ones last in both directions.
    pub fn compare_texts(&self, a: &str, b: &str) -> Ordering {
        match (a.is_empty(), b.is_empty()) {
            (false, false) => self.compare_bytes(a.as_bytes(), b.as_bytes()),
            (a, b) => a.cmp(&b),
        }
    }

    /// Compares texts that are not empty.
    pub(super) fn compare_bytes(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.descending { natural_bytes(b, a) } else { natural_bytes(a, b) }
    }
}

/// A number whose ascending order is the order of the fact; unreadable and absent values come last.
const fn code(fact: Fact<u64>, descending: bool) -> u64 {
    // The two greatest numbers are reserved.
    const UNREADABLE: u64 = u64::MAX - 1;
    const ABSENT: u64 = u64::MAX;
    match fact {
        Fact::Absent => ABSENT,
        Fact::Unreadable => UNREADABLE,
        Fact::Is(value) if descending => (UNREADABLE - 1) - value,
        Fact::Is(value) => value,
    }
}

/// Compares texts byte by byte, runs of digits by their value: `page-9` before `page-10`. Texts that
/// differ in leading zeros alone are ordered by length, so only equal texts compare as equal.
pub(super) fn natural_bytes(a: &[u8], b: &[u8]) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let common = left.iter().zip(right).take_while(|(x, y)| x == y && !x.is_ascii_digit()).count();
        left = left.get(common..).unwrap_or_default();
        right = right.get(common..).unwrap_or_default();
        match (left.first(), right.first()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (number, left_rest) = digits(left);
                let (other, right_rest) = digits(right);
                let order = number.len().cmp(&other.len()).then_with(|| number.cmp(other));
                if order.is_ne() {
                    return order;
                }
                (left, right) = (left_rest, right_rest);
            }
            (None, None) => return a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            (x, y) => return x.cmp(&y),
        }
    }
}

/// The run of digits at the start without its leading zeros, and the rest.
fn digits(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|b| !b.is_ascii_digit()).unwrap_or(bytes.len());
    let (run, rest) = bytes.split_at(end);
    let zeros = run.iter().take_while(|b| **b == b'0').count();
    (run.get(zeros..).unwrap_or_default(), rest)
}

/// Compares two rows under several keys. Rows that compare as equal keep the file order. `numbers` are their positions
/// in the file order.
pub(crate) fn compare<R: RowFacts + ?Sized>(keys: &[SortKey], a: &R, b: &R, numbers: (u32, u32)) -> Ordering {
    let by = |key: &SortKey| match &key.by {
        SortBy::Own(Column::Number) if key.descending => Reverse(numbers.0).cmp(&Reverse(numbers.1)),
        SortBy::Own(Column::Number) => numbers.0.cmp(&numbers.1),
        by if by.is_text() => key.compare_texts(&by.text(a), &by.text(b)),
        _ => key.packed(a).cmp(&key.packed(b)),
    };
    keys.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Field;
    use crate::protocol::changefreq::Changefreq;
    use proptest::prelude::*;

    fn natural(a: &str, b: &str) -> Ordering {
        natural_bytes(a.as_bytes(), b.as_bytes())
    }

    struct TestRow {
        loc: &'static str,
        lastmod: Fact<i64>,
        priority: Fact<u8>,
        severity: Option<Severity>,
    }

    impl RowFacts for TestRow {
        fn loc(&self) -> Cow<'_, str> {
            Cow::Borrowed(self.loc)
        }
        fn value(&self, _: Field) -> Option<Cow<'_, str>> {
            None
        }
        fn file(&self) -> &'static str {
            "sitemap.xml"
        }
        fn lastmod(&self) -> Fact<i64> {
            self.lastmod
        }
        fn changefreq(&self) -> Fact<Changefreq> {
            Fact::Absent
        }
        fn priority(&self) -> Fact<u8> {
            self.priority
        }
        fn has_extension(&self, _: Extension) -> bool {
            false
        }
        fn is(&self, _: State) -> bool {
            false
        }
        fn has_rule(&self, _: u16) -> bool {
            false
        }
        fn has_severity(&self, severity: Severity) -> bool {
            self.severity == Some(severity)
        }
    }

    #[test]
    fn rows_sort_with_absent_values_last_and_the_file_order_kept() {
        let rows = [
            TestRow { loc: "/p10", lastmod: Fact::Is(5), priority: Fact::Absent, severity: Some(Severity::Note) },
            TestRow { loc: "/p9", lastmod: Fact::Absent, priority: Fact::Is(50), severity: None },
            TestRow { loc: "/p1", lastmod: Fact::Is(-7), priority: Fact::Unreadable, severity: Some(Severity::Error) },
            TestRow { loc: "", lastmod: Fact::Is(6), priority: Fact::Is(50), severity: None },
        ];
        let table = [
            ("loc", [2, 1, 0, 3]),
            ("-loc", [0, 1, 2, 3]),
            ("lastmod", [2, 0, 3, 1]),
            ("-lastmod", [3, 0, 2, 1]),
            ("priority", [1, 3, 2, 0]),
            ("-priority", [1, 3, 2, 0]),
            ("priority,-number", [3, 1, 2, 0]),
            ("-findings", [2, 0, 1, 3]),
            ("findings", [0, 2, 1, 3]),
            ("changefreq", [0, 1, 2, 3]),
            ("file,-number", [3, 2, 1, 0]),
            ("path", [2, 1, 0, 3]),
            ("depth", [0, 1, 2, 3]),
            ("rules,-loc", [0, 1, 2, 3]),
        ];
        for (text, expected) in table {
            let keys = parse(text, None).unwrap_or_default();
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&a, &b| compare(&keys, &rows[a], &rows[b], (a as u32, b as u32)));
            assert_eq!(order, expected, "{text}");
        }
    }

    #[test]
    fn keys_are_read_and_written() {
        for text in ["loc", "-lastmod,loc", "findings,-priority,number", "host,-depth,images,rule"] {
            assert_eq!(parse(text, None).map(|keys| to_text(&keys)), Ok(text.to_owned()));
        }
        assert_eq!(parse(" -loc , +file ", None).map(|keys| to_text(&keys)), Ok("-loc,file".to_owned()));
        let table = [
            ("", 0..0, "expected loc, lastmod"),
            ("loc,", 4..4, "expected loc, lastmod"),
            ("loc, -prio", 5..10, "did you mean priority?"),
            ("loc,-loc", 4..8, "twice"),
        ];
        for (text, span, message) in table {
            let error = parse(text, None).err();
            assert_eq!(error.as_ref().map(|error| error.span.clone()), Some(span), "{text}");
            assert!(error.is_some_and(|error| error.message.contains(message)), "{text}");
        }
    }

    #[test]
    fn digits_count_by_value() {
        let table = [
            ("a9", "a10", Ordering::Less),
            ("a09", "a9", Ordering::Greater),
            ("a9b", "a09a", Ordering::Greater),
            ("a", "a1", Ordering::Less),
            ("a-1", "a1", Ordering::Less),
            ("a99999999999999999999999", "a100000000000000000000000", Ordering::Less),
            ("x", "x", Ordering::Equal),
        ];
        for (a, b, expected) in table {
            assert_eq!(natural(a, b), expected, "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn natural_is_a_total_order(texts in prop::collection::vec("[ab01.]{0,5}", 3)) {
            let [a, b, c] = [&texts[0], &texts[1], &texts[2]];
            prop_assert_eq!(natural(a, b), natural(b, a).reverse());
            prop_assert_eq!(natural(a, b).is_eq(), a == b);
            if natural(a, b).is_le() && natural(b, c).is_le() {
                prop_assert!(natural(a, c).is_le(), "{:?}", texts);
            }
        }
    }
}
