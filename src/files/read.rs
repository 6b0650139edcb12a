//! Reads one whole file into memory, unpacked and in UTF-8, and takes down what it was on disk.
//!
//! The bytes are read once into a buffer of their exact size. Nothing is repaired here.

use super::buffers::Buffers;
use super::decode::{self, Decoded};
use super::detect;
use super::disk::{OnDisk, fingerprint};
use super::error::{Error, Reason};
use super::unpack;
use crate::document::quirk::Quirk;
use crate::progress::Progress;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How to read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Most bytes of one file, uncompressed. Never more than [`u32::MAX`]: offsets have 32 bits.
    pub max_bytes: u64,
    /// Most bytes that gzip data may unpack to: a few kilobytes can unpack to gigabytes.
    pub max_unpacked: u64,
    /// The URL of the folder (or of a file in it) that the set will be served from, if known.
    pub base_url: Option<String>,
    /// The user's state folder, if what is changed is to be kept there until it is saved.
    pub state: Option<PathBuf>,
    /// Memory to read into; whoever is done with a file may give back its bytes.
    pub buffers: Buffers,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_bytes: u64::from(u32::MAX),
            max_unpacked: MAX_UNPACKED,
            base_url: None,
            state: None,
            buffers: Buffers::default(),
        }
    }
}

/// Ten times what a sitemap may have (rule catalogue, `gzip-bomb`).
const MAX_UNPACKED: u64 = 512 << 20;

impl Options {
    /// The same with another ceiling, for gzip data too.
    #[must_use]
    pub fn at_most(self, max_bytes: u64) -> Self {
        let max_bytes = max_bytes.min(u64::from(u32::MAX));
        Self { max_bytes, max_unpacked: max_bytes, ..self }
    }
}

/// A file's bytes, uncompressed and in UTF-8.
#[derive(Debug)]
pub struct Contents {
    /// All of them.
    pub bytes: Vec<u8>,
    /// Whether they were gzipped.
    pub gzip: bool,
    /// The encoding that they are stored in.
    pub encoding: &'static str,
    /// What was unusual about their packing and encoding.
    pub quirks: Vec<Quirk>,
    /// The file as stored.
    pub on_disk: OnDisk,
}

/// Reads a file and unpacks it if it is gzip data, all members, whatever its name is.
///
/// Whoever calls has told `progress` of the stored bytes; what unpacking adds is told here.
pub fn read(path: &Path, options: &Options, progress: &Progress) -> Result<Contents, Error> {
    let limit = options.max_bytes.min(u64::from(u32::MAX));
    let (stored, on_disk) =
        if is_stream(path) { standard_input(limit)? } else { stored(options.buffers.take(), path, limit)? };
    let is_gzip = detect::is_gzip(&stored);
    let (unpacked, mut quirks) = if is_gzip {
        let limit = options.max_unpacked.min(limit);
        let (bytes, quirks) = unpack::unpack(&stored, limit).map_err(|reason| Error::new(path, reason))?;
        progress.expect(0, (bytes.len() as u64).saturating_sub(on_disk.len));
        (bytes, quirks)
    } else {
        (stored, Vec::new())
    };
    if let Some(reason) = detect::packed(&unpacked) {
        return Err(Error::new(path, reason));
    }
    let Decoded { bytes, encoding, quirks: odd, .. } = decode::decode(unpacked);
    // UTF-16 and the like may grow by half when they become UTF-8.
    if bytes.len() as u64 > u64::from(u32::MAX) {
        return Err(Error::new(path, Reason::TooLarge(limit)));
    }
    quirks.extend(odd);
    Ok(Contents { bytes, gzip: is_gzip, encoding, quirks, on_disk })
}

/// Whether a path stands for standard input or output.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file's bytes as they are stored, and what it was then.
fn stored(buffer: Vec<u8>, path: &Path, limit: u64) -> Result<(Vec<u8>, OnDisk), Error> {
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
    let bytes = read_up_to(&mut file, buffer, (metadata.len(), limit)).map_err(failed)?;
    let bytes = bytes.ok_or_else(|| Error::new(path, Reason::TooLarge(limit)))?;
    let on_disk = OnDisk::new(path, &metadata, fingerprint(&bytes));
    Ok((bytes, on_disk))
}

/// What comes in on standard input. It can be read once.
fn standard_input(limit: u64) -> Result<(Vec<u8>, OnDisk), Error> {
    let path = Path::new("-");
    let bytes = read_up_to(&mut std::io::stdin().lock(), Vec::new(), (0, limit))
        .map_err(|error| Error::system("read", path, error))?;
    let bytes = bytes.ok_or_else(|| Error::new(path, Reason::TooLarge(limit)))?;
    let (len, hash) = (bytes.len() as u64, fingerprint(&bytes));
    Ok((bytes, OnDisk { path: path.to_path_buf(), len, mtime: None, identity: None, hash }))
}

/// Reads to the end into a buffer of about the expected size; `None` when there is more than `limit`.
fn read_up_to(
    from: &mut impl Read,
    mut bytes: Vec<u8>,
    (expected, limit): (u64, u64),
) -> std::io::Result<Option<Vec<u8>>> {
    bytes.clear();
    bytes.try_reserve_exact(expected.min(limit) as usize)?;
    // One byte more than allowed tells "too large" from "just fits".
    from.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::quirk::QuirkKind;
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
        read(&path, &Options::default().at_most(max_bytes), &Progress::default())
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
    fn the_ceilings_count_unpacked_bytes() {
        let big = vec![b' '; 100_000];
        assert!(matches!(read_bytes(&big, 99_999).unwrap_err().reason, Reason::TooLarge(99_999)));
        assert!(matches!(read_bytes(&gzip(&big), 99_999).unwrap_err().reason, Reason::Bomb(99_999)));
        assert_eq!(read_bytes(&gzip(&big), 100_000).unwrap().bytes.len(), 100_000);
    }

    #[test]
    fn what_is_packed_otherwise_is_named_whatever_its_bytes_decode_to() {
        // As text these bytes are letters of windows-1252.
        for stored in [&b"\x28\xB5\x2F\xFD\x04\0\0"[..], b"\xFD7zXZ\0\0\x04", b"7z\xBC\xAF\x27\x1C\0", b"PK\x03\x04"] {
            let outer = [stored.to_vec(), gzip(stored)];
            assert!(outer.iter().all(|bytes| matches!(read_bytes(bytes, 100).unwrap_err().reason, Reason::Packed(_))));
        }
    }

    #[test]
    fn what_was_odd_about_packing_and_encoding_is_told() {
        let stored =
            gzip(&[gzip(b"<?xml version='1.0' encoding='latin1'?><urlset>\xE9</urlset>"), b"x".to_vec()].concat());
        let read = read_bytes(&stored, 100_000).unwrap();
        let kinds: Vec<QuirkKind> = read.quirks.iter().map(|quirk| quirk.kind).collect();
        assert_eq!(kinds, [QuirkKind::GzipDouble, QuirkKind::GzipTrailing, QuirkKind::NotUtf8]);
        assert_eq!(read.encoding, "windows-1252");
        assert_eq!(String::from_utf8(read.bytes).unwrap(), "<?xml version='1.0' encoding='UTF-8'?><urlset>é</urlset>");
    }
}
