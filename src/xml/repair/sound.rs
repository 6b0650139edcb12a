//! Entries of a damaged file that are sound: they are found by the scanner's own walk and copied whole.
//!
//! It decides nothing by itself: an entry in which the walk finds damage is left to the tokens. Looking ahead is paid
//! for from a budget, so that a file in which every entry looks endless costs no more than twice its length.

use super::super::markup::Markup;
use super::super::parser::Parser;
use super::Mender;
use super::text::is_illegal;
use crate::protocol::Field;

/// Looks whether entries are sound.
#[derive(Debug)]
pub(super) struct Judge {
    parser: Parser,
    /// Where the next character stands that XML cannot hold, from the place on that was asked for last.
    illegal: usize,
    /// Bytes that may still be looked at in vain.
    budget: usize,
}

impl Judge {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let parser = Parser::of(bytes);
        Self { parser, illegal: 0, budget: bytes.len() }
    }

    /// Whether a character that XML cannot hold stands between two places.
    fn has_illegal(&mut self, bytes: &[u8], from: usize, to: usize) -> bool {
        if self.illegal < from || self.illegal == 0 {
            self.illegal = next_illegal(bytes, from);
        }
        self.illegal < to
    }
}

impl Mender<'_> {
    /// Copies the entry that a tag begins, if no element is open and it is sound; the offset after it.
    pub(super) fn copy_sound(&mut self, token: &Markup) -> Option<usize> {
        if !self.stack.is_empty() || self.closed.is_some() || !self.names.is_entry_tag(self.bytes, token) {
            return None;
        }
        let judge = self.judge.as_mut().filter(|judge| judge.budget > 0)?;
        judge.parser.damage.clear();
        let (entry, end) = judge.parser.entry(self.bytes, token.start, token, &self.names);
        let is_sound = judge.parser.damage.is_empty() && !judge.has_illegal(self.bytes, token.start, end);
        // What follows an entry without anything in it may belong into it.
        if !is_sound || Field::ALL.iter().all(|field| entry.field(*field).is_none()) {
            judge.budget = judge.budget.saturating_sub(end - token.start);
            return None;
        }
        self.hollow = None;
        self.anchor(token.start);
        self.entries += 1;
        self.inside = self.names.within(self.bytes, token);
        self.out.extend_from_slice(self.bytes.get(token.start..end).unwrap_or_default());
        Some(end)
    }
}

/// Where the next character stands that XML 1.0 cannot hold (production 2); the end where there is none.
fn next_illegal(bytes: &[u8], from: usize) -> usize {
    const CHUNK: usize = 4_096;
    let mut at = from;
    for chunk in bytes.get(from..).unwrap_or_default().chunks(CHUNK) {
        // The whole chunk, no early exit: that is what the compiler vectorises.
        if chunk.iter().fold(false, |found, byte| found | is_illegal(*byte) | (*byte == 0xEF)) {
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
    }
    bytes.len()
}
