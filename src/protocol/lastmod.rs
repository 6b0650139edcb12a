//! Validates `lastmod` (W3C Datetime profile): parsed time, precision and faults.
//!
//! Validation never fails and never reads a clock. A valid value is never rewritten and keeps its precision and zone.
//! Each fault corresponds to a code `lastmod-…` of the rule catalogue.

mod calendar;
mod disambiguate;
mod explain;
mod foreign;
mod input;
mod lenient_parser;
mod repair;
mod time_of_day;
mod verdict;

pub use explain::explain;
pub use input::{Now, parse_input, shift_days};
pub use repair::{normalize, repair, suggest};
pub use verdict::verdicts;

pub(crate) use disambiguate::{date_only, parse_zone, with_day_order, with_zone, zone_text};

use bitflags::bitflags;
use calendar::{DAY, Date};

/// The time of a `lastmod`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lastmod {
    /// The first instant that it covers, in seconds since 1970 (UTC is assumed if no zone is given).
    pub seconds: i64,
    /// Its precision as written.
    pub precision: Precision,
}

/// The precision of a `lastmod` as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// `2005`
    Year,
    /// `2005-05`
    Month,
    /// `2005-05-10`
    Day,
    /// `2005-05-10T17:33Z`
    Minute,
    /// `2005-05-10T17:33:30Z`
    Second,
    /// `2005-05-10T17:33:30.5Z`
    Fraction,
}

bitflags! {
    /// The faults of a `lastmod`, as a bit set.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Faults: u32 {
        /// Not recognisable as a date.
        const INVALID = 1;
        /// Well-formed, but there is no such day or time.
        const IMPOSSIBLE = 1 << 1;
        /// A year, or a year and a month.
        const REDUCED = 1 << 2;
        /// Hours and minutes without seconds.
        const NO_SECONDS = 1 << 3;
        /// A time without a zone.
        const NO_TIMEZONE = 1 << 4;
        /// A space instead of `T`.
        const SPACE_SEPARATOR = 1 << 5;
        /// A zone not written `Z` or `±hh:mm`.
        const OFFSET_FORMAT = 1 << 6;
        /// A zone beyond ±14:00, or with more than 59 minutes.
        const OFFSET_RANGE = 1 << 7;
        /// More than three digits of a fraction of a second.
        const FRACTION = 1 << 8;
        /// `t` or `z`.
        const LOWERCASE = 1 << 9;
        /// A zone after a date without a time.
        const DATE_ZONE = 1 << 10;
        /// `24:00:00`.
        const HOUR_24 = 1 << 11;
        /// One digit instead of two.
        const UNPADDED = 1 << 12;
        /// `20050510`: no separators.
        const BASIC = 1 << 13;
        /// `Tue, 10 May 2005 17:33:30 GMT`.
        const RFC822 = 1 << 14;
        /// Seconds or milliseconds since 1970.
        const EPOCH = 1 << 15;
        /// A local order of day, month and year.
        const LOCALE = 1 << 16;
        /// Two dates or more.
        const MULTIPLE = 1 << 17;
        /// Before 1990.
        const YEAR_RANGE = 1 << 18;
        /// A year of more than four digits, or a negative one.
        const YEAR_FORM = 1 << 19;
        /// The zero date of a database: `0000-00-00`, `0001-01-01`.
        const ZERO = 1 << 20;
        /// The zero of Unix time: `1970-01-01`.
        const UNIX_ZERO = 1 << 21;
        /// `-00:00`.
        const NEGATIVE_ZERO = 1 << 22;
    }
}

impl Faults {
    /// Faults that times printed by databases usually have together with [`Self::SPACE_SEPARATOR`], and that are fixed
    /// with it.
    pub const IMPLIED_BY_SPACE: Self =
        Self::NO_SECONDS.union(Self::NO_TIMEZONE).union(Self::OFFSET_FORMAT).union(Self::FRACTION);

    /// Number of faults, which are the bits from 0 on.
    pub const COUNT: u32 = Self::all().bits().count_ones();

    /// The fault with the number of a bit.
    pub const fn from_index(number: usize) -> Self {
        Self::from_bits_truncate(1 << number)
    }

    /// These faults without those that another one implies.
    #[must_use]
    pub const fn causes(self) -> Self {
        if self.contains(Self::SPACE_SEPARATOR) { self.difference(Self::IMPLIED_BY_SPACE) } else { self }
    }
}

/// The parsed time of a `lastmod` and its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Validation {
    /// The instant, if one can be read, so that faulty values can be sorted and compared as well.
    pub instant: Option<Lastmod>,
    /// Its faults.
    pub faults: Faults,
}

/// Validates a decoded `lastmod` without surrounding white space.
///
/// Accepted without a fault: `YYYY-MM-DD`, and `YYYY-MM-DDThh:mm:ss`, with at most three digits of a fraction, followed by
/// `Z` or `±hh:mm`
/// (W3C Note Datetime, read together with sitemap.xsd 0.9, `tLastmod`).
pub fn validate(text: &str) -> Validation {
    match parse_strict(text.as_bytes()) {
        Some(instant) => Validation { instant: Some(instant), faults: Faults::empty() },
        None => lenient_parser::parse(text).validate(),
    }
}

/// The instant of a text in which [`validate`] finds no fault; `None` for any other text. Written by hand for speed,
/// since nearly every value of a real file is parsed here.
pub fn parse_strict(text: &[u8]) -> Option<Lastmod> {
    const YEAR_AND_MONTH: DigitForm = DigitForm::of(*b"0000-00-");
    const SHORT_DATE: DigitForm = DigitForm::of(*b"00-00-00");
    const TIME: DigitForm = DigitForm::of(*b"00:00:00");
    let (date, rest) = text.split_first_chunk::<10>()?;
    let [century, _, year, _, _, month, ..] = YEAR_AND_MONTH.pairs(*date.first_chunk()?)?;
    let [.., day, _] = SHORT_DATE.pairs(*date.last_chunk()?)?;
    let date = Date { year: i32::from(century) * 100 + i32::from(year), month, day };
    let midnight = date.existing_days().filter(|_| date.year >= 1990)? * DAY;
    let [b'T', rest @ ..] = rest else {
        return rest.is_empty().then_some(Lastmod { seconds: midnight, precision: Precision::Day });
    };
    let (time, zone) = rest.split_first_chunk()?;
    let [hour, _, _, minute, _, _, second, _] = TIME.pairs(*time)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (precision, zone) = match zone {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_short = (1..=time_of_day::MILLISECONDS).contains(&digits);
            (Precision::Fraction, rest.get(digits..).filter(|_| is_short)?)
        }
        _ => (Precision::Second, zone),
    };
    let offset = match *zone {
        // Most times of real files are UTC.
        [b'Z'] | [b'+', b'0', b'0', b':', b'0', b'0'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (pair(h1, h2)?, pair(m1, m2)?);
            let total = i64::from(hours) * 60 + i64::from(minutes);
            if minutes > 59 || total > 14 * 60 || (sign == b'-' && total == 0) {
                return None;
            }
            if sign == b'-' { -total } else { total }
        }
        _ => return None,
    };
    let time = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    Some(Lastmod { seconds: midnight + time - offset * 60, precision })
}

/// A text of eight bytes in which `0` stands for any digit. All bytes are compared at once, as those of one integer.
#[derive(Clone, Copy)]
struct DigitForm {
    form: u64,
    /// Sets the high bit of each byte that is neither a digit nor, outside of digits, equal to that of the form.
    limits: u64,
}

impl DigitForm {
    const fn of(form: [u8; 8]) -> Self {
        let (mut limits, mut at) = ([0x7F; 8], 0);
        while at < form.len() {
            if form[at] == b'0' {
                limits[at] -= 9;
            }
            at += 1;
        }
        Self { form: u64::from_le_bytes(form), limits: u64::from_le_bytes(limits) }
    }

    /// For each byte, the number that its digit and the next one make; of no meaning for bytes that are not digits.
    /// `None` if the text does not have this form.
    #[inline]
    const fn pairs(self, text: [u8; 8]) -> Option<[u8; 8]> {
        let digits = u64::from_le_bytes(text) ^ self.form;
        // The sum carries into the next byte only if the high bit of a byte is set already.
        if (digits | digits.wrapping_add(self.limits)) & 0x8080_8080_8080_8080 != 0 {
            return None;
        }
        Some((digits * 10 + (digits >> 8)).to_le_bytes())
    }
}

/// Two ASCII digits as a number.
#[inline]
fn pair(tens: u8, ones: u8) -> Option<u8> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| tens * 10 + ones)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::verdict::Verdict;
    use chrono::{DateTime, NaiveDate};
    use proptest::prelude::*;

    /// 2005-05-10T00:00:00Z.
    const MAY_10: i64 = 1_115_683_200;

    const fn read_as(seconds: i64, precision: Precision) -> Lastmod {
        Lastmod { seconds, precision }
    }

    #[test]
    fn valid_values_have_no_faults() {
        use Precision::{Day, Fraction, Second};
        let noon = MAY_10 + 12 * 3600;
        let table = [
            ("2005-05-10", MAY_10, Day),
            ("2004-02-29", 1_078_012_800, Day),
            ("2005-05-10T12:00:00Z", noon, Second),
            ("2005-05-10T12:00:00+00:00", noon, Second),
            ("2005-05-10T20:00:00+08:00", noon, Second),
            ("2005-05-10T08:30:00-03:30", noon, Second),
            ("2005-05-11T02:00:00+14:00", noon, Second),
            ("9999-12-31T23:59:59Z", 253_402_300_799, Second),
            ("2005-05-10T12:00:00.5Z", noon, Fraction),
            ("2005-05-10T20:00:00.123+08:00", noon, Fraction),
        ];
        for (text, seconds, precision) in table {
            let expected = Validation { instant: Some(read_as(seconds, precision)), faults: Faults::empty() };
            assert_eq!(validate(text), expected, "{text}");
            assert_eq!(parse_strict(text.as_bytes()), expected.instant, "{text} takes the fast path");
            assert_eq!(lenient_parser::parse(text).validate(), expected, "{text} by the patient reader");
        }
    }

    /// The text, its instant, its faults, the safe repair of all of them, and the suggestion.
    type Row = (&'static str, Option<Lastmod>, Faults, Option<&'static str>, Option<&'static str>);

    fn faulty() -> Vec<Row> {
        use Precision::{Day, Fraction, Minute, Month, Second, Year};
        const NO_ZONE: Faults = Faults::NO_TIMEZONE;
        let moment = |seconds, precision| Some(read_as(seconds, precision));
        let evening = MAY_10 + (17 * 60 + 33) * 60 + 30;
        let second = moment(evening, Second);
        let full = "2005-05-10T17:33:30Z";
        vec![
            ("", None, Faults::INVALID, None, None),
            ("yesterday", None, Faults::INVALID, None, None),
            ("2005-05-10T17", moment(MAY_10 + 17 * 3600, Minute), Faults::INVALID.union(NO_ZONE), None, None),
            ("2005-02-29", None, Faults::IMPOSSIBLE, None, None),
            ("2005-13-01", None, Faults::IMPOSSIBLE, None, None),
            ("2005-05-10T25:00:00Z", None, Faults::IMPOSSIBLE, None, None),
            ("2005-05-10T12:60:00Z", None, Faults::IMPOSSIBLE, None, None),
            ("2005-05-10T23:59:60Z", None, Faults::IMPOSSIBLE, None, None),
            ("2005-05-10T24:00:01Z", None, Faults::IMPOSSIBLE, None, None),
            ("2005", moment(1_104_537_600, Year), Faults::REDUCED, None, None),
            ("2005-05", moment(1_114_905_600, Month), Faults::REDUCED, None, None),
            ("2005-13", None, Faults::REDUCED.union(Faults::IMPOSSIBLE), None, None),
            ("2005-05-10T17:33Z", moment(evening - 30, Minute), Faults::NO_SECONDS, Some("2005-05-10T17:33:00Z"), None),
            (
                "2005-05-10T17:33+08:00",
                moment(evening - 30 - 8 * 3600, Minute),
                Faults::NO_SECONDS,
                Some("2005-05-10T17:33:00+08:00"),
                None,
            ),
            ("2005-05-10T17:33:30", second, NO_ZONE, None, Some(full)),
            ("2005-05-10 17:33:30", second, Faults::SPACE_SEPARATOR.union(NO_ZONE), None, Some(full)),
            ("2005-05-10 17:33:30Z", second, Faults::SPACE_SEPARATOR, Some(full), None),
            (
                "2005-05-10 17:33:30.25 +0000",
                moment(evening, Fraction),
                Faults::SPACE_SEPARATOR.union(Faults::OFFSET_FORMAT),
                Some("2005-05-10T17:33:30.25+00:00"),
                None,
            ),
            (
                "2005-05-10T17:33:30+0800",
                moment(evening - 8 * 3600, Second),
                Faults::OFFSET_FORMAT,
                Some("2005-05-10T17:33:30+08:00"),
                None,
            ),
            (
                "2005-05-10T17:33:30-08",
                moment(evening + 8 * 3600, Second),
                Faults::OFFSET_FORMAT,
                Some("2005-05-10T17:33:30-08:00"),
                None,
            ),
            ("2005-05-10T17:33:30 GMT", second, Faults::OFFSET_FORMAT, Some(full), None),
            ("2005-05-10T17:33:30+14:01", second, Faults::OFFSET_RANGE, None, None),
            ("2005-05-10T17:33:30+05:75", second, Faults::OFFSET_RANGE, None, None),
            ("2005-05-10T17:33:30.5Z", moment(evening, Fraction), Faults::empty(), None, None),
            ("2005-05-10T17:33:30.123Z", moment(evening, Fraction), Faults::empty(), None, None),
            ("2005-05-10T17:33:30.1234Z", moment(evening, Fraction), Faults::FRACTION, Some(full), None),
            ("2005-05-10T17:33:30.1234567Z", moment(evening, Fraction), Faults::FRACTION, Some(full), None),
            ("2005-05-10T17:33:30.Z", second, Faults::INVALID, None, Some(full)),
            (
                "2005-05-10T17:33:30,5Z",
                moment(evening, Fraction),
                Faults::FRACTION.union(Faults::INVALID),
                Some(full),
                Some(full),
            ),
            ("2005-05-10T", moment(MAY_10, Day), Faults::INVALID, None, None),
            ("2005-05-10t17:33:30z", second, Faults::LOWERCASE, Some(full), None),
            ("2005-05-10Z", moment(MAY_10, Day), Faults::DATE_ZONE, Some("2005-05-10"), None),
            ("2005-05-10+02:00", moment(MAY_10, Day), Faults::DATE_ZONE, Some("2005-05-10"), None),
            ("2005-05-10T24:00:00Z", moment(MAY_10 + DAY, Second), Faults::HOUR_24, Some("2005-05-11T00:00:00Z"), None),
            (
                "2004-12-31T24:00+01:00",
                moment(1_104_534_000, Minute),
                Faults::HOUR_24.union(Faults::NO_SECONDS),
                Some("2005-01-01T00:00:00+01:00"),
                None,
            ),
            ("9999-12-31T24:00:00Z", moment(253_402_300_800, Second), Faults::HOUR_24, None, None),
            ("2005-5-10", moment(MAY_10, Day), Faults::UNPADDED, Some("2005-05-10"), None),
            (
                "2005-05-10T7:05:00Z",
                moment(MAY_10 + (7 * 60 + 5) * 60, Second),
                Faults::UNPADDED,
                Some("2005-05-10T07:05:00Z"),
                None,
            ),
            ("20050510", moment(MAY_10, Day), Faults::BASIC, Some("2005-05-10"), None),
            ("20050510T173330Z", second, Faults::BASIC, Some(full), None),
            ("20050510173330", second, Faults::BASIC.union(NO_ZONE), Some("2005-05-10T17:33:30"), Some(full)),
            ("20051310", None, Faults::BASIC.union(Faults::IMPOSSIBLE), Some("2005-13-10"), None),
            ("Tue, 10 May 2005 17:33:30 GMT", second, Faults::RFC822, Some(full), None),
            (
                "10 May 05 12:33 EST",
                moment(evening - 30, Second),
                Faults::RFC822,
                Some("2005-05-10T12:33:00-05:00"),
                None,
            ),
            ("Tue, 10 May 2005", moment(MAY_10, Day), Faults::RFC822, Some("2005-05-10"), None),
            ("Mon, 10 May 2005", None, Faults::RFC822.union(Faults::IMPOSSIBLE), None, None),
            ("May 10, 2005", moment(MAY_10, Day), Faults::LOCALE, None, Some("2005-05-10")),
            ("Tue May 10 17:33:30 2005", second, Faults::LOCALE.union(NO_ZONE), None, Some(full)),
            ("1115746410", second, Faults::EPOCH, None, Some(full)),
            ("1115746410123", second, Faults::EPOCH, None, Some(full)),
            ("10.05.2005", moment(MAY_10, Day), Faults::LOCALE, None, Some("2005-05-10")),
            ("2005/05/10", moment(MAY_10, Day), Faults::LOCALE, None, Some("2005-05-10")),
            ("05/13/2005", moment(MAY_10 + 3 * DAY, Day), Faults::INVALID, None, Some("2005-05-13")),
            ("05/10/2005", None, Faults::INVALID, None, None),
            ("10/05/05", None, Faults::LOCALE, None, None),
            ("10.05.2005 17:33", moment(MAY_10, Day), Faults::LOCALE, None, None),
            ("31/02/2005", None, Faults::INVALID.union(Faults::IMPOSSIBLE), None, None),
            ("2005-05-10, 2005-05-11", moment(MAY_10, Day), Faults::MULTIPLE, None, Some("2005-05-11")),
            ("2005-05-10/2005-04-11", moment(MAY_10, Day), Faults::MULTIPLE, None, Some("2005-05-10")),
            ("1989-12-31", moment(631_065_600, Day), Faults::YEAR_RANGE, None, None),
            ("12005-05-10", None, Faults::YEAR_FORM, None, None),
            ("-2005-05-10", None, Faults::YEAR_FORM, None, None),
            ("0000-00-00", None, Faults::ZERO, None, None),
            ("0000-01-01", None, Faults::ZERO, None, None),
            ("0001-01-01T00:00:00Z", None, Faults::ZERO, None, None),
            ("0000-00-00 00:00:00", None, Faults::ZERO.union(Faults::SPACE_SEPARATOR).union(NO_ZONE), None, None),
            ("1970-01-01", moment(0, Day), Faults::UNIX_ZERO, None, None),
            ("1970-01-01T00:00:00+00:00", moment(0, Second), Faults::UNIX_ZERO, None, None),
            ("2005-05-10T17:33:30-00:00", second, Faults::NEGATIVE_ZERO, Some("2005-05-10T17:33:30+00:00"), None),
            ("２００５-05-10", None, Faults::INVALID, None, None),
        ]
    }

    #[test]
    fn faults_repairs_and_suggestions() {
        for (text, instant, faults, repaired, suggested) in faulty() {
            assert_eq!(validate(text), Validation { instant, faults }, "{text:?}");
            assert_eq!(repair(text, faults).as_deref(), repaired, "repair {text:?}");
            assert_eq!(suggest(text).map(|(_, text)| text).as_deref(), suggested, "suggest {text:?}");
        }
    }

    #[test]
    fn every_fault_has_an_example() {
        let seen = faulty().iter().fold(Faults::empty(), |seen, row| seen.union(row.2));
        assert_eq!(seen, Faults::all());
    }

    #[test]
    fn one_fault_is_repaired_at_a_time() {
        let table = [
            ("2005-5-10T7:33", Faults::UNPADDED, "2005-05-10T07:33"),
            ("2005-5-10T07:33Z", Faults::NO_SECONDS, "2005-5-10T07:33:00Z"),
            ("2005-05-10t17:33:30.12345-0000", Faults::FRACTION, "2005-05-10t17:33:30-0000"),
            ("2005-05-10t17:33:30.12345-0000", Faults::NEGATIVE_ZERO, "2005-05-10t17:33:30.12345+0000"),
            ("2005-05-10t17:33:30.12345-0000", Faults::LOWERCASE, "2005-05-10T17:33:30.12345-0000"),
        ];
        for (text, fault, expected) in table {
            assert_eq!(repair(text, fault).as_deref(), Some(expected), "{text}");
        }
    }

    /// Sources: xmllint on the schema for the second column; W3C Note Datetime for the first; rule
    /// catalogue C5 to C9 for Google and Bing.
    #[test]
    fn authorities_disagree() {
        let table = [
            ("2005", [true, false, false, false]),
            ("2005-05", [true, false, false, false]),
            ("2005-05-10", [true, true, true, true]),
            ("2005-5-10", [false, false, false, false]),
            ("20050510", [false, false, false, false]),
            ("2005-02-30", [false, false, false, false]),
            ("2005-13-01", [false, false, false, false]),
            ("2004-02-29", [true, true, true, true]),
            ("2005-02-29", [false, false, false, false]),
            ("2005-05-10Z", [false, true, false, false]),
            ("2005-05-10+02:00", [false, true, false, false]),
            ("-2005-05-10", [false, true, false, false]),
            ("12005-05-10", [false, true, false, false]),
            ("0000-01-01", [false, false, false, false]),
            ("2005-05-10T17", [false, false, false, false]),
            ("2005-05-10T17:33+08:00", [true, false, true, true]),
            ("2005-05-10T17:33Z", [true, false, true, true]),
            ("2005-05-10T17:33:30+08:00", [true, true, true, true]),
            ("2005-05-10T17:33:30Z", [true, true, true, true]),
            ("2005-05-10T17:33:30", [false, true, false, false]),
            ("2005-05-10T17:33:30+0800", [false, false, false, false]),
            ("2005-05-10T17:33:30+08", [false, false, false, false]),
            ("2005-05-10 17:33:30", [false, false, false, false]),
            ("2005-05-10 17:33:30+08:00", [false, false, false, false]),
            ("2005-05-10t17:33:30z", [false, false, false, false]),
            ("2005-05-10T24:00:00Z", [false, true, false, false]),
            ("2005-05-10T24:00:01Z", [false, false, false, false]),
            ("2005-05-10T25:00:00Z", [false, false, false, false]),
            ("2005-05-10T23:59:60Z", [false, false, false, false]),
            ("2005-05-10T17:33:30.5Z", [true, true, true, true]),
            ("2005-05-10T17:33:30.123+00:00", [true, true, true, true]),
            ("2005-05-10T17:33:30.1234567Z", [true, true, false, true]),
            ("2005-05-10T17:33:30.Z", [false, false, false, false]),
            ("2005-05-10T17:33:30,5Z", [false, false, false, false]),
            ("2005-05-10T17:33:30+14:00", [true, true, true, true]),
            ("2005-05-10T17:33:30+14:01", [false, false, false, false]),
            ("2005-05-10T17:33:30-00:00", [true, true, true, true]),
            ("05/10/2005", [false, false, false, false]),
            ("Tue, 10 May 2005 17:33:30 GMT", [false, false, false, false]),
            ("1115746410", [false, false, false, false]),
            ("", [false, false, false, false]),
        ];
        for (text, expected) in table {
            let verdicts = verdicts(text);
            let accepts: Vec<bool> = verdicts.iter().map(Verdict::accepts).collect();
            assert_eq!(accepts[..4], expected, "{text}: {verdicts:?}");
            for verdict in verdicts {
                assert!(verdict.accepts() || !verdict.why.is_empty(), "{text}: {verdict:?} without a reason");
            }
            if !expected[1] {
                assert!(!validate(text).faults.is_empty(), "{text}: the schema rejects what raises nothing");
            }
        }
    }

    #[test]
    fn days_are_shifted_in_place() {
        let table = [
            ("2005-05-10", 1, Some("2005-05-11")),
            ("2005-12-31", 1, Some("2006-01-01")),
            ("2005-05-10T17:33:30.123+08:00", -10, Some("2005-04-30T17:33:30.123+08:00")),
            ("2005-5-9", 1, Some("2005-5-10")),
            ("20050531", 1, Some("20050601")),
            ("2005-05-10 17:33", 1, Some("2005-05-11 17:33")),
            ("9999-12-31", 1, None),
            ("0001-01-01", -1, None),
            ("2005-05-10", i64::MAX, None),
            ("2005-05", 1, None),
            ("2005", 1, None),
            ("2005-02-30", 1, None),
            ("yesterday", 1, None),
        ];
        for (text, days, expected) in table {
            assert_eq!(shift_days(text, days).as_deref(), expected, "{text} {days}");
        }
    }

    #[test]
    fn typed_text_is_parsed() {
        // 2026-11-20T23:14:07Z, which is the 21st in Berlin and still the 20th in St. John's.
        let seconds = 1_795_216_447;
        let (berlin, utc, st_johns) = (3600, 0, -12_600);
        let table = [
            ("today", None, berlin, Ok(Some("2026-11-21"))),
            ("TODAY", None, st_johns, Ok(Some("2026-11-20"))),
            ("now", None, berlin, Ok(Some("2026-11-21T00:14:07+01:00"))),
            ("now", None, st_johns, Ok(Some("2026-11-20T19:44:07-03:30"))),
            ("now", None, utc, Ok(Some("2026-11-20T23:14:07Z"))),
            ("none", Some("2005-05-10"), utc, Ok(None)),
            ("", Some("2005-05-10"), utc, Ok(None)),
            ("+7d", Some("2005-05-10"), utc, Ok(Some("2005-05-17"))),
            ("-1d", Some("2005-05-10T17:33:30+08:00"), utc, Ok(Some("2005-05-09T17:33:30+08:00"))),
            ("-1d", None, berlin, Ok(Some("2026-11-20"))),
            ("+2w", Some("2005-05-10"), utc, Ok(Some("2005-05-24"))),
            ("+1m", Some("2005-01-31"), utc, Ok(Some("2005-02-28"))),
            ("-1y", Some("2004-02-29"), utc, Ok(Some("2003-02-28"))),
            ("2005-13-01", None, utc, Ok(Some("2005-13-01"))),
            (" 2005-05-10 ", None, utc, Ok(Some("2005-05-10"))),
            ("+next", None, utc, Ok(Some("+next"))),
            ("+7", Some("2005-05-10"), utc, Err("+7: add a unit, as in +7d (d, w, m or y)")),
            ("+1d", Some("2005-05"), utc, Err("2005-05 has no day to count from")),
            ("+1d", Some("yesterday"), utc, Err("yesterday is not a date to count from")),
            ("+99999999999999999999d", None, utc, Err("the step is too large")),
        ];
        for (typed, current, offset, expected) in table {
            let result = parse_input(typed, current, Now { seconds, offset }).map_err(|error| error.to_string());
            let expected = expected.map(|text| text.map(str::to_owned)).map_err(str::to_owned);
            assert_eq!(result, expected, "{typed:?} from {current:?}");
        }
    }

    /// Texts similar to dates: valid and invalid parts, joined at random.
    fn near_dates() -> impl Strategy<Value = String> {
        let date = "-?[0-9]{4,5}(-[01]?[0-9](-[0-3]?[0-9])?)?|[0-9]{8}|[0-3]?[0-9][./-][01]?[0-9][./-][0-9]{2,4}";
        let time =
            "([Tt ][0-2]?[0-9](:[0-6]?[0-9](:[0-6]?[0-9]([.,][0-9]{0,7})?)?)?|[Tt][0-2][0-9][0-5][0-9]([0-5][0-9])?)?";
        let zone = "([Zz]| GMT| ?[+-][01]?[0-9](:?[0-7][0-9])?)?";
        (date, time, zone).prop_map(|(date, time, zone)| format!("{date}{time}{zone}"))
    }

    proptest! {
        #[test]
        fn any_text_can_be_validated(text in ".{0,40}") {
            let validated = validate(&text);
            prop_assert!(validated.instant.is_some() || !validated.faults.is_empty());
            let _ = (repair(&text, validated.faults), suggest(&text), verdicts(&text), shift_days(&text, 1));
        }

        #[test]
        fn both_parsers_agree(text in near_dates()) {
            if let Some(instant) = parse_strict(text.as_bytes()) {
                let expected = Validation { instant: Some(instant), faults: Faults::empty() };
                prop_assert_eq!(lenient_parser::parse(&text).validate(), expected);
            }
        }

        #[test]
        fn digits_are_compared_like_each_byte_alone(text in any::<[u8; 8]>(), close in "[0-9:/]{2}[:;][/-:]{2}:[0-9]{2}") {
            for text in [text, *close.as_bytes().first_chunk().unwrap()] {
                let matches = text.iter().zip(b"00:00:00").all(|(byte, form)| match form {
                    b'0' => byte.is_ascii_digit(),
                    form => byte == form,
                });
                let pairs = DigitForm::of(*b"00:00:00").pairs(text);
                prop_assert_eq!(pairs.is_some(), matches);
                let expected = [pair(text[0], text[1]), pair(text[3], text[4]), pair(text[6], text[7])];
                prop_assert!(pairs.is_none_or(|pairs| [pairs[0], pairs[3], pairs[6]].map(Some) == expected));
            }
        }

        #[test]
        fn valid_texts_are_read_by_chrono(text in near_dates()) {
            let validated = validate(&text);
            if validated.faults.is_empty() {
                let seconds = match text.len() {
                    10 => NaiveDate::parse_from_str(&text, "%Y-%m-%d").unwrap().and_hms_opt(0, 0, 0).unwrap().and_utc().timestamp(),
                    _ => DateTime::parse_from_rfc3339(&text).unwrap().timestamp(),
                };
                prop_assert_eq!(validated.instant.unwrap().seconds, seconds);
            }
        }

        #[test]
        fn a_repair_removes_its_faults_and_adds_none(text in near_dates()) {
            let before = validate(&text);
            for fault in before.faults.iter().chain([before.faults]) {
                if let Some(repaired) = repair(&text, fault) {
                    let after = validate(&repaired);
                    prop_assert!(after.faults.difference(before.faults).is_empty(), "{} -> {}", text, repaired);
                    prop_assert!(!after.faults.intersects(fault & before.faults) || fault == before.faults);
                    if let (Some(old), Some(new)) = (before.instant, after.instant) {
                        prop_assert_eq!(old.seconds, new.seconds, "{} -> {}", text, repaired);
                    }
                }
            }
        }

        #[test]
        fn a_suggestion_has_no_faults(text in near_dates()) {
            if let Some((_, value)) = suggest(&text) {
                prop_assert!(validate(&value).faults.is_empty());
            }
        }

        #[test]
        fn shifting_there_and_back_changes_nothing(text in near_dates(), days in -5000..5000i64) {
            if let Some(shifted) = shift_days(&text, days) {
                let back = shift_days(&shifted, -days).unwrap();
                prop_assert_eq!(validate(&back).instant, validate(&text).instant);
                // A single digit may have become two, which cannot be reversed.
                prop_assert!(back == text || validate(&text).faults.contains(Faults::UNPADDED));
            }
        }
    }
}
