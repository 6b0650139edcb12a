//! Entries with several `loc`: as many candidate URLs as there are of them.
//!
//! The row shows the first; here are all of them, and the entry as it would be with any one alone.

use super::entry::{Entry, Oddities};
use super::markup::{self, Kind};
use super::names::{Meaning, Names};
use super::parser::Parser;
use crate::protocol::Field;
use std::ops::Range;

/// The entry's text once for each of its `loc`, the others left out with the white space before them. Empty for an
/// entry that has no more than one.
pub fn with_one_loc(text: &[u8], names: &Names) -> Vec<Vec<u8>> {
    let entry = Entry::of(text, names);
    if !entry.odd.has(Oddities::LOC_TWICE) {
        return Vec::new();
    }
    let elements = elements(text, &entry, names);
    let one = |kept: usize| {
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        for (_, element) in elements.iter().enumerate().filter(|(number, _)| *number != kept) {
            let before = text.get(at..element.start).unwrap_or_default();
            out.extend_from_slice(before.trim_ascii_end());
            at = element.end;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        out
    };
    (0..elements.len()).map(one).collect()
}

/// All values of `loc`, decoded and trimmed; empty for an entry that has no more than one.
pub fn locs(text: &[u8], names: &Names) -> Vec<String> {
    let texts = with_one_loc(text, names);
    let value = |text: &Vec<u8>| Entry::of(text, names).value(Field::Loc, text).unwrap_or_default().into_owned();
    texts.iter().map(value).collect()
}

/// Where each `loc` of the entry itself stands.
fn elements(text: &[u8], entry: &Entry, names: &Names) -> Vec<Range<usize>> {
    let (mut elements, mut at) = (Vec::new(), entry.open_end as usize);
    let mut parser = Parser::default();
    while let Some(tag) = markup::next(text, at).filter(|tag| tag.start < entry.close as usize) {
        at = if tag.kind == Kind::Start { parser.skip_element(text, &tag) } else { tag.end };
        let is_loc = matches!(tag.kind, Kind::Start | Kind::Empty)
            && names.resolve(text, &tag) == (Meaning::Core, Field::Loc.name().as_bytes());
        if is_loc {
            elements.push(tag.start..at);
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;

    #[test]
    fn each_loc_alone_makes_an_entry() {
        let names = Names::plain(FileKind::Urlset);
        let text =
            "\n <url>\n  <loc>a&amp;b</loc>\n  <loc> c </loc><i:x xmlns:i='y'><loc>no</loc></i:x>\n  <loc/>\n </url>";
        assert_eq!(locs(text.as_bytes(), &names), ["a&b", "c", ""]);
        let second = String::from_utf8(with_one_loc(text.as_bytes(), &names).swap_remove(1)).unwrap();
        assert_eq!(second, "\n <url>\n  <loc> c </loc><i:x xmlns:i='y'><loc>no</loc></i:x>\n </url>");
        assert!(with_one_loc(b"<url><loc>a</loc></url>", &names).is_empty());
    }
}
