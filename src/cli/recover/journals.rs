//! Lists, prints, applies and discards journals of unsaved changes.

use super::super::args::Recover;
use super::super::clock;
use super::super::edit::{Saving, edit_all};
use super::super::lock::Lock;
use super::super::save::Agreed;
use super::super::unsafe_characters::plain;
use super::super::{Failure, Status, Streams};
use crate::files::Options;
use crate::files::journal::stored::{self, JournalFile};
use crate::protocol::lastmod::{self, Now};
use crate::session::Session;
use crate::session::store::journal;
use crate::session::store::journal::changes_in;
use crate::session::store::load;
use crate::session::store::save;
use crate::words::{counted, size};
use std::path::{Path, PathBuf};

/// Number of changes that the list shows of each journal.
const SHOWN: usize = 5;

/// The journals with changes of a set, or of the sets in a folder.
pub(super) fn journals_of(path: &Path, state: Option<&Path>) -> Result<Vec<JournalFile>, Failure> {
    let Some(state) = state else { return Ok(Vec::new()) };
    let failed = |error| crate::files::Error::system("read the journals in", state, error);
    let mut found = stored::list(state, &[path.to_path_buf()]).map_err(failed)?;
    // A journal without changes belongs to an editor that is open, or crashed before the first change.
    found.retain(|one| one.is_aside || one.stored.as_ref().map_or(true, |stored| !stored.entries.is_empty()));
    Ok(found)
}

/// The journal with this number in the list, or this name.
pub(super) fn find_journal<'f>(found: &'f [JournalFile], which: &str) -> Result<&'f JournalFile, Failure> {
    let by_number = which.parse::<usize>().ok().and_then(|number| found.get(number.checked_sub(1)?));
    by_number.or_else(|| found.iter().find(|one| one.name() == which)).ok_or_else(|| {
        let hint = "without --journal, sited recover lists them with their numbers".to_owned();
        Failure::Usage(format!("--journal {which}: this set has no such journal"), hint)
    })
}

/// Prints every journal with its first changes.
pub(super) fn list(found: &[JournalFile], streams: &mut Streams<'_>) -> Result<(), Failure> {
    for (number, one) in (1..).zip(found) {
        writeln!(streams.out, "journal {number}: {}", heading(one))?;
        let changes = changes(one);
        for line in changes.iter().take(SHOWN) {
            writeln!(streams.out, "  {}", plain(line))?;
        }
        if changes.len() > SHOWN {
            writeln!(streams.out, "  … {} more: --journal {number} prints them all", changes.len() - SHOWN)?;
        }
    }
    if !found.is_empty() {
        streams
            .note("--journal N prints a journal in full; add --apply to apply and save it, or --discard to remove it");
    }
    Ok(())
}

/// `0123….journal, set aside, 1.2 KiB, begun 2026-11-20T10:14:07Z, of /site/sitemap.xml`.
fn heading(found: &JournalFile) -> String {
    let aside = if found.is_aside { "set aside" } else { "waits for sited to open the set" };
    let rest = match &found.stored {
        Ok(stored) => {
            let now = Now { seconds: stored.header.begun, offset: 0 };
            let begun = lastmod::parse_input("now", None, now).ok().flatten().unwrap_or_default();
            format!("begun {begun}, of {}", stored.header.paths().join(" "))
        }
        Err(why) => format!("cannot be applied: {why}"),
    };
    plain(&format!("{}, {aside}, {}, {rest}", found.name(), size(found.len)))
}

fn changes(found: &JournalFile) -> Vec<String> {
    match &found.stored {
        Ok(stored) => {
            let mut changes = changes_in(&stored.entries);
            if stored.is_cut {
                changes.push("the last change is incomplete: it was being written when the session ended".to_owned());
            }
            changes
        }
        Err(_) => changes_in(&found.readable()),
    }
}

/// Prints a journal, applies it, or removes it.
pub(super) fn act(
    recover: &Recover,
    found: &JournalFile,
    pending: Option<&PathBuf>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    if recover.apply {
        return apply(recover, found, pending, streams);
    }
    if recover.discard {
        // An editor that has the set open writes its journal.
        let _lock = Lock::take(streams, &opened_by(found, recover))?;
        found.discard().map_err(|error| crate::files::Error::system("remove", &found.path, error))?;
        streams.note(&format!("removed {}", found.path.display()));
        return Ok(Status::Fine);
    }
    writeln!(streams.out, "{}", heading(found))?;
    for line in changes(found) {
        writeln!(streams.out, "  {}", plain(&line))?;
    }
    Ok(Status::Findings)
}

/// The paths that the set was opened by, according to the journal, or the path of the command.
fn opened_by(found: &JournalFile, recover: &Recover) -> Vec<PathBuf> {
    match &found.stored {
        Ok(stored) => stored.header.paths().into_iter().map(PathBuf::from).collect(),
        Err(_) => vec![recover.path.clone()],
    }
}

/// Applies a journal to its set, and saves.
fn apply(
    recover: &Recover,
    found: &JournalFile,
    pending: Option<&PathBuf>,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let refused = |why: String, hint: &str| Failure::Unusable(why, hint.to_owned());
    let stored = match &found.stored {
        Ok(stored) => stored,
        Err(why) => {
            let hint = "its files are not known; without --apply, its readable changes are printed";
            return Err(refused(format!("{} cannot be applied: {why}", found.name()), hint));
        }
    };
    if let Some(record) = pending {
        let hint = "finish or discard it first: sited recover PATH --finish, or --discard";
        return Err(refused(format!("{}: an interrupted save is pending", record.display()), hint));
    }
    let paths = opened_by(found, recover);
    let mut lock = if recover.dry_run { Lock::default() } else { Lock::take(streams, &paths)? };
    let mut session = Session::new(clock::system(), None);
    save::set_state_folder(&mut session, streams.state.clone());
    // The screen opens sets like this, and row ids in the journal are those of the screen.
    let options = Options { index_as_rows: true, ..Options::default() };
    let mut session = match paths.as_slice() {
        [only] => load::open_in(session, only, options)?,
        several => load::open_all(session, several, options)?,
    };
    lock.claim(session.files())?;
    let hint = "nothing was changed; the journal is kept";
    let (count, missing) =
        journal::apply_journal(&mut session, stored).map_err(|error| refused(error.to_string(), hint))?;
    for line in missing.lines() {
        streams.note(&line);
    }
    let saving = Saving {
        dry_run: recover.dry_run,
        check: None,
        output: None,
        agreed: Agreed { empty: true, ..Agreed::default() },
        refuses_faults: false,
    };
    let status = edit_all(session, &[], &saving, streams)?;
    if !recover.dry_run {
        streams.note(&format!("{} of {} applied", counted(count as u64, "change"), found.name()));
        // A damaged journal is kept: the skipped changes may still be readable.
        if missing.is_empty() {
            found.discard().map_err(|error| crate::files::Error::system("remove", &found.path, error))?;
        }
    }
    Ok(status)
}
