//! Repairs a faulty `lastmod` without changing its meaning.
//!
//! A repair removes the given faults and adds none, and is not offered if it had to guess. Guesses are suggestions,
//! which a person must accept.

use super::calendar::{DAY, Date};
use super::foreign::Foreign;
use super::lenient_parser::{Iso, Notation, parse, parts_with_date};
use super::time_of_day::{MILLISECONDS, Time, Zone};
use super::{Faults, validate};
use std::fmt::Write as _;

/// Faults that [`repair`] can remove without a decision (rule catalogue section 5.3, fix "safe").
pub(super) const SAFE: Faults = Faults::NO_SECONDS
    .union(Faults::SPACE_SEPARATOR)
    .union(Faults::OFFSET_FORMAT)
    .union(Faults::FRACTION)
    .union(Faults::LOWERCASE)
    .union(Faults::DATE_ZONE)
    .union(Faults::HOUR_24)
    .union(Faults::UNPADDED)
    .union(Faults::BASIC)
    .union(Faults::RFC822)
    .union(Faults::NEGATIVE_ZERO);

/// The length of `2026-05-10`.
const DAY_LEN: usize = 10;

/// Converts a date in any notation to a valid lastmod. A time without a zone loses the time, which lastmod cannot
/// express then; `None` if the conversion is not possible.
pub fn normalize(text: &str) -> Option<String> {
    let faults = validate(text).faults;
    if faults.is_empty() {
        return Some(text.to_owned());
    }
    let text = if faults.contains(Faults::NO_TIMEZONE) {
        with_utc(text)?.get(..DAY_LEN)?.to_owned()
    } else {
        repair(text, faults)?
    };
    validate(&text).faults.is_empty().then_some(text)
}

/// Removes faults and keeps the rest as written; `None` if that needs a decision.
///
/// Only the safe ones among `faults` are removed. The result has no fault that the text did not have.
pub fn repair(text: &str, faults: Faults) -> Option<String> {
    let before = validate(text).faults;
    let repairs = faults & before & SAFE;
    if repairs.is_empty() || (before.contains(Faults::SPACE_SEPARATOR) && before.contains(Faults::NO_TIMEZONE)) {
        return None;
    }
    let repaired = match parse(text) {
        Notation::Iso(iso) => render(&iso, repairs)?,
        Notation::Foreign(foreign) if repairs.contains(Faults::RFC822) => rewrite(&foreign)?,
        _ => return None,
    };
    let after = validate(&repaired).faults;
    (!after.intersects(repairs) && after.difference(before).is_empty()).then_some(repaired)
}

/// The assumption and the value of a likely reading, for a text that cannot be repaired without a decision.
pub fn suggest(text: &str) -> Option<(&'static str, String)> {
    let (label, value) = match parse(text) {
        Notation::Iso(iso) if iso.time.is_some() && iso.zone.is_none() => ("assume UTC", with_utc(text)?),
        Notation::Foreign(foreign) if foreign.faults.contains(Faults::NO_TIMEZONE) => ("assume UTC", with_utc(text)?),
        Notation::Foreign(foreign) if foreign.faults.contains(Faults::EPOCH) => {
            ("read as seconds since 1970", rewrite(&foreign)?)
        }
        Notation::Foreign(foreign) if foreign.faults.intersects(Faults::LOCALE.union(Faults::INVALID)) => {
            ("read as this date", rewrite(&foreign)?)
        }
        Notation::Iso(iso) if iso.time.is_some_and(|time| time.comma || time.fraction == Some("")) => {
            let time = iso.time.map(|time| Time { fraction: None, comma: false, ..time });
            ("remove the fraction", render(&Iso { time, ..iso }, SAFE)?)
        }
        Notation::Multiple(_) => {
            let newest = parts_with_date(text).filter(|piece| validate(piece).faults.is_empty());
            ("keep the newest", newest.max_by_key(|piece| validate(piece).instant)?.to_owned())
        }
        _ => return None,
    };
    validate(&value).faults.is_empty().then_some((label, value))
}

/// Adds UTC to a time without a zone and repairs its other faults.
pub(super) fn with_utc(text: &str) -> Option<String> {
    match parse(text) {
        Notation::Iso(iso) if iso.time.is_some() && iso.zone.is_none() => {
            let utc = Zone { gap: "", text: "Z", west: false, hours: 0, minutes: 0 };
            render(&Iso { zone: Some(utc), ..iso }, SAFE)
        }
        Notation::Foreign(foreign) => rewrite(&Foreign { offset: Some(0), ..foreign }),
        _ => None,
    }
}

/// Converts a date in another notation to that of the protocol.
fn rewrite(foreign: &Foreign) -> Option<String> {
    if !foreign.whole {
        return None;
    }
    let mut text = date_text(foreign.date?, true);
    if let Some(time) = foreign.time {
        let _ = write!(text, "T{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60);
        match foreign.offset {
            None => {}
            Some(0) => text.push('Z'),
            Some(offset) => {
                let sign = if offset < 0 { '-' } else { '+' };
                let _ = write!(text, "{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60);
            }
        }
    }
    Some(text)
}

/// `YYYY-MM-DD`, or without the dashes.
pub(super) fn date_text(date: Date, dashes: bool) -> String {
    let dash = if dashes { "-" } else { "" };
    format!("{:04}{dash}{:02}{dash}{:02}", date.year, date.month, date.day)
}

/// Joins the parts again without the faults in `wanted`.
fn render(iso: &Iso, repairs: Faults) -> Option<String> {
    let ends_day = repairs.contains(Faults::HOUR_24) && iso.time.is_some_and(|time| time.is_24());
    let extended = !iso.basic || repairs.contains(Faults::BASIC);
    let pad = repairs.contains(Faults::UNPADDED);
    let mut text = String::with_capacity(32);
    if ends_day {
        let next = Date::from_days(iso.date()?.days() + 1);
        text.push_str(&date_text(next, extended));
    } else {
        if iso.negative {
            text.push('-');
        }
        text.push_str(iso.year);
        for part in [iso.month, iso.day].into_iter().flatten() {
            if extended {
                text.push('-');
            }
            push(&mut text, part, pad);
        }
    }
    if let Some(time) = &iso.time {
        push_time(&mut text, time, if ends_day { "00" } else { time.hour }, (repairs, extended));
    }
    match &iso.zone {
        Some(_) if iso.time.is_none() && repairs.contains(Faults::DATE_ZONE) => {}
        Some(zone) => push_zone(&mut text, zone, repairs),
        None => {}
    }
    Some(text)
}

fn push(text: &mut String, part: &str, pad: bool) {
    if pad && part.len() == 1 {
        text.push('0');
    }
    text.push_str(part);
}

fn push_time(text: &mut String, time: &Time, hour: &str, (repairs, extended): (Faults, bool)) {
    let blank = !matches!(time.separator, "T" | "t");
    let replaced = repairs.contains(if blank { Faults::SPACE_SEPARATOR } else { Faults::LOWERCASE });
    text.push_str(if replaced { "T" } else { time.separator });
    let pad = repairs.contains(Faults::UNPADDED);
    let colon = if extended { ":" } else { "" };
    push(text, hour, pad);
    if let Some(minute) = time.minute {
        text.push_str(colon);
        push(text, minute, pad);
    }
    match time.second {
        Some(second) => {
            text.push_str(colon);
            push(text, second, pad);
        }
        None if repairs.contains(Faults::NO_SECONDS) => {
            text.push_str(colon);
            text.push_str("00");
        }
        None => {}
    }
    if let Some(fraction) = time.fraction
        && (!repairs.contains(Faults::FRACTION) || (fraction.len() <= MILLISECONDS && !time.comma))
    {
        text.push(if time.comma { ',' } else { '.' });
        text.push_str(fraction);
    }
}

fn push_zone(text: &mut String, zone: &Zone, repairs: Faults) {
    let named = !zone.text.starts_with(['+', '-']);
    if repairs.contains(Faults::OFFSET_FORMAT) {
        if named {
            text.push('Z');
        } else {
            let sign = if zone.west { '-' } else { '+' };
            let _ = write!(text, "{sign}{:02}:{:02}", zone.hours, zone.minutes);
        }
    } else {
        text.push_str(zone.gap);
        text.push_str(if zone.text == "z" && repairs.contains(Faults::LOWERCASE) { "Z" } else { zone.text });
    }
    if repairs.contains(Faults::NEGATIVE_ZERO)
        && zone.west
        && let Some(at) = text.rfind('-')
    {
        text.replace_range(at..=at, "+");
    }
}

/// Replaces the date of an ISO text and keeps everything else as written.
pub(super) fn with_date(text: &str, change: impl Fn(Date) -> Option<Date>) -> Option<String> {
    let Notation::Iso(iso) = parse(text) else { return None };
    let old = iso.date()?;
    let new = change(old)?;
    let (month, day) = (iso.month?, iso.day?);
    let as_written = |part: &str, number: u8| {
        if part.len() == 1 { number.to_string() } else { format!("{number:02}") }
    };
    let dash = if text.get(4..5) == Some("-") { "-" } else { "" };
    let rest = text.get(iso.year.len() + month.len() + day.len() + 2 * dash.len()..)?;
    Some(format!("{:04}{dash}{}{dash}{}{rest}", new.year, as_written(month, new.month), as_written(day, new.day)))
}

/// The date for days since 1970, if its year has four digits.
pub(super) fn date_from_days(days: i64) -> Option<Date> {
    let first = Date { year: 1, month: 1, day: 1 }.days();
    let last = Date { year: 9999, month: 12, day: 31 }.days();
    (first..=last).contains(&days).then(|| Date::from_days(days))
}

/// Days since 1970 and seconds of the day.
pub(super) fn days_and_seconds(seconds: i64) -> (i64, i64) {
    (seconds.div_euclid(DAY), seconds.rem_euclid(DAY))
}
