//! Renders names and tags of a damaged file in messages.

use super::super::escape;

/// A start tag of that name, as people write it.
pub(super) fn tag(name: &[u8]) -> String {
    format!("<{}>", name_shown(name))
}

/// An end tag of that name.
pub(super) fn end_tag(name: &[u8]) -> String {
    format!("</{}>", name_shown(name))
}

/// What is between two places, cut.
pub(super) fn shown(bytes: &[u8], from: usize, to: usize) -> String {
    name_shown(bytes.get(from..to).unwrap_or_default())
}

/// A name, cut where it is long, without what no terminal should get.
pub(super) fn name_shown(name: &[u8]) -> String {
    const LENGTH: usize = 32;
    let text = escape::lossy(name.get(..name.len().min(4 * LENGTH)).unwrap_or_default());
    let mut letters = text.chars();
    let mut out: String = letters.by_ref().take(LENGTH).filter(|letter| !letter.is_control()).collect();
    if letters.next().is_some() {
        out.push('…');
    }
    out
}

/// The first characters from a place on, with an ellipsis where more of the same text follows.
pub(super) fn snippet(bytes: &[u8], at: usize) -> String {
    const LENGTH: usize = 24;
    let rest = bytes.get(at..bytes.len().min(at + 4 * (LENGTH + 2))).unwrap_or_default();
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
    out
}
