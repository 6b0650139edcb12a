//! Opens the help and the command palette.

use super::super::App;
use super::super::modes::Mode;
use super::super::modes::items::{self, Item, blank, entry, heading};
use super::super::modes::list::{List, ListKind};
use super::super::modes::palette::{KEYS, NAME, keys_of};
use super::super::state::Shared;
use super::super::state::request::Choice;
use super::explain;
use crate::check::rule::Rule;
use crate::manual;
use crate::session::command::{Spec, TABLE, spec};
use crate::tui::command::{COMMANDS, Group};
use crate::tui::prompt::Prompt;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// Minimum width of a screen on which help lists the commands beside the keys, in columns.
const MIN_TWO_COLUMN_WIDTH: u16 = 100;

/// Opens help on a rule, a value or a page of the manual, or all help scrolled to a topic.
pub(in crate::tui::app) fn open_help(app: &mut App, topic: Option<&str>) {
    match help_list(&app.shared, topic) {
        Ok(list) => app.open(Mode::List(list)),
        Err(words) => app.shared.show_error(words),
    }
}

fn help_list(shared: &Shared, topic: Option<&str>) -> Result<Box<List>, String> {
    if let Some(rule) = topic.and_then(Rule::from_code) {
        return Ok(explain::rule_list(shared, rule));
    }
    if let Some(topic) = topic.filter(|topic| spec(topic).is_none()) {
        let page = || manual::page(topic).map(|page| page_list(shared, page));
        if let Some(list) = explain::value_list(shared, topic).or_else(page) {
            return Ok(list);
        }
    }
    let mut list = List::new(ListKind::Help, all_lines(shared));
    if let Some(topic) = topic.filter(|topic| !topic.is_empty()) {
        let at = line_of(&list.lines, topic);
        list.chosen = at.ok_or_else(|| format!("no help on {topic}; :help lists all keys and commands"))?;
    }
    Ok(list)
}

/// The line about a topic: a command by its name, then any line that contains the topic.
fn line_of(lines: &[Item], topic: &str) -> Option<usize> {
    let command = spec(topic).map(usage);
    let starts = |(line, _): &Item| {
        line.left.pieces().iter().any(|(_, text)| command.as_deref() == Some(&**text) || *text == topic)
    };
    let contains_topic = |(line, _): &Item| line.left.pieces().iter().any(|(_, text)| text.contains(topic));
    lines.iter().position(starts).or_else(|| lines.iter().position(contains_topic))
}

/// All keys, commands and queries.
fn all_lines(shared: &Shared) -> Vec<Item> {
    let mut lines = Vec::new();
    for group in Group::ALL {
        if !lines.is_empty() {
            lines.push(blank());
        }
        lines.push(heading(group.name()));
        for command in COMMANDS.iter().filter(|command| command.group == group) {
            let keys = format!("{:KEYS$}", keys_of(command.keys));
            let name =
                if shared.size.0 < MIN_TWO_COLUMN_WIDTH { String::new() } else { format!("{:NAME$}", command.name) };
            let words =
                Words::new().and(Role::Key, keys).and(Role::Dim, name).and(Role::Text, command.line.replace('`', ""));
            lines.push(entry(words, Words::new(), Choice::Run(command.action)));
        }
    }
    lines.push(blank());
    lines.push(heading("Commands"));
    for spec in TABLE {
        let words = Words::new()
            .and(Role::Key, usage(spec))
            .and(Role::Text, spec.about)
            .and(Role::Dim, format!("   {}", spec.example));
        lines.push(items::text(words));
    }
    lines.push(blank());
    lines.push(heading("Queries"));
    for (example, about) in QUERY_HELP {
        let words = Words::new().and(Role::Key, format!("{example:35}")).and(Role::Text, *about);
        lines.push(items::text(words));
    }
    lines
}

/// A page of the manual.
fn page_list(shared: &Shared, page: manual::Page) -> Box<List> {
    let lines = manual::lines(page, usize::from(shared.size.0).saturating_sub(4))
        .into_iter()
        .map(|line| if line.is_heading { heading(&line.text) } else { items::text(Words::text(line.text)) });
    List::new(ListKind::Help, lines.collect())
}

/// Commands by name.
pub(in crate::tui::app) fn open_palette(app: &mut App) {
    let mut list = List::new(ListKind::Palette, Vec::new());
    list.prompt = Some(Prompt::new("", Vec::new()));
    list.narrow(&app.shared);
    app.open(Mode::List(list));
}

const QUERY_HELP: &[(&str, &str)] = &[
    ("blog", "loc contains the word"),
    ("path:/blog/*", "the path of loc matches the pattern"),
    ("priority<0.5", "compare: = != < <= > >="),
    ("lastmod<2025-03", "dates compare by value; also today, -30d"),
    ("lastmod=none", "the value is absent"),
    ("loc~\"\\.html$\"", "regular expression"),
    ("has:image", "image, video, news, alternate, lastmod…"),
    ("is:changed", "changed, added, deleted, marked, duplicate, repaired"),
    ("rule:loc-fragment", "breaks the rule"),
    ("severity:error", "error, warning, note"),
    ("section=blog not has:image", "all of them; also or, not, ( )"),
];

/// The usage of a command.
fn usage(spec: &Spec) -> String {
    // A usage longer than its column still ends in a blank.
    format!(":{:34}", spec.usage() + " ")
}
