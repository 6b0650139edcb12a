//! Groups of rows with the same page, divided into classes of rows with the same URL text.
//!
//! Invariant: a group has at least two rows, a class at least one, and the three counters are the sums over all
//! classes. Adding and removing a row is O(log n) for any size; equality is decided by the texts.

use super::Locs;
use super::members::{Members, Rows};
use hashbrown::HashTable;
use roaring::RoaringBitmap;
use std::hash::BuildHasher;

#[derive(Debug, Clone)]
struct Group {
    hash: u32,
    rows: Rows,
}

/// The rows with one URL text.
#[derive(Debug, Clone)]
pub struct Class {
    hash: u64,
    group: u32,
    /// The rows, each with its file.
    pub members: Members,
}

/// All groups of two or more rows.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// By number; free numbers hold empty groups.
    list: Vec<Group>,
    free: Vec<u32>,
    /// The classes of all groups, by text.
    classes: HashTable<Class>,
    /// Rows that repeat the text of an earlier one.
    pub exact: u64,
    /// Texts that repeat the page of an earlier one.
    pub equivalent: u64,
    /// Files that repeat a text of an earlier one.
    pub across: u64,
}

impl Groups {
    /// Opens a group for a row and returns its number. Another row must join next.
    pub fn open(&mut self, row: u32, hash: u32, locs: &impl Locs) -> u32 {
        let group = Group { hash, rows: Rows::of(row) };
        let number = self.free.pop().unwrap_or(self.list.len() as u32);
        match self.list.get_mut(number as usize) {
            Some(slot) => *slot = group,
            None => self.list.push(group),
        }
        let text = text_hash(&locs.loc(row).unwrap_or_default());
        self.add_class(text, number, Members::of(row, locs.file(row)));
        number
    }

    /// Adds a row, with its file and text, to a group.
    pub fn join(&mut self, number: u32, (row, file): (u32, u32), loc: &str, locs: &impl Locs) {
        let Some(group) = self.list.get_mut(number as usize) else { return };
        group.rows.insert(row);
        let text = text_hash(loc);
        let found = self.classes.find_mut(text, |class| {
            class.hash == text
                && class.group == number
                && class.members.first().and_then(|other| locs.loc(other)).is_some_and(|other| other == loc)
        });
        if let Some(class) = found {
            let files = class.members.files();
            class.members.insert(row, file);
            self.exact += 1;
            self.across += class.members.files() - files;
        } else {
            self.equivalent += 1;
            self.add_class(text, number, Members::of(row, file));
        }
    }

    /// Removes a row from its group. If only one row remains, the group is removed and that row returned.
    pub fn remove_row(&mut self, number: u32, (row, file): (u32, u32), old: &impl Locs) -> Option<u32> {
        let text = text_hash(&old.loc(row)?);
        let contains_row = |class: &Class| class.group == number && class.members.contains(row);
        debug_assert!(
            self.classes.find(text, contains_row).is_some(),
            "row {row} leaves with another text than it came with"
        );
        if let Ok(mut class) = self.classes.find_entry(text, contains_row) {
            let members = &mut class.get_mut().members;
            let files = members.files();
            members.remove(row, file);
            if members.len() == 0 {
                class.remove();
                self.equivalent -= 1;
            } else {
                self.exact -= 1;
                self.across -= files - members.files();
            }
        }
        let group = self.list.get_mut(number as usize)?;
        group.rows.remove(row);
        if group.rows.len() > 1 {
            return None;
        }
        let last = group.rows.first()?;
        group.rows = Rows::default();
        self.free.push(number);
        let text = text_hash(&old.loc(last)?);
        if let Ok(class) = self.classes.find_entry(text, |class| class.group == number) {
            class.remove();
        }
        Some(last)
    }

    /// The rows of a group.
    pub fn rows(&self, number: u32) -> Option<&Rows> {
        self.list.get(number as usize).map(|group| &group.rows)
    }

    /// The short hash of the key of a group's rows.
    pub fn hash(&self, number: u32) -> Option<u32> {
        self.list.get(number as usize).map(|group| group.hash)
    }

    /// The class of a row of a group.
    pub fn class_of(&self, number: u32, row: u32, locs: &impl Locs) -> Option<&Class> {
        let text = text_hash(&locs.loc(row)?);
        self.classes.find(text, |class| class.group == number && class.members.contains(row))
    }

    /// Rows that repeat a text, without the first row of each text.
    pub fn exact_rows(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        self.classes.iter().for_each(|class| class.members.add_repeats(&mut rows));
        rows
    }

    /// The first row of each text of a page, without the first text of each page.
    pub fn equivalent_rows(&self) -> RoaringBitmap {
        let firsts = self.classes.iter().filter_map(|class| {
            let first = class.members.first()?;
            (self.rows(class.group)?.first()? != first).then_some(first)
        });
        firsts.collect()
    }

    /// The first row of each further file that repeats a text.
    pub fn across_rows(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        self.classes.iter().for_each(|class| class.members.add_firsts_of_further_files(&mut rows));
        rows
    }

    /// Every row of every group.
    pub fn all_rows(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        self.list.iter().for_each(|group| group.rows.add_to(&mut rows));
        rows
    }

    fn add_class(&mut self, hash: u64, group: u32, members: Members) {
        self.classes.insert_unique(hash, Class { hash, group, members }, |class| class.hash);
    }
}

fn text_hash(text: &str) -> u64 {
    foldhash::fast::FixedState::with_seed(1).hash_one(text.as_bytes())
}
