//! Makes frames for new files: head and tail of an existing file without its comments.

use super::source::Source;
use crate::progress::Progress;
use crate::xml::grid::Grid;
use crate::xml::markup::{self, Kind};
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Ignore};

/// A source without entries that has the declaration, instructions and root tag of another, because entries depend on
/// the declarations of their root. Comments and a byte order mark are left out: they were written for that one file.
pub(crate) fn part_frame(frame: &Source) -> Source {
    if let Some(grid) = &frame.names.grid {
        return Source::of_grid(Grid::clone(grid));
    }
    let prolog = frame.bytes().get(..frame.root_start()).unwrap_or_default();
    let mut bytes = without_comments(prolog.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(prolog));
    let tag = frame.root_tag();
    match tag.strip_suffix(b"/>") {
        Some(tag) => {
            bytes.extend_from_slice(tag.trim_ascii_end());
            bytes.push(b'>');
        }
        None => bytes.extend_from_slice(tag),
    }
    bytes.extend_from_slice(&closing(frame));
    let scan = scan::scan(&bytes, &mut Ignore, &Progress::default());
    Source::new(bytes, scan).unwrap_or_else(|| Source::blank(FileKind::Urlset))
}

/// The root's end tag with the whitespace around it.
fn closing(frame: &Source) -> Vec<u8> {
    let tail = frame.tail(true);
    let mut at = 0;
    while let Some(tag) = markup::next(&tail, at) {
        if tag.kind == Kind::End && frame.names.is_root(tag.name(&tail)) {
            let before = tail.get(..tag.start).unwrap_or_default();
            let blank = before.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1);
            let rest = tail.get(tag.end..).unwrap_or_default();
            let end = rest.iter().position(|byte| !markup::is_space(*byte)).unwrap_or(rest.len());
            return tail.get(blank..tag.end + end).unwrap_or_default().to_vec();
        }
        at = tag.end;
    }
    format!("\n</{}{}>\n", frame.names.prefix, frame.names.kind.root_name()).into_bytes()
}

/// The bytes without comments and the whitespace before them.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(token) = markup::next(bytes, at) {
        out.extend_from_slice(bytes.get(at..token.start).unwrap_or_default());
        if token.kind == Kind::Comment {
            out.truncate(out.iter().rposition(|byte| !markup::is_space(*byte)).map_or(0, |last| last + 1));
        } else {
            out.extend_from_slice(bytes.get(token.start..token.end).unwrap_or_default());
        }
        at = token.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out
}

/// The namespace declarations of a root: attribute name and raw value.
pub(super) fn declarations(names: &Names) -> impl Iterator<Item = (&str, &str)> {
    let attributes = names.attributes.iter().map(|(name, value)| (&**name, &**value));
    attributes.filter(|(name, _)| name.starts_with("xmlns:"))
}
