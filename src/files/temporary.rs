//! Temporary files of a save: their names, how they are written, and how those of dead processes are removed.

use super::disk::{Fingerprint, fingerprint};
use super::gate::{FsOperation, Gate, attempt};
use super::replace_target::{ReplaceTarget, copy_metadata};
use super::trust;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// The name of a commit record, in the folder of the file that the set is opened by.
pub(super) const RECORD: &str = ".sited.commit";

/// Whether a folder has a commit record of any process. True if that cannot be determined, because a missed record
/// means reading a half-saved set as a complete one.
pub(super) fn has_record(folder: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    match fs::symlink_metadata(folder.join(RECORD)) {
        Err(error) => !matches!(error.kind(), NotFound | NotADirectory),
        Ok(_) => true,
    }
}

/// A written and synced temporary file that is ready to be renamed; dropping it removes the file.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) target: ReplaceTarget,
    pub(super) temporary: TempPath,
    /// Bytes as stored.
    pub(super) len: u64,
    /// [`fingerprint`] of the stored bytes.
    pub(super) hash: u64,
}

/// Writes to a temporary file through its gate, and hashes the written bytes.
pub(super) struct TempFile<'g> {
    file: NamedTempFile,
    gate: &'g dyn Gate,
    hash: Fingerprint,
    len: u64,
}

impl Write for TempFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = loop {
            match self.gate.write(self.file.as_file_mut(), bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => break written?,
            }
        };
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<'g> TempFile<'g> {
    /// Creates a temporary file in the target's folder that is readable only for users who can read the target.
    /// `set_folder`
    /// is the folder in which the record of the save would be.
    pub(super) fn create(target: &ReplaceTarget, set_folder: &Path, gate: &'g dyn Gate) -> io::Result<Self> {
        let name = target.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = temporary_prefix(&name);
        let mut builder = tempfile::Builder::new();
        let suffix = if target.folder().starts_with(set_folder) { SUFFIX.to_owned() } else { far_suffix(set_folder) };
        builder.prefix(&prefix).suffix(&suffix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The system applies the umask to the mode of a new file; the mode of a replaced file is set after writing.
            let mode = if target.metadata.is_none() { target.max_mode } else { 0o600 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let file = attempt(gate, FsOperation::Create, || builder.tempfile_in(target.folder()))?;
        Ok(Self { file, gate, hash: Fingerprint::default(), len: 0 })
    }

    /// Sets the owner and mode of the target, and syncs the file.
    pub(super) fn finish(self, target: ReplaceTarget) -> io::Result<Staged> {
        let gate = self.gate;
        let (staged, file) = self.close(target)?;
        attempt(gate, FsOperation::Sync, || file.sync_all())?;
        Ok(staged)
    }

    /// Sets the owner and mode of the target, without syncing the file.
    pub(super) fn close(self, mut target: ReplaceTarget) -> io::Result<(Staged, File)> {
        let Self { file, hash, len, .. } = self;
        if let Some(metadata) = &target.metadata
            && !target.in_place
        {
            target.in_place = !copy_metadata(file.as_file(), metadata, &target.real)?;
        }
        let (file, temporary) = file.into_parts();
        Ok((Staged { target, temporary, len, hash: hash.finish() }, file))
    }
}

/// The suffix of every temporary file's name.
pub(super) const SUFFIX: &str = ".sited";

/// The suffix for a temporary file outside the set's folder, with a hash of that folder: the file may only be removed
/// if there is no record in that folder.
fn far_suffix(set_folder: &Path) -> String {
    format!(".{:08x}.far{SUFFIX}", fingerprint(set_folder.as_os_str().as_encoded_bytes()) as u32)
}

/// The prefix of a temporary file's name: a dot, the file's name and the id of this process.
pub(super) fn temporary_prefix(name: &str) -> String {
    format!(".{}.{}-", stem(name), std::process::id())
}

/// Maximum length in bytes of a file's name within a temporary name, which must not exceed the limit of the file system
/// (255 bytes, or 143 if names are encrypted).
const MAX_STEM_BYTES: usize = 90;

/// A file's name as part of a temporary name. Long names are cut and made unique with a hash.
pub(super) fn stem(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_STEM_BYTES {
        return name.into();
    }
    let end = (0..=MAX_STEM_BYTES - 9).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    format!("{}~{:08x}", &name[..end], fingerprint(name.as_bytes()) as u32).into()
}

/// Whether a name is that of a temporary file for a target, created by any process.
pub(super) fn is_temporary_of(temporary: &OsStr, target: &OsStr) -> bool {
    let (temporary, target) = (temporary.to_string_lossy(), target.to_string_lossy());
    let rest = temporary.strip_prefix('.').and_then(|rest| rest.strip_prefix(&*stem(&target)));
    let rest = rest.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some((process, random)) = rest.and_then(|rest| rest.split_once('-')) else { return false };
    // For a target outside the folder of the record: `.HASH.far`.
    let random = random.strip_suffix(".far").map_or(random, |random| random.rsplit_once('.').map_or("", |(r, _)| r));
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes temporary files of dead processes from a folder. Files that cannot be removed are harmless.
pub(super) fn sweep(folder: &Path) {
    // If there is a record, the temporary files are the new content, also in folders below that of the record.
    if folder.ancestors().any(has_record) {
        return;
    }
    remove_dead(folder, |name| name.strip_suffix(SUFFIX)?.rsplit_once('.').map(|(_, end)| end));
}

/// Removes temporary files of dead processes beside files outside the set's folder `set_folder` (a real path), in which
/// the record would be. Each folder is read once.
pub(super) fn sweep_far(reals: &[PathBuf], set_folder: &Path) {
    if reals.is_empty() || set_folder.ancestors().any(has_record) {
        return;
    }
    let suffix = far_suffix(set_folder);
    let mut folders: BTreeMap<&Path, BTreeSet<String>> = BTreeMap::new();
    for real in reals {
        let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { continue };
        folders.entry(folder).or_default().insert(stem(&name.to_string_lossy()).into_owned());
    }
    for (folder, stems) in folders {
        // The process id and the rest of the name contain no dot.
        remove_dead(folder, |name| {
            let (stem, process) = name.strip_suffix(&suffix)?.rsplit_once('.')?;
            stems.contains(stem).then_some(process)
        });
    }
}

/// Removes the hidden files of a folder whose names contain the id of a dead process. `process` returns the part of the
/// name that begins with the id, followed by a hyphen.
fn remove_dead(folder: &Path, process: impl Fn(&str) -> Option<&str>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let process = name.strip_prefix('.').and_then(&process).and_then(|end| end.split_once('-'));
        let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
        let is_own = || entry.metadata().is_ok_and(|metadata| trust::check_own(&metadata).is_ok());
        if process.is_some_and(|process| process != std::process::id() && !is_alive(process)) && is_own() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes temporary files of this process for these targets, and returns those that cannot be removed.
pub(super) fn leftover_files<'t>(reals: impl Iterator<Item = &'t Path>) -> Vec<PathBuf> {
    let mut folders: BTreeMap<&Path, BTreeSet<String>> = BTreeMap::new();
    for real in reals {
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let stems = folders.entry(real.parent().unwrap_or(Path::new("."))).or_default();
        stems.insert(stem(&name).into_owned());
    }
    let process = format!(".{}-", std::process::id());
    let mut left = Vec::new();
    for (folder, stems) in folders {
        let is_ours = |name: &str| {
            let stem = name.strip_prefix('.').and_then(|name| name.rsplit_once(&process));
            stem.is_some_and(|(stem, _)| stems.contains(stem))
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| is_ours(&entry.file_name().to_string_lossy()));
        left.extend(ours.map(|entry| entry.path()).filter(|path| fs::remove_file(path).is_err()));
    }
    left
}

/// Whether a process with this id is running.
fn is_alive(process: u32) -> bool {
    #[cfg(unix)]
    let alive = rustix::process::Pid::from_raw(process as i32).is_some_and(|pid| {
        // A process that may not be signalled exists.
        rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
    });
    #[cfg(not(unix))]
    let alive = {
        let _ = process;
        true
    };
    alive
}
