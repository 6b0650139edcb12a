//! `sited`: reads the command line and hands over to the headless half or to the screen.

use clap::Parser;
use sited::cli::{self, Next, args::Line};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let line = Line::parse();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut notes = io::stderr().lock();
    match cli::run(&line, &mut out, &mut notes) {
        Next::End(status) => status.into(),
        Next::Screen(_) => {
            let _ = writeln!(notes, "error: {}\nhint: {}", cli::NO_TERMINAL.0, cli::NO_TERMINAL.1);
            cli::Status::Usage.into()
        }
    }
}
