//! Reads entries of a file again, of which only the first are in memory.

use super::disk::OnDisk;
use super::error::{Error, Reason};
use super::read::{Options, read};
use super::repaired_windows::RepairedWindows;
use super::window::{Piece, each_piece, piece_ends};
use crate::document::lines::Anchor;
use crate::file_bytes::FileBytes;
use crate::progress::Progress;

/// The entries of such a file.
pub(crate) struct StoredEntries<'f> {
    /// The file when it was read.
    pub(crate) on_disk: &'f OnDisk,
    /// The offsets of all entries and of the tail.
    pub(crate) starts: &'f [u32],
    /// The windows in which the file was repaired, if it is damaged.
    pub(crate) repaired: Option<&'f RepairedWindows>,
}

impl StoredEntries<'_> {
    /// The number of entries.
    pub(crate) const fn len(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The offset of an entry, or of the tail.
    pub(crate) fn start(&self, entry: u32) -> u32 {
        self.starts.get(entry as usize).copied().unwrap_or_default()
    }

    /// Visits pieces in file order, among them all in which one of these `entries` starts, which are in ascending order,
    /// until `visit` returns false.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub(crate) fn each_piece(
        &self,
        entries: &[u32],
        mut visit: impl FnMut(Piece<'_, '_>) -> bool,
    ) -> Result<(), Error> {
        let undamaged = self.repaired.map_or(u32::MAX, RepairedWindows::start);
        let (stored, repaired) = entries.split_at(entries.partition_point(|entry| self.start(*entry) < undamaged));
        if let Some(last) = stored.last() {
            let ends = piece_ends(self.starts.get(..=*last as usize + 1).unwrap_or_default());
            if !each_piece(self.on_disk, ends, &mut visit)? {
                return Ok(());
            }
        }
        let Some(windows) = self.repaired.filter(|_| !repaired.is_empty()) else { return Ok(()) };
        let is_needed = |start, end| {
            let first = repaired.partition_point(|entry| self.start(*entry) < start);
            repaired.get(first).is_some_and(|entry| self.start(*entry) < end)
        };
        let tail = self.start(self.len());
        windows.each_needed(self.on_disk, is_needed, |piece| {
            let bytes = piece.bytes.get(..(tail - piece.start) as usize).unwrap_or(piece.bytes);
            visit(Piece { bytes, ..piece })
        })
    }

    /// All bytes of the file, repaired if it is damaged, and their anchors.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub(crate) fn read(&self, options: &Options) -> Result<(FileBytes, Vec<Anchor>), Error> {
        if let Some(windows) = self.repaired {
            return windows.read(self.on_disk, &options.buffers);
        }
        let contents = read(&self.on_disk.path, options, &Progress::default())?;
        let is_same = self.on_disk.has_same_metadata(&contents.on_disk);
        if is_same { Ok((contents.bytes, Vec::new())) } else { Err(Error::new(&self.on_disk.path, Reason::Changed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Buffers;
    use super::super::load::tests::load_text;
    use super::super::window::tests::{ROOT, entries};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn entries_are_read_again_with_their_positions(
            damaged in prop::collection::vec((20..400_usize, prop::sample::select(vec!["?a&b", "&foo;", "\u{1}", "a<b"])), 1..12),
            wanted in prop::collection::btree_set(0..400_u32, 1..20),
            line_end in prop::sample::select(vec!["\n", "\r\n", ""]),
        ) {
            let mut text = format!("{ROOT}{}</urlset>\n", entries(400)).replace('\n', line_end);
            for (number, damage) in damaged {
                text = text.replacen(&format!("/{number}<"), &format!("/{number}{damage}<"), 1);
            }
            let (in_windows, whole) = (load_text(text.as_bytes(), Buffers::windows()), load_text(text.as_bytes(), Buffers::New));
            // Anchors are at start tags: the position of a blank between entries depends on where windows start.
            let tag_of = |text: &[u8]| memchr::memchr(b'<', text).unwrap();
            let (stored, wanted) = (in_windows.stored().unwrap(), wanted.into_iter().collect::<Vec<_>>());
            let mut seen = Vec::new();
            stored.each_piece(&wanted, |piece| {
                let end = piece.start + piece.bytes.len() as u32;
                for entry in wanted.iter().filter(|entry| (piece.start..end).contains(&stored.start(**entry))) {
                    let (from, to) = (stored.start(*entry) - piece.start, stored.start(entry + 1) - piece.start);
                    let text = piece.bytes[from as usize..to as usize].to_vec();
                    let position = piece.lines.position(from as usize + tag_of(&text));
                    seen.push((*entry, text, position));
                }
                true
            }).unwrap();
            let mut lines = whole.source.lines();
            let expected: Vec<_> = wanted.iter().map(|entry| {
                let text = whole.source.entry_text(*entry as usize).to_vec();
                let position = lines.position(whole.source.starts()[*entry as usize] as usize + tag_of(&text));
                (*entry, text, position)
            }).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
