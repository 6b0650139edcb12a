//! Finds sitemaps beside an index that does not list them.
//!
//! They are found by name and recognized by their first bytes. An unreadable folder is treated as empty, since this is
//! only a hint and never prevents a load.

use super::error::Error;
use super::{detect, read};
use crate::xml::names::FileKind;
use flate2::read::GzDecoder;
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of files that are examined in a folder.
const MAX_FILES: usize = 2_000;

/// Number of first bytes that are read to recognize a file.
const FIRST_BYTES: u64 = 4_096;

/// The names of sitemaps in `folder` that are not among `known`, sorted.
pub(super) fn unlisted_sitemaps(folder: &Path, known: &HashSet<&Path>) -> Arc<[Arc<str>]> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = std::fs::read_dir(here) else { return Arc::default() };
    let candidates = entries.filter_map(Result::ok).filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let lower = name.to_ascii_lowercase();
        let is_named = !name.starts_with('.') && [".xml", ".xml.gz"].iter().any(|end| lower.ends_with(end));
        (is_named && !known.contains(&*folder.join(&name))).then_some(name)
    });
    let mut names: Vec<String> = candidates.take(MAX_FILES).filter(|name| is_sitemap(&folder.join(name))).collect();
    names.sort_unstable();
    names.into_iter().map(Into::into).collect()
}

/// Whether a file begins like a sitemap with URLs. Empty sitemaps do not count, since a save removes them from the
/// index.
fn is_sitemap(path: &Path) -> bool {
    first_bytes(path).is_some_and(|bytes| kind_of(&bytes) == Some(FileKind::Urlset) && !is_empty(&bytes))
}

/// Whether these bytes are a whole file without a URL.
fn is_empty(bytes: &[u8]) -> bool {
    (bytes.len() as u64) < FIRST_BYTES && memchr::memmem::find(bytes, b"loc").is_none() && !bytes.contains(&0)
}

/// Whether a file begins like an index. May miss an index in another encoding.
pub(super) fn is_index(path: &Path) -> bool {
    first_bytes(path).and_then(|bytes| kind_of(&bytes)) == Some(FileKind::Index)
}

/// Whether a regular file begins like a sitemap, an index, a list or a table.
pub(super) fn is_any_sitemap(path: &Path) -> bool {
    first_bytes(path).and_then(|bytes| kind_of(&bytes)).is_some()
}

/// The first bytes of a file, unpacked; `None` if it cannot be read or is not a file.
fn first_bytes(path: &Path) -> Option<Vec<u8>> {
    read_first(path).ok()
}

/// The kind of a regular file by its first bytes; `None` for a feed.
///
/// # Errors
/// When it cannot be opened, or its first bytes cannot be read.
pub(super) fn probe(path: &Path) -> Result<Option<FileKind>, Error> {
    Ok(kind_of(&read_first(path)?))
}

/// Whether a file begins like gzip data.
///
/// # Errors
/// When it cannot be opened, or its first bytes cannot be read.
pub(super) fn is_gzip(path: &Path) -> Result<bool, Error> {
    Ok(detect::is_gzip(&stored_first(path)?))
}

/// The first bytes of a regular file, unpacked.
fn read_first(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = stored_first(path)?;
    if detect::is_gzip(&bytes) {
        let mut unpacked = Vec::new();
        // Errors after the first bytes do not matter.
        let _ = GzDecoder::new(&bytes[..]).take(FIRST_BYTES).read_to_end(&mut unpacked);
        bytes = unpacked;
    }
    Ok(bytes)
}

/// The first bytes of a regular file, as stored.
fn stored_first(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = read::open_regular(path)?.file.take(FIRST_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| Error::system("read", path, error))?;
    Ok(bytes)
}

/// The kind of a file by its first bytes; `None` for a feed.
fn kind_of(bytes: &[u8]) -> Option<FileKind> {
    detect::detect(bytes).ok().filter(|_| detect::feed(bytes).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn sitemaps_beside_an_index_are_recognized_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        let urlset = b"<?xml version='1.0'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>";
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(urlset).unwrap();
        write("a.xml", urlset);
        write("b.xml.gz", &packed.finish().unwrap());
        write("listed.xml", urlset);
        write("empty.xml", b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n</urlset>");
        write("index.xml", b"<sitemapindex>");
        write("feed.xml", b"<rss version='2.0'><channel/></rss>");
        write("style.xml", b"<xsl/>");
        write("urls.txt", b"https://example.com/");
        write(".a.xml", urlset);
        std::fs::create_dir(folder.path().join("folder.xml")).unwrap();
        let known = folder.path().join("listed.xml");
        let names = unlisted_sitemaps(folder.path(), &[&*known].into());
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["a.xml", "b.xml.gz"]);
        assert!(unlisted_sitemaps(&folder.path().join("none"), &HashSet::new()).is_empty());
    }
}
