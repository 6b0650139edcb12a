//! The log of repairs, with bounded memory.

use crate::xml::defect::{Defect, FoundDefect};
use std::sync::Arc;

/// Maximum number of repairs of one kind outside of entries.
const MAX_OUTSIDE_ENTRIES: u32 = 100;

/// Maximum size of all descriptions in bytes, in addition to the size of the file.
const BASE_DESCRIPTION_BYTES: usize = 1 << 20;

/// The repairs of one kind so far.
#[derive(Debug, Default)]
struct KindState {
    /// The entry of the last one; `None` if it was outside of entries.
    entry: Option<u32>,
    /// Whether the last one was outside of entries; false if there was none.
    is_outside: bool,
    /// The number of repairs outside of entries; adjacent ones count as one.
    outside: u32,
    /// The offset of the last one.
    at: usize,
    /// The description of the last one: many files have the same defect in every entry.
    description: Arc<str>,
}

impl KindState {
    /// Whether a repair here is to be added to the log ([`RepairLog::kind_if_new`]). It becomes the last one.
    fn is_new(&mut self, at: usize, entry: Option<u32>) -> bool {
        let last = std::mem::replace(&mut self.at, at);
        if entry.is_some() {
            self.is_outside = false;
            return std::mem::replace(&mut self.entry, entry) != entry;
        }
        let is_adjacent = std::mem::replace(&mut self.is_outside, true) && at.saturating_sub(last) < 8;
        self.entry = None;
        self.outside += u32::from(!is_adjacent);
        !is_adjacent && self.outside <= MAX_OUTSIDE_ENTRIES
    }
}

/// The number of a kind of which a log has repairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct KindNumber(usize);

/// The repairs of a file.
#[derive(Debug)]
pub(super) struct RepairLog {
    pub(super) repairs: Vec<FoundDefect>,
    /// The state of each kind. A file has few kinds, so that a linear search costs less than hashing.
    kinds: Vec<(Defect, KindState)>,
    /// Remaining bytes for descriptions.
    free_bytes: usize,
    /// Maximum bytes for descriptions of the whole file.
    max_bytes: usize,
}

impl RepairLog {
    pub(super) fn new(file_len: usize) -> Self {
        let max_bytes = BASE_DESCRIPTION_BYTES + file_len;
        Self { repairs: Vec::new(), kinds: Vec::new(), free_bytes: max_bytes, max_bytes }
    }

    /// The number of a kind, if a repair of it here is to be added to the log: the first of each entry, and up to
    /// [`MAX_OUTSIDE_ENTRIES`] outside of entries, where adjacent ones count as one.
    pub(super) fn kind_if_new(&mut self, kind: Defect, at: usize, entry: Option<u32>) -> Option<KindNumber> {
        let number = self.kinds.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            self.kinds.push((kind, KindState::default()));
            self.kinds.len() - 1
        });
        self.kinds.get_mut(number)?.1.is_new(at, entry).then_some(KindNumber(number))
    }

    /// Whether no bytes remain for descriptions.
    pub(super) const fn is_full(&self) -> bool {
        self.free_bytes == 0
    }

    /// Ensures that bytes remain for the description of one more repair.
    pub(super) fn reserve_description(&mut self) {
        self.free_bytes = self.free_bytes.max(BASE_DESCRIPTION_BYTES);
    }

    /// Whether the log of the next segment can be appended: one log of both segments would have the same repairs.
    pub(super) fn can_append(&self, segment: &Self) -> bool {
        let has_outside = |log: &Self, kind| log.kinds.iter().any(|(known, state)| *known == kind && state.outside > 0);
        let are_disjoint = segment.kinds.iter().all(|(kind, state)| state.outside == 0 || !has_outside(self, *kind));
        are_disjoint && !segment.is_full() && segment.used() < self.free_bytes
    }

    /// Appends the log of the next segment, and adds `entries` to its entry numbers. Returns the memory of its repairs.
    pub(super) fn append(&mut self, mut segment: Self, entries: u32) -> Vec<FoundDefect> {
        self.free_bytes -= segment.used();
        let repairs = segment.repairs.drain(..);
        self.repairs
            .extend(repairs.map(|repair| FoundDefect { entry: repair.entry.map(|entry| entry + entries), ..repair }));
        for (kind, mut state) in segment.kinds {
            state.entry = state.entry.map(|entry| entry + entries);
            match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, own)) => {
                    state.outside += own.outside;
                    *own = state;
                }
                None => self.kinds.push((kind, state)),
            }
        }
        segment.repairs
    }

    /// Bytes used for descriptions so far.
    const fn used(&self) -> usize {
        self.max_bytes - self.free_bytes
    }

    /// The description of the last repair of a kind.
    pub(super) fn last_description(&self, kind: KindNumber) -> &str {
        self.kinds.get(kind.0).map_or("", |(_, state)| &state.description)
    }

    /// Adds a repair with the last description of its kind if it has none of its own; it is dropped if the remaining bytes
    /// do not suffice.
    pub(super) fn push(&mut self, kind: KindNumber, at: usize, entry: Option<u32>, own: Option<&str>) {
        let Some((kind, KindState { description: last, .. })) = self.kinds.get_mut(kind.0) else { return };
        // A description costs an allocation besides its bytes.
        let needed = own.unwrap_or(last).len() + size_of::<FoundDefect>();
        let remaining = self.free_bytes.checked_sub(needed);
        let own = if remaining.is_some() { own } else { Some("") };
        self.free_bytes = remaining.unwrap_or_default();
        if let Some(own) = own.filter(|own| **last != **own) {
            *last = own.into();
        }
        self.repairs.push(FoundDefect { kind: *kind, at, entry, what: Arc::clone(last) });
    }
}
