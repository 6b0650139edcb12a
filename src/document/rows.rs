//! Row ids, sets of them, and the order of the rows of one file.
//!
//! A [`RowId`] never changes; only an undo of the insertion of its row frees it. The order of a loaded file is one
//! range of consecutive ids. If rows were added or moved, parts of it are stored as explicit ids, in pieces that are
//! cheap to copy.

use crate::persistent::PAGE;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Identity of a row for as long as the document is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RowId(pub u32);

impl RowId {
    /// As an index into the columns.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of rows.
pub type RowSet = roaring::RoaringBitmap;

/// The runs of consecutive ids of a set within a range; faster than iterating over single ids.
pub fn runs(rows: &RowSet, range: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut rows = rows.range(range);
    std::iter::from_fn(move || {
        let run = rows.next_range()?;
        // Ids never reach `u32::MAX`.
        Some(*run.start()..run.end().saturating_add(1))
    })
}

/// The ids of a set within a range, in order.
pub fn ids(rows: &RowSet, range: Range<u32>) -> impl Iterator<Item = u32> + '_ {
    runs(rows, range).flatten()
}

/// The column pages that contain ids of a set within a range, in order, each with its range of ids.
pub fn pages(rows: &RowSet, range: Range<u32>) -> impl Iterator<Item = (usize, Range<u32>)> + '_ {
    let page = |row: u32| row as usize / PAGE;
    let mut last = None;
    let numbers = runs(rows, range).flat_map(move |run| page(run.start)..=page(run.end.saturating_sub(1)));
    let numbers = numbers.filter(move |number| last.replace(*number) != Some(*number));
    numbers.map(|number| (number, (number * PAGE) as u32..((number + 1) * PAGE) as u32))
}

/// Ids per parallel task: those of one container of a [`RowSet`].
const CHUNK: u32 = 1 << 16;

/// Maps chunks of a set in parallel, with results in order; `None` if one of them is `None`.
pub fn par_chunks<T: Send>(rows: &RowSet, map: impl Fn(Range<u32>) -> Option<T> + Sync) -> Option<Vec<T>> {
    let shares: Vec<Range<u32>> = match (rows.min(), rows.max()) {
        (Some(first), Some(last)) => (first / CHUNK..=last / CHUNK)
            .map(|chunk| chunk * CHUNK..(chunk * CHUNK).saturating_add(CHUNK))
            .filter(|chunk| rows.range_cardinality(chunk.clone()) > 0)
            .collect(),
        _ => Vec::new(),
    };
    shares.into_par_iter().map(&map).collect()
}

/// A set of ids in ascending order.
pub fn in_order(ids: Vec<u32>) -> RowSet {
    match (ids.first(), ids.last()) {
        (Some(first), Some(last)) if (last - first) as usize + 1 == ids.len() => {
            let mut set = RowSet::new();
            set.insert_range(*first..=*last);
            set
        }
        _ => ids.into_iter().collect(),
    }
}

/// Maximum number of ids in an explicit piece; inserting a row copies one piece.
const MAX_PIECE: usize = 1_024;

/// Maximum number of consecutive ids that are stored as explicit ids if they follow explicit ids.
const MAX_SHORT_RANGE: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Consecutive ids.
    Range { first: u32, len: u32 },
    /// Any ids, at most [`MAX_PIECE`].
    Ids(Arc<[u32]>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Range { len, .. } => *len as usize,
            Self::Ids(ids) => ids.len(),
        }
    }

    fn get(&self, at: usize) -> Option<u32> {
        match self {
            Self::Range { first, len } => (at < *len as usize).then(|| first + at as u32),
            Self::Ids(ids) => ids.get(at).copied(),
        }
    }

    fn position(&self, id: u32) -> Option<usize> {
        match self {
            Self::Range { first, len } => id.checked_sub(*first).filter(|at| at < len).map(|at| at as usize),
            Self::Ids(ids) => ids.iter().position(|other| *other == id),
        }
    }
}

/// The order of one file's rows, deleted ones included until they are saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowList {
    pieces: Arc<Vec<Piece>>,
    len: usize,
}

impl RowList {
    /// `len` consecutive ids.
    pub fn range(first: u32, len: u32) -> Self {
        let pieces = if len == 0 { Vec::new() } else { vec![Piece::Range { first, len }] };
        Self { pieces: Arc::new(pieces), len: len as usize }
    }

    /// The ids, if they are consecutive.
    pub fn as_range(&self) -> Option<Range<u32>> {
        match self.pieces.as_slice() {
            [] => Some(0..0),
            [Piece::Range { first, len }] => Some(*first..*first + *len),
            _ => None,
        }
    }

    /// Any order; runs of consecutive ids are stored as ranges.
    pub fn from_ids(ids: impl IntoIterator<Item = u32>) -> Self {
        let mut builder = Builder::default();
        for id in ids {
            builder.push(id);
        }
        builder.finish()
    }

    /// Number of rows.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The row at a position.
    pub fn get(&self, mut position: usize) -> Option<RowId> {
        for piece in self.pieces.iter() {
            if position < piece.len() {
                return piece.get(position).map(RowId);
            }
            position -= piece.len();
        }
        None
    }

    /// The position of a row.
    pub fn position(&self, row: RowId) -> Option<usize> {
        let mut before = 0;
        for piece in self.pieces.iter() {
            if let Some(at) = piece.position(row.0) {
                return Some(before + at);
            }
            before += piece.len();
        }
        None
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = RowId> + '_ {
        self.ranges().flatten().map(RowId)
    }

    /// The ids of all rows in order, as ranges of consecutive ones.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.pieces.iter().flat_map(|piece| {
            let (range, ids) = match piece {
                Piece::Range { first, len } => (Some(*first..*first + *len), &[][..]),
                Piece::Ids(ids) => (None, &ids[..]),
            };
            range.into_iter().chain(ids.iter().map(|id| *id..*id + 1))
        })
    }

    /// The list with rows inserted after some of its rows, in one pass.
    #[must_use]
    pub fn with_inserted_after(&self, new: &HashMap<u32, Vec<RowId>>) -> Self {
        let preceding_rows: RowSet = new.keys().copied().collect();
        let mut builder = Builder::default();
        let push_new = |builder: &mut Builder, row: u32| {
            new.get(&row).into_iter().flatten().for_each(|new| builder.push(new.0));
        };
        for piece in self.pieces.iter() {
            match piece {
                Piece::Range { first, len } => {
                    let mut from = 0;
                    for row in preceding_rows.range(*first..first.saturating_add(*len)) {
                        let cut = (row - first) as usize + 1;
                        builder.push_piece(piece, from, cut);
                        push_new(&mut builder, row);
                        from = cut;
                    }
                    builder.push_piece(piece, from, *len as usize);
                }
                Piece::Ids(ids) => {
                    for id in ids.iter() {
                        builder.push(*id);
                        push_new(&mut builder, *id);
                    }
                }
            }
        }
        builder.finish()
    }

    /// The list with rows inserted at a position, or at the end.
    #[must_use]
    pub fn with_inserted(&self, position: usize, rows: &[RowId]) -> Self {
        let mut builder = Builder::default();
        let mut before = 0;
        let mut pending = Some(rows);
        for piece in self.pieces.iter() {
            let len = piece.len();
            match pending {
                Some(rows) if position < before + len => {
                    let cut = position - before;
                    builder.push_piece(piece, 0, cut);
                    for row in rows {
                        builder.push(row.0);
                    }
                    builder.push_piece(piece, cut, len);
                    pending = None;
                }
                _ => builder.push_piece(piece, 0, len),
            }
            before += len;
        }
        for row in pending.unwrap_or_default() {
            builder.push(row.0);
        }
        builder.finish()
    }
}

/// Builds a [`RowList`] from ids and pieces.
#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
    ids: Vec<u32>,
    len: usize,
}

impl Builder {
    fn push(&mut self, id: u32) {
        self.len += 1;
        if self.ids.is_empty()
            && let Some(Piece::Range { first, len }) = self.pieces.last_mut()
            && *first + *len == id
        {
            *len += 1;
            return;
        }
        self.ids.push(id);
        if self.ids.len() == MAX_PIECE {
            self.flush();
        }
    }

    fn push_piece(&mut self, piece: &Piece, from: usize, to: usize) {
        match piece {
            // A short range between inserted rows is stored as ids, since lookups visit pieces one by one.
            Piece::Range { first, .. } if !self.ids.is_empty() && to - from <= MAX_SHORT_RANGE => {
                (from..to).for_each(|at| self.push(first + at as u32));
            }
            Piece::Range { first, .. } if to > from => {
                self.flush();
                self.pieces.push(Piece::Range { first: first + from as u32, len: (to - from) as u32 });
                self.len += to - from;
            }
            Piece::Range { .. } => {}
            // A whole piece is shared, unless it is small enough to be merged with its neighbour.
            Piece::Ids(ids) if to - from == ids.len() && (self.ids.is_empty() || ids.len() > MAX_PIECE / 2) => {
                self.flush();
                self.pieces.push(Piece::Ids(Arc::clone(ids)));
                self.len += ids.len();
            }
            Piece::Ids(ids) => {
                for id in ids.get(from..to).unwrap_or_default() {
                    self.push(*id);
                }
            }
        }
    }

    fn flush(&mut self) {
        if self.ids.is_empty() {
            return;
        }
        let ids = std::mem::take(&mut self.ids);
        let first = ids.first().copied().unwrap_or_default();
        let consecutive = ids.iter().enumerate().all(|(at, id)| *id == first.wrapping_add(at as u32));
        self.pieces.push(if consecutive {
            Piece::Range { first, len: ids.len() as u32 }
        } else {
            Piece::Ids(ids.into())
        });
    }

    fn finish(mut self) -> RowList {
        self.flush();
        RowList { pieces: Arc::new(self.pieces), len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_loaded_file_is_one_range_and_an_insertion_splits_it() {
        let list = RowList::range(10, 50_000);
        assert_eq!(list.pieces.len(), 1);
        let list = list.with_inserted(2, &[RowId(99_999)]);
        assert_eq!(list.pieces.len(), 3);
        assert_eq!(list.iter().take(4).map(|row| row.0).collect::<Vec<_>>(), [10, 11, 99_999, 12]);
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_vector(
            start in 0u32..3_000,
            inserts in proptest::collection::vec((any::<usize>(), 1usize..1_500), 0..12),
        ) {
            let mut model: Vec<u32> = (0..start).collect();
            let mut list = RowList::range(0, start);
            let mut next = start;
            for (at, count) in inserts {
                let at = at % (model.len() + 1);
                let rows: Vec<RowId> = (0..count as u32).rev().map(|n| RowId(next + n)).collect();
                next += count as u32;
                model.splice(at..at, rows.iter().map(|row| row.0));
                list = list.with_inserted(at, &rows);
                prop_assert!(list.iter().map(|row| row.0).eq(model.iter().copied()));
            }
            prop_assert_eq!(list.len(), model.len());
            for (at, id) in model.iter().enumerate().step_by(97) {
                prop_assert_eq!(list.get(at), Some(RowId(*id)));
                prop_assert_eq!(list.position(RowId(*id)), Some(at));
            }
            prop_assert_eq!(list.get(model.len()), None);
            prop_assert!(RowList::from_ids(model.iter().copied()).iter().eq(list.iter()));
        }
    }
}
