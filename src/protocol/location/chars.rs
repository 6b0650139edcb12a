//! Character classes of the bytes of a URL and of short sequences in it.
//!
//! One pass ORs the classes of all bytes together, so that rules whose class is absent are skipped. A class never
//! decides that something is wrong, only whether a rule must be checked.

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
/// `/` or `=` and the first letter of `null`, `NaN` or `undefined`, in either case: left-overs of a template.
pub(super) const RESIDUE_START: Classes = 1 << 12;
/// `/wp` or `/ph`, in either case: the start of `wp-admin` or `phpmyadmin`.
pub(super) const PRIVATE_START: Classes = 1 << 13;
/// A lower-case letter directly after `%` or one byte later, where it may be the digit of an escape.
pub(super) const LOWER_ESCAPE: Classes = 1 << 14;
/// A byte or sequence that [`survey_common`] does not classify.
const UNCOMMON: Classes = 1 << 15;

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
    /// The classes of all bytes together, and of the sequences.
    pub(super) classes: Classes,
    /// Number of slashes.
    pub(super) slashes: u32,
}

/// The classes of the bytes from an offset on, and their number of slashes. Sequences may start before the offset.
#[inline]
pub(super) fn survey(text: &[u8], from: usize) -> Survey {
    match survey_common(text, from) {
        Some(survey) if survey.classes & UNCOMMON == 0 => survey,
        Some(survey) => Survey { classes: survey.classes & !UNCOMMON | uncommon_classes(text, from), ..survey },
        None => survey_any(text, from),
    }
}

/// The classes for which [`survey_common`] returns [`UNCOMMON`].
#[allow(clippy::needless_bitwise_bool)] // as in that function
#[inline(never)]
fn uncommon_classes(text: &[u8], from: usize) -> Classes {
    let rest = text.get(from..).unwrap_or_default();
    let classes = rest.iter().fold(0, |classes, byte| classes | classes_of(*byte));
    let before = text.get(from.saturating_sub(1)..).unwrap_or_default();
    let (double_slash, slash_dot) = before.iter().zip(rest).fold((false, false), |found, (last, byte)| {
        let follows_slash = *last == b'/';
        (found.0 | (follows_slash & (*byte == b'/')), found.1 | (follows_slash & (*byte == b'.')))
    });
    classes & (HASH | SPACE | ILLEGAL | HIGH | SPECIAL | SESSION)
        | if double_slash { DOUBLE_SLASH } else { 0 }
        | if slash_dot { SLASH_DOT } else { 0 }
}

/// [`survey`] of any text, byte by byte.
fn survey_any(text: &[u8], from: usize) -> Survey {
    let before = |distance: usize| from.checked_sub(distance).and_then(|at| text.get(at)).copied().unwrap_or(0);
    let (mut second_last, mut last) = (before(2), before(1));
    let (mut classes, mut slashes) = (0, 0);
    for &byte in text.get(from..).unwrap_or_default() {
        let may_be_in_sequence = matches!(last, b'/' | b'=' | b'%') || matches!(second_last, b'/' | b'%');
        classes |= if may_be_in_sequence { classes_after(second_last, last, byte) } else { classes_of(byte) };
        slashes += u32::from(byte == b'/');
        (second_last, last) = (last, byte);
    }
    Survey { classes, slashes }
}

/// The classes of a byte after two others, and of the sequence that ends with it.
const fn classes_after(second_last: u8, last: u8, byte: u8) -> Classes {
    let sequence = match (second_last, last.to_ascii_lowercase(), byte.to_ascii_lowercase()) {
        (_, b'/', b'/') => DOUBLE_SLASH,
        (_, b'/', b'.') => SLASH_DOT,
        (_, b'/' | b'=', b'n' | b'u') => RESIDUE_START,
        (b'/', b'w', b'p') | (b'/', b'p', b'h') => PRIVATE_START,
        _ => 0,
    };
    if last != b'%' && second_last != b'%' {
        return classes_of(byte) | sequence;
    }
    let case = if byte.is_ascii_lowercase() { LOWER_ESCAPE } else { 0 };
    (classes_of(byte) & !UPPER) | case | sequence
}

/// Number of bytes that are compared at once, as lanes of a vector.
const LANES: usize = 16;

/// Number of bytes before the lanes that are read too: sequences have up to three.
const BEFORE: usize = 2;

/// The number of each lane.
const LANE_NUMBERS: [u8; LANES] = {
    let mut numbers = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        numbers[lane] = lane as u8;
        lane += 1;
    }
    numbers
};

/// [`survey`] that classifies letters, digits and `-._/=&?%+,$'*)`; `//`, `/.` and all other bytes are [`UNCOMMON`]. `None`
/// for very short and very long texts. Written so that the compiler uses vector instructions: two dozen comparisons for every
/// [`LANES`] bytes.
#[allow(clippy::needless_bitwise_bool)] // a branch in a lane would keep the loop from becoming vector instructions
fn survey_common(text: &[u8], from: usize) -> Option<Survey> {
    const UPPER_BIT: u8 = 1;
    const PERCENT_BIT: u8 = 2;
    const QUERY_BIT: u8 = 4;
    const DOT_BIT: u8 = 8;
    const RESIDUE_BIT: u8 = 16;
    const PRIVATE_BIT: u8 = 32;
    const LOWER_ESCAPE_BIT: u8 = 64;
    const OTHER_BIT: u8 = 128;
    if from < BEFORE || text.len() < BEFORE + LANES || text.len() > LANES * usize::from(u8::MAX) {
        return None;
    }
    let (mut found, mut slashes) = ([0_u8; LANES], [0_u8; LANES]);
    let mut at = from;
    while at < text.len() {
        // The last lanes end with the text; the first of them were compared before.
        let start = at.min(text.len() - LANES);
        let compared = (at - start) as u8;
        let lanes = |from: usize| text.get(from..).and_then(<[u8]>::first_chunk::<LANES>);
        let (second_last, last, bytes) = (lanes(start - 2)?, lanes(start - 1)?, lanes(start)?);
        for lane in 0..LANES {
            let (second_last, last, byte) = (second_last[lane], last[lane], bytes[lane]);
            let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
            let (lower_last, lower) = (last | 0x20, byte | 0x20);
            let is_letter = lower.wrapping_sub(b'a') < 26;
            let (is_slash, is_dot, follows_slash) = (byte == b'/', byte == b'.', last == b'/');
            // From `)` to `9`: `)`, `*`, `+`, the comma, `-`, `.`, `/` and the digits. `=` and `?` differ in one bit.
            let is_common = is_letter
                | (byte.wrapping_sub(b')') < 17)
                | (byte.wrapping_sub(b'$') < 4)
                | (byte | 2 == b'?')
                | (byte == b'_');
            let starts_private = ((lower_last == b'w') & (lower == b'p')) | ((lower_last == b'p') & (lower == b'h'));
            let starts_residue = (lower == b'n') | (lower == b'u');
            let is_in_escape = (last == b'%') | (second_last == b'%');
            let is_upper = byte & 0x20 == 0;
            let bits = bit(is_letter & is_upper & !is_in_escape, UPPER_BIT)
                | bit(is_letter & !is_upper & is_in_escape, LOWER_ESCAPE_BIT)
                | bit(byte == b'%', PERCENT_BIT)
                | bit(byte == b'?', QUERY_BIT)
                | bit(is_dot, DOT_BIT)
                | bit((follows_slash | (last == b'=')) & starts_residue, RESIDUE_BIT)
                | bit((second_last == b'/') & starts_private, PRIVATE_BIT)
                | bit(!is_common | (follows_slash & (is_slash | is_dot)), OTHER_BIT);
            let is_new = LANE_NUMBERS[lane] >= compared;
            found[lane] |= bit(is_new, bits);
            slashes[lane] += u8::from(is_new & is_slash);
        }
        at = start + LANES;
    }
    let found = found.iter().fold(0, |all, lane| all | lane);
    let class = |bit: u8, class: Classes| if found & bit == 0 { 0 } else { class };
    Some(Survey {
        classes: class(UPPER_BIT, UPPER)
            | class(PERCENT_BIT, PERCENT)
            | class(QUERY_BIT, QUERY)
            | class(DOT_BIT, DOT)
            | class(RESIDUE_BIT, RESIDUE_START)
            | class(PRIVATE_BIT, PRIVATE_START)
            | class(LOWER_ESCAPE_BIT, LOWER_ESCAPE)
            | class(OTHER_BIT, UNCOMMON),
        slashes: sum(slashes),
    })
}

/// The sum of all lanes. Neighbours are added first, which takes less than half of the instructions.
const fn sum(lanes: [u8; LANES]) -> u32 {
    const EVEN: u128 = u128::MAX / 0x101;
    let all = u128::from_ne_bytes(lanes);
    let pairs = (all & EVEN) + (all >> 8 & EVEN);
    let fours = (pairs as u64).wrapping_add((pairs >> 64) as u64);
    (fours.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
}

/// Whether RFC 3986 allows the raw byte somewhere behind the authority. `%` does not count, since it starts an encoded
/// byte.
pub(super) const fn is_plain(byte: u8) -> bool {
    classes_of(byte) & (SPACE | ILLEGAL | HIGH | PERCENT) == 0
}

/// Number of bytes before the first that is not [plain](is_plain).
#[allow(clippy::needless_bitwise_bool)] // as in `survey_common`
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    // Compared instead of looked up, and without a branch, so that the compiler uses vector instructions.
    let is_plain_lane = |byte: u8| {
        let is_printable = byte.wrapping_sub(b'!') < b'\x7f' - b'!';
        b"\"%<>\\^`{|}".iter().fold(is_printable, |is_plain, other| is_plain & (byte != *other))
    };
    let are_plain = |lanes: &&[u8; LANES]| lanes.iter().fold(true, |all, byte| all & is_plain_lane(*byte));
    let len = LANES * bytes.as_chunks().0.iter().take_while(are_plain).count();
    let rest = bytes.get(len..).unwrap_or_default();
    len + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
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
    out.extend(escape(byte).map(char::from));
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
            ("/news", RESIDUE_START),
            ("?a=null", RESIDUE_START),
            ("/a-null", 0),
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

    proptest! {
        #[test]
        fn both_surveys_agree(
            text in "([a-zA-Z0-9._~-]{0,9}(/|//|=|%C3|%c3|%Ca|\\?|&|[/=][npuwNPUW.][aunphAUNPH]|[!$\\()*+,;:@ é\"#]?)){0,9}",
        ) {
            let bytes = text.as_bytes();
            for from in 0..=bytes.len() {
                prop_assert_eq!(survey(bytes, from), survey_any(bytes, from));
                let is_supported = from >= BEFORE && bytes.len() >= BEFORE + LANES;
                prop_assert_eq!(survey_common(bytes, from).is_some(), is_supported);
            }
        }
    }

    proptest! {
        #[test]
        fn the_plain_bytes_are_counted(plain in "[!-~]{0,40}", rest in prop::collection::vec(any::<u8>(), 0..40)) {
            let bytes = [plain.as_bytes(), &rest].concat();
            prop_assert_eq!(plain_len(&bytes), bytes.iter().take_while(|byte| is_plain(**byte)).count());
        }
    }

    #[test]
    fn lanes_are_summed_without_overflow() {
        assert_eq!(sum(std::array::from_fn(|lane| lane as u8)), 120);
        assert_eq!(sum([u8::MAX; LANES]), 16 * 255);
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
