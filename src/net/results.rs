//! The results file of a probe, with one line of JSON per URL. It is read to resume a run.

use super::hosts::requestable;
use serde::Deserialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// Number of bits of a hash that select its shard.
const SHARD_BITS: u32 = 12;

/// A set of URLs, stored as sorted hashes in shards. It takes 8 bytes per URL and up to a quarter more for growth; a
/// hash table would take up to 21 bytes per URL after it has grown, and twice as much while it grows. The probability
/// that any two of a million URLs have the same hash is 1 in 37 million.
#[derive(Debug, Default)]
pub(crate) struct SeenUrls {
    shards: Vec<Vec<u64>>,
    len: usize,
}

impl SeenUrls {
    /// Adds a URL; false if the set already contains it.
    pub(crate) fn insert(&mut self, url: &str) -> bool {
        let hash = xxh3_64(url.as_bytes());
        if self.shards.is_empty() {
            self.shards.resize_with(1 << SHARD_BITS, Vec::new);
        }
        let Some(shard) = self.shards.get_mut((hash >> (u64::BITS - SHARD_BITS)) as usize) else { return false };
        let Err(at) = shard.binary_search(&hash) else { return false };
        if shard.len() == shard.capacity() {
            shard.reserve_exact((shard.len() / 4).max(4));
        }
        shard.insert(at, hash);
        self.len += 1;
        true
    }

    /// The number of URLs.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }
}

/// The fields of an earlier line that are read.
#[derive(Deserialize)]
struct EarlierRecord<'l> {
    #[serde(borrow)]
    url: std::borrow::Cow<'l, str>,
    #[serde(borrow)]
    checked: std::borrow::Cow<'l, str>,
    #[serde(default)]
    status: Option<u16>,
    /// The line of robots.txt that forbids the request.
    #[serde(default)]
    blocked: Option<u32>,
}

/// A status that is caused by the rate of requests and not by the page (RFC 6585, section 4).
const TOO_MANY_REQUESTS: u16 = 429;

impl EarlierRecord<'_> {
    /// Whether another request would have the same result. After a failure or throttling, it may succeed.
    fn is_final(&self) -> bool {
        self.status.is_some_and(|status| status != TOO_MANY_REQUESTS)
            || self.blocked.is_some()
            || requestable(&self.url).is_none()
    }
}

/// Why a results file cannot be continued.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultsError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A line was not written by this program; its number, from 1.
    #[error("line {0} is not a result of sited probe")]
    Line(u64),
}

/// A results file that is open for appending.
#[derive(Debug)]
pub(crate) struct Results {
    file: BufWriter<File>,
}

impl Results {
    /// Creates a file; an error if it exists and is not empty.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() > 0 {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Self { file: BufWriter::new(file) })
    }

    /// Opens a file to continue it, or creates one. URLs with a final result that were checked at `since` (a W3C
    /// Datetime in UTC) or later are added to `seen`. An incomplete last line is removed.
    pub(crate) fn resume(path: &Path, since: &str, seen: &mut SeenUrls) -> Result<Self, ResultsError> {
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
            let earlier: EarlierRecord<'_> = serde_json::from_slice(&line).map_err(|_| ResultsError::Line(number))?;
            if *earlier.checked >= *since && earlier.is_final() {
                seen.insert(&earlier.url);
            }
        }
        if !line.is_empty() {
            // A single incomplete line that does not start like JSON was not written by this program.
            if number == 0 && line.first() != Some(&b'{') {
                return Err(ResultsError::Line(1));
            }
            file.set_len(end)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(Self { file: BufWriter::new(file) })
    }

    /// Appends a line to the buffer, which [`Self::flush`] writes.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        self.file.write_all(line.as_bytes())
    }

    /// Writes the buffered lines to the file.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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
        let record =
            |url: &str, checked: &str| Record { checked: checked.to_owned(), status: Some(200), ..Record::new(url) };
        let lines =
            [record("https://e.com/a\"é", "2026-01-02T00:00:00Z"), record("https://e.com/b", "2026-01-01T00:00:00Z")];
        let mut results = Results::create(&path).unwrap();
        for line in &lines {
            results.append(&line.line()).unwrap();
        }
        results.flush().unwrap();
        let whole = fs::read(&path).unwrap();
        let last = record("https://e.com/c", "2026-01-03T00:00:00Z").line();
        for cut in [0, 1, last.len() / 2, last.len() - 1] {
            fs::write(&path, [&whole, &last.as_bytes()[..cut]].concat()).unwrap();
            let mut seen = SeenUrls::default();
            let mut results = Results::resume(&path, "", &mut seen).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole, "{cut}");
            assert!(
                !seen.insert("https://e.com/a\"é") && !seen.insert("https://e.com/b") && seen.insert("https://e.com/c")
            );
            results.append(&last).and_then(|()| results.flush()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), [&whole, last.as_bytes()].concat());
        }
        // Older URLs are requested again.
        let mut seen = SeenUrls::default();
        Results::resume(&path, "2026-01-02T00:00:00Z", &mut seen).unwrap();
        assert_eq!(seen.len(), 2);
        assert!(Results::create(&path).is_err());
    }

    #[test]
    fn urls_without_a_final_response_are_requested_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.jsonl");
        let error = Some("connection reset by the server".to_owned());
        let failed = |url: &str| Record { error: error.clone(), ..Record::new(url) };
        let lines = [
            failed("https://e.com/reset").line(),
            Record { blocked: Some(2), ..failed("https://e.com/blocked") }.line(),
            failed("no URL").line(),
            Record { status: Some(503), ..Record::new("https://e.com/busy") }.line(),
            Record { status: Some(429), ..Record::new("https://e.com/throttled") }.line(),
        ];
        fs::write(&path, lines.concat()).unwrap();
        let mut seen = SeenUrls::default();
        Results::resume(&path, "", &mut seen).unwrap();
        assert_eq!(seen.len(), 3);
        assert!(seen.insert("https://e.com/reset"));
        assert!(seen.insert("https://e.com/throttled"));
    }

    #[test]
    fn a_seen_url_takes_less_than_16_bytes() {
        let mut seen = SeenUrls::default();
        let mut count = 0;
        for number in 0..500_000 {
            assert!(seen.insert(&format!("https://e.com/{number}")));
            count += 1;
            if number % 50_000 == 49_999 {
                let held: usize = seen.shards.iter().map(|shard| shard.capacity() * size_of::<u64>()).sum();
                let own = seen.shards.capacity() * size_of::<Vec<u64>>();
                assert!(held <= 12 * count && own <= 1 << 17, "{held} bytes for {count} URLs, {own} in all");
            }
        }
        assert!((0..500_000).step_by(997).all(|number| !seen.insert(&format!("https://e.com/{number}"))));
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn another_file_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        for text in
            ["<urlset/>\n", "<urlset/>", "{\"a\":1}\n", "{\"url\":\"https://e.com/\",\"checked\":\"2026\"}\nx\n"]
        {
            fs::write(&path, text).unwrap();
            let error = Results::resume(&path, "", &mut SeenUrls::default()).unwrap_err();
            assert!(matches!(error, ResultsError::Line(_)), "{text}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
