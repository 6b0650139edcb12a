//! Character classes of the bytes of a URL and of short sequences in it.
//!
//! One pass ORs the classes of all bytes together, so that rules whose class is absent are skipped. A class never
//! decides that something is wrong, only whether a rule must be checked.

use fearless_simd::prelude::{SimdInt, SimdMask};
use fearless_simd::{Level, Simd, dispatch, u8x16, u8x32};

/// Classes of one byte or of all bytes of a text, and of short sequences in it, as a bit set.
pub(super) type Classes = u32;

/// `A` to `Z`; in the result of a survey without the two bytes after a `%`.
pub(super) const UPPER: Classes = 1;
/// `%`.
pub(super) const PERCENT: Classes = 1 << 1;
/// `?`.
pub(super) const QUERY: Classes = 1 << 2;
/// `#`.
pub(super) const HASH: Classes = 1 << 3;
/// Space, tab, line feed, carriage return.
pub(super) const SPACE: Classes = 1 << 4;
/// ASCII characters except white space that RFC 3986 never allows raw.
pub(super) const ILLEGAL: Classes = 1 << 5;
/// Bytes of characters beyond ASCII.
pub(super) const HIGH: Classes = 1 << 6;
/// `:`, `@`, `[`, `]`: user information, port, IP literal; `[object` elsewhere.
pub(super) const SPECIAL: Classes = 1 << 7;
/// `;` and `(`: start of session identifiers outside of a query.
pub(super) const SESSION: Classes = 1 << 8;
/// `.`: the last segment may have an extension.
pub(super) const DOT: Classes = 1 << 9;
/// The sequence `//`.
pub(super) const DOUBLE_SLASH: Classes = 1 << 10;
/// The sequence `/.`.
pub(super) const SLASH_DOT: Classes = 1 << 11;
/// `/` or `=` and the first two letters of `null`, `NaN` or `undefined`: left-overs of a template.
pub(super) const RESIDUE_START: Classes = 1 << 12;
/// `/wp` or `/ph`, in either case: the start of `wp-admin` or `phpmyadmin`.
pub(super) const PRIVATE_START: Classes = 1 << 13;
/// A lower-case letter directly after `%` or one byte later, where it may be the digit of an escape.
pub(super) const LOWER_ESCAPE: Classes = 1 << 14;
/// `{`, which is also [`ILLEGAL`]: it may start a placeholder.
pub(super) const BRACE: Classes = 1 << 15;

const TABLE: [Classes; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = classify(byte as u8);
        byte += 1;
    }
    table
};

const fn classify(byte: u8) -> Classes {
    match byte {
        b'.' => DOT,
        b'A'..=b'Z' => UPPER,
        b'%' => PERCENT,
        b'?' => QUERY,
        b'#' => HASH,
        b' ' | b'\t' | b'\n' | b'\r' => SPACE,
        b'{' => ILLEGAL | BRACE,
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|' | b'}' | 0..=0x1f | 0x7f => ILLEGAL,
        0x80.. => HIGH,
        b':' | b'@' | b'[' | b']' => SPECIAL,
        b';' | b'(' => SESSION,
        _ => 0,
    }
}

/// The classes of one byte.
pub(super) const fn classes_of(byte: u8) -> Classes {
    TABLE[byte as usize]
}

/// The classes of one character.
pub(super) const fn classes_of_char(letter: char) -> Classes {
    if letter.is_ascii() { classes_of(letter as u8) } else { HIGH }
}

/// The result of one pass over a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Survey {
    /// The classes of all bytes together, and of the sequences.
    pub(super) classes: Classes,
    /// Number of slashes.
    pub(super) slashes: u32,
    /// End of the path: the offset of the first `?` or `#`; the length of the text if there is none.
    pub(super) path_end: usize,
}

/// Surveys the bytes from an offset on. Sequences may start before the offset.
#[inline]
pub(super) fn survey(text: &[u8], from: usize) -> Survey {
    survey_with(text, from, Level::new())
}

/// [`survey`] with these vector instructions.
fn survey_with(text: &[u8], from: usize, level: Level) -> Survey {
    // An `Option` of a survey would be returned in memory, and read there in other widths than it was written.
    let without_vectors = || survey_any(text, from);
    if from < BEFORE {
        return without_vectors();
    }
    dispatch!(level, simd => survey_vectors::<_, u8x32<_>>(simd, text, from)
        .or_else(|| survey_vectors::<_, u8x16<_>>(simd, text, from)).unwrap_or_else(without_vectors))
}

/// [`survey`] of any text, byte by byte.
fn survey_any(text: &[u8], from: usize) -> Survey {
    let before = |distance: usize| from.checked_sub(distance).and_then(|at| text.get(at)).copied().unwrap_or(0);
    let (mut second_last, mut last) = (before(2), before(1));
    let (mut classes, mut slashes) = (0, 0);
    let rest = text.get(from..).unwrap_or_default();
    for &byte in rest {
        let may_be_in_sequence = [second_last, last].iter().any(|byte| matches!(byte, b'/' | b'=' | b'%'));
        classes |= if may_be_in_sequence { classes_after(second_last, last, byte) } else { classes_of(byte) };
        slashes += u32::from(byte == b'/');
        (second_last, last) = (last, byte);
    }
    let path_end = rest.iter().position(|byte| matches!(byte, b'?' | b'#')).map_or(text.len(), |at| from + at);
    Survey { classes, slashes, path_end }
}

/// The classes of a byte after two others, and of the sequence that ends with it.
const fn classes_after(second_last: u8, last: u8, byte: u8) -> Classes {
    let sequence = match [second_last, last, byte] {
        [_, b'/', b'/'] => DOUBLE_SLASH,
        [_, b'/', b'.'] => SLASH_DOT,
        [b'/' | b'=', b'n', b'u'] | [b'/' | b'=', b'u', b'n'] | [b'/' | b'=', b'N', b'a'] => RESIDUE_START,
        [b'/', b'w' | b'W', b'p' | b'P'] | [b'/', b'p' | b'P', b'h' | b'H'] => PRIVATE_START,
        _ => 0,
    };
    if last != b'%' && second_last != b'%' {
        return classes_of(byte) | sequence;
    }
    let case = if byte.is_ascii_lowercase() { LOWER_ESCAPE } else { 0 };
    (classes_of(byte) & !UPPER) | case | sequence
}

/// Number of bytes of a vector that are not classified, but may begin a sequence: sequences have up to three bytes.
const BEFORE: usize = 2;

/// [`survey`] with vectors of a type, of a text that has at least the length of one, from its third byte on or later; `None`
/// for any other. A comparison of all bytes of a vector gives a mask with a bit for each, so that a shifted mask says what
/// the bytes before them are.
#[allow(clippy::inline_always)] // otherwise it is not compiled for the instructions that `dispatch` selects
#[inline(always)]
fn survey_vectors<S: Simd, V: SimdInt<S, Element = u8>>(simd: S, text: &[u8], from: usize) -> Option<Survey> {
    let last_start = text.len().checked_sub(V::LEN)?;
    let (mut upper, mut percent, mut dot) = (0, 0, 0);
    let (mut classes, mut slashes, mut path_end) = (0, 0, text.len());
    let mut at = from;
    while at < text.len() {
        // The last vector ends with the text; the first of its bytes were classified before.
        let start = (at - BEFORE).min(last_start);
        let bytes = V::from_slice(simd, text.get(start..start + V::LEN)?);
        let new = u64::MAX << (at - start);
        let lower = bytes | 0x20;
        let is = |byte: u8| bytes.simd_eq(byte);
        let is_letter = |letter: u8| lower.simd_eq(letter);
        let (is_slash, is_any_letter) = (is(b'/'), (lower - b'a').simd_lt(26));
        // Bytes without a class or whose class is found by other comparisons. From `)` to `9`: `)`, `*`, `+`, the comma,
        // `-`, `.`, `/` and the digits.
        let is_common = is_any_letter | (bytes - b')').simd_lt(17) | (bytes - b'$').simd_lt(4) | is(b'=') | is(b'_');
        let (slash_mask, dot_mask, percent_mask) =
            (is_slash.to_bitmask(), is(b'.').to_bitmask(), is(b'%').to_bitmask());
        let (after_slash, after_separator) = (slash_mask << 1, (is_slash | is(b'=')).to_bitmask() << 1);
        // The first two letters of the sequences are two of these.
        let in_both = is_letter(b'n') | is_letter(b'u') | is_letter(b'p');
        let (first, second) = (in_both | is_letter(b'w'), in_both | is_letter(b'a') | is_letter(b'h'));
        if (after_separator & first.to_bitmask()) << 1 & second.to_bitmask() != 0 {
            let pairs = |first: u8, second: u8| is(first).to_bitmask() << 1 & is(second).to_bitmask();
            let letter_pairs =
                |first: u8, second: u8| is_letter(first).to_bitmask() << 1 & is_letter(second).to_bitmask();
            let residue = after_separator << 1 & (pairs(b'n', b'u') | pairs(b'u', b'n') | pairs(b'N', b'a'));
            let private = after_slash << 1 & (letter_pairs(b'w', b'p') | letter_pairs(b'p', b'h'));
            classes |= class_if(residue & new, RESIDUE_START) | class_if(private & new, PRIVATE_START);
        }
        let mut upper_mask = (bytes - b'A').simd_lt(26).to_bitmask();
        if percent_mask != 0 {
            let in_escape = percent_mask << 1 | percent_mask << 2;
            let lower_mask = is_any_letter.to_bitmask() & !upper_mask;
            classes |= class_if(lower_mask & in_escape & new, LOWER_ESCAPE);
            upper_mask &= !in_escape;
        }
        upper |= upper_mask & new;
        percent |= percent_mask & new;
        dot |= dot_mask & new;
        classes |=
            class_if(after_slash & slash_mask & new, DOUBLE_SLASH) | class_if(after_slash & dot_mask & new, SLASH_DOT);
        let uncommon_mask = (!is_common).to_bitmask() & new;
        if uncommon_mask != 0 {
            let high_mask = bytes.simd_ge(0x80).to_bitmask();
            classes |= class_if(uncommon_mask & high_mask, HIGH);
            for at in bits(uncommon_mask & !high_mask).map(|bit| start + bit) {
                let class = text.get(at).map_or(0, |byte| classes_of(*byte));
                classes |= class;
                if class & (QUERY | HASH) != 0 {
                    path_end = path_end.min(at);
                }
            }
        }
        slashes += (slash_mask & new).count_ones();
        at = start + V::LEN;
    }
    classes |= class_if(upper, UPPER) | class_if(percent, PERCENT) | class_if(dot, DOT);
    Some(Survey { classes, slashes, path_end })
}

/// The positions of the bits of a mask, in ascending order.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let position = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        position
    })
}

/// A class if a mask has any bit.
const fn class_if(mask: u64, class: Classes) -> Classes {
    if mask == 0 { 0 } else { class }
}

/// Whether RFC 3986 allows the raw byte somewhere behind the authority. `%` does not count, since it starts an encoded
/// byte.
pub(super) const fn is_plain(byte: u8) -> bool {
    classes_of(byte) & (SPACE | ILLEGAL | HIGH | PERCENT) == 0
}

/// Number of bytes before the first that is not [plain](is_plain).
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    plain_len_of_long(bytes, Level::new())
        .unwrap_or_else(|| bytes.iter().position(|byte| !is_plain(*byte)).unwrap_or(bytes.len()))
}

/// [`plain_len`] of a text that has at least the length of a vector; `None` if it is shorter.
fn plain_len_of_long(bytes: &[u8], level: Level) -> Option<usize> {
    dispatch!(level, simd => plain_len_in_vectors::<_, u8x32<_>>(simd, bytes)
        .or_else(|| plain_len_in_vectors::<_, u8x16<_>>(simd, bytes)))
}

/// [`plain_len_of_long`] with vectors of a type.
#[allow(clippy::inline_always)] // as [`survey_vectors`]
#[inline(always)]
fn plain_len_in_vectors<S: Simd, V: SimdInt<S, Element = u8>>(simd: S, bytes: &[u8]) -> Option<usize> {
    let last_start = bytes.len().checked_sub(V::LEN)?;
    let mut start = 0;
    loop {
        let lanes = V::from_slice(simd, bytes.get(start..start + V::LEN)?);
        let is_printable = (lanes - b'!').simd_lt(b'\x7f' - b'!');
        let is_plain = b"\"%<>\\^`{|}".iter().fold(is_printable, |is_plain, other| is_plain & !lanes.simd_eq(*other));
        let others = (!is_plain).to_bitmask();
        if others != 0 {
            return Some(start + others.trailing_zeros() as usize);
        }
        if start == last_start {
            return Some(bytes.len());
        }
        // The last vector ends with the text; the first of its bytes are plain.
        start = (start + V::LEN).min(last_start);
    }
}

/// "Unreserved" of RFC 3986, 2.3: the same character whether encoded or not.
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The value of a hexadecimal digit.
pub(super) const fn hex(byte: u8) -> Option<u8> {
    match HEX[byte as usize] {
        NO_HEX => None,
        value => Some(value),
    }
}

/// The value of a hexadecimal digit. Any other byte has one above 255, so that `first << 4 | second` is a byte only for
/// two digits.
pub(super) const fn wide_hex(byte: u8) -> u16 {
    WIDE_HEX[byte as usize]
}

const WIDE_HEX: [u16; 256] = {
    let mut table = [0x100; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u16;
        table[b"0123456789ABCDEF"[value] as usize] = value as u16;
        value += 1;
    }
    table
};

const NO_HEX: u8 = 16;
const HEX: [u8; 256] = {
    let mut table = [NO_HEX; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// The byte that is encoded as `%xy` at position `at`.
pub(super) fn percent_byte(bytes: &[u8], at: usize) -> Option<u8> {
    match bytes.get(at..at + 3)? {
        [b'%', high, low] => Some(hex(*high)? << 4 | hex(*low)?),
        _ => None,
    }
}

/// The percent-decoded bytes of a part of a URL. A `%` without two digits is kept.
pub(crate) fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let decoded = percent_byte(bytes, at);
        out.push(decoded.unwrap_or(*byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    out
}

/// `%XY`, as ASCII.
pub(super) const fn escape(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[(byte >> 4) as usize], DIGITS[(byte & 15) as usize]]
}

/// Appends `%XY`.
pub(super) fn push_percent(out: &mut String, byte: u8) {
    for character in escape(byte) {
        out.push(char::from(character));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEQUENCES: Classes = DOUBLE_SLASH | SLASH_DOT | RESIDUE_START | PRIVATE_START;

    #[test]
    fn sequences_are_found_only_after_a_slash_or_an_equals_sign() {
        for (text, expected) in [
            ("/a/b", 0),
            ("/a//b", DOUBLE_SLASH),
            ("/a/.b", SLASH_DOT),
            ("/a.b", 0),
            ("/null", RESIDUE_START),
            ("?a=NaN", RESIDUE_START),
            ("?a=undefined", RESIDUE_START),
            ("/a-null", 0),
            ("/news/users", 0),
            ("/nu", RESIDUE_START),
            ("/Nu/n", 0),
            ("=/", 0),
            ("/a/WP-admin", PRIVATE_START),
            ("/phpmyadmin", PRIVATE_START),
            ("=wp", 0),
            ("/w", 0),
        ] {
            assert_eq!(survey(text.as_bytes(), 0).classes & SEQUENCES, expected, "{text}");
            let url = format!("https://example.com{text}");
            assert_eq!(survey(url.as_bytes(), 19).classes & SEQUENCES, expected, "{url}");
        }
    }

    /// Levels of vector instructions that this CPU supports.
    fn levels() -> Vec<Level> {
        let mut levels = vec![Level::new(), Level::baseline()];
        #[cfg(target_arch = "x86_64")]
        levels.extend(Level::new().as_avx2().map(Simd::level));
        levels
    }

    proptest! {
        #[test]
        fn both_surveys_agree(
            text in "([a-zA-Z0-9._~-]{0,9}(/|//|=|%C3|%c3|%Ca|\\?|&|[/=][npuwNPUW.][aunphAUNPH]|[!$\\()*+,;:@ é\"#]?)){0,9}",
        ) {
            let bytes = text.as_bytes();
            for from in 0..=bytes.len() {
                let expected = survey_any(bytes, from);
                prop_assert_eq!(survey(bytes, from), expected);
                for level in levels() {
                    prop_assert_eq!(survey_with(bytes, from, level), expected, "{:?}", level);
                    let in_vectors = dispatch!(level, simd => survey_vectors::<_, u8x16<_>>(simd, bytes, from.max(BEFORE)));
                    prop_assert_eq!(in_vectors.is_some(), bytes.len() >= 16, "{:?}", level);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_plain_bytes_are_counted(plain in "[!-~]{0,40}", rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let bytes = [plain.as_bytes(), &rest].concat();
            let expected = bytes.iter().take_while(|byte| is_plain(**byte)).count();
            prop_assert_eq!(plain_len(&bytes), expected);
            for level in levels() {
                prop_assert_eq!(plain_len_of_long(&bytes, level).unwrap_or(expected), expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn percent_bytes() {
        for (text, expected) in [("%41", Some(b'A')), ("%c3", Some(0xc3)), ("%4", None), ("%zz", None), ("a41", None)] {
            assert_eq!(percent_byte(text.as_bytes(), 0), expected, "{text}");
        }
        let mut out = String::new();
        push_percent(&mut out, 0xaf);
        assert_eq!(out, "%AF");
    }
}
