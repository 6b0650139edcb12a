//! Locks a set while a command changes it.

use super::{Failure, Streams};
use crate::files::journal::StateSlot;
use crate::files::{Options, find_all_in_folder, find_in_folder, is_stream};
use crate::session::Session;
use crate::session::store::journal::Unreplayable;
use crate::session::store::journal::recovery;
use crate::words::counted;
use std::path::{Path, PathBuf};

/// Locks of sets. The operating system releases them when the process ends.
#[derive(Debug, Default)]
pub(super) struct Lock(Vec<StateSlot>);

/// The hint for unsaved changes that can be replayed.
const OPEN_IT: &str = "nothing was changed; open it with sited to apply or discard them, then run this again";

impl Lock {
    /// Locks a set by the paths that it is opened by. Without a state folder only the files themselves are locked; if
    /// they cannot be locked either, a note is printed.
    pub(super) fn take(streams: &mut Streams<'_>, paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut lock = Self::default();
        lock.add(streams, paths)?;
        Ok(lock)
    }

    /// Locks another set, unless this lock has it already.
    pub(super) fn add(&mut self, streams: &mut Streams<'_>, paths: &[PathBuf]) -> Result<(), Failure> {
        if paths.iter().all(|path| is_stream(path)) {
            return Ok(());
        }
        // A folder without a file of the usual name is locked by its own path, as its files are not known yet.
        let found = |path: &PathBuf| match path.is_dir().then(|| find_in_folder(path)).flatten() {
            Some(_) => find_all_in_folder(path, &Options::default()),
            None => vec![path.clone()],
        };
        let paths: Vec<PathBuf> = paths.iter().flat_map(found).collect();
        let failed = |held| Failure::Locked { path: paths.first().cloned().unwrap_or_default(), held };
        if !self.0.iter().any(|state_slot| state_slot.is_of(&paths)) {
            let state_slot = StateSlot::acquire(streams.state.as_deref(), &paths).map_err(failed)?;
            // A file that does not exist cannot be open in another process.
            if !state_slot.is_exclusive() && paths.iter().any(|path| path.exists()) {
                streams.note("note: these files cannot be locked; another sited may change them at the same time");
            }
            self.0.push(state_slot);
        }
        Ok(())
    }

    /// Locks one set, and refuses it if a journal has unsaved changes of it.
    pub(super) fn take_idle(streams: &mut Streams<'_>, path: &Path) -> Result<Self, Failure> {
        let lock = Self::take(streams, &[path.to_path_buf()])?;
        let own =
            |state_slot: &StateSlot| matches!(&state_slot.earlier, Some(Ok(stored)) if !stored.entries.is_empty());
        let waits = lock.0.iter().any(|state_slot| own(state_slot) || state_slot.is_in_other_journal());
        if waits {
            let hint = OPEN_IT.to_owned();
            Err(Failure::UnsavedChanges { path: path.display().to_string(), what: "unsaved changes".to_owned(), hint })
        } else {
            Ok(lock)
        }
    }

    /// Locks these files too: another process may have one of them open as a set of its own.
    pub(super) fn claim<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> Result<(), Failure> {
        let Some(state_slot) = self.0.last_mut() else { return Ok(()) };
        let path = state_slot.set().first().cloned().unwrap_or_default();
        state_slot.claim(files).map_err(|held| Failure::Locked { path, held })
    }

    /// Locks all files of an open set. Refuses files for which a journal has unsaved changes, because these could not
    /// be replayed after the files change.
    pub(super) fn check(&mut self, session: &Session) -> Result<(), Failure> {
        self.claim(session.files())?;
        for state_slot in &self.0 {
            let own = state_slot.set().iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
            let waiting = match recovery::waiting(session, state_slot) {
                0 => recovery::changes_elsewhere(session, state_slot),
                count => Some((count, own)),
            };
            if let Some((count, path)) = waiting {
                let what = counted(count as u64, "unsaved change");
                return Err(Failure::UnsavedChanges { path, what, hint: OPEN_IT.to_owned() });
            }
            if let Some(Unreplayable { changes, journal, paths }) = recovery::unreplayable(session, state_slot) {
                let count = counted(changes as u64, "unsaved change");
                let what = format!("{count} in {}, and the files have changed since", journal.display());
                let path = paths.join(" ");
                let hint = format!(
                    "nothing was changed; sited recover {path} shows the journal, and with --journal 1 --discard removes it"
                );
                return Err(Failure::UnsavedChanges { path, what, hint });
            }
        }
        Ok(())
    }
}
