//! `FileBytes`: the bytes of one file in memory.
//!
//! Reading into new memory costs a page fault for every 4 KiB, which takes longer than the read. On Linux the bytes of
//! a large file can be in pages of their own: huge ones, or small ones that a read
//! prefaults, many with one system call.
//! This memory is anonymous: truncating a mapped file would kill the process.

use std::fmt::{self, Debug, Formatter};
use std::fs::File;
use std::io::{self, Read};
use std::ops::{Deref, Range};

#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};
#[cfg(target_os = "linux")]
use rayon::prelude::*;
#[cfg(target_os = "linux")]
use std::os::unix::fs::FileExt;

/// The size of a huge page on most processors, in bytes; smaller files are on the heap.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// The minimum capacity in small pages; smaller files are on the heap, whose freed memory is used again.
#[cfg(target_os = "linux")]
const MIN_SMALL_PAGES: usize = if cfg!(test) { 64 << 10 } else { 1 << 20 };

/// The last page is a huge one if its unused part is at most the size of the bytes divided by this.
#[cfg(target_os = "linux")]
const UNUSED_DIVISOR: usize = 4;

/// The minimum number of bytes that are read in parallel.
#[cfg(target_os = "linux")]
const MIN_PARALLEL: usize = 2 * HUGE_PAGE;

/// Number of bytes that one thread copies at a time.
#[cfg(target_os = "linux")]
const COPIED_PIECE: usize = 512 << 10;

/// The bytes of one file.
pub struct FileBytes(Memory);

enum Memory {
    Heap(Vec<u8>),
    /// The first `len` bytes of `pages`.
    #[cfg(target_os = "linux")]
    Pages {
        pages: MmapMut,
        len: usize,
        /// Whether a read prefaults the pages that it fills.
        prefaults: bool,
    },
}

impl FileBytes {
    /// Empty memory for `capacity` bytes, in huge pages if they fill at least one.
    ///
    /// # Errors
    /// The system has not enough memory.
    pub(crate) fn with_capacity(capacity: usize) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if capacity >= HUGE_PAGE {
            // The system aligns memory to huge pages if its size is a multiple of theirs.
            let pages = MmapMut::map_anon(capacity.checked_next_multiple_of(HUGE_PAGE).unwrap_or(capacity))?;
            // The last page is a huge one only if its unused part takes little memory.
            let is_last_huge = pages.len() - capacity <= capacity / UNUSED_DIVISOR;
            let huge = if is_last_huge { pages.len() } else { capacity / HUGE_PAGE * HUGE_PAGE };
            // A system without huge pages refuses the advice.
            let _ = pages.advise_range(Advice::HugePage, 0, huge);
            return Ok(Self(Memory::Pages { pages, len: 0, prefaults: false }));
        }
        Self::on_heap(capacity)
    }

    /// Empty memory for `capacity` bytes, in small pages if they are many. Reads prefault the pages that they fill.
    ///
    /// # Errors
    /// The system has not enough memory.
    pub(crate) fn in_small_pages(capacity: usize) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if capacity >= MIN_SMALL_PAGES {
            return Ok(Self(Memory::Pages { pages: MmapMut::map_anon(capacity)?, len: 0, prefaults: true }));
        }
        Self::on_heap(capacity)
    }

    fn on_heap(capacity: usize) -> io::Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(capacity)?;
        Ok(bytes.into())
    }

    pub(crate) fn capacity(&self) -> usize {
        match &self.0 {
            Memory::Heap(bytes) => bytes.capacity(),
            #[cfg(target_os = "linux")]
            Memory::Pages { pages, .. } => pages.len(),
        }
    }

    /// Appends the next `len` bytes of a file on all threads that have nothing else to do: most of the time goes into
    /// clearing new memory. Returns false, and appends nothing, for few bytes, for memory on the heap, and if the file is
    /// shorter.
    ///
    /// # Errors
    /// That of the read.
    pub(crate) fn append_parallel(&mut self, from: &File, len: usize) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        if let Memory::Pages { pages, len: known, .. } = &mut self.0
            && len >= MIN_PARALLEL
            && let Some(free) = pages.get_mut(*known..*known + len)
        {
            let read =
                |(number, page): (usize, &mut [u8])| from.read_exact_at(page, (*known + number * HUGE_PAGE) as u64);
            return match free.par_chunks_mut(HUGE_PAGE).enumerate().try_for_each(read) {
                Ok(()) => {
                    *known += len;
                    Ok(true)
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
                Err(error) => Err(error),
            };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (from, len);
        Ok(false)
    }

    /// Appends bytes up to the end of `from`, but at most `limit`; returns how many.
    ///
    /// # Errors
    /// That of the read, or the system has not enough memory.
    pub(crate) fn append_from(&mut self, from: &mut impl Read, limit: u64) -> io::Result<u64> {
        #[cfg_attr(not(target_os = "linux"), allow(unused_mut))]
        let mut added = 0;
        #[cfg(target_os = "linux")]
        if let Memory::Pages { pages, len, prefaults } = &mut self.0 {
            loop {
                let wanted = usize::try_from(limit - added).unwrap_or(usize::MAX).min(pages.len() - *len);
                if wanted == 0 {
                    break;
                }
                if *prefaults {
                    // Before Linux 5.14, each page causes a fault.
                    let _ = pages.advise_range(Advice::PopulateWrite, *len, wanted);
                }
                let free = pages.get_mut(*len..).unwrap_or_default();
                match from.read(free.get_mut(..wanted).unwrap_or_default()) {
                    Ok(0) => return Ok(added),
                    Ok(read) => {
                        *len += read;
                        added += read as u64;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            if added == limit {
                return Ok(added);
            }
        }
        // Rare: the file grows while it is read, or fills them to the last byte.
        self.with_vec(|bytes| from.by_ref().take(limit - added).read_to_end(bytes)).map(|read| added + read as u64)
    }

    /// Appends bytes.
    #[inline]
    pub(crate) fn extend_from_slice(&mut self, added: &[u8]) {
        match &mut self.0 {
            Memory::Heap(bytes) => bytes.extend_from_slice(added),
            #[cfg(target_os = "linux")]
            Memory::Pages { pages, len, .. } => match pages.get_mut(*len..*len + added.len()) {
                Some(free) => {
                    copy(added, free);
                    *len += added.len();
                }
                None => self.with_vec(|bytes| bytes.extend_from_slice(added)),
            },
        }
    }

    /// Appends a byte.
    pub(crate) fn push(&mut self, byte: u8) {
        self.extend_from_slice(&[byte]);
    }

    /// Removes all bytes after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        match &mut self.0 {
            Memory::Heap(bytes) => bytes.truncate(len),
            #[cfg(target_os = "linux")]
            Memory::Pages { len: known, .. } => *known = len.min(*known),
        }
    }

    /// Replaces the bytes of a range, which must be inside.
    pub(crate) fn replace(&mut self, range: Range<usize>, by: &[u8]) {
        let len = self.len();
        if range.start > range.end || range.end > len {
            return;
        }
        // Makes room at the end first, which may move the bytes to the heap.
        self.extend_from_slice(by);
        let bytes = match &mut self.0 {
            Memory::Heap(bytes) => bytes.as_mut_slice(),
            #[cfg(target_os = "linux")]
            Memory::Pages { pages, len, .. } => pages.get_mut(..*len).unwrap_or_default(),
        };
        bytes.copy_within(range.end..len, range.start + by.len());
        if let Some(replaced) = bytes.get_mut(range.start..range.start + by.len()) {
            replaced.copy_from_slice(by);
        }
        self.truncate(len - range.len() + by.len());
    }

    /// Changes the bytes as a vector; bytes in pages of their own are moved to the heap.
    pub(crate) fn with_vec<T>(&mut self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let mut bytes = std::mem::take(self).into_vec();
        let result = change(&mut bytes);
        self.0 = Memory::Heap(bytes);
        result
    }

    /// The bytes as a vector; copies those in pages of their own.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Memory::Heap(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Memory::Pages { pages, len, .. } => pages.get(..len).unwrap_or_default().to_vec(),
        }
    }

    /// Releases unused capacity if it is large enough to be worth moving the bytes.
    #[must_use]
    pub(crate) fn shrunk(mut self) -> Self {
        let unused = self.capacity() - self.len();
        match &mut self.0 {
            Memory::Heap(bytes) if unused > bytes.len() / 4 => bytes.shrink_to_fit(),
            // New pages that were never written to take no memory.
            #[cfg(target_os = "linux")]
            Memory::Pages { len, .. } if unused > (*len / 4).max(HUGE_PAGE) => return self.into_vec().into(),
            _ => {}
        }
        self
    }
}

/// Copies bytes, many of them on all threads that have nothing else to do: `to` is often memory that must be cleared
/// first.
#[cfg(target_os = "linux")]
fn copy(from: &[u8], to: &mut [u8]) {
    if from.len() < 2 * COPIED_PIECE {
        return to.copy_from_slice(from);
    }
    let pieces = to.par_chunks_mut(COPIED_PIECE).zip(from.par_chunks(COPIED_PIECE));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Memory::Heap(bytes) => bytes,
            #[cfg(target_os = "linux")]
            Memory::Pages { pages, len, .. } => pages.get(..*len).unwrap_or_default(),
        }
    }
}

impl Default for FileBytes {
    fn default() -> Self {
        Self(Memory::Heap(Vec::new()))
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Memory::Heap(bytes))
    }
}

impl PartialEq for FileBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for FileBytes {}

impl Debug for FileBytes {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives at most 100,000 bytes a read, and is interrupted before each.
    struct Slow<'b>(&'b [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let len = buffer.len().min(100_000);
            self.0.read(&mut buffer[..len])
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn bytes_in_any_memory_equal_a_vector(
            capacity in 0..5_usize,
            is_huge in any::<bool>(),
            reads in prop::collection::vec((0..3_000_000_usize, 0..3_000_000_u64), 1..4),
            added in prop::collection::vec(any::<u8>(), 0..3),
            (from, to) in (0..4_000_000_usize, 0..3_000_000_usize),
        ) {
            let text: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
            let memory = if is_huge { FileBytes::with_capacity } else { FileBytes::in_small_pages };
            let (mut bytes, mut expected) = (memory(capacity << 20).unwrap(), Vec::new());
            prop_assert!(bytes.is_empty() && bytes.capacity() >= capacity << 20);
            for (len, limit) in &reads {
                let read = text[..*len].take(*limit).read_to_end(&mut expected).unwrap() as u64;
                prop_assert_eq!(bytes.append_from(&mut Slow(&text[..*len], false), *limit).unwrap(), read);
                bytes.extend_from_slice(&added);
                expected.extend_from_slice(&added);
                prop_assert!(*bytes == *expected);
                bytes.push(7);
                expected.push(7);
                bytes.replace(from..to, &added);
                if from <= to && to <= expected.len() {
                    expected.splice(from..to, added.iter().copied());
                }
                prop_assert!(*bytes == *expected);
                bytes.truncate(from);
                expected.truncate(from);
                prop_assert!(*bytes == *expected);
            }
            let shrunk = bytes.shrunk();
            prop_assert!(*shrunk == *expected);
            prop_assert!(shrunk.into_vec() == expected);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_large_file_is_read_and_copied_in_parallel_unless_it_is_shorter() {
        let mut file = tempfile::tempfile().unwrap();
        let text: Vec<u8> = (0..(2 * MIN_PARALLEL + 4_321) as u32).map(|number| (number % 251) as u8).collect();
        io::Write::write_all(&mut file, &text).unwrap();
        let mut bytes = FileBytes::with_capacity(text.len() + MIN_PARALLEL).unwrap();
        assert!(bytes.append_parallel(&file, MIN_PARALLEL).unwrap());
        assert!(*bytes == text[..MIN_PARALLEL]);
        let rest = text.len() - MIN_PARALLEL;
        assert!(!bytes.append_parallel(&file, rest + 1).unwrap());
        assert!(*bytes == text[..MIN_PARALLEL]);
        assert!(bytes.append_parallel(&file, rest).unwrap());
        assert!(*bytes == *text);
        let mut copied = FileBytes::with_capacity(text.len() + 1).unwrap();
        copied.push(text[0]);
        copied.extend_from_slice(&text[1..]);
        assert!(*copied == *text);
        let few = FileBytes::with_capacity(text.len()).unwrap();
        for (mut bytes, len) in [(few, 1_000), (Vec::with_capacity(text.len()).into(), text.len())] {
            assert!(!bytes.append_parallel(&file, len).unwrap() && bytes.is_empty());
        }
    }

    #[test]
    fn unused_memory_is_released() {
        let mut bytes = FileBytes::with_capacity(64 << 20).unwrap();
        bytes.extend_from_slice(b"<urlset/>");
        assert!(bytes.shrunk().capacity() < 1 << 10);
    }
}
