//! `sited get`: downloads the sitemaps of a site into a folder.

use super::get_options::{DownloadOptions, Get};
use super::lock::Lock;
use super::output::{Paint, plain};
use super::{Failure, Status, Streams};
use crate::files::stored_path;
use crate::net::client::Settings;
use crate::net::delivery::Delivery;
use crate::net::get::{Counts, GetError, Getter, Options, Summary};
use crate::net::hosts::{HostRule, Hosts, requestable};
use crate::protocol::Severity;
use crate::words::{counted, size};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use url::Url;

/// How often the progress line is drawn.
const REDRAWN: Duration = Duration::from_millis(100);

pub(super) fn run(get: &Get, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let url = url_of(&get.url)?;
    let folder = get.into.clone().unwrap_or_else(|| folder_of(&url));
    let hosts = get.download.hosts(&url);
    get.download.site.refuse_private([&url].into_iter(), &hosts)?;
    let options = get.download.options(hosts, get.force)?;
    let is_stopped = stopped_by_signals();
    let getter = Getter::new(options, is_stopped).map_err(|error| get.download.site.refused(&error))?;
    let entry = stored_path(url.as_str(), None).map(|name| folder.join(name));
    let _lock = Lock::take(streams, entry.as_slice())?;
    let summary = download(&getter, &url, &folder, streams)?;
    for finding in &summary.findings {
        writeln!(streams.out, "{}", line(finding, streams.colour))?;
    }
    streams.out.flush()?;
    Ok(say_end(&summary, &folder, streams))
}

impl DownloadOptions {
    /// The hosts that may be asked.
    fn hosts(&self, url: &Url) -> Hosts {
        let mut hosts = Hosts::default();
        HostRule::of_url(url)
            .into_iter()
            .chain(self.site.allow_host.iter().cloned())
            .for_each(|rule| hosts.allow(rule));
        hosts
    }

    fn options(&self, hosts: Hosts, force: bool) -> Result<Options, Failure> {
        let mut settings = Settings { silence: Some(self.timeout), ..self.site.settings(self.max_time)? };
        // The user's own headers come after it and win.
        settings.headers.insert(0, ("accept".to_owned(), "application/xml,text/xml,*/*;q=0.8".to_owned()));
        Ok(Options { settings, hosts, limits: self.site.limits(), max_bytes: self.max_bytes, force })
    }
}

/// A URL that can be downloaded.
fn url_of(text: &str) -> Result<Url, Failure> {
    requestable(text).ok_or_else(|| {
        let hint = "for example: sited get https://example.com/sitemap.xml".to_owned();
        Failure::Usage(format!("{text}: expected a URL with http:// or https:// and a host"), hint)
    })
}

/// The folder for the sitemaps of a URL: its host, as every system can call a folder.
fn folder_of(url: &Url) -> PathBuf {
    let host = url.host_str().unwrap_or_default().replace(['[', ']'], "").replace(':', "_");
    PathBuf::from(host)
}

/// A flag that is set by `^C`; a second one ends the program at once, as does one after the download.
fn stopped_by_signals() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}

/// Downloads while the progress is drawn.
fn download(getter: &Getter, url: &Url, folder: &Path, streams: &mut Streams<'_>) -> Result<Summary, Failure> {
    let mut drawn: Option<Instant> = None;
    let summary = getter.run(std::slice::from_ref(url), folder, |counts| {
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
        GetError::Busy(_) => Failure::Place(error.to_string(), "wait until it ends, or name another --into".to_owned()),
    })
}

/// `3 of 40 files   2 new, 1 updated   4.1 MiB`
fn progress(counts: &Counts) -> String {
    let Counts { files, done, .. } = counts;
    format!("{done} of {}   {}", counted(*files, "file"), words(counts))
}

/// `2 new, 1 updated (4.1 MiB), 3 unchanged`
fn words(counts: &Counts) -> String {
    let Counts { new, updated, unchanged, bytes, .. } = *counts;
    let parts = [(new, "new"), (updated, "updated"), (unchanged, "unchanged")];
    let parts: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let size = if bytes > 0 { format!(" ({})", size(bytes)) } else { String::new() };
    if parts.is_empty() { "no file".to_owned() } else { format!("{}{size}", parts.join(", ")) }
}

/// `https://example.com/a.xml: error[http-status]: …`
fn line(finding: &Delivery, colour: bool) -> String {
    let severity = finding.severity.name();
    let place = Paint::Bold.on(format_args!("{}:", plain(&finding.url)), colour);
    let what = Paint::of(severity).on(format_args!("{severity}[{}]", finding.code), colour);
    format!("{place} {what}: {}", plain(&finding.message))
}

/// Says how it ended.
fn say_end(summary: &Summary, folder: &Path, streams: &mut Streams<'_>) -> Status {
    for (host, why) in &summary.stopped {
        super::say(
            &format!("{host} was left alone: {why}"),
            "run it again later; what is there is not fetched again",
            streams.notes,
        );
    }
    let errors = summary.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let Counts { unasked, .. } = summary.counts;
    if unasked > 0 {
        let verb = if unasked == 1 { "was" } else { "were" };
        let text = format!("{} {verb} not fetched", counted(unasked, "file"));
        super::say(
            &text,
            "run it again: files that are there and have not changed are not fetched again",
            streams.notes,
        );
    }
    if summary.entries.is_empty() {
        super::say("no sitemap was downloaded", "", streams.notes);
        return Status::Files;
    }
    let entries: Vec<_> = summary.entries.iter().map(|name| folder.join(name).display().to_string()).collect();
    streams.note(&format!("{}; open it with: sited {}", words(&summary.counts), entries.join(" ")));
    match (unasked, errors) {
        (1.., _) => Status::Files,
        (0, 1..) => Status::Findings,
        (0, 0) => Status::Fine,
    }
}
