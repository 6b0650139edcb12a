//! Memory of readers that later readers use again.

use crate::check::set::LinkLists;
use crate::xml::record::Record;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a reader collects of the rows of a file, and the set copies.
#[derive(Debug, Default)]
pub(super) struct RowVectors {
    pub(super) records: Vec<Record>,
    pub(super) findings: Vec<u16>,
    pub(super) keys: Vec<u64>,
    pub(super) links: LinkLists,
}

/// Empty vectors with the memory that they had for earlier files. The system must clear new memory. Memory that is freed
/// while the next file is read is not returned to the system, so that a set that stays open would take more.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct ReaderMemory(Arc<Mutex<Vec<RowVectors>>>);

impl ReaderMemory {
    /// Empty vectors, with memory of earlier ones if there is any.
    pub(super) fn take(&self) -> RowVectors {
        self.lock().pop().unwrap_or_default()
    }

    /// Keeps the memory of vectors that are no longer needed, if they have any.
    pub(super) fn recycle(&self, mut used: RowVectors) {
        if used.records.capacity() == 0 {
            return;
        }
        used.records.clear();
        used.findings.clear();
        used.keys.clear();
        used.links.clear();
        self.lock().push(used);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RowVectors>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
