//! Compiles a query for evaluation: dates resolved, matchers built, cheap tests first.
//!
//! Evaluation does not allocate, except to decode an escaped loc, at most once per row.

use super::data::DataNode;
use super::expr::{Expr, Has, Name, Order, Test};
use super::text::{Matcher, rule_indexes};
use super::{Extension, Fact, RowFacts, State, Vocabulary};
use crate::protocol::changefreq::Changefreq;
use crate::protocol::location::{depth, host, path, section};
use crate::protocol::{Field, Severity};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::RangeInclusive;

/// A node of the evaluation tree.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// The same for every row.
    Known(bool),
    /// Opposite of the child.
    Not(Box<Node>),
    /// Every child, cheapest first.
    All(Box<[Node]>),
    /// Any child, cheapest first.
    Any(Box<[Node]>),
    /// Present and inside the period, in seconds.
    Lastmod(RangeInclusive<i64>),
    /// Present and inside the range, in hundredths.
    Priority(RangeInclusive<u8>),
    /// This frequency.
    Changefreq(Changefreq),
    /// The element is present.
    Present(Field),
    /// An extension of this kind, or of any.
    Extension(Option<Extension>),
    /// The row has this state.
    Is(State),
    /// Violates one of these rules.
    Rules(Box<[u16]>),
    /// Has a finding of this severity.
    Severity(Severity),
    /// The worst finding is one of these.
    Worst(RangeInclusive<Severity>),
    /// The number of path segments is in the range.
    Depth(RangeInclusive<u32>),
    /// The text is empty.
    Empty(Name),
    /// The text matches.
    Text(Name, Matcher),
    /// The test of a data column passes.
    Data(Box<DataNode>),
}

/// Compiles an expression that was validated when parsed. A matcher that still cannot be built matches no row.
pub(super) fn compile(expr: &Expr, vocabulary: &Vocabulary<'_>) -> Node {
    match expr {
        Expr::All(parts) => fold(parts, vocabulary, false),
        Expr::Any(parts) => fold(parts, vocabulary, true),
        Expr::Not(inner) => match compile(inner, vocabulary) {
            Node::Known(known) => Node::Known(!known),
            other => Node::Not(Box::new(other)),
        },
        Expr::Test(test) => compile_test(test, vocabulary),
    }
}

/// A conjunction (`decisive` = false) or disjunction (`decisive` = true): a child
/// that is always decisive decides, and children that are never decisive are dropped.
fn fold(parts: &[Expr], vocabulary: &Vocabulary<'_>, decisive: bool) -> Node {
    let mut nodes = Vec::with_capacity(parts.len());
    for part in parts {
        match compile(part, vocabulary) {
            Node::Known(known) if known == decisive => return Node::Known(decisive),
            Node::Known(_) => {}
            node => nodes.push(node),
        }
    }
    nodes.sort_by_key(Node::cost);
    match (nodes.len(), decisive) {
        (0, _) => Node::Known(!decisive),
        (1, _) => nodes.pop().unwrap_or(Node::Known(!decisive)),
        (_, true) => Node::Any(nodes.into()),
        (_, false) => Node::All(nodes.into()),
    }
}

fn compile_test(test: &Test, vocabulary: &Vocabulary<'_>) -> Node {
    match test {
        Test::Text(name, how, value) => {
            Matcher::new(*name, *how, value).map_or(Node::Known(false), |matcher| Node::Text(*name, matcher))
        }
        Test::Lastmod(order, date) => {
            let period = date.period(vocabulary.now);
            let last = period.end.saturating_sub(1);
            match order {
                Order::Less => below(i64::MIN, period.start.checked_sub(1), Node::Lastmod),
                Order::AtMost => Node::Lastmod(i64::MIN..=last),
                Order::Equal => Node::Lastmod(period.start..=last),
                Order::AtLeast => Node::Lastmod(period.start..=i64::MAX),
                Order::More => Node::Lastmod(period.end..=i64::MAX),
            }
        }
        Test::Priority(order, value) => match order {
            Order::Less => below(0, value.checked_sub(1), Node::Priority),
            Order::AtMost => Node::Priority(0..=*value),
            Order::Equal => Node::Priority(*value..=*value),
            Order::AtLeast => Node::Priority(*value..=u8::MAX),
            Order::More => Node::Priority(value.saturating_add(1)..=u8::MAX),
        },
        Test::Depth(order, value) => match order {
            Order::Less => below(0, value.checked_sub(1), Node::Depth),
            Order::AtMost => Node::Depth(0..=*value),
            Order::Equal => Node::Depth(*value..=*value),
            Order::AtLeast => Node::Depth(*value..=u32::MAX),
            Order::More => value.checked_add(1).map_or(Node::Known(false), |more| Node::Depth(more..=u32::MAX)),
        },
        Test::Changefreq(frequency) => Node::Changefreq(*frequency),
        Test::Has(Has::Field(field)) => Node::Present(*field),
        Test::Has(Has::Extension(extension)) => Node::Extension(Some(*extension)),
        Test::Has(Has::AnyExtension) => Node::Extension(None),
        Test::Is(state) => Node::Is(*state),
        Test::Rule(pattern) => {
            let indexes = rule_indexes(pattern, vocabulary.rules);
            if indexes.is_empty() { Node::Known(false) } else { Node::Rules(indexes.into()) }
        }
        Test::Severity(order, severity) => match (order, severity) {
            (Order::Equal, severity) => Node::Severity(*severity),
            (Order::Less, Severity::Note) | (Order::More, Severity::Error) => Node::Known(false),
            (Order::Less, Severity::Warning) => Node::Worst(Severity::Note..=Severity::Note),
            (Order::Less, Severity::Error) => Node::Worst(Severity::Note..=Severity::Warning),
            (Order::AtMost, severity) => Node::Worst(Severity::Note..=*severity),
            (Order::AtLeast, severity) => Node::Worst(*severity..=Severity::Error),
            (Order::More, Severity::Warning) => Node::Worst(Severity::Error..=Severity::Error),
            (Order::More, Severity::Note) => Node::Worst(Severity::Warning..=Severity::Error),
        },
        Test::Data(test) => {
            DataNode::new(test, vocabulary).map_or(Node::Known(false), |node| Node::Data(Box::new(node)))
        }
        Test::Absent(name) => match name {
            Name::Lastmod => absent(Field::Lastmod),
            Name::Changefreq => absent(Field::Changefreq),
            Name::Priority => absent(Field::Priority),
            Name::Severity | Name::Rule => Node::Not(Box::new(Node::Worst(Severity::Note..=Severity::Error))),
            Name::Loc | Name::Host | Name::Path | Name::Section => Node::Empty(*name),
            Name::Depth | Name::File | Name::Has | Name::Is => Node::Known(false),
        },
    }
}

fn absent(field: Field) -> Node {
    Node::Not(Box::new(Node::Present(field)))
}

/// The range from `lowest` to `last`; nothing lies below the lowest value.
fn below<T>(lowest: T, last: Option<T>, node: fn(RangeInclusive<T>) -> Node) -> Node {
    last.map_or(Node::Known(false), |last| node(lowest..=last))
}

impl Node {
    /// Approximate cost per row: record fields, then set lookups, then URL parts, then text searches.
    fn cost(&self) -> u32 {
        match self {
            Self::Known(_) => 0,
            Self::Lastmod(_)
            | Self::Priority(_)
            | Self::Changefreq(_)
            | Self::Extension(_)
            | Self::Present(Field::Lastmod | Field::Changefreq | Field::Priority) => 1,
            Self::Is(_) | Self::Severity(_) | Self::Worst(_) => 2,
            Self::Rules(rules) => 2 + rules.len() as u32,
            Self::Text(Name::File, _) => 10,
            Self::Present(Field::Loc) | Self::Empty(_) | Self::Depth(_) => 20,
            Self::Text(_, Matcher::Is(_) | Matcher::IsFolded(_)) => 25,
            Self::Text(_, Matcher::Find(_) | Matcher::FindFolded(_)) => 30,
            Self::Data(_) => 60,
            Self::Text(_, Matcher::Regex(..)) => 100,
            Self::Not(inner) => inner.cost(),
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::cost).sum(),
        }
    }

    /// Whether the row passes.
    pub(super) fn holds<R: RowFacts + ?Sized>(&self, row: &Row<'_, R>) -> bool {
        let facts = row.facts;
        match self {
            Self::Known(known) => *known,
            Self::Not(inner) => !inner.holds(row),
            Self::All(parts) => parts.iter().all(|part| part.holds(row)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(row)),
            Self::Lastmod(period) => matches!(facts.lastmod(), Fact::Is(seconds) if period.contains(&seconds)),
            Self::Priority(range) => matches!(facts.priority(), Fact::Is(value) if range.contains(&value)),
            Self::Changefreq(wanted) => facts.changefreq() == Fact::Is(*wanted),
            Self::Present(Field::Loc) => facts.value(Field::Loc).is_some(),
            Self::Present(Field::Lastmod) => facts.lastmod() != Fact::Absent,
            Self::Present(Field::Changefreq) => facts.changefreq() != Fact::Absent,
            Self::Present(Field::Priority) => facts.priority() != Fact::Absent,
            Self::Extension(Some(kind)) => facts.has_extension(*kind),
            Self::Extension(None) => Extension::ALL.into_iter().any(|kind| facts.has_extension(kind)),
            Self::Is(state) => facts.is(*state),
            Self::Rules(rules) => rules.iter().any(|rule| facts.has_rule(*rule)),
            Self::Severity(severity) => facts.has_severity(*severity),
            Self::Worst(range) => worst(facts).is_some_and(|severity| range.contains(&severity)),
            Self::Depth(range) => range.contains(&depth(row.loc())),
            Self::Empty(name) => row.text(*name, str::is_empty),
            Self::Text(name, matcher) => row.text(*name, |text| matcher.matches(text)),
            Self::Data(node) => node.holds(facts, row.loc()),
        }
    }
}

fn worst<R: RowFacts + ?Sized>(facts: &R) -> Option<Severity> {
    [Severity::Error, Severity::Warning, Severity::Note].into_iter().find(|severity| facts.has_severity(*severity))
}

/// One row while it is tested.
pub(super) struct Row<'r, R: ?Sized> {
    facts: &'r R,
    loc: OnceCell<Cow<'r, str>>,
}

impl<'r, R: RowFacts + ?Sized> Row<'r, R> {
    /// The row of these facts.
    pub(super) const fn new(facts: &'r R) -> Self {
        Self { facts, loc: OnceCell::new() }
    }

    fn loc(&self) -> &str {
        self.loc.get_or_init(|| self.facts.loc())
    }

    /// Tests a text of the row; an absent value fails every test.
    fn text(&self, name: Name, test: impl Fn(&str) -> bool) -> bool {
        let written = |field| self.facts.value(field).is_some_and(|value| test(&value));
        match name {
            Name::Loc => test(self.loc()),
            Name::Host => test(host(self.loc())),
            Name::Path => test(path(self.loc())),
            Name::Section => test(section(self.loc())),
            Name::File => test(self.facts.file()),
            Name::Lastmod => written(Field::Lastmod),
            Name::Changefreq => written(Field::Changefreq),
            Name::Priority => written(Field::Priority),
            Name::Depth | Name::Has | Name::Is | Name::Rule | Name::Severity => false,
        }
    }
}
