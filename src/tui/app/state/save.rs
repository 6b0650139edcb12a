//! The save in preparation: its plan, its questions, and what it waits for.

use crate::session::store::planning::Planned;
use std::path::PathBuf;

/// A save that waits for an answer.
#[derive(Debug)]
pub(in crate::tui::app) struct Waiting {
    /// The path to save to, if not that of the set.
    pub to: Option<PathBuf>,
    /// Whether files that other programs changed are overwritten.
    pub force: bool,
}

/// A plan that is being computed.
#[derive(Debug)]
pub(in crate::tui::app) struct PlanRequest {
    /// The ticket of the request.
    pub ticket: u64,
    /// The path to save to, if not that of the set.
    pub to: Option<PathBuf>,
    /// The purpose of the plan.
    pub purpose: PlanPurpose,
}

/// The purpose of a plan.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui::app) enum PlanPurpose {
    /// To be executed, after questions if any.
    Save {
        /// Whether files that other programs changed are overwritten.
        force: bool,
    },
    /// To be shown.
    Show,
}

impl PlanRequest {
    /// Whether files will be written.
    pub(crate) const fn is_save(&self) -> bool {
        matches!(self.purpose, PlanPurpose::Save { .. })
    }
}

/// The save that is being prepared.
#[derive(Debug, Default)]
pub(in crate::tui) struct SaveState {
    /// Whether the set was saved after its last change.
    pub is_saved: bool,
    /// Whether the program quits after the save.
    pub(in crate::tui::app) then_leave: bool,
    /// The save that waits for an answer.
    pub(in crate::tui::app) waiting: Option<Waiting>,
    /// A folder that the user agreed to create.
    pub(in crate::tui::app) new_folder: Option<PathBuf>,
    /// The plan that is being computed.
    pub(in crate::tui::app) wanted: Option<PlanRequest>,
    /// A plan that arrived while the user was typing.
    pub(in crate::tui::app) held: Option<(PlanRequest, Planned)>,
    /// The plan that is shown.
    pub(in crate::tui::app) plan: Option<Planned>,
}

impl SaveState {
    /// Cancels the save that waits for an answer.
    pub(in crate::tui::app) fn forget(&mut self) {
        self.then_leave = false;
        (self.waiting, self.plan, self.new_folder) = (None, None, None);
    }
}
