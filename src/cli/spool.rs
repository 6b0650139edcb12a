//! Buffers output that is printed after text that is not known yet: in memory, then in an unnamed temporary file.

use super::BUFFER;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use tempfile::SpooledTempFile;

/// Output of more bytes is moved from memory to a file.
const IN_MEMORY: usize = 1 << 20;

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

    /// Writes a range of the buffered bytes to `out`.
    pub(super) fn write_part(&mut self, part: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        // Seeking flushes the `BufWriter`.
        self.file.seek(SeekFrom::Start(part.start))?;
        let part = self.file.get_mut().take(part.end - part.start);
        let mut part = BufReader::with_capacity(BUFFER, part);
        loop {
            let bytes = part.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            out.write_all(bytes)?;
            let len = bytes.len();
            part.consume(len);
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
}
