//! Generates `assets/sited.svg`, the picture in the README: `cargo run --release --example picture`.
//!
//! Starts the program with the sample set in a pseudo-terminal, types a few keys, and draws the screen. The clock is
//! fixed, so the same program gives the same bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "../support/mod.rs"]
mod support;
mod svg;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::Folder;
use support::terminal::Start;

fn main() {
    let folder = Folder::sample();
    let terminal = Start::program(program(), &folder)
        .arguments(["--now", "2026-11-20T10:14:07Z", "sitemap_index.xml"])
        .size(112, 30)
        .start();
    terminal.wait_for("1/61");
    terminal.send("6G");
    terminal.wait_for("6/61");
    terminal.send("gx");
    terminal.wait_for("modified 1");
    terminal.send(":set priority=0.6 where section=plants\r");
    terminal.wait_for("modified 10");
    terminal.send("8G");
    terminal.wait_for("8/61");
    // The last message is replaced by the key hints.
    terminal.wait_for("? help");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sited.svg");
    std::fs::write(&path, terminal.look(svg::draw)).expect("write the picture");
    println!("{}\n{}", terminal.screen(), path.display());
}

/// The path of the program, which is built first, since running an example builds no other target.
fn program() -> PathBuf {
    let this = std::env::current_exe().expect("know where this program is");
    let place = this.ancestors().nth(2).expect("an example lies in a folder of its profile");
    let profile = if place.ends_with("release") { "release" } else { "dev" };
    let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--bin", "sited", "--profile", profile]).status();
    assert!(built.expect("run cargo").success(), "the program does not build");
    place.join("sited").with_extension(std::env::consts::EXE_EXTENSION)
}
