//! Reads the first rows of a large file, or of the first sitemap of an index, to show them while the rest is loading.
//!
//! Only the beginning of the file is read. Damaged files, other compressions and other files have no first rows; the
//! load reports what is wrong with them.

use super::children::folder_of;
use super::decode::{self, Decoded};
use super::detect::{self, Detected};
use super::folder::find_in_folder;
use super::form;
use super::loaded::file_name;
use super::locate::{self, ChildLocation};
use super::read::{self, Options};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::xml::entry::Entry;
use crate::xml::grid::TableHints;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::Visit;
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Minimum stored bytes of a file: smaller ones load at once.
pub(crate) const LARGE: u64 = 4 << 20;

/// Maximum number of bytes that are read.
const MAX_BYTES: u64 = 64 << 10;

/// Number of rows to read: more than any screen shows.
const ROWS: usize = 200;

/// The values of a row, by [`Field::index`].
pub(crate) type FirstRow = [Option<String>; 4];

/// The first rows of a file of at least `least` bytes, or of the first sitemap of an index or a folder; empty if it is
/// smaller or cannot be read.
pub fn first_rows(path: &Path, options: &Options, least: u64) -> Vec<FirstRow> {
    let found = if path.is_dir() { find_in_folder(path) } else { None };
    let path = found.as_deref().unwrap_or(path);
    match beginning(path, options, least) {
        Some(Beginning { kind: FileKind::Index, rows }) => {
            let Some(sitemap) = first_child(path, options, &rows) else { return Vec::new() };
            let rows = beginning(&sitemap, options, least).filter(|first| first.kind != FileKind::Index);
            rows.map_or_else(Vec::new, |first| first.rows)
        }
        Some(Beginning { rows, .. }) => rows,
        None => Vec::new(),
    }
}

/// The first sitemap of an index that is on disk, in the index's folder.
fn first_child(index: &Path, options: &Options, entries: &[FirstRow]) -> Option<PathBuf> {
    let folder = folder_of(index, options)?;
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let set_folder = here.canonicalize().ok()?;
    let base = options.base_url.as_deref().and_then(locate::folder_url);
    let locs = entries.iter().filter_map(|entry| entry[Field::Loc.index()].as_deref());
    let candidates = locs.filter_map(|loc| match locate::locate_child(loc, options.location_base(base.as_deref())) {
        ChildLocation::Inside(paths) => Some(paths),
        ChildLocation::Outside | ChildLocation::Elsewhere => None,
    });
    let mut paths = candidates.flatten().map(|name| folder.join(name));
    paths.find(|path| path.canonicalize().is_ok_and(|path| path.is_file() && path.starts_with(&set_folder)))
}

struct Beginning {
    kind: FileKind,
    rows: Vec<FirstRow>,
}

/// The first entries of a file of at least `least` bytes, or of an index of any size.
fn beginning(path: &Path, options: &Options, least: u64) -> Option<Beginning> {
    let opened = read::open_regular(path).ok()?;
    let is_large = opened.file.metadata().is_ok_and(|metadata| metadata.len() >= least);
    let mut bytes = Vec::new();
    opened.file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let is_whole = (bytes.len() as u64) < MAX_BYTES;
    if detect::is_gzip(&bytes) {
        let packed = std::mem::take(&mut bytes);
        // The input is cut off on purpose: use the bytes before the error.
        let _ = MultiGzDecoder::new(&*packed).take(MAX_BYTES).read_to_end(&mut bytes);
    }
    // Do not end in the middle of a character.
    let end = bytes.iter().rposition(|byte| matches!(byte, b'>' | b'\n')).map_or(0, |at| at + 1);
    bytes.truncate(end);
    let Decoded { bytes, .. } = decode::decode(bytes);
    let name = file_name(path);
    let hints = TableHints { loc_column: options.loc_column.as_deref(), name: detect::name_hint(&name) };
    let Detected { kind, grid } = detect::detect_with(&bytes, hints).ok()?;
    if kind != FileKind::Index && !is_large {
        return None;
    }
    let mut first = First(Vec::new());
    form::scan(&bytes, (kind, grid.as_ref()), &mut first, &Progress::default());
    if !is_whole || kind != FileKind::Index {
        // The last entry may be cut off.
        first.0.pop();
    }
    first.0.truncate(ROWS);
    Some(Beginning { kind, rows: first.0 })
}

struct First(Vec<FirstRow>);

impl Visit for First {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        if self.0.len() <= ROWS {
            self.0.push(Field::ALL.map(|field| entry.value(field, text).map(std::borrow::Cow::into_owned)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fmt::Write as _;
    use std::io::Write as _;

    fn urlset(rows: usize) -> String {
        let mut text =
            "<?xml version=\"1.0\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
        for row in 0..rows {
            writeln!(text, "<url><loc>https://e.com/é/{row}</loc><priority>0.5</priority></url>").unwrap();
        }
        text + "</urlset>\n"
    }

    #[test]
    fn the_first_rows_are_those_of_the_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let packed = |text: &str| {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(text.as_bytes()).unwrap();
            gzip.finish().unwrap()
        };
        let list = (0..9_000).map(|row| format!("https://e.com/é/{row}\n")).collect::<Vec<_>>().concat();
        for (name, bytes) in [
            ("a.xml", urlset(9_000).into_bytes()),
            ("a.xml.gz", packed(&urlset(9_000))),
            ("a.txt", list.into_bytes()),
            // A truncated file, as while another program writes it.
            ("b.xml", urlset(9_000).into_bytes()[..100_000].to_vec()),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let rows = first_rows(&path, &Options::default(), 1);
            assert_eq!(rows.len(), ROWS, "{name}");
            for (at, row) in rows.iter().enumerate() {
                assert_eq!(row[0].as_deref(), Some(&*format!("https://e.com/é/{at}")), "{name}");
            }
            assert_eq!(first_rows(&path, &Options::default(), LARGE), Vec::<FirstRow>::new(), "{name} is small");
        }
    }

    #[test]
    fn an_index_and_a_folder_show_their_first_existing_sitemap() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |name: &str| format!("<sitemap><loc>https://e.com/{name}</loc></sitemap>");
        let index = ["../up.xml", "missing.xml", "a.xml", "b.xml"].map(entry).concat();
        let index =
            format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{index}</sitemapindex>");
        let path = folder.path().join("sitemap_index.xml");
        std::fs::write(&path, index).unwrap();
        std::fs::write(folder.path().join("a.xml"), urlset(9_000)).unwrap();
        for path in [&path, folder.path()] {
            let rows = first_rows(path, &Options::default(), 1_000);
            assert_eq!(rows.len(), ROWS);
            assert_eq!(rows[0][0].as_deref(), Some("https://e.com/é/0"));
            assert!(first_rows(path, &Options::default(), LARGE).is_empty(), "it is small");
        }
    }

    #[test]
    fn other_files_have_no_first_rows() {
        let folder = tempfile::tempdir().unwrap();
        let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap><loc>https://e.com/a.xml</loc></sitemap></sitemapindex>";
        for (name, text) in
            [("empty", ""), ("html", "<html><body></body></html>"), ("index", index), ("junk", "\0\0\0")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            assert!(first_rows(&path, &Options::default(), 0).is_empty(), "{name}");
        }
        assert!(first_rows(folder.path(), &Options::default(), 0).is_empty());
        assert!(first_rows(&folder.path().join("missing"), &Options::default(), 0).is_empty());
    }
}
