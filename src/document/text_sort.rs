//! Sorts rows by text: by a short prefix key first, by the rest of the text only if keys are equal.
//!
//! The key is made of the text after the prefix that all texts share; keys compare as
//! [`natural_bytes`](super::sort::natural_bytes) compares the texts. Keys are sorted in place on all cores without
//! access to the texts. Rows with equal keys are sorted again by the text after their common prefix. The sort is
//! stable.

use super::sort::SortKey;
use crate::progress::Progress;
use rayon::prelude::*;

/// Bytes of a key.
const KEY_BYTES: usize = 40;

/// A row and the first bytes of its text's key.
#[derive(Debug, Clone, Copy)]
struct Item {
    key: [u64; KEY_BYTES / 8],
    /// Its position before the sort.
    at: u32,
}

/// Texts by their position.
pub(super) trait Texts: Sync {
    /// Number of texts.
    fn len(&self) -> u32;

    /// Calls a function with a text.
    fn with_text<R>(&self, at: u32, call: impl FnOnce(&[u8]) -> R) -> R;
}

/// Positions in the order of their texts, empty ones last; `None` when cancelled.
pub(super) fn by_text(texts: &impl Texts, by: &SortKey, progress: &Progress) -> Option<Vec<u32>> {
    let mut items: Vec<Item> =
        (0..texts.len()).into_par_iter().map(|at| Item { key: [0; KEY_BYTES / 8], at }).collect();
    // Empty texts come last; they are rare.
    let is_empty = |item: &Item| texts.with_text(item.at, <[u8]>::is_empty);
    let empty: Vec<u32> = items.par_iter().filter(|item| is_empty(item)).map(|item| item.at).collect();
    if !empty.is_empty() {
        items.retain(|item| empty.binary_search(&item.at).is_err());
    }
    TextSort { texts, by, progress }.sort(&mut items, 0, false);
    if progress.is_cancelled() {
        return None;
    }
    Some(items.into_par_iter().map(|item| item.at).chain(empty).collect())
}

/// Maximum number of rows that are sorted by copies of their texts, so that the copies fit the cache of a core.
const MAX_COPIED: usize = 4_096;

/// A sort of rows by their texts.
struct TextSort<'t, T> {
    texts: &'t T,
    by: &'t SortKey,
    progress: &'t Progress,
}

impl<T: Texts> TextSort<'_, T> {
    /// Sorts rows whose texts have the same first `from` bytes. With `has_equal_keys`, the keys of the text after these
    /// bytes are equal as well.
    fn sort(&self, items: &mut [Item], from: usize, has_equal_keys: bool) {
        if items.len() <= MAX_COPIED {
            self.sort_few(items);
        } else {
            self.sort_many(items, from, has_equal_keys);
        }
    }

    fn sort_many(&self, items: &mut [Item], from: usize, has_equal_keys: bool) {
        let Some(first) = items.first().map(|item| self.texts.with_text(item.at, <[u8]>::to_vec)) else { return };
        let tail = first.get(from..).unwrap_or_default();
        let shared = |item: &Item| {
            self.texts
                .with_text(item.at, |text| (common_prefix_len(tail, text.get(from..).unwrap_or_default()), text.len()))
        };
        let combine = |a: (usize, usize), b: (usize, usize)| (a.0.min(b.0), a.1.max(b.1));
        let (common, longest) = items.par_iter().map(shared).reduce(|| (usize::MAX, 0), combine);
        if self.progress.is_cancelled() || (common == tail.len() && longest == first.len()) {
            // All texts are equal and already in order.
            return;
        }
        // Do not skip part of a number: its key begins with its number of digits.
        let skipped = tail.iter().take(common).rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
        if has_equal_keys && skipped == 0 {
            // The texts differ in the leading zeros of a number, or in a number with more digits than a key has.
            return self.sort_few(items);
        }
        let from = from + skipped;
        items.par_iter_mut().for_each(|item| {
            let key = self.texts.with_text(item.at, |text| key_of(text.get(from..).unwrap_or_default()));
            item.key = if self.by.descending { key.map(|word| !word) } else { key };
        });
        if self.progress.is_cancelled() {
            return;
        }
        items.par_sort_unstable_by_key(|item| (item.key, item.at));
        items.par_chunk_by_mut(|a, b| a.key == b.key).for_each(|run| {
            if run.len() > 1 {
                self.sort(run, from, true);
            }
        });
    }

    /// Sorts rows by copies of their texts; rows with equal texts keep their order.
    fn sort_few(&self, items: &mut [Item]) {
        let mut all = Vec::new();
        let mut copies: Vec<(usize, usize, Item)> = Vec::with_capacity(items.len());
        for item in &*items {
            let start = all.len();
            self.texts.with_text(item.at, |text| all.extend_from_slice(text));
            copies.push((start, all.len(), *item));
        }
        let text = |copy: &(usize, usize, Item)| all.get(copy.0..copy.1).unwrap_or_default();
        copies.par_sort_by(|a, b| self.by.compare_bytes(text(a), text(b)));
        items.iter_mut().zip(copies).for_each(|(slot, (.., item))| *slot = item);
    }
}

/// Length of the common prefix of two texts in bytes.
fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// The first [`KEY_BYTES`] bytes of the key of a text. A number becomes `0`, its count of digits and its digits,
/// without leading zeros, so that numbers compare by value, and with other bytes as a digit does. All other bytes are
/// unchanged.
fn key_of(text: &[u8]) -> [u64; KEY_BYTES / 8] {
    let mut key = [0; KEY_BYTES];
    let (mut at, mut len) = (0, 0);
    let mut put = |bytes: &[u8], len: &mut usize| {
        let free = key.get_mut(*len..).unwrap_or_default();
        let fits = bytes.len().min(free.len());
        free.iter_mut().zip(bytes).for_each(|(target, byte)| *target = *byte);
        *len += fits;
    };
    while let Some(byte) = text.get(at).filter(|_| len < KEY_BYTES) {
        if !byte.is_ascii_digit() {
            put(&[*byte], &mut len);
            at += 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let run = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let zeros = rest.iter().take(run).take_while(|byte| **byte == b'0').count();
        let digits = rest.get(zeros..run).unwrap_or_default();
        // A count above 254 becomes 255 and four bytes.
        if let Ok(short @ 0..=0xfe) = u8::try_from(digits.len()) {
            put(&[b'0', short], &mut len);
        } else {
            let [a, b, c, d] = (digits.len() as u32).to_be_bytes();
            put(&[b'0', 0xff, a, b, c, d], &mut len);
        }
        put(digits, &mut len);
        at += run;
    }
    let mut words = [0; KEY_BYTES / 8];
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(8)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::sort::{Column, SortBy, natural_bytes};
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Texts, and how often they were examined.
    struct CountedTexts(Vec<String>, AtomicUsize);

    impl Texts for CountedTexts {
        fn len(&self) -> u32 {
            self.0.len() as u32
        }

        fn with_text<R>(&self, at: u32, call: impl FnOnce(&[u8]) -> R) -> R {
            self.1.fetch_add(1, Relaxed);
            call(self.0[at as usize].as_bytes())
        }
    }

    fn sorted(texts: Vec<String>, by: &SortKey) -> (Vec<u32>, usize) {
        let texts = CountedTexts(texts, AtomicUsize::new(0));
        (by_text(&texts, by, &Progress::default()).unwrap(), texts.1.into_inner())
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "",
            "a",
            "b",
            "-",
            "/",
            "~",
            "0",
            "1",
            "9",
            "10",
            "007",
            "é",
            "\u{0}",
            "https://e.com/",
            "abcdefghijklmnopqrstuvwxyz",
            "123456789012345678901234567890",
            "0000000000000000000000000000001",
        ]);
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_024))]
        #[test]
        fn the_order_is_that_of_comparing_texts(
            start in any_text(), texts in prop::collection::vec(any_text(), 0..40), descending in any::<bool>(),
        ) {
            let texts: Vec<String> = texts.into_iter().map(|text| start.clone() + &text).collect();
            let by = SortKey { by: SortBy::Own(Column::Loc), descending };
            let mut expected: Vec<u32> = (0..texts.len() as u32).collect();
            expected.sort_by(|a, b| by.compare_texts(&texts[*a as usize], &texts[*b as usize]));
            prop_assert_eq!(&sorted(texts.clone(), &by).0, &expected);
            // The method for many rows, although there are few.
            let texts = CountedTexts(texts, AtomicUsize::new(0));
            let mut items: Vec<Item> = (0..texts.len()).map(|at| Item { key: [0; KEY_BYTES / 8], at }).collect();
            items.retain(|item| texts.with_text(item.at, |text| !text.is_empty()));
            TextSort { texts: &texts, by: &by, progress: &Progress::default() }.sort_many(&mut items, 0, false);
            let found: Vec<u32> = items.into_iter().map(|item| item.at).collect();
            prop_assert_eq!(found.as_slice(), &expected[..found.len()]);
        }

        #[test]
        fn different_keys_have_the_order_of_their_texts(a in any_text(), b in any_text()) {
            let order = key_of(a.as_bytes()).cmp(&key_of(b.as_bytes()));
            prop_assert!(order == Ordering::Equal || order == natural_bytes(a.as_bytes(), b.as_bytes()));
        }
    }

    /// If long texts differ only at their ends, their common prefix is skipped instead of being compared repeatedly.
    #[test]
    fn a_long_common_prefix_is_examined_only_a_few_times() {
        let texts = (0..5_000).map(|n| format!("{}{}", "x".repeat(300), (n * 7) % 5_000)).collect();
        let (order, examined) = sorted(texts, &SortKey { by: SortBy::Own(Column::Loc), descending: false });
        assert!(order.is_sorted_by_key(|at| (at * 7) % 5_000));
        assert!(examined <= 4 * 5_000, "{examined}");
    }
}
