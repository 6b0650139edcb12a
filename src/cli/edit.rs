//! Changes a set on the command line: previews, or applies and saves.

use super::changes::changes;
use super::output::{Paint, plain};
use super::save::{Agreed, refuse_empty, refuse_lost, save, show_plan};
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

/// Whether and where a change is saved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saving<'a> {
    /// Say what would change, and write nothing.
    pub(super) dry_run: bool,
    /// List what would change, and write nothing.
    pub(super) check: Option<Check<'a>>,
    /// Write to another path.
    pub(super) output: Option<&'a Path>,
    /// What was agreed to.
    pub(super) agreed: Agreed,
    /// Whether a change is refused that makes URLs errors or duplicates.
    pub(super) refuses_faults: bool,
}

impl Saving<'_> {
    /// Refuses URLs that are errors or duplicates, where that was asked for.
    fn refuse(&self, faults: Option<&str>) -> Result<(), Failure> {
        faults.filter(|_| self.refuses_faults).map_or(Ok(()), |faults| Err(refused_urls(faults)))
    }
}

/// What a check compares the rows with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check<'a> {
    /// What the command would make of them.
    Changes,
    /// A file of rules.
    Rules(&'a Path),
}

impl Check<'_> {
    /// Notes the number of listed changes. The status tells whether there are any.
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

/// Makes a change and saves, as [`edit_all`] does what commands say.
pub(super) fn edit_change(
    mut session: Session,
    change: &Change,
    how: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut done = Vec::new();
    if how.dry_run {
        let intent = prepare::intend(session.view(), change, &Progress::default())?;
        done.push(description(&intent, session.view().profile()));
    }
    let report = session.change(change)?;
    how.refuse(report.faults.as_deref())?;
    if !how.dry_run {
        done.push(report.message);
    }
    save_done(session, &done, how, streams)
}

/// Does what commands say, one after the other, and saves once, in place or to another path. A dry run does them in memory, and tells what a save would
/// write and how that differs from what is there.
pub(super) fn edit_all(
    mut session: Session,
    commands: &[Command],
    how: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut done = Vec::new();
    for command in commands {
        if how.dry_run
            && let Some(intent) = prepare::preview(session.view(), command, DefaultScope::All, &Progress::default())?
        {
            done.push(description(&intent, session.view().profile()));
        }
        if let CommandOutcome::Done(report) = session.run(command, DefaultScope::All)? {
            how.refuse(report.faults.as_deref())?;
            if !how.dry_run {
                done.push(report.message);
            }
        }
    }
    save_done(session, &done, how, streams)
}

/// Saves what was done to a session, and says what that was; a dry run tells what a save would write.
pub(super) fn save_done(
    mut session: Session,
    done: &[String],
    how: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    refuse_lost(&session, how.output)?;
    if let Some(check) = how.check {
        let count = changes(session.view(), streams.out)?;
        return Ok(check.finish(count, streams));
    }
    streams.edited.is_changed |= session.is_modified();
    // What is written elsewhere may hold repairs, although no command changed a row.
    let words = |words: &String| if how.output.is_some() { without_claim(words) } else { words.clone() };
    let done: &[String] = &done.iter().map(words).collect::<Vec<_>>();
    if how.dry_run {
        streams.note_all(done);
        if session.is_modified() {
            let to = how.output.filter(|path| !is_stream(path));
            let plan = session.plan(to);
            show_plan(&plan, streams)?;
            let mut notes = Vec::new();
            show_diffs(&verify::inspect(&session, plan), streams.colour, streams.out, &mut notes)?;
            for note in &notes {
                streams.note(note);
            }
            refuse_empty(&session.plan(to), how.agreed)?;
        }
        return Ok(Status::Fine);
    }
    // Nothing is called done before it is saved.
    save(&mut session, (how.output, done), how.agreed, streams)?;
    Ok(Status::Fine)
}

/// Words that claim no more than that no row changed: the file that is written may differ all the same.
pub(super) fn without_claim(words: &str) -> String {
    words.strip_prefix("nothing changed: ").map_or_else(|| words.to_owned(), |why| format!("no row changed: {why}"))
}

/// The most lines of one file's diff that a dry run prints.
const DIFF_LINES: usize = 400;

/// The diff of each file that a save would write, and what to say beside it.
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
                Kind::Place => Paint::Blue.on(text, colour),
                Kind::Gone => Paint::Red.on(text, colour),
                Kind::New => Paint::Green.on(text, colour),
                Kind::Same => text,
            };
            writeln!(out, "{text}")?;
        }
        if file.diff.more > 0 {
            notes.push(format!("{name}: {} more in its diff", counted(file.diff.more as u64, "place")));
        }
    }
    Ok(())
}

/// What one command would do.
pub(super) fn description(intent: &Intent, profile: Profile) -> String {
    let left = intent.increase_message(profile).map_or_else(String::new, |left| format!("; {left}"));
    format!("dry run, nothing is written: {}{left}", intent.description())
}
