//! Checks the characters of a file: control characters, encoding, and whether it contains `]]>`.

use crate::progress::Progress;
use crate::xml::defect::Defect;
use crate::xml::parser::Parser;
use crate::xml::wellformed::is_illegal;
use fearless_simd::{Level, dispatch};
use memchr::{memchr, memmem};
use rayon::prelude::*;

/// Number of bytes of a piece. All checks of a piece are done while it is in the CPU cache.
const PIECE: usize = 1 << 20;

/// Minimum number of pieces for one core while there is a file for each core: a thread that waits for a piece would begin
/// with another file.
const MIN_PIECES: usize = 8;

/// Number of bytes after which the compiler's vectorised loop is left.
const CHUNK: usize = 4_096;

/// `]]>` and the characters U+FFFE and U+FFFF have three bytes, so that two of them can be in the next piece.
const OVERLAP: usize = 2;

/// The properties of some bytes. Offsets are those of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Characters {
    /// The first control character that XML 1.0 forbids (production 2).
    control: Option<usize>,
    /// The first of the other characters that it forbids: U+FFFE and U+FFFF.
    noncharacter: Option<usize>,
    has_brackets: bool,
}

impl Characters {
    fn of(bytes: &[u8], from: usize) -> Self {
        let to = (from + PIECE).min(bytes.len());
        let (mut control, mut high) = (None, 0);
        for (index, chunk) in bytes.get(from..to).unwrap_or_default().chunks(CHUNK).enumerate() {
            let (least, all) = dispatch!(Level::new(), _ => least_and_all(chunk));
            high |= all;
            let has_illegal = || chunk.iter().fold(false, |found, byte| found | is_illegal(*byte));
            if least < b' ' && control.is_none() && has_illegal() {
                control = chunk.iter().position(|byte| is_illegal(*byte)).map(|at| from + index * CHUNK + at);
            }
        }
        let bytes = bytes.get(from..(to + OVERLAP).min(bytes.len())).unwrap_or_default();
        let is_noncharacter = |at: &usize| matches!(bytes.get(at + 2), Some(0xBE | 0xBF));
        let noncharacter = if high < 0x80 { None } else { memmem::find_iter(bytes, b"\xEF\xBF").find(is_noncharacter) };
        // Most files have no bracket, and a search for one byte takes a third of the time.
        let has_brackets = memchr(b']', bytes).and_then(|at| memmem::find(bytes.get(at..)?, b"]]>")).is_some();
        Self { control, noncharacter: noncharacter.map(|at| from + at), has_brackets }
    }

    fn join(self, later: Self) -> Self {
        Self {
            control: self.control.or(later.control),
            noncharacter: self.noncharacter.or(later.noncharacter),
            has_brackets: self.has_brackets || later.has_brackets,
        }
    }
}

/// The least byte, and the bits that any byte has. Line feeds and tabs are raised above the control characters, since most files
/// have no others. The loop has no early exit, so that the compiler vectorises it, and no calls, which tests do not inline.
#[allow(clippy::inline_always)] // otherwise it is not compiled for the instructions that `dispatch` selects
#[inline(always)]
fn least_and_all(bytes: &[u8]) -> (u8, u8) {
    let (mut least, mut all) = (u8::MAX, 0);
    for byte in bytes {
        let raised = if *byte == b'\n' || *byte == b'\t' { b' ' } else { *byte };
        least = if raised < least { raised } else { least };
        all |= *byte;
    }
    (least, all)
}

/// Notes control characters that XML 1.0 forbids and bytes that are not UTF-8, and whether there is `]]>`. Returns the
/// bytes as a `str`, if they are UTF-8. A large file is checked on all cores.
pub(super) fn check_characters<'b>(bytes: &'b [u8], parser: &mut Parser, progress: &Progress) -> Option<&'b str> {
    let pieces = bytes.len().div_ceil(PIECE);
    let min_pieces = if progress.has_idle_cores() { 1 } else { MIN_PIECES };
    let survey = || {
        let pieces = (0..pieces).into_par_iter().with_min_len(min_pieces);
        pieces.map(|piece| Characters::of(bytes, piece * PIECE)).reduce(Characters::default, Characters::join)
    };
    let utf8 = || simdutf8::compat::from_utf8(bytes);
    let (found, utf8) = if pieces < 2 * min_pieces { (survey(), utf8()) } else { rayon::join(survey, utf8) };
    if let Some(at) = found.control {
        parser.damage.note(at, Defect::Character);
    }
    parser.damage.has_brackets = found.has_brackets;
    match utf8 {
        Err(error) => parser.damage.note(error.valid_up_to(), Defect::InvalidBytes),
        Ok(_) => {
            if let Some(at) = found.noncharacter {
                parser.damage.note(at, Defect::Character);
            }
        }
    }
    utf8.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The characters of a file in one piece.
    fn model(text: &str) -> Characters {
        let noncharacter = text.char_indices().find(|(_, letter)| matches!(letter, '\u{FFFE}' | '\u{FFFF}'));
        Characters {
            control: text.bytes().position(is_illegal),
            noncharacter: noncharacter.map(|(at, _)| at),
            has_brackets: text.contains("]]>"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn pieces_equal_the_whole(
            marks in prop::collection::vec(
                (0..3_usize, -4..4_i64, prop::sample::select(vec!["]]>", "\u{FFFE}", "\u{FFFF}", "\u{1}", "\u{FFFD}", "é", "]]"])),
                0..4,
            ),
        ) {
            let mut text = "x".repeat(2 * PIECE + 100);
            for (piece, offset, mark) in marks {
                // Near the start, and around the ends of pieces.
                let at = (piece * PIECE + 8).saturating_add_signed(offset as isize - 8 * isize::from(piece > 0));
                if text.is_char_boundary(at) && text.is_char_boundary(at + mark.len()) {
                    text.replace_range(at..at + mark.len(), mark);
                }
            }
            let mut parser = Parser::default();
            prop_assert_eq!(check_characters(text.as_bytes(), &mut parser, &Progress::default()), Some(&*text));
            let expected = model(&text);
            let mut offsets: Vec<usize> = parser.damage.list.iter().map(|damage| damage.at).collect();
            offsets.sort_unstable();
            let mut model: Vec<usize> = expected.control.into_iter().chain(expected.noncharacter).collect();
            model.sort_unstable();
            prop_assert_eq!(offsets, model);
            prop_assert_eq!(parser.damage.has_brackets, expected.has_brackets);
        }
    }

    #[test]
    fn invalid_bytes_are_noted_at_the_first_of_them() {
        let mut bytes = vec![b'x'; PIECE + 10];
        bytes[PIECE + 3] = 0xFF;
        let mut parser = Parser::default();
        assert_eq!(check_characters(&bytes, &mut parser, &Progress::default()), None);
        assert_eq!(
            parser.damage.list.first().map(|damage| (damage.at, damage.kind)),
            Some((PIECE + 3, Defect::InvalidBytes))
        );
    }
}
