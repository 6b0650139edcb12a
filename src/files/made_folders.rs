//! Folders that a save creates, and the real paths of its files in them.

use super::error::Error;
use super::replace_target::ReplaceTarget;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders that were created for a save; the empty ones are removed if the save fails.
#[derive(Debug, Default)]
pub(super) struct Folders(Vec<PathBuf>);

impl Folders {
    /// Creates a folder with its missing parents.
    pub(super) fn create(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let missing: Vec<&Path> = missing.collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.0.push(folder.to_path_buf());
        }
        Ok(())
    }

    /// The parents of the created folders.
    pub(super) fn parents(&self) -> impl Iterator<Item = PathBuf> {
        let parent = |folder: &PathBuf| folder.parent().map(Path::to_path_buf);
        self.0.iter().filter_map(parent).map(|parent| if parent.as_os_str().is_empty() { ".".into() } else { parent })
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // Fails if the folder is not empty.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Creates the folder of the file that the set is opened by, and returns its real path.
pub(super) fn set_folder(path: Option<&Path>, made: &mut Folders) -> Result<PathBuf, Error> {
    let folder = path.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let failed = |error| Error::system("make the folder", folder, error);
    made.create(folder).and_then(|()| folder.canonicalize()).map_err(failed)
}

/// Creates the folder of a new file, and resolves the file's real path.
pub(super) fn resolve_target(target: &mut ReplaceTarget, made: &mut Folders) -> io::Result<()> {
    made.create(target.folder())?;
    let folder = target.folder().canonicalize()?;
    target.real = folder.join(target.real.file_name().unwrap_or_default());
    Ok(())
}
