//! Messages for the faults of a `lastmod`: what is wrong, and what is allowed.
//!
//! One sentence without the value itself and without a full stop.

use super::calendar::{Date, days_in_month};
use super::lenient_parser::{Iso, Notation, parse};
use super::repair::{repair, suggest};
use super::{Faults, validate};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The message for a fault of a text; a general one if the text does not have the fault.
pub fn explain(fault: Faults, text: &str) -> String {
    let reading = parse(text);
    let iso = match &reading {
        Notation::Iso(iso) => Some(iso),
        _ => None,
    };
    let words = match fault {
        Faults::IMPOSSIBLE => return impossible(&reading),
        Faults::INVALID if iso.and_then(|iso| iso.time?.fraction) == Some("") => {
            "write digits after the point, or remove it"
        }
        Faults::INVALID if iso.is_some_and(|iso| iso.time.is_some_and(|time| time.comma)) => {
            "a fraction needs a point, not a comma"
        }
        Faults::INVALID if iso.is_some() => "a time needs minutes, seconds and a zone",
        Faults::INVALID | Faults::LOCALE if matches!(reading, Notation::Foreign(_)) => {
            if validate(text).instant.is_none() {
                "write the year first: it is unclear which number is the month"
            } else {
                "write the year first"
            }
        }
        Faults::INVALID => "not a date: write YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with Z or +hh:mm",
        Faults::REDUCED => "the schema and Google require a complete date with the day",
        Faults::NO_SECONDS => "add the seconds",
        Faults::NO_TIMEZONE => "a time needs its zone, Z or +hh:mm",
        Faults::SPACE_SEPARATOR => "a T goes between date and time",
        Faults::OFFSET_FORMAT => "a zone is written Z, +hh:mm or -hh:mm",
        Faults::OFFSET_RANGE => return no_such_zone(iso),
        Faults::FRACTION => "Search Console has rejected long fractions of a second; write at most 3 digits",
        Faults::LOWERCASE => "T and Z are capital letters",
        Faults::DATE_ZONE => "a date without a time has no zone",
        Faults::HOUR_24 => "the day ends at 23:59:59; midnight is 00:00 of the next",
        Faults::UNPADDED => return one_digit(iso, text),
        Faults::BASIC => "the separators are missing",
        Faults::RFC822 => "the date format of mail and feeds",
        Faults::EPOCH => "a count of seconds since 1970, not a date",
        Faults::MULTIPLE => "several dates: keep the newest",
        Faults::YEAR_RANGE => "no web page changed before 1990",
        Faults::YEAR_FORM => "a year has four digits and no sign",
        Faults::ZERO => "the empty date of a database: leave lastmod out instead",
        Faults::UNIX_ZERO => "the start of Unix time, not a real date: leave lastmod out instead",
        Faults::NEGATIVE_ZERO => "the zone -00:00 means \"unknown\"",
        _ => "not a valid date",
    };
    with_repair(words, fault, text)
}

/// The message, followed by the repaired or suggested value if there is one.
fn with_repair(words: &str, fault: Faults, text: &str) -> String {
    const ASK: Faults = Faults::INVALID.union(Faults::EPOCH).union(Faults::LOCALE).union(Faults::MULTIPLE);
    let right = repair(text, fault).or_else(|| suggest(text).filter(|_| ASK.contains(fault)).map(|(_, value)| value));
    right.map_or_else(|| words.to_owned(), |right| [words, ": ", &right].concat())
}

fn one_digit(iso: Option<&Iso>, text: &str) -> String {
    let short = |part: Option<&str>| part.is_some_and(|part| part.len() == 1);
    let time = iso.and_then(|iso| iso.time);
    let parts = [
        ("month", short(iso.and_then(|iso| iso.month))),
        ("day", short(iso.and_then(|iso| iso.day))),
        ("hour", short(time.map(|time| time.hour))),
        ("minute", short(time.and_then(|time| time.minute))),
        ("second", short(time.and_then(|time| time.second))),
    ];
    let mut names = parts.iter().filter(|(_, short)| *short).map(|(name, _)| *name);
    let words = match (names.next(), names.next()) {
        (Some(name), None) => format!("write the {name} with two digits"),
        _ => "write two digits each".to_owned(),
    };
    with_repair(&words, Faults::UNPADDED, text)
}

fn no_such_zone(iso: Option<&Iso>) -> String {
    let zone = iso.and_then(|iso| iso.zone).map_or("", |zone| zone.text);
    format!("there is no time zone {zone}: offsets run from -14:00 to +14:00")
}

fn impossible(reading: &Notation) -> String {
    match reading {
        Notation::Iso(iso) => {
            let number = |part: Option<&str>| part.and_then(|part| part.parse::<u8>().ok());
            let year = iso.year.parse().unwrap_or(2000);
            let (month, day) = (number(iso.month).unwrap_or(1), number(iso.day).unwrap_or(1));
            if let Some(words) = no_such_day(Date { year, month, day }) {
                return words;
            }
            let parts = iso
                .time
                .map(|time| [("hour", Some(time.hour), 23), ("minute", time.minute, 59), ("second", time.second, 59)]);
            let wrong =
                parts.into_iter().flatten().find(|(_, part, most)| number(*part).is_some_and(|part| part > *most));
            wrong.map_or_else(
                || "there is no such time".to_owned(),
                |(name, part, _)| match (name, part.unwrap_or_default()) {
                    ("hour", "24") => "24:00 is 00:00 of the next day".to_owned(),
                    (name, part) => format!("there is no {name} {part}"),
                },
            )
        }
        Notation::Foreign(foreign) => foreign.contradicted.map_or_else(
            || "there is no such day".to_owned(),
            |date| {
                let month = usize::from(date.month).checked_sub(1).and_then(|at| MONTHS.get(at)).unwrap_or(&"");
                let weekday = WEEKDAYS.get(usize::from(date.weekday())).unwrap_or(&"");
                format!("{} {month} {} was a {weekday}", date.day, date.year)
            },
        ),
        Notation::Multiple(_) | Notation::Unknown => "there is no such day".to_owned(),
    }
}

fn no_such_day(date: Date) -> Option<String> {
    let Some(name) = usize::from(date.month).checked_sub(1).and_then(|at| MONTHS.get(at)) else {
        return Some(format!("there is no month {}", date.month));
    };
    let days = days_in_month(date.year, date.month);
    match date.day {
        0 => Some("there is no day 0".to_owned()),
        day if day > days => Some(match date.month {
            2 => format!("{name} {} has {days} days", date.year),
            _ => format!("{name} has {days} days"),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let table = [
            ("2026-13-01", Faults::IMPOSSIBLE, "there is no month 13"),
            ("2026-00-01", Faults::IMPOSSIBLE, "there is no month 0"),
            ("2005-02-29", Faults::IMPOSSIBLE, "February 2005 has 28 days"),
            ("2005-04-31", Faults::IMPOSSIBLE, "April has 30 days"),
            ("2005-04-00", Faults::IMPOSSIBLE, "there is no day 0"),
            ("2005-05-10T25:00:00Z", Faults::IMPOSSIBLE, "there is no hour 25"),
            ("2005-05-10T24:00:01Z", Faults::IMPOSSIBLE, "24:00 is 00:00 of the next day"),
            ("2005-05-10T23:60:00Z", Faults::IMPOSSIBLE, "there is no minute 60"),
            ("Mon, 10 May 2005", Faults::IMPOSSIBLE, "10 May 2005 was a Tuesday"),
            ("31/02/2005", Faults::IMPOSSIBLE, "there is no such day"),
            ("2026-11-3", Faults::UNPADDED, "write the day with two digits: 2026-11-03"),
            ("2026-1-3", Faults::UNPADDED, "write two digits each: 2026-01-03"),
            ("2005-05-10T17:33Z", Faults::NO_SECONDS, "add the seconds: 2005-05-10T17:33:00Z"),
            ("2005-05-10T17:33:30", Faults::NO_TIMEZONE, "a time needs its zone, Z or +hh:mm"),
            (
                "2005-05-10T17:33:30+15:00",
                Faults::OFFSET_RANGE,
                "there is no time zone +15:00: offsets run from -14:00 to +14:00",
            ),
            ("10.05.2005", Faults::LOCALE, "write the year first: 2005-05-10"),
            ("05/10/2005", Faults::INVALID, "write the year first: it is unclear which number is the month"),
            ("2005-05-10T17", Faults::INVALID, "a time needs minutes, seconds and a zone"),
        ];
        for (text, fault, expected) in table {
            assert_eq!(explain(fault, text), expected, "{text}");
        }
    }
}
