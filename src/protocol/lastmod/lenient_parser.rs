//! Lenient parser for a `lastmod`: splits any text into its parts, valid or not.
//!
//! It does not repair anything; every part is a slice of the text.

use super::calendar::{DAY, Date};
use super::foreign::{Foreign, epoch, local_order, named_month};
use super::time_of_day::{Cursor, MILLISECONDS, Time, Zone, number, time, zone};
use super::{Faults, Lastmod, Precision, Validation};

/// The notation of a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notation<'t> {
    /// Year first, as in ISO 8601, possibly with faults.
    Iso(Iso<'t>),
    /// Another notation, fully parsed.
    Foreign(Foreign),
    /// Several dates.
    Multiple(Option<Lastmod>),
    /// None of these.
    Unknown,
}

/// The parts of a text similar to ISO 8601.
#[derive(Debug, Clone, Copy)]
pub(super) struct Iso<'t> {
    /// Whether a minus precedes the year.
    pub negative: bool,
    /// At least four digits.
    pub year: &'t str,
    /// One or two digits.
    pub month: Option<&'t str>,
    /// One or two digits.
    pub day: Option<&'t str>,
    /// Whether date or time have no separators.
    pub basic: bool,
    /// Time of day.
    pub time: Option<Time<'t>>,
    /// Zone.
    pub zone: Option<Zone<'t>>,
}

/// Parses a text.
pub(super) fn parse(text: &str) -> Notation<'_> {
    if let Some(foreign) = epoch(text) {
        return Notation::Foreign(foreign);
    }
    if let Some(iso) = iso(text) {
        return Notation::Iso(iso);
    }
    if count_dates(text) > 1 {
        let first = parts_with_date(text).find_map(|piece| super::validate(piece).instant);
        return Notation::Multiple(first);
    }
    named_month(text).or_else(|| local_order(text)).map_or(Notation::Unknown, Notation::Foreign)
}

/// The parts of a text with several dates that contain one date each.
pub(super) fn parts_with_date(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '|', '/', ' ', '\t', '\n', '\r']).filter(|piece| count_dates(piece) == 1)
}

impl Notation<'_> {
    /// The instant and the faults.
    pub(super) fn validate(&self) -> Validation {
        match self {
            Self::Iso(iso) => iso.validate(),
            Self::Foreign(foreign) => Validation { instant: foreign.instant(), faults: foreign.faults },
            Self::Multiple(instant) => Validation { instant: *instant, faults: Faults::MULTIPLE },
            Self::Unknown => Validation { instant: None, faults: Faults::INVALID },
        }
    }
}

impl Iso<'_> {
    /// The date, if it is complete and exists.
    pub(super) fn date(&self) -> Option<Date> {
        let date = Date { year: self.year()?, month: number(self.month?)?, day: number(self.day?)? };
        (date.year > 0 && date.exists()).then_some(date)
    }

    /// The year, if it has four digits and no sign.
    fn year(&self) -> Option<i32> {
        if self.negative || self.year.len() != 4 { None } else { self.year.parse().ok() }
    }

    fn validate(&self) -> Validation {
        let mut faults = self.date_faults();
        faults.insert(self.time_faults());
        let instant = if faults.intersects(UNREADABLE) { None } else { self.instant() };
        Validation { instant, faults }
    }

    fn date_faults(&self) -> Faults {
        let mut faults = Faults::empty();
        if self.basic {
            faults.insert(Faults::BASIC);
        }
        if self.month.is_some_and(|month| month.len() == 1) || self.day.is_some_and(|day| day.len() == 1) {
            faults.insert(Faults::UNPADDED);
        }
        if self.day.is_none() {
            faults.insert(Faults::REDUCED);
        }
        let month: u8 = self.month.map_or(1, |month| number(month).unwrap_or(0));
        let day: u8 = self.day.map_or(1, |day| number(day).unwrap_or(0));
        let date = Date { year: self.year().unwrap_or(2000), month, day };
        match self.year() {
            None => faults.insert(Faults::YEAR_FORM),
            Some(0) => faults.insert(Faults::ZERO),
            Some(1) if (month, day) == (1, 1) => faults.insert(Faults::ZERO),
            Some(1970) if self.day.is_some() && (month, day) == (1, 1) => faults.insert(Faults::UNIX_ZERO),
            Some(..1990) => faults.insert(Faults::YEAR_RANGE),
            Some(_) => {}
        }
        if !faults.contains(Faults::ZERO) && !date.exists() {
            faults.insert(Faults::IMPOSSIBLE);
        }
        faults
    }

    fn time_faults(&self) -> Faults {
        let mut faults = Faults::empty();
        let Some(time) = &self.time else {
            if self.zone.is_some() {
                faults.insert(Faults::DATE_ZONE);
            }
            return faults;
        };
        match time.separator {
            "T" => {}
            "t" => faults.insert(Faults::LOWERCASE),
            _ => faults.insert(Faults::SPACE_SEPARATOR),
        }
        match time.second {
            _ if time.minute.is_none() => faults.insert(Faults::INVALID),
            None => faults.insert(Faults::NO_SECONDS),
            Some(_) => {}
        }
        if time.parts().any(|part| part.len() == 1) {
            faults.insert(Faults::UNPADDED);
        }
        match time.fraction {
            // A point must be followed by digits.
            Some("") => faults.insert(Faults::INVALID),
            // Milliseconds are common and accepted everywhere.
            Some(fraction) if time.comma || fraction.len() > MILLISECONDS => faults.insert(Faults::FRACTION),
            Some(_) | None => {}
        }
        if time.comma {
            // ISO 8601 allows a comma; W3C Datetime and the schema do not.
            faults.insert(Faults::INVALID);
        }
        if time.is_24() {
            faults.insert(Faults::HOUR_24);
        } else if time.seconds().is_none() {
            faults.insert(Faults::IMPOSSIBLE);
        }
        match &self.zone {
            None => faults.insert(Faults::NO_TIMEZONE),
            Some(zone) => faults.insert(zone.faults()),
        }
        faults
    }

    fn instant(&self) -> Option<Lastmod> {
        let date = Date {
            year: self.year()?,
            month: self.month.map_or(Some(1), number)?,
            day: self.day.map_or(Some(1), number)?,
        };
        let midnight = date.days() * DAY;
        let (seconds, precision) = match (&self.time, self.month, self.day) {
            (None, None, _) => (0, Precision::Year),
            (None, _, None) => (0, Precision::Month),
            (None, ..) => (0, Precision::Day),
            (Some(time), ..) => {
                let seconds = if time.is_24() { DAY } else { i64::from(time.seconds()?) };
                let precision = match (time.fraction, time.second) {
                    (Some(fraction), _) if !fraction.is_empty() => Precision::Fraction,
                    (_, Some(_)) => Precision::Second,
                    (_, None) => Precision::Minute,
                };
                let offset = self.zone.map_or(0, |zone| zone.offset().unwrap_or(0));
                (seconds - i64::from(offset) * 60, precision)
            }
        };
        Some(Lastmod { seconds: midnight + seconds, precision })
    }
}

/// Faults with which there is no instant.
const UNREADABLE: Faults = Faults::IMPOSSIBLE.union(Faults::YEAR_FORM).union(Faults::ZERO);

/// Parses `YYYY[-MM[-DD[Thh:mm[:ss[.f]]][zone]]]`, its basic format, and similar texts.
fn iso(text: &str) -> Option<Iso<'_>> {
    let mut cursor = Cursor { rest: text };
    let negative = cursor.consume('-');
    let digits = cursor.digits();
    let mut iso = Iso { negative, year: digits, month: None, day: None, basic: false, time: None, zone: None };
    if !negative && matches!(digits.len(), 8 | 12 | 14) && !cursor.rest.starts_with('-') {
        iso.basic = true;
        iso.year = digits.get(..4)?;
        iso.month = digits.get(4..6);
        iso.day = digits.get(6..8);
        if digits.len() > 8 {
            let (hour, minute, second) = (digits.get(8..10)?, digits.get(10..12), digits.get(12..14));
            iso.time = Some(Time { separator: "T", hour, minute, second, fraction: None, comma: false });
            iso.zone = zone(&mut cursor).ok()?;
            return cursor.at_end().then_some(iso);
        }
    } else {
        if digits.len() < 4 {
            return None;
        }
        if cursor.at_end() {
            return (digits.len() == 4).then_some(iso);
        }
        if !cursor.consume('-') {
            return None;
        }
        iso.month = Some(cursor.short()?);
        if cursor.at_end() {
            return Some(iso);
        }
        if !cursor.consume('-') {
            return None;
        }
        iso.day = Some(cursor.short()?);
    }
    iso.time = time(&mut cursor, &mut iso.basic).ok()?;
    iso.zone = zone(&mut cursor).ok()?;
    cursor.at_end().then_some(iso)
}

/// Number of occurrences of `YYYY-MM-DD` in a text.
fn count_dates(text: &str) -> usize {
    let shaped = |window: &[u8]| {
        window
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() })
    };
    text.as_bytes().windows(10).filter(|window| shaped(window)).count()
}
