//! Reads what one file contains and lists, for downloads that follow an index.

use super::error::Error;
use super::load::load;
use super::loaded::LoadedFile;
use super::read::Options;
use super::unlisted;
use crate::progress::Progress;
use crate::xml::defect::Defect;
use crate::xml::names::FileKind;
use crate::xml::scan::Ignore;
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The kind of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContents {
    /// Rows: a sitemap, a list, a table or a feed.
    Rows,
    /// An index, with the `loc` of each entry.
    Index(Vec<Arc<str>>),
    /// Truncated or damaged gzip data, of which only a part can be read.
    DamagedGzip,
}

/// Detects the content of a file; reads at most `max_bytes` (uncompressed). The file may still have a temporary name.
///
/// # Errors
/// The file cannot be read, is larger, or is not a sitemap of any form.
pub fn contents_of(path: &Path, max_bytes: u64) -> Result<FileContents, Error> {
    // An uncompressed sitemap is recognized by its first bytes, without reading its entries.
    let is_packed = unlisted::is_gzip(path)?;
    if !is_packed && unlisted::probe(path)? == Some(FileKind::Urlset) {
        return Ok(FileContents::Rows);
    }
    let options = Options { is_copy: true, ..Options::default() }.at_most(max_bytes);
    let (mut is_damaged, mut children) = (false, None);
    let loaded = load(path, &options, &Progress::default(), &|_| Ignore, &mut |file| {
        let quirks = match file {
            LoadedFile::Index { index, .. } => {
                children = Some(index.children.iter().map(|child| Arc::clone(&child.loc)).collect());
                index.quirks
            }
            LoadedFile::Sitemap { sitemap, .. } => sitemap.quirks,
        };
        let is_gzip_damage = |kind| matches!(kind, Defect::GzipTruncated | Defect::GzipCorrupt);
        is_damaged |= quirks.iter().any(|quirk| is_gzip_damage(quirk.kind));
    });
    // The part that could be unpacked may look like anything.
    if loaded.is_err() && is_packed && is_truncated(path, max_bytes) {
        return Ok(FileContents::DamagedGzip);
    }
    loaded?;
    Ok(match children {
        _ if is_damaged => FileContents::DamagedGzip,
        Some(children) => FileContents::Index(children),
        None => FileContents::Rows,
    })
}

/// Whether gzip data are truncated within the first `limit` unpacked bytes.
fn is_truncated(path: &Path, limit: u64) -> bool {
    let unpack = |file| io::copy(&mut GzDecoder::new(file).take(limit), &mut io::sink());
    let unpacked = File::open(path).and_then(unpack);
    unpacked.is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
}
