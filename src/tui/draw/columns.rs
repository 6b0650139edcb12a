//! Computes the widths of the table's columns.
//!
//! Pure functions, shared by drawing and clicks. The loc distinguishes rows, so it is shortened last.

use crate::protocol::Field;

/// The width of each column's content over the whole set, independent of the rows on the screen. 0 hides a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ContentWidths {
    /// Number of digits of the largest row number.
    pub number: usize,
    /// Lastmod values.
    pub lastmod: usize,
    /// Changefreq values.
    pub changefreq: usize,
    /// Priority values.
    pub priority: usize,
    /// Extension badges.
    pub badges: usize,
    /// File names.
    pub file: usize,
    /// Values of data columns, by their index in the selection.
    pub data: [usize; MAX_DATA_COLUMNS],
}

/// Maximum number of data columns in the table.
pub(crate) const MAX_DATA_COLUMNS: usize = 8;

impl ContentWidths {
    /// The width of each column's head, for columns that the user selected or that have no values to measure.
    pub(crate) const HEADS: Self =
        Self { number: 1, lastmod: 10, changefreq: 10, priority: 8, badges: 3, file: 4, data: [0; MAX_DATA_COLUMNS] };

    /// The wider of both, column by column.
    #[must_use]
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            number: self.number.max(other.number),
            lastmod: self.lastmod.max(other.lastmod),
            changefreq: self.changefreq.max(other.changefreq),
            priority: self.priority.max(other.priority),
            badges: self.badges.max(other.badges),
            file: self.file.max(other.file),
            data: std::array::from_fn(|at| self.data[at].max(other.data[at])),
        }
    }

    /// Gives a field at least the width of its head.
    #[must_use]
    pub(crate) fn with(mut self, field: Field) -> Self {
        match field {
            Field::Loc => {}
            Field::Lastmod => self.lastmod = self.lastmod.max(Self::HEADS.lastmod),
            Field::Changefreq => self.changefreq = self.changefreq.max(Self::HEADS.changefreq),
            Field::Priority => self.priority = self.priority.max(Self::HEADS.priority),
        }
        self
    }

    /// The names of the columns that are hidden because no row has a value in them.
    pub(crate) fn hidden(self) -> Vec<&'static str> {
        let widths = [
            (self.lastmod, "lastmod"),
            (self.changefreq, "changefreq"),
            (self.priority, "priority"),
            (self.badges, "ext"),
        ];
        widths.into_iter().filter(|(width, _)| *width == 0).map(|(_, name)| name).collect()
    }
}

/// The position and width of a column; a column of width 0 is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Column {
    /// First column of the screen, counted from the table's left edge.
    pub at: usize,
    /// Columns of the screen.
    pub width: usize,
}

/// The columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Columns {
    /// Row numbers, right-aligned.
    pub number: Column,
    /// The four fields, by [`Field::index`].
    pub fields: [Column; 4],
    /// Extension badges.
    pub badges: Column,
    /// File names.
    pub file: Column,
    /// Data columns.
    pub data: [Column; MAX_DATA_COLUMNS],
}

/// Number of columns for the signs in front of a row: cursor, mark, change, finding.
pub(crate) const SIGN_COLUMNS: usize = 4;
/// Number of blank columns between two columns of the table.
const GAP: usize = 2;

/// Columns by [`ColumnName::index`].
const LASTMOD: usize = 1;
const CHANGEFREQ: usize = 2;
const PRIORITY: usize = 3;
const BADGES: usize = 4;
const FILE: usize = 5;
const DATA: usize = 6;

/// Maximum width of a data column: first if there is room, second if space is short.
const DATA_WIDTHS: [usize; 2] = [24, 10];

/// A column that the user can select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnName {
    /// One of the four fields.
    Field(Field),
    /// Extension badges.
    Badges,
    /// File names.
    File,
    /// The data column with this index in the selection.
    Data(usize),
}

impl ColumnName {
    /// All columns except data columns, in the default order, each with its word in commands.
    pub(crate) const ALL: [(Self, &'static str); 6] = [
        (Self::Field(Field::Loc), "loc"),
        (Self::Field(Field::Lastmod), "lastmod"),
        (Self::Field(Field::Changefreq), "changefreq"),
        (Self::Field(Field::Priority), "priority"),
        (Self::Badges, "ext"),
        (Self::File, "file"),
    ];

    /// The default order.
    pub(crate) fn default_order() -> Vec<Self> {
        Self::ALL.iter().map(|(name, _)| *name).collect()
    }

    /// The column of a word.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == word).map(|(name, _)| *name)
    }

    const fn index(self) -> usize {
        match self {
            Self::Field(field) => field.index(),
            Self::Badges => BADGES,
            Self::File => FILE,
            Self::Data(at) => DATA + at,
        }
    }
}

impl Columns {
    /// Lays out the columns of `order` for a table of this width. The column of `needed`, which is being edited, is
    /// shown even in the narrowest table.
    pub(crate) fn of(width: usize, content: ContentWidths, order: &[ColumnName], needed: Option<Field>) -> Self {
        let min_loc = (width * 3 / 8).clamp(12, 40);
        let clamp = |width: usize, least: usize, most: usize| if width == 0 { 0 } else { width.clamp(least, most) };
        let mut widths = Widths {
            number: content.number.max(1),
            // The loc gets the remaining width.
            columns: [0; DATA + MAX_DATA_COLUMNS],
        };
        for (at, width) in content.data.into_iter().enumerate() {
            let is_chosen = order.contains(&ColumnName::Data(at));
            widths.columns[DATA + at] = if is_chosen { width.min(DATA_WIDTHS[0]) } else { 0 };
        }
        let own = [
            clamp(content.lastmod, "lastmod".len() + 1, 25),
            clamp(content.changefreq, "changefreq".len(), "changefreq".len()),
            clamp(content.priority, "priority".len(), "priority".len()),
            content.badges.min(22),
            clamp(content.file, "file".len(), 20),
        ];
        widths.columns[LASTMOD..DATA].copy_from_slice(&own);
        for (name, _) in ColumnName::ALL {
            if !order.contains(&name) && needed.map(ColumnName::Field) != Some(name) {
                widths.columns[name.index()] = 0;
            }
        }
        let wanted = widths.columns;
        // Columns are narrowed in this order, until the loc has its minimum width.
        // In a narrow window the file column is hidden, because a few letters of a name are useless.
        let shortest_name = if width < 60 { 0 } else { 6 };
        let data = |most: usize| (0..MAX_DATA_COLUMNS).rev().map(move |at| (DATA + at, most));
        let narrower = [
            (BADGES, 10),
            (FILE, 12),
            // The longest frequency has 7 letters.
            (CHANGEFREQ, 7),
            (PRIORITY, 4),
            (BADGES, 0),
            (LASTMOD, 11),
            (FILE, 10),
            (CHANGEFREQ, 1),
            (FILE, shortest_name),
            (CHANGEFREQ, 0),
            (LASTMOD, 0),
            (PRIORITY, 0),
            (FILE, 0),
        ];
        // Data columns were selected by name, so they are hidden last.
        for (column, most) in data(DATA_WIDTHS[1]).chain(narrower).chain(data(0)) {
            if widths.columns_for_loc(width) >= min_loc {
                break;
            }
            let is_needed = needed.is_some_and(|field| field.index() == column);
            if !is_needed {
                widths.columns[column] = widths.columns[column].min(most);
            }
        }
        if widths.columns_for_loc(width) < min_loc {
            widths.number = 0;
        }
        // A later step may have freed more columns than needed: the more useful columns are widened again, those
        // whose head is shortened last.
        for (column, spare) in [(BADGES, 0), (LASTMOD, 0), (CHANGEFREQ, 8), (PRIORITY, 8)] {
            let narrow = std::mem::replace(&mut widths.columns[column], wanted[column]);
            if widths.columns_for_loc(width) < min_loc + spare {
                widths.columns[column] = narrow;
            }
        }
        // If the column being edited is not selected, it is at the end.
        let mut order = order.to_vec();
        order.extend(needed.map(ColumnName::Field).filter(|name| !order.contains(name)));
        widths.lay_out(width, &order)
    }

    /// The column of a field.
    pub(crate) const fn field(&self, field: Field) -> Column {
        self.fields[field.index()]
    }

    /// The fields that have a column, from left to right.
    pub(crate) fn shown(&self) -> Vec<Field> {
        let mut fields: Vec<Field> = Field::ALL.into_iter().filter(|field| self.field(*field).width > 0).collect();
        fields.sort_by_key(|field| self.field(*field).at);
        fields
    }

    /// The field whose column contains this position, for clicks.
    pub(crate) fn field_at(&self, x: usize) -> Option<Field> {
        Field::ALL.into_iter().find(|field| {
            let column = self.field(*field);
            column.width > 0 && (column.at..column.at + column.width + GAP).contains(&x)
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Widths {
    number: usize,
    /// By [`ColumnName::index`]; the entry of the loc is not used.
    columns: [usize; DATA + MAX_DATA_COLUMNS],
}

impl Widths {
    /// Number of columns of the screen left for the loc.
    fn columns_for_loc(self, width: usize) -> usize {
        let others: usize = self.columns.iter().skip(1).filter(|width| **width > 0).map(|width| width + GAP).sum();
        width.saturating_sub(self.start() + others + 1)
    }

    const fn start(self) -> usize {
        let number = if self.number > 0 { 1 + self.number } else { 0 };
        SIGN_COLUMNS + number + GAP
    }

    fn lay_out(self, width: usize, order: &[ColumnName]) -> Columns {
        let mut columns = Columns { number: Column { at: SIGN_COLUMNS + 1, width: self.number }, ..Columns::default() };
        let loc = ColumnName::Field(Field::Loc);
        // The loc is always shown: without it rows could not be distinguished.
        let first = (!order.contains(&loc)).then_some(loc);
        let mut at = self.start();
        for name in first.into_iter().chain(order.iter().copied()) {
            let width = if name == loc { self.columns_for_loc(width) } else { self.columns[name.index()] };
            let column = Column { at, width };
            if width > 0 {
                at += width + GAP;
            }
            match name {
                ColumnName::Field(field) => columns.fields[field.index()] = column,
                ColumnName::Badges => columns.badges = column,
                ColumnName::File => columns.file = column,
                ColumnName::Data(at) => columns.data[at] = column,
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DATES: ContentWidths = ContentWidths {
        number: 3,
        lastmod: 10,
        changefreq: 10,
        priority: 8,
        badges: 8,
        file: 10,
        data: [0; MAX_DATA_COLUMNS],
    };

    /// Completion proposes exactly the words that the editor accepts.
    #[test]
    fn completion_proposes_all_columns_and_themes() {
        use crate::session::command::{COLUMNS, THEMES};
        assert_eq!(ColumnName::ALL.map(|(_, word)| word), COLUMNS);
        assert!(THEMES.iter().all(|name| crate::tui::theme::Scheme::from_name(name).is_some()));
    }

    #[test]
    fn the_least_useful_columns_are_hidden_first() {
        // (width, content) → widths of number, loc, lastmod, changefreq, priority, badges, file
        let stamps = ContentWidths { number: 7, lastmod: 25, badges: 12, file: 16, ..DATES };
        let table = [
            (120, DATES, [3, 53, 10, 10, 8, 8, 10]),
            (80, DATES, [3, 30, 10, 7, 4, 0, 10]),
            (60, DATES, [3, 23, 10, 0, 4, 0, 6]),
            (40, DATES, [3, 23, 0, 0, 4, 0, 0]),
            (200, stamps, [7, 104, 25, 10, 8, 12, 16]),
            (80, stamps, [7, 31, 11, 1, 4, 0, 10]),
        ];
        for (width, content, expected) in table {
            let columns = Columns::of(width, content, &ColumnName::default_order(), None);
            let [loc, lastmod, changefreq, priority] = columns.fields;
            let got = [columns.number, loc, lastmod, changefreq, priority, columns.badges, columns.file];
            assert_eq!(got.map(|column| column.width), expected, "{width}");
        }
    }

    #[test]
    fn columns_without_content_are_hidden_unless_they_are_needed() {
        let content = ContentWidths { changefreq: 0, priority: 0, ..DATES };
        let shown = |needed| Columns::of(80, needed_in(content, needed), &ColumnName::default_order(), needed).shown();
        assert_eq!(shown(None), [Field::Loc, Field::Lastmod]);
        assert_eq!(shown(Some(Field::Priority)), [Field::Loc, Field::Lastmod, Field::Priority]);
        assert_eq!(content.hidden(), ["changefreq", "priority"]);
    }

    fn needed_in(content: ContentWidths, needed: Option<Field>) -> ContentWidths {
        needed.map_or(content, |field| content.with(field))
    }

    #[test]
    fn the_width_of_a_hidden_column_is_used_by_others() {
        // One file with badges: the badges have their full width, and heads are shortened for them.
        let content = ContentWidths { file: 0, lastmod: 25, ..DATES };
        let columns = Columns::of(80, content, &ColumnName::default_order(), None);
        let [loc, lastmod, changefreq, priority] = columns.fields.map(|column| column.width);
        assert_eq!((loc, lastmod, changefreq, priority, columns.badges.width), (31, 11, 7, 4, 8));
    }

    #[test]
    fn clicks_find_their_field() {
        let columns = Columns::of(120, DATES, &ColumnName::default_order(), None);
        assert_eq!(columns.field_at(0), None);
        for field in Field::ALL {
            assert_eq!(columns.field_at(columns.field(field).at), Some(field));
        }
    }

    proptest! {
        #[test]
        fn columns_never_overlap_nor_exceed_the_width(
            width in 0_usize..400, number in 0_usize..9, lastmod in 0_usize..60, badges in 0_usize..60,
            file in 0_usize..60, values in (0_usize..12, 0_usize..12), needed in 0_usize..5, order in Just(ColumnName::default_order()).prop_shuffle(), kept in 0_usize..9,
        ) {
            let order: Vec<ColumnName> = order.into_iter().chain([ColumnName::Data(0), ColumnName::Data(7)]).take(kept).collect();
            let mut data = [0; MAX_DATA_COLUMNS];
            (data[0], data[7]) = values;
            let content = ContentWidths { number, lastmod, changefreq: values.0, priority: values.1, badges, file, data };
            let needed = Field::ALL.get(needed).copied();
            let content = needed.map_or(content, |field| content.with(field));
            let columns = Columns::of(width, content, &order, needed);
            if let Some(field) = needed && width >= 50 { prop_assert!(columns.field(field).width > 0, "{:?}", columns); }
            let [a, b, c, d] = columns.fields;
            let mut end = 0;
            let mut all = [columns.number, a, b, c, d, columns.badges, columns.file, columns.data[0], columns.data[7]];
            all.sort_by_key(|column| column.at);
            for column in all {
                if column.width == 0 { continue; }
                prop_assert!(column.at >= end, "{:?}", columns);
                end = column.at + column.width;
            }
            if width >= if needed.is_some() { 50 } else { 20 } { prop_assert!(end <= width, "{:?}", columns); prop_assert!(a.width > 0); }
        }
    }
}
