//! The current time: of the system, or of `--now`.
//!
//! Only this module of `cli` reads the clock; everything else gets a [`Now`].

use crate::protocol::lastmod::{Faults, Now, Precision, validate};
use chrono::{DateTime, Local, Offset};

/// The system time in the local time zone.
pub fn system() -> Now {
    let now = Local::now();
    Now { seconds: now.timestamp(), offset: now.offset().fix().local_minus_utc() }
}

/// Reads `--now`: a date (its first second, UTC), a date with time and zone, or `@` and the seconds
/// since 1970. `None` for other texts.
pub fn parse(text: &str) -> Option<Now> {
    if let Some(seconds) = text.strip_prefix('@') {
        return Some(Now { seconds: seconds.parse().ok()?, offset: 0 });
    }
    let validation = validate(text);
    let tolerated = Faults::NO_SECONDS.union(Faults::FRACTION).union(Faults::YEAR_RANGE).union(Faults::UNIX_ZERO);
    let moment = validation.instant.filter(|_| validation.faults.difference(tolerated).is_empty())?;
    let offset = DateTime::parse_from_rfc3339(text).map_or(0, |time| time.offset().local_minus_utc());
    (moment.precision >= Precision::Day).then_some(Now { seconds: moment.seconds, offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_unix_times_are_parsed() {
        let table = [
            ("2026-11-20", Some((1_795_132_800, 0))),
            ("2026-11-20T09:14:07Z", Some((1_795_166_047, 0))),
            ("2026-11-20T10:14:07+01:00", Some((1_795_166_047, 3600))),
            ("2026-11-20T09:14Z", Some((1_795_166_040, 0))),
            ("@1795166047", Some((1_795_166_047, 0))),
            ("2026-11-20T09:14:07", None),
            ("2026-11", None),
            ("today", None),
            ("@", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), expected.map(|(seconds, offset)| Now { seconds, offset }), "{text}");
        }
    }
}
