//! Plans a change: turns what the user asks for (`+7d` on these rows) into an edit with a value per row.
//!
//! The same step gives the preview and the edit, so the preview cannot lie. Pure; may run on a worker.

use crate::check::decision::Decision;
use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::Value;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::Member;
use crate::protocol::Field;
use crate::session::command::{Assignment, Replace};
use crate::xml::extension_edit::ExtensionChange;

/// A change of the document as a person means it. Rows that are deleted are passed over.
#[derive(Debug, Clone)]
pub enum Change {
    /// Fields to values as typed: `today`, `+0.1`, `none`, `0.8`.
    Set {
        /// The rows that change.
        rows: RowSet,
        /// What.
        assignments: Vec<Assignment>,
    },
    /// One field, each row to a value of its own.
    Values {
        /// The rows that the change is about; those without a value below stay as they are.
        rows: RowSet,
        /// The field that is set.
        field: Field,
        /// The values, in the order of the rows.
        values: Vec<(RowId, Value)>,
    },
    /// A regular expression on the URLs.
    Replace {
        /// The rows that change.
        rows: RowSet,
        /// What by what, and in which URLs.
        replace: Replace,
        /// What of the set it reaches.
        reach: Reach,
    },
    /// The entries of the index below a URL.
    RebaseIndex(String),
    /// One step up or down: priority by 0.1, date by a day, frequency to its neighbour.
    Nudge {
        /// The rows that change.
        rows: RowSet,
        /// The field that is stepped; loc has no steps.
        field: Field,
        /// Up: greater, later, more often.
        up: bool,
    },
    /// New rows with these URLs, in the file of the row they come after.
    Insert {
        /// After which row; `None` puts them at the end of the last file.
        after: Option<RowId>,
        /// Before that row instead.
        before: bool,
        /// URLs as typed.
        locs: Vec<String>,
    },
    /// A copy after each row.
    Duplicate(RowSet),
    /// Rows out.
    Delete(RowSet),
    /// Deleted rows back.
    Restore(RowSet),
    /// Rows as they were saved.
    Revert(RowSet),
    /// What is around the entries of a file as it was saved.
    RevertFile(Member),
    /// A row's text, edited as text.
    Raw {
        /// The row whose text is replaced.
        row: RowId,
        /// From `<url` to `</url>`.
        text: String,
    },
    /// Extensions added, changed, removed.
    Extend {
        /// The rows that change.
        rows: RowSet,
        /// What, in order.
        acts: Vec<ExtensionChange>,
    },
    /// One rule's findings fixed by what someone decided.
    Decide {
        /// The rows to fix; those without the finding stay as they are.
        rows: RowSet,
        /// Whose findings.
        rule: Rule,
        /// How.
        decision: Decision,
    },
    /// Several, as one step.
    Several(Vec<Change>),
    /// What the rules' fixers say.
    Fix {
        /// The rows that change.
        rows: RowSet,
        /// Whose findings.
        rules: RuleSet,
    },
    /// What the rules' fixers say of a file as a whole.
    FixFile(Member, RuleSet),
    /// The order on show becomes the order of the files.
    ApplyOrder,
}

/// What of a set a replacement of URLs reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// These rows. Nothing is reported of others.
    Rows,
    /// Rows that were chosen out of the set: it is reported what others keep.
    Chosen,
    /// The whole set, so that its index is meant too.
    Set,
    /// Rows of the resident file of a streamed set: the index is changed after the last file.
    File,
}

/// Why a change was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The user stopped it.
    #[error("cancelled")]
    Cancelled,
    /// It cannot be made; one sentence that says why and what to do instead.
    #[error("{0}")]
    Refused(String),
}

impl Change {
    /// Whether it is what fixers or answers make of findings.
    pub(in crate::session) const fn is_fix(&self) -> bool {
        matches!(self, Self::Fix { .. } | Self::FixFile(..) | Self::Decide { .. })
    }
}

impl Change {
    /// The fields that values are given to.
    pub(in crate::session) fn fields(&self) -> Vec<Field> {
        match self {
            Self::Set { assignments, .. } => assignments.iter().map(|assignment| assignment.field).collect(),
            Self::Values { field, .. } | Self::Nudge { field, .. } => vec![*field],
            _ => Vec::new(),
        }
    }
}

impl Document {
    /// Whether rows may have a field: the entries of an index have a loc and a lastmod only.
    ///
    /// # Errors
    /// `EditError` says which fields there are.
    pub fn has_place_for(&self, field: Field) -> Result<(), EditError> {
        if self.lists_sitemaps() && matches!(field, Field::Changefreq | Field::Priority) {
            let name = field.name();
            return Err(EditError::Refused(format!("an index has no {name}: its entries have loc and lastmod only")));
        }
        Ok(())
    }
}
