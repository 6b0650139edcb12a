//! Writes bulk changes as rules for `sited apply`.

use crate::document::query::Query;
use crate::files;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::command::{Assignment, Command, parse};
use crate::session::edit::EditError;
use std::fmt::Write;
use std::path::Path;

/// The rules file that is used if none is named, in the working directory.
pub(crate) const DEFAULT_RULES_FILE: &str = "rules.toml";

/// A rule that can be written to a rules file.
#[derive(Debug)]
pub(crate) struct ExportedRule {
    /// The rule as TOML.
    text: String,
    /// A description of the rows that it applies to.
    rows: String,
}

impl ExportedRule {
    /// Appends the rule to a rules file, as `sited apply` reads it (TOML 1.0); a missing file is created. Returns a
    /// message.
    ///
    /// # Errors
    /// If the file is not a rules file or cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<String, EditError> {
        let refuse = |error: files::Error| EditError::Refused(error.to_string());
        let before = if path.exists() { files::read_text(path).map_err(refuse)? } else { String::new() };
        let is_rules = |text: &str| text.parse::<toml::Table>().is_ok();
        if !is_rules(&before) {
            return Err(EditError::Refused(format!(
                "{} is not a file of rules (TOML); choose another name",
                path.display()
            )));
        }
        let gap = if before.is_empty() {
            ""
        } else if before.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        let text = format!("{before}{gap}{}\n", self.text);
        debug_assert!(is_rules(&text), "{text}");
        files::write_atomic(path, text.as_bytes()).map_err(refuse)?;
        Ok(format!("kept in {}: {}", path.display(), self.rows))
    }
}

/// Appends the last bulk change to a rules file ([`ExportedRule::write`]).
///
/// # Errors
/// If there is no such change, if a rule cannot express it, or if the file is not a rules file or cannot be written.
pub(crate) fn append_rule(session: &Session, path: &Path) -> Result<String, EditError> {
    export_rule(session)?.write(path)
}

/// The last bulk change as a rule.
///
/// # Errors
/// If there is no such change, or if a rule cannot express it.
pub(crate) fn export_rule(session: &Session) -> Result<ExportedRule, EditError> {
    let (assignments, query) = last_rule(session)?;
    if assignments.iter().any(|assignment| assignment.field == Field::Loc) {
        return Err(EditError::Refused(
            "a rule gives lastmod, changefreq and priority; the last change was of loc".to_owned(),
        ));
    }
    let filter = query.as_ref().map(|query| format!("where = {}", toml_text(&query.to_string())));
    let mut lines: Vec<String> = ["[[rule]]".to_owned()].into_iter().chain(filter).collect();
    for assignment in &assignments {
        let typed = assignment.typed.trim();
        let value =
            if assignment.field == Field::Priority && is_float(typed) { typed.to_owned() } else { toml_text(typed) };
        lines.push(format!("{} = {value}", assignment.field.name()));
    }
    let rows = query.map_or_else(|| "all rows".to_owned(), |query| format!("where {query}"));
    Ok(ExportedRule { text: lines.join("\n"), rows })
}

/// The last change in effect that set values of several rows, as its assignments and query; if there is none, the last
/// one that set values of a single row.
fn last_rule(session: &Session) -> Result<(Vec<Assignment>, Option<Query>), EditError> {
    let history = session.history();
    let done = || history.iter().zip(session.history.commands()).filter(|(entry, _)| entry.done).rev();
    let set = |line: &String| match parse(line, &session.current.vocabulary()) {
        Ok(Command::Set { scope, assignments }) => Some((assignments, scope.query)),
        _ => None,
    };
    // Skip later edits of single cells, which the user rarely wants to export.
    let bulk =
        done().filter(|(entry, _)| entry.rows > 1).find(|(_, lines)| lines.iter().any(|line| set(line).is_some()));
    let rule = |lines: &[String]| lines.first().filter(|_| lines.len() == 1).and_then(set);
    let (found, why) = match bulk {
        Some((_, lines)) => {
            (rule(lines), "the last bulk change has no query for its rows; add one: `set … where QUERY`")
        }
        None => (done().find_map(|(_, lines)| rule(lines)), "there is no bulk change to keep; only `set` makes rules"),
    };
    found.ok_or_else(|| EditError::Refused(why.to_owned()))
}

/// Whether a text is a number with a point as TOML writes it (TOML 1.0, "Float").
fn is_float(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.')
        .is_some_and(|(ones, rest)| is_digits(ones) && is_digits(rest) && (ones == "0" || !ones.starts_with('0')))
}

/// A text as a basic string of TOML (TOML 1.0, "String").
fn toml_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
