//! Requests of modes and list items, executed after the key by the module in charge.
//!
//! Requests keep modes from knowing each other: a list that runs a command names it, and the dispatch in
//! [`requests`](crate::tui::app::requests) opens whatever comes of it.

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

/// What becomes of a mode after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui::app) enum Next {
    /// It stays open.
    Stay,
    /// It is closed; what it was opened from comes back.
    Close,
    /// It is closed with everything that it was opened from.
    CloseAll,
}

/// What is to be done next.
// A key makes one or two of them: the size of the largest does not matter.
#[allow(clippy::large_enum_variant)]
pub(in crate::tui::app) enum Request {
    /// An action, with its count.
    Act(Action, Option<u32>),
    /// A command, about the rows that are meant by whoever typed it.
    Execute(Command, DefaultScope),
    /// What a line of a list stands for.
    Choose(Choice),
    /// The answer to a question, with what the question was about.
    Answer(Answer, Subject),
    /// Open a line with this text.
    OpenLine(Purpose, String),
    /// The base URL that a save was waiting for.
    SetBase(String),
    /// Show what a rule means, above the list of rules.
    ExplainRule(Rule),
    /// Show what the fix of a rule would do: at one place, or wherever it is broken.
    PreviewFix(Option<FindingTarget>, Rule),
    /// Show what the fix of a finding of a file or the set would do.
    PreviewWhole(FindingTarget, Rule),
    /// Copy the changes made, as commands.
    CopyScript,
    /// List the changes made, as commands.
    OpenScript,
    /// List what can be added in an element, or the extensions that an entry can have.
    OpenElements(Option<Path>),
    /// Edit the values of an element where they are.
    EditElement(String, Vec<(String, String)>),
    /// The keys go to the table again.
    LeaveDetails,
}

/// What choosing a line of a list does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing: it is there to be read.
    Read,
    /// Does an action.
    Run(Action),
    /// Goes to the state with so many steps in effect.
    Travel(usize),
    /// Shows what breaks a rule: rows, or files and entries of the index.
    Rule(Rule),
    /// Shows the rows that break a rule.
    Rows(Rule),
    /// Sets lastmod to what is typed.
    Lastmod(String),
    /// Puts a rule's findings right so.
    Decide(Rule, Decision),
    /// Edits the cell of a field.
    Cell(Field),
    /// A finding of the row: puts it right.
    OfRow(Rule),
    /// Says more of a finding that no row carries.
    Found(FindingTarget, Rule),
    /// Puts right what breaks a rule there.
    FixWhole(FindingTarget, Rule),
    /// Adds the element, or the attribute, of a path.
    Element(String),
    /// Shows the rows that a query finds.
    Filter(String),
    /// Shows a data column in the table, or hides it.
    DataColumn(String),
    /// Lists the URLs of the data that no row has.
    MissingUrls,
    /// Begins a command on the `:` line.
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
    /// Make a new sitemap at this path.
    Create(PathBuf),
    /// Create this folder, and go on with the save that needs it.
    CreateFolder(PathBuf),
    /// Leave with this exit status.
    Leave(u8),
    /// Take a side of the merge conflict that is asked about.
    Resolve {
        /// Which.
        side: Side,
        /// Whether that is the answer to all conflicts after it, too.
        remaining: bool,
    },
    /// Show all lines of the merge conflict first.
    LookAtConflict,
    /// Write what the plan says.
    Write,
    /// Look at the difference of each file first.
    Differences,
    /// Merge what others wrote with what was changed here.
    Merge,
    /// Read the files again.
    Reload,
    /// Read the files again, whatever is unsaved.
    DiscardAndReload,
    /// Write what is here over what others wrote; at once if a save waits for that.
    KeepOurs(bool),
    /// Ask for another name to save to.
    SaveElsewhere,
    /// Do again what an earlier session left unsaved.
    Replay,
    /// Leave that alone, and change nothing meanwhile.
    Later,
    /// Give it up.
    DropRecoverable,
}

/// What a question is about, where its answer needs more than the state has.
// There is one at a time: the size of the largest does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Default)]
pub(in crate::tui) enum Subject {
    /// Nothing but the state.
    #[default]
    State,
    /// A merge conflict.
    Conflict(Resolving),
    /// What an earlier session left unsaved.
    Recoverable(RecoverableChanges),
}

/// Merge conflicts that are being answered.
#[derive(Debug)]
pub(in crate::tui) struct Resolving {
    /// All of the set.
    pub conflicts: Vec<MergeConflict>,
    /// The answers to the first of them.
    pub answers: Vec<Side>,
}

impl Resolving {
    /// The conflict that is asked about.
    pub(crate) fn asked(&self) -> Option<&MergeConflict> {
        self.conflicts.get(self.answers.len())
    }

    /// That conflict and those after it.
    pub(crate) fn remaining(&self) -> &[MergeConflict] {
        self.conflicts.get(self.answers.len()..).unwrap_or_default()
    }
}
