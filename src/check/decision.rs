//! Fixes that need a decision: what the value does not say, and somebody has to.
//!
//! A decision is a policy, not a value: the same one puts many values right, each in its own way. It is offered only
//! for values that it puts right.

use super::rule::Rule;
use crate::protocol::location::Home;
use crate::protocol::{Field, lastmod, location, priority};

/// What somebody decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Times without a zone are of this one: minutes east of Greenwich.
    Zone(i32),
    /// The day counts, the time does not.
    DayAlone,
    /// Dates of three numbers begin with the day, or with the month.
    Order {
        /// The day.
        day_first: bool,
    },
    /// What is no complete URL starts from this one.
    Base(Box<str>),
    /// The nearest number that is allowed.
    Nearest,
    /// The number was meant as so many of this many.
    OutOf(u8),
    /// The element goes.
    Without(Field),
}

/// What is known of the set that helps to decide.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'h> {
    /// The zone of whoever decides: minutes east of Greenwich.
    pub zone: i32,
    /// Where the set lives, or most of its URLs: `https://example.com`.
    pub origin: Option<&'h str>,
}

impl Decision {
    /// Which field it is about.
    pub const fn field(&self) -> Field {
        match self {
            Self::Zone(_) | Self::DayAlone | Self::Order { .. } => Field::Lastmod,
            Self::Base(_) => Field::Loc,
            Self::Nearest | Self::OutOf(_) => Field::Priority,
            Self::Without(field) => *field,
        }
    }

    /// What it does, as a short phrase.
    pub fn label(&self) -> String {
        match self {
            Self::Zone(0) => "take it as UTC".to_owned(),
            Self::Zone(minutes) => format!("take it as {}", lastmod::zone_text(*minutes)),
            Self::DayAlone => "keep the day alone".to_owned(),
            Self::Order { day_first: true } => "the day comes first".to_owned(),
            Self::Order { day_first: false } => "the month comes first".to_owned(),
            Self::Base(url) => format!("below {url}"),
            Self::Nearest => "take the nearest that is allowed".to_owned(),
            Self::OutOf(most) => format!("it was meant out of {most}"),
            Self::Without(field) => format!("remove {}", field.name()),
        }
    }

    /// What becomes of a decoded, trimmed value (`None` inside removes it); `None` where it does not help.
    pub fn apply(&self, value: &str) -> Option<Option<String>> {
        let value = value.trim();
        let new = match self {
            Self::Zone(minutes) => lastmod::in_zone(value, *minutes)?,
            Self::DayAlone => lastmod::day_alone(value)?,
            Self::Order { day_first } => lastmod::in_order(value, *day_first)?,
            Self::Base(url) => below(url, value)?,
            Self::Nearest => {
                let number: f64 = value.replace(',', ".").parse().ok()?;
                if number > 1.0 { "1.0" } else { "0.0" }.to_owned()
            }
            Self::OutOf(most) => {
                let number: u8 = value.parse().ok().filter(|number| number <= most && *number > 1)?;
                let hundredths = u32::from(number) * 100 / u32::from(*most);
                format!("0.{hundredths:02}").trim_end_matches('0').to_owned()
            }
            Self::Without(_) => return Some(None),
        };
        let new = match new.as_str() {
            "0." => "1.0".to_owned(),
            _ => new,
        };
        let right = match self.field() {
            Field::Lastmod => lastmod::judge(&new).faults.is_empty(),
            Field::Priority => priority::judge(&new).faults.is_empty(),
            _ => location::judge(&new).minus(location::judge(value)).is_empty(),
        };
        (right && new != value).then_some(Some(new))
    }
}

/// A complete URL for a part of one.
fn below(base: &str, value: &str) -> Option<String> {
    let home = Home::parse(base)?;
    if value.contains("://") {
        return None;
    }
    let scheme = home.origin().split_once("://").map_or("https", |(scheme, _)| scheme);
    Some(match value.strip_prefix("//") {
        Some(rest) => format!("{scheme}://{rest}"),
        None if value.starts_with('/') => format!("{}{value}", home.origin()),
        None => format!("{}{value}", home.prefix()),
    })
}

/// The decisions that would put a value right which breaks a rule, likeliest first; those alone that help.
pub fn decisions(rule: Rule, value: &str, hints: Hints<'_>) -> Vec<Decision> {
    let mut all = match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE => vec![Decision::Zone(0), Decision::Zone(hints.zone), Decision::DayAlone],
        Rule::LASTMOD_LOCALE | Rule::LASTMOD_INVALID => {
            vec![Decision::Order { day_first: true }, Decision::Order { day_first: false }]
        }
        Rule::LOC_NOT_ABSOLUTE => {
            hints.origin.map(|origin| Decision::Base(format!("{origin}/").into())).into_iter().collect()
        }
        Rule::PRIORITY_RANGE => vec![Decision::OutOf(10), Decision::OutOf(100), Decision::Nearest],
        _ => return Vec::new(),
    };
    all.dedup();
    all.retain(|decision| decision.apply(value).is_some());
    if let Some(field) = all.first().map(Decision::field).filter(|field| *field != Field::Loc) {
        all.push(Decision::Without(field));
    }
    all
}

/// Whether a decision about a rule can be typed: a zone, a URL.
pub fn takes_text(rule: Rule) -> Option<&'static str> {
    match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE => Some("a zone, such as +02:00"),
        Rule::LOC_NOT_ABSOLUTE => Some("the URL that it is below"),
        _ => None,
    }
}

/// The decision that typed text stands for.
pub fn typed(rule: Rule, text: &str) -> Option<Decision> {
    match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE => lastmod::zone_of(text).map(Decision::Zone),
        Rule::LOC_NOT_ABSOLUTE => Home::parse(text.trim()).map(|_| Decision::Base(text.trim().into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule, a value that breaks it, and what each decision makes of it.
    type Case<'c> = (Rule, &'c str, &'c [(&'c str, Option<&'c str>)]);

    #[test]
    fn each_decision_puts_the_value_right_in_its_way() {
        let hints = Hints { zone: 60, origin: Some("https://e.com") };
        let table: [Case<'_>; 7] = [
            (
                Rule::LASTMOD_NO_TIMEZONE,
                "2026-10-05T10:00:00",
                &[
                    ("take it as UTC", Some("2026-10-05T10:00:00Z")),
                    ("take it as +01:00", Some("2026-10-05T10:00:00+01:00")),
                    ("keep the day alone", Some("2026-10-05")),
                    ("remove lastmod", None),
                ],
            ),
            (
                Rule::LASTMOD_LOCALE,
                "05/10/2026",
                &[
                    ("the day comes first", Some("2026-10-05")),
                    ("the month comes first", Some("2026-05-10")),
                    ("remove lastmod", None),
                ],
            ),
            (Rule::LASTMOD_INVALID, "soon", &[]),
            (Rule::LOC_NOT_ABSOLUTE, "/a/b", &[("below https://e.com/", Some("https://e.com/a/b"))]),
            (Rule::LOC_NOT_ABSOLUTE, "a/b", &[("below https://e.com/", Some("https://e.com/a/b"))]),
            (
                Rule::PRIORITY_RANGE,
                "8",
                &[
                    ("it was meant out of 10", Some("0.8")),
                    ("it was meant out of 100", Some("0.08")),
                    ("take the nearest that is allowed", Some("1.0")),
                    ("remove priority", None),
                ],
            ),
            (
                Rule::PRIORITY_RANGE,
                "1.5",
                &[("take the nearest that is allowed", Some("1.0")), ("remove priority", None)],
            ),
        ];
        for (rule, value, expected) in table {
            let found: Vec<(String, Option<String>)> = decisions(rule, value, hints)
                .into_iter()
                .map(|decision| (decision.label(), decision.apply(value).unwrap()))
                .collect();
            let expected: Vec<(String, Option<String>)> =
                expected.iter().map(|(label, value)| ((*label).to_owned(), value.map(str::to_owned))).collect();
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn decisions_can_be_typed() {
        assert_eq!(typed(Rule::LASTMOD_NO_TIMEZONE, "+5:30"), Some(Decision::Zone(330)));
        assert_eq!(typed(Rule::LASTMOD_NO_TIMEZONE, "soon"), None);
        let base = typed(Rule::LOC_NOT_ABSOLUTE, "https://e.com/shop/");
        assert_eq!(base.unwrap().apply("a"), Some(Some("https://e.com/shop/a".to_owned())));
        assert_eq!(typed(Rule::LOC_NOT_ABSOLUTE, "shop"), None);
        assert_eq!(typed(Rule::LOC_EMPTY, "x"), None);
    }
}
