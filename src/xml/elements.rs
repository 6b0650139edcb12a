//! The elements of the extensions in an entry: positions of tags, attributes and texts, and what each element is.
//!
//! The parser lists them while it parses an entry (`xml::fast_path`), so that the rules need not tokenize it again; an
//! entry that the fast path does not support is parsed once more (`xml::element_reader`). A property test holds both to
//! the same list. Elements of unknown namespaces and of the protocol are skipped with their content; all content of an
//! extension is listed. An entry that is not well-formed has no elements.

use super::entry::TextKind;
use super::markup::{Attribute, Markup};
use super::names::Meaning;
use crate::protocol::extension::{self, Element};
use crate::protocol::namespace::Namespace;
use memchr::memmem;
use std::ops::Range;
use std::sync::LazyLock;

/// The parent of an element that is directly in the entry.
pub(crate) const TOP: u32 = u32::MAX;

/// One element of an extension. Positions are byte offsets into the entry text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Its start tag.
    pub tag: Markup,
    /// Where its end tag starts; the end of the start tag in `<a/>`.
    pub inner_end: usize,
    /// Just after its end.
    pub end: usize,
    /// The number of its parent, or [`TOP`].
    pub parent: u32,
    /// The namespace of its name.
    pub meaning: Meaning,
    /// Its definition in the extension; `None` if the extension does not allow it here.
    pub element: Option<&'static Element>,
    /// Its position among the children of its parent, in schema order.
    pub place: usize,
    /// The kind of its text.
    pub text: TextKind,
    /// The range of its attributes in `Elements::attributes`.
    attributes: (u32, u32),
}

/// The position of an attribute in the entry text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AttributeSpan {
    name: (u32, u32),
    value: (u32, u32),
}

/// The elements of an entry, each before its children. The lists are reused for the next entry.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Elements {
    /// In the order of their start tags.
    pub nodes: Vec<Node>,
    /// Where elements of extensions are before the entry, between it and the one before.
    pub outside: Vec<Markup>,
    attributes: Vec<AttributeSpan>,
}

static XMLNS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("xmlns"));

/// Whether attributes may declare a namespace.
pub(in crate::xml) fn may_declare(attributes: &[u8]) -> bool {
    attributes.len() >= "xmlns".len() && XMLNS.find(attributes).is_some()
}

/// Whether a name is one of an extension that is known.
pub(crate) fn is_extension(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Extension(namespace) if namespace != Namespace::Other)
}

impl Elements {
    /// Removes the elements of the previous entry.
    pub(in crate::xml) fn clear(&mut self) {
        self.nodes.clear();
        self.outside.clear();
        self.attributes.clear();
    }

    /// How many nodes and attributes there are.
    pub(in crate::xml) fn len(&self) -> (usize, usize) {
        (self.nodes.len(), self.attributes.len())
    }

    /// Removes the last nodes and attributes.
    pub(in crate::xml) fn truncate(&mut self, (nodes, attributes): (usize, usize)) {
        self.nodes.truncate(nodes);
        self.attributes.truncate(attributes);
    }

    /// Adds an offset to all positions, with wrapping, for the same elements elsewhere in another entry.
    pub(in crate::xml) fn shift(&mut self, by: usize) {
        for node in &mut self.nodes {
            let Markup { start, end, name_end, .. } = &mut node.tag;
            for position in [start, end, name_end, &mut node.inner_end, &mut node.end] {
                *position = position.wrapping_add(by);
            }
        }
        for AttributeSpan { name, value } in &mut self.attributes {
            for position in [&mut name.0, &mut name.1, &mut value.0, &mut value.1] {
                *position = position.wrapping_add(by as u32);
            }
        }
    }

    /// Notes an attribute of the element that is opened next.
    pub(in crate::xml) fn add_attribute(&mut self, name: Range<usize>, value: Range<usize>) {
        let span = |range: Range<usize>| (range.start as u32, range.end as u32);
        self.attributes.push(AttributeSpan { name: span(name), value: span(value) });
    }

    /// Whether an attribute of that name was noted since there were `from` of them.
    pub(in crate::xml) fn has_attribute(&self, text: &[u8], from: usize, name: &[u8]) -> bool {
        let noted = self.attributes.get(from..).unwrap_or_default();
        noted.iter().any(|span| slice(text, span.name) == name)
    }

    /// Notes a new element below `parent`, as far as its start tag tells. Its attributes are those from `attributes`
    /// on.
    pub(in crate::xml) fn open(
        &mut self,
        tag: Markup,
        parent: Option<u32>,
        (meaning, local): (Meaning, &[u8]),
        attributes: u32,
    ) {
        let mut place = 0;
        let element = match parent.and_then(|number| self.nodes.get_mut(number as usize)) {
            None => match meaning {
                Meaning::Extension(namespace) => {
                    extension::root(namespace).filter(|root| root.name.as_bytes() == local)
                }
                Meaning::Core => None,
            },
            Some(parent) => {
                parent.text = TextKind::Children;
                let known = parent.element.filter(|_| parent.meaning == meaning).and_then(|known| known.child(local));
                known.map(|(at, child)| {
                    place = at;
                    child
                })
            }
        };
        self.nodes.push(Node {
            tag,
            inner_end: tag.end,
            end: tag.end,
            parent: parent.unwrap_or(TOP),
            meaning,
            element,
            place,
            text: TextKind::Plain,
            attributes: (attributes, self.attributes.len() as u32),
        });
    }

    /// The attributes of an element, up to the first that is malformed.
    pub fn attributes<'t>(&self, node: &Node, text: &'t [u8]) -> impl Iterator<Item = Attribute<'t>> {
        let spans = self.attributes.get(node.attributes.0 as usize..node.attributes.1 as usize).unwrap_or_default();
        spans.iter().map(move |span| Attribute { name: slice(text, span.name), value: slice(text, span.value) })
    }
}

fn slice(text: &[u8], (start, end): (u32, u32)) -> &[u8] {
    text.get(start as usize..end as usize).unwrap_or_default()
}
