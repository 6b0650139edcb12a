//! Dates as they are asked for: a point in time written with more or less precision is a period.
//!
//! `2025-03` is all of March, so `lastmod<=2025-03` includes its last second. Everything is in UTC,
//! like the instants it is compared with; "now" is given by the caller, never read here.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use std::fmt;
use std::ops::Range;

/// A period of time as written in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Date {
    /// `2025`.
    Year(i32),
    /// `2025-03`; always the first of the month.
    Month(NaiveDate),
    /// `2025-03-01`.
    Day(NaiveDate),
    /// `2025-03-01T10:20Z`, one minute; in UTC.
    Minute(NaiveDateTime),
    /// `2025-03-01T10:20:30Z`, one second; in UTC.
    Second(NaiveDateTime),
    /// `today`: the current day.
    Today,
    /// `now`: the current second.
    Now,
    /// `-30d`, `+2w`, `-1m`, `-1y`: the day that far from today.
    Shifted(i32, Unit),
}

/// What a shift counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `d`
    Days,
    /// `w`
    Weeks,
    /// `m`: calendar months; the day is held back to the month's last.
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
    /// Reads a date; `None` when it has none of the forms or names no real day.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "today" => return Some(Self::Today),
            "now" => return Some(Self::Now),
            _ => {}
        }
        if text.starts_with(['+', '-']) {
            return parse_shift(text);
        }
        if !text.is_ascii() {
            return None;
        }
        match (text.len(), text.split_once(['T', 't'])) {
            (4, None) => Some(Self::Year(number(text)?)),
            (7, None) => Some(Self::Month(parse_day(&format!("{text}-01"))?)),
            (10, None) => Some(Self::Day(parse_day(text)?)),
            (_, Some((day, time))) => parse_moment(parse_day(day)?, time),
            _ => None,
        }
    }

    /// The period in seconds since 1970-01-01T00:00:00Z, end exclusive. `now` in the same unit.
    pub fn period(self, now: i64) -> Range<i64> {
        let today = || DateTime::from_timestamp(now, 0).map_or(NaiveDate::MIN, |time| time.date_naive());
        match self {
            Self::Year(year) => between(NaiveDate::from_ymd_opt(year, 1, 1), NaiveDate::from_ymd_opt(year + 1, 1, 1)),
            Self::Month(first) => between(Some(first), first.checked_add_months(Months::new(1))),
            Self::Day(day) => whole_day(day),
            Self::Minute(time) => start(time)..start(time) + 60,
            Self::Second(time) => start(time)..start(time) + 1,
            Self::Today => whole_day(today()),
            Self::Now => now..now.saturating_add(1),
            Self::Shifted(by, unit) => whole_day(shift(today(), by, unit)),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Year(year) => write!(f, "{year:04}"),
            Self::Month(first) => write!(f, "{:04}-{:02}", first.year(), first.month()),
            Self::Day(day) => write!(f, "{}", day.format("%Y-%m-%d")),
            Self::Minute(time) => write!(f, "{}", time.format("%Y-%m-%dT%H:%MZ")),
            Self::Second(time) => write!(f, "{}", time.format("%Y-%m-%dT%H:%M:%SZ")),
            Self::Today => f.write_str("today"),
            Self::Now => f.write_str("now"),
            Self::Shifted(by, unit) => write!(f, "{by:+}{}", unit.letter()),
        }
    }
}

/// `day` moved by calendar units; a result outside the calendar is held at its end.
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
    let amount: i32 = number(digits)?;
    Some(Date::Shifted(if sign == "-" { -amount } else { amount }, unit))
}

/// `YYYY-MM-DD`, digits only, a real day.
fn parse_day(text: &str) -> Option<NaiveDate> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    NaiveDate::from_ymd_opt(number(year)?, number(month)?, number(day)?)
}

/// `hh:mm`, `hh:mm:ss`, with a fraction (dropped) and with `Z`, `+hh:mm`, `-hh:mm` or no zone (UTC).
fn parse_moment(day: NaiveDate, text: &str) -> Option<Date> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        None => (text, TimeDelta::zero()),
        Some(at) => {
            let (clock, zone) = text.split_at_checked(at)?;
            (clock, parse_zone(zone)?)
        }
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let seconds = match second {
        None => 0,
        Some(text) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
            number::<u64>(fraction)?;
            two_digits(whole)?
        }
    };
    let time = NaiveTime::from_hms_opt(hour, minute, seconds)?;
    let utc = day.and_time(time).checked_sub_signed(offset)?;
    if !(0..=9999).contains(&utc.year()) {
        return None;
    }
    Some(if second.is_some() { Date::Second(utc) } else { Date::Minute(utc) })
}

fn parse_zone(text: &str) -> Option<TimeDelta> {
    if matches!(text, "Z" | "z") {
        return Some(TimeDelta::zero());
    }
    let (sign, rest) = text.split_at_checked(1)?;
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    let offset = TimeDelta::minutes(i64::from(hours * 60 + minutes));
    (hours <= 14 && minutes < 60).then_some(if sign == "-" { -offset } else { offset })
}

fn two_digits(text: &str) -> Option<u32> {
    if text.len() == 2 { number(text) } else { None }
}

/// Digits alone: no sign, no space.
fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

fn start(time: NaiveDateTime) -> i64 {
    time.and_utc().timestamp()
}

fn midnight(day: NaiveDate) -> i64 {
    start(day.and_time(NaiveTime::MIN))
}

fn whole_day(day: NaiveDate) -> Range<i64> {
    midnight(day)..midnight(day) + 86_400
}

fn between(from: Option<NaiveDate>, to: Option<NaiveDate>) -> Range<i64> {
    from.map_or(i64::MIN, midnight)..to.map_or(i64::MAX, midnight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-20T09:14:07Z
    const NOW: i64 = 1_795_166_047;

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
    fn what_is_no_date_is_refused() {
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
            "2025-03-09T10:20:30.Z",
            "9999-12-31T23:59:59-14:00",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_ends_of_the_calendar_do_not_overflow() {
        for text in ["9999", "0000", "-2147483647y", "+2147483647w"] {
            let date = Date::parse(text);
            assert!(date.is_some(), "{text}");
            for now in [NOW, i64::MIN, i64::MAX] {
                assert!(date.is_some_and(|date| !date.period(now).is_empty()), "{text} {now}");
            }
        }
    }

    #[test]
    fn the_canonical_text_reads_back() {
        for text in [
            "2025",
            "0007",
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
