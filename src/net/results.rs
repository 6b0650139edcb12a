//! The file of results, one line of JSON for each URL: appended to, and read to continue where a run ended.

use hashbrown::HashSet;
use serde::Deserialize;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// URLs as hashes: 8 bytes each, and what the table leaves free. Two of a million share one with a probability of
/// 1 in 37 million.
#[derive(Debug, Default)]
pub(crate) struct Seen(HashSet<u64, BuildHasherDefault<Identity>>);

/// The hash of a hash.
#[derive(Debug, Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Seen {
    /// Adds a URL; false if it is there already.
    pub(crate) fn insert(&mut self, url: &str) -> bool {
        self.0.insert(xxh3_64(url.as_bytes()))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// What is read of an earlier line.
#[derive(Deserialize)]
struct Earlier<'l> {
    #[serde(borrow)]
    url: std::borrow::Cow<'l, str>,
    #[serde(borrow)]
    checked: std::borrow::Cow<'l, str>,
}

/// Why results cannot be continued.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultsError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A line that is not of this program.
    #[error("line {0} is not a result of sited probe")]
    Line(u64),
}

/// A file of results that lines are appended to.
#[derive(Debug)]
pub(crate) struct Results {
    file: File,
}

impl Results {
    /// Makes a file, which must be new or empty.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() > 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Self { file })
    }

    /// Opens a file to continue it, or makes one. `seen` gets the URLs of its lines that were checked at `since` or
    /// later (a W3C Datetime in UTC). A last line that was not written to its end is cut off.
    pub(crate) fn resume(path: &Path, since: &str, seen: &mut Seen) -> Result<Self, ResultsError> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut lines = BufReader::with_capacity(1 << 16, &file);
        let (mut line, mut end, mut number) = (Vec::new(), 0, 0);
        loop {
            line.clear();
            let count = lines.read_until(b'\n', &mut line)? as u64;
            if line.last() != Some(&b'\n') {
                break;
            }
            number += 1;
            end += count;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let earlier: Earlier<'_> = serde_json::from_slice(&line).map_err(|_| ResultsError::Line(number))?;
            if *earlier.checked >= *since {
                seen.insert(&earlier.url);
            }
        }
        if !line.is_empty() {
            // Not of this program, or else a line that lost its end.
            if number == 0 && line.first() != Some(&b'{') {
                return Err(ResultsError::Line(1));
            }
            file.set_len(end)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(Self { file })
    }

    /// Appends a line, at once: whoever stops the program loses nothing.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;
    use std::fs;

    #[test]
    fn results_are_continued_after_a_half_written_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.jsonl");
        let record = |url: &str, checked: &str| Record { checked: checked.to_owned(), ..Record::new(url) };
        let lines =
            [record("https://e.com/a\"é", "2026-01-02T00:00:00Z"), record("https://e.com/b", "2026-01-01T00:00:00Z")];
        let mut results = Results::create(&path).unwrap();
        for line in &lines {
            results.append(&line.line()).unwrap();
        }
        let whole = fs::read(&path).unwrap();
        let last = record("https://e.com/c", "2026-01-03T00:00:00Z").line();
        for cut in [0, 1, last.len() / 2, last.len() - 1] {
            fs::write(&path, [&whole, &last.as_bytes()[..cut]].concat()).unwrap();
            let mut seen = Seen::default();
            let mut results = Results::resume(&path, "", &mut seen).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole, "{cut}");
            assert!(
                !seen.insert("https://e.com/a\"é") && !seen.insert("https://e.com/b") && seen.insert("https://e.com/c")
            );
            results.append(&last).unwrap();
            assert_eq!(fs::read(&path).unwrap(), [&whole, last.as_bytes()].concat());
        }
        // Older ones are asked again.
        let mut seen = Seen::default();
        Results::resume(&path, "2026-01-02T00:00:00Z", &mut seen).unwrap();
        assert_eq!(seen.len(), 2);
        assert!(Results::create(&path).is_err());
    }

    #[test]
    fn another_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        for text in
            ["<urlset/>\n", "<urlset/>", "{\"a\":1}\n", "{\"url\":\"https://e.com/\",\"checked\":\"2026\"}\nx\n"]
        {
            fs::write(&path, text).unwrap();
            let error = Results::resume(&path, "", &mut Seen::default()).unwrap_err();
            assert!(matches!(error, ResultsError::Line(_)), "{text}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
