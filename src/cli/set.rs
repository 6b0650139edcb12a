//! `sited set`: new values for fields, saved.

use super::args::Set;
use super::save::save;
use super::{Failure, Status, Streams, filter};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::change::Intent;
use crate::session::command::{Assignment, Command, Scope};
use crate::session::run::{Asker, Outcome};
use crate::session::snapshot::vocabulary;
use crate::words::counted;
use std::io;

/// Sets, says what changed, saves.
pub(super) fn run(set: &Set, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = set.common.now()?;
    let command = Command::Set {
        scope: Scope { shown: false, query: filter(set.filter.as_deref(), now)? },
        assignments: assignments(&set.assignments, now)?,
    };
    let mut session = set.common.open(&set.path, now)?;
    if set.dry_run {
        let intent = session.view().preview(&command, Asker::Headless, &Progress::default())?;
        if let Some(intent) = intent {
            preview(&session, &intent, streams)?;
        }
        return Ok(Status::Fine);
    }
    if let Outcome::Done(report) = session.run(&command, Asker::Headless)? {
        streams.note(&report.message);
    }
    save(&mut session, set.output.as_deref(), false, streams)?;
    Ok(Status::Fine)
}

fn assignments(words: &[String], now: crate::protocol::lastmod::Now) -> Result<Vec<Assignment>, Failure> {
    let mut read: Vec<Assignment> = Vec::new();
    for text in words {
        let assignment = Assignment::from_argument(text, &vocabulary(now))
            .map_err(|error| Failure::text("this value", text, &error))?;
        if read.iter().any(|known| known.field == assignment.field) {
            let hint = "give each field once".to_owned();
            return Err(Failure::Usage(format!("{} is set twice", assignment.field.name()), hint));
        }
        read.push(assignment);
    }
    Ok(read)
}

/// The first rows that would change, and the sum.
fn preview(session: &Session, intent: &Intent, streams: &mut Streams<'_>) -> io::Result<()> {
    for sample in &intent.samples {
        let value = |value: &Option<String>| super::output::plain(value.as_deref().unwrap_or("none"));
        let loc = super::output::plain(&session.document().loc(sample.row));
        let (before, after) = (value(&sample.before), value(&sample.after));
        writeln!(streams.out, "{loc}: {} {before} → {after}", sample.field.name())?;
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
