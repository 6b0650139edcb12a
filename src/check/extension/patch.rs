//! A change of an entry's text as replaced ranges, so that several fixes can be combined and tried at once.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of a text in rising order and disjoint, each with what takes its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Patch(Vec<(Range<usize>, String)>);

impl Patch {
    /// One range with another text.
    pub(super) fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
        Self(vec![(range, with.into())])
    }

    /// Ranges removed, which must be in order and disjoint; `None` where there are none.
    pub(super) fn cut(ranges: impl IntoIterator<Item = Range<usize>>) -> Option<Self> {
        let cuts: Vec<_> = ranges.into_iter().map(|range| (range, String::new())).collect();
        (!cuts.is_empty()).then_some(Self(cuts))
    }

    /// This patch with one more range behind the others.
    pub(super) fn and(mut self, range: Range<usize>, with: impl Into<String>) -> Self {
        self.0.push((range, with.into()));
        self
    }

    /// The text after the change; `None` where a range is none of the text, or the result is not UTF-8.
    pub(super) fn apply(&self, text: &[u8]) -> Option<String> {
        Self::apply_all(std::slice::from_ref(&self), text)
    }

    /// The text after several changes that are [`disjoint`]; each byte is copied once, however many they are.
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

/// Which of these changes, in their order, touch nothing that an earlier one of them touches.
pub(super) fn disjoint<T>(all: &[T], patch: impl Fn(&T) -> &Patch) -> Vec<&T> {
    // Ends by starts, of the ranges that are taken.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let is_free = |taken: &BTreeMap<usize, usize>, range: &Range<usize>| {
        let before = taken.range(..=range.start).next_back();
        // Two changes at one place would depend on their order.
        before.is_none_or(|(start, end)| *end <= range.start && *start != range.start)
            && taken.range(range.start..range.end).next().is_none()
    };
    let mut kept = Vec::new();
    for one in all {
        let ranges = &patch(one).0;
        if ranges.iter().all(|(range, _)| is_free(&taken, range)) {
            taken.extend(ranges.iter().map(|(range, _)| (range.start, range.end)));
            kept.push(one);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_are_apart_are_made_at_once() {
        let text = b"abcdefgh";
        let all = [
            Patch::replace(1..3, "BC"),
            Patch::replace(2..4, "x"),
            Patch::cut([0..1, 3..4]).unwrap(),
            Patch::replace(4..4, "!"),
            Patch::replace(4..5, "y"),
            Patch::replace(6..8, "").and(8..8, "."),
        ];
        let kept = disjoint(&all, |patch| patch);
        assert_eq!(kept, [&all[0], &all[2], &all[3], &all[5]]);
        assert_eq!(Patch::apply_all(&kept, text).as_deref(), Some("BC!ef."));
        assert_eq!(all[1].apply(text).as_deref(), Some("abxefgh"));
        assert_eq!(Patch::replace(7..9, "").apply(text), None);
        assert_eq!(Patch::replace(0..1, "").apply("é".as_bytes()), None);
        assert_eq!(Patch::cut([]), None);
    }
}
