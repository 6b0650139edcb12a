//! The command grammar of the `:` line, scripts and subcommands: text to [`Command`] and back.
//!
//! Parsing decides everything that can be decided without the document; it reads no clock and no
//! file. [`TABLE`] lists the commands, and help, completion and the manual come from it.

mod complete;
mod data_value;
mod extend;
mod parse;
mod replace;
mod script;
mod table;
mod value;

pub use complete::{COLUMNS, THEMES, completions};
pub use parse::parse;
pub use script::script;
pub use table::{TABLE, spec};

pub(crate) use complete::path_argument;
pub(crate) use replace::{Replace, Targets};
pub(crate) use script::ScriptLine;
pub(crate) use table::{Arguments, Spec};

pub(in crate::session) use data_value::DataValue;

use crate::check::Profile;
use crate::document::query::scan::{quoted, quoted_if_needed};
use crate::document::query::{Query, QueryError, Vocabulary};
use crate::document::sort::{SortError, SortKey, to_text};
use crate::files::backup::When;
use crate::files::dates::TimeSource;
use crate::protocol::Field;
use crate::xml::extension_edit::ExtensionChange;
use std::fmt;
use std::ops::Range;
use unicode_width::UnicodeWidthStr;

/// Option of `set-base-url`: write the entries of the index below the URL.
const REWRITE_INDEX: &str = "--rewrite-index";

/// Option of `probe`: also request addresses that are not public.
const ALLOW_PRIVATE: &str = "--allow-private";
/// Option of `probe`: the maximum requests per second to one host.
const RATE: &str = "--rate";
/// Option of `probe`: the maximum concurrent requests to one host.
const CONCURRENCY: &str = "--concurrency";

/// Option of `open`: the folder that the files go into.
const INTO: &str = "--into";

/// A parsed command.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Set fields of rows.
    Set {
        /// The rows that change.
        scope: Scope,
        /// At least one, each field once.
        assignments: Vec<Assignment>,
    },
    /// Rewrite URLs with a regular expression.
    Replace {
        /// The rows that change.
        scope: Scope,
        /// The expression and the replacement.
        replace: Replace,
    },
    /// Add, change, remove extensions.
    Extend {
        /// The rows that change.
        scope: Scope,
        /// At least one, all of one kind.
        changes: Vec<ExtensionChange>,
    },
    /// Append rows with these URLs.
    Add(Vec<String>),
    /// Delete rows.
    Delete(Scope),
    /// Delete all other rows.
    Keep(Scope),
    /// Put a copy after each of these rows.
    Duplicate(Scope),
    /// Restore rows as they were saved.
    Revert(Scope),
    /// Show only matching rows; `None` shows all again.
    Filter(Option<Query>),
    /// Mark rows.
    Mark(Scope),
    /// Unmark rows.
    Unmark(Scope),
    /// Change all marks at once.
    Marks(Marks),
    /// Sort the view; no keys: back to the file order.
    Sort(Vec<SortKey>),
    /// Make the view's order the order of the files.
    ApplyOrder,
    /// Move the cursor.
    Goto(Goto),
    /// Move to the next matching row.
    Search(Query),
    /// Undo this many steps.
    Undo(u32),
    /// Redo this many steps.
    Redo(u32),
    /// Show the steps, or the commands that repeat them without a screen.
    History {
        /// Whether to show the commands.
        as_commands: bool,
    },
    /// Append the last bulk change to a rules file.
    KeepRule(Option<String>),
    /// Save.
    Write {
        /// To another path.
        path: Option<String>,
        /// Also if another program has changed the file.
        force: bool,
    },
    /// Save and quit.
    WriteQuit,
    /// Quit; asks when there are unsaved changes, unless they are to be discarded.
    Quit {
        /// Discard unsaved changes.
        discard: bool,
    },
    /// Read the file again; refused when there are unsaved changes, unless they are to be discarded.
    Reload {
        /// Discard unsaved changes.
        discard: bool,
    },
    /// Download the sitemaps of a site and open them; refused when there are unsaved changes, unless they are to be
    /// discarded.
    Open {
        /// The URL of a site, a sitemap or an index.
        url: String,
        /// The folder that the files go into.
        into: Option<String>,
        /// Discard unsaved changes.
        discard: bool,
    },
    /// Apply fixes.
    Fix {
        /// The rows that change.
        scope: Scope,
        /// Rule codes or patterns; none: every rule whose fix is safe.
        rules: Vec<String>,
        /// The answer to the question of a single rule that can be fixed in several ways.
        answer: Option<String>,
    },
    /// Show the findings, or write them to a file as Markdown.
    Check(Option<String>),
    /// List the unsaved changes.
    Changes,
    /// Show the files that a save would write.
    Plan,
    /// Check whether other programs changed the files.
    Outside,
    /// Set when saves back up the files that they replace.
    Backup(When),
    /// Show the changes that a save would make, byte by byte.
    Verify,
    /// Set the public base URL of the set.
    SetBaseUrl(String),
    /// Set the base URL, and write the entries of the index below it.
    RebaseIndex(String),
    /// Show help, on a topic if one is given.
    Help(Option<String>),
    /// Set the profile.
    Profile(Profile),
    /// Load, list or unload data columns.
    Data(DataCommand),
    /// Request URLs of the site, or save the results.
    Probe(ProbeCommand),
    /// Check the set against the policy of a file; `None` removes the policy.
    Policy(Option<String>),
    /// Choose the colours.
    Theme(String),
    /// Choose the columns, in this order.
    Columns(Vec<String>),
}

/// The rows that a command selects.
///
/// Neither part given: the marked rows, else the current one; without a screen, which has no current
/// row, all of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// `%`: all rows that the view shows.
    pub shown: bool,
    /// `where`: of those rows (of all rows, without `%`) the matching ones.
    pub query: Option<Query>,
}

impl Scope {
    /// Whether the rows depend on marks and cursor.
    pub const fn is_default(&self) -> bool {
        !self.shown && self.query.is_none()
    }
}

/// One `FIELD=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The field that is set.
    pub field: Field,
    /// The text as typed: a value, `none`, or a form that depends on the old value or the clock
    /// (`today`, `now`, `+7d`, `+0.1`); it is valid for its field.
    pub typed: String,
}

impl Assignment {
    /// Whether each row gets the value that a data column has for its URL.
    pub fn is_from_data(&self) -> bool {
        DataValue::parse(&self.typed).is_some()
    }
}

/// An action of `marks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// Invert the marks of the shown rows.
    Invert,
    /// Mark all rows that are shown.
    All,
    /// Unmark all rows.
    None,
}

impl Marks {
    /// All values with their names.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Invert, "invert"), (Self::All, "all"), (Self::None, "none")];

    /// The name in `:marks`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(marks, _)| *marks == self).map_or("", |(_, name)| name)
    }
}

/// An action of `data`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataCommand {
    /// List the columns.
    List,
    /// List the URLs of the data that no row has.
    Missing,
    /// Unload the data.
    Off,
    /// Read tables.
    Read(Tables),
    /// Find when the sources of the pages were changed.
    Dates(SourceDates),
}

/// The source of the dates of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDates {
    /// The folder of the sources, and how their times are read.
    pub source: TimeSource,
    /// Mappings from URLs to sources; none: the usual layouts.
    pub maps: Vec<String>,
}

/// An action of `probe`.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeCommand {
    /// Request the URLs of rows.
    Request {
        /// The rows whose URLs are requested; without a query and rows: the marked rows, else all.
        scope: Scope,
        /// Limits of the requests.
        options: ProbeOptions,
    },
    /// Write the results to a file.
    Write(String),
}

/// Options of `probe`; a limit is `None` if it is not given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProbeOptions {
    /// Whether addresses that are not public may be requested.
    pub allow_private: bool,
    /// The maximum requests per second to one host; 0 means no limit.
    pub rate: Option<f64>,
    /// The maximum concurrent requests to one host.
    pub concurrency: Option<u16>,
}

impl fmt::Display for ProbeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.rate.map(|rate| format!("{RATE} {rate}"));
        let concurrency = self.concurrency.map(|count| format!("{CONCURRENCY} {count}"));
        let private = self.allow_private.then(|| ALLOW_PRIVATE.to_owned());
        f.write_str(&joined([rate, concurrency, private].into_iter().flatten()))
    }
}

/// Tables to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// The files, in order: a later value replaces an earlier one.
    pub paths: Vec<String>,
    /// The name of the column of URLs, or its number from 1; `None` detects it.
    pub key: Option<String>,
    /// Whether to replace the loaded data instead of adding to it.
    pub replace: bool,
}

/// The target of `goto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goto {
    /// The row of this number, from 1.
    Row(u32),
    /// The last row.
    Last,
}

/// A syntax error in a command line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The byte range of the error in the line; empty at the end of the line.
    pub span: Range<usize>,
    /// The error or the expected input, in one line without a full stop.
    pub message: String,
    /// An example of the command; may be empty.
    pub hint: String,
}

impl CommandError {
    /// Creates an error at a byte range of the line.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: String::new() }
    }

    /// The line with the error underlined, for a terminal or a log:
    ///
    /// ```text
    /// set priority=high
    ///              ^^^^ expected a number from 0.0 to 1.0
    /// ```
    pub fn picture(&self, line: &str) -> String {
        let before = line.get(..self.span.start).unwrap_or(line);
        let marked = line.get(self.span.clone()).unwrap_or_default();
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (indent, marks) = (before.width(), marked.width().max(1));
        format!("{line}\n{:indent$}{} {}", "", "^".repeat(marks), self.message)
    }

    /// This error in a text with `by` more bytes in front.
    fn shifted(mut self, by: usize) -> Self {
        self.span = self.span.start + by..self.span.end + by;
        self
    }
}

impl From<QueryError> for CommandError {
    fn from(error: QueryError) -> Self {
        Self::new(error.span, error.message)
    }
}

impl From<SortError> for CommandError {
    fn from(error: SortError) -> Self {
        Self::new(error.span, error.message)
    }
}

impl Command {
    /// The scope of a command that changes rows.
    pub const fn scope(&self) -> Option<&Scope> {
        match self {
            Self::Set { scope, .. }
            | Self::Replace { scope, .. }
            | Self::Extend { scope, .. }
            | Self::Delete(scope)
            | Self::Keep(scope)
            | Self::Duplicate(scope)
            | Self::Revert(scope)
            | Self::Fix { scope, .. } => Some(scope),
            _ => None,
        }
    }

    /// The mutable scope of a command that changes rows.
    pub const fn scope_mut(&mut self) -> Option<&mut Scope> {
        match self {
            Self::Set { scope, .. }
            | Self::Replace { scope, .. }
            | Self::Extend { scope, .. }
            | Self::Delete(scope)
            | Self::Keep(scope)
            | Self::Duplicate(scope)
            | Self::Revert(scope)
            | Self::Fix { scope, .. } => Some(scope),
            _ => None,
        }
    }

    /// Whether the command changes rows, their order or their files, so that it can be undone.
    pub const fn changes_rows(&self) -> bool {
        self.scope().is_some() || matches!(self, Self::Add(_) | Self::ApplyOrder | Self::RebaseIndex(_))
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without quotes the word would begin the scope.
        let value = if self.typed == "where" { quoted(&self.typed) } else { quoted_if_needed(&self.typed) };
        write!(f, "{}={value}", self.field.name())
    }
}

impl Assignment {
    /// Parses `FIELD=VALUE` as a shell passes it, so that quotes are not special.
    pub fn from_argument(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Self, CommandError> {
        parse::argument(text, vocabulary)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { scope, assignments } => scope.write(f, "set", &joined(assignments)),
            Self::Replace { scope, replace } => scope.write(f, &replace.to_string(), ""),
            Self::Extend { scope, changes } => scope.write(f, "ext", &extend::to_text(changes)),
            Self::Add(urls) => write!(f, "add {}", joined(urls.iter().map(|url| url_word(url)))),
            Self::Delete(scope) => scope.write(f, "delete", ""),
            Self::Keep(scope) => scope.write(f, "keep", ""),
            Self::Duplicate(scope) => scope.write(f, "duplicate", ""),
            Self::Revert(scope) => scope.write(f, "revert", ""),
            Self::Filter(Some(query)) => write!(f, "filter {query}"),
            Self::Filter(None) => f.write_str("nofilter"),
            Self::Mark(scope) => scope.write(f, "mark", ""),
            Self::Unmark(scope) => scope.write(f, "unmark", ""),
            Self::Marks(marks) => write!(f, "marks {}", marks.name()),
            Self::Sort(keys) if keys.is_empty() => f.write_str("nosort"),
            Self::Sort(keys) => write!(f, "sort {}", to_text(keys)),
            Self::ApplyOrder => f.write_str("apply-order"),
            Self::Goto(Goto::Row(row)) => write!(f, "goto {row}"),
            Self::Goto(Goto::Last) => f.write_str("goto $"),
            Self::Search(query) => write!(f, "/{query}"),
            Self::Undo(1) => f.write_str("undo"),
            Self::Undo(steps) => write!(f, "undo {steps}"),
            Self::Redo(1) => f.write_str("redo"),
            Self::Redo(steps) => write!(f, "redo {steps}"),
            Self::History { as_commands } => {
                f.write_str(if *as_commands { "history --as-commands" } else { "history" })
            }
            Self::KeepRule(path) => write_path(f, "keep-as-rule", path.as_deref()),
            Self::Write { path, force } => {
                let bang = if *force { "!" } else { "" };
                write_path(f, &format!("write{bang}"), path.as_deref())
            }
            Self::WriteQuit => f.write_str("wq"),
            Self::Quit { discard } => f.write_str(if *discard { "quit!" } else { "quit" }),
            Self::Reload { discard } => f.write_str(if *discard { "edit!" } else { "edit" }),
            Self::Open { url, into, discard } => {
                write!(f, "open{} {}", if *discard { "!" } else { "" }, url_word(url))?;
                into.as_ref().map_or(Ok(()), |into| write!(f, " {INTO} {}", url_word(into)))
            }
            Self::Fix { scope, rules, .. } if rules.is_empty() => scope.write(f, "fix", "safe"),
            Self::Fix { scope, rules, answer } => {
                let answer =
                    answer.as_deref().map(|answer| if answer == "where" { quoted(answer) } else { url_word(answer) });
                scope.write(f, "fix", &joined(rules.iter().cloned().chain(answer)))
            }
            Self::Check(path) => write_path(f, "check", path.as_deref()),
            Self::Changes => f.write_str("changes"),
            Self::Plan => f.write_str("plan"),
            Self::Verify => f.write_str("verify"),
            Self::Outside => f.write_str("outside"),
            Self::Backup(when) => write!(f, "backup {}", when.name()),
            Self::SetBaseUrl(url) => write!(f, "set-base-url {}", quoted_if_needed(url)),
            Self::RebaseIndex(url) => write!(f, "set-base-url {} {REWRITE_INDEX}", quoted_if_needed(url)),
            Self::Help(None) => f.write_str("help"),
            Self::Help(Some(topic)) => write!(f, "help {}", quoted_if_needed(topic)),
            Self::Profile(profile) => write!(f, "profile {}", profile.name()),
            Self::Policy(path) => write_path(f, "policy", path.as_deref()),
            Self::Data(data) => data.fmt(f),
            Self::Probe(ProbeCommand::Write(path)) => write_path(f, "probe write", Some(path)),
            Self::Probe(ProbeCommand::Request { scope, options }) => scope.write(f, "probe", &options.to_string()),
            Self::Theme(name) => write!(f, "theme {}", quoted_if_needed(name)),
            Self::Columns(names) => write!(f, "columns {}", names.join(",")),
        }
    }
}

impl fmt::Display for DataCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("data"),
            Self::Missing => f.write_str("data missing"),
            Self::Off => f.write_str("data off"),
            Self::Read(Tables { paths, key, replace }) => {
                let is_word = |path: &str| matches!(path, "missing" | "off") || path.starts_with("--");
                let path = |path: &String| if is_word(path) { quoted(path) } else { url_word(path) };
                let bang = if *replace { "!" } else { "" };
                write!(f, "data{bang} {}", joined(paths.iter().map(path)))?;
                key.as_ref().map_or(Ok(()), |key| write!(f, " --key {}", url_word(key)))
            }
            Self::Dates(SourceDates { source, maps }) => {
                let how = if matches!(source, TimeSource::Git(_)) { "git" } else { "mtime" };
                let folder = source.folder().to_string_lossy();
                let folder = if folder.starts_with("--") { quoted(&folder) } else { url_word(&folder) };
                write!(f, "dates {how} {folder}")?;
                maps.iter().try_for_each(|map| write!(f, " --map {}", quoted(map)))
            }
        }
    }
}

/// Writes a command that takes a path.
fn write_path(f: &mut fmt::Formatter<'_>, command: &str, path: Option<&str>) -> fmt::Result {
    match path {
        None => f.write_str(command),
        Some(path) if path.starts_with('"') || path.trim() != path => write!(f, "{command} {}", quoted(path)),
        Some(path) => write!(f, "{command} {path}"),
    }
}

impl Scope {
    /// Writes a command with its arguments and this scope.
    fn write(&self, f: &mut fmt::Formatter<'_>, command: &str, arguments: &str) -> fmt::Result {
        let range = if self.shown { "%" } else { "" };
        let space = if arguments.is_empty() { "" } else { " " };
        write!(f, "{range}{command}{space}{arguments}")?;
        match &self.query {
            Some(query) => write!(f, " where {query}"),
            None => Ok(()),
        }
    }
}

fn joined(parts: impl IntoIterator<Item = impl ToString>) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(" ")
}

/// Quotes a URL if needed. Unlike in a query, parentheses are not special.
fn url_word(url: &str) -> String {
    if url.is_empty() || url.starts_with('"') || url.contains(char::is_whitespace) {
        quoted(url)
    } else {
        url.to_owned()
    }
}

#[cfg(test)]
mod tests;
