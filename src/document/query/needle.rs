//! `Needle`: a text that the URL of every matching row must contain.
//!
//! Searching for it in the bytes of a whole file is many times faster than testing each row, and leaves few rows to
//! test.

use super::eval::Node;
use super::expr::Name;
use super::folded::Folded;
use super::text::Matcher;
use memchr::memmem;
use regex_syntax::hir::{Hir, HirKind};

/// Minimum length of a needle in bytes: shorter ones are in nearly every URL.
const MIN_LENGTH: usize = 3;

/// A needle with its search algorithm.
#[derive(Debug, Clone)]
pub(crate) enum Needle {
    /// These bytes.
    Exact(Box<memmem::Finder<'static>>),
    /// These ASCII letters and bytes in any case.
    Folded(Box<Folded>),
}

impl Needle {
    /// The needle of a query, if there is one.
    pub(super) fn of(node: &Node) -> Option<Self> {
        match node {
            Node::Text(Name::Loc | Name::Host | Name::Path | Name::Section, matcher) => Self::of_matcher(matcher),
            Node::All(parts) => parts.iter().find_map(Self::of),
            _ => None,
        }
    }

    fn of_matcher(matcher: &Matcher) -> Option<Self> {
        match matcher {
            Matcher::Find(finder) => Self::exact(finder.needle()),
            Matcher::FindFolded(folded) => Self::folded(folded.needle()),
            Matcher::Is(value) => Self::exact(value.as_bytes()),
            Matcher::IsFolded(value) => Self::folded(value.as_bytes()),
            Matcher::Regex(regex, any_case) => {
                let hir = regex_syntax::parse(regex.as_str()).ok()?;
                let longest = longest_literal(&hir)?;
                if !*any_case {
                    return Self::exact(longest);
                }
                // Without case, `k` and `s` also match a letter that is not ASCII (Unicode, CaseFolding: U+212A,
                // U+017F), so the literal is split at them.
                let pieces = longest.split(|letter| matches!(letter.to_ascii_lowercase(), b'k' | b's'));
                Self::folded(pieces.max_by_key(|piece| piece.len())?)
            }
        }
    }

    fn exact(needle: &[u8]) -> Option<Self> {
        // Invalid UTF-8 is decoded to U+FFFD, which is not in the bytes of the file.
        let is_valid_text = !String::from_utf8_lossy(needle).contains('\u{FFFD}');
        (needle.len() >= MIN_LENGTH && is_valid_text)
            .then(|| Self::Exact(Box::new(memmem::Finder::new(needle).into_owned())))
    }

    fn folded(needle: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(needle).ok().filter(|text| text.len() >= MIN_LENGTH && text.is_ascii())?;
        Folded::new(text).map(|folded| Self::Folded(Box::new(folded)))
    }

    /// Its length in bytes, if every row whose URL, as written, contains it matches the query.
    pub(super) fn decides(&self, node: &Node) -> Option<usize> {
        let Node::Text(Name::Loc, Matcher::Find(_) | Matcher::FindFolded(_)) = node else { return None };
        let bytes = match self {
            Self::Exact(finder) => finder.needle(),
            Self::Folded(folded) => folded.needle(),
        };
        // Whitespace around a URL is not part of it.
        (!bytes.iter().any(u8::is_ascii_whitespace)).then_some(bytes.len())
    }

    /// The offset of the first match.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Exact(finder) => finder.find(bytes),
            Self::Folded(folded) => folded.find(bytes),
        }
    }
}

/// The longest literal that every match of a regular expression contains, as far as its syntax tree shows.
fn longest_literal(hir: &Hir) -> Option<&[u8]> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(&literal.0),
        HirKind::Capture(capture) => longest_literal(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => longest_literal(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(longest_literal).max_by_key(|text| text.len()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::expr::Match;
    use super::*;

    #[test]
    fn every_text_that_passes_contains_the_needle() {
        let texts = ["/blog/a-juniper", "/BLOG/a-JUNIPER", "/x", "/blog/", "aab", "juniper", "/a-juniperX"];
        for (how, value, expected) in [
            (Match::Contains, "juniper", Some("juniper")),
            (Match::Contains, "Juniper", Some("Juniper")),
            (Match::Contains, "ab", None),
            (Match::Is, "/blog/", Some("/blog/")),
            (Match::Glob, "/blog/*-juniper", Some("-juniper")),
            (Match::Regex, "/[a-f]+-juniper", Some("-juniper")),
            (Match::Regex, "/(blog/a)+", Some("blog/a")),
            (Match::Regex, "(?i)juniper", None),
            (Match::Regex, "juniper|blog", None),
            (Match::Regex, "(juniper)?", None),
        ] {
            let matcher = Matcher::new(Name::Path, how, value).unwrap();
            let needle = Needle::of_matcher(&matcher);
            assert_eq!(needle.is_some(), expected.is_some(), "{value}");
            for text in texts.iter().filter(|text| matcher.matches(text)) {
                assert!(
                    needle.as_ref().is_none_or(|needle| needle.find(text.as_bytes()).is_some()),
                    "{value} in {text}"
                );
            }
            assert!(needle.is_none_or(|needle| needle.find(expected.unwrap().as_bytes()) == Some(0)), "{value}");
        }
    }
}
