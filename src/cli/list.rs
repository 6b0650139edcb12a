//! `sited list`: the URLs, or the rows, in the order of the files.

use super::args::{Common, List, ListFormat};
use super::damage::Damage;
use super::output::{Extensions, Row, loc_text, plain, row_json, safe_loc};
use super::walk::{Set, held, say_why_held};
use super::{Failure, Status, Streams, each_path, filter};
use crate::check::rule::Rule;
use crate::document::query::Query;
use crate::document::rows::RowId;
use crate::document::sort;
use crate::document::source::{Lines, Source};
use crate::document::volumes::IndexFile;
use crate::files::{Conflicts, Reason};
use crate::protocol::{Field, Severity};
use crate::session::Session;
use crate::session::command::CommandError;
use crate::session::snapshot::FactTable;
use crate::words::counted;
use crate::xml::entry::{Entry, Oddities};
use crate::xml::record::Flags;
use crate::xml::repeat;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Lists every path.
pub(super) fn run(list: &List, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    run_within(list, held(), streams)
}

/// The same with another size from which on sets are gone through file by file.
pub(super) fn run_within(list: &List, held: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = list.common.now()?;
    let query = filter(list.filter.as_deref(), now)?;
    let keys = match list.sort.as_str() {
        "" => Vec::new(),
        text => sort::parse(text).map_err(|error| Failure::text("--sort", text, &CommandError::from(error)))?,
    };
    let columns = Columns::of(list)?;
    if let Some(columns) = columns.as_ref().filter(|_| !list.no_header) {
        columns.head(streams.out)?;
    }
    let mut shown = Shown { list, query, columns, printed: 0 };
    let is_together = !keys.is_empty() || shown.compares_rows();
    // The entries of an index are there without its files.
    let common = if list.sitemaps { list.common.reporting() } else { list.common.clone() };
    let common = Common { conflicts: Conflicts::ShowBoth, ..common };
    let mut print = |paths: &[PathBuf], streams: &mut Streams<'_>| -> Result<Status, Failure> {
        let mut set = if !keys.is_empty() {
            let set = Set::open(&common, (paths, u64::MAX), now, streams)?;
            say_why_held((set.session(), held), "an order over all rows needs all of them", streams);
            set
        } else if shown.compares_rows() || list.sitemaps {
            Set::open(&common, (paths, held), now, streams)?
        } else {
            Set::open_once(&common, (paths, held), now, streams)?
        };
        if list.sitemaps {
            sitemaps(set.session(), list.format, streams)?;
        } else if keys.is_empty() {
            let before = shown.printed;
            let printed = set.each(streams, |session, id, out| {
                let rows = session.document().sitemap(id).map(|sitemap| sitemap.rows.iter());
                Ok(shown.print(session, rows.into_iter().flatten(), out)?)
            });
            if let Err(Failure::File(_)) = printed {
                say_incomplete(shown.printed - before, streams);
            }
            printed?;
        } else if let Set::Held(session) = &mut set {
            session.show_now(None, keys.clone());
            let rows: Vec<RowId> = session.view().view.rows(session.document()).collect();
            shown.print(session, rows.into_iter(), streams.out)?;
        }
        Damage::of(set.session()).say(streams);
        if set.session().has_conflicts() {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            let paths = paths.join(", ");
            streams.note(&format!("{paths}: unresolved merge conflicts; the rows of both sides are listed"));
        }
        Ok(if list.sitemaps { common.say_unread(set.session(), false, streams) } else { Status::Fine })
    };
    // Several files are one set where rows are compared; an index or a folder among them is one of its own.
    if is_together && list.paths.len() > 1 {
        match print(&list.paths, streams) {
            Err(Failure::File(error)) if matches!(error.reason, Reason::InSet(_)) => {}
            done => return done,
        }
    }
    let mut status = Status::Fine;
    let all = each_path(&list.paths, streams, |path, streams| {
        if print(&[path.to_path_buf()], streams)? == Status::Files {
            status = Status::Files;
        }
        Ok(())
    })?;
    Ok(if all == Status::Fine { status } else { all })
}

/// What is printed of rows.
struct Shown<'l> {
    list: &'l List,
    query: Option<Query>,
    columns: Option<Columns>,
    /// How many rows were printed so far.
    printed: u64,
}

/// Says that the rows printed before a file could not be read are not all.
fn say_incomplete(printed: u64, streams: &mut Streams<'_>) {
    if printed > 0 {
        let (rows, verb) = (counted(printed, "row"), if printed == 1 { "was" } else { "were" });
        streams.note(&format!("{rows} {verb} printed before a file could not be read; the list is incomplete"));
    }
}

impl Shown<'_> {
    /// Whether other rows have a say in what is printed of a row.
    fn compares_rows(&self) -> bool {
        let tells_rules =
            |columns: &Columns| columns.cells.iter().any(|(_, cell)| matches!(cell, Cell::Finding | Cell::Rules));
        self.query.as_ref().is_some_and(Query::compares_rows) || self.columns.as_ref().is_some_and(tells_rules)
    }

    fn print(&mut self, session: &Session, rows: impl Iterator<Item = RowId>, out: &mut dyn Write) -> io::Result<()> {
        let facts = session.view().facts_by_row();
        let passing = passing(session, rows, self.query.as_ref().map(|query| (query, &facts)));
        let printed = &mut self.printed;
        let passing = passing.inspect(|_| *printed += 1);
        match (&self.columns, self.list.format) {
            (Some(columns), _) => print_columns(columns, session, passing, out),
            (None, ListFormat::Jsonl) => print_rows(session, passing, out),
            (None, _) => print_locs(session, passing, out),
        }
    }
}

fn print_locs(session: &Session, rows: impl Iterator<Item = RowId>, out: &mut dyn Write) -> io::Result<()> {
    // A row without a loc has nothing to say here.
    for row in rows {
        // Several loc in one entry are as many candidate URLs.
        let others = if is_odd(session, row) { every_loc(session, row) } else { Vec::new() };
        if others.is_empty()
            && let Some(loc) = session.document().value(row, Field::Loc)
        {
            loc_text(out, &loc)?;
        }
        for loc in others {
            loc_text(out, &loc)?;
        }
    }
    Ok(())
}

/// The entries of the index itself.
fn sitemaps(session: &Session, format: ListFormat, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let Some(index) = session.document().index() else {
        let hint = "without --sitemaps its URLs are printed".to_owned();
        return Err(Failure::Usage("this is no sitemap index".to_owned(), hint));
    };
    let mut lines = index.source.lines();
    let path = |file: IndexFile<'_>| match file.path {
        Some(path) => path.to_string_lossy().into_owned(),
        None => file.name.to_string(),
    };
    let files: Vec<String> = index.files().map(path).collect();
    for (number, child) in index.children.iter().enumerate() {
        if format == ListFormat::Text {
            loc_text(streams.out, &child.loc)?;
            continue;
        }
        let text = index.source.entry_text(number);
        let entry = Entry::of(text, &index.source.names);
        let value = |field| entry.value(field, text);
        let (loc, lastmod) = (value(Field::Loc), value(Field::Lastmod));
        let (changefreq, priority) = (value(Field::Changefreq), value(Field::Priority));
        let row = Row {
            loc: loc.as_deref(),
            lastmod: lastmod.as_deref(),
            changefreq: changefreq.as_deref(),
            priority: priority.as_deref(),
            file: files.get(index.file_of(number)).map_or("", |file| file),
            line: index.source.offset(number).map(|offset| lines.position(offset).0),
            locs: &[],
            extensions: Extensions { image: 0, video: 0, news: 0, alternate: 0, other: 0 },
        };
        row_json(streams.out, &row)?;
    }
    Ok(())
}

/// The rows that pass, of rows in some order.
fn passing<'s>(
    session: &'s Session,
    rows: impl Iterator<Item = RowId> + 's,
    query: Option<(&'s Query, &'s FactTable<'s>)>,
) -> impl Iterator<Item = RowId> + 's {
    let rows = rows.filter(|row| session.document().is_live(*row));
    let rows = rows.filter(|row| !(is_odd(session, *row) && is_of_other_kind(session, *row)));
    rows.filter(move |row| query.is_none_or(|(query, facts)| query.matches(&facts.of(*row))))
}

/// Whether anything about an entry is unusual: only then is it looked at more closely.
fn is_odd(session: &Session, row: RowId) -> bool {
    session.document().record(row).flags.has(Flags::ODD)
}

/// Whether an entry is a `<sitemap>` that stands in a urlset: it names no page.
fn is_of_other_kind(session: &Session, row: RowId) -> bool {
    let (entry, _) = session.document().entry(row);
    entry.odd.has(Oddities::OTHER_KIND)
}

fn every_loc(session: &Session, row: RowId) -> Vec<String> {
    let document = session.document();
    repeat::locs(&document.entry_text(row), document.names(row))
}

/// Where rows stand: the path of their file, and the line of their element. Lines are counted once where rows come in
/// the order of their file.
struct Places<'s> {
    session: &'s Session,
    paths: Vec<Arc<str>>,
    counter: Option<(&'s Source, usize, Lines<'s>)>,
}

impl<'s> Places<'s> {
    fn new(session: &'s Session) -> Self {
        let paths = session.document().sitemaps().iter().map(|sitemap| match &sitemap.path {
            Some(path) => path.to_string_lossy().into(),
            None => Arc::clone(&sitemap.name),
        });
        Self { session, paths: paths.collect(), counter: None }
    }

    fn file(&self, row: RowId) -> &str {
        self.paths.get(self.session.document().sitemap_of(row).index()).map_or("", |path| path)
    }

    fn line(&mut self, row: RowId) -> Option<u64> {
        let (source, entry) = self.session.document().origin(row)?;
        let offset = source.offset(entry)?;
        let lines = match &mut self.counter {
            // A counter goes forward only.
            Some((counted, last, lines)) if std::ptr::eq(*counted, source) && *last <= offset => {
                *last = offset;
                lines
            }
            other => &mut other.insert((source, offset, source.lines())).2,
        };
        Some(lines.position(offset).0)
    }
}

fn print_rows(session: &Session, rows: impl Iterator<Item = RowId>, out: &mut dyn Write) -> io::Result<()> {
    let document = session.document();
    let mut places = Places::new(session);
    for row in rows {
        let line = places.line(row);
        let value = |field| document.value(row, field);
        let (loc, lastmod) = (value(Field::Loc), value(Field::Lastmod));
        let (changefreq, priority) = (value(Field::Changefreq), value(Field::Priority));
        let found = document.extensions(row);
        let locs = if is_odd(session, row) { every_loc(session, row) } else { Vec::new() };
        let row = Row {
            loc: loc.as_deref(),
            lastmod: lastmod.as_deref(),
            changefreq: changefreq.as_deref(),
            priority: priority.as_deref(),
            file: places.file(row),
            line,
            locs: &locs,
            extensions: Extensions {
                image: found.image,
                video: found.video,
                news: found.news,
                alternate: found.alternate,
                other: found.other,
            },
        };
        row_json(out, &row)?;
    }
    Ok(())
}

/// What a column of a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Field(Field),
    File,
    Line,
    Image,
    Video,
    News,
    Alternate,
    Other,
    /// The worst severity.
    Finding,
    /// The codes of all rules that the row breaks.
    Rules,
}

/// The names of columns.
const CELLS: [(&str, Cell); 13] = [
    ("loc", Cell::Field(Field::Loc)),
    ("lastmod", Cell::Field(Field::Lastmod)),
    ("changefreq", Cell::Field(Field::Changefreq)),
    ("priority", Cell::Field(Field::Priority)),
    ("file", Cell::File),
    ("line", Cell::Line),
    ("image", Cell::Image),
    ("video", Cell::Video),
    ("news", Cell::News),
    ("alternate", Cell::Alternate),
    ("other", Cell::Other),
    ("finding", Cell::Finding),
    ("rules", Cell::Rules),
];

/// Columns, and what stands between them.
struct Columns {
    cells: Vec<(&'static str, Cell)>,
    delimiter: char,
    has_head: bool,
}

impl Columns {
    /// The columns that were asked for; `None` where rows are printed in another way.
    fn of(list: &List) -> Result<Option<Self>, Failure> {
        let (delimiter, has_head) = match list.format {
            ListFormat::Csv => (',', true),
            ListFormat::Tsv => ('\t', true),
            ListFormat::Text if !list.columns.is_empty() => ('\t', false),
            ListFormat::Jsonl if !list.columns.is_empty() => {
                let hint = "use --format csv or tsv".to_owned();
                return Err(Failure::Usage("--columns is for text, csv and tsv".to_owned(), hint));
            }
            ListFormat::Text | ListFormat::Jsonl => return Ok(None),
        };
        let mut cells = Vec::new();
        for name in &list.columns {
            let found = CELLS.iter().find(|(known, _)| known == name).ok_or_else(|| {
                let names = CELLS.map(|(name, _)| name).join(", ");
                Failure::Usage(format!("--columns {name}: there is no such column"), format!("columns are {names}"))
            })?;
            cells.push(*found);
        }
        if cells.is_empty() {
            cells.extend(CELLS.iter().take(4).copied());
        }
        Ok(Some(Self { cells, delimiter, has_head }))
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.has_head {
            return Ok(());
        }
        self.line(self.cells.iter().map(|(name, _)| (*name).into()), out)
    }

    fn line<'v>(&self, values: impl Iterator<Item = Cow<'v, str>>, out: &mut dyn Write) -> io::Result<()> {
        for (number, value) in values.enumerate() {
            if number > 0 {
                write!(out, "{}", self.delimiter)?;
            }
            // RFC 4180, section 2, 5 to 7.
            if value.contains([self.delimiter, '"']) {
                write!(out, "\"{}\"", value.replace('"', "\"\""))?;
            } else {
                write!(out, "{value}")?;
            }
        }
        writeln!(out)
    }
}

fn print_columns(
    columns: &Columns,
    session: &Session,
    rows: impl Iterator<Item = RowId>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = session.document();
    let mut places = Places::new(session);
    for row in rows {
        let line = if columns.cells.iter().any(|(_, cell)| *cell == Cell::Line) { places.line(row) } else { None };
        let found = document.extensions(row);
        let value = |(_, cell): &(&'static str, Cell)| -> Cow<'_, str> {
            let number = |number: u16| Cow::from(number.to_string());
            match cell {
                Cell::Field(Field::Loc) => {
                    document.value(row, Field::Loc).map_or("".into(), |loc| safe_loc(&loc).into())
                }
                Cell::Field(field) => document.value(row, *field).map_or("".into(), |value| plain(&value).into()),
                Cell::File => plain(places.file(row)).into(),
                Cell::Line => line.map_or("".into(), |line| line.to_string().into()),
                Cell::Image => number(found.image),
                Cell::Video => number(found.video),
                Cell::News => number(found.news),
                Cell::Alternate => number(found.alternate),
                Cell::Other => number(found.other),
                Cell::Finding => session.worst(row).map_or("", Severity::name).into(),
                Cell::Rules => {
                    let rules = session.view().rules_of(row);
                    rules.iter().map(Rule::code).collect::<Vec<_>>().join(" ").into()
                }
            }
        };
        let others = if is_odd(session, row) { every_loc(session, row) } else { Vec::new() };
        if others.is_empty() {
            columns.line(columns.cells.iter().map(value), out)?;
        }
        for loc in &others {
            let value = |cell: &(&'static str, Cell)| match cell.1 {
                Cell::Field(Field::Loc) => safe_loc(loc).into(),
                _ => value(cell),
            };
            columns.line(columns.cells.iter().map(value), out)?;
        }
    }
    Ok(())
}
