//! Shows the table: the rows on the screen, the heads of data columns, and a message if there are no rows.

use super::super::app::App;
use super::super::app::modes::Mode;
use super::super::app::state::data_columns::data_row;
use super::super::app::state::grid::stem;
use super::super::app::state::large::ValueExcerpt;
use super::super::app::state::{Shared, large};
use super::super::draw::table::{DataHead, Row, State, Table};
use super::super::jobs::Kind;
use super::super::text::up_to;
use super::super::theme::Role;
use super::super::words::{Line, Words};
use super::lines::without_origin;
use crate::check::Finding;
use crate::check::rule::Rule;
use crate::data;
use crate::document::RowState;
use crate::document::rows::RowId;
use crate::document::sort::{Column, SortBy, SortKey};
use crate::protocol::{Field, Severity};
use crate::session::findings;
use crate::tui::outline::badges;
use crate::words::{counted, grouped};
use std::ops::Range;

/// Maximum number of bytes of a data column's value that are read for a cell.
const MAX_CELL_BYTES: usize = 256;

pub(super) fn table(app: &App) -> Table<'_> {
    let origin = app.shared.session.view().origin().unwrap_or_default();
    let window = app.window();
    let cursor = (window.contains(&app.shared.grid.position))
        .then(|| ((app.shared.grid.position - window.start) as usize, app.shared.grid.field));
    let mut rows: Vec<Row> = Vec::with_capacity(window.len());
    for position in window.clone() {
        let Some(id) = app.shared.session.view().row_at(position) else { break };
        let row = row(&app.shared, id, position, origin, rows.last());
        rows.push(row);
    }
    if rows.is_empty() {
        rows = first_rows(&app.shared, window);
    }
    Table {
        data: data_heads(&app.shared),
        columns: app.columns(),
        origin: origin.to_owned(),
        sorted: sorted(&app.shared),
        rows,
        cursor,
        editing: match app.modes.current() {
            Mode::Cell(edit) => Some(&edit.prompt),
            _ => None,
        },
        empty: empty_table_lines(&app.shared),
    }
}

/// Returns the first rows of a large file that is still being read. They have no row ids yet.
fn first_rows(shared: &Shared, window: Range<u32>) -> Vec<Row> {
    let row = |position: u32| {
        let fields = shared.opening.first_rows.get(position as usize)?.clone();
        Some(Row { number: u64::from(position) + 1, fields, ..Row::default() })
    };
    window.filter_map(row).collect()
}

fn row(shared: &Shared, id: RowId, position: u32, origin: &str, above: Option<&Row>) -> Row {
    let document = shared.session.document();
    let is_large = large::is_large(&shared.session, id);
    let facts = shared.large.facts(&shared.session, id).filter(|_| is_large);
    let mut fields = match facts {
        _ if !is_large => Field::ALL.map(|field| document.value(id, field).map(std::borrow::Cow::into_owned)),
        Some(facts) => facts.cells.each_ref().map(|excerpt| excerpt.as_ref().map(ValueExcerpt::ends)),
        // Until a job has read the entry.
        None => [Some(shared.theme.charset.ellipsis().to_owned()), None, None, None],
    };
    if let Some(loc) = &mut fields[Field::Loc.index()]
        && let Some(path) = loc.strip_prefix(origin)
        && !origin.is_empty()
        && path.starts_with(['/', '?', '#'])
    {
        *loc = path.to_owned();
    }
    // A row that was added and then deleted is in no file, but is listed until the next save.
    let state = if document.is_live(id) { shared.session.view().row_state(id) } else { RowState::Deleted };
    let same = |field: Field| {
        fields[field.index()].is_some() && above.is_some_and(|row| row.fields[field.index()] == fields[field.index()])
    };
    let file = document.sitemap(document.sitemap_of(id)).map(|sitemap| stem(&sitemap.name));
    let file = file.unwrap_or_default().to_owned();
    let ranged = shared.grid.anchor.is_some_and(|anchor| {
        (anchor.min(shared.grid.position)..=anchor.max(shared.grid.position)).contains(&position)
    });
    Row {
        number: u64::from(shared.session.view().number(id)),
        state: State(state),
        repaired: !document.quirks_of(id).is_empty(),
        worst: shared.session.view().worst(id),
        marked: shared.session.view().is_marked(id) || ranged,
        changed: if is_large {
            facts.map(|facts| facts.changed).unwrap_or_default()
        } else if state == RowState::Changed {
            Field::ALL.map(|field| shared.session.view().is_changed(id, field))
        } else {
            [false; 4]
        },
        repeated: Field::ALL.map(|field| field != Field::Loc && same(field)),
        faults: faults(shared, id, is_large),
        badges: match facts {
            _ if !is_large => badges(document.extensions(id)),
            facts => facts.map(|facts| facts.badges.clone()).unwrap_or_default(),
        },
        same_file: above.is_some_and(|row| row.file == file),
        data: data_cells(shared, id),
        file,
        fields,
    }
}

/// Returns the most severe error or warning of each cell. Large entries are not read here: only findings that a job
/// has cached are used.
fn faults(shared: &Shared, row: RowId, is_large: bool) -> [Option<Severity>; 4] {
    let worst = match shared.session.view().worst(row) {
        None | Some(Severity::Note) => [None; 4],
        Some(_) if is_large => {
            let mut worst = [None; 4];
            let findings = shared.large.entry(&shared.session, row).map_or(&[][..], |entry| &entry.findings);
            for (field, severity) in findings.iter().filter_map(|one| Some((one.field()?, one.severity))) {
                worst[field.index()] = Some(severity).max(worst[field.index()]);
            }
            worst
        }
        Some(_) => findings::worst_of_fields(shared.session.view(), row),
    };
    worst.map(|severity| severity.filter(|severity| *severity > Severity::Note))
}

fn sorted(shared: &Shared) -> Vec<(Field, bool)> {
    let field = |by: &SortBy| match by {
        SortBy::Own(Column::Loc) => Some(Field::Loc),
        SortBy::Own(Column::Lastmod) => Some(Field::Lastmod),
        SortBy::Own(Column::Changefreq) => Some(Field::Changefreq),
        SortBy::Own(Column::Priority) => Some(Field::Priority),
        _ => None,
    };
    shared.session.view().spec().sort.iter().filter_map(|key| Some((field(&key.by)?, key.descending))).collect()
}

/// Returns the heads of the selected data columns.
fn data_heads(shared: &Shared) -> Vec<DataHead> {
    let (known, sort) = (shared.session.view().data.as_deref(), &shared.session.view().spec().sort);
    let head = |name: &String| {
        let is_it = |key: &&SortKey| matches!(&key.by, SortBy::Data(column) if column.name() == name);
        DataHead {
            name: format!("@{name}"),
            is_number: known
                .and_then(|data| data.column(name))
                .is_some_and(|column| column.kind() == data::Kind::Number),
            sorted: sort.iter().find(is_it).map(|key| key.descending),
        }
    };
    shared.grid.data.names().map(head).collect()
}

/// Returns the values of the selected data columns for the URL of a row.
fn data_cells(shared: &Shared, row: RowId) -> Vec<String> {
    let Some(data) = shared.session.view().data.as_deref() else { return Vec::new() };
    let found = data_row(&shared.session, &shared.large, row);
    let text = |name: &String| found.and_then(|row| data.column(name)?.text(row)).unwrap_or_default();
    // URLs of the site are shown like the loc, without their origin.
    shared.grid.data.names().map(|name| without_origin(shared, up_to(&text(name), MAX_CELL_BYTES))).collect()
}

/// Returns the lines of an empty table: the reason, and keys that help.
fn empty_table_lines(shared: &Shared) -> Vec<Line> {
    let hint = |key: &'static str, does: &'static str| {
        let mut words = Words::new();
        words.key(key, does);
        Line::from(words)
    };
    if shared.session.is_loading() {
        let words = if shared.jobs.is_busy(Kind::Load) { "loading…" } else { "" };
        return vec![Words::dim(words).into()];
    }
    if shared.session.view().spec().filter.is_some() {
        return vec![
            Words::new().and(Role::Bold, "Nothing matches the filter.").into(),
            Line::default(),
            hint("f", "change it"),
            hint("Esc", "show all rows"),
        ];
    }
    let missing = |finding: &&Finding| finding.rule == Rule::INDEX_CHILD_MISSING;
    let missing = shared.session.file_findings().iter().filter(missing).count() as u64;
    if missing > 0 {
        let all = shared.session.document().index().map_or(0, |index| index.children.len() as u64);
        let words = if missing == all {
            format!("None of the {} of this index was found.", counted(all, "sitemap"))
        } else {
            format!("{} of the {} of this index not found.", grouped(missing), counted(all, "sitemap"))
        };
        return vec![Words::new().and(Role::Bold, words).into(), Line::default(), hint("^E", "which ones")];
    }
    vec![
        Words::new().and(Role::Bold, "No URLs here yet.").into(),
        Line::default(),
        hint("o", "add one"),
        Words::dim("or paste a list of them").into(),
    ]
}
