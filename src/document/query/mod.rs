//! The query language of filters, marks, `where` and the headless commands.
//!
//! Parsing gives a [`Query`] or an error with its position; a query is immutable and evaluation cannot fail. Rows are
//! accessed only through `RowFacts`, the clock and the rules only through [`Vocabulary`].
//!
//! # The language
//!
//! ```text
//! query   = { part } joined by `and` (or nothing) and `or`; `and` binds tighter
//! part    = [ `not` | `-` ] ( test | `(` query `)` )
//! test    = word | name operator value
//! operator= `:` `=` `!=` `<` `<=` `>` `>=` `~`
//! ```
//!
//! A word is searched for in loc. Values with spaces, quotes or parentheses are in double quotes, a
//! double quote inside is written twice. All texts are decoded (`&amp;` is `&`) and trimmed.
//!
//! - Texts (loc, host, path, section, file): `:` contains, or matches a pattern if it has `*` or `?`
//!   (`*` and `?` match within a path segment, `**` across segments; a pattern matches the whole text, except in
//!   loc, where it may match anywhere and only `*` makes a pattern); `=` is exact; `~` is a regular expression.
//!   Words and `:` ignore case unless they have an upper-case letter; host always ignores case.
//! - lastmod compares instants in UTC against a period: `lastmod=2025-03` is within March,
//!   `lastmod<=2025` includes all of 2025; also `today`, `now`, `-30d`, `+2w`, `-6m`, `-1y`.
//! - priority and depth compare as numbers; changefreq has no order. For lastmod, changefreq and
//!   priority `~` and patterns are matched against the text as written.
//! - `none` is the absent value. An absent or unreadable value is never less or more than anything;
//!   `!=` is the negation of `=`, so it is true for such a value.
//! - `@name` is a data column: numbers and dates are compared as such, or with a field (`@modified>lastmod`,
//!   `@canonical!=loc`) or another column; `:` and `~` are matched against its text.
//! - `severity:warning` matches rows with a warning; `<`, `<=`, `>=`, `>` compare the row's worst finding.

mod complete;
mod data;
mod date;
mod eval;
mod expr;
mod folded;
mod needle;
mod parse;
pub(crate) mod scan;
pub(crate) mod suggest;
mod text;

pub use super::row_facts::{Fact, State};
pub use complete::completions;
pub use expr::{Has, Name};

pub(crate) use super::row_facts::{Extension, RowFacts};
pub(crate) use complete::{Candidate, Completions};
pub(crate) use data::{compare_with_lastmod, data_column};
pub(super) use needle::Needle;
pub(crate) use text::{UrlPattern, regex_message, rule_indexes};

use crate::data::DataSet;
use crate::protocol::lastmod::Now;
use eval::{Node, Row};
use expr::Expr;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A filter over rows. Two queries are equal when their canonical texts are.
#[derive(Clone)]
pub struct Query {
    expr: Arc<Expr>,
    node: Arc<Node>,
}

/// Context of a query: the known rules and the time.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary<'a> {
    /// Rule codes; a rule's position here is its index in `RowFacts::has_rule`.
    pub rules: &'a [&'a str],
    /// The current time.
    pub now: Now,
    /// The loaded data columns.
    pub data: Option<&'a Arc<DataSet>>,
}

/// A syntax error in a query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The span in the text, in bytes; empty at the end of the text.
    pub span: Range<usize>,
    /// What was expected, in one line without a full stop.
    pub message: String,
}

impl QueryError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

impl Query {
    /// Parses a query. Every row matches the empty query.
    pub fn parse(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Self, QueryError> {
        let expr = parse::parse(text, vocabulary)?;
        let node = eval::compile(&expr, vocabulary);
        Ok(Self { expr: Arc::new(expr), node: Arc::new(node) })
    }

    /// Whether a text has no condition in it: whitespace, or quotes with nothing between them.
    pub fn is_blank(text: &str) -> bool {
        text.trim_matches(|letter: char| letter.is_whitespace() || letter == '"').is_empty()
    }

    /// Whether a row passes.
    pub fn matches<R: RowFacts + ?Sized>(&self, row: &R) -> bool {
        self.node.holds(&Row::new(row))
    }

    /// A text that the URL of every matching row contains, if one is known; and its length, if conversely every row
    /// whose URL contains it matches.
    pub(super) fn needle(&self) -> Option<(Needle, Option<usize>)> {
        let needle = Needle::of(&self.node)?;
        let decides = needle.decides(&self.node);
        Some((needle, decides))
    }

    /// Whether a match depends on other rows: duplicates, rules of the set.
    pub fn compares_rows(&self) -> bool {
        self.expr.has(&|test| {
            matches!(test, expr::Test::Is(State::Duplicate) | expr::Test::Rule(_) | expr::Test::Severity(..))
        })
    }

    /// Names of the data columns that it tests, without `@`.
    pub fn data_columns(&self) -> Vec<String> {
        let names = RefCell::new(Vec::new());
        self.expr.has(&|test| {
            if let expr::Test::Data(test) = test {
                names.borrow_mut().push(test.column.clone());
            }
            false
        });
        names.into_inner()
    }

    /// Whether it is constantly true.
    pub fn matches_all(&self) -> bool {
        matches!(*self.node, Node::Known(true))
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Query({self})")
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.expr == other.expr
    }
}

#[cfg(test)]
mod tests;
