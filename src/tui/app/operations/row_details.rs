//! The details of the current row, and the lines that the cursor can select.

use super::super::state::large::RowSummary;
use super::super::state::{Shared, large};
use crate::check::{Finding, Position};
use crate::document::rows::RowId;
use crate::protocol::{Field, Severity};
use crate::session::findings;
use crate::tui::outline::{Outline, Stop};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The details of one row.
pub(in crate::tui) struct RowDetails<'a> {
    /// The row.
    pub row: RowId,
    /// Its fields; `None` while a large entry is read.
    pub summary: Option<Arc<RowSummary>>,
    /// The fields that the cursor can select.
    pub fields: Vec<Field>,
    /// The severity of the worst finding of each field.
    pub faults: [Option<Severity>; 4],
    /// The severity of the worst finding of each element, by the offset of the element in the entry.
    pub element_faults: BTreeMap<u32, Severity>,
    /// Its extensions and its XML; `None` while a large entry is read.
    pub outline: Option<Cow<'a, Outline>>,
}

/// The details of the row at the cursor; `None` without a row.
pub(in crate::tui) fn row_details(shared: &Shared) -> Option<RowDetails<'_>> {
    let row = shared.grid.row?;
    let (session, snapshot) = (&shared.session, shared.session.view());
    let (summary, outline, (faults, element_faults)) = if large::is_large(session, row) {
        let entry = shared.large.entry(session, row);
        let summary = shared.large.facts(session, row).cloned();
        let faults = entry.map(|entry| faults(&entry.findings)).unwrap_or_default();
        (summary, entry.map(|entry| Cow::Borrowed(&entry.outline)), faults)
    } else {
        let outline = Outline::of(snapshot, row, || false).map(Cow::Owned);
        (Some(Arc::new(RowSummary::of(snapshot, row))), outline, faults(&findings::of_row(snapshot, row)))
    };
    let has_line = |summary: &RowSummary, field: Field| {
        // The URL is shown above the fields.
        let is_shown = field == Field::Loc && !summary.changed[field.index()] && faults[field.index()].is_none();
        session.document().check_field(field).is_ok() && !is_shown
    };
    let fields = summary
        .as_ref()
        .map_or_else(Vec::new, |summary| Field::ALL.into_iter().filter(|field| has_line(summary, *field)).collect());
    Some(RowDetails { row, summary, fields, faults, element_faults, outline })
}

impl RowDetails<'_> {
    /// Number of items of the outline.
    pub(crate) fn items(&self) -> usize {
        self.outline.as_ref().map_or(0, |outline| outline.items())
    }

    /// Number of lines that the cursor can select.
    pub(crate) fn stops(&self) -> usize {
        self.fields.len() + self.items()
    }

    /// The item of a line that the cursor can select.
    pub(crate) fn stop(&self, at: usize, shared: &Shared) -> Option<Stop> {
        if let Some(field) = self.fields.get(at) {
            return Some(Stop::Field(*field));
        }
        let item = at - self.fields.len();
        let outline = self.outline.as_ref().filter(|outline| item < outline.items())?;
        Some(outline.stop(item, shared.session.document().names(self.row)))
    }
}

/// The severity of the worst finding of each field, and of each element by its offset.
fn faults(findings: &[Finding]) -> ([Option<Severity>; 4], BTreeMap<u32, Severity>) {
    let (mut fields, mut elements) = ([None; 4], BTreeMap::new());
    for finding in findings {
        match &finding.position {
            Position::Element(part) => {
                let worst = elements.entry(part.at).or_insert(finding.severity);
                *worst = finding.severity.max(*worst);
            }
            Position::Field(field) => {
                let worst = &mut fields[field.index()];
                *worst = Some(finding.severity).max(*worst);
            }
            Position::Whole | Position::Offset(_) | Position::Stored(..) => {}
        }
    }
    (fields, elements)
}
