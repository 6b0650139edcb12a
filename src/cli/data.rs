//! Site data of a command: tables of other programs, joined by URL (`--data`), and robots.txt.

use super::Failure;
use super::options::Common;
use crate::check::robots::RobotsTxt;
use crate::data::{DataSet, DataSetBuilder, ReadOptions};
use crate::document::query::Vocabulary;
use crate::files::{self, RobotsFile};
use crate::session::robots::robots_txt;
use crate::session::state::vocabulary;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a table of `--data` comes from.
const WRITTEN_BY: &str =
    "check the name; sited probe PATH -o site.jsonl writes one, and --data takes tables of other programs";

impl Common {
    /// The tables of `--data`, read once; `None` where there are none.
    pub(super) fn data_set(&self) -> Result<Option<&Arc<DataSet>>, Failure> {
        if self.data.is_empty() {
            return Ok(None);
        }
        if let Some(read) = self.data_set.get() {
            return Ok(Some(read));
        }
        let options = ReadOptions { key: self.data_key.as_deref(), origin: self.base_url.as_deref() };
        let mut builder = DataSetBuilder::new();
        for path in &self.data {
            let text = files::read_table(path).map_err(|error| match path.try_exists() {
                Ok(false) => Failure::Place(error.to_string(), WRITTEN_BY.to_owned()),
                _ => error.into(),
            })?;
            builder.add(&text, &options).map_err(|error| {
                let hint = "--data takes CSV or TSV with a line of names, JSON Lines or a log in the combined format; \
                            --data-key NAME names the column of URLs, --base-url the site of a log";
                Failure::Usage(format!("{}: {error}", path.display()), hint.to_owned())
            })?;
        }
        Ok(Some(self.data_set.get_or_init(|| Arc::new(builder.finish()))))
    }

    /// The robots.txt of `--robots`, else the one in the folder of the set; `None` where there is none.
    pub(super) fn robots_txt(&self, paths: &[PathBuf]) -> Result<Option<Arc<RobotsTxt>>, Failure> {
        Ok(robots_txt(&self.limits()?, paths)?)
    }

    /// Which file that is.
    pub(super) fn robots_file(&self) -> RobotsFile {
        match &self.robots {
            Some(path) => RobotsFile::At(path.clone()),
            None if self.no_robots => RobotsFile::Ignored,
            None => RobotsFile::Beside,
        }
    }

    /// What queries and values can name.
    pub(super) fn vocabulary(&self) -> Result<Vocabulary<'_>, Failure> {
        Ok(Vocabulary { data: self.data_set()?, ..vocabulary(self.now()?) })
    }
}
