//! Shows long text on a terminal through the user's pager.

use crate::manual::Line;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// The width of the terminal, and the pager for long texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    /// Columns of the terminal.
    pub width: usize,
    /// The program with its arguments; `None`: print directly.
    pub command: Option<String>,
}

/// Maximum columns of a page, because longer lines are hard to read; also the width for files and pipes.
pub(super) const WIDEST: usize = 100;

impl Pager {
    /// The pager of this environment: `$PAGER`, else `less`, else none if `$PAGER` is empty.
    pub fn from_environment(width: usize, variable: Option<String>) -> Self {
        let command = match variable {
            Some(command) if command.trim().is_empty() => None,
            Some(command) => Some(command),
            None => Some("less -FRX".to_owned()),
        };
        Self { width, command }
    }

    /// Shows the text in the pager; false if the pager cannot be started.
    fn show(&self, text: &str) -> bool {
        let mut words = self.command.iter().flat_map(|command| command.split_whitespace());
        let Some(program) = words.next() else { return false };
        let Ok(mut child) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return false };
        // Quitting the pager early closes the pipe, which is not an error.
        let _ = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
        child.wait().is_ok()
    }
}

/// Prints a page, through the pager if there is one. Headings are bold with `colour`.
pub(super) fn print(lines: &[Line], pager: Option<&Pager>, colour: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    for line in lines {
        let (on, off) = if line.is_heading && colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        text.extend([on, &line.text, off, "\n"]);
    }
    if pager.is_some_and(|pager| pager.show(&text)) {
        return Ok(());
    }
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_printed_if_no_pager_shows_it() {
        let lines =
            [Line { text: "Title".to_owned(), is_heading: true }, Line { text: "text".to_owned(), is_heading: false }];
        let printed = |command: Option<&str>, colour| {
            let pager = Pager { width: 80, command: command.map(str::to_owned) };
            let mut out = Vec::new();
            print(&lines, Some(&pager), colour, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(printed(None, false), "Title\ntext\n");
        assert_eq!(printed(None, true), "\u{1b}[1mTitle\u{1b}[0m\ntext\n");
        assert_eq!(printed(Some("no-such-pager-here -x"), false), "Title\ntext\n");
        #[cfg(unix)]
        assert_eq!(printed(Some("true"), false), "", "the pager shows it");
    }

    #[test]
    fn an_empty_variable_means_no_pager() {
        let of = |variable: Option<&str>| Pager::from_environment(80, variable.map(str::to_owned)).command;
        assert_eq!(of(Some(" ")), None);
        assert_eq!(of(Some("more")).as_deref(), Some("more"));
        assert_eq!(of(None).as_deref(), Some("less -FRX"));
    }
}
