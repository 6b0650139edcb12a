//! Fixes that rewrite an entry's text: order of elements, whitespace, repeated and unknown elements.
//!
//! A fix changes only the part that the finding names, and reorders only if the order is the fault. All functions
//! return `None` if there is nothing to change or the result is not UTF-8.

use super::fields::{has_inner_blanks, trim_strict};
use crate::progress::note_work;
use crate::protocol::Field;
use crate::xml::entry::{Entry, FieldSpan, TextKind};
use crate::xml::escape::escape;
use crate::xml::markup::{self, Kind, Markup};
use crate::xml::names::{Meaning, Names};
use crate::xml::parser::Parser;
use std::collections::HashSet;
use std::ops::Range;

/// A child element with the text before it.
struct Child {
    /// Start of the white space, comments and text before it.
    lead: usize,
    /// Its start tag.
    tag: Markup,
    /// End of the element.
    end: usize,
    /// The core field that it is, if any.
    field: Option<Field>,
    /// Whether it is in the sitemap's namespace.
    is_core: bool,
}

/// Sorts the children by the schema: loc, lastmod, changefreq, priority, then the others. Each moves with the text
/// before it.
pub(super) fn reorder(entry: &Entry, text: &[u8], names: &Names) -> Option<String> {
    let mut children = children(entry, text, names);
    let first = children.first()?.lead;
    let last = children.last()?.end;
    children.sort_by_key(|child| child.field.map_or(Field::ALL.len(), Field::index));
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(text.get(..first)?);
    for child in &children {
        out.extend_from_slice(text.get(child.lead..child.end)?);
    }
    out.extend_from_slice(text.get(last..)?);
    String::from_utf8(out).ok()
}

/// Keeps only the last of each repeated lastmod, changefreq and priority.
pub(super) fn keep_last(entry: &Entry, text: &[u8], names: &Names) -> Option<String> {
    let children = children(entry, text, names);
    let repeated = children.iter().enumerate().filter(|(at, child)| {
        let is_repeated_by = |later: &&Child| later.field == child.field;
        child.field.is_some_and(|field| field != Field::Loc)
            && children.iter().skip(at + 1).any(|later| is_repeated_by(&later))
    });
    let cuts = repeated.map(|(_, child)| with_blanks(text, child.tag.start..child.end)).collect();
    cut_ranges(text, cuts)
}

/// Maximum total size of the entries that one with several locs is split into, as a multiple of its own size.
const MAX_SPLIT_FACTOR: usize = 4;
/// Total size of these entries that is always allowed, in bytes.
const ALLOWED_SPLIT_BYTES: usize = 1 << 16;

/// Splits an entry into one for each of its locs, each with a copy of everything else. `None` if the copies would be
/// too large in total.
pub(super) fn split(entry: &Entry, text: &[u8], names: &Names) -> Option<Vec<String>> {
    let children = children(entry, text, names);
    let locs: Vec<Range<usize>> = children
        .iter()
        .filter(|child| child.field == Some(Field::Loc))
        .map(|child| with_blanks(text, child.tag.start..child.end))
        .collect();
    // The entry without its locs, and the offset of each loc in it.
    let (mut rest, mut offsets, mut at) = (Vec::with_capacity(text.len()), Vec::with_capacity(locs.len()), 0);
    for loc in &locs {
        rest.extend_from_slice(text.get(at..loc.start)?);
        offsets.push(rest.len());
        at = loc.end;
    }
    rest.extend_from_slice(text.get(at..)?);
    let total = locs.len().saturating_mul(rest.len());
    if locs.len() < 2 || total > ALLOWED_SPLIT_BYTES.max(text.len().saturating_mul(MAX_SPLIT_FACTOR)) {
        return None;
    }
    let one = |(loc, offset): (&Range<usize>, &usize)| {
        let out = [rest.get(..*offset)?, text.get(loc.clone())?, rest.get(*offset..)?].concat();
        String::from_utf8(out).ok()
    };
    locs.iter().zip(&offsets).map(one).collect()
}

/// Removes elements that the protocol does not define.
pub(super) fn remove_unknown(entry: &Entry, text: &[u8], names: &Names) -> Option<String> {
    let children = children(entry, text, names);
    let unknown = children.iter().filter(|child| child.is_core && child.field.is_none());
    cut_ranges(text, unknown.map(|child| with_blanks(text, child.tag.start..child.end)).collect())
}

/// Renames the entry to `url` or `sitemap`, as its file requires.
pub(super) fn rename(entry: &Entry, text: &[u8], names: &Names) -> Option<String> {
    let (open, close) = (entry.open as usize, entry.close as usize);
    let name = markup::next(text, open)?.name(text);
    let own = [names.prefix.as_bytes(), names.kind.entry_name().as_bytes()].concat();
    let mut out = text.get(..=open)?.to_vec();
    out.extend_from_slice(&own);
    let rest = open + 1 + name.len();
    if entry.len == entry.open_end {
        out.extend_from_slice(text.get(rest..)?);
    } else {
        out.extend_from_slice(text.get(rest..close + 2)?);
        out.extend_from_slice(&own);
        out.extend_from_slice(text.get(close + 2 + name.len()..)?);
    }
    String::from_utf8(out).ok()
}

/// Removes the attributes of the entry and its core fields, except namespace declarations.
pub(super) fn remove_attributes(entry: &Entry, text: &[u8]) -> Option<String> {
    let tags = std::iter::once(entry.open).chain(entry.fields.iter().flatten().map(|span| span.start));
    let cuts = tags.filter_map(|start| markup::next(text, start as usize)).flat_map(|tag| attributes(text, &tag));
    cut_ranges(text, cuts.collect())
}

/// Removes `xmlns=""` from the entry and its core fields.
pub(super) fn remove_empty_namespace(entry: &Entry, text: &[u8]) -> Option<String> {
    let tags = std::iter::once(entry.open).chain(entry.fields.iter().flatten().map(|span| span.start));
    let mut cuts = Vec::new();
    for tag in tags.filter_map(|start| markup::next(text, start as usize)) {
        let mut list = markup::attributes(tag.attributes(text));
        loop {
            let before = list.rest().len();
            let Some(attribute) = list.next() else { break };
            if attribute.name == b"xmlns" && markup::is_blank(attribute.value) {
                let end = tag.name_end + tag.attributes(text).len();
                cuts.push(end - before..end - list.rest().len());
            }
        }
    }
    cuts.sort_unstable_by_key(|cut| cut.start);
    cut_ranges(text, cuts)
}

/// Removes text between the children.
pub(super) fn remove_text(entry: &Entry, text: &[u8]) -> Option<String> {
    let mut cuts = Vec::new();
    let (mut at, end) = (entry.open_end as usize, entry.close as usize);
    let mut parser = Parser::default();
    while at < end {
        let next = markup::next(text, at).filter(|next| next.start < end);
        let (start, value_end) = markup::trim(text, at, next.map_or(end, |next| next.start));
        if start < value_end {
            cuts.push(start..value_end);
        }
        let Some(next) = next else { break };
        if next.kind == Kind::Cdata {
            cuts.push(next.start..next.end);
        }
        at = if next.kind == Kind::Start { parser.skip_element(text, &next) } else { next.end };
    }
    cut_ranges(text, cuts)
}

/// Removes white space between a field's tags and its value.
pub(super) fn trim(entry: &Entry, field: Field, text: &[u8]) -> Option<String> {
    let span = entry.field(field)?;
    let value = entry.value(field, text)?;
    let trimmed = trim_strict(&value);
    let raw = entry.raw_value(field, text)?;
    // A value whose decoded form does not change keeps its spelling.
    let is_kept = trimmed.len() == value.len() && span.text <= TextKind::Escaped && !has_inner_blanks(span, raw);
    let kept = std::str::from_utf8(raw).ok()?;
    let value = if is_kept { kept.into() } else { escape(trimmed) };
    replace_inner(span, text, &value)
}

/// Appends the elements of other entries of the same file that are not core fields and that this entry lacks.
pub(crate) fn append_extensions_of(text: &[u8], others: &[&[u8]], names: &Names) -> Option<String> {
    let entry = Entry::of(text, names);
    let own = children(&entry, text, names);
    let own_end = own.last()?.end;
    let mut known: HashSet<&[u8]> = own.iter().filter_map(|child| text.get(child.tag.start..child.end)).collect();
    let mut out = text.get(..own_end)?.to_vec();
    for other in others {
        for child in children(&Entry::of(other, names), other, names).iter().filter(|child| !child.is_core) {
            let element = other.get(child.tag.start..child.end)?;
            if known.insert(element) {
                out.extend_from_slice(other.get(child.lead..child.end)?);
            }
        }
    }
    if out.len() == own_end {
        return None;
    }
    out.extend_from_slice(text.get(own_end..)?);
    String::from_utf8(out).ok()
}

/// Replaces everything between a field's tags with a value.
pub(super) fn replace_value(entry: &Entry, field: Field, text: &[u8], value: &str) -> Option<String> {
    replace_inner(entry.field(field)?, text, &escape(value))
}

fn replace_inner(span: &FieldSpan, text: &[u8], inside: &str) -> Option<String> {
    let (before, after) = (text.get(..span.inner_start as usize)?, text.get(span.inner_end as usize..)?);
    let out = [before, inside.as_bytes(), after].concat();
    String::from_utf8(out).ok()
}

/// The children of an entry, in order.
fn children(entry: &Entry, text: &[u8], names: &Names) -> Vec<Child> {
    let mut children = Vec::new();
    let (mut lead, mut at, end) = (entry.open_end as usize, entry.open_end as usize, entry.close as usize);
    let mut parser = Parser::default();
    let own = markup::next(text, entry.open as usize).and_then(|tag| names.within(text, &tag));
    let names = own.as_ref().unwrap_or(names);
    while let Some(tag) = markup::next(text, at).filter(|tag| tag.start < end) {
        at = match tag.kind {
            Kind::Start => parser.skip_element(text, &tag),
            _ => tag.end,
        };
        if matches!(tag.kind, Kind::Start | Kind::Empty) {
            let (meaning, local) = names.resolve(text, &tag);
            let is_core = meaning == Meaning::Core;
            let field = std::str::from_utf8(local).ok().and_then(Field::from_name).filter(|_| is_core);
            children.push(Child { lead, tag, end: at, field, is_core });
            lead = at;
        }
    }
    children
}

/// The ranges of the attributes of a tag except namespace declarations, each with the white space before it.
fn attributes(text: &[u8], tag: &Markup) -> Vec<Range<usize>> {
    let (mut cuts, mut from) = (Vec::new(), tag.name_end);
    for attribute in markup::attributes(tag.attributes(text)) {
        let name = attribute.name;
        // White space, the name, an equals sign with optional white space around it, and the quoted value.
        let (name_at, _) = markup::trim(text, from, tag.end);
        let Some(rest) = text.get(name_at + name.len()..) else { break };
        let Some(quote) = rest.iter().position(|byte| matches!(byte, b'"' | b'\'')) else { break };
        let end = name_at + name.len() + quote + attribute.value.len() + 2;
        if !(name.starts_with(b"xmlns") || name.starts_with(b"xsi:") || name.starts_with(b"xml:")) {
            cuts.push(from..end);
        }
        from = end;
    }
    cuts
}

/// A range with the whitespace before it.
pub(super) fn with_blanks(text: &[u8], range: Range<usize>) -> Range<usize> {
    let before = text.get(..range.start).unwrap_or_default();
    let start = before.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1);
    start..range.end
}

/// Removes ranges, which must be disjoint and in ascending order.
pub(super) fn cut_ranges(text: &[u8], cuts: Vec<Range<usize>>) -> Option<String> {
    if cuts.is_empty() {
        return None;
    }
    note_work(text.len() + cuts.len());
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        out.extend_from_slice(text.get(at..cut.start)?);
        at = cut.end;
    }
    out.extend_from_slice(text.get(at..)?);
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;

    fn with(text: &str, rewrite: impl Fn(&Entry, &[u8], &Names) -> Option<String>) -> Option<String> {
        let names = Names::plain(FileKind::Urlset);
        rewrite(&Entry::of(text.as_bytes(), &names), text.as_bytes(), &names)
    }

    #[test]
    fn children_are_sorted_with_the_text_before_them() {
        let table = [
            (
                "\n <url>\n  <priority>1</priority>\n  <!-- when -->\n  <lastmod>2026</lastmod>\n  <loc>a</loc>\n </url>",
                "\n <url>\n  <loc>a</loc>\n  <!-- when -->\n  <lastmod>2026</lastmod>\n  <priority>1</priority>\n </url>",
            ),
            (
                "<url><i:x xmlns:i='y'><loc>no</loc></i:x><loc>a</loc><z/><lastmod/></url>",
                "<url><loc>a</loc><lastmod/><i:x xmlns:i='y'><loc>no</loc></i:x><z/></url>",
            ),
            (
                "<url><loc>b</loc><lastmod>1</lastmod><loc>a</loc></url>",
                "<url><loc>b</loc><loc>a</loc><lastmod>1</lastmod></url>",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(with(text, reorder).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(with("<url/>", reorder), None);
    }

    #[test]
    fn parts_are_removed() {
        type Rewrite = fn(&Entry, &[u8], &Names) -> Option<String>;
        let attributes: Rewrite = |entry, text, _| remove_attributes(entry, text);
        let stray: Rewrite = |entry, text, _| remove_text(entry, text);
        let table: [(&str, Rewrite, Option<&str>); 10] = [
            (
                "<url>\n <priority>1</priority>\n <priority>0.5</priority>\n</url>",
                keep_last,
                Some("<url>\n <priority>0.5</priority>\n</url>"),
            ),
            ("<url><loc>a</loc><loc>b</loc></url>", keep_last, None),
            (
                "<url> <loc>a</loc> <x>1<y/></x> <i:z xmlns:i='i'/></url>",
                remove_unknown,
                Some("<url> <loc>a</loc> <i:z xmlns:i='i'/></url>"),
            ),
            (
                "<url id='1' xmlns:i=\"i\" b = \"=\"><loc a=''>a</loc></url>",
                attributes,
                Some("<url xmlns:i=\"i\"><loc>a</loc></url>"),
            ),
            ("<url><loc>a</loc></url>", attributes, None),
            ("<url>a <loc>x</loc> b\n<lastmod/>c</url>", stray, Some("<url> <loc>x</loc> \n<lastmod/></url>")),
            ("<url><![CDATA[a]]><loc>x</loc></url>", stray, Some("<url><loc>x</loc></url>")),
            ("<url><i:x xmlns:i='i'>kept</i:x> cut</url>", stray, Some("<url><i:x xmlns:i='i'>kept</i:x> </url>")),
            ("<url><!-- kept --><loc>x</loc></url>", stray, None),
            ("<url/>", remove_unknown, None),
        ];
        for (text, rewrite, expected) in table {
            assert_eq!(with(text, rewrite).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn values_are_trimmed_in_place() {
        let table = [
            ("<loc>\n  a&amp;b&#38;c </loc>", "<loc>a&amp;b&#38;c</loc>"),
            ("<loc>\u{a0}a&#38;b</loc>", "<loc>a&amp;b</loc>"),
            ("<loc> <![CDATA[ a&b ]]></loc>", "<loc>a&amp;b</loc>"),
            ("<loc>&#32;a</loc>", "<loc>a</loc>"),
        ];
        for (field, expected) in table {
            let trimmed = with(&format!("<url>{field}</url>"), |entry, text, _| trim(entry, Field::Loc, text));
            assert_eq!(trimmed, Some(format!("<url>{expected}</url>")), "{field}");
        }
    }
}
