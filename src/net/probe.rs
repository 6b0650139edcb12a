//! Requests many URLs of a site, each once, at the pace that the site allows.
//!
//! Workers take URLs from one iterator and hand back records; memory does not grow with the number of URLs. A record
//! of a URL for which the server did not answer is held back until the server answers again: when it does not, these
//! URLs were not asked, and a later run asks them.

use super::address::special;
use super::client::{Answer, Client, Settings, SettingsError};
use super::handover::{Handover, HandoverSender};
use super::hosts::{Hosts, requestable};
use super::pace::{Limits, Pace};
use super::polite::{Polite, Stop, is_transient};
use super::record::Record;
use super::visit::{Transport, Visitor};
use crate::protocol::robots::{Access, AgentRules, product_token};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use ureq::http::{HeaderMap, Method};
use url::Url;

/// How often the caller can show how far the work is, at least.
const TICK: Duration = Duration::from_millis(100);
/// Workers of a run; more would only wait.
const MOST_WORKERS: usize = 256;

/// How a site is asked.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// How requests are sent.
    pub settings: Settings,
    /// Where to.
    pub hosts: Hosts,
    /// The most that each host is asked.
    pub limits: Limits,
    /// Whether robots.txt is not read.
    pub ignore_robots: bool,
    /// Whether only the status is asked for.
    pub head_only: bool,
}

/// What requests say that they come from.
pub(crate) const USER_AGENT: &str = concat!("sited/", env!("CARGO_PKG_VERSION"), " (+https://crates.io/crates/sited)");

impl Options {
    /// What is polite where no one said otherwise: 5 requests a second and 4 at a time to each host, as robots.txt allows.
    pub(crate) fn polite(hosts: Hosts, allow_private: bool) -> Self {
        let limits = Limits { rate: 5.0, concurrency: 4 };
        let settings = Settings {
            user_agent: USER_AGENT.to_owned(),
            headers: Vec::new(),
            credentials: None,
            timeout: Duration::from_secs(30),
            silence: None,
            allow_private,
            loopback: Vec::new(),
            certificates: None,
            connections: limits.concurrency,
        };
        Self { settings, hosts, limits, ignore_robots: false, head_only: false }
    }
}

/// What happens while URLs are asked.
#[derive(Debug)]
pub(crate) enum Event {
    /// A URL was asked.
    Record(Box<Record>),
    /// No record waits: what was taken can be written and shown.
    Tick,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// URLs that were not asked because their host is left alone.
    pub unasked: u64,
    /// Hosts that are left alone, and why.
    pub stopped: Vec<(String, String)>,
}

/// Asks a site.
#[derive(Debug)]
pub(crate) struct Prober {
    client: Client,
    options: Options,
    /// The name by which robots.txt files call this program.
    agent: String,
    /// By host. Workers that only look share the lock.
    sites: RwLock<HashMap<String, Arc<Site>>>,
    is_stopped: AtomicBool,
    unasked: AtomicU64,
}

/// The URLs that no worker has taken yet.
struct Queue<U> {
    /// `None` after their end.
    urls: Option<U>,
    /// Why they ended early.
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

/// Takes records until there are no more.
fn take(handover: &Handover<Record>, see: &mut impl FnMut(Event) -> io::Result<()>) -> io::Result<()> {
    while let Some(records) = handover.take(TICK) {
        records.into_iter().try_for_each(|record| see(Event::Record(Box::new(record))))?;
        see(Event::Tick)?;
    }
    Ok(())
}

/// What is known about one host.
#[derive(Debug)]
struct Site {
    pace: Pace,
    /// The rules of each scheme and port.
    rules: RwLock<HashMap<String, Result<Arc<AgentRules>, String>>>,
    /// Records of URLs for which the server did not answer.
    held: Mutex<Vec<Record>>,
    /// Whether there have been any.
    has_held: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Prober {
    /// One that resolves names as the system does.
    pub(crate) fn new(options: Options) -> Result<Self, SettingsError> {
        Ok(Self::with_client(Client::new(&options.settings)?, options))
    }

    pub(super) fn with_client(client: Client, options: Options) -> Self {
        let agent = String::from_utf8_lossy(product_token(options.settings.user_agent.as_bytes())).into_owned();
        let (sites, unasked) = (RwLock::default(), AtomicU64::new(0));
        Self { client, options, agent, sites, is_stopped: AtomicBool::new(false), unasked }
    }

    /// Asks about every URL. Events come on this thread; an error of `see` or of `urls` ends the work.
    pub(crate) fn run(
        &self,
        urls: impl Iterator<Item = io::Result<String>> + Send,
        mut see: impl FnMut(Event) -> io::Result<()>,
    ) -> io::Result<Summary> {
        let workers = (self.options.limits.concurrency.max(1) * self.options.hosts.len().max(1)).min(MOST_WORKERS);
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
            let taken = take(&handover, &mut see);
            if taken.is_err() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
            // Workers that want to hand over a record end now.
            handover.close();
            taken
        });
        if let (Ok(()), Some(error)) = (&outcome, lock(&queue).error.take()) {
            outcome = Err(error);
        }
        let summary = self.finish(&mut |record| see(Event::Record(Box::new(record))));
        match (&mut outcome, summary) {
            (Ok(()), summary) => summary,
            (Err(error), _) => Err(std::mem::replace(error, io::Error::other(""))),
        }
    }

    /// Asks about one URL after the other, until there are no more or the work is stopped.
    fn work(&self, queue: &Mutex<Queue<impl Iterator<Item = io::Result<String>>>>, done: &HandoverSender<'_, Record>) {
        while !self.is_stopped() {
            // The lock is not held while the URL is asked about.
            let next = lock(queue).next();
            let Some(text) = next else { return };
            for record in self.ask(&text) {
                if !done.push(record) {
                    return;
                }
            }
        }
    }

    /// Asks about one URL. Returns records that are known now.
    fn ask(&self, text: &str) -> Vec<Record> {
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
                if site.pace.fail(&error.to_string()) {
                    self.unasked.fetch_add(held.drain(..).count() as u64, Ordering::Relaxed);
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
                self.unasked.fetch_add(1, Ordering::Relaxed);
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

    /// The rules of a site, which are fetched by the first request.
    fn rules(&self, site: &Site, url: &Url) -> Option<Arc<AgentRules>> {
        let origin = url.origin().ascii_serialization();
        let known = site.rules.read().unwrap_or_else(PoisonError::into_inner).get(&origin).cloned();
        if let Some(Ok(rules)) = known {
            return Some(rules);
        }
        // Others wait here until the rules are known.
        let mut known = site.rules.write().unwrap_or_else(PoisonError::into_inner);
        let rules = known.entry(origin).or_insert_with(|| {
            let fetched = super::rules::fetch(&self.client, &self.options.hosts, &site.pace, url, &self.agent);
            if let Some(delay) = fetched.as_ref().ok().and_then(AgentRules::crawl_delay) {
                site.pace.delay(delay);
            }
            fetched.map(Arc::new)
        });
        match rules {
            Ok(rules) => Some(Arc::clone(rules)),
            Err(why) => {
                site.pace.stop(why.clone());
                None
            }
        }
    }

    /// Hands over what was held back for hosts that answer, and says how the others ended.
    fn finish(&self, see: &mut impl FnMut(Record) -> io::Result<()>) -> io::Result<Summary> {
        let mut summary = Summary::default();
        for (host, site) in self.sites.read().unwrap_or_else(PoisonError::into_inner).iter() {
            let held = std::mem::take(&mut *lock(&site.held));
            if let Some(why) = site.pace.stopped() {
                self.unasked.fetch_add(held.len() as u64, Ordering::Relaxed);
                summary.stopped.push((host.clone(), why));
            } else {
                held.into_iter().try_for_each(&mut *see)?;
            }
        }
        summary.stopped.sort();
        summary.unasked = self.unasked.load(Ordering::Relaxed);
        Ok(summary)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

impl Transport for Prober {
    fn send(&self, method: &Method, url: &Url, read: &mut dyn FnMut(Answer)) -> Result<(), Stop> {
        let site = self.site(url);
        let is_stopped = || self.is_stopped();
        let polite = Polite { client: &self.client, pace: &site.pace, is_stopped: &is_stopped };
        polite.send((method, url), &HeaderMap::new(), read)
    }

    fn blocked(&self, url: &Url) -> Result<Option<u32>, Stop> {
        if self.options.ignore_robots {
            return Ok(None);
        }
        let site = self.site(url);
        let Some(rules) = self.rules(&site, url) else { return Err(Stop::Unasked) };
        Ok(match rules.verdict(url.as_str()) {
            Access::Allowed => None,
            Access::Blocked { line } => Some(line),
        })
    }
}

/// Why a site may not be asked, where its address is not public: `127.0.0.1 is a loopback address; nothing was sent`.
pub(crate) fn refusal<'u>(sites: impl Iterator<Item = &'u Url>) -> Option<String> {
    let mut refused = sites.filter_map(|url| Some((url.host_str()?, refused_address(url)?)));
    refused.next().map(|(host, (address, what))| {
        let named = if host.contains(&address.to_string()) { String::new() } else { format!(" ({address})") };
        format!("{host} is {what}{named}; nothing was sent")
    })
}

/// Why a URL may not be requested, as far as its host says it: an address that is not public. Only the name is looked
/// up; nothing is sent to the host.
fn refused_address(url: &Url) -> Option<(IpAddr, &'static str)> {
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let mut found = format!("{host}:{port}").to_socket_addrs().ok()?.map(|address| address.ip()).peekable();
    found.peek()?;
    let specials: Vec<_> = found.map(|ip| special(ip).map(|what| (ip, what))).collect();
    // With a public address among them there is a site to ask.
    if specials.contains(&None) { None } else { specials.into_iter().flatten().next() }
}

#[cfg(test)]
mod tests;
