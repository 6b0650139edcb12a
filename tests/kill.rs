//! A process that is killed while it saves, at moments that nobody chose: the set is the old one or the new one.
//!
//! `SITED_KILLS` says how often; a few dozen times without it, so that the suite stays quick. Holds the promise
//! "all or nothing, for the whole set".

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{Folder, environment, program, run, stderr, stdout};

const PARTS: usize = 12;
const ROWS: usize = 40;

fn write_set(folder: &Folder) {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let mut index = format!("{head}<sitemapindex {space}>\n");
    for part in 0..PARTS {
        writeln!(index, "<sitemap><loc>https://example.com/part-{part}.xml</loc></sitemap>").unwrap();
        let mut text = format!("{head}<urlset {space}>\n");
        for row in 0..ROWS {
            writeln!(text, "<url><loc>https://example.com/{part}/{row}</loc><priority>0.0</priority></url>").unwrap();
        }
        std::fs::write(folder.path().join(format!("part-{part}.xml")), text + "</urlset>\n").unwrap();
    }
    std::fs::write(folder.path().join("sitemap.xml"), index + "</sitemapindex>\n").unwrap();
}

/// Starts a save and kills it after a time; whether it was still running.
fn save_and_kill(folder: &Path, (priority, backup): (&str, &str), after: Duration) -> bool {
    let mut child = Command::new(program())
        .args(["set", "sitemap.xml", priority, "--backup", backup])
        .current_dir(folder)
        .env_clear()
        .envs(environment(folder))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the program");
    std::thread::park_timeout(after);
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    is_running
}

/// The priorities that the set has, each once. The set is opened for it, which finishes what was interrupted.
fn priorities(folder: &Folder) -> BTreeSet<String> {
    let output = run(folder, &["list", "sitemap.xml", "--format", "jsonl"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output);
    assert_eq!(lines.lines().count(), PARTS * ROWS, "{}", stderr(&output));
    let value =
        |line: &str| line.split("\"priority\":\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
    lines.lines().map(|line| value(line).expect("a priority")).collect()
}

#[test]
fn a_save_that_is_killed_leaves_the_old_set_or_the_new_one() {
    let kills: u32 = std::env::var("SITED_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(40);
    let folder = Folder::new();
    write_set(&folder);
    let start = Instant::now();
    // The longest way: every file is kept before it is replaced.
    assert!(run(&folder, &["set", "sitemap.xml", "priority=0.1", "--backup", "always"]).status.success());
    // A kill falls anywhere between the start and a little after the usual end.
    let whole = start.elapsed().mul_f64(1.2).as_micros() as u64;
    let (mut before, mut random) = ("0.1".to_owned(), 0x9E37_79B9_7F4A_7C15_u64);
    let (mut old, mut new, mut running) = (0, 0, 0);
    for number in 0..kills {
        // xorshift64: the moments need no better one.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let wanted = format!("0.{}", 2 + number % 7);
        let backup = if number % 3 == 0 { "always" } else { "off" };
        let was_running = save_and_kill(
            folder.path(),
            (&format!("priority={wanted}"), backup),
            Duration::from_micros(random % whole),
        );
        running += u32::from(was_running);
        let found = priorities(&folder);
        let now = found.first().cloned().unwrap_or_default();
        assert!(found.len() == 1 && (now == before || now == wanted), "kill {number}: {before} → {wanted}: {found:?}");
        if now == wanted {
            new += 1;
        } else {
            old += 1;
        }
        before = now;
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let left = left.into_iter().filter(|name| name.to_string_lossy().ends_with(".sited")).count();
        assert_eq!(left, 0, "kill {number}: temporary files are left");
    }
    // Every backup that is listed is whole: each can be put back.
    let listed = stdout(&run(&folder, &["restore", "sitemap.xml"]));
    let dates: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(!dates.is_empty());
    for date in [dates[0], dates[dates.len() / 2], dates[dates.len() - 1]] {
        let output = run(&folder, &["restore", "sitemap.xml", "--set", date]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(priorities(&folder).len(), 1, "{date}");
    }
    assert!(running > 0 && old > 0 && new > 0, "{kills} kills: {running} while running, {old} old, {new} new");
}
