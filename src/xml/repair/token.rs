//! Tokenizer for damaged bytes: an unterminated token is a single `<`, not the rest of the file.

use super::super::markup::{self, Kind, Markup};
use super::super::wellformed;
use super::Repairer;
use super::tree::Role;
use super::words::end_tag;

/// The tokenizer, with the kinds of tokens that are known to be unterminated.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Kinds of tokens without an end in the rest of the file.
    endless: [bool; 4],
}

const BEGINNINGS: [&[u8]; 4] = [b"<!--", b"<![CDATA[", b"<?", b"<!"];

impl Tokens {
    /// The next token at or after `from`.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> Option<Markup> {
        let start = from + memchr::memchr(b'<', bytes.get(from..)?)?;
        let rest = bytes.get(start..).unwrap_or_default();
        // Nearly all tokens are tags.
        let beginning = match rest.get(1) {
            Some(b'!' | b'?') => BEGINNINGS.iter().position(|beginning| rest.starts_with(beginning)),
            _ => None,
        };
        let stray = Markup { kind: Kind::Stray, start, end: start + 1, name_end: start };
        let Some(endless) = beginning.and_then(|at| self.endless.get_mut(at)) else {
            return markup::next(bytes, start).map(|token| named(bytes, token));
        };
        if *endless {
            return Some(stray);
        }
        let token = markup::next(bytes, start)?;
        if token.kind == Kind::Stray {
            *endless = true;
            return Some(stray);
        }
        Some(token)
    }
}

/// A tag under the part of its name that is one: what follows it is not a valid attribute name, and goes. Without such
/// a part it is not a tag.
fn named(bytes: &[u8], token: Markup) -> Markup {
    let name = token.name(bytes);
    // The usual case: letters are a name, and need no decoding.
    if name.iter().all(u8::is_ascii_alphabetic) {
        return token;
    }
    match wellformed::name_len(name) {
        0 => Markup { kind: Kind::Stray, end: token.start + 1, name_end: token.start, ..token },
        len => Markup { name_end: token.name_end - (name.len() - len), ..token },
    }
}

impl Repairer<'_> {
    /// A CDATA section that does not end, in an element that holds text alone and whose end tag comes next: the value
    /// is what is between. Returns where that ends.
    pub(super) fn endless_section(&mut self, token: &Markup) -> Option<usize> {
        const START: &[u8] = b"<![CDATA[";
        let bytes = self.bytes;
        if token.kind != Kind::Stray || self.closed.is_some() || !bytes.get(token.start..)?.starts_with(START) {
            return None;
        }
        let top = self.elements.stack.last_mut().filter(|top| !top.is_entry() && !top.has_child)?;
        let from = token.start + START.len();
        let end = from + memchr::memchr(b'<', bytes.get(from..)?)?;
        let after = bytes.get(end..)?.strip_prefix(b"</")?.strip_prefix(top.name)?;
        if !after.first().is_some_and(|byte| *byte == b'>' || markup::is_space(*byte)) {
            return None;
        }
        top.has_text = true;
        let closing = end_tag(top.name);
        self.note_broken(token.start, |_| format!("<![CDATA[ has no ]]> before {closing}; its text ends there"));
        self.characters(from, end, self.place());
        Some(end)
    }

    /// The start tag of an entry or a field with a value that lacks the quote at its end: it ends at the next `>`, and
    /// does not go on through other tags to whatever quote comes next, or to none.
    pub(super) fn tag_without_quote(&self, token: &Markup) -> Option<Markup> {
        let bytes = self.bytes;
        if !matches!(token.kind, Kind::Stray | Kind::Start | Kind::Empty) || self.closed.is_some() {
            return None;
        }
        // Text may hold what looks like a tag.
        if self.elements.stack.last().is_some_and(|top| !top.is_entry()) {
            return None;
        }
        let rest = bytes.get(token.start + 1..)?;
        let first = token.start + 1 + memchr::memchr2(b'<', b'>', rest)?;
        if bytes.get(first) != Some(&b'>') || first + 1 >= token.end && token.kind != Kind::Stray {
            return None;
        }
        let name = rest.iter().position(|byte| markup::is_space(*byte) || *byte == b'>')?;
        let kind = if bytes.get(first - 1) == Some(&b'/') { Kind::Empty } else { Kind::Start };
        let tag = Markup { kind, start: token.start, end: first + 1, name_end: token.start + 1 + name };
        // A quoted value may hold `>`; what holds the next tag was not meant so.
        let goes_on = token.kind == Kind::Stray
            || bytes.get(first + 1..token.end)?.iter().find(|byte| !markup::is_space(**byte)) == Some(&b'<');
        (goes_on && matches!(self.role(&tag), Role::Entry(_) | Role::Field(..))).then_some(tag)
    }
}
