//! Makes `assets/sited.svg`, the picture in the README: `cargo run --release --example picture`.
//!
//! The real program is started on the sample set in a terminal of its own, a few keys are typed, and the screen is
//! drawn. The clock is fixed, so the same program gives the same bytes.

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
    terminal.wait_for("61 URLs");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sited.svg");
    std::fs::write(&path, terminal.look(svg::draw)).expect("write the picture");
    println!("{}\n{}", terminal.screen(), path.display());
}

/// The program beside this one, built first: running an example builds no other target.
fn program() -> PathBuf {
    let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--release", "--bin", "sited"]).status();
    assert!(built.expect("run cargo").success(), "the program does not build");
    let this = std::env::current_exe().expect("know where this program is");
    let release = this.ancestors().nth(3).expect("a program lies in a target folder").join("release");
    release.join("sited").with_extension(std::env::consts::EXE_EXTENSION)
}
