//! A finding with the file, line and URL under which users find it.

use crate::check::Finding;
use crate::document::lines::LineColumn;
use crate::document::rows::RowId;
use std::sync::Arc;

/// A finding with its file, position and URL, for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFinding {
    /// The file, as its path was opened or relative to the set.
    pub file: Arc<str>,
    /// Line and column, from 1; `None` for the file or the set as a whole.
    pub at: Option<LineColumn>,
    /// The URL of the row or index entry; empty for a file.
    pub loc: Arc<str>,
    /// The finding.
    pub finding: Finding,
}

impl LocatedFinding {
    /// The row that it is about.
    pub const fn row(&self) -> Option<RowId> {
        self.finding.target.row()
    }
}
