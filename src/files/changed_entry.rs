//! Recognises a written entry that is the original one with another value or a new element of one field.
//!
//! It is compared with the original one, which costs a fraction of parsing it. The original entry must have no anomalies and
//! no markup but tags, and its elements no prefix: then each of its fields is a child of the entry.

use crate::protocol::Field;
use crate::xml::markup;

/// A written entry and the original one.
pub(super) struct ChangedEntry<'e> {
    /// The bytes that begin with the written entry.
    pub(super) written: &'e [u8],
    pub(super) original: &'e [u8],
    /// The edited field.
    pub(super) field: Field,
}

impl ChangedEntry<'_> {
    /// The length of the written entry, if its field has this value, and all else is as in the original one. The value needs
    /// no escaping and has no white space around it.
    pub(super) fn len_with(&self, value: &str) -> Option<usize> {
        let start = self.start_of_difference()?;
        let (before, after) = self.original.split_at_checked(start)?;
        if ends_with_tag(before, b"<", self.field) {
            self.len_with_value(value, start, after)
        } else if Field::ALL.iter().any(|field| ends_with_tag(before, b"</", *field)) {
            self.len_with_element(value, start, after)
        } else {
            None
        }
    }

    /// The length of the written entry, if it has this value instead of the one that `after` begins with.
    fn len_with_value(&self, value: &str, start: usize, after: &[u8]) -> Option<usize> {
        let end_tag = after.get(memchr::memchr(b'<', after)?..)?;
        after_end_tag(self.field, end_tag)?;
        let inside = self.written.get(start..)?;
        let len = memchr::memchr(b'<', inside)?;
        let (from, to) = markup::trim(inside, 0, len);
        let is_written = inside.get(from..to) == Some(value.as_bytes()) && inside.get(len..)?.starts_with(end_tag);
        is_written.then_some(start + len + end_tag.len())
    }

    /// The length of the written entry, if it has a new element with this value before `after`.
    fn len_with_element(&self, value: &str, start: usize, after: &[u8]) -> Option<usize> {
        let name = self.field.name().as_bytes();
        let is_tag = |at: usize| self.original.get(at + 1..).is_some_and(|text| text.starts_with(name));
        if memchr::memchr_iter(b'<', self.original).any(is_tag) {
            return None;
        }
        let added = self.written.get(start..)?;
        let element = added.get(added.iter().position(|byte| !markup::is_space(*byte))?..)?;
        let inside = element.strip_prefix(b"<")?.strip_prefix(name)?.strip_prefix(b">")?;
        let rest = after_end_tag(self.field, inside.strip_prefix(value.as_bytes())?)?;
        rest.starts_with(after).then_some(self.written.len() - rest.len() + after.len())
    }

    /// The offset after the last tag before the first difference between both.
    fn start_of_difference(&self) -> Option<usize> {
        // Chunks are arrays: a comparison of known length takes one or two instructions.
        const CHUNK: usize = 32;
        let (written, original) = (self.written.as_chunks::<CHUNK>().0, self.original.as_chunks::<CHUNK>().0);
        let from = CHUNK * written.iter().zip(original).take_while(|(one, other)| one == other).count();
        let (written, original) = (self.written.get(from..)?, self.original.get(from..)?);
        let equal = from + written.iter().zip(original).take_while(|(one, other)| one == other).count();
        Some(memchr::memrchr(b'>', self.original.get(..equal)?)? + 1)
    }
}

/// The bytes after the end tag of a field, if a text begins with it.
fn after_end_tag(field: Field, text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"</")?.strip_prefix(field.name().as_bytes())?.strip_prefix(b">")
}

/// Whether a text ends with a tag of a field; `start` is `<` or `</`.
fn ends_with_tag(text: &[u8], start: &[u8], field: Field) -> bool {
    let before = text.strip_suffix(b">").and_then(|text| text.strip_suffix(field.name().as_bytes()));
    before.is_some_and(|before| before.ends_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed<'e>(original: &'e str, written: &'e str, field: Field) -> ChangedEntry<'e> {
        ChangedEntry { written: written.as_bytes(), original: original.as_bytes(), field }
    }

    #[test]
    fn a_value_is_replaced_between_its_tags() {
        let entry =
            |priority: &str| format!("\n<url><loc>https://e.com/0.5</loc><priority>{priority}</priority></url>");
        let original = entry("0.5");
        for (written, value, is_expected) in [
            (entry("0.8"), "0.8", true),
            (entry("0.55"), "0.55", true),
            (entry("0"), "0", true),
            (entry(" 0.8\n"), "0.8", true),
            (entry("0.8"), "0.9", false),
            (entry("0.8</priority><priority>0.5"), "0.8", false),
            (entry("0.8<!-- -->"), "0.8", false),
            (entry("0.8").replace("e.com/0.5", "e.com/0.6"), "0.8", false),
            (entry("0.8").replace("</url>", "</urls>"), "0.8", false),
            (entry("0.8").replace("priority", "lastmod"), "0.8", false),
        ] {
            let len = changed(&original, &format!("{written}<url>"), Field::Priority).len_with(value);
            assert_eq!(len, is_expected.then_some(written.len()), "{written}");
        }
        // Another field is meant.
        let written = entry("0.8");
        assert_eq!(changed(&original, &written, Field::Changefreq).len_with("0.8"), None);
    }

    #[test]
    fn an_element_is_inserted_after_a_field() {
        let entry =
            |added: &str| format!("<url>\n <loc>https://e.com/a</loc>{added}\n <changefreq>daily</changefreq>\n</url>");
        let original = entry("");
        for (added, is_expected) in [
            ("\n <lastmod>2026-01-01</lastmod>", true),
            ("<lastmod>2026-01-01</lastmod>", true),
            ("\n <lastmod>2026-01-02</lastmod>", false),
            ("\n <lastmod> 2026-01-01</lastmod>", false),
            ("\n <lastmod>2026-01-01</lastmod><x/>", false),
            ("\n <lastmods>2026-01-01</lastmods>", false),
            ("x<lastmod>2026-01-01</lastmod>", false),
        ] {
            let written = entry(added);
            let len = changed(&original, &format!("{written}\n<url>"), Field::Lastmod).len_with("2026-01-01");
            assert_eq!(len, is_expected.then_some(written.len()), "{added}");
        }
        let first = original.replace("<url>", "<url><lastmod>2026-01-01</lastmod>");
        assert_eq!(changed(&original, &first, Field::Lastmod).len_with("2026-01-01"), None);
        // The entry has the field already.
        let twice = entry("<lastmod>2026-01-01</lastmod>").replace("\n</url>", "<lastmod>2026-01-01</lastmod>\n</url>");
        let original = entry("").replace("\n</url>", "<lastmod>2026-01-01</lastmod>\n</url>");
        assert_eq!(changed(&original, &twice, Field::Lastmod).len_with("2026-01-01"), None);
    }
}
