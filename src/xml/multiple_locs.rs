//! Finds all URLs of an entry with several `loc` elements; the row shows the first one.

use super::entry::{Anomalies, Entry, decode_value};
use super::markup::{self, Kind};
use super::names::{Meaning, Names};
use super::parser::Parser;
use crate::protocol::Field;

/// All values of `loc`, decoded and trimmed; empty for an entry with at most one. Takes one pass over the entry.
pub(crate) fn locs(text: &[u8], names: &Names) -> Vec<String> {
    let entry = Entry::of(text, names);
    if !entry.anomalies.contains(Anomalies::LOC_TWICE) {
        return Vec::new();
    }
    let (mut locs, mut at) = (Vec::new(), entry.open_end as usize);
    let own = markup::next(text, entry.open as usize).and_then(|tag| names.within(text, &tag));
    let names = own.as_ref().unwrap_or(names);
    let mut parser = Parser::quiet();
    while let Some(tag) = markup::next(text, at).filter(|tag| tag.start < entry.close as usize) {
        let is_tag = matches!(tag.kind, Kind::Start | Kind::Empty);
        if is_tag && names.resolve(text, &tag) == (Meaning::Core, Field::Loc.name().as_bytes()) {
            let (span, end) = parser.value(text, &tag, names);
            let raw = text.get(span.value_start as usize..span.value_end as usize).unwrap_or_default();
            locs.push(decode_value(raw, span.text).into_owned());
            at = end.max(tag.end);
        } else {
            at = if tag.kind == Kind::Start { parser.skip_element(text, &tag) } else { tag.end };
        }
    }
    locs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;

    #[test]
    fn each_loc_has_its_value() {
        let names = Names::plain(FileKind::Urlset);
        let text =
            "\n <url>\n  <loc>a&amp;b</loc>\n  <loc> c </loc><i:x xmlns:i='y'><loc>no</loc></i:x>\n  <loc/>\n </url>";
        assert_eq!(locs(text.as_bytes(), &names), ["a&b", "c", ""]);
        assert!(locs(b"<url><loc>a</loc></url>", &names).is_empty());
        let odd = "<url><loc><![CDATA[ a&b ]]></loc><loc>c<!-- d -->e</loc><loc><b>f</b></loc><loc>g</url>";
        assert_eq!(locs(odd.as_bytes(), &names), ["a&b", "ce", "f", "g"]);
    }
}
