//! Data columns of an open set: reading tables, the rows that they match, and URLs that the set lacks.

use crate::check::Profile;
use crate::check::rule::Rule;
use crate::check::site::Site;
use crate::data::{Column, DataRow, DataSet, DataSetBuilder, Kind, ReadOptions, TableSummary};
use crate::document::rows::RowId;
use crate::files;
use crate::files::dates::{DatedSource, Dates, SourceMap};
use crate::progress::{Progress, note_work};
use crate::protocol::{Field, Severity, location};
use crate::session::Session;
use crate::session::checks::DocumentLocs;
use crate::session::command::{SourceDates, Tables};
use crate::session::edit::EditError;
use crate::session::state::{Snapshot, State};
use crate::words::{counted, excerpt_of_value, grouped};
use rayon::prelude::*;
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Number of rows that one core looks up before it checks for cancellation.
const TASK_ROWS: usize = 4_096;

/// A hint about the formats of tables.
pub(crate) const FORMS: &str = "a table is CSV or TSV with a line of names, JSON Lines or a log in the combined format";

/// Reads tables and adds them to the known data, unless they replace it. Returns the data with a message; `None` if
/// cancelled.
///
/// # Errors
///
/// A file that cannot be read, or is not a table.
pub(crate) fn read(
    tables: &Tables,
    snapshot: &Snapshot,
    progress: &Progress,
) -> Result<Option<(Arc<DataSet>, String)>, EditError> {
    let known = snapshot.data.as_deref().filter(|_| !tables.replace);
    let mut builder = known.map_or_else(DataSetBuilder::new, DataSetBuilder::from);
    let own = snapshot.base_url.as_deref().and_then(location::origin).map(|(origin, _)| origin);
    let origin = own.or_else(|| snapshot.checks.set().main_origin().map(|(origin, _)| origin));
    let options = ReadOptions { key: tables.key.as_deref(), origin };
    let mut sum = TableSummary::default();
    for path in &tables.paths {
        let text = files::read_table(Path::new(path)).map_err(|error| EditError::Refused(error.to_string()))?;
        let summary = builder.add(&text, &options);
        let summary =
            summary.map_err(|error| EditError::Refused(format!("{path}: {error}; {FORMS}; --key names the URLs")))?;
        builder.note_table(path);
        sum.rows += summary.rows;
        sum.without_url += summary.without_url;
        if progress.is_cancelled() {
            return Ok(None);
        }
    }
    let data = Arc::new(builder.finish());
    let without = match sum.without_url {
        0 => String::new(),
        count => format!(" ({} without a URL left out)", grouped(count)),
    };
    let columns = counted(data.columns().len() as u64, "column");
    let words = match tables.paths.as_slice() {
        [only] => only.clone(),
        paths => counted(paths.len() as u64, "table"),
    };
    Ok(Some((data, format!("{words}: {}{without}, {columns} in all", counted(sum.rows, "row")))))
}

/// Sets the data with new answers of the site about these URLs, and checks the rows of these URLs. Returns whether
/// every row has to be checked, because a column that rules read is new or has values of another kind.
pub(crate) fn take_answers(session: &mut Session, data: Arc<DataSet>, urls: &[String]) -> bool {
    let kind = |data: Option<&Arc<DataSet>>, name: &str| Some(data?.column(name)?.kind());
    let columns = ["status", "final_status", "modified", "ms"];
    let known = session.current.data.as_ref();
    let has_other_kinds = columns.iter().any(|name| kind(known, name) != kind(Some(&data), name));
    let clock = session.current.clock;
    let State { document, checks, .. } = &mut session.current.state;
    let targets = urls.iter().filter_map(|url| data.target(url));
    let pages = urls.iter().map(Cow::from).chain(targets);
    let rows = pages.flat_map(|url| checks.set().duplicates().rows_of_page(&url, &DocumentLocs(document))).collect();
    let robots = checks.site().and_then(Site::robots).cloned();
    checks.set_site(Site::of(Some(&data), robots).map(Arc::new), (document, rows), clock);
    session.current.data = Some(data);
    has_other_kinds
}

/// Finds the times at which the sources of all pages were changed, and adds them to the known data. Returns the data
/// with a message; `None` if cancelled.
///
/// # Errors
///
/// A folder without times, mappings that cannot be used, or a set without any URL that has a source.
pub(crate) fn dates(
    wanted: &SourceDates,
    snapshot: &Snapshot,
    progress: &Progress,
) -> Result<Option<(Arc<DataSet>, String)>, EditError> {
    let map = SourceMap::parse(&wanted.maps).map_err(|error| EditError::Refused(error.to_string()))?;
    let opened = Dates::open(&wanted.source, map, progress);
    if progress.is_cancelled() {
        return Ok(None);
    }
    let mut dates = opened.map_err(|error| EditError::Refused(format!("{error}; {}", error.hint())))?;
    let document = &snapshot.document;
    let (mut lines, mut rows, mut dated) = (String::new(), 0, 0);
    for row in document.rows().filter(|row| document.is_live(*row)) {
        if progress.is_cancelled() {
            return Ok(None);
        }
        let loc = document.value(row, Field::Loc).unwrap_or_default();
        let loc = loc.trim();
        rows += 1;
        if let Some(DatedSource { modified, source }) = dates.find(loc) {
            dated += 1;
            lines += &serde_json::json!({ "url": loc, "modified": modified, "source": source }).to_string();
            lines.push('\n');
        }
    }
    note_work(rows as usize);
    let folder = wanted.source.folder().display();
    if dated == 0 {
        return Err(EditError::Refused(format!(
            "none of {} has a source in {folder}; --map gives other locations",
            counted(rows, "URL")
        )));
    }
    let mut builder = snapshot.data.as_deref().map_or_else(DataSetBuilder::new, DataSetBuilder::from);
    builder.add(&lines, &ReadOptions::default()).map_err(|error| EditError::Refused(error.to_string()))?;
    builder.note_table(&format!("dates of {folder}"));
    let words = format!("{} of {} dated from {folder}", grouped(dated), counted(rows, "URL"));
    Ok(Some((Arc::new(builder.finish()), words)))
}

/// How many rows of a set the data columns cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Live rows.
    pub rows: u64,
    /// Those whose URL is in the data.
    pub known: u64,
    /// The name and kind of each column, and the number of rows with a value in it.
    pub columns: Vec<(String, Kind, u64)>,
    /// URLs of the data.
    pub urls: u64,
    /// Those that no row has.
    pub missing: u64,
}

/// Collects the URLs of the data that rows have.
#[derive(Debug, Clone, Default)]
pub(crate) struct MatchedUrls {
    rows: u64,
    known: u64,
    by_column: Vec<u64>,
    urls: RoaringBitmap,
    /// `scheme://host` of the rows.
    origins: BTreeSet<String>,
}

impl MatchedUrls {
    /// Adds a row of the set with its URL.
    pub(crate) fn note(&mut self, data: &DataSet, loc: &str) {
        self.rows += 1;
        if let Some((origin, _)) = location::origin(loc).filter(|(origin, _)| !self.origins.contains(*origin)) {
            self.origins.insert(origin.to_owned());
        }
        let Some(row) = data.find(loc) else { return };
        self.known += 1;
        self.urls.extend(row.records());
        self.by_column.resize(data.columns().len(), 0);
        for (count, column) in self.by_column.iter_mut().zip(data.columns()) {
            *count += u64::from(column.has(row));
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.rows += other.rows;
        self.known += other.known;
        self.urls |= other.urls;
        self.origins.extend(other.origins);
        self.by_column.resize(self.by_column.len().max(other.by_column.len()), 0);
        self.by_column.iter_mut().zip(other.by_column).for_each(|(count, more)| *count += more);
        self
    }

    /// The live rows of a set, on all cores. `None` when cancelled.
    pub(crate) fn of(snapshot: &Snapshot, data: &DataSet, progress: &Progress) -> Option<Self> {
        let document = &snapshot.document;
        note_work(document.row_limit() as usize);
        let rows: Vec<RowId> = document.rows().filter(|row| document.is_live(*row)).collect();
        let slices = rows.par_chunks(TASK_ROWS).map(|slice| {
            let mut matched = Self::default();
            for row in slice {
                matched.note(data, document.value(*row, Field::Loc).as_deref().unwrap_or_default());
            }
            (!progress.is_cancelled()).then_some(matched)
        });
        slices.try_reduce(Self::default, |one, other| Some(one.merge(other)))
    }

    /// Counts the matched rows and URLs.
    pub(crate) fn coverage(&self, data: &DataSet) -> Coverage {
        let count = |at: usize| self.by_column.get(at).copied().unwrap_or_default();
        let column = |(at, column): (usize, &Column)| (column.name().to_owned(), column.kind(), count(at));
        let urls = data.len() as u64;
        Coverage {
            rows: self.rows,
            known: self.known,
            columns: data.columns().iter().enumerate().map(column).collect(),
            urls,
            missing: urls - self.urls.len(),
        }
    }

    /// The URLs of the data that no row has, as written in the tables and in their order. Each with an objection to
    /// listing it, if there is one: the answer of the site, another site, or a media type that is not a page's.
    pub(crate) fn missing(&self, data: &Arc<DataSet>) -> Vec<(String, Option<String>)> {
        let site = Site::of(Some(data), None);
        let others = data.urls().filter(|(row, _)| !row.records().any(|record| self.urls.contains(record)));
        let objection = |row: DataRow, url: &str| {
            if !location::origin(url).is_some_and(|(origin, _)| self.origins.contains(origin)) {
                return Some("another site".to_owned());
            }
            let answer = || {
                let site = site.as_ref()?;
                let is_grave = |rule: &Rule| rule.severity_in(Profile::default()) > Some(Severity::Note);
                site.explain(site.rules(url, None).iter().find(is_grave)?, url, None)
            };
            let media_type = || {
                let media_type = data.column("type")?.text(row)?;
                let media_type = media_type.split(';').next()?.trim();
                let is_page = matches!(media_type, "text/html" | "application/xhtml+xml" | "application/pdf");
                (media_type.contains('/') && !is_page).then(|| format!("no page: {}", excerpt_of_value(media_type)))
            };
            answer().or_else(media_type)
        };
        others.map(|(row, url)| (url.to_owned(), objection(row, url))).collect()
    }
}
