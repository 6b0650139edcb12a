//! Recovers from an interrupted save: shows, finishes or discards its commit record.
//!
//! A record that this user's key authenticates is finished by the next command that writes. Any other record is only
//! shown, and finished after the user confirms it; then it may only name regular files of this user below its own
//! folder, reached without links and hidden components. In both cases nothing is changed unless all steps can be done.

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

/// Maximum wait for another process that is saving.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The time between two attempts to take its lock.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How a load handles an interrupted save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The user's state folder, which contains the key of this user's records.
    pub state: Option<PathBuf>,
    /// Whether the save is finished and temporary files of dead processes are removed. If false, nothing is written or
    /// removed.
    pub finish: bool,
}

/// A save of another process that was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Files that have their new bytes, including those written before the interruption.
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

/// An interrupted save that was not finished.
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

/// The result of [`recover`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The save that was finished.
    pub finished: Option<Finished>,
    /// The save that was not finished.
    pub pending: Option<PendingSave>,
}

impl Recovered {
    /// Fills empty fields from another result.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { finished: self.finished.or(other.finished), pending: self.pending.or(other.pending) }
    }
}

/// Finds an interrupted save of the set that is opened by a path, and finishes it if that is allowed and this user has
/// made it. Then removes temporary files of dead processes from the folder.
///
/// # Errors
/// If it should be finished and cannot: the record is not this user's, another process is saving, a file was changed
/// since, the disk is full. Nothing is changed unless all steps can be done.
pub fn recover(path: &Path, recovery: &Recovery) -> Result<Recovered, Error> {
    recover_with_gate(&AllowAll, path, recovery)
}

/// Does the same as [`recover`] for several paths; each record and each folder is examined once.
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
            } else if exists_after_wait(&record) {
                recovered.pending = Some(PendingSave { record });
            }
        }
        folders.entry(own).or_default().push(path);
    }
    if recovery.finish {
        for (own, paths) in &folders {
            sweep(own, paths);
        }
        // A key that was not written completely.
        recovery.state.as_deref().map(temporary::sweep);
    }
    Ok(recovered)
}

/// The records that concern the set that is opened by a path.
pub(crate) fn pending_records(path: &Path, state: Option<&Path>) -> Vec<PathBuf> {
    folder_of(path).map_or_else(Vec::new, |own| records(&own, path, state.and_then(Key::load).as_ref()))
}

/// The real path of the folder that a path is in.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().ok()
}

/// The records that concern a file. Any record in its own folder does. In the folders above, which may belong to other
/// users, only an authentic record of this user does that names the file and whose set is in that folder.
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
    let existing = own.ancestors().filter(|folder| has_record(folder)).map(|folder| folder.join(RECORD));
    existing.filter(|record| record.parent() == Some(own) || is_of_set_above(record)).collect()
}

/// Whether a record still exists after waiting for a process that may be saving.
fn exists_after_wait(record: &Path) -> bool {
    let Ok(file) = trust::open_own(record) else { return has_record(record.parent().unwrap_or(record)) };
    let _ = wait_for_lock(|| file.try_lock_shared());
    has_record(record.parent().unwrap_or(record))
}

/// Waits for a lock; false if another process still holds it at the end.
fn wait_for_lock(lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if start.elapsed() < MAX_WAIT => std::thread::park_timeout(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if !has_locks(&error) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes temporary files of dead processes beside the files of one folder, and beside the targets of links in it.
fn sweep(own: &Path, paths: &[&Path]) {
    temporary::sweep(own);
    let links = paths.iter().filter(|path| path.is_symlink());
    let reals: Vec<PathBuf> = links.filter_map(|path| path.canonicalize().ok()).collect();
    // The record of a set that is opened by a link would be beside the link.
    let folders: BTreeSet<&Path> = reals.iter().filter_map(|real| real.parent()).collect();
    folders.into_iter().for_each(temporary::sweep);
    temporary::sweep_far(&reals, own);
}

/// Whether the code of a record was made with this user's key, for this folder.
fn is_authentic(record: &Record, sealed: &Sealed, folder: &Path, key: Option<&Key>) -> bool {
    let is_here = record.folder.as_ref().is_some_and(|there| there.path() == folder);
    let confirms = |key: &Key| sealed.code.as_ref().is_some_and(|code| key.confirms(KIND, &sealed.body, code));
    is_here && key.is_some_and(confirms)
}

/// The permission to finish a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// The code of the record.
    Authenticated,
    /// The user, who was shown the steps.
    User,
}

/// A record as it is shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    /// The path of the record.
    pub record: PathBuf,
    /// Whether this user's key authenticates it. If so, the next command that writes finishes it.
    pub is_authentic: bool,
    /// The steps, file by file.
    pub steps: Vec<RecordStep>,
}

/// The step of a record for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordStep {
    /// The action.
    pub action: RecordAction,
    /// The file, relative to the record's folder, or absolute.
    pub target: PathBuf,
    /// Size of the new content in bytes.
    pub len: u64,
    /// Whether it was done before the save was interrupted.
    pub is_done: bool,
    /// Why it cannot be done, if so.
    pub blocked: Option<String>,
}

/// The action of a record on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordAction {
    /// A new file is created.
    Create,
    /// The file gets new bytes.
    Replace,
    /// The file is removed.
    Remove,
}

impl Pending {
    /// The first step that cannot be done, if any; in that case no step is done.
    pub(crate) fn blocked(&self) -> Option<(&Path, &str)> {
        self.steps.iter().find_map(|step| Some((&*step.target, step.blocked.as_deref()?)))
    }
}

/// Reads a record and returns its steps. Changes nothing.
///
/// # Errors
/// If it cannot be read as a record of the current user.
pub(crate) fn inspect(record: &Path, state: Option<&Path>) -> Result<Pending, Error> {
    let case = FoundRecord::open(record, false, state.and_then(Key::load).as_ref())?;
    let case = case.ok_or_else(|| Error::new(record, Reason::Missing))?;
    let trust = if case.is_authentic { Consent::Authenticated } else { Consent::User };
    Ok(Pending { record: record.to_path_buf(), is_authentic: case.is_authentic, steps: case.steps(trust) })
}

/// Finishes a save with the user's confirmation.
///
/// # Errors
/// As [`recover`].
pub fn finish(record: &Path, state: Option<&Path>) -> Result<Option<Finished>, Error> {
    finish_with_gate(&AllowAll, record, state.and_then(Key::load).as_ref(), Consent::User)
}

/// The result of discarding a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discarded {
    /// The number of removed temporary files.
    pub new_files: usize,
    /// Whether the record could be read. If not, it is unknown which temporary files are left.
    pub was_read: bool,
}

/// Discards the rest of a save: removes its record and its temporary files. Replaced files stay replaced.
///
/// # Errors
/// If it cannot be removed, the system fails to read it, or another process is saving.
pub fn discard(record: &Path) -> Result<Discarded, Error> {
    let failed = |error| Error::system("remove", record, error);
    let folder = record.parent().unwrap_or(Path::new("."));
    let tree = Tree::open(folder).map_err(failed)?;
    let mut removed = 0;
    // A record that this user may not open can be discarded unread. Other errors may be temporary, and the record is
    // needed, since it names the temporary files.
    let opened = trust::open_without_links(OpenOptions::new().read(true).write(true), record);
    let is_closed = opened.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied if is_closed => interrupted(record, "its commit record cannot be read"),
        _ if error.raw_os_error().is_none() => interrupted(record, "its commit record cannot be read"),
        _ => Error::system("read", record, error),
    };
    let case = match FoundRecord::open_with(record, true, None, &unread) {
        // A file that is no record names no temporary files.
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
            let status = tree.locate(&file.temporary.path()).and_then(|path| Ok((path.status()?, path)));
            match status {
                Ok((status, path)) if status.as_ref().is_some_and(is_own) => {
                    path.remove().map_err(failed)?;
                    removed += 1;
                }
                // A component of the path is a link or no folder.
                Err(error) if error.raw_os_error().is_some() && error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
    }
    // This also removes a record that cannot be read, such as a link or a pipe; only the name, not its target.
    tree.locate(Path::new(RECORD)).and_then(|path| path.remove()).map_err(failed)?;
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
    /// Opens a record, and waits for its lock if `locked`. `None` if the record no longer exists.
    fn open(path: &Path, locked: bool, key: Option<&Key>) -> Result<Option<Self>, Error> {
        let failed = |error: io::Error| interrupted(path, &format!("its commit record cannot be read: {error}"));
        Self::open_with(path, locked, key, &failed)
    }

    /// Does the same as [`FoundRecord::open`] with another error for a record that cannot be read.
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
            // The process that wrote it has finished the save.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if locked && !wait_for_lock(|| file.try_lock()).map_err(failed)? {
            return Err(Error::new(path, Reason::Saving));
        }
        match fs::symlink_metadata(path).map(|current| identity(&current)) {
            Ok(current) if file.metadata().is_ok_and(|opened| identity(&opened) == current) => {}
            // Another save has replaced the record since it was opened.
            Ok(_) => return Self::open_with(path, locked, key, failed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        let (record, sealed) = trust::read_at_most(&mut file, super::MAX_BYTES).and_then(parse).map_err(failed)?;
        let is_authentic = is_authentic(&record, &sealed, folder, key);
        Ok(Some(Self { tree, record, is_authentic, _file: file }))
    }

    /// The steps of the record, with the reasons that prevent them.
    fn steps(&self, consent: Consent) -> Vec<RecordStep> {
        let step = |action, target: &Name, len, state: Result<State, String>| RecordStep {
            action,
            target: target.path(),
            len,
            is_done: state == Ok(State::Done),
            blocked: state.err(),
        };
        let duplicate = self.record.duplicate_target();
        let replacement = |file: &Replacement| {
            let action = if file.old.is_none() { RecordAction::Create } else { RecordAction::Replace };
            let state = if duplicate.as_ref() == Some(&file.target) {
                Err("the record names it twice".to_owned())
            } else {
                self.state(file, consent)
            };
            step(action, &file.target, file.new.len, state)
        };
        let removal =
            |file: &Removal| step(RecordAction::Remove, &file.target, 0, self.state_of_removal(file, consent));
        self.record.files.iter().map(replacement).chain(self.record.removed.iter().map(removal)).collect()
    }

    /// Checks that a target may be written to or removed.
    fn check_target(&self, target: &Name, consent: Consent) -> Result<(), String> {
        let path = target.path();
        match check_path(&path)? {
            TargetPath::Inside => Ok(()),
            TargetPath::Elsewhere if consent == Consent::Authenticated && self.is_authentic => Ok(()),
            TargetPath::Elsewhere => Err("it is outside of the folder of the record".to_owned()),
        }
    }

    /// Checks that a file has the expected owner.
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
            // It may be a hard link to a file in another folder.
            return Err("it would be overwritten in place, which only a record of yours may ask for".to_owned());
        }
        let (temporary, target) = (self.locate(&file.temporary)?, self.locate(&file.target)?);
        let current = regular(&target)?;
        if let Some(status) = &current {
            self.check_owner(status, file.owner)?;
        }
        let now = content(&target, current.as_ref(), [Some(file.new), file.old])?;
        let new = regular(&temporary)?.filter(|status| status.len == file.new.len);
        let is_ready = content(&temporary, new.as_ref(), [Some(file.new), None])? == Some(file.new);
        if !is_ready {
            let is_done = now == Some(file.new);
            return if is_done { Ok(State::Done) } else { Err("its new content is missing".to_owned()) };
        }
        if let Some(status) = &new {
            self.check_owner(status, file.owner)?;
            // Without the user's confirmation the file must be the very one that the save wrote. With it the content is
            // sufficient: the folder may be a copy.
            if consent == Consent::Authenticated && (status.stamp.is_none() || status.stamp != file.stamp) {
                return Err("the file that waits beside it is not the one that the save wrote".to_owned());
            }
        }
        let is_foreign = match (now, current) {
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
        // A file that another program has written there since is not removed.
        Ok(if now.is_some() && now == file.old { State::Ready } else { State::Done })
    }
}

/// The state of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Done,
    Ready,
}

fn interrupted(record: &Path, why: &str) -> Error {
    Error::new(record, Reason::Interrupted(why.to_owned()))
}

/// The status of the regular file at a path; `None` if nothing exists there.
fn regular(path: &TreePath) -> Result<Option<Status>, String> {
    match path.status() {
        Ok(Some(status)) if !status.is_regular => Err("it is a link or not a regular file".to_owned()),
        Ok(status) => Ok(status),
        Err(error) => Err(format!("it cannot be inspected: {error}")),
    }
}

/// The content of a file, if its length is one of the expected ones; otherwise its bytes are not read.
fn content(
    path: &TreePath,
    status: Option<&Status>,
    expected: [Option<Content>; 2],
) -> Result<Option<Content>, String> {
    let Some(len) = status.map(|status| status.len) else { return Ok(None) };
    if !expected.iter().flatten().any(|content| content.len == len) {
        return Ok(None);
    }
    let hash = path.hash().map_err(|error| format!("it cannot be read: {error}"))?;
    Ok(Some(Content { len, hash }))
}

/// Whether a file that is overwritten in place contains only old and new blocks.
fn is_half_copied(
    file: &Replacement,
    status: &Status,
    temporary: &TreePath,
    target: &TreePath,
) -> Result<bool, String> {
    let (Some(blocks), Some(old)) = (file.blocks.as_ref().filter(|_| file.in_place), file.old) else {
        return Ok(false);
    };
    // A copy does not shorten the file before it is complete.
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
        let (temporary, target) = (case.path_of(&file.temporary), case.path_of(&file.target));
        let (temporary, target) = (temporary.map_err(failed)?, target.map_err(failed)?);
        let replace = || {
            if file.in_place && file.old.is_some() {
                in_place::copy(&mut temporary.open_file(false)?, &mut target.open_file(true)?, gate)
                    .and_then(|()| temporary.remove())
            } else {
                temporary.rename_to(&target)
            }
        };
        attempt(gate, Operation::Rename, replace).map_err(failed)?;
        touch(&file.target);
    }
    let mut removed = 0;
    for (file, _) in case.record.removed.iter().zip(removals).filter(|(_, step)| !step.is_done) {
        let target = case.path_of(&file.target).map_err(failed)?;
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
    fn path_of(&self, name: &Name) -> io::Result<TreePath> {
        self.tree.locate(&name.path())
    }
}
