//! Selects the duplicate rows that `dedupe` and `merge` remove.

use crate::document::rows::{RowId, RowSet};
use crate::protocol::{Field, lastmod};
use crate::session::Session;
use clap::ValueEnum;

/// Which row of a duplicate URL is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeepRow {
    /// The first
    First,
    /// The last
    Last,
    /// The row with the latest lastmod; the first of equal ones
    Newest,
}

/// The date of a row, in seconds since 1970.
pub(super) fn date_of(session: &Session, row: RowId) -> Option<i64> {
    let lastmod = session.document().value(row, Field::Lastmod)?;
    lastmod::validate(&lastmod).instant.map(|instant| instant.seconds)
}

/// The rows of duplicate URLs, except the one of each URL that is kept. `date` returns the date of a row.
pub(super) fn duplicate_rows(
    session: &Session,
    keep: KeepRow,
    equivalent: bool,
    date: &dyn Fn(RowId) -> Option<i64>,
) -> RowSet {
    let document = session.document();
    let set = session.view().checks.set();
    let mut seen = RowSet::new();
    let mut groups: Vec<Vec<RowId>> = Vec::new();
    for row in set.duplicates().rows_of_groups() {
        if !seen.insert(row) {
            continue;
        }
        let mut alike: Vec<RowId> = set.duplicates().members(row).into_iter().map(RowId).collect();
        if !equivalent {
            let loc = document.loc(RowId(row));
            alike.retain(|other| document.loc(*other) == loc);
        }
        seen.extend(alike.iter().map(|row| row.0));
        groups.push(alike);
    }
    let mut out = RowSet::new();
    for rows in groups.iter().filter(|rows| rows.len() > 1) {
        let stays = match keep {
            KeepRow::First => rows.first(),
            KeepRow::Last => rows.last(),
            // `max_by_key` returns the last of equal rows; reversed, this is the first one in the file.
            KeepRow::Newest => rows.iter().rev().max_by_key(|row| date(**row)),
        };
        out.extend(rows.iter().filter(|row| Some(*row) != stays).map(|row| row.0));
    }
    out
}
