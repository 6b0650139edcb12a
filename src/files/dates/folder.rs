//! Files of a folder with the times at which they were modified.

use super::posts::PostIndex;
use super::{SourceFiles, relative_path};
use crate::files::Error;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A folder, with the posts of those of its subfolders that were searched.
pub(super) struct FolderFiles {
    /// Without links and `..`, so that it can be compared.
    root: PathBuf,
    /// By folder.
    posts: HashMap<Vec<u8>, PostIndex>,
}

impl FolderFiles {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let failed = |error| Error::system("read", folder, error);
        let root = fs::canonicalize(folder).map_err(failed)?;
        fs::read_dir(&root).map_err(failed)?;
        Ok(Self { root, posts: HashMap::new() })
    }

    /// The file or folder at a path, unless links lead out of the root.
    fn locate(&self, path: &[u8]) -> Option<fs::Metadata> {
        let path = self.root.join(relative_path(path)?);
        let metadata = fs::metadata(&path).ok()?;
        let real = fs::canonicalize(&path).ok()?;
        real.starts_with(&self.root).then_some(metadata)
    }
}

impl SourceFiles for FolderFiles {
    fn has_folder(&self, path: &str) -> bool {
        self.locate(path.as_bytes()).is_some_and(|found| found.is_dir())
    }

    fn modified(&mut self, path: &[u8]) -> Option<i64> {
        let modified = self.locate(path).filter(fs::Metadata::is_file)?.modified().ok()?;
        let seconds = |time: std::time::Duration| i64::try_from(time.as_secs()).ok();
        match modified.duration_since(UNIX_EPOCH) {
            Ok(since) => seconds(since),
            Err(before) => seconds(before.duration()).map(|seconds| -seconds),
        }
    }

    fn posts(&mut self, folder: &[u8], name: &[u8]) -> Vec<Vec<u8>> {
        if !self.posts.contains_key(folder) {
            let path = self.locate(folder).and_then(|_| Some(self.root.join(relative_path(folder)?)));
            let entries = path.and_then(|path| fs::read_dir(path).ok()).into_iter().flatten().filter_map(Result::ok);
            let mut posts = PostIndex::default();
            entries.for_each(|entry| posts.add(entry.file_name().as_encoded_bytes()));
            self.posts.insert(folder.to_vec(), posts);
        }
        self.posts.get(folder).map(|posts| posts.named(name)).unwrap_or_default()
    }
}
