//! Unused buffers, whose memory is used again: a new buffer of many pages costs a page fault for each of them.

use std::sync::{Arc, Mutex, PoisonError};

/// A pool of unused buffers on the heap, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct BufferPool {
    unused: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl BufferPool {
    /// An empty buffer: the one that was returned last, or a new one.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Clears a buffer and returns it to the pool.
    pub(crate) fn recycle(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }

    /// [`BufferPool::recycle`]; a buffer of more than `most` bytes is freed.
    pub(crate) fn recycle_up_to(&self, most: usize, buffer: Vec<u8>) {
        if buffer.capacity() <= most {
            self.recycle(buffer);
        }
    }

    /// Number of unused buffers.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_buffer_is_empty_and_keeps_its_memory() {
        let pool = BufferPool::default();
        let mut buffer = pool.take();
        buffer.extend_from_slice(b"text");
        let memory = buffer.as_ptr();
        pool.clone().recycle(buffer);
        assert_eq!(pool.len(), 1);
        let again = pool.take();
        assert!(again.is_empty() && again.capacity() >= 4);
        assert_eq!((again.as_ptr(), pool.len()), (memory, 0));
        assert_eq!(pool.take().capacity(), 0);
    }

    #[test]
    fn a_large_buffer_is_freed() {
        let pool = BufferPool::default();
        for (capacity, kept) in [(99, 1), (100, 2), (101, 2)] {
            pool.recycle_up_to(100, Vec::with_capacity(capacity));
            assert_eq!(pool.len(), kept, "{capacity}");
        }
    }
}
