//! Fixes the lines of a URL list: removes empty lines, ends lines with LF.

use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::Edit;
use crate::document::sitemap::{Member, SitemapId};
use crate::xml::markup;
use std::sync::Arc;

/// The edits that fix the lines of a list; none if nothing changes.
pub(in crate::session) fn fix_lines(document: &Document, id: SitemapId, rules: RuleSet) -> Vec<Edit> {
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
    // Before the first line there is at most a byte order mark, after the last one only white space.
    let was = &sitemap.frame;
    let line_end = was.names.grid.as_ref().map_or("\n", |grid| grid.line_end);
    let (head, tail) = (was.head(true), was.tail(true));
    let (new, new_end) = (lines(&tail, blank, ends), if ends { "\n" } else { line_end });
    if (&*new, new_end) != (&*tail, line_end)
        && let Some(frame) = was.with_list_frame(&head, &new, new_end)
    {
        edits.push(Edit::Frame { file: Member::Sitemap(id), frame: Arc::new(frame) });
    }
    edits
}

/// Lines without the blank ones if `blank`, and with LF ends if `ends`.
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
    use crate::files::Options;
    use crate::files::journal::StateSlot;
    use crate::protocol::lastmod::Now;
    use crate::session::Session;
    use crate::session::edit::Change;
    use crate::session::store::journal::fixture;
    use crate::session::store::load;
    use crate::session::store::save;
    use std::path::Path;

    fn open(path: &Path) -> Session {
        load::open(path, Options::default(), Now { seconds: 1_795_000_000, offset: 0 }).unwrap()
    }

    fn codes(session: &Session) -> Vec<&'static str> {
        session.counts().by_rule().into_iter().map(|(rule, _)| rule.code()).collect()
    }

    #[test]
    fn fixing_the_byte_order_mark_of_a_list_changes_nothing_else() {
        let bom = RuleSet::of(&[Rule::ENC_BOM]);
        let both = RuleSet::of(&[Rule::ENC_BOM, Rule::TEXT_LINE_ENDS, Rule::TEXT_BLANK_LINE]);
        let table = [
            ("\u{feff}https://e.com/a\nhttps://e.com/b\n", bom, "https://e.com/a\nhttps://e.com/b\n"),
            // A missing line break at the end and empty lines are kept.
            ("\u{feff}https://e.com/a\r\n\r\nhttps://e.com/b", bom, "https://e.com/a\r\n\r\nhttps://e.com/b"),
            ("\u{feff}\n https://e.com/a\n\n", bom, "\n https://e.com/a\n\n"),
            ("\u{feff}https://e.com/a\r\n\r\nhttps://e.com/b", both, "https://e.com/a\nhttps://e.com/b"),
            // And the other way round.
            (
                "\u{feff}https://e.com/a\r\nhttps://e.com/b\r\n\r\n",
                RuleSet::of(&[Rule::TEXT_LINE_ENDS]),
                "\u{feff}https://e.com/a\nhttps://e.com/b\n\n",
            ),
        ];
        for (stored, rules, expected) in table {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sitemap.txt");
            std::fs::write(&path, stored).unwrap();
            let mut session = open(&path);
            let before = codes(&session);
            assert!(before.contains(&"enc-bom"), "{stored:?}: {before:?}");
            save::now(&mut session, None, false).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), stored);
            let state_slot = || StateSlot::take(&folder.path().join("state"), &path).unwrap();
            fixture::open(&mut session, state_slot());
            let rows: crate::document::rows::RowSet = session.document().live_rows().map(|row| row.0).collect();
            assert!(session.change(&Change::Fix { rows, rules }).unwrap().changed, "{stored:?}");
            let after = codes(&session);
            assert!(after.iter().all(|code| before.contains(code) && !rules.iter().any(|rule| rule.code() == *code)));
            session.undo().unwrap();
            assert_eq!((codes(&session), session.is_modified()), (before, false), "{stored:?}");
            session.redo().unwrap();
            // Replaying the journal after a crash gives the same bytes.
            drop(session);
            let mut session = open(&path);
            let left = fixture::open(&mut session, state_slot()).0.unwrap();
            fixture::replay(&mut session, left).unwrap();
            assert_eq!(codes(&session), after, "{stored:?}");
            assert_eq!(session.document().only_sitemap().unwrap().bytes(), expected.len() as u64, "{stored:?}");
            save::now(&mut session, None, false).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{stored:?}");
            assert_eq!(codes(&open(&path)), after, "{stored:?}");
        }
    }

    #[test]
    fn only_the_requested_fixes_are_applied() {
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
