//! `sited probe`: requests each URL of a set and writes the results as JSON Lines.

use super::destination::Destination;
use super::probe_options::Probe;
use super::selection::Selection;
use super::set_reader::memory_limit;
use super::site_options::site_probe::{SiteProbe, spool_error};
use super::{Failure, Status, Streams};
use crate::files::{self, is_stream};
use crate::net::probe::Event;
use crate::net::record::timestamp_before;
use crate::net::results::{Results, ResultsError, SeenUrls};
use crate::net::targets::Targets;
use crate::words::counted;
use std::io;
use std::path::Path;

pub(super) fn run(probe: &Probe, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let to_stream = is_stream(&probe.output);
    if to_stream && probe.resume {
        let hint = "write the results to a file: -o site.jsonl".to_owned();
        return Err(Failure::Usage("--resume needs a file, not standard output".to_owned(), hint));
    }
    let (earlier, seen) = probe.earlier()?;
    let known = seen.len() as u64;
    let mut targets = Targets::new(seen).map_err(spool_error)?;
    let selection = Selection { paths: &probe.paths, filter: probe.filter.as_deref(), common: &probe.common };
    selection.each_loc(memory_limit(), streams, |loc, _| targets.add(loc).map_err(spool_error))?;
    let base_url = probe.common.limits()?.with_recorded_base(&probe.paths).base_url;
    let site = SiteProbe::prepare(&probe.probing, probe.head, (targets, base_url.as_deref()), streams)?;
    if site.expected() == 0 {
        let known =
            if known > 0 { format!("; the file has {} already", counted(known, "result")) } else { String::new() };
        streams.note(&format!("no URL to request{known}"));
    }
    if !to_stream {
        Destination::file(&probe.output, probe.common.mkdir).create_folder()?;
    }
    let mut results = match earlier {
        _ if to_stream => None,
        Some(results) => Some(results),
        None => Some(Results::create(&probe.output).map_err(|error| write_error(&probe.output, error))?),
    };
    let ended = site.run(streams, |event, out| match (event, &mut results) {
        (Event::Record(record), Some(results)) => results.append(&record.line()),
        (Event::Record(record), None) => out.write_all(record.line().as_bytes()),
        (Event::Tick, Some(results)) => results.flush(),
        (Event::Tick, None) => out.flush(),
    });
    let ended = ended.map_err(|error| if to_stream { error.into() } else { write_error(&probe.output, error) })?;
    Ok(ended.report_skipped("the results so far are kept", "--resume requests", streams))
}

impl Probe {
    /// The results of an earlier run to continue, and their URLs.
    fn earlier(&self) -> Result<(Option<Results>, SeenUrls), Failure> {
        let (path, mut seen) = (&self.output, SeenUrls::default());
        let has_lines = !is_stream(path) && path.metadata().is_ok_and(|file| file.len() > 0);
        if has_lines && !self.resume {
            let hint = "continue it with --resume, or name another file".to_owned();
            return Err(Failure::Usage(format!("{} has results already", path.display()), hint));
        }
        if !has_lines {
            return Ok((None, seen));
        }
        let since = self.max_age.map_or_else(String::new, timestamp_before);
        let results = Results::resume(path, &since, &mut seen).map_err(|error| match error {
            ResultsError::File(error) => write_error(path, error),
            ResultsError::Line(_) => {
                let hint = "name the file that an earlier sited probe wrote".to_owned();
                Failure::Unusable(format!("{}: {error}", path.display()), hint)
            }
        })?;
        Ok((Some(results), seen))
    }
}

fn write_error(path: &Path, error: io::Error) -> Failure {
    files::Error::system("write", path, error).into()
}
