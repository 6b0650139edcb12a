//! Byte spans in which two versions of a file differ, compared entry by entry and then byte by byte.
//!
//! Invariant: the bytes outside of the spans are the same in both versions, in order.

use super::Document;
use super::index::IndexFile;
use super::rows::RowSet;
use super::sitemap::{Sitemap, SitemapId};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::Range;

/// Ranges of the earlier and the later bytes that differ. One of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Offsets in the earlier bytes.
    pub before: Range<usize>,
    /// Offsets in the later ones.
    pub after: Range<usize>,
}

/// A file in pieces: its head, its entries, its tail.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pieces<'d>(Vec<(u32, Cow<'d, [u8]>)>);

/// Keys of the head and the tail; the keys of entries are far below.
const HEAD: u32 = u32::MAX;
const TAIL: u32 = u32::MAX - 1;

impl<'d> Pieces<'d> {
    /// A sitemap as the document would write it; the keys of entries are their row ids.
    pub(crate) fn of(document: &'d Document, id: SitemapId) -> Self {
        let Some(sitemap) = document.sitemap(id) else { return Self::default() };
        let entries = sitemap.live > 0;
        let mut pieces = vec![(HEAD, Cow::Owned(sitemap.frame.head(entries).to_vec()))];
        let live = sitemap.rows.iter().filter(|row| document.is_live(*row));
        pieces.extend(live.map(|row| (row.0, document.entry_text(row))));
        pieces.push((TAIL, Cow::Owned(sitemap.frame.tail(entries).to_vec())));
        let open_end = usize::from(sitemap.open_end());
        // The line break that a last line has in memory only.
        if let Some((_, last)) = pieces.iter_mut().rev().find(|(_, text)| !text.is_empty() && open_end > 0) {
            let len = last.len().saturating_sub(open_end);
            last.to_mut().truncate(len);
        }
        Self(pieces)
    }

    /// A file of the index before and after; entries with the same URL have the same key.
    pub(crate) fn of_indexes(before: Option<&IndexFile<'d>>, after: Option<&IndexFile<'d>>) -> (Self, Self) {
        let mut keys: HashMap<&str, u32> = HashMap::new();
        let mut pieces = |file: Option<&IndexFile<'d>>| {
            let Some(file) = file else { return Self::default() };
            let mut pieces = vec![(HEAD, file.head())];
            for (entry, child) in file.entries.clone().zip(file.children()) {
                let next = keys.len() as u32;
                let key = *keys.entry(&child.loc).or_insert(next);
                pieces.push((key, Cow::Borrowed(file.entry_text(entry))));
            }
            pieces.push((TAIL, file.tail()));
            Self(pieces)
        };
        (pieces(before), pieces(after))
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let texts: Vec<&[u8]> = self.0.iter().map(|(_, text)| &**text).collect();
        texts.concat()
    }
}

/// The bytes that differ, in order.
pub(crate) fn spans(before: &Pieces<'_>, after: &Pieces<'_>) -> Vec<Span> {
    let mut walk = Walk::default();
    let common = common_pieces(before.0.iter().map(|(key, _)| *key), after.0.iter().map(|(key, _)| *key));
    let (mut old, mut new) = (before.0.iter(), after.0.iter());
    for (from, to) in common {
        let (skipped, common) = skip_to(&mut old, from.1);
        let (added, same) = skip_to(&mut new, to.1);
        walk.differ(skipped, added);
        if let (Some(common), Some(same)) = (common, same) {
            walk.pair(common, same);
        }
    }
    walk.differ(old.map(|(_, text)| text.len()).sum(), new.map(|(_, text)| text.len()).sum());
    walk.finish()
}

/// Advances past `count` pieces and returns their length, with the text of the next piece.
fn skip_to<'p>(pieces: &mut impl Iterator<Item = &'p (u32, Cow<'p, [u8]>)>, count: usize) -> (usize, Option<&'p [u8]>) {
    let skipped = pieces.by_ref().take(count).map(|(_, text)| text.len()).sum();
    (skipped, pieces.next().map(|(_, text)| &**text))
}

/// Position of a common piece, and the number of pieces between it and the previous common one.
type CommonPiece = (usize, usize);

/// Positions of the pieces that both versions have in the same order.
fn common_pieces(
    before: impl Iterator<Item = u32>,
    after: impl Iterator<Item = u32>,
) -> Vec<(CommonPiece, CommonPiece)> {
    let mut positions: HashMap<u32, usize> = HashMap::new();
    for (at, key) in before.enumerate() {
        positions.entry(key).or_insert(at);
    }
    // Each position is used once.
    let common: Vec<(usize, usize)> =
        after.enumerate().filter_map(|(at, key)| Some((positions.remove(&key)?, at))).collect();
    let increasing = longest_increasing(&common.iter().map(|(from, _)| *from).collect::<Vec<_>>());
    let (mut last_from, mut last_to) = (0, 0);
    let mut kept_pieces = Vec::with_capacity(common.len());
    for ((from, to), _) in common.into_iter().zip(0..).filter(|(_, at)| increasing.contains(*at)) {
        kept_pieces.push(((from, from - last_from), (to, to - last_to)));
        (last_from, last_to) = (from + 1, to + 1);
    }
    kept_pieces
}

/// Positions of a longest increasing subsequence.
pub(super) fn longest_increasing(values: &[usize]) -> RowSet {
    if values.is_sorted() {
        return (0..values.len() as u32).collect();
    }
    // For each length, the position of the smallest last value of an increasing subsequence; and each position's
    // predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut predecessors: Vec<Option<usize>> = Vec::with_capacity(values.len());
    let value = |at: usize| values.get(at).copied().unwrap_or_default();
    for at in 0..values.len() {
        let length = ends.partition_point(|end| value(*end) < value(at));
        predecessors.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut subsequence = RowSet::new();
    let mut at = ends.last().copied();
    while let Some(position) = at {
        subsequence.insert(position as u32);
        at = predecessors.get(position).copied().flatten();
    }
    subsequence
}

/// Rows of both versions of a file that were moved relative to the others.
pub(crate) fn moved_rows(
    (document, sitemap): (&Document, &Sitemap),
    (saved, saved_sitemap): (&Document, &Sitemap),
) -> Vec<u32> {
    let saved_positions: HashMap<u32, usize> =
        saved_sitemap.rows.iter().filter(|row| saved.is_live(*row)).zip(0..).map(|(row, at)| (row.0, at)).collect();
    let live = sitemap.rows.iter().filter(|row| document.is_live(*row));
    let (rows, positions): (Vec<u32>, Vec<usize>) =
        live.filter_map(|row| Some((row.0, *saved_positions.get(&row.0)?))).unzip();
    let unmoved = longest_increasing(&positions);
    rows.into_iter().zip(0..).filter(|(_, at)| !unmoved.contains(*at)).map(|(row, _)| row).collect()
}

/// Collects spans over both files.
#[derive(Default)]
pub(super) struct Walk {
    spans: Vec<Span>,
    before: usize,
    after: usize,
}

impl Walk {
    /// Records that the next `before` bytes were replaced by the next `after` bytes.
    pub(super) fn differ(&mut self, before: usize, after: usize) {
        let span = Span { before: self.before..self.before + before, after: self.after..self.after + after };
        (self.before, self.after) = (span.before.end, span.after.end);
        if before == 0 && after == 0 {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.before.end == span.before.start && last.after.end == span.after.start => {
                (last.before.end, last.after.end) = (span.before.end, span.after.end);
            }
            _ => self.spans.push(span),
        }
    }

    /// Records bytes that are the same in both.
    pub(super) fn same(&mut self, len: usize) {
        (self.before, self.after) = (self.before + len, self.after + len);
    }

    /// Records the two versions of one piece; they differ between their common prefix and suffix.
    pub(super) fn pair(&mut self, before: &[u8], after: &[u8]) {
        if before == after {
            return self.same(before.len());
        }
        let prefix = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let max_suffix = before.len().min(after.len()) - prefix;
        let suffix = before.iter().rev().zip(after.iter().rev()).take(max_suffix).take_while(|(a, b)| a == b).count();
        self.same(prefix);
        self.differ(before.len() - prefix - suffix, after.len() - prefix - suffix);
        self.same(suffix);
    }

    pub(super) fn finish(self) -> Vec<Span> {
        self.spans
    }
}

/// The span between the common prefix and suffix of two byte strings.
pub(crate) fn spans_of_bytes(before: &[u8], after: &[u8]) -> Vec<Span> {
    let mut walk = Walk::default();
    walk.pair(before, after);
    walk.finish()
}

/// Number of bytes outside of the spans; `None` if they differ.
pub(crate) fn same_outside(before: &[u8], after: &[u8], spans: &[Span]) -> Option<usize> {
    let (mut from, mut to, mut same) = (0, 0, 0);
    let end = Span { before: before.len()..before.len(), after: after.len()..after.len() };
    for span in spans.iter().chain([&end]) {
        let (one, other) = (before.get(from..span.before.start)?, after.get(to..span.after.start)?);
        if one != other {
            return None;
        }
        same += one.len();
        (from, to) = (span.before.end, span.after.end);
    }
    Some(same)
}
