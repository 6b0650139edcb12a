//! Site data of a command: tables of other programs, joined by URL (`--data`), and robots.txt.

use super::args::{Cli, Task};
use super::options::Common;
use super::selection::Selection;
use super::url_paths::is_url;
use super::{Failure, Streams, memory_limit};
use crate::check::robots::RobotsTxt;
use crate::data::{DataSet, DataSetBuilder, ReadOptions, TableError, is_log};
use crate::document::query::Vocabulary;
use crate::files::{self, Options, RobotsFile, is_stream};
use crate::protocol::location;
use crate::session::robots::robots_txt;
use crate::session::state::vocabulary;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The hint for a table of `--data` that does not exist.
const WRITTEN_BY: &str =
    "check the name; sited probe PATH -o site.jsonl writes one, and --data takes tables of other programs";

/// Bytes read to find the first line of a file.
const HEAD: u64 = 1 << 16;

/// Reads a table; if it does not exist, the hint is [`WRITTEN_BY`].
fn read_table(path: &Path) -> Result<String, Failure> {
    files::read_table(path).map_err(|error| match path.try_exists() {
        Ok(false) => Failure::Unusable(error.to_string(), WRITTEN_BY.to_owned()),
        _ => error.into(),
    })
}

/// Finds the origin of the paths in logs, for a command that joins tables.
pub(super) fn find_log_origin(cli: &Cli, streams: &mut Streams<'_>) -> Result<(), Failure> {
    match &cli.task {
        Some(task) => task.joined_sets().map_or(Ok(()), |(common, paths)| common.find_log_origin(&paths, streams)),
        // Errors are reported when the set is opened.
        None => cli.open.common.find_log_origin(&cli.open.paths, streams).or(Ok(())),
    }
}

/// Whether a file is a log in the combined format. A file that cannot be read is reported when it is joined.
fn is_log_file(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut bytes));
    read.is_ok() && is_log(&String::from_utf8_lossy(&bytes))
}

impl Task {
    /// The options of a task that joins tables, and the paths of its sets.
    fn joined_sets(&self) -> Option<(&Common, Vec<PathBuf>)> {
        // Which words are paths is not known yet; those that exist are used.
        let existing_paths =
            |words: &[&OsString]| words.iter().map(PathBuf::from).filter(|path| path.exists()).collect();
        let (common, paths) = match self {
            Self::Check(task) => (&task.common, task.paths.clone()),
            Self::List(task) => (&task.common, task.paths.clone()),
            Self::Stats(task) => (&task.common, task.paths.clone()),
            Self::Set(task) => (&task.edit.save.common, existing_paths(&task.words.iter().collect::<Vec<_>>())),
            Self::Fix(task) => (&task.edit.save.common, task.paths.clone()),
            Self::Remove(task) => (&task.rows.edit.save.common, task.rows.paths.clone()),
            Self::Keep(task) => (&task.rows.edit.save.common, task.rows.paths.clone()),
            Self::Replace(task) => {
                let words: Vec<&OsString> =
                    [&task.path, &task.pattern, &task.replacement].into_iter().chain(&task.more).collect();
                (&task.edit.save.common, existing_paths(&words))
            }
            Self::Sort(task) => {
                let words: Vec<&OsString> = std::iter::once(&task.path).chain(&task.keys).chain(&task.more).collect();
                (&task.edit.save.common, existing_paths(&words))
            }
            _ => return None,
        };
        Some((common, paths))
    }
}

impl Common {
    /// The tables of `--data`, read once; `None` where there are none.
    pub(super) fn data_set(&self) -> Result<Option<&Arc<DataSet>>, Failure> {
        if self.data.is_empty() {
            return Ok(None);
        }
        if let Some(read) = self.data_set.get() {
            return Ok(Some(read));
        }
        let origin = self.base_url.as_ref().or_else(|| self.log_origin.get()).map(String::as_str);
        let options = ReadOptions { key: self.data_key.as_deref(), origin };
        let mut builder = DataSetBuilder::new();
        for path in &self.data {
            let text = read_table(path)?;
            builder.add(&text, &options).map_err(|error| {
                let message = format!("{}: {error}", path.display());
                match error {
                    TableError::NoOrigin => {
                        Failure::Usage(message, "--base-url names the site of a log: https://example.com/".to_owned())
                    }
                    TableError::UnknownKey { .. } => {
                        Failure::Usage(message, "--data-key names the column of URLs, or its number from 1".to_owned())
                    }
                    TableError::Empty | TableError::NoUrlColumn(_) | TableError::Line { .. } | TableError::TooLarge => {
                        let hint = "--data takes CSV or TSV with a line of names, JSON Lines or a log in the combined \
                                    format; --data-key NAME names the column of URLs";
                        Failure::Unusable(message, hint.to_owned())
                    }
                }
            })?;
        }
        Ok(Some(self.data_set.get_or_init(|| Arc::new(builder.finish()))))
    }

    /// [`Common::data_set`] for a set whose base URL may be known.
    pub(super) fn data_set_of(&self, options: &Options) -> Result<Option<&Arc<DataSet>>, Failure> {
        self.set_log_origin(options.base_url.as_deref());
        self.data_set()
    }

    /// Finds the origin of the paths in logs: the most common one in the set, which is read for this. Does nothing if a
    /// base URL is known, no table is a log, or the set can be read only once.
    fn find_log_origin(&self, paths: &[PathBuf], streams: &mut Streams<'_>) -> Result<(), Failure> {
        let is_once = |path: &PathBuf| is_stream(path) || is_url(path);
        if self.data.is_empty() || self.base_url.is_some() || paths.is_empty() || paths.iter().any(is_once) {
            return Ok(());
        }
        if !self.data.iter().any(|path| is_log_file(path)) {
            return Ok(());
        }
        let recorded = self.limits()?.with_recorded_base(paths).base_url;
        let mut rows: BTreeMap<String, u64> = BTreeMap::new();
        if recorded.is_none() {
            let plain = Self { data: Vec::new(), data_key: None, ..self.clone() };
            let selection = Selection { paths, filter: None, common: &plain };
            let mut notes = io::sink();
            let mut silent = Streams::new(&mut *streams.out, &mut notes);
            selection.each_loc(memory_limit(), &mut silent, |loc, _| {
                if let Some((origin, _)) = location::origin(loc) {
                    match rows.get_mut(origin) {
                        Some(count) => *count += 1,
                        None => drop(rows.insert(origin.to_owned(), 1)),
                    }
                }
                Ok(())
            })?;
        }
        let most = rows.into_iter().max_by_key(|(_, count)| *count).map(|(origin, _)| origin);
        self.set_log_origin(recorded.or(most).as_deref());
        Ok(())
    }

    /// Sets the origin of the paths in logs to that of a URL.
    fn set_log_origin(&self, url: Option<&str>) {
        if let Some((origin, _)) = url.and_then(location::origin) {
            let _ = self.log_origin.set(origin.to_owned());
        }
    }

    /// The robots.txt of `--robots`, else the one in the folder of the set, if it exists.
    pub(super) fn robots_txt(&self, paths: &[PathBuf]) -> Result<Option<Arc<RobotsTxt>>, Failure> {
        Ok(robots_txt(&self.limits()?, paths)?)
    }

    /// Which robots.txt is read.
    pub(super) fn robots_file(&self) -> RobotsFile {
        match &self.robots {
            Some(path) => RobotsFile::At(path.clone()),
            None if self.no_robots => RobotsFile::Ignored,
            None => RobotsFile::Beside,
        }
    }

    /// The names that queries and values can use.
    pub(super) fn vocabulary(&self) -> Result<Vocabulary<'_>, Failure> {
        Ok(Vocabulary { data: self.data_set()?, ..vocabulary(self.now()?) })
    }
}
