//! Requests of modes and list items, executed after the key by the module in charge.
//!
//! Requests keep modes independent of each other: a list only requests a command, and
//! [`requests`](crate::tui::app::requests) executes it and opens the modes that it needs.

use super::recent::Purpose;
use crate::check::FindingTarget;
use crate::check::decision::Decision;
use crate::check::rule::Rule;
use crate::files::{MergeConflict, Side};
use crate::protocol::Field;
use crate::protocol::extension::path::Path;
use crate::session::command::Command;
use crate::session::edit::DefaultScope;
use crate::session::store::journal::RecoverableChanges;
use crate::tui::command::Action;
use std::path::PathBuf;

/// The next state of a mode after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui::app) enum Next {
    /// It stays open.
    Stay,
    /// It is closed, and the mode below it is shown.
    Close,
    /// It and all modes below it are closed.
    CloseAll,
}

/// A request of a mode.
// A key makes one or two requests, so the size of the largest variant does not matter.
#[allow(clippy::large_enum_variant)]
pub(in crate::tui::app) enum Request {
    /// An action, with its count.
    Act(Action, Option<u32>),
    /// A command, with the rows for commands without a scope.
    Execute(Command, DefaultScope),
    /// The choice of a line of a list.
    Choose(Choice),
    /// The answer to a question, with the subject of the question.
    Answer(Answer, Subject),
    /// Open a line with this text.
    OpenLine(Purpose, String),
    /// The base URL that a save was waiting for.
    SetBase(String),
    /// Explain a rule, above the list of rules.
    ExplainRule(Rule),
    /// Show the preview of the fix of a rule, for one target or for all.
    PreviewFix(Option<FindingTarget>, Rule),
    /// Show the preview of the fix of a finding of a file or the set.
    PreviewNonRowFix(FindingTarget, Rule),
    /// Copy the changes made, as commands.
    CopyScript,
    /// List the changes made, as commands.
    OpenScript,
    /// List the elements that can be added below an element, or to the entry.
    OpenElements(Option<Path>),
    /// Edit the values of an element.
    EditElement(String, Vec<(String, String)>),
    /// Move the focus to the table.
    LeaveDetails,
}

/// The effect of choosing a line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// None: the line is text.
    Nothing,
    /// Runs an action.
    Run(Action),
    /// Goes to the state in which this number of steps is done.
    GoToState(usize),
    /// Shows the rows, or the files and index entries, that violate a rule.
    Rule(Rule),
    /// Shows the rows that violate a rule.
    Rows(Rule),
    /// Sets lastmod to typed text.
    Lastmod(String),
    /// Fixes the findings of a rule by a decision.
    Decide(Rule, Decision),
    /// Edits the cell of a field.
    Cell(Field),
    /// Fixes a finding of the row.
    RowFinding(Rule),
    /// Explains a finding of a file or the set.
    NonRowFinding(FindingTarget, Rule),
    /// Fixes a finding of a file or the set.
    FixNonRow(FindingTarget, Rule),
    /// Adds the element, or the attribute, of a path.
    Element(String),
    /// Shows the rows that match a query.
    Filter(String),
    /// Shows or hides a data column.
    DataColumn(String),
    /// Lists the URLs of the data that no row has.
    MissingUrls,
    /// Opens the command line with this text.
    Line(String),
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Go back to the table.
    Stay,
    /// Save, then leave.
    SaveAndQuit,
    /// Leave without saving.
    Discard,
    /// Create a sitemap at this path.
    Create(PathBuf),
    /// Create this folder, and continue the save.
    CreateFolder(PathBuf),
    /// Leave with this exit status.
    Leave(u8),
    /// Take a side of the current merge conflict.
    Resolve {
        /// The side.
        side: Side,
        /// Whether it is the answer to all remaining conflicts.
        remaining: bool,
    },
    /// Show all lines of the merge conflict first.
    LookAtConflict,
    /// Execute the plan.
    Write,
    /// Show the diff of each file first.
    Differences,
    /// Merge the files on disk with the changes here.
    Merge,
    /// Read the files again.
    Reload,
    /// Read the files again and drop unsaved changes.
    DiscardAndReload,
    /// Overwrite the files on disk at the next save; save now if a save was held back.
    KeepOurs(bool),
    /// Ask for another name to save to.
    SaveElsewhere,
    /// Replay the unsaved changes of an earlier session.
    Replay,
    /// Keep these changes for later, and open the set read-only.
    Later,
    /// Discard these changes.
    DropRecoverable,
}

/// The subject of a question whose answer needs more than the state.
// There is only one at a time, so the size of the largest variant does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Default)]
pub(in crate::tui) enum Subject {
    /// The state itself.
    #[default]
    State,
    /// A merge conflict.
    Conflict(Resolving),
    /// Unsaved changes of an earlier session.
    Recoverable(RecoverableChanges),
}

/// Merge conflicts that are being answered.
#[derive(Debug)]
pub(in crate::tui) struct Resolving {
    /// All conflicts of the set.
    pub conflicts: Vec<MergeConflict>,
    /// The answers to the first of them.
    pub answers: Vec<Side>,
}

impl Resolving {
    /// The current conflict.
    pub(crate) fn current(&self) -> Option<&MergeConflict> {
        self.conflicts.get(self.answers.len())
    }

    /// The current conflict and those after it.
    pub(crate) fn remaining(&self) -> &[MergeConflict] {
        self.conflicts.get(self.answers.len()..).unwrap_or_default()
    }
}
