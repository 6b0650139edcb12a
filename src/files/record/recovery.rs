//! Recovers from an interrupted save: shows, finishes or discards its commit record.
//!
//! A record that this user's key authenticates is finished by the next command that writes. Any other one is only shown,
//! and finished when the user says so; then it may name nothing but regular files of this user below its own folder,
//! reached without links and without hidden components. In both cases nothing is changed unless all of it can be.

use super::names::{TargetPath, check_path};
use super::{Content, KIND, Key, Name, Record, Removal, Replacement, Sealed, has_locks, parse};
use crate::files::disk::identity;
use crate::files::error::{Error, Reason};
use crate::files::gate::{AllowAll, FsOperation as Operation, Gate, attempt, sync_folder};
use crate::files::temporary::{self, RECORD, has_record};
use crate::files::tree::{Status, Tree, TreePath};
use crate::files::{in_place, trust};
use crate::words::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another process that is saving this very moment is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks at its lock.
const LOOK: Duration = Duration::from_millis(20);

/// How a load deals with an interrupted save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The user's state folder, which has the key of this user's records.
    pub state: Option<PathBuf>,
    /// Whether the save is finished, and temporary files of dead processes are removed. If not, nothing is written or
    /// removed, whatever lies there.
    pub finish: bool,
}

/// A save of another process that was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Files that got their new bytes, in this run or before.
    pub files: usize,
    /// Files that were removed.
    pub removed: usize,
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "finished an interrupted save: {} written", counted(self.files as u64, "file"))?;
        if self.removed > 0 {
            write!(f, ", {} removed", counted(self.removed as u64, "file"))?;
        }
        Ok(())
    }
}

/// An interrupted save that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingSave {
    /// Its record.
    pub record: PathBuf,
}

impl std::fmt::Display for PendingSave {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let folder = self.record.parent().unwrap_or(Path::new("."));
        write!(
            f,
            "an interrupted save is pending: `sited recover {}` shows it; until then files may be partly old and partly new",
            folder.display()
        )
    }
}

/// What [`recover`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The save that was finished.
    pub finished: Option<Finished>,
    /// The save that was left as it is.
    pub pending: Option<PendingSave>,
}

impl Recovered {
    /// This, and what it has nothing of, from another.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { finished: self.finished.or(other.finished), pending: self.pending.or(other.pending) }
    }
}

/// Looks for an interrupted save of the set that is opened by a path, and finishes it if that is allowed and this user
/// made it. Then removes what dead processes have left in the folder.
///
/// # Errors
/// When it should be finished and cannot: the record is not this user's, another process is at it, a file was changed by
/// another user meanwhile, the disk is full. Nothing is changed unless all of it can be.
pub fn recover(path: &Path, recovery: &Recovery) -> Result<Recovered, Error> {
    recover_with_gate(&AllowAll, path, recovery)
}

/// The same for several paths: each record and each folder is examined once, however many of the files it concerns.
///
/// # Errors
/// As [`recover`].
pub(crate) fn recover_all(paths: &[PathBuf], recovery: &Recovery) -> Result<Recovered, Error> {
    recover_all_with_gate(&AllowAll, paths, recovery)
}

pub(in crate::files) fn recover_with_gate(
    gate: &dyn Gate,
    path: &Path,
    recovery: &Recovery,
) -> Result<Recovered, Error> {
    recover_all_with_gate(gate, &[path.to_path_buf()], recovery)
}

fn recover_all_with_gate(gate: &dyn Gate, paths: &[PathBuf], recovery: &Recovery) -> Result<Recovered, Error> {
    let mut recovered = Recovered::default();
    let key = recovery.state.as_deref().and_then(Key::load);
    let mut folders: BTreeMap<PathBuf, Vec<&Path>> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for path in paths {
        let Some(own) = folder_of(path) else { continue };
        for record in records(&own, path, key.as_ref()) {
            if !done.insert(record.clone()) {
                continue;
            }
            if recovery.finish {
                let finished = finish_with_gate(gate, &record, key.as_ref(), Consent::Authenticated)?;
                recovered.finished = finished.or(recovered.finished);
            } else if is_still_there(&record) {
                recovered.pending = Some(PendingSave { record });
            }
        }
        folders.entry(own).or_default().push(path);
    }
    if recovery.finish {
        for (own, paths) in &folders {
            sweep(own, paths);
        }
        // A key that was never whole.
        recovery.state.as_deref().map(temporary::sweep);
    }
    Ok(recovered)
}

/// The records that concern the set that is opened by a path.
pub(crate) fn pending_records(path: &Path, state: Option<&Path>) -> Vec<PathBuf> {
    folder_of(path).map_or_else(Vec::new, |own| records(&own, path, state.and_then(Key::load).as_ref()))
}

/// The folder of a path, without links.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().ok()
}

/// Whatever lies in the set's own folder counts. Above it only a record of this user does that names the file, and whose
/// set is opened there: other folders above may belong to any user.
fn records(own: &Path, path: &Path, key: Option<&Key>) -> Vec<PathBuf> {
    let real = path.canonicalize().ok();
    let is_of_set_above = |record: &PathBuf| {
        let folder = record.parent().unwrap_or(Path::new(""));
        let (Some(real), Ok((record, sealed))) = (&real, super::read(record)) else { return false };
        let set = record.set.as_ref().map(Name::path).filter(|set| set.components().count() == 1);
        is_authentic(&record, &sealed, folder, key)
            && set.is_some_and(|set| fs::symlink_metadata(folder.join(set)).is_ok_and(|set| set.is_file()))
            && record.targets().any(|target| folder.join(target.path()) == *real)
    };
    let there = own.ancestors().filter(|folder| has_record(folder)).map(|folder| folder.join(RECORD));
    there.filter(|record| record.parent() == Some(own) || is_of_set_above(record)).collect()
}

/// Whether a record is still there when whoever may be saving right now is through.
fn is_still_there(record: &Path) -> bool {
    let Ok(file) = trust::open_own(record) else { return has_record(record.parent().unwrap_or(record)) };
    let _ = wait(|| file.try_lock_shared());
    has_record(record.parent().unwrap_or(record))
}

/// Waits for a lock; false when another user keeps it.
fn wait(lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::park_timeout(LOOK),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if !has_locks(&error) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes what dead processes have left beside files of one folder, and beside what links in it lead to.
fn sweep(own: &Path, paths: &[&Path]) {
    temporary::sweep(own);
    let links = paths.iter().filter(|path| path.is_symlink());
    let reals: Vec<PathBuf> = links.filter_map(|path| path.canonicalize().ok()).collect();
    // The record of a set that is opened by a link would lie beside the link.
    let folders: BTreeSet<&Path> = reals.iter().filter_map(|real| real.parent()).collect();
    folders.into_iter().for_each(temporary::sweep);
    temporary::sweep_far(&reals, own);
}

/// Whether this user's key made the code of a record, for this folder.
fn is_authentic(record: &Record, sealed: &Sealed, folder: &Path, key: Option<&Key>) -> bool {
    let is_here = record.folder.as_ref().is_some_and(|there| there.path() == folder);
    let confirms = |key: &Key| sealed.code.as_ref().is_some_and(|code| key.confirms(KIND, &sealed.body, code));
    is_here && key.is_some_and(confirms)
}

/// What permits finishing a save: the user's key, or the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// The record's own code.
    Authenticated,
    /// The user's, who was shown what it does.
    User,
}

/// A record as the user is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Where it is.
    pub record: PathBuf,
    /// Whether this user's key authenticates it: then the next command that writes finishes it.
    pub is_authentic: bool,
    /// What it does, file by file.
    pub steps: Vec<RecordStep>,
}

/// What a record does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordStep {
    /// What.
    pub act: RecordAction,
    /// The file, relative to the record's folder, or absolute.
    pub target: PathBuf,
    /// Bytes of the new content.
    pub len: u64,
    /// Whether it was done before the save was interrupted.
    pub is_done: bool,
    /// Why it cannot be done.
    pub blocked: Option<String>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordAction {
    /// It is made.
    Create,
    /// It gets new bytes.
    Replace,
    /// It goes.
    Remove,
}

impl Pending {
    /// The first step that cannot be done: then none is.
    pub(crate) fn blocked(&self) -> Option<(&Path, &str)> {
        self.steps.iter().find_map(|step| Some((&*step.target, step.blocked.as_deref()?)))
    }
}

/// Reads a record and says what it does. Changes nothing.
///
/// # Errors
/// When it cannot be read as a record of the current user.
pub(crate) fn inspect(record: &Path, state: Option<&Path>) -> Result<Pending, Error> {
    let case = FoundRecord::open(record, false, state.and_then(Key::load).as_ref())?;
    let case = case.ok_or_else(|| Error::new(record, Reason::Missing))?;
    let trust = if case.is_authentic { Consent::Authenticated } else { Consent::User };
    Ok(Pending { record: record.to_path_buf(), is_authentic: case.is_authentic, steps: case.steps(trust) })
}

/// Finishes a save because the user says so, having been shown what it does.
///
/// # Errors
/// As [`recover`].
pub fn finish(record: &Path, state: Option<&Path>) -> Result<Option<Finished>, Error> {
    finish_with_gate(&AllowAll, record, state.and_then(Key::load).as_ref(), Consent::User)
}

/// What was removed with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discarded {
    /// New files that waited.
    pub new_files: usize,
    /// Whether the record was read: without that, no one knows which new files are left.
    pub was_read: bool,
}

/// Gives up the rest of a save: removes its record and the new files that wait. What was replaced stays replaced.
///
/// # Errors
/// When it cannot be removed, when the system fails while it is read, or another process is saving at this moment.
pub fn discard(record: &Path) -> Result<Discarded, Error> {
    let failed = |error| Error::system("remove", record, error);
    let folder = record.parent().unwrap_or(Path::new("."));
    let tree = Tree::open(folder).map_err(failed)?;
    let mut removed = 0;
    // A record that this user may not open has to stay removable. Any other failure may pass: the record is needed then,
    // since it names the new files.
    let opened = trust::open_without_links(OpenOptions::new().read(true).write(true), record);
    let is_closed = opened.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied if is_closed => interrupted(record, "its commit record cannot be read"),
        _ if error.raw_os_error().is_none() => interrupted(record, "its commit record cannot be read"),
        _ => Error::system("read", record, error),
    };
    let case = match FoundRecord::open_with(record, true, None, &unread) {
        // One that holds no record names nothing that could be removed with it.
        Err(error) if matches!(error.reason, Reason::Interrupted(_)) => None,
        case => case?,
    };
    let was_read = case.is_some();
    if let Some(case) = case {
        for file in case.record.files.iter().filter(|file| case.check_target(&file.target, Consent::User).is_ok()) {
            let is_own = |status: &Status| status.is_regular && status.is_of_current_user();
            if file.check_temporary().is_err() {
                continue;
            }
            let status = tree.locate(&file.temporary.path()).and_then(|place| Ok((place.status()?, place)));
            match status {
                Ok((status, place)) if status.as_ref().is_some_and(is_own) => {
                    place.remove().map_err(failed)?;
                    removed += 1;
                }
                // A link on the way, or no such folder.
                Err(error) if error.raw_os_error().is_some() && error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
    }
    // Also one that cannot be read: a link, a pipe. The name alone is removed, nothing behind it.
    tree.locate(Path::new(RECORD)).and_then(|place| place.remove()).map_err(failed)?;
    sync_folder(folder).map_err(failed)?;
    Ok(Discarded { new_files: removed, was_read })
}

/// An open record.
struct FoundRecord {
    tree: Tree,
    record: Record,
    is_authentic: bool,
    /// Holds the lock, if it was taken.
    _file: File,
}

impl FoundRecord {
    /// Opens a record, and waits for its lock if something is to be done; `None` where it is gone meanwhile.
    fn open(path: &Path, locked: bool, key: Option<&Key>) -> Result<Option<Self>, Error> {
        let failed = |error: io::Error| interrupted(path, &format!("its commit record cannot be read: {error}"));
        Self::open_with(path, locked, key, &failed)
    }

    /// The same with other words for what cannot be read.
    fn open_with(
        path: &Path,
        locked: bool,
        key: Option<&Key>,
        failed: &dyn Fn(io::Error) -> Error,
    ) -> Result<Option<Self>, Error> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let tree = Tree::open(folder).map_err(failed)?;
        let mut file = match trust::open_own_with(OpenOptions::new().read(true).write(locked), path) {
            Ok(file) => file,
            // Whoever wrote it has finished.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if locked && !wait(|| file.try_lock()).map_err(failed)? {
            return Err(Error::new(path, Reason::Saving));
        }
        match fs::symlink_metadata(path).map(|there| identity(&there)) {
            Ok(there) if file.metadata().is_ok_and(|ours| identity(&ours) == there) => {}
            // Another save has written its own meanwhile.
            Ok(_) => return Self::open_with(path, locked, key, failed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let (record, sealed) = trust::read_at_most(&mut file, super::MAX_BYTES).and_then(parse).map_err(failed)?;
        let is_authentic = is_authentic(&record, &sealed, folder, key);
        Ok(Some(Self { tree, record, is_authentic, _file: file }))
    }

    /// What the record does, and what stands against it.
    fn steps(&self, consent: Consent) -> Vec<RecordStep> {
        let step = |act, target: &Name, len, state: Result<State, String>| RecordStep {
            act,
            target: target.path(),
            len,
            is_done: state == Ok(State::Done),
            blocked: state.err(),
        };
        let twice = self.record.duplicate_target();
        let replacement = |file: &Replacement| {
            let act = if file.old.is_none() { RecordAction::Create } else { RecordAction::Replace };
            let state = if twice.as_ref() == Some(&file.target) {
                Err("the record names it twice".to_owned())
            } else {
                self.state(file, consent)
            };
            step(act, &file.target, file.new.len, state)
        };
        let removal =
            |file: &Removal| step(RecordAction::Remove, &file.target, 0, self.state_of_removal(file, consent));
        self.record.files.iter().map(replacement).chain(self.record.removed.iter().map(removal)).collect()
    }

    /// Whether a target may be written to or removed at all.
    fn check_target(&self, target: &Name, consent: Consent) -> Result<(), String> {
        let path = target.path();
        match check_path(&path)? {
            TargetPath::Inside => Ok(()),
            TargetPath::Elsewhere if consent == Consent::Authenticated && self.is_authentic => Ok(()),
            TargetPath::Elsewhere => Err("it is outside of the folder of the record".to_owned()),
        }
    }

    /// Whether the owner of a file is the one that it should have.
    fn check_owner(&self, status: &Status, expected: Option<u32>) -> Result<(), String> {
        let is_expected = self.is_authentic && expected.is_some() && status.owner == expected;
        if is_expected || status.is_of_current_user() { Ok(()) } else { Err("it belongs to another user".to_owned()) }
    }

    fn locate(&self, name: &Name) -> Result<TreePath, String> {
        self.tree.locate(&name.path()).map_err(|error| format!("its folder cannot be reached: {error}"))
    }

    fn state(&self, file: &Replacement, consent: Consent) -> Result<State, String> {
        self.check_target(&file.target, consent)?;
        file.check_temporary()?;
        if file.in_place && !self.is_authentic {
            // Its bytes may be those of a file elsewhere that has a second name here.
            return Err("it would be overwritten in place, which only a record of yours may ask for".to_owned());
        }
        let (temporary, target) = (self.locate(&file.temporary)?, self.locate(&file.target)?);
        let look = |place: &TreePath| regular(place);
        let there = look(&target)?;
        if let Some(status) = &there {
            self.check_owner(status, file.owner)?;
        }
        let now = content(&target, there.as_ref(), [Some(file.new), file.old])?;
        let new = look(&temporary)?.filter(|status| status.len == file.new.len);
        let is_ready = content(&temporary, new.as_ref(), [Some(file.new), None])? == Some(file.new);
        if !is_ready {
            let is_done = now == Some(file.new);
            return if is_done { Ok(State::Done) } else { Err("its new content is missing".to_owned()) };
        }
        if let Some(status) = &new {
            self.check_owner(status, file.owner)?;
            // Finished on the record's own word, the file must be the very one that the save wrote; on the user's word
            // its content decides: it may have come from a copy of the folder.
            if consent == Consent::Authenticated && (status.stamp.is_none() || status.stamp != file.stamp) {
                return Err("the file that waits beside it is not the one that the save wrote".to_owned());
            }
        }
        let is_foreign = match (now, there) {
            (now, Some(_)) if now == Some(file.new) || (now.is_some() && now == file.old) => false,
            (_, Some(status)) => !is_half_copied(file, &status, &temporary, &target)?,
            (_, None) => file.old.is_some(),
        };
        if is_foreign { Err("it was changed by another program meanwhile".to_owned()) } else { Ok(State::Ready) }
    }

    fn state_of_removal(&self, file: &Removal, consent: Consent) -> Result<State, String> {
        self.check_target(&file.target, consent)?;
        let target = self.locate(&file.target)?;
        let Some(status) = regular(&target)? else { return Ok(State::Done) };
        self.check_owner(&status, file.owner)?;
        let now = content(&target, Some(&status), [file.old, None])?;
        // What another program has put there since is not what the save removes.
        Ok(if now.is_some() && now == file.old { State::Ready } else { State::Done })
    }
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    Ready,
}

fn interrupted(record: &Path, why: &str) -> Error {
    Error::new(record, Reason::Interrupted(why.to_owned()))
}

/// What is at a place, if it is nothing or a regular file.
fn regular(place: &TreePath) -> Result<Option<Status>, String> {
    match place.status() {
        Ok(Some(status)) if !status.is_regular => Err("it is a link or not a regular file".to_owned()),
        Ok(status) => Ok(status),
        Err(error) => Err(format!("it cannot be inspected: {error}")),
    }
}

/// What a file holds, if its length is one of the expected ones: only then its bytes are read.
fn content(
    place: &TreePath,
    status: Option<&Status>,
    expected: [Option<Content>; 2],
) -> Result<Option<Content>, String> {
    let Some(len) = status.map(|status| status.len) else { return Ok(None) };
    if !expected.iter().flatten().any(|content| content.len == len) {
        return Ok(None);
    }
    let hash = place.hash().map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(Some(Content { len, hash }))
}

/// Whether a file that is overwritten in place holds old and new blocks and nothing else.
fn is_half_copied(
    file: &Replacement,
    status: &Status,
    temporary: &TreePath,
    target: &TreePath,
) -> Result<bool, String> {
    let (Some(blocks), Some(old)) = (file.blocks.as_ref().filter(|_| file.in_place), file.old) else {
        return Ok(false);
    };
    // A copy never makes a file shorter than it was before it is complete.
    if status.len < old.len && status.len != file.new.len {
        return Ok(false);
    }
    let compare = || blocks.may_be_overwritten(&mut target.open_file(false)?, &mut temporary.open_file(false)?);
    compare().map_err(|error: io::Error| format!("it cannot be read: {error}"))
}

fn finish_with_gate(
    gate: &dyn Gate,
    path: &Path,
    key: Option<&Key>,
    consent: Consent,
) -> Result<Option<Finished>, Error> {
    let Some(case) = FoundRecord::open(path, true, key)? else { return Ok(None) };
    if consent == Consent::Authenticated && !case.is_authentic {
        return Err(interrupted(
            path,
            "your key does not authenticate its record, so sited does not finish it without asking",
        ));
    }
    let steps = case.steps(consent);
    if let Some(step) = steps.iter().find(|step| step.blocked.is_some()) {
        let why = step.blocked.clone().unwrap_or_default();
        return Err(interrupted(path, &format!("cannot be finished: {}: {why}", step.target.display())));
    }
    let failed = |error: io::Error| interrupted(path, &format!("cannot be finished: {error}"));
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    let folder = case.tree.path();
    let mut touch = |target: &Name| {
        let target = folder.join(target.path());
        folders.extend(target.parent().map(Path::to_path_buf));
    };
    let (files, removals) = steps.split_at(case.record.files.len());
    for (file, _) in case.record.files.iter().zip(files).filter(|(_, step)| !step.is_done) {
        let (temporary, target) = (case.place(&file.temporary), case.place(&file.target));
        let (temporary, target) = (temporary.map_err(failed)?, target.map_err(failed)?);
        let put = || {
            if file.in_place && file.old.is_some() {
                in_place::copy(&mut temporary.open_file(false)?, &mut target.open_file(true)?, gate)
                    .and_then(|()| temporary.remove())
            } else {
                temporary.rename_to(&target)
            }
        };
        attempt(gate, Operation::Rename, put).map_err(failed)?;
        touch(&file.target);
    }
    let mut removed = 0;
    for (file, _) in case.record.removed.iter().zip(removals).filter(|(_, step)| !step.is_done) {
        let target = case.place(&file.target).map_err(failed)?;
        attempt(gate, Operation::Remove, || target.remove()).map_err(failed)?;
        removed += 1;
        touch(&file.target);
    }
    for folder in &folders {
        attempt(gate, Operation::SyncFolder, || sync_folder(folder)).map_err(failed)?;
    }
    let record = case.tree.locate(Path::new(RECORD)).map_err(failed)?;
    attempt(gate, Operation::Unrecord, || record.remove()).and_then(|()| sync_folder(folder)).map_err(failed)?;
    Ok(Some(Finished { files: case.record.files.len(), removed }))
}

impl FoundRecord {
    fn place(&self, name: &Name) -> io::Result<TreePath> {
        self.tree.locate(&name.path())
    }
}
