//! Quirks: properties of a file as stored that its bytes in memory no longer have.
//!
//! In memory a file is sound UTF-8. What had to be done to make it so – a repaired token, another encoding, odd
//! packing – is kept beside the bytes as quirks. They say what was there; which rule that breaks, and in which
//! words, is for [`crate::check`] to know.

use crate::words::grouped;
use crate::xml::defect::Defect;
use std::collections::BTreeMap;

/// The declared encoding of a file, and the one that it was read in if that differs.
pub(crate) fn stored_as(quirks: &[Quirk], read: &'static str) -> (String, Option<&'static str>) {
    let declared = quirks.iter().find(|quirk| quirk.kind == Defect::NotUtf8).map(|quirk| quirk.what.trim());
    match declared.filter(|declared| !declared.is_empty() && !declared.eq_ignore_ascii_case(read)) {
        Some(declared) => (declared.to_owned(), Some(read)),
        None => (read.to_owned(), None),
    }
}

/// The changes that a save makes because of these quirks, in words, each once.
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

/// A quirk with its position. A file keeps them in the order of entries, those of none first; one
/// of a kind per entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quirk {
    /// What it is.
    pub kind: Defect,
    /// Line and column, from 1, in the file as stored (unpacked and decoded).
    pub at: (u64, u64),
    /// The entry of its file that it is in, from 0.
    pub entry: Option<u32>,
    /// The text or amount in question, in a few words; empty if the kind says enough.
    pub what: Box<str>,
}
