//! Large entries: read by a job while the screen shows what is known.
//!
//! Invariant: neither a key nor a frame looks at an entry of more than [`SMALL`] bytes; what they need of it is
//! here, found out once for each version of the document.

use crate::check::Action as FixAction;
use crate::check::Finding;
use crate::check::Profile;
use crate::check::rule::Rule;
use crate::document::RowState;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::edit::Change;
use crate::session::findings;
use crate::session::state::Snapshot;
use crate::tui::command::Action;
use crate::tui::outline::{Outline, badges};
use crate::tui::text;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bytes of an entry up to which a frame reads what it shows of it.
pub(in crate::tui) const SMALL: usize = 1 << 14;

/// Bytes of new URLs up to which they are inserted between two frames.
const PASTED: usize = 1 << 18;

/// Bytes that are kept of either end of a value.
const CLIP: usize = 1 << 12;

/// Findings of one rule that are listed one by one.
const LISTED: usize = 20;

/// Large rows outside of the window that are remembered.
const REMEMBERED: usize = 1 << 10;

/// Both ends of a value, or all of a short one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clip {
    /// The value up to a certain length.
    pub front: String,
    /// The end of a value that is longer than both.
    back: String,
    /// Bytes of the whole value.
    pub len: usize,
}

impl Clip {
    fn of(value: &str) -> Self {
        if value.len() <= 2 * CLIP {
            return Self { front: value.to_owned(), back: String::new(), len: value.len() };
        }
        let (front, back) = (text::up_to(value, CLIP), text::from(value, value.len() - CLIP));
        Self { front: front.to_owned(), back: back.to_owned(), len: value.len() }
    }

    /// Whether something is missing.
    pub(crate) const fn is_cut(&self) -> bool {
        self.front.len() < self.len
    }

    /// Both ends, for a cell that shows less than either.
    pub(crate) fn ends(&self) -> String {
        format!("{}{}", self.front, self.back)
    }
}

/// What the screen says of a row's fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RowSummary {
    /// The values, by [`Field::index`].
    pub cells: [Option<Clip>; 4],
    /// The values in the saved files.
    pub saved: [Option<Clip>; 4],
    /// Which of them differ.
    pub changed: [bool; 4],
    /// How many extensions there are, in words.
    pub badges: String,
}

impl RowSummary {
    /// Reads the entry.
    pub(crate) fn of(snapshot: &Snapshot, row: RowId) -> Self {
        let (document, saved) = (&snapshot.document, &snapshot.saved);
        let is_changed = document.compare(saved).row_state(row) == RowState::Changed;
        Self {
            cells: Field::ALL.map(|field| document.value(row, field).as_deref().map(Clip::of)),
            saved: Field::ALL.map(|field| saved.value(row, field).filter(|_| is_changed).as_deref().map(Clip::of)),
            changed: Field::ALL.map(|field| is_changed && document.compare(saved).field_differs(row, field)),
            badges: badges(document.extensions(row)),
        }
    }
}

/// What the screen says of the large entry under the cursor.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its fields.
    pub facts: Arc<RowSummary>,
    /// Its extensions and its text.
    pub outline: Outline,
    /// Its findings, worst first; of each rule the first few.
    pub findings: Vec<Finding>,
    /// How many more there are, by rule.
    pub more: Vec<(Rule, usize)>,
}

impl Entry {
    /// Reads the entry. `None` when cancelled.
    fn of(snapshot: &Snapshot, row: RowId, progress: &Progress) -> Option<Self> {
        let outline = Outline::of(snapshot, row, || progress.is_cancelled())?;
        let facts = Arc::new(RowSummary::of(snapshot, row));
        if progress.is_cancelled() {
            return None;
        }
        let mut worded: BTreeMap<Rule, usize> = BTreeMap::new();
        let mut findings = findings::of_row(snapshot, row);
        findings.retain_mut(|finding| {
            // What is written instead is worked out when it is asked for: it is as long as the entry.
            if let Some(fix) = &mut finding.fix
                && let FixAction::Rewrite(text) = &mut fix.action
            {
                *text = String::new();
            }
            let count = worded.entry(finding.rule).or_default();
            *count += 1;
            *count <= LISTED
        });
        findings.shrink_to_fit();
        let more = worded.into_iter().filter(|(_, count)| *count > LISTED).map(|(rule, count)| (rule, count - LISTED));
        Some(Self { facts, outline, findings, more: more.collect() })
    }
}

/// What an entry was read for: what is found out about it holds as long as this is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    version: u64,
    saves: u64,
    is_loading: bool,
    profile: Profile,
    /// Where the policy is held: another one is held elsewhere.
    policy: Option<usize>,
    /// Where the data is held.
    data: Option<usize>,
}

impl Stamp {
    fn of(session: &Session) -> Self {
        let now = session.view();
        Self {
            version: now.version,
            saves: now.saves,
            is_loading: session.is_loading(),
            profile: session.view().profile(),
            policy: session.policy().map(|policy| Arc::as_ptr(policy).addr()),
            data: now.data.as_ref().map(|data| Arc::as_ptr(data).addr()),
        }
    }
}

/// What a worker brings.
#[derive(Debug)]
pub struct LargeRows {
    request: EntryRequest,
    current: Option<(RowId, Arc<Entry>)>,
    facts: Vec<(RowId, Arc<RowSummary>)>,
}

/// Which entries are read, and of which state.
#[derive(Debug, PartialEq, Eq)]
struct EntryRequest {
    stamp: Stamp,
    current: Option<RowId>,
    rows: Vec<RowId>,
}

impl EntryRequest {
    fn covers(&self, stamp: &Stamp, current: Option<RowId>, rows: &[RowId]) -> bool {
        self.stamp == *stamp
            && (current.is_none() || current == self.current)
            && rows.iter().all(|row| self.rows.contains(row))
    }
}

/// Large entries that were read, and those that are being read.
#[derive(Debug, Default)]
pub(in crate::tui) struct Large {
    facts: HashMap<RowId, (Stamp, Arc<RowSummary>)>,
    current: Option<(RowId, Stamp, Arc<Entry>)>,
    wanted: Option<EntryRequest>,
    /// What a key asked for that needs the entry under the cursor.
    then: Option<Action>,
}

/// Bytes of a row's entry, about.
pub(in crate::tui) fn size(session: &Session, row: RowId) -> usize {
    let document = session.document();
    let edited = Field::ALL.into_iter().filter_map(|field| document.edited(row, field).flatten());
    let base = document.base_text(row).len().max(session.view().saved.base_text(row).len());
    base + edited.map(str::len).sum::<usize>()
}

/// Whether a row's entry is too long to be read for a frame.
pub(in crate::tui) fn is_large(session: &Session, row: RowId) -> bool {
    size(session, row) > SMALL
}

/// Whether a change is about an entry that is too long to be changed between two frames.
pub(in crate::tui::app) fn is_changed_by(session: &Session, change: &Change) -> bool {
    let has_large_row = |rows: &RowSet| rows.iter().any(|row| is_large(session, RowId(row)));
    match change {
        Change::Several(changes) => changes.iter().any(|change| is_changed_by(session, change)),
        Change::Insert { locs, .. } => locs.iter().map(String::len).sum::<usize>() > PASTED,
        Change::Raw { row, text } => text.len() > SMALL || is_large(session, *row),
        Change::Set { rows, assignments } => {
            assignments.iter().any(|assignment| assignment.typed.len() > SMALL) || has_large_row(rows)
        }
        change => change.rows().is_some_and(has_large_row),
    }
}

/// Whether any row is too long to be changed between two frames; asks each row.
pub(in crate::tui::app) fn has_large_rows(session: &Session) -> bool {
    session.document().live_rows().any(|row| is_large(session, row))
}

/// What is to be done so that the next frame knows what it needs of large entries.
pub(in crate::tui::app) enum ReadNext {
    /// Nothing: all is known, or being read.
    Nothing,
    /// What is being read is not needed any more.
    Cancel,
    /// Entries are to be read by a job.
    Read(Box<dyn FnOnce(&Progress) -> LargeRows + Send>),
}

impl Large {
    /// Another key was pressed.
    pub(in crate::tui::app) const fn forget(&mut self) {
        self.then = None;
    }

    /// What is known of a large row's fields.
    pub(in crate::tui) fn facts(&self, session: &Session, row: RowId) -> Option<&Arc<RowSummary>> {
        let stamp = Stamp::of(session);
        let known = self.facts.get(&row).filter(|(known, _)| *known == stamp).map(|(_, facts)| facts);
        known.or_else(|| self.entry(session, row).map(|entry| &entry.facts))
    }

    /// The large entry under the cursor, as far as it is read.
    pub(in crate::tui) fn entry(&self, session: &Session, row: RowId) -> Option<&Entry> {
        let (own, stamp, entry) = self.current.as_ref()?;
        (*own == row && *stamp == Stamp::of(session)).then_some(entry)
    }

    /// A field's value, or both ends of a long one; `None` also where it is not known yet.
    pub(in crate::tui) fn cell<'a>(&self, session: &'a Session, row: RowId, field: Field) -> Option<Cow<'a, str>> {
        if !is_large(session, row) {
            return session.view().cell(row, field);
        }
        let clip = self.facts(session, row)?.cells.get(field.index())?.as_ref()?;
        Some(Cow::Owned(clip.ends()))
    }

    /// Whether an action has to wait for the entry under the cursor to be read; it is done then.
    pub(in crate::tui::app) fn waits(&mut self, session: &Session, row: RowId, action: Action) -> bool {
        let waits = is_large(session, row) && self.entry(session, row).is_none();
        if waits {
            self.then = Some(action);
        }
        waits
    }

    /// Finds out what the next frame needs to know of large entries and no one has found out yet.
    pub(in crate::tui::app) fn follow(
        &mut self,
        session: &Session,
        cursor: Option<RowId>,
        shown: impl Iterator<Item = RowId>,
    ) -> ReadNext {
        let stamp = Stamp::of(session);
        let current = cursor.filter(|row| is_large(session, *row) && self.entry(session, *row).is_none());
        let rows: Vec<RowId> =
            shown.filter(|row| is_large(session, *row) && self.facts(session, *row).is_none()).collect();
        if current.is_none() && rows.is_empty() {
            return if self.wanted.take().is_some() { ReadNext::Cancel } else { ReadNext::Nothing };
        }
        if self.wanted.as_ref().is_some_and(|wanted| wanted.covers(&stamp, current, &rows)) {
            return ReadNext::Nothing;
        }
        self.wanted = Some(EntryRequest { stamp: stamp.clone(), current, rows: rows.clone() });
        let snapshot = session.snapshot();
        ReadNext::Read(Box::new(move |progress| {
            let entry = current.and_then(|row| Some((row, Arc::new(Entry::of(&snapshot, row, progress)?))));
            let mut facts: Vec<(RowId, Arc<RowSummary>)> =
                entry.iter().map(|(row, entry)| (*row, Arc::clone(&entry.facts))).collect();
            for row in rows.iter().filter(|row| Some(**row) != current) {
                if progress.is_cancelled() {
                    break;
                }
                facts.push((*row, Arc::new(RowSummary::of(&snapshot, *row))));
            }
            LargeRows { request: EntryRequest { stamp, current, rows }, current: entry, facts }
        }))
    }

    /// Takes in what a worker brings; gives the action that waited for the entry, if it is the one under the cursor.
    pub(in crate::tui::app) fn take(&mut self, read: LargeRows, cursor: Option<RowId>) -> Option<Action> {
        let LargeRows { request, current, facts } = read;
        self.wanted.take_if(|wanted| *wanted == request);
        if self.facts.len() > REMEMBERED {
            self.facts.clear();
        }
        let stamp = request.stamp;
        self.facts.extend(facts.into_iter().map(|(row, facts)| (row, (stamp.clone(), facts))));
        let (row, found) = current?;
        self.current = Some((row, stamp, found));
        if cursor == Some(row) { self.then } else { None }
    }
}

impl Change {
    /// The rows that it is about, where it names them.
    pub(in crate::tui::app) const fn rows(&self) -> Option<&RowSet> {
        match self {
            Self::Set { rows, .. }
            | Self::Values { rows, .. }
            | Self::Replace { rows, .. }
            | Self::Nudge { rows, .. }
            | Self::Fix { rows, .. }
            | Self::Extend { rows, .. }
            | Self::Decide { rows, .. }
            | Self::Duplicate(rows)
            | Self::Delete(rows)
            | Self::Restore(rows)
            | Self::Revert(rows) => Some(rows),
            Self::RebaseIndex(_)
            | Self::Insert { .. }
            | Self::Several(_)
            | Self::Raw { .. }
            | Self::FixFile(..)
            | Self::RevertFile(_)
            | Self::ApplyOrder => None,
        }
    }
}
