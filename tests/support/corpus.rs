//! The project's corpus (`tests/corpus`), with files that are generated instead of stored.
//!
//! The table in the README of the corpus lists its files, with their purpose and their number of entries.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One file of the corpus.
pub(crate) struct Case {
    /// The path in the corpus, for example `valid/plain.xml`.
    pub name: String,
    /// The number of entries that the program must find; `None` if it must refuse the file.
    pub entries: Option<usize>,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

impl Case {
    /// The name without its folder.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Whether the bytes begin like a gzip stream.
    pub(crate) fn is_gzip(&self) -> bool {
        self.bytes.starts_with(&[0x1f, 0x8b])
    }
}

/// The folder of the stored files.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Every file of the corpus, in the order of the table. Fails when table and folder do not list the same files.
pub(crate) fn all() -> Vec<Case> {
    let table = fs::read_to_string(folder().join("README.md")).expect("read the corpus's table");
    let cases: Vec<_> = table.lines().filter_map(row).collect();
    let mut stored: Vec<_> = ["valid", "quirky", "damaged", "forms"].into_iter().flat_map(stored).collect();
    stored.extend(MADE.iter().map(|(name, _)| (*name).to_owned()));
    stored.sort();
    let mut listed: Vec<_> = cases.iter().map(|case| case.name.clone()).collect();
    listed.sort();
    assert_eq!(listed, stored, "the corpus's table and its folders list different files");
    cases
}

/// The XML files that open without repairs.
pub(crate) fn readable() -> Vec<Case> {
    let is_other = |case: &Case| ["forms/", "damaged/"].iter().any(|group| case.name.starts_with(group));
    all().into_iter().filter(|case| case.entries.is_some() && !is_other(case)).collect()
}

/// The files that open with repairs.
pub(crate) fn repaired() -> Vec<Case> {
    all().into_iter().filter(|case| case.entries.is_some() && case.name.starts_with("damaged/")).collect()
}

/// Feeds, lists and tables.
pub(crate) fn forms() -> Vec<Case> {
    all().into_iter().filter(|case| case.name.starts_with("forms/")).collect()
}

/// The files that are refused.
pub(crate) fn refused() -> Vec<Case> {
    all().into_iter().filter(|case| case.entries.is_none()).collect()
}

/// One file by name.
pub(crate) fn case(name: &str) -> Case {
    all().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("{name} is not in the corpus"))
}

/// Bytes as one gzip member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("compress in memory");
    encoder.finish().expect("compress in memory")
}

type Make = fn(&[u8]) -> Vec<u8>;

/// The files that are generated here, each from the bytes of `valid/plain.xml`.
const MADE: [(&str, Make); 7] = [
    ("valid/gzip.xml.gz", gzip),
    ("quirky/gzip-members.xml.gz", |plain| plain.chunks(plain.len() / 3 + 1).flat_map(gzip).collect()),
    ("quirky/gzip-misnamed.xml", gzip),
    ("quirky/plain-misnamed.xml.gz", <[u8]>::to_vec),
    ("damaged/gzip-truncated.xml.gz", |plain| {
        let mut bytes = gzip(plain);
        bytes.truncate(bytes.len() / 2);
        bytes
    }),
    ("damaged/utf-16-le.xml", |plain| utf_16(plain, u16::to_le_bytes)),
    ("damaged/utf-16-be.xml", |plain| utf_16(plain, u16::to_be_bytes)),
];

fn utf_16(plain: &[u8], pair: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let text = std::str::from_utf8(plain).expect("plain.xml is UTF-8").replace("UTF-8", "UTF-16");
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(pair).collect()
}

/// A line of the table: `| `name` | entries | shows |`.
fn row(line: &str) -> Option<Case> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    let name = cells.next()?.strip_suffix('`')?.to_owned();
    let entries = match cells.next()?.trim() {
        "–" => None,
        number => Some(number.parse().unwrap_or_else(|_| panic!("{name}: {number} is not a number of entries"))),
    };
    let plain = || fs::read(folder().join("valid/plain.xml")).expect("read plain.xml");
    let bytes = match MADE.iter().find(|(made, _)| *made == name) {
        Some((_, make)) => make(&plain()),
        None => fs::read(folder().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}")),
    };
    Some(Case { name, entries, bytes })
}

fn stored(group: &str) -> Vec<String> {
    let entries = fs::read_dir(folder().join(group)).expect("list the corpus");
    entries.map(|entry| format!("{group}/{}", entry.expect("list the corpus").file_name().to_string_lossy())).collect()
}

/// The files of the folder `SITED_CORPUS` by relative path: real sitemaps, which are not part of the project. Without
/// the variable, prints a notice and returns none.
pub(crate) fn outside() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("SITED_CORPUS").map(PathBuf::from) else {
        eprintln!("SITED_CORPUS is not set: only the project's own corpus is tested");
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.expect("list the corpus").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&folder).expect("inside the folder").to_string_lossy().into_owned();
                found.push((name, fs::read(&path).expect("read a file of the corpus")));
            }
        }
    }
    assert!(!found.is_empty(), "the folder that SITED_CORPUS names is empty");
    found.sort();
    found
}

/// The unpacked bytes of all gzip members, up to the first error; other files are returned unchanged.
pub(crate) fn unpacked(bytes: &[u8]) -> Vec<u8> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes.to_vec();
    }
    let mut out = Vec::new();
    // Bytes before an error are kept.
    let _ = std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes), &mut out);
    out
}
