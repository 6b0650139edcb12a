//! One data column: its values, and the kind that most of them are.

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

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, perhaps with a percent sign.
    Number,
    /// Dates, or dates with a time.
    Date,
    /// `true` or `false`, `yes` or `no`.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    /// What its values are, for messages: `numbers`.
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
    /// The URL is unknown, or its cell is empty.
    Absent,
    /// The text is not of the column's kind.
    Unreadable(&'d str),
    /// A number.
    Number(f64),
    /// A moment.
    Date {
        /// Seconds since 1970 in UTC; of a day without a time its beginning.
        seconds: i64,
        /// Whether it is a day without a time.
        is_day: bool,
    },
    /// Whether it is so.
    Boolean(bool),
    /// A text.
    Text(&'d str),
}

impl Value<'_> {
    /// The order of two values of one column: absent ones last, unreadable ones before them.
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

/// A column of a [`super::DataSet`]: 8 bytes a row where it holds numbers or dates, 4 bytes where it holds anything else,
/// and every different text once that its values are not made of.
#[derive(Debug)]
pub struct Column {
    name: String,
    kind: Kind,
    rows: Rows,
    /// What it says of the final URL of redirects: `None` where it says the same as of the URL that redirected.
    target: Option<Target>,
    texts: Texts,
}

/// The values of a column for the final URLs of redirects.
#[derive(Debug)]
struct Target(Option<Rows>);

/// The values of the rows.
#[derive(Debug, Clone)]
pub(super) enum Rows {
    /// Of numbers or dates.
    Cells(Arc<Vec<Cell>>),
    /// Of booleans and texts.
    Texts(Vec<TextId>),
    /// Of anything, while more are added.
    Shared(persistent::Column<Cell>),
}

impl Column {
    /// Its name, without `@`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The text of a row as the table has it.
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

    /// The cell of the URL itself, else that of the redirect which ends there.
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

    /// Its numbers, for another column that says them of final URLs.
    pub(super) fn shared_cells(&self) -> Option<Rows> {
        (self.kind == Kind::Number).then(|| self.rows.clone())
    }

    /// Lets it say other numbers of the final URLs of redirects, or nothing.
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
    /// The memory of its values.
    pub(super) fn held_bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Cells(cells) => cells.capacity() * size_of::<Cell>(),
            Rows::Shared(cells) => cells.len() * size_of::<Cell>(),
            Rows::Texts(ids) => ids.capacity() * size_of::<TextId>(),
        };
        rows + self.texts.held_bytes()
    }
}

/// Values of a column that are measured for its width, at most.
const MEASURED: usize = 256;

impl Column {
    /// Some of its texts, evenly spread over the rows.
    pub fn samples(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let count = match &self.rows {
            Rows::Cells(cells) => cells.len(),
            Rows::Shared(cells) => cells.len(),
            Rows::Texts(ids) => ids.len(),
        };
        let chosen = (0..count).step_by(count.div_ceil(MEASURED).max(1));
        chosen.filter_map(|row| self.text(DataRow::of(row as u32)))
    }

    /// Whether the row has a text.
    pub fn has(&self, row: DataRow) -> bool {
        self.cell(row).is_some_and(|cell| !cell.is_absent())
    }
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

impl ColumnBuilder {
    pub(super) fn new(name: String) -> Self {
        Self { name, texts: Interner::default(), cells: Vec::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sets the text of a row. An empty text keeps what an earlier table said. `false`: no more texts can be held.
    pub(super) fn set(&mut self, row: u32, text: &str) -> bool {
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

    /// Removes the text of a row.
    pub(super) fn clear(&mut self, row: u32) {
        if let Some(cell) = self.cells.get_mut(row as usize) {
            *cell = Cell::default();
        }
    }

    /// Turns grouped numbers of these rows into plain ones, if all values of the rows are numbers, all are grouped by the
    /// same mark, and none that could be grouped is not.
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
                    let Some((own, number)) = grouped::ungrouped(self.texts.texts().get(id)) else { return };
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
        // The kind of a column follows from its texts: those of the grouped numbers go.
        let old = std::mem::take(&mut self.texts);
        for cell in &mut self.cells {
            if let Content::Text(id) = cell.content() {
                *cell = self.texts.intern(old.texts().get(id)).map_or_else(Cell::default, Cell::text);
            }
        }
    }

    /// The column with the kind that more than half of its different texts have.
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

/// The kind that more than half of the different texts of a column have.
fn kind_of<I: Iterator<Item = Cell>>(cells: impl Fn() -> I, texts: &Texts) -> Kind {
    let (has_number, has_date) = (cells().any(is_number), cells().any(is_date));
    match (has_number, has_date) {
        (true, false) if texts.len() == 0 => return Kind::Number,
        (false, true) if texts.len() == 0 => return Kind::Date,
        _ => {}
    }
    let mut different: Vec<Cell> = cells().filter(|cell| is_number(*cell) || is_date(*cell)).collect();
    different.sort_unstable();
    different.dedup();
    let all = different.len() + texts.len();
    let is_most =
        |cells: usize, is_it: fn(&str) -> bool| (cells + texts.iter().filter(|text| is_it(text)).count()) * 2 > all;
    let numbers = different.iter().filter(|cell| is_number(**cell)).count();
    if is_most(numbers, |text| parse_number(text).is_some()) {
        Kind::Number
    } else if is_most(different.len() - numbers, |text| parse_date(text).is_some()) {
        Kind::Date
    } else if is_most(0, |text| parse_boolean(text).is_some()) {
        Kind::Boolean
    } else {
        Kind::Text
    }
}

/// Whether a cell may be in a column: values of another kind are texts that cannot be read.
fn is_of_kind(cell: Cell, kind: Kind) -> bool {
    match cell.content() {
        Content::Absent | Content::Text(_) => true,
        Content::Number(_) => kind == Kind::Number,
        Content::Date { .. } => kind == Kind::Date,
    }
}

/// The text of a number or a date as one of the list.
fn as_text(cell: Cell, texts: &mut Interner) -> Cell {
    let id = cell.written().and_then(|text| texts.intern(&text));
    id.map_or_else(Cell::default, Cell::text)
}

/// A column to which values are added while earlier versions of it are read.
#[derive(Debug)]
pub(super) struct GrowingColumn {
    name: String,
    /// The kind, once there was a value.
    kind: Option<Kind>,
    cells: persistent::Column<Cell>,
    texts: Interner,
    /// How many values were set, and of how many the kind was found.
    set: usize,
    judged: usize,
}

impl From<&Column> for GrowingColumn {
    fn from(column: &Column) -> Self {
        let ColumnBuilder { name, mut texts, cells } = ColumnBuilder::from(column);
        texts.share();
        let set = cells.iter().filter(|cell| !cell.is_absent()).count();
        let kind = (set > 0).then_some(column.kind);
        Self { name, kind, cells: cells.into_iter().collect(), texts, set, judged: set }
    }
}

impl GrowingColumn {
    pub(super) fn new(name: String) -> Self {
        let mut texts = Interner::default();
        texts.share();
        Self { name, kind: None, cells: persistent::Column::default(), texts, set: 0, judged: 0 }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// As [`ColumnBuilder::set`].
    pub(super) fn set(&mut self, row: u32, text: &str) -> bool {
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

    pub(super) fn clear(&mut self, row: u32) {
        if self.cells.get(row as usize).is_some_and(|cell| !cell.is_absent()) {
            note_work(1);
            self.cells.set(row as usize, Cell::default());
        }
    }

    /// The column as it is. Its kind is found again each time that twice as many values were set.
    pub(super) fn share(&mut self, rows: usize) -> Column {
        self.cells.grow(rows);
        if self.set > self.judged && self.set >= self.judged * 2 {
            self.judged = self.set;
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
    /// How many values a page has that another version of the column does not share.
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
    // Not `inf` and `nan`, which are words in a table.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    digits.parse().ok().filter(|_| is_number)
}

/// The moment of a date in any notation that `lastmod` is read in, of HTTP and mail too.
pub(super) fn parse_date(text: &str) -> Option<Lastmod> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    // A bare number is a number, although ten digits could be Unix time.
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
