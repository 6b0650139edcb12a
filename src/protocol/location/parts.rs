//! Splits a `loc` into its parts (RFC 3986, appendix B) without copying.
//!
//! Only `http://` and `https://` (in any case) have an authority here; any other text is a path. The parts are not
//! validated.

use super::chars::{self, Classes};
use memchr::{memchr, memchr_iter, memchr2, memchr3, memrchr};
use std::ops::Range;

/// The two schemes a sitemap may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
}

impl Scheme {
    /// Lower-case name without the colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The default port.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// The port of a URL as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Port {
    /// Nothing, not even a colon.
    None,
    /// A colon without a number (RFC 3986 allows it, 3.2.3).
    Empty,
    /// The default port of the scheme.
    Default,
    /// Another number from 1 to 65,535.
    Other(u16),
    /// Not a number, or out of range.
    Bad,
}

/// The parts of a `loc` and the classes of characters in them.
///
/// Built in one pass over the bytes without allocation.
#[derive(Debug, Clone, Copy)]
pub struct Location<'t> {
    pub(super) text: &'t str,
    /// `None` if it is not an http(s) URL with an authority; `authority` is empty then, and `path` is the whole text.
    pub(super) scheme: Option<Scheme>,
    /// End of `scheme://`, start of the authority.
    pub(super) authority: usize,
    /// End of the authority, start of the path.
    pub(super) path: usize,
    /// Classes of the bytes of the authority.
    pub(super) authority_classes: Classes,
    /// Classes of the bytes and sequences after the authority.
    pub(super) classes: Classes,
    /// End of the path: at `?`, `#` or the end; `None` if it was not searched for.
    pub(super) path_end: Option<usize>,
    /// Number of slashes after the authority, if they were counted.
    pub(super) slashes: Option<u32>,
}

impl<'t> Location<'t> {
    /// Parses a decoded, trimmed value.
    pub fn of(text: &'t str) -> Self {
        let location = Self::outline(text);
        let survey = chars::survey(text.as_bytes(), location.path);
        Self { classes: survey.classes, path_end: Some(survey.path_end), slashes: Some(survey.slashes), ..location }
    }

    /// Parses only scheme and authority, and assumes every class of character after it. Faster if only the parts are
    /// needed; not for validation.
    pub(crate) fn outline(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let (scheme, authority) = scheme_of(bytes);
        let rest = if scheme.is_some() { bytes.get(authority..).unwrap_or_default() } else { b"" };
        // RFC 3986, 3.2.
        let len = memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
        let path = authority + len;
        let authority_classes = rest.iter().take(len).fold(0, |classes, byte| classes | chars::classes_of(*byte));
        Self { text, scheme, authority, path, authority_classes, classes: !0, path_end: None, slashes: None }
    }

    /// The value as given.
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// The scheme, if this is an http(s) URL with `//`.
    pub const fn scheme(&self) -> Option<Scheme> {
        self.scheme
    }

    /// `scheme://authority` as written, and what follows it. `None` without scheme and host.
    pub fn origin(&self) -> Option<(&'t str, &'t str)> {
        self.scheme?;
        if self.host().is_empty() {
            return None;
        }
        self.text.split_at_checked(self.path)
    }

    /// The text before the path: the origin, if there is one.
    #[inline]
    pub fn before_path(&self) -> &'t str {
        self.slice(0, self.path)
    }

    /// The text between `//` and the path: user information, host and port.
    pub(super) fn authority(&self) -> &'t str {
        self.slice(self.authority, self.path)
    }

    /// The host as written, without user information and port; empty if there is none.
    pub fn host(&self) -> &'t str {
        if self.authority_classes & chars::SPECIAL == 0 {
            return self.authority();
        }
        self.split_authority().1
    }

    /// The range of the host, if the authority has no other part.
    pub(crate) fn bare_host_range(&self) -> Option<Range<usize>> {
        (self.authority_classes & chars::SPECIAL == 0).then_some(self.authority..self.path)
    }

    /// The port.
    pub fn port(&self) -> Port {
        let Some(scheme) = self.scheme else { return Port::None };
        if self.authority_classes & chars::SPECIAL == 0 {
            return Port::None;
        }
        match self.split_authority().2 {
            None => Port::None,
            Some("") => Port::Empty,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => match digits.parse::<u16>() {
                Ok(0) | Err(_) => Port::Bad,
                Ok(number) if number == scheme.default_port() => Port::Default,
                Ok(number) => Port::Other(number),
            },
            Some(_) => Port::Bad,
        }
    }

    /// User information with its `@`, host, and the port after its colon.
    pub(super) fn split_authority(&self) -> (&'t str, &'t str, Option<&'t str>) {
        let authority = self.authority();
        let at = memrchr(b'@', authority.as_bytes()).map_or(0, |at| at + 1);
        let (user, rest) = authority.split_at_checked(at).unwrap_or(("", authority));
        let host_end = if rest.starts_with('[') {
            memchr(b']', rest.as_bytes()).map_or(rest.len(), |end| end + 1)
        } else {
            memchr(b':', rest.as_bytes()).unwrap_or(rest.len())
        };
        let (host, port) = rest.split_at_checked(host_end).unwrap_or((rest, ""));
        match port.strip_prefix(':') {
            Some(port) => (user, host, Some(port)),
            None if port.is_empty() => (user, host, None),
            None => (user, rest, None), // text behind `]`: an invalid host
        }
    }

    /// The text after the authority.
    pub(super) fn rest(&self) -> &'t str {
        self.slice(self.path, self.text.len())
    }

    /// See the field of that name; searches for the end if it is not known.
    #[inline]
    pub(super) fn path_end(&self) -> usize {
        self.path_end.unwrap_or_else(|| path_end(self.text, self.path, self.classes))
    }

    /// Start of the fragment including its `#`; the end if there is none.
    pub(super) fn fragment_start(&self) -> usize {
        if self.classes & chars::HASH == 0 {
            return self.text.len();
        }
        memchr(b'#', self.rest().as_bytes()).map_or(self.text.len(), |end| self.path + end)
    }

    /// The path as written, without query and fragment.
    #[inline]
    pub fn path(&self) -> &'t str {
        self.slice(self.path, self.path_end())
    }

    /// The bytes of the path.
    #[inline]
    pub(crate) fn path_bytes(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.path..self.path_end()).unwrap_or_default()
    }

    /// Whether the last segment of the path may have an extension.
    #[inline]
    pub(crate) const fn may_have_extension(&self) -> bool {
        self.classes & chars::DOT != 0
    }

    /// Number of slashes in the path.
    #[inline]
    pub(crate) fn path_slashes(&self) -> u32 {
        match self.slashes {
            Some(slashes) if self.path_end == Some(self.text.len()) => slashes,
            slashes => self.count_path_slashes(slashes),
        }
    }

    #[inline(never)]
    fn count_path_slashes(&self, slashes: Option<u32>) -> u32 {
        let count = |text: &str| memchr_iter(b'/', text.as_bytes()).count() as u32;
        match slashes {
            // A query is usually shorter than a path.
            Some(slashes) => slashes - count(self.slice(self.path_end(), self.text.len())),
            None => count(self.path()),
        }
    }

    /// The query without its `?`.
    #[inline]
    pub fn query(&self) -> Option<&'t str> {
        if self.classes & chars::QUERY == 0 {
            return None;
        }
        self.slice(self.path_end(), self.fragment_start()).strip_prefix('?')
    }

    /// The fragment without its `#`.
    pub fn fragment(&self) -> Option<&'t str> {
        self.slice(self.fragment_start(), self.text.len()).strip_prefix('#')
    }

    /// The first non-empty segment of the path, `""` for the root.
    pub fn section(&self) -> &'t str {
        self.path().split('/').find(|segment| !segment.is_empty()).unwrap_or("")
    }

    /// Number of non-empty segments of the path; 0 for the root.
    pub fn depth(&self) -> u32 {
        let mut depth = 0;
        let mut after_slash = true;
        for byte in self.path().bytes() {
            depth += u32::from(after_slash && byte != b'/');
            after_slash = byte == b'/';
        }
        depth
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }
}

/// The end of the path of a URL: at `?`, `#` or the end. `path` is its start, and `classes` are those of the bytes after
/// the authority.
#[inline]
pub(super) fn path_end(text: &str, path: usize, classes: Classes) -> usize {
    if classes & (chars::QUERY | chars::HASH) == 0 {
        return text.len();
    }
    let rest = text.as_bytes().get(path..).unwrap_or_default();
    memchr2(b'?', b'#', rest).map_or(text.len(), |end| path + end)
}

fn scheme_of(bytes: &[u8]) -> (Option<Scheme>, usize) {
    if bytes.starts_with(b"https://") {
        return (Some(Scheme::Https), 8);
    }
    let is = |prefix: &[u8]| bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if is(b"https://") {
        (Some(Scheme::Https), 8)
    } else if is(b"http://") {
        (Some(Scheme::Http), 7)
    } else {
        (None, 0)
    }
}

/// See [`Location::origin`].
pub(crate) fn origin(decoded: &str) -> Option<(&str, &str)> {
    Location::outline(decoded).origin()
}

/// See [`Location::host`].
pub(crate) fn host(decoded: &str) -> &str {
    Location::outline(decoded).host()
}

/// See [`Location::path`].
pub(crate) fn path(decoded: &str) -> &str {
    Location::outline(decoded).path()
}

/// See [`Location::section`].
pub(crate) fn section(decoded: &str) -> &str {
    Location::outline(decoded).section()
}

/// See [`Location::depth`].
pub(crate) fn depth(decoded: &str) -> u32 {
    Location::outline(decoded).depth()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        // (text, host, port, path, query, fragment)
        for (text, host, port, path, query, fragment) in [
            ("https://e.com/a/b?c=d#f", "e.com", Port::None, "/a/b", Some("c=d"), Some("f")),
            ("HTTP://E.com:80", "E.com", Port::Default, "", None, None),
            ("http://u:p@e.com:8080/?", "e.com", Port::Other(8080), "/", Some(""), None),
            ("https://e.com:/#", "e.com", Port::Empty, "/", None, Some("")),
            ("https://[::1]:443/x", "[::1]", Port::Default, "/x", None, None),
            ("https://[::1]x/", "[::1]x", Port::None, "/", None, None),
            ("https://e.com:8x/", "e.com", Port::Bad, "/", None, None),
            ("https://e.com:99999/", "e.com", Port::Bad, "/", None, None),
            ("https://e.com?q#f?g", "e.com", Port::None, "", Some("q"), Some("f?g")),
            ("https://e.com/a#b?c", "e.com", Port::None, "/a", None, Some("b?c")),
            ("/a/b?c", "", Port::None, "/a/b", Some("c"), None),
            ("ftp://e.com/", "", Port::None, "ftp://e.com/", None, None),
            ("", "", Port::None, "", None, None),
            ("http://ü.de/ä", "ü.de", Port::None, "/ä", None, None),
        ] {
            let location = Location::of(text);
            assert_eq!(location.host(), host, "{text}");
            assert_eq!(location.port(), port, "{text}");
            assert_eq!(location.path(), path, "{text}");
            assert_eq!(location.query(), query, "{text}");
            assert_eq!(location.fragment(), fragment, "{text}");
        }
    }

    #[test]
    fn origins_sections_depths() {
        for (text, expected, first, deep) in [
            ("https://e.com/blog/2024/x.html", Some("https://e.com"), "blog", 3),
            ("https://e.com", Some("https://e.com"), "", 0),
            ("https://e.com//a//b/", Some("https://e.com"), "a", 2),
            ("https:///x", None, "x", 1),
            ("x/y", None, "x", 2),
        ] {
            assert_eq!(origin(text).map(|(origin, _)| origin), expected, "{text}");
            assert_eq!(section(text), first, "{text}");
            assert_eq!(depth(text), deep, "{text}");
        }
    }
}
