//! What a change comes to, before it is made: the edit, what to say of it, and the rows that a preview shows.

use super::findings::Finding;
use crate::check::rule::Rule;
use crate::document::edit::Edit;
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;
use crate::words::{counted, grouped};

/// What a change comes to: the edit, and what to say of it.
#[derive(Debug, Clone)]
pub struct Intent {
    /// What to do; `None` if nothing would change.
    pub edit: Option<Edit>,
    /// Past tense, for the message and the history: `priority set to 0.8 on 1,167 rows`.
    pub label: String,
    /// Rows it is about.
    pub rows: u64,
    /// Rows that change.
    pub changes: u64,
    /// Rows that have the value already.
    pub already: u64,
    /// Rows that cannot take it, with the first reason.
    pub refused: u64,
    /// Why the first refused row refuses.
    pub reason: Option<String>,
    /// URLs that this would make equal to another row's.
    pub collisions: u64,
    /// The first of them.
    pub collision: Option<String>,
    /// The first rows that change: before and after; what is said of one row stands together.
    pub samples: Vec<Sample>,
    /// What to say if nothing changes, unless the rows themselves are the reason.
    pub idle: &'static str,
    /// The commands that do it without a screen; see [`super::said`].
    pub said: Vec<String>,
    /// Of a fix, the rules of which more findings are left than there were, with how many more.
    pub left: Vec<(Rule, u64)>,
    /// Of a change of one row, what would be wrong with it that is not now.
    pub breaks: Vec<Finding>,
}

/// One row of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Which row.
    pub row: RowId,
    /// What of it.
    pub part: Part,
    /// Its value now.
    pub before: Option<String>,
    /// Its value then.
    pub after: Option<String>,
}

/// What of a row a preview shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A field.
    Field(Field),
    /// What stands at a path of its extensions.
    Extension(String),
}

impl Part {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Field(field) => field.name(),
            Self::Extension(path) => path,
        }
    }
}

/// Rows that a preview shows.
pub(super) const SAMPLES: usize = 50;
/// What to say when there are no rows to change.
pub(super) const NO_ROW: &str = "no row is meant";

impl Intent {
    pub(super) fn counting(changes: u64) -> Self {
        Self {
            edit: None,
            label: String::new(),
            rows: changes,
            changes,
            already: 0,
            refused: 0,
            reason: None,
            collisions: 0,
            collision: None,
            samples: Vec::new(),
            idle: NO_ROW,
            said: Vec::new(),
            left: Vec::new(),
            breaks: Vec::new(),
        }
    }

    /// Why nothing changes, in one sentence.
    pub(super) fn nothing(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| match count {
            1 => format!("the row {one}"),
            count => format!("{} rows {many}", grouped(count)),
        };
        match (&self.reason, self.already) {
            (Some(reason), _) if self.refused > 0 => format!("nothing changed: {reason}"),
            (_, 0) => format!("nothing changed: {}", self.idle),
            (_, same) => format!("nothing changed: {}", counted(same, "is like that already", "are like that already")),
        }
    }

    pub(super) fn of_rows(verb: &str, rows: &RowSet, edit: Edit) -> Self {
        let count = rows.len();
        let label = format!("{} {verb}", counted(count, "row"));
        Self { label, edit: (count > 0).then_some(edit), ..Self::counting(count) }
    }

    /// Two changes as one step.
    pub(super) fn joined(self, other: Self) -> Self {
        let edits: Vec<Edit> = [self.edit, other.edit].into_iter().flatten().collect();
        let rows = self.rows.max(other.rows);
        let changes = match edits.iter().map(rows_of).collect::<Option<Vec<RowSet>>>() {
            Some(sets) => sets.into_iter().fold(RowSet::new(), |all, set| all | set).len(),
            None => self.changes + other.changes,
        };
        let samples = side_by_side(self.samples, other.samples);
        let label = match (self.changes, other.changes) {
            (0, 1..) => other.label,
            (1.., 0) => self.label,
            _ => format!("{}, {}", self.label, other.label),
        };
        Self {
            edit: (!edits.is_empty()).then_some(Edit::Several(edits)),
            label,
            rows,
            changes,
            already: rows.saturating_sub(changes + self.refused.max(other.refused)),
            refused: self.refused + other.refused,
            reason: self.reason.or(other.reason),
            collisions: self.collisions + other.collisions,
            collision: self.collision.or(other.collision),
            samples,
            idle: self.idle,
            said: Vec::new(),
            left: Vec::new(),
            breaks: [self.breaks, other.breaks].concat(),
        }
    }
}

/// The rows whose values an edit sets; `None` for edits that make or move rows.
fn rows_of(edit: &Edit) -> Option<RowSet> {
    match edit {
        Edit::Set { rows, .. } => Some(rows.clone()),
        Edit::SetEach { values, .. } => Some(values.iter().map(|(row, _)| row.0).collect()),
        Edit::Several(edits) => edits.iter().map(rows_of).try_fold(RowSet::new(), |all, rows| Some(all | rows?)),
        _ => None,
    }
}

/// The samples of two changes, by rows; of rows beyond which one list ends, nothing is known of the other.
fn side_by_side(first: Vec<Sample>, second: Vec<Sample>) -> Vec<Sample> {
    let end = |list: &[Sample]| list.last().filter(|_| list.len() >= SAMPLES).map_or(u32::MAX, |last| last.row.0);
    let end = end(&first).min(end(&second));
    let mut all: Vec<Sample> = first.into_iter().chain(second).filter(|sample| sample.row.0 <= end).collect();
    all.sort_by_key(|sample| sample.row);
    all
}
