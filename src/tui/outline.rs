//! Lays out an entry for the details: its extensions as a tree, its XML as lines.
//!
//! An [`Outline`] holds byte offsets, which one pass over the entry finds (for a large entry, in a job). Only items on
//! the screen are rendered.

use crate::document::rows::RowId;
use crate::document::{Document, RowState};
use crate::protocol::Field;
use crate::protocol::namespace::Namespace;
use crate::session::state::Snapshot;
use crate::tui::theme::Role;
use crate::tui::words::Words;
use crate::words::grouped;
use crate::xml::entry::Extensions;
use crate::xml::escape::{decode, lossy};
use crate::xml::markup::{self, is_blank};
use crate::xml::names::{Meaning, Names, split};
use crate::xml::tree::{Element, Elements};
use std::ops::Range;

/// Maximum number of bytes of XML in one item, before it is wrapped to the width of the screen.
const MAX_PIECE_BYTES: usize = 1 << 12;

/// Maximum number of bytes shown of a name or value; the XML below the tree shows all of them.
const MAX_VALUE_BYTES: usize = 1 << 12;

/// Maximum number of attributes shown of an element.
const MAX_ATTRIBUTES: usize = 32;

/// Maximum depth at which the branches of the tree are drawn; for deeper elements, the depth is shown as a number.
const MAX_BRANCH_DEPTH: u32 = 16;

/// The target of a cursor stop in the details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum Stop {
    /// A field of the row.
    Field(Field),
    /// An extension element: its path, and the paths and values of its text and its attributes.
    Element(String, Vec<(String, String)>),
    /// A line of its XML, which cannot be edited here.
    Text,
}

/// A line of the XML, or a part of a long line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    start: u32,
    end: u32,
    /// Start and end of a token that begins before this piece and ends in or after it.
    token: Option<(u32, u32)>,
    /// Whether it is the beginning of a line.
    is_line: bool,
}

/// The extensions and the XML of an entry.
#[derive(Debug, Default, Clone)]
pub(crate) struct Outline {
    /// The text from the start tag of the entry on.
    text: Vec<u8>,
    elements: Elements,
    pieces: Vec<Piece>,
    changed: Vec<Range<usize>>,
    /// The indentation of the entry in its file.
    indent: String,
    /// Number of bytes of the entry before its start tag.
    lead: u32,
}

/// The sign of a finding and its role.
pub(in crate::tui) type Sign = Option<(Role, &'static str)>;

/// The signs of a tree: a branch, the last branch, a branch that continues.
pub(in crate::tui) type Branches = (&'static str, &'static str, &'static str);

/// The badges of an entry's extensions: `img 3  video  hl 12`.
pub(crate) fn badges(extensions: Extensions) -> String {
    let Extensions { image, video, news, alternate, other } = extensions;
    let mut out = Vec::new();
    for (count, name) in [(image, "img"), (video, "video"), (news, "news"), (alternate, "hl"), (other, "ext")] {
        match count {
            0 => {}
            1 if name != "hl" => out.push(name.to_owned()),
            count => out.push(format!("{name} {count}")),
        }
    }
    out.join("  ")
}

impl Outline {
    /// Parses the entry of a row. `None` if `stop` cancelled it.
    pub(crate) fn of(snapshot: &Snapshot, row: RowId, stop: impl Fn() -> bool) -> Option<Self> {
        let (document, saved) = (&snapshot.document, &snapshot.saved);
        let (entry, text) = document.entry(row);
        let open = entry.open as usize;
        let indent = text.get(..open).and_then(|lead| lead.rsplit(|byte| *byte == b'\n').next());
        let indent = String::from_utf8_lossy(indent.unwrap_or_default()).replace('\t', "  ");
        let changed = changed_spans(document, saved, row);
        let outline = Self::of_text(text.get(open..).unwrap_or_default().to_vec(), changed, indent, stop)?;
        Some(Self { lead: entry.open, ..outline })
    }

    fn of_text(text: Vec<u8>, changed: Vec<Range<usize>>, indent: String, stop: impl Fn() -> bool) -> Option<Self> {
        let is_field = |name: &[u8]| {
            let (_, local) = split(name);
            std::str::from_utf8(local).is_ok_and(|local| Field::from_name(local).is_some())
        };
        let elements = Elements::of(&text, is_field, &stop)?;
        let pieces = pieces(&text, stop)?;
        Some(Self { text, elements, pieces, changed, indent, lead: 0 })
    }

    /// The number of items: first the elements, then the pieces of XML.
    pub(crate) const fn items(&self) -> usize {
        self.elements.len() + self.pieces.len()
    }

    /// Number of bytes of the entry.
    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Whether an item is the first of its kind; a blank line precedes it.
    pub(crate) const fn is_first(&self, item: usize) -> bool {
        item == 0 || item == self.elements.len()
    }

    /// The offset of an element's start tag in the entry, counted from the entry's leading whitespace and comments on;
    /// `None` for XML.
    pub(in crate::tui) fn start_offset(&self, item: usize) -> Option<u32> {
        self.elements.get(item).map(|element| element.start() + self.lead)
    }

    /// The words of an item; `sign`, of its most severe finding, precedes the name of an element.
    pub(in crate::tui) fn words(&self, item: usize, branches: Branches, sign: Sign) -> Words {
        match self.elements.get(item) {
            Some(element) => self.element_words(item, element, branches, sign),
            None => self.xml_words(item - self.elements.len()),
        }
    }

    /// The cursor stop of an item.
    pub(in crate::tui) fn stop(&self, item: usize, names: &Names) -> Stop {
        let Some(element) = self.elements.get(item) else { return Stop::Text };
        let path = self.path(element, names);
        let name = element.name(&self.text);
        let link = name.ends_with(b"link");
        let text = self.elements.text(item, &self.text, usize::MAX);
        let mut values: Vec<(String, String)> = Vec::new();
        let mut attributes = element.attributes(&self.text).peekable();
        if !element.has_children && (!text.is_empty() || attributes.peek().is_none()) {
            values.push((path.clone(), text));
        }
        let written = attributes.filter(|one| !(one.name.starts_with(b"xmlns") || link && one.name == b"rel"));
        values.extend(written.map(|one| (format!("{path}@{}", lossy(one.name)), decode(one.value).into_owned())));
        Stop::Element(path, values)
    }

    fn element_words(&self, number: usize, element: &Element, (more, last, through): Branches, sign: Sign) -> Words {
        let mut words = Words::new();
        if element.depth > MAX_BRANCH_DEPTH {
            words.push(Role::Dim, format!("{} levels down  ", grouped(u64::from(element.depth))));
        } else {
            let mut signs: Vec<&'static str> = Vec::new();
            let mut next = Some(element).filter(|element| element.depth > 0);
            while let Some(level) = next {
                signs.push(match (level.depth == element.depth, level.is_last) {
                    (true, false) => more,
                    (true, true) => last,
                    (false, false) => through,
                    (false, true) => "  ",
                });
                next = self.elements.parent(level).filter(|above| above.depth > 0);
            }
            signs.into_iter().rev().for_each(|sign| words.push(Role::Dim, sign));
        }
        let name = element.name(&self.text);
        if let Some((role, sign)) = sign {
            words.push(role, format!("{sign} "));
        }
        words.push(sign.map_or(Role::Accent, |(role, _)| role), prefix_text(name, MAX_VALUE_BYTES));
        let link = name.ends_with(b"link");
        for (at, attribute) in element.attributes(&self.text).enumerate() {
            if at == MAX_ATTRIBUTES {
                words.push(Role::Dim, "  more attributes are in the XML below");
                break;
            }
            let value = prefix_text(decode(prefix(attribute.value, MAX_VALUE_BYTES)).as_bytes(), MAX_VALUE_BYTES);
            // For a link, the language and the target are sufficient.
            match attribute.name {
                b"rel" if link => {}
                b"hreflang" if link => words.push(Role::Bold, format!("  {value}")),
                b"href" if link => words.push(Role::Text, format!("  {value}")),
                name => {
                    words.push(Role::Dim, format!("  {} ", prefix_text(name, MAX_VALUE_BYTES)));
                    words.push(Role::Text, value);
                }
            }
        }
        let text = self.elements.text(number, &self.text, MAX_VALUE_BYTES);
        if !text.is_empty() {
            words.push(Role::Text, format!("  {text}"));
        }
        if self.elements.is_cut && number + 1 == self.elements.len() {
            words.push(Role::Dim, "   elements after this one are in the XML below only");
        }
        words
    }

    /// The path of an element: local names for known namespaces, with a number if siblings have the same name.
    fn path(&self, element: &Element, names: &Names) -> String {
        let mut steps = Vec::new();
        let mut next = Some(element);
        while let Some(step) = next {
            let name = step.name(&self.text);
            let (prefix, local) = split(name);
            let name = match names.meaning_of_prefix(prefix) {
                Meaning::Extension(Namespace::Other) | Meaning::Core => lossy(name),
                Meaning::Extension(_) => lossy(local),
            };
            let number = if step.is_repeated { format!("[{}]", step.number) } else { String::new() };
            steps.push(format!("{name}{number}"));
            next = self.elements.parent(step);
        }
        steps.reverse();
        steps.join("/")
    }

    /// The words of a piece of XML: tags dimmed, values plain, changed parts bold.
    fn xml_words(&self, number: usize) -> Words {
        let Some(piece) = self.pieces.get(number) else { return Words::new() };
        let (start, end) = (piece.start as usize, piece.end as usize);
        let mut words = Words::new();
        let mut put = |from: usize, to: usize, role: Role| {
            let bytes = self.text.get(from..to).unwrap_or_default();
            let part = String::from_utf8_lossy(bytes).trim_end_matches('\r').replace('\t', "  ");
            let part = match part.strip_prefix(&*self.indent) {
                Some(rest) if piece.is_line && from == start && number > 0 => rest.to_owned(),
                _ => part,
            };
            words.push(role, part);
        };
        let role_at = |at: usize, plain: Role| {
            if self.changed.iter().any(|span| span.contains(&at)) { Role::Changed } else { plain }
        };
        let mut at = start;
        if let Some((token, token_end)) = piece.token {
            let to = (token_end as usize).min(end);
            put(start, to, role_at(token as usize, Role::Dim));
            at = to;
        }
        while at < end {
            let token = markup::next(self.text.get(..end).unwrap_or_default(), at).filter(|token| token.start < end);
            let Some(token) = token else {
                put(at, end, role_at(at, Role::Text));
                break;
            };
            if token.start > at {
                put(at, token.start, role_at(at, Role::Text));
            }
            // A token that continues after this piece would be parsed as a stray `<`.
            let is_open = self
                .pieces
                .get(number + 1)
                .and_then(|next| next.token)
                .is_some_and(|(from, _)| from as usize == token.start);
            at = if is_open { end } else { token.end.min(end) };
            put(token.start, at, role_at(token.start, Role::Dim));
        }
        words
    }
}

/// The first `max_len` bytes.
fn prefix(bytes: &[u8], max_len: usize) -> &[u8] {
    bytes.get(..max_len).unwrap_or(bytes)
}

/// The first `max_len` bytes as text.
fn prefix_text(bytes: &[u8], max_len: usize) -> String {
    lossy(prefix(bytes, max_len)).into_owned()
}

/// Divides XML into lines, and long lines into pieces; blank lines are left out. `None` if `stop` cancelled it.
fn pieces(text: &[u8], stop: impl Fn() -> bool) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut token = markup::next(text, 0);
    let mut line = 0;
    while line < text.len() {
        let end = memchr::memchr(b'\n', text.get(line..).unwrap_or_default()).map_or(text.len(), |at| line + at);
        if !is_blank(text.get(line..end).unwrap_or_default()) {
            let mut start = line;
            while start < end {
                while let Some(known) = token.filter(|known| known.end <= start) {
                    token = markup::next(text, known.end);
                }
                let mut cut = (start + MAX_PIECE_BYTES).min(end);
                while cut < end && cut > start + 1 && text.get(cut).is_some_and(|byte| byte & 0xC0 == 0x80) {
                    cut -= 1;
                }
                let within =
                    token.filter(|known| known.start < start).map(|known| (known.start as u32, known.end as u32));
                pieces.push(Piece { start: start as u32, end: cut as u32, token: within, is_line: start == line });
                start = cut;
                if pieces.len().is_multiple_of(MAX_PIECE_BYTES) && stop() {
                    return None;
                }
            }
        }
        line = end + 1;
    }
    Some(pieces)
}

/// The ranges in which an entry differs from the saved file, relative to its start tag.
fn changed_spans(document: &Document, saved: &Document, row: RowId) -> Vec<Range<usize>> {
    let state = document.compare(saved).row_state(row);
    if matches!(state, RowState::Clean | RowState::Deleted) {
        return Vec::new();
    }
    let (entry, text) = document.entry(row);
    let open = entry.open as usize;
    if state == RowState::Added {
        return std::iter::once(0..text.len().saturating_sub(open)).collect();
    }
    let fields: Vec<Range<usize>> = Field::ALL
        .into_iter()
        .filter(|field| document.compare(saved).field_differs(row, *field))
        .filter_map(|field| entry.field(field))
        .map(|span| (span.start as usize).saturating_sub(open)..(span.end as usize).saturating_sub(open))
        .collect();
    if !fields.is_empty() {
        return fields;
    }
    // No field differs: the range from the first to the last byte that differs.
    let saved = saved.entry_text(row);
    let common_prefix = text.iter().zip(saved.iter()).take_while(|(new, old)| new == old).count();
    let max_suffix = text.len().min(saved.len()) - common_prefix;
    let pairs = text.iter().rev().zip(saved.iter().rev());
    let common_suffix = pairs.take(max_suffix).take_while(|(new, old)| new == old).count();
    std::iter::once(common_prefix.saturating_sub(open)..(text.len() - common_suffix).saturating_sub(open)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;

    const ENTRY: &[u8] = b"<url>\n  <loc>https://e.com/a&amp;b</loc>\n  <image:image>\n    <image:loc>https://e.com/1.png</image:loc>\n    <image:title>A &amp; B</image:title>\n  </image:image>\n  <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>\n  <priority>0.5</priority>\n</url>";

    fn outline(text: &[u8], changed: &[Range<usize>], indent: &str) -> Outline {
        Outline::of_text(text.to_vec(), changed.to_vec(), indent.to_owned(), || false).unwrap()
    }

    fn xml_lines(text: &[u8], changed: &[Range<usize>], indent: &str) -> Vec<Words> {
        let outline = outline(text, changed, indent);
        (outline.elements.len()..outline.items()).map(|item| outline.words(item, ("", "", ""), None)).collect()
    }

    fn plain(words: &Words) -> String {
        words.pieces().iter().map(|(_, text)| text.as_ref()).collect()
    }

    #[test]
    fn extensions_are_a_tree() {
        let names = Names::plain(FileKind::Urlset);
        let outline = outline(ENTRY, &[], "");
        let items = 0..outline.elements.len();
        let lines: Vec<String> =
            items.clone().map(|item| plain(&outline.words(item, ("├ ", "└ ", "│ "), None))).collect();
        assert_eq!(
            lines,
            [
                "image:image",
                "├ image:loc  https://e.com/1.png",
                "└ image:title  A & B",
                "xhtml:link  de  https://e.com/de",
            ]
        );
        let stop = |path: &str, values: &[(&str, &str)]| {
            let values = values.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned()));
            Stop::Element(path.to_owned(), values.collect())
        };
        let stops: Vec<Stop> = items.map(|item| outline.stop(item, &names)).collect();
        assert_eq!(
            stops,
            [
                stop("image", &[]),
                stop("image/loc", &[("image/loc", "https://e.com/1.png")]),
                stop("image/title", &[("image/title", "A & B")]),
                stop("link", &[("link@hreflang", "de"), ("link@href", "https://e.com/de")]),
            ]
        );
    }

    #[test]
    fn paths_number_siblings_of_the_same_name() {
        let text = b"<url><image:image><image:loc>a</image:loc></image:image><image:image/><video:video><video:tag>x</video:tag><video:id>1</video:id><video:tag>y</video:tag></video:video><foo:x/></url>";
        let (outline, names) = (outline(text, &[], ""), Names::plain(FileKind::Urlset));
        let path = |element: &Element| outline.path(element, &names);
        let found: Vec<String> =
            (0..outline.elements.len()).filter_map(|at| outline.elements.get(at).map(path)).collect();
        assert_eq!(
            found,
            ["image[1]", "image[1]/loc", "image[2]", "video", "video/tag[1]", "video/id", "video/tag[2]", "foo:x"]
        );
    }

    #[test]
    fn the_changed_part_of_the_xml_is_highlighted() {
        let start = ENTRY.windows(10).position(|window| window == b"<priority>").unwrap();
        let lines = xml_lines(ENTRY, std::slice::from_ref(&(start..start + 24)), "");
        let marked: String = lines
            .iter()
            .flat_map(Words::pieces)
            .filter(|(role, _)| *role == Role::Changed)
            .map(|(_, text)| text.as_ref())
            .collect();
        assert_eq!(marked, "<priority>0.5</priority>");
        assert_eq!(lines.len(), 9);
        assert_eq!(plain(&lines[1]), "  <loc>https://e.com/a&amp;b</loc>");
    }

    #[test]
    fn the_indentation_of_the_entry_is_removed() {
        let lines = xml_lines(b"<url>\n    <loc>x</loc>\n  </url>", &[], "  ");
        assert_eq!(lines.iter().map(plain).collect::<Vec<_>>(), ["<url>", "  <loc>x</loc>", "</url>"]);
    }

    #[test]
    fn malformed_xml_does_not_panic() {
        for text in [&b"<url><a><b></url>"[..], b"", b"<url", b"</a></b>", b"<url><![CDATA[x]]><a>\xff</a>"] {
            let (outline, names) = (outline(text, &[], ""), Names::plain(FileKind::Urlset));
            for item in 0..outline.items() {
                let _ = (outline.words(item, ("", "", ""), None), outline.stop(item, &names));
            }
        }
    }

    #[test]
    fn badges_are_short() {
        let of = |image, video, news, alternate, other| badges(Extensions { image, video, news, alternate, other });
        assert_eq!(of(0, 0, 0, 0, 0), "");
        assert_eq!(of(3, 1, 0, 12, 0), "img 3  video  hl 12");
        assert_eq!(of(1, 0, 1, 1, 2), "img  news  hl 1  ext 2");
    }
}
