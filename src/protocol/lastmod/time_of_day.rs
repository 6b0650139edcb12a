//! Parses the time of day and the zone of a date, valid or not.

use super::Faults;

/// Longest fraction of a second that is accepted everywhere, in digits.
pub(super) const MILLISECONDS: usize = 3;

/// A time of day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time<'t> {
    /// `T`, `t` or white space.
    pub separator: &'t str,
    /// One or two digits.
    pub hour: &'t str,
    /// One or two digits.
    pub minute: Option<&'t str>,
    /// One or two digits.
    pub second: Option<&'t str>,
    /// The digits after the point; may be empty.
    pub fraction: Option<&'t str>,
    /// Whether there is a comma instead of the point.
    pub comma: bool,
}

/// A zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zone<'t> {
    /// White space before it.
    pub gap: &'t str,
    /// As written.
    pub text: &'t str,
    /// Whether it is west of Greenwich.
    pub west: bool,
    /// Hours as written; 0 for `Z`.
    pub hours: u8,
    /// Minutes as written; 0 for `Z`.
    pub minutes: u8,
}

impl<'t> Time<'t> {
    pub(super) fn parts(&self) -> impl Iterator<Item = &'t str> {
        [Some(self.hour), self.minute, self.second].into_iter().flatten()
    }

    /// Seconds since midnight, if the time exists.
    pub(super) fn seconds(&self) -> Option<u32> {
        let hour: u32 = number(self.hour)?.into();
        let minute: u32 = self.minute.map_or(Some(0), number)?.into();
        let second: u32 = self.second.map_or(Some(0), number)?.into();
        (hour < 24 && minute < 60 && second < 60).then_some((hour * 60 + minute) * 60 + second)
    }

    /// Whether it is `24:00:00`.
    pub(super) fn is_24(&self) -> bool {
        let zero = |part: &str| part.bytes().all(|byte| byte == b'0');
        self.hour == "24"
            && self.minute.is_some_and(zero)
            && self.second.is_none_or(zero)
            && self.fraction.is_none_or(zero)
    }
}

impl Zone<'_> {
    /// Minutes east of Greenwich, if such a zone can exist.
    pub(super) fn offset(&self) -> Option<i32> {
        let minutes = i32::from(self.hours) * 60 + i32::from(self.minutes);
        let fits = self.minutes < 60 && minutes <= 14 * 60;
        fits.then_some(if self.west { -minutes } else { minutes })
    }

    pub(super) fn faults(&self) -> Faults {
        let mut faults = Faults::empty();
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

/// A parser position in a text.
pub(super) struct Cursor<'t> {
    /// The rest of the text.
    pub rest: &'t str,
}

impl<'t> Cursor<'t> {
    /// Takes the longest prefix of matching characters, possibly empty.
    pub(super) fn take(&mut self, matches: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|character| !matches(character)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    pub(super) fn digits(&mut self) -> &'t str {
        self.take(|character| character.is_ascii_digit())
    }

    /// One or two digits.
    pub(super) fn short(&mut self) -> Option<&'t str> {
        let digits = self.digits();
        matches!(digits.len(), 1 | 2).then_some(digits)
    }

    pub(super) fn blanks(&mut self) -> &'t str {
        self.take(is_blank)
    }

    pub(super) fn consume(&mut self, expected: char) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn at_end(&self) -> bool {
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

/// Unexpected text follows.
pub(super) struct Unexpected;

/// Parses a time of day, if one follows.
pub(super) fn time<'t>(cursor: &mut Cursor<'t>, basic: &mut bool) -> Result<Option<Time<'t>>, Unexpected> {
    let start = cursor.rest;
    let separator =
        if cursor.consume('T') || cursor.consume('t') { start.get(..1).unwrap_or_default() } else { cursor.blanks() };
    if separator.is_empty() || !cursor.rest.starts_with(|character: char| character.is_ascii_digit()) {
        cursor.rest = start;
        return Ok(None);
    }
    let digits = cursor.digits();
    let mut time = Time { separator, hour: digits, minute: None, second: None, fraction: None, comma: false };
    match digits.len() {
        1 | 2 if cursor.consume(':') => {
            time.minute = Some(cursor.short().ok_or(Unexpected)?);
            if cursor.consume(':') {
                time.second = Some(cursor.short().ok_or(Unexpected)?);
            }
        }
        2 => {}
        4 | 6 => {
            *basic = true;
            time.hour = digits.get(..2).ok_or(Unexpected)?;
            time.minute = digits.get(2..4);
            time.second = digits.get(4..6);
        }
        _ => return Err(Unexpected),
    }
    time.comma = time.second.is_some() && cursor.rest.starts_with(',');
    if time.second.is_some() && (cursor.consume('.') || cursor.consume(',')) {
        time.fraction = Some(cursor.digits());
    }
    Ok(Some(time))
}

/// Parses a zone, if one follows.
pub(super) fn zone<'t>(cursor: &mut Cursor<'t>) -> Result<Option<Zone<'t>>, Unexpected> {
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
    if !cursor.consume('+') && !cursor.consume('-') {
        return Err(Unexpected);
    }
    let digits = cursor.digits();
    let (hours, minutes) = match digits.len() {
        1 | 2 if cursor.consume(':') => {
            let minutes = cursor.digits();
            (digits, if minutes.len() == 2 { minutes } else { return Err(Unexpected) })
        }
        1 | 2 => (digits, "0"),
        4 => digits.split_at_checked(2).ok_or(Unexpected)?,
        _ => return Err(Unexpected),
    };
    zone.hours = number(hours).ok_or(Unexpected)?;
    zone.minutes = number(minutes).ok_or(Unexpected)?;
    if cursor.at_end() { Ok(Some(zone)) } else { Err(Unexpected) }
}
