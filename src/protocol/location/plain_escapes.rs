//! Percent-encoded bytes of usual URLs: characters outside of ASCII. Generators write their digits in upper case, as in the
//! normal form, or in lower case, as many blogs do.

use super::chars;
use super::validate::starts_misread_continuation;

/// Whether the percent-encoded bytes of ASCII text need no further validation: each is outside of ASCII, and none may
/// belong to a character that was encoded twice. Replaces several passes by one.
pub(super) fn are_plain(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'%', rest) {
        rest = rest.get(at..).unwrap_or_default();
        let (mut last, mut second_last) = (0, 0);
        while let [b'%', high, low, behind @ ..] = rest {
            let byte = chars::wide_hex(*high) << 4 | chars::wide_hex(*low);
            // A character that was encoded twice begins with one from U+00C2 to U+00F4, whose first byte is C3.
            if !matches!(byte, 0x80..=0xff) || (second_last == 0xc3 && starts_misread_continuation(byte)) {
                return false;
            }
            (second_last, last, rest) = (last, byte, behind);
        }
        // A `%` without two characters after it.
        if rest.first() == Some(&b'%') {
            return false;
        }
    }
    true
}

/// Copies a text, with the digits of its escapes in upper case; `None` if it is longer than `out`. The two bytes after any
/// `%` count as digits.
pub(super) fn to_upper_case<'o>(text: &[u8], out: &'o mut [u8]) -> Option<&'o [u8]> {
    let out = out.get_mut(..text.len())?;
    out.copy_from_slice(text);
    for distance in 1..=2 {
        let digits = out.get_mut(distance..).unwrap_or_default().iter_mut();
        for (digit, before) in digits.zip(text) {
            if *before == b'%' && matches!(*digit, b'a'..=b'f') {
                *digit -= b'a' - b'A';
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::validate::is_mojibake;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_of_escapes_become_upper_case() {
        for (text, expected) in [
            ("/%c3%b6/ab", "/%C3%B6/ab"),
            ("%ab", "%AB"),
            ("a%", "a%"),
            ("%e", "%E"),
            ("%%af", "%%AF"),
            ("%ga", "%gA"),
            ("", ""),
        ] {
            assert_eq!(to_upper_case(text.as_bytes(), &mut [0; 16]), Some(expected.as_bytes()), "{text}");
        }
        assert_eq!(to_upper_case(b"abc", &mut [0; 2]), None);
    }

    proptest! {
        #[test]
        fn plain_escapes_need_no_further_validation(
            text in "(%[89A-F][0-9A-F]|%C3%[89AB][0-9A-F]%C2%[89AB][0-9A-F]|%C3%A9|%c3%a9|%[0-9a-fA-F]{2}|%|[a-z/]){0,40}",
        ) {
            let bytes = text.as_bytes();
            let escapes = || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').map(|(at, _)| at);
            let are_valid = escapes().all(|at| chars::percent_byte(bytes, at).is_some_and(|byte| byte >= 0x80));
            if are_plain(bytes) {
                prop_assert!(are_valid && !is_mojibake(&text), "{}", text);
            } else {
                prop_assert!(!are_valid || text.to_ascii_uppercase().contains("%C3"), "{}", text);
            }
        }
    }
}
