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

/// Behind the URL of `set-base-url`: the entries of the index are written below it.
const REWRITE_INDEX: &str = "--rewrite-index";

/// Behind `probe`: addresses that are not public may be asked.
const ALLOW_PRIVATE: &str = "--allow-private";
/// Behind `probe`: the most requests a second to one host.
const RATE: &str = "--rate";
/// Behind `probe`: the most requests at a time to one host.
const CONCURRENCY: &str = "--concurrency";

/// Behind `open URL`: the folder that the files go into follows.
const INTO: &str = "--into";

/// What someone asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Give fields of rows new values.
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
        /// What by what.
        replace: Replace,
    },
    /// Add, change, remove extensions.
    Extend {
        /// The rows that change.
        scope: Scope,
        /// At least one, all of one kind.
        acts: Vec<ExtensionChange>,
    },
    /// Append rows with these URLs.
    Add(Vec<String>),
    /// Delete rows.
    Delete(Scope),
    /// Delete all other rows.
    Keep(Scope),
    /// Put a copy after each of these rows.
    Duplicate(Scope),
    /// Put rows back as they were saved.
    Revert(Scope),
    /// Show only rows that pass; `None` shows all again.
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
    /// Move to the next row that passes.
    Search(Query),
    /// Take back so many steps.
    Undo(u32),
    /// Redo so many steps.
    Redo(u32),
    /// Show the list of steps, or the commands that do them without a screen.
    History {
        /// The commands.
        as_commands: bool,
    },
    /// Write the last bulk change down as a rule, at the end of a file of rules.
    KeepRule(Option<String>),
    /// Save.
    Write {
        /// To another path.
        path: Option<String>,
        /// Even over a file that was changed by another user meanwhile.
        force: bool,
    },
    /// Save and leave.
    WriteQuit,
    /// Leave; asks when there are unsaved changes, unless told to discard them.
    Quit {
        /// Drop unsaved changes.
        discard: bool,
    },
    /// Read the file again; refused when there are unsaved changes, unless told to discard them.
    Reload {
        /// Drop unsaved changes.
        discard: bool,
    },
    /// Download the sitemaps of a site and open them; refused when there are unsaved changes, unless told to discard them.
    Open {
        /// The URL of a site, a sitemap or an index.
        url: String,
        /// The folder that the files go into.
        into: Option<String>,
        /// Drop unsaved changes.
        discard: bool,
    },
    /// Apply fixes.
    Fix {
        /// The rows that change.
        scope: Scope,
        /// Rule codes or patterns; none: every rule whose fix is safe.
        rules: Vec<String>,
        /// How, where there are several ways: an answer that the one rule takes.
        answer: Option<String>,
    },
    /// Show the findings, or write them to a file as Markdown.
    Check(Option<String>),
    /// List the unsaved changes.
    Changes,
    /// Show what saving would write.
    Plan,
    /// Look whether others changed the files.
    Outside,
    /// When the files that a save replaces are kept.
    Backup(When),
    /// Prove what saving would change, byte by byte.
    Verify,
    /// Where the set will live.
    SetBaseUrl(String),
    /// Set the base URL, and write the entries of the index below it.
    RebaseIndex(String),
    /// Show help, on a topic if one is given.
    Help(Option<String>),
    /// Choose whose expectations count.
    Profile(Profile),
    /// What other programs know about the URLs.
    Data(DataCommand),
    /// What the site says about its pages.
    Probe(ProbeCommand),
    /// Hold the set against the policy of a file, or against none.
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
    /// `where`: of those rows (of all rows, without `%`) the ones that pass.
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
    /// What was typed: a value, `none`, or a form that depends on the old value or the clock
    /// (`today`, `now`, `+7d`, `+0.1`); known to be one of the forms of its field.
    pub typed: String,
}

impl Assignment {
    /// Whether each row gets the value that a data column has for its URL.
    pub fn is_from_data(&self) -> bool {
        DataValue::parse(&self.typed).is_some()
    }
}

/// What `marks` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// Marked rows that are shown become unmarked and the other way round.
    Invert,
    /// Mark all rows that are shown.
    All,
    /// Unmark all rows.
    None,
}

impl Marks {
    /// All, each with its word.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Invert, "invert"), (Self::All, "all"), (Self::None, "none")];

    /// The word in `:marks`.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(marks, _)| *marks == self).map_or("", |(_, name)| name)
    }
}

/// What `data` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataCommand {
    /// List the columns.
    List,
    /// List the URLs of the data that no row has.
    Missing,
    /// Forget the data.
    Off,
    /// Read tables.
    Read(Tables),
    /// Find when the sources of the pages were changed.
    Dates(SourceDates),
}

/// Where the dates of pages come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDates {
    /// The folder of the sources, and how their times are read.
    pub source: TimeSource,
    /// Mappings from URLs to sources; none: the usual layouts.
    pub maps: Vec<String>,
}

/// What `probe` does.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeCommand {
    /// Ask the site about rows.
    Ask {
        /// The rows whose URLs are requested; without a query and rows: the marked rows, else all.
        scope: Scope,
        /// How they are asked.
        options: ProbeOptions,
    },
    /// Write the answers that came to a file.
    Write(String),
}

/// How the site is asked, as far as that is said.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProbeOptions {
    /// Whether addresses that are not public may be asked.
    pub allow_private: bool,
    /// The most requests a second to one host; 0 is no limit.
    pub rate: Option<f64>,
    /// The most requests at a time to one host.
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
    /// The name of the column of URLs, or its number from 1, where it is not found by itself.
    pub key: Option<String>,
    /// Whether what is known already is dropped.
    pub replace: bool,
}

/// Where `goto` goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goto {
    /// The row of this number, from 1.
    Row(u32),
    /// The last row.
    Last,
}

/// Why a line is no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// The place in the line, in bytes; empty at the very end.
    pub span: Range<usize>,
    /// What is wrong or was expected, in one line without a full stop.
    pub message: String,
    /// What would be right: an example of the command; may be empty.
    pub hint: String,
}

impl CommandError {
    /// An error at a place.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: String::new() }
    }

    /// The line with the place underlined, for a terminal or a log:
    ///
    /// ```text
    /// set priority=high
    ///              ^^^^ expected a number from 0.0 to 1.0
    /// ```
    pub fn picture(&self, line: &str) -> String {
        let before = line.get(..self.span.start).unwrap_or(line);
        let place = line.get(self.span.clone()).unwrap_or_default();
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (indent, marks) = (before.width(), place.width().max(1));
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

    /// The same, to be replaced.
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

    /// Whether it changes rows, their order or what is around them: all that can be undone.
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
    /// Reads one `FIELD=VALUE` that a shell has already cut out, so that quotes are not special.
    pub fn from_argument(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Self, CommandError> {
        parse::argument(text, vocabulary)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { scope, assignments } => scope.write(f, "set", &joined(assignments)),
            Self::Replace { scope, replace } => scope.write(f, &replace.to_string(), ""),
            Self::Extend { scope, acts } => scope.write(f, "ext", &extend::line(acts)),
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
            Self::Probe(ProbeCommand::Ask { scope, options }) => scope.write(f, "probe", &options.to_string()),
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
    /// Writes a command with its arguments, this scope around it.
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

/// Unlike in a query, parentheses are nothing special in a list of URLs.
fn url_word(url: &str) -> String {
    if url.is_empty() || url.starts_with('"') || url.contains(char::is_whitespace) {
        quoted(url)
    } else {
        url.to_owned()
    }
}

#[cfg(test)]
mod tests;
