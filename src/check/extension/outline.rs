//! Read access to the elements of an entry's extensions: values, attributes and children, decoded on demand.

use crate::xml::elements::{Elements, Node, TOP};
use crate::xml::entry::{decode_text, decode_value};
use crate::xml::escape;
use crate::xml::markup::{self, Attribute, Markup};
use crate::xml::names::split;
use std::borrow::Cow;

/// The extensions of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline<'t> {
    /// The entry text.
    pub text: &'t [u8],
    /// The entry text as a string, if it is known to be UTF-8.
    utf8: Option<&'t str>,
    /// Whether the entry text may have references.
    may_have_references: bool,
    elements: &'t Elements,
}

impl<'t> Outline<'t> {
    /// The outline of an entry text whose elements are known.
    pub(super) const fn new(text: &'t [u8], elements: &'t Elements) -> Self {
        Self { text, utf8: None, may_have_references: true, elements }
    }

    /// This outline with the text as a string, if it is known to be UTF-8, so that values need no validation.
    pub(super) const fn with_utf8(self, utf8: Option<&'t str>) -> Self {
        Self { utf8, ..self }
    }

    /// This outline, after one search of the whole text for references: if it has none, values are not searched.
    pub(super) fn with_searched_references(self) -> Self {
        Self { may_have_references: memchr::memchr(b'&', self.text).is_some(), ..self }
    }

    /// The elements, each before its children.
    pub(super) fn nodes(&self) -> &'t [Node] {
        &self.elements.nodes
    }

    /// The tags of extension elements between the previous entry and this one.
    pub(super) fn outside(&self) -> &'t [Markup] {
        &self.elements.outside
    }

    /// The element of a number.
    pub(super) fn node_at(&self, number: u32) -> Option<&'t Node> {
        self.nodes().get(number as usize)
    }

    /// The known elements directly inside the entry, with their numbers.
    pub(super) fn top_level(&self) -> impl Iterator<Item = (u32, &'t Node)> + use<'t> {
        (0..).zip(self.nodes()).filter(|(_, node)| node.parent == TOP && node.element.is_some())
    }

    /// The children of an element, with their numbers, in the order of the text.
    pub(super) fn children(&self, parent: u32) -> impl Iterator<Item = (u32, &'t Node)> {
        let from = if parent == TOP { 0 } else { parent as usize + 1 };
        let end = self.node_at(parent).map_or(usize::MAX, |node| node.end);
        let below = (from as u32..).zip(self.nodes().iter().skip(from));
        below.take_while(move |(_, node)| node.tag.start < end).filter(move |(_, node)| node.parent == parent)
    }

    /// The first known child with a name.
    pub(super) fn child(&self, parent: u32, name: &str) -> Option<(u32, &'t Node)> {
        self.children(parent).find(|(_, node)| node.element.is_some_and(|element| element.name == name))
    }

    /// The value of an element: decoded, trimmed of XML whitespace.
    pub(super) fn value(&self, node: &Node) -> Cow<'t, str> {
        let (start, end) = markup::trim(self.text, node.tag.end, node.inner_end);
        match self.utf8.and_then(|utf8| utf8.get(start..end)) {
            Some(raw) => decode_text(raw, node.text),
            None => decode_value(self.text.get(start..end).unwrap_or_default(), node.text),
        }
    }

    /// Whether the value of an element is not empty.
    pub(super) fn has_value(&self, node: &Node) -> bool {
        let raw = self.text.get(node.tag.end..node.inner_end).unwrap_or_default();
        match raw.iter().find(|byte| !markup::is_space(**byte)) {
            // It may stand for blanks or for nothing.
            Some(b'&' | b'<') => !self.value(node).is_empty(),
            first => first.is_some(),
        }
    }

    /// The value of the first known child with a name.
    pub(super) fn value_of(&self, parent: u32, name: &str) -> Option<Cow<'t, str>> {
        self.child(parent, name).map(|(_, node)| self.value(node))
    }

    /// The attributes of an element as written, up to the first that is malformed.
    pub(super) fn attributes(&self, node: &Node) -> impl Iterator<Item = Attribute<'t>> {
        self.elements.attributes(node, self.text)
    }

    /// The value of an attribute, decoded.
    pub(super) fn attribute(&self, node: &Node, name: &str) -> Option<Cow<'t, str>> {
        let found = self.attributes(node).find(|found| found.name == name.as_bytes())?;
        Some(self.decoded(found.value))
    }

    /// The raw value of an [attribute](Self::attributes), decoded.
    pub(super) fn decoded(&self, value: &'t [u8]) -> Cow<'t, str> {
        let text = self.utf8.and_then(|utf8| {
            let start = (value.as_ptr() as usize).checked_sub(utf8.as_ptr() as usize)?;
            utf8.get(start..start + value.len())
        });
        match text {
            Some(text) if !self.may_have_references => Cow::Borrowed(text),
            Some(text) => escape::decode_str(text),
            None => escape::decode(value),
        }
    }

    /// End of an attribute, including the closing quote, as an offset among the attributes of its tag.
    pub(super) fn end_among_attributes(&self, node: &Node, attribute: &Attribute<'_>) -> usize {
        let slice = node.tag.attributes(self.text);
        (attribute.value.as_ptr() as usize + attribute.value.len() + 1).saturating_sub(slice.as_ptr() as usize)
    }

    /// The name of an element as written.
    pub(super) fn name(&self, node: &Node) -> Cow<'t, str> {
        escape::lossy(node.tag.name(self.text))
    }

    /// The local name of an element.
    pub(super) fn local(&self, node: &Node) -> &'t [u8] {
        split(node.tag.name(self.text)).1
    }
}
