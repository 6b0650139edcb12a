//! Makes backups of the files that a save replaces or removes, in a dated folder beside the set.
//!
//! `sitemap.xml.bak/2026-11-20T10-20-30Z/` holds copies of those files under their own names, with their modes, and a
//! list with their hashes. The list is written last: a backup without one was interrupted and is ignored. Invariant:
//! nothing is replaced before its copy is on disk, and no copy is ever overwritten. Backups are numbered, so that a
//! clock that is set back does not change their order.

mod list;
mod restore;

#[cfg(test)]
mod tests;

pub use list::{Incomplete, incomplete, prune, sets};
pub use restore::Restored;

pub(crate) use list::{BackupFile, BackupSet, remove_incomplete, superfluous};
pub(crate) use restore::{RestorePlan, Trust, plan_restore};

use super::disk::fingerprint;
use super::error::{Error, Reason, system_message};
use super::gate::{FsOperation, Gate, attempt, sync_folder};
use super::record::Key;
use super::replace_target::{ReplaceTarget, copy_metadata};
use super::temporary::{SUFFIX, stem, temporary_prefix};
use crate::protocol::lastmod::Now;
use list::{BackupList, Entry, LIST, VERSION};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// When backups are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// Never.
    #[default]
    Off,
    /// Each file at the first save of a session that replaces it: as it was before the session.
    Once,
    /// At every save.
    Always,
}

impl When {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Off, Self::Once, Self::Always];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Once => "once",
            Self::Always => "always",
        }
    }

    /// The value with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|when| when.name() == name)
    }
}

/// The backups of one session. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Backups {
    when: When,
    /// The dated folder of this session for each folder of backups.
    of_session: Arc<Mutex<BTreeMap<PathBuf, PathBuf>>>,
}

impl Backups {
    /// The backups of a new session; no file has been copied yet.
    pub fn new(when: When) -> Self {
        Self { when, of_session: Arc::default() }
    }

    /// When backups are made.
    pub const fn when(&self) -> When {
        self.when
    }

    /// Changes when backups are made; earlier backups of this session still count.
    pub const fn set_when(&mut self, when: When) {
        self.when = when;
    }

    /// Copies the files that are about to be replaced or removed, and lists those that are about to be created. `main`
    /// is the file that the set is opened by.
    ///
    /// Returns the backups that were begun or extended. If the value is dropped without [`NewBackups::keep`], new ones
    /// are removed.
    pub(super) fn back_up<'t>(
        &self,
        main: &Path,
        targets: impl Iterator<Item = &'t ReplaceTarget>,
        making: &BackupContext<'_>,
    ) -> Result<NewBackups, Error> {
        let mut taken = NewBackups::default();
        if self.when == When::Off {
            return Ok(taken);
        }
        let mut by_folder: BTreeMap<PathBuf, (PathBuf, Vec<&ReplaceTarget>)> = BTreeMap::new();
        let folder = parent(main);
        for target in targets {
            // A file outside of the set's folder is backed up beside itself, so that no name in a list leaves its
            // folder.
            let is_inside = target.path.strip_prefix(folder).is_ok_and(is_plain);
            let main = if is_inside { main } else { &target.path };
            let (_, all) =
                by_folder.entry(backups_folder(main)).or_insert_with(|| (parent(main).to_path_buf(), Vec::new()));
            all.push(target);
        }
        let mut of_session = self.of_session.lock().unwrap_or_else(PoisonError::into_inner);
        for (backups_folder, (folder, targets)) in by_folder {
            let known = of_session.get(&backups_folder).filter(|_| self.when == When::Once).cloned();
            let known = known.map(|dated| list::read(&dated).map(|listed| Some((listed?, dated))));
            let known =
                known.transpose().map_err(|error| Error::system("list the backups", &backups_folder, error))?.flatten();
            let mut job = BackupJob { folder: &folder, backups_folder: &backups_folder, making, taken: &mut taken };
            if let Some(dated) = job.back_up(&targets, known)? {
                of_session.insert(backups_folder, dated);
            }
        }
        Ok(taken)
    }
}

/// Input of a backup.
pub(super) struct BackupContext<'a> {
    /// The current time, which the backup is named after.
    pub(super) now: Now,
    /// The user's state folder, whose key authenticates the backup.
    pub(super) state: Option<&'a Path>,
    pub(super) gate: &'a dyn Gate,
}

impl BackupContext<'_> {
    /// The key that signs the backup, or why there is none.
    fn key(&self) -> Result<Key, String> {
        let state = self.state.ok_or("no state folder: HOME and XDG_STATE_HOME are not set")?;
        let failed = |error| format!("no key can be read or made in {}: {}", state.display(), system_message(&error));
        Key::load_or_create(state).map_err(failed)
    }
}

/// The folder of the file that a set is opened by, without links.
fn real_folder(main: &Path) -> Option<PathBuf> {
    let folder = Some(parent(main)).filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().ok()
}

/// The folder with the backups of a set, which is opened by `main`.
pub fn backups_folder(main: &Path) -> PathBuf {
    /// Maximum length in bytes of a name to which `.bak` can be appended.
    const LONGEST: usize = 251;
    let name = main.file_name().unwrap_or_default();
    let mut name = match name.len() {
        0..=LONGEST => name.to_os_string(),
        _ => stem(&name.to_string_lossy()).into_owned().into(),
    };
    name.push(".bak");
    main.with_file_name(name)
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Whether a path consists of plain names only, and at least one.
fn is_plain(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Backups that a save has begun. If dropped, new ones are removed, because the save failed.
#[derive(Debug, Default)]
pub(super) struct NewBackups {
    new: Vec<PathBuf>,
    /// All backups of the save, including earlier ones that were extended.
    pub(super) sets: Vec<PathBuf>,
    /// Why they are not signed, if they are not.
    pub(super) unsigned: Option<String>,
}

impl NewBackups {
    /// Keeps the backups, because the save is done or will be finished later.
    pub(super) fn keep(&mut self) {
        self.new.clear();
    }
}

impl Drop for NewBackups {
    fn drop(&mut self) {
        for dated in &self.new {
            let _ = fs::remove_dir_all(dated);
            // Fails if the folder holds older backups.
            let _ = dated.parent().map(fs::remove_dir);
        }
    }
}

struct BackupJob<'a> {
    /// What the names in the list are relative to.
    folder: &'a Path,
    backups_folder: &'a Path,
    making: &'a BackupContext<'a>,
    taken: &'a mut NewBackups,
}

impl BackupJob<'_> {
    /// Copies the files that have no copy yet, and returns the dated folder.
    fn back_up(
        &mut self,
        targets: &[&ReplaceTarget],
        known: Option<(BackupList, PathBuf)>,
    ) -> Result<Option<PathBuf>, Error> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| Error::system("back it up", &path, error)
        };
        let (mut listed, dated) = match known {
            Some((listed, dated)) => (listed, dated),
            None => self.begin().map_err(failed(self.backups_folder))?,
        };
        if !self.taken.sets.contains(&dated) {
            self.taken.sets.push(dated.clone());
        }
        let before = listed.files.len() + listed.absent.len();
        for target in targets {
            let Ok(name) = target.path.strip_prefix(self.folder) else { continue };
            if listed.has(name) {
                continue;
            }
            match target.hash {
                Some(hash) => {
                    let entry = self.copy(target, name, hash, &dated).map_err(failed(&target.path))?;
                    if entry.hash != hash {
                        return Err(Error::new(&target.path, Reason::Changed));
                    }
                    listed.files.push(entry);
                }
                None => listed.absent.push(list::Name::of(name)),
            }
        }
        if listed.files.len() + listed.absent.len() > before {
            self.write(&listed, &dated).map_err(failed(&dated))?;
        }
        Ok(Some(dated))
    }

    /// Creates a dated folder with a unique name.
    fn begin(&mut self) -> io::Result<(BackupList, PathBuf)> {
        let is_new = fs::symlink_metadata(self.backups_folder).is_err();
        if is_new {
            fs::create_dir_all(self.backups_folder)?;
        } else if !list::is_folder(self.backups_folder)? {
            // A link may lead to any folder.
            let why =
                format!("{} is a link or not a folder; no backup is written there", self.backups_folder.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if is_new {
            let above = parent(self.backups_folder);
            sync_folder(if above.as_os_str().is_empty() { Path::new(".") } else { above })?;
        }
        let date = list::date(self.making.now);
        let mut number = 1;
        let dated = loop {
            let name = if number == 1 { date.clone() } else { format!("{date}-{number}") };
            let dated = self.backups_folder.join(name);
            match attempt(self.making.gate, FsOperation::Backup, || fs::create_dir(&dated)) {
                Ok(()) => break dated,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => {
                    let _ = fs::remove_dir(self.backups_folder);
                    return Err(error);
                }
            }
        };
        self.taken.new.push(dated.clone());
        let number = list::last_number(self.backups_folder)? + 1;
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { self.folder };
        let folder = folder.canonicalize().ok().map(|folder| list::Name::of(&folder));
        let (files, absent) = (Vec::new(), Vec::new());
        let listed =
            BackupList { version: VERSION, number, made: self.making.now.seconds, files, absent, folder, code: None };
        Ok((listed, dated))
    }

    /// Copies a file, with its owner, attributes and mode.
    fn copy(&self, target: &ReplaceTarget, name: &Path, hash: u64, dated: &Path) -> io::Result<Entry> {
        let to = dated.join(name);
        fs::create_dir_all(parent(&to))?;
        let bytes = fs::read(&target.real)?;
        let found = fingerprint(&bytes);
        let entry = Entry {
            name: list::Name::of(name),
            len: bytes.len() as u64,
            hash: found,
            digest: blake3::hash(&bytes).to_hex().to_string(),
            real: self.link_target(name, target),
        };
        if found != hash {
            return Ok(entry);
        }
        let mut file = attempt(self.making.gate, FsOperation::Backup, || create_private(&to))?;
        file.write_all(&bytes)?;
        if let Some(metadata) = &target.metadata {
            // Best effort: the file itself keeps its metadata.
            let _ = copy_metadata(&file, metadata, &target.real);
            let _ = metadata.modified().map(|time| file.set_modified(time));
        }
        attempt(self.making.gate, FsOperation::Sync, || file.sync_all())?;
        sync_folder(parent(&to))?;
        Ok(entry)
    }

    /// The real path of a file that is reached over a link.
    fn link_target(&self, name: &Path, target: &ReplaceTarget) -> Option<list::Name> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { self.folder };
        let is_direct = folder.canonicalize().is_ok_and(|folder| folder.join(name) == target.real);
        (!is_direct).then(|| list::Name::of(&target.real))
    }

    /// Writes the list and atomically replaces an older one.
    fn write(&mut self, listed: &BackupList, dated: &Path) -> io::Result<()> {
        let key = self.making.key().map_err(|why| self.taken.unsigned = Some(why)).ok();
        let mut listed = listed.clone();
        listed.sign(key.as_ref());
        let prefix = temporary_prefix(LIST);
        let mut file = tempfile::Builder::new().prefix(&prefix).suffix(SUFFIX).tempfile_in(dated)?;
        file.write_all(&serde_json::to_vec_pretty(&listed)?)?;
        attempt(self.making.gate, FsOperation::Sync, || file.as_file().sync_all())?;
        attempt(self.making.gate, FsOperation::Rename, || Ok(()))?;
        file.persist(dated.join(LIST)).map_err(|error| error.error)?;
        sync_folder(dated)?;
        sync_folder(self.backups_folder)
    }
}

/// Creates a file that only its owner can read.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // Left by a run that was interrupted before it listed the file, so nothing refers to it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)
        }
        file => file,
    }
}
