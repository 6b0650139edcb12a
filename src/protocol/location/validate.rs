//! Validates one `loc`: the faults of a URL that need no knowledge of its sitemap.
//!
//! The character classes of [`Location::of`] guard every rule that costs more than a bit test: a plain URL is validated
//! by its host, last segment and length, without allocation. Validation never fails.

use super::chars::{
    self, BRACE, DOUBLE_SLASH, HASH, HIGH, ILLEGAL, PERCENT, RESIDUE_START, SESSION, SLASH_DOT, SPACE, SPECIAL, UPPER,
};
use super::fault::{Fault, Faults};
use super::parts::{Location, Port};
use super::{host, params, private, shape};
use crate::protocol::limits::{LOC_CHARACTERS, LOC_CHARACTERS_MIN};
use memchr::memmem;

/// Longest URL that Yandex accepts, in characters (Yandex Webmaster, "Sitemap errors reference").
const YANDEX_CHARACTERS: usize = 1_024;
/// Longest URL that Baidu accepts, in bytes (Baidu webmaster help).
const BAIDU_BYTES: usize = 256;

/// Words that mean a missing value if they are a whole segment or the value of a parameter (practice).
const RESIDUE_WORDS: [&str; 3] = ["undefined", "null", "NaN"];
/// Marks of unfilled templates, raw or percent-encoded (practice).
const RESIDUE_MARKS: [&[u8]; 9] =
    [b"{{", b"${", b"<%", b"[object", b"%5Bobject", b"%7B%7B", b"%7b%7b", b"$%7B", b"%24%7B"];

/// All faults of a decoded, trimmed value that do not depend on the location of its sitemap.
pub(crate) fn validate(decoded: &str) -> Faults {
    Location::of(decoded).validate()
}

impl Location<'_> {
    /// See [`validate`].
    pub fn validate(&self) -> Faults {
        let mut faults = Faults::NONE;
        if self.text.is_empty() {
            return faults;
        }
        if self.scheme.is_none() {
            faults.insert(shape::validate(self.text));
        } else if self.validate_authority(&mut faults) {
            return faults.union(self.validate_behind_authority());
        }
        self.validate_text(self.surveyed_escapes(), &mut faults);
        faults
    }

    /// The faults of a URL with an authority, except those of scheme and authority.
    pub(super) fn validate_behind_authority(&self) -> Faults {
        let (escapes, mut faults) = (self.surveyed_escapes(), Faults::NONE);
        self.validate_path(escapes, &mut faults);
        self.validate_text(escapes, &mut faults);
        faults
    }

    /// The kinds of percent-encoded bytes.
    fn surveyed_escapes(&self) -> u8 {
        let has_percent = (self.classes | self.authority_classes) & PERCENT != 0;
        if has_percent { escape::survey(self.text.as_bytes()) } else { 0 }
    }

    fn validate_text(&self, escapes: u8, faults: &mut Faults) {
        self.validate_characters(escapes, faults);
        self.validate_length(faults);
    }

    /// Returns whether there is an authority; the path can only be validated with one.
    fn validate_authority(&self, faults: &mut Faults) -> bool {
        let classes = self.authority_classes;
        let host = self.host();
        if host.is_empty() || matches!(host, "http" | "https") {
            if shape::misspelt(self.text).is_some() {
                faults.insert(Fault::SchemeTypo);
                return false;
            }
            if host.is_empty() {
                faults.insert(Fault::NoHost);
                return false;
            }
        }
        if classes & SPECIAL != 0 {
            faults.insert_if(Fault::Userinfo, self.authority().contains('@'));
            match self.port() {
                Port::None | Port::Other(_) => {}
                Port::Default | Port::Empty => faults.insert(Fault::DefaultPort),
                Port::Bad => faults.insert(Fault::HostInvalid),
            }
        }
        let is_plain = classes & (HIGH | PERCENT | SPECIAL) == 0;
        *faults = faults.union(if is_plain { host::validate_ascii(host.as_bytes()) } else { host::validate(host) });
        let scheme = self.text.as_bytes().get(..4).unwrap_or_default();
        let has_capitals = scheme != b"http" || self.text.as_bytes().get(4) == Some(&b'S');
        let host_capitals = classes & UPPER != 0 && host.bytes().any(|byte| byte.is_ascii_uppercase());
        faults.insert_if(Fault::UppercaseHost, has_capitals || host_capitals);
        faults.insert_if(Fault::MissingRootSlash, !self.rest().starts_with('/'));
        faults.insert_if(Fault::Private, private::preview_label(host).is_some());
        true
    }

    fn validate_path(&self, escapes: u8, faults: &mut Faults) {
        faults.insert_if(Fault::Fragment, self.classes & HASH != 0);
        let path = self.path();
        if self.classes & DOUBLE_SLASH != 0 {
            faults.insert_if(Fault::DoubleSlash, memmem::find(path.as_bytes(), b"//").is_some());
        }
        if self.classes & SLASH_DOT != 0 || escapes & escape::DOT != 0 {
            faults.insert_if(Fault::DotSegments, path.split('/').any(is_dot_segment));
        }
        for parameter in self.query().into_iter().flat_map(params::parameters) {
            faults.insert_if(Fault::SessionId, params::is_session(parameter));
            faults.insert_if(Fault::TrackingParam, params::is_tracking(parameter));
        }
        if self.classes & SESSION != 0 {
            faults.insert_if(Fault::SessionId, params::session(self).is_some());
        }
        faults.insert_if(Fault::Private, private::find_behind_authority(self).is_some());
        faults.insert_if(Fault::NotPage, self.may_have_extension() && is_not_page(path));
    }

    fn validate_characters(&self, escapes: u8, faults: &mut Faults) {
        let classes = self.classes | self.authority_classes;
        faults.insert_if(Fault::InnerWhitespace, classes & SPACE != 0);
        faults.insert_if(Fault::IllegalChar, classes & ILLEGAL != 0 || escapes & escape::CONTROL != 0);
        faults.insert_if(Fault::NotAscii, classes & HIGH != 0);
        faults.insert_if(Fault::BadPercent, escapes & escape::BAD != 0);
        if classes & HIGH != 0 || escapes & escape::HIGH != 0 {
            faults.insert_if(Fault::Mojibake, is_mojibake(self.text));
        }
        if self.classes & (RESIDUE_START | SPECIAL | BRACE) != 0 || escapes & (escape::BAD | escape::MARK) != 0 {
            faults.insert_if(Fault::TemplateResidue, template_residue(self).is_some());
        }
    }

    fn validate_length(&self, faults: &mut Faults) {
        let bytes = self.text.len();
        let is_ascii = (self.classes | self.authority_classes) & HIGH == 0;
        if bytes < LOC_CHARACTERS_MIN * 4 && self.scheme.is_some() {
            let characters = if is_ascii { bytes } else { self.text.chars().count() };
            faults.insert_if(Fault::TooShort, characters < LOC_CHARACTERS_MIN);
        }
        if bytes <= BAIDU_BYTES {
            return;
        }
        faults.insert(Fault::TooLongBaidu);
        let characters = if is_ascii { bytes } else { self.text.chars().count() };
        faults.insert_if(
            Fault::TooLongYandex,
            characters > YANDEX_CHARACTERS && decoded_characters(self.text) > YANDEX_CHARACTERS,
        );
        if characters >= LOC_CHARACTERS {
            faults.insert(if characters == LOC_CHARACTERS { Fault::TooLongByOne } else { Fault::TooLong });
        } else if bytes * 3 >= LOC_CHARACTERS {
            let escapes =
                self.text.bytes().filter(|&byte| chars::classes_of(byte) & (SPACE | ILLEGAL | HIGH) != 0).count();
            faults.insert_if(Fault::TooLongEncoded, bytes + escapes * 2 >= LOC_CHARACTERS);
        }
    }
}

/// Kinds of percent-encoded bytes, which guard expensive rules like character classes do.
mod escape {
    use super::chars;

    /// A `%` without two hexadecimal digits.
    pub(super) const BAD: u8 = 1;
    /// A byte outside of ASCII.
    pub(super) const HIGH: u8 = 1 << 1;
    /// A dot.
    pub(super) const DOT: u8 = 1 << 2;
    /// `{`, `$` or `[`, which may belong to a placeholder.
    pub(super) const MARK: u8 = 1 << 3;

    /// A control character, usually a line break that was encoded with the URL.
    pub(super) const CONTROL: u8 = 1 << 4;

    /// All kinds that occur.
    pub(super) fn survey(bytes: &[u8]) -> u8 {
        let mut kinds = 0;
        // Where one byte is encoded, the next ones often are too.
        let mut rest = memchr::memchr(b'%', bytes).and_then(|first| bytes.get(first..)).unwrap_or_default();
        while let [first, tail @ ..] = rest {
            rest = tail;
            if *first == b'%' {
                kinds |= match tail {
                    [high, low, ..] => match (chars::hex(*high), chars::hex(*low)) {
                        (Some(8..), Some(_)) => HIGH,
                        (Some(0 | 1), Some(_)) | (Some(7), Some(15)) => CONTROL,
                        (Some(2), Some(14)) => DOT,
                        (Some(7 | 5), Some(11)) | (Some(2), Some(4)) => MARK,
                        (Some(_), Some(_)) => 0,
                        _ => BAD,
                    },
                    _ => BAD,
                };
            }
        }
        kinds
    }
}

/// Number of characters of a URL after decoding its percent-encoding as UTF-8, which is how Yandex counts.
pub(super) fn decoded_characters(text: &str) -> usize {
    let bytes = text.as_bytes();
    let encoded = memchr::memchr_iter(b'%', bytes).filter_map(|at| chars::percent_byte(bytes, at));
    // Three characters become one, or none for a continuation byte.
    encoded.fold(text.chars().count(), |count, byte| count - if matches!(byte, 0x80..=0xbf) { 3 } else { 2 })
}

/// Byte offset of the first `%` without two hexadecimal digits.
pub(super) fn bad_percent(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|&at| bytes.get(at) == Some(&b'%') && chars::percent_byte(bytes, at).is_none())
}

/// Byte offset of the first percent-encoded control character.
pub(super) fn encoded_control(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'%', bytes)
        .find(|&at| chars::percent_byte(bytes, at).is_some_and(|byte| byte.is_ascii_control()))
}

/// Whether a URL ends in a percent-encoded control character.
pub(crate) fn ends_in_control(text: &str) -> bool {
    without_trailing_controls(text).len() < text.len()
}

/// Removes the percent-encoded control characters at the end of a URL.
pub(super) fn without_trailing_controls(text: &str) -> &str {
    let mut trimmed = text;
    while let Some(at) = trimmed.len().checked_sub(3)
        && chars::percent_byte(trimmed.as_bytes(), at).is_some_and(|byte| byte.is_ascii_control())
        && let Some(shorter) = trimmed.get(..at)
    {
        trimmed = shorter;
    }
    trimmed
}

/// `.`, `..`, and the same with `%2e`.
pub(super) fn is_dot_segment(segment: &str) -> bool {
    let mut dots = 0;
    let mut rest = segment.as_bytes();
    while !rest.is_empty() {
        rest = match rest {
            [b'.', tail @ ..] | [b'%', b'2', b'e' | b'E', tail @ ..] => tail,
            _ => return false,
        };
        dots += 1;
    }
    matches!(dots, 1 | 2)
}

/// The first unfilled placeholder of a template.
pub(super) fn template_residue<'t>(location: &Location<'t>) -> Option<&'t str> {
    let text = location.rest();
    let bytes = text.as_bytes();
    let of = |at: usize, length: usize| text.get(at..at + length);
    if location.classes & RESIDUE_START != 0 {
        let word = memchr::memchr2_iter(b'/', b'=', bytes).map(|at| at + 1).find_map(|at| {
            let tail = text.get(at..)?;
            let word = RESIDUE_WORDS.iter().find(|word| tail.starts_with(**word))?;
            let ends = matches!(tail.as_bytes().get(word.len()), None | Some(b'/' | b'?' | b'#' | b'&' | b';' | b'.'));
            if ends { of(at, word.len()) } else { None }
        });
        if word.is_some() {
            return word;
        }
    }
    // Each mark and each placeholder contains a character of one of these classes.
    if location.classes & (BRACE | PERCENT | SPECIAL) == 0 {
        return None;
    }
    let starts = [
        memchr::memchr3_iter(b'{', b'$', b'<', bytes).find_map(|at| mark_at(bytes, at)),
        memchr::memchr2_iter(b'[', b'%', bytes).find_map(|at| mark_at(bytes, at)),
    ];
    let first = starts.into_iter().flatten().min();
    first.and_then(|(at, length)| of(at, length)).or_else(|| braced_name(text))
}

/// The position and length of a mark of an unfilled template that starts at a position.
fn mark_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let tail = bytes.get(at..)?;
    if matches!(tail, [b'%', b's' | b'd', ..]) && chars::percent_byte(bytes, at).is_none() {
        return Some((at, 2));
    }
    // Two bytes are compared first, without a call.
    let is_at = |mark: &&&[u8]| mark.first_chunk::<2>() == tail.first_chunk() && tail.starts_with(mark);
    RESIDUE_MARKS.iter().find(is_at).map(|mark| (at, mark.len()))
}

/// Finds `{name}`, an unfilled route parameter.
fn braced_name(text: &str) -> Option<&str> {
    let start = memchr::memchr(b'{', text.as_bytes())?;
    let end = start + memchr::memchr(b'}', text.as_bytes().get(start..)?)?;
    let name = text.get(start + 1..end)?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name { text.get(start..=end) } else { None }
}

/// Whether the last segment of a path names an image, style sheet, script or archive, or a file for crawlers.
pub(super) fn is_not_page(path: &str) -> bool {
    let bytes = path.as_bytes();
    let tail = match bytes.last_chunk::<5>() {
        Some(tail) if !tail.contains(&b'.') => return false,
        Some(tail) => tail,
        None => bytes,
    };
    let Some(dot) = tail.iter().rposition(|&byte| byte == b'.') else { return false };
    // At most four bytes follow a dot in `tail`. An array is compared faster than a slice.
    let mut lower = [0; 4];
    for (lower, byte) in lower.iter_mut().zip(tail.iter().skip(dot + 1)) {
        *lower = byte.to_ascii_lowercase();
    }
    match &lower {
        b"jpg\0" | b"jpeg" | b"png\0" | b"gif\0" | b"webp" | b"avif" | b"svg\0" | b"ico\0" | b"bmp\0" | b"tif\0"
        | b"tiff" | b"css\0" | b"js\0\0" | b"mjs\0" | b"zip\0" | b"gz\0\0" | b"tgz\0" | b"tar\0" | b"rar\0"
        | b"7z\0\0" | b"bz2\0" | b"xz\0\0" => true,
        b"txt\0" => last_segment(path).eq_ignore_ascii_case("robots.txt"),
        b"xml\0" => names_sitemap(last_segment(path)),
        _ => false,
    }
}

/// Whether a file name contains `sitemap`, as those of generators do.
fn names_sitemap(name: &str) -> bool {
    const WORD: &[u8] = b"sitemap";
    name.as_bytes().windows(WORD.len()).any(|part| part.eq_ignore_ascii_case(WORD))
}

fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a text contains UTF-8 that was read as Latin-1 or windows-1252.
pub(super) fn is_mojibake(text: &str) -> bool {
    const STACK: usize = 512;
    let (mut stack, mut heap) = ([0; STACK], Vec::new());
    let decoded = if text.len() <= STACK {
        &mut stack[..]
    } else {
        heap.resize(text.len(), 0);
        &mut heap[..]
    };
    let mut rest = text.as_bytes();
    let (mut length, mut high) = (0, 0);
    while let ([first, tail @ ..], Some(slot)) = (rest, decoded.get_mut(length)) {
        (*slot, rest) = match (first, tail) {
            (b'%', [high, low, behind @ ..]) => match (chars::hex(*high), chars::hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, behind),
                _ => (*first, tail),
            },
            _ => (*first, tail),
        };
        high |= *slot;
        length += 1;
    }
    high >= 0x80
        && decoded.get(..length).is_some_and(|decoded| std::str::from_utf8(decoded).is_ok_and(has_misread_utf8))
}

/// Whether a run of characters, each taken as one byte, is a multi-byte character of UTF-8.
fn has_misread_utf8(text: &str) -> bool {
    let mut rest = text.chars();
    while let Some(first) = rest.next() {
        let length = match first as u32 {
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => continue,
        };
        let mut follow = rest.clone();
        if (0..length).all(|_| follow.next().is_some_and(is_misread_continuation)) {
            return true;
        }
    }
    false
}

/// The characters that windows-1252 has in the place of the control characters 0x80 to 0x9F of Latin-1.
const WINDOWS_1252: &str = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";

/// Whether a character is that of a byte 0x80 to 0xBF in windows-1252 or Latin-1.
fn is_misread_continuation(letter: char) -> bool {
    matches!(letter, '\u{80}'..='\u{bf}') || WINDOWS_1252.contains(letter)
}

/// Whether a byte is the first one, in UTF-8, of a character of [`is_misread_continuation`].
pub(super) const fn starts_misread_continuation(byte: u16) -> bool {
    matches!(byte, 0xc2 | 0xc5 | 0xc6 | 0xcb | 0xe2)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(text: &str) -> String {
        let codes: Vec<_> = validate(text).codes().map(|code| code.trim_start_matches("loc-")).collect();
        codes.join(" ")
    }

    #[test]
    fn every_misread_continuation_starts_with_a_known_byte() {
        for letter in ('\u{80}'..='\u{bf}').chain(WINDOWS_1252.chars()) {
            let first = letter.to_string().as_bytes()[0];
            assert!(is_misread_continuation(letter) && starts_misread_continuation(u16::from(first)), "{letter}");
        }
    }

    #[test]
    fn faults_of_values() {
        for (text, expected) in [
            ("", ""),
            ("https://www.example.com/", ""),
            ("https://www.example.com/Catalog/Item-12.html?item=12&desc=vacation_hawaii", ""),
            ("http://example.com/a;v=1/~b/c,d/(e)/!f'g*h+i@j:k", ""),
            ("https://example.com:8080/x", ""),
            ("https://example.com/nullable/undefined-behaviour?x=nullify", ""),
            ("https://example.com/.well-known/x", ""),
            ("https://example.com/a...b/..c/d..", ""),
            ("https://example.com/%C3%A9t%C3%A9", ""),
            ("https://example.com/a%2Fb", ""),
            ("https://example.com/a?b[]=1", ""),
            ("https://example.com/a?u=http://b.com//c", ""),
            ("/x", "not-absolute"),
            ("www.example.com/x", "not-absolute"),
            ("ftp://example.com/x", "scheme"),
            ("htp://example.com/x", "scheme-typo"),
            ("https:///example.com/x", "scheme-typo"),
            ("http://https://example.com/x", "scheme-typo"),
            ("http://", "no-host too-short"),
            ("http://?x=12345", "no-host"),
            ("https://:80/abcdef", "no-host"),
            ("https://-a.com/x", "host-invalid"),
            ("https://example.com:x/", "host-invalid"),
            ("http://1.2.3/abcdef", "host-invalid"),
            ("http://http/abc", "host-not-public"),
            ("http://localhost:3000/x", "host-not-public"),
            ("https://user:pw@example.com/", "userinfo"),
            ("https://example.com/a b", "inner-whitespace"),
            ("https://example.com/a\n  b", "inner-whitespace"),
            ("https://example.com/a\"b", "illegal-char"),
            ("https://example.com/a\u{7}b", "illegal-char"),
            ("https://example.com/a%0A", "illegal-char"),
            ("https://example.com/a%00b", "illegal-char"),
            ("https://example.com/a?b=%7f", "illegal-char"),
            ("https://example.com/a%20b", ""),
            ("https://example.com/100%", "bad-percent"),
            ("https://example.com/%zz", "bad-percent"),
            ("https://example.com/é", "not-ascii"),
            ("https://münchen.de/", "not-ascii"),
            ("https://example.com/Ã©", "not-ascii mojibake"),
            ("https://example.com/donâ€™t", "not-ascii mojibake"),
            ("https://example.com/S%C3%83%C2%A3o", "mojibake"),
            ("https://example.com/%E9t%E9", ""),
            ("https://example.com/it%92s", ""),
            ("http://t.co/", ""),
            ("http://t.co", "too-short missing-root-slash"),
            ("https://example.com", "missing-root-slash"),
            ("https://example.com?a=b", "missing-root-slash"),
            ("https://example.com/#top", "fragment"),
            ("https://example.com:443/", "default-port"),
            ("http://example.com:/", "default-port"),
            ("http://example.com:443/", ""),
            ("https://example.com/a/../b", "dot-segments"),
            ("https://example.com/a/%2e%2E/b", "dot-segments"),
            ("https://example.com/a/.", "dot-segments"),
            ("https://example.com//a", "double-slash"),
            ("HTTPS://example.com/", "uppercase-host"),
            ("httpS://example.com/", "uppercase-host"),
            ("https://Example.com/", "uppercase-host"),
            ("https://U:P@example.com/", "userinfo"),
            ("https://example.com/a;jsessionid=12", "session-id"),
            ("https://example.com/a?utm_source=x", "tracking-param"),
            ("https://example.com/wp-admin/", "private"),
            ("https://example.com/preview/undefined", "private template-residue"),
            ("https://example.com/?api_key=a&sid=0123456789abcdef", "session-id private"),
            ("https://example.com/{{slug}}", "illegal-char template-residue"),
            ("https://example.com/{slug}", "illegal-char template-residue"),
            ("https://example.com/undefined", "template-residue"),
            ("https://example.com/null/x", "template-residue"),
            ("https://example.com/a?b=NaN&c", "template-residue"),
            ("https://example.com/[object%20Object]", "template-residue"),
            ("https://example.com/%s/x", "bad-percent template-residue"),
            ("https://example.com/a.JPG", "not-page"),
            ("https://example.com/a.tar.gz?x", "not-page"),
            ("https://example.com/sitemap-2.xml", "not-page"),
            ("https://example.com/robots.txt", "not-page"),
            ("https://example.com/notes.txt", ""),
            ("https://example.com/feed.xml", ""),
            ("https://example.com/a?b=c.jpg", ""),
        ] {
            assert_eq!(codes(text), expected, "{text}");
        }
    }

    #[test]
    fn length_is_counted_in_characters_below_2048() {
        let of = |length: usize, filler: &str| {
            let start = "https://example.com/";
            format!("{start}{}", filler.repeat(length - start.len()))
        };
        assert!(!validate(&of(2_047, "a")).has(Fault::TooLongByOne));
        assert!(validate(&of(2_048, "a")).has(Fault::TooLongByOne) && !validate(&of(2_048, "a")).has(Fault::TooLong));
        assert!(validate(&of(2_049, "a")).has(Fault::TooLong));
        let wide = validate(&of(2_047, "é"));
        assert!(!wide.has(Fault::TooLong) && wide.has(Fault::TooLongEncoded));
        assert!(!validate(&of(300, "é")).has(Fault::TooLongEncoded));
        assert!(!validate(&of(1_024, "a")).has(Fault::TooLongYandex));
        assert!(validate(&of(1_025, "a")).has(Fault::TooLongYandex));
        for (tail, expected) in [("%D0%BF", false), ("%20", false), ("%D0%BFa", true), ("%zz", true)] {
            let long = of(1_023, "a") + tail;
            assert_eq!(validate(&long).has(Fault::TooLongYandex), expected, "{tail}");
        }
        assert!(!validate(&of(256, "a")).has(Fault::TooLongBaidu));
        assert!(validate(&of(257, "a")).has(Fault::TooLongBaidu));
    }

    /// The same rules without guards.
    fn validate_unguarded(text: &str) -> Faults {
        let mut location = Location::of(text);
        location.classes = !0;
        let mut faults = location.validate();
        // Bits that are results themselves, not guards.
        for (fault, holds) in [
            (
                Fault::Fragment,
                text.contains('#')
                    && location.scheme.is_some()
                    && !faults.has(Fault::NoHost)
                    && !faults.has(Fault::SchemeTypo),
            ),
            (Fault::InnerWhitespace, text.contains([' ', '\t', '\n', '\r'])),
            (
                Fault::IllegalChar,
                text.chars().any(|c| c.is_ascii_control() && !"\t\n\r".contains(c) || "\"<>\\^`{|}".contains(c))
                    || encoded_control(text).is_some(),
            ),
            (Fault::NotAscii, !text.is_ascii()),
        ] {
            faults = faults.minus(Faults::only(fault));
            faults.insert_if(fault, holds);
        }
        faults
    }

    pub(crate) fn urlish() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z0-9._~-]{1,6}".prop_map(String::from),
            4 => prop::sample::select(vec![
                "/", "/", "//", "?", "#", "&", "=", ":", "@", ".", "..", "/./", "/../", ";", "%", "%2e", "%41", "%C3%A9",
                "%e9", "%zz", " ", "\n", "\"", "{{", "é", "Ã©", "ü", "\\", "[", "]", "null", "undefined", "NaN", "utm_x=1",
                "sid=2", "wp-admin", "phpMyAdmin", ".env", "preview", "api_key=1", "Staging", "%CE%B1%CF%81", "%C3%83%C2%A9", ";jsessionid=3", "(S(x))", ".jpg", "[object", "%s", ":80", ":443", "www.", "\u{200b}", "%25", "%%34",
            ]).prop_map(String::from),
        ];
        let start = prop::sample::select(vec![
            "http://e.com",
            "https://e.com/",
            "https://www.Example.com/",
            "HTTP://e.com:80",
            "http://",
            "https://ü.de/",
            "https:///",
            "http:/",
            "",
            "/",
            "https://u@e.com:443",
            "ftp://",
            "http://1.2.3.4/",
            "http://https://",
            "https://[::1]",
        ]);
        (start, prop::collection::vec(piece, 0..9)).prop_map(|(start, pieces)| start.to_owned() + &pieces.concat())
    }

    proptest! {
        #[test]
        fn validation_never_fails(text in any::<String>()) {
            validate(&text);
        }

        #[test]
        fn guards_change_no_result(text in urlish()) {
            prop_assert_eq!(validate(&text), validate_unguarded(&text));
        }
    }
}
