//! How fast the program is, as ratios to a yardstick taken in the same run: `cargo bench`, or
//! `cargo bench -- --urls 100000`.
//!
//! The numbers are for people: nothing fails by being slow. Properties that must hold without a stopwatch (work
//! counters) are asserted in the tests. Run by `cargo test --benches`, it only proves that it runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod generate;
mod report;
mod yardstick;

use report::Report;
use std::path::Path;

/// How much to measure.
struct Size {
    urls: u32,
    files: u32,
    rounds: u32,
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let size = size(&arguments);
    let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("make a folder");
    let set = generate::generate(folder.path(), size.urls, size.files).expect("write the set");
    println!("{} URLs in {} files, {} MB, best of {}", set.urls, size.files, set.bytes / 1_000_000, size.rounds);
    let mut report = Report::default();
    report.bytes("the set on disk", set.bytes, None);
    let yardstick = report::best(size.rounds, || yardstick::read(&set));
    report.time("quick-xml events, one thread (the yardstick)", yardstick, None);
    print!("{report}");
}

/// `--urls N` and `--files N`; one million in twenty files without them, a handful when `cargo test` asks.
fn size(arguments: &[String]) -> Size {
    let number = |name: &str, default: u32| {
        let value = arguments.iter().skip_while(|argument| *argument != name).nth(1);
        value.map_or(default, |value| value.replace([',', '_'], "").parse().expect("a number"))
    };
    if arguments.iter().any(|argument| argument == "--bench") {
        Size { urls: number("--urls", 1_000_000), files: number("--files", 20), rounds: number("--rounds", 5) }
    } else {
        Size { urls: number("--urls", 2_000), files: number("--files", 4), rounds: number("--rounds", 1) }
    }
}
