//! Mutates seeds to find failures: `cargo run --release --example fuzz -- [SECONDS] [TARGET]… [--seed N]`.
//!
//! The target `many` runs whole commands on repeated constructs, and finds times that grow faster than the input.
//!
//! The mutations are deterministic: a seed always gives the same run. A failing input is minimized and stored under
//! `tests/cases/TARGET`, where `cargo test` runs it as a regression test.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod many;
mod targets;

use clap::Parser;
use sited::cli::{self, Env, args};
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};

/// Maximum length of an input in bytes.
const MAX_LENGTH: usize = 4_096;
/// Maximum time for any input of that length.
const SLOW: Duration = Duration::from_secs(2);

/// Tokens of the formats that the targets read.
const WORDS: [&str; 88] = [
    "<urlset>",
    "</urlset>",
    "<url>",
    "</url>",
    "<url/>",
    "<loc>",
    "</loc>",
    "<lastmod>",
    "</lastmod>",
    "<lastmod/>",
    "<priority>",
    "</priority>",
    "<changefreq>",
    "</changefreq>",
    "<sitemapindex>",
    "<sitemap>",
    "</sitemap>",
    "xmlns=",
    "xmlns:image=",
    "\"http://www.sitemaps.org/schemas/sitemap/0.9\"",
    "'",
    "\"",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?xml",
    "?>",
    "<!DOCTYPE x [",
    "&amp;",
    "&#10;",
    "&#x1F600;",
    "&",
    "&x;",
    "<",
    ">",
    "/",
    "\u{feff}",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    ",",
    ";",
    "\"\"",
    "<image:image>",
    "</image:image>",
    "http://e.com/",
    "https://",
    "loc,priority\n",
    "<rss>",
    "<channel>",
    "<item>",
    "</item>",
    "<link>",
    "</link>",
    "<pubDate>",
    "</pubDate>",
    "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "<entry>",
    "</entry>",
    "<updated>",
    "href=",
    "xml:base=",
    "<media:content medium='video' url='",
    "<media:title>",
    "2026-11-20",
    "T10:00:00Z",
    "+01:00",
    "Fri, 20 Nov 2026",
    "GMT",
    "24:00",
    "priority<0.5",
    "lastmod>=2025",
    " or ",
    " and ",
    "not ",
    "-",
    "(",
    ")",
    "rule:loc-*",
    "~",
    "*",
    "é",
    "\u{202e}",
    "\0",
    "0.5",
];

/// A small deterministic generator of pseudorandom numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let (mut seconds, mut seed, mut wanted) = (10, 1, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => seed = words.next().and_then(|number| number.parse().ok()).expect("--seed NUMBER"),
            number if number.parse::<u64>().is_ok() => seconds = number.parse().unwrap_or(seconds),
            name => wanted.push(name.to_owned()),
        }
    }
    // Panics are results here, so they are not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut broken = 0;
    if wanted.is_empty() || wanted.iter().any(|word| word == "many") {
        broken += fuzz_many(Duration::from_secs(seconds), seed);
    }
    for (name, target) in TARGETS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|word| word == name))
    {
        broken += fuzz(name, *target, Duration::from_secs(seconds), seed);
    }
    std::process::exit(i32::from(broken > 0));
}

/// Runs one target for this time. Returns the number of different failures.
fn fuzz(name: &str, target: Target, time: Duration, seed: u64) -> usize {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut seeds = seeds(name);
    let first = seeds.len();
    let (begun, mut tried, mut found) = (Instant::now(), 0u64, Vec::<String>::new());
    while begun.elapsed() < time && found.len() < 10 {
        let input = mutated(&seeds, &mut numbers);
        tried += 1;
        let started = Instant::now();
        let result = outcome(target, &input);
        if let Err(what) = result {
            if !found.contains(&what) {
                let small = smaller(target, input, &what);
                keep(name, &small, &what);
                found.push(what);
            }
        } else if started.elapsed() > SLOW {
            if !found.iter().any(|what| what == "slow") {
                keep(name, &input, "slow");
                found.push("slow".to_owned());
            }
        } else if numbers.below(400) == 0 {
            // Some mutations become seeds themselves, so that later ones differ more from the originals.
            let (at, seeds_are_many) = (numbers.below(seeds.len()), seeds.len() > 2_000);
            match seeds.get_mut(first.max(at)) {
                Some(slot) if seeds_are_many => *slot = input,
                _ => seeds.push(input),
            }
        }
    }
    println!("{name}: {tried} inputs in {} s, {} broken", begun.elapsed().as_secs(), found.len());
    found.len()
}

/// The number of repetitions in the first run, and its factor for the second run.
const TIMES: usize = 1_000;
const MORE: usize = 4;
/// Times below `SHORT` in the second run are ignored; growth by the factor `TOO_MUCH` is a failure. Since times are not
/// exact, this only distinguishes quadratic from linear growth.
const SHORT: Duration = Duration::from_millis(300);
const TOO_MUCH: u32 = 9;

/// Number of repeated measurements of a failure.
const AGAIN: usize = 3;

fn is_too_much<E>(few: &Result<Duration, E>, most: &Result<Duration, E>) -> bool {
    matches!((few, most), (Ok(few), Ok(most)) if *most > SHORT && *most > *few * TOO_MUCH)
}

/// Runs whole commands on repetitions of a construct at a position, and of a second one at another, to find times that
/// grow faster than the input. Returns the number of failures.
fn fuzz_many(time: Duration, seed: u64) -> usize {
    const COMMANDS: [&str; 4] = ["check", "fix --dry-run", "list", "set lastmod=2026-01-01 --dry-run"];
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let shapes: Vec<_> = many::shapes().collect();
    let path = std::env::temp_dir().join(format!("sited-fuzz-{}.xml", std::process::id()));
    let (begun, mut tried, mut found) = (Instant::now(), 0u64, Vec::<String>::new());
    while begun.elapsed() < time && found.len() < 10 {
        let (thing, (before, after)) = shapes[numbers.below(shapes.len())];
        // Half of the inputs also repeat another construct, before or after the first one.
        let (other, _) = shapes[numbers.below(shapes.len())];
        let (both, swapped) = (numbers.below(2) == 0, numbers.below(2) == 0);
        let text = |times: usize| {
            if !both {
                return many::repeated(thing, (before, after), times);
            }
            let more = many::repeated(other, ("", ""), times);
            let place =
                if swapped { (before.to_owned() + &more, after.to_owned()) } else { (before.to_owned(), more + after) };
            many::repeated(thing, (&place.0, &place.1), times)
        };
        let command = COMMANDS[numbers.below(COMMANDS.len())];
        let mut shape = String::new();
        let _ = write!(shape, "{command}: many {thing:?} between {before:?} and {after:?}");
        if both {
            let _ = write!(shape, ", and {other:?} {} it", if swapped { "before" } else { "behind" });
        }
        tried += 1;
        let measured = || {
            [TIMES, MORE * TIMES].map(|times| {
                fs::write(&path, text(times)).expect("write an input");
                let words = ["sited"].into_iter().chain(command.split(' ')).map(str::to_owned);
                let words = words.chain([path.to_string_lossy().into_owned()]);
                let line = args::Cli::try_parse_from(words).expect("words of the command line");
                let started = Instant::now();
                let run = || cli::run(&line, Env::default(), &mut std::io::sink(), &mut std::io::sink());
                catch_unwind(AssertUnwindSafe(run)).map(|_| started.elapsed())
            })
        };
        let [mut few, mut most] = measured();
        // Other work on the machine takes time as well, so a failure must be reproduced.
        for _ in 0..AGAIN {
            if !is_too_much(&few, &most) {
                break;
            }
            [few, most] = measured();
        }
        let is_found = is_too_much(&few, &most);
        let what = match (few, most) {
            (Ok(few), Ok(most)) if is_found => format!("{few:?}, then {most:?}: {shape}"),
            (Ok(_), Ok(_)) => continue,
            _ => format!("a panic: {shape}"),
        };
        println!("many: {what}");
        found.push(what);
    }
    let _ = fs::remove_file(&path);
    println!("many: {tried} inputs in {} s, {} broken", begun.elapsed().as_secs(), found.len());
    found.len()
}

fn outcome(target: Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| target(input))).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        Err(words
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "a panic".to_owned()))
    })
}

/// Removes pieces as long as the same failure occurs.
fn smaller(target: Target, mut input: Vec<u8>, what: &str) -> Vec<u8> {
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() {
            let mut shorter = input.clone();
            shorter.drain(at..(at + piece).min(input.len()));
            if outcome(target, &shorter).is_err_and(|other| other == what) {
                input = shorter;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    input
}

fn keep(name: &str, input: &[u8], what: &str) {
    let folder = folder(name);
    fs::create_dir_all(&folder).expect("make the folder of cases");
    let hash = input
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let path = folder.join(format!("{hash:016x}"));
    fs::write(&path, input).expect("write a case");
    println!("{name}: {what}: {} ({} bytes)", path.display(), input.len());
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

/// The seeds of a target: its stored cases, and files of the corpus in its formats.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    const DATES: [&str; 12] = [
        "2026-11-20",
        "2026-11-20T10:00:00Z",
        "2026-11-20T10:00:00.5+01:00",
        "20 Nov 2026 10:00 GMT",
        "Fri, 20 Nov 2026 10:00:00 -0700",
        "11/20/2026",
        "20.11.2026",
        "1795169647",
        "2026-W47",
        "2026-324",
        "20261120T100000Z",
        "2026-11-20, 2026-11-21",
    ];
    const QUERIES: [&str; 8] = [
        "priority<0.5 section:blog",
        "lastmod>=2025-03 or lastmod:none",
        "not (loc~\"^https?://\" and changefreq=daily)",
        "-has:image rule:loc-* severity>=warning",
        "is:changed path:/a/**/b?.html",
        "depth>3 file:sitemap-1.xml",
        "lastmod<-30d priority!=0.5",
        "host:example.com \"a \"\"b\"",
    ];
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let (mut seeds, folders, ends) = match name {
        "dates" => (texts(&DATES), &[][..], &[][..]),
        "queries" => (texts(&QUERIES), &[][..], &[][..]),
        "grid" => (Vec::new(), &["forms"][..], &["txt", "csv", "tsv"][..]),
        "feeds" => (Vec::new(), &["forms"][..], &["xml", "rss"][..]),
        _ => (Vec::new(), &["valid", "quirky", "damaged"][..], &["xml"][..]),
    };
    let folders = folders.iter().map(|part| (corpus.join(part), ends));
    for (folder, ends) in folders.chain([(folder(name), &[][..])]) {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let ends_so = |path: &Path| path.extension().is_some_and(|end| ends.iter().any(|known| end == *known));
        paths.retain(|path| ends.is_empty() || ends_so(path));
        paths.sort();
        let files = paths.iter().filter_map(|path| fs::read(path).ok());
        seeds.extend(files.filter(|bytes| bytes.len() <= MAX_LENGTH));
    }
    if name == "splice" {
        // An entry of each file, after the bytes that select the change.
        let entry = |bytes: &Vec<u8>| {
            let text = String::from_utf8_lossy(bytes);
            let (from, to) = (text.find("<url>")?, text.find("</url>")?);
            Some([b"\x01\x01a&b\0", text.get(from..to + 6)?.as_bytes()].concat())
        };
        seeds = seeds.iter().filter_map(entry).collect();
    }
    seeds
}

/// A seed with a few mutations.
fn mutated(seeds: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seeds[numbers.below(seeds.len())].clone();
    for _ in 0..=numbers.below(8) {
        let (from, to) = (numbers.below(bytes.len() + 1), numbers.below(bytes.len() + 1));
        let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 64));
        match numbers.below(7) {
            0 => {
                let word = WORDS[numbers.below(WORDS.len())];
                bytes.splice(from..from, word.bytes());
            }
            1 => {
                bytes.drain(from..to);
            }
            2 => {
                let piece = bytes[from..to].to_vec();
                let at = numbers.below(bytes.len() + 1);
                bytes.splice(at..at, piece);
            }
            3 => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte = numbers.next() as u8;
                }
            }
            4 => {
                let other = &seeds[numbers.below(seeds.len())];
                let (a, b) = (numbers.below(other.len() + 1), numbers.below(other.len() + 1));
                let piece = other[a.min(b)..a.max(b)].to_vec();
                bytes.splice(from..to, piece);
            }
            5 => {
                let word = WORDS[numbers.below(WORDS.len())];
                bytes.splice(from..to, word.bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
        }
        bytes.truncate(MAX_LENGTH);
    }
    bytes
}
