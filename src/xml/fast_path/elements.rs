//! Fast path that lists or skips usual extension elements.
//!
//! Elements that it lists are well-formed, and each byte is examined once. Comments, instructions, unknown namespaces,
//! undeclared prefixes, names that are not ASCII and other unusual content are left to the parser.

use super::{EntryBytes, SECTION_END, section_len, skip_blanks, text_before_tag};
use crate::progress::note_work;
use crate::protocol::namespace::Namespace;
use crate::xml::elements::{Elements, TOP, is_extension};
use crate::xml::entry::{Entry, TextKind};
use crate::xml::escape;
use crate::xml::markup::{Kind, Markup, is_space};
use crate::xml::names::{Meaning, Names, split};
use crate::xml::wellformed::is_legal_declaration;
use memchr::{memchr, memchr_iter, memchr2, memmem};
use std::sync::LazyLock;

/// Maximum number of cached element names, more than valid files have.
const MAX_NAMES: usize = 64;

/// Maximum number of attributes of a tag that are compared pairwise for duplicates.
const MAX_ATTRIBUTES: usize = 16;

static DECLARATION: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("xmlns"));

/// Caches for the entries of one file.
#[derive(Debug, Default)]
pub(in crate::xml) struct FileCache {
    /// Names as written, with their namespaces under the root's declarations.
    names: Vec<(Box<[u8]>, Meaning)>,
    /// The last namespace URI that an element declared, and its meaning.
    uri: Option<(Box<[u8]>, Meaning)>,
    /// Declarations of open elements: the number of the element, the prefix, its meaning.
    scopes: Vec<(u32, (usize, usize), Meaning)>,
}

impl FileCache {
    /// The namespace of a name under the root's declarations; `None` if its prefix is not declared.
    fn meaning(&mut self, name: &[u8], names: &Names) -> Option<Meaning> {
        note_work(1);
        if let Some((_, meaning)) = self.names.iter().find(|(known, _)| **known == *name) {
            return Some(*meaning);
        }
        let prefix = split(name).0;
        if !prefix.is_empty() && !names.declares(prefix) {
            return None;
        }
        let meaning = names.meaning_of_prefix(prefix);
        if self.names.len() < MAX_NAMES {
            self.names.push((name.into(), meaning));
        }
        Some(meaning)
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
    /// Lists the element whose `<` is at `start` if it is an extension element, and counts it in `entry`. Returns the
    /// offset after it; `None` leaves it to the parser, and nothing is listed.
    pub(in crate::xml) fn parse(mut self, start: usize, entry: &mut Entry) -> Option<usize> {
        let before = self.elements.len();
        self.known.scopes.clear();
        let end = self.walk(start);
        match end {
            Some(end) => {
                note_work(end - start);
                if let Some(top) = self.elements.nodes.get(before.0)
                    && let Meaning::Extension(namespace) = top.meaning
                {
                    let name = top.tag.name(self.inside.bytes.get(self.inside.lead..).unwrap_or_default());
                    count(entry, namespace, split(name).1);
                }
            }
            None => self.elements.truncate(before),
        }
        end
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
        let rest = self.inside.bytes.get(at..)?;
        let (len, is_escaped) = text_before_tag(rest)?;
        if is_escaped || self.has_brackets {
            let text = rest.get(..len)?;
            if self.has_brackets && memchr(b'>', text).is_some() && SECTION_END.find(text).is_some() {
                return None;
            }
            if is_escaped {
                if escape::first_bad_reference(text).is_some() {
                    return None;
                }
                self.raise_kind(open, TextKind::Escaped)?;
            }
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
        let name = rest.get(..rest.iter().position(|byte| !is_name_byte(*byte))?)?;
        let name_end = start + 1 + name.len();
        let attributes = self.elements.len().1;
        let (kind, end) = self.attributes(name_end)?;
        let meaning = if self.known.scopes.is_empty() {
            self.known.meaning(name, self.inside.names)?
        } else {
            self.in_scope(name)?
        };
        if parent == TOP && !is_extension(meaning) {
            return None;
        }
        let tag = Markup { kind, start, end, name_end };
        let relative = Markup { kind, start: start - lead, end: end - lead, name_end: name_end - lead };
        let parent = Some(parent).filter(|parent| *parent != TOP);
        self.elements.open(relative, parent, (meaning, split(name).1), attributes as u32);
        Some(tag)
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
            let value = from.get(..memchr(*quote, from)?)?;
            if let Some(odd) = memchr2(b'<', b'&', value)
                && (value.get(odd) == Some(&b'<') || !is_sound_value(value))
            {
                return None;
            }
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
        count(entry, namespace, local);
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
            || DECLARATION.find(attributes).is_some())
    {
        return None;
    }
    let kind = if attributes.last() == Some(&b'/') { Kind::Empty } else { Kind::Start };
    Some((kind, at + len + 1))
}

/// Whether a value that contains an ampersand has no `<` and only references that XML defines.
fn is_sound_value(value: &[u8]) -> bool {
    memchr(b'<', value).is_none() && escape::first_bad_reference(value).is_none()
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

/// Counts an extension element of an entry.
pub(in crate::xml) const fn count(entry: &mut Entry, namespace: Namespace, local: &[u8]) {
    let extensions = &mut entry.extensions;
    let counter = match namespace {
        Namespace::Image => &mut extensions.image,
        Namespace::Video => &mut extensions.video,
        Namespace::News => &mut extensions.news,
        Namespace::Xhtml if matches!(local, b"link") => &mut extensions.alternate,
        _ => &mut extensions.other,
    };
    *counter = counter.saturating_add(1);
}
