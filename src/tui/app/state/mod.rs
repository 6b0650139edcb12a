//! The state that all modes share: the session, the cursor, requests, messages and jobs.
//!
//! Each part of the state is a type of its own, which knows nothing of the others.

pub(in crate::tui) mod data_columns;
pub(in crate::tui::app) mod find;
pub(in crate::tui) mod grid;
pub(in crate::tui::app) mod jobs;
pub(in crate::tui) mod large;
pub(in crate::tui) mod new_urls;
pub(in crate::tui::app) mod outcome;
pub(in crate::tui::app) mod paths;
pub(in crate::tui) mod preview;
pub(in crate::tui) mod probing;
pub(in crate::tui) mod recent;
pub(in crate::tui) mod request;
pub(in crate::tui::app) mod save;
pub(in crate::tui::app) mod wanted;

use crate::document::rows::RowId;
use crate::document::view::ViewSpec;
use crate::files::external_changes::FileChange;
use crate::files::{FirstRow, Options};
use crate::protocol::Severity;
use crate::session::Session;
use crate::session::command::Command;
use crate::session::edit::DefaultScope;
use crate::session::edit::EditError;
use crate::session::report::CountsByFile;
use crate::tui::command::Action;
use crate::tui::jobs::Kind;
use crate::tui::keymap::Keymap;
use crate::tui::layout::{Areas, LayoutRequest, areas};
use crate::tui::theme::Theme;
use crate::tui::words::Words;
use grid::Grid;
use jobs::JobQueue;
use large::Large;
use outcome::JobOutcome;
use probing::Probing;
use ratatui::layout::Rect;
use recent::Recent;
use request::Request;
use save::SaveState;
use std::collections::VecDeque;
use std::path::PathBuf;
use wanted::WantedRows;

/// Rows up to which a view, a preview, a plan or a list of changes is worked out at once, without a job.
pub(in crate::tui::app) const AT_ONCE: u32 = 5_000;

/// A message in the footer. It stays until the next key, as in vim: no one has to read against a clock.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// The text.
    pub words: Words,
    /// Errors are shown in every mode, notes only while nothing is being typed.
    pub severity: Severity,
}

/// What to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A file or an index.
    Path(PathBuf),
    /// Several files as one set without an index.
    Paths(Vec<PathBuf>),
    /// The bundled sample set.
    Sample,
}

/// Whether keys wait until the set can be edited.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum KeyHold {
    /// They are handled at once; a change is refused while files are read.
    #[default]
    Off,
    /// They wait: all files are read, a new set is created, or changes of an earlier session are replayed.
    On,
    /// They wait, unless the job reports progress before the first of them.
    UntilProgress,
}

/// What was opened, and what is known of it while it is read.
#[derive(Default)]
pub(in crate::tui) struct Opening {
    /// Whether keys wait for the set.
    pub keys: KeyHold,
    /// How files are read.
    pub(in crate::tui::app) options: Options,
    /// What was opened last.
    pub(in crate::tui::app) start: Option<Start>,
    /// Filter and order to be restored when it is read.
    pub(in crate::tui::app) view: Option<ViewSpec>,
    /// The first rows of a large file, until the session has them.
    pub first_rows: Vec<FirstRow>,
    /// What is being opened, until the session knows it.
    pub path: Option<PathBuf>,
}

/// Files that other programs have changed, as far as is known.
#[derive(Debug, Default)]
pub(in crate::tui) struct Outside {
    /// The files.
    pub changed: Vec<(PathBuf, FileChange)>,
    /// Which state of the disk a look has to be about: our own saves are not changes by others.
    pub(in crate::tui::app) epoch: u64,
}

impl Outside {
    /// The files here are those on disk again.
    pub(in crate::tui::app) fn forget(&mut self) {
        self.changed.clear();
        self.epoch += 1;
    }
}

/// The mouse.
#[derive(Debug)]
pub(in crate::tui) struct Mouse {
    /// Whether clicks come here, or select text of the terminal.
    pub(in crate::tui::app) is_captured: bool,
    /// Whether it was reported how to select text.
    pub(in crate::tui::app) is_explained: bool,
    /// The rows of the last frame, from the top: what a click is about.
    pub(in crate::tui::app) drawn_rows: Vec<RowId>,
}

/// What all modes share.
pub(in crate::tui) struct Shared {
    /// The open set.
    pub session: Session,
    /// How things look.
    pub theme: Theme,
    /// Columns and rows of the window.
    pub size: (u16, u16),
    /// Keys of the table.
    pub keymap: Keymap,
    /// Cursor and scrolling.
    pub grid: Grid,
    /// What is reported in the footer.
    pub message: Option<Message>,
    /// Jobs that run, and what is to be done outside.
    pub jobs: JobQueue,
    /// Whether the details are wanted; `None` leaves it to the width of the window.
    pub wants_details: Option<bool>,
    /// Entries that are too long to be read for a frame.
    pub large: Large,
    /// Rows that are still being looked for.
    pub wanted: WantedRows,
    /// What was typed, changed and copied last.
    pub recent: Recent,
    /// The save that is being prepared.
    pub save: SaveState,
    /// What was opened.
    pub opening: Opening,
    /// Files that other programs have changed.
    pub outside: Outside,
    /// Findings of rows by file, as they were counted last.
    pub(in crate::tui::app) row_counts: Option<CountsByFile>,
    /// The answers of the site.
    pub probing: Probing,
    /// The mouse.
    pub mouse: Mouse,
    /// What was asked for and is done after the key.
    requests: VecDeque<Request>,
}

impl Shared {
    /// The state around a session that has nothing yet.
    pub(in crate::tui::app) fn new(session: Session, theme: &Theme, size: (u16, u16)) -> Self {
        Self {
            session,
            theme: *theme,
            size,
            keymap: Keymap::hybrid(),
            grid: Grid::default(),
            message: None,
            jobs: JobQueue::default(),
            wants_details: None,
            large: Large::default(),
            wanted: WantedRows::default(),
            recent: Recent::default(),
            save: SaveState::default(),
            opening: Opening::default(),
            outside: Outside::default(),
            row_counts: None,
            probing: Probing::default(),
            mouse: Mouse { is_captured: true, is_explained: false, drawn_rows: Vec::new() },
            requests: VecDeque::new(),
        }
    }

    /// Asks for something that is done after the key.
    pub(in crate::tui::app) fn request(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    /// What was asked for first.
    pub(in crate::tui::app) fn next_request(&mut self) -> Option<Request> {
        self.requests.pop_front()
    }

    /// Shows a note until the next key.
    pub(in crate::tui::app) fn show_note(&mut self, text: impl Into<String>) {
        self.show_words(Words::text(text.into()), Severity::Note);
    }

    /// Shows an error until the next key.
    pub(in crate::tui::app) fn fail(&mut self, text: impl Into<String>) {
        self.show_words(Words::text(text.into()), Severity::Error);
    }

    /// Shows a message until the next key.
    pub(in crate::tui::app) fn show_words(&mut self, words: Words, severity: Severity) {
        self.message = Some(Message { words, severity });
    }

    /// Whether the document can be changed now.
    pub(in crate::tui::app) fn changeable(&self) -> Result<(), EditError> {
        self.session.writable()?;
        self.is_unchanging()
    }

    /// Whether no change is being worked out that is about the document as it is.
    pub(in crate::tui::app) fn is_unchanging(&self) -> Result<(), EditError> {
        if self.jobs.is_busy(Kind::Edit) {
            return Err(EditError::Refused("the last change is still being applied; Esc stops it".into()));
        }
        Ok(())
    }

    /// The same, and an error is shown where it cannot.
    pub(in crate::tui::app) fn is_changeable(&mut self) -> bool {
        let refused = self.changeable().err();
        if let Some(refused) = &refused {
            self.fail(refused.to_string());
        }
        refused.is_none()
    }

    /// Whether an action has to wait for the entry under the cursor to be read; it is done then.
    pub(in crate::tui::app) fn waits_for_entry(&mut self, row: RowId, action: Action) -> bool {
        let waits = self.large.waits(&self.session, row, action);
        if waits {
            self.show_note("reading the entry…");
        }
        waits
    }

    /// Whether the details of the current row have a place.
    pub(crate) fn shows_details(&self) -> bool {
        self.wants_details.unwrap_or(self.size.0 >= 150)
    }

    /// Where things are on the screen while nothing needs a tall pane.
    pub(crate) fn areas(&self) -> Areas {
        self.areas_with(false)
    }

    /// Where things are on the screen, with a tall pane or a low one.
    pub(crate) fn areas_with(&self, tall: bool) -> Areas {
        let all = Rect::new(0, 0, self.size.0, self.size.1);
        areas(all, LayoutRequest { tall, detail: self.shows_details() })
    }

    /// Who asks, for commands without a scope: the screen, about the row under the cursor.
    pub(in crate::tui::app) const fn default_scope(&self) -> DefaultScope {
        DefaultScope::Cursor(self.grid.row)
    }

    /// Works out what a command would do; the outcome has the ticket that this gives.
    pub(in crate::tui::app) fn ask_preview(&mut self, command: Command, default_scope: DefaultScope) -> u64 {
        let ticket = self.jobs.next_ticket();
        let snapshot = self.session.snapshot();
        self.jobs.run(Kind::Preview, self.is_small(), move |progress| JobOutcome::Preview {
            ticket,
            preview: preview::of(&snapshot, &command, default_scope, progress),
        });
        ticket
    }

    /// Whether the set is so small that its rows can be examined between two frames.
    pub(in crate::tui::app) fn is_small(&self) -> bool {
        self.session.document().row_limit() <= AT_ONCE
    }
}
