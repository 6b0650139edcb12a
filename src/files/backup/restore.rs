//! Puts a set back as it was before the save that a dated set was made by.
//!
//! That save may have touched only some files and later ones others, so a file's bytes are those of the oldest copy
//! since. They are put in place as a save does it (beside their targets, read back, all or nothing), and what they
//! replace is kept like before any other save.

use super::super::commit::{self, Folders, Gate, Open, Sink, Staged};
use super::super::disk::Disk;
use super::super::error::{Error, Reason};
use super::super::target::{Target, Wish};
use super::super::{outside, record, save, space};
use super::{Backups, When, sets};
use crate::protocol::lastmod::Now;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A restore, worked out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restoring {
    main: PathBuf,
    /// Files that get other bytes: which, and from where.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// Files that are as they were.
    pub untouched: Vec<PathBuf>,
    /// Files that were made since: nothing of the restored set names them.
    pub left: Vec<PathBuf>,
}

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Files that got other bytes.
    pub written: usize,
    /// Files that were removed.
    pub removed: usize,
    /// The dated set with what was there before.
    pub backup: Option<PathBuf>,
}

/// Works out what leads back to before the dated set of this name. Reads, writes nothing.
///
/// # Errors
/// When there is no such set, or a copy is not what it was.
pub fn restoring(main: &Path, date: &str) -> Result<Restoring, Error> {
    let all = sets(main);
    let Some(from) = all.iter().position(|set| set.date == date) else {
        let why = match all.last() {
            Some(last) => format!("there is no backup of this date: {date}; the latest is {}", last.date),
            None => format!("there is no backup: {} does not exist or is empty", super::home(main).display()),
        };
        return Err(Error::new(main, Reason::Plan(why)));
    };
    let folder = super::parent(main);
    let mut wanted: BTreeMap<&PathBuf, (PathBuf, u64)> = BTreeMap::new();
    let mut absent: BTreeSet<&PathBuf> = BTreeSet::new();
    for set in all.iter().skip(from) {
        for file in &set.files {
            if !absent.contains(&file.name) {
                wanted.entry(&file.name).or_insert_with(|| (set.folder.join(&file.name), file.hash));
            }
        }
        absent.extend(set.absent.iter().filter(|name| !wanted.contains_key(name)));
    }
    let mut restoring = Restoring { main: main.to_path_buf(), ..Restoring::default() };
    for (name, (copy, hash)) in wanted {
        let found = outside::hash(&copy).map_err(|error| Error::system("read", &copy, error))?;
        if found != hash {
            let why = "this copy is not what was kept: it was changed since".to_owned();
            return Err(Error::new(copy, Reason::Plan(why)));
        }
        let target = folder.join(name);
        if outside::hash(&target).is_ok_and(|now| now == hash) {
            restoring.untouched.push(target);
        } else {
            restoring.files.push((target, copy));
        }
    }
    // An index is put in place after the files that it names.
    restoring.files.sort_by_key(|(target, _)| target == main);
    restoring.left = absent.into_iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect();
    Ok(restoring)
}

impl Restoring {
    /// Puts the files back; removes those that were made since if `prune` says so.
    ///
    /// # Errors
    /// As a save: every file is as it was then, or a record says how it goes on.
    pub fn run(&self, prune: bool, now: Now) -> Result<Restored, Error> {
        self.run_through(&Open, prune, now)
    }

    pub(in crate::files) fn run_through(&self, gate: &dyn Gate, prune: bool, now: Now) -> Result<Restored, Error> {
        let mut disk = Disk::default();
        let mut made = Folders::default();
        let home = save::home(Some(&self.main), &mut made)?;
        let mut targets = Vec::new();
        for (path, copy) in &self.files {
            let mut target = Target::look(path, Wish::Replace, &disk, true)?;
            if target.metadata.is_none() {
                save::settle(&mut target, &mut made)
                    .map_err(|error| Error::system("make the folder of", path, error))?;
                target.ceiling = mode(copy);
            }
            targets.push((target, copy));
        }
        let left: &[PathBuf] = if prune { &self.left } else { &[] };
        let removed: Vec<Target> =
            left.iter().map(|path| Target::look(path, Wish::Replace, &disk, true)).collect::<Result<_, _>>()?;
        let explained = |error: Error| {
            let len = |copy: &PathBuf| std::fs::metadata(copy).map_or(0, |metadata| metadata.len());
            space::explained(error, self.files.iter().map(|(_, copy)| len(copy)).sum())
        };
        let staged: Vec<Staged> = targets
            .into_iter()
            .map(|(target, copy)| stage(target, copy, &home, gate))
            .collect::<Result<_, _>>()
            .map_err(explained)?;
        if staged.is_empty() && removed.is_empty() && !record::is_there(&home) {
            return Ok(Restored { written: 0, removed: 0, backup: None });
        }
        let changing = staged.iter().map(|file| &file.target).chain(&removed);
        let mut taken = Backups::new(When::Always).keep(&self.main, changing, now, gate).map_err(explained)?;
        let written = staged.len();
        let done = commit::commit(staged, (&removed, &made), &mut disk, &home, gate);
        if done.is_ok() || record::is_there(&home) {
            taken.stay();
        }
        done.map_err(explained)?;
        Ok(Restored { written, removed: removed.len(), backup: taken.sets.first().cloned() })
    }
}

/// Permission bits of a copy.
fn mode(copy: &Path) -> u32 {
    #[cfg(unix)]
    let mode = {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(copy).map_or(0o600, |metadata| metadata.mode() & 0o777 | 0o600)
    };
    #[cfg(not(unix))]
    let mode = {
        let _ = copy;
        0o644
    };
    mode
}

/// Writes a copy's bytes beside their target and reads them back.
fn stage(target: Target, copy: &Path, home: &Path, gate: &dyn Gate) -> Result<Staged, Error> {
    let path = target.path.clone();
    let failed = |error| Error::system("write", &path, error);
    let mut from = File::open(copy).map_err(|error| Error::system("read", copy, error))?;
    let mut sink = Sink::create(&target, home, gate).map_err(failed)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        sink.write_all(buffer.get(..read).unwrap_or_default()).map_err(failed)?;
    }
    let staged = sink.finish(target).map_err(failed)?;
    let read_back = outside::hash(&staged.temporary).map_err(failed)?;
    if read_back != staged.hash || outside::hash(copy).ok() != Some(staged.hash) {
        let why = "the disk gave back other bytes than were written".to_owned();
        return Err(Error::new(path, Reason::Check(why)));
    }
    Ok(staged)
}
