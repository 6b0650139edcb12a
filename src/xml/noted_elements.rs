//! The extension elements of one entry, noted by the parser; unchanged ones are not parsed again.
//!
//! Entries of one page in several languages list the same alternate links. Elements that follow each other with nothing
//! but blanks between them are a *run*: where the next entry has the same bytes, its elements are those of the run, moved.

use super::elements::Elements;
use super::entry::{Entry, Extensions};
use super::fast_path::EntryBytes;
use super::fast_path::elements::{ElementWalk, Known};
use super::markup;
use super::names::Names;
use crate::progress::note_work;
use std::ops::Range;

/// The elements of the last entry, and what is known of the file they are in.
#[derive(Debug, Default)]
pub(super) struct NotedElements {
    elements: Elements,
    known: Known,
    run: Run,
    state: State,
}

/// The elements of an entry that are in one run.
#[derive(Debug, Default)]
struct Run {
    /// Where it is in the bytes; empty if the last entry has no elements, or has them in several runs.
    range: Range<usize>,
    /// Where the text of that entry begins.
    lead: usize,
    /// The address and the length of the bytes.
    bytes: (usize, usize),
    /// What the elements count as.
    extensions: Extensions,
}

/// How far an entry is with its elements.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// None was met; the list has those of the entry before.
    #[default]
    Before,
    /// All that were met are noted in the list, and are one run.
    Run,
    /// All that were met are those of the entry before.
    Repeated,
    /// They are noted, and are no run.
    Apart,
}

impl NotedElements {
    /// A new entry begins.
    pub(super) const fn begin(&mut self) {
        self.state = State::Before;
    }

    /// The next entry is not compared with this one, whose elements are not all noted.
    pub(super) fn forget(&mut self) {
        self.run = Run::default();
    }

    /// Passes an element whose `<` is at `at`, as [`ElementWalk::pass`] does. `has_brackets` says whether `]]>` is anywhere
    /// in the bytes.
    pub(super) fn pass(
        &mut self,
        inside: &EntryBytes<'_>,
        (at, has_brackets): (usize, bool),
        entry: &mut Entry,
    ) -> Option<usize> {
        if self.state == State::Before {
            if let Some(end) = self.repeat(inside, at, entry) {
                return Some(end);
            }
            self.begin_run(inside, at, entry);
        }
        let (known, elements) = (&mut self.known, &mut self.elements);
        let end = ElementWalk { inside: *inside, known, elements, has_brackets }.pass(at, entry);
        let gap = inside.bytes.get(self.run.range.end..at).unwrap_or_default();
        if let Some(end) = end.filter(|_| self.state != State::Apart && markup::is_blank(gap)) {
            (self.run.range.end, self.run.extensions) = (end, entry.extensions);
            self.state = State::Run;
        } else {
            (self.run, self.state) = (Run::default(), State::Apart);
        }
        end
    }

    /// Begins the list of an entry's elements at its first.
    fn begin_run(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &Entry) {
        self.elements.clear();
        let bytes = (inside.bytes.as_ptr() as usize, inside.bytes.len());
        self.run = Run { range: at..at, lead: inside.lead, bytes, extensions: Extensions::default() };
        self.state = if entry.extensions == self.run.extensions { State::Run } else { State::Apart };
    }

    /// Passes the run of the entry before, if it is repeated here.
    fn repeat(&mut self, inside: &EntryBytes<'_>, at: usize, entry: &mut Entry) -> Option<usize> {
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

    /// The elements of an entry that is passed, and whether they are those of the entry before.
    pub(super) fn of_entry(&mut self, entry: &Entry, text: &[u8], names: &Names) -> (&Elements, bool) {
        if self.state == State::Before {
            self.elements.clear();
            self.forget();
        }
        self.elements.scan_before(text, entry.open as usize, names);
        if !self.elements.outside.is_empty() {
            self.forget();
        }
        (&self.elements, self.state == State::Repeated && self.elements.outside.is_empty())
    }
}
