//! `Chunks`: a list of values by number.

/// Number of values per allocation.
const CHUNK: usize = 1_024;

/// Values by number, stored in chunks: a vector that grows copies its values and allocates up to twice their size.
#[derive(Debug, Clone)]
pub(super) struct Chunks<T>(Vec<Vec<T>>);

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Chunks<T> {
    /// The number of values, which is the number of the next one.
    pub(super) fn len(&self) -> u32 {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * CHUNK + last.len()) as u32
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.0.get(number as usize / CHUNK)?.get(number as usize % CHUNK)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut(number as usize / CHUNK)?.get_mut(number as usize % CHUNK)
    }

    /// Appends a value.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        match self.0.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(value),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(value);
                self.0.push(chunk);
            }
        }
    }

    /// The values, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_numbers() {
        let mut chunks = Chunks::default();
        for number in 0..3 * CHUNK as u32 {
            assert_eq!((chunks.len(), chunks.get(number)), (number, None));
            chunks.push(number);
        }
        *chunks.get_mut(CHUNK as u32).unwrap() = 7;
        let expected = (0..3 * CHUNK as u32).map(|number| if number == CHUNK as u32 { 7 } else { number });
        assert!(chunks.iter().copied().eq(expected.clone()));
        assert!(expected.enumerate().all(|(number, value)| chunks.get(number as u32) == Some(&value)));
        assert_eq!(chunks.iter_mut().count(), 3 * CHUNK);
    }
}
