//! `sited probe`: asks the site about each URL of a set and writes the answers down, one line of JSON each.

use super::damage::Damage;
use super::destination::Destination;
use super::list::passing;
use super::probe_options::Probe;
use super::signals::Signals;
use super::walk::{InputSet, held};
use super::{Failure, Status, Streams, filter, say};
use crate::document::query::Query;
use crate::files::{self, is_stream};
use crate::net::hosts::Hosts;
use crate::net::probe::{Event, Options, Prober, Summary};
use crate::net::record::past;
use crate::net::results::{Results, ResultsError, Seen};
use crate::net::tally::Tally;
use crate::net::targets::Targets;
use crate::protocol::Field;
use crate::words::counted;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the progress line is drawn.
const REDRAWN: Duration = Duration::from_millis(100);

pub(super) fn run(probe: &Probe, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let to_stream = is_stream(&probe.output);
    if to_stream && probe.resume {
        let hint = "write the answers to a file that can be continued: -o site.jsonl".to_owned();
        return Err(Failure::Usage("standard output cannot be continued".to_owned(), hint));
    }
    let (earlier, seen) = probe.earlier()?;
    let known = seen.len() as u64;
    let mut targets = Targets::new(seen).map_err(spool_error)?;
    probe.collect(&mut targets, streams)?;
    let hosts = targets.hosts(probe.common.base_url.as_deref(), &probe.site.allow_host);
    probe.site.refuse_private(targets.sites(), &hosts)?;
    let prober = Prober::new(probe.options(hosts.clone())?).map_err(|error| probe.site.refused(&error))?;
    say_left_out(&targets, &hosts, streams);
    let urls = targets.urls(&hosts, probe.sample).map_err(spool_error)?;
    let mut tally = Tally::new(urls.expected());
    if urls.expected() == 0 {
        let known = if known > 0 { format!("; {} are known", counted(known, "URL")) } else { String::new() };
        streams.note(&format!("no URL to ask{known}"));
    }
    if !to_stream {
        Destination::file(&probe.output, probe.common.mkdir).make()?;
    }
    let mut results = match earlier {
        _ if to_stream => None,
        Some(results) => Some(results),
        None => Some(Results::create(&probe.output).map_err(|error| written(&probe.output, error))?),
    };
    let signals = Signals::new(false);
    let mut drawn: Option<Instant> = None;
    let summary = prober.run(urls, |event| {
        if let Event::Record(record) = event {
            tally.count(&record);
            match &mut results {
                Some(results) => results.append(&record.line())?,
                None => streams.out.write_all(record.line().as_bytes()).and_then(|()| streams.out.flush())?,
            }
        }
        if streams.meter && drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAWN) {
            drawn = Some(Instant::now());
            let _ = write!(streams.notes, "\r\x1b[2K{}", tally.progress()).and_then(|()| streams.notes.flush());
        }
        // What was answered is written, and nothing more is asked.
        if signals.is_stopped.load(Ordering::Relaxed) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    if drawn.is_some() {
        let _ = write!(streams.notes, "\r\x1b[2K").and_then(|()| streams.notes.flush());
    }
    let was_stopped = signals.is_stopped.load(Ordering::Relaxed) && summary.is_err();
    let summary = match summary {
        Err(_) if was_stopped => Summary::default(),
        summary => summary.map_err(|error| if to_stream { error.into() } else { written(&probe.output, error) })?,
    };
    if tally.asked() > 0 {
        streams.note(&tally.words());
    }
    if was_stopped {
        say("stopped by a signal", "what was answered is kept; --resume asks the other URLs", streams.notes);
        return Ok(Status::Files);
    }
    Ok(say_stopped(&summary, streams))
}

impl Probe {
    /// The results that are continued, with the URLs that they have.
    fn earlier(&self) -> Result<(Option<Results>, Seen), Failure> {
        let (path, mut seen) = (&self.output, Seen::default());
        let has_lines = !is_stream(path) && path.metadata().is_ok_and(|file| file.len() > 0);
        if has_lines && !self.resume {
            let hint = "continue it with --resume, or name another file".to_owned();
            return Err(Failure::Usage(format!("{} has results already", path.display()), hint));
        }
        if !has_lines {
            return Ok((None, seen));
        }
        let since = self.max_age.map_or_else(String::new, past);
        let results = Results::resume(path, &since, &mut seen).map_err(|error| match error {
            ResultsError::File(error) => written(path, error),
            ResultsError::Line(_) => {
                let hint = "name the file that an earlier sited probe wrote".to_owned();
                Failure::Place(format!("{}: {error}", path.display()), hint)
            }
        })?;
        Ok((Some(results), seen))
    }

    /// Reads the URLs of all sets.
    fn collect(&self, targets: &mut Targets, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let now = self.common.now()?;
        let query = filter(self.filter.as_deref(), &self.common)?;
        for path in &self.paths {
            let paths = std::slice::from_ref(path);
            let mut set = if query.as_ref().is_some_and(Query::compares_rows) {
                InputSet::open(&self.common, (paths, held()), now, streams)?
            } else {
                InputSet::open_once(&self.common, (paths, held()), now, streams)?
            };
            set.each(streams, |session, id, _| {
                let facts = session.view().facts_by_row();
                let rows = session.document().sitemap(id).map(|sitemap| sitemap.rows.iter());
                let rows = rows.into_iter().flatten();
                for row in passing(session, rows, query.as_ref().map(|query| (query, &facts))) {
                    if let Some(loc) = session.document().value(row, Field::Loc) {
                        targets.add(loc.trim()).map_err(spool_error)?;
                    }
                }
                Ok(())
            })?;
            Damage::of(set.session()).say(streams);
        }
        Ok(())
    }

    fn options(&self, hosts: Hosts) -> Result<Options, Failure> {
        Ok(Options {
            settings: self.site.settings(self.timeout)?,
            hosts,
            limits: self.site.limits(),
            ignore_robots: self.ignore_robots,
            head_only: self.head,
        })
    }
}

fn written(path: &Path, error: io::Error) -> Failure {
    files::Error::system("write", path, error).into()
}

fn spool_error(error: io::Error) -> Failure {
    files::Error::system("write a temporary file in", &std::env::temp_dir(), error).into()
}

/// Names the hosts of the set that are not asked.
fn say_left_out(targets: &Targets, hosts: &Hosts, streams: &mut Streams<'_>) {
    const SHOWN: usize = 5;
    let others: Vec<_> = targets.others(hosts).collect();
    let urls: u64 = others.iter().map(|(_, count)| count).sum();
    if urls > 0 {
        let mut names: Vec<_> = others.iter().take(SHOWN).map(|(host, count)| format!("{host} ({count})")).collect();
        if others.len() > SHOWN {
            names.push(format!("{} more", others.len() - SHOWN));
        }
        let verb = if urls == 1 { "is" } else { "are" };
        let (urls, names) = (counted(urls, "URL"), names.join(", "));
        streams.note(&format!("{urls} of other hosts {verb} not asked: {names}; --allow-host HOST allows it"));
    }
}

/// Says which hosts were left alone.
fn say_stopped(summary: &Summary, streams: &mut Streams<'_>) -> Status {
    let unasked = match summary.unasked {
        1 => "1 URL was not asked".to_owned(),
        count => format!("{} were not asked", counted(count, "URL")),
    };
    for (host, why) in &summary.stopped {
        say(&format!("{host} was left alone: {why}"), &format!("{unasked}; --resume asks them later"), streams.notes);
    }
    if summary.stopped.is_empty() { Status::Fine } else { Status::Files }
}
