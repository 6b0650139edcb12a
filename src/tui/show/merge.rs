//! Shows a merge: one line per row, and below the list the selected row in full.

use super::super::app::modes::merge::Merging;
use super::super::app::state::Shared;
use super::super::draw::panel::Panel;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::lines::{GAP, without_origin};
use crate::document::merge::{MergeChoice, TheirChange};
use crate::document::rows::RowId;
use crate::document::{Document, RowState};
use crate::protocol::Field;
use crate::tui::outline::badges;
use crate::words::{counted, grouped};
use crate::xml::tree::{Node, tree};

/// Maximum number of lines for the selected row at the bottom, including its URL.
const DETAIL_LINES: usize = 8;

/// Returns the panel with the rows that fit on the screen.
pub(super) fn merge_panel(shared: &Shared, merging: &Merging) -> Panel {
    let areas = shared.areas();
    let room = usize::from(areas.footer.y.saturating_sub(areas.heads.y + 1));
    let length = if room >= 16 { DETAIL_LINES } else { 0 };
    let shown = room.saturating_sub(length + usize::from(length > 0)).max(1);
    let len = merging.order.len();
    let top = merging.chosen.saturating_sub(shown / 2).min(len.saturating_sub(shown));
    let mut lines: Vec<Line> = (top..len.min(top + shown))
        .filter_map(|at| merging.case(at))
        .map(|(case, take)| case_line(shared, merging, &case, take))
        .collect();
    if len == 0 {
        lines.push(Words::dim("no row differs from yours; Enter merges the changes outside of the rows").into());
    }
    lines.resize(shown, Line::default());
    if length > 0 {
        lines.push(Line::default());
        let mut below =
            merging.case(merging.chosen).map_or_else(Vec::new, |(case, _)| case_details(shared, merging, &case));
        below.truncate(length);
        lines.extend(below);
        lines.resize(room, Line::default());
    }
    let mut title = Words::new().and(Role::Accent, "merge");
    title.push(Role::Text, format!("{GAP}{} changed by others", counted(len as u64, "row")));
    match merging.compared.merge.index_clashes() {
        Some(0) => title.push(Role::Text, format!("{GAP}and the index")),
        Some(_) => title.push(Role::Warning, format!("{GAP}and the index, ours where both changed a field")),
        None => {}
    }
    let open = merging.open();
    if open > 0 {
        title.push(Role::Warning, format!("{GAP}{} to decide", grouped(open as u64)));
    }
    let right =
        Words::dim(format!("{} of {}", grouped((merging.chosen + 1).min(len.max(1)) as u64), grouped(len as u64)));
    Panel {
        title: Line::new(title, right),
        lines,
        chosen: (len > 0).then(|| merging.chosen - top),
        top: 0,
        foot: Vec::new(),
    }
}

fn case_line(shared: &Shared, merging: &Merging, case: &TheirChange, take: Option<MergeChoice>) -> Line {
    let (signs, charset) = (shared.theme.signs, shared.theme.charset);
    let (word, role) = match take {
        Some(MergeChoice::Ours) => ("ours", Role::Text),
        Some(MergeChoice::Theirs) => ("theirs", Role::Text),
        Some(MergeChoice::Both) => ("both", Role::Text),
        None => ("?", Role::Warning),
    };
    let (sides, theirs) = (merging.compared.sides(), merging.compared.merge.their_document());
    let was_there = has_row(sides.1, case.our_row());
    let (sign, sign_role, did) = match case.theirs {
        None => (signs.deleted, Role::Error, "they deleted it"),
        Some(_) if was_there => (signs.changed, Role::Changed, ""),
        Some(_) => (signs.added, Role::Good, "they added it"),
    };
    let width = usize::from(shared.size.0).saturating_sub(16);
    let loc = without_origin(shared, &loc_of(merging, case));
    let mut words = Words::new().and(role, format!("{word:7}")).and(sign_role, format!("{sign} "));
    words.push(Role::Text, charset.fit_path(&loc, (width * 2 / 5).clamp(12, 60)));
    if did.is_empty() {
        let before = words.pieces().len();
        for field in Field::ALL {
            let (was, is) =
                (value(sides.1, case.our_row(), field), case.theirs.and_then(|row| value(theirs, row, field)));
            if was != is {
                words.append(field_change(shared, field.name(), was.as_deref(), is.as_deref()));
            }
        }
        if words.pieces().len() == before {
            words.push(Role::Dim, format!("{GAP}other text"));
        }
    } else {
        words.push(Role::Dim, format!("{GAP}{did}"));
    }
    if case.clash {
        let ours = match merging.compared.our_state(case.our_row()) {
            RowState::Deleted => "deleted here",
            RowState::Added => "added here too",
            _ => "changed here too",
        };
        words.push(Role::Warning, format!("{GAP}{ours}"));
    }
    if case.from.is_some() {
        words.push(Role::Dim, format!("{GAP}in another file there"));
    }
    words.into()
}

/// `priority 0.5 → 0.3`.
fn field_change(shared: &Shared, name: &str, before: Option<&str>, after: Option<&str>) -> Words {
    let (signs, charset) = (shared.theme.signs, shared.theme.charset);
    let of = |value: Option<&str>| charset.cut(value.unwrap_or(signs.absent), 24).into_owned();
    Words::dim(format!("{GAP}{name} {} {} ", of(before), signs.arrow)).and(Role::Changed, of(after))
}

/// Returns the URL, and for each field that differs the values of the base, our and their version.
fn case_details(shared: &Shared, merging: &Merging, case: &TheirChange) -> Vec<Line> {
    let charset = shared.theme.charset;
    let ((ours, base), theirs) = (merging.compared.sides(), merging.compared.merge.their_document());
    let width = usize::from(shared.size.0).saturating_sub(6);
    let loc = charset.elide(&loc_of(merging, case), width).into_owned();
    let third = (width.saturating_sub(14) / 3).max(6);
    let row = |name: &str, cells: [&str; 3], role: Role| {
        let cell = |text: &str| charset.fit(text, third - 1);
        let words = Words::dim(format!("{name:12}")).and(Role::Dim, format!("{} ", cell(cells[0])));
        Line::from(words.and(role, format!("{} ", cell(cells[1]))).and(role, cell(cells[2])))
    };
    let mut lines =
        vec![Line::from(Words::new().and(Role::Bold, loc)), row("", ["before", "ours", "theirs"], Role::Dim)];
    let absent = shared.theme.signs.absent;
    for field in Field::ALL {
        let values = [
            value(base, case.our_row(), field),
            value(ours, case.our_row(), field),
            case.theirs.and_then(|row| value(theirs, row, field)),
        ];
        if values[0] != values[1] || values[0] != values[2] {
            let cells = values.each_ref().map(|value| value.as_deref().unwrap_or(absent));
            lines.push(row(field.name(), cells, Role::Text));
        }
    }
    let extensions = [
        extensions(base, Some(case.our_row())),
        extensions(ours, Some(case.our_row())),
        extensions(theirs, case.theirs),
    ];
    if extensions[0].1 != extensions[1].1 || extensions[0].1 != extensions[2].1 {
        // The badges may be equal although the extensions differ.
        let cell = |at: usize| match &extensions[at] {
            (badges, _) if badges.is_empty() => absent.to_owned(),
            (badges, text) if at > 0 && *badges == extensions[0].0 && *text != extensions[0].1 => {
                format!("{badges}, changed")
            }
            (badges, _) => badges.clone(),
        };
        let cells = [cell(0), cell(1), cell(2)];
        lines.push(row("extensions", cells.each_ref().map(String::as_str), Role::Text));
        if case.clash && case.theirs.is_some() {
            let words = if merging.compared.merge.both_keeps_ours(case) {
                "both: our extensions and the fields of both; theirs would be lost"
            } else {
                "both: their extensions and the fields of both"
            };
            lines.push(Words::new().and(Role::Warning, words).into());
        }
    }
    lines
}

/// Returns the extensions of a row as badges and as nodes.
fn extensions(document: &Document, row: Option<RowId>) -> (String, Vec<Node>) {
    let Some(row) = row.filter(|row| has_row(document, *row)) else { return Default::default() };
    let (entry, text) = document.entry(row);
    let mut nodes = tree(&text);
    nodes.retain(|node| node.depth > 0 || Field::from_name(&node.name).is_none());
    (badges(entry.extensions), nodes)
}

/// Returns the URL of a row: theirs, else ours, else the base version.
fn loc_of(merging: &Merging, case: &TheirChange) -> String {
    let ((ours, base), theirs) = (merging.compared.sides(), merging.compared.merge.their_document());
    let loc = case.theirs.and_then(|row| value(theirs, row, Field::Loc));
    let loc =
        loc.or_else(|| value(ours, case.our_row(), Field::Loc)).or_else(|| value(base, case.our_row(), Field::Loc));
    loc.unwrap_or_default()
}

fn has_row(document: &Document, row: RowId) -> bool {
    row.0 < document.row_limit() && document.is_live(row)
}

/// Returns a value of a row; `None` if the document has no such row.
fn value(document: &Document, row: RowId, field: Field) -> Option<String> {
    has_row(document, row).then(|| document.value(row, field).map(std::borrow::Cow::into_owned)).flatten()
}
