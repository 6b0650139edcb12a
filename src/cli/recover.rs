//! `sited recover`: shows, finishes or discards an interrupted save or unsaved changes of a crashed editor.

mod journals;

use super::args::Recover;
use super::lock::Lock;
use super::unsafe_characters::plain;
use super::{Failure, Status, Streams};
use crate::files::{self, Pending, PendingStep, RecordAction};
use crate::words::{counted, size};
use std::io;
use std::path::Path;

/// Lists, finishes or discards the interrupted saves of the set, and lists its journals.
pub(super) fn run(recover: &Recover, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if !files::is_there(&recover.path) {
        return Err(files::Error::system("read", &recover.path, io::ErrorKind::NotFound.into()).into());
    }
    let state = streams.state.clone();
    let records = files::pending_records(&recover.path, state.as_deref());
    let found = journals::journals_of(&recover.path, state.as_deref())?;
    if let Some(which) = &recover.journal {
        return journals::act(recover, journals::find_journal(&found, which)?, records.first(), streams);
    }
    let is_listing = !recover.finish && !recover.discard;
    if records.is_empty() {
        streams.note("no interrupted save is pending");
        if found.is_empty() || !is_listing {
            return Ok(Status::Fine);
        }
    }
    // No other process may save these files meanwhile.
    let is_acting = recover.finish || recover.discard;
    let _lock = if is_acting { Lock::take(streams, std::slice::from_ref(&recover.path))? } else { Lock::default() };
    for record in &records {
        if recover.discard {
            let discarded = files::discard(record)?;
            let record = record.display();
            streams.note(&if discarded.was_read {
                format!("discarded {record}: {} removed", counted(discarded.new_files as u64, "new file"))
            } else {
                format!(
                    "discarded {record}, which could not be read: new files that it named (.NAME.PROCESS-RANDOM.sited) \
                     remain until the next save"
                )
            });
        } else if recover.finish {
            if let Some(finished) = files::finish(record, state.as_deref())? {
                streams.note(&finished.to_string());
            }
        } else {
            show(record, state.as_deref(), streams)?;
        }
    }
    if is_listing {
        journals::list(&found, streams)?;
    }
    Ok(if is_acting { Status::Fine } else { Status::Findings })
}

/// Prints a commit record: its path, a line for each file, and whether it can be finished.
fn show(record: &Path, state: Option<&Path>, streams: &mut Streams<'_>) -> Result<(), Failure> {
    writeln!(streams.out, "{}", plain(&record.to_string_lossy()))?;
    let pending = match files::inspect(record, state) {
        Ok(pending) => pending,
        Err(error) => {
            writeln!(streams.out, "  {}", plain(&error.to_string()))?;
            streams.note("this record cannot be finished; --discard removes it");
            return Ok(());
        }
    };
    for step in &pending.steps {
        writeln!(streams.out, "  {}", line(step))?;
    }
    streams.note(verdict(&pending));
    Ok(())
}

/// `replace  sitemap-2.xml  12.4 KiB`.
fn line(step: &PendingStep) -> String {
    let act = match step.action {
        RecordAction::Create => "create",
        RecordAction::Replace => "replace",
        RecordAction::Remove => "remove",
    };
    let bytes = if step.action == RecordAction::Remove { String::new() } else { format!("  {}", size(step.len)) };
    let state = match &step.blocked {
        Some(why) => format!("  not possible: {why}"),
        None if step.is_done => "  done".to_owned(),
        None => String::new(),
    };
    plain(&format!("{act:<7}  {}{bytes}{state}", step.target.display()))
}

fn verdict(pending: &Pending) -> &'static str {
    match (pending.blocked().is_some(), pending.is_authentic) {
        (true, _) => "this save cannot be finished; --discard removes its record",
        (false, true) => "you made this save: the next command that writes here finishes it, or --finish does so now",
        (false, false) => {
            "your key does not authenticate this record: finish it with --finish only if you expected it, else discard it with --discard"
        }
    }
}
