//! Repairs text, comments and tags: characters and references that XML does not allow.

use super::super::entities::Named;
use super::super::escape;
use super::super::markup::{self, Markup};
use super::super::wellformed::{is_bad_comment, is_illegal, is_legal_declaration, is_name, is_sound_attributes};
use super::words::{excerpt, snippet};
use super::{Repairer, html};
use crate::xml::defect::Defect;
use std::collections::HashSet;

/// The context of characters, which decides how illegal ones are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextContext {
    /// In a URL.
    Url,
    /// Between tags.
    Text,
    /// In an attribute's value.
    Attribute,
    /// In a comment, an instruction or a CDATA section: nothing is escaped there.
    Raw,
    /// In a CDATA section of a URL.
    RawUrl,
}

/// Maximum length in bytes of a character reference in a message.
const MAX_REFERENCE_SHOWN: usize = 34;

impl Repairer<'_> {
    /// Writes the text at `from..to` in the file, repaired.
    pub(super) fn characters(&mut self, from: usize, to: usize, context: TextContext) {
        let mut at = from;
        while at < to {
            let rest = self.bytes.get(at..to).unwrap_or_default();
            let clean = first_special(rest);
            self.out.extend_from_slice(rest.get(..clean).unwrap_or_default());
            at += clean;
            let rest = rest.get(clean..).unwrap_or_default();
            let escapes = matches!(context, TextContext::Url | TextContext::Text | TextContext::Attribute);
            at += match rest {
                [] => return,
                [b'&', ..] if escapes => self.reference(at, rest, context),
                [b'<', ..] if escapes => {
                    self.note(Defect::Angle, at);
                    self.out.extend_from_slice(b"&lt;");
                    1
                }
                [b'>', ..] if escapes && self.out.ends_with(b"]]") => {
                    self.note(Defect::SectionEnd, at.saturating_sub(2));
                    self.out.extend_from_slice(b"&gt;");
                    1
                }
                [0xEF, 0xBF, last @ (0xBE | 0xBF), ..] => {
                    let last = *last;
                    self.illegal(at, &[0xEF, 0xBF, last], context, 3)
                }
                [byte, ..] if is_illegal(*byte) => {
                    let byte = *byte;
                    self.illegal(at, &[byte], context, 1)
                }
                [byte, ..] => {
                    self.out.push(*byte);
                    1
                }
            };
        }
    }

    /// Repairs a character that XML does not allow and that takes `len` bytes in the file; returns `len`.
    fn illegal(&mut self, at: usize, encoded: &[u8], context: TextContext, len: usize) -> usize {
        let name = code_point_name(encoded);
        let text = || std::str::from_utf8(&name).unwrap_or_default();
        if self.recorder.is_recording() {
            self.note_with(Defect::Character, at, |_| text());
        } else {
            // Many files have the same character in every entry.
            self.add_note(Defect::Character, at, |_, last| (last.as_bytes() != name).then(text));
        }
        if matches!(context, TextContext::Url | TextContext::RawUrl) {
            for byte in encoded {
                self.out.extend_from_slice(&[b'%', hex_digit(byte >> 4), hex_digit(byte & 15)]);
            }
        } else if context == TextContext::Raw && matches!(self.out.last(), Some(b']' | b'-' | b'?')) {
            // The text on both sides must not form the end of a section, comment or instruction.
            self.out.push(b' ');
        }
        len
    }

    /// Repairs an ampersand and the reference that it may begin; returns their length in the file.
    fn reference(&mut self, at: usize, rest: &[u8], context: TextContext) -> usize {
        match escape::reference(rest) {
            Some((character, len)) if escape::is_xml_char(character) => {
                self.out.extend_from_slice(rest.get(..len).unwrap_or_default());
                return len;
            }
            Some((character, len)) => {
                let mut buffer = [0; 4];
                let encoded = character.encode_utf8(&mut buffer).as_bytes().to_vec();
                return self.illegal(at, &encoded, context, len);
            }
            None => {}
        }
        if let Some(len) = escape::number_len(rest) {
            // A surrogate or a number beyond Unicode is not a character. It becomes text, since a URL without it would
            // name another page.
            let shown = rest.get(..len.min(MAX_REFERENCE_SHOWN)).unwrap_or_default();
            self.note_with(Defect::NoCharacter, at, |_| escape::lossy(shown).into_owned());
            self.out.extend_from_slice(b"&amp;");
            return 1;
        }
        let (kind, name) = match self.entities.named(rest) {
            Named::Ampersand => (Defect::Ampersand, None),
            Named::Declared => (Defect::DtdEntity, None),
            Named::Elsewhere(name) => (Defect::DtdEntity, Some(name)),
            Named::Unknown(name) => (Defect::Entity, Some(name)),
        };
        self.note(kind, at);
        if let Some((name, character)) = name.and_then(|name| Some((name, html::character(name)?))) {
            self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            name.len() + 2
        } else {
            self.out.extend_from_slice(b"&amp;");
            1
        }
    }

    /// Writes a comment, with a blank between adjacent hyphens.
    pub(super) fn comment(&mut self, token: &Markup) {
        let (from, to) = (token.start + 4, token.end.saturating_sub(3).max(token.start + 4));
        let inside = self.bytes.get(from..to).unwrap_or_default();
        if !is_bad_comment(inside) {
            self.out.extend_from_slice(b"<!--");
            self.characters(from, to, TextContext::Raw);
            self.out.extend_from_slice(b"-->");
            return;
        }
        self.note(Defect::Comment, token.start);
        self.out.extend_from_slice(b"<!--");
        let first = self.out.len();
        self.characters(from, to, TextContext::Raw);
        let text = self.out.get(first..).unwrap_or_default().to_vec();
        self.out.truncate(first);
        for byte in text {
            if byte == b'-' && self.out.last() == Some(&b'-') {
                self.out.push(b' ');
            }
            self.out.push(byte);
        }
        if self.out.last() == Some(&b'-') {
            self.out.push(b' ');
        }
        self.out.extend_from_slice(b"-->");
    }

    /// Writes a start tag with its corrected name.
    pub(super) fn tag(&mut self, token: &Markup, written: &[u8]) {
        self.out.push(b'<');
        self.out.extend_from_slice(written);
        let attributes = token.attributes(self.bytes);
        if is_sound_attributes(attributes) && !has_illegal(attributes) {
            self.out.extend_from_slice(attributes);
        } else {
            self.attributes(token.name_end, token.name_end + attributes.len());
        }
        self.out.extend_from_slice(if token.kind == markup::Kind::Empty { b"/>" } else { b">" });
    }

    /// Writes the attributes at `from..to` in the file: quoted, and without duplicates and invalid names.
    fn attributes(&mut self, from: usize, to: usize) {
        let mut seen: HashSet<&[u8]> = HashSet::new();
        let bytes = self.bytes;
        let byte = |at: usize| bytes.get(at).copied().filter(|_| at < to);
        let skip = |mut at: usize| {
            while byte(at).is_some_and(markup::is_space) {
                at += 1;
            }
            at
        };
        let mut at = from;
        loop {
            let start = skip(at);
            if start >= to {
                return;
            }
            let is_apart = start > at;
            let mut end = start;
            while byte(end).is_some_and(|byte| !markup::is_space(byte) && !matches!(byte, b'=' | b'"' | b'\'' | b'/')) {
                end += 1;
            }
            let (name, end_of_name) = (bytes.get(start..end).unwrap_or_default(), end);
            if name.is_empty() {
                // The snippet may extend beyond the tag.
                self.recorder.stop();
                self.note_malformed(start, |repairer| {
                    format!("{} is not an attribute; omitted", snippet(repairer.bytes, start))
                });
                at = start + 1;
                continue;
            }
            let equals = skip(end);
            let (value, quote, next) = if byte(equals) == Some(b'=') {
                let open = skip(equals + 1);
                if let Some(quote @ (b'"' | b'\'')) = byte(open) {
                    let rest = bytes.get(open + 1..to).unwrap_or_default();
                    let end = memchr::memchr(quote, rest);
                    if end.is_none() {
                        self.note_malformed(start, |repairer| {
                            let (name, quote) = (excerpt(repairer.bytes, start, end_of_name), char::from(quote));
                            format!("the value of {name} has no {quote} at its end; written")
                        });
                    }
                    let len = end.unwrap_or(rest.len());
                    ((open + 1, open + 1 + len), quote, (open + len + 2).min(to))
                } else {
                    let mut end = open;
                    while byte(end).is_some_and(|byte| !markup::is_space(byte) && !matches!(byte, b'"' | b'\'')) {
                        end += 1;
                    }
                    self.note_malformed(start, |repairer| {
                        format!("the value of {} has no quotes; written", excerpt(repairer.bytes, start, end_of_name))
                    });
                    ((open, end), b'"', end)
                }
            } else {
                self.note_malformed(start, |repairer| {
                    format!("{} has no value; its name is used as value", excerpt(repairer.bytes, start, end_of_name))
                });
                ((start, end), b'"', end)
            };
            at = next;
            if !is_name(name) {
                self.note_malformed(start, |repairer| {
                    format!("{} is not a valid attribute name; omitted", excerpt(repairer.bytes, start, end_of_name))
                });
            } else if !is_legal_declaration(name, bytes.get(value.0..value.1).unwrap_or_default()) {
                self.note_malformed(start, |repairer| {
                    format!(
                        "{} is not a valid namespace declaration; omitted",
                        excerpt(repairer.bytes, start, value.1 + 1)
                    )
                });
            } else if seen.insert(name) {
                if !is_apart {
                    self.note_malformed(start, |repairer| {
                        format!("no blank before {}; written", excerpt(repairer.bytes, start, end_of_name))
                    });
                }
                self.out.push(b' ');
                self.out.extend_from_slice(name);
                self.out.extend_from_slice(&[b'=', quote]);
                let context = if is_url(name) { TextContext::Url } else { TextContext::Attribute };
                self.characters(value.0, value.1, context);
                self.out.push(quote);
            } else {
                self.note(Defect::DuplicateAttribute, start);
            }
        }
    }
}

/// Whether only blanks follow the name of an end tag.
pub(super) fn is_sound_end(bytes: &[u8], token: &Markup) -> bool {
    markup::is_blank(bytes.get(token.name_end..token.end.saturating_sub(1)).unwrap_or_default())
}

/// Whether an extension element or attribute with this local name has a URL as its value
/// ([`crate::protocol::extension`]).
pub(super) fn is_url(local: &[u8]) -> bool {
    matches!(local, b"loc" | b"license" | b"packageurl" | b"href" | b"src") || local.ends_with(b"_loc")
}

/// Whether bytes contain a character that XML does not allow.
pub(super) fn has_illegal(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| is_illegal(*byte))
        || bytes.windows(3).any(|three| matches!(three, [0xEF, 0xBF, 0xBE | 0xBF]))
}

/// The offset of the first byte that may need a repair; the length if there is none.
pub(super) fn first_special(bytes: &[u8]) -> usize {
    // A caller often goes on at such a byte.
    if bytes.first().is_some_and(|byte| is_special(*byte)) {
        return 0;
    }
    // Shorter than any chunk.
    if bytes.len() < 8 {
        return position_of_special(bytes);
    }
    let (chunks, rest) = bytes.as_chunks::<32>();
    let clean = clean_len(chunks);
    let clean = clean + if clean < size_of_val(chunks) { 0 } else { clean_len(rest.as_chunks::<8>().0) };
    clean + position_of_special(bytes.get(clean..).unwrap_or_default())
}

/// Length of the chunks before the first one that has a byte which may need a repair.
fn clean_len<const N: usize>(chunks: &[[u8; N]]) -> usize {
    // Without an early exit, and for a fixed length, the compiler vectorises the inner loop.
    let is_clean = |chunk: &&[u8; N]| !chunk.iter().fold(false, |found, byte| found | is_special(*byte));
    N * chunks.iter().take_while(is_clean).count()
}

/// [`first_special`] of few bytes.
fn position_of_special(bytes: &[u8]) -> usize {
    const IS_SPECIAL: [bool; 256] = {
        let (mut table, mut byte) = ([false; 256], 0);
        while byte < table.len() {
            table[byte] = is_special(byte as u8);
            byte += 1;
        }
        table
    };
    let is_special = |byte: &u8| IS_SPECIAL.get(usize::from(*byte)).is_some_and(|is_special| *is_special);
    bytes.iter().position(is_special).unwrap_or(bytes.len())
}

const fn is_special(byte: u8) -> bool {
    is_illegal(byte) || matches!(byte, b'&' | b'<' | b'>' | 0xEF)
}

/// The name of a character that XML does not allow, which is below U+10000: `U+0001`. A file may have one
/// in each entry, and `format!` takes an eighth of the instructions of such a repair.
fn code_point_name(encoded: &[u8]) -> [u8; 6] {
    let code = match encoded {
        [byte] => u32::from(*byte),
        _ => escape::lossy(encoded).chars().next().map_or(0, |character| character as u32),
    };
    let digit = |shift: u32| hex_digit((code >> shift & 15) as u8);
    [b'U', b'+', digit(12), digit(8), digit(4), digit(0)]
}

/// The digit of a value below 16, in upper case.
fn hex_digit(value: u8) -> u8 {
    b"0123456789ABCDEF".get(usize::from(value)).copied().unwrap_or(b'0')
}
