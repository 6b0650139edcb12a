//! Lists of URLs that select rows (`--urls-from`), looked up in one pass over the rows.

use super::options::UrlList;
use super::{Failure, Streams};
use crate::document::query::Query;
use crate::document::rows::{RowId, RowSet};
use crate::files::is_stream;
use crate::progress::{Progress, note_work};
use crate::session::command::Scope;
use crate::session::edit::{DefaultScope, scope};
use crate::session::state::Snapshot;
use crate::words::{counted, excerpt};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;
use std::hash::BuildHasher;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A set of texts, numbered from 0 in the order of insertion.
#[derive(Default)]
pub(super) struct Texts {
    text: String,
    /// The end of each text in `text`.
    ends: Vec<usize>,
    /// Hash and number of each text; with the hash, no text is hashed again when the table grows.
    table: HashTable<(u64, u32)>,
    hasher: FixedState,
}

impl Texts {
    /// Inserts a text and returns its number.
    pub(super) fn insert(&mut self, text: &str) -> u32 {
        let hash = self.hash(text);
        let Self { text: all, ends, table, .. } = self;
        let is_same = |(other, number): &(u64, u32)| *other == hash && part(all, ends, *number) == text;
        match table.entry(hash, is_same, |(hash, _)| *hash) {
            Entry::Occupied(known) => known.get().1,
            Entry::Vacant(place) => {
                let number = ends.len() as u32;
                place.insert((hash, number));
                all.push_str(text);
                ends.push(all.len());
                number
            }
        }
    }

    /// The number of a text.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        let hash = self.hash(text);
        let found = self.table.find(hash, |(other, number)| *other == hash && self.at(*number) == text);
        found.map(|(_, number)| *number)
    }

    fn hash(&self, text: &str) -> u64 {
        note_work(1);
        self.hasher.hash_one(text)
    }

    /// The text of a number.
    pub(super) fn at(&self, number: u32) -> &str {
        part(&self.text, &self.ends, number)
    }

    pub(super) const fn len(&self) -> usize {
        self.ends.len()
    }
}

fn part<'t>(all: &'t str, ends: &[usize], number: u32) -> &'t str {
    let at = number as usize;
    let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
    ends.get(at).and_then(|end| all.get(start..*end)).unwrap_or_default()
}

/// A list of URLs to look up rows by, and which of them were found.
pub(super) struct Urls {
    /// The name of the list in messages.
    pub(super) name: String,
    texts: Texts,
    found: Vec<AtomicBool>,
}

impl Urls {
    pub(super) fn new(name: String, texts: Texts) -> Self {
        let found = (0..texts.len()).map(|_| AtomicBool::new(false)).collect();
        Self { name, texts, found }
    }

    /// Reads the list of `--urls-from`, if it is given. `paths` are the sets of the command.
    pub(super) fn read(list: &UrlList, paths: &[impl AsRef<Path>]) -> Result<Option<Self>, Failure> {
        let Some(path) = &list.urls_from else { return Ok(None) };
        let bytes = if is_stream(path) {
            refuse_two_streams("--urls-from", paths)?;
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            text
        } else {
            super::read_text_file(path, "write the URLs into it, one per line; - reads them from standard input")?
        };
        let mut texts = Texts::default();
        let lines = bytes.strip_prefix('\u{feff}').unwrap_or(&bytes).lines();
        for url in lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            texts.insert(url);
        }
        let name = if is_stream(path) { "standard input".to_owned() } else { path.display().to_string() };
        Ok(Some(Self::new(name, texts)))
    }

    /// The number of a URL in the list; marks it as found.
    pub(super) fn find(&self, url: &str) -> Option<u32> {
        let number = self.texts.get(url)?;
        if let Some(found) = self.found.get(number as usize) {
            found.store(true, Ordering::Relaxed);
        }
        Some(number)
    }

    /// The rows in memory whose URL is in the list.
    pub(super) fn rows(&self, snapshot: &Snapshot) -> RowSet {
        self.rows_with(snapshot, |_, number| number.is_some())
    }

    /// The rows in memory for which `passes` is true, given the number of their URL in the list.
    pub(super) fn rows_with(&self, snapshot: &Snapshot, passes: impl Fn(RowId, Option<u32>) -> bool + Sync) -> RowSet {
        let rows: Vec<u32> = snapshot.document.resident_set().iter().collect();
        let shares: Vec<Vec<u32>> = rows
            .par_chunks(4_096)
            .map(|share| {
                let is_meant = |row: &u32| passes(RowId(*row), self.find(&snapshot.document.loc(RowId(*row))));
                share.iter().copied().filter(is_meant).collect()
            })
            .collect();
        shares.into_iter().flatten().collect()
    }

    /// URLs that were not found yet, in the order of the list.
    pub(super) fn missing(&self) -> impl Iterator<Item = &str> {
        let missing = (0..).zip(&self.found).filter(|(_, found)| !found.load(Ordering::Relaxed));
        missing.map(|(number, _)| self.texts.at(number))
    }

    pub(super) const fn len(&self) -> usize {
        self.texts.len()
    }

    /// Notes the URLs that were not found.
    pub(super) fn note_missing(&self, is_all: bool, streams: &mut Streams<'_>) {
        let missing = self.missing().count() as u64;
        if missing > 0 {
            let all = counted(self.len() as u64, "URL");
            let message = format!("{}: {} of {all} match no row", self.name, crate::words::grouped(missing));
            note_urls(&message, missing, self.missing(), is_all, streams);
        }
    }
}

/// Number of URLs that are printed without `--all`.
pub(super) const SHOWN: usize = 5;

/// Notes a message with the first or all of its URLs.
pub(super) fn note_urls<'u>(
    message: &str,
    count: u64,
    urls: impl Iterator<Item = &'u str>,
    is_all: bool,
    streams: &mut Streams<'_>,
) {
    streams.note(&format!("{message}:"));
    let most = if is_all { usize::MAX } else { SHOWN };
    streams.note_all(urls.take(most).map(|url| format!("  {}", excerpt(url, 2_000))));
    if !is_all && count > SHOWN as u64 {
        streams.note(&format!("  … and {}", counted(count - SHOWN as u64, "more URL")));
    }
}

/// Refuses to read both the value of an option and a set from standard input.
pub(super) fn refuse_two_streams(option: &str, paths: &[impl AsRef<Path>]) -> Result<(), Failure> {
    if paths.iter().any(|path| is_stream(path.as_ref())) {
        let hint = "write one of them to a file".to_owned();
        return Err(Failure::Usage(format!("{option} and PATH cannot both be standard input (-)"), hint));
    }
    Ok(())
}

/// The rows in memory that match the query and whose URL is in the list, if these are given.
pub(super) fn select_rows(snapshot: &Snapshot, query: Option<&Query>, urls: Option<&Urls>) -> RowSet {
    let scope = Scope { shown: false, query: query.cloned() };
    let rows = scope::rows_of(snapshot, &scope, DefaultScope::All, &Progress::default()).unwrap_or_default();
    match urls {
        // All rows are looked up, so that a URL whose row does not match the query does not count as missing.
        Some(urls) => urls.rows(snapshot) & rows,
        None => rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::work;

    #[test]
    fn a_text_is_hashed_once() {
        let mut texts = Texts::default();
        let hashed = work::here(|| {
            for number in 0..1_000 {
                assert_eq!(texts.insert(&number.to_string()), number);
            }
        });
        assert_eq!(hashed, 1_000);
        assert!((0..1_000).all(|number| texts.get(&number.to_string()) == Some(number)));
    }

    #[test]
    fn texts_are_numbered_once() {
        let mut texts = Texts::default();
        assert_eq!(["b", "a", "b", ""].map(|text| texts.insert(text)), [0, 1, 0, 2]);
        assert_eq!((texts.len(), texts.at(0), texts.at(1), texts.at(2), texts.at(3)), (3, "b", "a", "", ""));
        assert_eq!((texts.get("a"), texts.get("c")), (Some(1), None));
    }
}
