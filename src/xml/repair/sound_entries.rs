//! Copies the undamaged entries of a damaged file without tokenising them.
//!
//! An entry in which the parser finds damage is repaired token by token, and so may be a sound one among many damaged:
//! both write the same bytes. Looking ahead is limited by a budget, so that a file in which every entry seems unclosed
//! is examined at most twice.

use super::super::damage::Damage;
use super::super::entry::{Anomalies, Entry, TextKind};
use super::super::fast_path::EntryBytes;
use super::super::markup::{Kind, Markup};
use super::super::parser::Parser;
use super::super::scan::Scan;
use super::text::{TextContext, is_illegal};
use super::{Repairer, SoundPrefix};
use crate::protocol::Field;
use crate::xml::defect::Defect;
use std::ops::{Range, RangeInclusive};

/// Checks whether entries are undamaged.
#[derive(Debug)]
pub(super) struct SoundnessCheck {
    parser: Parser,
    /// The offset of the next character that XML does not allow, after the last offset that was checked.
    illegal: usize,
    /// Remaining bytes of entries that may turn out damaged after they were examined.
    budget: usize,
    /// Consecutive entries that were examined and found damaged.
    failures: u32,
    /// Number of entries to repair token by token without examining them, since those before were damaged.
    skipped: u32,
}

/// Consecutive damaged entries before some are not examined.
const PATIENCE: u32 = 4;
/// Maximum number of entries that are not examined, as a power of two.
const LONGEST_SKIP: u32 = 5;

impl SoundnessCheck {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let parser = Parser::of(bytes);
        Self { parser, illegal: 0, budget: bytes.len(), failures: 0, skipped: 0 }
    }

    /// Whether to examine the next entry: seldom, if all entries before it were damaged.
    fn is_worth_checking(&mut self) -> bool {
        let is_next = self.skipped == 0;
        self.skipped = self.skipped.saturating_sub(1);
        is_next && self.budget > 0
    }

    /// Records that an examined entry was damaged.
    fn fail(&mut self, len: usize) {
        self.budget = self.budget.saturating_sub(len);
        self.failures += 1;
        if let Some(exponent) = self.failures.checked_sub(PATIENCE) {
            self.skipped = 1 << exponent.min(LONGEST_SKIP);
        }
    }

    /// Whether a character that XML does not allow is in a range.
    fn has_illegal(&mut self, bytes: &[u8], from: usize, to: usize) -> bool {
        if self.illegal < from || self.illegal == 0 {
            self.illegal = next_illegal(bytes, from);
        }
        self.illegal < to
    }
}

impl SoundPrefix {
    /// The sound entries with which a damaged file begins, as a scan that stopped at its first damage saw them; `None`
    /// if a repair cannot begin after them.
    pub fn of(bytes: &[u8], scan: &Scan) -> Option<Self> {
        let names = scan.names.as_ref()?;
        let [.., start, end] = *scan.starts else { return None };
        if scan.wraps {
            return None;
        }
        let last = Entry::of(bytes.get(start as usize..end as usize)?, names);
        // Elements after an entry without fields may belong to it.
        let has_fields = Field::ALL.iter().any(|field| last.field(*field).is_some());
        has_fields.then_some(Self { entries: scan.entries() as u32, end: end as usize })
    }
}

impl Repairer<'_> {
    /// Copies the entry that a tag begins, if no element is open and it is sound; the offset after it.
    pub(super) fn copy_sound(&mut self, token: &Markup) -> Option<usize> {
        let is_entry = || matches!(token.kind, Kind::Start | Kind::Empty) && self.names.is_entry_tag(self.bytes, token);
        if !self.elements.stack.is_empty() || self.closed.is_some() || !is_entry() {
            return None;
        }
        let soundness = self.soundness.as_mut()?;
        if !soundness.is_worth_checking() {
            return None;
        }
        soundness.parser.damage.list.clear();
        let outside = EntryBytes { bytes: self.bytes, lead: token.start, names: &self.names };
        let (entry, end) = soundness.parser.entry(&outside, token, b"");
        let is_clean = !soundness.has_illegal(self.bytes, token.start, end) && soundness.parser.damage.list.is_empty();
        let values = if is_clean {
            Some([None; 4])
        } else {
            damaged_values(self.bytes, token.start..end, &entry, &soundness.parser.damage.list)
        };
        // What follows an entry without anything in it may belong into it.
        let has_fields = Field::ALL.iter().any(|field| entry.field(*field).is_some());
        let Some(values) = values.filter(|_| has_fields) else {
            soundness.fail(end - token.start);
            return None;
        };
        soundness.failures = 0;
        self.empty_entry = None;
        self.anchor(token.start);
        self.entries += 1;
        self.inside = self.names.within(self.bytes, token);
        let mut at = token.start;
        for (from, to, place) in values.into_iter().flatten() {
            self.out.extend_from_slice(self.bytes.get(at..from).unwrap_or_default());
            self.within_entry(|repairer| repairer.characters(from, to, place));
            at = to;
        }
        self.out.extend_from_slice(self.bytes.get(at..end).unwrap_or_default());
        Some(end)
    }
}

/// The values of the entry at `span`, in the order of the file, each with its start, end and context. `None` if the
/// entry is damaged by more than a raw `&` or characters that XML cannot hold in these values.
fn damaged_values(
    bytes: &[u8],
    span: Range<usize>,
    entry: &Entry,
    damage: &[Damage],
) -> Option<[Option<(usize, usize, TextContext)>; 4]> {
    let mut values = [None; 4];
    for (value, field) in values.iter_mut().zip(Field::ALL) {
        // Text alone, and nothing of the kind is twice.
        let inner = entry.field(field).filter(|inner| inner.text == TextKind::Escaped);
        let place = if field == Field::Loc { TextContext::Url } else { TextContext::Text };
        *value =
            inner.map(|inner| (span.start + inner.inner_start as usize, span.start + inner.inner_end as usize, place));
    }
    let is_in = |at: usize| values.iter().flatten().any(|(from, to, _)| (*from..*to).contains(&at));
    let is_meant = |damage: &Damage| matches!(damage.kind, Defect::Ampersand | Defect::Character) && is_in(damage.at);
    if entry.anomalies != Anomalies::default() || !damage.iter().all(is_meant) {
        return None;
    }
    values.sort_unstable_by_key(|value| value.map_or(usize::MAX, |(from, ..)| from));
    // Characters that XML cannot hold are repaired within the values only.
    let mut outside = span.start;
    for (from, to, _) in values.into_iter().flatten().chain([(span.end, span.end, TextContext::Text)]) {
        if next_illegal(bytes.get(..from)?, outside) < from {
            return None;
        }
        outside = to;
    }
    Some(values)
}

/// Whether a byte is, or may begin, a character that XML cannot hold.
const fn may_be_illegal(byte: u8) -> bool {
    is_illegal(byte) || byte == 0xEF
}

/// Where the next character stands that XML 1.0 cannot hold (production 2); the end where there is none.
fn next_illegal(bytes: &[u8], from: usize) -> usize {
    // The chunks double: where every entry has such a character, the next one is near.
    const CHUNKS: RangeInclusive<usize> = 128..=4_096;
    let (mut at, mut len) = (from, *CHUNKS.start());
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let chunk = rest.get(..len).unwrap_or(rest);
        // The whole chunk, no early exit: that is what the compiler vectorises.
        if chunk.iter().fold(false, |found, byte| found | may_be_illegal(*byte)) {
            let is_it = |(offset, byte): (usize, &u8)| {
                is_illegal(*byte)
                    || (*byte == 0xEF
                        && matches!(bytes.get(at + offset..at + offset + 3), Some([0xEF, 0xBF, 0xBE | 0xBF])))
            };
            if let Some(offset) = chunk.iter().enumerate().position(is_it) {
                return at + offset;
            }
        }
        at += chunk.len();
        len = (2 * len).min(*CHUNKS.end());
    }
    bytes.len()
}
