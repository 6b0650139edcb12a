//! Fixes of many rows as one change.

use super::change::{Intent, Part, Sample};
use super::snapshot::Snapshot;
use crate::check::fix::{self, Repair};
use crate::check::quirk;
use crate::check::rule::RuleSet;
use crate::document::edit::{Edit, NewEntry, Value};
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::Member;
use crate::progress::Progress;
use crate::protocol::Field;
use crate::words::counted;
use rayon::prelude::*;
use std::collections::BTreeSet;

impl Snapshot {
    /// What the fixers of `rules` make of `rows`. A rule that is named may run even if its fix needs a decision:
    /// naming it, and the preview, are the decision. `None` when cancelled.
    pub(super) fn intend_fix(&self, rows: &RowSet, rules: RuleSet, progress: &Progress) -> Option<Intent> {
        // What was repaired when a file was read is agreed to for the file.
        let of_rows = rules.minus(quirk::REPAIRS);
        let affected: Vec<u32> = rows
            .iter()
            .filter(|row| self.document.is_live(RowId(*row)) && self.rules_of(RowId(*row)).intersects(of_rows))
            .collect();
        let repairs: Vec<(RowId, Repair)> = affected
            .par_iter()
            .filter_map(|row| {
                if progress.is_cancelled() {
                    return None;
                }
                let row = RowId(*row);
                let text = self.document.entry_text(row);
                let context = self.checks.context(&self.document, row, self.now);
                fix::repair(&text, &context, rules, false).map(|repair| (row, repair))
            })
            .collect();
        if progress.is_cancelled() {
            return None;
        }
        let mut fields: [Vec<(RowId, Value)>; 4] = Default::default();
        let mut edits = Vec::new();
        let mut samples = Vec::new();
        let changes = repairs.len() as u64;
        for (row, repair) in repairs {
            match repair {
                Repair::Values(values) => {
                    for (field, value) in values {
                        if samples.len() < 50 {
                            let before = self.document.value(row, field).map(std::borrow::Cow::into_owned);
                            samples.push(Sample { row, part: Part::Field(field), before, after: value.clone() });
                        }
                        if let Some(list) = fields.get_mut(field.index()) {
                            list.push((row, value.map(Into::into)));
                        }
                    }
                }
                Repair::Split(parts) => {
                    let mut parts = parts.into_iter();
                    if let Some(text) = parts.next() {
                        edits.push(Edit::Raw { row, text: text.into() });
                    }
                    let entries: Vec<NewEntry> = parts.map(|text| NewEntry::Element(text.trim().into())).collect();
                    edits.push(Edit::Insert { sitemap: self.document.sitemap_of(row), after: Some(row), entries });
                }
                Repair::Text(text) => edits.push(Edit::Raw { row, text: text.into() }),
            }
        }
        for (field, values) in Field::ALL.into_iter().zip(fields) {
            if !values.is_empty() {
                edits.push(Edit::SetEach { field, values });
            }
        }
        let of_files = self.intend_fix_files(rows, rules);
        let files: BTreeSet<Member> = of_files.iter().filter_map(Edit::file).collect();
        edits.extend(of_files);
        let unfixable = affected.len() as u64 - changes;
        let reason = (unfixable > 0).then(|| "this cannot be fixed without you".to_owned());
        Some(Intent {
            label: match (changes, files.len() as u64) {
                (rows, 0) => format!("{} fixed", counted(rows, "row")),
                (0, files) => format!("{} put right", counted(files, "file")),
                (rows, files) => format!("{} fixed, {} put right", counted(rows, "row"), counted(files, "file")),
            },
            edit: (!edits.is_empty()).then_some(Edit::Several(edits)),
            rows: rows.len(),
            refused: unfixable,
            reason,
            samples,
            idle: "there is nothing to fix",
            ..Intent::counting(changes.max(files.len() as u64))
        })
    }
}
