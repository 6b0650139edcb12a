//! The probe job: delivers answers a few times a second.

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

/// Answers are handed out no more often.
const PAUSE: Duration = Duration::from_millis(400);
/// Joining answers to what is known takes at most one part in so many of the time.
const SHARE: u32 = 10;

/// What the answers are called in the list of tables.
const TABLE: &str = "answers of the site";

/// What is asked.
pub(super) struct ProbeRequest {
    /// The set.
    pub snapshot: Snapshot,
    /// Which rows; no scope: the marked ones, else all.
    pub scope: Scope,
    /// How they are asked.
    pub options: ProbeOptions,
    /// Whether the user named the base URL: a download may have recorded any.
    pub is_base_named: bool,
}

/// The URLs to ask, and where.
struct Plan {
    hosts: Hosts,
    urls: Urls,
    /// URLs of other hosts.
    others: u64,
}

impl ProbeRequest {
    /// Asks until every URL has an answer or the work is stopped; says in words how it ended.
    pub(super) fn run(&self, progress: &Progress, part: &dyn Fn(Part)) -> Result<String, String> {
        let failed = |error: io::Error| error.to_string();
        let Some(plan) = self.plan(progress).map_err(failed)? else { return Ok("stopped; nothing was asked".into()) };
        let Plan { hosts, urls, others } = plan?;
        let others = match others {
            0 => String::new(),
            others => format!("; {} of other hosts not requested", counted(others, "URL")),
        };
        if urls.expected() == 0 {
            return Ok(format!("every URL has an answer already{others}"));
        }
        let mut options = Options::with_defaults(hosts, self.options.allow_private);
        options.limits.rate = self.options.rate.unwrap_or(options.limits.rate);
        if let Some(concurrency) = self.options.concurrency.map(usize::from) {
            (options.limits.concurrency, options.settings.connections) = (concurrency, concurrency);
        }
        options.settings.loopback = self.named().into_iter().collect();
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
        let asked = delivery.tally.words();
        match ended {
            Ok(summary) => Ok(format!("{asked}{others}{}", stopped_words(&summary))),
            Err(_) if progress.is_cancelled() => Ok(format!("paused: {asked}; :probe goes on")),
            Err(error) => Err(failed(error)),
        }
    }

    /// The server on this machine that the user opened the set from, or named as its base URL: it may be asked.
    fn named(&self) -> Option<(String, u16)> {
        let base = self.snapshot.base_url.as_deref().filter(|_| self.is_base_named)?;
        loopback(&requestable(base)?)
    }

    /// The URLs that have no answer yet. `None` when stopped.
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
        let named = self.named();
        let is_named = |url: &Url| named.is_some() && loopback(url) == named;
        let refused = refusal(targets.sites().filter(|url| hosts.contains(url) && !is_named(url)));
        if let Some(words) = refused.filter(|_| !self.options.allow_private) {
            return Ok(Some(Err(format!("{words}; :probe --allow-private allows it"))));
        }
        let others = targets.excluded_hosts(&hosts).map(|(_, count)| count).sum();
        let urls = targets.urls(&hosts, None)?;
        Ok(Some(Ok(Plan { hosts, urls, others })))
    }
}

/// Hosts that were left alone, in words.
fn stopped_words(summary: &Summary) -> String {
    let hosts = summary.stopped.iter().map(|(host, why)| format!("; {host} was skipped: {why}"));
    let skipped = match summary.skipped {
        0 => String::new(),
        count => format!("; {} not requested, :probe requests them", counted(count, "URL")),
    };
    hosts.chain([skipped]).collect()
}

/// Answers that wait to be handed out.
struct Delivery<'p> {
    known: GrowingDataSet,
    /// Whether there are answers in it.
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
            pause: PAUSE,
            part,
        }
    }

    /// Hands out what came, if it is time or the end.
    fn deliver(&mut self, is_end: bool) {
        if !is_end && self.last.elapsed() < self.pause {
            return;
        }
        let begun = Instant::now();
        let mut answers = Answers { progress: self.tally.progress(), ..Answers::default() };
        self.has_grown |= !self.urls.is_empty();
        if !self.urls.is_empty() || (is_end && self.has_grown) {
            // They are lines of this program: each has a URL.
            let _ = self.known.add(&self.lines, &ReadOptions { key: Some("url"), origin: None });
            answers.data = Some(if is_end { std::mem::take(&mut self.known).finish() } else { self.known.version() });
            (answers.urls, answers.lines) = (std::mem::take(&mut self.urls), std::mem::take(&mut self.lines));
        }
        (self.part)(Part::Answers(answers));
        (self.pause, self.last) = (PAUSE.max(begun.elapsed() * SHARE), Instant::now());
    }
}

/// Writes lines of JSON to a new file.
///
/// # Errors
///
/// There is a file already, or it cannot be written.
pub(super) fn write(path: &str, batches: &[Arc<str>]) -> Result<String, EditError> {
    let failed = |error| EditError::Refused(Error::system("write", Path::new(path), error).to_string());
    let mut results = Results::create(Path::new(path)).map_err(failed)?;
    for batch in batches {
        results.append(batch).map_err(failed)?;
    }
    let count = batches.iter().map(|batch| batch.lines().count() as u64).sum();
    Ok(format!("{} written to {path}; --data and :data read it", counted(count, "answer")))
}
