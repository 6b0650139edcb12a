//! Tokenizer: positions of tags, comments, CDATA sections and instructions in any bytes.
//!
//! Any bytes are accepted: malformed markup is reported as [`Kind::Stray`], and the scan always advances. Nothing is
//! decoded or copied. Text is the bytes between two tokens.
//!
//! It is not a library because a lossless editor needs exact positions in *any* bytes: quick-xml stops at the first
//! invalid UTF-8 byte, does not count a byte order mark, and loses sync at a raw `<` (see ARCHITECTURE.md, "Why a
//! tokenizer of our own").

use crate::progress::note_work;
use memchr::{memchr, memchr_iter, memmem};
use std::sync::LazyLock;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `<name …>`
    Start,
    /// `<name … />`
    Empty,
    /// `</name>`
    End,
    /// `<!-- … -->`
    Comment,
    /// `<![CDATA[ … ]]>`
    Cdata,
    /// `<? … ?>`
    Instruction,
    /// `<!DOCTYPE … >` and other declarations
    Declaration,
    /// A `<` that does not begin markup, or unterminated markup.
    Stray,
}

/// One token; positions are byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markup {
    /// Its kind.
    pub kind: Kind,
    /// Offset of its `<`.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
    /// End of the name, for tags; the name starts at `start + 1` (`start + 2` for end tags).
    pub name_end: usize,
}

impl Markup {
    /// The tag's name as written, with its prefix; empty for tokens that are not tags.
    pub fn name<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let from = match self.kind {
            Kind::Start | Kind::Empty => self.start + 1,
            Kind::End => self.start + 2,
            _ => return &[],
        };
        bytes.get(from..self.name_end).unwrap_or_default()
    }

    /// The bytes between the name and the closing `>` or `/>` of a tag.
    pub fn attributes<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let end = match self.kind {
            Kind::Start => self.end - 1,
            Kind::Empty => self.end - 2,
            _ => return &[],
        };
        bytes.get(self.name_end..end).unwrap_or_default()
    }
}

/// Whether a byte is XML whitespace (XML 1.0, production 3).
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether all bytes are XML whitespace.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| is_space(*byte))
}

/// The offset of the next `]]>`. Sections are short and have few brackets, so a search for one byte costs less than one
/// for three.
pub(crate) fn section_end(bytes: &[u8]) -> Option<usize> {
    memchr_iter(b']', bytes).find(|at| bytes.get(at + 1..).is_some_and(|rest| rest.starts_with(b"]>")))
}

/// The range without surrounding XML whitespace; an all-blank range becomes empty at its end.
#[inline]
pub(crate) fn trim(bytes: &[u8], start: usize, end: usize) -> (usize, usize) {
    let text = bytes.get(start..end).unwrap_or_default();
    let is_space = |byte: &u8| is_space(*byte);
    let before = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    let after = text.iter().rev().take_while(|byte| is_space(byte)).count().min(text.len() - before);
    (start + before, end - after)
}

/// Whether a byte may begin a name; any non-ASCII byte may (a superset of XML 1.0, production 4).
const fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b':' || byte >= 0x80
}

/// Whether a byte ends a name inside a tag.
const fn ends_name(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'>' | b'/' | b'<' | b'=' | b'"' | b'\'')
}

/// The next token at or after `from`; `None` if there is no further `<`.
#[inline]
pub(crate) fn next(bytes: &[u8], from: usize) -> Option<Markup> {
    let start = from + memchr(b'<', bytes.get(from..)?)?;
    let markup = at(bytes, start);
    note_work(markup.end - from);
    Some(markup)
}

/// The token whose `<` is at `start`.
#[inline]
fn at(bytes: &[u8], start: usize) -> Markup {
    match bytes.get(start + 1) {
        Some(b'/') => end_tag(bytes, start),
        Some(b'!') => declaration(bytes, start),
        Some(b'?') => terminated(bytes, start, start + 2, b"?>", Kind::Instruction),
        Some(byte) if starts_name(*byte) => start_tag(bytes, start),
        _ => stray(start, start + 1),
    }
}

const fn stray(start: usize, end: usize) -> Markup {
    Markup { kind: Kind::Stray, start, end, name_end: start }
}

fn name_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| ends_name(*byte)).unwrap_or(rest.len())
}

fn start_tag(bytes: &[u8], start: usize) -> Markup {
    let name_end = name_end(bytes, start + 1);
    let mut at = name_end;
    loop {
        match bytes.get(at) {
            Some(b'>') => {
                let kind = if bytes.get(at - 1) == Some(&b'/') { Kind::Empty } else { Kind::Start };
                return Markup { kind, start, end: at + 1, name_end };
            }
            Some(quote @ (b'"' | b'\'')) => match memchr(*quote, bytes.get(at + 1..).unwrap_or_default()) {
                Some(len) => at += len + 2,
                None => return stray(start, start + 1),
            },
            // The tag is not closed before the next one begins: only this `<` is stray.
            Some(b'<') | None => return stray(start, start + 1),
            Some(_) => at += 1,
        }
    }
}

fn end_tag(bytes: &[u8], start: usize) -> Markup {
    let name_end = name_end(bytes, start + 2);
    let mut at = name_end;
    while bytes.get(at).is_some_and(|byte| is_space(*byte)) {
        at += 1;
    }
    if bytes.get(at) == Some(&b'>') && name_end > start + 2 {
        Markup { kind: Kind::End, start, end: at + 1, name_end }
    } else {
        stray(start, start + 1)
    }
}

fn declaration(bytes: &[u8], start: usize) -> Markup {
    let rest = bytes.get(start..).unwrap_or_default();
    if rest.starts_with(b"<!--") {
        return terminated(bytes, start, start + 4, b"-->", Kind::Comment);
    }
    if rest.starts_with(b"<![CDATA[") {
        return terminated(bytes, start, start + 9, b"]]>", Kind::Cdata);
    }
    // `<!DOCTYPE …>`: quotes and an internal subset in brackets may contain `>`.
    let (mut depth, mut at) = (0usize, start + 2);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => match memchr(*byte, bytes.get(at + 1..).unwrap_or_default()) {
                Some(len) => at += len + 1,
                None => break,
            },
            // Comments and instructions of the subset may contain an apostrophe.
            b'<' if depth > 0 => {
                let rest = bytes.get(at..).unwrap_or_default();
                let end: Option<&[u8]> = match rest {
                    [_, b'!', b'-', b'-', ..] => Some(b"-->"),
                    [_, b'?', ..] => Some(b"?>"),
                    _ => None,
                };
                if let Some(end) = end {
                    let Some(len) = memmem::find(rest, end) else { break };
                    at += len + end.len() - 1;
                }
            }
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'>' if depth == 0 => {
                return Markup { kind: Kind::Declaration, start, end: at + 1, name_end: start };
            }
            _ => {}
        }
        at += 1;
    }
    stray(start, bytes.len())
}

/// Parses a token that ends with `end`. Unterminated markup extends to the end of the file: searching again after each
/// such `<` would take quadratic time in a hostile file.
fn terminated(bytes: &[u8], start: usize, from: usize, end: &[u8], kind: Kind) -> Markup {
    match memmem::find(bytes.get(from..).unwrap_or_default(), end) {
        Some(len) => Markup { kind, start, end: from + len + end.len(), name_end: start },
        None => stray(start, bytes.len()),
    }
}

/// One attribute: its name and raw value, as parts of the slice that it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'b> {
    /// The name with its prefix.
    pub name: &'b [u8],
    /// The value between the quotes, not decoded.
    pub value: &'b [u8],
}

/// Iterates over the attributes of a tag (the slice of [`Markup::attributes`]) up to the first malformed one.
pub(crate) const fn attributes(slice: &[u8]) -> Attributes<'_> {
    Attributes { slice, at: 0 }
}

/// Whether attributes may declare a namespace: few tags inside an entry do, and a search takes less time than reading all
/// attributes.
#[inline]
pub(crate) fn may_declare(attributes: &[u8]) -> bool {
    static DECLARATION: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("xmlns"));
    attributes.len() >= "xmlns".len() && DECLARATION.find(attributes).is_some()
}

/// The iterator of [`attributes`].
#[derive(Debug, Clone)]
pub(crate) struct Attributes<'b> {
    slice: &'b [u8],
    at: usize,
}

impl<'b> Attributes<'b> {
    /// The unread rest; only whitespace after the last attribute of a well-formed tag.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.slice.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while self.slice.get(at).is_some_and(|byte| is_space(*byte)) {
            at += 1;
        }
        at
    }
}

impl<'b> Iterator for Attributes<'b> {
    type Item = Attribute<'b>;

    fn next(&mut self) -> Option<Attribute<'b>> {
        let start = self.skip_blanks(self.at);
        let end = name_end(self.slice, start);
        let name = self.slice.get(start..end).filter(|name| !name.is_empty())?;
        let equals = self.skip_blanks(end);
        if self.slice.get(equals) != Some(&b'=') {
            return None;
        }
        let open = self.skip_blanks(equals + 1);
        let quote = *self.slice.get(open).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let len = memchr(quote, self.slice.get(open + 1..)?)?;
        note_work(open + len + 2 - self.at);
        self.at = open + len + 2;
        Some(Attribute { name, value: self.slice.get(open + 1..open + 1 + len)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        let (mut at, mut out) = (0, Vec::new());
        while let Some(markup) = next(text.as_bytes(), at) {
            out.push((markup.kind, text[markup.start..markup.end].to_owned()));
            at = markup.end;
        }
        out
    }

    #[test]
    fn every_kind_of_token_has_its_exact_bytes() {
        let table = [
            ("a<b>c", vec![(Kind::Start, "<b>")]),
            ("<b/>", vec![(Kind::Empty, "<b/>")]),
            ("<b />", vec![(Kind::Empty, "<b />")]),
            ("<b a='>' c=\"/>\">", vec![(Kind::Start, "<b a='>' c=\"/>\">")]),
            ("</b >", vec![(Kind::End, "</b >")]),
            ("<!-- <x> -->", vec![(Kind::Comment, "<!-- <x> -->")]),
            ("<![CDATA[a<b]]>", vec![(Kind::Cdata, "<![CDATA[a<b]]>")]),
            ("<?p <x> ?>", vec![(Kind::Instruction, "<?p <x> ?>")]),
            ("<!DOCTYPE a [<!ENTITY b '>'>]>", vec![(Kind::Declaration, "<!DOCTYPE a [<!ENTITY b '>'>]>")]),
            ("a < b", vec![(Kind::Stray, "<")]),
            ("<b <c>", vec![(Kind::Stray, "<"), (Kind::Start, "<c>")]),
            ("<!-- a <b>", vec![(Kind::Stray, "<!-- a <b>")]),
            ("<b a='", vec![(Kind::Stray, "<")]),
            ("</>", vec![(Kind::Stray, "<")]),
        ];
        for (text, expected) in table {
            let expected: Vec<_> = expected.into_iter().map(|(kind, part)| (kind, part.to_owned())).collect();
            assert_eq!(kinds(text), expected, "{text}");
        }
    }

    #[test]
    fn attributes_are_read_until_the_first_malformed_one() {
        let read = |text: &'static str| -> Vec<(String, String)> {
            attributes(text.as_bytes())
                .map(|a| (String::from_utf8_lossy(a.name).into(), String::from_utf8_lossy(a.value).into()))
                .collect()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(read(" a='1' b = \"2\""), [pair("a", "1"), pair("b", "2")]);
        assert_eq!(read(" a='1' b c='2'"), [pair("a", "1")]);
        assert_eq!(read(""), []);
    }

    proptest! {
        #[test]
        fn tokens_advance_and_stay_inside_any_bytes(bytes in proptest::collection::vec(
            prop_oneof![Just(b'<'), Just(b'>'), Just(b'/'), Just(b'!'), Just(b'-'), Just(b'['), Just(b'?'), any::<u8>()], 0..200)
        ) {
            let mut at = 0;
            while let Some(markup) = next(&bytes, at) {
                prop_assert!(markup.start >= at && markup.end > markup.start && markup.end <= bytes.len());
                let _ = (markup.name(&bytes), attributes(markup.attributes(&bytes)).count());
                at = markup.end;
            }
        }
    }
}
