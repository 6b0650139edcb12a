//! Character classes of the bytes of a URL: a table of 256 entries.
//!
//! One pass ORs the classes of all bytes together, so that rules whose class is absent are skipped. A class never
//! decides that something is wrong, only whether a rule must be checked.

/// Classes of one byte or of all bytes of a text, as a bit set.
pub(super) type Classes = u32;

/// `/` or `=`: a word that follows may be a left-over of a template.
const STARTS_WORD: Classes = 1;
/// `/`: a slash that follows makes a double slash.
const STARTS_SLASH: Classes = 1 << 1;
/// `/`: a dot that follows may make a dot segment.
const STARTS_DOT: Classes = 1 << 2;
/// `/`: a word that follows may be a segment of private pages.
const STARTS_PRIVATE: Classes = 1 << 16;
/// Distance of the `STARTS_…` bits from the bits that they pair with.
const PAIR_SHIFT: u32 = 3;

/// Directly after `/` or `=`: the first letter of `null`, `NaN`, `undefined`.
pub(super) const WORD_PAIR: Classes = STARTS_WORD << PAIR_SHIFT;
/// `//`.
pub(super) const SLASH_PAIR: Classes = STARTS_SLASH << PAIR_SHIFT;
/// `/.`.
pub(super) const DOT_PAIR: Classes = STARTS_DOT << PAIR_SHIFT;

/// `/w`, `/p`, `/s`, in either case: the first letter of `wp-admin`, `phpmyadmin`, `preview`, `staging`.
pub(super) const PRIVATE_PAIR: Classes = STARTS_PRIVATE << PAIR_SHIFT;

/// `/`, `?`, `#`: characters that end an authority (RFC 3986, 3.2).
pub(super) const END: Classes = 1 << 6;
/// `A` to `Z`.
pub(super) const UPPER: Classes = 1 << 7;
/// `%`.
pub(super) const PERCENT: Classes = 1 << 8;
/// `?`.
pub(super) const QUERY: Classes = 1 << 9;
/// `#`.
pub(super) const HASH: Classes = 1 << 10;
/// Space, tab, line feed, carriage return.
pub(super) const SPACE: Classes = 1 << 11;
/// ASCII characters except white space that RFC 3986 never allows raw.
pub(super) const ILLEGAL: Classes = 1 << 12;
/// Bytes of characters beyond ASCII.
pub(super) const HIGH: Classes = 1 << 13;
/// `:`, `@`, `[`, `]`: user information, port, IP literal; `[object` elsewhere.
pub(super) const SPECIAL: Classes = 1 << 14;
/// `;` and `(`: start of session identifiers outside of a query.
pub(super) const SESSION: Classes = 1 << 15;

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
        b'/' => STARTS_WORD | STARTS_SLASH | STARTS_DOT | STARTS_PRIVATE | SLASH_PAIR | END,
        b'=' => STARTS_WORD,
        b'.' => DOT_PAIR,
        b'n' | b'u' => WORD_PAIR,
        b'N' | b'U' => WORD_PAIR | UPPER,
        b'p' | b's' | b'w' => PRIVATE_PAIR,
        b'P' | b'S' | b'W' => PRIVATE_PAIR | UPPER,
        b'A'..=b'Z' => UPPER,
        b'%' => PERCENT,
        b'?' => QUERY | END,
        b'#' => HASH | END,
        b' ' | b'\t' | b'\n' | b'\r' => SPACE,
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0..=0x1f | 0x7f => ILLEGAL,
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
    /// The classes of all bytes together.
    pub(super) classes: Classes,
    /// The pairs ([`WORD_PAIR`], [`SLASH_PAIR`], [`DOT_PAIR`], [`PRIVATE_PAIR`]) that are directly after their starter.
    pub(super) pairs: Classes,
    /// Number of slashes.
    pub(super) slashes: u32,
}

/// The classes of single bytes that rules check: all except [`END`].
const CHECKED: Classes = UPPER | PERCENT | QUERY | HASH | SPACE | ILLEGAL | HIGH | SPECIAL | SESSION;

/// The classes of all bytes together, the pairs, and the number of slashes.
#[inline]
pub(super) fn survey(bytes: &[u8]) -> Survey {
    survey_common(bytes).unwrap_or_else(|| survey_any(bytes))
}

fn survey_any(bytes: &[u8]) -> Survey {
    let (mut all, mut pairs, mut before, mut slashes) = (0, 0, 0, 0);
    for &byte in bytes {
        let class = classes_of(byte);
        all |= class;
        pairs |= (before << PAIR_SHIFT) & class;
        slashes += u32::from(byte == b'/');
        before = class;
    }
    Survey { classes: all & CHECKED, pairs: pairs & (WORD_PAIR | SLASH_PAIR | DOT_PAIR | PRIVATE_PAIR), slashes }
}

/// Number of bytes that are compared at once, as lanes of a vector.
const LANES: usize = 16;

/// [`survey`] for a text of common bytes (letters, digits, `-._~/=&?%+,!$'*)`); `None` for other or very long texts.
/// Written so that the compiler uses vector instructions: a dozen comparisons for every [`LANES`] bytes.
#[allow(clippy::needless_bitwise_bool)] // a branch in a lane would keep the loop from becoming vector instructions
fn survey_common(bytes: &[u8]) -> Option<Survey> {
    const UPPER_BIT: u8 = 1;
    const PERCENT_BIT: u8 = 2;
    const QUERY_BIT: u8 = 4;
    const OTHER_BIT: u8 = 8;
    const WORD_BIT: u8 = 16;
    const SLASH_BIT: u8 = 32;
    const DOT_BIT: u8 = 64;
    const PRIVATE_BIT: u8 = 128;
    let (mut found, mut slashes) = ([0_u8; LANES], [0_u8; LANES]);
    let mut scan = |bytes: &[u8; LANES], next: &[u8; LANES]| {
        for lane in 0..LANES {
            let (byte, next) = (bytes[lane], next[lane]);
            let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
            let (small, next_small) = (byte | 0x20, next | 0x20);
            let is_letter = small.wrapping_sub(b'a') < 26;
            let is_slash = byte == b'/';
            // From `-` to `9`: `-`, `.`, `/` and the digits; from `)` to `,`: `)`, `*`, `+` and the comma.
            let is_common = is_letter
                | (byte.wrapping_sub(b'-') < 13)
                | (byte.wrapping_sub(b')') < 4)
                | (byte.wrapping_sub(b'$') < 4)
                | (byte == b'=')
                | (byte == b'?')
                | (byte == b'_')
                | (byte == b'~')
                | (byte == b'!');
            found[lane] |= bit(is_letter & (byte & 0x20 == 0), UPPER_BIT)
                | bit(byte == b'%', PERCENT_BIT)
                | bit(byte == b'?', QUERY_BIT)
                | bit(!is_common, OTHER_BIT)
                | bit((is_slash | (byte == b'=')) & ((next_small == b'n') | (next_small == b'u')), WORD_BIT)
                | bit(is_slash & (next == b'/'), SLASH_BIT)
                | bit(is_slash & (next == b'.'), DOT_BIT)
                | bit(is_slash & ((next_small == b'p') | (next_small == b's') | (next_small == b'w')), PRIVATE_BIT);
            slashes[lane] += u8::from(is_slash);
        }
    };
    if bytes.len() > LANES * usize::from(u8::MAX) {
        return None;
    }
    let mut rest = bytes;
    while let (Some(lanes), Some(next)) = (rest.first_chunk(), rest.get(1..).and_then(<[u8]>::first_chunk)) {
        scan(lanes, next);
        rest = rest.get(LANES..)?;
    }
    // Pad the last lanes with a letter that is in no class.
    let mut last = [b'a'; LANES + 1];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    scan(last.first_chunk()?, last.get(1..)?.first_chunk()?);
    let found = found.iter().fold(0, |all, lane| all | lane);
    if found & OTHER_BIT != 0 {
        return None;
    }
    let class = |bit: u8, class: Classes| if found & bit == 0 { 0 } else { class };
    Some(Survey {
        classes: class(UPPER_BIT, UPPER) | class(PERCENT_BIT, PERCENT) | class(QUERY_BIT, QUERY),
        pairs: class(WORD_BIT, WORD_PAIR)
            | class(SLASH_BIT, SLASH_PAIR)
            | class(DOT_BIT, DOT_PAIR)
            | class(PRIVATE_BIT, PRIVATE_PAIR),
        slashes: slashes.iter().map(|lane| u32::from(*lane)).sum(),
    })
}

/// Whether RFC 3986 allows the raw byte somewhere behind the authority. `%` does not count, since it starts an encoded
/// byte.
pub(super) const fn is_plain(byte: u8) -> bool {
    classes_of(byte) & (SPACE | ILLEGAL | HIGH | PERCENT) == 0
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

/// The value of a hexadecimal digit in upper case. Any other byte has one above 255, so that `first << 4 | second` is a
/// byte only for two digits.
pub(super) const fn capital_hex(byte: u8) -> u16 {
    CAPITAL_HEX[byte as usize]
}

const CAPITAL_HEX: [u16; 256] = {
    let mut table = [0x100; 256];
    let mut value = 0;
    while value < 16 {
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
    out.extend(escape(byte).map(char::from));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pairs_are_found_only_after_their_starter() {
        for (text, expected) in [
            ("/a/b", 0),
            ("/a//b", SLASH_PAIR),
            ("/a/.b", DOT_PAIR),
            ("/a.b", 0),
            ("/news", WORD_PAIR),
            ("?a=null", WORD_PAIR),
            ("/a-null", 0),
            ("=/", 0),
        ] {
            assert_eq!(survey(text.as_bytes()).pairs, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_surveys_agree_on_common_bytes(
            text in "([a-zA-Z0-9._~-]{0,9}(/|//|=|%C3|\\?|&|/[npsuwNPSUW.]|[!$\\()*+,;:@ é\"#]?)){0,9}",
        ) {
            let bytes = text.as_bytes();
            for at in 0..bytes.len() {
                let any = survey_any(&bytes[at..]);
                prop_assert_eq!(survey(&bytes[at..]), any);
                prop_assert!(survey_common(&bytes[at..]).is_none_or(|common| common == any));
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
