//! Splits a line into words and quoted values with their positions.
//!
//! The query language and the command line share these rules, so that a value is quoted the same way
//! everywhere: double quotes around it, a double quote inside written twice, nothing else special.

use std::ops::Range;

/// A double quote that is not closed, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unclosed(pub Range<usize>);

/// A scanner over one line. Positions are byte offsets.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    /// A scanner at the start of `text`.
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The current position.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// The text from the current position.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character, not consumed.
    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Whether the end is reached.
    pub(crate) fn is_done(&self) -> bool {
        self.rest().is_empty()
    }

    /// Skips whitespace.
    pub(crate) fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Consumes `token` if it comes next.
    pub(crate) fn consume(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Consumes characters while `wanted` is true, and returns them.
    pub(crate) fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'t str {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    /// Consumes everything up to whitespace.
    pub(crate) fn take_word(&mut self) -> &'t str {
        self.take_while(|c| !c.is_whitespace())
    }

    /// Consumes everything up to whitespace or a closing parenthesis that was not opened inside the
    /// word: `(/wiki/Foo_(bar))` contains the word `/wiki/Foo_(bar)`.
    pub(crate) fn take_balanced(&mut self) -> &'t str {
        let mut open = 0_usize;
        self.take_while(|c| match c {
            '(' => {
                open += 1;
                true
            }
            ')' if open == 0 => false,
            ')' => {
                open -= 1;
                true
            }
            other => !other.is_whitespace(),
        })
    }

    /// Consumes a value in double quotes; the scanner is at the opening quote.
    pub(crate) fn take_quoted(&mut self) -> Result<String, Unclosed> {
        let open = self.at;
        let mut value = String::new();
        let mut rest = self.rest().get(1..).unwrap_or_default();
        while let Some(end) = rest.find('"') {
            let (piece, after) = rest.split_at(end);
            value.push_str(piece);
            rest = after.get(1..).unwrap_or_default();
            let Some(more) = rest.strip_prefix('"') else {
                self.at = self.text.len() - rest.len();
                return Ok(value);
            };
            value.push('"');
            rest = more;
        }
        Err(Unclosed(open..self.text.len()))
    }
}

/// `value` in double quotes.
pub(crate) fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('"', "\"\""))
}

/// `value` unquoted if possible, otherwise in quotes.
pub(crate) fn quoted_if_needed(value: &str) -> String {
    if needs_quotes(value) { quoted(value) } else { value.to_owned() }
}

/// Whether a value without quotes would not be parsed as itself.
pub(crate) fn needs_quotes(value: &str) -> bool {
    value.is_empty() || value.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_spaces_and_unopened_parentheses() {
        let table =
            [("abc def", "abc"), ("a(b)c) d", "a(b)c"), ("a(b c", "a(b"), (")x", ""), ("a\u{a0}b", "a"), ("", "")];
        for (text, expected) in table {
            assert_eq!(Scanner::new(text).take_balanced(), expected, "{text}");
        }
        assert_eq!(Scanner::new("a)b c").take_word(), "a)b");
    }

    #[test]
    fn quotes_are_doubled_inside_quotes() {
        let table = [
            (r#""a b" c"#, Ok("a b"), 5),
            (r#""""#, Ok(""), 2),
            (r#""say ""hi""""#, Ok(r#"say "hi""#), 12),
            (r#""a\.b""#, Ok(r"a\.b"), 6),
            (r#""open"#, Err(Unclosed(0..5)), 0),
            (r#""open"""#, Err(Unclosed(0..7)), 0),
        ];
        for (text, expected, at) in table {
            let mut scanner = Scanner::new(text);
            assert_eq!(scanner.take_quoted(), expected.map(str::to_owned), "{text}");
            assert_eq!(scanner.at(), at, "{text}");
        }
    }

    #[test]
    fn quoted_values_are_read_back() {
        for value in ["", "a b", "\"", "a\"\"b", "(", "plain"] {
            let text = quoted(value);
            let mut scanner = Scanner::new(&text);
            assert_eq!(scanner.take_quoted().as_deref(), Ok(value));
            assert!(scanner.is_done());
        }
        assert_eq!(quoted_if_needed("plain"), "plain");
        assert_eq!(quoted_if_needed("a)"), "\"a)\"");
    }
}
