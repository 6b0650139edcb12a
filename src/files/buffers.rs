//! `Buffers`: where the bytes of files that are read are placed.
//!
//! Where one file is read after the other, buffers on the heap are reused: without that, the system would clear new
//! memory for each file of many megabytes, and freed memory between live blocks would fragment. A set that is only
//! checked is read into huge pages, or through windows if few of its texts are needed. One that is opened for longer is
//! not: large blocks of free memory are scarce, and a virtual machine clears those that it has not used yet at a cost of
//! milliseconds for each megabyte.

use crate::buffer_pool::BufferPool;
use crate::file_bytes::FileBytes;
use std::io;

/// The limit of the bytes of files that are read ahead where buffers are reused.
const READ_AHEAD: u64 = 32 << 20;

/// The kind of memory for the bytes of files.
#[derive(Debug, Clone, Default)]
pub enum Buffers {
    /// New memory on the heap for each file.
    #[default]
    New,
    /// New memory for each file, for large ones in huge pages.
    Huge,
    /// Buffers on the heap from a pool of unused ones.
    Reused(BufferPool),
    /// For most sitemaps, buffers of one window from such a pool: only their first entries are kept. New memory, for
    /// large ones in huge pages, for other files.
    Windows(BufferPool),
}

impl Buffers {
    /// An empty pool.
    pub fn reused() -> Self {
        Self::Reused(BufferPool::default())
    }

    /// An empty pool for windows.
    pub(crate) fn windows() -> Self {
        Self::Windows(BufferPool::default())
    }

    /// Whether most entries of sitemaps are dropped.
    pub(crate) const fn drops_entries(&self) -> bool {
        matches!(self, Self::Windows(_))
    }

    /// An empty buffer for a window.
    pub(super) fn take_window(&self) -> Vec<u8> {
        let (Self::Windows(pool) | Self::Reused(pool)) = self else { return Vec::new() };
        pool.take()
    }

    /// Returns the buffer of a window to the pool.
    pub(super) fn recycle_window(&self, buffer: Vec<u8>) {
        if let Self::Windows(pool) | Self::Reused(pool) = self {
            pool.recycle(buffer);
        }
    }

    /// An empty buffer for about `capacity` bytes.
    ///
    /// # Errors
    /// The system has not enough memory.
    pub(super) fn take(&self, capacity: usize) -> io::Result<FileBytes> {
        let mut bytes = match self {
            Self::New => return FileBytes::in_small_pages(capacity),
            Self::Huge | Self::Windows(_) => return FileBytes::with_capacity(capacity),
            Self::Reused(pool) => pool.take(),
        };
        bytes.try_reserve_exact(capacity)?;
        Ok(bytes.into())
    }

    /// The limit of the bytes of files that are in memory until they are delivered. Without reuse they stay in memory
    /// anyway.
    pub(crate) const fn read_ahead(&self) -> u64 {
        match self {
            Self::New | Self::Huge | Self::Windows(_) => u64::MAX,
            Self::Reused(_) => READ_AHEAD,
        }
    }

    /// Returns a buffer to the pool; `None` if its bytes are still in use.
    pub fn recycle(&self, buffer: Option<FileBytes>) {
        if let (Self::Reused(pool), Some(buffer)) = (self, buffer) {
            pool.recycle(buffer.into_vec());
        }
    }

    /// Number of unused buffers.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let Self::Reused(pool) = self else { return 0 };
        pool.len()
    }
}
