//! Requests many URLs of a site, each once, at the rate that the site allows.
//!
//! Workers take URLs from an iterator and return records; memory does not grow with the number of URLs. The record of a
//! URL without a response is held back until the server responds again. If it does not, these URLs count as not
//! requested, so that a later run requests them.

use super::address::non_public_kind;
use super::client::{Client, Response, Settings, SettingsError};
use super::handover::{Handover, HandoverSender};
use super::hosts::{Hosts, requestable};
use super::pace::{Limits, Pace};
use super::polite::{PacedClient, SendError, is_transient};
use super::record::Record;
use super::visit::{Transport, Visitor};
use crate::protocol::robots::{Access, AgentRules, product_token};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use ureq::http::{HeaderMap, Method};
use url::Url;

/// Maximum time between events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of workers of a run; more would only wait.
const MAX_WORKERS: usize = 256;

/// How URLs are requested.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// How requests are sent.
    pub settings: Settings,
    /// The hosts to which requests may go.
    pub hosts: Hosts,
    /// The limits on requests to each host.
    pub limits: Limits,
    /// Whether robots.txt is ignored.
    pub ignore_robots: bool,
    /// Whether `HEAD` requests are sent, which return no page.
    pub head_only: bool,
}

/// The default value of the header `User-Agent`.
pub(crate) const USER_AGENT: &str = concat!("sited/", env!("CARGO_PKG_VERSION"), " (+https://crates.io/crates/sited)");

impl Options {
    /// The default options: up to 5 requests per second and 4 at a time to each host, and robots.txt is obeyed.
    pub(crate) fn with_defaults(hosts: Hosts, allow_private: bool) -> Self {
        let limits = Limits { rate: 5.0, concurrency: 4 };
        let settings = Settings {
            user_agent: USER_AGENT.to_owned(),
            headers: Vec::new(),
            credentials: None,
            timeout: Duration::from_secs(30),
            idle_timeout: None,
            allow_private,
            loopback: Vec::new(),
            certificates: None,
            connections: limits.concurrency,
        };
        Self { settings, hosts, limits, ignore_robots: false, head_only: false }
    }
}

/// An event of a run.
#[derive(Debug)]
pub(crate) enum Event {
    /// A URL was requested.
    Record(Box<Record>),
    /// No record is queued: the caller can write and show the previous ones.
    Tick,
}

/// The result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Number of URLs that were not requested, because their host is skipped.
    pub skipped: u64,
    /// Skipped hosts with the reasons.
    pub stopped: Vec<(String, String)>,
}

/// Requests the URLs of a set.
#[derive(Debug)]
pub(crate) struct Prober {
    client: Client,
    options: Options,
    /// The name of this program in robots.txt files.
    agent: String,
    /// The state of each host. Readers share the lock.
    sites: RwLock<HashMap<String, Arc<Site>>>,
    is_stopped: AtomicBool,
    skipped: AtomicU64,
}

/// The URLs that have not been requested yet.
struct Queue<U> {
    /// `None` at the end.
    urls: Option<U>,
    /// The error that ended the iterator.
    error: Option<io::Error>,
}

impl<U: Iterator<Item = io::Result<String>>> Queue<U> {
    fn next(&mut self) -> Option<String> {
        match self.urls.as_mut()?.next() {
            Some(Ok(url)) => return Some(url),
            Some(Err(error)) => self.error = Some(error),
            None => {}
        }
        self.urls = None;
        None
    }
}

/// Passes all records to the caller.
fn pass_records(handover: &Handover<Record>, on_event: &mut impl FnMut(Event) -> io::Result<()>) -> io::Result<()> {
    while let Some(records) = handover.take(PROGRESS_INTERVAL) {
        records.into_iter().try_for_each(|record| on_event(Event::Record(Box::new(record))))?;
        on_event(Event::Tick)?;
    }
    Ok(())
}

/// The state of one host.
#[derive(Debug)]
struct Site {
    pace: Pace,
    /// The robots.txt rules of each origin, or why there are none.
    rules: RwLock<HashMap<String, Result<Arc<AgentRules>, String>>>,
    /// Records of URLs without a response.
    held: Mutex<Vec<Record>>,
    /// Whether there has been any such record.
    has_held: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prober {
    /// Creates a prober with the resolver of the system.
    pub(crate) fn new(options: Options) -> Result<Self, SettingsError> {
        Ok(Self::with_client(Client::new(&options.settings)?, options))
    }

    pub(super) fn with_client(client: Client, options: Options) -> Self {
        let agent = String::from_utf8_lossy(product_token(options.settings.user_agent.as_bytes())).into_owned();
        let (sites, skipped) = (RwLock::default(), AtomicU64::new(0));
        Self { client, options, agent, sites, is_stopped: AtomicBool::new(false), skipped }
    }

    /// Requests every URL. `on_event` is called on this thread. An error of `on_event` or `urls` ends the run.
    pub(crate) fn run(
        &self,
        urls: impl Iterator<Item = io::Result<String>> + Send,
        mut on_event: impl FnMut(Event) -> io::Result<()>,
    ) -> io::Result<Summary> {
        let workers = (self.options.limits.concurrency.max(1) * self.options.hosts.len().max(1)).min(MAX_WORKERS);
        let handover = Handover::new();
        let queue = Mutex::new(Queue { urls: Some(urls), error: None });
        let mut outcome = std::thread::scope(|scope| {
            let mut started = 0;
            for _ in 0..workers {
                let (queue, done) = (&queue, handover.sender());
                let worker = std::thread::Builder::new().spawn_scoped(scope, move || self.work(queue, &done));
                started += usize::from(worker.is_ok());
            }
            if started == 0 {
                return Err(io::Error::other("the system cannot start a thread"));
            }
            let taken = pass_records(&handover, &mut on_event);
            if taken.is_err() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            // Ends workers that still have a record.
            handover.close();
            taken
        });
        if let (Ok(()), Some(error)) = (&outcome, lock(&queue).error.take()) {
            outcome = Err(error);
        }
        let summary = self.finish(&mut |record| on_event(Event::Record(Box::new(record))));
        match (&mut outcome, summary) {
            (Ok(()), summary) => summary,
            (Err(error), _) => Err(std::mem::replace(error, io::Error::other(""))),
        }
    }

    /// Requests URLs from the queue, until it is empty or the run is stopped.
    fn work(&self, queue: &Mutex<Queue<impl Iterator<Item = io::Result<String>>>>, done: &HandoverSender<'_, Record>) {
        while !self.is_stopped() {
            // The lock is not held during the request.
            let next = lock(queue).next();
            let Some(text) = next else { return };
            for record in self.request(&text) {
                if !done.push(record) {
                    return;
                }
            }
        }
    }

    /// Requests one URL. Returns its record and those that were held back, if the server responded.
    fn request(&self, text: &str) -> Vec<Record> {
        let Some(url) = requestable(text) else {
            let error = Some("this is not the URL of a web page".to_owned());
            return vec![Record { error, ..Record::new(text) }];
        };
        if !self.options.hosts.contains(&url) {
            return Vec::new();
        }
        let site = self.site(&url);
        let visitor = Visitor { client: &self.client, hosts: &self.options.hosts, head_only: self.options.head_only };
        match visitor.visit(text, url, self) {
            Ok((record, Some(error))) if is_transient(&error) => {
                let mut held = lock(&site.held);
                held.push(record);
                site.has_held.store(true, Ordering::Relaxed);
                if site.pace.note_failure(&error.to_string()) {
                    self.skipped.fetch_add(held.drain(..).count() as u64, Ordering::Relaxed);
                }
                Vec::new()
            }
            Ok((record, _)) if matches!(record.status, Some(429 | 503)) => vec![record],
            Ok((record, _)) => {
                let mut records = Vec::new();
                if record.status.is_some() {
                    site.pace.note_success();
                    if site.has_held.load(Ordering::Relaxed) {
                        records.append(&mut lock(&site.held));
                    }
                }
                records.push(record);
                records
            }
            Err(_) => {
                self.skipped.fetch_add(1, Ordering::Relaxed);
                Vec::new()
            }
        }
    }

    fn site(&self, url: &Url) -> Arc<Site> {
        let host = url.host_str().unwrap_or_default();
        let known = self.sites.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned();
        known.unwrap_or_else(|| {
            let new = || {
                let (pace, has_held) = (Pace::new(self.options.limits), AtomicBool::new(false));
                Arc::new(Site { pace, rules: RwLock::default(), held: Mutex::default(), has_held })
            };
            let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(sites.entry(host.to_owned()).or_insert_with(new))
        })
    }

    /// The robots.txt rules of an origin, which are fetched before the first request. `None` if the host is skipped or
    /// the run was stopped.
    fn rules(&self, site: &Site, url: &Url) -> Option<Arc<AgentRules>> {
        let origin = url.origin().ascii_serialization();
        let known = site.rules.read().unwrap_or_else(PoisonError::into_inner).get(&origin).cloned();
        if let Some(Ok(rules)) = known {
            return Some(rules);
        }
        // Other workers wait here until the rules are known.
        let mut known = site.rules.write().unwrap_or_else(PoisonError::into_inner);
        let rules = match known.entry(origin) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let is_stopped = || self.is_stopped();
                let paced = PacedClient { client: &self.client, pace: &site.pace, is_stopped: &is_stopped };
                let fetched = super::rules::fetch(&paced, &self.options.hosts, url, &self.agent)?;
                if let Some(delay) = fetched.as_ref().ok().and_then(AgentRules::crawl_delay) {
                    site.pace.set_min_interval(delay);
                }
                unknown.insert(fetched.map(Arc::new))
            }
        };
        match rules {
            Ok(rules) => Some(Arc::clone(rules)),
            Err(why) => {
                site.pace.skip(why.clone());
                None
            }
        }
    }

    /// Passes on the records held back for hosts that are not skipped, and returns the summary.
    fn finish(&self, on_event: &mut impl FnMut(Record) -> io::Result<()>) -> io::Result<Summary> {
        let mut summary = Summary::default();
        for (host, site) in self.sites.read().unwrap_or_else(PoisonError::into_inner).iter() {
            let held = std::mem::take(&mut *lock(&site.held));
            if let Some(why) = site.pace.skip_reason() {
                self.skipped.fetch_add(held.len() as u64, Ordering::Relaxed);
                summary.stopped.push((host.clone(), why));
            } else {
                held.into_iter().try_for_each(&mut *on_event)?;
            }
        }
        summary.stopped.sort();
        summary.skipped = self.skipped.load(Ordering::Relaxed);
        Ok(summary)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

impl Transport for Prober {
    fn send(&self, method: &Method, url: &Url, read: &mut dyn FnMut(Response)) -> Result<(), SendError> {
        let site = self.site(url);
        let is_stopped = || self.is_stopped();
        let paced = PacedClient { client: &self.client, pace: &site.pace, is_stopped: &is_stopped };
        paced.send((method, url), &HeaderMap::new(), read)
    }

    fn blocked(&self, url: &Url) -> Result<Option<u32>, SendError> {
        if self.options.ignore_robots {
            return Ok(None);
        }
        let site = self.site(url);
        let Some(rules) = self.rules(&site, url) else { return Err(SendError::Skipped) };
        Ok(match rules.access(url.as_str()) {
            Access::Allowed => None,
            Access::Blocked { line } => Some(line),
        })
    }
}

/// The message for the first site with an address that is not public: `127.0.0.1 is a loopback address; nothing was
/// sent`.
pub(crate) fn refusal<'u>(sites: impl Iterator<Item = &'u Url>) -> Option<String> {
    let mut refused = sites.filter_map(|url| Some((url.host_str()?, refused_address(url)?)));
    refused.next().map(|(host, (address, what))| {
        let named = if host.contains(&address.to_string()) { String::new() } else { format!(" ({address})") };
        format!("{host} is {what}{named}; nothing was sent")
    })
}

/// The address of a URL that is not public, if it has no public one. The name is resolved; nothing is sent to the host.
fn refused_address(url: &Url) -> Option<(IpAddr, &'static str)> {
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let mut found = format!("{host}:{port}").to_socket_addrs().ok()?.map(|address| address.ip()).peekable();
    found.peek()?;
    let kinds: Vec<_> = found.map(|ip| non_public_kind(ip).map(|what| (ip, what))).collect();
    // With a public address among them, the site can be requested.
    if kinds.contains(&None) { None } else { kinds.into_iter().flatten().next() }
}

#[cfg(test)]
mod tests;
