//! Lenient parser: takes apart any text found in a `lastmod`, valid or not.
//!
//! It recognises, it does not repair; every part it returns is a slice of the text it was given.

use super::calendar::{DAY, Date};
use super::foreign::{Foreign, epoch, local_order, named_month};
use super::{Faults, Lastmod, Precision, Validation};

/// Digits of a fraction of a second that everybody accepts.
pub(super) const MILLISECONDS: usize = 3;

/// What a text was recognised as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notation<'t> {
    /// Year first, as in ISO 8601, possibly with faults.
    Iso(Iso<'t>),
    /// Another notation, understood as a whole.
    Foreign(Foreign),
    /// Several dates.
    Multiple(Option<Lastmod>),
    /// Nothing.
    Unknown,
}

/// The parts of a text like ISO 8601.
#[derive(Debug, Clone, Copy)]
pub(super) struct Iso<'t> {
    /// A minus before the year.
    pub negative: bool,
    /// At least four digits.
    pub year: &'t str,
    /// One or two digits.
    pub month: Option<&'t str>,
    /// One or two digits.
    pub day: Option<&'t str>,
    /// Date or time without separators.
    pub basic: bool,
    /// Time of day.
    pub time: Option<Time<'t>>,
    /// Zone.
    pub zone: Option<Zone<'t>>,
}

/// A time of day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time<'t> {
    /// `T`, `t` or blanks.
    pub separator: &'t str,
    /// One or two digits.
    pub hour: &'t str,
    /// One or two digits.
    pub minute: Option<&'t str>,
    /// One or two digits.
    pub second: Option<&'t str>,
    /// The digits after the point; may be empty.
    pub fraction: Option<&'t str>,
    /// Whether a comma stands for that point.
    pub comma: bool,
}

/// A zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zone<'t> {
    /// Blanks before it.
    pub gap: &'t str,
    /// As written.
    pub text: &'t str,
    /// Hours and minutes, and whether they lie west of Greenwich.
    pub west: bool,
    /// Hours as written; 0 for `Z`.
    pub hours: u8,
    /// Minutes as written; 0 for `Z`.
    pub minutes: u8,
}

/// Recognises a text.
pub(super) fn read(text: &str) -> Notation<'_> {
    if let Some(foreign) = epoch(text) {
        return Notation::Foreign(foreign);
    }
    if let Some(iso) = iso(text) {
        return Notation::Iso(iso);
    }
    if count_dates(text) > 1 {
        let first = pieces(text).find_map(|piece| super::validate(piece).instant);
        return Notation::Multiple(first);
    }
    named_month(text).or_else(|| local_order(text)).map_or(Notation::Unknown, Notation::Foreign)
}

/// The words of a text that holds several dates.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '|', '/', ' ', '\t', '\n', '\r']).filter(|piece| count_dates(piece) == 1)
}

impl Notation<'_> {
    /// The moment and the faults.
    pub fn validate(&self) -> Validation {
        match self {
            Self::Iso(iso) => iso.validate(),
            Self::Foreign(foreign) => Validation { instant: foreign.instant(), faults: foreign.faults },
            Self::Multiple(instant) => Validation { instant: *instant, faults: Faults::MULTIPLE },
            Self::Unknown => Validation { instant: None, faults: Faults::INVALID },
        }
    }
}

impl Iso<'_> {
    /// The day, where one is written out and the calendar has it.
    pub fn date(&self) -> Option<Date> {
        let date = Date { year: self.year()?, month: number(self.month?)?, day: number(self.day?)? };
        (date.year > 0 && date.exists()).then_some(date)
    }

    /// A year of four digits after Christ.
    fn year(&self) -> Option<i32> {
        if self.negative || self.year.len() != 4 { None } else { self.year.parse().ok() }
    }

    fn validate(&self) -> Validation {
        let mut faults = self.date_faults();
        faults.insert(self.time_faults());
        let instant = if faults.has_any(UNREADABLE) { None } else { self.instant() };
        Validation { instant, faults }
    }

    fn date_faults(&self) -> Faults {
        let mut faults = Faults::NONE;
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
        if !faults.has(Faults::ZERO) && !date.exists() {
            faults.insert(Faults::IMPOSSIBLE);
        }
        faults
    }

    fn time_faults(&self) -> Faults {
        let mut faults = Faults::NONE;
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
            // A point with nothing behind it is no fraction.
            Some("") => faults.insert(Faults::INVALID),
            // Milliseconds are common and nobody rejects them.
            Some(fraction) if time.comma || fraction.len() > MILLISECONDS => faults.insert(Faults::FRACTION),
            Some(_) | None => {}
        }
        if time.comma {
            // ISO 8601 knows it; W3C Datetime and the schema do not.
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

/// Faults that leave no moment to speak of.
const UNREADABLE: Faults = Faults(Faults::IMPOSSIBLE.0 | Faults::YEAR_FORM.0 | Faults::ZERO.0);

impl<'t> Time<'t> {
    fn parts(&self) -> impl Iterator<Item = &'t str> {
        [Some(self.hour), self.minute, self.second].into_iter().flatten()
    }

    /// Seconds since midnight, where the clock has that time.
    pub fn seconds(&self) -> Option<u32> {
        let hour: u32 = number(self.hour)?.into();
        let minute: u32 = self.minute.map_or(Some(0), number)?.into();
        let second: u32 = self.second.map_or(Some(0), number)?.into();
        (hour < 24 && minute < 60 && second < 60).then_some((hour * 60 + minute) * 60 + second)
    }

    /// Whether it is the midnight that ends the day.
    pub fn is_24(&self) -> bool {
        let zero = |part: &str| part.bytes().all(|byte| byte == b'0');
        self.hour == "24"
            && self.minute.is_some_and(zero)
            && self.second.is_none_or(zero)
            && self.fraction.is_none_or(zero)
    }
}

impl Zone<'_> {
    /// Minutes east of Greenwich, where such a zone can exist.
    pub fn offset(&self) -> Option<i32> {
        let minutes = i32::from(self.hours) * 60 + i32::from(self.minutes);
        let fits = self.minutes < 60 && minutes <= 14 * 60;
        fits.then_some(if self.west { -minutes } else { minutes })
    }

    fn faults(&self) -> Faults {
        let mut faults = Faults::NONE;
        let shaped = matches!(self.text.as_bytes(), [b'+' | b'-', _, _, b':', _, _]);
        match self.text {
            "Z" => {}
            "z" => faults.insert(Faults::LOWERCASE),
            _ if shaped => {}
            _ => faults.insert(Faults::OFFSET_FORMAT),
        }
        if !self.gap.is_empty() {
            faults.insert(Faults::OFFSET_FORMAT);
        }
        match self.offset() {
            None => faults.insert(Faults::OFFSET_RANGE),
            Some(0) if self.west => faults.insert(Faults::NEGATIVE_ZERO),
            Some(_) => {}
        }
        faults
    }
}

/// A position in a text that only moves forward.
pub(super) struct Cursor<'t> {
    /// What has not been taken yet.
    pub rest: &'t str,
}

impl<'t> Cursor<'t> {
    /// Takes what matches, possibly nothing.
    pub fn take(&mut self, matches: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|character| !matches(character)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    pub fn digits(&mut self) -> &'t str {
        self.take(|character| character.is_ascii_digit())
    }

    /// One or two digits.
    pub fn short(&mut self) -> Option<&'t str> {
        let digits = self.digits();
        matches!(digits.len(), 1 | 2).then_some(digits)
    }

    pub fn blanks(&mut self) -> &'t str {
        self.take(is_blank)
    }

    pub fn eat(&mut self, expected: char) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub fn at_end(&self) -> bool {
        self.rest.is_empty()
    }
}

fn is_blank(character: char) -> bool {
    character.is_whitespace()
}

/// One or two digits as a number.
pub(super) fn number(digits: &str) -> Option<u8> {
    digits.parse().ok()
}

/// `YYYY[-MM[-DD[Thh:mm[:ss[.f]]][zone]]]`, its basic form, and everything near them.
fn iso(text: &str) -> Option<Iso<'_>> {
    let mut cursor = Cursor { rest: text };
    let negative = cursor.eat('-');
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
        if !cursor.eat('-') {
            return None;
        }
        iso.month = Some(cursor.short()?);
        if cursor.at_end() {
            return Some(iso);
        }
        if !cursor.eat('-') {
            return None;
        }
        iso.day = Some(cursor.short()?);
    }
    iso.time = time(&mut cursor, &mut iso.basic).ok()?;
    iso.zone = zone(&mut cursor).ok()?;
    cursor.at_end().then_some(iso)
}

/// Something follows that makes no sense there.
pub(super) struct Nonsense;

/// A time of day, if one follows.
fn time<'t>(cursor: &mut Cursor<'t>, basic: &mut bool) -> Result<Option<Time<'t>>, Nonsense> {
    let start = cursor.rest;
    let separator =
        if cursor.eat('T') || cursor.eat('t') { start.get(..1).unwrap_or_default() } else { cursor.blanks() };
    if separator.is_empty() || !cursor.rest.starts_with(|character: char| character.is_ascii_digit()) {
        cursor.rest = start;
        return Ok(None);
    }
    let digits = cursor.digits();
    let mut time = Time { separator, hour: digits, minute: None, second: None, fraction: None, comma: false };
    match digits.len() {
        1 | 2 if cursor.eat(':') => {
            time.minute = Some(cursor.short().ok_or(Nonsense)?);
            if cursor.eat(':') {
                time.second = Some(cursor.short().ok_or(Nonsense)?);
            }
        }
        2 => {}
        4 | 6 => {
            *basic = true;
            time.hour = digits.get(..2).ok_or(Nonsense)?;
            time.minute = digits.get(2..4);
            time.second = digits.get(4..6);
        }
        _ => return Err(Nonsense),
    }
    time.comma = time.second.is_some() && cursor.rest.starts_with(',');
    if time.second.is_some() && (cursor.eat('.') || cursor.eat(',')) {
        time.fraction = Some(cursor.digits());
    }
    Ok(Some(time))
}

/// A zone, if one follows.
pub(super) fn zone<'t>(cursor: &mut Cursor<'t>) -> Result<Option<Zone<'t>>, Nonsense> {
    if cursor.at_end() {
        return Ok(None);
    }
    let gap = cursor.blanks();
    let text = cursor.rest;
    let mut zone = Zone { gap, text, west: text.starts_with('-'), hours: 0, minutes: 0 };
    if ["Z", "GMT", "UTC", "UT"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
        cursor.rest = "";
        return Ok(Some(zone));
    }
    if !cursor.eat('+') && !cursor.eat('-') {
        return Err(Nonsense);
    }
    let digits = cursor.digits();
    let (hours, minutes) = match digits.len() {
        1 | 2 if cursor.eat(':') => {
            let minutes = cursor.digits();
            (digits, if minutes.len() == 2 { minutes } else { return Err(Nonsense) })
        }
        1 | 2 => (digits, "0"),
        4 => digits.split_at_checked(2).ok_or(Nonsense)?,
        _ => return Err(Nonsense),
    };
    zone.hours = number(hours).ok_or(Nonsense)?;
    zone.minutes = number(minutes).ok_or(Nonsense)?;
    if cursor.at_end() { Ok(Some(zone)) } else { Err(Nonsense) }
}

/// How many `YYYY-MM-DD` a text holds.
fn count_dates(text: &str) -> usize {
    let shaped = |window: &[u8]| {
        window
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() })
    };
    text.as_bytes().windows(10).filter(|window| shaped(window)).count()
}
