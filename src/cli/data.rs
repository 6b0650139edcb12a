//! `--data`: tables of other programs, joined by URL.

use super::Failure;
use super::options::Common;
use crate::data::{DataSet, DataSetBuilder, ReadOptions};
use crate::document::query::Vocabulary;
use crate::files;
use crate::session::state::vocabulary;
use std::sync::Arc;

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
            let text = files::read_text(path)?;
            builder.add(&text, &options).map_err(|error| {
                let hint = "--data takes CSV or TSV with a line of names, JSON Lines or a log in the combined format; \
                            --data-key NAME names the column of URLs, --base-url the site of a log";
                Failure::Usage(format!("{}: {error}", path.display()), hint.to_owned())
            })?;
        }
        Ok(Some(self.data_set.get_or_init(|| Arc::new(builder.finish()))))
    }

    /// What queries and values can name.
    pub(super) fn vocabulary(&self) -> Result<Vocabulary<'_>, Failure> {
        Ok(Vocabulary { data: self.data_set()?, ..vocabulary(self.now()?) })
    }
}
