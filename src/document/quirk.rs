//! Quirks: properties of a file as stored that its bytes in memory no longer have.
//!
//! In memory a file is well-formed UTF-8. Quirks record each difference from the stored file: a repaired token, another
//! encoding, unusual packing. Rules and their messages for quirks are in [`crate::check`].

use crate::words::grouped;
use crate::xml::defect::Defect;
use std::collections::BTreeMap;

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

/// A quirk with its position. A file has at most one of a kind per entry, ordered by entry; quirks outside of entries
/// come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quirk {
    /// The kind of defect.
    pub kind: Defect,
    /// Line and column, from 1, in the file as stored (unpacked and decoded).
    pub at: (u64, u64),
    /// Index of the entry that contains it, from 0; `None` outside of entries.
    pub entry: Option<u32>,
    /// The text or amount that is affected, in a few words; may be empty.
    pub what: Box<str>,
}
