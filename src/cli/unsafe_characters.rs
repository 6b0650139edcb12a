//! Characters of results that a terminal would interpret.

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
    // Without an early exit the compiler vectorises this loop.
    let has_control = text.iter().fold(false, |found, byte| found | byte.is_ascii_control());
    // The other unsafe characters start with these bytes.
    let mut others = memchr::memchr2_iter(0xC2, 0xE2, text);
    !has_control && !others.any(|at| text.get(at..).is_some_and(starts_unsafe))
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
    }
}
