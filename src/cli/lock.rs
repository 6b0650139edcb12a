//! Locks a set while a command changes it.

use super::{Failure, Streams};
use crate::files::journal::StateSlot;
use crate::files::{Options, all_in_folder, in_folder, is_stream};
use crate::session::Session;
use crate::session::store::journal::Unreplayable;
use crate::session::store::journal::recovery;
use crate::words::counted;
use std::path::{Path, PathBuf};

/// No one else changes these sets while this is there. It dies with its process.
#[derive(Debug, Default)]
pub(super) struct Lock(Vec<StateSlot>);

/// What to do about changes that can be replayed.
const OPEN_IT: &str = "nothing was changed; open it with sited to apply or discard them, then run this again";

impl Lock {
    /// Takes the lock of a set by the paths that it is opened by. Without a state folder there are those on the files
    /// themselves; without these either, that is reported.
    pub(super) fn take(streams: &mut Streams<'_>, paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut lock = Self::default();
        lock.and(streams, paths)?;
        Ok(lock)
    }

    /// Takes one more, unless it is here already.
    pub(super) fn and(&mut self, streams: &mut Streams<'_>, paths: &[PathBuf]) -> Result<(), Failure> {
        if paths.iter().all(|path| is_stream(path)) {
            return Ok(());
        }
        // A folder without an index by its usual name stands for itself until it is known what it holds.
        let found = |path: &PathBuf| match path.is_dir().then(|| in_folder(path)).flatten() {
            Some(_) => all_in_folder(path, &Options::default()),
            None => vec![path.clone()],
        };
        let paths: Vec<PathBuf> = paths.iter().flat_map(found).collect();
        let failed = |held| Failure::Held { path: paths.first().cloned().unwrap_or_default(), held };
        if !self.0.iter().any(|state_slot| state_slot.is_of(&paths)) {
            let state_slot = StateSlot::acquire(streams.state.as_deref(), &paths).map_err(failed)?;
            // What does not exist yet cannot be open anywhere.
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
        let own = |state_slot: &StateSlot| matches!(&state_slot.left, Some(Ok(stored)) if !stored.entries.is_empty());
        let waits = lock.0.iter().any(|state_slot| own(state_slot) || state_slot.is_in_other_journal());
        if waits {
            let hint = OPEN_IT.to_owned();
            Err(Failure::Waiting { path: path.display().to_string(), what: "unsaved changes".to_owned(), hint })
        } else {
            Ok(lock)
        }
    }

    /// Takes these files too: someone may have one of them open by itself.
    pub(super) fn claim<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> Result<(), Failure> {
        let Some(state_slot) = self.0.last_mut() else { return Ok(()) };
        let path = state_slot.set().first().cloned().unwrap_or_default();
        state_slot.claim(files).map_err(|held| Failure::Held { path, held })
    }

    /// Takes all files of an open set. Refuses to change files for which unsaved changes of an earlier session wait:
    /// they could not be replayed.
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
                return Err(Failure::Waiting { path, what, hint: OPEN_IT.to_owned() });
            }
            if let Some(Unreplayable { changes, journal, paths }) = recovery::unreplayable(session, state_slot) {
                let count = counted(changes as u64, "unsaved change");
                let what = format!("{count} in {}, and the files have changed since", journal.display());
                let path = paths.join(" ");
                let hint = format!(
                    "nothing was changed; sited recover {path} shows the journal, and with --journal 1 --discard removes it"
                );
                return Err(Failure::Waiting { path, what, hint });
            }
        }
        Ok(())
    }
}
