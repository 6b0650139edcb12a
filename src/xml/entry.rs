//! One `<url>` or `<sitemap>` element taken apart: where its fields are, nothing decoded yet.
//!
//! Positions are relative to the entry text, which begins with the trivia before the element.

use super::escape;
use super::markup::{self, Kind, Markup};
use super::names::{FileKind, Meaning, Names};
use super::plain;
use crate::protocol::Field;
use crate::protocol::namespace::Namespace;
use std::borrow::Cow;

/// Where one core child stands inside the entry text. All positions are byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpan {
    /// Start of `<loc>`.
    pub start: u32,
    /// End of `</loc>` (or of `<loc/>`).
    pub end: u32,
    /// Start of what is between the tags.
    pub inner_start: u32,
    /// End of what is between the tags.
    pub inner_end: u32,
    /// Start of the value: `inner` without surrounding XML whitespace.
    pub value_start: u32,
    /// End of the value.
    pub value_end: u32,
    /// What the value is made of.
    pub text: TextKind,
}

/// What a field's text is made of, from simplest to hardest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextKind {
    /// Characters that stand for themselves.
    Plain,
    /// Holds at least one `&`.
    Escaped,
    /// Holds CDATA, a comment or a processing instruction.
    Mixed,
    /// Holds child elements.
    Children,
}

/// What is unusual about an entry; a set of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Oddities(pub u16);

impl Oddities {
    /// A second `loc`.
    pub const LOC_TWICE: Self = Self(1);
    /// A second lastmod, changefreq or priority.
    pub const FIELD_TWICE: Self = Self(1 << 1);
    /// Children not in the order loc, lastmod, changefreq, priority, extensions.
    pub const OUT_OF_ORDER: Self = Self(1 << 2);
    /// An attribute other than `xmlns…` or `xsi:…` on the entry or a core child.
    pub const ATTRIBUTE: Self = Self(1 << 3);
    /// Non-blank text directly inside the entry.
    pub const STRAY_TEXT: Self = Self(1 << 4);
    /// An unprefixed (or same-prefix) child that is not a core field of this kind of entry.
    pub const UNKNOWN_CHILD: Self = Self(1 << 5);
    /// A core field or the entry itself declares a namespace of its own.
    pub const DECLARES_NAMESPACE: Self = Self(1 << 6);
    /// `<changefreq>` or `<priority>` inside `<sitemap>`.
    pub const FIELD_IN_SITEMAP: Self = Self(1 << 7);
    /// Not well-formed: recovered as a row that shows its raw text.
    pub const BROKEN: Self = Self(1 << 8);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds bits.
    pub const fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// How many extension blocks of each kind an entry has.
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

/// One entry's anatomy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Length of the entry text in bytes, leading trivia included.
    pub len: u32,
    /// Where the element itself starts (`<url`).
    pub open: u32,
    /// Just after the start tag's `>`.
    pub open_end: u32,
    /// Where the end tag starts (equal to `open_end` in `<url/>`).
    pub close: u32,
    /// First occurrence of each core child, by [`Field::index`].
    pub fields: [Option<FieldSpan>; 4],
    /// Unusual traits.
    pub odd: Oddities,
    /// Extension blocks.
    pub extensions: Extensions,
}

impl Entry {
    /// Takes apart an entry text (leading trivia included). Total: what holds no entry tag gives an
    /// entry without fields that is flagged [`Oddities::BROKEN`].
    pub fn of(text: &[u8], names: &Names) -> Self {
        match plain::start(text, names) {
            Some(tag) => Self::from_tag(text, &tag, names, &mut Parser::default()),
            None => Self::walk(text, names),
        }
    }

    fn from_tag(text: &[u8], tag: &Markup, names: &Names, parser: &mut Parser) -> Self {
        let (entry, end) = parser.entry(text, 0, tag, names);
        if end == text.len() { entry } else { Self { len: text.len() as u32, ..entry } }
    }

    fn walk(text: &[u8], names: &Names) -> Self {
        let mut at = 0;
        let mut parser = Parser::default();
        while let Some(tag) = markup::next(text, at) {
            at = match tag.kind {
                Kind::Start | Kind::Empty if names.is_entry(tag.name(text)) => {
                    return Self::from_tag(text, &tag, names, &mut parser);
                }
                Kind::Start => parser.skip_element(text, &tag),
                _ => tag.end,
            };
        }
        Self::broken(text.len())
    }

    /// An entry in which nothing was found yet, and nothing odd.
    pub(super) const fn plain(len: usize) -> Self {
        Self { odd: Oddities(0), ..Self::broken(len) }
    }

    const fn broken(len: usize) -> Self {
        Self {
            len: len as u32,
            open: 0,
            open_end: 0,
            close: len as u32,
            fields: [None; 4],
            odd: Oddities::BROKEN,
            extensions: Extensions { image: 0, video: 0, news: 0, alternate: 0, other: 0 },
        }
    }

    /// The span of a field.
    pub const fn field(&self, field: Field) -> Option<&FieldSpan> {
        self.fields[field.index()].as_ref()
    }

    /// The value as written: raw bytes between the tags, XML white space trimmed, not decoded.
    /// `None` when the element is absent.
    pub fn raw_value<'t>(&self, field: Field, text: &'t [u8]) -> Option<&'t [u8]> {
        let span = self.field(field)?;
        text.get(span.value_start as usize..span.value_end as usize)
    }

    /// The value decoded (entities, CDATA, comments dropped) and trimmed of XML white space.
    /// `None` when the element is absent. Borrows when there is nothing to decode.
    pub fn value<'t>(&self, field: Field, text: &'t [u8]) -> Option<Cow<'t, str>> {
        let raw = self.raw_value(field, text)?;
        Some(decode_value(raw, self.field(field)?.text))
    }
}

/// Decodes and trims a raw value of a known kind.
pub fn decode_value(raw: &[u8], kind: TextKind) -> Cow<'_, str> {
    let decoded = match kind {
        TextKind::Plain => return escape::lossy(raw),
        TextKind::Escaped => escape::decode(raw),
        TextKind::Mixed | TextKind::Children => Cow::Owned(escape::decode_mixed(raw)),
    };
    // White space inside CDATA or written as a reference is trimmed like any other.
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    match decoded {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(blank)),
        Cow::Owned(text) if text.starts_with(blank) || text.ends_with(blank) => {
            Cow::Owned(text.trim_matches(blank).to_owned())
        }
        owned @ Cow::Owned(_) => owned,
    }
}

/// Something that is not well-formed, at a byte offset of the bytes that were scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Byte offset.
    pub at: usize,
    /// What is wrong there.
    pub kind: DamageKind,
}

/// The ways in which bytes fail to be well-formed XML 1.0 (rule codes of section 4 in brackets).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DamageKind {
    /// `&` that starts no reference \[xml-unescaped-ampersand, xml-unknown-entity\].
    Ampersand,
    /// `<` that starts no markup, or markup that does not end \[xml-unescaped-angle\].
    Angle,
    /// An end tag that does not match \[xml-not-well-formed\].
    EndTag,
    /// An element that is still open where its parent, or the file, ends \[xml-truncated\].
    Unclosed,
    /// An instruction without a target, or an XML declaration that is none \\[xml-not-well-formed\\].
    Instruction,
    /// Text or elements before the root \[xml-leading-junk, xml-leading-whitespace\].
    BeforeRoot,
    /// Text or elements after the root \[xml-trailing-junk\].
    AfterRoot,
    /// A control character, or a character that XML cannot hold \[xml-illegal-char\].
    Character,
    /// Bytes that are not UTF-8 \[enc-invalid-bytes\].
    Encoding,
    /// No root element at all \[doc-root-unknown\].
    NoRoot,
}

/// Most damages that one scan reports; a file with more is no better described by more.
const DAMAGE_LIMIT: usize = 1_000;

/// The walk through elements that the scanner and [`Entry::of`] share; keeps its stack between entries.
#[derive(Debug, Default)]
pub struct Parser {
    /// Names of the open elements below a child, as ranges of the bytes.
    stack: Vec<(u32, u32)>,
    /// What was not well-formed so far; the first thousand of it.
    pub damage: Vec<Damage>,
}

impl Parser {
    /// Notes a damage.
    pub fn note(&mut self, at: usize, kind: DamageKind) {
        if self.damage.len() < DAMAGE_LIMIT {
            self.damage.push(Damage { at, kind });
        }
    }

    /// Checks character data for raw ampersands.
    #[inline]
    pub fn check_text(&mut self, bytes: &[u8], start: usize, end: usize) {
        let text = bytes.get(start..end).unwrap_or_default();
        if memchr::memchr(b'&', text).is_some()
            && let Some(bad) = escape::first_bad_reference(text)
        {
            // `&#27;` is a sound reference, to a character that XML cannot hold.
            let sound = text.get(bad..).and_then(escape::reference).is_some();
            self.note(start + bad, if sound { DamageKind::Character } else { DamageKind::Ampersand });
        }
    }

    /// Checks a tag's attribute values.
    #[inline]
    pub fn check_tag(&mut self, bytes: &[u8], tag: &Markup) {
        if tag.end - tag.name_end > 2 {
            self.check_text(bytes, tag.name_end, tag.end);
        }
    }

    /// Takes the entry apart whose start tag is `tag`; `lead` is where its leading trivia begins.
    /// Returns it with the offset just after it. Positions in the entry are relative to `lead`.
    pub fn entry(&mut self, bytes: &[u8], lead: usize, tag: &Markup, names: &Names) -> (Entry, usize) {
        let relative = |position: usize| (position - lead) as u32;
        let mut entry = Entry { open: relative(tag.start), open_end: relative(tag.end), ..Entry::plain(0) };
        self.check_tag(bytes, tag);
        note_attributes(tag.attributes(bytes), &mut entry.odd);
        if tag.kind == Kind::Empty {
            entry.close = entry.open_end;
            entry.len = entry.open_end;
            return (entry, tag.end);
        }
        let from = plain::fields(self, bytes, (lead, tag.end), names, &mut entry);
        if let Some((close, end)) = plain::end(bytes, from.0, tag.name(bytes)) {
            (entry.close, entry.len) = (relative(close), relative(end));
            return (entry, end);
        }
        self.children(bytes, (lead, tag), names, entry, from)
    }

    /// The children of an entry from `at` on; `last_order` is the place in schema order that was reached.
    fn children(
        &mut self,
        bytes: &[u8],
        (lead, tag): (usize, &Markup),
        names: &Names,
        mut entry: Entry,
        (mut at, mut last_order): (usize, usize),
    ) -> (Entry, usize) {
        let relative = |position: usize| (position - lead) as u32;
        let open_name = tag.name(bytes);
        loop {
            let Some(child) = markup::next(bytes, at) else {
                self.note(at, DamageKind::Unclosed);
                return finish_broken(entry, lead, bytes.len());
            };
            if child.start > at && !markup::is_blank(bytes.get(at..child.start).unwrap_or_default()) {
                entry.odd.insert(Oddities::STRAY_TEXT);
                self.check_text(bytes, at, child.start);
            }
            at = match child.kind {
                Kind::End if child.name(bytes) == open_name => {
                    entry.close = relative(child.start);
                    entry.len = relative(child.end);
                    return (entry, child.end);
                }
                Kind::End => {
                    self.note(child.start, DamageKind::EndTag);
                    // The root ends, or another entry's end: this entry was never closed.
                    if names.is_root(child.name(bytes)) {
                        return finish_broken(entry, lead, child.start);
                    }
                    entry.odd.insert(Oddities::BROKEN);
                    child.end
                }
                Kind::Start | Kind::Empty => {
                    if names.is_entry(child.name(bytes)) {
                        self.note(child.start, DamageKind::Unclosed);
                        return finish_broken(entry, lead, at);
                    }
                    self.child(bytes, lead, &child, names, (&mut entry, &mut last_order))
                }
                Kind::Cdata => {
                    entry.odd.insert(Oddities::STRAY_TEXT);
                    child.end
                }
                Kind::Stray => {
                    self.note(child.start, DamageKind::Angle);
                    entry.odd.insert(Oddities::BROKEN);
                    child.end
                }
                Kind::Comment | Kind::Instruction | Kind::Declaration => child.end,
            };
        }
    }

    /// One child of an entry; returns the offset after it.
    fn child(
        &mut self,
        bytes: &[u8],
        lead: usize,
        tag: &Markup,
        names: &Names,
        (entry, last_order): (&mut Entry, &mut usize),
    ) -> usize {
        let (meaning, local) = names.resolve(bytes, tag);
        let field = match (meaning, local) {
            (Meaning::Core, b"loc") => Some(Field::Loc),
            (Meaning::Core, b"lastmod") => Some(Field::Lastmod),
            (Meaning::Core, b"changefreq") => Some(Field::Changefreq),
            (Meaning::Core, b"priority") => Some(Field::Priority),
            _ => None,
        };
        // Schema order: loc, lastmod, changefreq, priority, then everything else.
        let order = field.map_or(4, Field::index);
        if order < *last_order {
            entry.odd.insert(Oddities::OUT_OF_ORDER);
        }
        *last_order = (*last_order).max(order);
        let Some(field) = field else {
            match meaning {
                Meaning::Core => entry.odd.insert(Oddities::UNKNOWN_CHILD),
                Meaning::Extension(namespace) => count(&mut entry.extensions, namespace, local),
            }
            return if tag.kind == Kind::Empty {
                self.check_tag(bytes, tag);
                tag.end
            } else {
                self.skip_element(bytes, tag)
            };
        };
        if names.kind == FileKind::Index && matches!(field, Field::Changefreq | Field::Priority) {
            entry.odd.insert(Oddities::FIELD_IN_SITEMAP);
        }
        self.check_tag(bytes, tag);
        note_attributes(tag.attributes(bytes), &mut entry.odd);
        let (span, end, broken) = self.field(bytes, lead, tag);
        if broken {
            entry.odd.insert(Oddities::BROKEN);
        }
        match &mut entry.fields[field.index()] {
            empty @ None => *empty = Some(span),
            Some(_) if field == Field::Loc => entry.odd.insert(Oddities::LOC_TWICE),
            Some(_) => entry.odd.insert(Oddities::FIELD_TWICE),
        }
        end
    }

    /// A core field from its start tag to its end; the flag says whether it was never closed.
    fn field(&mut self, bytes: &[u8], lead: usize, tag: &Markup) -> (FieldSpan, usize, bool) {
        let (mut text, mut at, mut broken) = (TextKind::Plain, tag.end, false);
        let name = tag.name(bytes);
        let (inner_end, end) = loop {
            if tag.kind == Kind::Empty {
                break (tag.end, tag.end);
            }
            let Some(next) = markup::next(bytes, at) else {
                self.note(tag.start, DamageKind::Unclosed);
                broken = true;
                break (bytes.len(), bytes.len());
            };
            if memchr::memchr(b'&', bytes.get(at..next.start).unwrap_or_default()).is_some() {
                text = text.max(TextKind::Escaped);
                self.check_text(bytes, at, next.start);
            }
            match next.kind {
                Kind::End if next.name(bytes) == name => break (next.start, next.end),
                Kind::End => {
                    self.note(next.start, DamageKind::EndTag);
                    broken = true;
                    break (next.start, next.start);
                }
                Kind::Cdata | Kind::Comment | Kind::Instruction | Kind::Declaration => {
                    text = text.max(TextKind::Mixed);
                    at = next.end;
                }
                Kind::Start => {
                    text = TextKind::Children;
                    at = self.skip_element(bytes, &next);
                }
                Kind::Empty => {
                    text = TextKind::Children;
                    at = next.end;
                }
                Kind::Stray => {
                    self.note(next.start, DamageKind::Angle);
                    text = text.max(TextKind::Mixed);
                    broken = true;
                    at = next.end;
                }
            }
        };
        let (value_start, value_end) = markup::trim(bytes, tag.end, inner_end);
        let relative = |position: usize| (position - lead) as u32;
        let span = FieldSpan {
            start: relative(tag.start),
            end: relative(end),
            inner_start: relative(tag.end),
            inner_end: relative(inner_end),
            value_start: relative(value_start),
            value_end: relative(value_end),
            text,
        };
        (span, end, broken)
    }

    /// Walks to the end of an element whose start tag is `tag`, checking that tags match on the way.
    /// Returns the offset after it, or the place where it turned out not to be closed. No recursion:
    /// a file nested 100,000 deep costs a stack in memory, not the thread's.
    pub fn skip_element(&mut self, bytes: &[u8], tag: &Markup) -> usize {
        self.check_tag(bytes, tag);
        if tag.kind == Kind::Empty {
            return tag.end;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push((tag.start as u32 + 1, tag.name_end as u32));
        let mut at = tag.end;
        while let Some((name_start, name_end)) = stack.last().copied() {
            let Some(next) = markup::next(bytes, at) else {
                self.note(tag.start, DamageKind::Unclosed);
                at = bytes.len();
                break;
            };
            self.check_text(bytes, at, next.start);
            match next.kind {
                Kind::Start => {
                    self.check_tag(bytes, &next);
                    stack.push((next.start as u32 + 1, next.name_end as u32));
                }
                Kind::Empty => self.check_tag(bytes, &next),
                Kind::End if Some(next.name(bytes)) == bytes.get(name_start as usize..name_end as usize) => {
                    stack.pop();
                }
                Kind::End => {
                    // Give the end tag back to the parent: it may be the entry's own.
                    self.note(next.start, DamageKind::EndTag);
                    at = next.start;
                    break;
                }
                Kind::Stray => self.note(next.start, DamageKind::Angle),
                Kind::Comment | Kind::Cdata | Kind::Instruction | Kind::Declaration => {}
            }
            at = next.end;
        }
        self.stack = stack;
        at
    }
}

fn finish_broken(mut entry: Entry, lead: usize, end: usize) -> (Entry, usize) {
    entry.odd.insert(Oddities::BROKEN);
    entry.close = (end - lead) as u32;
    entry.len = entry.close;
    (entry, end)
}

fn note_attributes(attributes: &[u8], odd: &mut Oddities) {
    if attributes.is_empty() {
        return;
    }
    for attribute in markup::attributes(attributes) {
        match attribute.name {
            name if name.starts_with(b"xmlns") => odd.insert(Oddities::DECLARES_NAMESPACE),
            name if name.starts_with(b"xsi:") || name.starts_with(b"xml:") => {}
            _ => odd.insert(Oddities::ATTRIBUTE),
        }
    }
}

const fn count(extensions: &mut Extensions, namespace: Namespace, local: &[u8]) {
    let counter = match namespace {
        Namespace::Image => &mut extensions.image,
        Namespace::Video => &mut extensions.video,
        Namespace::News => &mut extensions.news,
        Namespace::Xhtml if matches!(local, b"link") => &mut extensions.alternate,
        _ => &mut extensions.other,
    };
    *counter = counter.saturating_add(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The entry without the short way for plain fields.
    fn the_long_way(text: &[u8], names: &Names) -> Option<(Entry, Vec<Damage>)> {
        let tag = markup::next(text, 0)?;
        let mut parser = Parser::default();
        let entry = Entry { open: tag.start as u32, open_end: tag.end as u32, ..Entry::plain(0) };
        let (entry, _) = parser.children(text, (0, &tag), names, entry, (tag.end, 0));
        Some((entry, parser.damage))
    }

    proptest! {
        #[test]
        fn the_short_way_for_plain_fields_leads_to_the_same_entry(
            parts in proptest::collection::vec(prop_oneof![
                4 => Just("<loc>a</loc>"), 2 => Just("<loc> b&amp;c\n</loc>"), 1 => Just("<loc>d"), 1 => Just("<loc><![CDATA[e]]></loc>"),
                4 => Just("<lastmod> 2026 </lastmod>"), 2 => Just("<lastmod/>"), 1 => Just("<lastmod></lastmod>"),
                4 => Just("<changefreq>f</changefreq>"), 1 => Just("<changefreq>f</priority>"), 4 => Just("<priority>\t</priority>"),
                1 => Just("<priority >1</priority>"), 1 => Just("<priority>1</priority >"), 6 => Just("\n  "), 1 => Just("g"),
                1 => Just("<!-- h -->"), 1 => Just("<i:image><loc>j</loc></i:image>"), 1 => Just("</url>"), 1 => Just("&"),
            ], 0..9),
            kind in prop_oneof![Just(FileKind::Urlset), Just(FileKind::Index)],
            root in prop_oneof![Just(""), Just(" xmlns='x'"), Just(" xmlns:a='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns='y'")],
        ) {
            let prefix = if root.contains(":a") { "a:" } else { "" };
            let root = format!("<{prefix}{}{root}>", kind.root_name());
            let names = Names::of_root(root.as_bytes(), &markup::next(root.as_bytes(), 0).unwrap()).unwrap();
            let name = kind.entry_name();
            let text = format!("<{prefix}{name}>{}</{prefix}{name}>", parts.concat());
            let text = text.as_bytes();
            let mut parser = Parser::default();
            let (entry, _) = parser.entry(text, 0, &markup::next(text, 0).unwrap(), &names);
            prop_assert_eq!(Some((entry, parser.damage)), the_long_way(text, &names));
            for lead in ["", "\n ", "<!-- k -->", "<url>"] {
                let text = [lead.as_bytes(), text].concat();
                prop_assert_eq!(Entry::of(&text, &names), Entry::walk(&text, &names));
            }
        }
    }
}
