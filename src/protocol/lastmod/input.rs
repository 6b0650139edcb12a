//! Parses a typed `lastmod`, and shifts dates by days. The clock is an input.

use super::repair::{date_from_days, date_text, days_and_seconds, with_date};
use super::{Date, Precision, validate};
use crate::protocol::InputError;

/// The current time and time zone, passed in by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Seconds since 1970 in UTC.
    pub seconds: i64,
    /// Seconds by which local time is ahead of UTC.
    pub offset: i32,
}

impl Now {
    /// The local date, `YYYY-MM-DD`.
    pub fn today(self) -> String {
        date_text(Date::from_days(self.local().0), true)
    }

    /// The local time with its zone, `YYYY-MM-DDThh:mm:ss±hh:mm`; `Z` if local time is UTC.
    pub fn timestamp(self) -> String {
        let (_, seconds) = self.local();
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let minutes = self.offset / 60;
        let zone = if minutes == 0 {
            "Z".to_owned()
        } else {
            let sign = if minutes < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
        };
        format!("{}T{hour:02}:{minute:02}:{second:02}{zone}", self.today())
    }

    /// Days since 1970 and seconds of the day, in local time of whole minutes.
    fn local(self) -> (i64, i64) {
        days_and_seconds(self.seconds + i64::from(self.offset / 60 * 60))
    }
}

/// Shifts a date by days and keeps everything else as written: format, precision, time and zone.
///
/// `None` for a date without a day (`2005-05`), for text that is not a date, and outside of the years 1 to 9999.
pub fn shift_days(text: &str, days: i64) -> Option<String> {
    with_date(text, |date| date_from_days(date.days().checked_add(days)?))
}

/// The new value that a user typed; `Ok(None)` removes the element.
///
/// Accepts `today`, `now`, `none`, a step such as `+7d`, `-2w`, `+1m`, `-1y` from the current value (from today if
/// there is none), or any text, which is kept as typed.
///
/// # Errors
/// A step without a unit, or from a value that is not a full date.
pub fn parse_input(typed: &str, current: Option<&str>, now: Now) -> Result<Option<String>, InputError> {
    let typed = typed.trim();
    let word = typed.to_ascii_lowercase();
    match word.as_str() {
        "" | "none" => return Ok(None),
        "today" => return Ok(Some(now.today())),
        "now" => return Ok(Some(now.timestamp())),
        _ => {}
    }
    let Some((count, unit)) = step(&word) else { return Ok(Some(typed.to_owned())) };
    let count = count.ok_or_else(|| InputError::new("the step is too large"))?;
    let today = now.today();
    let current = current.map(str::trim).filter(|current| !current.is_empty()).unwrap_or(&today);
    let moved = match unit {
        "d" => shift_days(current, count),
        "w" => count.checked_mul(7).and_then(|days| shift_days(current, days)),
        "m" => shift_months(current, count),
        "y" => count.checked_mul(12).and_then(|months| shift_months(current, months)),
        _ => return Err(InputError::new(format!("{typed}: add a unit, as in {typed}d (d, w, m or y)"))),
    };
    moved.map(Some).ok_or_else(|| InputError::new(step_error(current)))
}

/// Shifts a date by months, to the last day of a shorter month if necessary.
fn shift_months(text: &str, months: i64) -> Option<String> {
    // 20,000 years cover every possible date and prevent overflow.
    let months = if months.abs() < 240_000 { months } else { return None };
    with_date(text, |date| date_from_days(date.plus_months(months).days()))
}

/// Parses a step such as `+7d` as 7 and `d`; the number is `None` if it is too large.
fn step(word: &str) -> Option<(Option<i64>, &str)> {
    let digits = word.strip_prefix(['+', '-'])?;
    let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
    let (number, unit) = (word.get(..=end)?, digits.get(end..)?);
    let known = matches!(unit, "" | "d" | "w" | "m" | "y");
    (end > 0 && known).then(|| (number.parse().ok(), unit))
}

/// Why a step from this value is impossible.
fn step_error(current: &str) -> String {
    match validate(current).instant {
        Some(instant) if instant.precision < Precision::Day => format!("{current} has no day to count from"),
        Some(instant) if date_from_days(days_and_seconds(instant.seconds).0).is_some() => {
            format!(
                "cannot count from {current}: it is not in the form YYYY-MM-DD, or the result is outside the years 0001 to 9999"
            )
        }
        _ => format!("{current} is not a date to count from"),
    }
}
