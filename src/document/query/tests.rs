//! Tests of the query language: tables of queries, and the round trip of the canonical text.

mod data;

use super::date::{Date, Unit};
use super::expr::{Has, Match, Name, Order, Test};
use super::*;
use crate::protocol::changefreq::Changefreq;
use crate::protocol::lastmod::{Lastmod, Precision};
use crate::protocol::priority;
use crate::protocol::{Field, Severity};
use chrono::{Datelike, Days, NaiveDate};
use proptest::prelude::*;
use std::borrow::Cow;

const RULES: [&str; 4] = ["loc-empty", "loc-too-long", "lastmod-future", "priority-range"];

/// 2026-11-20T09:14:07Z
const NOW: Now = Now { seconds: 1_795_166_047, offset: 0 };
const VOCABULARY: Vocabulary<'static> = Vocabulary { rules: &RULES, now: NOW, data: None };

fn parse(text: &str) -> Result<Query, QueryError> {
    Query::parse(text, &VOCABULARY)
}

/// A row given by its texts; facts are derived from them as far as the tests need.
#[derive(Clone, Copy, Default)]
struct TextRow {
    loc: &'static str,
    lastmod: Option<&'static str>,
    changefreq: Option<&'static str>,
    priority: Option<&'static str>,
    image: bool,
    state: Option<State>,
    rule: Option<u16>,
    severities: &'static [Severity],
}

impl RowFacts for TextRow {
    fn loc(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.loc)
    }
    fn value(&self, field: Field) -> Option<Cow<'_, str>> {
        let value = match field {
            Field::Loc => Some(self.loc),
            Field::Lastmod => self.lastmod,
            Field::Changefreq => self.changefreq,
            Field::Priority => self.priority,
        };
        value.map(Cow::Borrowed)
    }
    fn file(&self) -> &'static str {
        "sitemap-1.xml"
    }
    fn lastmod(&self) -> Fact<i64> {
        fact(self.lastmod, |text| Date::parse(text).map(|date| date.period(NOW).start))
    }
    fn changefreq(&self) -> Fact<Changefreq> {
        fact(self.changefreq, Changefreq::parse)
    }
    fn priority(&self) -> Fact<u8> {
        fact(self.priority, |text| priority::validate(text).hundredths)
    }
    fn has_extension(&self, kind: Extension) -> bool {
        self.image && kind == Extension::Image
    }
    fn is(&self, state: State) -> bool {
        self.state == Some(state)
    }
    fn has_rule(&self, rule: u16) -> bool {
        self.rule == Some(rule)
    }
    fn has_severity(&self, severity: Severity) -> bool {
        self.severities.contains(&severity)
    }
}

fn fact<T>(text: Option<&str>, read: impl Fn(&str) -> Option<T>) -> Fact<T> {
    text.map_or(Fact::Absent, |text| read(text).map_or(Fact::Unreadable, Fact::Is))
}

const FULL: TextRow = TextRow {
    loc: "https://www.Example.com/blog/2024/Post?b=1&c=2",
    lastmod: Some("2025-03-09T10:20:00Z"),
    changefreq: Some("weekly"),
    priority: Some("0.50"),
    image: true,
    state: Some(State::Changed),
    rule: Some(1),
    severities: &[Severity::Error, Severity::Note],
};

const BARE: TextRow = TextRow {
    loc: "https://www.example.com/",
    lastmod: None,
    changefreq: None,
    priority: None,
    image: false,
    state: None,
    rule: None,
    severities: &[],
};

const ODD: TextRow = TextRow {
    loc: "/none and or",
    lastmod: Some("yesterday"),
    changefreq: Some("Weekly"),
    priority: Some("high"),
    image: false,
    state: Some(State::Marked),
    rule: Some(0),
    severities: &[Severity::Warning],
};

#[test]
fn rows_match_as_documented() {
    // Query, then whether FULL, BARE and ODD pass.
    let table = [
        ("", [true, true, true]),
        ("blog", [true, false, false]),
        ("BLOG", [false, false, false]),
        ("post", [true, false, false]),
        ("blog post", [true, false, false]),
        ("blog or none", [true, false, true]),
        ("-blog", [false, true, true]),
        ("not blog", [false, true, true]),
        ("\"none and or\"", [false, false, true]),
        ("loc=\"https://www.Example.com/blog/2024/Post?b=1&c=2\"", [true, false, false]),
        ("loc=https://www.Example.com/blog/2024/Post?b=1&c=2", [true, false, false]),
        ("loc=https://www.example.com/blog/2024/Post?b=1&c=2", [false, false, false]),
        ("https://www.example.com", [true, true, false]),
        ("/blog/*/post", [true, false, false]),
        ("loc~^https.*[?]", [true, false, false]),
        ("host:example", [true, true, false]),
        ("host=WWW.example.com", [true, true, false]),
        ("host=none", [false, false, true]),
        ("host:*.com", [true, true, false]),
        ("path:/blog/**", [true, false, false]),
        ("path:/blog/*", [false, false, false]),
        ("path=/", [false, true, false]),
        ("path:blog", [true, false, false]),
        ("section=blog", [true, false, false]),
        ("section=none", [false, true, false]),
        ("section=\"none and or\"", [false, false, true]),
        ("depth=3", [true, false, false]),
        ("depth<3", [false, true, true]),
        ("depth<0", [false, false, false]),
        ("depth>=0", [true, true, true]),
        ("lastmod=2025", [true, false, false]),
        ("lastmod:2025-03", [true, false, false]),
        ("lastmod=2025-03-09", [true, false, false]),
        ("lastmod=2025-03-09T10:20", [true, false, false]),
        ("lastmod=2025-03-09T12:20+02:00", [true, false, false]),
        ("lastmod=2025-03-10", [false, false, false]),
        ("lastmod<2025", [false, false, false]),
        ("lastmod<=2025", [true, false, false]),
        ("lastmod<2025-04", [true, false, false]),
        ("lastmod<2025-03", [false, false, false]),
        ("lastmod>2025-03", [false, false, false]),
        ("lastmod>2025-02", [true, false, false]),
        ("lastmod>=2025-03", [true, false, false]),
        ("lastmod<today", [true, false, false]),
        ("lastmod>-30d", [false, false, false]),
        ("lastmod>-3y", [true, false, false]),
        ("lastmod!=2025", [false, true, true]),
        ("lastmod=none", [false, true, false]),
        ("lastmod:none", [false, true, false]),
        ("lastmod!=none", [true, false, true]),
        ("lastmod~day", [false, false, true]),
        ("lastmod:2025-*", [true, false, false]),
        ("priority=0.5", [true, false, false]),
        ("priority<0.5", [false, false, false]),
        ("priority<=.5", [true, false, false]),
        ("priority < 0.6", [true, false, false]),
        ("priority >0.4", [true, false, false]),
        ("priority<0", [false, false, false]),
        ("priority>1", [false, false, false]),
        ("priority!=0.5", [false, true, true]),
        ("priority!=none", [true, false, true]),
        ("priority~0$", [true, false, false]),
        ("changefreq=weekly", [true, false, false]),
        ("changefreq:none", [false, true, false]),
        ("changefreq~^W", [false, false, true]),
        ("changefreq:week*", [true, false, true]),
        ("file:sitemap-?.xml", [true, true, true]),
        ("file=sitemap-2.xml", [false, false, false]),
        ("has:image", [true, false, false]),
        ("has:extension", [true, false, false]),
        ("has:video", [false, false, false]),
        ("has:lastmod", [true, false, true]),
        ("-has:priority", [false, true, false]),
        ("is:changed", [true, false, false]),
        ("is:marked or is:changed", [true, false, true]),
        ("rule:loc-too-long", [true, false, false]),
        ("rule:loc-*", [true, false, true]),
        ("rule=none", [false, true, false]),
        ("severity:error", [true, false, false]),
        ("severity:note", [true, false, false]),
        ("severity=warning", [false, false, true]),
        ("severity>=warning", [true, false, true]),
        ("severity<=warning", [false, false, true]),
        ("severity<error", [false, false, true]),
        ("severity>warning", [true, false, false]),
        ("severity!=error", [false, true, true]),
        ("severity=none", [false, true, false]),
        ("blog and (priority<0.3 or lastmod=2025)", [true, false, false]),
        ("blog or example priority=none", [true, true, false]),
        ("not (blog or none)", [false, true, false]),
        ("-(blog or none)", [false, true, false]),
        ("not not blog", [true, false, false]),
        ("(blog)", [true, false, false]),
        ("NOT blog AND www", [false, true, false]),
    ];
    for (text, expected) in table {
        let query = parse(text);
        let found = query.map(|query| [FULL, BARE, ODD].map(|row| query.matches(&row)));
        assert_eq!(found, Ok(expected), "{text}");
    }
}

#[test]
fn canonical_texts_are_minimal() {
    let table = [
        ("", ""),
        ("  a   b ", "a b"),
        ("a and b or c", "a b or c"),
        ("a and (b or c)", "a (b or c)"),
        ("((a) (b c))", "a b c"),
        ("a or (b or c)", "a or b or c"),
        ("-a", "not a"),
        ("-(a b)", "not (a b)"),
        ("not not a", "a"),
        ("loc:a", "a"),
        ("loc:\"a b\"", "\"a b\""),
        ("\"and\"", "\"and\""),
        ("\"-a\"", "\"-a\""),
        ("\"lastmod\"", "\"lastmod\""),
        ("\"x=1\"", "\"x=1\""),
        ("https://e.com/a=b", "https://e.com/a=b"),
        ("/wiki/A_(b)", "\"/wiki/A_(b)\""),
        ("priority < 0.50", "priority<0.5"),
        ("PRIORITY>=.25", "priority>=0.25"),
        ("lastmod:2025-03-09T12:20:30+02:00", "lastmod=2025-03-09T10:20:30Z"),
        ("not lastmod=2025", "lastmod!=2025"),
        ("lastmod:none", "lastmod=none"),
        ("not section:x", "not section:x"),
        ("section=\"none\"", "section=\"none\""),
        ("rule=none", "severity=none"),
        ("severity=error", "severity:error"),
        ("severity!=error", "not severity:error"),
        ("has=image", "has:image"),
        ("changefreq:daily", "changefreq=daily"),
        ("loc~\"a|b c\"", "loc~\"a|b c\""),
    ];
    for (text, expected) in table {
        assert_eq!(parse(text).map(|query| query.to_string()), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn errors_have_a_span_and_the_expected_syntax() {
    // Query, the text at the span, part of the message.
    let table = [
        ("blog priorty<0.5", "priorty", "did you mean priority?"),
        ("colour:red", "colour", "expected loc, host, path"),
        ("id=5", "id", "put it in double quotes"),
        ("priority<high", "high", "expected a number from 0.0 to 1.0"),
        ("priority<1.5", "1.5", "expected a number from 0.0 to 1.0"),
        ("priority<0.555", "0.555", "at most two decimals"),
        ("priority<", "<", "expected a number"),
        ("lastmod<20x5", "20x5", "expected a date such as 2025"),
        ("lastmod=2025-02-30", "2025-02-30", "expected a date"),
        ("lastmod=\"none\"", "\"none\"", "expected a date"),
        ("changefreq=weakly", "weakly", "did you mean weekly?"),
        ("changefreq=often", "often", "changefreq~"),
        ("changefreq<weekly", "<", "has no order"),
        ("loc<a", "<", "has no order"),
        ("has~image", "~", "takes no regular expression"),
        ("has:images", "images", "did you mean image?"),
        ("is:changd", "changd", "did you mean changed?"),
        ("is=none", "none", "never absent"),
        ("rule:loc-emty", "loc-emty", "did you mean loc-empty?"),
        ("rule:x-*", "x-*", "the code of a rule"),
        ("severity:fatal", "fatal", "error, warning, note or none"),
        ("depth=two", "two", "a whole number"),
        ("loc~(a", "(a", "unclosed group"),
        ("(a or b", "(", "unclosed"),
        ("a or b)", ")", "unmatched"),
        ("()", ")", "before `)`"),
        ("a or", "", "expected a word"),
        ("a and or b", "or", "before `or`"),
        ("and", "and", "before `and`"),
        ("not", "", "expected a word"),
        ("\"a b", "\"", "unclosed"),
        ("\"a\"b", "b", "space after the closing quote"),
        ("loc:\"ü\"ü", "ü", "space after the closing quote"),
    ];
    for (text, place, message) in table {
        let error = parse(text).err();
        assert!(error.is_some(), "{text} is accepted");
        let found = error.map(|error| (text.get(error.span).map(str::to_owned), error.message));
        assert_eq!(found.as_ref().and_then(|(at, _)| at.as_deref()), Some(place), "{text}: {found:?}");
        assert!(found.as_ref().is_some_and(|(_, words)| words.contains(message)), "{text}: {found:?}");
    }
}

#[test]
fn nesting_is_bounded() {
    for opening in ["(", "-", "not ", "(-"] {
        let text = opening.repeat(100_000) + "a";
        assert!(parse(&text).is_err_and(|error| error.message.contains("levels")), "{opening}");
    }
}

#[test]
fn constant_queries_are_folded() {
    for (text, everything) in [("", true), ("priority<0 or -priority<0", true), ("priority<0", false), ("a", false)] {
        assert_eq!(parse(text).map(|query| query.matches_all()), Ok(everything), "{text}");
    }
    assert!(matches!(parse("priority<0 blog").map(|query| (*query.node).clone()), Ok(Node::Known(false))));
}

#[test]
fn cheap_tests_run_first() {
    /// Counts how often the URL is asked for.
    struct Counted(std::cell::Cell<u32>);
    impl RowFacts for Counted {
        fn loc(&self) -> Cow<'_, str> {
            self.0.set(self.0.get() + 1);
            Cow::Borrowed("https://e.com/blog/")
        }
        fn value(&self, _: Field) -> Option<Cow<'_, str>> {
            None
        }
        fn file(&self) -> &'static str {
            ""
        }
        fn lastmod(&self) -> Fact<i64> {
            Fact::Absent
        }
        fn changefreq(&self) -> Fact<Changefreq> {
            Fact::Absent
        }
        fn priority(&self) -> Fact<u8> {
            Fact::Is(50)
        }
        fn has_extension(&self, _: Extension) -> bool {
            false
        }
        fn is(&self, _: State) -> bool {
            false
        }
        fn has_rule(&self, _: u16) -> bool {
            false
        }
        fn has_severity(&self, _: Severity) -> bool {
            false
        }
    }
    for (text, asked) in [("blog priority<0.5", 0), ("loc~b or priority=0.5", 0), ("blog path:blog depth=1 host:e", 1)]
    {
        let row = Counted(std::cell::Cell::new(0));
        assert!(parse(text).is_ok_and(|query| query.matches(&row) || asked == 0), "{text}");
        assert_eq!(row.0.get(), asked, "{text}");
    }
}

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z/.:=?&()\"* <>~!ü-]{0,8}",
        prop::sample::select(vec!["none", "and", "or", "not", "lastmod", "https://e.com/a?b=c", "-x", "\""])
            .prop_map(str::to_owned),
    ]
}

fn any_order() -> impl Strategy<Value = Order> {
    prop::sample::select(vec![Order::Less, Order::AtMost, Order::Equal, Order::AtLeast, Order::More])
}

fn any_date() -> impl Strategy<Value = Date> {
    use Precision::{Day, Minute, Month, Second, Year};
    let precision = prop::sample::select(vec![Year, Month, Day, Minute, Second]);
    let unit = prop::sample::select(vec![Unit::Days, Unit::Weeks, Unit::Months, Unit::Years]);
    // Any second from 1990 to 2300, truncated to the precision.
    let written = (631_152_000..10_413_792_000_i64, precision).prop_map(|(seconds, precision)| {
        let length = match precision {
            Minute => 60,
            Second | Precision::Fraction => 1,
            Year | Month | Day => 86_400,
        };
        let day = NaiveDate::default() + Days::new((seconds / 86_400) as u64);
        let first = match precision {
            Year => NaiveDate::from_ymd_opt(day.year(), 1, 1),
            Month => day.with_day(1),
            _ => None,
        };
        let midnight = first.map(|first| (first - NaiveDate::default()).num_days() * 86_400);
        Date::Written(Lastmod { seconds: midnight.unwrap_or(seconds / length * length), precision })
    });
    let shifted = (-99_999..99_999_i32, unit).prop_map(|(by, unit)| Date::Shifted(by, unit));
    prop_oneof![written, Just(Date::Today), Just(Date::Now), shifted]
}

fn any_test() -> impl Strategy<Value = Test> {
    use prop::sample::select;
    let texts = || select(vec![Name::Loc, Name::Host, Name::Path, Name::Section, Name::File]);
    let contains = (texts(), any_value()).prop_map(|(name, value)| {
        let wild = if name == Name::Loc { value.contains('*') } else { value.contains(['*', '?']) };
        Test::Text(name, if wild { Match::Glob } else { Match::Contains }, value)
    });
    let absent = select(vec![Name::Loc, Name::Host, Name::Lastmod, Name::Changefreq, Name::Priority, Name::Severity]);
    let severity = select(vec![Severity::Error, Severity::Warning, Severity::Note]);
    prop_oneof![
        contains,
        (texts(), any_value()).prop_map(|(name, value)| Test::Text(name, Match::Is, value)),
        (texts(), "[a-z.() ]{0,4}").prop_map(|(name, value)| Test::Text(name, Match::Regex, regex::escape(&value))),
        (any_order(), any_date()).prop_map(|(order, date)| Test::Lastmod(order, date)),
        (any_order(), 0..=100_u8).prop_map(|(order, value)| Test::Priority(order, value)),
        (any_order(), any::<u32>()).prop_map(|(order, value)| Test::Depth(order, value)),
        select(Changefreq::ALL.to_vec()).prop_map(Test::Changefreq),
        select(Has::ALL.to_vec()).prop_map(|(has, _)| Test::Has(has)),
        select(State::ALL.to_vec()).prop_map(|(state, _)| Test::Is(state)),
        select(vec!["loc-empty", "loc-*", "*"]).prop_map(|code| Test::Rule(code.to_owned())),
        (any_order(), severity).prop_map(|(order, severity)| Test::Severity(order, severity)),
        absent.prop_map(Test::Absent),
    ]
}

fn any_expr() -> impl Strategy<Value = Expr> {
    any_test().prop_map(Expr::Test).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::all),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::any),
            inner.prop_map(Expr::not),
        ]
    })
}

proptest! {
    #[test]
    fn the_canonical_text_parses_to_the_same_query(expr in any_expr()) {
        let text = expr.to_string();
        let again = parse::parse(&text, &VOCABULARY);
        prop_assert_eq!(again, Ok(expr), "{}", text);
    }

    #[test]
    fn no_text_panics_the_parser(text in "[a-z0-9 ()\"*?:=!<>~ü\u{3000}-]{0,40}|\\PC{0,24}") {
        match parse(&text) {
            Ok(query) => prop_assert_eq!(parse(&query.to_string()), Ok(query)),
            Err(error) => prop_assert!(text.get(error.span.clone()).is_some() || error.span.start >= text.len(), "{:?}", error),
        }
        let _ = completions(&text, text.len() / 2, &VOCABULARY);
    }

    #[test]
    fn no_sequence_of_tokens_panics_the_parser(words in prop::collection::vec(prop::sample::select(vec![
        "lastmod", "priority", "has:", "is:", "rule:", "severity", ":", "=", "!=", "<", "<=", "~", "(", ")", "-", "not ", "or ", "and ",
        "\"", " ", "2025-03", "0.5", "none", "image", "error", "*", "[", "loc-*", "+7d",
    ]), 0..12)) {
        let text = words.concat();
        match parse(&text) {
            Ok(query) => prop_assert_eq!(parse(&query.to_string()), Ok(query)),
            Err(error) => prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error),
        }
    }
}
