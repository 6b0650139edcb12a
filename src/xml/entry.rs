//! A parsed `<url>` or `<sitemap>` element: the positions of its undecoded fields.
//!
//! Positions are relative to the entry text, which begins with the whitespace and comments before the element.

use super::escape;
use crate::protocol::Field;
use bitflags::bitflags;
use std::borrow::Cow;

/// The position of one core child in the entry text, as byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpan {
    /// Start of `<loc>`.
    pub start: u32,
    /// End of `</loc>` (or of `<loc/>`).
    pub end: u32,
    /// Start of the content between the tags.
    pub inner_start: u32,
    /// End of the content between the tags.
    pub inner_end: u32,
    /// Start of the value: `inner` without surrounding XML whitespace.
    pub value_start: u32,
    /// End of the value.
    pub value_end: u32,
    /// The kind of the value's text.
    pub text: TextKind,
}

/// The kind of a field's text, from simplest to hardest to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextKind {
    /// Text that needs no decoding.
    Plain,
    /// Contains at least one `&`.
    Escaped,
    /// A cell of a table that contains `""` for `"`.
    Quoted,
    /// Contains CDATA, a comment or a processing instruction.
    Mixed,
    /// Contains child elements.
    Children,
}

bitflags! {
    /// The anomalies of an entry, as a bit set.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Anomalies: u16 {
        /// A second `loc`.
        const LOC_TWICE = 1;
        /// A second lastmod, changefreq or priority.
        const FIELD_TWICE = 1 << 1;
        /// Children not in the order loc, lastmod, changefreq, priority, extensions.
        const OUT_OF_ORDER = 1 << 2;
        /// An attribute other than `xmlns…` or `xsi:…` on the entry or a core child.
        const ATTRIBUTE = 1 << 3;
        /// Non-blank text directly inside the entry.
        const STRAY_TEXT = 1 << 4;
        /// An unprefixed (or same-prefix) child that is not a core field of this kind of entry.
        const UNKNOWN_CHILD = 1 << 5;
        /// A core field or the entry itself declares a namespace.
        const DECLARES_NAMESPACE = 1 << 6;
        /// `<changefreq>` or `<priority>` inside `<sitemap>`.
        const FIELD_IN_SITEMAP = 1 << 7;
        /// An entry of the other kind of file (`sitemap` in `urlset`).
        const OTHER_KIND = 1 << 9;
        /// A child in an unknown namespace.
        const FOREIGN = 1 << 10;
        /// A child with a prefix that is neither declared nor a usual one.
        const UNDECLARED = 1 << 11;
        /// The entry or a core field undeclares the default namespace (`xmlns=""`).
        const NO_NAMESPACE = 1 << 12;
        /// Not well-formed: the row shows its raw text.
        const BROKEN = 1 << 8;
    }
}

/// The number of extension elements of each kind in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extensions {
    /// `image:image` elements.
    pub image: u16,
    /// `video:video` elements.
    pub video: u16,
    /// `news:news` elements.
    pub news: u16,
    /// `xhtml:link` elements (hreflang alternates and mobile links).
    pub alternate: u16,
    /// Children in any other namespace.
    pub other: u16,
}

/// A parsed entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Length of the entry text in bytes, including leading whitespace and comments.
    pub len: u32,
    /// Start of the element itself (`<url`).
    pub open: u32,
    /// The offset after the start tag's `>`.
    pub open_end: u32,
    /// Start of the end tag (equal to `open_end` for `<url/>`).
    pub close: u32,
    /// The first occurrence of each core child, by [`Field::index`].
    pub fields: [Option<FieldSpan>; 4],
    /// The anomalies.
    pub anomalies: Anomalies,
    /// The numbers of extension elements.
    pub extensions: Extensions,
}

impl Entry {
    /// Creates an entry without fields and anomalies.
    pub(super) const fn plain(len: usize) -> Self {
        Self { anomalies: Anomalies::empty(), ..Self::broken(len) }
    }

    pub(super) const fn broken(len: usize) -> Self {
        Self {
            len: len as u32,
            open: 0,
            open_end: 0,
            close: len as u32,
            fields: [None; 4],
            anomalies: Anomalies::BROKEN,
            extensions: Extensions { image: 0, video: 0, news: 0, alternate: 0, other: 0 },
        }
    }

    /// The span of a field.
    pub const fn field(&self, field: Field) -> Option<&FieldSpan> {
        self.fields[field.index()].as_ref()
    }

    /// The raw value: the undecoded bytes between the tags, trimmed of XML whitespace. `None` if the element is
    /// missing.
    pub fn raw_value<'t>(&self, field: Field, text: &'t [u8]) -> Option<&'t [u8]> {
        let span = self.field(field)?;
        text.get(span.value_start as usize..span.value_end as usize)
    }

    /// The decoded value (references and CDATA decoded, comments removed), trimmed of XML whitespace. `None` if the
    /// element is missing. Borrows if nothing has to be decoded.
    pub fn value<'t>(&self, field: Field, text: &'t [u8]) -> Option<Cow<'t, str>> {
        let raw = self.raw_value(field, text)?;
        Some(decode_value(raw, self.field(field)?.text))
    }
}

/// The content of a value that consists of a single CDATA section, which needs no copy.
pub(crate) fn only_section(raw: &str) -> Option<&str> {
    let inside = raw.strip_prefix("<![CDATA[")?.strip_suffix("]]>")?;
    // A section ends at the first `]]>`.
    let ends_section = |at: usize| inside.get(..at).is_some_and(|before| before.ends_with("]]"));
    let ends_earlier = memchr::memchr_iter(b'>', inside.as_bytes()).any(ends_section);
    (!ends_earlier).then_some(inside)
}

/// Decodes and trims a raw value of a known kind.
pub fn decode_value(raw: &[u8], kind: TextKind) -> Cow<'_, str> {
    match escape::lossy(raw) {
        Cow::Borrowed(text) => decode_text(text, kind),
        Cow::Owned(text) => Cow::Owned(decode_text(&text, kind).into_owned()),
    }
}

/// [`decode_value`] for a value that is known to be UTF-8.
pub(crate) fn decode_text(raw: &str, kind: TextKind) -> Cow<'_, str> {
    let decoded = match kind {
        TextKind::Plain => return Cow::Borrowed(raw),
        TextKind::Escaped => escape::decode_str(raw),
        TextKind::Quoted => Cow::Owned(raw.replace("\"\"", "\"")),
        TextKind::Mixed | TextKind::Children => match only_section(raw) {
            Some(inside) => Cow::Borrowed(inside),
            None => Cow::Owned(escape::decode_mixed(raw.as_bytes())),
        },
    };
    // Whitespace in CDATA or written as a reference is trimmed as well.
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    match decoded {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(blank)),
        Cow::Owned(text) if text.starts_with(blank) || text.ends_with(blank) => {
            Cow::Owned(text.trim_matches(blank).to_owned())
        }
        owned @ Cow::Owned(_) => owned,
    }
}
