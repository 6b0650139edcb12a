//! Maps URLs to source files by patterns, without access to the files.

use super::template::{Candidate, Template, Values};
use crate::protocol::location::{Location, percent_decoded};
use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Write as _;

/// An invalid mapping: its text, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {what}")]
pub(crate) struct MapError {
    text: String,
    what: String,
}

impl MapError {
    /// An example of a valid mapping.
    pub(crate) const EXAMPLE: &str = "for example: --map '/blog/* = content/blog/*.md'";
}

/// The layouts of usual generators, in the order in which they are tried: Hugo, Astro, Next, Jekyll, documentation,
/// plain files. A layout is used if its first folder exists.
const LAYOUTS: [&str; 21] = [
    "content/{page}.{md,mdx,markdown,adoc,html}",
    "content/{page}/{index,_index}.{md,mdx,markdown,adoc,html}",
    "src/content/{page}.{md,mdx}",
    "src/content/{page}/index.{md,mdx}",
    "src/pages/{page}.{astro,md,mdx,html,tsx,jsx,ts,js}",
    "src/pages/{page}/index.{astro,md,mdx,html,tsx,jsx,ts,js}",
    "pages/{page}.{tsx,jsx,mdx,md,ts,js}",
    "pages/{page}/index.{tsx,jsx,mdx,md,ts,js}",
    "app/{page}/page.{tsx,jsx,mdx,md,ts,js}",
    "src/app/{page}/page.{tsx,jsx,mdx,md,ts,js}",
    "_posts/{date}-{name}.{md,markdown,html}",
    "docs/{page}.{md,mdx}",
    "docs/{page}/{index,README}.{md,mdx}",
    "{page}.{md,markdown}",
    "{page}/index.{md,markdown}",
    "{path}",
    "{page}.{html,htm}",
    "{page}/index.{html,htm}",
    "public/{path}",
    "public/{page}.html",
    "public/{page}/index.html",
];

/// Where the sources of pages are.
#[derive(Debug, Clone)]
pub(crate) struct SourceMap {
    pub(super) patterns: Vec<Pattern>,
}

impl Default for SourceMap {
    /// The layouts of usual generators.
    fn default() -> Self {
        let templates = LAYOUTS.into_iter().flat_map(|layout| Template::all(layout, 0).unwrap_or_default());
        Self { patterns: templates.map(|template| Pattern { urls: None, template }).collect() }
    }
}

impl SourceMap {
    /// Reads mappings, each `PATTERN = PATH`; the usual layouts where there is none.
    ///
    /// # Errors
    /// A mapping that cannot be used.
    pub(crate) fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, MapError> {
        if texts.is_empty() {
            return Ok(Self::default());
        }
        let mut patterns = Vec::new();
        for text in texts.iter().map(AsRef::as_ref) {
            let failed = |what: String| MapError { text: text.to_owned(), what };
            // A query may have a `=`.
            let parts = text.split_once(" = ").or_else(|| text.rsplit_once('='));
            let (pattern, path) = parts.ok_or_else(|| failed("expected PATTERN = PATH".to_owned()))?;
            let urls = UrlPattern::parse(pattern.trim()).map_err(failed)?;
            let templates = Template::all(path.trim(), urls.wildcards).map_err(failed)?;
            patterns.extend(templates.into_iter().map(|template| Pattern { urls: Some(urls.clone()), template }));
        }
        Ok(Self { patterns })
    }
}

/// Where the sources of URLs are that match a pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// `None`: every URL without a query.
    urls: Option<UrlPattern>,
    template: Template,
}

impl Pattern {
    /// Whether the folder exists that all paths of this pattern begin with.
    pub(super) fn applies(&self, has_folder: impl FnOnce(&str) -> bool) -> bool {
        self.template.first_folder().is_none_or(has_folder)
    }

    /// Where the source of a page would be; `None` where the page does not match.
    pub(super) fn source(&self, page: &Page<'_>) -> Option<Candidate> {
        match &self.urls {
            None if page.query.is_some() => None,
            None => self.template.fill(&page.values(&[])),
            Some(urls) => {
                let subject = urls.subject(page)?;
                let captures = urls.regex.captures(&subject)?;
                let captures = captures.iter().skip(1).map(|found| found.map_or(&[][..], |found| found.as_bytes()));
                self.template.fill(&page.values(&captures.collect::<Vec<_>>()))
            }
        }
    }
}

/// The parts of a URL that patterns are compared with.
#[derive(Debug)]
pub(super) struct Page<'u> {
    origin: &'u str,
    /// Decoded, with a slash at its start and none at its end.
    path: Vec<u8>,
    query: Option<&'u str>,
}

impl<'u> Page<'u> {
    /// `None` for text that is not a URL, and for a path that no file can have.
    pub(super) fn of(url: &'u str) -> Option<Self> {
        let location = Location::of(url.trim());
        let (origin, _) = location.origin()?;
        let mut path = Vec::new();
        for segment in location.path().split('/').filter(|segment| !segment.is_empty()) {
            let segment = percent_decoded(segment);
            let is_plain = segment != b"." && segment != b".." && !segment.iter().any(|byte| b"/\\\0".contains(byte));
            if !is_plain {
                return None;
            }
            path.push(b'/');
            path.extend(segment);
        }
        Some(Self { origin, path, query: location.query() })
    }

    /// The decoded path, which begins with a slash unless it is empty.
    pub(super) fn path(&self) -> &[u8] {
        &self.path
    }

    /// The values for the fields of a template.
    fn values<'v>(&'v self, wildcards: &'v [&'v [u8]]) -> Values<'v> {
        let path = self.path.strip_prefix(b"/").unwrap_or(&self.path);
        let page = path.strip_suffix(b".html").or_else(|| path.strip_suffix(b".htm")).unwrap_or(path);
        let page = if page == b"index" { b"" } else { page.strip_suffix(b"/index").unwrap_or(page) };
        Values { path, page, wildcards }
    }
}

/// URLs with wildcards.
#[derive(Debug, Clone)]
struct UrlPattern {
    /// Scheme and host, if the pattern names them.
    origin: Option<String>,
    has_query: bool,
    wildcards: usize,
    regex: Regex,
}

impl UrlPattern {
    fn parse(text: &str) -> Result<Self, String> {
        let (origin, rest) = match Location::of(text).origin() {
            Some((origin, rest)) => (Some(origin.to_owned()), rest),
            None => (None, text),
        };
        if origin.is_none() && !rest.starts_with('/') {
            return Err("a pattern begins with / or with the host: https://example.com/blog/*".to_owned());
        }
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let mut wildcards = 0;
        let mut regex = expression(path.trim_end_matches('/'), &mut wildcards);
        if let Some(query) = query {
            regex += r"\?";
            regex += &expression(query, &mut wildcards);
        }
        let built = RegexBuilder::new(&format!("\\A{regex}\\z")).unicode(false).dot_matches_new_line(true).build();
        let regex = built.map_err(|_| "the pattern is too long".to_owned())?;
        Ok(Self { origin, has_query: query.is_some(), wildcards, regex })
    }

    /// The text to match; `None` for a page on another host, or with a query that the pattern does not have.
    fn subject(&self, page: &Page<'_>) -> Option<Vec<u8>> {
        if self.origin.as_ref().is_some_and(|origin| !origin.eq_ignore_ascii_case(page.origin)) {
            return None;
        }
        match (self.has_query, page.query) {
            (false, None) => Some(page.path.clone()),
            (true, Some(query)) => Some([&page.path, &b"?"[..], query.as_bytes()].concat()),
            _ => None,
        }
    }
}

/// Converts a part of a pattern to a regular expression: `*` matches within a segment, `**` across segments, and `**/`
/// may match nothing.
fn expression(pattern: &str, wildcards: &mut usize) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let (piece, len) = if rest.starts_with("**/") {
            ("(?:(.+)/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            ("(.+)".to_owned(), 2)
        } else if rest.starts_with('*') {
            ("([^/]+)".to_owned(), 1)
        } else {
            let len = rest.find('*').unwrap_or(rest.len());
            let literal = percent_decoded(rest.get(..len).unwrap_or_default());
            let mut piece = String::new();
            for byte in literal {
                // Writing to a string cannot fail.
                let _ = write!(piece, "\\x{byte:02x}");
            }
            (piece, len)
        };
        *wildcards += usize::from(piece.contains('('));
        out += &piece;
        rest = rest.get(len..).unwrap_or_default();
    }
    out
}
