//! Finds the extension elements of an entry by tokenizing it.

use super::elements::{Elements, is_extension, is_short_lead};
use super::entry::{Anomalies, Entry, TextKind};
use super::escape;
use super::markup::{self, Attribute, Kind, Markup};
use super::names::{Meaning, Names, split};
use super::parser::Parser;
use crate::protocol::Field;

impl Elements {
    /// Finds the elements of an entry, which must be the parsed `text`.
    pub fn read(&mut self, entry: &Entry, text: &[u8], names: &Names) {
        self.clear();
        if !entry.anomalies.contains(Anomalies::BROKEN) {
            self.scan_before(text, entry.open as usize, names);
            self.walk(entry, text, names);
        }
    }

    /// The elements of one entry.
    pub fn of(entry: &Entry, text: &[u8], names: &Names) -> Self {
        let mut elements = Self::default();
        elements.read(entry, text, names);
        elements
    }

    /// Finds extensions between the previous entry and this one, whose start tag is at `open`.
    pub(in crate::xml) fn scan_before(&mut self, text: &[u8], open: usize, names: &Names) {
        if is_short_lead(open) || memchr::memchr(b'<', text.get(..open).unwrap_or_default()).is_none() {
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
        let (mut at, end) = (extensions_start(entry), entry.close as usize);
        let (mut parser, mut scopes) = (Parser::default(), Scopes::default());
        // The number of each open element.
        let mut open: Vec<u32> = Vec::new();
        if entry.anomalies.contains(Anomalies::DECLARES_NAMESPACE) {
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
                    let attributes = self.len().1 as u32;
                    self.add_attributes(text, &tag);
                    let definition = self.definition(inner, meaning, local);
                    self.open(tag, inner, (meaning, definition), attributes);
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
}

/// The offset at which extensions may begin: after the last field of an entry without anomalies, else after the start
/// tag.
fn extensions_start(entry: &Entry) -> usize {
    let last = Field::ALL.into_iter().filter_map(|field| entry.field(field)).map(|span| span.end).max();
    let is_plain = entry.anomalies == Anomalies::default();
    last.filter(|_| is_plain).unwrap_or(entry.open_end) as usize
}

/// Maximum number of declarations in scope, since each element is compared with all of them.
const MAX_DECLARATIONS: usize = 64;

/// The namespaces that open elements of the entry declare, innermost last.
#[derive(Default)]
struct Scopes<'t> {
    declared: Vec<(u32, &'t [u8], Meaning)>,
}

impl<'t> Scopes<'t> {
    fn enter(&mut self, depth: u32, attributes: &'t [u8], names: &Names) {
        if !markup::may_declare(attributes) {
            return;
        }
        for attribute in markup::attributes(attributes) {
            let prefix = match attribute.name.strip_prefix(b"xmlns") {
                Some(b"") => &[],
                Some([b':', prefix @ ..]) => prefix,
                _ => continue,
            };
            let uri = escape::decode(attribute.value);
            if self.declared.len() < MAX_DECLARATIONS {
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
