//! Describes the changes of a journal as text.

use crate::files::journal::Entry;
use crate::session::store::journal::JournalLine;
use crate::session::store::journal::written::{Ranges, StoredEdit, StoredEntry};
use crate::words::{counted, excerpt};

/// Maximum number of characters of one change, or of one value, that are shown.
pub(super) const MAX_CHARS_SHOWN: usize = 400;

/// Maximum number of rows or values of one change that are listed.
const MAX_LISTED: usize = 20;

/// Describes each entry of a journal, oldest first; control characters are replaced by symbols.
pub(crate) fn changes_in(entries: &[Entry]) -> Vec<String> {
    entries.iter().flat_map(text_of_entry).collect()
}

fn text_of_entry(entry: &Entry) -> Vec<String> {
    match entry {
        Entry::Line(json) => match serde_json::from_str(json) {
            Ok(line) => vec![text_of(&line)],
            Err(_) => vec![format!("unknown: {}", excerpt(json, MAX_CHARS_SHOWN))],
        },
        Entry::Lost(lost) => {
            let at_least = if lost.at_least { "at least " } else { "" };
            let verb = if lost.count == 1 { "is" } else { "are" };
            let first = format!("{at_least}{} {verb} gone", counted(lost.count, "change"));
            std::iter::once(first).chain(lost.text.lines().map(|text| format!("  damaged: {text}"))).collect()
        }
    }
}

/// Describes the change of a line.
pub(super) fn text_of(line: &JournalLine) -> String {
    match line {
        JournalLine::Did { label, edit } => format!("{} ({})", excerpt(label, MAX_CHARS_SHOWN), text_of_edit(edit)),
        JournalLine::Undid => "undid the last change".to_owned(),
        JournalLine::Redid => "redid the undone change".to_owned(),
        JournalLine::Since(edits) if edits.is_empty() => "no unsaved changes".to_owned(),
        JournalLine::Since(edits) => format!("all unsaved changes: {}", text_of_edits(edits)),
        JournalLine::To(paths) => format!("the next save makes {}", excerpt(&paths.join(" "), MAX_CHARS_SHOWN)),
        JournalLine::Saving(files) => format!("a save of {} begins", counted(files.len() as u64, "file")),
        JournalLine::Then(edits) if edits.is_empty() => "nothing was changed since that save began".to_owned(),
        JournalLine::Then(edits) => format!("changed since that save began: {}", text_of_edits(edits)),
    }
}

fn text_of_edits(edits: &[StoredEdit]) -> String {
    listed(edits.len(), edits.iter().map(text_of_edit), "; ")
}

fn text_of_edit(edit: &StoredEdit) -> String {
    match edit {
        StoredEdit::Set { rows, field, value } => {
            format!("{} = {}: {}", name(field), shown(value.as_ref()), rows_of(rows))
        }
        StoredEdit::SetEach { field, runs } => {
            let each = runs
                .iter()
                .map(|(first, last, value)| format!("{} = {}", rows_of(&vec![(*first, *last)]), shown(value.as_ref())));
            format!("{}: {}", name(field), listed(runs.len(), each, ", "))
        }
        StoredEdit::Raw { row, text } => format!("row {} is {}", u64::from(*row) + 1, shown(Some(text))),
        StoredEdit::Insert { entries, .. } => {
            let each = entries.iter().map(|entry| match entry {
                StoredEntry::Values(values) => shown(values.first().and_then(Option::as_ref)),
                StoredEntry::Element(text) => shown(Some(text)),
            });
            format!("added: {}", listed(entries.len(), each, ", "))
        }
        StoredEdit::Delete(rows) => format!("deleted: {}", rows_of(rows)),
        StoredEdit::Restore(rows) => format!("restored: {}", rows_of(rows)),
        StoredEdit::Reorder(orders) => format!("new order of {}", counted(orders.len() as u64, "file")),
        StoredEdit::Accept(file) => format!("repairs of {} accepted", file_of(*file)),
        StoredEdit::Frame { file, text, .. } => {
            format!("text around the entries of {}: {}", file_of(*file), shown(Some(text)))
        }
        StoredEdit::Volume { number, .. } => {
            format!("text around the entries of index file {}", u64::from(*number) + 1)
        }
        StoredEdit::Pack { file, gzip } => {
            format!("{} is {}", file_of(*file), if *gzip { "compressed" } else { "not compressed" })
        }
        StoredEdit::Rename { file, name } => format!("{} is called {}", file_of(*file), shown(Some(name))),
        StoredEdit::Apart(file) => format!("news of {} in files of their own", file_of(Some(*file))),
        StoredEdit::Several(edits) => text_of_edits(edits),
    }
}

fn name(field: &str) -> String {
    excerpt(field, MAX_CHARS_SHOWN)
}

fn shown(value: Option<&String>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| excerpt(value, MAX_CHARS_SHOWN))
}

/// Rows by their numbers in the files as they were opened, from 1.
fn rows_of(ranges: &Ranges) -> String {
    let count: u64 = ranges.iter().map(|(first, last)| u64::from(last.saturating_sub(*first)) + 1).sum();
    let each = ranges.iter().map(|(first, last)| match (u64::from(*first) + 1, u64::from(*last) + 1) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    });
    let noun = if count == 1 { "row" } else { "rows" };
    format!("{noun} {}", listed(ranges.len(), each, ", "))
}

fn file_of(file: Option<u32>) -> String {
    file.map_or_else(|| "the index".to_owned(), |file| format!("file {}", u64::from(file) + 1))
}

fn listed(count: usize, each: impl Iterator<Item = String>, between: &str) -> String {
    let mut texts: Vec<String> = each.take(MAX_LISTED).collect();
    if count > MAX_LISTED {
        texts.push(format!("and {} more", count - MAX_LISTED));
    }
    texts.join(between)
}
