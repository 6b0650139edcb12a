//! Repairs entries that start inside another entry or inside an unknown element.

use super::words::{snippet, tag};
use super::{Moved, Repairer};
use crate::xml::defect::{Defect, FoundDefect};

/// An entry that began inside another one.
struct NestedEntry {
    /// Where it begins.
    at: usize,
    number: u32,
    /// The repair that says that the entry before it was not closed.
    repair: Option<usize>,
}

/// An entry that was removed of the elements around it.
#[derive(Clone, Copy)]
pub(super) struct Unwrapped {
    /// Where it begins.
    pub(super) at: usize,
    pub(super) number: u32,
    /// Whether it has tags of its own.
    pub(super) has_tags: bool,
}

/// An element out of which an entry was taken.
struct Wrapper<'b> {
    name: &'b [u8],
    entry: Unwrapped,
    /// The repair that says that the element was not closed.
    repair: Option<usize>,
}

/// What the end tags that may still come tell about entries.
#[derive(Default)]
pub(super) struct Nesting<'b> {
    entries: Vec<NestedEntry>,
    /// Elements around entries, of which the end tags have not come yet: the innermost last.
    wrappers: Vec<Wrapper<'b>>,
}

impl Nesting<'_> {
    /// Shifts the numbers of entries, and the indexes of repairs.
    pub(super) fn shift(&mut self, entries: u32, repairs: usize) {
        for entry in &mut self.entries {
            entry.number += entries;
            entry.repair = entry.repair.map(|repair| repair + repairs);
        }
        for wrapper in &mut self.wrappers {
            wrapper.entry.number += entries;
            wrapper.repair = wrapper.repair.map(|repair| repair + repairs);
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.entries.len() + self.wrappers.len()
    }
}

impl<'b> Repairer<'b> {
    /// Takes note of an entry that begins inside another one: not closed before, unless an end tag too many follows.
    pub(super) fn note_nested(&mut self, at: usize) {
        let known = self.log.repairs.len();
        self.note_broken(at, |repairer| {
            let open = repairer.elements.stack.first().map_or_else(String::new, |open| tag(&open.written));
            format!("{open} before it is not closed; closed here")
        });
        let repair = (self.log.repairs.len() > known).then_some(known);
        self.nesting.entries.push(NestedEntry { at, number: self.entries, repair });
    }

    /// An end tag of an entry where none is open; whether it is that of one that had another one inside.
    pub(super) fn close_nested(&mut self) -> bool {
        let Some(NestedEntry { at, number, repair }) = self.nesting.entries.pop() else { return false };
        let what = snippet(self.bytes, at);
        let nested = FoundDefect { kind: Defect::Nested, at, entry: Some(number), what: what.into() };
        match repair.and_then(|repair| self.log.repairs.get_mut(repair)) {
            Some(repair) => *repair = nested,
            None => self.log.repairs.push(nested),
        }
        self.moved = Moved::Yes;
        true
    }

    /// Takes note of an element out of which an entry is taken: not closed before, unless its end tag follows.
    pub(super) fn note_wrapped(&mut self, names: &[&'b [u8]], entry: Unwrapped) {
        let known = self.log.repairs.len();
        self.note_broken(entry.at, |_| {
            let open = names.last().map_or_else(String::new, |name| tag(name));
            format!("{open} before it is not closed; closed here")
        });
        let repair = (self.log.repairs.len() > known).then_some(known);
        let last = names.len().saturating_sub(1);
        let wrappers = names.iter().enumerate();
        self.nesting.wrappers.extend(wrappers.map(|(at, name)| Wrapper {
            name,
            entry,
            repair: repair.filter(|_| at == last),
        }));
    }

    /// Whether an end tag is that of the element around the last entries, and what it was is known now.
    pub(super) fn close_wrapped(&mut self, name: &[u8]) -> bool {
        let Some(Wrapper { name, entry: Unwrapped { at, number, has_tags }, repair }) =
            self.nesting.wrappers.pop_if(|last| last.name == name)
        else {
            return false;
        };
        self.moved = Moved::Yes;
        // That a loc is in no entry is reported anyway, and is reported once.
        let (kind, what) =
            if has_tags { (Defect::Wrapped, tag(name)) } else { (Defect::OutsideRoot, snippet(self.bytes, at)) };
        if let Some(repair) = repair.and_then(|repair| self.log.repairs.get_mut(repair)) {
            *repair = FoundDefect { kind, at, entry: Some(number), what: what.into() };
        }
        true
    }
}
