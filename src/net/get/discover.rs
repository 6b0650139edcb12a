//! Finds the sitemaps of a site: the ones that robots.txt names, or the one at a common path. The robots.txt is stored
//! with them, so that their URLs are checked against it.

use super::super::delivery::{CONTENT_TYPE, Delivery, ENCODING, NO_ANSWER, STATUS, TOO_LARGE};
use super::super::download::{FetchError, Fetched, Received};
use super::super::get_state::{Download, hex};
use super::super::hosts::without_credentials;
use super::one::Folder;
use super::schedule::Schedule;
use super::{Counts, GetError, Getter, Run, lock};
use crate::files;
use crate::protocol::robots::{MAX_BYTES, Robots};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use ureq::http::HeaderMap;
use url::Url;

/// Common paths of sitemaps, used by the protocol, generators and content management systems; the most common first.
const COMMON_PATHS: [&str; 8] = [
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/sitemap_index.xml.gz",
    "/wp-sitemap.xml",
    "/sitemap/sitemap.xml",
    "/sitemap.txt",
];

/// The name of a robots.txt, on the site and in the folder.
const ROBOTS: &str = "robots.txt";

/// The robots.txt of a site.
#[derive(Default)]
struct SiteRobots {
    /// The sitemaps that it names.
    named: Vec<Url>,
    /// The file, if there is one. It has not been moved to its path yet.
    file: Option<Received>,
}

/// Whether a URL names a site rather than a file.
pub(super) fn is_site(url: &Url) -> bool {
    url.path() == "/" && url.query().is_none()
}

impl Getter {
    /// Downloads the sitemaps of a site.
    pub(super) fn get_site(
        &self,
        site: &Url,
        folder: &Folder,
        on_progress: &mut dyn FnMut(&Counts),
    ) -> Result<Run, GetError> {
        let url = site.join("/robots.txt").unwrap_or_else(|_| site.clone());
        let robots = match self.robots_of(&url, folder)? {
            Ok(robots) => robots,
            Err(finding) => return Ok(Run { findings: vec![finding], ..Run::default() }),
        };
        let run = self.get_named(site, (&url, &robots.named), folder, on_progress)?;
        if let Some(file) = robots.file.filter(|_| !run.entries.is_empty()) {
            store_robots(&url, file, folder)
                .map_err(|error| files::Error::system("write", &folder.incoming.path().join(ROBOTS), error))?;
        }
        Ok(run)
    }

    /// Downloads the sitemaps that robots.txt names, or the one at a common path.
    fn get_named(
        &self,
        site: &Url,
        (robots, named): (&Url, &[Url]),
        folder: &Folder,
        on_progress: &mut dyn FnMut(&Counts),
    ) -> Result<Run, GetError> {
        if !named.is_empty() {
            let mut schedule = Schedule::new(&self.options.hosts, folder.ignores_case);
            for url in named {
                schedule.add_entry(url, Some(robots));
            }
            return self.download_all(schedule, folder, on_progress);
        }
        for path in COMMON_PATHS {
            let mut schedule = Schedule::new(&self.options.hosts, folder.ignores_case);
            if let Ok(url) = site.join(path) {
                schedule.add_entry(&url, None);
            }
            let run = self.download_all(schedule, folder, on_progress)?;
            // An HTML page at that path means that there is no sitemap.
            let is_absent = |finding: &Delivery| matches!(finding.code, STATUS | CONTENT_TYPE);
            if !run.entries.is_empty() || run.counts.skipped > 0 || !run.findings.iter().all(is_absent) {
                return Ok(run);
            }
        }
        let paths = COMMON_PATHS.join(", ");
        let message = format!("robots.txt names no sitemap, and there is none at {paths}; name the URL of the sitemap");
        Ok(Run { findings: vec![Delivery::error(STATUS, site.as_str(), message)], ..Run::default() })
    }

    /// The robots.txt of a site: empty if it does not exist, a finding if the site does not respond.
    fn robots_of(&self, robots: &Url, folder: &Folder) -> Result<Result<SiteRobots, Delivery>, GetError> {
        let begin = || folder.incoming.begin(Path::new(ROBOTS));
        let fetched =
            self.with_downloader(|downloader| downloader.fetch(robots, &HeaderMap::new(), &begin, &mut Vec::new()));
        let failed = |error: io::Error| files::Error::system("write", &folder.incoming.path().join(ROBOTS), error);
        match fetched {
            Ok(Fetched::File(received)) => {
                let mut bytes = Vec::new();
                let read = File::open(received.file.path())
                    .and_then(|file| file.take(MAX_BYTES as u64).read_to_end(&mut bytes));
                read.map_err(failed)?;
                let lines = Robots::parse(&bytes);
                let named = lines.sitemaps().iter().filter_map(|line| received.final_url.join(line.url.trim()).ok());
                let named = named.filter_map(without_credentials).collect();
                // An HTML page is not a robots.txt and is not stored.
                let file = Some(*received).filter(|file| file.media_type.as_deref() != Some("text/html"));
                Ok(Ok(SiteRobots { named, file }))
            }
            Ok(Fetched::NotModified) => Ok(Ok(SiteRobots::default())),
            Err(FetchError::Delivery(finding)) if matches!(finding.code, STATUS | ENCODING | TOO_LARGE) => {
                Ok(Ok(SiteRobots::default()))
            }
            Err(FetchError::Delivery(finding)) => Ok(Err(finding)),
            Err(FetchError::Skipped) => Ok(Err(Delivery::error(NO_ANSWER, robots.as_str(), "it was not fetched"))),
            Err(FetchError::Disk(error)) => Err(failed(error).into()),
        }
    }
}

/// Moves a robots.txt to its path, unless there is a local one that was not downloaded or was changed since.
fn store_robots(url: &Url, received: Received, folder: &Folder) -> io::Result<()> {
    let Received { file, etag, modified, .. } = received;
    // Only a regular file is replaced.
    let Ok(before) = folder.incoming.hash(Path::new(ROBOTS)) else { return Ok(()) };
    let mut state = lock(&folder.state);
    let is_downloaded =
        state.last_download(ROBOTS, before).is_some_and(|(download, is_same)| is_same && download.url == url.as_str());
    if before.is_some() && (!is_downloaded || before == Some(file.hash())) {
        return Ok(());
    }
    state.add(Download { file: ROBOTS.to_owned(), url: url.to_string(), etag, modified, hash: hex(file.hash()) })?;
    file.complete()
}
