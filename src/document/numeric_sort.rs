//! Sorts rows by numeric values of their records (radix sort, in parallel).

use rayon::prelude::*;

/// Number of bits that one pass sorts by.
const DIGIT_BITS: u32 = 11;

/// The positions of `codes`, sorted by code (stable). The two greatest codes mean an unreadable and an absent value.
pub(super) fn sorted_positions(codes: &[u64]) -> Vec<u32> {
    const SPECIAL: u64 = u64::MAX - 1;
    let regular = || codes.par_iter().copied().filter(|code| *code < SPECIAL);
    let (min_code, max_code) = rayon::join(|| regular().min(), || regular().max());
    let (min_code, max_code) = (min_code.unwrap_or_default(), max_code.unwrap_or_default());
    // Relative to the least code, nearly all sets of codes fit the upper half of a word; the position is the lower
    // half.
    let Some(span) = u32::try_from(max_code - min_code).ok().and_then(|span| span.checked_add(2)) else {
        let mut positions: Vec<u32> = (0..codes.len() as u32).collect();
        positions.par_sort_by_key(|at| codes.get(*at as usize));
        return positions;
    };
    let number = |code: u64| if code < SPECIAL { code - min_code } else { u64::from(span) - (u64::MAX - code) };
    let mut words: Vec<u64> = codes.par_iter().enumerate().map(|(at, code)| number(*code) << 32 | at as u64).collect();
    let bits = u32::BITS - span.leading_zeros();
    let share = words.len().div_ceil(rayon::current_num_threads()).max(1);
    words.par_chunks_mut(share).for_each(|words| sort_by_digits(words, bits));
    // Each share is sorted already. A stable sort detects that and only merges them, on all cores.
    words.par_sort();
    words.into_par_iter().map(|word| word as u32).collect()
}

/// Sorts words by the lowest `bits` bits of their upper halves (stable).
fn sort_by_digits(words: &mut [u64], bits: u32) {
    const MASK: u64 = (1 << DIGIT_BITS) - 1;
    let mut buffer = vec![0; words.len()];
    let (mut from, mut to): (&mut [u64], &mut [u64]) = (words, &mut buffer);
    let passes = bits.div_ceil(DIGIT_BITS);
    for pass in 0..passes {
        let digit = |word: u64| (word >> (32 + pass * DIGIT_BITS) & MASK) as usize;
        let mut offsets = [0u32; 1 << DIGIT_BITS];
        for word in from.iter() {
            offsets[digit(*word)] += 1;
        }
        let mut next = 0;
        for offset in &mut offsets {
            next += std::mem::replace(offset, next);
        }
        for word in from.iter() {
            let offset = &mut offsets[digit(*word)];
            if let Some(slot) = to.get_mut(*offset as usize) {
                *slot = *word;
            }
            *offset += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    // After an odd number of passes the result is in the other buffer.
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_stable_sort(
            codes in proptest::collection::vec(prop_oneof![
                4 => 1_000_000_000_000_u64..1_000_000_100_000,
                2 => 1_000_000_000_000_u64..1_000_000_000_003,
                1 => u64::MAX - 1..=u64::MAX,
            ], 0..3_000),
            far in proptest::option::of(any::<u64>()),
        ) {
            let codes: Vec<u64> = codes.into_iter().chain(far).collect();
            let mut model: Vec<u32> = (0..codes.len() as u32).collect();
            model.sort_by_key(|at| codes[*at as usize]);
            prop_assert_eq!(sorted_positions(&codes), model);
        }
    }
}
