//! Derives the languages of pages that do not list themselves from the pages that list them.
//!
//! The other versions of a streamed set are not in memory. A walk over all files collects what they say before the
//! fix that needs it.

use crate::check::extension;
use crate::document::rows::RowId;
use crate::protocol::location;
use crate::session::state::Snapshot;
use crate::xml::record::Flags;
use std::collections::HashMap;

/// No one has said which.
pub(in crate::session) const NONE: u32 = 0;
/// Two have said different ones.
pub(in crate::session) const SEVERAL: u32 = u32::MAX;

/// Rows of one URL that are asked about: a page that is there more often is told no language, since each link to it
/// would be heard for each of them.
pub(in crate::session) const ROWS_PER_PAGE: usize = 64;

/// The languages that other pages say rows are in: 16 bytes a row.
#[derive(Debug, Default)]
pub(in crate::session) struct Languages {
    /// The rows that are asked about behind the hashes of their URLs, ascending.
    rows: Vec<(u64, u32)>,
    /// The number of the language of each, from 1.
    said: Vec<u32>,
    codes: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Languages {
    /// Asks about rows, given with the hashes of their URLs.
    pub(in crate::session) fn asking(rows: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let mut rows: Vec<(u64, u32)> = rows.into_iter().collect();
        rows.sort_unstable();
        let said = vec![NONE; rows.len()];
        Self { rows, said, ..Self::default() }
    }

    /// Hears pages. One is believed by the pages that it is a version of: those that list it.
    pub(in crate::session) fn add_pages(&mut self, snapshot: &Snapshot, rows: impl Iterator<Item = RowId>) {
        let (document, set) = (&snapshot.document, snapshot.checks.set());
        let has_links = |row: &RowId| document.record(*row).flags.contains(Flags::ALTERNATE);
        for row in rows.filter(has_links) {
            let own = location::key_hash(&document.loc(row));
            let (entry, text) = document.entry(row);
            for (code, _, link) in extension::versions(&entry, &text, document.names(row)) {
                if is_default(&code) {
                    continue;
                }
                let from = self.rows.partition_point(|(key, _)| *key < link.key);
                let pages = self.rows.iter().enumerate().skip(from).take_while(|(_, (key, _))| *key == link.key);
                let pages = pages.take(ROWS_PER_PAGE);
                let pages: Vec<usize> =
                    pages.filter(|(_, (_, page))| set.lists(*page, own)).map(|(at, _)| at).collect();
                if pages.is_empty() {
                    continue;
                }
                let number = self.number(&code);
                for at in pages {
                    let Some(said) = self.said.get_mut(at) else { continue };
                    *said = if *said == NONE || *said == number { number } else { SEVERAL };
                }
            }
        }
    }

    pub(in crate::session) fn number(&mut self, code: &str) -> u32 {
        if let Some(number) = self.numbers.get(code) {
            return *number;
        }
        self.codes.push(code.into());
        let number = self.codes.len() as u32;
        self.numbers.insert(code.into(), number);
        number
    }

    /// The language of a row, if all that say one say the same.
    pub(in crate::session) fn of(&self, key: u64, row: RowId) -> Option<&str> {
        let at = self.rows.binary_search(&(key, row.0)).ok()?;
        let number = self.said.get(at).copied().filter(|number| *number != SEVERAL)?;
        self.codes.get((number as usize).checked_sub(1)?).map(|code| &**code)
    }
}

pub(in crate::session) fn is_default(code: &str) -> bool {
    code.eq_ignore_ascii_case("x-default")
}
