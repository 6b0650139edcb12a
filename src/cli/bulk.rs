//! Bulk changes on the command line: in memory for small sets, streamed for large ones, with the same output and files.

use super::changes::{AROUND, changed_files, changed_rows, pending};
use super::duplicates::{KeepRow, date_of, duplicate_rows};
use super::edit::{Check, Saving, dry_run_message, edit_all, edit_change, show_diffs, without_claim};
use super::lock::Lock;
use super::options::Target;
use super::rules_file::{CompiledRule, apply_loaded, rows_by_rule};
use super::save::{Agreed, announcement, refuse_empty, show_plan};
use super::set_reader::{self, Reopen, SetChange, SetReader, note_why_loaded};
use super::unsafe_characters::plain;
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

/// A change of a set.
pub(super) enum Task<'t> {
    /// Runs a command.
    Command(Command),
    /// Applies a rules file.
    Rules {
        /// The rules.
        rules: &'t [CompiledRule],
        /// The file, for messages.
        file: &'t Path,
    },
    /// A change that is computed from the rows in memory.
    Rows {
        /// A command with the same query, which determines how the set is streamed.
        like: Command,
        /// Returns the change of the set, or of its resident file.
        change: &'t dyn Fn(&Snapshot) -> Result<Change, EditError>,
    },
    /// Removes duplicate URLs.
    Dedupe {
        /// The row of each URL to keep.
        keep: KeepRow,
        /// Whether equivalent URLs are duplicates.
        equivalent: bool,
    },
}

impl Task<'_> {
    fn mode(&self) -> ScanMode {
        match self {
            Self::Command(command) | Self::Rows { like: command, .. } => ScanMode::of(command),
            Self::Rules { rules, .. } if rules.iter().any(CompiledRule::compares_rows) => ScanMode::Counted,
            Self::Rules { .. } => ScanMode::SinglePass,
            Self::Dedupe { .. } => ScanMode::Counted,
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

    /// The changes of the resident file with the numbers of their steps. `duplicates` are the rows that `dedupe`
    /// removes.
    fn changes(&self, snapshot: &Snapshot, duplicates: &RowSet) -> Result<Vec<(usize, Change)>, EditError> {
        Ok(match self {
            Self::Command(command) => {
                let change = scope::change_of(snapshot, command, DefaultScope::All, &Progress::default())?;
                change.into_iter().map(|change| (0, change)).collect()
            }
            Self::Rules { rules, .. } => {
                let by_rule = rules.iter().zip(rows_by_rule(snapshot, rules)).enumerate();
                let by_rule = by_rule.filter(|(_, (_, rows))| !rows.is_empty());
                let set = |rule: &CompiledRule, rows| Change::Set { rows, assignments: rule.assignments.clone() };
                by_rule.map(|(number, (rule, rows))| (number, set(rule, rows))).collect()
            }
            Self::Rows { change, .. } => vec![(0, change(snapshot)?)],
            Self::Dedupe { .. } if duplicates.is_empty() => Vec::new(),
            Self::Dedupe { .. } => vec![(0, Change::Delete(snapshot.document.resident_set() & duplicates))],
        })
    }

    /// Changes and saves a set in memory.
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
            Self::Dedupe { keep, equivalent } => {
                let rows = duplicate_rows(&session, *keep, *equivalent, &|row| date_of(&session, row));
                if rows.is_empty() {
                    streams.note(NO_DUPLICATES);
                }
                session.mark(&rows, true);
                let delete = Command::Delete(Scope::default());
                let commands = if rows.is_empty() { &[][..] } else { std::slice::from_ref(&delete) };
                edit_all(session, commands, &saving, streams)
            }
        }
    }
}

/// Runs a task on a set and saves it. A set of more than `memory_limit` bytes is streamed.
pub(super) fn change(
    target: &Target,
    task: &Task<'_>,
    memory_limit: u64,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let (common, is_dry) = (&target.save.common, target.save.is_preview());
    if let Some(output) = &target.save.output {
        // The files of a copy have other names, which streaming does not support.
        let (session, _lock) = common.open_to_change(&target.path, Some(output), is_dry, streams)?;
        note_why_loaded((&session, memory_limit), "the output is another path", streams);
        return task.change_loaded(session, target, streams);
    }
    let paths = [target.path.clone()];
    let lock = if is_dry { Lock::default() } else { Lock::take(streams, &paths)? };
    let mut change = LockedChange { target, task, lock };
    set_reader::change(&mut change, common, (&paths, memory_limit), streams)
}

/// A task with the lock of the files that it will write.
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

/// Output about files, printed when all of them have been changed.
struct DeferredOutput {
    /// Lines about changed text around entries, which come before those about rows.
    around: Vec<u8>,
    file: BufWriter<File>,
    notes: Vec<String>,
    /// Diffs and notes of files that will be removed, by path.
    removed: BTreeMap<PathBuf, (Vec<u8>, Vec<String>)>,
}

impl DeferredOutput {
    fn new() -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(Self { around: Vec::new(), file, notes: Vec::new(), removed: BTreeMap::new() })
    }

    fn print(mut self, streams: &mut Streams<'_>) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(self.file.get_mut(), streams.out)?;
        for note in &self.notes {
            streams.note(note);
        }
        for (bytes, notes) in self.removed.values() {
            streams.out.write_all(bytes)?;
            for note in notes {
                streams.note(note);
            }
        }
        Ok(())
    }
}

/// The message if there are no duplicates.
const NO_DUPLICATES: &str = "nothing changed: no duplicate URLs";

/// Changes a streamed set file by file. The inner error is how the set must be opened instead; nothing has been written
/// then.
fn stream(
    set: &mut SetReader,
    lock: &mut Lock,
    (target, task): (&Target, &Task<'_>),
    streams: &mut Streams<'_>,
) -> Result<Result<Status, Reopen>, Failure> {
    let (save, saving) = (&target.save, task.saving(target));
    let agreed = Agreed::of(&save.common);
    let (check, colour, is_dry) = (saving.check, streams.colour, save.is_preview());
    let mut options = if is_dry {
        BulkOptions::dry_run()
    } else {
        let backups = Backups::new(save.common.backup.unwrap_or_default());
        let mode = SaveMode { force: false, backups, now: save.common.now()?, state: streams.state.clone() };
        BulkOptions::write(mode, save.common.accept_repairs)
    };
    options = options.counted(matches!(set, SetReader::Counted(_)));
    let steps = match task {
        Task::Command(command) | Task::Rows { like: command, .. } => {
            options = options.command(command);
            1
        }
        Task::Rules { rules, .. } => rules.len(),
        Task::Dedupe { .. } => 1,
    };
    let duplicates = match task {
        Task::Dedupe { keep, equivalent } => find_duplicate_rows(set, *keep, *equivalent, streams)?,
        _ => RowSet::new(),
    };
    if options.needs_languages()
        && let SetReader::Counted(streamed) = set
        && !streams.watched(|progress| streamed.collect_languages(progress))?
    {
        return Ok(Err(Reopen::InMemory("a page has too many versions")));
    }
    let (mut bulk, mut deferred, mut count, mut reopen) = (Bulk::new(options, steps), DeferredOutput::new()?, 0, None);
    let each = set.each_file(streams, |session, id, _| {
        let preview = match bulk.file(session, id, |snapshot| task.changes(snapshot, &duplicates)) {
            Err(Fallback::Edit(error)) => return Err(error.into()),
            Err(Fallback::InMemory(why)) => {
                reopen = Some(Reopen::InMemory(why));
                return Err(EditError::Refused(why.to_owned()).into());
            }
            Err(Fallback::Counted) => {
                reopen = Some(Reopen::Counted);
                return Err(EditError::Refused(String::new()).into());
            }
            Ok(None) => return Ok(()),
            Ok(Some(preview)) => preview,
        };
        if check.is_some() {
            let pending = pending(&preview.snapshot);
            changed_files(&preview.snapshot, &pending, &mut deferred.around)?;
            changed_rows(&preview.snapshot, &pending, &mut deferred.file)?;
            count += pending.entries.len() as u64;
        } else if is_dry {
            match preview.emptied {
                Some(path) => {
                    let (bytes, notes) = deferred.removed.entry(path).or_default();
                    show_diffs(&preview.inspection.clone().of_gone(), colour, bytes, notes)?;
                }
                None => show_diffs(&preview.inspection, colour, &mut deferred.file, &mut deferred.notes)?,
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
        Err(Fallback::InMemory(why)) => return Ok(Err(Reopen::InMemory(why))),
        Err(Fallback::Counted) => return Ok(Err(Reopen::Counted)),
    };
    if target.refuses_faults {
        let mut faults = done.sums.iter().filter_map(|sum| sum.intent.as_ref()?.urls.faults());
        faults.try_for_each(|faults| Err(refused_urls(&faults)))?;
    }
    // If no row is left in the whole set, files without rows are kept, which the diffs so far do not show.
    if save.dry_run && !deferred.removed.is_empty() && done.is_empty() {
        return Ok(Err(Reopen::InMemory("no row of a file is left")));
    }
    if matches!(task, Task::Dedupe { .. }) && duplicates.is_empty() {
        streams.note(NO_DUPLICATES);
    }
    let messages = describe_changes(&done, (target, task));
    if let Some(check) = check {
        if let Some(index) = set.session().document().index().filter(|_| done.changes_index) {
            writeln!(streams.out, "~ {}  {AROUND}", plain(&index.name))?;
            count += 1;
        }
        streams.out.write_all(&deferred.around)?;
        deferred.print(streams)?;
        return Ok(Ok(check.finish(count, streams)));
    }
    streams.edited.is_changed |= !done.plan.is_empty();
    if is_dry {
        streams.note_all(&messages);
    }
    if is_dry {
        if !done.plan.is_empty() {
            show_plan(&done.plan, streams)?;
            let mut notes = std::mem::take(&mut deferred.notes);
            show_diffs(&done.index(set.session()), colour, &mut deferred.file, &mut notes)?;
            deferred.notes = notes;
            deferred.print(streams)?;
            refuse_empty(&done.plan, agreed)?;
        }
        return Ok(Ok(Status::Fine));
    }
    refuse_empty(&done.plan, agreed)?;
    let announced = announcement(&done.plan)?;
    let saved = done.save()?;
    streams.note_all(messages.iter().chain(&announced));
    streams.note(&words(&saved));
    Ok(Ok(Status::Fine))
}

/// The messages about the changes of each step.
fn describe_changes(done: &StagedChange, (target, task): (&Target, &Task<'_>)) -> Vec<String> {
    let profile = target.save.common.profile.unwrap_or_default();
    let steps = done.sums.iter().enumerate().filter_map(|(number, step)| {
        let (intent, message) = (step.intent.as_ref()?, step.message(profile)?);
        match task {
            Task::Rules { rules, .. } => Some(rules.get(number)?.report(&message, target.save.dry_run)),
            _ if target.save.dry_run => Some(dry_run_message(intent, profile)),
            _ if done.plan.is_empty() => Some(message),
            _ => Some(without_claim(&message)),
        }
    });
    steps.collect()
}

/// The duplicate rows of a streamed set.
fn find_duplicate_rows(
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
    Ok(duplicate_rows(set.session(), keep, equivalent, &|row| dates.get(&row).copied()))
}

#[cfg(test)]
mod tests;
