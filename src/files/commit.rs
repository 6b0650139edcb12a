//! Executes a save: renames synced temporary files over their targets.
//!
//! Invariant: an error before the first rename changes no file and leaves no temporary file behind. Files are renamed
//! in the given order (the index last), so an index never lists a missing part. Every operation passes a [`Gate`]:
//! tests make the n-th one fail, or the process die there. The commit record, with which recovery finishes an
//! interrupted save, is written between the last [`FsOperation::Sync`] and the first [`FsOperation::Rename`].

use super::disk::{Disk, OnDisk};
use super::error::{Error, Reason};
use super::external_changes;
use super::gate::{FsOperation, Gate, attempt, sync_folder};
use super::in_place;
use super::made_folders::Folders;
use super::record::{CommitIntent, WrittenRecord};
use super::replace_target::ReplaceTarget;
use super::temporary::{Staged, has_record};
use rayon::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The renames and removals of a save, and the folder of its commit record.
pub(super) struct Commit<'a> {
    /// The file that the set is opened by.
    pub(super) main: &'a Path,
    /// The real path of the folder of that file.
    pub(super) set_folder: &'a Path,
    /// The files to remove.
    pub(super) removed: &'a [ReplaceTarget],
    /// The folders that were created for the new files.
    pub(super) made: &'a Folders,
    /// The user's state folder, whose key authenticates the record.
    pub(super) state: Option<&'a Path>,
}

/// Renames staged files into place in order, then removes files, then syncs the folders.
///
/// If that takes more than one step, a commit record is written to the set's folder first, so that the next process can
/// finish the save after a crash or an error. `disk` is updated for each file as soon as it is replaced, so that it is
/// correct even after an error.
pub(super) fn commit(staged: Vec<Staged>, commit: &Commit<'_>, disk: &mut Disk, gate: &dyn Gate) -> Result<(), Error> {
    let Commit { main, set_folder, removed, made, state } = *commit;
    let targets = || staged.iter().map(|staged| &staged.target).chain(removed);
    // Check again that no target has changed since it was inspected.
    let all: Vec<&ReplaceTarget> = targets().collect();
    if let Some(changed) = all.into_par_iter().find_first(|target| !target.is_unchanged()) {
        return Err(Error::new(&changed.path, Reason::Changed));
    }
    reserve(&staged, gate)?;
    let mut folders: BTreeSet<PathBuf> = targets().map(|target| target.folder().to_path_buf()).collect();
    folders.extend(made.parents());
    let is_several = staged.len() + removed.len() > 1 || targets().any(|target| target.in_place);
    let record = if is_several || has_record(set_folder) {
        let intent = CommitIntent { main, staged: &staged, removed, supersedes: disk.is_unfinished(), state };
        match WrittenRecord::new(set_folder, intent, gate) {
            Ok(record) => Some(record),
            Err((error, stays)) => {
                if stays {
                    disk.note_unfinished();
                    keep_temporaries(staged);
                    return Err(Error::new(
                        set_folder,
                        Reason::Unfinished { act: "write the commit record of", source: error },
                    ));
                }
                return Err(match error.kind() {
                    io::ErrorKind::AlreadyExists => Error::new(set_folder, Reason::Saving),
                    _ => Error::system("write the commit record of", set_folder, error),
                });
            }
        }
    } else {
        None
    };
    let mut staged = VecDeque::from(staged);
    let done = replace_all(&mut staged, removed, disk, gate).and_then(|()| {
        folders.iter().try_for_each(|folder| {
            attempt(gate, FsOperation::SyncFolder, || sync_folder(folder))
                .map_err(|error| Error::system("sync the save, which may not survive a crash", folder, error))
        })
    });
    if record.is_some() {
        disk.note_unfinished();
    }
    match (record, done) {
        (None, done) => done,
        (Some(record), Ok(())) => {
            let failed =
                |source| Error::new(set_folder, Reason::Unfinished { act: "remove the commit record of", source });
            record.end(gate).map_err(failed)
        }
        (Some(_), Err(error)) => {
            keep_temporaries(staged);
            Err(error.into_unfinished())
        }
    }
}

/// Keeps the remaining temporary files, because a commit record names them.
fn keep_temporaries(staged: impl IntoIterator<Item = Staged>) {
    for Staged { temporary, .. } in staged {
        let _ = temporary.keep();
    }
}

/// Preallocates disk space for files that are overwritten in place: later, a full disk would leave one of them partly
/// written.
fn reserve(staged: &[Staged], gate: &dyn Gate) -> Result<(), Error> {
    for file in staged.iter().filter(|file| file.target.in_place) {
        attempt(gate, FsOperation::Reserve, || allocate(&file.target.real, file.len))
            .map_err(|error| Error::system("reserve space for the new bytes", &file.target.path, error))?;
    }
    Ok(())
}

/// Preallocates disk space for a file, which keeps its length and content. Does nothing if the file system cannot.
#[cfg(target_os = "linux")]
fn allocate(path: &Path, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let file = File::options().write(true).open(path)?;
    match fallocate(&file, FallocateFlags::KEEP_SIZE, 0, len.max(1)).map_err(io::Error::from) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::Interrupted
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn allocate(_: &Path, _: u64) -> io::Result<()> {
    Ok(())
}

/// Maximum number of replaced files that are open until their memory is freed.
const MAX_OPEN: usize = 64;

/// Minimum length in bytes of a file whose memory is freed by another thread.
const MIN_FREED_LATER: u64 = 1 << 20;

/// Replaces each target, removing it from `staged`, then removes the removed files.
fn replace_all(
    staged: &mut VecDeque<Staged>,
    removed: &[ReplaceTarget],
    disk: &mut Disk,
    gate: &dyn Gate,
) -> Result<(), Error> {
    let frees_later = staged.len() <= MAX_OPEN;
    while let Some(Staged { target, temporary, len, hash }) = staged.pop_front() {
        let failed = |error| Error::system("rename the new file over the old one", &target.path, error);
        let replaced = attempt(gate, FsOperation::Rename, || {
            if target.in_place {
                overwrite(&temporary, &target.real, gate)
            } else {
                rename(&temporary, &target, frees_later)
            }
        });
        if let Err(error) = replaced {
            let error = failed(error);
            if target.in_place {
                // It may be partly overwritten: record its current state, so that it can be written again.
                note_current_state(&target, disk);
            }
            staged.push_front(Staged { target, temporary, len, hash });
            return Err(error);
        }
        if !target.in_place {
            // The temporary file no longer exists.
            let _ = temporary.keep();
        }
        let metadata = fs::metadata(&target.real);
        let metadata = metadata
            .map_err(|error| Error::system("look at the new file, which is in its place", &target.path, error))?;
        disk.note_mid_save(OnDisk::new(&target.path, &metadata, hash));
    }
    for target in removed {
        attempt(gate, FsOperation::Remove, || fs::remove_file(&target.real))
            .map_err(|error| Error::system("remove", &target.path, error))?;
        disk.forget(&target.path);
    }
    Ok(())
}

/// Renames a new file over an old one. The system frees the memory of the old file when nothing has it open any more, which
/// takes milliseconds for large files: with `frees_later`, another thread waits for that.
fn rename(new: &Path, old: &ReplaceTarget, frees_later: bool) -> io::Result<()> {
    let is_large = old.metadata.as_ref().is_some_and(|metadata| metadata.len() >= MIN_FREED_LATER);
    // Other systems may refuse to replace an open file.
    let open = if cfg!(unix) && frees_later && is_large { File::open(&old.real).ok() } else { None };
    fs::rename(new, &old.real)?;
    if let Some(open) = open {
        rayon::spawn(move || drop(open));
    }
    Ok(())
}

/// Overwrites a file in place with the bytes of another.
fn overwrite(from: &Path, into: &Path, gate: &dyn Gate) -> io::Result<()> {
    in_place::copy(&mut File::open(from)?, &mut File::options().write(true).open(into)?, gate)
}

fn note_current_state(target: &ReplaceTarget, disk: &mut Disk) {
    if let (Ok(metadata), Ok(hash)) = (fs::metadata(&target.real), external_changes::hash(&target.real)) {
        disk.note_mid_save(OnDisk::new(&target.path, &metadata, hash));
    }
}
