//! The locks of an open set, shared by the session and the jobs that take or release some of them.
//!
//! Taking a lock reads and writes files and may wait for another process, so the user interface does it in jobs. The
//! session and its jobs share the locks: a lock that a job has taken is still held when the job ends.

use super::super::disk::Disk;
use super::super::lock::file_locks::FileLocks;
use super::super::lock::{FileKeys, Lock, LockedByOther, NoLock, create_own_folder, keys, real_path};
use super::format::Header;
use super::{EXTENSION, JournalFailure, StateSlot};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// The lock of a set in the state folder, which is held if the folder is writable.
#[derive(Debug)]
pub(super) struct StateLock {
    folder: PathBuf,
    name: String,
    keys: FileKeys,
    lock: Option<Lock>,
}

impl StateLock {
    /// Takes the lock if it is not held: the folder may have become writable, or may have been removed.
    fn ensure(&mut self) -> Result<(), NoLock> {
        if self.lock.as_ref().is_some_and(Lock::is_in_place) {
            self.lock.iter_mut().for_each(Lock::list);
            return Ok(());
        }
        self.take(None)
    }

    fn take(&mut self, other: Option<&Lock>) -> Result<(), NoLock> {
        self.lock = None;
        create_own_folder(&self.folder)?;
        self.lock = Some(Lock::take(other, &self.folder, &self.name, &self.keys)?);
        Ok(())
    }

    /// Changes the files that the lock is for.
    fn hold(&mut self, keys: FileKeys) -> Result<(), LockedByOther> {
        if let Some(lock) = &mut self.lock {
            lock.hold(keys.clone())?;
        }
        self.keys = keys;
        Ok(())
    }
}

/// The path of a journal, with the lock that writing it requires.
#[derive(Debug, Clone)]
pub(super) struct JournalPath {
    path: Option<PathBuf>,
    lock: Arc<Mutex<StateLock>>,
}

impl JournalPath {
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn lock(&self) -> MutexGuard<'_, StateLock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_locked(&self) -> bool {
        self.lock().lock.is_some()
    }

    /// The path, if this process holds the lock.
    pub(super) fn writable_path(&self) -> Result<&Path, JournalFailure> {
        let path = self.path().ok_or(JournalFailure::NoFolder)?;
        let mut lock = self.lock();
        match lock.ensure() {
            Ok(()) => Ok(path),
            Err(NoLock::Held(held)) => Err(JournalFailure::Held(held)),
            Err(NoLock::Io(error)) => Err(JournalFailure::of_folder(lock.folder.clone(), &error)),
        }
    }
}

/// The locks of one set: one in the state folder and those on its files. Clones share them.
#[derive(Debug, Clone)]
pub struct SlotLocks {
    pub(super) journal: JournalPath,
    /// The real paths by which the set is opened.
    pub(super) set: Arc<[PathBuf]>,
    files: Arc<Mutex<FileLocks>>,
}

impl SlotLocks {
    /// Takes the locks of a set. Files that this process has locked through `other` can be locked again.
    pub(super) fn take(
        other: Option<&Self>,
        folder: Option<PathBuf>,
        name: String,
        set: Vec<PathBuf>,
    ) -> Result<Self, LockedByOther> {
        let path = folder.as_ref().map(|folder| folder.join(&name).with_extension(EXTENSION));
        let keys = keys(set.iter().map(PathBuf::as_path));
        let mut lock = StateLock { folder: folder.unwrap_or_default(), name, keys, lock: None };
        let others = other.map(|other| other.journal.lock());
        let taken = match path {
            Some(_) => lock.take(others.as_ref().and_then(|other| other.lock.as_ref())),
            None => Ok(()),
        };
        drop(others);
        if let Err(NoLock::Held(held)) = taken {
            return Err(held);
        }
        if let Some(keys) = lock.lock.as_ref().map(|lock| lock.keys().clone()) {
            lock.keys = keys;
        }
        let mut files = other.map(|other| other.files().shared()).unwrap_or_default();
        files.hold(set.iter().map(PathBuf::as_path))?;
        let journal = JournalPath { path, lock: Arc::new(Mutex::new(lock)) };
        Ok(Self { journal, set: set.into(), files: Arc::new(Mutex::new(files)) })
    }

    fn files(&self) -> MutexGuard<'_, FileLocks> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks more files that belong to the set, or that it will create.
    ///
    /// # Errors
    /// [`LockedByOther`] if another process has locked one of them; the locks held before are kept.
    pub fn claim<'p>(&self, files: impl Iterator<Item = &'p Path>) -> Result<(), LockedByOther> {
        let files: Vec<&Path> = files.collect();
        let mut lock = self.journal.lock();
        let keys = &lock.keys | &keys(files.iter().copied());
        lock.hold(keys)?;
        drop(lock);
        self.files().hold(files.into_iter())
    }

    /// Releases every file except those of `disk` and those by which the set is opened, and locks the files that a save
    /// has created in their place.
    ///
    /// # Errors
    /// [`LockedByOther`] if another process has locked one of them first.
    pub fn claim_only(&self, disk: &Disk) -> Result<(), LockedByOther> {
        let files: Vec<&Path> = self.set.iter().map(PathBuf::as_path).chain(disk.paths()).collect();
        let mut lock = self.journal.lock();
        let keys = &keys(files.iter().copied()) & &lock.keys;
        lock.hold(keys)?;
        drop(lock);
        self.files().hold_only(files.into_iter())
    }

    /// The header of a journal of the set.
    pub fn header(&self, disk: &Disk, begun: i64) -> Header {
        Header::new(&self.set, disk, begun)
    }

    /// Takes the state slot of the same set at other paths; `None` if it is this slot.
    ///
    /// # Errors
    /// [`LockedByOther`] if another process has locked one of them.
    pub fn take_moved(&self, set: &[PathBuf]) -> Result<Option<StateSlot>, LockedByOther> {
        if set.iter().map(|path| real_path(path)).eq(self.set.iter().cloned()) {
            return Ok(None);
        }
        let state = self.journal.path().and_then(Path::parent).and_then(Path::parent);
        StateSlot::acquire_sharing(Some(self), state, set).map(Some)
    }

    /// Whether any lock prevents another process from changing the set. Does not wait for jobs: a job that is taking
    /// locks counts as holding some.
    pub(super) fn is_exclusive(&self) -> bool {
        let is_locked = match self.journal.lock.try_lock() {
            Ok(lock) => lock.lock.is_some(),
            Err(TryLockError::Poisoned(lock)) => lock.into_inner().lock.is_some(),
            Err(TryLockError::WouldBlock) => true,
        };
        is_locked || self.files.try_lock().map_or(true, |files| files.has_locks())
    }
}
