//! `sited get`: downloads the sitemaps of a site into a folder.

use super::get_options::{DownloadOptions, Get};
use super::lock::Lock;
use super::output::Paint;
use super::signals::Signals;
use super::unsafe_characters::plain;
use super::url_options::DownloadedSet;
use super::{Failure, Status, Streams};
use crate::files::stored_path;
use crate::net::address::loopback;
use crate::net::client::Settings;
use crate::net::delivery::Delivery;
use crate::net::get::{ACCEPT, Counts, GetError, Getter, MAX_BYTES, Options, Summary, folder_of};
use crate::net::hosts::{Hosts, requestable};
use crate::protocol::Severity;
use crate::words::counted;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Maximum number of files in the printed command.
const MOST_SHOWN: usize = 8;
/// How often the progress line is drawn.
const REDRAWN: Duration = Duration::from_millis(100);

pub(super) fn run(get: &Get, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let url = url_of(&get.url)?;
    let folder = get.into.clone().unwrap_or_else(|| folder_of(&url));
    let job = Job { options: &get.download, max_bytes: get.max_bytes, force: get.force, before_screen: false };
    let entry = stored_path(url.as_str(), None).map(|name| folder.join(name));
    let summary = {
        let _lock = Lock::take(streams, entry.as_slice())?;
        job.download(&url, &folder, streams)?
    };
    for finding in &summary.findings {
        writeln!(streams.out, "{}", line(finding, streams.colour))?;
    }
    streams.out.flush()?;
    let status = print_summary(&summary, streams);
    if summary.entries.is_empty() {
        super::print_error("no sitemap was downloaded", "", streams.notes);
    } else {
        let sets = summary.sets(&folder);
        let commands = match sets.len() {
            1 => sets,
            _ => {
                Some(summary.sets_as_one(&folder).0).filter(|all| all.len() <= MOST_SHOWN).map_or(sets, |all| vec![all])
            }
        };
        let commands: Vec<_> = commands.iter().map(|set| joined_paths(set)).collect();
        streams.note(&format!("{}; open with: sited {}", summary.counts.words(), commands.join("; sited ")));
    }
    Ok(status)
}

/// Downloads the set of a URL into a temporary folder. In the output, its files have their URLs as names.
pub(super) fn download_to_temporary(
    text: &str,
    folder: &Path,
    options: &DownloadOptions,
    streams: &mut Streams<'_>,
) -> Result<DownloadedSet, Failure> {
    let url = url_of(text)?;
    let origin = format!("{}/", url.origin().ascii_serialization());
    streams.downloads.names.add(format!("{}/", folder.display()), origin);
    let job = Job { options, max_bytes: MAX_BYTES, force: false, before_screen: false };
    open(&url, folder, &job, streams)
}

/// Downloads the set of a URL into a permanent folder.
pub(super) fn download_to_keep(
    text: &str,
    into: Option<&Path>,
    options: &DownloadOptions,
    streams: &mut Streams<'_>,
) -> Result<DownloadedSet, Failure> {
    let url = url_of(text)?;
    let folder = into.map_or_else(|| folder_of(&url), Path::to_path_buf);
    let job = Job { options, max_bytes: MAX_BYTES, force: false, before_screen: true };
    let set = open(&url, &folder, &job, streams)?;
    streams.note(&format!("the files are in {}", folder.display()));
    Ok(set)
}

/// Downloads the set of a URL. Problems of the download are notes: the results are those of the command that reads the
/// set.
fn open(url: &Url, folder: &Path, job: &Job<'_>, streams: &mut Streams<'_>) -> Result<DownloadedSet, Failure> {
    let summary = job.download(url, folder, streams)?;
    for finding in &summary.findings {
        let _ = writeln!(streams.notes, "{}", line(finding, streams.colour));
    }
    let status = print_summary(&summary, streams);
    match <[Vec<PathBuf>; 1]>::try_from(summary.sets(folder)) {
        Ok([paths]) => Ok(DownloadedSet { paths, base_url: summary.base_url, status }),
        Err(sets) if sets.is_empty() => {
            let hint = "the server's answers are listed above".to_owned();
            Err(Failure::Unusable(format!("{url}: no sitemap was downloaded"), hint))
        }
        Err(sets) => {
            let (paths, words) = summary.sets_as_one(folder);
            streams.note(&format!("{url}: robots.txt names {} sets; their {words}", sets.len()));
            Ok(DownloadedSet { paths, base_url: None, status })
        }
    }
}

fn joined_paths(set: &[PathBuf]) -> String {
    set.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
}

/// The options of a download.
struct Job<'o> {
    options: &'o DownloadOptions,
    max_bytes: u64,
    force: bool,
    /// Whether the screen opens after the download.
    before_screen: bool,
}

impl Job<'_> {
    fn download(&self, url: &Url, folder: &Path, streams: &mut Streams<'_>) -> Result<Summary, Failure> {
        let hosts = self.options.hosts(url);
        let loopback: Vec<_> = loopback(url).into_iter().collect();
        if loopback.is_empty() {
            self.options.site.refuse_private([url].into_iter(), &hosts)?;
        }
        let signals = Signals::new(self.before_screen);
        let getter = Getter::new(self.getter(url, hosts, loopback)?, Arc::clone(&signals.is_stopped));
        let getter = getter.map_err(|error| self.options.site.settings_failure(&error))?;
        download(&getter, url, folder, streams)
    }

    fn getter(&self, url: &Url, hosts: Hosts, loopback: Vec<(String, u16)>) -> Result<Options, Failure> {
        let DownloadOptions { timeout, max_time, site } = self.options;
        let mut settings = Settings { idle_timeout: Some(*timeout), loopback, ..site.settings(*max_time, Some(url))? };
        // Headers of the user come later and override it.
        settings.headers.insert(0, (ACCEPT.0.to_owned(), ACCEPT.1.to_owned()));
        let (max_bytes, force) = (self.max_bytes, self.force);
        Ok(Options { settings, hosts, limits: site.limits(), max_bytes, force })
    }
}

impl DownloadOptions {
    /// The hosts that requests may be sent to.
    fn hosts(&self, url: &Url) -> Hosts {
        Hosts::of(Some(url), &self.site.allow_host)
    }
}

/// Parses a URL to download.
fn url_of(text: &str) -> Result<Url, Failure> {
    requestable(text).ok_or_else(|| {
        let hint = "for example: sited get https://example.com/sitemap.xml".to_owned();
        Failure::Usage(format!("{text}: expected a URL with http:// or https:// and a host"), hint)
    })
}

/// Downloads and draws the progress.
fn download(getter: &Getter, url: &Url, folder: &Path, streams: &mut Streams<'_>) -> Result<Summary, Failure> {
    let mut drawn: Option<Instant> = None;
    let summary = getter.run(url, folder, |counts| {
        if streams.meter && drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAWN) {
            drawn = Some(Instant::now());
            let _ = write!(streams.notes, "\r\x1b[2K{}", progress(counts)).and_then(|()| streams.notes.flush());
        }
    });
    if drawn.is_some() {
        let _ = write!(streams.notes, "\r\x1b[2K").and_then(|()| streams.notes.flush());
    }
    summary.map_err(|error| match error {
        GetError::File(error) => error.into(),
        GetError::Busy(_) => {
            Failure::Unusable(error.to_string(), "wait until it ends, or name another --into".to_owned())
        }
    })
}

/// `3 of 40 files   2 new, 1 updated   4.1 MiB`
fn progress(counts: &Counts) -> String {
    let Counts { files, done, .. } = counts;
    format!("{done} of {}   {}", counted(*files, "file"), counts.words())
}

/// `https://example.com/a.xml: error[http-status]: …`
fn line(finding: &Delivery, colour: bool) -> String {
    let severity = finding.severity.name();
    let place = Paint::Bold.on(format_args!("{}:", plain(&finding.url)), colour);
    let what = Paint::of(severity).on(format_args!("{severity}[{}]", finding.code), colour);
    format!("{place} {what}: {}", plain(&finding.message))
}

/// Prints errors about files that were not downloaded, and returns the status.
fn print_summary(summary: &Summary, streams: &mut Streams<'_>) -> Status {
    for (host, why) in &summary.stopped {
        super::print_error(
            &format!("{host} was skipped: {why}"),
            "run it again later; it fetches only what is missing",
            streams.notes,
        );
    }
    let errors = summary.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let Counts { skipped, .. } = summary.counts;
    if skipped > 0 {
        let verb = if skipped == 1 { "was" } else { "were" };
        let text = format!("{} {verb} not fetched", counted(skipped, "file"));
        super::print_error(
            &text,
            "run it again: files that are there and have not changed are not fetched again",
            streams.notes,
        );
    }
    if summary.entries.is_empty() {
        return Status::Files;
    }
    match (skipped, errors) {
        (1.., _) => Status::Files,
        (0, 1..) => Status::Findings,
        (0, 0) => Status::Fine,
    }
}
