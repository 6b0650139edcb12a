//! Conversion between forms: what a document loses in another form, and its bytes in that form.

use super::Document;
use super::form::Form;
use super::rows::RowId;
use super::sitemap::SitemapId;
use super::source::Source;
use crate::protocol::Field;
use crate::words::{counted, excerpt, grouped};
use crate::xml::entry::Extensions;
use crate::xml::grid::{self, Grid};
use crate::xml::names::{FileKind, Names};
use crate::xml::record::ABSENT;
use crate::xml::splice::Layout;
use std::borrow::Cow;

/// The values that a form cannot hold, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Losses {
    /// Values, by [`Field::index`].
    pub fields: [u64; 4],
    /// Rows with extensions.
    pub extensions: u64,
    /// Comments of lists.
    pub comments: u64,
    /// Columns that contain no field of a sitemap.
    pub columns: Vec<String>,
}

impl Losses {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A list such as `3 dates, 2 priorities`; empty when nothing is lost.
    pub(crate) fn words(&self) -> String {
        let [_, dates, frequencies, priorities] = self.fields;
        let named = [
            (dates, "date", "dates"),
            (frequencies, "change frequency", "change frequencies"),
            (priorities, "priority", "priorities"),
        ];
        let fields = named.into_iter().filter(|(count, ..)| *count > 0).map(|(count, one, many)| {
            let number = grouped(count);
            format!("{number} {}", if count == 1 { one } else { many })
        });
        let extensions = (self.extensions > 0).then(|| format!("extensions of {}", counted(self.extensions, "row")));
        let columns = (!self.columns.is_empty()).then(|| columns_in_words(&self.columns));
        let comments = (self.comments > 0).then(|| counted(self.comments, "comment line"));
        fields.chain(extensions).chain(comments).chain(columns).collect::<Vec<_>>().join(", ")
    }
}

/// A list such as `the columns title, author and 2 more`.
pub(crate) fn columns_in_words(columns: &[String]) -> String {
    // Maximum number of names in the message, and of characters in each.
    const MAX_NAMES: usize = 5;
    const MAX_NAME_CHARS: usize = 30;
    let named: Vec<String> = columns.iter().take(MAX_NAMES).map(|name| excerpt(name, MAX_NAME_CHARS)).collect();
    let noun = if columns.len() == 1 { "the column" } else { "the columns" };
    let more = columns.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    format!("{noun} {}{more}", named.join(", "))
}

/// The columns of tables that contain no field of a sitemap, each name once. Only a table can store them.
pub(crate) fn unknown_columns(document: &Document) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for grid in document.sitemaps().iter().filter_map(|sitemap| sitemap.frame.names.grid.as_ref()) {
        for (number, name) in grid.unknown_columns() {
            let name = if name.is_empty() { format!("number {number}") } else { name.to_owned() };
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
    }
    columns
}

/// The values that the whole set loses in another form.
pub(crate) fn losses(document: &Document, form: Form) -> Losses {
    let mut losses = Losses { columns: unknown_columns(document), ..Losses::default() };
    for row in document.live_rows() {
        if form != Form::List && is_comment(document, row) {
            losses.comments += 1;
        }
        let record = document.record(row);
        let present =
            [false, record.has_lastmod(), record.changefreq_code() != ABSENT, record.priority_code() != ABSENT];
        for (field, present) in Field::ALL.into_iter().zip(present) {
            let lost = present && !form.holds(field);
            if let Some(count) = losses.fields.get_mut(field.index()).filter(|_| lost) {
                *count += 1;
            }
        }
        let extended = !form.holds_extensions() && document.extensions(row) != Extensions::default();
        losses.extensions += u64::from(extended);
    }
    losses
}

/// Whether a row is a comment of a list; no other form can hold comments.
pub(crate) fn is_comment(document: &Document, row: RowId) -> bool {
    document.names(row).kind == FileKind::List && document.loc(row).starts_with('#')
}

/// Number of comments in the lists of the set.
pub(crate) fn comments(document: &Document) -> u64 {
    let has_lists = document.sitemaps().iter().any(|sitemap| sitemap.frame.names.kind == FileKind::List);
    if has_lists { document.live_rows().filter(|row| is_comment(document, *row)).count() as u64 } else { 0 }
}

/// The values of a row, by [`Field::index`], including those that a line of a list has after its URL.
pub(crate) fn line_values(document: &Document, row: RowId) -> [Option<Cow<'_, str>>; 4] {
    let mut values = Field::ALL.map(|field| document.value(row, field));
    if document.names(row).kind != FileKind::List {
        return values;
    }
    let line = document.loc(row);
    if let Some(written) = grid::parse_attributed(&line) {
        for ((value, written), field) in values.iter_mut().zip(written).zip(Field::ALL) {
            // An edited value takes precedence over the one on the line.
            let is_edited = field != Field::Loc && document.edited(row, field).is_some();
            if let Some(written) = written.filter(|_| !is_edited) {
                *value = Some(Cow::Owned(written.to_owned()));
            }
        }
    }
    values
}

/// The edited values of a row that its file's form cannot hold.
pub(crate) fn unwritable(document: &Document, row: RowId) -> impl Iterator<Item = Field> + '_ {
    let grid = document.names(row).grid.as_deref();
    Field::ALL.into_iter().filter(move |field| {
        grid.is_some_and(|grid| !grid.holds(*field)) && matches!(document.edited(row, *field), Some(Some(_)))
    })
}

/// Renders the whole set as the bytes of one file in another form. Rows keep their order, values their texts.
pub(crate) fn rendered(document: &Document, form: Form) -> Vec<u8> {
    let grid = match form {
        Form::List => Grid::list("\n"),
        Form::Csv => Grid::table(b','),
        Form::Tsv => Grid::table(b'\t'),
        Form::Xml | Form::Feed(_) => return rendered_as_xml(document, document.live_rows()),
    };
    let names = Names::of_grid(grid.clone());
    let layout = Layout::of_file(&names);
    let mut out = grid.blank();
    for row in document.live_rows() {
        if form != Form::List && is_comment(document, row) {
            continue;
        }
        let values = if form == Form::List {
            Field::ALL.map(|field| document.value(row, field))
        } else {
            line_values(document, row)
        };
        let text = layout.render(&names, &values.each_ref().map(|value| value.as_deref()));
        // A row without a URL has no line.
        if form != Form::List || !text.trim_end().is_empty() {
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}

/// The live rows of a file that have no URL.
pub(crate) fn without_loc(document: &Document, id: SitemapId) -> impl Iterator<Item = RowId> + '_ {
    let rows = document.sitemap(id).into_iter().flat_map(|sitemap| sitemap.rows.iter());
    rows.filter(|row| document.is_live(*row) && document.loc(*row).trim().is_empty())
}

/// Renders rows as one XML sitemap with their fields only. Comments of lists are left out.
pub(crate) fn rendered_as_xml(document: &Document, rows: impl Iterator<Item = RowId>) -> Vec<u8> {
    let frame = Source::blank(FileKind::Urlset);
    let layout = Layout::default();
    let mut out = frame.head(true).into_owned();
    for row in rows.filter(|row| !is_comment(document, *row)) {
        let values = line_values(document, row);
        let values = values.each_ref().map(|value| value.as_deref().filter(|value| !value.is_empty()));
        out.extend_from_slice(layout.render(&frame.names, &values).as_bytes());
    }
    out.extend_from_slice(&frame.tail(true));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::edit::{Edit, NewEntry};
    use crate::document::fixture;
    use crate::document::rows::RowList;
    use crate::document::sitemap::Sitemap;
    use crate::document::source::Source;
    use crate::progress::Progress;
    use crate::xml::entry::Entry;
    use crate::xml::grid::TableHints;
    use crate::xml::names::Names;
    use crate::xml::record::Record;
    use crate::xml::scan::{self, Visit};
    use proptest::prelude::*;

    #[test]
    fn losses_are_named() {
        let losses = Losses { fields: [0, 1, 0, 1_200], extensions: 2, comments: 0, columns: vec!["title".to_owned()] };
        assert_eq!(losses.words(), "1 date, 1,200 priorities, extensions of 2 rows, the column title");
        assert_eq!(Losses::default().words(), "");
    }

    #[derive(Default)]
    struct Rows(Vec<Record>, Vec<String>);

    impl Visit for Rows {
        fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
            self.0.push(Record::of(entry, text));
            self.1.push(entry.value(Field::Loc, text).unwrap_or_default().into_owned());
        }
    }

    fn read(text: &[u8], kind: FileKind) -> (Document, Vec<String>) {
        let mut rows = Rows::default();
        let table = (kind == FileKind::Table).then(|| Grid::of_table(text, TableHints::default()).unwrap());
        let scan = scan::scan_grid(text, table.as_ref(), &mut rows, &Progress::default());
        let form = Form::of_kind(kind, scan.names.as_ref().and_then(|names| names.grid.as_deref()));
        let mut document = Document::default();
        document.append(Source::new(text.to_vec(), scan).unwrap(), rows.0, Sitemap { form, ..Sitemap::default() });
        (document, rows.1)
    }

    fn written(document: &Document) -> Vec<u8> {
        fixture::written(document, SitemapId(0))
    }

    fn edit() -> impl Strategy<Value = Edit> {
        let row = || 0u32..6;
        let value = prop_oneof![Just("http://e/new"), Just("a,\"b\""), Just("0.5"), Just(" x\ny ")];
        prop_oneof![
            (row(), 0usize..4, value.clone()).prop_map(|(row, field, value)| Edit::Set {
                rows: [row].into_iter().collect(),
                field: Field::ALL[field],
                value: Some(value.into()),
            }),
            (proptest::option::of(row()), value).prop_map(|(after, value)| Edit::Insert {
                sitemap: SitemapId(0),
                after: after.map(RowId),
                entries: vec![NewEntry::Values([Some(value.into()), None, Some("daily".into()), None])],
            }),
            row().prop_map(|row| Edit::Delete([row].into_iter().collect())),
            row().prop_map(|row| Edit::Restore([row].into_iter().collect())),
            Just(Edit::Reorder(Vec::new())),
        ]
    }

    proptest! {
        /// Without edits the bytes are those that were read; with edits, the written file has the computed size and
        /// reads back as the rows of the document.
        #[test]
        fn lists_and_tables_are_kept_and_read_back(
            lines in proptest::collection::vec(prop_oneof![
                Just("http://e/a"), Just(" http://e/b "), Just(""), Just("\"q\",1"), Just("x,y,z"), Just("# c"),
            ], 0..6),
            table in any::<bool>(),
            mark in any::<bool>(),
            end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
            closed in any::<bool>(),
            edits in proptest::collection::vec(edit(), 0..6),
        ) {
            let head = if table { vec!["loc,note,priority"] } else { Vec::new() };
            let mut text = [head, lines].concat().join(end);
            if closed {
                text.push_str(end);
            }
            if mark {
                text.insert(0, '\u{feff}');
            }
            let kind = if table { FileKind::Table } else { FileKind::List };
            let (before, _) = read(text.as_bytes(), kind);
            prop_assert!(written(&before) == text.as_bytes(), "{text:?}");
            let mut document = before;
            for edit in &edits {
                let edit = match edit {
                    Edit::Reorder(_) => {
                        let ids: Vec<u32> = document.rows().map(|row| row.0).collect();
                        Edit::Reorder(vec![(SitemapId(0), RowList::from_ids(ids.into_iter().rev()))])
                    }
                    other => other.clone(),
                };
                document = document.apply(&edit, &Progress::default()).unwrap().document;
            }
            let bytes = written(&document);
            prop_assert_eq!(document.sitemap(SitemapId(0)).unwrap().bytes(), bytes.len() as u64);
            let (_, locs) = read(&bytes, kind);
            let blank = [' ', '\t', '\n', '\r'];
            let on_a_line = |loc: String| if table { loc } else { loc.replace('\n', "%0A") };
            let expected: Vec<String> =
                document.live_rows().map(|row| on_a_line(document.loc(row).trim_matches(blank).to_owned())).collect();
            prop_assert_eq!(locs, expected, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }
}
