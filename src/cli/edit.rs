//! One change of a set without a screen: previewed, or done and saved.

use super::save::{save, show_plan};
use super::{Failure, Status, Streams};
use crate::files::is_stream;
use crate::progress::Progress;
use crate::session::Session;
use crate::session::change::Intent;
use crate::session::command::Command;
use crate::session::run::{Asker, Outcome};
use crate::words::counted;
use std::io;
use std::path::Path;

/// Whether and where a change is saved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saving<'a> {
    /// Say what would change, and write nothing.
    pub(super) dry_run: bool,
    /// Write to another path.
    pub(super) output: Option<&'a Path>,
    /// Agree to the repairs of damaged files.
    pub(super) accept: bool,
}

/// Does what a command says and saves, in place or to another path; a dry run only says what it would do.
pub(super) fn edit(
    session: Session,
    command: &Command,
    how: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    edit_all(session, std::slice::from_ref(command), how, streams)
}

/// The same for commands one after the other, saved once. A dry run does them in memory, tells the first rows of each,
/// and what a save would write.
pub(super) fn edit_all(
    mut session: Session,
    commands: &[Command],
    how: &Saving<'_>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    for command in commands {
        if how.dry_run
            && let Some(intent) = session.view().preview(command, Asker::Headless, &Progress::default())?
        {
            preview(&session, &intent, streams)?;
        }
        match session.run(command, Asker::Headless)? {
            Outcome::Done(report) if !how.dry_run => streams.note(&report.message),
            _ => {}
        }
    }
    if how.dry_run {
        if session.is_modified() {
            show_plan(&session, how.output.filter(|path| !is_stream(path)), streams)?;
        }
        return Ok(Status::Fine);
    }
    save(&mut session, how.output, (false, how.accept), streams)?;
    Ok(Status::Fine)
}

/// The first rows that would change, and the sum.
fn preview(session: &Session, intent: &Intent, streams: &mut Streams<'_>) -> io::Result<()> {
    for sample in &intent.samples {
        let value = |value: &Option<String>| super::output::plain(value.as_deref().unwrap_or("none"));
        let loc = super::output::plain(&session.document().loc(sample.row));
        let (before, after) = (value(&sample.before), value(&sample.after));
        writeln!(streams.out, "{loc}: {} {before} → {after}", sample.part.name())?;
    }
    let already = match intent.already {
        0 => String::new(),
        rows => format!("; {} had it already", counted(rows, "row")),
    };
    let refused = match (intent.refused, &intent.reason) {
        (0, _) => String::new(),
        (rows, reason) => {
            format!("; {} left alone: {}", counted(rows, "row"), reason.as_deref().unwrap_or_default())
        }
    };
    streams.note(&format!("dry run, nothing is written: {}{already}{refused}", intent.label));
    Ok(())
}
