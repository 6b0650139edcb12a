//! Fast path for usual entries; the parser handles all others.
//!
//! It returns the result of the parser, or leaves the rest of the entry to it.

pub(super) mod elements;
pub(super) mod field_tags;
mod patterns;

use super::damage::DamageLog;
use super::entry::{Entry, FieldSpan, TextKind};
use super::escape;
use super::markup::{self, Kind, Markup};
use super::names::{FileKind, Meaning, Names};
use crate::protocol::Field;
use std::ops::Range;

/// The start tag of the next entry, if it is `<url>` or `<sitemap>`, and only blanks precede it. Below a root with a prefix,
/// it has that prefix or is in no namespace.
#[allow(clippy::inline_always)] // a call takes longer than the comparison
#[inline(always)]
pub(super) fn start(text: &[u8], at: usize, names: &Names) -> Option<Markup> {
    let start = skip_blanks(text, at);
    let rest = text.get(start..)?;
    // Tags are arrays: a comparison of known length takes one or two instructions.
    let len = match names.kind {
        _ if !names.prefix.is_empty() => prefixed_start_len(rest, names)?,
        FileKind::Urlset if rest.first_chunk() == Some(b"<url>") => "<url>".len(),
        FileKind::Index if rest.first_chunk() == Some(b"<sitemap>") => "<sitemap>".len(),
        _ => return None,
    };
    Some(Markup { kind: Kind::Start, start, end: start + len, name_end: start + len - 1 })
}

/// The length of the start tag of an entry with the prefix of the root, or in no namespace, at the start of `rest`.
#[inline(never)]
fn prefixed_start_len(rest: &[u8], names: &Names) -> Option<usize> {
    if !matches!(names.kind, FileKind::Urlset | FileKind::Index) {
        return None;
    }
    let name = rest.strip_prefix(b"<")?;
    let name = name.strip_prefix(names.prefix.as_bytes()).or_else(|| names.bare_is_unbound().then_some(name))?;
    let inside = name.strip_prefix(names.kind.entry_name().as_bytes())?.strip_prefix(b">")?;
    Some(rest.len() - inside.len())
}

/// Parses the end tag of such an entry, if only blanks are before it; returns the offset after it.
#[inline]
pub(super) fn end(inside: &EntryBytes<'_>, at: usize, tag: &Markup, entry: &mut Entry) -> Option<usize> {
    let close = skip_blanks(inside.bytes, at);
    let rest = inside.bytes.get(close..)?;
    if rest.first_chunk() != Some(b"</") {
        return None;
    }
    // Most entries are `<url>`, and arrays are compared as in [`start`].
    let is_url = || inside.bytes.get(tag.start..tag.end).is_some_and(|tag| tag == b"<url>");
    let len = if rest.first_chunk() == Some(b"</url>") && is_url() {
        "</url>".len()
    } else {
        end_tag_len(rest, tag.name(inside.bytes))?
    };
    let end = close + len;
    (entry.close, entry.len) = ((close - inside.lead) as u32, (end - inside.lead) as u32);
    Some(end)
}

/// The length of the end tag of the element `name` at the start of `rest`.
#[inline(never)]
fn end_tag_len(rest: &[u8], name: &[u8]) -> Option<usize> {
    let after = rest.strip_prefix(b"</")?.strip_prefix(name)?.strip_prefix(b">")?;
    Some(rest.len() - after.len())
}

/// Whether `bytes` has `end` at `at`, and `end` ends with the end tag of the entry `name`.
#[inline]
pub(super) fn is_end_at(bytes: &[u8], at: usize, end: &[u8], name: &[u8]) -> bool {
    let before_tag = || end.strip_suffix(b">")?.strip_suffix(name)?.strip_suffix(b"</");
    !end.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(end)) && before_tag().is_some()
}

/// The position of an entry in the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryBytes<'b> {
    /// The bytes of the file.
    pub(super) bytes: &'b [u8],
    /// The start of the entry text.
    pub(super) lead: usize,
    /// The names in scope of the entry.
    pub(super) names: &'b Names,
}

/// Parses the fields from `at` on that are in schema order, have tags without attributes, contain only text or one CDATA
/// section and are separated by blanks. Returns the offset after the last one, and its position in schema order.
#[inline]
pub(super) fn fields(damage: &mut DamageLog, inside: &EntryBytes<'_>, at: usize, entry: &mut Entry) -> (usize, usize) {
    let EntryBytes { bytes, lead, names } = *inside;
    if !names.prefix.is_empty()
        && let Some(parsed) = prefixed_fields(damage, inside, at, entry)
    {
        return parsed;
    }
    let mut walk = Walk { damage, bytes, lead, at: skip_blanks(bytes, at), end: at, reached: 0, entry };
    if names.bare_is_core()
        && walk.parse_field(Field::Loc, b"<loc>", b"</loc>")
        && walk.parse_field(Field::Lastmod, b"<lastmod>", b"</lastmod>")
        // Most entries end here.
        && !walk.is_at_end_tag()
        // A `<sitemap>` has no changefreq and no priority; if it has one, the parser records the anomaly.
        && names.kind == FileKind::Urlset
        && walk.parse_field(Field::Changefreq, b"<changefreq>", b"</changefreq>")
    {
        walk.parse_field(Field::Priority, b"<priority>", b"</priority>");
    }
    (walk.end, walk.reached)
}

/// Whether the fields that [`fields`] has parsed from `at` on are in no namespace.
#[inline]
pub(super) fn are_fields_unbound(inside: &EntryBytes<'_>, at: usize) -> bool {
    inside.names.bare_is_unbound() && is_field_tag(inside.bytes, skip_blanks(inside.bytes, at))
}

/// [`fields`] with the prefix of the root; `None` if the first element has no prefix.
#[inline(never)]
fn prefixed_fields(
    damage: &mut DamageLog,
    inside: &EntryBytes<'_>,
    at: usize,
    entry: &mut Entry,
) -> Option<(usize, usize)> {
    let EntryBytes { bytes, lead, names } = *inside;
    let prefix = names.prefix.as_bytes();
    let mut walk = Walk { damage, bytes, lead, at: skip_blanks(bytes, at), end: at, reached: 0, entry };
    if !bytes.get(walk.at..)?.strip_prefix(b"<")?.starts_with(prefix) {
        return None;
    }
    // A `<sitemap>` has no changefreq and no priority, as in [`fields`].
    let count = if names.kind == FileKind::Urlset { Field::ALL.len() } else { 2 };
    for field in Field::ALL.into_iter().take(count) {
        if !walk.parse_prefixed_field(field, prefix) {
            break;
        }
    }
    Some((walk.end, walk.reached))
}

/// Whether the tag at `at` has the name of a field, without a prefix.
#[inline]
pub(super) fn is_field_tag(bytes: &[u8], at: usize) -> bool {
    let ends_name = |byte: &u8| markup::is_space(*byte) || matches!(byte, b'>' | b'/');
    likely_field(bytes, at).is_some_and(|field| {
        let after = bytes.get(at + 1..).and_then(|rest| rest.strip_prefix(field.name().as_bytes()));
        after.and_then(<[u8]>::first).is_some_and(ends_name)
    })
}

/// The field whose name starts like that of the tag at `at`.
#[inline]
fn likely_field(bytes: &[u8], at: usize) -> Option<Field> {
    match bytes.get(at..)? {
        [b'<', b'l', b'o', ..] => Some(Field::Loc),
        [b'<', b'l', b'a', ..] => Some(Field::Lastmod),
        [b'<', b'c', ..] => Some(Field::Changefreq),
        [b'<', b'p', ..] => Some(Field::Priority),
        _ => None,
    }
}

/// Parses a field that follows any other child, if it has tags without attributes and is the first of its name. Returns
/// the offset after it, and the field.
#[inline]
pub(super) fn late_field(
    damage: &mut DamageLog,
    inside: &EntryBytes<'_>,
    at: usize,
    entry: &mut Entry,
) -> Option<(usize, Field)> {
    let EntryBytes { bytes, lead, names } = *inside;
    let field = likely_field(bytes, at)?;
    if names.kind != FileKind::Urlset || !names.bare_is_core() {
        return None;
    }
    if entry.field(field).is_some() {
        return None;
    }
    let mut walk = Walk { damage, bytes, lead, at, end: at, reached: 0, entry };
    match field {
        Field::Loc => walk.parse_field(field, b"<loc>", b"</loc>"),
        Field::Lastmod => walk.parse_field(field, b"<lastmod>", b"</lastmod>"),
        Field::Changefreq => walk.parse_field(field, b"<changefreq>", b"</changefreq>"),
        Field::Priority => walk.parse_field(field, b"<priority>", b"</priority>"),
    };
    let end = walk.end;
    (end > at).then_some((end, field))
}

/// The offset and the text of the loc of an entry, if it is the first child, neither tag before it has attributes, and its
/// text is visible ASCII characters without references. `None` if that is not so: the entry must be parsed.
pub(crate) fn first_loc<'t>(text: &'t [u8], names: &Names) -> Option<(usize, &'t str)> {
    if !names.prefix.is_empty() || !names.bare_is_core() {
        return None;
    }
    let tag = skip_blanks(text, start(text, 0, names)?.end);
    let value = text.get(tag..)?.strip_prefix(b"<loc>")?;
    let (len, is_escaped) = text_before_tag(value)?;
    let (raw, end) = value.split_at_checked(len)?;
    let mut is_visible = !raw.is_empty();
    // A pass over all bytes is vectorised, and a search that stops at the first is not.
    for byte in raw {
        is_visible &= byte.is_ascii_graphic();
    }
    let loc = str::from_utf8(raw).ok().filter(|_| is_visible && !is_escaped && end.starts_with(b"</loc>"))?;
    Some((text.len() - value.len(), loc))
}

/// The range of the raw text of a field that follows the loc, whose value ends at `after`, in an entry without
/// anomalies. All fields up to it must be in schema order with tags without attributes, separated by blanks, and its
/// text must be ASCII without references and without blanks around it. `None` if that is not so: the entry must be
/// parsed.
#[inline]
pub(crate) fn range_after_loc(text: &[u8], after: usize, wanted: Field, names: &Names) -> Option<Range<usize>> {
    if names.kind != FileKind::Urlset || !names.prefix.is_empty() || !names.bare_is_core() {
        return None;
    }
    let mut rest = close(text.get(after..)?, b"</loc>")?;
    for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
        let next = match field {
            Field::Loc => None,
            Field::Lastmod => next(rest, b"<lastmod>", b"</lastmod>"),
            Field::Changefreq => next(rest, b"<changefreq>", b"</changefreq>"),
            Field::Priority => next(rest, b"<priority>", b"</priority>"),
        };
        match next {
            Some((value, _)) if field == wanted => {
                let is_bare = !is_space(value.first()) && !is_space(value.last());
                let start = text.len() - rest.len() + "<>".len() + field.name().len();
                let is_plain = is_bare && value.is_ascii() && !value.contains(&b'&');
                return is_plain.then(|| start..start + value.len());
            }
            Some((_, after)) => rest = after,
            None if field == wanted => return None,
            None => {}
        }
    }
    None
}

/// The position at which a missing element is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InsertionPoint<'t> {
    /// The offset in the text of the entry.
    pub(crate) at: usize,
    /// The whitespace before the elements of the entry.
    pub(crate) before: &'t [u8],
}

/// The position at which a missing field is inserted, under the conditions of [`range_after_loc`]; `loc` is the range
/// of the loc's raw text. `None` if the field exists or the entry must be parsed.
#[inline]
pub(crate) fn insertion_point<'t>(
    text: &'t [u8],
    loc: Range<usize>,
    wanted: Field,
    names: &Names,
) -> Option<InsertionPoint<'t>> {
    if names.kind != FileKind::Urlset || !names.prefix.is_empty() || !names.bare_is_core() {
        return None;
    }
    let head = text.get(..loc.start)?.strip_suffix(b"<loc>")?;
    let blanks = head.iter().rev().take_while(|byte| markup::is_space(**byte)).count();
    let (head, before) = head.split_at_checked(head.len() - blanks)?;
    head.strip_suffix(b"<url>")?;
    let mut at = loc.end + "</loc>".len();
    let mut rest = close(text.get(loc.end..)?, b"</loc>")?;
    for field in [Field::Lastmod, Field::Changefreq, Field::Priority] {
        if field == wanted {
            return follows_field(rest, field, names).then_some(InsertionPoint { at, before });
        }
        let next = match field {
            Field::Loc => None,
            Field::Lastmod => next(rest, b"<lastmod>", b"</lastmod>"),
            Field::Changefreq => next(rest, b"<changefreq>", b"</changefreq>"),
            Field::Priority => next(rest, b"<priority>", b"</priority>"),
        };
        if let Some((value, after)) = next {
            at = text.len() - rest.len() + "<></>".len() + 2 * field.name().len() + value.len();
            rest = after;
        }
    }
    None
}

/// The text of an entry from its first extension on, under the conditions of [`range_after_loc`]; `after` is the end of
/// the loc's raw text. `None` if no extension follows the fields or the entry must be parsed.
#[inline]
pub(crate) fn extensions_after_loc<'t>(text: &'t [u8], after: usize, names: &Names) -> Option<&'t [u8]> {
    if names.kind != FileKind::Urlset || !names.prefix.is_empty() || !names.bare_is_core() {
        return None;
    }
    let mut rest = close(text.get(after..)?, b"</loc>")?;
    rest = next(rest, b"<lastmod>", b"</lastmod>").map_or(rest, |(_, after)| after);
    rest = next(rest, b"<changefreq>", b"</changefreq>").map_or(rest, |(_, after)| after);
    rest = next(rest, b"<priority>", b"</priority>").map_or(rest, |(_, after)| after);
    let name = rest.strip_prefix(b"<")?;
    let is_field = Field::ALL.iter().any(|field| name.starts_with(field.name().as_bytes()));
    (!is_field && !name.starts_with(b"/")).then_some(rest)
}

/// Whether `rest` begins with an element that follows a field in schema order, or with the end of the entry.
fn follows_field(rest: &[u8], field: Field, names: &Names) -> bool {
    let later = Field::ALL.into_iter().skip(field.index() + 1);
    let mut later = later.map(|later| later.name().as_bytes());
    let Some(rest) = rest.strip_prefix(b"<") else { return false };
    if rest.first() == Some(&b'/')
        || later.any(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(b">")))
    {
        return true;
    }
    let prefix = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).map(|end| rest.split_at(end));
    prefix.is_some_and(|(prefix, rest)| {
        rest.first() == Some(&b':')
            && names.declares(prefix)
            && matches!(names.meaning_of_prefix(prefix), Meaning::Extension(_))
    })
}

/// The raw text of a field, as [`range_after_loc`] finds it.
#[inline]
pub(crate) fn text_after_loc<'t>(text: &'t [u8], after: usize, wanted: Field, names: &Names) -> Option<&'t [u8]> {
    text.get(range_after_loc(text, after, wanted, names)?)
}

/// The text of the next element, if it has these tags, and the rest after it and the blanks that follow.
#[inline]
fn next<'t, const O: usize, const C: usize>(
    rest: &'t [u8],
    open: &[u8; O],
    end: &[u8; C],
) -> Option<(&'t [u8], &'t [u8])> {
    let (_, rest) = rest.split_first_chunk().filter(|(start, _)| *start == open)?;
    let (value, rest) = rest.split_at_checked(text_before_tag(rest)?.0)?;
    Some((value, close(rest, end)?))
}

/// The rest after an end tag and the blanks that follow.
#[inline]
fn close<'t, const N: usize>(rest: &'t [u8], end: &[u8; N]) -> Option<&'t [u8]> {
    let (_, rest) = rest.split_first_chunk().filter(|(start, _)| *start == end)?;
    rest.get(skip_blanks(rest, 0)..)
}

/// The position of an element that contains only text.
struct TextElement {
    start: usize,
    /// Its text.
    inner: Range<usize>,
    end: usize,
}

impl TextElement {
    /// The element at `start` whose start tag, text and end tag have these lengths.
    const fn at(start: usize, open: usize, inner: usize, close: usize) -> Self {
        let (inner_start, inner_end) = (start + open, start + open + inner);
        Self { start, inner: inner_start..inner_end, end: inner_end + close }
    }
}

struct Walk<'a> {
    damage: &'a mut DamageLog,
    bytes: &'a [u8],
    /// The start of the entry text.
    lead: usize,
    /// The offset after the blanks that follow the last field.
    at: usize,
    /// The offset after the last field.
    end: usize,
    /// The position of the last field in schema order.
    reached: usize,
    entry: &'a mut Entry,
}

#[allow(clippy::inline_always)] // inlined, the position stays in registers, and the lengths of tags are constants
impl Walk<'_> {
    fn is_at_end_tag(&self) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"</"))
    }

    /// Parses one field if it is next. Returns false if it is next but must be left to the parser, so that no further
    /// field may be tried.
    #[inline(always)]
    fn parse_field<const O: usize, const C: usize>(&mut self, field: Field, open: &[u8; O], close: &[u8; C]) -> bool {
        let Some((start, rest)) = self.bytes.get(self.at..).and_then(<[u8]>::split_first_chunk) else { return true };
        if start != open {
            return true;
        }
        let found = if field == Field::Loc { long_text_before_tag(rest) } else { text_before_tag(rest) };
        let Some((len, is_escaped)) = found else { return false };
        if rest.get(len..).and_then(<[u8]>::first_chunk) == Some(close) {
            self.add_text(field, &TextElement::at(self.at, O, len, C), is_escaped);
            return true;
        }
        let section = if len == 0 { section_len_before(rest, close) } else { None };
        let Some(len) = section else { return false };
        let element = TextElement::at(self.at, O, len, C);
        self.add(field, &element, element.inner.clone(), TextKind::Mixed);
        true
    }

    /// Adds a field at the current position.
    #[inline(always)]
    fn add_text(&mut self, field: Field, element: &TextElement, is_escaped: bool) {
        // Few files contain `]]>`.
        if is_escaped || self.damage.has_brackets {
            check_text(self.damage, self.bytes, element, is_escaped);
        }
        let inner = element.inner.clone();
        // Few values have blanks around them.
        let text = self.bytes.get(inner.clone()).unwrap_or_default();
        let is_bare = !is_space(text.first()) && !is_space(text.last());
        let value = if is_bare { inner } else { trim(self.bytes, inner) };
        let kind = if is_escaped { TextKind::Escaped } else { TextKind::Plain };
        self.add(field, element, value, kind);
    }

    /// [`Self::parse_field`] for a field with a prefix.
    fn parse_prefixed_field(&mut self, field: Field, prefix: &[u8]) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        // The length of the name and the `>`.
        let after_name = |rest: &[u8]| {
            let after = rest.strip_prefix(prefix)?.strip_prefix(field.name().as_bytes())?.strip_prefix(b">")?;
            Some(rest.len() - after.len())
        };
        let Some(name_len) = rest.strip_prefix(b"<").and_then(after_name) else { return true };
        let inside = rest.get(1 + name_len..).unwrap_or_default();
        let Some((len, is_escaped)) = text_before_tag(inside) else { return false };
        let end_tag = inside.get(len..).and_then(|rest| rest.strip_prefix(b"</"));
        if end_tag.and_then(after_name).is_none() {
            return false;
        }
        self.add_text(field, &TextElement::at(self.at, 1 + name_len, len, 2 + name_len), is_escaped);
        true
    }

    /// Adds a field at the current position, and skips the blanks after it.
    #[inline(always)]
    fn add(&mut self, field: Field, element: &TextElement, value: Range<usize>, text: TextKind) {
        let relative = |position: usize| (position - self.lead) as u32;
        self.entry.fields[field.index()] = Some(FieldSpan {
            start: relative(element.start),
            end: relative(element.end),
            inner_start: relative(element.inner.start),
            inner_end: relative(element.inner.end),
            value_start: relative(value.start),
            value_end: relative(value.end),
            text,
        });
        (self.end, self.reached) = (element.end, field.index());
        self.at = skip_blanks(self.bytes, self.end);
    }
}

/// Checks a text with references, or in a file that contains `]]>`. Kept out of the usual path, as the next two are.
#[cold]
fn check_text(damage: &mut DamageLog, bytes: &[u8], element: &TextElement, is_escaped: bool) {
    let Range { start, end } = element.inner;
    // Few values contain `>`.
    if is_escaped || bytes.get(start..end).is_some_and(may_end_section) {
        damage.check_text(bytes, start, end);
    }
}

/// The range without the blanks around it.
#[cold]
fn trim(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let (start, end) = markup::trim(bytes, range.start, range.end);
    start..end
}

/// The length of the CDATA section at the start of `rest`, if `close` follows it.
#[cold]
fn section_len_before(rest: &[u8], close: &[u8]) -> Option<usize> {
    section_len(rest).filter(|len| rest.get(*len..).is_some_and(|rest| rest.starts_with(close)))
}

/// Whether a text may contain `]]>`. Most texts are blanks between elements, too short for a vectorized search.
#[inline]
fn may_end_section(text: &[u8]) -> bool {
    if text.len() <= SHORT { text.contains(&b'>') } else { memchr::memchr(b'>', text).is_some() }
}

/// The length of the CDATA section at the start of a text, if there is one.
fn section_len(rest: &[u8]) -> Option<usize> {
    let inside = rest.strip_prefix(b"<![CDATA[")?;
    Some("<![CDATA[".len() + markup::section_end(inside)? + "]]>".len())
}

#[inline]
fn is_space(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| markup::is_space(*byte))
}

/// Length of the text before the first `<`, and whether it contains `&`; `None` without a `<`.
///
/// It compares eight bytes at a time, since most values are too short for a vectorized search. Values longer than
/// [`SHORT`] bytes use one.
#[inline]
pub(super) fn text_before_tag(rest: &[u8]) -> Option<(usize, bool)> {
    /// The highest bit of each zero byte; bits after the first of them are unspecified.
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
    }
    const ANGLES: u64 = u64::from_ne_bytes([b'<'; 8]);
    const AMPERSANDS: u64 = u64::from_ne_bytes([b'&'; 8]);
    let mut at = 0;
    for word in rest.as_chunks().0.iter().take(SHORT / 8) {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ ANGLES) | zeros(word ^ AMPERSANDS);
        if found != 0 {
            at += found.trailing_zeros() as usize / 8;
            break;
        }
        at += 8;
    }
    let tail = rest.get(at..)?;
    if tail.first() == Some(&b'<') {
        return Some((at, false));
    }
    let (len, is_escaped) = long_text_before_tag(tail)?;
    Some((at + len, is_escaped))
}

/// [`text_before_tag`] by a vectorized search, for texts that are usually longer than [`SHORT`] bytes.
#[inline]
pub(super) fn long_text_before_tag(rest: &[u8]) -> Option<(usize, bool)> {
    let len = memchr::memchr2(b'<', b'&', rest)?;
    let tail = rest.get(len..)?;
    if tail.first() == Some(&b'<') { Some((len, false)) } else { Some((len + memchr::memchr(b'<', tail)?, true)) }
}

/// [`text_before_tag`] of a text that is well-formed; `None` also if it contains a reference that XML does not define or
/// `]]>`, which is not searched for unless `has_brackets`.
#[inline]
fn sound_text_before_tag(rest: &[u8], has_brackets: bool) -> Option<(usize, bool)> {
    let (len, is_escaped) = text_before_tag(rest)?;
    if is_escaped || has_brackets {
        let text = rest.get(..len)?;
        let ends_section = has_brackets && may_end_section(text) && markup::section_end(text).is_some();
        if ends_section || (is_escaped && escape::first_bad_reference(text).is_some()) {
            return None;
        }
    }
    Some((len, is_escaped))
}

/// The length of the attribute value before `quote`; `None` if it is not well-formed.
#[inline]
fn attribute_value_len(rest: &[u8], quote: u8) -> Option<usize> {
    let found = memchr::memchr3(quote, b'<', b'&', rest)?;
    // Few values have references.
    if rest.get(found) == Some(&quote) { Some(found) } else { escaped_value_len(rest, quote) }
}

/// [`attribute_value_len`] of a value with references.
#[inline(never)]
fn escaped_value_len(rest: &[u8], quote: u8) -> Option<usize> {
    let value = rest.get(..memchr::memchr(quote, rest)?)?;
    let is_sound = memchr::memchr(b'<', value).is_none() && escape::first_bad_reference(value).is_none();
    is_sound.then_some(value.len())
}

/// Number of bytes up to which texts are compared a few bytes at a time instead of searched.
const SHORT: usize = 32;

/// The offset of the first byte from `from` on that is not white space. Before most tags is a line feed with indentation, or
/// nothing.
#[inline]
pub(super) fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let at = match bytes.get(from..) {
        Some([b'\n', line @ ..]) => from + 1 + line.first_chunk().copied().map_or(0, indentation),
        _ => from,
    };
    if bytes.get(at) == Some(&b'<') { at } else { end_of_blanks(bytes, at) }
}

/// Number of spaces, or of tabs, at the start of a line, up to eight.
#[inline]
fn indentation(line: [u8; 8]) -> usize {
    let blank = if line.starts_with(b"\t") { b'\t' } else { b' ' };
    let others = u64::from_le_bytes(line) ^ u64::from_ne_bytes([blank; 8]);
    (others.trailing_zeros() / u8::BITS) as usize
}

/// [`skip_blanks`] where any white space may follow. Kept out of the usual path.
#[inline(never)]
fn end_of_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !markup::is_space(*byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blanks_end_at_the_first_other_byte(
            text in "[\n\r\t ]{0,3}\n?( {0,20}|\t{0,20})[\n\r\t <a]{0,3}", from in 0..4_usize,
        ) {
            let others = || text.bytes().enumerate().skip(from).find(|(_, byte)| !b"\n\r\t ".contains(byte));
            let expected = others().map_or(text.len().max(from), |(at, _)| at);
            prop_assert_eq!(skip_blanks(text.as_bytes(), from), expected);
        }
    }
}
