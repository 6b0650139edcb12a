//! Groups of rows with the same page, divided into classes of rows with the same URL text.
//!
//! Most groups have one class, which is stored in the group; a table has the others. Invariant: a group has at least two
//! rows, a class in the table at least one, and the three counters are the sums over all classes. Adding and removing a
//! row is O(log n) for any size; equality is decided by the texts.

use super::Locs;
use super::members::{Members, Rows};
use hashbrown::HashTable;
use roaring::RoaringBitmap;
use std::hash::BuildHasher;

#[derive(Debug, Clone)]
struct Group {
    hash: u32,
    rows: Rows,
    /// The hash of one of the texts.
    text: u64,
    /// The rows with this text, if there are any.
    members: Members,
}

/// The rows of a group with a further text.
#[derive(Debug, Clone)]
struct Class {
    text: u64,
    group: u32,
    members: Members,
}

/// All groups of two or more rows.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// By number; free numbers hold empty groups.
    list: Vec<Group>,
    free: Vec<u32>,
    /// The further classes of all groups, by text.
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
        let text = text_hash(&locs.loc(row).unwrap_or_default());
        let group = Group { hash, rows: Rows::of(row), text, members: Members::of(row, locs.file(row)) };
        let number = self.free.pop().unwrap_or(self.list.len() as u32);
        match self.list.get_mut(number as usize) {
            Some(slot) => *slot = group,
            None => self.list.push(group),
        }
        number
    }

    /// Adds a row, with its file and text, to a group.
    pub fn join(&mut self, number: u32, (row, file): (u32, u32), loc: &str, locs: &impl Locs) {
        let Some(group) = self.list.get_mut(number as usize) else { return };
        group.rows.insert(row);
        let text = text_hash(loc);
        let have_text =
            |members: &Members| members.first().and_then(|other| locs.loc(other)).is_some_and(|other| other == loc);
        let known = if group.text == text && have_text(&group.members) {
            Some(&mut group.members)
        } else {
            let is_class = |class: &Class| class.text == text && class.group == number && have_text(&class.members);
            self.classes.find_mut(text, is_class).map(|class| &mut class.members)
        };
        if let Some(members) = known {
            let files = members.files();
            members.insert(row, file);
            self.exact += 1;
            self.across += members.files() - files;
            return;
        }
        self.equivalent += 1;
        let members = Members::of(row, file);
        if group.members.len() == 0 {
            (group.text, group.members) = (text, members);
        } else {
            self.classes.insert_unique(text, Class { text, group: number, members }, |class| class.text);
        }
    }

    /// Removes a row from its group. If only one row remains, the group is removed and that row returned.
    pub fn remove_row(&mut self, number: u32, (row, file): (u32, u32), old: &impl Locs) -> Option<u32> {
        let Self { list, free, classes, exact, equivalent, across } = self;
        let group = list.get_mut(number as usize)?;
        let mut count_removed = |files_less: Option<u64>| match files_less {
            None => *equivalent -= 1,
            Some(files_less) => {
                *exact -= 1;
                *across -= files_less;
            }
        };
        let text = || Some(text_hash(&old.loc(row)?));
        if group.members.contains(row) {
            debug_assert_eq!(text(), Some(group.text), "row {row} leaves with another text than it came with");
            count_removed(remove_member(&mut group.members, row, file));
        } else {
            let contains_row = |class: &Class| class.group == number && class.members.contains(row);
            let class = classes.find_entry(text()?, contains_row);
            debug_assert!(class.is_ok(), "row {row} leaves with another text than it came with");
            if let Ok(mut class) = class {
                let files_less = remove_member(&mut class.get_mut().members, row, file);
                count_removed(files_less);
                if files_less.is_none() {
                    class.remove();
                }
            }
        }
        group.rows.remove(row);
        if group.rows.len() > 1 {
            return None;
        }
        let last = group.rows.first()?;
        group.rows = Rows::default();
        free.push(number);
        if group.members.len() > 0 {
            group.members = Members::default();
        } else if let Ok(class) = classes.find_entry(text_hash(&old.loc(last)?), |class| class.group == number) {
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

    /// The rows of a group with the same text as this one.
    pub fn rows_of_text(&self, number: u32, row: u32, locs: &impl Locs) -> Option<&Members> {
        let group = self.list.get(number as usize)?;
        if group.members.contains(row) {
            return Some(&group.members);
        }
        let is_class = |class: &Class| class.group == number && class.members.contains(row);
        self.classes.find(text_hash(&locs.loc(row)?), is_class).map(|class| &class.members)
    }

    /// Rows that repeat a text, without the first row of each text.
    pub fn exact_rows(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        self.all_members().for_each(|(_, members)| members.add_repeats(&mut rows));
        rows
    }

    /// The first row of each text of a page, without the first text of each page.
    pub fn equivalent_rows(&self) -> RoaringBitmap {
        let firsts = self.all_members().filter_map(|(group, members)| {
            let first = members.first()?;
            (group.rows.first()? != first).then_some(first)
        });
        firsts.collect()
    }

    /// The first row of each further file that repeats a text.
    pub fn across_rows(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        self.all_members().for_each(|(_, members)| members.add_firsts_of_further_files(&mut rows));
        rows
    }

    /// The rows of each text, with their group.
    fn all_members(&self) -> impl Iterator<Item = (&Group, &Members)> {
        let further =
            self.classes.iter().filter_map(|class| Some((self.list.get(class.group as usize)?, &class.members)));
        self.list.iter().map(|group| (group, &group.members)).chain(further)
    }

    /// Every row of every group.
    pub fn all_rows(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        self.list.iter().for_each(|group| group.rows.add_to(&mut rows));
        rows
    }
}

/// Removes a row from those with its text. Returns by how much the number of their files decreases, or `None` if no row
/// is left.
fn remove_member(members: &mut Members, row: u32, file: u32) -> Option<u64> {
    let files = members.files();
    members.remove(row, file);
    (members.len() > 0).then(|| files - members.files())
}

fn text_hash(text: &str) -> u64 {
    foldhash::fast::FixedState::with_seed(1).hash_one(text.as_bytes())
}
