//! Finds the source file of a page, and the time of its last commit or change.
//!
//! The source of a URL is a path below one folder, found by the patterns of a [`SourceMap`]. Invariant: no URL and no
//! pattern leads out of that folder.

mod folder;
mod git;
mod posts;
mod source_map;
mod template;

pub(crate) use git::GitError;
pub(crate) use source_map::{MapError, SourceMap};

use crate::files::Error;
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use folder::FolderFiles;
use git::GitFiles;
use posts::UrlDate;
use source_map::{Page, Pattern};
use std::path::{Path, PathBuf};

/// Where times come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeSource {
    /// The last commit of a file; the folder is in a Git repository.
    Git(PathBuf),
    /// The time at which a file of this folder was modified.
    Folder(PathBuf),
}

impl TimeSource {
    /// The folder that sources are below.
    pub fn folder(&self) -> &Path {
        match self {
            Self::Git(folder) | Self::Folder(folder) => folder,
        }
    }
}

/// Why no times are available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatesError {
    /// There is no folder at this path.
    #[error("{}: there is no such folder", .0.display())]
    NoFolder(PathBuf),
    /// The folder cannot be read.
    #[error(transparent)]
    File(#[from] Error),
    /// Git failed, or the repository lacks the needed history.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl DatesError {
    /// What the user can do.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoFolder(_) => "name the folder that holds the sources of the pages".to_owned(),
            Self::File(error) => error.hint().unwrap_or_default().to_owned(),
            Self::Git(error) => error.hint(),
        }
    }
}

/// The files of a folder with their times.
trait SourceFiles {
    /// Whether there is a folder at a path, which has no slash at its end.
    fn has_folder(&self, path: &str) -> bool;

    /// When the file at a path was changed, in seconds since 1970; `None` without such a file.
    fn modified(&mut self, path: &[u8]) -> Option<i64>;

    /// The files of a folder whose names are a date, a hyphen and `name`.
    fn posts(&mut self, folder: &[u8], name: &[u8]) -> Vec<Vec<u8>>;
}

/// The source of a page, and when it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatedSource {
    /// A W3C Datetime in UTC.
    pub modified: String,
    /// The file, relative to the folder; bytes that are not UTF-8 are replaced.
    pub source: String,
}

/// Finds the source of a page and its time.
pub(crate) struct Dates {
    files: Box<dyn SourceFiles>,
    patterns: Vec<Pattern>,
}

impl std::fmt::Debug for Dates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dates").field("patterns", &self.patterns).finish_non_exhaustive()
    }
}

impl Dates {
    /// Reads the times of all files (Git), or prepares to read them one by one. Patterns of usual layouts whose folder
    /// does not exist are left out.
    ///
    /// # Errors
    /// A folder that cannot be read; Git that is not installed, fails, or has only a part of the history.
    pub(crate) fn open(source: &TimeSource, map: SourceMap, progress: &Progress) -> Result<Self, DatesError> {
        if !source.folder().is_dir() {
            return Err(DatesError::NoFolder(source.folder().to_path_buf()));
        }
        let files: Box<dyn SourceFiles> = match source {
            TimeSource::Git(folder) => Box::new(GitFiles::read(folder, progress)?),
            TimeSource::Folder(folder) => Box::new(FolderFiles::open(folder)?),
        };
        let patterns = map.patterns.into_iter().filter(|pattern| pattern.applies(|path| files.has_folder(path)));
        Ok(Self { patterns: patterns.collect(), files })
    }

    /// The time of the first source that exists, in the order of the patterns.
    pub(crate) fn find(&mut self, url: &str) -> Option<DatedSource> {
        let page = Page::of(url)?;
        let Self { files, patterns } = self;
        patterns.iter().find_map(|pattern| {
            let path = pattern.source(&page)?;
            let path = match path.undated_name {
                None => path.bytes,
                Some(name) => UrlDate::of(page.path()).choose(&path.bytes, files.posts(&path.bytes, &name))?,
            };
            let modified = files.modified(&path)?;
            let modified = Now { seconds: modified, offset: 0 }.timestamp();
            Some(DatedSource { modified, source: String::from_utf8_lossy(&path).into_owned() })
        })
    }
}

/// Converts bytes to a path that stays in its folder; `None` if the system has no such path.
fn relative_path(bytes: &[u8]) -> Option<&Path> {
    #[cfg(unix)]
    let path = Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    let path = Path::new(std::str::from_utf8(bytes).ok()?);
    let is_plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_plain.then_some(path)
}

#[cfg(test)]
mod tests;
