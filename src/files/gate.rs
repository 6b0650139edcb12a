//! Operations that change the file system, each with a hook for fault injection in tests.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// An operation that changes the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FsOperation {
    Create,
    Write,
    Sync,
    Rename,
    Remove,
    SyncFolder,
    /// Copy a file that will be replaced.
    Backup,
    /// Preallocates the disk space for bytes that are copied into a file.
    Reserve,
    /// Write bytes into a file that is overwritten in place.
    Copy,
    /// Write the commit record.
    Record,
    /// Remove the commit record.
    Unrecord,
}

/// Hook before each operation, for fault injection in tests.
pub(super) trait Gate: Sync {
    fn pass(&self, step: FsOperation) -> io::Result<()>;

    /// Writes bytes; tests may write fewer than they return.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        self.pass(FsOperation::Write)?;
        file.write(bytes)
    }
}

/// Allows every operation.
pub(super) struct AllowAll;

impl Gate for AllowAll {
    fn pass(&self, _: FsOperation) -> io::Result<()> {
        Ok(())
    }
}

/// Runs one operation, and repeats it if a signal interrupts it.
pub(super) fn attempt<T>(gate: &dyn Gate, step: FsOperation, mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match gate.pass(step).and_then(|()| work()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Syncs a folder, so that renames in it are durable. Does nothing on file systems that cannot sync folders.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
