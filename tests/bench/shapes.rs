//! Measures typical sitemaps of shops, blogs and multilingual sites, each compared with the same yardsticks:
//! `cargo bench -- --shape plain|minified|noisy|hreflang|images|intl|all`.

use super::generate::{HOST, Set, mix, write_set};
use super::peers::{self, Run};
use super::report::{Report, time};
use super::{open, shape_tasks, yardstick};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// The form of the entries of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The four fields, indented, without findings.
    Plain,
    /// A URL and a date, on one line for all entries.
    Minified,
    /// Findings in every field of most entries.
    Noisy,
    /// The versions of each page in eight languages.
    Hreflang,
    /// One to four images with titles.
    Images,
    /// URLs that are mostly percent-encoded.
    Intl,
}

impl Shape {
    /// All shapes.
    pub(crate) const ALL: [Self; 6] =
        [Self::Plain, Self::Minified, Self::Noisy, Self::Hreflang, Self::Images, Self::Intl];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Minified => "minified",
            Self::Noisy => "noisy",
            Self::Hreflang => "hreflang",
            Self::Images => "images",
            Self::Intl => "intl",
        }
    }

    /// The shape of this name, or all shapes for `all`.
    pub(crate) fn named(name: &str) -> Vec<Self> {
        let named: Vec<Self> = Self::ALL.into_iter().filter(|shape| name == "all" || name == shape.name()).collect();
        assert!(!named.is_empty(), "no shape is called {name}");
        named
    }

    /// Writes one entry and the whitespace after it.
    pub(crate) fn entry(self, text: &mut String, number: u32) -> std::fmt::Result {
        let bits = mix(number);
        let pick = |shift: u32, below: u64| (bits >> shift) % below;
        let (year, month, day) = (2016 + pick(0, 10), pick(8, 12) + 1, pick(16, 28) + 1);
        let date = format!("{year}-{month:02}-{day:02}");
        match self {
            Self::Plain => {
                let (section, priority) = (pick(24, 9), pick(32, 9) + 1);
                writeln!(text, "  <url>\n    <loc>{HOST}/section-{section}/a-page-of-some-length-{number}</loc>")?;
                writeln!(text, "    <lastmod>{date}</lastmod>\n    <changefreq>monthly</changefreq>")?;
                writeln!(text, "    <priority>0.{priority}</priority>\n  </url>")
            }
            Self::Minified => {
                write!(text, "<url><loc>{HOST}/n/{number}</loc><lastmod>{date}T08:15:30+02:00</lastmod></url>")
            }
            Self::Noisy => {
                let host = ["https://www.example.com", "https://WWW.example.com", "http://www.example.com"];
                let host = host[pick(20, 3) as usize];
                let dates = ["2023-02-31", "2023/07/08", "July 8, 2023", "2032-01-01", "", "2023-7-8", &date];
                let (wrong, often) = (dates[pick(24, 7) as usize], ["Weekly", "often", "daily"][pick(32, 3) as usize]);
                let (high, tracked) = (["0,7", "2", "high", "0.70"][pick(40, 4) as usize], pick(48, 3) == 0);
                let query = if tracked { "?utm_medium=mail&amp;b=1" } else { "" };
                // One URL in ten is that of another entry.
                let page = if pick(52, 10) == 0 { number - number % 8 } else { number };
                writeln!(text, "  <url>\n    <loc>{host}/page/{page}{query}</loc>")?;
                writeln!(text, "    <lastmod>{wrong}</lastmod>\n    <changefreq>{often}</changefreq>")?;
                writeln!(text, "    <priority>{high}</priority>\n  </url>")
            }
            Self::Hreflang => {
                const CODES: [&str; 8] = ["x-default", "en", "de", "fr", "pt-BR", "es", "it", "nl"];
                let (page, own) = (number / 7, 1 + number as usize % 7);
                writeln!(
                    text,
                    "  <url>\n    <loc>{HOST}/{}/page-{page}</loc>\n    <lastmod>{date}</lastmod>",
                    CODES[own]
                )?;
                for code in CODES {
                    let folder = if code == "x-default" { "en" } else { code };
                    let href = format!("{HOST}/{folder}/page-{page}");
                    writeln!(text, "    <xhtml:link rel=\"alternate\" hreflang=\"{code}\" href=\"{href}\"/>")?;
                }
                writeln!(text, "  </url>")
            }
            Self::Images => {
                writeln!(text, "  <url>\n    <loc>{HOST}/product/{number}/</loc>\n    <lastmod>{date}</lastmod>")?;
                for image in 0..=pick(24, 4) {
                    writeln!(
                        text,
                        "    <image:image>\n      <image:loc>{HOST}/files/{number}/{image}.jpg</image:loc>"
                    )?;
                    writeln!(
                        text,
                        "      <image:title><![CDATA[Picture {image} & more]]></image:title>\n    </image:image>"
                    )?;
                }
                writeln!(text, "  </url>")
            }
            Self::Intl => {
                const WORDS: [&str; 4] =
                    ["%D0%BA%D0%B0%D1%82%D0%B0%D0%BB%D0%BE%D0%B3", "%E6%97%A5%E6%9C%AC", "gr%C3%B6%C3%9Fe", "%C3%A0"];
                let word = |shift: u32| WORDS[pick(shift, 4) as usize];
                writeln!(text, "  <url>\n    <loc>{HOST}/{}/{}/{number}</loc>", word(24), word(32))?;
                writeln!(text, "    <lastmod>{date}</lastmod>\n    <changefreq>weekly</changefreq>\n  </url>")
            }
        }
    }
}

/// Generates a set of each shape, and measures the tasks on it.
pub(crate) fn measure(shapes: &[Shape], urls: u32, rounds: u32, report: &mut Report) {
    for shape in shapes {
        let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("make a folder");
        let set = shape.set(folder.path(), urls);
        of_set(*shape, &set, rounds, report);
        shape_tasks::measure(*shape, &set, rounds.min(3), report);
    }
}

impl Shape {
    /// Writes a set of this shape to a folder.
    pub(crate) fn set(self, folder: &Path, urls: u32) -> Set {
        write_set(folder, (urls, 4), &|text: &mut String, number| self.entry(text, number)).expect("write the set")
    }

    /// The start of a link of an entry: an alternate or an image.
    pub(crate) const fn link(self) -> Option<&'static str> {
        match self {
            Self::Hreflang => Some("<xhtml:link"),
            Self::Images => Some("<image:loc>"),
            Self::Plain | Self::Minified | Self::Noisy | Self::Intl => None,
        }
    }
}

/// The median of some times; `None` if one is missing.
pub(crate) fn median(times: impl Iterator<Item = Option<Duration>>) -> Option<Duration> {
    let mut times = times.collect::<Option<Vec<_>>>()?;
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// One round of the tasks of [`of_set`].
struct Round {
    xmllint: Option<Run>,
    check: Run,
    read: Option<Run>,
    parse: Option<Run>,
    events: Duration,
    ready: Duration,
    cat: Option<Duration>,
}

/// Runs the program and its yardsticks alternately, so that all run under the same conditions.
fn of_set(shape: Shape, set: &Set, rounds: u32, report: &mut Report) {
    let round = |_| Round {
        xmllint: peers::xmllint(set),
        check: peers::check(&set.index),
        read: peers::in_process("--read", set),
        parse: peers::in_process("--parse", set),
        events: time(|| yardstick::read(set)).0,
        ready: time(|| open(&set.index)).0,
        cat: peers::cat(set),
    };
    let rounds: Vec<Round> = (0..rounds.max(1)).map(round).collect();
    let time_of = |of: fn(&Round) -> Option<Run>| median(rounds.iter().map(|round| of(round).map(|run| run.time)));
    let cpu_of = |of: fn(&Round) -> Option<Run>| median(rounds.iter().map(|round| of(round).map(|run| run.cpu)));
    let duration = |of: fn(&Round) -> Duration| median(rounds.iter().map(|round| Some(of(round)))).unwrap_or_default();
    let name = shape.name();
    let megabytes = set.bytes as f64 / 1e6;
    let (xmllint, lint_cpu) = (time_of(|round| round.xmllint), cpu_of(|round| round.xmllint));
    let events = duration(|round| round.events);
    report.peer(&format!("{name}: xmllint --stream --noout, {megabytes:.0} MB"), xmllint);
    report.peer(&format!("{name}: quick-xml events, one thread"), Some(events));
    report.peer(&format!("{name}: cat"), median(rounds.iter().map(|round| round.cat)));
    let share = if shape == Shape::Noisy { 1.0 } else { 0.5 };
    let of_xmllint = |peer: Option<Duration>| peer.map(|peer| peer.mul_f64(share));
    report.time(&format!("{name}: sited check"), duration(|round| round.check.time), of_xmllint(xmllint));
    report.peer(&format!("{name}: xmllint, CPU"), lint_cpu);
    report.peer(&format!("{name}: reading the files into memory, CPU"), cpu_of(|round| round.read));
    let what = format!("{name}: URLs and dates parsed with quick-xml, url and chrono, CPU");
    report.peer(&what, cpu_of(|round| round.parse));
    report.time(&format!("{name}: sited check, CPU"), duration(|round| round.check.cpu), of_xmllint(lint_cpu));
    let share = if shape == Shape::Plain { 0.7 } else { 1.5 };
    report.time(&format!("{name}: open, ready"), duration(|round| round.ready), Some(events.mul_f64(share)));
    if let Some(most) = peers::check_memory(&set.index) {
        report.bytes(&format!("{name}: sited check, memory at its peak"), most, Some(peers::memory_limit(set.bytes)));
    }
}
