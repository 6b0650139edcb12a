//! Renders names and tags of a damaged file in messages.

use super::super::escape;
use crate::short_bytes::strip_prefix;
use std::borrow::Cow;

/// A start tag with this name.
pub(super) fn tag(name: &[u8]) -> String {
    ["<", &displayed_name(name), ">"].concat()
}

/// An end tag with this name.
pub(super) fn end_tag(name: &[u8]) -> String {
    ["</", &displayed_name(name), ">"].concat()
}

/// The bytes at `from..to`, shortened like a name.
pub(super) fn excerpt(bytes: &[u8], from: usize, to: usize) -> String {
    displayed_name(bytes.get(from..to).unwrap_or_default())
}

/// A name for display: shortened to 32 characters, and without control characters.
pub(super) fn displayed_name(name: &[u8]) -> String {
    const LENGTH: usize = 32;
    // A fast path for nearly every name, since a file may have a name to display in every entry.
    if name.len() <= LENGTH && name.iter().all(u8::is_ascii_graphic) {
        return escape::lossy(name).into_owned();
    }
    let text = escape::lossy(name.get(..name.len().min(4 * LENGTH)).unwrap_or_default());
    let mut letters = text.chars();
    let mut out: String = letters.by_ref().take(LENGTH).filter(|letter| !letter.is_control()).collect();
    if letters.next().is_some() {
        out.push('…');
    }
    out
}

/// The first characters at an offset, up to the next `<` or control character, with an ellipsis if that text is longer.
pub(super) fn snippet(bytes: &[u8], at: usize) -> Cow<'_, str> {
    const LENGTH: usize = 24;
    let rest = bytes.get(at..bytes.len().min(at + 4 * (LENGTH + 2))).unwrap_or_default();
    if let Some(snippet) = ascii_snippet(rest, LENGTH) {
        return snippet;
    }
    let text = escape::lossy(rest);
    let mut letters = text.chars();
    let mut out: String = letters.by_ref().take(1).collect();
    let mut more = letters.take_while(|letter| !letter.is_control() && *letter != '<');
    out.extend(more.by_ref().take(LENGTH));
    let is_cut = more.next().is_some();
    let mut out = out.chars().filter(|letter| !letter.is_control()).collect::<String>().trim().to_owned();
    if is_cut {
        out.push('…');
    }
    Cow::Owned(out)
}

/// Whether `known`, an earlier snippet, is also that at an offset; false if that cannot be decided without decoding
/// characters.
pub(super) fn is_snippet(bytes: &[u8], at: usize, known: &str) -> bool {
    let (rest, known) = (bytes.get(at..).unwrap_or_default(), known.as_bytes());
    let ends = |after: &[u8]| after.first().is_some_and(|byte| byte.is_ascii_control() || *byte == b'<');
    let Some((_, more)) = known.split_first() else { return false };
    strip_prefix(rest, known).is_some_and(ends) && !more.contains(&b'<')
}

/// [`snippet`] of ASCII text, without decoding characters; `None` for other text.
fn ascii_snippet(rest: &[u8], length: usize) -> Option<Cow<'_, str>> {
    // One more character tells whether the text is longer.
    let rest = rest.get(..length + 2).unwrap_or(rest);
    let (first, more) = rest.split_first()?;
    let len = more.iter().position(|byte| byte.is_ascii_control() || *byte == b'<').unwrap_or(more.len());
    let shown = rest.get(..=len).filter(|shown| shown.is_ascii())?;
    let from = usize::from(first.is_ascii_control());
    let shown = std::str::from_utf8(shown.get(from..=len.min(length))?).ok()?.trim();
    Some(if len > length { Cow::Owned([shown, "…"].concat()) } else { Cow::Borrowed(shown) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The model of [`snippet`]: character by character.
    fn by_characters(bytes: &[u8], at: usize) -> String {
        let text = escape::lossy(bytes.get(at..).unwrap_or_default()).into_owned();
        let more: Vec<char> =
            text.chars().skip(1).take_while(|letter| !letter.is_control() && *letter != '<').collect();
        let shown: String = text.chars().take(1).chain(more.iter().copied().take(24)).collect();
        let shown: String = shown.chars().filter(|letter| !letter.is_control()).collect();
        format!("{}{}", shown.trim(), if more.len() > 24 { "…" } else { "" })
    }

    proptest! {
        #[test]
        fn a_snippet_is_the_same_whether_or_not_it_is_ascii(text in "[ -~\n\t\u{1}é<]{0,40}", at in 0..8usize) {
            let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            prop_assert_eq!(snippet(text.as_bytes(), at), by_characters(text.as_bytes(), at));
        }

        #[test]
        fn a_repeated_snippet_is_recognised(
            text in "[ab&<…\t ]{0,6}[ab&…]{1,30}[<\n]?[ab<]{0,3}",
            other in "[ab&<…\t ]{0,6}[ab&…]{1,30}[<\n]?[ab<]{0,3}",
        ) {
            let known = snippet(text.as_bytes(), 0);
            prop_assert!(!is_snippet(other.as_bytes(), 0, &known) || snippet(other.as_bytes(), 0) == known);
            let is_usual = known.len() > 1 && text.starts_with(&*known) && text[known.len()..].starts_with('<');
            prop_assert!(!is_usual || known.chars().skip(1).any(|letter| letter == '<') || is_snippet(text.as_bytes(), 0, &known));
        }
    }
}
