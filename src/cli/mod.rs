//! The command line: everything that runs without a screen.
//!
//! Commands call the same session as the screen and print its results. Invariant: results go to standard output,
//! everything else to standard error, and a closed pipe is not an error.

pub(crate) mod apply;
pub mod args;
mod baseline;
mod bulk;
mod changes;
mod check;
pub mod clock;
mod columns;
mod convert;
mod damage;
mod data;
mod dates;
pub(crate) mod dates_options;
mod deferred;
pub(crate) mod definition;
mod destination;
pub(crate) mod diff;
mod duplicates;
mod edit;
mod explain;
mod finding_filter;
pub(crate) mod fix;
#[cfg(feature = "net")]
mod get;
#[cfg(feature = "net")]
pub(crate) mod get_options;
mod help;
mod json_text;
mod list;
mod lock;
pub(crate) mod merge;
mod meter;
#[cfg(feature = "net")]
mod notify;
#[cfg(feature = "net")]
pub(crate) mod notify_options;
mod open;
pub(crate) mod options;
pub(crate) mod output;
mod pager;
mod paths;
#[cfg(feature = "net")]
mod probe;
#[cfg(feature = "net")]
pub(crate) mod probe_options;
mod recover;
mod renaming;
mod report;
mod restore;
pub(crate) mod rows;
mod rules_file;
mod save;
mod script;
mod selection;
pub(crate) mod set;
mod set_reader;
mod sets;
#[cfg(feature = "net")]
mod signals;
#[cfg(feature = "net")]
pub(crate) mod site_options;
mod split;
mod spool;
pub(crate) mod stats;
mod table;
mod terminal_writer;
mod text_report;
mod unread_files;
mod unsafe_characters;
pub(crate) mod url_options;
mod url_paths;
mod urls;
mod values;

use crate::check::Profile;
use crate::check::policy::Policy;
use crate::check::robots::RobotsTxt;
use crate::data::DataSet;
use crate::document::query::{Query, Vocabulary};
use crate::files;
use crate::files::journal::LockedByOther;
use crate::protocol::lastmod::Now;
use crate::session::command::CommandError;
use crate::session::edit::EditError;
use crate::session::robots::robots_txt;
use crate::visible::Charset;
pub use pager::Pager;

use args::{Cli, Common, Open, Task, When};
use destination::Destination;
use renaming::{Downloads, Renaming};
use set_reader::memory_limit;
use sets::Edited;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, LineWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use terminal_writer::TerminalWriter;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Without an error.
    Fine,
    /// `check`, `diff` or `--check` found something.
    Findings,
    /// The command line is not valid.
    Usage,
    /// A file cannot be read or written.
    Files,
}

impl Status {
    /// The exit status: 0, 1, 2, 3.
    pub const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Files => 3,
        }
    }

    /// The worse of two.
    const fn worst_of(self, other: Self) -> Self {
        if other.code() > self.code() { other } else { self }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

/// The error that ended a run.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The command line is not valid; the second text is the hint.
    #[error("{0}")]
    Usage(String, String),
    /// A file or folder cannot be used for this; the second text is the hint.
    #[error("{0}")]
    Unusable(String, String),
    /// The session refused a change.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// Another process has the set open.
    #[error("{}: {held}", path.display())]
    Locked {
        /// The set.
        path: PathBuf,
        /// The process that has the lock.
        held: LockedByOther,
    },
    /// The journal of an earlier session has changes that were not saved.
    #[error("{path}: an earlier session left {what}")]
    UnsavedChanges {
        /// The paths that the set is opened by.
        path: String,
        /// The number of changes, in words.
        what: String,
        /// What the user can do.
        hint: String,
    },
    /// The results cannot be printed.
    #[error("cannot print: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// A syntax error in a text from the command line, underlined.
    fn syntax(what: &str, text: &str, error: &CommandError) -> Self {
        let picture = error.picture(text).replace('\n', "\n  ");
        Self::Usage(format!("{what} is not valid\n  {picture}"), error.hint.clone())
    }

    fn status(&self) -> Status {
        match self {
            Self::Usage(..) | Self::Edit(_) => Status::Usage,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Fine,
            Self::Unusable(..)
            | Self::File(_)
            | Self::Locked { .. }
            | Self::UnsavedChanges { .. }
            | Self::Output(_) => Status::Files,
        }
    }

    /// This failure with the path of the set, if the message does not name it.
    fn with_path(self, path: &Path) -> Self {
        let is_named = self.to_string().contains(&*path.to_string_lossy());
        match self {
            Self::Usage(message, hint) if !is_named => Self::Usage(format!("{}: {message}", path.display()), hint),
            Self::Unusable(message, hint) if !is_named => {
                Self::Unusable(format!("{}: {message}", path.display()), hint)
            }
            Self::Edit(EditError::Refused(message)) if !is_named => {
                Self::Edit(EditError::Refused(format!("{}: {message}", path.display())))
            }
            other => other,
        }
    }

    /// This failure, prefixed with the file or line that it occurred in.
    fn with_context(self, what: &str) -> Self {
        match self {
            Self::Usage(message, hint) => Self::Usage(format!("{what}: {message}"), hint),
            other => other,
        }
    }

    /// Prints the failure, with its hint on a second line.
    fn print_error(&self, notes: &mut dyn Write) {
        let hint = match self {
            Self::Usage(_, hint) | Self::Unusable(_, hint) | Self::UnsavedChanges { hint, .. } => hint,
            Self::File(error) => error.hint().unwrap_or_default(),
            Self::Locked { .. } => "nothing was changed; save and close it there, or write elsewhere with -o OUT",
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            Self::Output(_) | Self::Edit(_) => "",
        };
        print_error(&self.to_string(), hint, notes);
    }
}

/// Prints an error and its hint. A closed standard error is ignored.
fn print_error(error: &str, hint: &str, notes: &mut dyn Write) {
    // Line breaks are part of our messages; other control characters come from files.
    let without_controls =
        |text: &str| text.lines().map(|line| Charset::Unicode.visible(line)).collect::<Vec<_>>().join("\n");
    let _ = writeln!(notes, "error: {}", without_controls(error));
    if !hint.is_empty() {
        let _ = writeln!(notes, "hint: {}", without_controls(hint));
    }
}

/// Where a run prints to.
struct Streams<'w> {
    out: &'w mut dyn Write,
    notes: &'w mut (dyn Write + Send),
    /// The user's [`state_folder`], where locks are taken; `None`: nothing is locked.
    state: Option<PathBuf>,
    /// Whether an interrupted save of the files that are read is finished first: only a task that writes them may.
    finishes_saves: bool,
    /// Whether a progress line is drawn.
    meter: bool,
    /// Whether notes are omitted (`--quiet`).
    quiet: bool,
    /// Whether results may have colours.
    colour: bool,
    /// Messages about omitted files, so that a set that is opened several times reports each once.
    left_out: BTreeSet<String>,
    /// The set that notes are prefixed with, if the command has several.
    current_set: Option<String>,
    /// The files opened so far, and whether the current set has changed.
    edited: Edited,
    /// Temporary folders of downloads, and the URLs that replace their paths in the output.
    #[cfg_attr(not(feature = "net"), allow(dead_code))]
    downloads: Downloads,
}

/// The environment of a run: the state folder and the terminals.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// The user's [`state_folder`], where locks are taken; `None`: nothing is locked.
    pub state: Option<PathBuf>,
    /// Whether standard output is a terminal, which gets visible signs for control and invisible characters.
    pub terminal: bool,
    /// Whether the terminal shows colours and `NO_COLOR` is not set.
    pub colour: bool,
    /// Whether standard error is a terminal.
    pub meter: bool,
    /// A note that the system started fewer threads than requested.
    pub shortage: Option<String>,
    /// The terminal that shows pages of the manual; `None` if standard output is not a terminal.
    pub pager: Option<Pager>,
}

impl<'w> Streams<'w> {
    /// Streams to files or pipes: without progress line and colours.
    fn new(out: &'w mut dyn Write, notes: &'w mut (dyn Write + Send)) -> Self {
        let (finishes_saves, meter, quiet, colour) = (false, false, false, false);
        Self {
            out,
            notes,
            state: None,
            finishes_saves,
            meter,
            quiet,
            colour,
            left_out: BTreeSet::new(),
            current_set: None,
            edited: Edited::default(),
            downloads: Downloads::default(),
        }
    }

    /// How this run treats an interrupted save.
    fn recovery(&self) -> files::Recovery {
        files::Recovery { state: self.state.clone(), finish: self.finishes_saves }
    }

    /// Prints a note. A closed standard error stops no work.
    fn note(&mut self, text: &str) {
        if !self.quiet {
            let prefix = self.current_set.as_deref().map_or_else(String::new, |set| format!("{set}: "));
            let _ = writeln!(self.notes, "{}", Charset::Unicode.visible(&format!("{prefix}{text}")));
        }
    }

    /// Prints several notes in one write: there may be one for each row.
    fn note_all<N: AsRef<str>>(&mut self, notes: impl IntoIterator<Item = N>) {
        if self.quiet {
            return;
        }
        let prefix = self.current_set.as_deref().map_or_else(String::new, |set| format!("{set}: "));
        let mut text = String::new();
        for note in notes {
            text += &Charset::Unicode.visible(&format!("{prefix}{}", note.as_ref()));
            text.push('\n');
            if text.len() >= BUFFER {
                let _ = self.notes.write_all(text.as_bytes());
                text.clear();
            }
        }
        let _ = self.notes.write_all(text.as_bytes());
    }
}

/// Error and hint if standard input or output is not a terminal.
pub const NO_TERMINAL: (&str, &str) = (
    "the screen needs a terminal on standard input and output",
    "without one: sited check, sited list, sited set, or sited --script FILE PATH",
);

/// Error and hint if the system cannot start a thread.
pub const NO_THREAD: (&str, &str) = (
    "the screen needs threads, and the system cannot start any (ulimit -u shows the limit)",
    "end other programs or raise the limit; sited check, sited list and sited set work without threads",
);

/// What the caller of [`run`] does next.
#[derive(Debug)]
pub enum Next {
    /// Exit.
    End(Status),
    /// Open the screen.
    Screen(Box<Screen>),
}

/// The options of the screen.
#[derive(Debug, Clone)]
pub struct Screen {
    /// The paths to open; if empty, the sitemap of this folder, else the sample.
    pub paths: Vec<PathBuf>,
    /// How to read files.
    pub options: files::Options,
    /// The current time, if `--now` was given.
    pub now: Option<Now>,
    /// Whether the set is opened read-only.
    pub read_only: bool,
    /// Colours, if `--theme` was given.
    pub theme: Option<args::Theme>,
    /// The search engine that the set is checked for.
    pub profile: Profile,
    /// Whether the set may list URLs of other sites.
    pub cross_submission: bool,
    /// When a save backs up the files that it replaces.
    pub backup: files::backup::When,
    /// The user's policy.
    pub policy: Option<Arc<Policy>>,
    /// The tables of `--data`.
    pub data: Option<Arc<DataSet>>,
    /// The robots.txt of the site.
    pub robots: Option<Arc<RobotsTxt>>,
}

/// Size of the output buffer, in bytes.
const BUFFER: usize = 1 << 16;

/// Runs a command that needs no screen. Results go to `out`, everything else to `notes`.
pub fn run(cli: &Cli, env: Env, out: &mut dyn Write, notes: &mut (dyn Write + Send)) -> Next {
    let Env { state, terminal, colour, meter, shortage, pager } = env;
    let downloads = Downloads::default();
    let mut out = BufWriter::with_capacity(BUFFER, Renaming::new(out, downloads.names.clone()));
    // A note is one line; what draws the meter flushes.
    let mut notes = LineWriter::new(Renaming::new(notes, downloads.names.clone()));
    let mut for_terminal = TerminalWriter::new(&mut out);
    let out: &mut dyn Write = if terminal { &mut for_terminal } else { for_terminal.inner() };
    let colour = match cli.output.color {
        When::Auto => colour,
        When::Always => true,
        When::Never => false,
    };
    let quiet = cli.output.quiet;
    let finishes_saves = match &cli.task {
        Some(task) => task.writes_in_place(),
        None => !cli.open.read_only,
    };
    let mut streams = Streams {
        state,
        finishes_saves,
        meter: meter && !quiet,
        quiet,
        colour,
        downloads,
        ..Streams::new(out, &mut notes)
    };
    if let Some(shortage) = shortage {
        streams.note(&shortage);
    }
    let folder = cli.task.as_ref().and_then(Task::destination).map_or(Ok(()), Destination::check);
    let ready = folder.and_then(|()| data::find_log_origin(cli, &mut streams));
    let before_task = cli.task.as_ref().and_then(|_| cli.open.first_argument());
    let result = match (&cli.task, &cli.open.script) {
        (Some(_), _) if before_task.is_some() => Err(Failure::Usage(
            format!("{} comes before the command", before_task.unwrap_or_default()),
            "name the command first, then its files and options: sited check PATH --profile google".to_owned(),
        )),
        (Some(_), _) if ready.is_err() => ready.map(|()| Status::Fine),
        (Some(Task::Check(check)), _) => url_paths::check(check, &mut streams),
        (Some(Task::List(list)), _) => url_paths::list(list, &mut streams),
        (Some(Task::Set(set)), _) => set::run(set, memory_limit(), &mut streams),
        (Some(Task::Fix(fix)), _) => fix::run(fix, memory_limit(), &mut streams),
        (Some(Task::Replace(replace)), _) => rows::replace(replace, memory_limit(), &mut streams),
        (Some(Task::Add(add)), _) => rows::add(add, &mut streams),
        (Some(Task::Remove(remove)), _) => rows::remove(&remove.rows, memory_limit(), &mut streams),
        (Some(Task::Keep(keep)), _) => rows::keep(&keep.rows, memory_limit(), &mut streams),
        (Some(Task::Sort(sort)), _) => rows::sort(sort, &mut streams),
        (Some(Task::Dedupe(dedupe)), _) => rows::dedupe(dedupe, memory_limit(), &mut streams),
        (Some(Task::Split(split)), _) => split::run(split, memory_limit(), &mut streams),
        (Some(Task::Convert(convert)), _) => convert::run(convert, &mut streams),
        (Some(Task::Completions(task)), _) => definition::completions(task, &mut streams),
        (Some(Task::Man(task)), _) => definition::man(task, &mut streams),
        (Some(Task::Help(task)), _) => help::run(task, pager.as_ref(), &mut streams),
        (Some(Task::Apply(apply)), _) => apply::run(apply, memory_limit(), &mut streams),
        (Some(Task::Merge(merge)), _) => merge::run(merge, &mut streams),
        #[cfg(feature = "net")]
        (Some(Task::Probe(probe)), _) => probe::run(probe, &mut streams),
        #[cfg(feature = "net")]
        (Some(Task::Get(get)), _) => get::run(get, &mut streams),
        #[cfg(feature = "net")]
        (Some(Task::Notify(notify)), _) => notify::run(notify, &mut streams),
        (Some(Task::Dates(dates)), _) => dates::run(dates, memory_limit(), &mut streams),
        (Some(Task::Diff(diff)), _) => url_paths::diff(diff, &mut streams),
        (Some(Task::Stats(stats)), _) => url_paths::stats(stats, &mut streams),
        (Some(Task::Restore(restore)), _) => restore::run(restore, &mut streams),
        (Some(Task::Recover(recover)), _) => recover::run(recover, &mut streams),
        (None, Some(path)) => script::run(&cli.open, path, &mut streams),
        (None, None) => match screen(&cli.open, terminal, &mut streams) {
            Ok(screen) => return Next::Screen(Box::new(screen)),
            Err(failure) => Err(failure),
        },
    };
    // Results found before an error are printed before it.
    let flushed = streams.out.flush();
    let result = result.and_then(|status| Ok(flushed.map(|()| status)?));
    Next::End(result.unwrap_or_else(|failure| {
        failure.print_error(streams.notes);
        failure.status()
    }))
}

fn screen(open: &Open, terminal: bool, streams: &mut Streams<'_>) -> Result<Screen, Failure> {
    if let Some(command) = open.paths.first().and_then(|path| help::mistyped_command(path)) {
        let typed = open.paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        return Err(Failure::Usage(
            format!("{typed} is neither a file nor a command; did you mean sited {command}?"),
            format!("sited help lists the commands; sited ./{typed} makes a new file of that name"),
        ));
    }
    let common = &open.common;
    let now = common.now.as_ref().map(|_| common.now()).transpose()?;
    // The screen itself shows files that were not read.
    let mut options = common.reporting().limits()?;
    // Without a terminal the screen does not open, so nothing is downloaded.
    let local = if terminal { url_paths::download_for_screen(open, streams)? } else { None };
    let (paths, base_url) = local.map_or_else(|| (open.paths.clone(), None), |local| (local.paths, local.base_url));
    let here = [PathBuf::from(".")];
    let opened = if paths.is_empty() { &here } else { paths.as_slice() };
    options = files::Options { base_url: options.base_url.or(base_url), ..options }.with_recorded_base(opened);
    Ok(Screen {
        robots: robots_txt(&options, opened)?,
        data: common.data_set_of(&options)?.cloned(),
        paths,
        options,
        now,
        read_only: open.read_only,
        theme: open.theme,
        profile: common.profile.unwrap_or_default(),
        cross_submission: common.cross_submission,
        backup: common.backup.unwrap_or_default(),
        policy: open.policy.read()?,
    })
}

/// The state folder of this program: `sited` in `XDG_STATE_HOME`, else in `~/.local/state` (XDG Base Directory
/// Specification), else in `LOCALAPPDATA`. `None` if none of them is known.
pub fn state_folder(get: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    Some(absolute("XDG_STATE_HOME").or_else(home).or_else(|| absolute("LOCALAPPDATA"))?.join("sited"))
}

/// Reads `--where`.
fn filter(text: Option<&str>, common: &Common) -> Result<Option<Query>, Failure> {
    text.map(|text| query("--where", text, &common.vocabulary()?)).transpose()
}

/// Parses the query of an option. An empty query is refused: it would match every row, and usually comes from a shell
/// variable that is not set.
fn query(option: &str, text: &str, vocabulary: &Vocabulary<'_>) -> Result<Query, Failure> {
    if Query::is_blank(text) {
        let hint = match option {
            "--by" => "give section, host, month or a query such as 'path:/blog/*', or leave --by out".to_owned(),
            "--where" => "leave --where out to mean every row, or give a query such as 'path:/blog/*'".to_owned(),
            _ => "leave it out to mean every row, or give a query such as 'path:/blog/*'".to_owned(),
        };
        return Err(Failure::Usage(format!("{option}: the query is empty"), hint));
    }
    Query::parse(text, vocabulary).map_err(|error| Failure::syntax(option, text, &CommandError::from(error)))
}

/// Reads a text file that is not a sitemap; `missing_hint` is printed if it does not exist.
fn read_text_file(path: &Path, missing_hint: &str) -> Result<String, Failure> {
    files::read_text(path).map_err(|error| match path.try_exists() {
        Ok(false) => Failure::Unusable(error.to_string(), missing_hint.to_owned()),
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests;
