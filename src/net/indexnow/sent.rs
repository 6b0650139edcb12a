//! The file of submitted URLs: one line of hashes per URL, appended after each accepted batch.

use crate::files::write_atomic;
use hashbrown::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The first line of the file.
const HEADER: &str = "sited notify 1";
/// Maximum number of outdated lines before the file is rewritten.
const MAX_OUTDATED_LINES: usize = 10_000;

/// Why the file of submitted URLs cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SentError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A line has another format; its number, from 1.
    #[error("line {0} was not written by sited notify")]
    Line(usize),
}

/// A submitted URL: a hash of endpoint and URL, and a hash of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentMark {
    url: u64,
    content: u64,
}

impl SentMark {
    /// The mark of a URL for an endpoint; `content` is a hash of the row, if there is one.
    pub(crate) fn of(endpoint: &Url, url: &str, content: Option<u64>) -> Self {
        Self { url: xxh3_64(format!("{endpoint}\n{url}").as_bytes()), content: content.unwrap_or_default() }
    }
}

/// The latest mark of each URL.
#[derive(Debug, Default)]
pub(crate) struct SentUrls {
    marks: HashMap<u64, u64>,
    lines: usize,
    /// Number of bytes up to the last line break.
    end: u64,
}

impl SentUrls {
    /// Reads a file, or nothing if it does not exist. An incomplete last line is skipped.
    ///
    /// # Errors
    /// The file cannot be read or has another format.
    pub(crate) fn read(path: &Path) -> Result<Self, SentError> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read?,
        };
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut sent = Self { end: end as u64, ..Self::default() };
        // A file without a complete line is either a truncated header or in another format.
        if end == 0 && !HEADER.as_bytes().starts_with(&bytes) {
            return Err(SentError::Line(1));
        }
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default()).map_err(|_| SentError::Line(1))?;
        for (at, line) in text.lines().enumerate() {
            if at == 0 {
                if line != HEADER {
                    return Err(SentError::Line(1));
                }
                continue;
            }
            let number = |text: &str| u64::from_str_radix(text, 16).ok();
            let mark = line.split_once(' ').and_then(|(url, content)| Some((number(url)?, number(content)?)));
            let (url, content) = mark.ok_or(SentError::Line(at + 1))?;
            sent.marks.insert(url, content);
            sent.lines += 1;
        }
        Ok(sent)
    }

    /// Whether the latest submission of the URL was for the same row.
    pub(crate) fn has(&self, mark: SentMark) -> bool {
        self.marks.get(&mark.url) == Some(&mark.content)
    }

    /// Opens the file for appending, or creates it. Many outdated lines are removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn open(self, path: &Path) -> Result<SentFile, crate::files::Error> {
        let failed = |error| crate::files::Error::system("write", path, error);
        if self.end == 0 || self.lines > 2 * self.marks.len() + MAX_OUTDATED_LINES {
            let marks = self.marks.iter().map(|(url, content)| SentMark { url: *url, content: *content });
            write_atomic(path, [HEADER, "\n", &lines(marks)].concat().as_bytes())?;
            return Ok(SentFile { file: OpenOptions::new().append(true).open(path).map_err(failed)? });
        }
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > self.end {
            file.set_len(self.end).map_err(failed)?;
        }
        Ok(SentFile { file })
    }
}

/// The open file of submitted URLs.
#[derive(Debug)]
pub(crate) struct SentFile {
    file: File,
}

impl SentFile {
    /// Appends the marks of accepted URLs and syncs the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn append(&mut self, marks: impl Iterator<Item = SentMark>) -> io::Result<()> {
        self.file.write_all(lines(marks).as_bytes())?;
        self.file.sync_data()
    }
}

fn lines(marks: impl Iterator<Item = SentMark>) -> String {
    let mut text = String::new();
    for mark in marks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:016x} {:016x}", mark.url, mark.content);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mark(url: &str, content: u64) -> SentMark {
        SentMark::of(&Url::parse("https://e.com/x").unwrap(), url, Some(content))
    }

    #[test]
    fn sent_urls_are_remembered_until_their_row_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sent");
        let sent = SentUrls::read(&path).unwrap();
        assert!(!sent.has(mark("a", 1)));
        let mut file = sent.open(&path).unwrap();
        file.append([mark("a", 1), mark("b", 2)].into_iter()).unwrap();
        file.append([mark("a", 3)].into_iter()).unwrap();
        let sent = SentUrls::read(&path).unwrap();
        assert!(sent.has(mark("a", 3)) && sent.has(mark("b", 2)) && !sent.has(mark("a", 1)));
        assert!(!sent.has(SentMark::of(&Url::parse("https://other.org/x").unwrap(), "b", Some(2))));
        // A truncated line is overwritten by a complete one.
        let whole = fs::read_to_string(&path).unwrap();
        for cut in [0, 5, HEADER.len(), HEADER.len() + 1, whole.len() - 1, whole.len() - 20] {
            fs::write(&path, &whole[..cut]).unwrap();
            SentUrls::read(&path).unwrap().open(&path).unwrap().append([mark("a", 3)].into_iter()).unwrap();
            let sent = SentUrls::read(&path).unwrap();
            assert!(sent.has(mark("a", 3)), "{cut}");
        }
    }

    #[test]
    fn outdated_lines_are_removed_when_there_are_many() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sent");
        let mut file = SentUrls::default().open(&path).unwrap();
        file.append((0..MAX_OUTDATED_LINES as u64 + 10).map(|content| mark("a", content))).unwrap();
        SentUrls::read(&path).unwrap().open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
        assert!(SentUrls::read(&path).unwrap().has(mark("a", MAX_OUTDATED_LINES as u64 + 9)));
    }

    #[test]
    fn another_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        for text in ["<urlset/>\n", "x", "sited notify 1\nx\n", "sited notify 1\n12 x\n", "sited notify 2\n"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(SentUrls::read(&path), Err(SentError::Line(_))), "{text}");
        }
    }
}
