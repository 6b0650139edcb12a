//! Iterates over the URLs of all sets of a command that match `--where`.

use super::damage::Damage;
use super::list::matching_rows;
use super::options::Common;
use super::set_reader::{ReadMode, SetRequest};
use super::{Failure, Streams, filter};
use crate::document::query::Query;
use crate::protocol::Field;
use std::io::Write;
use std::path::PathBuf;

/// The rows that a command reads.
pub(super) struct Selection<'s> {
    pub(super) paths: &'s [PathBuf],
    /// The query of `--where`.
    pub(super) filter: Option<&'s str>,
    pub(super) common: &'s Common,
}

impl Selection<'_> {
    /// Calls `visit` with the URL of each row and the results writer. A set of more than `memory_limit` bytes is
    /// streamed.
    pub(super) fn each_loc(
        &self,
        memory_limit: u64,
        streams: &mut Streams<'_>,
        mut visit: impl FnMut(&str, &mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let now = self.common.now()?;
        let query = filter(self.filter, self.common)?;
        for path in self.paths {
            let paths = std::slice::from_ref(path);
            let compares_rows = query.as_ref().is_some_and(Query::compares_rows);
            let mode = if compares_rows { ReadMode::Repeated } else { ReadMode::SinglePass };
            let mut set = SetRequest { common: self.common, paths, limit: memory_limit, now }.open(mode, streams)?;
            set.each_file(streams, |session, id, out| {
                let facts = session.view().facts_by_row();
                let rows = session.document().sitemap(id).map(|sitemap| sitemap.rows.iter());
                let rows = rows.into_iter().flatten();
                for row in matching_rows(session, rows, query.as_ref().map(|query| (query, &facts))) {
                    if let Some(loc) = session.document().value(row, Field::Loc) {
                        visit(loc.trim(), out)?;
                    }
                }
                Ok(())
            })?;
            Damage::of(set.session()).warn(streams);
        }
        Ok(())
    }
}
