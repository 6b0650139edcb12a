//! The journal: unsaved changes, written to the user's state folder so that a crash loses none.
//!
//! One line for each change: a hash (XXH3, 64 bits), its number, a JSON value. The first line lists the files that the
//! journal applies to. A separate thread writes the lines, and syncs when no further line is waiting. A lock beside the
//! journal belongs to the process that has the set open, and ends with it. A journal of another set that applies to the
//! same files (a part alone, a folder, a list of files) is found as well. The session defines the meaning of the lines.
//! Journals of other users, links, pipes and files of excessive size are not read.

mod counter;
pub(crate) mod format;
mod locks;
pub(crate) mod stored;
mod writer;

use super::disk::{Disk, fingerprint};
pub(crate) use super::lock::LockedByOther;
use super::lock::{real_path, real_path_cached};
use super::{Options, trust};
pub(crate) use format::{Entry, Header, Lost, StoredJournal, Unusable};
pub(crate) use locks::SlotLocks;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use writer::{Gate, Report, Step, Writer, WriterCommand};
pub(crate) use writer::{MakeAllLines, Note, Watcher};

/// Maximum size of a journal in bytes. One that would exceed it is rewritten with the unsaved changes.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum size of the first line in bytes, enough for a set of 200,000 files.
const MAX_HEADER_BYTES: u64 = 64 << 20;

/// Why changes cannot be written to the journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalFailure {
    /// No state folder is known.
    #[error("no state folder: HOME and XDG_STATE_HOME are not set")]
    NoFolder,
    /// The disk is full.
    #[error("no space in {}", .0.display())]
    NoSpace(PathBuf),
    /// The user's quota is used up.
    #[error("the disk quota is used up in {}", .0.display())]
    Quota(PathBuf),
    /// The journal would exceed the file size limit.
    #[error("the journal in {} would exceed the limit of file sizes", .0.display())]
    TooLarge(PathBuf),
    /// The system refused.
    #[error("{} cannot be written: {why}", folder.display())]
    Unwritable {
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        why: String,
    },
    /// Another process has taken the slot since.
    #[error("{0}")]
    Held(LockedByOther),
    /// The writer thread has ended.
    #[error("internal error: the journal's thread ended")]
    NoThread,
}

/// The journal of another set that shares files with this one.
#[derive(Debug)]
pub struct OtherJournal {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub stored: StoredJournal,
}

/// The state slot of one open set: its journal and its lock in the state folder.
#[derive(Debug)]
pub struct StateSlot {
    locks: SlotLocks,
    /// The journal of an earlier session, if there is one.
    pub earlier: Option<Result<StoredJournal, Unusable>>,
}

impl StateSlot {
    /// Takes the state slot of a set. Without a writable folder only the files themselves are locked, and changes are
    /// not recorded.
    ///
    /// # Errors
    /// [`LockedByOther`] when another process has it.
    pub fn take(state: &Path, set: &Path) -> Result<Self, LockedByOther> {
        Self::take_all(state, &[set.to_path_buf()])
    }

    /// Takes the slot of a set of several files without an index. Their order is part of the set, since row ids depend
    /// on it.
    ///
    /// # Errors
    /// [`LockedByOther`] when another process has one of them.
    pub fn take_all(state: &Path, set: &[PathBuf]) -> Result<Self, LockedByOther> {
        Self::acquire(Some(state), set)
    }

    /// Takes the slot if there is a state folder, and the file locks in any case.
    ///
    /// # Errors
    /// [`LockedByOther`] when another process has one of the files.
    pub fn acquire(state: Option<&Path>, set: &[PathBuf]) -> Result<Self, LockedByOther> {
        Self::acquire_sharing(None, state, set)
    }

    /// Takes the slot if the options of a load require a lock or a journal; otherwise `None`.
    ///
    /// # Errors
    /// [`LockedByOther`] when another process has one of the files.
    pub fn acquire_if_enabled(options: &Options, set: &[PathBuf]) -> Option<Result<Self, LockedByOther>> {
        let is_wanted = options.is_edited || options.state.is_some();
        is_wanted.then(|| Self::acquire(options.state.as_deref(), set))
    }

    /// Takes the locks of a set, some of which `other` may hold already, and reads the journal of an earlier session.
    fn acquire_sharing(
        other: Option<&SlotLocks>,
        state: Option<&Path>,
        set: &[PathBuf],
    ) -> Result<Self, LockedByOther> {
        let set: Vec<PathBuf> = set.iter().map(|path| real_path(path)).collect();
        let folder = state.map(|state| state.join(FOLDER));
        let locks = SlotLocks::take(other, folder, slot_name(&set), set)?;
        // Without the lock, which needs a folder of this user alone, no journal is trusted.
        let earlier = locks.journal.path().filter(|_| locks.journal.is_locked()).and_then(stored::read);
        Ok(Self { locks, earlier })
    }

    /// Its locks, for a job that takes more of them.
    pub const fn locks(&self) -> &SlotLocks {
        &self.locks
    }

    /// Locks more files that belong to the set, or that it will create.
    ///
    /// # Errors
    /// As [`SlotLocks::claim`].
    pub fn claim<'p>(&self, files: impl Iterator<Item = &'p Path>) -> Result<(), LockedByOther> {
        self.locks.claim(files)
    }

    /// Journals of other sets with files in the same folders. The caller decides whether they concern this set.
    pub fn other_journals(&self, disk: &Disk) -> Vec<OtherJournal> {
        let mut known = HashMap::new();
        let files = disk.paths().chain(self.locks.set.iter().map(PathBuf::as_path));
        let folders: BTreeSet<PathBuf> =
            files.filter_map(|path| real_path_cached(path, &mut known).parent().map(Path::to_path_buf)).collect();
        let shares_folder = |header: &Header| {
            let files = header.files.iter().map(|file| &file.path).chain([&header.set]);
            files.filter_map(|path| Path::new(path).parent()).any(|folder| folders.contains(folder))
        };
        let own = self.locks.journal.path().filter(|_| self.is_locked());
        let entries = own.and_then(Path::parent).and_then(|folder| fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let others = paths.filter(|path| path.extension().is_some_and(|end| end == EXTENSION) && Some(&**path) != own);
        let found = others.filter(|path| header_with_lines(path).is_some_and(|header| shares_folder(&header)));
        let mut found: Vec<PathBuf> = found.collect();
        found.sort();
        let read = |path: PathBuf| Some(OtherJournal { stored: stored::read(&path)?.ok()?, path });
        found.into_iter().filter_map(read).collect()
    }

    /// Whether a path of this set is a file of another set with unsaved changes.
    pub fn is_in_other_journal(&self) -> bool {
        let names = self.names();
        let is_one = |path: &String| names.contains(path);
        let is_in =
            |header: &Header| header.files.iter().any(|file| is_one(&file.path)) || header.paths().iter().any(is_one);
        self.other_journals(&Disk::default()).iter().any(|other| is_in(&other.stored.header))
    }

    /// Moves the journal of another slot, which is for the same set by other paths, to this slot. On failure it is not
    /// moved.
    pub fn adopt(&mut self, other: OtherJournal) -> Option<StoredJournal> {
        let path = self.locks.journal.path().filter(|_| self.is_locked())?;
        fs::rename(&other.path, path).ok()?;
        counter::rename(&other.path, path);
        Some(other.stored)
    }

    /// Sets the journal of another set aside, as [`StateSlot::set_aside`] does for this set.
    pub fn set_other_aside(&self, other: &OtherJournal) -> Option<PathBuf> {
        self.is_locked().then(|| stored::set_aside(&other.path)).flatten()
    }

    /// Removes the journal of another set that has no unsaved changes.
    pub fn remove_other(&self, other: &OtherJournal) {
        if self.is_locked() {
            counter::remove(&other.path);
            // If it stays, the next session removes it.
            let _ = fs::remove_file(&other.path);
        }
    }

    /// The path of the journal of this set.
    pub fn journal(&self) -> Option<&Path> {
        self.locks.journal.path()
    }

    /// Whether a set was opened by one of the paths that this one is opened by.
    pub fn shares_path_with(&self, header: &Header) -> bool {
        let names = self.names();
        header.paths().iter().any(|path| names.contains(path))
    }

    /// Whether this is the slot of the set that is opened by these paths.
    pub fn is_of(&self, set: &[PathBuf]) -> bool {
        set.iter().map(|path| real_path(path)).eq(self.locks.set.iter().cloned())
    }

    /// Renames the earlier journal to a name that nothing overwrites, and returns that name.
    pub fn set_aside(&mut self) -> Option<PathBuf> {
        self.earlier = None;
        self.locks.journal.path().filter(|_| self.is_locked()).and_then(stored::set_aside)
    }

    /// Links the earlier journal to a second name that nothing overwrites, and returns that name. The new journal
    /// replaces the first name.
    pub fn link_aside(&self) -> Option<PathBuf> {
        self.locks.journal.path().filter(|_| self.is_locked()).and_then(stored::link_aside)
    }

    /// Opens the journal for writing. An earlier journal stays until the first change, or until [`Journal::restart`].
    pub fn begin(self, header: Option<Header>, watcher: Option<&Watcher>) -> Journal {
        let journal = self.begin_with(&(Arc::new(|_| Ok(())) as Gate), watcher);
        if let Some(header) = header {
            journal.send(WriterCommand::Header(header.in_current_version()));
        }
        journal
    }

    /// Like [`StateSlot::begin`], with operations that can fail in tests.
    fn begin_with(self, gate: &Gate, watcher: Option<&Watcher>) -> Journal {
        let report = Arc::new(Mutex::new(Report::default()));
        let writer =
            || Writer::new(self.locks.journal.clone(), Arc::clone(gate), Arc::clone(&report), watcher.cloned());
        let (sender, receiver) = channel();
        let own = writer();
        let thread = gate(Step::Thread)
            .and_then(|()| std::thread::Builder::new().name("journal".to_owned()).spawn(move || own.run(&receiver)));
        let writing = match thread {
            Ok(thread) => Writing::Thread(sender, Some(thread)),
            // Without a thread, the caller writes each change: slower, but as safe.
            Err(_) => Writing::Inline(Box::new(Mutex::new(writer()))),
        };
        Journal { state_slot: self, writing, report }
    }

    /// The paths that the set is opened by, as a journal lists them.
    pub fn names(&self) -> Vec<String> {
        self.locks.set.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Any paths, as a journal lists them.
    pub fn names_of<'p>(paths: impl Iterator<Item = &'p Path>) -> Vec<String> {
        let mut folders = HashMap::new();
        paths.map(|path| real_path_cached(path, &mut folders).to_string_lossy().into_owned()).collect()
    }

    /// The paths that the set is opened by, absolute and without links.
    pub fn set(&self) -> &[PathBuf] {
        &self.locks.set
    }

    /// Whether the slot in the state folder is locked; false if there is no folder, or it has no locks.
    pub fn is_locked(&self) -> bool {
        self.locks.journal.is_locked()
    }

    /// Whether any lock prevents another process from changing the set.
    pub fn is_exclusive(&self) -> bool {
        self.locks.is_exclusive()
    }
}

/// The folder of journals and locks in the state folder.
const FOLDER: &str = "journal";

/// Extension of journals.
const EXTENSION: &str = "journal";

/// The file stem of the journal and lock of a set that is opened by these real paths.
fn slot_name(set: &[PathBuf]) -> String {
    let names: Vec<&[u8]> = set.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
    format!("{:016x}", fingerprint(&names.join(&0)))
}

/// The header of a journal that has lines after it.
fn header_with_lines(path: &Path) -> Option<Header> {
    let mut file = BufReader::new(trust::open_own(path).ok()?);
    let mut line = Vec::new();
    file.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line).ok()?;
    let has_more = file.fill_buf().is_ok_and(|rest| !rest.is_empty());
    format::header_of(line.strip_suffix(b"\n")?).ok().filter(|_| has_more)
}

/// Which thread writes the journal.
#[derive(Debug)]
enum Writing {
    /// A separate thread.
    Thread(Sender<WriterCommand>, Option<JoinHandle<()>>),
    /// The thread that makes a change, because no separate thread could be started.
    Inline(Box<Mutex<Writer>>),
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    state_slot: StateSlot,
    writing: Writing,
    report: Arc<Mutex<Report>>,
}

/// Waits on another thread until a journal is written.
#[derive(Debug, Clone)]
pub struct Flusher(Option<Sender<WriterCommand>>);

impl Flusher {
    /// Waits until every change is on disk, or writing has failed.
    pub fn flush(&self) {
        let (done, wait) = channel();
        // If the thread has ended, there is nothing to wait for.
        if self.0.as_ref().is_some_and(|sender| sender.send(WriterCommand::Flush(done)).is_ok()) {
            let _ = wait.recv();
        }
    }
}

impl Journal {
    /// Starts an empty journal, which replaces an earlier one or changes that a save has written to the files.
    pub fn restart(&self, header: Header) {
        self.send(WriterCommand::Restart(header));
    }

    /// Adds a change.
    pub fn note(&self, note: Note) {
        self.send(WriterCommand::Note(note));
    }

    /// Waits until every change is on disk, or writing has failed.
    pub fn flush(&self) {
        self.flusher().flush();
    }

    /// Allows another thread to wait.
    pub fn flusher(&self) -> Flusher {
        Flusher(match &self.writing {
            Writing::Thread(sender, _) => Some(sender.clone()),
            Writing::Inline(_) => None,
        })
    }

    /// The state slot of the journal.
    pub const fn state_slot(&self) -> &StateSlot {
        &self.state_slot
    }

    /// Why changes are not recorded, if they are not.
    pub fn failure(&self) -> Option<JournalFailure> {
        self.report().failure.clone()
    }

    /// Number of times that the journal was rewritten after a failure. After it changed, the next line must not build
    /// on earlier ones.
    pub fn rewrite_count(&self) -> u64 {
        self.report().rewrite_count
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the journal, because there are no unsaved changes.
    pub fn remove(self) {
        drop(self.remove_in_background());
    }

    /// Removes the journal in the background; dropping the returned value waits for it.
    pub fn remove_in_background(mut self) -> PendingRemoval {
        match &mut self.writing {
            Writing::Inline(writer) => {
                writer.get_mut().unwrap_or_else(PoisonError::into_inner).remove();
                PendingRemoval(None)
            }
            Writing::Thread(sender, thread) => {
                // A thread that has ended removes nothing.
                let _ = sender.send(WriterCommand::Remove);
                PendingRemoval(thread.take())
            }
        }
    }

    fn send(&self, command: WriterCommand) {
        match &self.writing {
            Writing::Inline(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                writer.execute(command);
                writer.finish();
            }
            Writing::Thread(sender, _) => {
                if sender.send(command).is_err() {
                    self.report().failure = Some(JournalFailure::NoThread);
                }
            }
        }
    }
}

/// A journal that is being removed.
#[derive(Debug)]
pub struct PendingRemoval(Option<JoinHandle<()>>);

impl Drop for PendingRemoval {
    /// Waits until the journal is removed.
    fn drop(&mut self) {
        let _ = self.0.take().map(JoinHandle::join);
    }
}

impl Drop for Journal {
    /// Waits until everything is on disk, and releases the locks.
    fn drop(&mut self) {
        if let Writing::Thread(sender, thread) = &mut self.writing
            && let Some(thread) = thread.take()
        {
            // If the thread has ended, there is nothing to write.
            let _ = sender.send(WriterCommand::End);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
