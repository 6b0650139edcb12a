//! Downloads the sitemaps of a site into a folder: the named ones, and those that their indexes list.
//!
//! One thread decides what comes next; workers download it. Each file is put in place when it is complete and known to
//! be a sitemap, so that whatever ends the work leaves whole files only.

mod discover;
mod one;
mod schedule;

use super::address::loopback;
use super::client::{Client, Settings, SettingsError};
use super::delivery::Delivery;
use super::get_state::{FILE, GetState};
use super::hosts::Hosts;
use super::pace::{Limits, Pace};
use super::probe;
use crate::files::{self, IncomingFolder};
use crate::words::{counted, size};
use one::{DownloadResult, Folder};
use schedule::{Schedule, Wanted};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::Url;

/// How often the caller can show how far the work is.
const TICK: Duration = Duration::from_millis(100);
/// The most bytes of a file that is opened then, uncompressed: what the protocol allows.
pub(crate) const MAX_BYTES: u64 = 52_428_800;
/// The header that asks for sitemaps.
pub(crate) const ACCEPT: (&str, &str) = ("accept", "application/xml,text/xml,*/*;q=0.8");
/// Workers of a run; more would only wait.
const MOST_WORKERS: usize = 64;

/// How sitemaps are downloaded.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// How requests are sent.
    pub settings: Settings,
    /// Where to.
    pub hosts: Hosts,
    /// The most that each host is asked.
    pub limits: Limits,
    /// The most bytes of a file, uncompressed.
    pub max_bytes: u64,
    /// Whether files that were changed here are replaced.
    pub force: bool,
}

impl Options {
    /// What is polite where no one said otherwise. A server on this machine that the user named may be asked.
    pub(crate) fn polite(url: &Url) -> Self {
        let probe::Options { settings, hosts, limits, .. } = probe::Options::polite(Hosts::of(Some(url), &[]), false);
        let settings = Settings {
            headers: vec![(ACCEPT.0.to_owned(), ACCEPT.1.to_owned())],
            timeout: Duration::from_secs(600),
            silence: Some(Duration::from_secs(30)),
            loopback: loopback(url).into_iter().collect(),
            ..settings
        };
        Self { settings, hosts, limits, max_bytes: MAX_BYTES, force: false }
    }
}

/// The folder for the sitemaps of a URL: its host, as every system can call a folder.
pub(crate) fn folder_of(url: &Url) -> PathBuf {
    let host = url.host_str().unwrap_or_default().replace(['[', ']'], "").replace(':', "_");
    PathBuf::from(host)
}

/// How far the work is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Files that are known.
    pub files: u64,
    /// Files that are done.
    pub done: u64,
    /// Files that were not there before.
    pub new: u64,
    /// Files that were replaced.
    pub updated: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Files that were not asked for, because their host is left alone or the work was stopped.
    pub unasked: u64,
    /// Bytes of new and updated files, as stored.
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

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// How many files.
    pub counts: Counts,
    /// What is wrong, in the order of the files.
    pub findings: Vec<Delivery>,
    /// The named sitemaps that are there now.
    pub entries: Vec<Entry>,
    /// All files with rows that are there now: the named ones, and those that indexes list.
    pub sitemaps: Vec<PathBuf>,
    /// The URL of the folder of the only named sitemap, where all files are of one site.
    pub base_url: Option<String>,
    /// Hosts that are left alone, and why.
    pub stopped: Vec<(String, String)>,
}

/// A sitemap that the user or robots.txt has named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path below the folder.
    pub path: PathBuf,
    /// Whether it is an index.
    pub is_index: bool,
}

impl Summary {
    /// The sets that were downloaded into a folder: each index is one, and all other sitemaps are one together.
    pub(crate) fn sets(&self, folder: &Path) -> Vec<Vec<PathBuf>> {
        let paths = |is_index| {
            let chosen = self.entries.iter().filter(move |entry| entry.is_index == is_index);
            chosen.map(|entry| folder.join(&entry.path))
        };
        let rows: Vec<PathBuf> = paths(false).collect();
        paths(true).map(|path| vec![path]).chain(Some(rows).filter(|rows| !rows.is_empty())).collect()
    }

    /// The paths by which several sets are opened as one, and how in words: their indexes if these can be one, else all
    /// files with rows. An index is a set of its own, but its sitemaps are part of any.
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

/// What came of some entries.
#[derive(Debug, Default)]
struct Run {
    counts: Counts,
    findings: Vec<Delivery>,
    entries: Vec<Entry>,
    sitemaps: Vec<PathBuf>,
    base_url: Option<String>,
}

/// Files that are there, by their numbers.
#[derive(Debug, Default)]
struct Found {
    entries: Vec<(usize, Entry)>,
    sitemaps: Vec<(usize, PathBuf)>,
}

impl Found {
    fn note(&mut self, wanted: &Wanted, is_index: bool) {
        let path = wanted.name.clone();
        if !is_index {
            self.sitemaps.push((wanted.number, path.clone()));
        }
        if wanted.level == 1 {
            self.entries.push((wanted.number, Entry { path, is_index }));
        }
    }
}

/// In the order of their numbers.
fn in_order<T>(mut numbered: Vec<(usize, T)>) -> Vec<T> {
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, value)| value).collect()
}

/// Why a run ended without a summary.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GetError {
    /// The folder cannot be written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// Another process downloads into it.
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
    /// One that resolves names as the system does, and ends soon after `is_stopped` is set.
    pub(crate) fn new(options: Options, is_stopped: Arc<AtomicBool>) -> Result<Self, SettingsError> {
        let client = Client::new(&options.settings)?;
        Ok(Self { client, options, paces: Mutex::default(), is_stopped })
    }

    /// Downloads what a URL leads to into a folder, which is made if it is not there: a sitemap, an index with what it
    /// lists, or the sitemaps of a site. `see` is called often.
    pub(crate) fn run(&self, url: &Url, path: &Path, mut see: impl FnMut(&Counts)) -> Result<Summary, GetError> {
        let failed = |error| files::Error::system("write", path, error);
        let incoming = IncomingFolder::open(path).map_err(failed)?;
        let state = GetState::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => GetError::Busy(path.to_path_buf()),
            _ => failed(error).into(),
        })?;
        let ignores_case = path.join(FILE.to_uppercase()).exists();
        let folder = Folder { incoming, state: Mutex::new(state), inspecting: Mutex::default(), ignores_case };
        let run = if discover::is_site(url) {
            self.get_site(url, &folder, &mut see)?
        } else {
            let mut schedule = Schedule::new(&self.options.hosts, ignores_case);
            schedule.add_entry(url, None);
            self.work_off(schedule, &folder, &mut see)?
        };
        lock(&folder.state).compact()?;
        let paces = lock(&self.paces);
        let mut stopped: Vec<_> =
            paces.iter().filter_map(|(host, pace)| Some((host.clone(), pace.stopped()?))).collect();
        stopped.sort();
        let Run { counts, findings, entries, sitemaps, base_url } = run;
        Ok(Summary { counts, findings, entries, sitemaps, base_url, stopped })
    }

    /// Downloads until there is nothing more.
    fn work_off(
        &self,
        mut schedule: Schedule<'_>,
        folder: &Folder,
        see: &mut dyn FnMut(&Counts),
    ) -> Result<Run, GetError> {
        let workers = (self.options.limits.concurrency.max(1) * self.options.hosts.len().max(1)).min(MOST_WORKERS);
        let (work, queue) = channel::<Wanted>();
        let (done, results) = channel::<DownloadResult>();
        let queue = Mutex::new(queue);
        let (counts, found) = std::thread::scope(|scope| {
            let mut started = 0;
            for _ in 0..workers {
                let (queue, done) = (&queue, done.clone());
                let worker = std::thread::Builder::new().spawn_scoped(scope, move || self.serve(queue, &done, folder));
                started += usize::from(worker.is_ok());
            }
            drop(done);
            if started == 0 {
                let error = io::Error::other("the system cannot start a thread");
                return Err(files::Error::system("write", folder.incoming.path(), error).into());
            }
            let outcome = dispatch((&work, workers), &results, &mut schedule, see);
            if outcome.is_err() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            // The workers end when there is no more work.
            drop(work);
            outcome
        })?;
        let base_url = schedule.base_url();
        let (entries, sitemaps) = (in_order(found.entries), in_order(found.sitemaps));
        Ok(Run { counts, findings: schedule.into_findings(), entries, sitemaps, base_url })
    }

    fn serve(&self, queue: &Mutex<Receiver<Wanted>>, done: &Sender<DownloadResult>, folder: &Folder) {
        loop {
            let next = lock(queue).recv();
            let Ok(wanted) = next else { return };
            if done.send(self.get_one(wanted, folder)).is_err() {
                return;
            }
        }
    }

    fn pace(&self, url: &Url) -> Arc<Pace> {
        let host = url.host_str().unwrap_or_default().to_owned();
        Arc::clone(lock(&self.paces).entry(host).or_insert_with(|| Arc::new(Pace::new(self.options.limits))))
    }
}

/// Hands out what is wanted, and takes what the workers got, until there is nothing more.
fn dispatch(
    (work, workers): (&Sender<Wanted>, usize),
    results: &Receiver<DownloadResult>,
    schedule: &mut Schedule<'_>,
    see: &mut dyn FnMut(&Counts),
) -> Result<(Counts, Found), GetError> {
    let (mut counts, mut found, mut running) = (Counts::default(), Found::default(), 0);
    loop {
        while running < 2 * workers
            && let Some(wanted) = schedule.pending.pop_front()
        {
            running += usize::from(work.send(wanted).is_ok());
        }
        counts.files = schedule.len() as u64;
        see(&counts);
        if running == 0 {
            return Ok((counts, found));
        }
        let got = match results.recv_timeout(TICK) {
            Ok(got) => got,
            Err(RecvTimeoutError::Timeout) => continue,
            // No worker is left, which none does by itself.
            Err(RecvTimeoutError::Disconnected) => {
                let error = io::Error::other("a thread ended unexpectedly");
                return Err(files::Error::system("write", Path::new(FILE), error).into());
            }
        };
        running -= 1;
        got.count(&mut counts);
        let wanted = &got.wanted;
        schedule.findings.extend(got.findings.into_iter().map(|finding| (wanted.number, finding)));
        if let Some(error) = got.error {
            return Err(error.into());
        }
        if got.is_there {
            found.note(wanted, got.is_index);
        }
        schedule.add_children(wanted, &got.last, &got.children);
    }
}

#[cfg(test)]
mod tests;
