//! One value of a data column in 8 bytes: a decimal number or a date in a common notation, or the id of a text.
//!
//! Invariant: the text that a cell was made from can be restored from it, because the cell has value and notation.

use super::interner::TextId;
use crate::protocol::lastmod::{self, Now};

/// A value of a column. Zero means absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Cell(u64);

/// The decoded content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Content {
    Absent,
    Text(TextId),
    Number(f64),
    Date { seconds: i64, is_day: bool },
}

// The two highest bits are the kind of the content.
const KIND: u64 = 0b11 << 62;
const TEXT: u64 = 0;
const DECIMAL: u64 = 1 << 62;
const DATE: u64 = 2 << 62;

// A decimal: sign, percent sign, number of digits after the point, all digits as an integer.
const NEGATIVE: u64 = 1 << 61;
const PERCENT: u64 = 1 << 60;
const SCALE_AT: u32 = 56;
const DIGITS: u64 = (1 << SCALE_AT) - 1;
/// Maximum number of digits. Up to 15, the integer and the power of ten are exact as `f64`, so that their quotient is
/// the nearest `f64`.
const MAX_DIGITS: usize = 15;

// A date: notation, offset of its zone from UTC in minutes plus a bias, seconds since 1970.
const NOTATION_AT: u32 = 60;
const ZONE_AT: u32 = 48;
const ZONE: u64 = 0xfff;
const ZONE_BIAS: i64 = 1_024;
const SECONDS: u64 = (1 << ZONE_AT) - 1;

/// The notation of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// `2026-05-10`
    Day,
    /// `2026-05-10T17:33:30Z`
    Utc,
    /// `2026-05-10T17:33:30+02:00`
    Zone,
    /// `Sun, 10 May 2026 17:33:30 GMT`
    Http,
}

impl Notation {
    const ALL: [Self; 4] = [Self::Day, Self::Utc, Self::Zone, Self::Http];
}

impl Cell {
    /// The cell of a text.
    pub(super) const fn text(id: TextId) -> Self {
        Self(TEXT | (id as u64 + 1))
    }

    /// The cell of a number or a date in a common notation; `None` for every other text.
    pub(super) fn of(text: &str) -> Option<Self> {
        decimal(text).or_else(|| date(text))
    }

    pub(super) const fn is_absent(self) -> bool {
        self.0 == 0
    }

    pub(super) fn content(self) -> Content {
        match self.0 & KIND {
            DECIMAL => {
                let number = (self.0 & DIGITS) as f64 / 10_f64.powi(self.scale() as i32);
                Content::Number(if self.0 & NEGATIVE == 0 { number } else { -number })
            }
            DATE => Content::Date { seconds: self.seconds(), is_day: self.notation() == Notation::Day },
            _ if self.is_absent() => Content::Absent,
            _ => Content::Text((self.0 - 1) as TextId),
        }
    }

    /// The text of a number or a date as it was written; `None` for everything else.
    pub(super) fn written(self) -> Option<String> {
        match self.0 & KIND {
            DECIMAL => Some(self.written_decimal()),
            DATE => Some(self.written_date()),
            _ => None,
        }
    }

    const fn scale(self) -> usize {
        (self.0 >> SCALE_AT & 0xf) as usize
    }

    fn written_decimal(self) -> String {
        let scale = self.scale();
        // There is at least one digit before the point.
        let mut text = format!("{:01$}", self.0 & DIGITS, scale + 1);
        if scale > 0 {
            text.insert(text.len() - scale, '.');
        }
        if self.0 & NEGATIVE != 0 {
            text.insert(0, '-');
        }
        if self.0 & PERCENT != 0 {
            text.push('%');
        }
        text
    }

    const fn seconds(self) -> i64 {
        (self.0 & SECONDS) as i64
    }

    const fn notation(self) -> Notation {
        Notation::ALL[(self.0 >> NOTATION_AT & 0b11) as usize]
    }

    fn written_date(self) -> String {
        let seconds = self.seconds();
        let in_utc = |seconds| Now { seconds, offset: 0 };
        match self.notation() {
            Notation::Day => in_utc(seconds).today(),
            Notation::Utc => in_utc(seconds).timestamp(),
            Notation::Zone => {
                let minutes = (self.0 >> ZONE_AT & ZONE) as i64 - ZONE_BIAS;
                let mut text = in_utc(seconds + minutes * 60).timestamp();
                text.truncate(text.len() - 1);
                let sign = if minutes < 0 { '-' } else { '+' };
                format!("{text}{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
            Notation::Http => http_date(seconds),
        }
    }
}

/// A decimal number without an exponent, a plus sign or leading zeros: `301`, `-0.50`, `12.5%`.
fn decimal(text: &str) -> Option<Cell> {
    let (number, percent) = match text.strip_suffix('%') {
        Some(number) => (number, PERCENT),
        None => (text, 0),
    };
    let (number, sign) = match number.strip_prefix('-') {
        Some(number) => (number, NEGATIVE),
        None => (number, 0),
    };
    let (mut value, mut count, mut point) = (0, 0, None);
    for byte in number.bytes() {
        match byte {
            b'0'..=b'9' if count < MAX_DIGITS => {
                value = value * 10 + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if point.is_none() && count > 0 => point = Some(count),
            _ => return None,
        }
    }
    let integers = point.unwrap_or(count);
    let is_plain = count > 0 && point != Some(count) && (integers == 1 || !number.starts_with('0'));
    is_plain.then_some(Cell(DECIMAL | sign | percent | ((count - integers) as u64) << SCALE_AT | value))
}

/// A date in the notation of sitemaps or of HTTP.
fn date(text: &str) -> Option<Cell> {
    let (notation, zone, moment) = if text.ends_with(" GMT") {
        let moment = lastmod::validate(text).instant.filter(|moment| http_date(moment.seconds) == text)?;
        (Notation::Http, 0, moment)
    } else {
        let moment = lastmod::parse_strict(text.as_bytes())?;
        match text.get(19..) {
            None => (Notation::Day, 0, moment),
            Some("Z") => (Notation::Utc, 0, moment),
            Some(zone) => (Notation::Zone, i64::from(lastmod::parse_zone(zone)?), moment),
        }
    };
    let seconds = u64::try_from(moment.seconds).ok().filter(|seconds| *seconds <= SECONDS)?;
    let zone = u64::try_from(zone + ZONE_BIAS).ok().filter(|zone| *zone <= ZONE)?;
    Some(Cell(DATE | (notation as u64) << NOTATION_AT | zone << ZONE_AT | seconds))
}

/// An HTTP date (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(seconds: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let weekday = DAYS[seconds.div_euclid(86_400).rem_euclid(7) as usize];
    let stamp = Now { seconds, offset: 0 }.timestamp();
    let part = |range: std::ops::Range<usize>| stamp.get(range).unwrap_or_default();
    let month = part(5..7).parse().ok().and_then(|month: usize| MONTHS.get(month.checked_sub(1)?));
    format!("{weekday}, {} {} {} {} GMT", part(8..10), month.unwrap_or(&""), part(0..4), part(11..19))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::{parse_date, parse_number};
    use proptest::prelude::*;

    /// Asserts that the cell of a text, if there is one, has the same text and value.
    fn assert_same(text: &str) {
        let Some(cell) = Cell::of(text) else { return };
        assert_eq!(cell.written().as_deref(), Some(text));
        match cell.content() {
            Content::Number(number) => {
                assert_eq!(parse_number(text).map(f64::to_bits), Some(number.to_bits()), "{text}");
            }
            Content::Date { seconds, is_day } => {
                let expected = parse_date(text).unwrap();
                assert_eq!((expected.seconds, expected.precision <= lastmod::Precision::Day), (seconds, is_day));
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn common_notations_are_stored_without_text() {
        for text in [
            "0",
            "-0",
            "301",
            "0.5",
            "0.50",
            "-3",
            "12.5%",
            "100%",
            "999999999999999",
            "0.00000000000001",
            "2026-05-10",
            "2026-05-10T17:33:30Z",
            "2026-05-10T17:33:30+02:00",
            "2026-05-10T17:33:30-03:30",
            "2026-05-10T17:33:30+00:00",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "9999-12-31T23:59:59Z",
        ] {
            assert!(Cell::of(text).is_some(), "{text}");
            assert_same(text);
        }
        for text in [
            "",
            "-",
            "%",
            ".5",
            "5.",
            "007",
            "00.5",
            "+5",
            "1e6",
            "1.2.3",
            "12 %",
            "1000000000000000",
            "5%%",
            "--5",
            "2026-13-01",
            "2026-05",
            "2026-05-10T17:33Z",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "a, b GMT",
            "1,5",
        ] {
            assert_eq!(Cell::of(text), None, "{text}");
        }
        assert_eq!(Cell::default().content(), Content::Absent);
        assert_eq!(Cell::text(0).content(), Content::Text(0));
        assert_eq!(Cell::text(TextId::MAX).content(), Content::Text(TextId::MAX));
    }

    proptest! {
        #[test]
        fn a_cell_restores_its_text_and_value(
            number in "-?[0-9]{1,16}(\\.[0-9]{0,15})?%?",
            noise in "[0-9.%+,: TZGM-]{0,30}",
            seconds in 0..253_402_300_799_i64,
            minutes in -840..=840_i32,
        ) {
            let moment = Now { seconds, offset: minutes * 60 }.timestamp();
            for text in [&*number, &noise, &moment, &moment[..10], &http_date(seconds)] {
                assert_same(text);
            }
        }
    }
}
