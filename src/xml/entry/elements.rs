//! The elements of the extensions in an entry: positions of tags, attributes and texts, and what each element is.
//!
//! The parser notes them while it goes through an entry (`xml::fast_path`), so that the rules need not tokenize it
//! again; an entry that is not written the usual way is walked once more here. A property test holds both to the same
//! list. Elements of strange namespaces and of the protocol are passed over whole; what stands in an extension is listed
//! whatever it is. An entry that is not well-formed has no elements.

use super::{Anomalies, Entry, TextKind};
use crate::protocol::Field;
use crate::protocol::extension::{self, Element};
use crate::protocol::namespace::Namespace;
use crate::xml::escape;
use crate::xml::markup::{self, Attribute, Kind, Markup};
use crate::xml::names::{Meaning, Names, split};
use crate::xml::parser::Parser;
use memchr::memmem;
use std::ops::Range;
use std::sync::LazyLock;

/// The parent of an element that stands directly in the entry.
pub const TOP: u32 = u32::MAX;

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
    /// Whose name it has.
    pub meaning: Meaning,
    /// What it is in that extension, at that place; `None` for what does not belong there.
    pub element: Option<&'static Element>,
    /// Its place among the children of its parent, in the order of the schema.
    pub place: usize,
    /// What its text is made of.
    pub text: TextKind,
    /// Its first attribute in the list of all, and the one behind its last.
    attributes: (u32, u32),
}

/// Where an attribute stands in the entry text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AttributeSpan {
    name: (u32, u32),
    value: (u32, u32),
}

/// The elements of an entry, each before its children. The lists are used again for the next entry.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Elements {
    /// In the order of their start tags.
    pub nodes: Vec<Node>,
    /// Where elements of extensions stand before the entry, between it and the one before.
    pub outside: Vec<Markup>,
    attributes: Vec<AttributeSpan>,
}

static XMLNS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("xmlns"));

/// Whether attributes may declare a namespace.
pub(in crate::xml) fn may_declare(attributes: &[u8]) -> bool {
    attributes.len() >= "xmlns".len() && XMLNS.find(attributes).is_some()
}

/// Whether a name is one of an extension that is known.
pub fn is_extension(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Extension(namespace) if namespace != Namespace::Other)
}

impl Elements {
    /// Forgets the elements of the entry before.
    pub(in crate::xml) fn clear(&mut self) {
        self.nodes.clear();
        self.outside.clear();
        self.attributes.clear();
    }

    /// How many nodes and attributes there are.
    pub(in crate::xml) fn len(&self) -> (usize, usize) {
        (self.nodes.len(), self.attributes.len())
    }

    /// Takes the last ones out again.
    pub(in crate::xml) fn truncate(&mut self, (nodes, attributes): (usize, usize)) {
        self.nodes.truncate(nodes);
        self.attributes.truncate(attributes);
    }

    /// Finds the elements of an entry, which must be the anatomy of `text`.
    pub fn read(&mut self, entry: &Entry, text: &[u8], names: &Names) {
        self.clear();
        if !entry.anomalies.has(Anomalies::BROKEN) {
            self.look_before(text, entry.open as usize, names);
            self.walk(entry, text, names);
        }
    }

    /// The same for one entry alone.
    pub fn of(entry: &Entry, text: &[u8], names: &Names) -> Self {
        let mut elements = Self::default();
        elements.read(entry, text, names);
        elements
    }

    /// Extensions between the entry before and this one, whose start tag stands at `open`.
    pub(in crate::xml) fn look_before(&mut self, text: &[u8], open: usize, names: &Names) {
        // Nearly every lead is a line break and some blanks, too short for an element.
        if open < "<a:b/>".len() || memchr::memchr(b'<', text.get(..open).unwrap_or_default()).is_none() {
            return;
        }
        let (mut parser, mut at) = (Parser::default(), 0);
        while let Some(tag) = markup::next(text, at).filter(|tag| tag.start < open) {
            at = match tag.kind {
                Kind::Start | Kind::Empty => {
                    if is_extension(names.resolve(text, &tag).0) {
                        self.outside.push(tag);
                    }
                    parser.skip_element(text, &tag)
                }
                _ => tag.end,
            };
        }
    }

    fn walk(&mut self, entry: &Entry, text: &[u8], names: &Names) {
        let (mut at, end) = (first_child(entry), entry.close as usize);
        let (mut parser, mut scopes) = (Parser::default(), Scopes::default());
        // The number of each open element.
        let mut open: Vec<u32> = Vec::new();
        if entry.anomalies.has(Anomalies::DECLARES_NAMESPACE) {
            let tag = markup::next(text, entry.open as usize).filter(|tag| tag.end <= entry.open_end as usize);
            scopes.enter(0, tag.map(|tag| tag.attributes(text)).unwrap_or_default(), names);
        }
        while let Some(tag) = markup::next(text, at).filter(|tag| tag.start < end) {
            at = tag.end;
            let inner = open.last().copied();
            match tag.kind {
                Kind::Start | Kind::Empty => {
                    let depth = open.len() as u32 + 1;
                    scopes.enter(depth, tag.attributes(text), names);
                    let (prefix, local) = split(tag.name(text));
                    let meaning = scopes.resolve(prefix).unwrap_or_else(|| names.meaning_of_prefix(prefix));
                    if inner.is_none() && !is_extension(meaning) {
                        scopes.leave(depth);
                        at = parser.skip_element(text, &tag);
                        continue;
                    }
                    let number = self.nodes.len() as u32;
                    let attributes = self.attributes.len() as u32;
                    self.add_attributes(text, &tag);
                    self.open(tag, inner, (meaning, local), attributes);
                    if tag.kind == Kind::Start {
                        open.push(number);
                    } else {
                        scopes.leave(depth);
                    }
                }
                Kind::End => {
                    if let Some(node) = open.pop().and_then(|number| self.nodes.get_mut(number as usize)) {
                        node.inner_end = tag.start;
                        node.end = tag.end;
                        if node.text == TextKind::Plain {
                            let inner = text.get(node.tag.end..tag.start).unwrap_or_default();
                            if memchr::memchr(b'&', inner).is_some() {
                                node.text = TextKind::Escaped;
                            }
                        }
                    }
                    scopes.leave(open.len() as u32 + 1);
                }
                Kind::Comment | Kind::Cdata | Kind::Instruction | Kind::Declaration | Kind::Stray => {
                    if let Some(node) = inner.and_then(|number| self.nodes.get_mut(number as usize)) {
                        node.text = node.text.max(TextKind::Mixed);
                    }
                }
            }
        }
    }

    fn add_attributes(&mut self, text: &[u8], tag: &Markup) {
        let slice = tag.attributes(text);
        let offset = |part: &[u8]| (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        for Attribute { name, value } in markup::attributes(slice) {
            let (name_at, value_at) = (offset(name), offset(value));
            self.add_attribute(name_at..name_at + name.len(), value_at..value_at + value.len());
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

    /// Notes a new element below `parent`, as far as its start tag tells. Its attributes are those from `attributes` on.
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

/// Where to begin: nothing of an extension stands before the end of a plain loc that comes first.
fn first_child(entry: &Entry) -> usize {
    let last = Field::ALL.into_iter().filter_map(|field| entry.field(field)).map(|span| span.end).max();
    let is_plain = entry.anomalies == Anomalies::default();
    last.filter(|_| is_plain).unwrap_or(entry.open_end) as usize
}

/// Declarations that are kept at a time: no sound entry has as many, and each element is compared with all of them.
const DECLARED: usize = 64;

/// Namespaces that elements of the entry declare, innermost last.
#[derive(Default)]
struct Scopes<'t> {
    declared: Vec<(u32, &'t [u8], Meaning)>,
}

impl<'t> Scopes<'t> {
    fn enter(&mut self, depth: u32, attributes: &'t [u8], names: &Names) {
        if !may_declare(attributes) {
            return;
        }
        for attribute in markup::attributes(attributes) {
            let prefix = match attribute.name.strip_prefix(b"xmlns") {
                Some(b"") => &[],
                Some([b':', prefix @ ..]) => prefix,
                _ => continue,
            };
            let uri = escape::decode(attribute.value);
            if self.declared.len() < DECLARED {
                self.declared.push((depth, prefix, names.meaning_of(&uri)));
            }
        }
    }

    fn leave(&mut self, depth: u32) {
        while self.declared.last().is_some_and(|(of, ..)| *of >= depth) {
            self.declared.pop();
        }
    }

    fn resolve(&self, prefix: &[u8]) -> Option<Meaning> {
        self.declared.iter().rev().find(|(_, known, _)| *known == prefix).map(|(.., meaning)| *meaning)
    }
}
