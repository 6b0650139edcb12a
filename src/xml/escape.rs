//! Escapes and decodes XML text.
//!
//! Only the five predefined entities and character references are decoded. Everything else, including entities of a
//! DOCTYPE, stays text: nothing is expanded or fetched.

use super::markup::{self, Kind};
use memchr::memchr;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes a value for element text: all five entities, as sitemaps.org requires ("Entity escaping"), and control
/// characters as references, since a raw CR would be read as LF (XML 1.0, 2.11) and editors do not preserve them.
pub fn escape(value: &str) -> Cow<'_, str> {
    if !has_candidate(value.as_bytes()) {
        return Cow::Borrowed(value);
    }
    let mut out = String::with_capacity(value.len() + 16);
    let mut copied = 0;
    for at in candidates(value.as_bytes()) {
        let Some(character) = value.get(at..).and_then(|rest| rest.chars().next()) else { continue };
        let reference = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\'' => "&apos;",
            '"' => "&quot;",
            control if needs_numeric_reference(control) => "",
            _ => continue,
        };
        out.push_str(value.get(copied..at).unwrap_or_default());
        copied = at + character.len_utf8();
        if reference.is_empty() {
            let _ = write!(out, "&#{};", character as u32);
        } else {
            out.push_str(reference);
        }
    }
    if copied == 0 {
        return Cow::Borrowed(value);
    }
    out.push_str(value.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether [`escape`] may replace a character that begins with this byte. C1 control characters begin with 0xC2.
const fn may_escape(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'\'' | b'"' | ..b' ' | 0x7F | 0xC2)
}

/// Whether any byte [`may_escape`].
fn has_candidate(bytes: &[u8]) -> bool {
    // Without an early exit the compiler vectorises this loop.
    bytes.iter().fold(false, |found, byte| found | may_escape(*byte))
}

/// The offsets of the bytes that [`may_escape`]. Only chunks that have one are searched byte by byte.
fn candidates(bytes: &[u8]) -> impl Iterator<Item = usize> {
    const CHUNK: usize = 16;
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    let chunks = chunks.iter().map(|chunk| &chunk[..]).chain([rest]).zip((0..).step_by(CHUNK));
    let chunks = chunks.filter(|(chunk, _)| has_candidate(chunk));
    chunks.flat_map(|(chunk, start)| (start..).zip(chunk).filter(|(_, byte)| may_escape(**byte)).map(|(at, _)| at))
}

/// Length in bytes of a value escaped by [`escape`].
pub fn escaped_len(value: &str) -> usize {
    let len = |character: char| match character {
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        '\'' | '"' => "&apos;".len(),
        control if needs_numeric_reference(control) => match control as u32 {
            0..10 => "&#9;".len(),
            10..100 => "&#13;".len(),
            _ => "&#133;".len(),
        },
        other => other.len_utf8(),
    };
    value.chars().map(len).sum()
}

/// Whether a character is a control character that XML allows; it is written as a numeric reference.
fn needs_numeric_reference(character: char) -> bool {
    character.is_control() && is_xml_char(character)
}

/// Whether XML 1.0 allows the character (production 2, `Char`).
pub const fn is_xml_char(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Decodes the reference at the start of `bytes` (which begins with `&`): the character, and the length of the
/// reference in bytes. `None` if it is neither a predefined entity nor a character reference.
pub fn reference(bytes: &[u8]) -> Option<(char, usize)> {
    if bytes.get(1) == Some(&b'#') {
        let len = number_len(bytes)?;
        return Some((number(bytes.get(2..len - 1)?)?, len));
    }
    match bytes {
        [b'&', b'a', b'm', b'p', b';', ..] => Some(('&', "&amp;".len())),
        [b'&', b'l', b't', b';', ..] => Some(('<', "&lt;".len())),
        [b'&', b'g', b't', b';', ..] => Some(('>', "&gt;".len())),
        [b'&', b'a', b'p', b'o', b's', b';', ..] => Some(('\'', "&apos;".len())),
        [b'&', b'q', b'u', b'o', b't', b';', ..] => Some(('"', "&quot;".len())),
        _ => None,
    }
}

/// Length of the numeric reference (XML 1.0, production 66) at the start of `bytes`, even if the number is no
/// character. It may have any number of leading zeros.
pub fn number_len(bytes: &[u8]) -> Option<usize> {
    let from = bytes.strip_prefix(b"&#")?;
    let (prefix, is_digit): (usize, fn(&u8) -> bool) =
        if from.first() == Some(&b'x') { (1, u8::is_ascii_hexdigit) } else { (0, u8::is_ascii_digit) };
    let count = from.get(prefix..)?.iter().take_while(|byte| is_digit(byte)).count();
    let end = prefix + count;
    (count > 0 && from.get(end) == Some(&b';')).then_some("&#".len() + end + 1)
}

/// The character with a number: decimal digits, or `x` and hexadecimal digits.
fn number(text: &[u8]) -> Option<char> {
    let (digits, radix) = text.strip_prefix(b"x").map_or((text, 10), |digits| (digits, 16));
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    let digits = digits.get(zeros..)?;
    let value =
        if digits.is_empty() { 0 } else { u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()? };
    char::from_u32(value)
}

/// The offset of the first `&` that does not begin a reference to a character that XML allows.
pub fn first_bad_reference(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr(b'&', text.get(at..)?) {
        match reference(text.get(at + found..)?) {
            Some((character, len)) if is_xml_char(character) => at += found + len,
            _ => return Some(at + found),
        }
    }
    None
}

/// Bytes as text, with U+FFFD for invalid UTF-8. For short valid text, the common case, `from_utf8` is several times
/// faster than `from_utf8_lossy`.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Decodes character data without markup: references become characters.
pub fn decode(text: &[u8]) -> Cow<'_, str> {
    match lossy(text) {
        Cow::Borrowed(text) => decode_str(text),
        Cow::Owned(text) => Cow::Owned(decode_str(&text).into_owned()),
    }
}

/// [`decode`] for a text that is known to be UTF-8.
pub(crate) fn decode_str(text: &str) -> Cow<'_, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    decode_into(text, &mut out);
    Cow::Owned(out)
}

/// [`decode`] into a buffer, whose content is replaced. Returns whether the decoded text may have a reference again, as it
/// has if the text was escaped twice.
pub(crate) fn decode_into(text: &str, out: &mut String) -> bool {
    out.clear();
    out.reserve(text.len());
    let (mut rest, mut may_have_reference) = (text, false);
    while let Some((before, from_reference)) = memchr(b'&', rest.as_bytes()).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let (character, len) = reference(from_reference.as_bytes()).unwrap_or(('&', 1));
        out.push(character);
        rest = from_reference.get(len..).unwrap_or_default();
        may_have_reference |= character == '&' && may_follow_ampersand(rest.as_bytes().first());
    }
    out.push_str(rest);
    may_have_reference
}

/// Whether this byte, after a decoded `&`, may continue a reference: it begins the name of a predefined entity or a number,
/// or another reference, which may stand for such a byte.
pub(crate) const fn may_follow_ampersand(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'a' | b'l' | b'g' | b'q' | b'#' | b'&'))
}

/// Decodes the content of an element: text and CDATA are joined; comments, instructions and tags are removed.
pub fn decode_mixed(inner: &[u8]) -> String {
    let (mut out, mut at) = (String::with_capacity(inner.len()), 0);
    while let Some(markup) = markup::next(inner, at) {
        out.push_str(&decode(inner.get(at..markup.start).unwrap_or_default()));
        match markup.kind {
            Kind::Cdata => out.push_str(&lossy(inner.get(markup.start + 9..markup.end - 3).unwrap_or_default())),
            Kind::Stray => {
                out.push_str(&lossy(inner.get(markup.start..markup.end).unwrap_or_default()));
            }
            _ => {}
        }
        at = markup.end;
    }
    out.push_str(&decode(inner.get(at..).unwrap_or_default()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_references_are_decoded() {
        let table = [
            ("plain", "plain"),
            ("a&amp;b&lt;&gt;&apos;&quot;", "a&b<>'\""),
            ("&#65;&#x42;&#x1F600;", "AB😀"),
            ("a&b", "a&b"),
            ("&copy=2", "&copy=2"),
            ("&eacute;", "&eacute;"),
            ("&amp;amp;", "&amp;"),
            ("&#xD800;&#x110000;&#;&#+65;", "&#xD800;&#x110000;&#;&#+65;"),
        ];
        for (text, expected) in table {
            assert_eq!(decode(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn mixed_content_is_joined() {
        let table = [
            ("a<![CDATA[b&c]]>d", "ab&cd"),
            ("a<!-- x -->b", "ab"),
            ("<![CDATA[]]>", ""),
            ("a<?p q?>b", "ab"),
            ("a < b", "a < b"),
        ];
        for (text, expected) in table {
            assert_eq!(decode_mixed(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_first_bad_reference_is_found() {
        for (text, expected) in
            [("a&amp;b", None), ("a&b", Some(1)), ("&amp;&x;", Some(5)), ("&#0;", Some(0)), ("&#9;", None)]
        {
            assert_eq!(first_bad_reference(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decoding_an_escaped_value_gives_the_value(value in "(.|[&<>'\"\u{1}\u{9}\u{7f}-\u{a0}\u{e2}]){0,40}") {
            let escaped = escape(&value);
            prop_assert_eq!(decode(escaped.as_bytes()).into_owned(), value.clone());
            prop_assert_eq!(escaped_len(&value), escaped.len());
            prop_assert!(!escaped.contains(|c: char| c == '<' || needs_numeric_reference(c)));
            prop_assert!(first_bad_reference(escaped.as_bytes()).is_none());
        }

        #[test]
        fn a_reference_in_a_decoded_text_is_announced(
            parts in prop::collection::vec(
                prop::sample::select(vec!["&amp;", "&#38;", "&", "&#97;", "&#x23;", "amp;", "mp;", "gt;", "#38;", "38;", "b"]), 0..6,
            ),
        ) {
            let mut decoded = String::new();
            let may_have_reference = decode_into(&parts.concat(), &mut decoded);
            let has_reference = decoded.match_indices('&').any(|(at, _)| reference(&decoded.as_bytes()[at..]).is_some());
            prop_assert!(may_have_reference || !has_reference, "{decoded}");
        }
    }
}
