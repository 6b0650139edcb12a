//! Derives the languages of pages that do not list themselves from the pages that list them.
//!
//! The other versions of a page of a streamed set may not be in memory. A pass over all files collects the languages
//! before a fix that needs them.

use crate::check::extension;
use crate::document::rows::RowId;
use crate::protocol::location;
use crate::session::state::Snapshot;
use crate::xml::record::Flags;
use std::collections::HashMap;

/// No page states the language.
pub(in crate::session) const NONE: u32 = 0;
/// Pages state different languages.
pub(in crate::session) const SEVERAL: u32 = u32::MAX;

/// The maximum number of rows with the same URL for which languages are collected: each link to the URL costs time
/// for each of its rows.
pub(in crate::session) const ROWS_PER_PAGE: usize = 64;

/// The languages that other pages state for rows: 16 bytes a row.
#[derive(Debug, Default)]
pub(in crate::session) struct Languages {
    /// Hashes of URLs with their rows, ascending.
    rows: Vec<(u64, u32)>,
    /// For each row the number of its language from 1, [`NONE`] or [`SEVERAL`].
    numbers_by_row: Vec<u32>,
    codes: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Languages {
    /// Starts to collect the languages of rows, given with the hashes of their URLs.
    pub(in crate::session) fn for_rows(rows: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let mut rows: Vec<(u64, u32)> = rows.into_iter().collect();
        rows.sort_unstable();
        let numbers_by_row = vec![NONE; rows.len()];
        Self { rows, numbers_by_row, ..Self::default() }
    }

    /// Collects the languages that pages state. A statement counts for a row only if its page lists the stating page.
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
                    let Some(language) = self.numbers_by_row.get_mut(at) else { continue };
                    *language = if *language == NONE || *language == number { number } else { SEVERAL };
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

    /// The language of a row, if all pages that state one agree.
    pub(in crate::session) fn of(&self, key: u64, row: RowId) -> Option<&str> {
        let at = self.rows.binary_search(&(key, row.0)).ok()?;
        let number = self.numbers_by_row.get(at).copied().filter(|number| *number != SEVERAL)?;
        self.codes.get((number as usize).checked_sub(1)?).map(|code| &**code)
    }
}

pub(in crate::session) fn is_default(code: &str) -> bool {
    code.eq_ignore_ascii_case("x-default")
}
