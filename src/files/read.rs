//! Reads one file into memory, decompresses and decodes it, and records its state on disk.
//!
//! The bytes are read once into a buffer of their exact size. Nothing is repaired here.

use super::buffers::Buffers;
use super::decode::{self, Decoded};
use super::detect;
use super::disk::{Fingerprint, OnDisk};
use super::error::{Error, Reason};
use super::merge_conflict::Conflicts;
use super::record::Recovery;
use super::stream::is_stream;
use super::unpack;
use crate::document::quirk::Quirk;
use crate::file_bytes::FileBytes;
use crate::progress::{Progress, Reading};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Options of a load.
#[derive(Debug, Clone)]
pub struct Options {
    /// Maximum size of one file in bytes, uncompressed; at most [`u32::MAX`], since offsets have 32 bits.
    pub max_bytes: u64,
    /// Maximum size of decompressed gzip data in bytes: a few kilobytes can unpack to gigabytes.
    pub max_unpacked: u64,
    /// Maximum number of bytes that a set of several files may take in memory: a load that needs more is cancelled as soon as
    /// this is known.
    pub max_held_bytes: u64,
    /// The public URL of the set's folder or of a file in it, if known.
    pub base_url: Option<String>,
    /// Whether the base URL was recorded by a download instead of given by the user: then it permits no requests to
    /// loopback addresses.
    pub is_base_recorded: bool,
    /// The location of robots.txt.
    pub robots: RobotsFile,
    /// The user's state folder, if edits are recorded in a journal there.
    pub state: Option<PathBuf>,
    /// Whether an interrupted save may be finished.
    pub recovery: Recovery,
    /// Whether the files are opened for editing: they are locked then, with or without a state folder.
    pub is_edited: bool,
    /// Whether a set with an unreadable file is refused. Otherwise the error is the state of the index entry, or in
    /// `super::Loaded::unread`.
    pub require_all: bool,
    /// Whether the entries of an index become rows that can be edited if none of its sitemaps exists. Otherwise it is a
    /// set without rows.
    pub index_as_rows: bool,
    /// How files with merge conflicts are handled.
    pub conflicts: Conflicts,
    /// Whether the file is a copy of standard input: sitemaps that it lists are not searched beside the copy.
    pub is_copy: bool,
    /// The column of a table that contains the URLs: its name, or its number from 1.
    pub loc_column: Option<String>,
    /// Reusable buffers for the bytes of files.
    pub buffers: Buffers,
}

/// The robots.txt that a set is checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RobotsFile {
    /// The one in the folder of the set.
    #[default]
    Beside,
    /// This file.
    At(PathBuf),
    /// None.
    Ignored,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_bytes: u64::from(u32::MAX),
            max_unpacked: MAX_UNPACKED,
            max_held_bytes: u64::MAX,
            base_url: None,
            is_base_recorded: false,
            robots: RobotsFile::default(),
            state: None,
            recovery: Recovery::default(),
            is_edited: false,
            require_all: false,
            index_as_rows: false,
            conflicts: Conflicts::default(),
            is_copy: false,
            loc_column: None,
            buffers: Buffers::default(),
        }
    }
}

/// Ten times the maximum size of a sitemap (rule catalogue, `gzip-bomb`).
const MAX_UNPACKED: u64 = 512 << 20;

impl Options {
    /// Returns the options with another maximum size, also for decompressed gzip data.
    #[must_use]
    pub fn at_most(self, max_bytes: u64) -> Self {
        let max_bytes = max_bytes.min(u64::from(u32::MAX));
        Self { max_bytes, max_unpacked: max_bytes, ..self }
    }

    /// Whether a load is known to need more than [`Self::max_held_bytes`]. All bytes of the files count, or only those that
    /// stay in memory if files are read in windows.
    pub(crate) fn is_over_limit(&self, reading: Reading) -> bool {
        let bytes = if self.buffers.drops_entries() { reading.bytes_held } else { reading.bytes_total };
        reading.files_total > 1 && bytes > self.max_held_bytes
    }
}

/// A file's bytes, uncompressed and in UTF-8.
#[derive(Debug)]
pub struct Contents {
    /// The bytes.
    pub bytes: FileBytes,
    /// Whether they were gzipped.
    pub gzip: bool,
    /// The encoding of the stored file.
    pub encoding: &'static str,
    /// Quirks of compression and encoding.
    pub quirks: Vec<Quirk>,
    /// The file as stored.
    pub on_disk: OnDisk,
}

/// Reads a file and decompresses it (all members) if it is gzip data, whatever its name is.
///
/// The caller has added the stored bytes to `progress`; bytes from unpacking are added here.
pub fn read(path: &Path, options: &Options, progress: &Progress) -> Result<Contents, Error> {
    let limit = options.max_bytes.min(u64::from(u32::MAX));
    let stored = if is_stream(path) {
        read_standard_input(limit, progress)?
    } else {
        // A pipe that the user has named is read, and the read waits for its writer.
        let opened = Opened::new(path, |path| File::open(path)).map_err(|error| Error::system("read", path, error))?;
        read_stored(&options.buffers, path, (opened, limit), progress)?
    };
    unpack_and_decode(path, stored, options, progress)
}

/// Reads a file that was found in an index or a folder. It must be a regular file.
pub(super) fn read_regular(path: &Path, options: &Options, progress: &Progress) -> Result<Contents, Error> {
    let limit = options.max_bytes.min(u64::from(u32::MAX));
    let stored = read_stored(&options.buffers, path, (open_regular(path)?, limit), progress)?;
    unpack_and_decode(path, stored, options, progress)
}

/// Decompresses and decodes the stored bytes of a file.
fn unpack_and_decode(
    path: &Path,
    (stored, on_disk): (FileBytes, OnDisk),
    options: &Options,
    progress: &Progress,
) -> Result<Contents, Error> {
    let limit = options.max_bytes.min(u64::from(u32::MAX));
    let is_gzip = detect::is_gzip(&stored);
    let (unpacked, mut quirks) = if is_gzip {
        let limit = options.max_unpacked.min(limit);
        let (bytes, quirks) =
            unpack::unpack(&stored, limit, &options.buffers).map_err(|reason| Error::new(path, reason))?;
        let more = (bytes.len() as u64).saturating_sub(on_disk.len);
        progress.expect(0, more);
        progress.hold(more);
        (bytes, quirks)
    } else {
        (stored, Vec::new())
    };
    if let Some(reason) = detect::detect_container(&unpacked) {
        return Err(Error::new(path, reason));
    }
    let Decoded { bytes, encoding, quirks: found, .. } = decode::decode(unpacked);
    // UTF-16 and the like may grow by half when they become UTF-8.
    if bytes.len() as u64 > u64::from(u32::MAX) {
        return Err(Error::new(path, Reason::TooLarge(limit)));
    }
    quirks.extend(found);
    Ok(Contents { bytes, gzip: is_gzip, encoding, quirks, on_disk })
}

/// The metadata of the regular file at a path; `None` if nothing exists there.
///
/// # Errors
/// If it is not a regular file, is a dangling link, or cannot be inspected.
pub(super) fn regular_at(path: &Path) -> Result<Option<Metadata>, Error> {
    match std::fs::metadata(path) {
        Ok(metadata) => check_regular(path, &metadata).map(|()| Some(metadata)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound if path.is_symlink() => Err(Error::new(path, Reason::Link("leads to no file"))),
            // A file whose name is too long for the file system does not exist.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => Ok(None),
            _ => Err(Error::system("read", path, error)),
        },
    }
}

fn check_regular(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(Error::new(path, Reason::Irregular("a folder"))),
        _ => Err(Error::new(path, Reason::Irregular("a pipe, a socket or a device"))),
    }
}

/// Opens a regular file; a pipe is refused without waiting for its writer.
pub(super) fn open_regular(path: &Path) -> Result<Opened, Error> {
    let failed = |error| Error::system("read", path, error);
    // Opening a device may have side effects.
    check_regular(path, &std::fs::metadata(path).map_err(failed)?)?;
    let opened = Opened::new(path, open_without_waiting).map_err(failed)?;
    check_regular(path, &opened.file.metadata().map_err(failed)?)?;
    Ok(opened)
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    match opened {
        // Not a pipe, but a regular file that another process holds a lease on; the blocking open revokes it.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => File::open(path),
        opened => opened,
    }
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// Held shared by each open file. If the system has no file descriptor left, a read waits until it can hold it
/// exclusively.
static READING: RwLock<()> = RwLock::new(());

/// A file that is open for reading.
pub(super) struct Opened {
    pub(super) file: File,
    _permit: ReadPermit,
}

/// Permit to hold an open file; released when it is closed.
enum ReadPermit {
    Shared { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl Opened {
    /// Opens a file. If too many files are open, it tries again when no other file is being read.
    fn new(path: &Path, open: impl Fn(&Path) -> io::Result<File>) -> io::Result<Self> {
        let guard = READING.read().unwrap_or_else(PoisonError::into_inner);
        match open(path) {
            Err(error) if is_out_of_descriptors(&error) => {
                drop(guard);
                let guard = READING.write().unwrap_or_else(PoisonError::into_inner);
                Ok(Self { file: open(path)?, _permit: ReadPermit::Alone { _guard: guard } })
            }
            opened => Ok(Self { file: opened?, _permit: ReadPermit::Shared { _guard: guard } }),
        }
    }
}

/// `EMFILE` of this process or `ENFILE` of the system.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_out = {
        use rustix::io::Errno;
        let code = error.raw_os_error();
        [Errno::MFILE, Errno::NFILE].iter().any(|errno| code == Some(errno.raw_os_error()))
    };
    #[cfg(not(unix))]
    let is_out = {
        let _ = error;
        false
    };
    is_out
}

/// Reads the stored bytes of a file, and its state on disk.
fn read_stored(
    buffers: &Buffers,
    path: &Path,
    (opened, limit): (Opened, u64),
    progress: &Progress,
) -> Result<(FileBytes, OnDisk), Error> {
    let failed = |error| Error::system("read", path, error);
    let mut opened = opened;
    let metadata = opened.file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::new(path, Reason::Folder));
    }
    // The stored bytes have to fit into memory too, compressed or not.
    if metadata.len() > limit {
        return Err(Error::new(path, Reason::TooLarge(limit)));
    }
    // Room for one more byte, so that the end is found without moving the bytes.
    let mut buffer = buffers.take(metadata.len() as usize + 1).map_err(failed)?;
    // A thread of the pool reads one file of several, and the other threads read the others.
    if metadata.is_file() && rayon::current_thread_index().is_none() {
        let next = |buffer: &FileBytes| (metadata.len() as usize - buffer.len()).min(PARALLEL_CHUNK);
        let mut len = next(&buffer);
        while !progress.is_cancelled() && buffer.append_parallel(&opened.file, len).map_err(failed)? {
            progress.advance_reading(len as u64);
            len = next(&buffer);
        }
        opened.file.seek(SeekFrom::Start(buffer.len() as u64)).map_err(failed)?;
    }
    let hash = (!buffers.drops_entries()).then(Fingerprint::default);
    let read = read_up_to(&mut opened.file, buffer, limit, hash, progress).map_err(failed)?;
    let (bytes, hash) = read.ok_or_else(|| Error::new(path, Reason::TooLarge(limit)))?;
    let on_disk = OnDisk::new(path, &metadata, hash);
    Ok((bytes, on_disk))
}

/// Reads standard input, which can be read only once.
fn read_standard_input(limit: u64, progress: &Progress) -> Result<(FileBytes, OnDisk), Error> {
    let path = Path::new("-");
    let hash = Some(Fingerprint::default());
    let read = read_up_to(&mut std::io::stdin().lock(), FileBytes::default(), limit, hash, progress)
        .map_err(|error| Error::system("read", path, error))?;
    let (bytes, hash) = read.ok_or_else(|| Error::new(path, Reason::TooLarge(limit)))?;
    let len = bytes.len() as u64;
    Ok((bytes, OnDisk { path: path.to_path_buf(), len, mtime: None, identity: None, hash }))
}

/// Bytes that are read between two checks for cancellation. They are hashed while they are in the cache of the core.
pub(super) const CHUNK: u64 = 512 << 10;

/// Bytes between two checks of reads on several threads.
const PARALLEL_CHUNK: usize = 32 << 20;

/// Reads to the end of a file after the bytes that the buffer has; returns all bytes and their hash, which is
/// [`OnDisk::NOT_HASHED`] without a `hash` to which they are added. `None` if there are more than `limit` bytes. If it is
/// cancelled, the bytes read so far are returned, and the scan notices the cancellation.
fn read_up_to(
    from: &mut impl Read,
    mut bytes: FileBytes,
    limit: u64,
    mut hash: Option<Fingerprint>,
    progress: &Progress,
) -> std::io::Result<Option<(FileBytes, u64)>> {
    let mut hash_more = |bytes: &[u8]| hash.iter_mut().for_each(|hash| hash.update(bytes));
    hash_more(&bytes);
    loop {
        // One byte beyond the limit distinguishes "too large" from "just fits".
        let (before, left) = (bytes.len(), (limit + 1).saturating_sub(bytes.len() as u64));
        let read = bytes.append_from(from, left.min(CHUNK))?;
        hash_more(bytes.get(before..).unwrap_or_default());
        progress.advance_reading(read);
        if read < CHUNK || progress.is_cancelled() {
            break;
        }
    }
    Ok((bytes.len() as u64 <= limit).then(|| (bytes, hash.map_or(OnDisk::NOT_HASHED, Fingerprint::finish))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::disk::fingerprint;
    use crate::xml::defect::Defect;
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
    fn only_files_that_may_be_saved_are_hashed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sitemap.xml");
        std::fs::write(&path, b"<urlset>").unwrap();
        for (buffers, hash) in [(Buffers::New, fingerprint(b"<urlset>")), (Buffers::windows(), OnDisk::NOT_HASHED)] {
            let options = Options { buffers, ..Options::default() };
            let read = read_regular(&path, &options, &Progress::default()).unwrap();
            assert_eq!((read.on_disk.hash, &*read.bytes), (hash, &b"<urlset>"[..]));
        }
    }

    #[test]
    fn gzip_is_detected_by_its_bytes_and_all_members_are_read() {
        let members = [gzip(b"<urlset>"), gzip(b""), gzip(b"</urlset>")].concat();
        let read = read_bytes(&members, 100).unwrap();
        assert_eq!((&read.bytes[..], read.gzip), (&b"<urlset></urlset>"[..], true));
        assert_eq!((read.on_disk.len, read.on_disk.hash), (members.len() as u64, fingerprint(&members)));
        let read = read_bytes(b"<urlset/>", 100).unwrap();
        assert_eq!((&read.bytes[..], read.gzip), (&b"<urlset/>"[..], false));
    }

    #[cfg(unix)]
    #[test]
    fn a_read_without_a_file_descriptor_waits_for_other_reads_and_is_retried() {
        use std::cell::Cell;
        use std::sync::mpsc::{RecvTimeoutError, channel};
        use std::time::Duration;
        let file = tempfile::NamedTempFile::new().unwrap();
        let full = || io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        let other = Opened::new(file.path(), |path| File::open(path)).unwrap();
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let tries = Cell::new(0);
                let open = |path: &Path| {
                    tries.set(tries.get() + 1);
                    if tries.get() == 1 { Err(full()) } else { File::open(path) }
                };
                let opened = Opened::new(file.path(), open).map(|_| tries.get());
                sender.send(opened).unwrap();
            });
            // It waits while another file is being read.
            assert!(matches!(receiver.recv_timeout(Duration::from_millis(50)), Err(RecvTimeoutError::Timeout)));
            drop(other);
            assert_eq!(receiver.recv().unwrap().unwrap(), 2);
        });
        let never = Opened::new(file.path(), |_| Err(full()));
        assert!(never.is_err_and(|error| is_out_of_descriptors(&error)));
    }

    #[cfg(unix)]
    #[test]
    fn irregular_files_are_refused_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        // A pipe that replaces a file after it was inspected is opened without blocking, and refused.
        assert!(!open_without_waiting(&pipe).unwrap().metadata().unwrap().is_file());
        for path in [&*pipe, folder.path(), Path::new("/dev/null")] {
            assert!(
                matches!(super::super::unlisted::probe(path).unwrap_err().reason, Reason::Irregular(_)),
                "{}",
                path.display()
            );
            assert!(read_regular(path, &Options::default(), &Progress::default()).is_err());
            assert!(regular_at(path).is_err());
        }
        assert!(regular_at(&folder.path().join("gone")).unwrap().is_none());
        assert!(regular_at(&folder.path().join("long".repeat(99))).unwrap().is_none());
    }

    #[test]
    fn size_limits_count_unpacked_bytes() {
        let big = vec![b' '; 100_000];
        assert!(matches!(read_bytes(&big, 99_999).unwrap_err().reason, Reason::TooLarge(99_999)));
        assert!(matches!(read_bytes(&gzip(&big), 99_999).unwrap_err().reason, Reason::Bomb(99_999)));
        assert_eq!(read_bytes(&gzip(&big), 100_000).unwrap().bytes.len(), 100_000);
    }

    #[test]
    fn other_compression_formats_are_refused_even_if_they_decode_as_text() {
        // These bytes would also be valid windows-1252 text.
        for stored in [&b"\x28\xB5\x2F\xFD\x04\0\0"[..], b"\xFD7zXZ\0\0\x04", b"7z\xBC\xAF\x27\x1C\0", b"PK\x03\x04"] {
            let outer = [stored.to_vec(), gzip(stored)];
            assert!(outer.iter().all(|bytes| matches!(read_bytes(bytes, 100).unwrap_err().reason, Reason::Packed(_))));
        }
    }

    #[test]
    fn quirks_of_compression_and_encoding_are_reported() {
        let stored =
            gzip(&[gzip(b"<?xml version='1.0' encoding='latin1'?><urlset>\xE9</urlset>"), b"x".to_vec()].concat());
        let read = read_bytes(&stored, 100_000).unwrap();
        let kinds: Vec<Defect> = read.quirks.iter().map(|quirk| quirk.kind).collect();
        assert_eq!(kinds, [Defect::GzipDouble, Defect::GzipTrailing, Defect::NotUtf8]);
        assert_eq!(read.encoding, "windows-1252");
        assert_eq!(
            String::from_utf8(read.bytes.into_vec()).unwrap(),
            "<?xml version='1.0' encoding='UTF-8'?><urlset>é</urlset>"
        );
    }
}
