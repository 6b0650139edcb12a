//! Which authorities accept a `lastmod`: the protocol, its schema, Google, Bing, Yandex.
//!
//! The authorities disagree (rule catalogue section 3, conflicts C5 to C9), so each is checked by itself.

use super::calendar::days_in_month;
use super::lenient_parser::{Iso, Notation, parse};
use super::time_of_day::MILLISECONDS;
use super::{Faults, validate};
use crate::protocol::verdict::{Authority, Ruling, Verdicts, for_each_authority};

/// The longest `lastmod` that Yandex reads, in bytes (Yandex Webmaster, "Using the Sitemap file").
const YANDEX_BYTES: usize = 100;

/// The verdict of each authority on a decoded, trimmed value.
pub fn verdicts(text: &str) -> Verdicts {
    let faults = validate(text).faults;
    let iso = match parse(text) {
        Notation::Iso(iso) => Some(iso),
        _ => None,
    };
    for_each_authority(|authority| {
        let (accepts, why) = match (authority, &iso) {
            (_, None) => (false, "not a date in the form YYYY-MM-DD"),
            (Authority::Schema, Some(iso)) => schema(iso),
            (Authority::Google, Some(iso)) => google(iso, faults),
            (Authority::Bing, Some(iso)) => bing(iso, faults),
            (Authority::Yandex, Some(_)) if text.len() > YANDEX_BYTES => (false, ""),
            (Authority::Protocol | Authority::Yandex, Some(iso)) => protocol(iso, faults),
        };
        match (authority, accepts) {
            (_, true) => (Ruling::Accepts, why),
            // Yandex only warns about an invalid optional value (rule catalogue, section 5.4).
            (Authority::Yandex, false) => (Ruling::Ignores, "warns and keeps the URL"),
            (_, false) => (Ruling::Rejects, why),
        }
    })
}

const COMMA: &str = "a fraction needs a point, not a comma";

/// Faults that W3C Note Datetime does not allow, with the reasons.
const NOT_W3C: [(Faults, &str); 12] = [
    (Faults::IMPOSSIBLE, "there is no such day or time"),
    (Faults::ZERO, "an empty date, not a real one"),
    (Faults::INVALID, "hours need minutes"),
    (Faults::YEAR_FORM, "the year must have four digits"),
    (Faults::BASIC, "separators are required"),
    (Faults::UNPADDED, "two digits are required"),
    (Faults::SPACE_SEPARATOR, "a T goes between date and time"),
    (Faults::LOWERCASE, "T and Z are capital letters"),
    (Faults::DATE_ZONE, "a date without a time has no zone"),
    (Faults::NO_TIMEZONE, "a time needs a zone"),
    (Faults::OFFSET_FORMAT, "a zone is Z, +hh:mm or -hh:mm"),
    (Faults::OFFSET_RANGE, "there is no such zone"),
];

fn protocol(iso: &Iso, faults: Faults) -> (bool, &'static str) {
    if iso.time.and_then(|time| time.fraction) == Some("") {
        return (false, "digits must follow the point");
    }
    if iso.time.is_some_and(|time| time.comma) {
        return (false, COMMA);
    }
    for (fault, why) in NOT_W3C {
        if faults.contains(fault) {
            return (false, why);
        }
    }
    if faults.contains(Faults::HOUR_24) {
        return (false, "the day ends at 23:59:59");
    }
    (true, "")
}

/// `xsd:date` and `xsd:dateTime` (XML Schema part 2, sections 3.2.7 and 3.2.9).
fn schema(iso: &Iso) -> (bool, &'static str) {
    let two = |part: Option<&str>| part.is_some_and(|part| part.len() == 2);
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u8>().ok()).unwrap_or(0);
    let year = iso.year.trim_start_matches('0');
    let (month, day) = (number(iso.month), number(iso.day));
    if iso.basic || !two(iso.month) || !two(iso.day) {
        return (false, "a full date YYYY-MM-DD is required");
    }
    if year.is_empty() || (iso.year.len() > 4 && year.len() < iso.year.len()) {
        return (false, "there is no such year");
    }
    // Leap years repeat every 400 years, so the last four digits decide.
    let tail = iso.year.get(iso.year.len() - 4..).and_then(|digits| digits.parse::<i32>().ok());
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(tail.unwrap_or(1), month) {
        return (false, "there is no such day");
    }
    if let Some(time) = &iso.time {
        if time.separator != "T" || !(time.hour.len() == 2 && two(time.minute) && two(time.second)) {
            return (false, "a time is Thh:mm:ss, seconds included");
        }
        if time.fraction.is_some_and(str::is_empty) {
            return (false, "digits must follow the point");
        }
        if time.comma {
            return (false, COMMA);
        }
        if time.seconds().is_none() && !time.is_24() {
            return (false, "there is no such time");
        }
    }
    let Some(zone) = &iso.zone else {
        return (true, if iso.time.is_some() { "the schema does not require a zone" } else { "" });
    };
    let shaped = zone.text == "Z" || matches!(zone.text.as_bytes(), [b'+' | b'-', _, _, b':', _, _]);
    if !zone.gap.is_empty() || !shaped || zone.offset().is_none() {
        return (false, "a zone is Z, +hh:mm or -hh:mm, at most 14:00");
    }
    (true, "")
}

fn google(iso: &Iso, faults: Faults) -> (bool, &'static str) {
    let (accepts, why) = protocol(iso, faults);
    if !accepts {
        return (false, why);
    }
    if faults.contains(Faults::REDUCED) {
        return (false, "a complete date is required");
    }
    match iso.time.and_then(|time| time.fraction).map(str::len) {
        Some(digits) if digits > MILLISECONDS => (false, "Search Console is reported to reject long fractions"),
        Some(_) | None => (true, ""),
    }
}

fn bing(iso: &Iso, faults: Faults) -> (bool, &'static str) {
    let (accepts, why) = protocol(iso, faults);
    if !accepts {
        return (false, why);
    }
    if faults.contains(Faults::REDUCED) {
        return (false, "a complete date is required");
    }
    (true, "")
}
