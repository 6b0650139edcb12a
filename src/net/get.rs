//! Downloads sitemaps into a folder: the ones that are named, and the ones that their indexes list.
//!
//! One thread schedules the downloads, and workers run them. A file is moved to its path when it is complete and known
//! to be a sitemap, so that an interrupted run leaves only complete files.

mod discover;
mod one;
mod schedule;

use super::address::loopback;
use super::client::{Client, Settings, SettingsError};
use super::delivery::Delivery;
use super::get_state::{GetState, STATE_FILE};
use super::hosts::Hosts;
use super::pace::{Limits, Pace};
use super::probe;
use crate::files::{self, IncomingFolder};
use crate::words::{counted, size};
use one::{DownloadResult, Folder};
use schedule::{QueuedFile, Schedule};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::Url;

/// Time between calls for progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Default maximum size of a file, in uncompressed bytes: the limit of the protocol.
pub(crate) const MAX_BYTES: u64 = 52_428_800;
/// The header of requests for sitemaps.
pub(crate) const ACCEPT: (&str, &str) = ("accept", "application/xml,text/xml,*/*;q=0.8");
/// Maximum number of workers of a run; more would only wait.
const MAX_WORKERS: usize = 64;

/// How sitemaps are downloaded.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// How requests are sent.
    pub settings: Settings,
    /// The hosts to which requests may go.
    pub hosts: Hosts,
    /// The limits on requests to each host.
    pub limits: Limits,
    /// Maximum size of a file, in uncompressed bytes.
    pub max_bytes: u64,
    /// Whether local files that were changed are replaced.
    pub force: bool,
}

impl Options {
    /// The default options. Requests may go to a server on this machine if the URL names it.
    pub(crate) fn with_defaults(url: &Url) -> Self {
        let probe::Options { settings, hosts, limits, .. } =
            probe::Options::with_defaults(Hosts::of(Some(url), &[]), false);
        let settings = Settings {
            headers: vec![(ACCEPT.0.to_owned(), ACCEPT.1.to_owned())],
            timeout: Duration::from_secs(600),
            idle_timeout: Some(Duration::from_secs(30)),
            loopback: loopback(url).into_iter().collect(),
            ..settings
        };
        Self { settings, hosts, limits, max_bytes: MAX_BYTES, force: false }
    }
}

/// The folder for the sitemaps of a URL: its host, as a name that is valid on every system.
pub(crate) fn folder_of(url: &Url) -> PathBuf {
    let host = url.host_str().unwrap_or_default().replace(['[', ']'], "").replace(':', "_");
    PathBuf::from(host)
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Known files.
    pub files: u64,
    /// Finished files.
    pub done: u64,
    /// Files that did not exist before.
    pub new: u64,
    /// Files that were replaced.
    pub updated: u64,
    /// Files that have not changed.
    pub unchanged: u64,
    /// Files that were not requested, because their host is skipped or the run was stopped.
    pub skipped: u64,
    /// Stored bytes of new and updated files.
    pub bytes: u64,
}

impl Counts {
    /// `2 new, 1 updated (4.1 MiB), 3 unchanged`
    pub(crate) fn words(&self) -> String {
        let Self { new, updated, unchanged, bytes, .. } = *self;
        let parts = [(new, "new"), (updated, "updated"), (unchanged, "unchanged")];
        let parts: Vec<_> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let size = if bytes > 0 { format!(" ({})", size(bytes)) } else { String::new() };
        if parts.is_empty() { "no file".to_owned() } else { format!("{}{size}", parts.join(", ")) }
    }
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The numbers of files.
    pub counts: Counts,
    /// The findings, in the order of the files.
    pub findings: Vec<Delivery>,
    /// The named sitemaps that are in the folder now.
    pub entries: Vec<Entry>,
    /// All sitemaps in the folder that are not indexes: the named ones, and the ones that indexes list.
    pub sitemaps: Vec<PathBuf>,
    /// The URL of the folder of the named sitemap, if only one is named and all files are on one site.
    pub base_url: Option<String>,
    /// Skipped hosts with the reasons.
    pub stopped: Vec<(String, String)>,
}

/// A sitemap that the user or robots.txt names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The path relative to the folder.
    pub path: PathBuf,
    /// Whether it is an index.
    pub is_index: bool,
}

impl Summary {
    /// The downloaded sets: each index is one, and all other sitemaps together are one.
    pub(crate) fn sets(&self, folder: &Path) -> Vec<Vec<PathBuf>> {
        let paths = |is_index| {
            let chosen = self.entries.iter().filter(move |entry| entry.is_index == is_index);
            chosen.map(|entry| folder.join(&entry.path))
        };
        let rows: Vec<PathBuf> = paths(false).collect();
        paths(true).map(|path| vec![path]).chain(Some(rows).filter(|rows| !rows.is_empty())).collect()
    }

    /// The paths to open all sets as one set, with a message: the indexes if they can be opened together, else all
    /// sitemaps that are not indexes.
    pub(crate) fn sets_as_one(&self, folder: &Path) -> (Vec<PathBuf>, String) {
        let entries: Vec<PathBuf> = self.entries.iter().map(|entry| folder.join(&entry.path)).collect();
        if files::are_one_index(&entries, &files::Options::default().at_most(MAX_BYTES)) {
            let words = format!("{} indexes are opened together", entries.len());
            return (entries, words);
        }
        let sitemaps: Vec<PathBuf> = self.sitemaps.iter().map(|path| folder.join(path)).collect();
        let words = format!("{} are read as one", counted(sitemaps.len() as u64, "sitemap"));
        (sitemaps, words)
    }
}

/// The result of downloading some entries.
#[derive(Debug, Default)]
struct Run {
    counts: Counts,
    findings: Vec<Delivery>,
    entries: Vec<Entry>,
    sitemaps: Vec<PathBuf>,
    base_url: Option<String>,
}

/// The files in the folder, with their numbers.
#[derive(Debug, Default)]
struct PresentFiles {
    entries: Vec<(usize, Entry)>,
    sitemaps: Vec<(usize, PathBuf)>,
}

impl PresentFiles {
    fn add(&mut self, file: &QueuedFile, is_index: bool) {
        let path = file.name.clone();
        if !is_index {
            self.sitemaps.push((file.number, path.clone()));
        }
        if file.level == 1 {
            self.entries.push((file.number, Entry { path, is_index }));
        }
    }
}

/// The values in the order of their numbers.
fn sorted_values<T>(mut numbered: Vec<(usize, T)>) -> Vec<T> {
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, value)| value).collect()
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GetError {
    /// The folder cannot be written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// Another process downloads into the folder.
    #[error("{}: another sited is downloading into this folder", .0.display())]
    Busy(PathBuf),
}

/// Downloads sitemaps.
#[derive(Debug)]
pub(crate) struct Getter {
    client: Client,
    options: Options,
    paces: Mutex<HashMap<String, Arc<Pace>>>,
    is_stopped: Arc<AtomicBool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Getter {
    /// Creates a getter with the resolver of the system, which stops soon after `is_stopped` is set.
    pub(crate) fn new(options: Options, is_stopped: Arc<AtomicBool>) -> Result<Self, SettingsError> {
        let client = Client::new(&options.settings)?;
        Ok(Self { client, options, paces: Mutex::default(), is_stopped })
    }

    /// Downloads into a folder, which is created if necessary: a sitemap, an index with its sitemaps, or all sitemaps
    /// of a site. `on_progress` is called for every file and at least every 100 ms.
    pub(crate) fn run(
        &self,
        url: &Url,
        path: &Path,
        mut on_progress: impl FnMut(&Counts),
    ) -> Result<Summary, GetError> {
        let failed = |error| files::Error::system("write", path, error);
        let incoming = IncomingFolder::open(path).map_err(failed)?;
        let state = GetState::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => GetError::Busy(path.to_path_buf()),
            _ => failed(error).into(),
        })?;
        let ignores_case = path.join(STATE_FILE.to_uppercase()).exists();
        let folder = Folder { incoming, state: Mutex::new(state), loading: Mutex::default(), ignores_case };
        let run = if discover::is_site(url) {
            self.get_site(url, &folder, &mut on_progress)?
        } else {
            let mut schedule = Schedule::new(&self.options.hosts, ignores_case);
            schedule.add_entry(url, None);
            self.download_all(schedule, &folder, &mut on_progress)?
        };
        lock(&folder.state).compact()?;
        let paces = lock(&self.paces);
        let mut stopped: Vec<_> =
            paces.iter().filter_map(|(host, pace)| Some((host.clone(), pace.skip_reason()?))).collect();
        stopped.sort();
        let Run { counts, findings, entries, sitemaps, base_url } = run;
        Ok(Summary { counts, findings, entries, sitemaps, base_url, stopped })
    }

    /// Runs all downloads of a schedule.
    fn download_all(
        &self,
        mut schedule: Schedule<'_>,
        folder: &Folder,
        on_progress: &mut dyn FnMut(&Counts),
    ) -> Result<Run, GetError> {
        let workers = (self.options.limits.concurrency.max(1) * self.options.hosts.len().max(1)).min(MAX_WORKERS);
        let (work, queue) = channel::<QueuedFile>();
        let (done, results) = channel::<DownloadResult>();
        let queue = Mutex::new(queue);
        let (counts, present) = std::thread::scope(|scope| {
            let mut started = 0;
            for _ in 0..workers {
                let (queue, done) = (&queue, done.clone());
                let worker =
                    std::thread::Builder::new().spawn_scoped(scope, move || self.run_worker(queue, &done, folder));
                started += usize::from(worker.is_ok());
            }
            drop(done);
            if started == 0 {
                let error = io::Error::other("the system cannot start a thread");
                return Err(files::Error::system("write", folder.incoming.path(), error).into());
            }
            let outcome = dispatch((&work, workers), &results, &mut schedule, on_progress);
            if outcome.is_err() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            // Closing the channel ends the workers.
            drop(work);
            outcome
        })?;
        let base_url = schedule.base_url();
        let (entries, sitemaps) = (sorted_values(present.entries), sorted_values(present.sitemaps));
        Ok(Run { counts, findings: schedule.into_findings(), entries, sitemaps, base_url })
    }

    fn run_worker(&self, queue: &Mutex<Receiver<QueuedFile>>, done: &Sender<DownloadResult>, folder: &Folder) {
        loop {
            let next = lock(queue).recv();
            let Ok(file) = next else { return };
            if done.send(self.get_file(file, folder)).is_err() {
                return;
            }
        }
    }

    fn pace(&self, url: &Url) -> Arc<Pace> {
        let host = url.host_str().unwrap_or_default().to_owned();
        Arc::clone(lock(&self.paces).entry(host).or_insert_with(|| Arc::new(Pace::new(self.options.limits))))
    }
}

/// Sends files to the workers and receives their results, until the schedule is empty.
fn dispatch(
    (work, workers): (&Sender<QueuedFile>, usize),
    results: &Receiver<DownloadResult>,
    schedule: &mut Schedule<'_>,
    on_progress: &mut dyn FnMut(&Counts),
) -> Result<(Counts, PresentFiles), GetError> {
    let (mut counts, mut present, mut running) = (Counts::default(), PresentFiles::default(), 0);
    loop {
        while running < 2 * workers
            && let Some(file) = schedule.pending.pop_front()
        {
            running += usize::from(work.send(file).is_ok());
        }
        counts.files = schedule.len() as u64;
        on_progress(&counts);
        if running == 0 {
            return Ok((counts, present));
        }
        let result = match results.recv_timeout(PROGRESS_INTERVAL) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => continue,
            // All workers panicked, since they do not end before the channel is closed.
            Err(RecvTimeoutError::Disconnected) => {
                let error = io::Error::other("a thread ended unexpectedly");
                return Err(files::Error::system("write", Path::new(STATE_FILE), error).into());
            }
        };
        running -= 1;
        result.count(&mut counts);
        let file = &result.file;
        schedule.findings.extend(result.findings.into_iter().map(|finding| (file.number, finding)));
        if let Some(error) = result.error {
            return Err(error.into());
        }
        if result.is_present {
            present.add(file, result.is_index);
        }
        schedule.add_children(file, &result.final_url, &result.children);
    }
}

#[cfg(test)]
mod tests;
