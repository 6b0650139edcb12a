//! A change of an entry's text as a list of replaced ranges, so that several fixes can be combined and tried at once.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint ranges of a text in ascending order, each with its replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Patch(Vec<(Range<usize>, String)>);

impl Patch {
    /// Replaces one range.
    pub(super) fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
        Self(vec![(range, with.into())])
    }

    /// Removes ranges, which must be disjoint and in ascending order; `None` if there are none.
    pub(super) fn cut(ranges: impl IntoIterator<Item = Range<usize>>) -> Option<Self> {
        let cuts: Vec<_> = ranges.into_iter().map(|range| (range, String::new())).collect();
        (!cuts.is_empty()).then_some(Self(cuts))
    }

    /// Also replaces a range behind the others.
    pub(super) fn and(mut self, range: Range<usize>, with: impl Into<String>) -> Self {
        self.0.push((range, with.into()));
        self
    }

    /// The text after the change; `None` if a range is outside of the text or the result is not UTF-8.
    pub(super) fn apply(&self, text: &[u8]) -> Option<String> {
        Self::apply_all(std::slice::from_ref(&self), text)
    }

    /// The text after several [`disjoint`] patches. Each byte is copied once, whatever their number.
    pub(super) fn apply_all(patches: &[&Self], text: &[u8]) -> Option<String> {
        let mut ranges: Vec<&(Range<usize>, String)> = patches.iter().flat_map(|patch| &patch.0).collect();
        ranges.sort_by_key(|(range, _)| range.start);
        let added: usize = ranges.iter().map(|(_, with)| with.len()).sum();
        let mut out = Vec::with_capacity(text.len() + added);
        let mut at = 0;
        for (range, with) in ranges {
            out.extend_from_slice(text.get(at..range.start)?);
            out.extend_from_slice(with.as_bytes());
            at = range.end;
        }
        out.extend_from_slice(text.get(at..)?);
        String::from_utf8(out).ok()
    }
}

/// The patches, in their order, that overlap no earlier accepted one.
pub(super) fn disjoint<T>(all: &[T], patch: impl Fn(&T) -> &Patch) -> Vec<&T> {
    // End of each accepted range by its start.
    let mut used_ranges: BTreeMap<usize, usize> = BTreeMap::new();
    let is_free = |used_ranges: &BTreeMap<usize, usize>, range: &Range<usize>| {
        let before = used_ranges.range(..=range.start).next_back();
        // The result of two insertions at one offset would depend on their order.
        before.is_none_or(|(start, end)| *end <= range.start && *start != range.start)
            && used_ranges.range(range.start..range.end).next().is_none()
    };
    let mut disjoint_patches = Vec::new();
    for one in all {
        let ranges = &patch(one).0;
        if ranges.iter().all(|(range, _)| is_free(&used_ranges, range)) {
            used_ranges.extend(ranges.iter().map(|(range, _)| (range.start, range.end)));
            disjoint_patches.push(one);
        }
    }
    disjoint_patches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disjoint_patches_are_applied_together() {
        let text = b"abcdefgh";
        let all = [
            Patch::replace(1..3, "BC"),
            Patch::replace(2..4, "x"),
            Patch::cut([0..1, 3..4]).unwrap(),
            Patch::replace(4..4, "!"),
            Patch::replace(4..5, "y"),
            Patch::replace(6..8, "").and(8..8, "."),
        ];
        let disjoint_patches = disjoint(&all, |patch| patch);
        assert_eq!(disjoint_patches, [&all[0], &all[2], &all[3], &all[5]]);
        assert_eq!(Patch::apply_all(&disjoint_patches, text).as_deref(), Some("BC!ef."));
        assert_eq!(all[1].apply(text).as_deref(), Some("abxefgh"));
        assert_eq!(Patch::replace(7..9, "").apply(text), None);
        assert_eq!(Patch::replace(0..1, "").apply("é".as_bytes()), None);
        assert_eq!(Patch::cut([]), None);
    }
}
