//! The child elements of an entry as a tree for display.
//!
//! [`tree`] contains all decoded texts and uses quick-xml: nothing here is written back, so exact bytes do not matter.
//! [`Elements`] contains only positions, for entries of any size; visible texts are decoded when they are drawn. The
//! tree ends at the first malformed token; the raw text, which is shown beside it, is always complete.

use super::escape::{decode, lossy};
use super::markup::{self, Kind, is_blank};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::ops::Range;

/// One element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    /// 0 for a child of the entry.
    pub depth: usize,
    /// The name as written, with its prefix.
    pub name: String,
    /// Decoded attributes.
    pub attributes: Vec<(String, String)>,
    /// The decoded and trimmed text directly inside.
    pub text: String,
}

/// All elements below the entry element of `text`, in document order, including core fields.
pub(crate) fn tree(text: &[u8]) -> Vec<Node> {
    first_nodes(text, usize::MAX).0
}

/// The first `limit` elements, and the offset of the next one, if there is one.
pub(crate) fn first_nodes(text: &[u8], limit: usize) -> (Vec<Node>, Option<usize>) {
    let mut rest = None;
    let mut reader = Reader::from_reader(text);
    let mut nodes: Vec<Node> = Vec::new();
    // Index of each open element's node; the entry itself has none.
    let mut open: Vec<Option<usize>> = Vec::new();
    loop {
        let at = reader.buffer_position();
        let Ok(event) = reader.read_event() else { break };
        match event {
            Event::Start(_) | Event::Empty(_) if nodes.len() == limit => {
                rest = Some(at as usize);
                break;
            }
            Event::Start(tag) => {
                let node = (!open.is_empty()).then(|| {
                    nodes.push(node(&tag, open.len() - 1));
                    nodes.len() - 1
                });
                open.push(node);
            }
            Event::Empty(tag) if !open.is_empty() => nodes.push(node(&tag, open.len() - 1)),
            Event::End(_) => {
                open.pop();
            }
            Event::Text(text) => append_text(&mut nodes, &open, &text.xml10_content()),
            Event::CData(text) => append_text(&mut nodes, &open, &text.xml10_content()),
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let written = format!("&{name};");
                append_text(&mut nodes, &open, &super::escape::decode(written.as_bytes()));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    for node in &mut nodes {
        node.text = node.text.trim().to_owned();
    }
    (nodes, rest)
}

fn node(tag: &BytesStart<'_>, depth: usize) -> Node {
    let attributes = tag
        .attributes()
        // Checking for duplicates would take quadratic time.
        .with_checks(false)
        .map_while(Result::ok)
        .map(|attribute| {
            let value = super::escape::decode(attribute.value.as_bytes()).into_owned();
            (attribute.key.as_ref().to_owned(), value)
        })
        .collect();
    Node { depth, name: tag.name().as_ref().to_owned(), attributes, text: String::new() }
}

fn append_text(nodes: &mut [Node], open: &[Option<usize>], text: &str) {
    if let Some(node) = open.last().copied().flatten().and_then(|at| nodes.get_mut(at)) {
        node.text.push_str(text);
    }
}

/// Maximum number of listed elements: an entry of a hostile file may have one in every three bytes.
pub(crate) const MAX_ELEMENTS: usize = 1 << 20;

/// Number of tokens between two checks for cancellation.
const TOKENS_PER_CHECK: usize = 1 << 12;

/// The parent of an element that is directly in the entry.
const TOP: u32 = u32::MAX;

/// The position of one element in the text of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    start: u32,
    name_end: u32,
    attributes_end: u32,
    inner: u32,
    inner_end: u32,
    parent: u32,
    /// 0 for a child of the entry.
    pub depth: u32,
    /// Its number among the siblings of the same name, from 1.
    pub number: u32,
    /// Whether it has siblings of the same name.
    pub is_repeated: bool,
    /// Whether it is the last child of its parent.
    pub is_last: bool,
    /// Whether it contains elements.
    pub has_children: bool,
}

/// The positions of the elements of an entry, found in one pass over the text without recursion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Elements {
    list: Vec<Element>,
    /// The ranges of the text between the children of an element, by the number of the element.
    mixed: HashMap<u32, Vec<Range<u32>>>,
    /// Whether there are more elements than the maximum.
    pub is_cut: bool,
}

/// An open element.
struct Open<'t> {
    name: &'t [u8],
    /// Its number; `None` for the entry itself and for skipped elements.
    node: Option<u32>,
    is_entry: bool,
    last_child: Option<u32>,
    texts: Vec<Range<u32>>,
}

impl Element {
    /// The offset of its start tag.
    pub(crate) const fn start(&self) -> u32 {
        self.start
    }
}

impl Elements {
    /// Finds the elements below the entry element of `text`, without its direct children whose names are
    /// `skipped`. `None`
    /// if `stop` returns true.
    pub(crate) fn of(text: &[u8], skipped: impl Fn(&[u8]) -> bool, stop: impl Fn() -> bool) -> Option<Self> {
        let mut elements = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut known: HashMap<(u32, &[u8]), (u32, u32)> = HashMap::new();
        let (mut at, mut end, mut tokens) = (0, text.len(), 0_usize);
        while let Some(tag) = markup::next(text, at) {
            tokens += 1;
            if tokens.is_multiple_of(TOKENS_PER_CHECK) && stop() {
                return None;
            }
            let before = text.get(at..tag.start).unwrap_or_default();
            if let Some(within) = open.last_mut().filter(|within| within.node.is_some() && !is_blank(before)) {
                within.texts.push(at as u32..tag.start as u32);
            }
            at = tag.end;
            match tag.kind {
                Kind::Start | Kind::Empty => {
                    let name = tag.name(text);
                    let node = match open.last_mut() {
                        Some(within) if within.is_entry || within.node.is_some() => {
                            if elements.list.len() == MAX_ELEMENTS {
                                (elements.is_cut, end) = (true, tag.start);
                                break;
                            }
                            let is_skipped = within.is_entry && skipped(name);
                            (!is_skipped).then(|| {
                                elements.add(within, (open_depth(within, &elements.list), name), &tag, &mut known)
                            })
                        }
                        _ => None,
                    };
                    if tag.kind == Kind::Start {
                        open.push(Open { name, node, is_entry: open.is_empty(), last_child: None, texts: Vec::new() });
                    }
                }
                Kind::End => {
                    let Some(closed) = open.pop_if(|closed| closed.name == tag.name(text)) else {
                        end = tag.start;
                        break;
                    };
                    elements.close(closed, tag.start);
                }
                Kind::Cdata => {
                    if let Some(within) = open.last_mut().filter(|within| within.node.is_some()) {
                        within.texts.push(tag.start as u32..tag.end as u32);
                    }
                }
                _ => {}
            }
            if open.is_empty() {
                break;
            }
        }
        // Unclosed elements extend to the end of the parsed text.
        while let Some(closed) = open.pop() {
            elements.close(closed, end);
        }
        Some(elements)
    }

    fn add<'t>(
        &mut self,
        within: &mut Open<'t>,
        (depth, name): (u32, &'t [u8]),
        tag: &markup::Markup,
        known: &mut HashMap<(u32, &'t [u8]), (u32, u32)>,
    ) -> u32 {
        let number = self.list.len() as u32;
        let parent = within.node.unwrap_or(TOP);
        let (first, count) = known.entry((parent, name)).or_insert((number, 0));
        *count += 1;
        let (first, count) = (*first, *count);
        if count == 2
            && let Some(first) = self.list.get_mut(first as usize)
        {
            first.is_repeated = true;
        }
        if let Some(parent) = self.list.get_mut(parent as usize) {
            parent.has_children = true;
        }
        if let Some(before) = within.last_child.replace(number).and_then(|before| self.list.get_mut(before as usize)) {
            before.is_last = false;
        }
        let closing = if tag.kind == Kind::Empty { 2 } else { 1 };
        self.list.push(Element {
            start: tag.start as u32,
            name_end: tag.name_end as u32,
            attributes_end: (tag.end - closing) as u32,
            inner: tag.end as u32,
            inner_end: tag.end as u32,
            parent,
            depth,
            number: count,
            is_repeated: count > 1,
            is_last: true,
            has_children: false,
        });
        number
    }

    fn close(&mut self, closed: Open<'_>, end: usize) {
        let Some(number) = closed.node else { return };
        let Some(element) = self.list.get_mut(number as usize) else { return };
        element.inner_end = end as u32;
        if element.has_children && !closed.texts.is_empty() {
            self.mixed.insert(number, closed.texts);
        }
    }

    /// The number of elements.
    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// The element with a number.
    pub(crate) fn get(&self, number: usize) -> Option<&Element> {
        self.list.get(number)
    }

    /// The parent of an element.
    pub(crate) fn parent(&self, element: &Element) -> Option<&Element> {
        self.list.get(element.parent as usize)
    }

    /// The decoded and trimmed text directly in an element. At most `limit` bytes of the entry are decoded.
    pub(crate) fn text(&self, number: usize, text: &[u8], limit: usize) -> String {
        let Some(element) = self.list.get(number) else { return String::new() };
        let whole = element.inner..element.inner_end;
        let mixed = self.mixed.get(&(number as u32)).filter(|_| element.has_children);
        let parts = match mixed {
            Some(mixed) => mixed.as_slice(),
            None if element.has_children => &[],
            None => std::slice::from_ref(&whole),
        };
        let (mut out, mut left) = (String::new(), limit);
        for part in parts {
            let part = text.get(part.start as usize..part.end as usize).unwrap_or_default();
            decode_start(part, &mut left, &mut out);
            if left == 0 {
                break;
            }
        }
        out.trim().to_owned()
    }
}

fn open_depth(within: &Open<'_>, list: &[Element]) -> u32 {
    within.node.and_then(|node| list.get(node as usize)).map_or(0, |parent| parent.depth + 1)
}

/// Decodes the content between two tags, until `left` bytes are used up.
fn decode_start(inner: &[u8], left: &mut usize, out: &mut String) {
    let mut at = 0;
    while at < inner.len() && *left > 0 {
        let token = markup::next(inner, at);
        let end = token.map_or(inner.len(), |token| token.start);
        let plain = head(inner.get(at..end).unwrap_or_default(), *left);
        out.push_str(&decode(plain));
        *left -= plain.len();
        let Some(token) = token else { break };
        if matches!(token.kind, Kind::Cdata | Kind::Stray) {
            let (skip, close) = if token.kind == Kind::Cdata { (9, 3) } else { (0, 0) };
            let literal = head(inner.get(token.start + skip..token.end - close).unwrap_or_default(), *left);
            out.push_str(&lossy(literal));
            *left -= literal.len();
        }
        at = token.end;
    }
}

/// The first `limit` bytes or fewer, so that they do not end within a character.
fn head(bytes: &[u8], limit: usize) -> &[u8] {
    let mut end = limit.min(bytes.len());
    while end > 0 && end < bytes.len() && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    // Invalid bytes are included, so that decoding advances.
    let end = if end == 0 { limit.min(bytes.len()) } else { end };
    bytes.get(..end).unwrap_or_default()
}

impl Element {
    /// Its name as written, with its prefix.
    pub(crate) fn name<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start as usize + 1..self.name_end as usize).unwrap_or_default()
    }

    /// Its undecoded attributes.
    pub(crate) fn attributes<'t>(&self, text: &'t [u8]) -> markup::Attributes<'t> {
        markup::attributes(text.get(self.name_end as usize..self.attributes_end as usize).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_become_a_tree_of_decoded_texts() {
        let text = b"\n<url><loc>a</loc><image:image><image:loc> b?c&amp;d </image:loc><image:title><![CDATA[e & f]]></image:title></image:image><xhtml:link rel='alternate' href='g?h&amp;i'/></url>";
        let lines: Vec<String> = tree(text)
            .into_iter()
            .map(|node| {
                let attribute = |text: String, (name, value): &(String, String)| text + &format!(" {name}={value}");
                let attributes = node.attributes.iter().fold(String::new(), attribute);
                format!("{}{}{attributes} {}", " ".repeat(node.depth), node.name, node.text)
            })
            .collect();
        assert_eq!(
            lines,
            ["loc a", "image:image ", " image:loc b?c&d", " image:title e & f", "xhtml:link rel=alternate href=g?h&i "]
        );
    }

    #[test]
    fn malformed_markup_ends_the_tree() {
        assert_eq!(tree(b"<url><loc>a</loc></other><x/>").len(), 1);
        assert_eq!(tree(b"").len(), 0);
    }

    fn elements(text: &[u8]) -> Elements {
        Elements::of(text, |name| name == b"loc", || false).unwrap()
    }

    #[test]
    fn positions_give_the_same_values_as_the_tree() {
        let texts: [&[u8]; 4] = [
            b"\n<url><loc>a</loc><image:image><image:loc> b?c&amp;d </image:loc><image:title><![CDATA[e & f]]></image:title></image:image><xhtml:link rel='alternate' href='g?h&amp;i'/></url>",
            b"<url><a>x<b/>y<!-- c --><b>z</b> </a><a/><c><c><c/></c></c></url>",
            b"<url><a>1</a></other><b/></url>",
            b"<url><a><b>open",
        ];
        for text in texts {
            let elements = elements(text);
            let tree: Vec<Node> = tree(text).into_iter().filter(|node| node.name != "loc").collect();
            assert_eq!(elements.len(), tree.len(), "{}", lossy(text));
            for (number, node) in tree.iter().enumerate() {
                let element = elements.get(number).unwrap();
                let attributes: Vec<(String, String)> = element
                    .attributes(text)
                    .map(|one| (lossy(one.name).into_owned(), decode(one.value).into_owned()))
                    .collect();
                assert_eq!((lossy(element.name(text)).as_ref(), element.depth as usize), (&*node.name, node.depth));
                assert_eq!(
                    (elements.text(number, text, 100), attributes),
                    (node.text.clone(), node.attributes.clone())
                );
            }
        }
    }

    #[test]
    fn siblings_are_counted_under_their_parent() {
        let elements = elements(b"<url><a><t/><u/><t/></a><a><t/></a><b/></url>");
        let all: Vec<(u32, bool, bool)> = (0..elements.len())
            .filter_map(|number| elements.get(number))
            .map(|element| (element.number, element.is_repeated, element.is_last))
            .collect();
        let expected = [
            (1, true, false),
            (1, true, false),
            (1, false, false),
            (2, true, true),
            (2, true, false),
            (1, false, true),
            (1, false, true),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_decoded() {
        let text = format!("<url><a>{}</a><b><![CDATA[{}]]></b></url>", "é&amp;".repeat(100_000), "日".repeat(100_000));
        let elements = elements(text.as_bytes());
        for number in 0..2 {
            let shown = elements.text(number, text.as_bytes(), 1_000);
            assert!((300..=1_000).contains(&shown.len()) && !shown.contains('\u{fffd}'), "{}", shown.len());
        }
    }

    #[test]
    fn listing_elements_can_be_cancelled_and_is_limited() {
        let text = format!("<url>{}</url>", "<a/>".repeat(3 * TOKENS_PER_CHECK));
        assert!(Elements::of(text.as_bytes(), |_| false, || true).is_none());
        let text = format!("<url>{}</url>", "<a/>".repeat(MAX_ELEMENTS + 1));
        let elements = elements(text.as_bytes());
        assert!(elements.is_cut && elements.len() == MAX_ELEMENTS);
    }
}
