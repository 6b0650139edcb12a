//! Repairs entries that start inside another entry or inside an unknown element.

use super::words::tag;
use super::{AppliedRepair, RepairKind, Repairer};

/// An element out of which an entry was taken.
pub(super) struct Wrapper<'b> {
    name: &'b [u8],
    /// Where the entry begins, its number, and whether it has tags of its own.
    entry: (usize, u32, bool),
    /// The repair that says that the element was not closed.
    repair: Option<usize>,
}

impl<'b> Repairer<'b> {
    /// Takes note of an entry that begins inside another one: not closed before, unless an end tag too many follows.
    pub(super) fn note_nested(&mut self, at: usize) {
        let known = self.repairs.len();
        self.note_broken(at, |repairer| {
            let open = repairer.stack.first().map_or_else(String::new, |open| tag(&open.written));
            format!("{open} before it is not closed; closed here")
        });
        let repair = (self.repairs.len() > known).then_some(known);
        self.nested.push((at, self.entries, repair));
    }

    /// An end tag of an entry where none is open; whether it is that of one that had another one inside.
    pub(super) fn close_nested(&mut self) -> bool {
        let Some((at, entry, repair)) = self.nested.pop() else { return false };
        let what = self.snippet(at);
        let nested = AppliedRepair { kind: RepairKind::Nested, at, entry: Some(entry), what: what.into() };
        match repair.and_then(|repair| self.repairs.get_mut(repair)) {
            Some(repair) => *repair = nested,
            None => self.repairs.push(nested),
        }
        self.moved = true;
        true
    }

    /// Takes note of an element out of which an entry is taken: not closed before, unless its end tag follows.
    pub(super) fn note_wrapped(&mut self, names: &[&'b [u8]], entry: (usize, u32, bool)) {
        let known = self.repairs.len();
        self.note_broken(entry.0, |_| {
            let open = names.last().map_or_else(String::new, |name| tag(name));
            format!("{open} before it is not closed; closed here")
        });
        let repair = (self.repairs.len() > known).then_some(known);
        let last = names.len().saturating_sub(1);
        let wrappers = names.iter().enumerate();
        self.wrappers.extend(wrappers.map(|(at, name)| Wrapper { name, entry, repair: repair.filter(|_| at == last) }));
    }

    /// Whether an end tag is that of the element around the last entries, and what it was is known now.
    pub(super) fn close_wrapped(&mut self, name: &[u8]) -> bool {
        let Some(Wrapper { name, entry: (at, entry, has_tags), repair }) =
            self.wrappers.pop_if(|last| last.name == name)
        else {
            return false;
        };
        self.moved = true;
        // That a loc stands in no entry is said anyway, and is said once.
        let (kind, what) =
            if has_tags { (RepairKind::Wrapped, tag(name)) } else { (RepairKind::Outside, self.snippet(at)) };
        if let Some(repair) = repair.and_then(|repair| self.repairs.get_mut(repair)) {
            *repair = AppliedRepair { kind, at, entry: Some(entry), what: what.into() };
        }
        true
    }
}
