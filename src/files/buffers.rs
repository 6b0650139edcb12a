//! `Buffers`: where the bytes of files that are read are placed.
//!
//! Files that stay in memory are read into huge pages. Where one file is read after the other, buffers on the heap are
//! reused: without that, the system would clear new memory for each file of many megabytes, and freed memory between
//! live blocks would fragment.

use crate::file_bytes::FileBytes;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The kind of memory for the bytes of files.
#[derive(Debug, Clone, Default)]
pub enum Buffers {
    /// New memory for each file, for large ones in huge pages.
    #[default]
    New,
    /// Buffers on the heap from a pool of unused ones, shared by its clones.
    Reused(Arc<Mutex<Vec<Vec<u8>>>>),
}

impl Buffers {
    /// An empty pool.
    pub fn reused() -> Self {
        Self::Reused(Arc::default())
    }

    /// An empty buffer for about `capacity` bytes.
    ///
    /// # Errors
    /// The system has not enough memory.
    pub(super) fn take(&self, capacity: usize) -> io::Result<FileBytes> {
        let Self::Reused(unused) = self else { return FileBytes::with_capacity(capacity) };
        let mut bytes = unused.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        bytes.clear();
        bytes.try_reserve_exact(capacity)?;
        Ok(bytes.into())
    }

    /// Returns a buffer to the pool; `None` if its bytes are still in use.
    pub fn recycle(&self, buffer: Option<FileBytes>) {
        if let Self::Reused(unused) = self {
            unused.lock().unwrap_or_else(PoisonError::into_inner).extend(buffer.map(FileBytes::into_vec));
        }
    }

    /// Number of unused buffers.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let Self::Reused(unused) = self else { return 0 };
        unused.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
