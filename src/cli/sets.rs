//! Changes several sets with one command: each is saved on its own, and an error in one does not stop the others.

use super::options::{EditOptions, Target};
use super::{Failure, Status, Streams};
use crate::files::{self, is_stream};
use crate::words::{counted, grouped};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Suffix of folders that `--recursive` skips: they hold backups.
const BACKUPS: &str = ".bak";

/// The files that a run has opened so far, and whether the current set has changed.
#[derive(Debug, Default)]
pub(super) struct Edited {
    /// Canonical paths of the files of all sets that were opened.
    opened: BTreeSet<PathBuf>,
    /// Whether the current set was changed, or would be by a preview.
    pub(super) is_changed: bool,
}

impl Edited {
    /// Records the files of a set.
    pub(super) fn record_files<'p>(&mut self, files: impl Iterator<Item = &'p Path>) {
        self.opened.extend(files.filter_map(|path| path.canonicalize().ok()));
    }

    fn contains(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| self.opened.contains(&path))
    }
}

/// The number of sets by result.
#[derive(Debug, Default)]
struct Counts {
    changed: u64,
    unchanged: u64,
    failed: u64,
}

impl Counts {
    const fn sum(&self) -> u64 {
        self.changed + self.unchanged + self.failed
    }
}

/// Changes one set. It is a trait object so that the loop over all sets is compiled once.
type Work<'w> = dyn FnMut(&Target, &mut Streams<'_>) -> Result<Status, Failure> + 'w;

/// Changes every set that the paths name. The status is the worst of all.
pub(super) fn each_set(
    paths: &[PathBuf],
    options: &EditOptions,
    streams: &mut Streams<'_>,
    work: &mut Work<'_>,
) -> Result<Status, Failure> {
    let EditOptions { recursive, save } = options;
    if let ([path], false) = (paths, recursive) {
        return work(&Target { path: path.clone(), save: save.clone(), refuses_faults: false }, streams);
    }
    if save.output.is_some() {
        let hint = "run the command for each, or omit --output to change each in place".to_owned();
        return Err(Failure::Usage("--output needs one PATH, and no --recursive".to_owned(), hint));
    }
    if paths.iter().any(|path| is_stream(path)) {
        let hint = "run it for standard input alone".to_owned();
        return Err(Failure::Usage("- (standard input) cannot be combined with other paths".to_owned(), hint));
    }
    let mut each = Each { options, streams, work, counts: Counts::default(), worst: Status::Fine };
    // Sets come first, so that a file that belongs to one of them is not changed again on its own.
    let (sets, alone): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| files::is_multi_file(path));
    for path in sets.into_iter().chain(alone) {
        if *recursive && path.is_dir() {
            each.folder(path)?;
        } else {
            each.set(path)?;
        }
    }
    each.print_counts();
    Ok(each.worst)
}

/// The sets of a run, one after the other.
struct Each<'e, 'w> {
    options: &'e EditOptions,
    streams: &'e mut Streams<'w>,
    work: &'e mut Work<'e>,
    counts: Counts,
    worst: Status,
}

impl Each<'_, '_> {
    /// Changes one set, unless an earlier set has its file. Returns whether it could be opened and saved.
    fn set(&mut self, path: &Path) -> Result<bool, Failure> {
        if path.is_file() && self.streams.edited.contains(path) {
            return Ok(true);
        }
        let target = Target { path: path.to_path_buf(), save: self.options.save.clone(), refuses_faults: false };
        self.streams.edited.is_changed = false;
        self.streams.current_set = Some(path.display().to_string());
        let result = (self.work)(&target, self.streams);
        self.streams.current_set = None;
        let status = match result {
            // Results cannot be printed, so the remaining sets are not processed.
            Err(Failure::Output(error)) => return Err(error.into()),
            Err(failure) => {
                // Results found before an error are printed before it.
                self.streams.out.flush()?;
                failure.with_path(path).print_error(self.streams.notes);
                self.counts.failed += 1;
                // Not status 2 (usage error), which means that nothing was read or written.
                self.worst = self.worst.worst_of(Status::Files);
                return Ok(false);
            }
            Ok(status) => status,
        };
        if self.streams.edited.is_changed {
            self.counts.changed += 1;
        } else {
            self.counts.unchanged += 1;
        }
        self.worst = self.worst.worst_of(status);
        Ok(true)
    }

    /// Changes all sets in a folder and its subfolders.
    fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let before = self.counts.sum();
        self.walk(folder)?;
        if self.counts.sum() == before {
            let message = format!("{}: no sitemap in this folder or below it", folder.display());
            let failure = Failure::Unusable(message, "name the folder that holds the sitemaps".to_owned());
            failure.print_error(self.streams.notes);
            self.worst = self.worst.worst_of(failure.status());
        }
        Ok(())
    }

    fn walk(&mut self, folder: &Path) -> Result<(), Failure> {
        let entries = match sorted_entries(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let failure = Failure::from(files::Error::system("read", folder, error));
                failure.print_error(self.streams.notes);
                self.counts.failed += 1;
                self.worst = self.worst.worst_of(failure.status());
                return Ok(());
            }
        };
        let sitemaps: Vec<&PathBuf> = entries.iter().filter(|path| files::is_sitemap_file(path)).collect();
        let is_open = |each: &Self, path: &Path| each.streams.edited.contains(path);
        let (indexes, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
            sitemaps.iter().copied().partition(|path| files::is_multi_file(path));
        if !sitemaps.is_empty() && !sitemaps.iter().any(|path| is_open(self, path)) && !self.set(folder)? {
            // The files of the failed set are not known, so none of them may be changed as a set of its own.
            let message = format!("{}: the folders below it were skipped", folder.display());
            self.streams.note(&message);
            return Ok(());
        }
        for path in indexes.into_iter().chain(others) {
            self.set(path)?;
        }
        for path in entries.iter().filter(|path| is_entered(path)) {
            self.walk(path)?;
        }
        Ok(())
    }

    /// `3 sets: 2 changed, 1 unchanged`.
    fn print_counts(&mut self) {
        let Counts { changed, unchanged, failed } = self.counts;
        let verb = if self.options.save.is_preview() { "would change" } else { "changed" };
        let parts = [(changed, verb), (unchanged, "unchanged"), (failed, "failed")];
        let words = parts.into_iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = words.map(|(count, what)| format!("{} {what}", grouped(count))).collect();
        if !words.is_empty() {
            self.streams.note(&format!("{}: {}", counted(self.counts.sum(), "set"), words.join(", ")));
        }
    }
}

/// The entries of a folder, sorted by name.
fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable();
    Ok(entries)
}

/// Whether `--recursive` enters a folder. Links are not followed, because they may form a cycle.
fn is_entered(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_folder = std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    is_folder && !name.starts_with('.') && !name.ends_with(BACKUPS)
}
