//! Applies changes to a loaded set and saves it, or previews them.

use super::changes::changes;
use super::output::Paint;
use super::save::{Agreed, refuse_empty, refuse_lost, save, show_plan};
use super::unsafe_characters::plain;
use super::values::refused_urls;
use super::{Failure, Status, Streams};
use crate::check::Profile;
use crate::document::diff::Kind;
use crate::files::{Action, is_stream};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::command::Command;
use crate::session::edit::DefaultScope;
use crate::session::edit::{Change, Intent};
use crate::session::prepare;
use crate::session::run::CommandOutcome;
use crate::session::store::verify;
use crate::session::store::verify::Inspection;
use crate::words::counted;
use std::io;
use std::path::Path;

/// Whether and where changes are saved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saving<'a> {
    /// Print what would change, and write nothing.
    pub(super) dry_run: bool,
    /// List what would change, and write nothing.
    pub(super) check: Option<Check<'a>>,
    /// Write to another path.
    pub(super) output: Option<&'a Path>,
    /// Which questions of a save were answered by options.
    pub(super) agreed: Agreed,
    /// Whether a change that makes URLs invalid or duplicate is refused.
    pub(super) refuses_faults: bool,
}

impl Saving<'_> {
    /// Refuses invalid or duplicate URLs if [`Saving::refuses_faults`] is set.
    fn refuse(&self, faults: Option<&str>) -> Result<(), Failure> {
        faults.filter(|_| self.refuses_faults).map_or(Ok(()), |faults| Err(refused_urls(faults)))
    }
}

/// What `--check` compares the rows with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check<'a> {
    /// The result of the command.
    Changes,
    /// A rules file.
    Rules(&'a Path),
}

impl Check<'_> {
    /// Notes the number of listed changes. The status is [`Status::Findings`] if there are any.
    pub(super) fn finish(self, count: u64, streams: &mut Streams<'_>) -> Status {
        let words = match (self, count) {
            (Self::Changes, 0) => "nothing would change".to_owned(),
            (Self::Changes, _) => format!("{} would be made", counted(count, "change")),
            (Self::Rules(file), 0) => format!("all rows obey {}", file.display()),
            (Self::Rules(file), 1) => format!("1 row does not obey {}", file.display()),
            (Self::Rules(file), _) => format!("{} do not obey {}", counted(count, "row"), file.display()),
        };
        streams.note(&words);
        streams.edited.is_changed |= count > 0;
        if count > 0 { Status::Findings } else { Status::Fine }
    }
}

/// Applies a change and saves; see [`edit_all`].
pub(super) fn edit_change(
    mut session: Session,
    change: &Change,
    saving: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut done = Vec::new();
    if saving.dry_run {
        let intent = prepare::intend(session.view(), change, &Progress::default())?;
        done.push(dry_run_message(&intent, session.view().profile()));
    }
    let report = session.change(change)?;
    saving.refuse(report.faults.as_deref())?;
    if !saving.dry_run {
        done.push(report.message);
    }
    save_done(session, &done, saving, streams)
}

/// Runs commands in order and saves once. A dry run changes the set in memory only, and prints the plan and the diffs
/// of a save.
pub(super) fn edit_all(
    mut session: Session,
    commands: &[Command],
    saving: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut done = Vec::new();
    for command in commands {
        if saving.dry_run
            && let Some(intent) = prepare::preview(session.view(), command, DefaultScope::All, &Progress::default())?
        {
            done.push(dry_run_message(&intent, session.view().profile()));
        }
        if let CommandOutcome::Done(report) = session.run(command, DefaultScope::All)? {
            saving.refuse(report.faults.as_deref())?;
            if !saving.dry_run {
                done.push(report.message);
            }
        }
    }
    save_done(session, &done, saving, streams)
}

/// Saves a changed session and prints the messages in `done`. A dry run prints the plan and the diffs of a save
/// instead.
pub(super) fn save_done(
    mut session: Session,
    done: &[String],
    saving: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    refuse_lost(&session, saving.output)?;
    if let Some(check) = saving.check {
        let count = changes(session.view(), streams.out)?;
        return Ok(check.finish(count, streams));
    }
    streams.edited.is_changed |= session.is_modified();
    // A copy may contain repairs although no command changed a row.
    let words = |words: &String| if saving.output.is_some() { without_claim(words) } else { words.clone() };
    let done: &[String] = &done.iter().map(words).collect::<Vec<_>>();
    if saving.dry_run {
        streams.note_all(done);
        if session.is_modified() {
            let to = saving.output.filter(|path| !is_stream(path));
            let plan = session.plan(to);
            show_plan(&plan, streams)?;
            let mut notes = Vec::new();
            show_diffs(&verify::inspect(&session, plan), streams.colour, streams.out, &mut notes)?;
            for note in &notes {
                streams.note(note);
            }
            refuse_empty(&session.plan(to), saving.agreed)?;
        }
        return Ok(Status::Fine);
    }
    // Messages are printed after the save: before it, nothing has changed.
    save(&mut session, (saving.output, done), saving.agreed, streams)?;
    Ok(Status::Fine)
}

/// Replaces “nothing changed” by “no row changed”: a written file may still contain repairs.
pub(super) fn without_claim(words: &str) -> String {
    words.strip_prefix("nothing changed: ").map_or_else(|| words.to_owned(), |why| format!("no row changed: {why}"))
}

/// Maximum lines of one file's diff that a dry run prints.
const DIFF_LINES: usize = 400;

/// Prints the diff of each file that a save would write, and adds notes about shortened diffs.
pub(super) fn show_diffs(
    inspection: &Inspection,
    colour: bool,
    out: &mut dyn io::Write,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    let diffs = inspection.diffs(DIFF_LINES, &Progress::default()).unwrap_or_default();
    for file in diffs.iter().filter(|file| !file.diff.lines.is_empty()) {
        let name = plain(&file.name);
        let (before, after) = match file.action {
            Action::Created => ("/dev/null".to_owned(), format!("b/{name}")),
            Action::Removed => (format!("a/{name}"), "/dev/null".to_owned()),
            _ => (format!("a/{name}"), format!("b/{name}")),
        };
        writeln!(out, "--- {before}\n+++ {after}")?;
        for line in &file.diff.lines {
            let text = plain(&line.text);
            let text = match line.kind {
                Kind::HunkHeader => Paint::Blue.on(text, colour),
                Kind::Removed => Paint::Red.on(text, colour),
                Kind::Added => Paint::Green.on(text, colour),
                Kind::Context => text,
            };
            writeln!(out, "{text}")?;
        }
        if file.diff.more > 0 {
            notes.push(format!("{name}: {} more in its diff", counted(file.diff.more as u64, "place")));
        }
    }
    Ok(())
}

/// The message of a dry run about one command.
pub(super) fn dry_run_message(intent: &Intent, profile: Profile) -> String {
    let left = intent.increase_message(profile).map_or_else(String::new, |left| format!("; {left}"));
    format!("dry run, nothing is written: {}{left}", intent.description())
}
