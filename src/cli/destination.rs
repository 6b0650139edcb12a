//! Checks that the parent folder of an output exists: a missing one is usually a typing error.

use super::Failure;
use crate::files::{self, is_stream};
use std::path::Path;

/// A file or folder that a task writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'p> {
    path: &'p Path,
    /// Whether its parent folder may be created.
    mkdir: bool,
}

impl<'p> Destination<'p> {
    /// A file or folder, whose parent must exist unless `mkdir` is set.
    pub(super) const fn file(path: &'p Path, mkdir: bool) -> Self {
        Self { path, mkdir }
    }

    /// Refuses a parent folder that does not exist.
    pub(super) fn check(self) -> Result<(), Failure> {
        let missing = if self.mkdir || is_stream(self.path) { None } else { files::missing_folder(self.path) };
        let Some(folder) = missing else { return Ok(()) };
        let message = format!("cannot write {}: the folder {} does not exist", self.path.display(), folder.display());
        Err(Failure::Unusable(message, "correct the path, or create the folder with --mkdir".to_owned()))
    }

    /// Creates the parent folder with `--mkdir`, for outputs that are not written by a save.
    pub(super) fn create_folder(self) -> Result<(), Failure> {
        if let (true, Some(_), Some(folder)) = (self.mkdir, files::missing_folder(self.path), self.path.parent()) {
            std::fs::create_dir_all(folder).map_err(|error| files::Error::system("make", folder, error))?;
        }
        Ok(())
    }
}
