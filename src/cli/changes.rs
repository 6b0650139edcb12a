//! Prints unsaved changes, and for `:verify` the bytes that a save would change.

use super::unsafe_characters::plain;
use super::{Failure, Streams};
use crate::document::RowState;
use crate::files::Action;
use crate::progress::Progress;
use crate::session::Session;
use crate::session::state::Snapshot;
use crate::session::store::pending;
use crate::session::store::pending::{Entry, Pending};
use crate::session::store::verify;
use crate::words::{counted, grouped};
use std::io;

/// Prints a line for each change (sign, URL, differences) and returns their number.
pub(super) fn changes(snapshot: &Snapshot, out: &mut dyn io::Write) -> io::Result<u64> {
    let pending = pending(snapshot);
    changed_files(snapshot, &pending, out)?;
    changed_rows(snapshot, &pending, out)?;
    Ok(pending.entries.len() as u64)
}

pub(super) fn pending(snapshot: &Snapshot) -> Pending {
    snapshot.pending("", &Progress::default()).unwrap_or_default()
}

/// Prints the files whose text around entries is changed.
pub(super) fn changed_files(snapshot: &Snapshot, pending: &Pending, out: &mut dyn io::Write) -> io::Result<()> {
    for entry in &pending.entries {
        if let Entry::File(file) = entry {
            writeln!(out, "~ {}  {AROUND}", plain(&snapshot.file_name(*file)))?;
        }
    }
    Ok(())
}

/// The label of a change of the text around entries.
pub(super) const AROUND: &str = "text around its entries";

/// Prints the changed rows.
pub(super) fn changed_rows(snapshot: &Snapshot, pending: &Pending, out: &mut dyn io::Write) -> io::Result<()> {
    for entry in &pending.entries {
        let row = match entry {
            Entry::File(_) => continue,
            Entry::Undone(row) => {
                writeln!(out, "- {}", plain(&snapshot.saved.loc(*row)))?;
                continue;
            }
            Entry::Row(row) => *row,
        };
        let sign = match snapshot.document.compare(&snapshot.saved).row_state(row) {
            RowState::Added => '+',
            RowState::Deleted => '-',
            RowState::Changed => '~',
            RowState::Clean => '^',
        };
        write!(out, "{sign} {}", plain(&snapshot.document.loc(row)))?;
        if snapshot.document.compare(&snapshot.saved).row_state(row) == RowState::Changed {
            for part in pending::differences(snapshot, row) {
                let value = |value: &Option<String>| value.as_deref().map_or_else(|| "none".to_owned(), plain);
                write!(out, "  {} {} -> {}", part.name, value(&part.before), value(&part.after))?;
            }
        }
        let moved = if pending.moved.contains(row.0) { "  moved" } else { "" };
        writeln!(out, "{moved}")?;
    }
    Ok(())
}

/// Prints a line for each file with its hashes, and one for each range of bytes that differs.
pub(super) fn verify(session: &Session, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let proofs = verify::inspect(session, session.plan(None)).prove(&Progress::default()).unwrap_or_default();
    for proof in &proofs {
        let hash = |one: Option<(u64, u64)>| {
            one.map_or_else(|| "nothing".to_owned(), |(len, hash)| format!("{hash:016x} ({} bytes)", grouped(len)))
        };
        let name = plain(&proof.name);
        if proof.action == Action::Untouched {
            writeln!(streams.out, "same       {name}  {}", hash(proof.before))?;
        } else {
            writeln!(streams.out, "differs    {name}  {} -> {}", hash(proof.before), hash(proof.after))?;
            for span in &proof.spans {
                let (before, after) = (&span.before, &span.after);
                writeln!(streams.out, "  {}..{} -> {}..{}", before.start, before.end, after.start, after.end)?;
            }
            let spans = counted(proof.spans.len() as u64, "place");
            writeln!(streams.out, "  {spans}; the other {} bytes are the same", grouped(proof.same))?;
        }
        if let Some(fault) = &proof.fault {
            streams.note(&format!("{name}: {fault}"));
        }
    }
    match proofs.iter().find(|proof| proof.fault.is_some()) {
        Some(proof) => Err(Failure::Usage(
            format!("{} does not match its plan", plain(&proof.name)),
            "read the files again".to_owned(),
        )),
        None => Ok(()),
    }
}
