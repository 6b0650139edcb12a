//! Writes an entry with changed fields and keeps every other byte.
//!
//! Invariant I2: without changes the bytes are copied. A changed value replaces only the trimmed value between its
//! tags. A missing element is inserted in schema order with the entry's indentation and prefix. An element is removed
//! together with the whitespace before it.

pub use super::change::{Change, Changes};

use super::entry::{Anomalies, Entry, FieldSpan, TextKind};
use super::escape::{escape, escaped_len};
use super::fast_path::InsertionPoint;
use super::markup::{self, Kind};
use super::names::Names;
use crate::protocol::Field;
use std::fmt::Write as _;

/// One replacement of a byte range of the entry text.
#[derive(Debug, Clone, Copy)]
struct Patch<'a> {
    start: usize,
    end: usize,
    text: Text<'a>,
}

/// The replacement text of a patch. Its length can be computed without writing it.
#[derive(Debug, Clone, Copy)]
enum Text<'a> {
    /// No text.
    None,
    /// Unchanged text.
    Raw(&'a str),
    /// A value, which is escaped.
    Value(&'a str),
    /// The rest of an element from the `>` of its start tag on: that, the value and the end tag.
    Rest { value: &'a str, name: &'a [u8] },
    /// A new element.
    Element(Element<'a>),
    /// An end tag.
    End(&'a [u8]),
}

/// The patches of one entry: one for each field, and two that open and close an empty `<url/>`.
type Patches<'a> = [Option<Patch<'a>>; 6];

/// A new element with the whitespace before it; the prefix has its colon.
#[derive(Debug, Clone, Copy)]
struct Element<'a> {
    before: &'a [u8],
    prefix: &'a [u8],
    field: Field,
    value: &'a str,
}

/// The output of a splice: bytes, or the sum of their lengths.
trait Sink {
    fn put(&mut self, bytes: &[u8]);

    fn put_escaped(&mut self, value: &str);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn put_escaped(&mut self, value: &str) {
        self.extend_from_slice(escape(value).as_bytes());
    }
}

impl Sink for usize {
    fn put(&mut self, bytes: &[u8]) {
        *self += bytes.len();
    }

    fn put_escaped(&mut self, value: &str) {
        *self += escaped_len(value);
    }
}

impl Text<'_> {
    fn write(&self, out: &mut impl Sink) {
        match self {
            Self::None => {}
            Self::Raw(text) => out.put(text.as_bytes()),
            Self::Value(value) => out.put_escaped(value),
            Self::Element(element) => element.write(out),
            Self::Rest { value, name } => {
                out.put(b">");
                out.put_escaped(value);
                Text::End(name).write(out);
            }
            Self::End(name) => {
                out.put(b"</");
                out.put(name);
                out.put(b">");
            }
        }
    }
}

impl Element<'_> {
    fn write(&self, out: &mut impl Sink) {
        let name = self.field.name().as_bytes();
        out.put(self.before);
        out.put(b"<");
        out.put(self.prefix);
        out.put(name);
        out.put(b">");
        out.put_escaped(self.value);
        out.put(b"</");
        out.put(self.prefix);
        out.put(name);
        out.put(b">");
    }
}

/// Writes `text` with `changes` to `out`. `entry` must be the parsed `text`.
pub fn splice(entry: &Entry, text: &[u8], names: &Names, changes: &Changes<'_>, out: &mut Vec<u8>) {
    if let Some(grid) = &names.grid {
        return grid.splice(text, changes, out);
    }
    let start = out.len();
    write(entry, text, changes, out);
    remove_repeats(entry, names, changes, (out, start));
}

/// Number of bytes that [`splice`] would write.
pub fn spliced_len(entry: &Entry, text: &[u8], names: &Names, changes: &Changes<'_>) -> usize {
    if has_repeats(entry) || names.grid.is_some() {
        let mut out = Vec::new();
        splice(entry, text, names, changes, &mut out);
        return out.len();
    }
    let mut len = 0;
    write(entry, text, changes, &mut len);
    len
}

/// Writes `text` with a missing field inserted.
pub(crate) fn insert(text: &[u8], point: InsertionPoint<'_>, field: Field, value: &str, out: &mut Vec<u8>) {
    let (before, after) = text.split_at(point.at.min(text.len()));
    out.extend_from_slice(before);
    Element { before: point.before, prefix: b"", field, value }.write(out);
    out.extend_from_slice(after);
}

/// Number of bytes that [`insert`] adds for a value of this escaped length.
pub(crate) const fn inserted_len(point: InsertionPoint<'_>, field: Field, value: usize) -> usize {
    point.before.len() + "<></>".len() + 2 * field.name().len() + value
}

fn write(entry: &Entry, text: &[u8], changes: &Changes<'_>, out: &mut impl Sink) {
    let mut patches: Patches<'_> = [None; 6];
    for (field, slot) in Field::ALL.into_iter().zip(&mut patches) {
        *slot = match (changes[field.index()], entry.field(field)) {
            (Some(Change::Set(value)), Some(span)) => Some(replace(text, span, value)),
            (Some(Change::Remove), Some(span)) => Some(remove(text, span)),
            _ => None,
        };
    }
    insert_missing(entry, text, changes, &mut patches);
    // A stable sort keeps insertions at one offset in schema order, after a removal that ends there.
    if patches.iter().flatten().count() > 1 {
        patches.sort_by_key(|patch| patch.map_or((usize::MAX, 0), |patch| (patch.start, patch.end)));
    }
    let mut at = 0;
    for patch in patches.iter().flatten() {
        out.put(text.get(at..patch.start.max(at)).unwrap_or_default());
        patch.text.write(out);
        at = patch.end.max(at);
    }
    out.put(text.get(at..).unwrap_or_default());
}

const fn has_repeats(entry: &Entry) -> bool {
    entry.anomalies.contains(Anomalies::FIELD_TWICE) || entry.anomalies.contains(Anomalies::LOC_TWICE)
}

/// Removes repeated elements of the fields that are removed.
fn remove_repeats(entry: &Entry, names: &Names, changes: &Changes<'_>, (out, start): (&mut Vec<u8>, usize)) {
    if !has_repeats(entry) {
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

fn replace<'a>(text: &'a [u8], span: &FieldSpan, value: &'a str) -> Patch<'a> {
    let (inner_start, inner_end) = (span.inner_start as usize, span.inner_end as usize);
    if span.end == span.inner_end {
        // `<lastmod/>` becomes `<lastmod>value</lastmod>`.
        let (kept, name) = split_empty_tag(text, span.start as usize, span.end as usize);
        return Patch { start: kept, end: span.end as usize, text: Text::Rest { value, name } };
    }
    let text_of = Text::Value(value);
    if span.value_start == span.value_end {
        return Patch { start: inner_start, end: inner_end, text: text_of };
    }
    let (start, end) = (span.value_start as usize, span.value_end as usize);
    if span.text == TextKind::Mixed
        && !value.contains("]]>")
        && !value.contains(char::is_control)
        && let Some(cdata) = markup::next(text, start)
        && cdata.kind == Kind::Cdata
        && (cdata.start, cdata.end) == (start, end)
    {
        // A value that is a single CDATA section stays one; only its content changes.
        let (start, end) = markup::trim(text, start + 9, end - 3);
        return Patch { start, end, text: Text::Raw(value) };
    }
    Patch { start, end, text: text_of }
}

/// The end of the part of an empty tag `<name … />` that is kept when it becomes a start tag, and the name of the tag.
fn split_empty_tag(text: &[u8], start: usize, end: usize) -> (usize, &[u8]) {
    let tag = text.get(start..end).unwrap_or_default();
    let name = markup::next(tag, 0).map(|markup| markup.name(tag)).unwrap_or_default();
    let (_, kept) = markup::trim(tag, 0, tag.strip_suffix(b"/>").unwrap_or(tag).len());
    (start + kept, name)
}

/// Start of the run of whitespace that ends at `end`.
fn blank_before(text: &[u8], end: usize) -> usize {
    let before = text.get(..end).unwrap_or_default();
    before.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1)
}

const fn deletion(start: usize, end: usize) -> Patch<'static> {
    Patch { start, end, text: Text::None }
}

fn remove(text: &[u8], span: &FieldSpan) -> Patch<'static> {
    deletion(blank_before(text, span.start as usize), span.end as usize)
}

/// The prefix of the entry's start tag, with its colon. It may differ from the root's: some programs only prefix the
/// root.
fn own_prefix<'a>(entry: &Entry, text: &'a [u8]) -> &'a [u8] {
    let name = markup::next(text, entry.open as usize).map(|tag| tag.name(text)).unwrap_or_default();
    let colon = name.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0);
    colon.and_then(|colon| name.get(..=colon)).unwrap_or_default()
}

/// Adds patches that insert missing elements, each after the last field before it in schema order.
fn insert_missing<'a>(entry: &Entry, text: &'a [u8], changes: &Changes<'a>, patches: &mut Patches<'a>) {
    let missing = Field::ALL.map(|field| match (changes[field.index()], entry.field(field)) {
        (Some(Change::Set(value)), None) => Some((field, value)),
        _ => None,
    });
    if missing.iter().all(Option::is_none) {
        return;
    }
    let (prefix, before) = (own_prefix(entry, text), separator(entry, text));
    let end = entry.open_end as usize;
    if entry.close == entry.open_end && entry.len == entry.open_end {
        // `<url/>` becomes `<url></url>`.
        let (kept, name) = split_empty_tag(text, entry.open as usize, end);
        patches[4] = Some(Patch { start: kept, end, text: Text::Raw(">") });
        patches[5] = Some(Patch { start: end, end, text: Text::End(name) });
    }
    for (missing, slot) in missing.into_iter().zip(patches) {
        let Some((field, value)) = missing else { continue };
        let earlier = entry.fields[..field.index()].iter().flatten();
        let at = earlier.map(|span| span.end as usize).max().unwrap_or(end);
        *slot = Some(Patch { start: at, end: at, text: Text::Element(Element { before, prefix, field, value }) });
    }
}

/// The whitespace before the fields of the entry: that before `loc`, or else before the next field.
fn separator<'t>(entry: &Entry, text: &'t [u8]) -> &'t [u8] {
    let Some(span) = entry.fields.iter().flatten().next() else { return b"" };
    let end = span.start as usize;
    text.get(blank_before(text, end).max(entry.open_end as usize)..end).unwrap_or_default()
}

/// The layout of the entries of a file, for new entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Whitespace before `<url>`.
    pub before_entry: String,
    /// Whitespace before each field.
    pub before_field: String,
    /// Whitespace before `</url>`.
    pub before_close: String,
    /// The end of the entry: a line break in files without markup.
    pub after: &'static str,
}

impl Default for Layout {
    fn default() -> Self {
        Self { before_entry: "\n  ".into(), before_field: "\n    ".into(), before_close: "\n  ".into(), after: "" }
    }
}

impl Layout {
    /// The layout of an existing entry; `None` if it has no field.
    pub fn of(entry: &Entry, text: &[u8]) -> Option<Self> {
        entry.fields.iter().flatten().next()?;
        let run = |end: u32, from: u32| -> String {
            let start = blank_before(text, end as usize).max(from as usize);
            String::from_utf8_lossy(text.get(start..end as usize).unwrap_or_default()).into_owned()
        };
        Some(Self {
            before_entry: run(entry.open, 0),
            before_field: String::from_utf8_lossy(separator(entry, text)).into_owned(),
            before_close: run(entry.close, entry.open_end),
            after: "",
        })
    }

    /// The layout of new entries in a file without entries.
    pub fn of_file(names: &Names) -> Self {
        let Some(grid) = &names.grid else { return Self::default() };
        let empty = String::new;
        Self { before_entry: empty(), before_field: empty(), before_close: empty(), after: grid.line_end }
    }

    /// The text of an entry with the whitespace that separates it from its neighbours.
    pub fn wrap(&self, names: &Names, element: &str) -> String {
        format!("{}{}{}", self.before_entry, names.trimmed(element), self.after)
    }

    /// The text of a new entry with these values, by [`Field::index`].
    pub fn render(&self, names: &Names, values: &[Option<&str>; 4]) -> String {
        if let Some(grid) = &names.grid {
            return format!("{}{}", grid.render(values), self.after);
        }
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
    use crate::xml::fast_path;
    use crate::xml::names::FileKind;
    use crate::xml::record::Record;
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
    fn a_change_affects_only_its_value() {
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
    fn missing_fields_are_inserted_in_schema_order_even_beside_a_removed_one() {
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
    fn a_new_entry_has_the_layout_of_its_neighbour() {
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
        /// Inserting without parsing the entry gives the same result as a splice.
        #[test]
        fn inserting_a_missing_field_equals_a_splice(
            fields in proptest::collection::vec(any::<bool>(), 3), odd in 0..12_usize, at in 0..5_usize, wanted in 1..4_usize,
        ) {
            let odd = [
                "", " ", "<!-- a -->", "<priority/>", "<priority a=\"b\">1</priority>", "<x:y/>", "<u:priority>1</u:priority>",
                "<changefreq> daily </changefreq>", "<x:y><lastmod>2020</lastmod></x:y>", "text", "<prioritys/>", "<n:y/>",
            ][odd];
            let root = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:x=\"http://www.google.com/schemas/sitemap-image/1.1\" \
                xmlns:u=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
            let root_tag = markup::next(root.as_bytes(), 0).unwrap();
            let names = Names::of_root(root.as_bytes(), &root_tag).unwrap();
            let mut parts = vec!["<loc>a</loc>"];
            let all = ["\n  <lastmod>2026</lastmod>", "<changefreq>daily</changefreq>", "<priority>1</priority>"];
            parts.extend(all.into_iter().zip(&fields).filter(|(_, is_there)| **is_there).map(|(field, _)| field));
            parts.insert(at.min(parts.len()), odd);
            let text = format!("\n <url>\n  {}\n </url>", parts.concat());
            let (text, field) = (text.as_bytes(), Field::ALL[wanted]);
            let entry = Entry::of(text, &names);
            let loc = Record::of(&entry, text).plain_loc();
            if let Some(point) = loc.and_then(|loc| fast_path::insertion_point(text, loc, field, &names)) {
                prop_assert_eq!(entry.value(field, text), None);
                let (mut quick, mut spliced) = (Vec::new(), Vec::new());
                insert(text, point, field, "a&b", &mut quick);
                splice(&entry, text, &names, &only(field, Change::Set("a&b")), &mut spliced);
                prop_assert_eq!(String::from_utf8(quick.clone()), String::from_utf8(spliced));
                prop_assert_eq!(quick.len(), text.len() + inserted_len(point, field, "a&amp;b".len()));
            } else {
                let is_usual = matches!(odd, "" | "<x:y/>") && at > 3 || entry.field(field).is_some();
                prop_assert!(!is_usual || entry.field(field).is_some(), "{}", String::from_utf8_lossy(text));
            }
        }

        /// After a splice, changed fields have the new values and the others their old ones.
        #[test]
        fn changed_values_are_read_back_and_the_rest_is_unchanged(
            parts in proptest::collection::vec(prop_oneof![
                Just("<loc>a</loc>"), Just("<lastmod>b</lastmod>"), Just("<changefreq/>"), Just("<priority> c&amp;d </priority>"),
                Just("<loc><![CDATA[e&f]]></loc>"), Just("\n  "), Just("<!-- g -->"), Just("<image:image><image:loc>h</image:loc></image:image>"),
                Just("<lastmod x='y'/>"), Just("<priority><!-- i -->j</priority>"),
            ], 0..8),
            empty in proptest::bool::weighted(0.1),
            values in proptest::collection::vec((any::<bool>(), value()), 4),
        ) {
            let text = if empty { "\n<url />".to_owned() } else { format!("\n<url>{}</url>", parts.concat()) };
            let names = Names::plain(FileKind::Urlset);
            let before = Entry::of(text.as_bytes(), &names);
            let changes: Vec<Option<Change<'_>>> = values.iter().map(|(touch, value)| {
                touch.then(|| value.as_deref().map_or(Change::Remove, Change::Set))
            }).collect();
            let mut out = Vec::new();
            splice(&before, text.as_bytes(), &names, &changes.clone().try_into().unwrap(), &mut out);
            let changes: Changes<'_> = changes.try_into().unwrap();
            prop_assert_eq!(spliced_len(&before, text.as_bytes(), &names, &changes), out.len());
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
