//! `Counted`: a small set of numbers, each with a count.

use std::collections::BTreeMap;

/// Maximum length of the sorted list of numbers; inserting into a longer one would move too many of them.
const MAX_LIST_LEN: usize = 32;

/// Numbers, each with a count: one is stored inline, a few in a sorted list, many in a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// One of the numbers and its count; unused if the count is 0.
    first: (u32, u32),
    more: Option<Box<More>>,
}

/// The other numbers: all in the list, or all in the tree.
#[derive(Debug, Clone, Default)]
struct More {
    few: Vec<(u32, u32)>,
    many: BTreeMap<u32, u32>,
}

impl More {
    /// Increments the count of a number. Returns whether it is new.
    fn add(&mut self, number: u32) -> bool {
        if self.many.is_empty() {
            match self.few.binary_search_by_key(&number, |(known, _)| *known) {
                Ok(at) => {
                    if let Some((_, count)) = self.few.get_mut(at) {
                        *count += 1;
                    }
                    return false;
                }
                Err(at) if self.few.len() < MAX_LIST_LEN => {
                    self.few.insert(at, (number, 1));
                    return true;
                }
                Err(_) => self.many = std::mem::take(&mut self.few).into_iter().collect(),
            }
        }
        let count = self.many.entry(number).or_default();
        *count += 1;
        *count == 1
    }

    /// Decrements the count of a number. Returns whether it was removed.
    fn take(&mut self, number: u32) -> bool {
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

    fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.few.iter().copied().chain(self.many.iter().map(|(number, count)| (*number, *count)))
    }
}

impl Counted {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let more = self.more.iter().flat_map(|more| more.iter());
        Some(self.first).filter(|(_, count)| *count > 0).into_iter().chain(more)
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.1 > 0) + self.more.as_ref().map_or(0, |more| more.few.len() + more.many.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.1 == 0
    }

    /// Whether the number is there and no other is.
    pub(super) fn contains_only(&self, number: u32) -> bool {
        self.len() == 1 && self.first.0 == number
    }

    pub(super) fn count_of(&self, number: u32) -> u32 {
        if self.first.0 == number && self.first.1 > 0 {
            return self.first.1;
        }
        let Some(more) = &self.more else { return 0 };
        match more.few.binary_search_by_key(&number, |(known, _)| *known) {
            Ok(at) => more.few.get(at).map_or(0, |(_, count)| *count),
            Err(_) => more.many.get(&number).copied().unwrap_or_default(),
        }
    }

    /// Increments the count of a number. Returns whether it is new.
    pub(super) fn add(&mut self, number: u32) -> bool {
        if self.first.1 == 0 {
            self.first = (number, 1);
            return true;
        }
        if self.first.0 == number {
            self.first.1 += 1;
            return false;
        }
        self.more.get_or_insert_default().add(number)
    }

    /// Decrements the count of a number. Returns whether it was removed.
    pub(super) fn take(&mut self, number: u32) -> bool {
        if self.first.1 == 0 || self.first.0 != number {
            return self.more.as_mut().is_some_and(|more| more.take(number));
        }
        self.first.1 -= 1;
        if self.first.1 > 0 {
            return false;
        }
        if let Some(more) = &mut self.more {
            // Replace it by the last number, so that no other has to move.
            self.first = more.few.pop().or_else(|| more.many.pop_last()).unwrap_or_default();
        }
        true
    }
}
