//! The state of the editor, and `update`, the one function that changes it.
//!
//! [`App::update`] takes an event and returns effects; it does no I/O, starts no
//! thread and reads no clock, so the same keys always lead to the same state.
//!
//! A key goes to the current mode (`modes`), which changes itself and the shared state (`state`)
//! by `operations`; `requests`, `actions` and `commands` dispatch its further requests, and
//! `flows` execute them and may open other modes.

mod actions;
mod commands;
mod flows;
mod input;
pub(in crate::tui) mod modes;
pub(in crate::tui) mod operations;
mod outcomes;
mod requests;
pub(in crate::tui) mod state;
#[cfg(test)]
mod tests;

pub use state::Start;
pub use state::jobs::{Event, Work};

pub(crate) use state::jobs::{Effect, Part};
pub(crate) use state::outcome::JobOutcome;

use super::command::Action as A;
use super::draw::columns::Columns;
use super::event::Signal;
use super::jobs::Kind;
use super::layout::Areas;
use super::theme::Theme;
use crate::document::rows::RowId;
use crate::files::Options;
use crate::files::external_changes::Thoroughness;
use crate::protocol::Field;
use crate::protocol::lastmod::Now;
use crate::session::Session;
use crate::session::store::background_load;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use flows::{external_changes, leave, opening, probe, rules, save};
use modes::ask::Ask;
use modes::cell::CellEdit;
use modes::items::Item;
use modes::line::LineEdit;
use modes::list::{List, ListKind};
use modes::{Mode, Modes};
use operations::cursor;
use state::KeyHold;
use state::Shared;
use state::large::ReadNext;
use state::recent::Purpose;
use std::collections::VecDeque;

/// Input that waits until the requested rows are shown.
enum HeldInput {
    /// A key or pasted text.
    Event(Box<Event>),
    /// A click, with the row that was drawn there.
    Click(RowId, Option<Field>),
}

/// The state of the screen.
pub struct App {
    /// The state that all modes share.
    pub(in crate::tui) shared: Shared,
    /// The open modes.
    pub(in crate::tui) modes: Modes,
    /// Input that waits for requested rows.
    held_input: VecDeque<HeldInput>,
}

/// Whether an event is a key, a paste or the mouse.
pub fn is_input(event: &Event) -> bool {
    matches!(event, Event::Key(_) | Event::Paste(_) | Event::Mouse(_))
}

impl App {
    /// The state of an empty session.
    pub fn new(session: Session, theme: Theme, size: (u16, u16)) -> Self {
        Self { shared: Shared::new(session, &theme, size), modes: Modes::default(), held_input: VecDeque::new() }
    }

    /// Sets the current time.
    pub const fn set_clock(&mut self, now: Now) {
        self.shared.session.set_clock(now);
    }

    /// Requests the load.
    pub fn start(&mut self, start: Start, options: Options) -> Vec<Effect> {
        opening::start(&mut self.shared, start, options);
        self.shared.jobs.take_effects()
    }

    /// Columns and rows of the window.
    pub const fn size(&self) -> (u16, u16) {
        self.shared.size
    }

    /// Changes the state by an event and returns the effects: the only way to change it.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        if self.must_hold(&event) {
            let held = match input::clicked(self, &event) {
                Some((row, field)) => HeldInput::Click(row, field),
                None => HeldInput::Event(Box::new(event)),
            };
            self.held_input.push_back(held);
        } else {
            self.take(event);
        }
        while !self.rows_are_pending()
            && let Some(held) = self.held_input.pop_front()
        {
            match held {
                HeldInput::Event(event) => self.take(*event),
                HeldInput::Click(row, field) => cursor::go_to_clicked(&mut self.shared, row, field),
            }
        }
        save::take_held_plan(self);
        probe::receive_answers(&mut self.shared);
        self.finish_requests();
        self.fit_grid();
        self.read_large_entries();
        self.shared.jobs.take_effects()
    }

    /// Whether the requested rows are not shown yet.
    fn rows_are_pending(&self) -> bool {
        self.modes.is_browsing()
            && (self.shared.requested_rows.is_any()
                || self.shared.opening.keys != KeyHold::Off
                || self.shared.has_no_rows_yet())
    }

    /// Whether an event must wait for requested rows: `f`, a query, Enter and `dd` delete
    /// the rows that match the query, however fast they were typed.
    fn must_hold(&self, event: &Event) -> bool {
        let needs_rows = match event {
            Event::Key(key) => {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                let at_once = control && matches!(key.code, KeyCode::Char('c' | 'l' | 'z'));
                key.code != KeyCode::Esc && !at_once && !self.works_at_once(*key)
            }
            Event::Paste(_) => true,
            Event::Mouse(mouse) => matches!(mouse.kind, MouseEventKind::Down(_)),
            _ => false,
        };
        needs_rows && (self.rows_are_pending() || !self.held_input.is_empty())
    }

    /// Whether a key works although others wait, and no input before it waits. Before the session has rows, that is a key
    /// that needs no row, or moves the cursor among the first rows: so the editor can be left even if a load never ends,
    /// as with a network file system that does not answer. Between the last file and the set that can be edited, keys
    /// that move the cursor work.
    fn works_at_once(&self, key: KeyEvent) -> bool {
        if !self.held_input.is_empty() {
            return false;
        }
        let Some(action) = self.shared.keymap.action_of(key.into()) else { return false };
        if !self.shared.has_no_rows_yet() {
            let moves_by_page = matches!(action, A::PageUp | A::PageDown | A::HalfPageUp | A::HalfPageDown);
            let moves = moves_by_page || matches!(action, A::Up | A::Down | A::Left | A::Right | A::Last);
            return moves && !self.shared.requested_rows.is_any();
        }
        let (grid, page) = (&self.shared.grid, self.areas().page());
        let below = grid.first_rows.saturating_sub(grid.position + 1);
        match action {
            A::Quit | A::Help | A::CommandLine | A::Palette | A::Mouse | A::Up | A::PageUp | A::HalfPageUp => true,
            A::Down => below > 0,
            A::HalfPageDown => below >= page / 2,
            A::PageDown => below >= page,
            _ => false,
        }
    }

    fn take(&mut self, event: Event) {
        if is_input(&event) && self.has_undrawn_dialog() {
            return;
        }
        match event {
            Event::Key(key) => self.key(key),
            Event::Paste(text) => input::paste(self, &text),
            Event::Mouse(mouse) => input::mouse(self, mouse),
            Event::Resize(columns, rows) => self.shared.size = (columns, rows),
            Event::Focus => external_changes::check_external_changes(&mut self.shared, Thoroughness::Quick, false),
            Event::Part(Part::Files { files, is_last }) => {
                if files.has_rows() {
                    self.shared.show_first_rows(Vec::new());
                    // After the last file, keys wait for the set that can be edited.
                    self.shared.opening.keys = if is_last { KeyHold::On } else { KeyHold::Off };
                }
                background_load::show(&mut self.shared.session, *files);
            }
            Event::Part(Part::Answers(answers)) => probe::answered(&mut self.shared, answers),
            Event::Done(finished) => outcomes::job_ended(self, finished.kind, finished.outcome),
            Event::Progress(kind, reading) => {
                self.shared.jobs.set_reading(kind, reading);
                let keys = &mut self.shared.opening.keys;
                if kind == Kind::Load && *keys == KeyHold::UntilProgress && self.held_input.is_empty() {
                    *keys = KeyHold::Off;
                }
            }
            // The screen shows the state of the journal in every frame.
            Event::Journal => {}
            Event::Signal(Signal::Stop) => leave::suspend(&mut self.shared),
            Event::Signal(Signal::Continue) => self.shared.jobs.effect(Effect::Reclaim),
            Event::Signal(Signal::End(number)) => self.shared.jobs.quit(u8::try_from(128 + number).unwrap_or(255)),
            Event::InputEnded => self.shared.jobs.quit(129),
        }
        self.finish_requests();
    }

    fn key(&mut self, key: KeyEvent) {
        self.shared.message = None;
        self.shared.large.forget();
        let ctrl = |letter| key.code == KeyCode::Char(letter) && key.modifiers == KeyModifiers::CONTROL;
        if ctrl('z') {
            return leave::suspend(&mut self.shared);
        }
        if ctrl('l') {
            return self.shared.jobs.effect(Effect::Repaint);
        }
        let next = self.modes.current_mut().handle(key, &mut self.shared);
        self.modes.follow(next);
    }

    /// Executes requests and takes the outcomes of small jobs until none are left.
    fn finish_requests(&mut self) {
        loop {
            if let Some(request) = self.shared.next_request() {
                requests::execute(self, request);
            } else if let Some(outcome) = self.shared.jobs.next_immediate_outcome() {
                outcomes::take(self, outcome);
            } else if !self.refresh_lists() {
                return;
            }
        }
    }

    /// Updates the open list after a change of the document. True if it requested something.
    fn refresh_lists(&mut self) -> bool {
        match self.modes.current_mut() {
            Mode::List(list) => match list.covered.take() {
                Some(lines_after) => {
                    if list.kind == ListKind::Rules {
                        rules::refresh(self, lines_after);
                    }
                    true
                }
                None => false,
            },
            Mode::Changes(changes) => changes.follow(&mut self.shared),
            _ => false,
        }
    }

    /// Updates the cursor and the columns at the end of each update.
    fn fit_grid(&mut self) {
        let page = self.areas().page();
        let Shared { session, grid, opening, theme, .. } = &mut self.shared;
        grid.clamp(session, page);
        grid.measure(session, &opening.first_rows, theme.charset);
        if self.columns().field(self.shared.grid.field).width == 0 {
            self.shared.grid.field = Field::Loc;
        }
    }

    /// Requests the large entries that the next frame needs.
    fn read_large_entries(&mut self) {
        let window = self.window();
        let Shared { session, grid, large, jobs, .. } = &mut self.shared;
        let shown = window.filter_map(|position| session.view().row_at(position));
        match large.follow(session, grid.row, shown) {
            ReadNext::Nothing => {}
            ReadNext::Cancel => jobs.effect(Effect::Cancel(Kind::Read)),
            ReadNext::Read(read) => {
                jobs.run(Kind::Read, false, move |progress| JobOutcome::Read(Box::new(read(progress))));
            }
        }
    }

    /// Records the rows of a drawn frame: later clicks refer to them, even if the rows have changed since.
    pub fn was_drawn(&mut self) {
        let session = &self.shared.session;
        let rows = self.window().filter_map(|position| session.view().row_at(position)).collect();
        self.shared.mouse.drawn_rows = rows;
        self.dialog_was_drawn();
    }

    /// Whether a dialog is open that was not drawn yet; its input is dropped.
    pub fn has_undrawn_dialog(&mut self) -> bool {
        self.modes.current_mut().drawn().is_some_and(|drawn| !*drawn)
    }

    /// Records that the dialog was drawn, so that input is accepted.
    pub fn dialog_was_drawn(&mut self) {
        if let Some(drawn) = self.modes.current_mut().drawn() {
            *drawn = true;
        }
    }

    /// The current layout of the screen.
    pub fn areas(&self) -> Areas {
        self.shared.areas_with(self.modes.current().is_tall())
    }

    /// The current columns of the table.
    pub(in crate::tui) fn columns(&self) -> Columns {
        // The column of the cell that is being edited is always visible.
        let needed = if let Mode::Cell(edit) = self.modes.current() { Some(edit.field) } else { None };
        self.shared.grid.columns(&self.shared.session, self.areas().rows.width, needed)
    }

    /// The visible rows, as positions of the view.
    pub(in crate::tui) fn window(&self) -> std::ops::Range<u32> {
        self.shared.grid.window(&self.shared.session, self.areas().page())
    }

    /// Opens a mode and closes all others.
    fn open(&mut self, mode: Mode) {
        self.modes.open(mode);
    }

    fn open_list(&mut self, kind: ListKind, lines: Vec<Item>) {
        self.open(Mode::List(List::new(kind, lines)));
    }

    fn ask(&mut self, question: Ask) {
        self.open(Mode::Ask(Box::new(question)));
    }

    /// Edits the cell at the cursor; `fresh`: starting with an empty value.
    fn open_cell(&mut self, fresh: bool) {
        if let Some(edit) = CellEdit::new(&mut self.shared, fresh) {
            self.open(Mode::Cell(edit));
        }
    }

    fn open_line(&mut self, purpose: Purpose, text: &str) {
        cursor::end_range(&mut self.shared);
        let edit = LineEdit::new(&mut self.shared, purpose, text, None);
        self.open(Mode::Line(edit));
    }

    /// Opens the command line for the row at the cursor only, even if rows are marked.
    fn open_line_here(&mut self, text: &str) {
        if self.shared.ensure_changeable() {
            cursor::end_range(&mut self.shared);
            let row = self.shared.grid.row;
            let edit = LineEdit::new(&mut self.shared, Purpose::Command, text, row);
            self.open(Mode::Line(edit));
        }
    }
}
