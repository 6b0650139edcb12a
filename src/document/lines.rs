//! Lines and columns of a text.

use crate::progress::note_work;
use fearless_simd::prelude::{SimdBase, SimdMask};
use fearless_simd::{Level, Simd, dispatch, u8x32};
use std::ops::Range;

/// The byte order mark of UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line and a column, both counted from 1; columns are characters. A file has at most 4 GiB of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl LineColumn {
    /// The start of a text.
    pub const START: Self = Self::start_of(1);

    /// The start of a line.
    pub const fn start_of(line: u32) -> Self {
        Self { line, column: 1 }
    }

    /// This position of a text that starts at `start` in a longer one, as a position in the longer one.
    #[must_use]
    pub const fn after(self, start: Self) -> Self {
        let columns_before = if self.line == 1 { start.column - 1 } else { 0 };
        Self { line: self.line + start.line - 1, column: self.column + columns_before }
    }
}

/// An offset of repaired bytes, with the line and column of the same position in the file as stored.
pub type Anchor = (u32, LineColumn);

/// Lines and columns of a text, both counted from 1; columns are characters.
#[derive(Debug)]
pub struct Lines<'b> {
    bytes: &'b [u8],
    at: usize,
    position: LineColumn,
    anchors: &'b [Anchor],
    /// Whether the counted bytes are known to be ASCII, so that each is a character.
    is_ascii: bool,
}

/// A byte offset with its line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The byte offset.
    pub at: usize,
    /// Its line and column.
    pub position: LineColumn,
}

impl<'b> Lines<'b> {
    /// A counter at the start of the text.
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0, position: LineColumn::START, anchors: &[], is_ascii: false }
    }

    /// This counter, with the knowledge whether the bytes that it counts are ASCII.
    #[must_use]
    pub const fn with_ascii(self, is_ascii: bool) -> Self {
        Self { is_ascii, ..self }
    }

    /// A counter for repaired bytes, which returns positions in the file as stored.
    pub const fn anchored(bytes: &'b [u8], anchors: &'b [Anchor]) -> Self {
        Self { anchors, ..Self::new(bytes) }
    }

    /// This counter, at a byte offset whose line and column are known.
    #[must_use]
    pub const fn continued(self, at: usize, position: LineColumn) -> Self {
        Self { at, position, ..self }
    }

    /// The byte offset up to which it has counted.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Line and column of a byte offset. Cheap for ascending offsets; a smaller offset restarts the count.
    pub fn position(&mut self, offset: usize) -> LineColumn {
        if offset < self.at {
            note_work(offset);
            *self = Self { at: 0, position: LineColumn::START, ..*self };
        }
        let anchor = self.anchors.partition_point(|(at, _)| *at as usize <= offset).checked_sub(1);
        if let Some((at, position)) = anchor.and_then(|at| self.anchors.get(at))
            && *at as usize > self.at
        {
            (self.at, self.position) = (*at as usize, *position);
        }
        let offset = offset.min(self.bytes.len());
        // Continue from the last position, so that many findings on one 10 MB line take linear time.
        let passed = Passed::in_vectors(self.bytes, self.at..offset, self.is_ascii);
        let Passed { lines, mut characters } = passed.unwrap_or_else(|| Passed::of(self.bytes, self.at..offset));
        if lines > 0 {
            self.position = LineColumn::start_of(self.position.line + lines);
        } else if self.at == 0 && self.bytes.get(..offset).is_some_and(|text| text.starts_with(BYTE_ORDER_MARK)) {
            characters -= 1;
        }
        self.position.column += characters;
        self.at = offset;
        self.position
    }
}

/// A part of a text that a position has moved past.
struct Passed {
    /// Number of line breaks.
    lines: u32,
    /// Number of characters after the last line break.
    characters: u32,
}

impl Passed {
    /// Counts a part of any text.
    fn of(text: &[u8], part: Range<usize>) -> Self {
        let bytes = text.get(part.clone()).unwrap_or_default();
        let is_break = |at: usize| {
            // CR LF is one line break; it is counted at its LF.
            let position = part.start + at;
            text.get(position) != Some(&b'\r') || text.get(position + 1) != Some(&b'\n')
        };
        let (mut lines, mut start) = (0, 0);
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes).filter(|at| is_break(*at)) {
            (lines, start) = (lines + 1, at + 1);
        }
        let rest = bytes.get(start..).unwrap_or_default();
        Self { lines, characters: rest.iter().map(|byte| u32::from(!is_continuation(*byte))).sum() }
    }

    /// [`Self::of`] in vectors. `None` for a text that is shorter than a vector, and for a part that contains CR, which nearly
    /// no file does.
    fn in_vectors(text: &[u8], part: Range<usize>, is_ascii: bool) -> Option<Self> {
        dispatch!(Level::new(), simd => passed_vectors(simd, text, part, is_ascii))
    }
}

/// The length of a vector in bytes.
const VECTOR: usize = 32;

/// The bits of all bytes of a vector.
const ALL_BYTES: u64 = u64::MAX >> (u64::BITS as usize - VECTOR);

/// [`Passed::in_vectors`] in vectors. Only the characters after the last line feed are counted.
#[allow(clippy::inline_always)] // otherwise it is not compiled for the instructions that `dispatch` selects
#[inline(always)]
fn passed_vectors<S: Simd>(simd: S, text: &[u8], part: Range<usize>, is_ascii: bool) -> Option<Passed> {
    let (mut lines, mut line_start, mut returns) = (0, part.start, 0);
    each_vector(simd, text, part.clone(), |bytes, start, in_part| {
        returns |= bytes.simd_eq(b'\r').to_bitmask() & in_part;
        let feeds = bytes.simd_eq(b'\n').to_bitmask() & in_part;
        lines += feeds.count_ones();
        let after_feed = (u64::BITS - feeds.leading_zeros()) as usize;
        line_start = if after_feed > 0 { start + after_feed } else { line_start };
    })?;
    if returns != 0 {
        return None;
    }
    let mut continuations = 0;
    if !is_ascii {
        each_vector(simd, text, line_start..part.end, |bytes, _, in_line| {
            continuations += ((bytes - 0x80).simd_lt(0x40).to_bitmask() & in_line).count_ones();
        })?;
    }
    Some(Passed { lines, characters: (part.end - line_start) as u32 - continuations })
}

/// Calls `visit` with each vector of a part of a text, its offset, and a bit for each of its bytes that is in the part and was in
/// no earlier vector. `None` if the text is shorter than a vector.
#[allow(clippy::inline_always)] // as [`passed_vectors`]
#[inline(always)]
fn each_vector<S: Simd>(
    simd: S,
    text: &[u8],
    part: Range<usize>,
    mut visit: impl FnMut(u8x32<S>, usize, u64),
) -> Option<()> {
    let mut at = part.start;
    for bytes in text.get(part.clone())?.as_chunks::<VECTOR>().0 {
        visit(u8x32::from_slice(simd, bytes), at, ALL_BYTES);
        at += VECTOR;
    }
    if at < part.end {
        // The last vector may end with the text, and begin before `at`.
        let start = at.min(text.len().checked_sub(VECTOR)?);
        let in_part = u64::MAX << (at - start) & !(u64::MAX << (part.end - start));
        visit(u8x32::from_slice(simd, text.get(start..start + VECTOR)?), start, in_part);
    }
    Some(())
}

/// Whether a byte continues a character that began before it.
const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_in_any_order_are_those_of_a_plain_count(
            text in "\u{feff}?[a\u{e9}]{0,9}([a\r\n\u{e9}]{0,40}|[a\n\u{e9}]{0,99})[a\n]{0,9}",
            offsets in prop::collection::vec(0..120_usize, 0..12),
        ) {
            let mut lines = Lines::new(text.as_bytes());
            for offset in offsets {
                let before = text.get(..offset).unwrap_or(&text);
                if !text.is_char_boundary(offset.min(text.len())) {
                    continue;
                }
                // A CR before an LF does not end a line, but the LF does.
                let is_pair = before.ends_with('\r') && text.get(offset..).is_some_and(|rest| rest.starts_with('\n'));
                let ends = before.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() - usize::from(is_pair);
                let start = if is_pair { before.len() - 1 } else { before.len() };
                let line_start = before[..start].rfind(['\r', '\n']).map_or(0, |at| at + 1);
                let line = before[line_start..].trim_start_matches('\u{feff}');
                let expected = LineColumn { line: ends as u32 + 1, column: line.chars().count() as u32 + 1 };
                prop_assert_eq!(lines.position(offset), expected, "{:?} {}", text, offset);
            }
        }
    }

    #[test]
    fn positions_count_all_three_line_breaks_and_characters_as_columns() {
        let text = "\u{feff}a\r\nb\rcé\nd".as_bytes();
        let mut lines = Lines::new(text);
        let at = |needle: &str| memchr::memmem::find(text, needle.as_bytes()).unwrap();
        for (needle, line, column) in [("a", 1, 1), ("b", 2, 1), ("é", 3, 2), ("d", 4, 1), ("b", 2, 1)] {
            assert_eq!(lines.position(at(needle)), LineColumn { line, column }, "{needle}");
        }
    }
}
