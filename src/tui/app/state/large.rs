//! Large entries: read by a job and cached, so that keys and frames never read them.
//!
//! Invariant: neither a key nor a frame reads an entry of more than [`SMALL`] bytes; what they need of it is cached
//! here, once for each version of the document.

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

/// Maximum size of an entry that a frame reads, in bytes.
pub(in crate::tui) const SMALL: usize = 1 << 14;

/// Maximum total length of new URLs that are inserted without a job, in bytes.
const MAX_INSERTED: usize = 1 << 18;

/// Number of bytes that are cached of each end of a long value.
const EXCERPT_BYTES: usize = 1 << 12;

/// Maximum number of findings of one rule that are listed.
const MAX_LISTED: usize = 20;

/// Number of cached rows at which the cache is cleared.
const MAX_CACHED: usize = 1 << 10;

/// A short value, or both ends of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueExcerpt {
    /// The value, or the beginning of a long one.
    pub front: String,
    /// The end of a long value.
    back: String,
    /// Length of the whole value in bytes.
    pub len: usize,
}

impl ValueExcerpt {
    fn of(value: &str) -> Self {
        if value.len() <= 2 * EXCERPT_BYTES {
            return Self { front: value.to_owned(), back: String::new(), len: value.len() };
        }
        let (front, back) = (text::up_to(value, EXCERPT_BYTES), text::from(value, value.len() - EXCERPT_BYTES));
        Self { front: front.to_owned(), back: back.to_owned(), len: value.len() }
    }

    /// Whether the value is longer than the excerpt.
    pub(crate) const fn is_cut(&self) -> bool {
        self.front.len() < self.len
    }

    /// Both ends, for a cell narrower than each of them.
    pub(crate) fn ends(&self) -> String {
        format!("{}{}", self.front, self.back)
    }
}

/// The fields of a row as the screen shows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RowSummary {
    /// The values, by [`Field::index`].
    pub cells: [Option<ValueExcerpt>; 4],
    /// The values in the saved files.
    pub saved: [Option<ValueExcerpt>; 4],
    /// Which of them differ.
    pub changed: [bool; 4],
    /// Badges with the number of extensions.
    pub badges: String,
}

impl RowSummary {
    /// Reads the entry.
    pub(crate) fn of(snapshot: &Snapshot, row: RowId) -> Self {
        let (document, saved) = (&snapshot.document, &snapshot.saved);
        let is_changed = document.compare(saved).row_state(row) == RowState::Changed;
        Self {
            cells: Field::ALL.map(|field| document.value(row, field).as_deref().map(ValueExcerpt::of)),
            saved: Field::ALL
                .map(|field| saved.value(row, field).filter(|_| is_changed).as_deref().map(ValueExcerpt::of)),
            changed: Field::ALL.map(|field| is_changed && document.compare(saved).field_differs(row, field)),
            badges: badges(document.extensions(row)),
        }
    }
}

/// The large entry at the cursor as the screen shows it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its fields.
    pub facts: Arc<RowSummary>,
    /// Its extensions and its text.
    pub outline: Outline,
    /// Its findings, worst first; of each rule the first few.
    pub findings: Vec<Finding>,
    /// Number of findings that are not listed, by rule.
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
        let mut counts: BTreeMap<Rule, usize> = BTreeMap::new();
        let mut findings = findings::of_row(snapshot, row);
        findings.retain_mut(|finding| {
            // The replacement is as large as the entry; it is computed when it is requested.
            if let Some(fix) = &mut finding.fix
                && let FixAction::Rewrite(text) = &mut fix.action
            {
                *text = String::new();
            }
            let count = counts.entry(finding.rule).or_default();
            *count += 1;
            *count <= MAX_LISTED
        });
        findings.shrink_to_fit();
        let more =
            counts.into_iter().filter(|(_, count)| *count > MAX_LISTED).map(|(rule, count)| (rule, count - MAX_LISTED));
        Some(Self { facts, outline, findings, more: more.collect() })
    }
}

/// The state of the session for which an entry was read; the cache is valid while it is equal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    version: u64,
    saves: u64,
    is_loading: bool,
    profile: Profile,
    /// Address of the policy, which differs for another policy.
    policy: Option<usize>,
    /// Address of the data.
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

/// Large entries that a job has read.
#[derive(Debug)]
pub struct LargeRows {
    request: EntryRequest,
    current: Option<(RowId, Arc<Entry>)>,
    facts: Vec<(RowId, Arc<RowSummary>)>,
}

/// The entries to read, and the state that they are read in.
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

/// The cache of large entries, and the request that is running.
#[derive(Debug, Default)]
pub(in crate::tui) struct LargeEntries {
    facts: HashMap<RowId, (Stamp, Arc<RowSummary>)>,
    current: Option<(RowId, Stamp, Arc<Entry>)>,
    running: Option<EntryRequest>,
    /// The action that waits for the entry at the cursor.
    then: Option<Action>,
}

/// Approximate size of a row's entry in bytes.
pub(in crate::tui) fn size(session: &Session, row: RowId) -> usize {
    let document = session.document();
    let edited = Field::ALL.into_iter().filter_map(|field| document.edited(row, field).flatten());
    let base = document.base_text(row).len().max(session.view().saved.base_text(row).len());
    base + edited.map(str::len).sum::<usize>()
}

/// Whether a row's entry is too large to read for a frame.
pub(in crate::tui) fn is_large(session: &Session, row: RowId) -> bool {
    size(session, row) > SMALL
}

/// Whether a change affects an entry that is too large to change between two frames.
pub(in crate::tui::app) fn is_changed_by(session: &Session, change: &Change) -> bool {
    let has_large_row = |rows: &RowSet| rows.iter().any(|row| is_large(session, RowId(row)));
    match change {
        Change::Several(changes) => changes.iter().any(|change| is_changed_by(session, change)),
        Change::Insert { locs, .. } => locs.iter().map(String::len).sum::<usize>() > MAX_INSERTED,
        Change::Raw { row, text } => text.len() > SMALL || is_large(session, *row),
        Change::Set { rows, assignments } => {
            assignments.iter().any(|assignment| assignment.typed.len() > SMALL) || has_large_row(rows)
        }
        change => change.rows().is_some_and(has_large_row),
    }
}

/// Whether any row is too large to change between two frames; examines every row.
pub(in crate::tui::app) fn has_large_rows(session: &Session) -> bool {
    session.document().live_rows().any(|row| is_large(session, row))
}

/// How to get the large entries that the next frame needs.
pub(in crate::tui::app) enum ReadNext {
    /// All are cached or being read.
    Nothing,
    /// The running request is no longer needed.
    Cancel,
    /// A job must read entries.
    Read(Box<dyn FnOnce(&Progress) -> LargeRows + Send>),
}

impl LargeEntries {
    /// Drops the waiting action, since another key was pressed.
    pub(in crate::tui::app) const fn forget(&mut self) {
        self.then = None;
    }

    /// The fields of a large row, if they are cached.
    pub(in crate::tui) fn facts(&self, session: &Session, row: RowId) -> Option<&Arc<RowSummary>> {
        let stamp = Stamp::of(session);
        let known = self.facts.get(&row).filter(|(known, _)| *known == stamp).map(|(_, facts)| facts);
        known.or_else(|| self.entry(session, row).map(|entry| &entry.facts))
    }

    /// The large entry at the cursor, if it is cached.
    pub(in crate::tui) fn entry(&self, session: &Session, row: RowId) -> Option<&Entry> {
        let (own, stamp, entry) = self.current.as_ref()?;
        (*own == row && *stamp == Stamp::of(session)).then_some(entry)
    }

    /// A field's value, or both ends of a long one; `None` also if it is not cached yet.
    pub(in crate::tui) fn cell<'a>(&self, session: &'a Session, row: RowId, field: Field) -> Option<Cow<'a, str>> {
        if !is_large(session, row) {
            return session.view().cell(row, field);
        }
        let clip = self.facts(session, row)?.cells.get(field.index())?.as_ref()?;
        Some(Cow::Owned(clip.ends()))
    }

    /// Whether an action must wait until the entry at the cursor is read; it runs then.
    pub(in crate::tui::app) fn waits(&mut self, session: &Session, row: RowId, action: Action) -> bool {
        let waits = is_large(session, row) && self.entry(session, row).is_none();
        if waits {
            self.then = Some(action);
        }
        waits
    }

    /// Determines which large entries the next frame needs and are not cached.
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
            return if self.running.take().is_some() { ReadNext::Cancel } else { ReadNext::Nothing };
        }
        if self.running.as_ref().is_some_and(|wanted| wanted.covers(&stamp, current, &rows)) {
            return ReadNext::Nothing;
        }
        self.running = Some(EntryRequest { stamp: stamp.clone(), current, rows: rows.clone() });
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

    /// Caches entries that a job has read; returns the waiting action if its entry is the one at the cursor.
    pub(in crate::tui::app) fn take(&mut self, read: LargeRows, cursor: Option<RowId>) -> Option<Action> {
        let LargeRows { request, current, facts } = read;
        self.running.take_if(|wanted| *wanted == request);
        if self.facts.len() > MAX_CACHED {
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
    /// The rows of the change, if it names them.
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
