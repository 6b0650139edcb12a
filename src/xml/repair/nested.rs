//! Repairs entries that start inside another entry or inside an unknown element.

use super::words::{snippet, tag};
use super::{Moved, Repairer};
use crate::xml::defect::{Defect, FoundDefect};

/// An entry that starts inside another one.
struct NestedEntry {
    /// Its offset in the file.
    at: usize,
    number: u32,
    /// The index of the repair that reports the entry before it as not closed.
    repair: Option<usize>,
}

/// An entry that was moved out of the elements around it.
#[derive(Clone, Copy)]
pub(super) struct UnwrappedEntry {
    /// Its offset in the file.
    pub(super) at: usize,
    pub(super) number: u32,
    /// Whether the file has tags for it.
    pub(super) has_tags: bool,
}

/// An element out of which an entry was moved.
struct Wrapper<'b> {
    name: &'b [u8],
    entry: UnwrappedEntry,
    /// The index of the repair that reports the element as not closed.
    repair: Option<usize>,
}

/// Entries and elements that were closed early. An end tag that is found later changes how they are reported.
#[derive(Default)]
pub(super) struct Nesting<'b> {
    /// Entries inside others whose end tags were not found yet, innermost last.
    entries: Vec<NestedEntry>,
    /// Elements around entries whose end tags were not found yet, innermost last.
    wrappers: Vec<Wrapper<'b>>,
}

impl Nesting<'_> {
    /// Adds `entries` to the numbers of entries, and `repairs` to the indexes of repairs.
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
    /// Records an entry that starts inside another one: the outer one is reported as not closed, unless an extra end
    /// tag follows.
    pub(super) fn note_nested(&mut self, at: usize) {
        let known = self.log.repairs.len();
        self.note_malformed(at, |repairer| {
            let open = repairer.elements.stack.first().map_or_else(String::new, |open| tag(&open.written));
            format!("{open} before it is not closed; closed here")
        });
        let repair = (self.log.repairs.len() > known).then_some(known);
        self.nesting.entries.push(NestedEntry { at, number: self.entries, repair });
    }

    /// Handles an end tag of an entry while no entry is open. Returns whether it ends an entry that contains another
    /// one, which is then reported as nested.
    pub(super) fn close_nested(&mut self) -> bool {
        let Some(NestedEntry { at, number, repair }) = self.nesting.entries.pop() else { return false };
        let description = snippet(self.bytes, at);
        let nested = FoundDefect { kind: Defect::Nested, at, entry: Some(number), what: description.into() };
        match repair.and_then(|repair| self.log.repairs.get_mut(repair)) {
            Some(repair) => *repair = nested,
            None => self.log.repairs.push(nested),
        }
        self.moved = Moved::Yes;
        true
    }

    /// Records elements out of which an entry is moved: the innermost is reported as not closed, unless its end tag
    /// follows.
    pub(super) fn note_wrapped(&mut self, names: &[&'b [u8]], entry: UnwrappedEntry) {
        let known = self.log.repairs.len();
        self.note_malformed(entry.at, |_| {
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

    /// Handles an end tag that may be that of the element around the last entries. Returns whether it is; the element
    /// is then reported as a wrapper.
    pub(super) fn close_wrapped(&mut self, name: &[u8]) -> bool {
        let Some(Wrapper { name, entry: UnwrappedEntry { at, number, has_tags }, repair }) =
            self.nesting.wrappers.pop_if(|last| last.name == name)
        else {
            return false;
        };
        self.moved = Moved::Yes;
        // A loc outside of any entry is reported in any case; `finish` removes equal repairs.
        let (kind, description) =
            if has_tags { (Defect::Wrapped, tag(name)) } else { (Defect::OutsideRoot, snippet(self.bytes, at)) };
        if let Some(repair) = repair.and_then(|repair| self.log.repairs.get_mut(repair)) {
            *repair = FoundDefect { kind, at, entry: Some(number), what: description.into() };
        }
        true
    }
}
