//! Buffers output that is printed after text that is not known yet: in memory, then in an unnamed temporary file.

use super::BUFFER;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Take, Write};
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;
use tempfile::SpooledTempFile;

/// Output of more bytes is moved from memory to a file.
const IN_MEMORY: usize = 1 << 20;

/// Number of bytes that are read at once.
const BLOCK: u64 = 1 << 18;

/// Number of blocks that wait to be written at most.
const BLOCKS_AHEAD: usize = 2;

/// Buffered output.
pub(super) struct Spool {
    file: BufWriter<SpooledTempFile>,
    written: u64,
}

impl Spool {
    pub(super) fn new() -> Self {
        Self { file: BufWriter::with_capacity(BUFFER, SpooledTempFile::new(IN_MEMORY)), written: 0 }
    }

    /// The number of buffered bytes.
    pub(super) const fn len(&self) -> u64 {
        self.written
    }

    /// Writes a range of the buffered bytes to `out`. A long one is read on another thread while it is written.
    pub(super) fn write_part(&mut self, part: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        // Seeking flushes the `BufWriter`.
        self.file.seek(SeekFrom::Start(part.start))?;
        let is_long = part.end - part.start > IN_MEMORY as u64;
        let mut blocks = Blocks(self.file.get_mut().take(part.end - part.start));
        if !is_long {
            return blocks.try_for_each(|block| out.write_all(&block?));
        }
        let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
        thread::scope(|scope| {
            // Sending fails if writing has failed.
            let read = move || blocks.try_for_each(|block| sender.send(block));
            thread::Builder::new().spawn_scoped(scope, read)?;
            // The receiver is dropped before the thread is joined.
            receiver.into_iter().try_for_each(|block| out.write_all(&block?))
        })
    }
}

/// The bytes up to the limit of a reader, in blocks.
struct Blocks<R>(Take<R>);

impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut block = Vec::with_capacity(self.0.limit().min(BLOCK) as usize);
        match self.0.by_ref().take(BLOCK).read_to_end(&mut block) {
            Ok(0) => None,
            Ok(_) => Some(Ok(block)),
            Err(error) => Some(Err(error)),
        }
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write(bytes)?;
        self.written += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_back_from_memory_and_from_a_file() {
        for times in [1, 100_000] {
            let mut spool = Spool::new();
            for number in 0..times {
                write!(spool, "finding {number:06};").unwrap();
            }
            let (mut all, mut part) = (Vec::new(), Vec::new());
            spool.write_part(0..spool.len(), &mut all).unwrap();
            assert_eq!(all.len(), times * "finding 000000;".len());
            assert_eq!(spool.len(), all.len() as u64);
            let end = spool.len();
            spool.write_part(end - 15..end, &mut part).unwrap();
            assert_eq!(String::from_utf8(part).unwrap(), format!("finding {:06};", times - 1));
        }
    }

    #[test]
    fn a_long_part_is_not_read_on_after_a_failed_write() {
        let mut spool = Spool::new();
        spool.write_all(&vec![b'a'; 8 * IN_MEMORY]).unwrap();
        let mut out = vec![0; IN_MEMORY];
        let error = spool.write_part(0..spool.len(), &mut &mut out[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
        assert!(out.iter().all(|byte| *byte == b'a'));
        assert!(spool.file.stream_position().unwrap() < spool.len());
    }
}
