//! `Change`: a change as the user requests it, such as `+7d` on these rows.
//!
//! Planning it ([`crate::session::prepare`]) makes both the preview and the edit, so the two agree.

use crate::check::decision::Decision;
use crate::check::rule::{Rule, RuleSet};
use crate::document::Document;
use crate::document::edit::Value;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::Member;
use crate::protocol::Field;
use crate::session::command::{Assignment, Replace};
use crate::xml::extension_edit::ExtensionChange;

/// A requested change of the document. Deleted rows are skipped.
#[derive(Debug, Clone)]
pub enum Change {
    /// Set fields to values as typed: `today`, `+0.1`, `none`, `0.8`.
    Set {
        /// The rows that change.
        rows: RowSet,
        /// The fields and values.
        assignments: Vec<Assignment>,
    },
    /// Set one field to a separate value in each row.
    Values {
        /// The selected rows; those without a value below stay as they are.
        rows: RowSet,
        /// The field that is set.
        field: Field,
        /// The values, in the order of the rows.
        values: Vec<(RowId, Value)>,
    },
    /// Rewrite URLs with a regular expression.
    Replace {
        /// The rows that change.
        rows: RowSet,
        /// The expression, the replacement and the targets.
        replace: Replace,
        /// The part of the set that is rewritten and reported on.
        reach: Reach,
    },
    /// Write the entries of the index below a URL.
    RebaseIndex(String),
    /// Step a field up or down: priority by 0.1, date by a day, frequency to its neighbour.
    Nudge {
        /// The rows that change.
        rows: RowSet,
        /// The field that is stepped; loc has no steps.
        field: Field,
        /// Up: greater, later, more often.
        up: bool,
    },
    /// Insert rows with these URLs, in the file of the row that they follow.
    Insert {
        /// The row that they follow; `None` appends them to the last file.
        after: Option<RowId>,
        /// Whether to insert them before that row instead.
        before: bool,
        /// URLs as typed.
        locs: Vec<String>,
    },
    /// Insert a copy after each row.
    Duplicate(RowSet),
    /// Delete rows.
    Delete(RowSet),
    /// Restore deleted rows.
    Restore(RowSet),
    /// Restore rows as they were saved.
    Revert(RowSet),
    /// Restore the frame of a file as it was saved.
    RevertFile(Member),
    /// Replace the text of a row.
    Raw {
        /// The row whose text is replaced.
        row: RowId,
        /// From `<url` to `</url>`.
        text: String,
    },
    /// Add, change or remove extensions.
    Extend {
        /// The rows that change.
        rows: RowSet,
        /// The changes, in order.
        changes: Vec<ExtensionChange>,
    },
    /// Fix the findings of one rule by a decision.
    Decide {
        /// The rows to fix; those without the finding stay as they are.
        rows: RowSet,
        /// The rule.
        rule: Rule,
        /// The decision.
        decision: Decision,
    },
    /// Several changes, as one step.
    Several(Vec<Change>),
    /// Apply the fixes of rules to rows.
    Fix {
        /// The rows that change.
        rows: RowSet,
        /// The rules.
        rules: RuleSet,
    },
    /// Apply the fixes of rules to a file as a whole.
    FixFile(Member, RuleSet),
    /// Make the shown order the order of the files.
    ApplyOrder,
}

/// The part of the set that a replacement of URLs rewrites and reports on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// These rows only; other rows are not reported on.
    Rows,
    /// Rows selected from the set; URLs that other rows keep are reported.
    Chosen,
    /// The whole set including its index.
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
    /// The change is not possible; a sentence with the reason and an alternative.
    #[error("{0}")]
    Refused(String),
}

impl Change {
    /// Whether it fixes findings.
    pub(in crate::session) const fn is_fix(&self) -> bool {
        matches!(self, Self::Fix { .. } | Self::FixFile(..) | Self::Decide { .. })
    }
}

impl Change {
    /// The fields that it sets.
    pub(in crate::session) fn fields(&self) -> Vec<Field> {
        match self {
            Self::Set { assignments, .. } => assignments.iter().map(|assignment| assignment.field).collect(),
            Self::Values { field, .. } | Self::Nudge { field, .. } => vec![*field],
            _ => Vec::new(),
        }
    }
}

impl Document {
    /// Fails if rows cannot have a field: the entries of an index have a loc and a lastmod only.
    ///
    /// # Errors
    /// `EditError` with the fields that they have.
    pub fn check_field(&self, field: Field) -> Result<(), EditError> {
        if self.lists_sitemaps() && matches!(field, Field::Changefreq | Field::Priority) {
            let name = field.name();
            return Err(EditError::Refused(format!("an index has no {name}: its entries have loc and lastmod only")));
        }
        Ok(())
    }
}
