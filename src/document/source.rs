//! `Source`: the immutable bytes of one file, with the offsets of its entries and its line numbers.

use super::lines::{Anchor, BYTE_ORDER_MARK, LineColumn, Lines, Mark};
use super::rows::RowId;
use crate::file_bytes::FileBytes;
use crate::progress::{Progress, note_work};
use crate::xml::damage::Damage;
use crate::xml::entry::Entry;
use crate::xml::grid::Grid;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::{self, Scan};
use memchr::memmem;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// One file's uncompressed bytes with the boundaries of its entries.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    bytes: FileBytes,
    starts: Box<[u32]>,
    /// The root's declarations.
    pub names: Names,
    root_end: u32,
    root_start: u32,
    root_is_empty: bool,
    /// Offset of the first text or unknown element directly below the root.
    pub stray: Option<u32>,
    /// Whether an element of another namespace is directly below the root.
    pub has_siblings: bool,
    /// Whether an entry or a field is in no namespace, given the declarations of the root.
    pub has_unbound: bool,
    /// Its damage.
    pub damage: Vec<Damage>,
    /// Whether reading stopped before the end.
    pub cut: bool,
    /// Length of the line break that was added to the last line of a file without markup, so that lines can be moved; 0
    /// if it had one. That many bytes are left out at the end when the file is written.
    pub open_end: u8,
    /// For repaired bytes, positions in the file as stored.
    anchors: Box<[Anchor]>,
    prefixes: PrefixSearches,
}

/// Cached results of prefix searches: the fix of an unused declaration repeats them after each edit, though the bytes
/// never change. Not part of the source's value.
#[derive(Debug, Default)]
struct PrefixSearches {
    found: Mutex<Vec<(Box<[u8]>, bool)>>,
    /// Prefixes that the entries of the file do not mention, those that were not kept included.
    absent: Mutex<Vec<Box<[u8]>>>,
}

/// Maximum number of cached searches; ordinary files declare fewer prefixes.
const MAX_PREFIX_SEARCHES: usize = 64;

impl PartialEq for PrefixSearches {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PrefixSearches {}

/// Number of bytes that one core searches for a prefix at a time.
const SEARCH_PIECE: usize = 1 << 20;

/// Whether a namespace prefix, with its colon, follows a `<` or a blank anywhere in a text. A long text is searched on
/// all cores.
pub(crate) fn mentions_prefix(text: &[u8], prefix: &[u8]) -> bool {
    note_work(text.len());
    let name = [prefix, b":"].concat();
    let is_in_piece = |from: usize| {
        let piece = text.get(from..(from + SEARCH_PIECE + name.len()).min(text.len())).unwrap_or_default();
        let before = |at: usize| (from + at).checked_sub(1).and_then(|before| text.get(before));
        memmem::find_iter(piece, &name).any(|at| matches!(before(at), Some(b'<' | b' ')))
    };
    (0..text.len().div_ceil(SEARCH_PIECE)).into_par_iter().any(|piece| is_in_piece(piece * SEARCH_PIECE))
}

impl Source {
    /// Whether a namespace prefix, with its colon, follows a `<` or a blank anywhere in the bytes of the entries.
    pub(crate) fn mentions_prefix(&self, prefix: &[u8]) -> bool {
        if self.is_known_without(prefix) {
            return false;
        }
        let mut known = self.prefixes.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, is_mentioned)) = known.iter().find(|(name, _)| **name == *prefix) {
            return *is_mentioned;
        }
        let is_mentioned = mentions_prefix(self.run(0, self.len()), prefix);
        if known.len() < MAX_PREFIX_SEARCHES {
            known.push((prefix.into(), is_mentioned));
        }
        is_mentioned
    }

    /// Notes prefixes that no entry of the file mentions, though not all its entries were kept.
    pub(crate) fn note_absent_prefixes(&self, prefixes: impl IntoIterator<Item = Box<[u8]>>) {
        self.prefixes.absent.lock().unwrap_or_else(PoisonError::into_inner).extend(prefixes);
    }

    /// Whether the file is known not to mention a prefix, though not all its entries were kept.
    pub(crate) fn is_known_without(&self, prefix: &[u8]) -> bool {
        let absent = self.prefixes.absent.lock().unwrap_or_else(PoisonError::into_inner);
        absent.iter().any(|absent| **absent == *prefix)
    }

    /// The source of scanned bytes. `None` if the root is not that of a sitemap.
    pub fn new(bytes: impl Into<FileBytes>, mut scan: Scan) -> Option<Self> {
        let mut bytes = bytes.into();
        let open_end = terminate_last_line(&mut bytes, &mut scan);
        Some(Self {
            bytes: bytes.shrunk(),
            starts: scan.starts.into(),
            names: scan.names?,
            root_start: scan.root_tag.0,
            root_end: scan.root_tag.1,
            root_is_empty: scan.root_is_empty,
            stray: scan.stray,
            has_siblings: scan.has_siblings,
            has_unbound: scan.has_unbound,
            damage: scan.damage,
            cut: scan.cancelled,
            open_end,
            anchors: Box::default(),
            prefixes: PrefixSearches::default(),
        })
    }

    /// The source of well-formed bytes; `None` if they are damaged.
    pub fn of_text(bytes: Vec<u8>) -> Option<Self> {
        let scan = scan::scan(&bytes, &mut scan::Ignore, &Progress::default());
        if scan.damage.is_empty() { Self::new(bytes, scan) } else { None }
    }

    /// A source without entries with this head and tail; `None` unless they are well-formed.
    pub fn framed(head: &[u8], tail: &[u8]) -> Option<Self> {
        let mut source = Self::of_text([head, tail].concat())?;
        let is_whole = source.is_empty() && !source.root_is_empty && head.len() >= source.root_end as usize;
        source.starts = [u32::try_from(head.len()).ok()?].into();
        is_whole.then_some(source)
    }

    /// A new frame for the lines of a list: `head` is a byte order mark or empty, `tail` is white space, and `line_end`
    /// is the line break of new lines. A missing line break at the end stays missing. `None` for any other head or
    /// tail.
    pub fn with_list_frame(&self, head: &[u8], tail: &[u8], line_end: &'static str) -> Option<Self> {
        let is_frame = (head.is_empty() || head == BYTE_ORDER_MARK) && tail.iter().all(u8::is_ascii_whitespace);
        is_frame.then(|| Self {
            bytes: [head, tail].concat().into(),
            starts: [head.len() as u32].into(),
            open_end: self.open_end.min(line_end.len() as u8),
            ..Self::of_grid(Grid::list(line_end))
        })
    }

    /// This source with anchors to positions in the file as stored, by ascending offset.
    #[must_use]
    pub fn anchored(self, anchors: Vec<Anchor>) -> Self {
        Self { anchors: anchors.into(), ..self }
    }

    /// Whether its bytes are those of the file as stored.
    pub fn is_as_stored(&self) -> bool {
        self.anchors.is_empty()
    }

    /// This source with the stored lines and columns of its anchors mapped.
    #[must_use]
    pub fn with_mapped_anchors(mut self, position: impl Fn(LineColumn) -> LineColumn) -> Self {
        for (_, stored) in &mut self.anchors {
            *stored = position(*stored);
        }
        self
    }

    /// Only the frame, with the root's declarations.
    #[must_use]
    pub fn without_entries(&self) -> Self {
        let (from, to) = (self.starts.first().copied(), self.starts.last().copied());
        let head = from.and_then(|from| self.bytes.get(..from as usize)).unwrap_or_default();
        let tail = to.and_then(|to| self.bytes.get(to as usize..)).unwrap_or_default();
        Self {
            bytes: [head, tail].concat().into(),
            starts: [head.len() as u32].into(),
            names: self.names.clone(),
            damage: Vec::new(),
            anchors: Box::default(),
            prefixes: PrefixSearches::default(),
            ..*self
        }
    }

    /// Restores the bytes of a source [`without_entries`](Source::without_entries); `starts` are the offsets of its
    /// entries. `None` if they do not match.
    pub fn with_entries(&self, bytes: FileBytes, starts: &[u32]) -> Option<Self> {
        let is_inside = starts.last().is_some_and(|end| *end as usize <= bytes.len()) && starts.is_sorted();
        is_inside.then(|| Self {
            bytes: bytes.shrunk(),
            starts: starts.into(),
            names: self.names.clone(),
            damage: Vec::new(),
            anchors: self.anchors.clone(),
            prefixes: PrefixSearches::default(),
            ..*self
        })
    }

    /// Returns the buffer, so that it can be reused for another file.
    pub fn into_bytes(self) -> FileBytes {
        self.bytes
    }

    /// Joins the entries of several sources between the head and the tail of the first, with anchors to their positions
    /// in the files that they were read from. `None` if the roots declare different namespaces.
    pub fn joined(sources: &[&Self]) -> Option<Self> {
        let first = *sources.first()?;
        if !sources.iter().all(|source| source.names.is_compatible_with(&first.names)) {
            return None;
        }
        let any = sources.iter().any(|source| !source.is_empty());
        let mut bytes = first.head(any).into_owned();
        let head_end = first.starts.first().copied()?;
        let mut anchors: Vec<Anchor> = first.anchors.iter().take_while(|(at, _)| *at < head_end).copied().collect();
        let (mut starts, mut stray) = (Vec::new(), None);
        for source in sources {
            let (from, to) = (*source.starts.first()?, *source.starts.last()?);
            let base = u32::try_from(bytes.len()).ok()?;
            let shifted = |at: u32| (from..to).contains(&at).then(|| at - from + base);
            if from < to {
                anchors.push((base, source.lines().position(from as usize)));
            }
            let source_anchors = source.anchors.iter().filter(|(at, _)| *at > from);
            anchors.extend(source_anchors.filter_map(|(at, stored)| Some((shifted(*at)?, *stored))));
            stray = stray.or_else(|| shifted(source.stray?));
            let (_, entries) = source.starts.split_last()?;
            starts.extend(entries.iter().filter_map(|at| shifted(*at)));
            bytes.extend_from_slice(source.run(0, source.len()));
        }
        starts.push(u32::try_from(bytes.len()).ok()?);
        bytes.extend_from_slice(&first.tail(any));
        u32::try_from(bytes.len()).ok()?;
        Some(Self {
            bytes: bytes.into(),
            starts: starts.into(),
            names: first.names.clone(),
            root_is_empty: first.root_is_empty && !any,
            stray: first.stray.filter(|at| *at < head_end).or(stray),
            has_siblings: sources.iter().any(|source| source.has_siblings),
            has_unbound: sources.iter().any(|source| source.has_unbound),
            damage: Vec::new(),
            anchors: anchors.into(),
            prefixes: PrefixSearches::default(),
            ..*first
        })
    }

    /// A counter of lines and columns of the file as stored.
    pub fn lines(&self) -> Lines<'_> {
        Lines::anchored(&self.bytes, &self.anchors)
    }

    /// Adds positions `step` bytes apart, from which counting lines can continue, up to a byte offset.
    pub fn add_marks(&self, marks: &mut Vec<Mark>, step: usize, end: usize) {
        let last = marks.last();
        let mut lines = last.map_or_else(|| self.lines(), |last| self.lines_from(last));
        let first = last.map_or(0, |last| last.at + step);
        let ends = (first..=end.min(self.bytes.len())).step_by(step);
        marks.extend(ends.map(|at| Mark { at, position: lines.position(at) }));
    }

    /// A line counter that continues from a mark.
    pub fn lines_from(&self, mark: &Mark) -> Lines<'_> {
        self.lines().continued(mark.at, mark.position)
    }

    /// The source of a new file: UTF-8, XML declaration, LF, final newline, default namespace (section 10).
    pub fn blank(kind: FileKind) -> Self {
        match kind {
            FileKind::List => return Self::of_grid(Grid::list("\n")),
            FileKind::Table => return Self::of_grid(Grid::table(b',')),
            FileKind::Urlset | FileKind::Index => {}
        }
        let root = kind.root_name();
        let head = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} xmlns=\"{}\">",
            crate::protocol::namespace::SITEMAP_09
        );
        let root_start = head.find(&format!("<{root}")).unwrap_or_default() as u32;
        let end = head.len() as u32;
        Self {
            bytes: format!("{head}\n</{root}>\n").into_bytes().into(),
            starts: [end].into(),
            names: Names::plain(kind),
            root_start,
            root_end: end,
            root_is_empty: false,
            stray: None,
            has_siblings: false,
            has_unbound: false,
            damage: Vec::new(),
            cut: false,
            open_end: 0,
            anchors: Box::default(),
            prefixes: PrefixSearches::default(),
        }
    }

    /// An empty list, or a table with only its header.
    pub fn of_grid(grid: Grid) -> Self {
        let bytes = grid.blank();
        Self {
            starts: [bytes.len() as u32].into(),
            bytes: bytes.into(),
            names: Names::of_grid(grid),
            root_start: 0,
            root_end: 0,
            root_is_empty: false,
            stray: None,
            has_siblings: false,
            has_unbound: false,
            damage: Vec::new(),
            cut: false,
            open_end: 0,
            anchors: Box::default(),
            prefixes: PrefixSearches::default(),
        }
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Byte offsets of the entries, and of the end of the last one.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of an entry, leading trivia included.
    #[inline]
    pub fn entry_text(&self, entry: usize) -> &[u8] {
        let (Some(start), Some(end)) = (self.starts.get(entry), self.starts.get(entry + 1)) else { return &[] };
        self.bytes.get(*start as usize..*end as usize).unwrap_or_default()
    }

    /// Neighbouring entries `from..to` as one run of bytes.
    pub fn run(&self, from: usize, to: usize) -> &[u8] {
        let (Some(start), Some(end)) = (self.starts.get(from), self.starts.get(to)) else { return &[] };
        self.bytes.get(*start as usize..*end as usize).unwrap_or_default()
    }

    /// Byte offset of an entry's element.
    pub fn offset(&self, entry: usize) -> Option<usize> {
        let text = self.entry_text(entry);
        Some(*self.starts.get(entry)? as usize + Entry::of(text, &self.names).open as usize)
    }

    /// Byte offset of an entry's text.
    pub fn start(&self, entry: usize) -> Option<usize> {
        self.starts.get(entry).map(|start| *start as usize)
    }

    /// Offset of the root's start tag.
    pub const fn root_start(&self) -> usize {
        self.root_start as usize
    }

    /// The root's start tag as written.
    pub fn root_tag(&self) -> &[u8] {
        self.bytes.get(self.root_start as usize..self.root_end as usize).unwrap_or_default()
    }

    /// The text before the entries. `<urlset/>` becomes `<urlset>` if entries follow.
    pub fn head(&self, entries_follow: bool) -> Cow<'_, [u8]> {
        let end = self.starts.first().map_or(self.bytes.len(), |start| *start as usize);
        let head = self.bytes.get(..end).unwrap_or_default();
        if self.root_is_empty && entries_follow {
            let tag = head.strip_suffix(b"/>").unwrap_or(head).trim_ascii_end();
            return Cow::Owned([tag, b">"].concat());
        }
        Cow::Borrowed(head)
    }

    /// The text after the entries.
    pub fn tail(&self, entries_precede: bool) -> Cow<'_, [u8]> {
        let start = self.starts.last().map_or(self.bytes.len(), |start| *start as usize);
        let tail = self.bytes.get(start..).unwrap_or_default();
        if self.root_is_empty && entries_precede {
            let close = format!("\n</{}{}>", self.names.prefix, self.names.kind.root_name());
            return Cow::Owned([close.as_bytes(), tail].concat());
        }
        Cow::Borrowed(tail)
    }
}

/// Adds the line break of the other lines to the last line of a file without markup, if it has none, so that lines can
/// be reordered. Returns its length, 0 if nothing was added.
fn terminate_last_line(bytes: &mut FileBytes, scan: &mut Scan) -> u8 {
    let Some(last) = scan.starts.last_mut().filter(|_| scan.names.as_ref().is_some_and(|names| !names.kind.is_xml()))
    else {
        return 0;
    };
    let open = *last as usize == bytes.len() && !matches!(bytes.last(), None | Some(b'\n' | b'\r'));
    // A list that consists of a byte order mark has no line.
    if open && (scan.starts.len() > 1 || scan.names.as_ref().is_some_and(|names| names.kind == FileKind::Table)) {
        let line_end = common_line_end(bytes);
        bytes.extend_from_slice(line_end);
        if let Some(last) = scan.starts.last_mut() {
            *last += line_end.len() as u32;
        }
        return line_end.len() as u8;
    }
    0
}

/// The line break of all lines; a line feed if they differ or there is none.
fn common_line_end(bytes: &[u8]) -> &'static [u8] {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let returns = memchr::memchr_iter(b'\r', bytes).count();
    match (feeds, returns) {
        (0, 1..) => b"\r",
        (1.., _) if feeds == returns && memchr::memmem::find_iter(bytes, b"\r\n").count() == feeds => b"\r\n",
        _ => b"\n",
    }
}

/// The source and entry that a row was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The number of the source.
    pub source: usize,
    /// The number of the entry in the source.
    pub entry: usize,
    /// The row.
    pub row: RowId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_found_at_the_end_of_a_piece() {
        for at in SEARCH_PIECE - 4..=SEARCH_PIECE + 2 {
            let mut text = vec![b'x'; 2 * SEARCH_PIECE + 7];
            text[at..at + 3].copy_from_slice(b"<a:");
            assert!(mentions_prefix(&text, b"a") && !mentions_prefix(&text, b"b"), "{at}");
            text[at] = b'y';
            assert!(!mentions_prefix(&text, b"a"), "{at}");
        }
    }

    #[test]
    fn counting_lines_from_a_mark_equals_counting_from_the_start() {
        let text =
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\r\n\n<url/>\r<url>é</url>\n</urlset>\n";
        let source = Source::of_text(text.as_bytes().to_vec()).unwrap();
        for step in [1, 2, 7, 1_000] {
            let mut marks = Vec::new();
            for offset in 0..text.len() {
                source.add_marks(&mut marks, step, offset);
                let mark = marks.iter().rfind(|mark| mark.at <= offset).unwrap();
                assert_eq!(
                    source.lines_from(mark).position(offset),
                    source.lines().position(offset),
                    "{step} {offset}"
                );
            }
        }
    }
}
