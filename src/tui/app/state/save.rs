//! The save in preparation: its plan, its questions, and what it waits for.

use crate::session::store::planning::Planned;
use std::path::PathBuf;

/// A save that waits for an answer.
#[derive(Debug)]
pub(in crate::tui::app) struct Waiting {
    /// Another name to save to.
    pub to: Option<PathBuf>,
    /// Whether files that others changed are overwritten.
    pub force: bool,
}

/// A plan that is being worked out.
#[derive(Debug)]
pub(in crate::tui::app) struct PlanRequest {
    /// Which request it is.
    pub ticket: u64,
    /// Another name to save to.
    pub to: Option<PathBuf>,
    /// What it is for.
    pub purpose: PlanPurpose,
}

/// What a plan is for.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui::app) enum PlanPurpose {
    /// To be carried out, after questions if there are some.
    Save {
        /// Whether files that others changed are overwritten.
        force: bool,
    },
    /// To be shown.
    Show,
}

impl PlanRequest {
    /// Whether something will be written.
    pub(crate) const fn is_save(&self) -> bool {
        matches!(self.purpose, PlanPurpose::Save { .. })
    }
}

/// The save that is being prepared.
#[derive(Debug, Default)]
pub(in crate::tui) struct SaveState {
    /// Whether the set was saved since it was changed last.
    pub is_saved: bool,
    /// Whether the program is left when the save is done.
    pub(in crate::tui::app) then_leave: bool,
    /// The save that waits for an answer.
    pub(in crate::tui::app) waiting: Option<Waiting>,
    /// A folder that was agreed to be created, for the file that needs it.
    pub(in crate::tui::app) new_folder: Option<PathBuf>,
    /// The plan that is being worked out.
    pub(in crate::tui::app) wanted: Option<PlanRequest>,
    /// A plan that has come while something was being typed.
    pub(in crate::tui::app) held: Option<(PlanRequest, Planned)>,
    /// The plan that is being looked at.
    pub(in crate::tui::app) plan: Option<Planned>,
}

impl SaveState {
    /// Gives up what waits for an answer.
    pub(in crate::tui::app) fn forget(&mut self) {
        self.then_leave = false;
        (self.waiting, self.plan, self.new_folder) = (None, None, None);
    }
}
