//! The program in a real terminal, key by key, as a person uses it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::terminal::Start;
use support::{Folder, run, stderr};

#[test]
fn leaves_the_terminal_as_it_was() {
    let folder = Folder::sample();
    let terminal = Start::new(&folder).arguments(["--version"]).start();
    assert!(terminal.wait_exit().success());
    assert!(terminal.screen().starts_with("sited "), "{}", terminal.screen());
    terminal.assert_restored();
}

#[test]
fn without_a_terminal_it_names_the_other_ways() {
    let folder = Folder::sample();
    let output = run(&folder, &["sitemap_index.xml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    for way in ["sited check", "sited list", "sited set", "--script"] {
        assert!(stderr(&output).contains(way), "{}", stderr(&output));
    }
}
