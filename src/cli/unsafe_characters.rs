//! Characters of results that a terminal would interpret.

use fearless_simd::prelude::{SimdBase, SimdMask};
use fearless_simd::{Level, Simd, dispatch, u8x32};
use std::borrow::Cow;

/// Text with U+FFFD for control characters, line breaks and direction marks.
pub(crate) fn plain(text: &str) -> String {
    without_controls(text).into_owned()
}

/// [`plain`], but borrows text that needs no replacement.
pub(super) fn without_controls(text: &str) -> Cow<'_, str> {
    if is_safe(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if is_unsafe(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether UTF-8 text has no unsafe character.
pub(super) fn is_safe(text: &[u8]) -> bool {
    let has_control = has_control_or(text, [0x7F]);
    // The other unsafe characters start with these bytes.
    let mut others = memchr::memchr2_iter(0xC2, 0xE2, text);
    !has_control && !others.any(|at| text.get(at..).is_some_and(starts_unsafe))
}

/// Number of bytes of a vector.
const VECTOR: usize = 32;

/// Whether any byte of a text is an ASCII control character other than DEL, or one of `others`.
pub(super) fn has_control_or<const N: usize>(text: &[u8], others: [u8; N]) -> bool {
    dispatch!(Level::new(), simd => is_in_vectors(simd, text, others))
}

/// [`has_control_or`] with the vector instructions of a level.
#[allow(clippy::inline_always)] // otherwise it is not compiled for the instructions that `dispatch` selects
#[inline(always)]
fn is_in_vectors<S: Simd, const N: usize>(simd: S, text: &[u8], others: [u8; N]) -> bool {
    let (vectors, rest) = text.as_chunks::<VECTOR>();
    let mut short = [b'a'; VECTOR];
    // The last vector overlaps the one before. A short text is extended by a letter, which no caller asks for.
    let last = text.last_chunk().unwrap_or_else(|| {
        if let Some(start) = short.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        &short
    });
    for vector in vectors.iter().chain([last]) {
        let bytes = u8x32::from_slice(simd, vector);
        let mut found = bytes.simd_lt(b' ');
        for other in others {
            found |= bytes.simd_eq(other);
        }
        if found.any_true() {
            return true;
        }
    }
    false
}

/// Whether UTF-8 text starts with an unsafe character other than an ASCII one.
const fn starts_unsafe(text: &[u8]) -> bool {
    matches!(text, [0xC2, 0x80..=0x9F, ..] | [0xE2, 0x80, 0xA8..=0xAE, ..] | [0xE2, 0x81, 0xA6..=0xA9, ..])
}

/// Control characters (C0, DEL, C1), line and paragraph separators, and direction marks.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_is_safe_unless_it_has_an_unsafe_character(
            text in "([ -~]{0,40}|[\u{0}-\u{1f}\u{7e}-\u{a0}éâ\u{2027}-\u{202f}\u{2065}-\u{206a}“”😀]{0,3}){0,4}",
        ) {
            prop_assert_eq!(is_safe(text.as_bytes()), !text.contains(is_unsafe));
        }

        #[test]
        fn bytes_are_found_at_any_position(
            len in 0..4 * VECTOR,
            found in prop::option::of((any::<prop::sample::Index>(), prop::sample::select(b"\0\x1f\"\xC2".to_vec()))),
        ) {
            let mut text: Vec<u8> = (0..len).map(|at| b"a /~\x7F\x80\xFF"[at % 7]).collect();
            let found = found.filter(|_| len > 0);
            if let Some((at, byte)) = found {
                text[at.index(len)] = byte;
            }
            prop_assert_eq!(has_control_or(&text, [b'"', 0xC2]), found.is_some());
        }
    }
}
