//! The journal: unsaved changes, written to the user's state folder so that a crash loses none.
//!
//! One line for each change: a hash (XXH3, 64 bits), its number, a JSON value. The first line says which files it
//! applies to. Lines are written by a thread of their own, which syncs as soon as it has nothing more to write.
//! A lock beside it belongs to the process that has the set open and dies with it. A journal of another set that
//! applies to the same files (a part alone, a folder, a list of files) is found as well. What the lines mean is not
//! known here. Journals of other users, links, pipes and files of an unlikely size are not read.

mod counter;
pub(crate) mod format;
mod locks;
pub(crate) mod stored;
mod writer;

use super::disk::{Disk, fingerprint};
pub(crate) use super::lock::LockedByOther;
use super::lock::{real_in, real_path};
use super::{Options, trust};
pub(crate) use format::{Entry, Header, Lost, Stored, Unusable};
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

/// The most bytes that a journal has. One that would become longer is written again with what is unsaved.
const MOST_BYTES: u64 = 1 << 30;

/// The most bytes that its first line has: a set of 200,000 files.
const MOST_HEADER: u64 = 64 << 20;

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
        /// What the system says.
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
    pub stored: Stored,
}

/// The state slot of one open set: its journal and its lock in the state folder.
#[derive(Debug)]
pub struct StateSlot {
    locks: SlotLocks,
    /// The journal of an earlier session, if there is one.
    pub left: Option<Result<Stored, Unusable>>,
}

impl StateSlot {
    /// Takes the state slot of a set. Without a folder to write to there is no lock but those on the files themselves, and
    /// changes are not kept.
    ///
    /// # Errors
    /// [`LockedByOther`] when another process has it.
    pub fn take(state: &Path, set: &Path) -> Result<Self, LockedByOther> {
        Self::take_all(state, &[set.to_path_buf()])
    }

    /// Takes the slot of a set of several files without an index. Their order is part of the set, since row ids depend on it.
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
        Self::acquire_beside(None, state, set)
    }

    /// Takes the slot as the options of a load say; `None` if no lock and no journal are wanted.
    ///
    /// # Errors
    /// [`LockedByOther`] when another process has one of the files.
    pub fn acquire_if_enabled(options: &Options, set: &[PathBuf]) -> Option<Result<Self, LockedByOther>> {
        let is_wanted = options.is_edited || options.state.is_some();
        is_wanted.then(|| Self::acquire(options.state.as_deref(), set))
    }

    /// Takes files for a set, and reads what an earlier session left of it.
    fn acquire_beside(other: Option<&SlotLocks>, state: Option<&Path>, set: &[PathBuf]) -> Result<Self, LockedByOther> {
        let set: Vec<PathBuf> = set.iter().map(|path| real_path(path)).collect();
        let folder = state.map(|state| state.join(FOLDER));
        let locks = SlotLocks::take(other, folder, name_of(&set), set)?;
        // In a folder that is not this user's alone nothing is believed.
        let left = locks.place.path().filter(|_| locks.place.is_locked()).and_then(stored::read);
        Ok(Self { locks, left })
    }

    /// Its locks, for a job that takes more of them.
    pub const fn locks(&self) -> &SlotLocks {
        &self.locks
    }

    /// Takes more files that belong to the set, or that it will make.
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
            files.filter_map(|path| real_in(path, &mut known).parent().map(Path::to_path_buf)).collect();
        let is_near = |header: &Header| {
            let files = header.files.iter().map(|file| &file.path).chain([&header.set]);
            files.filter_map(|path| Path::new(path).parent()).any(|folder| folders.contains(folder))
        };
        let own = self.locks.place.path().filter(|_| self.is_locked());
        let entries = own.and_then(Path::parent).and_then(|folder| fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let others = paths.filter(|path| path.extension().is_some_and(|end| end == END) && Some(&**path) != own);
        let near = others.filter(|path| header_with_lines(path).is_some_and(|header| is_near(&header)));
        let mut near: Vec<PathBuf> = near.collect();
        near.sort();
        let read = |path: PathBuf| Some(OtherJournal { stored: stored::read(&path)?.ok()?, path });
        near.into_iter().filter_map(read).collect()
    }

    /// Whether a path of this set is a file of another set with unsaved changes.
    pub fn is_in_other_journal(&self) -> bool {
        let names = self.names();
        let is_one = |path: &String| names.contains(path);
        let is_in =
            |header: &Header| header.files.iter().any(|file| is_one(&file.path)) || header.paths().iter().any(is_one);
        self.other_journals(&Disk::default()).iter().any(|other| is_in(&other.stored.header))
    }

    /// Moves the journal of another set, which is the same set by other paths, to this slot. It stays where it is on failure.
    pub fn adopt(&mut self, other: OtherJournal) -> Option<Stored> {
        let path = self.locks.place.path().filter(|_| self.is_locked())?;
        fs::rename(&other.path, path).ok()?;
        counter::rename(&other.path, path);
        Some(other.stored)
    }

    /// Puts a journal of another set out of the way, as [`StateSlot::set_aside`] does that of this one.
    pub fn set_other_aside(&self, other: &OtherJournal) -> Option<PathBuf> {
        self.is_locked().then(|| stored::set_aside(&other.path)).flatten()
    }

    /// Removes a journal of another set, of which nothing is unsaved.
    pub fn drop_other(&self, other: &OtherJournal) {
        if self.is_locked() {
            counter::remove(&other.path);
            // Whoever finds it finds the same.
            let _ = fs::remove_file(&other.path);
        }
    }

    /// Where the journal of this set is.
    pub fn journal(&self) -> Option<&Path> {
        self.locks.place.path()
    }

    /// Whether a set was opened by one of the paths that this one is opened by.
    pub fn shares_path_with(&self, header: &Header) -> bool {
        let names = self.names();
        header.paths().iter().any(|path| names.contains(path))
    }

    /// Whether it is that of the set that is opened by these paths.
    pub fn is_of(&self, set: &[PathBuf]) -> bool {
        set.iter().map(|path| real_path(path)).eq(self.locks.set.iter().cloned())
    }

    /// Sets the earlier journal aside, where nothing overwrites it, and returns its new name.
    pub fn set_aside(&mut self) -> Option<PathBuf> {
        self.left = None;
        self.locks.place.path().filter(|_| self.is_locked()).and_then(stored::set_aside)
    }

    /// Gives the earlier journal a second name, where nothing overwrites it, and returns it. The new journal replaces the
    /// first name.
    pub fn keep_aside(&self) -> Option<PathBuf> {
        self.locks.place.path().filter(|_| self.is_locked()).and_then(stored::keep_aside)
    }

    /// Opens the journal for writing. An earlier journal stays until the first change, or until [`Journal::restart`].
    pub fn begin(self, header: Option<Header>, watcher: Option<&Watcher>) -> Journal {
        let journal = self.begin_with(&(Arc::new(|_| Ok(())) as Gate), watcher);
        if let Some(header) = header {
            journal.order(WriterCommand::Header(header.in_present_form()));
        }
        journal
    }

    /// The same, with operations that may fail.
    fn begin_with(self, gate: &Gate, watcher: Option<&Watcher>) -> Journal {
        let report = Arc::new(Mutex::new(Report::default()));
        let writer = || Writer::new(self.locks.place.clone(), Arc::clone(gate), Arc::clone(&report), watcher.cloned());
        let (sender, receiver) = channel();
        let own = writer();
        let thread = gate(Step::Thread)
            .and_then(|()| std::thread::Builder::new().name("journal".to_owned()).spawn(move || own.run(&receiver)));
        let writing = match thread {
            Ok(thread) => Writing::Beside(sender, Some(thread)),
            // Changes are written by who makes them then: slower, and as safe.
            Err(_) => Writing::Here(Box::new(Mutex::new(writer()))),
        };
        Journal { state_slot: self, writing, report }
    }

    /// The paths that the set is opened by, as a journal names them.
    pub fn names(&self) -> Vec<String> {
        self.locks.set.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// The same of any paths.
    pub fn names_of<'p>(paths: impl Iterator<Item = &'p Path>) -> Vec<String> {
        let mut folders = HashMap::new();
        paths.map(|path| real_in(path, &mut folders).to_string_lossy().into_owned()).collect()
    }

    /// The paths that the set is opened by, absolute and without links.
    pub fn set(&self) -> &[PathBuf] {
        &self.locks.set
    }

    /// Whether the place in the state folder is locked; not where there are no locks, or no folder for them.
    pub fn is_locked(&self) -> bool {
        self.locks.place.is_locked()
    }

    /// Whether another process is kept from changing the set, by one lock or another.
    pub fn is_exclusive(&self) -> bool {
        self.locks.is_exclusive()
    }
}

/// The folder of journals and locks in the state folder.
const FOLDER: &str = "journal";

/// What the name of every journal ends with.
const END: &str = "journal";

/// The name of what belongs to a set that is opened by these real paths.
fn name_of(set: &[PathBuf]) -> String {
    let names: Vec<&[u8]> = set.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
    format!("{:016x}", fingerprint(&names.join(&0)))
}

/// The header of a journal that has more than that.
fn header_with_lines(path: &Path) -> Option<Header> {
    let mut file = BufReader::new(trust::open_own(path).ok()?);
    let mut line = Vec::new();
    file.by_ref().take(MOST_HEADER).read_until(b'\n', &mut line).ok()?;
    let has_more = file.fill_buf().is_ok_and(|rest| !rest.is_empty());
    format::header_of(line.strip_suffix(b"\n")?).ok().filter(|_| has_more)
}

/// Who writes.
#[derive(Debug)]
enum Writing {
    /// A thread of its own.
    Beside(Sender<WriterCommand>, Option<JoinHandle<()>>),
    /// Whoever makes a change: no thread could be started.
    Here(Box<Mutex<Writer>>),
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    state_slot: StateSlot,
    writing: Writing,
    report: Arc<Mutex<Report>>,
}

/// Waits for a journal from another thread.
#[derive(Debug, Clone)]
pub struct Flusher(Option<Sender<WriterCommand>>);

impl Flusher {
    /// Waits until everything that was noted is on disk, or it is known that it cannot be.
    pub fn flush(&self) {
        let (done, wait) = channel();
        // The thread may have ended; there is nothing to wait for then.
        if self.0.as_ref().is_some_and(|sender| sender.send(WriterCommand::Flush(done)).is_ok()) {
            let _ = wait.recv();
        }
    }
}

impl Journal {
    /// Begins a journal that holds nothing yet, in the place of what was left, or of what a save has written to the files.
    pub fn restart(&self, header: Header) {
        self.order(WriterCommand::Restart(header));
    }

    /// Adds a change.
    pub fn note(&self, note: Note) {
        self.order(WriterCommand::Note(note));
    }

    /// Waits until everything is on disk, or it is known that it cannot be.
    pub fn flush(&self) {
        self.flusher().flush();
    }

    /// What waits for it on another thread.
    pub fn flusher(&self) -> Flusher {
        Flusher(match &self.writing {
            Writing::Beside(sender, _) => Some(sender.clone()),
            Writing::Here(_) => None,
        })
    }

    /// The state slot of the journal.
    pub const fn state_slot(&self) -> &StateSlot {
        &self.state_slot
    }

    /// Why changes are not kept, if they are not.
    pub fn failure(&self) -> Option<JournalFailure> {
        self.report().failure.clone()
    }

    /// How often all was written again after a failure: what comes next must not build on earlier lines.
    pub fn rewrite_count(&self) -> u64 {
        self.report().caught_up
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the journal, because nothing is unsaved.
    pub fn remove(self) {
        drop(self.remove_beside());
    }

    /// The same beside whatever is done next: it is gone when the value that this gives is.
    pub fn remove_beside(mut self) -> Removing {
        match &mut self.writing {
            Writing::Here(writer) => {
                writer.get_mut().unwrap_or_else(PoisonError::into_inner).remove();
                Removing(None)
            }
            Writing::Beside(sender, thread) => {
                // A thread that has ended removes nothing.
                let _ = sender.send(WriterCommand::Remove);
                Removing(thread.take())
            }
        }
    }

    fn order(&self, order: WriterCommand) {
        match &self.writing {
            Writing::Here(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                writer.take(order);
                writer.finish();
            }
            Writing::Beside(sender, _) => {
                if sender.send(order).is_err() {
                    self.report().failure = Some(JournalFailure::NoThread);
                }
            }
        }
    }
}

/// A journal that is being removed.
#[derive(Debug)]
pub struct Removing(Option<JoinHandle<()>>);

impl Drop for Removing {
    /// The journal is gone when this is.
    fn drop(&mut self) {
        let _ = self.0.take().map(JoinHandle::join);
    }
}

impl Drop for Journal {
    /// Whatever was ordered is on disk when this is gone, and the locks are free.
    fn drop(&mut self) {
        if let Writing::Beside(sender, thread) = &mut self.writing
            && let Some(thread) = thread.take()
        {
            // One that has ended has nothing to write any more.
            let _ = sender.send(WriterCommand::End);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
