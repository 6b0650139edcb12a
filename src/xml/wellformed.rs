//! Well-formedness checks that the tokenizer does not do: names, XML declaration, instructions and DOCTYPE.
//!
//! These are pure functions of a slice without positions. Productions are those of XML 1.0, fifth edition.

use super::escape;
use super::markup::{self, is_blank, is_space};
use memchr::memmem;
use std::collections::HashSet;

/// Whether bytes are a name (production 5).
#[inline]
pub(super) fn is_name(bytes: &[u8]) -> bool {
    !bytes.is_empty() && name_len(bytes) == bytes.len()
}

/// Length of the name at the start of `bytes`; 0 if there is none.
#[inline]
pub(super) fn name_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii() {
            let continues = byte.is_ascii_alphabetic()
                || matches!(byte, b'_' | b':')
                || (at > 0 && (byte.is_ascii_digit() || matches!(byte, b'-' | b'.')));
            if !continues {
                break;
            }
            at += 1;
            continue;
        }
        let Some(character) = character(bytes.get(at..).unwrap_or_default()) else { break };
        if !(starts_name(character) || (at > 0 && continues_name(character))) {
            break;
        }
        at += character.len_utf8();
    }
    at
}

/// The non-ASCII character at the start of `bytes`; `None` if they are not UTF-8.
fn character(bytes: &[u8]) -> Option<char> {
    let chunk = bytes.get(..bytes.len().min(4))?.utf8_chunks().next()?;
    chunk.valid().chars().next()
}

/// Whether a non-ASCII character may begin a name (production 4).
const fn starts_name(character: char) -> bool {
    matches!(character,
        '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Whether a non-ASCII character may only follow the first one of a name (production 4a).
const fn continues_name(character: char) -> bool {
    matches!(character, '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The namespace of the prefix `xml`, which no other prefix may be bound to.
const XML: &[u8] = b"http://www.w3.org/XML/1998/namespace";
/// The namespace of `xmlns`, which no prefix may be bound to.
const XMLNS: &[u8] = b"http://www.w3.org/2000/xmlns/";

/// Whether a namespace declaration is legal (Namespaces in XML 1.0, sections 2.2, 3 and 5); true for any other
/// attribute.
#[inline]
pub(super) fn is_legal_declaration(name: &[u8], value: &[u8]) -> bool {
    let Some(declared) = name.strip_prefix(b"xmlns") else { return true };
    let is_reserved = value == XML || value == XMLNS;
    match declared {
        [] => !is_reserved,
        b":xml" => value == XML,
        b":" | b":xmlns" => false,
        // A prefix cannot be undeclared, and has no colon.
        [b':', prefix @ ..] => !is_reserved && !value.is_empty() && !prefix.contains(&b':'),
        _ => true,
    }
}

/// Whether the content of `<?…?>` is an instruction (productions 16 and 17) other than the XML declaration.
pub(super) fn is_instruction(inside: &[u8]) -> bool {
    let len = name_len(inside);
    let target = inside.get(..len).unwrap_or_default();
    len > 0 && !target.eq_ignore_ascii_case(b"xml") && inside.get(len).is_none_or(|byte| is_space(*byte))
}

/// Whether the text between `<?xml` and `?>` is that of an XML declaration (production 23).
pub(super) fn is_declaration(attributes: &[u8]) -> bool {
    let mut wanted: &[&[u8]] = &[b"version", b"encoding", b"standalone"];
    let mut list = markup::attributes(attributes);
    loop {
        let before = list.rest();
        let Some(attribute) = list.next() else {
            // The version is required and comes first.
            return wanted.len() < 3 && is_blank(before);
        };
        let Some(index) = wanted.iter().position(|name| *name == attribute.name) else { return false };
        if !before.first().is_some_and(|byte| is_space(*byte)) || (wanted.len() == 3 && index > 0) {
            return false;
        }
        wanted = wanted.get(index + 1..).unwrap_or_default();
        let is_sound = match attribute.name {
            b"version" => {
                matches!(attribute.value, [b'1', b'.', minor @ ..] if !minor.is_empty() && minor.iter().all(u8::is_ascii_digit))
            }
            b"encoding" => is_encoding_name(attribute.value),
            _ => matches!(attribute.value, b"yes" | b"no"),
        };
        if !is_sound {
            return false;
        }
    }
}

/// Whether a text is the name of an encoding (production 81).
fn is_encoding_name(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// The entity declarations of a document type declaration.
#[derive(Debug, Default)]
pub(super) struct Doctype<'b> {
    /// Names of the general entities that the internal subset declares.
    pub(super) entities: Vec<&'b [u8]>,
    /// Whether it has an external subset or refers to a parameter entity, which may declare more entities.
    pub(super) has_elsewhere: bool,
}

/// Reads a whole `<!DOCTYPE…>` (production 28); `None` if it is not well-formed.
pub(super) fn doctype(text: &[u8]) -> Option<Doctype<'_>> {
    let inside = text.strip_prefix(b"<!DOCTYPE")?.strip_suffix(b">")?;
    let mut read = Reader { rest: inside, found: Doctype::default() };
    if !(read.space() && read.name()) {
        return None;
    }
    let apart = read.space();
    if read.begins_external() {
        if !(apart && read.external(true)) {
            return None;
        }
        read.found.has_elsewhere = true;
    }
    read.space();
    if read.literal(b"[") {
        if !read.subset() {
            return None;
        }
        read.space();
    }
    read.rest.is_empty().then_some(read.found)
}

/// Reads the tokens of a document type declaration in order.
struct Reader<'b> {
    rest: &'b [u8],
    found: Doctype<'b>,
}

impl Reader<'_> {
    fn skip(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
    }

    /// Skips whitespace; returns whether there is any.
    fn space(&mut self) -> bool {
        let len = self.rest.iter().position(|byte| !is_space(*byte)).unwrap_or(self.rest.len());
        self.skip(len);
        len > 0
    }

    fn name(&mut self) -> bool {
        let len = name_len(self.rest);
        self.skip(len);
        len > 0
    }

    /// Skips a name token (production 7), which consists of name characters in any order.
    fn token(&mut self) -> bool {
        let mut len = 0;
        loop {
            let rest = self.rest.get(len..).unwrap_or_default();
            let more = match rest.first() {
                Some(byte) if byte.is_ascii() => {
                    usize::from(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-' | b'.'))
                }
                Some(_) => character(rest)
                    .filter(|character| starts_name(*character) || continues_name(*character))
                    .map_or(0, char::len_utf8),
                None => 0,
            };
            if more == 0 {
                break;
            }
            len += more;
        }
        self.skip(len);
        len > 0
    }

    fn literal(&mut self, wanted: &[u8]) -> bool {
        let found = self.rest.starts_with(wanted);
        if found {
            self.skip(wanted.len());
        }
        found
    }

    /// Reads a quoted literal.
    fn quoted(&mut self) -> Option<Vec<u8>> {
        let quote = *self.rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let len = memchr::memchr(quote, self.rest.get(1..)?)?;
        let value = self.rest.get(1..=len)?.to_vec();
        self.skip(len + 2);
        Some(value)
    }

    fn begins_external(&self) -> bool {
        self.rest.starts_with(b"SYSTEM") || self.rest.starts_with(b"PUBLIC")
    }

    /// Reads `SYSTEM "…"` or `PUBLIC "…" "…"` (production 75); the public identifier of a notation may be alone.
    fn external(&mut self, needs_system: bool) -> bool {
        if self.literal(b"SYSTEM") {
            return self.space() && self.quoted().is_some();
        }
        let is_public = |byte: &u8| byte.is_ascii_alphanumeric() || b" \r\n-'()+,./:=?;!*#@$_%".contains(byte);
        if !(self.literal(b"PUBLIC") && self.space() && self.quoted().is_some_and(|id| id.iter().all(is_public))) {
            return false;
        }
        let apart = self.space();
        if !needs_system && !matches!(self.rest.first(), Some(b'"' | b'\'')) {
            return true;
        }
        apart && self.quoted().is_some()
    }

    /// Reads the internal subset up to its `]` (production 28b).
    fn subset(&mut self) -> bool {
        loop {
            self.space();
            if self.literal(b"]") {
                return true;
            }
            let sound = if self.literal(b"<!--") {
                self.up_to(b"--").is_some() && self.literal(b">")
            } else if self.literal(b"<?") {
                self.up_to(b"?>").is_some_and(is_instruction)
            } else if self.literal(b"%") {
                self.found.has_elsewhere = true;
                self.name() && self.literal(b";")
            } else if self.literal(b"<!ENTITY") {
                self.space() && self.entity() && self.end()
            } else if self.literal(b"<!ELEMENT") {
                self.space() && self.name() && self.space() && self.content() && self.end()
            } else if self.literal(b"<!ATTLIST") {
                self.space() && self.name() && self.attribute_list()
            } else if self.literal(b"<!NOTATION") {
                self.space() && self.name() && self.space() && self.external(false) && self.end()
            } else {
                false
            };
            if !sound {
                return false;
            }
        }
    }

    fn up_to(&mut self, end: &[u8]) -> Option<&[u8]> {
        let len = memmem::find(self.rest, end)?;
        let (inside, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest.get(end.len()..)?;
        Some(inside)
    }

    fn end(&mut self) -> bool {
        self.space();
        self.literal(b">")
    }

    /// Reads the rest of a declaration after `<!ENTITY ` (productions 71 to 74).
    fn entity(&mut self) -> bool {
        let is_parameter = self.literal(b"%");
        if is_parameter && !self.space() {
            return false;
        }
        let name = self.rest.get(..name_len(self.rest)).unwrap_or_default();
        if !self.name() || !self.space() {
            return false;
        }
        if !is_parameter {
            self.found.entities.push(name);
        }
        if let Some(value) = self.quoted() {
            return is_entity_value(&value);
        }
        if !self.external(true) {
            return false;
        }
        let rest = self.rest;
        if self.space() && self.literal(b"NDATA") {
            return !is_parameter && self.space() && self.name();
        }
        self.rest = rest;
        true
    }

    /// Reads the content of an element declaration (productions 46 to 51), without recursion.
    fn content(&mut self) -> bool {
        if self.literal(b"EMPTY") || self.literal(b"ANY") {
            return true;
        }
        if !self.literal(b"(") {
            return false;
        }
        self.space();
        if self.literal(b"#PCDATA") {
            let mut names = 0;
            loop {
                self.space();
                if self.literal(b")") {
                    return self.literal(b"*") || names == 0;
                }
                if !self.literal(b"|") {
                    return false;
                }
                self.space();
                if !self.name() {
                    return false;
                }
                names += 1;
            }
        }
        // The separator of each open group, once it is known.
        let mut groups: Vec<Option<u8>> = vec![None];
        loop {
            self.space();
            if self.literal(b"(") {
                groups.push(None);
                continue;
            }
            if !self.name() {
                return false;
            }
            self.occurrence();
            loop {
                self.space();
                if self.literal(b")") {
                    self.occurrence();
                    groups.pop();
                    if groups.is_empty() {
                        return true;
                    }
                    continue;
                }
                let Some(separator) = self.rest.first().copied().filter(|byte| matches!(byte, b'|' | b',')) else {
                    return false;
                };
                let known = groups.last_mut().map(|group| *group.get_or_insert(separator));
                if known != Some(separator) {
                    return false;
                }
                self.skip(1);
                break;
            }
        }
    }

    fn occurrence(&mut self) {
        if matches!(self.rest.first(), Some(b'?' | b'*' | b'+')) {
            self.skip(1);
        }
    }

    /// Reads the rest of an `<!ATTLIST` after its name (productions 52 to 60).
    fn attribute_list(&mut self) -> bool {
        const TYPES: [&[u8]; 8] =
            [b"CDATA", b"IDREFS", b"IDREF", b"ID", b"ENTITIES", b"ENTITY", b"NMTOKENS", b"NMTOKEN"];
        loop {
            let apart = self.space();
            if self.literal(b">") {
                return true;
            }
            if !(apart && self.name() && self.space()) {
                return false;
            }
            let is_notation = self.literal(b"NOTATION");
            let is_typed = if is_notation {
                self.space() && self.literal(b"(") && self.alternatives()
            } else {
                TYPES.iter().any(|known| self.literal(known)) || (self.literal(b"(") && self.alternatives())
            };
            if !(is_typed && self.space()) {
                return false;
            }
            if self.literal(b"#REQUIRED") || self.literal(b"#IMPLIED") {
                continue;
            }
            if self.literal(b"#FIXED") && !self.space() {
                return false;
            }
            if self.quoted().is_none_or(|value| value.contains(&b'<')) {
                return false;
            }
        }
    }

    /// Reads alternatives: `a | b)`.
    fn alternatives(&mut self) -> bool {
        loop {
            self.space();
            if !self.token() {
                return false;
            }
            self.space();
            if self.literal(b")") {
                return true;
            }
            if !self.literal(b"|") {
                return false;
            }
        }
    }
}

/// Whether each `&` in the value of an entity begins a reference (production 9), and it has no `%`: in an internal
/// subset, parameter entities may not be used within a declaration.
fn is_entity_value(value: &[u8]) -> bool {
    let mut rest = value;
    while let Some(at) = memchr::memchr2(b'&', b'%', rest) {
        let from = rest.get(at + 1..).unwrap_or_default();
        if rest.get(at) == Some(&b'%') {
            return false;
        }
        let len = if from.first() == Some(&b'#') {
            from.iter().position(|byte| *byte == b';').unwrap_or(0)
        } else {
            name_len(from)
        };
        if len == 0 || from.get(len) != Some(&b';') {
            return false;
        }
        rest = from.get(len + 1..).unwrap_or_default();
    }
    true
}

/// Whether a text is not allowed as the content of a comment (XML 1.0, production 15).
pub(super) fn is_bad_comment(inside: &[u8]) -> bool {
    inside.ends_with(b"-") || memmem::find(inside, b"--").is_some()
}

/// Whether the attributes of a tag are well-formed (XML 1.0, productions 40 and 41, and the constraints "Unique Att
/// Spec" and "No < in Attribute Values").
pub(super) fn is_sound_attributes(attributes: &[u8]) -> bool {
    if attributes.is_empty() {
        return true;
    }
    let mut list = markup::attributes(attributes);
    // Few tags have more than 16 attributes; only those need allocated memory.
    let (mut names, mut count, mut many): ([&[u8]; 16], usize, HashSet<&[u8]>) = ([b""; 16], 0, HashSet::new());
    loop {
        let before = list.rest();
        let Some(attribute) = list.next() else {
            return markup::is_blank(before);
        };
        let known = names.get(..count).unwrap_or(&names);
        let is_new = if let Some(slot) = (!known.contains(&attribute.name)).then(|| names.get_mut(count)) {
            match slot {
                Some(slot) => {
                    *slot = attribute.name;
                    count += 1;
                    true
                }
                None => many.insert(attribute.name),
            }
        } else {
            false
        };
        let apart = before.first().is_some_and(|byte| markup::is_space(*byte));
        let value = attribute.value;
        if !is_new
            || !apart
            || !is_name(attribute.name)
            || !is_legal_declaration(attribute.name, value)
            || value.contains(&b'<')
            || escape::first_bad_reference(value).is_some()
        {
            return false;
        }
    }
}

/// Whether a byte is a control character that XML 1.0 forbids (production 2).
pub(super) const fn is_illegal(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_fifth_edition() {
        for name in ["a", "_", ":", "a:b", "a-1.b", "é", "a·b", "Ⅷ", "\u{1f600}", "a\u{300}", "日本"] {
            assert!(is_name(name.as_bytes()), "{name:?}");
        }
        for name in
            ["", "1", "-a", "a%b", "a&b", "a\u{a0}b", "×", "b×", "a\u{202e}", "·a", "a;", "a\u{2028}", "a\u{37e}"]
        {
            assert!(!is_name(name.as_bytes()), "{name:?}");
        }
        assert!(!is_name(b"a\xff"));
        assert_eq!(["ab%c", "1a", "é ", "a\u{a0}"].map(|text| name_len(text.as_bytes())), [2, 0, 2, 1]);
    }

    #[test]
    fn xml_declarations_are_validated() {
        for text in [
            " version='1.0'",
            " version = \"1.0\"\n",
            " version='1.1' encoding='UTF-8'",
            " version='1.0' standalone='no' ",
        ] {
            assert!(is_declaration(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            " ",
            "version='1.0'",
            " encoding='UTF-8'",
            " version='2.0'",
            " version='1.'",
            " version=''",
            " version='1.0'encoding='a'",
            " version='1.0' encoding='utf 8'",
            " version='1.0' encoding=''",
            " version='1.0' standalone='true'",
            " version='1.0' standalone='no' encoding='a'",
            " version='1.0' version='1.0'",
            " version='1.0' a='b'",
            " version='1.0' x",
        ] {
            assert!(!is_declaration(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn instructions_are_validated() {
        for text in ["p", "p q", "xml-stylesheet a='b'", "p ", "php\necho 1"] {
            assert!(is_instruction(text.as_bytes()), "{text}");
        }
        for text in ["", " p", "xml", "XML x", "xMl a", "1a b", "xm, v", "p&1; q", "p<a", "p\u{a0}q"] {
            assert!(!is_instruction(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn document_types_are_validated() {
        for text in [
            "<!DOCTYPE urlset>",
            "<!DOCTYPE urlset >",
            "<!DOCTYPE u SYSTEM 'a'>",
            "<!DOCTYPE u PUBLIC \"-//X//Y\" 'a' >",
            "<!DOCTYPE u[]>",
            "<!DOCTYPE u [ ] >",
            "<!DOCTYPE u SYSTEM 'a'[ %p; ]>",
            "<!DOCTYPE u [<!ENTITY a 'b&c;&#10;'><!ENTITY % p SYSTEM 'x'><!ENTITY n SYSTEM 'x' NDATA gif>]>",
            "<!DOCTYPE u [<!ELEMENT u (a,(b|c)*,d?)+><!ELEMENT a EMPTY><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA|a)* >]>",
            "<!DOCTYPE u [<!ATTLIST u a CDATA #IMPLIED b (x|1) 'x' c ID #REQUIRED d NMTOKENS #FIXED 'q'><!ATTLIST u>]>",
            "<!DOCTYPE u [<!NOTATION n PUBLIC 'x'><!NOTATION m SYSTEM 'x'><!-- it's --><?p it's?>]>",
        ] {
            assert!(doctype(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "<!DOCTYPE>",
            "<!DOCTYPE >",
            "<!DOCTYPEu>",
            "<!doctype u>",
            "<!DOCTYPE 1u>",
            "<!DOCTYPE u x>",
            "<!DOCTYPE u SYSTEM>",
            "<!DOCTYPE u SYSTEM'a'>",
            "<!DOCTYPE u PUBLIC 'a'>",
            "<!DOCTYPE u PUBLIC 'a''b'>",
            "<!DOCTYPE u PUBLIC '{' 'b'>",
            "<!DOCTYPE u SYSTEM 'a' x>",
            "<!DOCTYPE u [<a>]>",
            "<!DOCTYPE u [x]>",
            "<!DOCTYPE u []x>",
            "<!DOCTYPE u [<!ENTITY a>]>",
            "<!DOCTYPE u [<!ENTITY a 'b&c'>]>",
            "<!DOCTYPE u [<!ENTITY a 'b%c;'>]>",
            "<!DOCTYPE u [<!ELEMENT u (a,b|c)>]>",
            "<!DOCTYPE u [<!ELEMENT u (a>]>",
            "<!DOCTYPE u [<!ELEMENT c (#PCDATA|a)>]>",
            "<!DOCTYPE u [<!ATTLIST u a b 'c'>]>",
            "<!DOCTYPE u [<!-- a -- b -->]>",
            "<!DOCTYPE u [<?xml?>]>",
        ] {
            assert!(doctype(text.as_bytes()).is_none(), "{text}");
        }
    }
}
