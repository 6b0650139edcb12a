//! `Counted`: a set of numbers, each with a count.

use std::collections::BTreeMap;

/// Maximum length of the sorted list of numbers; inserting into a longer one would move too many of them.
const MAX_LIST_LEN: usize = 32;

/// Numbers, each with a count: a few in a sorted list, many in a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    few: Vec<(u32, u32)>,
    many: BTreeMap<u32, u32>,
}

impl Counted {
    /// Adds to the count of a number. Returns whether it is new.
    pub(super) fn add(&mut self, number: u32, added: u32) -> bool {
        if self.many.is_empty() {
            match self.few.binary_search_by_key(&number, |(known, _)| *known) {
                Ok(at) => {
                    if let Some((_, count)) = self.few.get_mut(at) {
                        *count += added;
                    }
                    return false;
                }
                Err(at) if self.few.len() < MAX_LIST_LEN => {
                    self.few.insert(at, (number, added));
                    return true;
                }
                Err(_) => self.many = std::mem::take(&mut self.few).into_iter().collect(),
            }
        }
        let count = self.many.entry(number).or_default();
        *count += added;
        *count == added
    }

    /// Decrements the count of a number. Returns whether it was removed.
    pub(super) fn take(&mut self, number: u32) -> bool {
        if let Ok(at) = self.few.binary_search_by_key(&number, |(known, _)| *known) {
            let Some((_, count)) = self.few.get_mut(at) else { return false };
            *count -= 1;
            let is_gone = *count == 0;
            if is_gone {
                self.few.remove(at);
            }
            return is_gone;
        }
        let Some(count) = self.many.get_mut(&number) else { return false };
        *count -= 1;
        let is_gone = *count == 0;
        if is_gone {
            self.many.remove(&number);
        }
        is_gone
    }

    /// The numbers, each with its count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.few.iter().copied().chain(self.many.iter().map(|(number, count)| (*number, *count)))
    }

    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    pub(super) fn count_of(&self, number: u32) -> u32 {
        match self.few.binary_search_by_key(&number, |(known, _)| *known) {
            Ok(at) => self.few.get(at).map_or(0, |(_, count)| *count),
            Err(_) => self.many.get(&number).copied().unwrap_or_default(),
        }
    }
}
