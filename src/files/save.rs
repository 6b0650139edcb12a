//! Carries out a save plan: writes changed files, reads them back, and commits them.
//!
//! A file that is read back must have the written bytes, be well-formed and contain the rows of the document in order;
//! otherwise nothing is replaced. A target that has the new bytes already is not replaced. A plan without changes opens
//! no file.

use super::backup::{BackupContext, Backups, NewBackups, When};
use super::commit::{self, Commit};
use super::disk::Disk;
use super::error::{Error, Reason};
use super::gate::{AllowAll, FsOperation, Gate, attempt};
use super::made_folders::{Folders, resolve_target, set_folder};
use super::plan::{Action, FileId, Output, Plan};
use super::readback::{ReadbackMemory, read_back};
use super::record::{self, Recovery};
use super::replace_target::{ReplaceTarget, TargetAction, first_duplicate};
use super::space;
use super::temporary::{self, Staged, TempFile, has_record};
use crate::document::Document;
use crate::progress::Progress;
use crate::protocol::lastmod::Now;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The result of a save.
#[derive(Debug, Clone)]
pub struct Saved {
    /// The saved document.
    pub document: Document,
    /// The file to open next time.
    pub path: Option<PathBuf>,
    /// Files that were written, with their stored sizes in bytes.
    pub written: Vec<(PathBuf, u64)>,
    /// Files that were removed.
    pub removed: Vec<PathBuf>,
    /// The number of files that were not written.
    pub untouched: usize,
    /// The backup sets of replaced and removed files, if any were made.
    pub backups: Vec<PathBuf>,
    /// Why the backup sets are not signed with the user's key, if so: restoring them needs confirmation.
    pub unsigned: Option<String>,
}

/// Bytes per write: they are in the cache of the core when the system copies them.
const WRITE_BYTES: usize = 64 << 10;

/// Number of threads that sync files while others write.
const SYNC_THREADS: usize = 2;

/// The gzip level of every file: equal content gives equal files.
const LEVEL: Compression = Compression::new(6);

/// Options of a save.
#[derive(Debug, Clone)]
pub(crate) struct SaveMode {
    /// Whether files that were changed by another program since they were read are overwritten.
    pub force: bool,
    /// Whether and how replaced files are backed up.
    pub backups: Backups,
    /// The current time, for the date of a backup.
    pub now: Now,
    /// The user's state folder, whose key authenticates the commit record.
    pub state: Option<PathBuf>,
}

/// Carries out a plan as [`save`] does, with the given options.
pub(crate) fn save_with_mode(
    plan: &Plan,
    disk: &mut Disk,
    mode: &SaveMode,
    progress: &Progress,
) -> Result<Saved, Error> {
    save_with_gate(&AllowAll, plan, disk, mode, progress)
}

/// Carries out a plan. `force` overwrites files that were changed by another program since they were read.
///
/// `disk` is updated even if an error occurs after some files were replaced; the error names the file that was not, and
/// saving again continues from there.
pub fn save(plan: &Plan, disk: &mut Disk, force: bool, progress: &Progress) -> Result<Saved, Error> {
    let mode = SaveMode { force, backups: Backups::default(), now: Now { seconds: 0, offset: 0 }, state: None };
    save_with_gate(&AllowAll, plan, disk, &mode, progress)
}

pub(super) fn save_with_gate(
    gate: &dyn Gate,
    plan: &Plan,
    disk: &mut Disk,
    mode: &SaveMode,
    progress: &Progress,
) -> Result<Saved, Error> {
    check_ready(plan)?;
    IncrementalSave::begin_with_gate(gate, plan.path.as_deref(), disk, mode)?.commit(plan, disk, progress)
}

/// Refuses a plan that cannot be carried out.
fn check_ready(plan: &Plan) -> Result<(), Error> {
    if let Some(problem) = plan.problems.first() {
        return Err(Error::new(plan.path.clone().unwrap_or_default(), Reason::Plan(problem.message.clone())));
    }
    if plan.needs_base.is_some() {
        let why = "the new files need public URLs: give --base-url URL".to_owned();
        return Err(Error::new(plan.path.clone().unwrap_or_default(), Reason::Plan(why)));
    }
    if let Some(repairs) = plan.repairs.first() {
        let path = plan.outputs.iter().find(|output| output.name == repairs.name).map(|output| output.path.clone());
        return Err(Error::new(path.unwrap_or_default(), Reason::Repairs(repairs.what.join("; "))));
    }
    Ok(())
}

/// A save that stages files one by one and commits all of them at the end. If it is dropped before that, no file
/// changes.
pub(crate) struct IncrementalSave<'g> {
    gate: &'g dyn Gate,
    mode: SaveMode,
    set_folder: PathBuf,
    made: Folders,
    /// The paths of files that were inspected for writing, as the document has them.
    inspected: BTreeSet<PathBuf>,
    /// The files that are staged beside their targets.
    staged: Vec<Staged>,
    /// The metadata of replaced files, which restrict the modes of new ones.
    present: Vec<Metadata>,
    /// The real paths of the inspected files.
    reals: Vec<PathBuf>,
    /// The folders of the inspected files, with the bytes that each file needs on disk.
    sizes: Vec<(PathBuf, u64)>,
    memory: ReadbackMemory,
}

impl IncrementalSave<'static> {
    /// Begins a save of the set that is opened by a path.
    ///
    /// # Errors
    /// If the folder does not exist and cannot be created, or an interrupted save in it cannot be finished.
    pub(crate) fn begin(path: Option<&Path>, disk: &Disk, mode: &SaveMode) -> Result<Self, Error> {
        Self::begin_with_gate(&AllowAll, path, disk, mode)
    }
}

/// The written files with their sizes, and the backups of the replaced ones.
type Written = (Vec<(PathBuf, u64)>, NewBackups);

impl<'g> IncrementalSave<'g> {
    pub(super) fn begin_with_gate(
        gate: &'g dyn Gate,
        path: Option<&Path>,
        disk: &Disk,
        mode: &SaveMode,
    ) -> Result<Self, Error> {
        let mut made = Folders::default();
        let set_folder = set_folder(path, &mut made)?;
        if !disk.is_unfinished() {
            if has_record(&set_folder) {
                // The record of another set in this folder, or of another process: it must be finished before this
                // save.
                let recovery = Recovery { state: mode.state.clone(), finish: true };
                record::recover(path.unwrap_or(&set_folder), &recovery)?;
            }
            // The target folder of a copy was not loaded from, so temporary files of dead processes are still there.
            temporary::sweep(&set_folder);
        }
        Ok(Self {
            gate,
            mode: mode.clone(),
            set_folder,
            made,
            inspected: BTreeSet::new(),
            staged: Vec::new(),
            present: Vec::new(),
            reals: Vec::new(),
            sizes: Vec::new(),
            memory: ReadbackMemory::new(),
        })
    }

    /// Notes the modes of the files that a plan replaces, so that no new file is readable for more users, even if it is
    /// staged first.
    pub(crate) fn note_modes(&mut self, plan: &Plan) {
        let replaced = plan.outputs.iter().filter(|output| is_written(Some(output)));
        self.present.extend(replaced.filter_map(|output| std::fs::metadata(&output.path).ok()));
    }

    /// Writes the files of a plan beside their targets and reads them back. The plan may be for one part of a set.
    ///
    /// # Errors
    /// As [`IncrementalSave::commit`]; nothing is replaced.
    pub(crate) fn stage(&mut self, plan: &Plan, disk: &Disk, progress: &Progress) -> Result<(), Error> {
        check_ready(plan)?;
        self.stage_rest(plan, disk, progress).map(|_| ())
    }

    /// Stages the remaining files of a plan, then replaces all targets and removes the removed files.
    ///
    /// # Errors
    /// The first error. Either no file was changed, or a commit record remains, with which the save can be finished.
    pub(crate) fn commit(mut self, plan: &Plan, disk: &mut Disk, progress: &Progress) -> Result<Saved, Error> {
        check_ready(plan)?;
        let mut removes = self.stage_rest(plan, disk, progress)?;
        let positions = plan.outputs.iter().enumerate().map(|(number, output)| (output.path.as_path(), number));
        let positions: BTreeMap<&Path, usize> = positions.collect();
        let mut staged = std::mem::take(&mut self.staged);
        // Staged files that the final plan does not write are dropped, which removes them.
        staged.retain(|file| {
            positions.get(&*file.target.path).is_some_and(|number| is_written(plan.outputs.get(*number)))
        });
        staged.sort_by_key(|file| positions.get(&*file.target.path).copied());
        let done = self.replace_targets(staged, &removes, plan, disk, progress);
        let (written, mut new_backups) = done.map_err(|error| self.explain(error))?;
        let removed: Vec<PathBuf> = removes.drain(..).map(|target| target.path).collect();
        let kept = || plan.outputs.iter().filter(|output| output.action != Action::Removed);
        disk.finish_save();
        disk.keep(kept().map(|output| output.path.as_path()));
        let untouched = kept().count() - written.len();
        let (backups, unsigned) = (std::mem::take(&mut new_backups.sets), new_backups.unsigned.take());
        let (document, path) = (plan.document.clone(), plan.path.clone());
        Ok(Saved { document, path, written, removed, untouched, backups, unsigned })
    }

    /// Backs up the targets, then replaces them with the staged files.
    fn replace_targets(
        &self,
        staged: Vec<Staged>,
        removes: &[ReplaceTarget],
        plan: &Plan,
        disk: &mut Disk,
        progress: &Progress,
    ) -> Result<Written, Error> {
        // After this the save cannot be cancelled.
        if !progress.seal() {
            return Err(Error::new(plan.path.clone().unwrap_or_default(), Reason::Cancelled));
        }
        let (set_folder, mode, gate) = (&self.set_folder, &self.mode, self.gate);
        let written: Vec<(PathBuf, u64)> = staged.iter().map(|file| (file.target.path.clone(), file.len)).collect();
        // If the last save failed at its end, its record is removed even if nothing has to be written.
        if staged.is_empty() && removes.is_empty() && !has_record(set_folder) {
            return Ok((written, NewBackups::default()));
        }
        let changing = staged.iter().map(|file| &file.target).chain(removes);
        let main = plan.path.as_deref().unwrap_or(Path::new(""));
        let state = mode.state.as_deref();
        let mut new_backups = mode.backups.back_up(main, changing, &BackupContext { now: mode.now, state, gate })?;
        let commit = Commit { main, set_folder, removed: removes, made: &self.made, state };
        let done = commit::commit(staged, &commit, disk, gate);
        if done.is_ok() || has_record(set_folder) {
            new_backups.keep();
        }
        done.map(|()| (written, new_backups))
    }

    /// Inspects the files of a plan, stages those that are not staged yet, and returns the files to remove.
    fn stage_rest(&mut self, plan: &Plan, disk: &Disk, progress: &Progress) -> Result<Vec<ReplaceTarget>, Error> {
        let (mut writes, removes) = inspect_targets(plan, disk, self.mode.force, &self.inspected)?;
        for (output, target) in writes.iter_mut().filter(|(_, target)| target.metadata.is_none()) {
            resolve_target(target, &mut self.made)
                .map_err(|error| Error::system("create its folder", &output.path, error))?;
        }
        let (outputs, mut targets): (Vec<&Output>, Vec<ReplaceTarget>) = writes.into_iter().unzip();
        self.present.extend(targets.iter().filter_map(|target| target.metadata.clone()));
        ReplaceTarget::restrict_new(&mut targets, &self.present);
        if let Some((one, other)) =
            first_duplicate(self.staged.iter().map(|file| &file.target).chain(&targets).chain(&removes))
        {
            let why = format!("{} and {} are the same file", one.display(), other.display());
            return Err(Error::new(one, Reason::Plan(why)));
        }
        self.inspected.extend(outputs.iter().map(|output| output.path.clone()));
        self.reals.extend(targets.iter().map(|target| target.real.clone()));
        let sizes = outputs.iter().zip(&targets).map(|(output, target)| {
            (
                target.folder().to_path_buf(),
                size_on_disk(output, target, plan) + backup_size(target, &self.mode.backups),
            )
        });
        self.sizes.extend(sizes);
        let writes: Vec<(&Output, ReplaceTarget)> = outputs.into_iter().zip(targets).collect();
        progress.expect(writes.len() as u64, writes.iter().map(|(output, _)| output.bytes).sum());
        let Self { set_folder, gate, memory, .. } = &*self;
        let job = StageJob { plan, set_folder, gate: *gate, progress, memory };
        let staged = job.stage_all(writes).map_err(|error| self.explain(error))?;
        self.staged.extend(staged);
        Ok(removes)
    }

    /// Adds the cause and remedy, and the names of temporary files that could not be removed, to an error.
    fn explain(&self, error: Error) -> Error {
        let same_disk = self.sizes.iter().filter(|(folder, _)| is_same_disk(folder, &error.path));
        let needed = same_disk.map(|(_, bytes)| bytes).sum();
        with_leftovers(space::explained(error, needed), &self.set_folder, &self.reals)
    }
}

fn is_written(output: Option<&Output>) -> bool {
    output.is_some_and(|output| !matches!(output.action, Action::Untouched | Action::Removed))
}

/// Inspected targets: files that will be written, and files that will be removed.
type InspectedTargets<'p> = (Vec<(&'p Output, ReplaceTarget)>, Vec<ReplaceTarget>);

fn inspect_targets<'p>(
    plan: &'p Plan,
    disk: &Disk,
    force: bool,
    inspected: &BTreeSet<PathBuf>,
) -> Result<InspectedTargets<'p>, Error> {
    let inspect = |output: &'p Output| {
        let action = match output.action {
            Action::Untouched => return None,
            Action::Rewritten | Action::Created | Action::Replaced if inspected.contains(&output.path) => return None,
            Action::Rewritten | Action::Removed => TargetAction::Change,
            Action::Created => TargetAction::Create,
            Action::Replaced => TargetAction::Replace,
        };
        Some(ReplaceTarget::inspect(&output.path, action, disk, force).map(|target| (output, target)))
    };
    // Inspecting reads each file to compare it with its recorded state.
    let all: Vec<(&Output, ReplaceTarget)> = plan.outputs.par_iter().filter_map(inspect).collect::<Result<_, _>>()?;
    let (removes, writes): (Vec<_>, Vec<_>) = all.into_iter().partition(|(output, _)| output.action == Action::Removed);
    // Files that no longer exist need not be removed.
    let removes = removes.into_iter().map(|(_, target)| target).filter(|target| target.metadata.is_some());
    Ok((writes, removes.collect()))
}

/// The block size of most file systems in bytes.
const BLOCK: u64 = 4_096;

/// Estimated size on disk of a file that is not written yet.
fn size_on_disk(output: &Output, target: &ReplaceTarget, plan: &Plan) -> u64 {
    let bytes = match &target.metadata {
        Some(metadata) if is_gzip(output.file, plan) => metadata.len(),
        _ => output.bytes,
    };
    bytes.next_multiple_of(BLOCK)
}

/// Size on disk of the backup of a target.
fn backup_size(target: &ReplaceTarget, backups: &Backups) -> u64 {
    let metadata = target.metadata.as_ref().filter(|_| backups.when() != When::Off);
    metadata.map_or(0, |metadata| metadata.len().next_multiple_of(BLOCK))
}

fn is_gzip(file: FileId, plan: &Plan) -> bool {
    match file {
        FileId::Sitemap(id) => plan.document.sitemap(id).is_some_and(|sitemap| sitemap.gzip),
        index => plan.index_file(index).is_some_and(|file| file.gzip),
    }
}

/// Whether a folder and a path are on the same file system; true if unknown.
fn is_same_disk(folder: &Path, path: &Path) -> bool {
    let disk = |path: &Path| {
        path.ancestors()
            .find_map(|path| std::fs::metadata(path).ok())
            .and_then(|metadata| super::disk::identity(&metadata))
    };
    match (disk(folder), disk(path)) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => true,
    }
}

/// Adds the names of temporary files that could not be removed to an error, unless a record needs them.
fn with_leftovers(error: Error, set_folder: &Path, reals: &[PathBuf]) -> Error {
    if has_record(set_folder) {
        return error;
    }
    let files = temporary::leftover_files(reals.iter().map(PathBuf::as_path));
    if files.is_empty() {
        return error;
    }
    Error { reason: Reason::LeftBehind { why: error.reason.to_string(), files }, ..error }
}

struct StageJob<'a> {
    plan: &'a Plan,
    set_folder: &'a Path,
    gate: &'a dyn Gate,
    progress: &'a Progress,
    memory: &'a ReadbackMemory,
}

impl StageJob<'_> {
    /// Writes all files beside their targets and reads them back, in parallel. Each file is synced while it is read back and
    /// the next ones are written.
    fn stage_all(&self, writes: Vec<(&Output, ReplaceTarget)>) -> Result<Vec<Staged>, Error> {
        let (sender, receiver) = sync_channel(SYNC_THREADS);
        let receiver = Mutex::new(receiver);
        std::thread::scope(|scope| {
            let sync = || thread::Builder::new().spawn_scoped(scope, || self.sync_all(&receiver));
            let syncing: Vec<_> = (0..SYNC_THREADS).map_while(|_| sync().ok()).collect();
            // If no thread can be started, each file is synced by the thread that wrote it.
            let staged = self.stage_each(writes, (!syncing.is_empty()).then_some(&sender));
            drop(sender);
            let synced: Result<(), Error> =
                syncing.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            staged.and_then(|staged| synced.map(|()| staged))
        })
    }

    /// Syncs files from a channel. After an error it only receives them, so that no sender waits.
    fn sync_all(&self, files: &Mutex<Receiver<(PathBuf, File)>>) -> Result<(), Error> {
        let mut synced = Ok(());
        loop {
            let next = files.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((path, file)) = next else { return synced };
            if synced.is_ok() {
                let done = attempt(self.gate, FsOperation::Sync, || file.sync_all());
                synced = done.map_err(|error| Error::system("write", &path, error));
            }
        }
    }

    fn stage_each(
        &self,
        writes: Vec<(&Output, ReplaceTarget)>,
        to_sync: Option<&SyncSender<(PathBuf, File)>>,
    ) -> Result<Vec<Staged>, Error> {
        let stage = |(output, target): (&Output, ReplaceTarget)| self.stage(output, target, to_sync);
        // Threads take single files in the set's order instead of large chunks, so that the first files are synced
        // while the next are written.
        let staged: Vec<Option<Staged>> =
            writes.into_par_iter().with_max_len(1).map(stage).collect::<Result<_, _>>()?;
        Ok(staged.into_iter().flatten().collect())
    }

    /// Writes one file beside its target and reads it back. `None` if the target has the same content already.
    fn stage(
        &self,
        output: &Output,
        target: ReplaceTarget,
        to_sync: Option<&SyncSender<(PathBuf, File)>>,
    ) -> Result<Option<Staged>, Error> {
        let failed = |error: io::Error| {
            if self.progress.is_cancelled() {
                return Error::new(&output.path, Reason::Cancelled);
            }
            Error::system("write", &output.path, error)
        };
        let gzip = is_gzip(output.file, self.plan);
        let sink = TempFile::create(&target, self.set_folder, self.gate).map_err(|error| match error.kind() {
            // The target is writable (it was inspected), so the folder is read-only.
            io::ErrorKind::PermissionDenied => Error::new(&output.path, Reason::FolderReadOnly),
            _ => failed(error),
        })?;
        let mut writer = Writer::new(BufWriter::with_capacity(WRITE_BYTES, sink), gzip);
        let (mut len, mut reported) = (0u64, 0u64);
        self.produce(output.file, &mut |bytes: &[u8]| {
            // Long runs of untouched entries are written in pieces so that a cancellation is noticed.
            bytes.chunks(WRITE_BYTES).try_for_each(|bytes| {
                len += bytes.len() as u64;
                // Most pieces are a few bytes of one row, and all threads report to the same counter.
                if len - reported >= WRITE_BYTES as u64 {
                    if self.progress.is_cancelled() {
                        return Err(io::ErrorKind::Other.into());
                    }
                    self.progress.advance(0, len - reported);
                    reported = len;
                }
                writer.as_write().write_all(bytes)
            })
        })
        .map_err(failed)?;
        self.progress.advance(0, len - reported);
        let (staged, file) = writer.finish().and_then(|sink| sink.close(target)).map_err(failed)?;
        if len != output.bytes {
            let why = format!("{len} bytes were produced where {} were expected", output.bytes);
            return Err(Error::new(&output.path, Reason::Check(why)));
        }
        if staged.target.metadata.is_some() && same_content(&staged, gzip).map_err(failed)? {
            self.progress.finish_files(1);
            return Ok(None);
        }
        match to_sync {
            // The receiver lives until all files are staged.
            Some(to_sync) => drop(to_sync.send((output.path.clone(), file))),
            None => attempt(self.gate, FsOperation::Sync, || file.sync_all()).map_err(failed)?,
        }
        read_back(self.plan, output, &staged, self.memory)?;
        self.progress.finish_files(1);
        Ok(Some(staged))
    }

    fn produce<E>(&self, file: FileId, write: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match file {
            FileId::Sitemap(id) => self.plan.document.write_sitemap(id, write),
            index => {
                let file = self.plan.index_file(index);
                file.map_or(Ok(()), |file| file.pieces().iter().try_for_each(|piece| write(piece)))
            }
        }
    }
}

/// Writes a file plain or gzipped.
enum Writer<'g> {
    Plain(Box<BufWriter<TempFile<'g>>>),
    Gzip(Box<GzEncoder<BufWriter<TempFile<'g>>>>),
}

impl<'g> Writer<'g> {
    fn new(writer: BufWriter<TempFile<'g>>, gzip: bool) -> Self {
        if gzip {
            // Without time and name, equal content always gives equal bytes.
            Self::Gzip(Box::new(GzBuilder::new().mtime(0).operating_system(255).write(writer, LEVEL)))
        } else {
            Self::Plain(Box::new(writer))
        }
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(writer) => writer,
            Self::Gzip(writer) => writer,
        }
    }

    fn finish(self) -> io::Result<TempFile<'g>> {
        let writer = match self {
            Self::Plain(writer) => *writer,
            Self::Gzip(writer) => writer.finish()?,
        };
        writer.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Whether the target has the staged content already, gzipped or not.
fn same_content(staged: &Staged, gzip: bool) -> io::Result<bool> {
    let target_len = staged.target.metadata.as_ref().map_or(0, std::fs::Metadata::len);
    if !gzip && target_len != staged.len {
        return Ok(false);
    }
    let open = |path: &Path| File::open(path).map(BufReader::new);
    let (mut new, mut old) = (open(&staged.temporary)?, open(&staged.target.real)?);
    if !gzip {
        return Ok(is_equal(&mut new, &mut old));
    }
    let (mut new, mut old) = (BufReader::new(GzDecoder::new(new)), BufReader::new(GzDecoder::new(old)));
    // The new file has one member; if the target has more data after its first member, it is another file.
    Ok(is_equal(&mut new, &mut old) && old.into_inner().into_inner().fill_buf().is_ok_and(<[u8]>::is_empty))
}

/// Whether two readers give the same bytes. False after an error, since a target may be damaged or no gzip data.
fn is_equal(new: &mut impl BufRead, old: &mut impl BufRead) -> bool {
    loop {
        let (Ok(a), Ok(b)) = (new.fill_buf(), old.fill_buf()) else { return false };
        let len = a.len().min(b.len());
        if len == 0 {
            return a.is_empty() && b.is_empty();
        }
        if a.get(..len) != b.get(..len) {
            return false;
        }
        new.consume(len);
        old.consume(len);
    }
}

#[cfg(test)]
pub(super) mod faults;

#[cfg(test)]
mod records;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod tests;
