//! Copies the undamaged entries of a damaged file, and the undamaged fields of damaged entries, without tokenising them.
//!
//! An entry in which the parser finds damage is repaired token by token. A sound entry after many damaged ones may be
//! repaired so as well. The output is the same, unless a root or another entry is inside it, which the repair moves out and
//! a copy keeps. A budget limits how far entries are examined in vain, so that a file in which every entry seems unclosed is
//! examined at most twice.

use super::super::damage::Damage;
use super::super::entry::{Anomalies, Entry, Extensions, TextKind};
use super::super::fast_path::EntryBytes;
use super::super::markup::{self, Kind, Markup};
use super::super::names;
use super::super::parser::Parser;
use super::super::scan::Scan;
use super::super::wellformed::is_illegal;
use super::patterns::{self, Allowed, Text};
use super::text::{TextContext, first_special};
use super::{Repairer, SoundPrefix, max_pieces};
use crate::protocol::Field;
use crate::xml::defect::{Defect, FoundDefect};
use fearless_simd::prelude::{SimdInt, SimdMask};
use fearless_simd::{Level, Simd, dispatch, u8x64};
use std::ops::Range;

/// Checks whether entries are undamaged.
#[derive(Debug)]
pub(super) struct SoundnessCheck {
    parser: Parser,
    /// No character that XML does not allow is between the last checked range and this offset.
    clean_to: usize,
    /// Whether such a character is at `clean_to`.
    is_next_illegal: bool,
    /// Remaining bytes of examined entries that turn out to be damaged.
    budget: usize,
    /// Number of consecutive entries that were examined and found damaged.
    failures: u32,
    /// Number of entries still to be repaired without examining them, since those before were damaged.
    remaining_skips: u32,
}

/// Maximum number of bytes that are searched for characters that XML does not allow before they are asked for.
const AHEAD: usize = 1 << 16;
/// Number of consecutive damaged entries after which the next ones are not examined.
const FAILURES_BEFORE_SKIP: u32 = 4;
/// Maximum number of entries that are not examined, as a power of two.
const MAX_SKIP_EXPONENT: u32 = 5;

impl SoundnessCheck {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let parser = Parser::of(bytes);
        Self { parser, clean_to: 0, is_next_illegal: false, budget: bytes.len(), failures: 0, remaining_skips: 0 }
    }

    /// A check of a segment of `len` bytes of the same file. Only an entry after the end of another one is examined.
    pub(super) fn of_segment(&self, len: usize, is_after_entry: bool) -> Self {
        let mut parser = Parser::default();
        parser.damage.has_brackets = self.parser.damage.has_brackets;
        let remaining_skips = u32::from(!is_after_entry);
        Self { parser, clean_to: 0, is_next_illegal: false, budget: len, failures: 0, remaining_skips }
    }

    /// Whether the bytes contain `]]>`.
    pub(super) const fn has_brackets(&self) -> bool {
        self.parser.damage.has_brackets
    }

    /// Whether to examine the next entry: rarely if the entries before it were damaged. Counts the skipped ones.
    fn is_next_examined(&mut self) -> bool {
        let is_due = self.remaining_skips == 0;
        self.remaining_skips = self.remaining_skips.saturating_sub(1);
        is_due && self.budget > 0
    }

    /// Records that an examined entry of `len` bytes was damaged.
    fn record_failure(&mut self, len: usize) {
        self.budget = self.budget.saturating_sub(len);
        self.failures += 1;
        if let Some(exponent) = self.failures.checked_sub(FAILURES_BEFORE_SKIP) {
            self.remaining_skips = 1 << exponent.min(MAX_SKIP_EXPONENT);
        }
    }

    /// Records that an entry of `len` bytes that needs these repairs was examined.
    fn record_examined(&mut self, repairs: &[FoundDefect], len: usize) {
        if repairs.iter().all(|repair| is_repairable(repair.kind)) {
            self.failures = 0;
        } else {
            self.record_failure(len);
        }
    }

    /// The offset of the first character in a range that XML does not allow. Ranges are checked in ascending order. A search
    /// goes [`AHEAD`] bytes beyond, since entries are short, but not to the end of the file, since each segment searches.
    pub(super) fn first_illegal(&mut self, bytes: &[u8], range: Range<usize>) -> Option<usize> {
        let (from, to) = (range.start, range.end.min(bytes.len()));
        while self.clean_to < to {
            if self.is_next_illegal && self.clean_to >= from {
                return Some(self.clean_to);
            }
            let start = self.clean_to.max(from);
            let end = (start + AHEAD).min(bytes.len());
            self.clean_to = next_illegal(bytes, start..end);
            self.is_next_illegal = self.clean_to < end;
        }
        None
    }
}

impl SoundPrefix {
    /// The undamaged beginning of a file, from a scan that stopped at the first damage; `None` if a repair cannot start
    /// after it.
    pub fn of(bytes: &[u8], scan: &Scan) -> Option<Self> {
        Self::of_last(bytes, 0, scan)
    }

    /// [`SoundPrefix::of`] for the bytes of a file from an offset on, which contain the last undamaged entry.
    pub fn of_last(bytes: &[u8], from: usize, scan: &Scan) -> Option<Self> {
        let names = scan.names.as_ref()?;
        let [.., start, end] = *scan.starts else { return None };
        if scan.wraps {
            return None;
        }
        let last = bytes.get((start as usize).checked_sub(from)?..(end as usize).checked_sub(from)?)?;
        let last = Entry::of(last, names);
        // Elements after an entry without fields may belong to it.
        let has_fields = Field::ALL.iter().any(|field| last.field(*field).is_some());
        has_fields.then_some(Self { entries: scan.entries() as u32, end: end as usize })
    }
}

/// Whether an entry has nothing but fields with text.
fn has_only_texts(entry: &Entry) -> bool {
    entry.anomalies.is_empty()
        && entry.extensions == Extensions::default()
        && entry.fields.iter().flatten().all(|field| field.text <= TextKind::Escaped)
}

impl Repairer<'_> {
    /// Copies the entry that starts with `token`, if it is sound and no element is open. Returns the end of the entry.
    pub(super) fn copy_sound(&mut self, token: &Markup) -> Option<usize> {
        let is_entry = || matches!(token.kind, Kind::Start | Kind::Empty) && self.names.is_entry_tag(self.bytes, token);
        if !self.elements.stack.is_empty() || self.closed.is_some() || !is_entry() {
            return None;
        }
        let soundness = self.soundness.as_mut()?;
        if !soundness.is_next_examined() {
            return None;
        }
        let known = self.log.repairs.len();
        if let Some(end) = patterns::apply(self, token, Allowed::Sound) {
            let repairs = self.log.repairs.get(known..).unwrap_or_default();
            self.soundness.as_mut()?.record_examined(repairs, end - token.start);
            return Some(end);
        }
        let soundness = self.soundness.as_mut()?;
        soundness.parser.damage.list.clear();
        let outside = EntryBytes { bytes: self.bytes, lead: token.start, names: &self.names };
        let (entry, end) = soundness.parser.entry(&outside, token, b"");
        let illegal = soundness.first_illegal(self.bytes, token.start..end);
        let is_clean = illegal.is_none() && soundness.parser.damage.list.is_empty();
        let values = if is_clean {
            Some([None; 4])
        } else {
            repairable_values(self.bytes, token.start..end, &entry, &soundness.parser.damage.list)
        };
        // Elements after an entry without fields may belong to it.
        let has_fields = Field::ALL.iter().any(|field| entry.field(*field).is_some());
        let Some(values) = values.filter(|_| has_fields) else {
            soundness.record_failure(end - token.start);
            return None;
        };
        soundness.failures = 0;
        // A repair token by token has the same result, but for elements where text is expected.
        if !is_clean && has_only_texts(&entry) && self.recorder.is_sound_entry_due() {
            return None;
        }
        self.empty_entry = None;
        self.anchor(self.out.len(), token.start);
        self.entries += 1;
        self.inside = self.names.within(self.bytes, token);
        self.is_copying_entry = true;
        let mut at = token.start;
        for (from, to, context) in values.into_iter().flatten() {
            self.out.extend_from_slice(self.bytes.get(at..from).unwrap_or_default());
            self.characters(from, to, context);
            at = to;
        }
        self.is_copying_entry = false;
        self.out.extend_from_slice(self.bytes.get(at..end).unwrap_or_default());
        Some(end)
    }

    /// Copies the field of a damaged entry that starts with `token`, if its tags have nothing but its name and its text
    /// needs no repair. Returns the end of the field.
    pub(super) fn copy_sound_field(&mut self, token: &Markup) -> Option<usize> {
        let bytes = self.bytes;
        let [open] = &*self.elements.stack else { return None };
        if self.soundness.is_none() || !open.is_entry() || open.is_implied || token.kind != Kind::Start {
            return None;
        }
        let name = bytes.get(token.start + 1..token.end - 1).filter(|_| token.name_end + 1 == token.end)?;
        let (prefix, local) = names::split(name);
        let is_field = Field::ALL.iter().any(|field| local == field.name().as_bytes());
        if !is_field || !self.inside.as_ref().unwrap_or(&self.names).is_core(prefix) {
            return None;
        }
        let rest = bytes.get(token.end..)?;
        let len = first_special(rest);
        let after = rest.get(len..)?.strip_prefix(b"</")?.strip_prefix(name)?.strip_prefix(b">")?;
        // While the field is open, it counts as a piece.
        let pieces = self.pieces() + 1;
        if pieces > max_pieces(bytes.len()) {
            return None;
        }
        self.peak_pieces = self.peak_pieces.max(pieces);
        self.empty_entry = None;
        if let Some(entry) = self.elements.stack.last_mut() {
            entry.has_child = true;
        }
        let end = bytes.len() - after.len();
        if self.recorder.is_recording() && !markup::is_blank(rest.get(..len)?) {
            let context = if local == Field::Loc.name().as_bytes() { TextContext::Url } else { TextContext::Text };
            let (from, written) = (token.end, self.out.len() + token.end - token.start);
            self.out.extend_from_slice(bytes.get(token.start..from + len)?);
            self.recorder.add_height(2);
            patterns::add_text(self, from..from + len, written..written + len, Text { context, allows_stray: true });
            self.out.extend_from_slice(bytes.get(from + len..end)?);
        } else {
            self.out.extend_from_slice(bytes.get(token.start..end)?);
        }
        Some(end)
    }
}

/// The values with references of the entry at `span`, in file order, each with its start, end and context. `None` if
/// the entry has other damage than raw `&` and illegal characters in these values.
fn repairable_values(
    bytes: &[u8],
    span: Range<usize>,
    entry: &Entry,
    damage: &[Damage],
) -> Option<[Option<(usize, usize, TextContext)>; 4]> {
    let mut values = [None; 4];
    for (value, field) in values.iter_mut().zip(Field::ALL) {
        // Only text with references; an entry with a duplicate field has an anomaly.
        let inner = entry.field(field).filter(|inner| inner.text == TextKind::Escaped);
        let context = if field == Field::Loc { TextContext::Url } else { TextContext::Text };
        *value = inner
            .map(|inner| (span.start + inner.inner_start as usize, span.start + inner.inner_end as usize, context));
    }
    let is_in_value = |at: usize| values.iter().flatten().any(|(from, to, _)| (*from..*to).contains(&at));
    let is_repairable_there = |damage: &Damage| is_repairable(damage.kind) && is_in_value(damage.at);
    if entry.anomalies != Anomalies::default() || !damage.iter().all(is_repairable_there) {
        return None;
    }
    values.sort_unstable_by_key(|value| value.map_or(usize::MAX, |(from, ..)| from));
    // Illegal characters are repaired only within the values.
    let mut outside = span.start;
    for (from, to, _) in values.into_iter().flatten().chain([(span.end, span.end, TextContext::Text)]) {
        if next_illegal(bytes, outside..from) < from {
            return None;
        }
        outside = to;
    }
    Some(values)
}

/// Whether an entry with this damage in its values is copied except for these.
const fn is_repairable(kind: Defect) -> bool {
    matches!(kind, Defect::Ampersand | Defect::Character)
}

/// The offset of the next character in a range that XML 1.0 does not allow (production 2); the end of the range if there
/// is none.
fn next_illegal(bytes: &[u8], range: Range<usize>) -> usize {
    let end = range.end.min(bytes.len());
    let in_vectors =
        dispatch!(Level::new(), simd => next_illegal_in_vectors::<_, u8x64<_>>(simd, bytes, range.start..end));
    match in_vectors {
        Ok(at) => at,
        Err(rest) => (rest..end).find(|at| is_illegal_at(bytes, *at)).unwrap_or(range.end),
    }
}

/// [`next_illegal`] in the whole vectors of a range; an error with the offset behind them if there is none.
#[allow(clippy::inline_always)] // otherwise it is not compiled for the instructions that `dispatch` selects
#[inline(always)]
fn next_illegal_in_vectors<S: Simd, V: SimdInt<S, Element = u8>>(
    simd: S,
    bytes: &[u8],
    range: Range<usize>,
) -> Result<usize, usize> {
    let mut start = range.start;
    while let Some(chunk) = bytes.get(start..start + V::LEN).filter(|_| start + V::LEN <= range.end) {
        let vector = V::from_slice(simd, chunk);
        // Tab and line feed are neighbours. U+FFFE and U+FFFF begin with EF.
        let is_allowed = (vector - b'\t').simd_lt(2) | vector.simd_eq(b'\r');
        let mut suspects = ((vector.simd_lt(b' ') & !is_allowed) | vector.simd_eq(0xEF)).to_bitmask();
        while suspects != 0 {
            let at = start + suspects.trailing_zeros() as usize;
            if is_illegal_at(bytes, at) {
                return Ok(at);
            }
            suspects &= suspects - 1;
        }
        start += V::LEN;
    }
    Err(start)
}

/// Whether a character that XML 1.0 does not allow begins at an offset.
fn is_illegal_at(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at..) {
        Some([0xEF, 0xBF, 0xBE | 0xBF, ..]) => true,
        Some([byte, ..]) => is_illegal(*byte),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_illegal_character_is_that_of_a_search_by_character(
            text in "[a-c\\t\\n\\r]{0,70}[a\u{1}\u{1f}\u{FFFD}\u{FFFE}\u{FFFF}\u{F000}]{0,3}[a-c]{0,70}", from in 0..60_usize, len in 0..150_usize,
        ) {
            let from = from.min(text.len());
            let to = (from + len).min(text.len());
            let is_bad = |letter: char| letter < ' ' && !matches!(letter, '\t' | '\n' | '\r') || letter >= '\u{FFFE}';
            let mut found = text.char_indices().filter(|(at, letter)| (from..to).contains(at) && is_bad(*letter));
            prop_assert_eq!(next_illegal(text.as_bytes(), from..to), found.next().map_or(to, |(at, _)| at));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn illegal_characters_are_found_in_consecutive_ranges(
            marks in prop::collection::vec((0..200_000_usize, prop::sample::select(vec!["\u{1}", "\u{FFFE}", "é"])), 0..6),
            lens in prop::collection::vec(1..90_000_usize, 1..6),
        ) {
            let mut text = "x".repeat(200_000);
            for (at, mark) in marks {
                if text.is_char_boundary(at) && text.is_char_boundary(at + mark.len()) {
                    text.replace_range(at..at + mark.len(), mark);
                }
            }
            let bytes = text.as_bytes();
            let (mut check, mut from) = (SoundnessCheck::new(bytes), 0);
            for len in lens {
                let to = (from + len).min(bytes.len());
                let is_bad = |(at, letter): (usize, char)| {
                    (from..to).contains(&at) && matches!(letter, '\u{1}' | '\u{FFFE}')
                };
                prop_assert_eq!(check.first_illegal(bytes, from..to), text.char_indices().find(|found| is_bad(*found)).map(|(at, _)| at));
                prop_assert!(check.clean_to <= to + AHEAD);
                from = to;
            }
            prop_assert_eq!(check.first_illegal(bytes, bytes.len()..bytes.len() + 1), None);
        }
    }
}
