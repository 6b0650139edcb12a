//! Large entries: read by a worker while the screen shows what is known.
//!
//! Invariant: neither a key nor a frame looks at an entry of more than [`SMALL`] bytes; what they need of it is
//! here, found out once for each version of the document.

use super::super::command::Action;
use super::super::jobs::Kind;
use super::super::show::{Outline, badges};
use super::super::text;
use super::{App, Effect, JobOutcome, Mode};
use crate::check::fix::Action as FixAction;
use crate::check::profile::Profile;
use crate::check::rule::Rule;
use crate::document::RowState;
use crate::document::rows::{RowId, RowSet};
use crate::progress::Progress;
use crate::protocol::Field;
use crate::session::Session;
use crate::session::change::Change;
use crate::session::findings::Finding;
use crate::session::snapshot::Snapshot;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bytes of an entry up to which a frame reads what it shows of it.
pub(in crate::tui) const SMALL: usize = 1 << 14;

/// Bytes of new URLs up to which they are inserted between two frames.
const PASTED: usize = 1 << 18;

/// Bytes that are kept of either end of a value.
const CLIP: usize = 1 << 12;

/// Findings of one rule that are told one by one.
const TOLD: usize = 20;

/// Large rows outside of the window that are remembered.
const REMEMBERED: usize = 1 << 10;

/// Both ends of a value, or all of a short one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clip {
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
    pub const fn is_cut(&self) -> bool {
        self.front.len() < self.len
    }

    /// Both ends, for a cell that shows less than either.
    pub fn ends(&self) -> String {
        format!("{}{}", self.front, self.back)
    }
}

/// What the screen says of a row's fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowSummary {
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
    pub fn of(snapshot: &Snapshot, row: RowId) -> Self {
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
pub struct Entry {
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
        let mut told: BTreeMap<Rule, usize> = BTreeMap::new();
        let mut findings = snapshot.findings(row);
        findings.retain_mut(|finding| {
            // What is written instead is worked out when it is asked for: it is as long as the entry.
            if let Some(fix) = &mut finding.fix
                && let FixAction::Rewrite(text) = &mut fix.action
            {
                *text = String::new();
            }
            let count = told.entry(finding.rule).or_default();
            *count += 1;
            *count <= TOLD
        });
        findings.shrink_to_fit();
        let more = told.into_iter().filter(|(_, count)| *count > TOLD).map(|(rule, count)| (rule, count - TOLD));
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
}

impl Stamp {
    fn of(session: &Session) -> Self {
        let now = session.view();
        Self {
            version: now.version,
            saves: now.saves,
            is_loading: session.is_loading(),
            profile: session.profile(),
            policy: session.policy().map(|policy| Arc::as_ptr(policy).addr()),
        }
    }
}

/// What a worker brings.
#[derive(Debug)]
pub struct Read {
    stamp: Stamp,
    current: Option<(RowId, Arc<Entry>)>,
    facts: Vec<(RowId, Arc<RowSummary>)>,
}

#[derive(Debug)]
struct EntryRequest {
    ticket: u64,
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

impl Large {
    /// Another key was pressed.
    pub(super) const fn forget(&mut self) {
        self.then = None;
    }
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
pub(super) fn is_changed_by(session: &Session, change: &Change) -> bool {
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
pub(super) fn has_large_rows(session: &Session) -> bool {
    session.document().live_rows().any(|row| is_large(session, row))
}

/// What is known of a large row's fields.
pub(in crate::tui) fn facts(app: &App, row: RowId) -> Option<&Arc<RowSummary>> {
    let stamp = Stamp::of(&app.session);
    let known = app.large.facts.get(&row).filter(|(known, _)| *known == stamp).map(|(_, facts)| facts);
    known.or_else(|| entry(app, row).map(|entry| &entry.facts))
}

/// The large entry under the cursor, as far as it is read.
pub(in crate::tui) fn entry(app: &App, row: RowId) -> Option<&Entry> {
    let (own, stamp, entry) = app.large.current.as_ref()?;
    (*own == row && *stamp == Stamp::of(&app.session)).then_some(entry)
}

/// A field's value, or both ends of a long one; `None` also where it is not known yet.
pub(in crate::tui) fn cell(app: &App, row: RowId, field: Field) -> Option<Cow<'_, str>> {
    if !is_large(&app.session, row) {
        return app.session.cell(row, field);
    }
    let clip = facts(app, row)?.cells.get(field.index())?.as_ref()?;
    Some(Cow::Owned(clip.ends()))
}

/// Whether an action has to wait for the entry under the cursor to be read; it is done then.
pub(super) fn waits(app: &mut App, row: RowId, action: Action) -> bool {
    let waits = is_large(&app.session, row) && entry(app, row).is_none();
    if waits {
        app.large.then = Some(action);
        app.say("reading the entry…");
    }
    waits
}

/// Asks for what the next frame needs to know of large entries and nobody has found out yet.
pub(super) fn follow(app: &mut App) {
    let session = &app.session;
    let stamp = Stamp::of(session);
    let current = app.grid.row.filter(|row| is_large(session, *row) && entry(app, *row).is_none());
    let shown = app.window().filter_map(|position| session.row_at(position));
    let rows: Vec<RowId> = shown.filter(|row| is_large(session, *row) && facts(app, *row).is_none()).collect();
    if current.is_none() && rows.is_empty() {
        if app.large.wanted.take().is_some() {
            app.effects.push(Effect::Cancel(Kind::Read));
        }
        return;
    }
    if app.large.wanted.as_ref().is_some_and(|wanted| wanted.covers(&stamp, current, &rows)) {
        return;
    }
    let (snapshot, ticket) = (app.session.snapshot(), app.next_ticket());
    app.large.wanted = Some(EntryRequest { ticket, stamp: stamp.clone(), current, rows: rows.clone() });
    let work = move |progress: &Progress, _: &dyn Fn(_)| {
        let entry = current.and_then(|row| Some((row, Arc::new(Entry::of(&snapshot, row, progress)?))));
        let mut facts: Vec<(RowId, Arc<RowSummary>)> =
            entry.iter().map(|(row, entry)| (*row, Arc::clone(&entry.facts))).collect();
        for row in rows.into_iter().filter(|row| Some(*row) != current) {
            if progress.is_cancelled() {
                break;
            }
            facts.push((row, Arc::new(RowSummary::of(&snapshot, row))));
        }
        JobOutcome::Read { ticket, read: Box::new(Read { stamp, current: entry, facts }) }
    };
    app.spawn(Kind::Read, Box::new(work));
}

/// Takes in what a worker brings.
pub(super) fn take(app: &mut App, ticket: u64, read: Read) {
    let large = &mut app.large;
    large.wanted.take_if(|wanted| wanted.ticket == ticket);
    if large.facts.len() > REMEMBERED {
        large.facts.clear();
    }
    let Read { stamp, current, facts } = read;
    large.facts.extend(facts.into_iter().map(|(row, facts)| (row, (stamp.clone(), facts))));
    let Some((row, found)) = current else { return };
    large.current = Some((row, stamp, found));
    if app.grid.row == Some(row)
        && matches!(app.mode, Mode::Grid | Mode::Detail)
        && let Some(action) = app.large.then.take()
    {
        app.message = None;
        app.run(action, None);
    }
}

impl Change {
    /// The rows that it is about, where it names them.
    pub(super) const fn rows(&self) -> Option<&RowSet> {
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
