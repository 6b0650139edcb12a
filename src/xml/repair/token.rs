//! Tokenizer for damaged bytes: an unterminated token is a single stray `<`, not the rest of the file.

use super::super::markup::{self, Kind, Markup};
use super::super::wellformed;
use super::Repairer;
use super::tree::Role;
use super::words::end_tag;

/// The tokenizer. It remembers which kinds of tokens are unterminated, so that it searches for their ends only once.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Whether the rest of the file has no end of such a token, for each of [`TOKEN_STARTS`].
    is_unterminated: [bool; 4],
    /// Whether a declaration was read, terminated or not.
    has_declaration: bool,
    /// Whether more bytes might have closed the quote of a stray tag.
    has_open_quote: bool,
}

/// The starts of tokens other than tags.
const TOKEN_STARTS: [&[u8]; 4] = [b"<!--", b"<![CDATA[", b"<?", b"<!"];

/// The index of declarations in [`TOKEN_STARTS`].
const DECLARATION: usize = 3;

impl Tokens {
    /// Whether this tokenizer, that of the next segment, reads the same tokens as one that continues from `before`.
    /// After an unterminated declaration all others are text, though a later one may have an end: where a declaration
    /// ends depends on its quotes and brackets.
    pub(super) fn can_follow(&self, before: &Self) -> bool {
        !self.has_declaration
            || !before.is_unterminated.get(DECLARATION).is_some_and(|is_unterminated| *is_unterminated)
    }

    /// Whether a token might be another one if the bytes did not end where they do.
    pub(super) fn need_what_follows(&self) -> bool {
        self.has_open_quote || self.is_unterminated.contains(&true)
    }

    /// Adds what the tokenizer of the next segment remembers.
    pub(super) fn append(&mut self, segment: &Self) {
        self.has_open_quote |= segment.has_open_quote;
        for (own, other) in self.is_unterminated.iter_mut().zip(segment.is_unterminated) {
            *own |= other;
        }
        self.has_declaration |= segment.has_declaration;
    }

    /// The next token at or after `from`.
    pub(super) fn next(&mut self, bytes: &[u8], from: usize) -> Option<Markup> {
        let start = from + memchr::memchr(b'<', bytes.get(from..)?)?;
        let rest = bytes.get(start..).unwrap_or_default();
        // Nearly all tokens are tags.
        let index = match rest.get(1) {
            Some(b'!' | b'?') => TOKEN_STARTS.iter().position(|token_start| rest.starts_with(token_start)),
            _ => None,
        };
        self.has_declaration |= index == Some(DECLARATION);
        let stray = Markup { kind: Kind::Stray, start, end: start + 1, name_end: start };
        let Some(is_unterminated) = index.and_then(|index| self.is_unterminated.get_mut(index)) else {
            let token = markup::next(bytes, start).map(|token| with_valid_name(bytes, token))?;
            self.has_open_quote |= token.kind == Kind::Stray && may_have_open_quote(rest);
            return Some(token);
        };
        if *is_unterminated {
            return Some(stray);
        }
        let token = markup::next(bytes, start)?;
        if token.kind == Kind::Stray {
            *is_unterminated = true;
            return Some(stray);
        }
        Some(token)
    }
}

/// Whether a stray tag has a quote before the next tag, or no tag follows.
fn may_have_open_quote(tag: &[u8]) -> bool {
    let rest = tag.get(1..).unwrap_or_default();
    let next = memchr::memchr3(b'<', b'"', b'\'', rest);
    next.and_then(|at| rest.get(at)) != Some(&b'<')
}

/// Shortens the name of a tag to its longest valid prefix. The rest counts as an attribute, and is omitted since its
/// name is not valid. A tag without such a prefix becomes a stray `<`.
fn with_valid_name(bytes: &[u8], token: Markup) -> Markup {
    let name = token.name(bytes);
    // The usual case: ASCII letters are a valid name and need no decoding.
    if name.iter().all(u8::is_ascii_alphabetic) {
        return token;
    }
    match wellformed::name_len(name) {
        0 => Markup { kind: Kind::Stray, end: token.start + 1, name_end: token.start, ..token },
        len => Markup { name_end: token.name_end - (name.len() - len), ..token },
    }
}

impl Repairer<'_> {
    /// Repairs a CDATA section without an end, if the element around it contains only text and the next tag is the
    /// element's end tag: the text up to that tag is the value. Returns the end of the value.
    pub(super) fn unterminated_cdata(&mut self, token: &Markup) -> Option<usize> {
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
        self.recorder.stop();
        let closing = end_tag(top.name);
        self.note_malformed(token.start, |_| format!("<![CDATA[ has no ]]> before {closing}; its text ends there"));
        self.characters(from, end, self.elements.text_context());
        Some(end)
    }

    /// The start tag of an entry or a field in which an attribute value lacks its closing quote. It ends at the next
    /// `>`, and does not extend through other tags to the next quote or to the end of the file. `None` for any other
    /// token.
    pub(super) fn tag_without_quote(&self, token: &Markup) -> Option<Markup> {
        let bytes = self.bytes;
        if !matches!(token.kind, Kind::Stray | Kind::Start | Kind::Empty) || self.closed.is_some() {
            return None;
        }
        // Nearly all tags: without attributes, no quote can be missing.
        if token.kind != Kind::Stray && token.attributes(bytes).is_empty() {
            return None;
        }
        // Below an entry, this may be text that looks like a tag.
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
        // A quoted value may contain `>`. One in which a tag follows lacks its closing quote.
        let lacks_quote = token.kind == Kind::Stray
            || bytes.get(first + 1..token.end)?.iter().find(|byte| !markup::is_space(**byte)) == Some(&b'<');
        (lacks_quote && matches!(self.role(&tag), Role::Entry(_) | Role::Field(..))).then_some(tag)
    }
}
