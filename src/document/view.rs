//! `View`: which rows are shown, in which order, for a filter and sort keys.
//!
//! Without filter and sort it stores nothing per row. Rows that were edited out of the filter stay where they
//! are until the view is rebuilt, so that editing a row never moves it.

use super::Document;
use super::needle::NeedleSearch;
use super::query::{Query, RowFacts};
use super::rows::{RowId, RowSet};
use super::sitemap::SitemapId;
use super::sort::{self, Column, SortBy, SortKey};
use super::{numeric_sort, text_sort};
use crate::progress::Progress;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The filter and sort keys of a view.
#[derive(Debug, Clone, Default)]
pub struct ViewSpec {
    /// Rows that pass are shown; `None` shows all.
    pub filter: Option<Query>,
    /// The first key decides first; empty is the file order.
    pub sort: Vec<SortKey>,
}

impl ViewSpec {
    /// Whether it shows all rows in file order.
    pub fn is_plain(&self) -> bool {
        self.filter.as_ref().is_none_or(Query::matches_all) && self.sort.is_empty()
    }
}

#[derive(Debug, Clone)]
enum Order {
    /// All rows in file order: first position of each sitemap, then the total.
    File(Arc<Vec<u32>>),
    /// A list of rows, and the number of each row in the file order.
    List { rows: Arc<Vec<u32>>, numbers: Numbers },
}

/// The number of each row in the file order, by row id, from 1.
#[derive(Debug, Clone)]
enum Numbers {
    /// The file order is the id order; contains the number of ids.
    IdOrder(u32),
    /// Any other order; 0 for rows without a position.
    Table(Arc<[u32]>),
}

impl Numbers {
    fn of(document: &Document) -> Self {
        let mut end = 0;
        let mut continues =
            |range: &Range<u32>| range.is_empty() || std::mem::replace(&mut end, range.end) == range.start;
        let mut ranges = document.sitemaps().iter().map(|sitemap| sitemap.rows.as_range());
        if ranges.all(|range| range.as_ref().is_some_and(&mut continues)) && end == document.row_limit() {
            return Self::IdOrder(end);
        }
        let mut numbers = vec![0u32; document.row_limit() as usize];
        for (number, row) in document.rows().enumerate() {
            if let Some(slot) = numbers.get_mut(row.index()) {
                *slot = number as u32 + 1;
            }
        }
        Self::Table(numbers.into())
    }

    fn get(&self, row: u32) -> u32 {
        match self {
            Self::IdOrder(end) => {
                if row < *end {
                    row + 1
                } else {
                    0
                }
            }
            Self::Table(numbers) => numbers.get(row as usize).copied().unwrap_or_default(),
        }
    }
}

/// The rows of a view in order.
#[derive(Debug, Clone)]
pub struct View {
    order: Order,
}

impl Default for View {
    fn default() -> Self {
        Self { order: Order::File(Arc::new(vec![0])) }
    }
}

/// Rows per work item, small enough that cancelling takes effect at once.
const CHUNK_ROWS: usize = 4_096;

impl View {
    /// All rows in file order.
    pub fn file_order(document: &Document) -> Self {
        let mut total = 0u32;
        let mut starts: Vec<u32> = Vec::with_capacity(document.sitemaps().len() + 1);
        for sitemap in document.sitemaps() {
            starts.push(total);
            total += sitemap.rows.len() as u32;
        }
        starts.push(total);
        Self { order: Order::File(Arc::new(starts)) }
    }

    /// Adds the rows of files that were just appended, unless the view is filtered or sorted: then they are not shown
    /// until it is built again. The cost does not depend on the number of earlier files, unless the view is shared.
    pub fn append_files(&mut self, document: &Document) {
        // The start of each file, and the end of the last.
        let Order::File(starts) = &mut self.order else { return };
        let Some(known_files) = starts.len().checked_sub(1) else { return *self = Self::file_order(document) };
        let mut total = starts.last().copied().unwrap_or_default();
        let starts = Arc::make_mut(starts);
        for sitemap in document.sitemaps().iter().skip(known_files) {
            total += sitemap.rows.len() as u32;
            starts.push(total);
        }
    }

    /// Filters and sorts on all cores; `None` when cancelled. `facts` returns the properties of a row that queries
    /// test.
    pub fn build<R: RowFacts>(
        document: &Document,
        spec: &ViewSpec,
        facts: &(impl Fn(RowId) -> R + Sync),
        progress: &Progress,
    ) -> Option<Self> {
        if spec.is_plain() {
            return Some(Self::file_order(document));
        }
        let numbers = Numbers::of(document);
        let all = || -> Vec<u32> {
            match numbers {
                Numbers::IdOrder(end) => (0..end).collect(),
                Numbers::Table(_) => document.rows().map(|row| row.0).collect(),
            }
        };
        let mut rows = match spec.filter.as_ref().filter(|query| !query.matches_all()) {
            None => all(),
            Some(query) => match query.needle().filter(|_| !document.is_streamed()) {
                None => matching_rows(&all(), query, facts, progress)?,
                Some((needle, decides)) => {
                    let search = NeedleSearch { document, needle, decides };
                    in_file_order(search.rows(|row| query.matches(&facts(row)), progress)?, &numbers)
                }
            },
        };
        if !spec.sort.is_empty() {
            rows = RowSort { document, numbers: &numbers, keys: &spec.sort, progress }.sorted(rows, facts)?;
        }
        Some(Self { order: Order::List { rows: Arc::new(rows), numbers } })
    }

    /// Number of rows.
    pub fn len(&self) -> u32 {
        match &self.order {
            Order::File(starts) => starts.last().copied().unwrap_or_default(),
            Order::List { rows, .. } => rows.len() as u32,
        }
    }

    /// Whether no row is shown.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all rows are shown in file order.
    pub const fn is_file_order(&self) -> bool {
        matches!(self.order, Order::File(_))
    }

    /// The row at a position.
    pub fn row_at(&self, document: &Document, position: u32) -> Option<RowId> {
        match &self.order {
            Order::File(starts) => {
                let file = starts.partition_point(|start| *start <= position).checked_sub(1)?;
                let within = position - starts.get(file)?;
                document.sitemap(SitemapId(file as u32))?.rows.get(within as usize)
            }
            Order::List { rows, .. } => rows.get(position as usize).copied().map(RowId),
        }
    }

    /// The position of a row.
    pub fn position_of(&self, document: &Document, row: RowId) -> Option<u32> {
        match &self.order {
            Order::File(starts) => {
                if row.0 >= document.row_limit() {
                    return None;
                }
                let file = document.sitemap_of(row);
                let within = document.sitemap(file)?.rows.position(row)?;
                Some(starts.get(file.index())? + within as u32)
            }
            Order::List { rows, .. } => rows.iter().position(|other| *other == row.0).map(|at| at as u32),
        }
    }

    /// The position in this view of the row that is nearest to `row` in another view of the same document; of two
    /// equally near rows, the later.
    pub fn nearest_to(&self, document: &Document, row: RowId, other: &Self) -> Option<u32> {
        let from = other.position_of(document, row)?;
        let shown: RowSet = self.rows(document).map(|row| row.0).collect();
        let is_shown = |at: &u32| other.row_at(document, *at).is_some_and(|row| shown.contains(row.0));
        let after = (from..other.len()).find(is_shown);
        // Search backwards only as far as a row would be nearer than the one after.
        let least = after.map_or(0, |after| from.saturating_sub((after - from).saturating_sub(1)));
        let before = (least..from).rev().find(is_shown);
        self.position_of(document, other.row_at(document, before.or(after)?)?)
    }

    /// The number of a row in the file order of the whole set, from 1; 0 for rows that were added after the view was
    /// built.
    pub fn number(&self, document: &Document, row: RowId) -> u32 {
        match &self.order {
            Order::File(_) => self.position_of(document, row).map_or(0, |position| position + 1),
            Order::List { numbers, .. } => numbers.get(row.0),
        }
    }

    /// The shown rows in order.
    pub fn rows<'v>(&'v self, document: &'v Document) -> Box<dyn Iterator<Item = RowId> + 'v> {
        match &self.order {
            Order::File(_) => Box::new(document.rows()),
            Order::List { rows, .. } => Box::new(rows.iter().copied().map(RowId)),
        }
    }

    /// The view after rows were added or removed: new rows are shown after `anchor` (or first).
    #[must_use]
    pub fn with_changed_rows(&self, document: &Document, added: &[RowId], anchor: Option<RowId>) -> Self {
        let Order::List { rows: shown, .. } = &self.order else { return Self::file_order(document) };
        let numbers = Numbers::of(document);
        let mut rows: Vec<u32> = shown.iter().copied().filter(|row| numbers.get(*row) > 0).collect();
        let at = anchor.and_then(|anchor| rows.iter().position(|row| *row == anchor.0)).map_or(0, |at| at + 1);
        let have: RowSet = rows.iter().copied().collect();
        rows.splice(at..at, added.iter().map(|row| row.0).filter(|row| !have.contains(*row)));
        Self { order: Order::List { rows: Arc::new(rows), numbers } }
    }
}

/// Sorts rows from id order into file order, and drops those without a position in a file.
fn in_file_order(mut rows: Vec<u32>, numbers: &Numbers) -> Vec<u32> {
    if matches!(numbers, Numbers::Table(_)) {
        rows.retain(|row| numbers.get(*row) > 0);
        rows.par_sort_unstable_by_key(|row| numbers.get(*row));
    }
    rows
}

/// The rows that match a query, in order.
fn matching_rows<R: RowFacts>(
    all: &[u32],
    query: &Query,
    facts: &(impl Fn(RowId) -> R + Sync),
    progress: &Progress,
) -> Option<Vec<u32>> {
    let parts: Vec<Vec<u32>> = all
        .par_chunks(CHUNK_ROWS)
        .map(|slice| {
            if progress.is_cancelled() {
                return None;
            }
            progress.advance(slice.len() as u64, 0);
            Some(slice.iter().copied().filter(|row| query.matches(&facts(RowId(*row)))).collect())
        })
        .collect::<Option<_>>()?;
    Some(parts.concat())
}

/// The locs of some rows.
struct Locs<'r> {
    rows: &'r [u32],
    document: &'r Document,
}

impl Locs<'_> {
    fn row(&self, at: u32) -> u32 {
        self.rows.get(at as usize).copied().unwrap_or_default()
    }
}

impl text_sort::Texts for Locs<'_> {
    fn len(&self) -> u32 {
        self.rows.len() as u32
    }

    fn with_text<S>(&self, at: u32, look: impl FnOnce(&[u8]) -> S) -> S {
        look(self.document.loc(RowId(self.row(at))).as_bytes())
    }
}

/// A sort key of a row: a code whose ascending order is the wanted order, or a text.
enum Key {
    Code(u64),
    Text(Box<str>),
}

/// A sort of rows under keys.
struct RowSort<'d> {
    document: &'d Document,
    numbers: &'d Numbers,
    keys: &'d [SortKey],
    progress: &'d Progress,
}

impl RowSort<'_> {
    /// Rows sorted under the keys; equal ones keep their order.
    fn sorted<R: RowFacts>(&self, rows: Vec<u32>, facts: &(impl Fn(RowId) -> R + Sync)) -> Option<Vec<u32>> {
        let Self { document, numbers, keys, progress } = *self;
        let is_fact = |key: &SortKey| !key.by.is_text() && key.by != SortBy::Own(Column::Number);
        if let [key] = keys
            && is_fact(key)
        {
            let code = |row: &u32| key.packed(&facts(RowId(*row))).unwrap_or(u64::MAX);
            let codes: Vec<u64> = rows.par_iter().map(code).collect();
            if progress.is_cancelled() {
                return None;
            }
            let order = numeric_sort::sorted_positions(&codes);
            return Some(order.into_par_iter().map(|at| rows.get(at as usize).copied().unwrap_or_default()).collect());
        }
        if keys.len() <= 2 && keys.iter().all(is_fact) {
            // Sort by the codes of both keys, then by position.
            let code = |facts: &R, index: usize| keys.get(index).and_then(|key| key.packed(facts)).unwrap_or(u64::MAX);
            let pair = |(at, row): (usize, &u32)| {
                let facts = facts(RowId(*row));
                (code(&facts, 0), code(&facts, 1), at as u32)
            };
            let mut codes: Vec<(u64, u64, u32)> = rows.par_iter().enumerate().map(pair).collect();
            if progress.is_cancelled() {
                return None;
            }
            codes.par_sort_unstable();
            return Some(
                codes.into_par_iter().map(|(.., at)| rows.get(at as usize).copied().unwrap_or_default()).collect(),
            );
        }
        if let [key] = keys
            && key.by == SortBy::Own(Column::Loc)
        {
            let locs = Locs { rows: &rows, document };
            let order = text_sort::by_text(&locs, key, progress)?;
            return Some(order.into_par_iter().map(|at| locs.row(at)).collect());
        }
        let is_stored = |by: &SortBy| matches!(by, SortBy::Own(Column::Loc | Column::File));
        let is_computed = |key: &SortKey| key.by.is_text() && !is_stored(&key.by);
        if keys.iter().any(is_computed) {
            return self.sorted_by_computed_texts(&rows, facts);
        }
        let mut rows = rows;
        let number = |row: u32| numbers.get(row);
        rows.par_sort_by(|a, b| {
            if progress.is_cancelled() {
                return std::cmp::Ordering::Equal;
            }
            sort::compare(keys, &facts(RowId(*a)), &facts(RowId(*b)), (number(*a), number(*b)))
        });
        (!progress.is_cancelled()).then_some(rows)
    }

    /// Rows sorted under keys with texts that must be computed; each text is computed only once.
    fn sorted_by_computed_texts<R: RowFacts>(
        &self,
        rows: &[u32],
        facts: &(impl Fn(RowId) -> R + Sync),
    ) -> Option<Vec<u32>> {
        let Self { numbers, keys, progress, .. } = *self;
        let with_keys = |row: &u32| {
            if progress.is_cancelled() {
                return (Box::default(), *row);
            }
            let facts = facts(RowId(*row));
            let key_of = |key: &SortKey| match &key.by {
                SortBy::Own(Column::Number) if key.descending => Key::Code(u64::from(u32::MAX - numbers.get(*row))),
                SortBy::Own(Column::Number) => Key::Code(u64::from(numbers.get(*row))),
                by if by.is_text() => Key::Text(by.text(&facts).into()),
                _ => Key::Code(key.packed(&facts).unwrap_or(u64::MAX)),
            };
            (keys.iter().map(key_of).collect::<Box<[Key]>>(), *row)
        };
        let mut keyed_rows: Vec<(Box<[Key]>, u32)> = rows.par_iter().map(with_keys).collect();
        keyed_rows.par_sort_by(|(a, _), (b, _)| {
            let by = |(key, (a, b)): (&SortKey, (&Key, &Key))| match (a, b) {
                (Key::Code(a), Key::Code(b)) => a.cmp(b),
                (Key::Text(a), Key::Text(b)) => key.compare_texts(a, b),
                _ => std::cmp::Ordering::Equal,
            };
            let orders = keys.iter().zip(a.iter().zip(b)).map(by);
            if progress.is_cancelled() {
                return std::cmp::Ordering::Equal;
            }
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        (!progress.is_cancelled()).then(|| keyed_rows.into_iter().map(|(_, row)| row).collect())
    }
}
