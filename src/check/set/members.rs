//! The rows that share one `loc`, and the files that contain them.
//!
//! Adding and removing a row costs about the same for two rows as for a million.

use hashbrown::HashMap;
use roaring::RoaringBitmap;

/// Maximum number of rows that are stored inline; more are stored in a bitmap.
const MAX_INLINE: usize = 3;

/// A few values without heap allocation.
#[derive(Debug, Clone, Copy, Default)]
pub struct InlineVec<T> {
    values: [T; MAX_INLINE],
    len: u8,
}

impl<T: Copy + Default> InlineVec<T> {
    fn as_slice(&self) -> &[T] {
        self.values.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Inserts a value at an index; false if the list is full.
    fn insert(&mut self, index: usize, value: T) -> bool {
        let Some(tail) = self.values.get_mut(index..=usize::from(self.len)) else { return false };
        tail.rotate_right(1);
        tail[0] = value; // an inclusive range is not empty
        self.len += 1;
        true
    }

    fn remove(&mut self, index: usize) {
        if let Some(tail) = self.values.get_mut(index..usize::from(self.len)) {
            tail.rotate_left(1);
            self.len -= 1;
        }
    }
}

/// An ordered set of row ids, small in memory while it is small.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Ascending.
    Few(InlineVec<u32>),
    /// Used from the first time that there are more than `MAX_INLINE` rows.
    Many(RoaringBitmap),
}

impl Default for Rows {
    fn default() -> Self {
        Self::Few(InlineVec::default())
    }
}

impl Rows {
    /// The set of one row.
    pub fn of(row: u32) -> Self {
        let mut set = Self::default();
        set.insert(row);
        set
    }

    /// Adds a row; does nothing if it is in the set.
    pub fn insert(&mut self, row: u32) {
        match self {
            Self::Few(few) => {
                if let Err(index) = few.as_slice().binary_search(&row)
                    && !few.insert(index, row)
                {
                    *self = Self::Many(few.as_slice().iter().copied().chain([row]).collect());
                }
            }
            Self::Many(rows) => {
                rows.insert(row);
            }
        }
    }

    /// Removes a row; does nothing if it is not in the set.
    pub fn remove(&mut self, row: u32) {
        match self {
            Self::Few(few) => {
                if let Ok(index) = few.as_slice().binary_search(&row) {
                    few.remove(index);
                }
            }
            Self::Many(rows) => {
                rows.remove(row);
            }
        }
    }

    /// Whether the row is in the set.
    pub fn contains(&self, row: u32) -> bool {
        match self {
            Self::Few(few) => few.as_slice().contains(&row),
            Self::Many(rows) => rows.contains(row),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        match self {
            Self::Few(few) => few.as_slice().len() as u64,
            Self::Many(rows) => rows.len(),
        }
    }

    /// The smallest row id.
    pub fn first(&self) -> Option<u32> {
        match self {
            Self::Few(few) => few.as_slice().first().copied(),
            Self::Many(rows) => rows.min(),
        }
    }

    /// Adds all rows to a bitmap.
    pub fn add_to(&self, bitmap: &mut RoaringBitmap) {
        match self {
            Self::Few(few) => bitmap.extend(few.as_slice().iter().copied()),
            Self::Many(rows) => *bitmap |= rows,
        }
    }
}

/// The rows with one URL text, each with its file.
#[derive(Debug, Clone)]
pub enum Members {
    /// `(row, file)`, ascending.
    Few(InlineVec<(u32, u32)>),
    /// Used from the first time that there are more than `MAX_INLINE` rows.
    Many(Box<LargeGroup>),
}

/// All rows, and the rows of each file.
#[derive(Debug, Clone, Default)]
pub struct LargeGroup {
    rows: RoaringBitmap,
    by_file: HashMap<u32, Rows, foldhash::fast::FixedState>,
}

impl LargeGroup {
    fn insert(&mut self, row: u32, file: u32) {
        self.rows.insert(row);
        self.by_file.entry(file).or_default().insert(row);
    }

    fn remove(&mut self, row: u32, file: u32) {
        self.rows.remove(row);
        if let Some(rows) = self.by_file.get_mut(&file) {
            rows.remove(row);
            if rows.len() == 0 {
                self.by_file.remove(&file);
            }
        }
    }
}

impl Default for Members {
    fn default() -> Self {
        Self::Few(InlineVec::default())
    }
}

impl Members {
    /// One row.
    pub fn of(row: u32, file: u32) -> Self {
        let mut few = InlineVec::default();
        few.insert(0, (row, file));
        Self::Few(few)
    }

    /// Adds a row that is not among them.
    pub fn insert(&mut self, row: u32, file: u32) {
        match self {
            Self::Few(few) => {
                let index = few.as_slice().partition_point(|&(other, _)| other < row);
                if !few.insert(index, (row, file)) {
                    let mut many = LargeGroup::default();
                    for &(row, file) in few.as_slice().iter().chain(&[(row, file)]) {
                        many.insert(row, file);
                    }
                    *self = Self::Many(Box::new(many));
                }
            }
            Self::Many(many) => many.insert(row, file),
        }
    }

    /// Removes a row that was added with this file.
    pub fn remove(&mut self, row: u32, file: u32) {
        match self {
            Self::Few(few) => {
                if let Some(index) = few.as_slice().iter().position(|&(other, _)| other == row) {
                    few.remove(index);
                }
            }
            Self::Many(many) => many.remove(row, file),
        }
    }

    /// Whether the row is among them.
    pub fn contains(&self, row: u32) -> bool {
        match self {
            Self::Few(few) => few.as_slice().iter().any(|&(other, _)| other == row),
            Self::Many(many) => many.rows.contains(row),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        match self {
            Self::Few(few) => few.as_slice().len() as u64,
            Self::Many(many) => many.rows.len(),
        }
    }

    /// The smallest row id.
    pub fn first(&self) -> Option<u32> {
        match self {
            Self::Few(few) => few.as_slice().first().map(|&(row, _)| row),
            Self::Many(many) => many.rows.min(),
        }
    }

    /// Number of files that contain them.
    pub fn files(&self) -> u64 {
        match self {
            Self::Few(few) => {
                let pairs = few.as_slice();
                (0..pairs.len()).filter(|&index| is_first_of_file(pairs, index)).count() as u64
            }
            Self::Many(many) => many.by_file.len() as u64,
        }
    }

    /// Whether the row is the first of its file, but not the first of all.
    pub fn is_first_in_further_file(&self, row: u32, file: u32) -> bool {
        self.first() != Some(row)
            && match self {
                Self::Few(few) => {
                    few.as_slice().iter().find(|&&(_, other)| other == file).is_some_and(|&(first, _)| first == row)
                }
                Self::Many(many) => many.by_file.get(&file).and_then(Rows::first) == Some(row),
            }
    }

    /// Adds every row but the first to a bitmap.
    pub fn add_repeats(&self, bitmap: &mut RoaringBitmap) {
        match self {
            Self::Few(few) => bitmap.extend(few.as_slice().iter().skip(1).map(|&(row, _)| row)),
            Self::Many(many) => {
                let first = many.rows.min();
                let had = first.is_some_and(|first| bitmap.contains(first));
                *bitmap |= &many.rows;
                if let (Some(first), false) = (first, had) {
                    bitmap.remove(first);
                }
            }
        }
    }

    /// Adds the first row of each file but the file of the first row to a bitmap.
    pub fn add_firsts_of_further_files(&self, bitmap: &mut RoaringBitmap) {
        match self {
            Self::Few(few) => {
                let pairs = few.as_slice();
                let further = (1..pairs.len()).filter(|&index| is_first_of_file(pairs, index));
                bitmap.extend(further.filter_map(|index| pairs.get(index)).map(|&(row, _)| row));
            }
            Self::Many(many) => {
                let first = many.rows.min();
                bitmap.extend(many.by_file.values().filter_map(Rows::first).filter(|&row| Some(row) != first));
            }
        }
    }
}

fn is_first_of_file(pairs: &[(u32, u32)], index: usize) -> bool {
    let file = pairs.get(index).map(|&(_, file)| file);
    !pairs.iter().take(index).any(|&(_, other)| Some(other) == file)
}
