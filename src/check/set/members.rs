//! The rows that share one `loc`, and the files they are in.
//!
//! Invariant: adding and removing cost about the same whether two rows share the URL or a million do.

use hashbrown::HashMap;
use roaring::RoaringBitmap;

/// Up to this many rows are a plain list; more are a bitmap. Small in tests, so that they see both.
const FEW: usize = if cfg!(test) { 3 } else { 16 };

/// An ordered set of row ids, small in memory while it is small.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Ascending.
    Few(Vec<u32>),
    /// More than [`FEW`] at some time.
    Many(RoaringBitmap),
}

impl Rows {
    /// The set of these rows.
    pub fn of(rows: &[u32]) -> Self {
        let mut set = Self::Few(Vec::with_capacity(rows.len()));
        for &row in rows {
            set.insert(row);
        }
        set
    }

    /// Adds a row; does nothing if it is there.
    pub fn insert(&mut self, row: u32) {
        match self {
            Self::Few(rows) => {
                if let Err(place) = rows.binary_search(&row) {
                    rows.insert(place, row);
                }
                if rows.len() > FEW {
                    *self = Self::Many(rows.iter().copied().collect());
                }
            }
            Self::Many(rows) => {
                rows.insert(row);
            }
        }
    }

    /// Takes a row out; does nothing if it is not there.
    pub fn remove(&mut self, row: u32) {
        match self {
            Self::Few(rows) => rows.retain(|&other| other != row),
            Self::Many(rows) => {
                rows.remove(row);
            }
        }
    }

    /// Whether the row is in the set.
    pub fn contains(&self, row: u32) -> bool {
        match self {
            Self::Few(rows) => rows.contains(&row),
            Self::Many(rows) => rows.contains(row),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Few(rows) => rows.len() as u64,
            Self::Many(rows) => rows.len(),
        }
    }

    /// The smallest row id.
    pub fn first(&self) -> Option<u32> {
        match self {
            Self::Few(rows) => rows.first().copied(),
            Self::Many(rows) => rows.min(),
        }
    }

    /// Adds all rows to a bitmap.
    pub fn add_to(&self, bitmap: &mut RoaringBitmap) {
        match self {
            Self::Few(rows) => bitmap.extend(rows.iter().copied()),
            Self::Many(rows) => *bitmap |= rows,
        }
    }
}

/// The rows of one text, each with its file.
#[derive(Debug, Clone)]
pub enum Members {
    /// `(row, file)`, ascending.
    Few(Vec<(u32, u32)>),
    /// More than [`FEW`] at some time.
    Many(Box<Crowd>),
}

/// All rows, and the rows of each file.
#[derive(Debug, Clone, Default)]
pub struct Crowd {
    rows: RoaringBitmap,
    by_file: HashMap<u32, Rows, foldhash::fast::FixedState>,
}

impl Members {
    /// One row.
    pub fn of(row: u32, file: u32) -> Self {
        Self::Few(vec![(row, file)])
    }

    /// Adds a row that is not there.
    pub fn insert(&mut self, row: u32, file: u32) {
        match self {
            Self::Few(pairs) => {
                let place = pairs.partition_point(|&(other, _)| other < row);
                pairs.insert(place, (row, file));
                if pairs.len() > FEW {
                    let mut many = Self::Many(Box::default());
                    for &(row, file) in &*pairs {
                        many.insert(row, file);
                    }
                    *self = many;
                }
            }
            Self::Many(many) => {
                many.rows.insert(row);
                many.by_file.entry(file).or_insert_with(|| Rows::of(&[])).insert(row);
            }
        }
    }

    /// Takes a row out that was added with this file.
    pub fn remove(&mut self, row: u32, file: u32) {
        match self {
            Self::Few(pairs) => pairs.retain(|&(other, _)| other != row),
            Self::Many(many) => {
                many.rows.remove(row);
                if let Some(rows) = many.by_file.get_mut(&file) {
                    rows.remove(row);
                    if rows.len() == 0 {
                        many.by_file.remove(&file);
                    }
                }
            }
        }
    }

    /// Whether the row is among them.
    pub fn contains(&self, row: u32) -> bool {
        match self {
            Self::Few(pairs) => pairs.iter().any(|&(other, _)| other == row),
            Self::Many(many) => many.rows.contains(row),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Few(pairs) => pairs.len() as u64,
            Self::Many(many) => many.rows.len(),
        }
    }

    /// The smallest row id.
    pub fn first(&self) -> Option<u32> {
        match self {
            Self::Few(pairs) => pairs.first().map(|&(row, _)| row),
            Self::Many(many) => many.rows.min(),
        }
    }

    /// How many files they are in.
    pub fn files(&self) -> u64 {
        match self {
            Self::Few(pairs) => (0..pairs.len()).filter(|&place| is_first_of_file(pairs, place)).count() as u64,
            Self::Many(many) => many.by_file.len() as u64,
        }
    }

    /// Whether the row is the first in its file of a text whose very first row is in another file.
    pub fn is_first_in_further_file(&self, row: u32, file: u32) -> bool {
        self.first() != Some(row)
            && match self {
                Self::Few(pairs) => {
                    pairs.iter().find(|&&(_, other)| other == file).is_some_and(|&(first, _)| first == row)
                }
                Self::Many(many) => many.by_file.get(&file).and_then(Rows::first) == Some(row),
            }
    }

    /// Adds every row but the first to a bitmap.
    pub fn add_repeats(&self, bitmap: &mut RoaringBitmap) {
        match self {
            Self::Few(pairs) => bitmap.extend(pairs.iter().skip(1).map(|&(row, _)| row)),
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
            Self::Few(pairs) => {
                let further = (1..pairs.len()).filter(|&place| is_first_of_file(pairs, place));
                bitmap.extend(further.filter_map(|place| pairs.get(place)).map(|&(row, _)| row));
            }
            Self::Many(many) => {
                let first = many.rows.min();
                bitmap.extend(many.by_file.values().filter_map(Rows::first).filter(|&row| Some(row) != first));
            }
        }
    }
}

fn is_first_of_file(pairs: &[(u32, u32)], place: usize) -> bool {
    let file = pairs.get(place).map(|&(_, file)| file);
    !pairs.iter().take(place).any(|&(_, other)| Some(other) == file)
}
