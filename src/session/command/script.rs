//! Parses a script, one command per line, completely before anything runs.
//!
//! Empty lines and lines that begin with `#` are skipped.

use crate::document::query::Vocabulary;
use crate::session::command::{Command, CommandError, parse};

/// One command of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptLine {
    /// Its line in the script, from 1.
    pub number: usize,
    /// The command.
    pub command: Command,
}

/// A syntax error in a line of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {error}")]
pub struct ScriptError {
    /// The line, from 1.
    pub number: usize,
    /// The text of the line.
    pub line: String,
    /// The error; its span is within the line.
    pub error: CommandError,
}

/// Parses all lines; stops at the first error.
pub fn script(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Vec<ScriptLine>, ScriptError> {
    let mut commands = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let number = index + 1;
        match parse(line, vocabulary) {
            Ok(command) => commands.push(ScriptLine { number, command }),
            Err(error) => return Err(ScriptError { number, line: line.to_owned(), error }),
        }
    }
    Ok(commands)
}
