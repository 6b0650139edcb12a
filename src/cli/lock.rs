//! The lock that an editor takes on a set, taken by what changes it without a screen.

use super::{Failure, Streams};
use crate::files::in_folder;
use crate::files::journal::Desk;
use crate::session::Session;
use crate::words::counted;
use std::path::{Path, PathBuf};

/// Nobody else changes these sets while this is there. It dies with its process.
#[derive(Debug, Default)]
pub(super) struct Lock(Vec<Desk>);

impl Lock {
    /// Takes the locks of sets by the paths that they are opened by. Without a state folder there are none.
    pub(super) fn take(streams: &Streams<'_>, paths: &[PathBuf]) -> Result<Self, Failure> {
        let Some(state) = &streams.state else { return Ok(Self::default()) };
        let taken = paths.iter().filter_map(|path| if path.is_dir() { in_folder(path) } else { Some(path.clone()) });
        let desks = taken.map(|path| Desk::take(state, &path).map_err(|held| Failure::Held { path, held }));
        Ok(Self(desks.collect::<Result<_, _>>()?))
    }

    /// The same for one set, which must have no changes that wait to be replayed.
    pub(super) fn take_idle(streams: &Streams<'_>, path: &Path) -> Result<Self, Failure> {
        let lock = Self::take(streams, &[path.to_path_buf()])?;
        let waits = lock.0.iter().any(|desk| matches!(&desk.left, Some(Ok(stored)) if !stored.lines.is_empty()));
        if waits {
            Err(Failure::Waiting { path: path.to_path_buf(), what: "unsaved changes".to_owned() })
        } else {
            Ok(lock)
        }
    }

    /// Refuses to change files for which unsaved changes of an earlier session wait: they could not be replayed.
    pub(super) fn check(&self, session: &Session) -> Result<(), Failure> {
        for desk in &self.0 {
            match session.waiting(desk) {
                0 => {}
                count => {
                    let what = counted(count as u64, "unsaved change");
                    return Err(Failure::Waiting { path: desk.set().to_path_buf(), what });
                }
            }
        }
        Ok(())
    }
}
