//! Scans one large file on all cores, in halves.
//!
//! The second half begins after an end tag that looks like that of an entry. If an entry of the first half ends exactly
//! there, a sequential scan would be in the same state at that offset, and the result of the second half is used.
//! Otherwise the tag was in a comment, a CDATA section or another element: the first half continues to the end, and the
//! second is discarded. The result always equals that of a sequential scan.

use super::{Scan, Visit, Walk};
use crate::progress::Progress;
use crate::xml::names::Names;
use crate::xml::parser::Parser;
use crate::xml::placed_entries::PlacedCursor;
use std::ops::Range;

/// Minimum size of a piece in bytes while there is a file for each core. Larger files are scanned in pieces even then, so
/// that no core is idle while the last file is scanned.
const MIN_PIECE: usize = 4 << 20;

/// Minimum size of a piece in bytes if cores would be idle otherwise.
const MIN_PIECE_FOR_IDLE_CORES: usize = 1 << 20;

/// Maximum number of pieces of a file for each core: more would share the work more evenly, but what each has found is
/// moved when it is joined to the one before it.
const PIECES_PER_CORE: usize = 4;

/// Minimum size of a piece of a window in bytes: windows for several cores have 512 KiB for each.
pub(super) const MIN_PIECE_OF_WINDOW: usize = 384 << 10;

/// The minimum size of a piece in bytes, of a file of `len` bytes.
pub(super) fn min_piece(progress: &Progress, len: usize) -> usize {
    let piece = if progress.has_idle_cores() { MIN_PIECE_FOR_IDLE_CORES } else { MIN_PIECE };
    piece.max(len / (PIECES_PER_CORE * rayon::current_num_threads()))
}

/// Maximum number of bytes that are searched for the end of an entry.
pub const MAX_SEARCH: usize = 64 << 10;

/// Scans the content of the root, as [`super::body`] does, from the start of `range` on. The length of the range
/// determines the number of pieces.
pub(super) fn body<V: Visit + Send>(
    bytes: &[u8],
    range: Range<usize>,
    names: &Names,
    walk: &mut Walk<'_, V>,
    piece: usize,
) {
    let is_split = walk.stops && range.len() >= 2 * piece && rayon::current_num_threads() > 1;
    let middle = is_split.then(|| next_entry_end(bytes, range.start + range.len() / 2)).flatten();
    let Some((middle, mut fork)) = middle.filter(|middle| *middle < range.end).zip(walk.visitor.fork()) else {
        return super::body(bytes, range.start, names, walk);
    };
    let mut later_scan = Scan { starts: vec![middle as u32], root_tag: walk.scan.root_tag, ..Scan::default() };
    let mut later_parser = Parser::default();
    later_parser.damage.has_brackets = walk.parser.damage.has_brackets;
    let mut later = Walk {
        parser: &mut later_parser,
        scan: &mut later_scan,
        visitor: &mut fork,
        progress: walk.progress,
        stops: true,
        is_later: true,
        counted: (0, 0),
        stop_offsets: walk.stop_offsets.clone(),
        stopped_at: None,
        utf8: walk.utf8,
        placed: PlacedCursor::default(),
    };
    walk.stop_offsets.push(middle);
    rayon::join(
        || body(bytes, range.start..middle, names, walk, piece),
        || body(bytes, middle..range.end, names, &mut later, piece),
    );
    let (rows, done) = later.counted;
    if walk.stopped_at != Some(middle) {
        // The first half continued to the end, or stopped at damage: progress that the second half reported is
        // subtracted.
        walk.progress.uncount(rows, done);
        return;
    }
    walk.stopped_at = later.stopped_at;
    walk.counted = (walk.counted.0 + rows, walk.counted.1 + done);
    walk.scan.starts.extend(later_scan.starts.iter().skip(1));
    walk.scan.stray = walk.scan.stray.or(later_scan.stray);
    walk.scan.wraps |= later_scan.wraps;
    walk.scan.has_siblings |= later_scan.has_siblings;
    walk.parser.has_unbound |= later_parser.has_unbound;
    walk.scan.cancelled |= later_scan.cancelled;
    walk.parser.damage.list.append(&mut later_parser.damage.list);
    walk.visitor.join(fork);
}

/// The offset after the first end tag of an entry at or after `from`.
pub fn next_entry_end(bytes: &[u8], from: usize) -> Option<usize> {
    find_tag(bytes, from, entry_end)
}

/// The offset after the last end tag of an entry; `None` if there is none within the last 64 KiB.
pub fn last_entry_end(bytes: &[u8]) -> Option<usize> {
    let from = bytes.len().saturating_sub(MAX_SEARCH);
    let window = bytes.get(from..)?;
    let end = memchr::memmem::rfind_iter(window, NAME_END).find_map(|at| entry_end(window, at))?;
    Some(from + end)
}

/// The offset of the first start tag of an entry at or after `from`.
pub fn next_entry_start(bytes: &[u8], from: usize) -> Option<usize> {
    find_tag(bytes, from, entry_start)
}

/// The first offset at or after `from` that `of_tag` returns for the place of a [`NAME_END`].
fn find_tag(bytes: &[u8], from: usize, of_tag: fn(&[u8], usize) -> Option<usize>) -> Option<usize> {
    let window = bytes.get(from..(from + MAX_SEARCH).min(bytes.len()))?;
    memchr::memmem::find_iter(window, NAME_END).find_map(|at| of_tag(window, at)).map(|found| from + found)
}

/// The offset of the last start tag of an entry within the last 64 KiB, if there is another one but no end tag of an entry:
/// such a file is damaged.
pub fn last_unclosed_start(bytes: &[u8]) -> Option<usize> {
    let from = bytes.len().saturating_sub(MAX_SEARCH);
    let window = bytes.get(from..)?;
    let mut starts = memchr::memmem::rfind_iter(window, NAME_END).filter_map(|at| entry_start(window, at));
    let last = starts.next()?;
    starts.next().filter(|_| last_entry_end(bytes).is_none()).map(|_| from + last)
}

/// The end of a tag of an entry.
const NAME_END: &[u8] = b"url>";

/// Maximum number of bytes of the tag before [`NAME_END`], so that a search takes linear time for any bytes.
const MAX_PREFIX: usize = 256;

/// The offset after [`NAME_END`] at `at`, if it ends the end tag of an entry.
fn entry_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (_, name) = tag_before(bytes, at)?;
    is_prefix(name.strip_prefix(b"/")?).then_some(at + NAME_END.len())
}

/// The start of the start tag of an entry that [`NAME_END`] at `at` ends.
fn entry_start(bytes: &[u8], at: usize) -> Option<usize> {
    let (start, name) = tag_before(bytes, at)?;
    (is_prefix(name) && !name.contains(&b'/')).then_some(start)
}

/// The start of the tag that [`NAME_END`] at `at` may end, and the bytes between its `<` and that.
fn tag_before(bytes: &[u8], at: usize) -> Option<(usize, &[u8])> {
    let from = at.saturating_sub(MAX_PREFIX);
    let before = bytes.get(from..at).unwrap_or_default();
    let open = memchr::memrchr(b'<', before)?;
    Some((from + open, before.get(open + 1..)?))
}

/// Whether these bytes before a name are a prefix, or none.
fn is_prefix(before: &[u8]) -> bool {
    before.is_empty() || (before.ends_with(b":") && !before.contains(&b' '))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::protocol::Field;
    use crate::xml::entry::Entry;
    use proptest::prelude::*;

    /// Records the visited entries and the number of joins.
    #[derive(Debug, Default, PartialEq, Eq)]
    pub(in crate::xml::scan) struct Seen {
        pub(in crate::xml::scan) entries: Vec<(String, Option<String>)>,
        joined: usize,
    }

    impl Visit for Seen {
        fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
            let loc = entry.value(Field::Loc, text).map(std::borrow::Cow::into_owned);
            self.entries.push((String::from_utf8_lossy(text).into_owned(), loc));
        }

        fn fork(&mut self) -> Option<Self> {
            Some(Self::default())
        }

        fn join(&mut self, later: Self) {
            self.entries.extend(later.entries);
            self.joined += 1 + later.joined;
        }
    }

    /// Scans in pieces of this size; returns the scan, the visited entries and the progress.
    pub(in crate::xml::scan) fn scanned(text: &[u8], piece: usize) -> (Scan, Seen, (u64, u64)) {
        let (mut seen, progress) = (Seen::default(), Progress::default());
        let scan = crate::xml::scan::scan_parallel(text, &mut seen, &progress, piece);
        let reading = progress.read();
        (scan, seen, (reading.rows, reading.bytes_done))
    }

    /// Asserts that a scan in pieces equals a sequential one; returns the number of joins.
    fn check(text: &[u8], piece: usize) -> usize {
        let (whole, pieces) = (scanned(text, usize::MAX / 2), scanned(text, piece));
        let shown = String::from_utf8_lossy(text);
        assert_eq!(whole.0, pieces.0, "{shown}");
        assert_eq!(whole.1.entries, pieces.1.entries, "{shown}");
        assert_eq!(whole.2, pieces.2, "{shown}");
        pieces.1.joined
    }

    #[test]
    fn pieces_are_smaller_if_cores_would_be_idle() {
        let progress = Progress::default();
        assert_eq!(min_piece(&progress, 1), MIN_PIECE_FOR_IDLE_CORES);
        progress.expect(rayon::current_num_threads() as u64, 0);
        assert_eq!(min_piece(&progress, 1), MIN_PIECE);
        let large = 2 * MIN_PIECE * PIECES_PER_CORE * rayon::current_num_threads();
        assert_eq!(min_piece(&progress, large), 2 * MIN_PIECE);
    }

    pub(in crate::xml::scan) const NS: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

    #[test]
    fn pieces_are_joined_and_a_wrong_split_is_discarded() {
        let entry = |number| format!(" <url><loc>https://e.com/{number}</loc></url>\n");
        let entries = (0..40).map(entry).collect::<Vec<String>>().concat();
        let set = format!("<urlset xmlns=\"{NS}\">\n{entries}</urlset>\n");
        assert!(check(set.as_bytes(), 64) > 8);
        let prefixed = set.replace("<url>", "<s:url>").replace("</url>", "</s:url>").replace("<loc>", "<s:loc>");
        let prefixed = prefixed.replace("</loc>", "</s:loc>").replace("urlset", "s:urlset").replace("xmlns", "xmlns:s");
        assert!(check(prefixed.as_bytes(), 64) > 8);
        // The tags in the middle are in a comment, so no entry ends there.
        let entry = "<url><loc>https://e.com/a</loc></url>";
        let commented = format!("<urlset xmlns=\"{NS}\">{entry}<!--{entries}-->{entry}</urlset>");
        assert_eq!(check(commented.as_bytes(), commented.len() / 3), 0);
    }

    /// Pieces of valid and damaged files.
    pub(in crate::xml::scan) fn piece() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            6 => Just("<url><loc>https://e.com/a</loc></url>\n"),
            3 => Just("  <url>\n<loc>https://e.com/b</loc><lastmod>2026-01-01</lastmod></url>"),
            1 => Just("<s:url><s:loc>https://e.com/c</s:loc></s:url>"),
            1 => Just("<!-- </url> -->"),
            1 => Just("<url><!-- </url> --><loc>https://e.com/d</loc></url>"),
            1 => Just("<url><loc><![CDATA[</url>]]></loc></url>"),
            1 => Just("<x:y xmlns:x=\"urn:x\"><url><loc>no</loc></url></x:y>"),
            1 => Just("<?pi </url>?>"),
            1 => Just("text"),
            1 => Just("<url><loc>raw & one</loc></url>"),
            1 => Just("</url>"),
            1 => Just("<url>"),
            1 => Just("</urlset>"),
        ]
    }

    proptest! {
        #[test]
        fn a_scan_in_pieces_equals_a_sequential_one(
            pieces in prop::collection::vec(piece(), 0..30),
            piece in 1..200_usize,
            is_whole in any::<bool>(),
        ) {
            let end = if is_whole { "</urlset>\n" } else { "" };
            let text = format!("<urlset xmlns=\"{NS}\" xmlns:s=\"{NS}\">\n{}{end}", pieces.concat());
            check(text.as_bytes(), piece);
        }

        #[test]
        fn a_resumed_scan_equals_a_sequential_one(
            pieces in prop::collection::vec(piece(), 1..30),
            piece in 1..200_usize,
            resumed_at in 1..30_usize,
        ) {
            let text = format!("<urlset xmlns=\"{NS}\" xmlns:s=\"{NS}\">\n{}</urlset>\n", pieces.concat());
            let (whole, seen, _) = scanned(text.as_bytes(), usize::MAX / 2);
            let entries = resumed_at.min(whole.entries());
            if entries > 0 {
                let before = Scan { starts: whole.starts[..=entries].to_vec(), damage: Vec::new(), ..whole.clone() };
                let (mut rest, progress) = (Seen::default(), Progress::default());
                let resumed = super::super::resume_parallel(text.as_bytes(), before, &mut rest, &progress, piece);
                prop_assert_eq!(resumed, whole);
                prop_assert_eq!(&rest.entries, &seen.entries[entries..]);
            }
        }
    }
}
