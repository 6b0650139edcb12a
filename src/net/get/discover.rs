//! Finds the sitemaps of a site: those that robots.txt names, or the one at a usual path.

use super::super::delivery::{CONTENT_TYPE, Delivery, ENCODING, NO_ANSWER, STATUS, TOO_LARGE};
use super::super::download::{FetchError, Fetched};
use super::super::hosts::without_credentials;
use super::one::Folder;
use super::schedule::Schedule;
use super::{Counts, GetError, Getter, Run};
use crate::files;
use crate::protocol::robots::{MAX_BYTES, Robots};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use ureq::http::HeaderMap;
use url::Url;

/// Where sitemaps usually are: the names that the protocol, generators and content systems use, the most usual first.
const USUAL_PATHS: [&str; 8] = [
    "/sitemap.xml",
    "/sitemap_index.xml",
    "/sitemap-index.xml",
    "/sitemap.xml.gz",
    "/sitemap_index.xml.gz",
    "/wp-sitemap.xml",
    "/sitemap/sitemap.xml",
    "/sitemap.txt",
];

/// Whether a URL names a site and not a file of it.
pub(super) fn is_site(url: &Url) -> bool {
    url.path() == "/" && url.query().is_none()
}

impl Getter {
    /// Downloads the sitemaps of a site.
    pub(super) fn get_site(&self, site: &Url, folder: &Folder, see: &mut dyn FnMut(&Counts)) -> Result<Run, GetError> {
        let robots = site.join("/robots.txt").unwrap_or_else(|_| site.clone());
        let named = match self.named_by(&robots, folder)? {
            Ok(named) => named,
            Err(finding) => return Ok(Run { findings: vec![finding], ..Run::default() }),
        };
        if !named.is_empty() {
            let mut schedule = Schedule::new(&self.options.hosts, folder.ignores_case);
            for url in &named {
                schedule.add_entry(url, Some(&robots));
            }
            return self.work_off(schedule, folder, see);
        }
        for path in USUAL_PATHS {
            let mut schedule = Schedule::new(&self.options.hosts, folder.ignores_case);
            if let Ok(url) = site.join(path) {
                schedule.add_entry(&url, None);
            }
            let run = self.work_off(schedule, folder, see)?;
            // A page in its place is no sitemap either.
            let is_absent = |finding: &Delivery| matches!(finding.code, STATUS | CONTENT_TYPE);
            if !run.entries.is_empty() || run.counts.unasked > 0 || !run.findings.iter().all(is_absent) {
                return Ok(run);
            }
        }
        let paths = USUAL_PATHS.join(", ");
        let message = format!("robots.txt names no sitemap, and there is none at {paths}; name the URL of the sitemap");
        Ok(Run { findings: vec![Delivery::error(STATUS, site.as_str(), message)], ..Run::default() })
    }

    /// The sitemaps that a robots.txt names: none where it does not exist, a finding where the site cannot be asked.
    fn named_by(&self, robots: &Url, folder: &Folder) -> Result<Result<Vec<Url>, Delivery>, GetError> {
        let begin = || folder.incoming.begin(Path::new("robots.txt"));
        let fetched =
            self.with_downloader(|downloader| downloader.fetch(robots, &HeaderMap::new(), &begin, &mut Vec::new()));
        let failed =
            |error: io::Error| files::Error::system("write", &folder.incoming.path().join("robots.txt"), error);
        match fetched {
            // The file was not put in place, and is gone when it was read.
            Ok(Fetched::File(received)) => {
                let mut bytes = Vec::new();
                let read = File::open(received.file.path())
                    .and_then(|file| file.take(MAX_BYTES as u64).read_to_end(&mut bytes));
                read.map_err(failed)?;
                let lines = Robots::parse(&bytes);
                let named = lines.sitemaps().iter().filter_map(|line| received.last.join(line.url.trim()).ok());
                Ok(Ok(named.filter_map(without_credentials).collect()))
            }
            Ok(Fetched::NotModified) => Ok(Ok(Vec::new())),
            Err(FetchError::Delivery(finding)) if matches!(finding.code, STATUS | ENCODING | TOO_LARGE) => {
                Ok(Ok(Vec::new()))
            }
            Err(FetchError::Delivery(finding)) => Ok(Err(finding)),
            Err(FetchError::Unasked) => Ok(Err(Delivery::error(NO_ANSWER, robots.as_str(), "it was not fetched"))),
            Err(FetchError::Disk(error)) => Err(failed(error).into()),
        }
    }
}
