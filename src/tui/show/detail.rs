//! The current row in detail: decoded, its extensions as a tree, and its XML with the changed parts marked.

use super::super::app::App;
use super::super::draw::panel::Panel;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use crate::document::RowState;
use crate::document::rows::RowId;
use crate::protocol::Field;
use crate::xml::markup;
use crate::xml::tree::{Node, tree};
use std::ops::Range;

/// Lines of the tree and of the XML at most: an entry may hold thousands of extensions.
const LONGEST: usize = 400;

impl App {
    pub(super) fn details(&self) -> Panel {
        let title = Words::new().and(Role::Accent, "details").into();
        let Some(row) = self.grid.row else { return Panel { title, ..Panel::default() } };
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
            lines.extend(words.wrapped(charset, width, 12).into_iter().map(Line::from));
        }
        if let Some(sitemap) = document.sitemap(document.sitemap_of(row)) {
            let number = self.session.number(row);
            let words = Words::dim(format!("{:12}", "file")).and(Role::Text, sitemap.name.to_string());
            lines.push(words.and(Role::Dim, format!("   row {number} of the set")).into());
        }
        let (entry, text) = document.entry(row);
        let text = text.get(entry.open as usize..).unwrap_or_default();
        let extensions = extensions(text, &self.theme.signs.branch);
        if !extensions.is_empty() {
            lines.push(Line::default());
            for words in extensions {
                lines.extend(words.wrapped(charset, width, 6).into_iter().map(Line::from));
            }
        }
        lines.push(Line::default());
        let changed = self.changed_spans(row);
        let before = document.entry(row).1;
        let indent = before.get(..entry.open as usize).and_then(|lead| lead.rsplit(|byte| *byte == b'\n').next());
        let indent = String::from_utf8_lossy(indent.unwrap_or_default()).replace('\t', "  ");
        for words in xml_lines(text, &changed, &indent) {
            lines.extend(words.wrapped(charset, width, 6).into_iter().map(Line::from));
        }
        Panel { title, lines, chosen: None, top: self.detail_top }
    }

    /// Where the entry's XML differs from the saved file, from the entry's start tag on.
    fn changed_spans(&self, row: RowId) -> Vec<Range<usize>> {
        let (entry, text) = self.session.document().entry(row);
        let open = entry.open as usize;
        match self.session.state(row) {
            RowState::Added => std::iter::once(0..text.len().saturating_sub(open)).collect(),
            RowState::Changed => Field::ALL
                .into_iter()
                .filter(|field| self.session.is_changed(row, *field))
                .filter_map(|field| entry.field(field))
                .map(|span| (span.start as usize).saturating_sub(open)..(span.end as usize).saturating_sub(open))
                .collect(),
            RowState::Clean | RowState::Deleted => Vec::new(),
        }
    }
}

/// The elements that are not core fields, as a tree: name, decoded attributes and text.
fn extensions(text: &[u8], (more, last, through): &(&'static str, &'static str, &'static str)) -> Vec<Words> {
    let mut nodes = tree(text);
    let core =
        |node: &Node| node.depth == 0 && Field::from_name(node.name.rsplit(':').next().unwrap_or_default()).is_some();
    nodes.retain(|node| !core(node));
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
        out.push(words);
    }
    out
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

    const ENTRY: &[u8] = b"<url>\n  <loc>https://e.com/a&amp;b</loc>\n  <image:image>\n    <image:loc>https://e.com/1.png</image:loc>\n    <image:title>A &amp; B</image:title>\n  </image:image>\n  <xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://e.com/de\"/>\n  <priority>0.5</priority>\n</url>";

    fn plain(words: &Words) -> String {
        words.pieces().iter().map(|(_, text)| text.as_ref()).collect()
    }

    #[test]
    fn extensions_are_a_tree() {
        let lines: Vec<String> = extensions(ENTRY, &("├ ", "└ ", "│ ")).iter().map(plain).collect();
        assert_eq!(
            lines,
            [
                "image:image",
                "├ image:loc  https://e.com/1.png",
                "└ image:title  A & B",
                "xhtml:link  de  https://e.com/de",
            ]
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
            let _ = (extensions(text, &("", "", "")), xml_lines(text, &[], ""));
        }
    }
}
