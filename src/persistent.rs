//! `Column<T>`: a persistent array. Cloning shares everything; a write copies one page and its two parents.
//!
//! Three levels of 256: 10,000,000 values are 39,063 pages under 153 nodes. An old version costs only
//! the pages that were written since; undo, background jobs and the comparison with the saved document depend on that.
//! A column never shrinks.

use std::sync::Arc;

/// Bits of an index per level.
const BITS: usize = 8;
/// Values per page.
pub(crate) const PAGE: usize = 1 << BITS;
const MASK: usize = PAGE - 1;

type Page<T> = Arc<[T]>;
type Node<T> = Arc<Vec<Page<T>>>;

/// A persistent array of small values.
#[derive(Debug, Clone)]
pub struct Column<T> {
    nodes: Arc<Vec<Node<T>>>,
    len: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { nodes: Arc::default(), len: 0 }
    }
}

impl<T: Clone + Default> Column<T> {
    /// A column of `len` defaults that all share one page: it costs 8 bytes per 65,536 values.
    pub fn filled(len: usize) -> Self {
        let mut column = Self::default();
        column.grow(len);
        column
    }

    /// Number of values.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the column is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value at `index`; `None` past the end.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len {
            return None;
        }
        self.nodes.get(index >> (2 * BITS))?.get((index >> BITS) & MASK)?.get(index & MASK)
    }

    /// The first value.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last value.
    pub fn last(&self) -> Option<&T> {
        self.get(self.len.checked_sub(1)?)
    }

    /// A mutable reference to a value; copies its page if another version shares it. `None` past the end.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let at = (index < self.len).then_some(index & MASK)?;
        self.page_mut(index >> BITS)?.get_mut(at)
    }

    /// Writes one value, copying its page if another version shares it. Does nothing past the end.
    pub fn set(&mut self, index: usize, value: T) {
        if let Some(slot) = self.get_mut(index) {
            *slot = value;
        }
    }

    /// A mutable page, copied if another version shares it; `None` past the last page. The last page may be longer than
    /// the column.
    pub fn page_mut(&mut self, page: usize) -> Option<&mut [T]> {
        if page << BITS >= self.len {
            return None;
        }
        let node = Arc::make_mut(&mut self.nodes).get_mut(page >> BITS)?;
        Some(Arc::make_mut(Arc::make_mut(node).get_mut(page & MASK)?))
    }

    /// The values of one page.
    pub fn page(&self, page: usize) -> &[T] {
        let values = self.stored_page(page);
        let rest = self.len.saturating_sub(page << BITS);
        values.and_then(|values| values.get(..rest.min(PAGE))).unwrap_or_default()
    }

    /// Whether the two columns share a page, so that its values are equal.
    pub fn shares_page(&self, other: &Self, page: usize) -> bool {
        matches!((self.stored_page(page), other.stored_page(page)), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
    }

    /// A page with all its values, also those past the end.
    fn stored_page(&self, page: usize) -> Option<&Page<T>> {
        self.nodes.get(page >> BITS)?.get(page & MASK)
    }

    /// Replaces a whole page without copying values.
    pub fn replace_page(&mut self, page: usize, values: Arc<[T]>) {
        if values.len() == PAGE
            && page << BITS < self.len
            && let Some(node) = Arc::make_mut(&mut self.nodes).get_mut(page >> BITS)
            && let Some(slot) = Arc::make_mut(node).get_mut(page & MASK)
        {
            *slot = values;
        }
    }

    /// An unshared copy of a page, for [`Column::replace_page`].
    pub fn copy_of_page(&self, page: usize) -> Arc<[T]> {
        self.stored_page(page).map(|values| Arc::from(&values[..])).unwrap_or_default()
    }

    /// Appends one value.
    pub fn push(&mut self, value: T) {
        self.grow(self.len + 1);
        self.set(self.len - 1, value);
    }

    /// Appends values.
    pub fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        self.extend_pages(values, |_, _| false);
    }

    /// Appends values; a page that equals the one before it shares its memory.
    pub fn extend_sharing(&mut self, values: impl IntoIterator<Item = T>)
    where
        T: PartialEq,
    {
        self.extend_pages(values, |page, before| page == before);
    }

    /// Appends values; a page for which `is_same` returns true, with the one before it, is shared.
    fn extend_pages(&mut self, values: impl IntoIterator<Item = T>, is_same: impl Fn(&[T], &[T]) -> bool) {
        let mut values = values.into_iter();
        // Fill the last page, then build whole pages without copying any.
        while self.len & MASK != 0 {
            let Some(value) = values.next() else { return };
            self.push(value);
        }
        let mut buffer = Vec::with_capacity(PAGE);
        loop {
            buffer.clear();
            buffer.extend(values.by_ref().take(PAGE));
            let len = buffer.len();
            if len == 0 {
                return;
            }
            buffer.resize(PAGE, T::default());
            let before = (self.len >> BITS).checked_sub(1).and_then(|page| self.stored_page(page));
            let page = match before.filter(|before| is_same(&buffer, before)) {
                Some(before) => Arc::clone(before),
                None => Arc::from(&buffer[..]),
            };
            let nodes = Arc::make_mut(&mut self.nodes);
            // There may be pages beyond the end after a `grow`; here the column ends at a page boundary.
            match nodes.get_mut(self.len >> (2 * BITS)) {
                Some(node) => {
                    let node = Arc::make_mut(node);
                    node.truncate((self.len >> BITS) & MASK);
                    node.push(page);
                }
                None => nodes.push(Arc::new(vec![page])),
            }
            self.len += len;
            if len < PAGE {
                return;
            }
        }
    }

    /// Makes the column at least `len` long; new values are defaults on one shared page.
    pub fn grow(&mut self, len: usize) {
        if len <= self.len {
            return;
        }
        let pages = len.div_ceil(PAGE);
        let existing = self.len.div_ceil(PAGE);
        if pages > existing {
            let blank: Page<T> = vec![T::default(); PAGE].into();
            let full: Node<T> = Arc::new(vec![Arc::clone(&blank); PAGE]);
            let nodes = Arc::make_mut(&mut self.nodes);
            let mut page = existing;
            while page < pages {
                if page & MASK == 0 && pages - page >= PAGE {
                    nodes.push(Arc::clone(&full));
                    page += PAGE;
                } else {
                    match nodes.get_mut(page >> BITS) {
                        Some(node) => Arc::make_mut(node).push(Arc::clone(&blank)),
                        None => nodes.push(Arc::new(vec![Arc::clone(&blank)])),
                    }
                    page += 1;
                }
            }
        }
        self.len = len;
    }

    /// Replaces a range of values by defaults; whole pages share one page, as after [`Column::grow`].
    pub fn blank(&mut self, range: std::ops::Range<usize>) {
        let blank: Page<T> = vec![T::default(); PAGE].into();
        let mut at = range.start;
        while at < range.end.min(self.len) {
            let (page, end) = (at >> BITS, ((at >> BITS) + 1) << BITS);
            // The last page is replaced as a whole if the range contains all its values.
            if at & MASK == 0 && (end <= range.end || self.len <= range.end) {
                let node = Arc::make_mut(&mut self.nodes).get_mut(page >> BITS);
                if let Some(slot) = node.and_then(|node| Arc::make_mut(node).get_mut(page & MASK)) {
                    *slot = Arc::clone(&blank);
                }
            } else {
                (at..end.min(range.end)).for_each(|index| self.set(index, T::default()));
            }
            at = end;
        }
    }

    /// All values in order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { column: self, page: self.page(0).iter(), next: 1 }
    }

    /// The values of a range in order, as a slice of each page. Those past the end are left out.
    pub fn slices(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = &[T]> {
        let pages = if range.is_empty() { 0..0 } else { range.start >> BITS..range.end.div_ceil(PAGE) };
        pages.map(move |page| {
            let (values, first) = (self.page(page), page << BITS);
            let end = values.len().min(range.end - first);
            values.get(range.start.saturating_sub(first)..end).unwrap_or_default()
        })
    }

    /// Numbers of the pages that the two columns do not share, including pages past the end of the shorter one. Shared
    /// nodes are skipped as a whole.
    pub fn differing_pages(&self, other: &Self) -> Vec<usize> {
        let mut out = Vec::new();
        let pages = self.len.max(other.len).div_ceil(PAGE);
        for number in 0..pages.div_ceil(PAGE) {
            let (ours, theirs) = (self.nodes.get(number), other.nodes.get(number));
            if let (Some(ours), Some(theirs)) = (ours, theirs)
                && Arc::ptr_eq(ours, theirs)
                && self.len == other.len
            {
                continue;
            }
            let first = number << BITS;
            for page in first..pages.min(first + PAGE) {
                let at = |node: Option<&Node<T>>| node.and_then(|node| node.get(page & MASK)).cloned();
                match (at(ours), at(theirs)) {
                    (Some(a), Some(b)) if Arc::ptr_eq(&a, &b) && self.page(page).len() == other.page(page).len() => {}
                    _ => out.push(page),
                }
            }
        }
        out
    }
}

/// The values of a column in order; see [`Column::iter`].
#[derive(Debug, Clone)]
pub struct Iter<'a, T> {
    column: &'a Column<T>,
    page: std::slice::Iter<'a, T>,
    /// The number of the next page.
    next: usize,
}

impl<'a, T: Clone + Default> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        if let Some(value) = self.page.next() {
            return Some(value);
        }
        self.page = self.column.page(self.next).iter();
        self.next += 1;
        self.page.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.page.len() + self.column.len.saturating_sub(self.next << BITS);
        (left, Some(left))
    }
}

impl<T: Clone + Default> ExactSizeIterator for Iter<'_, T> {}

impl<'a, T: Clone + Default> IntoIterator for &'a Column<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Clone + Default> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Self::default();
        column.extend(values);
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_write_copies_one_page_and_leaves_the_old_version_unchanged() {
        let old: Column<u32> = (0..200_000).collect();
        let mut new = old.clone();
        new.set(70_000, 7);
        assert_eq!(old.get(70_000), Some(&70_000));
        assert_eq!(new.get(70_000), Some(&7));
        assert_eq!(old.differing_pages(&new), [70_000 / PAGE]);
    }

    #[test]
    fn a_filled_column_shares_one_page() {
        let column: Column<u32> = Column::filled(1_000_000);
        let first = column.nodes[0][0].as_ptr();
        assert!(column.nodes[..15].iter().all(|node| node.iter().all(|page| page.as_ptr() == first)));
        assert_eq!(column.get(999_999), Some(&0));
        assert_eq!(column.get(1_000_000), None);
    }

    #[test]
    fn equal_pages_can_share_memory() {
        let mut column: Column<u32> = (0..100).collect();
        column.extend_sharing(std::iter::repeat_n(7, 1_000));
        let page = |number: usize| column.nodes[0][number].as_ptr();
        assert!(page(0) != page(1) && page(1) == page(2) && page(2) == page(3));
        assert_ne!(page(3), page(4), "the rest of the last page is not yet in use");
    }

    #[test]
    fn values_that_were_blanked_share_one_page() {
        let mut column: Column<u32> = (0..100_000).collect();
        column.blank(100..99_900);
        let page = |number: usize| column.nodes[number >> BITS][number & MASK].as_ptr();
        assert!((2..389).all(|number| page(number) == page(1)));
        assert!(page(0) != page(1) && page(390) != page(1));
        column.blank(99_900..100_000);
        assert_eq!(column.page(390).len(), 160);
    }

    #[derive(Debug, Clone)]
    enum Act {
        Set(usize, u32),
        Push(u32),
        Grow(usize),
        Extend(usize),
        ExtendSharing(usize),
        Blank(usize, usize),
        Keep,
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            (any::<usize>(), any::<u32>()).prop_map(|(at, value)| Act::Set(at, value)),
            any::<u32>().prop_map(Act::Push),
            (0usize..700).prop_map(Act::Grow),
            (0usize..70_000).prop_map(Act::Extend),
            (0usize..2_000).prop_map(Act::ExtendSharing),
            (any::<usize>(), 0usize..70_000).prop_map(|(from, len)| Act::Blank(from, len)),
            Just(Act::Keep),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_behaves_like_a_vector_and_old_versions_stay(acts in proptest::collection::vec(act(), 0..24)) {
            let (mut column, mut model) = (Column::<u32>::default(), Vec::<u32>::new());
            let mut kept: Vec<(Column<u32>, Vec<u32>)> = Vec::new();
            for act in acts {
                match act {
                    Act::Set(at, value) if !model.is_empty() => {
                        let at = at % model.len();
                        model[at] = value;
                        column.set(at, value);
                    }
                    Act::Set(at, value) => column.set(at, value),
                    Act::Push(value) => { model.push(value); column.push(value); }
                    Act::Grow(more) => { model.resize(model.len() + more, 0); column.grow(model.len()); }
                    Act::Extend(more) => { model.extend(0..more as u32); column.extend(0..more as u32); }
                    Act::ExtendSharing(more) => {
                        model.extend((0..more as u32).map(|value| value / 700));
                        column.extend_sharing((0..more as u32).map(|value| value / 700));
                    }
                    Act::Blank(from, len) => {
                        let from = from % (model.len() + 1);
                        model[from..].iter_mut().take(len).for_each(|value| *value = 0);
                        column.blank(from..from + len);
                    }
                    Act::Keep => kept.push((column.clone(), model.clone())),
                }
            }
            kept.push((column, model));
            for (column, model) in kept {
                prop_assert_eq!(column.len(), model.len());
                prop_assert!(column.iter().eq(model.iter()));
                prop_assert_eq!(column.get(model.len()), None);
            }
        }

        #[test]
        fn slices_have_the_values_of_a_range(len in 0usize..2_000, start in 0usize..2_100, count in 0usize..2_100) {
            let column: Column<usize> = (0..len).collect();
            let slices: Vec<&[usize]> = column.slices(start..start + count).collect();
            prop_assert!(slices.len() <= count / PAGE + 2);
            prop_assert!(slices.concat().into_iter().eq(start..len.min(start + count)));
        }
    }
}
