//! `Buffers`: read buffers that are reused from one file to the next.
//!
//! Where files come and go, each of many megabytes, a system clears new memory for every one of them, and what is given
//! back between blocks that stay is not always used again.

use std::sync::{Arc, Mutex, PoisonError};

/// Buffers that no one uses at the moment. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl Buffers {
    /// A buffer, a new one if there is none. What is in it is of no use.
    pub(super) fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives back the bytes of a file, if no one needs them any more.
    pub fn recycle(&self, buffer: Option<Vec<u8>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(buffer);
    }

    /// How many wait to be used.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
