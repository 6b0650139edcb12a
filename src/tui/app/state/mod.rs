//! The state that all modes share: the session, the cursor, requests, messages and jobs.
//!
//! Each part of the state is a type of its own, which does not depend on the others.

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
pub(in crate::tui::app) mod requested_rows;
pub(in crate::tui::app) mod save;

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
use large::LargeEntries;
use outcome::JobOutcome;
use probing::Probing;
use ratatui::layout::Rect;
use recent::Recent;
use request::Request;
use requested_rows::RequestedRows;
use save::SaveState;
use std::collections::VecDeque;
use std::path::PathBuf;

/// Maximum number of rows for which a view, a preview, a plan or a list of changes is computed without a job.
pub(in crate::tui::app) const AT_ONCE: u32 = 5_000;

/// A message in the footer. It stays until the next key, as in vim, and never disappears by itself.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// The text.
    pub words: Words,
    /// Errors are shown in every mode, notes only while nothing is being typed.
    pub severity: Severity,
}

/// What to open first.
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
    /// Keys are handled at once; changes are refused while files are read.
    #[default]
    Off,
    /// Keys wait: all files are read, a new set is created, or changes of an earlier session are replayed.
    On,
    /// Keys wait, unless the job reports progress before the first key.
    UntilProgress,
}

/// What was opened, and its first rows while it is read.
#[derive(Default)]
pub(in crate::tui) struct Opening {
    /// Whether keys wait until the set can be edited.
    pub keys: KeyHold,
    /// How files are read.
    pub(in crate::tui::app) options: Options,
    /// What was opened last.
    pub(in crate::tui::app) start: Option<Start>,
    /// Filter and sort keys of the view once all files are loaded: those before a reload, or the last requested ones.
    pub(in crate::tui::app) view: Option<ViewSpec>,
    /// The first rows of a large file, until the session has them.
    pub first_rows: Vec<FirstRow>,
    /// The path that is being opened, until the session has it.
    pub path: Option<PathBuf>,
}

/// Files that other programs have changed, as of the last check.
#[derive(Debug, Default)]
pub(in crate::tui) struct Outside {
    /// The files.
    pub changed: Vec<(PathBuf, FileChange)>,
    /// Increased by each save and merge, so that the results of earlier checks, which would report our own changes, are
    /// dropped.
    pub(in crate::tui::app) epoch: u64,
    /// Whether the terminal got the focus during the load, so that the files are compared after it.
    pub(in crate::tui::app) is_check_due: bool,
}

impl Outside {
    /// The files on disk are those of the session again.
    pub(in crate::tui::app) fn forget(&mut self) {
        self.changed.clear();
        self.epoch += 1;
    }
}

/// The state of the mouse.
#[derive(Debug)]
pub(in crate::tui) struct Mouse {
    /// Whether the program gets clicks; otherwise they select text in the terminal.
    pub(in crate::tui::app) is_captured: bool,
    /// Whether the note on selecting text was shown.
    pub(in crate::tui::app) is_explained: bool,
    /// The rows of the last frame from the top, to map clicks to rows.
    pub(in crate::tui::app) drawn_rows: Vec<RowId>,
}

/// The state that all modes share.
pub(in crate::tui) struct Shared {
    /// The open set.
    pub session: Session,
    /// Colours and signs.
    pub theme: Theme,
    /// Columns and rows of the window.
    pub size: (u16, u16),
    /// Keys of the table.
    pub keymap: Keymap,
    /// Cursor and scrolling.
    pub grid: Grid,
    /// The message in the footer.
    pub message: Option<Message>,
    /// Running jobs and pending effects.
    pub jobs: JobQueue,
    /// Whether the details pane is shown; `None`: if the window is wide enough.
    pub wants_details: Option<bool>,
    /// Entries too large to read for each frame.
    pub large: LargeEntries,
    /// Views and searches that are being computed.
    pub requested_rows: RequestedRows,
    /// Recent input, changes and copies.
    pub recent: Recent,
    /// The save that is being prepared.
    pub save: SaveState,
    /// The path that is open, and how it was opened.
    pub opening: Opening,
    /// Files that other programs have changed.
    pub outside: Outside,
    /// Findings of rows by file, as counted last.
    pub(in crate::tui::app) row_counts: Option<CountsByFile>,
    /// Answers of `:probe`.
    pub probing: Probing,
    /// The state of the mouse.
    pub mouse: Mouse,
    /// Requests to execute after the key.
    requests: VecDeque<Request>,
}

impl Shared {
    /// The state of an empty session.
    pub(in crate::tui::app) fn new(session: Session, theme: &Theme, size: (u16, u16)) -> Self {
        Self {
            session,
            theme: *theme,
            size,
            keymap: Keymap::with_default_keys(),
            grid: Grid::default(),
            message: None,
            jobs: JobQueue::default(),
            wants_details: None,
            large: LargeEntries::default(),
            requested_rows: RequestedRows::default(),
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

    /// Queues a request that is executed after the key.
    pub(in crate::tui::app) fn request(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    /// The oldest request.
    pub(in crate::tui::app) fn next_request(&mut self) -> Option<Request> {
        self.requests.pop_front()
    }

    /// Shows a note until the next key.
    pub(in crate::tui::app) fn show_note(&mut self, text: impl Into<String>) {
        self.show_words(Words::text(text.into()), Severity::Note);
    }

    /// Shows an error until the next key.
    pub(in crate::tui::app) fn show_error(&mut self, text: impl Into<String>) {
        self.show_words(Words::text(text.into()), Severity::Error);
    }

    /// Shows a message until the next key.
    pub(in crate::tui::app) fn show_words(&mut self, words: Words, severity: Severity) {
        self.message = Some(Message { words, severity });
    }

    /// Checks that the document can be changed now.
    pub(in crate::tui::app) fn check_changeable(&self) -> Result<(), EditError> {
        self.session.writable()?;
        self.check_no_edit_running()
    }

    /// Checks that no change of the current document is being computed.
    pub(in crate::tui::app) fn check_no_edit_running(&self) -> Result<(), EditError> {
        if self.jobs.is_busy(Kind::Edit) {
            return Err(EditError::Refused("the last change is still being applied; Esc stops it".into()));
        }
        Ok(())
    }

    /// Whether the document can be changed now; shows an error if not.
    pub(in crate::tui::app) fn ensure_changeable(&mut self) -> bool {
        let refused = self.check_changeable().err();
        if let Some(refused) = &refused {
            self.show_error(refused.to_string());
        }
        refused.is_none()
    }

    /// Whether an action must wait until the entry at the cursor is read; it runs then.
    pub(in crate::tui::app) fn waits_for_entry(&mut self, row: RowId, action: Action) -> bool {
        let waits = self.large.waits(&self.session, row, action);
        if waits {
            self.show_note("reading the entry…");
        }
        waits
    }

    /// Sets the first rows of a file, which are shown until the session has rows.
    pub(in crate::tui::app) fn show_first_rows(&mut self, rows: Vec<FirstRow>) {
        self.grid.first_rows = rows.len() as u32;
        self.opening.first_rows = rows;
    }

    /// Whether a set is being loaded and none of its rows is known yet, so that keys for rows wait.
    pub(in crate::tui::app) fn has_no_rows_yet(&self) -> bool {
        self.jobs.is_busy(Kind::Load) && self.session.view().urls() == 0
    }

    /// Whether the details pane is shown.
    pub(crate) fn shows_details(&self) -> bool {
        self.wants_details.unwrap_or(self.size.0 >= 150)
    }

    /// The layout with a low pane.
    pub(crate) fn areas(&self) -> Areas {
        self.areas_with(false)
    }

    /// The layout with a tall or a low pane.
    pub(crate) fn areas_with(&self, tall: bool) -> Areas {
        let all = Rect::new(0, 0, self.size.0, self.size.1);
        areas(all, LayoutRequest { tall, detail: self.shows_details() })
    }

    /// The rows for commands without a scope: the row at the cursor.
    pub(in crate::tui::app) const fn default_scope(&self) -> DefaultScope {
        DefaultScope::Cursor(self.grid.row)
    }

    /// Computes the preview of a command; its outcome carries the returned ticket.
    pub(in crate::tui::app) fn request_preview(&mut self, command: Command, default_scope: DefaultScope) -> u64 {
        let ticket = self.jobs.next_ticket();
        let snapshot = self.session.snapshot();
        self.jobs.run(Kind::Preview, self.is_small(), move |progress| JobOutcome::Preview {
            ticket,
            preview: preview::preview_command(&snapshot, &command, default_scope, progress),
        });
        ticket
    }

    /// Whether the set is small enough to process all rows between two frames.
    pub(in crate::tui::app) fn is_small(&self) -> bool {
        self.session.document().row_limit() <= AT_ONCE
    }
}
