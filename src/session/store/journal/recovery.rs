//! Finds unsaved changes of earlier sessions, under whatever path the set is opened.
//!
//! Invariant: nothing is applied here, and nothing that could still be replayed is moved away from where its set finds
//! it. A journal belongs to the paths that its set was opened by. A save may make other paths of them (an index becomes
//! several, several become one, a list becomes two): a line says so before it begins, and where its files are found
//! afterwards, the journal goes to the place of those paths.

use crate::document::Document;
use crate::files::journal::{Entry, Header, StateSlot, StoredJournal, Unusable};
use crate::files::{self, Disk, Loaded};
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::session::edit::EditError;
use crate::session::store::journal::salvage::{Missing, Salvage};
use crate::session::store::journal::{JournalLine, hashes_of, json, start_keeping};
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
    /// What the journal begins with if they are given up.
    pub(super) header: Header,
    /// When they were begun, in seconds since 1970.
    pub begun: i64,
    /// What they were, oldest first.
    pub labels: Vec<String>,
    /// Whether the end is missing.
    pub is_cut: bool,
    /// What is replayed, and what cannot be.
    pub(super) salvage: Salvage,
    /// Whether they apply to what a save has made since they were begun.
    pub(super) is_of_save: bool,
}

impl RecoverableChanges {
    /// What is gone, or cannot be replayed without that.
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
    /// How many rows the files have.
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

    /// A set whose files are all read, before the session has taken note of that. `None` if it cannot be changed, so that
    /// its journal waits for another time.
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

/// What the state folder holds for a set.
#[derive(Debug)]
pub enum JournalRead {
    /// So many unsaved changes of an earlier session, which had these files open by other paths.
    Elsewhere(usize, String),
    /// Nothing that can be replayed; perhaps a word about what cannot.
    Idle(Box<(StateSlot, Header)>, Option<String>),
    /// Unsaved changes of an earlier session; perhaps a word about others, which cannot be replayed.
    Recoverable(Box<RecoverableChanges>, Option<String>),
}

/// What a journal is to the files that are open now.
#[derive(Debug)]
enum Relation {
    /// They are what it began with, opened by the paths that it names: all of it can be replayed.
    Whole,
    /// They are what its last save made, opened by the paths that came of it: these lines can be replayed.
    SinceSave(Option<Vec<Entry>>),
    /// It is of some of them, or of more: so many changes wait for these paths to be opened.
    Waits(usize, String),
    /// They are something else.
    None,
}

/// A save that was begun.
struct BegunSave {
    /// Hashes of what it wrote.
    hashes: Vec<u64>,
    /// The paths that the set is opened by once it is done.
    paths: Vec<String>,
}

impl BegunSave {
    /// Whether it came to its end, as far as the paths tell that a set had which was opened by `before`: `None` where they
    /// stay the same.
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

/// The open set, for comparing it with journals; the hashes of all its bytes are made when they are asked for.
struct OpenFiles<'s> {
    set: &'s OpenSet,
    /// The paths that it was opened by, and those of them that there are.
    paths: [Vec<String>; 2],
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

    /// What a journal is to it; `own` if it is found at the place of the set itself.
    fn relation(&self, stored: &StoredJournal, own: bool) -> Relation {
        let header = &stored.header;
        let begun = begun(stored);
        let since = || since_save(&stored.entries);
        // Where a save makes other paths of the set, files that it leaves alone may be all that is open here.
        let turned = begun.as_ref().and_then(|begun| begun.is_done(&header.paths()));
        // Another file may hold the very same bytes; at its own place, a set may have been moved.
        let is_of_these = own || header.matches_shared_files(&self.set.disk);
        if is_of_these && header.fits(&self.set.disk) && turned != Some(true) {
            // Rows are known by the order of their files, which the paths tell.
            if own || self.is_opened_by(&header.paths()) {
                return Relation::Whole;
            }
            return waits(unsaved(stored), &header.paths());
        }
        if let Some(begun) = begun.filter(|_| turned != Some(false)) {
            let is_here = self.is_opened_by(&begun.paths);
            if is_here && begun.hashes == self.hashes() {
                return Relation::SinceSave(since());
            }
            // The save was finished, and its files are open by other paths, or only some of them.
            let is_one = |path: &String| self.files().contains(path);
            let is_of_it =
                own || begun.paths.iter().chain(&header.paths()).any(is_one) || header.is_of_files(self.files());
            if !is_here && is_of_it && is_within(self.hashes(), &begun.hashes) {
                return waits(usize::from(since().is_some()), &begun.paths);
            }
        }
        if !own && is_of_these {
            return waits(unsaved(stored), &header.paths());
        }
        Relation::None
    }
}

fn waits(count: usize, paths: &[String]) -> Relation {
    Relation::Waits(count, paths.join(" "))
}

/// Whether all of the one are among the others, each as often; both are sorted.
fn is_within(some: &[u64], all: &[u64]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == one))
}

/// Reads what the state folder holds for a set, and puts aside what nobody can replay.
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
            // No one is asked to open other paths for nothing.
            Relation::Waits(..) => None,
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
        let bearing = OpenFiles::new(set, &state_slot).relation(&other.stored, false);
        let is_free = found.is_none();
        match bearing {
            Relation::Whole if is_free => found = state_slot.adopt(other).map(|stored| (stored, false)),
            Relation::SinceSave(Some(lines)) if is_free => {
                found = state_slot.adopt(other).map(|stored| (StoredJournal { entries: lines, ..stored }, true));
            }
            // All of it is saved.
            Relation::SinceSave(None) => state_slot.remove_other(&other),
            // It began with one of these very paths, and never can be replayed.
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
        let (begun, is_cut) = (stored.header.begun, stored.is_cut);
        let salvage = Salvage::of(&stored.entries, set.rows);
        let labels = if is_of_save {
            // The save was finished, and no one was left to say so.
            vec!["what was changed while it was being saved".to_owned()]
        } else {
            labels(&salvage.steps)
        };
        if !labels.is_empty() || !salvage.missing.is_empty() {
            let header = state_slot.locks().header(&set.disk, set.clock.seconds);
            let changes = RecoverableChanges { state_slot, stored, header, begun, labels, is_cut, salvage, is_of_save };
            return JournalRead::Recoverable(Box::new(changes), words);
        }
    }
    let header = state_slot.locks().header(&set.disk, set.clock.seconds);
    JournalRead::Idle(Box::new((state_slot, header)), words)
}

/// Begins to keep what is changed. Gives what an earlier session left if it can be replayed, and a word about what
/// cannot. Where that waits for other paths, the set can only be read.
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
            start_keeping(session, state_slot, header);
            (None, words)
        }
        JournalRead::Recoverable(changes, words) => (Some(*changes), words),
    }
}

/// How many unsaved changes of an earlier session could not be replayed any more if these files were changed.
pub(crate) fn waiting(session: &Session, state_slot: &StateSlot) -> usize {
    let set = OpenSet::of(session);
    let present = OpenFiles::new(&set, state_slot);
    let count = |stored: &StoredJournal, own| match present.relation(stored, own) {
        Relation::Whole => unsaved(stored),
        Relation::SinceSave(lines) => usize::from(lines.is_some()),
        Relation::Waits(..) | Relation::None => 0,
    };
    let own = state_slot.earlier.iter().flatten().map(|stored| count(stored, true));
    let elsewhere = state_slot.other_journals(&session.disk);
    own.chain(elsewhere.iter().map(|other| count(&other.stored, false))).find(|count| *count > 0).unwrap_or_default()
}

/// What an earlier session that had these files open as another set left unsaved: how many changes, and the paths
/// that show them and ask. Where files are changed now, those could not be replayed any more.
pub(crate) fn changes_elsewhere(session: &Session, state_slot: &StateSlot) -> Option<(usize, String)> {
    waiting_for(&OpenSet::of(session), state_slot)
}

fn waiting_for(set: &OpenSet, state_slot: &StateSlot) -> Option<(usize, String)> {
    let present = OpenFiles::new(set, state_slot);
    let waits = |stored: &StoredJournal, own| match present.relation(stored, own) {
        Relation::Waits(count, paths) if count > 0 => Some((count, paths)),
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
        Relation::Whole | Relation::SinceSave(_) | Relation::Waits(..) => None,
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
    /// How many.
    pub changes: usize,
    /// The journal that holds them.
    pub journal: PathBuf,
    /// The paths that its set was opened by.
    pub paths: Vec<String>,
}

/// Whether it holds changes that someone may want back.
pub(super) fn has_recoverable_changes(stored: &StoredJournal) -> bool {
    unsaved(stored) > 0
}

fn set_aside_message(why: &str, aside: Option<&Path>) -> String {
    let place = aside.map_or_else(String::new, |path| format!(", kept as {}", path.display()));
    format!("unsaved changes of an earlier session cannot be replayed: {why}{place}")
}

/// How many changes it holds, those that are damaged included.
fn unsaved(stored: &StoredJournal) -> usize {
    let salvage = Salvage::of(&stored.entries, 0);
    let lost = usize::try_from(salvage.missing.count()).unwrap_or(usize::MAX);
    lost.saturating_add(labels(&salvage.steps).len() + salvage.missing.unsure.len())
}

/// The lines of a journal that can be applied to the files as they are open now.
pub(super) fn applicable(session: &Session, stored: &StoredJournal) -> Result<Vec<Entry>, EditError> {
    match OpenFiles::opened_by(&OpenSet::of(session), Vec::new()).relation(stored, false) {
        Relation::Whole => Ok(stored.entries.clone()),
        Relation::SinceSave(Some(entries)) => Ok(entries),
        Relation::SinceSave(None) => Err(EditError::Refused("all changes of this journal are saved".to_owned())),
        Relation::Waits(_, paths) => Err(EditError::Refused(format!("this journal is of another set; open {paths}"))),
        Relation::None => Err(EditError::Refused("the files have changed since this journal was written".to_owned())),
    }
}

/// The save that was the last to begin.
fn begun(stored: &StoredJournal) -> Option<BegunSave> {
    let mut parsed = stored.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
    let hashes = parsed.find_map(|line| if let JournalLine::Saving(hashes) = line { Some(hashes) } else { None })?;
    let paths = match parsed.next() {
        Some(JournalLine::To(paths)) => paths,
        _ => stored.header.paths(),
    };
    Some(BegunSave { hashes, paths })
}

/// What was changed since the last save began, as entries of a journal that counts from its files.
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
