//! Entity references: which names a document may use, from its DOCTYPE and the XML standard.

use super::markup;
use super::wellformed::{self, Doctype};
use std::collections::HashSet;

/// What `&name;` is when it is none of the five that XML predefines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named<'b> {
    /// No reference at all: the ampersand stands for itself.
    Ampersand,
    /// The DOCTYPE declares it.
    Declared,
    /// A DTD outside of the file, which no one fetches, may declare it.
    Elsewhere(&'b [u8]),
    /// Nothing can declare it.
    Unknown(&'b [u8]),
}

/// Longest name that is taken for one where nothing declares it; anything longer is a raw ampersand.
const LONGEST_UNKNOWN: usize = 32;

/// What a prolog says of entities.
///
/// That a name is declared is a constraint of well-formedness only in a document without an external subset and without
/// references to parameter entities, or with `standalone="yes"`; in any other it is one of validity (XML 1.0, 4.1,
/// "Entity Declared").
#[derive(Debug, Default, Clone)]
pub(super) struct Entities<'b> {
    declared: HashSet<&'b [u8]>,
    has_elsewhere: bool,
    is_standalone: bool,
}

impl<'b> Entities<'b> {
    /// Takes in an XML declaration, from `<?` to `?>`.
    pub(super) fn read_declaration(&mut self, text: &[u8]) {
        let inside = text.get(b"<?xml".len()..text.len().saturating_sub(2)).unwrap_or_default();
        self.is_standalone |=
            markup::attributes(inside).any(|attribute| attribute.name == b"standalone" && attribute.value == b"yes");
    }

    /// Takes in a `<!DOCTYPE…>`; one that is not well-formed declares nothing.
    pub(super) fn read_doctype(&mut self, text: &'b [u8]) {
        if let Some(Doctype { entities, has_elsewhere }) = wellformed::doctype(text) {
            self.declared.extend(entities);
            self.has_elsewhere |= has_elsewhere;
        }
    }

    /// What begins with the ampersand at the start of `rest`.
    pub(super) fn named<'r>(&self, rest: &'r [u8]) -> Named<'r> {
        let from = rest.get(1..).unwrap_or_default();
        let name = from.get(..wellformed::name_len(from)).unwrap_or_default();
        let is_short = name.len() <= LONGEST_UNKNOWN;
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
    fn an_undeclared_name_is_an_error_only_where_nothing_else_can_declare_it() {
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
