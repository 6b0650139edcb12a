//! The lock of an open set in the user's state folder: one process edits a set at a time.
//!
//! Invariant: two sets that share a file are never open for editing at the same time, whatever path each was opened by:
//! the index, a single sitemap, a link, a folder or a list of files. A lock file contains the process id and a key of
//! each file. A process reads the other lock files before it takes a lock, and locks the folder while it does both.
//! Only the locks of dead processes are left behind; the next process removes them. Lock files of other users, links,
//! pipes and oversized files are ignored and not changed.

pub(super) mod file_locks;

use super::disk::{fingerprint, identity};
use super::trust;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Why a set cannot be edited: another process has it open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("another sited{} has it open{}", of(.process.as_ref()), if *.elsewhere { ELSEWHERE } else { "" })]
pub struct LockedByOther {
    /// The process id, if known.
    pub process: Option<u32>,
    /// Whether the file itself is locked by a process that has no lock file in this user's state folder.
    pub elsewhere: bool,
}

const ELSEWHERE: &str = " with another state folder (another user, sudo or a container)";

fn of(process: Option<&u32>) -> String {
    process.map_or_else(String::new, |process| format!(" (process {process})"))
}

/// The extension of every lock file.
const EXTENSION: &str = "lock";

/// Maximum wait for another process that is taking a lock. Taking one needs far less.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Maximum size of a lock file in bytes: enough for the keys of a million files.
const MAX_LOCK_FILE_BYTES: u64 = 32 << 20;

/// The time between two attempts to take a lock.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Keys of files: a hash of each real path, and one of the inode if the file has several hard links.
pub(super) type FileKeys = BTreeSet<u64>;

/// The keys of files by their paths.
pub(super) fn keys<'p>(files: impl Iterator<Item = &'p Path>) -> FileKeys {
    let mut folders = HashMap::new();
    let mut keys = FileKeys::new();
    for path in files {
        keys.insert(fingerprint(real_path_cached(path, &mut folders).as_os_str().as_encoded_bytes()));
        keys.extend(inode_key(path));
    }
    keys
}

/// The path with all links resolved, as far as it exists.
pub(super) fn real_path(path: &Path) -> PathBuf {
    real_path_cached(path, &mut HashMap::new())
}

/// Returns the real path of a file; `folders` caches the real path of each folder.
pub(super) fn real_path_cached<'p>(path: &'p Path, folders: &mut HashMap<&'p Path, Option<PathBuf>>) -> PathBuf {
    let is_followed = path.is_symlink() || path.file_name().is_none();
    if is_followed && let Ok(real) = path.canonicalize() {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folders.entry(folder).or_insert_with(|| folder.canonicalize().ok()) {
        Some(folder) => folder.join(path.file_name().unwrap_or_default()),
        None => path.to_path_buf(),
    }
}

/// The inode key of a file that has several hard links.
fn inode_key(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok().filter(|metadata| super::replace_target::hard_links(metadata) > 1)?;
    let (device, inode) = identity(&metadata)?;
    Some(fingerprint(format!("{device} {inode}").as_bytes()))
}

/// A held lock; its file is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    file: File,
    keys: FileKeys,
    /// Whether the lock file lists all keys.
    is_listed: bool,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is still locked: a process that has opened it since will notice that it is no longer the file of
        // that name. If another file has this name (after the state folder was removed), it belongs to another lock.
        if self.is_in_place() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock {
    /// Takes the lock of a name in a folder. The new lock also covers all files of `other`, a lock held already.
    ///
    /// # Errors
    /// [`NoLock`] if another process has one of the files, the lock file cannot be created, or the file system has no
    /// locks.
    pub(super) fn take(other: Option<&Self>, folder: &Path, name: &str, keys: &FileKeys) -> Result<Self, NoLock> {
        let _lock_dir = LockDir::lock(folder);
        let path = folder.join(name).with_extension(EXTENSION);
        let file = open_and_lock(&path)?;
        let held = other.map(|other| other.keys.clone()).unwrap_or_default();
        let keys = keys | &held;
        let mut lock = Self { path, file, keys: held, is_listed: true };
        lock.lock_only_keys(keys)?;
        Ok(lock)
    }

    /// Whether the lock's path in the state folder is still this lock file.
    pub(super) fn is_in_place(&self) -> bool {
        is_file_of(&self.file, &self.path)
    }

    /// Writes the keys to the lock file if that has failed before (the disk was full).
    pub(super) fn list(&mut self) {
        if !self.is_listed {
            self.write();
        }
    }

    /// Makes these keys the only ones that are held.
    ///
    /// # Errors
    /// If another process has one of them; the held keys are unchanged then.
    pub(super) fn hold(&mut self, keys: FileKeys) -> Result<(), LockedByOther> {
        if keys == self.keys {
            return Ok(());
        }
        let _lock_dir = self.path.parent().map(LockDir::lock);
        self.lock_only_keys(keys)
    }

    /// The keys that are held.
    pub(super) const fn keys(&self) -> &FileKeys {
        &self.keys
    }

    fn lock_only_keys(&mut self, keys: FileKeys) -> Result<(), LockedByOther> {
        let new: FileKeys = keys.difference(&self.keys).copied().collect();
        if !new.is_empty() {
            self.check_others(&new)?;
        }
        self.keys = keys;
        self.write();
        Ok(())
    }

    /// Writes the keys. If that fails, only the name is locked until [`Lock::list`] succeeds.
    fn write(&mut self) {
        let lines: Vec<String> = self.keys.iter().map(|key| format!("{key:016x}\n")).collect();
        let text = format!("{}\n{}", std::process::id(), lines.concat());
        let written = self.file.rewind().and_then(|()| self.file.set_len(0));
        self.is_listed = written.and_then(|()| self.file.write_all(text.as_bytes())).is_ok();
    }

    /// Checks that no other process holds one of these keys.
    fn check_others(&self, keys: &FileKeys) -> Result<(), LockedByOther> {
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        for path in
            paths.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION) && *path != self.path)
        {
            let Ok(mut file) = trust::open_own(&path) else { continue };
            match file.try_lock_shared() {
                // No process holds it.
                Ok(()) => drop(fs::remove_file(&path)),
                Err(TryLockError::WouldBlock) => {
                    let (process, theirs) = read_lock_file(&mut file);
                    if theirs.intersection(keys).next().is_some() {
                        return Err(LockedByOther { process, elsewhere: false });
                    }
                }
                Err(TryLockError::Error(_)) => {}
            }
        }
        Ok(())
    }
}

/// Why there is no lock in the state folder.
#[derive(Debug)]
pub(super) enum NoLock {
    /// Another process has one of the files.
    Held(LockedByOther),
    /// The lock file cannot be created, or the file system has no locks.
    Io(io::Error),
}

impl From<LockedByOther> for NoLock {
    fn from(held: LockedByOther) -> Self {
        Self::Held(held)
    }
}

impl From<io::Error> for NoLock {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Opens and locks a lock file.
fn open_and_lock(path: &Path) -> Result<File, NoLock> {
    loop {
        let mut file = open_unlocked(path)?;
        match file.try_lock() {
            Ok(()) if is_file_of(&file, path) => return Ok(file),
            // Its owner has just removed it.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockedByOther { process: read_lock_file(&mut file).0, elsewhere: false }.into());
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

/// Opens or creates a lock file that belongs to this user and has one hard link, so that writing changes no other file.
fn open_unlocked(path: &Path) -> io::Result<File> {
    // Repeated if the owner removes the file between the two attempts.
    for _ in 0..1_000 {
        match private_options().create_new(true).read(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
        match trust::open_own_with(OpenOptions::new().read(true).write(true), path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(file) if super::replace_target::hard_links(&file.metadata()?) > 1 => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the lock file has a second hard link"));
            }
            opened => return opened,
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Reads the process id and the keys from a lock file.
fn read_lock_file(file: &mut File) -> (Option<u32>, FileKeys) {
    let bytes = trust::read_at_most(file, MAX_LOCK_FILE_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.trim().parse().ok()).filter(|process| *process > 0);
    (process, lines.filter_map(|line| u64::from_str_radix(line.trim(), 16).ok()).collect())
}

/// Whether a path still leads to an open file; false if the system cannot tell.
pub(super) fn is_file_of(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(&open) == identity(&named),
        _ => false,
    }
}

/// Options to open a file for writing that is created with mode 0600.
pub(super) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a folder with mode 0700, since its contents may be private.
pub(super) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a folder in the state folder if it is missing, and checks that no other user can write to it.
///
/// # Errors
/// If it belongs to another user or others may write to it, since its files could be theirs.
pub(super) fn create_own_folder(folder: &Path) -> io::Result<()> {
    create_private_folder(folder)?;
    [Some(folder), folder.parent()].into_iter().flatten().try_for_each(check_own_folder)
}

/// Checks that a folder belongs to this user and no other user can create files in it.
///
/// # Errors
/// If that is not so.
pub(super) fn check_own_folder(folder: &Path) -> io::Result<()> {
    let metadata = fs::metadata(folder)?;
    trust::check_owner(&metadata)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o7777;
        if mode & 0o022 != 0 {
            let message = format!("others can write to it (mode {mode:o}); make it private: chmod 700");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
    }
    Ok(())
}

/// A lock on the folder of the locks: only its holder reads and takes locks.
struct LockDir(#[expect(dead_code, reason = "holds the lock as long as it is there")] File);

impl LockDir {
    /// Locks the folder. `None` if folders cannot be locked, or another process holds the lock for too long: two
    /// processes that start at the same time may then both get a lock, unless they use the same path.
    fn lock(folder: &Path) -> Option<Self> {
        let file = File::open(folder).ok()?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Some(Self(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < MAX_WAIT => std::thread::park_timeout(POLL_INTERVAL),
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(paths: &[PathBuf]) -> FileKeys {
        keys(paths.iter().map(PathBuf::as_path))
    }

    #[test]
    fn sets_that_share_a_file_are_not_both_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let take = |name: &str, keys: &[u64]| Lock::take(None, folder.path(), name, &keys.iter().copied().collect());
        let mut one = take("one", &[1, 2]).unwrap();
        let Err(NoLock::Held(held)) = take("two", &[2, 3]) else { panic!("both are locked") };
        assert_eq!(held, LockedByOther { process: Some(std::process::id()), elsewhere: false });
        assert!(!path("two.lock").exists(), "a refused lock leaves no file");
        let mut two = take("two", &[3]).unwrap();
        assert!(one.hold([1, 2, 3].into()).is_err());
        assert_eq!(one.keys(), &[1, 2].into());
        // A released key can be taken by the other.
        one.hold([1].into()).unwrap();
        two.hold([2, 3].into()).unwrap();
        // The lock of a dead process is ignored and removed.
        fs::write(path("dead.lock"), format!("1\n{:016x}\n", 1)).unwrap();
        drop(one);
        assert!(take("three", &[1]).is_ok());
        assert!(!path("dead.lock").exists() && !path("one.lock").exists());
        assert!(take("two", &[9]).is_err(), "one name, one lock");
    }

    #[cfg(unix)]
    #[test]
    fn links_to_a_file_share_a_key_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("deep")).unwrap();
        for name in ["a.xml", "deep/b.xml"] {
            fs::write(path(name), "").unwrap();
        }
        std::os::unix::fs::symlink("deep", path("link")).unwrap();
        std::os::unix::fs::symlink("a.xml", path("c.xml")).unwrap();
        fs::hard_link(path("a.xml"), path("d.xml")).unwrap();
        let shared =
            |one: &str, other: &str| keys_of(&[path(one)]).intersection(&keys_of(&[path(other)])).next().is_some();
        assert!(shared("a.xml", "c.xml") && shared("a.xml", "d.xml") && shared("c.xml", "d.xml"));
        assert!(shared("deep/b.xml", "link/b.xml") && shared("new.xml", "deep/../new.xml"));
        assert!(!shared("a.xml", "deep/b.xml"));
    }
}
