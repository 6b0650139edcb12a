//! The file of submitted URLs: a hash per line, appended after each accepted batch.

use crate::files::write_atomic;
use hashbrown::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The first line of the file.
const HEAD: &str = "sited notify 1";
/// Outdated lines that stay in the file.
const MOST_OUTDATED: usize = 10_000;

/// Why what was sent is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SentError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is a file of something else; the line, from 1.
    #[error("line {0} was not written by sited notify")]
    Line(usize),
}

/// A URL as it was sent: a hash of endpoint and URL, and one of what the row said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    url: u64,
    content: u64,
}

impl Mark {
    /// The mark of a URL that is sent to an endpoint; `content` is a hash of its row, `None` without one.
    pub(crate) fn of(endpoint: &Url, url: &str, content: Option<u64>) -> Self {
        Self { url: xxh3_64(format!("{endpoint}\n{url}").as_bytes()), content: content.unwrap_or_default() }
    }
}

/// The last mark of each URL.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    marks: HashMap<u64, u64>,
    lines: usize,
    /// Bytes up to the last line break.
    end: u64,
}

impl Sent {
    /// Reads a file; one that does not exist is empty. A last line that was not written to its end is left out.
    ///
    /// # Errors
    /// A file that cannot be read, or is one of something else.
    pub(crate) fn read(path: &Path) -> Result<Self, SentError> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read?,
        };
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut sent = Self { end: end as u64, ..Self::default() };
        // A file without a whole line may be a first line that was cut off, or something else.
        if end == 0 && !HEAD.as_bytes().starts_with(&bytes) {
            return Err(SentError::Line(1));
        }
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default()).map_err(|_| SentError::Line(1))?;
        for (at, line) in text.lines().enumerate() {
            if at == 0 {
                if line != HEAD {
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

    /// Whether this was sent, and nothing else about the URL since.
    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.marks.get(&mark.url) == Some(&mark.content)
    }

    /// Opens the file to append to it, or makes it; lines that newer ones replace are removed if there are many.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn open(self, path: &Path) -> Result<SentFile, crate::files::Error> {
        let failed = |error| crate::files::Error::system("write", path, error);
        if self.end == 0 || self.lines > 2 * self.marks.len() + MOST_OUTDATED {
            let marks = self.marks.iter().map(|(url, content)| Mark { url: *url, content: *content });
            write_atomic(path, [HEAD, "\n", &lines(marks)].concat().as_bytes())?;
            return Ok(SentFile { file: OpenOptions::new().append(true).open(path).map_err(failed)? });
        }
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > self.end {
            file.set_len(self.end).map_err(failed)?;
        }
        Ok(SentFile { file })
    }
}

/// An open file of what was sent.
#[derive(Debug)]
pub(crate) struct SentFile {
    file: File,
}

impl SentFile {
    /// Appends what was accepted, and syncs it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn append(&mut self, marks: impl Iterator<Item = Mark>) -> io::Result<()> {
        self.file.write_all(lines(marks).as_bytes())?;
        self.file.sync_data()
    }
}

fn lines(marks: impl Iterator<Item = Mark>) -> String {
    let mut text = String::new();
    for mark in marks {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{:016x} {:016x}", mark.url, mark.content);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mark(url: &str, content: u64) -> Mark {
        Mark::of(&Url::parse("https://e.com/x").unwrap(), url, Some(content))
    }

    #[test]
    fn what_was_sent_is_known_until_the_row_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sent");
        let sent = Sent::read(&path).unwrap();
        assert!(!sent.has(mark("a", 1)));
        let mut file = sent.open(&path).unwrap();
        file.append([mark("a", 1), mark("b", 2)].into_iter()).unwrap();
        file.append([mark("a", 3)].into_iter()).unwrap();
        let sent = Sent::read(&path).unwrap();
        assert!(sent.has(mark("a", 3)) && sent.has(mark("b", 2)) && !sent.has(mark("a", 1)));
        assert!(!sent.has(Mark::of(&Url::parse("https://other.org/x").unwrap(), "b", Some(2))));
        // A line that was cut off is written again, in the place of what is there of it.
        let whole = fs::read_to_string(&path).unwrap();
        for cut in [0, 5, HEAD.len(), HEAD.len() + 1, whole.len() - 1, whole.len() - 20] {
            fs::write(&path, &whole[..cut]).unwrap();
            Sent::read(&path).unwrap().open(&path).unwrap().append([mark("a", 3)].into_iter()).unwrap();
            let sent = Sent::read(&path).unwrap();
            assert!(sent.has(mark("a", 3)), "{cut}");
        }
    }

    #[test]
    fn outdated_lines_are_removed_when_there_are_many() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sent");
        let mut file = Sent::default().open(&path).unwrap();
        file.append((0..MOST_OUTDATED as u64 + 10).map(|content| mark("a", content))).unwrap();
        Sent::read(&path).unwrap().open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
        assert!(Sent::read(&path).unwrap().has(mark("a", MOST_OUTDATED as u64 + 9)));
    }

    #[test]
    fn another_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        for text in ["<urlset/>\n", "x", "sited notify 1\nx\n", "sited notify 1\n12 x\n", "sited notify 2\n"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(Sent::read(&path), Err(SentError::Line(_))), "{text}");
        }
    }
}
