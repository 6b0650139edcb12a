//! Changes of rows that need no other rows: of a small set in memory, of a large one file by file.
//!
//! Both ways do, say and write the same.

use super::apply::{self, Ready, dealt};
use super::changes::changes;
use super::edit::{edit_all, foretold, show_diffs, without_claim};
use super::lock::Lock;
use super::rows::{Keep, Target, date_of, repeated};
use super::save::{Agreed, announcement, refuse_empty, show_plan};
use super::walk::{Set, say_why_held};
use super::{Failure, Status, Streams};
use crate::document::rows::{RowId, RowSet};
use crate::files::{Backups, Manner};
use crate::progress::Progress;
use crate::session::Session;
use crate::session::bulk::{Bulk, Halt, How, Through, Way};
use crate::session::change::{Change, Refused};
use crate::session::command::{Command, Scope};
use crate::session::run::Asker;
use crate::session::save::words;
use crate::session::snapshot::Snapshot;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::{Path, PathBuf};

/// What is done to a set.
pub(super) enum Task<'t> {
    /// What a command says.
    Command(Command),
    /// What a file of rules says; `check` only compares.
    Rules {
        /// The rules.
        rules: &'t [Ready],
        /// Their file.
        file: &'t Path,
        /// Change nothing, list what does not obey.
        check: bool,
    },
    /// Rows of URLs that stand more than once go.
    Repeated {
        /// But for this one.
        keep: Keep,
        /// Whether spellings of one URL are the same.
        equivalent: bool,
    },
}

impl Task<'_> {
    fn way(&self) -> Way {
        match self {
            Self::Command(command) => Way::of(command),
            Self::Rules { rules, .. } if rules.iter().any(Ready::compares_rows) => Way::Compared,
            Self::Rules { .. } => Way::Alone,
            Self::Repeated { .. } => Way::Compared,
        }
    }

    fn is_check(&self) -> bool {
        matches!(self, Self::Rules { check: true, .. })
    }

    /// The changes of the file that is held, each a step by its number; `gone` are the rows of a set that are repeated.
    fn changes(&self, snapshot: &Snapshot, gone: &RowSet) -> Result<Vec<(usize, Change)>, Refused> {
        Ok(match self {
            Self::Command(command) => {
                let change = snapshot.change_of(command, Asker::Headless, &Progress::default())?;
                change.into_iter().map(|change| (0, change)).collect()
            }
            Self::Rules { rules, .. } => {
                let dealt = rules.iter().zip(dealt(snapshot, rules)).enumerate();
                let dealt = dealt.filter(|(_, (_, rows))| !rows.is_empty());
                let set = |rule: &Ready, rows| Change::Set { rows, assignments: rule.assignments.clone() };
                dealt.map(|(number, (rule, rows))| (number, set(rule, rows))).collect()
            }
            Self::Repeated { .. } if gone.is_empty() => Vec::new(),
            Self::Repeated { .. } => vec![(0, Change::Delete(snapshot.document.held_set() & gone))],
        })
    }

    /// What is done to a set that is held.
    fn held(&self, mut session: Session, target: &Target, streams: &mut Streams<'_>) -> Result<Status, Failure> {
        match self {
            Self::Command(command) => edit_all(session, std::slice::from_ref(command), &target.saving(), streams),
            Self::Rules { rules, file, check } => apply::held(session, target, (rules, file, *check), streams),
            Self::Repeated { keep, equivalent } => {
                let rows = repeated(&session, *keep, *equivalent, &|row| date_of(&session, row));
                if rows.is_empty() {
                    streams.note(ALL_DIFFER);
                }
                session.mark(&rows, true);
                let delete = Command::Delete(Scope::default());
                let commands = if rows.is_empty() { &[][..] } else { std::slice::from_ref(&delete) };
                edit_all(session, commands, &target.saving(), streams)
            }
        }
    }
}

/// Does a task, and saves. A set of more than `held` bytes is gone through.
pub(super) fn change(
    target: &Target,
    task: &Task<'_>,
    held: u64,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let is_dry = target.dry_run || task.is_check();
    if target.output.is_some() {
        // A copy: its files have other names.
        let (session, _lock) =
            target.common.open_to_change(&target.path, (target.output.as_deref(), is_dry), streams)?;
        say_why_held((&session, held), "it is written to another path", streams);
        return task.held(session, target, streams);
    }
    let paths = [target.path.clone()];
    let mut lock = if is_dry { Lock::default() } else { Lock::take(streams, &paths)? };
    let mut set = Set::open_to_change(&target.common, (&paths, held), task.way(), streams)?;
    if !matches!(set, Set::Held(_)) {
        let mut done = through(&mut set, &mut lock, (target, task), streams)?;
        if matches!(done, Err(Again::Compared)) {
            drop(set);
            set = Set::compared(&target.common, &paths, target.common.now()?, streams)?;
            done = through(&mut set, &mut lock, (target, task), streams)?;
        }
        let why = match done {
            Ok(status) => return Ok(status),
            Err(Again::Whole(why)) => why,
            Err(Again::Compared) => "it has to be known as a whole",
        };
        drop(set);
        set = Set::hold(&target.common, &paths, why, streams)?;
    }
    let Set::Held(session) = set else { return Ok(Status::Fine) };
    lock.check(&session)?;
    task.held(*session, target, streams)
}

/// What is printed of files, kept until it is known that all of them can be gone through.
struct Spool {
    file: BufWriter<File>,
    notes: Vec<String>,
    /// What is printed of files that the set gives up, by their paths.
    gone: BTreeMap<PathBuf, (Vec<u8>, Vec<String>)>,
}

impl Spool {
    fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile()?), notes: Vec::new(), gone: BTreeMap::new() })
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

/// What is said where nothing is repeated.
const ALL_DIFFER: &str = "nothing changed: no URL stands more than once";

/// How a set is to be opened instead.
enum Again {
    /// All of it held, and why.
    Whole(&'static str),
    /// Gone through before, so that it is known as a whole.
    Compared,
}

/// Goes through a large set. The inner error says how it has to be opened instead; nothing has been done then.
fn through(
    set: &mut Set,
    lock: &mut Lock,
    (target, task): (&Target, &Task<'_>),
    streams: &mut Streams<'_>,
) -> Result<Result<Status, Again>, Failure> {
    let agreed = Agreed::of(&target.common);
    let (is_check, colour) = (task.is_check(), streams.colour);
    let is_dry = target.dry_run || is_check;
    let mut how = if is_dry {
        How::look()
    } else {
        let backups = Backups::new(target.common.backup.unwrap_or_default());
        let manner = Manner { force: false, backups, now: target.common.now()?, state: streams.state.clone() };
        How::write(manner, target.common.accept_repairs)
    };
    how = how.compared(matches!(set, Set::Parts(_)));
    let steps = match task {
        Task::Command(command) => {
            how = how.command(command);
            1
        }
        Task::Rules { rules, .. } => rules.len(),
        Task::Repeated { .. } => 1,
    };
    let gone = match task {
        Task::Repeated { keep, equivalent } => gone(set, *keep, *equivalent, streams)?,
        _ => RowSet::new(),
    };
    if how.asks_languages()
        && let Set::Parts(parts) = set
        && !streams.watched(|progress| parts.learn_languages(progress))?
    {
        return Ok(Err(Again::Whole("a page has too many versions")));
    }
    let (mut bulk, mut spool, mut count, mut halted) = (Bulk::new(how, steps), Spool::new()?, 0, None);
    let each = set.each(streams, |session, id, _| {
        let looked = match bulk.file(session, id, |snapshot| task.changes(snapshot, &gone)) {
            Err(Halt::Refused(refused)) => return Err(refused.into()),
            Err(Halt::Whole(why)) => {
                halted = Some(Again::Whole(why));
                return Err(Refused(why.to_owned()).into());
            }
            Err(Halt::Compared) => {
                halted = Some(Again::Compared);
                return Err(Refused(String::new()).into());
            }
            Ok(None) => return Ok(()),
            Ok(Some(looked)) => looked,
        };
        if is_check {
            count += changes(&looked.snapshot, &mut spool.file)?;
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
    if let Some(why) = halted {
        return Ok(Err(why));
    }
    each?;
    if !is_dry {
        lock.check(set.session())?;
    }
    let done = match bulk.finish(set.session_mut()) {
        Ok(done) => done,
        Err(Halt::Refused(refused)) => return Err(refused.into()),
        Err(Halt::Whole(why)) => return Ok(Err(Again::Whole(why))),
        Err(Halt::Compared) => return Ok(Err(Again::Compared)),
    };
    // Files without a row stay where no row is left at all.
    if is_dry && !spool.gone.is_empty() && done.is_empty() {
        return Ok(Err(Again::Whole("no row is left of it")));
    }
    if matches!(task, Task::Repeated { .. }) && gone.is_empty() {
        streams.note(ALL_DIFFER);
    }
    let told = told(&done, (target, task));
    if is_dry {
        streams.note_all(&told);
    }
    if let Task::Rules { file, check: true, .. } = task {
        spool.print(streams)?;
        return Ok(Ok(apply::obeyed(count, file, streams)));
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
fn told(done: &Through, (target, task): (&Target, &Task<'_>)) -> Vec<String> {
    let profile = target.common.profile.unwrap_or_default();
    let steps = done.sums.iter().enumerate().filter_map(|(number, step)| {
        let (intent, message) = (step.intent.as_ref()?, step.message(profile)?);
        match task {
            Task::Rules { check: true, .. } => None,
            Task::Rules { rules, .. } => Some(rules.get(number)?.words(&message, target.dry_run)),
            _ if target.dry_run => Some(foretold(intent, profile)),
            _ if done.plan.is_empty() => Some(message),
            _ => Some(without_claim(&message)),
        }
    });
    steps.collect()
}

/// The rows of a large set that go because their URLs stand more than once.
fn gone(set: &mut Set, keep: Keep, equivalent: bool, streams: &mut Streams<'_>) -> Result<RowSet, Failure> {
    let mut dates: HashMap<RowId, i64> = HashMap::new();
    let grouped = set.session().view().checks.set().duplicate_rows();
    if keep == Keep::Newest && !grouped.is_empty() {
        set.each(streams, |session, _, _| {
            let rows = session.document().held_rows().filter(|row| grouped.contains(row.0));
            dates.extend(rows.filter_map(|row| Some((row, date_of(session, row)?))));
            Ok(())
        })?;
    }
    Ok(repeated(set.session(), keep, equivalent, &|row| dates.get(&row).copied()))
}

#[cfg(test)]
mod tests;
