//! Downloads one file: sends a conditional request, validates the content and replaces the old file.

use super::super::delivery::{CHANGED_HERE, CONTENT_TYPE, Delivery, ENCODING, FILE_NAME};
use super::super::download::{Downloader, FetchError, Fetched, Received};
use super::super::get_state::{Download, GetState, hex, slashed};
use super::schedule::QueuedFile;
use super::{Counts, Getter, lock};
use crate::files::{self, FileContents, IncomingFolder, Reason, contents_of};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use ureq::http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use ureq::http::{HeaderMap, HeaderValue};
use url::Url;

/// The download folder of a run.
pub(super) struct Folder {
    pub(super) incoming: IncomingFolder,
    pub(super) state: Mutex<GetState>,
    /// Held while a file is loaded, so that only one is in memory at a time.
    pub(super) loading: Mutex<()>,
    /// Whether file names on the file system are case-insensitive.
    pub(super) ignores_case: bool,
}

/// The result for one file.
pub(super) struct DownloadResult {
    pub(super) file: QueuedFile,
    pub(super) findings: Vec<Delivery>,
    outcome: Outcome,
    /// Whether the file is in the folder and is a sitemap.
    pub(super) is_present: bool,
    pub(super) is_index: bool,
    /// The URLs that it lists, if it is an index.
    pub(super) children: Vec<Arc<str>>,
    /// The URL after all redirects.
    pub(super) final_url: Url,
    /// An error that ends the run.
    pub(super) error: Option<files::Error>,
}

enum Outcome {
    New(u64),
    Updated(u64),
    Unchanged,
    Skipped,
    Failed,
}

/// The local file and its last download.
struct LocalFile {
    hash: Option<u64>,
    download: Option<Download>,
    /// Whether the file has not been changed since the download.
    is_same: bool,
}

impl LocalFile {
    fn of(state: &GetState, (file, url): (&str, &Url), hash: Option<u64>) -> Self {
        let known = state.last_download(file, hash).filter(|(download, _)| download.url == url.as_str());
        let is_same = known.is_some_and(|(_, is_same)| is_same);
        Self { hash, download: known.map(|(download, _)| download.clone()), is_same }
    }

    /// The headers of a conditional request, which returns the file only if it has changed since the last download.
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
    fn new(file: QueuedFile) -> Self {
        let final_url = file.url.clone();
        let (findings, children) = (Vec::new(), Vec::new());
        let (is_present, is_index, error) = (false, false, None);
        Self { file, findings, outcome: Outcome::Failed, is_present, is_index, children, final_url, error }
    }

    pub(super) fn count(&self, counts: &mut Counts) {
        counts.done += 1;
        match self.outcome {
            Outcome::New(bytes) => (counts.new, counts.bytes) = (counts.new + 1, counts.bytes + bytes),
            Outcome::Updated(bytes) => (counts.updated, counts.bytes) = (counts.updated + 1, counts.bytes + bytes),
            Outcome::Unchanged => counts.unchanged += 1,
            Outcome::Skipped => counts.skipped += 1,
            Outcome::Failed => {}
        }
    }

    fn set_children(&mut self, children: Vec<Arc<str>>) {
        (self.is_index, self.children) = (true, children);
    }

    fn error(&mut self, code: &'static str, message: String) {
        self.findings.push(Delivery::error(code, self.file.url.as_str(), message));
    }
}

impl Getter {
    /// Downloads one file.
    pub(super) fn get_file(&self, file: QueuedFile, folder: &Folder) -> DownloadResult {
        let mut result = DownloadResult::new(file);
        match self.download(&mut result, folder) {
            Ok(outcome) => result.outcome = outcome,
            Err(FetchError::Skipped) => result.outcome = Outcome::Skipped,
            Err(FetchError::Delivery(finding)) => result.findings.push(finding),
            Err(FetchError::Disk(error)) => self.handle_file_error(&mut result, folder, error),
        }
        result
    }

    pub(super) fn with_downloader<T>(&self, work: impl FnOnce(&Downloader<'_>) -> T) -> T {
        let settings = &self.options.settings;
        work(&Downloader {
            client: &self.client,
            hosts: &self.options.hosts,
            max_bytes: self.options.max_bytes,
            grace_period: settings.idle_timeout.unwrap_or(settings.timeout),
            pace: &|url| self.pace(url),
            is_stopped: &|| self.is_stopped.load(Ordering::Relaxed),
        })
    }

    /// Handles an error of the file system: one about the path of this file is a finding, any other one ends the run.
    fn handle_file_error(&self, result: &mut DownloadResult, folder: &Folder, error: io::Error) {
        use io::ErrorKind::{AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory};
        let path = folder.incoming.path().join(&result.file.name);
        let is_about_path = [AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory];
        if is_about_path.contains(&error.kind()) {
            result.error(FILE_NAME, format!("its file {} cannot be written: {error}", path.display()));
        } else {
            self.is_stopped.store(true, Ordering::Relaxed);
            result.error = Some(files::Error::system("write", &path, error));
        }
    }

    fn download(&self, result: &mut DownloadResult, folder: &Folder) -> Result<Outcome, FetchError> {
        let (url, name) = (result.file.url.clone(), result.file.name.clone());
        let file = slashed(&name);
        let hash = folder.incoming.hash(&name).map_err(FetchError::Disk)?;
        let before = LocalFile::of(&lock(&folder.state), (&file, &url), hash);
        let conditions = if self.options.force && !before.is_same { HeaderMap::new() } else { before.conditions() };
        let begin = || folder.incoming.begin(&name);
        let fetched =
            self.with_downloader(|downloader| downloader.fetch(&url, &conditions, &begin, &mut result.findings));
        match fetched? {
            Fetched::NotModified if conditions.is_empty() => Err(FetchError::Delivery(Delivery::status(&url, 304))),
            Fetched::NotModified => {
                self.read_local(result, folder);
                Ok(Outcome::Unchanged)
            }
            Fetched::File(received) => self.accept(result, folder, *received, &before),
        }
    }

    /// Reads the contents of the local file.
    fn read_local(&self, result: &mut DownloadResult, folder: &Folder) {
        let _guard = lock(&folder.loading);
        let path = folder.incoming.path().join(&result.file.name);
        match contents_of(&path, self.options.max_bytes) {
            Ok(FileContents::Index(children)) => {
                result.is_present = true;
                result.set_children(children);
            }
            Ok(FileContents::Rows) => result.is_present = true,
            // The local file is damaged, which is reported when it is opened.
            Ok(FileContents::DamagedGzip) | Err(_) => {}
        }
    }

    /// Validates a received file and moves it to its path.
    fn accept(
        &self,
        result: &mut DownloadResult,
        folder: &Folder,
        received: Received,
        before: &LocalFile,
    ) -> Result<Outcome, FetchError> {
        let Received { file, etag, modified, media_type, final_url } = received;
        let contents = {
            let _guard = lock(&folder.loading);
            contents_of(file.path(), self.options.max_bytes)
        };
        match contents
            .map_err(|error| FetchError::Delivery(self.not_a_sitemap(&final_url, media_type.as_deref(), &error)))?
        {
            FileContents::DamagedGzip => {
                let message = "the gzip data end early or are damaged; nothing was written";
                return Err(FetchError::Delivery(Delivery::error(ENCODING, final_url.as_str(), message)));
            }
            FileContents::Index(children) => result.set_children(children),
            FileContents::Rows => {}
        }
        result.findings.extend(media_type.as_deref().and_then(|media_type| wrong_media_type(&final_url, media_type)));
        result.final_url = final_url;
        let hash = file.hash();
        let download = Download {
            file: slashed(&result.file.name),
            url: result.file.url.to_string(),
            etag,
            modified,
            hash: hex(hash),
        };
        let is_as_downloaded = before.download.as_ref().is_some_and(|download| download.hash == hex(hash));
        if before.hash.is_some() && before.hash != Some(hash) && !before.is_same && !self.options.force {
            if !is_as_downloaded {
                let path = folder.incoming.path().join(&result.file.name);
                result.error(CHANGED_HERE, changed_here(&path, before));
            }
            self.read_local(result, folder);
            return Ok(if is_as_downloaded { Outcome::Unchanged } else { Outcome::Failed });
        }
        result.is_present = true;
        lock(&folder.state).add(download).map_err(FetchError::Disk)?;
        if before.hash == Some(hash) {
            return Ok(Outcome::Unchanged);
        }
        let len = file.len();
        file.complete().map_err(FetchError::Disk)?;
        Ok(if before.hash.is_some() { Outcome::Updated(len) } else { Outcome::New(len) })
    }

    /// The finding for a body that is not a sitemap.
    fn not_a_sitemap(&self, url: &Url, media_type: Option<&str>, error: &files::Error) -> Delivery {
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

/// The finding for a sitemap with a wrong media type.
fn wrong_media_type(url: &Url, media_type: &str) -> Option<Delivery> {
    let is_known = media_type.ends_with("/xml")
        || media_type.ends_with("+xml")
        || matches!(media_type, "text/plain" | "text/csv" | "text/tab-separated-values" | "application/octet-stream")
        || matches!(media_type, "application/gzip" | "application/x-gzip" | "binary/octet-stream");
    let message = || format!("the server sends this sitemap as {media_type}; it should be application/xml");
    (!is_known).then(|| Delivery::warning(CONTENT_TYPE, url.as_str(), message()))
}
