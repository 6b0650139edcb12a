//! `sited dates`: writes when the source of each page was changed, as a table for `--data`.

use super::damage::Damage;
use super::dates_options::Dates;
use super::destination::Destination;
use super::list::passing;
use super::output::json;
use super::walk::InputSet;
use super::{Failure, Status, Streams, filter};
use crate::document::query::Query;
use crate::files::dates::{Dated, Dates as Sources, DatesError, MapError, SourceMap};
use crate::files::{self, AtomicFile, is_stream};
use crate::protocol::Field;
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

/// How each line begins that this command writes.
const FIRST_BYTES: &[u8] = b"{\"url\":";

/// Writes the dates; a set of more than `held` bytes is read file by file.
pub(super) fn run(dates: &Dates, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let map = SourceMap::parse(&dates.map)
        .map_err(|error| Failure::Usage(format!("--map {error}"), MapError::EXAMPLE.to_owned()))?;
    let output = dates.output.as_deref().filter(|path| !is_stream(path));
    if let Some(path) = output {
        refuse_other_file(path)?;
    }
    let source = dates.source();
    let sources = streams.watched(|progress| Sources::open(&source, map, progress)).map_err(|error| match error {
        DatesError::File(error) => Failure::File(error),
        error => Failure::Place(error.to_string(), error.hint()),
    })?;
    let file = output.map(|path| {
        Destination::file(path, dates.common.mkdir).make()?;
        Ok::<_, Failure>((path.to_path_buf(), AtomicFile::create(path)?))
    });
    let mut found =
        Found { sources, file: file.transpose()?, seen: HashSet::new(), dated: 0, missing: Missing::new(dates.all) };
    found.collect(dates, held, streams)?;
    let total = found.seen.len() as u64;
    if total > 0 && found.dated == 0 {
        let message = format!("none of {} has a source in {}", counted(total, "URL"), source.folder().display());
        let hint = "name the folder of the sources, or say where they are: --map '/blog/* = content/blog/*.md'";
        return Err(Failure::Place(message, hint.to_owned()));
    }
    if let Some((_, file)) = found.file.take() {
        file.commit()?;
    }
    streams.note(&format!("{} of {} dated", grouped(found.dated), counted(total, "URL")));
    found.missing.say(streams);
    Ok(Status::Fine)
}

/// Refuses to replace a file that this command has not written: a sitemap, for example, that was named by mistake.
fn refuse_other_file(path: &Path) -> Result<(), Failure> {
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

/// What was found so far.
struct Found {
    sources: Sources,
    /// `None`: standard output.
    file: Option<(PathBuf, AtomicFile)>,
    /// Hashes of the URLs.
    seen: HashSet<u64>,
    dated: u64,
    missing: Missing,
}

impl Found {
    /// Looks at the URLs of all sets, at each once.
    fn collect(&mut self, dates: &Dates, held: u64, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let now = dates.common.now()?;
        let query = filter(dates.filter.as_deref(), &dates.common)?;
        for path in &dates.paths {
            let paths = std::slice::from_ref(path);
            let mut set = if query.as_ref().is_some_and(Query::compares_rows) {
                InputSet::open(&dates.common, (paths, held), now, streams)?
            } else {
                InputSet::open_once(&dates.common, (paths, held), now, streams)?
            };
            set.each(streams, |session, id, out| {
                let facts = session.view().facts_by_row();
                let rows = session.document().sitemap(id).map(|sitemap| sitemap.rows.iter());
                let rows = rows.into_iter().flatten();
                for row in passing(session, rows, query.as_ref().map(|query| (query, &facts))) {
                    if let Some(loc) = session.document().value(row, Field::Loc) {
                        self.add(loc.trim(), out)?;
                    }
                }
                Ok(())
            })?;
            Damage::of(set.session()).say(streams);
        }
        Ok(())
    }

    fn add(&mut self, url: &str, out: &mut dyn Write) -> Result<(), Failure> {
        if url.is_empty() || !self.seen.insert(location::key_hash(url)) {
            return Ok(());
        }
        let Some(Dated { modified, source }) = self.sources.find(url) else {
            self.missing.add(url);
            return Ok(());
        };
        self.dated += 1;
        let line = Line { url, modified: &modified, source: &source };
        match &mut self.file {
            None => write_line(&line, out)?,
            Some((path, file)) => {
                write_line(&line, file).map_err(|error| files::Error::system("write", path, error))?;
            }
        }
        Ok(())
    }
}

fn write_line(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    json(out, line)?;
    writeln!(out)
}

/// URLs without a source: all of them, or the first ones and how many more.
struct Missing {
    most: usize,
    first: Vec<String>,
    more: u64,
}

impl Missing {
    const fn new(all: bool) -> Self {
        Self { most: if all { usize::MAX } else { 5 }, first: Vec::new(), more: 0 }
    }

    fn add(&mut self, url: &str) {
        if self.first.len() < self.most {
            self.first.push(excerpt(url, 200));
        } else {
            self.more += 1;
        }
    }

    fn say(self, streams: &mut Streams<'_>) {
        streams.note_all(self.first.iter().map(|url| format!("no source: {url}")));
        if self.more > 0 {
            streams.note(&format!("no source: {}; --all names them", counted(self.more, "more URL")));
        }
    }
}
