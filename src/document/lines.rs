//! Lines and columns of a text.

use crate::progress::note_work;

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
        Self { bytes, at: 0, position: LineColumn::START, anchors: &[] }
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
            *self = Self { anchors: self.anchors, ..Self::new(self.bytes) };
        }
        let anchor = self.anchors.partition_point(|(at, _)| *at as usize <= offset).checked_sub(1);
        if let Some((at, position)) = anchor.and_then(|at| self.anchors.get(at))
            && *at as usize > self.at
        {
            (self.at, self.position) = (*at as usize, *position);
        }
        let offset = offset.min(self.bytes.len());
        let between = self.bytes.get(self.at..offset).unwrap_or_default();
        let mut line_start = None;
        let [returns, feeds] = if between.len() > LONG {
            [b'\r', b'\n'].map(|end| memchr::memchr_iter(end, between).count() as u32)
        } else {
            count(between, |byte| [byte == b'\r', byte == b'\n'])
        };
        if returns == 0 {
            // Fast path: nearly no file contains a CR.
            self.position.line += feeds;
            line_start = memchr::memrchr(b'\n', between).map(|at| at + 1);
        } else {
            for at in memchr::memchr2_iter(b'\n', b'\r', between) {
                // CR LF is one line end; it is counted at its LF.
                let position = self.at + at;
                if self.bytes.get(position) == Some(&b'\r') && self.bytes.get(position + 1) == Some(&b'\n') {
                    continue;
                }
                self.position.line += 1;
                line_start = Some(at + 1);
            }
        }
        if line_start.is_some() {
            self.position.column = 1;
        }
        // Continue from the last position, so that many findings on one 10 MB line take linear time.
        let rest = between.get(line_start.unwrap_or(0)..).unwrap_or_default();
        let rest = if self.at == 0 && line_start.is_none() {
            rest.strip_prefix(BYTE_ORDER_MARK).unwrap_or(rest)
        } else {
            rest
        };
        let [characters] = count(rest, |byte| [byte & 0xC0 != 0x80]);
        self.position.column += characters;
        self.at = offset;
        self.position
    }
}

/// Number of bytes up to which the line breaks of a text are counted in one pass; in a longer one each kind is counted by
/// itself, with vectors as wide as the processor has. Tests have short texts.
const LONG: usize = if cfg!(test) { 16 } else { 1 << 10 };

/// Counts the bytes of some kinds in one pass. Positions are often asked for every few bytes, where a call of `memchr`
/// costs more than it saves.
fn count<const KINDS: usize>(bytes: &[u8], kinds_of: impl Fn(u8) -> [bool; KINDS]) -> [u32; KINDS] {
    let mut counts = [0; KINDS];
    for chunk in bytes.chunks(255) {
        // A count of at most 255 bytes fits into a byte, and the compiler vectorises the loop.
        let mut of_chunk = [0_u8; KINDS];
        for byte in chunk {
            of_chunk.iter_mut().zip(kinds_of(*byte)).for_each(|(count, is_of_kind)| *count += u8::from(is_of_kind));
        }
        counts.iter_mut().zip(of_chunk).for_each(|(count, of_chunk)| *count += u32::from(of_chunk));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_in_any_order_are_those_of_a_plain_count(
            text in "[a\u{e9}]{0,9}[a\r\n\u{e9}]{0,40}[a\n]{0,9}",
            offsets in prop::collection::vec(0..60_usize, 0..12),
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
                let expected = LineColumn { line: ends as u32 + 1, column: before[line_start..].chars().count() as u32 + 1 };
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
