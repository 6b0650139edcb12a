//! Writes downloads to temporary files beside their targets; complete ones are synced and renamed.
//!
//! Invariant: no file is written outside of the download's folder.

use super::disk::Fingerprint;
use super::external_changes::hash_of;
use super::temporary::{SUFFIX, sweep, temporary_prefix};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// A folder for downloaded files.
#[derive(Debug)]
pub struct IncomingFolder {
    path: PathBuf,
    /// The path without links.
    real: PathBuf,
    /// Subfolders from which files of dead processes were removed.
    swept: Mutex<HashSet<PathBuf>>,
}

/// A file that is not complete yet. It is removed when dropped.
#[derive(Debug)]
pub struct Incoming {
    file: NamedTempFile,
    target: PathBuf,
    hash: Fingerprint,
    len: u64,
}

impl IncomingFolder {
    /// Opens a folder, or creates it.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let real = path.canonicalize()?;
        Ok(Self { path: path.to_path_buf(), real, swept: Mutex::default() })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The hash of a file in the folder; `None` if it does not exist.
    ///
    /// # Errors
    /// `InvalidInput` if it is not a regular file or its path leads out of the folder, else the error of the system.
    pub fn hash(&self, name: &Path) -> io::Result<Option<u64>> {
        let path = self.path.join(name);
        let status = match fs::symlink_metadata(&path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            status => status?,
        };
        if !status.is_file() || !path.canonicalize()?.starts_with(&self.real) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file of the folder"));
        }
        Ok(Some(hash_of(&mut File::open(&path)?)?))
    }

    /// Creates the temporary file of a download, and its folders. `name` is a relative path without `.` or `..`.
    ///
    /// # Errors
    /// `InvalidInput` if the name or a link leads out of the folder, else the error of the system.
    pub fn begin(&self, name: &Path) -> io::Result<Incoming> {
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "its path leads out of the folder");
        let (mut folder, parent) = (self.path.clone(), name.parent().ok_or_else(outside)?);
        let file_name = name.file_name().ok_or_else(outside)?;
        for component in parent.components() {
            let Component::Normal(part) = component else { return Err(outside()) };
            folder.push(part);
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            if !folder.canonicalize()?.starts_with(&self.real) {
                return Err(outside());
            }
        }
        if self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone()) {
            sweep(&folder.canonicalize()?);
        }
        let prefix = temporary_prefix(&file_name.to_string_lossy());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(&folder)?;
        Ok(Incoming { file, target: folder.join(file_name), hash: Fingerprint::default(), len: 0 })
    }
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Incoming {
    /// The path of the temporary file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Number of bytes written so far.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether no byte was written yet.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The hash of the bytes written so far.
    pub fn hash(&self) -> u64 {
        self.hash.clone().finish()
    }

    /// Discards the bytes written so far.
    ///
    /// # Errors
    /// The error of the system.
    pub fn restart(&mut self) -> io::Result<()> {
        self.file.as_file().set_len(0)?;
        io::Seek::rewind(self.file.as_file_mut())?;
        (self.hash, self.len) = (Fingerprint::default(), 0);
        Ok(())
    }

    /// Replaces the target with the file, which gets the target's mode. A link is replaced, not followed.
    ///
    /// # Errors
    /// The error of the system; the target is unchanged then.
    pub fn complete(self) -> io::Result<()> {
        if let Ok(before) = fs::symlink_metadata(&self.target)
            && before.is_file()
        {
            self.file.as_file().set_permissions(before.permissions())?;
        }
        self.file.as_file().sync_all()?;
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf);
        self.file.persist(&self.target).map_err(|error| error.error)?;
        // Not every system can sync a folder; the file itself is complete.
        let _ = File::open(folder.unwrap_or_else(|| ".".into())).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_exists_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let incoming = IncomingFolder::open(&folder.path().join("e.com")).unwrap();
        let name = Path::new("maps/a.xml");
        let mut file = incoming.begin(name).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(incoming.hash(name).unwrap(), None);
        drop(file);
        assert!(names(&incoming.path().join("maps")).is_empty());
        let mut file = incoming.begin(name).unwrap();
        file.write_all(b"wrong").unwrap();
        file.restart().unwrap();
        file.write_all(b"whole").unwrap();
        let hash = file.hash();
        file.complete().unwrap();
        assert_eq!(fs::read(incoming.path().join(name)).unwrap(), b"whole");
        assert_eq!((incoming.hash(name).unwrap(), names(&incoming.path().join("maps")).len()), (Some(hash), 1));
    }

    #[test]
    fn no_name_escapes_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let incoming = IncomingFolder::open(&folder.path().join("in")).unwrap();
        for name in ["../a.xml", "a/../../b.xml", "/etc/a.xml", "..", ""] {
            assert!(incoming.begin(Path::new(name)).is_err(), "{name}");
        }
        #[cfg(unix)]
        {
            fs::create_dir(folder.path().join("out")).unwrap();
            std::os::unix::fs::symlink("../out", incoming.path().join("link")).unwrap();
            assert!(incoming.begin(Path::new("link/a.xml")).is_err());
            fs::write(folder.path().join("out/a.xml"), "x").unwrap();
            assert!(incoming.hash(Path::new("link/a.xml")).is_err());
            std::os::unix::fs::symlink("../out/a.xml", incoming.path().join("a.xml")).unwrap();
            assert!(incoming.hash(Path::new("a.xml")).is_err());
            // A link is replaced, and its target is unchanged.
            incoming.begin(Path::new("a.xml")).unwrap().complete().unwrap();
            assert_eq!(fs::read(folder.path().join("out/a.xml")).unwrap(), b"x");
        }
        assert!(names(folder.path()).iter().all(|name| name == "in" || name == "out"));
    }
}
