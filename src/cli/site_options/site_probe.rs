//! Sends the requests of a command and draws its progress.

use super::super::signals::Signals;
use super::super::{Failure, Status, Streams, print_error};
use super::{SiteOptions, seconds};
use crate::files;
use crate::net::hosts::Hosts;
use crate::net::probe::{Event, Options, Prober, Summary};
use crate::net::tally::Tally;
use crate::net::targets::{Targets, Urls};
use crate::words::counted;
use clap::Args;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the progress line is drawn.
const REDRAWN: Duration = Duration::from_millis(100);

/// How each URL is requested.
#[derive(Debug, Clone, Args)]
pub struct ProbeOptions {
    /// Maximum time for one request, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30")]
    pub timeout: Duration,
    /// Request only N URLs, spread evenly over the sections of the site
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,
    /// Ignore robots.txt; for your own site
    #[arg(long)]
    pub ignore_robots: bool,
    /// How requests are sent to the site
    #[command(flatten)]
    pub site: SiteOptions,
}

impl ProbeOptions {
    /// The first option that is not the default.
    pub(in crate::cli) fn first_option(&self) -> Option<&'static str> {
        let options = [
            (self.timeout != Duration::from_secs(30), "--timeout"),
            (self.sample.is_some(), "--sample"),
            (self.ignore_robots, "--ignore-robots"),
        ];
        let first = options.into_iter().find(|(given, _)| *given).map(|(_, name)| name);
        first.or_else(|| self.site.first_option())
    }
}

/// The requests to a site, before they are sent.
pub(in crate::cli) struct SiteProbe {
    prober: Prober,
    urls: Urls,
}

/// The result of all requests.
pub(in crate::cli) struct ProbeEnd {
    pub(in crate::cli) tally: Tally,
    summary: Summary,
    was_stopped: bool,
}

impl SiteProbe {
    /// Prepares the requests: refuses addresses that are not public, and notes the hosts that are excluded.
    pub(in crate::cli) fn prepare(
        options: &ProbeOptions,
        head_only: bool,
        (targets, base_url): (Targets, Option<&str>),
        streams: &mut Streams<'_>,
    ) -> Result<Self, Failure> {
        let site = &options.site;
        let own = targets.site_url(base_url);
        let hosts = Hosts::of(own.as_ref(), &site.allow_host);
        site.refuse_private(targets.sites(), &hosts)?;
        let settings = site.settings(options.timeout, own.as_ref())?;
        let (limits, ignore_robots) = (site.limits(), options.ignore_robots);
        let prober = Prober::new(Options { settings, hosts: hosts.clone(), limits, ignore_robots, head_only });
        let prober = prober.map_err(|error| site.settings_failure(&error))?;
        note_excluded_hosts(&targets, &hosts, streams);
        Ok(Self { prober, urls: targets.urls(&hosts, options.sample).map_err(spool_error)? })
    }

    /// The number of URLs that will be requested.
    pub(in crate::cli) const fn expected(&self) -> u64 {
        self.urls.expected()
    }

    /// Requests every URL. An error of `handle` ends the run; so does a signal, after which `handle` has all results so
    /// far.
    pub(in crate::cli) fn run(
        self,
        streams: &mut Streams<'_>,
        mut handle: impl FnMut(&Event, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<ProbeEnd> {
        let mut tally = Tally::new(self.urls.expected());
        let signals = Signals::new(false);
        let mut drawn: Option<Instant> = None;
        let summary = self.prober.run(self.urls, |event| {
            if let Event::Record(record) = &event {
                tally.count(record);
            }
            handle(&event, &mut *streams.out)?;
            if streams.meter && drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAWN) {
                drawn = Some(Instant::now());
                let _ = write!(streams.notes, "\r\x1b[2K{}", tally.progress()).and_then(|()| streams.notes.flush());
            }
            // After a signal, the results so far are written and no more requests are sent.
            let is_stopped = matches!(event, Event::Tick) && signals.is_stopped.load(Ordering::Relaxed);
            if is_stopped { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        if drawn.is_some() {
            let _ = write!(streams.notes, "\r\x1b[2K").and_then(|()| streams.notes.flush());
        }
        let written = handle(&Event::Tick, &mut *streams.out);
        let was_stopped = signals.is_stopped.load(Ordering::Relaxed) && summary.is_err();
        let summary = if was_stopped { Summary::default() } else { summary? };
        written?;
        if tally.done() > 0 {
            streams.note(&tally.words());
        }
        Ok(ProbeEnd { tally, summary, was_stopped })
    }
}

impl ProbeEnd {
    /// Reports why some URLs were not requested, and how to request them.
    pub(in crate::cli) fn report_skipped(&self, kept: &str, rest: &str, streams: &mut Streams<'_>) -> Status {
        if self.was_stopped {
            print_error("stopped by a signal", &format!("{kept}; {rest} the other URLs"), streams.notes);
            return Status::Files;
        }
        let skipped = match self.summary.skipped {
            1 => "1 URL was not requested".to_owned(),
            count => format!("{} were not requested", counted(count, "URL")),
        };
        for (host, why) in &self.summary.stopped {
            print_error(&format!("{host} was skipped: {why}"), &format!("{skipped}; {rest} them later"), streams.notes);
        }
        if self.summary.stopped.is_empty() { Status::Fine } else { Status::Files }
    }
}

/// The error of the temporary file of URLs.
pub(in crate::cli) fn spool_error(error: io::Error) -> Failure {
    files::Error::system("write a temporary file in", &std::env::temp_dir(), error).into()
}

/// Notes the hosts of the set that are not requested.
fn note_excluded_hosts(targets: &Targets, hosts: &Hosts, streams: &mut Streams<'_>) {
    const SHOWN: usize = 5;
    let others: Vec<_> = targets.excluded_hosts(hosts).collect();
    let urls: u64 = others.iter().map(|(_, count)| count).sum();
    if urls > 0 {
        let mut names: Vec<_> = others.iter().take(SHOWN).map(|(host, count)| format!("{host} ({count})")).collect();
        if others.len() > SHOWN {
            names.push(format!("{} more", others.len() - SHOWN));
        }
        let verb = if urls == 1 { "is" } else { "are" };
        let (urls, names) = (counted(urls, "URL"), names.join(", "));
        streams.note(&format!("{urls} of other hosts {verb} not requested: {names}; --allow-host HOST allows it"));
    }
}
