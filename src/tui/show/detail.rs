//! The current row in detail: decoded, its extensions as a tree, and its XML with the changed parts marked.

use super::super::app::App;
use super::super::draw::panel::Panel;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::document::RowState;
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::protocol::namespace::Namespace;
use crate::protocol::verdict::{Ruling, of_namespace};
use crate::session::explain::verdicts;
use crate::xml::markup;
use crate::xml::names::{FileKind, Meaning, Names, split};
use crate::xml::tree::{Node, tree};
use std::ops::Range;

/// Lines of the tree and of the XML at most: an entry may hold thousands of extensions.
const LONGEST: usize = 400;

/// What a line of the details is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) enum Stop {
    /// A field of the row.
    Field(Field),
    /// An element of its extensions: its path, and what it and its attributes say.
    Element(String, Vec<(String, String)>),
    /// Its XML, to be read.
    Text,
}

/// The lines of the details, and those of them that the cursor stops at.
struct Body {
    lines: Vec<Line>,
    stops: Vec<(usize, Stop)>,
}

impl App {
    pub(super) fn details(&self) -> Panel {
        let title = Words::new().and(Role::Accent, "details").into();
        let Some(row) = self.grid.row else { return Panel { title, ..Panel::default() } };
        let Body { lines, stops } = self.detail_body(row);
        let at = self.detail_at.min(stops.len().saturating_sub(1));
        let chosen = stops.get(at).filter(|_| self.reads_details()).map(|(line, _)| *line);
        Panel { title, lines, chosen, top: 0 }
    }

    /// What the cursor in the details can stop at.
    pub(in crate::tui) fn detail_stops(&self) -> Vec<Stop> {
        let stops = self.grid.row.map(|row| self.detail_body(row).stops).unwrap_or_default();
        stops.into_iter().map(|(_, stop)| stop).collect()
    }

    fn detail_body(&self, row: RowId) -> Body {
        let mut stops: Vec<(usize, Stop)> = Vec::new();
        let areas = self.areas();
        let width = usize::from(areas.detail.width).saturating_sub(6).max(8);
        let mut lines: Vec<Line> = Vec::new();
        let document = self.session.document();
        let charset = self.theme.charset;
        let loc = document.loc(row);
        lines.extend(
            Words::new().and(Role::Bold, loc.into_owned()).wrapped(charset, width, 0).into_iter().map(Line::from),
        );
        lines.push(Line::default());
        for field in Field::ALL {
            let value = self.session.cell(row, field);
            let changed = self.session.is_changed(row, field) && self.session.state(row) == RowState::Changed;
            if field == Field::Loc && !changed {
                continue;
            }
            let role = if changed { Role::Changed } else { Role::Text };
            let mut words = Words::dim(format!("{:12}", field.name()));
            match value {
                Some(value) => words.push(role, value.into_owned()),
                None => words.push(Role::Dim, "none"),
            }
            if changed {
                let was =
                    self.session.saved_cell(row, field).map_or_else(|| "none".to_owned(), std::borrow::Cow::into_owned);
                words.push(Role::Dim, format!("   was {was}"));
            }
            stops.push((lines.len(), Stop::Field(field)));
            lines.extend(words.wrapped(charset, width, 12).into_iter().map(Line::from));
            // Who minds, where somebody does.
            let verdicts = self.session.cell(row, field).and_then(|value| verdicts(field, &value));
            if let Some(verdicts) = verdicts.filter(|all| all.iter().any(|one| one.ruling == Ruling::Rejects)) {
                let words = Words::dim(format!("{:12}", "")).joined(self.verdict_words(&verdicts));
                lines.extend(words.wrapped(charset, width, 12).into_iter().map(Line::from));
            }
        }
        if let Some(sitemap) = document.sitemap(document.sitemap_of(row)) {
            let number = self.session.number(row);
            let words = Words::dim(format!("{:12}", "file")).and(Role::Text, sitemap.name.to_string());
            lines.push(words.and(Role::Dim, format!("   row {number} of the set")).into());
        }
        let uri = document.names(row).uri.as_deref().unwrap_or_default().to_owned();
        let verdicts = of_namespace(&uri);
        if document.names(row).kind == FileKind::Urlset && verdicts.iter().any(|one| one.ruling == Ruling::Rejects) {
            let uri = if uri.is_empty() { "none".to_owned() } else { uri };
            lines.extend(
                Words::dim(format!("{:12}", "namespace"))
                    .and(Role::Text, uri)
                    .wrapped(charset, width, 12)
                    .into_iter()
                    .map(Line::from),
            );
            let words = Words::dim(format!("{:12}", "")).joined(self.verdict_words(&verdicts));
            lines.extend(words.wrapped(charset, width, 12).into_iter().map(Line::from));
        }
        let (entry, text) = document.entry(row);
        let text = text.get(entry.open as usize..).unwrap_or_default();
        let extensions = extensions(text, document.names(row), &self.theme.signs.branch);
        if !extensions.is_empty() {
            lines.push(Line::default());
            for (words, stop) in extensions {
                stops.push((lines.len(), stop));
                lines.extend(words.wrapped(charset, width, 6).into_iter().map(Line::from));
            }
        }
        lines.push(Line::default());
        let changed = self.changed_spans(row);
        let before = document.entry(row).1;
        let indent = before.get(..entry.open as usize).and_then(|lead| lead.rsplit(|byte| *byte == b'\n').next());
        let indent = String::from_utf8_lossy(indent.unwrap_or_default()).replace('\t', "  ");
        for words in xml_lines(text, &changed, &indent) {
            stops.push((lines.len(), Stop::Text));
            lines.extend(words.wrapped(charset, width, 6).into_iter().map(Line::from));
        }
        Body { lines, stops }
    }

    /// Where the entry's XML differs from the saved file, from the entry's start tag on.
    fn changed_spans(&self, row: RowId) -> Vec<Range<usize>> {
        let (entry, text) = self.session.document().entry(row);
        let open = entry.open as usize;
        match self.session.state(row) {
            RowState::Added => std::iter::once(0..text.len().saturating_sub(open)).collect(),
            RowState::Changed => {
                let fields: Vec<Range<usize>> = Field::ALL
                    .into_iter()
                    .filter(|field| self.session.is_changed(row, *field))
                    .filter_map(|field| entry.field(field))
                    .map(|span| (span.start as usize).saturating_sub(open)..(span.end as usize).saturating_sub(open))
                    .collect();
                if !fields.is_empty() {
                    return fields;
                }
                // No field: what stands between the first and the last byte that differ.
                let saved = self.session.view().saved.entry_text(row);
                let head = text.iter().zip(saved.iter()).take_while(|(new, old)| new == old).count();
                let most = text.len().min(saved.len()) - head;
                let pairs = text.iter().rev().zip(saved.iter().rev());
                let tail = pairs.take(most).take_while(|(new, old)| new == old).count();
                std::iter::once(head.saturating_sub(open)..(text.len() - tail).saturating_sub(open)).collect()
            }
            RowState::Clean | RowState::Deleted => Vec::new(),
        }
    }
}

/// The elements that are not core fields, as a tree: name, decoded attributes and text.
fn extensions(
    text: &[u8],
    names: &Names,
    (more, last, through): &(&'static str, &'static str, &'static str),
) -> Vec<(Words, Stop)> {
    let mut nodes = tree(text);
    let core =
        |node: &Node| node.depth == 0 && Field::from_name(node.name.rsplit(':').next().unwrap_or_default()).is_some();
    nodes.retain(|node| !core(node));
    let paths = paths(&nodes, names);
    let mut out = Vec::new();
    for (at, node) in nodes.iter().enumerate().take(LONGEST) {
        let mut words = Words::new();
        for depth in 1..=node.depth {
            // A branch ends where no later sibling of that depth follows under the same parent.
            let later = nodes.get(at + 1..).unwrap_or_default();
            let follows = later.iter().take_while(|other| other.depth >= depth).any(|other| other.depth == depth);
            let sign = match (depth == node.depth, follows) {
                (true, true) => more,
                (true, false) => last,
                (false, true) => through,
                (false, false) => "  ",
            };
            words.push(Role::Dim, sign);
        }
        words.push(Role::Accent, node.name.clone());
        let link = node.name.ends_with("link");
        for (name, value) in &node.attributes {
            // Of a link, the language and the target say everything.
            match name.as_str() {
                "rel" if link => {}
                "hreflang" if link => words.push(Role::Bold, format!("  {value}")),
                "href" if link => words.push(Role::Text, format!("  {value}")),
                _ => {
                    words.push(Role::Dim, format!("  {name} "));
                    words.push(Role::Text, value.clone());
                }
            }
        }
        if !node.text.is_empty() {
            words.push(Role::Text, format!("  {}", node.text));
        }
        let path = paths.get(at).cloned().unwrap_or_default();
        let holds = nodes.get(at + 1).is_some_and(|next| next.depth > node.depth);
        let mut values: Vec<(String, String)> = Vec::new();
        if !holds && (!node.text.is_empty() || node.attributes.is_empty()) {
            values.push((path.clone(), node.text.clone()));
        }
        let written = node.attributes.iter().filter(|(name, _)| !(name.starts_with("xmlns") || link && name == "rel"));
        values.extend(written.map(|(name, value)| (format!("{path}@{name}"), value.clone())));
        out.push((words, Stop::Element(path, values)));
    }
    out
}

/// The path of each element: local names where the namespace is a known one, with a number where there are several.
fn paths(nodes: &[Node], names: &Names) -> Vec<String> {
    let name = |node: &Node| {
        let (prefix, local) = split(node.name.as_bytes());
        match names.meaning_of_prefix(prefix) {
            Meaning::Extension(Namespace::Other) | Meaning::Core => node.name.clone(),
            Meaning::Extension(_) => String::from_utf8_lossy(local).into_owned(),
        }
    };
    let mut paths: Vec<String> = Vec::with_capacity(nodes.len());
    let mut above: Vec<String> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        above.truncate(node.depth);
        // Those beside it: up to the nearest one that is less deep, either way.
        let is_beside = |other: &&Node| other.depth >= node.depth;
        let is_twin = |other: &&Node| other.depth == node.depth && other.name == node.name;
        let before = nodes.get(..at).unwrap_or_default().iter().rev().take_while(is_beside).filter(is_twin).count();
        let after = nodes.get(at + 1..).unwrap_or_default().iter().take_while(is_beside).filter(is_twin).count();
        let above_it = above.last().map(|above| format!("{above}/")).unwrap_or_default();
        let number = if before + after > 0 { format!("[{}]", before + 1) } else { String::new() };
        let path = format!("{above_it}{}{number}", name(node));
        above.push(path.clone());
        paths.push(path);
    }
    paths
}

/// The XML line by line: tags dimmed, values plain, what was changed bold. The indentation that the whole
/// entry has in its file is left out.
fn xml_lines(text: &[u8], changed: &[Range<usize>], indent: &str) -> Vec<Words> {
    let mut lines = Vec::new();
    let mut line = Words::new();
    let mut put = |from: usize, to: usize, role: Role, lines: &mut Vec<Words>| {
        let bytes = text.get(from..to).unwrap_or_default();
        for (number, part) in String::from_utf8_lossy(bytes).split('\n').enumerate() {
            if number > 0 {
                lines.push(std::mem::take(&mut line));
            }
            let part = part.trim_end_matches('\r').replace('\t', "  ");
            let part = if number > 0 { part.strip_prefix(indent).unwrap_or(&part) } else { &part };
            line.push(role, part.to_owned());
        }
    };
    let role_at = |at: usize, plain: Role| {
        if changed.iter().any(|span| span.contains(&at)) { Role::Changed } else { plain }
    };
    let mut at = 0;
    while let Some(token) = markup::next(text, at) {
        put(at, token.start, role_at(at, Role::Text), &mut lines);
        put(token.start, token.end, role_at(token.start, Role::Dim), &mut lines);
        at = token.end;
        if lines.len() > LONGEST {
            break;
        }
    }
    put(at, text.len(), Role::Text, &mut lines);
    lines.push(line);
    lines.retain(|line| !line.pieces().iter().all(|(_, text)| text.trim().is_empty()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::names::FileKind;

    const ENTRY: &[u8] = b"<url>\n  <loc>https://e.com/a&amp;b</loc>\n  <image:image>\n    <image:loc>https://e.com/1.png</image:loc>\n    <image:title>A &amp; B</image:title>\n  </image:image>\n  <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>\n  <priority>0.5</priority>\n</url>";

    fn plain(words: &Words) -> String {
        words.pieces().iter().map(|(_, text)| text.as_ref()).collect()
    }

    #[test]
    fn extensions_are_a_tree() {
        let names = Names::plain(FileKind::Urlset);
        let extensions = extensions(ENTRY, &names, &("├ ", "└ ", "│ "));
        let lines: Vec<String> = extensions.iter().map(|(words, _)| plain(words)).collect();
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
        let stops: Vec<Stop> = extensions.into_iter().map(|(_, stop)| stop).collect();
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
    fn paths_count_where_there_are_several() {
        let text = b"<url><image:image><image:loc>a</image:loc></image:image><image:image/><video:video><video:tag>x</video:tag><video:id>1</video:id><video:tag>y</video:tag></video:video><foo:x/></url>";
        let found = paths(&tree(text), &Names::plain(FileKind::Urlset));
        assert_eq!(
            found,
            ["image[1]", "image[1]/loc", "image[2]", "video", "video/tag[1]", "video/id", "video/tag[2]", "foo:x"]
        );
    }

    #[test]
    fn the_changed_part_of_the_xml_is_marked() {
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
    fn the_xml_stands_at_the_left_edge() {
        let lines = xml_lines(b"<url>\n    <loc>x</loc>\n  </url>", &[], "  ");
        assert_eq!(lines.iter().map(plain).collect::<Vec<_>>(), ["<url>", "  <loc>x</loc>", "</url>"]);
    }

    #[test]
    fn any_bytes_give_something() {
        for text in [&b"<url><a><b></url>"[..], b"", b"<url", b"</a></b>", b"<url><![CDATA[x]]><a>\xff</a>"] {
            let _ = (extensions(text, &Names::plain(FileKind::Urlset), &("", "", "")), xml_lines(text, &[], ""));
        }
    }
}
