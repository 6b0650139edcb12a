//! Checks the destination of a command: a missing folder is usually a typing error.

use super::Failure;
use super::args::Task;
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
    /// Where a task was told to write, if it was told.
    pub(super) fn of(task: &'p Task) -> Option<Self> {
        if let Some(save) = task.saved_by() {
            return Some(Self::file(save.output.as_deref()?, save.common.mkdir));
        }
        match task {
            Task::Check(task) => Some(Self::file(task.write_baseline.as_deref()?, task.common.mkdir)),
            Task::Convert(task) => Some(Self::file(&task.output, task.common.mkdir)),
            #[cfg(feature = "net")]
            Task::Probe(task) => Some(Self::file(&task.output, task.common.mkdir)),
            // A folder that is named is made; those above it are not.
            Task::Merge(task) => Some(Self::file(&task.output, task.common.mkdir)),
            Task::Split(task) => Some(Self::file(&task.output, task.mkdir)),
            // A package's folders of manual pages are made with the pages.
            _ => None,
        }
    }

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
