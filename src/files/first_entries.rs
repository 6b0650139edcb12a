//! What is kept of a file that is read in windows: its first entries, and the prefixes that no entry mentions.

use super::window::SCALE;
use crate::document::source::{Source, mentions_prefix};
use crate::xml::names::Names;
use crate::xml::scan::Scan;

/// Number of bytes of the first entries, which are kept: most messages are about them.
const KEPT_BYTES: usize = 64 * SCALE;

/// Number of entries that are kept at least, if the windows that are added have as many.
const KEPT_ENTRIES: usize = if cfg!(test) { 2 } else { 100 };

/// The bytes of a file up to the end of its first entries.
pub(super) struct FirstEntries {
    bytes: Vec<u8>,
    starts: Vec<u32>,
    is_complete: bool,
    unused: UnusedPrefixes,
}

impl FirstEntries {
    /// Those of a file that begins with these bytes, which end with an entry.
    pub(super) fn of(bytes: &[u8], scan: &Scan) -> Self {
        let head = scan.starts.first().copied().unwrap_or_default();
        let (before, entries) = bytes.split_at_checked(head as usize).unwrap_or_default();
        let (is_complete, unused) = (false, UnusedPrefixes::declared_by(scan));
        let mut first = Self { bytes: before.to_vec(), starts: vec![head], is_complete, unused };
        first.add(entries, scan.starts.get(1..).unwrap_or_default());
        first
    }

    /// Adds the bytes that follow; the entries in them, and others after these, end at `ends` in the file.
    pub(super) fn add(&mut self, bytes: &[u8], ends: &[u32]) {
        self.skip(bytes);
        if self.is_complete {
            return;
        }
        let (head, from) = (self.starts.first().copied().unwrap_or_default(), self.bytes.len());
        let ends = ends.iter().copied().take_while(|end| *end as usize - from <= bytes.len());
        for end in ends {
            self.is_complete = self.starts.len() > KEPT_ENTRIES && (end - head) as usize > KEPT_BYTES;
            if self.is_complete {
                break;
            }
            self.starts.push(end);
        }
        let end = self.starts.last().copied().unwrap_or_default() as usize;
        self.bytes.extend_from_slice(bytes.get(..end - from).unwrap_or_default());
    }

    /// Whether an entry was dropped.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Stops searching for prefixes if none was mentioned so far: most such files have no extensions, and reading them again
    /// costs little.
    pub(super) fn stop_search_without_mention(&mut self) {
        if self.unused.prefixes.len() == self.unused.declared {
            self.unused.prefixes.clear();
        }
    }

    /// Notes the prefixes in the bytes that follow, whose entries are dropped.
    pub(super) fn skip(&mut self, bytes: &[u8]) {
        self.unused.remove_used(bytes);
    }

    /// A source of these entries with the tail of the file.
    pub(super) fn source(mut self, tail: &[u8], scan: Scan) -> Option<Source> {
        self.bytes.extend_from_slice(tail);
        let source = Source::new(self.bytes, Scan { starts: self.starts, ..scan })?;
        source.note_absent_prefixes(self.unused.prefixes);
        Some(source)
    }
}

/// The prefixes that the root declares and no entry has mentioned yet: a declaration that is used anywhere must not be
/// removed.
struct UnusedPrefixes {
    prefixes: Vec<Box<[u8]>>,
    /// The number of declared prefixes.
    declared: usize,
}

impl UnusedPrefixes {
    /// All that the root declares.
    fn declared_by(scan: &Scan) -> Self {
        let declared = scan.names.iter().flat_map(Names::declared_prefixes);
        let prefixes: Vec<_> = declared.map(|(prefix, _)| prefix.as_bytes().into()).collect();
        Self { declared: prefixes.len(), prefixes }
    }

    /// Removes those that a window mentions.
    fn remove_used(&mut self, window: &[u8]) {
        self.prefixes.retain(|prefix| !mentions_prefix(window, prefix));
    }
}
