//! `sited stats`: counts and histograms of a set; merges reports of several sets.
//!
//! Memory: the largest files that are read at once, 8 bytes per URL, and one counter per section, month and host.

use super::args::Common;
use super::damage::Damage;
use super::json_text::json_document;
use super::unsafe_characters::plain;
use super::url_options::UrlOptions;
use super::{Failure, Status, Streams};
use crate::files::{self, LoadedFile, is_stream};
use crate::protocol::changefreq;
use crate::protocol::lastmod;
use crate::protocol::location::{depth, host, section};
use crate::protocol::{Field, priority};
use crate::words::grouped;
use crate::xml::entry::Entry;
use crate::xml::names::Names;
use crate::xml::scan::Visit;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

/// `sited stats`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  sited stats public/\n  sited stats part.xml --format json --keys > part.json\n  sited stats --merge part*.json"
)]
pub struct Stats {
    /// Sitemaps, sitemap indexes, or folders that hold one; with --merge, JSON reports of stats
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// How to print the numbers
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Combine JSON reports of parts (--format json) instead of reading sitemaps
    #[arg(long)]
    pub merge: bool,
    /// Add a hash of every URL to the JSON, so that --merge can count duplicates across parts
    #[arg(long, conflicts_with = "merge")]
    pub keys: bool,
    /// Maximum number of lines per histogram
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub top: usize,
    /// How a URL in place of a path is downloaded
    #[command(flatten)]
    pub url: UrlOptions,
    /// Options of all commands
    #[command(flatten)]
    pub common: Common,
}

/// How `stats` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Numbers and bars
    Text,
    /// One JSON document
    Json,
}

/// Number of occurrences of each value.
type Histogram = BTreeMap<String, u64>;

/// The statistics. All numbers can be added over parts except `distinct`, which needs the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Report {
    version: u64,
    /// Number of sitemaps, without indexes.
    files: u64,
    /// Number of `<sitemap>` elements; missing in reports of older versions.
    #[serde(default)]
    index_entries: u64,
    /// Uncompressed size.
    bytes: u64,
    urls: u64,
    /// Number of different URL texts; null if parts were merged without keys.
    distinct: Option<u64>,
    with_lastmod: u64,
    with_changefreq: u64,
    with_priority: u64,
    with_image: u64,
    with_video: u64,
    with_news: u64,
    with_alternate: u64,
    with_other: u64,
    images: u64,
    videos: u64,
    /// The earliest and the latest lastmod, in seconds since 1970.
    first: Option<i64>,
    last: Option<i64>,
    priority: Histogram,
    changefreq: Histogram,
    /// `2026-11`
    month: Histogram,
    section: Histogram,
    depth: Histogram,
    host: Histogram,
    /// Hashes of the URLs, each 16 hexadecimal digits, ascending; only with `--keys`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keys: Option<String>,
}

/// Counts the rows of one file.
#[derive(Default)]
struct Counter {
    report: Report,
    /// Hashes of URLs.
    keys: Vec<u64>,
}

/// Counts one more; allocates only for a new key.
fn count(histogram: &mut Histogram, key: &str) {
    match histogram.get_mut(key) {
        Some(number) => *number += 1,
        None => {
            histogram.insert(key.to_owned(), 1);
        }
    }
}

impl Visit for Counter {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        let report = &mut self.report;
        let value = |field| entry.value(field, text).filter(|value| !value.trim().is_empty());
        report.urls += 1;
        if let Some(loc) = value(Field::Loc) {
            let loc = loc.trim();
            self.keys.push(xxh3_64(loc.as_bytes()));
            count(&mut report.section, section(loc));
            // Hosts are case-insensitive (RFC 3986, section 3.2.2).
            let host = host(loc);
            let is_small = !host.bytes().any(|byte| byte.is_ascii_uppercase());
            let host = if is_small { Cow::Borrowed(host) } else { Cow::Owned(host.to_ascii_lowercase()) };
            count(&mut report.host, &host);
            count(&mut report.depth, &depth(loc).to_string());
        }
        if let Some(text) = value(Field::Lastmod) {
            report.with_lastmod += 1;
            match lastmod::validate(text.trim()).instant {
                Some(instant) => {
                    report.first = Some(report.first.map_or(instant.seconds, |first| first.min(instant.seconds)));
                    report.last = report.last.max(Some(instant.seconds));
                    count(&mut report.month, &month(instant.seconds));
                }
                None => count(&mut report.month, "unreadable"),
            }
        }
        if let Some(text) = value(Field::Changefreq) {
            report.with_changefreq += 1;
            let read = changefreq::Changefreq::parse(text.trim());
            count(&mut report.changefreq, read.map_or("other", |known| known.name()));
        }
        if let Some(text) = value(Field::Priority) {
            report.with_priority += 1;
            match priority::validate(text.trim()).hundredths {
                Some(hundredths) => {
                    let (tens, ones) = (hundredths / 100, hundredths % 100 / 10);
                    count(&mut report.priority, &format!("{tens}.{ones}"));
                }
                None => count(&mut report.priority, "other"),
            }
        }
        let found = entry.extensions;
        for (number, sum) in [
            (found.image, &mut report.with_image),
            (found.video, &mut report.with_video),
            (found.news, &mut report.with_news),
            (found.alternate, &mut report.with_alternate),
            (found.other, &mut report.with_other),
        ] {
            *sum += u64::from(number > 0);
        }
        report.images += u64::from(found.image);
        report.videos += u64::from(found.video);
    }
}

/// `2026-11`, in UTC.
fn month(seconds: i64) -> String {
    chrono::DateTime::from_timestamp(seconds, 0)
        .map_or_else(|| "unreadable".to_owned(), |at| at.format("%Y-%m").to_string())
}

impl Report {
    fn add(&mut self, other: Self) {
        let Self { files, index_entries, bytes, urls, images, videos, first, last, .. } = other;
        self.version = VERSION;
        self.files += files;
        self.index_entries += index_entries;
        self.bytes += bytes;
        self.urls += urls;
        self.images += images;
        self.videos += videos;
        self.first = [self.first, first].into_iter().flatten().min();
        self.last = self.last.max(last);
        for (sum, number) in [
            (&mut self.with_lastmod, other.with_lastmod),
            (&mut self.with_changefreq, other.with_changefreq),
            (&mut self.with_priority, other.with_priority),
            (&mut self.with_image, other.with_image),
            (&mut self.with_video, other.with_video),
            (&mut self.with_news, other.with_news),
            (&mut self.with_alternate, other.with_alternate),
            (&mut self.with_other, other.with_other),
        ] {
            *sum += number;
        }
        for (sum, histogram) in [
            (&mut self.priority, other.priority),
            (&mut self.changefreq, other.changefreq),
            (&mut self.month, other.month),
            (&mut self.section, other.section),
            (&mut self.depth, other.depth),
            (&mut self.host, other.host),
        ] {
            for (key, number) in histogram {
                *sum.entry(key).or_default() += number;
            }
        }
    }
}

/// The version of the JSON document.
const VERSION: u64 = 1;
/// The hint for a report that is missing or not valid.
const REPORT: &str = "write one: sited stats PART.xml --format json > PART.json";

pub(super) fn run(stats: &Stats, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut report = Report { version: VERSION, ..Report::default() };
    let mut keys = Vec::new();
    let mut has_keys = true;
    if stats.merge {
        for path in &stats.paths {
            let text = if is_stream(path) {
                let mut text = String::new();
                io::stdin().lock().read_to_string(&mut text)?;
                text
            } else {
                super::read_text_file(path, REPORT)?
            };
            let mut part = parse_report(path, &text)?;
            match part.keys.take() {
                Some(digits) => keys.extend(read_keys(path, &digits)?),
                None => has_keys &= part.urls == 0,
            }
            report.add(part);
        }
    } else {
        let options = stats.common.options(streams)?;
        for path in &stats.paths {
            let (sums, known) = (&mut report, &mut keys);
            let mut damage = Damage::default();
            let loaded = streams.watched(|progress| {
                files::load(path, &options, progress, &|_| Counter::default(), &mut |part| {
                    if let LoadedFile::Index { index, .. } = &part {
                        sums.index_entries += index.files().map(|file| file.entries.len() as u64).sum::<u64>();
                    }
                    if let LoadedFile::Sitemap { visitor, source, sitemap, .. } = part {
                        damage.add(&sitemap.name, &sitemap.quirks);
                        let Counter { report: mut counted, keys: mut own } = visitor;
                        counted.files = 1;
                        counted.bytes = source.bytes().len() as u64;
                        known.append(&mut own);
                        sums.add(counted);
                    }
                })
            })?;
            stats.common.note_loaded(&loaded, streams);
            damage.warn(streams);
        }
    }
    keys.sort_unstable();
    if stats.keys {
        let mut digits = String::with_capacity(keys.len() * 16);
        for key in &keys {
            // Writing to a text cannot fail.
            let _ = write!(digits, "{key:016x}");
        }
        report.keys = Some(digits);
    }
    if has_keys {
        keys.dedup();
        report.distinct = Some(keys.len() as u64);
    }
    match stats.format {
        Format::Json => json_document(streams.out, &report)?,
        Format::Text => print(&report, stats.top, streams)?,
    }
    Ok(Status::Fine)
}

fn parse_report(path: &std::path::Path, text: &str) -> Result<Report, Failure> {
    let wrong = |why: String| {
        let hint = REPORT.to_owned();
        Failure::Usage(format!("{}: {why}", path.display()), hint)
    };
    let part: Report = serde_json::from_str(text).map_err(|error| wrong(format!("this is not a report: {error}")))?;
    if part.version == VERSION {
        Ok(part)
    } else {
        Err(wrong(format!("the report has version {}; this sited reads version {VERSION}", part.version)))
    }
}

fn read_keys(path: &std::path::Path, digits: &str) -> Result<Vec<u64>, Failure> {
    let keys = digits.as_bytes().chunks(16).map(|digits| {
        let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 16)?;
        u64::from_str_radix(digits, 16).ok()
    });
    keys.collect::<Option<_>>().ok_or_else(|| {
        Failure::Usage(format!("{}: the keys are damaged", path.display()), "write the report again".to_owned())
    })
}

fn print(report: &Report, top: usize, streams: &mut Streams<'_>) -> io::Result<()> {
    let out = &mut *streams.out;
    let percent = |number: u64| 100.0 * number as f64 / report.urls.max(1) as f64;
    let mut line = |name: &str, value: String| writeln!(out, "{name:<13} {value:>12}");
    line("files", grouped(report.files))?;
    line("bytes", grouped(report.bytes))?;
    line("URLs", grouped(report.urls))?;
    if report.index_entries > 0 {
        line("index entries", grouped(report.index_entries))?;
    }
    line("distinct", report.distinct.map_or_else(|| "unknown".to_owned(), grouped))?;
    for (name, number) in [
        ("lastmod", report.with_lastmod),
        ("changefreq", report.with_changefreq),
        ("priority", report.with_priority),
        ("image", report.with_image),
        ("video", report.with_video),
        ("news", report.with_news),
        ("alternate", report.with_alternate),
        ("other", report.with_other),
    ] {
        if number > 0 {
            writeln!(out, "{name:<13} {:>12}  {:5.1} %", grouped(number), percent(number))?;
        }
    }
    for (name, histogram, by_key) in [
        ("priority", &report.priority, true),
        ("changefreq", &report.changefreq, false),
        ("month", &report.month, true),
        ("section", &report.section, false),
        ("depth", &report.depth, true),
        ("host", &report.host, false),
    ] {
        if !histogram.is_empty() {
            bars(out, (name, histogram, by_key), top)?;
        }
    }
    Ok(())
}

/// Prints a histogram as bars. Numbers and months are sorted by key, and the last `top` are shown; names are sorted by
/// count, and the first `top` are shown.
fn bars(out: &mut dyn io::Write, (name, values, by_key): (&str, &Histogram, bool), top: usize) -> io::Result<()> {
    const WIDTH: u64 = 40;
    let mut lines: Vec<(&str, u64)> = values.iter().map(|(key, number)| (key.as_str(), *number)).collect();
    if by_key {
        lines.sort_by_key(|(key, _)| (key.parse::<u64>().unwrap_or_default(), *key));
    } else {
        lines.sort_by_key(|(key, number)| (std::cmp::Reverse(*number), *key));
    }
    let hidden = lines.len().saturating_sub(top);
    let shown = if by_key { lines.split_off(hidden) } else { lines.into_iter().take(top).collect() };
    let most = shown.iter().map(|(_, number)| *number).max().unwrap_or(1).max(1);
    writeln!(out, "\n{name}")?;
    if hidden > 0 && by_key {
        writeln!(out, "  … {hidden} more")?;
    }
    for (key, number) in shown {
        let eighths = (number * WIDTH * 8).div_ceil(most);
        let mut bar = "█".repeat((eighths / 8) as usize);
        bar.extend(
            ['▏', '▎', '▍', '▌', '▋', '▊', '▉']
                .get((eighths % 8) as usize - usize::from(eighths % 8 > 0))
                .filter(|_| eighths % 8 > 0),
        );
        let key = if key.is_empty() { "(none)".to_owned() } else { plain(key) };
        writeln!(out, "  {key:<24} {:>12}  {bar}", grouped(number))?;
    }
    if hidden > 0 && !by_key {
        writeln!(out, "  … {hidden} more")?;
    }
    Ok(())
}
