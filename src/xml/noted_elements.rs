//! The extension elements of one entry, listed by the parser; elements repeated from the last entry are not parsed
//! again.
//!
//! Entries of one page in several languages have the same alternate links. Consecutive elements with only blanks
//! between them are a *run*: if the next entry has the same bytes, its elements are those of the run at another offset.

use super::elements::Elements;
use super::entry::{Entry, Extensions};
use super::fast_path::EntryBytes;
use super::fast_path::elements::{ElementWalk, FileCache};
use super::markup;
use super::names::Names;
use crate::progress::note_work;
use std::ops::Range;

/// The elements of the last entry, and caches for the file.
#[derive(Debug, Default)]
pub(super) struct NotedElements {
    elements: Elements,
    known: FileCache,
    run: Run,
    state: State,
}

/// The run of the last entry.
#[derive(Debug, Default)]
struct Run {
    /// Its range in the bytes; empty if the last entry has no elements or more than one run.
    range: Range<usize>,
    /// The offset of that entry's text.
    lead: usize,
    /// Address and length of the bytes, which identify the file.
    bytes: (usize, usize),
    /// The number of its elements of each extension.
    extensions: Extensions,
}

/// The state of an entry's elements.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// None was found yet; the list has those of the previous entry.
    #[default]
    Before,
    /// All found elements are in the list and form one run.
    Run,
    /// All found elements equal those of the previous entry.
    Repeated,
    /// The found elements are in the list and do not form one run.
    Apart,
}

impl NotedElements {
    /// Begins a new entry.
    pub(super) const fn begin(&mut self) {
        self.state = State::Before;
    }

    /// Prevents the next entry from being compared with this one, whose list is incomplete.
    pub(super) fn forget(&mut self) {
        self.run.range = 0..0;
    }

    /// Lists the element whose `<` is at `at` and those like it, as [`ElementWalk::parse`] does. `has_brackets` is whether
    /// the bytes contain `]]>`.
    pub(super) fn parse(
        &mut self,
        inside: &EntryBytes<'_>,
        (at, has_brackets): (usize, bool),
        entry: &mut Entry,
    ) -> Option<usize> {
        if self.state == State::Before {
            if let Some(end) = self.skip_repeated_run(inside, at, entry) {
                return Some(end);
            }
            self.begin_run(inside, at, entry);
        }
        let (known, elements) = (&mut self.known, &mut self.elements);
        let end = ElementWalk { inside: *inside, known, elements, has_brackets }.parse(at, entry);
        let gap = inside.bytes.get(self.run.range.end..at).unwrap_or_default();
        if let Some(end) = end.filter(|_| self.state != State::Apart && markup::is_blank(gap)) {
            self.run.range.end = end;
            self.state = State::Run;
        } else {
            (self.run, self.state) = (Run::default(), State::Apart);
        }
        end
    }

    /// Starts the list of an entry's elements at its first element.
    fn begin_run(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &Entry) {
        self.elements.clear();
        let bytes = (inside.bytes.as_ptr() as usize, inside.bytes.len());
        self.run = Run { range: at..at, lead: inside.lead, bytes, extensions: Extensions::default() };
        self.state = if entry.extensions == self.run.extensions { State::Run } else { State::Apart };
    }

    /// Skips the run of the previous entry if it is repeated here.
    fn skip_repeated_run(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &mut Entry) -> Option<usize> {
        let EntryBytes { bytes, lead, .. } = *inside;
        let known = bytes.get(self.run.range.clone()).filter(|known| !known.is_empty())?;
        if self.run.bytes != (bytes.as_ptr() as usize, bytes.len())
            || entry.extensions != Extensions::default()
            || !bytes.get(at..)?.starts_with(known)
        {
            return None;
        }
        note_work(known.len());
        let (before, now) = (self.run.range.start - self.run.lead, at - lead);
        self.elements.shift(now.wrapping_sub(before));
        self.run.range = at..at + known.len();
        (self.run.lead, self.state, entry.extensions) = (lead, State::Repeated, self.run.extensions);
        Some(self.run.range.end)
    }

    /// The elements of the parsed entry, and whether they equal those of the previous entry.
    pub(super) fn of_entry(&mut self, entry: &Entry, text: &[u8], names: &Names) -> (&Elements, bool) {
        if self.state == State::Before {
            self.elements.clear();
            self.forget();
        }
        if self.state == State::Run {
            self.run.extensions = entry.extensions;
        }
        self.elements.scan_before(text, entry.open as usize, names);
        if !self.elements.outside.is_empty() {
            self.forget();
        }
        (&self.elements, self.state == State::Repeated && self.elements.outside.is_empty())
    }
}
