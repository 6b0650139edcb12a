//! Downloads one file: conditional request, checks of its content, and replacement of the old file.

use super::super::delivery::{CHANGED_HERE, CONTENT_TYPE, Delivery, ENCODING, FILE_NAME};
use super::super::download::{Downloader, FetchError, Fetched, Received};
use super::super::get_state::{Download, GetState, hex, slashed};
use super::schedule::Wanted;
use super::{Counts, Getter, lock};
use crate::files::{self, FileContents, IncomingFolder, Reason, contents_of};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use ureq::http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use ureq::http::{HeaderMap, HeaderValue};
use url::Url;

/// The folder of a run.
pub(super) struct Folder {
    pub(super) incoming: IncomingFolder,
    pub(super) state: Mutex<GetState>,
    /// Held while a file is in memory: there is one at a time.
    pub(super) inspecting: Mutex<()>,
    /// Whether the file system takes `A` and `a` for one name.
    pub(super) ignores_case: bool,
}

/// What became of a file.
pub(super) struct DownloadResult {
    pub(super) wanted: Wanted,
    pub(super) findings: Vec<Delivery>,
    outcome: Outcome,
    /// Whether the file is in the folder and is a sitemap.
    pub(super) is_there: bool,
    pub(super) is_index: bool,
    /// What it lists, if it is an index.
    pub(super) children: Vec<Arc<str>>,
    /// Where it came from in the end.
    pub(super) last: Url,
    /// Why nothing can be written at all.
    pub(super) error: Option<files::Error>,
}

enum Outcome {
    New(u64),
    Updated(u64),
    Unchanged,
    Unasked,
    Failed,
}

/// How a file is now, and how it was at the last download.
struct LocalFile {
    hash: Option<u64>,
    download: Option<Download>,
    /// Whether it is as it was downloaded.
    is_same: bool,
}

impl LocalFile {
    fn of(state: &GetState, (file, url): (&str, &Url), hash: Option<u64>) -> Self {
        let known = state.of(file, hash).filter(|(download, _)| download.url == url.as_str());
        let is_same = known.is_some_and(|(_, is_same)| is_same);
        Self { hash, download: known.map(|(download, _)| download.clone()), is_same }
    }

    /// Headers that ask for the file only if it is another one than at the last download.
    fn conditions(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let Some(download) = self.download.as_ref().filter(|_| self.hash.is_some()) else { return headers };
        let mut add = |name, value: Option<&String>| {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        };
        add(IF_NONE_MATCH, download.etag.as_ref());
        add(IF_MODIFIED_SINCE, download.modified.as_ref());
        headers
    }
}

impl DownloadResult {
    fn new(wanted: Wanted) -> Self {
        let last = wanted.url.clone();
        let (findings, children) = (Vec::new(), Vec::new());
        let (is_there, is_index, error) = (false, false, None);
        Self { wanted, findings, outcome: Outcome::Failed, is_there, is_index, children, last, error }
    }

    pub(super) fn count(&self, counts: &mut Counts) {
        counts.done += 1;
        match self.outcome {
            Outcome::New(bytes) => (counts.new, counts.bytes) = (counts.new + 1, counts.bytes + bytes),
            Outcome::Updated(bytes) => (counts.updated, counts.bytes) = (counts.updated + 1, counts.bytes + bytes),
            Outcome::Unchanged => counts.unchanged += 1,
            Outcome::Unasked => counts.unasked += 1,
            Outcome::Failed => {}
        }
    }

    fn list(&mut self, children: Vec<Arc<str>>) {
        (self.is_index, self.children) = (true, children);
    }

    fn error(&mut self, code: &'static str, message: String) {
        self.findings.push(Delivery::error(code, self.wanted.url.as_str(), message));
    }
}

impl Getter {
    /// Gets one file.
    pub(super) fn get_one(&self, wanted: Wanted, folder: &Folder) -> DownloadResult {
        let mut got = DownloadResult::new(wanted);
        match self.try_one(&mut got, folder) {
            Ok(outcome) => got.outcome = outcome,
            Err(FetchError::Unasked) => got.outcome = Outcome::Unasked,
            Err(FetchError::Delivery(finding)) => got.findings.push(finding),
            Err(FetchError::Disk(error)) => self.note_disk(&mut got, folder, error),
        }
        got
    }

    pub(super) fn with_downloader<T>(&self, work: impl FnOnce(&Downloader<'_>) -> T) -> T {
        let settings = &self.options.settings;
        work(&Downloader {
            client: &self.client,
            hosts: &self.options.hosts,
            max_bytes: self.options.max_bytes,
            patience: settings.silence.unwrap_or(settings.timeout),
            pace: &|url| self.pace(url),
            is_stopped: &|| self.is_stopped.load(Ordering::Relaxed),
        })
    }

    /// What is in the way of one file is a finding; anything else is in the way of all.
    fn note_disk(&self, got: &mut DownloadResult, folder: &Folder, error: io::Error) {
        use io::ErrorKind::{AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory};
        let path = folder.incoming.path().join(&got.wanted.name);
        let is_own = [AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory];
        if is_own.contains(&error.kind()) {
            got.error(FILE_NAME, format!("its file {} cannot be written: {error}", path.display()));
        } else {
            self.is_stopped.store(true, Ordering::Relaxed);
            got.error = Some(files::Error::system("write", &path, error));
        }
    }

    fn try_one(&self, got: &mut DownloadResult, folder: &Folder) -> Result<Outcome, FetchError> {
        let (url, name) = (got.wanted.url.clone(), got.wanted.name.clone());
        let file = slashed(&name);
        let hash = folder.incoming.hash(&name).map_err(FetchError::Disk)?;
        let before = LocalFile::of(&lock(&folder.state), (&file, &url), hash);
        let conditions = if self.options.force && !before.is_same { HeaderMap::new() } else { before.conditions() };
        let begin = || folder.incoming.begin(&name);
        let fetched = self.with_downloader(|downloader| downloader.fetch(&url, &conditions, &begin, &mut got.findings));
        match fetched? {
            Fetched::NotModified if conditions.is_empty() => Err(FetchError::Delivery(Delivery::status(&url, 304))),
            Fetched::NotModified => {
                self.list_local(got, folder);
                Ok(Outcome::Unchanged)
            }
            Fetched::File(received) => self.take(got, folder, *received, &before),
        }
    }

    /// Lists what the file in the folder lists, whoever wrote it.
    fn list_local(&self, got: &mut DownloadResult, folder: &Folder) {
        let _one = lock(&folder.inspecting);
        let path = folder.incoming.path().join(&got.wanted.name);
        match contents_of(&path, self.options.max_bytes) {
            Ok(FileContents::Index(children)) => {
                got.is_there = true;
                got.list(children);
            }
            Ok(FileContents::Rows) => got.is_there = true,
            // It was changed here; opening it reports that.
            Ok(FileContents::DamagedGzip) | Err(_) => {}
        }
    }

    /// Looks what came, and puts it in place.
    fn take(
        &self,
        got: &mut DownloadResult,
        folder: &Folder,
        received: Received,
        before: &LocalFile,
    ) -> Result<Outcome, FetchError> {
        let Received { file, etag, modified, media_type, last } = received;
        let contents = {
            let _one = lock(&folder.inspecting);
            contents_of(file.path(), self.options.max_bytes)
        };
        match contents.map_err(|error| FetchError::Delivery(self.no_sitemap(&last, media_type.as_deref(), &error)))? {
            FileContents::DamagedGzip => {
                let message = "the gzip data end early or are damaged; nothing was written";
                return Err(FetchError::Delivery(Delivery::error(ENCODING, last.as_str(), message)));
            }
            FileContents::Index(children) => got.list(children),
            FileContents::Rows => {}
        }
        got.findings.extend(media_type.as_deref().and_then(|media_type| misnamed(&last, media_type)));
        got.last = last;
        let hash = file.hash();
        let download = Download {
            file: slashed(&got.wanted.name),
            url: got.wanted.url.to_string(),
            etag,
            modified,
            hash: hex(hash),
        };
        let is_as_downloaded = before.download.as_ref().is_some_and(|download| download.hash == hex(hash));
        if before.hash.is_some() && before.hash != Some(hash) && !before.is_same && !self.options.force {
            if !is_as_downloaded {
                let path = folder.incoming.path().join(&got.wanted.name);
                got.error(CHANGED_HERE, changed_here(&path, before));
            }
            self.list_local(got, folder);
            return Ok(if is_as_downloaded { Outcome::Unchanged } else { Outcome::Failed });
        }
        got.is_there = true;
        lock(&folder.state).add(download).map_err(FetchError::Disk)?;
        if before.hash == Some(hash) {
            return Ok(Outcome::Unchanged);
        }
        let len = file.len();
        file.complete().map_err(FetchError::Disk)?;
        Ok(if before.hash.is_some() { Outcome::Updated(len) } else { Outcome::New(len) })
    }

    /// The finding about a body that is no sitemap.
    fn no_sitemap(&self, url: &Url, media_type: Option<&str>, error: &files::Error) -> Delivery {
        if matches!(error.reason, Reason::Bomb(_) | Reason::TooLarge(_)) {
            return Delivery::too_large(url, self.options.max_bytes);
        }
        let called = media_type.map_or_else(String::new, |media_type| format!(" ({media_type})"));
        let message = format!("the answer is not a sitemap{called}: {}", error.reason);
        Delivery::error(CONTENT_TYPE, url.as_str(), message)
    }
}

fn changed_here(path: &Path, before: &LocalFile) -> String {
    let what = if before.download.is_some() { "was changed here since it was downloaded" } else { "was there before" };
    format!("{} {what} and differs from this URL; it was kept. --force replaces it", path.display())
}

/// The finding about a sitemap that is called something else.
fn misnamed(url: &Url, media_type: &str) -> Option<Delivery> {
    let is_known = media_type.ends_with("/xml")
        || media_type.ends_with("+xml")
        || matches!(media_type, "text/plain" | "text/csv" | "text/tab-separated-values" | "application/octet-stream")
        || matches!(media_type, "application/gzip" | "application/x-gzip" | "binary/octet-stream");
    let message = || format!("the server sends this sitemap as {media_type}; it should be application/xml");
    (!is_known).then(|| Delivery::warning(CONTENT_TYPE, url.as_str(), message()))
}
