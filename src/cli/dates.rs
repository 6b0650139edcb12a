//! `sited dates`: writes the modification date of the source of each page, as a table for `--data`.

#[cfg(feature = "net")]
mod http;

use super::dates_options::Dates;
use super::destination::Destination;
use super::json_text::json;
use super::selection::Selection;
use super::{Failure, Status, Streams};
use crate::files::dates::{DatedSource, Dates as Sources, DatesError, MapError, SourceMap};
use crate::files::{self, AtomicFile, is_stream};
use crate::protocol::location;
use crate::words::{counted, excerpt, grouped};
use hashbrown::HashSet;
use serde::Serialize;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A line of the output.
#[derive(Serialize)]
struct Line<'l> {
    url: &'l str,
    modified: &'l str,
    source: &'l str,
}

/// The first bytes of a file that this command has written.
const FIRST_BYTES: &[u8] = b"{\"url\":";

/// Writes the dates. A set of more than `memory_limit` bytes is read file by file.
pub(super) fn run(dates: &Dates, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if dates.http {
        return over_http(dates, memory_limit, streams);
    }
    if let Some(option) = dates.http_option() {
        let hint = "add --http to request the dates of the pages from the site".to_owned();
        return Err(Failure::Usage(format!("{option} needs --http"), hint));
    }
    let map = SourceMap::parse(&dates.map)
        .map_err(|error| Failure::Usage(format!("--map {error}"), MapError::EXAMPLE.to_owned()))?;
    refuse_other_output(dates)?;
    let source = dates.source();
    let sources = streams.watched(|progress| Sources::open(&source, map, progress)).map_err(|error| match error {
        DatesError::File(error) => Failure::File(error),
        error => Failure::Unusable(error.to_string(), error.hint()),
    });
    let (mut sources, mut seen) = (sources?, HashSet::new());
    let mut table = DatesTable::create(dates, "source")?;
    selection(dates).each_loc(memory_limit, streams, |loc, out| {
        if loc.is_empty() || !seen.insert(location::key_hash(loc)) {
            return Ok(());
        }
        let found = sources.find(loc);
        let line = found.as_ref().map(|DatedSource { modified, source }| Line { url: loc, modified, source });
        table.add(loc, line.as_ref(), out)
    })?;
    let total = seen.len() as u64;
    if total > 0 && table.dated() == 0 {
        let message = format!("none of {} has a source in {}", counted(total, "URL"), source.folder().display());
        let hint = "name the folder of the sources, or say where they are: --map '/blog/* = content/blog/*.md'";
        return Err(Failure::Unusable(message, hint.to_owned()));
    }
    table.finish(total, streams)?;
    Ok(Status::Fine)
}

#[cfg(feature = "net")]
fn over_http(dates: &Dates, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    http::run(dates, memory_limit, streams)
}

#[cfg(not(feature = "net"))]
fn over_http(_: &Dates, _: u64, _: &mut Streams<'_>) -> Result<Status, Failure> {
    let message = "this build of sited cannot send requests (feature net is disabled)".to_owned();
    Err(Failure::Usage(message, "take the dates of the sources: --git DIR or --mtime DIR".to_owned()))
}

/// The rows whose URLs get dates.
fn selection(dates: &Dates) -> Selection<'_> {
    Selection { paths: &dates.paths, filter: dates.filter.as_deref(), common: &dates.common }
}

/// The file to write; `None` is standard output.
fn output(dates: &Dates) -> Option<&Path> {
    dates.output.as_deref().filter(|path| !is_stream(path))
}

/// Refuses to replace a file that this command has not written, such as a sitemap that was named by mistake.
fn refuse_other_output(dates: &Dates) -> Result<(), Failure> {
    let Some(path) = output(dates) else { return Ok(()) };
    let read = |path: &Path| {
        let mut start = Vec::new();
        let file = std::fs::File::open(path)?;
        file.take(FIRST_BYTES.len() as u64).read_to_end(&mut start).map(|_| start)
    };
    match read(path) {
        Ok(start) if start.is_empty() || start == FIRST_BYTES => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => {
            let message = format!("{}: this file was not written by sited dates; it is not replaced", path.display());
            Err(Failure::Usage(message, "name another file: -o dates.jsonl".to_owned()))
        }
        Err(error) => Err(files::Error::system("read", path, error).into()),
    }
}

/// The table that is written, and the URLs without a date.
struct DatesTable {
    /// `None` is standard output.
    file: Option<(PathBuf, AtomicFile)>,
    dated: u64,
    missing: Missing,
}

impl DatesTable {
    /// Creates the output; `what` names the thing that a URL without a line lacks, for messages.
    fn create(dates: &Dates, what: &'static str) -> Result<Self, Failure> {
        let file = output(dates).map(|path| {
            Destination::file(path, dates.common.mkdir).create_folder()?;
            Ok::<_, Failure>((path.to_path_buf(), AtomicFile::create(path)?))
        });
        Ok(Self { file: file.transpose()?, dated: 0, missing: Missing::new(what, dates.all) })
    }

    /// How many URLs have a date.
    const fn dated(&self) -> u64 {
        self.dated
    }

    /// Adds a URL with its line, if it has one; `out` is standard output.
    fn add(&mut self, url: &str, line: Option<&Line<'_>>, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(line) = line else {
            self.missing.add(url);
            return Ok(());
        };
        self.dated += 1;
        match &mut self.file {
            None => write_line(line, out)?,
            Some((path, file)) => {
                write_line(line, file).map_err(|error| files::Error::system("write", path, error))?;
            }
        }
        Ok(())
    }

    /// Commits the file and notes how many URLs have a date.
    fn finish(self, total: u64, streams: &mut Streams<'_>) -> Result<(), Failure> {
        if let Some((_, file)) = self.file {
            file.commit()?;
        }
        streams.note(&format!("{} of {} dated", grouped(self.dated), counted(total, "URL")));
        self.missing.note(streams);
        Ok(())
    }
}

fn write_line(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    json(out, line)?;
    writeln!(out)
}

/// URLs without a date: the first `most` of them, and the number of the others.
struct Missing {
    /// What they lack, for messages.
    what: &'static str,
    most: usize,
    first: Vec<String>,
    more: u64,
}

impl Missing {
    const fn new(what: &'static str, all: bool) -> Self {
        Self { what, most: if all { usize::MAX } else { 5 }, first: Vec::new(), more: 0 }
    }

    fn add(&mut self, url: &str) {
        if self.first.len() < self.most {
            self.first.push(excerpt(url, 200));
        } else {
            self.more += 1;
        }
    }

    fn note(self, streams: &mut Streams<'_>) {
        let what = self.what;
        streams.note_all(self.first.iter().map(|url| format!("no {what}: {url}")));
        if self.more > 0 {
            streams.note(&format!("no {what}: {}; --all names them", counted(self.more, "more URL")));
        }
    }
}
