//! Repairs entries that start inside another entry or inside an unknown element.

use super::words::{snippet, tag};
use super::{Moved, Repairer};
use crate::xml::defect::{Defect, FoundDefect};
use std::sync::Arc;

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
    /// Whether an end tag may be that of an entry before all of `entries`.
    seeks_entry: bool,
    /// Whether an end tag may be that of an element before all of `wrappers`.
    seeks_wrapper: bool,
    /// The name of the last entry that was not closed, with the description of that repair: a file may have many.
    unclosed: Option<(Box<[u8]>, Arc<str>)>,
}

/// What the nesting of a window without wrappers means for others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NestingSummary {
    /// Whether an end tag in a later window may be that of an entry in this one.
    pub(super) has_entry: bool,
    /// Whether an end tag in this window may be that of an entry in an earlier one.
    pub(super) seeks_entry: bool,
}

impl Nesting<'_> {
    /// Describes that an entry with this name is closed before the next one.
    fn describe_unclosed(&mut self, name: &[u8]) -> Arc<str> {
        let known = self.unclosed.take().filter(|(known, _)| **known == *name);
        let (name, description) = known
            .unwrap_or_else(|| (name.into(), format!("{} before it is not closed; closed here", tag(name)).into()));
        self.unclosed = Some((name, Arc::clone(&description)));
        description
    }

    /// Whether the nesting in the next segment is independent of that `before` it, and of the entry that is open before
    /// it, if there is one.
    pub(super) const fn can_follow(&self, before: &Self, is_entry_open: bool) -> bool {
        let (has_entry, has_wrapper) = (is_entry_open || !before.entries.is_empty(), !before.wrappers.is_empty());
        !(self.seeks_entry && has_entry || self.seeks_wrapper && has_wrapper)
    }

    /// Whether all open elements around entries were closed.
    pub(super) const fn has_no_wrapper(&self) -> bool {
        self.wrappers.is_empty()
    }

    /// What later windows need to know.
    pub(super) const fn summary(&self) -> NestingSummary {
        NestingSummary { has_entry: !self.entries.is_empty(), seeks_entry: self.seeks_entry }
    }

    /// Appends the nesting in the next segment; adds `entries` to its numbers of entries, and `repairs` to its indexes of
    /// repairs.
    pub(super) fn append(&mut self, segment: Self, entries: u32, repairs: usize) {
        self.entries.extend(segment.entries.into_iter().map(|entry| NestedEntry {
            number: entry.number + entries,
            repair: entry.repair.map(|repair| repair + repairs),
            ..entry
        }));
        self.wrappers.extend(segment.wrappers.into_iter().map(|wrapper| Wrapper {
            entry: UnwrappedEntry { number: wrapper.entry.number + entries, ..wrapper.entry },
            repair: wrapper.repair.map(|repair| repair + repairs),
            ..wrapper
        }));
        self.seeks_entry |= segment.seeks_entry;
        self.seeks_wrapper |= segment.seeks_wrapper;
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
        // A pattern does not extend into the next entry.
        self.recorder.stop();
        let open = self.elements.stack.first().map_or_else(Default::default, |open| open.written.clone());
        let description = self.nesting.describe_unclosed(&open);
        self.add_note(Defect::NotWellFormed, at, |_, _| Some(description));
        let repair = (self.log.repairs.len() > known).then_some(known);
        self.nesting.entries.push(NestedEntry { at, number: self.entries, repair });
    }

    /// Handles an end tag of an entry while no entry is open. Returns whether it ends an entry that contains another
    /// one, which is then reported as nested.
    pub(super) fn close_nested(&mut self) -> bool {
        let Some(NestedEntry { at, number, repair }) = self.nesting.entries.pop() else {
            self.nesting.seeks_entry = true;
            return false;
        };
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
        self.nesting.seeks_wrapper |= self.nesting.wrappers.is_empty();
        let Some(Wrapper { name, entry: UnwrappedEntry { at, number, has_tags }, repair }) =
            self.nesting.wrappers.pop_if(|last| last.name == name)
        else {
            return false;
        };
        self.moved = Moved::Yes;
        self.recorder.stop();
        // A loc outside of any entry is reported in any case; `finish` removes equal repairs.
        let (kind, description) =
            if has_tags { (Defect::Wrapped, tag(name).into()) } else { (Defect::OutsideRoot, snippet(self.bytes, at)) };
        if let Some(repair) = repair.and_then(|repair| self.log.repairs.get_mut(repair)) {
            *repair = FoundDefect { kind, at, entry: Some(number), what: description.into() };
        }
        true
    }
}
