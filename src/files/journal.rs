//! The journal: what was changed and not saved yet, in the user's state folder, so that no crash takes it along.
//!
//! One line for each change: a hash (XXH3, 64 bits), a space, a JSON value. The first line says which files it
//! applies to. Lines are written by a thread of their own, which syncs as soon as it has nothing more to write.
//! A lock beside it belongs to the process that has the set open and dies with it. A journal of another set that
//! applies to the same files (a part alone, a folder, a list of files) is found as well. What the lines mean is not
//! known here.

use super::disk::{Disk, fingerprint};
pub use super::lock::Held;
use super::lock::{Lock, keys, make_private, private, real, real_in};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The form of journal that this program writes and can replay.
const VERSION: u32 = 1;

/// What a journal applies to: its first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    version: u32,
    /// The set, by the file that it is opened by; of several without an index, the first.
    pub set: String,
    /// The others, where several were opened as one set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    and: Vec<String>,
    /// When it was begun, in seconds since 1970.
    pub begun: i64,
    files: Vec<Known>,
}

/// A file of the set as it was when the changes were made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    /// Its real path.
    path: String,
    len: u64,
    hash: u64,
}

impl Header {
    /// For a set that is opened by these paths and whose files are these.
    fn new(set: &[PathBuf], disk: &Disk, begun: i64) -> Self {
        let mut folders = HashMap::new();
        let mut files = Vec::new();
        for path in disk.paths() {
            if let Some(file) = disk.get(path) {
                let path = real_in(path, &mut folders).to_string_lossy().into_owned();
                files.push(Known { path, len: file.len, hash: file.hash });
            }
        }
        files.sort();
        let mut set = set.iter().map(|path| path.to_string_lossy().into_owned());
        Self { version: VERSION, set: set.next().unwrap_or_default(), and: set.collect(), begun, files }
    }

    /// Whether the set is what it was when the changes were made.
    pub fn fits(&self, disk: &Disk) -> bool {
        let now = Self::new(&[], disk, self.begun);
        // The same set may be opened by another path; what it holds decides.
        let contents = |header: &Self| {
            let mut contents: Vec<(u64, u64)> = header.files.iter().map(|file| (file.len, file.hash)).collect();
            contents.sort_unstable();
            contents
        };
        contents(&now) == contents(self)
    }

    /// The paths that the set was opened by.
    pub fn paths(&self) -> Vec<String> {
        [&self.set].into_iter().chain(&self.and).cloned().collect()
    }

    /// Whether one of its files has one of these real paths.
    pub fn is_of_files(&self, paths: &BTreeSet<String>) -> bool {
        self.files.iter().any(|file| paths.contains(&file.path))
    }

    /// Whether it speaks of files that are open here, and all of those are what they were when the changes were made.
    pub fn is_of_some_of(&self, disk: &Disk) -> bool {
        let now = Self::new(&[], disk, self.begun);
        let now: BTreeMap<&str, &Known> = now.files.iter().map(|file| (&*file.path, file)).collect();
        let mut shared = self.files.iter().filter_map(|file| Some((file, *now.get(&*file.path)?))).peekable();
        shared.peek().is_some() && shared.all(|(then, now)| then == now)
    }
}

/// What an earlier session left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What it applies to.
    pub header: Header,
    /// The changes, as JSON values.
    pub lines: Vec<String>,
    /// Whether the end is missing or damaged: the lines before it are sound.
    pub is_cut: bool,
}

/// What an earlier session left that had some of the same folders' files open as another set.
#[derive(Debug)]
pub struct Elsewhere {
    path: PathBuf,
    /// What it holds.
    pub stored: Stored,
}

/// Why there is no journal to replay although there is a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Not a journal, or damaged from the first line on.
    #[error("it is damaged")]
    Damaged,
    /// Of a later version of this program.
    #[error("a newer sited wrote it")]
    Newer,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// The place in the state folder that belongs to one open set.
#[derive(Debug)]
pub struct Desk {
    path: PathBuf,
    set: Vec<PathBuf>,
    lock: Option<Lock>,
    /// What an earlier session left, if it did.
    pub left: Option<Result<Stored, Unusable>>,
}

impl Desk {
    /// Takes the place of a set. Without a folder to write to there is no lock, and changes are not kept.
    ///
    /// # Errors
    /// [`Held`] when another process has it.
    pub fn take(state: &Path, set: &Path) -> Result<Self, Held> {
        Self::take_all(state, &[set.to_path_buf()])
    }

    /// The same for a set of several files without an index. Their order belongs to it: rows are known by it.
    ///
    /// # Errors
    /// [`Held`] when another process has one of them.
    pub fn take_all(state: &Path, set: &[PathBuf]) -> Result<Self, Held> {
        Self::take_beside(None, state, set)
    }

    /// The same by who has the place of another set: what is held there can be taken here.
    fn take_beside(other: Option<&Lock>, state: &Path, set: &[PathBuf]) -> Result<Self, Held> {
        let set: Vec<PathBuf> = set.iter().map(|path| real(path)).collect();
        let folder = state.join("journal");
        let names: Vec<&[u8]> = set.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
        let name = format!("{:016x}", fingerprint(&names.join(&0)));
        let _ = make_private(&folder);
        let lock = Lock::take(other, &folder, &name, &keys(set.iter().map(PathBuf::as_path)))?;
        let path = folder.join(format!("{name}.journal"));
        let left = match fs::read(&path) {
            Ok(bytes) => Some(parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(Unusable::Unreadable(error.to_string()))),
        };
        Ok(Self { path, set, lock, left })
    }

    /// Takes more files that belong to the set, or that it will make.
    ///
    /// # Errors
    /// [`Held`] when another process has one of them; what is held stays held.
    pub fn claim<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> Result<(), Held> {
        let Some(lock) = &mut self.lock else { return Ok(()) };
        let keys = lock.keys() | &keys(files);
        lock.hold(keys)
    }

    /// Gives back every file but these and those that the set is opened by.
    fn claim_only(&mut self, disk: &Disk) {
        if let Some(lock) = &mut self.lock {
            let files = disk.paths().chain(self.set.iter().map(PathBuf::as_path));
            // Nothing is new in it, so nobody can have it.
            let _ = lock.hold(&keys(files) & lock.keys());
        }
    }

    /// What earlier sessions left that had files of the same folders open as another set: what it is to this one is for
    /// the reader to tell.
    pub fn left_elsewhere(&self, disk: &Disk) -> Vec<Elsewhere> {
        let mut known = HashMap::new();
        let files = disk.paths().chain(self.set.iter().map(PathBuf::as_path));
        let folders: BTreeSet<PathBuf> =
            files.filter_map(|path| real_in(path, &mut known).parent().map(Path::to_path_buf)).collect();
        let is_near = |header: &Header| {
            let files = header.files.iter().map(|file| &file.path).chain([&header.set]);
            files.filter_map(|path| Path::new(path).parent()).any(|folder| folders.contains(folder))
        };
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let others = paths.filter(|path| path.extension().is_some_and(|end| end == "journal") && *path != self.path);
        let near = others.filter(|path| first_line(path).is_some_and(|header| is_near(&header)));
        let mut near: Vec<PathBuf> = near.collect();
        near.sort();
        let read = |path: PathBuf| Some(Elsewhere { stored: parse(&fs::read(&path).ok()?).ok()?, path });
        near.into_iter().filter_map(read).collect()
    }

    /// Whether one of the paths that this set is opened by is a file of a set of which an earlier session left changes.
    pub fn is_in_what_is_left_elsewhere(&self) -> bool {
        let names = self.names();
        let is_one = |path: &String| names.contains(path);
        let is_in =
            |header: &Header| header.files.iter().any(|file| is_one(&file.path)) || header.paths().iter().any(is_one);
        self.left_elsewhere(&Disk::default()).iter().any(|other| is_in(&other.stored.header))
    }

    /// Brings a journal of another set to the place of this one, which is free: they are the same. Where that cannot be,
    /// it stays where it is.
    pub fn adopt(&mut self, other: Elsewhere) -> Option<Stored> {
        let is_moved = self.is_locked() && fs::rename(&other.path, &self.path).is_ok();
        is_moved.then_some(other.stored)
    }

    /// Puts a journal of another set out of the way, as [`Desk::set_aside`] does that of this one.
    pub fn set_elsewhere_aside(&self, other: &Elsewhere) -> Option<PathBuf> {
        self.is_locked().then(|| aside(&other.path)).flatten()
    }

    /// Removes a journal of another set, of which nothing is unsaved.
    pub fn drop_elsewhere(&self, other: &Elsewhere) {
        if self.is_locked() {
            // Whoever finds it finds the same.
            let _ = fs::remove_file(&other.path);
        }
    }

    /// Whether a set was opened by one of the paths that this one is opened by.
    pub fn shares_path_with(&self, header: &Header) -> bool {
        let names = self.names();
        header.paths().iter().any(|path| names.contains(path))
    }

    /// What a journal of this set begins with.
    pub fn header(&self, disk: &Disk, begun: i64) -> Header {
        Header::new(&self.set, disk, begun)
    }

    /// Whether it is that of the set that is opened by these paths.
    pub fn is_of(&self, set: &[PathBuf]) -> bool {
        set.iter().map(|path| real(path)).eq(self.set.iter().cloned())
    }

    /// The place of the same set at other paths; `None` where it is this one.
    ///
    /// # Errors
    /// [`Held`] when another process has one of them.
    pub fn moved(&self, set: &[PathBuf]) -> Result<Option<Self>, Held> {
        let state = self.path.parent().and_then(Path::parent).filter(|_| !self.is_of(set));
        state.map(|state| Self::take_beside(self.lock.as_ref(), state, set)).transpose()
    }

    /// Puts what was left out of the way, where nothing overwrites it; tells its new name.
    pub fn set_aside(&mut self) -> Option<PathBuf> {
        self.left = None;
        aside(&self.path)
    }

    /// Begins to write. What was left there stays before it if `header` is `None`.
    pub fn begin(self, header: Option<Header>) -> Journal {
        let (sender, receiver) = channel();
        let failure = Arc::new(Mutex::new(None));
        let (path, seen) = (self.path.clone(), Arc::clone(&failure));
        let thread =
            std::thread::Builder::new().name("journal".to_owned()).spawn(move || write_all(&path, &receiver, &seen));
        let journal = Journal { desk: self, sender, thread: thread.ok(), failure };
        if let Some(header) = header {
            journal.restart(header);
        }
        journal
    }

    /// The paths that the set is opened by, as a journal names them.
    pub fn names(&self) -> Vec<String> {
        self.set.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// The same of any paths.
    pub fn names_of<'p>(paths: impl Iterator<Item = &'p Path>) -> Vec<String> {
        let mut folders = HashMap::new();
        paths.map(|path| real_in(path, &mut folders).to_string_lossy().into_owned()).collect()
    }

    /// The paths that the set is opened by, absolute and without links.
    pub fn set(&self) -> &[PathBuf] {
        &self.set
    }

    /// Whether another process is kept from it; not where there are no locks, or no folder for them.
    pub const fn is_locked(&self) -> bool {
        self.lock.is_some()
    }
}

/// Gives a journal a name that nothing overwrites.
fn aside(path: &Path) -> Option<PathBuf> {
    let mut names = (1..1_000).map(|number| path.with_extension(format!("journal.aside-{number}")));
    let aside = names.find(|aside| !aside.exists())?;
    fs::rename(path, &aside).ok().map(|()| aside)
}

/// Makes a line's text; may take a while, so it runs on the journal's own thread.
pub type Line = Box<dyn FnOnce() -> String + Send>;

enum Order {
    Restart(Header),
    Line(Line),
    Flush(Sender<()>),
    Remove,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    desk: Desk,
    sender: Sender<Order>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<String>>>,
}

/// Waits for a journal from another thread.
#[derive(Debug, Clone)]
pub struct Flusher(Sender<Order>);

impl Flusher {
    /// Waits until everything that was noted is on disk.
    pub fn flush(&self) {
        let (done, wait) = channel();
        // The thread may have ended; there is nothing to wait for then.
        if self.0.send(Order::Flush(done)).is_ok() {
            let _ = wait.recv();
        }
    }
}

impl Journal {
    /// Begins anew: what was written so far is saved, or given up.
    fn restart(&self, header: Header) {
        self.order(Order::Restart(header));
    }

    /// Adds a change.
    pub fn note(&self, line: Line) {
        self.order(Order::Line(line));
    }

    /// Waits until everything is on disk.
    pub fn flush(&self) {
        self.flusher().flush();
    }

    /// What waits for it on another thread.
    pub fn flusher(&self) -> Flusher {
        Flusher(self.sender.clone())
    }

    /// The place that it belongs to.
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Takes more files that belong to the set, or that it will make.
    ///
    /// # Errors
    /// As [`Desk::claim`].
    pub fn claim<'p>(&mut self, files: impl Iterator<Item = &'p Path>) -> Result<(), Held> {
        self.desk.claim(files)
    }

    /// Gives back what was taken beside the files of the set: they were not made.
    pub fn give_back(&mut self, disk: &Disk) {
        self.desk.claim_only(disk);
    }

    /// Begins anew after a save: what was written so far is saved, and the files are these.
    pub fn begin_anew(&mut self, disk: &Disk, begun: i64) {
        self.desk.claim_only(disk);
        self.restart(self.desk.header(disk, begun));
    }

    /// Why changes are not kept any more, if they are not.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nothing is unsaved any more: the file goes.
    pub fn remove(mut self) {
        self.order(Order::Remove);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn order(&self, order: Order) {
        // The thread ends only with this value.
        let _ = self.sender.send(order);
    }
}

impl Drop for Journal {
    /// Whatever was ordered is on disk when this is gone.
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.flush();
        }
    }
}

/// Writes what is ordered, in order, and syncs when nothing waits.
fn write_all(path: &Path, orders: &Receiver<Order>, failure: &Mutex<Option<String>>) {
    let mut file: Option<File> = None;
    let mut waiting: Vec<Sender<()>> = Vec::new();
    let fail = |error: &io::Error| {
        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_string());
    };
    while let Ok(first) = orders.recv() {
        let mut next = Some(first);
        while let Some(order) = next {
            let done = match order {
                Order::Restart(header) => begin(path, &header).map(|begun| file = Some(begun)),
                Order::Line(line) => append(path, &mut file, &line()),
                Order::Flush(done) => {
                    waiting.push(done);
                    Ok(())
                }
                Order::Remove => {
                    let _ = fs::remove_file(path);
                    return;
                }
            };
            if let Err(error) = done {
                fail(&error);
            }
            next = orders.try_recv().ok();
        }
        if let Some(Err(error)) = file.as_ref().map(File::sync_data) {
            fail(&error);
        }
        // Whoever waits may be gone.
        for done in waiting.drain(..) {
            let _ = done.send(());
        }
    }
}

/// A new journal takes the place of the old one at once.
fn begin(path: &Path, header: &Header) -> io::Result<File> {
    let new = path.with_extension("journal.new");
    let mut file = private().truncate(true).open(&new)?;
    file.write_all(line(&serde_json::to_string(header)?).as_bytes())?;
    file.sync_data()?;
    fs::rename(&new, path)?;
    Ok(file)
}

fn append(path: &Path, file: &mut Option<File>, json: &str) -> io::Result<()> {
    let file = match file {
        Some(file) => file,
        none => none.insert(OpenOptions::new().append(true).open(path)?),
    };
    file.write_all(line(json).as_bytes())
}

fn line(json: &str) -> String {
    format!("{:016x} {json}\n", fingerprint(json.as_bytes()))
}

/// What every form of header has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn parse(bytes: &[u8]) -> Result<Stored, Unusable> {
    let mut lines = Vec::new();
    let mut is_cut = !bytes.ends_with(b"\n");
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(json) = sound(line) else {
            is_cut = true;
            break;
        };
        lines.push(json.to_owned());
    }
    if lines.is_empty() {
        return Err(Unusable::Damaged);
    }
    let first = lines.remove(0);
    match serde_json::from_str::<Version>(&first) {
        Ok(Version { version }) if version > VERSION => return Err(Unusable::Newer),
        Ok(_) => {}
        Err(_) => return Err(Unusable::Damaged),
    }
    let header = serde_json::from_str(&first).map_err(|_| Unusable::Damaged)?;
    Ok(Stored { header, lines, is_cut })
}

/// The header of a journal that has more than that.
fn first_line(path: &Path) -> Option<Header> {
    let mut file = BufReader::new(File::open(path).ok()?);
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line).ok()?;
    let has_more = file.fill_buf().is_ok_and(|rest| !rest.is_empty());
    serde_json::from_str(sound(&line)?).ok().filter(|_| has_more)
}

/// The value of a whole line whose hash is right.
fn sound(line: &[u8]) -> Option<&str> {
    let (hash, json) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split_once(' ')?;
    (u64::from_str_radix(hash, 16).ok()? == fingerprint(json.as_bytes())).then_some(json)
}

#[cfg(test)]
mod tests;
