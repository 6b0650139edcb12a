//! Collects the edits of a fix of several rows, and the reasons for skipped rows.

use crate::check::entry;
use crate::check::rule::Rule;
use crate::check::set::SetRule;
use crate::document::edit::{Edit, Value};
use crate::document::rows::{RowId, RowSet};
use crate::protocol::Field;
use crate::session::checks::DocumentLocs;
use crate::session::state::Snapshot;
use crate::xml::entry::Entry;

/// The edits of a fix, and why rows were skipped.
#[derive(Debug, Default)]
pub(super) struct RowEdits {
    pub(super) edits: Vec<Edit>,
    /// Rows that are changed or deleted.
    pub(super) rows: RowSet,
    pub(super) added: u64,
    pub(super) refused: u64,
    pub(super) reason: Option<String>,
}

impl RowEdits {
    pub(super) fn refuse(&mut self, why: impl Into<String>) {
        self.refused += 1;
        self.reason.get_or_insert_with(|| why.into());
    }

    /// Sets one field of rows.
    pub(super) fn set_each(&mut self, field: Field, mut values: Vec<(RowId, Value)>) {
        values.sort_by_key(|(row, _)| *row);
        self.rows.extend(values.iter().map(|(row, _)| row.0));
        if !values.is_empty() {
            self.edits.push(Edit::SetEach { field, values });
        }
    }
}

/// Those of the rows that violate a rule about rows.
pub(super) fn violating_rows(snapshot: &Snapshot, rows: &RowSet, rule: Rule) -> RowSet {
    let set_rule = SetRule::of(rule).filter(|rule| rule.target() == crate::check::set::SetRuleTarget::Row);
    match set_rule {
        Some(rule) => snapshot.checks.set().rows_with(rule, &DocumentLocs(&snapshot.document)) & rows,
        None => rows.iter().filter(|row| snapshot.rules_of(RowId(*row)).contains(rule)).collect(),
    }
}

/// Whether a row with this text would violate no entry rule that it does not violate now.
pub(super) fn is_sound(snapshot: &Snapshot, row: RowId, text: &str) -> bool {
    let context = snapshot.checks.context(&snapshot.document, row, snapshot.clock);
    let (now, old) = snapshot.document.entry(row);
    let new = entry::check(&Entry::of(text.as_bytes(), context.names), text.as_bytes(), &context);
    new.minus(entry::check(&now, &old, &context)).is_empty()
}
