//! `--script FILE`: runs commands of the `:` line without a screen.
//!
//! The whole script is parsed before its first command runs; the first command that is refused ends the run.

use super::args::{Common, Open};
use super::changes::{changes, verify};
use super::damage::Damage;
use super::destination::Destination;
use super::lock::Lock;
use super::output::{FindingView, finding_text};
use super::save::{Agreed, save, show_plan};
use super::unsafe_characters::plain;
use super::values::{refuse_assignments, refuse_urls, refused_urls};
use super::{Failure, Status, Streams};
use crate::files::{self, is_stream};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::command::{Command, Scope, ScriptLine, script};
use crate::session::edit::DefaultScope;
use crate::session::edit::script_export;
use crate::session::report;
use crate::session::report::markdown;
use crate::session::rule_export;
use crate::session::rule_export::DEFAULT_RULES_FILE;
use crate::session::run::CommandOutcome;
use crate::words::counted;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Runs a script on a set.
pub(super) fn run(open: &Open, path: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let open = &Open { common: Common { policy: open.policy.read()?, ..open.common.clone() }, ..open.clone() };
    let now = open.common.now()?;
    let text = read(path)?;
    let lines = script(&text, &open.common.vocabulary()?)
        .map_err(|error| Failure::syntax(&format!("line {} of the script", error.number), &error.line, &error.error))?;
    if let Some(line) = lines.iter().find(|line| needs_screen(&line.command)) {
        let hint = "a script can change, filter, mark, check, plan and write".to_owned();
        return Err(line_failure(line, &format!("`{}` needs a screen", line.command), hint));
    }
    for line in &lines {
        if let Command::Write { path: Some(to), .. } = &line.command {
            Destination::file(Path::new(to), open.common.mkdir).check()?;
        }
    }
    if !open.force {
        lines.iter().try_for_each(|line| refuse_values(line, open))?;
    }
    let target = target(open)?;
    // Only a script that saves finishes an interrupted save.
    let saves = |line: &ScriptLine| matches!(line.command, Command::Write { .. } | Command::WriteQuit);
    streams.finishes_saves &= lines.iter().any(saves);
    let lock = if open.read_only { Lock::default() } else { Lock::take(streams, &target)? };
    let mut run = Run { open, session: open.common.open_set(&target, now, streams)?, target, lock, has_marked: false };
    run.lock.check(&run.session)?;
    Damage::of(&run.session).warn(streams);
    if open.read_only {
        run.session.set_read_only("--read-only was given");
    }
    for line in &lines {
        if !run.line(line, streams)? {
            return Ok(Status::Fine);
        }
    }
    if run.session.is_modified() {
        streams.note("the changes were not saved; `write` saves them");
    }
    Ok(Status::Fine)
}

/// A running script.
struct Run<'o> {
    open: &'o Open,
    session: Session,
    target: Vec<PathBuf>,
    lock: Lock,
    /// Whether an earlier line had the command `mark`.
    has_marked: bool,
}

impl Run<'_> {
    /// Runs one line; false ends the script.
    fn line(&mut self, line: &ScriptLine, streams: &mut Streams<'_>) -> Result<bool, Failure> {
        self.refuse_all_rows(line)?;
        self.has_marked |= matches!(line.command, Command::Mark(_));
        match self.session.run(&line.command, DefaultScope::All) {
            Err(refused) => return Err(line_failure(line, &refused.to_string(), String::new())),
            Ok(CommandOutcome::Done(report)) => {
                if let Some(faults) = report.faults.filter(|_| !self.open.force && writes_urls(&line.command)) {
                    return Err(refused_urls(&faults).with_context(&format!("line {} of the script", line.number)));
                }
                streams.note(&report.message);
            }
            Ok(CommandOutcome::Shown(words)) => streams.note(&words),
            Ok(CommandOutcome::Delegated(command)) => return self.run_here(line, &command, streams),
        }
        Ok(true)
    }

    /// Refuses lines that would affect all rows by mistake. A script has no current row, so a command without `where`
    /// is about all rows; that is not meant after a `mark` that matched no row, and deleting all rows must be explicit.
    fn refuse_all_rows(&self, line: &ScriptLine) -> Result<(), Failure> {
        let is_about_all = line.command.scope().is_some_and(Scope::is_default) && self.session.view().marks.is_empty();
        if is_about_all && self.has_marked {
            let hint = "no row matched `mark`; `%` before the command means all rows".to_owned();
            return Err(line_failure(line, "no row is marked", hint));
        }
        if is_about_all && matches!(line.command, Command::Delete(_)) {
            let hint = "give a query: `delete where QUERY`; `%delete` deletes all rows".to_owned();
            return Err(line_failure(line, "all rows would be deleted", hint));
        }
        // Keeping all rows would change nothing, so it cannot be meant.
        if is_about_all && matches!(line.command, Command::Keep(_)) {
            let hint = "give a query: `keep where QUERY`".to_owned();
            return Err(line_failure(line, "all rows would be kept", hint));
        }
        Ok(())
    }

    /// Runs a command that the session leaves to its caller, such as `write`; false ends the script.
    fn run_here(&mut self, line: &ScriptLine, command: &Command, streams: &mut Streams<'_>) -> Result<bool, Failure> {
        match command {
            Command::Write { path, force } => {
                let to = path.as_deref().map(Path::new).filter(|path| !is_stream(path));
                if let Some(to) = to.filter(|_| self.session.read_only().is_none()) {
                    self.lock.add(streams, &[to.to_path_buf()])?;
                }
                let agreed = Agreed { force: *force, ..Agreed::of(&self.open.common) };
                save(&mut self.session, (path.as_deref().map(Path::new), &[]), agreed, streams)?;
            }
            Command::WriteQuit => {
                save(&mut self.session, (None, &[]), Agreed::of(&self.open.common), streams)?;
                return Ok(false);
            }
            Command::Quit { discard } => {
                self.refuse_discarding(line, *discard)?;
                return Ok(false);
            }
            Command::Reload { discard } => {
                self.refuse_discarding(line, *discard)?;
                self.session = self.open.common.open_set(&self.target, self.open.common.now()?, streams)?;
            }
            Command::Check(Some(path)) => {
                let message = markdown::of_session(&self.session).write(Path::new(path), &Progress::default());
                let message = message.map_err(|refused| line_failure(line, &refused.to_string(), String::new()))?;
                streams.note(&message);
            }
            Command::Check(None) => {
                for finding in report::all_findings(&self.session) {
                    finding_text(streams.out, &FindingView::from(&finding), streams.colour)?;
                }
            }
            Command::Plan => show_plan(&self.session.plan(None), streams)?,
            Command::Changes => changes(self.session.view(), streams.out).map(|_| ())?,
            Command::Verify => verify(&self.session, streams)?,
            Command::History { as_commands: true } => {
                for line in script_export::of_session(&self.session) {
                    writeln!(streams.out, "{}", plain(&line))?;
                }
            }
            Command::KeepRule(path) => {
                let message =
                    rule_export::append_rule(&self.session, Path::new(path.as_deref().unwrap_or(DEFAULT_RULES_FILE)));
                let message = message.map_err(|refused| line_failure(line, &refused.to_string(), String::new()))?;
                streams.note(&message);
            }
            Command::History { as_commands: false } => {
                for step in self.session.history() {
                    writeln!(streams.out, "{}", step.label)?;
                }
            }
            Command::Data(_) => {
                let hint = "--data FILE joins tables for every line of the script".to_owned();
                return Err(line_failure(line, &format!("`{command}` needs a screen"), hint));
            }
            Command::Probe(_) => {
                let hint = "sited probe sends the requests, and --data FILE reads the results".to_owned();
                return Err(line_failure(line, &format!("`{command}` needs a screen"), hint));
            }
            other => return Err(line_failure(line, &format!("`{other}` needs a screen"), String::new())),
        }
        Ok(true)
    }

    fn refuse_discarding(&self, line: &ScriptLine, discard: bool) -> Result<(), Failure> {
        if discard || !self.session.is_modified() {
            return Ok(());
        }
        let rows = counted(u64::from(self.session.view().changed()), "changed row");
        let hint = "`write` saves them; with `!` the command drops them".to_owned();
        Err(line_failure(line, &format!("{rows} would be lost"), hint))
    }
}

/// Refuses values that `check` would report as errors, like the subcommands.
fn refuse_values(line: &ScriptLine, open: &Open) -> Result<(), Failure> {
    let refused = match &line.command {
        Command::Set { assignments, .. } => refuse_assignments(assignments, &open.common),
        Command::Add(urls) => refuse_urls(urls, &open.common),
        _ => Ok(()),
    };
    refused.map_err(|error| error.with_context(&format!("line {} of the script", line.number)))
}

/// Whether a command writes URLs from the script.
const fn writes_urls(command: &Command) -> bool {
    matches!(command, Command::Set { .. } | Command::Replace { .. })
}

fn needs_screen(command: &Command) -> bool {
    matches!(
        command,
        Command::Goto(_) | Command::Search(_) | Command::Help(_) | Command::Theme(_) | Command::Columns(_)
    )
}

fn line_failure(line: &ScriptLine, message: &str, hint: String) -> Failure {
    Failure::Usage(format!("line {} of the script: {message}", line.number), hint)
}

/// Reads a script; `-` is standard input.
fn read(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map_err(|error| files::Error::system("read", path, error))?;
        return Ok(text);
    }
    super::read_text_file(path, "a script has one command per line, as typed after the colon: set priority=0.8")
}

/// The paths of the set: those of the command line, else the sitemap of this folder.
fn target(open: &Open) -> Result<Vec<PathBuf>, Failure> {
    if !open.paths.is_empty() {
        return Ok(open.paths.clone());
    }
    let here = Path::new("");
    if files::find_in_folder(here).is_none() {
        let hint = "name it: sited --script FILE PATH".to_owned();
        return Err(Failure::Usage("this folder has no sitemap_index.xml and no sitemap.xml".to_owned(), hint));
    }
    Ok(files::find_all_in_folder(here, &files::Options::default()))
}
