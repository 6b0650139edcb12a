//! Finds and reads the robots.txt of a set.

use super::downloads;
use super::error::Error;
use super::stream::is_stream;
use crate::protocol::robots;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum bytes of a robots.txt that are read, as crawlers do.
const ROBOTS_BYTES: u64 = robots::MAX_BYTES as u64;

/// The robots.txt in the common folder of files, else the one that was downloaded with all of them.
pub(crate) fn robots_beside(paths: &[PathBuf]) -> Option<PathBuf> {
    let folder = |path: &PathBuf| {
        if is_stream(path) {
            return None;
        }
        let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() }?;
        Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_path_buf() })
    };
    let folders: Vec<PathBuf> = paths.iter().map(folder).collect::<Option<_>>()?;
    let in_one = |folders: &[PathBuf]| {
        let (first, others) = folders.split_first()?;
        Some(first.join("robots.txt")).filter(|path| others.iter().all(|folder| folder == first) && path.is_file())
    };
    let downloads = || folders.iter().map(|folder| downloads::folder_of(folder)).collect::<Option<Vec<_>>>();
    in_one(&folders).or_else(|| in_one(&downloads()?))
}

/// Reads a robots.txt up to the length that crawlers read.
///
/// # Errors
/// [`Error`] when it cannot be read.
pub(crate) fn read_robots(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(ROBOTS_BYTES).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| Error::system("read", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_robots_txt_is_found_beside_all_files_of_a_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let beside = |names: &[&str]| robots_beside(&names.iter().map(|name| path(name)).collect::<Vec<_>>());
        assert_eq!(beside(&["a.xml"]), None);
        std::fs::create_dir_all(path("sub/robots.txt")).unwrap();
        std::fs::write(path("robots.txt"), "User-agent: *\n").unwrap();
        let found = Some(path("robots.txt"));
        assert_eq!((beside(&["a.xml", "b.xml"]), beside(&[""])), (found.clone(), found));
        // A folder named robots.txt does not count, nor does one beside only some of the files.
        assert_eq!((beside(&["sub"]), beside(&["a.xml", "sub/b.xml"])), (None, None));
        assert_eq!(robots_beside(&[PathBuf::from("-")]), None);
        assert_eq!(read_robots(&path("robots.txt")).unwrap(), b"User-agent: *\n");
        std::fs::write(path("robots.txt"), vec![b'#'; robots::MAX_BYTES + 1]).unwrap();
        assert_eq!(read_robots(&path("robots.txt")).unwrap().len(), robots::MAX_BYTES);
    }
}
