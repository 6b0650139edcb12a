//! The lines of the command palette.

use super::super::state::request::Choice;
use super::items::{Item, entry, text};
use crate::session::command::{Arguments, TABLE};
use crate::tui::command::{Action, COMMANDS, Command};
use crate::tui::keymap::display_keys;
use crate::tui::theme::Role;
use crate::tui::words::Words;

/// Width of the names in lists of commands, in columns.
pub(in crate::tui::app) const NAME: usize = 18;
/// Width of the keys in lists of commands, in columns.
pub(in crate::tui::app) const KEYS: usize = 16;

/// All keys of a command, as help shows them.
pub(in crate::tui::app) fn keys_of(keys: &[&str]) -> String {
    keys.iter().map(|keys| display_keys(keys)).collect::<Vec<_>>().join("  ")
}

/// Commands whose names contain the typed letters, best match first.
pub(in crate::tui::app) fn lines(typed: &str) -> Vec<Item> {
    let typed = typed.to_lowercase();
    let mut found: Vec<(u32, &Command)> = COMMANDS
        .iter()
        .filter(|command| !matches!(command.action, Action::Palette | Action::Escape))
        .filter_map(|command| {
            let by_name = fit(command.name, &typed);
            let by_line = match_sentence(command.line, &typed).map(|cost| cost + 100);
            Some((by_name.or(by_line)?, command))
        })
        .collect();
    found.sort_by_key(|(cost, _)| *cost);
    let mut lines: Vec<(u32, Item)> = found
        .into_iter()
        .map(|(cost, command)| {
            // Name and keys are adjacent: a wide gap would make lines hard to follow.
            let words = Words::text(format!("{:NAME$}", command.name))
                .and(Role::Key, format!("{:KEYS$}", keys_of(command.keys)))
                .and(Role::Dim, command.line.replace('`', ""));
            (cost, entry(words, Words::new(), Choice::Run(command.action)))
        })
        .collect();
    // Actions precede commands that match equally well, since an action runs at once. The sort below is stable.
    lines.extend(TABLE.iter().filter_map(|spec| {
        let names = std::iter::once(&spec.name).chain(spec.aliases);
        let by_name = names.filter_map(|name| fit(name, typed.trim_start_matches(':'))).min();
        let cost = by_name.or(match_sentence(spec.about, &typed).map(|cost| cost + 100))?;
        let words = Words::text(format!("{:NAME$}", format!(":{}", spec.name)))
            .and(Role::Dim, format!("{:KEYS$}", ""))
            .and(Role::Dim, spec.about)
            .and(Role::Dim, format!("   {}", spec.example));
        let space = if spec.arguments == Arguments::Nothing || spec.arguments == Arguments::Replace { "" } else { " " };
        Some((cost, entry(words, Words::new(), Choice::Line(format!("{}{space}", spec.name)))))
    }));
    lines.sort_by_key(|(cost, _)| *cost);
    if lines.is_empty() {
        return vec![text(Words::dim("no command has this name; ? lists them all"))];
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// How well a name contains letters in this order: lower is better, `None` is no match.
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

/// The position of the typed text in a sentence; scattered letters do not match there.
fn match_sentence(sentence: &str, typed: &str) -> Option<u32> {
    sentence.to_lowercase().find(typed).map(|at| u32::try_from(at).unwrap_or(u32::MAX - 100).min(900))
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
