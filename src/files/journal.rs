//! The journal: what was changed and not saved yet, in the user's state folder, so that no crash takes it along.
//!
//! One line for each change: a hash (XXH3, 64 bits), a space, a JSON value. The first line says which files it
//! applies to. Lines are written by a thread of their own, which syncs as soon as it has nothing more to write.
//! A lock beside it belongs to the process that has the set open and dies with it. What the lines mean is not
//! known here.

use super::disk::{Disk, fingerprint, identity};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
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
    /// The set, by the file that it is opened by.
    pub set: String,
    /// When it was begun, in seconds since 1970.
    pub begun: i64,
    files: Vec<Known>,
}

/// A file of the set as it was when the changes were made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Known {
    path: String,
    len: u64,
    hash: u64,
}

impl Header {
    /// For a set whose files are these.
    pub fn new(set: &Path, disk: &Disk, begun: i64) -> Self {
        let known = |path: &Path| {
            let file = disk.get(path)?;
            Some(Known { path: path.to_string_lossy().into_owned(), len: file.len, hash: file.hash })
        };
        let mut files: Vec<Known> = disk.paths().filter_map(known).collect();
        files.sort();
        Self { version: VERSION, set: set.to_string_lossy().into_owned(), begun, files }
    }

    /// Whether the set is what it was when the changes were made.
    pub fn fits(&self, disk: &Disk) -> bool {
        let now = Self::new(Path::new(&self.set), disk, self.begun);
        // The same set may be opened by another path; what it holds decides.
        let contents = |header: &Self| {
            let mut contents: Vec<(u64, u64)> = header.files.iter().map(|file| (file.len, file.hash)).collect();
            contents.sort_unstable();
            contents
        };
        contents(&now) == contents(self)
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

/// Why a set cannot be edited: another process has it open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("another sited{} has it open", .process.map_or_else(String::new, |process| format!(" (process {process})")))]
pub struct Held {
    /// Its number, if it said so.
    pub process: Option<u32>,
}

/// The place in the state folder that belongs to one open set.
#[derive(Debug)]
pub struct Desk {
    path: PathBuf,
    set: PathBuf,
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
        let set = absolute(set);
        let folder = state.join("journal");
        let name = format!("{:016x}", fingerprint(set.as_os_str().as_encoded_bytes()));
        let _ = make_private(&folder);
        let lock = lock(&folder.join(format!("{name}.lock")))?;
        let path = folder.join(format!("{name}.journal"));
        let left = match fs::read(&path) {
            Ok(bytes) => Some(parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(Unusable::Unreadable(error.to_string()))),
        };
        Ok(Self { path, set, lock, left })
    }

    /// Puts what was left out of the way, where nothing overwrites it; tells its new name.
    pub fn set_aside(&mut self) -> Option<PathBuf> {
        self.left = None;
        let aside = (1..1_000).map(|number| self.path.with_extension(format!("journal.aside-{number}")));
        let aside = aside.into_iter().find(|path| !path.exists())?;
        fs::rename(&self.path, &aside).ok().map(|()| aside)
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

    /// The set, absolute.
    pub fn set(&self) -> &Path {
        &self.set
    }

    /// Whether another process is kept from it; not where there are no locks, or no folder for them.
    pub const fn is_locked(&self) -> bool {
        self.lock.is_some()
    }
}

/// The path with every link followed, as far as it exists.
fn absolute(set: &Path) -> PathBuf {
    let folder = set.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (set.canonicalize(), folder.canonicalize()) {
        (Ok(path), _) => path,
        (_, Ok(folder)) => folder.join(set.file_name().unwrap_or_default()),
        _ => set.to_path_buf(),
    }
}

/// Makes a folder that nobody else can look into: what is in it may be private.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A lock that is held; its file goes with it.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked: whoever has opened it meanwhile finds that it is not the file of that name any more.
        let _ = fs::remove_file(&self.path);
    }
}

fn lock(path: &Path) -> Result<Option<Lock>, Held> {
    loop {
        let Ok(mut file) = private().read(true).truncate(false).open(path) else { return Ok(None) };
        match file.try_lock() {
            Ok(()) if is_file_of(&file, path) => {
                let _ = file.set_len(0);
                let _ = file.rewind().and_then(|()| writeln!(file, "{}", std::process::id()));
                return Ok(Some(Lock { path: path.to_path_buf(), _file: file }));
            }
            // Its owner has just removed it.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                return Err(Held { process: text.trim().parse().ok() });
            }
            // No locks here: better no protection than no program.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Whether a name still leads to an open file, as far as the system tells.
fn is_file_of(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(&open) == identity(&named),
        _ => false,
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
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
    pub fn restart(&self, header: Header) {
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

    /// The set, absolute.
    pub fn set(&self) -> &Path {
        self.desk.set()
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

/// The value of a whole line whose hash is right.
fn sound(line: &[u8]) -> Option<&str> {
    let (hash, json) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split_once(' ')?;
    (u64::from_str_radix(hash, 16).ok()? == fingerprint(json.as_bytes())).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(folder: &Path) -> Desk {
        Desk::take(folder, &folder.join("sitemap.xml")).unwrap()
    }

    fn write(folder: &Path, lines: &[&str]) -> PathBuf {
        let desk = desk(folder);
        let path = desk.path.clone();
        let journal = desk.begin(Some(Header::new(&folder.join("sitemap.xml"), &Disk::default(), 7)));
        for line in lines {
            let line = (*line).to_owned();
            journal.note(Box::new(move || line));
        }
        path
    }

    #[test]
    fn what_was_noted_is_there_for_the_next_one_and_goes_when_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &["1", "[2,3]"]);
        let mut again = desk(folder.path());
        let stored = again.left.take().unwrap().unwrap();
        assert_eq!((stored.lines, stored.is_cut), (vec!["1".to_owned(), "[2,3]".to_owned()], false));
        let journal = again.begin(None);
        journal.note(Box::new(|| "4".to_owned()));
        journal.flush();
        assert_eq!(parse(&fs::read(&path).unwrap()).unwrap().lines.len(), 3);
        assert_eq!(journal.failure(), None);
        journal.remove();
        assert!(!path.exists());
        assert!(desk(folder.path()).left.is_none());
    }

    #[test]
    fn a_second_one_is_told_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = desk(folder.path());
        let held = Desk::take(folder.path(), &folder.path().join("./sitemap.xml")).unwrap_err();
        assert_eq!(held.process, Some(std::process::id()));
        assert!(Desk::take(folder.path(), &folder.path().join("other.xml")).is_ok());
        drop(first);
        let locks = || fs::read_dir(folder.path().join("journal")).unwrap().count();
        assert_eq!(locks(), 0, "a lock that nobody holds leaves no file");
        assert!(Desk::take(folder.path(), &folder.path().join("sitemap.xml")).is_ok());
    }

    /// A read-only state folder stops nobody from working; a file in its place is one even for root.
    #[test]
    fn without_a_place_for_a_lock_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        fs::write(&state, "").unwrap();
        let desks = [(); 2].map(|()| Desk::take(&state, &folder.path().join("sitemap.xml")).unwrap());
        assert!(desks.iter().all(|desk| !desk.is_locked()));
        let [desk, _] = desks;
        let journal = desk.begin(Some(Header::new(&folder.path().join("sitemap.xml"), &Disk::default(), 7)));
        journal.flush();
        assert!(journal.failure().is_some(), "it is said that nothing is kept");
    }

    #[test]
    fn every_cut_and_every_flipped_byte_leaves_what_stands_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &["1", "[2,3]", "\"x\""]);
        let whole = fs::read(path).unwrap();
        let all = parse(&whole).unwrap();
        for cut in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[cut] ^= 1;
            for bytes in [&whole[..cut], &flipped] {
                match parse(bytes) {
                    Ok(stored) => {
                        assert!(all.lines.starts_with(&stored.lines) && stored.lines.len() < 4);
                        let is_short = stored.lines.len() < all.lines.len();
                        assert!(stored.is_cut || !is_short || bytes.len() < whole.len(), "{cut}");
                    }
                    Err(error) => assert_eq!(error, Unusable::Damaged),
                }
            }
        }
        let newer = line("{\"version\":2,\"more\":true}");
        assert_eq!(parse(newer.as_bytes()), Err(Unusable::Newer));
        assert_eq!(parse(b""), Err(Unusable::Damaged));
    }

    #[test]
    fn what_cannot_be_used_is_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        for number in 1..3 {
            let path = write(folder.path(), &["1"]);
            fs::write(&path, "rubbish").unwrap();
            let mut desk = desk(folder.path());
            assert_eq!(desk.left, Some(Err(Unusable::Damaged)));
            let aside = desk.set_aside().unwrap();
            assert!(aside.to_string_lossy().ends_with(&format!("aside-{number}")) && !path.exists());
            assert_eq!(fs::read(aside).unwrap(), b"rubbish");
        }
    }
}
