//! `sited help`: prints the help of a command, a page of the manual, or the list of rules.

use super::args::{Cli, Help};
use super::pager::{self, Pager, WIDEST};
use super::{Failure, Status, Streams};
use crate::check::Profile;
use crate::check::rule::Rule;
use crate::document::query::suggest::{listed, nearest};
use crate::manual::{self, PAGES};
use crate::protocol::Severity;
use clap::CommandFactory;
use std::io::{self, Write};

/// Prints the help of a command or a page.
pub(super) fn run(help: &Help, pager: Option<&Pager>, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let mut program = Cli::definition();
    let Some(topic) = help.topic.as_deref() else {
        writeln!(streams.out, "{}", program.render_long_help())?;
        writeln!(streams.out, "Pages of the manual (sited help PAGE):")?;
        for page in PAGES {
            writeln!(streams.out, "  {:13} {}", page.name, page.about)?;
        }
        return Ok(Status::Fine);
    };
    if let Some(command) = program.find_subcommand_mut(topic) {
        writeln!(streams.out, "{}", command.render_long_help())?;
    } else if let Some(page) = manual::page(topic) {
        let lines = manual::lines(page, pager.map_or(WIDEST, |pager| pager.width.min(WIDEST)));
        pager::print(&lines, pager, streams.colour, streams.out)?;
    } else if let Some(rule) = Rule::from_code(topic) {
        super::explain::print_rule(rule, streams)?;
    } else {
        let pages = || PAGES.iter().map(|page| page.name);
        let commands: Vec<String> = program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let mut names: Vec<&str> = commands.iter().map(String::as_str).collect();
        names.extend(pages().chain(Rule::ALL.into_iter().map(Rule::code)).map(|name| -> &str { name }));
        let guess = nearest(topic, names);
        let guess = guess.map_or_else(String::new, |name| format!("; did you mean {name}?"));
        return Err(Failure::Usage(
            format!("no help on {topic}{guess}"),
            format!("name a command, a rule, or one of the pages {}", listed(pages())),
        ));
    }
    Ok(Status::Fine)
}

/// Prints every rule with its code, severity in the profile, and summary.
pub(super) fn print_rules(profile: Profile, out: &mut dyn Write) -> io::Result<()> {
    let width = Rule::ALL.into_iter().map(|rule| rule.code().len()).max().unwrap_or(0);
    for rule in Rule::ALL {
        let severity = rule.severity_in(profile).map_or("off", Severity::name);
        writeln!(out, "{:width$}  {severity:7}  {}", rule.code(), rule.summary())?;
    }
    Ok(())
}

/// The command with the name nearest to a path that does not exist: the path is probably a mistyped command.
pub(super) fn mistyped_command(first: &std::path::Path) -> Option<String> {
    let typed = first.to_str().filter(|_| !first.exists())?;
    if typed.contains(['.', '/', '\\']) {
        return None;
    }
    let program = Cli::command();
    let commands: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    nearest(typed, commands).map(str::to_owned)
}
