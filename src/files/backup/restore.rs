//! Restores a set from backups to its state before a save.
//!
//! Each save backs up only the files that it changes, so a file is restored from its oldest copy since that save. Files
//! are written as by a save (beside their targets, read back, all or nothing), and those that they replace are backed
//! up first.

use super::super::commit::{self, Commit};
use super::super::disk::{Disk, Fingerprint};
use super::super::error::{Error, Reason};
use super::super::gate::{AllowAll, Gate};
use super::super::made_folders::{Folders, resolve_target, set_folder};
use super::super::replace_target::{ReplaceTarget, TargetAction};
use super::super::temporary::{Staged, TempFile, has_record};
use super::super::tree::Tree;
use super::super::{external_changes, record, space};
use super::{BackupContext, BackupFile, Backups, When, sets};
use crate::protocol::lastmod::Now;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A planned restore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RestorePlan {
    main: PathBuf,
    /// Files whose content changes.
    pub files: Vec<RestoredFile>,
    /// Files that have the restored content already.
    pub untouched: Vec<PathBuf>,
    /// Files that were created since, which the restored set does not list.
    pub created_since: Vec<PathBuf>,
    /// Whether this user's key authenticates every backup that is needed.
    pub is_authentic: bool,
}

/// A file to be restored from a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestoredFile {
    /// The file.
    pub target: PathBuf,
    /// The copy, relative to the set's folder.
    copy: PathBuf,
    hash: u64,
    /// BLAKE3 in hexadecimal, where it is known.
    digest: String,
}

/// How far a backup is trusted, and where the key is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Trust<'a> {
    /// The user's state folder, which has the key.
    pub state: Option<&'a Path>,
    /// Whether a backup that the key does not authenticate is restored as well.
    pub unverified: bool,
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Number of files whose content was changed.
    pub written: usize,
    /// Number of files that were removed.
    pub removed: usize,
    /// The backup of the files that were replaced or removed.
    pub backup: Option<PathBuf>,
    /// Why that backup is not signed, if it is not.
    pub unsigned: Option<String>,
}

/// Plans a restore to the state before the save that made the backup of this date. Writes nothing.
///
/// # Errors
/// When there is no such backup, a copy was changed, or a file may not be written because it is now a link, hidden or
/// not a regular file.
pub(crate) fn plan_restore(main: &Path, date: &str, state: Option<&Path>) -> Result<RestorePlan, Error> {
    let all = sets(main, state)?;
    let Some(from) = all.iter().position(|set| set.date == date) else {
        let why = match all.last() {
            Some(last) => format!("there is no backup of this date: {date}; the latest is {}", last.date),
            None => format!("there is no backup: {} does not exist or is empty", super::backups_folder(main).display()),
        };
        return Err(Error::new(main, Reason::Plan(why)));
    };
    let sets = all.get(from..).unwrap_or_default();
    let is_authentic = sets.iter().all(|set| set.is_authentic);
    let folder = super::parent(main);
    let mut wanted: BTreeMap<&PathBuf, (&BackupFile, PathBuf)> = BTreeMap::new();
    let mut absent: BTreeSet<&PathBuf> = BTreeSet::new();
    for set in sets {
        let dated = set.folder.strip_prefix(folder).unwrap_or(&set.folder);
        for file in &set.files {
            if !absent.contains(&file.name) {
                wanted.entry(&file.name).or_insert_with(|| (file, dated.join(&file.name)));
            }
        }
        absent.extend(set.absent.iter().filter(|name| !wanted.contains_key(name)));
    }
    let real = super::real_folder(main).ok_or_else(|| Error::new(main, Reason::Missing))?;
    let tree = Tree::open(&real).map_err(|error| Error::system("open its folder", main, error))?;
    let scope = RestoreScope { tree: &tree, is_authentic };
    let mut plan = RestorePlan { main: main.to_path_buf(), is_authentic, ..RestorePlan::default() };
    for (name, (kept, copy)) in wanted {
        let target = folder.join(name);
        let refuse = |why: String| Error::new(&target, Reason::Plan(format!("this file is not restored: {why}")));
        scope.check(name, kept.real.as_deref()).map_err(refuse)?;
        let digest = if is_authentic { kept.digest.clone() } else { String::new() };
        let file = RestoredFile { target: target.clone(), copy, hash: kept.hash, digest };
        file.check_copy(&tree)?;
        if external_changes::hash(&target).is_ok_and(|now| now == kept.hash) {
            plan.untouched.push(target);
        } else {
            plan.files.push(file);
        }
    }
    // An index is replaced after the files that it lists.
    plan.files.sort_by_key(|file| file.target == main);
    for name in absent {
        let path = folder.join(name);
        if scope.is_removable(name).map_err(|error| Error::system("inspect it", &path, error))? {
            plan.created_since.push(path);
        }
    }
    Ok(plan)
}

/// Which files below a folder a restore may write or remove.
struct RestoreScope<'t> {
    tree: &'t Tree,
    is_authentic: bool,
}

impl RestoreScope<'_> {
    /// Whether a file may be written to or removed; `real` is where it was behind a link when the backup was made.
    fn check(&self, name: &Path, real: Option<&Path>) -> Result<(), String> {
        record::check_inside(name)?;
        let path = self.tree.path().join(name);
        if let Some(real) = real.filter(|_| self.is_authentic) {
            let is_as_then = path.canonicalize().is_ok_and(|now| now == real);
            return if is_as_then { Ok(()) } else { Err("the link to it leads elsewhere now".to_owned()) };
        }
        match self.tree.locate(name).and_then(|place| place.status()) {
            // Its folder is created again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(Some(status)) if !status.is_regular => Err("it is a link or not a regular file".to_owned()),
            Ok(Some(status)) if !self.is_authentic && !status.is_of_current_user() => {
                Err("it belongs to another user".to_owned())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Whether there is a file that may be removed.
    fn is_removable(&self, name: &Path) -> io::Result<bool> {
        if record::check_inside(name).is_err() {
            return Ok(false);
        }
        match self.tree.locate(name).and_then(|place| place.status()) {
            Ok(None) => Ok(false),
            Ok(Some(status)) => Ok(status.is_regular && (self.is_authentic || status.is_of_current_user())),
            // Its path goes over a link to some other file.
            Err(error) if is_elsewhere(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Whether an error means that a path does not exist or goes over a link.
fn is_elsewhere(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidData | InvalidInput)
}

impl RestoredFile {
    /// Opens the copy without following links.
    fn open(&self, tree: &Tree) -> Result<File, Error> {
        let file = tree.locate(&self.copy).and_then(|place| place.open_file(false));
        file.map_err(|error| Error::system("read", &tree.path().join(&self.copy), error))
    }

    /// Checks that the copy is unchanged.
    fn check_copy(&self, tree: &Tree) -> Result<(), Error> {
        let mut hashes = Hashes::default();
        let failed = |error| Error::system("read", &tree.path().join(&self.copy), error);
        io::copy(&mut self.open(tree)?, &mut hashes).map_err(failed)?;
        if hashes.match_copy(self) {
            return Ok(());
        }
        let why = "this copy was changed since the backup was made".to_owned();
        Err(Error::new(tree.path().join(&self.copy), Reason::Plan(why)))
    }
}

/// Computes both hashes of the bytes that are written to it.
#[derive(Default)]
struct Hashes(Fingerprint, blake3::Hasher);

impl Hashes {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
        self.1.update(bytes);
    }

    fn match_copy(self, file: &RestoredFile) -> bool {
        self.0.finish() == file.hash && (file.digest.is_empty() || *self.1.finalize().to_hex() == *file.digest)
    }
}

impl Write for Hashes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl RestorePlan {
    /// Restores the files, and with `prune` removes those that were created since.
    ///
    /// # Errors
    /// As for a save: either no file was changed, or a commit record allows to finish the restore.
    pub(crate) fn run(&self, prune: bool, now: Now, trust: Trust<'_>) -> Result<Restored, Error> {
        self.run_with_gate(&AllowAll, prune, now, trust)
    }

    pub(in crate::files) fn run_with_gate(
        &self,
        gate: &dyn Gate,
        prune: bool,
        now: Now,
        trust: Trust<'_>,
    ) -> Result<Restored, Error> {
        if !self.is_authentic && !trust.unverified {
            return Err(Error::new(super::backups_folder(&self.main), Reason::Unverified));
        }
        let state = trust.state;
        let mut disk = Disk::default();
        let mut made = Folders::default();
        let set_folder = set_folder(Some(&self.main), &mut made)?;
        let tree = Tree::open(&set_folder).map_err(|error| Error::system("open", &set_folder, error))?;
        let mut targets = Vec::new();
        for file in &self.files {
            let path = &file.target;
            let mut target = ReplaceTarget::inspect(path, TargetAction::Replace, &disk, true)?;
            if target.metadata.is_none() {
                resolve_target(&mut target, &mut made)
                    .map_err(|error| Error::system("create its folder", path, error))?;
                target.max_mode = mode(&file.open(&tree)?);
            }
            targets.push((target, file));
        }
        let created_since: &[PathBuf] = if prune { &self.created_since } else { &[] };
        let removed: Vec<ReplaceTarget> = created_since
            .iter()
            .map(|path| ReplaceTarget::inspect(path, TargetAction::Replace, &disk, true))
            .collect::<Result<_, _>>()?;
        let explained = |error: Error| {
            let len = |file: &RestoredFile| {
                file.open(&tree).ok().and_then(|copy| copy.metadata().ok()).map_or(0, |copy| copy.len())
            };
            space::explained(error, self.files.iter().map(len).sum())
        };
        let staged: Vec<Staged> = targets
            .into_iter()
            .map(|(target, file)| stage(target, file, &tree, gate))
            .collect::<Result<_, _>>()
            .map_err(explained)?;
        if staged.is_empty() && removed.is_empty() && !has_record(&set_folder) {
            return Ok(Restored { written: 0, removed: 0, backup: None, unsigned: None });
        }
        let changing = staged.iter().map(|file| &file.target).chain(&removed);
        let mut taken = Backups::new(When::Always)
            .back_up(&self.main, changing, &BackupContext { now, state, gate })
            .map_err(explained)?;
        let written = staged.len();
        let commit = Commit { main: &self.main, set_folder: &set_folder, removed: &removed, made: &made, state };
        let done = commit::commit(staged, &commit, &mut disk, gate);
        if done.is_ok() || has_record(&set_folder) {
            taken.keep();
        }
        done.map_err(explained)?;
        Ok(Restored {
            written,
            removed: removed.len(),
            backup: taken.sets.first().cloned(),
            unsigned: taken.unsigned.take(),
        })
    }
}

/// Permission bits of a copy.
fn mode(copy: &File) -> u32 {
    #[cfg(unix)]
    let mode = {
        use std::os::unix::fs::MetadataExt;
        copy.metadata().map_or(0o600, |metadata| metadata.mode() & 0o777 | 0o600)
    };
    #[cfg(not(unix))]
    let mode = {
        let _ = copy;
        0o644
    };
    mode
}

/// Writes a copy's bytes beside their target and reads them back.
fn stage(target: ReplaceTarget, file: &RestoredFile, tree: &Tree, gate: &dyn Gate) -> Result<Staged, Error> {
    let path = target.path.clone();
    let failed = |error| Error::system("write", &path, error);
    let mut from = file.open(tree)?;
    let mut sink = TempFile::create(&target, tree.path(), gate).map_err(failed)?;
    let mut hashes = Hashes::default();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        let bytes = buffer.get(..read).unwrap_or_default();
        hashes.update(bytes);
        sink.write_all(bytes).map_err(failed)?;
    }
    let staged = sink.finish(target).map_err(failed)?;
    let read_back = external_changes::hash(&staged.temporary).map_err(failed)?;
    if read_back != staged.hash || !hashes.match_copy(file) {
        let why = "reading back gave other bytes than were written".to_owned();
        return Err(Error::new(path, Reason::Check(why)));
    }
    Ok(staged)
}
