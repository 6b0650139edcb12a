//! The short way through the fields of an entry as nearly every file writes them.
//!
//! It finds what the general walk would find, or leaves the rest to it; it decides nothing by itself.

use super::entry::{Entry, FieldSpan, TextKind};
use super::markup;
use super::names::{FileKind, Names};

/// Start and end tags in schema order.
const TAGS: [(&[u8], &[u8]); 4] = [
    (b"<loc>", b"</loc>"),
    (b"<lastmod>", b"</lastmod>"),
    (b"<changefreq>", b"</changefreq>"),
    (b"<priority>", b"</priority>"),
];

/// Takes in the fields from `at` on: bare tags without attributes, plain text between them, in schema order,
/// nothing but blanks around them. Returns the offset after the last one, and its place in that order.
pub(super) fn fields(bytes: &[u8], lead: usize, mut at: usize, names: &Names, entry: &mut Entry) -> (usize, usize) {
    let mut reached = 0;
    if !names.bare_is_core() {
        return (at, reached);
    }
    // A `<sitemap>` has no changefreq and no priority; where one stands all the same, that is odd.
    let known = if names.kind == FileKind::Index { 2 } else { 4 };
    let relative = |position: usize| (position - lead) as u32;
    for ((order, (open, close)), slot) in TAGS.into_iter().enumerate().take(known).zip(&mut entry.fields) {
        let rest = bytes.get(at..).unwrap_or_default();
        let start = at + rest.iter().take_while(|byte| markup::is_space(**byte)).count();
        let Some(rest) = bytes.get(start..).and_then(|rest| rest.strip_prefix(open)) else { continue };
        let Some(len) = memchr::memchr2(b'<', b'&', rest) else { break };
        if !rest.get(len..).is_some_and(|rest| rest.starts_with(close)) {
            break;
        }
        let (inner_start, inner_end) = (start + open.len(), start + open.len() + len);
        let (value_start, value_end) = markup::trim(bytes, inner_start, inner_end);
        (at, reached) = (inner_end + close.len(), order);
        *slot = Some(FieldSpan {
            start: relative(start),
            end: relative(at),
            inner_start: relative(inner_start),
            inner_end: relative(inner_end),
            value_start: relative(value_start),
            value_end: relative(value_end),
            text: TextKind::Plain,
        });
    }
    (at, reached)
}
