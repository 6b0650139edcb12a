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
