//! Detects, overwrites or merges changes that other programs made to the files.

use crate::document::index::{Child, ChildState, leaf_children};
use crate::document::merge::{Merge, MergeChoice};
use crate::document::{Document, RowState};
use crate::files::external_changes::{OutsideChanges, Thoroughness, detect};
use crate::files::journal::SlotLocks;
use crate::files::{self, Disk, Options};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::edit::{EditError, Intent, Label, Prepared, prepared};
use crate::session::findings::file_findings;
use crate::session::state::Snapshot;
use crate::session::store::journal::locks::{Claimed, Relocked};
use crate::session::store::{journal, load};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The recorded state of the files, to be compared with the disk on a worker.
#[derive(Debug, Clone)]
pub(crate) struct ExternalCheck {
    disk: Disk,
}

impl ExternalCheck {
    /// Compares every file of the set.
    pub(crate) fn run(&self, care: Thoroughness) -> OutsideChanges {
        detect(&self.disk, care)
    }
}

/// A job that reads the changed files and compares them with our changes.
#[derive(Debug, Clone)]
pub(crate) struct MergeJob {
    path: PathBuf,
    paths: Vec<PathBuf>,
    options: Options,
    snapshot: Snapshot,
    locks: Option<SlotLocks>,
}

/// Both versions, ready to be merged.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The differences.
    pub merge: Merge,
    /// Our side when it was compared.
    snapshot: Snapshot,
    disk: Disk,
    /// The locks of the set, if it has a journal.
    locks: Option<SlotLocks>,
}

/// A prepared merge.
#[derive(Debug, Clone)]
pub struct Merged {
    prepared: Prepared,
    theirs: Document,
    disk: Disk,
    /// The locks of their files.
    relocked: Option<Relocked>,
}

impl MergeJob {
    /// Reads the files and compares.
    ///
    /// # Errors
    /// A sentence that states why the two cannot be merged.
    pub(crate) fn run(self) -> Result<Compared, String> {
        let Self { path, paths, options, snapshot, locks } = self;
        let session = Session::new(snapshot.clock, options.base_url.clone());
        // This session already has the lock and the journal.
        let options = Options { state: None, ..options };
        let theirs = match paths.as_slice() {
            [] => load::open_in(session, &path, options),
            paths => load::open_all(session, paths, options),
        };
        let theirs = theirs.map_err(|error| error.to_string())?;
        // A missing file was deleted; a file that cannot be read may contain anything.
        if let Some(error) = theirs.unread().iter().find(|error| !error.is_missing()) {
            return Err(error.to_string());
        }
        if let Some(why) = newly_unreadable(&snapshot.saved, theirs.document()) {
            return Err(why);
        }
        let merge = Merge::of(&snapshot.saved, &snapshot.document, theirs.document()).map_err(|why| why.0)?;
        Ok(Compared { merge, snapshot, disk: theirs.disk, locks })
    }
}

/// Why a file that was read before cannot be read now; its rows must not count as deleted.
fn newly_unreadable(saved: &Document, theirs: &Document) -> Option<String> {
    let children = |document: &Document| -> Vec<Child> {
        let leaves = document.index().map(|index| leaf_children(&index.children)).unwrap_or_default();
        leaves.into_iter().cloned().collect()
    };
    let was_read: HashSet<Arc<str>> = children(saved)
        .into_iter()
        .filter(|child| matches!(child.state, ChildState::Loaded(_)))
        .map(|child| child.loc)
        .collect();
    let unread = children(theirs).into_iter().find_map(|child| match child.state {
        ChildState::Denied(why) | ChildState::Unreadable(why) if was_read.contains(&child.loc) => Some(why),
        _ => None,
    });
    unread.map(|why| why.to_string())
}

impl Compared {
    /// Prepares the merge with a choice for each conflict. `None` when cancelled.
    pub fn prepare(&self, takes: &[MergeChoice], progress: &Progress) -> Option<Merged> {
        let theirs = self.snapshot.document.apply(&self.merge.theirs(), progress)?.document;
        let taken = takes.iter().filter(|take| **take != MergeChoice::Ours).count() as u64;
        let intent = Intent {
            label: Label::of("", taken, "row", " of the changed files merged"),
            edit: Some(self.merge.merged(takes)),
            ..Intent::counting(taken)
        };
        let prepared = prepared::prepare_intent(&self.snapshot, intent, progress)?;
        let seconds = self.snapshot.clock.seconds;
        let relocked = self.locks.as_ref().map(|locks| Relocked::of(locks, &self.disk, seconds));
        Some(Merged { prepared, theirs, disk: self.disk.clone(), relocked })
    }
}

/// Starts a check for changes on disk.
pub(crate) fn begin_check(session: &Session) -> ExternalCheck {
    ExternalCheck { disk: session.disk.clone() }
}

/// Records files that were touched without a change, so that they are not read again.
pub(crate) fn note_touched(session: &mut Session, outside: &OutsideChanges) {
    outside.touched.iter().for_each(|file| session.disk.note(file.clone()));
}

/// Keeps our version of the files: the next save overwrites them, whatever is on disk.
pub(crate) fn keep_ours<'p>(session: &mut Session, paths: impl Iterator<Item = &'p Path>) {
    for path in paths {
        session.disk.forget(path);
        session.overwrites_changes = true;
    }
}

/// A job that compares the files with our changes. `None` if no file was opened.
pub(crate) fn begin_merge(session: &Session, options: Options) -> Option<MergeJob> {
    let base_url = session.base_url().map(ToOwned::to_owned).or(options.base_url);
    let options = Options { base_url, ..options };
    let (path, paths) = (session.path.clone()?, session.paths.clone());
    Some(MergeJob { path, paths, options, snapshot: session.snapshot(), locks: journal::locks(session) })
}

/// Commits a merge as one step. Afterwards the unsaved changes are the differences from their files.
///
/// # Errors
/// [`EditError`] when the document has changed since the comparison.
pub(crate) fn commit_merge(session: &mut Session, merged: Merged) -> Result<crate::session::Report, EditError> {
    let Merged { prepared, theirs, disk, relocked } = merged;
    let report = session.commit(prepared, None)?;
    session.disk = disk;
    session.current.saved = theirs;
    session.current.saves += 1;
    if session.current.saved.index().is_some() {
        let paths = files::main_paths(&session.current.saved);
        session.paths = if paths.len() > 1 { paths } else { Vec::new() };
    } else if !session.paths.is_empty() {
        // A file that they deleted and that still has rows is written again.
        let document = &session.current.state.document;
        session.paths = document.sitemaps().iter().filter_map(|sitemap| sitemap.path.clone()).collect();
        session.path = session.paths.first().cloned().or_else(|| session.path.take());
    }
    session.saved_version = u64::MAX;
    session.current.count_changes();
    file_findings::check(session);
    journal::note_save(session, Claimed::default(), relocked);
    Ok(report)
}

impl Compared {
    /// Our document and the common base.
    pub fn sides(&self) -> (&Document, &Document) {
        (&self.snapshot.document, &self.snapshot.saved)
    }

    /// How we changed a row.
    pub fn our_state(&self, row: crate::document::rows::RowId) -> RowState {
        self.snapshot.document.compare(&self.snapshot.saved).row_state(row)
    }
}

#[cfg(test)]
mod tests;
