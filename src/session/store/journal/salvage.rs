//! Decides which changes of a damaged journal can be replayed.
//!
//! Invariant: a change that follows a missing line is replayed only if it means the same whatever that line was:
//! values, texts, deletions and orders of rows that the files themselves have. Ids of added rows, frames and names of
//! files follow from the lines before. A line that holds all that is unsaved makes every loss before it good.

use crate::files::journal::{Entry, Lost};
use crate::session::store::journal::JournalLine;
use crate::session::store::journal::describe::text_of;
use crate::session::store::journal::written::Written;
use crate::words::{counted, excerpt};

/// What is not replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Lines that are damaged or not there.
    pub lost: Vec<Lost>,
    /// Changes that can be read, and mean nothing certain without the lost ones.
    pub unsure: Vec<String>,
}

impl Missing {
    /// Whether everything is there.
    pub(crate) const fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.unsure.is_empty()
    }

    /// How many lines are lost, at least.
    pub(super) fn count(&self) -> u64 {
        self.lost.iter().map(|lost| lost.count).fold(0, u64::saturating_add)
    }

    /// What is reported of it: the counts, then every change as far as it can be read. No lines if nothing is missing.
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

/// What is replayed of a journal, and what is not.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    pub(super) steps: Vec<JournalLine>,
    pub(super) missing: Missing,
    /// The changes after the first lost line that are in effect, and whether each is replayed. They are not taken back by
    /// steps: one that changes nothing now, for what was lost, would leave no step to take back.
    done: Vec<(JournalLine, bool)>,
    undone: Vec<(JournalLine, bool)>,
}

impl Salvage {
    /// `rows` is how many rows the files have that the journal begins with.
    pub(super) fn of(entries: &[Entry], rows: u32) -> Self {
        let mut lines: Vec<Result<JournalLine, Lost>> = Vec::new();
        for entry in entries {
            lines.push(match entry {
                Entry::Lost(lost) => Err(lost.clone()),
                Entry::Line(json) => serde_json::from_str(json).map_err(|_| Lost {
                    count: 1,
                    at_least: false,
                    text: excerpt(json, super::describe::SHOWN),
                }),
            });
        }
        let first = lines.iter().rposition(|line| matches!(line, Ok(JournalLine::Since(_)))).unwrap_or(0);
        let mut salvage = Self::default();
        for line in lines.drain(first..) {
            salvage.take(line, rows);
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

    fn take(&mut self, line: Result<JournalLine, Lost>, rows: u32) {
        let line = match line {
            Err(lost) => return self.missing.lost.push(lost),
            // What a save was doing is no change.
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
            // What it takes back is lost, or is before what is lost.
            _ => self.missing.unsure.push(text_of(&line)),
        }
    }
}

/// Whether an edit means the same whatever was done before it.
fn is_certain(edit: &Written, rows: u32) -> bool {
    let is_there = |ranges: &[(u32, u32)]| ranges.iter().all(|(first, last)| first <= last && *last < rows);
    match edit {
        Written::Set { rows: ranges, .. } | Written::Delete(ranges) | Written::Restore(ranges) => is_there(ranges),
        Written::SetEach { runs, .. } => runs.iter().all(|(first, last, _)| first <= last && *last < rows),
        Written::Raw { row, .. } => *row < rows,
        Written::Reorder(orders) => orders.iter().all(|(_, ranges)| is_there(ranges)),
        Written::Several(edits) => edits.iter().all(|edit| is_certain(edit, rows)),
        Written::Insert { after, .. } => after.is_none_or(|row| row < rows),
        Written::Accept(_)
        | Written::Frame { .. }
        | Written::Volume { .. }
        | Written::Pack { .. }
        | Written::Rename { .. }
        | Written::Apart(_) => false,
    }
}
