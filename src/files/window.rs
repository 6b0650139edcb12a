//! The part of a file that is in memory while the file is read in windows.
//!
//! The buffer of a window is used again for the next one: it stays in the cache of the core, and the system need not clear
//! new memory for each part of the file.

use super::disk::{Fingerprint, OnDisk};
use super::error::{Error, Reason};
use super::read::{CHUNK, Opened, open_regular};
use crate::document::lines::{LineColumn, Lines};
use crate::xml::scan::{last_entry_end, last_unclosed_start};
use std::io::{Read, Seek, SeekFrom};

/// Factor of the sizes below: tests have small files.
pub(super) const SCALE: usize = if cfg!(test) { 1 } else { 1 << 10 };

/// Number of bytes of a window: it is scanned while it is in the cache of the core that read it.
pub(super) const WINDOW: usize = 512 * SCALE;

/// A file is read as a whole if an entry is longer than this number of bytes.
pub(super) const MAX_WINDOW: usize = 32 * WINDOW;

/// Shorter files are read as a whole.
pub(super) const MIN_LEN: u64 = 256 * SCALE as u64;

/// The window of a file that is in memory.
pub(super) struct Window<'b> {
    /// The file when its first window was read.
    on_disk: &'b OnDisk,
    /// The bytes before the content of the root, and the window.
    pub(super) buffer: &'b mut Vec<u8>,
    /// The length of the bytes before the content of the root, once they are known.
    pub(super) head: usize,
    /// Number of bytes that were read.
    read: u64,
    /// Their hash, if they are hashed.
    hash: Option<Fingerprint>,
}

impl<'b> Window<'b> {
    /// A window before the first byte of a file. The buffer is empty.
    pub(super) const fn new(on_disk: &'b OnDisk, buffer: &'b mut Vec<u8>) -> Self {
        Self { on_disk, buffer, head: 0, read: 0, hash: None }
    }

    /// [`Window::new`] for a file whose bytes are hashed.
    pub(super) fn hashing(on_disk: &'b OnDisk, buffer: &'b mut Vec<u8>) -> Self {
        Self { hash: Some(Fingerprint::default()), ..Self::new(on_disk, buffer) }
    }

    /// The [`fingerprint`](super::disk::fingerprint) of the bytes that were read, if they are hashed.
    pub(super) fn hash(self) -> Option<u64> {
        self.hash.map(Fingerprint::finish)
    }

    /// Reads on until the window has `len` bytes and an entry ends in it, or to the end of the file. Returns the offset in
    /// the buffer after the last entry, before the last one if entries have no end tags, or after the file. `None` if the file cannot be read, has changed, or has an entry
    /// that is too long.
    pub(super) fn fill(&mut self, len: usize) -> Option<usize> {
        // The file is open only while bytes are read, as any other file: a scan may begin to read another one on this
        // thread, and reads may wait until no file is open.
        let mut opened = open_unchanged(self.on_disk).ok()?;
        let file = &mut opened.file;
        file.seek(SeekFrom::Start(self.read)).ok()?;
        let mut wanted = self.head + len;
        loop {
            while self.buffer.len() < wanted && self.read < self.on_disk.len {
                let before = self.buffer.len();
                let chunk = CHUNK.min((wanted - before) as u64).min(self.on_disk.len - self.read);
                let read = file.by_ref().take(chunk).read_to_end(self.buffer).ok()? as u64;
                self.read += read;
                if read < chunk {
                    return None;
                }
                if let Some(hash) = &mut self.hash {
                    hash.update(self.buffer.get(before..)?);
                }
            }
            if self.read == self.on_disk.len {
                return Some(self.buffer.len());
            }
            let window = self.buffer.get(self.head..)?;
            // A window may also end before an entry that follows one without an end tag, which the scan finds.
            if let Some(end) = last_entry_end(window).or_else(|| last_unclosed_start(window)) {
                return Some(self.head + end);
            }
            wanted += len;
            if wanted > MAX_WINDOW {
                return None;
            }
        }
    }

    /// Whether the window that ends at this offset is the last one.
    pub(super) fn is_last(&self, end: usize) -> bool {
        self.read == self.on_disk.len && end == self.buffer.len()
    }

    /// Drops the bytes between the head and this offset.
    pub(super) fn drop_scanned(&mut self, end: usize) {
        let len = self.buffer.len();
        self.buffer.copy_within(end..len, self.head);
        self.buffer.truncate(self.head + len - end);
    }
}

/// Consecutive bytes of a file that are read again. They start with the file or after an entry, and end after an entry or
/// with the file.
pub(crate) struct Piece<'l, 'b> {
    /// The bytes, repaired if the file is damaged.
    pub(crate) bytes: &'b [u8],
    /// The offset of the first one in the file, after the repair.
    pub(crate) start: u32,
    /// A counter of the lines of the stored file at the first byte.
    pub(crate) lines: &'l mut Lines<'b>,
}

/// Reads the beginning of a file again, which is unchanged since it was read: pieces that end at `ends`, until `visit`
/// returns false. Returns whether it did not.
///
/// # Errors
/// The file cannot be read, or has changed.
pub(super) fn each_piece(
    on_disk: &OnDisk,
    ends: impl IntoIterator<Item = u32>,
    mut visit: impl FnMut(Piece<'_, '_>) -> bool,
) -> Result<bool, Error> {
    let failed = |error| Error::system("read", &on_disk.path, error);
    let mut opened = open_unchanged(on_disk)?;
    let (mut buffer, mut start, mut position) = (Vec::new(), 0, LineColumn::START);
    for end in ends {
        buffer.clear();
        let len = u64::from(end.saturating_sub(start));
        let read = opened.file.by_ref().take(len).read_to_end(&mut buffer).map_err(failed)?;
        if (read as u64) < len {
            return Err(Error::new(&on_disk.path, Reason::Changed));
        }
        let mut lines = Lines::new(&buffer).continued(0, position);
        if !visit(Piece { bytes: &buffer, start, lines: &mut lines }) {
            return Ok(false);
        }
        (start, position) = (end, lines.position(buffer.len()));
    }
    Ok(true)
}

/// The ends of pieces of about [`WINDOW`] bytes, of a file whose entries start at `starts`, up to the last of these. The
/// first piece begins with the file.
pub(super) fn piece_ends(starts: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let mut known = None;
    std::iter::from_fn(move || {
        let last = starts.len().checked_sub(1).filter(|last| known != Some(*last))?;
        let from = known.and_then(|known| starts.get(known)).copied().unwrap_or_default();
        let fitting = starts.partition_point(|start| *start <= from.saturating_add(WINDOW as u32));
        let next = fitting.saturating_sub(1).max(known.map_or(0, |known| known + 1)).min(last);
        known = Some(next);
        starts.get(next).copied()
    })
}

/// Opens a file that was read before.
pub(super) fn open_unchanged(on_disk: &OnDisk) -> Result<Opened, Error> {
    let opened = open_regular(&on_disk.path)?;
    let metadata = opened.file.metadata().map_err(|error| Error::system("read", &on_disk.path, error))?;
    let is_same = on_disk.matches_metadata(&metadata);
    if is_same { Ok(opened) } else { Err(Error::new(&on_disk.path, Reason::Changed)) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs;

    pub(in super::super) const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

    pub(in super::super) fn entries(count: usize) -> String {
        (0..count).map(|entry| format!("<url><loc>https://e.com/{entry}</loc></url>\n")).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_has_no_next_window() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        fs::write(&path, format!("{ROOT}{}</urlset>\n", entries(400))).unwrap();
        let on_disk = OnDisk::new(&path, &fs::metadata(&path).unwrap(), 0);
        let mut buffer = Vec::new();
        let mut window = Window::new(&on_disk, &mut buffer);
        assert!(window.fill(WINDOW).is_some());
        let ends = [10, 20];
        assert!(each_piece(&on_disk, ends, |_| true).is_ok());
        fs::write(&path, format!("{ROOT}{}</urlset>\n", entries(401))).unwrap();
        assert!(window.fill(WINDOW).is_none());
        assert!(each_piece(&on_disk, ends, |_| true).unwrap_err().to_string().contains("has changed"));
    }
}
