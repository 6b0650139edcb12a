//! The program as a process without a terminal: exit statuses, streams, a reader that goes away.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

fn sited(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sited"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command
}

fn urlset(rows: usize, priority: &str) -> String {
    let entry = |row| format!("<url><loc>https://example.com/page/{row}</loc><priority>{priority}</priority></url>\n");
    let entries: String = (0..rows).map(entry).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n")
}

#[test]
fn the_exit_status_tells_how_it_went() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.xml"), urlset(3, "0.5")).unwrap();
    std::fs::write(folder.path().join("bad.xml"), urlset(1, "high")).unwrap();
    let table: [(&[&str], i32); 8] = [
        (&["check", "good.xml"], 0),
        (&["check", "bad.xml"], 1),
        (&["check", "good.xml", "bad.xml", "--format", "json"], 1),
        (&["check", "gone.xml"], 3),
        (&["list", "good.xml", "--where", "priorty<1"], 2),
        (&["list"], 2),
        (&["set", "good.xml", "priority=0.8", "-o", "bad.xml/new.xml"], 3),
        (&["set", "good.xml", "priority=0.8"], 0),
    ];
    for (words, status) in table {
        let output = sited(folder.path(), words).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {output:?}");
        // What went wrong is said on standard error, never among the results.
        assert!(status < 2 || (output.stdout.is_empty() && !output.stderr.is_empty()), "{words:?}: {output:?}");
    }
    let saved = std::fs::read_to_string(folder.path().join("good.xml")).unwrap();
    assert_eq!(saved, urlset(3, "0.8"));
}

#[test]
fn without_a_terminal_it_says_so_and_names_the_other_ways() {
    let folder = tempfile::tempdir().unwrap();
    let output = sited(folder.path(), &[]).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{notes}");
    for words in ["terminal", "sited check", "sited list", "sited set"] {
        assert!(notes.contains(words), "{notes}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("big.xml"), urlset(20_000, "0.5")).unwrap();
    let mut child =
        sited(folder.path(), &["list", "big.xml"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "https://example.com/page/0\n");
    let mut notes = String::new();
    child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
    assert_eq!((child.wait().unwrap().code(), notes.as_str()), (Some(0), ""));
}
