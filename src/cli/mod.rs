//! The command line: everything that runs without a screen.
//!
//! The same core as the screen does the work; here it is only asked and printed. Invariant: results go
//! to the first writer, everything else to the second, and a reader that stops reading is no error.

use crate::session::store;
pub(crate) mod apply;
pub mod args;
mod baseline;
mod bulk;
mod changes;
mod check;
mod choose;
pub mod clock;
mod columns;
mod convert;
mod damage;
mod data;
mod dates;
pub(crate) mod dates_options;
pub(crate) mod definition;
mod destination;
pub(crate) mod diff;
mod duplicates;
mod edit;
mod explain;
pub(crate) mod fix;
#[cfg(feature = "net")]
mod get;
#[cfg(feature = "net")]
pub(crate) mod get_options;
mod help;
mod list;
mod lock;
mod locs;
pub(crate) mod merge;
mod meter;
#[cfg(feature = "net")]
mod notify;
#[cfg(feature = "net")]
pub(crate) mod notify_options;
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
pub(crate) mod set;
mod set_reader;
mod sets;
mod shown;
#[cfg(feature = "net")]
mod signals;
#[cfg(feature = "net")]
pub(crate) mod site_options;
mod split;
mod spool;
pub(crate) mod stats;
mod table;
mod text_report;
mod unread;
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
use crate::session::store::load;
use crate::session::{Session, settings};
use crate::visible::Charset;
pub use pager::Pager;

use args::{Cli, Common, Open, Task, When};
use destination::Destination;
use lock::Lock;
use renaming::{Downloads, Renaming};
use set_reader::memory_limit;
use sets::Edited;
use shown::Shown;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, LineWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// As it should.
    Fine,
    /// `check` found errors.
    Findings,
    /// What was asked for makes no sense.
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

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// What was asked for makes no sense; the second text says what would.
    #[error("{0}")]
    Usage(String, String),
    /// A file has no place for what was asked for; the second text says what has.
    #[error("{0}")]
    Place(String, String),
    /// What was asked for is not allowed here.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A file.
    #[error(transparent)]
    File(#[from] files::Error),
    /// Another process has the set open.
    #[error("{}: {held}", path.display())]
    Held {
        /// The set.
        path: PathBuf,
        /// Who has it.
        held: LockedByOther,
    },
    /// Changes of an earlier session wait to be replayed.
    #[error("{path}: an earlier session left {what}")]
    Waiting {
        /// The set, by what it is opened by.
        path: String,
        /// How many, in words.
        what: String,
        /// What to do about them.
        hint: String,
    },
    /// The results cannot be printed.
    #[error("cannot print: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// An error in a text from the command line, its place underlined.
    fn text(what: &str, text: &str, error: &CommandError) -> Self {
        let picture = error.picture(text).replace('\n', "\n  ");
        Self::Usage(format!("{what} is not valid\n  {picture}"), error.hint.clone())
    }

    fn status(&self) -> Status {
        match self {
            Self::Usage(..) | Self::Edit(_) => Status::Usage,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Fine,
            Self::Place(..) | Self::File(_) | Self::Held { .. } | Self::Waiting { .. } | Self::Output(_) => {
                Status::Files
            }
        }
    }

    /// This failure with the path of the set, if the message does not name it.
    fn about(self, path: &Path) -> Self {
        let is_named = self.to_string().contains(&*path.to_string_lossy());
        match self {
            Self::Usage(message, hint) if !is_named => Self::Usage(format!("{}: {message}", path.display()), hint),
            Self::Place(message, hint) if !is_named => Self::Place(format!("{}: {message}", path.display()), hint),
            Self::Edit(EditError::Refused(message)) if !is_named => {
                Self::Edit(EditError::Refused(format!("{}: {message}", path.display())))
            }
            other => other,
        }
    }

    /// This failure with the name of what it occurred in.
    fn inside(self, what: &str) -> Self {
        match self {
            Self::Usage(message, hint) => Self::Usage(format!("{what}: {message}"), hint),
            other => other,
        }
    }

    /// Prints the failure, with its hint on a second line.
    fn print_error(&self, notes: &mut dyn Write) {
        let hint = match self {
            Self::Usage(_, hint) | Self::Place(_, hint) | Self::Waiting { hint, .. } => hint,
            Self::File(error) => error.hint().unwrap_or_default(),
            Self::Held { .. } => "nothing was changed; save and close it there, or write elsewhere with -o OUT",
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            Self::Output(_) | Self::Edit(_) => "",
        };
        print_error(&self.to_string(), hint, notes);
    }
}

/// An error and what to do about it. There is no one left to tell when this fails.
fn print_error(error: &str, hint: &str, notes: &mut dyn Write) {
    // The lines of an error are its own; what is in them may be a file's.
    let tame = |text: &str| text.lines().map(|line| Charset::Unicode.visible(line)).collect::<Vec<_>>().join("\n");
    let _ = writeln!(notes, "error: {}", tame(error));
    if !hint.is_empty() {
        let _ = writeln!(notes, "hint: {}", tame(hint));
    }
}

/// Where a run prints to.
struct Streams<'w> {
    out: &'w mut dyn Write,
    notes: &'w mut (dyn Write + Send),
    /// The user's folder for locks; `None`: nothing is locked.
    state: Option<PathBuf>,
    /// Whether an interrupted save of what is read is finished first: only a task that writes there may.
    finishes: bool,
    /// Whether someone can see how far the work is.
    meter: bool,
    /// Whether only results and errors are wanted.
    quiet: bool,
    /// Whether results may have colours.
    colour: bool,
    /// Files that were reported as left out: a set that is opened several times reports each once.
    left_out: BTreeSet<String>,
    /// The set that notes are about, where there are several.
    about: Option<String>,
    /// What was opened and changed.
    edited: Edited,
    /// Temporary folders of downloads, and what they are called.
    #[cfg_attr(not(feature = "net"), allow(dead_code))]
    downloads: Downloads,
}

/// What is around a run: the user's folder, and who looks at what it prints.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// The user's [`state_folder`], where locks are taken; `None`: nothing is locked.
    pub state: Option<PathBuf>,
    /// Whether standard output is a terminal: what would be hidden there is shown by a sign.
    pub terminal: bool,
    /// Whether it shows colours, and no one asked for none (`NO_COLOR`).
    pub colour: bool,
    /// Whether standard error is a terminal.
    pub meter: bool,
    /// What to say where the system started fewer threads than wanted.
    pub shortage: Option<String>,
    /// The terminal that shows pages of the manual; `None`: standard output is none.
    pub pager: Option<Pager>,
}

impl<'w> Streams<'w> {
    /// Streams that no one looks at.
    fn new(out: &'w mut dyn Write, notes: &'w mut (dyn Write + Send)) -> Self {
        let (finishes, meter, quiet, colour) = (false, false, false, false);
        Self {
            out,
            notes,
            state: None,
            finishes,
            meter,
            quiet,
            colour,
            left_out: BTreeSet::new(),
            about: None,
            edited: Edited::default(),
            downloads: Downloads::default(),
        }
    }

    /// What this run may do about an interrupted save.
    fn recovery(&self) -> files::Recovery {
        files::Recovery { state: self.state.clone(), finish: self.finishes }
    }

    /// Prints a note. A closed standard error stops no work.
    fn note(&mut self, text: &str) {
        if !self.quiet {
            let about = self.about.as_deref().map_or_else(String::new, |about| format!("{about}: "));
            let _ = writeln!(self.notes, "{}", Charset::Unicode.visible(&format!("{about}{text}")));
        }
    }

    /// Prints several notes in one write: there may be one for each row.
    fn note_all<N: AsRef<str>>(&mut self, notes: impl IntoIterator<Item = N>) {
        if self.quiet {
            return;
        }
        let about = self.about.as_deref().map_or_else(String::new, |about| format!("{about}: "));
        let mut text = String::new();
        for note in notes {
            text += &Charset::Unicode.visible(&format!("{about}{}", note.as_ref()));
            text.push('\n');
            if text.len() >= BUFFER {
                let _ = self.notes.write_all(text.as_bytes());
                text.clear();
            }
        }
        let _ = self.notes.write_all(text.as_bytes());
    }
}

/// Why there is no screen, and what to use then.
pub const NO_TERMINAL: (&str, &str) = (
    "the screen needs a terminal on standard input and output",
    "without one: sited check, sited list, sited set, or sited --script FILE PATH",
);

/// Why there is no screen where the system cannot start a thread.
pub const NO_THREAD: (&str, &str) = (
    "the screen needs threads, and the system cannot start any (ulimit -u shows the limit)",
    "end other programs or raise the limit; sited check, sited list and sited set work without threads",
);

/// What is left to do after [`run`].
#[derive(Debug)]
pub enum Next {
    /// Nothing.
    End(Status),
    /// A screen was asked for.
    Screen(Box<Screen>),
}

/// What was reported about the screen.
#[derive(Debug, Clone)]
pub struct Screen {
    /// What to open; nothing: the sitemap of this folder, else the sample.
    pub paths: Vec<PathBuf>,
    /// How to read files.
    pub options: files::Options,
    /// The time it is, if it was reported.
    pub now: Option<Now>,
    /// Change nothing.
    pub read_only: bool,
    /// Colours, if they were reported.
    pub theme: Option<args::Theme>,
    /// Whose expectations count.
    pub profile: Profile,
    /// Whether the set may list URLs of other sites.
    pub cross_submission: bool,
    /// When the files that a save replaces are kept.
    pub backup: files::backup::When,
    /// What the set is held against.
    pub policy: Option<Arc<Policy>>,
    /// What other programs know about the URLs.
    pub data: Option<Arc<DataSet>>,
    /// The robots.txt of the site.
    pub robots: Option<Arc<RobotsTxt>>,
}

/// Bytes of results that are written at once.
const BUFFER: usize = 1 << 16;

/// Runs what needs no screen. Results go to `out`, everything else to `notes`.
pub fn run(line: &Cli, around: Env, out: &mut dyn Write, notes: &mut (dyn Write + Send)) -> Next {
    let Env { state, terminal, colour, meter, shortage, pager } = around;
    let downloads = Downloads::default();
    let mut out = BufWriter::with_capacity(BUFFER, Renaming::new(out, downloads.names.clone()));
    // A note is one line; what draws the meter flushes.
    let mut notes = LineWriter::new(Renaming::new(notes, downloads.names.clone()));
    let mut shown = Shown::new(&mut out);
    let out: &mut dyn Write = if terminal { &mut shown } else { shown.inner() };
    let colour = match line.look.color {
        When::Auto => colour,
        When::Always => true,
        When::Never => false,
    };
    let quiet = line.look.quiet;
    let finishes = match &line.task {
        Some(task) => task.writes_in_place(),
        None => !line.open.read_only,
    };
    let mut streams =
        Streams { state, finishes, meter: meter && !quiet, quiet, colour, downloads, ..Streams::new(out, &mut notes) };
    if let Some(shortage) = shortage {
        streams.note(&shortage);
    }
    let folder = line.task.as_ref().and_then(Task::destination).map_or(Ok(()), Destination::check);
    let ready = folder.and_then(|()| data::find_log_origin(line, &mut streams));
    let before_task = line.task.as_ref().and_then(|_| line.open.first());
    let result = match (&line.task, &line.open.script) {
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
        (None, Some(path)) => script::run(&line.open, path, &mut streams),
        (None, None) => match screen(&line.open, terminal, &mut streams) {
            Ok(screen) => return Next::Screen(Box::new(screen)),
            Err(failure) => Err(failure),
        },
    };
    // What was found before an error comes before it.
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
    // The screen shows what was not read.
    let mut options = common.reporting().limits()?;
    // Without a terminal there is no screen for which anything could be downloaded.
    let local = if terminal { url_paths::keep(open, streams)? } else { None };
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

/// The folder of this user for what outlives a run: `XDG_STATE_HOME`, else `~/.local/state` (XDG Base Directory
/// Specification), or `LOCALAPPDATA`; in it, one for this program. `None` where none of them is known.
pub fn state_folder(get: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    Some(absolute("XDG_STATE_HOME").or_else(home).or_else(|| absolute("LOCALAPPDATA"))?.join("sited"))
}

impl Common {
    /// The time it is.
    fn now(&self) -> Result<Now, Failure> {
        let Some(text) = &self.now else { return Ok(clock::system()) };
        clock::parse(text).ok_or_else(|| {
            let message = format!("--now {text}: expected a date, or a date with time and zone");
            Failure::Usage(message, "for example: --now 2026-11-20T09:14:07Z".to_owned())
        })
    }

    /// How files are read by this run.
    fn options(&self, streams: &Streams<'_>) -> Result<files::Options, Failure> {
        Ok(files::Options { recovery: streams.recovery(), ..self.limits()? })
    }

    fn limits(&self) -> Result<files::Options, Failure> {
        if let Some(error) = self.base_url.as_deref().and_then(files::base_url_error) {
            let hint = "for example: --base-url https://example.com/".to_owned();
            return Err(Failure::Usage(format!("--base-url {error}"), hint));
        }
        let (base_url, loc_column) = (self.base_url.clone(), self.loc_column.clone());
        let (require_all, robots) = (self.requires_all(), self.robots_file());
        let conflicts = match &self.conflicts {
            files::Conflicts::Refuse if self.reports_unread => files::Conflicts::Show,
            conflicts => conflicts.clone(),
        };
        let options =
            files::Options { base_url, robots, require_all, conflicts, loc_column, ..files::Options::default() };
        Ok(match self.max_bytes {
            Some(max_bytes) => options.at_most(max_bytes),
            None => options,
        })
    }

    /// Opens a set, start to end.
    fn open(&self, path: &Path, now: Now, streams: &mut Streams<'_>) -> Result<Session, Failure> {
        self.open_set(&[path.to_path_buf()], now, streams)
    }

    /// Opens a set that will be saved in place, or to `output`, unless `dry_run` says that nothing is written: then
    /// no one else changes what is written until the lock goes.
    fn open_to_change(
        &self,
        path: &Path,
        output: Option<&Path>,
        dry_run: bool,
        streams: &mut Streams<'_>,
    ) -> Result<(Session, Lock), Failure> {
        let written = [output.unwrap_or(path).to_path_buf()];
        let mut lock = if dry_run { Lock::default() } else { Lock::take(streams, &written)? };
        let session = self.open(path, self.now()?, streams)?;
        damage::Damage::of(&session).warn(streams);
        if output.is_none() {
            lock.check(&session)?;
        }
        Ok((session, lock))
    }

    /// A session that waits for the set of these paths.
    fn session(&self, paths: &[PathBuf], now: Now, streams: &Streams<'_>) -> Result<Session, Failure> {
        let mut session = settings::session_for(now, &self.limits()?.with_recorded_base(paths));
        store::save::set_state_folder(&mut session, streams.state.clone());
        session.set_profile(self.profile.unwrap_or_default());
        session.set_policy(self.policy.clone());
        session.set_site(self.data_set()?.cloned(), self.robots_txt(paths)?);
        store::save::set_backups(&mut session, self.backup.unwrap_or_default());
        if self.cross_submission {
            session.allow_other_sites();
        }
        Ok(session)
    }

    /// Opens several sitemaps as one set.
    fn open_set(&self, paths: &[PathBuf], now: Now, streams: &mut Streams<'_>) -> Result<Session, Failure> {
        let options = self.options(streams)?;
        let session = self.session(paths, now, streams)?;
        let session = streams.watched(|progress| load::open_all_watched(session, paths, options, progress))?;
        self.note_load_problems(&session, streams);
        Ok(session)
    }

    /// Notes unread files, and interrupted saves that were or were not finished.
    fn note_load_problems(&self, session: &Session, streams: &mut Streams<'_>) {
        streams.edited.open(session.files());
        self.note_omitted(session.unread(), session.document().index(), streams);
        note_recovery(session.recovered(), streams);
        if let Some(words) = store::save::dropped_columns(session) {
            streams.note(&words);
        }
    }
}

/// Notes an interrupted save that was finished; warns of one that this run leaves as it is.
fn note_recovery(recovered: &files::Recovered, streams: &mut Streams<'_>) {
    if let Some(pending) = &recovered.pending {
        let _ = writeln!(streams.notes, "warning: {}", output::plain(&pending.to_string()));
    }
    if let Some(finished) = recovered.finished {
        streams.note(&finished.to_string());
    }
}

/// Reads `--where`.
fn filter(text: Option<&str>, common: &Common) -> Result<Option<Query>, Failure> {
    text.map(|text| query("--where", text, &common.vocabulary()?)).transpose()
}

/// The query of an option. An empty one, such as that of a variable that is not set, would mean every row.
fn query(option: &str, text: &str, vocabulary: &Vocabulary<'_>) -> Result<Query, Failure> {
    if Query::is_blank(text) {
        let hint = match option {
            "--by" => "give section, host, month or a query such as 'path:/blog/*', or leave --by out".to_owned(),
            "--where" => "leave --where out to mean every row, or give a query such as 'path:/blog/*'".to_owned(),
            _ => "leave it out to mean every row, or give a query such as 'path:/blog/*'".to_owned(),
        };
        return Err(Failure::Usage(format!("{option}: the query is empty"), hint));
    }
    Query::parse(text, vocabulary).map_err(|error| Failure::text(option, text, &CommandError::from(error)))
}

/// The text of a file that is no sitemap; `hint` says where one comes from if there is none.
fn read_own(path: &Path, hint: &str) -> Result<String, Failure> {
    files::read_text(path).map_err(|error| match path.try_exists() {
        Ok(false) => Failure::Place(error.to_string(), hint.to_owned()),
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests;
