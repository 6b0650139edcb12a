//! The syntax tree of a query, and its canonical text.
//!
//! Trees are normalised by construction ([`Expr::all`], [`Expr::any`], [`Expr::not`]): no `All` in an `All`, no double
//! negation. Therefore parsing the canonical text gives the same tree.

use super::date::Date;
use super::scan::{needs_quotes, quoted, quoted_if_needed};
use super::{Extension, RowFacts, State};
use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Field, Severity};
use std::cmp::Ordering;
use std::fmt;

/// The left side of `field op value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// The URL.
    Loc,
    /// Its host.
    Host,
    /// Its path.
    Path,
    /// The first segment of its path.
    Section,
    /// The number of segments of its path.
    Depth,
    /// The time of the last change of the page.
    Lastmod,
    /// The change frequency of the page.
    Changefreq,
    /// The priority of the page within the site.
    Priority,
    /// The sitemap file that the row is in.
    File,
    /// The fields and extensions of the entry.
    Has,
    /// The state of the row.
    Is,
    /// The rules that the row violates.
    Rule,
    /// The severity of its findings.
    Severity,
}

impl Name {
    /// All names in the order of the documentation, each with its word and a description.
    pub const ALL: [(Self, &'static str, &'static str); 13] = [
        (Self::Loc, "loc", "the URL"),
        (Self::Host, "host", "the host of the URL"),
        (Self::Path, "path", "the path of the URL, without the query"),
        (Self::Section, "section", "the first segment of the path"),
        (Self::Depth, "depth", "how many segments the path has"),
        (Self::Lastmod, "lastmod", "when the page was last changed (UTC)"),
        (Self::Changefreq, "changefreq", "how often the page changes"),
        (Self::Priority, "priority", "0.0 to 1.0"),
        (Self::File, "file", "the sitemap file the row is in"),
        (Self::Has, "has", "what the entry holds: a field, an extension"),
        (Self::Is, "is", "changed, added, deleted, marked, duplicate, repaired"),
        (Self::Rule, "rule", "breaks this rule"),
        (Self::Severity, "severity", "has a finding of this severity"),
    ];

    /// The word in a query.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(name, ..)| *name == self).map_or("", |(_, word, _)| word)
    }

    /// The name with this word, ignoring case.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(word)).map(|(name, ..)| *name)
    }
}

/// How a text is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// `:` without a wildcard: the text contains the value.
    Contains,
    /// `:` with `*` or `?`.
    Glob,
    /// `=`: the same text.
    Is,
    /// `~`: a regular expression matches somewhere.
    Regex,
}

/// How two quantities are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl Order {
    /// Whether a value that compares like this passes.
    pub(super) const fn allows(self, is: Ordering) -> bool {
        match self {
            Self::Less => is.is_lt(),
            Self::AtMost => is.is_le(),
            Self::Equal => is.is_eq(),
            Self::AtLeast => is.is_ge(),
            Self::More => is.is_gt(),
        }
    }

    /// The order with its sides swapped.
    pub(super) const fn reversed(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::Equal => Self::Equal,
            Self::AtLeast => Self::AtMost,
            Self::More => Self::Less,
        }
    }

    /// As written.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::AtLeast => ">=",
            Self::More => ">",
        }
    }
}

/// The right side of `has:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Has {
    /// A core field's element.
    Field(Field),
    /// One kind of extension.
    Extension(Extension),
    /// Any extension.
    AnyExtension,
}

impl Has {
    /// All right sides, each with its word.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Extension(Extension::Image), "image"),
        (Self::Extension(Extension::Video), "video"),
        (Self::Extension(Extension::News), "news"),
        (Self::Extension(Extension::Alternate), "alternate"),
        (Self::AnyExtension, "extension"),
        (Self::Field(Field::Loc), "loc"),
        (Self::Field(Field::Lastmod), "lastmod"),
        (Self::Field(Field::Changefreq), "changefreq"),
        (Self::Field(Field::Priority), "priority"),
    ];

    /// Whether a row has it.
    pub fn holds<R: RowFacts + ?Sized>(self, row: &R) -> bool {
        match self {
            Self::Field(field) => row.value(field).is_some(),
            Self::Extension(kind) => row.has_extension(kind),
            Self::AnyExtension => Extension::ALL.into_iter().any(|kind| row.has_extension(kind)),
        }
    }
}

impl State {
    /// All states, each with its word.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Changed, "changed"),
        (Self::Added, "added"),
        (Self::Deleted, "deleted"),
        (Self::Marked, "marked"),
        (Self::Duplicate, "duplicate"),
        (Self::Repaired, "repaired"),
    ];
}

/// One `field op value`, or one word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// Compares texts; for a typed field, its text as written in the file.
    Text(Name, Match, String),
    /// Compares the instant of lastmod with a period.
    Lastmod(Order, Date),
    /// Hundredths.
    Priority(Order, u8),
    /// Path segments.
    Depth(Order, u32),
    /// One of the seven words.
    Changefreq(Changefreq),
    /// `has:`
    Has(Has),
    /// `is:`
    Is(State),
    /// A rule code, or a pattern over the codes.
    Rule(String),
    /// `severity:`
    Severity(Order, Severity),
    /// `= none`
    Absent(Name),
    /// A data column.
    Data(DataTest),
}

/// A query as a tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// All of these; an empty list is true for every row.
    All(Vec<Expr>),
    /// At least one of these (two or more).
    Any(Vec<Expr>),
    /// Not this.
    Not(Box<Expr>),
    /// One test.
    Test(Test),
}

impl Expr {
    /// Whether a predicate is true for any of its tests.
    pub(super) fn has(&self, predicate: &impl Fn(&Test) -> bool) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.has(predicate)),
            Self::Not(part) => part.has(predicate),
            Self::Test(test) => predicate(test),
        }
    }

    /// The conjunction, flattened.
    pub(super) fn all(parts: Vec<Self>) -> Self {
        let flat = parts.into_iter().flat_map(|part| match part {
            Self::All(inner) => inner,
            other => vec![other],
        });
        single_or(flat.collect(), Self::All)
    }

    /// The disjunction, flattened.
    pub(super) fn any(parts: Vec<Self>) -> Self {
        let flat = parts.into_iter().flat_map(|part| match part {
            Self::Any(inner) => inner,
            other => vec![other],
        });
        single_or(flat.collect(), Self::Any)
    }

    /// The negation; two cancel out.
    pub(super) fn not(self) -> Self {
        match self {
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }
}

fn single_or(mut parts: Vec<Expr>, many: fn(Vec<Expr>) -> Expr) -> Expr {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            many(parts)
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let space = if index == 0 { "" } else { " " };
                    match part {
                        Self::Any(_) => write!(f, "{space}({part})")?,
                        _ => write!(f, "{space}{part}")?,
                    }
                }
                Ok(())
            }
            Self::Any(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if index == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
            Self::Not(inner) => match inner.as_ref() {
                Self::Test(test) => test.write(f, true),
                group => write!(f, "not ({group})"),
            },
            Self::Test(test) => test.write(f, false),
        }
    }
}

impl Test {
    /// Writes the test or its negation, with `!=` if the test has that form.
    fn write(&self, f: &mut fmt::Formatter<'_>, negated: bool) -> fmt::Result {
        let (name, sign, value) = match self {
            Self::Text(Name::Loc, Match::Contains | Match::Glob, value) => {
                return write!(f, "{}{}", if negated { "not " } else { "" }, loc_word_text(value));
            }
            Self::Text(name, Match::Contains | Match::Glob, value) => (*name, ":", quoted_if_needed(value)),
            Self::Text(name, Match::Regex, value) => (*name, "~", quoted_if_needed(value)),
            Self::Text(name, Match::Is, value) if value == NONE => (*name, "=", quoted(value)),
            Self::Text(name, Match::Is, value) => (*name, "=", quoted_if_needed(value)),
            Self::Lastmod(order, date) => (Name::Lastmod, order.sign(), date.to_string()),
            Self::Priority(order, hundredths) => (Name::Priority, order.sign(), decimal(*hundredths)),
            Self::Depth(order, depth) => (Name::Depth, order.sign(), depth.to_string()),
            Self::Changefreq(frequency) => (Name::Changefreq, "=", frequency.name().to_owned()),
            Self::Has(has) => (Name::Has, ":", word_in(&Has::ALL, *has).to_owned()),
            Self::Is(state) => (Name::Is, ":", word_in(&State::ALL, *state).to_owned()),
            Self::Rule(pattern) => (Name::Rule, ":", quoted_if_needed(pattern)),
            Self::Severity(Order::Equal, severity) => (Name::Severity, ":", severity.name().to_owned()),
            Self::Severity(order, severity) => (Name::Severity, order.sign(), severity.name().to_owned()),
            Self::Absent(name) => (*name, "=", NONE.to_owned()),
            Self::Data(test) => {
                let (sign, value) = test.parts();
                return write_comparison(f, negated, &format!("@{}", test.column), sign, &value);
            }
        };
        write_comparison(f, negated, name.word(), sign, &value)
    }
}

fn write_comparison(f: &mut fmt::Formatter<'_>, negated: bool, name: &str, sign: &str, value: &str) -> fmt::Result {
    match (negated, sign) {
        (true, "=") => write!(f, "{name}!={value}"),
        (true, _) => write!(f, "not {name}{sign}{value}"),
        (false, _) => write!(f, "{name}{sign}{value}"),
    }
}

/// The word for an absent value.
pub(super) const NONE: &str = "none";

/// The words that join tests.
pub(super) const CONNECTIVES: [&str; 3] = ["and", "or", "not"];

/// The characters that can begin an operator.
pub(super) const OPERATOR_STARTS: [char; 6] = [':', '=', '!', '<', '>', '~'];

/// Whether a character can be part of a field name.
pub(super) fn is_name_character(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '-')
}

/// The text of a word that is searched for in loc, quoted if it could be parsed as something else.
fn loc_word_text(word: &str) -> String {
    let name_end = word.find(|c| !is_name_character(c)).unwrap_or(word.len());
    let (name, rest) = word.split_at(name_end);
    let special = word.starts_with(['-', '@'])
        || rest.starts_with(OPERATOR_STARTS) && !name.is_empty() && !is_scheme(name, rest)
        || rest.is_empty()
            && (Name::from_word(name).is_some() || CONNECTIVES.iter().any(|c| c.eq_ignore_ascii_case(name)));
    if special || needs_quotes(word) { quoted(word) } else { word.to_owned() }
}

/// Whether a word is a URL, so that its first `:` is not an operator.
pub(super) fn is_scheme(name: &str, rest: &str) -> bool {
    rest.starts_with("://") && Name::from_word(name).is_none()
}

fn word_in<T: PartialEq + Copy>(table: &[(T, &'static str)], wanted: T) -> &'static str {
    table.iter().find(|(value, _)| *value == wanted).map_or("", |(_, word)| word)
}

/// `0.5`, `0.55`, `1.0`.
fn decimal(hundredths: u8) -> String {
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    if rest % 10 == 0 { format!("{whole}.{}", rest / 10) } else { format!("{whole}.{rest:02}") }
}

/// A comparison of a data column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DataTest {
    /// Its name, without `@`.
    pub column: String,
    /// The comparison of its value.
    pub comparison: Comparison,
}

/// How a value of a data column is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Comparison {
    /// `= none`
    Absent,
    /// Less than, equal to or more than this.
    Ordered(Order, Operand),
    /// The text contains or matches this.
    Text(Match, String),
}

/// The right side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    /// A number, a date or a text as typed.
    Value(String),
    /// `loc`, `lastmod` or `priority` of the same row.
    Field(Name),
    /// Another data column.
    Column(String),
}

impl Operand {
    /// Parses the right side of a comparison.
    pub(super) fn parse(text: &str, is_quoted: bool) -> Self {
        match (text.strip_prefix('@'), Name::from_word(text)) {
            _ if is_quoted => Self::Value(text.to_owned()),
            (Some(column), _) if !column.is_empty() => Self::Column(column.to_lowercase()),
            (_, Some(name @ (Name::Loc | Name::Lastmod | Name::Priority))) => Self::Field(name),
            _ => Self::Value(text.to_owned()),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => f.write_str(name.word()),
            Self::Column(name) => write!(f, "@{name}"),
            // Quoted if it would be parsed as something else.
            Self::Value(text) if Self::parse(text, false) != *self || text == NONE => f.write_str(&quoted(text)),
            Self::Value(text) => f.write_str(&quoted_if_needed(text)),
        }
    }
}

impl DataTest {
    /// The sign between column and value, and the value.
    pub(super) fn parts(&self) -> (&'static str, String) {
        match &self.comparison {
            Comparison::Absent => ("=", NONE.to_owned()),
            Comparison::Ordered(order, operand) => (order.sign(), operand.to_string()),
            Comparison::Text(Match::Regex, text) => ("~", quoted_if_needed(text)),
            Comparison::Text(Match::Is, text) => ("=", quoted_if_needed(text)),
            Comparison::Text(Match::Contains | Match::Glob, text) => (":", quoted_if_needed(text)),
        }
    }
}
