//! `sited completions` and `sited man`: generated from the definition of the command line and from the manual.

use super::args::{Cli, Completions, Man};
use super::columns::column_names;
use super::{Failure, Status, Streams};
use crate::check::Profile;
use crate::check::rule::Rule;
use crate::document::sort::Column;
use crate::files::backup;
use crate::manual::{self, Block, PAGES, Page, Span};
use crate::session::command::Targets;
use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, ValueHint};
use clap_mangen::roff::{Inline, Roff, bold, roman};
use std::ffi::{OsStr, OsString};
use std::io;

/// Prints a script for a shell.
pub(super) fn completions(task: &Completions, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut command = with_value_hints(Cli::definition());
    let mut script = Vec::new();
    clap_complete::generate(task.shell, &mut command, "sited", &mut script);
    streams.out.write_all(&script)?;
    Ok(Status::Fine)
}

/// The command definition with the candidates that a shell can complete. Only completion scripts use it: parsing and
/// help are not affected.
fn with_value_hints(command: Command) -> Command {
    command.mut_args(with_candidates).mut_subcommands(with_value_hints)
}

/// Adds the candidates or the kind of the value to an argument that has neither.
fn with_candidates(arg: Arg) -> Arg {
    let value_name = arg.get_value_names().and_then(<[_]>::first).map_or("", |name| name.as_str()).to_owned();
    if value_name == "DIR" {
        return arg.value_hint(ValueHint::DirPath);
    }
    let has_names = !arg.get_possible_values().is_empty();
    if !arg.get_action().takes_values() || has_names || arg.get_value_hint() != ValueHint::Unknown {
        return arg;
    }
    let names = match (arg.get_id().as_str(), value_name.as_str()) {
        ("profile", _) => Profile::ALL.map(Profile::name).to_vec(),
        ("backup", _) => backup::When::ALL.map(backup::When::name).to_vec(),
        ("targets", _) => Targets::NAMES.to_vec(),
        ("columns", _) => column_names().collect(),
        ("sort" | "keys", "KEYS") => Column::ALL.iter().map(|(_, name)| *name).collect(),
        ("by", _) => vec!["section", "host", "month"],
        (_, "CODE" | "CODE|VALUE") => Rule::mains().map(Rule::code).collect(),
        ("set", "DATE") => vec!["latest"],
        _ => Vec::new(),
    };
    match value_name.as_str() {
        _ if !names.is_empty() => arg.value_parser(Named(names)),
        "URL" => arg.value_hint(ValueHint::Url),
        "FILE" | "OUT" | "PATH" => arg.value_hint(ValueHint::AnyPath),
        // A query, a number, an expression: without a hint, shells would complete file names.
        _ => arg.value_hint(ValueHint::Other),
    }
}

/// Accepts any value and lists names for completion: the command itself validates the value.
#[derive(Debug, Clone)]
struct Named(Vec<&'static str>);

impl TypedValueParser for Named {
    type Value = OsString;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<OsString, clap::Error> {
        OsStringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}

/// Prints the man page of the program in roff, or writes all pages.
pub(super) fn man(task: &Man, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let command = Cli::definition();
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
    for topic in PAGES {
        pages.push((format!("{}.7", topic.man), topic_page(topic)?));
    }
    std::fs::create_dir_all(folder).map_err(|error| crate::files::Error::system("make", folder, error))?;
    for (name, bytes) in &pages {
        crate::files::write_atomic(&folder.join(name), bytes)?;
    }
    streams.note(&format!("wrote {}", crate::words::counted(pages.len() as u64, "page")));
    Ok(Status::Fine)
}

/// Sections of `sited.1` that come from the manual.
const SECTIONS: [&str; 3] = ["Exit status", "Files", "Environment"];

/// The page of the program: its options, then the sections of the manual that every command needs.
fn program_page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut out = page(command)?;
    let mut roff = Roff::new();
    if let Some(queries) = manual::page("queries") {
        roff.control("SH", ["QUERIES"]);
        section(&manual::blocks(queries)[1..], "SS", &mut roff);
    }
    let blocks = manual::page("command-line").map(manual::blocks).unwrap_or_default();
    let is_section =
        |block: &Block| matches!(block, Block::Heading { title, .. } if SECTIONS.contains(&title.as_str()));
    if let Some(start) = blocks.iter().position(is_section) {
        section(&blocks[start..], "SH", &mut roff);
    }
    roff.to_writer(&mut out)?;
    Ok(out)
}

/// A page of the manual as a man page of section 7.
fn topic_page(page: Page) -> io::Result<Vec<u8>> {
    let mut roff = Roff::new();
    roff.control("TH", [page.man, "7"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{} - {}", page.man, page.about))]);
    roff.control("SH", ["DESCRIPTION"]);
    section(&manual::blocks(page)[1..], "SH", &mut roff);
    let mut out = Vec::new();
    roff.to_writer(&mut out)?;
    Ok(out)
}

/// Blocks of a page as roff.
fn section(blocks: &[Block], heading: &str, roff: &mut Roff) {
    for block in blocks {
        match block {
            Block::Heading { title, .. } => {
                roff.control(heading, [title.to_uppercase().as_str()]);
            }
            Block::Paragraph(spans) => {
                roff.control("PP", []).text(inline(spans));
            }
            Block::Item(spans) => {
                roff.control("IP", ["\u{2022}", "2"]).text(inline(spans));
            }
            Block::Code(lines) => {
                roff.control("PP", []).control("nf", []);
                for line in lines {
                    roff.text([roman(line.as_str())]);
                }
                roff.control("fi", []);
            }
            Block::Table(rows) => {
                for row in rows.iter().skip(1) {
                    let Some((first, others)) = row.split_first() else { continue };
                    let others = others.iter().filter(|cell| !cell.is_empty()).map(|cell| inline(cell));
                    let others: Vec<_> = others.collect();
                    roff.control("TP", []).text(inline(first)).text(others.join(&roman(" \u{b7} ")));
                }
            }
        }
    }
}

/// A line of text; literal parts are bold.
fn inline(spans: &[Span]) -> Vec<Inline> {
    spans.iter().map(|span| if span.is_code { bold(span.text.as_str()) } else { roman(span.text.as_str()) }).collect()
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap_complete::Shell;

    fn each_argument(command: &Command, visit: &mut dyn FnMut(&str, &Arg)) {
        command.get_arguments().for_each(|arg| visit(command.get_name(), arg));
        command.get_subcommands().for_each(|task| each_argument(task, visit));
    }

    #[test]
    fn every_value_has_candidates_or_a_value_hint() {
        let mut count = 0;
        each_argument(&with_value_hints(Cli::definition()), &mut |task, arg| {
            let takes_value = arg.get_action().takes_values();
            let is_known = !arg.get_possible_values().is_empty() || arg.get_value_hint() != ValueHint::Unknown;
            assert!(!takes_value || is_known, "{task} {arg}");
            count += usize::from(takes_value);
        });
        assert!(count > 80, "{count}");
    }

    #[test]
    fn shells_complete_names_but_no_files_for_queries() {
        let script = |shell: Shell| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut with_value_hints(Cli::definition()), "sited", &mut script);
            String::from_utf8(script).unwrap()
        };
        let (bash, zsh) = (script(Shell::Bash), script(Shell::Zsh));
        for names in ["protocol google bing yandex baidu", "off once always", "loc alternates images videos index all"]
        {
            assert!(bash.contains(&format!("compgen -W \"{names}")), "{names}");
            assert!(zsh.contains(&format!("({names}")), "{names}");
        }
        assert!(bash.contains("lastmod-impossible") && zsh.contains("lastmod-impossible"));
        assert!(zsh.contains(":QUERY:'") || zsh.contains(":QUERY: '"), "a query is no file");
        assert!(zsh.contains(":URL:_urls") && zsh.contains(":DIR:_files -/"));
    }
}
