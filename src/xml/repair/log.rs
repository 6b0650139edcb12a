//! The log of repairs, with bounded memory.

use crate::xml::defect::{Defect, FoundDefect};

/// Maximum repairs of one kind outside of entries.
const OUTSIDE_ENTRIES: u32 = 100;

/// Maximum bytes of descriptions for any file, plus the size of the file.
const WORDS: usize = 1 << 20;

/// The last repair of one kind.
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
    /// Remaining bytes for descriptions.
    words: usize,
    /// Bytes for descriptions of the whole file.
    max_words: usize,
}

impl RepairLog {
    pub(super) fn new(file_len: usize) -> Self {
        let words = WORDS + file_len;
        Self { repairs: Vec::new(), noted: Vec::new(), words, max_words: words }
    }

    /// Whether to keep a repair: one of a kind per entry, a hundred outside of entries, adjacent ones as one.
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

    /// Whether there is no room for descriptions any more.
    pub(super) const fn is_full(&self) -> bool {
        self.words == 0
    }

    /// Ensures room for the description of one more repair.
    pub(super) fn make_room(&mut self) {
        self.words = self.words.max(WORDS);
    }

    /// Whether the log of the segment that follows can be appended: its repairs are the ones that this log would have
    /// kept.
    pub(super) fn can_append(&self, segment: &Self) -> bool {
        let is_outside = |log: &Self, kind| log.noted.iter().any(|(known, noted)| *known == kind && noted.outside > 0);
        let are_apart = segment.noted.iter().all(|(kind, noted)| noted.outside == 0 || !is_outside(self, *kind));
        are_apart && !segment.is_full() && segment.used() < self.words
    }

    /// Appends the log of the segment that follows, whose entries have numbers from `entries`.
    pub(super) fn append(&mut self, segment: Self, entries: u32) {
        self.words -= segment.used();
        self.repairs.extend(
            segment
                .repairs
                .into_iter()
                .map(|repair| FoundDefect { entry: repair.entry.map(|entry| entry + entries), ..repair }),
        );
        for (kind, mut noted) in segment.noted {
            noted.entry = noted.entry.map(|entry| entry + entries);
            match self.noted.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, own)) => {
                    noted.outside += own.outside;
                    *own = noted;
                }
                None => self.noted.push((kind, noted)),
            }
        }
    }

    /// Bytes used for descriptions.
    const fn used(&self) -> usize {
        self.max_words - self.words
    }

    pub(super) fn push(&mut self, kind: Defect, at: usize, entry: Option<u32>, mut what: String) {
        // Each text has an allocation besides its bytes.
        let left = self.words.checked_sub(what.len() + size_of::<FoundDefect>());
        if left.is_none() {
            what.clear();
        }
        self.words = left.unwrap_or_default();
        self.repairs.push(FoundDefect { kind, at, entry, what: what.into() });
    }
}
