//! Parses the extensions of one entry into a flat list of elements in document order.
//!
//! One walk, one allocation. Elements of strange namespaces and of the protocol are passed over whole; what stands
//! in an extension is listed whatever it is, so that it can be checked. An entry that is not well-formed has no outline.

use crate::protocol::Field;
use crate::protocol::extension::{self, Element};
use crate::protocol::namespace::Namespace;
use crate::xml::entry::{Anomalies, Entry, TextKind, decode_value};
use crate::xml::markup::{self, Kind, Markup};
use crate::xml::names::{Meaning, Names, split};
use crate::xml::parser::Parser;
use memchr::memmem;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The parent of an element that stands directly in the entry.
pub(super) const TOP: u32 = u32::MAX;

/// One element of an extension. Positions are byte offsets into the entry text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
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
}

/// The extensions of an entry.
#[derive(Debug)]
pub(super) struct Outline<'t> {
    /// The entry text.
    pub text: &'t [u8],
    /// The elements, each before its children.
    pub nodes: Vec<Node>,
    /// Where elements of extensions stand before the entry, between it and the one before.
    pub outside: Vec<Markup>,
}

static XMLNS: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("xmlns"));

/// Declarations that are kept at a time: no sound entry has as many, and each element is compared with all of them.
const DECLARED: usize = 64;

/// Namespaces that elements of the entry declare, innermost last.
#[derive(Default)]
struct Scopes<'t> {
    declared: Vec<(u32, &'t [u8], Meaning)>,
}

impl<'t> Scopes<'t> {
    fn enter(&mut self, depth: u32, attributes: &'t [u8], names: &Names) {
        if attributes.is_empty() || XMLNS.find(attributes).is_none() {
            return;
        }
        for attribute in markup::attributes(attributes) {
            let prefix = match attribute.name.strip_prefix(b"xmlns") {
                Some(b"") => &[],
                Some([b':', prefix @ ..]) => prefix,
                _ => continue,
            };
            let uri = crate::xml::escape::decode(attribute.value);
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

impl<'t> Outline<'t> {
    /// The outline of an entry, which must be the anatomy of `text`.
    pub fn of(entry: &Entry, text: &'t [u8], names: &Names) -> Self {
        let mut outline = Self { text, nodes: Vec::new(), outside: Vec::new() };
        if entry.anomalies.has(Anomalies::BROKEN) {
            return outline;
        }
        let count = entry.extensions;
        let few = usize::from(count.alternate) + 3 * usize::from(count.image) + 12 * usize::from(count.video);
        outline.nodes.reserve_exact((few + 8 * usize::from(count.news) + 2 * usize::from(count.other)).min(256));
        outline.look_before(entry.open as usize, names);
        outline.walk(entry, names);
        outline
    }

    /// Extensions between the entry before and this one.
    fn look_before(&mut self, open: usize, names: &Names) {
        let (text, mut parser, mut at) = (self.text, Parser::default(), 0);
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

    fn walk(&mut self, entry: &Entry, names: &Names) {
        let text = self.text;
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
                    let node = self.node(tag, inner, meaning, local);
                    self.nodes.push(node);
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

    /// A new element below `parent`, as far as its start tag tells.
    fn node(&mut self, tag: Markup, parent: Option<u32>, meaning: Meaning, local: &[u8]) -> Node {
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
        Node {
            tag,
            inner_end: tag.end,
            end: tag.end,
            parent: parent.unwrap_or(TOP),
            meaning,
            element,
            place,
            text: TextKind::Plain,
        }
    }

    /// The element of a number.
    pub fn node_at(&self, number: u32) -> Option<&Node> {
        self.nodes.get(number as usize)
    }

    /// The children of an element, with their numbers, in the order of the text.
    pub fn children(&self, parent: u32) -> impl Iterator<Item = (u32, &Node)> {
        let from = if parent == TOP { 0 } else { parent as usize + 1 };
        let end = self.node_at(parent).map_or(usize::MAX, |node| node.end);
        let below = (from as u32..).zip(self.nodes.iter().skip(from));
        below.take_while(move |(_, node)| node.tag.start < end).filter(move |(_, node)| node.parent == parent)
    }

    /// The child of that name, if there is one that belongs there.
    pub fn child(&self, parent: u32, name: &str) -> Option<(u32, &Node)> {
        self.children(parent).find(|(_, node)| node.element.is_some_and(|element| element.name == name))
    }

    /// The value of an element: decoded, trimmed of XML white space.
    pub fn value(&self, node: &Node) -> Cow<'t, str> {
        let (start, end) = markup::trim(self.text, node.tag.end, node.inner_end);
        decode_value(self.text.get(start..end).unwrap_or_default(), node.text)
    }

    /// The value of the child of that name.
    pub fn value_of(&self, parent: u32, name: &str) -> Option<Cow<'t, str>> {
        self.child(parent, name).map(|(_, node)| self.value(node))
    }

    /// The value of an attribute, decoded.
    pub fn attribute(&self, node: &Node, name: &str) -> Option<Cow<'t, str>> {
        let found = markup::attributes(node.tag.attributes(self.text)).find(|found| found.name == name.as_bytes())?;
        Some(crate::xml::escape::decode(found.value))
    }

    /// The name of an element as written.
    pub fn name(&self, node: &Node) -> Cow<'t, str> {
        crate::xml::escape::lossy(node.tag.name(self.text))
    }

    /// The local name of an element.
    pub fn local(&self, node: &Node) -> &'t [u8] {
        split(node.tag.name(self.text)).1
    }
}

/// Whether a name is one of an extension that is known.
pub(super) fn is_extension(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Extension(namespace) if namespace != Namespace::Other)
}

/// Where to begin: nothing of an extension stands before the end of a plain loc that comes first.
fn first_child(entry: &Entry) -> usize {
    let last = Field::ALL.into_iter().filter_map(|field| entry.field(field)).map(|span| span.end).max();
    let is_plain = entry.anomalies == Anomalies::default();
    last.filter(|_| is_plain).unwrap_or(entry.open_end) as usize
}
