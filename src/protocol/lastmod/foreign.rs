//! Parses dates in other notations: Unix time, RFC 822, local day and month orders.
//!
//! A text is recognised as a whole or not at all; a date is returned only if it is unambiguous.

use super::calendar::{DAY, Date};
use super::time_of_day::{Cursor, Time, number, zone};
use super::{Faults, Lastmod, Precision};

/// A date in another notation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Foreign {
    /// The notation, and other faults.
    pub faults: Faults,
    /// The day, if it is unambiguous.
    pub date: Option<Date>,
    /// Seconds of the day, if a time is given.
    pub time: Option<u32>,
    /// Minutes east of Greenwich, if a zone is given.
    pub offset: Option<i32>,
    /// Whether the whole text was parsed, so that rewriting loses nothing.
    pub whole: bool,
    /// The day, if the weekday contradicts it.
    pub contradicted: Option<Date>,
}

impl Foreign {
    /// The instant, if the day is unambiguous.
    pub(super) fn instant(&self) -> Option<Lastmod> {
        let midnight = self.date?.days() * DAY;
        let offset = i64::from(self.offset.unwrap_or(0)) * 60;
        let precision = if self.time.is_some() { Precision::Second } else { Precision::Day };
        Some(Lastmod { seconds: midnight + i64::from(self.time.unwrap_or(0)) - offset, precision })
    }
}

/// Ten or thirteen digits: seconds or milliseconds since 1970.
pub(super) fn epoch(text: &str) -> Option<Foreign> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    let seconds = match text.len() {
        10 => number,
        13 => number / 1000,
        _ => return None,
    };
    let date = Some(Date::from_days(seconds.div_euclid(DAY)));
    let time = Some(seconds.rem_euclid(DAY) as u32);
    Some(Foreign { faults: Faults::EPOCH, date, time, offset: Some(0), whole: true, contradicted: None })
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Zones that RFC 822 section 5.1 names, in minutes east of Greenwich.
const ZONES: [(&str, i32); 12] = [
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("Z", 0),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
];

/// A name in full or by its first three letters.
fn position(names: &[&str], word: &str) -> Option<u8> {
    let lower = word.trim_end_matches('.').to_ascii_lowercase();
    let found = names.iter().position(|name| *name == lower || name.get(..3) == Some(lower.as_str()))?;
    Some(found as u8)
}

/// `Tue, 10 May 2005 17:33:30 GMT` and other orders with the month in letters.
pub(super) fn named_month(text: &str) -> Option<Foreign> {
    let (mut weekday, mut month, mut day, mut year, mut time, mut offset) = (None, None, None, None, None, None);
    let mut day_first = false;
    for word in text.split([' ', ',', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        if word.contains(':') && time.is_none() {
            time = Some(clock(word)?);
        } else if digits && word.len() <= 2 && day.is_none() {
            day = Some(number(word)?);
            day_first = month.is_none();
        } else if digits && year.is_none() && month.is_some() {
            year = Some(full_year(word)?);
        } else if let Some(found) = position(&MONTHS, word).filter(|_| month.is_none()) {
            month = Some(found + 1);
        } else if let Some(found) = position(&WEEKDAYS, word).filter(|_| weekday.is_none()) {
            weekday = Some(found);
        } else if offset.is_none() && time.is_some() {
            offset = Some(named_zone(word)?);
        } else {
            return None;
        }
    }
    let stated = Date { year: year?, month: month?, day: day? };
    let mut faults = if day_first { Faults::RFC822 } else { Faults::LOCALE };
    let contradicted = weekday.is_some_and(|weekday| stated.exists() && stated.weekday() != weekday);
    if !stated.exists() || contradicted {
        faults.insert(Faults::IMPOSSIBLE);
    }
    if time.is_some() && offset.is_none() {
        faults.insert(Faults::NO_TIMEZONE);
    }
    let date = (!faults.contains(Faults::IMPOSSIBLE)).then_some(stated);
    Some(Foreign { faults, date, time, offset, whole: true, contradicted: contradicted.then_some(stated) })
}

/// Four digits, or two (RFC 5322 section 4.3: up to 49 is this century).
fn full_year(digits: &str) -> Option<i32> {
    let year: i32 = digits.parse().ok()?;
    match digits.len() {
        4 => Some(year),
        2 => Some(year + if year < 50 { 2000 } else { 1900 }),
        _ => None,
    }
}

/// `hh:mm[:ss]` as seconds since midnight.
fn clock(word: &str) -> Option<u32> {
    let mut cursor = Cursor { rest: word };
    let hour = cursor.short()?;
    if !cursor.consume(':') {
        return None;
    }
    let minute = Some(cursor.short()?);
    let second = if cursor.consume(':') { Some(cursor.short()?) } else { None };
    if !cursor.at_end() {
        return None;
    }
    Time { separator: " ", hour, minute, second, fraction: None, comma: false }.seconds()
}

/// A zone name or `±hhmm`, in minutes east of Greenwich.
fn named_zone(word: &str) -> Option<i32> {
    if let Some((_, offset)) = ZONES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)) {
        return Some(*offset);
    }
    zone(&mut Cursor { rest: word }).ok()??.offset()
}

/// `10.05.2005`, `10/05/05`, `2005/05/10`: numbers in a local order.
///
/// `05/10/2005` is recognised but counts as invalid, since either number may be the month.
pub(super) fn local_order(text: &str) -> Option<Foreign> {
    let mut cursor = Cursor { rest: text };
    let first = cursor.digits();
    let separator = cursor.rest.chars().next().filter(|character| matches!(character, '.' | '/' | '-'))?;
    cursor.consume(separator);
    let second = cursor.short()?;
    if !cursor.consume(separator) {
        return None;
    }
    let third = cursor.digits();
    let whole = cursor.at_end();
    if !whole && cursor.blanks().is_empty() && !cursor.consume('T') && !cursor.consume(',') {
        return None;
    }
    let date = match (first.len(), third.len()) {
        (4, 1 | 2) => Some(Date { year: full_year(first)?, month: number(second)?, day: number(third)? }),
        // `05-05-10` may begin with the year or the day.
        (1 | 2, 2) if separator == '-' => None,
        (1 | 2, 2 | 4) => {
            let (year, first, second) = (full_year(third)?, number(first)?, number(second)?);
            // With dots the day is first everywhere; with slashes only a number above 12 shows which one is the day.
            if separator == '.' || first > 12 {
                Some(Date { year, month: second, day: first })
            } else if second > 12 || first == second {
                Some(Date { year, month: first, day: second })
            } else {
                None
            }
        }
        _ => return None,
    };
    // Year, month and day with hyphens are not a local order; the fault is another one.
    let is_iso = separator == '-' && first.len() == 4;
    let is_unclear = separator == '/' && third.len() == 4;
    let mut faults = if is_iso || is_unclear { Faults::INVALID } else { Faults::LOCALE };
    if date.is_some_and(|date| !date.exists()) {
        faults.insert(Faults::IMPOSSIBLE);
    }
    let date = date.filter(|date| date.exists());
    Some(Foreign { faults, date, time: None, offset: None, whole, contradicted: None })
}
