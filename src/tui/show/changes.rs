//! Shows the unsaved changes: one line per change, and below the list the selected change in full.

use super::super::app::modes::changes::Changes;
use super::super::app::state::Shared;
use super::super::draw::panel::Panel;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::lines::{GAP, without_origin};
use crate::document::RowState;
use crate::document::rows::{RowId, RowSet};
use crate::document::sitemap::Member;
use crate::session::store::pending;
use crate::session::store::pending::{Counts, Difference, Entry};
use crate::words::grouped;

/// Maximum number of lines for the selected change at the bottom, including its URL.
const DETAIL_LINES: usize = 5;

/// Number of characters shown before the first difference of two long values.
const LEADING_CHARS: usize = 8;

/// Returns the panel with the entries that fit on the screen.
pub(super) fn changes_panel(shared: &Shared, changes: &Changes) -> Panel {
    let areas = shared.areas();
    let room = usize::from(areas.footer.y.saturating_sub(areas.heads.y + 1));
    let mut title = Line::from(Words::new().and(Role::Accent, "unsaved"));
    let Some(pending) = &changes.pending else {
        return Panel { title, lines: vec![Words::dim("comparing…").into()], chosen: None, top: 0, foot: Vec::new() };
    };
    title.left.append(change_counts(shared, pending.counts));
    let length = if room >= 12 { DETAIL_LINES } else { 0 };
    let shown = room.saturating_sub(length + usize::from(length > 0)).max(1);
    let len = pending.entries.len();
    let top = changes.chosen.saturating_sub(shown / 2).min(len.saturating_sub(shown));
    let entries = pending.entries.iter().skip(top).take(shown);
    let mut lines: Vec<Line> = entries
        .map(|entry| match entry {
            Entry::Row(row) => change_line(shared, *row, pending.moved.contains(row.0)),
            Entry::File(file) => file_change_line(shared, *file),
            Entry::Undone(row) => {
                let loc = without_origin(shared, &shared.session.view().saved.loc(*row));
                let sign = Words::new().and(Role::Error, format!("{} ", shared.theme.signs.deleted));
                sign.and(Role::Text, loc).and(Role::Dim, format!("{GAP}undone since it was saved")).into()
            }
        })
        .collect();
    if len == 0 {
        lines.push(Words::dim(format!("no change contains “{}”", changes.holds)).into());
    }
    title.right = if len as u64 == pending.counts.sum() {
        Words::dim(format!("{} of {}", grouped(changes.chosen as u64 + 1), grouped(len as u64)))
    } else {
        Words::new().and(Role::Accent, format!("{} match “{}”", grouped(len as u64), changes.holds))
    };
    lines.resize(shown, Line::default());
    if length > 0 {
        lines.push(Line::default());
        let mut below = change_details(shared, changes, &pending.moved);
        below.truncate(length);
        lines.extend(below);
        lines.resize(room, Line::default());
    }
    Panel { title, lines, chosen: (len > 0).then(|| changes.chosen - top), top: 0, foot: Vec::new() }
}

/// Returns the number of changes of each kind: `   ● 14 changed   + 3 added`.
fn change_counts(shared: &Shared, counts: Counts) -> Words {
    let signs = shared.theme.signs;
    let mut words = Words::new();
    for (count, sign, role, name) in [
        (counts.changed, signs.changed, Role::Changed, "changed"),
        (counts.added, signs.added, Role::Good, "added"),
        (counts.deleted, signs.deleted, Role::Error, "deleted"),
        (counts.moved, signs.moved, Role::Changed, "moved"),
        (counts.files, signs.changed, Role::Changed, if counts.files == 1 { "file" } else { "files" }),
    ] {
        if count > 0 {
            words.push(role, format!("{GAP}{sign} "));
            words.push(Role::Text, format!("{} {name}", grouped(count)));
        }
    }
    words
}

/// Returns the line of a changed row: sign, URL, and the changed fields with old and new values.
fn change_line(shared: &Shared, row: RowId, moved: bool) -> Line {
    let (signs, charset) = (shared.theme.signs, shared.theme.charset);
    let document = shared.session.document();
    let state = shared.session.view().row_state(row);
    let (sign, role) = match state {
        RowState::Added => (signs.added, Role::Good),
        RowState::Deleted => (signs.deleted, Role::Error),
        RowState::Changed => (signs.changed, Role::Changed),
        RowState::Clean => (signs.moved, Role::Changed),
    };
    let width = usize::from(shared.size.0).saturating_sub(8);
    let room = (width * 2 / 5).clamp(12, 60);
    let loc = without_origin(shared, &document.loc(row));
    let mut words = Words::new().and(role, format!("{sign} ")).and(Role::Text, charset.fit_path(&loc, room));
    if matches!(state, RowState::Changed) {
        for part in pending::differences(shared.session.view(), row) {
            words.append(before_and_after(shared, &part, GAP, 24));
        }
    } else {
        let words_of_state = match state {
            RowState::Added => "added",
            RowState::Deleted => "deleted",
            _ => "",
        };
        words.push(Role::Dim, if words_of_state.is_empty() { String::new() } else { format!("{GAP}{words_of_state}") });
    }
    if moved {
        words.push(Role::Changed, format!("{GAP}moved"));
    }
    words.into()
}

fn file_change_line(shared: &Shared, file: Member) -> Line {
    let view = shared.session.view();
    let mut words = Words::new()
        .and(Role::Changed, format!("{} ", shared.theme.signs.changed))
        .and(Role::Text, view.file_name(file).to_string());
    for difference in pending::file_differences(view, file) {
        words.push(Role::Dim, format!("{GAP}{difference}"));
    }
    words.into()
}

/// Returns `priority 0.5 → 0.8` after `prefix`, with each value cut to `max_width` columns.
fn before_and_after(shared: &Shared, part: &Difference, prefix: &str, max_width: usize) -> Words {
    let (arrow, absent) = (shared.theme.signs.arrow, shared.theme.signs.absent);
    let charset = shared.theme.charset;
    let of = |value: &Option<String>| match value {
        Some(value) => charset.cut(value, max_width).into_owned(),
        None => absent.to_owned(),
    };
    let is_loc = part.name == "loc";
    let (before, after) = match (&part.before, is_loc) {
        (before, true) => (
            before.as_deref().map(|loc| without_origin(shared, loc)),
            part.after.as_deref().map(|loc| without_origin(shared, loc)),
        ),
        (before, false) => (before.clone(), part.after.clone()),
    };
    // Values that do not fit are shown from shortly before their first difference.
    let (before, after) = match (&before, &after) {
        (Some(old), Some(new))
            if charset.width_within(old, max_width).max(charset.width_within(new, max_width)) > max_width =>
        {
            let start = difference_start(old, new);
            let from = |value: &str| {
                let lead = if start > 0 { charset.ellipsis() } else { "" };
                Some(format!("{lead}{}", value.get(start..).unwrap_or(value)))
            };
            (from(old), from(new))
        }
        _ => (before, after),
    };
    Words::dim(format!("{prefix}{} {} {arrow} ", part.name, of(&before))).and(Role::Changed, of(&after))
}

/// Returns the lines of the selected change: its URL and each difference.
fn change_details(shared: &Shared, changes: &Changes, moved: &RowSet) -> Vec<Line> {
    let row = match changes.entry() {
        Some(Entry::Row(row)) => row,
        Some(Entry::File(file)) => {
            let differences = pending::file_differences(shared.session.view(), file);
            let lines = differences.into_iter().map(|difference| Words::text(difference).into());
            return lines.chain([Words::dim("gp, then d: the lines before and after").into()]).collect();
        }
        _ => return Vec::new(),
    };
    let document = shared.session.document();
    let width = usize::from(shared.size.0).saturating_sub(6);
    let charset = shared.theme.charset;
    let file = document.sitemap(document.sitemap_of(row)).map_or_else(String::new, |file| file.name.to_string());
    let loc = charset.elide(&document.loc(row), width.saturating_sub(file.len() + 2)).into_owned();
    let mut lines = vec![Line::new(Words::new().and(Role::Bold, loc), Words::dim(file))];
    for part in pending::differences(shared.session.view(), row) {
        let half = width.saturating_sub(part.name.len() + 6) / 2;
        lines.push(before_and_after(shared, &part, "", half.max(8)).into());
    }
    if moved.contains(row.0) {
        let position = |document: &crate::document::Document| {
            let at = document.sitemap(document.sitemap_of(row))?.rows.position(row)?;
            Some(grouped(at as u64 + 1))
        };
        if let (Some(from), Some(to)) = (position(&shared.session.view().saved), position(document)) {
            let words = Words::dim(format!("position in the file {from} {} ", shared.theme.signs.arrow));
            lines.push(words.and(Role::Changed, to).into());
        }
    }
    lines
}

/// The byte offset to show two values from: [`LEADING_CHARS`] characters before their first difference.
fn difference_start(old: &str, new: &str) -> usize {
    let same = old.char_indices().zip(new.chars()).find(|((_, a), b)| a != b);
    let first = same.map_or(old.len().min(new.len()), |((at, _), _)| at);
    let lead = old.get(..first).unwrap_or_default().char_indices().rev().nth(LEADING_CHARS - 1);
    lead.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shown_from_their_first_difference() {
        let table =
            [("daily", "Daily", 0), ("<url><loc>https://e.com/é/a</loc>", "<url><loc>https://e.com/é/b</loc>", 18)];
        for (old, new, expected) in table {
            assert_eq!(difference_start(old, new), expected, "{old} {new}");
            assert!(old.is_char_boundary(expected) && new.is_char_boundary(expected));
        }
    }
}
