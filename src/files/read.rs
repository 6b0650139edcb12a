//! Reads one whole file into memory, unpacked, and takes down what it was on disk.
//!
//! The bytes are read once into a buffer of their exact size. Nothing is decoded or repaired here.

use super::detect;
use super::disk::{OnDisk, fingerprint};
use super::error::{Error, Reason};
use crate::progress::Progress;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How to read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Most bytes of one file, uncompressed. Never more than [`u32::MAX`]: offsets have 32 bits.
    pub max_bytes: u64,
    /// The URL of the folder (or of a file in it) that the set will be served from, if known.
    pub base_url: Option<String>,
    /// The user's state folder, if what is changed is to be kept there until it is saved.
    pub state: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_bytes: u64::from(u32::MAX), base_url: None, state: None }
    }
}

/// A file's bytes, uncompressed.
#[derive(Debug)]
pub struct Contents {
    /// All of them.
    pub bytes: Vec<u8>,
    /// Whether they were gzipped.
    pub gzip: bool,
    /// The file as stored.
    pub on_disk: OnDisk,
}

/// Reads a file and unpacks it if it is gzip data, all members, whatever its name is.
///
/// Whoever calls has told `progress` of the stored bytes; what unpacking adds is told here.
pub fn read(path: &Path, options: &Options, progress: &Progress) -> Result<Contents, Error> {
    let limit = options.max_bytes.min(u64::from(u32::MAX));
    let failed = |error| Error::system("read", path, error);
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::new(path, Reason::Folder));
    }
    // The stored size bounds the unpacked one from below only for plain files; for both it bounds memory.
    if metadata.len() > limit {
        return Err(Error::new(path, Reason::TooLarge(limit)));
    }
    let stored = read_up_to(&mut file, metadata.len(), limit).map_err(failed)?;
    let Some(stored) = stored else { return Err(Error::new(path, Reason::TooLarge(limit))) };
    let on_disk = OnDisk::new(path, &metadata, fingerprint(&stored));
    if !detect::is_gzip(&stored) {
        return Ok(Contents { bytes: stored, gzip: false, on_disk });
    }
    let bytes = match read_up_to(&mut MultiGzDecoder::new(&stored[..]), unpacked_size(&stored), limit) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(Error::new(path, Reason::TooLarge(limit))),
        Err(source) => return Err(Error::new(path, Reason::Gzip { source })),
    };
    progress.expect(0, (bytes.len() as u64).saturating_sub(metadata.len()));
    Ok(Contents { bytes, gzip: true, on_disk })
}

/// Reads to the end into a buffer of about the expected size; `None` when there is more than `limit`.
fn read_up_to(from: &mut impl Read, expected: u64, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(expected.min(limit) as usize)?;
    // One byte more than allowed tells "too large" from "just fits".
    from.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// The size that gzip data say they unpack to (RFC 1952, ISIZE of the last member), bounded by what deflate
/// can pack: a lying trailer must not reserve gigabytes.
fn unpacked_size(stored: &[u8]) -> u64 {
    const BEST_RATIO: u64 = 1_032;
    let Some([a, b, c, d]) = stored.last_chunk::<4>() else { return 0 };
    u64::from(u32::from_le_bytes([*a, *b, *c, *d])).min(stored.len() as u64 * BEST_RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_bytes(bytes: &[u8], max_bytes: u64) -> Result<Contents, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, bytes).unwrap();
        read(&path, &Options { max_bytes, ..Options::default() }, &Progress::default())
    }

    #[test]
    fn gzip_is_known_by_its_bytes_and_all_members_are_read() {
        let members = [gzip(b"<urlset>"), gzip(b""), gzip(b"</urlset>")].concat();
        let read = read_bytes(&members, 100).unwrap();
        assert_eq!((&read.bytes[..], read.gzip), (&b"<urlset></urlset>"[..], true));
        assert_eq!((read.on_disk.len, read.on_disk.hash), (members.len() as u64, fingerprint(&members)));
        let read = read_bytes(b"<urlset/>", 100).unwrap();
        assert_eq!((&read.bytes[..], read.gzip), (&b"<urlset/>"[..], false));
    }

    #[test]
    fn the_ceiling_counts_unpacked_bytes() {
        let big = vec![b' '; 100_000];
        assert!(matches!(read_bytes(&big, 99_999).unwrap_err().reason, Reason::TooLarge(99_999)));
        assert!(matches!(read_bytes(&gzip(&big), 99_999).unwrap_err().reason, Reason::TooLarge(99_999)));
        assert_eq!(read_bytes(&gzip(&big), 100_000).unwrap().bytes.len(), 100_000);
    }

    #[test]
    fn damaged_gzip_is_an_error_at_every_cut() {
        let whole = gzip(b"<urlset><url><loc>http://example.com/</loc></url></urlset>");
        for cut in 2..whole.len() {
            let error = read_bytes(&whole[..cut], 1_000).unwrap_err();
            assert!(matches!(error.reason, Reason::Gzip { .. }), "{cut}: {error}");
        }
        let mut wrong = whole.clone();
        let at = wrong.len() - 6;
        wrong[at] ^= 1;
        assert!(matches!(read_bytes(&wrong, 1_000).unwrap_err().reason, Reason::Gzip { .. }), "checksum");
    }
}
