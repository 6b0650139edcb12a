//! The program in a real terminal, key by key, as a person uses it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::Folder;
use support::terminal::Start;

#[test]
fn leaves_the_terminal_as_it_was() {
    let folder = Folder::sample();
    let terminal = Start::new(&folder).arguments(["--version"]).start();
    assert!(terminal.wait_exit().success());
    terminal.assert_restored();
}
