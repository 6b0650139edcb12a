//! Quirks: properties of a file as stored that its bytes in memory no longer have.
//!
//! In memory a file is well-formed UTF-8. Quirks record each difference from the stored file: a repaired token, another
//! encoding, unusual packing. Rules and their messages for quirks are in [`crate::check`].

use super::lines::LineColumn;
use crate::words::grouped;
use crate::xml::defect::Defect;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The declared encoding of a file, and the encoding that it was decoded with, if that differs.
pub(crate) fn stored_as(quirks: &[Quirk], read: &'static str) -> (String, Option<&'static str>) {
    let declared = quirks.iter().find(|quirk| quirk.kind == Defect::NotUtf8).map(|quirk| quirk.what.trim());
    match declared.filter(|declared| !declared.is_empty() && !declared.eq_ignore_ascii_case(read)) {
        Some(declared) => (declared.to_owned(), Some(read)),
        None => (read.to_owned(), None),
    }
}

/// Descriptions of the changes that a save makes because of these quirks, each listed once with its count.
pub(crate) fn changes(quirks: &[Quirk]) -> Vec<String> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for made in quirks.iter().filter_map(|quirk| quirk.kind.change_made()) {
        *counts.entry(made).or_default() += 1;
    }
    let words = |(made, count): (&str, u64)| match count {
        1 => made.to_owned(),
        count => format!("{made} ({} places)", grouped(count)),
    };
    counts.into_iter().map(words).collect()
}

/// The index of the first quirk of an entry, or the index at which it would be, in a file of `entries` entries.
pub(super) fn first_of(quirks: &[Quirk], entry: u32, entries: usize) -> usize {
    let is_before = |quirk: &Quirk| quirk.entry < Some(entry);
    // In most damaged files the entries have about the same number of quirks, so the search starts where they would be.
    let guess = (entry as usize * quirks.len()).checked_div(entries).unwrap_or_default().min(quirks.len());
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while low.checked_sub(1).and_then(|last| quirks.get(last)).is_some_and(|last| !is_before(last)) {
        low = low.saturating_sub(step);
        step *= 2;
    }
    while quirks.get(high).is_some_and(is_before) {
        high = (high + step).min(quirks.len());
        step *= 2;
    }
    low + quirks.get(low..high).unwrap_or_default().partition_point(is_before)
}

/// A quirk with its position. A file has at most one of a kind per entry, ordered by entry; quirks outside of entries
/// come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quirk {
    /// The kind of defect.
    pub kind: Defect,
    /// Line and column, from 1, in the file as stored (unpacked and decoded).
    pub at: LineColumn,
    /// Index of the entry that contains it, from 0; `None` outside of entries.
    pub entry: Option<u32>,
    /// The text or amount that is affected, in a few words; may be empty.
    pub what: Arc<str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_quirk_of_an_entry_is_found(
            mut of in prop::collection::vec(prop::option::weighted(0.9, 0..30_u32), 0..40), entry in 0..32_u32,
            entries in 0..40_usize,
        ) {
            of.sort_unstable();
            let quirk = |entry| Quirk { kind: Defect::Angle, at: LineColumn::START, entry, what: "".into() };
            let quirks: Vec<Quirk> = of.into_iter().map(quirk).collect();
            let expected = quirks.iter().take_while(|quirk| quirk.entry < Some(entry)).count();
            prop_assert_eq!(first_of(&quirks, entry, entries), expected);
        }
    }
}
