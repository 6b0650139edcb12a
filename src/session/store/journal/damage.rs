//! Property tests of damaged journals: replayed changes were made, in order, and lost ones are counted.

use super::*;
use crate::files::journal::stored::list;
use crate::files::journal::{Entry, StoredJournal};
use crate::session::store::journal::fixture;
use crate::session::store::journal::tests::{edits, keeping, open, rows, run, state_slot, write_set};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Damage of a journal after its first line; positions are shares of its length or of its number of lines.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip(u16, u8),
    Insert(u16, u8),
    Delete(u16, u8),
    Cut(u16),
    Duplicate(u16, u16),
    Swap(u16, u16),
}

impl Damage {
    /// Whether the damage adds bytes or an order of lines that no session has written.
    const fn adds(self) -> bool {
        matches!(self, Self::Insert(..) | Self::Duplicate(..) | Self::Swap(..))
    }

    fn apply(self, body: &mut Vec<u8>) {
        let place = |share: u16, len: usize| usize::from(share) * len / (usize::from(u16::MAX) + 1);
        let len = body.len();
        match self {
            _ if len == 0 => {}
            Self::Flip(at, bit) => body[place(at, len)] ^= 1 << (bit % 8),
            Self::Insert(at, byte) => body.insert(place(at, len), byte),
            Self::Delete(at, count) => {
                let at = place(at, len);
                body.drain(at..(at + usize::from(count)).min(len));
            }
            Self::Cut(at) => body.truncate(place(at, len)),
            Self::Duplicate(one, other) | Self::Swap(one, other) => {
                let mut lines: Vec<Vec<u8>> = body.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                let (one, other) = (place(one, lines.len()), place(other, lines.len()));
                if matches!(self, Self::Swap(..)) {
                    lines.swap(one, other);
                } else {
                    lines.insert(other, lines[one].clone());
                }
                *body = lines.concat();
            }
        }
    }
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => any::<(u16, u8)>().prop_map(|(at, bit)| Damage::Flip(at, bit)),
        2 => (any::<u16>(), prop_oneof![Just(b'\n'), Just(b' '), any::<u8>()]).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        2 => any::<(u16, u8)>().prop_map(|(at, count)| Damage::Delete(at, count)),
        1 => any::<u16>().prop_map(Damage::Cut),
        2 => any::<(u16, u16)>().prop_map(|(one, other)| Damage::Duplicate(one, other)),
        2 => any::<(u16, u16)>().prop_map(|(one, other)| Damage::Swap(one, other)),
    ]
}

/// The path and the content of the only journal in the state folder.
fn journal(folder: &Path) -> Option<(PathBuf, StoredJournal)> {
    let found = list(&folder.join("state"), &[]).unwrap().into_iter().find(|found| !found.is_aside)?;
    Some((found.path.clone(), found.stored.ok()?))
}

fn hashed(text: &str) -> String {
    format!("{:016x} {text}\n", fingerprint(text.as_bytes()))
}

/// The same journal in the format of the previous version, whose lines have no numbers.
fn without_numbers(text: &str) -> String {
    let mut lines = text.lines().map(|line| line.split_once(' ').unwrap().1);
    let header = lines.next().unwrap().replace("\"version\":2", "\"version\":1");
    let lines = lines.map(|line| line.split_once(' ').unwrap().1);
    std::iter::once(&*header).chain(lines).map(hashed).collect()
}

/// Whether there is a line with all unsaved changes, which replaces lost lines before it.
fn has_line_with_all_changes(lines: &[&str]) -> bool {
    lines.iter().any(|line| matches!(serde_json::from_str(line), Ok(JournalLine::Since(_))))
}

/// Whether `some` is a subsequence of `all`.
fn is_subsequence<'l>(some: impl IntoIterator<Item = &'l str>, all: &[String]) -> bool {
    let mut all = all.iter();
    some.into_iter().all(|one| all.any(|other| other == one))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_damaged_journal_yields_only_real_changes_and_counts_the_lost_ones(
        lines in proptest::collection::vec(edits(), 1..14),
        damages in proptest::collection::vec(damages(), 1..5),
        is_numbered in prop_oneof![3 => Just(true), 1 => Just(false)],
        is_counted in prop_oneof![3 => Just(true), 1 => Just(false)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = write_set(folder.path());
        let mut session = keeping(folder.path(), &path);
        for line in &lines {
            run(&mut session, line);
        }
        drop(session);
        let Some((file, stored)) = journal(folder.path()) else { return Ok(()) };
        let made: Vec<String> = stored.lines().map(ToOwned::to_owned).collect();
        let mut text = fs::read_to_string(&file).unwrap();
        if !is_numbered {
            text = without_numbers(&text);
        }
        if !is_counted {
            fs::remove_file(file.with_extension("count")).unwrap();
        }
        let header = text.find('\n').unwrap() + 1;
        let mut body = text.as_bytes()[header..].to_vec();
        for damage in &damages {
            damage.apply(&mut body);
        }
        fs::write(&file, [&text.as_bytes()[..header], &body].concat()).unwrap();

        let (_, stored) = journal(folder.path()).unwrap();
        let found: Vec<&str> = stored.lines().collect();
        prop_assert!(found.iter().all(|line| made.iter().any(|other| other == line)));
        // Without numbers, swapped and repeated lines cannot be detected.
        let is_in_order = is_numbered || !damages.iter().any(|damage| damage.adds());
        prop_assert!(!is_in_order || is_subsequence(found.iter().copied(), &made), "{:?}", found);
        let lost = stored.entries.iter().filter_map(|entry| if let Entry::Lost(lost) = entry { Some(lost) } else { None });
        let (unsure, certain): (Vec<_>, Vec<_>) = lost.partition(|lost| lost.at_least);
        let count = |lost: &[&crate::files::journal::Lost]| lost.iter().map(|lost| lost.count as usize).sum::<usize>();
        if is_numbered {
            prop_assert!(found.len() + count(&certain) <= made.len(), "{:?}", stored.entries);
            prop_assert!(unsure.len() <= 1, "only the end is unsure: {:?}", stored.entries);
        }
        let adds = damages.iter().any(|damage| damage.adds());
        let missing = made.len().saturating_sub(found.len());
        if is_numbered && is_counted {
            prop_assert!(adds || (!stored.is_cut && unsure.is_empty()), "{:?}", stored.entries);
            // Losses at the end may be reported although nothing is missing only if the damage added bytes there.
            let rest = missing - count(&certain);
            prop_assert!(rest == 0 || (!unsure.is_empty() && count(&unsure) >= rest), "{:?}", stored.entries);
        } else if is_in_order && !adds {
            prop_assert!(count(&certain) + count(&unsure) + usize::from(stored.is_cut) <= missing, "{:?}", stored.entries);
            let is_flipped = damages.iter().all(|damage| matches!(damage, Damage::Flip(..)));
            let is_noticed = missing == 0 || stored.is_cut || !stored.entries.iter().all(|entry| matches!(entry, Entry::Line(_)));
            prop_assert!(!is_flipped || is_noticed, "{:?}", stored.entries);
            if is_flipped && unsure.is_empty() && is_numbered {
                prop_assert_eq!(count(&certain) + usize::from(stored.is_cut), missing);
            }
        }

        let mut session = open(&path);
        let (left, _) = fixture::open(&mut session, state_slot(folder.path(), &path));
        // With numbers and the counter every loss is detected, even that of all lines.
        let is_noticed = missing == 0 || left.as_ref().is_some_and(|left| left.salvage.missing.count() > 0);
        prop_assert!(is_noticed || !(is_numbered && is_counted) || has_line_with_all_changes(&found), "{:?}", stored.entries);
        let Some(left) = left else { return Ok(()) };
        let steps: Vec<String> = left.salvage.steps.iter().map(json).collect();
        prop_assert!(steps.iter().all(|step| made.contains(step)));
        prop_assert!(!is_in_order || is_subsequence(steps.iter().map(String::as_str), &made), "{:?}", steps);
        prop_assert!(left.missing().lines().iter().all(|line| !line.chars().any(char::is_control)));
        let is_sound = left.missing().is_empty();
        let outcome = fixture::replay(&mut session, left);
        // Changes before the first gap can always be replayed.
        prop_assert!(!(is_sound && is_in_order) || outcome.is_ok(), "{:?}", outcome);
        let expected = rows(&session);
        drop(session);
        // A crash after the replay loses nothing.
        let mut session = open(&path);
        if let Some(left) = fixture::open(&mut session, state_slot(folder.path(), &path)).0 {
            fixture::replay(&mut session, left).map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
        prop_assert_eq!(rows(&session), expected);
    }
}
