//! Checks that the folder of a destination exists: a missing one is usually a typing error.

use super::Failure;
use crate::files::{self, is_stream};
use std::path::Path;

/// A file or a folder that a task makes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination<'p> {
    path: &'p Path,
    /// Whether the folder in which it is may be made.
    mkdir: bool,
}

impl<'p> Destination<'p> {
    /// A file, or a folder, in a folder that must exist unless `mkdir` was given.
    pub(super) const fn file(path: &'p Path, mkdir: bool) -> Self {
        Self { path, mkdir }
    }

    /// Refuses a folder that does not exist.
    pub(super) fn check(self) -> Result<(), Failure> {
        let missing = if self.mkdir || is_stream(self.path) { None } else { files::missing_folder(self.path) };
        let Some(folder) = missing else { return Ok(()) };
        let message = format!("cannot write {}: the folder {} does not exist", self.path.display(), folder.display());
        Err(Failure::Place(message, "correct the path, or create the folder with --mkdir".to_owned()))
    }

    /// Creates the folder, where that was asked for and saving does not do it.
    pub(super) fn make(self) -> Result<(), Failure> {
        if let (true, Some(_), Some(folder)) = (self.mkdir, files::missing_folder(self.path), self.path.parent()) {
            std::fs::create_dir_all(folder).map_err(|error| files::Error::system("make", folder, error))?;
        }
        Ok(())
    }
}
