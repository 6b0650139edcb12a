//! `sited completions` and `sited man`: made from the definition of the command line, so that they cannot differ from it.

use super::args::Line;
use super::{Failure, Status, Streams};
use crate::manual::{self, Page};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::roff::{Roff, roman};
use std::io;
use std::path::PathBuf;

/// `sited completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited completions bash > ~/.local/share/bash-completion/completions/sited")]
pub struct Completions {
    /// Whose: bash, zsh, fish, elvish or powershell
    pub shell: Shell,
}

/// `sited man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sited man | man -l -\n  sited man --output ~/.local/share/man/man1")]
pub struct Man {
    /// Write one page for the program and one for each task into DIR instead of the first to standard output
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Prints a script for a shell.
pub(super) fn completions(task: &Completions, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut command = Line::command();
    let mut script = Vec::new();
    clap_complete::generate(task.shell, &mut command, "sited", &mut script);
    streams.out.write_all(&script)?;
    Ok(Status::Fine)
}

/// Prints the manual page, in roff, or writes all pages.
pub(super) fn man(task: &Man, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut command = Line::command();
    command.build();
    let Some(folder) = &task.output else {
        streams.out.write_all(&program_page(command)?)?;
        return Ok(Status::Fine);
    };
    let tasks: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    let mut pages = vec![("sited.1".to_owned(), program_page(command)?)];
    for task in tasks {
        let name = format!("sited-{}", task.get_name());
        pages.push((format!("{name}.1"), page(task.display_name(name))?));
    }
    std::fs::create_dir_all(folder).map_err(|error| crate::files::Error::system("make", folder, error))?;
    for (name, bytes) in &pages {
        crate::files::write_whole(&folder.join(name), bytes)?;
    }
    streams.note(&format!("wrote {}", crate::words::counted(pages.len() as u64, "page")));
    Ok(Status::Fine)
}

/// The page of the program: its options, then the pages of the manual that every command needs.
fn program_page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut out = page(command)?;
    for page in ["queries", "command-line"].into_iter().filter_map(manual::page) {
        section(page, &mut out)?;
    }
    Ok(out)
}

/// A page of the manual as roff. A title that only names the page is left to its sections.
fn section(page: Page, out: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    let mut is_code = false;
    for line in manual::lines(page) {
        let text = || vec![roman(line.replace("**", "").replace('`', ""))];
        if line.starts_with("```") {
            is_code = !is_code;
            roff.control(if is_code { "nf" } else { "fi" }, []);
        } else if is_code || line.starts_with('|') {
            // A line of a table is kept as it is, or it would flow into the next one.
            let between = if is_code { vec![roman(line)] } else { text() };
            roff.text(between);
            if !is_code {
                roff.control("br", []);
            }
        } else if let Some(title) = line.strip_prefix("# ") {
            if page.name == "queries" {
                roff.control("SH", [title.to_uppercase().as_str()]);
            }
        } else if let Some(title) = line.strip_prefix("## ") {
            let level = if page.name == "queries" { "SS" } else { "SH" };
            roff.control(level, [title.to_uppercase().as_str()]);
        } else if line.starts_with("- ") {
            roff.control("TP", ["2"]);
            roff.text(text());
        } else if line.is_empty() {
            roff.control("PP", []);
        } else {
            roff.text(text());
        }
    }
    roff.to_writer(out)
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
