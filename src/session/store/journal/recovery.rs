//! Finds unsaved changes of earlier sessions, for any path by which the set is opened.
//!
//! Invariant: nothing is applied here, and a journal that could still be replayed is not moved to a slot where its set
//! would not find it. A journal belongs to the paths that its set was opened by. A save may change these paths (an
//! index becomes several, several become one, a list becomes two): a line records the new paths before the save starts,
//! and if its files are found later, the journal is moved to the slot of the new paths.

use crate::document::Document;
use crate::files::journal::{Entry, Header, StateSlot, StoredJournal, Unusable};
use crate::files::{self, Disk, Loaded};
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::session::edit::EditError;
use crate::session::store::journal::salvage::{Missing, Salvage};
use crate::session::store::journal::{JournalLine, hashes_of, json, start_journal};
use crate::session::store::load;
use crate::words::counted;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Unsaved changes of an earlier session, ready to be replayed.
#[derive(Debug)]
pub struct RecoverableChanges {
    pub(super) state_slot: StateSlot,
    pub(super) stored: StoredJournal,
    /// The header of the new journal if the changes are discarded.
    pub(super) header: Header,
    /// The time when their journal was started, in seconds since 1970.
    pub started: i64,
    /// The labels of the changes, oldest first.
    pub labels: Vec<String>,
    /// Whether the last line is incomplete.
    pub is_cut: bool,
    /// The changes that can be replayed, and those that cannot.
    pub(super) salvage: Salvage,
    /// Whether they apply to the files that the last save of that session has written.
    pub(super) is_of_save: bool,
}

impl RecoverableChanges {
    /// The lost changes, and those that cannot be replayed without them.
    pub(crate) const fn missing(&self) -> &Missing {
        &self.salvage.missing
    }
}

/// The files of an open set, for a job that compares them with journals.
#[derive(Debug, Clone)]
pub(crate) struct OpenSet {
    /// The paths that it was opened by.
    paths: Vec<PathBuf>,
    disk: Disk,
    document: Document,
    /// Number of rows of the files.
    rows: u32,
    clock: Now,
}

impl OpenSet {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            paths: if session.paths.is_empty() {
                session.path.iter().cloned().collect()
            } else {
                session.paths.clone()
            },
            disk: session.disk.clone(),
            document: session.document().clone(),
            rows: session.current.saved.row_limit(),
            clock: session.current.clock,
        }
    }

    /// A set whose files are all loaded, before the session is updated. `None` if it cannot be changed: then its
    /// journal is left as it is.
    pub(crate) fn loaded(session: &Session, loaded: &Loaded) -> Option<Self> {
        let mut document = session.document().clone();
        if let Some(index) = &loaded.index {
            document.set_index(Some(index.clone()));
        }
        let is_read_only = session.read_only.is_some() || loaded.stopped || loaded.recovered.pending.is_some();
        if is_read_only || load::is_conflicted(&document) {
            return None;
        }
        let paths = if loaded.paths.is_empty() { loaded.path.iter().cloned().collect() } else { loaded.paths.clone() };
        let rows = document.row_limit();
        Some(Self { paths, disk: session.disk.clone(), document, rows, clock: session.current.clock })
    }

    /// A set of one new sitemap.
    pub(crate) fn new_at(path: PathBuf, clock: Now) -> Self {
        let mut session = Session::new(clock, None);
        load::start_new(&mut session, path);
        Self::of(&session)
    }
}

/// The journals in the state folder that concern a set.
#[derive(Debug)]
pub enum JournalRead {
    /// The number of unsaved changes of an earlier session that had these files open by other paths, and these paths.
    Elsewhere(usize, String),
    /// No changes that can be replayed; possibly a message about others that cannot.
    Idle(Box<(StateSlot, Header)>, Option<String>),
    /// Unsaved changes of an earlier session; possibly a message about others that cannot be replayed.
    Recoverable(Box<RecoverableChanges>, Option<String>),
}

/// The relation of a journal to the open files.
#[derive(Debug)]
enum Relation {
    /// The files are those of the header, opened by the same paths: the whole journal can be replayed.
    Whole,
    /// The files are those that its last save wrote, opened by the paths after that save: these lines can be replayed.
    SinceSave(Option<Vec<Entry>>),
    /// The files are opened by other paths than those of the journal, or are more or fewer than its files. This number
    /// of changes can be replayed after opening these paths.
    NeedsPaths(usize, String),
    /// The files are others, or have changed.
    None,
}

/// A save that was started.
struct StartedSave {
    /// Hashes of the files that it writes.
    hashes: Vec<u64>,
    /// The paths that the set is opened by after the save.
    paths: Vec<String>,
}

impl StartedSave {
    /// Whether the save was finished, judged by which of the paths exist; `before` are the paths of the set before the
    /// save. `None` if the save does not change them.
    fn is_done(&self, before: &[String]) -> Option<bool> {
        let is_there = |path: &&String| files::is_there(Path::new(path));
        let mut new = self.paths.iter().filter(|path| !before.contains(path)).peekable();
        if new.peek().is_some() {
            return Some(new.any(|path| is_there(&path)));
        }
        let mut old = before.iter().filter(|path| !self.paths.contains(path)).peekable();
        old.peek()?;
        Some(!old.any(|path| is_there(&path)))
    }
}

/// The open set, for comparing it with journals. Hashes are computed on first use.
struct OpenFiles<'s> {
    set: &'s OpenSet,
    /// The paths of its state slot, and the paths that it was opened by.
    paths: [Vec<String>; 2],
    /// Hashes of all its files.
    hashes: OnceCell<Vec<u64>>,
    /// The paths of all its files.
    files: OnceCell<BTreeSet<String>>,
}

impl<'s> OpenFiles<'s> {
    fn new(set: &'s OpenSet, state_slot: &StateSlot) -> Self {
        Self::opened_by(set, state_slot.names())
    }

    fn opened_by(set: &'s OpenSet, names: Vec<String>) -> Self {
        Self {
            set,
            paths: [names, StateSlot::names_of(set.paths.iter().map(PathBuf::as_path))],
            hashes: OnceCell::new(),
            files: OnceCell::new(),
        }
    }

    fn hashes(&self) -> &[u64] {
        self.hashes.get_or_init(|| hashes_of(&self.set.document))
    }

    fn files(&self) -> &BTreeSet<String> {
        self.files.get_or_init(|| StateSlot::names_of(self.set.disk.paths()).into_iter().collect())
    }

    fn is_opened_by(&self, paths: &[String]) -> bool {
        self.paths.iter().any(|own| own == paths)
    }

    /// The relation of a journal to the set; `own` if the journal is in the slot of the set itself.
    fn relation(&self, stored: &StoredJournal, own: bool) -> Relation {
        let header = &stored.header;
        let save = last_started_save(stored);
        let since = || since_save(&stored.entries);
        // If a save changes the paths of the set, the open files may be only those that it does not write.
        let is_save_done = save.as_ref().and_then(|save| save.is_done(&header.paths()));
        // Another file may have the same bytes. In its own slot, a set may have been moved with its files.
        let is_of_these = own || header.matches_shared_files(&self.set.disk);
        if is_of_these && header.fits(&self.set.disk) && is_save_done != Some(true) {
            // Row ids depend on the order of the files, which the paths determine.
            if own || self.is_opened_by(&header.paths()) {
                return Relation::Whole;
            }
            return needs_paths(unsaved(stored), &header.paths());
        }
        if let Some(save) = save.filter(|_| is_save_done != Some(false)) {
            let is_here = self.is_opened_by(&save.paths);
            if is_here && save.hashes == self.hashes() {
                return Relation::SinceSave(since());
            }
            // The save was finished, and its files are open by other paths, or only some of them are open.
            let is_one = |path: &String| self.files().contains(path);
            let is_of_it =
                own || save.paths.iter().chain(&header.paths()).any(is_one) || header.is_of_files(self.files());
            if !is_here && is_of_it && is_within(self.hashes(), &save.hashes) {
                return needs_paths(usize::from(since().is_some()), &save.paths);
            }
        }
        if !own && is_of_these {
            return needs_paths(unsaved(stored), &header.paths());
        }
        Relation::None
    }
}

fn needs_paths(count: usize, paths: &[String]) -> Relation {
    Relation::NeedsPaths(count, paths.join(" "))
}

/// Whether `all` contains each of `some` at least as often; both are sorted.
fn is_within(some: &[u64], all: &[u64]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == one))
}

/// Reads the journals in the state folder that concern a set, and sets aside those that cannot be replayed.
pub(crate) fn read(set: &OpenSet, mut state_slot: StateSlot) -> JournalRead {
    if let Some((count, paths)) = waiting_for(set, &state_slot) {
        return JournalRead::Elsewhere(count, paths);
    }
    let mut words = None;
    let mut found = match state_slot.earlier.take() {
        None => None,
        Some(Ok(stored)) => match OpenFiles::new(set, &state_slot).relation(&stored, true) {
            Relation::Whole => Some((stored, false)),
            Relation::SinceSave(lines) => lines.map(|lines| (StoredJournal { entries: lines, ..stored }, true)),
            // It has no changes, else `waiting_for` would have found it.
            Relation::NeedsPaths(..) => None,
            Relation::None => {
                words = Some(set_aside_message("the files have changed since", state_slot.set_aside().as_deref()));
                None
            }
        },
        Some(Err(unusable @ (Unusable::Damaged | Unusable::Newer | Unusable::Unreadable(_)))) => {
            words = Some(set_aside_message(&unusable.to_string(), state_slot.set_aside().as_deref()));
            None
        }
    };
    for other in state_slot.other_journals(&set.disk) {
        let relation = OpenFiles::new(set, &state_slot).relation(&other.stored, false);
        let is_free = found.is_none();
        match relation {
            Relation::Whole if is_free => found = state_slot.adopt(other).map(|stored| (stored, false)),
            Relation::SinceSave(Some(lines)) if is_free => {
                found = state_slot.adopt(other).map(|stored| (StoredJournal { entries: lines, ..stored }, true));
            }
            // All its changes are saved.
            Relation::SinceSave(None) => state_slot.remove_other(&other),
            // Its set was opened by one of these paths, so that it can no longer be replayed.
            Relation::None if state_slot.shares_path_with(&other.stored.header) && unsaved(&other.stored) > 0 => {
                let set = other.stored.header.paths().join(" ");
                let aside =
                    set_aside_message("the files have changed since", state_slot.set_other_aside(&other).as_deref());
                words.get_or_insert_with(|| format!("{aside} (of {set})"));
            }
            _ => {}
        }
    }
    if let Some((stored, is_of_save)) = found {
        let (started, is_cut) = (stored.header.begun, stored.is_cut);
        let salvage = Salvage::of(&stored.entries, set.rows);
        let labels = if is_of_save {
            // The session ended after the save, before it recorded that.
            vec!["what was changed while it was being saved".to_owned()]
        } else {
            labels(&salvage.steps)
        };
        if !labels.is_empty() || !salvage.missing.is_empty() {
            let header = state_slot.locks().header(&set.disk, set.clock.seconds);
            let changes =
                RecoverableChanges { state_slot, stored, header, started, labels, is_cut, salvage, is_of_save };
            return JournalRead::Recoverable(Box::new(changes), words);
        }
    }
    let header = state_slot.locks().header(&set.disk, set.clock.seconds);
    JournalRead::Idle(Box::new((state_slot, header)), words)
}

/// Starts the journal, unless there are changes of an earlier session: returns those that can be replayed, and a
/// message about those that cannot. If these need other paths, the session becomes read-only.
pub(crate) fn begin(session: &mut Session, read: JournalRead) -> (Option<RecoverableChanges>, Option<String>) {
    match read {
        JournalRead::Elsewhere(count, paths) => {
            let changes = counted(count as u64, "unsaved change");
            let words = format!("an earlier session left {changes} to it; open {paths}");
            session.set_read_only(words.clone());
            (None, Some(words))
        }
        JournalRead::Idle(idle, words) => {
            let (state_slot, header) = *idle;
            start_journal(session, state_slot, header);
            (None, words)
        }
        JournalRead::Recoverable(changes, words) => (Some(*changes), words),
    }
}

/// Number of unsaved changes of an earlier session that could no longer be replayed if these files were changed.
pub(crate) fn waiting(session: &Session, state_slot: &StateSlot) -> usize {
    let set = OpenSet::of(session);
    let present = OpenFiles::new(&set, state_slot);
    let count = |stored: &StoredJournal, own| match present.relation(stored, own) {
        Relation::Whole => unsaved(stored),
        Relation::SinceSave(lines) => usize::from(lines.is_some()),
        Relation::NeedsPaths(..) | Relation::None => 0,
    };
    let own = state_slot.earlier.iter().flatten().map(|stored| count(stored, true));
    let elsewhere = state_slot.other_journals(&session.disk);
    own.chain(elsewhere.iter().map(|other| count(&other.stored, false))).find(|count| *count > 0).unwrap_or_default()
}

/// The number of unsaved changes of an earlier session that had these files open as another set, and the paths to open
/// for replaying them. They could no longer be replayed if the files were changed now.
pub(crate) fn changes_elsewhere(session: &Session, state_slot: &StateSlot) -> Option<(usize, String)> {
    waiting_for(&OpenSet::of(session), state_slot)
}

fn waiting_for(set: &OpenSet, state_slot: &StateSlot) -> Option<(usize, String)> {
    let present = OpenFiles::new(set, state_slot);
    let waits = |stored: &StoredJournal, own| match present.relation(stored, own) {
        Relation::NeedsPaths(count, paths) if count > 0 => Some((count, paths)),
        _ => None,
    };
    let own = state_slot.earlier.iter().flatten().find_map(|stored| waits(stored, true));
    own.or_else(|| state_slot.other_journals(&set.disk).iter().find_map(|other| waits(&other.stored, false)))
}

/// A journal of these files whose changes cannot be replayed, since files have changed.
pub(crate) fn unreplayable(session: &Session, state_slot: &StateSlot) -> Option<Unreplayable> {
    let set = OpenSet::of(session);
    let present = OpenFiles::new(&set, state_slot);
    let of_changed = |stored: &StoredJournal, own| match present.relation(stored, own) {
        Relation::None => Some(unsaved(stored)).filter(|count| *count > 0),
        Relation::Whole | Relation::SinceSave(_) | Relation::NeedsPaths(..) => None,
    };
    let own = state_slot.earlier.iter().flatten().find_map(|stored| {
        let (changes, paths) = (of_changed(stored, true)?, stored.header.paths());
        Some(Unreplayable { changes, journal: state_slot.journal()?.to_path_buf(), paths })
    });
    let elsewhere = || {
        // The set of the journal may be an index of these files, or one of them.
        let is_about = |header: &Header| state_slot.shares_path_with(header) || header.is_of_files(present.files());
        let others = state_slot.other_journals(&session.disk).into_iter();
        let mut others = others.filter(|other| is_about(&other.stored.header));
        others.find_map(|other| {
            let (changes, paths) = (of_changed(&other.stored, false)?, other.stored.header.paths());
            Some(Unreplayable { changes, journal: other.path, paths })
        })
    };
    own.or_else(elsewhere)
}

/// Unsaved changes of an earlier session that cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreplayable {
    /// Their number.
    pub changes: usize,
    /// The journal that contains them.
    pub journal: PathBuf,
    /// The paths that its set was opened by.
    pub paths: Vec<String>,
}

/// Whether a journal has unsaved changes.
pub(super) fn has_recoverable_changes(stored: &StoredJournal) -> bool {
    unsaved(stored) > 0
}

fn set_aside_message(why: &str, aside: Option<&Path>) -> String {
    let new_path = aside.map_or_else(String::new, |path| format!(", kept as {}", path.display()));
    format!("unsaved changes of an earlier session cannot be replayed: {why}{new_path}")
}

/// Number of unsaved changes in a journal, including damaged ones.
fn unsaved(stored: &StoredJournal) -> usize {
    let salvage = Salvage::of(&stored.entries, 0);
    let lost = usize::try_from(salvage.missing.count()).unwrap_or(usize::MAX);
    lost.saturating_add(labels(&salvage.steps).len() + salvage.missing.unsure.len())
}

/// The lines of a journal that can be applied to the open files.
pub(super) fn applicable(session: &Session, stored: &StoredJournal) -> Result<Vec<Entry>, EditError> {
    match OpenFiles::opened_by(&OpenSet::of(session), Vec::new()).relation(stored, false) {
        Relation::Whole => Ok(stored.entries.clone()),
        Relation::SinceSave(Some(entries)) => Ok(entries),
        Relation::SinceSave(None) => Err(EditError::Refused("all changes of this journal are saved".to_owned())),
        Relation::NeedsPaths(_, paths) => {
            Err(EditError::Refused(format!("this journal is of another set; open {paths}")))
        }
        Relation::None => Err(EditError::Refused("the files have changed since this journal was written".to_owned())),
    }
}

/// The last save that was started.
fn last_started_save(stored: &StoredJournal) -> Option<StartedSave> {
    let mut parsed = stored.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
    let hashes = parsed.find_map(|line| if let JournalLine::Saving(hashes) = line { Some(hashes) } else { None })?;
    let paths = match parsed.next() {
        Some(JournalLine::To(paths)) => paths,
        _ => stored.header.paths(),
    };
    Some(StartedSave { hashes, paths })
}

/// The changes since the last save started, as lines that apply to the files of that save; `None` if there are none.
fn since_save(entries: &[Entry]) -> Option<Vec<Entry>> {
    let mut lost = Vec::new();
    for entry in entries.iter().rev() {
        let line = match entry {
            Entry::Line(line) => serde_json::from_str(line).ok(),
            Entry::Lost(_) => None,
        };
        let edits = match line {
            Some(JournalLine::Then(edits)) => edits,
            Some(JournalLine::Saving(_)) => Vec::new(),
            Some(_) => continue,
            None => {
                lost.push(entry.clone());
                continue;
            }
        };
        if edits.is_empty() && lost.is_empty() {
            return None;
        }
        lost.push(Entry::Line(json(&JournalLine::Since(edits))));
        lost.reverse();
        return Some(lost);
    }
    None
}

/// Labels of the changes that are in effect.
fn labels(lines: &[JournalLine]) -> Vec<String> {
    let (mut done, mut undone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in lines {
        match line {
            JournalLine::Did { label, .. } => {
                done.push(label.clone());
                undone.clear();
            }
            JournalLine::Undid => undone.extend(done.pop()),
            JournalLine::Redid => done.extend(undone.pop()),
            JournalLine::To(_) | JournalLine::Saving(_) | JournalLine::Then(_) => {}
            JournalLine::Since(edits) => {
                undone.clear();
                done = if edits.is_empty() { Vec::new() } else { vec!["all unsaved changes".to_owned()] };
            }
        }
    }
    done
}

#[cfg(test)]
mod tests;
