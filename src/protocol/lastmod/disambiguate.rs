//! Rewrites an ambiguous `lastmod` by the user's decision: time zone, order of day and month, or date only.

use super::calendar::Date;
use super::lenient_parser::{Notation, parse};
use super::repair::{date_text, with_utc};
use super::{Faults, validate};

/// Adds a zone, in minutes east of Greenwich, to a time without one; `None` if that does not make it valid.
pub(crate) fn with_zone(text: &str, minutes: i32) -> Option<String> {
    if !validate(text).faults.contains(Faults::NO_TIMEZONE) {
        return None;
    }
    let utc = with_utc(text)?;
    let local = if minutes == 0 { utc } else { format!("{}{}", utc.strip_suffix('Z')?, zone_text(minutes)) };
    validate(&local).faults.is_empty().then_some(local)
}

/// A zone in the format of the protocol: `Z`, `+01:00`.
pub(crate) fn zone_text(minutes: i32) -> String {
    if minutes == 0 {
        return "Z".to_owned();
    }
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// Parses a typed zone (`Z`, `UTC`, `+2`, `+02:00`, `-0530`) as minutes east of Greenwich.
pub(crate) fn parse_zone(text: &str) -> Option<i32> {
    let text = text.trim();
    if ["z", "utc", "gmt"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
        return Some(0);
    }
    let (west, digits) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let all = hours * 60 + minutes;
    ((0..60).contains(&minutes) && (0..=14 * 60).contains(&all)).then_some(if west { -all } else { all })
}

/// The day of a date, without its time.
pub(crate) fn date_only(text: &str) -> Option<String> {
    let date = match parse(text) {
        Notation::Iso(iso) => iso.date(),
        Notation::Foreign(foreign) => foreign.date,
        _ => None,
    }?;
    let day = date_text(date, true);
    (day != text && validate(&day).faults.is_empty()).then_some(day)
}

/// Reads a date of three numbers, the year last, with the day or the month first.
pub(crate) fn with_day_order(text: &str, day_first: bool) -> Option<String> {
    let mut parts = text.split(['/', '.', '-', ' ']).map(|part| part.trim().parse::<u16>().ok());
    let (first, second, year) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || year < 1000 {
        return None;
    }
    let (day, month) = if day_first { (first, second) } else { (second, first) };
    let date = Date { year: i32::from(year), month: u8::try_from(month).ok()?, day: u8::try_from(day).ok()? };
    date.exists().then(|| date_text(date, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_make_dates_valid() {
        for (text, minutes, expected) in [
            ("2026-10-05T10:00:00", 0, Some("2026-10-05T10:00:00Z")),
            ("2026-10-05T10:00:00", 330, Some("2026-10-05T10:00:00+05:30")),
            ("2026-10-05 10:00:00", -60, Some("2026-10-05T10:00:00-01:00")),
            ("2026-10-05T10:00:00Z", 60, None),
            ("2026-10-05", 60, None),
            ("soon", 60, None),
        ] {
            assert_eq!(with_zone(text, minutes).as_deref(), expected, "{text}");
        }
        for (text, first, expected) in [
            ("05/10/2026", true, Some("2026-10-05")),
            ("05/10/2026", false, Some("2026-05-10")),
            ("25.12.2026", true, Some("2026-12-25")),
            ("25.12.2026", false, None),
            ("1/2/3/2026", true, None),
            ("soon", true, None),
        ] {
            assert_eq!(with_day_order(text, first).as_deref(), expected, "{text}");
        }
        assert_eq!(date_only("2026-10-05T10:00:00").as_deref(), Some("2026-10-05"));
        assert_eq!(date_only("2026-10-05"), None);
    }

    #[test]
    fn zones_are_parsed_in_many_formats() {
        for (text, expected) in [
            ("Z", Some(0)),
            ("utc", Some(0)),
            ("+2", Some(120)),
            ("+02:00", Some(120)),
            ("-0530", Some(-330)),
            ("+14:00", Some(840)),
            ("+15", None),
            ("+1:75", None),
            ("2", None),
            ("", None),
        ] {
            assert_eq!(parse_zone(text), expected, "{text}");
        }
        assert_eq!([0, 330, -60].map(zone_text), ["Z", "+05:30", "-01:00"]);
    }
}
