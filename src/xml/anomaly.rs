//! Locates the anomalies of an entry: the first position of each kind, and the text there.
//!
//! The scan only flags the entry. The position is searched when the message of a finding is created, in one pass over
//! the children of the entry.

use super::entry::{Anomalies, Entry, FieldSpan};
use super::escape;
use super::markup::{self, Kind, Markup};
use super::names::{Meaning, Names, split};
use crate::protocol::Field;
use crate::protocol::namespace::{self, Namespace};
use std::borrow::Cow;

/// The position of an anomaly, and the text there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anomaly<'t> {
    /// The byte offset of its start in the entry text.
    pub at: usize,
    /// The name of the element as written, or the stray text.
    pub what: Cow<'t, str>,
    /// The unexpected attribute, or the undeclared prefix.
    pub attribute: Option<Cow<'t, str>>,
}

/// The namespace of Baidu's tag for mobile pages (Baidu webmaster help, mobile Sitemap protocol).
const BAIDU_MOBILE: &str = "http://www.baidu.com/schemas/sitemap-mobile/1";

/// The first position of an anomaly; `entry` must be the parsed `text`. `None` if the entry does not have it, and for
/// anomalies without a position.
pub(crate) fn first<'t>(entry: &Entry, text: &'t [u8], names: &Names, wanted: Anomalies) -> Option<Anomaly<'t>> {
    if !entry.anomalies.contains(wanted) {
        return None;
    }
    let tag = markup::next(text, entry.open as usize)?;
    let own = names.within(text, &tag);
    Walk { text, entry, names: own.as_ref().unwrap_or(names), wanted }.entry(&tag)
}

/// Whether an entry has a child of an unknown namespace other than Baidu's tag for mobile pages.
pub(crate) fn has_foreign_child_except_baidu(entry: &Entry, text: &[u8], names: &Names) -> bool {
    let is_mark = |uri: &str| uri.trim().trim_end_matches('/') == BAIDU_MOBILE;
    let declares = |prefix: &str| {
        let declared = names.attributes.iter().find(|(name, _)| name.strip_prefix("xmlns:") == Some(prefix));
        declared.is_some_and(|(_, uri)| is_mark(uri))
    };
    let Some(tag) = markup::next(text, entry.open as usize) else { return false };
    let own = names.within(text, &tag);
    let walk = Walk { text, entry, names: own.as_ref().unwrap_or(names), wanted: Anomalies::FOREIGN };
    let mut children = walk.children(tag.end);
    children.any(|child| {
        let Child::Element(tag) = child else { return false };
        let prefix = String::from_utf8_lossy(split(tag.name(text)).0);
        walk.is_foreign(&tag) && !declares(&prefix)
    })
}

/// The decoded and trimmed text of the element that starts at `at`.
pub(crate) fn text_of(text: &[u8], at: usize) -> Option<String> {
    let tag = markup::next(text, at)?;
    let end = if tag.kind == Kind::Start { memchr::memmem::find(text.get(tag.end..)?, b"</")? } else { 0 };
    let inside = text.get(tag.end..tag.end + end)?;
    Some(escape::decode_mixed(inside).trim().to_owned())
}

struct Walk<'t, 'n> {
    text: &'t [u8],
    entry: &'n Entry,
    names: &'n Names,
    wanted: Anomalies,
}

/// A child of an entry.
enum Child {
    Element(Markup),
    /// Text that is not blank, by start and end.
    Text(usize, usize),
}

impl<'t> Walk<'t, '_> {
    fn entry(&self, tag: &Markup) -> Option<Anomaly<'t>> {
        if self.wanted == Anomalies::OTHER_KIND {
            return Some(self.at(tag));
        }
        if self.wanted == Anomalies::OUT_OF_ORDER && !self.has_repeated_fields() {
            return self.late_field(tag.end);
        }
        if let Some(found) = self.attribute(tag) {
            return Some(found);
        }
        let mut seen = [false; 4];
        let mut last_order = 0;
        for child in self.children(tag.end) {
            let tag = match child {
                Child::Text(from, to) if self.wanted == Anomalies::STRAY_TEXT => {
                    let text = String::from_utf8_lossy(self.text.get(from..to)?);
                    return Some(Anomaly { at: from, what: text, attribute: None });
                }
                Child::Text(..) => continue,
                Child::Element(tag) => tag,
            };
            let field = self.field(&tag);
            let order = field.map_or(4, Field::index);
            let is_late = order < last_order;
            last_order = last_order.max(order);
            let is_repeated =
                field.and_then(|field| seen.get_mut(field.index()).map(|seen| std::mem::replace(seen, true)));
            let found = match self.wanted {
                Anomalies::OUT_OF_ORDER => is_late,
                Anomalies::LOC_TWICE => is_repeated == Some(true) && field == Some(Field::Loc),
                Anomalies::FIELD_TWICE => is_repeated == Some(true) && field != Some(Field::Loc),
                Anomalies::UNKNOWN_CHILD => field.is_none() && self.names.resolve(self.text, &tag).0 == Meaning::Core,
                Anomalies::FOREIGN => self.is_foreign(&tag),
                _ => false,
            };
            if found {
                return Some(self.at(&tag));
            }
            if field.is_some()
                && let Some(found) = self.attribute(&tag)
            {
                return Some(found);
            }
            if self.wanted == Anomalies::UNDECLARED
                && let Some(found) = self.undeclared(&tag)
            {
                return Some(found);
            }
        }
        None
    }

    fn at(&self, tag: &Markup) -> Anomaly<'t> {
        Anomaly { at: tag.start, what: String::from_utf8_lossy(tag.name(self.text)), attribute: None }
    }

    fn field(&self, tag: &Markup) -> Option<Field> {
        if !self.has_repeated_fields() {
            let is_at_tag = |field: &Field| self.entry.field(*field).is_some_and(|at| at.start as usize == tag.start);
            return Field::ALL.into_iter().find(is_at_tag);
        }
        let (meaning, local) = self.names.resolve(self.text, tag);
        let is_core = meaning == Meaning::Core;
        Field::ALL.into_iter().find(|field| is_core && field.name().as_bytes() == local)
    }

    fn has_repeated_fields(&self) -> bool {
        self.entry.anomalies.intersects(Anomalies::LOC_TWICE.union(Anomalies::FIELD_TWICE))
    }

    /// The first field that is out of order, if none is repeated. Between two fields only the first element is read, since
    /// an entry may have many alternate links there. `from` is the end of the entry's start tag.
    fn late_field(&self, from: usize) -> Option<Anomaly<'t>> {
        let spans = Field::ALL.into_iter().filter_map(|field| Some((self.entry.field(field)?, field.index())));
        let mut spans: Vec<(&FieldSpan, usize)> = spans.collect();
        spans.sort_unstable_by_key(|(span, _)| span.start);
        let (mut at, mut last_order) = (from, 0);
        for (span, order) in spans {
            if order < last_order || self.has_element(at, span.start as usize) {
                return Some(self.at(&markup::next(self.text, span.start as usize)?));
            }
            (at, last_order) = (span.end as usize, order);
        }
        None
    }

    /// Whether an element starts in a range between two children.
    fn has_element(&self, mut from: usize, to: usize) -> bool {
        while let Some(token) = markup::next(self.text, from).filter(|token| token.start < to) {
            if matches!(token.kind, Kind::Start | Kind::Empty) {
                return true;
            }
            from = token.end;
        }
        false
    }

    fn is_foreign(&self, tag: &Markup) -> bool {
        self.names.resolve(self.text, tag).0 == Meaning::Extension(Namespace::Other)
    }

    /// The first unexpected attribute of the entry or of a field.
    fn attribute(&self, tag: &Markup) -> Option<Anomaly<'t>> {
        let is_odd = |name: &[u8], value: &[u8]| match self.wanted {
            Anomalies::ATTRIBUTE => !name.starts_with(b"xmlns") && !name.starts_with(b"xsi:"),
            Anomalies::NO_NAMESPACE => name == b"xmlns" && markup::is_blank(value),
            Anomalies::UNDECLARED => self.is_undeclared(split(name).0, tag),
            _ => false,
        };
        let found = markup::attributes(tag.attributes(self.text)).find(|found| is_odd(found.name, found.value))?;
        Some(Anomaly { attribute: Some(String::from_utf8_lossy(found.name)), ..self.at(tag) })
    }

    /// The first element with an undeclared prefix in a child, including the child itself.
    fn undeclared(&self, child: &Markup) -> Option<Anomaly<'t>> {
        let end = self.end_of(child);
        let mut at = child.start;
        while at < end {
            let tag = markup::next(self.text, at)?;
            if matches!(tag.kind, Kind::Start | Kind::Empty) && self.is_undeclared(split(tag.name(self.text)).0, &tag) {
                return Some(self.at(&tag));
            }
            at = tag.end;
        }
        None
    }

    fn is_undeclared(&self, prefix: &[u8], tag: &Markup) -> bool {
        let needs_none = prefix.is_empty() || prefix == b"xml" || prefix == b"xmlns";
        let declares = |name: &[u8]| name.strip_prefix(b"xmlns:") == Some(prefix);
        !needs_none
            && !self.names.declares(prefix)
            && namespace::by_usual_prefix(prefix).is_none()
            && !markup::attributes(tag.attributes(self.text)).any(|attribute| declares(attribute.name))
    }

    /// The children of the entry; `at` is the end of its start tag.
    fn children(&self, mut at: usize) -> impl Iterator<Item = Child> {
        let mut pending: Option<Markup> = None;
        std::iter::from_fn(move || {
            loop {
                let next = if let Some(next) = pending.take() {
                    next
                } else {
                    let next = markup::next(self.text, at)?;
                    let before = self.text.get(at..next.start)?;
                    if !markup::is_blank(before) {
                        let blank = before.iter().take_while(|byte| markup::is_space(**byte)).count();
                        let end = before.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1);
                        let found = Child::Text(at + blank, at + end);
                        pending = Some(next);
                        return Some(found);
                    }
                    next
                };
                at = next.end;
                match next.kind {
                    Kind::End => return None,
                    Kind::Start | Kind::Empty => {
                        at = self.end_of(&next);
                        return Some(Child::Element(next));
                    }
                    Kind::Cdata => {
                        let inside = next.start + 9..next.end.saturating_sub(3);
                        if !markup::is_blank(self.text.get(inside).unwrap_or_default()) {
                            return Some(Child::Text(next.start, next.end));
                        }
                    }
                    _ => {}
                }
            }
        })
    }

    /// The end of an element.
    fn end_of(&self, tag: &Markup) -> usize {
        let (mut depth, mut at) = (usize::from(tag.kind == Kind::Start), tag.end);
        while depth > 0
            && let Some(next) = markup::next(self.text, at)
        {
            at = next.end;
            match next.kind {
                Kind::Start => depth += 1,
                Kind::End => depth -= 1,
                _ => {}
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_field_after_a_later_child_is_out_of_order(
            children in Just([0_usize, 1, 2, 3, 4, 4, 5, 5]).prop_shuffle(), len in 0..8_usize,
        ) {
            const CHILDREN: [&str; 6] =
                ["<loc>a</loc>", "<lastmod/>", "<changefreq>x</changefreq>", "<priority/>", "<x:y><x:z/></x:y>", "<!-- <z> -->"];
            let (mut text, mut last, mut expected) = ("<url>".to_owned(), 0, None);
            for child in children.into_iter().take(len) {
                if child < last && expected.is_none() {
                    expected = Some(text.len());
                }
                last = if child < 5 { last.max(child) } else { last };
                text.push_str(CHILDREN[child]);
            }
            text.push_str("</url>");
            let names = Names::plain(FileKind::Urlset);
            let entry = Entry::of(text.as_bytes(), &names);
            let found = first(&entry, text.as_bytes(), &names, Anomalies::OUT_OF_ORDER);
            prop_assert_eq!(found.map(|found| found.at), expected, "{}", text);
        }
    }

    #[test]
    fn each_anomaly_is_found_at_its_position() {
        let loc = "<loc>https://e.com/a</loc>";
        for (inside, wanted, expected, attribute) in [
            ("loose text <lastmod>2026</lastmod>", Anomalies::STRAY_TEXT, "loose text", None),
            ("<![CDATA[x]]>", Anomalies::STRAY_TEXT, "<![CDATA[x]]>", None),
            ("<loc>https://e.com/b</loc>", Anomalies::LOC_TWICE, "loc", None),
            ("<priority>1</priority>\n<priority>0</priority>", Anomalies::FIELD_TWICE, "priority", None),
            ("<priority>1</priority><lastmod>2026</lastmod>", Anomalies::OUT_OF_ORDER, "lastmod", None),
            ("<image:image><a/></image:image><foo>1</foo>", Anomalies::UNKNOWN_CHILD, "foo", None),
            ("<x:y xmlns:x=\"urn:x\"><x:z/></x:y>", Anomalies::FOREIGN, "x:y", None),
            ("<lastmod xsi:a=\"\" at=\"1\">2026</lastmod>", Anomalies::ATTRIBUTE, "lastmod", Some("at")),
            ("<priority xmlns=\"\">1</priority>", Anomalies::NO_NAMESPACE, "priority", Some("xmlns")),
            ("<image:image><q:r/></image:image>", Anomalies::UNDECLARED, "q:r", None),
        ] {
            let text = format!("\n <!-- <foo/> --><url>\n  {loc}{inside}</url>");
            let names = Names::plain(FileKind::Urlset);
            let entry = Entry::of(text.as_bytes(), &names);
            let found = first(&entry, text.as_bytes(), &names, wanted).unwrap_or_else(|| panic!("{inside}"));
            assert_eq!((&*found.what, found.attribute.as_deref()), (expected, attribute), "{inside}");
            let start = text.len() - "</url>".len() - inside.len() + inside.rfind(&format!("<{expected}")).unwrap_or(0);
            assert_eq!(found.at, start, "{inside}");
            assert_eq!(first(&entry, text.as_bytes(), &names, Anomalies::OTHER_KIND), None);
        }
    }
}
