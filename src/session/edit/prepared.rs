//! Applies the edit of an intent to a snapshot, so that committing it only swaps values.

use crate::document::edit::Applied;
use crate::progress::Progress;
use crate::session::checks::Rechecked;
use crate::session::edit::intent::Intent;
use crate::session::state::Snapshot;

/// A change worked out completely; committing it is swapping values.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The version that it was made from.
    pub base: u64,
    /// The [`Snapshot::saves`] that it was made with.
    pub saves: u64,
    /// The new document and what was touched.
    pub applied: Applied,
    /// The new findings.
    pub rechecked: Rechecked,
    /// What to say of it.
    pub intent: Intent,
    /// Rows that differ from the saved document now.
    pub changed: u32,
}

impl Snapshot {
    /// Works an intent out. `None` when cancelled.
    pub fn prepare_intent(&self, intent: Intent, progress: &Progress) -> Option<Prepared> {
        let applied = match &intent.edit {
            Some(edit) => self.document.apply(edit, progress)?,
            None => Applied::nothing(&self.document),
        };
        let rechecked = self.checks.recheck(&self.document, &applied, self.clock, progress)?;
        let before =
            if self.changed == 0 { 0 } else { self.document.compare(&self.saved).changed_among(&applied.touched) };
        let after = applied.document.compare(&self.saved).changed_among(&applied.touched);
        let changed = (self.changed + after).saturating_sub(before);
        Some(Prepared { base: self.version, saves: self.saves, applied, rechecked, intent, changed })
    }
}
