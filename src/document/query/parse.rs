//! Parses a query into [`Expr`]; errors have a position and the expected syntax.
//!
//! A recursive descent over the grammar in the module documentation. Recursion is bounded by
//! [`MAX_DEPTH`], so no text can exhaust the stack.

use super::data::DataNode;
use super::date::Date;
use super::expr::{
    CONNECTIVES, Comparison, DataTest, Expr, Has, Match, NONE, Name, OPERATOR_STARTS, Operand, Order, Test,
    is_name_character, is_scheme,
};
use super::scan::{Scanner, Unclosed};
use super::suggest::{listed, nearest};
use super::text::{has_wildcard, rule_indexes};
use super::{QueryError, State, Vocabulary};
use crate::protocol::changefreq::Changefreq;
use crate::protocol::{Severity, priority};
use std::ops::Range;

/// Maximum nesting of parentheses and negations.
const MAX_DEPTH: usize = 64;

/// Parses a whole query; every row matches the empty text.
pub(super) fn parse(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Expr, QueryError> {
    let mut parser = Parser { scanner: Scanner::new(text), vocabulary, depth: 0 };
    parser.scanner.skip_spaces();
    if parser.scanner.is_done() {
        return Ok(Expr::All(Vec::new()));
    }
    let expr = parser.alternatives()?;
    if parser.scanner.is_done() {
        return Ok(expr);
    }
    let at = parser.scanner.at();
    Err(QueryError::new(at..at + 1, "unmatched `)`; put a value that contains one in double quotes"))
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    vocabulary: &'t Vocabulary<'t>,
    depth: usize,
}

/// The right side of a test as written.
struct Value {
    text: String,
    quoted: bool,
    span: Range<usize>,
}

impl Value {
    fn is_none(&self) -> bool {
        !self.quoted && self.text == NONE
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Has,
    Unequal,
    Matches,
    Ordered(Order),
}

/// The operators, longer ones before their prefixes.
const OPERATORS: [(&str, Operator); 8] = [
    ("!=", Operator::Unequal),
    ("<=", Operator::Ordered(Order::AtMost)),
    (">=", Operator::Ordered(Order::AtLeast)),
    (":", Operator::Has),
    ("=", Operator::Ordered(Order::Equal)),
    ("<", Operator::Ordered(Order::Less)),
    (">", Operator::Ordered(Order::More)),
    ("~", Operator::Matches),
];

impl Parser<'_> {
    fn alternatives(&mut self) -> Result<Expr, QueryError> {
        let mut parts = vec![self.conjunction()?];
        while self.consume_connective("or") {
            parts.push(self.conjunction()?);
        }
        Ok(Expr::any(parts))
    }

    fn conjunction(&mut self) -> Result<Expr, QueryError> {
        let mut parts = vec![self.factor()?];
        loop {
            self.scanner.skip_spaces();
            let explicit = self.consume_connective("and");
            let ends = self.scanner.is_done() || self.scanner.peek() == Some(')') || self.is_connective_next("or");
            if ends && !explicit {
                return Ok(Expr::all(parts));
            }
            parts.push(self.factor()?);
        }
    }

    fn factor(&mut self) -> Result<Expr, QueryError> {
        self.scanner.skip_spaces();
        let at = self.scanner.at();
        if self.depth >= MAX_DEPTH {
            return Err(QueryError::new(at..at + 1, format!("more than {MAX_DEPTH} levels of parentheses and `not`")));
        }
        if self.consume_connective("not") || self.scanner.consume("-") {
            self.depth += 1;
            let inner = self.factor()?;
            self.depth -= 1;
            return Ok(inner.not());
        }
        if self.scanner.consume("(") {
            self.depth += 1;
            let inner = self.alternatives()?;
            self.depth -= 1;
            self.scanner.skip_spaces();
            if self.scanner.consume(")") {
                return Ok(inner);
            }
            return Err(QueryError::new(at..at + 1, "unclosed `(`"));
        }
        self.test()
    }

    fn test(&mut self) -> Result<Expr, QueryError> {
        let at = self.scanner.at();
        match self.scanner.peek() {
            None => return Err(QueryError::new(at..at, "expected a word, a test such as priority<0.5, or `(`")),
            Some(')') => {
                return Err(QueryError::new(at..at + 1, "expected a word or a test before `)`"));
            }
            Some('"') => return Ok(in_loc(self.quoted()?.text)),
            Some(_) => {}
        }
        for connective in ["and", "or"] {
            if self.is_connective_next(connective) {
                let message = format!(
                    "expected a word or a test before `{connective}`; to look for the word itself write \"{connective}\""
                );
                return Err(QueryError::new(at..at + connective.len(), message));
            }
        }
        if let Some(test) = self.data_test()? {
            return Ok(test);
        }
        let mut ahead = self.scanner.clone();
        let word = ahead.take_while(is_name_character);
        if let Some(name) = Name::from_word(word) {
            let after_word = ahead.at();
            ahead.skip_spaces();
            let spaced = ahead.at() > after_word;
            if let Some(operator) = take_operator(&mut ahead, spaced) {
                let sign = after_word..ahead.at();
                self.scanner = ahead;
                return self.comparison(name, operator, sign);
            }
        } else if !word.is_empty() && ahead.rest().starts_with(OPERATOR_STARTS) && !is_scheme(word, ahead.rest()) {
            return Err(unknown_name(word, at..ahead.at()));
        }
        Ok(in_loc(self.scanner.take_balanced().to_owned()))
    }

    /// A test of a data column, if one comes next: `@`, a name and an operator. Other words with `@` are searched for
    /// in loc.
    fn data_test(&mut self) -> Result<Option<Expr>, QueryError> {
        let at = self.scanner.at();
        let mut ahead = self.scanner.clone();
        if !ahead.consume("@") {
            return Ok(None);
        }
        let column = ahead.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-').to_lowercase();
        let after_word = ahead.at();
        ahead.skip_spaces();
        let spaced = ahead.at() > after_word;
        let Some(operator) = take_operator(&mut ahead, spaced).filter(|_| !column.is_empty()) else { return Ok(None) };
        let sign = after_word..ahead.at();
        self.scanner = ahead;
        let value = self.value(&sign, "a value")?;
        let is_unequal = operator == Operator::Unequal;
        let comparison = match operator {
            Operator::Unequal | Operator::Ordered(Order::Equal) if value.is_none() => Comparison::Absent,
            Operator::Unequal => Comparison::Ordered(Order::Equal, Operand::parse(&value.text, value.quoted)),
            Operator::Ordered(order) => Comparison::Ordered(order, Operand::parse(&value.text, value.quoted)),
            Operator::Has if has_wildcard(&value.text) => Comparison::Text(Match::Glob, value.text),
            Operator::Has => Comparison::Text(Match::Contains, value.text),
            Operator::Matches => Comparison::Text(Match::Regex, value.text),
        };
        let test = self.checked(DataTest { column, comparison }, at..value.span.end)?;
        Ok(Some(if is_unequal { test.not() } else { test }))
    }

    /// The test, if its column exists and its value is of the column's kind.
    fn checked(&self, test: DataTest, span: Range<usize>) -> Result<Expr, QueryError> {
        match DataNode::new(&test, self.vocabulary) {
            Ok(_) => Ok(Expr::Test(Test::Data(test))),
            Err(message) => Err(QueryError::new(span, message)),
        }
    }

    /// The value after an operator.
    fn value(&mut self, sign: &Range<usize>, expected: &str) -> Result<Value, QueryError> {
        self.scanner.skip_spaces();
        let at = self.scanner.at();
        if self.scanner.peek() == Some('"') {
            return self.quoted();
        }
        let text = self.scanner.take_balanced().to_owned();
        if text.is_empty() {
            return Err(QueryError::new(sign.start..at, format!("expected {expected} after this")));
        }
        Ok(Value { span: at..self.scanner.at(), quoted: false, text })
    }

    /// Parses the value after an operator, and builds the test.
    fn comparison(&mut self, name: Name, operator: Operator, sign: Range<usize>) -> Result<Expr, QueryError> {
        let value = self.value(&sign, expectation(name))?;
        // A field compared with a data column becomes that column compared with the field.
        if let (false, Some(column), Name::Loc | Name::Lastmod | Name::Priority) =
            (value.quoted, value.text.strip_prefix('@'), name)
            && let Operator::Unequal | Operator::Ordered(_) = operator
            && self.vocabulary.data.is_some()
        {
            let order = if let Operator::Ordered(order) = operator { order.reversed() } else { Order::Equal };
            let comparison = Comparison::Ordered(order, Operand::Field(name));
            let test = self.checked(DataTest { column: column.to_lowercase(), comparison }, value.span)?;
            return Ok(if operator == Operator::Unequal { test.not() } else { test });
        }
        if operator == Operator::Unequal {
            return Ok(self.build(name, Operator::Ordered(Order::Equal), sign, value)?.not());
        }
        self.build(name, operator, sign, value)
    }

    fn build(&self, name: Name, operator: Operator, sign: Range<usize>, value: Value) -> Result<Expr, QueryError> {
        let equals = operator == Operator::Ordered(Order::Equal);
        let is_text = matches!(name, Name::Loc | Name::Host | Name::Path | Name::Section | Name::File);
        if value.is_none() && (equals || operator == Operator::Has && !is_text) {
            return match name {
                Name::Depth | Name::File | Name::Has | Name::Is => Err(QueryError::new(
                    value.span,
                    format!("`{}` is never absent; expected {}", name.word(), expectation(name)),
                )),
                // A row that violates no rule has no finding.
                Name::Rule => Ok(Expr::Test(Test::Absent(Name::Severity))),
                other => Ok(Expr::Test(Test::Absent(other))),
            };
        }
        let wants_text = match operator {
            Operator::Matches => !matches!(name, Name::Depth | Name::Has | Name::Is | Name::Rule | Name::Severity),
            Operator::Has => is_text || is_written(name) && has_wildcard(&value.text),
            _ => is_text,
        };
        if wants_text {
            return text_test(name, operator, sign, value);
        }
        let order = match operator {
            Operator::Ordered(order) => order,
            Operator::Has => Order::Equal,
            Operator::Unequal | Operator::Matches => {
                let message = format!("`{}` takes no regular expression; {}", name.word(), usage(name));
                return Err(QueryError::new(sign, message));
            }
        };
        if order != Order::Equal && matches!(name, Name::Changefreq | Name::Has | Name::Is | Name::Rule) {
            return Err(QueryError::new(sign, format!("`{}` has no order; {}", name.word(), usage(name))));
        }
        self.typed_test(name, order, &value).map(Expr::Test).ok_or_else(|| self.bad_value(name, &value))
    }

    /// `None` when the value is not of the field's kind.
    fn typed_test(&self, name: Name, order: Order, value: &Value) -> Option<Test> {
        let text = value.text.as_str();
        Some(match name {
            Name::Lastmod => Test::Lastmod(order, Date::parse(text)?),
            Name::Priority => Test::Priority(order, hundredths(text)?),
            Name::Depth => Test::Depth(order, text.parse().ok()?),
            Name::Changefreq => Test::Changefreq(Changefreq::parse(text)?),
            Name::Has => Test::Has(find(&Has::ALL, text)?),
            Name::Is => Test::Is(find(&State::ALL, text)?),
            Name::Severity => Test::Severity(order, Severity::from_name(text)?),
            Name::Rule if rule_indexes(text, self.vocabulary.rules).is_empty() => return None,
            Name::Rule => Test::Rule(text.to_owned()),
            Name::Loc | Name::Host | Name::Path | Name::Section | Name::File => return None,
        })
    }

    fn bad_value(&self, name: Name, value: &Value) -> QueryError {
        let words = match name {
            Name::Rule => self.vocabulary.rules.to_vec(),
            other => values_of(other),
        };
        let expected = match name {
            Name::Has | Name::Is | Name::Severity | Name::Changefreq => listed(words.iter().copied()),
            other => expectation(other).to_owned(),
        };
        let guess = match nearest(&value.text, words) {
            Some(word) => format!("; did you mean {word}?"),
            None if name == Name::Changefreq => "; to search the text as written use changefreq~".to_owned(),
            None => String::new(),
        };
        QueryError::new(value.span.clone(), format!("expected {expected} for `{}`{guess}", name.word()))
    }

    fn quoted(&mut self) -> Result<Value, QueryError> {
        let at = self.scanner.at();
        let text = self.scanner.take_quoted().map_err(unclosed)?;
        let end = self.scanner.at();
        match self.scanner.peek() {
            Some(c) if !c.is_whitespace() && c != ')' => Err(QueryError::new(
                end..end + c.len_utf8(),
                "expected a space after the closing quote; a quote inside is written twice",
            )),
            _ => Ok(Value { text, quoted: true, span: at..end }),
        }
    }

    fn is_connective_next(&self, word: &str) -> bool {
        self.scanner.clone().consume_connective(word)
    }

    fn consume_connective(&mut self, word: &str) -> bool {
        self.scanner.skip_spaces();
        self.scanner.consume_connective(word)
    }
}

impl Scanner<'_> {
    /// Consumes `and`, `or` or `not`, in lower or upper case, if it is a whole word.
    fn consume_connective(&mut self, word: &str) -> bool {
        debug_assert!(CONNECTIVES.contains(&word));
        let mut ahead = self.clone();
        let found = (ahead.consume(word) || ahead.consume(&word.to_ascii_uppercase()))
            && ahead.peek().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ')'));
        if found {
            *self = ahead;
        }
        found
    }
}

/// Consumes the next operator. After a space `:` is not one, because it can begin a word.
fn take_operator(scanner: &mut Scanner<'_>, spaced: bool) -> Option<Operator> {
    OPERATORS
        .into_iter()
        .filter(|(sign, _)| !(spaced && *sign == ":"))
        .find(|(sign, _)| scanner.consume(sign))
        .map(|(_, operator)| operator)
}

fn text_test(name: Name, operator: Operator, sign: Range<usize>, value: Value) -> Result<Expr, QueryError> {
    let how = match operator {
        Operator::Has if has_wildcard_for(name, &value.text) => Match::Glob,
        Operator::Has => Match::Contains,
        Operator::Matches => Match::Regex,
        Operator::Ordered(Order::Equal) => Match::Is,
        Operator::Ordered(_) | Operator::Unequal => {
            return Err(QueryError::new(sign, format!("`{}` has no order; {}", name.word(), usage(name))));
        }
    };
    let test = Test::Text(name, how, value.text);
    match super::text::check(&test) {
        Ok(()) => Ok(Expr::Test(test)),
        Err(message) => Err(QueryError::new(value.span, message)),
    }
}

fn in_loc(word: String) -> Expr {
    let how = if has_wildcard_for(Name::Loc, &word) { Match::Glob } else { Match::Contains };
    Expr::Test(Test::Text(Name::Loc, how, word))
}

/// Whether a text is a pattern. In a URL `?` is an ordinary character, so only `*` counts.
fn has_wildcard_for(name: Name, text: &str) -> bool {
    if name == Name::Loc { text.contains('*') } else { has_wildcard(text) }
}

/// Whether the text of a field as written can be tested as well as its value.
fn is_written(name: Name) -> bool {
    matches!(name, Name::Lastmod | Name::Changefreq | Name::Priority)
}

/// Parses a priority in range with at most two decimals.
fn hundredths(text: &str) -> Option<u8> {
    let validation = priority::validate(text);
    let clear = !validation.faults.contains(priority::Faults::PRECISION)
        && !validation.faults.contains(priority::Faults::COMMA);
    validation.hundredths.filter(|_| clear)
}

fn find<T: Copy>(table: &[(T, &'static str)], word: &str) -> Option<T> {
    table.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
}

/// The words that complete a value of the field; empty if it has none.
pub(super) fn values_of(name: Name) -> Vec<&'static str> {
    match name {
        Name::Has => Has::ALL.iter().map(|(_, word)| *word).collect(),
        Name::Is => State::ALL.iter().map(|(_, word)| *word).collect(),
        Name::Severity => vec!["error", "warning", "note", NONE],
        Name::Changefreq => Changefreq::ALL.iter().map(|frequency| frequency.name()).chain([NONE]).collect(),
        Name::Lastmod => vec!["today", "now", "-7d", "-30d", "-1y", NONE],
        Name::Priority => vec!["0.0", "0.5", "1.0", NONE],
        _ => Vec::new(),
    }
}

/// The syntax of a value of the field, for messages.
fn expectation(name: Name) -> &'static str {
    match name {
        Name::Loc | Name::Host | Name::Path | Name::Section | Name::File => "a text",
        Name::Depth => "a whole number",
        Name::Lastmod => "a date such as 2025, 2025-03, 2025-03-09, 2025-03-09T10:20Z, today, -30d or none",
        Name::Changefreq => "always, hourly, daily, weekly, monthly, yearly, never or none",
        Name::Priority => "a number from 0.0 to 1.0 with at most two decimals, or none",
        Name::Has => "image, video, news, alternate, extension, lastmod, changefreq or priority",
        Name::Is => "changed, added, deleted, marked or duplicate",
        Name::Rule => "the code of a rule, or a pattern such as loc-*",
        Name::Severity => "error, warning, note or none",
    }
}

/// The operators of a field, for messages.
fn usage(name: Name) -> &'static str {
    match name {
        Name::Loc | Name::Host | Name::Path | Name::Section | Name::File => {
            "use `:` (contains, or a pattern with *), `=`, `!=` or `~` (regular expression)"
        }
        Name::Depth | Name::Severity => "use `:`, `=`, `!=`, `<`, `<=`, `>` or `>=`",
        Name::Lastmod | Name::Priority => "use `=`, `!=`, `<`, `<=`, `>`, `>=` or `~` (the text as written)",
        Name::Changefreq => "use `=`, `!=` or `~`, and `or` for several: (changefreq=daily or changefreq=hourly)",
        Name::Has | Name::Is | Name::Rule => "use `:`",
    }
}

fn unknown_name(word: &str, span: Range<usize>) -> QueryError {
    let names = || Name::ALL.iter().map(|(_, word, _)| *word);
    let hint = match nearest(word, names()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("expected {}.", listed(names())),
    };
    let message = format!("unknown field `{word}`; {hint} To look for the text itself, put it in double quotes");
    QueryError::new(span, message)
}

fn unclosed(Unclosed(span): Unclosed) -> QueryError {
    QueryError::new(span.start..span.start + 1, "unclosed quote")
}
