//! One data column: its values, and the kind of most of them.

use super::DataRow;
use super::cell::{Cell, Content};
use super::grouped;
use super::interner::{Interner, TextId, Texts};
use crate::persistent;
use crate::progress::note_work;
use crate::protocol::lastmod::{self, Lastmod, Precision};
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// The text of a row that has no value.
const ABSENT: TextId = TextId::MAX;

/// The kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, optionally with a percent sign.
    Number,
    /// Dates, or dates with a time.
    Date,
    /// `true` or `false`, `yes` or `no`.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    /// Its values in the plural, for messages: `numbers`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Date => "dates",
            Self::Boolean => "true or false",
            Self::Text => "texts",
        }
    }
}

/// One value of a data column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'d> {
    /// The URL is not in the data, or its cell is empty.
    Absent,
    /// The text does not have the kind of the column.
    Unreadable(&'d str),
    /// A number.
    Number(f64),
    /// A date or a time.
    Date {
        /// Seconds since 1970 in UTC; for a date without a time, the start of the day.
        seconds: i64,
        /// Whether it is a date without a time.
        is_day: bool,
    },
    /// True or false.
    Boolean(bool),
    /// A text.
    Text(&'d str),
}

impl Value<'_> {
    /// Compares two values of one column: absent ones come last, unreadable ones before them.
    pub fn compare(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::Absent => 2,
            Self::Unreadable(_) => 1,
            _ => 0,
        };
        rank(self).cmp(&rank(other)).then_with(|| match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Date { seconds: one, .. }, Self::Date { seconds: two, .. }) => one.cmp(two),
            (Self::Boolean(one), Self::Boolean(two)) => one.cmp(two),
            (Self::Text(one), Self::Text(two)) | (Self::Unreadable(one), Self::Unreadable(two)) => one.cmp(two),
            _ => Ordering::Equal,
        })
    }
}

/// A column of a [`super::DataSet`]: 8 bytes per row for numbers or dates, 4 bytes for other kinds, and each distinct
/// text that is not stored as a number or a date.
#[derive(Debug)]
pub struct Column {
    name: String,
    kind: Kind,
    rows: Rows,
    /// Its values for the final URLs of redirects; `None` if they equal those of the URL that redirected.
    target: Option<Target>,
    texts: Texts,
}

/// The values of a column for the final URLs of redirects.
#[derive(Debug)]
struct Target(Option<Rows>);

/// The values of a column by row.
#[derive(Debug, Clone)]
pub(super) enum Rows {
    /// Numbers or dates.
    Cells(Arc<Vec<Cell>>),
    /// Booleans and texts.
    Texts(Vec<TextId>),
    /// Any values, while more are added.
    Shared(persistent::Column<Cell>),
}

impl Column {
    /// Its name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind of its values.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The text of a row as in the table.
    pub fn text(&self, row: DataRow) -> Option<Cow<'_, str>> {
        let cell = self.cell(row)?;
        match cell.content() {
            Content::Absent => None,
            Content::Text(id) => Some(self.texts.get(id).into()),
            Content::Number(_) | Content::Date { .. } => cell.written().map(Cow::from),
        }
    }

    /// The value of a row.
    pub fn value(&self, row: DataRow) -> Value<'_> {
        match self.cell(row).unwrap_or_default().content() {
            Content::Absent => Value::Absent,
            Content::Number(number) => Value::Number(number),
            Content::Date { seconds, is_day } => Value::Date { seconds, is_day },
            Content::Text(id) => {
                let text = self.texts.get(id);
                let value = match self.kind {
                    Kind::Number => parse_number(text).map(Value::Number),
                    Kind::Date => parse_date(text)
                        .map(|date| Value::Date { seconds: date.seconds, is_day: date.precision <= Precision::Day }),
                    Kind::Boolean => parse_boolean(text).map(Value::Boolean),
                    Kind::Text => Some(Value::Text(text)),
                };
                value.unwrap_or(Value::Unreadable(text))
            }
        }
    }

    /// The cell of the URL itself, else that of a redirect that ends there.
    fn cell(&self, row: DataRow) -> Option<Cell> {
        let own = row.own.and_then(|own| self.rows.get(own));
        own.filter(|cell| !cell.is_absent()).or_else(|| {
            let record = row.redirect?;
            match &self.target {
                None => self.rows.get(record),
                Some(Target(rows)) => rows.as_ref()?.get(record).filter(|cell| is_number(*cell)),
            }
        })
    }

    /// Its cells, if they are numbers, for use as the target cells of another column.
    pub(super) fn shared_cells(&self) -> Option<Rows> {
        (self.kind == Kind::Number).then(|| self.rows.clone())
    }

    /// Sets its values for the final URLs of redirects; `None` for no values.
    pub(super) fn set_target_cells(&mut self, cells: Option<Rows>) {
        self.target = Some(Target(cells));
    }
}

impl Rows {
    fn get(&self, row: u32) -> Option<Cell> {
        let at = row as usize;
        match self {
            Self::Cells(cells) => cells.get(at).copied(),
            Self::Shared(cells) => cells.get(at).copied(),
            Self::Texts(ids) => ids.get(at).map(|id| if *id == ABSENT { Cell::default() } else { Cell::text(*id) }),
        }
    }
}

#[cfg(test)]
impl Column {
    /// Memory of its values in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Cells(cells) => cells.capacity() * size_of::<Cell>(),
            Rows::Shared(cells) => cells.len() * size_of::<Cell>(),
            Rows::Texts(ids) => ids.capacity() * size_of::<TextId>(),
        };
        rows + self.texts.held_bytes()
    }
}

/// Maximum number of values that are measured for the width of a column.
const MAX_SAMPLES: usize = 256;

impl Column {
    /// Some of its texts, evenly spread over the rows.
    pub fn samples(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let count = match &self.rows {
            Rows::Cells(cells) => cells.len(),
            Rows::Shared(cells) => cells.len(),
            Rows::Texts(ids) => ids.len(),
        };
        let chosen = (0..count).step_by(count.div_ceil(MAX_SAMPLES).max(1));
        chosen.filter_map(|row| self.text(DataRow::of(row as u32)))
    }

    /// Whether the row has a text.
    pub fn has(&self, row: DataRow) -> bool {
        self.cell(row).is_some_and(|cell| !cell.is_absent())
    }
}

/// A column to which the cells of tables are written.
pub(super) trait WriteColumn {
    /// An empty column.
    fn new(name: String) -> Self;

    /// Its name, without `@`.
    fn name(&self) -> &str;

    /// Sets the text of a row. An empty text keeps the value of an earlier table. `false` if no more texts fit.
    fn set(&mut self, row: u32, text: &str) -> bool;

    /// Removes the value of a row.
    fn clear(&mut self, row: u32);
}

/// A column while tables are read.
#[derive(Debug)]
pub(super) struct ColumnBuilder {
    name: String,
    texts: Interner,
    cells: Vec<Cell>,
}

impl From<&Column> for ColumnBuilder {
    fn from(column: &Column) -> Self {
        let cells = match &column.rows {
            Rows::Cells(cells) => cells.to_vec(),
            Rows::Shared(cells) => cells.iter().copied().collect(),
            Rows::Texts(ids) => (0..ids.len() as u32).map(|row| column.rows.get(row).unwrap_or_default()).collect(),
        };
        Self { name: column.name.clone(), texts: column.texts.clone().into(), cells }
    }
}

impl WriteColumn for ColumnBuilder {
    fn new(name: String) -> Self {
        Self { name, texts: Interner::default(), cells: Vec::new() }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set(&mut self, row: u32, text: &str) -> bool {
        if text.is_empty() {
            return true;
        }
        let Some(cell) = Cell::of(text).or_else(|| self.texts.intern(text).map(Cell::text)) else { return false };
        let at = row as usize;
        if self.cells.len() <= at {
            self.cells.resize(at + 1, Cell::default());
        }
        self.cells[at] = cell;
        true
    }

    fn clear(&mut self, row: u32) {
        if let Some(cell) = self.cells.get_mut(row as usize) {
            *cell = Cell::default();
        }
    }
}

impl ColumnBuilder {
    /// Replaces grouped numbers of these rows by plain ones, if all values of the rows are numbers, all have the same
    /// separator, and all of 1,000 or more are grouped.
    pub(super) fn ungroup(&mut self, rows: &RoaringBitmap, can_be_comma: bool) {
        let mut mark = None;
        let mut found = Vec::new();
        for row in rows {
            let Some(cell) = self.cells.get(row as usize) else { continue };
            match cell.content() {
                Content::Absent => {}
                Content::Number(number) if number.abs() < 1_000.0 => {}
                Content::Number(_) | Content::Date { .. } => return,
                Content::Text(id) => {
                    let Some((own, number)) = grouped::parse(self.texts.texts().get(id)) else { return };
                    let Some(number) = Cell::of(&number) else { return };
                    if *mark.get_or_insert(own) != own || (own == ',' && !can_be_comma) {
                        return;
                    }
                    found.push((row, number));
                }
            }
        }
        if found.is_empty() {
            return;
        }
        for (row, number) in found {
            self.cells[row as usize] = number;
        }
        // The kind of a column depends on its texts, so the texts of the grouped numbers are dropped.
        let old = std::mem::take(&mut self.texts);
        for cell in &mut self.cells {
            if let Content::Text(id) = cell.content() {
                *cell = self.texts.intern(old.texts().get(id)).map_or_else(Cell::default, Cell::text);
            }
        }
    }

    /// The column, whose kind is that of more than half of its distinct texts.
    pub(super) fn finish(mut self, rows: usize) -> Column {
        self.cells.resize(rows, Cell::default());
        let kind = kind_of(|| self.cells.iter().copied(), self.texts.texts());
        for cell in &mut self.cells {
            if !is_of_kind(*cell, kind) {
                *cell = as_text(*cell, &mut self.texts);
            }
        }
        let rows = if matches!(kind, Kind::Number | Kind::Date) {
            self.cells.shrink_to_fit();
            Rows::Cells(Arc::new(self.cells))
        } else {
            let id = |cell: &Cell| if let Content::Text(id) = cell.content() { id } else { ABSENT };
            Rows::Texts(self.cells.iter().map(id).collect())
        };
        Column { name: self.name, kind, rows, target: None, texts: self.texts.into_texts() }
    }
}

/// The kind of more than half of the distinct texts of a column.
fn kind_of<I: Iterator<Item = Cell>>(cells: impl Fn() -> I, texts: &Texts) -> Kind {
    let (has_number, has_date) = (cells().any(is_number), cells().any(is_date));
    match (has_number, has_date) {
        (true, false) if texts.len() == 0 => return Kind::Number,
        (false, true) if texts.len() == 0 => return Kind::Date,
        _ => {}
    }
    let mut distinct: Vec<Cell> = cells().filter(|cell| is_number(*cell) || is_date(*cell)).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let all = distinct.len() + texts.len();
    let is_most = |cells: usize, is_of_that_kind: fn(&str) -> bool| {
        (cells + texts.iter().filter(|text| is_of_that_kind(text)).count()) * 2 > all
    };
    let numbers = distinct.iter().filter(|cell| is_number(**cell)).count();
    if is_most(numbers, |text| parse_number(text).is_some()) {
        Kind::Number
    } else if is_most(distinct.len() - numbers, |text| parse_date(text).is_some()) {
        Kind::Date
    } else if is_most(0, |text| parse_boolean(text).is_some()) {
        Kind::Boolean
    } else {
        Kind::Text
    }
}

/// Whether a cell can be in a column of a kind: values of another kind are stored as unreadable texts.
fn is_of_kind(cell: Cell, kind: Kind) -> bool {
    match cell.content() {
        Content::Absent | Content::Text(_) => true,
        Content::Number(_) => kind == Kind::Number,
        Content::Date { .. } => kind == Kind::Date,
    }
}

/// The cell of a number or a date as a text.
fn as_text(cell: Cell, texts: &mut Interner) -> Cell {
    let id = cell.written().and_then(|text| texts.intern(&text));
    id.map_or_else(Cell::default, Cell::text)
}

/// A column to which values are added while earlier versions of it are in use.
#[derive(Debug)]
pub(super) struct GrowingColumn {
    name: String,
    /// The kind; `None` before the first value.
    kind: Option<Kind>,
    cells: persistent::Column<Cell>,
    texts: Interner,
    /// Number of values that were set, and the number when the kind was last determined.
    set: usize,
    counted_for_kind: usize,
}

impl From<&Column> for GrowingColumn {
    fn from(column: &Column) -> Self {
        let ColumnBuilder { name, mut texts, cells } = ColumnBuilder::from(column);
        texts.share();
        let set = cells.iter().filter(|cell| !cell.is_absent()).count();
        let kind = (set > 0).then_some(column.kind);
        Self { name, kind, cells: cells.into_iter().collect(), texts, set, counted_for_kind: set }
    }
}

impl WriteColumn for GrowingColumn {
    fn new(name: String) -> Self {
        let mut texts = Interner::default();
        texts.share();
        Self { name, kind: None, cells: persistent::Column::default(), texts, set: 0, counted_for_kind: 0 }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set(&mut self, row: u32, text: &str) -> bool {
        if text.is_empty() {
            return true;
        }
        let cell = Cell::of(text).filter(|cell| self.kind.is_none_or(|kind| is_of_kind(*cell, kind)));
        let Some(cell) = cell.or_else(|| self.texts.intern(text).map(Cell::text)) else { return false };
        note_work(1);
        self.set += 1;
        self.cells.grow(row as usize + 1);
        self.cells.set(row as usize, cell);
        true
    }

    fn clear(&mut self, row: u32) {
        if self.cells.get(row as usize).is_some_and(|cell| !cell.is_absent()) {
            note_work(1);
            self.cells.set(row as usize, Cell::default());
        }
    }
}

impl GrowingColumn {
    /// The current version of the column. Its kind is determined again when the number of values has doubled.
    pub(super) fn share(&mut self, rows: usize) -> Column {
        self.cells.grow(rows);
        if self.set > self.counted_for_kind && self.set >= self.counted_for_kind * 2 {
            self.counted_for_kind = self.set;
            note_work(self.cells.len());
            let kind = kind_of(|| self.cells.iter().copied(), self.texts.texts());
            self.kind = Some(kind);
            let other: Vec<(usize, Cell)> =
                self.cells.iter().copied().enumerate().filter(|(_, cell)| !is_of_kind(*cell, kind)).collect();
            for (row, cell) in other {
                self.cells.set(row, as_text(cell, &mut self.texts));
            }
        }
        Column {
            name: self.name.clone(),
            kind: self.kind.unwrap_or(Kind::Text),
            rows: Rows::Shared(self.cells.clone()),
            target: None,
            texts: self.texts.share(),
        }
    }
}

#[cfg(test)]
impl Column {
    /// Number of values on pages that another version of the column does not share.
    pub(super) fn copied_since(&self, other: &Self) -> usize {
        match (&self.rows, &other.rows) {
            (Rows::Shared(cells), Rows::Shared(others)) => cells.differing_pages(others).len() * persistent::PAGE,
            _ => usize::MAX,
        }
    }
}

fn is_number(cell: Cell) -> bool {
    matches!(cell.content(), Content::Number(_))
}

fn is_date(cell: Cell) -> bool {
    matches!(cell.content(), Content::Date { .. })
}

/// A decimal number, with a percent sign or without: `301`, `0.5`, `-3`, `1.2e6`, `12.5%`.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let digits = text.strip_suffix('%').unwrap_or(text).trim_end();
    // In a table, `inf` and `nan` are words.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    digits.parse().ok().filter(|_| is_number)
}

/// The time of a date in any notation that is accepted for `lastmod`, including those of HTTP and mail.
pub(super) fn parse_date(text: &str) -> Option<Lastmod> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    // A number is not a date, although ten digits could be Unix time.
    if !has_digit || parse_number(text).is_some() {
        return None;
    }
    lastmod::validate(text).instant
}

/// `true` or `yes`, `false` or `no`, in any case.
pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(["true", "yes"]) { Some(true) } else { is(["false", "no"]).then_some(false) }
}
