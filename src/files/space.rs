//! Explains failed writes for lack of space: full disk, quota, or file size limit, with numbers.
//!
//! Queried only after a write has failed: free space changes all the time, so nothing is refused in advance.

use super::error::{Error, Reason, Shortage, SpaceNeeded};
use std::io;
use std::path::Path;

/// Returns the error with the missing bytes if space is the reason. `needed` is the number of bytes that the save
/// writes to this file system.
pub(super) fn explained(error: Error, needed: u64) -> Error {
    let (act, source, begun) = match &error.reason {
        Reason::System { act, source } => (*act, source, false),
        Reason::Unfinished { act, source } => (*act, source, true),
        _ => return error,
    };
    let folder = error.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = if error.path.is_dir() { &error.path } else { folder };
    let (free, no_more_files) = free(folder);
    let shortage = match source.kind() {
        io::ErrorKind::StorageFull if no_more_files => Shortage::Files,
        io::ErrorKind::StorageFull => Shortage::Disk,
        io::ErrorKind::QuotaExceeded => Shortage::Quota,
        io::ErrorKind::FileTooLarge => Shortage::FileSize(largest_file()),
        _ => return error,
    };
    Error { reason: Reason::NoSpace { act, space: SpaceNeeded { shortage, needed, free }, begun }, ..error }
}

/// Bytes that this user may still write to the file system of a folder, and whether it can hold no more files.
#[cfg(unix)]
fn free(folder: &Path) -> (Option<u64>, bool) {
    match rustix::fs::statvfs(folder) {
        // Some file systems do not count files and report 0 of 0.
        Ok(there) => (Some(there.f_bavail.saturating_mul(there.f_frsize)), there.f_files > 0 && there.f_favail == 0),
        Err(_) => (None, false),
    }
}

#[cfg(not(unix))]
fn free(_: &Path) -> (Option<u64>, bool) {
    (None, false)
}

/// The file size limit of this process, in bytes.
#[cfg(unix)]
fn largest_file() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

#[cfg(not(unix))]
fn largest_file() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explain(kind: io::ErrorKind, needed: u64) -> (String, &'static str) {
        let folder = tempfile::tempdir().unwrap();
        let error = explained(Error::system("write", &folder.path().join("a.xml"), kind.into()), needed);
        (error.reason.to_string(), error.hint().unwrap_or_default())
    }

    #[test]
    fn a_message_gives_the_missing_space_and_a_remedy() {
        let (message, hint) = explain(io::ErrorKind::StorageFull, u64::MAX);
        assert!(message.contains("the disk is full") && hint.contains("free some space"), "{message}");
        assert!(!cfg!(unix) || message.contains("are missing"), "{message}");
        let (message, hint) = explain(io::ErrorKind::QuotaExceeded, 1_234);
        assert!(message.contains("quota") && message.contains("1,234 bytes") && hint.contains("yours"), "{message}");
        let (message, hint) = explain(io::ErrorKind::FileTooLarge, 1);
        assert!(message.contains("too large") || message.contains("ulimit -f"), "{message}");
        assert!(hint.contains("ulimit -f"));
        let (message, hint) = explain(io::ErrorKind::ReadOnlyFilesystem, 1);
        assert!(message.contains("mounted read-only") && hint.contains("-o OUT"), "{message}");
        let (message, _) = explain(io::ErrorKind::ConnectionReset, 1);
        assert!(message.contains("cannot write"), "{message}");
    }

    #[test]
    fn a_half_done_save_is_not_reported_as_unchanged() {
        let error = Error::system("rename", Path::new("a.xml"), io::ErrorKind::StorageFull.into()).into_unfinished();
        let error = explained(error, 1);
        assert!(matches!(error.reason, Reason::NoSpace { begun: true, .. }));
        assert!(error.hint().unwrap().contains("finishes it"));
    }
}
