//! The probe job: requests URLs of the site and delivers the answers a few times a second.

use super::super::super::state::jobs::Part;
use super::super::super::state::probing::Answers;
use crate::data::{DataSet, GrowingDataSet, ReadOptions};
use crate::document::rows::RowId;
use crate::files::Error;
use crate::net::address::loopback;
use crate::net::client::SettingsError;
use crate::net::hosts::{Hosts, requestable};
use crate::net::probe::{Event, Options, Prober, Summary, refusal};
use crate::net::results::{Results, SeenUrls};
use crate::net::tally::Tally;
use crate::net::targets::{Targets, Urls};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::command::{ProbeOptions, Scope};
use crate::session::edit::scope::rows_of;
use crate::session::edit::{DefaultScope, EditError};
use crate::session::state::Snapshot;
use crate::words::counted;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// Minimum time between two deliveries of answers.
const MIN_PAUSE: Duration = Duration::from_millis(400);
/// Minimum ratio of the pause after a delivery to the duration of the delivery, so that adding answers to large data
/// takes less than a tenth of the time.
const PAUSE_FACTOR: u32 = 10;

/// The name of the answers in the list of tables.
const TABLE: &str = "answers of the site";

/// A requested probe.
pub(super) struct ProbeRequest {
    /// The session when the probe was requested.
    pub snapshot: Snapshot,
    /// The rows whose URLs are requested; without a scope the marked rows, else all.
    pub scope: Scope,
    /// The limits of the requests, and whether private addresses are allowed.
    pub options: ProbeOptions,
    /// Whether the base URL comes from the user. One that an earlier download recorded may be any URL.
    pub is_base_from_user: bool,
}

/// The URLs to request, and the hosts that they may be requested from.
struct Plan {
    hosts: Hosts,
    urls: Urls,
    /// Number of URLs on other hosts, which are not requested.
    excluded: u64,
}

impl ProbeRequest {
    /// Requests URLs until each has an answer or the job is stopped. Returns a message with the result.
    pub(super) fn run(&self, progress: &Progress, part: &dyn Fn(Part)) -> Result<String, String> {
        let failed = |error: io::Error| error.to_string();
        let Some(plan) = self.plan(progress).map_err(failed)? else { return Ok("stopped; nothing was asked".into()) };
        let Plan { hosts, urls, excluded } = plan?;
        let excluded = match excluded {
            0 => String::new(),
            count => format!("; {} of other hosts not requested", counted(count, "URL")),
        };
        if urls.expected() == 0 {
            return Ok(format!("every URL has an answer already{excluded}"));
        }
        let mut options = Options::with_defaults(hosts, self.options.allow_private);
        options.limits.rate = self.options.rate.unwrap_or(options.limits.rate);
        if let Some(concurrency) = self.options.concurrency.map(usize::from) {
            (options.limits.concurrency, options.settings.connections) = (concurrency, concurrency);
        }
        options.settings.loopback = self.loopback_server().into_iter().collect();
        let prober = Prober::new(options);
        let prober = prober.map_err(|error: SettingsError| error.to_string())?;
        let known = self.snapshot.data.clone().unwrap_or_default();
        let mut delivery = Delivery::new(&known, urls.expected(), part);
        let ended = prober.run(urls, |event| {
            if let Event::Record(record) = event {
                delivery.tally.count(&record);
                delivery.lines.push_str(&record.line());
                delivery.urls.push(record.url);
            }
            delivery.deliver(false);
            if progress.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        delivery.deliver(true);
        let counts = delivery.tally.words();
        match ended {
            Ok(summary) => Ok(format!("{counts}{excluded}{}", skipped_message(&summary))),
            Err(_) if progress.is_cancelled() => Ok(format!("paused: {counts}; :probe goes on")),
            Err(error) => Err(failed(error)),
        }
    }

    /// The host and port of the base URL if it is a loopback address and comes from the user. Requests to it are
    /// allowed, although the address is private.
    fn loopback_server(&self) -> Option<(String, u16)> {
        let base = self.snapshot.base_url.as_deref().filter(|_| self.is_base_from_user)?;
        loopback(&requestable(base)?)
    }

    /// Collects the URLs that have no answer yet. `None` when stopped; the inner error is the message that the site has
    /// a private address.
    #[allow(clippy::type_complexity)]
    fn plan(&self, progress: &Progress) -> io::Result<Option<Result<Plan, String>>> {
        let (document, data) = (&self.snapshot.document, self.snapshot.data.as_deref());
        let Some(rows) = rows_of(&self.snapshot, &self.scope, DefaultScope::All, progress) else { return Ok(None) };
        let mut seen = SeenUrls::default();
        for (row, url) in data.into_iter().flat_map(DataSet::urls) {
            let has = |name| data.and_then(|data| data.column(name)).is_some_and(|column| column.has(row));
            if has("status") || has("blocked") {
                seen.insert(url);
            }
        }
        let mut targets = Targets::new(seen)?;
        for row in rows.iter().map(RowId) {
            if let Some(loc) = document.value(row, Field::Loc) {
                targets.add(loc.trim())?;
            }
            if progress.is_cancelled() {
                return Ok(None);
            }
        }
        let hosts = Hosts::of(targets.site_url(self.snapshot.base_url.as_deref()).as_ref(), &[]);
        let server = self.loopback_server();
        let is_server = |url: &Url| server.is_some() && loopback(url) == server;
        let refused = refusal(targets.sites().filter(|url| hosts.contains(url) && !is_server(url)));
        if let Some(words) = refused.filter(|_| !self.options.allow_private) {
            return Ok(Some(Err(format!("{words}; :probe --allow-private allows it"))));
        }
        let excluded = targets.excluded_hosts(&hosts).map(|(_, count)| count).sum();
        let urls = targets.urls(&hosts, None)?;
        Ok(Some(Ok(Plan { hosts, urls, excluded })))
    }
}

/// A message about skipped hosts and the number of URLs that were not requested.
fn skipped_message(summary: &Summary) -> String {
    let hosts = summary.stopped.iter().map(|(host, why)| format!("; {host} was skipped: {why}"));
    let skipped = match summary.skipped {
        0 => String::new(),
        count => format!("; {} not requested, :probe requests them", counted(count, "URL")),
    };
    hosts.chain([skipped]).collect()
}

/// Collects answers and delivers them in batches.
struct Delivery<'p> {
    known: GrowingDataSet,
    /// Whether answers were added to `known`.
    has_grown: bool,
    tally: Tally,
    urls: Vec<String>,
    lines: String,
    last: Instant,
    pause: Duration,
    part: &'p dyn Fn(Part),
}

impl<'p> Delivery<'p> {
    fn new(known: &DataSet, total: u64, part: &'p dyn Fn(Part)) -> Self {
        let (known, tally) = (GrowingDataSet::new(known, TABLE), Tally::new(total));
        Self {
            known,
            has_grown: false,
            tally,
            urls: Vec::new(),
            lines: String::new(),
            last: Instant::now(),
            pause: MIN_PAUSE,
            part,
        }
    }

    /// Delivers the collected answers if the pause is over or the probe has ended.
    fn deliver(&mut self, is_end: bool) {
        if !is_end && self.last.elapsed() < self.pause {
            return;
        }
        let start = Instant::now();
        let mut answers = Answers { progress: self.tally.progress(), ..Answers::default() };
        self.has_grown |= !self.urls.is_empty();
        if !self.urls.is_empty() || (is_end && self.has_grown) {
            // No error is expected, since this program wrote the lines and each has a URL.
            let _ = self.known.add(&self.lines, &ReadOptions { key: Some("url"), origin: None });
            answers.data = Some(if is_end { std::mem::take(&mut self.known).finish() } else { self.known.version() });
            (answers.urls, answers.lines) = (std::mem::take(&mut self.urls), std::mem::take(&mut self.lines));
        }
        (self.part)(Part::Answers(answers));
        (self.pause, self.last) = (MIN_PAUSE.max(start.elapsed() * PAUSE_FACTOR), Instant::now());
    }
}

/// Writes answers to a new file, as lines of JSON. Returns a message.
///
/// # Errors
///
/// The file exists already, or cannot be written.
pub(super) fn write(path: &str, batches: &[Arc<str>]) -> Result<String, EditError> {
    let failed = |error| EditError::Refused(Error::system("write", Path::new(path), error).to_string());
    let mut results = Results::create(Path::new(path)).map_err(failed)?;
    for batch in batches {
        results.append(batch).map_err(failed)?;
    }
    let count = batches.iter().map(|batch| batch.lines().count() as u64).sum();
    Ok(format!("{} written to {path}; --data and :data read it", counted(count, "answer")))
}
