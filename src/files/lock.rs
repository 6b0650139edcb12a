//! The lock of an open set in the user's state folder: one process edits a set at a time.
//!
//! Invariant: of two sets that are open for changing and share a file, only one has its lock, by whatever path each was
//! opened: the index, a part alone, a link, a folder, a list of files. A lock file tells its process and a key of each
//! file; whoever takes a lock looks at the others first, while the folder itself is locked against everyone else who
//! does. Nothing stays behind but the locks of dead processes, which the next one removes. Lock files of other users,
//! links, pipes and files of an unlikely size are neither obeyed nor touched.

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
    /// Whether the file itself is locked, and nothing in this user's state folder says by whom.
    pub elsewhere: bool,
}

const ELSEWHERE: &str = " with another state folder (another user, sudo or a container)";

fn of(process: Option<&u32>) -> String {
    process.map_or_else(String::new, |process| format!(" (process {process})"))
}

/// What the name of every lock file ends with.
const END: &str = "lock";

/// How long another user who takes a lock at this moment is waited for. It takes far less.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest lock file that is read: keys of a million files.
const LONGEST: u64 = 32 << 20;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// Keys of files: a hash of each real path, and one of the inode if the file has several names.
pub(super) type FileKeys = BTreeSet<u64>;

/// The keys of files by their paths.
pub(super) fn keys<'p>(files: impl Iterator<Item = &'p Path>) -> FileKeys {
    let mut folders = HashMap::new();
    let mut keys = FileKeys::new();
    for path in files {
        keys.insert(fingerprint(real_in(path, &mut folders).as_os_str().as_encoded_bytes()));
        keys.extend(inode(path));
    }
    keys
}

/// The path with every link followed, as far as it exists.
pub(super) fn real_path(path: &Path) -> PathBuf {
    real_in(path, &mut HashMap::new())
}

/// The same for many files of few folders, which are looked up once.
pub(super) fn real_in<'p>(path: &'p Path, folders: &mut HashMap<&'p Path, Option<PathBuf>>) -> PathBuf {
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

/// The key of a file that has several names.
fn inode(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok().filter(|metadata| super::replace_target::links(metadata) > 1)?;
    let (device, inode) = identity(&metadata)?;
    Some(fingerprint(format!("{device} {inode}").as_bytes()))
}

/// A lock that is held; its file goes with it.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    file: File,
    keys: FileKeys,
    /// Whether the file lists all of them.
    is_listed: bool,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked: whoever has opened it meanwhile finds that it is not the file of that name any more. One that
        // took its place, after the state folder was removed, is not this one's.
        if self.is_in_place() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock {
    /// Takes the lock of a name in a folder. Who has another lock already holds all files of that one by this one too.
    ///
    /// # Errors
    /// [`NoLock`] when another process has one of the files, there is no place for a lock, or there are no locks here.
    pub(super) fn take(other: Option<&Self>, folder: &Path, name: &str, keys: &FileKeys) -> Result<Self, NoLock> {
        let _one_at_a_time = LockDir::close(folder);
        let path = folder.join(name).with_extension(END);
        let file = open_and_lock(&path)?;
        let held = other.map(|other| other.keys.clone()).unwrap_or_default();
        let keys = keys | &held;
        let mut lock = Self { path, file, keys: held, is_listed: true };
        lock.lock_only_keys(keys)?;
        Ok(lock)
    }

    /// Whether the name in the state folder still leads to this lock.
    pub(super) fn is_in_place(&self) -> bool {
        is_file_of(&self.file, &self.path)
    }

    /// Lists the files in the lock if there was no room for that before.
    pub(super) fn list(&mut self) {
        if !self.is_listed {
            self.write();
        }
    }

    /// Holds these files from now on, and no others.
    ///
    /// # Errors
    /// When another process has one of them; then it holds what it held before.
    pub(super) fn hold(&mut self, keys: FileKeys) -> Result<(), LockedByOther> {
        if keys == self.keys {
            return Ok(());
        }
        let _one_at_a_time = self.path.parent().map(LockDir::close);
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

    /// A list that cannot be written protects less until it can be: the lock by name is there.
    fn write(&mut self) {
        let lines: Vec<String> = self.keys.iter().map(|key| format!("{key:016x}\n")).collect();
        let text = format!("{}\n{}", std::process::id(), lines.concat());
        let written = self.file.rewind().and_then(|()| self.file.set_len(0));
        self.is_listed = written.and_then(|()| self.file.write_all(text.as_bytes())).is_ok();
    }

    /// Whether no one else has one of these.
    fn check_others(&self, keys: &FileKeys) -> Result<(), LockedByOther> {
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok());
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == END) && *path != self.path) {
            let Ok(mut file) = trust::open_own(&path) else { continue };
            match file.try_lock_shared() {
                // No one has it any more.
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
    /// The folder has no place for it, or its file system no locks.
    Place(io::Error),
}

impl From<LockedByOther> for NoLock {
    fn from(held: LockedByOther) -> Self {
        Self::Held(held)
    }
}

impl From<io::Error> for NoLock {
    fn from(error: io::Error) -> Self {
        Self::Place(error)
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

/// A file of this name that is this user's and has no other name, so that writing to it changes nothing else.
fn open_unlocked(path: &Path) -> io::Result<File> {
    // Once more if its owner removes it between the two.
    for _ in 0..1_000 {
        match private().create_new(true).read(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
        match trust::open_own_with(OpenOptions::new().read(true).write(true), path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(file) if super::replace_target::links(&file.metadata()?) > 1 => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the lock file has a second hard link"));
            }
            opened => return opened,
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// The process and the keys that a lock file tells.
fn read_lock_file(file: &mut File) -> (Option<u32>, FileKeys) {
    let bytes = trust::read_at_most(file, LONGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.trim().parse().ok()).filter(|process| *process > 0);
    (process, lines.filter_map(|line| u64::from_str_radix(line.trim(), 16).ok()).collect())
}

/// Whether a name still leads to an open file, as far as the system tells.
pub(super) fn is_file_of(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(&open) == identity(&named),
        _ => false,
    }
}

/// How a file is opened that no one else can read.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder that no one else can look into: what is in it may be private.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes a folder of the state folder that no one else can write to, or finds it.
///
/// # Errors
/// Also when it belongs to another user, or others may write to it: what is in it may belong to any user.
pub(super) fn make_own(folder: &Path) -> io::Result<()> {
    make_private(folder)?;
    [Some(folder), folder.parent()].into_iter().flatten().try_for_each(check_own_folder)
}

/// Whether a folder belongs to this user, and no one else can put files into it.
///
/// # Errors
/// If not.
pub(super) fn check_own_folder(folder: &Path) -> io::Result<()> {
    let metadata = fs::metadata(folder)?;
    trust::check_owner(&metadata)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&metadata) & 0o7777;
        if mode & 0o022 != 0 {
            let words = format!("others can write to it (mode {mode:o}); make it private: chmod 700");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
        }
    }
    Ok(())
}

/// The locked lock folder: its holder is the only process that inspects and takes locks.
struct LockDir(#[expect(dead_code, reason = "holds the lock as long as it is there")] File);

impl LockDir {
    /// `None` if folders cannot be locked here, or another process holds the lock too long: two processes that start at the
    /// same moment may then both get a lock, unless they use the same path.
    fn close(folder: &Path) -> Option<Self> {
        let file = File::open(folder).ok()?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Some(Self(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::park_timeout(LOOK),
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
    fn two_sets_that_share_a_file_never_both_have_it_and_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let take = |name: &str, keys: &[u64]| Lock::take(None, folder.path(), name, &keys.iter().copied().collect());
        let mut one = take("one", &[1, 2]).unwrap();
        let Err(NoLock::Held(held)) = take("two", &[2, 3]) else { panic!("both have it") };
        assert_eq!(held, LockedByOther { process: Some(std::process::id()), elsewhere: false });
        assert!(!path("two.lock").exists(), "who gets nothing leaves nothing");
        let mut two = take("two", &[3]).unwrap();
        assert!(one.hold([1, 2, 3].into()).is_err());
        assert_eq!(one.keys(), &[1, 2].into());
        // What the one gives up the other may have.
        one.hold([1].into()).unwrap();
        two.hold([2, 3].into()).unwrap();
        // The lock of a dead process is no lock, and goes.
        fs::write(path("dead.lock"), format!("1\n{:016x}\n", 1)).unwrap();
        drop(one);
        assert!(take("three", &[1]).is_ok());
        assert!(!path("dead.lock").exists() && !path("one.lock").exists());
        assert!(take("two", &[9]).is_err(), "one name, one lock");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_second_names_lead_to_the_same_file() {
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
