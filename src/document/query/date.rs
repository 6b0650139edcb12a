//! Dates in queries: a date of any precision is a period of time.
//!
//! `2025-03` is all of March, so `lastmod<=2025-03` includes its last second. Written dates are in
//! UTC, like the instants they are compared with; `today` and shifts are the local calendar's day,
//! as in `set lastmod=today`. The caller passes the current time.

use crate::protocol::lastmod::{Faults, Lastmod, Now, Precision, validate};
use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime};
use std::fmt;
use std::ops::Range;

/// Faults of a `lastmod` that are accepted in a date of a query.
const ACCEPTED_FAULTS: Faults = Faults::REDUCED
    .union(Faults::NO_SECONDS)
    .union(Faults::NO_TIMEZONE)
    .union(Faults::FRACTION)
    .union(Faults::LOWERCASE)
    .union(Faults::NEGATIVE_ZERO)
    .union(Faults::YEAR_RANGE)
    .union(Faults::UNIX_ZERO);

/// A period of time as written in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Date {
    /// `2025`, `2025-03`, `2025-03-01`, `2025-03-01T10:20Z`, `2025-03-01T10:20:30+02:00`.
    Written(Lastmod),
    /// `today`: the current day.
    Today,
    /// `now`: the current second.
    Now,
    /// `-30d`, `+2w`, `-1m`, `-1y`: the day that far from today.
    Shifted(i32, Unit),
}

/// The unit of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// `d`
    Days,
    /// `w`
    Weeks,
    /// `m`: calendar months; clamped to the last day of the month.
    Months,
    /// `y`: calendar years, as twelve months each.
    Years,
}

impl Unit {
    const ALL: [(Self, char); 4] = [(Self::Days, 'd'), (Self::Weeks, 'w'), (Self::Months, 'm'), (Self::Years, 'y')];

    fn letter(self) -> char {
        Self::ALL.iter().find(|(unit, _)| *unit == self).map_or('d', |(_, letter)| *letter)
    }
}

impl Date {
    /// Reads a date; `None` if it has no known form or is not a day of the calendar.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "today" => return Some(Self::Today),
            "now" => return Some(Self::Now),
            _ => {}
        }
        if text.starts_with(['+', '-']) {
            return parse_shift(text);
        }
        let validation = validate(text);
        let mut instant = validation.instant.filter(|_| validation.faults.difference(ACCEPTED_FAULTS).is_empty())?;
        instant.precision = instant.precision.min(Precision::Second);
        // A time zone may shift the last supported day out of the calendar.
        time(instant.seconds).is_some_and(|time| (1..=9999).contains(&time.year())).then_some(Self::Written(instant))
    }

    /// The period in seconds since 1970-01-01T00:00:00Z, end exclusive.
    pub(super) fn period(self, now: Now) -> Range<i64> {
        let today = || {
            let local = now.seconds.saturating_add(i64::from(now.offset));
            time(local).map_or(NaiveDate::MIN, |time| time.date())
        };
        match self {
            Self::Written(Lastmod { seconds, precision }) => seconds..end(seconds, precision),
            Self::Today => whole_day(today()),
            Self::Now => now.seconds..now.seconds.saturating_add(1),
            Self::Shifted(by, unit) => whole_day(shift(today(), by, unit)),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(Lastmod { seconds, precision }) => {
                let format = match precision {
                    Precision::Year => "%Y",
                    Precision::Month => "%Y-%m",
                    Precision::Day => "%Y-%m-%d",
                    Precision::Minute => "%Y-%m-%dT%H:%MZ",
                    Precision::Second | Precision::Fraction => "%Y-%m-%dT%H:%M:%SZ",
                };
                write!(f, "{}", time(*seconds).unwrap_or_default().format(format))
            }
            Self::Today => f.write_str("today"),
            Self::Now => f.write_str("now"),
            Self::Shifted(by, unit) => write!(f, "{by:+}{}", unit.letter()),
        }
    }
}

fn time(seconds: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(seconds, 0).map(|time| time.naive_utc())
}

/// The end of the period that begins at `seconds` and has the length of the precision.
fn end(seconds: i64, precision: Precision) -> i64 {
    let months = |count| {
        let first = time(seconds).and_then(|time| time.date().checked_add_months(Months::new(count)));
        first.map_or(i64::MAX, midnight)
    };
    match precision {
        Precision::Year => months(12),
        Precision::Month => months(1),
        Precision::Day => seconds + 86_400,
        Precision::Minute => seconds + 60,
        Precision::Second | Precision::Fraction => seconds + 1,
    }
}

/// `day` moved by calendar units, clamped to the supported calendar.
fn shift(day: NaiveDate, by: i32, unit: Unit) -> NaiveDate {
    let count = by.unsigned_abs();
    let moved = match unit {
        Unit::Days | Unit::Weeks => {
            let days = Days::new(u64::from(count) * if unit == Unit::Weeks { 7 } else { 1 });
            if by < 0 { day.checked_sub_days(days) } else { day.checked_add_days(days) }
        }
        Unit::Months | Unit::Years => {
            let months = Months::new(count.saturating_mul(if unit == Unit::Years { 12 } else { 1 }));
            if by < 0 { day.checked_sub_months(months) } else { day.checked_add_months(months) }
        }
    };
    moved.unwrap_or(if by < 0 { NaiveDate::MIN } else { NaiveDate::MAX })
}

fn parse_shift(text: &str) -> Option<Date> {
    let letter = text.chars().next_back()?;
    let (unit, _) = Unit::ALL.into_iter().find(|(_, known)| *known == letter)?;
    let (sign, digits) = text.strip_suffix(letter)?.split_at_checked(1)?;
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let amount: i32 = digits.parse().ok().filter(|_| all_digits)?;
    Some(Date::Shifted(if sign == "-" { -amount } else { amount }, unit))
}

fn midnight(day: NaiveDate) -> i64 {
    day.and_time(NaiveTime::MIN).and_utc().timestamp()
}

fn whole_day(day: NaiveDate) -> Range<i64> {
    midnight(day)..midnight(day) + 86_400
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-20T09:14:07Z
    const NOW: Now = Now { seconds: 1_795_166_047, offset: 0 };

    fn at(text: &str) -> i64 {
        DateTime::parse_from_rfc3339(text).map_or(0, |time| time.timestamp())
    }

    #[test]
    fn a_date_is_a_period() {
        let table = [
            ("2025", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("2025-12", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            ("2024-02", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2025-03-09", "2025-03-09T00:00:00Z", "2025-03-10T00:00:00Z"),
            ("2025-03-09T10:20", "2025-03-09T10:20:00Z", "2025-03-09T10:21:00Z"),
            ("2025-03-09T10:20Z", "2025-03-09T10:20:00Z", "2025-03-09T10:21:00Z"),
            ("2025-03-09T00:20:30.5+02:00", "2025-03-08T22:20:30Z", "2025-03-08T22:20:31Z"),
            ("2025-03-09T10:20:30-01:30", "2025-03-09T11:50:30Z", "2025-03-09T11:50:31Z"),
            ("today", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
            ("now", "2026-11-20T09:14:07Z", "2026-11-20T09:14:08Z"),
            ("-30d", "2026-10-21T00:00:00Z", "2026-10-22T00:00:00Z"),
            ("+2w", "2026-12-04T00:00:00Z", "2026-12-05T00:00:00Z"),
            ("-9m", "2026-02-20T00:00:00Z", "2026-02-21T00:00:00Z"),
            ("-1y", "2025-11-20T00:00:00Z", "2025-11-21T00:00:00Z"),
        ];
        for (text, from, to) in table {
            let date = Date::parse(text);
            assert!(date.is_some(), "{text}");
            assert_eq!(date.map(|date| date.period(NOW)), Some(at(from)..at(to)), "{text}");
        }
    }

    #[test]
    fn today_is_the_day_of_the_local_calendar() {
        let evening = Now { seconds: at("2026-11-20T22:30:00Z"), offset: 2 * 3600 };
        let start = |text| Date::parse(text).map(|date| date.period(evening).start);
        assert_eq!(start("today"), Some(at("2026-11-21T00:00:00Z")));
        assert_eq!(start("-1d"), Some(at("2026-11-20T00:00:00Z")));
        assert_eq!(start("now"), Some(evening.seconds));
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "",
            "25",
            "2025-3",
            "2025-13",
            "2025-02-29",
            "2025-3-09",
            "+2025",
            "2025-03-09T",
            "2025-03-09T10",
            "2025-03-09T24:00",
            "2025-03-09T10:60",
            "2025-03-09T10:20+1",
            "2025-03-09T10:20+15:00",
            "20x5",
            "-30",
            "-d",
            "--3d",
            "30d",
            "2025-03-09 10:20",
            "２０２５",
            "yesterday",
            "9999-12-31T23:59:59-14:00",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_ends_of_the_calendar_do_not_overflow() {
        for text in ["9999", "-2147483647y", "+2147483647w"] {
            let date = Date::parse(text);
            assert!(date.is_some(), "{text}");
            for seconds in [NOW.seconds, i64::MIN, i64::MAX - 1] {
                let now = Now { seconds, offset: 3600 };
                assert!(date.is_some_and(|date| !date.period(now).is_empty()), "{text} {seconds}");
            }
        }
    }

    #[test]
    fn the_canonical_text_reads_back() {
        for text in [
            "2025",
            "1007",
            "2025-03",
            "2025-03-09",
            "2025-03-09T10:20+02:00",
            "2025-03-09T10:20:30",
            "today",
            "now",
            "-30d",
            "+0w",
        ] {
            let date = Date::parse(text);
            assert!(date.is_some(), "{text}");
            assert_eq!(date.and_then(|date| Date::parse(&date.to_string())), date, "{text}");
        }
    }
}
