//! Decides which changes of a damaged journal can be replayed.
//!
//! Invariant: a change after a missing line is replayed only if its effect does not depend on that line: values, texts,
//! deletions and orders of rows that are in the files. Ids of added rows, frames and names of files depend on earlier
//! lines. After a line with all unsaved changes, lost lines before it do not matter.

use crate::files::journal::{Entry, Lost};
use crate::session::store::journal::JournalLine;
use crate::session::store::journal::describe::text_of;
use crate::session::store::journal::written::StoredEdit;
use crate::words::{counted, excerpt};

/// The changes that are not replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Lines that are damaged or missing.
    pub lost: Vec<Lost>,
    /// Changes that can be read, but whose effect is uncertain without the lost ones.
    pub unsure: Vec<String>,
}

impl Missing {
    /// Whether nothing is missing.
    pub(crate) const fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.unsure.is_empty()
    }

    /// Number of lost lines; a lower bound.
    pub(super) fn count(&self) -> u64 {
        self.lost.iter().map(|lost| lost.count).fold(0, u64::saturating_add)
    }

    /// The lines of a report: the counts, then the readable text of each change. Empty if nothing is missing.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.lost.is_empty() {
            let count = self.count();
            let at_least = if self.lost.iter().any(|lost| lost.at_least) { "at least " } else { "" };
            let verb = if count == 1 { "is" } else { "are" };
            lines.push(format!("{at_least}{} {verb} gone: the journal is damaged there", counted(count, "change")));
            for text in self.lost.iter().flat_map(|lost| lost.text.lines()) {
                lines.push(format!("  damaged: {text}"));
            }
        }
        if !self.unsure.is_empty() {
            let count = counted(self.unsure.len() as u64, "later change");
            lines.push(format!("{count} cannot be replayed without the lost ones"));
            lines.extend(self.unsure.iter().map(|text| format!("  not replayed: {text}")));
        }
        lines
    }
}

/// The changes of a journal that are replayed, and those that are not.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    pub(super) steps: Vec<JournalLine>,
    pub(super) missing: Missing,
    /// The changes after the first lost line that are in effect, and whether each is replayed. An undo removes them
    /// from this list instead of being replayed: a change without effect, because of lost lines, adds no step to undo.
    done: Vec<(JournalLine, bool)>,
    /// The undone changes after the first lost line.
    undone: Vec<(JournalLine, bool)>,
}

impl Salvage {
    /// Sorts the entries of a journal; `rows` is the number of rows of the files that the journal applies to.
    pub(super) fn of(entries: &[Entry], rows: u32) -> Self {
        let mut lines: Vec<Result<JournalLine, Lost>> = Vec::new();
        for entry in entries {
            lines.push(match entry {
                Entry::Lost(lost) => Err(lost.clone()),
                Entry::Line(json) => serde_json::from_str(json).map_err(|_| Lost {
                    count: 1,
                    at_least: false,
                    text: excerpt(json, super::describe::MAX_CHARS_SHOWN),
                }),
            });
        }
        let first = lines.iter().rposition(|line| matches!(line, Ok(JournalLine::Since(_)))).unwrap_or(0);
        let mut salvage = Self::default();
        for line in lines.drain(first..) {
            salvage.add(line, rows);
        }
        for (line, is_certain) in std::mem::take(&mut salvage.done) {
            if is_certain {
                salvage.steps.push(line);
            } else {
                salvage.missing.unsure.push(text_of(&line));
            }
        }
        salvage
    }

    fn add(&mut self, line: Result<JournalLine, Lost>, rows: u32) {
        let line = match line {
            Err(lost) => return self.missing.lost.push(lost),
            // The progress of a save is not a change.
            Ok(JournalLine::To(_) | JournalLine::Saving(_) | JournalLine::Then(_)) => return,
            Ok(line) => line,
        };
        if self.missing.lost.is_empty() {
            return self.steps.push(line);
        }
        match &line {
            JournalLine::Did { edit, .. } => {
                let is_certain = is_certain(edit, rows);
                self.undone.clear();
                self.done.push((line, is_certain));
            }
            JournalLine::Undid if !self.done.is_empty() => self.undone.extend(self.done.pop()),
            JournalLine::Redid if !self.undone.is_empty() => self.done.extend(self.undone.pop()),
            // The step that it undoes or redoes is lost, or before a lost line.
            _ => self.missing.unsure.push(text_of(&line)),
        }
    }
}

/// Whether the effect of an edit does not depend on earlier edits.
fn is_certain(edit: &StoredEdit, rows: u32) -> bool {
    let are_in_files = |ranges: &[(u32, u32)]| ranges.iter().all(|(first, last)| first <= last && *last < rows);
    match edit {
        StoredEdit::Set { rows: ranges, .. } | StoredEdit::Delete(ranges) | StoredEdit::Restore(ranges) => {
            are_in_files(ranges)
        }
        StoredEdit::SetEach { runs, .. } => runs.iter().all(|(first, last, _)| first <= last && *last < rows),
        StoredEdit::Raw { row, .. } => *row < rows,
        StoredEdit::Reorder(orders) => orders.iter().all(|(_, ranges)| are_in_files(ranges)),
        StoredEdit::Several(edits) => edits.iter().all(|edit| is_certain(edit, rows)),
        StoredEdit::Insert { after, .. } => after.is_none_or(|row| row < rows),
        StoredEdit::Accept(_)
        | StoredEdit::Frame { .. }
        | StoredEdit::Volume { .. }
        | StoredEdit::Pack { .. }
        | StoredEdit::Rename { .. }
        | StoredEdit::Apart(_) => false,
    }
}
