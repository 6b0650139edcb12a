//! Fixes that need an answer from the user: the choices that a finding offers, and the value that results from each.
//!
//! A decision is a policy, not a value: one decision fixes many values, each in its own way. It is offered only for
//! values that it fixes.

use super::name;
use super::rule::{FixKind, Rule};
use crate::protocol::extension::hreflang;
use crate::protocol::location::{Fault, Faults, UrlPrefix};
use crate::protocol::{Field, lastmod, location, priority};

/// The user's answer to a finding that has several possible fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Times without a zone are in this zone, in minutes east of Greenwich.
    Zone(i32),
    /// Keep the day and drop the time.
    DayAlone,
    /// Dates of three numbers start with the day or with the month.
    Order {
        /// Whether they start with the day.
        day_first: bool,
    },
    /// Incomplete URLs are resolved against this one.
    Base(Box<str>),
    /// Use the nearest number that is allowed.
    Nearest,
    /// The number is on a scale from 0 to this.
    OutOf(u8),
    /// Remove the element.
    Without(Field),
    /// Set the date to this one, which is today.
    Today(Box<str>),
    /// Apply the default fix.
    Usual,
    /// Delete the rows.
    Delete,
    /// URLs have this scheme, such as `https`.
    Scheme(&'static str),
    /// Whether hosts start with `www.`.
    Www(bool),
    /// The language of the page, as an hreflang code.
    Language(Box<str>),
    /// The new name of the file.
    Name(Box<str>),
}

/// A possible answer as users type it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The word to type; in capitals if it is a placeholder for a value.
    pub word: &'static str,
    /// The effect as a short phrase.
    pub about: &'static str,
}

/// Properties of the set that make an answer more likely.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'h> {
    /// The time zone of the user, in minutes east of Greenwich.
    pub zone: i32,
    /// The origin of the set or of most of its URLs: `https://example.com`.
    pub origin: Option<&'h str>,
    /// Today, as a date.
    pub today: Option<&'h str>,
}

impl Decision {
    /// The field that changes; `None` for an answer about whole rows.
    pub const fn field(&self) -> Option<Field> {
        match self {
            Self::Zone(_) | Self::DayAlone | Self::Order { .. } | Self::Today(_) => Some(Field::Lastmod),
            Self::Base(_) => Some(Field::Loc),
            Self::Nearest | Self::OutOf(_) => Some(Field::Priority),
            Self::Without(field) => Some(*field),
            Self::Usual | Self::Delete | Self::Scheme(_) | Self::Www(_) | Self::Language(_) | Self::Name(_) => None,
        }
    }

    /// The effect as a short phrase.
    pub fn label(&self) -> String {
        match self {
            Self::Zone(0) => "assume UTC".to_owned(),
            Self::Zone(minutes) => format!("assume {}", lastmod::zone_text(*minutes)),
            Self::DayAlone => "keep only the day".to_owned(),
            Self::Order { day_first: true } => "the day comes first".to_owned(),
            Self::Order { day_first: false } => "the month comes first".to_owned(),
            Self::Base(url) => format!("resolve against {url}"),
            Self::Nearest => "use the nearest allowed number".to_owned(),
            Self::OutOf(most) => format!("read it on a scale of 0 to {most}"),
            Self::Without(field) => format!("remove {}", field.name()),
            Self::Today(date) => format!("date it today, {date}"),
            Self::Usual => "apply the default".to_owned(),
            Self::Delete => "delete the row".to_owned(),
            Self::Scheme(scheme) => format!("write {scheme}"),
            Self::Www(true) => "write www".to_owned(),
            Self::Www(false) => "write it without www".to_owned(),
            Self::Language(code) => format!("the page is in {code}"),
            Self::Name(name) => format!("rename the file to {name}"),
        }
    }

    /// The new value for a decoded one (`None` inside removes the element); `None` if the decision does not fix it.
    pub fn apply(&self, value: &str) -> Option<Option<String>> {
        let value = value.trim();
        let new = match self {
            Self::Zone(minutes) => lastmod::with_zone(value, *minutes)?,
            Self::DayAlone => lastmod::date_only(value)?,
            Self::Order { day_first } => lastmod::with_day_order(value, *day_first)?,
            Self::Base(url) => complete_url(url, value)?,
            Self::Nearest => {
                let number: f64 = value.replace(',', ".").parse().ok()?;
                if number > 1.0 { "1.0" } else { "0.0" }.to_owned()
            }
            Self::OutOf(most) => {
                let number: u8 = value.parse().ok().filter(|number| number <= most && *number > 1)?;
                let hundredths = u32::from(number) * 100 / u32::from(*most);
                match (hundredths / 10, hundredths % 10) {
                    (10.., _) => "1.0".to_owned(),
                    (tenths, 0) => format!("0.{tenths}"),
                    _ => format!("0.{hundredths:02}"),
                }
            }
            Self::Without(_) => return Some(None),
            Self::Today(date) => (**date).to_owned(),
            Self::Usual | Self::Delete | Self::Scheme(_) | Self::Www(_) | Self::Language(_) | Self::Name(_) => {
                return None;
            }
        };
        let is_valid = match self.field() {
            Some(Field::Lastmod) => lastmod::validate(&new).faults.is_empty(),
            Some(Field::Priority) => priority::validate(&new).faults.is_empty(),
            _ => {
                // A base URL may be that of a sitemap, whose file name does not count as a fault of the URL.
                let known = location::validate(value).union(Faults::only(Fault::NotPage));
                location::validate(&new).minus(known).is_empty()
            }
        };
        (is_valid && new != value).then_some(Some(new))
    }
}

/// The complete URL for a path or a URL without a scheme.
fn complete_url(base: &str, value: &str) -> Option<String> {
    let url_prefix = UrlPrefix::parse(base)?;
    if value.contains("://") {
        return None;
    }
    let scheme = url_prefix.origin().split_once("://").map_or("https", |(scheme, _)| scheme);
    Some(match value.strip_prefix("//") {
        Some(rest) => format!("{scheme}://{rest}"),
        None if value.starts_with('/') => format!("{}{value}", url_prefix.origin()),
        None => format!("{}{value}", url_prefix.prefix()),
    })
}

/// The decisions that fix a value which violates a rule, likeliest first.
pub fn decisions(rule: Rule, value: &str, hints: Hints<'_>) -> Vec<Decision> {
    let mut all = match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE | Rule::LASTMOD_SPACE_SEPARATOR => {
            vec![Decision::Zone(0), Decision::Zone(hints.zone), Decision::DayAlone]
        }
        Rule::LASTMOD_LOCALE => vec![Decision::Order { day_first: true }, Decision::Order { day_first: false }],
        Rule::LASTMOD_INVALID => vec![
            Decision::Order { day_first: true },
            Decision::Order { day_first: false },
            Decision::Without(Field::Lastmod),
        ],
        Rule::LASTMOD_FUTURE => hints.today.map(|today| Decision::Today(today.into())).into_iter().collect(),
        Rule::LOC_NOT_ABSOLUTE => {
            hints.origin.map(|origin| Decision::Base(format!("{origin}/").into())).into_iter().collect()
        }
        Rule::PRIORITY_RANGE => vec![Decision::OutOf(10), Decision::OutOf(100), Decision::Nearest],
        _ => return Vec::new(),
    };
    all.dedup();
    all.retain(|decision| decision.apply(value).is_some());
    let field = all.first().and_then(Decision::field).filter(|field| *field != Field::Loc);
    if let Some(without) = field.map(Decision::Without).filter(|without| !all.contains(without)) {
        all.push(without);
    }
    all
}

/// The text that can be typed as the decision about a rule: a zone, a URL.
pub fn text_hint(rule: Rule) -> Option<&'static str> {
    match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE | Rule::LASTMOD_SPACE_SEPARATOR => Some("a zone, such as +02:00"),
        Rule::LOC_NOT_ABSOLUTE => Some("its base URL"),
        _ => None,
    }
}

/// Parses the text of a decision.
pub fn parse_decision(rule: Rule, text: &str) -> Option<Decision> {
    match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE | Rule::LASTMOD_SPACE_SEPARATOR => lastmod::parse_zone(text).map(Decision::Zone),
        Rule::FILE_NAME_UNSAFE | Rule::TEXT_EXTENSION => {
            name::refusal(text.trim(), None).is_none().then(|| Decision::Name(text.trim().into()))
        }
        Rule::LOC_NOT_ABSOLUTE | Rule::INDEX_CHILD_INCOMPLETE_URL | Rule::INDEX_CHILD_UNLISTED => {
            UrlPrefix::parse(text.trim()).map(|_| Decision::Base(text.trim().into()))
        }
        Rule::HREFLANG_SELF_MISSING => {
            let code = text.trim();
            (hreflang::validate(code) == hreflang::Faults::default()).then(|| Decision::Language(code.into()))
        }
        _ => None,
    }
}

const UTC: Answer = Answer { word: "utc", about: "assume UTC" };
const DAY: Answer = Answer { word: "day", about: "keep only the day" };
const DAY_FIRST: Answer = Answer { word: "day-first", about: "the day comes first" };
const MONTH_FIRST: Answer = Answer { word: "month-first", about: "the month comes first" };
const TODAY: Answer = Answer { word: "today", about: "date it today" };
const REMOVE: Answer = Answer { word: "remove", about: "remove the element" };
const DELETE: Answer = Answer { word: "delete", about: "delete the rows" };
const USUAL: Answer = Answer { word: "usual", about: "the default of the fix" };
const ZONE: Answer = Answer { word: "ZONE", about: "assume this zone: +02:00" };
const URL: Answer = Answer { word: "URL", about: "its base URL: https://example.com/" };
const CODE: Answer = Answer { word: "CODE", about: "the language that the page is in: de-AT" };
const NAME: Answer = Answer { word: "NAME", about: "the file's new name, in the same folder: site-map.xml" };
const NEAREST: Answer = Answer { word: "nearest", about: "use the nearest allowed number" };
const TENTHS: Answer = Answer { word: "out-of-10", about: "8 was meant as 0.8" };
const HUNDREDTHS: Answer = Answer { word: "out-of-100", about: "80 was meant as 0.8" };
const HTTPS: Answer = Answer { word: "https", about: "write https everywhere" };
const HTTP: Answer = Answer { word: "http", about: "write http everywhere" };
const WITH_WWW: Answer = Answer { word: "www", about: "write every host with www" };
const OURS: Answer = Answer { word: "ours", about: "take what the current branch has" };
const THEIRS: Answer = Answer { word: "theirs", about: "take what the merged branch has" };
const BOTH: Answer = Answer { word: "both", about: "take the entries of both, each URL once" };
const BARE: Answer = Answer { word: "bare", about: "write every host without www" };

/// The answers that the fix of a rule accepts, placeholders last; empty if there is nothing to decide.
pub fn answers(rule: Rule) -> Vec<Answer> {
    let specific: &[Answer] = match rule.main() {
        Rule::LASTMOD_NO_TIMEZONE | Rule::LASTMOD_SPACE_SEPARATOR => &[UTC, DAY, REMOVE, ZONE],
        Rule::LASTMOD_LOCALE | Rule::LASTMOD_INVALID => &[DAY_FIRST, MONTH_FIRST, REMOVE],
        Rule::LASTMOD_FUTURE => &[TODAY, REMOVE],
        Rule::LASTMOD_EPOCH
        | Rule::LASTMOD_MULTIPLE
        | Rule::LASTMOD_ZERO
        | Rule::LASTMOD_IMPOSSIBLE
        | Rule::LASTMOD_REDUCED_PRECISION
        | Rule::LASTMOD_OFFSET_RANGE
        | Rule::CHANGEFREQ_INVALID
        | Rule::PRIORITY_INVALID => &[REMOVE],
        Rule::PRIORITY_RANGE => &[TENTHS, HUNDREDTHS, NEAREST, REMOVE],
        Rule::LOC_NOT_ABSOLUTE | Rule::INDEX_CHILD_INCOMPLETE_URL | Rule::INDEX_CHILD_UNLISTED => &[URL],
        Rule::FILE_NAME_UNSAFE | Rule::TEXT_EXTENSION => &[NAME],
        Rule::LOC_MISSING
        | Rule::LOC_EMPTY
        | Rule::LOC_FOREIGN_HOST
        | Rule::TEXT_EXTRA_CONTENT
        | Rule::NEWS_STALE
        | Rule::SET_MIXED_HOST
        | Rule::SET_MIXED_PORT => &[DELETE],
        // The side to take must be known when the file is read, so there is no default.
        Rule::MERGE_CONFLICT => return vec![OURS, THEIRS, BOTH],
        Rule::SET_MIXED_SCHEME => &[HTTPS, HTTP],
        Rule::SET_MIXED_WWW => &[WITH_WWW, BARE],
        Rule::HREFLANG_SELF_MISSING => &[CODE],
        _ => &[],
    };
    // Every fix has a default, except that of `set-mixed-host`: no host is more likely than another.
    let usual = (rule.fix() != FixKind::None && rule.main() != Rule::SET_MIXED_HOST).then_some(USUAL);
    usual.into_iter().chain(specific.iter().copied()).collect()
}

/// The answers to show to users, with the effect of the default under this rule; empty if there is nothing to choose.
pub fn choices(rule: Rule) -> Vec<Answer> {
    let mut all = answers(rule);
    if all.len() < 2 {
        return Vec::new();
    }
    for answer in all.iter_mut().filter(|answer| answer.word == USUAL.word) {
        answer.about = match rule.main() {
            Rule::CHANGEFREQ_INVALID => "use the nearest word",
            Rule::FILE_NAME_UNSAFE => "write the letters that need no escaping",
            Rule::TEXT_EXTENSION => "let the name end in .txt",
            Rule::HREFLANG_SELF_MISSING => "list the page in the language that others give it",
            Rule::INDEX_CHILD_INCOMPLETE_URL | Rule::LOC_NOT_ABSOLUTE => {
                "complete it from the location of the file, if known"
            }
            Rule::INDEX_CHILD_UNLISTED => "list it below the URL of the folder, if known",
            Rule::LASTMOD_FUTURE | Rule::LASTMOD_ZERO => "remove the element",
            Rule::LASTMOD_NO_TIMEZONE => "assume UTC",
            Rule::LASTMOD_SPACE_SEPARATOR => "write the T; a time without a zone is taken as UTC",
            Rule::LOC_FOREIGN_HOST => "write the sitemap's own host",
            Rule::SET_MIXED_PORT | Rule::SET_MIXED_SCHEME | Rule::SET_MIXED_WWW => "write what most rows have",
            Rule::TEXT_EXTRA_CONTENT => "keep only the URL of the line",
            _ => "the suggested value, if it is unambiguous",
        };
    }
    all
}

/// Parses an answer to a decision.
///
/// # Errors
/// A message with the accepted answers, such as `usual, utc, day, remove, ZONE`.
pub fn parse_answer(rule: Rule, text: &str, hints: Hints<'_>) -> Result<Decision, String> {
    let answers = answers(rule);
    let text = text.trim();
    let named = answers.iter().find(|answer| answer.word == text);
    let field = match rule.main() {
        Rule::CHANGEFREQ_INVALID => Field::Changefreq,
        Rule::PRIORITY_INVALID | Rule::PRIORITY_RANGE => Field::Priority,
        _ => Field::Lastmod,
    };
    let decision = match named.map(|answer| answer.word) {
        Some("usual" | "ours" | "theirs" | "both") => Some(Decision::Usual),
        Some("utc") => Some(Decision::Zone(0)),
        Some("day") => Some(Decision::DayAlone),
        Some("day-first") => Some(Decision::Order { day_first: true }),
        Some("month-first") => Some(Decision::Order { day_first: false }),
        Some("today") => hints.today.map(|today| Decision::Today(today.into())),
        Some("remove") => Some(Decision::Without(field)),
        Some("delete") => Some(Decision::Delete),
        Some("nearest") => Some(Decision::Nearest),
        Some("out-of-10") => Some(Decision::OutOf(10)),
        Some("out-of-100") => Some(Decision::OutOf(100)),
        Some("https") => Some(Decision::Scheme("https")),
        Some("http") => Some(Decision::Scheme("http")),
        Some("www") => Some(Decision::Www(true)),
        Some("bare") => Some(Decision::Www(false)),
        _ => parse_decision(rule, text),
    };
    decision.ok_or_else(|| {
        let is_named = matches!(rule.main(), Rule::FILE_NAME_UNSAFE | Rule::TEXT_EXTENSION);
        if let Some(why) = name::refusal(text, None).filter(|_| is_named) {
            return format!("{}: {why}", rule.code());
        }
        let words: Vec<&str> = answers.iter().map(|answer| answer.word).collect();
        match words.as_slice() {
            [] => format!("{} takes no answer", rule.code()),
            _ => format!("{} takes one of these answers: {}", rule.code(), words.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule, a value that violates it, and the result of each decision.
    type Case<'c> = (Rule, &'c str, &'c [(&'c str, Option<&'c str>)]);

    #[test]
    fn each_decision_gives_its_own_value() {
        let hints = Hints { zone: 60, origin: Some("https://e.com"), today: Some("2026-11-20") };
        let table: [Case<'_>; 10] = [
            (
                Rule::LASTMOD_NO_TIMEZONE,
                "2026-10-05T10:00:00",
                &[
                    ("assume UTC", Some("2026-10-05T10:00:00Z")),
                    ("assume +01:00", Some("2026-10-05T10:00:00+01:00")),
                    ("keep only the day", Some("2026-10-05")),
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
            (Rule::LASTMOD_INVALID, "soon", &[("remove lastmod", None)]),
            (
                Rule::LASTMOD_FUTURE,
                "2027-11-20",
                &[("date it today, 2026-11-20", Some("2026-11-20")), ("remove lastmod", None)],
            ),
            (Rule::LOC_NOT_ABSOLUTE, "/a/b", &[("resolve against https://e.com/", Some("https://e.com/a/b"))]),
            (Rule::LOC_NOT_ABSOLUTE, "a/b", &[("resolve against https://e.com/", Some("https://e.com/a/b"))]),
            (
                Rule::PRIORITY_RANGE,
                "8",
                &[
                    ("read it on a scale of 0 to 10", Some("0.8")),
                    ("read it on a scale of 0 to 100", Some("0.08")),
                    ("use the nearest allowed number", Some("1.0")),
                    ("remove priority", None),
                ],
            ),
            (
                Rule::PRIORITY_RANGE,
                "10",
                &[
                    ("read it on a scale of 0 to 10", Some("1.0")),
                    ("read it on a scale of 0 to 100", Some("0.1")),
                    ("use the nearest allowed number", Some("1.0")),
                    ("remove priority", None),
                ],
            ),
            (
                Rule::PRIORITY_RANGE,
                "100",
                &[
                    ("read it on a scale of 0 to 100", Some("1.0")),
                    ("use the nearest allowed number", Some("1.0")),
                    ("remove priority", None),
                ],
            ),
            (
                Rule::PRIORITY_RANGE,
                "1.5",
                &[("use the nearest allowed number", Some("1.0")), ("remove priority", None)],
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
    fn every_answer_can_be_parsed() {
        let hints = Hints { zone: 0, origin: None, today: Some("2026-11-20") };
        for rule in Rule::mains() {
            for answer in answers(rule) {
                let text = match answer.word {
                    "ZONE" => "+02:00",
                    "URL" => "https://e.com/",
                    "CODE" => "de-AT",
                    word => word,
                };
                assert!(parse_answer(rule, text, hints).is_ok(), "{rule}: {text}");
            }
            let wrong = parse_answer(rule, "no such answer", hints).unwrap_err();
            assert!(wrong.contains(rule.code()), "{wrong}");
            // A rule with a fix has at least one answer.
            assert!(rule.fix() == FixKind::None || !answers(rule).is_empty(), "{rule}");
        }
    }

    #[test]
    fn decisions_can_be_typed() {
        assert_eq!(parse_decision(Rule::LASTMOD_NO_TIMEZONE, "+5:30"), Some(Decision::Zone(330)));
        assert_eq!(parse_decision(Rule::LASTMOD_NO_TIMEZONE, "soon"), None);
        let base = parse_decision(Rule::LOC_NOT_ABSOLUTE, "https://e.com/shop/");
        assert_eq!(base.unwrap().apply("a"), Some(Some("https://e.com/shop/a".to_owned())));
        assert_eq!(parse_decision(Rule::LOC_NOT_ABSOLUTE, "shop"), None);
        assert_eq!(parse_decision(Rule::LOC_EMPTY, "x"), None);
    }
}
