//! Help and the command palette.

use super::super::command::{Action, COMMANDS, Group};
use super::super::keymap::spelled;
use super::super::prompt::Prompt;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::list::{Choice, List, ListKind, blank, entry, heading};
use super::{App, Mode};
use crate::check::rule::Rule;
use crate::manual;
use crate::session::command::{Arguments, Spec, TABLE, spec};

/// Columns of the names and of the keys in lists of commands.
const NAME: usize = 18;
const KEYS: usize = 16;
/// Columns of a screen from which on help names the commands, not only their keys.
const WIDE: u16 = 100;

/// All keys of a command, as help shows them.
fn keys_of(keys: &[&str]) -> String {
    keys.iter().map(|keys| spelled(keys)).collect::<Vec<_>>().join("  ")
}

impl List {
    /// Commands whose names hold the letters typed, best first.
    pub(super) fn narrow(&mut self) {
        let typed = self.prompt.as_ref().map(|prompt| prompt.text().to_lowercase()).unwrap_or_default();
        let mut found: Vec<(u32, &super::super::command::Command)> = COMMANDS
            .iter()
            .filter(|command| !matches!(command.action, Action::Palette | Action::Escape))
            .filter_map(|command| {
                let by_name = fit(command.name, &typed);
                let by_line = says(command.line, &typed).map(|cost| cost + 100);
                Some((by_name.or(by_line)?, command))
            })
            .collect();
        found.sort_by_key(|(cost, _)| *cost);
        let mut lines: Vec<(u32, (Line, Choice))> = found
            .into_iter()
            .map(|(cost, command)| {
                // Name and keys side by side: across a wide screen the eye loses the line.
                let words = Words::text(format!("{:NAME$}", command.name))
                    .and(Role::Key, format!("{:KEYS$}", keys_of(command.keys)))
                    .and(Role::Dim, command.line.replace('`', ""));
                (cost, entry(words, Words::new(), Choice::Run(command.action)))
            })
            .collect();
        // Commands of the line come after keys that fit as well: these do it at once.
        lines.extend(TABLE.iter().filter_map(|spec| {
            let names = std::iter::once(&spec.name).chain(spec.aliases);
            let by_name = names.filter_map(|name| fit(name, typed.trim_start_matches(':'))).min();
            let cost = by_name.or(says(spec.about, &typed).map(|cost| cost + 100))?;
            let words = Words::text(format!("{:NAME$}", format!(":{}", spec.name)))
                .and(Role::Dim, format!("{:KEYS$}", ""))
                .and(Role::Dim, spec.about)
                .and(Role::Dim, format!("   {}", spec.example));
            let space =
                if spec.arguments == Arguments::Nothing || spec.arguments == Arguments::Replace { "" } else { " " };
            let line = Choice::Line(format!("{}{space}", spec.name));
            Some((cost, entry(words, Words::new(), line)))
        }));
        lines.sort_by_key(|(cost, _)| *cost);
        self.lines = lines.into_iter().map(|(_, line)| line).collect();
        if self.lines.is_empty() {
            self.lines.push((Words::dim("no command has this name; ? lists them all").into(), Choice::Read));
        }
        self.chosen = 0;
    }
}

impl App {
    /// Everything there is, from a topic on.
    pub(super) fn open_help(&mut self, topic: Option<&str>) {
        if let Some(rule) = topic.and_then(Rule::from_code) {
            return self.open_rule(rule);
        }
        if let Some(topic) = topic.filter(|topic| spec(topic).is_none())
            && self.open_value(topic)
        {
            return;
        }
        if let Some(page) = topic.filter(|topic| spec(topic).is_none()).and_then(manual::page) {
            return self.open_page(page);
        }
        let mut lines = Vec::new();
        for group in Group::ALL {
            if !lines.is_empty() {
                lines.push(blank());
            }
            lines.push(heading(group.name()));
            for command in COMMANDS.iter().filter(|command| command.group == group) {
                let keys = format!("{:KEYS$}", keys_of(command.keys));
                let name = if self.size.0 < WIDE { String::new() } else { format!("{:NAME$}", command.name) };
                let words = Words::new()
                    .and(Role::Key, keys)
                    .and(Role::Dim, name)
                    .and(Role::Text, command.line.replace('`', ""));
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
            lines.push((words.into(), Choice::Read));
        }
        lines.push(blank());
        lines.push(heading("Queries"));
        for (example, about) in QUERY_HELP {
            let words = Words::new().and(Role::Key, format!("{example:35}")).and(Role::Text, *about);
            lines.push((words.into(), Choice::Read));
        }
        let mut list = List::new(ListKind::Help, lines);
        if let Some(topic) = topic.filter(|topic| !topic.is_empty()) {
            // A command by its name, then any line that contains the topic.
            let command = spec(topic).map(usage);
            let starts = |(line, _): &(Line, Choice)| {
                line.left.pieces().iter().any(|(_, text)| command.as_deref() == Some(&**text) || *text == topic)
            };
            let says = |(line, _): &(Line, Choice)| line.left.pieces().iter().any(|(_, text)| text.contains(topic));
            let at = list.lines.iter().position(starts).or_else(|| list.lines.iter().position(says));
            match at {
                Some(at) => list.chosen = at,
                None => return self.fail(format!("no help on {topic}; :help lists all keys and commands")),
            }
        }
        self.mode = Mode::List(list);
    }

    /// A page of the manual.
    fn open_page(&mut self, page: manual::Page) {
        let lines = manual::lines(page, usize::from(self.size.0).saturating_sub(4)).into_iter().map(|line| {
            if line.is_heading { heading(&line.text) } else { (Words::text(line.text).into(), Choice::Read) }
        });
        self.mode = Mode::List(List::new(ListKind::Help, lines.collect()));
    }

    /// Commands by name.
    pub(super) fn open_palette(&mut self) {
        let mut list = List::new(ListKind::Palette, Vec::new());
        list.prompt = Some(Prompt::new("", Vec::new()));
        list.narrow();
        self.mode = Mode::List(list);
    }
}

/// How well a name holds letters in their order; less is better, `None` is not at all.
fn fit(name: &str, letters: &str) -> Option<u32> {
    let name = name.to_lowercase();
    if letters.is_empty() {
        return Some(0);
    }
    if let Some(at) = name.find(letters) {
        let starts_word = at == 0 || name.as_bytes().get(at - 1) == Some(&b' ');
        return Some(if starts_word { 0 } else { 10 } + u32::try_from(at).unwrap_or(0));
    }
    let (mut cost, mut rest) = (30, name.chars());
    for letter in letters.chars().filter(|letter| *letter != ' ') {
        let skipped = rest.by_ref().position(|other| other == letter)?;
        cost += u32::try_from(skipped).unwrap_or(u32::MAX).min(50);
    }
    Some(cost)
}

/// Where a sentence says what is typed; letters scattered over prose mean nothing.
fn says(sentence: &str, typed: &str) -> Option<u32> {
    sentence.to_lowercase().find(typed).map(|at| u32::try_from(at).unwrap_or(u32::MAX - 100).min(900))
}

const QUERY_HELP: &[(&str, &str)] = &[
    ("blog", "loc holds the word"),
    ("path:/blog/*", "loc's path is like the pattern"),
    ("priority<0.5", "compare: = != < <= > >="),
    ("lastmod<2025-03", "dates by what they mean; also today, -30d"),
    ("lastmod=none", "the value is absent"),
    ("loc~\"\\.html$\"", "regular expression"),
    ("has:image", "image, video, news, alternate, lastmod…"),
    ("is:changed", "changed, added, deleted, marked, duplicate, repaired"),
    ("rule:loc-fragment", "breaks the rule"),
    ("severity:error", "error, warning, note"),
    ("section=blog not has:image", "all of them; also or, not, ( )"),
];

/// How a command is written, as the help shows it.
fn usage(spec: &Spec) -> String {
    // One that is longer than its column still ends in a blank.
    format!(":{:34}", spec.usage() + " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_find_commands() {
        assert_eq!(fit("delete rows", "del"), Some(0));
        assert!(fit("delete rows", "rows") < fit("delete rows", "ows"));
        assert!(fit("delete rows", "drw").is_some());
        assert_eq!(fit("delete rows", "xyz"), None);
    }
}
