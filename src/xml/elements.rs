//! The extension elements of an entry: positions of tags, attributes and texts, and the schema definition of each.
//!
//! The parser lists them while it parses an entry (`xml::fast_path`), so that the rules need not tokenize it again. An
//! entry that the fast path does not support is parsed again (`xml::element_reader`); a property test verifies that
//! both give the same list. Elements of unknown namespaces and of the protocol are skipped with their content; all
//! content of an extension is listed. An entry that is not well-formed has no elements.

use super::entry::TextKind;
use super::markup::{Attribute, Kind, Markup};
use super::names::Meaning;
use crate::protocol::extension::{self, Element};
use crate::protocol::namespace::Namespace;
use std::ops::Range;

/// The parent of an element that is directly in the entry.
pub(crate) const TOP: u32 = u32::MAX;

/// One element of an extension. Positions are byte offsets into the entry text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Its start tag.
    pub tag: Markup,
    /// The start of its end tag; the end of the tag for `<a/>`.
    pub inner_end: usize,
    /// The offset after its end.
    pub end: usize,
    /// The number of its parent, or [`TOP`].
    pub parent: u32,
    /// The namespace of its name.
    pub meaning: Meaning,
    /// Its definition in the extension's schema; `None` if the schema does not allow it here.
    pub element: Option<&'static Element>,
    /// Its position among the children of its parent in schema order.
    pub schema_index: usize,
    /// The kind of its text.
    pub text: TextKind,
    /// The range of its attributes in `Elements::attributes`.
    attributes: (u32, u32),
}

/// The definition of an element in its extension's schema.
#[derive(Debug, Clone, Copy)]
pub(in crate::xml) struct Definition {
    element: &'static Element,
    /// Its position among the children of its parent in schema order.
    schema_index: usize,
}

impl Definition {
    /// That of an element directly in the entry.
    pub(in crate::xml) fn of_root(meaning: Meaning, local: &[u8]) -> Option<Self> {
        let Meaning::Extension(namespace) = meaning else { return None };
        let element = extension::root(namespace).filter(|root| root.name.as_bytes() == local)?;
        Some(Self { element, schema_index: 0 })
    }

    /// That of a child of a defined element.
    pub(in crate::xml) fn of_child(parent: &'static Element, local: &[u8]) -> Option<Self> {
        let (schema_index, element) = parent.child(local)?;
        Some(Self { element, schema_index })
    }
}

impl Node {
    /// Whether its start tag has attributes.
    pub const fn has_attributes(&self) -> bool {
        self.attributes.0 < self.attributes.1
    }
}

/// The position of an attribute in the entry text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AttributeSpan {
    name: (u32, u32),
    value: (u32, u32),
}

impl AttributeSpan {
    /// The same attribute at another offset (wrapping).
    const fn shifted(self, by: usize) -> Self {
        let by = by as u32;
        let ((name, name_end), (value, value_end)) = (self.name, self.value);
        Self {
            name: (name.wrapping_add(by), name_end.wrapping_add(by)),
            value: (value.wrapping_add(by), value_end.wrapping_add(by)),
        }
    }
}

/// The elements of an entry, each before its children. The lists are reused for the next entry.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Elements {
    /// The elements in the order of their start tags.
    pub nodes: Vec<Node>,
    /// The start tags of extension elements between the previous entry and this one.
    pub outside: Vec<Markup>,
    attributes: Vec<AttributeSpan>,
}

/// Whether a meaning is a known extension.
pub(crate) fn is_extension(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Extension(namespace) if namespace != Namespace::Other)
}

/// Whether the start tag of an entry is so near to the start of its text that no element can be before it. Most entries
/// begin with a line break and blanks.
#[inline]
pub(in crate::xml) const fn is_short_lead(open: usize) -> bool {
    open < "<a:b/>".len()
}

impl Elements {
    /// Removes the elements of the previous entry.
    pub(in crate::xml) fn clear(&mut self) {
        self.nodes.clear();
        self.outside.clear();
        self.attributes.clear();
    }

    /// The number of nodes and of attributes.
    pub(in crate::xml) fn len(&self) -> (usize, usize) {
        (self.nodes.len(), self.attributes.len())
    }

    /// Shortens the lists of nodes and attributes to these lengths.
    pub(in crate::xml) fn truncate(&mut self, (nodes, attributes): (usize, usize)) {
        self.nodes.truncate(nodes);
        self.attributes.truncate(attributes);
    }

    /// Adds an offset to all positions (wrapping), for the same elements in another entry.
    pub(in crate::xml) fn shift(&mut self, by: usize) {
        for node in &mut self.nodes {
            let Markup { start, end, name_end, .. } = &mut node.tag;
            for position in [start, end, name_end, &mut node.inner_end, &mut node.end] {
                *position = position.wrapping_add(by);
            }
        }
        for span in &mut self.attributes {
            *span = span.shifted(by);
        }
    }

    /// Adds an attribute of the element that is opened next.
    pub(in crate::xml) fn add_attribute(&mut self, name: Range<usize>, value: Range<usize>) {
        let span = |range: Range<usize>| (range.start as u32, range.end as u32);
        self.attributes.push(AttributeSpan { name: span(name), value: span(value) });
    }

    /// Whether an attribute of this name is in the list from index `from` on.
    pub(in crate::xml) fn has_attribute(&self, text: &[u8], from: usize, name: &[u8]) -> bool {
        let recent = self.attributes.get(from..).unwrap_or_default();
        recent.iter().any(|span| slice(text, span.name) == name)
    }

    /// The element below which a child with this meaning is defined, if the schema defines element `parent`.
    pub(in crate::xml) fn parent_definition(&self, parent: u32, meaning: Meaning) -> Option<&'static Element> {
        self.nodes.get(parent as usize).filter(|parent| parent.meaning == meaning)?.element
    }

    /// The definition of an element below `parent`, or directly in the entry.
    pub(in crate::xml) fn definition(&self, parent: Option<u32>, meaning: Meaning, local: &[u8]) -> Option<Definition> {
        match parent {
            None => Definition::of_root(meaning, local),
            Some(parent) => Definition::of_child(self.parent_definition(parent, meaning)?, local),
        }
    }

    /// Adds a new element below `parent` with the data of its start tag. Its attributes are those from index
    /// `attributes` on.
    pub(in crate::xml) fn open(
        &mut self,
        tag: Markup,
        parent: Option<u32>,
        (meaning, definition): (Meaning, Option<Definition>),
        attributes: u32,
    ) {
        if let Some(parent) = parent.and_then(|number| self.nodes.get_mut(number as usize)) {
            parent.text = TextKind::Children;
        }
        self.nodes.push(Node {
            tag,
            inner_end: tag.end,
            end: tag.end,
            parent: parent.unwrap_or(TOP),
            meaning,
            element: definition.map(|definition| definition.element),
            schema_index: definition.map_or(0, |definition| definition.schema_index),
            text: TextKind::Plain,
            attributes: (attributes, self.attributes.len() as u32),
        });
    }

    /// Adds the elements of a pattern. `shifts` has what is added (wrapping) to positions, by the number of slots before them.
    pub(in crate::xml) fn append(&mut self, pattern: &SlottedElements, shifts: &[usize]) {
        let shift = |slots: u8| shifts.get(usize::from(slots)).copied().unwrap_or_default();
        let (added, from) = (self.nodes.len() as u32, self.attributes.len() as u32);
        self.attributes.extend(pattern.attributes.iter().map(|(span, slots)| {
            let (by, end_by) = (shift(slots.before) as u32, shift(slots.after) as u32);
            let ((name, name_end), (value, value_end)) = (span.name, span.value);
            AttributeSpan {
                name: (name.wrapping_add(by), name_end.wrapping_add(by)),
                value: (value.wrapping_add(by), value_end.wrapping_add(end_by)),
            }
        }));
        self.nodes.extend(pattern.nodes.iter().map(|(node, slots)| {
            let (by, tag_by, end_by) = (shift(slots.start), shift(slots.tag_end), shift(slots.end));
            let Markup { kind, start, end, name_end } = node.tag;
            Node {
                tag: Markup {
                    kind,
                    start: start.wrapping_add(by),
                    end: end.wrapping_add(tag_by),
                    name_end: name_end.wrapping_add(by),
                },
                inner_end: node.inner_end.wrapping_add(end_by),
                end: node.end.wrapping_add(end_by),
                parent: if node.parent == TOP { TOP } else { node.parent + added },
                attributes: (node.attributes.0 + from, node.attributes.1 + from),
                ..*node
            }
        }));
    }

    /// Adds an element directly in the entry that differs from `node`, one of another list, only in its start tag, which is
    /// empty. Its attributes are those from index `attributes` on.
    #[inline]
    pub(in crate::xml) fn add_empty(&mut self, node: &Node, tag: Markup, attributes: usize) {
        let attributes = (attributes as u32, self.attributes.len() as u32);
        self.nodes.push(Node { tag, inner_end: tag.end, end: tag.end, attributes, ..*node });
    }

    /// The ranges of the name and of the value of each attribute of an element.
    pub(in crate::xml) fn attribute_ranges(&self, node: &Node) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let spans = self.attributes.get(node.attributes.0 as usize..node.attributes.1 as usize).unwrap_or_default();
        let range = |(start, end): (u32, u32)| start as usize..end as usize;
        spans.iter().map(move |span| (range(span.name), range(span.value)))
    }

    /// The attributes of an element, up to the first malformed one.
    pub fn attributes<'t>(&self, node: &Node, text: &'t [u8]) -> impl Iterator<Item = Attribute<'t>> {
        let spans = self.attributes.get(node.attributes.0 as usize..node.attributes.1 as usize).unwrap_or_default();
        spans.iter().map(move |span| Attribute { name: slice(text, span.name), value: slice(text, span.value) })
    }
}

/// The elements of a pattern, each with the numbers of slots before its positions.
#[derive(Debug)]
pub(in crate::xml) struct SlottedElements {
    nodes: Vec<(Node, NodeSlots)>,
    attributes: Vec<(AttributeSpan, AttributeSlots)>,
}

/// The numbers of slots before the positions of an element.
#[derive(Debug, Clone, Copy)]
struct NodeSlots {
    /// Before its start and the end of its name.
    start: u8,
    /// Before the end of its start tag.
    tag_end: u8,
    /// Before the start and the end of its end tag.
    end: u8,
}

/// The numbers of slots before an attribute's value and before its end.
#[derive(Debug, Clone, Copy)]
struct AttributeSlots {
    before: u8,
    after: u8,
}

/// A range of a pattern that may differ in other elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::xml) struct Slot {
    /// The range in the text of the pattern.
    pub(in crate::xml) range: Range<usize>,
    /// What is in it.
    pub(in crate::xml) content: SlotContent,
}

/// What is in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::xml) enum SlotContent {
    /// The whole text of the element with this number.
    Text(usize),
    /// A CDATA section, between its delimiters.
    Section,
    /// The value of an attribute.
    Value,
}

impl SlottedElements {
    /// The elements of a list from the number `first` on, which have this text at this offset of the entry, and the slots of
    /// the text: texts, the values of attributes that are no namespace declarations, and the given sections.
    pub(in crate::xml) fn of(
        (text, offset): (&[u8], usize),
        (listed, first): (&Elements, usize),
        sections: Vec<Slot>,
    ) -> Option<(Self, Vec<Slot>)> {
        let (mut slots, mut nodes, mut attributes) = (sections, Vec::new(), Vec::new());
        let from = listed.nodes.get(first)?.attributes.0;
        for node in listed.nodes.get(first..)? {
            let moved = |position: usize| position.wrapping_sub(offset);
            let Markup { kind, start, end, name_end } = node.tag;
            let mut node = Node {
                tag: Markup { kind, start: moved(start), end: moved(end), name_end: moved(name_end) },
                inner_end: moved(node.inner_end),
                end: moved(node.end),
                parent: if node.parent == TOP { TOP } else { node.parent - first as u32 },
                attributes: (node.attributes.0 - from, node.attributes.1 - from),
                ..*node
            };
            if kind == Kind::Start && node.text <= TextKind::Escaped {
                node.text = TextKind::Plain;
                let content = SlotContent::Text(nodes.len());
                slots.push(Slot { range: node.tag.end..node.inner_end, content });
            }
            nodes.push(node);
        }
        for span in listed.attributes.get(from as usize..)? {
            let span = span.shifted(offset.wrapping_neg());
            let name = slice(text, span.name);
            if !name.starts_with(b"xmlns") {
                let range = span.value.0 as usize..span.value.1 as usize;
                slots.push(Slot { range, content: SlotContent::Value });
            }
            attributes.push(span);
        }
        if slots.len() > usize::from(u8::MAX) {
            return None;
        }
        slots.sort_unstable_by_key(|slot| slot.range.start);
        // A slot may be empty: then it is before the end of what it contains, but not before the start of that.
        let starting_before = |position: usize| slots.partition_point(|slot| slot.range.start < position) as u8;
        let ending_before = |position: usize| slots.partition_point(|slot| slot.range.end <= position) as u8;
        let slots_of_node = |node: &Node| NodeSlots {
            start: starting_before(node.tag.start),
            tag_end: starting_before(node.tag.end),
            end: ending_before(node.inner_end),
        };
        let slots_of_attribute = |span: &AttributeSpan| {
            let (before, start) = (starting_before(span.value.0 as usize), span.value.0 as usize);
            let is_slot = slots.get(usize::from(before)).is_some_and(|slot| slot.range.start == start);
            AttributeSlots { before, after: before + u8::from(is_slot) }
        };
        let nodes = nodes.into_iter().map(|node| (node, slots_of_node(&node))).collect();
        let attributes = attributes.into_iter().map(|span| (span, slots_of_attribute(&span))).collect();
        Some((Self { nodes, attributes }, slots))
    }
}

fn slice(text: &[u8], (start, end): (u32, u32)) -> &[u8] {
    text.get(start as usize..end as usize).unwrap_or_default()
}
