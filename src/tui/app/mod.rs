//! The state of the editor, and `update`, the one function that changes it.
//!
//! [`App::update`] takes an event and gives back what is to be done outside; it does no I/O, starts no
//! thread and reads no clock, so a string of keys always leads to the same state.

mod act;
mod bulk;
mod cell;
mod changes;
mod clip;
mod conflicts;
mod decide;
mod detail;
mod dialog;
mod edit;
mod element;
mod explain;
mod external_changes;
mod files;
mod fix;
mod frequency;
mod grid;
mod help;
mod inspect;
mod job_outcome;
pub(in crate::tui) mod large;
mod line;
mod list;
mod merge;
mod paths;
mod preview;
mod rules;
mod save;
mod search;
#[cfg(test)]
mod tests;

pub use bulk::{Bulk, Reach};
pub use cell::{CellEdit, Verdict};
pub use changes::Changes;
pub use clip::{Add, Doubt};
pub use dialog::is_input;
pub use element::{ElementEdit, ElementValue};
pub use files::{Ask, Start};
pub use fix::Here;
pub use grid::Grid;
pub(in crate::tui) use grid::stem;
pub use job_outcome::JobOutcome;
pub use large::{Clip, Read, RowSummary};
pub use line::{LineEdit, Purpose};
pub use list::{List, ListKind};
pub use merge::Merging;
pub use paths::Listing;
pub use preview::Preview;
pub use search::Hit;

use super::event::Signal;
use super::jobs::{self, Kind};
use super::keymap::{Keymap, Stroke};
use super::layout::{Areas, LayoutRequest, areas};
use super::theme::Theme;
use super::words::Words;
use crate::document::query::Query;
use crate::document::rows::RowId;
use crate::document::view::ViewSpec;
use crate::files::external_changes::{FileChange, Thoroughness};
use crate::files::{FirstRow, Options};
use crate::progress::Reading;
use crate::protocol::lastmod::Now;
use crate::protocol::{Field, Severity};
use crate::session::Session;
use crate::session::journal::RecoverableChanges;
use crate::session::load::LoadedFile;
use crate::session::planning::Planned;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::path::PathBuf;

/// What happens to the state.
pub type Event = super::event::Event<JobOutcome, LoadedFile>;
/// Long work that the state asks for.
pub type Work = jobs::Work<JobOutcome, LoadedFile>;

/// What is to be done outside of the state.
pub enum Effect {
    /// Start work, or let it wait for the running work of its kind.
    Spawn(Kind, Work),
    /// Ask the work of a kind to stop.
    Cancel(Kind),
    /// Send text to the terminal's clipboard.
    Copy(String),
    /// Stop as Ctrl-Z does; the words are left on the screen.
    Suspend(String),
    /// Take the terminal again, whatever became of it.
    Reclaim,
    /// Draw everything anew.
    Repaint,
    /// Ask for mouse events, or leave the mouse to the terminal.
    Mouse(bool),
    /// End with this exit status.
    Quit(u8),
}

/// What the keys are for.
#[derive(Debug)]
pub enum Mode {
    /// The table: letters are commands.
    Grid,
    /// The details of the row are being read: keys scroll them.
    Detail,
    /// A cell is being edited.
    Cell(Box<CellEdit>),
    /// A command, a query.
    Line(Box<LineEdit>),
    /// One field of many rows.
    Bulk(Box<Bulk>),
    /// New URLs.
    Add(Box<Add>),
    /// The values of an element of an extension.
    Element(Box<ElementEdit>),
    /// A list to read or to choose from.
    List(Box<List>),
    /// The unsaved changes.
    Changes(Box<Changes>),
    /// What others wrote, being merged with what was changed here.
    Merge(Box<Merging>),
    /// A question with answers.
    Ask(Box<Ask>),
}

/// A message in the footer. It stays until the next key, as in vim: nobody has to read against a clock.
#[derive(Debug, Clone)]
pub struct Message {
    /// The text.
    pub words: Words,
    /// Errors are shown in every mode, notes only while nothing is being typed.
    pub severity: Severity,
}

/// What waits until the rows on show are those that were asked for.
enum Ahead {
    /// Something typed.
    Event(Box<Event>),
    /// A click, already understood: it is about the row that was drawn there.
    Click(RowId, Option<Field>),
}

/// The state of the screen.
pub struct App {
    /// The open set.
    pub(in crate::tui) session: Session,
    /// How things look.
    pub(in crate::tui) theme: Theme,
    /// Columns and rows of the window.
    pub(in crate::tui) size: (u16, u16),
    /// Keys.
    pub(in crate::tui) keymap: Keymap,
    /// Cursor and scrolling.
    pub(in crate::tui) grid: Grid,
    /// What the keys are for.
    pub(in crate::tui) mode: Mode,
    /// What is said in the footer.
    pub(in crate::tui) message: Option<Message>,
    /// Jobs that run, with their counters.
    pub(in crate::tui) busy: [Option<Reading>; Kind::ALL.len()],
    /// Whether the details are wanted; `None` leaves it to the width of the window.
    pub(in crate::tui) detail: Option<bool>,
    /// The cursor of the details.
    pub(in crate::tui) details: detail::Cursor,
    /// Entries that are too long to be read for a frame.
    large: large::Large,
    /// The row that a line is about, whatever is marked.
    about: Option<RowId>,
    /// Whether the set was saved since it was changed last.
    pub(in crate::tui) saved: bool,
    /// Lines typed before, by purpose.
    recall: line::Recall,
    again: Option<edit::LastChange>,
    dropped: cell::Dropped,
    last_bulk: Option<String>,
    waiting: Option<save::Waiting>,
    new_folder: save::NewFolder,
    /// The plan that is being worked out, and what it is for.
    plan_wanted: Option<save::PlanRequest>,
    /// One that has come while something was being typed.
    plan_held: Option<(save::PlanRequest, Planned)>,
    /// The one that is being looked at.
    plan: Option<Planned>,
    /// The question that comes back when what it is about was looked at.
    under: Option<Box<Ask>>,
    /// Merge conflicts that are being asked about.
    resolving: Option<conflicts::Resolving>,
    /// What an earlier session left unsaved, until it is decided what becomes of it.
    left: Option<RecoverableChanges>,
    options: Options,
    /// What was opened last.
    started: Option<Start>,
    spec_after_load: Option<ViewSpec>,
    /// The first rows of a large file, until the session has them.
    pub(in crate::tui) beginning: Vec<FirstRow>,
    /// What is being opened, until the session knows it.
    pub(in crate::tui) opening: Option<PathBuf>,
    /// What is in the folder whose path was typed last.
    listing: Option<Listing>,
    copied: Vec<String>,
    mouse: bool,
    mouse_explained: bool,
    leave_after_save: bool,
    ticket: u64,
    /// Files that others have changed, as far as is known.
    pub(in crate::tui) outside: Vec<(PathBuf, FileChange)>,
    /// Which state of the disk a look has to be about: our own saves are no news.
    looks: u64,
    /// Which request for the unsaved changes counts.
    pending_wanted: u64,
    spec_wanted: Option<(u64, ViewSpec)>,
    sought: Option<Query>,
    last_search: search::LastSearch,
    hit_wanted: u64,
    /// Whether a job looks for that hit.
    seeking: bool,
    /// What was typed while the rows it is about were still being looked for.
    ahead: VecDeque<Ahead>,
    /// The rows of the last frame, from the top: what a click is about.
    seen: Vec<RowId>,
    effects: Vec<Effect>,
}

impl App {
    /// The state around a session that has nothing yet.
    pub fn new(session: Session, theme: Theme, size: (u16, u16)) -> Self {
        Self {
            session,
            theme,
            size,
            keymap: Keymap::hybrid(),
            grid: Grid::default(),
            mode: Mode::Grid,
            message: None,
            busy: [None; Kind::ALL.len()],
            detail: None,
            details: detail::Cursor::default(),
            large: large::Large::default(),
            about: None,
            saved: false,
            recall: line::Recall::default(),
            again: None,
            dropped: cell::Dropped::default(),
            last_bulk: None,
            waiting: None,
            new_folder: None,
            plan_wanted: None,
            plan_held: None,
            plan: None,
            under: None,
            resolving: None,
            left: None,
            options: Options::default(),
            started: None,
            spec_after_load: None,
            beginning: Vec::new(),
            opening: None,
            listing: None,
            copied: Vec::new(),
            mouse: true,
            mouse_explained: false,
            leave_after_save: false,
            ticket: 0,
            outside: Vec::new(),
            looks: 0,
            pending_wanted: 0,
            spec_wanted: None,
            sought: None,
            last_search: search::LastSearch::default(),
            hit_wanted: 0,
            seeking: false,
            ahead: VecDeque::new(),
            seen: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Tells the state what time it is.
    pub const fn set_clock(&mut self, now: Now) {
        self.session.set_clock(now);
    }

    /// The one door: an event changes the state and gives back what is to be done outside.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        if self.waits(&event) {
            let ahead = match self.clicked(&event) {
                Some((row, field)) => Ahead::Click(row, field),
                None => Ahead::Event(Box::new(event)),
            };
            self.ahead.push_back(ahead);
        } else {
            self.take(event);
        }
        while !self.rows_are_coming()
            && let Some(ahead) = self.ahead.pop_front()
        {
            match ahead {
                Ahead::Event(event) => self.take(*event),
                Ahead::Click(row, field) => self.go_to_clicked(row, field),
            }
        }
        self.take_held_plan();
        self.settle();
        large::follow(self);
        std::mem::take(&mut self.effects)
    }

    /// Whether the rows on show are not yet those that were asked for.
    fn rows_are_coming(&self) -> bool {
        matches!(self.mode, Mode::Grid | Mode::Detail) && (self.spec_wanted.is_some() || self.seeking)
    }

    /// Whether an event is about rows that are still being looked for: `f` and a query, Enter, `dd` deletes
    /// what the query finds, however fast it was typed.
    fn waits(&self, event: &Event) -> bool {
        let waits = match event {
            Event::Key(key) => {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                let at_once = control && matches!(key.code, KeyCode::Char('c' | 'l' | 'z'));
                key.code != KeyCode::Esc && !at_once
            }
            Event::Paste(_) => true,
            Event::Mouse(mouse) => matches!(mouse.kind, MouseEventKind::Down(_)),
            _ => false,
        };
        waits && (self.rows_are_coming() || !self.ahead.is_empty())
    }

    fn take(&mut self, event: Event) {
        if is_input(&event) && self.has_undrawn_dialog() {
            return;
        }
        match event {
            Event::Key(key) => self.key(key),
            Event::Paste(text) => self.paste(&text),
            Event::Mouse(mouse) => self.click(mouse),
            Event::Resize(columns, rows) => self.size = (columns, rows),
            Event::Focus => self.look_outside(Thoroughness::Glance, false),
            Event::Part(part) => {
                if matches!(part, LoadedFile::Sitemap { .. }) {
                    self.beginning = Vec::new();
                }
                self.session.absorb(part);
            }
            Event::Done(finished) => self.done(finished.kind, finished.outcome),
            Event::Progress(kind, reading) => self.busy[kind as usize] = Some(reading),
            // What is to be said stands on the screen as long as it lasts.
            Event::Journal => {}
            Event::Signal(Signal::Stop) => self.suspend(),
            Event::Signal(Signal::Continue) => self.effects.push(Effect::Reclaim),
            Event::Signal(Signal::End(number)) => self.quit_now(u8::try_from(128 + number).unwrap_or(255)),
            Event::InputEnded => self.quit_now(129),
        }
    }

    /// A frame was drawn: its rows are what a click is about, whatever happens until the click is heard of.
    pub fn was_drawn(&mut self) {
        let session = &self.session;
        let rows = self.window().filter_map(|position| session.row_at(position)).collect();
        self.seen = rows;
        self.dialog_was_drawn();
    }

    /// Where things stand on the screen now.
    pub fn areas(&self) -> Areas {
        let all = Rect::new(0, 0, self.size.0, self.size.1);
        let tall = match &self.mode {
            // While the table follows the typing, it keeps its place.
            Mode::Line(edit) => !matches!(edit.purpose, Purpose::Filter | Purpose::Search),
            Mode::Bulk(_) | Mode::Element(_) => true,
            Mode::Add(add) => !add.list.is_empty(),
            _ => false,
        };
        areas(all, LayoutRequest { tall, detail: self.shows_detail() })
    }

    /// Whether the details of the current row have a place.
    pub fn shows_detail(&self) -> bool {
        self.detail.unwrap_or(self.size.0 >= 150)
    }

    /// Whether a job of this kind runs.
    pub fn is_busy(&self, kind: Kind) -> bool {
        self.busy[kind as usize].is_some()
    }

    fn key(&mut self, key: KeyEvent) {
        self.message = None;
        self.large.forget();
        let ctrl = |letter| key.code == KeyCode::Char(letter) && key.modifiers == KeyModifiers::CONTROL;
        if ctrl('z') {
            return self.suspend();
        }
        if ctrl('l') {
            return self.effects.push(Effect::Repaint);
        }
        match std::mem::replace(&mut self.mode, Mode::Grid) {
            Mode::Grid => self.grid_key(key),
            Mode::Detail => self.detail_key(key),
            Mode::Cell(edit) => self.cell_key(edit, key),
            Mode::Line(edit) => self.line_key(edit, key),
            Mode::Bulk(bulk) => self.bulk_key(bulk, key),
            Mode::Add(add) => self.add_key(add, key),
            Mode::Element(edit) => self.element_key(edit, key),
            Mode::List(list) => self.list_key(list, key),
            Mode::Changes(changes) => self.changes_key(changes, key),
            Mode::Merge(merging) => self.merge_key(merging, key),
            Mode::Ask(ask) => self.ask_key(ask, key),
        }
        if !matches!(self.mode, Mode::Line(_) | Mode::Element(_)) {
            self.about = None;
        }
        if matches!(self.mode, Mode::Grid) && self.details.has_focus {
            self.mode = Mode::Detail;
        }
    }

    fn grid_key(&mut self, key: KeyEvent) {
        // The first rung of Esc: a count or keys that wait for more.
        if key.code == KeyCode::Esc && self.keymap.forget() {
            return;
        }
        match self.keymap.press(key.into()) {
            Stroke::Run(action, count) => self.run(action, count),
            Stroke::Wait => {}
            Stroke::Unknown => self.say("no such key; ? lists them all"),
        }
    }

    fn done(&mut self, kind: Kind, outcome: Option<JobOutcome>) {
        self.busy[kind as usize] = None;
        let Some(outcome) = outcome else {
            match kind {
                Kind::View => self.spec_wanted = None,
                Kind::Search => self.seeking = false,
                Kind::Plan => (self.plan_wanted, self.leave_after_save) = (None, false),
                _ => {}
            }
            self.ahead.clear();
            // The panic gave the terminal back, so that its words can be read later.
            self.effects.push(Effect::Reclaim);
            return self
                .fail("internal error: a background job panicked; your document is unchanged (please report this)");
        };
        match outcome {
            JobOutcome::Loaded(result) => self.loaded(result),
            JobOutcome::Beginning(rows) => {
                let is_wanted = self.session.is_loading() && self.session.shown() == 0;
                self.beginning = if is_wanted { rows } else { Vec::new() };
            }
            JobOutcome::View { ticket, version, spec, view } => self.view_done(ticket, version, spec, view),
            JobOutcome::Preview { ticket, preview } => self.preview_done(ticket, preview),
            JobOutcome::Edited(result) => self.edited(result),
            JobOutcome::Found { ticket, hit } => self.found(ticket, hit),
            JobOutcome::Planned { ticket, planned } => self.planned(ticket, planned),
            JobOutcome::Saved(result) => self.save_done(result),
            JobOutcome::Pending { ticket, pending } => self.changes_found(ticket, pending),
            JobOutcome::Conflicts(conflicts) => self.conflicts_read(conflicts),
            JobOutcome::Diffs(diffs) => self.diffs_found(diffs),
            JobOutcome::Proved(proofs) => self.proved(proofs),
            JobOutcome::Looked { ticket, outside, asked } => self.looked(ticket, &outside, asked),
            JobOutcome::HeldBack(outside) => self.save_held_back(&outside),
            JobOutcome::Listed(listing) => self.listed(listing),
            JobOutcome::Compared(result) => self.compared(result),
            JobOutcome::Merged(merged) => self.merged(merged),
            JobOutcome::Reported(written) => self.findings_written(written),
            JobOutcome::Read { ticket, read } => large::take(self, ticket, *read),
        }
    }

    /// Asks for work.
    fn spawn(&mut self, kind: Kind, work: Work) {
        self.busy[kind as usize].get_or_insert_default();
        self.effects.push(Effect::Spawn(kind, work));
    }

    fn next_ticket(&mut self) -> u64 {
        self.ticket += 1;
        self.ticket
    }

    /// Shows a note until the next key.
    fn say(&mut self, text: impl Into<String>) {
        self.say_words(Words::text(text.into()), Severity::Note);
    }

    /// Shows an error until the next key.
    fn fail(&mut self, text: impl Into<String>) {
        self.say_words(Words::text(text.into()), Severity::Error);
    }

    fn say_words(&mut self, words: Words, severity: Severity) {
        self.message = Some(Message { words, severity });
    }

    fn suspend(&mut self) {
        let unsaved = match self.session.changed() {
            0 => "no unsaved changes".to_owned(),
            changed => format!("{} unsaved", crate::words::counted(u64::from(changed), "changed row")),
        };
        self.effects.push(Effect::Suspend(unsaved));
    }

    fn quit_now(&mut self, status: u8) {
        for kind in Kind::ALL {
            // A save is left to finish: half a save is the one thing worse than none.
            if kind != Kind::Save && self.is_busy(kind) {
                self.effects.push(Effect::Cancel(kind));
            }
        }
        self.effects.push(Effect::Quit(status));
    }
}
