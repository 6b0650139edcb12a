//! Byte spans in which two texts of unknown structure differ (patience diff over lines and tags).
//!
//! Pieces that occur once in each text are the anchors; between anchors, common prefixes and suffixes are matched. The
//! time is bounded by the length of the texts, whatever their content.

use super::spans::{Span, Walk, longest_increasing};
use hashbrown::HashMap;

/// The differing spans, in order. The bytes outside of them are the same in both texts.
pub(crate) fn spans(before: &[u8], after: &[u8]) -> Vec<Span> {
    let (old, new) = (pieces(before), pieces(after));
    let mut walk = Walk::default();
    let (mut from, mut to) = (0, 0);
    for (at, other) in anchors(&old, &new) {
        diff_runs(&mut walk, old.get(from..at).unwrap_or_default(), new.get(to..other).unwrap_or_default());
        walk.same(old.get(at).map_or(0, |piece| piece.len()));
        (from, to) = (at + 1, other + 1);
    }
    diff_runs(&mut walk, old.get(from..).unwrap_or_default(), new.get(to..).unwrap_or_default());
    walk.finish()
}

/// Splits a text after line breaks and around tags, so that a file without line breaks has pieces too.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let lines_and_tags = text.split_inclusive(|byte| matches!(byte, b'\n' | b'>'));
    let split_before_tags = lines_and_tags.flat_map(|piece| {
        let (before, tag) = piece.split_at(memchr::memrchr(b'<', piece).unwrap_or(0));
        [before, tag]
    });
    split_before_tags.filter(|piece| !piece.is_empty()).collect()
}

/// Positions of pieces that occur once in each text and in the same order: the anchors.
fn anchors(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    // Number of occurrences and last position in each text.
    let mut occurrences: HashMap<&[u8], [(u32, usize); 2]> = HashMap::new();
    for (side, pieces) in [old, new].into_iter().enumerate() {
        for (at, piece) in pieces.iter().enumerate() {
            if let Some(occurrence) = occurrences.entry(piece).or_default().get_mut(side) {
                *occurrence = (occurrence.0 + 1, at);
            }
        }
    }
    let once = new.iter().filter_map(|piece| match occurrences.get(piece) {
        Some([(1, at), (1, other)]) => Some((*at, *other)),
        _ => None,
    });
    let once: Vec<(usize, usize)> = once.collect();
    let in_order = longest_increasing(&once.iter().map(|(at, _)| *at).collect::<Vec<_>>());
    once.into_iter().zip(0..).filter(|(_, at)| in_order.contains(*at)).map(|(positions, _)| positions).collect()
}

/// Diffs two runs of pieces without their common pieces at both ends.
fn diff_runs(walk: &mut Walk, mut old: &[&[u8]], mut new: &[&[u8]]) {
    while let ([one, rest @ ..], [other, others @ ..]) = (old, new)
        && one == other
    {
        walk.same(one.len());
        (old, new) = (rest, others);
    }
    let mut tail = 0;
    while let ([rest @ .., one], [others @ .., other]) = (old, new)
        && one == other
    {
        tail += one.len();
        (old, new) = (rest, others);
    }
    let (mut from, mut to) = (0, 0);
    for (at, other) in longest_common(old, new) {
        record_replaced(walk, old.get(from..at).unwrap_or_default(), new.get(to..other).unwrap_or_default());
        walk.same(old.get(at).map_or(0, |piece| piece.len()));
        (from, to) = (at + 1, other + 1);
    }
    record_replaced(walk, old.get(from..).unwrap_or_default(), new.get(to..).unwrap_or_default());
    walk.same(tail);
}

/// Records replaced pieces. If one piece replaced one other, only the differing bytes in them are recorded.
fn record_replaced(walk: &mut Walk, old: &[&[u8]], new: &[&[u8]]) {
    match (old, new) {
        ([one], [other]) => walk.pair(one, other),
        _ => walk.differ(old.iter().map(|piece| piece.len()).sum(), new.iter().map(|piece| piece.len()).sum()),
    }
}

/// Positions of a longest common subsequence of two runs; empty for long runs, to bound the time.
fn longest_common(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    const MAX_CELLS: usize = 10_000;
    let width = new.len() + 1;
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > MAX_CELLS {
        return Vec::new();
    }
    let mut lengths = vec![0u32; (old.len() + 1) * width];
    let length = |lengths: &[u32], at: usize, other: usize| lengths.get(at * width + other).copied().unwrap_or(0);
    for (at, piece) in old.iter().enumerate().rev() {
        for (other, second) in new.iter().enumerate().rev() {
            let best = if piece == second {
                length(&lengths, at + 1, other + 1) + 1
            } else {
                length(&lengths, at + 1, other).max(length(&lengths, at, other + 1))
            };
            if let Some(cell) = lengths.get_mut(at * width + other) {
                *cell = best;
            }
        }
    }
    let (mut at, mut other, mut common) = (0, 0, Vec::new());
    while let (Some(piece), Some(second)) = (old.get(at), new.get(other)) {
        if piece == second {
            common.push((at, other));
            (at, other) = (at + 1, other + 1);
        } else if length(&lengths, at + 1, other) >= length(&lengths, at, other + 1) {
            at += 1;
        } else {
            other += 1;
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::super::spans::same_outside;
    use super::*;
    use proptest::prelude::*;

    fn texts<'t>(before: &'t str, after: &'t str) -> Vec<(&'t str, &'t str)> {
        let found = spans(before.as_bytes(), after.as_bytes());
        assert!(same_outside(before.as_bytes(), after.as_bytes(), &found).is_some());
        found.into_iter().map(|span| (&before[span.before], &after[span.after])).collect()
    }

    #[test]
    fn each_change_is_a_separate_span() {
        let before = "junk\n<a>\n<u>\n<l>1&x</l>\n</u>\n<u>\n<l>2</l>\n</u>\n<u>\n<l>3&y</l>\n</u>\n</a>";
        let after = "<a>\n<u>\n<l>1&amp;x</l>\n</u>\n<u>\n<l>2</l>\n</u>\n<u>\n<l>3&amp;y</l>\n</u>\n</a>\n";
        assert_eq!(texts(before, after), [("junk\n", ""), ("", "amp;"), ("", "amp;"), ("", "\n")]);
        // Without a single line break, too.
        let flat = |text: &str| text.replace('\n', "");
        assert_eq!(texts(&flat(before), &flat(after)), [("junk", ""), ("", "amp;"), ("", "amp;")]);
        // Lines that both have between two changes are unchanged, however often they occur elsewhere.
        let (before, after) = ("<l>1&x\n<f>\n<l>2&x\n<f>\n<l>3", "<l>1&amp;x\n<f>\n<l>2&amp;x\n<f>\n<l>3");
        assert_eq!(texts(before, after), [("", "amp;"), ("", "amp;")]);
        assert_eq!(texts("", "a"), [("", "a")]);
        assert_eq!(texts("a", "a"), []);
    }

    proptest! {
        /// Outside of the spans both are the same, and the spans do not touch.
        #[test]
        fn nothing_else_differs(before in "[ab>\n]{0,30}", after in "[ab>\n]{0,30}") {
            let found = spans(before.as_bytes(), after.as_bytes());
            prop_assert!(same_outside(before.as_bytes(), after.as_bytes(), &found).is_some());
            prop_assert!(found.is_sorted_by(|one, next| one.before.end <= next.before.start));
        }
    }
}
