//! The log of repairs, with bounded memory.

use crate::xml::defect::{Defect, FoundDefect};

/// How many repairs of one kind outside of entries are kept.
const OUTSIDE_ENTRIES: u32 = 100;

/// Bytes of what repairs say about the place, for any file; as many more as the file has.
const WORDS: usize = 1 << 20;

/// Where a kind of repair was made so far.
#[derive(Default)]
struct Noted {
    /// The entry of the last one.
    entry: Option<u32>,
    /// Whether there was one, and that in no entry.
    is_outside: bool,
    /// How many were in no entry.
    outside: u32,
    /// Where the last one was.
    at: usize,
}

/// The repairs of a file.
pub(super) struct RepairLog {
    pub(super) repairs: Vec<FoundDefect>,
    /// By kind; a file has few, so that a search costs less than a hash.
    noted: Vec<(Defect, Noted)>,
    /// Bytes that repairs may still say about their places.
    words: usize,
}

impl RepairLog {
    pub(super) fn new(file_len: usize) -> Self {
        Self { repairs: Vec::new(), noted: Vec::new(), words: WORDS + file_len }
    }

    /// Whether a repair is to be kept: one of a kind per entry, a hundred elsewhere, neighbours as one.
    pub(super) fn is_new(&mut self, kind: Defect, at: usize, entry: Option<u32>) -> bool {
        let known = self.noted.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.noted.push((kind, Noted::default()));
            self.noted.len() - 1
        });
        let Some((_, noted)) = self.noted.get_mut(known) else { return false };
        let last = std::mem::replace(&mut noted.at, at);
        if entry.is_some() {
            noted.is_outside = false;
            return std::mem::replace(&mut noted.entry, entry) != entry;
        }
        let is_near = std::mem::replace(&mut noted.is_outside, true) && at.saturating_sub(last) < 8;
        noted.entry = None;
        noted.outside += u32::from(!is_near);
        !is_near && noted.outside <= OUTSIDE_ENTRIES
    }

    /// Whether nothing more can be reported about places.
    pub(super) const fn is_full(&self) -> bool {
        self.words == 0
    }

    /// Makes sure that one more repair can say something about its place.
    pub(super) fn make_room(&mut self) {
        self.words = self.words.max(WORDS);
    }

    pub(super) fn push(&mut self, kind: Defect, at: usize, entry: Option<u32>, mut what: String) {
        // Each text has memory of its own beside its letters.
        let left = self.words.checked_sub(what.len() + size_of::<FoundDefect>());
        if left.is_none() {
            what.clear();
        }
        self.words = left.unwrap_or_default();
        self.repairs.push(FoundDefect { kind, at, entry, what: what.into() });
    }
}
