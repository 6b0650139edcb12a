//! Opens files that another user or program may have created: commit records, backups, journals, locks.
//!
//! Invariant: opening one of them does not block and does not follow a link at the end of the path. Only regular files
//! of the current user are read, up to the size that the caller allows.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Why a file is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TrustError {
    /// The last component of its path is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// It is a folder, a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It belongs to the user with this id.
    #[cfg(unix)]
    #[error("it belongs to another user (uid {0})")]
    Owner(u32),
    /// It is larger than such a file can be.
    #[error("it has more than {0} bytes")]
    TooLarge(u64),
}

impl From<TrustError> for io::Error {
    fn from(why: TrustError) -> Self {
        Self::new(io::ErrorKind::InvalidData, why)
    }
}

/// Opens a regular file of the current user for reading.
///
/// # Errors
/// [`TrustError`] in an error of the kind `InvalidData`, otherwise the error of the system.
pub(super) fn open_own(path: &Path) -> io::Result<File> {
    open_own_with(OpenOptions::new().read(true), path)
}

/// Opens a regular file of the current user with other options. They must not create or truncate, since the file is
/// checked after it is opened.
pub(super) fn open_own_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = open_without_links(options, path)?;
    check_own(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of the current user that has at most `limit` bytes.
///
/// # Errors
/// As [`open_own`], and [`TrustError::TooLarge`].
pub(super) fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_at_most(&mut open_own(path)?, limit)
}

/// Reads to the end of a file that has at most `limit` bytes, whatever length its metadata reports.
///
/// # Errors
/// [`TrustError::TooLarge`], or the error of the system.
pub(super) fn read_at_most(file: &mut File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Read::by_ref(file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(TrustError::TooLarge(limit).into());
    }
    Ok(bytes)
}

/// Checks that this is a regular file of the current user.
///
/// # Errors
/// [`TrustError`] if it is not.
pub(super) fn check_own(metadata: &Metadata) -> Result<(), TrustError> {
    if !metadata.is_file() {
        return Err(TrustError::NotRegular);
    }
    check_owner(metadata)
}

/// Checks that a file or folder belongs to the current user.
///
/// # Errors
/// [`TrustError::Owner`] if it does not.
#[cfg(unix)]
pub(super) fn check_owner(metadata: &Metadata) -> Result<(), TrustError> {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    if owner == rustix::process::geteuid().as_raw() { Ok(()) } else { Err(TrustError::Owner(owner)) }
}

#[cfg(not(unix))]
pub(super) fn check_owner(_: &Metadata) -> Result<(), TrustError> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn open_without_links(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::os::unix::fs::OpenOptionsExt;
    // Without NONBLOCK, opening a pipe without a writer would block.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() || code == Errno::MLINK.raw_os_error() => {
            TrustError::Link.into()
        }
        // A socket, a pipe without a reader that is opened for writing, a folder.
        Some(code) if code == Errno::NXIO.raw_os_error() || code == Errno::ISDIR.raw_os_error() => {
            TrustError::NotRegular.into()
        }
        _ => error,
    })
}

#[cfg(not(unix))]
pub(super) fn open_without_links(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(TrustError::Link.into());
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn trust_error(error: &io::Error) -> Option<TrustError> {
        error.get_ref()?.downcast_ref::<TrustError>().copied()
    }

    #[test]
    fn a_regular_file_of_bounded_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_own(&path, 5).unwrap(), b"12345");
        assert_eq!(trust_error(&read_own(&path, 4).unwrap_err()), Some(TrustError::TooLarge(4)));
        assert_eq!(read_own(&folder.path().join("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_sockets_folders_and_devices_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("endless")).unwrap();
        std::os::unix::fs::symlink("nothing", path("dangling")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (name, why) in [
            ("link", TrustError::Link),
            ("endless", TrustError::Link),
            ("dangling", TrustError::Link),
            ("pipe", TrustError::NotRegular),
            ("socket", TrustError::NotRegular),
            (".", TrustError::NotRegular),
        ] {
            assert_eq!(trust_error(&read_own(&path(name), 99).unwrap_err()), Some(why), "{name}");
        }
        assert_eq!(trust_error(&open_own(Path::new("/dev/null")).unwrap_err()), Some(TrustError::NotRegular));
    }

    /// Only root can create a file of another user.
    #[cfg(unix)]
    #[test]
    fn a_file_of_another_user_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_err() {
            eprintln!("SKIPPED: a file can be given to another user by root alone");
            return;
        }
        assert_eq!(trust_error(&read_own(&path, 99).unwrap_err()), Some(TrustError::Owner(65_534)));
    }
}
