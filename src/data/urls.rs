//! The URLs of a data set, each once, with a hash table by normalised form.

use super::interner::Texts;
use crate::persistent::Column;
use crate::progress::note_work;
use crate::protocol::location;
use hashbrown::{HashMap, HashTable};
use std::sync::Arc;

/// The URLs of a data set. Clones are cheap after [`Urls::share`].
#[derive(Debug, Default, Clone)]
pub(super) struct Urls {
    /// All URLs as written.
    texts: Texts,
    base: Arc<Base>,
    later: Later,
    is_shared: bool,
}

/// Index of the URLs that were added before [`Urls::share`].
#[derive(Debug, Default, Clone)]
struct Base {
    /// Normalised forms of URLs that differ from the URL as written, so that none is normalised twice.
    keys: HashMap<u32, Box<str>>,
    /// The lower half of the hash of the key, and the row.
    index: HashTable<(u32, u32)>,
}

/// Index of the URLs that were added later, in persistent columns.
#[derive(Debug, Default, Clone)]
struct Later {
    /// For each row, the position of its normalised form in `forms`, from 1; 0 if the URL as written is normal.
    keys: Column<u32>,
    forms: Texts,
    /// A hash table with open addressing, whose size is a power of two: the lower half of the hash of the key, and the
    /// row from 1.
    slots: Column<(u32, u32)>,
    len: usize,
}

/// The hash for a slot from the stored half, so that no URL is hashed again when the table grows. 32 bits are enough to
/// find a slot, since the texts are compared.
const fn spread(half: u32) -> u64 {
    (half as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Number of slots of the smallest table.
const MIN_SLOTS: usize = 256;

impl Later {
    /// The probe sequence of slots for a key.
    fn slots_of(&self, half: u32) -> impl Iterator<Item = usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let first = (spread(half) >> 32) as usize;
        (0..self.slots.len()).map(move |step| first.wrapping_add(step) & mask)
    }

    fn find(&self, half: u32, has_key: impl Fn(u32) -> bool) -> Option<u32> {
        for at in self.slots_of(half) {
            let (own, row) = self.slots.get(at).copied()?;
            let row = row.checked_sub(1)?;
            if own == half && has_key(row) {
                return Some(row);
            }
        }
        None
    }

    fn insert(&mut self, half: u32, row: u32) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            let larger = (self.slots.len() * 2).max(MIN_SLOTS);
            note_work(larger);
            let old = std::mem::replace(&mut self.slots, Column::filled(larger));
            old.iter().filter(|(_, row)| *row > 0).for_each(|slot| self.take_slot(*slot));
        }
        self.len += 1;
        self.take_slot((half, row + 1));
    }

    fn take_slot(&mut self, slot: (u32, u32)) {
        let free = self.slots_of(slot.0).find(|at| self.slots.get(*at).is_some_and(|(_, row)| *row == 0));
        if let Some(at) = free {
            self.slots.set(at, slot);
        }
    }
}

impl Urls {
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn get(&self, row: u32) -> &str {
        self.texts.get(row)
    }

    /// The normalised form of a row's URL.
    fn key(&self, row: u32) -> &str {
        let later = (row as usize).checked_sub(self.len() - self.later.keys.len());
        let form = later.and_then(|at| self.later.keys.get(at)).and_then(|form| form.checked_sub(1));
        match form {
            Some(form) => self.later.forms.get(form),
            None => self.base.keys.get(&row).map_or_else(|| self.get(row), AsRef::as_ref),
        }
    }

    /// The row of a URL.
    pub(super) fn find(&self, url: &str) -> Option<u32> {
        let mut scratch = String::new();
        let (key, half) = Self::key_of(url, &mut scratch);
        self.find_key(key, half)
    }

    /// The normalised form of a URL, and the lower half of its hash.
    pub(super) fn key_of<'u>(url: &'u str, scratch: &'u mut String) -> (&'u str, u32) {
        note_work(1);
        let key = location::key(url, scratch);
        (key, location::hash_of_key(key) as u32)
    }

    pub(super) fn find_key(&self, key: &str, half: u32) -> Option<u32> {
        let has_key = |row: u32| self.key(row) == key;
        let in_base = self.base.index.find(spread(half), |(own, row)| *own == half && has_key(*row));
        in_base.map(|(_, row)| *row).or_else(|| self.later.find(half, has_key))
    }

    /// The row of the URL, which is added if absent; `None` if all URLs together would be 4 GiB or more.
    pub(super) fn insert(&mut self, url: &str) -> Option<u32> {
        let mut scratch = String::new();
        let (key, half) = Self::key_of(url, &mut scratch);
        if let Some(row) = self.find_key(key, half) {
            return Some(row);
        }
        let form = if self.is_shared && key != url { self.later.forms.push(key)? + 1 } else { 0 };
        let row = self.texts.push(url)?;
        if self.is_shared {
            self.later.keys.push(form);
            self.later.insert(half, row);
            return Some(row);
        }
        let base = Arc::make_mut(&mut self.base);
        if key != url {
            base.keys.insert(row, key.into());
        }
        base.index.insert_unique(spread(half), (half, row), |(half, _)| spread(*half));
        Some(row)
    }

    /// Makes clones cheap, now and after URLs are added.
    pub(super) fn share(&mut self) {
        self.is_shared = true;
        self.texts.share();
        self.later.forms.share();
    }

    /// The URLs as a list that is not shared.
    pub(super) fn unshared(&self) -> Self {
        if !self.is_shared {
            return self.clone();
        }
        let mut base = Base::clone(&self.base);
        for row in (self.len() - self.later.keys.len()) as u32..self.len() as u32 {
            let (key, url) = (self.key(row), self.get(row));
            let half = location::hash_of_key(key) as u32;
            if key != url {
                base.keys.insert(row, key.into());
            }
            base.index.insert_unique(spread(half), (half, row), |(half, _)| spread(*half));
        }
        Self { texts: self.texts.unshared(), base: Arc::new(base), ..Self::default() }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.texts.shrink_to_fit();
    }
}
