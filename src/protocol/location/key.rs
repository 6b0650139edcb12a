//! Comparison keys of URLs: normalised (RFC 3986, 6.2.2 and 6.2.3), and a looser one for near duplicates.
//!
//! Keys are only compared and never become text of a document. The key of a URL that is already normal is the URL
//! itself, without copying; so is that of a text that is not an http(s) URL.

use super::chars::{self, BRACE, DOUBLE_SLASH, HASH, HIGH, ILLEGAL, PERCENT, SLASH_DOT, SPACE, SPECIAL, UPPER};
use super::parts::{self, Location, Port, Scheme};
use super::query_survey::QuerySurvey;
use super::{host, params, plain_escapes};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// The hash of an empty value, which no URL has.
pub(crate) const NO_KEY: u64 = 0;

/// Seed of hashes; fixed, so that hashes are the same in every run.
const SEED: u64 = 0x0073_6974_6564;

/// The normalised form: scheme and host in lower case, no default port, no empty path, capital
/// percent-digits, unreserved characters decoded, no dot segments, IRI as URI, no fragment.
///
/// Borrows `decoded` if it is normal already, else writes to `scratch`.
pub(crate) fn key<'a>(decoded: &'a str, scratch: &'a mut String) -> &'a str {
    let location = Location::of(decoded);
    if location.is_normal() {
        return decoded;
    }
    location.write_normal(scratch);
    scratch
}

/// A hash of a normalised URL, the same as [`key_hash`] of it.
pub(crate) fn hash_of_key(key: &str) -> u64 {
    if key.is_empty() { NO_KEY } else { hash_normal(key.as_bytes()) }
}

/// A hash of [`key`]; the same in every run of a build. [`NO_KEY`] only for an empty value.
pub(crate) fn key_hash(decoded: &str) -> u64 {
    Location::of(decoded).key_hash()
}

/// A looser key for near duplicates: also without scheme, `www.`, trailing slash, directory index
/// and tracking parameters, in lower case, with the parameters in order.
pub(crate) fn near_key(decoded: &str, out: &mut String) {
    let location = Location::of(decoded);
    let has_scheme = location.scheme.is_some() && !location.host().is_empty();
    if has_scheme && location.is_normal() && !may_change_in_lower_case(decoded.as_bytes()) {
        write_near_key(location.authority(), location.path(), location.query(), out);
    } else {
        near_key_of_any(decoded, out);
    }
}

/// Whether a text has capitals or characters outside of ASCII.
fn may_change_in_lower_case(text: &[u8]) -> bool {
    let mut may_change = false;
    // A pass over all bytes is vectorised, and a search that stops at the first is not.
    for byte in text {
        may_change |= byte.is_ascii_uppercase() || !byte.is_ascii();
    }
    may_change
}

/// [`near_key`] of any URL, which is normalised first.
fn near_key_of_any(decoded: &str, out: &mut String) {
    let mut scratch = String::new();
    let normal = key(decoded, &mut scratch).to_lowercase();
    let location = Location::of(&normal);
    write_near_key(location.authority(), location.path(), location.query(), out);
}

/// Writes the near key of a URL in lower case with these parts.
fn write_near_key(authority: &str, path: &str, query: Option<&str>, out: &mut String) {
    out.clear();
    out.push_str(authority.strip_prefix("www.").unwrap_or(authority));
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_index = file.strip_prefix("index.").is_some_and(|end| matches!(end, "html" | "htm" | "php"));
    let path = if is_index { folder } else { path };
    out.push_str(path.trim_end_matches('/'));
    let mut parameters: Vec<&str> = query.map_or_else(Vec::new, |query| query.split('&').collect());
    parameters.retain(|parameter| !parameter.is_empty() && !params::is_tracking(parameter));
    parameters.sort_unstable();
    for (index, parameter) in parameters.iter().enumerate() {
        out.push(if index == 0 { '?' } else { '&' });
        out.push_str(parameter);
    }
}

/// The hash of a key that is not empty.
///
/// Scheme, `www.` and a slash at the end are mixed into the hash of the text between them, which usually is the near key
/// too: it is hashed once for both.
pub(super) fn hash_normal(key: &[u8]) -> u64 {
    HashedCore::of(key).key
}

/// The hash of a near key that is not empty, with the digits of its escapes in upper case as in a [`key`]: a key with no
/// other upper-case letters need not be copied.
fn hash_near(near_key: &[u8]) -> u64 {
    not_empty(FixedState::with_seed(SEED).hash_one(near_key))
}

/// The hash of a [`near_key`] that is not empty.
fn hash_of_near_key(near_key: &str) -> u64 {
    let mut hashed = vec![0; near_key.len()];
    hash_near(plain_escapes::to_upper_case(near_key.as_bytes(), &mut hashed).unwrap_or_default())
}

/// A hash that differs from that of an empty value.
const fn not_empty(hash: u64) -> u64 {
    if hash == NO_KEY { 1 } else { hash }
}

/// The core of a key: the text without scheme, `www.` and one slash at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashedCore<'k> {
    start: CoreStart,
    text: &'k [u8],
    /// [`hash_near`] of the text.
    hash: u64,
    /// The hash of the key.
    pub(super) key: u64,
}

/// What precedes the core of a key: scheme and `www.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CoreStart {
    /// The offset of the core.
    at: usize,
    /// One bit or number for each text that precedes it.
    before: u64,
}

impl CoreStart {
    /// That of a key, or of all keys that begin with this origin.
    #[inline]
    pub(super) fn of(key: &[u8]) -> Self {
        let (rest, scheme) = if let Some(rest) = key.strip_prefix(b"https://") {
            (rest, 1)
        } else if let Some(rest) = key.strip_prefix(b"http://") {
            (rest, 2)
        } else {
            (key, 0)
        };
        match rest.strip_prefix(b"www.") {
            Some(rest) if scheme > 0 => Self { at: key.len() - rest.len(), before: scheme | 4 },
            _ => Self { at: key.len() - rest.len(), before: scheme },
        }
    }
}

impl<'k> HashedCore<'k> {
    /// Two keys are equal if and only if both their cores and what surrounds these are equal.
    #[inline]
    pub(super) fn of(key: &'k [u8]) -> Self {
        Self::starting_at(CoreStart::of(key), key)
    }

    /// The core of a key that starts there.
    #[inline]
    pub(super) fn starting_at(start: CoreStart, key: &'k [u8]) -> Self {
        let text = key.get(start.at..).unwrap_or_default();
        let (text, around) = text.strip_suffix(b"/").map_or((text, start.before), |text| (text, start.before | 8));
        let hash = hash_near(text);
        // An odd factor with bits in all bytes.
        Self { start, text, hash, key: not_empty(hash ^ u64::wrapping_mul(around, 0x9E37_79B9_7F4A_7C15)) }
    }
}

/// The hash of a key that is given in two parts. Kept out of the usual path, for its buffer.
#[inline(never)]
pub(super) fn hash_of_parts(origin: &str, rest: &str) -> u64 {
    let mut buffer = [0; 2 * MAX_LOWERED_BYTES];
    let len = origin.len() + rest.len();
    match buffer.split_at_mut_checked(origin.len()) {
        Some((start, end)) if rest.len() <= end.len() => {
            start.copy_from_slice(origin.as_bytes());
            end.iter_mut().zip(rest.bytes()).for_each(|(to, from)| *to = from);
            hash_normal(buffer.get(..len).unwrap_or_default())
        }
        _ => hash_normal([origin, rest].concat().as_bytes()),
    }
}

/// A hash of [`near_key`]; the same in every run of a build. [`NO_KEY`] only for an empty value.
pub(crate) fn near_key_hash(decoded: &str) -> u64 {
    key_hashes(&Location::of(decoded), &mut String::new()).1
}

/// [`key_hash`] and [`near_key_hash`] of a URL, which is normalised only once, in `scratch`.
pub(super) fn key_hashes(location: &Location<'_>, scratch: &mut String) -> (u64, u64) {
    if location.text.is_empty() {
        return (NO_KEY, NO_KEY);
    }
    let normal = if location.is_normal() {
        *location
    } else {
        let is_encoded = location.write_normal(scratch);
        location.parts_of_normal(scratch, is_encoded)
    };
    // Capitals outside of ASCII and escapes remain only in unusual authorities.
    let is_plain =
        normal.scheme.is_some() && !normal.host().is_empty() && normal.authority_classes & (HIGH | PERCENT) == 0;
    let core = HashedCore::of(normal.text.as_bytes());
    let near_hash = if is_plain { core.near_hash(&normal, QuerySurvey::of_url(&normal)) } else { None };
    let near_hash = near_hash.unwrap_or_else(|| {
        let mut near = String::new();
        near_key(location.text, &mut near);
        hash_of_near_key(&near)
    });
    (core.key, near_hash)
}

/// Maximum number of parameters of a query that are sorted without allocation.
const MAX_SORTED_PARAMETERS: usize = 16;

impl HashedCore<'_> {
    /// [`near_key_hash`] of the URL of this core, which equals its [`key`] except for capitals in scheme and host; `None`
    /// for one that must be rewritten and has more than [`MAX_LOWERED_BYTES`] bytes or [`MAX_SORTED_PARAMETERS`] parameters, or
    /// whose path may name a directory index. `query` is what is known of its query.
    #[allow(clippy::inline_always)] // otherwise unrelated changes decide whether the usual path has a call
    #[inline(always)]
    pub(super) fn near_hash(&self, location: &Location<'_>, query: QuerySurvey) -> Option<u64> {
        let text = location.text.as_bytes().get(location.authority..)?;
        let page_len = location.path_end() - location.authority;
        let may_have_extension = location.may_have_extension();
        if (location.classes | location.authority_classes) & UPPER == 0 {
            // Without query, directory index and double slashes, a near key lacks only what its core lacks.
            let is_page = page_len == text.len() && !may_have_extension && location.classes & DOUBLE_SLASH == 0;
            if is_page && self.start.before > 0 {
                return Some(self.hash);
            }
            // A near key of the same length as the core is the core.
            let hash = |near: &[u8]| if near.len() == self.text.len() { self.hash } else { hash_near(near) };
            return near_hash_of_lower_case(text, page_len, may_have_extension, query, hash);
        }
        let has_escapes = location.classes & PERCENT != 0;
        near_hash_in_lower_case(text, has_escapes, page_len, may_have_extension)
    }
}

/// [`HashedCore::near_hash`] of a text with capitals. Kept out of the usual path, as [`hash_of_parts`] is.
#[inline(never)]
fn near_hash_in_lower_case(text: &[u8], has_escapes: bool, page_len: usize, may_have_extension: bool) -> Option<u64> {
    let mut lower_case = [0; MAX_LOWERED_BYTES];
    let lower_case = lower_case.get_mut(..text.len())?;
    lower_case.copy_from_slice(text);
    lower_case.make_ascii_lowercase();
    let mut upper_digits = [0; MAX_LOWERED_BYTES];
    let text = if has_escapes { plain_escapes::to_upper_case(lower_case, &mut upper_digits)? } else { lower_case };
    let query = text.get(page_len + "?".len()..).map_or(QuerySurvey::NONE, QuerySurvey::of);
    near_hash_of_lower_case(text, page_len, may_have_extension, query, hash_near)
}

/// [`HashedCore::near_hash`] of a text in lower case except for the digits of escapes, without scheme. Its first `page_len`
/// bytes are authority and path, and `query` is what is known of the rest. `hash` is called with a near key that is a part of
/// the text.
#[inline]
fn near_hash_of_lower_case(
    text: &[u8],
    page_len: usize,
    may_have_extension: bool,
    query: QuerySurvey,
    hash: impl FnOnce(&[u8]) -> u64,
) -> Option<u64> {
    let page = text.get(..page_len)?;
    if may_have_extension && may_be_index(page) {
        return None;
    }
    let untrimmed = page.strip_prefix(b"www.").unwrap_or(page);
    let mut page = untrimmed;
    while let Some(shorter) = page.strip_suffix(b"/") {
        page = shorter;
    }
    if text.len() <= page_len {
        return Some(hash(page));
    }
    if page.len() == untrimmed.len() && query.is_ordered && !query.has_known_name {
        // The usual query: nothing is removed.
        return text.get(page_len - page.len()..).map(hash);
    }
    near_hash_with_query(page, text.get(page_len + "?".len()..)?, query.has_known_name)
}

/// Whether the last segment of a page may be a directory index.
#[inline(never)]
fn may_be_index(page: &[u8]) -> bool {
    memchr::memrchr(b'/', page).and_then(|at| page.get(at + 1..)).is_none_or(|last| last.starts_with(b"index."))
}

/// The hash of the near key of a page with a query, whose parameters are sorted; tracking parameters are removed.
#[inline(never)]
fn near_hash_with_query(page: &[u8], query: &[u8], has_known_name: bool) -> Option<u64> {
    let is_tracking = |parameter: &[u8]| str::from_utf8(parameter).is_ok_and(params::is_tracking);
    let mut parameters = [&b""[..]; MAX_SORTED_PARAMETERS];
    let mut count = 0;
    for parameter in query.split(|byte| *byte == b'&') {
        if parameter.is_empty() || has_known_name && is_tracking(parameter) {
            continue;
        }
        *parameters.get_mut(count)? = parameter;
        count += 1;
    }
    let parameters = parameters.get_mut(..count)?;
    parameters.sort_unstable();
    let (mut near_key, mut len) = ([0; MAX_LOWERED_BYTES], 0);
    let mut push = |text: &[u8]| {
        near_key.get_mut(len..len + text.len())?.copy_from_slice(text);
        len += text.len();
        Some(())
    };
    push(page)?;
    for (index, parameter) in parameters.iter().enumerate() {
        push(if index == 0 { b"?" } else { b"&" })?;
        push(parameter)?;
    }
    Some(hash_near(near_key.get(..len)?))
}

/// Maximum number of bytes that are converted to lower case without allocation.
const MAX_LOWERED_BYTES: usize = 256;

impl Location<'_> {
    /// See [`key_hash`].
    pub fn key_hash(&self) -> u64 {
        if self.text.is_empty() {
            return NO_KEY;
        }
        if self.is_normal() {
            return hash_normal(self.text.as_bytes());
        }
        let mut scratch = String::with_capacity(self.text.len() + 16);
        self.write_normal(&mut scratch);
        hash_normal(scratch.as_bytes())
    }

    /// Whether the value equals its [`key`]. It may return false for an unusual value that does.
    pub fn is_normal(&self) -> bool {
        if self.scheme.is_none() || self.host().is_empty() {
            return true;
        }
        self.has_normal_authority()
            && self.classes & (HASH | SPACE | ILLEGAL | HIGH | SLASH_DOT) == 0
            && self.text.as_bytes().get(self.path) == Some(&b'/')
            && (self.classes & PERCENT == 0 || has_normal_percents(self.rest().as_bytes()))
    }

    /// Writes the normalised URL to `out`. Returns whether characters were encoded and nothing else was changed.
    fn write_normal(&self, out: &mut String) -> bool {
        out.clear();
        let Some(scheme) = self.scheme.filter(|_| !self.host().is_empty()) else {
            out.push_str(self.text);
            return false;
        };
        if self.has_normal_authority() {
            if self.is_only_to_encode() {
                push_normal_text(self.text, self.path, out);
                return true;
            }
            out.push_str(self.text.get(..self.path).unwrap_or_default());
        } else {
            self.push_normal_authority(scheme, out);
        }
        let base = out.len();
        push_normal_text(self.path(), 0, out);
        let path = out.get(base..).unwrap_or_default();
        // A dot may have been encoded, or separated from its slash by a line end.
        let may_have_dot_segment = self.classes & (SLASH_DOT | PERCENT | SPACE) != 0;
        if !path.starts_with('/') || may_have_dot_segment && path.contains("/.") {
            let path = out.split_off(base);
            push_without_dot_segments(&path, out);
        }
        if let Some(query) = self.query() {
            out.push('?');
            push_normal_text(query, 0, out);
        }
        false
    }

    /// The parts of `normal`, which [`Self::write_normal`] wrote; `is_encoded` is what it returned. If characters were only
    /// encoded, the parts are those of this URL.
    fn parts_of_normal<'n>(&self, normal: &'n str, is_encoded: bool) -> Location<'n> {
        if !is_encoded {
            return Location::of(normal);
        }
        let classes = self.classes & !(ILLEGAL | BRACE | HIGH) | PERCENT;
        let path_end = parts::path_end(normal, self.path, classes);
        Location { text: normal, classes, path_end: Some(path_end), ..*self }
    }

    /// Whether nothing behind the authority is to be changed but that characters are encoded. It may return false for an
    /// unusual URL of which that is true.
    fn is_only_to_encode(&self) -> bool {
        self.classes & (HASH | PERCENT | SPACE | SLASH_DOT) == 0 && self.text.as_bytes().get(self.path) == Some(&b'/')
    }

    /// Whether scheme and authority are normal. It may return false for unusual ones that are.
    pub(crate) fn has_normal_authority(&self) -> bool {
        let text = self.text.as_bytes();
        (text.starts_with(b"https:") || text.starts_with(b"http:"))
            && self.authority_classes & (UPPER | PERCENT | HIGH | SPECIAL) == 0
    }

    /// Appends `scheme://` and the authority.
    fn push_normal_authority(&self, scheme: Scheme, out: &mut String) {
        let (user, host, port_text) = self.split_authority();
        out.push_str(scheme.name());
        out.push_str("://");
        out.push_str(user);
        host::push_normal(host, out);
        match (self.port(), port_text) {
            (Port::Other(number), _) => {
                out.push(':');
                out.push_str(&number.to_string());
            }
            (Port::Bad, Some(text)) => {
                out.push(':');
                out.push_str(text);
            }
            _ => {}
        }
    }
}

/// Whether every `%` starts an escape in capitals of a byte that needs it.
fn has_normal_percents(bytes: &[u8]) -> bool {
    // Where one byte is encoded, the next ones often are too.
    let first = memchr::memchr(b'%', bytes).unwrap_or(bytes.len());
    bytes.iter().enumerate().skip(first).filter(|&(_, &byte)| byte == b'%').all(|(at, _)| {
        chars::percent_byte(bytes, at).is_some_and(|byte| !chars::is_unreserved(byte))
            && !bytes.get(at + 1..at + 3).unwrap_or_default().iter().any(u8::is_ascii_lowercase)
    })
}

/// Normalises percent-encoding (RFC 3986, 6.2.2.1 and 6.2.2.2, and RFC 3987, 3.1). Drops line ends and tabs, as every
/// URL parser does, and encodes a stray `%` as `%25`, as crawlers do. The bytes before the offset `normal`
/// are normal already.
fn push_normal_text(text: &str, normal: usize, out: &mut String) {
    let bytes = text.as_bytes();
    let (mut pushed, mut at) = (0, normal);
    loop {
        at += chars::plain_len(bytes.get(at..).unwrap_or_default());
        out.push_str(text.get(pushed..at).unwrap_or_default());
        if at >= bytes.len() {
            return;
        }
        // Where one byte is not plain, the next ones often are not either.
        while let Some(&byte) = bytes.get(at).filter(|byte| !chars::is_plain(**byte)) {
            at += 1;
            let escaped = match byte {
                b'\n' | b'\r' | b'\t' => continue,
                b'%' => match chars::percent_byte(bytes, at - 1) {
                    Some(byte) => {
                        at += 2;
                        byte
                    }
                    None => b'%',
                },
                _ => byte,
            };
            if byte == b'%' && chars::is_unreserved(escaped) {
                out.push(char::from(escaped));
            } else {
                chars::push_percent(out, escaped);
            }
        }
        pushed = at;
    }
}

/// Removes dot segments (RFC 3986, 5.2.4) from a path behind an authority; an empty path becomes `/`.
pub(super) fn push_without_dot_segments(path: &str, out: &mut String) {
    let base = out.len();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => out.truncate(out.get(base..).and_then(|path| path.rfind('/')).map_or(base, |at| base + at)),
            _ => {
                out.push('/');
                out.push_str(segment);
                continue;
            }
        }
        if is_last {
            out.push('/');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys() {
        for (text, expected) in [
            ("https://e.com/a?b=c", "https://e.com/a?b=c"),
            ("HTTPS://E.com", "https://e.com/"),
            ("http://e.com:80/", "http://e.com/"),
            ("http://e.com:080?x", "http://e.com/?x"),
            ("http://e.com:/", "http://e.com/"),
            ("http://e.com:8080/", "http://e.com:8080/"),
            ("https://e.com/%7euser/%e9%2f", "https://e.com/~user/%E9%2F"),
            ("https://e.com/a/./b/../c/..", "https://e.com/a/"),
            ("https://e.com/../%2e%2e/x", "https://e.com/x"),
            ("https://e.com/é b\n", "https://e.com/%C3%A9%20b"),
            ("https://MÜNCHEN.de/", "https://xn--mnchen-3ya.de/"),
            ("https://e.com/a#b", "https://e.com/a"),
            ("https://e.com/100%", "https://e.com/100%25"),
            ("https://e.com/a//b/", "https://e.com/a//b/"),
            ("https://U@E.com/", "https://U@e.com/"),
            ("/A#b", "/A#b"),
            ("", ""),
        ] {
            let mut scratch = String::new();
            assert_eq!(key(text, &mut scratch), expected, "{text}");
        }
    }

    #[test]
    fn equal_keys_have_equal_hashes() {
        assert_eq!(key_hash("https://e.com/a"), key_hash("HTTPS://E.COM:443/%61#x"));
        assert_ne!(key_hash("https://e.com/a"), key_hash("https://e.com/A"));
        assert_eq!(key_hash(""), NO_KEY);
    }

    #[test]
    fn near_keys() {
        for (left, right, expected) in [
            ("https://www.e.com/a/", "http://e.com/A", true),
            ("https://e.com/a/index.html", "https://e.com/a", true),
            ("https://e.com/a?b=1&c=2&utm_id=3", "https://e.com/a?c=2&b=1", true),
            ("https://e.com/a?b=1", "https://e.com/a?b=2", false),
            ("https://e.com/a", "https://e.com/ab", false),
        ] {
            let (mut one, mut two) = (String::new(), String::new());
            near_key(left, &mut one);
            near_key(right, &mut two);
            assert_eq!(one == two, expected, "{left} {right}");
        }
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(text in crate::protocol::location::validate::tests::urlish()) {
            let (mut once, mut twice) = (String::new(), String::new());
            let first = key(&text, &mut once).to_owned();
            prop_assert_eq!(key(&first, &mut twice), &first);
        }

        #[test]
        fn the_fast_near_key_equals_the_near_key(
            odd in crate::protocol::location::validate::tests::urlish(),
            rest in "(www\\.)?[a-z0-9./_~-]{0,12}(/(index\\.[a-z]{0,4})?/?)?([?]([a-c]{0,2}(=[a-c1/?]{0,2})?&?|utm_id=1&?){0,4})?",
            escaped in "(www|WWW|%C3%A9)\\.[a-zA-Z]{0,3}/([a-zA-Z./]|%[C-Fc-f][0-9A-Fa-f]|%[0-9][0-9A-Fa-f]|%){0,8}([?]a=[a-cA-C]?(%C3%A9)?)?",
        ) {
            for text in [odd, format!("https://{rest}"), format!("http://e.com/{rest}"), format!("HTTPS://{escaped}")] {
                let (mut long, mut of_any) = (String::new(), String::new());
                near_key(&text, &mut long);
                near_key_of_any(&text, &mut of_any);
                prop_assert_eq!(&long, &of_any, "{}", text);
                if !text.is_empty() {
                    prop_assert_eq!(near_key_hash(&text), hash_of_near_key(&long), "{}", text);
                }
            }
        }

        #[test]
        fn equal_hashes_have_equal_keys(
            texts in prop::collection::vec("(https?://|HTTPS://)?(www\\.)?(www\\.)?[ab]{0,2}/{0,2}(\\?a?/?)?", 2..6),
        ) {
            for one in &texts {
                for other in &texts {
                    let (mut first, mut second) = (String::new(), String::new());
                    let is_equal = key(one, &mut first) == key(other, &mut second);
                    prop_assert_eq!(key_hash(one) == key_hash(other), is_equal, "{} {}", one, other);
                }
            }
        }

        #[test]
        fn the_fast_path_equals_the_slow_path(text in crate::protocol::location::validate::tests::urlish()) {
            let location = Location::of(&text);
            if location.is_normal() {
                let mut long = String::new();
                location.write_normal(&mut long);
                prop_assert_eq!(long, text);
            }
        }

        #[test]
        fn the_parts_of_a_normal_url_are_those_found_in_it(text in crate::protocol::location::validate::tests::urlish()) {
            let (location, mut normal) = (Location::of(&text), String::new());
            let is_encoded = location.write_normal(&mut normal);
            let (parts, found) = (location.parts_of_normal(&normal, is_encoded), Location::of(&normal));
            prop_assert_eq!((parts.before_path(), parts.path()), (found.before_path(), found.path()), "{}", text);
            prop_assert_eq!((parts.query(), parts.path_slashes()), (found.query(), found.path_slashes()), "{}", text);
            prop_assert_eq!(parts.may_have_extension(), found.may_have_extension(), "{}", text);
            prop_assert_eq!(parts.classes & UPPER, found.classes & UPPER, "{}", text);
        }
    }
}
