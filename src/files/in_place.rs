//! Overwrites files that cannot be replaced: those with several hard links or an owner that cannot be set.
//!
//! Unlike a rename this can be interrupted in the middle. The commit record therefore contains a hash of each block of
//! the old content: a file that consists of old and new blocks only is an interrupted copy, which may be repeated. A
//! file with any other block was changed by another program.

use super::disk::fingerprint;
use super::gate::{FsOperation, Gate, attempt};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write};

/// Bytes that the system writes atomically when a process dies: a page. Smaller in tests, so that a copy has many
/// blocks.
const BLOCK: usize = if cfg!(test) { 100 } else { 4_096 };

/// Bytes per copy operation: whole blocks.
const PIECE: usize = if cfg!(test) { BLOCK } else { 256 * BLOCK };

/// Hashes of the content that is overwritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OldBlocks {
    hashes: Vec<u64>,
    /// Hash of the old bytes from the end of the new content to the end of that block.
    tail: u64,
}

impl OldBlocks {
    /// The hashes of a file that will have `new_len` bytes.
    pub(super) fn of(file: &mut File, new_len: u64) -> io::Result<Self> {
        let (end_block, end) = ((new_len / BLOCK as u64) as usize, (new_len % BLOCK as u64) as usize);
        let (mut hashes, mut tail) = (Vec::new(), fingerprint(b""));
        let mut block = Vec::with_capacity(BLOCK);
        while read_block(file, &mut block)? {
            if hashes.len() == end_block {
                tail = fingerprint(block.get(end..).unwrap_or_default());
            }
            hashes.push(fingerprint(&block));
        }
        Ok(Self { hashes, tail })
    }

    /// Whether a file consists only of these old blocks and blocks of the new content.
    pub(super) fn may_be_overwritten(&self, target: &mut File, new: &mut File) -> io::Result<bool> {
        let (mut current, mut wanted) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        let mut number = 0;
        while read_block(target, &mut current)? {
            read_block(new, &mut wanted)?;
            let is_old = self.hashes.get(number) == Some(&fingerprint(&current));
            // Shorter than the new block if the file is still growing; longer if its old end remains.
            let is_new = wanted.starts_with(&current) && !current.is_empty()
                || current
                    .strip_prefix(&*wanted)
                    .is_some_and(|rest| !wanted.is_empty() && fingerprint(rest) == self.tail);
            if !is_old && !is_new {
                return Ok(false);
            }
            number += 1;
        }
        Ok(true)
    }
}

/// Reads the next block; the last one may be shorter. False at the end.
fn read_block(file: &mut File, block: &mut Vec<u8>) -> io::Result<bool> {
    block.clear();
    Read::by_ref(file).take(BLOCK as u64).read_to_end(block)?;
    Ok(!block.is_empty())
}

/// Overwrites the content of a file with that of another. Both are processed from their beginning.
pub(super) fn copy(from: &mut File, into: &mut File, gate: &dyn Gate) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut len = 0;
    loop {
        let read = match read_full(from, &mut buffer)? {
            0 => break,
            read => read,
        };
        // A signal interrupts a write only before the first byte, so no byte is written twice.
        attempt(gate, FsOperation::Copy, || Ok(()))?;
        into.write_all(buffer.get(..read).unwrap_or_default())?;
        len += read as u64;
    }
    // Truncate only when all new bytes are written.
    into.set_len(len)?;
    attempt(gate, FsOperation::Sync, || into.sync_all())
}

/// Fills a buffer, except at the end of the file, so that reads are aligned to blocks.
fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Seek;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A copy that is interrupted at a block or at the end of either file is recognized and may be repeated; a file
        /// with a byte that is neither old nor new is not.
        #[test]
        fn an_interrupted_copy_and_a_foreign_byte_are_recognized(
            old_len in 1usize..450, new_len in 1usize..450, stop in 0usize..6, at: proptest::sample::Index
        ) {
            let old = vec![b'o'; old_len];
            let new = vec![b'n'; new_len];
            let blocks = OldBlocks::of(&mut file(&old), new_len as u64).unwrap();
            let copied = (stop * BLOCK).min(new_len);
            let mut current = [&new[..copied], old.get(copied..).unwrap_or_default()].concat();
            prop_assert!(blocks.may_be_overwritten(&mut file(&current), &mut file(&new)).unwrap());
            let at = at.index(current.len());
            current[at] = b'x';
            prop_assert!(!blocks.may_be_overwritten(&mut file(&current), &mut file(&new)).unwrap());
        }
    }

    #[test]
    fn a_file_longer_than_both_contents_is_foreign() {
        let (old, new) = (vec![b'o'; 150], vec![b'n'; 120]);
        let blocks = OldBlocks::of(&mut file(&old), 120).unwrap();
        for (current, expected) in [
            ([&new[..], &old[120..]].concat(), true),
            ([&old[..], b"x"].concat(), false),
            ([&new[..], b"x"].concat(), false),
            (vec![b'o'; 350], false),
        ] {
            let found = blocks.may_be_overwritten(&mut file(&current), &mut file(&new)).unwrap();
            assert_eq!(found, expected, "{}", current.len());
        }
    }
}
