//! Applies the edit of an intent to a snapshot, so that committing it only swaps values.

use crate::document::edit::Applied;
use crate::progress::Progress;
use crate::session::checks::Rechecked;
use crate::session::edit::intent::Intent;
use crate::session::state::Snapshot;

/// A change whose new document and findings are computed; committing it only swaps values.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The version that it was made from.
    pub base: u64,
    /// The [`Snapshot::saves`] that it was made with.
    pub saves: u64,
    /// The new document and the touched rows.
    pub applied: Applied,
    /// The new findings.
    pub rechecked: Rechecked,
    /// The planned change, with its message.
    pub intent: Intent,
    /// Rows that differ from the saved document after the change.
    pub changed: u32,
}

/// Applies an intent. `None` when cancelled.
pub(crate) fn prepare_intent(snapshot: &Snapshot, intent: Intent, progress: &Progress) -> Option<Prepared> {
    let applied = match &intent.edit {
        Some(edit) => snapshot.document.apply(edit, progress)?,
        None => Applied::unchanged(&snapshot.document),
    };
    let rechecked = snapshot.checks.recheck(&snapshot.document, &applied, snapshot.clock, progress)?;
    let before = if snapshot.changed == 0 {
        0
    } else {
        snapshot.document.compare(&snapshot.saved).changed_among(&applied.touched)
    };
    let after = applied.document.compare(&snapshot.saved).changed_among(&applied.touched);
    let changed = (snapshot.changed + after).saturating_sub(before);
    Some(Prepared { base: snapshot.version, saves: snapshot.saves, applied, rechecked, intent, changed })
}
