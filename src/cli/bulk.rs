//! Bulk changes on the command line: in memory for small sets, file by file for large ones.
//!
//! Both print and write the same.

use super::changes::{AROUND, changed_files, changed_rows, pending};
use super::duplicates::{KeepRow, date_of, repeated};
use super::edit::{Check, Saving, description, edit_all, edit_change, show_diffs, without_claim};
use super::lock::Lock;
use super::options::Target;
use super::output::plain;
use super::rules_file::{Ready, apply_loaded, rows_by_rule};
use super::save::{Agreed, announcement, refuse_empty, show_plan};
use super::set_reader::{self, Reopen, SetChange, SetReader, note_why_loaded};
use super::values::refused_urls;
use super::{Failure, Status, Streams};
use crate::document::rows::{RowId, RowSet};
use crate::files::{Backups, SaveMode};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::command::{Command, Scope};
use crate::session::edit::DefaultScope;
use crate::session::edit::scope;
use crate::session::edit::{Change, EditError};
use crate::session::state::Snapshot;
use crate::session::store::save::words;
use crate::session::stream::bulk::{Bulk, BulkOptions, Fallback, ScanMode, StagedChange};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::{Path, PathBuf};

/// What is done to a set.
pub(super) enum Task<'t> {
    /// What a command says.
    Command(Command),
    /// What a file of rules says.
    Rules {
        /// The rules.
        rules: &'t [Ready],
        /// Their file.
        file: &'t Path,
    },
    /// What is made of those rows that are in memory.
    Rows {
        /// A command about the rows of the same query.
        like: Command,
        /// The change of a set, or of the file of it that is in memory.
        change: &'t dyn Fn(&Snapshot) -> Result<Change, EditError>,
    },
    /// Rows of URLs that stand more than once go.
    Repeated {
        /// But for this one.
        keep: KeepRow,
        /// Whether spellings of one URL are the same.
        equivalent: bool,
    },
}

impl Task<'_> {
    fn mode(&self) -> ScanMode {
        match self {
            Self::Command(command) | Self::Rows { like: command, .. } => ScanMode::of(command),
            Self::Rules { rules, .. } if rules.iter().any(Ready::compares_rows) => ScanMode::Counted,
            Self::Rules { .. } => ScanMode::SinglePass,
            Self::Repeated { .. } => ScanMode::Counted,
        }
    }

    /// Whether and where the changes of a set are saved.
    fn saving<'a>(&'a self, target: &'a Target) -> Saving<'a> {
        let saving = target.saving();
        match self {
            Self::Rules { file, .. } => Saving { check: saving.check.map(|_| Check::Rules(file)), ..saving },
            _ => saving,
        }
    }

    /// The changes of the file that is held, each a step by its number; `gone` are the rows of a set that are repeated.
    fn changes(&self, snapshot: &Snapshot, gone: &RowSet) -> Result<Vec<(usize, Change)>, EditError> {
        Ok(match self {
            Self::Command(command) => {
                let change = scope::change_of(snapshot, command, DefaultScope::All, &Progress::default())?;
                change.into_iter().map(|change| (0, change)).collect()
            }
            Self::Rules { rules, .. } => {
                let by_rule = rules.iter().zip(rows_by_rule(snapshot, rules)).enumerate();
                let by_rule = by_rule.filter(|(_, (_, rows))| !rows.is_empty());
                let set = |rule: &Ready, rows| Change::Set { rows, assignments: rule.assignments.clone() };
                by_rule.map(|(number, (rule, rows))| (number, set(rule, rows))).collect()
            }
            Self::Rows { change, .. } => vec![(0, change(snapshot)?)],
            Self::Repeated { .. } if gone.is_empty() => Vec::new(),
            Self::Repeated { .. } => vec![(0, Change::Delete(snapshot.document.resident_set() & gone))],
        })
    }

    /// What is done to a set that is held.
    fn change_loaded(
        &self,
        mut session: Session,
        target: &Target,
        streams: &mut Streams<'_>,
    ) -> Result<Status, Failure> {
        let saving = self.saving(target);
        match self {
            Self::Command(command) => edit_all(session, std::slice::from_ref(command), &saving, streams),
            Self::Rules { rules, .. } => apply_loaded(session, rules, &saving, streams),
            Self::Rows { change, .. } => {
                let change = change(session.view())?;
                edit_change(session, &change, &saving, streams)
            }
            Self::Repeated { keep, equivalent } => {
                let rows = repeated(&session, *keep, *equivalent, &|row| date_of(&session, row));
                if rows.is_empty() {
                    streams.note(ALL_DIFFER);
                }
                session.mark(&rows, true);
                let delete = Command::Delete(Scope::default());
                let commands = if rows.is_empty() { &[][..] } else { std::slice::from_ref(&delete) };
                edit_all(session, commands, &saving, streams)
            }
        }
    }
}

/// Does a task, and saves. A set of more than `held` bytes is streamed.
pub(super) fn change(
    target: &Target,
    task: &Task<'_>,
    held: u64,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let (common, is_dry) = (&target.save.common, target.save.is_preview());
    if let Some(output) = &target.save.output {
        // A copy: its files have other names.
        let (session, _lock) = common.open_to_change(&target.path, Some(output), is_dry, streams)?;
        note_why_loaded((&session, held), "the output is another path", streams);
        return task.change_loaded(session, target, streams);
    }
    let paths = [target.path.clone()];
    let lock = if is_dry { Lock::default() } else { Lock::take(streams, &paths)? };
    let mut change = LockedChange { target, task, lock };
    set_reader::change(&mut change, common, (&paths, held), streams)
}

/// A task with the lock of the files that it writes.
struct LockedChange<'c> {
    target: &'c Target,
    task: &'c Task<'c>,
    lock: Lock,
}

impl SetChange for LockedChange<'_> {
    fn mode(&self) -> ScanMode {
        self.task.mode()
    }

    fn change_streamed(
        &mut self,
        set: &mut SetReader,
        streams: &mut Streams<'_>,
    ) -> Result<Result<Status, Reopen>, Failure> {
        stream(set, &mut self.lock, (self.target, self.task), streams)
    }

    fn change_loaded(&mut self, session: Session, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        self.lock.check(&session)?;
        self.task.change_loaded(session, self.target, streams)
    }
}

/// Output about files, held back until all of them have been changed.
struct Spool {
    /// What is changed around the entries of files, which is listed before the rows.
    around: Vec<u8>,
    file: BufWriter<File>,
    notes: Vec<String>,
    /// What is printed of files that the set gives up, by their paths.
    gone: BTreeMap<PathBuf, (Vec<u8>, Vec<String>)>,
}

impl Spool {
    fn new() -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(Self { around: Vec::new(), file, notes: Vec::new(), gone: BTreeMap::new() })
    }

    fn print(mut self, streams: &mut Streams<'_>) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(self.file.get_mut(), streams.out)?;
        for note in &self.notes {
            streams.note(note);
        }
        for (bytes, notes) in self.gone.values() {
            streams.out.write_all(bytes)?;
            for note in notes {
                streams.note(note);
            }
        }
        Ok(())
    }
}

/// What is reported where nothing is repeated.
const ALL_DIFFER: &str = "nothing changed: no duplicate URLs";

/// Changes a streamed set file by file. The inner error says how it has to be opened instead; nothing has been done then.
fn stream(
    set: &mut SetReader,
    lock: &mut Lock,
    (target, task): (&Target, &Task<'_>),
    streams: &mut Streams<'_>,
) -> Result<Result<Status, Reopen>, Failure> {
    let (save, saving) = (&target.save, task.saving(target));
    let agreed = Agreed::of(&save.common);
    let (check, colour, is_dry) = (saving.check, streams.colour, save.is_preview());
    let mut how = if is_dry {
        BulkOptions::dry_run()
    } else {
        let backups = Backups::new(save.common.backup.unwrap_or_default());
        let mode = SaveMode { force: false, backups, now: save.common.now()?, state: streams.state.clone() };
        BulkOptions::write(mode, save.common.accept_repairs)
    };
    how = how.counted(matches!(set, SetReader::Counted(_)));
    let steps = match task {
        Task::Command(command) | Task::Rows { like: command, .. } => {
            how = how.command(command);
            1
        }
        Task::Rules { rules, .. } => rules.len(),
        Task::Repeated { .. } => 1,
    };
    let gone = match task {
        Task::Repeated { keep, equivalent } => repeated_rows(set, *keep, *equivalent, streams)?,
        _ => RowSet::new(),
    };
    if how.needs_languages()
        && let SetReader::Counted(streamed) = set
        && !streams.watched(|progress| streamed.collect_languages(progress))?
    {
        return Ok(Err(Reopen::Held("a page has too many versions")));
    }
    let (mut bulk, mut spool, mut count, mut reopen) = (Bulk::new(how, steps), Spool::new()?, 0, None);
    let each = set.each_file(streams, |session, id, _| {
        let looked = match bulk.file(session, id, |snapshot| task.changes(snapshot, &gone)) {
            Err(Fallback::Edit(error)) => return Err(error.into()),
            Err(Fallback::InMemory(why)) => {
                reopen = Some(Reopen::Held(why));
                return Err(EditError::Refused(why.to_owned()).into());
            }
            Err(Fallback::Counted) => {
                reopen = Some(Reopen::Counted);
                return Err(EditError::Refused(String::new()).into());
            }
            Ok(None) => return Ok(()),
            Ok(Some(looked)) => looked,
        };
        if check.is_some() {
            let pending = pending(&looked.snapshot);
            changed_files(&looked.snapshot, &pending, &mut spool.around)?;
            changed_rows(&looked.snapshot, &pending, &mut spool.file)?;
            count += pending.entries.len() as u64;
        } else if is_dry {
            match looked.emptied {
                Some(path) => {
                    let (bytes, notes) = spool.gone.entry(path).or_default();
                    show_diffs(&looked.inspection.clone().of_gone(), colour, bytes, notes)?;
                }
                None => show_diffs(&looked.inspection, colour, &mut spool.file, &mut spool.notes)?,
            }
        }
        Ok(())
    });
    if let Some(reopen) = reopen {
        return Ok(Err(reopen));
    }
    each?;
    if !is_dry {
        lock.check(set.session())?;
    }
    let done = match bulk.finish(set.session_mut()) {
        Ok(done) => done,
        Err(Fallback::Edit(error)) => return Err(error.into()),
        Err(Fallback::InMemory(why)) => return Ok(Err(Reopen::Held(why))),
        Err(Fallback::Counted) => return Ok(Err(Reopen::Counted)),
    };
    if target.refuses_faults {
        let mut faults = done.sums.iter().filter_map(|sum| sum.intent.as_ref()?.urls.faults());
        faults.try_for_each(|faults| Err(refused_urls(&faults)))?;
    }
    // Files without a row stay where no row is left at all.
    if save.dry_run && !spool.gone.is_empty() && done.is_empty() {
        return Ok(Err(Reopen::Held("no row of a file is left")));
    }
    if matches!(task, Task::Repeated { .. }) && gone.is_empty() {
        streams.note(ALL_DIFFER);
    }
    let told = describe_changes(&done, (target, task));
    if let Some(check) = check {
        if let Some(index) = set.session().document().index().filter(|_| done.changes_index) {
            writeln!(streams.out, "~ {}  {AROUND}", plain(&index.name))?;
            count += 1;
        }
        streams.out.write_all(&spool.around)?;
        spool.print(streams)?;
        return Ok(Ok(check.finish(count, streams)));
    }
    streams.edited.is_changed |= !done.plan.is_empty();
    if is_dry {
        streams.note_all(&told);
    }
    if is_dry {
        if !done.plan.is_empty() {
            show_plan(&done.plan, streams)?;
            let mut notes = std::mem::take(&mut spool.notes);
            show_diffs(&done.index(set.session()), colour, &mut spool.file, &mut notes)?;
            spool.notes = notes;
            spool.print(streams)?;
            refuse_empty(&done.plan, agreed)?;
        }
        return Ok(Ok(Status::Fine));
    }
    refuse_empty(&done.plan, agreed)?;
    let announced = announcement(&done.plan)?;
    let saved = done.save()?;
    streams.note_all(told.iter().chain(&announced));
    streams.note(&words(&saved));
    Ok(Ok(Status::Fine))
}

/// What was done, step by step.
fn describe_changes(done: &StagedChange, (target, task): (&Target, &Task<'_>)) -> Vec<String> {
    let profile = target.save.common.profile.unwrap_or_default();
    let steps = done.sums.iter().enumerate().filter_map(|(number, step)| {
        let (intent, message) = (step.intent.as_ref()?, step.message(profile)?);
        match task {
            Task::Rules { rules, .. } => Some(rules.get(number)?.words(&message, target.save.dry_run)),
            _ if target.save.dry_run => Some(description(intent, profile)),
            _ if done.plan.is_empty() => Some(message),
            _ => Some(without_claim(&message)),
        }
    });
    steps.collect()
}

/// The rows of a large set that go because their URLs stand more than once.
fn repeated_rows(
    set: &mut SetReader,
    keep: KeepRow,
    equivalent: bool,
    streams: &mut Streams<'_>,
) -> Result<RowSet, Failure> {
    let mut dates: HashMap<RowId, i64> = HashMap::new();
    let grouped = set.session().view().checks.set().duplicates().rows_of_groups();
    if keep == KeepRow::Newest && !grouped.is_empty() {
        set.each_file(streams, |session, _, _| {
            let rows = session.document().resident_rows().filter(|row| grouped.contains(row.0));
            dates.extend(rows.filter_map(|row| Some((row, date_of(session, row)?))));
            Ok(())
        })?;
    }
    Ok(repeated(set.session(), keep, equivalent, &|row| dates.get(&row).copied()))
}

#[cfg(test)]
mod tests;
