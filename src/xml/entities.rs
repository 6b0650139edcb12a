//! Entity references: the names that a document may use according to its DOCTYPE and the XML standard.

use super::markup;
use super::wellformed::{self, Doctype};
use std::collections::HashSet;

/// The meaning of `&name;` other than the five predefined references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named<'b> {
    /// No reference: the ampersand is text.
    Ampersand,
    /// The DOCTYPE declares it.
    Declared,
    /// An external DTD, which is not fetched, may declare it.
    Elsewhere(&'b [u8]),
    /// It cannot be declared anywhere.
    Unknown(&'b [u8]),
}

/// Maximum length in bytes of an undeclared name that counts as a reference; a longer one is a raw ampersand.
const MAX_UNKNOWN_NAME: usize = 32;

/// The entity declarations of a prolog.
///
/// An undeclared name violates well-formedness only in a document without an external subset and without references to
/// parameter entities, or with `standalone="yes"`. In other documents it only violates validity (XML 1.0, 4.1, "Entity
/// Declared").
#[derive(Debug, Default, Clone)]
pub(super) struct Entities<'b> {
    declared: HashSet<&'b [u8]>,
    has_elsewhere: bool,
    is_standalone: bool,
}

impl<'b> Entities<'b> {
    /// Reads an XML declaration, from `<?` to `?>`.
    pub(super) fn read_declaration(&mut self, text: &[u8]) {
        let inside = text.get(b"<?xml".len()..text.len().saturating_sub(2)).unwrap_or_default();
        self.is_standalone |=
            markup::attributes(inside).any(|attribute| attribute.name == b"standalone" && attribute.value == b"yes");
    }

    /// Reads a `<!DOCTYPE…>`; a malformed one declares nothing.
    pub(super) fn read_doctype(&mut self, text: &'b [u8]) {
        if let Some(Doctype { entities, has_elsewhere }) = wellformed::doctype(text) {
            self.declared.extend(entities);
            self.has_elsewhere |= has_elsewhere;
        }
    }

    /// Classifies the reference that begins with the ampersand at the start of `rest`.
    pub(super) fn named<'r>(&self, rest: &'r [u8]) -> Named<'r> {
        let from = rest.get(1..).unwrap_or_default();
        let name = from.get(..wellformed::name_len(from)).unwrap_or_default();
        let is_short = name.len() <= MAX_UNKNOWN_NAME;
        if name.is_empty() || from.get(name.len()) != Some(&b';') {
            Named::Ampersand
        } else if self.declared.contains(name) {
            Named::Declared
        } else if self.has_elsewhere && !self.is_standalone {
            Named::Elsewhere(name)
        } else if is_short
            && name.first().is_some_and(u8::is_ascii_alphabetic)
            && name.is_ascii()
            && !name.contains(&b':')
        {
            Named::Unknown(name)
        } else {
            Named::Ampersand
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undeclared_name_is_an_error_only_if_nothing_else_can_declare_it() {
        let named = |declaration: &[u8], doctype: &'static [u8], rest: &'static [u8]| {
            let mut entities = Entities::default();
            entities.read_declaration(declaration);
            entities.read_doctype(doctype);
            entities.named(rest)
        };
        let (plain, alone) = (b"<?xml version='1.0'?>", b"<?xml version='1.0' standalone='yes'?>");
        let unknown = Named::Unknown(b"nbsp");
        let elsewhere = Named::Elsewhere(b"nbsp");
        let table: [(&[u8], &[u8], Named<'_>); 11] = [
            (plain, b"", unknown),
            (plain, b"<!DOCTYPE u>", unknown),
            (plain, b"<!DOCTYPE u [<!ENTITY nbsp 'x'>]>", Named::Declared),
            (plain, b"<!DOCTYPE u [<!ENTITY b 'x'><!-- <!ENTITY nbsp 'x'> %p; -->]>", unknown),
            (plain, b"<!DOCTYPE u [<!ENTITY % nbsp 'x'>]>", unknown),
            (plain, b"<!DOCTYPE u SYSTEM 'u.dtd'>", elsewhere),
            (plain, b"<!DOCTYPE u PUBLIC 'u' 'u.dtd' []>", elsewhere),
            (plain, b"<!DOCTYPE u [<!ENTITY % p 'x'> %p;]>", elsewhere),
            (plain, b"<!DOCTYPE u [<!ENTITY e SYSTEM 'e.xml'>]>", unknown),
            (plain, b"<!DOCTYPE u SYSTEM 'u.dtd' [<]>", unknown),
            (alone, b"<!DOCTYPE u SYSTEM 'u.dtd'>", unknown),
        ];
        for (declaration, doctype, expected) in table {
            let shown = String::from_utf8_lossy(doctype);
            assert_eq!(named(declaration, doctype, b"&nbsp; x"), expected, "{shown}");
        }
        // Any name (production 5) may be declared in a DTD.
        for text in ["&:a;", "&\u{e9};", "&a.b-c;"] {
            let found = named(plain, b"<!DOCTYPE u SYSTEM 'u.dtd'>", text.as_bytes());
            assert_eq!(found, Named::Elsewhere(&text.as_bytes()[1..text.len() - 1]));
        }
        for text in ["&", "&;", "&a", "& a;", "&1;", "&a b;"] {
            assert_eq!(named(plain, b"<!DOCTYPE u SYSTEM 'u.dtd'>", text.as_bytes()), Named::Ampersand, "{text}");
        }
    }
}
