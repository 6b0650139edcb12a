//! Index of rows by page: exact duplicates, and duplicates after URL normalisation.
//!
//! A row that is alone on its page needs one table slot and four bytes of hash; a second row opens a group. Hashes only
//! select candidates: equality is always decided by the texts.

use super::groups::Groups;
use super::members::{Members, Rows};
use super::{FileRows, Locs};
use crate::protocol::location::{self, NO_KEY};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::ops::Range;

/// A row alone on its page, or the number of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot(u32);

impl Slot {
    const GROUP: u32 = 1 << 31;

    const fn row(row: u32) -> Self {
        debug_assert!(row < Self::GROUP);
        Self(row)
    }

    const fn group(group: u32) -> Self {
        Self(group | Self::GROUP)
    }

    const fn as_group(self) -> Option<u32> {
        if self.0 & Self::GROUP == 0 { None } else { Some(self.0 & !Self::GROUP) }
    }
}

/// The index of rows by page. Row ids are below 2^31.
#[derive(Debug, Clone)]
pub struct Duplicates {
    /// One slot per page, in tables by hash: one table fits into the processor cache and is cheap to grow.
    shards: Vec<HashTable<Slot>>,
    /// The short hash of each row's key, by row id, needed to grow the tables; 0 for rows that are not in the index.
    hashes: Vec<u32>,
    /// Rows of pages with two or more rows, so that other rows need no lookup.
    grouped: RoaringBitmap,
    /// Rows that were not compared with others and count as alone on their page; without slot and hash.
    uncompared: RoaringBitmap,
    /// Pages with two or more rows.
    pub groups: Groups,
}

impl Default for Duplicates {
    fn default() -> Self {
        let shards = std::iter::repeat_with(HashTable::default).take(SHARDS).collect();
        Self {
            shards,
            hashes: Vec::new(),
            grouped: RoaringBitmap::new(),
            uncompared: RoaringBitmap::new(),
            groups: Groups::default(),
        }
    }
}

impl Duplicates {
    /// Reserves memory for `rows` more rows.
    pub fn reserve(&mut self, rows: usize) {
        // Grow by at least an eighth, so that many small steps do not copy the list each time.
        self.hashes.reserve_exact(rows.max(self.hashes.len() / 8));
    }

    /// Adds a row with its file that is not in the index; `locs` has the texts of the others.
    pub fn insert(&mut self, (row, file): (u32, u32), loc: &str, key_hash: u64, locs: &impl Locs) {
        if key_hash == NO_KEY {
            return;
        }
        let short = shorten(key_hash);
        let index = row as usize;
        if self.hashes.len() <= index {
            if self.hashes.capacity() <= index {
                self.reserve(1 + index - self.hashes.len());
            }
            self.hashes.resize(index + 1, 0);
        }
        if let Some(cell) = self.hashes.get_mut(index) {
            *cell = short;
        }
        self.insert_hashed((row, file), short, &|| Some(Cow::Borrowed(loc)), locs);
    }

    /// Adds a row with a known hash to its table. `loc` is called only if another row has the same hash.
    #[inline]
    fn insert_hashed<'t>(
        &mut self,
        (row, file): (u32, u32),
        short: u32,
        loc: &impl Fn() -> Option<Cow<'t, str>>,
        locs: &impl Locs,
    ) {
        let Self { shards, hashes, grouped, groups, .. } = self;
        let Some(table) = shards.get_mut(shard(short)) else { return };
        let slots = Slots { hashes, groups };
        let found = table.entry(
            spread(short),
            |&slot| {
                let is_known = slots.short_hash(slot) == short;
                is_known && slots.is_page(slot, short, &loc().unwrap_or_default(), locs)
            },
            |&slot| spread(slots.short_hash(slot)),
        );
        match found {
            Entry::Vacant(vacant) => {
                vacant.insert(Slot::row(row));
            }
            Entry::Occupied(mut occupied) => {
                let slot = *occupied.get();
                let number = slot.as_group().unwrap_or_else(|| {
                    grouped.insert(slot.0);
                    groups.open(slot.0, short, locs)
                });
                *occupied.get_mut() = Slot::group(number);
                grouped.insert(row);
                groups.join(number, (row, file), &loc().unwrap_or_default(), locs);
            }
        }
    }

    /// Adds the rows of one file; `locs` has the texts of all rows.
    pub fn insert_all(&mut self, FileRows { file, first, keys }: FileRows<'_>, locs: &impl Locs) {
        let from = first as usize;
        let end = from + keys.len();
        self.reserve(end.saturating_sub(self.hashes.len()));
        self.hashes.resize(self.hashes.len().max(end), 0);
        for (cell, key) in self.hashes.iter_mut().skip(from).zip(keys) {
            *cell = if *key == NO_KEY { 0 } else { shorten(*key) };
        }
        // Table by table, so that each table stays in the cache while its rows are added.
        let mut places = [0_u32; SHARDS + 1];
        for key in keys {
            places[shard(shorten(*key)) + 1] += 1;
        }
        let Self { shards, hashes, groups, .. } = self;
        let slots = Slots { hashes, groups };
        for (table, more) in shards.iter_mut().zip(&places[1..]) {
            table.reserve(*more as usize, |&slot| spread(slots.short_hash(slot)));
        }
        (0..SHARDS).for_each(|shard| places[shard + 1] += places[shard]);
        let mut order = vec![0_u32; keys.len()];
        for (at, key) in keys.iter().enumerate() {
            let place = &mut places[shard(shorten(*key))];
            if let Some(slot) = order.get_mut(*place as usize) {
                *slot = at as u32;
            }
            *place += 1;
        }
        for at in order {
            let Some(key) = keys.get(at as usize).filter(|key| **key != NO_KEY) else { continue };
            let row = first + at;
            self.insert_hashed((row, file), shorten(*key), &|| locs.loc(row), locs);
        }
    }

    /// Adds consecutive rows from `first` on, one for each key hash, without comparing them with others.
    pub fn insert_uncompared(&mut self, first: u32, keys: &[u64]) {
        let mut row = first;
        for run in keys.chunk_by(|one, next| (*one == NO_KEY) == (*next == NO_KEY)) {
            let end = row + run.len() as u32;
            if run.first() != Some(&NO_KEY) {
                self.uncompared.insert_range(row..end);
            }
            row = end;
        }
    }

    /// Removes a row that was added without comparison. Returns whether it was in the index.
    pub fn remove_uncompared(&mut self, row: u32) -> bool {
        self.uncompared.remove(row)
    }

    /// Removes a row that was added with this file; `old` has the texts as they were then.
    pub fn remove(&mut self, row: u32, file: u32, old: &impl Locs) {
        let Some(short) = self.hashes.get(row as usize).copied().filter(|short| *short != 0) else { return };
        let Self { shards, hashes, grouped, groups, .. } = self;
        let Some(slots) = shards.get_mut(shard(short)) else { return };
        let Ok(mut found) = slots.find_entry(spread(short), |&slot| Slots { hashes, groups }.holds(slot, row)) else {
            return;
        };
        match found.get().as_group() {
            None => {
                found.remove();
            }
            Some(number) => {
                grouped.remove(row);
                if let Some(last) = groups.remove_row(number, (row, file), old) {
                    grouped.remove(last);
                    *found.get_mut() = Slot::row(last);
                }
            }
        }
        if let Some(cell) = hashes.get_mut(row as usize) {
            *cell = 0;
        }
    }

    /// Whether the row was added without comparison.
    pub fn is_uncompared(&self, row: u32) -> bool {
        self.uncompared.contains(row)
    }

    /// All rows that were added without comparison.
    pub const fn uncompared_rows(&self) -> &RoaringBitmap {
        &self.uncompared
    }

    /// Whether the row is in the index.
    pub fn contains(&self, row: u32) -> bool {
        self.hashes.get(row as usize).is_some_and(|short| *short != 0) || self.uncompared.contains(row)
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.shards.iter().map(HashTable::len).sum::<usize>() + self.uncompared.len() as usize
    }

    /// Whether another row names the same page.
    pub fn is_duplicate(&self, row: u32) -> bool {
        self.group_of(row).is_some()
    }

    /// Every row that shares its page with another.
    pub fn rows_of_groups(&self) -> RoaringBitmap {
        self.groups.all_rows()
    }

    /// Those of a range of rows, ascending.
    pub fn rows_of_groups_in(&self, rows: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        self.grouped.range(rows)
    }

    /// All rows that name the same page as this one, itself included, in order; empty if it is alone.
    pub fn members(&self, row: u32) -> Vec<u32> {
        let mut rows = RoaringBitmap::new();
        if let Some(group) = self.group_of(row) {
            group.add_to(&mut rows);
        }
        rows.into_iter().collect()
    }

    /// The row that this one repeats: the first with the same text, or else the first of the same page.
    pub fn original(&self, row: u32, locs: &impl Locs) -> Option<u32> {
        let (rows_of_page, rows_of_text) = self.page_of(row, locs)?;
        let first = rows_of_text.first()?;
        let original = if first == row { rows_of_page.first()? } else { first };
        (original != row).then_some(original)
    }

    /// All rows of the same page as this one, itself included; `None` if it is alone.
    pub(super) fn group_of(&self, row: u32) -> Option<&Rows> {
        self.groups.rows(self.slot_of(row)?.as_group()?)
    }

    /// All rows of the same page as this one, and those with the same text; `None` if it is alone on its page.
    pub(super) fn page_of(&self, row: u32, locs: &impl Locs) -> Option<(&Rows, &Members)> {
        let number = self.slot_of(row)?.as_group()?;
        Some((self.groups.rows(number)?, self.groups.rows_of_text(number, row, locs)?))
    }

    /// All rows of the page that a URL names, whether the URL itself is in the set or not.
    pub fn rows_of_page(&self, loc: &str, locs: &impl Locs) -> RoaringBitmap {
        let short = shorten(location::key_hash(loc));
        let slots = self.slots();
        let slot = self.table(short).find(spread(short), |&slot| slots.is_page(slot, short, loc, locs));
        let mut rows = RoaringBitmap::new();
        match slot.map(|slot| slot.as_group().ok_or(slot.0)) {
            None => {}
            Some(Err(row)) => {
                rows.insert(row);
            }
            Some(Ok(group)) => self.groups.rows(group).into_iter().for_each(|group| group.add_to(&mut rows)),
        }
        rows
    }

    /// Number of rows of the page with a key hash. `key_of` returns the key hash of a row.
    pub fn rows_of_key(&self, key_hash: u64, key_of: impl Fn(u32) -> Option<u64>) -> u32 {
        let short = shorten(key_hash);
        let slots = self.slots();
        let is_page = |slot: &Slot| {
            let key = || slots.first_row(*slot).and_then(&key_of);
            slots.short_hash(*slot) == short && key() == Some(key_hash)
        };
        match self.table(short).find(spread(short), is_page).map(|slot| slot.as_group()) {
            None => 0,
            Some(None) => 1,
            Some(Some(group)) => self.groups.rows(group).map_or(0, |rows| rows.len() as u32),
        }
    }

    /// Every row in the index.
    pub fn rows(&self) -> RoaringBitmap {
        let mut alone: Vec<u32> =
            self.shards.iter().flatten().filter(|slot| slot.as_group().is_none()).map(|slot| slot.0).collect();
        alone.sort_unstable();
        let mut rows: RoaringBitmap = alone.into_iter().collect();
        rows |= self.groups.all_rows();
        rows | &self.uncompared
    }

    /// Bytes of memory of the index, without groups.
    #[cfg(test)]
    pub fn table_bytes(&self) -> usize {
        self.shards.iter().map(HashTable::allocation_size).sum::<usize>() + self.hashes.capacity() * size_of::<u32>()
    }

    fn slot_of(&self, row: u32) -> Option<Slot> {
        let short = self.hashes.get(row as usize).copied().filter(|short| *short != 0)?;
        if !self.grouped.contains(row) {
            return Some(Slot::row(row));
        }
        self.table(short).find(spread(short), |&slot| self.slots().holds(slot, row)).copied()
    }

    fn slots(&self) -> Slots<'_> {
        Slots { hashes: &self.hashes, groups: &self.groups }
    }

    fn table(&self, short: u32) -> &HashTable<Slot> {
        &self.shards[shard(short)] // there are `SHARDS` from the start
    }
}

/// Data needed to resolve a slot: hashes of rows, groups by number.
#[derive(Clone, Copy)]
struct Slots<'i> {
    hashes: &'i [u32],
    groups: &'i Groups,
}

impl Slots<'_> {
    fn holds(self, slot: Slot, row: u32) -> bool {
        match slot.as_group() {
            None => slot == Slot::row(row),
            Some(group) => self.groups.rows(group).is_some_and(|rows| rows.contains(row)),
        }
    }

    fn first_row(self, slot: Slot) -> Option<u32> {
        match slot.as_group() {
            None => Some(slot.0),
            Some(group) => self.groups.rows(group)?.first(),
        }
    }

    fn short_hash(self, slot: Slot) -> u32 {
        let hash = match slot.as_group() {
            None => self.hashes.get(slot.0 as usize).copied(),
            Some(group) => self.groups.hash(group),
        };
        hash.unwrap_or(0)
    }

    /// Whether the rows of a slot are of the same page as a text with a short hash.
    fn is_page(self, slot: Slot, short: u32, loc: &str, locs: &impl Locs) -> bool {
        self.short_hash(slot) == short
            && self.first_row(slot).and_then(|row| locs.loc(row)).is_some_and(|other| is_same_page(loc, &other))
    }
}

/// A hash of 32 bits; never 0, which marks rows that are not in the index.
const fn shorten(key_hash: u64) -> u32 {
    match (key_hash ^ (key_hash >> 32)) as u32 {
        0 => 1,
        short => short,
    }
}

/// Spreads a short hash over 64 bits: the table uses the low bits for the slot and the top seven for a tag.
pub(super) const fn spread(short: u32) -> u64 {
    (short as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Number of tables; a power of two.
const SHARDS: usize = 256;

/// The table for a hash, chosen by bits that the tables do not use.
const fn shard(short: u32) -> usize {
    (spread(short) >> 40) as usize % SHARDS
}

fn is_same_page(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (mut left, mut right) = (String::new(), String::new());
    location::key(one, &mut left) == location::key(other, &mut right)
}
