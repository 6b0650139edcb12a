//! Advisory locks (`flock`) on the files of a set, for processes that do not share the state folder.
//!
//! A lock covers the whole file: nothing is written, readers are not affected, and the lock ends with its process. A
//! save replaces locked files with new ones, so the locks are taken again after it. If a file system has no such locks,
//! files are not locked; nor are they on Windows, where locks would block readers.

use super::LockedByOther;
use crate::files::disk::identity;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of locked files. Each lock needs an open file, and after a save both the old and the new ones are
/// open. Half of the process's file descriptors are left for everything else. Of a larger set, the first files are
/// locked.
fn max_locks() -> usize {
    /// Used if the system has no limit or does not report it.
    const UNLIMITED: u64 = 1 << 16;
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let limit = None;
    usize::try_from(limit.unwrap_or(UNLIMITED).min(UNLIMITED) / 4).unwrap_or_default()
}

/// Device and inode.
type Identity = (u64, u64);

/// The locks of one open set.
#[derive(Debug, Default)]
pub(in crate::files) struct FileLocks {
    held: BTreeMap<Identity, Arc<LockedFile>>,
}

/// A file with a lock that is released when this is dropped. To close the file does not release it while a child process
/// that is being started has the file open too.
#[derive(Debug)]
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl FileLocks {
    /// Returns the same locks for another set of this process; they are released when both are dropped.
    pub(in crate::files) fn shared(&self) -> Self {
        Self { held: self.held.clone() }
    }

    /// Locks these files too.
    ///
    /// # Errors
    /// [`LockedByOther`] if another process has one of them; locks that are held already stay.
    pub(in crate::files) fn hold<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> Result<(), LockedByOther> {
        self.lock_reusing(&Self::default(), files)
    }

    /// Locks these files too, reusing the locks of `other`.
    fn lock_reusing<'p>(&mut self, other: &Self, files: impl Iterator<Item = &'p Path>) -> Result<(), LockedByOther> {
        let (mut new, max) = (BTreeMap::new(), max_locks());
        for path in files {
            if self.held.len() + new.len() >= max {
                break;
            }
            let Some((identity, metadata)) = regular_file(path) else { continue };
            if self.held.contains_key(&identity) || new.contains_key(&identity) {
                continue;
            }
            if let Some(file) = other.held.get(&identity) {
                new.insert(identity, Arc::clone(file));
            } else if let Some(file) = open_and_lock(path, &metadata)? {
                new.insert(identity, Arc::new(file));
            }
        }
        self.held.extend(new);
        Ok(())
    }

    /// Locks the current files at these paths, and releases all other locks.
    ///
    /// # Errors
    /// As [`FileLocks::hold`]; the other files are locked nevertheless.
    pub(in crate::files) fn hold_only<'p>(
        &mut self,
        files: impl Iterator<Item = &'p Path>,
    ) -> Result<(), LockedByOther> {
        let old = std::mem::take(self);
        let mut outcome = Ok(());
        for path in files {
            outcome = outcome.and(self.lock_reusing(&old, std::iter::once(path)));
        }
        outcome
    }

    /// Whether any file is locked.
    pub(in crate::files) fn has_locks(&self) -> bool {
        !self.held.is_empty()
    }
}

/// The identity and metadata of a regular file, if the system has file identities.
fn regular_file(path: &Path) -> Option<(Identity, Metadata)> {
    if cfg!(not(unix)) {
        return None;
    }
    let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some((identity(&metadata)?, metadata))
}

/// Opens and locks a file; `None` if it cannot be opened or locked here.
fn open_and_lock(path: &Path, expected: &Metadata) -> Result<Option<LockedFile>, LockedByOther> {
    let Ok(file) = open(path) else { return Ok(None) };
    // Another file may have replaced it since it was inspected.
    let is_same = file.metadata().is_ok_and(|found| identity(&found) == identity(expected));
    match file.try_lock() {
        Ok(()) => Ok(Some(LockedFile(file)).filter(|_| is_same)),
        Err(TryLockError::WouldBlock) => {
            Err(LockedByOther { process: identity(expected).and_then(holder), elsewhere: true })
        }
        // Network file systems without locks, and those that lock only files open for writing.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe that has replaced the file does not block the open.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// The id of the process that holds a lock on a file, if the system lists locks (Linux). A process of another container
/// has no id here.
fn holder((device, inode): Identity) -> Option<u32> {
    let locks = fs::read_to_string("/proc/locks").ok()?;
    parse_holder(&locks, device, inode)
}

fn parse_holder(locks: &str, device: u64, inode: u64) -> Option<u32> {
    #[cfg(unix)]
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    #[cfg(not(unix))]
    let (major, minor) = (device, 0);
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, found, ..] = words[..] else { return None };
        process.parse().ok().filter(|process| found == file && *process > 0)
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn hold(locks: &mut FileLocks, paths: &[PathBuf]) -> Result<(), LockedByOther> {
        locks.hold(paths.iter().map(PathBuf::as_path))
    }

    #[test]
    fn a_file_is_locked_under_all_its_links_until_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.xml"), "1").unwrap();
        fs::hard_link(path("a.xml"), path("b.xml")).unwrap();
        std::os::unix::fs::symlink("a.xml", path("c.xml")).unwrap();
        let (mut one, mut two) = (FileLocks::default(), FileLocks::default());
        hold(&mut one, &[path("a.xml"), path("new.xml")]).unwrap();
        for name in ["a.xml", "b.xml", "c.xml"] {
            let held = hold(&mut two, &[path(name)]).unwrap_err();
            assert!(held.elsewhere, "{name}");
            assert!(held.process.is_none_or(|process| process == std::process::id()), "{name}: {held}");
        }
        // Readers are not affected.
        assert_eq!(fs::read(path("a.xml")).unwrap(), b"1");
        // Locks of a set are shared with its successor in the same process.
        let mut next = one.shared();
        next.hold(std::iter::once(&*path("c.xml"))).unwrap();
        drop(one);
        assert!(hold(&mut two, &[path("a.xml")]).is_err());
        fs::write(path("temporary"), "2").unwrap();
        fs::rename(path("temporary"), path("a.xml")).unwrap();
        next.hold_only([&*path("a.xml")].into_iter()).unwrap();
        assert!(hold(&mut two, &[path("a.xml")]).is_err(), "the new file is held");
        hold(&mut two, &[path("b.xml")]).unwrap();
    }

    #[test]
    fn a_released_lock_is_free_though_a_child_process_that_is_being_started_has_the_open_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        fs::write(&path, "").unwrap();
        let mut one = FileLocks::default();
        hold(&mut one, std::slice::from_ref(&path)).unwrap();
        let _of_child = one.held.values().next().unwrap().0.try_clone().unwrap();
        drop(one);
        hold(&mut FileLocks::default(), &[path]).unwrap();
    }

    #[test]
    fn only_regular_files_are_opened_and_large_sets_leave_file_descriptors() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let mut locks = FileLocks::default();
        hold(&mut locks, &[path("pipe"), folder.path().to_path_buf(), path("none")]).unwrap();
        assert!(!locks.has_locks());
        let many: Vec<PathBuf> = (0..(max_locks() + 50).min(2_000)).map(|number| path(&number.to_string())).collect();
        for path in &many {
            fs::write(path, "").unwrap();
        }
        hold(&mut locks, &many).unwrap();
        assert_eq!(locks.held.len(), max_locks().min(2_000));
        assert!(fs::File::open(&many[0]).is_ok(), "file descriptors are left for other files");
    }

    #[test]
    fn the_holder_is_parsed_from_proc_locks() {
        let device = rustix::fs::makedev(8, 1);
        let list = "1: POSIX  ADVISORY  WRITE 7 08:01:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 9 08:01:43 0 EOF\n\
                    3: FLOCK  ADVISORY  WRITE 0 08:01:44 0 EOF\n4: -> FLOCK  ADVISORY  WRITE 8 08:01:42 0 EOF\n\
                    5: FLOCK  ADVISORY  WRITE 10 08:01:42 0 EOF\n";
        assert_eq!(parse_holder(list, device, 42), Some(10));
        assert_eq!(parse_holder(list, device, 44), None, "of another container");
        assert_eq!(parse_holder("rubbish\n\n", device, 42), None);
    }
}
