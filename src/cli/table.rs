//! Values by URL from a table (`set --from`), looked up in one pass over the rows.
//!
//! The table is any file that the program opens: CSV and TSV with columns named like the fields, or another sitemap.
//! Values that `check` reports as errors are refused without `--force`.

use super::args::Common;
use super::options::Unmatched;
use super::output::safe_loc;
use super::urls::{SHOWN, Texts, Urls, note_urls};
use super::values::validation_session;
use super::{Failure, Streams};
use crate::document::edit::Value;
use crate::document::rows::{RowId, RowSet};
use crate::document::source::Source;
use crate::files::{self, Error, FileInfo, LoadedFile, Reason, is_stream};
use crate::protocol::{Field, Severity};
use crate::session::Session;
use crate::session::edit::Change;
use crate::session::findings;
use crate::session::state::Snapshot;
use crate::words::{counted, excerpt, grouped};
use crate::xml::entry::Entry;
use crate::xml::escape::is_xml_char;
use crate::xml::names::{FileKind, Names};
use crate::xml::scan::Visit;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

/// The fields that a table can fill.
const FIELDS: [Field; 3] = [Field::Lastmod, Field::Changefreq, Field::Priority];

/// A cell without a value: the row is not changed.
const NONE: u32 = u32::MAX;

/// The value that removes a field, as in `FIELD=none`.
const REMOVE: &str = "none";

/// Values of rows by their URLs.
pub(super) struct Table {
    /// The URLs.
    pub(super) urls: Urls,
    columns: Vec<Column>,
}

/// The values of one field.
struct Column {
    field: Field,
    /// The distinct values.
    values: Vec<Value>,
    /// For each URL, the index of its value.
    of: Vec<u32>,
}

/// Collects the URLs and values of one file, in order.
struct Reader {
    has: [bool; 3],
    /// The concatenated URLs, and the end of each.
    keys: String,
    ends: Vec<usize>,
    values: [Texts; 3],
    /// The first entry with each value.
    first: [Vec<u32>; 3],
    cells: Vec<[u32; 3]>,
}

impl Reader {
    fn new(facts: &FileInfo) -> Self {
        let has = match &facts.grid {
            Some(grid) => FIELDS.map(|field| grid.columns.get(field.index()).copied().flatten().is_some()),
            None => [facts.kind == FileKind::Urlset; 3],
        };
        let (values, first) = Default::default();
        Self { has, keys: String::new(), ends: Vec::new(), values, first, cells: Vec::new() }
    }
}

impl Visit for Reader {
    fn entry(&mut self, text: &[u8], entry: &Entry, _: &Names) {
        let number = self.cells.len() as u32;
        if let Some(key) = entry.value(Field::Loc, text) {
            self.keys.push_str(key.trim());
        }
        self.ends.push(self.keys.len());
        let mut cells = [NONE; 3];
        for (at, (cell, field)) in cells.iter_mut().zip(FIELDS).enumerate() {
            let (Some(values), Some(first)) = (self.values.get_mut(at), self.first.get_mut(at)) else { continue };
            let value = entry.value(field, text);
            let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) else { continue };
            *cell = values.insert(value);
            if values.len() > first.len() {
                first.push(number);
            }
        }
        self.cells.push(cells);
    }
}

/// Invalid values of a table.
#[derive(Default)]
struct Faults {
    /// The first one, with its position.
    first: Option<String>,
    count: u64,
}

/// A table while it is read.
struct TableBuilder {
    texts: Texts,
    has: [bool; 3],
    values: [Vec<Value>; 3],
    /// The cells of each URL.
    cells: Vec<[u32; 3]>,
    faults: Faults,
    /// Number of lines that repeat a URL with other values, and the first such URL.
    ambiguous: (u64, Option<String>),
}

/// A table to read values from.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableInput<'t> {
    /// Its file.
    pub(super) path: &'t Path,
    /// The name or number of the URL column, from `--key`.
    pub(super) key: Option<&'t str>,
    /// Whether values that `check` reports as errors are accepted.
    pub(super) force: bool,
}

impl Table {
    pub(super) fn read(input: TableInput<'_>, common: &Common, streams: &mut Streams<'_>) -> Result<Self, Failure> {
        let TableInput { path, key, force } = input;
        let name = if is_stream(path) { "standard input".to_owned() } else { path.display().to_string() };
        let loc_column = key.map(ToOwned::to_owned).or_else(|| common.loc_column.clone());
        let common = Common { base_url: None, loc_column, ..common.clone() };
        let validator = validation_session(&common)?;
        let mut options = common.options(streams)?;
        // The table is not written, so an interrupted save of it is not finished.
        options.recovery.finish = false;
        let mut builder = TableBuilder {
            texts: Texts::default(),
            has: [false; 3],
            values: Default::default(),
            cells: Vec::new(),
            faults: Faults::default(),
            ambiguous: (0, None),
        };
        let mut columns: Vec<String> = Vec::new();
        let loaded = streams.watched(|progress| {
            files::load(path, &options, progress, &Reader::new, &mut |part| {
                if let LoadedFile::Sitemap { source, sitemap, visitor, .. } = part {
                    if let Some(grid) = &source.names.grid {
                        columns.extend(grid.header.iter().map(ToString::to_string));
                    }
                    let file = sitemap.path.as_ref().map_or_else(|| name.clone(), |path| path.display().to_string());
                    builder.add(visitor, &source, &file, &validator);
                }
            })
        });
        let loaded = loaded.map_err(|error| key_failure(error, key))?;
        common.note_loaded(&loaded, streams);
        builder.finish(name, &columns, force, streams)
    }

    /// The change that sets the values of the selected rows in memory. Selected rows that are not in the table are
    /// added to `unlisted`.
    pub(super) fn change(&self, snapshot: &Snapshot, selected: &RowSet, unlisted: &Unlisted, set: usize) -> Change {
        let rows: Vec<u32> = snapshot.document.resident_set().iter().collect();
        let shares: Vec<Vec<(RowId, Option<u32>)>> = rows
            .par_chunks(4_096)
            .map(|share| {
                let found = share.iter().map(|row| {
                    let row = RowId(*row);
                    (row, self.urls.find(&snapshot.document.loc(row)))
                });
                found.filter(|(row, _)| selected.contains(row.0)).collect()
            })
            .collect();
        let all = || shares.iter().flatten();
        let listed: RowSet = all().filter(|(_, number)| number.is_some()).map(|(row, _)| row.0).collect();
        unlisted.record_rows(set, snapshot, all().filter(|(_, number)| number.is_none()).map(|(row, _)| *row));
        let changes = self.columns.iter().map(|column| {
            let value = |(row, number): &(RowId, Option<u32>)| {
                let id = *column.of.get((*number)? as usize)?;
                Some((*row, column.values.get(id as usize)?.clone()))
            };
            let values = all().filter_map(value).collect();
            Change::Values { rows: listed.clone(), field: column.field, values }
        });
        Change::Several(changes.collect())
    }
}

/// Adds the hint about `--key` to the error of a table without a known URL column.
fn key_failure(error: Error, key: Option<&str>) -> Failure {
    match (&error.reason, key) {
        (Reason::NoUrlColumn { .. }, _) => {
            let hint = "name the column of the URLs: --key NAME, or --key NUMBER counted from 1".to_owned();
            Failure::Unusable(error.to_string(), hint)
        }
        _ => error.into(),
    }
}

impl TableBuilder {
    /// Adds one file.
    fn add(&mut self, reader: Reader, source: &Source, file: &str, validator: &Session) {
        let Reader { has, keys, ends, values, first, cells } = reader;
        let mut start = 0;
        let offset = [0, 1, 2].map(|at| self.values.get(at).map_or(0, |known| known.len() as u32));
        for (end, cells) in ends.into_iter().zip(cells) {
            let key = keys.get(start..end).unwrap_or_default();
            start = end;
            if key.is_empty() {
                continue;
            }
            let moved = [0, 1, 2].map(|at| match (cells.get(at), offset.get(at)) {
                (Some(cell), Some(offset)) if *cell != NONE => cell + offset,
                _ => NONE,
            });
            let number = self.texts.insert(key) as usize;
            match self.cells.get_mut(number) {
                None => self.cells.push(moved),
                Some(known) if *known == moved => {}
                Some(known) => {
                    *known = moved;
                    self.ambiguous.0 += 1;
                    self.ambiguous.1.get_or_insert_with(|| key.to_owned());
                }
            }
        }
        for (has, is_there) in self.has.iter_mut().zip(has) {
            *has |= is_there;
        }
        let mut faults: Vec<(u32, String)> = Vec::new();
        for (at, field) in FIELDS.into_iter().enumerate() {
            let (Some(texts), Some(first), Some(known)) = (values.get(at), first.get(at), self.values.get_mut(at))
            else {
                continue;
            };
            known.reserve(texts.len());
            known.extend((0..texts.len() as u32).map(|number| match texts.at(number) {
                text if text.eq_ignore_ascii_case(REMOVE) => None,
                text => Some(text.into()),
            }));
            let wrong = first.par_iter().enumerate().filter_map(|(number, entry)| {
                let text = texts.at(number as u32);
                let why = value_error(validator, field, text)?;
                Some((*entry, format!("{} {}: {why}", field.name(), excerpt(text, 200))))
            });
            faults.par_extend(wrong);
        }
        self.faults.count += faults.len() as u64;
        if let (None, Some((entry, words))) = (&self.faults.first, faults.into_iter().min()) {
            let line = source.offset(entry as usize).map_or(1, |offset| source.lines().position(offset).line);
            self.faults.first = Some(format!("{file}:{line}: {words}"));
        }
    }

    fn finish(
        self,
        name: String,
        columns: &[String],
        force: bool,
        streams: &mut Streams<'_>,
    ) -> Result<Table, Failure> {
        let Self { texts, has, values, cells, faults, ambiguous } = self;
        if !has.contains(&true) {
            let named: Vec<&str> = columns.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
            let columns =
                if named.is_empty() { String::new() } else { format!("; its columns are {}", named.join(", ")) };
            let message = format!("{name} has no column named lastmod, changefreq or priority{columns}");
            let hint = "the first line of a table names its columns: loc,lastmod,priority".to_owned();
            return Err(Failure::Unusable(message, hint));
        }
        if let Some(first) = faults.first.filter(|_| !force) {
            let more = match faults.count - 1 {
                0 => String::new(),
                more => format!("; {} in the table", counted(more, "more invalid value")),
            };
            let hint =
                "nothing was changed; correct the table, or write its values as they are with --force".to_owned();
            return Err(Failure::Usage(format!("{first}{more}"), hint));
        }
        if let (count @ 1.., Some(first)) = ambiguous {
            let times = counted(count, "line");
            let message =
                format!("{name}: {times} with different values for a URL of an earlier line; the last line counts");
            streams.note(&format!("{message} (first: {})", excerpt(&first, 200)));
        }
        let columns = FIELDS.into_iter().zip(values).zip(has).enumerate();
        let columns = columns.filter(|(_, (_, is_there))| *is_there).map(|(at, ((field, values), _))| {
            let of = cells.iter().map(|cells| cells.get(at).copied().unwrap_or(NONE)).collect();
            Column { field, values, of }
        });
        let columns = columns.collect();
        Ok(Table { urls: Urls::new(name, texts), columns })
    }
}

/// Why a value is not valid.
fn value_error(validator: &Session, field: Field, text: &str) -> Option<String> {
    if let Some(character) = text.chars().find(|character| !is_xml_char(*character)) {
        return Some(format!("U+{:04X} cannot be written in XML", character as u32));
    }
    if text.eq_ignore_ascii_case(REMOVE) {
        return None;
    }
    let findings = findings::of_typed(validator.view(), None, field, text);
    let wrong = findings.into_iter().find(|finding| finding.severity == Severity::Error)?;
    Some(format!("{} ({})", wrong.message, wrong.rule.code()))
}

/// Number of rows of one file, and the URLs that are listed.
type UnlistedRows = (u64, Vec<String>);

/// Rows whose URL is not in a table: their number, and the first or all URLs.
#[derive(Default)]
pub(super) struct Unlisted {
    /// By set and file, so that a set that is read twice is counted once.
    files: Mutex<BTreeMap<(usize, u32), UnlistedRows>>,
    /// Whether all URLs are listed.
    is_all: bool,
}

impl Unlisted {
    pub(super) fn new(is_all: bool) -> Self {
        Self { is_all, ..Self::default() }
    }

    fn record_rows(&self, set: usize, snapshot: &Snapshot, rows: impl Iterator<Item = RowId>) {
        let Ok(mut files) = self.files.lock() else { return };
        match snapshot.document.resident_file() {
            Some(file) => drop(files.remove(&(set, file.0))),
            None => files.retain(|(known, _), _| *known != set),
        }
        let most = if self.is_all { usize::MAX } else { SHOWN };
        for row in rows {
            let (count, urls) = files.entry((set, snapshot.document.sitemap_of(row).0)).or_default();
            *count += 1;
            if urls.len() < most {
                urls.push(snapshot.document.loc(row).into_owned());
            }
        }
    }

    /// Notes the URLs that only the table or only the set has, and writes them to the file of `--unmatched`.
    pub(super) fn report(&self, urls: &Urls, options: &Unmatched, streams: &mut Streams<'_>) -> Result<(), Failure> {
        urls.note_missing(options.all, streams);
        let Ok(files) = self.files.lock() else { return Ok(()) };
        let count: u64 = files.values().map(|(count, _)| count).sum();
        let rows = || files.values().flat_map(|(_, urls)| urls.iter().map(String::as_str));
        if count > 0 {
            let are = if count == 1 { "row is" } else { "rows are" };
            let message = format!("{} {are} not in {}", grouped(count), urls.name);
            note_urls(&message, count, rows(), options.all, streams);
        }
        let Some(path) = &options.unmatched else { return Ok(()) };
        let mut table = "loc,found_in\n".to_owned();
        for (url, place) in urls.missing().map(|url| (url, "table")).chain(rows().map(|url| (url, "sitemap"))) {
            let url = safe_loc(url).replace('"', "\"\"");
            // Writing to a text cannot fail.
            let _ = writeln!(table, "\"{url}\",{place}");
        }
        if is_stream(path) {
            streams.out.write_all(table.as_bytes())?;
        } else {
            files::write_atomic(path, table.as_bytes())?;
            streams.note(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}
