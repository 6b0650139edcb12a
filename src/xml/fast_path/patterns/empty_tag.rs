//! Patterns of empty tags, such as those of alternate links: they differ in the values of their attributes.

use super::super::{EntryBytes, attribute_value_len};
use crate::progress::note_work;
use crate::short_bytes::strip_prefix;
use crate::xml::elements::{Elements, Node};
use crate::xml::markup::Markup;
use std::ops::Range;

/// An empty tag with a slot for the value of each attribute.
#[derive(Debug)]
pub(super) struct EmptyTag {
    text: Box<[u8]>,
    /// The element as it was listed.
    node: Node,
    /// The length of `<` and its name.
    name_end: usize,
    attributes: Vec<Attribute>,
    /// The text after the last value.
    tail: Range<usize>,
}

/// An attribute of a pattern.
#[derive(Debug)]
struct Attribute {
    /// The text between the value before it, or the start of the tag, and its own value; it ends with a quote.
    markup: Range<usize>,
    /// The range of its name in that text.
    name: Range<usize>,
    /// The length of its value and of the quote after it, if its name is `rel`: nearly all elements have the same value.
    fixed: Option<usize>,
}

impl EmptyTag {
    /// The pattern of `node`, an element directly in the entry, with this text at this offset of the entry. `None` for one
    /// without attributes, or with namespace declarations, on which the meaning of names depends.
    pub(super) fn of(text: &[u8], offset: usize, listed: &Elements, node: &Node) -> Option<Self> {
        let (mut attributes, mut known) = (Vec::new(), 0);
        for (name, value) in listed.attribute_ranges(node) {
            let (name, value) = (name.start - offset..name.end - offset, value.start - offset..value.end - offset);
            let name_text = text.get(name.clone())?;
            if name_text.starts_with(b"xmlns") {
                return None;
            }
            let fixed = (name_text == b"rel").then_some(value.len() + 1);
            let (markup, name) = (known..value.start, name.start - known..name.end - known);
            attributes.push(Attribute { markup, name, fixed });
            known = value.end;
        }
        let (name_end, tail) = (node.tag.name_end - node.tag.start, known..text.len());
        (!attributes.is_empty()).then(|| Self { text: text.into(), node: *node, name_end, attributes, tail })
    }

    /// Lists the element whose `<` is at `start` if it matches. Returns the offset after it.
    #[inline]
    pub(super) fn list(&self, inside: &EntryBytes<'_>, start: usize, elements: &mut Elements) -> Option<usize> {
        let before = elements.len();
        let end = self.list_attributes(inside, start, elements);
        match end {
            Some(end) => {
                note_work(end - start);
                let start = start - inside.lead;
                let (end, name_end) = (end - inside.lead, start + self.name_end);
                elements.add_empty(&self.node, Markup { start, end, name_end, ..self.node.tag }, before.1);
            }
            None => elements.truncate(before),
        }
        end
    }

    #[inline]
    fn list_attributes(&self, inside: &EntryBytes<'_>, start: usize, elements: &mut Elements) -> Option<usize> {
        let EntryBytes { bytes, lead, .. } = *inside;
        let mut at = start;
        for attribute in &self.attributes {
            let len = self.value_len(attribute, bytes.get(at..)?)?;
            let (name, value) = (at - lead + attribute.name.start, at - lead + attribute.markup.len());
            elements.add_attribute(name..name + attribute.name.len(), value..value + len);
            at += attribute.markup.len() + len;
        }
        let tail = self.text.get(self.tail.clone())?;
        strip_prefix(bytes.get(at..)?, tail)?;
        Some(at + tail.len())
    }

    /// The length of the value of an attribute, whose markup `rest` begins with.
    #[inline]
    fn value_len(&self, attribute: &Attribute, rest: &[u8]) -> Option<usize> {
        let Attribute { markup, fixed, .. } = attribute;
        if let Some(fixed) = fixed
            && strip_prefix(rest, self.text.get(markup.start..markup.end + fixed)?).is_some()
        {
            return Some(fixed - 1);
        }
        let markup = self.text.get(markup.clone())?;
        attribute_value_len(strip_prefix(rest, markup)?, *markup.last()?)
    }
}
