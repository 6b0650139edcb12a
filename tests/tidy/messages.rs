//! Lists every user-visible text in one file, so that changes of wording can be reviewed.
//!
//! `tests/snapshots/messages.txt` holds the help of all commands, and every literal of the source that contains a
//! phrase: messages, hints, prompts, the rule table, the command tables. `UPDATE_DOCS=1 cargo test --test tidy` writes
//! it again.

use super::source::literals;
use super::{root, sources};
use clap::CommandFactory;
use sited::cli::args::Cli;
use std::fmt::Write as _;
use std::fs;

const SNAPSHOT: &str = "tests/snapshots/messages.txt";

#[test]
fn messages_are_listed() {
    let listed = format!("{}{}", help(), phrases());
    let path = root().join(SNAPSHOT);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &listed).expect("write the messages");
        return;
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let changed = listed.lines().zip(written.lines()).find(|(now, before)| now != before);
    assert!(listed == written, "{SNAPSHOT} is stale from {changed:?} on: UPDATE_DOCS=1 cargo test --test tidy");
}

/// The help of the program and of each command.
fn help() -> String {
    let mut program = Cli::command().term_width(120);
    program.build();
    let mut out = String::new();
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let _ = writeln!(out, "# sited --help\n\n{}", program.render_long_help());
    for name in names {
        let command = program.find_subcommand_mut(&name).expect("a command has its name");
        let _ = writeln!(out, "# sited {name} --help\n\n{}", command.render_long_help());
    }
    out
}

/// The literals with a phrase, by file, in the order of the source.
fn phrases() -> String {
    let mut out = String::new();
    for file in sources("src") {
        let is_test =
            file.name.contains("/tests/") || file.name.ends_with("/tests.rs") || file.name.contains("/samples");
        if is_test {
            continue;
        }
        let production = file.text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        let found: Vec<String> = literals(production).into_iter().filter(|text| is_phrase(text)).collect();
        if !found.is_empty() {
            let _ = writeln!(out, "# {}\n\n{}\n", file.name, found.join("\n"));
        }
    }
    out
}

/// Whether two words are adjacent, which is not the case for keys, names and formats of values.
fn is_phrase(text: &str) -> bool {
    let words: Vec<bool> =
        text.split(' ').map(|word| word.len() > 1 && word.chars().all(char::is_alphabetic)).collect();
    words.windows(2).any(|pair| pair[0] && pair[1])
}

#[test]
fn a_phrase_is_two_words() {
    assert!(is_phrase("the file {name} has {count} rows") && is_phrase("no URL"));
    assert!(!is_phrase("changefreq") && !is_phrase("{} {}") && !is_phrase("<url> </url>"));
}
