//! Text matchers of queries: substrings, wildcard patterns and regular expressions.
//!
//! Searching does not allocate.

use super::expr::{Match, Name, Test};
use super::folded::Folded;
use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

/// Maximum memory of a compiled regular expression, in bytes.
const REGEX_LIMIT: usize = 1 << 20;

/// A compiled text test.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    /// Contains these bytes.
    Find(Box<memmem::Finder<'static>>),
    /// Contains these ASCII letters and bytes in any case.
    FindFolded(Folded),
    /// Equals this text.
    Is(Box<str>),
    /// Equals this text, ASCII letters in any case.
    IsFolded(Box<str>),
    /// Matches a regular expression; the flag is true if it ignores case.
    Regex(Box<Regex>, bool),
}

impl Matcher {
    /// Builds the matcher of a text test; the error is a message about the value.
    pub(super) fn new(name: Name, how: Match, value: &str) -> Result<Self, String> {
        let any_case = name == Name::Host || !value.chars().any(char::is_uppercase);
        Ok(match how {
            Match::Is if name == Name::Host => Self::IsFolded(value.into()),
            Match::Is => Self::Is(value.into()),
            Match::Contains => Self::contains(value, any_case)?,
            Match::Glob => Self::Regex(Box::new(build(&glob(value, name != Name::Loc), any_case)?), any_case),
            Match::Regex => Self::Regex(Box::new(build(value, false)?), false),
        })
    }

    fn contains(value: &str, any_case: bool) -> Result<Self, String> {
        Ok(if !any_case || !value.chars().any(char::is_alphabetic) {
            Self::Find(Box::new(memmem::Finder::new(value).into_owned()))
        } else if let Some(folded) = Folded::new(value) {
            Self::FindFolded(folded)
        } else {
            Self::Regex(Box::new(build(&regex::escape(value), true)?), true)
        })
    }

    /// Whether the text passes.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Find(finder) => finder.find(text.as_bytes()).is_some(),
            Self::FindFolded(folded) => folded.find(text.as_bytes()).is_some(),
            Self::Is(value) => **value == *text,
            Self::IsFolded(value) => value.eq_ignore_ascii_case(text),
            Self::Regex(regex, _) => regex.is_match(text.as_bytes()),
        }
    }
}

/// A URL pattern outside of queries; it matches like `loc:VALUE`.
#[derive(Debug, Clone)]
pub(crate) struct UrlPattern(Matcher);

impl UrlPattern {
    /// A part of a URL, or a pattern if it has `*` or `?`.
    ///
    /// # Errors
    /// A message if the pattern is empty or takes too much memory.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("an empty pattern would match every URL".to_owned());
        }
        let how = if has_wildcard(pattern) { Match::Glob } else { Match::Contains };
        Matcher::new(Name::Loc, how, pattern).map(Self)
    }

    /// Whether a URL matches.
    pub(crate) fn matches(&self, url: &str) -> bool {
        self.0.matches(url)
    }
}

/// Whether `:` treats this text as a pattern.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The pattern as a regular expression: `*` and `?` match within a path segment, `**` across segments, and `**/` may
/// match no segment.
fn glob(pattern: &str, whole: bool) -> String {
    let mut out = String::from(if whole { r"\A(?:" } else { "(?:" });
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (piece, len) = if rest.starts_with("**/") {
            ("(?:.*/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            (".*".to_owned(), 2)
        } else if c == '*' {
            ("[^/]*".to_owned(), 1)
        } else if c == '?' {
            ("[^/]".to_owned(), 1)
        } else {
            let literal = rest.find(['*', '?']).unwrap_or(rest.len());
            (regex::escape(rest.get(..literal).unwrap_or_default()), literal)
        };
        out.push_str(&piece);
        rest = rest.get(len..).unwrap_or_default();
    }
    out.push_str(if whole { r")\z" } else { ")" });
    out
}

fn build(pattern: &str, any_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(any_case)
        .dot_matches_new_line(true)
        .size_limit(REGEX_LIMIT)
        .dfa_size_limit(REGEX_LIMIT)
        .build()
        .map_err(|error| regex_message(&error))
}

/// The last line of the regex crate's message, without the marked pattern.
pub(crate) fn regex_message(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "this regular expression is too large".to_owned(),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            format!("not a regular expression: {reason}")
        }
    }
}

/// The rules that a code or pattern matches.
pub(crate) fn rule_indexes(pattern: &str, rules: &[&str]) -> Vec<u16> {
    // Built once: every key typed into a query tests hundreds of codes.
    let regex = has_wildcard(pattern).then(|| build(&glob(pattern, true), false));
    let named = |code: &str| match &regex {
        Some(regex) => regex.as_ref().is_ok_and(|regex| regex.is_match(code.as_bytes())),
        None => code == pattern,
    };
    (0..=u16::MAX).zip(rules).filter(|(_, code)| named(code)).map(|(index, _)| index).collect()
}

/// Whether a text test can be built.
pub(super) fn check(test: &Test) -> Result<(), String> {
    match test {
        Test::Text(name, how, value) => Matcher::new(*name, *how, value).map(|_| ()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_by_operator() {
        use Match::{Contains, Glob, Is, Regex};
        use Name::{File, Host, Loc, Path};
        let table = [
            (Loc, Contains, "blog", "https://e.com/Blog/", true),
            (Loc, Contains, "Blog", "https://e.com/blog/", false),
            (Loc, Contains, "Blog", "https://e.com/Blog/", true),
            (Loc, Contains, "é", "https://e.com/É", true),
            (Loc, Contains, "/2024/", "https://e.com/2024/x", true),
            (Loc, Contains, "", "", true),
            (Loc, Contains, "aab", "aaab", true),
            (Loc, Contains, "aab", "aaa", false),
            (Loc, Is, "https://e.com/a?b=1&c=2", "https://e.com/a?b=1&c=2", true),
            (Loc, Is, "https://e.com/a", "https://e.com/a/", false),
            (Loc, Glob, "/blog/*/c", "https://e.com/blog/x/c/d", true),
            (Loc, Glob, "/blog/*/c", "https://e.com/blog/x/y/c", false),
            (Path, Glob, "/blog/*", "/blog/x", true),
            (Path, Glob, "/blog/*", "/blog/", true),
            (Path, Glob, "/blog/*", "/blog/x/y", false),
            (Path, Glob, "/blog/*", "/de/blog/x", false),
            (Path, Glob, "/blog/**", "/blog/x/y", true),
            (Path, Glob, "/blog/**", "/blog/", true),
            (Path, Glob, "/blog/**", "/blog", false),
            (Path, Glob, "/**/x", "/x", true),
            (Path, Glob, "/**/x", "/a/b/x", true),
            (Path, Glob, "/**/x", "/a/bx", false),
            (Path, Glob, "/a.?", "/a.b", true),
            (Path, Glob, "/a.?", "/axb", false),
            (Path, Glob, "/a?b", "/a/b", false),
            (Path, Glob, "/a?", "/aü", true),
            (Path, Glob, "/BLOG/*", "/blog/x", false),
            (Path, Glob, "/blog/*", "/BLOG/x", true),
            (Path, Regex, "^/(a|b)$", "/b", true),
            (Path, Regex, "^/(a|b)$", "/B", false),
            (Host, Is, "Example.com", "example.COM", true),
            (Host, Contains, "Example", "www.example.com", true),
            (File, Glob, "sitemap-?.xml", "sitemap-1.xml", true),
            (File, Glob, "sitemap-?.xml", "sitemap-10.xml", false),
        ];
        for (name, how, value, text, expected) in table {
            let found = Matcher::new(name, how, value).map(|matcher| matcher.matches(text));
            assert_eq!(found, Ok(expected), "{name:?} {how:?} {value} in {text}");
        }
    }

    #[test]
    fn errors_of_regular_expressions_are_one_line() {
        assert_eq!(
            Matcher::new(Name::Loc, Match::Regex, "(a").map(|_| ()),
            Err("not a regular expression: unclosed group".to_owned())
        );
        assert_eq!(
            Matcher::new(Name::Loc, Match::Regex, "(?:a{1000}){1000}").map(|_| ()),
            Err("this regular expression is too large".to_owned())
        );
    }

    #[test]
    fn rules_are_matched_by_code_or_pattern() {
        let rules = ["loc-empty", "loc-too-long", "lastmod-future"];
        let table: [(&str, &[u16]); 5] =
            [("loc-empty", &[0]), ("loc-*", &[0, 1]), ("*", &[0, 1, 2]), ("loc", &[]), ("LOC-*", &[])];
        for (pattern, expected) in table {
            assert_eq!(rule_indexes(pattern, &rules), expected, "{pattern}");
        }
    }
}
