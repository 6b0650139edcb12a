//! Lines of a text sitemap put right: empty ones out, LF alone at their ends.

use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::sitemap::{Member, SitemapId};
use crate::document::source::Source;
use crate::xml::grid::Grid;
use crate::xml::markup;
use std::sync::Arc;

/// The edits that put the lines of a list right; none where they are.
pub(in crate::session) fn put_right(document: &Document, id: SitemapId, rules: RuleSet) -> Vec<Edit> {
    let (blank, ends) = (rules.contains(Rule::TEXT_BLANK_LINE), rules.contains(Rule::TEXT_LINE_ENDS));
    let Some(sitemap) = document.sitemap(id) else { return Vec::new() };
    let mut edits = Vec::new();
    for row in sitemap.rows.iter().filter(|row| document.is_live(*row)) {
        let old = document.entry_text(row);
        let new = lines(&old, blank, ends);
        if *new != *old
            && let Ok(text) = String::from_utf8(new)
        {
            edits.push(Edit::Raw { row, text: text.into() });
        }
    }
    // What stands before the first line and behind the last one is nothing but blanks.
    let line_end = sitemap.frame.names.grid.as_ref().map_or("\n", |grid| grid.line_end);
    let has_blank = blank && !sitemap.frame.tail(true).is_empty();
    if has_blank || (ends && line_end != "\n") {
        let frame = Arc::new(Source::of_grid(Grid::list(if ends { "\n" } else { line_end })));
        edits.push(Edit::Frame { file: Member::Sitemap(id), frame });
    }
    edits
}

/// A run of lines without those that say nothing, or with other ends.
fn lines(text: &[u8], blank: bool, ends: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        let break_len = match after {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        let (line_end, next) = after.split_at(break_len);
        if !(blank && markup::is_blank(line)) {
            out.extend_from_slice(line);
            out.extend_from_slice(if ends && !line_end.is_empty() { b"\n" } else { line_end });
        }
        rest = next;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_changes() {
        let text = "\r\n \t\nhttps://e.com/a \r\n";
        let table = [
            (true, false, "https://e.com/a \r\n"),
            (false, true, "\n \t\nhttps://e.com/a \n"),
            (true, true, "https://e.com/a \n"),
            (false, false, text),
        ];
        for (blank, ends, expected) in table {
            assert_eq!(String::from_utf8(lines(text.as_bytes(), blank, ends)).unwrap(), expected);
        }
        assert_eq!(lines(b"https://e.com/a\r", false, true), b"https://e.com/a\n");
    }
}
