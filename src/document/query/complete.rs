//! Completion candidates for a query that is being typed.
//!
//! Considers only the term under the cursor and does not validate the query.

use super::expr::{CONNECTIVES, Name, OPERATOR_STARTS, is_name_character};
use super::parse::values_of;
use super::{Vocabulary, expr::Has};
use crate::data::{Column, Kind};

/// Candidates that can replace the text between `from` and the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completions {
    /// Byte offset of the text that a candidate replaces.
    pub from: usize,
    /// The candidates, best first.
    pub items: Vec<Candidate>,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The text to insert.
    pub text: String,
    /// A short description; may be empty.
    pub about: &'static str,
}

impl Candidate {
    /// A candidate that inserts `text`.
    pub fn new(text: impl Into<String>, about: &'static str) -> Self {
        Self { text: text.into(), about }
    }
}

/// The candidates at a cursor, given as a byte offset into the text.
pub fn completions(text: &str, cursor: usize, vocabulary: &Vocabulary<'_>) -> Completions {
    let typed = text.get(..cursor).unwrap_or(text);
    let Some(start) = term_start(typed) else {
        return Completions { from: typed.len(), items: Vec::new() };
    };
    let term = typed.get(start..).unwrap_or_default();
    if let Some(name) = term.strip_prefix('@') {
        return Completions { from: start, items: data_tests(name, vocabulary) };
    }
    let name_end = term.find(|c| !is_name_character(c)).unwrap_or(term.len());
    let (word, rest) = term.split_at(name_end);
    let operator_end = rest.find(|c| !OPERATOR_STARTS.contains(&c)).unwrap_or(rest.len());
    if let (Some(name), 1..) = (Name::from_word(word), operator_end) {
        let from = start + name_end + operator_end;
        let prefix = rest.get(operator_end..).unwrap_or_default();
        return Completions { from, items: values(name, prefix, vocabulary) };
    }
    let names = Name::ALL.iter().map(|(name, word, about)| (format!("{word}{}", usual_operator(*name)), *about));
    let words = CONNECTIVES.iter().map(|word| (format!("{word} "), "combines conditions"));
    let items = names
        .chain(words)
        .filter(|(text, _)| rest.is_empty() && text.starts_with(word) && text.trim_end() != word)
        .map(|(text, about)| Candidate { text, about })
        .chain(data_tests("", vocabulary).into_iter().filter(|_| term.is_empty()))
        .collect();
    Completions { from: start, items }
}

/// Candidates for tests of data columns whose names begin with `begin`.
fn data_tests(begin: &str, vocabulary: &Vocabulary<'_>) -> Vec<Candidate> {
    let columns = vocabulary.data.into_iter().flat_map(|data| data.columns());
    let columns = columns.filter(|column| column.name().starts_with(&begin.to_lowercase()));
    let test = |column: &Column| {
        let operator = match column.kind() {
            Kind::Number | Kind::Boolean => "=",
            Kind::Date => ">",
            Kind::Text => ":",
        };
        Candidate::new(format!("@{}{operator}", column.name()), column.kind().words())
    };
    columns.map(test).collect()
}

/// The start of the last term; `None` inside quotes.
fn term_start(typed: &str) -> Option<usize> {
    let mut start = 0;
    let mut in_quotes = false;
    let mut at_start = true;
    for (at, c) in typed.char_indices() {
        if c == '"' {
            in_quotes = !in_quotes;
        }
        let opens = at_start && matches!(c, '(' | '-');
        at_start = !in_quotes && (c.is_whitespace() || opens);
        if at_start {
            start = at + c.len_utf8();
        }
    }
    (!in_quotes).then_some(start)
}

/// The most common operator after a name.
fn usual_operator(name: Name) -> &'static str {
    match name {
        Name::Lastmod | Name::Priority => "<",
        Name::Depth | Name::Changefreq => "=",
        _ => ":",
    }
}

fn values(name: Name, prefix: &str, vocabulary: &Vocabulary<'_>) -> Vec<Candidate> {
    let fits = |word: &&str| word.starts_with(prefix) && *word != prefix;
    match name {
        Name::Rule => {
            let rules = vocabulary.rules.iter().copied();
            rules.filter(fits).map(|code| Candidate::new(code, "rule")).collect()
        }
        Name::Has => {
            let words = Has::ALL.iter();
            words
                .filter(|(_, word)| fits(word))
                .map(|(has, word)| {
                    Candidate::new(*word, if matches!(has, Has::Field(_)) { "field" } else { "extension" })
                })
                .collect()
        }
        other => values_of(other).into_iter().filter(fits).map(|word| Candidate::new(word, "")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::lastmod::Now;

    #[test]
    fn candidates_fit_the_term_under_the_cursor() {
        let now = Now { seconds: 0, offset: 0 };
        let vocabulary = Vocabulary { rules: &["loc-empty", "loc-long", "lastmod-future"], now, data: None };
        let table: [(&str, usize, &[&str]); 14] = [
            ("pri", 0, &["priority<"]),
            ("blog (s", 6, &["section:", "severity:"]),
            ("-ha", 1, &["has:"]),
            ("has:l", 4, &["loc", "lastmod"]),
            ("rule:loc-", 5, &["loc-empty", "loc-long"]),
            ("severity>=w", 10, &["warning"]),
            ("a severity!=", 12, &["error", "warning", "note", "none"]),
            ("changefreq=w", 11, &["weekly"]),
            ("is:m", 3, &["marked"]),
            ("no", 0, &["not "]),
            ("loc=\"a b", 8, &[]),
            ("\"a b\" fi", 6, &["file:"]),
            ("/wiki/(ha", 0, &[]),
            ("has:image", 4, &[]),
        ];
        for (text, from, expected) in table {
            let found = completions(text, text.len(), &vocabulary);
            let texts: Vec<&str> = found.items.iter().map(|item| item.text.as_str()).collect();
            assert_eq!((found.from, texts.as_slice()), (from, expected), "{text}");
        }
        assert_eq!(completions("priority", 3, &vocabulary).from, 0);
        assert_eq!(completions("", 0, &vocabulary).items.len(), Name::ALL.len() + CONNECTIVES.len());
    }
}
