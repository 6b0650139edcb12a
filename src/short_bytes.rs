//! Comparisons of byte strings that are mostly short.
//!
//! Those of slices call a function of the C library, which takes longer than to compare a few bytes. `memchr::arch::all` has
//! functions without a call, but they compare four bytes at a time, which takes longer than the call from about 16 bytes on.

/// Whether two byte strings are equal.
#[inline]
pub(crate) fn are_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        0..4 => one.iter().zip(other).all(|(one, other)| one == other),
        4..8 => have_equal_ends::<4>(one, other),
        8..16 => have_equal_ends::<8>(one, other),
        16..32 => have_equal_ends::<16>(one, other),
        32..=64 => have_equal_ends::<32>(one, other),
        _ => one == other,
    }
}

/// Whether the first and the last `N` bytes are equal, which overlap if there are fewer than two times as many.
#[inline]
fn have_equal_ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk() && one.last_chunk::<N>() == other.last_chunk()
}

/// The rest of `bytes` after a prefix; `None` if they do not start with it.
#[inline]
pub(crate) fn strip_prefix<'b>(bytes: &'b [u8], prefix: &[u8]) -> Option<&'b [u8]> {
    let (start, rest) = bytes.split_at_checked(prefix.len())?;
    are_equal(start, prefix).then_some(rest)
}

/// A byte string that many others are compared with.
#[derive(Debug)]
pub(crate) struct Prefix {
    bytes: Box<[u8]>,
    /// Its first bytes.
    words: [u64; WORDS],
    /// The bits of `words` that are compared.
    masks: [u64; WORDS],
}

/// Number of words that are compared without a branch for the length.
const WORDS: usize = 4;

impl Prefix {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let (mut words, mut masks) = ([[0; 8]; WORDS], [[0; 8]; WORDS]);
        let bits = words.as_flattened_mut().iter_mut().zip(masks.as_flattened_mut());
        for ((word, mask), byte) in bits.zip(bytes) {
            (*word, *mask) = (*byte, u8::MAX);
        }
        Self { bytes: bytes.into(), words: words.map(u64::from_ne_bytes), masks: masks.map(u64::from_ne_bytes) }
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The rest of `text` after this prefix; `None` if it does not start with it.
    #[inline]
    pub(crate) fn strip<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let Some(start) = text.first_chunk::<{ size_of::<[u64; WORDS]>() }>().filter(|_| self.is_short()) else {
            return strip_prefix(text, &self.bytes);
        };
        let mut differing = 0;
        for ((start, word), mask) in start.as_chunks().0.iter().zip(&self.words).zip(&self.masks) {
            differing |= (u64::from_ne_bytes(*start) ^ word) & mask;
        }
        if differing == 0 { text.get(self.bytes.len()..) } else { None }
    }

    const fn is_short(&self) -> bool {
        self.bytes.len() <= size_of::<[u64; WORDS]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn byte_strings_are_compared_like_slices(
            text in prop::collection::vec(any::<u8>(), 0..80), at in any::<prop::sample::Index>(), other in any::<u8>(),
        ) {
            let mut changed = text.clone();
            if !text.is_empty() {
                changed[at.index(text.len())] = other;
            }
            prop_assert!(are_equal(&text, &text));
            prop_assert_eq!(are_equal(&text, &changed), text == changed);
            let longer = [&*text, b"a"].concat();
            prop_assert_eq!(strip_prefix(&longer, &changed), longer.strip_prefix(&*changed));
            prop_assert!(!are_equal(&longer, &text) && strip_prefix(&text, &longer).is_none());
        }

        #[test]
        fn prefixes_are_stripped_like_those_of_slices(
            text in prop::collection::vec(any::<u8>(), 0..80), len in 0..80_usize, at in any::<prop::sample::Index>(),
            flipped in 0..3_u8,
        ) {
            let mut prefix = text.get(..len).unwrap_or(&text).to_vec();
            if !prefix.is_empty() {
                let at = at.index(prefix.len());
                prefix[at] ^= flipped >> 1;
            }
            prop_assert_eq!(Prefix::new(&prefix).strip(&text), text.strip_prefix(&*prefix));
            prop_assert!(Prefix::new(&[&*text, b"a"].concat()).strip(&text).is_none());
        }
    }
}
