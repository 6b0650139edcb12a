//! Writing an entry with some of its fields changed, keeping every other byte.
//!
//! Invariant I2: without overrides the bytes are copied. A changed value replaces only the trimmed
//! value between its tags; a missing element goes in schema order with the entry's own indentation
//! and prefix; a removed one takes the white space before it along.

use super::entry::{Entry, FieldSpan, Oddities, TextKind};
use super::escape::escape;
use super::markup::{self, Kind};
use super::names::{self, Names};
use crate::protocol::Field;
use std::fmt::Write as _;

/// What to do with one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'v> {
    /// Give it this value (decoded text; escaping is done here).
    Set(&'v str),
    /// Take the element out.
    Remove,
}

/// The changes of one entry, by [`Field::index`]; `None` leaves the field alone.
pub type Changes<'v> = [Option<Change<'v>>; 4];

/// One replacement of a byte range of the entry text.
struct Patch {
    start: usize,
    end: usize,
    text: String,
}

/// Writes `text` with `changes` applied to `out`. `entry` must be the anatomy of `text`.
pub fn splice(entry: &Entry, text: &[u8], names: &Names, changes: &Changes<'_>, out: &mut Vec<u8>) {
    let mut patches: Vec<Patch> = Vec::with_capacity(4);
    let mut missing: Vec<(Field, &str)> = Vec::new();
    for field in Field::ALL {
        match (changes[field.index()], entry.field(field)) {
            (None, _) | (Some(Change::Remove), None) => {}
            (Some(Change::Set(value)), Some(span)) => patches.push(replace(text, span, value)),
            (Some(Change::Remove), Some(span)) => patches.push(remove(text, span)),
            (Some(Change::Set(value)), None) => missing.push((field, value)),
        }
    }
    insert_missing(entry, text, &missing, &mut patches);
    // Stable: insertions at one place stay in schema order, after a removal that ends there.
    patches.sort_by_key(|patch| (patch.start, patch.end));
    let start = out.len();
    let mut at = 0;
    for patch in &patches {
        out.extend_from_slice(text.get(at..patch.start.max(at)).unwrap_or_default());
        out.extend_from_slice(patch.text.as_bytes());
        at = patch.end.max(at);
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    remove_repeats(entry, names, changes, (out, start));
}

/// An element that stands twice is removed twice: whoever asked for no lastmod does not want the second.
fn remove_repeats(entry: &Entry, names: &Names, changes: &Changes<'_>, (out, start): (&mut Vec<u8>, usize)) {
    if !entry.odd.has(Oddities::FIELD_TWICE) && !entry.odd.has(Oddities::LOC_TWICE) {
        return;
    }
    for field in Field::ALL {
        while changes[field.index()] == Some(Change::Remove) {
            let again = Entry::of(out.get(start..).unwrap_or_default(), names);
            let Some(span) = again.field(field) else { break };
            let patch = remove(out.get(start..).unwrap_or_default(), span);
            out.drain(start + patch.start..start + patch.end);
        }
    }
}

fn replace(text: &[u8], span: &FieldSpan, value: &str) -> Patch {
    let (inner_start, inner_end) = (span.inner_start as usize, span.inner_end as usize);
    if span.end == span.inner_end {
        return open_empty(text, span, value);
    }
    if span.value_start == span.value_end {
        return Patch { start: inner_start, end: inner_end, text: escape(value).into_owned() };
    }
    let (start, end) = (span.value_start as usize, span.value_end as usize);
    if span.text == TextKind::Mixed
        && !value.contains("]]>")
        && let Some(cdata) = markup::next(text, start)
        && cdata.kind == Kind::Cdata
        && (cdata.start, cdata.end) == (start, end)
    {
        // A value that is one CDATA section stays one: only what it says changes.
        let (start, end) = markup::trim(text, start + 9, end - 3);
        return Patch { start, end, text: value.to_owned() };
    }
    Patch { start, end, text: escape(value).into_owned() }
}

/// `<lastmod/>` becomes `<lastmod>value</lastmod>`.
fn open_empty(text: &[u8], span: &FieldSpan, value: &str) -> Patch {
    let (start, end) = (span.start as usize, span.end as usize);
    let tag = text.get(start..end).unwrap_or_default();
    let kept = trim_end(tag.strip_suffix(b"/>").unwrap_or(tag));
    let name = markup::next(tag, 0).map(|markup| markup.name(tag).to_vec()).unwrap_or_default();
    let (kept, name) = (String::from_utf8_lossy(kept), String::from_utf8_lossy(&name));
    Patch { start, end, text: format!("{kept}>{}</{name}>", escape(value)) }
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    let (_, end) = markup::trim(bytes, 0, bytes.len());
    bytes.get(..end).unwrap_or_default()
}

/// Start of the run of white space that ends at `end`.
fn blank_before(text: &[u8], end: usize) -> usize {
    let before = text.get(..end).unwrap_or_default();
    before.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1)
}

fn remove(text: &[u8], span: &FieldSpan) -> Patch {
    Patch { start: blank_before(text, span.start as usize), end: span.end as usize, text: String::new() }
}

/// The prefix of the entry's start tag with its colon. Not always the root's: some writers prefix the root alone.
fn own_prefix(entry: &Entry, text: &[u8]) -> String {
    let tag = markup::next(text, entry.open as usize);
    let (prefix, _) = tag.as_ref().map_or((&[][..], &[][..]), |tag| names::split(tag.name(text)));
    if prefix.is_empty() { String::new() } else { format!("{}:", String::from_utf8_lossy(prefix)) }
}

/// Elements that the entry does not have, each after the last field before it in schema order.
fn insert_missing(entry: &Entry, text: &[u8], missing: &[(Field, &str)], patches: &mut Vec<Patch>) {
    if missing.is_empty() {
        return;
    }
    let prefix = own_prefix(entry, text);
    let separator = separator(entry, text);
    let element = |field: Field, value: &str| {
        let name = field.name();
        format!("{separator}<{prefix}{name}>{}</{prefix}{name}>", escape(value))
    };
    if entry.close == entry.open_end && entry.len == entry.open_end {
        // `<url/>`: open it up.
        let (open, end) = (entry.open as usize, entry.open_end as usize);
        let tag = text.get(open..end).unwrap_or_default();
        let kept = trim_end(tag.strip_suffix(b"/>").unwrap_or(tag));
        let name = markup::next(tag, 0).map(|markup| markup.name(tag).to_vec()).unwrap_or_default();
        let inside: String = missing.iter().map(|(field, value)| element(*field, value)).collect();
        let (kept, name) = (String::from_utf8_lossy(kept), String::from_utf8_lossy(&name));
        patches.push(Patch { start: open, end, text: format!("{kept}>{inside}</{name}>") });
        return;
    }
    for (field, value) in missing {
        let at = Field::ALL[..field.index()]
            .iter()
            .filter_map(|before| entry.field(*before))
            .map(|span| span.end)
            .max()
            .unwrap_or(entry.open_end) as usize;
        patches.push(Patch { start: at, end: at, text: element(*field, value) });
    }
}

/// The white space that this entry puts before its fields: what stands before `loc`, or before any other field.
fn separator<'t>(entry: &Entry, text: &'t [u8]) -> &'t str {
    let Some(span) = entry.fields.iter().flatten().next() else { return "" };
    let end = span.start as usize;
    let run = text.get(blank_before(text, end).max(entry.open_end as usize)..end).unwrap_or_default();
    std::str::from_utf8(run).unwrap_or_default()
}

/// How the entries of a file are laid out; what a new entry copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// White space before `<url>`.
    pub before_entry: String,
    /// White space before each field.
    pub before_field: String,
    /// White space before `</url>`.
    pub before_close: String,
}

impl Default for Layout {
    fn default() -> Self {
        Self { before_entry: "\n  ".into(), before_field: "\n    ".into(), before_close: "\n  ".into() }
    }
}

impl Layout {
    /// The layout of an existing entry; `None` if it has no field to learn from.
    pub fn of(entry: &Entry, text: &[u8]) -> Option<Self> {
        entry.fields.iter().flatten().next()?;
        let run = |end: u32, from: u32| -> String {
            let start = blank_before(text, end as usize).max(from as usize);
            String::from_utf8_lossy(text.get(start..end as usize).unwrap_or_default()).into_owned()
        };
        Some(Self {
            before_entry: run(entry.open, 0),
            before_field: separator(entry, text).to_owned(),
            before_close: run(entry.close, entry.open_end),
        })
    }

    /// The text of a new entry with these values, by [`Field::index`].
    pub fn render(&self, names: &Names, values: &[Option<&str>; 4]) -> String {
        let (prefix, name) = (&names.prefix, names.kind.entry_name());
        let mut out = format!("{}<{prefix}{name}>", self.before_entry);
        for field in Field::ALL {
            if let Some(value) = values[field.index()] {
                let field = field.name();
                out.push_str(&self.before_field);
                let _ = write!(out, "<{prefix}{field}>{}</{prefix}{field}>", escape(value));
            }
        }
        out.push_str(&self.before_close);
        let _ = write!(out, "</{prefix}{name}>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;
    use proptest::prelude::*;

    fn spliced(text: &str, changes: Changes<'_>) -> String {
        let names = Names::plain(FileKind::Urlset);
        let entry = Entry::of(text.as_bytes(), &names);
        let mut out = Vec::new();
        splice(&entry, text.as_bytes(), &names, &changes, &mut out);
        String::from_utf8(out).unwrap()
    }

    const fn only(field: Field, change: Change<'_>) -> Changes<'_> {
        let mut changes = [None; 4];
        changes[field.index()] = Some(change);
        changes
    }

    #[test]
    fn a_change_touches_only_its_value() {
        use Change::{Remove, Set};
        use Field::{Changefreq, Lastmod, Loc, Priority};
        let pretty = "\n <url>\n  <loc> a </loc>\n  <priority>0.50</priority>\n  <x:y/>\n </url>";
        let table = [
            (pretty, Priority, Set("0.8"), "\n <url>\n  <loc> a </loc>\n  <priority>0.8</priority>\n  <x:y/>\n </url>"),
            (
                pretty,
                Loc,
                Set("b?c&d"),
                "\n <url>\n  <loc> b?c&amp;d </loc>\n  <priority>0.50</priority>\n  <x:y/>\n </url>",
            ),
            (pretty, Priority, Remove, "\n <url>\n  <loc> a </loc>\n  <x:y/>\n </url>"),
            (
                pretty,
                Lastmod,
                Set("2026"),
                "\n <url>\n  <loc> a </loc>\n  <lastmod>2026</lastmod>\n  <priority>0.50</priority>\n  <x:y/>\n </url>",
            ),
            (pretty, Lastmod, Remove, pretty),
            (
                "<url><loc>a</loc></url>",
                Changefreq,
                Set("daily"),
                "<url><loc>a</loc><changefreq>daily</changefreq></url>",
            ),
            (
                "<url><priority>1</priority>\n<loc>a</loc></url>",
                Lastmod,
                Set("x"),
                "<url><priority>1</priority>\n<loc>a</loc>\n<lastmod>x</lastmod></url>",
            ),
            ("<url><loc>a</loc><lastmod/></url>", Lastmod, Set("x"), "<url><loc>a</loc><lastmod>x</lastmod></url>"),
            (
                "<url><loc>a</loc><lastmod b='c' /></url>",
                Lastmod,
                Set("x"),
                "<url><loc>a</loc><lastmod b='c'>x</lastmod></url>",
            ),
            (
                "<url><loc>a</loc><lastmod> </lastmod></url>",
                Lastmod,
                Set("x"),
                "<url><loc>a</loc><lastmod>x</lastmod></url>",
            ),
            ("<url/>", Loc, Set("x"), "<url><loc>x</loc></url>"),
            ("<url></url>", Loc, Set("x"), "<url><loc>x</loc></url>"),
            ("<url><loc><![CDATA[ a&b ]]></loc></url>", Loc, Set("c&d"), "<url><loc><![CDATA[ c&d ]]></loc></url>"),
            ("<url><loc>a<!-- b -->c</loc></url>", Loc, Set("d"), "<url><loc>d</loc></url>"),
            (
                "<url><loc>a</loc><priority>1</priority><priority>0</priority></url>",
                Priority,
                Remove,
                "<url><loc>a</loc></url>",
            ),
            (
                "<url><loc>a</loc> <!-- c --> <priority>1</priority></url>",
                Priority,
                Remove,
                "<url><loc>a</loc> <!-- c --></url>",
            ),
        ];
        for (text, field, change, expected) in table {
            assert_eq!(spliced(text, only(field, change)), expected, "{text} {field:?} {change:?}");
        }
    }

    #[test]
    fn several_missing_fields_go_in_schema_order_and_a_removed_neighbour_is_no_hindrance() {
        let all = [None, Some(Change::Set("l")), Some(Change::Set("c")), Some(Change::Set("p"))];
        assert_eq!(
            spliced("<url>\n <loc>a</loc>\n</url>", all),
            "<url>\n <loc>a</loc>\n <lastmod>l</lastmod>\n <changefreq>c</changefreq>\n <priority>p</priority>\n</url>"
        );
        let swap = [None, Some(Change::Remove), Some(Change::Set("c")), None];
        assert_eq!(
            spliced("<url>\n <loc>a</loc>\n <lastmod>x</lastmod>\n</url>", swap),
            "<url>\n <loc>a</loc>\n <changefreq>c</changefreq>\n</url>"
        );
    }

    #[test]
    fn a_new_entry_copies_the_layout_of_its_neighbour() {
        let names = Names::plain(FileKind::Urlset);
        let text = b"<!-- c -->\n\t<url>\n\t\t<loc>a</loc>\n\t</url>";
        let layout = Layout::of(&Entry::of(text, &names), text).unwrap();
        assert_eq!(
            layout.render(&names, &[Some("b&c"), None, None, Some("0.5")]),
            "\n\t<url>\n\t\t<loc>b&amp;c</loc>\n\t\t<priority>0.5</priority>\n\t</url>"
        );
    }

    fn value() -> impl Strategy<Value = Option<String>> {
        prop_oneof![Just(None), "[a-z&<>'\" ]{0,6}".prop_map(Some), Just(Some(String::new()))]
    }

    proptest! {
        /// After a splice the changed fields say what was asked, the others what they said before.
        #[test]
        fn what_is_set_is_read_back_and_the_rest_is_untouched(
            parts in proptest::collection::vec(prop_oneof![
                Just("<loc>a</loc>"), Just("<lastmod>b</lastmod>"), Just("<changefreq/>"), Just("<priority> c&amp;d </priority>"),
                Just("<loc><![CDATA[e&f]]></loc>"), Just("\n  "), Just("<!-- g -->"), Just("<image:image><image:loc>h</image:loc></image:image>"),
                Just("<lastmod x='y'/>"), Just("<priority><!-- i -->j</priority>"),
            ], 0..8),
            values in proptest::collection::vec((any::<bool>(), value()), 4),
        ) {
            let text = format!("\n<url>{}</url>", parts.concat());
            let names = Names::plain(FileKind::Urlset);
            let before = Entry::of(text.as_bytes(), &names);
            let changes: Vec<Option<Change<'_>>> = values.iter().map(|(touch, value)| {
                touch.then(|| value.as_deref().map_or(Change::Remove, Change::Set))
            }).collect();
            let mut out = Vec::new();
            splice(&before, text.as_bytes(), &names, &changes.clone().try_into().unwrap(), &mut out);
            let after = Entry::of(&out, &names);
            for field in Field::ALL {
                let read = after.value(field, &out).map(std::borrow::Cow::into_owned);
                match changes[field.index()] {
                    None => prop_assert_eq!(read, before.value(field, text.as_bytes()).map(std::borrow::Cow::into_owned)),
                    Some(Change::Remove) => prop_assert_eq!(read, None),
                    Some(Change::Set(value)) => prop_assert_eq!(read.as_deref(), Some(value.trim_matches(' '))),
                }
            }
            prop_assert_eq!(after.extensions, before.extensions);
        }
    }
}
