//! Reads and atomically replaces small files (baseline, rules file), and lists folders for completion.

use super::decode::decode;
use super::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Reads a text file.
///
/// # Errors
/// If the file cannot be read or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::system("read", path, error))
}

/// Reads a table of another program as UTF-8; spreadsheets also write UTF-16 or the code page of the system.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn read_table(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::system("read", path, error))?;
    // Decoding has made it UTF-8.
    Ok(match String::from_utf8(decode(bytes).bytes.into_vec()) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Writes or replaces a file atomically.
///
/// # Errors
/// If it cannot be written; the old content is kept.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|error| Error::system("write", path, error))?;
    file.commit()
}

/// A file that is written atomically on [`Self::commit`]; dropping it earlier changes nothing.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl AtomicFile {
    /// Creates a temporary file beside the path.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::system("write", path, error);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut options = tempfile::Builder::new();
        options.prefix(".sited-");
        // A new file gets the user's default mode; an existing one keeps its mode.
        #[cfg(unix)]
        options.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = options.tempfile_in(folder).map_err(failed)?;
        if let Ok(before) = std::fs::metadata(path) {
            file.as_file().set_permissions(before.permissions()).map_err(failed)?;
        }
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), path: path.to_path_buf() })
    }

    /// Syncs the file and renames it to its path.
    ///
    /// # Errors
    /// If it cannot be written; the old content is kept.
    pub(crate) fn commit(self) -> Result<(), Error> {
        let Self { file, path } = self;
        let failed = |error| Error::system("write", &path, error);
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether the path exists, even as a broken link.
pub fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Maximum number of names in a folder that are examined for completion.
const MAX_NAMES: usize = 10_000;

/// The names in a folder, sorted, with a slash after those of folders; empty if it cannot be read. Names that cannot be
/// typed are left out.
pub fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let named = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let can_be_typed = !name.contains(char::is_control) && name.trim() == name && !name.starts_with('"');
        let slash = if entry.path().is_dir() { "/" } else { "" };
        can_be_typed.then(|| format!("{name}{slash}"))
    };
    let mut names: Vec<String> = entries.take(MAX_NAMES).filter_map(|entry| named(entry.ok()?)).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_atomic(&path, b"1").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        write_atomic(&path, b"22").unwrap();
        assert_eq!(read_text(&path).unwrap(), "22");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomic(&folder.path().join("none/a"), b"1").is_err());
    }
}
