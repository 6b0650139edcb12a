//! Fast path that lists or skips usual extension elements.
//!
//! Elements that it lists are well-formed. Each byte is examined once. If an element only begins like a pattern, its bytes
//! up to the difference are examined again. Comments, instructions, unknown namespaces, undeclared prefixes, names that
//! are not ASCII and other unusual content are left to the parser.

use super::patterns::Patterns;
use super::{EntryBytes, attribute_value_len, section_len, skip_blanks, sound_text_before_tag};
use crate::progress::note_work;
use crate::protocol::extension::Element;
use crate::protocol::namespace::Namespace;
use crate::xml::elements::{Definition, Elements, TOP, is_extension};
use crate::xml::entry::{Entry, TextKind};
use crate::xml::markup::{self, Kind, Markup, is_space};
use crate::xml::names::{Meaning, Names, split};
use crate::xml::wellformed::is_legal_declaration;
use memchr::{memchr, memchr_iter, memchr2};

/// Maximum number of cached element names, more than valid files have.
const MAX_NAMES: usize = 64;

/// Maximum number of attributes of a tag that are compared pairwise for duplicates.
const MAX_ATTRIBUTES: usize = 16;

/// Caches for the entries of one file.
#[derive(Debug, Default)]
pub(in crate::xml) struct FileCache {
    names: Vec<KnownName>,
    /// The index of the last name.
    last: usize,
    /// The last namespace URI that an element declared, and its meaning.
    uri: Option<(Box<[u8]>, Meaning)>,
    /// Declarations of open elements: the number of the element, the prefix, its meaning.
    scopes: Vec<(u32, (usize, usize), Meaning)>,
    /// The markup of earlier elements.
    pub(super) patterns: Patterns,
}

/// The name of an element as written.
#[derive(Debug)]
struct KnownName {
    text: Box<[u8]>,
    /// Its namespace under the root's declarations.
    meaning: Meaning,
    /// The index of the name that followed it the last time.
    next: usize,
    /// Its last definition, with the definition of the parent, which is `None` for an element directly in the entry.
    definition: Option<(Option<&'static Element>, Option<Definition>)>,
}

impl FileCache {
    /// The index of the name that is expected next, if `rest` begins with it. Names mostly follow each other in the same
    /// order, so that neither the end of the name nor the name itself has to be searched.
    #[inline]
    fn expected(&self, rest: &[u8]) -> Option<usize> {
        let index = self.names.get(self.last)?.next;
        let text = &*self.names.get(index)?.text;
        let is_next = rest.starts_with(text) && rest.get(text.len()).is_some_and(|byte| !is_name_byte(*byte));
        is_next.then_some(index)
    }

    /// The index of a name under the root's declarations; `None` if its prefix is not declared.
    fn index_of(&mut self, name: &[u8], names: &Names) -> Option<usize> {
        note_work(1);
        let known = self.names.iter().position(|known| *known.text == *name);
        let index = known.map_or_else(|| self.add(name, names), Some)?;
        if let Some(last) = self.names.get_mut(self.last) {
            last.next = index;
        }
        self.last = index;
        Some(index)
    }

    fn add(&mut self, name: &[u8], names: &Names) -> Option<usize> {
        let prefix = split(name).0;
        if !prefix.is_empty() && !names.declares(prefix) {
            return None;
        }
        // Valid files have fewer names.
        if self.names.len() >= MAX_NAMES {
            self.names.clear();
        }
        let meaning = names.meaning_of_prefix(prefix);
        self.names.push(KnownName { text: name.into(), meaning, next: 0, definition: None });
        Some(self.names.len() - 1)
    }

    /// The namespace of a name under the root's declarations; `None` if its prefix is not declared.
    fn meaning(&mut self, name: &[u8], names: &Names) -> Option<Meaning> {
        let index = self.index_of(name, names)?;
        self.names.get(index).map(|name| name.meaning)
    }

    /// The meaning of a namespace URI.
    fn declared(&mut self, uri: &[u8], names: &Names) -> Option<Meaning> {
        if let Some((_, meaning)) = self.uri.as_ref().filter(|(known, _)| **known == *uri) {
            return Some(*meaning);
        }
        let meaning = names.meaning_of(std::str::from_utf8(uri).ok()?);
        self.uri = Some((uri.into(), meaning));
        Some(meaning)
    }
}

/// The state of listing one child of an entry.
pub(in crate::xml) struct ElementWalk<'w> {
    pub(in crate::xml) inside: EntryBytes<'w>,
    pub(in crate::xml) known: &'w mut FileCache,
    pub(in crate::xml) elements: &'w mut Elements,
    /// Whether `]]>` is anywhere in the bytes.
    pub(in crate::xml) has_brackets: bool,
}

impl ElementWalk<'_> {
    /// Lists the element whose `<` is at `start` if it is an extension element, and those that follow it and match the last
    /// pattern, with only blanks between them. Counts them in `entry`. Returns the offset after the last one; `None` leaves
    /// the first to the parser, and nothing is listed.
    pub(in crate::xml) fn parse(mut self, start: usize, entry: &mut Entry) -> Option<usize> {
        let before = self.elements.len();
        let end = self.known.patterns.list(&self.inside, (start, self.has_brackets), self.elements);
        let Some(mut end) = end.or_else(|| self.tokenise(start)) else {
            self.elements.truncate(before);
            return None;
        };
        let mut number = before.0;
        loop {
            self.count(number, entry);
            number = self.elements.nodes.len();
            let next = skip_blanks(self.inside.bytes, end);
            match self.known.patterns.list_alike(&self.inside, (next, self.has_brackets), self.elements) {
                Some(after) => end = after,
                None => return Some(end),
            }
        }
    }

    /// Counts a listed element that is directly in the entry.
    #[inline]
    fn count(&self, number: usize, entry: &mut Entry) {
        if let Some(top) = self.elements.nodes.get(number)
            && let Meaning::Extension(namespace) = top.meaning
        {
            // The schema of alternate links defines nothing else.
            count(entry, namespace, top.element.is_some());
        }
    }

    /// Lists an element that matches no pattern. Returns the offset after it.
    fn tokenise(&mut self, start: usize) -> Option<usize> {
        let first = self.elements.nodes.len();
        self.known.scopes.clear();
        let end = self.walk(start)?;
        note_work(end - start);
        self.known.patterns.add(&self.inside, (start, end), (self.elements, first));
        Some(end)
    }

    fn walk(&mut self, start: usize) -> Option<usize> {
        // The innermost open element.
        let (mut at, mut open) = (start, TOP);
        loop {
            at = match *self.inside.bytes.get(at + 1)? {
                b'/' => {
                    let (end, parent) = self.close(at, open)?;
                    open = parent;
                    if open == TOP {
                        return Some(end);
                    }
                    end
                }
                b'!' => self.section(at, open)?,
                byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let number = self.elements.nodes.len() as u32;
                    let tag = self.open(at, open)?;
                    if tag.kind == Kind::Start {
                        open = number;
                    } else if open == TOP {
                        return Some(tag.end);
                    } else {
                        self.leave(number);
                    }
                    tag.end
                }
                _ => return None,
            };
            at = self.text(at, open)?;
        }
    }

    /// Parses the text up to the next `<`; returns the offset of that.
    #[inline]
    fn text(&mut self, at: usize, open: u32) -> Option<usize> {
        let (len, is_escaped) = sound_text_before_tag(self.inside.bytes.get(at..)?, self.has_brackets)?;
        if is_escaped {
            self.raise_kind(open, TextKind::Escaped)?;
        }
        Some(at + len)
    }

    /// Raises the kind of an open element's text to `kind`, if it is lower.
    fn raise_kind(&mut self, open: u32, kind: TextKind) -> Option<()> {
        let node = self.elements.nodes.get_mut(open as usize)?;
        node.text = node.text.max(kind);
        Some(())
    }

    fn section(&mut self, at: usize, open: u32) -> Option<usize> {
        let len = section_len(self.inside.bytes.get(at..)?)?;
        self.raise_kind(open, TextKind::Mixed)?;
        Some(at + len)
    }

    /// Parses the end tag of the innermost open element. Returns the offset after it and the number of the parent.
    #[inline]
    fn close(&mut self, at: usize, open: u32) -> Option<(usize, u32)> {
        let node = self.elements.nodes.get_mut(open as usize)?;
        let name =
            self.inside.bytes.get(self.inside.lead + node.tag.start + 1..self.inside.lead + node.tag.name_end)?;
        let rest = self.inside.bytes.get(at + 2..)?.strip_prefix(name)?;
        if rest.first() != Some(&b'>') {
            return None;
        }
        let end = at + 2 + name.len() + 1;
        (node.inner_end, node.end) = (at - self.inside.lead, end - self.inside.lead);
        let parent = node.parent;
        self.leave(open);
        Some((end, parent))
    }

    fn leave(&mut self, number: u32) {
        while self.known.scopes.last().is_some_and(|(of, ..)| *of >= number) {
            self.known.scopes.pop();
        }
    }

    /// Parses a start tag; the returned positions are offsets into the bytes of the file.
    #[inline]
    fn open(&mut self, start: usize, parent: u32) -> Option<Markup> {
        let (bytes, lead) = (self.inside.bytes, self.inside.lead);
        let rest = bytes.get(start + 1..)?;
        let expected = self.known.expected(rest);
        let known = expected.and_then(|index| self.known.names.get(index));
        let name_len =
            known.map_or_else(|| rest.iter().position(|byte| !is_name_byte(*byte)), |known| Some(known.text.len()));
        let name = rest.get(..name_len?)?;
        let name_end = start + 1 + name.len();
        let attributes = self.elements.len().1;
        let (kind, end) = self.attributes(name_end)?;
        let parent = Some(parent).filter(|parent| *parent != TOP);
        let (meaning, definition) = if self.known.scopes.is_empty() {
            let index = match expected {
                Some(index) => index,
                None => self.known.index_of(name, self.inside.names)?,
            };
            self.known.last = index;
            self.definition(index, parent)?
        } else {
            let meaning = self.in_scope(name)?;
            (meaning, self.elements.definition(parent, meaning, split(name).1))
        };
        if parent.is_none() && !is_extension(meaning) {
            return None;
        }
        let tag = Markup { kind, start, end, name_end };
        let relative = Markup { kind, start: start - lead, end: end - lead, name_end: name_end - lead };
        self.elements.open(relative, parent, (meaning, definition), attributes as u32);
        Some(tag)
    }

    /// The namespace and the definition of a known name below `parent` under the root's declarations.
    #[inline]
    fn definition(&mut self, name: usize, parent: Option<u32>) -> Option<(Meaning, Option<Definition>)> {
        let known = self.known.names.get_mut(name)?;
        let meaning = known.meaning;
        let outer = parent.and_then(|parent| self.elements.parent_definition(parent, meaning));
        if parent.is_some() && outer.is_none() {
            return Some((meaning, None));
        }
        match known.definition {
            Some((of, definition)) if of.map(std::ptr::from_ref) == outer.map(std::ptr::from_ref) => {
                Some((meaning, definition))
            }
            _ => {
                let local = split(&known.text).1;
                let definition = outer
                    .map_or_else(|| Definition::of_root(meaning, local), |outer| Definition::of_child(outer, local));
                known.definition = Some((outer, definition));
                Some((meaning, definition))
            }
        }
    }

    /// The namespace of a name if elements around it, or its own tag, declare namespaces.
    fn in_scope(&mut self, name: &[u8]) -> Option<Meaning> {
        let prefix = split(name).0;
        let declared =
            self.known.scopes.iter().rev().find(|(_, (from, to), _)| self.inside.bytes.get(*from..*to) == Some(prefix));
        match declared {
            Some((.., meaning)) => Some(*meaning),
            None => self.known.meaning(name, self.inside.names),
        }
    }

    /// Parses the attributes after the name. Returns the kind of the tag and the offset after it.
    #[inline]
    fn attributes(&mut self, name_end: usize) -> Option<(Kind, usize)> {
        let (bytes, lead) = (self.inside.bytes, self.inside.lead);
        let first = self.elements.len().1;
        let mut at = name_end;
        loop {
            let name_at = skip_blanks(bytes, at);
            match bytes.get(name_at..)? {
                [b'>', ..] => return Some((Kind::Start, name_at + 1)),
                [b'/', b'>', ..] => return Some((Kind::Empty, name_at + 2)),
                [byte, ..] if name_at > at && (byte.is_ascii_alphabetic() || *byte == b'_') => {}
                _ => return None,
            }
            let rest = bytes.get(name_at..)?;
            let name = rest.get(..rest.iter().position(|byte| !is_name_byte(*byte))?)?;
            let [b'=', quote @ (b'"' | b'\''), from @ ..] = rest.get(name.len()..)? else { return None };
            let value = from.get(..attribute_value_len(from, *quote)?)?;
            let text = bytes.get(lead..)?;
            if self.elements.len().1 - first >= MAX_ATTRIBUTES || self.elements.has_attribute(text, first, name) {
                return None;
            }
            let value_at = name_at + name.len() + 2;
            if name.starts_with(b"xmlns") {
                self.declare((name, name_at), value)?;
            }
            at = value_at + value.len() + 1;
            let relative = |from: usize, len: usize| from - lead..from - lead + len;
            self.elements.add_attribute(relative(name_at, name.len()), relative(value_at, value.len()));
        }
    }

    /// Records a namespace declaration of the element that is opened next.
    fn declare(&mut self, (name, name_at): (&[u8], usize), value: &[u8]) -> Option<()> {
        let prefix = match name.strip_prefix(b"xmlns") {
            Some(b"") => (0, 0),
            Some([b':', prefix @ ..]) if !prefix.is_empty() => {
                (name_at + name.len() - prefix.len(), name_at + name.len())
            }
            _ => return None,
        };
        if !is_legal_declaration(name, value) || memchr(b'&', value).is_some() {
            return None;
        }
        let meaning = self.known.declared(value, self.inside.names)?;
        self.known.scopes.push((self.elements.nodes.len() as u32, prefix, meaning));
        Some(())
    }
}

/// Maximum nesting that [`skip`] supports; deeper elements are left to the parser.
const MAX_DEPTH: usize = 8;

/// Skips the element of an extension whose `<` is at `start`, and those of the same name that follow, and counts them
/// in `entry`. Returns the offset after the last one; `None` leaves the first to the parser.
///
/// Nothing is validated; the end of a malformed element is the one that the parser finds.
pub(in crate::xml) fn skip(inside: &EntryBytes<'_>, start: usize, entry: &mut Entry) -> Option<usize> {
    let EntryBytes { bytes, names, .. } = *inside;
    let name = name_at(bytes, start + 1)?;
    let (prefix, local) = split(name);
    if prefix.is_empty() || !names.declares(prefix) {
        return None;
    }
    let Meaning::Extension(namespace) = names.meaning_of_prefix(prefix) else { return None };
    if !is_extension(Meaning::Extension(namespace)) {
        return None;
    }
    let (mut at, mut last) = (start, None);
    while let Some(end) = skip_element(bytes, at, name) {
        count(entry, namespace, local == b"link");
        last = Some(end);
        at = skip_blanks(bytes, end);
        let rest = bytes.get(at..).and_then(|rest| rest.strip_prefix(b"<")?.strip_prefix(name));
        if !rest.is_some_and(ends_name) {
            break;
        }
    }
    last.inspect(|end| note_work(end - start))
}

/// Skips one element, whose name is known.
#[inline]
fn skip_element(bytes: &[u8], start: usize, name: &[u8]) -> Option<usize> {
    let (kind, mut at) = tag_end(bytes, start + 1 + name.len())?;
    if kind == Kind::Empty {
        return Some(at);
    }
    let prefix = split(name).0;
    let mut open: [&[u8]; MAX_DEPTH] = [name; MAX_DEPTH];
    let mut depth = 1;
    while depth > 0 {
        at += memchr(b'<', bytes.get(at..)?)?;
        let rest = bytes.get(at + 1..)?;
        match rest {
            [b'/', end @ ..] => {
                depth -= 1;
                let name = open.get(depth)?;
                end.strip_prefix(*name).filter(|rest| rest.first() == Some(&b'>'))?;
                at += "</>".len() + name.len();
            }
            [b'!', ..] => at += section_len(bytes.get(at..)?)?,
            _ => {
                let name = name_at(bytes, at + 1)?;
                // Elements inside must have the same prefix.
                if split(name).0 != prefix {
                    return None;
                }
                let (kind, end) = tag_end(bytes, at + 1 + name.len())?;
                if kind == Kind::Start {
                    *open.get_mut(depth)? = name;
                    depth += 1;
                }
                at = end;
            }
        }
    }
    Some(at)
}

/// Whether a name ends where these bytes follow it.
fn ends_name(rest: &[u8]) -> bool {
    rest.first().is_some_and(|byte| is_space(*byte) || matches!(*byte, b'/' | b'>'))
}

/// The ASCII name of an element that begins at `at`.
fn name_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let (name, rest) = rest.split_at_checked(rest.iter().position(|byte| !is_name_byte(*byte))?)?;
    let is_start = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    (ends_name(rest) && name.first().is_some_and(is_start)).then_some(name)
}

/// The kind of a tag whose name ends at `at`, and the offset after it. `None` if it may declare a namespace, or if the
/// first `>` may be quoted.
#[inline]
fn tag_end(bytes: &[u8], at: usize) -> Option<(Kind, usize)> {
    let rest = bytes.get(at..)?;
    let len = memchr(b'>', rest)?;
    let attributes = rest.get(..len)?;
    if !attributes.is_empty()
        && (memchr_iter(b'"', attributes).count() % 2 == 1
            || memchr2(b'\'', b'<', attributes).is_some()
            || markup::may_declare(attributes))
    {
        return None;
    }
    let kind = if attributes.last() == Some(&b'/') { Kind::Empty } else { Kind::Start };
    Some((kind, at + len + 1))
}

/// The bytes of a name within ASCII (XML 1.0, production 4a).
const fn is_name_byte(byte: u8) -> bool {
    NAME_BYTES[byte as usize]
}

const NAME_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'.' | b'_' | b':');
        byte += 1;
    }
    table
};

/// Counts an extension element of an entry. `is_link` is whether it is an alternate link if it has that namespace.
pub(in crate::xml) const fn count(entry: &mut Entry, namespace: Namespace, is_link: bool) {
    let extensions = &mut entry.extensions;
    let counter = match namespace {
        Namespace::Image => &mut extensions.image,
        Namespace::Video => &mut extensions.video,
        Namespace::News => &mut extensions.news,
        Namespace::Xhtml if is_link => &mut extensions.alternate,
        _ => &mut extensions.other,
    };
    *counter = counter.saturating_add(1);
}
