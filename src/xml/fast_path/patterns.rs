//! Patterns of extension elements: most elements of a file differ from an earlier one only in texts and attribute values.
//!
//! A pattern is the markup of an element with a slot for each text, CDATA section and value of an attribute. If an element
//! has the same bytes around its slots, its tags need not be tokenised: they are those of the pattern at other offsets.
//! Empty tags have a kind of their own, since entries may have dozens of alternate links.

mod empty_tag;

use super::{EntryBytes, attribute_value_len, sound_text_before_tag};
use crate::progress::note_work;
use crate::short_bytes::strip_prefix;
use crate::xml::elements::{Elements, Slot, SlotContent, SlottedElements};
use crate::xml::entry::TextKind;
use crate::xml::markup::{self, Kind};
use empty_tag::EmptyTag;
use memchr::memmem;
use std::sync::LazyLock;

/// Maximum number of patterns of a file, more than most files have kinds of elements.
const MAX_PATTERNS: usize = 8;

/// Maximum number of slots of a pattern: the bits of a set.
const MAX_SLOTS: usize = u64::BITS as usize;

/// The credit that a new pattern costs; an element that matches one earns 1. In a file whose elements all differ, only
/// the first few become patterns.
const COST: u32 = 4;

/// Maximum credit, which is also that of a new file.
const MAX_CREDIT: u32 = 64;

static SECTION_START: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("<![CDATA["));

/// The pattern of an element.
#[derive(Debug)]
enum Pattern {
    WithContent(ElementPattern),
    Empty(EmptyTag),
}

/// The patterns of one file.
#[derive(Debug)]
pub(super) struct Patterns {
    /// Each pattern with the index of the one that followed it the last time.
    known: Vec<(Pattern, usize)>,
    /// The index of the last pattern that matched or was added.
    last: usize,
    credit: u32,
    /// What is added to positions of a pattern, by the number of slots before them.
    shifts: Vec<usize>,
}

impl Default for Patterns {
    fn default() -> Self {
        Self { known: Vec::new(), last: 0, credit: MAX_CREDIT, shifts: Vec::new() }
    }
}

impl Patterns {
    /// Lists the element whose `<` is at `start` if it matches a pattern. Returns the offset after it.
    #[inline]
    pub(super) fn list(
        &mut self,
        inside: &EntryBytes<'_>,
        (start, has_brackets): (usize, bool),
        elements: &mut Elements,
    ) -> Option<usize> {
        // Patterns mostly follow each other in the same order.
        let before = self.last;
        let expected = self.known.get(before)?.1;
        let others = (0..self.known.len()).filter(|index| *index != expected);
        let mut all = std::iter::once(expected).chain(others);
        let end = all.find_map(|index| self.list_by(index, inside, (start, has_brackets), elements))?;
        self.note_next(before);
        Some(end)
    }

    /// Notes that the last pattern follows this one.
    #[inline]
    fn note_next(&mut self, before: usize) {
        if let Some((_, next)) = self.known.get_mut(before) {
            *next = self.last;
        }
    }

    /// [`Self::list`] if the element matches the pattern that matched or was added last.
    #[inline]
    pub(super) fn list_alike(
        &mut self,
        inside: &EntryBytes<'_>,
        at: (usize, bool),
        elements: &mut Elements,
    ) -> Option<usize> {
        self.list_by(self.last, inside, at, elements)
    }

    /// [`Self::list`] if the element matches the pattern with this index.
    #[inline]
    fn list_by(
        &mut self,
        index: usize,
        inside: &EntryBytes<'_>,
        (start, has_brackets): (usize, bool),
        elements: &mut Elements,
    ) -> Option<usize> {
        let end = match &self.known.get(index)?.0 {
            Pattern::WithContent(pattern) => {
                pattern.list(inside, (start, has_brackets), (&mut self.shifts, elements))?
            }
            Pattern::Empty(tag) => tag.list(inside, start, elements)?,
        };
        self.last = index;
        self.credit = (self.credit + 1).min(MAX_CREDIT);
        Some(end)
    }

    /// Adds the pattern of an element from `start` to `end`, which matches none. Its nodes are the last ones of
    /// `elements`, from the number `first` on.
    pub(super) fn add(
        &mut self,
        inside: &EntryBytes<'_>,
        (start, end): (usize, usize),
        (elements, first): (&Elements, usize),
    ) {
        let Some(node) = elements.nodes.get(first).filter(|_| self.credit >= COST) else { return };
        let (text, offset) = (inside.bytes.get(start..end).unwrap_or_default(), start - inside.lead);
        let pattern = match node.tag.kind {
            Kind::Start => ElementPattern::of(text, offset, (elements, first)).map(Pattern::WithContent),
            _ => EmptyTag::of(text, offset, elements, node).map(Pattern::Empty),
        };
        let Some(pattern) = pattern else { return };
        self.credit -= COST;
        let index = if self.known.len() < MAX_PATTERNS { self.known.len() } else { (self.last + 1) % MAX_PATTERNS };
        match self.known.get_mut(index) {
            Some(replaced) => *replaced = (pattern, index),
            None => self.known.push((pattern, index)),
        }
        let before = std::mem::replace(&mut self.last, index);
        self.note_next(before);
    }
}

/// An element with content as it was listed, with its slots.
#[derive(Debug)]
struct ElementPattern {
    text: Box<[u8]>,
    /// Its elements and attributes, at offsets into the text.
    elements: SlottedElements,
    /// In ascending order.
    slots: Vec<Slot>,
    /// The end of the last slot.
    tail: usize,
}

impl ElementPattern {
    /// The pattern of an element, which is at this offset of its entry; `None` if it has too many slots.
    fn of(text: &[u8], offset: usize, (listed, first): (&Elements, usize)) -> Option<Self> {
        let (mut sections, mut at) = (Vec::new(), 0);
        while let Some(found) = SECTION_START.find(text.get(at..)?) {
            let start = at + found + SECTION_START.needle().len();
            at = start + markup::section_end(text.get(start..)?)?;
            sections.push(Slot { range: start..at, content: SlotContent::Section });
        }
        let (elements, slots) = SlottedElements::of((text, offset), (listed, first), sections)?;
        let tail = slots.last().map_or(0, |last| last.range.end);
        (slots.len() <= MAX_SLOTS).then(|| Self { text: text.into(), elements, slots, tail })
    }

    /// Lists the element whose `<` is at `start` if it matches. Returns the offset after it.
    #[inline]
    fn list(
        &self,
        inside: &EntryBytes<'_>,
        (start, has_brackets): (usize, bool),
        (shifts, elements): (&mut Vec<usize>, &mut Elements),
    ) -> Option<usize> {
        let EntryBytes { bytes, lead, .. } = *inside;
        shifts.clear();
        shifts.push(start - lead);
        let (mut at, mut known, mut escaped) = (start, 0, 0_u64);
        for (index, slot) in self.slots.iter().enumerate() {
            let (len, is_escaped) = self.content_len(slot, known, (bytes.get(at..)?, has_brackets))?;
            escaped |= u64::from(is_escaped) << index;
            let examined = slot.range.start - known + len;
            note_work(examined);
            at += examined;
            known = slot.range.end;
            shifts.push((at - lead).wrapping_sub(known));
        }
        let tail = self.text.get(self.tail..)?;
        strip_prefix(bytes.get(at..)?, tail)?;
        let first = elements.nodes.len();
        elements.append(&self.elements, shifts);
        if escaped != 0 {
            let is_escaped = |(index, _): &(usize, &Slot)| escaped >> index & 1 == 1;
            for (_, slot) in self.slots.iter().enumerate().filter(is_escaped) {
                if let SlotContent::Text(number) = slot.content
                    && let Some(node) = elements.nodes.get_mut(first + number)
                {
                    node.text = TextKind::Escaped;
                }
            }
        }
        Some(at + tail.len())
    }

    /// The length of what is in a slot, and whether it is a text with references. `rest` begins with the markup before the
    /// slot, which is from `markup` on in the pattern.
    #[inline]
    fn content_len(&self, slot: &Slot, markup: usize, (rest, has_brackets): (&[u8], bool)) -> Option<(usize, bool)> {
        let markup = self.text.get(markup..slot.range.start)?;
        let rest = strip_prefix(rest, markup)?;
        match slot.content {
            SlotContent::Text(_) => sound_text_before_tag(rest, has_brackets),
            SlotContent::Section => Some((markup::section_end(rest)?, false)),
            SlotContent::Value => Some((attribute_value_len(rest, *markup.last()?)?, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::elements::{ElementWalk, FileCache};
    use super::*;
    use crate::progress::Progress;
    use crate::xml::entry::Entry;
    use crate::xml::markup;
    use crate::xml::names::Names;
    use crate::xml::scan::{ParsedEntry, Visit, scan};
    use proptest::prelude::*;

    const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
        xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
        xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">";

    /// Compares the elements of each entry with those that are found by tokenising it.
    struct Compared;

    impl Visit for Compared {
        fn entry(&mut self, _: &[u8], _: &Entry, _: &Names) {}

        fn parsed(&mut self, parsed: &ParsedEntry<'_>, names: &Names) {
            let found = Elements::of(parsed.entry, parsed.text, names);
            let text = String::from_utf8_lossy(parsed.text);
            assert!(parsed.elements.is_none_or(|elements| *elements == found), "{text}");
        }
    }

    /// Elements of a few layouts, with values of all kinds.
    fn any_element() -> impl Strategy<Value = String> {
        let value = prop::sample::select(vec![
            "a",
            "",
            " b ",
            "\n",
            "c&amp;d",
            "&#65;",
            "e&f",
            "]]>",
            "g]]",
            "<b/>",
            "<!-- k -->",
            "<![CDATA[h & i]]>",
            "<![CDATA[]]>",
            "j<![CDATA[k]]>l",
            "<![CDATA[<![CDATA[]]>",
            "a text of more than sixteen bytes",
        ]);
        (0..10_u8, value.clone(), value).prop_map(|(layout, one, other)| match layout {
            0 => format!("<image:image><image:loc>{one}</image:loc></image:image>"),
            1 => format!(
                "<image:image>\n<image:loc>{one}</image:loc>\n<image:title><![CDATA[{other}]]></image:title></image:image>"
            ),
            2 => format!("<image:image><image:loc>{one}</image:loc>{other}<image:title/></image:image>"),
            3 => format!(
                "<video:video><video:player_loc allow_embed=\"{other}\">{one}</video:player_loc>\n<video:tag a='{one}'/></video:video>"
            ),
            4 => format!("<video:video xmlns:v=\"urn:{}\"><v:a b='c'>{one}</v:a></video:video>", other.len()),
            5 => format!(
                "<PageMap xmlns=\"http://www.google.com/schemas/sitemap-pagemap/1.0\"><DataObject type=\"{one}\">\
                <Attribute name=\"{other}\" value=\"{one}\"/></DataObject></PageMap>"
            ),
            6 => format!("<xhtml:link rel=\"alternate\" hreflang=\"{one}\" href = '/'/><image:image>{one}</image:image>"),
            _ => format!("<xhtml:link rel=\"alternate\" hreflang='{one}' href=\"{other}\"/>"),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn matching_elements_are_listed_as_by_the_tokenizer(
            entries in prop::collection::vec(prop::collection::vec(any_element(), 0..6), 1..8),
        ) {
            let entry = |elements: &Vec<String>| format!("\n<url><loc>/</loc>\n{}</url>", elements.concat());
            let file = format!("{ROOT}{}</urlset>", entries.iter().map(entry).collect::<String>());
            scan(file.as_bytes(), &mut Compared, &Progress::default());
        }
    }

    fn image(number: usize, rest: &str) -> String {
        format!("<image:image><image:loc>https://e.com/{number}?a&amp;b</image:loc>{rest}</image:image>")
    }

    /// Lists elements one after the other, with one cache. Returns it, and for each element whether it matched a pattern.
    fn list(elements: &[String]) -> (FileCache, Vec<bool>) {
        let names = Names::of_root(ROOT.as_bytes(), &markup::next(ROOT.as_bytes(), 0).unwrap()).unwrap();
        let mut known = FileCache::default();
        let matched = elements.iter().map(|element| {
            let inside = EntryBytes { bytes: element.as_bytes(), lead: 0, names: &names };
            let (mut matched, mut listed) = (Elements::default(), Elements::default());
            let end = known.patterns.list(&inside, (0, true), &mut matched);
            let walk = ElementWalk { inside, known: &mut known, elements: &mut listed, has_brackets: true };
            assert_eq!(walk.parse(0, &mut Entry::plain(0)), Some(element.len()));
            assert!(end.is_none_or(|end| end == element.len() && matched == listed));
            end.is_some()
        });
        let matched = matched.collect();
        (known, matched)
    }

    #[test]
    fn an_element_with_the_markup_of_an_earlier_one_is_not_tokenised() {
        let (bare, titled) = ("", "<image:title><![CDATA[a & b]]></image:title>");
        let elements = [image(1, bare), image(20, bare), image(300, titled), image(4, bare), image(55, titled)];
        assert_eq!(list(&elements).1, [false, true, false, true, true]);
    }

    #[test]
    fn an_element_with_other_values_of_attributes_is_not_tokenised() {
        let page_map = |namespace: &str, name: &str, value: &str| {
            format!(
                "<PageMap xmlns=\"{namespace}\"><DataObject type=\"a\"><Attribute name=\"{name}\" value=\"{value}\"/>\
                </DataObject></PageMap>"
            )
        };
        let namespace = "http://www.google.com/schemas/sitemap-pagemap/1.0";
        let elements = [
            page_map(namespace, "src", "https://e.com/?a&amp;b"),
            page_map(namespace, "name", ""),
            // The declaration decides what the elements are.
            page_map("http://www.google.com/schemas/sitemap-pagemap/1.1", "src", ""),
            page_map(namespace, "", "https://e.com/"),
        ];
        assert_eq!(list(&elements).1, [false, true, false, true]);
    }

    #[test]
    fn an_empty_tag_with_the_attributes_of_an_earlier_one_is_not_tokenised() {
        let link =
            |code: &str, href: &str| format!("<xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"{href}\" />");
        let elements = [
            link("de", "/de"),
            link("en-GB", "/en?a&amp;b"),
            link("de", "/de").replace(" href", "\nhref"),
            link("fr", "/fr"),
            image(1, ""),
            link("", ""),
            "<xhtml:link/>".to_owned(),
            link("it", "/it"),
            // A declaration may change what its element is.
            link("es", "/es").replace("rel=", "xmlns:a=\"urn:a\" rel="),
            link("es", "/es").replace("rel=", "xmlns:a=\"urn:b\" rel="),
        ];
        let matched = [false, true, false, true, false, true, false, true, false, false];
        assert_eq!(list(&elements).1, matched);
    }

    #[test]
    fn few_patterns_are_made_of_elements_that_all_differ() {
        let elements: Vec<String> = (0..100).map(|number| image(number, &format!("<image:x{number}/>"))).collect();
        let (known, matched) = list(&elements);
        assert!(!matched.contains(&true));
        assert!(known.patterns.credit < COST);
        assert_eq!(known.patterns.known.len(), MAX_PATTERNS);
    }
}
