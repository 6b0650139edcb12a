//! Patterns of extension elements: most elements of a file differ from an earlier one only in texts and attribute values.
//!
//! A pattern is the markup of an element with a slot for each text and CDATA section, or that of an empty tag with a slot
//! for each value of an attribute. If an element has the same bytes around its slots, its tags need not be tokenised: they
//! are those of the pattern at other offsets.

mod empty_tag;

use super::{EntryBytes, section_end, sound_text_before_tag};
use crate::progress::note_work;
use crate::xml::elements::Elements;
use crate::xml::entry::TextKind;
use crate::xml::markup::Kind;
use empty_tag::EmptyTag;
use memchr::memmem;
use std::sync::LazyLock;

/// Maximum number of patterns of a file, more than most files have kinds of elements.
const MAX_PATTERNS: usize = 4;

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
    known: Vec<Pattern>,
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
        // Most elements match the same pattern as the one before.
        let others = (0..self.known.len()).filter(|index| *index != self.last);
        for index in std::iter::once(self.last).chain(others) {
            let end = match self.known.get(index) {
                Some(Pattern::WithContent(pattern)) => {
                    pattern.list(inside, (start, has_brackets), (&mut self.shifts, elements))
                }
                Some(Pattern::Empty(tag)) => tag.list(inside, start, elements),
                None => break,
            };
            if let Some(end) = end {
                self.last = index;
                self.credit = (self.credit + 1).min(MAX_CREDIT);
                return Some(end);
            }
        }
        None
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
        if self.known.len() < MAX_PATTERNS {
            self.last = self.known.len();
            self.known.push(pattern);
        } else {
            self.last = (self.last + 1) % MAX_PATTERNS;
            if let Some(replaced) = self.known.get_mut(self.last) {
                *replaced = pattern;
            }
        }
    }
}

/// An element with content as it was listed, with its slots.
#[derive(Debug)]
struct ElementPattern {
    text: Box<[u8]>,
    /// Its nodes and attributes, at offsets into the text.
    elements: Elements,
    /// For each node the number of slots before its start tag and before its end tag.
    slots_before: Vec<(usize, usize)>,
    /// In ascending order.
    slots: Vec<Slot>,
}

/// A range of a pattern that may differ in other elements.
#[derive(Debug, Clone, Copy)]
struct Slot {
    start: usize,
    end: usize,
    /// The number of the node whose whole text this is; `None` for the content of a CDATA section.
    node: Option<usize>,
}

impl ElementPattern {
    /// The pattern of an element, which is at this offset of its entry; `None` if it has too many slots.
    fn of(text: &[u8], offset: usize, (listed, first): (&Elements, usize)) -> Option<Self> {
        let mut elements = Elements::default();
        elements.append((listed, first), |_| (offset.wrapping_neg(), offset.wrapping_neg()));
        let mut slots = Vec::new();
        for (number, node) in elements.nodes.iter_mut().enumerate() {
            if node.tag.kind == Kind::Start && node.text <= TextKind::Escaped {
                node.text = TextKind::Plain;
                slots.push(Slot { start: node.tag.end, end: node.inner_end, node: Some(number) });
            }
        }
        let mut at = 0;
        while let Some(found) = SECTION_START.find(text.get(at..)?) {
            let start = at + found + SECTION_START.needle().len();
            let end = start + section_end(text.get(start..)?)?;
            slots.push(Slot { start, end, node: None });
            at = end;
        }
        if slots.len() > MAX_SLOTS {
            return None;
        }
        slots.sort_unstable_by_key(|slot| slot.start);
        let before = |position: usize| slots.partition_point(|slot| slot.end <= position);
        let slots_before = elements.nodes.iter().map(|node| (before(node.tag.start), before(node.inner_end))).collect();
        Some(Self { text: text.into(), elements, slots_before, slots })
    }

    /// Lists the element whose `<` is at `start` if it matches. Returns the offset after it.
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
            let markup = self.text.get(known..slot.start)?;
            let rest = bytes.get(at..)?.strip_prefix(markup)?;
            let len = if slot.node.is_some() {
                let (len, is_escaped) = sound_text_before_tag(rest, has_brackets)?;
                escaped |= u64::from(is_escaped) << index;
                len
            } else {
                section_end(rest)?
            };
            note_work(markup.len() + len);
            at += markup.len() + len;
            known = slot.end;
            shifts.push((at - lead).wrapping_sub(known));
        }
        let markup = self.text.get(known..)?;
        bytes.get(at..)?.strip_prefix(markup)?;
        let first = elements.nodes.len();
        let shift = |slots: usize| shifts.get(slots).copied().unwrap_or_default();
        elements.append((&self.elements, 0), |number| {
            let (start, end) = self.slots_before.get(number).copied().unwrap_or_default();
            (shift(start), shift(end))
        });
        if escaped != 0 {
            let is_escaped = |(index, _): &(usize, &Slot)| escaped >> index & 1 == 1;
            for (_, slot) in self.slots.iter().enumerate().filter(is_escaped) {
                if let Some(node) = slot.node.and_then(|number| elements.nodes.get_mut(first + number)) {
                    node.text = TextKind::Escaped;
                }
            }
        }
        Some(at + markup.len())
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
        (0..9_u8, value.clone(), value).prop_map(|(layout, one, other)| match layout {
            0 => format!("<image:image><image:loc>{one}</image:loc></image:image>"),
            1 => format!(
                "<image:image>\n<image:loc>{one}</image:loc>\n<image:title><![CDATA[{other}]]></image:title></image:image>"
            ),
            2 => format!("<image:image><image:loc>{one}</image:loc>{other}<image:title/></image:image>"),
            3 => format!("<video:video><video:player_loc allow_embed=\"yes\">{one}</video:player_loc></video:video>"),
            4 => format!("<video:video xmlns:v=\"urn:{}\"><v:a b='c'>{one}</v:a></video:video>", other.len()),
            5 => format!("<xhtml:link rel=\"alternate\" hreflang=\"{one}\" href = '/'/><image:image>{one}</image:image>"),
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
