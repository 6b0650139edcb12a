//! `sited list`: prints URLs or rows in the order of the files.

use super::args::{Common, List, ListFormat, Missing};
use super::columns::{Columns, RowLocations, Rows, sort_keys};
use super::damage::Damage;
use super::output::{Extensions, Row, loc_text, row_json};
use super::paths::each_path;
use super::set_reader::{ReadMode, SetReader, SetRequest, memory_limit, note_why_loaded};
use super::urls::Urls;
use super::{Failure, Status, Streams, filter};
use crate::document::index::IndexFile;
use crate::document::query::Query;
use crate::document::rows::RowId;
use crate::files::{Conflicts, Reason};
use crate::protocol::Field;
use crate::session::Session;
use crate::session::data::MatchedUrls;
use crate::session::state::facts::FactTable;
use crate::session::store::load;
use crate::words::counted;
use crate::xml::entry::{Anomalies, Entry};
use crate::xml::multiple_locs;
use crate::xml::record::Flags;
use std::io::{self, Write};
use std::path::PathBuf;

pub(super) fn run(list: &List, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    run_with_limit(list, memory_limit(), streams)
}

/// [`run`]; sets of more than `memory_limit` bytes are streamed.
pub(super) fn run_with_limit(list: &List, memory_limit: u64, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if let Some(which) = list.missing {
        return print_missing(list, (which, memory_limit), streams);
    }
    let now = list.common.now()?;
    let query = filter(list.filter.as_deref(), &list.common)?;
    let keys = sort_keys(&list.sort, &list.common)?;
    let columns = Columns::of(list)?;
    let urls = Urls::read(&list.urls, &list.paths)?;
    if let Some(columns) = &columns {
        columns.print_header(streams.out)?;
    }
    let mut printer = RowPrinter { list, query, urls, columns, printed: 0 };
    let is_together = keys.is_some() || printer.compares_rows();
    // `--sitemaps` does not need the files that the index lists.
    let common = if list.sitemaps { list.common.reporting() } else { list.common.clone() };
    let common = Common { conflicts: Conflicts::ShowBoth, ..common };
    let mut print = |paths: &[PathBuf], streams: &mut Streams<'_>| -> Result<Status, Failure> {
        let needs_rows = keys.is_some() || printer.compares_rows() || list.sitemaps;
        let mode = if needs_rows { ReadMode::Repeated } else { ReadMode::SinglePass };
        let limit = if keys.is_some() { u64::MAX } else { memory_limit };
        let mut set = SetRequest { common: &common, paths, limit, now }.open(mode, streams)?;
        if keys.is_some() {
            note_why_loaded((set.session(), memory_limit), "sorting needs every row", streams);
        }
        if list.sitemaps {
            print_index_entries(set.session(), (list.format, printer.columns.as_ref()), streams)?;
        } else if keys.is_none() {
            let before = printer.printed;
            let printed = set.each_file(streams, |session, id, out| {
                let rows = session.document().sitemap(id).map(|sitemap| sitemap.rows.iter());
                Ok(printer.print(session, rows.into_iter().flatten(), out)?)
            });
            if let Err(Failure::File(_)) = printed {
                note_incomplete(printer.printed - before, streams);
            }
            printed?;
        } else if let (SetReader::Held(session), Some(keys)) = (&mut set, &keys) {
            session.show_now(None, keys.clone());
            printer.print(session, session.view().view.rows(session.document()), streams.out)?;
        }
        Damage::of(set.session()).warn(streams);
        if load::has_conflicts(set.session()) {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            let paths = paths.join(", ");
            streams.note(&format!("{paths}: unresolved merge conflicts; the rows of both sides are listed"));
        }
        Ok(if list.sitemaps { common.report_unread(set.session(), false, streams) } else { Status::Fine })
    };
    // If rows are compared, several files are one set; an index or folder among them is a set of its own.
    if is_together && list.paths.len() > 1 {
        match print(&list.paths, streams) {
            Err(Failure::File(error)) if matches!(error.reason, Reason::InSet(_)) => {}
            done => {
                printer.note_missing(streams);
                return done;
            }
        }
    }
    let mut status = Status::Fine;
    let all = each_path(&list.paths, streams, |path, streams| {
        if print(&[path.to_path_buf()], streams)? == Status::Files {
            status = Status::Files;
        }
        Ok(())
    })?;
    printer.note_missing(streams);
    Ok(if all == Status::Fine { status } else { all })
}

/// Prints the URLs of the data that no row of any set has.
fn print_missing(
    list: &List,
    (which, memory_limit): (Missing, u64),
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let Some(data) = list.common.data_set()? else {
        let hint = "for example: sited list sitemap.xml --data crawl.csv --missing".to_owned();
        return Err(Failure::Usage("--missing needs --data FILE".to_owned(), hint));
    };
    let now = list.common.now()?;
    let mut matched = MatchedUrls::default();
    let status = each_path(&list.paths, streams, |path, streams| {
        let paths = &[path.to_path_buf()];
        let request = SetRequest { common: &list.common, paths, limit: memory_limit, now };
        let mut set = request.open(ReadMode::SinglePass, streams)?;
        set.each_file(streams, |session, id, _| {
            let rows = session.document().sitemap(id).map(|sitemap| sitemap.rows.iter());
            for row in matching_rows(session, rows.into_iter().flatten(), None) {
                matched.note(data, session.document().value(row, Field::Loc).as_deref().unwrap_or_default());
            }
            Ok(())
        })?;
        Damage::of(set.session()).warn(streams);
        Ok(())
    })?;
    if status != Status::Fine {
        // Which URLs are missing is only known if all of the set was read.
        return Ok(status);
    }
    let mut left_out = 0;
    for (url, objection) in matched.missing(data) {
        if objection.is_some() && which == Missing::Pages {
            left_out += 1;
        } else {
            loc_text(streams.out, &url)?;
        }
    }
    if left_out > 0 {
        let urls = counted(left_out, "more URL");
        streams.note(&format!("{urls} of other sites, redirected, missing or no pages; --missing=all prints them too"));
    }
    Ok(status)
}

/// Prints the rows that match the options.
struct RowPrinter<'l> {
    list: &'l List,
    query: Option<Query>,
    urls: Option<Urls>,
    columns: Option<Columns>,
    /// Number of rows printed so far.
    printed: u64,
}

/// Notes that the list is incomplete because a file could not be read.
fn note_incomplete(printed: u64, streams: &mut Streams<'_>) {
    if printed > 0 {
        let (rows, verb) = (counted(printed, "row"), if printed == 1 { "was" } else { "were" });
        streams.note(&format!("{rows} {verb} printed before a file could not be read; the list is incomplete"));
    }
}

impl RowPrinter<'_> {
    /// Whether the output for a row depends on other rows.
    fn compares_rows(&self) -> bool {
        self.query.as_ref().is_some_and(Query::compares_rows)
            || self.columns.as_ref().is_some_and(Columns::compares_rows)
    }

    fn print(&mut self, session: &Session, rows: impl Iterator<Item = RowId>, out: &mut dyn Write) -> io::Result<()> {
        let facts = session.view().facts_by_row();
        let urls = self.urls.as_ref();
        // Every row is looked up, so that a URL whose row does not match the query does not count as missing.
        let rows = rows.filter(|row| urls.is_none_or(|urls| urls.find(&session.document().loc(*row)).is_some()));
        let passing = matching_rows(session, rows, self.query.as_ref().map(|query| (query, &facts)));
        let printed = &mut self.printed;
        let passing = passing.inspect(|_| *printed += 1);
        match (&self.columns, self.list.format) {
            (Some(columns), _) => print_columns(columns, session, passing, out),
            (None, ListFormat::Jsonl) => print_rows(session, passing, out),
            (None, _) => print_locs(session, passing, out),
        }
    }
}

impl RowPrinter<'_> {
    /// Notes the URLs of `--urls-from` that match no row.
    fn note_missing(&self, streams: &mut Streams<'_>) {
        if let Some(urls) = &self.urls {
            urls.note_missing(false, streams);
        }
    }
}

fn print_locs(session: &Session, rows: impl Iterator<Item = RowId>, out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        // Every `loc` of an entry is printed; a row without one is skipped.
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

/// Prints the entries of the index.
fn print_index_entries(
    session: &Session,
    (format, columns): (ListFormat, Option<&Columns>),
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    let Some(index) = session.document().index() else {
        let hint = "omit --sitemaps to print its URLs".to_owned();
        return Err(Failure::Usage("this is not a sitemap index".to_owned(), hint));
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
        if let Some(columns) = columns {
            columns.print_index_entry(value, streams.out)?;
            continue;
        }
        let (loc, lastmod) = (value(Field::Loc), value(Field::Lastmod));
        let (changefreq, priority) = (value(Field::Changefreq), value(Field::Priority));
        let row = Row {
            loc: loc.as_deref(),
            lastmod: lastmod.as_deref(),
            changefreq: changefreq.as_deref(),
            priority: priority.as_deref(),
            file: files.get(index.file_of(number)).map_or("", |file| file),
            line: index.source.offset(number).map(|offset| lines.position(offset).line),
            locs: &[],
            extensions: Extensions { image: 0, video: 0, news: 0, alternate: 0, other: 0 },
        };
        row_json(streams.out, &row)?;
    }
    Ok(())
}

/// Those of the rows that exist, are `<url>` entries and match the query.
pub(super) fn matching_rows<'s>(
    session: &'s Session,
    rows: impl Iterator<Item = RowId> + 's,
    query: Option<(&'s Query, &'s FactTable<'s>)>,
) -> impl Iterator<Item = RowId> + 's {
    let rows = rows.filter(|row| session.document().is_live(*row));
    let rows = rows.filter(|row| !(is_odd(session, *row) && is_of_other_kind(session, *row)));
    rows.filter(move |row| query.is_none_or(|(query, facts)| query.matches(&facts.of(*row))))
}

/// Whether the structure of an entry is unusual, so that it must be parsed again.
fn is_odd(session: &Session, row: RowId) -> bool {
    session.document().record(row).flags.contains(Flags::ANOMALOUS)
}

/// Whether an entry is a `<sitemap>` in a urlset, which is not a page.
fn is_of_other_kind(session: &Session, row: RowId) -> bool {
    let (entry, _) = session.document().entry(row);
    entry.anomalies.contains(Anomalies::OTHER_KIND)
}

fn every_loc(session: &Session, row: RowId) -> Vec<String> {
    let document = session.document();
    multiple_locs::locs(&document.entry_text(row), document.names(row))
}

fn print_rows(session: &Session, rows: impl Iterator<Item = RowId>, out: &mut dyn Write) -> io::Result<()> {
    let document = session.document();
    let mut locations = RowLocations::new(session);
    for row in rows {
        let line = locations.line(row);
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
            file: locations.file(row),
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

fn print_columns(
    columns: &Columns,
    session: &Session,
    rows: impl Iterator<Item = RowId>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut all, facts) = (Rows::new(session), session.view().facts_by_row());
    for row in rows {
        let locs = if is_odd(session, row) { every_loc(session, row) } else { Vec::new() };
        columns.print_row(&mut all, (row, &facts.of(row)), &locs, out)?;
    }
    Ok(())
}
