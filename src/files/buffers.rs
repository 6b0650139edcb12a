//! `Buffers`: read buffers that are reused from one file to the next.
//!
//! Without reuse, the system would clear new memory for each file of many megabytes, and freed memory between live
//! blocks would fragment.

use crate::file_bytes::FileBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A pool of unused buffers, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct Buffers(Arc<Mutex<Vec<FileBytes>>>);

impl Buffers {
    /// A buffer with arbitrary content; a new one if the pool is empty.
    pub(super) fn take(&self) -> FileBytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Returns a buffer to the pool; `None` if its bytes are still in use.
    pub fn recycle(&self, buffer: Option<FileBytes>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(buffer);
    }

    /// Number of unused buffers.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
