//! The text format of a journal: a header, and lines with hashes that show which of them are damaged or missing.
//!
//! Invariant: a line is used only if its hash is correct and its number is higher than that of the line before; the
//! numbers missing between two lines are counted. The first line lists the files that the journal applies to; without
//! it no line is replayed.

use super::super::disk::{Disk, fingerprint};
use super::super::lock::real_path_cached;
use super::counter::Counts;
use crate::words::excerpt;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;

/// The journal format that this program writes. It also reads version 1, whose lines have no numbers.
const VERSION: u32 = 2;

/// Maximum number of characters of a damaged line that are shown.
const MAX_LINE_SHOWN: usize = 400;

/// The first line of a journal: the files that it applies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    version: u32,
    /// The path that the set is opened by; the first one of several files without an index.
    pub set: String,
    /// The other paths, if several files are opened as one set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    and: Vec<String>,
    /// The time when the journal was started, in seconds since 1970.
    pub begun: i64,
    pub(super) files: Vec<FileState>,
    /// Identifies the journal for its counter; versions without a counter ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
}

/// The state of a file of the set when the changes were made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct FileState {
    /// Its real path.
    pub(super) path: String,
    len: u64,
    hash: u64,
}

impl Header {
    /// The header for a set that is opened by these paths and has the files of `disk`.
    pub(super) fn new(set: &[PathBuf], disk: &Disk, begun: i64) -> Self {
        let mut folders = HashMap::new();
        let mut files = Vec::new();
        for path in disk.paths() {
            if let Some(file) = disk.get(path) {
                let path = real_path_cached(path, &mut folders).to_string_lossy().into_owned();
                files.push(FileState { path, len: file.len, hash: file.hash });
            }
        }
        files.sort();
        let mut set = set.iter().map(|path| path.to_string_lossy().into_owned());
        Self { version: VERSION, set: set.next().unwrap_or_default(), and: set.collect(), begun, files, id: None }
    }

    /// The header for a journal that is rewritten in the current version.
    pub(super) fn in_current_version(self) -> Self {
        Self { version: VERSION, ..self }
    }

    /// The header with the id of a counter.
    pub(super) fn with_id(self, id: Option<u64>) -> Self {
        Self { id, ..self }
    }

    /// Whether the files of the set have the same contents as when the changes were made.
    pub fn fits(&self, disk: &Disk) -> bool {
        let now = Self::new(&[], disk, self.begun);
        // The same set may be opened by another path; its content decides.
        let contents = |header: &Self| {
            let mut contents: Vec<(u64, u64)> = header.files.iter().map(|file| (file.len, file.hash)).collect();
            contents.sort_unstable();
            contents
        };
        contents(&now) == contents(self)
    }

    /// The paths that the set is opened by.
    pub fn paths(&self) -> Vec<String> {
        [&self.set].into_iter().chain(&self.and).cloned().collect()
    }

    /// Whether one of the files has one of these real paths.
    pub fn is_of_files(&self, paths: &BTreeSet<String>) -> bool {
        self.files.iter().any(|file| paths.contains(&file.path))
    }

    /// Whether some of the files are in `disk`, and none of these has changed since the changes were made.
    pub fn matches_shared_files(&self, disk: &Disk) -> bool {
        let now = Self::new(&[], disk, self.begun);
        let now: BTreeMap<&str, &FileState> = now.files.iter().map(|file| (&*file.path, file)).collect();
        let mut shared = self.files.iter().filter_map(|file| Some((file, *now.get(&*file.path)?))).peekable();
        shared.peek().is_some() && shared.all(|(recorded, now)| recorded == now)
    }
}

/// A line of a journal, or a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A sound line: a JSON value.
    Line(String),
    /// Lines that are damaged or missing.
    Lost(Lost),
}

/// Lines that are damaged or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Their number; a lower bound if `at_least` is set.
    pub count: u64,
    /// Whether more lines may be lost, because no later line has a number.
    pub at_least: bool,
    /// The readable text of these lines, without control characters; empty if there is none.
    pub text: String,
}

/// The content of a journal of an earlier session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredJournal {
    /// The files that it applies to.
    pub header: Header,
    /// The changes, and the gaps between them.
    pub entries: Vec<Entry>,
    /// Whether the last line is incomplete: it was being written when the session ended.
    pub is_cut: bool,
}

impl StoredJournal {
    /// The sound lines.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Line(line) => Some(&**line),
            Entry::Lost(_) => None,
        })
    }
}

/// Why a journal file cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Not a journal, or its first line is damaged.
    #[error("it is damaged")]
    Damaged,
    /// A newer version of this program wrote it.
    #[error("a newer version of sited wrote it")]
    Newer,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Formats the first line of a journal.
pub(super) fn first_line(header: &Header) -> io::Result<String> {
    Ok(hashed(&serde_json::to_string(header)?))
}

/// Formats a line with its number; the first one after the header has number 1.
pub(super) fn line(number: u64, json: &str) -> String {
    hashed(&format!("{number} {json}"))
}

fn hashed(text: &str) -> String {
    format!("{:016x} {text}\n", fingerprint(text.as_bytes()))
}

/// The version field of every header.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

pub(super) fn parse(bytes: &[u8], counts: &Counts) -> Result<StoredJournal, Unusable> {
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(Unusable::Damaged)?;
    let header = header_of(bytes.get(..end).unwrap_or_default())?;
    let has_numbers = header.version > 1;
    let count = counts.of_journal(header.id);
    let (entries, is_cut) = entries(bytes.get(end + 1..).unwrap_or_default(), has_numbers, count);
    Ok(StoredJournal { header, entries, is_cut })
}

/// Parses the first line of a journal.
pub(super) fn header_of(line: &[u8]) -> Result<Header, Unusable> {
    let json = checked_text(line).ok_or(Unusable::Damaged)?;
    match serde_json::from_str::<Version>(json) {
        Ok(Version { version }) if version > VERSION => return Err(Unusable::Newer),
        Ok(_) => {}
        Err(_) => return Err(Unusable::Damaged),
    }
    serde_json::from_str(json).map_err(|_| Unusable::Damaged)
}

/// The lines of a journal whose header is damaged.
pub(super) fn readable(bytes: &[u8]) -> Vec<Entry> {
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    let rest = bytes.get(end..).unwrap_or_default();
    // The version is unknown: lines of the current one begin with a digit.
    let has_numbers = rest
        .split(|byte| *byte == b'\n')
        .filter_map(checked_text)
        .any(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    entries(rest, has_numbers, None).0
}

/// The lines after the header, and whether the last one is incomplete. `count` is the number of synced lines; `None` if
/// unknown.
fn entries(bytes: &[u8], has_numbers: bool, count: Option<u64>) -> (Vec<Entry>, bool) {
    let mut reader = Reader { has_numbers, next: 1, ..Reader::default() };
    let mut is_cut = false;
    for chunk in bytes.split_inclusive(|byte| *byte == b'\n') {
        let is_whole = chunk.ends_with(b"\n");
        let text = chunk.strip_suffix(b"\n").unwrap_or(chunk);
        is_cut = !reader.add(text) && !is_whole && reader.damaged.len() == 1;
    }
    // A line that the counter includes was written completely.
    let missing = count.filter(|_| has_numbers).map(|count| count.saturating_add(1).saturating_sub(reader.next));
    is_cut &= missing.is_none_or(|missing| missing == 0);
    if !is_cut {
        reader.finish(missing);
    }
    (reader.entries, is_cut)
}

/// Collects valid lines and counts missing ones.
#[derive(Default)]
struct Reader<'b> {
    has_numbers: bool,
    /// The number of the next line.
    next: u64,
    entries: Vec<Entry>,
    /// Chunks since the last sound line.
    damaged: Vec<&'b [u8]>,
}

impl<'b> Reader<'b> {
    /// Adds the next chunk. Returns whether it is a valid line.
    fn add(&mut self, chunk: &'b [u8]) -> bool {
        let Some(text) = checked_text(chunk) else {
            self.damaged.push(chunk);
            return false;
        };
        if !self.has_numbers {
            self.note_lost(None);
            self.entries.push(Entry::Line(text.to_owned()));
            return true;
        }
        let numbered = text.split_once(' ').and_then(|(number, json)| Some((number.parse::<u64>().ok()?, json)));
        match numbered {
            Some((number, json)) if number >= self.next => {
                self.note_lost(Some(number - self.next));
                self.entries.push(Entry::Line(json.to_owned()));
                self.next = number.saturating_add(1);
                true
            }
            // A repeated line is used once.
            Some(_) => true,
            None => {
                self.damaged.push(chunk);
                false
            }
        }
    }

    /// Adds an entry for damaged or missing lines; `missing` is `None` if their number is unknown.
    fn note_lost(&mut self, missing: Option<u64>) {
        let damaged = std::mem::take(&mut self.damaged);
        let count = missing.unwrap_or_else(|| lines_in(&damaged));
        if count == 0 {
            return;
        }
        let texts = damaged.iter().filter(|chunk| chunk.iter().any(|byte| *byte != 0));
        let texts: Vec<String> = texts.map(|chunk| excerpt(&String::from_utf8_lossy(chunk), MAX_LINE_SHOWN)).collect();
        self.entries.push(Entry::Lost(Lost { count, at_least: missing.is_none(), text: texts.join("\n") }));
    }

    /// Adds an entry for damaged or missing lines at the end; `missing` is `None` without a counter. Damaged lines that
    /// the counter does not include were written but not counted yet, or are repeated: then the number is unknown.
    fn finish(&mut self, missing: Option<u64>) {
        self.note_lost(missing.filter(|missing| *missing >= lines_in(&self.damaged)));
    }
}

/// A lower bound for the number of damaged lines: a line break within a line makes two chunks of it.
fn lines_in(damaged: &[&[u8]]) -> u64 {
    damaged.iter().filter(|chunk| begins_as_line(chunk)).count().max(usize::from(!damaged.is_empty())) as u64
}

/// Whether a damaged chunk begins like a line with a hash.
fn begins_as_line(chunk: &[u8]) -> bool {
    let has_hash = chunk.get(..16).is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit));
    has_hash && chunk.get(16) == Some(&b' ')
}

/// The text of a line; `None` if its hash is wrong.
fn checked_text(line: &[u8]) -> Option<&str> {
    let (hash, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    (hash.len() == 16 && u64::from_str_radix(hash, 16).ok()? == fingerprint(text.as_bytes())).then_some(text)
}
